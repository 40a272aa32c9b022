/*
 * op/render.c - Shows any result on a terminal as aligned text or tables, with control characters
 * replaced.
 */
#include "op/render.h"
#include "text/time.h"

#include "base/utf8.h"
#include "op/grid.h"
#include "text/json.h"

#include <string.h>

enum { INDENT = 2, GAP = 2, CELL_MAX_WITHOUT_TERMINAL = 1 << 20 };

static const char dim[] = "\033[2m";
static const char plain[] = "\033[0m";

static void render(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how,
	size_t indent);

/* C0, DEL and C1 could drive the terminal; bidirectional controls could reorder what is read. */
static bool is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x202a && c <= 0x202e) ||
		(c >= 0x2066 && c <= 0x2069);
}

static void put_safe(struct mr_buf *out, const char *text, size_t len, bool one_line)
{
	for (size_t at = 0; at < len;) {
		uint32_t c = 0xfffd;
		size_t n = mr_utf8_next(text + at, len - at, &c);

		if (!one_line && (c == '\n' || c == '\t'))
			mr_buf_putc(out, (char)c);
		else if (c == '\n' || c == '\t')
			mr_buf_putc(out, ' ');
		else if (is_harmful(c))
			mr_buf_put_utf8(out, 0xfffd);
		else
			mr_buf_put_utf8(out, c);
		at += n ? n : 1;
	}
}

void mr_render_text(struct mr_buf *out, const char *text)
{
	put_safe(out, text, strlen(text), false);
}

const char *mr_render_line(struct mr_arena *arena, const char *text)
{
	struct mr_buf line MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&line, CELL_MAX_WITHOUT_TERMINAL);
	put_safe(&line, text, strlen(text), true);
	return mr_arena_strdup(arena, mr_buf_text(&line));
}

static bool is_flat(const struct mr_value *value)
{
	return value->kind != MR_LIST && value->kind != MR_MAP;
}

/* A value in one line, as a cell or after a key. */
static void put_inline(struct mr_buf *out, const struct mr_value *value)
{
	struct mr_json_writer json;

	switch (value->kind) {
	case MR_NULL:
		mr_buf_putc(out, '-');
		break;
	case MR_BOOL:
		mr_buf_puts(out, value->boolean ? "yes" : "no");
		break;
	case MR_TEXT:
		put_safe(out, value->text, strlen(value->text), true);
		break;
	case MR_LIST:
		if (value->list.len == 0)
			mr_buf_putc(out, '-');
		for (size_t i = 0; i < value->list.len; i++) {
			if (i)
				mr_buf_puts(out, ", ");
			put_inline(out, &value->list.items[i]);
		}
		break;
	case MR_INT:
	case MR_FLOAT:
	case MR_MAP:
		mr_json_init(&json, out, MR_JSON_SPACED);
		mr_json_value(&json, value);
		break;
	}
}

static void put_styled(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text)
{
	if (how->colour)
		mr_buf_puts(out, style);
	put_safe(out, text, strlen(text), true);
	if (how->colour)
		mr_buf_puts(out, plain);
}

static size_t width_of(const char *text)
{
	return mr_utf8_width(text, strlen(text));
}

/* Names are written with underscores; people read blanks. */
static char *title_of(struct mr_arena *arena, const char *key)
{
	char *title = mr_arena_strdup(arena, key);

	for (char *c = title; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return title;
}

struct table {
	struct mr_arena *arena;
	const char **keys;
	const char **cells; /* row after row */
	struct mr_grid_column *columns;
	size_t rows, column_count;
};

static bool has_key(const struct table *t, const char *key)
{
	for (size_t i = 0; i < t->column_count; i++) {
		if (strcmp(t->keys[i], key) == 0)
			return true;
	}
	return false;
}

/* The columns are the members of all rows, in the order they first appear. */
static void find_columns(struct table *t, const struct mr_value *list)
{
	size_t most = 0;

	for (size_t r = 0; r < list->list.len; r++)
		most += list->list.items[r].map.len;
	t->keys = mr_arena_array(t->arena, most, sizeof(*t->keys));
	for (size_t r = 0; r < list->list.len; r++) {
		const struct mr_value *row = &list->list.items[r];

		for (size_t i = 0; i < row->map.len; i++) {
			if (!has_key(t, row->map.pairs[i].key))
				t->keys[t->column_count++] = row->map.pairs[i].key;
		}
	}
	t->columns = mr_arena_array(t->arena, t->column_count, sizeof(*t->columns));
	for (size_t c = 0; c < t->column_count; c++)
		t->columns[c].title = title_of(t->arena, t->keys[c]);
}

/* A time for a person who looks now, by the name of its member; NULL when it is none. */
static const char *time_text(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const struct mr_render *how)
{
	const char *when;

	if (!how->now_us || !(mr_str_ends(key, "_ts") || mr_str_ends(key, "_at")))
		return NULL;
	when = mr_render_when(arena, map, key, how);
	return mr_str_eq(when, "-") ? NULL : when;
}

static const char *cell_text(struct mr_arena *arena, const struct mr_value *row, const char *key,
	const struct mr_render *how)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *value = mr_value_get(row, key);
	const char *when = time_text(arena, row, key, how);

	mr_buf_init(&buf, CELL_MAX_WITHOUT_TERMINAL);
	if (when)
		return when;
	if (value)
		put_inline(&buf, value);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void fill_cells(struct table *t, const struct mr_value *list, const struct mr_render *how)
{
	t->rows = list->list.len;
	t->cells = mr_arena_array(t->arena, t->rows * t->column_count, sizeof(*t->cells));
	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->column_count; c++)
			t->cells[r * t->column_count + c] =
				cell_text(t->arena, &list->list.items[r], t->keys[c], how);
	}
}

/* Would a terminal show less than half of it? */
static bool is_too_wide(const struct table *t, const struct mr_render *how)
{
	size_t total = 0;

	for (size_t c = 0; c < t->column_count; c++) {
		size_t widest = width_of(t->columns[c].title);

		for (size_t r = 0; r < t->rows; r++) {
			size_t width = width_of(t->cells[r * t->column_count + c]);

			widest = width > widest ? width : widest;
		}
		total += widest + GAP;
	}
	return how->width && total > 2 * how->width;
}

/* One below the other, for rows with more to say than a line holds. */
static void render_records(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how, size_t indent)
{
	for (size_t i = 0; i < list->list.len; i++) {
		if (i)
			mr_buf_putc(out, '\n');
		render(out, &list->list.items[i], how, indent);
	}
}

static void render_table(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how, size_t indent)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct table t = { .arena = arena };
	struct mr_grid grid;

	find_columns(&t, list);
	fill_cells(&t, list, how);
	grid = (struct mr_grid){ .columns = t.columns,
		.column_count = t.column_count,
		.cells = t.cells,
		.rows = t.rows };
	if (is_too_wide(&t, how) || !mr_grid_put(out, &grid, how, indent))
		render_records(out, list, how, indent);
}

static bool is_table(const struct mr_value *list)
{
	for (size_t i = 0; i < list->list.len; i++) {
		if (list->list.items[i].kind != MR_MAP)
			return false;
	}
	return list->list.len > 0;
}

static bool all_flat(const struct mr_value *list)
{
	for (size_t i = 0; i < list->list.len; i++) {
		if (!is_flat(&list->list.items[i]))
			return false;
	}
	return true;
}

static void render_list(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how, size_t indent)
{
	if (is_table(list)) {
		render_table(out, list, how, indent);
		return;
	}
	for (size_t i = 0; i < list->list.len; i++)
		render(out, &list->list.items[i], how, indent);
}

/* A text of several lines stands below its key, indented. */
static void put_block(struct mr_buf *out, const char *text, size_t indent)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		mr_buf_pad(out, ' ', indent);
		put_safe(out, text, len, true);
		mr_buf_putc(out, '\n');
		text += len + (text[len] == '\n');
	}
}

static void render_map(struct mr_buf *out, const struct mr_value *map, const struct mr_render *how,
	size_t indent)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t widest = 0;

	for (size_t i = 0; i < map->map.len; i++) {
		size_t width = width_of(map->map.pairs[i].key);

		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; i < map->map.len; i++) {
		const struct mr_value *value = &map->map.pairs[i].value;
		const char *title = title_of(arena, map->map.pairs[i].key);
		const char *when;
		bool block = value->kind == MR_TEXT && strchr(value->text, '\n');

		mr_buf_pad(out, ' ', indent);
		put_styled(out, how, dim, title);
		if (block || (value->kind == MR_MAP && value->map.len) ||
			(value->kind == MR_LIST && !all_flat(value))) {
			mr_buf_putc(out, '\n');
			if (block)
				put_block(out, value->text, indent + INDENT);
			else
				render(out, value, how, indent + INDENT);
			continue;
		}
		mr_buf_pad(out, ' ', widest - width_of(title) + GAP);
		when = time_text(arena, map, map->map.pairs[i].key, how);
		if (when)
			mr_buf_puts(out, when);
		else
			put_inline(out, value);
		mr_buf_putc(out, '\n');
	}
}

static void render(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how,
	size_t indent)
{
	if (value->kind == MR_MAP) {
		render_map(out, value, how, indent);
	} else if (value->kind == MR_LIST) {
		render_list(out, value, how, indent);
	} else {
		mr_buf_pad(out, ' ', indent);
		put_inline(out, value);
		mr_buf_putc(out, '\n');
	}
}

void mr_render_value(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	render(out, value, how, 0);
}

const char *mr_render_when(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const struct mr_render *how)
{
	const struct mr_value *value = mr_value_get(map, key);
	int64_t time_us = 0;
	const char *text;
	struct mr_err err;

	if (!value || value->kind != MR_TEXT ||
		mr_time_parse(value->text, MR_TIME_LENIENT, &time_us, &err))
		return "-";
	if (how->now_us)
		return mr_time_ago(arena, time_us, how->now_us);
	text = mr_time_format(arena, time_us, MR_TIME_SECONDS);
	return mr_arena_printf(arena, "%.10s %.5s UTC", text, text + 11);
}
