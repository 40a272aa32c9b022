/* workspace/view_private.h - pieces of contexts that several views share. */
#pragma once

#include "text/out.h"
#include "workspace/view.h"

/* The row of a message in an index: {message, view} and, of a category, {item}. `link` leads to its
 * view; `item` may be NULL. */
void mr_work_row_emit(struct mr_ctx *cx, const struct mr_work_config *config, struct mr_out *out,
	const struct mr_work_record *record, const struct mr_work_item *item, const char *link,
	bool with_case_fields);
/* "received" or "sent". */
bool mr_work_record_is_sent(const struct mr_work_record *record);
/* The time that counts, RFC 3339; "" when unknown. */
const char *mr_work_record_time(const struct mr_work_record *record);
/* One line: line ends become blanks, and characters that are not seen are dropped. */
const char *mr_work_inline(struct mr_arena *arena, const char *text);
/* The same for the cell of a table. */
const char *mr_work_cell(struct mr_arena *arena, const char *text);
