/* text/template.c - templates from outside: parse one, render it. */
#include "text/template_private.h"

#include "base/utf8.h"

#include <string.h>

enum { FUEL = 10 * 1000 * 1000, MEMORY_BYTES = 64 * 1024 * 1024, DEPTH = 32 };

enum mr_code mr_template_parse(struct mr_arena *arena, const char *name, struct mr_bytes source,
	const struct mr_template_syntax *syntax, const struct mr_template **out, struct mr_err *err)
{
	static const struct mr_template_syntax plain;
	struct mr_tpl_parser p = { .arena = arena,
		.name = mr_arena_strdup(arena, name),
		.err = err };
	struct mr_template *template;
	struct mr_bytes copy;
	size_t bad = 0;
	enum mr_code rc;

	if (source.len > MR_TEMPLATE_SOURCE_BYTES)
		return mr_err_set(err, MR_ELIMIT, "%s:1: the template is larger than %d bytes",
			name, MR_TEMPLATE_SOURCE_BYTES);
	copy = mr_bytes_of(mr_arena_strndup(arena, (const char *)source.data, source.len),
		source.len);
	if (memchr(copy.data, '\0', copy.len) ||
		!mr_utf8_is_valid((const char *)copy.data, copy.len, &bad))
		return mr_err_set(err, MR_EFORMAT, "%s:1: the template is not UTF-8 text", name);
	rc = mr_tpl_lex(arena, p.name, copy, syntax ? syntax : &plain, &p.tokens, err);
	if (rc)
		return rc;
	template = mr_arena_alloc(arena, sizeof(*template));
	template->name = p.name;
	if (!mr_tpl_body(&p, NULL, NULL, &template->body))
		return p.code;
	template->blocks = p.blocks;
	*out = template;
	return MR_OK;
}

const char *mr_template_name(const struct mr_template *template)
{
	return template->name;
}

enum mr_code mr_template_render(const struct mr_template *template, const struct mr_value *context,
	const struct mr_template_options *options, struct mr_buf *out, struct mr_err *err)
{
	static const struct mr_template_options plain;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_template_options *o = options ? options : &plain;
	struct mr_tpl_run run = {
		.arena = arena,
		.context = context,
		.options = o,
		.out = out,
		.err = err,
		.name = template->name,
		.line = 1,
		.fuel = o->fuel ? o->fuel : FUEL,
		.memory = o->memory_bytes ? o->memory_bytes : MEMORY_BYTES,
		.depth = o->depth ? o->depth : DEPTH,
		.escape = o->escape_html,
	};

	run.scope = mr_tpl_scope_new(&run, NULL);
	return run.scope ? mr_tpl_run_template(&run, template) : err->code;
}
