/* workspace/members.c - asks and touches the messages of lists. */
#include "workspace/members.h"

#include "workspace/ids.h"
#include "workspace/index.h"

const char *mr_work_member_view(struct mr_arena *arena, const char *path, const char *message_id)
{
	return mr_arena_printf(arena, "%s/views/messages/%s.md", path, message_id);
}

struct mr_texts mr_work_member_ids(struct mr_arena *arena,
	const struct mr_work_collection *collection)
{
	struct mr_texts ids = mr_work_ids_room(arena, collection->len);

	for (size_t i = 0; i < collection->len; i++)
		mr_work_ids_put(&ids, collection->items[i].message_id);
	return ids;
}

enum mr_code mr_work_touch_conversation(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_texts *message_ids)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < message_ids->len; i++) {
		struct mr_texts related = { 0 };

		mr_work_touch_message(change, message_ids->items[i]);
		rc = mr_work_index_related(cx, change->work, message_ids->items[i], &related);
		for (size_t k = 0; !rc && k < related.len; k++)
			mr_work_touch_message(change, related.items[k]);
	}
	return rc;
}

const char *mr_work_text_or_null(struct mr_arena *arena, const char *text)
{
	const char *trimmed = text ? mr_str_trim(arena, text) : NULL;

	return mr_str_is_empty(trimmed) ? NULL : trimmed;
}

enum mr_code mr_work_count_locations(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *message_ids, struct mr_work_queued *out)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < message_ids->len; i++) {
		struct mr_work_locations locations = { 0 };

		rc = mr_work_remote_load(cx, work, message_ids->items[i], &locations);
		for (size_t k = 0; !rc && k < locations.len; k++)
			out->location_count += mr_work_location_is_usable(&locations.items[k]);
	}
	out->queued_location_count = out->location_count;
	return rc;
}

enum mr_code mr_work_check_known(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *message_ids)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < message_ids->len; i++) {
		struct mr_work_brief brief = { 0 };

		rc = mr_work_index_message(cx, work, message_ids->items[i], &brief);
	}
	return rc;
}
