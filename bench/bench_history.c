/*
 * bench/bench_history.c - appending to archives small, large and flat. Works below the directory
 * given, or the current one: it should be on a real disk.
 */
#include "bench.h"

#include "base/clock.h"
#include "base/fs.h"
#include "data/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BATCH = 64,
	ROUNDS = 41,
	BULK = 4000,
	SMALL = 1000,
	LARGE = 100000,
	PER_DIR = 1000,
	FLAT = 20000,
	FLAT_BATCH = 256,
	FLAT_ROUNDS = 12,
	FLAT_SINGLES = 200, /* packs are merged meanwhile */
	SINGLES = 40,
	TEXT = 1500,
};

static int fail(const char *what, const struct mr_err *err)
{
	fprintf(stderr, "bench_history: %s: %s\n", what, err->msg);
	return 1;
}

/* Something like a message: words, so that it compresses as one does. */
static const char *message(struct mr_arena *arena, unsigned number)
{
	char *text = mr_arena_alloc(arena, TEXT + 64);
	size_t len = 0;

	for (unsigned seed = number; len < TEXT; seed = seed * 1103515245 + 12345)
		len += (size_t)snprintf(text + len, 64, "word%u of %u\n", seed >> 20, number);
	return text;
}

/* Append files `first` to `first + count`; `per_dir` 0 puts all into one directory. */
static enum mr_code append(struct mr_history *history, unsigned first, unsigned count,
	unsigned per_dir, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_history_file *files = mr_arena_array(arena, count, sizeof(*files));
	struct mr_history_batch batch = { .files = files, .file_count = count, .message = "mail" };
	struct mr_history_appended appended;

	for (unsigned i = 0; i < count; i++) {
		unsigned number = first + i;

		files[i].path = mr_arena_printf(arena,
			"messages/2026/%04u/2026-01-02T03-04-05Z__re-the-build-is-broken__%u.md",
			per_dir ? number / per_dir : 0, number);
		files[i].data = mr_bytes_text(message(arena, number));
	}
	return mr_history_append(history, &batch, &appended, err);
}

static enum mr_code build(const char *path, unsigned files, unsigned per_dir,
	struct mr_history **out, struct mr_err *err)
{
	struct mr_history_options options = { .mode = MR_HISTORY_CREATE };
	enum mr_code rc = mr_history_open(path, &options, mr_clock_system(), out, err);

	for (unsigned i = 0; !rc && i < files; i += BULK)
		rc = append(*out, i, files - i < BULK ? files - i : BULK, per_dir, err);
	if (!rc)
		rc = mr_history_tidy(*out, err);
	return rc;
}

static int number_order(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), number_order);
	return numbers[count / 2];
}

static double mean(const double *numbers, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum / (double)count;
}

/* Batches into the small and the large archive in turn, so that a busy disk troubles both alike. */
static enum mr_code compare_sizes(struct mr_err *err)
{
	struct mr_history *small MR_CLEANUP(mr_history_closep) = NULL;
	struct mr_history *large MR_CLEANUP(mr_history_closep) = NULL;
	double small_s[ROUNDS], large_s[ROUNDS];
	double start = bench_now(), small_mean, large_mean;
	enum mr_code rc = build("small", SMALL, PER_DIR, &small, err);

	if (!rc)
		rc = build("large", LARGE, PER_DIR, &large, err);
	if (rc)
		return rc;
	bench_figure("history.build_100000", LARGE / (bench_now() - start), "files/s", "none", 0,
		BENCH_REPORT, 0);
	for (unsigned i = 0; !rc && i < ROUNDS; i++) {
		start = bench_now();
		rc = append(small, SMALL + i * BATCH, BATCH, PER_DIR, err);
		small_s[i] = bench_now() - start;
		if (rc)
			return rc;
		start = bench_now();
		rc = append(large, LARGE + i * BATCH, BATCH, PER_DIR, err);
		large_s[i] = bench_now() - start;
	}
	small_mean = mean(small_s, ROUNDS);
	large_mean = mean(large_s, ROUNDS);
	bench_figure("history.batch_64_mean", large_mean * 1e3, "ms", "the same at 1,000 files",
		small_mean * 1e3, BENCH_REPORT, 0);
	bench_figure("history.batch_64_at_100000", median(large_s, ROUNDS) * 1e3, "ms",
		"the same at 1,000 files", median(small_s, ROUNDS) * 1e3, BENCH_AT_MOST, 1.5);
	return rc;
}

/* A directory that grows and grows, and the longest that one append had to wait. */
static enum mr_code fill_one_directory(struct mr_err *err)
{
	struct mr_history *flat MR_CLEANUP(mr_history_closep) = NULL;
	enum mr_code rc = build("flat", FLAT, 0, &flat, err);
	double start = bench_now(), worst = 0;

	for (unsigned i = 0; !rc && i < FLAT_ROUNDS; i++) {
		double begun = bench_now();

		rc = append(flat, FLAT + i * FLAT_BATCH, FLAT_BATCH, 0, err);
		worst = bench_now() - begun > worst ? bench_now() - begun : worst;
	}
	bench_figure("history.flat_20000", FLAT_ROUNDS * FLAT_BATCH / (bench_now() - start),
		"files/s", "500 files/s", 500, BENCH_AT_LEAST, 1);
	for (unsigned i = 0; !rc && i < FLAT_SINGLES; i++) {
		double begun = bench_now();

		rc = append(flat, 2 * FLAT + i, 1, 0, err);
		worst = bench_now() - begun > worst ? bench_now() - begun : worst;
	}
	bench_figure("history.flat_20000_worst", worst * 1e3, "ms", "2 s", 2e3, BENCH_AT_MOST, 1);
	return rc;
}

/* One write and one fsync: the least that durable can cost. */
static double raw_sync(void)
{
	double times[SINGLES];
	char bytes[TEXT] = { 1 };
	int fd = open("raw", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	for (size_t i = 0; i < SINGLES; i++) {
		double start = bench_now();

		if (write(fd, bytes, sizeof(bytes)) < 0 || fsync(fd) != 0)
			perror("raw");
		times[i] = bench_now() - start;
	}
	close(fd);
	return median(times, SINGLES);
}

static enum mr_code commit_singly(struct mr_err *err)
{
	struct mr_history *single MR_CLEANUP(mr_history_closep) = NULL;
	double times[SINGLES];
	enum mr_code rc = build("single", SMALL, PER_DIR, &single, err);

	for (unsigned i = 0; !rc && i < SINGLES; i++) {
		double start = bench_now();

		rc = append(single, SMALL + i, 1, PER_DIR, err);
		times[i] = bench_now() - start;
	}
	if (!rc)
		bench_figure("history.single_file", median(times, SINGLES) * 1e3, "ms",
			"one write and fsync", raw_sync() * 1e3, BENCH_REPORT, 0);
	return rc;
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *dir = mr_arena_printf(arena, "%s/bench-history-XXXXXX", argc > 1 ? argv[1] : ".");
	struct mr_err err;
	enum mr_code rc;

	if (!mkdtemp(dir) || chdir(dir) != 0) {
		perror(dir);
		return 1;
	}
	rc = compare_sizes(&err);
	if (!rc)
		rc = fill_one_directory(&err);
	if (!rc)
		rc = commit_singly(&err);
	if (chdir("..") != 0) {
		perror("..");
		return 1;
	}
	bench_dir_remove(strrchr(dir, '/') + 1);
	return rc ? fail("failed", &err) : 0;
}
