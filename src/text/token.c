/* text/token.c - Generates ids, slugs and random names, and encodes base64. */
#include "text/token.h"

#include <assert.h>
#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

static char *hex_of(struct mr_arena *arena, const uint8_t *bytes, size_t len)
{
	char *out = mr_arena_array(arena, len + 1, 2);

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = hex_digits[bytes[i] >> 4];
		out[2 * i + 1] = hex_digits[bytes[i] & 15];
	}
	return out;
}

const char *mr_token_hex(struct mr_arena *arena, struct mr_rand *rand, size_t bytes)
{
	uint8_t *data = mr_arena_alloc(arena, bytes);

	mr_rand_fill(rand, data, bytes);
	return hex_of(arena, data, bytes);
}

const char *mr_token_uuid4_hex(struct mr_arena *arena, struct mr_rand *rand)
{
	uint8_t bytes[MR_TOKEN_UUID_DIGITS / 2];

	mr_rand_fill(rand, bytes, sizeof(bytes));
	/* Version 4, variant of RFC 9562. */
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	return hex_of(arena, bytes, sizeof(bytes));
}

const char *mr_token_prefixed(struct mr_arena *arena, struct mr_rand *rand, const char *prefix,
	size_t digits)
{
	assert(digits <= MR_TOKEN_UUID_DIGITS);
	return mr_arena_printf(arena, "%s%.*s", prefix, (int)digits,
		mr_token_uuid4_hex(arena, rand));
}

const char *mr_token_stamped(struct mr_arena *arena, struct mr_rand *rand, const char *prefix,
	int64_t now_us, enum mr_time_style style, const char *sep, size_t digits)
{
	const char *time = mr_time_format(arena, now_us, style);

	return mr_token_prefixed(arena, rand, mr_arena_printf(arena, "%s%s%s", prefix, time, sep),
		digits);
}

const char *mr_token_message_id(struct mr_arena *arena, struct mr_rand *rand, int64_t now_us)
{
	return mr_token_stamped(arena, rand, "msg-", now_us, MR_TIME_COMPACT, "-",
		MR_TOKEN_UUID_DIGITS);
}

bool mr_token_is_message_id(const char *text)
{
	/* d is a decimal digit, x a hexadecimal one. */
	static const char form[] = "msg-ddddddddTddddddZ-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

	if (strlen(text) != sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i]; i++) {
		bool fits = text[i] == form[i];

		if (form[i] == 'd')
			fits = text[i] >= '0' && text[i] <= '9';
		else if (form[i] == 'x')
			fits = strchr(hex_digits, text[i]);
		if (!fits)
			return false;
	}
	return true;
}

const char *mr_token_uid(struct mr_arena *arena, struct mr_rand *rand, int64_t now_us,
	size_t digits)
{
	return mr_token_stamped(arena, rand, "msg_", now_us, MR_TIME_COMPACT_DATE, "_", digits);
}

static const char base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Returns how long the text is. */
static size_t put_base64(char *out, struct mr_bytes bytes, const char *alphabet)
{
	size_t len = 0;
	uint32_t bits = 0;
	unsigned count = 0; /* of bits not yet written */

	for (size_t i = 0; i < bytes.len; i++) {
		bits = bits << 8 | bytes.data[i];
		for (count += 8; count >= 6; count -= 6)
			out[len++] = alphabet[bits >> (count - 6) & 63];
	}
	if (count > 0)
		out[len++] = alphabet[bits << (6 - count) & 63];
	return len;
}

const char *mr_token_base64url(struct mr_arena *arena, struct mr_bytes bytes)
{
	char *out = mr_arena_array(arena, bytes.len / 3 + 1, 4 + 1);

	put_base64(out, bytes, base64url);
	return out;
}

const char *mr_token_base64(struct mr_arena *arena, struct mr_bytes bytes)
{
	char *out = mr_arena_array(arena, bytes.len / 3 + 1, 4 + 1);

	for (size_t len = put_base64(out, bytes, base64); len % 4 != 0;)
		out[len++] = '=';
	return out;
}

enum mr_code mr_token_base64url_decode(struct mr_arena *arena, const char *text,
	struct mr_bytes *out, struct mr_err *err)
{
	size_t text_len = strlen(text);
	uint8_t *bytes = mr_arena_alloc(arena, text_len / 4 * 3 + 4);
	size_t len = 0;
	uint32_t bits = 0;
	unsigned count = 0;

	for (size_t i = 0; i < text_len; i++) {
		const char *digit = strchr(base64url, text[i]);

		if (!digit)
			return mr_err_set(err, MR_EFORMAT,
				"base64url has a wrong character at byte %zu", i);
		bits = bits << 6 | (uint32_t)(digit - base64url);
		count += 6;
		if (count >= 8) {
			count -= 8;
			bytes[len++] = (uint8_t)(bits >> count);
		}
	}
	/* Fewer than six bits may be left over, and they are zero. */
	if (count >= 6 || (bits & ((1u << count) - 1)))
		return mr_err_set(err, MR_EFORMAT,
			"base64url ends in the middle of a byte at byte %zu", text_len - 1);
	bytes[len] = '\0';
	*out = mr_bytes_of(bytes, len);
	return MR_OK;
}

static char lower(char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c - 'A' + 'a');
	return c;
}

/* Letters, digits and `others` stay, in lower case; each run of anything else becomes one '-'; no
 * character of `trimmed` at the ends. */
static const char *slug(struct mr_arena *arena, const char *text, const char *others,
	const char *trimmed, size_t max, const char *fallback)
{
	char *out = mr_arena_alloc(arena, strlen(text) + 1);
	size_t len = 0;
	bool in_run = false;

	for (; *text; text++) {
		char c = lower(*text);
		bool stays = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr(others, c);

		if (stays)
			out[len++] = c;
		else if (!in_run)
			out[len++] = '-';
		in_run = !stays;
	}
	while (len > 0 && strchr(trimmed, out[len - 1]))
		len--;
	out[len] = '\0';
	out += strspn(out, trimmed);
	len = strlen(out);
	out[len < max ? len : max] = '\0';
	return *out ? out : mr_arena_strdup(arena, fallback);
}

const char *mr_token_slug(struct mr_arena *arena, const char *text, size_t max,
	const char *fallback)
{
	return slug(arena, text, "", "-", max, fallback);
}

const char *mr_token_file_slug(struct mr_arena *arena, const char *text, size_t max,
	const char *fallback)
{
	return slug(arena, text, "._-", "-_", max, fallback);
}

const char *mr_token_pick(struct mr_rand *rand, const char *const *words, size_t count)
{
	return words[mr_rand_below(rand, count)];
}

const char *mr_token_name(struct mr_arena *arena, struct mr_rand *rand,
	const char *const *adjectives, size_t adjective_count, const char *const *nouns,
	size_t noun_count)
{
	const char *adjective = mr_token_pick(rand, adjectives, adjective_count);

	return mr_arena_printf(arena, "%s%s", adjective, mr_token_pick(rand, nouns, noun_count));
}
