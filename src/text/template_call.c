/* text/template_call.c - what can be called: macros, functions, and the parts of a loop. */
#include "text/template_private.h"

#include <string.h>

enum { RANGE_MAX = 100000 };

static enum mr_code range(struct mr_tpl_run *run, const struct mr_tpl_args *args,
	struct mr_tpl_value *out)
{
	int64_t bounds[3] = { 0, 0, 1 }, count = 0;
	struct mr_tpl_value *items;

	if (args->len < 1 || args->len > 3 || args->named_len)
		return mr_tpl_fail(run, MR_EINVAL, "range() takes one to three numbers");
	for (size_t i = 0; i < args->len; i++) {
		if (args->items[i].kind != MR_TV_INT)
			return mr_tpl_fail(run, MR_EINVAL, "range() takes whole numbers, not %s",
				mr_tpl_kind_name(&args->items[i]));
		bounds[args->len == 1 ? 1 : i] = args->items[i].integer;
	}
	if (bounds[2] == 0)
		return mr_tpl_fail(run, MR_EINVAL, "the step of range() is 0");
	for (int64_t at = bounds[0]; bounds[2] > 0 ? at < bounds[1] : at > bounds[1];) {
		if (++count > RANGE_MAX)
			return mr_tpl_fail(run, MR_ELIMIT, "range() makes more than %d numbers",
				RANGE_MAX);
		if (__builtin_add_overflow(at, bounds[2], &at))
			break;
	}
	items = mr_tpl_alloc(run, (size_t)count, sizeof(*items));
	if (!items)
		return run->err->code;
	for (int64_t i = 0; i < count; i++)
		items[i] = mr_tpl_int(bounds[0] + i * bounds[2]);
	*out = mr_tpl_list(items, (size_t)count);
	return MR_OK;
}

static enum mr_code dict(struct mr_tpl_run *run, const struct mr_tpl_args *args,
	struct mr_tpl_value *out)
{
	if (args->len)
		return mr_tpl_fail(run, MR_EINVAL, "dict() takes arguments with names only");
	*out = (struct mr_tpl_value){ .kind = MR_TV_MAP,
		.pairs = args->named,
		.len = args->named_len };
	return MR_OK;
}

static enum mr_code make_namespace(struct mr_tpl_run *run, const struct mr_tpl_args *args,
	struct mr_tpl_value *out)
{
	struct mr_tpl_scope *scope = mr_tpl_scope_new(run, NULL);
	enum mr_code rc = MR_OK;

	if (!scope)
		return run->err->code;
	if (args->len)
		return mr_tpl_fail(run, MR_EINVAL, "namespace() takes arguments with names only");
	for (size_t i = 0; !rc && i < args->named_len; i++)
		rc = mr_tpl_scope_set(run, scope, args->named[i].key.text, &args->named[i].value);
	*out = (struct mr_tpl_value){ .kind = MR_TV_SCOPE, .scope = scope };
	return rc;
}

static enum mr_code super(struct mr_tpl_run *run, const struct mr_tpl_args *args,
	struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf *before = run->out;
	enum mr_code rc;

	if (!run->block || args->len || args->named_len)
		return mr_tpl_fail(run, MR_EINVAL,
			"super() is called in a block, without arguments");
	if (run->block_level + 1 >= run->block->len)
		return mr_tpl_fail(run, MR_EINVAL, "no parent has a block '%s'", run->block->name);
	mr_tpl_buf_init(run, &buf);
	run->out = &buf;
	rc = mr_tpl_run_block(run, run->block, run->block_level + 1);
	run->out = before;
	if (!rc)
		rc = mr_tpl_buf_take(run, &buf, out);
	if (!rc)
		out->is_safe = run->escape;
	return rc;
}

static const struct mr_tpl_function functions[] = {
	{ "range", range },
	{ "dict", dict },
	{ "namespace", make_namespace },
	{ "super", super },
};

const struct mr_tpl_function *mr_tpl_function(const char *name)
{
	for (size_t i = 0; i < MR_LEN(functions); i++)
		if (mr_str_eq(functions[i].name, name))
			return &functions[i];
	return NULL;
}

/* Bind a macro's parameters in `scope`, defaults where nothing is given. */
static enum mr_code bind(struct mr_tpl_run *run, const struct mr_tpl_macro *macro,
	const struct mr_tpl_args *args, struct mr_tpl_scope *scope)
{
	const struct mr_tpl_node *node = macro->node;
	enum mr_code rc = MR_OK;

	if (args->len > node->names.len)
		return mr_tpl_fail(run, MR_EINVAL, "macro '%s' takes %zu arguments, not %zu",
			node->name, node->names.len, args->len);
	for (size_t i = 0; i < args->named_len; i++)
		if (!mr_texts_has(&node->names, args->named[i].key.text))
			return mr_tpl_fail(run, MR_EINVAL, "macro '%s' has no argument '%s'",
				node->name, args->named[i].key.text);
	for (size_t i = 0; !rc && i < node->names.len; i++) {
		struct mr_tpl_value value = { .kind = MR_TV_UNDEFINED };
		const struct mr_tpl_value *given = mr_tpl_arg(args, i, node->names.items[i]);

		if (given)
			value = *given;
		else if (node->list.items[i])
			rc = mr_tpl_eval(run, node->list.items[i], &value);
		if (!rc)
			rc = mr_tpl_scope_set(run, scope, node->names.items[i], &value);
	}
	return rc;
}

static enum mr_code call_macro(struct mr_tpl_run *run, const struct mr_tpl_macro *macro,
	const struct mr_tpl_args *args, struct mr_tpl_value *out)
{
	struct mr_tpl_scope *before = run->scope;
	struct mr_tpl_value caller = run->caller;
	const char *name = run->name;
	struct mr_tpl_override *block = run->block;
	unsigned line = run->line;
	bool escape = run->escape;
	enum mr_code rc = MR_OK;

	if (!run->depth)
		return mr_tpl_fail(run, MR_ELIMIT, "templates and macros are nested too deeply");
	run->scope = mr_tpl_scope_new(run, macro->scope);
	if (!run->scope)
		rc = run->err->code;
	run->depth--;
	run->caller = (struct mr_tpl_value){ .kind = MR_TV_UNDEFINED };
	run->block = NULL;
	if (!rc)
		rc = bind(run, macro, args, run->scope);
	if (!rc && caller.kind == MR_TV_MACRO)
		rc = mr_tpl_scope_set(run, run->scope, "caller", &caller);
	run->name = macro->template_name;
	run->escape = macro->escape;
	if (!rc)
		rc = mr_tpl_capture(run, &macro->node->body, out);
	out->is_safe = escape;
	run->escape = escape;
	run->block = block;
	run->name = name;
	run->line = line;
	run->caller = caller;
	run->scope = before;
	run->depth++;
	return rc;
}

/* loop(items) in a recursive loop: the loop again, over these. */
static enum mr_code call_loop(struct mr_tpl_run *run, const struct mr_tpl_loop *loop,
	const struct mr_tpl_args *args, struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_scope *scope = run->scope;
	struct mr_buf *before = run->out;
	enum mr_code rc;

	if (!loop->node)
		return mr_tpl_fail(run, MR_EINVAL, "only a loop that is 'recursive' can be called");
	if (args->len != 1 || args->named_len)
		return mr_tpl_fail(run, MR_EINVAL, "loop() takes one argument");
	if (!run->depth)
		return mr_tpl_fail(run, MR_ELIMIT, "templates and macros are nested too deeply");
	run->depth--;
	mr_tpl_buf_init(run, &buf);
	run->out = &buf;
	run->scope = loop->scope;
	rc = mr_tpl_loop_over(run, loop->node, &args->items[0], loop->depth + 1);
	run->scope = scope;
	run->out = before;
	run->depth++;
	if (!rc)
		rc = mr_tpl_buf_take(run, &buf, out);
	if (!rc)
		out->is_safe = run->escape;
	return rc;
}

static enum mr_code changed(struct mr_tpl_run *run, struct mr_tpl_loop *loop,
	const struct mr_tpl_args *args, struct mr_tpl_value *out)
{
	struct mr_tpl_value seen = mr_tpl_list(args->items, args->len);
	bool is_same = false;
	enum mr_code rc = mr_tpl_equal(run, &loop->last_seen, &seen, &is_same);

	loop->last_seen = seen;
	*out = mr_tpl_bool(!is_same);
	return rc;
}

enum mr_code mr_tpl_call(struct mr_tpl_run *run, const struct mr_tpl_value *callee,
	const struct mr_tpl_args *args, struct mr_tpl_value *out)
{
	*out = (struct mr_tpl_value){ .kind = MR_TV_UNDEFINED };
	switch (callee->kind) {
	case MR_TV_MACRO:
		return call_macro(run, callee->macro, args, out);
	case MR_TV_FUNCTION:
		return callee->function->call(run, args, out);
	case MR_TV_LOOP:
		return call_loop(run, callee->loop, args, out);
	case MR_TV_CHANGED:
		return changed(run, callee->loop, args, out);
	case MR_TV_CYCLE:
		if (!args->len)
			return mr_tpl_fail(run, MR_EINVAL,
				"loop.cycle() needs something to choose from");
		*out = args->items[callee->loop->index % args->len];
		return MR_OK;
	default:
		return mr_tpl_fail(run, MR_EINVAL, "%s cannot be called", mr_tpl_kind_name(callee));
	}
}
