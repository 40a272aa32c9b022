/* text/template_filter.c - the filters by name, and how they read their arguments. */
#include "text/template_private.h"

#include <string.h>

static const struct mr_tpl_filter *const tables[] = { mr_tpl_text_filters, mr_tpl_html_filters,
	mr_tpl_list_filters, mr_tpl_sort_filters, mr_tpl_number_filters, mr_tpl_select_filters };

const struct mr_tpl_filter *mr_tpl_filter(const char *name, size_t len)
{
	for (size_t t = 0; t < MR_LEN(tables); t++)
		for (const struct mr_tpl_filter *f = tables[t]; f->name; f++)
			if (strlen(f->name) == len && memcmp(f->name, name, len) == 0)
				return f;
	return NULL;
}

const char *mr_tpl_filter_like(const char *name)
{
	const char *names[128];
	size_t count = 0;

	for (size_t t = 0; t < MR_LEN(tables); t++)
		for (const struct mr_tpl_filter *f = tables[t]; f->name && count < MR_LEN(names);
			f++)
			names[count++] = f->name;
	return mr_str_nearest(name, names, count);
}

const struct mr_tpl_value *mr_tpl_arg(const struct mr_tpl_args *args, size_t place,
	const char *name)
{
	if (place < args->len)
		return &args->items[place];
	for (size_t i = 0; name && i < args->named_len; i++)
		if (mr_str_eq(args->named[i].key.text, name))
			return &args->named[i].value;
	return NULL;
}

enum mr_code mr_tpl_arg_int(struct mr_tpl_run *run, const struct mr_tpl_args *args, size_t place,
	const char *name, int64_t min, int64_t max, int64_t *out)
{
	const struct mr_tpl_value *arg = mr_tpl_arg(args, place, name);

	if (!arg || arg->kind == MR_TV_NONE)
		return MR_OK;
	if (arg->kind != MR_TV_INT || arg->integer < min || arg->integer > max)
		return mr_tpl_fail(run, MR_EINVAL,
			"the argument '%s' is a number from %lld to %lld", name, (long long)min,
			(long long)max);
	*out = arg->integer;
	return MR_OK;
}

enum mr_code mr_tpl_arg_text(struct mr_tpl_run *run, const struct mr_tpl_args *args, size_t place,
	const char *name, struct mr_tpl_value *out)
{
	const struct mr_tpl_value *arg = mr_tpl_arg(args, place, name);

	if (!arg || arg->kind == MR_TV_NONE || arg->kind == MR_TV_UNDEFINED)
		return MR_OK;
	return mr_tpl_to_text(run, arg, out);
}

bool mr_tpl_arg_true(const struct mr_tpl_args *args, size_t place, const char *name, bool fallback)
{
	const struct mr_tpl_value *arg = mr_tpl_arg(args, place, name);

	return arg ? mr_tpl_is_true(arg) : fallback;
}

enum mr_code mr_tpl_path(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	const struct mr_tpl_value *path, struct mr_tpl_value *out)
{
	struct mr_tpl_value at = *value;
	struct mr_tpl_value text;
	enum mr_code rc = mr_tpl_to_text(run, path, &text);
	const char *from = rc ? NULL : text.text;

	while (!rc && from && at.kind != MR_TV_UNDEFINED) {
		const char *dot = strchr(from, '.');
		char *name = mr_tpl_copy(run, from, dot ? (size_t)(dot - from) : strlen(from));
		int64_t index;

		if (!name)
			return run->err->code;
		if (mr_tpl_is_list(&at) && mr_str_to_int(name, &index)) {
			if (index >= 0 && index < (int64_t)at.len)
				at = mr_tpl_item(&at, (size_t)index);
			else
				at = (struct mr_tpl_value){ .kind = MR_TV_UNDEFINED };
		} else {
			struct mr_tpl_value member;

			rc = mr_tpl_get(run, &at, name, strlen(name), &member);
			if (!rc)
				at = member;
		}
		from = dot ? dot + 1 : NULL;
	}
	if (!rc)
		*out = at;
	return rc;
}
