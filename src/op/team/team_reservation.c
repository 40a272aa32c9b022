/* op/team/team_reservation.c - operations: leases on the files of a project. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/lease/reservation.h"
#include "team/limits.h"

static const char *const alias_paths[] = { "path_pattern", "path", NULL };
static const char *const alias_ids[] = { "reservation_ids", "reservation_id", "file_reservation_id",
	NULL };
static const char *const alias_id[] = { "reservation_id", "id", NULL };
static const char *const alias_ttl[] = { "ttl", NULL };
static const char *const alias_extend[] = { "ttl_seconds", "ttl", NULL };

#define PATHS_PARAM                                                                                \
	{                                                                                          \
		.name = "paths", .type = MR_TYPE_TEXTS, .flags = MR_REQUIRED | MR_POSITIONAL,      \
		.summary = "files, directories or patterns (src/**), relative to the project",     \
		.aliases = alias_paths,                                                            \
	}
#define EXCLUSIVE_PARAM                                                                            \
	{                                                                                          \
		.name = "exclusive", .type = MR_TYPE_BOOL,                                         \
		.summary = "nobody else should touch them; otherwise they are shared",             \
		.fallback = "true",                                                                \
	}

static const struct mr_param reserve_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	PATHS_PARAM,
	{ .name = "ttl_seconds",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = MR_TEAM_TTL_MAX_S,
		.summary = "how long the lease holds unless it is renewed",
		.fallback = "3600",
		.aliases = alias_ttl },
	EXCLUSIVE_PARAM,
	{ .name = "reason", .type = MR_TYPE_TEXT, .summary = "what for, for the others" },
	{ .name = "admin",
		.type = MR_TYPE_BOOL,
		.summary = "as an administrator: on agents/NAME/inbox/** it also stops mail",
		.fallback = "false" },
	{ 0 },
};

static const struct mr_field reserve_fields[] = {
	{ .name = "granted", .type = MR_TYPE_LIST, .fields = mr_shape_team_grant_fields },
	{ .name = "conflicts",
		.type = MR_TYPE_LIST,
		.summary = "paths that others hold too: talk to them",
		.fields = mr_shape_team_conflict_fields },
	{ .name = "warnings", .type = MR_TYPE_TEXTS, .flags = MR_OPTIONAL },
	{ 0 },
};

static struct mr_team_reserve request_of(struct mr_call *call, const struct mr_args *in)
{
	return (struct mr_team_reserve){
		.project_key = mr_args_text(in, "project_key"),
		.agent_name = mr_args_text(in, "agent_name"),
		.paths = mr_args_texts(call->cx.arena, in, "paths"),
		.ttl_s = 3600,
		.exclusive = mr_args_bool(in, "exclusive", true),
	};
}

static enum mr_code reserve(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_reserve request = request_of(call, in);
	struct mr_team_reserved reserved;
	struct mr_team *team;
	enum mr_code rc = mr_team_ops_admin(call, in, "admin");

	request.ttl_s = mr_args_int(in, "ttl_seconds", request.ttl_s);
	request.reason = mr_args_text(in, "reason");
	request.admin = mr_args_bool(in, "admin", false);
	if (!rc)
		rc = mr_team_home_open(call, &team);
	if (!rc)
		rc = mr_team_reserve(&call->cx, team, &request, &reserved);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_reserved_members(out, &reserved);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_reserve = {
	.name = "file_reservation_paths",
	.command = "team reserve",
	.summary = "Take leases on files before editing them",
	.help = "Call it before you edit files that others may edit. Leases are advice: "
		"a path that others hold is granted all the same and reported under "
		"conflicts. A directory covers all below it; ? * [a-z] {a,b} and ** are "
		"understood.",
	.cluster = "file_reservations",
	.params = reserve_params,
	.result = reserve_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.envelope = &mr_envelope_team,
	.render = mr_render_reserved,
	.run = reserve,
};

static const struct mr_param check_params[] = {
	MR_TEAM_PROJECT_PARAM,
	PATHS_PARAM,
	{ .name = "agent_name",
		.type = MR_TYPE_TEXT,
		.summary = "who asks: its own leases are in nobody's way",
		.aliases = mr_team_alias_agent },
	EXCLUSIVE_PARAM,
	{ 0 },
};

static const struct mr_field check_fields[] = {
	{ .name = "ok", .type = MR_TYPE_BOOL, .summary = "nobody else holds any of them" },
	{ .name = "conflicts", .type = MR_TYPE_LIST, .fields = mr_shape_team_conflict_fields },
	{ 0 },
};

static enum mr_code check(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_reserve request = request_of(call, in);
	struct mr_team_conflicts conflicts;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_reserve_check(&call->cx, team, &request, &conflicts);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", conflicts.len == 0);
	mr_shape_team_conflicts(out, "conflicts", &conflicts);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_check_paths = {
	.name = "check_paths",
	.command = "team check-paths",
	.summary = "Ask whether files may be edited now, without taking a lease",
	.help = "Use it to ask before a single edit, or from a hook; nothing is reserved.",
	.cluster = "file_reservations",
	.params = check_params,
	.result = check_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.envelope = &mr_envelope_team,
	.render = mr_render_paths_checked,
	.run = check,
};

#define FILTER_PARAMS                                                                              \
	{ .name = "paths",                                                                         \
		.type = MR_TYPE_TEXTS,                                                             \
		.flags = MR_POSITIONAL,                                                            \
		.summary = "only leases on exactly these patterns",                                \
		.aliases = alias_paths },                                                          \
	{                                                                                          \
		.name = "file_reservation_ids", .type = MR_TYPE_INTS,                              \
		.summary = "only leases of these ids", .aliases = alias_ids,                       \
	}

static struct mr_team_lease_filter filter_of(struct mr_call *call, const struct mr_args *in)
{
	const struct mr_value *ids = mr_args_value(in, "file_reservation_ids");
	size_t count = ids ? ids->list.len : 0;
	int64_t *numbers = mr_arena_array(call->cx.arena, count, sizeof(*numbers));

	for (size_t i = 0; i < count; i++)
		numbers[i] = ids->list.items[i].integer;
	return (struct mr_team_lease_filter){
		.project_key = mr_args_text(in, "project_key"),
		.agent_name = mr_args_text(in, "agent_name"),
		.paths = mr_args_texts(call->cx.arena, in, "paths"),
		.ids = numbers,
		.id_count = count,
		.by_path = mr_args_has(in, "paths"),
		.by_id = ids != NULL,
	};
}

static const struct mr_param release_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	FILTER_PARAMS,
	{ 0 },
};

static const struct mr_field release_fields[] = {
	{ .name = "released", .type = MR_TYPE_INT, .summary = "how many" },
	{ .name = "released_at", .type = MR_TYPE_TEXT },
	{ 0 },
};

static enum mr_code release(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_lease_filter filter = filter_of(call, in);
	struct mr_team *team;
	int64_t released;
	int64_t released_ts;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_release(&call->cx, team, &filter, &released, &released_ts);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "released", released);
	mr_shape_team_time(out, "released_at", released_ts);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_release = {
	.name = "release_file_reservations",
	.command = "team release",
	.summary = "Give leases back; without a filter all of the agent's",
	.help = "Call it as soon as you have finished with the files. With both filters a "
		"lease must fit both. What is released already stays as it is.",
	.cluster = "file_reservations",
	.params = release_params,
	.result = release_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.envelope = &mr_envelope_team,
	.run = release,
};

static const struct mr_param renew_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	FILTER_PARAMS,
	{ .name = "extend_seconds",
		.type = MR_TYPE_INT,
		.summary = "by how much, at least 60",
		.fallback = "1800",
		.aliases = alias_extend },
	{ 0 },
};

static const struct mr_field renewed_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "path_pattern", .type = MR_TYPE_TEXT },
	{ .name = "old_expires_ts", .type = MR_TYPE_TEXT },
	{ .name = "new_expires_ts", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field renew_fields[] = {
	{ .name = "renewed", .type = MR_TYPE_INT, .summary = "how many" },
	{ .name = "file_reservations", .type = MR_TYPE_LIST, .fields = renewed_fields },
	{ 0 },
};

static enum mr_code renew(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_lease_filter filter = filter_of(call, in);
	struct mr_team_renewals renewals;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_renew(&call->cx, team, &filter,
			mr_args_int(in, "extend_seconds", 1800), &renewals);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "renewed", (int64_t)renewals.len);
	mr_out_list(out, "file_reservations");
	for (size_t i = 0; i < renewals.len; i++) {
		mr_out_map(out, NULL);
		mr_out_int(out, "id", renewals.items[i].id);
		mr_out_text(out, "path_pattern", renewals.items[i].path_pattern);
		mr_shape_team_time(out, "old_expires_ts", renewals.items[i].old_expires_ts);
		mr_shape_team_time(out, "new_expires_ts", renewals.items[i].new_expires_ts);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_renew = {
	.name = "renew_file_reservations",
	.command = "team renew",
	.summary = "Keep leases longer; without a filter all of the agent's",
	.help = "Call it before your leases end when your work takes longer.",
	.cluster = "file_reservations",
	.params = renew_params,
	.result = renew_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.envelope = &mr_envelope_team,
	.run = renew,
};

static const struct mr_param force_params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "file_reservation_id",
		.type = MR_TYPE_INT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the lease, from a conflict or a listing",
		.aliases = alias_id },
	{ .name = "notify_previous",
		.type = MR_TYPE_BOOL,
		.summary = "tell who held it",
		.fallback = "true" },
	{ .name = "note",
		.type = MR_TYPE_TEXT,
		.flags = MR_BODY,
		.summary = "what to tell besides" },
	{ .name = "override",
		.type = MR_TYPE_BOOL,
		.summary = "as an administrator: also when its holder is at work",
		.fallback = "false" },
	{ 0 },
};

static const struct mr_field forced_fields[] = {
	MR_SHAPE_TEAM_LEASE_FIELDS,
	{ .name = "notified", .type = MR_TYPE_BOOL, .summary = "its holder got a message" },
	{ 0 },
};

static const struct mr_field force_fields[] = {
	{ .name = "released", .type = MR_TYPE_INT, .summary = "1, or 0 when it was over before" },
	{ .name = "released_at", .type = MR_TYPE_TEXT },
	{ .name = "already_released", .type = MR_TYPE_BOOL, .flags = MR_OPTIONAL },
	{ .name = "reservation",
		.type = MR_TYPE_OBJECT,
		.flags = MR_OPTIONAL,
		.fields = forced_fields },
	{ 0 },
};

static void emit_forced(struct mr_out *out, const struct mr_team_forced *forced)
{
	mr_out_map(out, NULL);
	mr_out_int(out, "released", forced->already_released ? 0 : 1);
	mr_shape_team_time(out, "released_at", forced->reservation.released_ts);
	if (forced->already_released) {
		mr_out_bool(out, "already_released", true);
	} else {
		mr_out_map(out, "reservation");
		mr_shape_team_lease_members(out, &forced->reservation, &forced->staleness);
		mr_out_bool(out, "notified", forced->notified);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static enum mr_code force(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_force request = {
		.project_key = mr_args_text(in, "project_key"),
		.agent_name = mr_args_text(in, "agent_name"),
		.reservation_id = mr_args_int(in, "file_reservation_id", 0),
		.notify_previous = mr_args_bool(in, "notify_previous", true),
		.note = mr_args_text(in, "note"),
		.override = mr_args_bool(in, "override", false),
	};
	struct mr_team_forced forced;
	struct mr_team *team;
	enum mr_code rc = mr_team_ops_admin(call, in, "override");

	if (!rc)
		rc = mr_team_home_open(call, &team);
	if (!rc)
		rc = mr_team_force_release(&call->cx, team, &request, &forced);
	if (!rc)
		emit_forced(out, &forced);
	return rc;
}

const struct mr_op mr_op_team_force_release = {
	.name = "force_release_file_reservation",
	.command = "team force-release",
	.summary = "Take away a lease whose holder left it",
	.help = "Use it when a lease is in your way and its holder seems to be gone. "
		"Refused while the holder, its mail, the files or git show recent "
		"activity.",
	.cluster = "file_reservations",
	.params = force_params,
	.result = force_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_DESTRUCTIVE | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.envelope = &mr_envelope_team,
	.run = force,
};

static const struct mr_param list_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "active_only",
		.type = MR_TYPE_BOOL,
		.summary = "without those that are released or over",
		.fallback = "false" },
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = MR_TEAM_LIST_MAX,
		.summary = "how many, the newest",
		.fallback = "1000" },
	{ .name = "cursor",
		.type = MR_TYPE_INT,
		.summary = "go on before this one: the id of the first one seen" },
	{ 0 },
};

static const struct mr_field list_fields[] = {
	{ .name = "result",
		.type = MR_TYPE_LIST,
		.summary = "oldest first",
		.fields = mr_shape_team_lease_fields },
	{ 0 },
};

static enum mr_code list(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_leases leases;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_reservation_list(&call->cx, team, mr_args_text(in, "project_key"),
			mr_args_bool(in, "active_only", false), mr_args_int(in, "cursor", 0),
			mr_args_int(in, "limit", 0), &leases);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_list(out, "result");
	for (size_t i = 0; i < leases.len; i++)
		mr_shape_team_lease(out, NULL, &leases.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_list_reservations = {
	.name = "list_file_reservations",
	.command = "team reservations",
	.summary = "List the leases of a project, and whether they are in use",
	.help = "Use it to see who works on what. Leases that are over, or that their "
		"holders left, are released first.",
	.cluster = "file_reservations",
	.params = list_params,
	.result = list_fields,
	.traits = MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.envelope = &mr_envelope_team,
	.render = mr_render_leases,
	.run = list,
};
