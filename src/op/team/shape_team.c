/* op/team/shape_team.c */
#include "op/team/shape_team.h"

#include "text/time.h"

const char *const mr_shape_team_importances[] = { "low", "normal", "high", "urgent", NULL };
const char *const mr_shape_team_kinds[] = { "to", "cc", "bcc", NULL };
const char *const mr_shape_team_attachments_policies[] = { "auto", "inline", "attach", "deny",
	NULL };
const char *const mr_shape_team_contact_policies[] = { "open", "auto", "contacts_only", "block_all",
	NULL };
const char *const mr_shape_team_link_statuses[] = { "pending", "approved", "blocked", NULL };

void mr_shape_team_time(struct mr_out *out, const char *key, int64_t time_us)
{
	char text[MR_TIME_BYTES];

	if (time_us == 0)
		mr_out_null(out, key);
	else
		mr_out_text(out, key, mr_time_write(text, time_us, MR_TIME_MICROS));
}

const struct mr_field mr_shape_team_project_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "slug", .type = MR_TYPE_TEXT, .summary = "its name in paths and for people" },
	{ .name = "human_key", .type = MR_TYPE_TEXT, .summary = "as it was first given" },
	{ .name = "created_at", .type = MR_TYPE_TEXT },
	{ .name = "identity_mode",
		.type = MR_TYPE_TEXT,
		.summary = "what it is named after: dir, or a git mode" },
	{ 0 },
};

void mr_shape_team_project_members(struct mr_out *out, const struct mr_team_project *project)
{
	mr_out_int(out, "id", project->id);
	mr_out_text(out, "slug", project->slug);
	mr_out_text(out, "human_key", project->human_key);
	mr_shape_team_time(out, "created_at", project->created_at);
	mr_out_text(out, "identity_mode", project->identity_mode);
}

void mr_shape_team_project(struct mr_out *out, const char *key,
	const struct mr_team_project *project)
{
	mr_out_map(out, key);
	mr_shape_team_project_members(out, project);
	mr_out_end(out);
}

const struct mr_field mr_shape_team_agent_fields[] = {
	MR_SHAPE_TEAM_AGENT_FIELDS,
	{ .name = "agent_token",
		.type = MR_TYPE_TEXT,
		.flags = MR_OPTIONAL,
		.summary =
			"with AGENT_AUTH, shown this once: keep it, and send it whenever you act" },
	{ 0 },
};

void mr_shape_team_agent_members(struct mr_out *out, const struct mr_team_agent *agent)
{
	mr_out_int(out, "id", agent->id);
	mr_out_text(out, "name", agent->name);
	mr_out_text(out, "program", agent->program);
	mr_out_text(out, "model", agent->model);
	mr_out_text(out, "task_description", agent->task_description);
	mr_shape_team_time(out, "inception_ts", agent->inception_ts);
	mr_shape_team_time(out, "last_active_ts", agent->last_active_ts);
	mr_out_int(out, "project_id", agent->project_id);
	mr_out_text(out, "attachments_policy",
		mr_team_attachments_policy_name(agent->attachments_policy));
	mr_out_text(out, "contact_policy", mr_team_contact_policy_name(agent->contact_policy));
	mr_out_bool(out, "is_active", agent->is_active);
	mr_shape_team_time(out, "deleted_ts", agent->deleted_ts);
	if (agent->token)
		mr_out_text(out, "agent_token", agent->token);
}

void mr_shape_team_agent(struct mr_out *out, const char *key, const struct mr_team_agent *agent)
{
	mr_out_map(out, key);
	mr_shape_team_agent_members(out, agent);
	mr_out_end(out);
}
