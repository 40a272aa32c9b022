/* op/team/team_thread.c - operations: one message, one conversation, all conversations. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/ask.h"

static const struct mr_param show_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "message_id",
		.type = MR_TYPE_INT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "which one" },
	{ .name = "agent_name",
		.type = MR_TYPE_TEXT,
		.flags = MR_ACTOR,
		.summary = "as this agent sees it: its own kind, read_ts and ack_ts",
		.aliases = mr_team_alias_agent },
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static enum mr_code find_message(struct mr_call *call, const struct mr_args *in,
	struct mr_team *team, struct mr_team_item *out)
{
	return mr_team_ask_message(&call->cx, team, &call->rights, mr_args_text(in, "project_key"),
		mr_args_int(in, "message_id", 0), mr_args_text(in, "agent_name"), out);
}

static enum mr_code get_message(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	struct mr_team_item item;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = find_message(call, in, team, &item);
	if (rc)
		return rc;
	mr_team_show_body(call, &showing, &item);
	mr_shape_team_item(out, NULL, &item, true);
	return MR_OK;
}

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
	.run = get_message,
	.render = mr_render_message,
};

static const struct mr_param thread_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "thread_id",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "its id, or the id of the message that began it" },
	{ .name = "include_bodies",
		.type = MR_TYPE_BOOL,
		.summary = "with the texts",
		.fallback = "true" },
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.summary = "at most so many, up to 1000",
		.fallback = "100" },
	{ .name = "cursor",
		.type = MR_TYPE_INT,
		.summary = "go on after this message: the id of the last one seen" },
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static const struct mr_field thread_fields[] = {
	{ .name = "project", .type = MR_TYPE_TEXT },
	{ .name = "thread_id", .type = MR_TYPE_TEXT },
	{ .name = "messages", .type = MR_TYPE_LIST, .fields = mr_shape_team_message_fields },
	{ .name = "next_cursor",
		.type = MR_TYPE_INT,
		.flags = MR_NULLABLE,
		.summary = "where to go on; null: there is no more" },
	{ 0 },
};

static enum mr_code find_thread(struct mr_call *call, const struct mr_args *in,
	struct mr_team *team, struct mr_team_project *project, struct mr_team_items *out)
{
	int64_t limit = mr_args_int(in, "limit", 100);

	return mr_team_ask_thread(&call->cx, team, &call->rights, mr_args_text(in, "project_key"),
		mr_args_text(in, "thread_id"), mr_args_bool(in, "include_bodies", true),
		mr_args_int(in, "cursor", 0), limit < 1 ? 1 : limit, project, out);
}

static enum mr_code get_thread(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	struct mr_team_project project;
	struct mr_team_items items;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = find_thread(call, in, team, &project, &items);
	if (rc)
		return rc;
	mr_team_show_bodies(call, &showing, &items);
	mr_out_map(out, NULL);
	mr_out_text(out, "project", project.slug);
	mr_out_text(out, "thread_id", mr_args_text(in, "thread_id"));
	mr_shape_team_items(out, "messages", &items, true);
	if (items.next)
		mr_out_int(out, "next_cursor", items.next);
	else
		mr_out_null(out, "next_cursor");
	mr_out_end(out);
	return MR_OK;
}

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
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = get_thread,
	.render = mr_render_thread,
};

static const struct mr_param threads_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.summary = "at most so many, up to 1000",
		.fallback = "20" },
	{ .name = "cursor",
		.type = MR_TYPE_INT,
		.summary = "go on after this thread: the last_id of the last one seen" },
	{ 0 },
};

static const struct mr_field listed_fields[] = {
	{ .name = "thread_id", .type = MR_TYPE_TEXT },
	{ .name = "subject", .type = MR_TYPE_TEXT, .summary = "of its first message" },
	{ .name = "messages", .type = MR_TYPE_INT },
	{ .name = "first_ts", .type = MR_TYPE_TEXT },
	{ .name = "last_ts", .type = MR_TYPE_TEXT },
	{ .name = "last_from", .type = MR_TYPE_TEXT },
	{ .name = "last_id", .type = MR_TYPE_INT, .summary = "the id of its newest message" },
	{ 0 },
};

static const struct mr_field threads_fields[] = {
	{ .name = "result", .type = MR_TYPE_LIST, .fields = listed_fields },
	{ 0 },
};

static enum mr_code find_threads(struct mr_call *call, const struct mr_args *in,
	struct mr_team *team, struct mr_team_threads *out)
{
	int64_t limit = mr_args_int(in, "limit", 20);

	return mr_team_ask_threads(&call->cx, team, &call->rights, mr_args_text(in, "project_key"),
		mr_args_int(in, "cursor", 0), limit < 1 ? 1 : limit, out);
}

static enum mr_code list_threads(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_threads threads;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = find_threads(call, in, team, &threads);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_list(out, "result");
	for (size_t i = 0; i < threads.len; i++) {
		const struct mr_team_thread *thread = &threads.items[i];

		mr_out_map(out, NULL);
		mr_out_text(out, "thread_id", thread->thread_id);
		mr_out_text(out, "subject", thread->subject);
		mr_out_int(out, "messages", thread->messages);
		mr_shape_team_time(out, "first_ts", thread->first_ts);
		mr_shape_team_time(out, "last_ts", thread->last_ts);
		mr_out_text(out, "last_from", thread->last_from);
		mr_out_int(out, "last_id", thread->last_id);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_threads = {
	.name = "list_threads",
	.command = "team threads",
	.summary = "Conversations of a project, the most recently used first",
	.help = "Use it to find what is being talked about; the most recently used come "
		"first.",
	.cluster = "messaging",
	.params = threads_params,
	.result = threads_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = list_threads,
	.render = mr_render_threads,
};
