/*
 * team/error.c - Builds errors of the team contract: a type, a message, and data that a client can
 * act on.
 */
#include "team/error.h"

#include "team/limits.h"

#include <stdarg.h>
#include <string.h>

static const struct {
	const char *type;
	enum mr_code code;
} codes[] = {
	{ MR_TEAM_INVALID_ARGUMENT, MR_EINVAL },
	{ MR_TEAM_NOT_FOUND, MR_ENOTFOUND },
	{ MR_TEAM_NAME_TAKEN, MR_EEXISTS },
	{ MR_TEAM_RECIPIENT_NOT_FOUND, MR_ENOTFOUND },
	{ MR_TEAM_RESERVATION_CONFLICT, MR_ECONFLICT },
	{ MR_TEAM_RESERVATION_ACTIVE, MR_ECONFLICT },
	{ MR_TEAM_ARCHIVE_LOCK, MR_EBUSY },
	{ MR_TEAM_CAPABILITY_DENIED, MR_EPERM },
	{ MR_TEAM_UNHANDLED, MR_EINTERNAL },
	{ MR_TEAM_CONTACT_REQUIRED, MR_EPERM },
	{ MR_TEAM_CONTACT_BLOCKED, MR_EPERM },
	{ MR_TEAM_QUOTA_EXCEEDED, MR_ELIMIT },
	{ MR_TEAM_ATTACHMENT_REJECTED, MR_EINVAL },
	{ MR_TEAM_PAYLOAD_TOO_LARGE, MR_ELIMIT },
	{ MR_TEAM_PERMISSION_DENIED, MR_EPERM },
	{ MR_TEAM_SEARCH_SYNTAX, MR_EINVAL },
};

static enum mr_code code_of(const char *type)
{
	for (size_t i = 0; i < MR_LEN(codes); i++) {
		if (mr_str_eq(codes[i].type, type))
			return codes[i].code;
	}
	return MR_EINTERNAL;
}

enum mr_code mr_team_fail(struct mr_ctx *cx, const char *type, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = mr_arena_vprintf(cx->arena, fmt, ap);
	va_end(ap);
	mr_err_set(&cx->err, code_of(type), "%s", text);
	return mr_err_word(&cx->err, type);
}

enum mr_code mr_team_refuse(struct mr_ctx *cx, const char *argument, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = mr_arena_vprintf(cx->arena, fmt, ap);
	va_end(ap);
	mr_err_set(&cx->err, MR_EINVAL, "%s", text);
	mr_err_word(&cx->err, MR_TEAM_INVALID_ARGUMENT);
	return mr_team_fail_text(cx, "argument", argument);
}

const struct mr_value *mr_team_fail_data(const struct mr_err *err)
{
	return err->detail;
}

enum mr_code mr_team_fail_value(struct mr_ctx *cx, const char *key, const struct mr_value *value)
{
	const struct mr_value *old = mr_team_fail_data(&cx->err);
	size_t len = old ? old->map.len : 0;
	struct mr_value *data = mr_arena_alloc(cx->arena, sizeof(*data));
	struct mr_pair *pairs = mr_arena_array(cx->arena, len + 1, sizeof(*pairs));

	if (len)
		memcpy(pairs, old->map.pairs, len * sizeof(*pairs));
	pairs[len] = (struct mr_pair){ .key = key, .value = *value };
	*data = (struct mr_value){ .kind = MR_MAP, .map = { pairs, len + 1 } };
	cx->err.detail = data;
	return cx->err.code;
}

struct mr_value mr_team_value_text(const char *text)
{
	return (struct mr_value){ .kind = text ? MR_TEXT : MR_NULL, .text = text };
}

struct mr_value mr_team_value_map(struct mr_arena *arena, const struct mr_pair *pairs, size_t len)
{
	return (struct mr_value){ .kind = MR_MAP,
		.map = { mr_arena_memdup(arena, pairs, len * sizeof(*pairs)), len } };
}

struct mr_value mr_team_value_list(struct mr_arena *arena, size_t len)
{
	return (struct mr_value){ .kind = MR_LIST,
		.list = { mr_arena_array(arena, len, sizeof(struct mr_value)), len } };
}

enum mr_code mr_team_fail_text(struct mr_ctx *cx, const char *key, const char *text)
{
	struct mr_value value = { .kind = MR_TEXT, .text = text };

	return mr_team_fail_value(cx, key, &value);
}

enum mr_code mr_team_fail_int(struct mr_ctx *cx, const char *key, int64_t number)
{
	struct mr_value value = { .kind = MR_INT, .integer = number };

	return mr_team_fail_value(cx, key, &value);
}

enum mr_code mr_team_fail_texts(struct mr_ctx *cx, const char *key, const struct mr_texts *texts)
{
	struct mr_value value = { .kind = MR_LIST,
		.list = { mr_arena_array(cx->arena, texts->len, sizeof(struct mr_value)),
			texts->len } };

	for (size_t i = 0; i < texts->len; i++)
		value.list.items[i] = (struct mr_value){ .kind = MR_TEXT, .text = texts->items[i] };
	return mr_team_fail_value(cx, key, &value);
}

/* Farther than this, or than half of what was asked, is not what somebody meant. */
enum { FARTHEST = 8 };

struct mr_texts mr_team_nearest(struct mr_arena *arena, const char *asked,
	const struct mr_texts *names)
{
	struct mr_texts found = {
		mr_arena_array(arena, MR_TEAM_SUGGESTIONS + 1, sizeof(*found.items)), 0
	};
	uint8_t *away = mr_arena_array(arena, names->len, sizeof(*away));
	size_t len = strlen(asked);
	size_t farthest = len / 2 < FARTHEST ? len / 2 : FARTHEST;

	for (size_t i = 0; i < names->len; i++)
		away[i] = (uint8_t)mr_str_distance(asked, names->items[i], farthest + 1);
	for (size_t distance = 0; distance <= farthest; distance++) {
		for (size_t i = 0; i < names->len && found.len < MR_TEAM_SUGGESTIONS; i++) {
			if (away[i] == distance && !mr_texts_has(&found, names->items[i]))
				found.items[found.len++] = names->items[i];
		}
	}
	return found;
}
