/*
 * mailbox/model.h - the data of a root as C structs: accounts, messages as the index has them, and
 * their owners' state. Plain data: reading and writing it is done elsewhere.
 */
#pragma once

#include "mailbox/message.h"

#include <stdbool.h>
#include <stdint.h>

enum mr_mailbox_reg_status { MR_MAILBOX_ACTIVE, MR_MAILBOX_INACTIVE, MR_MAILBOX_STASHED };
enum mr_mailbox_kind { MR_MAILBOX_IN_ROOT, MR_MAILBOX_SYMLINK };

struct mr_mailbox_registration {
	const char *id; /* reg-<32 hex> */
	const char *address;
	const char *owner; /* principal id */
	enum mr_mailbox_reg_status status;
	enum mr_mailbox_kind kind;
	const char *path;         /* absolute: the directory itself */
	const char *entry_path;   /* absolute: its name under mailboxes/ */
	const char *display_name; /* or NULL, as all below but created_at */
	const char *manifest_path_hint;
	const char *role;
	const char *created_at;
	const char *deactivated_at;
	const char *replaced_by;
};

struct mr_mailbox_registrations {
	struct mr_mailbox_registration *items;
	size_t len;
};

const char *mr_mailbox_status_name(enum mr_mailbox_reg_status status); /* "active" */
const char *mr_mailbox_kind_name(enum mr_mailbox_kind kind);           /* "in_root" */

/* A message as the index has it. */
struct mr_mailbox_indexed {
	const char *message_id;
	const char *thread_id;
	const char *in_reply_to; /* or NULL */
	const char *created_at;
	const char *canonical_path; /* absolute */
	const char *subject;
	const char *document; /* the whole text (body_markdown); NULL when it was not asked for */
	const char *headers_json;
	struct mr_mailbox_principal sender;
	const char *sender_registration_id; /* or NULL */
};

struct mr_mailbox_recipient {
	const char *kind; /* "to" or "cc" */
	int64_t ordinal;
	struct mr_mailbox_principal principal;
	const char *registration_id; /* or NULL */
};
struct mr_mailbox_recipients {
	struct mr_mailbox_recipient *items;
	size_t len;
};

/* Where a mailbox has a message: a link in one of its folders. */
struct mr_mailbox_projection {
	const char *registration_id;
	const char *message_id;
	const char *folder; /* inbox, sent, archive, ... */
	const char *path;   /* absolute */
};
struct mr_mailbox_projections {
	struct mr_mailbox_projection *items;
	size_t len;
};

/* A message in a folder. */
struct mr_mailbox_listed {
	struct mr_mailbox_indexed message;
	const char *folder;
	const char *projection_path;
};
struct mr_mailbox_listing {
	struct mr_mailbox_listed *items;
	size_t len;
};

/* The owner's state of a message. */
struct mr_mailbox_state {
	const char *message_id;
	const char *thread_id;
	const char *created_at;
	const char *subject;
	bool read, answered, starred, archived, deleted;
	const char *box;
};
struct mr_mailbox_states {
	struct mr_mailbox_state *items;
	size_t len;
};
