/* tests/unit/team/test_team_guard.c - leases at the door: from every source, for every asker. */
#include "team/guard/guard.h"

#include "base/fs.h"
#include "files.h"
#include "team/guard/guard_private.h"
#include "team/layout.h"
#include "team/open.h"
#include "test.h"
#include "text/glob.h"
#include "text/json.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char TOP[] = "/srv/backend";

struct door {
	struct world world;
	struct mr_team_project project;
	struct mr_team_guard_place place;
};

static void door_open(struct door *door)
{
	world_open(&door->world);
	door->project = world_project(&door->world, TOP);
	world_agent(&door->world, &door->project, "GreenCastle");
	world_agent(&door->world, &door->project, "BlueLake");
	door->place = (struct mr_team_guard_place){ .top = TOP };
}

/* Held by GreenCastle for ten minutes. */
static void hold(struct door *door, const char *pattern, const char *more_columns,
	const char *more_values)
{
	struct mr_arena *arena = door->world.cx.arena;
	struct mr_glob *glob;

	CHECK_OK(mr_glob_compile(arena, pattern, NULL, &glob, &door->world.cx.err),
		door->world.cx.err);
	world_exec(&door->world,
		mr_arena_printf(arena,
			"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix,"
			" created_ts, expires_ts%s) VALUES (%lld, 1, '%s', '%s', 1, %lld%s)",
			more_columns, (long long)door->project.id, pattern,
			mr_glob_literal_prefix(glob),
			(long long)door->world.clock.now_us + 600 * 1000000LL, more_values));
}

/* "path:Holder,Holder path:Holder" */
static const char *shown(struct mr_arena *arena, const struct mr_team_guard_answer *answer)
{
	const char *text = "";

	for (size_t i = 0; i < answer->conflicts.len; i++) {
		const struct mr_team_conflict *conflict = &answer->conflicts.items[i];

		text = mr_arena_printf(arena, "%s%s%s:", text, i ? " " : "", conflict->path);
		for (size_t k = 0; k < conflict->holders.len; k++)
			text = mr_arena_printf(arena, "%s%s%s", text, k ? "," : "",
				conflict->holders.items[k].agent);
	}
	return text;
}

static struct mr_team_guard_answer ask_as(struct door *door, const char *agent, const char *paths)
{
	struct mr_team_guard_question question = {
		.config = &door->world.config,
		.place = &door->place,
		.agent = agent,
		.paths = mr_str_split(door->world.cx.arena, paths, ' '),
		.quick = true,
	};
	struct mr_team_guard_answer answer;

	CHECK_OK(mr_team_guard_ask(&door->world.cx, &question, &answer), door->world.cx.err);
	return answer;
}

static void check_held(struct door *door, const char *paths, const char *want)
{
	struct mr_team_guard_answer answer = ask_as(door, "BlueLake", paths);

	CHECK_STR(shown(door->world.cx.arena, &answer), want);
}

static void from_the_database(void)
{
	struct door door;
	struct mr_team_guard_answer answer;

	door_open(&door);
	hold(&door, "src/*.c", "", "");
	hold(&door, "docs", "", "");
	hold(&door, "all/*", "", "");
	hold(&door, "soft", ", exclusive", ", 0");
	hold(&door, "free", ", released_ts", ", 5");
	hold(&door, "agents/X/inbox/*/*/*.md", ", origin", ", 'escalation'");
	check_held(&door, "src/a.c", "src/a.c:GreenCastle");
	check_held(&door, "docs docs/a/b src/a.h src/b.c x",
		"docs:GreenCastle docs/a/b:GreenCastle src/b.c:GreenCastle");
	check_held(&door, "soft free all/deep/x agents/X/inbox/1/2/a.md documents", "");
	answer = ask_as(&door, "greencastle", "docs");
	CHECK_STR(shown(door.world.cx.arena, &answer), "");
	CHECK_STR(answer.source, "database");
	CHECK_STR(answer.project.human_key, TOP);
	answer = ask_as(&door, NULL, "docs");
	CHECK_STR(shown(door.world.cx.arena, &answer), "docs:GreenCastle");
	world_later(&door.world, 601);
	check_held(&door, "docs src/a.c", "");
	world_close(&door.world);
}

static void many_paths_and_few_say_the_same(void)
{
	struct door door;
	const char *many = "a/1 a/2 b";

	door_open(&door);
	hold(&door, "a", "", "");
	hold(&door, "a/1", "", "");
	hold(&door, "*", "", "");
	check_held(&door, many, "a/1:GreenCastle,GreenCastle a/2:GreenCastle b:GreenCastle");
	for (int i = 0; i < 40; i++)
		many = mr_arena_printf(door.world.cx.arena, "%s z/%02d", many, i);
	check_held(&door, many, "a/1:GreenCastle,GreenCastle a/2:GreenCastle b:GreenCastle");
	world_close(&door.world);
}

static void case_is_folded_where_asked(void)
{
	struct door door;

	door_open(&door);
	hold(&door, "Src/[A-Z]*.c", "", "");
	check_held(&door, "Src/Ab.c src/ab.c", "Src/Ab.c:GreenCastle");
	door.place.ignore_case = true;
	check_held(&door, "Src/Ab.c src/ab.c", "Src/Ab.c:GreenCastle src/ab.c:GreenCastle");
	world_close(&door.world);
}

static void a_project_inside_a_repository(void)
{
	struct door door;

	door_open(&door);
	hold(&door, "a", "", "");
	door.place.top = "/srv";
	check_held(&door, "backend/a", "");
	door.place.near = TOP;
	check_held(&door, "a backend/a backend2/a", "a:GreenCastle");
	door.place = (struct mr_team_guard_place){ .top = "/elsewhere", .main = TOP };
	check_held(&door, "a", "a:GreenCastle");
	world_close(&door.world);
}

static void put_record(struct door *door, const char *name, const char *text)
{
	struct mr_arena *arena = door->world.cx.arena;
	const char *directory = mr_team_layout_reservations(arena,
		mr_team_layout_project(arena, "root", door->project.slug));

	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, directory, 0700, &door->world.cx.err),
		door->world.cx.err);
	files_put(mr_arena_printf(arena, "%s/%s", directory, name), text);
}

static void from_the_archive(void)
{
	struct door door;
	struct mr_team_guard_answer answer;

	door_open(&door);
	put_record(&door, "a.json",
		"{\"agent\": \"BlueLake\", \"path_pattern\": \"a\", \"released_ts\": "
		"\"2026-01-01\","
		" \"holders\": [{\"agent\": \"GreenCastle\", \"path_pattern\": \"a\", "
		"\"exclusive\":"
		" true, \"expires_ts\": \"2026-03-11T04:16:00Z\"}]}");
	put_record(&door, "b.json",
		"{\"agent\": \"GreenCastle\", \"path_pattern\": \"b\", \"expires_ts\":"
		" \"2026-03-11T04:14:59+00:00\"}");
	put_record(&door, "c.json", "{\"agent\": \"GreenCastle\", \"path_pattern\": \"c\"}");
	put_record(&door, "bad.json", "{\"agent\": \"GreenCastle\"}");
	put_record(&door, "list.json", "[]");
	put_record(&door, "holders.json",
		"{\"agent\": \"GreenCastle\", \"path_pattern\": \"d\", \"holders\": 7}");
	put_record(&door, "notes.txt", "{");
	mr_team_closep(&door.world.team);
	CHECK_INT(unlink("root/storage.sqlite3"), 0);
	answer = ask_as(&door, "BlueLake", "a b c");
	CHECK_STR(answer.source, "archive");
	CHECK_STR(shown(door.world.cx.arena, &answer), "a:GreenCastle c:GreenCastle");
	CHECK_INT(answer.conflicts.items[1].holders.items[0].expires_ts, 0);
	CHECK_INT(answer.warnings.len, 3);
	CHECK(strstr(answer.warnings.items[0], "bad.json is passed over: lease: $.path_pattern"));
	world_close(&door.world);
}

static void nothing_there_is_an_answer(void)
{
	struct door door;
	struct mr_team_guard_answer answer;
	struct mr_team_guard_question question;

	door_open(&door);
	door.place.top = "/unknown";
	answer = ask_as(&door, "BlueLake", "a");
	CHECK(!answer.source);
	door.world.config.storage_root = "none";
	door.world.config.database = NULL;
	CHECK(!ask_as(&door, "BlueLake", "a").source);
	CHECK(!mr_fs_exists(AT_FDCWD, "none"));
	/* What is there and cannot be read is none. */
	door.world.config.database = ".";
	question = (struct mr_team_guard_question){ .config = &door.world.config,
		.place = &door.place,
		.quick = true };
	CHECK(mr_team_guard_ask(&door.world.cx, &question, &answer) != MR_OK);
	world_close(&door.world);
}

static void ten_thousand_leases(void)
{
	struct door door;

	door_open(&door);
	world_exec(&door.world,
		mr_arena_printf(door.world.cx.arena,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <"
			" 10000) INSERT INTO file_reservations (project_id, agent_id, path_pattern,"
			" prefix, created_ts, expires_ts) SELECT %lld, 1, 'src/' || i || '/*.c',"
			" 'src/' || i, 1, %lld FROM n",
			(long long)door.project.id, (long long)WORLD_NOW_US + 1000000));
	check_held(&door, "src/77/a.c src/77/a.h", "src/77/a.c:GreenCastle");
	CHECK_INT(ask_as(&door, "BlueLake", "").leases, 10000);
	CHECK_INT(ask_as(&door, "BlueLake", "src/77/a.c").leases, 1);
	world_close(&door.world);
}

static void records_are_read_strictly(void)
{
	static const struct {
		const char *text, *want; /* NULL: it is good */
	} rows[] = {
		{ "{\"agent\":\"A\",\"path_pattern\":\"p\"}", NULL },
		{ "{\"agent\":\"A\",\"path_pattern\":\"p\",\"expires_ts\":null,\"id\":null}",
			NULL },
		{ "{\"agent\":\"A\"}", "$.path_pattern" },
		{ "{\"agent\":null,\"path_pattern\":\"p\"}", "$.agent" },
		{ "{\"agent\":\"A\",\"path_pattern\":\"p\",\"exclusive\":1}", "$.exclusive" },
		{ "{\"agent\":\"A\",\"path_pattern\":\"p\",\"expires_ts\":5}", "$.expires_ts" },
		{ "{\"agent\":\"A\",\"path_pattern\":\"p\",\"released_ts\":\"x\"}",
			"$.released_ts" },
		{ "[]", "lease" },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		const struct mr_value *value;
		struct mr_team_reservation lease = { 0 };
		struct mr_err err = { 0 };

		CHECK_OK(mr_json_parse(arena, mr_bytes_text(rows[i].text), NULL, &value, &err),
			err);
		CHECK_INT(mr_team_guard_read_lease(arena, value, &lease, &err),
			rows[i].want ? MR_EFORMAT : MR_OK);
		CHECK(!rows[i].want || strstr(err.msg, rows[i].want));
		CHECK(rows[i].want || lease.exclusive);
	}
	mr_arena_free(arena);
}

static void edits_name_their_files(void)
{
	static const struct {
		const char *text;
		bool writes;
		const char *paths;
	} rows[] = {
		{ "{\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"/a/b\"}}", true,
			"/a/b" },
		{ "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"b\"},\"cwd\":\"/w\"}",
			true, "/w/b" },
		{ "{\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"b\"},\"cwd\":\"w\"}",
			true, "/here/b" },
		{ "{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"/a\"}}", false, "/a" },
		{ "{\"toolName\":\"write\",\"toolInput\":{\"filePath\":\"/a\"}}", true, "/a" },
		{ "{\"tool_name\":\"MultiEdit\",\"tool_input\":{\"file_path\":\"/a\",\"edits\":"
		  "[{\"file_path\":\"/b\"},{\"file_path\":\"/a\"},7]}}",
			true, "/a /b" },
		{ "{\"tool_name\":\"apply_patch\",\"tool_input\":{\"patch\":\"*** Add File: "
		  "x\\n+*** "
		  "Add File: no\\n*** Delete File: y\\r\\n*** Move to: z\"}}",
			true, "/here/x /here/y /here/z" },
		{ "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"apply_patch <<'E'\\n*** Begin "
		  "Patch\\n*** Add File: x\\n+y\\n*** End Patch\\nE\"}}",
			true, "/here/x" },
		{ "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"cat x\"}}", false, "" },
		{ "{\"tool_name\":\"delete_files\",\"tool_input\":{\"paths\":[\"/a\",\"/b\",1]}}",
			true, "/a /b" },
		{ "{\"tool_input\":{\"path\":\"file:///a\"}}", true, "/a" },
		{ "{\"tool_name\":\"Edit\",\"tool_input\":{\"file_path\":\"\"}}", true, "" },
		{ "{}", true, "" },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_err err = { 0 };
	struct mr_team_guard_edit edit;

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		CHECK_OK(mr_team_guard_edit_read(arena, mr_bytes_text(rows[i].text), "/here", &edit,
				 &err),
			err);
		CHECK_INT(edit.writes, rows[i].writes);
		CHECK_STR(mr_str_join(arena, &edit.paths, " "), rows[i].paths);
	}
	CHECK_INT(mr_team_guard_edit_read(arena, mr_bytes_text("[]"), "/", &edit, &err),
		MR_EFORMAT);
	CHECK_INT(mr_team_guard_edit_read(arena, mr_bytes_text(""), "/", &edit, &err), MR_EFORMAT);
	mr_arena_free(arena);
}

static void events_of_hooks_are_read(void)
{
	/* The name that the tool's answer gives, wherever the client puts the answer. */
	static const struct {
		const char *text, *told;
	} rows[] = {
		{ "{}", "- - -" },
		{ "{\"hook_event_name\":\"Stop\",\"session_id\":\"s\",\"stop_hook_active\":true}",
			"Stop s - again" },
		{ "{\"session_id\":\"\",\"tool_response\":{\"agent\":{\"name\":\"A\"}}}", "- - A" },
		{ "{\"tool_response\":\"{\\\"agent\\\":{\\\"name\\\":\\\"A\\\"}}\"}", "- - A" },
		{ "{\"tool_response\":[{\"type\":\"text\",\"text\":\"{\\\"name\\\":\\\"A\\\","
		  "\\\"program\\\":\\\"x\\\"}\"}]}",
			"- - A" },
		{ "{\"tool_response\":{\"structuredContent\":{\"agent\":{\"name\":\"A\"}}}}",
			"- - A" },
		{ "{\"tool_response\":{\"llmContent\":[{\"text\":\"<untrusted_context>\\n{\\\"agent\\\":"
		  "{\\\"name\\\":\\\"A\\\"}}\\n</untrusted_context>\"}]}}",
			"- - A" },
		{ "{\"tool_response\":{\"name\":\"A\",\"agent\":7}}", "- - -" },
		{ "{\"tool_response\":\"{\\\"agent\\\"\"}", "- - -" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_guard_event event;
	struct mr_err err = { 0 };

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		CHECK_OK(mr_team_guard_event_read(arena, mr_bytes_text(rows[i].text), "/here",
				 &event, &err),
			err);
		CHECK_STR(mr_arena_printf(arena, "%s %s %s%s", *event.name ? event.name : "-",
				  event.session ? event.session : "-",
				  event.given ? event.given : "-",
				  event.is_repeated ? " again" : ""),
			rows[i].told);
		CHECK_STR(event.cwd, "/here");
	}
	CHECK_INT(mr_team_guard_event_read(arena, mr_bytes_text("[]"), "/", &event, &err),
		MR_EFORMAT);
}

static void work_trees_are_found_without_git(void)
{
	struct door door;
	struct mr_ctx *cx = &door.world.cx;
	struct mr_team_guard_place place;
	const char *inside, *here;

	door_open(&door);
	here = mr_team_guard_real(cx->arena, ".");
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "main/.git/worktrees/t", 0700, &cx->err), cx->err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "tree/sub", 0700, &cx->err), cx->err);
	files_put("main/.git/config", "[core]\n\tIgnoreCase = true\n");
	files_put("main/.git/worktrees/t/commondir", "../..\n");
	files_put("tree/.git",
		mr_arena_printf(cx->arena, "gitdir: %s/main/.git/worktrees/t\n", here));
	CHECK(mr_team_guard_locate(cx, mr_arena_printf(cx->arena, "%s/main/x/y", here), here,
		&place, &inside));
	CHECK_STR(inside, "x/y");
	CHECK(!place.main && place.ignore_case);
	CHECK(mr_team_guard_locate(cx, mr_arena_printf(cx->arena, "%s/tree/sub/y", here),
		mr_arena_printf(cx->arena, "%s/tree/sub", here), &place, &inside));
	CHECK_STR(inside, "sub/y");
	CHECK_STR(place.main, mr_arena_printf(cx->arena, "%s/main", here));
	CHECK(mr_str_ends(place.near, "/tree/sub"));
	CHECK(mr_team_guard_locate(cx, "/none/x", "/none", &place, &inside));
	CHECK_STR(place.top, "/none");
	CHECK(!mr_team_guard_locate(cx, "/none2/x", "/none", &place, &inside));
	CHECK(!mr_team_guard_locate(cx, "/x", "/", &place, &inside));
	world_close(&door.world);
}

static void paths_become_real(void)
{
	struct door door;
	struct mr_arena *arena;
	const char *here;

	door_open(&door);
	arena = door.world.cx.arena;
	here = mr_team_guard_real(arena, ".");
	CHECK_INT(symlink("root", "link"), 0);
	CHECK_STR(mr_team_guard_real(arena, "link/x/../y"),
		mr_arena_printf(arena, "%s/root/y", here));
	CHECK_STR(mr_team_guard_real(arena, "new/deep"),
		mr_arena_printf(arena, "%s/new/deep", here));
	CHECK_STR(mr_team_guard_real(arena, "/../.."), "/");
	CHECK_STR(mr_team_guard_real(arena, "/none//./a"), "/none/a");
	world_close(&door.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(from_the_database),
		TEST(many_paths_and_few_say_the_same),
		TEST(case_is_folded_where_asked),
		TEST(a_project_inside_a_repository),
		TEST(from_the_archive),
		TEST(nothing_there_is_an_answer),
		TEST(ten_thousand_leases),
		TEST(records_are_read_strictly),
		TEST(edits_name_their_files),
		TEST(events_of_hooks_are_read),
		TEST(work_trees_are_found_without_git),
		TEST(paths_become_real),
	};

	return test_main(tests, MR_LEN(tests));
}
