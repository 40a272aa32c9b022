/* tests/unit/app/test_metrics.c */
#include "app/metrics.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void writes_prometheus_text(void)
{
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = mr_metrics_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 20);
	mr_metrics_count(metrics, MR_METRIC_HTTP_REQUESTS, "/a\"\\\n", "200", 2);
	mr_metrics_count(metrics, MR_METRIC_HTTP_REQUESTS, "/a\"\\\n", "200", 1);
	mr_metrics_observe(metrics, MR_METRIC_HTTP_SECONDS, "/a", 0.002);
	mr_metrics_observe(metrics, MR_METRIC_HTTP_SECONDS, "/a", 100);
	mr_metrics_write(metrics, &text);
	CHECK(strstr(mr_buf_text(&text),
		"# TYPE mailroom_http_requests_total counter\n"
		"mailroom_http_requests_total{route=\"/a\\\"\\\\\\n\","
		"status=\"200\"} 3\n"));
	CHECK(strstr(mr_buf_text(&text), "# TYPE mailroom_http_request_seconds histogram\n"));
	CHECK(strstr(mr_buf_text(&text),
		"mailroom_http_request_seconds_bucket{route=\"/a\",le=\"0.001\"} 0\n"));
	CHECK(strstr(mr_buf_text(&text),
		"mailroom_http_request_seconds_bucket{route=\"/a\",le=\"0.005\"} 1\n"));
	CHECK(strstr(mr_buf_text(&text),
		"mailroom_http_request_seconds_bucket{route=\"/a\",le=\"5\"} 1\n"));
	CHECK(strstr(mr_buf_text(&text),
		"mailroom_http_request_seconds_bucket{route=\"/a\",le=\"+Inf\"} 2\n"
		"mailroom_http_request_seconds_sum{route=\"/a\"} 100.002\n"
		"mailroom_http_request_seconds_count{route=\"/a\"} 2\n"));
}

static void what_has_no_labels_is_always_there(void)
{
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = mr_metrics_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 20);
	mr_metrics_write(metrics, &text);
	CHECK(strstr(mr_buf_text(&text), "\nmailroom_sqlite_busy_total 0\n"));
	CHECK(strstr(mr_buf_text(&text),
		"# TYPE mailroom_reservations_active gauge\nmailroom_reservations_active 0\n"));
	CHECK(strstr(mr_buf_text(&text), "\nmailroom_git_commit_seconds_bucket{le=\"0.5\"} 0\n"));
	CHECK(strstr(mr_buf_text(&text), "\nmailroom_git_commit_seconds_count 0\n"));
	CHECK(!strstr(mr_buf_text(&text), "\nmailroom_rate_limited_total{"));
	mr_metrics_set(metrics, MR_METRIC_RESERVATIONS, NULL, 7);
	mr_metrics_set(metrics, MR_METRIC_RESERVATIONS, NULL, 3);
	mr_metrics_count(metrics, MR_METRIC_RATE_LIMITED, "tools", NULL, 2);
	mr_buf_clear(&text);
	mr_metrics_write(metrics, &text);
	CHECK(strstr(mr_buf_text(&text), "\nmailroom_reservations_active 3\n"));
	CHECK(strstr(mr_buf_text(&text), "\nmailroom_rate_limited_total{kind=\"tools\"} 2\n"));
}

static void the_number_of_series_is_bounded(void)
{
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = mr_metrics_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	char label[32];

	mr_buf_init(&text, 16 << 20);
	for (int i = 0; i < 2000; i++) {
		snprintf(label, sizeof(label), "tool%d", i);
		mr_metrics_count(metrics, MR_METRIC_TOOL_CALLS, label, "ok", 1);
		mr_metrics_observe(metrics, MR_METRIC_TOOL_SECONDS, label, 0.1);
	}
	mr_metrics_write(metrics, &text);
	CHECK(strstr(mr_buf_text(&text), "{tool=\"tool0\",status=\"ok\"} 1\n"));
	CHECK(!strstr(mr_buf_text(&text), "tool1999"));
	CHECK(strstr(mr_buf_text(&text), "{tool=\"other\",status=\"other\"} "));
	CHECK(strstr(mr_buf_text(&text), "_count{tool=\"other\"} "));
}

static void counters_can_be_asked(void)
{
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = mr_metrics_new();

	mr_metrics_count(metrics, MR_METRIC_TOOL_CALLS, "t", "ok", 3);
	CHECK_INT(mr_metrics_counted(metrics, MR_METRIC_TOOL_CALLS, "t", "ok"), 3);
	CHECK_INT(mr_metrics_counted(metrics, MR_METRIC_TOOL_CALLS, "t", "error"), 0);
	CHECK_INT(mr_metrics_counted(metrics, MR_METRIC_TOOL_CALLS, "u", "ok"), 0);
}

static void *count_many(void *arg)
{
	for (int i = 0; i < 10000; i++)
		mr_metrics_count(arg, MR_METRIC_TOOL_CALLS, "t", "ok", 1);
	return NULL;
}

static void threads_lose_nothing(void)
{
	struct mr_metrics *metrics MR_CLEANUP(mr_metrics_freep) = mr_metrics_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	pthread_t threads[4];

	mr_buf_init(&text, 1 << 20);
	for (size_t i = 0; i < MR_LEN(threads); i++)
		CHECK(pthread_create(&threads[i], NULL, count_many, metrics) == 0);
	for (size_t i = 0; i < MR_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	mr_metrics_write(metrics, &text);
	CHECK(strstr(mr_buf_text(&text), "{tool=\"t\",status=\"ok\"} 40000\n"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(writes_prometheus_text),
		TEST(what_has_no_labels_is_always_there),
		TEST(the_number_of_series_is_bounded),
		TEST(counters_can_be_asked),
		TEST(threads_lose_nothing),
	};

	return test_main(tests, MR_LEN(tests));
}
