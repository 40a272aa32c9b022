/* tests/unit/workspace/test_work_request.c - commands that are carried out once. */
#include "workspace/request.h"

#include "desk.h"
#include "post.h"
#include "test.h"
#include "text/json.h"
#include "workspace/layout.h"

#include <string.h>

static struct desk desk;
static const struct mr_work_request first = { "r-1", "create ann" };

static const struct mr_value *parse(const char *json)
{
	const struct mr_value *value = NULL;

	CHECK_OK(mr_json_parse(desk.cx.arena, mr_bytes_text(json), NULL, &value, &desk.cx.err),
		desk.cx.err);
	return value;
}

/* What the request gets: NULL when it is to be carried out. */
static const struct mr_value *begin(const struct mr_work_request *request)
{
	const struct mr_value *result = NULL;

	CHECK_OK(mr_work_request_begin(&desk.cx, desk.work, request, &result), desk.cx.err);
	return result;
}

static void refused(const struct mr_work_request *request, const char *message)
{
	const struct mr_value *result = NULL;

	desk_check_fail(&desk, mr_work_request_begin(&desk.cx, desk.work, request, &result),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, message);
	CHECK(!result);
}

static size_t count(void)
{
	struct mr_texts names = { 0 };

	CHECK_OK(mr_work_list(&desk.cx, desk.work, MR_WORK_REQUESTS, &names), desk.cx.err);
	return names.len;
}

static void ids_have_a_form(void)
{
	char longest[MR_WORK_REQUEST_ID_BYTES + 2];

	memset(longest, 'x', sizeof(longest));
	longest[MR_WORK_REQUEST_ID_BYTES] = '\0';
	CHECK(mr_work_request_is_id(longest));
	longest[MR_WORK_REQUEST_ID_BYTES] = 'x';
	longest[MR_WORK_REQUEST_ID_BYTES + 1] = '\0';
	CHECK(!mr_work_request_is_id(longest));
	CHECK(mr_work_request_is_id("2026-05-18T10:00.a_B"));
	CHECK(!mr_work_request_is_id(""));
	CHECK(!mr_work_request_is_id("a b"));
	CHECK(!mr_work_request_is_id("../x"));
	CHECK(!mr_work_request_is_id("\xc3\xa4"));
}

static void the_result_is_kept(void)
{
	const struct mr_work_request other = { "r-1", "create bo" }, second = { "r-2", "delete" };
	const struct mr_value *result;

	desk_open(&desk);
	CHECK(!begin(&first));
	mr_work_request_done(&desk.cx, desk.work, &first, parse("{\"uid\": \"p1\"}"));
	desk_next(&desk);
	result = begin(&first);
	CHECK(result && mr_value_equal(result, parse("{\"uid\": \"p1\"}")));
	refused(&other, "the request id 'r-1' was used for another command");
	/* A command without a result has one: an empty object. */
	CHECK(!begin(&second));
	mr_work_request_done(&desk.cx, desk.work, &second, NULL);
	result = begin(&second);
	CHECK(result && result->kind == MR_MAP && result->map.len == 0);
	desk_close(&desk);
}

static void a_command_that_did_not_end_is_noticed(void)
{
	desk_open(&desk);
	CHECK(!begin(&first));
	desk_next(&desk);
	refused(&first,
		"the request 'r-1' began at 2026-03-11T04:15:00Z and did not come to its end: "
		"whether its change happened is not known");
	CHECK(strstr(post_hint(&desk), "`afmail log list`"));
	/* The disk failed: the change may have happened. */
	mr_work_request_failed(&desk.cx, desk.work, &first, MR_EIO);
	CHECK_INT(count(), 1);
	/* It was refused: it did not happen, and may be sent again. */
	mr_work_request_failed(&desk.cx, desk.work, &first, MR_EINVAL);
	CHECK_INT(count(), 0);
	CHECK(!begin(&first));
	desk_close(&desk);
}

static void a_damaged_note_is_no_result(void)
{
	struct mr_texts names = { 0 };
	const struct mr_value *result = NULL;

	desk_open(&desk);
	CHECK(!begin(&first));
	CHECK_OK(mr_work_list(&desk.cx, desk.work, MR_WORK_REQUESTS, &names), desk.cx.err);
	desk_put(mr_work_join(desk.cx.arena, MR_WORK_REQUESTS, names.items[0]), "{");
	desk_check_fail(&desk, mr_work_request_begin(&desk.cx, desk.work, &first, &result),
		"store_error", NULL, NULL);
	desk_close(&desk);
}

/* Notes that are made here have no content: they are there to be counted. */
static void the_oldest_go(void)
{
	desk_open(&desk);
	CHECK(!begin(&first));
	mr_work_request_done(&desk.cx, desk.work, &first, NULL);
	for (int i = 0; i < MR_WORK_REQUESTS_KEPT; i++) {
		const char *path =
			mr_arena_printf(desk.cx.arena, MR_WORK_REQUESTS "/old-%d.json", i);
		const struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };

		desk_put(path, "");
		CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	CHECK_INT(count(), MR_WORK_REQUESTS_KEPT + 1);
	mr_work_request_done(&desk.cx, desk.work, &first, NULL);
	CHECK_INT(count(), MR_WORK_REQUESTS_KEPT);
	CHECK(!desk_has(MR_WORK_REQUESTS "/old-0.json"));
	CHECK(desk_has(MR_WORK_REQUESTS "/old-1.json"));
	CHECK(begin(&first));
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(ids_have_a_form),
		TEST(the_result_is_kept),
		TEST(a_command_that_did_not_end_is_noticed),
		TEST(a_damaged_note_is_no_result),
		TEST(the_oldest_go),
	};

	return test_main(tests, MR_LEN(tests));
}
