/* workspace/change_private.h - the steps of a change, for the files that make it up. */
#pragma once

#include "workspace/change.h"

enum mr_work_step_kind {
	MR_WORK_STEP_WRITE,    /* `path` gets the staged file `from` */
	MR_WORK_STEP_MOVE,     /* `from` becomes `path` */
	MR_WORK_STEP_REMOVE,   /* `path` and all below it */
	MR_WORK_STEP_DROP_DIR, /* `path`, if it is empty */
	MR_WORK_STEP_MAKE_DIR,
	MR_WORK_STEP_EVENT, /* `event` goes to the end of the audit log */
	MR_WORK_STEP_COUNT,
};
extern const char *const mr_work_step_names[MR_WORK_STEP_COUNT + 1];

struct mr_work_step {
	struct mr_work_step *next;
	enum mr_work_step_kind kind;
	const char *path;
	const char *from;
	struct mr_bytes bytes;        /* of a write, before it is staged */
	const struct mr_value *event; /* of an event */
};

/* Carry out one step, for the first time or again. */
MR_CHECK enum mr_code mr_work_step_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *step);
/* Add a text unless it is there. */
void mr_work_texts_add(struct mr_arena *arena, struct mr_texts *texts, const char *text);
