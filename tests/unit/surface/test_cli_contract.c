/* tests/unit/surface/test_cli_contract.c - what a contract decides about its commands: its options,
 * its output, and where a failure is told. */
#include "base/fs.h"
#include "op/call.h"
#include "op/contract.h"
#include "surface/cli/cli.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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
	{ "--json", NULL, "print JSON" },
	{ 0 },
};

static const struct mr_contract own = {
	.json_style = MR_JSON_COMPACT,
	.globals = own_globals,
	.tell = tell,
	.failures = MR_STREAM_STDOUT,
};
static const struct mr_contract json_only = {
	.json_style = MR_JSON_SPACED,
	.format = MR_FORMAT_JSON,
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

struct said {
	int status;
	const char *out, *err;
};

static const char *take(struct mr_arena *arena, int fd, int saved, int at)
{
	char *text = mr_arena_alloc(arena, 65536);
	ssize_t len;

	CHECK(dup2(saved, at) == at);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	len = read(fd, text, 65535);
	CHECK(len >= 0);
	close(saved);
	close(fd);
	return text;
}

static struct said run(struct mr_arena *arena, const char *command, const char *option)
{
	const char *const argv[] = { "mailroom", command, option, NULL };
	const char *const variables[] = { NULL };
	int fds[2], saved[2];
	struct said said;

	for (int i = 0; i < 2; i++) {
		fds[i] = open(test_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		CHECK(fds[i] >= 0);
		saved[i] = dup(i + 1);
		CHECK(saved[i] >= 0 && dup2(fds[i], i + 1) == i + 1);
	}
	said.status = mr_cli_run(&table, option ? 3 : 2, argv, variables);
	said.err = take(arena, fds[1], saved[1], 2);
	said.out = take(arena, fds[0], saved[0], 1);
	return said;
}

static void a_contract_can_leave_standard_error_empty(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct said said = run(arena, "own", "--wrong");

	CHECK_INT(said.status, 2);
	CHECK_STR(said.out, "TOLD there is no option --wrong\n");
	CHECK_STR(said.err, "");
	said = run(arena, "plain", "--wrong");
	CHECK_INT(said.status, 2);
	CHECK_STR(said.out, "");
	CHECK_STR(said.err, "mailroom plain: there is no option --wrong\n");
}

static void a_contract_has_its_own_global_options(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(run(arena, "own", "--json").out, "{\"ok\":true}\n");
	CHECK_STR(run(arena, "own", "--yes").out, "TOLD there is no option --yes\n");
	CHECK_STR(run(arena, "plain", "--yes").err, "");
}

static void a_contract_can_fix_the_output(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(run(arena, "json", NULL).out, "{\"ok\": true}\n");
	CHECK(strstr(run(arena, "plain", NULL).out, "yes"));
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
