/* tests/unit/workspace/test_work_view.c */
#include "workspace/view.h"

#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/case.h"
#include "workspace/disposition.h"
#include "workspace/edit_contact.h"
#include "workspace/import.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"
#include "workspace/view_private.h"

#include <string.h>
#include <unistd.h>

#define CORPUS   TEST_CORPUS "/mime/"
#define T3       "message_20260512_72e6681c366ce12c"
#define CASE     "cases/open/c20260512001-Meet"
#define CATEGORY "archive/notifications/a20260518001-N"

/* --- mail and lists to look at --- */

static void import_files(struct desk *desk, const char **paths, size_t count)
{
	struct mr_work_import request = { .paths = { paths, count }, .base = test_dir() };
	struct mr_work_imported imported = { 0 };

	POST_OK(desk, mr_work_import(&desk->cx, desk->work, &request, &imported));
	CHECK_INT(imported.new_message_count, count);
}
#define IMPORT(desk, ...)                                                                          \
	import_files(desk, (const char *[]){ __VA_ARGS__, NULL },                                  \
		sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))

/* A mail of this text under this id. */
static const char *view_of(struct desk *desk, const char *text)
{
	struct mr_work_record record = { 0 };
	const char *view = NULL;

	desk_put(mr_work_path_eml(desk->cx.arena, "message_x"), text);
	desk_next(desk);
	CHECK_OK(mr_work_record_make(&desk->cx, desk->work, "message_x", &record), desk->cx.err);
	CHECK_OK(mr_work_view_section(&desk->cx, desk->work, &record, "triage", &view),
		desk->cx.err);
	return view;
}

static void create_case(struct desk *desk, const char *name, const char *message_id)
{
	struct mr_work_case_create request = { .name = name, .message = message_id, .reason = "r" };

	POST_OK(desk,
		mr_work_case_create(&desk->cx, desk->work, &request,
			&(struct mr_work_case_created){ 0 }));
}

static void add(struct desk *desk, const char *message_id)
{
	struct mr_work_case_add request = { .case_ref = "c20260512001",
		.message_ids = { (const char *[]){ message_id, NULL }, 1 },
		.reason = "r" };

	POST_OK(desk,
		mr_work_case_add(&desk->cx, desk->work, &request,
			&(struct mr_work_case_added){ 0 }));
}

/* The file has these lines, in this order, among others. A line that ends with a blank is the
 * beginning of one: what follows is a time. */
static void check_lines(struct desk *desk, const char *path, const char *const *lines)
{
	const char *at = desk_text(desk, path);

	for (; *lines; lines++) {
		size_t len = strlen(*lines);
		bool is_begin = mr_str_ends(*lines, ": ");

		for (;;) {
			const char *end = strchr(at, '\n');

			if (!end)
				test_fail(__FILE__, __LINE__, "%s lacks the line: %s", path,
					*lines);
			if ((size_t)(end - at) >= len && memcmp(at, *lines, len) == 0 &&
				(is_begin || (size_t)(end - at) == len))
				break;
			at = end + 1;
		}
		at = strchr(at, '\n') + 1;
	}
}

/* --- lines that views are known to have --- */

/* clang-format off */
static const char *const CASE_LINES[] = {
	"# Meet",
	"Case: c20260512001 · Status: active · Messages: 3",
	"## 1. ← Received: Meeting on Friday",
	"- From: Erin <erin@thread.example.org>",
	"- Message: [message_20260512_821aeaa75b613e26](views/messages/message_20260512_821aeaa75b613e26.md)",
	"- Time: 2026-05-12 13:30",
	"## 2. ← Received reply: Re: Meeting on Friday",
	"- From: Frank <frank@thread.example.org>",
	"- Message: [message_20260512_e65225ec34320f55](views/messages/message_20260512_e65225ec34320f55.md)",
	"- Time: 2026-05-12 14:30",
	"## 3. ← Received reply: Re: Meeting on Friday",
	"- From: Erin <erin@thread.example.org>",
	"- Message: [message_20260512_72e6681c366ce12c](views/messages/message_20260512_72e6681c366ce12c.md)",
	"- Time: 2026-05-12 15:30",
	"<!-- afmail:conversation:start -->",
	"### Received from Frank <frank@thread.example.org> - 2026-05-12T09:00:00Z",
	"Message: `message_20260512_e65225ec34320f55`",
	"From: Frank <frank@thread.example.org>",
	"Subject: Re: Meeting on Friday",
	"To: Erin <erin@thread.example.org>, Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"### Received from Erin <erin@thread.example.org> - 2026-05-12T08:00:00Z",
	"Message: `message_20260512_821aeaa75b613e26`",
	"From: Erin <erin@thread.example.org>",
	"Subject: Meeting on Friday",
	"To: Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"### Received from Erin <erin@thread.example.org> - 2026-05-12T10:00:00Z",
	"Message: `message_20260512_72e6681c366ce12c`",
	"From: Erin <erin@thread.example.org>",
	"Subject: Re: Meeting on Friday",
	"To: Frank <frank@thread.example.org>, Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"<!-- afmail:conversation:end -->",
	NULL,
};

static const char *const MEMBER_LINES[] = {
	"---",
	"kind: case_message",
	"case_uid: c20260512001",
	"case_name: \"Meet\"",
	"message_id: message_20260512_72e6681c366ce12c",
	"generated_rfc3339: ",
	"---",
	"# Re: Meeting on Friday",
	"Case: Meet (`c20260512001`)",
	"Message: `message_20260512_72e6681c366ce12c`",
	"<!-- afmail:conversation:start -->",
	"### Received from Erin <erin@thread.example.org> - 2026-05-12T10:00:00Z",
	"Message: `message_20260512_72e6681c366ce12c`",
	"From: Erin <erin@thread.example.org>",
	"Subject: Re: Meeting on Friday",
	"To: Frank <frank@thread.example.org>, Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"<!-- afmail:conversation:end -->",
	NULL,
};

static const char *const TRIAGE_LINES[] = {
	"---",
	"kind: triage_view",
	"message_id: message_20260512_e65225ec34320f55",
	"message_ids:",
	"  - message_20260512_e65225ec34320f55",
	"generated_rfc3339: ",
	"message_count: 1",
	"attachment_count: 0",
	"suggested_case_uids:",
	"  - c20260512001",
	"---",
	"# Re: Meeting on Friday",
	"Suggested case UIDs: `c20260512001`",
	"| `message_20260512_821aeaa75b613e26` | inbound | Erin <erin@thread.example.org> | Meeting on Friday | 2026-05-12T08:00:00Z | case |",
	"<!-- afmail:conversation:start -->",
	"### Received from Frank <frank@thread.example.org> - 2026-05-12T09:00:00Z",
	"Message: `message_20260512_e65225ec34320f55`",
	"From: Frank <frank@thread.example.org>",
	"Subject: Re: Meeting on Friday",
	"To: Erin <erin@thread.example.org>, Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"<!-- afmail:conversation:end -->",
	NULL,
};

static const char *const SPAM_INDEX_LINES[] = {
	"---",
	"kind: spam_message_index",
	"status: spam",
	"generated_rfc3339: ",
	"message_count: 1",
	"---",
	"# Spam",
	"## 1. ← Received: You won",
	"- From: Prize <prize@win.example>",
	"- Message: [message_20260517_5b7114f482b9825c](message_20260517_5b7114f482b9825c.md)",
	"- Workspace status: Spam (`spam`)",
	"- Time: 2026-05-17 03:00",
	NULL,
};

static const char *const SPAM_LINES[] = {
	"---",
	"kind: spam_message",
	"message_id: message_20260517_5b7114f482b9825c",
	"status: spam",
	"generated_rfc3339: ",
	"---",
	"# You won",
	"### Received from Prize <prize@win.example> - 2026-05-17T03:00:00Z",
	"Message: `message_20260517_5b7114f482b9825c`",
	"From: Prize <prize@win.example>",
	"Subject: You won",
	"To: Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	NULL,
};

static const char *const ARCHIVE_LINES[] = {
	"# Archive Messages: N (`a20260518001`)",
	"## 1. ← Received: May receipt",
	"- From: Billing <billing@service.example>",
	"- Message: [message_20260518_06d53266ad33fc88](views/messages/message_20260518_06d53266ad33fc88.md)",
	"- Time: 2026-05-18 07:00",
	"## 2. ← Received: Invoice 17 is ready",
	"- From: Alice Adams <alice@example.org>",
	"- Message: [message_20260504_2f9303e348dccc2f](views/messages/message_20260504_2f9303e348dccc2f.md)",
	"- Time: 2026-05-04 07:15",
	NULL,
};

static const char *const ARCHIVED_LINES[] = {
	"---",
	"kind: archive_message",
	"message_id: message_20260504_2f9303e348dccc2f",
	"archive_uid: a20260518001",
	"archive_name: \"N\"",
	"added_rfc3339: ",
	"generated_rfc3339: ",
	"---",
	"# Invoice 17 is ready",
	"### Received from Alice Adams <alice@example.org> - 2026-05-04T09:15:00+02:00",
	"Message: `message_20260504_2f9303e348dccc2f`",
	"From: Alice Adams <alice@example.org>",
	"Subject: Invoice 17 is ready",
	"To: Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	NULL,
};

static const char *const CONTACT_LINES[] = {
	"---",
	"kind: triage_view",
	"message_id: message_20260504_2f9303e348dccc2f",
	"message_ids:",
	"  - message_20260504_2f9303e348dccc2f",
	"generated_rfc3339: ",
	"message_count: 1",
	"attachment_count: 0",
	"---",
	"# Invoice 17 is ready",
	"<!-- afmail:conversation:start -->",
	"### Received from Alice Adams <alice@example.org> - 2026-05-04T09:15:00+02:00",
	"Message: `message_20260504_2f9303e348dccc2f`",
	"From: Alice Adams <alice@example.org>",
	"Contact: Alice (`p20260311001`)",
	"Subject: Invoice 17 is ready",
	"To: Me Tester <me@example.com>",
	"Identity: me <me@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"<!-- afmail:conversation:end -->",
	NULL,
};

static const char *const PERSONA_LINES[] = {
	"---",
	"kind: triage_view",
	"message_id: message_20260519_75c12ee4e12170ab",
	"message_ids:",
	"  - message_20260519_75c12ee4e12170ab",
	"generated_rfc3339: ",
	"message_count: 1",
	"attachment_count: 0",
	"---",
	"# To the support persona",
	"<!-- afmail:conversation:start -->",
	"### Received from Judy <judy@example.org> - 2026-05-19T07:00:00Z",
	"Message: `message_20260519_75c12ee4e12170ab`",
	"From: Judy <judy@example.org>",
	"Subject: To the support persona",
	"To: Support Team <hello@example.com>",
	"Identity: support <hello@example.com>",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"<!-- afmail:conversation:end -->",
	NULL,
};

static const char *const STRANGER_LINES[] = {
	"---",
	"kind: triage_view",
	"message_id: message_20260519_f98c8aac5252f026",
	"message_ids:",
	"  - message_20260519_f98c8aac5252f026",
	"generated_rfc3339: ",
	"message_count: 1",
	"attachment_count: 0",
	"---",
	"# Not to us",
	"<!-- afmail:conversation:start -->",
	"### Received from Judy <judy@example.org> - 2026-05-19T08:00:00Z",
	"Message: `message_20260519_f98c8aac5252f026`",
	"From: Judy <judy@example.org>",
	"Subject: Not to us",
	"To: someone@elsewhere.example, Other <other@elsewhere.example>",
	"Identity: unmatched (observed: someone@elsewhere.example, other@elsewhere.example)",
	"Warnings:",
	"- Authentication: SPF is missing",
	"- Authentication: DKIM is missing",
	"- Authentication: DMARC is missing",
	"```text",
	"```",
	"<!-- afmail:conversation:end -->",
	NULL,
};
/* clang-format on */

static void of_case(void)
{
	struct desk desk;

	post_open(&desk);
	post_set(&desk, "workspace.timezone_utc_offset", "+05:30");
	IMPORT(&desk, CORPUS "thread1.eml", CORPUS "thread2.eml", CORPUS "thread3.eml");
	create_case(&desk, "Meet", T2);
	add(&desk, T1);
	add(&desk, T3);
	check_lines(&desk, CASE "/case.md", CASE_LINES);
	check_lines(&desk, CASE "/views/messages/" T3 ".md", MEMBER_LINES);
	desk_close(&desk);
}

/* The fresh text is the same as the file, but for its time. */
static void fresh(void)
{
	const char *text = NULL;
	struct desk desk;

	post_open(&desk);
	IMPORT(&desk, CORPUS "thread1.eml");
	create_case(&desk, "Meet", T1);
	CHECK_OK(mr_work_view_case(&desk.cx, desk.work, CASE, &text), desk.cx.err);
	CHECK(strstr(text, "# Meet\n"));
	CHECK(strstr(text, "Case: c20260512001 · Status: active · Messages: 1\n"));
	desk_check_fail(&desk, mr_work_view_case(&desk.cx, desk.work, "cases/open/c1-x", &text),
		"case_metadata_invalid", NULL, NULL);
	desk_check_fail(&desk,
		mr_work_view_category(&desk.cx, desk.work, "archive/notifications/a1-x", &text),
		"archive_messages_invalid", NULL, NULL);
	desk_close(&desk);
}

static void of_triage(void)
{
	struct desk desk;

	post_open(&desk);
	IMPORT(&desk, CORPUS "thread1.eml");
	create_case(&desk, "Meet", T1);
	IMPORT(&desk, CORPUS "thread2.eml", CORPUS "thread4.eml");
	check_lines(&desk, "triage/" T2 ".md", TRIAGE_LINES);
	CHECK(strstr(desk_text(&desk, "triage/" T2 ".md"),
		"Suggested because: The message answers one of this case.\n"));
	desk_close(&desk);
}

/* A related message that cannot be read does not hide this one. */
static void of_triage_with_broken_related(void)
{
	struct mr_work_refreshed refreshed = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, T2, NULL);
	CHECK(unlink("triage/" T2 ".md") == 0);
	CHECK(unlink(mr_work_path_eml(desk.cx.arena, T1)) == 0);
	CHECK(unlink(mr_work_path_record(desk.cx.arena, T1)) == 0);
	CHECK_OK(mr_work_refresh(&desk.cx, desk.work,
			 &(struct mr_work_stale){
				 .messages = { (const char *[]){ T2, NULL }, 1 } }),
		desk.cx.err);
	CHECK(desk_has("triage/" T2 ".md"));
	POST_OK(&desk, mr_work_refresh_all(&desk.cx, desk.work, &refreshed));
	CHECK(!desk_has("triage/" T1 ".md"));
	desk_close(&desk);
}

static void of_spam(void)
{
	struct mr_work_discard request = { { (const char *[]){ SPAM, NULL }, 1 }, "r" };
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	post_open(&desk);
	IMPORT(&desk, CORPUS "spam.eml");
	POST_OK(&desk, mr_work_message_spam(&desk.cx, desk.work, &request, &discarded));
	check_lines(&desk, "spam/index.md", SPAM_INDEX_LINES);
	check_lines(&desk, "spam/" SPAM ".md", SPAM_LINES);
	desk_close(&desk);
}

static void of_category(void)
{
	struct mr_work_archive_create request = { "N", NOTICE, "May receipt", "r" };
	struct mr_work_archive_message more = { .archive_ref = "a20260518001",
		.message_id = PLAIN,
		.summary = "",
		.reason = "r" };
	struct mr_work_message_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	IMPORT(&desk, CORPUS "notice.eml", CORPUS "plain.eml");
	POST_OK(&desk,
		mr_work_archive_create(&desk.cx, desk.work, &request,
			&(struct mr_work_archive_created){ 0 }));
	POST_OK(&desk, mr_work_archive_add(&desk.cx, desk.work, &more, &archived));
	check_lines(&desk, CATEGORY "/archive.md", ARCHIVE_LINES);
	check_lines(&desk, CATEGORY "/views/messages/" PLAIN ".md", ARCHIVED_LINES);
	desk_close(&desk);
}

static void of_people(void)
{
	struct mr_work_contact_create request = { .name = "Alice",
		.email = { (const char *[]){ "alice@example.org", NULL }, 1 } };
	struct desk desk;

	post_open(&desk);
	post_set_json(&desk, "identities",
		"[{\"identity\": \"me\", \"name\": \"Me Tester\", \"email\": "
		"\"me@example.com\", \"default\": true}, {\"identity\": \"support\", \"name\": "
		"\"Support Team\", \"email\": \"hello@example.com\"}, {\"identity\": \"sales\", "
		"\"name\": \"Sales Team\", \"email\": \"hello@example.com\"}]");
	IMPORT(&desk, CORPUS "personas.eml", CORPUS "plain.eml", CORPUS "stranger.eml");
	POST_OK(&desk,
		mr_work_contact_create(&desk.cx, desk.work, &request,
			&(struct mr_work_contact_created){ 0 }));
	check_lines(&desk, "triage/" PLAIN ".md", CONTACT_LINES);
	check_lines(&desk, "triage/message_20260519_75c12ee4e12170ab.md", PERSONA_LINES);
	check_lines(&desk, "triage/message_20260519_f98c8aac5252f026.md", STRANGER_LINES);
	desk_close(&desk);
}

static void in_chinese(void)
{
	static const char *const lines[] = { "# 发票",
		"事项: c20260504001 · 状态: active · 消息: 1", "## 1. ← 收到: Invoice 17 is ready",
		"- 发件人: Alice Adams <alice@example.org>", "- 时间: 2026-05-04 07:15",
		"### 收到自 Alice Adams <alice@example.org> - 2026-05-04T09:15:00+02:00", NULL };
	struct desk desk;

	post_open(&desk);
	post_set(&desk, "workspace.language_bcp47", "zh-Hans");
	IMPORT(&desk, CORPUS "plain.eml", CORPUS "thread1.eml");
	create_case(&desk, "发票", PLAIN);
	CHECK_STR(desk_text(&desk, "cases/open/c20260504001-发票/notes.md"), "# 备注\n\n");
	check_lines(&desk, "cases/open/c20260504001-发票/case.md", lines);
	/* No English sentence in between. */
	create_case(&desk, "会", T1);
	IMPORT(&desk, CORPUS "thread2.eml");
	CHECK(strstr(desk_text(&desk, "triage/" T2 ".md"), "c20260512001"));
	CHECK(!strstr(desk_text(&desk, "triage/" T2 ".md"), "The message"));
	desk_close(&desk);
}

/* --- sections --- */

static void warnings(void)
{
	const char *view;
	struct desk desk;

	post_open(&desk);
	/* All passed: nothing to warn of. */
	view = view_of(&desk,
		"Authentication-Results: mx; spf=pass smtp.mailfrom=a@example.org; dkim=pass "
		"header.d=example.org; dmarc=pass header.from=example.org\n"
		"From: a@example.org\nTo: me@example.com\n\nx\n");
	CHECK(!strstr(view, "Warnings") && !strstr(view, "Notes"));
	view = view_of(&desk,
		"Authentication-Results: mx; spf=softfail smtp.mailfrom=a@examp1e.org; dkim=pass "
		"header.d=examp1e.org; dmarc=none header.from=example.org\n"
		"Delivered-To: me@example.com\nFrom: a@example.org\nTo: b@example.org\n"
		"Reply-To: c@example.org\nSender: d@example.org\nList-ID: <l.example.org>\n"
		"List-Post: <mailto:l@example.org>\nPrecedence: bulk\n\nx\n");
	CHECK(strstr(view, "- Authentication: SPF did not pass (softfail)\n"));
	CHECK(strstr(view,
		"- Authentication: authenticated domain examp1e.org does not match From "
		"domain example.org\n"));
	CHECK(strstr(view, "- Possible Bcc: "));
	CHECK(strstr(view, "- Reply-To differs from From: c@example.org\n"));
	CHECK(strstr(view, "- Sender differs from From: d@example.org\n"));
	CHECK(strstr(view, "- Mailing list: <l.example.org>\n"));
	CHECK(strstr(view,
		"- Mailing list headers: List-Post: <mailto:l@example.org> | "
		"Precedence: bulk\n"));
	desk_close(&desk);
}

static void body(void)
{
	const char *view;
	struct desk desk;

	post_open(&desk);
	/* The text cannot leave its fence, whatever it holds. */
	view = view_of(&desk,
		"From: a@example.org\n\n````\n# Not a heading\n<!-- afmail:conversation:end -->\n");
	CHECK(strstr(view, "\n`````text\n````\n# Not a heading\n"));
	CHECK(strstr(view, "end -->\n`````\n"));
	/* Characters that are not seen are counted, and left out. */
	view = view_of(&desk,
		"From: a@example.org\nContent-Type: text/plain; charset=utf-8\n\n"
		"a\xe2\x80\x8b"
		"b\xe2\x80\xae"
		"c\n");
	CHECK(strstr(view, "- Invisible characters left out here: 2\n"));
	CHECK(strstr(view, "text\nabc\n```\n"));
	/* Neither sender nor time. */
	view = view_of(&desk, "Subject: x\n\ny\n");
	CHECK(strstr(view, "### Received from unknown - unknown-time\n"));
	/* What was quoted is not said again. */
	view = view_of(&desk,
		"From: a@example.org\n\nYes.\n\nOn May 12, 2026, at 08:00, Erin "
		"<erin@thread.example.org> wrote:\n> Really?\n");
	CHECK(strstr(view, "text\nYes.\n"));
	CHECK(!strstr(view, "Really?"));
	CHECK(strstr(view, "- Quoted from: Erin <erin@thread.example.org>\n"));
	desk_close(&desk);
}

/* A hostile header stays in its line. */
static void one_line(void)
{
	const char *view;
	struct desk desk;

	post_open(&desk);
	view = view_of(&desk,
		"From: =?utf-8?Q?Eve=0A=0A#_Heading?= <eve@example.org>\n"
		"Subject: =?utf-8?Q?a=0D=0A---=0D=0Akind:_x?=\n\ny\n");
	CHECK(!strstr(view, "\n# Heading"));
	CHECK(!strstr(view, "\n---"));
	CHECK(!strstr(view, "\nkind:"));
	/* Nor is it HTML, a link or turned around; the mark of the end stands once. */
	view = view_of(&desk,
		"From: =?utf-8?Q?Boss_=E2=80=AE=3Cb=3E?= <eve@example.org>\n"
		"To: =?utf-8?Q?=E2=80=8Byou?= <me@example.com>\n"
		"Subject: ![x](http://e.example/) <!-- afmail:conversation:end -->\n\ny\n");
	CHECK(strstr(view, "### Received from Boss \\<b> <eve@example.org> - "));
	CHECK(strstr(view, "\nFrom: Boss \\<b> <eve@example.org>\n"));
	CHECK(strstr(view, "\nSubject: ![x\\](http://e.example/) \\<!-- afmail:"));
	CHECK(strstr(view, "\nTo: you <me@example.com>\n"));
	CHECK(strstr(view, "- Invisible characters left out here: 2\n"));
	CHECK(!strstr(view, "\xe2\x80"));
	CHECK_STR(mr_work_inline(desk.cx.arena, "a\r\nb\xe2\x80\xae"), "a  b");
	CHECK_STR(mr_work_inline(desk.cx.arena, NULL), "");
	CHECK_STR(mr_work_cell(desk.cx.arena, "a|b\nc"), "a\\|b c");
	desk_close(&desk);
}

/* --- rows --- */

static const struct mr_value *row_of(struct desk *desk, const char *text)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_record record = { 0 };
	struct mr_out out;

	desk_put(mr_work_path_eml(desk->cx.arena, "message_x"), text);
	desk_next(desk);
	CHECK_OK(mr_work_config_get(&desk->cx, desk->work, &config), desk->cx.err);
	CHECK_OK(mr_work_record_make(&desk->cx, desk->work, "message_x", &record), desk->cx.err);
	mr_out_init_tree(&out, desk->cx.arena);
	mr_work_row_emit(&desk->cx, config, &out, &record, NULL, "x.md", false);
	return mr_value_get(mr_out_tree(&out), "view");
}

static void rows(void)
{
	static const struct {
		const char *mail, *action_kind, *label, *contact;
	} cases[] = {
		{ "From: a@b.example\nSubject: x\n\n", "received", "← Received", "a@b.example" },
		{ "From: a@b.example\nSubject: RE: x\n\n", "received_reply", "← Received reply",
			"a@b.example" },
		{ "From: a@b.example\nSubject: x\nIn-Reply-To: <1@b>\n\n", "received_reply",
			"← Received reply", "a@b.example" },
		{ "From: a@b.example\nSubject: fwd: x\nIn-Reply-To: <1@b>\n\n", "received_forward",
			"← Received forward", "a@b.example" },
		{ "Message-ID: <1@afmail.local>\nTo: a@b.example, c@d.example\nSubject: Re: x\n\n",
			"sent_reply", "→ Sent reply", "a@b.example, c@d.example" },
		{ "Message-ID: <1@afmail.local>\n\n", "sent", "→ Sent", "" },
	};
	const struct mr_value *time;
	struct desk desk;

	post_open(&desk);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct mr_value *view = row_of(&desk, cases[i].mail);

		CHECK_STR(mr_value_get(view, "action_kind")->text, cases[i].action_kind);
		CHECK_STR(mr_value_get(view, "action_label")->text, cases[i].label);
		CHECK_STR(mr_value_get(view, "contact")->text, cases[i].contact);
	}
	time = mr_value_get(row_of(&desk, "Subject: x\n\n"), "time");
	CHECK_STR(mr_value_get(time, "datetime")->text, "");
	CHECK_INT(mr_value_get(time, "year")->kind, MR_NULL);
	post_set(&desk, "workspace.timezone_utc_offset", "-02:30");
	time = mr_value_get(row_of(&desk, "Date: Mon, 04 May 2026 01:15:00 +0200\n\n"), "time");
	CHECK_STR(mr_value_get(time, "original_rfc3339")->text, "2026-05-04T01:15:00+02:00");
	CHECK_STR(mr_value_get(time, "local_rfc3339")->text, "2026-05-03T20:45:00-02:30");
	CHECK_STR(mr_value_get(time, "date")->text, "2026-05-03");
	CHECK_STR(mr_value_get(time, "time")->text, "20:45");
	CHECK_STR(mr_value_get(time, "datetime")->text, "2026-05-03 20:45");
	CHECK_INT(mr_value_get(time, "day")->integer, 3);
	CHECK_INT(mr_value_get(time, "minute")->integer, 45);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(of_case), TEST(fresh), TEST(of_triage),
		TEST(of_triage_with_broken_related), TEST(of_spam), TEST(of_category),
		TEST(of_people), TEST(in_chinese), TEST(warnings), TEST(body), TEST(one_line),
		TEST(rows) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
