/* tests/unit/base/test_arena.c */
#include "base/arena.h"

#include "test.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_zero(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

/* Every size around the chunk's own: aligned, zeroed, and nobody writes on a neighbour. */
static void pieces_are_aligned_zeroed_and_apart(void)
{
	static const size_t sizes[] = { 1, 2, 15, 16, 17, 100, 2047, 2048, 2049, 4079, 4080, 4081,
		4096, 4097, 8192, 60000, 262143, 262144, 262145, 1000000 };
	enum { ROUNDS = 3, COUNT = MR_LEN(sizes) };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	unsigned char *pieces[ROUNDS * COUNT];

	for (size_t i = 0; i < MR_LEN(pieces); i++) {
		size_t size = sizes[i % COUNT];

		pieces[i] = mr_arena_alloc(arena, size);
		CHECK((uintptr_t)pieces[i] % _Alignof(max_align_t) == 0);
		CHECK(is_zero((char *)pieces[i], size));
		memset(pieces[i], (int)i + 1, size);
	}
	for (size_t i = 0; i < MR_LEN(pieces); i++) {
		for (size_t at = 0; at < sizes[i % COUNT]; at++)
			CHECK_INT(pieces[i][at], i + 1);
	}
}

static void nothing_can_be_asked_for(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK(mr_arena_alloc(arena, 0) != NULL);
	/* The chunk is full to its last byte: an empty piece still is somewhere. */
	CHECK(mr_arena_alloc(arena, 4096) != NULL);
	CHECK(mr_arena_alloc(arena, 0) != NULL);
	CHECK(mr_arena_array(arena, 0, 8) != NULL);
	CHECK(mr_arena_array(arena, SIZE_MAX, 0) != NULL);
	CHECK(mr_arena_memdup(arena, NULL, 0) != NULL);
}

static void size_counts_what_was_taken(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t before = mr_arena_size(arena);

	CHECK(before > 0 && before < 4096);
	mr_arena_alloc(arena, 1);
	before = mr_arena_size(arena);
	CHECK(before > 4096);
	mr_arena_alloc(arena, 1);
	CHECK_INT(mr_arena_size(arena), before);
	mr_arena_alloc(arena, 1000000);
	CHECK(mr_arena_size(arena) - before >= 1000000 && mr_arena_size(arena) - before < 1001000);
}

/* A large piece must not throw away the room left in the chunk being filled. */
static void a_large_piece_does_not_waste_the_chunk(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *small = mr_arena_alloc(arena, 16);

	mr_arena_alloc(arena, 100000);
	CHECK((char *)mr_arena_alloc(arena, 16) == small + 16);
}

/* Many small pieces cost about what they are, in few chunks. */
static void small_pieces_are_cheap(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	enum { COUNT = 100000 };

	for (int i = 0; i < COUNT; i++)
		mr_arena_alloc(arena, 16);
	CHECK(mr_arena_size(arena) < COUNT * 16 + 512 * 1024);
}

static void copies_stand_on_their_own(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char text[] = "abc\0def";
	/* Not terminated: a read past the end is the sanitizer's to see. */
	char *raw = memcpy(malloc(16), "0123456789abcdef", 16);
	char *whole = mr_arena_memdup(arena, text, sizeof(text));
	char *copy = mr_arena_strdup(arena, text);

	text[0] = 'x';
	CHECK_STR(copy, "abc");
	CHECK(memcmp(whole, "abc\0def", sizeof(text)) == 0);
	CHECK(mr_arena_strdup(arena, NULL) == NULL);
	CHECK_STR(mr_arena_strdup(arena, ""), "");
	CHECK_STR(mr_arena_strndup(arena, raw, 16), "0123456789abcdef");
	CHECK_STR(mr_arena_strndup(arena, raw, 3), "012");
	CHECK_STR(mr_arena_strndup(arena, raw, 0), "");
	free(raw);
	CHECK_STR(mr_arena_strndup(arena, "ab", SIZE_MAX), "ab");
	CHECK_STR(mr_arena_strndup(arena, "ab\0cd", 5), "ab");
}

static void prints(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char long_text[10001];

	memset(long_text, 'y', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	CHECK_STR(mr_arena_printf(arena, "%s-%d", "a", 7), "a-7");
	CHECK_STR(mr_arena_printf(arena, "%s", ""), "");
	CHECK_STR(mr_arena_printf(arena, "%s", long_text), long_text);
}

static char order[8];

static void note(void *letter)
{
	size_t len = strlen(order);

	order[len] = *(char *)letter;
}

static void deferred_calls_run_newest_first(void)
{
	struct mr_arena *arena = mr_arena_new();

	/* What they point to may live in the arena itself. */
	mr_arena_defer(arena, note, mr_arena_strdup(arena, "a"));
	mr_arena_defer(arena, note, mr_arena_strdup(arena, "b"));
	mr_arena_defer(arena, note, mr_arena_strdup(arena, "c"));
	CHECK_STR(order, "");
	mr_arena_freep(&arena);
	CHECK_STR(order, "cba");
	CHECK(arena == NULL);
	mr_arena_freep(&arena);
	mr_arena_free(NULL);
}

/* Does it abort, as it must, rather than hand out less than was asked for? */
static bool aborts(size_t count, size_t size)
{
	int status = 0;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		close(STDERR_FILENO);
		mr_arena_array(mr_arena_new(), count, size);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void impossible_sizes_abort(void)
{
	CHECK(aborts(SIZE_MAX, 2));
	CHECK(aborts(SIZE_MAX / 2 + 1, 2));
	CHECK(aborts((size_t)1 << 32, (size_t)1 << 32));
	CHECK(aborts(SIZE_MAX, 1));
	CHECK(aborts(SIZE_MAX - 15, 1));
	CHECK(aborts(SIZE_MAX - 16, 1));
	CHECK(!aborts(16, 16));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(pieces_are_aligned_zeroed_and_apart),
		TEST(nothing_can_be_asked_for),
		TEST(size_counts_what_was_taken),
		TEST(a_large_piece_does_not_waste_the_chunk),
		TEST(small_pieces_are_cheap),
		TEST(copies_stand_on_their_own),
		TEST(prints),
		TEST(deferred_calls_run_newest_first),
		TEST(impossible_sizes_abort),
	};

	return test_main(tests, MR_LEN(tests));
}
