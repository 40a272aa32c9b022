/* tests/unit/team/test_team_macro.c */
#include "team/macro.h"

#include "contact_cast.h"
#include "team/error.h"
#include "test.h"

static struct mr_team_registration somebody(const char *project_key, const char *name)
{
	return (struct mr_team_registration){
		.project_key = project_key,
		.name = name,
		.program = "codex",
		.model = "gpt",
		.task_description = "macros",
	};
}

static void a_session_starts_in_one_call(void)
{
	const char *paths[] = { "src/**", "docs/a.md", NULL };
	struct mr_team_start request = { .who = somebody("/path/to/third", "JadeOtter"),
		.paths = { paths, 2 },
		.ttl_s = 600,
		.inbox_limit = 10 };
	struct mr_team_started started;
	struct cast cast;

	cast_open(&cast);
	CHECK_OK(mr_team_macro_start(&cast.world.cx, cast.world.team, &request, &started),
		cast.world.cx.err);
	CHECK_STR(started.project.slug, "path-to-third");
	CHECK_STR(started.agent.name, "JadeOtter");
	CHECK_INT(started.reserved.granted.len, 2);
	CHECK(started.reserved.granted.items[0].exclusive);
	CHECK_STR(started.reserved.granted.items[0].reason, "macro-session");
	CHECK_INT(started.reserved.granted.items[0].expires_ts, WORLD_NOW_US + 600 * 1000000);
	CHECK_INT(started.inbox.len, 0);
	/* Again, without files, and with mail. */
	world_exec(&cast.world, MAIL(1, 1, 1, 4, "NULL", NOW));
	request.paths.len = 0;
	CHECK_OK(mr_team_macro_start(&cast.world.cx, cast.world.team, &request, &started),
		cast.world.cx.err);
	CHECK_INT(started.agent.id, 4);
	CHECK_INT(started.reserved.granted.len, 0);
	CHECK_INT(started.inbox.len, 1);
	CHECK_STR(started.inbox.items[0].from, "GreenCastle");
	world_close(&cast.world);
}

static void a_thread_is_prepared(void)
{
	struct mr_team_prepare request = { .who = somebody("backend", "GreenCastle"),
		.thread_id = "T-1",
		.register_if_missing = true,
		.inbox_limit = 10 };
	struct mr_team_prepared ready;
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world,
		MAIL(1, 1, 2, 1, "'T-1'", NOW) MAIL(2, 1, 1, 2, "'T-1'", NOW)
			MAIL(3, 1, 2, 1, "'T-2'", NOW));
	CHECK_OK(mr_team_macro_prepare(&cast.world.cx, cast.world.team, &request, &ready),
		cast.world.cx.err);
	CHECK_INT(ready.agent.id, 1);
	CHECK_STR(ready.agent.task_description, "macros");
	CHECK_STR(ready.summary.thread_id, "T-1");
	CHECK_INT(ready.summary.total_messages, 2);
	CHECK_INT(ready.summary.examples.len, 0);
	CHECK_INT(ready.inbox.len, 2);
	/* Nobody is made where nobody is to be made. */
	request.register_if_missing = false;
	request.include_examples = true;
	CHECK_OK(mr_team_macro_prepare(&cast.world.cx, cast.world.team, &request, &ready),
		cast.world.cx.err);
	CHECK_INT(ready.summary.examples.len, 2);
	request.who.name = NULL;
	world_check_fail(&cast.world,
		mr_team_macro_prepare(&cast.world.cx, cast.world.team, &request, &ready),
		MR_TEAM_INVALID_ARGUMENT, "without register_if_missing an agent_name is needed");
	request.who.name = "JadeOtter";
	world_check_fail(&cast.world,
		mr_team_macro_prepare(&cast.world.cx, cast.world.team, &request, &ready),
		MR_TEAM_NOT_FOUND, "JadeOtter");
	request.who.project_key = "nowhere";
	request.register_if_missing = true;
	world_check_fail(&cast.world,
		mr_team_macro_prepare(&cast.world.cx, cast.world.team, &request, &ready),
		MR_TEAM_NOT_FOUND, "nowhere");
	CHECK_INT(world_count(&cast.world, "agents"), 3);
	world_close(&cast.world);
}

static void leases_come_and_go_in_one_call(void)
{
	const char *paths[] = { "src/**", NULL };
	struct mr_team_cycle request = { .reserve = { .project_key = "backend",
						 .agent_name = "GreenCastle",
						 .paths = { paths, 1 },
						 .ttl_s = 600,
						 .exclusive = true } };
	struct mr_team_cycled cycle;
	struct cast cast;

	cast_open(&cast);
	CHECK_OK(mr_team_macro_cycle(&cast.world.cx, cast.world.team, &request, &cycle),
		cast.world.cx.err);
	CHECK(!cycle.was_released);
	CHECK_INT(cycle.reserved.granted.len, 1);
	CHECK_STR(cycle.reserved.granted.items[0].reason, "macro-file_reservation");
	request.reserve.agent_name = "RedFox";
	request.auto_release = true;
	CHECK_OK(mr_team_macro_cycle(&cast.world.cx, cast.world.team, &request, &cycle),
		cast.world.cx.err);
	CHECK_INT(cycle.reserved.conflicts.len, 1);
	CHECK(cycle.was_released);
	CHECK_INT(cycle.released, 1);
	CHECK_INT(cycle.released_ts, WORLD_NOW_US);
	CHECK_INT(world_int(&cast.world,
			  "SELECT agent_id FROM file_reservations WHERE released_ts IS NULL"),
		1);
	world_close(&cast.world);
}

static struct mr_team_handshake blue_shakes(void)
{
	return (struct mr_team_handshake){
		.request = { .project_key = "frontend",
			.from_agent = "bluelake",
			.to_project = "backend",
			.to_agent = "GreenCastle" },
		.auto_accept = true,
		.welcome_subject = "Hello",
		.welcome_body = "I am new here.",
		.register_if_missing = true,
	};
}

static struct mr_team_shaken shake(struct cast *cast, const struct mr_team_handshake *request)
{
	struct mr_team_shaken shaken;

	CHECK_OK(mr_team_macro_handshake(&cast->world.cx, cast->world.team, request, &shaken),
		cast->world.cx.err);
	return shaken;
}

static void nobody_answers_against_a_policy(void)
{
	static const struct {
		const char *sql;
		enum mr_team_link_status status;
		bool answered;
	} cases[] = {
		{ "", MR_TEAM_APPROVED, true },
		{ POLICY(1, "auto"), MR_TEAM_APPROVED, true },
		{ POLICY(1, "auto") PROGRAM(1, "claude"), MR_TEAM_PENDING, false },
		{ POLICY(1, "contacts_only"), MR_TEAM_PENDING, false },
		{ POLICY(1, "block_all"), MR_TEAM_BLOCKED, false },
		/* The request is open, but the policy lets through who has to do with it. */
		{ POLICY(1, "auto") PROGRAM(1,
			  "claude") "INSERT INTO products VALUES (1, 'p', 'P', 'p', 1);"
				    "INSERT INTO product_project_links VALUES (1, 1, 'primary', 1),"
				    " (1, 2, 'primary', 1);",
			MR_TEAM_PENDING, true },
		{ POLICY(1, "contacts_only") MAIL(1, 1, 1, 3, "NULL", NOW), MR_TEAM_PENDING, true },
	};
	struct mr_team_handshake request = blue_shakes();
	struct cast cast;

	cast_open(&cast);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_shaken shaken;

		world_exec(&cast.world, cases[i].sql);
		shaken = shake(&cast, &request);
		CHECK_INT(shaken.request.status, cases[i].status);
		CHECK_INT(shaken.answered, cases[i].answered);
		CHECK_INT(shaken.welcomed, cases[i].answered);
		if (shaken.answered) {
			CHECK_INT(shaken.response.status, MR_TEAM_APPROVED);
			CHECK_STR(shaken.welcome.message.subject, "Hello");
			CHECK_INT(shaken.welcome.recipients.items[0].agent.id, cast.green.id);
			CHECK_STR(shaken.welcome.sender.name, "BlueLake");
		}
		cast_clear(&cast);
	}
	world_close(&cast.world);
}

static void a_request_of_the_other_is_accepted(void)
{
	struct mr_team_handshake request = blue_shakes();
	struct mr_team_shaken shaken;
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world,
		POLICY(1, "contacts_only") POLICY(3, "contacts_only")
			LINK(1, 1, 2, 3, "pending", NOW " + " DAY, 0));
	shaken = shake(&cast, &request);
	CHECK_STR(shaken.request.a_agent, "GreenCastle");
	CHECK(shaken.answered);
	CHECK_INT(shaken.response.status, MR_TEAM_APPROVED);
	CHECK(shaken.welcomed);
	CHECK_INT(shaken.welcome.recipients.items[0].agent.id, cast.green.id);
	world_close(&cast.world);
}

static void without_more_it_only_asks(void)
{
	struct mr_team_handshake request = blue_shakes();
	struct mr_team_shaken shaken;
	struct cast cast;

	cast_open(&cast);
	request.auto_accept = false;
	request.welcome_body = NULL;
	shaken = shake(&cast, &request);
	CHECK(!shaken.answered);
	CHECK(!shaken.welcomed);
	CHECK(shaken.notified);
	CHECK_INT(world_count(&cast.world, "messages"), 1);
	world_close(&cast.world);
}

static void who_asks_is_registered_and_nobody_else(void)
{
	struct mr_team_handshake request = blue_shakes();
	struct mr_team_shaken shaken;
	struct cast cast;

	cast_open(&cast);
	request.request.from_agent = "JadeOtter";
	world_check_fail(&cast.world,
		mr_team_macro_handshake(&cast.world.cx, cast.world.team, &request, &shaken),
		MR_TEAM_NOT_FOUND, "JadeOtter");
	request.program = "codex";
	request.model = "gpt";
	shaken = shake(&cast, &request);
	CHECK_STR(shaken.request.a_agent, "JadeOtter");
	CHECK_INT(shaken.request.a_project_id, cast.frontend.id);
	request.request.to_agent = "RubyHawk";
	world_check_fail(&cast.world,
		mr_team_macro_handshake(&cast.world.cx, cast.world.team, &request, &shaken),
		MR_TEAM_NOT_FOUND, "RubyHawk");
	CHECK_INT(world_count(&cast.world, "agents"), 4);
	world_close(&cast.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_session_starts_in_one_call),
		TEST(a_thread_is_prepared),
		TEST(leases_come_and_go_in_one_call),
		TEST(nobody_answers_against_a_policy),
		TEST(a_request_of_the_other_is_accepted),
		TEST(without_more_it_only_asks),
		TEST(who_asks_is_registered_and_nobody_else),
	};

	return test_main(tests, MR_LEN(tests));
}
