/*
 * What a server answers is what a strict reader of the whole input finds in it: each request that
 * is answered in any way but by a refusal stands there, whole, in this order, with this method and
 * this body; after the first one that does not, nothing is answered any more.
 */
#include "http_client.h"
#include "surface/http/server.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ANSWER_BYTES = 1 << 20, WAIT_S = 20 };

/* ---- the strict reader ---- */

struct found {
	bool has_headers; /* good ones, whatever the body is */
	char method[32];
	const char *body;
	size_t len;
};

struct input {
	const char *at, *end;
	struct mr_arena *arena;
};

/* The next line without its CR LF, when it has that and nothing else below ' ' but tabs. */
static const char *take_line(struct input *in)
{
	const char *lf = memchr(in->at, '\n', (size_t)(in->end - in->at));
	const char *line = in->at;

	if (!lf || lf == line || lf[-1] != '\r')
		return NULL;
	for (const char *p = line; p < lf - 1; p++) {
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
			return NULL;
	}
	in->at = lf + 1;
	return mr_arena_strndup(in->arena, line, (size_t)(lf - 1 - line));
}

static size_t token_len(const char *text)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]) ||
		(text[len] && strchr("!#$%&'*+-.^_`|~", text[len])))
		len++;
	return len;
}

static bool take_body(struct input *in, size_t len, struct mr_buf *body)
{
	if (len > (size_t)(in->end - in->at))
		return false;
	mr_buf_add(body, in->at, len);
	in->at += len;
	return true;
}

/* Headers up to the empty line; their number of each kind that counts. */
static bool take_headers(struct input *in, unsigned counts[3], char *length, size_t room)
{
	static const char *const kinds[] = { "Host", "Content-Length", "Transfer-Encoding" };
	const char *line;

	while ((line = take_line(in)) && *line) {
		size_t len = token_len(line);
		const char *value = line + len + 1;

		if (len == 0 || line[len] != ':')
			return false;
		value += strspn(value, " \t");
		for (size_t i = 0; i < MR_LEN(kinds); i++) {
			if (len == strlen(kinds[i]) && strncasecmp(line, kinds[i], len) == 0) {
				counts[i]++;
				if (i == 1)
					snprintf(length, room, "%s", value);
				if (i == 2 && strcasecmp(value, "chunked") != 0)
					return false;
			}
		}
	}
	return line;
}

static bool take_chunks(struct input *in, struct mr_buf *body)
{
	const char *line;
	size_t size;

	do {
		char *end;

		line = take_line(in);
		if (!line || !isxdigit((unsigned char)*line) || strspn(line, "0") > 64)
			return false;
		size = strtoull(line, &end, 16);
		if ((*end && *end != ';') || (end - line > 1 && strchr("xX", line[1])))
			return false;
		if (size &&
			(!take_body(in, size, body) || in->end - in->at < 2 ||
				memcmp(in->at, "\r\n", 2) != 0))
			return false;
		in->at += size ? 2 : 0;
	} while (size);
	/* The trailer's Transfer-Encoding and so on mean nothing. */
	while ((line = take_line(in)) && *line) {
		size = token_len(line);
		if (size == 0 || line[size] != ':')
			return false;
	}
	return line;
}

static bool take_request(struct input *in, struct found *found)
{
	unsigned counts[3] = { 0 };
	char length[32] = "0";
	struct mr_buf body;
	const char *line;
	size_t method, target;
	bool good;

	if (in->end - in->at >= 2 && memcmp(in->at, "\r\n", 2) == 0)
		in->at += 2;
	line = take_line(in);
	if (!line)
		return false;
	method = token_len(line);
	if (method == 0 || line[method] != ' ')
		return false;
	target = strcspn(line + method + 1, " \t");
	if (target == 0 || strncmp(line + method + 1 + target, " HTTP/1.", 8) != 0 ||
		!isdigit((unsigned char)line[method + target + 9]) || line[method + target + 10])
		return false;
	if (!take_headers(in, counts, length, sizeof(length)) || counts[0] != 1 ||
		counts[1] + counts[2] > 1 || strspn(length, "0123456789") != strlen(length) ||
		!*length || strlen(length) > 18 || (counts[2] && line[method + target + 9] == '0'))
		return false;
	found->has_headers = true;
	snprintf(found->method, sizeof(found->method), "%.*s", (int)method, line);
	mr_buf_init(&body, ANSWER_BYTES);
	good = counts[2] ? take_chunks(in, &body)
			 : take_body(in, strtoull(length, NULL, 10), &body);
	found->body = mr_arena_memdup(in->arena, mr_buf_text(&body), body.len + 1);
	found->len = body.len;
	mr_buf_release(&body);
	return good;
}

/* ---- the server ---- */

/* "METHOD body" */
static void echo(const struct mr_http_request *req, struct mr_http_response *resp)
{
	size_t len = strlen(req->method);
	char *text = mr_arena_alloc(req->arena, len + 1 + req->body.len);

	memcpy(text, req->method, len);
	text[len] = ' ';
	if (req->body.len)
		memcpy(text + len + 1, req->body.data, req->body.len);
	mr_http_response_body(resp, 200, "text/plain", mr_bytes_of(text, len + 1 + req->body.len));
}

static const struct mr_http_route routes[] = {
	{ "GET", "/", echo, MR_ROUTE_INLINE },
	{ "POST", "/", echo, MR_ROUTE_INLINE },
};

static int server_port(void)
{
	static struct mr_http_server *server;
	struct mr_http_config config;
	struct mr_err err;

	if (server)
		return mr_http_server_port(server);
	mr_http_config_defaults(&config);
	config.keepalive_ms = 20;
	if (mr_http_server_start(&config, routes, MR_LEN(routes), NULL, &server, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	return mr_http_server_port(server);
}

/* All that the server says to it, terminated. */
static size_t converse(const uint8_t *data, size_t len, char *answer)
{
	struct timeval wait = { .tv_sec = WAIT_S };
	struct client *c = client_open_at("127.0.0.1", server_port());
	size_t got = 0;
	ssize_t n;

	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	/* It may be hung up on before its end. */
	(void)!send(c->fd, data, len, MSG_NOSIGNAL);
	shutdown(c->fd, SHUT_WR);
	while ((n = read(c->fd, answer + got, ANSWER_BYTES - got)) > 0)
		got += (size_t)n;
	if (n < 0 && errno == EAGAIN)
		abort(); /* neither answered nor hung up on */
	answer[got] = '\0';
	client_close(c);
	return got;
}

/* ---- compared ---- */

static bool is_refusal(int status)
{
	return status == 400 || status == 413 || status == 414 || status == 431 || status == 505;
}

/* Takes a response off `*at`; false when there is no whole one. */
static bool take_response(char **at, const char *end, int *status, const char **body, size_t *len)
{
	char *headers_end = strstr(*at, "\r\n\r\n");
	char *length;

	if (!headers_end || sscanf(*at, "HTTP/1.1 %d ", status) != 1)
		return false;
	length = strcasestr(*at, "\r\nContent-Length: ");
	*len = length && length < headers_end ? strtoul(length + 18, NULL, 10) : 0;
	*body = headers_end + 4;
	*at = headers_end + 4;
	if (*len > (size_t)(end - *at))
		*len = (size_t)(end - *at);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char answer[ANSWER_BYTES + 1];
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct input in = { len ? (const char *)data : "", (const char *)data + len, arena };
	size_t got = converse(data, len, answer);
	char *at = answer;
	const char *body;
	int status;
	size_t body_len;

	if (!len)
		in.end = in.at;
	while (take_response(&at, answer + got, &status, &body, &body_len)) {
		struct found found = { 0 };

		if (status == 100)
			continue;
		if (!take_request(&in, &found)) {
			/* What the headers decide may be answered before the body. */
			if (!is_refusal(status) && !(found.has_headers && status >= 400))
				abort();
			if (strstr(at, "HTTP/1.1 2"))
				abort();
			return 0;
		}
		if (status == 200 && strcmp(found.method, "HEAD") != 0) {
			size_t method = strlen(found.method);

			if (body_len != method + 1 + found.len ||
				memcmp(body, found.method, method) != 0 ||
				memcmp(body + method + 1, found.body, found.len) != 0)
				abort();
		}
		if (strcmp(found.method, "HEAD") != 0)
			at += body_len;
	}
	return 0;
}
