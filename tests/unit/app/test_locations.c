/* tests/unit/app/test_locations.c */
#include "app/locations.h"

#include "app/settings.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Assignments with spaces between them. */
static const struct mr_settings *settings_with(struct mr_arena *arena, const char *text)
{
	struct mr_texts assignments = mr_str_split(arena, text, ' ');
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
		CHECK_STR(mr_locations_url(arena, settings_with(arena, cases[i][0])), cases[i][1]);
}

static void a_repository_is_found_from_within(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *top = NULL, *found = NULL;
	struct mr_err err;

	CHECK(chdir(test_dir()) == 0);
	CHECK(mkdir("repo", 0755) == 0 && mkdir("repo/.git", 0755) == 0);
	CHECK(mkdir("repo/a", 0755) == 0 && mkdir("repo/a/b", 0755) == 0);
	CHECK_OK(mr_locations_project(arena, "repo", &top, &err), err);
	CHECK(*top == '/' && mr_str_ends(top, "/repo"));
	CHECK(chdir("repo/a/b") == 0);
	CHECK_OK(mr_locations_project(arena, NULL, &found, &err), err);
	CHECK_STR(found, top);
	CHECK_OK(mr_locations_project(arena, ".", &found, &err), err);
	CHECK(mr_str_ends(found, "/repo/a/b"));
	CHECK_INT(mr_locations_project(arena, "nowhere", &found, &err), MR_ENOTFOUND);
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
	CHECK_OK(mr_locations_project(arena, "p", &project, &err), err);
	CHECK_OK(mr_locations_file(arena, project, &file, &path, &err), err);
	CHECK_STR(path, mr_arena_printf(arena, "%s/d/f", project));
	CHECK(symlink("../pp", "p/d") == 0);
	CHECK_INT(mr_locations_file(arena, project, &file, &path, &err), MR_EPERM);
	CHECK(unlink("p/d") == 0 && mkdir("p/d", 0755) == 0 && symlink("gone", "p/d/f") == 0);
	CHECK_INT(mr_locations_file(arena, project, &file, &path, &err), MR_ENOTFOUND);
	CHECK(strstr(err.msg, "leads nowhere"));
	CHECK(setenv("HOME", "/nobody", 1) == 0 && unsetenv("CODEX_HOME") == 0);
	CHECK_OK(mr_locations_file(arena, project, &home, &path, &err), err);
	CHECK_STR(path, "/nobody/.codex/f");
	CHECK(setenv("CODEX_HOME", "/other", 1) == 0);
	CHECK_OK(mr_locations_file(arena, project, &home, &path, &err), err);
	CHECK_STR(path, "/other/f");
}

static void the_program_has_a_name(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *before = mr_arena_strdup(arena, getenv("PATH"));

	CHECK(chdir(test_dir()) == 0);
	CHECK(setenv("PATH", "/nowhere", 1) == 0);
	CHECK(*mr_locations_program(arena) == '/');
	CHECK(symlink("/bin/true", "mailroom") == 0);
	CHECK(setenv("PATH", mr_locations_absolute(arena, "."), 1) == 0);
	CHECK_STR(mr_locations_program(arena), "mailroom");
	CHECK(setenv("PATH", before, 1) == 0);
}

static void a_socket_has_a_directory_of_the_user(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_locations_user user = { .run_user = "/nowhere", .uid = geteuid() };
	const char *here, *run;

	CHECK(chdir(test_dir()) == 0);
	here = mr_locations_absolute(arena, "home");
	run = mr_arena_printf(arena, "run/%u", user.uid);
	CHECK(mkdir("home", 0700) == 0 && mkdir("run", 0755) == 0 && mkdir(run, 0700) == 0);
	CHECK(!mr_locations_socket_directory(arena, &user));
	user.home = "not/absolute";
	CHECK(!mr_locations_socket_directory(arena, &user));
	user.home = "/u";
	CHECK_STR(mr_locations_socket_directory(arena, &user), "/u/.local/state/mailroom");
	user.state_home = "/state";
	CHECK_STR(mr_locations_socket_directory(arena, &user), "/state/mailroom");
	user.run_user = mr_locations_absolute(arena, "run");
	CHECK_STR(mr_locations_socket_directory(arena, &user),
		mr_arena_printf(arena, "%s/%u/mailroom", user.run_user, user.uid));
	user.runtime_dir = here;
	CHECK_STR(mr_locations_socket_directory(arena, &user),
		mr_arena_printf(arena, "%s/mailroom", here));
	/* What belongs to somebody else, or is not there, is passed over. */
	user.uid++;
	CHECK_STR(mr_locations_socket_directory(arena, &user), "/state/mailroom");
	user.uid--;
	user.runtime_dir = "/nowhere";
	user.run_user = "/nowhere";
	CHECK_STR(mr_locations_socket_directory(arena, &user), "/state/mailroom");
}

static void a_server_has_a_socket(void)
{
	static const char *const off[] = { "http.socket=", "http.socket=off", "http.socket=false" };
	static const char *const urls[][2] = {
		{ "http://127.0.0.1:9/mcp", "/mailroom/mailroom-9.sock" },
		{ "http://localhost:9", "/mailroom/mailroom-9.sock" },
		{ "HTTP://LocalHost:65535?x", "/mailroom/mailroom-65535.sock" },
		{ "http://127.1.2.3:9/", "/mailroom/mailroom-9.sock" },
		{ "http://[::1]:9/", "/mailroom/mailroom-9.sock" },
		{ "http://[::1]/", "/mailroom/mailroom-80.sock" },
		{ "http://localhost/mcp", "/mailroom/mailroom-80.sock" },
		{ "https://127.0.0.1:9/mcp", NULL },
		{ "http://10.0.0.1:9/mcp", NULL },
		{ "http://localhost.example:9/mcp", NULL },
		{ "http://127.0.0.1.example:9/mcp", NULL },
		{ "http://u:p@127.0.0.1:9/mcp", NULL },
		{ "http://127.0.0.1:9@far.example/mcp", NULL },
		{ "http://127.0.0.1:/mcp", NULL },
		{ "http://127.0.0.1:65536/mcp", NULL },
		{ "http://127.0.0.1:0/mcp", NULL },
		{ "http://[::2]:9/", NULL },
		{ "http://", NULL },
		{ "", NULL },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_settings *s = settings_with(arena, "http.port=7");

	CHECK(setenv("XDG_RUNTIME_DIR", mr_locations_absolute(arena, test_dir()), 1) == 0);
	CHECK(mr_locations_socket_is_auto(s));
	for (size_t i = 0; i < MR_LEN(urls); i++) {
		const char *path = mr_locations_socket_of(arena, s, urls[i][0]);

		CHECK(!path == !urls[i][1]);
		CHECK(!path || mr_str_ends(path, urls[i][1]));
	}
	for (size_t i = 0; i < MR_LEN(off); i++) {
		CHECK(!mr_locations_socket(arena, settings_with(arena, off[i]), 7));
		CHECK(!mr_locations_socket_of(arena, settings_with(arena, off[i]),
			"http://127.0.0.1:8765"));
	}
	/* One that was named is that of the port that is set, and of no other. */
	s = settings_with(arena, "http.socket=/s/s.sock");
	CHECK(!mr_locations_socket_is_auto(s));
	CHECK_STR(mr_locations_socket(arena, s, 7), "/s/s.sock");
	CHECK_STR(mr_locations_socket_of(arena, s, "http://127.0.0.1:8765/mcp"), "/s/s.sock");
	CHECK(!mr_locations_socket_of(arena, s, "http://127.0.0.1:7/mcp"));
}

static void loopback_is_trusted_when_nothing_speaks_against_it(void)
{
	static const struct {
		const char *assignments;
		enum mr_locations_trust user, root;
	} table[] = {
		{ "http.port=1", MR_LOCATIONS_TRUSTS_LOCAL, MR_LOCATIONS_TRUSTS_NOBODY },
		{ "http.bearer_token=t", MR_LOCATIONS_TRUSTS_NOBODY, MR_LOCATIONS_TRUSTS_NOBODY },
		{ "http.bearer_tokens=t:reader", MR_LOCATIONS_TRUSTS_NOBODY,
			MR_LOCATIONS_TRUSTS_NOBODY },
		{ "http.allow_localhost=true", MR_LOCATIONS_TRUSTS_LOCAL,
			MR_LOCATIONS_TRUSTS_AT_RISK },
		{ "http.allow_localhost=false", MR_LOCATIONS_TRUSTS_NOBODY,
			MR_LOCATIONS_TRUSTS_NOBODY },
		{ "http.allow_localhost=true http.bearer_token=t", MR_LOCATIONS_TRUSTS_AT_RISK,
			MR_LOCATIONS_TRUSTS_AT_RISK },
		{ "http.allow_localhost=true jwt.enabled=true", MR_LOCATIONS_TRUSTS_NOBODY,
			MR_LOCATIONS_TRUSTS_NOBODY },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool is_root = geteuid() == 0;

	CHECK(chdir(test_dir()) == 0);
	for (size_t i = 0; i < MR_LEN(table); i++) {
		const struct mr_settings *s = settings_with(arena, table[i].assignments);
		enum mr_locations_trust mine = is_root ? table[i].root : table[i].user;

		CHECK_INT(mr_locations_trust(s, false), table[i].user);
		CHECK_INT(mr_locations_trust(s, true), table[i].root);
		CHECK_INT(mr_locations_needs_token(s, true), mine == MR_LOCATIONS_TRUSTS_NOBODY);
	}
	/* Nobody gets in over TCP where a token is asked for and there is none. */
	CHECK(mr_locations_is_closed(settings_with(arena, "http.allow_localhost=false")));
	CHECK(!mr_locations_is_closed(settings_with(arena, "http.allow_localhost=true")));
	CHECK(!mr_locations_is_closed(settings_with(arena, "http.bearer_token=t")));
	CHECK(!mr_locations_is_closed(settings_with(arena, "jwt.enabled=true")));
	CHECK_INT(mr_locations_is_closed(settings_with(arena, "http.port=1")), is_root);
}

static void what_must_be_remembered_has_a_place(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *state;
	struct mr_err err;

	setenv("HOME", "/h", 1);
	setenv("XDG_STATE_HOME", "/s", 1);
	CHECK_OK(mr_locations_state(arena, &state, &err), err);
	CHECK_STR(state, "/s/mailroom");
	/* A relative one would be in a repository. */
	setenv("XDG_STATE_HOME", "s", 1);
	CHECK_OK(mr_locations_state(arena, &state, &err), err);
	CHECK_STR(state, "/h/.local/state/mailroom");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "", 1);
	CHECK(mr_locations_state(arena, &state, &err) == MR_ENOTFOUND);
	CHECK_STR(err.msg,
		"HOME is not set: where is what files said before to be kept? Set HOME, or "
		"XDG_STATE_HOME");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_server_has_an_address),
		TEST(a_repository_is_found_from_within),
		TEST(files_stay_inside),
		TEST(the_program_has_a_name),
		TEST(a_socket_has_a_directory_of_the_user),
		TEST(a_server_has_a_socket),
		TEST(loopback_is_trusted_when_nothing_speaks_against_it),
		TEST(what_must_be_remembered_has_a_place),
	};

	return test_main(tests, MR_LEN(tests));
}
