/* op/team/team_attention.c - operation: what needs a person in all projects, and who works now. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/attention.h"

static const struct mr_field letter_fields[] = {
	MR_FIELD(struct mr_team_letter, project, "project", .summary = "its slug"),
	MR_MEMBERS(struct mr_team_letter, item, struct mr_team_item, mr_shape_team_listed_fields),
	{ 0 },
};

static const struct mr_field owed_fields[] = {
	MR_FIELD(struct mr_team_owed, project, "project"),
	MR_FIELD(struct mr_team_owed, agent, "agent", .summary = "it owes the acknowledgement"),
	MR_FIELD(struct mr_team_owed, message_id, "message_id"),
	MR_FIELD(struct mr_team_owed, subject, "subject"),
	MR_FIELD(struct mr_team_owed, from, "from", .summary = "who waits for it"),
	MR_FIELD_TIME(struct mr_team_owed, created_ts, "created_ts"),
	{ 0 },
};

static const struct mr_field left_fields[] = {
	MR_FIELD(struct mr_team_left_lease, project, "project"),
	MR_MEMBERS(struct mr_team_left_lease, lease, struct mr_team_reservation,
		mr_shape_team_holder_fields),
	MR_FIELD_TIME(struct mr_team_left_lease, lease.created_ts, "created_ts"),
	MR_FIELD_TIME(struct mr_team_left_lease, last_active_ts, "last_active_ts",
		.summary = "when its holder was active last"),
	{ 0 },
};

static const struct mr_field working_fields[] = {
	MR_FIELD(struct mr_team_working, project, "project"),
	MR_FIELD(struct mr_team_working, agent.name, "name"),
	MR_FIELD(struct mr_team_working, agent.program, "program"),
	MR_FIELD(struct mr_team_working, agent.model, "model"),
	MR_FIELD(struct mr_team_working, agent.task_description, "task_description"),
	MR_FIELD_TIME(struct mr_team_working, agent.last_active_ts, "last_active_ts"),
	MR_FIELD(struct mr_team_working, message_id, "message_id", .flags = MR_OPTIONAL,
		.summary = "what it wrote last"),
	MR_FIELD(struct mr_team_working, subject, "subject", .flags = MR_OPTIONAL),
	MR_FIELD_TIME(struct mr_team_working, sent_ts, "sent_ts", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_working, paths, "paths", .flags = MR_OPTIONAL,
		.summary = "some of what it holds leases on, newest first"),
	MR_FIELD(struct mr_team_working, leases, "leases", .summary = "how many it holds"),
	{ 0 },
};

static const struct mr_field fields[] = {
	MR_FIELD(struct mr_team_attention, projects, "projects", .summary = "how many there are"),
	MR_FIELD_LIST(struct mr_team_attention, letters, struct mr_team_letter, letter_fields,
		"letters", .summary = "unread messages to the overseer, newest first"),
	MR_FIELD_LIST(struct mr_team_attention, requests, struct mr_team_link,
		mr_shape_team_link_fields, "requests",
		.summary = "contact requests that wait for an answer, newest first"),
	MR_FIELD_LIST(struct mr_team_attention, owed, struct mr_team_owed, owed_fields, "owed",
		.summary = "the oldest overdue acknowledgement of each agent, oldest first"),
	MR_FIELD_LIST(struct mr_team_attention, left, struct mr_team_left_lease, left_fields,
		"left",
		.summary = "leases whose holder has not been active for long, oldest first"),
	MR_FIELD_LIST(struct mr_team_attention, working, struct mr_team_working, working_fields,
		"working", .summary = "the agents that were active last"),
	{ 0 },
};

static enum mr_code look(struct mr_call *call, struct mr_team *team, const struct mr_nothing *asked,
	struct mr_team_attention *out)
{
	(void)asked;
	return mr_team_attention(&call->cx, team, &call->rights, out);
}
MR_TEAM_BIND_CALL(attention, look, struct mr_nothing, struct mr_team_attention);

const struct mr_op mr_op_team_attention = {
	.name = "team_attention",
	.command = "team attention",
	.summary = "What needs a person in all projects, and which agents work now",
	.help = "Unread messages to the overseer, contact requests, overdue acknowledgements and "
		"leases whose holders have gone quiet: twenty of each. The home page shows this.",
	.result = fields,
	.traits = MR_SHARED_MAIL | MR_QUOTES,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &attention,
	.render = mr_render_attention,
};
