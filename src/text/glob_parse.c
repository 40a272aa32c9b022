/* text/glob_parse.c - from a pattern's text to sets of characters. */
#include "text/glob_private.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Every character a name may hold, and with '/' every character a path may hold. */
static const struct mr_glob_range name_ranges[] = {
	{ 1, '/' - 1 },
	{ '/' + 1, 0xd7ff },
	{ 0xe000, 0x10ffff },
	{ MR_GLOB_RAW + 0x80, MR_GLOB_RAW + 0xff },
};
static const struct mr_glob_range path_ranges[] = {
	{ 1, 0xd7ff },
	{ 0xe000, 0x10ffff },
	{ MR_GLOB_RAW + 0x80, MR_GLOB_RAW + 0xff },
};

enum { LAST_CHARACTER = MR_GLOB_RAW + 0xff };

struct parser {
	struct mr_arena *arena;
	const struct mr_glob_source *src;
	unsigned flags;
	bool escapes;
	bool plain_brackets; /* '[' stands for itself */
	bool saw_class;
	struct mr_glob_segment segments[MR_GLOB_SEGMENTS_ROOM];
	size_t len;
	struct mr_err *err;
};

static struct mr_glob_elem any_elem(const struct parser *p)
{
	if (p->flags & MR_GLOB_CROSS)
		return (struct mr_glob_elem){ path_ranges, MR_LEN(path_ranges), false };
	return (struct mr_glob_elem){ name_ranges, MR_LEN(name_ranges), false };
}

/* The character at `*at`, an escape resolved; moves past it. */
static enum mr_code take_character(struct parser *p, size_t *at, uint32_t *out)
{
	const struct mr_glob_source *src = p->src;
	size_t i = *at;

	if (p->escapes && src->text[i] == '\\' && ++i == src->len)
		return mr_err_set(p->err, MR_EINVAL, "'\\' at byte %u has nothing to escape",
			src->from[i - 1]);
	*at = i + mr_utf8_next(src->text + i, src->len - i, out);
	return MR_OK;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct mr_glob_range *x = a;
	const struct mr_glob_range *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sort and merge in place; returns how many are left. */
static size_t merge_ranges(struct mr_glob_range *ranges, size_t count)
{
	size_t kept = 0;

	if (count == 0)
		return 0;
	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 1; i < count; i++) {
		if (ranges[i].first > ranges[kept].last + 1)
			ranges[++kept] = ranges[i];
		else if (ranges[i].last > ranges[kept].last)
			ranges[kept].last = ranges[i].last;
	}
	return kept + 1;
}

/* The gaps between merged ranges; `out` has room for one more than `count`. */
static size_t invert_ranges(const struct mr_glob_range *ranges, size_t count,
	struct mr_glob_range *out)
{
	uint32_t next = 1;
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		if (ranges[i].first > next)
			out[len++] = (struct mr_glob_range){ next, ranges[i].first - 1 };
		next = ranges[i].last + 1;
	}
	if (next <= LAST_CHARACTER)
		out[len++] = (struct mr_glob_range){ next, LAST_CHARACTER };
	return len;
}

/* The set of what is in both; `out` has room for the sum of the counts. */
static size_t intersect_ranges(const struct mr_glob_range *a, size_t a_count,
	const struct mr_glob_range *b, size_t b_count, struct mr_glob_range *out)
{
	size_t len = 0;

	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		uint32_t first = a[i].first > b[j].first ? a[i].first : b[j].first;
		uint32_t last = a[i].last < b[j].last ? a[i].last : b[j].last;

		if (first <= last)
			out[len++] = (struct mr_glob_range){ first, last };
		if (a[i].last < b[j].last)
			i++;
		else
			j++;
	}
	return len;
}

/* One member of the class opened at `open`: a character or a range; moves past it. */
static enum mr_code parse_member(struct parser *p, size_t open, size_t close, size_t *at,
	struct mr_glob_range *out)
{
	const struct mr_glob_source *src = p->src;
	size_t start = *at;
	struct mr_glob_range range = { 0 };
	enum mr_code rc = take_character(p, at, &range.first);

	if (rc)
		return rc;
	range.last = range.first;
	if (*at + 1 < close && src->text[*at] == '-') {
		(*at)++;
		rc = take_character(p, at, &range.last);
		if (rc)
			return rc;
	}
	if (range.last < range.first)
		return mr_err_set(p->err, MR_EINVAL, "range at byte %u runs backwards",
			src->from[start]);
	if ((range.first == '/' || range.last == '/') &&
		!(p->flags & (MR_GLOB_CROSS | MR_GLOB_IGNORE)))
		return mr_err_set(p->err, MR_EINVAL,
			"class at byte %u holds a '/', which it cannot match", src->from[open]);
	*out = range;
	return MR_OK;
}

/* The class opened at `*at`; moves past it. */
static enum mr_code parse_class(struct parser *p, size_t *at, struct mr_glob_elem *out)
{
	const struct mr_glob_source *src = p->src;
	size_t open = *at;
	size_t close = mr_glob_class_close(src, open, p->escapes);
	size_t i = open + 1;
	bool negated;
	size_t count = 0;

	p->saw_class = true;
	if (!close)
		return mr_err_set(p->err, MR_EINVAL,
			"'[' at byte %u has no ']' (write [[] for the character itself)",
			src->from[open]);
	if (memmem(src->text + i, close - i, "[:", 2) && src->text[close - 1] == ':')
		return mr_err_set(p->err, MR_EINVAL,
			"class at byte %u uses a name such as [:alpha:]; write the range instead",
			src->from[open]);
	negated = src->text[i] == '!' || src->text[i] == '^';
	i += negated;

	struct mr_glob_range *ranges = mr_arena_array(p->arena, close - i, sizeof(*ranges));

	while (i < close) {
		enum mr_code rc = parse_member(p, open, close, &i, &ranges[count]);

		if (rc)
			return rc;
		count++;
	}
	count = merge_ranges(ranges, count);
	if (negated) {
		struct mr_glob_range *gaps = mr_arena_array(p->arena, count + 1, sizeof(*gaps));

		count = invert_ranges(ranges, count, gaps);
		ranges = gaps;
	}

	struct mr_glob_elem any = any_elem(p);
	struct mr_glob_range *set = mr_arena_array(p->arena, count + any.count, sizeof(*set));

	*out = (struct mr_glob_elem){
		.ranges = set,
		.count = intersect_ranges(ranges, count, any.ranges, any.count, set),
	};
	*at = close + 1;
	return MR_OK;
}

static enum mr_code parse_elem(struct parser *p, size_t *at, struct mr_glob_range *room,
	struct mr_glob_elem *out)
{
	char c = p->src->text[*at];

	if (c == '[' && !p->plain_brackets)
		return parse_class(p, at, out);
	if (c == '*' || c == '?') {
		*out = any_elem(p);
		out->star = c == '*';
		(*at)++;
		return MR_OK;
	}

	enum mr_code rc = take_character(p, at, &room->first);

	if (rc)
		return rc;
	room->last = room->first;
	*out = (struct mr_glob_elem){ .ranges = room, .count = 1 };
	return MR_OK;
}

/* Notice what matching can profit from: the only name there is, or that there is none. */
static void learn(struct mr_arena *arena, struct mr_glob_segment *segment)
{
	bool literal = true;
	char *text = mr_arena_array(arena, segment->len * 4 + 1, 1);
	size_t len = 0;

	segment->possible = true;
	for (size_t i = 0; i < segment->len; i++) {
		const struct mr_glob_elem *elem = &segment->elems[i];

		if (elem->count == 0)
			segment->possible = false;
		if (elem->star || elem->count != 1 || elem->ranges->first != elem->ranges->last)
			literal = false;
		if (literal)
			len += mr_utf8_put(elem->ranges->first, text + len);
	}
	if (literal) {
		segment->literal = text;
		segment->literal_len = len;
	}
}

static enum mr_code add_segment(struct parser *p, size_t at, struct mr_glob_segment segment)
{
	if (p->len >= MR_GLOB_SEGMENTS)
		return mr_err_set(p->err, MR_ELIMIT, "pattern has more than %d segments at byte %u",
			MR_GLOB_SEGMENTS, p->src->from[at]);
	/* Two "**" in a row say no more than one. */
	if (!segment.deep || p->len == 0 || !p->segments[p->len - 1].deep)
		p->segments[p->len++] = segment;
	return MR_OK;
}

/* "**"; git takes any longer run of stars for the same. */
static bool is_deep(const struct parser *p, const char *text, size_t len)
{
	if (len < 2 || (len > 2 && !(p->flags & MR_GLOB_IGNORE)))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] != '*')
			return false;
	}
	return true;
}

/* The segment that runs from `at` to `end`, which is not empty. */
static enum mr_code parse_segment(struct parser *p, size_t at, size_t end)
{
	const char *text = p->src->text + at;
	size_t len = end - at;
	size_t start = at;

	if (!(p->flags & MR_GLOB_IGNORE)) {
		if (len == 1 && text[0] == '.')
			return MR_OK;
		if (len == 2 && text[0] == '.' && text[1] == '.')
			return mr_err_set(p->err, MR_EINVAL,
				"'..' at byte %u: a pattern cannot leave its directory",
				p->src->from[at]);
	}
	if (is_deep(p, text, len))
		return add_segment(p, start, (struct mr_glob_segment){ .deep = true });

	struct mr_glob_elem *elems = mr_arena_array(p->arena, len, sizeof(*elems));
	struct mr_glob_range *room = mr_arena_array(p->arena, len, sizeof(*room));
	struct mr_glob_segment segment = { .elems = elems };

	while (at < end) {
		enum mr_code rc = parse_elem(p, &at, &room[segment.len], &elems[segment.len]);

		if (rc)
			return rc;
		if (segment.len == 0 || !elems[segment.len].star || !elems[segment.len - 1].star)
			segment.len++;
	}
	learn(p->arena, &segment);
	return add_segment(p, start, segment);
}

/* Where the segment that begins at `at` ends: a '/' in a class or escaped is not its end. */
static size_t segment_end(const struct parser *p, size_t at)
{
	const struct mr_glob_source *src = p->src;

	for (; at < src->len && src->text[at] != '/'; at++) {
		if (p->escapes && src->text[at] == '\\' && at + 1 < src->len)
			at++;
		else if (src->text[at] == '[' && !p->plain_brackets) {
			size_t close = mr_glob_class_close(src, at, p->escapes);

			at = close ? close : at;
		}
	}
	return at;
}

static enum mr_code parse_segments(struct parser *p)
{
	const struct mr_glob_source *src = p->src;

	for (size_t at = 0, end; at < src->len; at = end + 1) {
		end = segment_end(p, at);
		if (end > at) {
			enum mr_code rc = parse_segment(p, at, end);

			if (rc)
				return rc;
		}
	}
	return MR_OK;
}

static void append_deep(struct parser *p)
{
	if (p->len == 0 || !p->segments[p->len - 1].deep)
		p->segments[p->len++] = (struct mr_glob_segment){ .deep = true };
}

/* "*" as a segment: any one name. */
static struct mr_glob_segment any_name(struct parser *p)
{
	struct mr_glob_elem *star = mr_arena_alloc(p->arena, sizeof(*star));

	*star = any_elem(p);
	star->star = true;
	return (struct mr_glob_segment){ .elems = star, .len = 1, .possible = true };
}

static bool is_literal(const struct parser *p)
{
	for (size_t i = 0; i < p->len; i++) {
		if (!p->segments[i].literal)
			return false;
	}
	return true;
}

struct list {
	struct mr_glob_alternative *items;
	size_t len;
	char *prefix; /* what all have in common so far; NULL before the first */
};

/* Cut the list's prefix down to what this alternative begins with as well. */
static void narrow_prefix(const struct parser *p, struct list *list)
{
	char *own = mr_arena_array(p->arena, p->src->len + 1, 1);
	size_t len = 0;

	for (size_t i = 0; i < p->len && p->segments[i].literal; i++) {
		if (i > 0)
			own[len++] = '/';
		memcpy(own + len, p->segments[i].literal, p->segments[i].literal_len);
		len += p->segments[i].literal_len;
	}
	if (list->prefix)
		list->prefix[mr_glob_common_prefix(list->prefix, own)] = '\0';
	else
		list->prefix = own;
}

static void keep(struct parser *p, struct list *list, bool directories_only)
{
	narrow_prefix(p, list);
	list->items[list->len++] = (struct mr_glob_alternative){
		.segments = mr_arena_memdup(p->arena, p->segments, p->len * sizeof(*p->segments)),
		.len = p->len,
		.directories_only = directories_only,
	};
}

/* The same as one segment, for wildcards that cross '/'. */
static void keep_joined(struct parser *p, struct list *list)
{
	static const struct mr_glob_range slash = { '/', '/' };
	size_t room = 0;

	narrow_prefix(p, list);
	for (size_t i = 0; i < p->len; i++)
		room += p->segments[i].len + 2;

	struct mr_glob_elem *elems = mr_arena_array(p->arena, room, sizeof(*elems));
	struct mr_glob_segment *joined = mr_arena_alloc(p->arena, sizeof(*joined));
	size_t len = 0;

	for (size_t i = 0; i < p->len; i++) {
		const struct mr_glob_segment *segment = &p->segments[i];
		struct mr_glob_segment any = any_name(p);

		if (i > 0)
			elems[len++] = (struct mr_glob_elem){ .ranges = &slash, .count = 1 };
		if (segment->deep)
			segment = &any;
		memcpy(elems + len, segment->elems, segment->len * sizeof(*elems));
		len += segment->len;
	}
	*joined = (struct mr_glob_segment){ .elems = elems, .len = len };
	learn(p->arena, joined);
	list->items[list->len++] = (struct mr_glob_alternative){ .segments = joined, .len = 1 };
}

static enum mr_code finish_path(struct parser *p, struct list *list)
{
	const struct mr_glob_source *src = p->src;

	if (src->len == 0)
		return mr_err_set(p->err, MR_EINVAL, "one alternative of the pattern is empty");
	if (src->text[src->len - 1] == '/' || p->len == 0)
		append_deep(p);
	if (p->flags & MR_GLOB_WIDEN) {
		const struct mr_glob_segment *last = &p->segments[p->len - 1];

		if (!last->deep && last->len == 1 && last->elems[0].star) {
			p->len--;
			append_deep(p);
		}
	}
	if (!(p->flags & MR_GLOB_CROSS)) {
		if (is_literal(p))
			append_deep(p);
		keep(p, list, false);
		return MR_OK;
	}
	keep_joined(p, list);
	if (is_literal(p)) {
		append_deep(p);
		keep_joined(p, list);
	}
	return MR_OK;
}

static bool only_slashes(const struct mr_glob_source *src)
{
	for (size_t i = 0; i < src->len; i++) {
		if (src->text[i] != '/')
			return false;
	}
	return true;
}

static enum mr_code finish_ignore(struct parser *p, struct list *list)
{
	const struct mr_glob_source *src = p->src;
	bool wants_directory = src->text[src->len - 1] == '/';

	if (only_slashes(src))
		return mr_err_set(p->err, MR_EINVAL, "pattern names nothing");
	if (p->segments[p->len - 1].deep) {
		p->segments[p->len - 1] = any_name(p);
		append_deep(p);
	}
	if (wants_directory) {
		keep(p, list, true);
		p->segments[p->len++] = any_name(p);
	}
	append_deep(p);
	keep(p, list, false);
	return MR_OK;
}

/* Read one written-out alternative of the pattern. */
static enum mr_code parse_alternative(struct parser *p, struct list *list)
{
	const struct mr_glob_source *src = p->src;
	enum mr_code rc;

	p->len = 0;
	if (p->flags & MR_GLOB_IGNORE) {
		const char *slash = memchr(src->text, '/', src->len);

		if (!slash || slash == src->text + src->len - 1)
			append_deep(p);
	}
	rc = parse_segments(p);
	if (rc)
		return rc;
	return p->flags & MR_GLOB_IGNORE ? finish_ignore(p, list) : finish_path(p, list);
}

/* The same, and with MR_GLOB_SPELLING once more with its classes as plain text. */
static enum mr_code parse_spellings(struct parser *p, struct list *list, struct mr_err *err)
{
	struct mr_err first;
	enum mr_code rc;

	p->plain_brackets = false;
	p->saw_class = false;
	p->err = &first;
	rc = parse_alternative(p, list);
	p->err = err;
	if ((p->flags & MR_GLOB_SPELLING) && p->saw_class && rc != MR_ELIMIT) {
		p->plain_brackets = true;
		return parse_alternative(p, list);
	}
	if (rc)
		*err = first;
	return rc;
}

enum mr_code mr_glob_compile(struct mr_arena *arena, const char *text,
	const struct mr_glob_options *options, struct mr_glob **out, struct mr_err *err)
{
	struct mr_glob_options mine = { 0 };
	struct mr_glob_source *sources;
	const char *normal;
	size_t count;
	enum mr_code rc;

	if (options)
		mine = *options;
	if (mine.flags & MR_GLOB_IGNORE)
		mine.flags = MR_GLOB_IGNORE;
	rc = mr_glob_expand(arena, text, &mine, &normal, &sources, &count, err);
	if (rc)
		return rc;

	/* An alternative may need two forms of each of two spellings. */
	struct list list = { .items = mr_arena_array(arena, count * 4, sizeof(*list.items)) };
	struct parser p = {
		.arena = arena,
		.flags = mine.flags,
		.escapes = mine.flags & (MR_GLOB_ESCAPE | MR_GLOB_IGNORE),
	};

	for (size_t i = 0; i < count; i++) {
		p.src = &sources[i];
		rc = parse_spellings(&p, &list, err);
		if (rc)
			return rc;
	}

	struct mr_glob *glob = mr_arena_alloc(arena, sizeof(*glob));

	*glob = (struct mr_glob){
		.text = normal,
		.prefix = list.prefix,
		.alternatives = list.items,
		.len = list.len,
		.cross = mine.flags & MR_GLOB_CROSS,
	};
	*out = glob;
	return MR_OK;
}
