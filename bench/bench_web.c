/*
 * bench/bench_web.c - what pages cost: the inbox of all projects with a short past and a long one,
 * pages a second over kept connections, and the memory of viewers that listen for changes.
 *
 * bench_web PROGRAM. PROGRAM serves roots in $TMPDIR, or /var/tmp. What a browser sees of it is in
 * bench_web_screen.py.
 */
#include "bench.h"
#include "http_load.h"
#include "server.h"
#include "team_root.h"

#include "team/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SHORT_PAST = 1000,
	LONG_PAST = 100000,
	LOOKS = 301,
	TURNS = 21,
	PAGES_A_SECOND = 2000,
	VIEWERS = 50,
	VIEWERS_MIB = 10,
	ANSWER_BYTES = 1 << 20,
};

static const double TURN_S = 0.1;

#define ASK(path)                                                                                  \
	"GET " path " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n"

static const char ASK_INBOX[] = ASK("/mail/inbox");
static const char ASK_LIVENESS[] = ASK("/health/liveness");

static char answer[ANSWER_BYTES];
static const char *program;

/* ---- a long past ---- */

static void make_past(struct bench_root *root, const char *dir, const char *name, size_t count)
{
	bench_root_open(root, dir, name, false);
	bench_fill(root, count, true);
	mr_team_close(root->team, 0);
}

static double look(int fd)
{
	double begun = bench_now();

	bench_http_ask(fd, ASK_INBOX, answer, sizeof(answer));
	return bench_now() - begun;
}

/* One after the other, in turns: what else the machine does then slows both alike. */
static void measure_past(const struct bench_root *brief, const struct bench_root *whole)
{
	struct bench_server servers[2];
	double times[2][LOOKS];
	int fds[2];

	for (unsigned i = 0; i < 2; i++) {
		bench_server_start(&servers[i], program, i ? whole->path : brief->path);
		fds[i] = bench_http_dial(servers[i].port);
		look(fds[i]);
	}
	for (unsigned k = 0; k < LOOKS; k++) {
		for (unsigned i = 0; i < 2; i++)
			times[i][k] = look(fds[i]);
	}
	if (!strstr(answer, "</html>"))
		bench_die("no page", answer);
	for (unsigned i = 0; i < 2; i++) {
		close(fds[i]);
		bench_server_stop(&servers[i], program);
	}
	bench_figure("inbox page at 100,000 messages, median", bench_median(times[1], LOOKS) * 1e3,
		"ms", "at 1,000, ms", bench_median(times[0], LOOKS) * 1e3, BENCH_AT_MOST, 1.5);
}

/* ---- pages a second ---- */

static void measure_rate(const struct bench_root *whole)
{
	double pages[TURNS], liveness[TURNS];
	struct bench_server server;
	struct bench_load *load;

	bench_server_start(&server, program, whole->path);
	load = bench_load_new(server.port);
	for (unsigned t = 0; t < TURNS; t++) {
		for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
			bench_load_set(load, i, ASK_LIVENESS, "alive");
		liveness[t] = bench_load_turn(load, TURN_S);
		for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
			bench_load_set(load, i, ASK_INBOX, "</html>");
		pages[t] = bench_load_turn(load, TURN_S);
	}
	bench_load_free(load);
	bench_server_stop(&server, program);
	bench_median(liveness, TURNS);
	/* The target is a rate: as a ratio to the yardstick of this run. */
	bench_figure("inbox pages at 100,000 messages, 64 connections", bench_median(pages, TURNS),
		"/s", "GET /health/liveness, /s", liveness[TURNS / 2], BENCH_AT_LEAST,
		PAGES_A_SECOND / liveness[TURNS / 2]);
}

/* ---- viewers ---- */

static void await_event(int fd)
{
	size_t len = 0;

	answer[0] = '\0';
	while (!strstr(answer, "event: change")) {
		ssize_t n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0);

		if (n <= 0)
			bench_die("/mail/live", "said nothing");
		len += (size_t)n;
		answer[len] = '\0';
	}
}

/* Each has a page and listens; then a message is sent, of which all are told. */
static void measure_viewers(const struct bench_root *whole)
{
	static const char listen[] = ASK("/mail/live");
	int pages[VIEWERS], streams[VIEWERS];
	struct bench_server server;
	double before;

	bench_server_start(&server, program, whole->path);
	pages[0] = bench_http_dial(server.port);
	look(pages[0]);
	before = bench_resident_mib(server.pid);
	for (unsigned i = 0; i < VIEWERS; i++) {
		if (i)
			pages[i] = bench_http_dial(server.port);
		look(pages[i]);
		streams[i] = bench_http_dial(server.port);
		bench_http_send(streams[i], listen, sizeof(listen) - 1);
		await_event(streams[i]);
	}
	bench_figure("memory of 50 viewers with live streams",
		bench_resident_mib(server.pid) - before, "MiB", "of the server before, MiB", before,
		BENCH_AT_MOST, VIEWERS_MIB / before);
	for (unsigned i = 0; i < VIEWERS; i++) {
		close(pages[i]);
		close(streams[i]);
	}
	bench_server_stop(&server, program);
}

int main(int argc, char **argv)
{
	struct bench_root brief, whole;
	char dir[256];

	if (argc < 2) {
		fputs("usage: bench_web PROGRAM\n", stderr);
		return 2;
	}
	program = argv[1];
	bench_dir_make(dir, sizeof(dir), "bench-web");
	make_past(&brief, dir, "brief", SHORT_PAST);
	make_past(&whole, dir, "whole", LONG_PAST);
	measure_past(&brief, &whole);
	measure_rate(&whole);
	measure_viewers(&whole);
	bench_dir_remove(dir);
	return 0;
}
