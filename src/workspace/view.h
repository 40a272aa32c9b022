/*
 * workspace/view.h - the Markdown that people and agents read, rendered from templates.
 *
 * `path` is the directory of a collection. The texts are in the arena.
 */
#pragma once

#include "workspace/frame.h"

/* The text of case.md and of archive.md as it would be written now. */
MR_CHECK enum mr_code mr_work_view_case(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const char **out_text);
MR_CHECK enum mr_code mr_work_view_category(struct mr_ctx *cx, struct mr_work *work,
	const char *path, const char **out_text);
/* The notes of a new case or category: notes/default.md.j2. */
MR_CHECK enum mr_code mr_work_view_notes(struct mr_ctx *cx, struct mr_work *work,
	const char **out_text);
/* What a merge appends to the notes: notes/merge-section.md.j2. */
MR_CHECK enum mr_code mr_work_view_merged_notes(struct mr_ctx *cx, struct mr_work *work,
	const char *case_uid, const char *other_case_uid, const char *other_body,
	const char **out_text);
