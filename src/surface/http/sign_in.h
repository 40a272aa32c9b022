/*
 * surface/http/sign_in.h - the sessions of browsers that signed in with a token.
 *
 * A session is a random name, which the browser sends in a cookie, for a credential that was right
 * when it began. Requests of the session are checked as if they had sent that credential, so a
 * token that was taken out of the settings, or has expired, ends it. Names are kept as digests,
 * in memory: a server that is started anew knows none.
 *
 * Safe from any thread.
 */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "base/rand.h"

enum {
	MR_HTTP_SESSIONS_MAX = 256, /* another one ends the one that was used longest ago */
	MR_HTTP_SESSION_IDLE_S = 12 * 3600,
	MR_HTTP_SESSION_S = 7 * 24 * 3600,
	MR_HTTP_CREDENTIAL_BYTES = 16 << 10,
};

struct mr_http_sessions;

struct mr_http_sessions *mr_http_sessions_new(struct mr_rand *rand, const struct mr_clock *clock);
/* NULL is fine. */
void mr_http_sessions_free(struct mr_http_sessions *sessions);

/* Begin a session for a credential of at most MR_HTTP_CREDENTIAL_BYTES; its name, in the arena. */
const char *mr_http_sessions_begin(struct mr_http_sessions *sessions, struct mr_arena *arena,
	const char *credential);
/* The credential of the session with that name, in the arena; NULL: there is none, or it is over.
 * The session counts as used. `name` may be NULL. */
const char *mr_http_sessions_find(struct mr_http_sessions *sessions, struct mr_arena *arena,
	const char *name);
void mr_http_sessions_end(struct mr_http_sessions *sessions, const char *name);
