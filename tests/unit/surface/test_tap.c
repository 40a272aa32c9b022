/* tests/unit/surface/test_tap.c */
#include "surface/http/tap.h"

#include "base/str.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GOOD "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static struct mr_arena *arena;
static struct mr_http_tap *tap;
static struct mr_http_wire wire;
static int client, server;
static char got[512];

static void begin(void)
{
	int fds[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	client = fds[0];
	server = fds[1];
	arena = mr_arena_new();
	tap = mr_http_tap_new(arena);
	mr_http_tap_open(tap, server, &wire);
}

static void end(void)
{
	mr_http_tap_close(tap, server);
	close(client);
	close(server);
	mr_arena_free(arena);
}

static void say(const char *text)
{
	CHECK_INT(send(client, text, strlen(text), 0), strlen(text));
}

/* All that a library with so little room reads, as long as it gets all it asks for. */
static const char *hear(size_t room)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = recv(server, got + len, room, 0);
		len += n > 0 ? (size_t)n : 0;
	} while (n == (ssize_t)room);
	got[len] = '\0';
	return got;
}

static void passes_what_is_good(void)
{
	begin();
	CHECK_INT(recv(server, got, sizeof(got), 0), -1);
	CHECK_INT(errno, EAGAIN);
	say(GOOD GOOD);
	CHECK_STR(hear(sizeof(got)), GOOD GOOD);
	CHECK_INT(wire.sections, 2);
	say("GE");
	say("T / HTTP/1.1\r\nHost: b\r\n\r\n");
	CHECK_STR(hear(7), "GET / HTTP/1.1\r\nHost: b\r\n\r\n");
	CHECK_INT(wire.sections, 3);
	shutdown(client, SHUT_WR);
	CHECK_INT(recv(server, got, sizeof(got), 0), 0);
	end();
}

static void completes_what_is_bad(void)
{
	for (size_t room = 1; room < 100; room++) {
		memset(&wire, 0, sizeof(wire));
		begin();
		say(GOOD "GET /x HTTP/1.1\r\nA: b\r\n c\r\n\r\n" GOOD);
		CHECK_STR(hear(room), GOOD "GET /x HTTP/1.1\r\nA: b\r\nHost: x\r\n\r\n");
		CHECK_INT(wire.sections, 1);
		CHECK_STR(wire.wrong, "a header line begins with white space");
		/* Nothing more is read, and nothing is left that a reset would be sent for. */
		CHECK_INT(recv(server, got, sizeof(got), 0), 0);
		if (room > strlen(GOOD) * 3)
			CHECK_INT(recv(server, got, sizeof(got), MSG_PEEK), -1);
		end();
	}
}

static void ends_a_body_that_cannot_be_completed(void)
{
	begin();
	say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;\x01\r\nx");
	CHECK_STR(hear(sizeof(got)),
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;");
	CHECK_INT(recv(server, got, sizeof(got), 0), 0);
	end();
}

static void *read_elsewhere(void *arg)
{
	(void)arg;
	CHECK_STR(hear(sizeof(got)), "not HTTP\n");
	return NULL;
}

/* Other sockets, other threads, other flags, and sockets that are no longer tapped. */
static void leaves_others_alone(void)
{
	pthread_t thread;

	begin();
	say("not HTTP\n");
	CHECK_INT(recv(server, got, sizeof(got), MSG_PEEK), 9);
	CHECK(pthread_create(&thread, NULL, read_elsewhere, NULL) == 0);
	pthread_join(thread, NULL);
	CHECK_INT(send(server, "\n", 1, 0), 1);
	CHECK_INT(recv(client, got, sizeof(got), 0), 1);
	CHECK_INT(recv(-1, got, sizeof(got), 0), -1);
	CHECK_INT(errno, EBADF);
	CHECK(!wire.wrong && !wire.bytes);
	mr_http_tap_close(tap, server);
	say("\n");
	CHECK_STR(hear(sizeof(got)), "\n");
	CHECK(!wire.wrong && !wire.bytes);
	end();
}

static void taps_many(void)
{
	struct mr_http_wire other = { 0 };
	int high;

	begin();
	high = dup2(server, 900);
	CHECK_INT(high, 900);
	mr_http_tap_open(tap, high, &other);
	say(GOOD);
	CHECK_INT(recv(high, got, sizeof(got), 0), strlen(GOOD));
	CHECK_INT(other.sections, 1);
	say(GOOD);
	CHECK_STR(hear(sizeof(got)), GOOD);
	CHECK_INT(wire.sections, 1);
	close(high);
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(passes_what_is_good),
		TEST(completes_what_is_bad),
		TEST(ends_a_body_that_cannot_be_completed),
		TEST(leaves_others_alone),
		TEST(taps_many),
	};

	return test_main(tests, MR_LEN(tests));
}
