/*
 * bench/bench_http.c - requests per second beside the bare library's, and what idle streams cost.
 *
 * One client thread drives 64 keep-alive connections over epoll, each with one request under way.
 */
#include "bench.h"
#include "http_load.h"

#include "app/metrics.h"
#include "op/nouns.h"
#include "surface/http/api.h"

#include <microhttpd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 61, STREAMS = 1000, ANSWER_BYTES = 4096 };

static const double TURN_S = 0.05;
static const char LIVENESS[] = "{\"status\":\"alive\"}";
static const char ASK_LIVENESS[] = "GET /health/liveness HTTP/1.1\r\nHost: 127.0.0.1\r\n"
				   "User-Agent: bench\r\nAccept: */*\r\n\r\n";
static const char ASK_STREAM[] = "GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n"
				 "Accept: text/event-stream\r\n\r\n";

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- the bare library ---- */

static enum MHD_Result answer_bare(void *arg, struct MHD_Connection *mhd, const char *path,
	const char *method, const char *version, const char *body, size_t *body_len, void **state)
{
	struct MHD_Response *response;
	enum MHD_Result rc;

	(void)arg, (void)path, (void)method, (void)version, (void)body, (void)body_len;
	if (!*state) {
		/* Answered at once, the connection would be closed. */
		*state = mhd;
		return MHD_YES;
	}
	response = MHD_create_response_from_buffer(sizeof(LIVENESS) - 1,
		(void *)(uintptr_t)LIVENESS, MHD_RESPMEM_PERSISTENT);
	rc = MHD_queue_response(mhd, 200, response);
	MHD_destroy_response(response);
	return rc;
}

static struct MHD_Daemon *start_bare(int *out_port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD |
			MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC,
		0, NULL, NULL, answer_bare, NULL, MHD_OPTION_SOCK_ADDR, &addr,
		MHD_OPTION_CONNECTION_LIMIT, 2048u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)16384, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_END);

	if (!daemon)
		die("MHD_start_daemon");
	*out_port = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	return daemon;
}

/* ---- ours ---- */

static void liveness(const struct mr_http_request *req, struct mr_http_response *resp)
{
	(void)req;
	mr_http_response_json(resp, 200, mr_bytes_text(LIVENESS));
}

static void stream(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_http_stream **slot = req->app;
	struct mr_err err;

	while (*slot)
		slot++;
	if (mr_http_stream_open(req, resp, NULL, NULL, slot, &err))
		mr_http_response_fail(resp, &err);
}

static const struct mr_http_route routes[] = {
	{ "GET", "/worker", liveness, 0 },
	{ "GET", "/stream", stream, MR_ROUTE_INLINE },
};
static struct mr_http_stream *streams[STREAMS + 1];

static struct mr_http_server *start(const struct mr_http_config *config,
	const struct mr_http_route *table, size_t count, void *app)
{
	struct mr_http_server *server;
	struct mr_err err;

	if (mr_http_server_start(config, table, count, app, &server, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	return server;
}

static struct mr_http_server *start_ours(void)
{
	struct mr_http_config config;

	mr_http_config_defaults(&config);
	return start(&config, routes, MR_LEN(routes), streams);
}

/* As mailroom serve does: the operation table, counted. */
static struct mr_http_server *start_product(struct mr_arena *arena, struct mr_app *app)
{
	const struct mr_http_route *table;
	struct mr_http_config config;
	size_t count;

	mr_http_config_defaults(&config);
	config.observe = mr_api_observe;
	table = mr_api_routes(arena, &mr_nouns, &count);
	return start(&config, table, count, app);
}

/* ---- the client ---- */

static struct bench_load *connect_load(int port, const char *request)
{
	struct bench_load *load = bench_load_new(port);

	for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
		bench_load_set(load, i, request, LIVENESS);
	return load;
}

/* What each contestant did in one turn, requests per second. */
struct turn {
	double bare;
	double ours;
	double worker;
};

static int by_ratio(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	double rx = x->ours / x->bare, ry = y->ours / y->bare;

	return rx < ry ? -1 : rx > ry;
}

static void measure_speed(void)
{
	static const char ask_worker[] = "GET /worker HTTP/1.1\r\nHost: 127.0.0.1\r\n"
					 "User-Agent: bench\r\nAccept: */*\r\n\r\n";
	static struct turn turns[TURNS];
	const struct turn *median = &turns[TURNS / 2];
	struct bench_load *bare_load, *our_load, *worker_load;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = mr_metrics_new();
	struct mr_app app = { .metrics = metrics, .clock = mr_clock_system() };
	struct mr_http_server *product = start_product(arena, &app);
	struct mr_http_server *server = start_ours();
	int bare_port;
	struct MHD_Daemon *daemon = start_bare(&bare_port);

	bare_load = connect_load(bare_port, ASK_LIVENESS);
	our_load = connect_load(mr_http_server_port(product), ASK_LIVENESS);
	worker_load = connect_load(mr_http_server_port(server), ask_worker);
	/* Short turns side by side: what else the machine does then slows all alike. */
	for (int i = 0; i < TURNS; i++) {
		turns[i].bare = bench_load_turn(bare_load, TURN_S);
		turns[i].ours = bench_load_turn(our_load, TURN_S);
		turns[i].worker = bench_load_turn(worker_load, TURN_S);
	}
	qsort(turns, TURNS, sizeof(*turns), by_ratio);
	bench_load_free(bare_load);
	bench_load_free(our_load);
	bench_load_free(worker_load);
	MHD_stop_daemon(daemon);
	mr_http_server_free(server);
	mr_http_server_free(product);
	bench_figure("GET /health/liveness, 64 keep-alive connections", median->ours, "requests/s",
		"bare libmicrohttpd, a constant", median->bare, BENCH_AT_LEAST, 0.7);
	bench_figure("the same through a worker thread", median->worker, "requests/s",
		"bare libmicrohttpd, a constant", median->bare, BENCH_REPORT, 0);
}

/* ---- memory ---- */

/* In a process of its own: open the streams, say so, hold them until told to end. */
static void hold_streams(int port, int ready, int end)
{
	char c = 0;

	for (int i = 0; i < STREAMS; i++) {
		char head[ANSWER_BYTES];
		int fd = bench_http_dial(port);

		bench_http_send(fd, ASK_STREAM, sizeof(ASK_STREAM) - 1);
		if (recv(fd, head, sizeof(head), 0) <= 0)
			die("stream");
	}
	(void)!write(ready, &c, 1);
	(void)!read(end, &c, 1);
	_exit(0);
}

static void measure_streams(void)
{
	struct mr_http_server *server = start_ours();
	int ready[2], end[2];
	double before, after;
	char c;
	pid_t pid;

	if (pipe(ready) != 0 || pipe(end) != 0)
		die("pipe");
	before = bench_resident_mib(getpid());
	pid = fork();
	if (pid == 0) {
		close(end[1]);
		hold_streams(mr_http_server_port(server), ready[1], end[0]);
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &c, 1) != 1)
		die("streams");
	after = bench_resident_mib(getpid());
	close(end[1]);
	waitpid(pid, NULL, 0);
	mr_http_server_free(server);
	for (int i = 0; i < STREAMS; i++)
		mr_http_stream_close(streams[i]);
	bench_figure("1,000 idle streams, resident memory added", after - before, "MiB", "20 MiB",
		20, BENCH_AT_MOST, 1);
}

int main(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	measure_streams();
	measure_speed();
	return 0;
}
