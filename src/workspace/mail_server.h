/*
 * workspace/mail_server.h - a session with the workspace's IMAP server, with failures in the
 * contract's words, and the mailboxes that the server has.
 */
#pragma once

#include "net/imap.h"
#include "workspace/account.h"
#include "workspace/error.h"

enum {
	MR_WORK_SERVER_MAILBOXES_MAX = 10000,
	MR_WORK_SERVER_NAME_BYTES = 4096, /* a mailbox with a longer name is left out */
};

/* imap_connect_failed, imap_tls_failed, imap_greeting_failed, imap_login_failed. */
MR_CHECK enum mr_code mr_work_server_open(struct mr_ctx *cx, const struct mr_work_account *account,
	struct mr_imap **out);
/* One command that was begun: a refusal, or a connection that broke, is this error. */
MR_CHECK enum mr_code mr_work_server_do(struct mr_ctx *cx, struct mr_imap *session,
	mr_imap_handler *handler, void *arg, struct mr_imap_outcome *outcome,
	enum mr_work_error error);

/* The present error came with this code from a server, "imap" or "smtp": keep it, and say what to
 * do about silence. Returns the code. */
enum mr_code mr_work_server_explain(struct mr_ctx *cx, const char *which, enum mr_code code);
/* A failure of net/imap.h becomes this error, unless it is a handler's own; whether trying again
 * may help is kept. */
enum mr_code mr_work_server_failed(struct mr_ctx *cx, const struct mr_err *err,
	enum mr_work_error error);

struct mr_work_server_mailbox {
	const char *name;      /* in UTF-8 */
	const char *wire;      /* as the server writes it */
	const char *delimiter; /* or NULL */
	struct mr_texts attributes;
};
struct mr_work_server_mailboxes {
	struct mr_work_server_mailbox *items;
	size_t len;
};
/* All mailboxes; imap_list_failed. */
MR_CHECK enum mr_code mr_work_server_list(struct mr_ctx *cx, struct mr_imap *session,
	struct mr_work_server_mailboxes *out);
bool mr_work_server_has_attribute(const struct mr_work_server_mailbox *mailbox,
	const char *attribute);
