/* tests/unit/surface/http_app.h - a server with routes to test it by, one per process. */
#pragma once

#include "http_client.h"
#include "surface/http/server.h"

#include <pthread.h>

enum { STREAMS_MAX = 300, APP_ROUTES = 11 };

#define HOST "Host: localhost\r\n"

struct app {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned entered; /* handlers that wait at the gate */
	bool gate_open;
	unsigned ended;
	unsigned streams_len;
	struct mr_http_stream *streams[STREAMS_MAX];
	enum mr_code open_rc;
	unsigned observed;
	struct mr_http_finished last;
	char last_pattern[64];
};

extern struct app app;
extern struct mr_http_server *server;
extern const struct mr_http_route app_routes[APP_ROUTES];

/* Wait, with an end, for a counter of `app` to reach `want`. */
void app_wait_for(const unsigned *counter, unsigned want);
/* Let the handlers of /gated go. */
void app_open_gate(void);

struct mr_http_config app_config(void);
/* One token with every right, and nobody without it; the test frees it. */
struct mr_http_access *app_access(const char *token);
void app_start(void);
void app_start_with(const struct mr_http_config *config);
/* Twice, which must be the same as once, then free. */
void app_stop(void);

struct client *app_client(void);
/* One request on a connection of its own. */
int app_ask_once(const char *request);
/* A client of /stream, whose handle is then the last of `app.streams`. */
struct client *app_open_stream(void);
