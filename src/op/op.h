/*
 * op/op.h - what can be asked, described once.
 *
 * One struct per operation. Commands, help, completion, JSON Schema, HTTP routes (and MCP tools)
 * are made from it; none of them adds logic. A handler decodes its arguments, makes one call into
 * its part and emits the result: twenty lines.
 */
#pragma once

#include "base/err.h"
#include "text/type.h"
#include "text/value.h"

#include <stdint.h>

struct mr_args;
struct mr_buf;
struct mr_call;
struct mr_envelope;
struct mr_out;
struct mr_render;

enum mr_param_flag {
	MR_REQUIRED = 1,
	MR_POSITIONAL = 2, /* on the command line it stands without its name */
	MR_SECRET = 4,     /* never shown again */
	/* Of a text: `choices` are advertised, and what else is taken its part decides; a number is
	 * as good as its digits. */
	MR_LENIENT = 8,
	/* Names the agent the caller acts as, in project_key: with AGENT_AUTH it takes that one's
	 * token, which is then an argument too (agent_token). */
	MR_ACTOR = 16,
	/* May be long: on the command line "-" stands for standard input. */
	MR_BODY = 32,
};

/* An argument. A table ends with an entry whose name is NULL. */
struct mr_param {
	const char *name; /* the contract's word: project_key */
	enum mr_type type;
	unsigned flags;
	const char *summary;
	const char *const *choices; /* NULL-terminated, for texts; or NULL */
	int64_t min, max;           /* for integers, when max > min */
	/* What holds when it is left out, or NULL: the value itself, or several words for people.
	 */
	const char *fallback;
	const char *const *aliases; /* accepted, not advertised; NULL-terminated, or NULL */
};

enum mr_field_flag {
	MR_OPTIONAL = 1, /* may be left out */
	MR_NULLABLE = 2, /* may be null */
};

/* A field of a result. A table ends with an entry whose name is NULL. */
struct mr_field {
	const char *name;
	enum mr_type type;
	unsigned flags;
	const char *summary;
	const struct mr_field *fields; /* of an object, or of a list's objects */
	const char *const *choices;    /* the only texts it can be; or NULL */
};

enum mr_need {
	MR_NEED_WRITE = 1, /* changes something: the caller must be allowed to */
	MR_NEED_CONFIRM =
		2,         /* destroys something: a person says yes, or the caller said so before */
	MR_NEED_ADMIN = 4, /* concerns others or the machine: that role, or the command line */
};

enum mr_trait {
	MR_QUICK =
		1,   /* never waits for a disk, a lock or a peer: may run where requests are read */
	MR_OPEN = 2, /* answered to anyone, without a token */
	MR_IDEMPOTENT = 4,  /* once more changes nothing more */
	MR_DESTRUCTIVE = 8, /* takes something away that does not come back */
	MR_OPEN_WORLD = 16, /* may ask somebody outside */
	MR_CORE = 32,       /* in the small set of tools (MCP_TOOLS_MODE=core) */
	MR_WAITS = 64,      /* takes as long as it is told to: gets a thread of its own */
	MR_PROXY = 128,     /* runs another operation, and asks for what that one needs */
	MR_QUOTES = 256,    /* its result holds text that other agents wrote */
	MR_ABROAD = 512,    /* runs in other programs' directories: an .env there may be theirs */
	MR_JOINS = 1024,    /* registers who acts: one that has no token yet gets it here */
	/* Shows mail of more than one agent: with AGENT_AUTH only what the caller's own sent or
	 * got, and it takes a token, which is then an argument too (agent_token). */
	MR_SHARED_MAIL = 2048,
};

enum mr_surface {
	MR_ON_CLI = 1,
	MR_ON_HTTP = 2,
	MR_ON_MCP = 4,
};

struct mr_op {
	const char *name; /* unique, the contract's word: fetch_inbox */
	const char
		*command; /* the words of the command line: "team inbox"; NULL when not MR_ON_CLI */
	const char *route;   /* "GET /health"; NULL when not MR_ON_HTTP */
	const char *summary; /* one line */
	const char *help;    /* more: what it does and when to use it; or NULL */
	const char *cluster; /* what it belongs to, for directories: messaging; or NULL */
	const struct mr_param *params;
	const struct mr_field *result;
	unsigned needs;    /* enum mr_need */
	unsigned traits;   /* enum mr_trait */
	unsigned surfaces; /* enum mr_surface */
	const struct mr_envelope *envelope;
	/* Emits one map into `out`. On failure the error is in call->cx.err and what was emitted is
	 * lost. */
	enum mr_code (*run)(struct mr_call *call, const struct mr_args *in, struct mr_out *out);
	/* Its result as people read it; NULL: as op/render.h shows any result. */
	void (*render)(struct mr_buf *out, const struct mr_value *result,
		const struct mr_render *how);
};

/* All operations of a program, in the order they are listed. */
struct mr_op_table {
	const struct mr_op *const *ops;
	size_t len;
};

/* By name; NULL when there is none. */
const struct mr_op *mr_op_find(const struct mr_op_table *table, const char *name);
/* How many entries a table of parameters or fields has; NULL has none. */
size_t mr_param_count(const struct mr_param *params);
size_t mr_field_count(const struct mr_field *fields);
/* Is the result a list, under its first member "result"? */
bool mr_op_is_list(const struct mr_op *op);
/* What is used when it is left out, when that is a value; false when it is words, or nothing. */
bool mr_param_default(const struct mr_param *param, struct mr_value *out);
/* The parameter of this name or alias, or NULL. */
const struct mr_param *mr_param_find(const struct mr_param *params, const char *name);
