/*
 * tests/support/http_client.h - HTTP spoken byte by byte over a socket.
 *
 * What cannot be done, or takes more than twenty seconds, fails the test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct client {
	int fd;
	size_t len; /* bytes in `got` that are not read yet */
	char *got;
	int status;
	char head[16 * 1024];
	char *body;
	size_t body_len;
};

/* An address: "127.0.0.1", "::1". */
struct client *client_open_at(const char *host, int port);
void client_close(struct client *c);

void client_say(struct client *c, const char *text);
void client_say_bytes(struct client *c, const void *data, size_t len);

/* One more piece from the server; false at the end. */
bool client_hear(struct client *c);
/* The head of the next response; false when the server has hung up instead. */
bool client_hear_head(struct client *c);
/* The next chunk of the body, put at its end; 0 for the last. */
size_t client_hear_chunk(struct client *c);
/* Chunks until the body has `text` in it. */
void client_hear_text(struct client *c, const char *text);
/* A whole response; its status, or 0 when the server has hung up instead. */
int client_hear_response(struct client *c, bool has_body);
/* Has the server hung up, with nothing more said? */
bool client_has_ended(struct client *c);

/* A request and its response; the status. */
int client_ask(struct client *c, const char *request);
/* Of the last response's head; NULL when it is not there. Valid until the next call. */
const char *client_header(const struct client *c, const char *name);
