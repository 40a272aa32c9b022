/* tests/unit/team/world.c */
#include "world.h"

#include "database.h"
#include "files.h"
#include "team/error.h"
#include "team/open.h"
#include "team/store/schema.h"
#include "test.h"
#include "text/token.h"

#include <string.h>

void world_open(struct world *world)
{
	files_enter();
	*world = (struct world){ .config = mr_team_config_default("root") };
	world->config.database = database_server();
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
	return database_try(cx, db, arg);
}

void world_exec(struct world *world, const char *sql)
{
	CHECK_OK(mr_team_write(&world->cx, world->team, exec_change, NULL,
			 mr_arena_strdup(world->cx.arena, sql)),
		world->cx.err);
}

static struct mr_team_reader borrow(struct world *world)
{
	struct mr_team_reader reader = { 0 };

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	return reader;
}

int64_t world_int(struct world *world, const char *sql)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = borrow(world);

	return database_int(&world->cx, reader.db, sql);
}

int64_t world_count(struct world *world, const char *what)
{
	return world_int(world, mr_arena_printf(world->cx.arena, "SELECT count(*) FROM %s", what));
}

const char *world_text(struct world *world, const char *sql)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = borrow(world);

	return database_text(&world->cx, reader.db, sql);
}

const char *world_list(struct world *world, const char *sql, const char *between)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = borrow(world);

	return database_list(&world->cx, reader.db, sql, between);
}

struct mr_texts world_plan(struct world *world, const char *sql)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = borrow(world);

	return mr_str_split(world->cx.arena, database_plan(&world->cx, reader.db, sql), '\n');
}

const char *world_found(struct world *world, const char *word)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = borrow(world);

	return database_found(&world->cx, reader.db, &mr_team_search_index, word);
}

static enum mr_code index_one(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	database_index(cx, db, &mr_team_search_index, *(const int64_t *)arg);
	return MR_OK;
}

void world_index(struct world *world, int64_t message_id)
{
	CHECK_OK(mr_team_write(&world->cx, world->team, index_one, NULL, &message_id),
		world->cx.err);
}

static enum mr_code index_all(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	(void)arg;
	database_reindex(cx, db, &mr_team_search_index);
	return MR_OK;
}

void world_reindex(struct world *world)
{
	CHECK_OK(mr_team_write(&world->cx, world->team, index_all, NULL, NULL), world->cx.err);
}

static enum mr_code check_index(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	(void)arg;
	database_check_index(cx, db, &mr_team_search_index);
	return MR_OK;
}

void world_check_index(struct world *world)
{
	CHECK_OK(mr_team_write(&world->cx, world->team, check_index, NULL, NULL), world->cx.err);
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
