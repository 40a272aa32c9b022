/* workspace/pull_known.c - the places of a mailbox's messages, from the index. */
#include "workspace/pull_known.h"

static int compare(int64_t validity, int64_t uid, const struct mr_work_place_row *at)
{
	if (validity != at->uid_validity)
		return validity < at->uid_validity ? -1 : 1;
	return uid < at->uid ? -1 : uid > at->uid;
}

enum mr_code mr_work_known_load(struct mr_ctx *cx, struct mr_work *work, const char *mailbox_name,
	struct mr_work_known *out)
{
	struct mr_work_place_rows rows = { 0 };
	enum mr_code rc = mr_work_index_places(cx, work, mailbox_name, &rows);

	if (rc)
		return rc;
	*out = (struct mr_work_known){ rows.items,
		mr_arena_array(cx->arena, rows.len + 1, sizeof(*out->is_there)), rows.len };
	return MR_OK;
}

size_t mr_work_known_find(const struct mr_work_known *known, int64_t uid_validity, int64_t uid)
{
	size_t from = 0, to = known->len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (compare(uid_validity, uid, &known->items[middle]) > 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < known->len && compare(uid_validity, uid, &known->items[from]) == 0
		? from
		: known->len;
}
