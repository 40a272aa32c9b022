/* op/grid.h - cells in columns that fit the terminal, cut with an ellipsis where they must be. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* How a result is displayed. */
struct mr_render {
	bool colour;
	size_t width;   /* columns of the terminal; 0 when there is none: nothing is shortened */
	int64_t now_us; /* for "3 min ago"; 0: times are written out */
	/* A client's model reads it, which gives arguments, not options. */
	bool for_models;
};

struct mr_grid_column {
	const char *title;
	bool right; /* numbers stand at the right */
	bool fixed; /* never cut */
};

struct mr_grid {
	const struct mr_grid_column *columns;
	size_t column_count;
	const char *const *cells;  /* row after row; one line each, harmless */
	const char *const *styles; /* of each row, for a terminal in colour; NULL, or NULL inside */
	size_t rows;
};

/* False, with nothing written, when the terminal is too narrow to show a part of every column. */
bool mr_grid_put(struct mr_buf *out, const struct mr_grid *grid, const struct mr_render *how,
	size_t indent);
