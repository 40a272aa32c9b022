/* mailbox/register.h - addresses join a root and leave it (spec/mailbox.md 10, 11). */
#pragma once

#include "mailbox/model.h"
#include "mailbox/root.h"

enum mr_mailbox_register_mode { MR_MAILBOX_SAFE, MR_MAILBOX_FORCE, MR_MAILBOX_STASH };

struct mr_mailbox_register_request {
	enum mr_mailbox_register_mode mode;
	const char *address;
	const char *owner;
	enum mr_mailbox_kind kind;
	const char *path;         /* NULL for in_root: the entry under mailboxes/ */
	const char *display_name; /* or NULL, as the two below */
	const char *manifest_path_hint;
	const char *role;
	bool replace_unreadable_local; /* a person agreed to set an unreadable mailbox.sqlite aside
					*/
};

struct mr_mailbox_register_result {
	enum mr_mailbox_register_mode mode;
	const char *address;
	const char *active_registration_id;
	const char *owner;
	bool reused_existing;
	const char *replaced_registration_id; /* or NULL */
	const char *stashed_registration_id;  /* or NULL */
	const char *stashed_path;             /* absolute, or NULL */
};

/*
 * Nothing that is not ours is deleted without being named in the error first: an untracked
 * directory that is not empty is MR_ECONFLICT in safe mode. Crash at any step: the next writer
 * finishes or undoes. Errors, besides those of files and locks:
 *   MR_EINVAL         an address, a name or a path that cannot be, or a reserved address
 *   MR_ECONFLICT      the address, or the directory, is taken (10, step 9), or an active mailbox is
 *                     not whole on disk
 *   MR_ENOTCONFIRMED  a mailbox.sqlite that cannot be read, see replace_unreadable_local
 */
MR_CHECK enum mr_code mr_mailbox_register(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_register_request *request, struct mr_mailbox_register_result *out);

/* May this owner, in this role (or NULL), have this address? System addresses are reserved for
 * the operator. */
bool mr_mailbox_register_may_have(const char *address, const char *owner, const char *role);

enum mr_mailbox_unregister_mode { MR_MAILBOX_DEACTIVATE, MR_MAILBOX_PURGE };

struct mr_mailbox_unregister_result {
	enum mr_mailbox_unregister_mode mode;
	const char *address;
	const char *registration_id;
	struct mr_texts foreign; /* files that were not mail and went with a purge, absolute */
};
/*
 * MR_ENOTFOUND: "no active mailbox registration". MR_EPERM: the operator's mailbox. MR_ECONFLICT:
 * to be purged is a link, but something else stands there. Purging a linked mailbox removes the
 * link only, so nothing in the private directory is foreign.
 */
MR_CHECK enum mr_code mr_mailbox_unregister(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_unregister_mode mode, const char *address,
	struct mr_mailbox_unregister_result *out);

/* Is what the row promises on disk (12.3)? MR_ECONFLICT says what is missing. */
MR_CHECK enum mr_code mr_mailbox_register_check(struct mr_ctx *cx,
	const struct mr_mailbox_registration *row);

/*
 * Open or make the row's mailbox.sqlite; when it holds no message, take the defaults from the
 * projections in `index` (8.4); make its thread summaries anew. One that cannot be read is
 * MR_ENOTCONFIRMED, or with `replace_unreadable` renamed to
 * mailbox.sqlite.local-unusable-<time>.bak and made anew.
 */
MR_CHECK enum mr_code mr_mailbox_register_local(struct mr_ctx *cx, struct mr_db *index,
	const struct mr_mailbox_registration *row, bool replace_unreadable);

/*
 * Finish or undo registrations that dead processes left (staging/.intents/reg-*), each under the
 * lock of its address. One whose address is locked is left to the lock's holder. The error is that
 * of the first one that could be neither finished nor undone; the others were.
 */
MR_CHECK enum mr_code mr_mailbox_register_recover(struct mr_ctx *cx,
	const struct mr_mailbox_root *root);
