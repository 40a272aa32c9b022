/* op/team/team_health.c - operation: the health of the team's database and archive. */
#include "app/protocol.h"
#include "app/settings.h"
#include "op/team/team_ops.h"
#include "team/layout.h"

#include <string.h>

static const char *const statuses[] = { "ok", "degraded", "error", NULL };

struct shown {
	struct mr_team_health health;
	const char *environment, *http_host;
	int64_t http_port;
	const char *database_url, *storage_root, *version;
	struct mr_texts protocol_versions;
	int64_t uptime_s;
};

static const struct mr_field health_fields[] = {
	MR_FIELD(struct shown, health.status, "status", .choices = statuses),
	MR_FIELD(struct shown, environment, "environment"),
	MR_FIELD(struct shown, http_host, "http_host"),
	MR_FIELD(struct shown, http_port, "http_port"),
	MR_FIELD(struct shown, database_url, "database_url", .summary = "without a password"),
	MR_FIELD(struct shown, storage_root, "storage_root"),
	MR_FIELD(struct shown, version, "version"),
	MR_FIELD(struct shown, protocol_versions, "protocol_versions",
		.summary = "of MCP, newest first"),
	MR_FIELD(struct shown, uptime_s, "uptime_seconds"),
	MR_FIELD(struct shown, health.archive_pending, "archive_pending",
		.summary = "changes the archive does not show yet"),
	MR_FIELD(struct shown, health.server.engine, "engine", .flags = MR_OPTIONAL,
		.summary = "of the database"),
	MR_FIELD(struct shown, health.server.version, "engine_version", .flags = MR_OPTIONAL,
		.summary = "of one on a server; so is what follows"),
	MR_FIELD(struct shown, health.server.connections, "connections", .flags = MR_OPTIONAL,
		.summary = "of all programs to that server"),
	MR_FIELD(struct shown, health.server.connections_max, "connections_max",
		.flags = MR_OPTIONAL, .summary = "that it lets in"),
	MR_FIELD(struct shown, health.server.standbys, "standbys", .flags = MR_OPTIONAL,
		.summary = "that follow it"),
	MR_FIELD(struct shown, health.server.lag_ms, "standby_lag_ms", .flags = MR_OPTIONAL,
		.summary = "of the slowest of them"),
	MR_FIELD(struct shown, health.server.notices_percent, "notices_percent",
		.flags = MR_OPTIONAL,
		.summary = "of the room for notices that is in use: more than a few mean that a "
			   "server does not take its notices"),
	MR_FIELD(struct shown, health.server.round_trip_us, "round_trip_us", .flags = MR_OPTIONAL,
		.summary = "how long it took to ask for this"),
	MR_FIELD(struct shown, health.problems, "problems"),
	{ 0 },
};

/* The URL without user, password and query, which may be shown. */
static const char *public_url(struct mr_arena *arena, const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *rest = scheme ? scheme + strlen("://") : url;
	const char *at = strrchr(rest, '@');

	if (!scheme)
		return mr_arena_printf(arena, "sqlite:///%s", url);
	rest = at ? at + 1 : rest;
	return mr_arena_printf(arena, "%.*s%.*s", (int)(scheme + strlen("://") - url), url,
		(int)strcspn(rest, "?"), rest);
}

/* Storage that cannot be opened is a result too. */
static const char *probe(struct mr_call *call, struct mr_team_health *out)
{
	struct mr_arena *arena = call->cx.arena;
	const char *url = mr_settings_shown(arena, call->app->settings, "database.url");
	const char *database;

	if (!mr_team_home_probe(call, out, &database))
		return database;
	out->status = MR_TEAM_DOWN;
	out->problems.items = mr_arena_array(arena, 2, sizeof(*out->problems.items));
	out->problems.items[out->problems.len++] = mr_arena_strdup(arena, call->cx.err.msg);
	return *url ? url
		    : mr_arena_printf(arena, "%s/" MR_TEAM_DATABASE_FILE,
			      mr_settings_shown(arena, call->app->settings, "storage.root"));
}

static enum mr_code check_health(struct mr_call *call, const struct mr_nothing *request,
	struct shown *out)
{
	static const char *versions[] = { MR_MCP_MODERN, MR_MCP_VERSIONS, NULL };
	const struct mr_settings *s = call->app->settings;
	int64_t up_us = mr_clock_mono_us(call->app->clock) - call->app->started_us;

	(void)request;
	*out = (struct shown){
		.environment = mr_settings_text(s, "team.environment"),
		.http_host = mr_settings_text(s, "http.host"),
		.http_port = mr_settings_int(s, "http.port"),
		.storage_root = mr_settings_shown(call->cx.arena, s, "storage.root"),
		.version = MR_VERSION,
		.protocol_versions = { versions, MR_LEN(versions) - 1 },
		.uptime_s = up_us / 1000000,
	};
	out->database_url = public_url(call->cx.arena, probe(call, &out->health));
	call->exit_status = out->health.status == MR_TEAM_DOWN;
	return MR_OK;
}
MR_BIND_ALONE(health, check_health, struct mr_nothing, struct shown);

const struct mr_op mr_op_team_health = {
	.name = "health_check",
	.command = "team health",
	.summary = "Check that the team's database and archive work",
	.help = "Use it when calls fail: it says which part does not work, and why.",
	.cluster = "infrastructure",
	.result = health_fields,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &health,
};
