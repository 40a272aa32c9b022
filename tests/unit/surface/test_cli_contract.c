/* tests/unit/surface/test_cli_contract.c - what a contract decides about its commands: its options,
 * its output, and where a failure is told. */
#include "captured.h"
#include "op/call.h"
#include "op/contract.h"
#include "test.h"

#include <string.h>

static enum mr_code greet(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	(void)call;
	(void)in;
	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", true);
	mr_out_end(out);
	return MR_OK;
}

static bool tell(struct mr_buf *out, const struct mr_err *err, const struct mr_render *how)
{
	(void)how;
	mr_buf_printf(out, "TOLD %s\n", err->msg);
	return true;
}

static const struct mr_global_option own_globals[] = {
	{ "--json", NULL, "print JSON", MR_GLOBAL_FORMAT },
	{ 0 },
};

static const struct mr_contract own = {
	.globals = own_globals,
	.tell = tell,
	.failures = MR_STREAM_STDOUT,
};
static const struct mr_format json_formats[] = {
	{ .name = "json", .json_style = MR_JSON_SPACED },
	{ 0 },
};
static const struct mr_contract json_only = {
	.formats = json_formats,
};

static const struct mr_op own_op = {
	.name = "own",
	.command = "own",
	.summary = "Own",
	.contract = &own,
	.run = greet,
	.surfaces = MR_ON_CLI,
};
static const struct mr_op json_op = {
	.name = "json",
	.command = "json",
	.summary = "JSON",
	.contract = &json_only,
	.run = greet,
	.surfaces = MR_ON_CLI,
};
static const struct mr_op plain_op = {
	.name = "plain",
	.command = "plain",
	.summary = "Plain",
	.contract = &mr_contract_plain,
	.run = greet,
	.surfaces = MR_ON_CLI,
};
static const struct mr_op *const ops[] = { &own_op, &json_op, &plain_op };
static const struct mr_op_table table = { ops, MR_LEN(ops) };

static void a_contract_can_leave_standard_error_empty(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct captured said = capture(arena, &table, "own --wrong");

	CHECK_INT(said.status, 2);
	CHECK_STR(said.out, "TOLD there is no option --wrong\n");
	CHECK_STR(said.err, "");
	said = capture(arena, &table, "plain --wrong");
	CHECK_INT(said.status, 2);
	CHECK_STR(said.out, "");
	CHECK_STR(said.err, "mailroom plain: there is no option --wrong\n");
}

static void a_contract_has_its_own_global_options(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(capture(arena, &table, "own --json").out, "{\"ok\":true}\n");
	CHECK_STR(capture(arena, &table, "own --yes").out, "TOLD there is no option --yes\n");
	CHECK_STR(capture(arena, &table, "plain --yes").err, "");
}

static void a_contract_can_fix_the_output(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(capture(arena, &table, "json").out, "{\"ok\": true}\n");
	CHECK(strstr(capture(arena, &table, "plain").out, "yes"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_contract_can_leave_standard_error_empty),
		TEST(a_contract_has_its_own_global_options),
		TEST(a_contract_can_fix_the_output),
	};

	return test_main(tests, MR_LEN(tests));
}
