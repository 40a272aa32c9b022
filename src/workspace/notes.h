/*
 * workspace/notes.h - the notes.md of cases and categories: shown, added to, replaced.
 *
 * The file belongs to people: its bytes are shown and kept as they are.
 */
#pragma once

#include "workspace/collection.h"

struct mr_work_notes_request {
	const char *case_ref, *archive_ref; /* one of them */
	const char *text;                   /* to append, or to put in place of all */
};

/* "targets": what the notes belong to. */
struct mr_work_notes {
	struct mr_work_target *targets;
	size_t target_count;
	const char *notes_path;
	const char *text;       /* of show */
	int64_t text_len_bytes; /* of append and replace: of the text that was given */
	const char *text_hash;  /* "fnv1a64:..." of it */
};

/* The notes of a new case or category, from the template. */
MR_CHECK enum mr_code mr_work_notes_new(struct mr_ctx *cx, struct mr_work *work,
	const char **out_text);
/* What a merge appends to the notes of a case, from the template. */
MR_CHECK enum mr_code mr_work_notes_merged(struct mr_ctx *cx, struct mr_work *work,
	const char *case_uid, const char *other_case_uid, const char *other_body,
	const char **out_text);

/* notes_missing when the file is not there. */
MR_CHECK enum mr_code mr_work_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_work_notes *out);
MR_CHECK enum mr_code mr_work_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, const char *text, struct mr_work_notes *out);
/* Makes the file when it is not there. */
MR_CHECK enum mr_code mr_work_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, const char *text, struct mr_work_notes *out);
