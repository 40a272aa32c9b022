/* mailbox/open.h - opens or creates a mailbox root. */
#pragma once

#include "mailbox/root.h"

/*
 * Open a root that is there and supported (spec/mailbox.md 7.3): no legacy principal layout, an
 * index that can be read, protocol 3. Stray files in mailboxes/ are no reason to refuse.
 * MR_ENOTFOUND: no root there; run `mailroom mailbox init`. MR_ECONFLICT: one that is not
 * supported, or for a writer one that was moved or copied. MR_EFORMAT: an index that cannot be
 * read; run `mailroom mailbox repair`.
 */
MR_CHECK enum mr_code mr_mailbox_root_open(struct mr_ctx *cx, const char *path,
	enum mr_mailbox_root_for purpose, struct mr_mailbox_root *out);

/* Make it, or complete it: directories, protocol file, rules, index, the operator's mailbox, local
 * databases (7.4). Doing it again changes nothing. */
MR_CHECK enum mr_code mr_mailbox_root_init(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_root *out);
/* Finish or undo what dead processes left, if there is anything. */
MR_CHECK enum mr_code mr_mailbox_root_recover(struct mr_ctx *cx,
	const struct mr_mailbox_root *root);
