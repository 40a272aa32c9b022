/* team/open.c - opens and closes a team's storage, with its archiver and caches. */
#include "team/open.h"

#include "base/log.h"
#include "team/archive/archive.h"
#include "team/archive/archive_take.h"
#include "team/layout.h"
#include "team/message_cache.h"
#include "team/store/duty.h"
#include "team/store/root_private.h"
#include "text/database_url.h"

#include <sys/stat.h>

static void wake_archiver(struct mr_team *team)
{
	mr_team_archive_wake(team);
}

static void forget_messages(struct mr_team *team)
{
	mr_team_message_cache_clear(team->hooks.heads);
}

/* Archives are written after the database: when one has commits and there is no database, the
 * database was lost. */
static enum mr_code check_not_gone(struct mr_ctx *cx, const struct mr_team_config *config)
{
	const char *database = config->database
		? config->database
		: mr_arena_printf(cx->arena, "%s/" MR_TEAM_DATABASE_FILE, config->storage_root);
	struct stat st;
	bool exists = stat(database, &st) == 0;
	size_t archives;

	if (config->beside_archives || mr_database_url_is(database) || (exists && st.st_size > 0))
		return MR_OK;
	archives = mr_team_archives(cx, config->storage_root);
	if (archives == 0)
		return MR_OK;
	return mr_err_set(&cx->err, MR_EFORMAT,
		"database %s is %s, while %zu project%s an archive: " MR_TEAM_REBUILD_HINT,
		database, exists ? "empty" : "gone", archives, archives == 1 ? " has" : "s have");
}

enum mr_code mr_team_open(struct mr_ctx *cx, const struct mr_team_config *config,
	struct mr_team **out)
{
	struct mr_team_hooks hooks = { .written = wake_archiver, .replaced = forget_messages };
	enum mr_code rc = check_not_gone(cx, config);

	if (!rc) {
		hooks.heads = mr_team_message_cache_new();
		rc = mr_team_root_open(cx, config, &hooks, out);
		if (rc)
			mr_team_message_cache_free(hooks.heads);
	}
	return rc ? mr_err_wrap(&cx->err, "team storage %s", config->storage_root) : MR_OK;
}

/* At the end of a command: rows that cannot be archived now are left to the next one. */
static void drain(struct mr_team *team, int drain_ms)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = team->clock, .rand = team->rand };

	bool here = false;

	if (mr_team_place_take(&cx, team, false, &here) ||
		(here && mr_team_archive_drain(&cx, team, drain_ms, false)))
		mr_log(MR_LOG_WARN, "team.archive.failed", "%s", cx.err.msg);
}

void mr_team_close(struct mr_team *team, int drain_ms)
{
	struct mr_team_message_cache *heads;

	if (!team)
		return;
	mr_team_archive_stop(team);
	if (drain_ms > 0)
		drain(team, drain_ms);
	mr_team_duty_stop(team);
	heads = team->hooks.heads;
	mr_team_root_close(team);
	mr_team_message_cache_free(heads);
}

void mr_team_closep(struct mr_team **team)
{
	mr_team_close(*team, 0);
	*team = NULL;
}
