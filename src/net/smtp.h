/*
 * net/smtp.h - hands one mail to an SMTP server.
 *
 * libcurl connects, encrypts, verifies and logs in; the rest is said here, so that it is known to
 * the byte how far it came. All recipients get the mail, or none: when the server refuses one of
 * them, the others are still asked for, so that all refusals are known, and the mail is not handed
 * over.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { MR_SMTP_RECIPIENTS = 1000 };

struct mr_smtp_server {
	const char *host;
	int port;
	bool tls;            /* from the first byte */
	bool starttls;       /* else after STARTTLS, which must succeed; neither: in the clear */
	const char *ca_file; /* further authorities, or NULL */
	const char *user;    /* NULL: no login */
	const char *password;
	const char *bearer_token; /* OAuth, in place of a password; or NULL */
	const char *mechanism;    /* the only one to log in with: "PLAIN"; NULL: any */
	int timeout_ms;           /* without a byte */
	int accept_timeout_ms;    /* for the answer to a whole mail: servers look at it first */
};

struct mr_smtp_mail {
	const char *from; /* bare addresses; a recipient that is named twice gets one copy */
	struct mr_texts to;
	struct mr_bytes bytes; /* with CRLF as its line ends */
};

enum mr_smtp_end {
	MR_SMTP_NOT_SENT, /* for certain: nobody gets it */
	MR_SMTP_SENT,
	MR_SMTP_UNKNOWN, /* the connection was lost after the last byte of the mail */
};
enum mr_smtp_stage {
	MR_SMTP_CONNECT,
	MR_SMTP_TLS,
	MR_SMTP_LOGIN,
	MR_SMTP_SENDER,
	MR_SMTP_RECIPIENT,
	MR_SMTP_CONTENT,
};
struct mr_smtp_recipient {
	const char *address;
	int reply;        /* 250; 0: it was not asked for */
	const char *text; /* what the server said, or NULL */
};
struct mr_smtp_outcome {
	enum mr_smtp_end end;
	enum mr_smtp_stage stage; /* how far it came */
	int reply;                /* the code of the server's last word, or 0 */
	struct mr_smtp_recipient *recipients;
	size_t len;
};

/*
 * `*out` is always set. MR_OK when it was sent. MR_ECONFLICT: the server refuses for good.
 * MR_EAUTH: the login. MR_EREMOTE, MR_ETIMEOUT: later it may be different. MR_EINVAL: not even
 * tried. Messages never hold the password.
 */
MR_CHECK enum mr_code mr_smtp_send(struct mr_arena *arena, const struct mr_smtp_server *server,
	const struct mr_smtp_mail *mail, struct mr_smtp_outcome *out, struct mr_err *err);
/* Connect, encrypt, log in, and leave: nothing is sent. Fails as mr_smtp_send() does; `out->stage`
 * says how far it came. */
MR_CHECK enum mr_code mr_smtp_try(struct mr_arena *arena, const struct mr_smtp_server *server,
	struct mr_smtp_outcome *out, struct mr_err *err);
