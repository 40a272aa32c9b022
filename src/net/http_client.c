/* net/http_client.c - one HTTP request by libcurl. */
#include "net/http_client.h"

#include "base/buf.h"
#include "base/fs.h"
#include "net/curl.h"
#include "net/local_socket.h"

#include <stdlib.h>
#include <string.h>

enum { HOST_BYTES = 120 };

struct mr_http_client {
	struct mr_curl curl;
	CURL *handle;
	struct curl_slist *headers;
	int fd; /* libcurl's, of its connection to the server's Unix socket; or -1 */
	const struct mr_http_client_request *request; /* while it is asked */
	bool is_local;
	bool has_sent;
	bool was_over; /* the answer was not wanted any more */
};

static void drop_headers(struct mr_http_client *client)
{
	if (client->headers)
		client->curl.slist_free_all(client->headers);
	client->headers = NULL;
}

void mr_http_client_close(struct mr_http_client *client)
{
	if (!client)
		return;
	drop_headers(client);
	if (client->handle)
		client->curl.easy_cleanup(client->handle);
	free(client);
}

void mr_http_client_closep(struct mr_http_client **client)
{
	mr_http_client_close(*client);
}

/* The host and port of the URL, for messages. */
static const char *host_of(struct mr_arena *arena, const char *url)
{
	const char *start_at = strstr(url, "://");
	const char *host = start_at ? start_at + 3 : url;
	size_t len = strcspn(host, "/?#");
	const char *at = memchr(host, '@', len); /* a password may stand before it */

	if (at) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	return mr_arena_strndup(arena, host, len < HOST_BYTES ? len : HOST_BYTES);
}

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
	struct mr_buf *buf = arg;

	mr_buf_add(buf, data, size * count);
	return buf->failed ? 0 : size * count;
}

static enum mr_code refuse(const struct mr_http_client *client, CURLcode code, const char *host,
	const char *why, struct mr_err *err)
{
	const char *text = *why ? why : client->curl.easy_strerror(code);

	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return mr_err_set(err, MR_ETIMEOUT, "%s did not answer in time", host);
	case CURLE_ABORTED_BY_CALLBACK:
		if (!client->was_over)
			return mr_err_set(err, MR_EREMOTE, "%s: %s", host, text);
		return mr_err_set(err, MR_ETIMEOUT,
			"%s had not answered when the answer was no longer wanted", host);
	case CURLE_URL_MALFORMAT:
		return mr_err_set(err, MR_EINVAL, "not an http or https URL (host %s)", host);
	default:
		return mr_err_set(err, MR_EREMOTE, "%s: %s", host, text);
	}
}

static int keep_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	struct mr_http_client *client = arg;

	(void)purpose;
	client->fd = fd;
	return CURL_SOCKOPT_OK;
}

/* Connected, and nothing was sent on this connection yet. */
static int before_sending(void *arg, char *remote_ip, char *local_ip, int remote_port,
	int local_port)
{
	struct mr_http_client *client = arg;
	bool is_again = client->has_sent;

	(void)remote_ip;
	(void)local_ip;
	(void)remote_port;
	(void)local_port;
	if (client->is_local && !mr_local_socket_is_ours(client->fd))
		return CURL_PREREQFUNC_ABORT;
	/* libcurl repeats a request when the connection that it had kept is closed under it. The
	 * server may have carried out the first one by then. */
	if (is_again && client->request->is_once)
		return CURL_PREREQFUNC_ABORT;
	client->has_sent = true;
	return CURL_PREREQFUNC_OK;
}

/*
 * libcurl does not check whose socket it connects to, so we do: once before, to decide whether to
 * use the socket, and once on the connection that is used.
 */
static enum mr_code use_socket(struct mr_http_client *client,
	const struct mr_http_client_request *request, struct mr_err *err)
{
	const struct mr_curl *curl = &client->curl;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	if (!request->socket)
		return MR_OK;
	rc = mr_local_socket_connect(request->socket, &fd, err);
	if (rc)
		return request->only_socket ? rc : MR_OK;
	curl->easy_setopt(client->handle, CURLOPT_UNIX_SOCKET_PATH, request->socket);
	curl->easy_setopt(client->handle, CURLOPT_NOPROXY, "*");
	curl->easy_setopt(client->handle, CURLOPT_SOCKOPTFUNCTION, keep_socket);
	curl->easy_setopt(client->handle, CURLOPT_SOCKOPTDATA, client);
	client->is_local = true;
	return MR_OK;
}

static int look_over(void *arg, curl_off_t down, curl_off_t downloaded, curl_off_t up,
	curl_off_t uploaded)
{
	struct mr_http_client *client = arg;

	(void)down;
	(void)downloaded;
	(void)up;
	(void)uploaded;
	client->was_over = client->request->is_over(client->request->is_over_arg);
	return client->was_over;
}

/* Everything about the request but where its answer goes. */
static enum mr_code set_up(struct mr_http_client *client,
	const struct mr_http_client_request *request, struct mr_err *err)
{
	const struct mr_curl *curl = &client->curl;
	struct curl_slist *list = NULL;
	CURL *handle = client->handle;

	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		/* A line break would begin a header of its own. */
		if (strpbrk(request->headers[i], "\r\n"))
			return mr_err_set(err, MR_EINVAL, "a header holds a line break");
		list = curl->slist_append(client->headers, request->headers[i]);
		if (!list)
			return mr_err_set(err, MR_EINTERNAL, "no memory for headers");
		client->headers = list;
	}
	curl->easy_setopt(handle, CURLOPT_URL, request->url);
	curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
	curl->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	mr_curl_be_careful(curl, handle, request->ca_file);
	curl->easy_setopt(handle, CURLOPT_PREREQFUNCTION, before_sending);
	curl->easy_setopt(handle, CURLOPT_PREREQDATA, client);
	curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	if (request->is_over) {
		curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, look_over);
		curl->easy_setopt(handle, CURLOPT_XFERINFODATA, client);
		curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	}
	curl->easy_setopt(handle, CURLOPT_HTTPHEADER, client->headers);
	curl->easy_setopt(handle, CURLOPT_USERAGENT, "mailroom/" MR_VERSION);
	/* A small answer that grows when it is unpacked is held to the same maximum. */
	curl->easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
	if (request->is_direct)
		curl->easy_setopt(handle, CURLOPT_NOPROXY, "*");
	if (request->body.data) {
		curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
			(curl_off_t)request->body.len);
		curl->easy_setopt(handle, CURLOPT_POSTFIELDS, (const char *)request->body.data);
	}
	if (request->method)
		curl->easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request->method);
	return MR_OK;
}

enum mr_code mr_http_client_open(struct mr_http_client **out, struct mr_err *err)
{
	struct mr_http_client *client MR_CLEANUP(mr_http_client_closep) =
		calloc(1, sizeof(*client));
	enum mr_code rc;

	if (!client)
		return mr_err_set(err, MR_EINTERNAL, "no memory for an HTTP client");
	rc = mr_curl_load(&client->curl, err);
	if (rc)
		return rc;
	client->handle = client->curl.easy_init();
	if (!client->handle)
		return mr_err_set(err, MR_EINTERNAL, "the HTTP client cannot be started");
	*out = client;
	client = NULL;
	return MR_OK;
}

static struct mr_http_client_response answer_of(const struct mr_http_client *client,
	struct mr_arena *arena, const struct mr_buf *body)
{
	struct mr_http_client_response response = {
		.body = mr_bytes_of(mr_arena_memdup(arena, mr_buf_text(body), body->len + 1),
			body->len),
	};
	const char *type = NULL;
	const char *location = NULL;
	curl_off_t later = 0;
	long status = 0;

	client->curl.easy_getinfo(client->handle, CURLINFO_RESPONSE_CODE, &status);
	client->curl.easy_getinfo(client->handle, CURLINFO_CONTENT_TYPE, &type);
	client->curl.easy_getinfo(client->handle, CURLINFO_REDIRECT_URL, &location);
	client->curl.easy_getinfo(client->handle, CURLINFO_RETRY_AFTER, &later);
	response.status = (int)status;
	response.content_type = mr_arena_strdup(arena, type);
	response.location = mr_arena_strdup(arena, location);
	response.retry_after_s = later;
	return response;
}

enum mr_code mr_http_client_ask(struct mr_http_client *client, struct mr_arena *arena,
	const struct mr_http_client_request *request, struct mr_http_client_response *out,
	struct mr_err *err)
{
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	const char *host = host_of(arena, request->url);
	char why[CURL_ERROR_SIZE] = "";
	CURLcode code;
	enum mr_code rc;

	mr_buf_init(&body, request->max_bytes);
	client->curl.easy_reset(client->handle); /* the connection stays */
	drop_headers(client);
	client->fd = -1;
	client->is_local = false;
	client->request = request;
	client->has_sent = false;
	client->was_over = false;
	if (strncasecmp(request->url, "http://", 7) != 0 &&
		strncasecmp(request->url, "https://", 8) != 0)
		return mr_err_set(err, MR_EINVAL, "not an http or https URL (host %s)", host);
	rc = set_up(client, request, err);
	if (!rc)
		rc = use_socket(client, request, err);
	if (rc)
		return rc;
	client->curl.easy_setopt(client->handle, CURLOPT_WRITEFUNCTION, take_body);
	client->curl.easy_setopt(client->handle, CURLOPT_WRITEDATA, &body);
	client->curl.easy_setopt(client->handle, CURLOPT_ERRORBUFFER, why);
	code = client->curl.easy_perform(client->handle);
	client->curl.easy_setopt(client->handle, CURLOPT_ERRORBUFFER, NULL);
	if (body.failed)
		return mr_err_set(err, MR_ELIMIT, "%s answered with more than %zu bytes", host,
			request->max_bytes);
	if (code != CURLE_OK)
		return refuse(client, code, host, why, err);
	*out = answer_of(client, arena, &body);
	return MR_OK;
}

bool mr_http_client_has_sent(const struct mr_http_client *client)
{
	return client->has_sent;
}

enum mr_code mr_http_client_send(struct mr_arena *arena,
	const struct mr_http_client_request *request, struct mr_http_client_response *out,
	struct mr_err *err)
{
	struct mr_http_client *client MR_CLEANUP(mr_http_client_closep) = NULL;
	enum mr_code rc = mr_http_client_open(&client, err);

	return rc ? rc : mr_http_client_ask(client, arena, request, out, err);
}
