/* workspace/draft_private.h - what the files of drafts share. */
#pragma once

#include "workspace/config.h"
#include "workspace/draft.h"
#include "workspace/draft_state.h"
#include "workspace/record.h"

/* Without the newlines and blanks at the end. */
const char *mr_work_draft_trim_end(struct mr_arena *arena, const char *text);
/* draft_not_found, with its details. */
enum mr_code mr_work_draft_missing(struct mr_ctx *cx, const struct mr_work_collection *collection,
	const char *name);

/* --- its text --- */

/* The text that was given, of which one may be; NULL when none was. */
MR_CHECK enum mr_code mr_work_draft_given_body(struct mr_ctx *cx, const char *body,
	const char *body_file, const char **out);
/* What the template says: of an answer to a message, or of new mail when `record` is NULL. */
MR_CHECK enum mr_code mr_work_draft_scaffold(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, const char **out);
/* The identity of that slug, or the default one; draft_invalid. */
MR_CHECK enum mr_code mr_work_draft_identity(struct mr_ctx *cx, struct mr_work *work,
	const char *slug, const struct mr_work_identity **out);
/* With the footer at the end, once; and without it when it is the very end. The footer may be
 * NULL. */
const char *mr_work_draft_add_footer(struct mr_arena *arena, const char *body, const char *footer);
const char *mr_work_draft_cut_footer(struct mr_arena *arena, const char *body, const char *footer);

/* --- its files --- */

/* An attachment, which is below the case and does not leave it through a link;
 * draft_invalid. */
MR_CHECK enum mr_code mr_work_draft_file_open(struct mr_ctx *cx, struct mr_work *work,
	const char *case_path, const char *attachment, int *out_fd, int64_t *out_bytes);

/* --- its queued item --- */

/* The item of a draft, or NULL. */
MR_CHECK enum mr_code mr_work_draft_item(struct mr_ctx *cx, struct mr_work *work,
	const char *case_uid, const char *name, const struct mr_work_push_item **out);
