/* op/team/team_slot.c - operations: build slots. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/lease/slot.h"
#include "team/limits.h"

static const char *const alias_ttl[] = { "ttl", NULL };
static const char *const alias_slot[] = { "slot", "name", NULL };
static const char *const alias_id[] = { "id", NULL };

struct slot_request {
	const char *project_key, *agent_name, *slot_name;
	int64_t id, ttl_s, wait_s;
};

#define TTL_PARAM                                                                                  \
	MR_PARAM(struct slot_request, ttl_s, "ttl_seconds", .min = 1, .max = MR_TEAM_TTL_MAX_S,    \
		.summary = "seconds until it expires by itself", .fallback = "1800",               \
		.aliases = alias_ttl)
#define ID_PARAM                                                                                   \
	MR_PARAM(struct slot_request, id, "slot_id", .flags = MR_REQUIRED | MR_POSITIONAL,         \
		.min = 1, .max = INT64_MAX, .summary = "the id from acquire_build_slot",           \
		.aliases = alias_id)

static const struct mr_param acquire_params[] = {
	MR_TEAM_PROJECT(struct slot_request),
	MR_TEAM_AGENT(struct slot_request),
	MR_PARAM(struct slot_request, slot_name, "slot_name", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "what only one may have at a time: release-build",
		.aliases = alias_slot),
	TTL_PARAM,
	MR_PARAM(struct slot_request, wait_s, "wait_seconds", .min = 0,
		.max = MR_TEAM_SLOT_WAIT_MAX_S, .summary = "how long to wait for one's turn",
		.fallback = "0"),
	{ 0 },
};

static enum mr_code acquire_slot(struct mr_ctx *cx, struct mr_team *team,
	const struct slot_request *asked, struct mr_team_slot *out)
{
	return mr_team_slot_acquire(cx, team, asked->project_key, asked->agent_name,
		asked->slot_name, asked->ttl_s, asked->wait_s, out);
}
MR_TEAM_BIND(acquire, acquire_slot, struct slot_request, struct mr_team_slot);

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
	.bind = &acquire,
	.render = mr_render_slot,
};

static const struct mr_param renew_params[] = {
	MR_TEAM_PROJECT(struct slot_request),
	MR_TEAM_AGENT(struct slot_request),
	ID_PARAM,
	TTL_PARAM,
	{ 0 },
};

static enum mr_code renew_slot(struct mr_ctx *cx, struct mr_team *team,
	const struct slot_request *asked, struct mr_team_slot *out)
{
	return mr_team_slot_renew(cx, team, asked->project_key, asked->agent_name, asked->id,
		asked->ttl_s, out);
}
MR_TEAM_BIND(renew, renew_slot, struct slot_request, struct mr_team_slot);

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
	.bind = &renew,
	.render = mr_render_slot,
};

static const struct mr_param release_params[] = {
	MR_TEAM_PROJECT(struct slot_request),
	MR_TEAM_AGENT(struct slot_request),
	ID_PARAM,
	{ 0 },
};

static enum mr_code release_slot(struct mr_ctx *cx, struct mr_team *team,
	const struct slot_request *asked, struct mr_team_slot *out)
{
	return mr_team_slot_release(cx, team, asked->project_key, asked->agent_name, asked->id,
		out);
}
MR_TEAM_BIND(release, release_slot, struct slot_request, struct mr_team_slot);

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
	.bind = &release,
	.render = mr_render_slot,
};
