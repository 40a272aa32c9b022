/*
 * workspace/generation.h - workspaces of earlier generations, and the version of the layout.
 *
 * Generation 0.1 kept spam and trash in a state file beside each message, the messages of a case in
 * data/messages.json, a category in data/archive.json, and the sender's address in smtp.from. A
 * migration turns all of that into the present documents as part of one change.
 *
 * The version of the layout is a line of .afmail/DO_NOT_EDIT.txt, which no other program reads. A
 * workspace without the line has version 1.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/collection.h"
#include "workspace/frame.h"

enum { MR_WORK_LAYOUT_VERSION = 1 };
#define MR_WORK_LAYOUT_LINE "Layout version: "

/* The version that the workspace says it has; 1 when it says nothing. */
int64_t mr_work_generation_version(struct mr_ctx *cx, struct mr_work *work);
/* store_error when the layout is newer than this program; for writers. */
MR_CHECK enum mr_code mr_work_generation_check(struct mr_ctx *cx, struct mr_work *work);

/* The present form of an old configuration, which `*out` (may be NULL) gets; false when it is none
 * that can be brought up to date. */
bool mr_work_generation_config(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_value **out);
/* The same of the document of a case or category; cases and categories only. */
bool mr_work_generation_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_work_collection *out);
/* The same of a queued item, by the path of its file. */
bool mr_work_generation_item(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const struct mr_value **out);
/* The files of an old generation in the directory of a case or category: paths. */
MR_CHECK enum mr_code mr_work_generation_files(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_texts *out);

struct mr_work_migrated {
	int64_t cases, categories, messages, items; /* that got another form or place */
	int64_t states_removed, texts_removed;
	bool config;
};
/* Collect the whole migration in a change; nothing when there is nothing old. */
MR_CHECK enum mr_code mr_work_generation_migrate(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_migrated *out);
