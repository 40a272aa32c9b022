/* tests/unit/workspace/test_work_message.c */
#include "workspace/message.h"

#include "files.h"
#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/case.h"
#include "workspace/import.h"
#include "workspace/layout.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTACHMENTS "message_20260510_144fc135c10a3b71"
#define SAVED       ".afmail/messages/" ATTACHMENTS ".files"

static struct mr_work_shown_message show(struct desk *desk, const char *id)
{
	struct mr_work_message_ref request = { id };
	struct mr_work_shown_message shown = { 0 };

	CHECK_OK(mr_work_message_show(&desk->cx, desk->work, &request, &shown), desk->cx.err);
	return shown;
}

static struct mr_work_fetched fetch(struct desk *desk, const char *part_id)
{
	struct mr_work_fetch request = { ATTACHMENTS, part_id };
	struct mr_work_fetched fetched = { 0 };

	POST_OK(desk, mr_work_attachment_fetch(&desk->cx, desk->work, &request, &fetched));
	return fetched;
}

/* A workspace with a mail of three attachments. */
static void open_with_attachments(struct desk *desk)
{
	struct mr_work_import request = {
		.paths = { (const char *[]){ TEST_CORPUS "/mime/attachments.eml", NULL }, 1 }
	};
	struct mr_work_imported imported = { 0 };

	post_open(desk);
	POST_OK(desk, mr_work_import(&desk->cx, desk->work, &request, &imported));
	CHECK_STR(imported.message_ids.items[0], ATTACHMENTS);
}

/* --- show --- */

static void shown(void)
{
	struct mr_work_shown_message got;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	got = show(&desk, PLAIN);
	CHECK_STR(got.message_id, PLAIN);
	CHECK_STR(got.from, "Alice Adams <alice@example.org>");
	CHECK_STR(got.sender, "");
	CHECK_STR(got.subject, "Invoice 17 is ready");
	CHECK_STR(got.direction, "inbound");
	CHECK_STR(post_join(&desk, &got.to), "Me Tester <me@example.com>");
	CHECK_INT(got.cc.len + got.bcc.len + got.reply_to.len, 0);
	CHECK_STR(got.received_rfc3339, "2026-05-04T09:15:00+02:00");
	CHECK_STR(got.sent_rfc3339, "");
	CHECK_STR(got.body_text, "Hello.\n");
	CHECK_INT(got.attachment_count, 0);
	CHECK_STR(post_join(&desk, &got.mailbox_ids), "inbox");
	CHECK_INT(got.flags.len, 0);
	CHECK(got.unread && !got.flagged && !got.remote_missing && !got.remote_effect_pending);
	CHECK(!got.remote_missing_since_rfc3339 && !got.push && !got.contact);
	CHECK_STR(got.identity, "me");
	CHECK_STR(got.identity_email, "me@example.com");
	CHECK_STR(got.identity_match, "email");
	CHECK_STR(got.view_path, "triage/" PLAIN ".md");
	CHECK_STR(got.json_path, "messages/" PLAIN ".json");
	CHECK_STR(mr_value_get(got.message, "schema_name")->text, "message");
	desk_close(&desk);
}

static void locations(void)
{
	struct mr_work_shown_message got;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	desk_put(mr_work_path_remote(desk.cx.arena, PLAIN),
		"{\"schema_name\": \"message_remote\", \"schema_version\": 1, \"message_id\": "
		"\"" PLAIN "\", \"locations\": [{\"mailbox_name\": \"INBOX\", \"uid_validity\": 7, "
		"\"uid\": 1, \"flags\": [\"\\\\Seen\", \"\\\\Flagged\"], \"observed_rfc3339\": "
		"\"2026-05-20T00:00:00Z\"}, {\"mailbox_name\": \"Other\", \"uid_validity\": 7, "
		"\"uid\": 2, \"flags\": [\"\\\\Draft\"], \"observed_rfc3339\": "
		"\"2026-05-20T00:00:00Z\", \"missing_rfc3339\": \"2026-05-21T00:00:00Z\"}]}\n");
	got = show(&desk, PLAIN);
	/* The mailbox of an unnamed location is found by its name, or shown by it. */
	CHECK_STR(post_join(&desk, &got.mailbox_ids), "inbox Other");
	CHECK_STR(post_join(&desk, &got.flags), "\\Flagged \\Seen");
	CHECK(!got.unread && got.flagged);
	/* One of them is there. */
	CHECK(!got.remote_missing && !got.remote_missing_since_rfc3339);
	desk_put(mr_work_path_remote(desk.cx.arena, PLAIN),
		"{\"schema_name\": \"message_remote\", \"schema_version\": 1, \"message_id\": "
		"\"" PLAIN "\", \"locations\": [{\"mailbox_name\": \"INBOX\", \"uid_validity\": 7, "
		"\"uid\": 1, \"flags\": [\"\\\\Seen\"], \"observed_rfc3339\": "
		"\"2026-05-20T00:00:00Z\", \"missing_rfc3339\": \"2026-05-21T00:00:00Z\"}]}\n");
	got = show(&desk, PLAIN);
	CHECK(got.remote_missing);
	CHECK_STR(got.remote_missing_since_rfc3339, "2026-05-21T00:00:00Z");
	desk_close(&desk);
}

/* The view is that of the place where the message is. */
static void view_path(void)
{
	struct mr_work_archive_create category = { "N", NOTICE, "s", "r" };
	struct mr_work_case_create request = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_shown_message got;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NOTICE, NULL);
	POST_OK(&desk,
		mr_work_case_create(&desk.cx, desk.work, &request,
			&(struct mr_work_case_created){ 0 }));
	CHECK_STR(show(&desk, PLAIN).view_path,
		"cases/open/c20260504001-A/views/messages/" PLAIN ".md");
	POST_OK(&desk,
		mr_work_archive_create(&desk.cx, desk.work, &category,
			&(struct mr_work_archive_created){ 0 }));
	got = show(&desk, NOTICE);
	CHECK_STR(got.view_path,
		"archive/notifications/a20260518001-N/views/messages/" NOTICE ".md");
	CHECK(got.remote_effect_pending);
	CHECK(mr_value_get(got.push, "pending"));
	/* Without the view of the message, that of the list; without both, none. */
	CHECK(unlink("cases/open/c20260504001-A/views/messages/" PLAIN ".md") == 0);
	CHECK_STR(show(&desk, PLAIN).view_path, "cases/open/c20260504001-A/case.md");
	CHECK(unlink("cases/open/c20260504001-A/case.md") == 0);
	CHECK(!show(&desk, PLAIN).view_path);
	desk_close(&desk);
}

static void not_shown(void)
{
	struct mr_work_message_ref request = { "../x" };
	struct mr_work_shown_message got = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_check_fail(&desk, mr_work_message_show(&desk.cx, desk.work, &request, &got),
		"invalid_request", NULL, NULL);
	request.message_id = PLAIN;
	desk_check_fail(&desk, mr_work_message_show(&desk.cx, desk.work, &request, &got),
		"message_not_found", NULL, NULL);
	desk_close(&desk);
}

/* --- attachments --- */

static void fetch_one(void)
{
	struct mr_work_fetched got;
	struct mr_work_shown_message message;
	struct desk desk;

	open_with_attachments(&desk);
	message = show(&desk, ATTACHMENTS);
	CHECK_INT(message.attachments_len, 3);
	CHECK(!message.attachments[0].fetched);
	CHECK_STR(message.attachments[0].file_path, "");
	CHECK_STR(message.attachments[0].storage, "");
	got = fetch(&desk, "2");
	CHECK(got.is_one);
	CHECK_INT(got.len, 1);
	CHECK_STR(got.message_id, ATTACHMENTS);
	CHECK_STR(got.items[0].message_id, ATTACHMENTS);
	CHECK_STR(got.items[0].part_id, "2");
	CHECK_STR(got.items[0].filename, "pricing.txt");
	CHECK_STR(got.items[0].saved_filename, "pricing.txt");
	CHECK_STR(got.items[0].content_type, "text/plain");
	CHECK_STR(got.items[0].storage, "message_cache");
	CHECK_STR(got.items[0].file_path, SAVED "/pricing.txt");
	CHECK_INT(got.items[0].size_bytes, 7);
	CHECK_STR(desk_text(&desk, SAVED "/pricing.txt"), "pricing");
	CHECK_INT(files_count(SAVED), 1);
	CHECK_STR(post_event(&desk, "kind"), "attachment_fetched");
	CHECK_STR(post_event(&desk, "message_id"), ATTACHMENTS);
	CHECK_STR(post_event_list(&desk, "part_ids"), "2");
	CHECK_STR(post_event_list(&desk, "targets"), "message:" ATTACHMENTS);
	message = show(&desk, ATTACHMENTS);
	CHECK(message.attachments[0].fetched && !message.attachments[1].fetched);
	CHECK_STR(message.attachments[0].file_path, SAVED "/pricing.txt");
	CHECK_STR(message.attachments[0].storage, "message_cache");
	CHECK(strstr(desk_text(&desk, "triage/" ATTACHMENTS ".md"),
		"part `2`, fetched: `" SAVED "/pricing.txt`)"));
	CHECK(strstr(desk_text(&desk, "triage/" ATTACHMENTS ".md"), "part `3`, not fetched)"));
	desk_close(&desk);
}

/* All of them, twice: the second time nothing is written, and nothing is told. */
static void fetch_all_twice(void)
{
	struct mr_work_fetched got;
	const char *events;
	struct stat before, after;
	struct desk desk;

	open_with_attachments(&desk);
	fetch(&desk, "2");
	got = fetch(&desk, NULL);
	CHECK(!got.is_one);
	CHECK_INT(got.len, 3);
	CHECK_STR(got.items[1].saved_filename, "公司资料.pdf");
	CHECK_STR(got.items[2].saved_filename, ".._café_.png");
	CHECK_STR(got.items[2].file_path, SAVED "/.._café_.png");
	CHECK_INT(files_count(SAVED), 3);
	CHECK(desk_has(SAVED "/.._café_.png"));
	CHECK(strstr(desk_text(&desk, "triage/" ATTACHMENTS ".md"),
		"](<../" SAVED "/.._café_.png>)"));
	events = desk_events(&desk);
	CHECK(stat(SAVED "/pricing.txt", &before) == 0);
	got = fetch(&desk, NULL);
	CHECK_INT(got.len, 3);
	CHECK_STR(got.items[0].file_path, SAVED "/pricing.txt");
	CHECK(stat(SAVED "/pricing.txt", &after) == 0);
	CHECK_INT(after.st_ino, before.st_ino);
	CHECK_STR(desk_events(&desk), events);
	/* One that was deleted since comes back. */
	CHECK(unlink(SAVED "/pricing.txt") == 0);
	fetch(&desk, "2");
	CHECK_STR(desk_text(&desk, SAVED "/pricing.txt"), "pricing");
	desk_close(&desk);
}

static void fetch_refused(void)
{
	struct mr_work_fetch request = { ATTACHMENTS, "9" };
	struct mr_work_fetched got = { 0 };
	struct desk desk;

	open_with_attachments(&desk);
	desk_check_fail(&desk, mr_work_attachment_fetch(&desk.cx, desk.work, &request, &got),
		"attachment_not_found", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "message " ATTACHMENTS " has no attachment with the part id 9");
	/* The text is a part, but no attachment. */
	request.part_id = "1";
	desk_check_fail(&desk, mr_work_attachment_fetch(&desk.cx, desk.work, &request, &got),
		"attachment_not_found", NULL, NULL);
	request.message_id = PLAIN;
	desk_check_fail(&desk, mr_work_attachment_fetch(&desk.cx, desk.work, &request, &got),
		"message_not_found", NULL, NULL);
	CHECK(!desk_has(SAVED));
	desk_close(&desk);
}

/* A message without attachments: there is nothing to fetch, and that is no failure. */
static void fetch_nothing(void)
{
	struct mr_work_fetch request = { PLAIN, NULL };
	struct mr_work_fetched got = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	POST_OK(&desk, mr_work_attachment_fetch(&desk.cx, desk.work, &request, &got));
	CHECK_INT(got.len, 0);
	CHECK_STR(desk_events(&desk), "");
	desk_close(&desk);
}

/* The ids of a list with blanks between. */
static const char *listed(struct desk *desk, const struct mr_work_message_list *request)
{
	struct mr_work_message_listed got = { 0 };
	const char *text = "";

	CHECK_OK(mr_work_message_list(&desk->cx, desk->work, request, &got), desk->cx.err);
	for (size_t i = 0; i < got.len; i++)
		text = mr_arena_printf(desk->cx.arena, "%s%s%s", text, i ? " " : "",
			got.items[i].message_id);
	return got.next_after ? mr_arena_printf(desk->cx.arena, "%s ...", text) : text;
}

static void lists(void)
{
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, NULL);
	CHECK_STR(listed(&desk, &(struct mr_work_message_list){ 0 }), NOTICE " " SPAM " " PLAIN);
	CHECK_STR(listed(&desk, &(struct mr_work_message_list){ .limit = 2 }),
		NOTICE " " SPAM " ...");
	CHECK_STR(listed(&desk, &(struct mr_work_message_list){ .limit = 2, .after = SPAM }),
		PLAIN);
	CHECK_STR(listed(&desk, &(struct mr_work_message_list){ .since = "2026-05-17" }),
		NOTICE " " SPAM);
	CHECK_STR(listed(&desk, &(struct mr_work_message_list){ .until = "2026-05-17" }), PLAIN);
	CHECK_STR(listed(&desk, &(struct mr_work_message_list){ .status = "spam" }), "");
	desk_close(&desk);
}

static void lists_refused(void)
{
	static const struct {
		struct mr_work_message_list request;
		const char *word;
	} wrong[] = { { { .status = "lost" }, "invalid_request" },
		{ { .since = "soon" }, "invalid_request" },
		{ { .until = "2026-13-01" }, "invalid_request" },
		{ { .after = "../x" }, "invalid_request" },
		{ { .after = PLAIN }, "message_not_found" } };
	struct mr_work_message_listed got = { 0 };
	struct desk desk;

	post_open(&desk);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		desk_check_fail(&desk,
			mr_work_message_list(&desk.cx, desk.work, &wrong[i].request, &got),
			wrong[i].word, NULL, NULL);
	desk_close(&desk);
}

static void triage_lists(void)
{
	struct mr_work_triage_list request = { .limit = 2, .details = true };
	struct mr_work_triage_listed got = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, NULL);
	CHECK_OK(mr_work_triage_list(&desk.cx, desk.work, &request, &got), desk.cx.err);
	CHECK(got.count == 2 && got.has_more && got.total_count == 3);
	CHECK_STR(got.items[0].message_id, PLAIN);
	CHECK_STR(got.items[0].status, "triage");
	CHECK(got.items[0].from && got.items[0].subject && got.items[0].time);
	request = (struct mr_work_triage_list){ .limit = 3 };
	CHECK_OK(mr_work_triage_list(&desk.cx, desk.work, &request, &got), desk.cx.err);
	CHECK(got.count == 3 && !got.has_more && !got.items[0].has_details);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(shown), TEST(locations), TEST(view_path),
		TEST(not_shown), TEST(fetch_one), TEST(fetch_all_twice), TEST(fetch_refused),
		TEST(fetch_nothing), TEST(lists), TEST(lists_refused), TEST(triage_lists) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
