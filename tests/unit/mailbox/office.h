/* tests/unit/mailbox/office.h - three agents in one root, with the mail of each open. */
#pragma once

#include "mailbox/mail.h"
#include "post.h"

struct office {
	struct post post;
	struct mr_ctx *cx; /* of the post */
	struct mr_mail alice, bob, carol;
};

/* A message that nobody has. */
#define OFFICE_NO_SUCH "filesystem:msg-20260101T000000Z-00000000000000000000000000000000"

void office_open(struct office *o);
/* Whatever was done with verbs, the root must be well. */
void office_close(struct office *o);

/* `to` is addresses separated by commas. */
struct mr_mail_draft office_draft(struct office *o, const char *to, const char *subject,
	const char *body);
/* Each a second after the one before. */
struct mr_mail_message office_send(struct office *o, const struct mr_mail *from, const char *to,
	const char *subject, const char *body);
struct mr_mail_message office_peek(struct office *o, const struct mr_mail *mail, const char *ref);

/* What is in a box: the subjects, newest first. */
const char *office_subjects(struct office *o, const struct mr_mail *mail,
	const struct mr_mail_query *query);
const char *office_in_box(struct office *o, const struct mr_mail *mail, const char *box);
const char *office_body(struct office *o, const struct mr_mail_message *message);
/* Flags are "rax": read, answered, archived, or '-'. */
void office_check_view(const struct mr_mail_message *message, const char *flags, const char *box);
