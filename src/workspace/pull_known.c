/* workspace/pull_known.c - the locations of all messages, from their sidecars. */
#include "workspace/pull_known.h"

#include "workspace/layout.h"

#include <stdlib.h>
#include <string.h>

#define SIDECAR ".remote.json"

static int compare(const char *name_a, int64_t validity_a, int64_t uid_a,
	const struct mr_work_known_location *b)
{
	int order = strcmp(name_a, b->mailbox_name);

	if (order)
		return order;
	if (validity_a != b->uid_validity)
		return validity_a < b->uid_validity ? -1 : 1;
	return uid_a < b->uid ? -1 : uid_a > b->uid;
}

static int by_place(const void *a, const void *b)
{
	const struct mr_work_known_location *x = a;

	return compare(x->mailbox_name, x->uid_validity, x->uid, b);
}

struct loading {
	struct mr_ctx *cx;
	struct mr_work *work;
	struct mr_work_known *out;
	size_t room;
};

static void add(struct loading *l, const char *message_id, const struct mr_work_location *location)
{
	struct mr_arena *arena = l->cx->arena;
	struct mr_work_known *out = l->out;

	if (out->len == l->room) {
		size_t room = l->room ? l->room * 2 : 256;
		struct mr_work_known_location *items = mr_arena_array(arena, room, sizeof(*items));

		if (out->len)
			memcpy(items, out->items, out->len * sizeof(*items));
		out->items = items;
		l->room = room;
	}
	out->items[out->len++] = (struct mr_work_known_location){
		.message_id = message_id,
		.mailbox_name = mr_arena_strdup(arena, location->mailbox_name),
		.uid_validity = location->uid_validity,
		.uid = location->uid,
		.flags = mr_str_join(arena, &location->flags, " "),
		.is_missing = location->missing != NULL,
	};
}

static enum mr_code load_one(struct loading *l, const char *name)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *id = mr_arena_strndup(l->cx->arena, name, strlen(name) - strlen(SIDECAR));
	struct mr_work_locations locations = { 0 };
	struct mr_ctx own = *l->cx;
	enum mr_code rc;

	own.arena = arena;
	rc = mr_work_remote_load(&own, l->work, id, &locations);
	if (rc) {
		l->cx->err = own.err;
		l->cx->err.detail = NULL;
		return rc;
	}
	for (size_t i = 0; i < locations.len; i++)
		if (locations.items[i].has_uid)
			add(l, id, &locations.items[i]);
	return MR_OK;
}

/* Is the mail of the sidecar at this place among the names before it? They are sorted. */
static bool has_mail(const struct mr_texts *names, size_t at)
{
	size_t len = strlen(names->items[at]) - strlen(SIDECAR);

	for (size_t i = at; i > 0 && strncmp(names->items[i - 1], names->items[at], len) == 0; i--)
		if (mr_str_eq(names->items[i - 1] + len, ".eml"))
			return true;
	return false;
}

enum mr_code mr_work_known_load(struct mr_ctx *cx, struct mr_work *work, struct mr_work_known *out)
{
	struct loading l = { cx, work, out, 0 };
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_EVIDENCE, &names);

	*out = (struct mr_work_known){ 0 };
	/* One whose mail is gone does not count: the mail is fetched again. */
	for (size_t i = 1; !rc && i < names.len; i++)
		if (mr_str_ends(names.items[i], SIDECAR) && has_mail(&names, i))
			rc = load_one(&l, names.items[i]);
	if (!rc && out->len)
		qsort(out->items, out->len, sizeof(*out->items), by_place);
	return rc;
}

struct mr_work_known_location *mr_work_known_find(const struct mr_work_known *known,
	const char *mailbox_name, int64_t uid_validity, int64_t uid)
{
	size_t from = 0, to = known->len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = compare(mailbox_name, uid_validity, uid, &known->items[middle]);

		if (order == 0)
			return &known->items[middle];
		if (order > 0)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}
