/*
 * mailbox/freeze.h - a mailbox root that nobody changes for a while, for a backup: the locks of all
 * its addresses and of its index are held. Whoever wants to deliver waits.
 */
#pragma once

#include "base/str.h"
#include "mailbox/root.h"

struct mr_mailbox_freeze;

/* Errors as of mr_mailbox_root_open() and mr_mailbox_lock_all_take(). */
MR_CHECK enum mr_code mr_mailbox_freeze_begin(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_freeze **out);
/* The root itself: absolute, links resolved. */
const char *mr_mailbox_freeze_root(const struct mr_mailbox_freeze *freeze);
/* Directories of mailboxes that are elsewhere, each once; the root has links to them. */
struct mr_texts mr_mailbox_freeze_private(const struct mr_mailbox_freeze *freeze);
/* Is a path below the root part of it? Lock files are not. */
bool mr_mailbox_freeze_has(const char *path);
/* For MR_CLEANUP; NULL inside is fine. */
void mr_mailbox_freeze_endp(struct mr_mailbox_freeze **freeze);
