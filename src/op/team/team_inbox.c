/* op/team/team_inbox.c - operations: what an agent has received and sent, and what it does about
 * it. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/inbox.h"
#include "text/time.h"

#define LIMIT_PARAM(n)                                                                             \
	{                                                                                          \
		.name = "limit", .type = MR_TYPE_INT, .summary = "at most so many, up to 1000",    \
		.fallback = (n),                                                                   \
	}
#define BODIES_PARAM                                                                               \
	{                                                                                          \
		.name = "include_bodies", .type = MR_TYPE_BOOL, .summary = "with their texts",     \
		.fallback = "false",                                                               \
	}
#define SINCE_PARAM                                                                                \
	{                                                                                          \
		.name = "since_ts", .type = MR_TYPE_TEXT,                                          \
		.summary = "only what is later than this time",                                    \
	}
#define THREAD_PARAM                                                                               \
	{                                                                                          \
		.name = "thread_id", .type = MR_TYPE_TEXT, .flags = MR_LENIENT,                    \
		.summary = "only this conversation",                                               \
	}
#define CURSOR_PARAM                                                                               \
	{                                                                                          \
		.name = "cursor", .type = MR_TYPE_INT,                                             \
		.summary = "go on after this message: the id of the last one seen",                \
	}

static const struct mr_param inbox_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	LIMIT_PARAM("20"),
	{ .name = "urgent_only",
		.type = MR_TYPE_BOOL,
		.summary = "only what is high or urgent",
		.fallback = "false" },
	{ .name = "unread_only",
		.type = MR_TYPE_BOOL,
		.summary = "only what was not read yet",
		.fallback = "false" },
	BODIES_PARAM,
	SINCE_PARAM,
	THREAD_PARAM,
	CURSOR_PARAM,
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static const struct mr_field list_fields[] = {
	{ .name = "result", .type = MR_TYPE_LIST, .fields = mr_shape_team_message_fields },
	{ 0 },
};

/* 0 asks for the default, so somebody's own 0 is the next best thing: the least. */
static int64_t limit_of(const struct mr_args *in, int64_t fallback)
{
	int64_t limit = mr_args_int(in, "limit", fallback);

	return limit < 1 ? -1 : limit;
}

static struct mr_team_inbox_query query_of(const struct mr_args *in, int64_t limit)
{
	return (struct mr_team_inbox_query){
		.project_key = mr_args_text(in, "project_key"),
		.agent_name = mr_args_text(in, "agent_name"),
		.limit = limit_of(in, limit),
		.include_bodies = mr_args_bool(in, "include_bodies", false),
	};
}

static void put_list(struct mr_out *out, const struct mr_team_items *items, bool names)
{
	mr_out_map(out, NULL);
	mr_shape_team_items(out, "result", items, names);
	mr_out_end(out);
}

static enum mr_code fetch_inbox(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	struct mr_team_inbox_query query = query_of(in, 20);
	struct mr_team_items items;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	query.urgent_only = mr_args_bool(in, "urgent_only", false);
	query.unread_only = mr_args_bool(in, "unread_only", false);
	query.since_ts = mr_args_text(in, "since_ts");
	query.thread_id = mr_args_text(in, "thread_id");
	query.cursor = mr_args_int(in, "cursor", 0);
	if (!rc)
		rc = mr_team_inbox_fetch(&call->cx, team, &query, &items);
	if (rc)
		return rc;
	mr_team_show_bodies(call, &showing, &items);
	put_list(out, &items, false);
	return rc;
}

const struct mr_op mr_op_team_inbox = {
	.name = "fetch_inbox",
	.command = "team inbox",
	.summary = "The newest messages an agent has received",
	.help = "Call it when you start and after each piece of work; newest first. "
		"Looking changes nothing: mark_message_read and acknowledge_message do. "
		"An agent has one inbox for all projects.",
	.cluster = "messaging",
	.params = inbox_params,
	.result = list_fields,
	.traits = MR_CORE | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = fetch_inbox,
	.render = mr_render_inbox,
};

static const struct mr_param outbox_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	LIMIT_PARAM("20"),
	BODIES_PARAM,
	SINCE_PARAM,
	THREAD_PARAM,
	CURSOR_PARAM,
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static enum mr_code list_outbox(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	struct mr_team_inbox_query query = query_of(in, 20);
	struct mr_team_items items;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	query.since_ts = mr_args_text(in, "since_ts");
	query.thread_id = mr_args_text(in, "thread_id");
	query.cursor = mr_args_int(in, "cursor", 0);
	if (!rc)
		rc = mr_team_outbox_fetch(&call->cx, team, &query, &items);
	if (rc)
		return rc;
	mr_team_show_bodies(call, &showing, &items);
	put_list(out, &items, true);
	return rc;
}

const struct mr_op mr_op_team_outbox = {
	.name = "list_outbox",
	.command = "team outbox",
	.summary = "The newest messages an agent has sent",
	.help = "Use it to see what you have told others already, newest first.",
	.cluster = "messaging",
	.params = outbox_params,
	.result = list_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = list_outbox,
	.render = mr_render_outbox,
};

/* Acknowledgements that are due. */

static const struct mr_param pending_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	LIMIT_PARAM("20"),
	CURSOR_PARAM,
	BODIES_PARAM,
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static const struct mr_field due_fields[] = {
	MR_SHAPE_TEAM_ITEM_FIELDS,
	{ .name = "age_seconds", .type = MR_TYPE_INT },
	{ 0 },
};

static const struct mr_field dues_fields[] = {
	{ .name = "result", .type = MR_TYPE_LIST, .fields = due_fields },
	{ 0 },
};

static void put_due(struct mr_call *call, const struct mr_args *in, struct mr_team_items *items,
	struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	int64_t now = mr_clock_wall_us(call->cx.clock);

	mr_team_show_bodies(call, &showing, items);
	mr_out_map(out, NULL);
	mr_out_list(out, "result");
	for (size_t i = 0; i < items->len; i++) {
		const struct mr_team_item *item = &items->items[i];

		mr_out_map(out, NULL);
		mr_shape_team_item_members(out, item, false);
		mr_out_int(out, "age_seconds", (now - item->message.created_ts) / MR_TIME_S);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
}

static enum mr_code acks_pending(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_inbox_query query = query_of(in, 20);
	struct mr_team_items items;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	query.cursor = mr_args_int(in, "cursor", 0);
	query.unacked_only = true;
	if (!rc)
		rc = mr_team_inbox_fetch(&call->cx, team, &query, &items);
	if (!rc)
		put_due(call, in, &items, out);
	return rc;
}

const struct mr_op mr_op_team_acks_pending = {
	.name = "acks_pending",
	.command = "team acks pending",
	.summary = "Messages whose acknowledgement an agent owes, newest first",
	.help = "Use it to see what others wait for, newest first.",
	.cluster = "messaging",
	.params = pending_params,
	.result = dues_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = acks_pending,
	.render = mr_render_inbox,
};

static const struct mr_param overdue_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "ttl_minutes",
		.type = MR_TYPE_INT,
		.max = INT32_MAX,
		.summary = "how old they are at least",
		.fallback = "60" },
	{ .name = "ttl_seconds",
		.type = MR_TYPE_INT,
		.max = INT32_MAX,
		.summary = "the same in seconds" },
	LIMIT_PARAM("50"),
	CURSOR_PARAM,
	BODIES_PARAM,
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static enum mr_code acks_overdue(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_inbox_query query = query_of(in, 50);
	int64_t age_s =
		mr_args_int(in, "ttl_seconds", mr_args_int(in, "ttl_minutes", 60) * INT64_C(60));
	struct mr_team_items items;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	query.cursor = mr_args_int(in, "cursor", 0);
	if (!rc)
		rc = mr_team_inbox_overdue(&call->cx, team, &query, age_s, &items);
	if (!rc)
		put_due(call, in, &items, out);
	return rc;
}

const struct mr_op mr_op_team_acks_overdue = {
	.name = "acks_overdue",
	.command = "team acks overdue",
	.summary = "Of these the ones that are late, oldest first",
	.help = "Use it to see for what others have waited too long, oldest first.",
	.cluster = "messaging",
	.params = overdue_params,
	.result = dues_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = acks_overdue,
	.render = mr_render_inbox,
};

static const struct mr_param mark_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "message_id",
		.type = MR_TYPE_INT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "which one" },
	{ 0 },
};

static const struct mr_field read_fields[] = {
	{ .name = "message_id", .type = MR_TYPE_INT },
	{ .name = "read",
		.type = MR_TYPE_BOOL,
		.summary = "false: the agent is none of its recipients" },
	{ .name = "read_at",
		.type = MR_TYPE_TEXT,
		.flags = MR_NULLABLE,
		.summary = "when it was first read" },
	{ 0 },
};

static enum mr_code mark_read(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_receipt receipt;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_mark_read(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), mr_args_int(in, "message_id", 0), &receipt);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "message_id", receipt.message_id);
	mr_out_bool(out, "read", receipt.is_recipient);
	mr_shape_team_time(out, "read_at", receipt.read_ts);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_read = {
	.name = "mark_message_read",
	.command = "team read",
	.summary = "Mark a message as read",
	.help = "Call it when you have dealt with a message. The time of the first call "
		"is kept.",
	.cluster = "messaging",
	.params = mark_params,
	.result = read_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = mark_read,
};

static const struct mr_field ack_fields[] = {
	{ .name = "message_id", .type = MR_TYPE_INT },
	{ .name = "acknowledged",
		.type = MR_TYPE_BOOL,
		.summary = "false: the agent is none of its recipients" },
	{ .name = "acknowledged_at",
		.type = MR_TYPE_TEXT,
		.flags = MR_NULLABLE,
		.summary = "when it was first acknowledged" },
	{ .name = "read_at", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ 0 },
};

static enum mr_code acknowledge(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_receipt receipt;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_acknowledge(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), mr_args_int(in, "message_id", 0), &receipt);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "message_id", receipt.message_id);
	mr_out_bool(out, "acknowledged", receipt.is_recipient);
	mr_shape_team_time(out, "acknowledged_at", receipt.ack_ts);
	mr_shape_team_time(out, "read_at", receipt.read_ts);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_ack = {
	.name = "acknowledge_message",
	.command = "team ack",
	.summary = "Acknowledge a message, and mark it as read",
	.help = "Call it for a message with ack_required when you have understood it; its "
		"sender waits for that. It counts as read then, too.",
	.cluster = "messaging",
	.params = mark_params,
	.result = ack_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = acknowledge,
};
