/* tests/support/http_client.c */
#include "http_client.h"

#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAIT_S = 20, ROOM = 256 * 1024 };

struct client *client_open_at(const char *host, int port)
{
	struct client *c = calloc(1, sizeof(*c));
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	bool is_v6 = inet_pton(AF_INET6, host, &v6.sin6_addr) == 1;
	struct timeval limit = { .tv_sec = WAIT_S };
	int rc;

	c->got = calloc(1, ROOM + 1);
	c->body = calloc(1, ROOM + 1);
	CHECK(is_v6 || inet_pton(AF_INET, host, &v4.sin_addr) == 1);
	c->fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	rc = is_v6 ? connect(c->fd, (struct sockaddr *)&v6, sizeof(v6))
		   : connect(c->fd, (struct sockaddr *)&v4, sizeof(v4));
	if (rc != 0)
		test_fail(__FILE__, __LINE__, "connect: %s", strerror(errno));
	return c;
}

void client_close(struct client *c)
{
	close(c->fd);
	free(c->got);
	free(c->body);
	free(c);
}

void client_say_bytes(struct client *c, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = send(c->fd, at, len, MSG_NOSIGNAL);

		CHECK(n > 0);
		at += n;
		len -= (size_t)n;
	}
}

void client_say(struct client *c, const char *text)
{
	client_say_bytes(c, text, strlen(text));
}

/* One more piece from the server; false at the end. */
bool client_hear(struct client *c)
{
	ssize_t n;

	CHECK(c->len < ROOM);
	n = recv(c->fd, c->got + c->len, ROOM - c->len, 0);
	if (n < 0 && errno == ECONNRESET)
		return false;
	if (n < 0)
		test_fail(__FILE__, __LINE__, "recv: %s", strerror(errno));
	c->len += (size_t)n;
	c->got[c->len] = '\0';
	return n > 0;
}

static void consume(struct client *c, size_t len)
{
	memmove(c->got, c->got + len, c->len - len + 1);
	c->len -= len;
}

static void hear_at_least(struct client *c, size_t len)
{
	while (c->len < len)
		CHECK(client_hear(c));
}

const char *client_header(const struct client *c, const char *name)
{
	static char value[512];
	size_t len = strlen(name);

	for (const char *at = strstr(c->head, "\r\n"); at; at = strstr(at + 2, "\r\n")) {
		if (strncasecmp(at + 2, name, len) == 0 && at[2 + len] == ':') {
			const char *from = at + 2 + len + 1;

			from += strspn(from, " ");
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(from, "\r"), from);
			return value;
		}
	}
	return NULL;
}

/* The head of the next response; false when the server has hung up instead. */
bool client_hear_head(struct client *c)
{
	char *end;

	while (!(end = strstr(c->got, "\r\n\r\n"))) {
		if (!client_hear(c))
			return false;
	}
	CHECK((size_t)(end - c->got) < sizeof(c->head) - 4);
	snprintf(c->head, sizeof(c->head), "%.*s", (int)(end - c->got) + 2, c->got);
	consume(c, (size_t)(end - c->got) + 4);
	CHECK(sscanf(c->head, "HTTP/1.1 %d", &c->status) == 1);
	return true;
}

/* The next chunk of the body, put at its end; 0 for the last. */
size_t client_hear_chunk(struct client *c)
{
	char *line_end;
	size_t len;

	while (!(line_end = strstr(c->got, "\r\n")))
		CHECK(client_hear(c));
	len = strtoul(c->got, NULL, 16);
	consume(c, (size_t)(line_end - c->got) + 2);
	hear_at_least(c, len + 2);
	CHECK(c->body_len + len < ROOM);
	memcpy(c->body + c->body_len, c->got, len);
	c->body_len += len;
	c->body[c->body_len] = '\0';
	consume(c, len + 2);
	return len;
}

/* A whole response; its status. */
int client_hear_response(struct client *c, bool has_body)
{
	const char *length;

	c->body_len = 0;
	c->body[0] = '\0';
	if (!client_hear_head(c))
		return 0;
	if (!has_body)
		return c->status;
	length = client_header(c, "Content-Length");
	if (length) {
		c->body_len = strtoul(length, NULL, 10);
		hear_at_least(c, c->body_len);
		memcpy(c->body, c->got, c->body_len);
		c->body[c->body_len] = '\0';
		consume(c, c->body_len);
	} else if (client_header(c, "Transfer-Encoding")) {
		while (client_hear_chunk(c))
			;
	}
	return c->status;
}

int client_ask(struct client *c, const char *text)
{
	client_say(c, text);
	return client_hear_response(c, true);
}

bool client_has_ended(struct client *c)
{
	return c->len == 0 && !client_hear(c);
}

void client_hear_text(struct client *c, const char *text)
{
	while (!strstr(c->body, text))
		CHECK(client_hear_chunk(c));
}
