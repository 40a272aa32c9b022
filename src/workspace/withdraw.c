/* workspace/withdraw.c - takes messages out of queued items that have not begun. */
#include "workspace/withdraw.h"

#include "workspace/ids.h"

/* What is left of an item without these messages. */
static void shrink(struct mr_ctx *cx, struct mr_work_push_item *item,
	const struct mr_texts *without)
{
	struct mr_work_push_location *left =
		mr_arena_array(cx->arena, item->location_count + 1, sizeof(*left));
	size_t count = 0;

	for (size_t i = 0; i < item->location_count; i++)
		if (!mr_texts_has(without, item->locations[i].message_id))
			left[count++] = item->locations[i];
	item->locations = left;
	item->location_count = count;
	item->message_ids = mr_work_ids_without(cx->arena, &item->message_ids, without);
}

static bool concerns_any(const struct mr_work_push_item *item, const struct mr_texts *ids)
{
	for (size_t i = 0; i < ids->len; i++)
		if (mr_work_push_concerns(item, ids->items[i]))
			return true;
	return false;
}

enum mr_code mr_work_withdraw(struct mr_ctx *cx, struct mr_work_change *change, unsigned actions,
	const struct mr_texts *message_ids, struct mr_texts *out_ids)
{
	struct mr_work_push_items queue = { 0 };
	enum mr_code rc = mr_work_queue_load(cx, change->work, &queue);
	struct mr_texts ids;

	if (rc)
		return rc;
	ids = mr_work_ids_room(cx->arena, queue.len);
	for (size_t i = 0; i < queue.len; i++) {
		struct mr_work_push_item item = queue.items[i];

		if (item.kind != MR_WORK_PUSH_MESSAGE_ACTION ||
			!(actions & MR_WORK_ACTION_BIT(item.action)) ||
			mr_work_push_has_started(&item) || !concerns_any(&item, message_ids))
			continue;
		mr_work_ids_put(&ids, item.push_id);
		shrink(cx, &item, message_ids);
		if (item.message_ids.len)
			mr_work_queue_save(change, &item);
		else
			mr_work_queue_remove(change, &queue.items[i]);
	}
	for (size_t i = 0; ids.len && i < message_ids->len; i++)
		mr_work_touch_message(change, message_ids->items[i]);
	if (out_ids)
		*out_ids = ids;
	return MR_OK;
}
