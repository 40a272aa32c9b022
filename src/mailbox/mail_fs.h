/*
 * mailbox/mail_fs.h - the transport "filesystem": an address in a mailbox root on this machine.
 *
 * The owner's state is read from the mailbox's own database, messages from their documents. A
 * delivery that was interrupted is finished when the mail is opened for writing; a mailbox.sqlite
 * that was lost is made anew from the index then.
 */
#pragma once

#include "mailbox/mail.h"

/*
 * Open the mail of an address for one request: the root's path and what belongs to it live in
 * cx->arena. With `read_only`, a root of protocol 1 is fine, and nothing is written. Errors: those
 * of mr_mailbox_root_open(); MR_ENOTFOUND when the address has no active registration.
 */
MR_CHECK enum mr_code mr_mail_fs_open(struct mr_ctx *cx, const char *root, const char *address,
	bool read_only, struct mr_mail *out);
