/* tests/unit/mailbox/test_mailbox_mail.c - the verbs: list, peek, read, mark, move, archive, send,
 * post, reply, status. */
#include "mailbox/mail.h"

#include "base/fs.h"
#include "files.h"
#include "mailbox/limits.h"
#include "mailbox/mail_fs.h"
#include "mailbox/repair.h"
#include "post.h"
#include "test.h"
#include "text/time.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP -1

static const char NO_SUCH[] = "filesystem:msg-20260101T000000Z-00000000000000000000000000000000";

/* Alice, Bob and Carol in one root, with the mail of each open. */
struct office {
	struct post post;
	struct mr_ctx *cx;
	struct mr_mail alice, bob, carol;
};

static struct mr_mail open_mail(struct post *post, const char *name)
{
	struct mr_mail mail;

	CHECK_OK(mr_mail_fs_open(&post->cx, "root", post_address(post, name), false, &mail),
		post->cx.err);
	return mail;
}

static void open_office(struct office *o)
{
	post_open(&o->post);
	post_account(&o->post, "alice");
	post_account(&o->post, "bob");
	post_account(&o->post, "carol");
	o->cx = &o->post.cx;
	o->alice = open_mail(&o->post, "alice");
	o->bob = open_mail(&o->post, "bob");
	o->carol = open_mail(&o->post, "carol");
}

static void close_office(struct office *o)
{
	struct mr_mailbox_check_result result;

	/* Whatever a test does with verbs, the root is well afterwards. */
	CHECK_OK(mr_mailbox_check(o->cx, "root", &result), o->cx->err);
	if (result.problem_count)
		test_fail(__FILE__, __LINE__, "%s %s", result.problems[0].what,
			result.problems[0].path);
	mr_mail_close(&o->alice);
	mr_mail_close(&o->bob);
	mr_mail_close(&o->carol);
	post_close(&o->post);
}

static struct mr_texts texts(struct office *o, const char *names)
{
	return mr_str_split(o->cx->arena, names, ',');
}

static struct mr_mail_draft draft(struct office *o, const char *to, const char *subject,
	const char *body)
{
	return (struct mr_mail_draft){
		.to = texts(o, to),
		.subject = subject,
		.body = mr_bytes_text(body),
	};
}

/* Each a second after the one before. */
static struct mr_mail_message send(struct office *o, const struct mr_mail *from, const char *to,
	const char *subject, const char *body)
{
	struct mr_mail_draft d = draft(o, to, subject, body);
	struct mr_mail_message sent;

	o->post.clock.now_us += MR_TIME_S;
	CHECK_OK(mr_mail_send(o->cx, from, &d, &sent), o->cx->err);
	return sent;
}

static struct mr_mail_message peek(struct office *o, const struct mr_mail *mail, const char *ref)
{
	struct mr_mail_message message;

	CHECK_OK(mr_mail_peek(o->cx, mail, ref, NULL, &message), o->cx->err);
	return message;
}

static const char *body_of(struct office *o, const struct mr_mail_message *message)
{
	return mr_arena_strndup(o->cx->arena, (const char *)message->content.body.data,
		message->content.body.len);
}

static void check_view(const struct mr_mail_message *message, const char *flags, const char *box)
{
	const char got[] = { message->view.read ? 'r' : '-', message->view.answered ? 'a' : '-',
		message->view.archived ? 'x' : '-', '\0' };

	CHECK_STR(got, flags);
	CHECK_STR(message->view.box, box);
}

/* What is in a box: the subjects, newest first. */
static const char *subjects(struct office *o, const struct mr_mail *mail,
	const struct mr_mail_query *query)
{
	struct mr_mail_list list;
	const char *text = "";

	CHECK_OK(mr_mail_list(o->cx, mail, query, &list), o->cx->err);
	for (size_t i = 0; i < list.messages.len; i++)
		text = mr_arena_printf(o->cx->arena, "%s%s%s", text, i ? " " : "",
			list.messages.items[i].content.subject);
	return text;
}

static const char *in_box(struct office *o, const struct mr_mail *mail, const char *box)
{
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;

	query.box = box;
	return subjects(o, mail, &query);
}

static void status_says_who_it_is(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_status status;

	open_office(&o);
	CHECK_OK(mr_mail_status(o.cx, &o.alice, &status), o.cx->err);
	CHECK_STR(status.transport, "filesystem");
	CHECK_STR(status.address, "alice@houmao.localhost");
	CHECK_STR(status.principal_id, "HOUMAO-alice");
}

static void a_message_is_sent(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_file file = { "note.txt", "a note" };
	struct mr_mail_message sent, got;
	struct mr_mail_draft d;

	open_office(&o);
	files_put("note.txt", "attachment\n");
	d = draft(&o, "bob@houmao.localhost, bob@houmao.localhost", "  Parser drift ",
		"The drift appears\n\nafter   the second stage.\n");
	d.cc = texts(&o, "carol@houmao.localhost");
	d.files = &file;
	d.file_count = 1;
	CHECK_OK(mr_mail_send(o.cx, &o.alice, &d, &sent), o.cx->err);
	CHECK_STR(sent.ref, mr_arena_printf(o.cx->arena, "filesystem:%s", sent.content.message_id));
	CHECK_STR(sent.thread_ref, sent.ref);
	CHECK_STR(sent.content.subject, "Parser drift");
	CHECK_STR(sent.content.created_at_utc, "2026-03-11T04:15:00Z");
	CHECK_STR(sent.preview, "The drift appears after the second stage.");
	CHECK(sent.has_body && !sent.problem);
	CHECK_STR(body_of(&o, &sent), "The drift appears\n\nafter   the second stage.\n");
	check_view(&sent, "r--", "sent");
	CHECK_STR(sent.content.sender.principal_id, "HOUMAO-alice");
	/* The same twice is said twice, and delivered once. */
	CHECK_INT(sent.content.to.len, 2);
	CHECK_STR(sent.content.to.items[1].principal_id, "HOUMAO-bob");
	CHECK_INT(sent.content.cc.len, 1);
	CHECK_INT(sent.content.attachments.len, 1);
	CHECK_STR(sent.content.attachments.items[0].label, "a note");
	CHECK_INT(sent.content.attachments.items[0].size_bytes, 11);

	CHECK_STR(in_box(&o, &o.bob, NULL), "Parser drift");
	got = peek(&o, &o.carol, sent.ref);
	check_view(&got, "---", "inbox");
	CHECK_STR(got.content.message_id, sent.content.message_id);
	CHECK_STR(body_of(&o, &got), body_of(&o, &sent));

	/* Mail to oneself is unread mail. */
	got = send(&o, &o.alice, "alice@houmao.localhost", "Note", "");
	check_view(&got, "---", "inbox");
	CHECK_STR(got.preview, "");
	CHECK_STR(in_box(&o, &o.alice, "inbox"), "Note");
	CHECK_STR(in_box(&o, &o.alice, "sent"), "Parser drift");
}

static void notices_are_given_or_found(void)
{
	static const struct mr_mailbox_notify_block block = { "Please look now", true };
	static const struct mr_mailbox_notify_auth auth = { .token = "tok-1" };
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_message sent;
	struct mr_mail_draft d;

	open_office(&o);
	d = draft(&o, "bob@houmao.localhost", "Wake up", "See below.");
	d.notify_block = &block;
	d.notify_auth = &auth;
	CHECK_OK(mr_mail_send(o.cx, &o.alice, &d, &sent), o.cx->err);
	CHECK_STR(body_of(&o, &sent), "```houmao-notify\nPlease look now\n```\n\nSee below.");
	CHECK_STR(sent.preview, "```houmao-notify Please look now ``` See below.");
	CHECK(sent.content.notify_block->prepend);
	CHECK_STR(sent.content.notify_auth->scheme, "none");
	CHECK_STR(sent.content.notify_auth->token, "tok-1");
	sent = send(&o, &o.alice, "bob@houmao.localhost", "Fence",
		"x\n```houmao-notify\nread me first\n```\n");
	CHECK_STR(sent.content.notify_block->text, "read me first");
	CHECK(!sent.content.notify_block->prepend && !sent.content.notify_auth);
}

static void previews_are_one_short_line(void)
{
	static const struct {
		size_t chars;
		bool is_cut;
	} lengths[] = { { 239, false }, { 240, false }, { 241, true }, { 1000, true } };
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_message sent;

	open_office(&o);
	for (size_t i = 0; i < MR_LEN(lengths); i++) {
		const char *text = "";
		char want[1024] = "";

		for (size_t c = 0; c < lengths[i].chars; c++)
			text = mr_arena_printf(o.cx->arena, "%s\xc3\xa9", text);
		sent = send(&o, &o.alice, "bob@houmao.localhost", "s",
			mr_arena_printf(o.cx->arena, " \n%s\t\n", text));
		memcpy(want, text, 2 * (lengths[i].is_cut ? 237 : lengths[i].chars));
		CHECK_STR(sent.preview,
			mr_arena_printf(o.cx->arena, "%s%s", want, lengths[i].is_cut ? "..." : ""));
	}
	/* No-break spaces and ideographic ones are white space too. */
	sent = send(&o, &o.alice, "bob@houmao.localhost", "s", "a\xc2\xa0\r\n\xe3\x80\x80 b");
	CHECK_STR(sent.preview, "a b");
}

static void lists_are_filtered(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	const char *names[] = { "one", "two", "three", "four" };
	const char *refs[MR_LEN(names)];
	struct mr_mail_messages changed;
	struct mr_mail_list list;

	open_office(&o);
	/* 04:15:01 to 04:15:04 */
	for (size_t i = 0; i < MR_LEN(names); i++)
		refs[i] = send(&o, &o.alice, "bob@houmao.localhost", names[i], "body").ref;
	CHECK_STR(in_box(&o, &o.bob, NULL), "four three two one");
	CHECK_STR(in_box(&o, &o.bob, " inbox "), "four three two one");
	CHECK_STR(in_box(&o, &o.bob, "nowhere"), "");
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &(struct mr_texts){ &refs[0], 1 },
			 &(struct mr_mail_flags){ 1, 1, KEEP }, &changed),
		o.cx->err);
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &(struct mr_texts){ &refs[1], 1 },
			 &(struct mr_mail_flags){ 1, KEEP, KEEP }, &changed),
		o.cx->err);
	query.read = 0;
	CHECK_STR(subjects(&o, &o.bob, &query), "four three");
	query.read = 1;
	CHECK_STR(subjects(&o, &o.bob, &query), "two one");
	query.answered = 0;
	CHECK_STR(subjects(&o, &o.bob, &query), "two");
	query = MR_MAIL_QUERY_INIT;
	query.limit = 3;
	CHECK_OK(mr_mail_list(o.cx, &o.bob, &query, &list), o.cx->err);
	CHECK_STR(list.box, "inbox");
	CHECK_INT(list.messages.len, 3);
	CHECK_INT(list.open_count, 3);
	CHECK_INT(list.unread_count, 2);
	CHECK(!list.messages.items[0].has_body);
	CHECK_INT(list.messages.items[0].content.body.len, 0);
	CHECK_STR(list.messages.items[0].preview, "body");
	CHECK_STR(list.messages.items[0].ref, refs[3]);
	CHECK_STR(list.messages.items[0].content.sender.address, "alice@houmao.localhost");
	CHECK_STR(list.messages.items[0].content.to.items[0].address, "bob@houmao.localhost");
	query.include_body = true;
	CHECK_OK(mr_mail_list(o.cx, &o.bob, &query, &list), o.cx->err);
	CHECK(list.messages.items[2].has_body);
	CHECK_STR(body_of(&o, &list.messages.items[2]), "body");

	/* At or after, to the second, in any zone. */
	query = MR_MAIL_QUERY_INIT;
	query.since = "2026-03-11T04:15:03Z";
	CHECK_STR(subjects(&o, &o.bob, &query), "four three");
	query.since = "2026-03-11T05:15:02.5+01:00";
	CHECK_STR(subjects(&o, &o.bob, &query), "four three");
	query.since = "2026-03-11";
	CHECK_STR(subjects(&o, &o.bob, &query), "four three two one");
	query.since = "yesterday";
	CHECK_INT(mr_mail_list(o.cx, &o.bob, &query, &list), MR_EINVAL);
	CHECK(mr_str_starts(o.cx->err.msg, "since: "));

	CHECK_OK(mr_mail_archive(o.cx, &o.bob, &(struct mr_texts){ refs, 2 }, &changed), o.cx->err);
	query = MR_MAIL_QUERY_INIT;
	query.archived = 1;
	CHECK_STR(subjects(&o, &o.bob, &query), "");
	query.box = "archive";
	CHECK_STR(subjects(&o, &o.bob, &query), "two one");
	CHECK_OK(mr_mail_list(o.cx, &o.bob, &query, &list), o.cx->err);
	CHECK_INT(list.open_count, 0);
	query.limit = -1;
	CHECK_ERR(mr_mail_list(o.cx, &o.bob, &query, &list), o.cx->err, MR_EINVAL,
		"limit must not be negative");
	query.box = "a/b";
	CHECK_INT(mr_mail_list(o.cx, &o.bob, &query, &list), MR_EINVAL);
}

static void peeking_changes_nothing_and_reading_does(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_message sent, got;
	const char *before;

	open_office(&o);
	sent = send(&o, &o.alice, "bob@houmao.localhost", "s", "b");
	before = post_tree(&o.post, "root");
	got = peek(&o, &o.bob, sent.ref);
	check_view(&got, "---", "inbox");
	/* By its bare id, and with white space around it. */
	got = peek(&o, &o.bob, mr_arena_printf(o.cx->arena, " %s\n", sent.content.message_id));
	CHECK_STR(got.ref, sent.ref);
	CHECK_STR(post_tree(&o.post, "root"), before);
	CHECK_STR(in_box(&o, &o.bob, NULL), "s");
	check_view(&got, "---", "inbox");
	/* In another box than was asked for: told before it is marked. */
	CHECK_ERR(mr_mail_read(o.cx, &o.bob, sent.ref, "archive", &got), o.cx->err, MR_ECONFLICT,
		mr_arena_printf(o.cx->arena, "message %s is in the box `inbox`, not in `archive`",
			sent.ref));
	got = peek(&o, &o.bob, sent.ref);
	check_view(&got, "---", "inbox");
	CHECK_OK(mr_mail_read(o.cx, &o.bob, sent.ref, " inbox", &got), o.cx->err);
	check_view(&got, "r--", "inbox");
	CHECK_STR(body_of(&o, &got), "b");
	got = peek(&o, &o.bob, sent.ref);
	check_view(&got, "r--", "inbox");
	CHECK_OK(mr_mail_read(o.cx, &o.bob, sent.ref, NULL, &got), o.cx->err);
}

static void some_refs_name_nothing(void)
{
	static const char *const foreign[] = { "stalwart:x", "filesystem:", "", " ", ":x",
		"FILESYSTEM:x" };
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_message sent, got = { .ref = "kept" };

	open_office(&o);
	for (size_t i = 0; i < MR_LEN(foreign); i++) {
		CHECK_INT(mr_mail_peek(o.cx, &o.bob, foreign[i], NULL, &got), MR_EINVAL);
		CHECK(strstr(o.cx->err.msg,
			"is not the ref of a message here; refs begin with `filesystem:`"));
	}
	CHECK_ERR(mr_mail_peek(o.cx, &o.bob, NO_SUCH, NULL, &got), o.cx->err, MR_ENOTFOUND,
		"mailbox `bob@houmao.localhost` has no message "
		"`msg-20260101T000000Z-00000000000000000000000000000000`");
	CHECK_INT(mr_mail_peek(o.cx, &o.bob, "../../x", NULL, &got), MR_ENOTFOUND);
	/* Somebody else's looks the same. */
	sent = send(&o, &o.alice, "bob@houmao.localhost", "s", "b");
	CHECK_ERR(mr_mail_read(o.cx, &o.carol, sent.ref, NULL, &got), o.cx->err, MR_ENOTFOUND,
		mr_arena_printf(o.cx->arena, "mailbox `carol@houmao.localhost` has no message `%s`",
			sent.content.message_id));
	CHECK_STR(got.ref, "kept");
}

static void marks(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_messages changed = { NULL, 0 };
	struct mr_mail_message got;
	struct mr_mail_flags flags = { 1, 1, KEEP };
	struct mr_texts refs;
	const char *items[3];

	open_office(&o);
	items[0] = send(&o, &o.alice, "bob@houmao.localhost", "one", "1").ref;
	items[1] = send(&o, &o.alice, "bob@houmao.localhost", "two", "2").ref;
	refs = (struct mr_texts){ items, 2 };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	CHECK_INT(changed.len, 2);
	check_view(&changed.items[0], "ra-", "inbox");
	CHECK_STR(changed.items[1].content.subject, "two");
	CHECK_STR(body_of(&o, &changed.items[1]), "2");
	flags = (struct mr_mail_flags){ 0, KEEP, KEEP };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	check_view(&changed.items[0], "-a-", "inbox");
	/* Archived is another box, and read. */
	flags = (struct mr_mail_flags){ KEEP, 0, 1 };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	check_view(&changed.items[0], "r-x", "archive");
	CHECK_STR(in_box(&o, &o.bob, "archive"), "two one");
	flags = (struct mr_mail_flags){ 0, KEEP, 0 };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	check_view(&changed.items[1], "---", "inbox");
	got = peek(&o, &o.bob, items[1]);
	check_view(&got, "---", "inbox");

	flags = (struct mr_mail_flags){ 0, KEEP, 1 };
	CHECK_ERR(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err, MR_EINVAL,
		"archived messages must be read");
	flags = (struct mr_mail_flags){ KEEP, KEEP, KEEP };
	CHECK_ERR(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err, MR_EINVAL,
		"set at least one of read, answered and archived");
	flags.read = 1;
	refs.len = 0;
	CHECK_ERR(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err, MR_EINVAL,
		"name at least one message");
	refs.len = MR_MAILBOX_REFS + 1;
	CHECK_ERR(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err, MR_ELIMIT,
		"name at most 1000 messages at once");
	refs.len = 3;
	items[2] = peek(&o, &o.bob, items[0]).content.message_id;
	CHECK_ERR(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err, MR_EINVAL,
		mr_arena_printf(o.cx->arena, "message %s is named twice", items[0]));
	/* One that is not there: none is changed. */
	items[2] = NO_SUCH;
	CHECK_INT(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), MR_ENOTFOUND);
	got = peek(&o, &o.bob, items[0]);
	check_view(&got, "---", "inbox");
	CHECK_INT(changed.len, 2);
}

static void moves(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_messages changed = { NULL, 0 };
	struct mr_texts refs;
	const char *items[2];

	open_office(&o);
	items[0] = send(&o, &o.alice, "bob@houmao.localhost", "one", "1").ref;
	items[1] = send(&o, &o.alice, "bob@houmao.localhost", "two", "2").ref;
	refs = (struct mr_texts){ items, 2 };
	CHECK_OK(mr_mail_move(o.cx, &o.bob, &refs, "later ", &changed), o.cx->err);
	CHECK_INT(changed.len, 2);
	check_view(&changed.items[0], "---", "later");
	CHECK_STR(body_of(&o, &changed.items[0]), "1");
	CHECK_STR(in_box(&o, &o.bob, "later"), "two one");
	CHECK_STR(in_box(&o, &o.bob, "inbox"), "");
	refs.len = 1;
	CHECK_OK(mr_mail_archive(o.cx, &o.bob, &refs, &changed), o.cx->err);
	check_view(&changed.items[0], "r-x", "archive");
	CHECK_STR(in_box(&o, &o.alice, "sent"), "two one");
	CHECK_INT(mr_mail_move(o.cx, &o.bob, &refs, "..", &changed), MR_EINVAL);
	items[0] = NO_SUCH;
	CHECK_INT(mr_mail_archive(o.cx, &o.bob, &refs, &changed), MR_ENOTFOUND);
	/* The sender's copy is the sender's to move. */
	items[0] = items[1];
	CHECK_INT(mr_mail_move(o.cx, &o.carol, &refs, "x", &changed), MR_ENOTFOUND);
	CHECK_OK(mr_mail_move(o.cx, &o.alice, &refs, "x", &changed), o.cx->err);
	CHECK_STR(in_box(&o, &o.bob, "later"), "two");
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
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_message first, second, third, got;
	struct mr_mail_draft d = { .body = mr_bytes_text("x") };

	open_office(&o);
	first = send(&o, &o.alice, "bob@houmao.localhost", "Parser drift", "b");
	second = reply(&o, &o.bob, first.ref, "On it.\n");
	CHECK(!second.problem);
	check_view(&second, "r--", "sent");
	CHECK_STR(second.content.subject, "Re: Parser drift");
	CHECK_STR(second.thread_ref, first.ref);
	CHECK_STR(second.content.in_reply_to, first.content.message_id);
	CHECK_INT(second.content.to.len, 1);
	CHECK_STR(second.content.to.items[0].address, "alice@houmao.localhost");
	got = peek(&o, &o.bob, first.ref);
	check_view(&got, "ra-", "inbox");
	third = reply(&o, &o.alice, second.ref, "Thanks");
	CHECK_STR(third.content.subject, "Re: Parser drift");
	CHECK_STR(third.thread_ref, first.ref);
	CHECK_INT(third.content.references.len, 2);
	/* What one sent oneself is answered to oneself. */
	got = reply(&o, &o.alice, first.ref, "and");
	CHECK_STR(got.content.to.items[0].address, "alice@houmao.localhost");
	check_view(&got, "---", "inbox");

	/* A message that is not ours: refused before anything is sent. */
	CHECK_INT(mr_mail_reply(o.cx, &o.carol, first.ref, &d, &got), MR_ENOTFOUND);
	CHECK_INT(mr_mail_reply(o.cx, &o.bob, NO_SUCH, &d, &got), MR_ENOTFOUND);
	CHECK_INT(post_count(&o.post, NULL, "SELECT count(*) FROM messages"), 4);
	post_unregister(&o.post, "alice", MR_MAILBOX_DEACTIVATE);
	CHECK_ERR(mr_mail_reply(o.cx, &o.bob, first.ref, &d, &got), o.cx->err, MR_ECONFLICT,
		"recipient `alice@houmao.localhost` takes no mail: its mailbox is inactive");
}

static void posts(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_draft d;
	struct mr_mail_message post, notice, got = { .ref = "kept" };

	open_office(&o);
	d = draft(&o, "carol@houmao.localhost", "From the operator", "Stop at noon.");
	CHECK_OK(mr_mail_post(o.cx, &o.bob, &d, true, &post), o.cx->err);
	check_view(&post, "---", "inbox");
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
	got = peek(&o, &o.bob, notice.ref);
	check_view(&got, "---", "inbox");
	CHECK_STR(in_box(&o, &o.carol, NULL), "");
}

static void the_operator_comes_back(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_draft d;
	struct mr_mail_message post;

	open_office(&o);
	post_exec(&o.post, NULL,
		"DELETE FROM mailbox_registrations WHERE address = '" MR_MAILBOX_OPERATOR_ADDRESS
		"'");
	CHECK_OK(mr_fs_remove_all(o.post.root.dir, "mailboxes/" MR_MAILBOX_OPERATOR_ADDRESS,
			 &o.cx->err),
		o.cx->err);
	d = draft(&o, "", "s", "b");
	CHECK_OK(mr_mail_post(o.cx, &o.bob, &d, true, &post), o.cx->err);
	CHECK_OK(mr_mail_post(o.cx, &o.bob, &d, true, &post), o.cx->err);
	CHECK_INT(post_count(&o.post, NULL,
			  "SELECT count(*) FROM mailbox_registrations WHERE address = "
			  "'" MR_MAILBOX_OPERATOR_ADDRESS "'"),
		1);
}

static void what_is_refused_is_not_sent(void)
{
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail_file file = { "none", NULL };
	struct mr_mail_message got = { .ref = "kept" };
	struct mr_mail_draft d;
	const char *before;
	char *body;
	size_t len = MR_MAILBOX_DOCUMENT_BYTES - MR_MAILBOX_HEAD_BYTES + 1;

	open_office(&o);
	before = post_tree(&o.post, "root");
	d = draft(&o, "bob@houmao.localhost", " ", "b");
	CHECK_ERR(mr_mail_send(o.cx, &o.alice, &d, &got), o.cx->err, MR_EINVAL,
		"the subject must not be empty");
	d = draft(&o, "", "s", "b");
	CHECK_ERR(mr_mail_send(o.cx, &o.alice, &d, &got), o.cx->err, MR_EINVAL,
		"a message must have at least one recipient in `to`");
	d = draft(&o, "bob@houmao.localhost,dave@houmao.localhost", "s", "b");
	CHECK_INT(mr_mail_send(o.cx, &o.alice, &d, &got), MR_ENOTFOUND);
	d = draft(&o, "bob@houmao.localhost", "s", "b");
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

static void for_reading_only(void)
{
	static const char want[] = "the mail of bob@houmao.localhost was opened for reading only";
	static const struct mr_mail_flags flags = { 1, KEEP, KEEP };
	struct office o MR_CLEANUP(close_office) = { 0 };
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_messages changed;
	struct mr_mail_message sent, got;
	struct mr_mail_draft d;
	struct mr_mail_status status;
	struct mr_texts refs;
	const char *before;

	open_office(&o);
	sent = send(&o, &o.alice, "bob@houmao.localhost", "s", "b");
	refs = (struct mr_texts){ &sent.ref, 1 };
	d = draft(&o, "bob@houmao.localhost", "s", "b");
	CHECK_OK(mr_mail_fs_open(o.cx, "root", "bob@houmao.localhost", true, &mail), o.cx->err);
	before = post_tree(&o.post, "root");
	CHECK_OK(mr_mail_status(o.cx, &mail, &status), o.cx->err);
	CHECK_STR(in_box(&o, &mail, NULL), "s");
	got = peek(&o, &mail, sent.ref);
	check_view(&got, "---", "inbox");
	CHECK_ERR(mr_mail_read(o.cx, &mail, sent.ref, NULL, &got), o.cx->err, MR_EPERM, want);
	CHECK_ERR(mr_mail_mark(o.cx, &mail, &refs, &flags, &changed), o.cx->err, MR_EPERM, want);
	CHECK_ERR(mr_mail_move(o.cx, &mail, &refs, "x", &changed), o.cx->err, MR_EPERM, want);
	CHECK_ERR(mr_mail_archive(o.cx, &mail, &refs, &changed), o.cx->err, MR_EPERM, want);
	CHECK_ERR(mr_mail_send(o.cx, &mail, &d, &got), o.cx->err, MR_EPERM, want);
	CHECK_ERR(mr_mail_post(o.cx, &mail, &d, true, &got), o.cx->err, MR_EPERM, want);
	CHECK_ERR(mr_mail_reply(o.cx, &mail, sent.ref, &d, &got), o.cx->err, MR_EPERM, want);
	CHECK_STR(post_tree(&o.post, "root"), before);
}

/* A transport of a test's own: as many messages as it is told, and nothing can be marked. */

static size_t many;

static void fake_close(struct mr_mail *mail)
{
	(void)mail;
}

static enum mr_code fake_get(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	struct mr_mail_message *out)
{
	static const struct mr_value no_headers = { .kind = MR_MAP };
	size_t len = strlen(id) > 8 ? 20 << 20 : 4;
	char *body = mr_arena_alloc(cx->arena, len);

	memset(body, 'x', len);
	*out = (struct mr_mail_message){
		.view = { .box = "inbox" },
		.content = { .message_id = id,
			.thread_id = "t1",
			.subject = "s",
			.sender = { .address = mail->address },
			.headers = &no_headers,
			.body = mr_bytes_of(body, len) },
	};
	return MR_OK;
}

static enum mr_code fake_list(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_query *query, mr_mail_each *each, void *arg)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < many && i < (size_t)query->limit && !rc; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_ctx one = *cx;
		struct mr_mail_message message;

		one.arena = arena;
		CHECK_OK(fake_get(&one, mail, many < 100 ? "long-message" : "x", &message),
			one.err);
		rc = each(arg, &message);
	}
	return rc;
}

static enum mr_code fake_mark(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	const struct mr_mail_flags *flags, struct mr_mail_view *out)
{
	(void)mail;
	(void)id;
	(void)flags;
	(void)out;
	return mr_err_set(&cx->err, MR_EIO, "the disk is full");
}

static enum mr_code fake_recipient(struct mr_ctx *cx, const struct mr_mail *mail, const char *text,
	struct mr_mailbox_principal *out)
{
	(void)cx;
	(void)mail;
	*out = (struct mr_mailbox_principal){ .principal_id = text, .address = text };
	return MR_OK;
}

static enum mr_code fake_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_message *message, const char **out_id)
{
	(void)cx;
	(void)mail;
	(void)message;
	*out_id = "sent";
	return MR_OK;
}

static const struct mr_mail_transport fake = {
	.name = "fake",
	.thread_prefix = "fake-thread",
	.close = fake_close,
	.list = fake_list,
	.get = fake_get,
	.mark = fake_mark,
	.recipient = fake_recipient,
	.send = fake_send,
};

static void over_another_transport(void)
{
	struct post post MR_CLEANUP(post_close);
	struct mr_mail mail MR_CLEANUP(
		mr_mail_close) = { .transport = &fake, .address = "a@b", .principal_id = "a" };
	const char *names[] = { "fake:long-message", "fake:long-messag2", "fake:long-messag3",
		"fake:long-messag4", "fake:long-messag5", NULL };
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	struct mr_mail_draft d = { .subject = "s" };
	struct mr_mail_messages changed;
	struct mr_mail_message got = { .ref = "kept" };
	struct mr_mail_list list;

	post_open(&post);
	CHECK_OK(mr_mail_peek(&post.cx, &mail, "fake:id", NULL, &got), post.cx.err);
	CHECK_STR(got.ref, "fake:id");
	CHECK_STR(got.thread_ref, "fake-thread:t1");
	CHECK_INT(mr_mail_peek(&post.cx, &mail, "filesystem:id", NULL, &got), MR_EINVAL);
	/* No operator: nothing to post. */
	CHECK_ERR(mr_mail_post(&post.cx, &mail, &d, true, &got), post.cx.err, MR_ECONFLICT,
		"this transport has no operator who could post");
	CHECK_STR(post.cx.err.word, mr_mail_unsupported);
	/* An answer that was sent is not called a failure, or it would be sent again. */
	CHECK_OK(mr_mail_reply(&post.cx, &mail, "fake:id", &d, &got), post.cx.err);
	CHECK_STR(got.ref, "fake:sent");
	CHECK_STR(got.problem,
		"the answer is sent, but fake:id could not be marked as answered: the disk is "
		"full");
	/* Reading is marking; who only wants to look peeks. */
	CHECK_INT(mr_mail_read(&post.cx, &mail, "fake:id", NULL, &got), MR_EIO);

	many = MR_MAILBOX_LISTED;
	CHECK_OK(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err);
	CHECK_INT(list.messages.len, MR_MAILBOX_LISTED);
	many++;
	CHECK_ERR(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err, MR_ELIMIT,
		"the box `inbox` holds more than 10000 such messages; give a limit up to that");
	query.limit = MR_MAILBOX_LISTED;
	CHECK_OK(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err);

	/* Many long ones: their bodies are too much at once, their previews are not. */
	many = 5;
	CHECK_OK(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err);
	query.include_body = true;
	CHECK_ERR(mr_mail_list(&post.cx, &mail, &query, &list), post.cx.err, MR_ELIMIT,
		"these messages are longer than 100663296 bytes together; ask for fewer, or "
		"without bodies");
	CHECK_INT(mr_mail_archive(&post.cx, &mail, &(struct mr_texts){ names, 5 }, &changed),
		MR_ELIMIT);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(status_says_who_it_is),
		TEST(a_message_is_sent),
		TEST(notices_are_given_or_found),
		TEST(previews_are_one_short_line),
		TEST(lists_are_filtered),
		TEST(peeking_changes_nothing_and_reading_does),
		TEST(some_refs_name_nothing),
		TEST(marks),
		TEST(moves),
		TEST(answers),
		TEST(posts),
		TEST(the_operator_comes_back),
		TEST(what_is_refused_is_not_sent),
		TEST(for_reading_only),
		TEST(over_another_transport),
	};

	return test_main(tests, MR_LEN(tests));
}
