/* tests/unit/workspace/test_work_queue_action.c - what is queued for messages, and taken back. */
#include "desk.h"
#include "post.h"
#include "test.h"
#include "workspace/layout.h"
#include "workspace/queue.h"
#include "workspace/refresh.h"

static struct desk desk;

static struct mr_texts texts(const char *a, const char *b)
{
	const char **items = mr_arena_array(desk.cx.arena, 3, sizeof(*items));

	items[0] = a;
	items[1] = b;
	return (struct mr_texts){ items, b ? 2 : 1 };
}

/* Queue it and commit; the next command begins. */
static struct mr_work_queued queue(enum mr_work_push_action action, const char *a, const char *b)
{
	struct mr_work_queued queued = { 0 };
	struct mr_texts ids = texts(a, b);
	struct mr_work_change change;

	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	CHECK_OK(mr_work_queue_action(&desk.cx, &change, action, &ids, &queued), desk.cx.err);
	CHECK_INT(queued.queued, queued.push_ids.len > 0);
	CHECK((queued.push_id != NULL) == queued.queued);
	POST_OK(&desk, mr_work_carry_out(&desk.cx, &change));
	return queued;
}

static enum mr_code withdraw(enum mr_work_push_action action, const char *id, struct mr_texts *out)
{
	struct mr_work_change change;
	enum mr_code rc;

	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	rc = mr_work_queue_withdraw(&desk.cx, &change, action, id, out);
	if (!rc)
		POST_OK(&desk, mr_work_carry_out(&desk.cx, &change));
	return rc;
}

static struct mr_work_push_item item(const char *push_id)
{
	struct mr_work_push_item out = { 0 };

	CHECK_OK(mr_work_queue_find(&desk.cx, desk.work, push_id, &out), desk.cx.err);
	return out;
}

/* The sidecar of a message with these locations, in JSON. */
static void put_locations(const char *id, const char *locations)
{
	desk_put(mr_work_path_remote(desk.cx.arena, id),
		mr_arena_printf(desk.cx.arena,
			"{\"schema_name\":\"message_remote\",\"schema_version\":1,"
			"\"message_id\":\"%s\",\"locations\":[%s]}",
			id, locations));
}

#define AT(name, id, uid)                                                                          \
	"{\"mailbox_name\":\"" name "\"," id "\"uid_validity\":7,\"uid\":" #uid                    \
	",\"observed_rfc3339\":\"t\"}"
#define GONE                                                                                       \
	"{\"mailbox_name\":\"INBOX\",\"mailbox_id\":\"inbox\",\"uid_validity\":7,\"uid\":9,"       \
	"\"observed_rfc3339\":\"t\",\"missing_rfc3339\":\"t\"}"
#define NO_UID "{\"mailbox_name\":\"INBOX\",\"mailbox_id\":\"inbox\",\"observed_rfc3339\":\"t\"}"

static void open_with_mail(void)
{
	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NULL);
}

static void test_spam_and_trash(void)
{
	struct mr_work_push_item queued_item;
	struct mr_work_queued queued;

	open_with_mail();
	queued = queue(MR_WORK_PUSH_SPAM, SPAM, PLAIN);
	CHECK_INT(queued.location_count, 2);
	CHECK_INT(queued.queued_location_count, 2);
	CHECK_INT(queued.push_ids.len, 1);
	queued_item = item(queued.push_id);
	CHECK_STR(post_join(&desk, &queued_item.message_ids), SPAM " " PLAIN);
	CHECK_INT(queued_item.location_count, 2);
	CHECK_STR(queued_item.locations[0].message_id, SPAM);
	CHECK_STR(queued_item.locations[0].mailbox_name, "INBOX");
	CHECK_INT(queued_item.locations[0].uid_validity, 7);
	CHECK_INT(queued_item.locations[0].uid, 2);
	CHECK_INT(queued_item.state_count, 0);
	CHECK_INT(queued_item.attempt_count, 0);
	/* The steps are those of the configuration at this time. */
	CHECK_INT(queued_item.steps.len, 2);
	CHECK_STR(mr_work_step_label(desk.cx.arena, &queued_item.steps.items[0]), "add_flags");
	CHECK_STR(mr_work_step_label(desk.cx.arena, &queued_item.steps.items[1]),
		"move_to_mailbox_id_junk");
	post_set_json(&desk, "actions.message.spam.steps", "[]");
	CHECK_INT(item(queued.push_id).steps.len, 2);
	queued = queue(MR_WORK_PUSH_TRASH, PLAIN, NULL);
	CHECK_STR(mr_work_step_label(desk.cx.arena, &item(queued.push_id).steps.items[0]),
		"move_to_mailbox_id_trash");
	CHECK_STR(post_queue(&desk), "spam:" SPAM "," PLAIN " trash:" PLAIN);
	desk_close(&desk);
}

static void test_nothing_without_steps(void)
{
	struct mr_work_queued queued;

	open_with_mail();
	post_set_json(&desk, "actions.message.spam.steps", "[]");
	queued = queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	CHECK(!queued.queued);
	CHECK_INT(queued.location_count, 1);
	CHECK_INT(queued.queued_location_count, 1);
	/* Adding to a case has no steps by default. */
	queued = queue(MR_WORK_PUSH_CASE_ADD, SPAM, NULL);
	CHECK(!queued.queued);
	CHECK_INT(queued.location_count, 1);
	CHECK_INT(queued.queued_location_count, 1);
	CHECK_STR(post_queue(&desk), "");
	post_set_json(&desk, "actions.case.add.steps", "[{\"add_flags\":[\"$Case\"]}]");
	CHECK(queue(MR_WORK_PUSH_CASE_ADD, SPAM, NULL).queued);
	CHECK_STR(post_queue(&desk), "case_add:" SPAM);
	desk_close(&desk);
}

static void test_only_what_can_be_used(void)
{
	struct mr_work_queued queued;

	open_with_mail();
	put_locations(SPAM, GONE "," NO_UID);
	queued = queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	CHECK(!queued.queued);
	CHECK_INT(queued.location_count, 0);
	CHECK_INT(queued.queued_location_count, 0);
	put_locations(SPAM, GONE "," AT("INBOX", "", 4) "," AT("Other", "", 5) "," NO_UID);
	queued = queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	CHECK_INT(queued.location_count, 2);
	/* A message with two locations stands once. */
	CHECK_STR(post_queue(&desk), "spam:" SPAM);
	CHECK_INT(item(queued.push_id).location_count, 2);
	CHECK_INT(item(queued.push_id).locations[1].uid, 5);
	desk_close(&desk);
}

static void test_an_unknown_message(void)
{
	struct mr_work_queued queued;
	struct mr_work_change change;
	struct mr_texts ids;

	open_with_mail();
	ids = texts("message_x", NULL);
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	desk_check_fail(&desk,
		mr_work_queue_action(&desk.cx, &change, MR_WORK_PUSH_SPAM, &ids, &queued),
		"message_not_found", NULL, NULL);
	desk_close(&desk);
}

static void test_outbound_mail_is_no_spam(void)
{
	struct mr_work_queued queued;

	open_with_mail();
	post_set_json(&desk, "actions.case.add.steps", "[{\"add_flags\":[\"$Case\"]}]");
	/* The rule of the mailbox says which direction its mail has. */
	CHECK_OK(mr_work_unproject(&desk.cx, desk.work, "messages/" SPAM ".json", NULL),
		desk.cx.err);
	put_locations(SPAM, AT("Sent", "\"mailbox_id\":\"sent\",", 1));
	desk_next(&desk);
	queued = queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	CHECK(!queued.queued);
	CHECK_INT(queued.location_count, 0);
	CHECK(!queue(MR_WORK_PUSH_TRASH, SPAM, NULL).queued);
	queued = queue(MR_WORK_PUSH_SPAM, SPAM, PLAIN);
	CHECK_INT(queued.location_count, 1);
	CHECK_STR(post_queue(&desk), "spam:" PLAIN);
	CHECK(queue(MR_WORK_PUSH_CASE_ADD, SPAM, NULL).queued);
	CHECK_STR(post_queue(&desk), "spam:" PLAIN " case_add:" SPAM);
	desk_close(&desk);
}

static void test_archiving_by_source(void)
{
	struct mr_work_queued queued;

	open_with_mail();
	post_set_json(&desk, "actions.message.archive.by_source_mailbox_id.junk.steps",
		"[{\"move_to_mailbox_id\":\"trash\"}]");
	/* In two mailboxes with steps, one without, and one that nobody configured. */
	put_locations(PLAIN,
		AT("INBOX", "\"mailbox_id\":\"inbox\",", 1) "," AT("Spam", "", 2) "," AT("Sent",
			"\"mailbox_id\":\"sent\",", 3) "," AT("Elsewhere", "", 4));
	queued = queue(MR_WORK_PUSH_ARCHIVE, PLAIN, SPAM);
	CHECK_INT(queued.location_count, 5);
	CHECK_INT(queued.push_ids.len, 2);
	CHECK_STR(post_queue(&desk), "archive:" PLAIN "," SPAM " archive:" PLAIN);
	CHECK_STR(mr_work_step_label(desk.cx.arena, &item(queued.push_ids.items[0]).steps.items[0]),
		"move_to_mailbox_id_archive");
	CHECK_INT(item(queued.push_ids.items[0]).location_count, 2);
	CHECK_INT(item(queued.push_ids.items[0]).locations[0].uid, 1);
	/* By the name of the mailbox alone. */
	CHECK_STR(item(queued.push_ids.items[1]).locations[0].mailbox_name, "Spam");
	CHECK_STR(mr_work_step_label(desk.cx.arena, &item(queued.push_ids.items[1]).steps.items[0]),
		"move_to_mailbox_id_trash");
	desk_close(&desk);
}

static void test_archiving_where_no_rule_applies(void)
{
	struct mr_work_queued queued;

	open_with_mail();
	put_locations(PLAIN, AT("Sent", "\"mailbox_id\":\"sent\",", 3) "," AT("Elsewhere", "", 4));
	queued = queue(MR_WORK_PUSH_ARCHIVE, PLAIN, NULL);
	CHECK(!queued.queued);
	CHECK_INT(queued.location_count, 2);
	CHECK_INT(queued.queued_location_count, 2);
	CHECK_STR(post_queue(&desk), "");
	desk_close(&desk);
}

static void test_a_name_of_two_mailboxes_matters_to_archiving_alone(void)
{
	struct mr_texts ids;
	struct mr_work_queued queued;
	struct mr_work_change change;

	open_with_mail();
	post_set(&desk, "mailboxes.other.mailbox_name", "INBOX");
	put_locations(PLAIN, AT("INBOX", "", 1));
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	ids = texts(PLAIN, NULL);
	desk_check_fail(&desk,
		mr_work_queue_action(&desk.cx, &change, MR_WORK_PUSH_ARCHIVE, &ids, &queued),
		"imap_mailbox_ambiguous", NULL, NULL);
	desk_next(&desk);
	CHECK(queue(MR_WORK_PUSH_SPAM, PLAIN, NULL).queued);
	desk_close(&desk);
}

static void test_pending_is_mirrored(void)
{
	const struct mr_value *pending, *record = NULL;
	struct mr_work_queued queued;

	open_with_mail();
	queued = queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	CHECK_OK(mr_work_read_json(&desk.cx, desk.work, "messages/" SPAM ".json", &record),
		desk.cx.err);
	pending = mr_value_get(mr_value_get(mr_value_get(record, "workspace"), "push"), "pending");
	CHECK(pending && pending->list.len == 1);
	CHECK_STR(mr_value_get(&pending->list.items[0], "push_id")->text, queued.push_id);
	CHECK_STR(mr_value_get(&pending->list.items[0], "kind")->text, "message.spam");
	desk_close(&desk);
}

/* --- taking back --- */

static void test_withdrawing(void)
{
	struct mr_work_queued spam;
	struct mr_texts ids = { 0 };

	open_with_mail();
	spam = queue(MR_WORK_PUSH_SPAM, SPAM, PLAIN);
	queue(MR_WORK_PUSH_TRASH, SPAM, NULL);
	/* One of two: the item stays. */
	CHECK_OK(withdraw(MR_WORK_PUSH_SPAM, SPAM, &ids), desk.cx.err);
	CHECK_STR(post_join(&desk, &ids), spam.push_id);
	CHECK_STR(post_queue(&desk), "spam:" PLAIN " trash:" SPAM);
	CHECK_INT(item(spam.push_id).location_count, 1);
	CHECK_STR(item(spam.push_id).locations[0].message_id, PLAIN);
	CHECK(!mr_str_eq(item(spam.push_id).updated, item(spam.push_id).created));
	desk_close(&desk);
}

static void test_withdrawing_the_last_message(void)
{
	const struct mr_value *record = NULL;
	struct mr_texts ids = { 0 };

	open_with_mail();
	queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	/* Of another action, and of another message: nothing. */
	CHECK_OK(withdraw(MR_WORK_PUSH_TRASH, SPAM, &ids), desk.cx.err);
	CHECK_INT(ids.len, 0);
	CHECK_OK(withdraw(MR_WORK_PUSH_SPAM, PLAIN, &ids), desk.cx.err);
	CHECK_INT(ids.len, 0);
	CHECK_STR(post_queue(&desk), "spam:" SPAM);
	CHECK_OK(withdraw(MR_WORK_PUSH_SPAM, SPAM, &ids), desk.cx.err);
	CHECK_INT(ids.len, 1);
	CHECK_STR(post_queue(&desk), "");
	CHECK_OK(mr_work_read_json(&desk.cx, desk.work, "messages/" SPAM ".json", &record),
		desk.cx.err);
	CHECK(!mr_value_get(mr_value_get(record, "workspace"), "push"));
	desk_close(&desk);
}

static void test_what_has_begun_is_not_taken_back(void)
{
	struct mr_work_queued first, second;
	struct mr_texts ids = { 0 };

	open_with_mail();
	first = queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	second = queue(MR_WORK_PUSH_SPAM, SPAM, PLAIN);
	post_start(&desk, second.push_id);
	/* Nothing changes, not even what has not begun. */
	desk_check_fail(&desk, withdraw(MR_WORK_PUSH_SPAM, SPAM, &ids), "push_already_started",
		NULL, NULL);
	CHECK(mr_str_starts(desk.cx.err.msg, second.push_id));
	desk_next(&desk);
	CHECK_STR(post_queue(&desk), "spam:" SPAM " spam:" SPAM "," PLAIN);
	CHECK_INT(item(first.push_id).message_ids.len, 1);
	desk_close(&desk);
}

static void test_a_broken_item_is_not_in_the_way(void)
{
	struct mr_texts ids = { 0 };

	open_with_mail();
	queue(MR_WORK_PUSH_SPAM, SPAM, NULL);
	desk_put(".afmail/push/push_x.json", "{}");
	CHECK_OK(withdraw(MR_WORK_PUSH_SPAM, SPAM, &ids), desk.cx.err);
	CHECK_INT(ids.len, 1);
	CHECK(desk_has(".afmail/push/push_x.json"));
	desk_close(&desk);
}

static const struct test tests[] = {
	TEST(test_spam_and_trash),
	TEST(test_nothing_without_steps),
	TEST(test_only_what_can_be_used),
	TEST(test_an_unknown_message),
	TEST(test_outbound_mail_is_no_spam),
	TEST(test_archiving_by_source),
	TEST(test_archiving_where_no_rule_applies),
	TEST(test_a_name_of_two_mailboxes_matters_to_archiving_alone),
	TEST(test_pending_is_mirrored),
	TEST(test_withdrawing),
	TEST(test_withdrawing_the_last_message),
	TEST(test_what_has_begun_is_not_taken_back),
	TEST(test_a_broken_item_is_not_in_the_way),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
