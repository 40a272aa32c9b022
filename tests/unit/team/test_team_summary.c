/* tests/unit/team/test_team_summary.c */
#include "team/summary.h"

#include "base/buf.h"
#include "team/limits.h"
#include "test.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>

static const char *joined(struct mr_arena *arena, const struct mr_texts *texts)
{
	return mr_str_join(arena, texts, "|");
}

static const char *mentioned(struct mr_arena *arena, const struct mr_team_mention *mentions,
	size_t count)
{
	const char *all = "";

	for (size_t i = 0; i < count; i++)
		all = mr_arena_printf(arena, "%s%s%s %" PRId64, all, i ? "|" : "", mentions[i].name,
			mentions[i].count);
	return all;
}

static void summarise(struct mr_arena *arena, const char *body, struct mr_team_summary *out)
{
	struct mr_team_item item = { .message = { .id = 1, .subject = "s", .body_md = body },
		.from = "BlueLake" };

	mr_team_summarise(arena, "T-1", &(struct mr_team_items){ &item, 1, 0 }, out);
}

static void reads_lines(void)
{
	static const struct {
		const char *body;
		const char *points, *actions;
		int open, done;
		const char *mentions, *references;
	} cases[] = {
		{ "- TODO x\n- [ ] a\n- [x] b\nask @Name about `src/a.c`", "TODO x|a|b",
			"- TODO x|- [ ] a|- [x] b", 1, 1, "Name 1", "src/a.c" },
		{ "* one\n+ two\n1. three\n5. five\n6. six\n  - deep  \r\n",
			"one|two|three|five|deep", "", 0, 0, "", "" },
		{ "-no\n---\n**bold** text\n1.5 GB\n-\n- \n-- \n", "", "", 0, 0, "", "" },
		{ "[ ] bare\n[X] done\n- [y] odd\n- []", "[y] odd|[]", "[ ] bare|[X] done", 1, 1,
			"", "" },
		{ "Next: ship\nActions are due\ntodo\nFixMe!\nblocked by x\nNEXTs", "",
			"Next: ship|Actions are due|todo|FixMe!|blocked by x|NEXTs", 0, 0, "", "" },
		{ "transaction nextjs unblocked mastodon todoist", "", "", 0, 0, "", "" },
		{ "@b @a. @a, (@c) @ @@x @a:) me@x @d!", "", "", 0, 0, "a 3|@x 1|b 1|d 1", "" },
		{ "`b/x` `a.md` `plain` `` ` ` `c.py` `a.md` `open.ts", "", "", 0, 0, "",
			"a.md|b/x|c.py" },
		{ "- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n- 7\n- 8\n- 9\n- 10\n- 11", "1|2|3|4|5|6|7|8|9|10",
			"", 0, 0, "", "" },
		{ "`/9` `/8` `/7` `/6` `/5` `/4` `/3` `/2` `/1` `/0` `/a` `/00`", "", "", 0, 0, "",
			"/0|/00|/1|/2|/3|/4|/5|/6|/7|/8" },
		{ "", "", "", 0, 0, "", "" },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_summary s;

		summarise(arena, cases[i].body, &s);
		CHECK_STR(joined(arena, &s.key_points), cases[i].points);
		CHECK_STR(joined(arena, &s.action_items), cases[i].actions);
		CHECK_INT(s.open_actions, cases[i].open);
		CHECK_INT(s.done_actions, cases[i].done);
		CHECK_STR(mentioned(arena, s.mentions, s.mention_count), cases[i].mentions);
		CHECK_STR(joined(arena, &s.code_references), cases[i].references);
		CHECK_STR(s.source, "heuristic");
		CHECK_INT(s.total_messages, 1);
	}
	mr_arena_free(arena);
}

static void sums_up_messages(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_team_item items[] = {
		{ .message = { .id = 4, .subject = "a", .body_md = "- x @Red", .created_ts = 7 },
			.from = "GreenHill" },
		{ .message = { .id = 5, .subject = "b", .body_md = "- y @Red" },
			.from = "BlueLake" },
		{ .message = { .id = 6, .subject = "c" }, .from = "GreenHill" },
		{ .message = { .id = 7, .subject = "d", .body_md = "- z" }, .from = "AmberFox" },
	};
	struct mr_team_summary s;

	mr_team_summarise(arena, "T-1", &(struct mr_team_items){ items, 4, 0 }, &s);
	CHECK_STR(s.thread_id, "T-1");
	CHECK_INT(s.total_messages, 4);
	CHECK_STR(joined(arena, &s.participants), "AmberFox|BlueLake|GreenHill");
	CHECK_STR(joined(arena, &s.key_points), "x @Red|y @Red|z");
	CHECK_STR(mentioned(arena, s.mentions, s.mention_count), "Red 2");
	CHECK_INT(s.examples.len, 3);
	CHECK_INT(s.examples.items[0].message.id, 4);
	CHECK_STR(s.examples.items[0].message.subject, "a");
	CHECK_STR(s.examples.items[0].from, "GreenHill");
	CHECK_INT(s.examples.items[0].message.created_ts, 7);
	mr_arena_free(arena);
}

static void is_bounded(void)
{
	static const char *const units[] = { "`/a` ", "@ab ", "- ", "- [ ] ", "todo\n", "`", "@",
		"\xc3\xa9", "-\n" };
	size_t points = 0;

	for (size_t u = 0; u < MR_LEN(units); u++) {
		struct mr_arena *arena = mr_arena_new();
		size_t len = strlen(units[u]), count = MR_TEAM_BODY_BYTES / len;
		char *body = mr_arena_alloc(arena, count * len + 1);
		struct mr_team_summary s;
		size_t before;

		for (size_t i = 0; i < count; i++)
			memcpy(body + i * len, units[u], len);
		/* Names and paths that all differ, the later ones first in their order. */
		for (size_t i = 0; u < 2 && i < count; i++)
			body[i * len + 2] = (char)('z' - i % 26);
		before = mr_arena_size(arena);
		summarise(arena, body, &s);
		CHECK(mr_arena_size(arena) - before < 1 << 20);
		for (size_t i = 0; i < s.key_points.len; i++)
			CHECK(strlen(s.key_points.items[i]) <= MR_TEAM_SUMMARY_TEXT_BYTES);
		points += s.key_points.len;
		mr_arena_free(arena);
	}
	CHECK(points > 0);
}

/* A message of the thread, by this sender. */
static void post(struct world *world, const struct mr_team_agent *from, const char *thread,
	int64_t seq, const char *body)
{
	world_exec(world,
		mr_arena_printf(world->cx.arena,
			"INSERT INTO messages (uid, project_id, sender_id, thread_id, thread_seq,"
			" subject, body_md, created_ts) VALUES ('%s%" PRId64 "-%" PRId64
			"', %" PRId64 ", %" PRId64 ", '%s', %" PRId64 ", 'subject', '%s', 1)",
			thread, from->project_id, seq, from->project_id, from->id, thread, seq,
			body));
}

static void reads_threads_page_by_page(void)
{
	struct mr_team_project back, front;
	struct mr_team_agent blue, green;
	struct mr_team_summary s;
	struct world world;
	int64_t both[2];

	world_open(&world);
	back = world_project(&world, "/path/to/backend");
	front = world_project(&world, "/path/to/frontend");
	blue = world_agent(&world, &back, "BlueLake");
	green = world_agent(&world, &front, "GreenHill");
	for (int64_t i = 1; i <= 40; i++) {
		post(&world, i % 2 ? &blue : &green, "T", i,
			mr_arena_printf(world.cx.arena, "- point %" PRId64 "\n- [ ] do", i));
	}
	both[0] = back.id;
	both[1] = front.id;
	CHECK_OK(mr_team_summary_thread(&world.cx, world.team, NULL, both, 1, "T", 0, true, NULL,
			 &s),
		world.cx.err);
	CHECK_INT(s.total_messages, 20);
	CHECK_STR(joined(world.cx.arena, &s.participants), "BlueLake");
	CHECK_OK(mr_team_summary_thread(&world.cx, world.team, NULL, both, 2, "T", 0, true, NULL,
			 &s),
		world.cx.err);
	CHECK_INT(s.total_messages, 40);
	CHECK_INT(s.open_actions, 40);
	CHECK_STR(joined(world.cx.arena, &s.participants), "BlueLake|GreenHill");
	CHECK(mr_str_starts(joined(world.cx.arena, &s.key_points),
		"point 1|do|point 2|do|point 3|do"));
	CHECK_OK(mr_team_summary_thread(&world.cx, world.team, NULL, both, 2, "T", 17, true, NULL,
			 &s),
		world.cx.err);
	CHECK_INT(s.total_messages, 17);
	/* What both projects see is one message. */
	world_exec(&world,
		mr_arena_printf(world.cx.arena,
			"INSERT INTO message_recipients (message_id, agent_id)"
			" SELECT id, CASE WHEN project_id = %" PRId64 " THEN %" PRId64
			" ELSE %" PRId64 " END FROM messages",
			back.id, green.id, blue.id));
	CHECK_OK(mr_team_summary_thread(&world.cx, world.team, NULL, both, 2, "T", 0, true, NULL,
			 &s),
		world.cx.err);
	CHECK_INT(s.total_messages, 40);
	CHECK_OK(mr_team_summary_thread(&world.cx, world.team, NULL, both, 2, "none", 0, true, NULL,
			 &s),
		world.cx.err);
	CHECK_INT(s.total_messages, 0);
	CHECK_INT(s.examples.len, 0);
	world_close(&world);
}

static void sums_up_several(void)
{
	const char *names[MR_TEAM_SUMMARY_THREADS + 2] = { "A", "B", "none" };
	struct mr_texts ids = { names, 3 };
	struct mr_team_project back;
	struct mr_team_agent blue;
	struct mr_team_summaries all;
	struct world world;

	world_open(&world);
	back = world_project(&world, "/path/to/backend");
	blue = world_agent(&world, &back, "BlueLake");
	post(&world, &blue, "A", 1, "- from a @Red @Red\n- [ ] todo");
	post(&world, &blue, "B", 1, "- from b @Red @Blue");
	for (int i = 2; i <= 30; i++)
		post(&world, &blue, "B", i, "- more");
	CHECK_OK(mr_team_summary_threads(&world.cx, world.team, NULL, &back.id, 1, &ids, 50, true,
			 NULL, &all),
		world.cx.err);
	CHECK_INT(all.len, 3);
	CHECK_STR(all.items[0].thread_id, "A");
	CHECK_STR(joined(world.cx.arena, &all.items[1].key_points),
		"from b @Red @Blue|more|more|more|more|more|more|more|more|more");
	CHECK_INT(all.items[2].total_messages, 0);
	CHECK_STR(joined(world.cx.arena, &all.action_items), "- [ ] todo");
	CHECK_INT(all.key_points.len, 12);
	CHECK_STR(mentioned(world.cx.arena, all.mentions, all.mention_count), "Red 3|Blue 1");
	CHECK_STR(all.source, "heuristic");
	CHECK_OK(mr_team_summary_threads(&world.cx, world.team, NULL, &back.id, 1, &ids, 5, true,
			 NULL, &all),
		world.cx.err);
	CHECK_INT(all.items[1].total_messages, 5);

	ids.len = 0;
	world_check_fail(&world,
		mr_team_summary_threads(&world.cx, world.team, NULL, &back.id, 1, &ids, 5, true,
			NULL, &all),
		"INVALID_ARGUMENT", "thread_ids names no thread");
	ids.len = MR_TEAM_SUMMARY_THREADS + 1;
	world_check_fail(&world,
		mr_team_summary_threads(&world.cx, world.team, NULL, &back.id, 1, &ids, 5, true,
			NULL, &all),
		"INVALID_ARGUMENT", "thread_ids names 101 threads, more than 100");
	world_close(&world);
}

static void sums_up_by_the_projects_key(void)
{
	const char *names[] = { "A", NULL };
	struct mr_team_summarize one = { .thread_id = "A" };
	struct mr_team_summarize_many many = { .thread_ids = { names, 1 }, .limit = 50 };
	struct mr_team_project back;
	struct mr_team_agent blue;
	struct mr_team_summary s;
	struct mr_team_summaries all;
	struct world world;

	world_open(&world);
	back = world_project(&world, "/path/to/backend");
	blue = world_agent(&world, &back, "BlueLake");
	post(&world, &blue, "A", 1, "- one");
	one.project_key = many.project_key = back.slug;
	CHECK_OK(mr_team_summarize(&world.cx, world.team, &one, &s), world.cx.err);
	CHECK_STR(joined(world.cx.arena, &s.key_points), "one");
	CHECK_INT(s.examples.len, 0);
	one.include_examples = true;
	CHECK_OK(mr_team_summarize(&world.cx, world.team, &one, &s), world.cx.err);
	CHECK_INT(s.examples.len, 1);
	CHECK_OK(mr_team_summarize_many(&world.cx, world.team, &many, &all), world.cx.err);
	CHECK_INT(all.len, 1);
	CHECK_STR(joined(world.cx.arena, &all.key_points), "one");
	one.project_key = many.project_key = "no-such-project";
	world_check_fail(&world, mr_team_summarize(&world.cx, world.team, &one, &s), "NOT_FOUND",
		"no-such-project");
	world_check_fail(&world, mr_team_summarize_many(&world.cx, world.team, &many, &all),
		"NOT_FOUND", "no-such-project");
	world_close(&world);
}

/* Nobody listens there: the heuristic stands. */
static void a_model_that_fails_changes_nothing(void)
{
	struct mr_team_project back;
	struct mr_team_agent blue;
	struct mr_team_summary s;
	struct world world;

	world_open(&world);
	world.config.llm_endpoint = "http://127.0.0.1:1/v1";
	world_reopen(&world);
	back = world_project(&world, "/path/to/backend");
	blue = world_agent(&world, &back, "BlueLake");
	post(&world, &blue, "A", 1, "- one");
	CHECK_OK(mr_team_summary_thread(&world.cx, world.team, NULL, &back.id, 1, "A", 0, true,
			 NULL, &s),
		world.cx.err);
	CHECK_STR(s.source, "heuristic");
	CHECK_STR(joined(world.cx.arena, &s.key_points), "one");
	CHECK_INT(world.cx.err.code, MR_OK);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_lines),
		TEST(sums_up_messages),
		TEST(is_bounded),
		TEST(reads_threads_page_by_page),
		TEST(sums_up_several),
		TEST(sums_up_by_the_projects_key),
		TEST(a_model_that_fails_changes_nothing),
	};

	return test_main(tests, MR_LEN(tests));
}
