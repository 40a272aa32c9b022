/* tests/unit/op/test_contract.c */
#include "op/contract.h"
#include "op/op.h"
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
	mr_contract_plain.error(&out, &err);
	CHECK_STR(mr_buf_text(&text),
		"{\"detail\":\"held by \\\"x\\\"\",\"code\":\"busy\",\"retryable\":true}");
	CHECK_INT(mr_contract_exit_status(&mr_contract_plain, &err), 1);
	CHECK_INT(mr_contract_http_status(&mr_contract_plain, &err), 503);

	mr_buf_clear(&text);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_issues_init(&issues, arena);
	mr_issues_add(&issues, MR_ISSUE_RULE, "$.to", NULL, "is empty");
	mr_err_issues(&err, &issues, "payload");
	mr_err_word(&err, "INVALID_ARGUMENT");
	mr_contract_plain.error(&out, &err);
	CHECK_STR(mr_buf_text(&text),
		"{\"detail\":\"payload: $.to: is empty\",\"code\":\"invalid\",\"retryable\":false,"
		"\"word\":\"INVALID_ARGUMENT\",\"issues\":[{\"path\":\"$.to\","
		"\"message\":\"is empty\"}]}");
	CHECK_INT(mr_contract_exit_status(&mr_contract_plain, &err), 2);
	CHECK_INT(mr_contract_http_status(&mr_contract_plain, &err), 400);
}

static const struct mr_global_option own_globals[] = { { "--own", NULL, "own" }, { 0 } };
static const struct mr_contract own = { .globals = own_globals };

static void what_a_contract_leaves_open_is_as_in_the_plain_one(void)
{
	static const struct mr_contract without;
	const struct mr_op with_own = { .contract = &own };
	const struct mr_op_table mailroom = { 0 }, others = { .contract = &own };
	struct mr_err err;

	mr_err_set(&err, MR_EINVAL, "wrong");
	CHECK_INT(mr_contract_exit_status(&own, &err), 2);
	CHECK_INT(mr_contract_http_status(&own, &err), 400);
	CHECK(mr_contract_globals(&own) == own_globals);
	CHECK(mr_contract_globals(&without) == mr_contract_plain.globals);
	CHECK(mr_contract_formats(&own) == mr_contract_plain.formats);
	CHECK(mr_contract_of(&mailroom, &with_own) == &own);
	CHECK(mr_contract_of(&mailroom, NULL) == &mr_contract_plain);
	CHECK(mr_contract_of(&others, NULL) == &own);
	/* Its results stand alone. */
	CHECK(!mr_contract_plain.result);
}

static void a_format_is_found_by_its_name(void)
{
	static const struct mr_format formats[] = { { .name = "yaml" }, { .name = "plain" },
		{ 0 } };
	static const struct mr_contract contract = { .formats = formats };

	CHECK(mr_contract_format(&contract, NULL) == &formats[0]);
	CHECK(mr_contract_format(&contract, "plain") == &formats[1]);
	CHECK(!mr_contract_format(&contract, "json"));
	CHECK(mr_contract_format(&own, NULL)->is_for_people);
	CHECK(!mr_contract_format(&own, "json")->is_for_people);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(errors_carry_all_they_know),
		TEST(what_a_contract_leaves_open_is_as_in_the_plain_one),
		TEST(a_format_is_found_by_its_name),
	};

	return test_main(tests, MR_LEN(tests));
}
