/* team/guard/guard_database.c - reads leases for the guard from the team's database, without
 * writing to it. */
#include "team/guard/guard_private.h"

#include "data/db.h"
#include "team/agent.h"
#include "team/identity.h"
#include "team/layout.h"
#include "team/lease/reservation_sql.h"
#include "team/limits.h"
#include "team/name.h"
#include "team/project_sql.h"
#include "team/repository.h"

#include <string.h>
#include <sys/stat.h>

/* With more paths than this, all leases are read at once. */
enum { FEW_PATHS = 16, BUSY_MS = 1000, STATEMENTS = 8 };

enum mr_code mr_team_guard_open(struct mr_ctx *cx, const struct mr_team_config *config,
	struct mr_db **out)
{
	struct mr_db_options options = {
		.path = config->database ? config->database
					 : mr_arena_printf(cx->arena, "%s/" MR_TEAM_DATABASE_FILE,
						   config->storage_root),
		.read_only = true,
		.busy_timeout_ms = BUSY_MS,
		.statements = STATEMENTS,
		.repair_hint = "run `mailroom team rebuild`",
	};

	return mr_db_open(&options, out, &cx->err);
}

/* The project that a git identity names; `mode` may be that of others than the configured one. */
static enum mr_code by_identity(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_guard_look *look, const char *mode)
{
	const struct mr_team_guard_question *question = look->question;
	struct mr_team_identity identity;
	struct mr_team_project row;
	bool found = false;
	enum mr_code rc = mr_team_identity(cx, question->place->top, mode,
		question->config->identity_remote, &identity);

	if (rc || !mr_str_eq(identity.mode, mode))
		return rc;
	rc = mr_team_project_by_slug(cx, db, identity.slug, &found, &row);
	look->found = !rc && found && mr_str_eq(row.identity_mode, mode);
	if (look->found)
		look->project = row;
	return rc;
}

static enum mr_code by_identities(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_guard_look *look)
{
	static const char *const modes[] = { MR_TEAM_IDENTITY_COMMON_DIR, MR_TEAM_IDENTITY_TOPLEVEL,
		MR_TEAM_IDENTITY_REMOTE };
	const char *configured = look->question->config->identity_mode;
	enum mr_code rc = MR_OK;

	if (!mr_str_eq(configured, MR_TEAM_IDENTITY_DIR))
		rc = by_identity(cx, db, look, configured);
	for (size_t i = 0; i < MR_LEN(modes) && !rc && !look->found; i++) {
		if (!look->question->quick && !mr_str_eq(modes[i], configured))
			rc = by_identity(cx, db, look, modes[i]);
	}
	return rc;
}

/* Compare directories by inode: keys may lead to the same one through links. */
static enum mr_code by_directory(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_guard_look *look)
{
	struct mr_team_projects all;
	struct stat top, other;
	enum mr_code rc = mr_team_project_list(cx, db, &all);

	if (rc || stat(look->question->place->top, &top) != 0)
		return rc;
	for (size_t i = 0; i < all.len && !look->found; i++) {
		const char *key = all.items[i].human_key;

		look->found = *key == '/' && stat(key, &other) == 0 && other.st_dev == top.st_dev &&
			other.st_ino == top.st_ino;
		if (look->found)
			look->project = all.items[i];
	}
	return MR_OK;
}

enum mr_code mr_team_guard_project(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_guard_look *look)
{
	const struct mr_team_guard_place *place = look->question->place;
	const char *keys[] = { place->near, place->top, place->main };
	const char *key = look->question->project_key;
	enum mr_code rc;

	if (key) {
		rc = mr_team_project_find(cx, db, key, &look->project);
		look->found = !rc;
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	}
	rc = MR_OK;
	for (size_t i = 0; i < MR_LEN(keys) && !rc && !look->found; i++) {
		if (keys[i])
			rc = mr_team_project_by_key(cx, db, keys[i], &look->found, &look->project);
	}
	if (!rc && !look->found)
		rc = by_identities(cx, db, look);
	if (!rc && !look->found)
		rc = by_directory(cx, db, look);
	return rc;
}

/* Leases whose pattern begins with the path or a directory above it, or with a wildcard. */
static enum mr_code read_way(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const char *path, struct mr_team_lease_rows *rows)
{
	char *prefix = mr_arena_strdup(cx->arena, path);
	enum mr_code rc = MR_OK;

	for (char *end = prefix + strlen(prefix); !rc && end; end = strrchr(prefix, '/')) {
		*end = '\0';
		if (*prefix)
			rc = mr_team_lease_at(cx, db, near, prefix, rows);
	}
	return rc;
}

static enum mr_code read_leases(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_guard_look *look)
{
	struct mr_team_lease_near near = { .project_id = look->project.id,
		.now = mr_clock_wall_us(cx->clock) };
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc = MR_OK;

	if (look->paths.len == 0 || look->paths.len > FEW_PATHS ||
		look->question->place->ignore_case) {
		rc = mr_team_lease_anywhere(cx, db, &near, &rows);
	} else {
		/* In no order: a directory above two paths is read twice, and reported once. */
		for (size_t i = 0; i < look->paths.len && !rc; i++)
			rc = read_way(cx, db, &near, look->paths.items[i], &rows);
		if (!rc)
			rc = mr_team_lease_at(cx, db, &near, "", &rows);
	}
	if (rc)
		return rc;
	if (rows.len >= MR_TEAM_LEASES_NEAR)
		mr_team_guard_warn(cx, look, "there are more than %d leases: not all were read",
			MR_TEAM_LEASES_NEAR);
	for (size_t i = 0; i < rows.len; i++)
		mr_team_guard_keep(cx, look, &rows.items[i].lease);
	return MR_OK;
}

/*
 * Whose leases are the asking session's own? A database that has not noted sessions yet knows none;
 * that is no reason to fail.
 */
static void find_ours(struct mr_ctx *cx, struct mr_db *db, struct mr_team_guard_look *look)
{
	const struct mr_team_guard_question *question = look->question;
	struct mr_team_hook_agents agents = { 0 };
	struct mr_team_hook_agent last = { 0 };
	const char *top;

	if (question->session &&
		mr_team_hook_agents(cx, db, look->project.id, question->session, &agents))
		agents.len = 0;
	look->ours.items = mr_arena_array(cx->arena, agents.len + 1, sizeof(const char *));
	for (size_t i = 0; i < agents.len; i++)
		look->ours.items[look->ours.len++] = agents.items[i].name;
	if (!look->agent && agents.len)
		look->agent = agents.items[0].name;
	if (!look->agent && question->last_is_ours) {
		top = mr_team_repository_top(cx, question->place->top);
		if (!mr_team_hook_last(cx, db, look->project.id, top, false, &last) && last.id)
			look->ours.items[look->ours.len++] = look->last = last.name;
	}
	if (!look->agent && question->session &&
		mr_team_hook_is_warned(cx, db, question->session, &look->was_warned))
		look->was_warned = false;
	cx->err = (struct mr_err){ 0 };
}

struct seeking {
	struct mr_ctx *cx;
	struct mr_db *db;
	int64_t project_id;
};

/* For mr_team_name_generate(). */
static bool is_taken(void *arg, const char *name)
{
	struct seeking *s = arg;
	struct mr_team_agent agent;
	bool found = false;

	return !mr_team_agent_seek(s->cx, s->db, s->project_id, name, &found, &agent) && found;
}

/*
 * As whom can the holders be written to? AGENT_NAME may be a name that the project does not have.
 * Not knowing is no reason to fail.
 */
static void find_sender(struct mr_ctx *cx, struct mr_db *db, struct mr_team_guard_look *look)
{
	const char *top = mr_team_repository_top(cx, look->question->place->top);
	struct mr_team_hook_agent last = { 0 };
	struct mr_team_agent agent;
	struct seeking s = { cx, db, look->project.id };

	if (look->agent && !mr_team_agent_find(cx, db, &look->project, look->agent, true, &agent))
		look->sender = agent.name;
	else if (!mr_team_hook_last(cx, db, look->project.id, top, false, &last) && last.id)
		look->sender = last.name;
	else
		look->free_name = mr_team_name_generate(cx->arena, cx->rand, is_taken, &s);
	cx->err = (struct mr_err){ 0 };
}

enum mr_code mr_team_guard_database(struct mr_ctx *cx, struct mr_team_guard_look *look)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_team_guard_open(cx, look->question->config, &db);

	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	rc = mr_team_guard_project(cx, db, look);
	if (rc || !look->found)
		return rc;
	look->source = "database";
	find_ours(cx, db, look);
	mr_team_guard_rebase(cx, look);
	rc = read_leases(cx, db, look);
	if (!rc && look->leases.len)
		find_sender(cx, db, look);
	return rc;
}
