/*
 * net/otlp.h - traces for an OpenTelemetry collector: OTLP over HTTP, as JSON.
 *
 * Spans are sent in batches by a thread of its own. Adding a span never waits: when the collector
 * is slow or gone, spans are dropped and counted. Safe from any thread.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_otlp;

struct mr_otlp_config {
	const char *endpoint; /* the collector's URL; spans go to /v1/traces below it */
	const char *headers;  /* "name=value,name=value", or "" */
	const char *service;  /* the name of this service */
	int interval_ms;      /* between batches; 0 is the default */
	struct mr_rand *rand; /* safe from any thread */
};

/* Nothing is sent until it is begun. */
struct mr_otlp *mr_otlp_new(void);
/* Start the thread. MR_EINVAL: no URL we ask, or headers that are none. */
MR_CHECK enum mr_code mr_otlp_begin(struct mr_otlp *otlp, const struct mr_otlp_config *config,
	struct mr_err *err);
/* Sends what waits, for some seconds at most, and ends the thread. NULL is fine. */
void mr_otlp_free(struct mr_otlp *otlp);
/* For MR_CLEANUP. */
void mr_otlp_freep(struct mr_otlp **otlp);

struct mr_otlp_attribute {
	const char *key;
	const char *text; /* wins when it is not NULL */
	int64_t number;
};

/* A span: one operation done for a client. Texts are copied. */
struct mr_otlp_span {
	const char *name;
	const char *traceparent; /* of the caller's span (W3C Trace Context); NULL or invalid: a new
				    trace */
	int64_t begun_us, ended_us; /* of the wall clock */
	const char *error;          /* what went wrong, or NULL */
	const struct mr_otlp_attribute *attributes;
	size_t attribute_count;
};
/* Dropped when nothing is sent, or when the caller's trace is not sampled. */
void mr_otlp_add(struct mr_otlp *otlp, const struct mr_otlp_span *span);

struct mr_otlp_stats {
	uint64_t sent;    /* spans the collector took */
	uint64_t dropped; /* that it did not, or there was no room for */
};
void mr_otlp_stats(struct mr_otlp *otlp, struct mr_otlp_stats *out);

/* A W3C traceparent, taken apart. False when it is none. */
struct mr_otlp_parent {
	char trace[33]; /* hexadecimal digits */
	char span[17];
	bool is_sampled;
};
bool mr_otlp_parent_parse(const char *text, struct mr_otlp_parent *out);
