/* op/team/shape_team_mail.c - emits messages as JSON objects of the team contract, for inboxes,
 * threads and senders. */
#include "op/bind.h"
#include "op/team/shape_team.h"
#include "team/message_cache.h"
#include "text/json.h"

/* A list of objects, kept as JSON; what is no such list was never put there by us. */
static void put_attachments(struct mr_out *out, const char *key, const void *from)
{
	static const struct mr_json_limits limits = {
		.max_bytes = MR_DB_VALUE_BYTES,
		.max_depth = 8,
		.max_nodes = 20000,
	};
	const char *json = *(const char *const *)from;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const struct mr_value *list = NULL;
	struct mr_err err;

	/* Most messages have none. */
	if (json && !mr_str_eq(json, "[]")) {
		arena = mr_arena_new();
		if (!mr_json_parse(arena, mr_bytes_text(json), &limits, &list, &err) &&
			list->kind == MR_LIST) {
			mr_out_value(out, key, list);
			return;
		}
	}
	mr_out_list(out, key);
	mr_out_end(out);
}

/* Lines; left out when there are none. */
static void put_addressed(struct mr_out *out, const char *key, const void *from)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const char *lines = *(const char *const *)from;
	struct mr_texts groups;

	/* Most messages have none. */
	if (!lines)
		return;
	arena = mr_arena_new();
	groups = mr_str_split(arena, lines, '\n');
	mr_out_texts(out, key, &groups);
}

#define ATTACHMENTS(struct_type, member)                                                           \
	{                                                                                          \
		.name = "attachments", .type = MR_TYPE_LIST, .from = MR_FROM(struct_type, member), \
		.emit = put_attachments                                                            \
	}

/* What every form of a message says: these, who it is from, and the rest. */
static const struct mr_field first_fields[] = {
	MR_FIELD(struct mr_team_message, id, "id"),
	MR_FIELD(struct mr_team_message, uid, "uid", .summary = "its id in the archive"),
	MR_FIELD(struct mr_team_message, project_id, "project_id"),
	MR_FIELD(struct mr_team_message, sender_id, "sender_id"),
	{ 0 },
};

static const struct mr_field other_fields[] = {
	MR_FIELD(struct mr_team_message, thread_id, "thread_id", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_team_message, reply_to, "reply_to", .flags = MR_NULLABLE,
		.summary = "the message it answers"),
	MR_FIELD(struct mr_team_message, subject, "subject"),
	MR_FIELD(struct mr_team_message, importance, "importance",
		.choices = mr_shape_team_importances),
	MR_FIELD(struct mr_team_message, ack_required, "ack_required"),
	MR_FIELD_TIME(struct mr_team_message, created_ts, "created_ts"),
	ATTACHMENTS(struct mr_team_message, attachments),
	{ .name = "addressed",
		.type = MR_TYPE_TEXTS,
		.flags = MR_OPTIONAL,
		.summary = "the groups that its recipients were written as: @all",
		.from = MR_FROM(struct mr_team_message, addressed),
		.emit = put_addressed },
	{ 0 },
};

static const struct mr_field head_fields[] = {
	MR_MEMBERS(struct mr_team_item, message, struct mr_team_message, first_fields),
	MR_FIELD(struct mr_team_item, from, "from"),
	MR_MEMBERS(struct mr_team_item, message, struct mr_team_message, other_fields),
	MR_FIELD(struct mr_team_item, message.verified, "from_verified",
		.summary = "whether the sender had proved to be who it is"),
	MR_FIELD(struct mr_team_item, sender_project, "sender_project",
		.summary = "the slug of the sender's project"),
	MR_FIELD(struct mr_team_item, from_human, "is_human",
		.summary = "whether a person wrote it"),
	{ 0 },
};

/* A list that is left out when it is empty. */
static void put_attachments_if_any(struct mr_out *out, const char *key, const void *from)
{
	const char *json = *(const char *const *)from;

	if (json && !mr_str_eq(json, "[]"))
		put_attachments(out, key, from);
}

static void put_importance_if_unusual(struct mr_out *out, const char *key, const void *from)
{
	unsigned importance = *(const unsigned *)from;

	if (importance != MR_TEAM_NORMAL)
		mr_out_text(out, key, mr_shape_team_importances[importance]);
}

static void put_kind_if_unusual(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_team_item *item = from;

	if (item->received && item->kind != MR_TEAM_TO)
		mr_out_text(out, key, mr_shape_team_kinds[item->kind]);
}

static void put_project_if_far(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_team_item *item = from;

	if (!item->is_near)
		mr_out_text(out, key, item->sender_project);
}

static const struct mr_field brief_fields[] = {
	MR_FIELD(struct mr_team_item, message.id, "id"),
	MR_FIELD(struct mr_team_item, from, "from"),
	MR_FIELD(struct mr_team_item, message.thread_id, "thread_id", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_item, message.reply_to, "reply_to", .flags = MR_OPTIONAL,
		.summary = "the message it answers"),
	MR_FIELD(struct mr_team_item, message.subject, "subject"),
	{ .name = "importance",
		.type = MR_TYPE_TEXT,
		.flags = MR_OPTIONAL,
		.summary = "left out when it is normal",
		.choices = mr_shape_team_importances,
		.from = MR_FROM(struct mr_team_item, message.importance),
		.emit = put_importance_if_unusual },
	MR_FIELD(struct mr_team_item, message.ack_required, "ack_required", .flags = MR_OPTIONAL),
	MR_FIELD_TIME(struct mr_team_item, message.created_ts, "created_ts"),
	{ .name = "attachments",
		.type = MR_TYPE_LIST,
		.flags = MR_OPTIONAL,
		.from = MR_FROM(struct mr_team_item, message.attachments),
		.emit = put_attachments_if_any },
	{ .name = "addressed",
		.type = MR_TYPE_TEXTS,
		.flags = MR_OPTIONAL,
		.summary = "the groups that its recipients were written as: @all",
		.from = MR_FROM(struct mr_team_item, message.addressed),
		.emit = put_addressed },
	MR_FIELD(struct mr_team_item, message.verified, "from_verified", .flags = MR_OPTIONAL,
		.summary = "the sender had proved to be who it is"),
	MR_FIELD(struct mr_team_item, from_human, "is_human", .flags = MR_OPTIONAL,
		.summary = "a person wrote it"),
	{ 0 },
};

/* A message never changes, so its JSON is built once and reused by everyone who lists it. */
static void put_brief(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_team_item *item = from;
	size_t mark;

	(void)key;
	if (!item->heads || !mr_out_is_compact(out)) {
		mr_bind_members(out, brief_fields, item);
	} else if (item->form.len) {
		mr_out_members(out, item->form);
	} else {
		mark = mr_out_mark(out);
		mr_bind_members(out, brief_fields, item);
		mr_team_message_cache_leave(item, mr_out_since(out, mark));
	}
}

static const struct mr_field name_fields[] = {
	MR_FIELD(struct mr_team_item, to, "to", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct mr_team_item, with_names)),
	MR_FIELD(struct mr_team_item, cc, "cc", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct mr_team_item, with_names)),
	MR_FIELD(struct mr_team_item, bcc, "bcc", .flags = MR_OPTIONAL,
		.summary = "only its sender sees them",
		.when = MR_FLAG(struct mr_team_item, with_bcc)),
	{ 0 },
};

static const struct mr_field receipt_fields[] = {
	MR_FIELD(struct mr_team_recipient, name, "name"),
	MR_FIELD(struct mr_team_recipient, project_slug, "project"),
	MR_FIELD(struct mr_team_recipient, kind, "kind", .choices = mr_shape_team_kinds),
	MR_FIELD_TIME(struct mr_team_recipient, read_ts, "read_ts", .flags = MR_OPTIONAL),
	MR_FIELD_TIME(struct mr_team_recipient, ack_ts, "ack_ts", .flags = MR_OPTIONAL),
	{ 0 },
};

#define RECEIPTS                                                                                   \
	MR_FIELD_LIST(struct mr_team_item, recipients, struct mr_team_recipient, receipt_fields,   \
		"recipients", .flags = MR_OPTIONAL, .summary = "who read and acknowledged it",     \
		.when = MR_FLAG(struct mr_team_item, with_receipts))

const struct mr_field mr_shape_team_message_fields[] = {
	MR_MEMBERS_SAME(struct mr_team_item, head_fields),
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = name_fields,
		.from = MR_FROM_SAME(struct mr_team_item),
		.when = MR_FLAG(struct mr_team_item, with_names) },
	MR_FIELD(struct mr_team_item, kind, "kind", .flags = MR_OPTIONAL,
		.choices = mr_shape_team_kinds, .summary = "how the reader was addressed",
		.when = MR_FLAG(struct mr_team_item, received)),
	MR_FIELD_TIME(struct mr_team_item, read_ts, "read_ts", .flags = MR_OPTIONAL | MR_NULLABLE,
		.when = MR_FLAG(struct mr_team_item, received)),
	MR_FIELD_TIME(struct mr_team_item, ack_ts, "ack_ts", .flags = MR_OPTIONAL | MR_NULLABLE,
		.when = MR_FLAG(struct mr_team_item, received)),
	MR_FIELD(struct mr_team_item, message.body_md, "body_md", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_item, truncated, "truncated", .flags = MR_OPTIONAL,
		.summary = "with max_chars: whether some of the body was cut off",
		.when = MR_FLAG(struct mr_team_item, is_limited)),
	RECEIPTS,
	{ 0 },
};

const struct mr_field mr_shape_team_listed_fields[] = {
	{ .name = "*",
		.flags = MR_INCLUDED,
		.fields = brief_fields,
		.from = MR_FROM_SAME(struct mr_team_item),
		.emit = put_brief },
	{ .name = "sender_project",
		.type = MR_TYPE_TEXT,
		.flags = MR_OPTIONAL,
		.summary = "the slug of the sender's project, when it is another",
		.from = MR_FROM_SAME(struct mr_team_item),
		.emit = put_project_if_far },
	MR_FIELD(struct mr_team_item, to, "to", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct mr_team_item, with_names)),
	MR_FIELD(struct mr_team_item, cc, "cc", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_item, bcc, "bcc", .flags = MR_OPTIONAL,
		.summary = "only its sender sees them"),
	{ .name = "kind",
		.type = MR_TYPE_TEXT,
		.flags = MR_OPTIONAL,
		.summary = "how the reader was addressed; left out when it is to",
		.choices = mr_shape_team_kinds,
		.from = MR_FROM_SAME(struct mr_team_item),
		.emit = put_kind_if_unusual },
	MR_FIELD_TIME(struct mr_team_item, read_ts, "read_ts", .flags = MR_OPTIONAL),
	MR_FIELD_TIME(struct mr_team_item, ack_ts, "ack_ts", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_item, message.body_md, "body_md", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_item, truncated, "truncated", .flags = MR_OPTIONAL,
		.summary = "with max_chars: some of the body was cut off"),
	RECEIPTS,
	{ 0 },
};

void mr_shape_team_item_members(struct mr_out *out, const struct mr_team_item *item, bool names)
{
	struct mr_team_item shown = *item;

	shown.with_names = names;
	mr_bind_members(out, mr_shape_team_message_fields, &shown);
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

const struct mr_field mr_shape_team_payload_fields[] = {
	MR_MEMBERS(struct mr_team_sent, message, struct mr_team_message, first_fields),
	MR_FIELD(struct mr_team_sent, sender.name, "from"),
	MR_MEMBERS(struct mr_team_sent, message, struct mr_team_message, other_fields),
	MR_FIELD(struct mr_team_sent, to, "to"),
	MR_FIELD(struct mr_team_sent, cc, "cc"),
	MR_FIELD(struct mr_team_sent, bcc, "bcc"),
	MR_FIELD(struct mr_team_sent, message.body_md, "body_md"),
	{ 0 },
};

static const struct mr_field delivery_fields[] = {
	MR_FIELD(struct mr_team_sent, project.human_key, "project",
		.summary = "where the message is stored"),
	MR_FIELD_SAME(struct mr_team_sent, mr_shape_team_payload_fields, "payload"),
	{ 0 },
};

static const struct mr_field blocked_fields[] = {
	MR_FIELD(struct mr_team_blocked, name, "name"),
	MR_FIELD(struct mr_team_blocked, project, "project", .summary = "its slug"),
	MR_FIELD(struct mr_team_blocked, reason, "reason", .summary = "the rule that decided"),
	{ 0 },
};

/* A message is stored once: there is one delivery. */
static void put_deliveries(struct mr_out *out, const char *key, const void *from)
{
	mr_bind_list(out, key, delivery_fields, from, 1, sizeof(struct mr_team_sent));
}

static void put_count(struct mr_out *out, const char *key, const void *from)
{
	(void)from;
	mr_out_int(out, key, 1);
}

const struct mr_field mr_shape_team_report_fields[] = {
	{ .name = "deliveries",
		.type = MR_TYPE_LIST,
		.fields = delivery_fields,
		.from = MR_FROM_SAME(struct mr_team_sent),
		.emit = put_deliveries },
	{ .name = "count",
		.type = MR_TYPE_INT,
		.from = MR_FROM_SAME(struct mr_team_sent),
		.emit = put_count },
	MR_FIELD(struct mr_team_sent, auto_registered, "auto_registered", .flags = MR_OPTIONAL,
		.summary = "recipients that were unknown and are now agents"),
	MR_FIELD_ROWS(struct mr_team_sent, blocked, blocked_count, struct mr_team_blocked,
		blocked_fields, "blocked_recipients", .flags = MR_OPTIONAL,
		.summary = "who did not get it, because they may not be written to"),
	MR_FIELD_ROWS(struct mr_team_sent, contact_requests, contact_request_count,
		struct mr_team_link, mr_shape_team_link_fields, "contact_requests",
		.flags = MR_OPTIONAL),
	MR_FIELD_LIST(struct mr_team_sent, warnings, struct mr_team_conflict,
		mr_shape_team_conflict_fields, "warnings", .flags = MR_OPTIONAL,
		.summary = "leases on the files that the mail becomes"),
	MR_FIELD(struct mr_team_sent, repeated, "repeated", .flags = MR_OPTIONAL,
		.summary = "the key was used before: this is what was sent then"),
	{ 0 },
};

const struct mr_field mr_shape_team_sent_fields[] = {
	MR_MEMBERS_SAME(struct mr_team_sent, mr_shape_team_report_fields),
	ATTACHMENTS(struct mr_team_sent, message.attachments),
	{ 0 },
};
