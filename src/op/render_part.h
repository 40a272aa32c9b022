/* op/render_part.h - what the renderers share: asking a result for its members, and styles. */
#pragma once

#include "op/grid.h"
#include "op/render.h"

extern const char mr_style_bold[];
extern const char mr_style_dim[];
extern const char mr_style_red[];
extern const char mr_style_bold_red[];
extern const char mr_style_yellow[];

/* A text member in one harmless line; "" when there is none. */
const char *mr_part_line(struct mr_arena *arena, const struct mr_value *map, const char *key);
/* 0 and false when there is none. */
int64_t mr_part_int(const struct mr_value *map, const char *key);
bool mr_part_bool(const struct mr_value *map, const char *key);
/* NULL when there is none, or nothing in it. */
const struct mr_value *mr_part_list(const struct mr_value *map, const char *key);
/* The texts of a list, "A, B". */
const char *mr_part_names(struct mr_arena *arena, const struct mr_value *map, const char *key);
const char *mr_part_number(struct mr_arena *arena, const struct mr_value *map, const char *key);

/* The text in a style, where there is colour. */
void mr_part_styled(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text);
/* Some bytes of a text, in one harmless line; `style` may be NULL. */
void mr_part_piece(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text, size_t len);
/* The member "snippet" of something found as a line, with the hits that "offsets" says marked.
 * Nothing when it is empty. */
void mr_part_snippet(struct mr_buf *out, const struct mr_render *how, const struct mr_value *hit,
	size_t indent);
/* Say that there is more than the limit let through, and how to see it, where the member
 * "next_cursor" does. */
void mr_part_next(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
/* As a table, or on a terminal that is too narrow row by row as any result. */
void mr_part_grid(struct mr_buf *out, const struct mr_grid *grid, const struct mr_value *list,
	const struct mr_render *how, size_t indent);
