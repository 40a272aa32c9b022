/*
 * base/err.h - what went wrong, where, and what it means to callers.
 *
 * A function that can fail returns enum mr_code and takes `struct mr_err *err` last, never NULL.
 * The callee says what was wrong; callers add where with mr_err_wrap(). Nobody replaces a message.
 * On success the error object and on failure the outputs are left untouched.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum mr_code {
	MR_OK = 0,
	MR_EINVAL,        /* an argument is wrong */
	MR_ENOTFOUND,     /* what was named is not there */
	MR_EEXISTS,       /* what was to be made is there already */
	MR_ECONFLICT,     /* the state does not allow it */
	MR_EAUTH,         /* not authenticated */
	MR_EPERM,         /* not permitted */
	MR_ELIMIT,        /* too big, too many, too deep */
	MR_EFORMAT,       /* bytes that do not follow their format */
	MR_EIO,           /* the disk or the kernel failed */
	MR_EBUSY,         /* in use by another process */
	MR_ETIMEOUT,      /* it took too long */
	MR_EREMOTE,       /* another machine refused or failed */
	MR_ENOTCONFIRMED, /* needs confirmation first */
	MR_EINTERNAL,     /* a bug of ours */
	MR_CODE_COUNT,
};

enum mr_issue_kind {
	MR_ISSUE_MISSING, /* a required field is absent */
	MR_ISSUE_UNKNOWN, /* a field nobody asked for */
	MR_ISSUE_TYPE,    /* the wrong type; `expected` says which is right */
	MR_ISSUE_RULE,    /* the right type, but against a rule */
};

/* A problem with one field. Contracts with their own vocabulary word it by kind and `expected`. */
struct mr_issue {
	enum mr_issue_kind kind;
	const char *path;     /* JSON path: $.to[0].address */
	const char *expected; /* for MR_ISSUE_TYPE: "string", "integer", ... ; else NULL */
	const char *msg;      /* for people, without the path */
};

enum { MR_ISSUES_MAX = 64 };

/* Problems in the order they were found; past MR_ISSUES_MAX they are only counted. */
struct mr_issues {
	struct mr_arena *arena;
	struct mr_issue *items;
	size_t len;     /* kept in `items` */
	size_t dropped; /* found after the list was full */
};

void mr_issues_init(struct mr_issues *issues, struct mr_arena *arena);
/* `path` and `expected` are kept as they are: they must live as long as the list. */
void mr_issues_add(struct mr_issues *issues, enum mr_issue_kind kind, const char *path,
	const char *expected, const char *fmt, ...) MR_PRINTF(5, 6);

enum { MR_ERR_MSG_BYTES = 480 };

struct mr_err {
	enum mr_code code;
	const char *word;               /* the contract's error word (static text), or NULL */
	const struct mr_issues *issues; /* field problems, living in the request's arena, or NULL */
	const void *detail; /* what else a contract's errors show; only its part knows the type */
	int os_errno;
	char msg[MR_ERR_MSG_BYTES];
};

/* Fill `err` and return `code`. A message too long is cut on a character boundary. */
enum mr_code mr_err_set(struct mr_err *err, enum mr_code code, const char *fmt, ...)
	MR_PRINTF(3, 4);
/*
 * The same for a failed system call: appends strerror(`os_errno`), keeps the number, and chooses
 * the code from it: ENOENT and ENOTDIR are MR_ENOTFOUND, EEXIST is MR_EEXISTS, EACCES and EPERM are
 * MR_EPERM, ETIMEDOUT is MR_ETIMEOUT, the rest MR_EIO. A full disk, a read-only file system and
 * exhausted handles say what to do. However long the rest, the reason is never cut.
 */
enum mr_code mr_err_os(struct mr_err *err, int os_errno, const char *fmt, ...) MR_PRINTF(3, 4);
/* Put "where: " in front of the message; returns the code, so a caller can end with it. */
enum mr_code mr_err_wrap(struct mr_err *err, const char *fmt, ...) MR_PRINTF(2, 3);
/* Set the contract's word; returns the code. */
enum mr_code mr_err_word(struct mr_err *err, const char *word);
/* MR_EINVAL with the issues attached; the message is "`what`: path: msg; path: msg; ...", at most
 * five of them. */
enum mr_code mr_err_issues(struct mr_err *err, const struct mr_issues *issues, const char *what);

/* What a code means outside: one table, in err.c. */
const char *mr_code_name(enum mr_code code);  /* "not_found" */
int mr_code_exit_status(enum mr_code code);   /* 0 ok, 1 failure, 2 usage */
int mr_code_http_status(enum mr_code code);   /* 404 */
bool mr_code_is_retryable(enum mr_code code); /* the same call may succeed later, unchanged */
