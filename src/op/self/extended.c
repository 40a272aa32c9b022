/* op/self/extended.c - operations: tools that a client with a small list can find and call by name.
 */
#include "op/args.h"
#include "op/call.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/team/contract_team.h"
#include "team/error.h"
#include "text/out.h"

#include <stdlib.h>
#include <string.h>

static const struct mr_field tool_fields[] = {
	{ .name = "name", .type = MR_TYPE_TEXT },
	{ .name = "category", .type = MR_TYPE_TEXT },
	{ .name = "description", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field list_fields[] = {
	{ .name = "total", .type = MR_TYPE_INT },
	{ .name = "by_category", .type = MR_TYPE_OBJECT, .summary = "names, under what they do" },
	{ .name = "tools", .type = MR_TYPE_LIST, .fields = tool_fields },
	{ 0 },
};

static bool is_extended(const struct mr_op *op)
{
	return op->surfaces & MR_ON_MCP && !(op->traits & MR_CORE);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct mr_op *const *)a)->name,
		(*(const struct mr_op *const *)b)->name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct mr_texts clusters_of(struct mr_arena *arena, const struct mr_op *const *ops,
	size_t count)
{
	struct mr_texts all = { mr_arena_array(arena, count + 1, sizeof(*all.items)), 0 };

	for (size_t i = 0; i < count; i++) {
		if (!mr_texts_has(&all, ops[i]->cluster))
			all.items[all.len++] = ops[i]->cluster;
	}
	qsort(all.items, all.len, sizeof(*all.items), by_text);
	return all;
}

static void put_clusters(struct mr_arena *arena, struct mr_out *out, const struct mr_op *const *ops,
	size_t count)
{
	struct mr_texts clusters = clusters_of(arena, ops, count);

	mr_out_map(out, "by_category");
	for (size_t i = 0; i < clusters.len; i++) {
		mr_out_list(out, clusters.items[i]);
		for (size_t k = 0; k < count; k++) {
			if (mr_str_eq(ops[k]->cluster, clusters.items[i]))
				mr_out_text(out, NULL, ops[k]->name);
		}
		mr_out_end(out);
	}
	mr_out_end(out);
}

static enum mr_code list(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const struct mr_op_table *table = call->app->table;
	const struct mr_op **ops = mr_arena_array(call->cx.arena, table->len, sizeof(*ops));
	size_t count = 0;

	(void)in;
	for (size_t i = 0; i < table->len; i++) {
		if (is_extended(table->ops[i]))
			ops[count++] = table->ops[i];
	}
	qsort(ops, count, sizeof(*ops), by_name);
	mr_out_map(out, NULL);
	mr_out_int(out, "total", (int64_t)count);
	put_clusters(call->cx.arena, out, ops, count);
	mr_out_list(out, "tools");
	for (size_t i = 0; i < count; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "name", ops[i]->name);
		mr_out_text(out, "category", ops[i]->cluster);
		mr_out_text(out, "description", ops[i]->help ? ops[i]->help : ops[i]->summary);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_extended_list = {
	.name = "list_extended_tools",
	.summary = "List the tools that are not in your list",
	.help = "Use it when no listed tool does what you need: search, contacts, leases, macros, "
		"products. Then run one with call_extended_tool.",
	.cluster = "infrastructure",
	.result = list_fields,
	.traits = MR_CORE | MR_QUICK,
	.surfaces = MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = list,
};

static const struct mr_param call_params[] = {
	{ .name = "tool_name",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "a name from list_extended_tools" },
	{ .name = "arguments", .type = MR_TYPE_OBJECT, .summary = "what that tool is given" },
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
		if (is_extended(table->ops[i]))
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

	if (!op || !(op->surfaces & MR_ON_MCP) || op->traits & MR_PROXY)
		return refuse_name(call, name);
	rc = mr_dispatch(call, op, mr_args_value(in, "arguments"), out);
	if (rc && call->cx.err.issues)
		mr_err_wrap(&call->cx.err, "Invalid arguments for %s", op->name);
	return rc;
}

const struct mr_op mr_op_extended_call = {
	.name = "call_extended_tool",
	.summary = "Run a tool that is not in your list",
	.help = "Use it with a name that list_extended_tools gave: it gives what that tool gives. "
		"You need the rights that the tool itself asks for.",
	.cluster = "infrastructure",
	.params = call_params,
	.traits = MR_CORE | MR_PROXY,
	.surfaces = MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = call_tool,
};
