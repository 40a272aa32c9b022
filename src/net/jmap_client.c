/*
 * net/jmap_client.c - The connection to a JMAP server: its session, one exchange with what may be
 * repeated of it, and blobs.
 */
#include "net/jmap_wire.h"

#include "text/json.h"
#include "text/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	TIMEOUT_MS = 10000,
	OVER_MS = 1000, /* nobody has wanted the answer for so long */
	FIRST_PAUSE_MS = 200,
	TRIES = 5,
	REDIRECTS = 5,
	REFUSAL_BYTES = 64 * 1024, /* of an answer that is no success, at least */
};

/* James talks the protocol's draft to clients that do not ask for the standard. */
#define ACCEPT "Accept: application/json;jmapVersion=rfc-8621"

/* --- opening --- */

static void pause_really(void *arg, int ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	(void)arg;
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static const char *host_of(struct mr_arena *arena, const char *url)
{
	const char *host = strstr(url, "://") + 3;

	return mr_arena_strndup(arena, host, strcspn(host, "/?#"));
}

static void keep_login(struct mr_jmap *jmap, const struct mr_jmap_login *login)
{
	struct mr_arena *arena = jmap->arena;
	size_t secrets = 0;

	jmap->login = *login;
	jmap->login.url = mr_jmap_url(arena, login->url, "");
	jmap->login.user = login->bearer ? NULL : mr_arena_strdup(arena, login->user);
	jmap->login.ca_file = mr_arena_strdup(arena, login->ca_file);
	if (!jmap->login.pause)
		jmap->login.pause = pause_really;
	if (login->timeout_ms <= 0)
		jmap->login.timeout_ms = TIMEOUT_MS;
	jmap->host = host_of(arena, jmap->login.url);
	if (login->bearer) {
		jmap->secrets[secrets++] = mr_arena_strdup(arena, login->bearer);
		jmap->headers[0] =
			mr_arena_printf(arena, "Authorization: Bearer %s", login->bearer);
	} else if (login->user) {
		const char *password = login->password ? login->password : "";
		const char *both = mr_arena_printf(arena, "%s:%s", login->user, password);
		const char *basic = mr_token_base64(arena, mr_bytes_text(both));

		jmap->secrets[secrets++] = mr_arena_strdup(arena, password);
		jmap->secrets[secrets++] = basic;
		jmap->headers[0] = mr_arena_printf(arena, "Authorization: Basic %s", basic);
	}
	jmap->login.password = NULL;
	jmap->login.bearer = NULL;
}

enum mr_code mr_jmap_open(struct mr_ctx *cx, const struct mr_jmap_login *login,
	struct mr_jmap **out)
{
	struct mr_jmap *jmap MR_CLEANUP(mr_jmap_closep) = NULL;
	enum mr_code rc;

	if (!mr_jmap_url(cx->arena, login->url, ""))
		return mr_err_set(&cx->err, MR_EINVAL,
			"the JMAP server's address is no http or https URL");
	if (!login->bearer && login->user && strchr(login->user, ':'))
		return mr_err_set(&cx->err, MR_EINVAL,
			"a login with a colon cannot be sent to a JMAP server");
	jmap = calloc(1, sizeof(*jmap));
	if (!jmap)
		return mr_err_set(&cx->err, MR_EINTERNAL, "no memory for a JMAP client");
	jmap->arena = mr_arena_new();
	rc = mr_http_client_open(&jmap->http, &cx->err);
	if (rc)
		return rc;
	keep_login(jmap, login);
	*out = jmap;
	jmap = NULL;
	return MR_OK;
}

void mr_jmap_close(struct mr_jmap *jmap)
{
	if (!jmap)
		return;
	mr_http_client_close(jmap->http);
	mr_arena_free(jmap->session_arena);
	mr_arena_free(jmap->arena);
	free(jmap);
}

void mr_jmap_closep(struct mr_jmap **jmap)
{
	mr_jmap_close(*jmap);
}

const char *const *mr_jmap_headers(const struct mr_jmap *jmap)
{
	return jmap->headers;
}

const char *mr_jmap_ca_file(const struct mr_jmap *jmap)
{
	return jmap->login.ca_file;
}

/* --- one exchange --- */

bool mr_jmap_wait(struct mr_ctx *cx, const struct mr_jmap *jmap, struct mr_jmap_patience *patience,
	int64_t after_s)
{
	int64_t pause_ms = (int64_t)FIRST_PAUSE_MS << patience->tries;

	if (++patience->tries >= TRIES || (cx->is_over && cx->is_over(cx->is_over_arg)))
		return false;
	/* Clients that were refused together should not come back together. */
	pause_ms += (int64_t)mr_rand_below(cx->rand, (uint64_t)pause_ms / 4);
	/* A date far away must not overflow. */
	if (after_s > jmap->login.timeout_ms)
		return false;
	if (after_s * 1000 > pause_ms)
		pause_ms = after_s * 1000;
	if (patience->waited_ms + pause_ms > jmap->login.timeout_ms)
		return false;
	patience->waited_ms += pause_ms;
	jmap->login.pause(jmap->login.pause_arg, (int)pause_ms);
	return true;
}

static enum mr_code no_redirect(struct mr_ctx *cx, const struct mr_jmap *jmap, const char *to)
{
	return mr_err_set(&cx->err, MR_EREMOTE,
		"%s redirects to %s, where the credentials are not sent: give that address if it is the server's",
		jmap->host,
		to && strstr(to, "://") ? mr_arena_printf(cx->arena, "%.*s",
						  (int)(strcspn(strstr(to, "://") + 3, "/?#") +
							  (size_t)(strstr(to, "://") + 3 - to)),
						  to)
					: "another place");
}

/* Is the answer a redirect that repeats the request? A POST becomes a GET with some. */
static bool is_redirect(const struct mr_http_client_response *response, bool is_get)
{
	int status = response->status;

	return status == 307 || status == 308 ||
		(is_get && (status == 301 || status == 302 || status == 303));
}

/* A request that has begun may take so much longer when the program is to end: most answer, and it
 * is known then what became of a change. */
struct ending {
	const struct mr_ctx *cx;
	int64_t since_ms; /* it has been over; 0: not yet */
};

static bool has_ended(void *arg)
{
	struct ending *ending = arg;
	const struct mr_ctx *cx = ending->cx;
	int64_t now_ms;

	if (!cx->is_over(cx->is_over_arg))
		return false;
	now_ms = mr_clock_mono_ms(cx->clock);
	if (!ending->since_ms)
		ending->since_ms = now_ms;
	return now_ms - ending->since_ms >= OVER_MS;
}

/* One request, to wherever on the host it is redirected. */
static enum mr_code ask_once(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_exchange *exchange, struct mr_http_client_response *out)
{
	const char *type = exchange->media_type;
	const char *headers[] = { ACCEPT,
		"Expect:", mr_arena_printf(cx->arena, "Content-Type: %s", type ? type : ""),
		jmap->headers[0], NULL };
	struct ending ending = { cx, 0 };
	struct mr_http_client_request request = {
		.method = type ? "POST" : NULL,
		.url = exchange->url,
		.headers = headers,
		.body = type ? exchange->body : mr_bytes_of(NULL, 0),
		.timeout_ms = jmap->login.timeout_ms,
		.max_bytes =
			exchange->max_bytes < REFUSAL_BYTES ? REFUSAL_BYTES : exchange->max_bytes,
		.ca_file = jmap->login.ca_file,
		.is_once = exchange->kind == MR_JMAP_WRITES,
		.is_over = cx->is_over ? has_ended : NULL,
		.is_over_arg = &ending,
	};

	if (!type)
		headers[2] = "Content-Type:"; /* none */
	for (int redirects = 0; redirects <= REDIRECTS; redirects++) {
		enum mr_code rc =
			mr_http_client_ask(jmap->http, cx->arena, &request, out, &cx->err);

		jmap->asked_url = request.url;
		if (rc || !is_redirect(out, !type))
			return rc;
		if (!out->location || !mr_jmap_url_is_same_host(jmap->login.url, out->location))
			return no_redirect(cx, jmap, out->location);
		request.url = out->location;
	}
	return mr_err_set(&cx->err, MR_EREMOTE, "%s redirects in a circle", jmap->host);
}

/* After a connection that broke: may it be asked again? */
static bool may_repeat(struct mr_ctx *cx, struct mr_jmap *jmap, enum mr_jmap_kind kind,
	struct mr_jmap_patience *patience)
{
	if (kind != MR_JMAP_READS || patience->was_lost)
		return false;
	patience->was_lost = true;
	return mr_jmap_wait(cx, jmap, patience, 0);
}

static enum mr_code check_size(struct mr_ctx *cx, const struct mr_jmap *jmap,
	const struct mr_jmap_exchange *exchange, const struct mr_http_client_response *answer)
{
	if (answer->body.len <= exchange->max_bytes)
		return MR_OK;
	return mr_err_set(&cx->err, MR_ELIMIT, "%s answered with more than %zu bytes", jmap->host,
		exchange->max_bytes);
}

/* No answer, which cx->err tells of: may it be asked again? `status` is that of a redirect that is
 * not followed. */
static bool is_lost(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_exchange *exchange, struct mr_jmap_patience *patience, int status)
{
	if (!mr_http_client_has_sent(jmap->http) || status) {
		mr_err_word(&cx->err, mr_jmap_not_done);
		return false;
	}
	return cx->err.code == MR_EREMOTE && may_repeat(cx, jmap, exchange->kind, patience);
}

enum mr_code mr_jmap_exchange(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_exchange *exchange, struct mr_jmap_patience *patience,
	struct mr_http_client_response *out)
{
	for (;;) {
		enum mr_code rc;
		bool later = false;

		*out = (struct mr_http_client_response){ .status = 0 };
		rc = ask_once(cx, jmap, exchange, out);
		if (!rc && out->status >= 200 && out->status < 300)
			return check_size(cx, jmap, exchange, out);
		if (rc) {
			if (!is_lost(cx, jmap, exchange, patience, out->status))
				return rc;
			continue;
		}
		rc = mr_jmap_status_error(cx, jmap, out, &later);
		if (later && mr_jmap_wait(cx, jmap, patience, out->retry_after_s))
			continue;
		if ((out->status == 502 || out->status == 504) &&
			may_repeat(cx, jmap, exchange->kind, patience))
			continue;
		/* All of 4xx were refused before anything was done. */
		if (later || out->status < 500)
			return mr_err_word(&cx->err, mr_jmap_not_done);
		return rc;
	}
}

/* --- the session --- */

static void forget_session(struct mr_jmap *jmap)
{
	mr_arena_free(jmap->session_arena);
	jmap->session_arena = NULL;
	jmap->session_body = mr_bytes_of(NULL, 0);
	jmap->has_session = false;
	jmap->is_recalled = false;
	jmap->is_stale = false;
}

static enum mr_code take_session(struct mr_jmap *jmap, const char *url, struct mr_bytes body,
	struct mr_err *err)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_session session;
	enum mr_code rc = mr_jmap_session_parse(arena, url, body, &session, err);

	if (rc) {
		mr_arena_free(arena);
		return rc;
	}
	forget_session(jmap);
	jmap->session_arena = arena;
	jmap->session = session;
	jmap->session_body = mr_bytes_of(mr_arena_memdup(arena, body.data, body.len), body.len);
	jmap->has_session = true;
	return MR_OK;
}

/* `*out_none`: something is at this address, but no session. */
static enum mr_code fetch_from(struct mr_ctx *cx, struct mr_jmap *jmap, const char *url,
	bool *out_none)
{
	struct mr_jmap_exchange exchange = { .url = url,
		.kind = MR_JMAP_READS,
		.max_bytes = MR_JMAP_SESSION_BYTES };
	struct mr_jmap_patience patience = { 0 };
	struct mr_http_client_response response;
	enum mr_code rc = mr_jmap_exchange(cx, jmap, &exchange, &patience, &response);

	*out_none = rc && response.status >= 400 && response.status < 500 && rc != MR_EAUTH &&
		rc != MR_EPERM && response.status != 429;
	if (rc)
		return rc == MR_ENOTFOUND ? mr_err_set(&cx->err, MR_EREMOTE,
						    "%s has no JMAP session at %s (HTTP status %d)",
						    jmap->host, url, response.status)
					  : rc;
	rc = take_session(jmap, jmap->asked_url, response.body, &cx->err);
	*out_none = rc == MR_EFORMAT;
	if (rc == MR_EFORMAT)
		return mr_err_set(&cx->err, MR_EREMOTE, "%s: what is at %s is not a JMAP session",
			jmap->host, url);
	return rc ? mr_err_wrap(&cx->err, "%s", jmap->host) : MR_OK;
}

static enum mr_code fetch_session(struct mr_ctx *cx, struct mr_jmap *jmap)
{
	const char *given = jmap->login.url;
	const char *known = mr_jmap_url(cx->arena, given, "/.well-known/jmap");
	struct mr_err first;
	bool none;
	enum mr_code rc = fetch_from(cx, jmap, given, &none);

	if (!rc || !none || strcmp(given, known) == 0)
		return rc;
	first = cx->err;
	rc = fetch_from(cx, jmap, known, &none);
	if (rc && none) { /* the address that was given is the one to be told about */
		cx->err = first;
		return first.code;
	}
	return rc;
}

enum mr_code mr_jmap_session(struct mr_ctx *cx, struct mr_jmap *jmap,
	const struct mr_jmap_session **out)
{
	if (!jmap->has_session || jmap->is_stale) {
		enum mr_code rc = fetch_session(cx, jmap);

		if (rc)
			return rc;
	}
	*out = &jmap->session;
	return MR_OK;
}

struct mr_bytes mr_jmap_remember(const struct mr_jmap *jmap, const char **out_url)
{
	*out_url = jmap->has_session ? jmap->session.url : NULL;
	return jmap->session_body;
}

void mr_jmap_recall(struct mr_jmap *jmap, const char *url, struct mr_bytes session)
{
	struct mr_err ignored;

	/* Its requests go to its host, with the credentials. */
	if (!mr_str_is_empty(url) && mr_jmap_url_is_same_host(jmap->login.url, url) &&
		!take_session(jmap, url, session, &ignored))
		jmap->is_recalled = true;
}

/* --- blobs --- */

static enum mr_code no_blobs(struct mr_ctx *cx, const struct mr_jmap *jmap, const char *what)
{
	return mr_err_set(&cx->err, MR_EREMOTE, "%s takes no %s", jmap->host, what);
}

enum mr_code mr_jmap_upload(struct mr_ctx *cx, struct mr_jmap *jmap, struct mr_bytes bytes,
	const char *media_type, const char **out_blob_id)
{
	static const struct mr_json_limits limits = { 64 * 1024, 16, 1000 };
	struct mr_jmap_exchange exchange = { .media_type = media_type,
		.body = bytes.len ? bytes : mr_bytes_of("", 0),
		.kind = MR_JMAP_READS, /* a blob that nothing uses goes away */
		.max_bytes = limits.max_bytes };
	struct mr_jmap_patience patience = { 0 };
	struct mr_http_client_response response;
	const struct mr_jmap_session *session;
	const struct mr_value *value;
	const struct mr_value *id;
	enum mr_code rc = mr_jmap_session(cx, jmap, &session);

	if (rc)
		return rc;
	if (session->upload_url)
		exchange.url = mr_jmap_url_expand(cx->arena, session->upload_url,
			(struct mr_jmap_variable[]){ { "accountId", session->mail_account },
				{ NULL, NULL } });
	if (!exchange.url)
		return no_blobs(cx, jmap, "uploads");
	if ((uint64_t)bytes.len > (uint64_t)session->limits.upload_bytes)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"%zu bytes are more than the %lld that %s takes", bytes.len,
			(long long)session->limits.upload_bytes, jmap->host);
	rc = mr_jmap_exchange(cx, jmap, &exchange, &patience, &response);
	if (rc)
		return mr_err_wrap(&cx->err, "upload");
	if (mr_json_parse(cx->arena, response.body, &limits, &value, &cx->err))
		return mr_err_set(&cx->err, MR_EREMOTE,
			"%s answered an upload with something else than JSON", jmap->host);
	id = mr_value_get(value, "blobId");
	if (!id || id->kind != MR_TEXT || !id->text[0])
		return mr_err_set(&cx->err, MR_EREMOTE, "%s did not name what was uploaded",
			jmap->host);
	*out_blob_id = id->text;
	return MR_OK;
}

enum mr_code mr_jmap_download(struct mr_ctx *cx, struct mr_jmap *jmap, const char *blob_id,
	const char *media_type, const char *name, size_t max_bytes, struct mr_bytes *out)
{
	struct mr_jmap_exchange exchange = { .kind = MR_JMAP_READS, .max_bytes = max_bytes };
	struct mr_jmap_patience patience = { 0 };
	struct mr_http_client_response response;
	const struct mr_jmap_session *session;
	enum mr_code rc = mr_jmap_session(cx, jmap, &session);

	if (rc)
		return rc;
	if (session->download_url)
		exchange.url = mr_jmap_url_expand(cx->arena, session->download_url,
			(struct mr_jmap_variable[]){ { "accountId", session->mail_account },
				{ "blobId", blob_id }, { "type", media_type }, { "name", name },
				{ NULL, NULL } });
	if (!exchange.url)
		return no_blobs(cx, jmap, "downloads");
	rc = mr_jmap_exchange(cx, jmap, &exchange, &patience, &response);
	if (rc)
		return mr_err_wrap(&cx->err, "download");
	*out = response.body;
	return MR_OK;
}
