/* net/http_client.c - one HTTP request by libcurl. */
#include "net/http_client.h"

#include "base/buf.h"
#include "base/fs.h"
#include "net/curl.h"
#include "net/local_socket.h"

#include <string.h>

enum { HOST_BYTES = 120 };

struct client {
	struct mr_curl curl;
	CURL *handle;
	struct curl_slist *headers;
	int fd; /* libcurl's, of its connection to the server's Unix socket; or -1 */
};

static void close_client(struct client *client)
{
	if (client->headers)
		client->curl.slist_free_all(client->headers);
	if (client->handle)
		client->curl.cleanup(client->handle);
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

static enum mr_code refuse(const struct client *client, CURLcode code, const char *host,
	const char *why, struct mr_err *err)
{
	const char *text = *why ? why : client->curl.strerror(code);

	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return mr_err_set(err, MR_ETIMEOUT, "%s did not answer in time", host);
	case CURLE_URL_MALFORMAT:
		return mr_err_set(err, MR_EINVAL, "not an http or https URL (host %s)", host);
	default:
		return mr_err_set(err, MR_EREMOTE, "%s: %s", host, text);
	}
}

static int keep_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	struct client *client = arg;

	(void)purpose;
	client->fd = fd;
	return CURL_SOCKOPT_OK;
}

/* Connected, and nothing was sent yet. */
static int check_peer(void *arg, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
	const struct client *client = arg;

	(void)remote_ip;
	(void)local_ip;
	(void)remote_port;
	(void)local_port;
	return mr_local_socket_is_ours(client->fd) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/*
 * libcurl does not check whose socket it connects to, so we do: once before, to decide whether to
 * use the socket, and once on the connection that is used.
 */
static enum mr_code use_socket(struct client *client, const struct mr_http_client_request *request,
	struct mr_err *err)
{
	const struct mr_curl *curl = &client->curl;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	if (!request->socket)
		return MR_OK;
	rc = mr_local_socket_connect(request->socket, &fd, err);
	if (rc)
		return request->only_socket ? rc : MR_OK;
	curl->setopt(client->handle, CURLOPT_UNIX_SOCKET_PATH, request->socket);
	curl->setopt(client->handle, CURLOPT_NOPROXY, "*");
	curl->setopt(client->handle, CURLOPT_SOCKOPTFUNCTION, keep_socket);
	curl->setopt(client->handle, CURLOPT_SOCKOPTDATA, client);
	curl->setopt(client->handle, CURLOPT_PREREQFUNCTION, check_peer);
	curl->setopt(client->handle, CURLOPT_PREREQDATA, client);
	return MR_OK;
}

/* Everything about the request but where its answer goes. */
static enum mr_code set_up(struct client *client, const struct mr_http_client_request *request,
	struct mr_err *err)
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
	curl->setopt(handle, CURLOPT_URL, request->url);
	curl->setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
	curl->setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	mr_curl_be_careful(curl, handle, NULL);
	curl->setopt(handle, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	curl->setopt(handle, CURLOPT_HTTPHEADER, client->headers);
	curl->setopt(handle, CURLOPT_USERAGENT, "mailroom/" MR_VERSION);
	/* A small answer that grows when it is unpacked is held to the same maximum. */
	curl->setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
	if (request->is_direct)
		curl->setopt(handle, CURLOPT_NOPROXY, "*");
	if (request->body.data) {
		curl->setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
		curl->setopt(handle, CURLOPT_POSTFIELDS, (const char *)request->body.data);
	}
	if (request->method)
		curl->setopt(handle, CURLOPT_CUSTOMREQUEST, request->method);
	return MR_OK;
}

enum mr_code mr_http_client_send(struct mr_arena *arena,
	const struct mr_http_client_request *request, struct mr_http_client_response *out,
	struct mr_err *err)
{
	struct client client MR_CLEANUP(close_client) = { .handle = NULL, .fd = -1 };
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	const char *host = host_of(arena, request->url);
	char why[CURL_ERROR_SIZE] = "";
	const char *type = NULL;
	long status = 0;
	CURLcode code;
	enum mr_code rc;

	mr_buf_init(&body, request->max_bytes);
	if (strncasecmp(request->url, "http://", 7) != 0 &&
		strncasecmp(request->url, "https://", 8) != 0)
		return mr_err_set(err, MR_EINVAL, "not an http or https URL (host %s)", host);
	rc = mr_curl_load(&client.curl, err);
	if (rc)
		return rc;
	client.handle = client.curl.init();
	if (!client.handle)
		return mr_err_set(err, MR_EINTERNAL, "the HTTP client cannot be started");
	rc = set_up(&client, request, err);
	if (!rc)
		rc = use_socket(&client, request, err);
	if (rc)
		return rc;
	client.curl.setopt(client.handle, CURLOPT_WRITEFUNCTION, take_body);
	client.curl.setopt(client.handle, CURLOPT_WRITEDATA, &body);
	client.curl.setopt(client.handle, CURLOPT_ERRORBUFFER, why);
	code = client.curl.perform(client.handle);
	if (body.failed)
		return mr_err_set(err, MR_ELIMIT, "%s answered with more than %zu bytes", host,
			request->max_bytes);
	if (code != CURLE_OK)
		return refuse(&client, code, host, why, err);
	client.curl.getinfo(client.handle, CURLINFO_RESPONSE_CODE, &status);
	client.curl.getinfo(client.handle, CURLINFO_CONTENT_TYPE, &type);
	*out = (struct mr_http_client_response){
		.status = (int)status,
		.content_type = mr_arena_strdup(arena, type),
		.body = mr_bytes_of(mr_arena_memdup(arena, mr_buf_text(&body), body.len + 1),
			body.len),
	};
	return MR_OK;
}
