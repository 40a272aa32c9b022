/*
 * op/render.h - a result as people read it: members aligned, lists of objects as tables, colour
 * only where the caller found a terminal that wants it. Foreign text is made harmless: control
 * characters never reach the terminal.
 */
#pragma once

#include "base/buf.h"
#include "text/value.h"

struct mr_render {
	bool colour;
	size_t width; /* columns of the terminal; 0 when there is none: nothing is shortened */
};

void mr_render_value(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
/* Text with control characters replaced; for messages that carry foreign text. */
void mr_render_text(struct mr_buf *out, const char *text);
