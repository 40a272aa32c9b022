/*
 * net/otlp.c - Collects trace spans and sends them in batches to an OpenTelemetry collector from a
 * thread of its own.
 */
#include "net/otlp.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/oom.h"
#include "net/http_client.h"
#include "text/json.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	INTERVAL_MS = 5000,
	BATCH = 512,             /* so many do not wait for the interval */
	WAITING_BYTES = 1 << 20, /* of spans; more are dropped */
	SEND_MS = 5000,          /* a collector has so long */
	ANSWER_BYTES = 64 << 10,
	HEADERS_MAX = 16,
	SPAN_BYTES = 16 << 10,
	COMPLAIN_S = 60,
};

struct mr_otlp {
	struct mr_arena *arena;
	const char *url, *service;
	const char *headers[HEADERS_MAX + 2];
	int interval_ms;
	struct mr_rand *rand;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	pthread_t thread;
	bool is_running, is_ending;
	struct mr_buf spans; /* with commas between */
	size_t count;
	struct mr_otlp_stats stats;
	time_t complained;
};

struct mr_otlp *mr_otlp_new(void)
{
	struct mr_otlp *otlp = calloc(1, sizeof(*otlp));
	pthread_condattr_t attributes;

	if (!otlp)
		mr_oom(sizeof(*otlp));
	otlp->arena = mr_arena_new();
	mr_buf_init(&otlp->spans, WAITING_BYTES);
	pthread_mutex_init(&otlp->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&otlp->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	return otlp;
}

/* ---- traceparent ---- */

static bool is_hex(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") >= len;
}

static bool is_zero(const char *text)
{
	return text[strspn(text, "0")] == '\0';
}

/* version "-" 32 digits "-" 16 digits "-" 2 digits; a later version may have more behind. */
bool mr_otlp_parent_parse(const char *text, struct mr_otlp_parent *out)
{
	struct mr_otlp_parent parent = { 0 };
	unsigned flags;

	if (!text || strlen(text) < 55 || !is_hex(text, 2) || text[2] != '-' ||
		!is_hex(text + 3, 32) || text[35] != '-' || !is_hex(text + 36, 16) ||
		text[52] != '-' || !is_hex(text + 53, 2))
		return false;
	if (strncmp(text, "ff", 2) == 0 || (strncmp(text, "00", 2) == 0 && text[55]) ||
		(text[55] && text[55] != '-'))
		return false;
	memcpy(parent.trace, text + 3, 32);
	memcpy(parent.span, text + 36, 16);
	if (is_zero(parent.trace) || is_zero(parent.span))
		return false;
	flags = (unsigned)strtoul(text + 53, NULL, 16);
	parent.is_sampled = flags & 1;
	*out = parent;
	return true;
}

/* ---- spans ---- */

static void make_id(struct mr_rand *rand, size_t bytes, char *out)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t random[16];

	mr_rand_fill(rand, random, bytes);
	for (size_t i = 0; i < bytes; i++) {
		out[2 * i] = digits[random[i] >> 4];
		out[2 * i + 1] = digits[random[i] & 15];
	}
	out[2 * bytes] = '\0';
}

static void put_text(struct mr_json_writer *w, const char *key, const char *text)
{
	mr_json_key(w, key);
	mr_json_text(w, text);
}

static void put_attribute(struct mr_json_writer *w, const struct mr_otlp_attribute *attribute)
{
	char number[24];

	mr_json_begin_map(w);
	put_text(w, "key", attribute->key);
	mr_json_key(w, "value");
	mr_json_begin_map(w);
	/* Whole numbers are texts in OTLP's JSON: they may have 64 bits. */
	snprintf(number, sizeof(number), "%lld", (long long)attribute->number);
	put_text(w, attribute->text ? "stringValue" : "intValue",
		attribute->text ? attribute->text : number);
	mr_json_end(w);
	mr_json_end(w);
}

static void put_time(struct mr_json_writer *w, const char *key, int64_t us)
{
	char nanoseconds[32];

	snprintf(nanoseconds, sizeof(nanoseconds), "%lld000", (long long)us);
	put_text(w, key, nanoseconds);
}

static void put_span(struct mr_otlp *otlp, struct mr_buf *out, const struct mr_otlp_span *span,
	const struct mr_otlp_parent *parent)
{
	struct mr_json_writer w;
	char trace[33], id[17];

	make_id(otlp->rand, 16, trace);
	make_id(otlp->rand, 8, id);
	mr_json_init(&w, out, MR_JSON_COMPACT);
	mr_json_begin_map(&w);
	put_text(&w, "traceId", parent ? parent->trace : trace);
	put_text(&w, "spanId", id);
	if (parent)
		put_text(&w, "parentSpanId", parent->span);
	put_text(&w, "name", span->name);
	mr_json_key(&w, "kind");
	mr_json_int(&w, 2); /* done for somebody else */
	put_time(&w, "startTimeUnixNano", span->begun_us);
	put_time(&w, "endTimeUnixNano", span->ended_us);
	mr_json_key(&w, "attributes");
	mr_json_begin_list(&w);
	for (size_t i = 0; i < span->attribute_count; i++)
		put_attribute(&w, &span->attributes[i]);
	mr_json_end(&w);
	mr_json_key(&w, "status");
	mr_json_begin_map(&w);
	if (span->error) {
		mr_json_key(&w, "code");
		mr_json_int(&w, 2);
		put_text(&w, "message", span->error);
	}
	mr_json_end(&w);
	mr_json_end(&w);
}

void mr_otlp_add(struct mr_otlp *otlp, const struct mr_otlp_span *span)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_otlp_parent parent;
	bool has_parent;

	mr_buf_init(&text, SPAN_BYTES);
	/* Set before other threads start, and never again. */
	if (!otlp || !otlp->is_running)
		return;
	has_parent = mr_otlp_parent_parse(span->traceparent, &parent);
	if (has_parent && !parent.is_sampled)
		return;
	put_span(otlp, &text, span, has_parent ? &parent : NULL);
	pthread_mutex_lock(&otlp->lock);
	if (text.failed || otlp->spans.len + text.len + 1 > WAITING_BYTES) {
		otlp->stats.dropped++;
	} else {
		if (otlp->count++)
			mr_buf_putc(&otlp->spans, ',');
		mr_buf_add(&otlp->spans, text.data, text.len);
		if (otlp->count == BATCH)
			pthread_cond_signal(&otlp->wake);
	}
	pthread_mutex_unlock(&otlp->lock);
}

/* ---- the thread ---- */

static void put_body(const struct mr_otlp *otlp, struct mr_buf *out, const struct mr_buf *spans)
{
	const struct mr_otlp_attribute attributes[] = {
		{ .key = "service.name", .text = otlp->service },
		{ .key = "service.version", .text = MR_VERSION },
	};
	struct mr_buf resource MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mr_buf_init(&resource, SPAN_BYTES);
	mr_json_init(&w, &resource, MR_JSON_COMPACT);
	mr_json_begin_list(&w);
	for (size_t i = 0; i < MR_LEN(attributes); i++)
		put_attribute(&w, &attributes[i]);
	mr_json_end(&w);
	mr_buf_printf(out,
		"{\"resourceSpans\":[{\"resource\":{\"attributes\":%s},\"scopeSpans\":[{\"scope\":"
		"{\"name\":\"mailroom\",\"version\":\"" MR_VERSION "\"},\"spans\":[",
		mr_buf_text(&resource));
	mr_buf_add(out, spans->data, spans->len);
	mr_buf_puts(out, "]}]}]}");
}

static enum mr_code post(const struct mr_otlp *otlp, const struct mr_buf *spans, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_http_client_request request = {
		.url = otlp->url,
		.headers = otlp->headers,
		.timeout_ms = SEND_MS,
		.max_bytes = ANSWER_BYTES,
	};
	struct mr_http_client_response answer;
	enum mr_code rc;

	mr_buf_init(&body, 2 * WAITING_BYTES);
	put_body(otlp, &body, spans);
	request.body = mr_buf_bytes(&body);
	rc = mr_http_client_send(arena, &request, &answer, err);
	if (!rc && (answer.status < 200 || answer.status > 299))
		rc = mr_err_set(err, MR_EREMOTE, "the collector answered with status %d",
			answer.status);
	return rc;
}

/* Under the lock, which is let go while the collector is asked. */
static void send_waiting(struct mr_otlp *otlp)
{
	struct mr_buf spans = otlp->spans;
	size_t count = otlp->count;
	struct timespec now;
	struct mr_err err;
	enum mr_code rc;

	if (count == 0)
		return;
	mr_buf_init(&otlp->spans, WAITING_BYTES);
	otlp->count = 0;
	pthread_mutex_unlock(&otlp->lock);
	rc = post(otlp, &spans, &err);
	mr_buf_release(&spans);
	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&otlp->lock);
	*(rc ? &otlp->stats.dropped : &otlp->stats.sent) += count;
	if (rc && (!otlp->complained || now.tv_sec - otlp->complained >= COMPLAIN_S)) {
		otlp->complained = now.tv_sec;
		mr_log(MR_LOG_WARN, "traces_dropped", "%zu: %s", count, err.msg);
	}
}

static void *run(void *arg)
{
	struct mr_otlp *otlp = arg;
	struct timespec until;
	bool is_last = false;

	pthread_mutex_lock(&otlp->lock);
	/* Spans that came while the last batch was on its way, or before this thread began to run,
	 * are sent too. */
	while (!is_last) {
		int rc = 0;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += otlp->interval_ms / 1000;
		until.tv_nsec += otlp->interval_ms % 1000 * 1000000L;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000L;
		}
		while (!otlp->is_ending && otlp->count < BATCH && rc != ETIMEDOUT)
			rc = pthread_cond_timedwait(&otlp->wake, &otlp->lock, &until);
		is_last = otlp->is_ending;
		send_waiting(otlp);
	}
	pthread_mutex_unlock(&otlp->lock);
	return NULL;
}

/* "a=1,b=2" as "a: 1", "b: 2". */
static enum mr_code take_headers(struct mr_otlp *otlp, const char *text, struct mr_err *err)
{
	struct mr_texts parts = mr_str_split(otlp->arena, text, ',');
	size_t len = 0;

	otlp->headers[len++] = "Content-Type: application/json";
	if (parts.len > HEADERS_MAX)
		return mr_err_set(err, MR_EINVAL, "otel.headers: more than %d", HEADERS_MAX);
	for (size_t i = 0; i < parts.len; i++) {
		const char *equals = strchr(parts.items[i], '=');

		if (!equals || equals == parts.items[i])
			return mr_err_set(err, MR_EINVAL,
				"otel.headers must be name=value, with commas between");
		otlp->headers[len++] = mr_arena_printf(otlp->arena, "%.*s: %s",
			(int)(equals - parts.items[i]), parts.items[i], equals + 1);
	}
	otlp->headers[len] = NULL;
	return MR_OK;
}

enum mr_code mr_otlp_begin(struct mr_otlp *otlp, const struct mr_otlp_config *config,
	struct mr_err *err)
{
	size_t len = strlen(config->endpoint);
	sigset_t all, before;
	int number;

	if (!mr_str_starts(config->endpoint, "http://") &&
		!mr_str_starts(config->endpoint, "https://"))
		return mr_err_set(err, MR_EINVAL,
			"otel.endpoint must begin with http:// or https://");
	if (take_headers(otlp, config->headers, err))
		return err->code;
	otlp->url = mr_arena_printf(otlp->arena, "%s%sv1/traces", config->endpoint,
		config->endpoint[len - 1] == '/' ? "" : "/");
	otlp->service = mr_arena_strdup(otlp->arena, config->service);
	otlp->interval_ms = config->interval_ms ? config->interval_ms : INTERVAL_MS;
	otlp->rand = config->rand;
	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	number = pthread_create(&otlp->thread, NULL, run, otlp);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (number)
		return mr_err_os(err, number, "cannot start a thread for traces");
	otlp->is_running = true;
	return MR_OK;
}

void mr_otlp_stats(struct mr_otlp *otlp, struct mr_otlp_stats *out)
{
	pthread_mutex_lock(&otlp->lock);
	*out = otlp->stats;
	pthread_mutex_unlock(&otlp->lock);
}

void mr_otlp_free(struct mr_otlp *otlp)
{
	if (!otlp)
		return;
	if (otlp->is_running) {
		pthread_mutex_lock(&otlp->lock);
		otlp->is_ending = true;
		pthread_cond_signal(&otlp->wake);
		pthread_mutex_unlock(&otlp->lock);
		pthread_join(otlp->thread, NULL);
	}
	mr_buf_release(&otlp->spans);
	pthread_cond_destroy(&otlp->wake);
	pthread_mutex_destroy(&otlp->lock);
	mr_arena_free(otlp->arena);
	free(otlp);
}

void mr_otlp_freep(struct mr_otlp **otlp)
{
	mr_otlp_free(*otlp);
	*otlp = NULL;
}
