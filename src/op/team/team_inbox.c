/* op/team/team_inbox.c - operations: the messages an agent received and sent, marking them as
 * read, and acknowledging them. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/inbox.h"
#include "text/time.h"

struct box_request {
	struct mr_team_inbox_query query;
	struct mr_team_showing showing;
	/* Of overdue acknowledgements: in seconds if `by_seconds`. */
	int64_t ttl_minutes, ttl_seconds;
	bool by_seconds;
};

#define QUERY_PARAM(member, ...) MR_PARAM(struct box_request, query.member, __VA_ARGS__)
#define OWNER_PARAMS                                                                               \
	MR_TEAM_PROJECT_IN(struct box_request, query), MR_TEAM_AGENT_IN(struct box_request, query)
#define LIMIT_PARAM(n)                                                                             \
	QUERY_PARAM(limit, "limit", .summary = "at most so many, up to 1000", .flags = MR_KNOWN,   \
		.fallback = (n))
#define BODIES_PARAM                                                                               \
	QUERY_PARAM(include_bodies, "include_bodies", .summary = "with their texts",               \
		.flags = MR_KNOWN, .fallback = "false")
#define SINCE_PARAM                                                                                \
	QUERY_PARAM(since_ts, "since_ts", .flags = MR_RARE,                                        \
		.summary = "only what is later than this time")
#define THREAD_PARAM                                                                               \
	QUERY_PARAM(thread_id, "thread_id", .flags = MR_LENIENT | MR_KNOWN,                        \
		.summary = "only this conversation")
#define CURSOR_PARAM                                                                               \
	QUERY_PARAM(cursor, "cursor",                                                              \
		.summary = "go on after this message: the id of the last one seen")
#define SHOWING_PARAMS MR_TEAM_SHOWING(struct box_request, showing)

static const struct mr_param inbox_params[] = {
	OWNER_PARAMS,
	LIMIT_PARAM("20"),
	QUERY_PARAM(urgent_only, "urgent_only", .flags = MR_KNOWN,
		.summary = "only what is high or urgent", .fallback = "false"),
	QUERY_PARAM(unread_only, "unread_only", .flags = MR_KNOWN,
		.summary = "only what was not read yet", .fallback = "false"),
	BODIES_PARAM,
	SINCE_PARAM,
	THREAD_PARAM,
	CURSOR_PARAM,
	SHOWING_PARAMS,
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_FIELD_ROWS(struct mr_team_items, items, len, struct mr_team_item,
		mr_shape_team_listed_fields, "result"),
	MR_TEAM_NEXT(struct mr_team_items, next),
	{ 0 },
};

/* An explicit limit of 0 is clamped to the least; internally 0 means the default. */
static void set_limit(struct mr_team_inbox_query *query)
{
	query->limit = query->limit < 1 ? -1 : query->limit;
}

static enum mr_code fetch_inbox(struct mr_call *call, struct mr_team *team,
	struct box_request *asked, struct mr_team_items *out)
{
	enum mr_code rc;

	set_limit(&asked->query);
	rc = mr_team_inbox_fetch(&call->cx, team, &asked->query, out);
	if (!rc)
		mr_team_show_bodies(call, &asked->showing, out);
	return rc;
}
MR_TEAM_BIND_CALL(inbox, fetch_inbox, struct box_request, struct mr_team_items);

const struct mr_op mr_op_team_inbox = {
	.name = "fetch_inbox",
	.command = "team inbox",
	.summary = "The newest messages an agent has received",
	.help = "Call it after each piece of work. Newest first; mark_message_read and "
		"acknowledge_message say that you have dealt with one.",
	.cluster = "messaging",
	.params = inbox_params,
	.result = list_fields,
	.traits = MR_TOLD | MR_CORE | MR_STANDARD | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &inbox,
	.render = mr_render_inbox,
};

static const struct mr_param outbox_params[] = {
	OWNER_PARAMS,
	LIMIT_PARAM("20"),
	BODIES_PARAM,
	SINCE_PARAM,
	THREAD_PARAM,
	CURSOR_PARAM,
	SHOWING_PARAMS,
	{ 0 },
};

static enum mr_code list_outbox(struct mr_call *call, struct mr_team *team,
	struct box_request *asked, struct mr_team_items *out)
{
	enum mr_code rc;

	set_limit(&asked->query);
	rc = mr_team_outbox_fetch(&call->cx, team, &asked->query, out);
	if (!rc)
		mr_team_show_bodies(call, &asked->showing, out);
	return rc;
}
MR_TEAM_BIND_CALL(outbox, list_outbox, struct box_request, struct mr_team_items);

const struct mr_op mr_op_team_outbox = {
	.name = "list_outbox",
	.command = "team outbox",
	.summary = "The newest messages an agent has sent",
	.help = "Use it to see what you have told others already, newest first.",
	.cluster = "messaging",
	.params = outbox_params,
	.result = list_fields,
	.traits = MR_TOLD | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &outbox,
	.render = mr_render_outbox,
};

/* Acknowledgements that are due. */
static const struct mr_param pending_params[] = {
	OWNER_PARAMS,
	LIMIT_PARAM("20"),
	CURSOR_PARAM,
	BODIES_PARAM,
	SHOWING_PARAMS,
	{ 0 },
};

struct due {
	struct mr_team_item item;
	int64_t age_s;
};
struct dues {
	struct due *items;
	size_t len;
	int64_t next;
};

static const struct mr_field due_fields[] = {
	MR_MEMBERS(struct due, item, struct mr_team_item, mr_shape_team_listed_fields),
	MR_FIELD(struct due, age_s, "age_seconds"),
	{ 0 },
};

static const struct mr_field dues_fields[] = {
	MR_FIELD_ROWS(struct dues, items, len, struct due, due_fields, "result"),
	MR_TEAM_NEXT(struct dues, next),
	{ 0 },
};

/* How old each of them is now. */
static void tell_ages(struct mr_call *call, const struct mr_team_showing *showing,
	struct mr_team_items *items, struct dues *out)
{
	int64_t now = mr_clock_wall_us(call->cx.clock);

	mr_team_show_bodies(call, showing, items);
	out->len = items->len;
	out->next = items->next;
	out->items = mr_arena_array(call->cx.arena, out->len, sizeof(*out->items));
	for (size_t i = 0; i < out->len; i++) {
		out->items[i].item = items->items[i];
		out->items[i].age_s = (now - items->items[i].message.created_ts) / MR_TIME_S;
	}
}

static enum mr_code list_pending(struct mr_call *call, struct mr_team *team,
	struct box_request *asked, struct dues *out)
{
	struct mr_team_items items;
	enum mr_code rc;

	set_limit(&asked->query);
	asked->query.unacked_only = true;
	rc = mr_team_inbox_fetch(&call->cx, team, &asked->query, &items);
	if (!rc)
		tell_ages(call, &asked->showing, &items, out);
	return rc;
}
MR_TEAM_BIND_CALL(pending, list_pending, struct box_request, struct dues);

const struct mr_op mr_op_team_acks_pending = {
	.name = "acks_pending",
	.command = "team acks pending",
	.summary = "Messages whose acknowledgement an agent owes, newest first",
	.help = "Use it to see what others wait for, newest first.",
	.cluster = "messaging",
	.params = pending_params,
	.result = dues_fields,
	.traits = MR_TOLD | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &pending,
	.render = mr_render_inbox,
};

static const struct mr_param overdue_params[] = {
	OWNER_PARAMS,
	MR_PARAM(struct box_request, ttl_minutes, "ttl_minutes", .max = INT32_MAX,
		.summary = "minimum age", .fallback = "60"),
	MR_PARAM(struct box_request, ttl_seconds, "ttl_seconds", .max = INT32_MAX,
		.summary = "the same in seconds", .given = MR_FLAG(struct box_request, by_seconds)),
	LIMIT_PARAM("50"),
	CURSOR_PARAM,
	BODIES_PARAM,
	SHOWING_PARAMS,
	{ 0 },
};

static enum mr_code list_overdue(struct mr_call *call, struct mr_team *team,
	struct box_request *asked, struct dues *out)
{
	int64_t age_s = asked->by_seconds ? asked->ttl_seconds : asked->ttl_minutes * INT64_C(60);
	struct mr_team_items items;
	enum mr_code rc;

	set_limit(&asked->query);
	rc = mr_team_inbox_overdue(&call->cx, team, &asked->query, age_s, &items);
	if (!rc)
		tell_ages(call, &asked->showing, &items, out);
	return rc;
}
MR_TEAM_BIND_CALL(overdue, list_overdue, struct box_request, struct dues);

const struct mr_op mr_op_team_acks_overdue = {
	.name = "acks_overdue",
	.command = "team acks overdue",
	.summary = "Of these the ones that are late, oldest first",
	.help = "Use it to see for what others have waited too long, oldest first.",
	.cluster = "messaging",
	.params = overdue_params,
	.result = dues_fields,
	.traits = MR_TOLD | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &overdue,
	.render = mr_render_inbox,
};

struct mark_request {
	const char *project_key, *agent_name;
	int64_t message_id;
};

static const struct mr_param mark_params[] = {
	MR_TEAM_PROJECT(struct mark_request),
	MR_TEAM_AGENT(struct mark_request),
	MR_PARAM(struct mark_request, message_id, "message_id",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_KNOWN, .summary = "the message's id"),
	{ 0 },
};

static const struct mr_field read_fields[] = {
	MR_FIELD(struct mr_team_receipt, message_id, "message_id"),
	MR_FIELD(struct mr_team_receipt, is_recipient, "read",
		.summary = "false: the agent is none of its recipients"),
	MR_FIELD_TIME(struct mr_team_receipt, read_ts, "read_at", .flags = MR_NULLABLE,
		.summary = "when it was first read"),
	{ 0 },
};

static enum mr_code mark_read(struct mr_ctx *cx, struct mr_team *team,
	const struct mark_request *asked, struct mr_team_receipt *out)
{
	return mr_team_mark_read(cx, team, asked->project_key, asked->agent_name, asked->message_id,
		out);
}
MR_TEAM_BIND(reading, mark_read, struct mark_request, struct mr_team_receipt);

const struct mr_op mr_op_team_read = {
	.name = "mark_message_read",
	.command = "team read",
	.summary = "Mark a message as read",
	.help = "Call it when you have dealt with it.",
	.cluster = "messaging",
	.params = mark_params,
	.result = read_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_STANDARD | MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &reading,
};

static const struct mr_field ack_fields[] = {
	MR_FIELD(struct mr_team_receipt, message_id, "message_id"),
	MR_FIELD(struct mr_team_receipt, is_recipient, "acknowledged",
		.summary = "false: the agent is none of its recipients"),
	MR_FIELD_TIME(struct mr_team_receipt, ack_ts, "acknowledged_at", .flags = MR_NULLABLE,
		.summary = "when it was first acknowledged"),
	MR_FIELD_TIME(struct mr_team_receipt, read_ts, "read_at", .flags = MR_NULLABLE),
	{ 0 },
};

static enum mr_code acknowledge(struct mr_ctx *cx, struct mr_team *team,
	const struct mark_request *asked, struct mr_team_receipt *out)
{
	return mr_team_acknowledge(cx, team, asked->project_key, asked->agent_name,
		asked->message_id, out);
}
MR_TEAM_BIND(acknowledging, acknowledge, struct mark_request, struct mr_team_receipt);

const struct mr_op mr_op_team_ack = {
	.name = "acknowledge_message",
	.command = "team ack",
	.summary = "Acknowledge a message, and mark it as read",
	.help = "For messages with ack_required: their senders wait for it.",
	.cluster = "messaging",
	.params = mark_params,
	.result = ack_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_STANDARD | MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &acknowledging,
};
