/* tests/unit/net/test_otlp.c */
#include "net/otlp.h"

#include "test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static void parents_are_taken_apart(void)
{
	static const char *const bad[] = { NULL, "", "00", "00-" TRACE "-" PARENT,
		"00-" TRACE "-" PARENT "-1", "00-" TRACE "-" PARENT "-01-x",
		"ff-" TRACE "-" PARENT "-01", "00-00000000000000000000000000000000-" PARENT "-01",
		"00-" TRACE "-0000000000000000-01",
		"00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01", "00_" TRACE "-" PARENT "-01",
		"01-" TRACE "-" PARENT "-01x" };
	struct mr_otlp_parent parent;

	for (size_t i = 0; i < MR_LEN(bad); i++)
		CHECK(!mr_otlp_parent_parse(bad[i], &parent));
	CHECK(mr_otlp_parent_parse("00-" TRACE "-" PARENT "-01", &parent));
	CHECK_STR(parent.trace, TRACE);
	CHECK_STR(parent.span, PARENT);
	CHECK(parent.is_sampled);
	CHECK(mr_otlp_parent_parse("00-" TRACE "-" PARENT "-00", &parent) && !parent.is_sampled);
	CHECK(mr_otlp_parent_parse("42-" TRACE "-" PARENT "-03-later", &parent) &&
		parent.is_sampled);
}

static int listen_on(int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 8) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* One request, whole, answered with this status. */
static void answer_one(int listener, const char *status, char *request, size_t size)
{
	int fd = accept(listener, NULL, NULL);
	size_t len = 0;
	ssize_t n;

	CHECK(fd >= 0);
	request[0] = '\0';
	while (!strstr(request, "]}]}]}") && (n = recv(fd, request + len, size - len - 1, 0)) > 0) {
		len += (size_t)n;
		request[len] = '\0';
	}
	dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status);
	close(fd);
}

static struct mr_otlp *begin(int port)
{
	struct mr_otlp *otlp = mr_otlp_new();
	char url[64];
	struct mr_otlp_config config = { .endpoint = url,
		.headers = "a=1,b=x=y",
		.service = "me \"too\"",
		.interval_ms = 20,
		.rand = mr_rand_system() };
	struct mr_err err;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/base/", port);
	CHECK_OK(mr_otlp_begin(otlp, &config, &err), err);
	return otlp;
}

static void spans_are_sent(void)
{
	static const struct mr_otlp_attribute attributes[] = { { .key = "k", .text = "v\n" },
		{ .key = "n", .number = -7 } };
	struct mr_otlp_span span = { .name = "send",
		.traceparent = "00-" TRACE "-" PARENT "-01",
		.begun_us = 1773202500000000,
		.ended_us = 1773202500000005,
		.error = "no",
		.attributes = attributes,
		.attribute_count = 2 };
	struct mr_otlp_stats stats;
	char request[8192];
	int port, listener = listen_on(&port);
	struct mr_otlp *otlp = begin(port);

	mr_otlp_add(otlp, &span);
	span.traceparent = "00-" TRACE "-" PARENT "-00"; /* does not want it */
	mr_otlp_add(otlp, &span);
	answer_one(listener, "200 OK", request, sizeof(request));
	CHECK(strstr(request, "POST /base/v1/traces HTTP/1.1\r\n"));
	CHECK(strstr(request, "\r\na: 1\r\n") && strstr(request, "\r\nb: x=y\r\n"));
	CHECK(strstr(request,
		"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"me "
		"\\\"too\\\"\"}}"));
	CHECK(strstr(request, "{\"traceId\":\"" TRACE "\",\"spanId\":\""));
	CHECK(strstr(request,
		"\"parentSpanId\":\"" PARENT "\",\"name\":\"send\",\"kind\":2,"
		"\"startTimeUnixNano\":\"1773202500000000000\","
		"\"endTimeUnixNano\":\"1773202500000005000\",\"attributes\":["
		"{\"key\":\"k\",\"value\":{\"stringValue\":\"v\\n\"}},"
		"{\"key\":\"n\",\"value\":{\"intValue\":\"-7\"}}],"
		"\"status\":{\"code\":2,\"message\":\"no\"}}]}]}]}"));
	CHECK(!strstr(request, "}},{\"traceId\""));
	do
		mr_otlp_stats(otlp, &stats);
	while (stats.sent + stats.dropped == 0);
	CHECK_INT(stats.sent, 1);
	mr_otlp_free(otlp);
	close(listener);
}

static void nobody_waits_for_a_collector(void)
{
	struct mr_otlp_span span = { .name = "x", .begun_us = 1, .ended_us = 2 };
	struct mr_otlp_stats stats;
	int port, listener = listen_on(&port);
	struct mr_otlp *otlp = begin(port);

	/* It accepts nothing: what is too much is dropped at once. */
	for (int i = 0; i < 20000; i++)
		mr_otlp_add(otlp, &span);
	mr_otlp_stats(otlp, &stats);
	CHECK(stats.dropped > 0 && stats.sent == 0);
	close(listener); /* and now it is gone, so the end does not take long */
	mr_otlp_free(otlp);
}

static void what_is_wrong_is_told(void)
{
	struct mr_otlp *otlp MR_CLEANUP(mr_otlp_freep) = mr_otlp_new();
	struct mr_otlp_config config = { .endpoint = "collector:4318",
		.headers = "",
		.service = "s",
		.rand = mr_rand_system() };
	struct mr_err err;

	CHECK_INT(mr_otlp_begin(otlp, &config, &err), MR_EINVAL);
	CHECK_STR(err.msg, "otel.endpoint must begin with http:// or https://");
	config.endpoint = "http://h";
	config.headers = "no equals";
	CHECK_INT(mr_otlp_begin(otlp, &config, &err), MR_EINVAL);
	CHECK_STR(err.msg, "otel.headers must be name=value, with commas between");
	/* Not begun, nothing happens. */
	mr_otlp_add(otlp, &(struct mr_otlp_span){ .name = "x" });
	mr_otlp_add(NULL, &(struct mr_otlp_span){ .name = "x" });
}

int main(void)
{
	static const struct test tests[] = {
		TEST(parents_are_taken_apart),
		TEST(spans_are_sent),
		TEST(nobody_waits_for_a_collector),
		TEST(what_is_wrong_is_told),
	};

	return test_main(tests, MR_LEN(tests));
}
