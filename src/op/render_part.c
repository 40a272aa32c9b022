/*
 * op/render_part.c - Helpers shared by the renderers: reading members of a result, applying
 * styles, and drawing tables.
 */
#include "op/render_part.h"

#include <string.h>

const char mr_style_bold[] = "\033[1m";
const char mr_style_dim[] = "\033[2m";
const char mr_style_red[] = "\033[31m";
const char mr_style_bold_red[] = "\033[1;31m";
const char mr_style_yellow[] = "\033[33m";

static const char plain[] = "\033[0m";

const char *mr_part_line(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? mr_render_line(arena, value->text) : "";
}

int64_t mr_part_int(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT ? value->integer : 0;
}

bool mr_part_bool(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

const struct mr_value *mr_part_list(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_LIST && value->list.len > 0 ? value : NULL;
}

const char *mr_part_names(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	const struct mr_value *list = mr_part_list(map, key);
	struct mr_texts texts = { NULL, 0 };

	if (!list)
		return "";
	texts.items = mr_arena_array(arena, list->list.len + 1, sizeof(*texts.items));
	for (size_t i = 0; i < list->list.len; i++) {
		if (list->list.items[i].kind == MR_TEXT)
			texts.items[texts.len++] = list->list.items[i].text;
	}
	return mr_render_line(arena, mr_str_join(arena, &texts, ", "));
}

const char *mr_part_number(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	return mr_arena_printf(arena, "%lld", (long long)mr_part_int(map, key));
}

void mr_part_styled(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text)
{
	if (how->colour && *text)
		mr_buf_puts(out, style);
	mr_buf_puts(out, text);
	if (how->colour && *text)
		mr_buf_puts(out, plain);
}

void mr_part_grid(struct mr_buf *out, const struct mr_grid *grid, const struct mr_value *list,
	const struct mr_render *how, size_t indent)
{
	if (!mr_grid_put(out, grid, how, indent))
		mr_render_value(out, list, how);
}

void mr_part_piece(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *line = mr_render_line(arena, mr_arena_strndup(arena, text, len));

	if (style)
		mr_part_styled(out, how, style, line);
	else
		mr_buf_puts(out, line);
}

void mr_part_snippet(struct mr_buf *out, const struct mr_render *how, const struct mr_value *hit,
	size_t indent)
{
	const struct mr_value *offsets = mr_part_list(hit, "offsets");
	const struct mr_value *snippet = mr_value_get(hit, "snippet");
	const char *text = snippet && snippet->kind == MR_TEXT ? snippet->text : "";
	size_t at = 0, len = strlen(text);

	if (len == 0)
		return;
	mr_buf_printf(out, "%*s", (int)indent, "");
	for (size_t i = 0; offsets && i < offsets->list.len; i++) {
		size_t start = (size_t)mr_part_int(&offsets->list.items[i], "start");
		size_t end = (size_t)mr_part_int(&offsets->list.items[i], "end");

		if (start < at || end < start || end > len)
			break;
		mr_part_piece(out, how, NULL, text + at, start - at);
		mr_part_piece(out, how, mr_style_bold, text + start, end - start);
		at = end;
	}
	mr_part_piece(out, how, NULL, text + at, len - at);
	mr_buf_putc(out, '\n');
}

void mr_part_next(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	int64_t next = mr_part_int(value, "next_cursor");

	if (next)
		mr_buf_printf(out, "%sThere is more: %s%lld\n", how->for_models ? "" : "\n",
			how->for_models ? "cursor=" : "--cursor ", (long long)next);
}
