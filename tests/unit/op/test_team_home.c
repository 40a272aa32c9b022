/* tests/unit/op/test_team_home.c */
#include "op/team/team_home.h"

#include "app/settings.h"
#include "base/attr.h"
#include "files.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "team/error.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct fixture {
	struct mr_arena *arena;
	struct mr_app app;
	struct mr_call call;
};

/* Settings as they would be given, NULL at the end. */
static void set_up(struct fixture *f, const char *const *given)
{
	const char *assignments[16] = { "storage.root=data" };
	struct mr_texts texts = { assignments, 1 };
	struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };

	files_enter();
	while (given && given[texts.len - 1]) {
		assignments[texts.len] = given[texts.len - 1];
		texts.len++;
	}
	*f = (struct fixture){ .arena = mr_arena_new() };
	f->app = (struct mr_app){ .table = &mr_nouns,
		.team = mr_team_home_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system() };
	f->call = mr_dispatch_call(&f->app, f->arena);
	CHECK_OK(mr_settings_load(f->arena, &sources, &f->app.settings, &f->call.cx.err),
		f->call.cx.err);
}

static void tear_down(struct fixture *f)
{
	mr_team_home_free(f->app.team);
	mr_arena_free(f->arena);
}

static void it_is_opened_once(void)
{
	struct mr_team *first = NULL, *second = NULL;
	struct fixture f;
	struct stat st;

	set_up(&f, NULL);
	CHECK(stat("data", &st) != 0);
	CHECK_OK(mr_team_home_open(&f.call, &first), f.call.cx.err);
	CHECK_OK(mr_team_home_open(&f.call, &second), f.call.cx.err);
	CHECK(first == second);
	CHECK(stat("data/storage.sqlite3", &st) == 0);
	tear_down(&f);
}

static void *open_home(void *arg)
{
	struct fixture *f = arg;
	struct mr_call call = mr_dispatch_call(&f->app, mr_arena_new());
	struct mr_team *team = NULL;

	if (mr_team_home_open(&call, &team))
		team = NULL;
	mr_arena_free(call.cx.arena);
	return team;
}

static void many_may_ask_at_once(void)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	void *teams[THREADS];
	struct fixture f;

	set_up(&f, NULL);
	for (size_t i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, open_home, &f), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], &teams[i]);
	for (size_t i = 0; i < THREADS; i++)
		CHECK(teams[i] && teams[i] == teams[0]);
	tear_down(&f);
}

static void it_can_be_asked_again_after_a_failure(void)
{
	struct mr_team *team = NULL;
	struct fixture f;

	set_up(&f, NULL);
	files_put("data", "not a directory");
	CHECK(mr_team_home_open(&f.call, &team) != MR_OK);
	CHECK(strstr(f.call.cx.err.msg, "team storage data"));
	CHECK_INT(remove("data"), 0);
	CHECK_OK(mr_team_home_open(&f.call, &team), f.call.cx.err);
	tear_down(&f);
}

static void the_database_may_be_elsewhere(void)
{
	static const struct {
		const char *url, *path;
	} cases[] = {
		{ "database.url=", "data/storage.sqlite3" },
		{ "database.url=other.sqlite3", "other.sqlite3" },
		{ "database.url=sqlite:///other.sqlite3", "other.sqlite3" },
		{ "database.url=sqlite+aiosqlite:///./other.sqlite3", "./other.sqlite3" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *given[] = { cases[i].url, NULL };
		struct mr_team *team = NULL;
		struct fixture f;

		set_up(&f, given);
		CHECK_OK(mr_team_home_open(&f.call, &team), f.call.cx.err);
		CHECK_STR(mr_team_database(team), cases[i].path);
		tear_down(&f);
	}
}

static void other_databases_are_refused_without_their_password(void)
{
	const char *given[] = { "database.url=mysql://me:hunter2@db/mail", NULL };
	struct mr_team *team = NULL;
	struct fixture f;

	set_up(&f, given);
	CHECK_INT(mr_team_home_open(&f.call, &team), MR_EINVAL);
	CHECK_STR(f.call.cx.err.word, MR_TEAM_INVALID_ARGUMENT);
	CHECK(strstr(f.call.cx.err.msg,
		"must be a path, sqlite:///path or a postgresql:// address, not a URL of mysql"));
	CHECK(!strstr(f.call.cx.err.msg, "hunter2"));
	tear_down(&f);
}

static void settings_reach_the_team(void)
{
	const char *given[] = {
		"team.name_enforcement=strict",
		"team.name_validation=any",
		"team.identity_mode=git-remote",
		"team.identity_remote=upstream",
		"git.author_name=Archivist",
		"ack.ttl_seconds=77",
		NULL,
	};
	struct mr_team_config config;
	struct fixture f;

	set_up(&f, given);
	CHECK_OK(mr_team_home_config(&f.call, &config), f.call.cx.err);
	CHECK_INT(config.name_mode, MR_TEAM_STRICT);
	CHECK(config.any_name);
	CHECK_STR(config.identity_mode, "git-remote");
	CHECK_STR(config.identity_remote, "upstream");
	CHECK_STR(config.author_name, "Archivist");
	CHECK_INT(config.ack_ttl_s, 77);
	tear_down(&f);
}

/* The settings' own fallbacks are the team's. */
static void nothing_set_is_the_default(void)
{
	struct mr_team_config config, plain = mr_team_config_default("data");
	struct fixture f;

	set_up(&f, NULL);
	CHECK_OK(mr_team_home_config(&f.call, &config), f.call.cx.err);
	CHECK_INT(config.name_mode, plain.name_mode);
	CHECK_INT(config.any_name, plain.any_name);
	CHECK_INT(config.auto_register, plain.auto_register);
	CHECK_STR(config.identity_mode, plain.identity_mode);
	CHECK_STR(config.identity_remote, plain.identity_remote);
	CHECK_STR(config.author_name, plain.author_name);
	CHECK_STR(config.author_email, plain.author_email);
	CHECK_INT(config.contacts_enforced, plain.contacts_enforced);
	CHECK_INT(config.contact_request_ttl_s, plain.contact_request_ttl_s);
	CHECK_INT(config.contact_approval_ttl_s, plain.contact_approval_ttl_s);
	CHECK_INT(config.enforce_reservations, plain.enforce_reservations);
	CHECK_INT(config.inactivity_s, plain.inactivity_s);
	CHECK_INT(config.activity_grace_s, plain.activity_grace_s);
	CHECK_INT(config.convert_images, plain.convert_images);
	CHECK_INT(config.inline_image_bytes, plain.inline_image_bytes);
	CHECK_INT(config.ack_ttl_s, plain.ack_ttl_s);
	CHECK_INT(config.escalate, plain.escalate);
	CHECK_INT(config.escalation_ttl_s, plain.escalation_ttl_s);
	CHECK_STR(config.escalation_holder, plain.escalation_holder);
	CHECK_INT(config.quota, plain.quota);
	tear_down(&f);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(it_is_opened_once),
		TEST(many_may_ask_at_once),
		TEST(it_can_be_asked_again_after_a_failure),
		TEST(the_database_may_be_elsewhere),
		TEST(other_databases_are_refused_without_their_password),
		TEST(settings_reach_the_team),
		TEST(nothing_set_is_the_default),
	};

	return test_main(tests, MR_LEN(tests));
}
