/* text/template_run.c - the statements of a template, carried out. */
#include "text/template_private.h"

#include <string.h>

enum mr_code mr_tpl_write(struct mr_tpl_run *run, const struct mr_tpl_value *value)
{
	struct mr_tpl_value text;
	enum mr_code rc;

	if (value->kind == MR_TV_UNDEFINED && run->options->strict)
		return mr_tpl_fail(run, MR_EINVAL, "an undefined value is printed");
	if (!run->out)
		return MR_OK;
	if (!run->escape || value->is_safe) {
		rc = mr_tpl_print(run, value, run->out);
	} else {
		rc = mr_tpl_to_text(run, value, &text);
		if (!rc)
			mr_tpl_escape(run->out, text.text, text.len);
	}
	if (!rc && run->out->failed)
		rc = mr_tpl_fail(run, MR_ELIMIT, "the output is larger than %zu bytes",
			run->out->max);
	return rc;
}

static enum mr_code write_text(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	if (!run->out)
		return MR_OK;
	mr_buf_add(run->out, node->name, node->len);
	if (run->out->failed)
		return mr_tpl_fail(run, MR_ELIMIT, "the output is larger than %zu bytes",
			run->out->max);
	return MR_OK;
}

enum mr_code mr_tpl_capture(struct mr_tpl_run *run, const struct mr_tpl_nodes *nodes,
	struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf *before = run->out;
	enum mr_code rc;

	mr_tpl_buf_init(run, &buf);
	run->out = &buf;
	rc = mr_tpl_exec(run, nodes);
	run->out = before;
	if (!rc)
		rc = mr_tpl_buf_take(run, &buf, out);
	if (!rc)
		out->is_safe = run->escape;
	return rc;
}

/* Give the items of `value` to several names, or the value to one. */
static enum mr_code assign(struct mr_tpl_run *run, struct mr_tpl_scope *scope,
	const struct mr_texts *names, const struct mr_tpl_value *value)
{
	struct mr_tpl_value items;
	enum mr_code rc = MR_OK;

	if (names->len == 1)
		return mr_tpl_scope_set(run, scope, names->items[0], value);
	rc = mr_tpl_iterate(run, value, &items);
	if (!rc && items.len != names->len)
		rc = mr_tpl_fail(run, MR_EINVAL, "%zu values for %zu names", items.len, names->len);
	for (size_t i = 0; !rc && i < names->len; i++) {
		struct mr_tpl_value item = mr_tpl_item(&items, i);

		rc = mr_tpl_scope_set(run, scope, names->items[i], &item);
	}
	return rc;
}

/* A scope for the next iteration: the same again, unless a macro refers to it. */
static enum mr_code next_scope(struct mr_tpl_run *run, struct mr_tpl_scope *up)
{
	if (run->scope != up && !run->scope->is_kept) {
		run->scope->len = 0;
		return MR_OK;
	}
	run->scope = mr_tpl_scope_new(run, up);
	return run->scope ? MR_OK : run->err->code;
}

/* The items for which the loop's condition is true. */
static enum mr_code select_items(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *sequence)
{
	struct mr_tpl_scope *up = run->scope;
	struct mr_tpl_value *items = mr_tpl_alloc(run, sequence->len, sizeof(*items));
	enum mr_code rc = items ? MR_OK : run->err->code;
	size_t count = 0;

	for (size_t i = 0; !rc && i < sequence->len; i++) {
		struct mr_tpl_value item = mr_tpl_item(sequence, i), value;
		bool is_true = false;

		rc = next_scope(run, up);
		if (!rc)
			rc = assign(run, run->scope, &node->names, &item);
		if (!rc)
			rc = mr_tpl_eval(run, node->b, &value);
		if (!rc)
			rc = mr_tpl_test(run, &value, &is_true);
		if (is_true)
			items[count++] = item;
	}
	run->scope = up;
	if (!rc)
		*sequence = mr_tpl_list(items, count);
	return rc;
}

enum mr_code mr_tpl_loop_over(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	const struct mr_tpl_value *value, unsigned depth)
{
	struct mr_tpl_scope *up = run->scope;
	struct mr_tpl_loop *loop;
	struct mr_tpl_value self = { .kind = MR_TV_LOOP }, sequence;
	enum mr_code rc = mr_tpl_iterate(run, value, &sequence);

	if (!rc && node->b)
		rc = select_items(run, node, &sequence);
	if (rc)
		return rc;
	if (!sequence.len)
		return mr_tpl_exec(run, &node->other);
	loop = mr_tpl_alloc(run, 1, sizeof(*loop));
	if (!loop)
		return run->err->code;
	*loop = (struct mr_tpl_loop){ .len = sequence.len,
		.depth = depth,
		.sequence = sequence,
		.node = node->flag ? node : NULL,
		.scope = up };
	self.loop = loop;
	for (; !rc && loop->index < loop->len; loop->index++) {
		struct mr_tpl_value item = mr_tpl_item(&sequence, loop->index);

		rc = next_scope(run, up);
		if (!rc)
			rc = mr_tpl_burn(run, 1);
		if (!rc)
			rc = assign(run, run->scope, &node->names, &item);
		if (!rc)
			rc = mr_tpl_scope_set(run, run->scope, "loop", &self);
		if (!rc)
			rc = mr_tpl_exec(run, &node->body);
	}
	run->scope = up;
	return rc;
}

static enum mr_code run_for(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value sequence;
	enum mr_code rc = mr_tpl_eval(run, node->a, &sequence);

	return rc ? rc : mr_tpl_loop_over(run, node, &sequence, 1);
}

static enum mr_code run_if(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value value;
	bool is_true = false;
	enum mr_code rc = mr_tpl_eval(run, node->a, &value);

	if (!rc)
		rc = mr_tpl_test(run, &value, &is_true);
	return rc ? rc : mr_tpl_exec(run, is_true ? &node->body : &node->other);
}

static enum mr_code run_set(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value value, owner;
	enum mr_code rc = mr_tpl_eval(run, node->a, &value);

	if (rc)
		return rc;
	if (node->kind == MR_TN_SET)
		return assign(run, run->scope, &node->names, &value);
	rc = mr_tpl_lookup(run, node->name, &owner);
	if (!rc && (owner.kind != MR_TV_SCOPE || owner.is_safe))
		rc = mr_tpl_fail(run, MR_EINVAL,
			"members can be set of a namespace only, and '%s' is %s", node->name,
			mr_tpl_kind_name(&owner));
	return rc ? rc : mr_tpl_scope_set(run, owner.scope, node->names.items[0], &value);
}

/* The captured body through the filters of `node`. */
static enum mr_code filter_body(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value before = run->captured, body;
	enum mr_code rc = mr_tpl_capture(run, &node->body, &body);

	if (rc)
		return rc;
	run->captured = body;
	rc = mr_tpl_eval(run, node->a, out);
	run->captured = before;
	return rc;
}

static enum mr_code run_set_block(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value value;
	enum mr_code rc = filter_body(run, node, &value);

	return rc ? rc : mr_tpl_scope_set(run, run->scope, node->name, &value);
}

static enum mr_code run_filter(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value value;
	enum mr_code rc = filter_body(run, node, &value);

	return rc ? rc : mr_tpl_write(run, &value);
}

static enum mr_code run_with(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_scope *up = run->scope, *inner = mr_tpl_scope_new(run, up);
	enum mr_code rc = inner ? MR_OK : run->err->code;

	for (size_t i = 0; !rc && i < node->names.len; i++) {
		struct mr_tpl_value value;

		rc = mr_tpl_eval(run, node->list.items[i], &value);
		if (!rc)
			rc = mr_tpl_scope_set(run, inner, node->names.items[i], &value);
	}
	if (rc)
		return rc;
	run->scope = inner;
	rc = mr_tpl_exec(run, &node->body);
	run->scope = up;
	return rc;
}

static enum mr_code make_macro(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out)
{
	struct mr_tpl_macro *macro = mr_tpl_alloc(run, 1, sizeof(*macro));

	if (!macro)
		return run->err->code;
	*macro = (struct mr_tpl_macro){ node, run->scope, run->name, run->escape };
	for (struct mr_tpl_scope *scope = run->scope; scope; scope = scope->up)
		scope->is_kept = true;
	*out = (struct mr_tpl_value){ .kind = MR_TV_MACRO, .macro = macro };
	return MR_OK;
}

static enum mr_code run_macro(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value macro;
	enum mr_code rc = make_macro(run, node, &macro);

	return rc ? rc : mr_tpl_scope_set(run, run->scope, node->name, &macro);
}

/* The macro that is called finds the block's body as `caller`. */
static enum mr_code run_call(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value caller, value, before = run->caller;
	enum mr_code rc = make_macro(run, node->b, &caller);

	if (rc)
		return rc;
	run->caller = caller;
	rc = mr_tpl_eval(run, node->a, &value);
	run->caller = before;
	return rc ? rc : mr_tpl_write(run, &value);
}

static enum mr_code run_escape(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value value;
	bool before = run->escape;
	enum mr_code rc = mr_tpl_eval(run, node->a, &value);

	if (rc)
		return rc;
	run->escape = mr_tpl_is_true(&value) && !mr_tpl_is_text(&value, "none");
	rc = mr_tpl_exec(run, &node->body);
	run->escape = before;
	return rc;
}

enum mr_code mr_tpl_run_block(struct mr_tpl_run *run, struct mr_tpl_override *block, size_t level)
{
	struct mr_tpl_override *before = run->block;
	size_t level_before = run->block_level;
	const char *name = run->name;
	struct mr_tpl_scope *up = run->scope;
	bool was_extending = run->is_extending;
	enum mr_code rc;

	if (!run->depth)
		return mr_tpl_fail(run, MR_ELIMIT, "templates and macros are nested too deeply");
	run->scope = mr_tpl_scope_new(run, up);
	if (!run->scope) {
		run->scope = up;
		return run->err->code;
	}
	run->depth--;
	run->block = block;
	run->block_level = level;
	run->name = block->templates[level];
	run->is_extending = false;
	rc = mr_tpl_exec(run, &block->nodes[level]->body);
	run->is_extending = was_extending;
	run->name = name;
	run->block = before;
	run->block_level = level_before;
	run->scope = up;
	run->depth++;
	return rc;
}

static enum mr_code run_block(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_override *block = mr_tpl_find_block(run, node->name);

	if (run->is_extending || !block)
		return MR_OK;
	return mr_tpl_run_block(run, block, 0);
}

static enum mr_code exec_node(struct mr_tpl_run *run, const struct mr_tpl_node *node)
{
	struct mr_tpl_value value;
	enum mr_code rc;

	switch (node->kind) {
	case MR_TN_TEXT:
		return write_text(run, node);
	case MR_TN_PRINT:
		rc = mr_tpl_eval(run, node->a, &value);
		return rc ? rc : mr_tpl_write(run, &value);
	case MR_TN_IF:
		return run_if(run, node);
	case MR_TN_FOR:
		return run_for(run, node);
	case MR_TN_SET:
	case MR_TN_SET_MEMBER:
		return run_set(run, node);
	case MR_TN_SET_BLOCK:
		return run_set_block(run, node);
	case MR_TN_WITH:
		return run_with(run, node);
	case MR_TN_FILTER_BLOCK:
		return run_filter(run, node);
	case MR_TN_MACRO:
		return run_macro(run, node);
	case MR_TN_CALL_BLOCK:
		return run_call(run, node);
	case MR_TN_INCLUDE:
		return mr_tpl_include(run, node);
	case MR_TN_IMPORT:
	case MR_TN_FROM:
		return mr_tpl_import(run, node);
	case MR_TN_EXTENDS:
		return mr_tpl_extend(run, node);
	case MR_TN_BLOCK:
		return run_block(run, node);
	case MR_TN_AUTOESCAPE:
		return run_escape(run, node);
	default: /* MR_TN_DO */
		return mr_tpl_eval(run, node->a, &value);
	}
}

enum mr_code mr_tpl_exec(struct mr_tpl_run *run, const struct mr_tpl_nodes *nodes)
{
	enum mr_code rc = MR_OK;

	run->nesting++;
	for (size_t i = 0; !rc && i < nodes->len; i++) {
		run->line = nodes->items[i]->line;
		rc = mr_tpl_burn(run, 1);
		if (!rc)
			rc = exec_node(run, nodes->items[i]);
	}
	run->nesting--;
	return rc;
}
