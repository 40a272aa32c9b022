/*
 * tests/unit/surface/test_outcome.c - a contract made as CONTRIBUTING.md says: for programs that
 * read lines of JSON on standard output and nothing on standard error, over a part that is locked
 * while an operation runs.
 */
#include "surface/cli/outcome.h"

#include "base/fs.h"
#include "base/lock.h"
#include "captured.h"
#include "op/args.h"
#include "op/bind.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- the part: a number in memory, and a lock file ---- */

static const char LOCK[] = "counter.lock";

struct counter {
	struct mr_lock alone; /* of an operation that changes it */
	int shared;           /* the lock file of one that reads; or -1 */
	int64_t value;
};
static struct counter counter = { .alone = { .fd = -1 }, .shared = -1 };

static bool is_locked(void)
{
	return mr_lock_is_held(AT_FDCWD, LOCK);
}

/* ---- the contract ---- */

static enum mr_code share_lock(struct mr_err *err)
{
	enum mr_code rc;

	counter.shared = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(counter.shared >= 0);
	rc = mr_lock_share(counter.shared, LOCK, 0, err);
	if (rc) {
		close(counter.shared);
		counter.shared = -1;
	}
	return rc;
}

static enum mr_code enter(struct mr_call *call, const struct mr_op *op, const struct mr_args *in,
	void **part)
{
	enum mr_code rc;

	(void)in;
	if (op->needs & MR_NEED_WRITE)
		rc = mr_lock_take(AT_FDCWD, LOCK, op->name, 0, call->cx.clock, &counter.alone,
			&call->cx.err);
	else
		rc = share_lock(&call->cx.err);
	if (!rc)
		*part = &counter;
	return rc;
}

static void leave(struct mr_call *call, const struct mr_op *op, void *part, enum mr_code rc)
{
	struct counter *entered = part;

	(void)call;
	(void)op;
	(void)rc;
	if (!entered)
		return;
	mr_lock_release(&entered->alone);
	if (entered->shared >= 0)
		close(entered->shared);
	entered->shared = -1;
}

static void put_trace(struct mr_out *out, const struct mr_invocation *how)
{
	mr_out_map(out, "trace");
	mr_out_bool(out, "timed", mr_clock_mono_us(how->clock) >= how->begun_us);
	mr_out_end(out);
}

/* {"code": the operation, its members, "trace": {…}} */
static void put_result(struct mr_out *out, const struct mr_call *call, const struct mr_op *op,
	const struct mr_value *emitted)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "code", op->name);
	for (size_t i = 0; emitted && i < emitted->map.len; i++)
		mr_out_value(out, emitted->map.pairs[i].key, &emitted->map.pairs[i].value);
	put_trace(out, call->invocation);
	mr_out_end(out);
}

static void put_failure(struct mr_out *out, const struct mr_invocation *how,
	const struct mr_err *err)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "code", "error");
	mr_out_text(out, "error", how->message);
	if (how->is_usage)
		mr_out_text(out, "hint", *how->path ? how->path : "(none)");
	else
		mr_out_bool(out, "retryable", mr_code_is_retryable(err->code));
	put_trace(out, how);
	mr_out_end(out);
}

/* Was this option given, and not another value of it? */
static bool is_given(const struct mr_invocation *how, const char *option, const char *value)
{
	for (size_t i = 0; i < how->given_count; i++) {
		if (strcmp(how->given[i].option, option) == 0 &&
			(!value || strcmp(how->given[i].value, value) == 0))
			return true;
	}
	return false;
}

/* What --log names, or everything with --verbose; a warning in any case. */
static void put_event(struct mr_out *out, const struct mr_invocation *how,
	const struct mr_event *event)
{
	static const char *const names[] = {
		[MR_EVENT_BEGIN] = "begin",
		[MR_EVENT_WARNING] = "warning",
		[MR_EVENT_PROGRESS] = "progress",
		[MR_EVENT_END] = "end",
	};
	const char *name = names[event->kind];

	if (event->kind != MR_EVENT_WARNING && !is_given(how, "--verbose", NULL) &&
		!is_given(how, "--log", name))
		return;
	mr_out_map(out, NULL);
	mr_out_text(out, "code", "log");
	mr_out_text(out, "event", name);
	if (event->kind == MR_EVENT_PROGRESS) {
		mr_out_text(out, "what", event->text);
		mr_out_int(out, "done", (int64_t)event->done);
		mr_out_int(out, "total", (int64_t)event->total);
	}
	if (event->kind == MR_EVENT_END)
		mr_out_bool(out, "success", !event->err);
	mr_out_end(out);
}

static void put_help(struct mr_buf *out, const struct mr_op_table *table,
	const struct mr_invocation *how)
{
	mr_buf_printf(out, "%s: %zu commands, as %s\n", how->path, table->len, how->format->name);
}

static void put_version(struct mr_buf *out, const struct mr_invocation *how)
{
	mr_buf_printf(out, "version as %s\n", how->format->name);
}

/* code=log event=end …: only what is at the top. */
static void write_plain(struct mr_buf *out, const struct mr_op *op, const struct mr_value *value,
	const struct mr_render *how)
{
	const char *between = "";

	(void)op;
	(void)how;
	for (size_t i = 0; i < value->map.len; i++) {
		const struct mr_value *member = &value->map.pairs[i].value;

		if (member->kind != MR_TEXT && member->kind != MR_INT)
			continue;
		mr_buf_printf(out, "%s%s=", between, value->map.pairs[i].key);
		if (member->kind == MR_TEXT)
			mr_buf_puts(out, member->text);
		else
			mr_buf_printf(out, "%lld", (long long)member->integer);
		between = " ";
	}
	mr_buf_putc(out, '\n');
}

static const struct mr_global_option line_globals[] = {
	{ "--help", NULL, "show help", MR_GLOBAL_HELP, 'h' },
	{ "--version", NULL, "print the version", MR_GLOBAL_VERSION, 'V' },
	{ "--output", "FORMAT", "json or plain", MR_GLOBAL_FORMAT, .counts_behind = true },
	{ "--log", "EVENT", "tell of these events", MR_GLOBAL_OWN },
	{ "--verbose", NULL, "tell of all events", MR_GLOBAL_OWN },
	{ 0 },
};
static const struct mr_format line_formats[] = {
	{ .name = "json", .json_style = MR_JSON_COMPACT },
	{ .name = "plain", .write = write_plain },
	{ 0 },
};
static const struct mr_contract lines = {
	.enter = enter,
	.leave = leave,
	.result = put_result,
	.globals = line_globals,
	.formats = line_formats,
	.failure = put_failure,
	.failures = MR_STREAM_STDOUT,
	.event = put_event,
	.help = put_help,
	.version = put_version,
};

/* ---- its operations ---- */

struct step {
	int64_t by;
};
struct counted {
	int64_t value;
};
static const struct mr_param step_params[] = {
	MR_PARAM(struct step, by, "by", .flags = MR_REQUIRED, .min = 0, .max = 9,
		.summary = "how far"),
	{ 0 },
};
static const struct mr_field counted_fields[] = {
	MR_FIELD(struct counted, value, "value"),
	{ 0 },
};

static enum mr_code count_up(struct mr_call *call, struct counter *in, const struct step *request,
	struct counted *out)
{
	CHECK(is_locked());
	if (request->by == 0)
		return mr_err_set(&call->cx.err, MR_EIO, "it does not move");
	for (int64_t i = 1; i <= request->by; i++)
		call->cx.progress(call->cx.progress_arg, "steps", (size_t)i, (size_t)request->by);
	out->value = in->value += request->by;
	return MR_OK;
}
MR_BIND_CALL(count, count_up, struct counter, struct step, struct counted);

static const struct mr_op count_op = {
	.name = "count",
	.command = "count",
	.summary = "Count",
	.params = step_params,
	.result = counted_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &lines,
	.bind = &count,
};

static enum mr_code read_value(struct mr_call *call, struct counter *in,
	const struct mr_nothing *request, struct counted *out)
{
	(void)call;
	(void)request;
	CHECK(in->shared >= 0);
	out->value = in->value;
	return MR_OK;
}
MR_BIND_CALL(reading, read_value, struct counter, struct mr_nothing, struct counted);

static const struct mr_op show_op = {
	.name = "show",
	.command = "show",
	.summary = "Show",
	.result = counted_fields,
	.surfaces = MR_ON_CLI,
	.contract = &lines,
	.bind = &reading,
};

static enum mr_code do_nothing(struct mr_call *call, struct counter *in,
	const struct mr_nothing *request, struct mr_nothing *out)
{
	(void)call;
	(void)in;
	(void)request;
	(void)out;
	return MR_OK;
}
MR_BIND_CALL(idling, do_nothing, struct counter, struct mr_nothing, struct mr_nothing);

static const struct mr_op idle_op = {
	.name = "idle",
	.command = "idle",
	.summary = "Do nothing",
	.surfaces = MR_ON_CLI,
	.contract = &lines,
	.bind = &idling,
};

static const struct mr_op *const ops[] = { &count_op, &show_op, &idle_op };
static const struct mr_op_table table = { ops, MR_LEN(ops), &lines };

/* ---- the tests ---- */

#define TRACE ",\"trace\":{\"timed\":true}}\n"

static struct mr_arena *arena;

static void begin(void)
{
	arena = mr_arena_new();
	CHECK(chdir(test_dir()) == 0);
}

static void end(void)
{
	mr_arena_free(arena);
}

/* It wrote this, and nothing to standard error. */
static void says(const char *line, int status, const char *text)
{
	struct captured said = capture(arena, &table, line);

	CHECK_STR(said.out, text);
	CHECK_STR(said.err, "");
	CHECK_INT(said.status, status);
}

static void a_result_is_wrapped_by_its_contract(void)
{
	begin();
	says("count --by 2", 0, "{\"code\":\"count\",\"value\":2" TRACE);
	says("show", 0, "{\"code\":\"show\",\"value\":2" TRACE);
	/* Also where the operation has none. */
	says("idle", 0, "{\"code\":\"idle\"" TRACE);
	end();
}

static void wrong_usage_is_an_object_on_standard_output(void)
{
	begin();
	says("count --by 2 --wrong", 2,
		"{\"code\":\"error\",\"error\":\"there is no option "
		"--wrong\",\"hint\":\"count\"" TRACE);
	says("nothing", 2,
		"{\"code\":\"error\",\"error\":\"there is no command 'nothing'; see mailroom "
		"--help\",\"hint\":\"(none)\"" TRACE);
	says("", 2,
		"{\"code\":\"error\",\"error\":\"no command provided; try: mailroom "
		"--help\",\"hint\":\"(none)\"" TRACE);
	/* What is found wrong only when the arguments are decoded is wrong usage, too. */
	says("count --by many", 2,
		"{\"code\":\"error\",\"error\":\"--by must be an "
		"integer\",\"hint\":\"count\"" TRACE);
	CHECK(!is_locked());
	end();
}

static void a_failure_is_no_wrong_usage(void)
{
	begin();
	says("count --by 0", 1,
		"{\"code\":\"error\",\"error\":\"it does not move\",\"retryable\":false" TRACE);
	CHECK(!is_locked());
	end();
}

static void the_part_is_locked_while_an_operation_runs(void)
{
	struct mr_lock other = MR_LOCK_INIT;
	struct mr_err err;

	begin();
	says("count --by 1", 0, "{\"code\":\"count\",\"value\":1" TRACE);
	CHECK(!is_locked());
	CHECK_OK(mr_lock_take(AT_FDCWD, LOCK, "another", 0, mr_clock_system(), &other, &err), err);
	CHECK_INT(capture(arena, &table, "count --by 1").status, 1);
	CHECK(strstr(capture(arena, &table, "show").out, "\"retryable\":true"));
	mr_lock_release(&other);
	says("show", 0, "{\"code\":\"show\",\"value\":1" TRACE);
	end();
}

static void readers_share_the_lock(void)
{
	int other;
	struct mr_err err;

	begin();
	other = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(other >= 0);
	CHECK_OK(mr_lock_share(other, LOCK, 0, &err), err);
	says("show", 0, "{\"code\":\"show\",\"value\":0" TRACE);
	CHECK_INT(capture(arena, &table, "count --by 1").status, 1);
	close(other);
	says("count --by 1", 0, "{\"code\":\"count\",\"value\":1" TRACE);
	end();
}

#define STEP(n)                                                                                    \
	"{\"code\":\"log\",\"event\":\"progress\",\"what\":\"steps\",\"done\":" n ",\"total\":2}"  \
	"\n"

static void progress_is_told_in_lines_before_the_result(void)
{
	begin();
	says("count --by 2 --log progress", 0,
		STEP("1") STEP("2") "{\"code\":\"count\",\"value\":2" TRACE);
	says("--verbose count --by 2", 0,
		"{\"code\":\"log\",\"event\":\"begin\"}\n" STEP("1")
			STEP("2") "{\"code\":\"log\",\"event\":\"end\",\"success\":true}\n"
				  "{\"code\":\"count\",\"value\":4" TRACE);
	says("count --by 0 --log=end", 1,
		"{\"code\":\"log\",\"event\":\"end\",\"success\":false}\n"
		"{\"code\":\"error\",\"error\":\"it does not move\",\"retryable\":false" TRACE);
	end();
}

static void warnings_are_lines_too(void)
{
	struct mr_err err;

	begin();
	CHECK_OK(mr_fs_write(AT_FDCWD, ".env", mr_bytes_text("HTTP_BEARER_TOKEN=x\n"), MR_FS_NEW,
			 0600, &err),
		err);
	says("show", 0,
		"{\"code\":\"log\",\"event\":\"warning\"}\n{\"code\":\"show\",\"value\":0" TRACE);
	end();
}

static void all_is_said_in_the_format_that_was_asked_for(void)
{
	begin();
	says("count --by 1 --output plain --log progress", 0,
		"code=log event=progress what=steps done=1 total=1\ncode=count value=1\n");
	says("--output=plain count --wrong", 2,
		"code=error error=there is no option --wrong hint=count\n");
	says("count --wrong --output plain", 2,
		"code=error error=there is no option --wrong hint=count\n");
	says("show there --output=plain", 2,
		"code=error error='there' is one argument too many; see mailroom show --help "
		"hint=show\n");
	/* What is wrong with the second one does not hide the first. */
	says("count --wrong --output", 2,
		"{\"code\":\"error\",\"error\":\"there is no option "
		"--wrong\",\"hint\":\"count\"" TRACE);
	says("show -- there --output plain", 2,
		"{\"code\":\"error\",\"error\":\"'there' is one argument too many; see mailroom "
		"show "
		"--help\",\"hint\":\"show\"" TRACE);
	says("show --output xml", 2,
		"{\"code\":\"error\",\"error\":\"there is no output format 'xml'; use one of: "
		"json, "
		"plain\",\"hint\":\"show\"" TRACE);
	says("show --output", 2,
		"{\"code\":\"error\",\"error\":\"--output needs a value\",\"hint\":\"show\"" TRACE);
	says("show --help --output plain", 0, "show: 3 commands, as plain\n");
	says("-V", 0, "version as json\n");
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_result_is_wrapped_by_its_contract),
		TEST(wrong_usage_is_an_object_on_standard_output),
		TEST(a_failure_is_no_wrong_usage),
		TEST(the_part_is_locked_while_an_operation_runs),
		TEST(readers_share_the_lock),
		TEST(progress_is_told_in_lines_before_the_result),
		TEST(warnings_are_lines_too),
		TEST(all_is_said_in_the_format_that_was_asked_for),
	};

	return test_main(tests, MR_LEN(tests));
}
