/*
 * bench/bench_postgres.c - a team whose database is on a PostgreSQL server, beside bare libpq.
 *
 * bench_postgres PART URL PROGRAM: one of send, inbox, wake. bench_postgres.py starts the server,
 * with an empty database for each, and calls it.
 */
#include "bench.h"
#include "server.h"
#include "team_root.h"

#include "team/inbox.h"
#include "team/open.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ROUNDS = 3,
	SENDS_EACH = 60, /* by each of BENCH_SENDERS */
	BATCH = 64,      /* messages in one bare commit: what so many senders reach at best */
	COMMITS = 200,
	WAKES = 100,
	SMALL = 10000,
	FETCHES = 4000,
	ANSWER_BYTES = 256 << 10,
};

static const char *url, *program;

/* --- bare libpq --------------------------------------------------------------------------- */

static PGconn *connect_bare(void)
{
	PGconn *conn = PQconnectdb(url);

	if (PQstatus(conn) != CONNECTION_OK)
		bench_die("connect", PQerrorMessage(conn));
	return conn;
}

static void bare(PGconn *conn, const char *sql)
{
	PGresult *result = PQexec(conn, sql);
	ExecStatusType status = PQresultStatus(result);

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		bench_die(sql, PQerrorMessage(conn));
	PQclear(result);
}

static void prepare_bare(PGconn *conn, const char *name, const char *sql)
{
	PGresult *result = PQprepare(conn, name, sql, 0, NULL);

	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		bench_die(sql, PQerrorMessage(conn));
	PQclear(result);
}

/* The words of a message as the team's own have them. */
static char *words_of_one(PGconn *conn)
{
	PGresult *result = PQexec(conn, "SELECT words FROM fts_messages LIMIT 1");
	char *words;

	if (PQntuples(result) != 1)
		bench_die("words", "there are none");
	words = strdup(PQgetvalue(result, 0, 0));
	PQclear(result);
	return words;
}

static void send_bare(PGconn *conn, const char *name, int count, const char *const *values)
{
	if (!PQsendQueryPrepared(conn, name, count, values, NULL, NULL, 0))
		bench_die(name, PQerrorMessage(conn));
}

static void await_bare(PGconn *conn)
{
	ExecStatusType status = PGRES_COMMAND_OK;

	PQpipelineSync(conn);
	while (status != PGRES_PIPELINE_SYNC) {
		PGresult *result = PQgetResult(conn);

		status = result ? PQresultStatus(result) : PGRES_COMMAND_OK;
		if (status == PGRES_FATAL_ERROR || status == PGRES_PIPELINE_ABORTED ||
			PQstatus(conn) != CONNECTION_OK)
			bench_die("pipeline", PQerrorMessage(conn));
		PQclear(result);
	}
}

/* Messages a second, with ids from `first` on: the rows of a message, BATCH messages in one
 * transaction, pipelined. */
static double bare_rate(size_t first, size_t count)
{
	PGconn *conn = connect_bare();
	char *words = words_of_one(conn);
	double begun;

	prepare_bare(conn, "begin", "BEGIN");
	prepare_bare(conn, "commit", "COMMIT");
	prepare_bare(conn, "message",
		"INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md, created_ts)"
		" VALUES (CAST($1 AS BIGINT), 'bare' || CAST($1 AS BIGINT), 1, 1, 'review of the migration', $2, 1)");
	prepare_bare(conn, "recipient",
		"INSERT INTO message_recipients (message_id, agent_id) VALUES ($1, 2)");
	prepare_bare(conn, "archive",
		"INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject, tool,"
		" created_ts) VALUES (1, 'message', $1, '', 'RedRiver', 'mail', '', 1)");
	prepare_bare(conn, "words",
		"INSERT INTO fts_messages (id, words) VALUES ($1, CAST($2 AS TSVECTOR))");
	PQenterPipelineMode(conn);
	begun = bench_now();
	for (size_t i = 0; i < count; i += BATCH) {
		send_bare(conn, "begin", 0, NULL);
		for (size_t k = i; k < i + BATCH; k++) {
			char id[24];
			const char *values[] = { id, bench_body() };
			const char *indexed[] = { id, words };

			snprintf(id, sizeof(id), "%zu", first + k);
			send_bare(conn, "message", 2, values);
			send_bare(conn, "recipient", 1, values);
			send_bare(conn, "archive", 1, values);
			send_bare(conn, "words", 2, indexed);
		}
		send_bare(conn, "commit", 0, NULL);
		await_bare(conn);
	}
	begun = bench_now() - begun;
	PQfinish(conn);
	free(words);
	return (double)count / begun;
}

/* Seconds of one commit of one row. */
static double bare_commit(void)
{
	static double times[COMMITS];
	PGconn *conn = connect_bare();

	bare(conn, "CREATE TABLE bench_bare (id BIGINT PRIMARY KEY)");
	for (size_t i = 0; i < COMMITS; i++) {
		char sql[64];
		double begun = bench_now();

		snprintf(sql, sizeof(sql), "INSERT INTO bench_bare VALUES (%zu)", i);
		bare(conn, sql);
		times[i] = bench_now() - begun;
	}
	bare(conn, "DROP TABLE bench_bare");
	PQfinish(conn);
	return bench_median(times, COMMITS);
}

/* --- sending ------------------------------------------------------------------------------ */

static void bench_send(const char *dir)
{
	double rates[ROUNDS], bare_rates[ROUNDS];
	size_t count = (size_t)BENCH_SENDERS * SENDS_EACH;
	struct bench_root root;

	bench_root_open_at(&root, dir, "send", url, false);
	bench_send_many(&root, BENCH_SENDERS, 4, 0, NULL);
	for (size_t i = 0; i < ROUNDS; i++) {
		rates[i] =
			(double)count / bench_send_many(&root, BENCH_SENDERS, SENDS_EACH, 0, NULL);
		bare_rates[i] = bare_rate(10000000 * (i + 1), count);
	}
	bench_root_close(&root);
	bench_figure("PostgreSQL: send, 64 senders on one server", bench_median(rates, ROUNDS),
		"/s", "the same rows, bare libpq, pipelined, 64 a commit, /s",
		bench_median(bare_rates, ROUNDS), BENCH_AT_LEAST, 0.5);
}

/* --- reading ------------------------------------------------------------------------------ */

/* Messages `first` to `last`, as bench_fill() makes them. */
static void fill(size_t first, size_t last)
{
	PGconn *conn = connect_bare();
	char sql[4096];

	snprintf(sql, sizeof(sql),
		"INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md, created_ts)"
		" SELECT i, 'm' || i, 1, 1 + i %% 16, 'subject', '%s', i"
		" FROM generate_series(%zu, %zu) AS i",
		bench_body(), first, last);
	bare(conn, sql);
	snprintf(sql, sizeof(sql),
		"INSERT INTO message_recipients (message_id, agent_id)"
		" SELECT i, 1 + (i + 1) %% 16 FROM generate_series(%zu, %zu) AS i",
		first, last);
	bare(conn, sql);
	bare(conn, "VACUUM ANALYZE");
	PQfinish(conn);
}

static double fetch_time(struct bench_root *root)
{
	double begun, times[5];

	for (size_t round = 0; round < 5; round++) {
		begun = bench_now();
		for (size_t i = 0; i < FETCHES / 5; i++) {
			struct mr_team_inbox_query query = { .project_key = BENCH_PROJECT,
				.agent_name = bench_agent(i),
				.limit = 20 };
			struct mr_ctx cx = bench_context(root);
			struct mr_team_items items;

			bench_must(mr_team_inbox_fetch(&cx, root->team, &query, &items), &cx,
				"fetch");
			if (items.len != 20)
				bench_die("fetch", "not 20 messages");
			mr_arena_free(cx.arena);
		}
		times[round] = (bench_now() - begun) / (FETCHES / 5);
	}
	return bench_median(times, 5);
}

static void bench_inbox(const char *dir)
{
	size_t large = getenv("BENCH_SMALL") ? 100000 : 1000000;
	struct bench_root root;
	double small_time, large_time;
	char what[96];

	bench_root_open_at(&root, dir, "inbox", url, false);
	fill(1, SMALL);
	small_time = fetch_time(&root);
	fill(SMALL + 1, large);
	large_time = fetch_time(&root);
	bench_root_close(&root);
	snprintf(what, sizeof(what), "PostgreSQL: fetch_inbox, 20 newest, %zu in the project",
		large);
	bench_figure(what, large_time * 1e6, "us", "10,000 in the project, us", small_time * 1e6,
		BENCH_AT_MOST, 2);
}

/* --- from one server to another ----------------------------------------------------------- */

/* One request on a connection of its own; the answer's body is looked at by nobody. */
static void ask(int port, const char *tool, const char *arguments)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char *text = malloc(ANSWER_BYTES);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = 0;
	int size;

	if (!text || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		bench_die("connect", tool);
	size = snprintf(text, ANSWER_BYTES,
		"POST /api/tools/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		tool, port, strlen(arguments), arguments);
	if (write(fd, text, (size_t)size) != size)
		bench_die("write", tool);
	for (;;) {
		ssize_t got = read(fd, text + len, ANSWER_BYTES - 1 - len);

		if (got <= 0)
			break;
		len += (size_t)got;
	}
	text[len] = '\0';
	if (!strstr(text, " 200 "))
		bench_die(tool, text);
	close(fd);
	free(text);
}

struct waiter {
	int port;
	double woken;
	pthread_t thread;
};

static void *wait_for_mail(void *arg)
{
	struct waiter *waiter = arg;

	ask(waiter->port, "wait_for_mail",
		"{\"project_key\":\"" BENCH_PROJECT "\",\"agent_name\":\"BlueLake\","
		"\"timeout_seconds\":50}");
	waiter->woken = bench_now();
	return NULL;
}

static void bench_wake(const char *dir)
{
	static double times[WAKES];
	struct bench_server one, other;
	struct bench_root root;
	double commit = bare_commit();
	char where[320];

	bench_root_open_at(&root, dir, "wake", url, false);
	mr_team_close(root.team, 0);
	snprintf(where, sizeof(where), "%s", root.path);
	setenv("DATABASE_URL", url, 1);
	bench_server_start(&one, program, where);
	bench_server_start(&other, program, where);
	for (size_t i = 0; i < WAKES; i++) {
		struct waiter waiter = { .port = other.port };
		double begun;

		if (pthread_create(&waiter.thread, NULL, wait_for_mail, &waiter))
			bench_die("pthread_create", "failed");
		usleep(30000); /* until it waits */
		begun = bench_now();
		ask(one.port, "send_message",
			"{\"project_key\":\"" BENCH_PROJECT "\",\"sender_name\":\"RedRiver\","
			"\"to\":[\"BlueLake\"],\"subject\":\"s\",\"body_md\":\"b\"}");
		pthread_join(waiter.thread, NULL);
		times[i] = waiter.woken - begun;
	}
	bench_server_stop(&one, program);
	bench_server_stop(&other, program);
	bench_dir_remove(where);
	bench_figure("PostgreSQL: send on one server, seen on another, p50",
		bench_median(times, WAKES) * 1e3, "ms", "commits of one row by bare libpq, ms",
		commit * 1e3, BENCH_AT_MOST, 10);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const char *dir);
	} parts[] = { { "send", bench_send }, { "inbox", bench_inbox }, { "wake", bench_wake } };
	char dir[256];

	if (argc != 4) {
		fprintf(stderr, "usage: bench_postgres PART URL PROGRAM\n");
		return 2;
	}
	url = argv[2];
	program = argv[3];
	bench_dir_make(dir, sizeof(dir), "bench-postgres");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(argv[1], parts[i].name) == 0)
			parts[i].run(dir);
	}
	bench_dir_remove(dir);
	return 0;
}
