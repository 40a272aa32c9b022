/*
 * mailbox/inspect.h - accounts and messages in the index of a root, without their owners' state.
 * mail.h has the view of one address: read, answered, boxes.
 *
 * Each function opens the index, reads and closes it; results live in cx->arena.
 */
#pragma once

#include "mailbox/model.h"
#include "mailbox/root.h"

/* All accounts: by address, the newest of an address first. */
MR_CHECK enum mr_code mr_mailbox_inspect_accounts(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, struct mr_mailbox_registrations *out);
/* The account most likely meant by an address: the active one, else a stashed one, else an
 * inactive one; of several the newest. MR_ENOTFOUND: the address has none. */
MR_CHECK enum mr_code mr_mailbox_inspect_account(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const char *address,
	const struct mr_mailbox_registration **out);

struct mr_mailbox_inspect_messages {
	const struct mr_mailbox_registration *account; /* the active one */
	struct mr_mailbox_listing messages;
};
/*
 * The messages in the mailbox of an address, newest first; a message in two folders is listed
 * twice. `limit` 0 is all. MR_ENOTFOUND: the address has no active registration.
 */
MR_CHECK enum mr_code mr_mailbox_inspect_messages(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const char *address, int64_t limit,
	struct mr_mailbox_inspect_messages *out);

/*
 * What the owner did with each of these messages, in their order: from the mailbox's own database;
 * a message that has no row there, or a database that cannot be read, gives what a delivery gives.
 */
const struct mr_mailbox_state *mr_mailbox_inspect_states(struct mr_ctx *cx,
	const struct mr_mailbox_inspect_messages *found);

struct mr_mailbox_inspect_message {
	const struct mr_mailbox_registration *account; /* the active one */
	const struct mr_mailbox_indexed *message;      /* with its document */
	const struct mr_mailbox_projection *where;     /* the first of its folders, by name */
	const struct mr_value *headers;
	struct mr_mailbox_recipients recipients;
	struct mr_mailbox_attachments attachments;
};
/* One message. MR_ENOTFOUND: no active registration, or the mailbox does not have the message. */
MR_CHECK enum mr_code mr_mailbox_inspect_message(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const char *address, const char *message_id,
	struct mr_mailbox_inspect_message *out);
