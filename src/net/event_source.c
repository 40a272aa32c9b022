/* net/event_source.c - A stream of events, by libcurl. */
#include "net/event_source.h"

#include "base/clock.h"
#include "net/curl.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct mr_event_source {
	struct mr_curl curl;
	CURLM *multi;
	CURL *handle;
	struct curl_slist *headers;
	struct mr_event_stream stream;
	struct mr_err refused; /* why the stream cannot be read on */
	atomic_bool is_woken;
	bool is_added;   /* a transfer is under way */
	bool has_answer; /* the head of the answer is whole */
	bool is_stream;  /* and says that events follow */
	bool has_ended;
	CURLcode end;
	int64_t heard_ms;
	char why[CURL_ERROR_SIZE];
	char *location;
};

static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

static void hang_up(struct mr_event_source *source)
{
	if (source->is_added)
		source->curl.multi_remove_handle(source->multi, source->handle);
	source->is_added = false;
	if (source->headers)
		source->curl.slist_free_all(source->headers);
	source->headers = NULL;
}

void mr_event_source_free(struct mr_event_source *source)
{
	if (!source)
		return;
	hang_up(source);
	if (source->handle)
		source->curl.easy_cleanup(source->handle);
	if (source->multi)
		source->curl.multi_cleanup(source->multi);
	mr_event_stream_release(&source->stream);
	free(source->location);
	free(source);
}

void mr_event_source_freep(struct mr_event_source **source)
{
	mr_event_source_free(*source);
}

enum mr_code mr_event_source_new(void (*take)(void *arg, const struct mr_event *event), void *arg,
	struct mr_event_source **out, struct mr_err *err)
{
	struct mr_event_source *source MR_CLEANUP(mr_event_source_freep) =
		calloc(1, sizeof(*source));
	enum mr_code rc;

	if (!source)
		return mr_err_set(err, MR_EINTERNAL, "no memory for a stream of events");
	mr_event_stream_init(&source->stream, take, arg);
	rc = mr_curl_load(&source->curl, err);
	if (rc)
		return rc;
	source->multi = source->curl.multi_init();
	source->handle = source->curl.easy_init();
	if (!source->multi || !source->handle)
		return mr_err_set(err, MR_EINTERNAL, "the HTTP client cannot be started");
	*out = source;
	source = NULL;
	return MR_OK;
}

/* --- what arrives --- */

static size_t take_head(char *data, size_t size, size_t count, void *arg)
{
	struct mr_event_source *source = arg;
	size_t len = size * count;
	long status = 0;
	const char *type = NULL;

	source->heard_ms = now_ms();
	/* The empty line ends a head; that of an interim answer is not the last. */
	if (len > 2 || (len && data[0] != '\r' && data[0] != '\n'))
		return len;
	source->curl.easy_getinfo(source->handle, CURLINFO_RESPONSE_CODE, &status);
	source->curl.easy_getinfo(source->handle, CURLINFO_CONTENT_TYPE, &type);
	if (status >= 200) {
		source->has_answer = true;
		source->is_stream =
			status == 200 && type && strncasecmp(type, "text/event-stream", 17) == 0;
	}
	return len;
}

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
	struct mr_event_source *source = arg;
	size_t len = size * count;

	source->heard_ms = now_ms();
	if (!source->is_stream)
		return 0;
	if (mr_event_stream_feed(&source->stream, mr_bytes_of(data, len), &source->refused))
		return 0;
	return len;
}

static enum mr_code add_header(struct mr_event_source *source, const char *header,
	struct mr_err *err)
{
	struct curl_slist *list;

	if (strpbrk(header, "\r\n"))
		return mr_err_set(err, MR_EINVAL, "a header holds a line break");
	list = source->curl.slist_append(source->headers, header);
	if (!list)
		return mr_err_set(err, MR_EINTERNAL, "no memory for headers");
	source->headers = list;
	return MR_OK;
}

static enum mr_code add_headers(struct mr_event_source *source,
	const struct mr_event_source_request *request, struct mr_err *err)
{
	char last[MR_EVENT_ID_BYTES + 32] = "Last-Event-ID: ";
	enum mr_code rc = add_header(source, "Accept: text/event-stream", err);

	for (size_t i = 0; !rc && request->headers && request->headers[i]; i++)
		rc = add_header(source, request->headers[i], err);
	if (rc || !*mr_event_stream_last_id(&source->stream))
		return rc;
	strncat(last, mr_event_stream_last_id(&source->stream), MR_EVENT_ID_BYTES);
	return add_header(source, last, err);
}

static enum mr_code set_up(struct mr_event_source *source,
	const struct mr_event_source_request *request, struct mr_err *err)
{
	const struct mr_curl *curl = &source->curl;
	CURL *handle = source->handle;
	enum mr_code rc = add_headers(source, request, err);

	if (rc)
		return rc;
	curl->easy_setopt(handle, CURLOPT_URL, request->url);
	curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
	curl->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	mr_curl_be_careful(curl, handle, request->ca_file);
	curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
	curl->easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
	curl->easy_setopt(handle, CURLOPT_HTTPHEADER, source->headers);
	curl->easy_setopt(handle, CURLOPT_USERAGENT, "mailroom/" MR_VERSION);
	curl->easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_head);
	curl->easy_setopt(handle, CURLOPT_HEADERDATA, source);
	curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
	curl->easy_setopt(handle, CURLOPT_WRITEDATA, source);
	curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, source->why);
	return MR_OK;
}

/* --- waiting --- */

/* Let libcurl work, and wait for more, until `until_ms` at the latest. Who opens a stream need not
 * wait for what follows the answer. */
static void turn(struct mr_event_source *source, int64_t until_ms)
{
	bool had_answer = source->has_answer;
	int64_t left_ms;
	int running = 0;
	int left = 0;
	CURLMsg *message;

	source->curl.multi_perform(source->multi, &running);
	while ((message = source->curl.multi_info_read(source->multi, &left))) {
		if (message->msg == CURLMSG_DONE) {
			source->has_ended = true;
			source->end = message->data.result;
		}
	}
	left_ms = until_ms - now_ms();
	if (!source->has_ended && left_ms > 0 && !atomic_load(&source->is_woken) &&
		source->has_answer == had_answer)
		source->curl.multi_poll(source->multi, NULL, 0, (int)left_ms, NULL);
}

static enum mr_code ended(struct mr_event_source *source, struct mr_err *err)
{
	hang_up(source);
	if (source->refused.code) {
		*err = source->refused;
		return err->code;
	}
	if (source->end == CURLE_OK)
		return mr_err_set(err, MR_EREMOTE, "the server has ended the stream of events");
	return mr_err_set(err, MR_EREMOTE, "%s",
		*source->why ? source->why : source->curl.easy_strerror(source->end));
}

static enum mr_code look_at_answer(struct mr_event_source *source, int *out_status,
	const char **out_location, struct mr_err *err)
{
	const char *location = NULL;
	long status = 0;

	source->curl.easy_getinfo(source->handle, CURLINFO_RESPONSE_CODE, &status);
	source->curl.easy_getinfo(source->handle, CURLINFO_REDIRECT_URL, &location);
	*out_status = (int)status;
	if (source->is_stream)
		return MR_OK;
	free(source->location);
	source->location = location ? strdup(location) : NULL;
	*out_location = source->location;
	hang_up(source);
	return mr_err_set(err, MR_EREMOTE, "the answer is no stream of events (HTTP status %ld)",
		status);
}

enum mr_code mr_event_source_open(struct mr_event_source *source,
	const struct mr_event_source_request *request, int *out_status, const char **out_location,
	struct mr_err *err)
{
	int64_t until_ms = now_ms() + request->connect_ms;
	enum mr_code rc;

	*out_status = 0;
	*out_location = NULL;
	hang_up(source);
	source->curl.easy_reset(source->handle);
	mr_event_stream_restart(&source->stream);
	source->refused.code = MR_OK;
	source->has_answer = source->is_stream = source->has_ended = false;
	source->why[0] = '\0';
	source->heard_ms = now_ms();
	rc = set_up(source, request, err);
	if (rc)
		return rc;
	if (source->curl.multi_add_handle(source->multi, source->handle) != CURLM_OK)
		return mr_err_set(err, MR_EINTERNAL, "the HTTP client cannot be started");
	source->is_added = true;
	while (!source->has_answer && !source->has_ended) {
		turn(source, until_ms);
		if (source->has_answer || source->has_ended)
			break;
		if (atomic_exchange(&source->is_woken, false) || now_ms() >= until_ms) {
			hang_up(source);
			return mr_err_set(err, MR_ETIMEOUT, "the server did not answer in time");
		}
	}
	if (!source->has_answer)
		return ended(source, err);
	/* A stream that is over already is noticed by who reads it. */
	return look_at_answer(source, out_status, out_location, err);
}

enum mr_code mr_event_source_run(struct mr_event_source *source, int timeout_ms, struct mr_err *err)
{
	int64_t until_ms = now_ms() + timeout_ms;

	if (!source->is_added)
		return mr_err_set(err, MR_EREMOTE, "the stream of events is not open");
	do {
		if (!source->has_ended)
			turn(source, until_ms);
		if (source->has_ended)
			return ended(source, err);
	} while (!atomic_exchange(&source->is_woken, false) && now_ms() < until_ms);
	return MR_OK;
}

void mr_event_source_wake(struct mr_event_source *source)
{
	atomic_store(&source->is_woken, true);
	source->curl.multi_wakeup(source->multi);
}

int64_t mr_event_source_silent_ms(const struct mr_event_source *source)
{
	return now_ms() - source->heard_ms;
}

int64_t mr_event_source_retry_ms(const struct mr_event_source *source)
{
	return source->stream.retry_ms;
}
