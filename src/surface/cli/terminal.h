/* surface/cli/terminal.h - who reads the output: a terminal, how wide, in colour? */
#pragma once

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
