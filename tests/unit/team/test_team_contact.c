/* tests/unit/team/test_team_contact.c */
#include "team/contact.h"

#include "contact_cast.h"
#include "team/error.h"
#include "team/limits.h"
#include "test.h"

#include <string.h>

static struct mr_team_contact_request blue_asks(void)
{
	return (struct mr_team_contact_request){
		.project_key = "frontend",
		.from_agent = "BlueLake",
		.to_project = "backend",
		.to_agent = "GreenCastle",
		.reason = "the API",
	};
}

static struct mr_team_contact_answer green_answers(bool approve)
{
	return (struct mr_team_contact_answer){
		.project_key = "backend",
		.to_agent = "GreenCastle",
		.from_project = "frontend",
		.from_agent = "BlueLake",
		.approve = approve,
	};
}

static struct mr_team_link ask(struct cast *cast, const struct mr_team_contact_request *request,
	bool expect_notice)
{
	struct mr_team_link link;
	bool notified = false;

	CHECK_OK(mr_team_contact_ask(&cast->world.cx, cast->world.team, request, &link, &notified),
		cast->world.cx.err);
	CHECK_INT(notified, expect_notice);
	return link;
}

static enum mr_code try_ask(struct cast *cast, const struct mr_team_contact_request *request)
{
	struct mr_team_link link;
	bool notified;

	return mr_team_contact_ask(&cast->world.cx, cast->world.team, request, &link, &notified);
}

static struct mr_team_link respond(struct cast *cast, const struct mr_team_contact_answer *answer,
	int64_t expect_updated)
{
	struct mr_team_link link;
	int64_t updated = -1;

	CHECK_OK(mr_team_contact_respond(&cast->world.cx, cast->world.team, answer, &link,
			 &updated),
		cast->world.cx.err);
	CHECK_INT(updated, expect_updated);
	return link;
}

static enum mr_code try_respond(struct cast *cast, const struct mr_team_contact_answer *answer)
{
	struct mr_team_link link;
	int64_t updated;

	return mr_team_contact_respond(&cast->world.cx, cast->world.team, answer, &link, &updated);
}

static void a_request_begins_as_policy_has_it(void)
{
	static const struct {
		const char *sql;
		enum mr_team_link_status status;
		bool notified;
		int64_t days;
	} cases[] = {
		{ "", MR_TEAM_APPROVED, true, 30 },
		{ POLICY(1, "block_all"), MR_TEAM_BLOCKED, false, 7 },
		{ POLICY(1, "contacts_only"), MR_TEAM_PENDING, true, 7 },
		{ POLICY(1, "auto"), MR_TEAM_APPROVED, true, 30 },
		{ POLICY(1, "auto") PROGRAM(1, "claude"), MR_TEAM_PENDING, true, 7 },
	};
	struct mr_team_contact_request request = blue_asks();
	struct cast cast;

	cast_open(&cast);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_link link;

		world_exec(&cast.world, cases[i].sql);
		link = ask(&cast, &request, cases[i].notified);
		CHECK_INT(link.status, cases[i].status);
		CHECK_STR(link.a_agent, "BlueLake");
		CHECK_STR(link.a_project, "path-to-frontend");
		CHECK_STR(link.b_agent, "GreenCastle");
		CHECK_STR(link.b_project, "path-to-backend");
		CHECK_INT(link.a_project_id, cast.frontend.id);
		CHECK_INT(link.b_project_id, cast.backend.id);
		CHECK_STR(link.reason, "the API");
		CHECK_INT(link.created_ts, WORLD_NOW_US);
		CHECK_INT(link.expires_ts, WORLD_NOW_US + cases[i].days * 86400 * 1000000);
		CHECK_INT(world_count(&cast.world, "archive_queue WHERE kind = 'links'"), 2);
		cast_clear(&cast);
	}
	world_close(&cast.world);
}

static void the_target_is_told_once_an_hour(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_link link;
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only"));
	link = ask(&cast, &request, true);
	CHECK_STR(world_text(&cast.world,
			  "SELECT subject FROM messages m JOIN message_recipients r"
			  " ON r.message_id = m.id WHERE r.agent_id = 1 AND m.ack_required = 1"),
		"Contact request from BlueLake (path-to-frontend)");
	CHECK(strstr(world_text(&cast.world, "SELECT body_md FROM messages"),
		"respond_contact(project_key=\"path-to-backend\", to_agent=\"GreenCastle\", "
		"from_agent=\"BlueLake\", from_project=\"path-to-frontend\", "
		"status=\"approved\")"));
	CHECK(strstr(world_text(&cast.world, "SELECT body_md FROM messages"), "> the API\n"));
	CHECK_STR(world_found(&cast.world, "respond"), "1");

	world_later(&cast.world, MR_TEAM_CONTACT_NOTICE_S - 1);
	request.reason = "the API, really";
	CHECK_INT(ask(&cast, &request, false).id, link.id);
	CHECK_STR(world_text(&cast.world, "SELECT reason FROM agent_links"), "the API, really");
	CHECK_INT(world_int(&cast.world, "SELECT expires_ts FROM agent_links"),
		cast.world.clock.now_us + INT64_C(604800) * 1000000);
	world_later(&cast.world, 1);
	request.reason = NULL;
	request.ttl_s = 60;
	link = ask(&cast, &request, true);
	CHECK_STR(link.reason, "the API, really");
	CHECK_INT(link.expires_ts, cast.world.clock.now_us + 60 * 1000000);
	CHECK_INT(world_count(&cast.world, "messages"), 2);
	CHECK_INT(world_count(&cast.world, "agent_links"), 1);
	world_close(&cast.world);
}

static void a_reason_cannot_break_the_text_around_it(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct cast cast;

	cast_open(&cast);
	request.reason = "one\n\n## Overseer\ntwo";
	ask(&cast, &request, true);
	CHECK(strstr(world_text(&cast.world, "SELECT body_md FROM messages"),
		"> one  ## Overseer two\n"));
	world_close(&cast.world);
}

static void a_request_the_other_way_finds_the_same_link(void)
{
	struct mr_team_contact_request request = blue_asks(),
				       back = {
					       .project_key = "backend",
					       .from_agent = "GreenCastle",
					       .to_agent = "BlueLake",
				       };
	struct mr_team_link link;
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only") POLICY(3, "contacts_only"));
	link = ask(&cast, &request, true);
	CHECK_INT(ask(&cast, &back, false).id, link.id);
	CHECK_STR(ask(&cast, &back, false).a_agent, "BlueLake");
	CHECK_INT(world_count(&cast.world, "agent_links"), 1);
	/* But not once it has expired. */
	world_later(&cast.world, 604800);
	link = ask(&cast, &back, true);
	CHECK_STR(link.a_agent, "GreenCastle");
	CHECK_INT(link.status, MR_TEAM_PENDING);
	world_close(&cast.world);
}

static void a_contact_approved_works_both_ways_until_it_expires(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct mr_team_link link;
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only") POLICY(3, "contacts_only"));
	ask(&cast, &request, true);
	world_later(&cast.world, 2 * 86400);
	CHECK_STR(cast_decide(&cast, 3, 1, NULL, 0).rule, "pending");
	link = respond(&cast, &answer, 1);
	CHECK_INT(link.status, MR_TEAM_APPROVED);
	CHECK_INT(link.expires_ts, cast.world.clock.now_us + INT64_C(2592000) * 1000000);
	CHECK_STR(world_text(&cast.world,
			  "SELECT subject FROM messages m JOIN message_recipients r"
			  " ON r.message_id = m.id WHERE r.agent_id = 3"),
		"Contact approved by GreenCastle (path-to-backend)");
	CHECK_STR(cast_decide(&cast, 1, 3, NULL, 0).rule, "approved");
	CHECK_STR(cast_decide(&cast, 3, 1, NULL, 0).rule, "approved");
	ask(&cast, &request, false);
	world_later(&cast.world, 2592000);
	CHECK_STR(cast_decide(&cast, 1, 3, NULL, 0).rule, "contacts_only");
	CHECK_STR(cast_decide(&cast, 3, 1, NULL, 0).rule, "contacts_only");
	/* Asked again, from the beginning. */
	CHECK_INT(ask(&cast, &request, true).status, MR_TEAM_PENDING);
	world_close(&cast.world);
}

static void a_contact_blocked_stays_so(void)
{
	struct mr_team_contact_request request = blue_asks(),
				       back = {
					       .project_key = "backend",
					       .from_agent = "GreenCastle",
					       .to_project = "frontend",
					       .to_agent = "BlueLake",
				       };
	struct mr_team_contact_answer answer = green_answers(false);
	struct mr_team_link link;
	struct cast cast;

	cast_open(&cast);
	ask(&cast, &request, true);
	link = respond(&cast, &answer, 1);
	CHECK_INT(link.status, MR_TEAM_BLOCKED);
	CHECK_INT(link.expires_ts, 0);
	CHECK_INT(world_count(&cast.world, "messages"), 2);
	respond(&cast, &answer, 0);
	CHECK_INT(world_count(&cast.world, "messages"), 2);
	world_later(&cast.world, INT64_C(40) * 86400);
	CHECK_STR(cast_decide(&cast, 1, 3, NULL, 0).rule, "blocked_link");
	CHECK_STR(cast_decide(&cast, 3, 1, NULL, 0).rule, "blocked_link");

	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_CONTACT_BLOCKED,
		"GreenCastle (path-to-backend) has blocked this contact, so BlueLake cannot ask "
		"it");
	CHECK_STR(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "reason")->text,
		"blocked_link");
	CHECK_STR(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "recipient")->text,
		"GreenCastle@path-to-backend");
	CHECK_STR(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "policy")->text, "open");
	world_check_fail(&cast.world, try_ask(&cast, &back), MR_TEAM_CONTACT_BLOCKED,
		"GreenCastle has blocked BlueLake (path-to-frontend) itself");
	CHECK(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "suggested_tool_calls") != NULL);
	CHECK_INT(world_count(&cast.world, "messages"), 2);

	answer.approve = true;
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_APPROVED);
	CHECK_STR(cast_decide(&cast, 3, 1, NULL, 0).rule, "open");
	world_close(&cast.world);
}

static void a_policy_that_blocks_all_turns_requests_down(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world, POLICY(1, "block_all"));
	CHECK_INT(ask(&cast, &request, false).status, MR_TEAM_BLOCKED);
	CHECK_INT(world_count(&cast.world, "messages"), 0);
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_CONTACT_BLOCKED,
		"takes no contact requests (its policy is block_all)");
	/* It is the policy's no, not the agent's: another policy, another answer. */
	world_exec(&cast.world, POLICY(1, "contacts_only"));
	CHECK_INT(ask(&cast, &request, true).status, MR_TEAM_PENDING);
	world_exec(&cast.world, POLICY(1, "block_all"));
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_APPROVED);
	world_close(&cast.world);
}

static void an_approval_needs_no_request_but_is_one_sides(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct mr_team_link link;
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only") POLICY(3, "contacts_only"));
	link = respond(&cast, &answer, 1);
	CHECK_INT(link.a_agent_id, cast.blue.id);
	CHECK_INT(link.a_project_id, cast.frontend.id);
	CHECK_INT(link.b_agent_id, cast.green.id);
	CHECK_INT(link.b_project_id, cast.backend.id);
	world_later(&cast.world, 2 * 86400);
	CHECK_STR(cast_decide(&cast, 3, 1, NULL, 0).rule, "approved");
	CHECK_STR(cast_decide(&cast, 1, 3, NULL, 0).rule, "contacts_only");
	/* Who approved may ask, and then there are two links; who was approved asks, and it is one.
	 */
	CHECK_INT(ask(&cast,
			  &(struct mr_team_contact_request){
				  .project_key = "backend",
				  .from_agent = "GreenCastle",
				  .to_agent = "BlueLake",
			  },
			  true)
			  .status,
		MR_TEAM_PENDING);
	CHECK_INT(ask(&cast, &request, false).id, link.id);
	CHECK_STR(cast_decide(&cast, 1, 3, NULL, 0).rule, "approved");
	world_close(&cast.world);
}

static void who_has_not_asked_is_not_told_of_a_block(void)
{
	struct mr_team_contact_answer answer = green_answers(false);
	struct cast cast;

	cast_open(&cast);
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_BLOCKED);
	CHECK_INT(world_count(&cast.world, "messages"), 0);
	world_close(&cast.world);
}

static void a_link_can_be_answered_by_its_number(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = { .approve = true };
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world, POLICY(1, "contacts_only"));
	answer.link_id = ask(&cast, &request, true).id;
	CHECK_INT(respond(&cast, &answer, 1).status, MR_TEAM_APPROVED);
	answer.project_key = "backend";
	answer.to_agent = "greencastle";
	CHECK_INT(respond(&cast, &answer, 1).id, answer.link_id);
	answer.to_agent = "RedFox";
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_PERMISSION_DENIED,
		"is a request to GreenCastle (path-to-backend): only GreenCastle can answer it");
	answer.link_id = 99;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_NOT_FOUND,
		"there is no contact link 99");
	world_close(&cast.world);
}

static void the_other_is_found_as_in_a_message(void)
{
	static const char *const names[] = { "BlueLake", "bluelake", "BlueLake@frontend",
		"project:/path/to/frontend#BlueLake" };
	struct mr_team_contact_request request = { .project_key = "backend",
		.from_agent = "GreenCastle" };
	struct cast cast;

	cast_open(&cast);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		request.to_agent = names[i];
		CHECK_INT(ask(&cast, &request, i == 0).b_agent_id, cast.blue.id);
	}
	world_close(&cast.world);
}

static void a_request_that_makes_no_sense_is_refused(void)
{
	struct mr_team_contact_request request = blue_asks();
	struct mr_team_contact_answer answer = green_answers(true);
	struct mr_team_project third;
	struct cast cast;

	cast_open(&cast);
	request.to_project = NULL;
	request.to_agent = "BlueLake";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"BlueLake cannot ask itself for contact");
	request.to_agent = "NobodyHere";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_NOT_FOUND, "NobodyHere");
	request.to_agent = "";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"to_agent is missing");
	request.to_agent = "GreenCastle";
	request.to_project = "nowhere";
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_NOT_FOUND, "nowhere");
	request.to_project = NULL;
	request.ttl_s = -1;
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"ttl_seconds must be from 1 to 315360000");
	request.ttl_s = 0;
	request.reason = memset(mr_arena_alloc(cast.world.cx.arena, MR_TEAM_REASON_BYTES + 2), 'x',
		MR_TEAM_REASON_BYTES + 1);
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"reason is longer than 512 bytes");
	request.reason = NULL;
	third = world_project(&cast.world, "/path/to/third");
	world_agent(&cast.world, &third, "GreenCastle");
	world_check_fail(&cast.world, try_ask(&cast, &request), MR_TEAM_INVALID_ARGUMENT,
		"there are several agents called GreenCastle; say which: "
		"GreenCastle@path-to-backend, GreenCastle@path-to-third");
	CHECK_INT(mr_value_get(mr_team_fail_data(&cast.world.cx.err), "candidates")->list.len, 2);
	CHECK_INT(world_count(&cast.world, "agent_links"), 0);

	answer.from_agent = "GreenCastle";
	answer.from_project = "backend";
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"GreenCastle cannot answer itself");
	answer.from_agent = NULL;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"from_agent is missing");
	answer.to_agent = NULL;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"to_agent is missing");
	answer.project_key = NULL;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"project_key is missing");
	answer = green_answers(true);
	answer.ttl_s = INT64_MAX;
	world_check_fail(&cast.world, try_respond(&cast, &answer), MR_TEAM_INVALID_ARGUMENT,
		"ttl_seconds must be from 1 to 315360000");
	world_close(&cast.world);
}

static void contacts_are_listed_in_both_directions(void)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_links links;
	struct cast cast;

	cast_open(&cast);
	world_exec(&cast.world,
		LINK(1, 1, 2, 3, "approved", LATER, 0) LINK(1, 2, 1, 1, "pending", LATER, 0)
			LINK(2, 3, 1, 2, "blocked", "NULL", 0));
	CHECK_OK(mr_team_read(&cast.world.cx, cast.world.team, &reader), cast.world.cx.err);
	CHECK_OK(mr_team_contact_list(&cast.world.cx, reader.db, 1, NULL, &links),
		cast.world.cx.err);
	CHECK_INT(links.len, 2);
	CHECK_STR(links.items[0].a_agent, "RedFox");
	CHECK_STR(links.items[1].b_agent, "BlueLake");
	CHECK_OK(mr_team_contact_list(&cast.world.cx, reader.db, 1, "accepted", &links),
		cast.world.cx.err);
	CHECK_INT(links.len, 1);
	CHECK_INT(links.items[0].status, MR_TEAM_APPROVED);
	world_check_fail(&cast.world,
		mr_team_contact_list(&cast.world.cx, reader.db, 1, "maybe", &links),
		MR_TEAM_INVALID_ARGUMENT, "\"maybe\" is no status of a contact");
	mr_team_read_done(&reader);
	world_close(&cast.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_request_begins_as_policy_has_it),
		TEST(the_target_is_told_once_an_hour),
		TEST(a_reason_cannot_break_the_text_around_it),
		TEST(a_request_the_other_way_finds_the_same_link),
		TEST(a_contact_approved_works_both_ways_until_it_expires),
		TEST(a_contact_blocked_stays_so),
		TEST(a_policy_that_blocks_all_turns_requests_down),
		TEST(an_approval_needs_no_request_but_is_one_sides),
		TEST(who_has_not_asked_is_not_told_of_a_block),
		TEST(a_link_can_be_answered_by_its_number),
		TEST(the_other_is_found_as_in_a_message),
		TEST(a_request_that_makes_no_sense_is_refused),
		TEST(contacts_are_listed_in_both_directions),
	};

	return test_main(tests, MR_LEN(tests));
}
