/* tests/unit/base/test_oom.c */
#include "base/oom.h"

#include "base/arena.h"
#include "base/buf.h"
#include "test.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HUGE = 48 /* bits: more than any machine gives */ };

/* The address sanitizer is to answer like malloc(), and its abort() is to be seen as one. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=4096:handle_abort=0";
}

/* Run `fn` in a child that must abort; `out` gets the end of what it wrote to standard error. */
static void dies(void (*fn)(void), char *out, size_t size)
{
	size_t len = 0;
	ssize_t got;
	int pipes[2], status;
	pid_t child;

	CHECK(pipe(pipes) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		const struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		fn();
		_exit(0);
	}
	close(pipes[1]);
	do {
		/* A sanitizer may complain at length first. */
		if (len >= size / 2) {
			memmove(out, out + len - size / 4, size / 4);
			len = size / 4;
		}
		got = read(pipes[0], out + len, size - 1 - len);
		len += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	out[len] = '\0';
	close(pipes[0]);
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		test_fail(__FILE__, __LINE__, "no abort, but status %d: %s", status, out);
}

static void of_a_size(void)
{
	mr_oom(1234567890);
}

static void of_no_size(void)
{
	mr_oom(0);
}

static void of_all(void)
{
	mr_oom(SIZE_MAX);
}

static void it_is_one_line(void)
{
	char said[4096];

	dies(of_a_size, said, sizeof(said));
	CHECK_STR(said, "mailroom: out of memory (1234567890 bytes wanted)\n");
	dies(of_no_size, said, sizeof(said));
	CHECK_STR(said, "mailroom: out of memory\n");
	dies(of_all, said, sizeof(said));
	CHECK_STR(said, "mailroom: out of memory (18446744073709551615 bytes wanted)\n");
}

static void from_an_arena(void)
{
	mr_arena_alloc(mr_arena_new(), (size_t)1 << HUGE);
}

static void from_a_buffer(void)
{
	struct mr_buf buf = { 0 };

	mr_buf_init(&buf, SIZE_MAX / 4);
	mr_buf_puts(&buf, "x");
	mr_buf_add(&buf, "", (size_t)1 << HUGE);
}

static void ends_with_the_line(void (*fn)(void))
{
	char said[16384];
	const char *line;

	dies(fn, said, sizeof(said));
	line = strstr(said, "mailroom: out of memory (");
	CHECK(line && strchr(line, '\n') && strchr(line, '\n')[1] == '\0');
}

static void allocators_end_with_it(void)
{
	ends_with_the_line(from_an_arena);
	ends_with_the_line(from_a_buffer);
}

/* A pipe that nobody reads must not turn the abort into something else. */
static void unread(void)
{
	signal(SIGPIPE, SIG_IGN);
	close(STDERR_FILENO);
	mr_oom(1);
}

static void it_ends_without_a_reader_too(void)
{
	char said[4096];

	dies(unread, said, sizeof(said));
	CHECK_STR(said, "");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(it_is_one_line),
		TEST(allocators_end_with_it),
		TEST(it_ends_without_a_reader_too),
	};

	return test_main(tests, MR_LEN(tests));
}
