/* tests/unit/mailbox/notified.c - an agent with a session and mail. */
#include "notified.h"

#include "base/buf.h"
#include "database.h"
#include "mailbox/agent_make.h"
#include "mailbox/ledger_sql.h"
#include "mailbox/mail_fs.h"
#include "mailbox/notifier_sql.h"
#include "test.h"

void notified_open(struct notified *n)
{
	const struct mr_mailbox_agent_new agent = {
		.registry = "registry",
		.runtime = "runtime",
		.name = "bob",
		.tool = "claude",
		.tmux_session = "pane",
		.directory = "/srv/project",
		.home = "/srv/user",
	};
	const struct mr_mailbox_declared declared = {
		.transport = "filesystem",
		.root = "root",
		.agent_name = "bob",
	};
	struct mr_mailbox_agent_bound result;

	post_open(&n->post);
	post_account(&n->post, "alice");
	CHECK_OK(mr_mailbox_agent_create(&n->post.cx, &agent, &n->session), n->post.cx.err);
	CHECK_OK(mr_mailbox_agent_bind(&n->post.cx, "registry", &declared, MR_MAILBOX_SAFE, NULL,
			 &n->session, &result),
		n->post.cx.err);
	CHECK_OK(mr_notifier_target_of(&n->post.cx, &n->session, NULL, NULL, &n->target),
		n->post.cx.err);
}

void notified_close(struct notified *n)
{
	post_close(&n->post);
}

void notified_command(struct notified *n, const char *script, int64_t timeout_seconds)
{
	struct mr_notifier_settings settings = mr_notifier_settings_default();
	const char *words[] = { "sh", "-c", script, NULL };

	settings.enabled = true;
	settings.interval_seconds = 3600;
	settings.channel = MR_NOTIFIER_COMMAND;
	settings.command = (struct mr_texts){ words, 3 };
	settings.command_timeout_seconds = timeout_seconds;
	CHECK_OK(mr_notifier_put(&n->post.cx, n->session.dir, &settings), n->post.cx.err);
}

const char *notified_send(struct notified *n)
{
	return mr_arena_printf(n->post.cx.arena, "filesystem:%s",
		post_send(&n->post, "alice", "bob", NULL));
}

void notified_read(struct notified *n, const char *ref)
{
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_message message;

	CHECK_OK(mr_mail_fs_open(&n->post.cx, n->target.binding.root, n->target.binding.address,
			 false, &mail),
		n->post.cx.err);
	CHECK_OK(mr_mail_read(&n->post.cx, &mail, ref, NULL, &message), n->post.cx.err);
}

const char *notified_ledger(struct notified *n)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	struct mr_ledger_notices list = { NULL, 0 };

	mr_buf_init(&buf, 1 << 20);
	CHECK_OK(mr_notifier_acknowledge(&n->post.cx, &n->target), n->post.cx.err);
	CHECK_OK(mr_notifier_sql_open(&n->post.cx, n->session.dir, false, &db), n->post.cx.err);
	CHECK_OK(mr_ledger_sql_list(&n->post.cx, db, 100, &list), n->post.cx.err);
	for (size_t i = 0; i < list.len; i++)
		mr_buf_printf(&buf, "%s %s %lld %s\n", list.items[i].state, list.items[i].channel,
			(long long)list.items[i].messages,
			list.items[i].detail ? list.items[i].detail : "-");
	return mr_arena_strdup(n->post.cx.arena, mr_buf_text(&buf));
}

struct mr_notifier_told notified_take(struct notified *n)
{
	struct mr_notifier_told told;

	CHECK_OK(mr_notifier_take(&n->post.cx, &n->target, "long_poll", &told), n->post.cx.err);
	return told;
}

long long notified_count(struct notified *n, const char *table)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;

	CHECK_OK(mr_notifier_sql_open(&n->post.cx, n->session.dir, true, &db), n->post.cx.err);
	return database_int(&n->post.cx, db,
		mr_arena_printf(n->post.cx.arena, "SELECT count(*) FROM %s", table));
}
