/*
 * mailbox/message.h - the canonical message: its fields, their rules, and how they are read.
 *
 * A message is immutable once delivered. The same fields come from a document's front matter and
 * from a delivery payload; both are read here, strictly, and every problem is reported with its
 * path.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/value.h"

#include <stdbool.h>
#include <stdint.h>

struct mr_mailbox_principal {
	const char *principal_id;
	const char *address;
	const char *display_name; /* or NULL, as the two below */
	const char *manifest_path_hint;
	const char *role;
};

/* By what a message of a repeated request is found: the digits that its id has after its time. */
struct mr_mailbox_once {
	const char *since; /* the beginning of the oldest id: "msg-20260311T041500Z" */
	const char *mark;  /* 16 digits */
	const char *sender;
};

struct mr_mailbox_principals {
	struct mr_mailbox_principal *items;
	size_t len;
};

enum mr_mailbox_attachment_kind {
	MR_MAILBOX_PATH_REF,
	MR_MAILBOX_MANAGED_COPY,
	MR_MAILBOX_TRANSPORT_OWNED, /* only where mail is on a server: "blob:<id>" */
};

struct mr_mailbox_attachment {
	const char *attachment_id;
	enum mr_mailbox_attachment_kind kind;
	const char *path;
	const char *media_type;
	const char *sha256; /* lower case, or NULL */
	int64_t size_bytes; /* or -1 */
	const char *label;  /* or NULL */
};

struct mr_mailbox_attachments {
	struct mr_mailbox_attachment *items;
	size_t len;
};

struct mr_mailbox_notify_block {
	const char *text;
	bool prepend; /* else append */
};

struct mr_mailbox_notify_auth {
	const char *scheme; /* "none" is the only one accepted */
	const char *token;  /* or NULL, as all below */
	const char *iss;
	const char *iat;
	const char *exp;
};

struct mr_mailbox_message {
	int protocol_version; /* 3, or 1 when it was read from an old document */
	const char *message_id;
	const char *thread_id;
	const char *in_reply_to; /* or NULL */
	struct mr_texts references;
	const char *created_at_utc; /* 2026-03-11T04:15:00Z */
	struct mr_mailbox_principal sender;
	struct mr_mailbox_principals to;
	struct mr_mailbox_principals cc;
	struct mr_mailbox_principals reply_to;
	const char *subject;
	struct mr_mailbox_attachments attachments;
	const struct mr_value *headers;                     /* a map, never NULL */
	const struct mr_mailbox_notify_block *notify_block; /* or NULL */
	const struct mr_mailbox_notify_auth *notify_auth;   /* or NULL */
	struct mr_bytes body;                               /* not read here: empty */
};

enum mr_mailbox_source {
	MR_MAILBOX_DOCUMENT, /* front matter: "from" (or "sender"), protocol_version, notify fields
			      */
	MR_MAILBOX_PAYLOAD,  /* a delivery payload: "sender" and staged_message_path */
};

/*
 * Read all fields at `at` (a map) in the order of the contract, then unknown keys, then, when
 * at->issues is still empty, the rules between fields. Problems go to at->issues; true when there
 * were none. What is read is normalised (stripped, lower-cased digest, time to whole seconds, cut
 * notice) and lives in `arena`, but the headers' values are those of `at`. In a payload
 * `staged_message_path` is known but left to the caller, who looks at it first.
 */
bool mr_mailbox_message_read(struct mr_arena *arena, const struct mr_cursor *at,
	enum mr_mailbox_source source, struct mr_mailbox_message *out);

/* One participant; the same problems and order. */
bool mr_mailbox_principal_read(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_mailbox_principal *out);

/*
 * Readers of single fields, shared with the other payloads; all strip, and refuse what is blank.
 * True when there was no problem; otherwise `*out` is as it was.
 */
bool mr_mailbox_read_text(struct mr_arena *arena, const struct mr_cursor *at, const char **out);
bool mr_mailbox_read_text_opt(struct mr_arena *arena, const struct mr_cursor *at,
	const char **out); /* absent and null are NULL */
bool mr_mailbox_read_subject(struct mr_arena *arena, const struct mr_cursor *at, const char **out);
bool mr_mailbox_read_address(struct mr_arena *arena, const struct mr_cursor *at, const char **out);
bool mr_mailbox_read_message_id(struct mr_arena *arena, const struct mr_cursor *at,
	const char **out);
/* A list of them; a wrong id is reported at the list, not at its place in it. */
bool mr_mailbox_read_message_ids(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_texts *out);
/* One of `words` (NULL-terminated), not stripped; for all else that is there, whatever its type,
 * "Input should be 'safe', 'force' or 'stash'". */
bool mr_mailbox_read_choice(const struct mr_cursor *at, const char *const *words, size_t *out);

/* The text of a notify block, at most 512 characters of UTF-8: longer is cut to 511 and an
 * ellipsis.
 */
const char *mr_mailbox_notify_cut(struct mr_arena *arena, const char *text);

/* Few and shallow enough for a document (limits.h)? */
bool mr_mailbox_headers_fit(const struct mr_value *headers);

/* Do both say the same (every field but notify and protocol_version; with the body when `bodies`)?
 */
bool mr_mailbox_message_same(const struct mr_mailbox_message *a, const struct mr_mailbox_message *b,
	bool bodies);
/* To and cc, each address once, the first kept. MR_EINVAL "conflicting owners" when an address has
 * two principals. */
MR_CHECK enum mr_code mr_mailbox_message_recipients(struct mr_arena *arena,
	const struct mr_mailbox_message *message, struct mr_mailbox_principals *out,
	struct mr_err *err);
/* "2026-03-11": the directory it is kept in. */
const char *mr_mailbox_message_date(struct mr_arena *arena,
	const struct mr_mailbox_message *message);
