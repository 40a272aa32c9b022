/* tests/unit/base/test_err.c */
#include "base/err.h"

#include "base/utf8.h"
#include "test.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { ROOM = MR_ERR_MSG_BYTES - 1 };

/* Every code of the enum, in its order; a new one fails until it is thought about here. */
static const struct {
	enum mr_code code;
	const char *name;
	int exit_status;
	int http_status;
	bool retryable;
} codes[] = {
	{ MR_OK, "ok", 0, 200, false },
	{ MR_EINVAL, "invalid", 2, 400, false },
	{ MR_ENOTFOUND, "not_found", 1, 404, false },
	{ MR_EEXISTS, "exists", 1, 409, false },
	{ MR_ECONFLICT, "conflict", 1, 409, false },
	{ MR_EAUTH, "unauthorized", 1, 401, false },
	{ MR_EPERM, "forbidden", 1, 403, false },
	{ MR_ELIMIT, "too_large", 1, 413, false },
	{ MR_EFORMAT, "malformed", 1, 422, false },
	{ MR_EIO, "io_error", 1, 500, false },
	{ MR_EBUSY, "busy", 1, 503, true },
	{ MR_ETIMEOUT, "timeout", 1, 504, true },
	{ MR_EREMOTE, "remote_error", 1, 502, true },
	{ MR_ENOTCONFIRMED, "not_confirmed", 1, 409, false },
	{ MR_EINTERNAL, "internal", 1, 500, false },
};

static void every_code_has_its_meaning(void)
{
	CHECK_INT(MR_LEN(codes), MR_CODE_COUNT);
	for (int i = 0; i < MR_CODE_COUNT; i++) {
		enum mr_code code = (enum mr_code)i;

		CHECK_INT(codes[i].code, code);
		CHECK_STR(mr_code_name(code), codes[i].name);
		CHECK_INT(mr_code_exit_status(code), codes[i].exit_status);
		CHECK_INT(mr_code_http_status(code), codes[i].http_status);
		CHECK_INT(mr_code_is_retryable(code), codes[i].retryable);
	}
}

/* What must hold for any code, also for one added later. */
static void meanings_agree_with_each_other(void)
{
	for (int i = 0; i < MR_CODE_COUNT; i++) {
		enum mr_code code = (enum mr_code)i;
		int status = mr_code_http_status(code);

		CHECK(mr_code_name(code) && *mr_code_name(code));
		for (const char *c = mr_code_name(code); *c; c++)
			CHECK(islower((unsigned char)*c) || *c == '_');
		for (int j = 0; j < i; j++)
			CHECK(strcmp(mr_code_name(code), mr_code_name((enum mr_code)j)) != 0);
		CHECK((mr_code_exit_status(code) == 0) == (code == MR_OK));
		CHECK(mr_code_exit_status(code) <= 2);
		CHECK(code == MR_OK ? status == 200 : status >= 400 && status <= 599);
		/* A client may repeat what a gateway or an overload answered; nothing else. */
		CHECK(mr_code_is_retryable(code) == (status >= 502 && status <= 504));
	}
}

static void set_fills_everything(void)
{
	struct mr_err err;

	memset(&err, 0x55, sizeof(err));
	CHECK_INT(mr_err_set(&err, MR_ENOTFOUND, "no agent %s", "Fox"), MR_ENOTFOUND);
	CHECK_INT(err.code, MR_ENOTFOUND);
	CHECK_STR(err.msg, "no agent Fox");
	CHECK(err.word == NULL && err.issues == NULL && err.os_errno == 0);
	CHECK_INT(mr_err_word(&err, "UNKNOWN_AGENT"), MR_ENOTFOUND);
	CHECK_STR(err.word, "UNKNOWN_AGENT");
	CHECK_INT(mr_err_set(&err, MR_EINVAL, "%s", ""), MR_EINVAL);
	CHECK_STR(err.msg, "");
	CHECK(err.word == NULL);
}

static char *repeat(struct mr_arena *arena, const char *unit, size_t bytes)
{
	char *text = mr_arena_alloc(arena, bytes + 1);

	for (size_t i = 0; i < bytes; i++)
		text[i] = unit[i % strlen(unit)];
	text[mr_utf8_truncate(text, bytes, bytes)] = '\0';
	return text;
}

static const char *const units[] = { "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };

static void check_whole(const struct mr_err *err)
{
	size_t len = strnlen(err->msg, sizeof(err->msg));

	CHECK(len < sizeof(err->msg));
	CHECK(mr_utf8_is_valid(err->msg, len, NULL));
}

static void a_long_message_is_cut_between_characters(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_err err;

	for (size_t u = 0; u < MR_LEN(units); u++) {
		char *text = repeat(arena, units[u], 1000);

		for (int shift = 0; shift < 4; shift++) {
			mr_err_set(&err, MR_EIO, "%.*s%s", shift, "xyz", text);
			check_whole(&err);
			CHECK(strlen(err.msg) > ROOM - strlen(units[u]));
		}
	}
	/* What just fits is not touched. */
	mr_err_set(&err, MR_EIO, "%s", repeat(arena, "a", ROOM));
	CHECK_INT(strlen(err.msg), ROOM);
}

static void errno_chooses_the_code(void)
{
	static const struct {
		int os_errno;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ ENOENT, MR_ENOTFOUND, "open x: No such file or directory" },
		{ ENOTDIR, MR_ENOTFOUND, "open x: Not a directory" },
		{ EEXIST, MR_EEXISTS, "open x: File exists" },
		{ EACCES, MR_EPERM, "open x: Permission denied" },
		{ EPERM, MR_EPERM, "open x: Operation not permitted" },
		{ ETIMEDOUT, MR_ETIMEOUT, "open x: Connection timed out" },
		{ EIO, MR_EIO, "open x: Input/output error" },
		{ ENOSPC, MR_EIO,
			"open x: No space left on device; free some space and try again" },
		{ EDQUOT, MR_EIO, "open x: Disk quota exceeded; free some space and try again" },
		{ EROFS, MR_EIO, "open x: Read-only file system; it must be mounted writable" },
		{ EMFILE, MR_EIO,
			"open x: Too many open files; raise the limit on open files (ulimit -n)" },
		{ ENFILE, MR_EIO,
			"open x: Too many open files in system; raise the limit on open files "
			"(ulimit -n)" },
		/* No number of this system: still a sentence. */
		{ 4095, MR_EIO, "open x: error 4095" },
		{ -1, MR_EIO, "open x: error -1" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_err err;

		memset(&err, 0x55, sizeof(err));
		CHECK_INT(mr_err_os(&err, cases[i].os_errno, "open %s", "x"), cases[i].code);
		CHECK_INT(err.code, cases[i].code);
		CHECK_INT(err.os_errno, cases[i].os_errno);
		CHECK_STR(err.msg, cases[i].msg);
		CHECK(err.word == NULL && err.issues == NULL);
	}
}

static bool ends_with(const char *text, const char *tail)
{
	return strlen(text) >= strlen(tail) &&
		strcmp(text + strlen(text) - strlen(tail), tail) == 0;
}

/* A path may be ten times the message: the reason must not be what is lost. */
static void a_long_path_leaves_room_for_the_reason(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_err err;

	for (size_t u = 0; u < MR_LEN(units); u++) {
		for (size_t len = ROOM - 80; len < ROOM + 20; len++) {
			mr_err_os(&err, ENOSPC, "open %s", repeat(arena, units[u], len));
			check_whole(&err);
			CHECK(ends_with(err.msg,
				": No space left on device; free some space and try again"));
			CHECK(strncmp(err.msg, "open ", 5) == 0);
		}
	}
}

static void wrap_puts_the_place_in_front(void)
{
	static const struct mr_issues issues;
	struct mr_err err;

	mr_err_os(&err, ENOENT, "open %s", "a.md");
	mr_err_word(&err, "GONE");
	err.issues = &issues;
	CHECK_INT(mr_err_wrap(&err, "inbox of %s", "Fox"), MR_ENOTFOUND);
	CHECK_INT(mr_err_wrap(&err, "repair"), MR_ENOTFOUND);
	CHECK_STR(err.msg, "repair: inbox of Fox: open a.md: No such file or directory");
	CHECK_STR(err.word, "GONE");
	CHECK_INT(err.os_errno, ENOENT);
	CHECK(err.issues == &issues);
}

/* For every length of both: the cause stays whole, the place gives way, no character is halved. */
static void wrap_keeps_the_cause(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const size_t places[] = { 1, 2, 3, 5, 100, ROOM - 1, ROOM, ROOM + 1, 2000 };

	for (size_t u = 0; u < MR_LEN(units); u++) {
		for (size_t len = 1; len <= ROOM + 5; len++) {
			char *cause = repeat(arena, units[u], len);

			for (size_t p = 0; p < MR_LEN(places); p++) {
				char kept[MR_ERR_MSG_BYTES];
				struct mr_err err;

				mr_err_set(&err, MR_EIO, "%s", cause);
				memcpy(kept, err.msg, sizeof(kept));
				CHECK_INT(mr_err_wrap(&err, "%s",
						  repeat(arena, units[u], places[p])),
					MR_EIO);
				check_whole(&err);
				CHECK(ends_with(err.msg, kept));
				CHECK(err.msg[0] != ':');
			}
		}
	}
}

static void wrap_leaves_no_stray_colon(void)
{
	struct mr_err err;

	mr_err_set(&err, MR_EIO, "%s", "");
	mr_err_wrap(&err, "place");
	CHECK_STR(err.msg, "place");
	mr_err_wrap(&err, "%s", "");
	CHECK_STR(err.msg, "place");
}

static void issues_are_listed(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_issues issues;
	struct mr_err err;

	mr_issues_init(&issues, arena);
	CHECK_INT(issues.len, 0);
	CHECK_INT(mr_err_issues(&err, &issues, "send"), MR_EINVAL);
	CHECK_STR(err.msg, "send");
	mr_issues_add(&issues, MR_ISSUE_TYPE, "$.to", "list", "must be a %s", "list");
	CHECK_INT(mr_err_issues(&err, &issues, "send"), MR_EINVAL);
	CHECK_STR(err.msg, "send: $.to: must be a list");
	CHECK(err.issues == &issues);
	CHECK_INT(err.code, MR_EINVAL);
	CHECK_INT(issues.items[0].kind, MR_ISSUE_TYPE);
	CHECK_STR(issues.items[0].path, "$.to");
	CHECK_STR(issues.items[0].expected, "list");
	CHECK_STR(issues.items[0].msg, "must be a list");
	for (int i = 0; i < 5; i++)
		mr_issues_add(&issues, MR_ISSUE_MISSING, "$.x", NULL, "is %d", i);
	mr_err_issues(&err, &issues, "send");
	CHECK_STR(err.msg,
		"send: $.to: must be a list; $.x: is 0; $.x: is 1; $.x: is 2; $.x: is 3");
}

static void issues_past_the_maximum_are_counted(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_issues issues;
	size_t before;

	mr_issues_init(&issues, arena);
	for (int i = 0; i < MR_ISSUES_MAX; i++)
		mr_issues_add(&issues, MR_ISSUE_RULE, "$", NULL, "number %d", i);
	CHECK_INT(issues.len, MR_ISSUES_MAX);
	CHECK_INT(issues.dropped, 0);
	CHECK_STR(issues.items[MR_ISSUES_MAX - 1].msg, "number 63");
	before = mr_arena_size(arena);
	for (int i = 0; i < 100000; i++)
		mr_issues_add(&issues, MR_ISSUE_RULE, "$", NULL, "another");
	CHECK_INT(issues.len, MR_ISSUES_MAX);
	CHECK_INT(issues.dropped, 100000);
	CHECK_INT(mr_arena_size(arena), before);
}

static void long_issues_are_cut_between_characters(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t u = 0; u < MR_LEN(units); u++) {
		for (size_t len = 1; len < 600; len++) {
			struct mr_issues issues;
			struct mr_err err;

			mr_issues_init(&issues, arena);
			for (int i = 0; i < 5; i++)
				mr_issues_add(&issues, MR_ISSUE_RULE, "$.\xe2\x82\xac", NULL, "%s",
					repeat(arena, units[u], len));
			mr_err_issues(&err, &issues, "send");
			check_whole(&err);
			CHECK(strncmp(err.msg, "send: $.", 8) == 0);
			mr_err_issues(&err, &issues, repeat(arena, units[u], len));
			check_whole(&err);
		}
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(every_code_has_its_meaning),
		TEST(meanings_agree_with_each_other),
		TEST(set_fills_everything),
		TEST(a_long_message_is_cut_between_characters),
		TEST(errno_chooses_the_code),
		TEST(a_long_path_leaves_room_for_the_reason),
		TEST(wrap_puts_the_place_in_front),
		TEST(wrap_keeps_the_cause),
		TEST(wrap_leaves_no_stray_colon),
		TEST(issues_are_listed),
		TEST(issues_past_the_maximum_are_counted),
		TEST(long_issues_are_cut_between_characters),
	};

	return test_main(tests, MR_LEN(tests));
}
