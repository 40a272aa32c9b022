/* text/template_filter_list.c - filters that take lists and maps apart and put them together. */
#include "text/template_private.h"

#include "base/utf8.h"

#include <string.h>

#define FILTER(fn)                                                                                 \
	static enum mr_code fn(struct mr_tpl_run *run, const struct mr_tpl_value *in,              \
		const struct mr_tpl_args *args, struct mr_tpl_value *out)

FILTER(join)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_tpl_value *path = mr_tpl_arg(args, 1, "attribute");
	struct mr_tpl_value list, separator = mr_tpl_text("", 0);
	bool is_safe = false;
	enum mr_code rc = MR_OK;

	if (in->kind == MR_TV_NONE || in->kind == MR_TV_UNDEFINED) {
		*out = mr_tpl_text("", 0);
		return MR_OK;
	}
	rc = mr_tpl_iterate(run, in, &list);
	if (!rc)
		rc = mr_tpl_arg_text(run, args, 0, "d", &separator);
	mr_tpl_buf_init(run, &buf);
	if (!rc && run->escape) { /* one that is HTML makes HTML of all */
		is_safe = separator.is_safe;
		for (size_t i = 0; !is_safe && i < list.len; i++)
			is_safe = mr_tpl_item(&list, i).is_safe;
	}
	for (size_t i = 0; !rc && i < list.len; i++) {
		struct mr_tpl_value item = mr_tpl_item(&list, i), text;

		if (i && is_safe && !separator.is_safe)
			mr_tpl_escape(&buf, separator.text, separator.len);
		else if (i)
			mr_buf_add(&buf, separator.text, separator.len);
		if (path)
			rc = mr_tpl_path(run, &item, path, &item);
		if (!rc)
			rc = mr_tpl_to_text(run, &item, &text);
		if (!rc && is_safe && !text.is_safe)
			mr_tpl_escape(&buf, text.text, text.len);
		else if (!rc)
			mr_buf_add(&buf, text.text, text.len);
	}
	if (!rc)
		rc = mr_tpl_buf_take(run, &buf, out);
	if (!rc)
		out->is_safe = is_safe;
	return rc;
}

FILTER(first)
{
	struct mr_tpl_value list;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	(void)args;
	if (!rc && list.len)
		*out = mr_tpl_item(&list, 0);
	return rc;
}

FILTER(last)
{
	struct mr_tpl_value list;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	(void)args;
	if (!rc && list.len)
		*out = mr_tpl_item(&list, list.len - 1);
	return rc;
}

FILTER(to_list)
{
	(void)args;
	return mr_tpl_iterate(run, in, out);
}

enum mr_code mr_tpl_pair_list(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, struct mr_tpl_value *out)
{
	struct mr_tpl_value *pair = mr_tpl_alloc(run, 2, sizeof(*pair));

	if (!pair)
		return run->err->code;
	pair[0] = *a;
	pair[1] = *b;
	*out = mr_tpl_list(pair, 2);
	return MR_OK;
}

enum mr_code mr_tpl_items(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value *pairs;
	enum mr_code rc = MR_OK;

	if (in->kind == MR_TV_UNDEFINED) {
		*out = mr_tpl_list(NULL, 0);
		return MR_OK;
	}
	if (!mr_tpl_is_map(in))
		return mr_tpl_fail(run, MR_EINVAL, "'items' does not work with %s",
			mr_tpl_kind_name(in));
	pairs = mr_tpl_alloc(run, in->len, sizeof(*pairs));
	if (!pairs)
		return run->err->code;
	for (size_t i = 0; !rc && i < in->len; i++) {
		struct mr_tpl_pair pair = mr_tpl_pair_at(in, i);

		rc = mr_tpl_pair_list(run, &pair.key, &pair.value, &pairs[i]);
	}
	*out = mr_tpl_list(pairs, in->len);
	return rc;
}

FILTER(items)
{
	(void)args;
	return mr_tpl_items(run, in, out);
}

FILTER(reverse)
{
	struct mr_tpl_value list, *items;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	(void)args;
	if (rc)
		return rc;
	items = mr_tpl_alloc(run, list.len, sizeof(*items));
	if (!items)
		return run->err->code;
	for (size_t i = 0; i < list.len; i++)
		items[i] = mr_tpl_item(&list, list.len - 1 - i);
	*out = mr_tpl_list(items, list.len);
	if (in->kind != MR_TV_TEXT)
		return MR_OK;
	mr_tpl_buf_init(run, &buf);
	for (size_t i = 0; i < list.len; i++)
		mr_buf_add(&buf, items[i].text, items[i].len);
	rc = mr_tpl_buf_take(run, &buf, out);
	out->is_safe = in->is_safe;
	return rc;
}

/* Lists of so many items each (`batch`), or so many lists (`slice`). */
static enum mr_code portions(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	const struct mr_tpl_args *args, bool is_batch, struct mr_tpl_value *out)
{
	const struct mr_tpl_value *fill = mr_tpl_arg(args, 1, "fill_with");
	struct mr_tpl_value list, *parts;
	int64_t number = 0;
	size_t n, count, at = 0;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	if (!rc)
		rc = mr_tpl_arg_int(run, args, 0, "count", 1, 1000000, &number);
	if (!rc && !number)
		rc = mr_tpl_fail(run, MR_EINVAL, "'%s' needs a number",
			is_batch ? "batch" : "slice");
	if (rc)
		return rc;
	n = (size_t)number;
	count = is_batch ? (list.len + n - 1) / n : n;
	parts = mr_tpl_alloc(run, count, sizeof(*parts));
	for (size_t p = 0; parts && p < count; p++) {
		size_t wanted = is_batch ? n : list.len / n + (p < list.len % n);
		size_t room = is_batch ? n : list.len / n + 1;
		struct mr_tpl_value *part = mr_tpl_alloc(run, room, sizeof(*part));
		size_t used = 0;

		if (!part)
			return run->err->code;
		while (used < wanted && at < list.len)
			part[used++] = mr_tpl_item(&list, at++);
		/* as Jinja2 has it: a slice is filled also when all have the same length */
		if (fill && (is_batch || p >= list.len % n))
			while (used < room)
				part[used++] = *fill;
		parts[p] = mr_tpl_list(part, used);
	}
	*out = mr_tpl_list(parts, count);
	return parts ? MR_OK : run->err->code;
}

FILTER(batch)
{
	return portions(run, in, args, true, out);
}

FILTER(slice)
{
	return portions(run, in, args, false, out);
}

static const char blanks[] = " \t\n\r\f\v";

/* Where the part at `at` ends, or NULL: with the text. */
static const char *part_end(const struct mr_tpl_value *text, size_t at,
	const struct mr_tpl_value *separator)
{
	if (separator->kind != MR_TV_TEXT)
		return strpbrk(text->text + at, blanks);
	return memmem(text->text + at, text->len - at, separator->text, separator->len);
}

/* A text at each separator, or between runs of white space. */
FILTER(split)
{
	struct mr_tpl_value text, separator = { .kind = MR_TV_UNDEFINED }, *parts;
	int64_t most = -1;
	size_t count = 0, at = 0;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);

	if (!rc)
		rc = mr_tpl_arg_text(run, args, 0, "sep", &separator);
	if (!rc)
		rc = mr_tpl_arg_int(run, args, 1, "maxsplits", -1, INT32_MAX, &most);
	if (!rc && separator.kind == MR_TV_TEXT && !separator.len)
		rc = mr_tpl_fail(run, MR_EINVAL, "'split' needs a separator that is not empty");
	parts = rc ? NULL : mr_tpl_alloc(run, text.len + 1, sizeof(*parts));
	if (!parts)
		return run->err->code;
	for (;; count++) {
		bool is_blank = separator.kind != MR_TV_TEXT;
		const char *end;
		size_t len;
		char *copy;

		if (is_blank)
			at += strspn(text.text + at, blanks);
		if (is_blank && at >= text.len)
			break;
		end = most >= 0 && (int64_t)count == most ? NULL : part_end(&text, at, &separator);
		len = end ? (size_t)(end - text.text) - at : text.len - at;
		copy = mr_tpl_copy(run, text.text + at, len);
		if (!copy)
			return run->err->code;
		parts[count] = mr_tpl_text(copy, len);
		at += len + (is_blank ? 1 : separator.len);
		if (!end) {
			count++;
			break;
		}
	}
	*out = mr_tpl_list(parts, count);
	return MR_OK;
}

FILTER(lines)
{
	struct mr_tpl_value text, *parts;
	size_t count = 0, at = 0;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);

	(void)args;
	parts = rc ? NULL : mr_tpl_alloc(run, text.len + 1, sizeof(*parts));
	if (!parts)
		return run->err->code;
	while (at < text.len) {
		const char *end = memchr(text.text + at, '\n', text.len - at);
		size_t len = end ? (size_t)(end - text.text) - at : text.len - at;
		size_t shown = len && end && text.text[at + len - 1] == '\r' ? len - 1 : len;
		char *copy = mr_tpl_copy(run, text.text + at, shown);

		if (!copy)
			return run->err->code;
		parts[count++] = mr_tpl_text(copy, shown);
		at += len + 1;
	}
	*out = mr_tpl_list(parts, count);
	return MR_OK;
}

const struct mr_tpl_filter mr_tpl_list_filters[] = {
	{ "join", 2, join, " d attribute " },
	{ "first", 0, first, "" },
	{ "last", 0, last, "" },
	{ "list", 0, to_list, "" },
	{ "items", 0, items, "" },
	{ "reverse", 0, reverse, "" },
	{ "batch", 2, batch, " count fill_with " },
	{ "slice", 2, slice, " count fill_with " },
	{ "split", 2, split, " sep maxsplits " },
	{ "lines", 0, lines, "" },
	{ NULL },
};
