/* op/mailbox/gateway_rules.c - rules for single values in bodies of requests to a gateway. */
#include "op/mailbox/gateway_rules.h"

#include "base/utf8.h"
#include "mailbox/notify.h"
#include "text/time.h"

#include <string.h>

static bool is_blank(const char *text)
{
	size_t len = strlen(text);

	mr_utf8_strip(&text, &len);
	return len == 0;
}

const char *mr_gateway_refuse_blank(struct mr_arena *arena, const struct mr_value *value)
{
	(void)arena;
	return is_blank(value->text) ? "must not be empty" : NULL;
}

const char *mr_gateway_refuse_since(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_err err;
	int64_t us;

	if (!mr_time_parse(value->text, MR_TIME_LENIENT, &us, &err))
		return NULL;
	return mr_arena_strdup(arena, err.msg);
}

const char *mr_gateway_refuse_none(struct mr_arena *arena, const struct mr_value *value)
{
	if (value->list.len == 0)
		return "must contain at least one entry";
	return mr_gateway_refuse_blanks(arena, value);
}

const char *mr_gateway_refuse_blanks(struct mr_arena *arena, const struct mr_value *value)
{
	(void)arena;
	for (size_t i = 0; i < value->list.len; i++) {
		if (is_blank(value->list.items[i].text))
			return "must not contain empty entries";
	}
	return NULL;
}

const char *mr_gateway_refuse_notice(struct mr_arena *arena, const struct mr_value *value)
{
	const struct mr_mailbox_notify_block block = { .text = value->text };
	struct mr_mailbox_message message = { .notify_block = &block };
	struct mr_err err;

	if (!mr_mailbox_notify_compose(arena, true, &message, &err))
		return NULL;
	return mr_arena_strdup(arena, err.msg);
}

/* Are these the same but for white space around them? */
static bool is_same(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	mr_utf8_strip(&a, &a_len);
	mr_utf8_strip(&b, &b_len);
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

const char *mr_gateway_refuse_refs(struct mr_arena *arena, const struct mr_value *value)
{
	const char *why = mr_gateway_refuse_none(arena, value);

	/* More than a verb takes are refused there. */
	for (size_t i = 0; !why && i < value->list.len && i < 1024; i++) {
		for (size_t j = 0; !why && j < i; j++) {
			if (is_same(value->list.items[i].text, value->list.items[j].text))
				why = "must not contain duplicates";
		}
	}
	return why;
}

const char *mr_gateway_refuse_scheme(struct mr_arena *arena, const struct mr_value *value)
{
	if (mr_str_eq(value->text, "none"))
		return NULL;
	return mr_arena_printf(arena, "notify_auth.scheme `%.64s`: verifier not yet supported",
		value->text);
}
