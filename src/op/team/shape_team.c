/* op/team/shape_team.c - projects and agents, as the team contract shows them. */
#include "op/team/shape_team.h"

#include "op/bind.h"
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
	MR_FIELD(struct mr_team_project, id, "id"),
	MR_FIELD(struct mr_team_project, slug, "slug",
		.summary = "its name in paths and for people"),
	MR_FIELD(struct mr_team_project, human_key, "human_key",
		.summary = "as it was first given"),
	MR_FIELD_TIME(struct mr_team_project, created_at, "created_at"),
	MR_FIELD(struct mr_team_project, identity_mode, "identity_mode",
		.summary = "what it is named after: dir, or a git mode"),
	MR_FIELD(struct mr_team_project, why, "why", .flags = MR_OPTIONAL,
		.summary = "how it was chosen"),
	MR_FIELD(struct mr_team_project, short_name, "short_name", .flags = MR_OPTIONAL,
		.summary = "the shortest name that finds it"),
	{ 0 },
};

void mr_shape_team_project_members(struct mr_out *out, const struct mr_team_project *project)
{
	mr_bind_members(out, mr_shape_team_project_fields, project);
}

const struct mr_field mr_shape_team_profile_fields[] = {
	MR_FIELD(struct mr_team_agent, id, "id"),
	MR_FIELD(struct mr_team_agent, name, "name"),
	MR_FIELD(struct mr_team_agent, program, "program"),
	MR_FIELD(struct mr_team_agent, model, "model"),
	MR_FIELD(struct mr_team_agent, task_description, "task_description"),
	MR_FIELD_TIME(struct mr_team_agent, inception_ts, "inception_ts"),
	MR_FIELD_TIME(struct mr_team_agent, last_active_ts, "last_active_ts"),
	MR_FIELD(struct mr_team_agent, project_id, "project_id"),
	MR_FIELD(struct mr_team_agent, attachments_policy, "attachments_policy",
		.choices = mr_shape_team_attachments_policies),
	MR_FIELD(struct mr_team_agent, contact_policy, "contact_policy",
		.choices = mr_shape_team_contact_policies),
	MR_FIELD(struct mr_team_agent, is_active, "is_active"),
	MR_FIELD_TIME(struct mr_team_agent, deleted_ts, "deleted_ts", .flags = MR_NULLABLE),
	{ 0 },
};

const struct mr_field mr_shape_team_agent_fields[] = {
	MR_MEMBERS_SAME(struct mr_team_agent, mr_shape_team_profile_fields),
	MR_FIELD(struct mr_team_agent, token, "agent_token", .flags = MR_OPTIONAL,
		.summary =
			"with AGENT_AUTH, shown this once: keep it, and send it whenever you act"),
	MR_FIELD(struct mr_team_agent, asked_name, "asked_name", .flags = MR_OPTIONAL,
		.summary = "the name that was asked for and not taken"),
	MR_FIELD(struct mr_team_agent, name_note, "name_note", .flags = MR_OPTIONAL,
		.summary = "why it was not taken"),
	{ 0 },
};

void mr_shape_team_agent_members(struct mr_out *out, const struct mr_team_agent *agent)
{
	mr_bind_members(out, mr_shape_team_agent_fields, agent);
}

void mr_shape_team_agent(struct mr_out *out, const char *key, const struct mr_team_agent *agent)
{
	mr_bind_object(out, key, mr_shape_team_agent_fields, agent);
}
