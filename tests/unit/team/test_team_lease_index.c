/* tests/unit/team/test_team_lease_index.c - leases are found by prefix, and compared exactly. */
#include "team/lease/lease_index.h"

#include "team/error.h"
#include "team/limits.h"
#include "test.h"
#include "world.h"

#include <string.h>

/* Rows made directly, with the prefix that the part would store. */
static void lease(struct world *world, int64_t project_id, int64_t agent_id, const char *pattern)
{
	struct mr_glob *glob;

	CHECK_OK(mr_team_lease_index_compile(&world->cx, world->team, NULL, pattern, &glob),
		world->cx.err);
	world_exec(world,
		mr_arena_printf(world->cx.arena,
			"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix,"
			" created_ts, expires_ts) VALUES (%lld, %lld, '%s', '%s', %lld, %lld)",
			(long long)project_id, (long long)agent_id, mr_glob_text(glob),
			mr_glob_literal_prefix(glob), (long long)world->clock.now_us,
			(long long)world->clock.now_us + 1000000));
}

/* Many at once: src/<i>/file.c in one statement. */
static void many_leases(struct world *world, int64_t project_id, int64_t agent_id, int count)
{
	world_exec(world,
		mr_arena_printf(world->cx.arena,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
			"%d)"
			" INSERT INTO file_reservations (project_id, agent_id, path_pattern, "
			"prefix,"
			" created_ts, expires_ts)"
			" SELECT %lld, %lld, 'src/' || i || '/file.c', 'src/' || i || '/file.c', 1,"
			" %lld FROM n",
			count, (long long)project_id, (long long)agent_id,
			(long long)world->clock.now_us + 1000000));
}

struct asked {
	struct mr_team_lease_index shelf;
	struct mr_team_lease_index_hits hits;
};

static struct asked ask(struct world *world, int64_t project_id, const char *pattern, size_t max)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_lease_near near = { .project_id = project_id, .now = world->clock.now_us };
	const char *prefix[2] = { NULL, NULL };
	struct mr_texts prefixes = { prefix, 1 };
	struct asked asked;
	struct mr_glob *glob;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_lease_index_compile(&world->cx, world->team, NULL, pattern, &glob),
		world->cx.err);
	prefix[0] = mr_glob_literal_prefix(glob);
	CHECK_OK(mr_team_lease_index_read(&world->cx, world->team, reader.db, &near, &prefixes,
			 false, &asked.shelf),
		world->cx.err);
	CHECK_OK(mr_team_lease_index_find(&world->cx, &asked.shelf, glob, false, max, NULL,
			 &asked.hits),
		world->cx.err);
	return asked;
}

static void reads_only_what_may_meet(void)
{
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;
	size_t rows[2];

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	lease(&world, project.id, agent.id, "**/*.lock");
	lease(&world, project.id, agent.id, "src/**/*.h");
	many_leases(&world, project.id, agent.id, 100);
	rows[0] = ask(&world, project.id, "src/7/*.c", 100).shelf.rows.len;
	many_leases(&world, project.id, agent.id, 9900);
	rows[1] = ask(&world, project.id, "src/7/*.c", 100).shelf.rows.len;
	/* The two wide ones and src/7/file.c, which is there twice by now. */
	CHECK_INT(rows[0], 3);
	CHECK_INT(rows[1], 4);
	CHECK_INT(ask(&world, project.id, "src/7/*.c", 100).hits.len, 2);
	CHECK_INT(ask(&world, project.id, "docs/x", 100).shelf.rows.len, 1);
	world_close(&world);
}

static void names_so_many_and_says_that_there_are_more(void)
{
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct asked asked;

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	many_leases(&world, project.id, agent.id, 20);
	asked = ask(&world, project.id, "**", 20);
	CHECK_INT(asked.hits.len, 20);
	CHECK(!asked.hits.has_more);
	asked = ask(&world, project.id, "src/**", 19);
	CHECK_INT(asked.hits.len, 19);
	CHECK(asked.hits.has_more);
	for (size_t i = 1; i < asked.hits.len; i++)
		CHECK(asked.hits.items[i - 1]->lease.id < asked.hits.items[i]->lease.id);
	world_close(&world);
}

/* What the peers get wrong, and neighbours in the order of bytes. */
static const struct {
	const char *held, *asked;
	bool meet;
} pairs[] = {
	{ "src/**", "src/app.py", true },
	{ "src/**", "tests/x.py", false },
	{ "src/api/**", "src/**/*.py", true },
	{ "src/a*.py", "src/*b.py", true },
	{ "src/a*.ts", "src/b*.ts", false },
	{ "src/a.rs", "src/b.rs", false },
	{ "src", "src2", false },
	{ "src", "src2/x", false },
	{ "src", "src-x/y", false },
	{ "src-x", "src", false },
	{ "src/a", "src", true },
	{ "src", "src/a", true },
	{ "docs", "docs/x.md", true },
	{ "docs/", "docs/x.md", true },
	{ "./src/a.py", "src/a.py", true },
	{ "src//./a.py", "src/a.py", true },
	{ "src\\a.py", "src/a.py", true },
	{ "*.{ts,js}", "x.js", true },
	{ "*.{ts,js}", "x.c", false },
	{ "{src,docs}/x", "docs/x", true },
	{ "src/*", "src/deep/er", true },
	{ "app/[id]/page.tsx", "app/[id]/page.tsx", true },
	{ "app/[id]/page.tsx", "app/i/page.tsx", true },
	{ "app/[id]/page.tsx", "app/x/page.tsx", false },
	{ "**/x", "a/b/x", true },
	{ "a/b/x", "**/x", true },
	{ "a/b", "a/b/c/d/e", true },
	{ "a/b/c/d/e", "a/b", true },
	{ "ä/ö", "ä/*", true },
	{ "a", "A", false },
	{ ".env", "*", true },
	{ "/", "anything", true },
};

static void finds_all_that_meet_and_nothing_else(void)
{
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	for (size_t i = 0; i < MR_LEN(pairs); i++) {
		size_t hits;

		world_exec(&world, "DELETE FROM file_reservations");
		lease(&world, project.id, agent.id, pairs[i].held);
		hits = ask(&world, project.id, pairs[i].asked, 10).hits.len;
		if (hits != (pairs[i].meet ? 1U : 0U))
			test_fail(__FILE__, __LINE__, "%s and %s: %zu", pairs[i].held,
				pairs[i].asked, hits);
	}
	world_close(&world);
}

/* Small pseudo-random patterns against every other: the shelf must not lose what overlaps. */
static void loses_nothing_by_reading_less(void)
{
	static const char *const parts[] = { "a", "b", "a-b", "*", "**", "a*", "{a,b}", "[ab]" };
	enum { COUNT = 60 };
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_glob *globs[COUNT];

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	for (size_t i = 0; i < COUNT; i++) {
		const char *text = parts[mr_rand_below(&world.rand, MR_LEN(parts))];

		for (size_t depth = mr_rand_below(&world.rand, 3); depth > 0; depth--)
			text = mr_arena_printf(world.cx.arena, "%s/%s", text,
				parts[mr_rand_below(&world.rand, MR_LEN(parts))]);
		CHECK_OK(mr_team_lease_index_compile(&world.cx, world.team, NULL, text, &globs[i]),
			world.cx.err);
		lease(&world, project.id, agent.id, text);
	}
	for (size_t i = 0; i < COUNT; i++) {
		size_t expected = 0;
		size_t found = ask(&world, project.id, mr_glob_text(globs[i]), COUNT).hits.len;

		for (size_t j = 0; j < COUNT; j++)
			expected += mr_glob_overlaps(globs[i], globs[j]);
		if (found != expected)
			test_fail(__FILE__, __LINE__, "%s: %zu, not %zu", mr_glob_text(globs[i]),
				found, expected);
	}
	world_close(&world);
}

static void many_prefixes_are_read_once(void)
{
	static const char *texts[] = { "src", "src/1", "src/1/file.c", "src/1", "docs/a", "docs/b",
		NULL };
	struct mr_texts prefixes = { texts, MR_LEN(texts) - 1 };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_lease_near near;
	struct mr_team_lease_index shelf;

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	many_leases(&world, project.id, agent.id, 10);
	lease(&world, project.id, agent.id, "**");
	lease(&world, project.id, agent.id, "docs/*.md");
	lease(&world, project.id, agent.id, "docs/c");
	near = (struct mr_team_lease_near){ .project_id = project.id, .now = world.clock.now_us };
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_lease_index_read(&world.cx, world.team, reader.db, &near, &prefixes, false,
			 &shelf),
		world.cx.err);
	CHECK_INT(shelf.rows.len, 12);
	CHECK_OK(mr_team_lease_index_read(&world.cx, world.team, reader.db, &near, &prefixes, true,
			 &shelf),
		world.cx.err);
	CHECK_INT(shelf.rows.len, 11);
	mr_team_read_done(&reader);
	world_close(&world);
}

/* Scans of a whole table; r is a subquery that has its limit. */
static void uses_indexes(void)
{
	struct world world;

	world_open(&world);
	for (size_t i = 0; mr_team_lease_questions[i]; i++) {
		const char *sql = mr_team_lease_questions[i];
		struct mr_texts plan = world_plan(&world, sql);

		for (size_t k = 0; k < plan.len; k++) {
			const char *step = plan.items[k];

			if (strstr(step, "SCAN") && !strstr(step, "USING") &&
				!strstr(step, "SCAN r") && !strstr(step, "CONSTANT ROW"))
				test_fail(__FILE__, __LINE__, "%s: %s", sql, step);
			if (strstr(sql, "prefix >") && strstr(step, "USING") &&
				!strstr(step, "PRIMARY KEY"))
				CHECK(strstr(step, "file_reservations_open"));
		}
	}
	world_close(&world);
}

static void what_cannot_be_read_is_refused(void)
{
	static const struct {
		const char *pattern, *text;
	} cases[] = {
		{ "", "pattern is empty" },
		{ " \t ", "pattern is empty" },
		{ "../x", "cannot leave its directory" },
		{ "a/../../b", "\"a/../../b\" cannot be reserved" },
		{ "a\xff", "\"a\" cannot be reserved: pattern is not UTF-8" },
		{ "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "cannot be reserved" },
	};
	struct world world;
	struct mr_glob *glob;
	char *bomb;

	world_open(&world);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		world_check_fail(&world,
			mr_team_lease_index_compile(&world.cx, world.team, NULL, cases[i].pattern,
				&glob),
			MR_TEAM_INVALID_ARGUMENT, cases[i].text);
		CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "argument")->text,
			"paths");
	}
	bomb = mr_arena_array(world.cx.arena, (1 << 20) + 1, 1);
	memset(bomb, 'x', 1 << 20);
	world_check_fail(&world,
		mr_team_lease_index_compile(&world.cx, world.team, NULL, bomb, &glob),
		MR_TEAM_INVALID_ARGUMENT, "longer than 512 bytes");
	CHECK(strlen(world.cx.err.msg) < 200);
	world_close(&world);
}

/* Braces and stars that make every comparison as dear as it can be. */
static void bombs_are_given_up(void)
{
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_lease_rows rows = { 0 };
	struct mr_team_lease_row row = { .prefix = "" };
	struct mr_team_lease_index_hits hits;
	struct mr_team_lease_index shelf;
	struct mr_glob *glob;
	const char *bomb = "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x";

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	row.lease = (struct mr_team_reservation){ .project_id = project.id, .agent_id = agent.id };
	CHECK_OK(mr_team_lease_index_compile(&world.cx, world.team, NULL, bomb, &glob),
		world.cx.err);
	row.lease.path_pattern = mr_arena_printf(world.cx.arena, "%sy", bomb);
	rows.items = mr_arena_array(world.cx.arena, 2000, sizeof(row));
	for (rows.len = 0; rows.len < 2000; rows.len++) {
		rows.items[rows.len] = row;
		rows.items[rows.len].lease.id = (int64_t)rows.len;
	}
	mr_team_lease_index_take(&world.cx, world.team, &rows, &shelf);
	world_check_fail(&world,
		mr_team_lease_index_find(&world.cx, &shelf, glob, false, 2000, NULL, &hits),
		MR_TEAM_INVALID_ARGUMENT, "would take too long");
	world_close(&world);
}

static void what_others_stored_badly_counts_where_it_stands(void)
{
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	lease(&world, project.id, agent.id, "src/x");
	world_exec(&world,
		"UPDATE file_reservations SET path_pattern = 'src/../x', prefix = 'src'");
	CHECK_INT(ask(&world, project.id, "src/a", 10).hits.len, 1);
	CHECK_INT(ask(&world, project.id, "docs/a", 10).hits.len, 0);
	world_close(&world);
}

/* The same rows asked twice, the second time with some gone and some come, and with the first
 * answer at hand: the answers are the same as without it. */
static void an_earlier_answer_changes_nothing(void)
{
	static const char *const patterns[] = { "src/**", "src/a/*.c", "src/a/b*", "**/*.c",
		"src/*", "src/a/{b,c}.c", "src/a/b/c.c", "docs/**", "src/a", "*" };
	struct world world;
	struct mr_rand rand;

	world_open(&world);
	mr_rand_seeded_init(&rand, 3);
	for (int round = 0; round < 2000; round++) {
		struct mr_team_lease_index then, now;
		struct mr_team_lease_rows rows[2] = { 0 };
		struct mr_team_lease_index_hits before, fresh, recalled;
		bool shared = mr_rand_below(&rand, 2);
		size_t max = mr_rand_below(&rand, 6);
		struct mr_glob *glob;

		for (int side = 0; side < 2; side++)
			rows[side].items =
				mr_arena_array(world.cx.arena, 20, sizeof(*rows[side].items));
		for (int64_t id = 1; id <= 20; id++) {
			struct mr_team_lease_row row = { .lease = { .id = id } };

			row.lease.path_pattern = patterns[mr_rand_below(&rand, MR_LEN(patterns))];
			row.lease.exclusive = mr_rand_below(&rand, 2);
			CHECK_OK(mr_team_lease_index_compile(&world.cx, world.team, NULL,
					 row.lease.path_pattern, &glob),
				world.cx.err);
			row.lease.path_pattern = mr_glob_text(glob);
			row.prefix = mr_glob_literal_prefix(glob);
			for (int side = 0; side < 2; side++) {
				if (mr_rand_below(&rand, 5))
					rows[side].items[rows[side].len++] = row;
			}
		}
		CHECK_OK(mr_team_lease_index_compile(&world.cx, world.team, NULL,
				 patterns[mr_rand_below(&rand, MR_LEN(patterns))], &glob),
			world.cx.err);
		mr_team_lease_index_take(&world.cx, world.team, &rows[0], &then);
		CHECK_OK(mr_team_lease_index_find(&world.cx, &then, glob, shared, max, NULL,
				 &before),
			world.cx.err);
		/* Asked again of the same rows, nothing is compared. */
		mr_team_lease_index_take(&world.cx, world.team, &rows[0], &now);
		CHECK_OK(mr_team_lease_index_find(&world.cx, &now, glob, shared, max, &before,
				 &recalled),
			world.cx.err);
		CHECK_INT(now.cost, 0);
		CHECK_INT(recalled.len, before.len);
		CHECK_INT(recalled.has_more, before.has_more);
		mr_team_lease_index_take(&world.cx, world.team, &rows[1], &now);
		CHECK_OK(mr_team_lease_index_find(&world.cx, &now, glob, shared, max, NULL, &fresh),
			world.cx.err);
		CHECK_OK(mr_team_lease_index_find(&world.cx, &now, glob, shared, max, &before,
				 &recalled),
			world.cx.err);
		CHECK_INT(recalled.len, fresh.len);
		CHECK_INT(recalled.has_more, fresh.has_more);
		for (size_t i = 0; i < fresh.len; i++)
			CHECK_INT(recalled.items[i]->lease.id, fresh.items[i]->lease.id);
	}
	world_close(&world);
}

static void an_id_that_means_another_lease_is_compared(void)
{
	struct world world;
	struct mr_team_lease_row row = { .lease = { .id = 1, .path_pattern = "src/*.c" },
		.prefix = "src" };
	struct mr_team_lease_rows rows = { &row, 1 };
	struct mr_team_lease_row other = row;
	struct mr_team_lease_rows others = { &other, 1 };
	struct mr_team_lease_index then, now;
	struct mr_team_lease_index_hits before, hits;
	struct mr_glob *glob;

	world_open(&world);
	CHECK_OK(mr_team_lease_index_compile(&world.cx, world.team, NULL, "src/*.h", &glob),
		world.cx.err);
	mr_team_lease_index_take(&world.cx, world.team, &rows, &then);
	CHECK_OK(mr_team_lease_index_find(&world.cx, &then, glob, false, 9, NULL, &before),
		world.cx.err);
	CHECK_INT(before.len, 0);
	other.lease.path_pattern = "src/a*";
	mr_team_lease_index_take(&world.cx, world.team, &others, &now);
	CHECK_OK(mr_team_lease_index_find(&world.cx, &now, glob, false, 9, &before, &hits),
		world.cx.err);
	CHECK_INT(hits.len, 1);
	world_close(&world);
}

static void fnmatch_style_crosses_slashes(void)
{
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;

	world_open(&world);
	project = world_project(&world, "/p");
	agent = world_agent(&world, &project, "BlueLake");
	lease(&world, project.id, agent.id, "src/*.py");
	CHECK_INT(ask(&world, project.id, "src/deep/x.py", 10).hits.len, 0);
	world.config.fnmatch_style = true;
	world_reopen(&world);
	CHECK_INT(ask(&world, project.id, "src/deep/x.py", 10).hits.len, 1);
	CHECK_INT(ask(&world, project.id, "src/deep/*.c", 10).hits.len, 0);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_only_what_may_meet),
		TEST(names_so_many_and_says_that_there_are_more),
		TEST(finds_all_that_meet_and_nothing_else),
		TEST(loses_nothing_by_reading_less),
		TEST(many_prefixes_are_read_once),
		TEST(uses_indexes),
		TEST(what_cannot_be_read_is_refused),
		TEST(bombs_are_given_up),
		TEST(what_others_stored_badly_counts_where_it_stands),
		TEST(an_earlier_answer_changes_nothing),
		TEST(an_id_that_means_another_lease_is_compared),
		TEST(fnmatch_style_crosses_slashes),
	};

	return test_main(tests, MR_LEN(tests));
}
