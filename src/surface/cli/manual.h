/* surface/cli/manual.h - manual pages in the language of man(7), from the operation table. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "op/op.h"

/* The names of all pages of section 1: that of the program, and one for each first word of a
 * command, "mailroom-team". */
struct mr_texts mr_manual_pages(struct mr_arena *arena, const struct mr_op_table *table);
/* The page of this name; false when there is none. */
bool mr_manual_write(struct mr_buf *out, const struct mr_op_table *table, const char *page);
