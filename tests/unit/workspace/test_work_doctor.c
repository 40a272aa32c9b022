/* tests/unit/workspace/test_work_doctor.c */
#include "workspace/doctor.h"

#include "post.h"
#include "test.h"
#include "workspace/case.h"
#include "workspace/layout.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CASE "cases/open/c20260504001-A"

/* The codes of all issues, with blanks between. */
static const char *codes(struct desk *desk)
{
	struct mr_work_doctored found = { 0 };
	const char **items;
	struct mr_texts texts;

	CHECK_OK(mr_work_doctor(&desk->cx, desk->work, &found), desk->cx.err);
	CHECK_INT(found.issue_count, (int64_t)found.issues_len);
	CHECK(found.ok == !found.issues_len);
	items = mr_arena_array(desk->cx.arena, found.issues_len + 1, sizeof(*items));
	for (size_t i = 0; i < found.issues_len; i++)
		items[i] = found.issues[i].code;
	texts = (struct mr_texts){ items, found.issues_len };
	desk_next(desk);
	return mr_str_join(desk->cx.arena, &texts, " ");
}

static void repair(struct desk *desk, struct mr_work_doctor_repaired *out)
{
	POST_OK(desk,
		mr_work_doctor_repair(&desk->cx, desk->work,
			&(struct mr_work_doctor_repair){ .confirm = true }, out));
}

static void furnish(struct desk *desk)
{
	struct mr_work_case_create request = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_doctor_repaired done = { 0 };

	post_open(desk);
	post_mail(desk, PLAIN, T1, T2, NULL);
	POST_OK(desk,
		mr_work_case_create(&desk->cx, desk->work, &request,
			&(struct mr_work_case_created){ 0 }));
	repair(desk, &done);
	CHECK_STR(codes(desk), "");
}

static void unconfirmed(void)
{
	struct mr_work_doctor_repaired done = { 0 };
	struct desk desk;

	furnish(&desk);
	desk_check_fail(&desk,
		mr_work_doctor_repair(&desk.cx, desk.work, &(struct mr_work_doctor_repair){ 0 },
			&done),
		"confirm_required", NULL, NULL);
	CHECK_STR(post_detail(&desk, "suggested_commands"),
		"afmail doctor afmail doctor repair --confirm");
	desk_close(&desk);
}

/* Looking changes nothing: no file comes or goes. */
static void looking(void)
{
	const char *tree;
	struct desk desk;

	furnish(&desk);
	CHECK_INT(unlink("triage/" T1 ".md"), 0);
	CHECK_INT(unlink(CASE "/case.md"), 0);
	desk_put("messages/" T2 ".json", "{");
	tree = desk_tree(&desk);
	CHECK_STR(codes(&desk), "message_cache_invalid view_stale view_stale");
	CHECK_STR(desk_tree(&desk), tree);
	desk_close(&desk);
}

static void mending(void)
{
	struct mr_work_doctor_repaired done = { 0 };
	struct desk desk;

	furnish(&desk);
	desk_put("messages/" T2 ".json", "{");
	CHECK_INT(unlink(mr_work_path_remote(desk.cx.arena, PLAIN)), 0);
	CHECK_INT(rename(CASE, "cases/open/c20260504001-Else"), 0);
	desk_next(&desk);
	repair(&desk, &done);
	CHECK_INT(done.after_issue_count, 0);
	CHECK_INT(done.message_cache_rebuilt_count, 1);
	CHECK_INT(done.sidecar_written_count, 1);
	CHECK_INT(done.directory_renamed_count, 1);
	CHECK(desk_has(CASE "/data/case.json"));
	CHECK(desk_has(mr_work_path_remote(desk.cx.arena, PLAIN)));
	CHECK_STR(codes(&desk), "");
	/* Nothing is left to do, and nothing is done. */
	repair(&desk, &done);
	CHECK_INT(done.before_issue_count, 0);
	CHECK_INT(done.sidecar_written_count + done.directory_renamed_count, 0);
	desk_close(&desk);
}

/* Two directories that want the same name: one gets it, the other is left to a person. */
static void two_of_a_name(void)
{
	struct mr_work_doctor_repaired done = { 0 };
	const char *document;
	struct desk desk;

	furnish(&desk);
	document = desk_text(&desk, CASE "/data/case.json");
	CHECK_INT(rename(CASE, "cases/open/c20260504001-One"), 0);
	desk_put("cases/open/c20260504001-Two/data/case.json", document);
	desk_next(&desk);
	repair(&desk, &done);
	CHECK_INT(done.directory_renamed_count, 1);
	CHECK(desk_has(CASE "/data/case.json"));
	CHECK(desk_has("cases/open/c20260504001-Two/data/case.json"));
	desk_close(&desk);
}

/* More issues than are listed are counted all the same. */
static void very_many(void)
{
	struct mr_work_doctored found = { 0 };
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct desk desk;

	furnish(&desk);
	mr_buf_init(&buf, 8 << 20);
	mr_buf_puts(&buf,
		"{\"schema_name\":\"spam\",\"schema_version\":1,\"collection_uid\":\"spam\","
		"\"collection_name\":\"Spam\",\"items\":[");
	for (int i = 0; i < MR_WORK_ISSUES_MAX + 5; i++)
		mr_buf_printf(&buf, "%s{\"message_id\":\"message_%d\"}", i ? "," : "", i);
	mr_buf_puts(&buf, "]}");
	desk_put("spam/data/spam.json", mr_buf_text(&buf));
	desk_next(&desk);
	CHECK_OK(mr_work_doctor(&desk.cx, desk.work, &found), desk.cx.err);
	CHECK_INT((int64_t)found.issues_len, MR_WORK_ISSUES_MAX);
	CHECK_INT(found.issue_count, (int64_t)found.issues_len + found.unlisted_count);
	CHECK(found.error_count >= MR_WORK_ISSUES_MAX + 5);
	desk_close(&desk);
}

/* A broken configuration does not keep doctor from looking at the rest. */
static void without_config(void)
{
	struct mr_work_doctor_repaired done = { 0 };
	struct desk desk;

	furnish(&desk);
	desk_put(MR_WORK_CONFIG, "[");
	desk_put("messages/" T2 ".json", "{");
	desk_next(&desk);
	CHECK_STR(codes(&desk), "config_invalid message_cache_invalid");
	repair(&desk, &done);
	CHECK(!done.is_rendered);
	CHECK_INT(done.after_issue_count, 2);
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(unconfirmed),
		TEST(looking),
		TEST(mending),
		TEST(two_of_a_name),
		TEST(very_many),
		TEST(without_config),
	};

	return test_main(tests, sizeof(tests) / sizeof(*tests));
}
