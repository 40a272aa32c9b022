/*
 * text/glob_overlap.c - decides whether two patterns can match a common path.
 *
 * Both patterns are lists in which some places loop ("**" among segments, "*" among characters) and
 * the others take exactly one thing. Walk both at once over a grid: cell (i, j) is reached when
 * some text leads through the first i places of one and the first j of the other. All moves go
 * right or down, so two rows are enough, and each cell is looked at once. Segments are walked like
 * this, and to know whether two of them have a name in common, their characters are.
 */
#include "text/glob_private.h"

#include <assert.h>
#include <string.h>

static bool sets_meet(const struct mr_glob_elem *a, const struct mr_glob_elem *b)
{
	for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
		if (a->ranges[i].last < b->ranges[j].first)
			i++;
		else if (b->ranges[j].last < a->ranges[i].first)
			j++;
		else
			return true;
	}
	return false;
}

/* The cells that a reached one leads to; `meet` says that the places have something in common. */
static void move(bool a_loops, bool b_loops, bool meet, bool *right, bool *down, bool *across)
{
	/* A loop may end here, or take what the other one takes. */
	if (a_loops || (b_loops && meet))
		*down = true;
	if (b_loops || (a_loops && meet))
		*right = true;
	if (!a_loops && !b_loops && meet)
		*across = true;
}

static bool elems_meet(const struct mr_glob_segment *a, const struct mr_glob_segment *b)
{
	bool rows[2][MR_GLOB_ELEMS_ROOM] = { { true } };

	for (size_t i = 0; i < a->len; i++) {
		bool *row = rows[i % 2];
		bool *below = rows[(i + 1) % 2];
		const struct mr_glob_elem *x = &a->elems[i];
		bool alive = false;

		memset(below, 0, (b->len + 1) * sizeof(*below));
		for (size_t j = 0; j < b->len; j++) {
			const struct mr_glob_elem *y = &b->elems[j];

			if (!row[j])
				continue;
			alive = true;
			move(x->star, y->star, sets_meet(x, y), &row[j + 1], &below[j],
				&below[j + 1]);
		}
		if (row[b->len] && x->star)
			below[b->len] = true;
		else if (!alive)
			return false;
	}

	bool *row = rows[a->len % 2];

	for (size_t j = 0; j < b->len; j++) {
		if (row[j] && b->elems[j].star)
			row[j + 1] = true;
	}
	return row[b->len];
}

static bool segments_meet(const struct mr_glob_segment *a, const struct mr_glob_segment *b)
{
	if (a->deep || b->deep)
		return (a->deep || a->possible) && (b->deep || b->possible);
	if (a->literal && b->literal)
		return a->literal_len == b->literal_len &&
			memcmp(a->literal, b->literal, a->literal_len) == 0;
	return elems_meet(a, b);
}

static bool alternatives_meet(const struct mr_glob_alternative *a,
	const struct mr_glob_alternative *b)
{
	bool rows[2][MR_GLOB_SEGMENTS_ROOM + 1] = { { true } };

	for (size_t i = 0; i < a->len; i++) {
		bool *row = rows[i % 2];
		bool *below = rows[(i + 1) % 2];
		const struct mr_glob_segment *x = &a->segments[i];
		bool alive = false;

		memset(below, 0, (b->len + 1) * sizeof(*below));
		for (size_t j = 0; j < b->len; j++) {
			const struct mr_glob_segment *y = &b->segments[j];

			if (!row[j])
				continue;
			alive = true;
			move(x->deep, y->deep, segments_meet(x, y), &row[j + 1], &below[j],
				&below[j + 1]);
		}
		if (row[b->len] && x->deep)
			below[b->len] = true;
		else if (!alive)
			return false;
	}

	bool *row = rows[a->len % 2];

	for (size_t j = 0; j < b->len; j++) {
		if (row[j] && b->segments[j].deep)
			row[j + 1] = true;
	}
	return row[b->len];
}

bool mr_glob_overlaps(const struct mr_glob *a, const struct mr_glob *b)
{
	assert(a->cross == b->cross);
	if (!mr_glob_prefixes_meet(a->prefix, b->prefix))
		return false;
	for (size_t i = 0; i < a->len; i++) {
		for (size_t j = 0; j < b->len; j++) {
			/* A directory that is asked for has something below it, which the other
			 * alternative of the same line stands for. */
			if (a->alternatives[i].directories_only ||
				b->alternatives[j].directories_only)
				continue;
			if (alternatives_meet(&a->alternatives[i], &b->alternatives[j]))
				return true;
		}
	}
	return false;
}
