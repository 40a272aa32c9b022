/* tests/unit/workspace/test_work_remote.c - where a message is on the server. */
#include "workspace/remote.h"

#include "desk.h"
#include "test.h"
#include "workspace/error.h"

#include <string.h>

#define ID      "message_a"
#define SIDECAR ".afmail/messages/message_a.remote.json"
#define HEAD                                                                                       \
	"{\"schema_name\":\"message_remote\",\"schema_version\":1,\"message_id\":\"message_a\","   \
	"\"locations\":["

static struct desk desk;

static void check_refused(const char *text, const char *what)
{
	struct mr_work_locations at = { .len = 77 };

	desk_put(SIDECAR, text);
	desk_check_fail(&desk, mr_work_remote_load(&desk.cx, desk.work, ID, &at),
		"message_remote_invalid", NULL, NULL);
	CHECK_INT(at.len, 77);
	if (!strstr(desk.cx.err.msg, what))
		test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", what, desk.cx.err.msg);
}

static void save(const struct mr_work_locations *at)
{
	struct mr_work_change change;

	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	mr_work_remote_save(&change, ID, at);
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	mr_work_change_end(&desk.cx, &change);
}

static void test_no_sidecar(void)
{
	struct mr_work_locations at = { .len = 77 };

	desk_open(&desk);
	CHECK_OK(mr_work_remote_load(&desk.cx, desk.work, ID, &at), desk.cx.err);
	CHECK_INT(at.len, 0);
	desk_close(&desk);
}

static void test_a_sidecar_is_written_and_read(void)
{
	struct mr_work_location items[] = {
		{ .mailbox_name = "INBOX",
			.mailbox_id = "inbox",
			.has_uid = true,
			.uid_validity = 4294967295,
			.uid = 1,
			.flags = { (const char *[]){ "$Junk", "\\Seen", NULL }, 2 },
			.observed = "2026-03-11T04:15:00Z" },
		{ .mailbox_name = "Old",
			.observed = "2026-03-10T00:00:00Z",
			.missing = "2026-03-11T00:00:00Z" },
	};
	struct mr_work_locations at = { items, 2 }, back = { 0 };

	desk_open(&desk);
	save(&at);
	CHECK_STR(desk_text(&desk, SIDECAR),
		"{\n  \"schema_name\": \"message_remote\",\n  \"schema_version\": 1,\n"
		"  \"message_id\": \"message_a\",\n  \"locations\": [\n    {\n"
		"      \"mailbox_name\": \"INBOX\",\n      \"mailbox_id\": \"inbox\",\n"
		"      \"uid_validity\": 4294967295,\n      \"uid\": 1,\n      \"flags\": [\n"
		"        \"$Junk\",\n        \"\\\\Seen\"\n      ],\n"
		"      \"observed_rfc3339\": \"2026-03-11T04:15:00Z\",\n"
		"      \"missing_rfc3339\": null\n    },\n    {\n"
		"      \"mailbox_name\": \"Old\",\n      \"flags\": [],\n"
		"      \"observed_rfc3339\": \"2026-03-10T00:00:00Z\",\n"
		"      \"missing_rfc3339\": \"2026-03-11T00:00:00Z\"\n    }\n  ]\n}\n");
	CHECK_OK(mr_work_remote_load(&desk.cx, desk.work, ID, &back), desk.cx.err);
	CHECK_INT(back.len, 2);
	CHECK_STR(back.items[0].mailbox_id, "inbox");
	CHECK(back.items[0].has_uid && !back.items[1].has_uid);
	CHECK_INT(back.items[0].uid_validity, 4294967295);
	CHECK(!back.items[1].mailbox_id);
	CHECK(mr_value_equal(mr_work_remote_value(&desk.cx, ID, &back),
		mr_work_remote_value(&desk.cx, ID, &at)));
	/* Without a location there is no file. */
	save(&(struct mr_work_locations){ 0 });
	CHECK(!desk_has(SIDECAR));
	desk_close(&desk);
}

static void test_keys_may_be_left_out(void)
{
	struct mr_work_locations at = { 0 };

	desk_open(&desk);
	desk_put(SIDECAR,
		HEAD "{\"mailbox_name\":\"INBOX\",\"uid_validity\":7,\"uid\":3,"
		     "\"observed_rfc3339\":\"t\"},{\"mailbox_name\":\"X\",\"mailbox_id\":null,"
		     "\"uid\":null,\"flags\":null,\"observed_rfc3339\":\"t\","
		     "\"missing_rfc3339\":null}]}");
	CHECK_OK(mr_work_remote_load(&desk.cx, desk.work, ID, &at), desk.cx.err);
	CHECK_INT(at.len, 2);
	CHECK_INT(at.items[0].flags.len, 0);
	CHECK(!at.items[0].missing && at.items[0].has_uid);
	CHECK(!at.items[1].has_uid && !at.items[1].mailbox_id);
	desk_close(&desk);
}

static void test_flags_are_in_their_form(void)
{
	const char *given[] = { "\\Seen", "$Junk", "\\Recent", "\\Answered", "\\Seen", "\\recent",
		NULL };
	struct mr_texts flags = { given, 6 };
	struct mr_work_locations at = { 0 };

	desk_open(&desk);
	flags = mr_work_flags(desk.cx.arena, &flags);
	CHECK_STR(mr_str_join(desk.cx.arena, &flags, " "), "$Junk \\Answered \\Seen");
	flags = mr_work_flags(desk.cx.arena, &(struct mr_texts){ 0 });
	CHECK_INT(flags.len, 0);
	desk_put(SIDECAR,
		HEAD "{\"mailbox_name\":\"INBOX\",\"flags\":[\"b\",\"\\\\Recent\",\"a\",\"b\"],"
		     "\"observed_rfc3339\":\"t\"}]}");
	CHECK_OK(mr_work_remote_load(&desk.cx, desk.work, ID, &at), desk.cx.err);
	CHECK_STR(mr_str_join(desk.cx.arena, &at.items[0].flags, " "), "a b");
	desk_close(&desk);
}

static void test_what_can_be_used(void)
{
	struct mr_work_location at = { .has_uid = true };

	CHECK(mr_work_location_is_usable(&at));
	at.missing = "2026-03-11T00:00:00Z";
	CHECK(!mr_work_location_is_usable(&at));
	at = (struct mr_work_location){ 0 };
	CHECK(!mr_work_location_is_usable(&at));
}

static void test_what_is_wrong(void)
{
	desk_open(&desk);
	check_refused("{", SIDECAR);
	check_refused("[]", SIDECAR);
	check_refused("{\"schema_name\":\"message\",\"schema_version\":1,\"message_id\":"
		      "\"message_a\",\"locations\":[]}",
		"message_remote");
	check_refused("{\"schema_name\":\"message_remote\",\"schema_version\":2,\"message_id\":"
		      "\"message_a\",\"locations\":[]}",
		"schema_version");
	check_refused("{\"schema_name\":\"message_remote\",\"schema_version\":1,\"message_id\":"
		      "\"message_b\",\"locations\":[]}",
		"message_id");
	check_refused("{\"schema_name\":\"message_remote\",\"schema_version\":1,\"message_id\":"
		      "\"message_a\"}",
		"locations");
	check_refused(HEAD "],\"x\":1}", "x");
	check_refused(HEAD "{\"observed_rfc3339\":\"t\"}]}", "mailbox_name");
	check_refused(HEAD "{\"mailbox_name\":\"I\",\"observed_rfc3339\":\"t\",\"name\":1}]}",
		"name");
	check_refused(HEAD "{\"mailbox_name\":\"I\",\"observed_rfc3339\":\"t\",\"uid\":-1}]}",
		"uid");
	check_refused(HEAD "{\"mailbox_name\":\"I\",\"observed_rfc3339\":\"t\","
			   "\"uid_validity\":4294967296}]}",
		"uid_validity");
	check_refused(HEAD "{\"mailbox_name\":\"I\",\"observed_rfc3339\":\"t\",\"flags\":[1]}]}",
		"flags");
	desk_close(&desk);
}

static const struct test tests[] = {
	TEST(test_no_sidecar),
	TEST(test_a_sidecar_is_written_and_read),
	TEST(test_keys_may_be_left_out),
	TEST(test_flags_are_in_their_form),
	TEST(test_what_can_be_used),
	TEST(test_what_is_wrong),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
