/* tests/unit/team/world.c */
#include "world.h"

#include "files.h"
#include "team/error.h"
#include "team/open.h"
#include "test.h"
#include "text/token.h"

#include <string.h>

void world_open(struct world *world)
{
	files_enter();
	*world = (struct world){ .config = mr_team_config_default("root") };
	mr_clock_fixed_init(&world->clock, WORLD_NOW_US);
	mr_rand_seeded_init(&world->rand, 1);
	world->cx = (struct mr_ctx){ .arena = mr_arena_new(),
		.clock = &world->clock.clock,
		.rand = &world->rand };
	CHECK_OK(mr_team_open(&world->cx, &world->config, &world->team), world->cx.err);
}

void world_reopen(struct world *world)
{
	mr_team_closep(&world->team);
	CHECK_OK(mr_team_open(&world->cx, &world->config, &world->team), world->cx.err);
}

void world_close(struct world *world)
{
	mr_team_closep(&world->team);
	mr_arena_free(world->cx.arena);
}

static enum mr_code exec_change(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	return mr_db_exec(db, arg, &cx->err);
}

void world_exec(struct world *world, const char *sql)
{
	CHECK_OK(mr_team_write(&world->cx, world->team, exec_change, NULL,
			 mr_arena_strdup(world->cx.arena, sql)),
		world->cx.err);
}

static void first_row(struct world *world, const char *sql, int64_t *number, const char **text)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_stmt *stmt = NULL;
	bool row = false;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_db_prepare(reader.db, sql, &stmt, &world->cx.err), world->cx.err);
	CHECK_OK(mr_stmt_step(stmt, &row, &world->cx.err), world->cx.err);
	*number = row ? mr_stmt_int(stmt, 0) : 0;
	*text = row ? mr_stmt_text(stmt, 0, world->cx.arena) : NULL;
	mr_stmt_done(&stmt);
}

int64_t world_int(struct world *world, const char *sql)
{
	int64_t number = 0;
	const char *text;

	first_row(world, sql, &number, &text);
	return number;
}

const char *world_text(struct world *world, const char *sql)
{
	int64_t number;
	const char *text = NULL;

	first_row(world, sql, &number, &text);
	return text;
}

struct mr_team_project world_project(struct world *world, const char *human_key)
{
	struct mr_arena *arena = world->cx.arena;
	const char *tail = strrchr(human_key, '/');
	struct mr_team_project project = {
		.slug = mr_token_slug(arena, human_key, 255, "project"),
		.human_key = human_key,
		.identity_mode = "dir",
		.created_at = world->clock.now_us,
	};

	world_exec(world,
		mr_arena_printf(arena,
			"INSERT INTO projects (slug, human_key, key_fold, tail, created_at)"
			" VALUES ('%s', '%s', '%s', '%s', %lld)",
			project.slug, human_key, mr_str_lower(arena, human_key),
			mr_token_slug(arena, tail ? tail : human_key, 255, "project"),
			(long long)world->clock.now_us));
	project.id = world_int(world,
		mr_arena_printf(arena, "SELECT id FROM projects WHERE slug = '%s'", project.slug));
	return project;
}

struct mr_team_agent world_agent(struct world *world, const struct mr_team_project *project,
	const char *name)
{
	struct mr_arena *arena = world->cx.arena;
	const char *fold = mr_str_lower(arena, name);
	struct mr_team_agent agent = {
		.project_id = project->id,
		.name = name,
		.program = "codex",
		.model = "gpt",
		.task_description = "",
		.inception_ts = world->clock.now_us,
		.last_active_ts = world->clock.now_us,
		.is_active = true,
	};

	world_exec(world,
		mr_arena_printf(arena,
			"INSERT INTO agents (project_id, name, name_fold, program, model,"
			" inception_ts, last_active_ts)"
			" VALUES (%lld, '%s', '%s', 'codex', 'gpt', %lld, %lld)",
			(long long)project->id, name, fold, (long long)world->clock.now_us,
			(long long)world->clock.now_us));
	agent.id = world_int(world,
		mr_arena_printf(arena,
			"SELECT id FROM agents WHERE project_id = %lld AND name_fold = '%s'",
			(long long)project->id, fold));
	return agent;
}

void world_later(struct world *world, int64_t seconds)
{
	world->clock.now_us += seconds * 1000000;
}

void world_check_fail(struct world *world, enum mr_code rc, const char *type, const char *text)
{
	CHECK(rc != MR_OK);
	CHECK_INT(world->cx.err.code, rc);
	CHECK_STR(world->cx.err.word, type);
	if (!strstr(world->cx.err.msg, text))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in: %s", text, world->cx.err.msg);
}
