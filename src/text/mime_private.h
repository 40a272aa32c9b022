/* text/mime_private.h - between the files of text/mime; nothing else includes it. */
#pragma once

#include "base/buf.h"
#include "text/mime.h"

struct mr_mime_field {
	struct mr_bytes name;
	struct mr_bytes value; /* as it stands, line breaks included */
};

/* Notes are gathered while the message is read. */
struct mr_mime_notes {
	struct mr_arena *arena;
	const char *items[32];
	size_t len;
};

/* Append a note once; when the list is full it is dropped. */
void mr_mime_note(struct mr_mime_notes *notes, const char *fmt, ...) MR_PRINTF(2, 3);

/* mime_scan.c: fills bytes, fields and parts of `mime`. */
void mr_mime_scan(struct mr_arena *arena, struct mr_mime *mime, struct mr_mime_notes *notes);
/* A field's value on one line: unfolded, trimmed, valid UTF-8, control characters as spaces. */
char *mr_mime_unfold(struct mr_arena *arena, struct mr_bytes value);

/* What Content-Type and Content-Disposition say. */
struct mr_mime_type {
	const char *type; /* lower case */
	const char *charset;
	const char *boundary;
	const char *name;
	bool is_flowed, has_delsp;
};

struct mr_mime_disposition {
	const char *kind; /* lower case */
	const char *name;
};

/* mime_codec.c: what the library does for us. */
void mr_mime_type_read(struct mr_arena *arena, const char *value, struct mr_mime_type *out);
void mr_mime_disposition_read(struct mr_arena *arena, const char *value,
	struct mr_mime_disposition *out);
enum mr_mime_encoding mr_mime_encoding_read(const char *value);
/* False when it is no date. */
bool mr_mime_date_read(const char *text, int64_t *us, int *offset_minutes);
/* Decode into `buf` until it is full; returns the decoded length of all, also when `buf` is NULL
 * and the bytes are only counted. */
size_t mr_mime_transfer_decode(enum mr_mime_encoding encoding, struct mr_bytes bytes,
	struct mr_buf *buf);

/* Append `bytes` encoded, in lines that end in CRLF when `in_lines`, else on one line; without a
 * line end at its end. */
void mr_mime_transfer_encode(enum mr_mime_encoding encoding, struct mr_bytes bytes,
	struct mr_buf *buf, bool in_lines);

/* mime_words.c: encoded words decoded; valid UTF-8 without control characters, trimmed. */
char *mr_mime_words_decode(struct mr_arena *arena, const char *text);

/* mime_charset.c: append `bytes` as valid UTF-8, U+FFFD for what is not in the charset. NULL and
 * unknown charsets are taken for UTF-8. */
void mr_mime_charset_decode(struct mr_buf *buf, const char *charset, struct mr_bytes bytes);
/* True when the charset is known. */
bool mr_mime_charset_is_known(const char *charset);

/* mime_body.c: which parts are the body and which are attachments (RFC 8621, section 4.1.4). */
void mr_mime_body_read(struct mr_arena *arena, struct mr_mime *mime, struct mr_mime_notes *notes);
