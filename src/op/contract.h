/*
 * op/contract.h - what differs between the contracts that share the table of operations.
 *
 * A contract says what its operations are run in, how a result and a failure look, which status a
 * failure ends with, and how its commands behave: which options and formats they have, and what
 * they say on which stream. Everything else about an operation is its tables' (op/op.h). What is
 * NULL or 0 is as in mr_contract_plain.
 */
#pragma once

#include "base/ctx.h"
#include "base/err.h"
#include "op/op.h"
#include "op/render.h"
#include "text/out.h"

/* What a global option does. */
enum mr_global_effect {
	MR_GLOBAL_OWN, /* nothing by itself: the contract finds it in mr_invocation.given */
	MR_GLOBAL_HELP,
	MR_GLOBAL_VERSION,
	MR_GLOBAL_FORMAT, /* selects the format that its value names, a flag that of its own name */
	MR_GLOBAL_YES,    /* questions are answered with yes */
	MR_GLOBAL_ABSOLUTE, /* times are written out, also on a terminal */
	MR_GLOBAL_CONFIG,   /* the next three: where settings come from (app/settings.h) */
	MR_GLOBAL_ENV_FILE,
	MR_GLOBAL_SET,
};

/* An option that every command of a contract takes. A table ends with an entry without a name. */
struct mr_global_option {
	const char *option;
	const char *value_name; /* or NULL for a flag */
	const char *summary;
	enum mr_global_effect effect;
	char letter; /* 'h': it can also be typed as -h; or 0 */
	/* It also counts when it stands behind what is wrong with the command line: a format is
	 * that of the usage error, help and version are shown in place of it. */
	bool counts_behind;
};

/* An option that was given; value NULL: it is a flag. */
struct mr_given {
	const char *option, *value;
};

/* A form in which a command writes its result. A table ends with an entry without a name; the first
 * one is used unless an option (MR_GLOBAL_FORMAT) names another. */
struct mr_format {
	const char *name;
	/* Writes a value and ends its last line; `op` is NULL for what is not an operation's
	 * result. NULL: one line of JSON in json_style. */
	void (*write)(struct mr_buf *out, const struct mr_op *op, const struct mr_value *value,
		const struct mr_render *how);
	unsigned json_style; /* enum mr_json_style */
	/* People read it: failures are told in sentences, where mr_contract.failures says. In other
	 * formats a failure is an object, on standard output. */
	bool is_for_people;
};

/* Where people read of a failure. */
enum mr_stream {
	MR_STREAM_STDERR,
	/* The contract leaves standard error empty: nothing is asked there, no progress is shown,
	 * and a command line without a command is a failure, where help would be shown. */
	MR_STREAM_STDOUT,
};

/* A command line, as its contract sees it. */
struct mr_invocation {
	int argc;
	const char *const *argv;
	const char *program;    /* "mailroom" */
	const char *path;       /* the command's words as far as they are known: "team send" */
	const struct mr_op *op; /* NULL: the words name a group, or nothing */
	const struct mr_contract *contract;
	const struct mr_format *format;
	bool is_format_given;
	bool is_absolute;             /* times are written out, also on a terminal */
	bool is_help, is_version;     /* that was asked for */
	const struct mr_given *given; /* options with the effect MR_GLOBAL_OWN, in their order */
	size_t given_count;
	const struct mr_clock *clock;
	int64_t begun_us;    /* the clock's mono face at the start */
	bool is_usage;       /* the command line is wrong, and the operation was not run */
	const char *message; /* of a failure, in the words of a command line: --to, not $.to */
};

/* What happens while a command runs. */
enum mr_event_kind {
	MR_EVENT_BEGIN,    /* the operation is about to run */
	MR_EVENT_WARNING,  /* `text`, about the settings */
	MR_EVENT_PROGRESS, /* `text` says of what; `done` of `total` */
	MR_EVENT_END,      /* it has run; `err` says why it failed, or is NULL */
};

struct mr_event {
	enum mr_event_kind kind;
	const char *text;
	size_t done, total;
	const struct mr_err *err;
};

struct mr_app;
struct mr_call;

struct mr_contract {
	/* --- on every surface --- */

	/* Does this server offer its operations as tools (MR_ON_MCP_SET)? NULL: no. */
	bool (*offers)(const struct mr_app *app);
	/* What a model must know of texts in its results that others wrote; NULL: Mailroom's own
	 * sentence, which is about other agents. */
	const char *provenance;

	/* The arguments in the body of an HTTP request, for a contract that is stricter about them
	 * than op/args.h, or words what is wrong with them itself. Its operations take no
	 * arguments from the query. NULL: a JSON object, as surface/http/api.h says. */
	enum mr_code (*read_body)(struct mr_call *call, const struct mr_op *op,
		const char *content_type, struct mr_bytes body, const struct mr_value **out);
	/* What was sent without what is the contract's and not the operation's, which goes into the
	 * call; before the arguments are decoded. */
	const struct mr_value *(
		*take)(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent);
	/*
	 * Before the operation: may the caller do this? Opens the part that mr_op.bind gets, and
	 * locks it as the operation needs it (MR_NEED_WRITE). `part` is NULL for an operation that
	 * needs none, or opens it itself. On failure `*part` stays NULL, and nothing is held.
	 */
	enum mr_code (*enter)(struct mr_call *call, const struct mr_op *op,
		const struct mr_args *in, void **part);
	/* After it, when its result was emitted, and also when it failed or was refused: lets go of
	 * the part, NULL when none was entered. `rc` is what came of it, the reason in
	 * call->cx.err. */
	void (*leave)(struct mr_call *call, const struct mr_op *op, void *part, enum mr_code rc);

	/* For callers that may send a request twice. Before the operation runs: `*out` is what it
	 * emitted when the same request was carried out before, which is then its result again, or
	 * NULL. `sent` are its arguments, and `part` is what enter() opened. Or NULL. */
	enum mr_code (*recall)(struct mr_call *call, const struct mr_op *op,
		const struct mr_value *sent, void *part, const struct mr_value **out);
	/* After it has run, when nothing was recalled; `emitted` is NULL when it failed. Comes with
	 * recall(), and needs result(). */
	void (*remember)(struct mr_call *call, const struct mr_op *op, const struct mr_value *sent,
		void *part, enum mr_code rc, const struct mr_value *emitted);

	/* Emits the whole result, from what the operation emitted (NULL: nothing). */
	void (*result)(struct mr_out *out, const struct mr_call *call, const struct mr_op *op,
		const struct mr_value *emitted);
	/* The whole error object. */
	void (*error)(struct mr_out *out, const struct mr_err *err);
	int (*exit_status)(const struct mr_err *err);
	int (*http_status)(const struct mr_err *err);

	/* --- on the command line --- */

	const struct mr_global_option *globals;
	const struct mr_format *formats;
	/* Are the contract's own options right, and is the format one for what was asked? Else the
	 * usage is wrong. */
	enum mr_code (*check)(const struct mr_invocation *how, struct mr_err *err);
	/* The whole error object of a command, wrong usage (how->is_usage) included; NULL: as
	 * error() has it. */
	void (*failure)(struct mr_out *out, const struct mr_invocation *how,
		const struct mr_err *err);
	/* The failure as people read it, a usage error too, when that is more than its message;
	 * false: it is not. */
	bool (*tell)(struct mr_buf *out, const struct mr_err *err, const struct mr_render *how);
	enum mr_stream failures;
	/* Emits an object about an event, a list of objects, or nothing; each is written at once,
	 * on standard output in the command's format. NULL: warnings and progress are shown to
	 * people.
	 */
	void (*event)(struct mr_out *out, const struct mr_invocation *how,
		const struct mr_event *event);
	/* The help for how->path, and the version, in how->format; NULL: a text for people. */
	void (*help)(struct mr_buf *out, const struct mr_op_table *table,
		const struct mr_invocation *how);
	void (*version)(struct mr_buf *out, const struct mr_invocation *how);
};

/*
 * Mailroom's own: a result is the object itself; an error is
 * {"detail": message, "code": name, "retryable": bool[, "word": ...][, "issues": [{path,
 * message}]]}.
 */
extern const struct mr_contract mr_contract_plain;

/* The contract of an operation; without one (NULL), that of the program's table. */
const struct mr_contract *mr_contract_of(const struct mr_op_table *table, const struct mr_op *op);
/* The contract of the command with this path, or of the commands of this group. */
const struct mr_contract *mr_contract_at(const struct mr_op_table *table, const char *path);
/* Is the operation a tool of this server? */
bool mr_contract_is_tool(const struct mr_app *app, const struct mr_op *op);
/* Is it listed among the tools, by the set in force (mcp.tools_mode)? What is not listed can be
 * called all the same. */
bool mr_contract_is_listed(const struct mr_app *app, const struct mr_op *op);
/* What the contract says, or else the plain one. */
void mr_contract_error(const struct mr_contract *contract, struct mr_out *out,
	const struct mr_err *err);
int mr_contract_exit_status(const struct mr_contract *contract, const struct mr_err *err);
int mr_contract_http_status(const struct mr_contract *contract, const struct mr_err *err);
const struct mr_global_option *mr_contract_globals(const struct mr_contract *contract);
const struct mr_format *mr_contract_formats(const struct mr_contract *contract);
/* The format of this name, or with NULL the usual one; NULL when there is none. */
const struct mr_format *mr_contract_format(const struct mr_contract *contract, const char *name);
