/*
 * bench/bench_mcp.c - what the way over MCP and HTTP costs, and how soon news arrive.
 *
 * bench_mcp PROGRAM [PART]: all, or one of send, fetch, news, idle, start. PROGRAM serves roots in
 * $TMPDIR, or /var/tmp: a real disk, please.
 */
#include "bench.h"
#include "http_load.h"
#include "server.h"
#include "team_root.h"

#include "base/str.h"
#include "team/open.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS = 5,
	TURNS = 31,
	PAST = 100000,
	IDLE_AGENTS = 100,
	IDLE_MIB = 40,
	NEWS = 201,
	FSYNCS = 201,
	FSYNC_BYTES = 4096,
	ANSWER_BYTES = 1 << 20,
};

static const double SEND_S = 1.5, TURN_S = 0.05;
static const char OK[] = "\"isError\":false";
static const char ASK_LIVENESS[] = "GET /health/liveness HTTP/1.1\r\nHost: 127.0.0.1\r\n"
				   "User-Agent: bench\r\nAccept: */*\r\n\r\n";

static char answer[ANSWER_BYTES];

static const char *program;

/* --- requests ----------------------------------------------------------------------------- */

/* `headers` are whole lines. */
static const char *post(struct mr_arena *arena, const char *headers, const char *body)
{
	return mr_arena_printf(arena,
		"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\n"
		"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
		"%sContent-Length: %zu\r\n\r\n%s",
		headers, strlen(body), body);
}

static const char *call(struct mr_arena *arena, const char *session, const char *tool,
	const char *arguments)
{
	return post(arena, session,
		mr_arena_printf(arena,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
			"{\"name\":\"%s\",\"arguments\":%s}}",
			tool, arguments));
}

static const char *send_call(struct mr_arena *arena, const char *session, size_t number)
{
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&body, 4 * BENCH_BODY_BYTES);
	mr_buf_put_json(&body, bench_body(), BENCH_BODY_BYTES, true);
	return call(arena, session, "send_message",
		mr_arena_printf(arena,
			"{\"project_key\":\"" BENCH_PROJECT
			"\",\"sender_name\":\"%s\",\"to\":[\"%s\"],"
			"\"subject\":\"review of the migration\",\"body_md\":%s}",
			bench_agent(number), bench_agent(number + 1), mr_buf_text(&body)));
}

static const char *fetch_call(struct mr_arena *arena, const char *session, const char *agent)
{
	return call(arena, session, "fetch_inbox",
		mr_arena_printf(arena,
			"{\"project_key\":\"" BENCH_PROJECT
			"\",\"agent_name\":\"%s\",\"limit\":20}",
			agent));
}

/* What stands in `answer` after `before`, up to `end`. */
static const char *found(struct mr_arena *arena, const char *before, char end)
{
	const char *at = strstr(answer, before);
	const char *until = at ? strchr(at + strlen(before), end) : NULL;

	if (!until)
		bench_die(before, answer);
	at += strlen(before);
	return mr_arena_strndup(arena, at, (size_t)(until - at));
}

/* Open a session; the headers of its requests. */
static const char *open_session(struct mr_arena *arena, int fd)
{
	bench_http_ask(fd,
		post(arena, "",
			"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
			"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":"
			"{\"name\":\"bench\",\"version\":\"1\"}}}"),
		answer, sizeof(answer));
	return mr_arena_printf(arena, "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n",
		found(arena, "Mcp-Session-Id: ", '\r'));
}

static void ask_ok(int fd, const char *request, const char *word)
{
	bench_http_ask(fd, request, answer, sizeof(answer));
	if (!strstr(answer, word))
		bench_die(word, answer);
}

/* A session for each connection of a load. */
static void open_sessions(struct mr_arena *arena, int port, const char **out)
{
	int fd = bench_http_dial(port);

	for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
		out[i] = open_session(arena, fd);
	close(fd);
}

/* --- sending ------------------------------------------------------------------------------ */

/* As many messages as came over HTTP: each costs more the more there are. */
static double send_in_process(const char *dir, size_t each)
{
	struct bench_root root;
	double took;

	bench_root_open(&root, dir, "in-process", false);
	took = bench_send_many(&root, BENCH_SENDERS, each, 0, NULL);
	bench_root_close(&root);
	return (double)(BENCH_SENDERS * each) / took;
}

static double send_over_http(const char *dir)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *sessions[BENCH_CONNECTIONS];
	struct bench_load *load;
	struct bench_root root;
	struct bench_server server;
	double rate;

	bench_root_open(&root, dir, "over-http", false);
	mr_team_close(root.team, 0);
	bench_server_start(&server, program, root.path);
	open_sessions(arena, server.port, sessions);
	load = bench_load_new(server.port);
	for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
		bench_load_set(load, i, send_call(arena, sessions[i], i), OK);
	rate = bench_load_turn(load, SEND_S);
	bench_load_free(load);
	bench_server_stop(&server, program);
	bench_dir_remove(root.path);
	return rate;
}

static void measure_send(const char *dir)
{
	double inside[ROUNDS], outside[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		outside[i] = send_over_http(dir);
		inside[i] = send_in_process(dir, (size_t)(outside[i] * SEND_S) / BENCH_SENDERS);
	}
	bench_figure("send_message over MCP, 64 connections", bench_median(outside, ROUNDS), "/s",
		"64 senders in one process, /s", bench_median(inside, ROUNDS), BENCH_AT_LEAST, 0.6);
}

/* --- reading ------------------------------------------------------------------------------ */

static void make_past(struct bench_root *root, const char *dir, size_t count)
{
	bench_root_open(root, dir, count ? "past" : "empty", false);
	bench_fill(root, count, true);
	mr_team_close(root->team, 0);
}

struct turn {
	double liveness, fetch;
};

static int by_ratio(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	double rx = x->fetch / x->liveness, ry = y->fetch / y->liveness;

	return (rx > ry) - (rx < ry);
}

static void measure_fetch(const char *past)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *sessions[BENCH_CONNECTIONS], *fetches[BENCH_CONNECTIONS];
	struct turn turns[TURNS];
	struct bench_load *load;
	struct bench_server server;

	bench_server_start(&server, program, past);
	open_sessions(arena, server.port, sessions);
	load = bench_load_new(server.port);
	for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
		fetches[i] = fetch_call(arena, sessions[i], bench_agent(i));
	/* Short turns side by side: what else the machine does then slows both alike. */
	for (unsigned t = 0; t < TURNS; t++) {
		for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
			bench_load_set(load, i, ASK_LIVENESS, "alive");
		turns[t].liveness = bench_load_turn(load, TURN_S);
		for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
			bench_load_set(load, i, fetches[i], OK);
		turns[t].fetch = bench_load_turn(load, TURN_S);
	}
	bench_load_free(load);
	bench_server_stop(&server, program);
	qsort(turns, TURNS, sizeof(*turns), by_ratio);
	bench_figure("fetch_inbox over MCP, 20 newest, 64 connections", turns[TURNS / 2].fetch,
		"/s", "GET /health/liveness, /s", turns[TURNS / 2].liveness, BENCH_AT_LEAST, 0.25);
}

/* --- news --------------------------------------------------------------------------------- */

/* Seconds of one fsync of a page, appended. */
static double fsync_time(const char *dir)
{
	static const char page[FSYNC_BYTES] = "page";
	double times[FSYNCS];
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "%s/fsync", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	for (unsigned i = 0; i < FSYNCS; i++) {
		double begun = bench_now();

		if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page) || fsync(fd) != 0)
			bench_die(path, strerror(errno));
		times[i] = bench_now() - begun;
	}
	close(fd);
	return bench_median(times, FSYNCS);
}

/* Read a stream until `word` has come. */
static void await(int fd, const char *word)
{
	size_t len = 0;

	answer[0] = '\0';
	while (!strstr(answer, word)) {
		ssize_t n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0);

		if (n <= 0)
			bench_die(word, "did not come");
		len += (size_t)n;
		answer[len] = '\0';
	}
}

static const char *inbox_uri(struct mr_arena *arena, const char *agent)
{
	return mr_arena_printf(arena, "resource://inbox/%s?project=" BENCH_PROJECT, agent);
}

/* A stream of a session that is subscribed to an inbox. */
static int listen_in_session(struct mr_arena *arena, int port, int fd, const char *agent)
{
	const char *session = open_session(arena, fd);
	int stream = bench_http_dial(port);
	const char *get = mr_arena_printf(arena,
		"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n%s\r\n",
		session);

	ask_ok(fd,
		post(arena, session,
			mr_arena_printf(arena,
				"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\","
				"\"params\":{\"uri\":\"%s\"}}",
				inbox_uri(arena, agent))),
		"\"result\":{}");
	bench_http_send(stream, get, strlen(get));
	await(stream, "id: 0-0");
	return stream;
}

/* The same in the second generation. */
static int listen_alone(struct mr_arena *arena, int port, int fd, const char *agent)
{
	int stream = bench_http_dial(port);
	const char *request = post(arena,
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
		mr_arena_printf(arena,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/"
			"listen\",\"params\":"
			"{\"notifications\":{\"resourceSubscriptions\":[\"%s\"]},\"_meta\":"
			"{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
			"\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
			inbox_uri(arena, agent)));

	(void)fd;
	bench_http_send(stream, request, strlen(request));
	await(stream, "acknowledged");
	return stream;
}

typedef int listen_fn(struct mr_arena *arena, int port, int fd, const char *agent);

static void measure_news_of(const char *what, const char *root, listen_fn *listen_to, double bare)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	double times[NEWS];
	struct bench_server server;
	const char *request;
	int fd, stream;

	bench_server_start(&server, program, root);
	fd = bench_http_dial(server.port);
	stream = listen_to(arena, server.port, fd, bench_agent(1));
	request = send_call(arena, open_session(arena, fd), 0);
	for (unsigned i = 0; i < NEWS; i++) {
		double begun = bench_now();

		bench_http_send(fd, request, strlen(request));
		await(stream, "notifications/resources/updated");
		times[i] = bench_now() - begun;
		await(fd, OK);
	}
	close(stream);
	close(fd);
	bench_server_stop(&server, program);
	bench_figure(what, bench_median(times, NEWS) * 1e3, "ms", "fsync, ms", bare * 1e3,
		BENCH_AT_MOST, 10);
}

static void measure_news(const char *dir, const char *past)
{
	measure_news_of("send to news in a session, median", past, listen_in_session,
		fsync_time(dir));
	measure_news_of("send to news of subscriptions/listen, median", past, listen_alone,
		fsync_time(dir));
}

/* --- many who wait ------------------------------------------------------------------------ */

/* Each registers, looks, subscribes, listens, and sends one message. */
static void measure_idle(const char *past)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int fds[IDLE_AGENTS], streams[IDLE_AGENTS];
	struct bench_server server;
	double mib;

	bench_server_start(&server, program, past);
	for (unsigned i = 0; i < IDLE_AGENTS; i++) {
		const char *name;

		fds[i] = bench_http_dial(server.port);
		ask_ok(fds[i],
			call(arena, "", "register_agent",
				"{\"project_key\":\"" BENCH_PROJECT
				"\",\"program\":\"bench\",\"model\":\"none\"}"),
			OK);
		name = found(arena, "\"structuredContent\":{\"id\":", '}');
		name = strstr(name, "\"name\":\"") + strlen("\"name\":\"");
		name = mr_arena_strndup(arena, name, strcspn(name, "\""));
		ask_ok(fds[i], fetch_call(arena, "", bench_agent(i)), OK);
		streams[i] = listen_in_session(arena, server.port, fds[i], name);
		ask_ok(fds[i], send_call(arena, "", i), OK);
	}
	mib = bench_resident_mib(server.pid);
	for (unsigned i = 0; i < IDLE_AGENTS; i++) {
		close(fds[i]);
		close(streams[i]);
	}
	bench_server_stop(&server, program);
	bench_figure("100 agents that listen, resident memory", mib, "MiB", "allowed, MiB",
		IDLE_MIB, BENCH_AT_MOST, 1);
}

/* --- starting ----------------------------------------------------------------------------- */

/* Seconds until an inbox was read. */
static double start_time(const char *root)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *request = fetch_call(arena, "", bench_agent(0));
	struct bench_server server;
	double begun = bench_now(), took;
	int fd;

	bench_server_start(&server, program, root);
	fd = bench_http_dial(server.port);
	ask_ok(fd, request, OK);
	took = bench_now() - begun;
	close(fd);
	bench_server_stop(&server, program);
	return took;
}

static void measure_start(const char *dir, const char *past)
{
	double with[TURNS], without[TURNS];
	struct bench_root empty;

	make_past(&empty, dir, 0);
	for (unsigned i = 0; i < TURNS; i++) {
		without[i] = start_time(empty.path);
		with[i] = start_time(past);
	}
	bench_figure("start to first answer, 100,000 messages", bench_median(with, TURNS) * 1e3,
		"ms", "none, ms", bench_median(without, TURNS) * 1e3, BENCH_AT_MOST, 3);
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : "all";
	bool all = strcmp(only, "all") == 0;
	struct bench_root past;
	char dir[256];

	if (argc < 2) {
		fprintf(stderr, "usage: %s PROGRAM [send|fetch|news|idle|start]\n", argv[0]);
		return 2;
	}
	program = argv[1];
	bench_dir_make(dir, sizeof(dir), "bench-mcp");
	if (all || strcmp(only, "send") == 0)
		measure_send(dir);
	if (strcmp(only, "send") != 0)
		make_past(&past, dir, PAST);
	if (all || strcmp(only, "start") == 0)
		measure_start(dir, past.path);
	if (all || strcmp(only, "fetch") == 0)
		measure_fetch(past.path);
	if (all || strcmp(only, "idle") == 0)
		measure_idle(past.path);
	if (all || strcmp(only, "news") == 0)
		measure_news(dir, past.path);
	bench_dir_remove(dir);
	return 0;
}
