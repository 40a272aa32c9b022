/* team/lease/lease_index.c - reads the leases that may overlap a pattern, and compares them with
 * it. */
#include "team/lease/lease_index.h"

#include "base/utf8.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/repository.h"

#include <stdlib.h>
#include <string.h>

/* Most people who write "src/" and a star mean everything below; app/[id]/page.tsx is a file
 * name. */
static unsigned flags_of(const struct mr_team *team)
{
	unsigned flags = MR_GLOB_WIDEN | MR_GLOB_SPELLING;

	return mr_team_config(team)->fnmatch_style ? flags | MR_GLOB_CROSS : flags;
}

enum mr_code mr_team_lease_index_compile(struct mr_ctx *cx, const struct mr_team *team,
	const char *root, const char *text, struct mr_glob **out)
{
	struct mr_glob_options options = { .flags = flags_of(team),
		.root = root && *root == '/' ? root : NULL };
	struct mr_err why = { 0 };
	size_t len = strlen(text);
	size_t shown;

	if (!mr_glob_compile(cx->arena, mr_team_repository_path(cx, root, text), &options, out,
		    &why))
		return MR_OK;
	if (!mr_utf8_is_valid(text, len, &shown))
		len = shown;
	shown = mr_utf8_truncate(text, len, 100);
	return mr_team_refuse(cx, "paths", "\"%.*s%s\" cannot be reserved: %s", (int)shown, text,
		shown < len ? "…" : "", why.msg);
}

/* The directories above a path: pieces of it, not terminated. */
struct piece {
	const char *text;
	size_t len;
};

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a;
	const struct piece *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

struct pieces {
	struct piece *items;
	size_t len;
};

static void sort_pieces(struct pieces *set)
{
	size_t kept = 0;

	if (set->len == 0)
		return;
	qsort(set->items, set->len, sizeof(*set->items), compare_pieces);
	for (size_t i = 0; i < set->len; i++) {
		if (kept == 0 || compare_pieces(&set->items[i], &set->items[kept - 1]) != 0)
			set->items[kept++] = set->items[i];
	}
	set->len = kept;
}

/* The next shorter one; false when it is a single name. "" is not among them. */
static bool go_up(struct piece *piece)
{
	while (piece->len > 0 && piece->text[--piece->len] != '/')
		continue;
	return piece->len > 0;
}

/* Is one of the set strictly above? */
static bool is_covered(const struct pieces *set, struct piece piece)
{
	while (go_up(&piece)) {
		if (bsearch(&piece, set->items, set->len, sizeof(*set->items), compare_pieces))
			return true;
	}
	return false;
}

static size_t depth_of(const char *path)
{
	size_t depth = 1;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* The prefixes asked for, and everything on the way to them. */
static void lay_out(struct mr_ctx *cx, const struct mr_texts *prefixes, struct pieces *asked,
	struct pieces *way)
{
	size_t room = 0;

	for (size_t i = 0; i < prefixes->len; i++)
		room += depth_of(prefixes->items[i]);
	asked->items = mr_arena_array(cx->arena, prefixes->len, sizeof(*asked->items));
	way->items = mr_arena_array(cx->arena, room, sizeof(*way->items));
	for (size_t i = 0; i < prefixes->len; i++) {
		struct piece piece = { prefixes->items[i], strlen(prefixes->items[i]) };

		asked->items[asked->len++] = piece;
		do
			way->items[way->len++] = piece;
		while (go_up(&piece));
	}
	sort_pieces(asked);
	sort_pieces(way);
}

static enum mr_code read_rows(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const struct mr_texts *prefixes, bool rooted,
	struct mr_team_lease_rows *rows)
{
	struct pieces asked = { 0 };
	struct pieces way = { 0 };
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < prefixes->len; i++) {
		if (!*prefixes->items[i])
			return mr_team_lease_anywhere(cx, db, near, rows);
	}
	lay_out(cx, prefixes, &asked, &way);
	for (size_t i = 0; i < asked.len && !rc; i++) {
		const struct piece *piece = &asked.items[i];

		if (!is_covered(&asked, *piece))
			rc = mr_team_lease_below(cx, db, near,
				mr_arena_strndup(cx->arena, piece->text, piece->len), rows);
	}
	for (size_t i = 0; i < way.len && !rc; i++) {
		const struct piece *piece = &way.items[i];

		if (!is_covered(&asked, *piece))
			rc = mr_team_lease_at(cx, db, near,
				mr_arena_strndup(cx->arena, piece->text, piece->len), rows);
	}
	/* And leases whose pattern begins with a wildcard. */
	return rc || rooted ? rc : mr_team_lease_at(cx, db, near, "", rows);
}

static int compare_rows(const void *a, const void *b)
{
	const struct mr_team_lease_row *x = a;
	const struct mr_team_lease_row *y = b;
	int order = strcmp(x->prefix, y->prefix);

	return order ? order : (x->lease.id > y->lease.id) - (x->lease.id < y->lease.id);
}

void mr_team_lease_index_take(struct mr_ctx *cx, const struct mr_team *team,
	const struct mr_team_lease_rows *rows, struct mr_team_lease_index *out)
{
	if (rows->len > 1)
		qsort(rows->items, rows->len, sizeof(*rows->items), compare_rows);
	*out = (struct mr_team_lease_index){ .flags = flags_of(team),
		.rows = *rows,
		.max_cost = MR_TEAM_OVERLAP_COST,
		.globs = mr_arena_array(cx->arena, rows->len, sizeof(*out->globs)) };
}

enum mr_code mr_team_lease_index_read(struct mr_ctx *cx, const struct mr_team *team,
	struct mr_db *db, const struct mr_team_lease_near *near, const struct mr_texts *prefixes,
	bool rooted, struct mr_team_lease_index *out)
{
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc = read_rows(cx, db, near, prefixes, rooted, &rows);

	if (rc)
		return rc;
	if (rows.len >= MR_TEAM_LEASES_NEAR)
		return mr_team_refuse(cx, "paths",
			"others hold more than %d leases around these paths: name narrower ones",
			MR_TEAM_LEASES_NEAR);
	mr_team_lease_index_take(cx, team, &rows, out);
	return MR_OK;
}

struct finding {
	struct mr_ctx *cx;
	struct mr_team_lease_index *index;
	const struct mr_glob *glob;
	bool shared;
	size_t max;
	const struct mr_team_lease_index_hits *earlier; /* or NULL */
	struct mr_team_lease_index_hits *hits;
	size_t range; /* the pattern's range that is being searched: always in the same order */
};

/* The first row whose prefix is not before `prefix` and `more` behind it. */
static size_t lower_bound(const struct mr_team_lease_rows *rows, struct piece prefix, char more)
{
	size_t from = 0;
	size_t to = rows->len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const char *text = rows->items[middle].prefix;
		int order = strncmp(text, prefix.text, prefix.len);

		if (order == 0 && more)
			order = (unsigned char)text[prefix.len] < (unsigned char)more ? -1 : 1;
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static enum mr_code too_wide(struct mr_ctx *cx)
{
	return mr_team_refuse(cx, "paths",
		"comparing these patterns with the leases of others would take too long: ask for "
		"fewer at a time, or write them with fewer braces and wildcards");
}

static int compare_hits(const void *a, const void *b)
{
	const struct mr_team_lease_row *const *x = a;
	const struct mr_team_lease_row *const *y = b;

	return ((*x)->lease.id > (*y)->lease.id) - ((*x)->lease.id < (*y)->lease.id);
}

/* Did the earlier search compare this lease? Then `*out` is what it found. */
static bool recall(const struct finding *f, const struct mr_team_lease_row *row, bool *out)
{
	const struct mr_team_lease_index_hits *earlier = f->earlier;
	const struct mr_team_lease_row *then;
	int order;

	if (!earlier || earlier->index->rows.len == 0)
		return false;
	then = bsearch(row, earlier->index->rows.items, earlier->index->rows.len, sizeof(*row),
		compare_rows);
	/* After the database was replaced, another lease may have this id. */
	if (!then || !mr_str_eq(then->lease.path_pattern, row->lease.path_pattern))
		return false;
	*out = earlier->len > 0 &&
		bsearch(&then, earlier->items, earlier->len, sizeof(*earlier->items), compare_hits);
	if (*out || !earlier->has_more)
		return true;
	order = compare_rows(then, earlier->more);
	*out = f->range == earlier->more_range && order == 0;
	return f->range < earlier->more_range || (f->range == earlier->more_range && order <= 0);
}

/* A stored pattern that cannot be compiled (of another version) overlaps where its prefix does. */
static enum mr_code overlaps(const struct finding *f, size_t i, bool *out)
{
	struct mr_glob_options options = { .flags = f->index->flags };
	struct mr_glob **glob = &f->index->globs[i];
	struct mr_err ignored = { 0 };

	if (recall(f, &f->index->rows.items[i], out))
		return MR_OK;
	*out = true;
	if (!*glob &&
		mr_glob_compile(f->cx->arena, f->index->rows.items[i].lease.path_pattern, &options,
			glob, &ignored))
		return MR_OK;
	f->index->cost += (int64_t)(mr_glob_size(f->glob) * mr_glob_size(*glob));
	if (f->index->cost > f->index->max_cost)
		return too_wide(f->cx);
	*out = mr_glob_overlaps(f->glob, *glob);
	return MR_OK;
}

static enum mr_code look(struct finding *f, size_t from, size_t to)
{
	struct mr_team_lease_index_hits *hits = f->hits;
	enum mr_code rc = MR_OK;

	for (size_t i = from; i < to && !hits->has_more; i++) {
		const struct mr_team_lease_row *row = &f->index->rows.items[i];
		bool hit = false;

		if (f->shared && !row->lease.exclusive)
			continue;
		rc = overlaps(f, i, &hit);
		if (rc)
			return rc;
		if (hit && hits->len < f->max) {
			hits->items[hits->len++] = row;
		} else if (hit) {
			hits->has_more = true;
			hits->more = row;
			hits->more_range = f->range;
		}
	}
	f->range++;
	return MR_OK;
}

/* Rows whose prefix is exactly this. */
static enum mr_code look_at(struct finding *f, struct piece prefix)
{
	return look(f, lower_bound(&f->index->rows, prefix, '\0'),
		lower_bound(&f->index->rows, prefix, '\1'));
}

enum mr_code mr_team_lease_index_find(struct mr_ctx *cx, struct mr_team_lease_index *index,
	const struct mr_glob *glob, bool shared, size_t max,
	const struct mr_team_lease_index_hits *earlier, struct mr_team_lease_index_hits *out)
{
	struct mr_team_lease_index_hits hits = { .index = index };
	struct finding f = { cx, index, glob, shared, max, earlier, &hits, 0 };
	const char *prefix = mr_glob_literal_prefix(glob);
	struct piece piece = { prefix, strlen(prefix) };
	size_t room = max < index->rows.len ? max : index->rows.len;
	enum mr_code rc;

	hits.items = mr_arena_array(cx->arena, room, sizeof(*hits.items));
	if (piece.len == 0) {
		rc = look(&f, 0, index->rows.len);
	} else {
		/* '0' is the character after '/'. */
		rc = look(&f, lower_bound(&index->rows, piece, '/'),
			lower_bound(&index->rows, piece, '0'));
		do
			rc = rc ? rc : look_at(&f, piece);
		while (go_up(&piece));
		rc = rc ? rc : look_at(&f, (struct piece){ "", 0 });
	}
	if (rc)
		return rc;
	if (hits.len > 1)
		qsort(hits.items, hits.len, sizeof(*hits.items), compare_hits);
	*out = hits;
	return MR_OK;
}
