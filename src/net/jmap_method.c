/* net/jmap_method.c - What is known of JMAP methods: their capability, their objects. */
#include "net/jmap_method.h"

#include <string.h>

static const struct mr_jmap_noun nouns[] = {
	{ "Core", "core", false },
	{ "Blob", "blob", false },
	{ "Email", "mail", false },
	{ "Mailbox", "mail", false },
	{ "Thread", "mail", false },
	{ "SearchSnippet", "mail", false },
	{ "Quota", "quota", false },
	{ "EmailSubmission", "submission", true },
	{ "Identity", "submission", true },
};

const struct mr_jmap_noun *mr_jmap_noun_of(const char *method)
{
	size_t len = strcspn(method, "/");

	for (size_t i = 0; i < MR_LEN(nouns); i++) {
		if (strncmp(nouns[i].name, method, len) == 0 && !nouns[i].name[len])
			return &nouns[i];
	}
	return NULL;
}

/* The arguments of a call that hold objects, whose number servers limit; ended by NULL. */
static const char *const *lists_of(const char *method)
{
	static const char *const get[] = { "ids", NULL };
	static const char *const set[] = { "create", "update", "destroy", NULL };
	static const char *const import[] = { "emails", NULL };
	static const char *const none[] = { NULL };
	const char *verb = strchr(method, '/');

	if (verb && strcmp(verb, "/get") == 0)
		return get;
	/* Submissions name what becomes of their mails beside them, and are few. */
	if (verb && strcmp(verb, "/set") == 0 && !mr_str_starts(method, "EmailSubmission/"))
		return set;
	if (verb && strcmp(verb, "/import") == 0)
		return import;
	return none;
}

size_t mr_jmap_len_of(const struct mr_value *value)
{
	if (!value)
		return 0;
	return value->kind == MR_LIST   ? value->list.len
		: value->kind == MR_MAP ? value->map.len
					: 0;
}

size_t mr_jmap_objects_of(const char *method, const struct mr_value *args)
{
	size_t count = 0;

	for (const char *const *key = lists_of(method); *key; key++)
		count += mr_jmap_len_of(mr_value_get(args, *key));
	return count;
}

bool mr_jmap_is_change(const char *method)
{
	return mr_str_ends(method, "/set") || mr_str_ends(method, "/import") ||
		mr_str_ends(method, "/copy") || mr_str_ends(method, "/upload");
}

/* The `count` objects from number `from` on of a list, or of a map. */
static struct mr_value slice(const struct mr_value *value, size_t from, size_t count)
{
	struct mr_value piece = *value;

	if (piece.kind == MR_LIST) {
		piece.list.items += from;
		piece.list.len = count;
	} else {
		piece.map.pairs += from;
		piece.map.len = count;
	}
	return piece;
}

const struct mr_value *mr_jmap_piece_of(struct mr_arena *arena, const char *method,
	const struct mr_value *args, size_t from, size_t count)
{
	struct mr_value *piece = mr_arena_memdup(arena, args, sizeof(*args));

	piece->map.pairs = mr_arena_array(arena, args->map.len, sizeof(struct mr_pair));
	memcpy(piece->map.pairs, args->map.pairs, args->map.len * sizeof(struct mr_pair));
	for (const char *const *key = lists_of(method); *key; key++) {
		for (size_t i = 0; i < piece->map.len; i++) {
			struct mr_value *value = &piece->map.pairs[i].value;
			size_t len = mr_jmap_len_of(value);
			size_t skip = from < len ? from : len;
			size_t take = count < len - skip ? count : len - skip;

			if (strcmp(piece->map.pairs[i].key, *key) != 0 || value->kind < MR_LIST)
				continue;
			*value = slice(value, skip, take);
			from -= skip;
			count -= take;
		}
	}
	return piece;
}
