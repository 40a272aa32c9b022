/* tests/unit/mailbox/test_mailbox_compose.c - drafts become messages. */
#include "mailbox/compose.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/reach.h"
#include "files.h"
#include "mailbox/document.h"
#include "mailbox/limits.h"
#include "test.h"
#include "text/token.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW_US (INT64_C(1773202500) * 1000000 + 999999) /* 2026-03-11T04:15:00Z, almost :01 */

static struct mr_clock_fixed fixed;
static struct mr_rand seeded;
static struct mr_mailbox_principal bob = { .principal_id = "HOUMAO-bob", .address = "bob@b" };

static struct mr_ctx begin(struct mr_arena *arena)
{
	files_enter();
	mr_clock_fixed_init(&fixed, NOW_US);
	mr_rand_seeded_init(&seeded, 7);
	return (struct mr_ctx){ .arena = arena, .clock = &fixed.clock, .rand = &seeded };
}

static struct mr_mailbox_draft draft(const char *subject, const char *body)
{
	return (struct mr_mailbox_draft){
		.sender = { .principal_id = "HOUMAO-alice", .address = "alice@b" },
		.to = { &bob, 1 },
		.subject = subject,
		.body = mr_bytes_text(body),
	};
}

static const char *body_of(struct mr_arena *arena, const struct mr_mailbox_message *message)
{
	return mr_arena_strndup(arena, (const char *)message->body.data, message->body.len);
}

/* What is composed is a document that says the same when it is read. */
static void check_document(struct mr_arena *arena, const struct mr_mailbox_message *message)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mailbox_message again;
	struct mr_err err;

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	CHECK_OK(mr_mailbox_document_write(&buf, message, &err), err);
	CHECK_OK(mr_mailbox_document_parse(arena, mr_buf_bytes(&buf), &again, &err), err);
	CHECK(mr_mailbox_message_same(message, &again, true));
}

static void a_message_begins_its_thread(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	struct mr_mailbox_draft d = draft("  Wake up\t", "one\r\ntwo\rthree\r\n");
	struct mr_mailbox_message message, second;

	CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &message), cx.err);
	CHECK(mr_token_is_message_id(message.message_id));
	CHECK(mr_str_starts(message.message_id, "msg-20260311T041500Z-"));
	CHECK_STR(message.thread_id, message.message_id);
	CHECK_STR(message.in_reply_to, NULL);
	CHECK_INT(message.references.len, 0);
	CHECK_STR(message.created_at_utc, "2026-03-11T04:15:00Z");
	CHECK_STR(message.subject, "Wake up");
	/* Lines end as documents have it; a carriage return of its own stays. */
	CHECK_STR(body_of(arena, &message), "one\ntwo\rthree\n");
	CHECK_INT(message.headers->kind, MR_MAP);
	CHECK(!message.notify_block && !message.notify_auth);
	check_document(arena, &message);
	CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &second), cx.err);
	CHECK(!mr_str_eq(message.message_id, second.message_id));
}

static void an_answer_goes_on_with_it(void)
{
	static const struct {
		const char *parent, *answer;
	} subjects[] = {
		{ "Parser drift", "Re: Parser drift" },
		{ "Re: Parser drift", "Re: Parser drift" },
		{ "RE:x", "RE:x" },
		{ "rest", "Re: rest" },
		{ "r", "Re: r" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	struct mr_mailbox_draft d = draft(NULL, "");
	struct mr_mailbox_message first, second, third;

	for (size_t i = 0; i < MR_LEN(subjects); i++) {
		d.subject = subjects[i].parent;
		CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &first), cx.err);
		d.subject = NULL;
		CHECK_OK(mr_mailbox_compose(&cx, &d, &first, &second), cx.err);
		CHECK_STR(second.subject, subjects[i].answer);
	}
	CHECK_STR(second.thread_id, first.thread_id);
	CHECK_STR(second.in_reply_to, first.message_id);
	CHECK_INT(second.references.len, 1);
	CHECK_OK(mr_mailbox_compose(&cx, &d, &second, &third), cx.err);
	CHECK_STR(third.thread_id, first.message_id);
	CHECK_INT(third.references.len, 2);
	CHECK_STR(third.references.items[0], first.message_id);
	CHECK_STR(third.references.items[1], second.message_id);
	check_document(arena, &third);
	/* A subject of its own does not leave the thread. */
	d.subject = "Something else";
	CHECK_OK(mr_mailbox_compose(&cx, &d, &second, &third), cx.err);
	CHECK_STR(third.subject, "Something else");
	CHECK_STR(third.thread_id, first.message_id);
}

static void long_conversations_stay_within_limits(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	struct mr_mailbox_draft d = draft(NULL, "");
	char *subject = mr_arena_alloc(arena, MR_MAILBOX_SUBJECT_BYTES + 1);
	struct mr_mailbox_message parent = {
		.message_id = "msg-20260311T041500Z-00000000000000000000000000000000",
		.thread_id = "msg-20260311T041500Z-00000000000000000000000000000000",
		.subject = subject,
		.references = { mr_arena_array(arena, MR_MAILBOX_REFERENCES, sizeof(char *)),
			MR_MAILBOX_REFERENCES },
	};
	struct mr_mailbox_message answer;

	memset(subject, 'x', MR_MAILBOX_SUBJECT_BYTES);
	for (size_t i = 0; i < parent.references.len; i++)
		parent.references.items[i] = mr_token_message_id(arena, cx.rand, NOW_US);
	CHECK_OK(mr_mailbox_compose(&cx, &d, &parent, &answer), cx.err);
	CHECK_INT(answer.references.len, MR_MAILBOX_REFERENCES);
	CHECK_STR(answer.references.items[0], parent.references.items[1]);
	CHECK_STR(answer.references.items[MR_MAILBOX_REFERENCES - 1], parent.message_id);
	CHECK_INT(strlen(answer.subject), MR_MAILBOX_SUBJECT_BYTES);
	check_document(arena, &answer);
}

static void notices(void)
{
	static const struct mr_mailbox_notify_block block = { "look", true };
	static const struct mr_mailbox_notify_auth token = { .token = "tok-1" };
	static const struct mr_mailbox_notify_auth signed_ = { .scheme = "jws" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	struct mr_mailbox_draft d = draft("s", "x\r\n```houmao-notify\r\nread me\r\n```\r\n");
	struct mr_mailbox_message message = { .subject = "kept" };

	CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &message), cx.err);
	CHECK_STR(message.notify_block->text, "read me");
	CHECK(!message.notify_block->prepend);
	d.notify_is_explicit = true;
	CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &message), cx.err);
	CHECK(!message.notify_block);
	d.body = mr_bytes_text("See below.");
	d.notify_block = &block;
	d.notify_auth = &token;
	CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &message), cx.err);
	CHECK_STR(body_of(arena, &message), "```houmao-notify\nlook\n```\n\nSee below.");
	CHECK_STR(message.notify_auth->scheme, "none");
	CHECK_STR(message.notify_auth->token, "tok-1");
	check_document(arena, &message);
	d.notify_auth = &signed_;
	CHECK_ERR(mr_mailbox_compose(&cx, &d, NULL, &message), cx.err, MR_EINVAL,
		"notify_auth scheme 'jws': verifier not yet supported");
}

static void refused(struct mr_ctx *cx, const struct mr_mailbox_draft *d, enum mr_code code,
	const char *text)
{
	struct mr_mailbox_message message = { .subject = "kept" };

	CHECK_ERR(mr_mailbox_compose(cx, d, NULL, &message), cx->err, code, text);
	CHECK_STR(message.subject, "kept");
}

static void says_what_is_wrong(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	struct mr_mailbox_draft d = draft(" \t", "");
	size_t most = MR_MAILBOX_DOCUMENT_BYTES - MR_MAILBOX_HEAD_BYTES;
	char *text = mr_arena_alloc(arena, MR_MAILBOX_SUBJECT_BYTES + 2);
	char *body = mr_arena_alloc(arena, most + 1);

	refused(&cx, &d, MR_EINVAL, "the subject must not be empty");
	d.subject = NULL;
	refused(&cx, &d, MR_EINVAL, "the subject must not be empty");
	d.subject = "\xff";
	refused(&cx, &d, MR_EINVAL, "the subject is not UTF-8 at byte 0");
	memset(text, 'x', MR_MAILBOX_SUBJECT_BYTES + 1);
	d.subject = text;
	refused(&cx, &d, MR_ELIMIT, "the subject must not be longer than 65536 bytes");
	d = draft("s", "");
	d.to.len = 0;
	refused(&cx, &d, MR_EINVAL, "a message must have at least one recipient in `to`");
	d.to.len = 1;
	d.cc.len = MR_MAILBOX_RECIPIENTS;
	refused(&cx, &d, MR_ELIMIT, "a message must not have more than 1000 recipients");
	d = draft("s", "");
	d.attachments.len = MR_MAILBOX_ATTACHMENTS + 1;
	refused(&cx, &d, MR_ELIMIT, "a message must not have more than 1000 attachments");
	d = draft("s", "");
	d.body = mr_bytes_of("a\0b", 3);
	refused(&cx, &d, MR_EINVAL, "the body must not contain NUL");
	memset(body, 'x', most + 1);
	d.body = mr_bytes_of(body, most + 1);
	refused(&cx, &d, MR_ELIMIT,
		"the body must not be longer than 32505856 bytes; attach the text as a file");
	d.body.len = most;
	CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &(struct mr_mailbox_message){ 0 }), cx.err);
}

static void files_are_described(void)
{
	static const struct {
		const char *name, *type;
	} types[] = {
		{ "a.PNG", "image/png" },
		{ "a.tar.gz", "application/gzip" },
		{ "README.md", "text/markdown" },
		{ ".json", "application/octet-stream" },
		{ "Makefile", "application/octet-stream" },
		{ "x.y.unheard", "application/octet-stream" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	struct mr_mailbox_attachment file;
	struct mr_mailbox_draft d = draft("s", "");
	struct mr_mailbox_message message;
	size_t open = files_open();

	files_put("note.txt", "attachment\n");
	CHECK(symlink("note.txt", "link") == 0);
	CHECK_OK(mr_mailbox_compose_file(&cx, "link", "a note", &file), cx.err);
	CHECK_STR(file.path, mr_arena_printf(arena, "%s/note.txt", test_dir()));
	CHECK_STR(file.label, "a note");
	CHECK_STR(file.media_type, "text/plain");
	CHECK_STR(file.sha256, "b97295be7fa8b49d8d64ec318c127eab337ffeaba23796bcaa1006352bdc149b");
	CHECK_INT(file.size_bytes, 11);
	CHECK_INT(file.kind, MR_MAILBOX_PATH_REF);
	CHECK(mr_str_starts(file.attachment_id, "att-"));
	CHECK_INT(strlen(file.attachment_id), strlen("att-") + 12);
	d.attachments = (struct mr_mailbox_attachments){ &file, 1 };
	CHECK_OK(mr_mailbox_compose(&cx, &d, NULL, &message), cx.err);
	check_document(arena, &message);
	CHECK_OK(mr_mailbox_compose_file(&cx, "link", NULL, &file), cx.err);
	CHECK_STR(file.label, "note.txt");
	for (size_t i = 0; i < MR_LEN(types); i++) {
		files_put(types[i].name, "");
		CHECK_OK(mr_mailbox_compose_file(&cx, types[i].name, NULL, &file), cx.err);
		CHECK_STR(file.media_type, types[i].type);
		CHECK_STR(file.label, types[i].name);
	}
	CHECK_INT(files_open(), open);
}

static void some_files_cannot_go(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	char *text = mr_arena_alloc(arena, MR_MAILBOX_TEXT_BYTES + 2);
	struct mr_mailbox_attachment file = { .label = "kept" };

	CHECK_ERR(mr_mailbox_compose_file(&cx, "none", NULL, &file), cx.err, MR_ENOTFOUND,
		"cannot attach none: No such file or directory");
	CHECK(mkdir("dir", 0700) == 0 && mkfifo("pipe", 0600) == 0);
	CHECK_INT(mr_mailbox_compose_file(&cx, "dir", NULL, &file), MR_EINVAL);
	CHECK(strstr(cx.err.msg, "dir is not a regular file"));
	CHECK_INT(mr_mailbox_compose_file(&cx, "pipe", NULL, &file), MR_EINVAL);
	CHECK(strstr(cx.err.msg, "pipe"));
	files_put("x", "x");
	CHECK_ERR(mr_mailbox_compose_file(&cx, "x", " ", &file), cx.err, MR_EINVAL,
		"the label of an attachment must not be empty");
	CHECK_ERR(mr_mailbox_compose_file(&cx, "x", "\xff", &file), cx.err, MR_EINVAL,
		"the label of an attachment is not UTF-8");
	memset(text, 'x', MR_MAILBOX_TEXT_BYTES + 1);
	CHECK_ERR(mr_mailbox_compose_file(&cx, "x", text, &file), cx.err, MR_ELIMIT,
		"the label of an attachment must not be longer than 4096 bytes");
	CHECK_STR(file.label, "kept");
}

/* A caller with limits learns nothing about what is outside of them. */
static void only_from_directories_that_the_caller_may_name(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = begin(arena);
	struct mr_mailbox_attachment file;
	const char *roots[] = { mr_arena_printf(arena, "%s/mine", test_dir()), NULL };
	struct mr_reach reach = { .roots = { roots, 1 } };

	CHECK(mkdir("mine", 0700) == 0 && symlink("../secret", "mine/link") == 0);
	files_put("mine/x", "x");
	files_put("secret", "x");
	cx.reach = &reach;
	CHECK_OK(mr_mailbox_compose_file(&cx, "mine/x", NULL, &file), cx.err);
	CHECK_ERR(mr_mailbox_compose_file(&cx, "secret", NULL, &file), cx.err, MR_EPERM,
		"cannot attach secret: there is no such file in a directory that you may name");
	CHECK_ERR(mr_mailbox_compose_file(&cx, "none", NULL, &file), cx.err, MR_EPERM,
		"cannot attach none: there is no such file in a directory that you may name");
	CHECK_INT(mr_mailbox_compose_file(&cx, "mine/link", NULL, &file), MR_EPERM);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_message_begins_its_thread),
		TEST(an_answer_goes_on_with_it),
		TEST(long_conversations_stay_within_limits),
		TEST(notices),
		TEST(says_what_is_wrong),
		TEST(files_are_described),
		TEST(some_files_cannot_go),
		TEST(only_from_directories_that_the_caller_may_name),
	};

	return test_main(tests, MR_LEN(tests));
}
