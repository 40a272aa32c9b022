/* tests/unit/mailbox/test_mailbox_notifier.c - each message is told once, and again when due. */
#include "mailbox/notifier.h"

#include "database.h"
#include "files.h"
#include "mailbox/ledger_sql.h"
#include "mailbox/notifier_sql.h"
#include "notified.h"
#include "test.h"
#include "text/time.h"

#include <string.h>

static void a_message_is_told_once(void)
{
	struct notified n;
	struct mr_notifier_told told;
	const char *ref;

	notified_open(&n);
	CHECK_INT(notified_take(&n).notice, 0);
	CHECK_STR(notified_ledger(&n), "");
	ref = notified_send(&n);
	told = notified_take(&n);
	CHECK_INT(told.notice, 1);
	CHECK_INT(told.count, 1);
	CHECK_STR(told.messages.items[0].ref, ref);
	CHECK_STR(told.messages.items[0].content.sender.address, "alice@houmao.localhost");
	CHECK(strstr(told.prompt, "You have mail in inbox."));
	CHECK_INT(notified_take(&n).notice, 0);
	CHECK_STR(notified_ledger(&n), "delivered long_poll 1 -\n");
	notified_read(&n, ref);
	CHECK_STR(notified_ledger(&n), "acknowledged long_poll 1 -\n");
	notified_close(&n);
}

static void unread_mail_is_told_again_after_a_pause(void)
{
	static const int64_t pauses_min[] = { 15, 60, 240, 960 };
	struct notified n;

	notified_open(&n);
	notified_send(&n);
	CHECK_INT(notified_take(&n).notice, 1);
	for (size_t i = 0; i < MR_LEN(pauses_min); i++) {
		n.post.clock.now_us += pauses_min[i] * MR_TIME_MIN - MR_TIME_S;
		CHECK_INT(notified_take(&n).notice, 0);
		n.post.clock.now_us += MR_TIME_S;
		CHECK_INT(notified_take(&n).count, 1);
	}
	n.post.clock.now_us += 365 * MR_TIME_DAY;
	CHECK_INT(notified_take(&n).notice, 0);
	CHECK_INT(notified_count(&n, "mailroom_notice"), MR_NOTIFIER_TIMES);
	notified_close(&n);
}

static void mail_that_was_read_is_not_told(void)
{
	struct notified n;

	notified_open(&n);
	notified_read(&n, notified_send(&n));
	CHECK_INT(notified_take(&n).notice, 0);
	notified_close(&n);
}

static void many_messages_are_one_notice(void)
{
	enum { MANY = MR_NOTIFIER_TOLD + 20 };
	struct notified n;
	struct mr_notifier_told told;

	notified_open(&n);
	for (int i = 0; i < MANY; i++)
		notified_send(&n);
	told = notified_take(&n);
	CHECK_INT(told.count, MANY);
	CHECK_INT(told.messages.len, MR_NOTIFIER_TOLD);
	CHECK(strstr(told.prompt, "It is about 120 messages."));
	CHECK_STR(notified_ledger(&n), "delivered long_poll 120 -\n");
	notified_close(&n);
}

static struct mr_notifier_round round_of(struct notified *n)
{
	struct mr_notifier_round result;

	CHECK_OK(mr_notifier_round(&n->post.cx, &n->target, &result), n->post.cx.err);
	return result;
}

static void a_program_gets_the_prompt(void)
{
	struct notified n;
	struct mr_notifier_settings settings;

	notified_open(&n);
	CHECK(!round_of(&n).is_enabled);
	notified_command(&n, "cat > got", 30);
	CHECK(!round_of(&n).was_told);
	notified_send(&n);
	CHECK(round_of(&n).was_told);
	CHECK_STR(notified_ledger(&n), "delivered command 1 -\n");
	CHECK(files_count(n.session.dir));
	/* Nothing new is not told, and written down once. */
	for (int i = 0; i < 20; i++)
		CHECK(!round_of(&n).was_told);
	CHECK_INT(notified_count(&n, "gateway_notifier_audit"), 3);
	CHECK_INT(notified_count(&n, "gateway_requests"), 1);
	CHECK_OK(mr_notifier_get(&n.post.cx, n.session.dir, &settings), n.post.cx.err);
	CHECK_STR(settings.last_notification_at, "2026-03-11T04:15:00.000000+00:00");
	CHECK_STR(settings.last_error, NULL);
	notified_close(&n);
}

static void a_program_that_fails_is_tried_again(void)
{
	struct notified n;
	struct mr_notifier_round result;

	notified_open(&n);
	notified_command(&n, "echo no way >&2; test -e ready", 30);
	notified_send(&n);
	result = round_of(&n);
	CHECK(!result.was_told);
	CHECK_INT(result.next_us, n.post.clock.now_us + 30 * MR_TIME_S);
	CHECK_STR(notified_ledger(&n), "failed command 1 sh ended with status 1: no way\n");
	/* More mail joins what waits. */
	notified_send(&n);
	CHECK(!round_of(&n).was_told);
	CHECK_STR(notified_ledger(&n), "failed command 2 sh ended with status 1: no way\n");
	notified_command(&n, "cat > /dev/null", 30);
	n.post.clock.now_us += 30 * MR_TIME_S;
	CHECK(round_of(&n).was_told);
	CHECK_STR(notified_ledger(&n), "delivered command 2 -\n");
	notified_close(&n);
}

static void a_program_that_hangs_is_stopped(void)
{
	struct notified n;

	notified_open(&n);
	notified_command(&n, "sleep 1000", 1);
	notified_send(&n);
	CHECK(!round_of(&n).was_told);
	CHECK_STR(notified_ledger(&n),
		"failed command 1 sh did not end within 1 seconds and was stopped\n");
	/* It may have got it or not: told once more soon, */
	n.post.clock.now_us += MR_TIME_MIN;
	CHECK(!round_of(&n).was_told);
	CHECK_INT(notified_count(&n, "gateway_requests"), 1);
	n.post.clock.now_us += MR_TIME_MIN + MR_TIME_S;
	CHECK(!round_of(&n).was_told);
	CHECK_INT(notified_count(&n, "gateway_requests"), 2);
	/* and then again like anything that was told. */
	n.post.clock.now_us += 14 * MR_TIME_MIN;
	CHECK(!round_of(&n).was_told);
	CHECK_INT(notified_count(&n, "mailroom_notice"), 1);
	notified_command(&n, "cat > /dev/null", 30);
	n.post.clock.now_us += MR_TIME_MIN;
	CHECK(round_of(&n).was_told);
	notified_close(&n);
}

static void what_was_read_meanwhile_is_withdrawn(void)
{
	struct notified n;
	const char *ref;

	notified_open(&n);
	notified_command(&n, "exit 1", 30);
	ref = notified_send(&n);
	CHECK(!round_of(&n).was_told);
	notified_read(&n, ref);
	notified_command(&n, "cat > got", 30);
	n.post.clock.now_us += MR_TIME_HOUR;
	CHECK(!round_of(&n).was_told);
	CHECK_STR(notified_ledger(&n), "withdrawn command 0 read before it was delivered\n");
	notified_close(&n);
}

/* A long poll takes what waits for another channel. */
static void who_asks_gets_what_waits(void)
{
	struct notified n;

	notified_open(&n);
	notified_command(&n, "exit 1", 30);
	notified_send(&n);
	CHECK(!round_of(&n).was_told);
	CHECK_INT(notified_take(&n).count, 1);
	CHECK_STR(notified_ledger(&n), "delivered long_poll 1 -\n");
	n.post.clock.now_us += 14 * MR_TIME_MIN;
	CHECK(!round_of(&n).was_told);
	CHECK_INT(notified_count(&n, "mailroom_notice"), 1);
	notified_close(&n);
}

/* A process that was killed while it delivered leaves its notice `sending`. */
static void a_delivery_that_was_cut_off_is_not_repeated(void)
{
	struct notified n;
	struct mr_db *db = NULL;

	notified_open(&n);
	notified_command(&n, "exit 1", 30);
	notified_send(&n);
	CHECK(!round_of(&n).was_told);
	CHECK_OK(mr_notifier_sql_open(&n.post.cx, n.session.dir, true, &db), n.post.cx.err);
	CHECK_OK(mr_ledger_sql_change(&n.post.cx, db, 1,
			 &(struct mr_ledger_change){ .state = MR_LEDGER_SENDING }),
		n.post.cx.err);
	database_closep(&db);
	CHECK_INT(notified_take(&n).notice, 0);
	notified_command(&n, "cat > /dev/null", 30);
	CHECK(!round_of(&n).was_told);
	CHECK_STR(notified_ledger(&n),
		"failed command 1 the notifier ended while it delivered this; it may have arrived\n");
	n.post.clock.now_us += 15 * MR_TIME_MIN;
	CHECK(round_of(&n).was_told);
	notified_close(&n);
}

static void old_records_are_removed(void)
{
	struct notified n;

	notified_open(&n);
	notified_command(&n, "cat > /dev/null", 30);
	notified_read(&n, notified_send(&n));
	notified_send(&n);
	CHECK(round_of(&n).was_told);
	n.post.clock.now_us += (MR_NOTIFIER_KEPT_DAYS + 1) * MR_TIME_DAY;
	round_of(&n);
	CHECK_INT(notified_count(&n, "gateway_requests"), 1); /* of the second time */
	CHECK_INT(notified_count(&n, "mailroom_notice"), 1);
	CHECK_INT(notified_count(&n, "mailroom_announced"), 1);
	notified_close(&n);
}

static void a_mailbox_that_is_gone_is_recorded(void)
{
	struct notified n;
	struct mr_notifier_settings settings;

	notified_open(&n);
	notified_command(&n, "cat > /dev/null", 30);
	post_unregister(&n.post, "bob", MR_MAILBOX_DEACTIVATE);
	CHECK(round_of(&n).is_enabled);
	CHECK_OK(mr_notifier_get(&n.post.cx, n.session.dir, &settings), n.post.cx.err);
	CHECK(settings.enabled);
	CHECK_STR(settings.last_error,
		"no active mailbox registration exists for `bob@houmao.localhost`");
	notified_close(&n);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_message_is_told_once),
		TEST(unread_mail_is_told_again_after_a_pause),
		TEST(mail_that_was_read_is_not_told),
		TEST(many_messages_are_one_notice),
		TEST(a_program_gets_the_prompt),
		TEST(a_program_that_fails_is_tried_again),
		TEST(a_program_that_hangs_is_stopped),
		TEST(what_was_read_meanwhile_is_withdrawn),
		TEST(who_asks_gets_what_waits),
		TEST(a_delivery_that_was_cut_off_is_not_repeated),
		TEST(old_records_are_removed),
		TEST(a_mailbox_that_is_gone_is_recorded),
	};

	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
