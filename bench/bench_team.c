/*
 * bench/bench_team.c - sending, archiving, reading and leasing, each beside its yardstick.
 *
 * bench_team [PART]: all, or one of send, steady, month, years, inbox, leases. In $TMPDIR, or
 * /var/tmp: a real disk, please.
 */
#include "bench.h"
#include "team_root.h"

#include "data/db.h"
#include "team/archive/archive.h"
#include "team/inbox.h"
#include "team/lease/reservation.h"
#include "team/open.h"
#include "team/store/root.h"
#include "team/store/schema.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ROUNDS = 3,
	BARE_SENDS = 400,
	STEADY_PER_S = 1000,
	STEADY_S = 10,
	BURST = 2000,
	LAG_S = 2,
	MONTH = 20000,
	MONTH_MORE = 4000,
	MONTH_PER_S = 500,
	YEARS_LARGE = 66000, /* three files each */
	YEARS_SMALL = 660,
	MONTHS = 24,
	SINGLES = 15,
	INBOX_LARGE = 100000,
	INBOX_SMALL = 1000,
	FETCHES = 20000,
	LEASES_LARGE = 10000,
	LEASES_SMALL = 100,
	CHECKS = 200,
};

static void drain(struct bench_root *root)
{
	struct mr_ctx cx = bench_context(root);

	bench_must(mr_team_archive_drain(&cx, root->team, 3600 * 1000, true), &cx, "drain");
	mr_arena_free(cx.arena);
}

/* --- sending ------------------------------------------------------------------------------ */

static void bare_step(struct mr_db *db, const char *sql, int64_t id, struct mr_err *err)
{
	struct mr_stmt *stmt = NULL;

	if (mr_db_prepare(db, sql, &stmt, err))
		bench_die("bare", err->msg);
	if (strstr(sql, "?1"))
		mr_stmt_bind_int(stmt, 1, id);
	if (strstr(sql, "?2"))
		mr_stmt_bind_text(stmt, 2, bench_body());
	if (mr_stmt_run(stmt, err))
		bench_die("bare", err->msg);
	mr_stmt_done(&stmt);
}

/* Messages a second by one connection that inserts the same rows, one commit each. */
static double bare_rate(const char *dir)
{
	struct bench_root root;
	struct mr_db_options options = { .path = NULL };
	struct mr_db *db = NULL;
	struct mr_err err;
	char path[320];
	double begun;

	bench_root_open(&root, dir, "bare", false);
	mr_team_close(root.team, 0);
	snprintf(path, sizeof(path), "%s/storage.sqlite3", root.path);
	options.path = path;
	if (mr_db_open(&options, &db, &err))
		bench_die(path, err.msg);
	begun = bench_now();
	for (int64_t id = 1; id <= BARE_SENDS; id++) {
		if (mr_db_begin(db, MR_DB_IMMEDIATE, &err))
			bench_die("bare", err.msg);
		bare_step(db,
			"INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md,"
			" created_ts) VALUES (?1, 'msg_' || ?1, 1, 1, 'review of the migration', "
			"?2, 1)",
			id, &err);
		bare_step(db,
			"INSERT INTO message_recipients (message_id, agent_id) VALUES (?1, 2)", id,
			&err);
		bare_step(db,
			"INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject, "
			"tool,"
			" created_ts) VALUES (1, 'message', ?1, '', 'RedRiver', 'mail', '', 1)",
			id, &err);
		if (mr_db_search_add(db, &mr_team_search_index, id, &err) || mr_db_commit(db, &err))
			bench_die("bare", err.msg);
	}
	begun = bench_now() - begun;
	mr_db_close(db);
	bench_dir_remove(root.path);
	return BARE_SENDS / begun;
}

static void bench_send(const char *dir)
{
	static double waits[BENCH_SENDERS * BENCH_SENDS_EACH];
	double bare[ROUNDS], rates[ROUNDS], p99[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		struct bench_root root;

		bare[i] = bare_rate(dir);
		bench_root_open(&root, dir, "send", false);
		rates[i] = BENCH_SENDERS * BENCH_SENDS_EACH /
			bench_send_many(&root, BENCH_SENDERS, BENCH_SENDS_EACH, 0, waits);
		qsort(waits, BENCH_SENDERS * BENCH_SENDS_EACH, sizeof(*waits), bench_by_value);
		p99[i] = waits[BENCH_SENDERS * BENCH_SENDS_EACH * 99 / 100];
		bench_root_close(&root);
	}
	bench_median(bare, ROUNDS);
	bench_figure("send, 64 senders in one process", bench_median(rates, ROUNDS), "/s",
		"bare rows and commits, /s", bare[ROUNDS / 2], BENCH_AT_LEAST, 3);
	bench_figure("send, 64 senders, p99", bench_median(p99, ROUNDS) * 1000, "ms",
		"bare commit, ms", 1000 / bare[ROUNDS / 2], BENCH_AT_MOST, 100);
}

/* --- the archive -------------------------------------------------------------------------- */

static int64_t depth(struct bench_root *root)
{
	struct mr_ctx cx = bench_context(root);
	struct mr_team_reader reader = { 0 };
	int64_t count = 0;

	bench_must(mr_team_read(&cx, root->team, &reader), &cx, "read");
	bench_must(mr_team_archive_depth(&cx, reader.db, &count), &cx, "depth");
	mr_team_read_done(&reader);
	mr_arena_free(cx.arena);
	return count;
}

struct steady {
	struct bench_root *root;
	bool done;
	double worst_s;
	pthread_t thread;
};

static void *watch_depth(void *arg)
{
	struct steady *steady = arg;

	while (!__atomic_load_n(&steady->done, __ATOMIC_ACQUIRE)) {
		double behind = (double)depth(steady->root) / STEADY_PER_S;

		if (behind > steady->worst_s)
			steady->worst_s = behind;
		usleep(20000);
	}
	return NULL;
}

static void bench_steady(const char *dir)
{
	struct bench_root root;
	struct steady steady = { .root = &root };
	struct mr_ctx cx;
	double took, begun;

	bench_root_open(&root, dir, "steady", false);
	cx = bench_context(&root);
	bench_must(mr_team_archive_start(&cx, root.team), &cx, "archiver");
	mr_arena_free(cx.arena);
	pthread_create(&steady.thread, NULL, watch_depth, &steady);
	took = bench_send_many(&root, 20, STEADY_S * STEADY_PER_S / 20, 20.0 / STEADY_PER_S, NULL);
	__atomic_store_n(&steady.done, true, __ATOMIC_RELEASE);
	pthread_join(steady.thread, NULL);
	bench_figure("steady load that was reached", STEADY_S * STEADY_PER_S / took, "/s",
		"wanted, /s", STEADY_PER_S, BENCH_AT_LEAST, 0.95);
	bench_figure("archiver behind a steady 1,000/s, worst", steady.worst_s, "s", "allowed, s",
		LAG_S, BENCH_AT_MOST, 1);
	begun = bench_now();
	bench_send_many(&root, 40, BURST / 40, 0, NULL);
	while (depth(&root) > 0 && bench_now() - begun < 60)
		usleep(5000);
	bench_figure("archiver done after a burst of 2,000", bench_now() - begun, "s", "allowed, s",
		LAG_S, BENCH_AT_MOST, 1);
	bench_root_close(&root);
}

static void bench_month(const char *dir)
{
	struct bench_root root;
	double begun;

	bench_root_open(&root, dir, "month", false);
	bench_send_many(&root, 40, MONTH / 40, 0, NULL);
	drain(&root);
	bench_send_many(&root, 40, MONTH_MORE / 40, 0, NULL);
	begun = bench_now();
	drain(&root);
	bench_figure("archived, 20,000 in the month", MONTH_MORE / (bench_now() - begun), "/s",
		"wanted, /s", MONTH_PER_S, BENCH_AT_LEAST, 1);
	bench_root_close(&root);
}

/* Seconds to archive one message when `count` are there, spread over two years. */
static double archive_one(const char *dir, size_t count)
{
	double times[SINGLES];
	struct bench_root root;
	struct mr_ctx cx;

	bench_root_open(&root, dir, "years", true);
	for (size_t month = 0; month < MONTHS; month++) {
		root.clock.now_us = BENCH_START_US + (int64_t)month * 30 * 86400 * 1000000;
		bench_send_many(&root, 10, (count + MONTHS * 10 - 1) / (MONTHS * 10), 0, NULL);
		drain(&root);
	}
	root.clock.now_us += INT64_C(40) * 86400 * 1000000; /* a new month */
	for (size_t i = 0; i < SINGLES; i++) {
		double begun;

		cx = bench_context(&root);
		bench_send_one(&root, &cx, i);
		begun = bench_now();
		drain(&root);
		times[i] = bench_now() - begun;
		mr_arena_free(cx.arena);
	}
	bench_root_close(&root);
	return bench_median(times, SINGLES);
}

static void bench_years(const char *dir)
{
	double small = archive_one(dir, YEARS_SMALL);
	double large = archive_one(dir, YEARS_LARGE);

	bench_figure("one message, 200,000 files in two years", large * 1000, "ms",
		"2,000 files, ms", small * 1000, BENCH_AT_MOST, 1.5);
}

/* --- reading and leasing ------------------------------------------------------------------ */

static double fetch_time(const char *dir, size_t count)
{
	double begun, times[5];
	struct bench_root root;
	struct mr_ctx cx;

	bench_root_open(&root, dir, "inbox", false);
	bench_fill(&root, count, false);
	for (size_t round = 0; round < 5; round++) {
		begun = bench_now();
		for (size_t i = 0; i < FETCHES / 5; i++) {
			struct mr_team_inbox_query query = { .project_key = BENCH_PROJECT,
				.agent_name = bench_agent(i),
				.limit = 20 };
			struct mr_team_items items;

			cx = bench_context(&root);
			bench_must(mr_team_inbox_fetch(&cx, root.team, &query, &items), &cx,
				"fetch");
			if (items.len != 20)
				bench_die("fetch", "not 20 messages");
			mr_arena_free(cx.arena);
		}
		times[round] = (bench_now() - begun) / (FETCHES / 5);
	}
	bench_root_close(&root);
	return bench_median(times, 5);
}

static void bench_inbox(const char *dir)
{
	double small = fetch_time(dir, INBOX_SMALL);
	double large = fetch_time(dir, INBOX_LARGE);

	bench_figure("fetch_inbox, 20 newest, 100,000 in the project", large * 1e6, "us",
		"1,000 in the project, us", small * 1e6, BENCH_AT_MOST, 1.5);
}

static double check_time(const char *dir, size_t count)
{
	enum { AT_ONCE = 100 };
	struct bench_root root;
	struct mr_ctx cx;
	double times[5];

	bench_root_open(&root, dir, "leases", false);
	cx = bench_context(&root);
	for (size_t i = 0; i < count; i += AT_ONCE) {
		const char *paths[AT_ONCE + 1] = { NULL };
		struct mr_team_reserve request = { .project_key = BENCH_PROJECT,
			.agent_name = bench_agent(i / AT_ONCE),
			.paths = { paths, AT_ONCE },
			.ttl_s = 3600,
			.exclusive = true,
			.reason = "bench" };
		struct mr_team_reserved reserved;

		for (size_t p = 0; p < AT_ONCE; p++)
			paths[p] = mr_arena_printf(cx.arena, "src/part%zu/module%zu.c",
				(i + p) / 50, i + p);
		bench_must(mr_team_reserve(&cx, root.team, &request, &reserved), &cx, "reserve");
	}
	mr_arena_free(cx.arena);
	for (size_t round = 0; round < 5; round++) {
		double begun = bench_now();

		for (size_t i = 0; i < CHECKS / 5; i++) {
			const char *path = "src/part1/module*.c";
			struct mr_team_reserve request = { .project_key = BENCH_PROJECT,
				.agent_name = bench_agent(7),
				.paths = { &path, 1 },
				.ttl_s = 3600,
				.exclusive = true };
			struct mr_team_conflicts conflicts;

			cx = bench_context(&root);
			bench_must(mr_team_reserve_check(&cx, root.team, &request, &conflicts), &cx,
				"check");
			if (conflicts.len != 1)
				bench_die("check", "no conflict was seen");
			mr_arena_free(cx.arena);
		}
		times[round] = (bench_now() - begun) / (CHECKS / 5);
	}
	bench_root_close(&root);
	return bench_median(times, 5);
}

static void bench_leases(const char *dir)
{
	double small = check_time(dir, LEASES_SMALL);
	double large = check_time(dir, LEASES_LARGE);

	bench_figure("conflicts of one pattern, 10,000 leases", large * 1e6, "us", "100 leases, us",
		small * 1e6, BENCH_AT_MOST, 10);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const char *dir);
	} parts[] = {
		{ "send", bench_send },
		{ "steady", bench_steady },
		{ "month", bench_month },
		{ "years", bench_years },
		{ "inbox", bench_inbox },
		{ "leases", bench_leases },
	};
	const char *only = argc > 1 ? argv[1] : NULL;
	char dir[256];

	bench_dir_make(dir, sizeof(dir), "bench-team");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!only || strcmp(only, parts[i].name) == 0)
			parts[i].run(dir);
	}
	bench_dir_remove(dir);
	return 0;
}
