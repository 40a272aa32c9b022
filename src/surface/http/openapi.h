/* surface/http/openapi.h - the routes of the operation table as an OpenAPI document. */
#pragma once

#include "op/op.h"
#include "text/out.h"

/* The whole document: every GET route, and every tool as POST /api/tools/NAME. Paths live in
 * `arena`. */
void mr_openapi_write(struct mr_arena *arena, struct mr_out *out, const struct mr_op_table *table);
