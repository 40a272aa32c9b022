/* bench/http_load.c */
#include "http_load.h"

#include "bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_BYTES = 16 << 10, WORD_WITHIN = 1024 };

struct connection {
	int fd;
	const char *request;
	size_t request_len;
	const char *word;
	size_t word_len;
	/* The answer under way. */
	char *data;
	size_t len, size;
	size_t whole; /* its length; 0 as long as that is not known */
};

struct bench_load {
	int epoll;
	struct connection connections[BENCH_CONNECTIONS];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void refuse(const char *why, const char *data, size_t len)
{
	fprintf(stderr, "%s: %.*s\n", why, (int)(len < 2000 ? len : 2000), data);
	exit(1);
}

int bench_http_dial(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

void bench_http_send(int fd, const char *request, size_t len)
{
	if (send(fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("send");
}

/* The length of the answer that begins in `data`; 0 before its head is complete. */
static size_t whole_length(const char *data, size_t len)
{
	static const char length[] = "Content-Length: ";
	const char *end = memmem(data, len, "\r\n\r\n", 4);
	const char *at =
		end ? memmem(data, (size_t)(end - data), length, sizeof(length) - 1) : NULL;

	if (!end)
		return 0;
	if (!at || memcmp(data, "HTTP/1.1 200", 12) != 0)
		refuse("this was answered", data, len);
	return (size_t)(end + 4 - data) + strtoul(at + sizeof(length) - 1, NULL, 10);
}

void bench_http_ask(int fd, const char *request, char *out, size_t size)
{
	size_t len = 0, whole = 0;

	bench_http_send(fd, request, strlen(request));
	while (!whole || len < whole) {
		ssize_t n = recv(fd, out + len, size - 1 - len, 0);

		if (n <= 0)
			die("recv");
		len += (size_t)n;
		if (!whole)
			whole = whole_length(out, len);
	}
	out[len] = '\0';
}

struct bench_load *bench_load_new(int port)
{
	struct bench_load *load = calloc(1, sizeof(*load));

	if (!load)
		die("calloc");
	load->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; i < BENCH_CONNECTIONS; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };
		struct connection *conn = &load->connections[i];

		conn->fd = bench_http_dial(port);
		conn->size = FIRST_BYTES;
		conn->data = malloc(conn->size);
		if (!conn->data)
			die("malloc");
		epoll_ctl(load->epoll, EPOLL_CTL_ADD, conn->fd, &event);
	}
	return load;
}

void bench_load_free(struct bench_load *load)
{
	for (unsigned i = 0; i < BENCH_CONNECTIONS; i++) {
		close(load->connections[i].fd);
		free(load->connections[i].data);
	}
	close(load->epoll);
	free(load);
}

void bench_load_set(struct bench_load *load, unsigned i, const char *request, const char *word)
{
	struct connection *conn = &load->connections[i];

	conn->request = request;
	conn->request_len = strlen(request);
	conn->word = word;
	conn->word_len = strlen(word);
}

/* Take what has come for one; is the answer complete? */
static bool take_some(struct connection *conn)
{
	ssize_t n = recv(conn->fd, conn->data + conn->len, conn->size - conn->len, 0);
	size_t tail;

	if (n <= 0)
		die("recv");
	conn->len += (size_t)n;
	if (!conn->whole)
		conn->whole = whole_length(conn->data, conn->len);
	if (conn->whole > conn->size) {
		conn->size = conn->whole;
		conn->data = realloc(conn->data, conn->size);
		if (!conn->data)
			die("realloc");
	}
	if (!conn->whole || conn->len < conn->whole)
		return false;
	tail = conn->len < WORD_WITHIN ? conn->len : WORD_WITHIN;
	if (!memmem(conn->data + conn->len - tail, tail, conn->word, conn->word_len))
		refuse("this is no success", conn->data, conn->len);
	conn->len = conn->whole = 0;
	return true;
}

/* Take what has come; returns how many answers are complete, and asks again where `more`. */
static unsigned take_answers(struct bench_load *load, bool more)
{
	struct epoll_event events[BENCH_CONNECTIONS];
	int count = epoll_wait(load->epoll, events, BENCH_CONNECTIONS, 1000);
	unsigned complete = 0;

	for (int k = 0; k < count; k++) {
		struct connection *conn = &load->connections[events[k].data.u32];

		if (!take_some(conn))
			continue;
		complete++;
		if (more)
			bench_http_send(conn->fd, conn->request, conn->request_len);
	}
	return complete;
}

double bench_load_turn(struct bench_load *load, double seconds)
{
	uint64_t answered = 0;
	unsigned under_way = BENCH_CONNECTIONS;
	double begin = bench_now(), now;

	for (unsigned i = 0; i < BENCH_CONNECTIONS; i++)
		bench_http_send(load->connections[i].fd, load->connections[i].request,
			load->connections[i].request_len);
	do {
		answered += take_answers(load, true);
		now = bench_now();
	} while (now - begin < seconds);
	while (under_way)
		under_way -= take_answers(load, false);
	return (double)(answered + BENCH_CONNECTIONS) / (bench_now() - begin);
}
