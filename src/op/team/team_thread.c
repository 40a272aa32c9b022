/* op/team/team_thread.c - operations: one message, one conversation, all conversations. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/ask.h"

#define RECEIPTS_PARAM(request_type)                                                               \
	MR_PARAM(request_type, include_recipients, "include_recipients", .flags = MR_RARE,         \
		.summary = "also when each recipient read and acknowledged it",                    \
		.fallback = "false")

struct show_request {
	const char *project_key, *agent_name;
	int64_t message_id;
	bool include_recipients;
	struct mr_team_showing showing;
};

static const struct mr_param show_params[] = {
	MR_TEAM_PROJECT(struct show_request),
	MR_PARAM(struct show_request, message_id, "message_id",
		.flags = MR_REQUIRED | MR_POSITIONAL, .summary = "the message's id"),
	MR_PARAM(struct show_request, agent_name, "agent_name", .flags = MR_ACTOR,
		.summary = "as this agent sees it: its own kind, read_ts and ack_ts",
		.aliases = mr_team_alias_agent),
	RECEIPTS_PARAM(struct show_request),
	MR_TEAM_SHOWING(struct show_request, showing),
	{ 0 },
};

static enum mr_code get_message(struct mr_call *call, struct mr_team *team,
	const struct show_request *asked, struct mr_team_item *out)
{
	enum mr_code rc = mr_team_ask_message(&call->cx, team, &call->rights, asked->project_key,
		asked->message_id, asked->agent_name, out);

	if (!rc)
		mr_team_show_body(call, &asked->showing, out);
	out->with_receipts = asked->include_recipients;
	return rc;
}
MR_TEAM_BIND_CALL(show, get_message, struct show_request, struct mr_team_item);

const struct mr_op mr_op_team_show = {
	.name = "get_message",
	.command = "team show",
	.summary = "One message with its text",
	.help = "Use it when a listing without bodies has shown something you need to "
		"read.",
	.cluster = "messaging",
	.params = show_params,
	.result = mr_shape_team_message_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &show,
	.render = mr_render_message,
};

struct thread_request {
	const char *project_key, *thread_id, *order;
	bool include_bodies, include_recipients;
	int64_t limit, cursor;
	struct mr_team_showing showing;
};

static const char *const orders[] = { "oldest", "newest", NULL };

static const struct mr_param thread_params[] = {
	MR_TEAM_PROJECT(struct thread_request),
	MR_PARAM(struct thread_request, thread_id, "thread_id",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "its id, or the id of the message that began it"),
	MR_PARAM(struct thread_request, include_bodies, "include_bodies",
		.summary = "with the texts", .fallback = "true"),
	MR_PARAM(struct thread_request, limit, "limit", .summary = "at most so many, up to 1000",
		.fallback = "100"),
	MR_PARAM(struct thread_request, cursor, "cursor",
		.summary = "go on after this message: the id of the last one seen"),
	MR_PARAM(struct thread_request, order, "order", .flags = MR_RARE, .choices = orders,
		.summary = "what comes first", .fallback = "oldest"),
	RECEIPTS_PARAM(struct thread_request),
	MR_TEAM_SHOWING(struct thread_request, showing),
	{ 0 },
};

struct shown_thread {
	struct mr_team_project project;
	const char *thread_id;
	struct mr_team_items items;
};

static const struct mr_field thread_fields[] = {
	MR_FIELD(struct shown_thread, project.slug, "project"),
	MR_FIELD(struct shown_thread, thread_id, "thread_id"),
	MR_FIELD_LIST(struct shown_thread, items, struct mr_team_item, mr_shape_team_listed_fields,
		"messages"),
	MR_FIELD(struct shown_thread, items.next, "next_cursor", .flags = MR_NULLABLE,
		.summary = "where to go on; null: there is no more"),
	{ 0 },
};

static enum mr_code get_thread(struct mr_call *call, struct mr_team *team,
	const struct thread_request *asked, struct shown_thread *out)
{
	int64_t limit = asked->limit < 1 ? 1 : asked->limit;
	enum mr_code rc = (mr_str_eq(asked->order, "newest") ? mr_team_ask_thread_newest
							     : mr_team_ask_thread)(&call->cx, team,
		&call->rights, asked->project_key, asked->thread_id, asked->include_bodies,
		asked->cursor, limit, &out->project, &out->items);

	out->thread_id = asked->thread_id;
	if (!rc)
		mr_team_show_bodies(call, &asked->showing, &out->items);
	for (size_t i = 0; !rc && i < out->items.len; i++)
		out->items.items[i].with_receipts = asked->include_recipients;
	return rc;
}
MR_TEAM_BIND_CALL(thread, get_thread, struct thread_request, struct shown_thread);

const struct mr_op mr_op_team_thread = {
	.name = "get_thread",
	.command = "team thread",
	.summary = "A conversation from its beginning",
	.help = "Use it to read a conversation you come late to. It shows messages stored "
		"in the project, and those of other projects that are openly addressed to "
		"one of its agents.",
	.cluster = "messaging",
	.params = thread_params,
	.result = thread_fields,
	.traits = MR_TOLD | MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &thread,
	.render = mr_render_thread,
};

struct threads_request {
	const char *project_key;
	int64_t limit, cursor;
};

static const struct mr_param threads_params[] = {
	MR_TEAM_PROJECT(struct threads_request),
	MR_PARAM(struct threads_request, limit, "limit", .summary = "at most so many, up to 1000",
		.fallback = "20"),
	MR_PARAM(struct threads_request, cursor, "cursor",
		.summary = "go on after this thread: the last_id of the last one seen"),
	{ 0 },
};

static const struct mr_field listed_fields[] = {
	MR_FIELD(struct mr_team_thread, thread_id, "thread_id"),
	MR_FIELD(struct mr_team_thread, subject, "subject", .summary = "of its first message"),
	MR_FIELD(struct mr_team_thread, messages, "messages"),
	MR_FIELD_TIME(struct mr_team_thread, first_ts, "first_ts"),
	MR_FIELD_TIME(struct mr_team_thread, last_ts, "last_ts"),
	MR_FIELD(struct mr_team_thread, last_from, "last_from"),
	MR_FIELD(struct mr_team_thread, last_id, "last_id",
		.summary = "the id of its newest message"),
	{ 0 },
};

struct listed_threads {
	struct mr_team_threads found;
	int64_t next;
};

static const struct mr_field threads_fields[] = {
	MR_FIELD_LIST(struct listed_threads, found, struct mr_team_thread, listed_fields, "result"),
	MR_TEAM_NEXT(struct listed_threads, next),
	{ 0 },
};

static enum mr_code list_threads(struct mr_call *call, struct mr_team *team,
	const struct threads_request *asked, struct listed_threads *out)
{
	size_t most = asked->limit < 1 ? 1 : (size_t)asked->limit;
	/* One more tells whether there is more. */
	enum mr_code rc = mr_team_ask_threads(&call->cx, team, &call->rights, asked->project_key,
		asked->cursor, (int64_t)most + 1, &out->found);

	if (!rc && out->found.len > most) {
		out->found.len = most;
		out->next = out->found.items[most - 1].last_id;
	}
	return rc;
}
MR_TEAM_BIND_CALL(threads, list_threads, struct threads_request, struct listed_threads);

const struct mr_op mr_op_team_threads = {
	.name = "list_threads",
	.command = "team threads",
	.summary = "Conversations of a project, the most recently used first",
	.help = "Use it to find what is being talked about; the most recently used come "
		"first.",
	.cluster = "messaging",
	.params = threads_params,
	.result = threads_fields,
	.traits = MR_TOLD | MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &threads,
	.render = mr_render_threads,
};
