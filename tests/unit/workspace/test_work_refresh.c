/* tests/unit/workspace/test_work_refresh.c */
#include "workspace/refresh.h"

#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/case.h"
#include "workspace/disposition.h"
#include "workspace/edit_contact.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/templates.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE     "cases/open/c20260504001-A"
#define CATEGORY "archive/notifications/a20260518001-N"

static void refresh_all(struct desk *desk, struct mr_work_refreshed *out)
{
	POST_OK(desk, mr_work_refresh_all(&desk->cx, desk->work, out));
}

static void create_case(struct desk *desk, const char *name, const char *message_id)
{
	struct mr_work_case_create request = { .name = name, .message = message_id, .reason = "r" };

	POST_OK(desk,
		mr_work_case_create(&desk->cx, desk->work, &request,
			&(struct mr_work_case_created){ 0 }));
}

static void discard_spam(struct desk *desk)
{
	struct mr_work_discard request = { { (const char *[]){ SPAM, NULL }, 1 }, "r" };
	struct mr_work_discarded discarded = { 0 };

	POST_OK(desk, mr_work_message_spam(&desk->cx, desk->work, &request, &discarded));
}

/* Two messages in triage, one in a case, one in spam, one in a category. */
static void furnish(struct desk *desk)
{
	struct mr_work_archive_create request = { "N", NOTICE, "s", "r" };

	post_open(desk);
	post_mail(desk, PLAIN, T1, T2, SPAM, NOTICE, NULL);
	discard_spam(desk);
	create_case(desk, "A", PLAIN);
	POST_OK(desk,
		mr_work_archive_create(&desk->cx, desk->work, &request,
			&(struct mr_work_archive_created){ 0 }));
}

static int64_t number(const struct mr_value *map, const char *key)
{
	return mr_value_get(map, key)->integer;
}

static const char *generated_in(struct desk *desk, const char *path)
{
	const char *at = strstr(desk_text(desk, path), "generated_rfc3339: \"");

	CHECK(at);
	return mr_arena_strndup(desk->cx.arena, at + strlen("generated_rfc3339: \""),
		strlen("2026-03-11T04:15:00Z"));
}

/* --- all --- */

/* What nothing has happened to is not looked into, and the answer is the same. */
static void unchanged(void)
{
	struct mr_work_refreshed first = { 0 }, again = { 0 };
	struct desk desk;

	furnish(&desk);
	refresh_all(&desk, &first);
	CHECK(!mr_work_template_use(desk.work)->builtin[MR_WORK_T_TRIAGE]);
	refresh_all(&desk, &first);
	CHECK_OK(mr_work_refresh_all(&desk.cx, desk.work, &again), desk.cx.err);
	CHECK_INT(mr_work_template_use(desk.work)->builtin[MR_WORK_T_TRIAGE], 0);
	CHECK_INT(again.triage.count, 2);
	CHECK_INT(again.spam.count, 1);
	CHECK_INT(again.triage.written + again.spam.written + again.records_rebuilt, 0);
	CHECK_INT(again.active_cases + again.categories, 2);
	CHECK(mr_value_equal(again.generated, first.generated));
	CHECK(mr_value_equal(again.template_sources, first.template_sources));
	/* A view that somebody edits or removes, a template, a draft: all of it is looked at. */
	desk_put("triage/" T1 ".md", "x");
	desk_next(&desk);
	CHECK_OK(mr_work_refresh_all(&desk.cx, desk.work, &again), desk.cx.err);
	CHECK_INT(mr_work_template_use(desk.work)->builtin[MR_WORK_T_TRIAGE], 2);
	CHECK(strstr(desk_text(&desk, "triage/" T1 ".md"), "kind: triage_view"));
	desk_next(&desk);
	CHECK_INT(unlink(CASE "/case.md"), 0);
	refresh_all(&desk, &again);
	CHECK(desk_has(CASE "/case.md"));
	desk_put("templates/en-US/triage/view.md.j2", "mine");
	refresh_all(&desk, &again);
	CHECK_STR(desk_text(&desk, "triage/" T1 ".md"), "mine");
	desk_close(&desk);
}

static void fresh(void)
{
	struct mr_work_refreshed got = { 0 };
	const char *tree;
	struct desk desk;

	post_open(&desk);
	tree = desk_tree(&desk);
	refresh_all(&desk, &got);
	CHECK_INT(got.records_rebuilt, 0);
	CHECK_INT(got.triage.count + got.spam.count + got.trash.count + got.deleted.count, 0);
	CHECK_INT(got.active_cases + got.archived_cases + got.categories, 0);
	CHECK_INT(number(got.generated, "triage/view.md.j2"), 0);
	CHECK(unlink(MR_WORK_INDEX) == 0);
	CHECK_STR(desk_tree(&desk), tree);
	desk_close(&desk);
}

/* What was deleted is made again, and is what it was but for its time. */
static void all(void)
{
	static const char *const gone[] = { "messages/" PLAIN ".json", "messages/" T1 ".json",
		"triage/" T1 ".md", "triage/" T2 ".md", "spam/" SPAM ".md", "spam/index.md",
		CASE "/case.md", NULL };
	struct mr_work_refreshed got = { 0 };
	const char *tree, *record;
	struct desk desk;

	furnish(&desk);
	tree = desk_tree(&desk);
	record = desk_text(&desk, "messages/" T1 ".json");
	for (size_t i = 0; gone[i]; i++)
		CHECK(unlink(gone[i]) == 0);
	refresh_all(&desk, &got);
	CHECK_STR(desk_tree(&desk), tree);
	CHECK_STR(desk_text(&desk, "messages/" T1 ".json"), record);
	CHECK_INT(got.records_rebuilt, 2);
	CHECK_INT(got.triage.count, 2);
	CHECK_INT(got.triage.written, 2);
	CHECK_INT(got.triage.removed, 0);
	CHECK_INT(got.spam.count, 1);
	CHECK_INT(got.spam.written, 1);
	CHECK_INT(got.trash.count, 0);
	CHECK_INT(got.active_cases, 1);
	CHECK_INT(got.archived_cases, 0);
	CHECK_INT(got.categories, 1);
	CHECK_INT(number(got.generated, "triage/view.md.j2"), 2);
	CHECK_INT(number(got.generated, "status/index.md.j2"), 1);
	CHECK_INT(number(got.generated, "status/message.md.j2"), 1);
	CHECK_INT(number(got.generated, "case/case.md.j2"), 1);
	CHECK_INT(number(got.generated, "case/message.md.j2"), 1);
	CHECK_INT(number(got.generated, "archive-message/archive.md.j2"), 1);
	CHECK_INT(number(got.generated, "archive-message/message.md.j2"), 1);
	/* The contract counts sources of cases and categories alone. */
	CHECK_INT(number(mr_value_get(got.template_sources, "triage/view.md.j2"), "builtin"), 0);
	CHECK_INT(number(mr_value_get(got.template_sources, "case/case.md.j2"), "builtin"), 1);
	CHECK_INT(number(mr_value_get(got.template_sources, "message/section.md.j2"), "builtin"),
		3);
	CHECK_INT(number(mr_value_get(got.template_sources, "triage/view.md.j2"), "workspace"), 0);
	desk_close(&desk);
}

/* --- only what changed --- */

static void nothing_changed(void)
{
	static const char *const paths[] = { "messages/" PLAIN ".json", "triage/" T1 ".md",
		"spam/index.md", "spam/" SPAM ".md", CASE "/case.md",
		CASE "/views/messages/" PLAIN ".md", CATEGORY "/archive.md" };
	struct stat before[MR_LEN(paths)], after;
	struct mr_work_refreshed got = { 0 };
	struct desk desk;

	furnish(&desk);
	for (size_t i = 0; i < MR_LEN(paths); i++)
		CHECK(stat(paths[i], &before[i]) == 0);
	refresh_all(&desk, &got);
	CHECK_INT(got.records_rebuilt + got.triage.written + got.spam.written, 0);
	for (size_t i = 0; i < MR_LEN(paths); i++) {
		CHECK(stat(paths[i], &after) == 0);
		CHECK_INT(after.st_ino, before[i].st_ino);
		CHECK_INT(after.st_mtim.tv_nsec, before[i].st_mtim.tv_nsec);
	}
	desk_close(&desk);
}

/* A view says when it was made: that time changes only with something else. */
static void time_of_views(void)
{
	struct mr_work_contact_create request = { .name = "Erin",
		.email = { (const char *[]){ "erin@thread.example.org", NULL }, 1 } };
	struct mr_work_refreshed got = { 0 };
	const char *erin, *plain;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, T1, NULL);
	erin = generated_in(&desk, "triage/" T1 ".md");
	plain = generated_in(&desk, "triage/" PLAIN ".md");
	refresh_all(&desk, &got);
	CHECK_STR(generated_in(&desk, "triage/" T1 ".md"), erin);
	POST_OK(&desk,
		mr_work_contact_create(&desk.cx, desk.work, &request,
			&(struct mr_work_contact_created){ 0 }));
	CHECK(!mr_str_eq(generated_in(&desk, "triage/" T1 ".md"), erin));
	CHECK_STR(generated_in(&desk, "triage/" PLAIN ".md"), plain);
	desk_close(&desk);
}

/* A view that somebody changed is put right. */
static void edited_view(void)
{
	struct mr_work_refreshed got = { 0 };
	const char *before;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	before = generated_in(&desk, "triage/" PLAIN ".md");
	desk_put("triage/" PLAIN ".md",
		mr_arena_printf(desk.cx.arena, "%sMy own line.\n",
			desk_text(&desk, "triage/" PLAIN ".md")));
	refresh_all(&desk, &got);
	CHECK_INT(got.triage.written, 1);
	CHECK(!strstr(desk_text(&desk, "triage/" PLAIN ".md"), "My own line."));
	CHECK(!mr_str_eq(generated_in(&desk, "triage/" PLAIN ".md"), before));
	CHECK_INT(number(got.generated, "triage/view.md.j2"), 1);
	/* One that was emptied, or never was a view. */
	desk_put("triage/" PLAIN ".md", "");
	refresh_all(&desk, &got);
	CHECK(strstr(desk_text(&desk, "triage/" PLAIN ".md"), "# Invoice 17 is ready"));
	desk_close(&desk);
}

/* A message of a conversation goes into a case: the others say so. */
static void conversation(void)
{
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, T2, NULL);
	CHECK(!strstr(desk_text(&desk, "triage/" T2 ".md"), "suggested_case_uids"));
	create_case(&desk, "A", T1);
	CHECK(!desk_has("triage/" T1 ".md"));
	CHECK(strstr(desk_text(&desk, "triage/" T2 ".md"), "Suggested case UIDs: `c20260512001`"));
	desk_close(&desk);
}

/* --- what is not true any more --- */

static void stale_views(void)
{
	struct mr_work_refreshed got = { 0 };
	struct desk desk;

	furnish(&desk);
	desk_put("triage/message_gone.md", "x");
	desk_put("triage/" PLAIN ".md", "it is in a case");
	desk_put("triage/mine.txt", "not ours");
	desk_put("spam/" T1 ".md", "x");
	desk_put(CASE "/views/messages/" T1 ".md", "x");
	desk_put(CATEGORY "/views/messages/" T1 ".md", "x");
	refresh_all(&desk, &got);
	CHECK_INT(got.triage.removed, 2);
	CHECK_INT(got.spam.removed, 1);
	CHECK(!desk_has("triage/message_gone.md") && !desk_has("triage/" PLAIN ".md"));
	CHECK(!desk_has("spam/" T1 ".md"));
	CHECK(!desk_has(CASE "/views/messages/" T1 ".md"));
	CHECK(!desk_has(CATEGORY "/views/messages/" T1 ".md"));
	CHECK(desk_has("triage/mine.txt") && desk_has("spam/index.md"));
	desk_close(&desk);
}

/* A message that is gone takes its projections with it. */
static void purged_message(void)
{
	const char *ids[] = { T1, NULL };
	struct mr_work_stale stale = { .messages = { ids, 1 } };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, PLAIN, NULL);
	CHECK(unlink(mr_work_path_eml(desk.cx.arena, T1)) == 0);
	CHECK(unlink("messages/" T1 ".json") == 0);
	POST_OK(&desk, mr_work_refresh(&desk.cx, desk.work, &stale));
	CHECK(!desk_has("triage/" T1 ".md"));
	CHECK(desk_has("triage/" PLAIN ".md"));
	desk_close(&desk);
}

/* Lists that are not there, or were never lists. */
static void unknown_lists(void)
{
	const char *paths[] = { "cases/open/c20260101001-gone", "nowhere", "spam", NULL };
	struct mr_work_stale stale = { .collections = { paths, 3 } };
	const char *tree;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	tree = desk_tree(&desk);
	POST_OK(&desk, mr_work_refresh(&desk.cx, desk.work, &stale));
	CHECK_STR(desk_tree(&desk), tree);
	desk_close(&desk);
}

/* A member whose message is not there does not stop the list. */
static void missing_member(void)
{
	struct mr_work_refreshed got = { 0 };
	struct desk desk;

	furnish(&desk);
	CHECK(unlink(mr_work_path_eml(desk.cx.arena, PLAIN)) == 0);
	CHECK(unlink("messages/" PLAIN ".json") == 0);
	refresh_all(&desk, &got);
	CHECK(strstr(desk_text(&desk, CASE "/case.md"), "Messages: 0"));
	desk_close(&desk);
}

/* --- killed --- */

static void die_in_create(struct desk *desk, const char *point)
{
	struct mr_work_case_create request = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_case_created created = { 0 };
	pid_t pid = fork();
	int status = 0;

	CHECK(pid >= 0);
	if (pid == 0) {
		setenv("MAILROOM_CRASH_AT", point, 1);
		_exit(mr_work_case_create(&desk->cx, desk->work, &request, &created) ? 3 : 2);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	/* It goes on to its end in a build without crash points. */
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 2);
}

static void recover(void)
{
	/* After the journal stood, in the middle, and when only the journal was left. */
	static const char *const points[] = { "work.change.journaled", "work.change.step:2",
		"work.change.ended" };

	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
		struct mr_texts pending = { 0 };
		struct desk desk;

		post_open(&desk);
		post_mail(&desk, PLAIN, NULL);
		die_in_create(&desk, points[i]);
		desk_next(&desk);
		POST_OK(&desk, mr_work_recover(&desk.cx, desk.work));
		CHECK_STR(post_status(&desk, PLAIN), "case");
		CHECK(!desk_has("triage/" PLAIN ".md"));
		CHECK(desk_has(CASE "/case.md"));
		CHECK(desk_has(CASE "/views/messages/" PLAIN ".md"));
		CHECK(strstr(desk_text(&desk, "messages/" PLAIN ".json"), "\"status\": \"case\""));
		CHECK_OK(mr_work_change_pending(&desk.cx, desk.work, &pending), desk.cx.err);
		CHECK_INT(pending.len, 0);
		/* Nothing is left to do. */
		POST_OK(&desk, mr_work_recover(&desk.cx, desk.work));
		CHECK_STR(desk_events(&desk), "case_created");
		desk_close(&desk);
		CHECK(system("rm -rf .afmail messages triage cases") == 0);
	}
}

/* A contact concerns the messages of its addresses: no other view is made for it. */
static void contact_alone(void)
{
	struct mr_work_contact_create request = { .name = "Erin",
		.email = { (const char *[]){ "prize@win.example", NULL }, 1 } };
	struct mr_work_contact_rename rename_request = { .name = "Eve" };
	struct mr_work_contact_created created = { 0 };
	struct desk desk;

	furnish(&desk);
	CHECK_INT(unlink("triage/" T1 ".md"), 0);
	CHECK_INT(unlink("messages/" T2 ".json"), 0);
	POST_OK(&desk, mr_work_contact_create(&desk.cx, desk.work, &request, &created));
	CHECK(strstr(desk_text(&desk, "messages/" SPAM ".json"), "\"display_name\": \"Erin\""));
	rename_request.contact_ref = created.contact_uid;
	POST_OK(&desk,
		mr_work_contact_rename(&desk.cx, desk.work, &rename_request,
			&(struct mr_work_contact_renamed){ 0 }));
	CHECK(strstr(desk_text(&desk, "messages/" SPAM ".json"), "\"display_name\": \"Eve\""));
	CHECK(!desk_has("triage/" T1 ".md"));
	CHECK(!desk_has("messages/" T2 ".json"));
	desk_close(&desk);
}

/* A list that cannot be read is passed over and named; the others are refreshed. */
static void broken_list(void)
{
	struct mr_work_refreshed got = { 0 };
	struct desk desk;

	furnish(&desk);
	desk_put(CASE "/data/case.json", "{");
	CHECK_INT(unlink(CATEGORY "/archive.md"), 0);
	CHECK_OK(mr_work_refresh_all(&desk.cx, desk.work, &got), desk.cx.err);
	CHECK_INT(got.failure_count, 1);
	CHECK_STR(got.failures[0].path, CASE "/data/case.json");
	CHECK_STR(got.failures[0].error_code, "case_metadata_invalid");
	CHECK(desk_has(CATEGORY "/archive.md"));
	desk_close(&desk);
}

/* What would be written and removed is listed, and nothing is touched. */
static void survey(void)
{
	struct mr_work_refreshed got = { 0 };
	struct mr_work_survey found = { 0 };
	struct desk desk;

	furnish(&desk);
	CHECK_INT(unlink("triage/" T1 ".md"), 0);
	desk_put("triage/message_x.md", "x");
	found.arena = desk.cx.arena;
	desk.work->survey = &found;
	POST_OK(&desk, mr_work_refresh_all(&desk.cx, desk.work, &got));
	CHECK_INT(found.written.len, 1);
	CHECK_STR(found.written.items[0], "triage/" T1 ".md");
	CHECK_INT(found.removed.len, 1);
	CHECK_STR(found.removed.items[0], "triage/message_x.md");
	CHECK(!desk_has("triage/" T1 ".md"));
	CHECK(desk_has("triage/message_x.md"));
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = { TEST(contact_alone), TEST(broken_list), TEST(survey),
		TEST(fresh), TEST(unchanged), TEST(all), TEST(nothing_changed), TEST(time_of_views),
		TEST(edited_view), TEST(conversation), TEST(stale_views), TEST(purged_message),
		TEST(unknown_lists), TEST(missing_member), TEST(recover) };

	return test_main(tests, sizeof(tests) / sizeof(*tests));
}
