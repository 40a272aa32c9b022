/* tests/unit/text/test_mime.c */
#include "text/mime.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "files.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static struct mr_mime read_bytes(struct mr_arena *arena, struct mr_bytes bytes)
{
	struct mr_mime mime;
	struct mr_err err;

	CHECK_OK(mr_mime_parse(arena, bytes, &mime, &err), err);
	return mime;
}

static struct mr_mime read_text(struct mr_arena *arena, const char *text)
{
	return read_bytes(arena, mr_bytes_text(text));
}

/* A mail of the fuzzer's corpus. */
static struct mr_mime read_mail(struct mr_arena *arena, const char *name)
{
	char path[512];
	char *bytes = mr_arena_alloc(arena, 65536);
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/mime/%s.eml", TEST_CORPUS, name);
	file = fopen(path, "rb");
	CHECK(file);
	len = fread(bytes, 1, 65536, file);
	fclose(file);
	CHECK(len > 0 && len < 65536);
	return read_bytes(arena, mr_bytes_of(bytes, len));
}

static const char *list(struct mr_arena *arena, struct mr_mime_addresses addresses)
{
	struct mr_texts texts = { 0 };

	texts.items = mr_arena_array(arena, addresses.len + 1, sizeof(*texts.items));
	for (; texts.len < addresses.len; texts.len++)
		texts.items[texts.len] = mr_mime_address_text(arena, &addresses.items[texts.len]);
	return mr_str_join(arena, &texts, " | ");
}

static const char *attachments(struct mr_arena *arena, const struct mr_mime *mime)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 1 << 20);
	for (size_t i = 0; i < mime->attachment_count; i++) {
		const struct mr_mime_attachment *a = &mime->attachments[i];

		mr_buf_printf(&buf, "%s%s %s %s %lld%s", i ? "; " : "", a->part_id, a->filename,
			a->content_type, (long long)a->size_bytes, a->is_inline ? " inline" : "");
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static const char *join(struct mr_arena *arena, struct mr_texts texts)
{
	return texts.len ? mr_str_join(arena, &texts, " ") : "";
}

static void reads_recorded_mails(void)
{
	static const struct {
		const char *name, *id, *from, *to, *subject, *date, *body, *attached;
	} mails[] = {
		{ "alternative", "alt-1@list.example.net", "Newsletter <news@list.example.net>",
			"Me Tester <me@example.com>", "Spring offers", "2026-05-05T06:00:00Z",
			"Spring offers: caf\u00e9 table, 20 \u20ac off.", "" },
		{ "attachments", "att-1@example.net", "Bob Builder <bob@example.net>",
			"Me Tester <me@example.com>", "Plans and photo", "2026-05-10T12:00:00Z",
			"See the files.",
			"2 pricing.txt text/plain 7; 3 \u516c\u53f8\u8d44\u6599.pdf "
			"application/pdf "
			"15; 4 ../caf\u00e9?.png image/png 70" },
		{ "empty", "empty-1@example.com", "", "", NULL, NULL, "", "" },
		{ "gb2312", "gb-1@example.cn", "\u738b\u82b3 <wang@example.cn>",
			"Me Tester <me@example.com>",
			"\u5408\u540c\u8349\u7a3f "
			"\u4e00\u5468\u5012\u8ba1\u65f6",
			"2026-05-07T16:30:00+08:00",
			"\u60a8\u597d\uff0c\n\n\u8bf7\u67e5\u6536\u9644\u4ef6\u4e2d\u7684\u5408"
			"\u540c\u8349\u7a3f\u3002\n\n\u738b\u82b3\n",
			"" },
		{ "html", "html-1@example.com", "Shop <shop@example.com>",
			"Me Tester <me@example.com>", "Your order", "2026-05-06T10:00:00Z",
			"Order 5\nTwo & three\nlines <here>\none\ntwo\na\tb\n"
			"Track it <https://shop.example.com/t?x=1>",
			"" },
		{ "iso2022jp", "jp-1@example.jp", "\u5c71\u7530\u592a\u90ce <yamada@example.jp>",
			"Me Tester <me@example.com>", "\u4f1a\u8b70\u306e\u4ef6",
			"2026-05-08T11:45:10+09:00",
			"\u5c71\u7530\u3067\u3059\u3002\n\u6765\u9031\u306e\u4f1a\u8b70\u306e\u4ef6"
			"\u3001\u4e86\u89e3\u3057\u307e\u3057\u305f\u3002\n",
			"" },
		{ "malformed", "bad-1@example.com", "broken <broken@example.com>", "",
			"raw \ufffd\ufffd bytes", NULL, "",
			"1 part-1 text/plain 14; 2 part-2 application/octet-stream 15" },
		{ "nested", "nest-1@example.net", "Carol <carol@example.net>",
			"Me Tester <me@example.com>", "Fwd: original question",
			"2026-05-11T13:00:00Z", "Forwarding this.",
			"2 original.eml message/rfc822 385" },
		{ "noid", NULL, "Printer <printer@example.com>", "me@example.com", "Toner low",
			"2026-05-15T05:00:00Z", "Toner low.\n", "" },
		{ "plain", "plain-1@example.org", "Alice Adams <alice@example.org>",
			"Me Tester <me@example.com>", "Invoice 17 is ready",
			"2026-05-04T09:15:00+02:00",
			"Hello,\n\nyour invoice 17 is ready for pick-up.\n\nAlice\n", "" },
		{ "replyall", "reply-1@vendor.example", "Vendor <help@vendor.example>",
			"Me Tester <me@example.com> | Ivan <ivan@example.org>", "Ticket 99",
			"2026-05-14T15:00:00Z", "Please answer.\n```\ncode\n```\n", "" },
		{ "rfc2047", "q-1@example.fr", "Ren\u00e9 M\u00fcller <rene@example.fr>",
			"Me Tester <me@example.com>",
			"R\u00e9sum\u00e9 de la r\u00e9union \u2013 mai",
			"2026-05-09T08:00:00+02:00", "Voil\u00e0 le r\u00e9sum\u00e9.\n", "" },
		{ "sent1", "sent-1@example.com", "Me Tester <me@example.com>",
			"Alice Adams <alice@example.org>", "Earlier question",
			"2026-05-03T09:00:00Z", "How much?\n", "" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(mails); i++) {
		struct mr_mime mime = read_mail(arena, mails[i].name);

		CHECK_STR(mime.message_id, mails[i].id);
		CHECK_STR(list(arena, mime.from), mails[i].from);
		CHECK_STR(list(arena, mime.to), mails[i].to);
		CHECK_STR(mime.subject, mails[i].subject);
		CHECK_STR(mime.date.rfc3339, mails[i].date);
		CHECK_STR(mime.body_text, mails[i].body);
		CHECK_STR(attachments(arena, &mime), mails[i].attached);
	}
}

static void reads_other_fields(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime reply = read_mail(arena, "replyall");
	struct mr_mime thread = read_mail(arena, "thread3");
	struct mr_mime news = read_mail(arena, "alternative");

	CHECK_STR(list(arena, reply.cc), "Heidi <heidi@example.org> | me@example.com");
	CHECK_STR(list(arena, reply.reply_to), "Desk <desk@vendor.example>");
	CHECK_STR(list(arena, reply.sender), "robot@mailer.example");
	CHECK_STR(join(arena, mr_mime_values(arena, &reply, "delivered-to")), "me@example.com");
	CHECK_STR(join(arena, mr_mime_values(arena, &reply, "Authentication-Results")),
		"mx.example.com; spf=pass smtp.mailfrom=help@vendor.example; dkim=fail "
		"header.d=vendor.example; dmarc=pass (p=reject) header.from=vendor.example");
	CHECK_STR(join(arena, thread.in_reply_to), "t2@thread.example.org");
	CHECK_STR(join(arena, thread.references), "t1@thread.example.org t2@thread.example.org");
	CHECK_STR(join(arena, mr_mime_values(arena, &news, "List-ID")),
		"Spring news <spring.list.example.net>");
	CHECK(strstr(news.body_html, "<h1>Spring offers</h1>"));
	CHECK_INT(news.date.us / 1000000, 1777960800);
}

static void joins_folded_lines(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime mime = read_text(arena,
		"Subject: one\r\n\t two\n   three  four\r\nX-A: 1\r\nx-a :\r\n 2 \r\nX-A:\r\nTo: "
		"a@b\n"
		"To: c@d\n\nbody");

	CHECK_STR(mime.subject, "one two three  four");
	CHECK_STR(join(arena, mr_mime_values(arena, &mime, "X-A")), "1 2");
	CHECK_STR(list(arena, mime.to), "a@b | c@d");
	CHECK_STR(mime.body_text, "body");
	CHECK_INT(mime.notes.len, 0);
}

static void decodes_words(void)
{
	static const struct {
		const char *subject;
		const char *want;
	} cases[] = {
		{ "=?gb2312?B?0rvW3LW5vMbKsQ==?=", "\u4e00\u5468\u5012\u8ba1\u65f6" },
		{ "=?utf-8?Q?=E2=82?= =?utf-8?Q?=AC?=", "\u20ac" },
		{ "=?big5?B?pKSk5Q==?=", "\u4e2d\u6587" },
		{ "=?koi8-r?Q?=D0=D2=C9?=", "\u043f\u0440\u0438" },
		{ "=?windows-1251?Q?=EF=F0=E8?=", "\u043f\u0440\u0438" },
		{ "=?euc-kr?B?x9E=?=", "\ud55c" },
		{ "=?shift_jis?B?k/o=?=", "\u65e5" },
		{ "=?utf-8?Q?a=0D=0ABcc:_x?=", "a Bcc: x" },
		{ "=?utf-8?Q?a=00b=1B[1m?=", "a b [1m" },
		{ "=?utf-8?B?w6k=?= =?utf-8?B?w6k=?=", "\u00e9\u00e9" },
		{ "=?utf-8?B?w6?= =?UTF-8?B?w6k=?=", "\ufffd\u00e9" },
		{ "=?utf-8*en?q?a_b?= c =?utf-8?q?d?=", "a b c d" },
		{ "x=?utf-8?q?y?=z", "xyz" },
		{ "=?utf-8?Q?=FF=E2=82?=", "\ufffd\ufffd" },
		{ "=?x-klingon?Q?=C3=A9=FF?=", "\u00e9\ufffd" },
		{ "=?utf-16?B?AGEAYg==?=", "ab" },
		{ "=?utf-8?X?a?= =?utf-8?Q?b?=", "=?utf-8?X?a?= b" },
		{ "=?=?utf-8?Q?b?=", "=?b" },
		{ "=?utf-8?Q?=3?=", "=3" },
		{ "plain = ?x", "plain = ?x" },
		{ "=?broken", "=?broken" },
		{ "\xff\xfe", "\ufffd\ufffd" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime mime = read_text(arena,
			mr_arena_printf(arena, "Subject: %s\n\n", cases[i].subject));

		CHECK_STR(mime.subject, cases[i].want);
	}
}

static void reads_addresses(void)
{
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "", "" },
		{ "a@b", "a@b" },
		{ "<a@b>", "a@b" },
		{ "A B <a@b>, <c@d> ; e@f", "A B <a@b> | c@d | e@f" },
		{ "\"Last, First\" <x@y.z>", "Last, First <x@y.z>" },
		{ "\"a \\\"q\\\" b\" <x@y>", "a \"q\" b <x@y>" },
		{ "x@y.z (Comment (nested) Name)", "Comment (nested) Name <x@y.z>" },
		{ "Foo [x] (note) <a@b>", "Foo [x] <a@b>" },
		{ "undisclosed-recipients:;", "" },
		{ "A <a@b>, G: B <b@c>, c@d;, e@f", "A <a@b> | B <b@c> | c@d | e@f" },
		{ "<@hop,@hop2:a@b>", "a@b" },
		{ "\"broken <broken@example.com", "broken <broken@example.com>" },
		{ "(open <a@b>", "(open <a@b>" },
		{ "=?utf-8?q?Ren=C3=A9_M=C3=BCller?= <rene@example.fr>",
			"Ren\u00e9 M\u00fcller <rene@example.fr>" },
		{ "\"=?utf-8?q?Ren=C3=A9?=\" <r@x>", "Ren\u00e9 <r@x>" },
		{ "=?utf-8?q?a=2C_b?= <c@d>", "a, b <c@d>" },
		{ "root", "root" },
		{ "\"\" <a@b>", "a@b" },
		{ "<\"a b\"@c>", "\"a b\"@c" },
		{ ",,;<>,", "" },
		{ "a@b <a@b>", "a@b <a@b>" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(list(arena, mr_mime_addresses_read(arena, cases[i].text)), cases[i].want);
}

static void reads_ids(void)
{
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "<a@b>", "a@b" },
		{ "<a@b><c@d> <e@f>", "a@b c@d e@f" },
		{ "a@b  c@d", "a@b c@d" },
		{ "Your mail of Monday <a@b>", "a@b" },
		{ "<open", "<open" },
		{ "< a@b > <>", "a@b" },
		{ "<<a@b>", "a@b" },
		{ "", "" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(join(arena, mr_mime_ids_read(arena, cases[i].text)), cases[i].want);
}

static void reads_dates(void)
{
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "Mon, 16 Jun 2025 02:24:07 +0800", "2025-06-16T02:24:07+08:00" },
		{ "16 Jun 2025 02:24 -0330 (NST)", "2025-06-16T02:24:00-03:30" },
		{ "Mon, 16 Jun 2025 02:24:07 GMT", "2025-06-16T02:24:07Z" },
		{ "Mon, 16 Jun 2025 02:24:07 -0000", "2025-06-16T02:24:07Z" },
		{ "not a date", NULL },
		{ "32 Foo 2026 99:99:99 +0000", NULL },
		{ "Fri, 31 Feb 2026 10:00:00 +0000", NULL },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime mime =
			read_text(arena, mr_arena_printf(arena, "Date: %s\n\n", cases[i].text));

		CHECK_STR(mime.date.rfc3339, cases[i].want);
		CHECK_STR(join(arena, mime.notes), cases[i].want ? "" : "the date cannot be read");
	}
}

static void extracts_parts(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime files = read_mail(arena, "attachments");
	struct mr_mime nested = read_mail(arena, "nested");
	struct mr_mime broken = read_mail(arena, "malformed");
	static const char *const unknown[] = { "0", "5", "-1", "x", "", "1x",
		"99999999999999999999" };
	struct mr_bytes bytes;
	struct mr_err err;

	CHECK_OK(mr_mime_part_read(arena, &files, "2", &bytes, &err), err);
	CHECK(bytes.len == 7 && memcmp(bytes.data, "pricing", 7) == 0);
	CHECK_OK(mr_mime_part_read(arena, &files, "3", &bytes, &err), err);
	CHECK(bytes.len == 15 && memcmp(bytes.data, "%PDF-1.4\n%%EOF\n", 15) == 0);
	CHECK_OK(mr_mime_part_read(arena, &files, "4", &bytes, &err), err);
	CHECK(bytes.len == 70 && memcmp(bytes.data, "\x89PNG\r\n", 6) == 0);
	CHECK_OK(mr_mime_part_read(arena, &nested, "2", &bytes, &err), err);
	CHECK(bytes.len == 385 && memcmp(bytes.data, "From: Dan <dan@example.net>\r\n", 29) == 0);
	CHECK(memcmp(bytes.data + bytes.len - 9, "--in1--\r\n", 9) == 0);
	CHECK_OK(mr_mime_part_read(arena, &broken, "1", &bytes, &err), err);
	CHECK(bytes.len == 14 && memcmp(bytes.data, "!!!SGVsbG8=***", 14) == 0);
	for (size_t i = 0; i < MR_LEN(unknown); i++)
		CHECK_INT(mr_mime_part_read(arena, &files, unknown[i], &bytes, &err), MR_ENOTFOUND);
	CHECK_STR(err.msg, "the message has no part \"99999999999999999999\"");
}

/* A multipart of the given kind with these parts, which begin with their headers. */
static const char *multipart(struct mr_arena *arena, const char *kind, const char *boundary,
	const char *const *parts)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 1 << 20);
	mr_buf_printf(&buf, "Content-Type: multipart/%s; boundary=%s\n\n", kind, boundary);
	for (; *parts; parts++)
		mr_buf_printf(&buf, "--%s\n%s\n", boundary, *parts);
	mr_buf_printf(&buf, "--%s--\n", boundary);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

#define PARTS(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define PLAIN    "Content-Type: text/plain\n\n"
#define HTML     "Content-Type: text/html\n\n"
#define IMAGE    "Content-Type: image/png; name=i.png\nContent-Disposition: inline\n\n"
#define CALENDAR "Content-Type: text/calendar\n\n"

static void tells_body_from_attachments(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *both =
		multipart(arena, "alternative", "alt", PARTS(PLAIN "t", HTML "<p>h</p>"));
	const char *related =
		multipart(arena, "related", "rel", PARTS(HTML "<p>h</p>", IMAGE "png"));
	const struct {
		const char *mail, *text, *html, *attached;
	} cases[] = {
		{ both, "t", "<p>h</p>", "" },
		{ multipart(arena, "mixed", "m", PARTS(both, PLAIN "footer")), "t\nfooter",
			"<p>h</p>", "" },
		{ multipart(arena, "alternative", "a", PARTS(PLAIN "t", related)), "t", "<p>h</p>",
			"4 i.png image/png 3 inline" },
		{ related, "h", "<p>h</p>", "2 i.png image/png 3 inline" },
		{ multipart(arena, "alternative", "a", PARTS(HTML "<p>h</p>")), "h", "<p>h</p>",
			"" },
		{ multipart(arena, "alternative", "a", PARTS(PLAIN "t", CALENDAR "c")), "t", NULL,
			"2 part-2 text/calendar 1" },
		{ multipart(arena, "mixed", "m",
			  PARTS(PLAIN "t", "Content-Type: text/plain; name=n.txt\n\nfile")),
			"t", NULL, "2 n.txt text/plain 4" },
		{ multipart(arena, "mixed", "m", PARTS(IMAGE "png", PLAIN "t")), "t", NULL,
			"1 i.png image/png 3 inline" },
		{ multipart(arena, "mixed", "m", PARTS("Content-Disposition: attachment\n\nx")), "",
			NULL, "1 part-1 application/octet-stream 1" },
		{ multipart(arena, "digest", "d", PARTS("\nSubject: in\n\nb")), "", NULL,
			"1 part-1 application/octet-stream 14" },
		{ "Content-Type: image/png\n\npng", "", NULL, "0 part-0 image/png 3 inline" },
		{ "Content-Type: multipart/mixed\n\nno boundary", "", NULL,
			"0 part-0 multipart/mixed 11" },
		{ "no header\n\nat all", "no header\n\nat all", NULL, "" },
		{ "From x@y Mon May  4\nSubject: s\n\nmbox", "mbox", NULL, "" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime mime = read_text(arena, cases[i].mail);

		CHECK_STR(mime.body_text, cases[i].text);
		CHECK_STR(mime.body_html, cases[i].html);
		CHECK_STR(attachments(arena, &mime), cases[i].attached);
	}
}

static void reads_file_names(void)
{
	static const struct {
		const char *fields;
		const char *want;
	} cases[] = {
		{ "Content-Disposition: attachment; filename=\"a b.txt\"", "a b.txt" },
		{ "Content-Disposition: attachment; filename=a b.txt", "a b.txt" },
		{ "Content-Disposition: attachment;\n filename*=iso-8859-1'en'caf%E9.txt",
			"caf\u00e9.txt" },
		{ "Content-Disposition: attachment; filename*0*=utf-8''%E5%85%AC%E5%8F%B8;\n "
		  "filename*1*=%E8%B5%84%E6%96%99; filename*2=.pdf",
			"\u516c\u53f8\u8d44\u6599.pdf" },
		{ "Content-Disposition: attachment;\n filename=\"=?utf-8?B?w6k=?=\n "
		  "=?utf-8?B?w6kueA==?=\"",
			"\u00e9\u00e9.x" },
		{ "Content-Disposition: attachment; filename==?gb2312?B?0rs=?=.pdf", "\u4e00.pdf" },
		{ "Content-Type: image/png; name=\"n.png\"\nContent-Disposition: attachment",
			"n.png" },
		{ "Content-Type: image/png; name=n.png\nContent-Disposition: attachment; "
		  "filename=f",
			"f" },
		{ "Content-Disposition: attachment; filename=\"\"", "part-0" },
		{ "Content-Disposition: attachment; filename=\"a\x1b\xffz\"", "a \ufffdz" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime mime =
			read_text(arena, mr_arena_printf(arena, "%s\n\nx", cases[i].fields));

		CHECK_INT(mime.attachment_count, 1);
		CHECK_STR(mime.attachments[0].filename, cases[i].want);
	}
}

static void decodes_transfer_encodings(void)
{
	static const struct {
		const char *encoding, *body, *want;
	} cases[] = {
		{ "base64", "SGVsbG8=", "Hello" },
		{ "BASE64 (comment)", "SGVs\r\nbG8", "Hello" },
		{ "base64", "SGVsbG8=\nISE=\n", "Hello!!" },
		{ "base64", "SGVsb", "Hel" },
		{ "base64", "====", "" },
		{ "quoted-printable", "a=3D=\nb=20\nc=\r\nd =zz", "a=b \ncd =zz" },
		{ "8bit", "caf\u00e9", "caf\u00e9" },
		{ "unheard-of", "as it is", "as it is" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime mime = read_text(arena,
			mr_arena_printf(arena, "Content-Transfer-Encoding: %s\n\n%s",
				cases[i].encoding, cases[i].body));

		CHECK_STR(mime.body_text, cases[i].want);
	}
}

static void finds_boundaries(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	/* An outer boundary ends the inner part; one that only begins alike is none. */
	struct mr_mime mime = read_text(arena,
		"Content-Type: multipart/mixed; boundary=out\n\npreamble\n--out\n"
		"Content-Type: multipart/mixed; boundary=out-in\n\n--out-in\n\nfirst\n--outer\n"
		"--out-inside\n--out \t\n\nsecond\n--out--\nepilogue\n--out\n\nthird\n");

	CHECK_INT(mime.part_count, 4);
	CHECK_STR(mime.body_text, "first\n--outer\n--out-inside\nsecond");
	CHECK_INT(mime.parts[2].parent, 1);
	CHECK_INT(mime.parts[3].parent, 0);
	/* Without its last boundary the part goes on to the end. */
	mime = read_text(arena, "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nto the end\n");
	CHECK_STR(mime.body_text, "to the end\n");
	CHECK_STR(join(arena, mime.notes),
		"the last boundary is missing; the message may be cut off");
	/* A part that is nothing but its delimiter. */
	mime = read_text(arena, "Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n--b--");
	CHECK_INT(mime.part_count, 3);
	CHECK_STR(mime.body_text, "");
}

static void joins_flowed_lines(void)
{
	static const struct {
		const char *params, *body, *want;
	} cases[] = {
		{ "format=flowed", "one \ntwo\nthree \n\n-- \nme", "one two\nthree \n-- \nme" },
		{ "format=flowed; delsp=yes", "one \ntwo\n", "onetwo\n" },
		{ "format=flowed", "> a \n> b\n>> c \nd\n", "> a b\n>> c \nd\n" },
		{ "format=flowed", " From me\n  x\n", "From me\n x\n" },
		{ "format=fixed", "one \ntwo", "one \ntwo" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime mime = read_text(arena,
			mr_arena_printf(arena, "Content-Type: text/plain; %s\n\n%s",
				cases[i].params, cases[i].body));

		CHECK_STR(mime.body_text, cases[i].want);
	}
}

static void decodes_charsets(void)
{
	static const struct {
		const char *charset, *body, *want, *note;
	} cases[] = {
		{ "iso-8859-1", "caf\xe9 \x80", "caf\u00e9 \u20ac", "" },
		{ "x-klingon", "caf\xc3\xa9 \xff", "caf\u00e9 \ufffd",
			"the charset \"x-klingon\" is not known; read as UTF-8" },
		{ "utf-8//translit", "caf\xc3\xa9", "caf\u00e9", "" },
		{ "utf-16", "\xff\xfe\x61\x20\xff", "\u2061\ufffd", "" },
		{ "us-ascii", "\xe9", "\ufffd", "" },
		{ "gb18030", "\xd2\xbb\xff", "\u4e00\ufffd", "" },
		{ "utf-7", "+AOk-", "\u00e9", "" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mime mime = read_text(arena,
			mr_arena_printf(arena, "Content-Type: text/plain; charset=\"%s\"\n\n%s",
				cases[i].charset, cases[i].body));

		CHECK_STR(mime.body_text, cases[i].want);
		CHECK_STR(join(arena, mime.notes), cases[i].note);
	}
}

static struct mr_mime read_built(struct mr_arena *arena, struct mr_buf *buf)
{
	CHECK(!buf->failed);
	return read_bytes(arena, mr_buf_bytes(buf));
}

static void bounds_hostile_structure(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mime mime;

	mr_buf_init(&buf, 64 << 20);
	mr_buf_puts(&buf, "Content-Type: multipart/mixed; boundary=b\n\n");
	for (int i = 0; i < 10000; i++)
		mr_buf_puts(&buf, "--b\nContent-Type: image/png\n\nx\n");
	mime = read_built(arena, &buf);
	CHECK_INT(mime.part_count, MR_MIME_PARTS);
	CHECK_INT(mime.attachment_count, MR_MIME_PARTS - 1);
	CHECK_STR(join(arena, mime.notes),
		"there are more than 1000 parts; the rest is not listed");

	mr_buf_clear(&buf);
	for (int i = 0; i < 1000; i++)
		mr_buf_printf(&buf, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i);
	mime = read_built(arena, &buf);
	CHECK_INT(mime.part_count, MR_MIME_DEPTH + 1);
	CHECK_INT(mime.attachment_count, 1);
	CHECK(mr_str_starts(mime.notes.items[0], "parts are nested more than 50 deep"));
}

static void bounds_hostile_headers(void)
{
	static const char *const texts[] = { "a:", "\"", "(", "<", ",", "a@b,",
		"=?utf-8?Q?a?= ", "=?utf-8?Q?", "@a,@b:", "(\"", "x:;", "\\", " \r\n ", "\xff",
		"a <" };
	static const char *const names[] = { "To", "Subject", "References",
		"Content-Type: text/plain;x=y", "Content-Disposition: x;y=z", "Date", "X" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mime mime;

	mr_buf_init(&buf, 64 << 20);
	for (size_t i = 0; i < MR_LEN(texts) * MR_LEN(names); i++) {
		struct mr_arena *once MR_CLEANUP(mr_arena_freep) = mr_arena_new();

		mr_buf_clear(&buf);
		mr_buf_printf(&buf, "%s: ", names[i % MR_LEN(names)]);
		/* One of them is really large; the others need not be, to show what they cost. */
		while (buf.len < (i == 0 ? 1 << 20 : 32 << 10))
			mr_buf_puts(&buf, texts[i / MR_LEN(names)]);
		mr_buf_puts(&buf, "\nMessage-ID: <x@y>\n\nbody");
		mime = read_built(once, &buf);
		CHECK_STR(mime.message_id, "x@y");
		CHECK_STR(mime.body_text, "body");
		CHECK(mime.to.len <= MR_MIME_ADDRESSES && mime.references.len <= MR_MIME_IDS);
	}
	mr_buf_clear(&buf);
	for (int i = 0; i < 100000; i++)
		mr_buf_puts(&buf, "X: y\n");
	mr_buf_puts(&buf, "\nbody");
	mime = read_built(arena, &buf);
	CHECK_INT(mime.field_count, MR_MIME_FIELDS);
	CHECK_STR(mime.body_text, "body");
	CHECK(mr_str_starts(mime.notes.items[0], "the header has more than 5000 fields"));
}

static void bounds_hostile_bodies(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bytes bytes;
	struct mr_mime mime;
	struct mr_err err;

	mr_buf_init(&buf, 64 << 20);
	mr_buf_puts(&buf, "Subject: big\n\n");
	mr_buf_pad(&buf, 'x', 50 << 20);
	mime = read_built(arena, &buf);
	CHECK_INT(strlen(mime.body_text), MR_MIME_TEXT_BYTES);
	CHECK_INT(mime.notes.len, 2);
	CHECK(mr_arena_size(arena) < 32 << 20);
	CHECK_OK(mr_mime_part_read(arena, &mime, "0", &bytes, &err), err);
	CHECK_INT(bytes.len, 50 << 20);
	/* The size is looked at before the bytes are. */
	CHECK_ERR(mr_mime_parse(arena, mr_bytes_of("", (size_t)MR_MIME_BYTES + 1), &mime, &err),
		err, MR_ELIMIT, "a message of 268435457 bytes is too big (at most 268435456)");
}

static void drops_nul_and_controls(void)
{
	static const char mail[] = "Subject: a\0b\x1b[2J\nFrom: x\0y@z\n\nb\0o\x07\r\ndy\0";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mime mime = read_bytes(arena, mr_bytes_of(mail, sizeof(mail) - 1));

	CHECK_STR(mime.subject, "a b [2J");
	CHECK_STR(list(arena, mime.from), "x y@z");
	CHECK_STR(mime.body_text, "bo\ndy");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_recorded_mails),
		TEST(reads_other_fields),
		TEST(joins_folded_lines),
		TEST(decodes_words),
		TEST(reads_addresses),
		TEST(reads_ids),
		TEST(reads_dates),
		TEST(extracts_parts),
		TEST(tells_body_from_attachments),
		TEST(reads_file_names),
		TEST(decodes_transfer_encodings),
		TEST(finds_boundaries),
		TEST(joins_flowed_lines),
		TEST(decodes_charsets),
		TEST(bounds_hostile_structure),
		TEST(bounds_hostile_headers),
		TEST(bounds_hostile_bodies),
		TEST(drops_nul_and_controls),
	};

	return test_main(tests, MR_LEN(tests));
}
