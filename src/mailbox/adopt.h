/*
 * mailbox/adopt.h - what makes a root that was moved or copied a root of its own;
 * mr_mailbox_repair() does it.
 */
#pragma once

#include "mailbox/root.h"

/* A private directory that a registration of the root leads to. */
struct mr_mailbox_adopt_private {
	const char *address;
	const char *path;
	const char *holder; /* the other root that keeps it; NULL: it belongs to this one */
};

struct mr_mailbox_adopt_plan {
	const char *path; /* of the root */
	struct mr_mailbox_home home;
	size_t registration_count; /* whose paths are made to lead here */
	struct mr_mailbox_adopt_privates {
		struct mr_mailbox_adopt_private *items;
		size_t len;
	} privates; /* none when the root is at home */
};
/* Nothing is changed. Errors: those of mr_mailbox_root_open() for a reader. */
MR_CHECK enum mr_code mr_mailbox_adopt_plan(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_adopt_plan *out);
