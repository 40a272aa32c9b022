/*
 * app/metrics.c - Counters, gauges and histograms with a bounded number of series, written in the
 * Prometheus text format.
 */
#include "app/metrics.h"

#include "base/oom.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_MAX = 512, LABEL_BYTES = 128, BUCKETS = 9 };

static const double bucket_limits[BUCKETS] = { 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5 };

enum kind { COUNTER, GAUGE, HISTOGRAM };

static const char *const kind_names[] = { "counter", "gauge", "histogram" };

static const struct description {
	const char *name;
	const char *help;
	const char *labels[2];
	enum kind kind;
} descriptions[MR_METRIC_COUNT] = {
	[MR_METRIC_TOOL_CALLS] = { "mailroom_tool_calls_total", "Operations run, by outcome.",
		{ "tool", "status" }, COUNTER },
	[MR_METRIC_TOOL_SECONDS] = { "mailroom_tool_seconds", "How long operations took.",
		{ "tool", NULL }, HISTOGRAM },
	[MR_METRIC_HTTP_REQUESTS] = { "mailroom_http_requests_total", "HTTP requests answered.",
		{ "route", "status" }, COUNTER },
	[MR_METRIC_HTTP_SECONDS] = { "mailroom_http_request_seconds",
		"How long HTTP requests took.", { "route", NULL }, HISTOGRAM },
	[MR_METRIC_MESSAGES] = { "mailroom_messages_total", "Messages stored, of all processes.",
		{ "project", NULL }, COUNTER },
	[MR_METRIC_RESERVATIONS] = { "mailroom_reservations_active",
		"Leases on files that hold now.", { NULL, NULL }, GAUGE },
	[MR_METRIC_GIT_SECONDS] = { "mailroom_git_commit_seconds",
		"How long commits to the archive took.", { NULL, NULL }, HISTOGRAM },
	[MR_METRIC_GIT_QUEUE] = { "mailroom_git_queue_depth",
		"Changes the archive does not show yet.", { NULL, NULL }, GAUGE },
	[MR_METRIC_SQLITE_BUSY] = { "mailroom_sqlite_busy_total",
		"Transactions that another process kept from the database.", { NULL, NULL },
		COUNTER },
	[MR_METRIC_RATE_LIMITED] = { "mailroom_rate_limited_total",
		"Requests refused because there were too many.", { "kind", NULL }, COUNTER },
};

struct series {
	enum mr_metric metric;
	char labels[2][LABEL_BYTES];
	uint64_t count;
	double sum;
	uint64_t buckets[BUCKETS]; /* not cumulative */
};

struct mr_metrics {
	pthread_mutex_t mutex;
	struct series series[SERIES_MAX];
	size_t len;
};

struct mr_metrics *mr_metrics_new(void)
{
	struct mr_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		mr_oom(sizeof(*metrics));
	pthread_mutex_init(&metrics->mutex, NULL);
	return metrics;
}

void mr_metrics_free(struct mr_metrics *metrics)
{
	if (!metrics)
		return;
	pthread_mutex_destroy(&metrics->mutex);
	free(metrics);
}

void mr_metrics_freep(struct mr_metrics **metrics)
{
	mr_metrics_free(*metrics);
	*metrics = NULL;
}

static bool label_is(const char *label, const char *value)
{
	return strncmp(label, value, LABEL_BYTES - 1) == 0;
}

static struct series *find(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	const char *second)
{
	struct series *s = metrics->series;

	for (size_t i = 0; i < metrics->len; i++, s++) {
		if (s->metric == metric && label_is(s->labels[0], first) &&
			label_is(s->labels[1], second))
			return s;
	}
	return NULL;
}

/* Under the lock. A slot is kept free for each metric's "other". */
static struct series *find_or_add(struct mr_metrics *metrics, enum mr_metric metric,
	const char *first, const char *second)
{
	struct series *s = find(metrics, metric, first, second);

	if (!s && metrics->len >= SERIES_MAX - MR_METRIC_COUNT) {
		first = second = "other";
		s = find(metrics, metric, first, second);
	}
	if (!s) {
		s = &metrics->series[metrics->len++];
		s->metric = metric;
		strncpy(s->labels[0], first, LABEL_BYTES - 1);
		strncpy(s->labels[1], second, LABEL_BYTES - 1);
	}
	return s;
}

void mr_metrics_count(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	const char *second, uint64_t by)
{
	pthread_mutex_lock(&metrics->mutex);
	find_or_add(metrics, metric, first ? first : "", second ? second : "")->count += by;
	pthread_mutex_unlock(&metrics->mutex);
}

void mr_metrics_set(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	uint64_t value)
{
	pthread_mutex_lock(&metrics->mutex);
	find_or_add(metrics, metric, first ? first : "", "")->count = value;
	pthread_mutex_unlock(&metrics->mutex);
}

uint64_t mr_metrics_counted(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	const char *second)
{
	const struct series *s;
	uint64_t count;

	pthread_mutex_lock(&metrics->mutex);
	s = find(metrics, metric, first, second ? second : "");
	count = s ? s->count : 0;
	pthread_mutex_unlock(&metrics->mutex);
	return count;
}

void mr_metrics_observe(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	double value)
{
	struct series *s;

	pthread_mutex_lock(&metrics->mutex);
	s = find_or_add(metrics, metric, first ? first : "", "");
	s->count++;
	s->sum += value;
	for (size_t i = 0; i < BUCKETS; i++) {
		if (value <= bucket_limits[i]) {
			s->buckets[i]++;
			break;
		}
	}
	pthread_mutex_unlock(&metrics->mutex);
}

static void put_label(struct mr_buf *out, const char *name, const char *value)
{
	mr_buf_printf(out, "%s=\"", name);
	for (const char *c = value; *c; c++) {
		if (*c == '\n')
			mr_buf_puts(out, "\\n");
		else if (*c == '"' || *c == '\\')
			mr_buf_printf(out, "\\%c", *c);
		else
			mr_buf_putc(out, *c);
	}
	mr_buf_putc(out, '"');
}

/* name_suffix{labels,le="limit"}, without braces where there is nothing inside */
static void put_name(struct mr_buf *out, const struct series *s, const char *suffix,
	const char *limit)
{
	const struct description *d = &descriptions[s->metric];
	const char *before = "{";

	mr_buf_printf(out, "%s%s", d->name, suffix);
	for (size_t i = 0; i < MR_LEN(d->labels) && d->labels[i]; i++) {
		mr_buf_puts(out, before);
		put_label(out, d->labels[i], s->labels[i]);
		before = ",";
	}
	if (limit) {
		mr_buf_printf(out, "%sle=\"%s\"", before, limit);
		before = ",";
	}
	mr_buf_puts(out, *before == ',' ? "} " : " ");
}

static void put_histogram(struct mr_buf *out, const struct series *s)
{
	uint64_t below = 0;

	for (size_t i = 0; i < BUCKETS; i++) {
		char limit[16];

		snprintf(limit, sizeof(limit), "%g", bucket_limits[i]);
		below += s->buckets[i];
		put_name(out, s, "_bucket", limit);
		mr_buf_printf(out, "%llu\n", (unsigned long long)below);
	}
	put_name(out, s, "_bucket", "+Inf");
	mr_buf_printf(out, "%llu\n", (unsigned long long)s->count);
	put_name(out, s, "_sum", NULL);
	mr_buf_printf(out, "%.9g\n", s->sum);
	put_name(out, s, "_count", NULL);
	mr_buf_printf(out, "%llu\n", (unsigned long long)s->count);
}

static void put_series(struct mr_buf *out, const struct series *s)
{
	if (descriptions[s->metric].kind == HISTOGRAM) {
		put_histogram(out, s);
	} else {
		put_name(out, s, "", NULL);
		mr_buf_printf(out, "%llu\n", (unsigned long long)s->count);
	}
}

void mr_metrics_write(struct mr_metrics *metrics, struct mr_buf *out)
{
	pthread_mutex_lock(&metrics->mutex);
	for (int m = 0; m < MR_METRIC_COUNT; m++) {
		const struct description *d = &descriptions[m];
		bool any = false;

		mr_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", d->name, d->help, d->name,
			kind_names[d->kind]);
		for (size_t i = 0; i < metrics->len; i++) {
			if ((int)metrics->series[i].metric != m)
				continue;
			put_series(out, &metrics->series[i]);
			any = true;
		}
		/* What has no labels is there from the start. */
		if (!any && !d->labels[0])
			put_series(out, &(struct series){ .metric = (enum mr_metric)m });
	}
	pthread_mutex_unlock(&metrics->mutex);
}
