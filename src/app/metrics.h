/*
 * app/metrics.h - counters, gauges and histograms of this process, as Prometheus text.
 *
 * The metrics are known beforehand; what is counted under them is told apart by up to two labels.
 * Safe from any thread. The number of series is bounded: past it, new label values count as
 * "other".
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

enum mr_metric {
	MR_METRIC_TOOL_CALLS,    /* mailroom_tool_calls_total{tool,status} */
	MR_METRIC_TOOL_SECONDS,  /* mailroom_tool_seconds{tool} */
	MR_METRIC_HTTP_REQUESTS, /* mailroom_http_requests_total{route,status} */
	MR_METRIC_HTTP_SECONDS,  /* mailroom_http_request_seconds{route} */
	MR_METRIC_MESSAGES,      /* mailroom_messages_total{project} */
	MR_METRIC_RESERVATIONS,  /* mailroom_reservations_active, a gauge */
	MR_METRIC_GIT_SECONDS,   /* mailroom_git_commit_seconds */
	MR_METRIC_GIT_QUEUE,     /* mailroom_git_queue_depth, a gauge */
	MR_METRIC_SQLITE_BUSY,   /* mailroom_sqlite_busy_total */
	MR_METRIC_RATE_LIMITED,  /* mailroom_rate_limited_total{kind}: tools, resources, other */
	MR_METRIC_COUNT,
};

struct mr_metrics;

struct mr_metrics *mr_metrics_new(void);
void mr_metrics_free(struct mr_metrics *metrics);
/* For MR_CLEANUP. */
void mr_metrics_freep(struct mr_metrics **metrics);

/* Add `by` to a counter. A label the metric does not have is NULL, here and below. */
void mr_metrics_count(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	const char *second, uint64_t by);
/* What a gauge stands at now. */
void mr_metrics_set(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	uint64_t value);
/* Add one observation to a histogram. */
void mr_metrics_observe(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	double value);
/* How much a counter has counted under these labels. */
uint64_t mr_metrics_counted(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	const char *second);
/* All of them in the text format 0.0.4. */
void mr_metrics_write(struct mr_metrics *metrics, struct mr_buf *out);
