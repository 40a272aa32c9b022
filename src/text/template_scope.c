/* text/template_scope.c - names while rendering: scopes, the context, and what each costs. */
#include "text/template_private.h"

#include <stdarg.h>
#include <string.h>

enum mr_code mr_tpl_fail(struct mr_tpl_run *run, enum mr_code code, const char *fmt, ...)
{
	va_list ap;
	char *what;

	va_start(ap, fmt);
	what = mr_arena_vprintf(run->arena, fmt, ap);
	va_end(ap);
	return mr_err_set(run->err, code, "%s:%u: %s", run->name, run->line, what);
}

enum mr_code mr_tpl_burn(struct mr_tpl_run *run, size_t steps)
{
	if (run->fuel < steps) {
		run->fuel = 0;
		return mr_tpl_fail(run, MR_ELIMIT, "rendering takes too many steps");
	}
	run->fuel -= steps;
	return MR_OK;
}

void *mr_tpl_alloc(struct mr_tpl_run *run, size_t count, size_t size)
{
	if (count > (run->memory - 1) / size) {
		mr_tpl_fail(run, MR_ELIMIT, "rendering takes too much memory");
		return NULL;
	}
	if (mr_tpl_burn(run, count * size / 64))
		return NULL;
	run->memory -= count * size;
	return mr_arena_array(run->arena, count ? count : 1, size);
}

char *mr_tpl_copy(struct mr_tpl_run *run, const char *text, size_t len)
{
	char *copy = mr_tpl_alloc(run, len + 1, 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

struct mr_tpl_scope *mr_tpl_scope_new(struct mr_tpl_run *run, struct mr_tpl_scope *up)
{
	struct mr_tpl_scope *scope = mr_tpl_alloc(run, 1, sizeof(*scope));

	if (scope)
		scope->up = up;
	return scope;
}

enum mr_code mr_tpl_scope_set(struct mr_tpl_run *run, struct mr_tpl_scope *scope, const char *name,
	const struct mr_tpl_value *value)
{
	for (size_t i = 0; i < scope->len; i++)
		if (mr_str_eq(scope->items[i].name, name)) {
			scope->items[i].value = *value;
			return mr_tpl_burn(run, scope->len / 16);
		}
	if (scope->len == scope->cap) {
		size_t cap = scope->cap ? scope->cap * 2 : 4;
		struct mr_tpl_binding *items = mr_tpl_alloc(run, cap, sizeof(*items));

		if (!items)
			return run->err->code;
		if (scope->len)
			memcpy(items, scope->items, scope->len * sizeof(*items));
		scope->items = items;
		scope->cap = cap;
	}
	scope->items[scope->len].name = name;
	scope->items[scope->len++].value = *value;
	return mr_tpl_burn(run, scope->len / 16);
}

const struct mr_tpl_value *mr_tpl_scope_get(const struct mr_tpl_scope *scope, const char *name)
{
	for (size_t i = 0; i < scope->len; i++)
		if (strcmp(scope->items[i].name, name) == 0)
			return &scope->items[i].value;
	return NULL;
}

enum mr_code mr_tpl_lookup(struct mr_tpl_run *run, const char *name, struct mr_tpl_value *out)
{
	const struct mr_value *given;

	for (const struct mr_tpl_scope *scope = run->scope; scope; scope = scope->up) {
		const struct mr_tpl_value *found = mr_tpl_scope_get(scope, name);
		enum mr_code rc = mr_tpl_burn(run, 1 + scope->len / 16);

		if (rc)
			return rc;
		if (found) {
			*out = *found;
			return MR_OK;
		}
	}
	given = mr_value_get(run->context, name);
	*out = mr_tpl_of(given);
	if (!given && mr_tpl_function(name)) {
		out->kind = MR_TV_FUNCTION;
		out->function = mr_tpl_function(name);
	}
	return MR_OK;
}
