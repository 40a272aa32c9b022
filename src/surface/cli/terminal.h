/* surface/cli/terminal.h - whether output goes to a terminal, its width, and its colours. */
#pragma once

#include "base/clock.h"
#include "op/render.h"

/*
 * How to write to descriptor `fd`: colour only on a terminal that is not "dumb" and never with
 * NO_COLOR; the width is the terminal's, 0 without one.
 */
struct mr_render mr_terminal_style(int fd);
/* Write all of it; false when the reader is gone. */
bool mr_terminal_write(int fd, struct mr_bytes data);
/* Put a yes/no question on the terminal; no without one. For mr_call.confirm. */
bool mr_terminal_confirm(void *arg, const char *question);
/* Put a question on the terminal and read one line, without an echo when it is secret; NULL at its
 * end, and after Ctrl-C. Only where mr_terminal_can_ask(). For mr_call.ask. */
const char *mr_terminal_ask(struct mr_arena *arena, const char *question, bool is_secret);
/* Are standard input and standard error a terminal? */
bool mr_terminal_can_ask(void);

/* How far long work is, on one line of standard error that rewrites itself. For mr_ctx.progress;
 * `arg` is a struct mr_terminal_progress. Nothing is written where standard error is no terminal.
 */
struct mr_terminal_progress {
	const struct mr_clock *clock;
	int64_t shown_us; /* when the line was last written; 0 before the first time */
};
void mr_terminal_progress(void *arg, const char *what, size_t done, size_t total);
/* Clear the line. */
void mr_terminal_progress_end(struct mr_terminal_progress *progress);
