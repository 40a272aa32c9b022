/* base/log.c - Writes log events as one JSON object per line to a single sink. */
#include "base/log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 8192, MSG_BYTES = 2048, EVENT_BYTES = 256 };

static struct {
	_Atomic(int) level;
	mr_log_sink *sink;
	void *arg;
	pthread_mutex_t mutex;
} the_log = { .level = MR_LOG_OFF, .mutex = PTHREAD_MUTEX_INITIALIZER };

static const char *const level_names[] = { "debug", "info", "warning", "error", "off" };

static void write_to_stderr(void *arg, const char *line, size_t len)
{
	(void)arg;
	while (len) {
		ssize_t n = write(STDERR_FILENO, line, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		line += n;
		len -= (size_t)n;
	}
}

void mr_log_start(enum mr_log_level level, mr_log_sink *sink, void *arg)
{
	pthread_mutex_lock(&the_log.mutex);
	the_log.sink = sink ? sink : write_to_stderr;
	the_log.arg = arg;
	atomic_store(&the_log.level, (int)level);
	pthread_mutex_unlock(&the_log.mutex);
}

bool mr_log_level_parse(const char *name, enum mr_log_level *out)
{
	for (size_t i = 0; i < MR_LEN(level_names); i++) {
		if (strcasecmp(name, level_names[i]) == 0) {
			*out = (enum mr_log_level)i;
			return true;
		}
	}
	if (strcasecmp(name, "warn") == 0) {
		*out = MR_LOG_WARN;
		return true;
	}
	return false;
}

bool mr_log_wants(enum mr_log_level level)
{
	return level != MR_LOG_OFF && (int)level >= atomic_load(&the_log.level);
}

static void put_member(struct mr_buf *line, const char *key, const char *text)
{
	mr_buf_printf(line, ",\"%s\":", key);
	mr_buf_put_json(line, text, strlen(text), false);
}

/* Returns the length of the head, which always fits: time, level and event. */
static size_t begin_line(struct mr_buf *line, enum mr_log_level level, const char *event)
{
	int64_t now_us = mr_clock_wall_us(mr_clock_system());
	time_t seconds = now_us / 1000000;
	struct tm tm;

	mr_buf_init(line, LINE_BYTES);
	gmtime_r(&seconds, &tm);
	mr_buf_printf(line, "{\"ts\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\",\"level\":\"%s\"",
		tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		(int)(now_us / 1000 % 1000), level_names[level]);
	put_member(line, "event", strlen(event) <= EVENT_BYTES ? event : "log_line_too_long");
	return line->len;
}

static void end_line(struct mr_buf *line, size_t head)
{
	mr_buf_puts(line, "}\n");
	if (line->failed) {
		/* Too long to be one whole object: say so rather than write half of one. */
		line->failed = false;
		line->len = head;
		mr_buf_puts(line, ",\"msg\":\"too long to be logged\"}\n");
	}
	pthread_mutex_lock(&the_log.mutex);
	the_log.sink(the_log.arg, line->data, line->len);
	pthread_mutex_unlock(&the_log.mutex);
	mr_buf_release(line);
}

void mr_log(enum mr_log_level level, const char *event, const char *fmt, ...)
{
	char msg[MSG_BYTES];
	struct mr_buf line;
	size_t head;
	va_list ap;
	int len;

	if (!mr_log_wants(level))
		return;
	va_start(ap, fmt);
	len = vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (len >= MSG_BYTES)
		msg[mr_utf8_truncate(msg, MSG_BYTES - 1, MSG_BYTES - 1)] = '\0';
	head = begin_line(&line, level, event);
	if (*msg)
		put_member(&line, "msg", msg);
	end_line(&line, head);
}

void mr_log_fields(enum mr_log_level level, const char *event, const struct mr_log_field *fields,
	size_t count)
{
	struct mr_buf line;
	size_t head;

	if (!mr_log_wants(level))
		return;
	head = begin_line(&line, level, event);
	for (size_t i = 0; i < count; i++) {
		if (fields[i].text)
			put_member(&line, fields[i].key, fields[i].text);
		else
			mr_buf_printf(&line, ",\"%s\":%lld", fields[i].key,
				(long long)fields[i].number);
	}
	end_line(&line, head);
}
