/*
 * net/jmap_wire.h - what the files of the JMAP client share: its connection, and one exchange with
 * the server.
 */
#pragma once

#include "net/http_client.h"
#include "net/jmap.h"

struct mr_jmap {
	struct mr_arena *arena;
	struct mr_http_client *http;
	struct mr_jmap_login login;
	const char *host;       /* for messages */
	const char *headers[2]; /* that log in */
	const char *asked_url;  /* that of the last exchange, after redirects; as long as its cx */
	const char *secrets[4]; /* no message may hold them; NULL-terminated */
	/* The session and what it was read from. */
	struct mr_arena *session_arena;
	struct mr_jmap_session session;
	struct mr_bytes session_body;
	const char *newer_state; /* that answers had since it was fetched, or NULL */
	bool has_session;
	bool is_recalled; /* it was not fetched, and may be out of date */
	bool is_stale;    /* it is to be fetched again */
};

/* How often, and how long, a request has been waiting for a server that is busy. */
struct mr_jmap_patience {
	int tries;
	int64_t waited_ms;
	bool was_lost; /* a connection was lost already */
};
/* Wait before the next try; false: it has been tried often enough. `after_s`: when the server wants
 * to be asked again, or 0. */
bool mr_jmap_wait(struct mr_ctx *cx, const struct mr_jmap *jmap, struct mr_jmap_patience *patience,
	int64_t after_s);

struct mr_jmap_exchange {
	const char *url;
	const char *media_type; /* of the body; NULL: there is none, and it is a GET */
	struct mr_bytes body;
	enum mr_jmap_kind kind;
	size_t max_bytes; /* of the answer */
};
/* Ask, and ask again where that may be done. Answers that are no success are errors, whose HTTP
 * status `out->status` has (0: there was none). */
MR_CHECK enum mr_code mr_jmap_exchange(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_exchange *exchange, struct mr_jmap_patience *patience,
	struct mr_http_client_response *out);

/* --- errors (net/jmap_error.c) --- */

/* The error of an HTTP answer that is no success. `*out_later`: nothing was done, and the same can
 * be asked again. */
enum mr_code mr_jmap_status_error(struct mr_ctx *cx, const struct mr_jmap *jmap,
	const struct mr_http_client_response *response, bool *out_later);
/* In all texts of a value of the server. */
void mr_jmap_hide_secrets(const struct mr_jmap *jmap, const struct mr_value *value);
