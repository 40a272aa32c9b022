/* tests/unit/workspace/test_work_search.c */
#include "workspace/search.h"

#include "desk.h"
#include "post.h"
#include "test.h"
#include "workspace/disposition.h"

#include <stdio.h>
#include <string.h>

#define INVOICE  "message_20260301_0000000000000001"
#define CAFE     "message_20260305_0000000000000002"
#define JAPANESE "message_20260309_0000000000000003"
#define PICTURES "message_20260310_0000000000000004"

static void put(const char *id, const char *head, const char *body)
{
	char path[128], text[4096];

	snprintf(path, sizeof(path), ".afmail/messages/%s.eml", id);
	snprintf(text, sizeof(text), "Message-ID: <%s@example.com>\r\n%s\r\n%s\r\n", id, head,
		body);
	desk_put(path, text);
}

static void set_up(struct desk *desk)
{
	desk_open(desk);
	put(INVOICE,
		"From: Ann Lee <ann@example.com>\r\nTo: me@example.org\r\n"
		"Date: Sun, 01 Mar 2026 10:00:00 +0000\r\nSubject: Invoice 4711\r\n",
		"Please pay the invoice of the full-text project by Friday.");
	put(CAFE,
		"From: Ben <ben@example.net>\r\nTo: Ann Lee <ann@example.com>\r\n"
		"Date: Thu, 05 Mar 2026 10:00:00 +0000\r\nSubject: Re: payment\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n",
		"See you in the Caf\xc3\xa9 M\xc3\xbcller. The invoice is paid.");
	put(JAPANESE,
		"From: tanaka@example.jp\r\nTo: me@example.org\r\n"
		"Date: Mon, 09 Mar 2026 10:00:00 +0000\r\nSubject: hello\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n",
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe6\x9c\xac");
	put(PICTURES,
		"From: Ann Lee <ann@example.com>\r\nTo: me@example.org\r\n"
		"Subject: holidays\r\nMIME-Version: 1.0\r\n"
		"Content-Type: multipart/mixed; boundary=b\r\n",
		"--b\r\nContent-Type: text/plain\r\n\r\nlook\r\n--b\r\n"
		"Content-Type: image/png; name=sunset-beach.png\r\n"
		"Content-Disposition: attachment; filename=sunset-beach.png\r\n\r\nx\r\n--b--");
	desk_next(desk);
}

static const char *found(struct desk *desk, const struct mr_work_search *request)
{
	struct mr_work_hits hits = { 0 };
	const char *line = "";

	CHECK_OK(mr_work_search(&desk->cx, desk->work, request, &hits), desk->cx.err);
	CHECK_STR(hits.query, request->query);
	CHECK_INT(hits.count, hits.len);
	for (size_t i = 0; i < hits.len; i++)
		line = mr_arena_printf(desk->cx.arena, "%s%s%s", line, i ? " " : "",
			hits.items[i].message_id);
	return line;
}

static void finds_words_everywhere(void)
{
	static const struct {
		const char *query, *want;
	} cases[] = {
		{ "invoice", INVOICE " " CAFE }, /* the subject counts more */
		{ "INVOICE paid", CAFE },
		{ "\"the invoice\"", CAFE " " INVOICE },
		{ "\"invoice the\"", "" },
		{ "cafe muller", CAFE }, /* accents and case do not matter */
		{ "paym*", CAFE },
		{ "full-text", INVOICE },
		{ "ann@example.com", PICTURES " " INVOICE " " CAFE }, /* also as a recipient */
		{ "from:ann@example.com", PICTURES " " INVOICE },
		{ "from:lee -invoice", PICTURES },
		{ "to:ann", CAFE },
		{ "subject:invoice", INVOICE },
		{ "body:invoice -subject:invoice", CAFE },
		{ "subject:(payment OR hello)", JAPANESE " " CAFE },
		{ "sunset", PICTURES },
		{ "attachment:beach", PICTURES },
		{ "body:beach", "" },
		{ "\xe6\x9c\xac", JAPANESE }, /* a script without blanks: in the text itself */
		{ "-invoice", PICTURES " " JAPANESE },
		{ "since:2026-03-05", JAPANESE " " CAFE },
		{ "until:2026-03-05", CAFE " " INVOICE },
		{ "since:3d", JAPANESE },
		{ "-since:2026-03-05", PICTURES " " INVOICE }, /* one has no time */
		{ "has:attachment", PICTURES },
		{ "status:triage invoice", INVOICE " " CAFE },
		{ "status:spam", "" },
		{ "status:spam OR status:triage has:attachment", PICTURES },
		{ "nowhere", "" },
	};
	struct desk desk;

	set_up(&desk);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_work_search request = { .query = cases[i].query };
		const char *ids = found(&desk, &request);

		if (strcmp(ids, cases[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s: %s, not %s", cases[i].query, ids,
				cases[i].want);
	}
	desk_close(&desk);
}

static void options_narrow(void)
{
	struct mr_work_discard discard = { { (const char *[]){ CAFE, NULL }, 1 }, "r" };
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	set_up(&desk);
	POST_OK(&desk, mr_work_message_spam(&desk.cx, desk.work, &discard, &discarded));
	CHECK_STR(found(&desk, &(struct mr_work_search){ "invoice", .status = "triage" }), INVOICE);
	CHECK_STR(found(&desk, &(struct mr_work_search){ "invoice", .status = "spam" }), CAFE);
	CHECK_STR(found(&desk, &(struct mr_work_search){ "status:spam", .status = "triage" }), "");
	CHECK_STR(found(&desk, &(struct mr_work_search){ "invoice", .since = "2026-03-02" }), CAFE);
	CHECK_STR(found(&desk, &(struct mr_work_search){ "invoice", .until = "2026-03-01" }),
		INVOICE);
	CHECK_STR(found(&desk, &(struct mr_work_search){ "invoice", .until = "7d" }), INVOICE);
	CHECK_STR(found(&desk, &(struct mr_work_search){ "invoice", .limit = 1 }), INVOICE);
	desk_close(&desk);
}

static void tells_where(void)
{
	struct mr_work_search request = { .query = "invoice" };
	struct mr_work_hits hits = { 0 };
	struct desk desk;

	set_up(&desk);
	desk_put("triage/" INVOICE ".md", "x");
	CHECK_OK(mr_work_search(&desk.cx, desk.work, &request, &hits), desk.cx.err);
	CHECK_STR(hits.items[0].from, "Ann Lee <ann@example.com>");
	CHECK_STR(hits.items[0].subject, "Invoice 4711");
	CHECK_STR(hits.items[0].status, "triage");
	CHECK_STR(hits.items[0].time, "2026-03-01T10:00:00Z");
	CHECK_STR(hits.items[0].view_path, "triage/" INVOICE ".md");
	CHECK_STR(hits.items[0].snippet.text,
		"Please pay the invoice of the full-text project by Friday.");
	CHECK_INT(hits.items[0].snippet.hit_count, 1);
	CHECK_INT(hits.items[0].snippet.hits[0].start, strlen("Please pay the "));
	CHECK_STR(hits.items[1].view_path, NULL);
	request.query = "holidays";
	CHECK_OK(mr_work_search(&desk.cx, desk.work, &request, &hits), desk.cx.err);
	CHECK_STR(hits.items[0].time, NULL);
	desk_close(&desk);
}

static void refuses(const struct mr_work_search *request, const char *why)
{
	struct mr_work_hits hits = { 0 };
	struct desk desk;

	set_up(&desk);
	desk_check_fail(&desk, mr_work_search(&desk.cx, desk.work, request, &hits),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, why);
	desk_close(&desk);
}

static void says_what_is_wrong(void)
{
	refuses(&(struct mr_work_search){ " " },
		"there is nothing to look for: the query is empty");
	refuses(&(struct mr_work_search){ "say \"hi" },
		"the query cannot be understood: a quotation mark has no second one; put words in "
		"quotation marks to look for them as they are");
	refuses(&(struct mr_work_search){ "since:yore" },
		"the filter since:yore makes no sense: expected a date, a time or a duration "
		"(2026-03-11, 7d); to look for these words, put them in quotation marks");
	refuses(&(struct mr_work_search){ "a", .until = "yore" },
		"--until yore makes no sense: expected a date, a time or a duration (2026-03-11, "
		"7d)");
	refuses(&(struct mr_work_search){ "a", .since = "" },
		"--since  makes no sense: expected a date, a time or a duration (2026-03-11, 7d)");
	refuses(&(struct mr_work_search){ "a", .status = "new" },
		"there is no status new: expected triage, case, archived, spam, trashed or "
		"deleted_remote");
	refuses(&(struct mr_work_search){ "a", .limit = 1001 },
		"--limit must be between 1 and 1000");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(finds_words_everywhere),
		TEST(options_narrow),
		TEST(tells_where),
		TEST(says_what_is_wrong),
	};

	return test_main(tests, MR_LEN(tests));
}
