/* tests/unit/mailbox/test_mailbox_notifier_sql.c - settings and audit in the session's database. */
#include "mailbox/notifier_sql.h"

#include "database.h"
#include "post.h"
#include "test.h"

#include <sys/stat.h>

static void settings_come_back_as_they_were(void)
{
	struct post post;
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	const char *tokens[] = { "tok \"1\"", NULL };
	const char *command[] = { "notify", "a b", NULL };
	struct mr_notifier_settings s = mr_notifier_settings_default();
	struct stat st;

	post_open(&post);
	CHECK_INT(mr_notifier_sql_open(&post.cx, "session", false, &db), MR_ENOTFOUND);
	CHECK_OK(mr_notifier_sql_open(&post.cx, "session", true, &db), post.cx.err);
	CHECK_INT(stat("session/gateway/queue.sqlite", &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	s.enabled = true;
	s.interval_seconds = 7;
	s.mode = MR_NOTICE_UNREAD_ONLY;
	s.appendix_text = "More.";
	s.rules.render = false;
	s.rules.tokens = (struct mr_texts){ tokens, 1 };
	s.rules.verifier = MR_NOTICE_SHARED_TOKEN;
	s.channel = MR_NOTIFIER_COMMAND;
	s.command = (struct mr_texts){ command, 2 };
	CHECK_OK(mr_notifier_sql_store(&post.cx, db, &s), post.cx.err);
	s = mr_notifier_settings_default();
	CHECK_OK(mr_notifier_sql_settings(&post.cx, db, &s), post.cx.err);
	CHECK(s.enabled && !s.rules.render);
	CHECK_INT(s.interval_seconds, 7);
	CHECK_INT(s.mode, MR_NOTICE_UNREAD_ONLY);
	CHECK_INT(s.rules.verifier, MR_NOTICE_SHARED_TOKEN);
	CHECK_STR(s.appendix_text, "More.");
	CHECK_STR(s.rules.tokens.items[0], "tok \"1\"");
	CHECK_INT(s.channel, MR_NOTIFIER_COMMAND);
	CHECK_STR(s.command.items[1], "a b");
	post_close(&post);
}

static void the_same_is_not_audited_twice(void)
{
	struct post post;
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	struct mr_notifier_audit row = { .poll_time = "2026-03-11T04:15:00Z",
		.outcome = "busy_skip",
		.unread_digest = "d1",
		.detail = "at work" };

	post_open(&post);
	CHECK_OK(mr_notifier_sql_open(&post.cx, "session", true, &db), post.cx.err);
	for (int i = 0; i < 300; i++)
		CHECK_OK(mr_notifier_sql_audit(&post.cx, db, &row), post.cx.err);
	row.unread_digest = "d2";
	CHECK_OK(mr_notifier_sql_audit(&post.cx, db, &row), post.cx.err);
	CHECK_INT(database_int(&post.cx, db, "SELECT count(*) FROM gateway_notifier_audit"), 2);
	CHECK_OK(mr_notifier_sql_prune(&post.cx, db, "2026-03-11T04:15:00Z", 1), post.cx.err);
	CHECK_INT(database_int(&post.cx, db, "SELECT count(*) FROM gateway_notifier_audit"), 1);
	CHECK_OK(mr_notifier_sql_prune(&post.cx, db, "2026-03-11T04:15:01Z", 10), post.cx.err);
	CHECK_INT(database_int(&post.cx, db, "SELECT count(*) FROM gateway_notifier_audit"), 0);
	post_close(&post);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(settings_come_back_as_they_were),
		TEST(the_same_is_not_audited_twice),
	};

	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
