/* surface/cli/foreground.h - what servers in the foreground have in common: their log, their
 * limits, and the signals that end them. */
#pragma once

#include "base/log.h"

#include <signal.h>

struct mr_settings;

/* Log to `sink` (base/log.h), or with NULL to standard error; take as many descriptors as the
 * system allows, and keep freed memory. */
void mr_foreground_begin(const struct mr_settings *settings, mr_log_sink *sink, void *arg);
/* Block the signals that end the server, before any thread is started: threads inherit that, so
 * that only mr_foreground_wait() gets them. */
void mr_foreground_block(sigset_t *out);
/* Until SIGTERM or SIGINT. A second one ends the process at once, as people expect. */
void mr_foreground_wait(const sigset_t *signals);
