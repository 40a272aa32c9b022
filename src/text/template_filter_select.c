/* text/template_filter_select.c - filters that apply another filter or a test to every item. */
#include "text/template_private.h"

#include <string.h>

#define FILTER(fn)                                                                                 \
	static enum mr_code fn(struct mr_tpl_run *run, const struct mr_tpl_value *in,              \
		const struct mr_tpl_args *args, struct mr_tpl_value *out)

/* The arguments after the first `skip`, for the filter or test that those name. */
static struct mr_tpl_args rest_of(const struct mr_tpl_args *args, size_t skip)
{
	struct mr_tpl_args rest = *args;

	if (skip >= args->len) {
		rest.items = NULL;
		rest.len = 0;
	} else {
		rest.items += skip;
		rest.len -= skip;
	}
	return rest;
}

FILTER(map)
{
	const struct mr_tpl_value *path = mr_tpl_arg(args, 1, "attribute");
	const struct mr_tpl_value *fallback = mr_tpl_arg(args, 2, "default");
	const struct mr_tpl_filter *filter = NULL;
	struct mr_tpl_args rest = rest_of(args, 1);
	struct mr_tpl_value list, *made;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	if (args->len) {
		path = NULL;
		filter = args->items[0].kind == MR_TV_TEXT
			? mr_tpl_filter(args->items[0].text, args->items[0].len)
			: NULL;
	}
	if (!rc && !path && !filter)
		rc = mr_tpl_fail(run, MR_EINVAL, "'map' takes attribute= or the name of a filter");
	made = rc ? NULL : mr_tpl_alloc(run, list.len, sizeof(*made));
	if (!made)
		return run->err->code;
	for (size_t i = 0; !rc && i < list.len; i++) {
		struct mr_tpl_value item = mr_tpl_item(&list, i);

		if (filter)
			rc = mr_tpl_apply(run, filter, &item, &rest, &made[i]);
		else
			rc = mr_tpl_path(run, &item, path, &made[i]);
		if (!rc && path && fallback && made[i].kind == MR_TV_UNDEFINED)
			made[i] = *fallback;
	}
	*out = mr_tpl_list(made, list.len);
	return rc;
}

/* The items, or those whose member at the first argument, for which a test is `wanted`. */
static enum mr_code pick(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	const struct mr_tpl_args *args, bool by_member, bool wanted, struct mr_tpl_value *out)
{
	size_t at = by_member ? 1 : 0, count = 0;
	const struct mr_tpl_filter *test = NULL;
	struct mr_tpl_args rest = rest_of(args, at + 1);
	struct mr_tpl_value list, *kept;
	enum mr_code rc = mr_tpl_iterate(run, in, &list);

	if (!rc && by_member && !args->len)
		rc = mr_tpl_fail(run, MR_EINVAL, "the name of a member is missing");
	if (!rc && args->len > at) {
		test = args->items[at].kind == MR_TV_TEXT
			? mr_tpl_is(args->items[at].text, args->items[at].len)
			: NULL;
		if (!test)
			rc = mr_tpl_fail(run, MR_EINVAL, "there is no test '%s'",
				args->items[at].kind == MR_TV_TEXT ? args->items[at].text : "?");
	}
	kept = rc ? NULL : mr_tpl_alloc(run, list.len, sizeof(*kept));
	if (!kept)
		return run->err->code;
	for (size_t i = 0; !rc && i < list.len; i++) {
		struct mr_tpl_value item = mr_tpl_item(&list, i), value = item;

		if (by_member)
			rc = mr_tpl_path(run, &item, &args->items[0], &value);
		if (!rc && test)
			rc = mr_tpl_apply(run, test, &value, &rest, &value);
		if (!rc && mr_tpl_is_true(&value) == wanted)
			kept[count++] = item;
	}
	*out = mr_tpl_list(kept, count);
	return rc;
}

FILTER(select)
{
	return pick(run, in, args, false, true, out);
}

FILTER(reject)
{
	return pick(run, in, args, false, false, out);
}

FILTER(selectattr)
{
	return pick(run, in, args, true, true, out);
}

FILTER(rejectattr)
{
	return pick(run, in, args, true, false, out);
}

FILTER(attr)
{
	const struct mr_tpl_value *name = mr_tpl_arg(args, 0, "name");

	if (!name || name->kind != MR_TV_TEXT)
		return mr_tpl_fail(run, MR_EINVAL, "'attr' takes the name of a member");
	return mr_tpl_get(run, in, name->text, name->len, out);
}

/* As in a list, also for a text. */
FILTER(pprint)
{
	(void)args;
	if (in->kind == MR_TV_TEXT) {
		struct mr_tpl_value list = mr_tpl_list(in, 1), text;
		enum mr_code rc = mr_tpl_to_text(run, &list, &text);
		char *inner = rc ? NULL : mr_tpl_copy(run, text.text + 1, text.len - 2);

		if (inner)
			*out = mr_tpl_text(inner, text.len - 2);
		return inner ? MR_OK : run->err->code;
	}
	return mr_tpl_to_text(run, in, out);
}

const struct mr_tpl_filter mr_tpl_select_filters[] = {
	{ "map", 8, map, NULL },
	{ "select", 8, select, NULL },
	{ "reject", 8, reject, NULL },
	{ "selectattr", 8, selectattr, NULL },
	{ "rejectattr", 8, rejectattr, NULL },
	{ "attr", 1, attr, " name " },
	{ "pprint", 0, pprint, "" },
	{ NULL },
};
