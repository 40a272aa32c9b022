/* tests/unit/op/test_place.c */
#include "op/place.h"

#include "op/settings.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct mr_settings *settings_with(struct mr_arena *arena, const char *assignment)
{
	const char *items[] = { assignment, NULL };
	struct mr_texts assignments = { items, 1 };
	const char *const none[] = { NULL };
	struct mr_settings_sources sources = { .assignments = &assignments,
		.variables = none,
		.cwd = AT_FDCWD };
	const struct mr_settings *settings = NULL;
	struct mr_err err;

	CHECK_OK(mr_settings_load(arena, &sources, &settings, &err), err);
	return settings;
}

static void the_server_has_an_address(void)
{
	static const char *const cases[][2] = {
		{ "http.port=9", "http://127.0.0.1:9/mcp" },
		{ "http.host=::1", "http://[::1]:8765/mcp" },
		{ "http.host=0.0.0.0", "http://127.0.0.1:8765/mcp" },
		{ "http.host=::", "http://127.0.0.1:8765/mcp" },
		{ "http.host=box.example", "http://box.example:8765/mcp" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK(chdir(test_dir()) == 0);
	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_place_url(arena, settings_with(arena, cases[i][0])), cases[i][1]);
}

static void a_repository_is_found_from_within(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *top = NULL, *found = NULL;
	struct mr_err err;

	CHECK(chdir(test_dir()) == 0);
	CHECK(mkdir("repo", 0755) == 0 && mkdir("repo/.git", 0755) == 0);
	CHECK(mkdir("repo/a", 0755) == 0 && mkdir("repo/a/b", 0755) == 0);
	CHECK_OK(mr_place_project(arena, "repo", &top, &err), err);
	CHECK(*top == '/' && mr_str_ends(top, "/repo"));
	CHECK(chdir("repo/a/b") == 0);
	CHECK_OK(mr_place_project(arena, NULL, &found, &err), err);
	CHECK_STR(found, top);
	CHECK_OK(mr_place_project(arena, ".", &found, &err), err);
	CHECK(mr_str_ends(found, "/repo/a/b"));
	CHECK_INT(mr_place_project(arena, "nowhere", &found, &err), MR_ENOTFOUND);
}

static void files_stay_inside(void)
{
	static const struct mr_client_file file = { .path = "d/f" };
	static const struct mr_client_file home = { .path = ".codex/f", .is_in_home = true };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *project = NULL, *path = NULL;
	struct mr_err err;

	CHECK(chdir(test_dir()) == 0);
	CHECK(mkdir("p", 0755) == 0 && mkdir("pp", 0755) == 0);
	CHECK_OK(mr_place_project(arena, "p", &project, &err), err);
	CHECK_OK(mr_place_file(arena, project, &file, &path, &err), err);
	CHECK_STR(path, mr_arena_printf(arena, "%s/d/f", project));
	CHECK(symlink("../pp", "p/d") == 0);
	CHECK_INT(mr_place_file(arena, project, &file, &path, &err), MR_EPERM);
	CHECK(unlink("p/d") == 0 && mkdir("p/d", 0755) == 0 && symlink("gone", "p/d/f") == 0);
	CHECK_INT(mr_place_file(arena, project, &file, &path, &err), MR_ENOTFOUND);
	CHECK(strstr(err.msg, "leads nowhere"));
	CHECK(setenv("HOME", "/nobody", 1) == 0 && unsetenv("CODEX_HOME") == 0);
	CHECK_OK(mr_place_file(arena, project, &home, &path, &err), err);
	CHECK_STR(path, "/nobody/.codex/f");
	CHECK(setenv("CODEX_HOME", "/other", 1) == 0);
	CHECK_OK(mr_place_file(arena, project, &home, &path, &err), err);
	CHECK_STR(path, "/other/f");
}

static void the_program_has_a_name(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *before = mr_arena_strdup(arena, getenv("PATH"));

	CHECK(chdir(test_dir()) == 0);
	CHECK(setenv("PATH", "/nowhere", 1) == 0);
	CHECK(*mr_place_program(arena) == '/');
	CHECK(symlink("/bin/true", "mailroom") == 0);
	CHECK(setenv("PATH", mr_place_absolute(arena, "."), 1) == 0);
	CHECK_STR(mr_place_program(arena), "mailroom");
	CHECK(setenv("PATH", before, 1) == 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_server_has_an_address),
		TEST(a_repository_is_found_from_within),
		TEST(files_stay_inside),
		TEST(the_program_has_a_name),
	};

	return test_main(tests, MR_LEN(tests));
}
