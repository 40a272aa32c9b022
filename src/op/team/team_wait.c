/* op/team/team_wait.c - operation: wait until a message arrives, without polling. */
#include "op/team/team_ops.h"
#include "team/inbox_wait.h"

enum { TIMEOUT_DEFAULT_S = 30, TIMEOUT_MAX_S = 300 };

static const char *const alias_since[] = { "cursor", "since_ts", NULL };
static const char *const alias_timeout[] = { "timeout", NULL };

static const struct mr_param params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "timeout_seconds",
		.type = MR_TYPE_INT,
		.min = 0,
		.max = TIMEOUT_MAX_S,
		.summary = "how long to wait at most",
		.aliases = alias_timeout,
		.fallback = "30" },
	{ .name = "since",
		.type = MR_TYPE_TEXT,
		.flags = MR_LENIENT,
		.summary = "what is later than this counts: the cursor of the last answer, a "
			   "message's "
			   "id, or a time",
		.aliases = alias_since,
		.fallback = "what comes from now on" },
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = MR_TEAM_LIST_MAX,
		.summary = "at most so many; the cursor leads to the rest",
		.fallback = "20" },
	{ .name = "include_bodies",
		.type = MR_TYPE_BOOL,
		.summary = "with their texts",
		.fallback = "false" },
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static const struct mr_field fields[] = {
	{ .name = "messages",
		.type = MR_TYPE_LIST,
		.fields = mr_shape_team_message_fields,
		.summary = "oldest first" },
	{ .name = "timed_out", .type = MR_TYPE_BOOL, .summary = "nothing came in time" },
	{ .name = "cursor", .type = MR_TYPE_INT, .summary = "for the next call's since" },
	{ 0 },
};

static enum mr_code wait_for_mail(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	int64_t timeout_s = mr_args_int(in, "timeout_seconds", TIMEOUT_DEFAULT_S);
	struct mr_team_inbox_place place;
	struct mr_team_items items;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_inbox_place(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), mr_args_text(in, "since"), &place);
	if (!rc)
		rc = mr_team_inbox_wait(&call->cx, team, &place,
			mr_args_bool(in, "include_bodies", false),
			mr_args_int(in, "limit", MR_TEAM_LIST_DEFAULT), timeout_s * 1000, &items);
	if (rc)
		return rc;
	mr_team_show_bodies(call, &showing, &items);
	mr_out_map(out, NULL);
	mr_shape_team_items(out, "messages", &items, false);
	mr_out_bool(out, "timed_out", items.len == 0);
	mr_out_int(out, "cursor", place.after);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_wait = {
	.name = "wait_for_mail",
	.command = "team wait",
	.summary = "Wait until mail comes",
	.help = "Use it instead of calling fetch_inbox again and again: it returns as soon as "
		"something arrives. Give the cursor of one answer as since of the next call, and "
		"nothing is missed.",
	.cluster = "messaging",
	.params = params,
	.result = fields,
	.traits = MR_CORE | MR_QUOTES | MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = wait_for_mail,
};
