/* op/team/team_latest.c - operation: the newest messages of everybody, for people who watch. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/ask.h"

/* In the order of enum mr_team_latest_kind. */
static const char *const kinds[] = { "all", "overseer", "unread", "urgent", "waiting",
	"attachments", "sent", NULL };

struct asked {
	const char *project_key, *agent_name, *only;
	int64_t limit, cursor;
};

static const struct mr_param params[] = {
	MR_PARAM(struct asked, project_key, "project_key", .flags = MR_POSITIONAL,
		.summary = "its path, its slug, or the last part of its path; left out, all "
			   "projects",
		.aliases = mr_team_alias_project),
	MR_PARAM(struct asked, agent_name, "agent_name",
		.summary = "only what this agent of the project received",
		.aliases = mr_team_alias_agent),
	MR_PARAM(struct asked, only, "only", .choices = kinds,
		.summary = "overseer: what was sent to the person who watches, unread: what "
			   "that person has not read, waiting: what somebody has to acknowledge, "
			   "sent: what the agent sent",
		.fallback = "all"),
	MR_PARAM(struct asked, limit, "limit", .summary = "at most so many, up to 1000",
		.fallback = "20"),
	MR_PARAM(struct asked, cursor, "cursor",
		.summary = "go on after this message: the id of the last one seen"),
	{ 0 },
};

static const struct mr_field latest_fields[] = {
	MR_MEMBERS(struct mr_team_latest, item, struct mr_team_item, mr_shape_team_listed_fields),
	MR_FIELD(struct mr_team_latest, project.slug, "project",
		.summary = "the slug of its project"),
	MR_FIELD(struct mr_team_latest, project.short_name, "project_name",
		.summary = "the shortest name that finds it"),
	MR_FIELD(struct mr_team_latest, item.excerpt, "excerpt", .summary = "how it begins"),
	MR_FIELD(struct mr_team_latest, waiting_for, "waiting_for", .flags = MR_OPTIONAL,
		.summary = "who owes an acknowledgement"),
	MR_FIELD(struct mr_team_latest, is_for_overseer, "is_for_overseer", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_latest, is_unread, "is_unread", .flags = MR_OPTIONAL,
		.summary = "it came to the overseer, or the agent, who has not read it"),
	{ 0 },
};

static const struct mr_field fields[] = {
	MR_FIELD_ROWS(struct mr_team_latests, items, len, struct mr_team_latest, latest_fields,
		"result"),
	MR_TEAM_NEXT(struct mr_team_latests, next),
	{ 0 },
};

static enum mr_code list_latest(struct mr_call *call, struct mr_team *team,
	const struct asked *asked, struct mr_team_latests *out)
{
	struct mr_team_latest_query query = { .before = asked->cursor, .limit = asked->limit };

	while (asked->only && !mr_str_eq(kinds[query.kind], asked->only))
		query.kind++;
	return mr_team_ask_latest(&call->cx, team, &call->rights, asked->project_key,
		asked->agent_name, &query, out);
}
MR_TEAM_BIND_CALL(latest, list_latest, struct asked, struct mr_team_latests);

const struct mr_op mr_op_team_latest = {
	.name = "list_messages",
	.command = "team messages",
	.summary = "The newest messages of everybody, of one project or of all",
	.help = "For the person who watches a team; an agent reads its own with team inbox.",
	.params = params,
	.result = fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &latest,
	.render = mr_render_inbox,
};
