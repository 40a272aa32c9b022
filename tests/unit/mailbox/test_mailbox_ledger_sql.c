/* tests/unit/mailbox/test_mailbox_ledger_sql.c - notices and their messages, kept and counted. */
#include "mailbox/ledger_sql.h"

#include "database.h"
#include "mailbox/notifier_sql.h"
#include "post.h"
#include "test.h"

enum { NOW = 1000 };

static struct mr_db *open_ledger(struct post *post)
{
	struct mr_db *db = NULL;

	post_open(post);
	CHECK_OK(mr_notifier_sql_open(&post->cx, "session", true, &db), post->cx.err);
	return db;
}

static int64_t add(struct post *post, struct mr_db *db, const char *ref)
{
	int64_t id = 0;

	CHECK_OK(mr_ledger_sql_add(&post->cx, db, "tmux", "Subject", NOW, &id), post->cx.err);
	CHECK_OK(mr_ledger_sql_join(&post->cx, db, id, ref, NOW), post->cx.err);
	return id;
}

static void change(struct post *post, struct mr_db *db, int64_t id, struct mr_ledger_change change)
{
	CHECK_OK(mr_ledger_sql_change(&post->cx, db, id, &change), post->cx.err);
}

static void a_notice_waits_until_it_is_settled(void)
{
	struct post post;
	struct mr_db *db MR_CLEANUP(database_closep) = open_ledger(&post);
	struct mr_ledger_messages messages;
	struct mr_ledger_notice notice;
	bool found = true;
	int64_t id;

	CHECK_OK(mr_ledger_sql_open_notice(&post.cx, db, &notice, &found), post.cx.err);
	CHECK(!found);
	id = add(&post, db, "m1");
	change(&post, db, id,
		(struct mr_ledger_change){ .state = MR_LEDGER_FAILED,
			.detail = "why",
			.now_us = NOW + 1,
			.retry_us = NOW + 9,
			.is_attempt = true });
	CHECK_OK(mr_ledger_sql_open_notice(&post.cx, db, &notice, &found), post.cx.err);
	CHECK(found);
	CHECK_INT(notice.retry_us, NOW + 9);
	CHECK_INT(notice.attempts, 1);
	CHECK_STR(notice.detail, "why");
	change(&post, db, id,
		(struct mr_ledger_change){ .state = MR_LEDGER_DELIVERED,
			.now_us = NOW + 10,
			.is_attempt = true,
			.is_announced = true });
	CHECK_OK(mr_ledger_sql_open_notice(&post.cx, db, &notice, &found), post.cx.err);
	CHECK(!found);
	CHECK_OK(mr_ledger_sql_messages(&post.cx, db, &messages), post.cx.err);
	CHECK_INT(messages.len, 1);
	CHECK_INT(messages.items[0].times, 1);
	CHECK_INT(messages.items[0].last_us, NOW + 10);
	CHECK_INT(messages.items[0].open_notice, 0);
	post_close(&post);
}

static void a_backlog_is_what_failed_and_waits(void)
{
	struct post post;
	struct mr_db *db MR_CLEANUP(database_closep) = open_ledger(&post);
	struct mr_ledger_backlog backlog;
	bool found = true;
	int64_t id = add(&post, db, "m1");

	CHECK_OK(mr_ledger_sql_backlog(&post.cx, db, &backlog, &found), post.cx.err);
	CHECK(!found);
	change(&post, db, id,
		(struct mr_ledger_change){ .state = MR_LEDGER_FAILED,
			.detail = "dead",
			.retry_us = NOW + 9 });
	CHECK_OK(mr_ledger_sql_backlog(&post.cx, db, &backlog, &found), post.cx.err);
	CHECK(found);
	CHECK_INT(backlog.messages, 1);
	CHECK_INT(backlog.oldest_us, NOW);
	CHECK_STR(backlog.channel, "tmux");
	CHECK_STR(backlog.detail, "dead");
	post_close(&post);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_notice_waits_until_it_is_settled),
		TEST(a_backlog_is_what_failed_and_waits),
	};

	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
