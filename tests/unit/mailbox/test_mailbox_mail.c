/* tests/unit/mailbox/test_mailbox_mail.c - the verbs that look at mail and put it in order. */
#include "mailbox/mail.h"

#include "files.h"
#include "mailbox/limits.h"
#include "mailbox/mail_fs.h"
#include "office.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

#define KEEP -1

static void status_says_who_it_is(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_status status;

	office_open(&o);
	CHECK_OK(mr_mail_status(o.cx, &o.alice, &status), o.cx->err);
	CHECK_STR(status.transport, "filesystem");
	CHECK_STR(status.address, "alice@houmao.localhost");
	CHECK_STR(status.principal_id, "HOUMAO-alice");
}

static void previews_are_one_short_line(void)
{
	static const struct {
		size_t chars;
		bool is_cut;
	} lengths[] = { { 239, false }, { 240, false }, { 241, true }, { 1000, true } };
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_message sent;

	office_open(&o);
	for (size_t i = 0; i < MR_LEN(lengths); i++) {
		const char *text = "";
		char want[1024] = "";

		for (size_t c = 0; c < lengths[i].chars; c++)
			text = mr_arena_printf(o.cx->arena, "%s\xc3\xa9", text);
		sent = office_send(&o, &o.alice, "bob@houmao.localhost", "s",
			mr_arena_printf(o.cx->arena, " \n%s\t\n", text));
		memcpy(want, text, 2 * (lengths[i].is_cut ? 237 : lengths[i].chars));
		CHECK_STR(sent.preview,
			mr_arena_printf(o.cx->arena, "%s%s", want, lengths[i].is_cut ? "..." : ""));
	}
	/* No-break spaces and ideographic ones are white space too. */
	sent = office_send(&o, &o.alice, "bob@houmao.localhost", "s",
		"a\xc2\xa0\r\n\xe3\x80\x80 b");
	CHECK_STR(sent.preview, "a b");
}

static void lists_are_filtered(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	const char *names[] = { "one", "two", "three", "four" };
	const char *refs[MR_LEN(names)];
	struct mr_mail_messages changed;
	struct mr_mail_list list;

	office_open(&o);
	/* 04:15:01 to 04:15:04 */
	for (size_t i = 0; i < MR_LEN(names); i++)
		refs[i] = office_send(&o, &o.alice, "bob@houmao.localhost", names[i], "body").ref;
	CHECK_STR(office_in_box(&o, &o.bob, NULL), "four three two one");
	CHECK_STR(office_in_box(&o, &o.bob, " inbox "), "four three two one");
	CHECK_STR(office_in_box(&o, &o.bob, "nowhere"), "");
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &(struct mr_texts){ &refs[0], 1 },
			 &(struct mr_mail_flags){ 1, 1, KEEP }, &changed),
		o.cx->err);
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &(struct mr_texts){ &refs[1], 1 },
			 &(struct mr_mail_flags){ 1, KEEP, KEEP }, &changed),
		o.cx->err);
	query.read = 0;
	CHECK_STR(office_subjects(&o, &o.bob, &query), "four three");
	query.read = 1;
	CHECK_STR(office_subjects(&o, &o.bob, &query), "two one");
	query.answered = 0;
	CHECK_STR(office_subjects(&o, &o.bob, &query), "two");
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
	CHECK_STR(office_body(&o, &list.messages.items[2]), "body");

	/* At or after, to the second, in any zone. */
	query = MR_MAIL_QUERY_INIT;
	query.since = "2026-03-11T04:15:03Z";
	CHECK_STR(office_subjects(&o, &o.bob, &query), "four three");
	query.since = "2026-03-11T05:15:02.5+01:00";
	CHECK_STR(office_subjects(&o, &o.bob, &query), "four three");
	query.since = "2026-03-11";
	CHECK_STR(office_subjects(&o, &o.bob, &query), "four three two one");
	query.since = "yesterday";
	CHECK_INT(mr_mail_list(o.cx, &o.bob, &query, &list), MR_EINVAL);
	CHECK(mr_str_starts(o.cx->err.msg, "since: "));

	CHECK_OK(mr_mail_archive(o.cx, &o.bob, &(struct mr_texts){ refs, 2 }, &changed), o.cx->err);
	query = MR_MAIL_QUERY_INIT;
	query.archived = 1;
	CHECK_STR(office_subjects(&o, &o.bob, &query), "");
	query.box = "archive";
	CHECK_STR(office_subjects(&o, &o.bob, &query), "two one");
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
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_message sent, got;
	const char *before;

	office_open(&o);
	sent = office_send(&o, &o.alice, "bob@houmao.localhost", "s", "b");
	before = post_tree(&o.post, "root");
	got = office_peek(&o, &o.bob, sent.ref);
	office_check_view(&got, "---", "inbox");
	/* By its bare id, and with white space around it. */
	got = office_peek(&o, &o.bob,
		mr_arena_printf(o.cx->arena, " %s\n", sent.content.message_id));
	CHECK_STR(got.ref, sent.ref);
	CHECK_STR(post_tree(&o.post, "root"), before);
	CHECK_STR(office_in_box(&o, &o.bob, NULL), "s");
	office_check_view(&got, "---", "inbox");
	/* In another box than was asked for: told before it is marked. */
	CHECK_ERR(mr_mail_read(o.cx, &o.bob, sent.ref, "archive", &got), o.cx->err, MR_ECONFLICT,
		mr_arena_printf(o.cx->arena, "message %s is in the box `inbox`, not in `archive`",
			sent.ref));
	got = office_peek(&o, &o.bob, sent.ref);
	office_check_view(&got, "---", "inbox");
	CHECK_OK(mr_mail_read(o.cx, &o.bob, sent.ref, " inbox", &got), o.cx->err);
	office_check_view(&got, "r--", "inbox");
	CHECK_STR(office_body(&o, &got), "b");
	got = office_peek(&o, &o.bob, sent.ref);
	office_check_view(&got, "r--", "inbox");
	CHECK_OK(mr_mail_read(o.cx, &o.bob, sent.ref, NULL, &got), o.cx->err);
}

static void some_refs_name_nothing(void)
{
	static const char *const foreign[] = { "stalwart:x", "filesystem:", "", " ", ":x",
		"FILESYSTEM:x" };
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_message sent, got = { .ref = "kept" };

	office_open(&o);
	for (size_t i = 0; i < MR_LEN(foreign); i++) {
		CHECK_INT(mr_mail_peek(o.cx, &o.bob, foreign[i], NULL, &got), MR_EINVAL);
		CHECK(strstr(o.cx->err.msg,
			"is not the ref of a message here; refs begin with `filesystem:`"));
	}
	CHECK_ERR(mr_mail_peek(o.cx, &o.bob, OFFICE_NO_SUCH, NULL, &got), o.cx->err, MR_ENOTFOUND,
		"mailbox `bob@houmao.localhost` has no message "
		"`msg-20260101T000000Z-00000000000000000000000000000000`");
	CHECK_INT(mr_mail_peek(o.cx, &o.bob, "../../x", NULL, &got), MR_ENOTFOUND);
	/* Somebody else's looks the same. */
	sent = office_send(&o, &o.alice, "bob@houmao.localhost", "s", "b");
	CHECK_ERR(mr_mail_read(o.cx, &o.carol, sent.ref, NULL, &got), o.cx->err, MR_ENOTFOUND,
		mr_arena_printf(o.cx->arena, "mailbox `carol@houmao.localhost` has no message `%s`",
			sent.content.message_id));
	CHECK_STR(got.ref, "kept");
}

static void marks(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_messages changed = { NULL, 0 };
	struct mr_mail_message got;
	struct mr_mail_flags flags = { 1, 1, KEEP };
	struct mr_texts refs;
	const char *items[3];

	office_open(&o);
	items[0] = office_send(&o, &o.alice, "bob@houmao.localhost", "one", "1").ref;
	items[1] = office_send(&o, &o.alice, "bob@houmao.localhost", "two", "2").ref;
	refs = (struct mr_texts){ items, 2 };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	CHECK_INT(changed.len, 2);
	office_check_view(&changed.items[0], "ra-", "inbox");
	CHECK_STR(changed.items[1].content.subject, "two");
	CHECK_STR(office_body(&o, &changed.items[1]), "2");
	flags = (struct mr_mail_flags){ 0, KEEP, KEEP };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	office_check_view(&changed.items[0], "-a-", "inbox");
	/* Archived is another box, and read. */
	flags = (struct mr_mail_flags){ KEEP, 0, 1 };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	office_check_view(&changed.items[0], "r-x", "archive");
	CHECK_STR(office_in_box(&o, &o.bob, "archive"), "two one");
	flags = (struct mr_mail_flags){ 0, KEEP, 0 };
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err);
	office_check_view(&changed.items[1], "---", "inbox");
	got = office_peek(&o, &o.bob, items[1]);
	office_check_view(&got, "---", "inbox");

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
	items[2] = office_peek(&o, &o.bob, items[0]).content.message_id;
	CHECK_ERR(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), o.cx->err, MR_EINVAL,
		mr_arena_printf(o.cx->arena, "message %s is named twice", items[0]));
	/* One that is not there: none is changed. */
	items[2] = OFFICE_NO_SUCH;
	CHECK_INT(mr_mail_mark(o.cx, &o.bob, &refs, &flags, &changed), MR_ENOTFOUND);
	got = office_peek(&o, &o.bob, items[0]);
	office_check_view(&got, "---", "inbox");
	CHECK_INT(changed.len, 2);
}

static void moves(void)
{
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_messages changed = { NULL, 0 };
	struct mr_texts refs;
	const char *items[2];

	office_open(&o);
	items[0] = office_send(&o, &o.alice, "bob@houmao.localhost", "one", "1").ref;
	items[1] = office_send(&o, &o.alice, "bob@houmao.localhost", "two", "2").ref;
	refs = (struct mr_texts){ items, 2 };
	CHECK_OK(mr_mail_move(o.cx, &o.bob, &refs, "later ", &changed), o.cx->err);
	CHECK_INT(changed.len, 2);
	office_check_view(&changed.items[0], "---", "later");
	CHECK_STR(office_body(&o, &changed.items[0]), "1");
	CHECK_STR(office_in_box(&o, &o.bob, "later"), "two one");
	CHECK_STR(office_in_box(&o, &o.bob, "inbox"), "");
	refs.len = 1;
	CHECK_OK(mr_mail_archive(o.cx, &o.bob, &refs, &changed), o.cx->err);
	office_check_view(&changed.items[0], "r-x", "archive");
	CHECK_STR(office_in_box(&o, &o.alice, "sent"), "two one");
	CHECK_INT(mr_mail_move(o.cx, &o.bob, &refs, "..", &changed), MR_EINVAL);
	items[0] = OFFICE_NO_SUCH;
	CHECK_INT(mr_mail_archive(o.cx, &o.bob, &refs, &changed), MR_ENOTFOUND);
	/* The sender's copy is the sender's to move. */
	items[0] = items[1];
	CHECK_INT(mr_mail_move(o.cx, &o.carol, &refs, "x", &changed), MR_ENOTFOUND);
	CHECK_OK(mr_mail_move(o.cx, &o.alice, &refs, "x", &changed), o.cx->err);
	CHECK_STR(office_in_box(&o, &o.bob, "later"), "two");
}

/* The last of three cannot be moved: something stands where its link belongs. */
static void several_are_changed_all_or_none(void)
{
	static const struct mr_mail_flags archived = { .read = -1, .answered = 1, .archived = 1 };
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail_messages changed;
	struct mr_mail_message sent[3];
	const char *refs[3], *in_the_way;
	struct mr_texts all = { refs, 3 };

	office_open(&o);
	for (size_t i = 0; i < 3; i++) {
		sent[i] = office_send(&o, &o.alice, "bob@houmao.localhost",
			mr_arena_printf(o.cx->arena, "n%zu", i), "");
		refs[i] = sent[i].ref;
	}
	in_the_way = mr_arena_printf(o.cx->arena,
		"root/mailboxes/bob@houmao.localhost/archive/%s.md", sent[2].content.message_id);
	files_put(in_the_way, "not a link");
	CHECK_INT(mr_mail_archive(o.cx, &o.bob, &all, &changed), MR_ECONFLICT);
	CHECK_INT(mr_mail_mark(o.cx, &o.bob, &all, &archived, &changed), MR_ECONFLICT);
	for (size_t i = 0; i < 3; i++) {
		struct mr_mail_message now = office_peek(&o, &o.bob, refs[i]);

		office_check_view(&now, "---", "inbox");
	}
	CHECK_INT(unlink(in_the_way), 0);
	CHECK_OK(mr_mail_mark(o.cx, &o.bob, &all, &archived, &changed), o.cx->err);
	for (size_t i = 0; i < 3; i++)
		office_check_view(&changed.items[i], "rax", "archive");
}

static void for_reading_only(void)
{
	static const char want[] = "the mail of bob@houmao.localhost was opened for reading only";
	static const struct mr_mail_flags flags = { 1, KEEP, KEEP };
	struct office o MR_CLEANUP(office_close) = { 0 };
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;
	struct mr_mail_messages changed;
	struct mr_mail_message sent, got;
	struct mr_mail_draft d;
	struct mr_mail_status status;
	struct mr_texts refs;
	const char *before;

	office_open(&o);
	sent = office_send(&o, &o.alice, "bob@houmao.localhost", "s", "b");
	refs = (struct mr_texts){ &sent.ref, 1 };
	d = office_draft(&o, "bob@houmao.localhost", "s", "b");
	CHECK_OK(mr_mail_fs_open(o.cx, "root", "bob@houmao.localhost", true, &mail), o.cx->err);
	before = post_tree(&o.post, "root");
	CHECK_OK(mr_mail_status(o.cx, &mail, &status), o.cx->err);
	CHECK_STR(office_in_box(&o, &mail, NULL), "s");
	got = office_peek(&o, &mail, sent.ref);
	office_check_view(&got, "---", "inbox");
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
static bool sent_is_unreadable;

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

	if (sent_is_unreadable && mr_str_eq(id, "sent"))
		return mr_err_set(&cx->err, MR_EBUSY, "somebody else is writing");
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
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx one = *cx;
	struct mr_mail_message message;
	enum mr_code rc;

	one.arena = arena;
	rc = fake_get(&one, mail, many < 100 ? "long-message" : "x", &message);
	for (size_t i = 0; i < many && i < (size_t)query->limit && !rc; i++)
		rc = each(arg, &message);
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
	const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
	struct mr_mail_sent *out)
{
	(void)once;
	(void)cx;
	(void)mail;
	*out = (struct mr_mail_sent){ "sent", message->message_id };
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
	const char *to[] = { "c@d", "a@b", NULL };
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
	sent_is_unreadable = true;
	d.to = (struct mr_texts){ to, 1 };
	d.body = mr_bytes_text("b");
	CHECK_OK(mr_mail_send(&post.cx, &mail, &d, &got), post.cx.err);
	CHECK_STR(got.ref, "fake:sent");
	CHECK_STR(got.problem,
		"the message is sent, but it could not be read back: somebody else is writing");
	CHECK_STR(got.preview, "b");
	office_check_view(&got, "r--", "sent");
	d.cc = (struct mr_texts){ to + 1, 1 };
	CHECK_OK(mr_mail_send(&post.cx, &mail, &d, &got), post.cx.err);
	office_check_view(&got, "---", "inbox");
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
		TEST(previews_are_one_short_line),
		TEST(lists_are_filtered),
		TEST(peeking_changes_nothing_and_reading_does),
		TEST(some_refs_name_nothing),
		TEST(marks),
		TEST(moves),
		TEST(several_are_changed_all_or_none),
		TEST(for_reading_only),
		TEST(over_another_transport),
	};

	return test_main(tests, MR_LEN(tests));
}
