/* team/client_sql.c - Keeps sessions of clients for all servers, and relays between these. */
#include "data/rows.h"
#include "team/client.h"
#include "team/store/wait.h"
#include "text/digest.h"
#include "text/time.h"
#include "text/token.h"

enum { SUBSCRIPTIONS_MAX = 1000 };

const char *mr_team_client_digest(struct mr_arena *arena, const char *id)
{
	return mr_digest_sha256(arena, mr_bytes_text(id));
}

/* --- the secret --- */

enum { SECRET_BYTES = 32 };

/* The first one stays. */
static const char SQL_MAKE_SECRET[] = "INSERT INTO shared_secrets (name, secret)"
				      " VALUES ('seal', ?1) ON CONFLICT (name) DO NOTHING";
static const char SQL_SECRET[] = "SELECT secret FROM shared_secrets WHERE name = 'seal'";

static enum mr_code find_secret(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_MAKE_SECRET,
		MR_BIND(mr_token_hex(cx->arena, cx->rand, SECRET_BYTES)));

	return rc ? rc : mr_rows_one(cx, db, SQL_SECRET, NULL, MR_INTO((const char **)arg), NULL);
}

enum mr_code mr_team_client_secret(struct mr_ctx *cx, struct mr_team *team, const char **out)
{
	return mr_team_write(cx, team, find_secret, NULL, (void *)out);
}

/* --- sessions --- */

static const char SQL_OLD_SUBSCRIPTIONS[] =
	"DELETE FROM client_subscriptions WHERE session IN"
	" (SELECT session FROM client_sessions WHERE used_ts < ?1)";
static const char SQL_OLD_SESSIONS[] = "DELETE FROM client_sessions WHERE used_ts < ?1";
static const char SQL_PUT[] = "INSERT INTO client_sessions (session, owner, hello, level, used_ts)"
			      " VALUES (?1, ?2, ?3, ?4, ?5)";

static int64_t idle_since(struct mr_ctx *cx)
{
	return mr_clock_wall_us(cx->clock) - MR_TEAM_CLIENT_IDLE_S * MR_TIME_S;
}

struct putting {
	const char *digest;
	const struct mr_team_client *client;
};

static enum mr_code put(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct putting *it = arg;
	enum mr_code rc = mr_rows_run(cx, db, SQL_OLD_SUBSCRIPTIONS, MR_BIND(idle_since(cx)));

	if (!rc)
		rc = mr_rows_run(cx, db, SQL_OLD_SESSIONS, MR_BIND(idle_since(cx)));
	return rc ? rc
		  : mr_rows_run(cx, db, SQL_PUT,
			    MR_BIND(it->digest, it->client->owner, it->client->hello,
				    it->client->level, mr_clock_wall_us(cx->clock)));
}

enum mr_code mr_team_client_put(struct mr_ctx *cx, struct mr_team *team, const char *digest,
	const struct mr_team_client *client)
{
	struct putting putting = { digest, client };

	return mr_team_write(cx, team, put, NULL, &putting);
}

static const char SQL_GET[] = "SELECT owner, hello, level FROM client_sessions"
			      " WHERE session = ?1 AND used_ts >= ?2";
static const char SQL_SUBSCRIPTIONS[] = "SELECT uri, kind, id, thread_id FROM client_subscriptions"
					" WHERE session = ?1 ORDER BY uri LIMIT ?2";

static enum mr_code read_subscription(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_subscription *it = to;
	int64_t kind;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->uri, &kind, &it->topic.id, &it->topic.thread_id));
	it->topic.kind = (enum mr_team_topic_kind)kind;
	return MR_OK;
}

enum mr_code mr_team_client_get(struct mr_ctx *cx, struct mr_team *team, const char *digest,
	bool *found, struct mr_team_client *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_client client = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	*found = false;
	if (!rc)
		rc = mr_rows_one(cx, reader.db, SQL_GET, MR_BIND(digest, idle_since(cx)),
			MR_INTO(&client.owner, &client.hello, &client.level), found);
	if (!rc && *found)
		rc = mr_rows_list(cx, reader.db, SQL_SUBSCRIPTIONS,
			MR_BIND(digest, (int64_t)SUBSCRIPTIONS_MAX), read_subscription,
			&client.subscriptions, &client.subscription_count,
			sizeof(*client.subscriptions));
	if (!rc)
		*out = client;
	return rc;
}

/* --- changes of sessions, and what is relayed --- */

static const char SQL_TOUCH[] = "UPDATE client_sessions SET used_ts = ?2 WHERE session = ?1";
static const char SQL_LEVEL[] = "UPDATE client_sessions SET level = ?2 WHERE session = ?1";
static const char SQL_SUBSCRIBE[] =
	"INSERT INTO client_subscriptions (session, uri, kind, id, thread_id)"
	" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (session, uri) DO NOTHING";
static const char SQL_UNSUBSCRIBE[] =
	"DELETE FROM client_subscriptions WHERE session = ?1 AND uri = ?2";
static const char SQL_END[] = "DELETE FROM client_sessions WHERE session = ?1";
static const char SQL_END_SUBSCRIPTIONS[] = "DELETE FROM client_subscriptions WHERE session = ?1";

static enum mr_code store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_client_change *change)
{
	const struct mr_team_subscription *sub = &change->subscription;
	const char *digest = change->relayed.digest;
	enum mr_code rc;

	switch (change->act) {
	case MR_TEAM_CLIENT_RELAY:
		return MR_OK;
	case MR_TEAM_CLIENT_TOUCH:
		return mr_rows_run(cx, db, SQL_TOUCH, MR_BIND(digest, mr_clock_wall_us(cx->clock)));
	case MR_TEAM_CLIENT_LEVEL:
		return mr_rows_run(cx, db, SQL_LEVEL, MR_BIND(digest, change->level));
	case MR_TEAM_CLIENT_SUBSCRIBE:
		return mr_rows_run(cx, db, SQL_SUBSCRIBE,
			MR_BIND(digest, sub->uri, (int64_t)sub->topic.kind, sub->topic.id,
				sub->topic.thread_id));
	case MR_TEAM_CLIENT_UNSUBSCRIBE:
		return mr_rows_run(cx, db, SQL_UNSUBSCRIBE, MR_BIND(digest, sub->uri));
	case MR_TEAM_CLIENT_END:
		rc = mr_rows_run(cx, db, SQL_END_SUBSCRIPTIONS, MR_BIND(digest));
		return rc ? rc : mr_rows_run(cx, db, SQL_END, MR_BIND(digest));
	}
	return MR_OK;
}

static const char SQL_FORGET[] = "DELETE FROM relayed WHERE created_ts < ?1";
static const char SQL_RELAY[] = "INSERT INTO relayed (session, sender, kind, body, created_ts)"
				" VALUES (?1, ?2, ?3, ?4, ?5)";

static enum mr_code change_it(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct mr_team_client_change *change = arg;
	const struct mr_team_relayed *relayed = &change->relayed;
	int64_t now_us = mr_clock_wall_us(cx->clock);
	enum mr_code rc = store(cx, db, change);

	if (rc || !relayed->kind)
		return rc;
	rc = mr_rows_run(cx, db, SQL_FORGET, MR_BIND(now_us - MR_TEAM_RELAYED_S * MR_TIME_S));
	return rc ? rc
		  : mr_rows_run(cx, db, SQL_RELAY,
			    MR_BIND(relayed->digest, relayed->sender, relayed->kind,
				    relayed->body ? relayed->body : "", now_us));
}

enum mr_code mr_team_client_change(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_client_change *change)
{
	return mr_team_write(cx, team, change_it, NULL, (void *)(uintptr_t)change);
}

static const char SQL_LAST[] = "SELECT max(id) FROM relayed";

enum mr_code mr_team_relayed_last(struct mr_ctx *cx, struct mr_team *team, int64_t *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_rows_one(cx, reader.db, SQL_LAST, NULL, MR_INTO(out), NULL);
}

/* --- waiting for what others relayed --- */

static const char SQL_AFTER[] = "SELECT id, session, sender, kind, body FROM relayed"
				" WHERE id > ?1 ORDER BY id LIMIT ?2";

static enum mr_code read_relayed(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_relayed *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->digest, &it->sender, &it->kind, &it->body));
	return MR_OK;
}

struct waiting {
	const char *self;
	int64_t *after;
	struct mr_team_relayeds *out;
};

static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct waiting *w = arg;
	struct mr_team_relayeds rows = { 0 };
	size_t kept = 0;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_rows_list(cx, reader.db, SQL_AFTER,
			MR_BIND(*w->after, (int64_t)MR_TEAM_RELAYED_BATCH), read_relayed,
			MR_LIST(&rows));
	if (rc)
		return rc;
	if (rows.len)
		*w->after = rows.items[rows.len - 1].id;
	for (size_t i = 0; i < rows.len; i++) {
		if (!mr_str_eq(rows.items[i].sender, w->self))
			rows.items[kept++] = rows.items[i];
	}
	*found = kept > 0;
	*w->out = (struct mr_team_relayeds){ rows.items, kept };
	return MR_OK;
}

enum mr_code mr_team_relayed_wait(struct mr_ctx *cx, struct mr_team *team, const char *self,
	int64_t *after, struct mr_team_relayeds *out)
{
	struct waiting waiting = { self, after, out };
	struct mr_team_wait wait = { .look = look,
		.arg = &waiting,
		.timeout_ms = -1,
		.failed_event = "relay_failed",
		.over_rings = true };
	bool found;

	*out = (struct mr_team_relayeds){ 0 };
	return mr_team_wait(cx, team, &wait, &found);
}
