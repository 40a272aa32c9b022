/* surface/mcp/tools.c - the operation table as tools. */
#include "op/args.h"
#include "op/envelope.h"
#include "op/schema.h"
#include "surface/mcp/fixtures.h"
#include "surface/mcp/method.h"

enum { ANSWER_BYTES = 32 << 20 };

static bool is_tool(const struct mr_mcp *mcp, const struct mr_op *op)
{
	return op->surfaces & MR_ON_MCP &&
		(!mr_mcp_options(mcp)->core_only || op->traits & MR_CORE);
}

/* What a list is about: its only member "result", which clients see bare. */
static bool is_list(const struct mr_op *op)
{
	return op->result && mr_field_count(op->result) > 0 &&
		mr_str_eq(op->result[0].name, "result");
}

static void put_annotations(struct mr_out *out, const struct mr_op *op)
{
	bool writes = op->needs & MR_NEED_WRITE;

	mr_out_map(out, "annotations");
	mr_out_text(out, "title", op->summary);
	mr_out_bool(out, "readOnlyHint", !writes);
	if (writes) {
		mr_out_bool(out, "destructiveHint", op->traits & MR_DESTRUCTIVE);
		mr_out_bool(out, "idempotentHint", op->traits & MR_IDEMPOTENT);
	}
	mr_out_bool(out, "openWorldHint", op->traits & MR_OPEN_WORLD);
	mr_out_end(out);
}

static void put_tool(struct mr_out *out, const struct mr_op *op)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "name", op->name);
	mr_out_text(out, "title", op->summary);
	mr_out_text(out, "description", op->help ? op->help : op->summary);
	mr_schema_input(out, "inputSchema", op);
	mr_schema_output(out, "outputSchema", op);
	put_annotations(out, op);
	mr_out_end(out);
}

enum mr_code mr_mcp_tools_list(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const struct mr_op_table *table = mr_mcp_app(ex->mcp)->table;
	struct mr_arena *arena = ex->call.cx.arena;
	const char **names = mr_arena_array(arena, table->len, sizeof(*names));
	const struct mr_op **tools = mr_arena_array(arena, table->len, sizeof(*tools));
	size_t count = 0, from = 0, until;
	enum mr_code rc;

	for (size_t i = 0; i < table->len; i++) {
		if (!is_tool(ex->mcp, table->ops[i]))
			continue;
		names[count] = table->ops[i]->name;
		tools[count++] = table->ops[i];
	}
	rc = mr_mcp_page_from(ex, names, count, &from);
	if (rc)
		return rc;
	until = count - from > MR_MCP_PAGE ? from + MR_MCP_PAGE : count;
	mr_out_list(out, "tools");
	for (size_t i = from; i < until; i++)
		put_tool(out, tools[i]);
	if (until == count && mr_mcp_options(ex->mcp)->fixtures)
		mr_mcp_fixture_tools(ex, out);
	mr_out_end(out);
	if (until < count)
		mr_mcp_page_next(ex, out, names[until - 1]);
	return MR_OK;
}

static const char *json_of(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct mr_json_writer w;

	mr_buf_init(&text, ANSWER_BYTES);
	mr_json_init(&w, &text, MR_JSON_COMPACT);
	mr_json_value(&w, value);
	return mr_arena_strndup(arena, (const char *)mr_buf_bytes(&text).data,
		mr_buf_bytes(&text).len);
}

static void put_text(struct mr_out *out, const char *text)
{
	mr_out_list(out, "content");
	mr_out_map(out, NULL);
	mr_out_text(out, "type", "text");
	mr_out_text(out, "text", text);
	mr_out_end(out);
	mr_out_end(out);
}

/* What went wrong in a tool is its result: the message, and the envelope a program can read. */
static void put_failure(struct mr_mcp_exchange *ex, const struct mr_op *op, struct mr_out *out)
{
	struct mr_arena *arena = ex->call.cx.arena;
	struct mr_out tree;

	mr_out_init_tree(&tree, arena);
	op->envelope->error(&tree, &ex->call.cx.err);
	put_text(out,
		mr_arena_printf(arena, "%s\n%s", ex->call.cx.err.msg,
			json_of(arena, mr_out_tree(&tree))));
	mr_out_value(out, "structuredContent", mr_out_tree(&tree));
	mr_out_bool(out, "isError", true);
}

static const struct mr_op *find_called(const struct mr_mcp *mcp, const struct mr_rpc *request)
{
	const struct mr_value *name = mr_value_get(request->params, "name");

	return name && name->kind == MR_TEXT ? mr_op_find(mr_mcp_app(mcp)->table, name->text)
					     : NULL;
}

bool mr_mcp_tools_is_long(const struct mr_mcp *mcp, const struct mr_rpc *request)
{
	const struct mr_op *op = find_called(mcp, request);

	return op && op->traits & MR_WAITS;
}

const char *mr_mcp_tools_needs(const struct mr_mcp *mcp, const struct mr_rpc *request,
	unsigned *needs)
{
	const struct mr_op *op = find_called(mcp, request);

	*needs = op ? op->needs : MR_NEED_WRITE;
	return op ? op->name : NULL;
}

enum mr_code mr_mcp_tools_call(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const char *name = mr_mcp_param_text(ex, "name");
	const struct mr_value *arguments = mr_value_get(ex->params, "arguments");
	const struct mr_op *op = name ? mr_op_find(mr_mcp_app(ex->mcp)->table, name) : NULL;
	const struct mr_value *result;
	struct mr_out tree;

	if (!op && name && mr_mcp_options(ex->mcp)->fixtures && mr_mcp_fixture_is_tool(name))
		return mr_mcp_fixture_call(ex, name, arguments, out);
	if (!op || !(op->surfaces & MR_ON_MCP))
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "there is no tool %.100s",
			name ? name : "");
	if (arguments && arguments->kind != MR_MAP && arguments->kind != MR_NULL)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "arguments must be an object");
	mr_out_init_tree(&tree, ex->call.cx.arena);
	if (mr_dispatch(&ex->call, op, arguments, &tree)) {
		put_failure(ex, op, out);
		return MR_OK;
	}
	result = mr_out_tree(&tree);
	put_text(out,
		json_of(ex->call.cx.arena, is_list(op) ? mr_value_get(result, "result") : result));
	mr_out_value(out, "structuredContent", result);
	mr_out_bool(out, "isError", false);
	return MR_OK;
}
