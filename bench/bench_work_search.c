/*
 * bench/bench_work_search.c - does a search in a workspace cost what it shows, not what is there?
 *
 * bench_work_search [DIR]: in DIR (or $TMPDIR, or /var/tmp) the indexes of two workspaces are
 * filled, with 10,000 and with 100,000 messages of 60 words, and the best 20 of each kind of query
 * are asked for, each time by a command that opens the workspace anew. Ten times the messages may
 * cost four times as much.
 */
#include "bench.h"

#include "workspace/index.h"
#include "workspace/index_private.h"
#include "workspace/init.h"
#include "workspace/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	FEW = 10000,
	MANY = 100000,
	WORDS = 60,
	VOCABULARY = 5000,
	ROUNDS = 15,
	SHOWN = 20,
};

static const struct {
	const char *what, *query;
	enum bench_goal goal;
} queries[] = {
	{ "work_search_every_message", "common", BENCH_AT_MOST },
	{ "work_search_every_second", "half", BENCH_AT_MOST },
	{ "work_search_one_in_100", "hundred", BENCH_AT_MOST },
	{ "work_search_one_in_1000", "rare", BENCH_AT_MOST },
	{ "work_search_common_and_rare", "common rare", BENCH_AT_MOST },
	{ "work_search_either", "hundred OR rare", BENCH_AT_MOST },
	{ "work_search_not", "half -hundred", BENCH_AT_MOST },
	{ "work_search_phrase", "\"one common thing\"", BENCH_AT_MOST },
	{ "work_search_beginning", "hundr*", BENCH_AT_MOST },
	{ "work_search_sender", "from:person7", BENCH_AT_MOST },
	{ "work_search_filtered", "hundred since:2026-03-01 status:triage", BENCH_AT_MOST },
	{ "work_search_only_filters", "has:attachment", BENCH_AT_MOST },
	/* In no index: the texts are looked at, the newest first, until enough are found. */
	{ "work_search_unspaced_script", "\xe6\x9c\xac", BENCH_AT_MOST },
};

static void need(struct mr_ctx *cx, enum mr_code rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "bench_work_search: %s: %s\n", what, cx->err.msg);
	exit(1);
}

static struct mr_ctx context(void)
{
	return (struct mr_ctx){
		.arena = mr_arena_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
}

/* The same words for the same number. */
static const char *body_of(struct mr_arena *arena, size_t number)
{
	struct mr_rand rand;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_rand_seeded_init(&rand, number);
	mr_buf_init(&buf, 1 << 16);
	for (size_t i = 0; i < WORDS; i++)
		mr_buf_printf(&buf, "word%u%s", (unsigned)mr_rand_below(&rand, VOCABULARY),
			i % 12 == 11 ? "\n" : " ");
	mr_buf_puts(&buf, "one common thing");
	if (number % 2 == 0)
		mr_buf_puts(&buf, " half");
	if (number % 100 == 0)
		mr_buf_puts(&buf, " hundred \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e");
	if (number % 1000 == 0)
		mr_buf_puts(&buf, " rare");
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void put(struct mr_ctx *cx, struct mr_work *work, size_t number)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *cx;
	int64_t n = 0;
	struct mr_work_row row = {
		.id = mr_arena_printf(arena, "message_20260301_%016zx", number),
		.has_time = true,
		.time_us = INT64_C(1772323200000000) + (int64_t)number * 60000000,
		.subject = mr_arena_printf(arena, "About word%zu", number % 700),
		.from = mr_arena_printf(arena, "Person <person%zu@example.com>", number % 1000),
		.email = mr_arena_printf(arena, "person%zu@example.com", number % 1000),
		.people = "me@example.org\n",
		.body = body_of(arena, number),
		.names = number % 50 ? "" : "report.pdf\n",
		.attachments = number % 50 == 0,
		.bytes = 1000,
		.remote_stamp = "",
	};

	own.arena = arena;
	need(&own, mr_work_index_put(&own, work, &row, &n), "put");
	mr_work_index_note_row(cx, work, n);
}

/* The index alone is filled: a search reads no message. */
static void fill(const char *root, size_t count)
{
	struct mr_ctx cx = context();
	struct mr_work_init request = { .agent = "none", .around = { .directory = root } };
	struct mr_work_initialized made = { 0 };
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;

	if (mkdir(root, 0700) != 0) {
		perror(root);
		exit(1);
	}
	need(&cx, mr_work_init(&cx, &request, &made), "init");
	need(&cx, mr_work_open(&cx, root, MR_WORK_WRITE, &work), "open");
	need(&cx, mr_work_index_open(&cx, work), "index");
	need(&cx, mr_work_index_begin(&cx, work), "begin");
	for (size_t i = 1; i <= count; i++)
		put(&cx, work, i);
	need(&cx, mr_work_index_added(&cx, work), "added");
	need(&cx, mr_work_index_commit(&cx, work), "commit");
	mr_work_closep(&work);
	mr_arena_free(cx.arena);
}

/* Seconds of one search. */
static double search(const char *root, const char *query, size_t *out_len)
{
	struct mr_ctx cx = context();
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	struct mr_work_search request = { .query = query, .limit = SHOWN };
	struct mr_work_hits hits = { 0 };
	double start = bench_now();

	need(&cx, mr_work_open(&cx, root, MR_WORK_READ, &work), "open");
	need(&cx, mr_work_search(&cx, work, &request, &hits), query);
	mr_work_closep(&work);
	start = bench_now() - start;
	*out_len = hits.len;
	mr_arena_free(cx.arena);
	return start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	const char *base = argc > 1 ? argv[1] : getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp";
	struct mr_arena *arena = mr_arena_new();
	char *root = mr_arena_printf(arena, "%s/bench-work-search-XXXXXX", base);
	const char *few, *many;

	if (!mkdtemp(root)) {
		perror(root);
		return 1;
	}
	few = mr_arena_printf(arena, "%s/few", root);
	many = mr_arena_printf(arena, "%s/many", root);
	fill(few, FEW);
	fill(many, MANY);
	for (size_t q = 0; q < MR_LEN(queries); q++) {
		double small[ROUNDS], large[ROUNDS];
		size_t found_small = 0, found_large = 0;

		/* In turn: whatever else this machine does meets both. The first warms up. */
		search(few, queries[q].query, &found_small);
		search(many, queries[q].query, &found_large);
		for (size_t i = 0; i < ROUNDS; i++) {
			small[i] = search(few, queries[q].query, &found_small);
			large[i] = search(many, queries[q].query, &found_large);
		}
		if (found_small == 0 || found_large == 0) {
			fprintf(stderr, "bench_work_search: %s finds nothing\n", queries[q].query);
			return 1;
		}
		bench_figure(queries[q].what, median(large) * 1e3, "ms", "a_tenth_of_the_messages",
			median(small) * 1e3, queries[q].goal, 4);
	}
	bench_dir_remove(root);
	mr_arena_free(arena);
	return 0;
}
