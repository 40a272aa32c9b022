/* op/team/team_health.c - operation: is the team's storage well? */
#include "app/protocol.h"
#include "app/settings.h"
#include "op/team/team_ops.h"
#include "team/layout.h"
#include "team/probe.h"

#include <string.h>

static const char *const statuses[] = { "ok", "degraded", "error", NULL };

static const struct mr_field health_fields[] = {
	{ .name = "status", .type = MR_TYPE_TEXT, .choices = statuses },
	{ .name = "environment", .type = MR_TYPE_TEXT },
	{ .name = "http_host", .type = MR_TYPE_TEXT },
	{ .name = "http_port", .type = MR_TYPE_INT },
	{ .name = "database_url", .type = MR_TYPE_TEXT, .summary = "without a password" },
	{ .name = "storage_root", .type = MR_TYPE_TEXT },
	{ .name = "version", .type = MR_TYPE_TEXT },
	{ .name = "protocol_versions", .type = MR_TYPE_TEXTS, .summary = "of MCP, newest first" },
	{ .name = "uptime_seconds", .type = MR_TYPE_INT },
	{ .name = "archive_pending",
		.type = MR_TYPE_INT,
		.summary = "changes the archive does not show yet" },
	{ .name = "problems", .type = MR_TYPE_TEXTS },
	{ 0 },
};

/* What of it may be shown: nothing before an '@', nothing after a '?'. */
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

static void emit(struct mr_call *call, struct mr_out *out, const char *database,
	const struct mr_team_health *health)
{
	static const char *versions[] = { MR_MCP_MODERN, MR_MCP_VERSIONS, NULL };
	const struct mr_texts spoken = { versions, MR_LEN(versions) - 1 };
	const struct mr_settings *s = call->app->settings;
	int64_t up_us = mr_clock_mono_us(call->app->clock) - call->app->started_us;

	mr_out_map(out, NULL);
	mr_out_text(out, "status", mr_team_status_name(health->status));
	mr_out_text(out, "environment", mr_settings_text(s, "team.environment"));
	mr_out_text(out, "http_host", mr_settings_text(s, "http.host"));
	mr_out_int(out, "http_port", mr_settings_int(s, "http.port"));
	mr_out_text(out, "database_url", public_url(call->cx.arena, database));
	mr_out_text(out, "storage_root", mr_settings_shown(call->cx.arena, s, "storage.root"));
	mr_out_text(out, "version", MR_VERSION);
	mr_out_texts(out, "protocol_versions", &spoken);
	mr_out_int(out, "uptime_seconds", up_us / 1000000);
	mr_out_int(out, "archive_pending", health->archive_pending);
	mr_out_texts(out, "problems", &health->problems);
	mr_out_end(out);
}

static enum mr_code health(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const struct mr_settings *s = call->app->settings;
	const char *url = mr_settings_shown(call->cx.arena, s, "database.url");
	const char *database = *url ? url
				    : mr_arena_printf(call->cx.arena, "%s/" MR_TEAM_DATABASE_FILE,
					      mr_settings_shown(call->cx.arena, s, "storage.root"));
	const char *problem[2] = { NULL, NULL };
	struct mr_team_health health = { .status = MR_TEAM_DOWN, .problems = { problem, 1 } };
	struct mr_team *team;

	(void)in;
	if (mr_team_home_open(call, &team)) {
		problem[0] = mr_arena_strdup(call->cx.arena, call->cx.err.msg);
	} else {
		mr_team_probe(&call->cx, team, &health);
		database = mr_team_database(team);
	}
	emit(call, out, database, &health);
	call->exit_status = health.status == MR_TEAM_DOWN;
	return MR_OK;
}

const struct mr_op mr_op_team_health = {
	.name = "health_check",
	.command = "team health",
	.summary = "Check that the team's database and archive work",
	.help = "Use it when calls fail: it says which part does not work, and why.",
	.cluster = "infrastructure",
	.result = health_fields,
	.traits = MR_CORE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = health,
};
