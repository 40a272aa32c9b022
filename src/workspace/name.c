/* workspace/name.c - makes and checks the ids, refs and names of a workspace. */
#include "workspace/name.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "text/time.h"
#include "workspace/error.h"

#include <ctype.h>
#include <string.h>

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

enum { UID_DIGITS = 11, DATE_DIGITS = 8 };

const char *mr_work_fnv(struct mr_arena *arena, struct mr_bytes bytes)
{
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < bytes.len; i++)
		hash = (hash ^ bytes.data[i]) * FNV_PRIME;
	return mr_arena_printf(arena, "%016llx", (unsigned long long)hash);
}

static bool is_around(char c)
{
	return c == '<' || c == '>' || c == ',' || c == ';';
}

/* Ids are stable for ever, so this follows the rule to the letter: blanks, then brackets and
 * commas, then blanks again, and no more. */
const char *mr_work_normal_id(struct mr_arena *arena, const char *text)
{
	size_t len = strlen(text ? text : "");
	bool is_utf8 = mr_utf8_is_valid(text, len, NULL);

	if (!text)
		return NULL;
	if (is_utf8)
		mr_utf8_strip(&text, &len);
	while (len > 0 && is_around(*text)) {
		text++;
		len--;
	}
	while (len > 0 && is_around(text[len - 1]))
		len--;
	if (is_utf8)
		mr_utf8_strip(&text, &len);
	return len ? mr_str_lower(arena, mr_arena_strndup(arena, text, len)) : NULL;
}

static const char *date_part(struct mr_arena *arena, const char *date)
{
	return date ? mr_arena_printf(arena, "%s_", date) : "";
}

const char *mr_work_message_id(struct mr_arena *arena, const char *normal_id, const char *date)
{
	return mr_arena_printf(arena, "message_%s%s", date_part(arena, date),
		mr_work_fnv(arena, mr_bytes_text(normal_id)));
}

/* A letter or digit of ASCII, in lower case; 0 for anything else. */
static char word_char(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '\0';
}

/* Lower-case letters and digits; what is between them becomes one `gap`, none at the ends. */
static const char *words(struct mr_arena *arena, const char *text, char gap)
{
	char *out = mr_arena_alloc(arena, strlen(text) + 1);
	size_t len = 0;

	for (; *text && len < MR_WORK_NAME_BYTES; text++) {
		char c = word_char(*text);

		if (c)
			out[len++] = c;
		else if (len > 0 && out[len - 1] != gap)
			out[len++] = gap;
	}
	while (len > 0 && out[len - 1] == gap)
		len--;
	out[len] = '\0';
	return out;
}

const char *mr_work_location_id(struct mr_arena *arena, const char *mailbox_name,
	int64_t uid_validity, int64_t uid, const char *date)
{
	return mr_arena_printf(arena, "message_%s%s_%lld_%lld", date_part(arena, date),
		words(arena, mailbox_name, '_'), (long long)uid_validity, (long long)uid);
}

static bool is_segment(const char *text)
{
	return !mr_str_is_empty(text) && !strpbrk(text, "/\\") && !mr_str_eq(text, ".") &&
		!mr_str_eq(text, "..");
}

enum mr_code mr_work_check_message_id(struct mr_ctx *cx, const char *id)
{
	if (is_segment(id))
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"message id '%s' is not a single path segment", id);
}

static const struct {
	char letter;
	const char *what;
} kinds[] = {
	[MR_WORK_CASE] = { 'c', "a case" },
	[MR_WORK_CATEGORY] = { 'a', "an archive" },
	[MR_WORK_CONTACT] = { 'p', "a contact" },
};

bool mr_work_split_name(struct mr_arena *arena, enum mr_work_kind kind, const char *name,
	const char **out_uid, const char **out_slug)
{
	size_t digits, uid_len;

	if (name[0] != kinds[kind].letter || strpbrk(name, "/\\"))
		return false;
	digits = strspn(name + 1, "0123456789");
	uid_len = digits + 1;
	if (digits < UID_DIGITS || (name[uid_len] && name[uid_len] != '-') ||
		(name[uid_len] == '-' && !name[uid_len + 1]))
		return false;
	*out_uid = mr_arena_strndup(arena, name, uid_len);
	if (out_slug)
		*out_slug = name[uid_len] ? mr_arena_strdup(arena, name + uid_len + 1) : "";
	return true;
}

enum mr_code mr_work_ref_uid(struct mr_ctx *cx, enum mr_work_kind kind, const char *ref,
	const char **out_uid)
{
	if (mr_work_split_name(cx->arena, kind, ref, out_uid, NULL))
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"'%s' is not %s ref: it begins with a uid such as %c20260521001, alone or "
		"followed by a dash and a name",
		ref, kinds[kind].what, kinds[kind].letter);
}

const char *mr_work_uid(struct mr_arena *arena, enum mr_work_kind kind, const char *date,
	int64_t number)
{
	return mr_arena_printf(arena, "%c%s%03lld", kinds[kind].letter, date, (long long)number);
}

int64_t mr_work_uid_number(const char *uid, const char *date)
{
	int64_t number;

	if (strncmp(uid + 1, date, DATE_DIGITS) != 0 ||
		!mr_str_to_int(uid + 1 + DATE_DIGITS, &number))
		return 0;
	return number;
}

static bool is_gap(uint32_t scalar)
{
	return scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0) || scalar == '/' ||
		scalar == '\\' || scalar == ':' || mr_utf8_is_space(scalar);
}

const char *mr_work_slug(struct mr_arena *arena, const char *name)
{
	size_t len = strlen(name), at = 0, end = 0;
	char *out = mr_arena_alloc(arena, len + 1);
	uint32_t scalar = 0;

	while (at < len) {
		size_t step = mr_utf8_next(name + at, len - at, &scalar);

		if (step == 0 || is_gap(scalar)) {
			if (end > 0 && out[end - 1] != '-')
				out[end++] = '-';
			at += step ? step : 1;
			continue;
		}
		if (scalar != '-' || end > 0) { /* no dash at the beginning */
			memcpy(out + end, name + at, step);
			end += step;
		}
		at += step;
	}
	end = mr_utf8_truncate(out, end, MR_WORK_NAME_BYTES);
	while (end > 0 && out[end - 1] == '-')
		end--;
	out[end] = '\0';
	return end ? out : "untitled";
}

const char *mr_work_draft_slug(struct mr_arena *arena, const char *subject)
{
	const char *slug = words(arena, subject, '-');

	return *slug ? slug : "message";
}

enum mr_code mr_work_check_name(struct mr_ctx *cx, const char *what, const char *name,
	const char **out)
{
	const char *text = name;
	size_t len = strlen(name);

	if (!mr_utf8_is_valid(name, len, NULL))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "the %s is not UTF-8", what);
	mr_utf8_strip(&text, &len);
	text = mr_arena_strndup(cx->arena, text, len);
	if (!*text)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "the %s is empty", what);
	if (!is_segment(text))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the %s '%s' may not contain / or \\ and may not be . or ..", what, text);
	if (len > MR_WORK_NAME_BYTES)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "the %s is longer than %d bytes",
			what, MR_WORK_NAME_BYTES);
	*out = text;
	return MR_OK;
}

/* Has it characters that no line of text has? */
static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

enum mr_code mr_work_check_segment(struct mr_ctx *cx, const char *what, const char *text)
{
	const char *bare = text;
	size_t len = strlen(text);

	if (!mr_utf8_is_valid(text, len, NULL))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "the %s is not UTF-8", what);
	if (len > MR_WORK_NAME_BYTES)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "the %s is longer than %d bytes",
			what, MR_WORK_NAME_BYTES);
	mr_utf8_strip(&bare, &len);
	if (is_segment(text) && len > 0 && !has_control(text))
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"the %s '%s' is not a single path segment", what, text);
}

enum mr_code mr_work_check_draft_name(struct mr_ctx *cx, const char *name)
{
	if (is_segment(name) && mr_str_ends(name, ".md") && strlen(name) > strlen(".md"))
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"the draft name '%s' is not a single file name that ends in .md", name);
}

static const char push_prefix[] = "push_";

const char *mr_work_push_id(struct mr_arena *arena, int64_t now_us, int again)
{
	const char *time = mr_time_format(arena, now_us, MR_TIME_COMPACT);

	return again ? mr_arena_printf(arena, "%s%s_%d", push_prefix, time, again)
		     : mr_arena_printf(arena, "%s%s", push_prefix, time);
}

int64_t mr_work_push_again(const char *push_id)
{
	const char *last = strrchr(push_id, '_');
	int64_t number;

	return last && mr_str_to_int(last + 1, &number) ? number : 0;
}

const char *mr_work_sent_id(struct mr_arena *arena, const char *push_id)
{
	if (mr_str_starts(push_id, push_prefix))
		push_id += strlen(push_prefix);
	return mr_arena_printf(arena, "message_sent_%s", push_id);
}
