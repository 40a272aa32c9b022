/* workspace/change_private.h - the steps of a change and its journal, for the files that make it
 * up. */
#pragma once

#include "workspace/change.h"

enum mr_work_step_kind {
	MR_WORK_STEP_WRITE,    /* `path` gets the staged file `from` */
	MR_WORK_STEP_MOVE,     /* `from` becomes `path` */
	MR_WORK_STEP_REMOVE,   /* `path` and all below it */
	MR_WORK_STEP_DROP_DIR, /* `path`, if it is empty */
	MR_WORK_STEP_MAKE_DIR,
	MR_WORK_STEP_EVENT, /* `event` goes to the end of the audit log; `path` is its id */
	MR_WORK_STEP_COUNT,
};
extern const char *const mr_work_step_names[MR_WORK_STEP_COUNT + 1];

struct mr_work_step {
	struct mr_work_step *next;
	enum mr_work_step_kind kind;
	const char *path;
	const char *from;
	/* A file beside the staged ones that is removed once the step is done; NULL where repeating
	 * the step does no harm. */
	const char *mark;
	struct mr_bytes bytes;        /* of a write, before it is staged */
	const struct mr_value *event; /* of an event */
};

/*
 * Carry out steps in their order, for the first time or again from where a crash stopped them.
 * `log_bytes` is the length of the audit log before the change.
 */
MR_CHECK enum mr_code mr_work_steps_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *first, int64_t log_bytes);
/* Give marks to the steps that need one: those that may not be repeated once later ones were
 * carried out. Only sets `mark` to "". */
void mr_work_steps_mark(struct mr_work_step *first);
/* Can the moves be carried out as things stand? A store_error says which cannot. */
MR_CHECK enum mr_code mr_work_steps_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *first);

/* Where the journal of a change and its staged files stand. */
const char *mr_work_journal_path(struct mr_arena *arena, const char *id);
const char *mr_work_staging_path(struct mr_arena *arena, const char *id);
/* The journal of a change whose files are staged. */
const struct mr_value *mr_work_journal_of(const struct mr_work_change *change, int64_t log_bytes);
/* Remove a journal, durably, and then what was staged for it. Failures are left to the next
 * writer. */
void mr_work_journal_drop(struct mr_arena *arena, struct mr_work *work, const char *id);

/* Add a text unless it is there; for short lists. */
void mr_work_texts_add(struct mr_arena *arena, struct mr_texts *texts, const char *text);
