/*
 * surface/mcp/era.h - which generation of the protocol a message speaks, and whether its headers
 * say the same as its body. Pure.
 *
 * The body decides: a message whose _meta claims a protocol version is of the second generation,
 * any other of the first. In the second, every request describes itself completely, and its headers
 * repeat what a proxy may want to know.
 */
#pragma once

#include "surface/http/request.h"
#include "surface/mcp/mcp.h"

/* Why a request of the second generation is refused. */
struct mr_mcp_objection {
	int code; /* JSON-RPC; the HTTP status is 400 */
	const char *message;
	const struct mr_value *data; /* or NULL */
};

/* Does its _meta claim a version? */
bool mr_mcp_era_is_modern(const struct mr_rpc *message);

/*
 * Is this message acceptable? For one of the first generation only a header that names the second
 * is wrong. `client` is filled for a request of the second, its texts living as long as the
 * request. False with `*out` set otherwise.
 */
bool mr_mcp_era_check(const struct mr_http_request *req, const struct mr_rpc *message,
	struct mr_mcp_client *client, struct mr_mcp_objection *out);

/* Does header `name` say `value`? Blanks around it are not part of it, =?base64?...?= is decoded.
 * NULL is no value: then there must be no header. */
bool mr_mcp_era_header_says(const struct mr_http_request *req, const char *name, const char *value);

/*
 * The first header Mcp-Param-... that does not say what its argument says, or NULL. Which argument
 * has one, `schema` says: properties with "x-mcp-header". NULL schema: none has.
 */
const char *mr_mcp_era_wrong_param(const struct mr_http_request *req, const struct mr_value *schema,
	const struct mr_value *arguments);
