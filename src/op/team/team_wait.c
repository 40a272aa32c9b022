/* op/team/team_wait.c - operation: wait until a message arrives, without polling. */
#include "op/team/team_ops.h"
#include "team/inbox_wait.h"

enum { TIMEOUT_MAX_S = 300 };

static const char *const alias_since[] = { "cursor", "since_ts", NULL };
static const char *const alias_timeout[] = { "timeout", NULL };

struct wait_request {
	const char *project_key, *agent_name, *since;
	int64_t timeout_s, limit;
	bool include_bodies;
	struct mr_team_showing showing;
};

static const struct mr_param params[] = {
	MR_TEAM_PROJECT(struct wait_request),
	MR_TEAM_AGENT(struct wait_request),
	MR_PARAM(struct wait_request, timeout_s, "timeout_seconds", .min = 0, .max = TIMEOUT_MAX_S,
		.flags = MR_KNOWN, .summary = "how long to wait at most", .aliases = alias_timeout,
		.fallback = "30"),
	MR_PARAM(struct wait_request, since, "since", .flags = MR_LENIENT,
		.summary =
			"the cursor of the last answer, a message's id, or a time: what is later "
			"counts",
		.aliases = alias_since, .fallback = "what comes from now on"),
	MR_PARAM(struct wait_request, limit, "limit", .flags = MR_RARE, .min = 1,
		.max = MR_TEAM_LIST_MAX, .summary = "at most so many; the cursor leads to the rest",
		.fallback = "20"),
	MR_PARAM(struct wait_request, include_bodies, "include_bodies", .flags = MR_KNOWN,
		.summary = "with their texts", .fallback = "false"),
	MR_TEAM_SHOWING(struct wait_request, showing),
	{ 0 },
};

struct arrived {
	struct mr_team_items messages;
	bool timed_out;
	int64_t cursor;
};

static const struct mr_field fields[] = {
	MR_FIELD_LIST(struct arrived, messages, struct mr_team_item, mr_shape_team_listed_fields,
		"messages", .summary = "oldest first"),
	MR_FIELD(struct arrived, timed_out, "timed_out", .summary = "nothing came in time"),
	MR_FIELD(struct arrived, cursor, "cursor", .summary = "for the next call's since"),
	{ 0 },
};

static enum mr_code wait_for_mail(struct mr_call *call, struct mr_team *team,
	const struct wait_request *asked, struct arrived *out)
{
	struct mr_team_inbox_place place;
	enum mr_code rc = mr_team_inbox_place(&call->cx, team, asked->project_key,
		asked->agent_name, asked->since, &place);

	if (!rc)
		rc = mr_team_inbox_wait(&call->cx, team, &place, asked->include_bodies,
			asked->limit, asked->timeout_s * 1000, &out->messages);
	if (rc)
		return rc;
	mr_team_show_bodies(call, &asked->showing, &out->messages);
	out->timed_out = out->messages.len == 0;
	out->cursor = place.after;
	return MR_OK;
}
MR_TEAM_BIND_CALL(waiting, wait_for_mail, struct wait_request, struct arrived);

const struct mr_op mr_op_team_wait = {
	.name = "wait_for_mail",
	.command = "team wait",
	.summary = "Wait until mail comes",
	.help = "It returns as soon as something arrives; do not poll fetch_inbox.",
	.cluster = "messaging",
	.params = params,
	.result = fields,
	.traits = MR_CORE | MR_STANDARD | MR_QUOTES | MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &waiting,
};
