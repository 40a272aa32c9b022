/* op/grid.c - Formats rows of cells as columns that fit the width of the terminal. */
#include "op/grid.h"

#include "base/arena.h"
#include "base/utf8.h"

#include <string.h>

enum { GAP = 2, CELL_MIN = 12 };

static size_t width_of(const char *text)
{
	return mr_utf8_width(text, strlen(text));
}

static size_t *widths_of(struct mr_arena *arena, const struct mr_grid *grid)
{
	size_t *widths = mr_arena_array(arena, grid->column_count, sizeof(*widths));

	for (size_t c = 0; c < grid->column_count; c++) {
		widths[c] = width_of(grid->columns[c].title);
		for (size_t r = 0; r < grid->rows; r++) {
			size_t width = width_of(grid->cells[r * grid->column_count + c]);

			widths[c] = width > widths[c] ? width : widths[c];
		}
	}
	return widths;
}

/* Take from the widest column until the row fits; false when that would leave too little. */
static bool fit(const struct mr_grid *grid, size_t *widths, size_t room)
{
	for (;;) {
		size_t total = 0;
		size_t widest = grid->column_count;

		for (size_t c = 0; c < grid->column_count; c++) {
			total += widths[c] + GAP;
			if (grid->columns[c].fixed)
				continue;
			if (widest == grid->column_count || widths[c] > widths[widest])
				widest = c;
		}
		if (total <= room + GAP)
			return true;
		if (widest == grid->column_count || widths[widest] <= CELL_MIN)
			return false;
		widths[widest]--;
	}
}

static void put_cell(struct mr_buf *out, const char *text, size_t width, bool right, bool last)
{
	size_t len = strlen(text);
	size_t have = mr_utf8_width(text, len);

	if (have > width) {
		len = mr_utf8_fit(text, len, width - 1);
		have = mr_utf8_width(text, len) + 1;
		mr_buf_add(out, text, len);
		mr_buf_put_utf8(out, 0x2026);
	} else {
		if (right)
			mr_buf_pad(out, ' ', width - have);
		mr_buf_add(out, text, len);
		have = right ? width : have;
	}
	if (!last)
		mr_buf_pad(out, ' ', width - have + GAP);
}

static void put_row(struct mr_buf *out, const struct mr_grid *grid, const size_t *widths,
	const char *const *cells, const char *style)
{
	if (style)
		mr_buf_puts(out, style);
	for (size_t c = 0; c < grid->column_count; c++)
		put_cell(out, cells ? cells[c] : grid->columns[c].title, widths[c],
			grid->columns[c].right, c + 1 == grid->column_count);
	if (style)
		mr_buf_puts(out, "\033[0m");
	mr_buf_putc(out, '\n');
}

bool mr_grid_put(struct mr_buf *out, const struct mr_grid *grid, const struct mr_render *how,
	size_t indent)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t *widths = widths_of(arena, grid);

	if (how->width > indent && !fit(grid, widths, how->width - indent))
		return false;
	mr_buf_pad(out, ' ', indent);
	put_row(out, grid, widths, NULL, how->colour ? "\033[1m" : NULL);
	for (size_t r = 0; r < grid->rows; r++) {
		const char *style = how->colour && grid->styles ? grid->styles[r] : NULL;

		mr_buf_pad(out, ' ', indent);
		put_row(out, grid, widths, &grid->cells[r * grid->column_count], style);
	}
	return true;
}
