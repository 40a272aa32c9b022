/* tests/unit/net/test_http_client.c */
#include "net/http_client.h"

#include "net/local_socket.h"
#include "test.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A server for one request: says `answer`, or nothing at all and waits. */
struct peer {
	pid_t pid;
	int port;
};

static void serve_one(int listener, const char *answer, int seen)
{
	char request[4096];
	int fd = accept(listener, NULL, NULL);
	ssize_t len = recv(fd, request, sizeof(request), 0);

	if (len > 0 && write(seen, request, (size_t)len) != len)
		_exit(1);
	if (!answer)
		pause();
	if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
		_exit(1);
	shutdown(fd, SHUT_WR);
	while (recv(fd, request, sizeof(request), 0) > 0)
		;
	_exit(0);
}

static struct peer start_peer(const char *answer, int seen)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct peer peer;

	CHECK(bind(listener, (struct sockaddr *)&address, len) == 0 && listen(listener, 4) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&address, &len) == 0);
	peer.port = ntohs(address.sin_port);
	peer.pid = fork();
	CHECK(peer.pid >= 0);
	if (peer.pid == 0)
		serve_one(listener, answer, seen);
	close(listener);
	return peer;
}

static void stop_peer(struct peer *peer)
{
	kill(peer->pid, SIGKILL);
	waitpid(peer->pid, NULL, 0);
}

static enum mr_code ask(struct mr_arena *arena, const char *answer,
	struct mr_http_client_response *out, struct mr_err *err)
{
	struct peer peer = start_peer(answer, 2);
	struct mr_http_client_request request = {
		.url = mr_arena_printf(arena, "http://user:pass@127.0.0.1:%d/path?key=x",
			peer.port),
		.timeout_ms = answer ? 20000 : 100,
		.max_bytes = 64,
	};
	enum mr_code rc = mr_http_client_send(arena, &request, out, err);

	stop_peer(&peer);
	return rc;
}

static void answers_of_any_status_are_answers(void)
{
	static const struct {
		const char *answer;
		int status;
		const char *type, *body;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
			200, "text/plain", "hello" },
		{ "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", 500, NULL, "" },
		{ "HTTP/1.1 302 Away\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
			302, NULL, "" },
		{ "HTTP/1.0 200 OK\r\n\r\nto the end", 200, NULL, "to the end" },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_http_client_response response;

		CHECK_OK(ask(arena, cases[i].answer, &response, &err), err);
		CHECK_INT(response.status, cases[i].status);
		CHECK_STR(response.content_type, cases[i].type);
		CHECK_STR((const char *)response.body.data, cases[i].body);
		CHECK_INT(response.body.len, strlen(cases[i].body));
	}
	mr_arena_free(arena);
}

static void failures_say_who_and_nothing_secret(void)
{
	static const struct {
		const char *answer;
		enum mr_code code;
		const char *why;
	} cases[] = {
		{ NULL, MR_ETIMEOUT, " did not answer in time" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n"
		  "01234567890123456789012345678901234567890123456789012345678901234",
			MR_ELIMIT, " answered with more than 64 bytes" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", MR_EREMOTE, ": " },
		{ "220 smtp.example.com\r\n", MR_EREMOTE, ": " },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_http_client_response response;

		CHECK_INT(ask(arena, cases[i].answer, &response, &err), cases[i].code);
		CHECK(strncmp(err.msg, "127.0.0.1:", 10) == 0);
		CHECK(strstr(err.msg, cases[i].why));
		CHECK(!strstr(err.msg, "pass") && !strstr(err.msg, "key"));
	}
	mr_arena_free(arena);
}

static void only_http_is_asked(void)
{
	static const struct {
		const char *url;
		enum mr_code code;
		const char *why;
	} cases[] = {
		{ "file:///etc/passwd", MR_EINVAL, "not an http or https URL" },
		{ "ftp://127.0.0.1/x", MR_EINVAL, "not an http or https URL (host 127.0.0.1)" },
		{ "http://", MR_EINVAL, "not an http or https URL" },
		{ "", MR_EINVAL, "not an http or https URL" },
		{ "http://127.0.0.1:1/", MR_EREMOTE, "127.0.0.1:1: " },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_http_client_request request = { .url = cases[i].url,
			.timeout_ms = 5000,
			.max_bytes = 10 };
		struct mr_http_client_response response;

		CHECK_INT(mr_http_client_send(arena, &request, &response, &err), cases[i].code);
		if (strncmp(err.msg, cases[i].why, strlen(cases[i].why)) != 0)
			test_fail(__FILE__, __LINE__, "%s: %s", cases[i].url, err.msg);
	}
	mr_arena_free(arena);
}

static void what_is_asked_arrives(void)
{
	static const char *const headers[] = { "Authorization: Bearer x", "Content-Type: text/a",
		NULL };
	static const char *const bad[] = { "A: b\r\nC: d", NULL };
	struct mr_arena *arena = mr_arena_new();
	struct mr_http_client_response response;
	struct mr_http_client_request request = { .method = "POST",
		.headers = headers,
		.body = mr_bytes_text("the body"),
		.timeout_ms = 20000,
		.max_bytes = 10 };
	struct mr_err err;
	char text[4096] = "";
	int ends[2];
	struct peer peer;

	CHECK(pipe(ends) == 0);
	peer = start_peer("HTTP/1.1 204 Fine\r\n\r\n", ends[1]);
	request.url = mr_arena_printf(arena, "http://127.0.0.1:%d/here", peer.port);
	CHECK_OK(mr_http_client_send(arena, &request, &response, &err), err);
	CHECK_INT(response.status, 204);
	CHECK(read(ends[0], text, sizeof(text) - 1) > 0);
	CHECK(strncmp(text, "POST /here HTTP/1.1\r\n", 21) == 0);
	CHECK(strstr(text, "\r\nAuthorization: Bearer x\r\n"));
	CHECK(strstr(text, "\r\nContent-Type: text/a\r\n"));
	CHECK(strstr(text, "\r\nUser-Agent: mailroom/"));
	CHECK(strstr(text, "\r\n\r\nthe body"));
	stop_peer(&peer);
	request.headers = bad;
	CHECK_INT(mr_http_client_send(arena, &request, &response, &err), MR_EINVAL);
	CHECK_STR(err.msg, "a header holds a line break");
	mr_arena_free(arena);
}

/* A peer as start_peer() makes it, on a Unix socket. */
static struct peer start_local_peer(const char *path, const char *answer)
{
	struct sockaddr_un address;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct peer peer = { 0 };
	struct mr_err err;

	CHECK_OK(mr_local_socket_address(path, &address, &err), err);
	CHECK(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(listener, 4) == 0);
	peer.pid = fork();
	CHECK(peer.pid >= 0);
	if (peer.pid == 0) {
		/* The client looks who listens, before it asks. */
		close(accept(listener, NULL, NULL));
		serve_one(listener, answer, 2);
	}
	close(listener);
	return peer;
}

static void a_socket_comes_first(void)
{
	static const char here[] = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere";
	static const char there[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere";
	struct mr_arena *arena = mr_arena_new();
	const char *path = mr_arena_printf(arena, "%s/s", test_dir());
	struct peer far = start_peer(there, 2);
	struct mr_http_client_request request = {
		.url = mr_arena_printf(arena, "http://127.0.0.1:%d/", far.port),
		.timeout_ms = 20000,
		.max_bytes = 64,
		.socket = path,
	};
	struct mr_http_client_response response;
	struct peer near = start_local_peer(path, here);
	struct mr_err err;

	CHECK_OK(mr_http_client_send(arena, &request, &response, &err), err);
	CHECK_STR((const char *)response.body.data, "here");
	stop_peer(&near);
	/* Its file stays, and nobody listens. */
	request.only_socket = true;
	CHECK_INT(mr_http_client_send(arena, &request, &response, &err), MR_ENOTFOUND);
	CHECK_STR(err.msg, mr_arena_printf(arena, "nobody listens on %s", path));
	request.only_socket = false;
	CHECK_OK(mr_http_client_send(arena, &request, &response, &err), err);
	CHECK_STR((const char *)response.body.data, "there");
	stop_peer(&far);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(answers_of_any_status_are_answers),
		TEST(failures_say_who_and_nothing_secret),
		TEST(only_http_is_asked),
		TEST(what_is_asked_arrives),
		TEST(a_socket_comes_first),
	};

	return test_main(tests, MR_LEN(tests));
}
