/* text/template_other.c - include, import and extends: templates that use other templates. */
#include "text/template_private.h"

#include <string.h>

static enum mr_code load(struct mr_tpl_run *run, const struct mr_tpl_value *name,
	const struct mr_template **out)
{
	struct mr_err why = { 0 };
	enum mr_code rc;

	if (name->kind != MR_TV_TEXT)
		return mr_tpl_fail(run, MR_EINVAL, "the name of a template is a text, not %s",
			mr_tpl_kind_name(name));
	if (!run->options->loader)
		return mr_tpl_fail(run, MR_ENOTFOUND,
			"template '%s' cannot be used here: no other templates are available",
			name->text);
	rc = run->options->loader(run->options->loader_ctx, name->text, out, &why);
	if (rc)
		return mr_tpl_fail(run, rc, "%s", why.msg);
	return MR_OK;
}

/* The first template of a name, or of a list of names, that there is. */
static enum mr_code load_any(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	const struct mr_template **out)
{
	struct mr_tpl_value names;
	enum mr_code rc = mr_tpl_eval(run, node, &names);

	if (rc || !mr_tpl_is_list(&names))
		return rc ? rc : load(run, &names, out);
	rc = mr_tpl_fail(run, MR_ENOTFOUND, "the list of templates is empty");
	for (size_t i = 0; rc == MR_ENOTFOUND && i < names.len; i++) {
		struct mr_tpl_value name = mr_tpl_item(&names, i);

		rc = load(run, &name, out);
	}
	return rc;
}

/* Run another template in a scope of its own, with blocks of its own. */
static enum mr_code run_other(struct mr_tpl_run *run, const struct mr_template *template,
	struct mr_tpl_scope *scope)
{
	struct mr_tpl_run before = *run;
	enum mr_code rc;

	if (!run->depth)
		return mr_tpl_fail(run, MR_ELIMIT, "templates and macros are nested too deeply");
	if (!scope)
		return run->err->code;
	run->depth--;
	run->scope = scope;
	run->overrides = NULL;
	run->overrides_len = run->overrides_cap = 0;
	run->block = NULL;
	run->escape = run->options->escape_html;
	rc = mr_tpl_run_template(run, template);
	before.fuel = run->fuel;
	before.memory = run->memory;
	*run = before;
	return rc;
}

enum mr_code mr_tpl_include(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	const struct mr_template *template = NULL;
	enum mr_code rc = load_any(run, node->a, &template);

	if (rc == MR_ENOTFOUND && node->flag)
		return MR_OK;
	return rc ? rc : run_other(run, template, mr_tpl_scope_new(run, run->scope));
}

enum mr_code mr_tpl_import(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	const struct mr_template *template = NULL;
	struct mr_tpl_scope *scope;
	struct mr_buf *out = run->out;
	struct mr_tpl_value module = { .kind = MR_TV_SCOPE, .is_safe = true };
	enum mr_code rc = load_any(run, node->a, &template);

	if (rc)
		return rc;
	scope = mr_tpl_scope_new(run, NULL);
	run->out = NULL;
	rc = run_other(run, template, scope);
	run->out = out;
	if (rc)
		return rc;
	module.scope = scope;
	if (node->kind == MR_TN_IMPORT)
		return mr_tpl_scope_set(run, run->scope, node->name, &module);
	for (size_t i = 0; !rc && i < node->names.len; i++) {
		const struct mr_tpl_value *found = mr_tpl_scope_get(scope, node->names.items[i]);

		if (!found)
			return mr_tpl_fail(run, MR_EINVAL, "template '%s' has no '%s' to import",
				template->name, node->names.items[i]);
		rc = mr_tpl_scope_set(run, run->scope, node->aliases.items[i], found);
	}
	return rc;
}

enum mr_code mr_tpl_extend(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	const struct mr_template *template = NULL;
	enum mr_code rc;

	if (run->parent)
		return mr_tpl_fail(run, MR_EINVAL, "a template extends one other only");
	rc = load_any(run, node->a, &template);
	if (rc)
		return rc;
	run->parent = template;
	run->is_extending = true;
	run->out = NULL;
	return MR_OK;
}

struct mr_tpl_override *mr_tpl_find_block(struct mr_tpl_run *run, const char *name)
{
	for (size_t i = 0; i < run->overrides_len; i++)
		if (mr_str_eq(run->overrides[i].name, name))
			return &run->overrides[i];
	return NULL;
}

/* Make room for one more in an array of `size` each. */
static enum mr_code grow(struct mr_tpl_run *run, void *array, size_t len, size_t *cap, size_t size)
{
	void *more;

	if (len < *cap)
		return MR_OK;
	more = mr_tpl_alloc(run, len ? len * 2 : 4, size);
	if (!more)
		return run->err->code;
	if (len)
		memcpy(more, *(void **)array, len * size);
	*(void **)array = more;
	*cap = len ? len * 2 : 4;
	return MR_OK;
}

enum mr_code mr_tpl_add_blocks(struct mr_tpl_run *run, const struct mr_template *template)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < template->blocks.len; i++) {
		const struct mr_tpl_node *node = template->blocks.items[i];
		struct mr_tpl_override *block = mr_tpl_find_block(run, node->name);
		size_t cap;

		if (!block) {
			rc = grow(run, &run->overrides, run->overrides_len, &run->overrides_cap,
				sizeof(*block));
			if (rc)
				break;
			block = &run->overrides[run->overrides_len++];
			*block = (struct mr_tpl_override){ .name = node->name };
		}
		cap = block->cap;
		rc = grow(run, &block->nodes, block->len, &cap, sizeof(*block->nodes));
		cap = block->cap;
		if (!rc)
			rc = grow(run, &block->templates, block->len, &cap,
				sizeof(*block->templates));
		if (rc)
			break;
		block->cap = cap;
		block->nodes[block->len] = node;
		block->templates[block->len++] = template->name;
	}
	return rc;
}

enum mr_code mr_tpl_run_template(struct mr_tpl_run *run, const struct mr_template *template)
{
	struct mr_buf *out = run->out;
	const char *name = run->name;
	const struct mr_template *parent_before = run->parent;
	bool was_extending = run->is_extending;
	unsigned parents = run->depth;
	enum mr_code rc = MR_OK;

	while (!rc && template) {
		run->name = template->name;
		run->parent = NULL;
		run->is_extending = false;
		run->out = out;
		rc = mr_tpl_add_blocks(run, template);
		if (!rc)
			rc = mr_tpl_exec(run, &template->body);
		template = run->parent;
		if (!rc && template && parents-- == 0)
			rc = mr_tpl_fail(run, MR_ELIMIT, "templates extend each other too deeply");
	}
	run->out = out;
	run->name = name;
	run->parent = parent_before;
	run->is_extending = was_extending;
	return rc;
}
