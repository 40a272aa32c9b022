/* tests/support/test.c */
#include "test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "# %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(stderr);
	_exit(1);
}

void test_check_str(const char *file, int line, const char *what, const char *a, const char *b)
{
	if (a == b || (a && b && strcmp(a, b) == 0))
		return;
	test_fail(file, line, "%s is \"%s\", not \"%s\"", what, a ? a : "(null)", b ? b : "(null)");
}

void test_check_int(const char *file, int line, const char *what, long long a, long long b)
{
	if (a != b)
		test_fail(file, line, "%s is %lld, not %lld", what, a, b);
}

static char dir_path[128];

static void remove_dir(void)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir_path);
	if (system(command) != 0)
		fprintf(stderr, "# could not remove %s\n", dir_path);
}

const char *test_dir(void)
{
	const char *base;
	int len;

	if (dir_path[0])
		return dir_path;
	base = getenv("TMPDIR");
	len = snprintf(dir_path, sizeof(dir_path), "%s/mailroom-test-XXXXXX",
		base && *base ? base : "/tmp");
	if (len < 0 || (size_t)len >= sizeof(dir_path) || !mkdtemp(dir_path))
		test_fail(__FILE__, __LINE__, "cannot make a directory in %s",
			base && *base ? base : "/tmp");
	atexit(remove_dir);
	return dir_path;
}

static bool run_apart(const struct test *test)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test->run();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		fprintf(stderr, "# %s: signal %d\n", test->name, WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/*
 * What a test finds around it is the same on every machine: no variable but the path of programs,
 * the directory for temporary files, those of the sanitizers and the crash points, and the usual
 * umask.
 */
static void own_surroundings(void)
{
	static const char *const kept[] = { "PATH=", "TMPDIR=", "ASAN_", "UBSAN_", "LSAN_", "TSAN_",
		"MALLOC_", "MAILROOM_CRASH_", "MAILROOM_FAIL_", "MAILROOM_TEST_" };
	char **names = environ;
	size_t len = 0;

	for (char **at = environ; *at; at++) {
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
			if (strncmp(*at, kept[i], strlen(kept[i])) == 0) {
				names[len++] = *at;
				break;
			}
		}
	}
	names[len] = NULL;
	setenv("HOME", "/nonexistent", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("TZ", "UTC", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	umask(022);
}

int test_main(const struct test *tests, size_t count)
{
	bool all_good = true;

	own_surroundings();
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		bool good = run_apart(&tests[i]);

		printf("%s %zu - %s\n", good ? "ok" : "not ok", i + 1, tests[i].name);
		all_good = all_good && good;
	}
	return all_good ? 0 : 1;
}
