/*
 * text/mime.h - e-mail messages (RFC 5322, MIME): bytes read into what people see. Pure.
 *
 * The message is untrusted. Its bytes stay canonical: nothing here changes them, and what is read
 * points into them, so they must live as long as the result. A message is taken in whatever is
 * wrong with it: what could not be read, or was more than a limit, is left out and `notes` says so.
 * Time is linear in the bytes; nesting and the number of parts are bounded. Only mr_mime_parse()
 * of more than MR_MIME_BYTES fails.
 *
 * All text of the result is valid UTF-8 without control characters, except LF and TAB in bodies.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MR_MIME_BYTES = 256 << 20,      /* a whole message */
	MR_MIME_HEADER_BYTES = 2 << 20, /* fields that begin after that are not read */
	MR_MIME_VALUE_BYTES = 1 << 20,  /* of one field; the rest of it is not read */
	MR_MIME_FIELDS = 5000,
	MR_MIME_ADDRESSES = 5000,     /* of one field */
	MR_MIME_IDS = 1000,           /* of one field */
	MR_MIME_PARTS = 1000,         /* what follows is not listed */
	MR_MIME_DEPTH = 50,           /* a multipart this deep is a part without parts */
	MR_MIME_TEXT_BYTES = 1 << 20, /* of a body; the rest is cut off */
	MR_MIME_NAME_BYTES = 4096,    /* of a file name */
};

struct mr_mime_address {
	const char *name;  /* as shown, or NULL */
	const char *email; /* never empty; not checked: "root", "a b@c" */
};

struct mr_mime_addresses {
	struct mr_mime_address *items;
	size_t len;
};

/* When the Date field could be read: the instant, and how it was written. */
struct mr_mime_date {
	int64_t us;
	int offset_minutes;
	const char *rfc3339; /* in its own offset, "Z" for zero; NULL when there is no date */
};

enum mr_mime_encoding {
	MR_MIME_PLAIN, /* 7bit, 8bit, binary, and what nobody knows */
	MR_MIME_BASE64,
	MR_MIME_QUOTED_PRINTABLE,
};

/* An entity of the message, the message itself included. */
struct mr_mime_part {
	const char *type;        /* "text/plain", in lower case */
	bool has_type;           /* the type was written; else it is the default */
	const char *charset;     /* or NULL */
	const char *disposition; /* "attachment", "inline", in lower case; or NULL */
	const char *name;        /* the file's, as the sender wrote it: not a safe path; or NULL */
	const char *content_id;  /* without angle brackets, or NULL */
	bool is_flowed;          /* format=flowed (RFC 3676) */
	bool has_delsp;          /* delsp=yes */
	bool is_multipart;       /* has parts, which follow it */
	bool is_broken;          /* base64 with characters that do not belong there */
	size_t parent;           /* index; of the first part 0 */
	size_t depth;
	enum mr_mime_encoding encoding;
	struct mr_bytes bytes; /* the body, as it stands in the message */
};

struct mr_mime_attachment {
	const char *part_id;      /* the decimal index of the part */
	const char *filename;     /* as the sender wrote it, or "part-<part_id>" */
	const char *content_type; /* "application/octet-stream" when none was written */
	const char *content_id;   /* or NULL */
	int64_t size_bytes;       /* decoded */
	bool is_inline;           /* an image, sound or film shown in the body */
};

struct mr_mime_field;

struct mr_mime {
	struct mr_bytes bytes;  /* the whole message */
	const char *subject;    /* NULL when missing or empty */
	const char *message_id; /* without angle brackets, or NULL */
	struct mr_mime_addresses from, sender, to, cc, bcc, reply_to; /* groups are flattened */
	struct mr_texts in_reply_to, references; /* ids without angle brackets, in order */
	struct mr_mime_date date;
	/* Of the body's parts, plain text rather than HTML; HTML as text (text/html.h) where there
	 * is nothing else. Line ends are LF; "" when there is no text. */
	const char *body_text;
	const char *body_html; /* the first HTML part of the body as it is, or NULL */
	struct mr_mime_attachment *attachments; /* in the order of the parts */
	size_t attachment_count;
	struct mr_mime_part *parts; /* depth first; the first is the message itself */
	size_t part_count;
	struct mr_texts notes; /* what is wrong with the message, a sentence each */
	struct mr_mime_field *fields;
	size_t field_count;
};

/*
 * Read a message. `*out` and what it points to live in `arena`. MR_ELIMIT when there are more than
 * MR_MIME_BYTES.
 */
MR_CHECK enum mr_code mr_mime_parse(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_mime *out, struct mr_err *err);

/* The values of all fields of this name (any case), in order: unfolded, trimmed, words not decoded;
 * empty ones are left out. */
struct mr_texts mr_mime_values(struct mr_arena *arena, const struct mr_mime *mime,
	const char *name);
/* The same with encoded words (RFC 2047) decoded. */
struct mr_texts mr_mime_texts(struct mr_arena *arena, const struct mr_mime *mime, const char *name);

/*
 * The decoded content of the part that `part_id`, a decimal number, names: its own bytes, whatever
 * its charset. MR_ENOTFOUND when there is no such part, or it consists of parts.
 */
MR_CHECK enum mr_code mr_mime_part_read(struct mr_arena *arena, const struct mr_mime *mime,
	const char *part_id, struct mr_bytes *out, struct mr_err *err);

/* "Name <email>", or the address alone when there is no name. */
const char *mr_mime_address_text(struct mr_arena *arena, const struct mr_mime_address *address);
/* Addresses as a header field lists them, groups flattened. */
struct mr_mime_addresses mr_mime_addresses_read(struct mr_arena *arena, const char *text);
/* The ids of an In-Reply-To or References field: what stands in angle brackets, or the words when
 * nothing does. */
struct mr_texts mr_mime_ids_read(struct mr_arena *arena, const char *text);
