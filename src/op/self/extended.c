/* op/self/extended.c - operations: find and call tools that are not in the small list. */
#include "op/args.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/team/contract_team.h"
#include "team/error.h"
#include "text/out.h"

#include <stdlib.h>
#include <string.h>

static bool is_extended(const struct mr_app *app, const struct mr_op *op)
{
	return mr_contract_is_tool(app, op) && !mr_contract_is_listed(app, op);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct mr_op *)a)->name, ((const struct mr_op *)b)->name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct listed {
	struct mr_op *items; /* by name */
	size_t len;
	struct mr_texts clusters; /* that they are of, sorted */
};

static void put_clusters(struct mr_out *out, const char *key, const void *from)
{
	const struct listed *listed = from;

	mr_out_map(out, key);
	for (size_t i = 0; i < listed->clusters.len; i++) {
		mr_out_list(out, listed->clusters.items[i]);
		for (size_t k = 0; k < listed->len; k++) {
			if (mr_str_eq(listed->items[k].cluster, listed->clusters.items[i]))
				mr_out_text(out, NULL, listed->items[k].name);
		}
		mr_out_end(out);
	}
	mr_out_end(out);
}

static const struct mr_field tool_fields[] = {
	MR_FIELD(struct mr_op, name, "name"),
	MR_FIELD(struct mr_op, cluster, "category"),
	MR_FIELD(struct mr_op, help, "description"),
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_FIELD(struct listed, len, "total"),
	{ .name = "by_category",
		.type = MR_TYPE_OBJECT,
		.from = MR_FROM_SAME(struct listed),
		.emit = put_clusters,
		.summary = "names, under what they do" },
	MR_FIELD_ROWS(struct listed, items, len, struct mr_op, tool_fields, "tools"),
	{ 0 },
};

static enum mr_code list_extended(struct mr_call *call, const struct mr_nothing *request,
	struct listed *out)
{
	const struct mr_op_table *table = call->app->table;
	struct mr_texts *clusters = &out->clusters;

	(void)request;
	out->items = mr_arena_array(call->cx.arena, table->len, sizeof(*out->items));
	clusters->items = mr_arena_array(call->cx.arena, table->len, sizeof(*clusters->items));
	for (size_t i = 0; i < table->len; i++) {
		struct mr_op op = *table->ops[i];

		if (!is_extended(call->app, &op))
			continue;
		if (!op.help)
			op.help = op.summary;
		out->items[out->len++] = op;
		if (!mr_texts_has(clusters, op.cluster))
			clusters->items[clusters->len++] = op.cluster;
	}
	qsort(out->items, out->len, sizeof(*out->items), by_name);
	qsort(clusters->items, clusters->len, sizeof(*clusters->items), by_text);
	return MR_OK;
}
MR_BIND_ALONE(list, list_extended, struct mr_nothing, struct listed);

const struct mr_op mr_op_extended_list = {
	.name = "list_extended_tools",
	.summary = "List the tools that are not in your list",
	.help = "For what no listed tool does; call_extended_tool runs them.",
	.cluster = "infrastructure",
	.result = list_fields,
	.traits = MR_CORE | MR_QUICK,
	.surfaces = MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &list,
};

static const struct mr_param call_params[] = {
	{ .name = "tool_name",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "a name from list_extended_tools" },
	{ .name = "arguments", .type = MR_TYPE_OBJECT, .summary = "the arguments of that tool" },
	{ 0 },
};

static enum mr_code refuse_name(struct mr_call *call, const char *name)
{
	const struct mr_op_table *table = call->app->table;
	struct mr_texts names = {
		mr_arena_array(call->cx.arena, table->len + 1, sizeof(*names.items)), 0
	};
	struct mr_texts near;

	for (size_t i = 0; i < table->len; i++) {
		if (is_extended(call->app, table->ops[i]))
			names.items[names.len++] = table->ops[i]->name;
	}
	near = mr_team_nearest(call->cx.arena, name, &names);
	mr_team_fail(&call->cx, MR_TEAM_NOT_FOUND,
		"Unknown extended tool \"%.100s\": list_extended_tools knows them all", name);
	mr_team_fail_text(&call->cx, "tool_name", name);
	return mr_team_fail_texts(&call->cx, "suggestions", &near);
}

static enum mr_code call_tool(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const char *name = mr_args_text(in, "tool_name");
	const struct mr_op *op = mr_op_find(call->app->table, name);
	enum mr_code rc;

	if (!op || !mr_contract_is_tool(call->app, op) || op->traits & MR_PROXY)
		return refuse_name(call, name);
	rc = mr_dispatch(call, op, mr_args_value(in, "arguments"), out);
	if (rc && call->cx.err.issues)
		mr_err_wrap(&call->cx.err, "Invalid arguments for %s", op->name);
	return rc;
}

const struct mr_op mr_op_extended_call = {
	.name = "call_extended_tool",
	.summary = "Run a tool that is not in your list",
	.help = "It answers as that tool does, and asks for the same rights.",
	.cluster = "infrastructure",
	.params = call_params,
	.traits = MR_CORE | MR_PROXY,
	.surfaces = MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = call_tool,
};
