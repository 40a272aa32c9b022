/* tests/unit/surface/captured.c - see captured.h. */
#include "captured.h"

#include "base/str.h"
#include "surface/cli/cli.h"
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

enum { WORDS_MAX = 16, TEXT_BYTES = 65536 };

/* Give the stream `at` back; what was written to `fd` in its place. */
static const char *take(struct mr_arena *arena, int fd, int saved, int at)
{
	char *text = mr_arena_alloc(arena, TEXT_BYTES);
	ssize_t len;

	CHECK(dup2(saved, at) == at);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	len = read(fd, text, TEXT_BYTES - 1);
	CHECK(len >= 0);
	close(saved);
	close(fd);
	return text;
}

struct captured capture(struct mr_arena *arena, const struct mr_op_table *table, const char *line)
{
	struct mr_texts words = mr_str_split(arena, line, ' ');
	const char *argv[WORDS_MAX + 1] = { "mailroom" };
	const char *const variables[] = { NULL };
	int fds[2], saved[2];
	struct captured said;

	if (words.len == 1 && !*words.items[0])
		words.len = 0;
	CHECK(words.len < WORDS_MAX);
	for (size_t i = 0; i < words.len; i++)
		argv[i + 1] = words.items[i];
	for (int i = 0; i < 2; i++) {
		fds[i] = open(test_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		CHECK(fds[i] >= 0);
		saved[i] = dup(i + 1);
		CHECK(saved[i] >= 0 && dup2(fds[i], i + 1) == i + 1);
	}
	said.status = mr_cli_run(table, (int)words.len + 1, argv, variables);
	said.err = take(arena, fds[1], saved[1], 2);
	said.out = take(arena, fds[0], saved[0], 1);
	return said;
}
