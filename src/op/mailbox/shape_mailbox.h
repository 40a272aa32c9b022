/* op/mailbox/shape_mailbox.h - the mailbox contract's objects, each emitted in one place. */
#pragma once

#include "mailbox/cleanup.h"
#include "mailbox/deliver.h"
#include "mailbox/model.h"
#include "mailbox/register.h"
#include "mailbox/repair.h"
#include "mailbox/state.h"
#include "op/op.h"
#include "text/out.h"

extern const struct mr_field mr_shape_mailbox_account_fields[];
extern const struct mr_field mr_shape_mailbox_problem_fields[];
extern const struct mr_field mr_shape_mailbox_cleanup_fields[];

void mr_shape_mailbox_account(struct mr_out *out, const char *key,
	const struct mr_mailbox_registration *row);
/* These emit a whole map, "ok" first. */
void mr_shape_mailbox_registered(struct mr_out *out,
	const struct mr_mailbox_register_result *result);
void mr_shape_mailbox_unregistered(struct mr_out *out,
	const struct mr_mailbox_unregister_result *result);
void mr_shape_mailbox_delivered(struct mr_out *out, const struct mr_mailbox_deliver_result *result);
void mr_shape_mailbox_state(struct mr_out *out, const struct mr_mailbox_state_result *result);
/* The members of an open map, "ok" first. */
void mr_shape_mailbox_repair(struct mr_out *out, const struct mr_mailbox_repair_result *result);
/* How many, and those that are listed; problems or warnings. */
void mr_shape_mailbox_problems(struct mr_out *out, const char *count_key, const char *key,
	const struct mr_mailbox_problem *problems, size_t count);
/* The whole result of a cleanup or a clear, as the members of an open map. */
void mr_shape_mailbox_cleanup(struct mr_out *out, const char *root,
	const struct mr_mailbox_cleanup_result *result);
void mr_shape_mailbox_attachments(struct mr_out *out, const char *key,
	const struct mr_mailbox_attachments *attachments);

/* One row of a listing; no view flags, by design. */
void mr_shape_mailbox_listed(struct mr_out *out, const struct mr_mailbox_listed *row);
/* A message as the index knows it, as the members of an open map. */
void mr_shape_mailbox_indexed(struct mr_out *out, const struct mr_mailbox_indexed *message,
	const struct mr_mailbox_projection *where);
void mr_shape_mailbox_recipients(struct mr_out *out, const char *key,
	const struct mr_mailbox_recipients *recipients);
