/* text/mime_build.c - a message written: header, bodies, attachments. */
#include "text/mime_build.h"

#include "base/utf8.h"
#include "text/digest.h"
#include "text/file_name.h"
#include "text/mime_private.h"
#include "text/time.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	LINE_CHARS = 76,   /* where a header is folded if it can be */
	LINE_MAX = 998,    /* no line may be longer (RFC 5322) */
	WORD_BYTES = 39,   /* of text in one encoded word */
	EMAIL_BYTES = 254, /* of an address (RFC 5321) */
	LOCAL_BYTES = 64,
	ID_BYTES = 900,
};

static bool is_ascii(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
			return false;
	}
	return true;
}

/* One line of UTF-8 without control characters. */
static bool is_line(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t scalar = 0;
		size_t step = mr_utf8_next(text, left, &scalar);

		if (step == 0 || scalar < ' ' || (scalar >= 0x7f && scalar < 0xa0))
			return false;
		text += step;
		left -= step;
	}
	return true;
}

/* Addresses */

static bool is_dot_atom(const char *text, size_t len)
{
	if (len == 0 || text[0] == '.' || text[len - 1] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || c == 0x7f || strchr("()<>[]:;@\\,\"", c) ||
			(c == '.' && text[i + 1] == '.'))
			return false;
	}
	return true;
}

/* In quotes, with nothing in it that would end them. */
static bool is_quoted(const char *text, size_t len)
{
	if (len < 2 || text[0] != '"' || text[len - 1] != '"')
		return false;
	for (size_t i = 1; i + 1 < len; i++) {
		if (text[i] == '\\' && i + 2 < len)
			i++;
		else if (text[i] == '"' || text[i] == '\\')
			return false;
	}
	return true;
}

static bool is_domain(const char *text)
{
	size_t len = strlen(text);

	if (len > 2 && text[0] == '[' && text[len - 1] == ']')
		return strspn(text + 1, "0123456789abcdefABCDEFIPv:.") == len - 2;
	if (!is_dot_atom(text, len))
		return false;
	for (size_t i = 0; i < len; i++) {
		bool at_edge = i == 0 || i + 1 == len || text[i - 1] == '.' || text[i + 1] == '.';
		unsigned char c = (unsigned char)text[i];

		if (!isalnum(c) && c != '.' && c < 0x80 && (c != '-' || at_edge))
			return false;
	}
	return true;
}

static enum mr_code check_email(const char *email, struct mr_err *err)
{
	const char *at = strrchr(email, '@');
	size_t local = at ? (size_t)(at - email) : 0;

	if (!at)
		return mr_err_set(err, MR_EINVAL, "\"%.100s\" is no mail address: it has no @",
			email);
	if (strlen(email) > EMAIL_BYTES || local > LOCAL_BYTES)
		return mr_err_set(err, MR_EINVAL, "\"%.100s\" is no mail address: it is too long",
			email);
	if (!is_line(email) || (!is_dot_atom(email, local) && !is_quoted(email, local)) ||
		!is_domain(at + 1))
		return mr_err_set(err, MR_EINVAL, "\"%.100s\" is no mail address", email);
	return MR_OK;
}

enum mr_code mr_mime_mailbox_read(struct mr_arena *arena, const char *text,
	struct mr_mime_address *out, struct mr_err *err)
{
	struct mr_mime_addresses list;
	enum mr_code code;

	if (!is_line(text))
		return mr_err_set(err, MR_EINVAL, "a mail address is one line of text");
	list = mr_mime_addresses_read(arena, text);
	if (list.len != 1)
		return mr_err_set(err, MR_EINVAL, "\"%.100s\" is %s", text,
			list.len ? "more than one mail address" : "no mail address");
	code = check_email(list.items[0].email, err);
	if (code)
		return code;
	*out = list.items[0];
	return MR_OK;
}

/* The header */

/* Non-ASCII text as encoded words, one a line. */
static void put_words(struct mr_buf *buf, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		size_t len = mr_utf8_truncate(text, left, WORD_BYTES);

		mr_buf_puts(buf, "=?utf-8?B?");
		mr_mime_transfer_encode(MR_MIME_BASE64, mr_bytes_of(text, len), buf, false);
		mr_buf_puts(buf, "?=");
		text += len;
		left -= len;
		if (left)
			mr_buf_puts(buf, "\r\n ");
	}
}

/* ASCII text, folded at single spaces. `column` is where it begins. */
static void put_folded(struct mr_buf *buf, const char *text, size_t column)
{
	for (; *text; text++) {
		size_t word = 1 + strcspn(text + 1, " ");

		if (*text == ' ' && column + word > LINE_CHARS && text[1] != ' ' && text[1] &&
			text[-1] != ' ') {
			mr_buf_puts(buf, "\r\n");
			column = 0;
		}
		mr_buf_putc(buf, *text);
		column++;
	}
}

static enum mr_code put_subject(struct mr_buf *buf, const char *subject, struct mr_err *err)
{
	if (!is_line(subject))
		return mr_err_set(err, MR_EINVAL, "the subject must be one line of text");
	mr_buf_puts(buf, "Subject: ");
	/* Blanks at the ends would be lost, and what looks like an encoded word decoded. */
	if (is_ascii(subject) && strlen(subject) < LINE_MAX - 20 && !strstr(subject, "=?") &&
		*subject != ' ' && !mr_str_ends(subject, " "))
		put_folded(buf, subject, strlen("Subject: "));
	else
		put_words(buf, subject);
	mr_buf_puts(buf, "\r\n");
	return MR_OK;
}

static void put_name(struct mr_buf *buf, const char *name)
{
	if (!is_ascii(name) || strlen(name) > 60 || strstr(name, "=?")) {
		put_words(buf, name);
		return;
	}
	mr_buf_putc(buf, '"');
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			mr_buf_putc(buf, '\\');
		mr_buf_putc(buf, *name);
	}
	mr_buf_putc(buf, '"');
}

/* Each address on a line of its own: no line is too long, however many there are. */
static enum mr_code put_addresses(struct mr_buf *buf, const char *field,
	const struct mr_mime_address *items, size_t count, struct mr_err *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct mr_mime_address *address = &items[i];
		enum mr_code code = check_email(address->email ? address->email : "", err);

		if (!code && address->name && !is_line(address->name))
			code = mr_err_set(err, MR_EINVAL,
				"the name of %.100s must be one line of text", address->email);
		if (code)
			return mr_err_wrap(err, "%s", field);
		if (i == 0)
			mr_buf_printf(buf, "%s: ", field);
		else
			mr_buf_puts(buf, ",\r\n ");
		if (mr_str_is_empty(address->name)) {
			mr_buf_puts(buf, address->email);
			continue;
		}
		put_name(buf, address->name);
		mr_buf_printf(buf, "%s<%s>", strlen(address->name) > 40 ? "\r\n " : " ",
			address->email);
	}
	if (count)
		mr_buf_puts(buf, "\r\n");
	return MR_OK;
}

static bool is_id(const char *id)
{
	return *id && strlen(id) <= ID_BYTES && is_ascii(id) && !strpbrk(id, " <>");
}

static enum mr_code put_ids(struct mr_buf *buf, const struct mr_mime_draft *draft,
	struct mr_err *err)
{
	bool is_first = true;

	if (!draft->message_id || !is_id(draft->message_id))
		return mr_err_set(err, MR_EINVAL, "the message id \"%.100s\" cannot be written",
			draft->message_id ? draft->message_id : "");
	mr_buf_printf(buf, "Message-ID: <%s>\r\n", draft->message_id);
	if (!draft->in_reply_to)
		return MR_OK;
	if (!is_id(draft->in_reply_to))
		return mr_err_set(err, MR_EINVAL,
			"the id of the message that is answered, \"%.100s\", cannot be written",
			draft->in_reply_to);
	mr_buf_printf(buf, "In-Reply-To: <%s>\r\n", draft->in_reply_to);
	for (size_t i = 0; i < draft->references.len; i++) {
		if (!is_id(draft->references.items[i]))
			continue;
		mr_buf_printf(buf, "%s<%s>", is_first ? "References: " : "\r\n ",
			draft->references.items[i]);
		is_first = false;
	}
	if (!is_first)
		mr_buf_puts(buf, "\r\n");
	return MR_OK;
}

static void put_date(struct mr_buf *buf, int64_t us, int offset)
{
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
		"Aug", "Sep", "Oct", "Nov", "Dec" };
	static const char *const days[] = { "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed" };
	int64_t local = us + offset * MR_TIME_MIN;
	int64_t day = local / MR_TIME_DAY - (local % MR_TIME_DAY < 0);
	char text[MR_TIME_BYTES];
	int64_t month = 1;

	mr_time_write(text, local, MR_TIME_SECONDS);
	/* 2026-03-11T04:15:00Z */
	text[4] = text[7] = text[10] = text[19] = '\0';
	if (!mr_str_to_int(text + 5 + (text[5] == '0'), &month))
		month = 1;
	mr_buf_printf(buf, "Date: %s, %s %s %s %s %c%02d%02d\r\n", days[((day % 7) + 7) % 7],
		text + 8, months[month - 1], text, text + 11, offset < 0 ? '-' : '+',
		(offset < 0 ? -offset : offset) / 60, (offset < 0 ? -offset : offset) % 60);
}

static enum mr_code put_header(struct mr_buf *buf, const struct mr_mime_draft *draft,
	struct mr_err *err)
{
	enum mr_code code;

	put_date(buf, draft->date_us, draft->offset_minutes);
	code = put_addresses(buf, "From", &draft->from, 1, err);
	if (!code)
		code = put_addresses(buf, "To", draft->to.items, draft->to.len, err);
	if (!code)
		code = put_addresses(buf, "Cc", draft->cc.items, draft->cc.len, err);
	if (!code)
		code = put_addresses(buf, "Reply-To", draft->reply_to.items, draft->reply_to.len,
			err);
	if (!code)
		code = put_subject(buf, draft->subject ? draft->subject : "", err);
	if (!code)
		code = put_ids(buf, draft, err);
	if (!code)
		mr_buf_puts(buf, "MIME-Version: 1.0\r\n");
	return code;
}

/* Bodies */

/* What a text needs: how many bytes are not ASCII, how long its lines are. */
static enum mr_mime_encoding choose_encoding(const char *text)
{
	size_t line = 0;
	size_t longest = 0;
	size_t high = 0;
	bool is_plain = true;
	size_t len = 0;

	for (; text[len]; len++) {
		unsigned char c = (unsigned char)text[len];

		line = c == '\n' ? 0 : line + 1;
		longest = line > longest ? line : longest;
		high += c >= 0x80;
		is_plain &= c < 0x7f && (c >= ' ' || c == '\n' || c == '\t');
	}
	if (is_plain && longest <= LINE_MAX)
		return MR_MIME_PLAIN;
	return high > len / 3 ? MR_MIME_BASE64 : MR_MIME_QUOTED_PRINTABLE;
}

/* With CRLF for LF. */
static void put_lines(struct mr_buf *buf, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		mr_buf_add(buf, text, len);
		text += len;
		if (*text != '\n')
			break;
		mr_buf_puts(buf, "\r\n");
		text++;
	}
}

/* Without the CR of line ends; another CR stays. */
static const char *with_lf(struct mr_arena *arena, const char *text)
{
	char *out;
	char *to;

	if (!strstr(text, "\r\n"))
		return text;
	out = to = mr_arena_alloc(arena, strlen(text) + 1);
	for (; *text; text++) {
		if (text[0] != '\r' || text[1] != '\n')
			*to++ = *text;
	}
	return out;
}

static void put_text_part(struct mr_arena *arena, struct mr_buf *buf, const char *type,
	const char *text)
{
	static const char *const names[] = { [MR_MIME_PLAIN] = "7bit",
		[MR_MIME_BASE64] = "base64",
		[MR_MIME_QUOTED_PRINTABLE] = "quoted-printable" };
	struct mr_buf lines MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_mime_encoding encoding;

	text = with_lf(arena, text);
	encoding = choose_encoding(text);
	mr_buf_printf(buf,
		"Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: %s\r\n\r\n", type,
		names[encoding]);
	if (encoding == MR_MIME_BASE64) {
		mr_buf_init(&lines, 2 * strlen(text) + 1);
		put_lines(&lines, text);
		mr_mime_transfer_encode(encoding, mr_buf_bytes(&lines), buf, true);
	} else if (encoding == MR_MIME_QUOTED_PRINTABLE) {
		mr_mime_transfer_encode(encoding, mr_bytes_text(text), buf, true);
	} else {
		put_lines(buf, text);
	}
}

/* Attachments */

const char *mr_mime_type_by_name(const char *name)
{
	static const struct {
		const char *extension;
		const char *type;
	} types[] = {
		{ "7z", "application/x-7z-compressed" },
		{ "avi", "video/x-msvideo" },
		{ "bmp", "image/bmp" },
		{ "bz2", "application/x-bzip2" },
		{ "css", "text/css" },
		{ "csv", "text/csv" },
		{ "doc", "application/msword" },
		{ "docx",
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
		{ "eml", "message/rfc822" },
		{ "epub", "application/epub+zip" },
		{ "gif", "image/gif" },
		{ "gz", "application/gzip" },
		{ "htm", "text/html" },
		{ "html", "text/html" },
		{ "ics", "text/calendar" },
		{ "jpeg", "image/jpeg" },
		{ "jpg", "image/jpeg" },
		{ "js", "text/javascript" },
		{ "json", "application/json" },
		{ "log", "text/plain" },
		{ "m4a", "audio/mp4" },
		{ "md", "text/markdown" },
		{ "mov", "video/quicktime" },
		{ "mp3", "audio/mpeg" },
		{ "mp4", "video/mp4" },
		{ "odp", "application/vnd.oasis.opendocument.presentation" },
		{ "ods", "application/vnd.oasis.opendocument.spreadsheet" },
		{ "odt", "application/vnd.oasis.opendocument.text" },
		{ "ogg", "audio/ogg" },
		{ "pdf", "application/pdf" },
		{ "png", "image/png" },
		{ "ppt", "application/vnd.ms-powerpoint" },
		{ "pptx",
			"application/"
			"vnd.openxmlformats-officedocument.presentationml.presentation" },
		{ "rtf", "application/rtf" },
		{ "svg", "image/svg+xml" },
		{ "tar", "application/x-tar" },
		{ "tif", "image/tiff" },
		{ "tiff", "image/tiff" },
		{ "txt", "text/plain" },
		{ "vcf", "text/vcard" },
		{ "wav", "audio/wav" },
		{ "webm", "video/webm" },
		{ "webp", "image/webp" },
		{ "xls", "application/vnd.ms-excel" },
		{ "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
		{ "xml", "application/xml" },
		{ "yaml", "application/yaml" },
		{ "yml", "application/yaml" },
		{ "zip", "application/zip" },
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < MR_LEN(types); i++) {
		if (strcasecmp(dot + 1, types[i].extension) == 0)
			return types[i].type;
	}
	return "application/octet-stream";
}

static bool is_type(const char *type)
{
	size_t len = type ? strspn(type,
				    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789!#$&^_.+-/")
			  : 0;
	const char *slash = len ? strchr(type, '/') : NULL;

	return slash && slash > type && slash[1] && !strchr(slash + 1, '/') && type[len] == '\0' &&
		len < 128;
}

/* filename="..." or, in pieces, filename*0*=utf-8''%E5... (RFC 2231). */
static void put_file_name(struct mr_buf *buf, const char *name)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t piece = 0;
	size_t column = LINE_CHARS;

	if (is_ascii(name) && strlen(name) <= 60 && !strpbrk(name, "\"\\%") &&
		!strstr(name, "=?")) {
		mr_buf_printf(buf, ";\r\n filename=\"%s\"", name);
		return;
	}
	while (*name) {
		unsigned char c = (unsigned char)*name;

		/* A character is not torn, though it may be. */
		if (column + 12 > LINE_CHARS && (c & 0xc0) != 0x80) {
			mr_buf_printf(buf, ";\r\n filename*%zu*=%s", piece, piece ? "" : "utf-8''");
			column = 24;
			piece++;
		}
		if (isalnum(c) || c == '.' || c == '-' || c == '_') {
			mr_buf_putc(buf, (char)c);
			column++;
		} else {
			mr_buf_printf(buf, "%%%c%c", hex[c >> 4], hex[c & 15]);
			column += 3;
		}
		name++;
	}
}

/* Can the bytes of a message stand in ours as they are? */
static bool is_embeddable(struct mr_bytes bytes)
{
	size_t line = 0;

	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.data[i] == '\n')
			line = 0;
		else if (++line > LINE_MAX || bytes.data[i] == 0)
			return false;
	}
	return true;
}

static void put_message_lines(struct mr_buf *buf, struct mr_bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.data[i] == '\n' && (i == 0 || bytes.data[i - 1] != '\r'))
			mr_buf_putc(buf, '\r');
		mr_buf_putc(buf, (char)bytes.data[i]);
	}
}

static void put_file(struct mr_arena *arena, struct mr_buf *buf, const struct mr_mime_file *file)
{
	const char *name = mr_file_name_safe(arena, file->name ? file->name : "", "attachment");
	const char *type = is_type(file->type) ? file->type : mr_mime_type_by_name(name);
	bool is_message = strncasecmp(type, "message/", 8) == 0;
	bool is_whole =
		is_message && strcasecmp(type, "message/rfc822") == 0 && is_embeddable(file->bytes);
	bool is_high = false;

	for (size_t i = 0; is_whole && i < file->bytes.len && !is_high; i++)
		is_high = file->bytes.data[i] >= 0x80;
	mr_buf_printf(buf, "Content-Type: %s\r\nContent-Transfer-Encoding: %s\r\n",
		is_message && !is_whole ? "application/octet-stream" : type,
		!is_whole         ? "base64"
			: is_high ? "8bit"
				  : "7bit");
	mr_buf_puts(buf, "Content-Disposition: attachment");
	put_file_name(buf, name);
	mr_buf_puts(buf, "\r\n\r\n");
	if (is_whole)
		put_message_lines(buf, file->bytes);
	else
		mr_mime_transfer_encode(MR_MIME_BASE64, file->bytes, buf, true);
}

/* The whole message */

static bool has_boundary(const char *text, const char *boundary)
{
	return text && strstr(text, boundary);
}

/* A boundary that nothing contains. In base64 and quoted-printable "=_" does not occur. */
static const char *choose_boundary(struct mr_arena *arena, const struct mr_mime_draft *draft,
	char kind)
{
	for (unsigned i = 0;; i++) {
		const char *seed = mr_arena_printf(arena, "%s %c %u", draft->message_id, kind, i);
		const char *digest = mr_digest_sha256(arena, mr_bytes_text(seed));
		const char *boundary = mr_arena_printf(arena, "=_%c%.32s", kind, digest);
		bool is_taken =
			has_boundary(draft->text, boundary) || has_boundary(draft->html, boundary);

		for (size_t k = 0; k < draft->file_count && !is_taken; k++) {
			struct mr_bytes bytes = draft->files[k].bytes;

			is_taken = bytes.len &&
				memmem(bytes.data, bytes.len, boundary, strlen(boundary));
		}
		if (!is_taken)
			return boundary;
	}
}

static void put_body(struct mr_arena *arena, struct mr_buf *buf, const struct mr_mime_draft *draft)
{
	const char *boundary;

	if (!draft->html) {
		put_text_part(arena, buf, "text/plain", draft->text);
		return;
	}
	boundary = choose_boundary(arena, draft, 'a');
	mr_buf_printf(buf,
		"Content-Type: multipart/alternative;\r\n boundary=\"%s\"\r\n\r\n--%s\r\n",
		boundary, boundary);
	put_text_part(arena, buf, "text/plain", draft->text);
	mr_buf_printf(buf, "\r\n--%s\r\n", boundary);
	put_text_part(arena, buf, "text/html", draft->html);
	mr_buf_printf(buf, "\r\n--%s--\r\n", boundary);
}

enum mr_code mr_mime_build(struct mr_buf *buf, const struct mr_mime_draft *draft,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	enum mr_code code = put_header(buf, draft, err);
	const char *boundary;

	if (code)
		return code;
	if (draft->file_count == 0) {
		put_body(arena, buf, draft);
		return mr_buf_check(buf, "the message", err);
	}
	boundary = choose_boundary(arena, draft, 'm');
	mr_buf_printf(buf, "Content-Type: multipart/mixed;\r\n boundary=\"%s\"\r\n\r\n--%s\r\n",
		boundary, boundary);
	put_body(arena, buf, draft);
	for (size_t i = 0; i < draft->file_count; i++) {
		mr_buf_printf(buf, "\r\n--%s\r\n", boundary);
		put_file(arena, buf, &draft->files[i]);
	}
	mr_buf_printf(buf, "\r\n--%s--\r\n", boundary);
	return mr_buf_check(buf, "the message", err);
}
