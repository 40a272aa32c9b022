/* mailbox/clear_private.h - the plan of a clear, made by clear_plan.c for clear.c. */
#pragma once

#include "mailbox/cleanup.h"
#include "mailbox/lock_all.h"
#include "mailbox/trash.h"

/* Directories below messages/ and attachments/managed/ that are looked into. */
enum { MR_MAILBOX_CLEAR_DEPTH = 16 };

enum mr_mailbox_clear_how {
	MR_MAILBOX_CLEAR_ROW,    /* only a row of the index is left of it */
	MR_MAILBOX_CLEAR_MOVE,   /* a file: into the trash */
	MR_MAILBOX_CLEAR_UNLINK, /* a link in a mailbox */
	MR_MAILBOX_CLEAR_STATE,  /* a mailbox's own database */
};

struct mr_mailbox_clear_work {
	enum mr_mailbox_clear_how how;
	const char *base; /* a mailbox directory, absolute; NULL for the root */
	const char *path; /* below it; of a link "<folder>/<name>" */
};

struct mr_mailbox_clear {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	struct mr_mailbox_lock_all hold;
	const struct mr_mailbox_registration *account; /* NULL: the whole root */
	struct mr_mailbox_cleanup_result result;
	struct mr_mailbox_clear_work *work; /* one for each of result.planned */
	size_t work_cap;
};

/* Fill planned (with work), blocked and preserved. Nothing is changed. */
MR_CHECK enum mr_code mr_mailbox_clear_plan(struct mr_mailbox_clear *job);
