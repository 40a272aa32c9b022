/* op/metrics.c */
#include "op/metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_MAX = 512, LABEL_BYTES = 64, BUCKETS = 9 };

static const double bucket_limits[BUCKETS] = { 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5 };

static const struct description {
	const char *name;
	const char *help;
	const char *labels[2];
	bool is_histogram;
} descriptions[MR_METRIC_COUNT] = {
	[MR_METRIC_TOOL_CALLS] = { "mailroom_tool_calls_total", "Operations run, by outcome.",
		{ "tool", "status" }, false },
	[MR_METRIC_TOOL_SECONDS] = { "mailroom_tool_seconds", "How long operations took.",
		{ "tool", NULL }, true },
	[MR_METRIC_HTTP_REQUESTS] = { "mailroom_http_requests_total", "HTTP requests answered.",
		{ "route", "status" }, false },
	[MR_METRIC_HTTP_SECONDS] = { "mailroom_http_request_seconds",
		"How long HTTP requests took.", { "route", NULL }, true },
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
		abort();
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
	find_or_add(metrics, metric, first, second ? second : "")->count += by;
	pthread_mutex_unlock(&metrics->mutex);
}

void mr_metrics_observe(struct mr_metrics *metrics, enum mr_metric metric, const char *first,
	double value)
{
	struct series *s;

	pthread_mutex_lock(&metrics->mutex);
	s = find_or_add(metrics, metric, first, "");
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

/* name_suffix{labels,extra="value"} */
static void put_name(struct mr_buf *out, const struct series *s, const char *suffix,
	const char *limit)
{
	const struct description *d = &descriptions[s->metric];

	mr_buf_printf(out, "%s%s{", d->name, suffix);
	put_label(out, d->labels[0], s->labels[0]);
	if (d->labels[1]) {
		mr_buf_putc(out, ',');
		put_label(out, d->labels[1], s->labels[1]);
	}
	if (limit)
		mr_buf_printf(out, ",le=\"%s\"", limit);
	mr_buf_puts(out, "} ");
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

void mr_metrics_write(struct mr_metrics *metrics, struct mr_buf *out)
{
	pthread_mutex_lock(&metrics->mutex);
	for (int m = 0; m < MR_METRIC_COUNT; m++) {
		const struct description *d = &descriptions[m];

		mr_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", d->name, d->help, d->name,
			d->is_histogram ? "histogram" : "counter");
		for (size_t i = 0; i < metrics->len; i++) {
			const struct series *s = &metrics->series[i];

			if ((int)s->metric != m)
				continue;
			if (d->is_histogram) {
				put_histogram(out, s);
			} else {
				put_name(out, s, "", NULL);
				mr_buf_printf(out, "%llu\n", (unsigned long long)s->count);
			}
		}
	}
	pthread_mutex_unlock(&metrics->mutex);
}
