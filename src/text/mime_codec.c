/*
 * text/mime_codec.c - the codecs of MIME, by GMime: parameters, dates, transfer encodings.
 *
 * GMime's parsers of whole messages and of address lists are not used: they have no limits, and a
 * list of nested groups overflows their stack. Nor is its decoder of encoded words, which loses
 * what follows a word that ends in padding.
 */
#include "text/mime_private.h"

#include "base/library.h"
#include "text/time.h"

#include <gmime/gmime.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

/* --- the library, which brings GLib and a dozen others along: loaded for the first mail --- */

/* `mime_init` is g_mime_init(). Those of GLib are found by way of GMime. */
#define FUNCTIONS(X)                                                                               \
	X(date_time_get_utc_offset)                                                                \
	X(date_time_to_unix)                                                                       \
	X(date_time_unref)                                                                         \
	X(log_set_handler)                                                                         \
	X(mime_encoding_flush)                                                                     \
	X(mime_encoding_init_decode)                                                               \
	X(mime_encoding_init_encode)                                                               \
	X(mime_encoding_outlen)                                                                    \
	X(mime_encoding_step)                                                                      \
	X(mime_init)                                                                               \
	X(mime_param_get_value)                                                                    \
	X(mime_param_list_get_parameter)                                                           \
	X(mime_param_list_parse)                                                                   \
	X(mime_parser_options_free)                                                                \
	X(mime_parser_options_new)                                                                 \
	X(mime_parser_options_set_fallback_charsets)                                               \
	X(mime_utils_header_decode_date)                                                           \
	X(object_unref)

struct codecs {
#define MEMBER(name) __typeof__ (&g_##name)(name);
	FUNCTIONS(MEMBER)
#undef MEMBER
};

static const struct mr_library_function functions[] = {
#define ENTRY(name) { "g_" #name, offsetof(struct codecs, name) },
	FUNCTIONS(ENTRY)
#undef ENTRY
};

static struct codecs g;

static void drop_message(const gchar *domain, GLogLevelFlags level, const gchar *message,
	gpointer data)
{
	(void)domain;
	(void)level;
	(void)message;
	(void)data;
}

static void start_library(void)
{
	static const struct mr_library file = { "reading and writing e-mail", "libgmime-3.0.so.0",
		"libgmime-3.0-0", functions, MR_LEN(functions) };

	mr_library_require(&file, &g);
	g.mime_init();
	/* It complains about broken mail on standard error. */
	g.log_set_handler("gmime", G_LOG_LEVEL_MASK, drop_message, NULL);
}

static void need_library(void)
{
	static pthread_once_t started = PTHREAD_ONCE_INIT;

	pthread_once(&started, start_library);
}

static void free_options(GMimeParserOptions **options)
{
	g.mime_parser_options_free(*options);
}

static void free_params(GMimeParamList **params)
{
	if (*params)
		g.object_unref(*params);
}

static GMimeParserOptions *new_options(void)
{
	/* What is not UTF-8 has been replaced already: there is nothing to guess. */
	static const char *const charsets[] = { "utf-8", NULL };
	GMimeParserOptions *options = g.mime_parser_options_new();

	g.mime_parser_options_set_fallback_charsets(options, (const char **)(uintptr_t)charsets);
	return options;
}

/* Encoded words do not belong into parameters, but are there: "=?" is hidden from the library. */
#define HIDDEN "\xef\xa3\xa1"

static const char *hide_words(struct mr_arena *arena, const char *text)
{
	char *out;
	char *to;

	if (!strstr(text, "=?"))
		return text;
	out = to = mr_arena_alloc(arena, 2 * strlen(text) + 1);
	for (; *text; text++) {
		const char *from = text[0] == '=' && text[1] == '?' ? HIDDEN : NULL;

		if (!from)
			*to++ = *text;
		while (from && *from)
			*to++ = *from++;
	}
	return out;
}

static const char *show_words(struct mr_arena *arena, const char *text)
{
	char *out = mr_arena_alloc(arena, strlen(text) + 1);
	char *to = out;

	while (*text) {
		bool is_hidden = strncmp(text, HIDDEN "?", 4) == 0;

		*to++ = is_hidden ? '=' : *text;
		text += is_hidden ? 3 : 1;
	}
	return mr_mime_words_decode(arena, out);
}

static const char *param(struct mr_arena *arena, GMimeParamList *params, const char *name)
{
	GMimeParam *found = params ? g.mime_param_list_get_parameter(params, name) : NULL;
	const char *value = found ? g.mime_param_get_value(found) : NULL;

	if (!value)
		return NULL;
	value = mr_mime_unfold(arena, mr_bytes_of(value, strnlen(value, MR_MIME_NAME_BYTES)));
	value = show_words(arena, value);
	return *value ? value : NULL;
}

/* "type/subtype" in front of the parameters, or NULL. */
static const char *read_token(struct mr_arena *arena, const char *value, bool has_slash)
{
	size_t len = strcspn(value, "; \t(");
	const char *slash = memchr(value, '/', len);

	if (len == 0 || len > 127 || (slash != NULL) != has_slash)
		return NULL;
	if (slash &&
		(slash == value || slash + 1 == value + len ||
			memchr(slash + 1, '/', (size_t)(value + len - slash - 1))))
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (value[i] <= ' ' || value[i] >= 0x7f || strchr("\"<>[]\\,:=@|`{}", value[i]))
			return NULL;
	}
	return mr_str_lower(arena, mr_arena_strndup(arena, value, len));
}

static GMimeParamList *read_params(struct mr_arena *arena, const char *value)
{
	GMimeParserOptions *options MR_CLEANUP(free_options) = NULL;
	const char *from = strchr(value, ';');

	need_library();
	options = new_options();
	if (!from)
		return NULL;
	/* More parameters than the longest name in pieces could need are not looked at. */
	from = mr_arena_strndup(arena, from + 1, strnlen(from + 1, 4 * MR_MIME_NAME_BYTES));
	return g.mime_param_list_parse(options, hide_words(arena, from));
}

void mr_mime_type_read(struct mr_arena *arena, const char *value, struct mr_mime_type *out)
{
	GMimeParamList *params MR_CLEANUP(free_params) = read_params(arena, value);
	const char *format = param(arena, params, "format");
	const char *delsp = param(arena, params, "delsp");
	const char *type = read_token(arena, value, true);

	*out = (struct mr_mime_type){
		/* RFC 2045: what is not understood is some file; "text" alone is old mail. */
		.type = type ? type
			: mr_str_eq(read_token(arena, value, false), "text")
			? "text/plain"
			: "application/octet-stream",
		.charset = param(arena, params, "charset"),
		.boundary = param(arena, params, "boundary"),
		.name = param(arena, params, "name"),
		.is_flowed = format && strcasecmp(format, "flowed") == 0,
		.has_delsp = delsp && strcasecmp(delsp, "yes") == 0,
	};
}

void mr_mime_disposition_read(struct mr_arena *arena, const char *value,
	struct mr_mime_disposition *out)
{
	GMimeParamList *params MR_CLEANUP(free_params) = read_params(arena, value);
	const char *kind = read_token(arena, value, false);

	/* RFC 2183: what is not known is an attachment. */
	*out = (struct mr_mime_disposition){
		.kind = kind ? kind : "attachment",
		.name = param(arena, params, "filename"),
	};
}

enum mr_mime_encoding mr_mime_encoding_read(const char *value)
{
	static const struct {
		const char *word;
		enum mr_mime_encoding encoding;
	} words[] = {
		{ "base64", MR_MIME_BASE64 },
		{ "quoted-printable", MR_MIME_QUOTED_PRINTABLE },
	};
	size_t len = strcspn(value, "; \t(");

	for (size_t i = 0; i < MR_LEN(words); i++) {
		if (len == strlen(words[i].word) && strncasecmp(value, words[i].word, len) == 0)
			return words[i].encoding;
	}
	return MR_MIME_PLAIN;
}

bool mr_mime_date_read(const char *text, int64_t *us, int *offset_minutes)
{
	GDateTime *date;

	need_library();
	if (strlen(text) > 200)
		return false;
	date = g.mime_utils_header_decode_date(text);
	if (!date)
		return false;
	*us = g.date_time_to_unix(date) * MR_TIME_S;
	*offset_minutes = (int)(g.date_time_get_utc_offset(date) / MR_TIME_MIN);
	g.date_time_unref(date);
	return true;
}

/* Append as much as fits. */
static void put_some(struct mr_buf *buf, const void *data, size_t len)
{
	size_t room = buf ? buf->max - buf->len : 0;

	if (room)
		mr_buf_add(buf, data, len < room ? len : room);
}

static int base64_value(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* What GMime drops is kept: what follows padding, and what should have been padded. */
static size_t decode_base64(struct mr_bytes bytes, struct mr_buf *buf)
{
	uint32_t bits = 0;
	unsigned count = 0; /* characters since the last whole group */
	size_t total = 0;

	for (size_t i = 0; i <= bytes.len; i++) {
		int value = i < bytes.len ? base64_value(bytes.data[i]) : -1;
		bool is_end = i == bytes.len || bytes.data[i] == '=';
		uint8_t out[3];

		if (value >= 0) {
			bits = bits << 6 | (uint32_t)value;
			count++;
		}
		if (count < 4 && !(is_end && count > 1)) {
			count = is_end ? 0 : count;
			continue;
		}
		bits <<= 6 * (4 - count);
		out[0] = (uint8_t)(bits >> 16);
		out[1] = (uint8_t)(bits >> 8);
		out[2] = (uint8_t)bits;
		put_some(buf, out, count - 1);
		total += count - 1;
		count = 0;
		bits = 0;
	}
	return total;
}

size_t mr_mime_transfer_decode(enum mr_mime_encoding encoding, struct mr_bytes bytes,
	struct mr_buf *buf)
{
	enum { STEP = 8192 };
	GMimeEncoding state;
	size_t total = 0;
	char out[STEP + 64];

	if (encoding == MR_MIME_PLAIN) {
		put_some(buf, bytes.data, bytes.len);
		return bytes.len;
	}
	if (encoding == MR_MIME_BASE64)
		return decode_base64(bytes, buf);
	need_library();
	g.mime_encoding_init_decode(&state, GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
	for (size_t at = 0; at < bytes.len; at += STEP) {
		size_t len = bytes.len - at < STEP ? bytes.len - at : STEP;
		size_t made = g.mime_encoding_outlen(&state, len) <= sizeof(out)
			? g.mime_encoding_step(&state, (const char *)bytes.data + at, len, out)
			: 0;

		total += made;
		put_some(buf, out, made);
	}
	return total;
}

/* The library ends lines with LF. */
static void put_encoded(struct mr_buf *buf, const char *text, size_t len, bool in_lines)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\n')
			mr_buf_putc(buf, text[i]);
		else if (in_lines)
			mr_buf_puts(buf, "\r\n");
	}
}

void mr_mime_transfer_encode(enum mr_mime_encoding encoding, struct mr_bytes bytes,
	struct mr_buf *buf, bool in_lines)
{
	enum { STEP = 4096 };
	GMimeEncoding state;
	char out[4 * STEP];
	size_t start = buf->len;
	size_t len;

	need_library();
	g.mime_encoding_init_encode(&state,
		encoding == MR_MIME_BASE64 ? GMIME_CONTENT_ENCODING_BASE64
					   : GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
	for (size_t at = 0; at < bytes.len && !buf->failed; at += STEP) {
		len = bytes.len - at < STEP ? bytes.len - at : STEP;
		len = g.mime_encoding_step(&state, (const char *)bytes.data + at, len, out);
		put_encoded(buf, out, len, in_lines);
	}
	len = g.mime_encoding_flush(&state, "", 0, out);
	put_encoded(buf, out, len, in_lines);
	/* Base64 ends in a line end that is none of the content; in quoted-printable it would be.
	 */
	while (encoding == MR_MIME_BASE64 && buf->len > start &&
		(buf->data[buf->len - 1] == '\n' || buf->data[buf->len - 1] == '\r'))
		buf->data[--buf->len] = '\0';
}
