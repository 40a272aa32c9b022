/* op/team/team_slot.c - operations: build slots. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/lease/slot.h"
#include "team/limits.h"

enum { TTL_DEFAULT_S = 1800 };

static const char *const alias_ttl[] = { "ttl", NULL };
static const char *const alias_slot[] = { "slot", "name", NULL };
static const char *const alias_id[] = { "id", NULL };

#define TTL_PARAM                                                                                  \
	{                                                                                          \
		.name = "ttl_seconds", .type = MR_TYPE_INT, .min = 1, .max = MR_TEAM_TTL_MAX_S,    \
		.summary = "until it is free again by itself", .fallback = "1800",                 \
		.aliases = alias_ttl                                                               \
	}
#define ID_PARAM                                                                                   \
	{                                                                                          \
		.name = "slot_id", .type = MR_TYPE_INT, .flags = MR_REQUIRED | MR_POSITIONAL,      \
		.min = 1, .max = INT64_MAX, .summary = "the id that acquiring it gave",            \
		.aliases = alias_id                                                                \
	}

static const struct mr_param acquire_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "slot_name",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "what only one may have at a time: release-build",
		.aliases = alias_slot },
	TTL_PARAM,
	{ .name = "wait_seconds",
		.type = MR_TYPE_INT,
		.min = 0,
		.max = MR_TEAM_SLOT_WAIT_MAX_S,
		.summary = "how long to wait for one's turn",
		.fallback = "0" },
	{ 0 },
};

static enum mr_code acquire(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_slot slot;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_slot_acquire(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), mr_args_text(in, "slot_name"),
			mr_args_int(in, "ttl_seconds", TTL_DEFAULT_S),
			mr_args_int(in, "wait_seconds", 0), &slot);
	if (!rc)
		mr_shape_team_slot(out, NULL, &slot);
	return rc;
}

const struct mr_op mr_op_team_slot_acquire = {
	.name = "acquire_build_slot",
	.command = "team slot acquire",
	.summary = "Hold a build slot, alone",
	.help = "Use it before a build or a test that only one agent may run at a time. "
		"While another holds it this fails and names the holder, or waits with "
		"wait_seconds. Who holds it already renews it.",
	.cluster = "build",
	.params = acquire_params,
	.result = mr_shape_team_slot_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = acquire,
	.render = mr_render_slot,
};

static const struct mr_param renew_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	ID_PARAM,
	TTL_PARAM,
	{ 0 },
};

static enum mr_code renew(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_slot slot;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_slot_renew(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), mr_args_int(in, "slot_id", 0),
			mr_args_int(in, "ttl_seconds", TTL_DEFAULT_S), &slot);
	if (!rc)
		mr_shape_team_slot(out, NULL, &slot);
	return rc;
}

const struct mr_op mr_op_team_slot_renew = {
	.name = "renew_build_slot",
	.command = "team slot renew",
	.summary = "Hold a build slot for longer",
	.help = "Call it before your time is up when the build takes longer.",
	.cluster = "build",
	.params = renew_params,
	.result = mr_shape_team_slot_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = renew,
	.render = mr_render_slot,
};

static const struct mr_param release_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	ID_PARAM,
	{ 0 },
};

static enum mr_code release(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_slot slot;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_slot_release(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_text(in, "agent_name"), mr_args_int(in, "slot_id", 0), &slot);
	if (!rc)
		mr_shape_team_slot(out, NULL, &slot);
	return rc;
}

const struct mr_op mr_op_team_slot_release = {
	.name = "release_build_slot",
	.command = "team slot release",
	.summary = "Give a build slot back",
	.help = "Call it as soon as the build has ended: others wait.",
	.cluster = "build",
	.params = release_params,
	.result = mr_shape_team_slot_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = release,
	.render = mr_render_slot,
};
