/*
 * op/envelope.h - how one contract speaks: what it wraps results and errors in, and which status a
 * failure ends with. Nothing else about an operation differs between contracts.
 */
#pragma once

#include "base/ctx.h"
#include "base/err.h"
#include "op/render.h"
#include "text/out.h"

struct mr_args;
struct mr_call;
struct mr_op;

struct mr_envelope {
	/* Before an operation with bound tables: checks what the contract asks for and opens the
	 * part that the operation gets; NULL: there is no part. */
	enum mr_code (*enter)(struct mr_call *call, const struct mr_op *op,
		const struct mr_args *in, void **part);
	/* Around the handler's map; a contract without a wrapper opens nothing. */
	void (*begin_result)(struct mr_out *out);
	void (*end_result)(struct mr_out *out);
	/* The whole error object. */
	void (*error)(struct mr_out *out, const struct mr_err *err);
	/* Adds what the contract's errors say of the operation that failed; NULL: nothing. */
	void (*blame)(struct mr_ctx *cx, const char *op);
	int (*exit_status)(const struct mr_err *err);
	int (*http_status)(const struct mr_err *err);
	/* The failure as people read it, when that is more than its message; false: it is not.
	 * NULL: never. */
	bool (*tell)(struct mr_buf *out, const struct mr_err *err, const struct mr_render *how);
	unsigned json_style; /* enum mr_json_style, of results and errors */
	bool only_json;      /* the contract fixes the output: people get JSON too */
};

/*
 * Mailroom's own: a result is the object itself; an error is
 * {"detail": message, "code": name, "retryable": bool[, "word": ...][, "issues": [{path,
 * message}]]}.
 */
extern const struct mr_envelope mr_envelope_plain;
