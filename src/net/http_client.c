/* net/http_client.c - the only file that includes curl/curl.h. */
#include "net/http_client.h"

#include "base/buf.h"

#include <curl/curl.h>

#include <pthread.h>
#include <string.h>

enum { HOST_BYTES = 120 };

static pthread_once_t started = PTHREAD_ONCE_INIT;

static void start(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void close_handle(CURL **handle)
{
	if (*handle)
		curl_easy_cleanup(*handle);
}

static void free_list(struct curl_slist **list)
{
	curl_slist_free_all(*list);
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

static enum mr_code refuse(CURLcode code, const char *host, const char *why, struct mr_err *err)
{
	const char *text = *why ? why : curl_easy_strerror(code);

	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return mr_err_set(err, MR_ETIMEOUT, "%s did not answer in time", host);
	case CURLE_URL_MALFORMAT:
		return mr_err_set(err, MR_EINVAL, "not an http or https URL (host %s)", host);
	default:
		return mr_err_set(err, MR_EREMOTE, "%s: %s", host, text);
	}
}

/* Everything about the request but where its answer goes. */
static enum mr_code set_up(CURL *handle, const struct mr_http_client_request *request,
	struct curl_slist **headers, struct mr_err *err)
{
	struct curl_slist *list = NULL;

	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		/* A line break would begin a header of its own. */
		if (strpbrk(request->headers[i], "\r\n"))
			return mr_err_set(err, MR_EINVAL, "a header holds a line break");
		list = curl_slist_append(*headers, request->headers[i]);
		if (!list)
			return mr_err_set(err, MR_EINTERNAL, "no memory for headers");
		*headers = list;
	}
	curl_easy_setopt(handle, CURLOPT_URL, request->url);
	curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	curl_easy_setopt(handle, CURLOPT_HTTPHEADER, *headers);
	curl_easy_setopt(handle, CURLOPT_USERAGENT, "mailroom/" MR_VERSION);
	/* A small answer that grows when it is unpacked is held to the same maximum. */
	curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "");
	if (request->is_direct)
		curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
	if (request->body.data) {
		curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
			(curl_off_t)request->body.len);
		curl_easy_setopt(handle, CURLOPT_POSTFIELDS, (const char *)request->body.data);
	}
	if (request->method)
		curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request->method);
	return MR_OK;
}

enum mr_code mr_http_client_send(struct mr_arena *arena,
	const struct mr_http_client_request *request, struct mr_http_client_response *out,
	struct mr_err *err)
{
	CURL *handle MR_CLEANUP(close_handle) = NULL;
	struct curl_slist *headers MR_CLEANUP(free_list) = NULL;
	struct mr_buf body MR_CLEANUP(mr_buf_release);
	const char *host = host_of(arena, request->url);
	char why[CURL_ERROR_SIZE] = "";
	const char *type = NULL;
	long status = 0;
	CURLcode code;
	enum mr_code rc;

	mr_buf_init(&body, request->max_bytes);
	if (strncasecmp(request->url, "http://", 7) != 0 &&
		strncasecmp(request->url, "https://", 8) != 0)
		return refuse(CURLE_URL_MALFORMAT, host, why, err);
	pthread_once(&started, start);
	handle = curl_easy_init();
	if (!handle)
		return mr_err_set(err, MR_EINTERNAL, "the HTTP client cannot be started");
	rc = set_up(handle, request, &headers, err);
	if (rc)
		return rc;
	curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(handle, CURLOPT_WRITEDATA, &body);
	curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
	code = curl_easy_perform(handle);
	if (body.failed)
		return mr_err_set(err, MR_ELIMIT, "%s answered with more than %zu bytes", host,
			request->max_bytes);
	if (code != CURLE_OK)
		return refuse(code, host, why, err);
	curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(handle, CURLINFO_CONTENT_TYPE, &type);
	*out = (struct mr_http_client_response){
		.status = (int)status,
		.content_type = mr_arena_strdup(arena, type),
		.body = mr_bytes_of(mr_arena_memdup(arena, mr_buf_text(&body), body.len + 1),
			body.len),
	};
	return MR_OK;
}
