/* tests/unit/mailbox/test_mailbox_mail_send.c - the verbs that send: send, post, reply. */
#include "base/fs.h"
#include "files.h"
#include "mailbox/limits.h"
#include "mailbox/mail.h"
#include "office.h"
#include "test.h"
#include "text/time.h"

#include <stdlib.h>
#include <string.h>

static void a_message_is_sent(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_file file = { "note.txt", "a note" };
	struct mr_mail_message sent, got;
	struct mr_mail_draft d;

	office_open(&o);
	files_put("note.txt", "attachment\n");
	d = office_draft(&o, "bob@houmao.localhost, bob@houmao.localhost", "  Parser drift ",
		"The drift appears\n\nafter   the second stage.\n");
	d.cc = mr_str_split(o.cx->arena, "carol@houmao.localhost", ',');
	d.files = &file;
	d.file_count = 1;
	CHECK_OK(mr_mail_send(o.cx, &o.alice, &d, &sent), o.cx->err);
	CHECK_STR(sent.ref, mr_arena_printf(o.cx->arena, "filesystem:%s", sent.content.message_id));
	CHECK_STR(sent.thread_ref, sent.ref);
	CHECK_STR(sent.content.subject, "Parser drift");
	CHECK_STR(sent.content.created_at_utc, "2026-03-11T04:15:00Z");
	CHECK_STR(sent.preview, "The drift appears after the second stage.");
	CHECK(sent.has_body && !sent.problem);
	CHECK_STR(office_body(&o, &sent), "The drift appears\n\nafter   the second stage.\n");
	office_check_view(&sent, "r--", "sent");
	CHECK_STR(sent.content.sender.principal_id, "HOUMAO-alice");
	/* The same twice is said twice, and delivered once. */
	CHECK_INT(sent.content.to.len, 2);
	CHECK_STR(sent.content.to.items[1].principal_id, "HOUMAO-bob");
	CHECK_INT(sent.content.cc.len, 1);
	CHECK_INT(sent.content.attachments.len, 1);
	CHECK_STR(sent.content.attachments.items[0].label, "a note");
	CHECK_INT(sent.content.attachments.items[0].size_bytes, 11);

	CHECK_STR(office_in_box(&o, &o.bob, NULL), "Parser drift");
	got = office_peek(&o, &o.carol, sent.ref);
	office_check_view(&got, "---", "inbox");
	CHECK_STR(got.content.message_id, sent.content.message_id);
	CHECK_STR(office_body(&o, &got), office_body(&o, &sent));

	/* Mail to oneself is unread mail. */
	got = office_send(&o, &o.alice, "alice@houmao.localhost", "Note", "");
	office_check_view(&got, "---", "inbox");
	CHECK_STR(got.preview, "");
	CHECK_STR(office_in_box(&o, &o.alice, "inbox"), "Note");
	CHECK_STR(office_in_box(&o, &o.alice, "sent"), "Parser drift");
}

/* The only managed copy, or none. */
static void check_copies(struct office *o, const struct mr_mailbox_attachment *file)
{
	CHECK_INT(files_count("root/attachments/managed"), file != NULL);
	if (!file)
		return;
	CHECK_INT(file->kind, MR_MAILBOX_MANAGED_COPY);
	CHECK_STR(file->path,
		mr_arena_printf(o->cx->arena, "%s/attachments/managed/%s/note.txt",
			o->post.root.path, file->attachment_id));
	files_hold(file->path, "attachment\n");
}

static void a_file_is_kept_as_a_copy(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_file files[] = { { .path = "note.txt", .is_copied = true },
		{ .path = "note.txt" } };
	struct mr_mail_message sent;
	struct mr_mail_draft d;

	office_open(&o);
	files_put("note.txt", "attachment\n");
	d = office_draft(&o, "bob@houmao.localhost", "Notes", "See the file.");
	d.files = files;
	d.file_count = 2;
	/* Nothing is copied for a message that cannot be, and nothing is left of one that was not
	 * delivered. */
	d.subject = " ";
	CHECK_INT(mr_mail_send(o.cx, &o.alice, &d, &sent), MR_EINVAL);
	check_copies(&o, NULL);
	d.subject = "Notes";
	if (files_fail_at("deliver.link:ENOSPC")) {
		CHECK_INT(mr_mail_send(o.cx, &o.alice, &d, &sent), MR_EIO);
		files_fail_at(NULL);
		check_copies(&o, NULL);
	}
	CHECK_OK(mr_mail_send(o.cx, &o.alice, &d, &sent), o.cx->err);
	check_copies(&o, &sent.content.attachments.items[0]);
	CHECK_INT(sent.content.attachments.items[1].kind, MR_MAILBOX_PATH_REF);
	CHECK_STR(sent.content.attachments.items[0].sha256,
		sent.content.attachments.items[1].sha256);
	CHECK_STR(sent.content.attachments.items[0].label, "note.txt");
	CHECK_STR(sent.content.attachments.items[0].media_type, "text/plain");
	/* The copy is the mailbox's: what becomes of the file is no matter. */
	files_put("note.txt", "changed\n");
	check_copies(&o, &sent.content.attachments.items[0]);
}

static void notices_are_given_or_found(void)
{
	static const struct mr_mailbox_notify_block block = { "Please look now", true };
	static const struct mr_mailbox_notify_auth auth = { .token = "tok-1" };
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_message sent;
	struct mr_mail_draft d;

	office_open(&o);
	d = office_draft(&o, "bob@houmao.localhost", "Wake up", "See below.");
	d.notify_block = &block;
	d.notify_auth = &auth;
	CHECK_OK(mr_mail_send(o.cx, &o.alice, &d, &sent), o.cx->err);
	CHECK_STR(office_body(&o, &sent), "```houmao-notify\nPlease look now\n```\n\nSee below.");
	CHECK_STR(sent.preview, "```houmao-notify Please look now ``` See below.");
	CHECK(sent.content.notify_block->prepend);
	CHECK_STR(sent.content.notify_auth->scheme, "none");
	CHECK_STR(sent.content.notify_auth->token, "tok-1");
	sent = office_send(&o, &o.alice, "bob@houmao.localhost", "Fence",
		"x\n```houmao-notify\nread me first\n```\n");
	CHECK_STR(sent.content.notify_block->text, "read me first");
	CHECK(!sent.content.notify_block->prepend && !sent.content.notify_auth);
}

static struct mr_mail_message reply(struct office *o, const struct mr_mail *mail, const char *ref,
	const char *body)
{
	struct mr_mail_draft d = { .body = mr_bytes_text(body) };
	struct mr_mail_message message;

	o->post.clock.now_us += MR_TIME_S;
	CHECK_OK(mr_mail_reply(o->cx, mail, ref, &d, &message), o->cx->err);
	return message;
}

static void answers(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_message first, second, third, got;
	struct mr_mail_draft d = { .body = mr_bytes_text("x") };

	office_open(&o);
	first = office_send(&o, &o.alice, "bob@houmao.localhost", "Parser drift", "b");
	second = reply(&o, &o.bob, first.ref, "On it.\n");
	CHECK(!second.problem);
	office_check_view(&second, "r--", "sent");
	CHECK_STR(second.content.subject, "Re: Parser drift");
	CHECK_STR(second.thread_ref, first.ref);
	CHECK_STR(second.content.in_reply_to, first.content.message_id);
	CHECK_INT(second.content.to.len, 1);
	CHECK_STR(second.content.to.items[0].address, "alice@houmao.localhost");
	got = office_peek(&o, &o.bob, first.ref);
	office_check_view(&got, "ra-", "inbox");
	third = reply(&o, &o.alice, second.ref, "Thanks");
	CHECK_STR(third.content.subject, "Re: Parser drift");
	CHECK_STR(third.thread_ref, first.ref);
	CHECK_INT(third.content.references.len, 2);
	/* What one sent oneself is answered to oneself. */
	got = reply(&o, &o.alice, first.ref, "and");
	CHECK_STR(got.content.to.items[0].address, "alice@houmao.localhost");
	office_check_view(&got, "---", "inbox");

	/* A message that is not ours: refused before anything is sent. */
	CHECK_INT(mr_mail_reply(o.cx, &o.carol, first.ref, &d, &got), MR_ENOTFOUND);
	CHECK_INT(mr_mail_reply(o.cx, &o.bob, OFFICE_NO_SUCH, &d, &got), MR_ENOTFOUND);
	CHECK_INT(post_count(&o.post, NULL, "SELECT count(*) FROM messages"), 4);
	post_unregister(&o.post, "alice", MR_MAILBOX_DEACTIVATE);
	CHECK_ERR(mr_mail_reply(o.cx, &o.bob, first.ref, &d, &got), o.cx->err, MR_ECONFLICT,
		"recipient `alice@houmao.localhost` takes no mail: its mailbox is inactive");
}

static void posts(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_draft d;
	struct mr_mail_message post, notice, got = { .ref = "kept" };

	office_open(&o);
	d = office_draft(&o, "carol@houmao.localhost", "From the operator", "Stop at noon.");
	CHECK_OK(mr_mail_post(o.cx, &o.bob, &d, true, &post), o.cx->err);
	office_check_view(&post, "---", "inbox");
	CHECK_STR(post.content.sender.address, MR_MAILBOX_OPERATOR_ADDRESS);
	CHECK_STR(post.content.sender.display_name, "Houmao Operator");
	CHECK_STR(post.content.sender.role, "system_operator");
	CHECK_INT(post.content.reply_to.len, 1);
	CHECK_INT(post.content.to.len, 1);
	CHECK_STR(post.content.to.items[0].address, "bob@houmao.localhost");
	CHECK_STR(mr_value_get(post.content.headers, "x-houmao-origin")->text, "operator");
	CHECK_STR(mr_value_get(post.content.headers, "x-houmao-reply-policy")->text,
		"operator_mailbox");
	got = reply(&o, &o.bob, post.ref, "ok");
	CHECK_STR(got.content.subject, "Re: From the operator");
	CHECK_STR(got.content.to.items[0].principal_id, "HOUMAO-operator");
	CHECK_STR(got.content.to.items[0].display_name, NULL);

	d.subject = "Notice";
	CHECK_OK(mr_mail_post(o.cx, &o.bob, &d, false, &notice), o.cx->err);
	CHECK_INT(notice.content.reply_to.len, 0);
	CHECK_STR(mr_value_get(notice.content.headers, "x-houmao-reply-policy")->text, "none");
	CHECK_ERR(mr_mail_reply(o.cx, &o.bob, notice.ref, &d, &got), o.cx->err, MR_ECONFLICT,
		"answering is unsupported for operator-origin messages that take no answers");
	CHECK_STR(o.cx->err.word, mr_mail_unsupported);
	got = office_peek(&o, &o.bob, notice.ref);
	office_check_view(&got, "---", "inbox");
	CHECK_STR(office_in_box(&o, &o.carol, NULL), "");
}

static void the_operator_comes_back(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_draft d;
	struct mr_mail_message post;

	office_open(&o);
	post_exec(&o.post, NULL,
		"DELETE FROM mailbox_registrations WHERE address = '" MR_MAILBOX_OPERATOR_ADDRESS
		"'");
	CHECK_OK(mr_fs_remove_all(o.post.root.dir, "mailboxes/" MR_MAILBOX_OPERATOR_ADDRESS,
			 &o.cx->err),
		o.cx->err);
	d = office_draft(&o, "", "s", "b");
	CHECK_OK(mr_mail_post(o.cx, &o.bob, &d, true, &post), o.cx->err);
	CHECK_OK(mr_mail_post(o.cx, &o.bob, &d, true, &post), o.cx->err);
	CHECK_INT(post_count(&o.post, NULL,
			  "SELECT count(*) FROM mailbox_registrations WHERE address = "
			  "'" MR_MAILBOX_OPERATOR_ADDRESS "'"),
		1);
}

static void what_is_refused_is_not_sent(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_file file = { "none", NULL };
	struct mr_mail_message got = { .ref = "kept" };
	struct mr_mail_draft d;
	const char *before;
	char *body;
	size_t len = MR_MAILBOX_DOCUMENT_BYTES - MR_MAILBOX_HEAD_BYTES + 1;

	office_open(&o);
	before = post_tree(&o.post, "root");
	d = office_draft(&o, "bob@houmao.localhost", " ", "b");
	CHECK_ERR(mr_mail_send(o.cx, &o.alice, &d, &got), o.cx->err, MR_EINVAL,
		"the subject must not be empty");
	d = office_draft(&o, "", "s", "b");
	CHECK_ERR(mr_mail_send(o.cx, &o.alice, &d, &got), o.cx->err, MR_EINVAL,
		"a message must have at least one recipient in `to`");
	d = office_draft(&o, "bob@houmao.localhost,dave@houmao.localhost", "s", "b");
	CHECK_INT(mr_mail_send(o.cx, &o.alice, &d, &got), MR_ENOTFOUND);
	d = office_draft(&o, "bob@houmao.localhost", "s", "b");
	d.files = &file;
	d.file_count = 1;
	CHECK_INT(mr_mail_send(o.cx, &o.alice, &d, &got), MR_ENOTFOUND);
	d.file_count = MR_MAILBOX_ATTACHMENTS + 1;
	CHECK_ERR(mr_mail_send(o.cx, &o.alice, &d, &got), o.cx->err, MR_ELIMIT,
		"a message must not have more than 1000 attachments");
	d.file_count = 0;
	d.to.len = MR_MAILBOX_RECIPIENTS + 1;
	CHECK_ERR(mr_mail_send(o.cx, &o.alice, &d, &got), o.cx->err, MR_ELIMIT,
		"a message must not have more than 1000 recipients");
	d.to.len = 1;
	d.body = mr_bytes_of("a\0b", 3);
	CHECK_ERR(mr_mail_send(o.cx, &o.alice, &d, &got), o.cx->err, MR_EINVAL,
		"the body must not contain NUL");
	body = malloc(len);
	memset(body, 'x', len);
	d.body = mr_bytes_of(body, len);
	CHECK_INT(mr_mail_send(o.cx, &o.alice, &d, &got), MR_ELIMIT);
	free(body);
	CHECK_STR(got.ref, "kept");
	CHECK_STR(post_tree(&o.post, "root"), before);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_message_is_sent),
		TEST(a_file_is_kept_as_a_copy),
		TEST(notices_are_given_or_found),
		TEST(answers),
		TEST(posts),
		TEST(the_operator_comes_back),
		TEST(what_is_refused_is_not_sent),
	};

	return test_main(tests, MR_LEN(tests));
}
