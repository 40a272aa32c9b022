/* tests/unit/workspace/test_work_notes.c */
#include "post.h"
#include "test.h"
#include "workspace/case.h"

#include <stdio.h>
#include <string.h>

#define OPEN   "cases/open/c" DESK_TODAY "001-A"
#define ACTIVE "c" DESK_TODAY "001"

static void create(struct desk *desk, const char *name, const char *message)
{
	struct mr_work_case_create request = { .name = name, .message = message, .reason = "r" };
	struct mr_work_case_created created = { 0 };

	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &created));
}

static void notes(void)
{
	struct mr_work_notes_request request = { .case_ref = ACTIVE, .text = "new" };
	struct mr_work_notes shown = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_notes_append(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(desk_text(&desk, OPEN "/notes.md"), "# Notes\n\nnew\n");
	CHECK_STR(shown.notes_path, OPEN "/notes.md");
	CHECK_STR(shown.targets[0].kind, "case");
	CHECK_STR(shown.targets[0].id, ACTIVE);
	CHECK_INT(shown.text_len_bytes, 3);
	CHECK_STR(shown.text_hash, "fnv1a64:2138d5192571b731");
	CHECK_STR(post_event(&desk, "kind"), "case_notes_appended");
	CHECK_STR(post_event(&desk, "operation"), "append");
	CHECK_STR(post_event(&desk, "text_len_bytes"), "3");
	CHECK_STR(post_event(&desk, "text_hash"), "fnv1a64:2138d5192571b731");
	/* Bytes that look like front matter, without a newline at the end, in CRLF. */
	desk_put(OPEN "/notes.md", "---\r\na: b\r\n---\r\nx");
	POST_OK(&desk, mr_work_case_notes_show(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(shown.text, "---\r\na: b\r\n---\r\nx");
	request.text = "y\n";
	POST_OK(&desk, mr_work_case_notes_append(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(desk_text(&desk, OPEN "/notes.md"), "---\r\na: b\r\n---\r\nx\ny\n");
	desk_put(OPEN "/notes.md", "");
	POST_OK(&desk, mr_work_case_notes_append(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(desk_text(&desk, OPEN "/notes.md"), "y\n");
	request.text = "all new";
	POST_OK(&desk, mr_work_case_notes_replace(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(desk_text(&desk, OPEN "/notes.md"), "all new\n");
	CHECK_STR(post_event(&desk, "kind"), "case_notes_replaced");
	desk_close(&desk);
}

static void notes_missing(void)
{
	struct mr_work_notes_request request = { .case_ref = ACTIVE, .text = "new" };
	struct mr_work_notes shown = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	CHECK(remove(OPEN "/notes.md") == 0);
	desk_check_fail(&desk, mr_work_case_notes_show(&desk.cx, desk.work, &request, &shown),
		"notes_missing", "notes_path", OPEN "/notes.md");
	CHECK(strstr(post_hint(&desk), "notes replace"));
	desk_check_fail(&desk, mr_work_case_notes_append(&desk.cx, desk.work, &request, &shown),
		"notes_missing", "suggested_command",
		"afmail case notes replace " ACTIVE " --text TEXT");
	POST_OK(&desk, mr_work_case_notes_replace(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(desk_text(&desk, OPEN "/notes.md"), "new\n");
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(notes), TEST(notes_missing) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
