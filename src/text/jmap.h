/*
 * text/jmap.h - what a JMAP server answers (RFC 8620): its session object, the responses to a
 * request, and the addresses that it names. Pure.
 *
 * Whatever a server names is asked on the host that the session came from, and nowhere else: of an
 * absolute address only the path and the query are taken, because credentials go along.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/value.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MR_JMAP_SESSION_BYTES = 1 << 20,
	MR_JMAP_ANSWER_BYTES = 96 << 20,
	MR_JMAP_URL_BYTES = 8192,
	MR_JMAP_RESULTS = 1024, /* of one answer */
};

/* How much the server takes at once; a limit that it does not state is a usual one. */
struct mr_jmap_limits {
	int64_t upload_bytes, request_bytes;
	int64_t uploads, requests; /* at the same time */
	int64_t calls;             /* of one request */
	int64_t gets, sets;        /* objects of one call */
};

struct mr_jmap_session {
	const char *url; /* where it was read */
	const char *api_url;
	/* Templates; of servers without uploads, downloads or events NULL. */
	const char *upload_url, *download_url, *event_url;
	const char *state;
	const char *username;
	const char *mail_account;       /* its id */
	const char *submission_account; /* NULL: mail cannot be sent here */
	struct mr_jmap_limits limits;
};

/*
 * Read the session object that came from `url`. MR_EFORMAT: it is none. MR_ENOTFOUND: it has no
 * account for mail. Unknown capabilities and keys are ignored.
 */
MR_CHECK enum mr_code mr_jmap_session_parse(struct mr_arena *arena, const char *url,
	struct mr_bytes body, struct mr_jmap_session *out, struct mr_err *err);

/* One response: that of the call with this id. `name` "error": the call failed. */
struct mr_jmap_result {
	const char *name;
	const char *id;
	const struct mr_value *value; /* a map */
};
struct mr_jmap_response {
	const char *session_state;
	struct mr_jmap_result *items;
	size_t len;
};
MR_CHECK enum mr_code mr_jmap_response_parse(struct mr_arena *arena, struct mr_bytes body,
	struct mr_jmap_response *out, struct mr_err *err);

/* What a JSON pointer with "*" for all elements of a list (RFC 8620, 3.7) finds; NULL: nothing. */
const struct mr_value *mr_jmap_point(struct mr_arena *arena, const struct mr_value *value,
	const char *path);

/* The address `reference`, as `base` names it, on the host of `base`. NULL: it is no address of
 * http, or too long. */
const char *mr_jmap_url(struct mr_arena *arena, const char *base, const char *reference);
/* Are both on the same host, with the same port and encryption? */
bool mr_jmap_url_is_same_host(const char *a, const char *b);
/* The address of a template: {name} becomes the value of that name, percent-encoded; a name without
 * a value becomes nothing. `values` are pairs of names and values, ended by a NULL name. NULL: it
 * is too long, or a brace is not closed. */
struct mr_jmap_variable {
	const char *name, *value;
};
const char *mr_jmap_url_expand(struct mr_arena *arena, const char *template,
	const struct mr_jmap_variable *values);
