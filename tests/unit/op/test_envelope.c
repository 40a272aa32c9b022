/* tests/unit/op/test_envelope.c */
#include "op/envelope.h"
#include "test.h"

static void errors_carry_all_they_know(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_issues issues;
	struct mr_out out;
	struct mr_err err;

	mr_buf_init(&text, 4096);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_err_set(&err, MR_EBUSY, "held by \"x\"");
	mr_envelope_plain.error(&out, &err);
	CHECK_STR(mr_buf_text(&text),
		"{\"detail\":\"held by \\\"x\\\"\",\"code\":\"busy\",\"retryable\":true}");
	CHECK_INT(mr_envelope_plain.exit_status(&err), 1);
	CHECK_INT(mr_envelope_plain.http_status(&err), 503);

	mr_buf_clear(&text);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_issues_init(&issues, arena);
	mr_issues_add(&issues, MR_ISSUE_RULE, "$.to", NULL, "is empty");
	mr_err_issues(&err, &issues, "payload");
	mr_err_word(&err, "INVALID_ARGUMENT");
	mr_envelope_plain.error(&out, &err);
	CHECK_STR(mr_buf_text(&text),
		"{\"detail\":\"payload: $.to: is empty\",\"code\":\"invalid\",\"retryable\":false,"
		"\"word\":\"INVALID_ARGUMENT\",\"issues\":[{\"path\":\"$.to\","
		"\"message\":\"is empty\"}]}");
	CHECK_INT(mr_envelope_plain.exit_status(&err), 2);
	CHECK_INT(mr_envelope_plain.http_status(&err), 400);
}

static void results_stand_alone(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 4096);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_envelope_plain.begin_result(&out);
	mr_out_map(&out, NULL);
	mr_out_end(&out);
	mr_envelope_plain.end_result(&out);
	CHECK_STR(mr_buf_text(&text), "{}");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(errors_carry_all_they_know),
		TEST(results_stand_alone),
	};

	return test_main(tests, MR_LEN(tests));
}
