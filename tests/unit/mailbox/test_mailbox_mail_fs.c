/* tests/unit/mailbox/test_mailbox_mail_fs.c - mail in a root on this machine, also when something
 * is wrong with it. */
#include "mailbox/mail_fs.h"

#include "base/fs.h"
#include "base/keeper.h"
#include "base/shelf.h"
#include "files.h"
#include "mailbox/layout.h"
#include "mailbox/repair.h"
#include "post.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void open_post(struct post *post)
{
	post_open(post);
	post_account(post, "alice");
	post_account(post, "bob");
}

static struct mr_mail open_mail(struct post *post, const char *name)
{
	struct mr_mail mail;

	CHECK_OK(mr_mail_fs_open(&post->cx, "root", post_address(post, name), false, &mail),
		post->cx.err);
	return mail;
}

static void an_address_must_be_registered(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	size_t open;

	open_post(&post);
	open = files_open();
	CHECK_ERR(mr_mail_fs_open(&post.cx, "root", "dave@houmao.localhost", false, &mail),
		post.cx.err, MR_ENOTFOUND,
		"no active mailbox registration exists for `dave@houmao.localhost`");
	CHECK(!mail.transport);
	CHECK_INT(mr_mail_fs_open(&post.cx, "nowhere", "bob@houmao.localhost", false, &mail),
		MR_ENOTFOUND);
	CHECK(strstr(post.cx.err.msg, "run `mailroom mailbox init`"));
	mail = open_mail(&post, "bob");
	CHECK_STR(mail.principal_id, "HOUMAO-bob");
	mr_mail_close(&mail);
	mr_mail_close(&mail);
	CHECK_INT(files_open(), open);
}

/* Its registration ends, its mailbox breaks, or it goes to somebody else. */
static void what_happens_meanwhile_is_noticed(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail alice MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail bob MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	struct mr_mail_status status;
	struct mr_mail_list list;

	open_post(&post);
	alice = open_mail(&post, "alice");
	bob = open_mail(&post, "bob");
	CHECK(rmdir(mr_arena_printf(post.cx.arena, "%s/drafts", post_mailbox(&post, "bob"))) == 0);
	CHECK_INT(mr_mail_status(&post.cx, &bob, &status), MR_ECONFLICT);
	CHECK(strstr(post.cx.err.msg, "is not whole"));
	post_register(&post, "bob", "mallory", MR_MAILBOX_FORCE, NULL);
	CHECK_ERR(mr_mail_list(&post.cx, &bob, &query, &list), post.cx.err, MR_ECONFLICT,
		"mailbox `bob@houmao.localhost` now belongs to `mallory`, no longer to "
		"`HOUMAO-bob`");
	post_unregister(&post, "alice", MR_MAILBOX_DEACTIVATE);
	CHECK_INT(mr_mail_status(&post.cx, &alice, &status), MR_ENOTFOUND);
	CHECK_INT(mr_mail_list(&post.cx, &alice, &query, &list), MR_ENOTFOUND);
}

static void recipients_have_full_addresses(void)
{
	static const struct {
		const char *to;
		enum mr_code code;
		const char *text;
	} cases[] = {
		{ "bob", MR_EINVAL,
			"recipient `bob` is not a full mailbox address. Did you mean "
			"`bob@houmao.localhost`?" },
		{ "HOUMAO-bob", MR_EINVAL,
			"recipient `HOUMAO-bob` is not a full mailbox address. Did you mean "
			"`bob@houmao.localhost`?" },
		/* Two could be meant. */
		{ "carol", MR_EINVAL, "recipient `carol` is not a full mailbox address" },
		{ "nobody", MR_EINVAL, "recipient `nobody` is not a full mailbox address" },
		{ "erin", MR_EINVAL, "recipient `erin` is not a full mailbox address" },
		{ "nobody@houmao.localhost", MR_ENOTFOUND,
			"recipient `nobody@houmao.localhost` has no mailbox in this root" },
		{ "erin@houmao.localhost", MR_ECONFLICT,
			"recipient `erin@houmao.localhost` takes no mail: its mailbox is "
			"inactive" },
	};
	struct post post MR_CLEANUP(post_close);
	struct mr_mail alice MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mailbox_register_request second = { .mode = MR_MAILBOX_SAFE,
		.address = "carol@example.org",
		.owner = "x",
		.kind = MR_MAILBOX_IN_ROOT };
	struct mr_mailbox_register_result registered;
	struct mr_mail_message sent;

	open_post(&post);
	post_account(&post, "carol");
	CHECK_OK(mr_mailbox_register(&post.cx, &post.root, &second, &registered), post.cx.err);
	post_account(&post, "erin");
	post_unregister(&post, "erin", MR_MAILBOX_DEACTIVATE);
	alice = open_mail(&post, "alice");
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *to[] = { cases[i].to, NULL };
		struct mr_mail_draft d = { .to = { to, 1 }, .subject = "s" };

		CHECK_ERR(mr_mail_send(&post.cx, &alice, &d, &sent), post.cx.err, cases[i].code,
			cases[i].text);
	}
	CHECK_INT(post_count(&post, NULL, "SELECT count(*) FROM messages"), 0);
}

static const char *document(struct post *post, const char *id)
{
	return mr_arena_printf(post->cx.arena, "root/messages/2026-03-11/%s.md", id);
}

/* One bad document does not hide the others. */
static void a_document_that_cannot_be_read(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail bob MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	struct mr_mailbox_attachment file;
	const char *good, *bad, *gone;
	struct mr_mail_message message;
	struct mr_mail_list list;

	open_post(&post);
	file = post_attachment(&post, "att-1", MR_MAILBOX_PATH_REF, "/etc/hostname");
	bob = open_mail(&post, "bob");
	bad = post_send(&post, "alice", "bob,alice", &(struct mr_mailbox_attachments){ &file, 1 });
	good = post_send(&post, "alice", "bob", NULL);
	gone = post_send(&post, "alice", "bob", NULL);
	CHECK(unlink(document(&post, bad)) == 0);
	files_put(document(&post, bad), "no front matter");
	CHECK(unlink(document(&post, gone)) == 0);
	query.include_body = true;
	CHECK_OK(mr_mail_list(&post.cx, &bob, &query, &list), post.cx.err);
	CHECK_INT(list.messages.len, 3);
	CHECK(strstr(list.messages.items[0].problem, "cannot be read"));
	CHECK_STR(list.messages.items[0].content.message_id, gone);
	CHECK_STR(list.messages.items[1].content.message_id, good);
	CHECK(!list.messages.items[1].problem && list.messages.items[1].has_body);
	/* What the index has of it is shown. */
	message = list.messages.items[2];
	CHECK_STR(message.content.message_id, bad);
	CHECK(strstr(message.problem, document(&post, bad) + strlen("root/")));
	CHECK(!message.has_body);
	CHECK_STR(message.content.sender.address, "alice@houmao.localhost");
	CHECK_INT(message.content.to.len, 2);
	CHECK_INT(message.content.cc.len, 0);
	CHECK_STR(message.content.attachments.items[0].path, "/etc/hostname");
	CHECK_STR(message.view.box, "inbox");
	CHECK_INT(mr_mail_peek(&post.cx, &bob, bad, NULL, &message), MR_EFORMAT);
	CHECK(strstr(post.cx.err.msg, "cannot be read"));
	CHECK_INT(mr_mail_peek(&post.cx, &bob, gone, NULL, &message), MR_EFORMAT);
	/* Another message under its name is not it. */
	CHECK(unlink(document(&post, bad)) == 0);
	CHECK(link(document(&post, good), document(&post, bad)) == 0);
	CHECK_INT(mr_mail_peek(&post.cx, &bob, bad, NULL, &message), MR_EFORMAT);
	CHECK(strstr(post.cx.err.msg, "it is message"));
	/* And a link is not followed out of the root. */
	CHECK(unlink(document(&post, bad)) == 0);
	CHECK(symlink("/etc/passwd", document(&post, bad)) == 0);
	CHECK(mr_mail_peek(&post.cx, &bob, bad, NULL, &message) != MR_OK);
}

/* Between the delivery and the mailbox's own row there is a moment. */
static void a_row_that_is_not_there_yet(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail bob MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_message message;
	const char *id;

	open_post(&post);
	post_send(&post, "alice", "bob", NULL);
	id = post_send(&post, "alice", "bob", NULL);
	post_exec(&post, post_mailbox(&post, "bob"),
		mr_arena_printf(post.cx.arena, "DELETE FROM message_state WHERE message_id = '%s'",
			id));
	bob = open_mail(&post, "bob");
	CHECK_OK(mr_mail_peek(&post.cx, &bob, id, NULL, &message), post.cx.err);
	CHECK(!message.view.read);
	CHECK_STR(message.view.box, "inbox");
	CHECK_INT(post_count(&post, post_mailbox(&post, "bob"),
			  "SELECT count(*) FROM message_state"),
		1);
	CHECK_OK(mr_mail_read(&post.cx, &bob, id, NULL, &message), post.cx.err);
	CHECK(message.view.read);
	CHECK_INT(post_count(&post, post_mailbox(&post, "bob"),
			  "SELECT count(*) FROM message_state"),
		2);
}

static void a_database_that_was_lost(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail bob MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail reader MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	struct mr_mail_list list;
	const char *path;

	open_post(&post);
	post_send(&post, "alice", "bob", NULL);
	path = mr_arena_printf(post.cx.arena, "%s/mailbox.sqlite", post_mailbox(&post, "bob"));
	CHECK(unlink(path) == 0);
	/* A reader changes nothing, and says so. */
	CHECK_OK(mr_mail_fs_open(&post.cx, "root", "bob@houmao.localhost", true, &reader),
		post.cx.err);
	CHECK(mr_mail_list(&post.cx, &reader, &query, &list) != MR_OK);
	CHECK(strstr(post.cx.err.msg, "mailbox.sqlite"));
	CHECK(!mr_fs_exists(AT_FDCWD, path));
	bob = open_mail(&post, "bob");
	CHECK_OK(mr_mail_list(&post.cx, &bob, &query, &list), post.cx.err);
	CHECK_INT(list.messages.len, 1);
	CHECK_INT(list.unread_count, 1);
}

static void roots_of_the_old_protocol_are_read(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	struct mr_mail_list list;

	open_post(&post);
	post_send(&post, "alice", "bob", NULL);
	files_put("root/" MR_MAILBOX_VERSION_FILE, "1\n");
	CHECK_INT(mr_mail_fs_open(&post.cx, "root", "bob@houmao.localhost", false, &mail),
		MR_ECONFLICT);
	CHECK(strstr(post.cx.err.msg, "it can be read, but not changed"));
	CHECK_OK(mr_mail_fs_open(&post.cx, "root", "bob@houmao.localhost", true, &mail),
		post.cx.err);
	CHECK_OK(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err);
	CHECK_INT(list.messages.len, 1);
}

/* A root that this user may read, and not write. */
static void a_root_that_cannot_be_written(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	struct mr_mail_message message;
	struct mr_mail_list list;
	const char *id;
	enum mr_code rc;

	open_post(&post);
	id = post_send(&post, "alice", "bob", NULL);
	mail = open_mail(&post, "bob");
	CHECK(chmod("root/locks/guards", 0500) == 0 && chmod("root/locks/addresses", 0500) == 0 &&
		chmod("root/locks", 0500) == 0);
	/* Root may write all the same. */
	if (geteuid() != 0) {
		CHECK_OK(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err);
		rc = mr_mail_read(&post.cx, &mail, id, NULL, &message);
		CHECK_INT(rc, MR_EPERM);
		CHECK(strstr(post.cx.err.msg, "root/locks/"));
		CHECK_OK(mr_mail_peek(&post.cx, &mail, id, NULL, &message), post.cx.err);
		CHECK(!message.view.read);
	}
	CHECK(chmod("root/locks", 0700) == 0 && chmod("root/locks/addresses", 0700) == 0 &&
		chmod("root/locks/guards", 0700) == 0);
	CHECK_OK(mr_mail_read(&post.cx, &mail, id, NULL, &message), post.cx.err);
}

static const char *send_to_bob(struct post *post, const struct mr_mail *from)
{
	const char *to[] = { "bob@houmao.localhost", NULL };
	struct mr_mail_draft d = { .to = { to, 1 }, .subject = "s", .body = mr_bytes_text("b") };
	struct mr_mail_message sent;

	CHECK_OK(mr_mail_send(&post->cx, from, &d, &sent), post->cx.err);
	CHECK(!sent.problem);
	return sent.ref;
}

/* What a gateway does: connections outlive the requests, and the journals stay. */
static void what_stays_open_serves_again(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_keepers *keepers = mr_keepers_new();
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	struct mr_mailbox_check_result check;
	struct mr_mail_message message;
	struct mr_mail_list list;
	struct mr_mail mail;
	const char *ref;
	size_t open = 0;

	open_post(&post);
	post.cx.keepers = keepers;
	post.cx.shelf = mr_shelf_new();
	for (int i = 0; i < 3; i++) {
		mail = open_mail(&post, "alice");
		send_to_bob(&post, &mail);
		mr_mail_close(&mail);
		CHECK(i == 0 || files_open() == open);
		open = files_open();
	}
	CHECK(mr_fs_exists(post.root.dir, MR_MAILBOX_INDEX_FILE "-journal"));
	/* Repair puts another file in its place, and others use the old journal's mode. */
	CHECK_INT(system("cd root && cp index.sqlite new && rm index.sqlite-journal && "
			 "mv new index.sqlite"),
		0);
	mail = open_mail(&post, "alice");
	ref = send_to_bob(&post, &mail);
	mr_mail_close(&mail);
	mr_shelf_freep(&post.cx.shelf);
	post.cx.keepers = NULL;
	mr_keepers_free(keepers);
	mail = open_mail(&post, "bob");
	/* Who only looks makes no index where one is lost. */
	CHECK(rename("root/index.sqlite", "kept") == 0);
	CHECK_INT(mr_mail_peek(&post.cx, &mail, ref, NULL, &message), MR_ENOTFOUND);
	CHECK(!mr_fs_exists(post.root.dir, MR_MAILBOX_INDEX_FILE));
	CHECK(rename("kept", "root/index.sqlite") == 0);
	CHECK_OK(mr_mail_read(&post.cx, &mail, ref, NULL, &message), post.cx.err);
	CHECK_OK(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err);
	CHECK_INT(list.messages.len, 4);
	mr_mail_close(&mail);
	CHECK_OK(mr_mailbox_check(&post.cx, "root", &check), post.cx.err);
	CHECK_INT(check.problem_count, 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(an_address_must_be_registered),
		TEST(what_happens_meanwhile_is_noticed),
		TEST(recipients_have_full_addresses),
		TEST(a_document_that_cannot_be_read),
		TEST(a_row_that_is_not_there_yet),
		TEST(a_database_that_was_lost),
		TEST(roots_of_the_old_protocol_are_read),
		TEST(a_root_that_cannot_be_written),
		TEST(what_stays_open_serves_again),
	};

	return test_main(tests, MR_LEN(tests));
}
