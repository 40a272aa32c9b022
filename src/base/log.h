/*
 * base/log.h - events, one JSON object per line, to one sink set at start.
 *
 * The only global of the program. Workers, op/dispatch.c, surfaces and main.c log; everything below
 * may log at debug only. Never log secrets or message bodies.
 */
#pragma once

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mr_log_level { MR_LOG_DEBUG, MR_LOG_INFO, MR_LOG_WARN, MR_LOG_ERROR, MR_LOG_OFF };

/* A named value; `text` wins when it is not NULL. */
struct mr_log_field {
	const char *key;
	const char *text;
	int64_t number;
};

/* Gets one whole line, newline included; called under the log's lock. */
typedef void mr_log_sink(void *arg, const char *line, size_t len);

/* Until called, nothing is logged. A NULL sink means standard error. */
void mr_log_start(enum mr_log_level level, mr_log_sink *sink, void *arg);
/* debug, info, warning or warn, error, off, in any case. */
bool mr_log_level_parse(const char *name, enum mr_log_level *out);
/* Is this level written at all? Spares the work of building fields. */
bool mr_log_wants(enum mr_log_level level);

/* {"ts":"...Z","level":"info","event":"...","msg":"..."}; an empty `fmt` leaves msg out. */
void mr_log(enum mr_log_level level, const char *event, const char *fmt, ...) MR_PRINTF(3, 4);
/* The same with fields in place of the message. */
void mr_log_fields(enum mr_log_level level, const char *event, const struct mr_log_field *fields,
	size_t count);
