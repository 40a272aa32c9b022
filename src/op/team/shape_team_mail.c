/* op/team/shape_team_mail.c - messages, as inboxes, threads and senders are told of them. */
#include "op/bind.h"
#include "op/team/shape_team.h"
#include "team/message_cache.h"
#include "text/json.h"

const struct mr_field mr_shape_team_message_fields[] = {
	MR_SHAPE_TEAM_ITEM_FIELDS,
	{ 0 },
};

const struct mr_field mr_shape_team_blocked_fields[] = {
	{ .name = "name", .type = MR_TYPE_TEXT },
	{ .name = "project", .type = MR_TYPE_TEXT, .summary = "its slug" },
	{ .name = "reason", .type = MR_TYPE_TEXT, .summary = "the rule that decided" },
	{ 0 },
};

static const struct mr_field payload_fields[] = {
	MR_SHAPE_TEAM_PAYLOAD_FIELDS,
	{ 0 },
};

const struct mr_field mr_shape_team_delivery_fields[] = {
	{ .name = "project", .type = MR_TYPE_TEXT, .summary = "where the message is stored" },
	{ .name = "payload", .type = MR_TYPE_OBJECT, .fields = payload_fields },
	{ 0 },
};

/* A list of objects, kept as JSON; what is no such list was never put there by us. */
static void put_attachments(struct mr_out *out, const char *json)
{
	static const struct mr_json_limits limits = {
		.max_bytes = MR_DB_VALUE_BYTES,
		.max_depth = 8,
		.max_nodes = 20000,
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const struct mr_value *list = NULL;
	struct mr_err err;

	/* Most messages have none. */
	if (json && !mr_str_eq(json, "[]")) {
		arena = mr_arena_new();
		if (!mr_json_parse(arena, mr_bytes_text(json), &limits, &list, &err) &&
			list->kind == MR_LIST) {
			mr_out_value(out, "attachments", list);
			return;
		}
	}
	mr_out_list(out, "attachments");
	mr_out_end(out);
}

static void put_id(struct mr_out *out, const char *key, int64_t id)
{
	if (id)
		mr_out_int(out, key, id);
	else
		mr_out_null(out, key);
}

/* What every form of a message says. */
static void put_message(struct mr_out *out, const struct mr_team_message *message, const char *from)
{
	mr_out_int(out, "id", message->id);
	mr_out_text(out, "uid", message->uid);
	mr_out_int(out, "project_id", message->project_id);
	mr_out_int(out, "sender_id", message->sender_id);
	mr_out_text(out, "from", from);
	mr_out_text(out, "thread_id", message->thread_id);
	put_id(out, "reply_to", message->reply_to);
	mr_out_text(out, "subject", message->subject);
	mr_out_text(out, "importance", mr_team_importance_name(message->importance));
	mr_out_bool(out, "ack_required", message->ack_required);
	mr_shape_team_time(out, "created_ts", message->created_ts);
	put_attachments(out, message->attachments);
}

static void put_head(struct mr_out *out, const struct mr_team_item *item)
{
	put_message(out, &item->message, item->from);
	mr_out_bool(out, "from_verified", item->message.verified);
	mr_out_text(out, "sender_project", item->sender_project);
	mr_out_bool(out, "is_human", item->from_human);
}

/* What a message says never changes, so it is written once for all who list it. */
static void put_head_once(struct mr_out *out, const struct mr_team_item *item)
{
	size_t mark;

	if (item->form.len) {
		mr_out_members(out, item->form);
		return;
	}
	mark = mr_out_mark(out);
	put_head(out, item);
	mr_team_message_cache_leave(item, mr_out_since(out, mark));
}

void mr_shape_team_item_members(struct mr_out *out, const struct mr_team_item *item, bool names)
{
	(item->heads && mr_out_is_compact(out) ? put_head_once : put_head)(out, item);
	if (names) {
		mr_out_texts(out, "to", &item->to);
		mr_out_texts(out, "cc", &item->cc);
		if (item->with_bcc)
			mr_out_texts(out, "bcc", &item->bcc);
	}
	if (item->received) {
		mr_out_text(out, "kind", mr_team_kind_name(item->kind));
		mr_shape_team_time(out, "read_ts", item->read_ts);
		mr_shape_team_time(out, "ack_ts", item->ack_ts);
	}
	if (item->message.body_md)
		mr_out_text(out, "body_md", item->message.body_md);
	if (item->message.body_md && item->is_limited)
		mr_out_bool(out, "truncated", item->truncated);
}

void mr_shape_team_item(struct mr_out *out, const char *key, const struct mr_team_item *item,
	bool names)
{
	mr_out_map(out, key);
	mr_shape_team_item_members(out, item, names);
	mr_out_end(out);
}

void mr_shape_team_items(struct mr_out *out, const char *key, const struct mr_team_items *items,
	bool names)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < items->len; i++)
		mr_shape_team_item(out, NULL, &items->items[i], names);
	mr_out_end(out);
}

void mr_shape_team_payload_members(struct mr_out *out, const struct mr_team_sent *sent)
{
	put_message(out, &sent->message, sent->sender.name);
	mr_out_texts(out, "to", &sent->to);
	mr_out_texts(out, "cc", &sent->cc);
	mr_out_texts(out, "bcc", &sent->bcc);
	mr_out_text(out, "body_md", sent->message.body_md);
}

static void put_blocked(struct mr_out *out, const struct mr_team_sent *sent)
{
	mr_out_list(out, "blocked_recipients");
	for (size_t i = 0; i < sent->blocked_count; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "name", sent->blocked[i].name);
		mr_out_text(out, "project", sent->blocked[i].project);
		mr_out_text(out, "reason", sent->blocked[i].reason);
		mr_out_end(out);
	}
	mr_out_end(out);
}

/* All but the attachments, which a reply has already told. */
static void put_sent(struct mr_out *out, const struct mr_team_sent *sent)
{
	mr_out_list(out, "deliveries");
	mr_out_map(out, NULL);
	mr_out_text(out, "project", sent->project.human_key);
	mr_out_map(out, "payload");
	mr_shape_team_payload_members(out, sent);
	mr_out_end(out);
	mr_out_end(out);
	mr_out_end(out);
	mr_out_int(out, "count", 1);
	if (sent->auto_registered.len)
		mr_out_texts(out, "auto_registered", &sent->auto_registered);
	if (sent->blocked_count)
		put_blocked(out, sent);
	if (sent->contact_request_count) {
		mr_out_list(out, "contact_requests");
		for (size_t i = 0; i < sent->contact_request_count; i++)
			mr_shape_team_link(out, NULL, &sent->contact_requests[i]);
		mr_out_end(out);
	}
	if (sent->warnings.len)
		mr_bind_list(out, "warnings", mr_shape_team_conflict_fields, sent->warnings.items,
			sent->warnings.len, sizeof(*sent->warnings.items));
	if (sent->repeated)
		mr_out_bool(out, "repeated", true);
}

void mr_shape_team_sent_members(struct mr_out *out, const struct mr_team_sent *sent)
{
	put_sent(out, sent);
	put_attachments(out, sent->message.attachments);
}

void mr_shape_team_reply_members(struct mr_out *out, const struct mr_team_sent *sent)
{
	mr_shape_team_payload_members(out, sent);
	put_sent(out, sent);
}
