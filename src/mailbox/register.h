/* mailbox/register.h - addresses join a root and leave it (spec/mailbox.md 10, 11). */
#pragma once

#include "mailbox/registration_sql.h"
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

/* Nothing that is not ours is deleted without being named in the error first: an untracked
 * directory that is not empty is MR_ECONFLICT in safe mode. Crash at any step: the next writer
 * finishes or undoes. */
MR_CHECK enum mr_code mr_mailbox_register(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_register_request *request, struct mr_mailbox_register_result *out);

enum mr_mailbox_unregister_mode { MR_MAILBOX_DEACTIVATE, MR_MAILBOX_PURGE };

struct mr_mailbox_unregister_result {
	enum mr_mailbox_unregister_mode mode;
	const char *address;
	const char *registration_id;
	struct mr_texts foreign; /* files that were not mail and went with a purge, absolute */
};
MR_CHECK enum mr_code mr_mailbox_unregister(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_unregister_mode mode, const char *address,
	struct mr_mailbox_unregister_result *out);

/* Is what the row promises on disk (12.3)? MR_ECONFLICT says what is missing. */
MR_CHECK enum mr_code mr_mailbox_register_check(struct mr_ctx *cx,
	const struct mr_mailbox_registration *row);

/* Finish or undo what dead processes left of registering and unregistering. */
MR_CHECK enum mr_code mr_mailbox_register_recover(struct mr_ctx *cx,
	const struct mr_mailbox_root *root);
