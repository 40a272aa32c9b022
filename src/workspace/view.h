/*
 * workspace/view.h - the Markdown that agents and people read: contexts for the templates, and what
 * the templates make of them.
 *
 * The functions return text in the arena and write nothing. `generated` is the time that a view
 * says it was made at: refreshing tries the old one first, so that a view whose inputs are the same
 * stays as it is.
 */
#pragma once

#include "workspace/collection.h"
#include "workspace/frame.h"
#include "workspace/record.h"
#include "workspace/templates.h"

/* A message as one section of a conversation. `view_dir` is the directory of the view it becomes a
 * part of: targets of images are relative to it. */
MR_CHECK enum mr_code mr_work_view_section(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, const char *view_dir, const char **out);
/* triage/ID.md */
MR_CHECK enum mr_code mr_work_view_triage(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, const char *generated, const char **out);

/* case.md, archive.md, or the index.md of a disposition. */
MR_CHECK enum mr_code mr_work_view_collection(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const char *generated, const char **out);
/* The view of one of its messages. */
MR_CHECK enum mr_code mr_work_view_member(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const struct mr_work_item *item,
	const struct mr_work_record *record, const char *generated, const char **out);

/* Where they stand: "cases/open/c1-x/case.md", ".../views/messages/ID.md", "spam/ID.md". */
const char *mr_work_view_path(struct mr_arena *arena, const struct mr_work_collection *collection);
const char *mr_work_view_member_path(struct mr_arena *arena,
	const struct mr_work_collection *collection, const char *message_id);

/* The fresh text of a case or category, by its directory. */
MR_CHECK enum mr_code mr_work_view_case(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const char **out_text);
MR_CHECK enum mr_code mr_work_view_category(struct mr_ctx *cx, struct mr_work *work,
	const char *path, const char **out_text);
