/* text/address.c - Parses and validates a mailbox address of the form local@domain. */
#include "text/address.h"

#include "base/str.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

enum { STASH_DIGITS = 32 };

/* The address without the white space around it, and where it stands in the caller's text. */
struct span {
	const char *text;
	size_t len;
	size_t at;
};

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The whole span is UTF-8. */
static enum mr_code refuse_space(const struct span *span, struct mr_err *err)
{
	for (size_t i = 0; i < span->len;) {
		uint32_t scalar = 0;
		size_t used = mr_utf8_next(span->text + i, span->len - i, &scalar);

		if (mr_utf8_is_space(scalar))
			return mr_err_set(err, MR_EINVAL, "must not contain whitespace (byte %zu)",
				span->at + i);
		i += used;
	}
	return MR_OK;
}

static enum mr_code refuse_form(const struct span *span, size_t i, struct mr_err *err)
{
	return mr_err_set(err, MR_EINVAL,
		"must be full-form email-like values, name@domain (byte %zu)", span->at + i);
}

/* The grammar; `*out_at` gets the byte of the '@'. */
static enum mr_code check_form(const struct span *span, size_t *out_at, struct mr_err *err)
{
	size_t i = 0;
	size_t at;

	while (i < span->len &&
		(is_alnum(span->text[i]) || (i > 0 && strchr("._+-", span->text[i]))))
		i++;
	if (i == 0 || i == span->len || span->text[i] != '@')
		return refuse_form(span, i, err);
	at = i++;
	if (i == span->len || !is_alnum(span->text[i]))
		return refuse_form(span, i, err);
	while (i < span->len && (is_alnum(span->text[i]) || strchr(".-", span->text[i])))
		i++;
	if (i < span->len)
		return refuse_form(span, i, err);
	if (!is_alnum(span->text[i - 1]))
		return refuse_form(span, i - 1, err);
	*out_at = at;
	return MR_OK;
}

static enum mr_code refuse_empty_segments(const struct span *span, struct mr_err *err)
{
	const char *dots = memmem(span->text, span->len, "..", 2);

	if (dots)
		return mr_err_set(err, MR_EINVAL, "must not contain empty dot segments (byte %zu)",
			span->at + (size_t)(dots - span->text));
	return MR_OK;
}

/* Nothing gets here that the grammar let through; a file's name depends on it, so look once more.
 */
static enum mr_code check_path_segment(const struct span *span, struct mr_err *err)
{
	static const char bad[] = "/\\:*?\"<>|";

	for (size_t i = 0; i < span->len; i++) {
		if ((unsigned char)span->text[i] < 0x20 || strchr(bad, span->text[i]))
			return mr_err_set(err, MR_EINVAL, "must be safe as a file name (byte %zu)",
				span->at + i);
	}
	return MR_OK;
}

enum mr_code mr_address_parse(struct mr_arena *arena, const char *text, struct mr_address *out,
	struct mr_err *err)
{
	struct span span = { .text = text, .len = strlen(text) };
	bool is_utf8 = mr_utf8_is_valid(text, span.len, NULL);
	size_t at = 0;
	enum mr_code rc = MR_OK;

	if (is_utf8)
		mr_utf8_strip(&span.text, &span.len);
	span.at = (size_t)(span.text - text);
	if (span.len == 0)
		return mr_err_set(err, MR_EINVAL, "must not be empty");
	if (is_utf8)
		rc = refuse_space(&span, err);
	if (!rc)
		rc = check_form(&span, &at, err);
	if (!rc)
		rc = refuse_empty_segments(&span, err);
	if (!rc)
		rc = check_path_segment(&span, err);
	if (rc)
		return rc;
	if (span.len > MR_ADDRESS_BYTES)
		return mr_err_set(err, MR_ELIMIT, "must not be longer than %d bytes",
			MR_ADDRESS_BYTES);
	out->full = mr_arena_strndup(arena, span.text, span.len);
	out->local = mr_arena_strndup(arena, span.text, at);
	out->domain = out->full + at + 1;
	return MR_OK;
}

static bool ends_like_a_stash(const char *domain)
{
	size_t len = strlen(domain);
	const char *tail = domain + len - STASH_DIGITS;

	return len >= STASH_DIGITS + 2 && tail[-1] == '-' && tail[-2] == '-' &&
		strspn(tail, "0123456789abcdefABCDEF") == STASH_DIGITS;
}

enum mr_code mr_address_parse_new(struct mr_arena *arena, const char *text, struct mr_address *out,
	struct mr_err *err)
{
	struct mr_address address = { .domain = "" };
	enum mr_code rc = mr_address_parse(arena, text, &address, err);

	if (rc)
		return rc;
	if (ends_like_a_stash(address.domain))
		return mr_err_set(err, MR_EINVAL,
			"must not end in '--' and 32 hexadecimal digits: mailboxes set aside do");
	*out = address;
	return MR_OK;
}
