/* tests/unit/workspace/test_work_audit.c */
#include "workspace/audit.h"

#include "desk.h"
#include "files.h"
#include "test.h"
#include "workspace/layout.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct mr_value *event(struct desk *desk, const char *id, const char *target,
	const char *text)
{
	struct mr_out out;

	mr_out_init_tree(&out, desk->cx.arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "event_id", id);
	mr_out_text(&out, "kind", text);
	mr_out_list(&out, "targets");
	mr_out_map(&out, NULL);
	mr_out_text(&out, "kind", "contact");
	mr_out_text(&out, "id", target);
	mr_out_end(&out);
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static void append(struct desk *desk, const char *id, const char *target, int64_t since)
{
	struct mr_work_audit_line line = { id, event(desk, id, target, id) };

	CHECK_OK(mr_work_audit_append(&desk->cx, desk->work, &line, 1, since), desk->cx.err);
}

#define LINE(id)                                                                                   \
	"{\"event_id\":\"" id "\",\"kind\":\"" id                                                  \
	"\",\"targets\":[{\"kind\":\"contact\",\"id\":\"p1\"}]}\n"

static void events_are_added_at_the_end(void)
{
	struct desk desk;
	int64_t size = -1;

	desk_open(&desk);
	CHECK_STR(desk_events(&desk), "");
	CHECK_OK(mr_work_audit_size(&desk.cx, desk.work, &size), desk.cx.err);
	CHECK_INT(size, 0);
	append(&desk, "e1", "p1", 0);
	CHECK_OK(mr_work_audit_size(&desk.cx, desk.work, &size), desk.cx.err);
	CHECK_INT(size, strlen(LINE("e1")));
	append(&desk, "e2", "p1", size);
	files_hold(MR_WORK_LOG, LINE("e1") LINE("e2"));
	desk_close(&desk);
}

static void an_event_of_the_same_change_is_not_repeated(void)
{
	struct desk desk;
	struct mr_work_audit_line lines[3];

	desk_open(&desk);
	append(&desk, "e1", "p1", 0);
	append(&desk, "e1", "p1", 0);
	files_hold(MR_WORK_LOG, LINE("e1"));
	/* Of several, only those that are not there yet. */
	lines[0] = (struct mr_work_audit_line){ "e1", event(&desk, "e1", "p1", "e1") };
	lines[1] = (struct mr_work_audit_line){ "e2", event(&desk, "e2", "p1", "e2") };
	lines[2] = (struct mr_work_audit_line){ "e3", event(&desk, "e3", "p1", "e3") };
	CHECK_OK(mr_work_audit_append(&desk.cx, desk.work, lines, 3, 0), desk.cx.err);
	CHECK_OK(mr_work_audit_append(&desk.cx, desk.work, lines, 3, 0), desk.cx.err);
	files_hold(MR_WORK_LOG, LINE("e1") LINE("e2") LINE("e3"));
	/* One that begins alike is another one. */
	append(&desk, "e", "p1", 0);
	files_hold(MR_WORK_LOG, LINE("e1") LINE("e2") LINE("e3") LINE("e"));
	/* And what stood there before the change is not asked. */
	append(&desk, "e1", "p1", (int64_t)strlen(desk_text(&desk, MR_WORK_LOG)));
	files_hold(MR_WORK_LOG, LINE("e1") LINE("e2") LINE("e3") LINE("e") LINE("e1"));
	desk_close(&desk);
}

/* However many there are: a window at the end would not hold them all. */
static void thousands_of_events_are_not_repeated(void)
{
	enum { COUNT = 5000 };
	struct desk desk;
	struct mr_work_audit_line *lines;
	struct mr_work_events events;
	struct stat st;

	desk_open(&desk);
	lines = mr_arena_array(desk.cx.arena, COUNT, sizeof(*lines));
	for (int i = 0; i < COUNT; i++) {
		const char *id = mr_arena_printf(desk.cx.arena,
			"event_with_quite_a_long_name_so_that_the_log_grows_%d", i);

		lines[i] = (struct mr_work_audit_line){ id, event(&desk, id, "p1", id) };
	}
	CHECK_OK(mr_work_audit_append(&desk.cx, desk.work, lines, COUNT, 0), desk.cx.err);
	CHECK(stat(MR_WORK_LOG, &st) == 0 && st.st_size > 512 << 10);
	CHECK_OK(mr_work_audit_append(&desk.cx, desk.work, lines, COUNT, 0), desk.cx.err);
	CHECK_OK(mr_work_audit_of(&desk.cx, desk.work, "contact", "p1", &events), desk.cx.err);
	CHECK_INT(events.len, COUNT);
	CHECK_OK(mr_work_audit_last(&desk.cx, desk.work, 3, &events), desk.cx.err);
	CHECK_INT(events.len, 3);
	CHECK_STR(mr_value_get(events.items[2], "event_id")->text, lines[COUNT - 1].event_id);
	CHECK_STR(mr_value_get(events.items[0], "event_id")->text, lines[COUNT - 3].event_id);
	/* More than there are, and more than any memory holds. */
	CHECK_OK(mr_work_audit_last(&desk.cx, desk.work, SIZE_MAX, &events), desk.cx.err);
	CHECK_INT(events.len, COUNT);
	desk_close(&desk);
}

static void a_torn_line_is_removed_by_the_next_writer(void)
{
	struct desk desk;
	size_t bad = 0;

	desk_open(&desk);
	desk_put(MR_WORK_LOG, LINE("e1") "{\"event_id\":\"e2\",\"kin");
	/* Until then readers pass over it. */
	CHECK_STR(desk_events(&desk), "e1");
	CHECK_OK(mr_work_audit_check(&desk.cx, desk.work, &bad), desk.cx.err);
	CHECK_INT(bad, 0);
	append(&desk, "e2", "p1", (int64_t)strlen(LINE("e1")));
	files_hold(MR_WORK_LOG, LINE("e1") LINE("e2"));
	/* The only line, torn. */
	desk_put(MR_WORK_LOG, "{");
	append(&desk, "e1", "p1", 0);
	files_hold(MR_WORK_LOG, LINE("e1"));
	desk_close(&desk);
}

/* A line may be longer than what is read first to find its beginning. */
static void a_long_torn_line_goes_as_a_whole(void)
{
	enum { LONG = 300 << 10 };
	struct desk desk;
	char *text;

	desk_open(&desk);
	text = mr_arena_alloc(desk.cx.arena, LONG + 1);
	memset(text, 'x', LONG);
	desk_put(MR_WORK_LOG,
		mr_arena_printf(desk.cx.arena, "%s{\"event_id\":\"%s", LINE("e1"), text));
	append(&desk, "e2", "p1", 0);
	files_hold(MR_WORK_LOG, LINE("e1") LINE("e2"));
	desk_close(&desk);
}

static void a_missing_newline_is_added(void)
{
	struct desk desk;

	desk_open(&desk);
	desk_put(MR_WORK_LOG, "{\"kind\":\"by_hand\"}");
	CHECK_STR(desk_events(&desk), "by_hand");
	append(&desk, "e1", "p1", 0);
	files_hold(MR_WORK_LOG, "{\"kind\":\"by_hand\"}\n" LINE("e1"));
	desk_close(&desk);
}

static void a_bad_line_is_told(void)
{
	struct desk desk;
	struct mr_work_events events;
	size_t bad = 0;

	desk_open(&desk);
	desk_put(MR_WORK_LOG,
		LINE("e1") "\n"
			   "nonsense\n" LINE("e2"));
	desk_check_fail(&desk, mr_work_audit_last(&desk.cx, desk.work, 50, &events), "store_error",
		NULL, NULL);
	CHECK(strstr(desk.cx.err.msg, MR_WORK_LOG ": one of its last lines: "));
	desk_check_fail(&desk, mr_work_audit_of(&desk.cx, desk.work, "contact", "p1", &events),
		"store_error", NULL, NULL);
	CHECK(strstr(desk.cx.err.msg, MR_WORK_LOG ": line 3: "));
	/* The last one alone is fine. */
	desk.cx.err = (struct mr_err){ 0 };
	CHECK_OK(mr_work_audit_last(&desk.cx, desk.work, 1, &events), desk.cx.err);
	CHECK_INT(events.len, 1);
	CHECK_OK(mr_work_audit_check(&desk.cx, desk.work, &bad), desk.cx.err);
	CHECK_INT(bad, 1);
	desk_close(&desk);
}

static void empty_lines_do_not_count(void)
{
	struct desk desk;
	struct mr_work_events events;

	desk_open(&desk);
	desk_put(MR_WORK_LOG, "\n" LINE("e1") "\n\n" LINE("e2") "\n\n");
	for (size_t limit = 1; limit < 4; limit++) {
		CHECK_OK(mr_work_audit_last(&desk.cx, desk.work, limit, &events), desk.cx.err);
		CHECK_INT(events.len, limit < 2 ? limit : 2);
		CHECK_STR(mr_value_get(events.items[events.len - 1], "event_id")->text, "e2");
	}
	/* Nor does what a crash left. */
	desk_put(MR_WORK_LOG, LINE("e1") LINE("e2") "{\"event");
	CHECK_OK(mr_work_audit_last(&desk.cx, desk.work, 1, &events), desk.cx.err);
	CHECK_INT(events.len, 1);
	CHECK_STR(mr_value_get(events.items[0], "event_id")->text, "e2");
	CHECK_OK(mr_work_audit_last(&desk.cx, desk.work, 0, &events), desk.cx.err);
	CHECK_INT(events.len, 0);
	desk_close(&desk);
}

static void events_are_found_by_target(void)
{
	struct desk desk;
	struct mr_work_events events;

	desk_open(&desk);
	append(&desk, "e1", "p1", 0);
	append(&desk, "e2", "p2", 0);
	append(&desk, "e3", "p1", 0);
	append(&desk, "p1", "p3", 0); /* speaks of it, but is not about it */
	CHECK_OK(mr_work_audit_of(&desk.cx, desk.work, "contact", "p1", &events), desk.cx.err);
	CHECK_INT(events.len, 2);
	CHECK_STR(mr_value_get(events.items[1], "event_id")->text, "e3");
	CHECK_OK(mr_work_audit_of(&desk.cx, desk.work, "message", "p1", &events), desk.cx.err);
	CHECK_INT(events.len, 0);
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(events_are_added_at_the_end),
		TEST(an_event_of_the_same_change_is_not_repeated),
		TEST(thousands_of_events_are_not_repeated),
		TEST(a_torn_line_is_removed_by_the_next_writer),
		TEST(a_long_torn_line_goes_as_a_whole),
		TEST(a_missing_newline_is_added),
		TEST(a_bad_line_is_told),
		TEST(empty_lines_do_not_count),
		TEST(events_are_found_by_target),
	};

	return test_main(tests, MR_LEN(tests));
}
