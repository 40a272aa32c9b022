/*
 * text/mime_codec.c - the codecs of MIME, by GMime: words, parameters, dates, transfer encodings.
 *
 * GMime's parsers of whole messages and of address lists are not used: they have no limits, and a
 * list of nested groups overflows their stack.
 */
#include "text/mime_private.h"

#include "text/time.h"

#include <gmime/gmime.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

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
	g_mime_init();
	/* It complains about broken mail on standard error. */
	g_log_set_handler("gmime", G_LOG_LEVEL_MASK, drop_message, NULL);
}

static void need_library(void)
{
	static pthread_once_t started = PTHREAD_ONCE_INIT;

	pthread_once(&started, start_library);
}

static void free_text(gchar **text)
{
	g_free(*text);
}

static void free_options(GMimeParserOptions **options)
{
	g_mime_parser_options_free(*options);
}

static void free_params(GMimeParamList **params)
{
	if (*params)
		g_object_unref(*params);
}

static GMimeParserOptions *new_options(void)
{
	/* What is not UTF-8 has been replaced already: there is nothing to guess. */
	static const char *const charsets[] = { "utf-8", NULL };
	GMimeParserOptions *options = g_mime_parser_options_new();

	g_mime_parser_options_set_fallback_charsets(options, (const char **)(uintptr_t)charsets);
	return options;
}

char *mr_mime_words_decode(struct mr_arena *arena, const char *text)
{
	gchar *decoded MR_CLEANUP(free_text) = NULL;

	if (!strstr(text, "=?"))
		return mr_str_trim(arena, text);
	need_library();
	{
		GMimeParserOptions *options MR_CLEANUP(free_options) = new_options();

		decoded = g_mime_utils_header_decode_text(options, text);
	}
	/* A word can hide line breaks and control characters. */
	return mr_mime_unfold(arena, mr_bytes_text(decoded ? decoded : ""));
}

static const char *keep(struct mr_arena *arena, const char *text, size_t max)
{
	const char *clean;
	size_t len;

	if (!text)
		return NULL;
	clean = mr_mime_unfold(arena, mr_bytes_of(text, strnlen(text, max)));
	len = strlen(clean);
	return len ? clean : NULL;
}

static const char *param(struct mr_arena *arena, GMimeParamList *params, const char *name)
{
	GMimeParam *found = params ? g_mime_param_list_get_parameter(params, name) : NULL;

	return found ? keep(arena, g_mime_param_get_value(found), MR_MIME_NAME_BYTES) : NULL;
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
	return g_mime_param_list_parse(options,
		mr_arena_strndup(arena, from + 1, strnlen(from + 1, 4 * MR_MIME_NAME_BYTES)));
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
		{ "x-uuencode", MR_MIME_UUENCODE },
		{ "uuencode", MR_MIME_UUENCODE },
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
	date = g_mime_utils_header_decode_date(text);
	if (!date)
		return false;
	*us = g_date_time_to_unix(date) * MR_TIME_S;
	*offset_minutes = (int)(g_date_time_get_utc_offset(date) / MR_TIME_MIN);
	g_date_time_unref(date);
	return true;
}

static GMimeContentEncoding encoding_of(enum mr_mime_encoding encoding)
{
	switch (encoding) {
	case MR_MIME_BASE64:
		return GMIME_CONTENT_ENCODING_BASE64;
	case MR_MIME_QUOTED_PRINTABLE:
		return GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE;
	case MR_MIME_UUENCODE:
		return GMIME_CONTENT_ENCODING_UUENCODE;
	case MR_MIME_PLAIN:
		break;
	}
	return GMIME_CONTENT_ENCODING_8BIT;
}

size_t mr_mime_transfer_decode(enum mr_mime_encoding encoding, struct mr_bytes bytes,
	struct mr_buf *buf)
{
	enum { STEP = 8192 };
	GMimeEncoding state;
	size_t total = 0;
	char out[STEP + 64];

	if (encoding == MR_MIME_PLAIN) {
		if (buf)
			mr_buf_add(buf, bytes.data,
				bytes.len < buf->max - buf->len ? bytes.len : buf->max - buf->len);
		return bytes.len;
	}
	need_library();
	g_mime_encoding_init_decode(&state, encoding_of(encoding));
	for (size_t at = 0; at < bytes.len; at += STEP) {
		size_t len = bytes.len - at < STEP ? bytes.len - at : STEP;
		size_t made = g_mime_encoding_outlen(&state, len) <= sizeof(out)
			? g_mime_encoding_step(&state, (const char *)bytes.data + at, len, out)
			: 0;
		size_t room = buf ? buf->max - buf->len : 0;

		total += made;
		if (buf && room)
			mr_buf_add(buf, out, made < room ? made : room);
	}
	return total;
}
