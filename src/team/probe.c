/*
 * team/probe.c - Checks the health of a team's storage by reading from it, writing to it and
 * looking at the archive's backlog.
 */
#include "team/probe.h"

#include "team/archive/archive.h"
#include "team/layout.h"
#include "team/probe_sql.h"
#include "team/store/pulse.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	PROBLEMS_MAX = 8,
	LATE_S = 300,         /* a working archiver is minutes faster than this */
	LOW_BYTES = 64 << 20, /* room for some thousand messages */
	WRITE_MS = 5000,      /* a commit that takes longer counts as failed */
	LAG_MS = 10000,       /* a standby that follows is milliseconds behind */
	SLOW_US = 1000000,
};

struct probing {
	struct mr_ctx *cx;
	struct mr_team *team;
	struct mr_team_health *health;
};

static void add(struct probing *p, enum mr_team_status status, const char *text)
{
	struct mr_team_health *health = p->health;

	if (status > health->status)
		health->status = status;
	if (health->problems.len < PROBLEMS_MAX)
		health->problems.items[health->problems.len++] =
			mr_arena_strdup(p->cx->arena, text);
}

static void probe_database(struct probing *p, int64_t *oldest_us)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(p->cx, p->team, &reader);

	if (!rc)
		rc = mr_team_probe_counts(p->cx, reader.db, p->health, oldest_us);
	if (rc)
		add(p, MR_TEAM_DOWN, p->cx->err.msg);
}

/* What is about to go wrong on a server. */
static void probe_server(struct probing *p)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_db_server *server = &p->health->server;
	struct mr_arena *arena = p->cx->arena;
	enum mr_code rc = mr_team_read(p->cx, p->team, &reader);

	/* That it cannot be read was said. */
	if (rc || mr_db_server(reader.db, arena, server, &p->cx->err) || !server->version)
		return;
	if (server->connections * 10 > server->connections_max * 9)
		add(p, MR_TEAM_DEGRADED,
			mr_arena_printf(arena,
				"%lld of the %lld connections that %s lets in are in use: raise its "
				"max_connections, or run fewer servers",
				(long long)server->connections, (long long)server->connections_max,
				mr_team_database(p->team)));
	if (server->has_lag && server->lag_ms > LAG_MS)
		add(p, MR_TEAM_DEGRADED,
			mr_arena_printf(arena, "a standby of %s is %lld s behind",
				mr_team_database(p->team), (long long)(server->lag_ms / 1000)));
	if (server->round_trip_us > SLOW_US)
		add(p, MR_TEAM_DEGRADED,
			mr_arena_printf(arena, "%s took %lld ms for a small question",
				mr_team_database(p->team),
				(long long)(server->round_trip_us / 1000)));
}

static void probe_writer(struct probing *p)
{
	if (mr_team_pulse(p->cx, p->team, 0, WRITE_MS))
		add(p, MR_TEAM_DOWN, p->cx->err.msg);
}

static void probe_archive(struct probing *p, int64_t oldest_us)
{
	struct mr_arena *arena = p->cx->arena;
	const char *place = mr_team_layout_project(arena, mr_team_storage_root(p->team), ".");
	int64_t waited_us = mr_clock_wall_us(p->cx->clock) - oldest_us;
	struct mr_team_archive_status archiver;
	struct statvfs room;

	if (faccessat(AT_FDCWD, place, R_OK | W_OK | X_OK, AT_EACCESS))
		add(p, MR_TEAM_DEGRADED,
			mr_arena_printf(arena, "the archive cannot be written: %s: %s", place,
				strerror(errno)));
	else if (statvfs(place, &room) == 0 && room.f_bavail < LOW_BYTES / room.f_frsize)
		add(p, MR_TEAM_DEGRADED,
			mr_arena_printf(arena, "the disk of %s is nearly full", place));
	/* The latest failure of this process's archiver, until it succeeds again. */
	if (mr_team_archive_status(p->cx, p->team, &archiver) == MR_OK && archiver.failing_since_ts)
		add(p, MR_TEAM_DEGRADED,
			mr_arena_printf(arena, "the archive cannot follow: %s",
				archiver.last_error));
	if (oldest_us && waited_us > (int64_t)LATE_S * 1000000)
		add(p, MR_TEAM_DEGRADED,
			mr_arena_printf(arena,
				"the archive is %lld s behind; `mailroom team check` says why",
				(long long)(waited_us / 1000000)));
}

void mr_team_probe(struct mr_ctx *cx, struct mr_team *team, struct mr_team_health *out)
{
	struct probing p = { cx, team, out };
	int64_t oldest_us = 0;

	*out = (struct mr_team_health){ .status = MR_TEAM_WELL };
	out->problems.items =
		mr_arena_array(cx->arena, PROBLEMS_MAX + 1, sizeof(*out->problems.items));
	probe_database(&p, &oldest_us);
	probe_server(&p);
	probe_writer(&p);
	probe_archive(&p, oldest_us);
}

const char *mr_team_status_name(enum mr_team_status status)
{
	static const char *const names[] = {
		[MR_TEAM_WELL] = "ok",
		[MR_TEAM_DEGRADED] = "degraded",
		[MR_TEAM_DOWN] = "error",
	};

	return names[status];
}

const char *mr_team_server_words(struct mr_arena *arena, const struct mr_db_server *server)
{
	const char *lag = "";

	if (server->standbys)
		lag = server->has_lag
			? mr_arena_printf(arena, ", standbys: %lld, the slowest %lld ms behind",
				  (long long)server->standbys, (long long)server->lag_ms)
			: mr_arena_printf(arena, ", standbys: %lld", (long long)server->standbys);
	return mr_arena_printf(arena, "%s %s, %lld of %lld connections in use, %.1f ms away%s",
		server->engine, server->version, (long long)server->connections,
		(long long)server->connections_max, (double)server->round_trip_us / 1000, lag);
}
