/* surface/http/sign_in.c - Keeps the sessions of browsers that signed in, and ends old ones. */
#include "surface/http/sign_in.h"

#include "base/oom.h"
#include "text/digest.h"
#include "text/time.h"
#include "text/token.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_RANDOM = 32, KEY_BYTES = 32 };

struct session {
	uint8_t key[KEY_BYTES]; /* the digest of its name */
	char *credential;       /* NULL: no session */
	int64_t begun_us, used_us;
};

struct mr_http_sessions {
	struct mr_rand *rand;
	const struct mr_clock *clock;
	pthread_mutex_t lock;
	struct session items[MR_HTTP_SESSIONS_MAX];
};

struct mr_http_sessions *mr_http_sessions_new(struct mr_rand *rand, const struct mr_clock *clock)
{
	struct mr_http_sessions *sessions = calloc(1, sizeof(*sessions));

	if (!sessions)
		mr_oom(sizeof(*sessions));
	sessions->rand = rand;
	sessions->clock = clock;
	pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

static void end(struct session *session)
{
	if (session->credential)
		explicit_bzero(session->credential, strlen(session->credential));
	free(session->credential);
	*session = (struct session){ 0 };
}

void mr_http_sessions_free(struct mr_http_sessions *sessions)
{
	if (!sessions)
		return;
	for (size_t i = 0; i < MR_HTTP_SESSIONS_MAX; i++)
		end(&sessions->items[i]);
	pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

static void key_of(const char *name, uint8_t out[KEY_BYTES])
{
	mr_digest_sha256_bytes(mr_bytes_text(name), out);
}

static bool is_over(const struct session *session, int64_t now_us)
{
	return now_us - session->used_us > MR_HTTP_SESSION_IDLE_S * MR_TIME_S ||
		now_us - session->begun_us > MR_HTTP_SESSION_S * MR_TIME_S;
}

/* Under the lock; NULL when there is no such session. One that is over is ended. */
static struct session *find(struct mr_http_sessions *sessions, const char *name)
{
	int64_t now_us = mr_clock_mono_us(sessions->clock);
	uint8_t key[KEY_BYTES];

	key_of(name, key);
	for (size_t i = 0; i < MR_HTTP_SESSIONS_MAX; i++) {
		struct session *session = &sessions->items[i];

		if (!session->credential || memcmp(session->key, key, KEY_BYTES) != 0)
			continue;
		if (!is_over(session, now_us))
			return session;
		end(session);
	}
	return NULL;
}

/* Under the lock: a free place, or that of the session that was used longest ago. */
static struct session *make_room(struct mr_http_sessions *sessions)
{
	struct session *oldest = &sessions->items[0];

	for (size_t i = 0; i < MR_HTTP_SESSIONS_MAX && oldest->credential; i++) {
		struct session *session = &sessions->items[i];

		if (!session->credential || session->used_us < oldest->used_us)
			oldest = session;
	}
	end(oldest);
	return oldest;
}

const char *mr_http_sessions_begin(struct mr_http_sessions *sessions, struct mr_arena *arena,
	const char *credential)
{
	int64_t now_us = mr_clock_mono_us(sessions->clock);
	uint8_t chance[NAME_RANDOM];
	struct session *session;
	const char *name;

	mr_rand_fill(sessions->rand, chance, sizeof(chance));
	name = mr_token_base64url(arena, mr_bytes_of(chance, sizeof(chance)));
	pthread_mutex_lock(&sessions->lock);
	session = make_room(sessions);
	key_of(name, session->key);
	session->credential = strdup(credential);
	if (!session->credential)
		mr_oom(strlen(credential));
	session->begun_us = session->used_us = now_us;
	pthread_mutex_unlock(&sessions->lock);
	return name;
}

const char *mr_http_sessions_find(struct mr_http_sessions *sessions, struct mr_arena *arena,
	const char *name)
{
	const char *credential = NULL;
	struct session *session;

	if (!name)
		return NULL;
	pthread_mutex_lock(&sessions->lock);
	session = find(sessions, name);
	if (session) {
		session->used_us = mr_clock_mono_us(sessions->clock);
		credential = mr_arena_strdup(arena, session->credential);
	}
	pthread_mutex_unlock(&sessions->lock);
	return credential;
}

void mr_http_sessions_end(struct mr_http_sessions *sessions, const char *name)
{
	struct session *session;

	pthread_mutex_lock(&sessions->lock);
	session = find(sessions, name);
	if (session)
		end(session);
	pthread_mutex_unlock(&sessions->lock);
}
