/* team/store/root.c - opens and closes the storage of a team, and writes to it. */
#include "team/store/root.h"

#include "base/crash.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/oom.h"
#include "data/queue.h"
#include "team/layout.h"
#include "team/store/root_private.h"
#include "team/store/schema.h"
#include "team/store/standing.h"
#include "team/store/use_lock.h"
#include "text/database_url.h"

#include <stdlib.h>
#include <sys/stat.h>

struct mr_team_config mr_team_config_default(const char *storage_root)
{
	return (struct mr_team_config){
		.storage_root = storage_root,
		.author_name = "mcp-agent",
		.author_email = "mcp-agent@example.com",
		.name_mode = MR_TEAM_COERCE,
		.auto_register = true,
		.identity_mode = "repository",
		.identity_remote = "origin",
		.contacts_enforced = true,
		.contact_request_ttl_s = 604800,
		.contact_approval_ttl_s = 2592000,
		.enforce_reservations = true,
		.inactivity_s = 1800,
		.activity_grace_s = 900,
		.convert_images = true,
		.inline_image_bytes = 65536,
		.ack_ttl_s = 1800,
		.escalation_ttl_s = 3600,
		.escalation_holder = "",
		.max_log_bytes = 16 << 20,
		.llm_endpoint = "",
		.llm_model = "",
		.llm_key = "",
	};
}

/* `text` NULL stays NULL. */
static void keep(struct mr_arena *arena, const char **text)
{
	if (*text)
		*text = mr_arena_strdup(arena, *text);
}

static void keep_config(struct mr_team *team, const struct mr_team_config *config)
{
	struct mr_team_config *own = &team->config;
	const char ***roots = &own->attachment_roots.items;

	*own = *config;
	keep(team->arena, &own->storage_root);
	keep(team->arena, &own->database);
	keep(team->arena, &own->author_name);
	keep(team->arena, &own->author_email);
	keep(team->arena, &own->identity_mode);
	keep(team->arena, &own->identity_remote);
	keep(team->arena, &own->escalation_holder);
	keep(team->arena, &own->llm_endpoint);
	keep(team->arena, &own->llm_model);
	keep(team->arena, &own->llm_key);
	*roots = mr_arena_array(team->arena, config->attachment_roots.len + 1, sizeof(**roots));
	for (size_t i = 0; i < config->attachment_roots.len; i++)
		(*roots)[i] = mr_arena_strdup(team->arena, config->attachment_roots.items[i]);
	if (!own->database)
		own->database = mr_arena_printf(team->arena, "%s/" MR_TEAM_DATABASE_FILE,
			own->storage_root);
	team->shown = mr_database_url_shown(team->arena, own->database);
}

/* A variable named DATABASE_URL is often another program's: its database stays as it is. */
static enum mr_code check_ours(struct mr_ctx *cx, struct mr_db *db)
{
	bool is_ours = false, is_empty = false;
	enum mr_code rc = mr_db_has_table(db, "schema_version", &is_ours, &cx->err);

	if (!rc && !is_ours)
		rc = mr_db_is_empty(db, &is_empty, &cx->err);
	if (rc || is_ours || is_empty)
		return rc;
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"database %s has tables of another program: name a database for Mailroom alone in "
		"database.url (DATABASE_URL), or unset it",
		mr_db_path(db));
}

/* One that was moved away can be read; one that is being filled has no team yet. */
static enum mr_code look_how_it_stands(struct mr_db *db, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_standing standing;
	enum mr_code rc = mr_team_standing_read(db, arena, &standing, err);

	if (rc)
		return rc;
	if (standing.is_filled)
		return mr_team_standing_check(db, err);
	if (standing.is_left)
		mr_log(MR_LOG_WARN, "team.database.moved", "database %s %s %s: it can only be read",
			mr_db_path(db), standing.has_ended ? "was moved to" : "is being moved to",
			standing.other);
	return MR_OK;
}

static enum mr_code open_writer(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_db_options options = mr_team_database_options(team, false);
	struct mr_queue_options guarded = { .guard = mr_team_database_guard(team) };
	enum mr_code rc = mr_db_open(&options, &db, &cx->err);

	if (!rc)
		rc = check_ours(cx, db);
	if (!rc)
		rc = mr_migrate_up(db, mr_team_migrations, mr_team_migration_count, cx->clock,
			&cx->err);
	if (!rc)
		rc = look_how_it_stands(db, &cx->err);
	if (!rc)
		rc = mr_queue_open(db, &guarded, &team->queue, &cx->err);
	if (!rc)
		db = NULL; /* the queue's now */
	return rc;
}

/*
 * Take the use lock first, so that no rebuild replaces the database while it is opened. Where the
 * lock file cannot be made, the error of opening the database is more useful.
 */
static enum mr_code open_database(struct mr_ctx *cx, struct mr_team *team)
{
	const char *database = team->config.database;
	bool is_shared = !team->config.alone;
	struct stat st;
	enum mr_code rc = MR_OK;

	if (is_shared && (stat(database, &st) != 0 || S_ISREG(st.st_mode)))
		rc = mr_team_use_lock_share(cx, database, true, &team->use_lock);
	if (rc == MR_EBUSY)
		return rc;
	rc = open_writer(cx, team);
	if (!rc && is_shared && team->use_lock < 0)
		rc = mr_team_use_lock_share(cx, database, true, &team->use_lock);
	return rc;
}

enum mr_code mr_team_root_open(struct mr_ctx *cx, const struct mr_team_config *config,
	const struct mr_team_hooks *hooks, struct mr_team **out)
{
	struct mr_team *team = calloc(1, sizeof(*team));
	enum mr_code rc;

	if (!team)
		mr_oom(sizeof(*team));
	*team = (struct mr_team){ .arena = mr_arena_new(),
		.clock = cx->clock,
		.rand = cx->rand,
		.hooks = *hooks,
		.use_lock = -1 };
	pthread_mutex_init(&team->lock, NULL);
	pthread_mutex_init(&team->picture, NULL);
	pthread_cond_init(&team->returned, NULL);
	mr_team_pulse_init(&team->pulse);
	keep_config(team, config);
	rc = mr_fs_make_dirs(AT_FDCWD,
		mr_arena_printf(cx->arena, "%s/" MR_TEAM_PROJECTS_DIR, team->config.storage_root),
		0700, &cx->err);
	if (!rc)
		rc = open_database(cx, team);
	if (rc)
		mr_team_root_close(team);
	else
		*out = team;
	return rc;
}

void mr_team_root_close(struct mr_team *team)
{
	if (team->queue)
		mr_queue_stop(team->queue);
	while (team->idle_count > 0)
		mr_db_close(team->idle[--team->idle_count]);
	/* The writer's connection last: it folds the log into the database. */
	mr_queue_close(team->queue);
	mr_team_listener_close(team);
	mr_fs_closep(&team->use_lock);
	mr_team_pulse_destroy(&team->pulse);
	pthread_mutex_destroy(&team->picture);
	pthread_cond_destroy(&team->returned);
	pthread_mutex_destroy(&team->lock);
	mr_arena_free(team->arena);
	free(team);
}

const struct mr_team_config *mr_team_config(const struct mr_team *team)
{
	return &team->config;
}

const char *mr_team_storage_root(const struct mr_team *team)
{
	return team->config.storage_root;
}

const char *mr_team_database(const struct mr_team *team)
{
	return team->shown;
}

bool mr_team_database_is_file(const struct mr_team *team)
{
	return !mr_database_url_is(team->config.database);
}

struct change {
	struct mr_ctx *cx;
	mr_team_change *run, *after;
	void *arg;
};

static enum mr_code run_change(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct change *change = arg;
	enum mr_code rc = change->run(change->cx, db, change->arg);

	if (rc)
		*err = change->cx->err;
	else
		mr_db_notify(db);
	return rc;
}

static enum mr_code run_after(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct change *change = arg;
	enum mr_code rc = change->after(change->cx, db, change->arg);

	if (rc)
		*err = change->cx->err;
	return rc;
}

enum mr_code mr_team_write(struct mr_ctx *cx, struct mr_team *team, mr_team_change *run,
	mr_team_change *after, void *arg)
{
	struct change change = { cx, run, after, arg };
	struct mr_queue_job job = { .run = run_change,
		.after = after ? run_after : NULL,
		.arg = &change };
	enum mr_code rc;

	if (cx->pause)
		cx->pause(cx->pause_arg, true);
	rc = mr_queue_run(team->queue, &job, &cx->err);
	if (cx->pause)
		cx->pause(cx->pause_arg, false);
	if (rc)
		return rc;
	mr_crash_point("team.written");
	team->hooks.written(team);
	return MR_OK;
}
