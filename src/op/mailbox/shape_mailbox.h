/* op/mailbox/shape_mailbox.h - the mailbox contract's objects, each a table of fields. */
#pragma once

#include "mailbox/cleanup.h"
#include "mailbox/deliver.h"
#include "mailbox/inspect.h"
#include "mailbox/register.h"
#include "mailbox/repair.h"
#include "mailbox/state.h"
#include "op/op.h"

/* The contract's words in the order of their enums, NULL-terminated: for parameters and fields. */
extern const char *const mr_shape_mailbox_statuses[];
extern const char *const mr_shape_mailbox_kinds[];
extern const char *const mr_shape_mailbox_register_modes[];
extern const char *const mr_shape_mailbox_unregister_modes[];

extern const struct mr_field mr_shape_mailbox_account_fields[]; /* mr_mailbox_registration */
extern const struct mr_field mr_shape_mailbox_problem_fields[];
/* Of the results of the same name; "ok" comes first. */
extern const struct mr_field mr_shape_mailbox_register_fields[];
extern const struct mr_field mr_shape_mailbox_unregister_fields[];
extern const struct mr_field mr_shape_mailbox_deliver_fields[];
extern const struct mr_field mr_shape_mailbox_state_fields[];
extern const struct mr_field mr_shape_mailbox_repair_fields[]; /* without what was found */

/* What results about a root begin with. */
struct mr_shape_mailbox_head {
	int schema_version;
	const char *mailbox_root;
	const char *detail; /* how it was chosen */
};
extern const struct mr_field mr_shape_mailbox_head_fields[];

/* The whole result of a cleanup or a clear. */
struct mr_shape_mailbox_cleanup {
	struct mr_shape_mailbox_head head;
	bool has_ages; /* a cleanup; a clear has none */
	struct mr_mailbox_cleanup_result result;
};
extern const struct mr_field mr_shape_mailbox_cleanup_fields[];

/* A message of a list. The contract's JSON has no flags of its owner, by design; text for people
 * has. */
struct mr_shape_mailbox_listed {
	struct mr_mailbox_listed listed;
	struct mr_mailbox_state state;
	bool shows_state;
};
extern const struct mr_field mr_shape_mailbox_listed_fields[];

/* A message with everything the index knows of it. */
struct mr_shape_mailbox_message {
	struct mr_mailbox_inspect_message found;
	struct mr_shape_mailbox_attachment {
		struct mr_mailbox_attachment file;
		size_t ordinal;
		bool is_measured;
	} * attachments;
};
extern const struct mr_field mr_shape_mailbox_message_fields[];
/* Completes `shown->attachments` from what was found. */
void mr_shape_mailbox_message(struct mr_arena *arena, struct mr_shape_mailbox_message *shown);
