/*
 * surface/http/openapi.c - Writes the OpenAPI document of the HTTP routes from the operation
 * table.
 */
#include "surface/http/openapi.h"

#include "op/schema.h"

#include <string.h>

static void put_json(struct mr_out *out, const char *key, const struct mr_op *op,
	void (*schema)(struct mr_out *, const char *, const struct mr_op *))
{
	mr_out_map(out, key);
	mr_out_map(out, "application/json");
	schema(out, "schema", op);
	mr_out_end(out);
	mr_out_end(out);
}

static void put_responses(struct mr_out *out, const struct mr_op *op)
{
	mr_out_map(out, "responses");
	mr_out_map(out, "200");
	mr_out_text(out, "description", "the result");
	if (op->result)
		put_json(out, "content", op, mr_schema_output);
	mr_out_end(out);
	mr_out_map(out, "default");
	mr_out_text(out, "description", "an error; its text says what to do");
	mr_out_end(out);
	mr_out_end(out);
}

static void put_operation(struct mr_out *out, const char *method, const struct mr_op *op)
{
	mr_out_map(out, method);
	mr_out_text(out, "operationId", op->name);
	mr_out_text(out, "summary", op->summary);
	if (op->help)
		mr_out_text(out, "description", op->help);
	if (op->cluster) {
		mr_out_list(out, "tags");
		mr_out_text(out, NULL, op->cluster);
		mr_out_end(out);
	}
	if (mr_str_eq(method, "post")) {
		mr_out_map(out, "requestBody");
		put_json(out, "content", op, mr_schema_input);
		mr_out_end(out);
	}
	put_responses(out, op);
	mr_out_end(out);
}

void mr_openapi_write(struct mr_arena *arena, struct mr_out *out, const struct mr_op_table *table)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "openapi", "3.1.0");
	mr_out_map(out, "info");
	mr_out_text(out, "title", "Mailroom");
	mr_out_text(out, "version", MR_VERSION);
	mr_out_end(out);
	mr_out_map(out, "paths");
	for (size_t i = 0; i < table->len; i++) {
		const struct mr_op *op = table->ops[i];

		if (op->route && mr_str_starts(op->route, "GET ")) {
			mr_out_map(out, op->route + strlen("GET "));
			put_operation(out, "get", op);
			mr_out_end(out);
		}
		if (op->surfaces & MR_ON_MCP) {
			mr_out_map(out, mr_arena_printf(arena, "/api/tools/%s", op->name));
			put_operation(out, "post", op);
			mr_out_end(out);
		}
	}
	mr_out_end(out);
	mr_out_end(out);
}
