/* tests/unit/text/test_mime_build.c */
#include "text/mime_build.h"

#include "files.h"
#include "test.h"

#include <string.h>

#define DATE_US INT64_C(1777960800000000) /* 2026-05-05T06:00:00Z */

static struct mr_mime_address to[] = { { NULL, "bob@example.net" },
	{ "Carol C.", "carol@example.net" } };

static struct mr_mime_draft simple(void)
{
	return (struct mr_mime_draft){
		.from = { "Me Tester", "me@example.com" },
		.to = { to, 2 },
		.subject = "Plan B",
		.date_us = DATE_US,
		.message_id = "message_sent_1@afmail.local",
		.text = "Changed text.",
	};
}

static const char *build(struct mr_arena *arena, const struct mr_mime_draft *draft)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 16 << 20);
	CHECK_OK(mr_mime_build(&buf, draft, &err), err);
	/* Every line ends in CRLF and none is too long. */
	for (size_t i = 0, line = 0; i < buf.len; i++) {
		CHECK((buf.data[i] == '\n') == (i && buf.data[i - 1] == '\r'));
		line = buf.data[i] == '\n' ? 0 : line + 1;
		CHECK(line <= 999);
	}
	CHECK(strlen(mr_buf_text(&buf)) == buf.len);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static struct mr_mime read_back(struct mr_arena *arena, const struct mr_mime_draft *draft)
{
	struct mr_mime mime;
	struct mr_err err;

	CHECK_OK(mr_mime_parse(arena, mr_bytes_text(build(arena, draft)), &mime, &err), err);
	CHECK_INT(mime.notes.len, 0);
	return mime;
}

static void writes_plain_mail(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime_draft draft = simple();
	static const char *refs[] = { "a@b", "bad id", "c@d", NULL };

	CHECK_STR(build(arena, &draft),
		"Date: Tue, 05 May 2026 06:00:00 +0000\r\n"
		"From: \"Me Tester\" <me@example.com>\r\n"
		"To: bob@example.net,\r\n \"Carol C.\" <carol@example.net>\r\n"
		"Subject: Plan B\r\n"
		"Message-ID: <message_sent_1@afmail.local>\r\n"
		"MIME-Version: 1.0\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n"
		"Content-Transfer-Encoding: 7bit\r\n\r\n"
		"Changed text.");
	draft.cc = (struct mr_mime_addresses){ to + 1, 1 };
	draft.reply_to = (struct mr_mime_addresses){ to, 1 };
	draft.in_reply_to = "c@d";
	draft.references = (struct mr_texts){ refs, 3 };
	draft.offset_minutes = -210;
	draft.text = "one\r\ntwo\nthree\n";
	CHECK_STR(build(arena, &draft),
		"Date: Tue, 05 May 2026 02:30:00 -0330\r\n"
		"From: \"Me Tester\" <me@example.com>\r\n"
		"To: bob@example.net,\r\n \"Carol C.\" <carol@example.net>\r\n"
		"Cc: \"Carol C.\" <carol@example.net>\r\n"
		"Reply-To: bob@example.net\r\n"
		"Subject: Plan B\r\n"
		"Message-ID: <message_sent_1@afmail.local>\r\n"
		"In-Reply-To: <c@d>\r\n"
		"References: <a@b>\r\n <c@d>\r\n"
		"MIME-Version: 1.0\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n"
		"Content-Transfer-Encoding: 7bit\r\n\r\n"
		"one\r\ntwo\r\nthree\r\n");
}

static void headers_come_back(void)
{
	static const char *const subjects[] = {
		"Plan B",
		"\u4e00\u5468\u5012\u8ba1\u65f6 \u4e00\u5468\u5012\u8ba1\u65f6 "
		"\u4e00\u5468\u5012\u8ba1\u65f6 \u4e00\u5468\u5012\u8ba1\u65f6",
		"R\u00e9sum\u00e9",
		"=?utf-8?Q?not_a_word?=",
		"a subject that is long enough to be folded somewhere, at a single space,  not at "
		"two   spaces, and that goes on for a second line and then for a third one",
		"NoBlanksAnywhereNoBlanksAnywhereNoBlanksAnywhereNoBlanksAnywhereNoBlanksAnywhere"
		"NoBlanksAnywhere",
	};
	static const char *const names[] = {
		"Me Tester", "Jos\u00e9 \u738b", "a \"b\" \\ c", "=?utf-8?Q?x?=", "Last, First",
		"A name of many words that nobody has but that somebody will write one day anyway"
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime_draft draft = simple();
	struct mr_buf lots MR_CLEANUP(mr_buf_release) = { 0 };

	for (size_t i = 0; i < MR_LEN(subjects); i++) {
		draft.subject = subjects[i];
		CHECK_STR(read_back(arena, &draft).subject, subjects[i]);
	}
	mr_buf_init(&lots, 8000);
	for (int i = 0; i < 1000; i++)
		mr_buf_puts(&lots, "word ");
	mr_buf_puts(&lots, "x");
	draft.subject = mr_buf_text(&lots);
	CHECK_STR(read_back(arena, &draft).subject, mr_buf_text(&lots));
	for (size_t i = 0; i < MR_LEN(names); i++) {
		struct mr_mime mime;

		draft.from.name = names[i];
		mime = read_back(arena, &draft);
		CHECK_INT(mime.from.len, 1);
		CHECK_STR(mime.from.items[0].name, names[i]);
		CHECK_STR(mime.from.items[0].email, "me@example.com");
	}
}

static void bodies_come_back(void)
{
	static const struct {
		const char *text;
		const char *encoding;
	} cases[] = {
		{ "", "7bit" },
		{ "plain\n", "7bit" },
		{ "caf\u00e9\n\ntrailing blank \nend", "quoted-printable" },
		{ "caf\u00e9 = \t\n.\nFrom me\n", "quoted-printable" },
		{ "\u4e00\u5468\u5012\u8ba1\u65f6\n\u4e00\u5468\n", "base64" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime_draft draft = simple();
	char line[5001];

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		draft.text = cases[i].text;
		CHECK_STR(read_back(arena, &draft).body_text, cases[i].text);
		CHECK(strstr(build(arena, &draft),
			mr_arena_printf(arena, "Encoding: %s\r\n", cases[i].encoding)));
	}
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	draft.text = line;
	CHECK_STR(read_back(arena, &draft).body_text, line);
}

static void files_come_back(void)
{
	static const char inner[] = "Subject: in\n\n--=_m\xc3\xa9\n";
	static const struct mr_mime_file files[] = {
		{ "../../evil?.png", NULL, { (const uint8_t *)"\x89\0PNG", 5 } },
		{ "\u516c\u53f8\u8d44\u6599\u516c\u53f8\u8d44\u6599\u516c\u53f8\u8d44\u6599.pdf",
			NULL, { (const uint8_t *)"pdf", 3 } },
		{ "in.eml", NULL, { (const uint8_t *)inner, sizeof(inner) - 1 } },
		{ "", "text/x;y", { (const uint8_t *)"", 0 } },
		{ "bad.eml", "message/rfc822", { (const uint8_t *)"a\0b", 3 } },
		{ "100% \"x\".TXT", "text/csv", { (const uint8_t *)"z\r\n", 3 } },
	};
	static const struct {
		const char *name, *type;
		int64_t size;
	} want[] = {
		{ ".._.._evil_.png", "image/png", 5 },
		{ "\u516c\u53f8\u8d44\u6599\u516c\u53f8\u8d44\u6599\u516c\u53f8\u8d44\u6599.pdf",
			"application/pdf", 3 },
		{ "in.eml", "message/rfc822", sizeof(inner) + 2 },
		{ "attachment", "application/octet-stream", 0 },
		{ "bad.eml", "application/octet-stream", 3 },
		{ "100% _x_.TXT", "text/csv", 3 },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime_draft draft = simple();
	struct mr_mime mime;

	draft.files = files;
	draft.file_count = MR_LEN(files);
	draft.html = "<p>Changed <b>text</b>.</p>";
	mime = read_back(arena, &draft);
	CHECK_STR(mime.body_text, "Changed text.");
	CHECK_STR(mime.body_html, draft.html);
	CHECK_INT(mime.attachment_count, MR_LEN(want));
	for (size_t i = 0; i < MR_LEN(want); i++) {
		struct mr_bytes bytes;
		struct mr_err err;

		CHECK_STR(mime.attachments[i].filename, want[i].name);
		CHECK_STR(mime.attachments[i].content_type, want[i].type);
		CHECK_INT(mime.attachments[i].size_bytes, want[i].size);
		CHECK_OK(mr_mime_part_read(arena, &mime, mime.attachments[i].part_id, &bytes, &err),
			err);
		if (i != 2) /* its line ends have become CRLF */
			CHECK(memcmp(bytes.data, files[i].bytes.data, bytes.len) == 0);
	}
	CHECK(strstr(build(arena, &draft), "filename*0*=utf-8''%E5%85%AC%E5%8F%B8"));
}

static void refuses_what_cannot_be_written(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime_address bad = { NULL, "a b@c" };
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mime_draft draft = simple();
	struct mr_err err;

	mr_buf_init(&buf, 1 << 20);
	draft.subject = "a\r\nBcc: x@y";
	CHECK_ERR(mr_mime_build(&buf, &draft, &err), err, MR_EINVAL,
		"the subject must be one line of text");
	draft = simple();
	draft.cc = (struct mr_mime_addresses){ &bad, 1 };
	CHECK_ERR(mr_mime_build(&buf, &draft, &err), err, MR_EINVAL,
		"Cc: \"a b@c\" is no mail address");
	draft = simple();
	draft.from.name = "a\nb";
	CHECK_ERR(mr_mime_build(&buf, &draft, &err), err, MR_EINVAL,
		"From: the name of me@example.com must be one line of text");
	draft = simple();
	draft.message_id = "a b";
	CHECK_ERR(mr_mime_build(&buf, &draft, &err), err, MR_EINVAL,
		"the message id \"a b\" cannot be written");
	draft = simple();
	draft.in_reply_to = "a>b";
	CHECK_ERR(mr_mime_build(&buf, &draft, &err), err, MR_EINVAL,
		"the id of the message that is answered, \"a>b\", cannot be written");
	mr_buf_release(&buf);
	mr_buf_init(&buf, 300);
	draft = simple();
	draft.text = mr_arena_printf(arena, "%500s", "x");
	CHECK_INT(mr_mime_build(&buf, &draft, &err), MR_ELIMIT);
}

static void reads_mailboxes(void)
{
	static const struct {
		const char *text;
		const char *want; /* the address, or "!" and the error */
	} cases[] = {
		{ "a@b", "a@b" },
		{ " Carol <carol@example.net> ", "carol@example.net" },
		{ "\"a b\"@c.d", "!\"a b@c.d\" is no mail address" },
		{ "<\"a b\"@c.d>", "\"a b\"@c.d" },
		{ "a@[127.0.0.1]", "a@[127.0.0.1]" },
		{ "j\u00f6rg@b\u00fccher.example", "j\u00f6rg@b\u00fccher.example" },
		{ "nonsense", "!\"nonsense\" is no mail address: it has no @" },
		{ "", "!\"\" is no mail address" },
		{ "a@b, c@d", "!\"a@b, c@d\" is more than one mail address" },
		{ "a@b\nBcc: c@d", "!a mail address is one line of text" },
		{ "a@", "!\"a@\" is no mail address" },
		{ "@b", "!\"@b\" is no mail address" },
		{ "a..b@c", "!\"a..b@c\" is no mail address" },
		{ "a@b..c", "!\"a@b..c\" is no mail address" },
		{ "a@-b", "!\"a@-b\" is no mail address" },
		{ "a@b_c", "!\"a@b_c\" is no mail address" },
		{ "a@b>c", "!\"a@b>c\" is no mail address" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime_address address = { 0 };
		struct mr_err err = { 0 };

		if (mr_mime_mailbox_read(arena, cases[i].text, &address, &err))
			CHECK_STR(mr_arena_printf(arena, "!%s", err.msg), cases[i].want);
		else
			CHECK_STR(address.email, cases[i].want);
	}
}

static void knows_extensions(void)
{
	CHECK_STR(mr_mime_type_by_name("a.PDF"), "application/pdf");
	CHECK_STR(mr_mime_type_by_name("a.tar.gz"), "application/gzip");
	CHECK_STR(mr_mime_type_by_name("pdf"), "application/octet-stream");
	CHECK_STR(mr_mime_type_by_name("a.unknown"), "application/octet-stream");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(writes_plain_mail),
		TEST(headers_come_back),
		TEST(bodies_come_back),
		TEST(files_come_back),
		TEST(refuses_what_cannot_be_written),
		TEST(reads_mailboxes),
		TEST(knows_extensions),
	};

	return test_main(tests, MR_LEN(tests));
}
