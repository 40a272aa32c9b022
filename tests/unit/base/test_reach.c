/* tests/unit/base/test_reach.c - which directories a caller may name. */
#include "base/reach.h"

#include "files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scene {
	struct mr_arena *arena;
	struct mr_ctx cx;
	struct mr_reach reach;
	const char *roots[4];
	const char *top; /* the test's directory, without links */
	int asked;
	enum mr_code answer;
};

static const char *at(struct scene *s, const char *path)
{
	return mr_arena_printf(s->arena, "%s/%s", s->top, path);
}

static void set_up(struct scene *s)
{
	char *top;

	*s = (struct scene){ .arena = mr_arena_new() };
	files_enter();
	top = realpath(".", NULL);
	CHECK(top);
	s->top = mr_arena_strdup(s->arena, top);
	free(top);
	CHECK(mkdir("home", 0700) == 0 && mkdir("home/app", 0700) == 0);
	CHECK(mkdir("home/app/src", 0700) == 0 && mkdir("home/application", 0700) == 0);
	files_put("home/app/file", "x");
	CHECK(symlink("app", "home/link") == 0 && symlink("../application", "home/app/out") == 0);
	s->reach.roots = (struct mr_texts){ s->roots, 0 };
	s->reach.home = at(s, "home");
	s->cx = (struct mr_ctx){ .arena = s->arena, .reach = &s->reach };
}

static const char *named(struct scene *s, const char *path)
{
	const char *real = "not set";

	CHECK_OK(mr_reach_dir(&s->cx, path, &real), s->cx.err);
	return real;
}

static void the_command_line_may_name_all(void)
{
	struct scene s;

	set_up(&s);
	s.cx.reach = NULL;
	CHECK_STR(named(&s, at(&s, "home/link")), at(&s, "home/app"));
	CHECK_STR(named(&s, at(&s, "home")), at(&s, "home"));
	CHECK_STR(named(&s, "/"), NULL);
	CHECK_STR(named(&s, at(&s, "home/app/file")), NULL);
	CHECK_STR(named(&s, at(&s, "gone")), NULL);
	CHECK_STR(named(&s, "home/app"), NULL);
	mr_arena_free(s.arena);
}

static void others_may_name_what_is_below_their_roots(void)
{
	static const char *const outside[] = { "home/application", "home/app/out", "home", ".",
		"home/app/../application", "home/app/file", "gone", "home/app/gone" };
	struct scene s;

	set_up(&s);
	CHECK_STR(named(&s, at(&s, "home/app")), NULL);
	s.roots[s.reach.roots.len++] = at(&s, "gone");
	s.roots[s.reach.roots.len++] = at(&s, "home/link");
	CHECK_STR(named(&s, at(&s, "home/app")), at(&s, "home/app"));
	CHECK_STR(named(&s, at(&s, "home/app/src")), at(&s, "home/app/src"));
	CHECK_STR(named(&s, at(&s, "home/link/src/")), at(&s, "home/app/src"));
	CHECK_STR(named(&s, "/"), NULL);
	for (size_t i = 0; i < MR_LEN(outside); i++)
		CHECK_STR(named(&s, at(&s, outside[i])), NULL);
	mr_arena_free(s.arena);
}

static void nobody_gets_a_home_directory(void)
{
	struct scene s;

	set_up(&s);
	s.roots[s.reach.roots.len++] = "/"; /* allows nothing */
	CHECK_STR(named(&s, at(&s, "home/app")), NULL);
	s.roots[s.reach.roots.len++] = s.top;
	CHECK_STR(named(&s, at(&s, "home/app")), at(&s, "home/app"));
	CHECK_STR(named(&s, at(&s, "home")), NULL);
	CHECK_STR(named(&s, s.top), NULL);
	s.reach.home = NULL;
	CHECK_STR(named(&s, at(&s, "home")), at(&s, "home"));
	mr_arena_free(s.arena);
}

static void where_it_was_started_is_a_root(void)
{
	struct scene s;

	set_up(&s);
	s.reach.place = at(&s, "home/app");
	CHECK_STR(named(&s, at(&s, "home/app/src")), at(&s, "home/app/src"));
	CHECK_STR(named(&s, at(&s, "home/application")), NULL);
	/* Unless that is where everything is. */
	s.reach.place = at(&s, "home");
	CHECK_STR(named(&s, at(&s, "home/app/src")), NULL);
	s.reach.place = "/";
	CHECK_STR(named(&s, at(&s, "home/app/src")), NULL);
	mr_arena_free(s.arena);
}

static enum mr_code ask(void *arg, struct mr_ctx *cx, struct mr_texts *out)
{
	struct scene *s = arg;

	s->asked++;
	if (s->answer)
		return mr_err_set(&cx->err, s->answer, "the client does not say");
	s->roots[3] = at(s, "home/application");
	*out = (struct mr_texts){ &s->roots[3], 1 };
	return MR_OK;
}

static void a_client_is_asked_when_it_must_be(void)
{
	const char *real;
	struct scene s;

	set_up(&s);
	s.reach.place = at(&s, "home/app");
	s.reach.ask = ask;
	s.reach.ask_arg = &s;
	CHECK_STR(named(&s, at(&s, "home/application")), at(&s, "home/application"));
	CHECK_INT(s.asked, 1);
	/* Its roots are in the place of ours, not beside it. */
	CHECK_STR(named(&s, at(&s, "home/app")), NULL);
	CHECK_INT(s.asked, 2);
	CHECK_STR(mr_reach_known(&s.cx, at(&s, "home/application")), NULL);
	CHECK_INT(s.asked, 2);
	/* What the owner allows needs no question. */
	s.roots[s.reach.roots.len++] = at(&s, "home/app");
	CHECK_STR(named(&s, at(&s, "home/app")), at(&s, "home/app"));
	CHECK_STR(mr_reach_known(&s.cx, at(&s, "home/app")), at(&s, "home/app"));
	CHECK_INT(s.asked, 2);
	s.answer = MR_ETIMEOUT;
	CHECK_INT(mr_reach_dir(&s.cx, at(&s, "home/application"), &real), MR_ETIMEOUT);
	CHECK_STR(s.cx.err.msg, "the client does not say");
	mr_arena_free(s.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_command_line_may_name_all),
		TEST(others_may_name_what_is_below_their_roots),
		TEST(nobody_gets_a_home_directory),
		TEST(where_it_was_started_is_a_root),
		TEST(a_client_is_asked_when_it_must_be),
	};

	return test_main(tests, MR_LEN(tests));
}
