/* tests/unit/mailbox/test_mailbox_inspect.c - accounts and messages as the index has them. */
#include "mailbox/inspect.h"

#include "data/followed.h"
#include "files.h"
#include "mailbox/open.h"
#include "post.h"
#include "test.h"

#include <string.h>

static const char NO_SUCH[] = "msg-20260311T041500Z-00000000000000000000000000000000";

static void accounts_are_listed_by_address(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_registrations rows;

	post_open(&post);
	post_account(&post, "bob");
	post_account(&post, "alice");
	CHECK_OK(mr_mailbox_inspect_accounts(&post.cx, &post.root, &rows), post.cx.err);
	CHECK_INT(rows.len, 3);
	CHECK_STR(rows.items[0].address, MR_MAILBOX_OPERATOR_ADDRESS);
	CHECK_STR(rows.items[1].address, "alice@houmao.localhost");
	CHECK_STR(rows.items[2].owner, "HOUMAO-bob");
}

static void the_account_people_mean(void)
{
	struct post post MR_CLEANUP(post_close);
	const struct mr_mailbox_registration *row = NULL;
	const char *address, *stashed, *active;

	post_open(&post);
	address = post_address(&post, "alice");
	CHECK_ERR(mr_mailbox_inspect_account(&post.cx, &post.root, address, &row), post.cx.err,
		MR_ENOTFOUND, "alice@houmao.localhost has no mailbox here");
	stashed = post_register(&post, "alice", "first", MR_MAILBOX_SAFE, NULL);
	active = post_register(&post, "alice", "second", MR_MAILBOX_STASH, NULL);
	CHECK_OK(mr_mailbox_inspect_account(&post.cx, &post.root, address, &row), post.cx.err);
	CHECK_STR(row->id, active);
	post_unregister(&post, "alice", MR_MAILBOX_DEACTIVATE);
	CHECK_OK(mr_mailbox_inspect_account(&post.cx, &post.root, address, &row), post.cx.err);
	CHECK_STR(row->id, stashed);
	CHECK_INT(row->status, MR_MAILBOX_STASHED);
}

static void messages_are_listed_newest_first(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_inspect_messages found = { NULL };
	const char *first, *second, *account;

	post_open(&post);
	account = post_account(&post, "alice");
	post_account(&post, "bob");
	first = post_send(&post, "alice", "bob", NULL);
	second = post_send(&post, "alice", "alice", NULL);
	CHECK_OK(mr_mailbox_inspect_messages(&post.cx, &post.root, post_address(&post, "alice"), 0,
			 &found),
		post.cx.err);
	CHECK_STR(found.account->id, account);
	CHECK_INT(found.messages.len, 3);
	CHECK_STR(found.messages.items[0].message.message_id, second);
	CHECK_STR(found.messages.items[0].folder, "inbox");
	CHECK_STR(found.messages.items[1].message.message_id, second);
	CHECK_STR(found.messages.items[1].folder, "sent");
	CHECK_STR(found.messages.items[2].message.message_id, first);
	CHECK_OK(mr_mailbox_inspect_messages(&post.cx, &post.root, post_address(&post, "alice"), 1,
			 &found),
		post.cx.err);
	CHECK_INT(found.messages.len, 1);
	CHECK_ERR(mr_mailbox_inspect_messages(&post.cx, &post.root, "dave@houmao.localhost", 0,
			  &found),
		post.cx.err, MR_ENOTFOUND,
		"no active mailbox registration exists for dave@houmao.localhost");
}

static void one_message_whole(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_inspect_message found = { NULL };
	struct mr_mailbox_attachment file;
	const char *id;

	post_open(&post);
	post_account(&post, "alice");
	post_account(&post, "bob");
	post_account(&post, "carol");
	file = post_attachment(&post, "att-1", MR_MAILBOX_PATH_REF, "/etc/hostname");
	id = post_send(&post, "alice", "bob,alice", &(struct mr_mailbox_attachments){ &file, 1 });
	CHECK_OK(mr_mailbox_inspect_message(&post.cx, &post.root, post_address(&post, "bob"), id,
			 &found),
		post.cx.err);
	CHECK_STR(found.account->owner, "HOUMAO-bob");
	CHECK_STR(found.message->message_id, id);
	CHECK(strstr(found.message->document, "\n---\n\nbody\n"));
	CHECK_STR(found.where->folder, "inbox");
	CHECK_INT(found.headers->kind, MR_MAP);
	CHECK_INT(found.recipients.len, 2);
	CHECK_STR(found.recipients.items[1].principal.address, "alice@houmao.localhost");
	CHECK_INT(found.attachments.len, 1);
	CHECK_STR(found.attachments.items[0].path, "/etc/hostname");

	/* Somebody else's message, and nobody's. */
	CHECK_ERR(mr_mailbox_inspect_message(&post.cx, &post.root, post_address(&post, "carol"), id,
			  &found),
		post.cx.err, MR_ENOTFOUND,
		mr_arena_printf(post.cx.arena, "carol@houmao.localhost has no message %s", id));
	CHECK_ERR(mr_mailbox_inspect_message(&post.cx, &post.root, post_address(&post, "bob"),
			  NO_SUCH, &found),
		post.cx.err, MR_ENOTFOUND,
		mr_arena_printf(post.cx.arena, "bob@houmao.localhost has no message %s", NO_SUCH));
	CHECK_STR(found.message->message_id, id);
	post_unregister(&post, "bob", MR_MAILBOX_DEACTIVATE);
	CHECK_INT(mr_mailbox_inspect_message(&post.cx, &post.root, post_address(&post, "bob"), id,
			  &found),
		MR_ENOTFOUND);
}

static void on_reads(void *arg, const char *path, bool is_database)
{
	mr_followed_add(arg, path, is_database);
}

/* Whoever looks can follow what it looked at, and does not tell itself. */
static void what_was_read_is_followed(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_inspect_messages found = { NULL };
	struct mr_followed *follow = NULL;

	post_open(&post);
	post_account(&post, "alice");
	post_account(&post, "bob");
	CHECK_OK(mr_followed_open(8, &follow, &post.cx.err), post.cx.err);
	post.cx.reads = on_reads;
	post.cx.reads_arg = follow;
	CHECK_OK(mr_mailbox_root_open(&post.cx, post.root.path, MR_MAILBOX_ROOT_READ, &root),
		post.cx.err);
	CHECK_OK(mr_mailbox_inspect_messages(&post.cx, &root, post_address(&post, "alice"), 0,
			 &found),
		post.cx.err);
	mr_mailbox_inspect_states(&post.cx, &found);
	CHECK(!mr_followed_drain(follow));
	post_send(&post, "alice", "bob", NULL);
	CHECK(mr_followed_drain(follow));
	CHECK_OK(mr_mailbox_inspect_messages(&post.cx, &root, post_address(&post, "alice"), 0,
			 &found),
		post.cx.err);
	mr_mailbox_inspect_states(&post.cx, &found);
	CHECK(!mr_followed_drain(follow));
	mr_followed_close(&follow);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(accounts_are_listed_by_address),
		TEST(the_account_people_mean),
		TEST(messages_are_listed_newest_first),
		TEST(one_message_whole),
		TEST(what_was_read_is_followed),
	};

	return test_main(tests, MR_LEN(tests));
}
