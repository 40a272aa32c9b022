/* workspace/draft_queue.c - checks drafts, queues them, and removes them. */
#include "base/fs.h"
#include "workspace/case_private.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"

/* --- validate --- */

enum mr_code mr_work_draft_validate(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_valid *result)
{
	struct mr_work_draft_states states = { 0 };
	struct mr_work_draft draft;
	struct mr_work_change change;
	const char *hash;
	enum mr_code rc =
		mr_work_draft_open(cx, work, request->case_ref, request->draft_name, &draft);

	if (!rc)
		rc = mr_work_draft_check(cx, work, &draft);
	if (!rc)
		rc = mr_work_draft_states_load(cx, work, draft.collection.path, &states);
	if (rc)
		return rc;
	hash = mr_work_draft_hash(cx->arena, draft.bytes);
	mr_work_change_begin(cx, work, "draft_write", &change);
	mr_work_draft_state_put(&change, &states, draft.name, hash);
	*result = (struct mr_work_draft_valid){ draft.collection.uid, draft.name, hash, work->now };
	return mr_work_carry_out(cx, &change);
}

/* --- save and send --- */

/* One item for a draft: the one there is, which begins anew when something else is to be done. */
static enum mr_code choose_item(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_draft *draft, enum mr_work_push_action action,
	struct mr_work_push_item *out)
{
	const struct mr_work_push_item *old = NULL;
	enum mr_code rc =
		mr_work_draft_item(cx, change->work, draft->collection.uid, draft->name, &old);

	if (rc)
		return rc;
	if (!old) {
		*out = (struct mr_work_push_item){ .push_id = mr_work_queue_new_id(cx, change),
			.kind = MR_WORK_PUSH_OUTBOUND,
			.action = action,
			.case_uid = draft->collection.uid,
			.draft_name = draft->name };
		return MR_OK;
	}
	*out = *old;
	if (old->action == action)
		return MR_OK;
	if (mr_work_push_has_started(old)) {
		mr_work_refuse(cx, MR_WORK_PUSH_ALREADY_STARTED,
			"%s has begun to %s the draft %s: it cannot become something else",
			old->push_id, old->action == MR_WORK_PUSH_SEND ? "send" : "save",
			draft->name);
		return mr_work_detail_text(cx, "push_id", old->push_id);
	}
	out->action = action;
	out->attempt_count = 0;
	out->last_error = NULL;
	out->states = NULL;
	out->state_count = 0;
	return MR_OK;
}

static enum mr_code queue(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, enum mr_work_push_action action,
	struct mr_work_draft_queued *result)
{
	const struct mr_work_identity *identity = NULL;
	struct mr_work_draft_states states = { 0 };
	struct mr_work_push_item item = { 0 };
	struct mr_work_draft draft;
	struct mr_work_change change;
	struct mr_work_event event;
	enum mr_code rc =
		mr_work_draft_open(cx, work, request->case_ref, request->draft_name, &draft);

	mr_work_change_begin(cx, work, "draft_queue", &change);
	if (!rc)
		rc = mr_work_draft_check(cx, work, &draft);
	if (!rc)
		rc = mr_work_draft_identity(cx, work, draft.file.identity, &identity);
	if (!rc && action == MR_WORK_PUSH_SEND)
		rc = mr_work_check_sender(cx, identity);
	if (!rc)
		rc = mr_work_draft_states_load(cx, work, draft.collection.path, &states);
	if (!rc)
		rc = choose_item(cx, &change, &draft, action, &item);
	if (rc)
		return rc;
	mr_work_draft_state_put(&change, &states, draft.name,
		mr_work_draft_hash(cx->arena, draft.bytes));
	mr_work_queue_save(&change, &item);
	mr_work_event_begin(&change, "draft_queued",
		MR_WORK_TARGETS({ "case", draft.collection.uid }), NULL, &event);
	mr_out_text(&event.out, "case_uid", draft.collection.uid);
	mr_out_text(&event.out, "draft_name", draft.name);
	mr_out_text(&event.out, "draft_path", draft.path);
	mr_out_text(&event.out, "action", mr_work_push_action_names[action]);
	mr_out_text(&event.out, "push_id", item.push_id);
	mr_work_event_end(&event);
	*result = (struct mr_work_draft_queued){ item.push_id, "outbound",
		mr_work_push_action_names[action], draft.collection.uid, draft.name, draft.path,
		work->now };
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_draft_save(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_queued *result)
{
	return queue(cx, work, request, MR_WORK_PUSH_SAVE_DRAFT, result);
}

enum mr_code mr_work_draft_send(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_queued *result)
{
	return queue(cx, work, request, MR_WORK_PUSH_SEND, result);
}

/* --- compose --- */

static enum mr_code refuse_compose(struct mr_ctx *cx, enum mr_work_error error,
	const struct mr_work_draft *draft, const char *what)
{
	struct mr_texts suggested = mr_work_ids_room(cx->arena, 1);

	mr_work_ids_put(&suggested,
		mr_arena_printf(cx->arena, "afmail case draft validate %s %s",
			draft->collection.uid, draft->name));
	mr_work_refuse(cx, error, "the draft %s %s", draft->path, what);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

enum mr_code mr_work_draft_compose(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_ref *request, struct mr_work_draft_queued *result)
{
	const struct mr_work_draft_state *state;
	struct mr_work_draft_states states = { 0 };
	struct mr_work_draft draft;
	enum mr_code rc =
		mr_work_draft_open(cx, work, request->case_ref, request->draft_name, &draft);

	if (!rc)
		rc = mr_work_draft_states_load(cx, work, draft.collection.path, &states);
	if (rc)
		return rc;
	state = mr_work_draft_state_of(&states, draft.name);
	if (!state || !state->hash)
		return refuse_compose(cx, MR_WORK_DRAFT_VALIDATION_REQUIRED, &draft,
			"has not been validated");
	if (!mr_str_eq(state->hash, mr_work_draft_hash(cx->arena, draft.bytes)))
		return refuse_compose(cx, MR_WORK_DRAFT_CHANGED_SINCE_VALIDATION, &draft,
			"has changed since it was validated");
	return queue(cx, work, request, MR_WORK_PUSH_SAVE_DRAFT, result);
}

/* --- remove --- */

/* All items of the draft; push_already_started when one has begun. */
static enum mr_code take_items(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_draft_removed *result)
{
	const struct mr_work_push_items *items = NULL;
	enum mr_code rc = mr_work_queue_get(cx, change->work, &items);

	if (rc)
		return rc;
	result->push_ids = mr_work_ids_room(cx->arena, items->len);
	result->actions = mr_work_ids_room(cx->arena, items->len);
	for (size_t i = 0; i < items->len; i++) {
		const struct mr_work_push_item *item = &items->items[i];

		if (item->kind != MR_WORK_PUSH_OUTBOUND ||
			!mr_str_eq(item->case_uid, result->case_uid) ||
			!mr_str_eq(item->draft_name, result->draft_name))
			continue;
		if (mr_work_push_has_started(item)) {
			mr_work_refuse(cx, MR_WORK_PUSH_ALREADY_STARTED,
				"%s has begun with the draft %s, which cannot be removed",
				item->push_id, result->draft_name);
			return mr_work_detail_text(cx, "push_id", item->push_id);
		}
		mr_work_ids_put(&result->push_ids, item->push_id);
		mr_work_ids_put(&result->actions, mr_work_push_action_names[item->action]);
		mr_work_queue_remove(change, item);
	}
	result->removed_push_count = (int64_t)result->push_ids.len;
	result->queued_removed = result->push_ids.len > 0;
	return MR_OK;
}

/* The message that the draft answers is free again. */
static enum mr_code touch_answered(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_collection *collection, const char *path)
{
	struct mr_work_draft_file file;
	struct mr_bytes bytes = { 0 };
	struct mr_err kept = cx->err;
	enum mr_code rc = mr_work_read_opt(cx, change->work, path, &bytes);

	if (rc)
		return rc;
	/* A broken draft can be removed too. */
	if (mr_work_draft_read(cx, bytes, &file)) {
		cx->err = kept;
		for (size_t i = 0; i < collection->len; i++)
			mr_work_touch_message(change, collection->items[i].message_id);
	} else if (file.reply_to_message_id &&
		mr_work_collection_item(collection, file.reply_to_message_id)) {
		mr_work_touch_message(change, file.reply_to_message_id);
	}
	return MR_OK;
}

static void add_event(struct mr_work_change *change, const struct mr_work_draft_removed *removed,
	const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "draft_removed", MR_WORK_TARGETS({ "case", removed->case_uid }),
		reason, &event);
	mr_out_text(&event.out, "case_uid", removed->case_uid);
	mr_out_text(&event.out, "draft_name", removed->draft_name);
	mr_out_text(&event.out, "draft_path", removed->draft_path);
	mr_out_texts(&event.out, "push_ids", &removed->push_ids);
	mr_out_texts(&event.out, "actions", &removed->actions);
	mr_out_bool(&event.out, "draft_deleted", removed->draft_deleted);
	mr_out_bool(&event.out, "state_removed", removed->state_removed);
	mr_out_bool(&event.out, "mail_sent", false);
	mr_work_event_end(&event);
}

enum mr_code mr_work_draft_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft_remove *request, struct mr_work_draft_removed *result)
{
	struct mr_work_collection collection = { 0 };
	struct mr_work_draft_states states = { 0 };
	struct mr_work_draft_removed removed = { 0 };
	struct mr_work_change change;
	const char *reason = NULL;
	enum mr_code rc = mr_work_case_open(cx, work, request->case_ref, &collection);

	if (!rc)
		rc = mr_work_check_draft_name(cx, request->draft_name);
	if (!rc)
		rc = mr_work_reason(cx, work, request->reason, &reason);
	if (!rc)
		rc = mr_work_draft_states_load(cx, work, collection.path, &states);
	if (rc)
		return rc;
	removed.case_uid = collection.uid;
	removed.draft_name = request->draft_name;
	removed.draft_path = mr_work_draft_path(cx->arena, collection.path, request->draft_name);
	removed.draft_deleted = mr_fs_exists(work->dir, removed.draft_path);
	removed.state_removed = mr_work_draft_state_of(&states, request->draft_name) != NULL;
	mr_work_change_begin(cx, work, "draft_remove", &change);
	rc = take_items(cx, &change, &removed);
	if (!rc && !removed.draft_deleted && !removed.state_removed && !removed.queued_removed)
		rc = mr_work_draft_missing(cx, &collection, request->draft_name);
	if (!rc && removed.draft_deleted)
		rc = touch_answered(cx, &change, &collection, removed.draft_path);
	if (rc)
		return rc;
	if (removed.draft_deleted)
		mr_work_change_remove(&change, removed.draft_path);
	if (removed.state_removed)
		mr_work_draft_state_put(&change, &states, request->draft_name, NULL);
	add_event(&change, &removed, reason);
	*result = removed;
	return mr_work_carry_out(cx, &change);
}
