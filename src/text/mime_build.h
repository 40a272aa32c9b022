/*
 * text/mime_build.h - e-mail messages built: the bytes that are sent (RFC 5322, MIME). Pure.
 *
 * The same draft gives the same bytes. Nothing in a value can become a field of its own: what does
 * not fit on one line is an error, other characters are encoded.
 */
#pragma once

#include "base/buf.h"
#include "text/mime.h"

struct mr_mime_file {
	const char *name;      /* made safe by mr_file_name_safe() */
	const char *type;      /* "image/png"; NULL: what the name's extension says */
	struct mr_bytes bytes; /* "message/rfc822" goes as it is, everything else in base64 */
};

/* There is no Bcc: hidden recipients stand in the envelope only. */
struct mr_mime_draft {
	struct mr_mime_address from;
	struct mr_mime_addresses to, cc, reply_to;
	const char *subject;
	int64_t date_us;
	int offset_minutes;         /* of the place where the date is read */
	const char *message_id;     /* this and the other ids without angle brackets */
	const char *in_reply_to;    /* or NULL */
	struct mr_texts references; /* those that cannot be written are left out */
	const char *text;           /* UTF-8, verbatim; no line end is added */
	const char *html;           /* the same as HTML, or NULL */
	const struct mr_mime_file *files;
	size_t file_count;
};

/*
 * Append the message to `buf`, with CRLF as its line ends. MR_EINVAL names the value that cannot be
 * written: an address that mr_mime_mailbox_read() would refuse, a subject of several lines, an id
 * with blanks. MR_ELIMIT when `buf` is full.
 */
MR_CHECK enum mr_code mr_mime_build(struct mr_buf *buf, const struct mr_mime_draft *draft,
	struct mr_err *err);

/*
 * Read one address that mail can be sent to: "name@domain", "Name <name@domain>". MR_EINVAL says
 * what is wrong with it.
 */
MR_CHECK enum mr_code mr_mime_mailbox_read(struct mr_arena *arena, const char *text,
	struct mr_mime_address *out, struct mr_err *err);

/* What the extension of a file's name says, or "application/octet-stream". */
const char *mr_mime_type_by_name(const char *name);
