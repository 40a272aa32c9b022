/* tests/unit/base/test_log.c */
#include "base/log.h"

#include "base/utf8.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT_BYTES = 1 << 20 };

/* What the sink was given; `inside` shows whether two threads ever are in it. */
struct kept {
	char text[KEPT_BYTES];
	size_t len;
	size_t lines;
	int inside;
	bool crowded;
};

static struct kept kept;

static void keep(void *arg, const char *line, size_t len)
{
	struct kept *k = arg;

	k->crowded = k->crowded || __atomic_add_fetch(&k->inside, 1, __ATOMIC_SEQ_CST) != 1;
	if (k->len + len < KEPT_BYTES) {
		memcpy(k->text + k->len, line, len);
		k->len += len;
		k->text[k->len] = '\0';
	}
	k->lines++;
	__atomic_sub_fetch(&k->inside, 1, __ATOMIC_SEQ_CST);
}

static void forget(void)
{
	kept.len = 0;
	kept.lines = 0;
	kept.text[0] = '\0';
}

/* The one line that was logged, after its time, which is checked for its shape. */
static const char *line_after_ts(void)
{
	static const char shape[] = "{\"ts\":\"dddd-dd-ddTdd:dd:dd.dddZ\",";

	CHECK_INT(kept.lines, 1);
	CHECK(kept.len > sizeof(shape) && kept.text[kept.len - 1] == '\n');
	CHECK_INT(strlen(kept.text), kept.len);
	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (shape[i] == 'd')
			CHECK(kept.text[i] >= '0' && kept.text[i] <= '9');
		else
			CHECK_INT(kept.text[i], shape[i]);
	}
	CHECK(mr_utf8_is_valid(kept.text, kept.len, NULL));
	return kept.text + sizeof(shape) - 1;
}

static void nothing_is_logged_before_the_start(void)
{
	mr_log(MR_LOG_ERROR, "early", "lost");
	mr_log_fields(MR_LOG_ERROR, "early", NULL, 0);
	CHECK(!mr_log_wants(MR_LOG_ERROR));
	CHECK(!mr_log_wants(MR_LOG_OFF));
}

static void a_level_lets_its_betters_through(void)
{
	for (int set = MR_LOG_DEBUG; set <= MR_LOG_OFF; set++) {
		mr_log_start((enum mr_log_level)set, keep, &kept);
		for (int level = MR_LOG_DEBUG; level <= MR_LOG_OFF; level++) {
			bool want = level >= set && level != MR_LOG_OFF;

			forget();
			CHECK_INT(mr_log_wants((enum mr_log_level)level), want);
			mr_log((enum mr_log_level)level, "e", "m");
			mr_log_fields((enum mr_log_level)level, "e", NULL, 0);
			CHECK_INT(kept.lines, want ? 2 : 0);
		}
	}
}

static void parses_levels(void)
{
	static const struct {
		const char *name;
		int level;
	} cases[] = {
		{ "debug", MR_LOG_DEBUG },
		{ "info", MR_LOG_INFO },
		{ "INFO", MR_LOG_INFO },
		{ "warning", MR_LOG_WARN },
		{ "warn", MR_LOG_WARN },
		{ "WARN", MR_LOG_WARN },
		{ "error", MR_LOG_ERROR },
		{ "off", MR_LOG_OFF },
		{ "", -1 },
		{ "inf", -1 },
		{ "info ", -1 },
		{ "loud", -1 },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		enum mr_log_level got = MR_LOG_DEBUG;
		bool good = mr_log_level_parse(cases[i].name, &got);

		CHECK_INT(good, cases[i].level >= 0);
		CHECK_INT(got, good ? cases[i].level : MR_LOG_DEBUG);
	}
}

static void a_message_is_one_object_on_one_line(void)
{
	static const struct {
		enum mr_log_level level;
		const char *msg;
		const char *line;
	} cases[] = {
		{ MR_LOG_DEBUG, "hi", "\"level\":\"debug\",\"event\":\"ev\",\"msg\":\"hi\"}\n" },
		{ MR_LOG_INFO, "hi", "\"level\":\"info\",\"event\":\"ev\",\"msg\":\"hi\"}\n" },
		{ MR_LOG_WARN, "hi", "\"level\":\"warning\",\"event\":\"ev\",\"msg\":\"hi\"}\n" },
		{ MR_LOG_ERROR, "hi", "\"level\":\"error\",\"event\":\"ev\",\"msg\":\"hi\"}\n" },
		/* Nobody can forge a second line or a member. */
		{ MR_LOG_INFO, "a\n\",\"x\":1}\r\\",
			"\"level\":\"info\",\"event\":\"ev\","
			"\"msg\":\"a\\n\\\",\\\"x\\\":1}\\r\\\\\"}\n" },
		{ MR_LOG_INFO, "\x1b[31m\x7f\xc3\xa9\xff",
			"\"level\":\"info\",\"event\":\"ev\","
			"\"msg\":\"\\u001b[31m\x7f\xc3\xa9\xef\xbf\xbd\"}\n" },
		{ MR_LOG_INFO, "", "\"level\":\"info\",\"event\":\"ev\"}\n" },
	};

	mr_log_start(MR_LOG_DEBUG, keep, &kept);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		forget();
		mr_log(cases[i].level, "ev", "%s", cases[i].msg);
		CHECK_STR(line_after_ts(), cases[i].line);
	}
	forget();
	mr_log(MR_LOG_INFO, "a\"b\n", "%d%%", 5);
	CHECK_STR(line_after_ts(), "\"level\":\"info\",\"event\":\"a\\\"b\\n\",\"msg\":\"5%\"}\n");
	/* The header's way to leave the message out must also compile. */
	forget();
	mr_log(MR_LOG_INFO, "bare", "");
	CHECK_STR(line_after_ts(), "\"level\":\"info\",\"event\":\"bare\"}\n");
}

static void fields_are_members(void)
{
	static const struct mr_log_field fields[] = {
		{ .key = "n", .number = INT64_MIN },
		{ .key = "m", .number = INT64_MAX },
		{ .key = "t", .text = "a\"b\n" },
		{ .key = "e", .text = "", .number = 3 },
		{ .key = "z" },
	};

	mr_log_start(MR_LOG_INFO, keep, &kept);
	mr_log_fields(MR_LOG_WARN, "ev", fields, MR_LEN(fields));
	CHECK_STR(line_after_ts(),
		"\"level\":\"warning\",\"event\":\"ev\",\"n\":-9223372036854775808,"
		"\"m\":9223372036854775807,\"t\":\"a\\\"b\\n\",\"e\":\"\",\"z\":0}\n");
	forget();
	mr_log_fields(MR_LOG_INFO, "ev", NULL, 0);
	CHECK_STR(line_after_ts(), "\"level\":\"info\",\"event\":\"ev\"}\n");
}

static char *repeat(const char *unit, size_t count)
{
	static char text[100001];
	size_t len = strlen(unit);

	CHECK(len * count < sizeof(text));
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * len, unit, len);
	text[len * count] = '\0';
	return text;
}

/* A message is cut, between characters; its line stays a line. */
static void a_long_message_is_cut(void)
{
	static const char head[] = "\"level\":\"info\",\"event\":\"ev\",\"msg\":\"";
	static const char *const units[] = { "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };

	mr_log_start(MR_LOG_INFO, keep, &kept);
	for (size_t u = 0; u < MR_LEN(units); u++) {
		for (int shift = 0; shift < 4; shift++) {
			const char *line;

			forget();
			mr_log(MR_LOG_INFO, "ev", "%.*s%s", shift, "xyz", repeat(units[u], 20000));
			line = line_after_ts();
			CHECK(strncmp(line, head, strlen(head)) == 0);
			CHECK(strlen(line) > 2000);
			CHECK(strcmp(line + strlen(line) - 3, "\"}\n") == 0);
			CHECK(strstr(line, "\xef\xbf\xbd") == NULL);
		}
	}
}

/* What does not fit into a line still says what happened, when and how bad it was. */
static void a_line_too_long_keeps_its_head(void)
{
	static const char want[] =
		"\"level\":\"error\",\"event\":\"ev\",\"msg\":\"too long to be logged\"}\n";
	struct mr_log_field field = { .key = "k", .text = repeat("x", 9000) };
	struct mr_log_field many[1000];
	char event[257] = "";

	mr_log_start(MR_LOG_INFO, keep, &kept);
	mr_log_fields(MR_LOG_ERROR, "ev", &field, 1);
	CHECK_STR(line_after_ts(), want);
	forget();
	for (size_t i = 0; i < MR_LEN(many); i++)
		many[i] = (struct mr_log_field){ .key = "number", .number = INT64_MAX };
	mr_log_fields(MR_LOG_ERROR, "ev", many, MR_LEN(many));
	CHECK_STR(line_after_ts(), want);
	/* Escapes make six bytes of one. */
	forget();
	mr_log(MR_LOG_ERROR, "ev", "%s", repeat("\x01", 2000));
	CHECK_STR(line_after_ts(), want);
	forget();
	mr_log(MR_LOG_ERROR, repeat("e", 9000), "m");
	CHECK_STR(line_after_ts(),
		"\"level\":\"error\",\"event\":\"log_line_too_long\",\"msg\":\"m\"}\n");
	/* The longest event, all of it escaped, still leaves the head whole. */
	forget();
	memset(event, 1, sizeof(event) - 1);
	mr_log(MR_LOG_ERROR, event, "%s", repeat("\x01", 2000));
	CHECK(strstr(line_after_ts(), "\\u0001\",\"msg\":\"too long to be logged\"}\n"));
}

/* Right up to the limit, each line is either whole or replaced; never a broken one. */
static void no_line_is_ever_half(void)
{
	mr_log_start(MR_LOG_INFO, keep, &kept);
	for (size_t len = 8000; len < 8300; len++) {
		struct mr_log_field field = { .key = "k", .text = repeat("x", len) };
		const char *line;

		forget();
		mr_log_fields(MR_LOG_INFO, "ev", &field, 1);
		line = line_after_ts();
		CHECK(kept.len <= 8192);
		if (strstr(line, "too long"))
			CHECK(len > 8100);
		else
			CHECK_INT(strlen(line),
				strlen("\"level\":\"info\",\"event\":\"ev\","
				       "\"k\":\"\"}\n") +
					len);
	}
}

enum { THREADS = 8, LINES_EACH = 200 };

static void *write_lines(void *arg)
{
	for (int i = 0; i < LINES_EACH; i++) {
		if (i % 2)
			mr_log(MR_LOG_INFO, "thread", "%d %d", *(int *)arg, i);
		else
			mr_log_fields(MR_LOG_INFO, "thread",
				&(struct mr_log_field){ .key = "n", .number = i }, 1);
	}
	return NULL;
}

static void threads_take_turns(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];
	size_t lines = 0;

	mr_log_start(MR_LOG_INFO, keep, &kept);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK(pthread_create(&threads[i], NULL, write_lines, &numbers[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(!kept.crowded);
	CHECK_INT(kept.lines, THREADS * LINES_EACH);
	for (char *line = kept.text; *line; line = strchr(line, '\n') + 1) {
		CHECK(strncmp(line, "{\"ts\":\"", 7) == 0);
		lines++;
	}
	CHECK_INT(lines, THREADS * LINES_EACH);
}

/* Without a sink the lines go to standard error. */
static void the_default_is_standard_error(void)
{
	char text[200] = "";
	int status;
	int ends[2];
	pid_t pid;

	CHECK(pipe(ends) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		mr_log_start(MR_LOG_INFO, NULL, NULL);
		mr_log(MR_LOG_INFO, "ev", "to stderr");
		_exit(0);
	}
	close(ends[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(read(ends[0], text, sizeof(text) - 1) > 0);
	CHECK(strstr(text, "\"level\":\"info\",\"event\":\"ev\",\"msg\":\"to stderr\"}\n"));
	close(ends[0]);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(nothing_is_logged_before_the_start),
		TEST(a_level_lets_its_betters_through),
		TEST(parses_levels),
		TEST(a_message_is_one_object_on_one_line),
		TEST(fields_are_members),
		TEST(a_long_message_is_cut),
		TEST(a_line_too_long_keeps_its_head),
		TEST(no_line_is_ever_half),
		TEST(threads_take_turns),
		TEST(the_default_is_standard_error),
	};

	return test_main(tests, MR_LEN(tests));
}
