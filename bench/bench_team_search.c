/*
 * bench/bench_team_search.c - does a search cost what it shows, not what is there?
 *
 * bench_team_search [DIR]: in DIR (or $TMPDIR, or /var/tmp) two teams are filled, with 10,000 and
 * with 100,000 messages of 60 words, and the best 20 of each kind of query are asked for: words
 * that stand in every message, in one of a hundred, in one of a thousand, phrases, beginnings,
 * filters. Ten times the messages may cost four times as much.
 */
#include "bench.h"

#include "team/open.h"
#include "team/search.h"
#include "team/store/root.h"
#include "team/store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	{ "team_search_every_message", "common", BENCH_AT_MOST },
	{ "team_search_every_second", "half", BENCH_AT_MOST },
	{ "team_search_one_in_100", "hundred", BENCH_AT_MOST },
	{ "team_search_one_in_1000", "rare", BENCH_AT_MOST },
	{ "team_search_common_and_rare", "common rare", BENCH_AT_MOST },
	{ "team_search_either", "hundred OR rare", BENCH_AT_MOST },
	{ "team_search_not", "half -hundred", BENCH_AT_MOST },
	{ "team_search_phrase", "\"one common thing\"", BENCH_AT_MOST },
	{ "team_search_beginning", "hundr*", BENCH_AT_MOST },
	{ "team_search_beginning_everywhere", "comm*", BENCH_AT_MOST },
	{ "team_search_filtered", "hundred from:BlueLake importance:high", BENCH_AT_MOST },
	{ "team_search_only_filters", "from:RedStone is:unread", BENCH_AT_MOST },
	/* In no index: the texts are looked at, newest first, until enough are found. */
	{ "team_search_signs", "->", BENCH_AT_MOST },
};

static void need(struct mr_ctx *cx, enum mr_code rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "bench_team_search: %s: %s\n", what, cx->err.msg);
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
		mr_buf_puts(&buf, " hundred");
	if (number % 1000 == 0)
		mr_buf_puts(&buf, " rare a->b");
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

struct fill {
	size_t first, last;
};

static enum mr_code fill_some(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct fill *fill = arg;
	struct mr_stmt *message MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *recipient MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db,
		"INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md, "
		"importance,"
		" created_ts) VALUES (?1, ?1, 1, 1 + ?1 % 2, ?2, ?3, ?4, ?1)",
		&message, &cx->err);

	if (!rc)
		rc = mr_db_prepare(db,
			"INSERT INTO message_recipients (message_id, agent_id) VALUES (?1, 2 - ?1 "
			"% 2)",
			&recipient, &cx->err);
	for (size_t i = fill->first; !rc && i <= fill->last; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

		mr_stmt_reset(message);
		mr_stmt_bind_int(message, 1, (int64_t)i);
		mr_stmt_bind_text(message, 2, mr_arena_printf(arena, "About word%zu", i % 700));
		mr_stmt_bind_text(message, 3, body_of(arena, i));
		mr_stmt_bind_text(message, 4, i % 20 ? "normal" : "high");
		rc = mr_stmt_run(message, &cx->err);
		mr_stmt_reset(recipient);
		mr_stmt_bind_int(recipient, 1, (int64_t)i);
		if (!rc)
			rc = mr_stmt_run(recipient, &cx->err);
	}
	return rc;
}

static enum mr_code index_some(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct fill *fill = arg;
	enum mr_code rc = MR_OK;

	for (size_t i = fill->first; !rc && i <= fill->last; i++)
		rc = mr_db_search_add(db, &mr_team_search_index, (int64_t)i, &cx->err);
	return rc;
}

static enum mr_code fill_people(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	(void)arg;
	return mr_db_exec(db,
		"INSERT INTO projects (id, slug, human_key, key_fold, tail, created_at)"
		" VALUES (1, 'p', '/p', '/p', 'p', 0);"
		"INSERT INTO agents (id, project_id, name, name_fold, program, model, inception_ts,"
		" last_active_ts) VALUES (1, 1, 'BlueLake', 'bluelake', 'x', 'x', 0, 0),"
		" (2, 1, 'RedStone', 'redstone', 'x', 'x', 0, 0)",
		&cx->err);
}

/* In transactions of a thousand, as a busy year of mail would be. */
static struct mr_team *fill_team(struct mr_ctx *cx, const char *root, size_t count)
{
	struct mr_team_config config = mr_team_config_default(root);
	struct mr_team *team = NULL;

	need(cx, mr_team_open(cx, &config, &team), "open");
	need(cx, mr_team_write(cx, team, fill_people, NULL, NULL), "people");
	for (size_t i = 1; i <= count; i += 1000) {
		struct fill fill = { i, i + 999 };

		need(cx, mr_team_write(cx, team, fill_some, index_some, &fill), "messages");
	}
	return team;
}

/* Seconds of one search. */
static double search(struct mr_team *team, const char *query, size_t *out_len)
{
	struct mr_ctx cx = context();
	struct mr_team_reader reader = { 0 };
	struct mr_team_hits hits;
	int64_t project = 1;
	double start;

	need(&cx, mr_team_read(&cx, team, &reader), "read");
	start = bench_now();
	need(&cx,
		mr_team_search(&cx, reader.db,
			&(struct mr_team_search){ .project_ids = &project,
				.project_count = 1,
				.query = query,
				.limit = SHOWN },
			&hits),
		query);
	start = bench_now() - start;
	mr_team_read_done(&reader);
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
	struct mr_ctx cx = context();
	char *root = mr_arena_printf(cx.arena, "%s/bench-search-XXXXXX", base);
	struct mr_team *few, *many;

	if (!mkdtemp(root)) {
		perror(root);
		return 1;
	}
	few = fill_team(&cx, mr_arena_printf(cx.arena, "%s/few", root), FEW);
	many = fill_team(&cx, mr_arena_printf(cx.arena, "%s/many", root), MANY);
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
			fprintf(stderr, "bench_team_search: %s finds nothing\n", queries[q].query);
			return 1;
		}
		bench_figure(queries[q].what, median(large) * 1e3, "ms", "a_tenth_of_the_messages",
			median(small) * 1e3, queries[q].goal, 4);
	}
	mr_team_close(few, 0);
	mr_team_close(many, 0);
	mr_arena_free(cx.arena);
	return 0;
}
