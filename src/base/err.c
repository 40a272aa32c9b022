/*
 * base/err.c - Error objects and field issues, and the table that maps each error code to its
 * name, exit status, HTTP status and retryability.
 */
#include "base/err.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void mr_issues_init(struct mr_issues *issues, struct mr_arena *arena)
{
	*issues = (struct mr_issues){ .arena = arena };
}

void mr_issues_add(struct mr_issues *issues, enum mr_issue_kind kind, const char *path,
	const char *expected, const char *fmt, ...)
{
	va_list ap;

	if (issues->len == MR_ISSUES_MAX) {
		issues->dropped++;
		return;
	}
	if (!issues->items)
		issues->items =
			mr_arena_array(issues->arena, MR_ISSUES_MAX, sizeof(*issues->items));
	va_start(ap, fmt);
	issues->items[issues->len++] = (struct mr_issue){
		.kind = kind,
		.path = path,
		.expected = expected,
		.msg = mr_arena_vprintf(issues->arena, fmt, ap),
	};
	va_end(ap);
}

/* vsnprintf into the message that never leaves half a character at the end. */
static void write_msg(struct mr_err *err, const char *fmt, va_list ap) MR_PRINTF(2, 0);
static void write_msg(struct mr_err *err, const char *fmt, va_list ap)
{
	int len = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);

	if (len >= (int)sizeof(err->msg))
		err->msg[mr_utf8_truncate(err->msg, sizeof(err->msg) - 1, sizeof(err->msg) - 1)] =
			'\0';
}

/*
 * Put ": cause" behind the place that stands in the message. The cause matters more: when both do
 * not fit, the place gives way. `cause` fits by itself.
 */
static void add_cause(struct mr_err *err, const char *cause)
{
	size_t room = sizeof(err->msg) - 1;
	size_t cause_len = strlen(cause);
	size_t len = strlen(err->msg);

	if (cause_len == 0)
		return;
	len = mr_utf8_truncate(err->msg, len, cause_len + 2 < room ? room - 2 - cause_len : 0);
	if (len) {
		memcpy(err->msg + len, ": ", 2);
		len += 2;
	}
	memcpy(err->msg + len, cause, cause_len + 1);
}

enum mr_code mr_err_set(struct mr_err *err, enum mr_code code, const char *fmt, ...)
{
	va_list ap;

	*err = (struct mr_err){ .code = code };
	va_start(ap, fmt);
	write_msg(err, fmt, ap);
	va_end(ap);
	return code;
}

static enum mr_code code_of_errno(int os_errno)
{
	switch (os_errno) {
	case ENOENT:
	case ENOTDIR:
		return MR_ENOTFOUND;
	case EEXIST:
		return MR_EEXISTS;
	case EACCES:
	case EPERM:
		return MR_EPERM;
	case ETIMEDOUT:
		return MR_ETIMEOUT;
	default:
		return MR_EIO;
	}
}

static const char *advice_for_errno(int os_errno)
{
	switch (os_errno) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space and try again";
	case EROFS:
		return "; it must be mounted writable";
	case EMFILE:
	case ENFILE:
		return "; raise the limit on open files (ulimit -n)";
	default:
		return "";
	}
}

enum mr_code mr_err_os(struct mr_err *err, int os_errno, const char *fmt, ...)
{
	const char *reason = strerrordesc_np(os_errno);
	char cause[160];
	va_list ap;

	if (reason)
		snprintf(cause, sizeof(cause), "%s%s", reason, advice_for_errno(os_errno));
	else
		snprintf(cause, sizeof(cause), "error %d", os_errno);
	*err = (struct mr_err){ .code = code_of_errno(os_errno), .os_errno = os_errno };
	va_start(ap, fmt);
	write_msg(err, fmt, ap);
	va_end(ap);
	add_cause(err, cause);
	return err->code;
}

enum mr_code mr_err_wrap(struct mr_err *err, const char *fmt, ...)
{
	char cause[MR_ERR_MSG_BYTES];
	va_list ap;

	memcpy(cause, err->msg, sizeof(cause));
	va_start(ap, fmt);
	write_msg(err, fmt, ap);
	va_end(ap);
	add_cause(err, cause);
	return err->code;
}

enum mr_code mr_err_word(struct mr_err *err, const char *word)
{
	err->word = word;
	return err->code;
}

enum mr_code mr_err_issues(struct mr_err *err, const struct mr_issues *issues, const char *what)
{
	enum { SHOWN = 5 };

	mr_err_set(err, MR_EINVAL, "%s", what);
	err->issues = issues;
	for (size_t i = 0; i < issues->len && i < SHOWN; i++) {
		size_t len = strlen(err->msg);

		snprintf(err->msg + len, sizeof(err->msg) - len, "%s%s: %s", i ? "; " : ": ",
			issues->items[i].path, issues->items[i].msg);
	}
	err->msg[mr_utf8_truncate(err->msg, strlen(err->msg), sizeof(err->msg) - 1)] = '\0';
	return MR_EINVAL;
}

static const struct {
	const char *name;
	int exit_status;
	int http_status;
	bool retryable;
} meanings[MR_CODE_COUNT] = {
	[MR_OK] = { "ok", 0, 200, false },
	[MR_EINVAL] = { "invalid", 2, 400, false },
	[MR_ENOTFOUND] = { "not_found", 1, 404, false },
	[MR_EEXISTS] = { "exists", 1, 409, false },
	[MR_ECONFLICT] = { "conflict", 1, 409, false },
	[MR_EAUTH] = { "unauthorized", 1, 401, false },
	[MR_EPERM] = { "forbidden", 1, 403, false },
	[MR_ELIMIT] = { "too_large", 1, 413, false },
	[MR_EFORMAT] = { "malformed", 1, 422, false },
	[MR_EIO] = { "io_error", 1, 500, false },
	[MR_EBUSY] = { "busy", 1, 503, true },
	[MR_ETIMEOUT] = { "timeout", 1, 504, true },
	[MR_EREMOTE] = { "remote_error", 1, 502, true },
	[MR_ENOTCONFIRMED] = { "not_confirmed", 1, 409, false },
	[MR_EINTERNAL] = { "internal", 1, 500, false },
};

const char *mr_code_name(enum mr_code code)
{
	return meanings[code].name;
}

int mr_code_exit_status(enum mr_code code)
{
	return meanings[code].exit_status;
}

int mr_code_http_status(enum mr_code code)
{
	return meanings[code].http_status;
}

bool mr_code_is_retryable(enum mr_code code)
{
	return meanings[code].retryable;
}
