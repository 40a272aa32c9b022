/* surface/mcp/shared.c - Takes up sessions that other servers opened, and relays between servers.
 */
#include "surface/mcp/shared.h"

#include "base/log.h"
#include "base/oom.h"
#include "op/dispatch.h"
#include "op/team/sharing.h"
#include "op/team/watching.h"
#include "surface/mcp/session_private.h"
#include "text/time.h"
#include "text/token.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SELF_BYTES = 8,
	FOUND_MS = 3000, /* a server that has the stream answers within milliseconds */
	TOUCH_S = 600,   /* the time of a session's last use is this rough */
	RETRY_S = 1,
};

struct mr_mcp_shared {
	struct mr_mcp *mcp;
	const struct mr_app *app;
	struct mr_mcp_sessions *sessions;
	struct mr_mcp_hub *hub;
	char self[2 * SELF_BYTES + 1];
	pthread_mutex_t lock;
	_Atomic(bool) is_known; /* `team` is what it stays */
	struct mr_team *team;   /* NULL: nothing is shared */
	pthread_t thread;
	bool running;
	_Atomic(bool) stop;
	int64_t after; /* the thread's: what it has heard */
};

/* --- sending --- */

static enum mr_code change(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, struct mr_team_client_change change)
{
	change.relayed.digest = session->digest;
	change.relayed.sender = shared->self;
	return mr_sharing_change(call, shared->team, &change);
}

/* Nobody is there to be told of a failure. */
static void tell(struct mr_mcp_shared *shared, struct mr_call *call, struct mr_mcp_session *session,
	struct mr_team_client_change what)
{
	if (change(shared, call, session, what))
		mr_log(MR_LOG_WARN, "mcp.relay", "%s", call->cx.err.msg);
}

static void relay(void *arg, struct mr_mcp_session *session, const char *kind, const char *body)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mcp_shared *shared = arg;
	struct mr_call call = mr_dispatch_call(shared->app, arena);

	tell(shared, &call, session,
		(struct mr_team_client_change){ .relayed = { .kind = kind, .body = body } });
}

/* --- hearing --- */

static void subscribe_all(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const struct mr_team_client *client)
{
	struct mr_texts uris = {
		mr_arena_array(call->cx.arena, client->subscription_count + 1, sizeof(char *)), 0
	};

	mr_mcp_session_set_level(session, (int)client->level);
	for (size_t i = 0; i < client->subscription_count; i++) {
		const struct mr_team_subscription *one = &client->subscriptions[i];

		uris.items[uris.len++] = one->uri;
		if (mr_mcp_hub_subscribe(shared->hub, call, shared->team, one->uri, &one->topic,
			    &session->listener))
			mr_log(MR_LOG_WARN, "mcp.relay", "%s", call->cx.err.msg);
	}
	mr_mcp_hub_retain(shared->hub, &session->listener, &uris);
}

static void reload(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session)
{
	struct mr_team_client client;
	bool found;

	if (mr_sharing_get(call, shared->team, session->digest, &found, &client))
		mr_log(MR_LOG_WARN, "mcp.relay", "%s", call->cx.err.msg);
	else if (found)
		subscribe_all(shared, call, session, &client);
	else
		mr_mcp_session_end(session);
}

/* "stream-number", and what follows the blank after it. */
static bool take_id(struct mr_call *call, const char *body, uint64_t *stream, uint64_t *number,
	const char **rest)
{
	size_t len = strcspn(body, " ");

	*rest = body[len] ? body + len + 1 : "";
	return mr_mcp_events_parse_id(mr_arena_strndup(call->cx.arena, body, len), stream, number);
}

static void take_message(struct mr_call *call, struct mr_mcp_session *session, const char *kind,
	const char *body)
{
	const struct mr_value *value;
	struct mr_rpc message;

	if (mr_json_parse(call->cx.arena, mr_bytes_text(body), NULL, &value, &call->cx.err))
		return;
	if (mr_str_eq(kind, "cancel"))
		(void)mr_mcp_session_cancel(session, value);
	else if (!mr_rpc_read(value, &message) && message.kind == MR_RPC_RESPONSE)
		(void)mr_mcp_session_answered(session, &message);
}

static void hear(struct mr_mcp_shared *shared, struct mr_call *call,
	const struct mr_team_relayed *row)
{
	struct mr_mcp_session *session MR_CLEANUP(mr_mcp_session_done) =
		mr_mcp_session_of_digest(shared->sessions, row->digest);
	uint64_t stream, number;
	const char *rest;

	if (!session)
		return;
	if (mr_str_eq(row->kind, "changed"))
		reload(shared, call, session);
	else if (mr_str_eq(row->kind, "answer") || mr_str_eq(row->kind, "cancel"))
		take_message(call, session, row->kind, row->body);
	else if (!take_id(call, row->body, &stream, &number, &rest))
		return;
	else if (mr_str_eq(row->kind, "resume"))
		mr_mcp_session_hand_over(session, stream, number);
	else
		mr_mcp_session_arrived(session, row->kind, stream, number, rest);
}

static bool is_over(void *arg)
{
	return atomic_load(&((struct mr_mcp_shared *)arg)->stop);
}

static void *run(void *arg)
{
	struct mr_mcp_shared *shared = arg;

	while (!atomic_load(&shared->stop)) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_call call = mr_dispatch_call(shared->app, arena);
		struct mr_team_relayeds rows;

		call.cx.is_over = is_over;
		call.cx.is_over_arg = shared;
		if (mr_sharing_wait(&call, shared->team, shared->self, &shared->after, &rows)) {
			mr_log(MR_LOG_ERROR, "mcp.relay_ended", "%s", call.cx.err.msg);
			return NULL;
		}
		for (size_t i = 0; i < rows.len; i++)
			hear(shared, &call, &rows.items[i]);
	}
	return NULL;
}

/* --- beginning and end --- */

struct mr_mcp_shared *mr_mcp_shared_new(struct mr_mcp *mcp, struct mr_mcp_sessions *sessions)
{
	struct mr_mcp_shared *shared = mr_mcp_session_alloc(sizeof(*shared));
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	shared->mcp = mcp;
	shared->app = mr_mcp_app(mcp);
	shared->sessions = sessions;
	shared->hub = mr_mcp_hub(mcp);
	memcpy(shared->self, mr_token_hex(arena, shared->app->rand, SELF_BYTES),
		sizeof(shared->self));
	pthread_mutex_init(&shared->lock, NULL);
	return shared;
}

void mr_mcp_shared_free(struct mr_mcp_shared *shared)
{
	if (!shared)
		return;
	if (shared->running) {
		atomic_store(&shared->stop, true);
		mr_watching_wake(shared->team);
		pthread_join(shared->thread, NULL);
	}
	pthread_mutex_destroy(&shared->lock);
	free(shared);
}

/* Under the lock. */
static enum mr_code start(struct mr_mcp_shared *shared, struct mr_call *call, struct mr_team *team)
{
	sigset_t all, before;
	const char *secret;
	enum mr_code rc = mr_sharing_last(call, team, &shared->after);
	int failed;

	if (!rc)
		rc = mr_sharing_secret(call, team, &secret);
	if (rc)
		return rc;
	mr_mcp_share_secret(shared->mcp, secret);
	shared->team = team;
	/* Signals are for others. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&shared->thread, NULL, run, shared);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return mr_err_os(&call->cx.err, failed, "cannot start the thread of the relay");
	shared->running = true;
	mr_mcp_sessions_share(shared->sessions, relay, shared);
	return MR_OK;
}

/* Whether there is anything to share is found out once. */
enum mr_code mr_mcp_shared_ready(struct mr_mcp_shared *shared, struct mr_call *call)
{
	struct mr_team *team = NULL;
	enum mr_code rc = MR_OK;

	if (atomic_load(&shared->is_known))
		return MR_OK;
	pthread_mutex_lock(&shared->lock);
	if (!atomic_load(&shared->is_known)) {
		rc = mr_sharing_open(call, &team);
		if (!rc && team)
			rc = start(shared, call, team);
		atomic_store(&shared->is_known, !rc);
	}
	pthread_mutex_unlock(&shared->lock);
	return rc;
}

/* --- sessions --- */

enum mr_code mr_mcp_shared_opened(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const char *owner, const struct mr_mcp_hello *hello)
{
	const struct mr_team_client client = { .owner = owner,
		.hello = mr_arena_printf(call->cx.arena, "%s %d %d %d", hello->version,
			hello->can_sample, hello->can_elicit, hello->has_roots) };

	if (!shared->team)
		return MR_OK;
	return mr_sharing_put(call, shared->team, session->digest, &client);
}

static bool read_hello(struct mr_arena *arena, const char *text, struct mr_mcp_hello *out)
{
	struct mr_texts words = mr_str_split(arena, text, ' ');

	if (words.len != 4)
		return false;
	*out = (struct mr_mcp_hello){ .version = words.items[0],
		.can_sample = mr_str_eq(words.items[1], "1"),
		.can_elicit = mr_str_eq(words.items[2], "1"),
		.has_roots = mr_str_eq(words.items[3], "1") };
	return mr_mcp_knows_version(out->version);
}

/* Another server opened it: take it up here. */
static enum mr_code take_up(struct mr_mcp_shared *shared, struct mr_call *call, const char *owner,
	const char *id, struct mr_mcp_session **out)
{
	struct mr_team_client client;
	struct mr_mcp_hello hello;
	bool found = false;
	enum mr_code rc = mr_sharing_get(call, shared->team,
		mr_team_client_digest(call->cx.arena, id), &found, &client);

	if (rc)
		return rc;
	if (!found || !mr_str_eq(client.owner, owner) ||
		!read_hello(call->cx.arena, client.hello, &hello))
		return mr_err_set(&call->cx.err, MR_ENOTFOUND,
			"there is no such session, or it has ended");
	rc = mr_mcp_session_adopt(shared->sessions, owner, id, &hello, out, &call->cx.err);
	if (!rc)
		subscribe_all(shared, call, *out, &client);
	return rc;
}

enum mr_code mr_mcp_shared_find(struct mr_mcp_shared *shared, struct mr_call *call,
	const char *owner, const char *id, struct mr_mcp_session **out)
{
	int64_t now_us = mr_clock_mono_us(shared->app->clock);
	enum mr_code rc = mr_mcp_shared_ready(shared, call);

	if (rc)
		return rc;
	*out = mr_mcp_session_find(shared->sessions, owner, id);
	if (*out && shared->team && mr_mcp_session_is_due(*out, now_us, TOUCH_S))
		tell(shared, call, *out,
			(struct mr_team_client_change){ .act = MR_TEAM_CLIENT_TOUCH });
	if (*out)
		return MR_OK;
	if (shared->team)
		return take_up(shared, call, owner, id, out);
	return mr_err_set(&call->cx.err, MR_ENOTFOUND, "there is no such session, or it has ended");
}

void mr_mcp_shared_answered(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const struct mr_rpc *request)
{
	const struct mr_value *uri = mr_value_get(request->params, "uri");
	struct mr_team_client_change what = { .relayed = { .kind = "changed" } };

	if (!shared->team)
		return;
	if (mr_str_eq(request->method, "logging/setLevel")) {
		what.act = MR_TEAM_CLIENT_LEVEL;
		what.level = mr_mcp_session_client(session).log_level;
	} else if (uri && uri->kind == MR_TEXT &&
		mr_str_eq(request->method, "resources/subscribe")) {
		what.act = MR_TEAM_CLIENT_SUBSCRIBE;
		what.subscription.uri = uri->text;
		/* Refused, and its client was told so. */
		if (!mr_mcp_hub_topic(shared->hub, call->cx.arena, uri->text, &session->listener,
			    &what.subscription.topic))
			return;
	} else if (uri && uri->kind == MR_TEXT &&
		mr_str_eq(request->method, "resources/unsubscribe")) {
		what.act = MR_TEAM_CLIENT_UNSUBSCRIBE;
		what.subscription.uri = uri->text;
	} else {
		return;
	}
	tell(shared, call, session, what);
}

void mr_mcp_shared_pass(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const struct mr_rpc *message, const struct mr_value *body)
{
	struct mr_team_client_change what = { .act = MR_TEAM_CLIENT_RELAY };
	char *json;

	if (!shared->team)
		return;
	json = mr_mcp_session_json(body);
	what.relayed.kind = message->kind == MR_RPC_RESPONSE ? "answer" : "cancel";
	what.relayed.body = json;
	tell(shared, call, session, what);
	free(json);
}

void mr_mcp_shared_ended(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session)
{
	if (shared->team)
		tell(shared, call, session,
			(struct mr_team_client_change){ .act = MR_TEAM_CLIENT_END,
				.relayed = { .kind = "changed" } });
}

bool mr_mcp_shared_claim(struct mr_mcp_shared *shared, struct mr_call *call,
	struct mr_mcp_session *session, const char *last_id, bool *anew)
{
	uint64_t stream, number;

	*anew = false;
	if (!shared->team || !mr_mcp_events_parse_id(last_id, &stream, &number))
		return false;
	*anew = stream % MR_MCP_STREAMS == 0;
	if (*anew || !mr_mcp_session_expect(session, stream, number))
		return *anew;
	tell(shared, call, session,
		(struct mr_team_client_change){ .relayed = { .kind = "resume", .body = last_id } });
	return mr_mcp_session_wait_found(session, stream, FOUND_MS);
}
