/*
 * team/share/share_secret.c - Finds secrets in text by their form, replaces them, and checks that
 * none is left in a file.
 */
#include "team/share/share_secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	WINDOW = 8, /* bytes that a known secret is looked up by; all are longer */
	BEARER_MIN = 16,
	JWT_PART_MIN = 4,
	KEY_LINE_MIN = 32,
	KEY_NAME_MAX = 64,
	KEY_LOOK = 200,
	FIRST_SLOTS = 64,
};

/* A prefix and at least so many of letters, digits and `others`. */
static const struct form {
	const char *prefix, *others;
	size_t min;
	bool is_exact; /* else the prefix may stand in any case */
} forms[] = {
	{ "ghp_", "", 36 },
	{ "gho_", "", 36 },
	{ "ghu_", "", 36 },
	{ "ghs_", "", 36 },
	{ "ghr_", "", 36 },
	{ "github_pat_", "_", 20 },
	{ "glpat-", "_-", 20 },
	{ "xoxb-", "-", 10 },
	{ "xoxa-", "-", 10 },
	{ "xoxp-", "-", 10 },
	{ "xoxr-", "-", 10 },
	{ "xoxs-", "-", 10 },
	{ "sk-", "_-", 20 },
	{ "AKIA", "", 16, true },
	{ "ASIA", "", 16, true },
	{ "AIza", "_-", 35, true },
};

struct known {
	const uint8_t *text; /* in lower case */
	size_t len;
};

struct mr_team_secrets {
	struct mr_arena *arena;
	struct known *slots; /* open addressing; a power of two, never more than half full */
	size_t slot_count, count;
	bool starts[256]; /* one begins with this byte */
};

struct mr_team_secrets *mr_team_secrets_new(struct mr_arena *arena)
{
	struct mr_team_secrets *secrets = mr_arena_alloc(arena, sizeof(*secrets));

	secrets->arena = arena;
	secrets->slot_count = FIRST_SLOTS;
	secrets->slots = mr_arena_array(arena, FIRST_SLOTS, sizeof(*secrets->slots));
	return secrets;
}

size_t mr_team_secrets_count(const struct mr_team_secrets *secrets)
{
	return secrets->count;
}

static uint8_t fold(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

static size_t slot_of(const struct mr_team_secrets *secrets, const uint8_t *text)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < WINDOW; i++)
		hash = hash * 257 + fold(text[i]);
	return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (secrets->slot_count - 1);
}

static bool is_at(const struct known *known, const uint8_t *text, size_t left)
{
	if (left < known->len)
		return false;
	for (size_t i = 0; i < known->len; i++) {
		if (fold(text[i]) != known->text[i])
			return false;
	}
	return true;
}

/* How long the known secret is that begins here, the longest of several; 0 without one. */
static size_t known_at(const struct mr_team_secrets *secrets, const uint8_t *text, size_t left)
{
	size_t best = 0;

	if (left < WINDOW || !secrets->starts[fold(text[0])])
		return 0;
	for (size_t i = slot_of(secrets, text); secrets->slots[i].text;
		i = (i + 1) & (secrets->slot_count - 1)) {
		if (secrets->slots[i].len > best && is_at(&secrets->slots[i], text, left))
			best = secrets->slots[i].len;
	}
	return best;
}

static void put(struct mr_team_secrets *secrets, const struct known *known)
{
	size_t i = slot_of(secrets, known->text);

	while (secrets->slots[i].text)
		i = (i + 1) & (secrets->slot_count - 1);
	secrets->slots[i] = *known;
	secrets->starts[known->text[0]] = true;
}

static void grow(struct mr_team_secrets *secrets)
{
	struct known *old = secrets->slots;
	size_t count = secrets->slot_count;

	secrets->slot_count *= 2;
	secrets->slots =
		mr_arena_array(secrets->arena, secrets->slot_count, sizeof(*secrets->slots));
	for (size_t i = 0; i < count; i++) {
		if (old[i].text)
			put(secrets, &old[i]);
	}
}

static void remember(struct mr_team_secrets *secrets, const uint8_t *text, size_t len)
{
	uint8_t *own;

	if (len < WINDOW || known_at(secrets, text, len) == len)
		return;
	if (secrets->count * 2 >= secrets->slot_count)
		grow(secrets);
	own = mr_arena_alloc(secrets->arena, len);
	for (size_t i = 0; i < len; i++)
		own[i] = fold(text[i]);
	put(secrets, &(struct known){ own, len });
	secrets->count++;
}

/* Looking for secrets by their form. */
struct look {
	const uint8_t *text;
	size_t len;
	size_t no_jwt_before; /* a part that was tried and is none is not tried from its middle */
};

/* A find: all of it is replaced, and `value` must not occur elsewhere either. */
struct find {
	size_t end;
	size_t value_at, value_end; /* equal: nothing that is worth knowing */
};

/* How many letters, digits and `others` stand here, at most `max`. */
static size_t run_up_to(const struct look *look, size_t i, const char *others, size_t max)
{
	size_t from = i;

	while (i < look->len && i - from < max &&
		(isalnum(look->text[i]) || (look->text[i] && strchr(others, look->text[i]))))
		i++;
	return i - from;
}

static size_t run_of(const struct look *look, size_t i, const char *others)
{
	return run_up_to(look, i, others, look->len);
}

static bool begins(const struct look *look, size_t i, const char *prefix)
{
	size_t len = strlen(prefix);

	return look->len - i >= len && strncasecmp((const char *)look->text + i, prefix, len) == 0;
}

static bool is_jwt(struct look *look, size_t i, struct find *out)
{
	size_t at = i, part = 0;

	if (i < look->no_jwt_before || !begins(look, i, "eyJ"))
		return false;
	for (int parts = 0; parts < 3; parts++) {
		part = run_of(look, at, "_-");
		if (part < JWT_PART_MIN ||
			(parts < 2 && (at + part >= look->len || look->text[at + part] != '.'))) {
			look->no_jwt_before = at + part;
			return false;
		}
		at += part + 1;
	}
	*out = (struct find){ at - 1, i, at - 1 };
	return true;
}

/* "Bearer authentication" is English; letters and digits mixed are not. */
static bool is_mixed(const struct look *look, size_t from, size_t end)
{
	bool digit = false, letter = false;

	for (size_t i = from; i < end; i++) {
		digit |= isdigit(look->text[i]) != 0;
		letter |= isalpha(look->text[i]) != 0;
	}
	return digit && letter;
}

static bool is_bearer(const struct look *look, size_t i, struct find *out)
{
	size_t at = i + strlen("bearer"), run;

	if (!begins(look, i, "bearer") || at >= look->len || !isspace(look->text[at]))
		return false;
	while (at < look->len && isspace(look->text[at]))
		at++;
	run = run_of(look, at, "._-~+/=");
	while (run > 0 && look->text[at + run - 1] == '.')
		run--; /* the sentence's */
	if (run < BEARER_MIN)
		return false;
	*out = (struct find){ at + run, at, is_mixed(look, at, at + run) ? at + run : at };
	return true;
}

/* A private key, with its first and last line. One that does not end goes to the end. */
static bool is_key(const struct look *look, size_t i, struct find *out)
{
	const char *text = (const char *)look->text;
	size_t left = look->len - i, name = left < KEY_NAME_MAX ? left : KEY_NAME_MAX;
	const char *end;

	if (!begins(look, i, "-----BEGIN ") || !memmem(text + i, name, "PRIVATE KEY-----", 16))
		return false;
	end = memmem(text + i, left, "-----END ", 9);
	if (end)
		end = memmem(end + 9, (size_t)(text + look->len - end - 9), "-----", 5);
	*out = (struct find){ end ? (size_t)(end - text) + 5 : look->len, i, i };
	return true;
}

/* Words joined by dashes look like a key, except for digits. Only so many bytes are examined,
 * since a key may begin at any of the words. */
static bool is_like_key(const struct look *look, size_t at, const struct form *form)
{
	size_t run = run_up_to(look, at, form->others, KEY_LOOK);

	return run >= form->min &&
		(run_up_to(look, at, "", form->min) >= form->min || is_mixed(look, at, at + run));
}

static bool is_form(const struct look *look, size_t i, struct find *out)
{
	for (size_t k = 0; k < MR_LEN(forms); k++) {
		size_t len = strlen(forms[k].prefix), at = i + len;

		if (!begins(look, i, forms[k].prefix) ||
			(forms[k].is_exact && memcmp(look->text + i, forms[k].prefix, len) != 0))
			continue;
		if (!is_like_key(look, at, &forms[k]))
			continue;
		at += run_of(look, at, forms[k].others);
		*out = (struct find){ at, i, at };
		return true;
	}
	return false;
}

static bool is_secret(struct look *look, size_t i, struct find *out)
{
	if (look->text[i] == '-')
		return is_key(look, i, out);
	if (!strchr("gGxXsSaAbBeE", look->text[i]) || look->text[i] == '\0' ||
		(i > 0 && isalnum(look->text[i - 1])))
		return false;
	return is_form(look, i, out) || is_bearer(look, i, out) || is_jwt(look, i, out);
}

/* Learn the single lines of a private key, which may have been quoted. */
static void learn_lines(struct mr_team_secrets *secrets, const struct look *look, size_t from,
	size_t end)
{
	while (from < end) {
		size_t run = run_of(look, from, "+/=");

		if (from + run > end)
			run = end - from;
		if (run >= KEY_LINE_MIN)
			remember(secrets, look->text + from, run);
		from += run + 1;
	}
}

void mr_team_secrets_learn(struct mr_team_secrets *secrets, struct mr_bytes text)
{
	struct look look = { text.data, text.len, 0 };
	struct find find;

	for (size_t i = 0; i < text.len;) {
		if (!is_secret(&look, i, &find)) {
			i++;
			continue;
		}
		remember(secrets, text.data + find.value_at, find.value_end - find.value_at);
		if (text.data[i] == '-')
			learn_lines(secrets, &look, i, find.end);
		i = find.end;
	}
}

size_t mr_team_secrets_replace(const struct mr_team_secrets *secrets, struct mr_bytes text,
	struct mr_buf *out)
{
	struct look look = { text.data, text.len, 0 };
	size_t replaced = 0, done = 0;

	for (size_t i = 0; i < text.len;) {
		size_t known = known_at(secrets, text.data + i, text.len - i);
		struct find find = { .end = i + known };

		if (!is_secret(&look, i, &find) && !known) {
			i++;
			continue;
		}
		mr_buf_add(out, text.data + done, i - done);
		mr_buf_puts(out, MR_TEAM_REDACTED);
		i = done = find.end > i + known ? find.end : i + known;
		replaced++;
	}
	mr_buf_add(out, text.data + done, text.len - done);
	return replaced;
}

bool mr_team_secrets_stand_in(const struct mr_team_secrets *secrets, struct mr_bytes bytes)
{
	for (size_t i = 0; secrets->count > 0 && i < bytes.len; i++) {
		if (known_at(secrets, bytes.data + i, bytes.len - i))
			return true;
	}
	return false;
}
