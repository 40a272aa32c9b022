/* workspace/queue_action.c - queues what is to be done to messages on the server, and takes it
 * back. */
#include "workspace/change_private.h"
#include "workspace/error.h"
#include "workspace/evidence.h"
#include "workspace/ids.h"
#include "workspace/queue.h"
#include "workspace/text_set.h"

#include <string.h>

/* A usable location of a message, and for archiving the mailbox it is in. */
struct source {
	struct mr_work_push_location location;
	const struct mr_work_mailbox *mailbox; /* or NULL */
};
struct sources {
	struct source *items;
	size_t len, cap;
};

static struct source *add_source(struct mr_arena *arena, struct sources *sources)
{
	if (sources->len == sources->cap) {
		struct source *items;

		sources->cap = sources->cap ? sources->cap * 2 : 16;
		items = mr_arena_array(arena, sources->cap, sizeof(*items));
		if (sources->len)
			memcpy(items, sources->items, sources->len * sizeof(*items));
		sources->items = items;
	}
	return &sources->items[sources->len++];
}

static enum mr_code add_sources(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, enum mr_work_push_action action,
	const char *message_id, struct sources *out)
{
	bool inbound_only = action == MR_WORK_PUSH_SPAM || action == MR_WORK_PUSH_TRASH;
	struct mr_work_evidence found;
	enum mr_code rc = mr_work_evidence_load(cx, work, message_id, &found);

	if (rc || (inbound_only && found.direction == MR_WORK_OUTBOUND))
		return rc;
	for (size_t i = 0; !rc && i < found.locations.len; i++) {
		const struct mr_work_location *at = &found.locations.items[i];
		struct source *to;

		if (!mr_work_location_is_usable(at))
			continue;
		to = add_source(cx->arena, out);
		*to = (struct source){ { found.message_id, at->mailbox_name, at->uid_validity,
					       at->uid },
			at->mailbox_id ? mr_work_find_mailbox(config, at->mailbox_id) : NULL };
		if (!to->mailbox && action == MR_WORK_PUSH_ARCHIVE)
			rc = mr_work_mailbox_by_name(cx, config, at->mailbox_name, &to->mailbox);
	}
	return rc;
}

/* The steps of an action that are the same wherever a message is, or NULL. */
static const struct mr_work_action_steps *steps_of(const struct mr_work_config *config,
	enum mr_work_push_action action)
{
	switch (action) {
	case MR_WORK_PUSH_CASE_ADD:
		return &config->case_add;
	case MR_WORK_PUSH_SPAM:
		return &config->message_spam;
	case MR_WORK_PUSH_TRASH:
		return &config->message_trash;
	default:
		return NULL;
	}
}

/* Back to the inbox, when one is configured. */
static enum mr_code restore_steps(struct mr_ctx *cx, const struct mr_work_config *config,
	struct mr_work_action_steps *out)
{
	struct mr_out list;

	*out = (struct mr_work_action_steps){ 0 };
	if (!mr_work_find_mailbox(config, "inbox"))
		return MR_OK;
	mr_out_init_tree(&list, cx->arena);
	mr_out_list(&list, NULL);
	mr_out_map(&list, NULL);
	mr_out_text(&list, "move_to_mailbox_id", "inbox");
	mr_out_end(&list);
	mr_out_end(&list);
	return mr_work_steps_read(cx, mr_out_tree(&list), out);
}

/* One item for these locations: all of `sources`, or those of one mailbox. */
static void add_item(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_push_action action, const struct sources *sources,
	const struct mr_work_mailbox *only, const struct mr_work_action_steps *steps,
	struct mr_work_queued *out)
{
	struct mr_work_push_item item = { .push_id = mr_work_queue_new_id(cx, change),
		.kind = MR_WORK_PUSH_MESSAGE_ACTION,
		.action = action,
		.steps = *steps };
	struct mr_work_text_set ids = { 0 };

	item.locations = mr_arena_array(cx->arena, sources->len + 1, sizeof(*item.locations));
	for (size_t i = 0; i < sources->len; i++) {
		if (only && sources->items[i].mailbox != only)
			continue;
		item.locations[item.location_count++] = sources->items[i].location;
		mr_work_text_set_add(cx->arena, &ids, sources->items[i].location.message_id);
	}
	item.message_ids = ids.texts;
	mr_work_queue_save(change, &item);
	mr_work_texts_add(cx->arena, &out->push_ids, item.push_id);
}

/* Archiving depends on where a message is: an item for each mailbox with steps. */
static void add_archive_items(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_config *config, const struct sources *sources,
	struct mr_work_queued *out)
{
	for (size_t i = 0; i < config->mailbox_count; i++) {
		const struct mr_work_mailbox *mailbox = &config->mailboxes[i];
		bool is_source = false;

		for (size_t k = 0; k < sources->len; k++)
			is_source |= sources->items[k].mailbox == mailbox;
		if (is_source && mailbox->archive.len)
			add_item(cx, change, MR_WORK_PUSH_ARCHIVE, sources, mailbox,
				&mailbox->archive, out);
	}
}

enum mr_code mr_work_queue_action(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_push_action action, const struct mr_texts *message_ids,
	struct mr_work_queued *out)
{
	const struct mr_work_config *config = NULL;
	const struct mr_work_action_steps *steps;
	struct mr_work_action_steps back = { 0 };
	struct mr_work_queued queued = { 0 };
	struct sources sources = { 0 };
	enum mr_code rc = mr_work_config_get(cx, change->work, &config);

	if (!rc && action == MR_WORK_PUSH_RESTORE)
		rc = restore_steps(cx, config, &back);
	for (size_t i = 0; !rc && i < message_ids->len; i++)
		rc = add_sources(cx, change->work, config, action, message_ids->items[i], &sources);
	if (rc)
		return rc;
	queued.location_count = (int64_t)sources.len;
	queued.queued_location_count = queued.location_count;
	steps = action == MR_WORK_PUSH_RESTORE ? &back : steps_of(config, action);
	if (action == MR_WORK_PUSH_ARCHIVE)
		add_archive_items(cx, change, config, &sources, &queued);
	else if (sources.len && steps && steps->len)
		add_item(cx, change, action, &sources, NULL, steps, &queued);
	queued.queued = queued.push_ids.len > 0;
	queued.push_id = queued.queued ? queued.push_ids.items[0] : NULL;
	*out = queued;
	return MR_OK;
}

static void take_out(struct mr_ctx *cx, struct mr_work_push_item *item, const char *message_id)
{
	struct mr_texts one = mr_work_ids_one(cx->arena, message_id);
	size_t kept = 0;

	for (size_t i = 0; i < item->location_count; i++)
		if (!mr_str_eq(item->locations[i].message_id, message_id))
			item->locations[kept++] = item->locations[i];
	item->location_count = kept;
	item->message_ids = mr_work_ids_without(cx->arena, &item->message_ids, &one);
}

enum mr_code mr_work_queue_withdraw(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_push_action action, const char *message_id, struct mr_texts *out_ids)
{
	struct mr_work_push_items queue = { 0 };
	enum mr_code rc = mr_work_queue_load(cx, change->work, &queue);

	*out_ids = (struct mr_texts){ 0 };
	for (size_t i = 0; !rc && i < queue.len; i++) {
		const struct mr_work_push_item *item = &queue.items[i];

		if (item->action == action && mr_texts_has(&item->message_ids, message_id) &&
			mr_work_push_has_started(item))
			return mr_work_refuse(cx, MR_WORK_PUSH_ALREADY_STARTED,
				"%s has begun and cannot be taken back", item->push_id);
	}
	for (size_t i = 0; !rc && i < queue.len; i++) {
		struct mr_work_push_item *item = &queue.items[i];

		if (item->action != action || !mr_texts_has(&item->message_ids, message_id))
			continue;
		mr_work_touch_message(change, message_id);
		mr_work_texts_add(cx->arena, out_ids, item->push_id);
		take_out(cx, item, message_id);
		if (item->message_ids.len)
			mr_work_queue_save(change, item);
		else
			mr_work_queue_remove(change, item);
	}
	return rc;
}
