/* net/jmap_result.c - What came of the parts of a JMAP request. */
#include "net/jmap_result.h"

#include "net/jmap_method.h"
#include "text/out.h"

#include <string.h>

bool mr_jmap_part_is_error(const struct mr_jmap_part *part, const char *type)
{
	const char *is;

	if (!part->len || strcmp(part->results[0].name, "error") != 0)
		return false;
	is = mr_value_text(part->results[0].value, "type");
	return !type || (is && strcmp(is, type) == 0);
}

/* Every object of a /set was refused, with this error (NULL: with any). */
bool mr_jmap_part_is_refused(const struct mr_jmap_part *part, const char *type)
{
	static const char *const done[] = { "created", "updated", "destroyed" };
	static const char *const refused[] = { "notCreated", "notUpdated", "notDestroyed" };
	const struct mr_value *result = part->len ? part->results[0].value : NULL;
	size_t count = 0;

	for (size_t i = 0; i < MR_LEN(done); i++) {
		const struct mr_value *errors = mr_value_get(result, refused[i]);

		if (mr_jmap_len_of(mr_value_get(result, done[i])))
			return false;
		for (size_t j = 0; errors && errors->kind == MR_MAP && j < errors->map.len; j++) {
			const char *is = mr_value_text(&errors->map.pairs[j].value, "type");

			if (type && (!is || strcmp(is, type) != 0))
				return false;
			count++;
		}
	}
	return count > 0;
}

/* Has nothing of it been done, or can it be done again? */
bool mr_jmap_part_is_harmless(const struct mr_jmap_part *part)
{
	if (!mr_jmap_is_change(part->call->name))
		return true;
	if (mr_jmap_part_is_error(part, NULL))
		return !mr_jmap_part_is_error(part, "serverFail") &&
			!mr_jmap_part_is_error(part, "serverPartialFail");
	return mr_jmap_part_is_refused(part, NULL);
}

/* `a` and `b`, one after the other. */
static void *joined_array(struct mr_arena *arena, const void *a, size_t a_len, const void *b,
	size_t b_len, size_t size)
{
	char *both = mr_arena_array(arena, a_len + b_len, size);

	if (a_len)
		memcpy(both, a, a_len * size);
	if (b_len)
		memcpy(both + a_len * size, b, b_len * size);
	return both;
}

/* Both lists, or both maps, in one. */
static struct mr_value joined(struct mr_arena *arena, const struct mr_value *a,
	const struct mr_value *b)
{
	struct mr_value both = *a;

	if (a->kind == MR_LIST) {
		both.list.len = a->list.len + b->list.len;
		both.list.items = joined_array(arena, a->list.items, a->list.len, b->list.items,
			b->list.len, sizeof(struct mr_value));
	} else {
		both.map.len = a->map.len + b->map.len;
		both.map.pairs = joined_array(arena, a->map.pairs, a->map.len, b->map.pairs,
			b->map.len, sizeof(struct mr_pair));
	}
	return both;
}

/* Put the members of a piece's result to those of the pieces before it. */
static void merge_into(struct mr_arena *arena, struct mr_value *all, const struct mr_value *more)
{
	for (size_t i = 0; i < more->map.len; i++) {
		const struct mr_pair *pair = &more->map.pairs[i];
		struct mr_value *mine = NULL;

		for (size_t j = 0; j < all->map.len && !mine; j++) {
			if (strcmp(all->map.pairs[j].key, pair->key) == 0)
				mine = &all->map.pairs[j].value;
		}
		if (!mine) {
			all->map.pairs = joined_array(arena, all->map.pairs, all->map.len, pair, 1,
				sizeof(*pair));
			all->map.len++;
		} else if (mine->kind == pair->value.kind && mine->kind >= MR_LIST) {
			*mine = joined(arena, mine, &pair->value);
		} else if (mine->kind == MR_NULL || strcmp(pair->key, "newState") == 0) {
			*mine = pair->value;
		}
	}
}

/* The result of a piece that failed as a whole, as that of a /set whose objects were all refused.
 */
static const struct mr_value *refused_all(struct mr_arena *arena, const struct mr_jmap_part *part)
{
	static const char *const from[] = { "create", "emails", "update", "destroy" };
	static const char *const to[] = { "notCreated", "notCreated", "notUpdated",
		"notDestroyed" };
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	for (size_t i = 0; i < MR_LEN(from); i++) {
		const struct mr_value *objects = mr_value_get(part->args, from[i]);

		if (!mr_jmap_len_of(objects))
			continue;
		mr_out_map(&out, to[i]);
		for (size_t j = 0; j < mr_jmap_len_of(objects); j++)
			mr_out_value(&out,
				objects->kind == MR_MAP ? objects->map.pairs[j].key
							: objects->list.items[j].text,
				part->results[0].value);
		mr_out_end(&out);
	}
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* The result of a call that was sent in pieces; without a name when one was not answered. */
struct mr_jmap_result mr_jmap_merge(struct mr_arena *arena, const struct mr_jmap_part *parts,
	size_t count)
{
	const char *method = parts->call->name;
	struct mr_jmap_result result = { method, parts->call->id, NULL };
	size_t errors = 0;
	struct mr_value *all;

	if (count == 1)
		return parts->len ? parts->results[0] : (struct mr_jmap_result){ 0 };
	all = mr_arena_alloc(arena, sizeof(*all));
	all->kind = MR_MAP;
	for (size_t i = 0; i < count; i++) {
		const struct mr_value *piece;

		if (!parts[i].len)
			return (struct mr_jmap_result){ 0 };
		piece = parts[i].results[0].value;
		if (mr_jmap_part_is_error(&parts[i], NULL)) {
			/* What other pieces changed stays changed. */
			if (!mr_jmap_is_change(method) || ++errors == count)
				return parts[i].results[0];
			piece = refused_all(arena, &parts[i]);
		}
		merge_into(arena, all, piece);
	}
	result.value = all;
	return result;
}
