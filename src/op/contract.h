/*
 * op/contract.h - what differs between the contracts that share the table of operations.
 *
 * A contract says what its operations are run in, how a result and a failure look, which status a
 * failure ends with, and how its commands behave at a terminal. Everything else about an operation
 * is its tables' (op/op.h). What is NULL or 0 is as in mr_contract_plain.
 */
#pragma once

#include "base/ctx.h"
#include "base/err.h"
#include "op/render.h"
#include "text/out.h"

struct mr_args;
struct mr_call;
struct mr_op;

/* An option that every command of a contract takes. A table ends with an entry without a name. */
struct mr_global_option {
	const char *option;
	const char *value_name; /* or NULL for a flag */
	const char *summary;
};

enum mr_format {
	MR_FORMAT_ANY,  /* people read a text, and programs JSON when they ask for it */
	MR_FORMAT_JSON, /* the contract fixes the output: people get JSON too */
};

/* Where people read of a failure. */
enum mr_stream {
	MR_STREAM_STDERR,
	MR_STREAM_STDOUT, /* the contract leaves standard error empty */
};

struct mr_contract {
	/* What was sent without what is the contract's and not the operation's, which goes into the
	 * call; before the arguments are decoded. */
	const struct mr_value *(
		*take)(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent);
	/* Before the operation: may the caller do this? Opens the part that mr_op.bind gets; `part`
	 * is NULL when the operation opens it itself. */
	enum mr_code (*enter)(struct mr_call *call, const struct mr_op *op,
		const struct mr_args *in, void **part);
	/* After it, also when it was refused: what came of it, the reason in call->cx.err. */
	void (*leave)(struct mr_call *call, const struct mr_op *op, enum mr_code rc);

	/* Around the operation's map. */
	void (*begin_result)(struct mr_out *out);
	void (*end_result)(struct mr_out *out);
	/* The whole error object. */
	void (*error)(struct mr_out *out, const struct mr_err *err);
	unsigned json_style; /* enum mr_json_style, of results and errors */
	int (*exit_status)(const struct mr_err *err);
	int (*http_status)(const struct mr_err *err);

	const struct mr_global_option *globals;
	enum mr_format format;
	/* The failure as people read it, a usage error too, when that is more than its message;
	 * false: it is not. */
	bool (*tell)(struct mr_buf *out, const struct mr_err *err, const struct mr_render *how);
	enum mr_stream failures;
};

/*
 * Mailroom's own: a result is the object itself; an error is
 * {"detail": message, "code": name, "retryable": bool[, "word": ...][, "issues": [{path,
 * message}]]}.
 */
extern const struct mr_contract mr_contract_plain;

/* What the contract says, or else the plain one. */
int mr_contract_exit_status(const struct mr_contract *contract, const struct mr_err *err);
int mr_contract_http_status(const struct mr_contract *contract, const struct mr_err *err);
/* Of an operation; NULL: before it is known which. */
const struct mr_global_option *mr_contract_globals(const struct mr_op *op);
