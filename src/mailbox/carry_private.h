/* mailbox/carry_private.h - what carrying to a server and back have in common. */
#pragma once

#include "mailbox/carry.h"
#include "mailbox/mail_jmap_private.h"

/* Flags that no keyword of the standard means. */
#define MR_MAILBOX_CARRY_ARCHIVED "houmao-archived" /* without being in that box */
#define MR_MAILBOX_CARRY_DELETED  "houmao-deleted"

/* A mail on the server. */
struct mr_mailbox_carry_mail {
	const char *email_id;
	const char *message_id; /* Message-ID, or NULL */
	const char *id;         /* of the message that it is, or becomes */
	struct mr_texts mailboxes;
	bool read, answered, starred, archived, deleted;
	bool is_double; /* another mail of the account is this message */
};
struct mr_mailbox_carry_mails {
	struct mr_mailbox_carry_mail *items; /* in the order in which they arrived */
	size_t len;
	struct mr_mailbox_carry_mail **by_id; /* sorted */
};

struct mr_mailbox_carry {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	const struct mr_mailbox_carry_request *request;
	struct mr_mailbox_carried *result;
	struct mr_mailbox_carried_account *account; /* the one being carried */
	int lock;
	int64_t done, total; /* of this account, for progress */
};

/* Alone. */
MR_CHECK enum mr_code mr_mailbox_carry_begin(struct mr_mailbox_carry *carry);
/* For MR_CLEANUP. */
void mr_mailbox_carry_end(struct mr_mailbox_carry *carry);

/* The account of an address on the server. MR_ENOTFOUND: there is no credential. */
MR_CHECK enum mr_code mr_mailbox_carry_log_in(struct mr_mailbox_carry *carry, const char *address,
	const char *owner, struct mr_mail *out);
/* All that it has. */
MR_CHECK enum mr_code mr_mailbox_carry_list(struct mr_mailbox_carry *carry,
	struct mr_mail_jmap *state, struct mr_mailbox_carry_mails *out);
/* NULL: there is none. */
const struct mr_mailbox_carry_mail *
mr_mailbox_carry_find(const struct mr_mailbox_carry_mails *mails, const char *id);

/* The id of the message that a mail becomes. */
const char *mr_mailbox_carry_id(struct mr_arena *arena, const char *address,
	const struct mr_jmap_email *email);

/* One message more was looked at. */
void mr_mailbox_carry_advance(struct mr_mailbox_carry *carry, int64_t count);
void mr_mailbox_carry_leave(struct mr_mailbox_carry *carry, const char *message,
	const char *reason);
/* What to do about a failure half way. */
enum mr_code mr_mailbox_carry_failed(struct mr_mailbox_carry *carry, enum mr_code rc);
