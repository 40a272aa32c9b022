/*
 * team/archive/archive_document.h - a message as a file of the archive, and the digest of a thread.
 *
 * Markdown with YAML front matter, as the seed shows it; every scalar is written as JSON, which is
 * YAML too. The body is byte-exact; a newline that is not its own ends the file. Pure: values in,
 * bytes out, and back.
 */
#pragma once

#include "base/buf.h"
#include "team/model.h"

enum {
	MR_TEAM_DOCUMENT_BYTES = 48 << 20, /* below what one file of a history may have */
};

/* Agents are named bare in the message's own project, elsewhere Name@slug. */
struct mr_team_document {
	const char *uid;     /* NULL: a file of the peers, which have none */
	int64_t message_id;  /* 0: not said */
	const char *project; /* human_key */
	const char *project_slug;
	const char *thread_id; /* or NULL */
	int64_t reply_to;      /* or 0 */
	const char *from;
	struct mr_texts to, cc;
	const char *addressed; /* the groups in to and cc as they were written, a line each; or NULL
				*/
	struct mr_texts bcc;   /* only in the sender's outbox */
	bool has_bcc;          /* read: was there such a line? write: write one */
	const char *subject;
	enum mr_team_importance importance;
	bool ack_required;
	int64_t created_ts;
	const char *attachments; /* a JSON list */
	struct mr_bytes body;
};

/* Appends to `buf`. MR_EFORMAT: `attachments` is no JSON list. MR_ELIMIT: too long. */
MR_CHECK enum mr_code mr_team_document_write(struct mr_arena *arena, struct mr_buf *buf,
	const struct mr_team_document *document, struct mr_err *err);
/*
 * Read ours and the peers' ("---json"). MR_EFORMAT and MR_ELIMIT say what is wrong. `bytes` must
 * live as long as `*out`, whose body points into it; it is UTF-8 without NUL.
 */
MR_CHECK enum mr_code mr_team_document_parse(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_team_document *out, struct mr_err *err);

/* One message of a thread's digest. */
struct mr_team_digest_item {
	const char *subject;
	int64_t created_ts;
	const char *from;
	struct mr_texts to;
	const char *canonical; /* its path */
	const char *body;      /* may be cut, at MR_TEAM_DIGEST_CHARS + 1 characters or later */
};
/* A part of a thread, from its heading on. */
void mr_team_digest_write(struct mr_arena *arena, struct mr_buf *buf, const char *thread_id,
	int64_t part, const struct mr_team_digest_item *items, size_t count);
