/* tests/unit/team/test_team_project.c */
#include "team/project.h"

#include "files.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/project_sql.h"
#include "test.h"
#include "world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct mr_team_project ensure(struct world *world, const char *key)
{
	struct mr_team_project project;

	CHECK_OK(mr_team_project_ensure(&world->cx, world->team, key, NULL, &project),
		world->cx.err);
	return project;
}

static enum mr_code find(struct world *world, const char *key, struct mr_team_project *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	return mr_team_project_find(&world->cx, reader.db, key, out);
}

/* The texts of a list in the error's data, joined. */
static const char *data_texts(struct world *world, const char *key)
{
	const struct mr_value *list = mr_value_get(mr_team_fail_data(&world->cx.err), key);
	const char *joined = "";

	CHECK(list && list->kind == MR_LIST);
	for (size_t i = 0; i < list->list.len; i++)
		joined = mr_arena_printf(world->cx.arena, "%s%s%s", joined, i ? " " : "",
			list->list.items[i].text);
	return joined;
}

static void ensuring_twice_is_one_project(void)
{
	struct mr_team_project first, again;
	struct world world;

	world_open(&world);
	first = ensure(&world, "/backend");
	CHECK_STR(first.slug, "backend");
	CHECK_STR(first.human_key, "/backend");
	CHECK_STR(first.identity_mode, "dir");
	CHECK_INT(first.created_at, WORLD_NOW_US);
	world_later(&world, 60);
	again = ensure(&world, "/backend");
	CHECK_INT(again.id, first.id);
	CHECK_INT(again.created_at, WORLD_NOW_US);
	CHECK_INT(ensure(&world, " /Backend// ").id, first.id);
	CHECK_INT(world_count(&world, "projects"), 1);
	/* Its repository is initialised once. */
	CHECK_STR(world_list(&world,
			  "SELECT kind || ' ' || ref || ' ' || subject FROM archive_queue", ","),
		"project 1 chore: initialize archive");
	world_close(&world);
}

static void slugs_say_where_a_project_is(void)
{
	static const char *const cases[][2] = {
		{ "/data/projects/backend", "data-projects-backend" },
		{ "  Hello World!!  ", "hello-world" },
		{ "/", "project" },
		{ "/with space/and_underscore", "with-space-and-underscore" },
	};
	struct world world;

	world_open(&world);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_project found;
		struct mr_team_project made = ensure(&world, cases[i][0]);

		CHECK_STR(made.slug, cases[i][1]);
		CHECK_OK(find(&world, cases[i][0], &found), world.cx.err);
		CHECK_INT(found.id, made.id);
		CHECK_OK(find(&world, cases[i][1], &found), world.cx.err);
		CHECK_INT(found.id, made.id);
	}
	world_close(&world);
}

static void equal_slugs_of_other_paths_are_told_apart(void)
{
	struct mr_team_project dash, deep, found;
	struct world world;

	world_open(&world);
	dash = ensure(&world, "/a/b-c");
	deep = ensure(&world, "/a/b/c");
	CHECK_STR(dash.slug, "a-b-c");
	CHECK(mr_str_starts(deep.slug, "a-b-c-"));
	CHECK_INT(strlen(deep.slug), strlen("a-b-c-") + 8);
	CHECK(deep.id != dash.id);
	CHECK_INT(ensure(&world, "/a/b/c/").id, deep.id);
	CHECK_OK(find(&world, "/A/B/C", &found), world.cx.err);
	CHECK_INT(found.id, deep.id);
	CHECK_OK(find(&world, deep.slug, &found), world.cx.err);
	CHECK_INT(found.id, deep.id);
	CHECK_OK(find(&world, "a-b-c", &found), world.cx.err);
	CHECK_INT(found.id, dash.id);
	world_close(&world);
}

static void bare_names_differ_by_letters_only(void)
{
	struct mr_team_project first, chinese, japanese;
	struct world world;

	world_open(&world);
	first = ensure(&world, "My-Project");
	CHECK_INT(ensure(&world, "my_project").id, first.id);
	CHECK_INT(ensure(&world, "MY PROJECT!").id, first.id);
	/* Nothing of these is left in a slug, and yet they are two. */
	chinese = ensure(&world, "\xe9\xa1\xb9\xe7\x9b\xae");
	japanese = ensure(&world, "\xe8\xa8\x88\xe7\x94\xbb");
	CHECK_STR(chinese.slug, "project");
	CHECK(mr_str_starts(japanese.slug, "project-"));
	CHECK_INT(ensure(&world, "\xe8\xa8\x88\xe7\x94\xbb").id, japanese.id);
	CHECK(ensure(&world, "caf\xc3\xa9").id != ensure(&world, "caf\xc3\xa8").id);
	world_close(&world);
}

static void the_last_name_of_a_path_will_do(void)
{
	struct mr_team_project project, found;
	struct world world;

	world_open(&world);
	project = ensure(&world, "/path/to/backend");
	CHECK_OK(find(&world, "backend", &found), world.cx.err);
	CHECK_INT(found.id, project.id);
	CHECK_OK(find(&world, "Backend", &found), world.cx.err);
	CHECK_INT(found.id, project.id);
	CHECK_INT(ensure(&world, "backend").id, project.id);
	/* Another path is another place, whatever it is called. */
	world_check_fail(&world, find(&world, "/backend", &found), MR_TEAM_NOT_FOUND,
		"there is no project \"/backend\"");
	world_close(&world);
}

static void an_ambiguous_name_lists_who_is_meant(void)
{
	struct mr_team_project found;
	struct world world;

	world_open(&world);
	ensure(&world, "/one/backend");
	ensure(&world, "/two/backend");
	world_check_fail(&world, find(&world, "backend", &found), MR_TEAM_INVALID_ARGUMENT,
		"\"backend\" may mean several projects: /one/backend, /two/backend; name one by "
		"its path");
	CHECK_STR(data_texts(&world, "candidates"), "/one/backend /two/backend");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "argument")->text, "project_key");
	CHECK_OK(find(&world, "/two/backend", &found), world.cx.err);
	world_check_fail(&world,
		mr_team_project_ensure(&world.cx, world.team, "backend", NULL, &found),
		MR_TEAM_INVALID_ARGUMENT, "several projects");
	world_close(&world);
}

static void a_slip_is_answered_with_what_is_near(void)
{
	struct mr_team_project found;
	struct world world;

	world_open(&world);
	ensure(&world, "/path/to/backend");
	ensure(&world, "/path/to/frontend");
	world_check_fail(&world, find(&world, "bakcend", &found), MR_TEAM_NOT_FOUND,
		"there is no project \"bakcend\" (did you mean backend?); `mailroom team "
		"projects`");
	CHECK_STR(data_texts(&world, "suggestions"), "backend");
	world_check_fail(&world, find(&world, "./backend", &found), MR_TEAM_NOT_FOUND,
		"(a relative path: give the absolute one)");
	world_check_fail(&world, find(&world, "zzzzzzzzzzzzzzzzzz", &found), MR_TEAM_NOT_FOUND,
		"there is no project \"zzzzzzzzzzzzzzzzzz\"; `mailroom");
	CHECK_STR(data_texts(&world, "suggestions"), "");
	world_close(&world);
}

static void keys_that_cannot_be_are_refused(void)
{
	static const struct {
		const char *key, *text;
	} cases[] = {
		{ "", "the project's key is empty" },
		{ "   ", "the project's key is empty" },
		{ NULL, "the project's key is empty" },
		{ "/a\nb", "holds a control character (0x0a)" },
		{ "..", "is a relative path" },
		{ "../../etc", "is a relative path" },
		{ "./here", "give the absolute path of the repository" },
	};
	struct mr_team_project project;
	struct world world;
	char *huge;

	world_open(&world);
	for (size_t i = 0; i < MR_LEN(cases); i++)
		world_check_fail(&world,
			mr_team_project_ensure(&world.cx, world.team, cases[i].key, NULL, &project),
			MR_TEAM_INVALID_ARGUMENT, cases[i].text);
	huge = mr_arena_alloc(world.cx.arena, (1 << 20) + 1);
	memset(huge, 'a', 1 << 20);
	world_check_fail(&world,
		mr_team_project_ensure(&world.cx, world.team, huge, NULL, &project),
		MR_TEAM_INVALID_ARGUMENT,
		"the project's key is 1048576 bytes long; at most 255 are possible");
	world_check_fail(&world, find(&world, huge, &project), MR_TEAM_INVALID_ARGUMENT,
		"1048576 bytes long");
	world_check_fail(&world,
		mr_team_project_ensure(&world.cx, world.team, "/a", "magic", &project),
		MR_TEAM_INVALID_ARGUMENT, "\"magic\" is no identity mode");
	CHECK_INT(world_count(&world, "projects"), 0);
	world_close(&world);
}

static void the_longest_keys_have_slugs_that_are_file_names(void)
{
	struct world world;
	char first[MR_TEAM_KEY_BYTES + 1], second[MR_TEAM_KEY_BYTES + 1];

	world_open(&world);
	memset(first, 'a', MR_TEAM_KEY_BYTES);
	first[0] = '/';
	first[100] = '-';
	first[MR_TEAM_KEY_BYTES] = '\0';
	memcpy(second, first, sizeof(first));
	second[100] = '/';
	CHECK_INT(strlen(ensure(&world, first).slug), MR_TEAM_KEY_BYTES - 1);
	CHECK_INT(strlen(ensure(&world, second).slug), MR_TEAM_KEY_BYTES);
	CHECK_INT(world_count(&world, "projects"), 2);
	world_close(&world);
}

static void projects_are_listed_and_got(void)
{
	struct mr_team_reader reader = { 0 };
	struct mr_team_projects list;
	struct mr_team_project project;
	struct world world;

	world_open(&world);
	for (int i = 0; i < 40; i++)
		ensure(&world, mr_arena_printf(world.cx.arena, "/p/%d", i));
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_project_list(&world.cx, reader.db, &list), world.cx.err);
	CHECK_INT(list.len, 40);
	CHECK_STR(list.items[39].human_key, "/p/39");
	CHECK_OK(mr_team_project_get(&world.cx, reader.db, list.items[7].id, &project),
		world.cx.err);
	CHECK_STR(project.human_key, "/p/7");
	world_check_fail(&world, mr_team_project_get(&world.cx, reader.db, 4711, &project),
		MR_TEAM_NOT_FOUND, "there is no project with the id 4711");
	mr_team_read_done(&reader);
	world_close(&world);
}

/* Two worktrees: their slug is the same, their keys are not. */
static enum mr_code ensure_planned(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct mr_team_project *project = arg;

	return mr_team_project_ensure_in(cx, db, project, project);
}

static void one_repository_may_have_many_paths(void)
{
	struct mr_team_project first = { .slug = "repo-0123456789",
		.human_key = "/one",
		.identity_mode = "git-common-dir",
		.created_at = WORLD_NOW_US };
	struct mr_team_project second = first, third = first, found;
	struct world world;

	world_open(&world);
	second.human_key = "/two";
	CHECK_OK(mr_team_write(&world.cx, world.team, ensure_planned, NULL, &first), world.cx.err);
	CHECK_OK(mr_team_write(&world.cx, world.team, ensure_planned, NULL, &second), world.cx.err);
	CHECK_INT(second.id, first.id);
	CHECK_STR(second.human_key, "/one");
	CHECK_OK(find(&world, "/two/", &found), world.cx.err);
	CHECK_INT(found.id, first.id);
	/* The same slug by chance is not the same identity. */
	third.human_key = "/repo-0123456789";
	third.identity_mode = "dir";
	CHECK_OK(mr_team_write(&world.cx, world.team, ensure_planned, NULL, &third), world.cx.err);
	CHECK(third.id != first.id);
	world_close(&world);
}

enum { THREADS = 16 };

struct one {
	struct world *world;
	pthread_t thread;
	int64_t id;
	struct mr_err err;
	enum mr_code rc;
};

static void *ensure_one(void *arg)
{
	struct one *one = arg;
	struct mr_ctx cx = { .arena = mr_arena_new(), .clock = one->world->cx.clock };
	struct mr_team_project project = { 0 };

	one->rc = mr_team_project_ensure(&cx, one->world->team, "/same/place", NULL, &project);
	one->err = cx.err;
	one->id = project.id;
	mr_arena_free(cx.arena);
	return NULL;
}

static void many_at_once_get_the_same_project(void)
{
	struct one ones[THREADS];
	struct world world;

	world_open(&world);
	for (size_t i = 0; i < THREADS; i++) {
		ones[i] = (struct one){ .world = &world };
		CHECK_INT(pthread_create(&ones[i].thread, NULL, ensure_one, &ones[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(ones[i].thread, NULL);
		CHECK_OK(ones[i].rc, ones[i].err);
		CHECK_INT(ones[i].id, ones[0].id);
	}
	CHECK_INT(world_count(&world, "projects"), 1);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(ensuring_twice_is_one_project),
		TEST(slugs_say_where_a_project_is),
		TEST(equal_slugs_of_other_paths_are_told_apart),
		TEST(bare_names_differ_by_letters_only),
		TEST(the_last_name_of_a_path_will_do),
		TEST(an_ambiguous_name_lists_who_is_meant),
		TEST(a_slip_is_answered_with_what_is_near),
		TEST(keys_that_cannot_be_are_refused),
		TEST(the_longest_keys_have_slugs_that_are_file_names),
		TEST(projects_are_listed_and_got),
		TEST(one_repository_may_have_many_paths),
		TEST(many_at_once_get_the_same_project),
	};

	return test_main(tests, MR_LEN(tests));
}
