/* op/work/render_page.h - what the workspace's renderers share: pages, counts and the queue. */
#pragma once

#include "op/render.h"

/* A page of the workspace, which is Markdown, without the marks that only programs need. */
void mr_page_put(struct mr_buf *out, const char *text, const struct mr_render *how);
/* "1 message", "3 messages": the number in a member. */
const char *mr_page_count(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const char *one, const char *many);
/* A line about what is queued for the server and how to look at it; nothing when nothing is. */
void mr_page_queued(struct mr_buf *out, const struct mr_value *value);
/* "Where         cases/open/c20260101001-x" */
void mr_page_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text);
/* Lines about documents that cannot be read, from the member invalid_paths. */
void mr_page_invalid(struct mr_buf *out, const struct mr_value *value);
/* The text of a member as it is; "" when there is none. */
const char *mr_page_text(const struct mr_value *map, const char *key);
