/* text/template_filter_sort.c - filters that sort, group and compare the items of a list. */
#include "text/template_private.h"

#include <string.h>

#define FILTER(fn)                                                                                 \
	static enum mr_code fn(struct mr_tpl_run *run, const struct mr_tpl_value *in,              \
		const struct mr_tpl_args *args, struct mr_tpl_value *out)

/* What an item is sorted by: its member, texts in lower case unless case matters. */
static enum mr_code key_of(struct mr_tpl_run *run, const struct mr_tpl_value *item,
	const struct mr_tpl_value *path, bool case_matters, struct mr_tpl_value *out)
{
	static const struct mr_tpl_args none;
	enum mr_code rc = MR_OK;

	*out = *item;
	if (path)
		rc = mr_tpl_path(run, item, path, out);
	if (!rc && !case_matters && out->kind == MR_TV_TEXT)
		rc = mr_tpl_filter("lower", 5)->apply(run, out, &none, out);
	return rc;
}

/* Merge the sorted runs from `from` to `middle` and from there to `end`. */
static enum mr_code merge_runs(struct mr_tpl_run *run, const struct mr_tpl_pair *pairs, size_t from,
	size_t middle, size_t end, bool reverse, struct mr_tpl_pair *out)
{
	size_t a = from, b = middle;

	for (size_t i = from; i < end; i++) {
		int order = a < middle ? 0 : 1;

		if (a < middle && b < end) {
			enum mr_code rc = mr_tpl_compare(run, &pairs[a].key, &pairs[b].key, &order);

			if (rc)
				return rc;
			order = reverse ? -order : order;
		}
		out[i] = order <= 0 ? pairs[a++] : pairs[b++];
	}
	return MR_OK;
}

/* A stable sort by merging; `pairs` has keys and items. Cannot use qsort(): comparing can fail. */
static enum mr_code sort_pairs(struct mr_tpl_run *run, struct mr_tpl_pair *pairs, size_t len,
	bool reverse)
{
	struct mr_tpl_pair *spare = mr_tpl_alloc(run, len, sizeof(*spare));

	if (!spare)
		return run->err->code;
	for (size_t width = 1; width < len; width *= 2) {
		for (size_t from = 0; from < len; from += 2 * width) {
			size_t middle = from + width < len ? from + width : len;
			size_t end = from + 2 * width < len ? from + 2 * width : len;
			enum mr_code rc = merge_runs(run, pairs, from, middle, end, reverse, spare);

			if (rc)
				return rc;
		}
		memcpy(pairs, spare, len * sizeof(*pairs));
	}
	return MR_OK;
}

/* The list's items with their keys, sorted. */
static enum mr_code sorted(struct mr_tpl_run *run, const struct mr_tpl_value *list,
	const struct mr_tpl_value *path, bool case_matters, bool reverse, struct mr_tpl_pair **out)
{
	struct mr_tpl_pair *pairs = mr_tpl_alloc(run, list->len, sizeof(*pairs));
	enum mr_code rc = pairs ? MR_OK : run->err->code;

	for (size_t i = 0; !rc && i < list->len; i++) {
		pairs[i].value = mr_tpl_item(list, i);
		rc = key_of(run, &pairs[i].value, path, case_matters, &pairs[i].key);
	}
	if (!rc)
		rc = sort_pairs(run, pairs, list->len, reverse);
	*out = pairs;
	return rc;
}

static enum mr_code take_values(struct mr_tpl_run *run, const struct mr_tpl_pair *pairs, size_t len,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value *items = mr_tpl_alloc(run, len, sizeof(*items));

	if (!items)
		return run->err->code;
	for (size_t i = 0; i < len; i++)
		items[i] = pairs[i].value;
	*out = mr_tpl_list(items, len);
	return MR_OK;
}

FILTER(sort)
{
	struct mr_tpl_value list;
	struct mr_tpl_pair *pairs;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	if (!rc)
		rc = sorted(run, &list, mr_tpl_arg(args, 2, "attribute"),
			mr_tpl_arg_true(args, 1, "case_sensitive", false),
			mr_tpl_arg_true(args, 0, "reverse", false), &pairs);
	return rc ? rc : take_values(run, pairs, list.len, out);
}

FILTER(dictsort)
{
	const struct mr_tpl_value *by = mr_tpl_arg(args, 1, "by");
	struct mr_tpl_value list, place;
	struct mr_tpl_pair *pairs;
	enum mr_code rc = mr_tpl_items(run, in, &list);

	place = by && mr_tpl_is_text(by, "value") ? mr_tpl_text("1", 1) : mr_tpl_text("0", 1);
	if (!rc)
		rc = sorted(run, &list, &place, mr_tpl_arg_true(args, 0, "case_sensitive", false),
			mr_tpl_arg_true(args, 2, "reverse", false), &pairs);
	return rc ? rc : take_values(run, pairs, list.len, out);
}

FILTER(groupby)
{
	const struct mr_tpl_value *path = mr_tpl_arg(args, 0, "attribute");
	struct mr_tpl_value list, *groups;
	struct mr_tpl_pair *pairs;
	size_t count = 0;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	if (!rc && !path)
		rc = mr_tpl_fail(run, MR_EINVAL, "'groupby' takes the name of a member");
	if (!rc)
		rc = sorted(run, &list, path, mr_tpl_arg_true(args, 1, "case_sensitive", false),
			false, &pairs);
	groups = rc ? NULL : mr_tpl_alloc(run, list.len, sizeof(*groups));
	if (!groups)
		return run->err->code;
	for (size_t from = 0, to; !rc && from < list.len; from = to) {
		struct mr_tpl_value members, key;
		bool is = true;

		for (to = from + 1; !rc && is && to < list.len;) {
			rc = mr_tpl_equal(run, &pairs[from].key, &pairs[to].key, &is);
			to += is;
		}
		if (!rc)
			rc = take_values(run, pairs + from, to - from, &members);
		if (!rc)
			rc = mr_tpl_path(run, &pairs[from].value, path, &key);
		if (!rc)
			rc = mr_tpl_pair_list(run, &key, &members, &groups[count++]);
	}
	*out = mr_tpl_list(groups, count);
	return rc;
}

FILTER(unique)
{
	const struct mr_tpl_value *path = mr_tpl_arg(args, 1, "attribute");
	bool case_matters = mr_tpl_arg_true(args, 0, "case_sensitive", false);
	struct mr_tpl_value list;
	struct mr_tpl_pair *seen;
	size_t count = 0;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	seen = rc ? NULL : mr_tpl_alloc(run, list.len, sizeof(*seen));
	if (!seen)
		return run->err->code;
	for (size_t i = 0; !rc && i < list.len; i++) {
		bool is = false;

		seen[count].value = mr_tpl_item(&list, i);
		rc = key_of(run, &seen[count].value, path, case_matters, &seen[count].key);
		for (size_t j = 0; !rc && !is && j < count; j++)
			rc = mr_tpl_equal(run, &seen[j].key, &seen[count].key, &is);
		count += !is;
	}
	return rc ? rc : take_values(run, seen, count, out);
}

const struct mr_tpl_filter mr_tpl_sort_filters[] = {
	{ "sort", 3, sort, " reverse case_sensitive attribute " },
	{ "dictsort", 3, dictsort, " case_sensitive by reverse " },
	{ "groupby", 2, groupby, " attribute case_sensitive " },
	{ "unique", 2, unique, " case_sensitive attribute " },
	{ NULL },
};
