/* op/mailbox/shape_mail.h - the objects of agents' mail, each a table of fields (spec/mailbox.md
 * 17.2, 21). */
#pragma once

#include "op/mailbox/mail_session.h"
#include "op/op.h"

/* What every result of a verb begins with. */
struct mr_shape_mail_head {
	int schema_version;
	const char *operation;
	bool authoritative;
	const char *status;
	enum mr_mail_execution execution;
	const char *transport, *principal_id, *address;
	const struct mr_shape_submission *submission; /* or NULL */
};
/* What is known of an operation that was submitted to the agent's terminal. */
struct mr_shape_submission {
	const char *bindings_version, *request_id;
	bool verification_required;
	struct mr_texts verification_paths;
	const char *detail, *submitted_at_utc; /* or NULL */
	const char *tmux_session, *pane, *mailbox_problem;
	const struct mr_value *preview; /* or NULL */
};
extern const struct mr_field mr_shape_mail_head_fields[];
struct mr_shape_mail_head mr_shape_mail_head(const struct mr_mail_session *session,
	const char *operation);

struct mr_shape_mail_file {
	struct mr_mailbox_attachment file;
	bool is_measured;
};

/* A message as its owner has it. */
struct mr_shape_mail {
	struct mr_mail_message message;
	bool unread;
	const char *body_text; /* or NULL */
	struct mr_shape_mail_file *files;
};
extern const struct mr_field mr_shape_mail_fields[];
/* The token that a sender may have put into notify_auth is for its recipient's gateway, and is not
 * shown. */
struct mr_shape_mail mr_shape_mail(struct mr_arena *arena, const struct mr_mail_message *message);

struct mr_shape_mails {
	struct mr_shape_mail *items;
	size_t len;
};
struct mr_shape_mails mr_shape_mails(struct mr_arena *arena,
	const struct mr_mail_messages *messages);

/* A result with one message, and one with several; without them when the operation was submitted to
 * the agent's terminal. */
struct mr_shape_mail_one {
	struct mr_shape_mail_head head;
	struct mr_shape_mail message;
};
extern const struct mr_field mr_shape_mail_one_fields[];
struct mr_shape_mail_many {
	struct mr_shape_mail_head head;
	struct mr_shape_mails messages;
};
extern const struct mr_field mr_shape_mail_many_fields[];
