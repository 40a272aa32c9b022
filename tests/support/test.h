/*
 * tests/support/test.h - a unit test is a function; each runs in a process of its own; output is
 * TAP.
 *
 * A failed CHECK says where and ends that test. A crash or a sanitizer report fails it too.
 */
#pragma once

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(fn)                                                                                   \
	{                                                                                          \
#fn, fn                                                                            \
	}

int test_main(const struct test *tests, size_t count);

/* Are `a` and `b` equal? If not, say both; `b` may be NULL. */
void test_check_str(const char *file, int line, const char *what, const char *a, const char *b);
void test_check_int(const char *file, int line, const char *what, long long a, long long b);
void test_fail(const char *file, int line, const char *fmt, ...) MR_PRINTF(3, 4)
	__attribute__((noreturn));

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			test_fail(__FILE__, __LINE__, "%s", #cond);                                \
	} while (0)
#define CHECK_STR(a, b) test_check_str(__FILE__, __LINE__, #a, a, b)
#define CHECK_INT(a, b) test_check_int(__FILE__, __LINE__, #a, (long long)(a), (long long)(b))
/* The call succeeded; if not, show its message. */
#define CHECK_OK(rc, err)                                                                          \
	do {                                                                                       \
		if ((rc) != 0)                                                                     \
			test_fail(__FILE__, __LINE__, "%s: %s", #rc, (err).msg);                   \
	} while (0)

/* A fresh directory, removed when the test's process ends well. */
const char *test_dir(void);
