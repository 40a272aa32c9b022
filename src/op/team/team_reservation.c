/* op/team/team_reservation.c - operations: leases on the files of a project. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/lease/reservation.h"
#include "team/limits.h"

/* A lease that is over is in nobody's way, stale or not. */
static void say_stale(struct mr_team_lease *lease)
{
	lease->staleness.stale = lease->staleness.stale && !lease->reservation.released_ts;
}

static const char *const alias_paths[] = { "path_pattern", "path", NULL };
static const char *const alias_ids[] = { "reservation_ids", "reservation_id", "file_reservation_id",
	NULL };
static const char *const alias_id[] = { "reservation_id", "id", NULL };
static const char *const alias_ttl[] = { "ttl", NULL };
static const char *const alias_extend[] = { "ttl_seconds", "ttl", NULL };

#define PATHS_PARAM(request_type)                                                                  \
	MR_PARAM(request_type, paths, "paths", .flags = MR_REQUIRED | MR_POSITIONAL,               \
		.summary = "files, directories or patterns (src/**), relative to the project",     \
		.aliases = alias_paths)
#define EXCLUSIVE_PARAM(request_type)                                                              \
	MR_PARAM(request_type, exclusive, "exclusive", .flags = MR_KNOWN,                          \
		.summary = "nobody else should touch them; otherwise they are shared",             \
		.fallback = "true")

static const struct mr_param reserve_params[] = {
	MR_TEAM_PROJECT(struct mr_team_reserve),
	MR_TEAM_AGENT(struct mr_team_reserve),
	PATHS_PARAM(struct mr_team_reserve),
	MR_PARAM(struct mr_team_reserve, ttl_s, "ttl_seconds", .flags = MR_KNOWN, .min = 1,
		.max = MR_TEAM_TTL_MAX_S,
		.summary = "how long the lease holds unless it is renewed", .fallback = "3600",
		.aliases = alias_ttl),
	EXCLUSIVE_PARAM(struct mr_team_reserve),
	MR_PARAM(struct mr_team_reserve, reason, "reason", .summary = "what for, for the others"),
	MR_PARAM(struct mr_team_reserve, admin, "admin", .flags = MR_ADMIN_ONLY | MR_RARE,
		.summary = "as an administrator: on agents/NAME/inbox/** it also stops mail",
		.fallback = "false"),
	{ 0 },
};

MR_TEAM_BIND(reserve, mr_team_reserve, struct mr_team_reserve, struct mr_team_reserved);

const struct mr_op mr_op_team_reserve = {
	.name = "file_reservation_paths",
	.command = "team reserve",
	.summary = "Take leases on files before editing them",
	.help = "Call it before you edit. Leases are advice: what others hold is granted all the "
		"same and reported under conflicts; then ask the holder.",
	.cluster = "file_reservations",
	.params = reserve_params,
	.result = mr_shape_team_reserved_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_STANDARD | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.render = mr_render_reserved,
	.bind = &reserve,
};

static const struct mr_param check_params[] = {
	MR_TEAM_PROJECT(struct mr_team_reserve),
	PATHS_PARAM(struct mr_team_reserve),
	MR_PARAM(struct mr_team_reserve, agent_name, "agent_name",
		.summary = "the asking agent, whose own leases do not count",
		.aliases = mr_team_alias_agent),
	EXCLUSIVE_PARAM(struct mr_team_reserve),
	{ 0 },
};

struct checked {
	bool ok;
	struct mr_team_conflicts conflicts;
};

static const struct mr_field check_fields[] = {
	MR_FIELD(struct checked, ok, "ok", .summary = "nobody else holds any of them"),
	MR_FIELD_LIST(struct checked, conflicts, struct mr_team_conflict,
		mr_shape_team_conflict_fields, "conflicts"),
	{ 0 },
};

static enum mr_code check_paths(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct checked *out)
{
	struct mr_team_reserve asked = *request;
	enum mr_code rc;

	/* Nothing is reserved, so any time will do. */
	asked.ttl_s = 1;
	rc = mr_team_reserve_check(cx, team, &asked, &out->conflicts);
	out->ok = out->conflicts.len == 0;
	return rc;
}
MR_TEAM_BIND(check, check_paths, struct mr_team_reserve, struct checked);

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
	.contract = &mr_contract_team,
	.render = mr_render_paths_checked,
	.bind = &check,
};

/* `filter` is the member of the request that these go into, with a dot; nothing when the request is
 * the filter. */
#define FILTER_PARAMS(request_type, filter)                                                        \
	MR_PARAM(request_type, filter paths, "paths", .flags = MR_POSITIONAL,                      \
		.summary = "only leases on exactly these patterns", .aliases = alias_paths,        \
		.given = MR_FLAG(request_type, filter by_path)),                                   \
		MR_PARAM_IDS(request_type, filter ids, filter id_count, "file_reservation_ids",    \
			.summary = "only leases of these ids", .aliases = alias_ids,               \
			.given = MR_FLAG(request_type, filter by_id))

static const struct mr_param release_params[] = {
	MR_TEAM_PROJECT(struct mr_team_lease_filter),
	MR_TEAM_AGENT(struct mr_team_lease_filter),
	FILTER_PARAMS(struct mr_team_lease_filter, ),
	{ 0 },
};

struct released {
	int64_t count, released_ts;
};

static const struct mr_field release_fields[] = {
	MR_FIELD(struct released, count, "released", .summary = "how many"),
	MR_FIELD_TIME(struct released, released_ts, "released_at"),
	{ 0 },
};

static enum mr_code release_leases(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_lease_filter *filter, struct released *out)
{
	return mr_team_release(cx, team, filter, &out->count, &out->released_ts);
}
MR_TEAM_BIND(release, release_leases, struct mr_team_lease_filter, struct released);

const struct mr_op mr_op_team_release = {
	.name = "release_file_reservations",
	.command = "team release",
	.summary = "Give leases back; without a filter all of the agent's",
	.help = "Call it as soon as you have finished with the files.",
	.cluster = "file_reservations",
	.params = release_params,
	.result = release_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_STANDARD | MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &release,
};

struct renewal {
	struct mr_team_lease_filter filter;
	int64_t extend_s;
};

static const struct mr_param renew_params[] = {
	MR_TEAM_PROJECT_IN(struct renewal, filter),
	MR_TEAM_AGENT_IN(struct renewal, filter),
	FILTER_PARAMS(struct renewal, filter.),
	MR_PARAM(struct renewal, extend_s, "extend_seconds", .summary = "by how much, at least 60",
		.fallback = "1800", .aliases = alias_extend),
	{ 0 },
};

static const struct mr_field renewed_fields[] = {
	MR_FIELD(struct mr_team_renewed, id, "id"),
	MR_FIELD(struct mr_team_renewed, path_pattern, "path_pattern"),
	MR_FIELD_TIME(struct mr_team_renewed, old_expires_ts, "old_expires_ts"),
	MR_FIELD_TIME(struct mr_team_renewed, new_expires_ts, "new_expires_ts"),
	{ 0 },
};

static const struct mr_field renew_fields[] = {
	MR_FIELD(struct mr_team_renewals, len, "renewed", .summary = "how many"),
	MR_FIELD_ROWS(struct mr_team_renewals, items, len, struct mr_team_renewed, renewed_fields,
		"file_reservations"),
	{ 0 },
};

static enum mr_code renew_leases(struct mr_ctx *cx, struct mr_team *team,
	const struct renewal *request, struct mr_team_renewals *out)
{
	return mr_team_renew(cx, team, &request->filter, request->extend_s, out);
}
MR_TEAM_BIND(renew, renew_leases, struct renewal, struct mr_team_renewals);

const struct mr_op mr_op_team_renew = {
	.name = "renew_file_reservations",
	.command = "team renew",
	.summary = "Keep leases longer; without a filter all of the agent's",
	.help = "For work that takes longer.",
	.cluster = "file_reservations",
	.params = renew_params,
	.result = renew_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_STANDARD,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &renew,
};

static const struct mr_param force_params[] = {
	MR_TEAM_PROJECT(struct mr_team_force),
	MR_TEAM_AGENT(struct mr_team_force),
	MR_PARAM(struct mr_team_force, reservation_id, "file_reservation_id",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the lease, from a conflict or a listing", .aliases = alias_id),
	MR_PARAM(struct mr_team_force, notify_previous, "notify_previous", .flags = MR_RARE,
		.summary = "send the holder a message", .fallback = "true"),
	MR_PARAM(struct mr_team_force, note, "note", .flags = MR_BODY | MR_RARE,
		.summary = "text to add to that message"),
	MR_PARAM(struct mr_team_force, override, "override", .flags = MR_ADMIN_ONLY | MR_RARE,
		.summary = "as an administrator: also when its holder is at work",
		.fallback = "false"),
	{ 0 },
};

struct taken {
	struct mr_team_lease lease;
	bool notified;
};
struct forced {
	int64_t released;
	bool already_released, is_taken;
	struct taken taken;
};

static const struct mr_field taken_fields[] = {
	MR_MEMBERS(struct taken, lease, struct mr_team_lease, mr_shape_team_lease_fields),
	MR_FIELD(struct taken, notified, "notified", .summary = "whether the holder got a message"),
	{ 0 },
};

static const struct mr_field force_fields[] = {
	MR_FIELD(struct forced, released, "released", .summary = "1, or 0 when it was over before"),
	MR_FIELD_TIME(struct forced, taken.lease.reservation.released_ts, "released_at"),
	MR_FIELD(struct forced, already_released, "already_released", .flags = MR_OPTIONAL),
	MR_FIELD_STRUCT(struct forced, taken, struct taken, taken_fields, "reservation",
		.flags = MR_OPTIONAL, .when = MR_FLAG(struct forced, is_taken)),
	{ 0 },
};

static enum mr_code force_release(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_force *request, struct forced *out)
{
	struct mr_team_forced forced = { 0 };
	enum mr_code rc = mr_team_force_release(cx, team, request, &forced);

	*out = (struct forced){
		.released = !forced.already_released,
		.already_released = forced.already_released,
		.is_taken = !forced.already_released,
		.taken = { { forced.reservation, forced.staleness }, forced.notified },
	};
	say_stale(&out->taken.lease);
	return rc;
}
MR_TEAM_BIND(force, force_release, struct mr_team_force, struct forced);

const struct mr_op mr_op_team_force_release = {
	.name = "force_release_file_reservation",
	.command = "team force-release",
	.summary = "Take away a lease whose holder left it",
	.help = "Refused while the holder, its mail, the files or git show recent activity.",
	.cluster = "file_reservations",
	.params = force_params,
	.result = force_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_STANDARD | MR_DESTRUCTIVE | MR_QUOTES,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &force,
};

struct listing {
	const char *project_key;
	bool active_only;
	int64_t limit, cursor;
};

static const struct mr_param list_params[] = {
	MR_TEAM_PROJECT(struct listing),
	MR_PARAM(struct listing, active_only, "active_only",
		.summary = "without those that are released or over", .fallback = "false"),
	MR_PARAM(struct listing, limit, "limit", .min = 1, .max = MR_TEAM_LIST_MAX,
		.summary = "how many, the newest", .fallback = "1000"),
	MR_PARAM(struct listing, cursor, "cursor",
		.summary = "go on before this one: the id of the first one seen"),
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_FIELD_ROWS(struct mr_team_leases, items, len, struct mr_team_lease,
		mr_shape_team_lease_fields, "result", .summary = "oldest first"),
	MR_TEAM_NEXT(struct mr_team_leases, next),
	{ 0 },
};

static enum mr_code list_leases(struct mr_ctx *cx, struct mr_team *team,
	const struct listing *request, struct mr_team_leases *out)
{
	enum mr_code rc = mr_team_reservation_list(cx, team, request->project_key,
		request->active_only, request->cursor, request->limit, out);

	for (size_t i = 0; !rc && i < out->len; i++)
		say_stale(&out->items[i]);
	return rc;
}
MR_TEAM_BIND(list, list_leases, struct listing, struct mr_team_leases);

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
	.contract = &mr_contract_team,
	.render = mr_render_leases,
	.bind = &list,
};
