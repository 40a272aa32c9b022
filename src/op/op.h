/*
 * op/op.h - what can be asked, described once.
 *
 * One struct per operation. Commands, help, completion, JSON Schema, HTTP routes (and MCP tools)
 * are made from it; none of them adds logic. An operation is its tables and one call:
 *
 *   static const struct mr_param release_params[] = {
 *           MR_PARAM(struct mr_team_filter, agent_name, "agent_name", .summary = "whose"),
 *           { 0 },
 *   };
 *   static const struct mr_field release_fields[] = {
 *           MR_FIELD(struct mr_team_released, count, "released", .summary = "how many"),
 *           MR_FIELD_TIME(struct mr_team_released, released_ts, "released_at"),
 *           { 0 },
 *   };
 *   MR_BIND(release, mr_team_release, struct mr_team, struct mr_team_filter,
 *           struct mr_team_released);
 *   const struct mr_op mr_op_team_release = { ..., .params = release_params,
 *           .result = release_fields, .bind = &release };
 *
 * The request is filled from what was sent, mr_team_release(&call->cx, team, &request, &result) is
 * called, and the result is written from the struct (op/bind.h). MR_BIND_CALL() is for a function
 * that needs the struct mr_call, MR_TEAM_BIND() and its like know the part, and MR_BIND_ALONE() is
 * for an operation that has no part or opens it itself. When the part's function takes its
 * arguments one by one, declare a request struct next to the table and a static function that hands
 * them over; the same for a result that the part returns in pieces.
 *
 * A shape that several results show is one table of fields, named by reference: of an object with
 * MR_FIELD_STRUCT(), of a list with MR_FIELD_LIST(), of members that stand among others with
 * MR_MEMBERS(). When a field is shown is said by its flags: MR_OPTIONAL leaves out what is NULL, 0,
 * false or empty, MR_NULLABLE says null instead, and `when` names a flag that decides. What no
 * member can say is written by the field's function `emit`.
 */
#pragma once

#include "base/err.h"
#include "op/member.h"
#include "text/type.h"
#include "text/value.h"

#include <stdint.h>

/* Types and members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
 */

struct mr_args;
struct mr_arena;
struct mr_buf;
struct mr_call;
struct mr_contract;
struct mr_out;
struct mr_render;

enum mr_param_flag {
	MR_REQUIRED = 1,
	MR_POSITIONAL = 2, /* on the command line it stands without its name */
	MR_SECRET = 4,     /* never shown again */
	/* For a text: `choices` are only advertised; the handler decides what else it accepts. A
	 * number is taken as its digits. */
	MR_LENIENT = 8,
	/* Names the acting agent of project_key: with AGENT_AUTH its token is required, and
	 * agent_token becomes an argument. */
	MR_ACTOR = 16,
	/* May be long: on the command line "-" stands for standard input. */
	MR_BODY = 32,
	/* Of a flag: only an administrator may set it. */
	MR_ADMIN_ONLY = 64,
	/* Names a file of the caller's machine, or is a person's to say: only a command line can
	 * give it. Other surfaces refuse it, and schemas do not have it. */
	MR_CLI_ONLY = 128,
	/* Names a directory: on the command line "." is the current one, and so is no argument. */
	MR_HERE = 256,
	/* Short lists of tools leave out its description, because the server's instructions have
	 * it, or its name says all; or the parameter itself, because it is seldom needed. It can be
	 * given all the same. */
	MR_KNOWN = 512,
	MR_RARE = 1024,
	/* For contracts that check bodies strictly (op/mailbox/gateway_body.h): null is a value of
	 * it, and the same as left out. */
	MR_OR_NULL = 2048,
};

/* An argument. A table ends with an entry whose name is NULL. */
struct mr_param {
	const char *name; /* the contract's word: project_key */
	enum mr_type type;
	unsigned flags;
	const char *summary;
	const char *const *choices; /* NULL-terminated, for texts; or NULL */
	int64_t min, max;           /* for integers, when max > min */
	/* The default, or NULL: a value, or words that describe it. */
	const char *fallback;
	const char *const *aliases; /* accepted, not advertised; NULL-terminated, or NULL */
	struct mr_member into;      /* the member of the request that gets its value; or none */
	struct mr_member given;     /* the bool that says whether it was sent; or none */
	/* Of an object, or of a list's objects: what they have. Only strict contracts check it. */
	const struct mr_param *members;
	/* A rule for values of the right type, which strict contracts apply: what is wrong with
	 * this one, or NULL. */
	const char *(*refuse)(struct mr_arena *arena, const struct mr_value *value);
};

enum mr_field_flag {
	MR_OPTIONAL = 1, /* may be left out */
	MR_NULLABLE = 2, /* may be null */
	/* Not a field: the members of the struct `from`, by the table `fields`, stand here. */
	MR_INCLUDED = 4,
};

/* A field of a result. A table ends with an entry whose name is NULL. */
struct mr_field {
	const char *name;
	enum mr_type type;
	unsigned flags;
	const char *summary;
	const struct mr_field *fields; /* of an object, or of a list's objects */
	const char *const *choices;    /* the only texts it can be; or NULL */
	struct mr_member from;         /* the member of the result that has its value; or none */
	struct mr_member when;         /* the bool without which it is left out or null; or none */
	/* Writes the field, or the members of an MR_INCLUDED, from the member at `from`; NULL: as
	 * the tables say. */
	void (*emit)(struct mr_out *out, const char *key, const void *from);
};

/*
 * An entry of a bound table: the struct, the member, the name, and whatever else the entry says:
 * MR_FIELD(struct mr_team_link, reason, "reason", .summary = "why"). The type of the parameter or
 * field is that of the member.
 */
#define MR_PARAM(struct_type, member, ...)                                                         \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_PARAM_TYPE(struct_type, member),                   \
		.into = MR_INTO(struct_type, member)                                               \
	}
#define MR_PARAM_IDS(struct_type, member, count, ...)                                              \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_TYPE_INTS,                                         \
		.into = MR_INTO_IDS(struct_type, member, count)                                    \
	}
/* A list of objects, as it was sent. */
#define MR_PARAM_LIST(struct_type, member, ...)                                                    \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_TYPE_LIST, .into = MR_INTO(struct_type, member)    \
	}
#define MR_FIELD(struct_type, member, ...)                                                         \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_FIELD_TYPE(struct_type, member),                   \
		.from = MR_FROM(struct_type, member)                                               \
	}
#define MR_FIELD_TIME(struct_type, member, ...)                                                    \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_TYPE_TEXT,                                         \
		.from = MR_FROM_TIME(struct_type, member)                                          \
	}
/* An object from the member that is an `item_type`, or points to one, by the table `its_fields`. */
#define MR_FIELD_STRUCT(struct_type, member, item_type, its_fields, ...)                           \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_TYPE_OBJECT, .fields = (its_fields),               \
		.from = MR_FROM_STRUCT(struct_type, member, item_type)                             \
	}
/* An object from members of the same struct. */
#define MR_FIELD_SAME(struct_type, its_fields, ...)                                                \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_TYPE_OBJECT, .fields = (its_fields),               \
		.from = MR_FROM_SAME(struct_type)                                                  \
	}
/* Objects from a member that has `items` and `len`, or from two members. */
#define MR_FIELD_LIST(struct_type, member, item_type, its_fields, ...)                             \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_TYPE_LIST, .fields = (its_fields),                 \
		.from = MR_FROM_LIST(struct_type, member, item_type)                               \
	}
#define MR_FIELD_ROWS(struct_type, member, count, item_type, its_fields, ...)                      \
	{                                                                                          \
		.name = __VA_ARGS__, .type = MR_TYPE_LIST, .fields = (its_fields),                 \
		.from = MR_FROM_ROWS(struct_type, member, count, item_type)                        \
	}
/* Not one field but all of a struct's, among those of the struct that it is a member of. */
#define MR_MEMBERS(struct_type, member, item_type, its_fields)                                     \
	{                                                                                          \
		.name = "*", .flags = MR_INCLUDED, .fields = (its_fields),                         \
		.from = MR_FROM_STRUCT(struct_type, member, item_type)                             \
	}

/* The same of another table of the same struct. */
#define MR_MEMBERS_SAME(struct_type, its_fields)                                                   \
	{                                                                                          \
		.name = "*", .flags = MR_INCLUDED, .fields = (its_fields),                         \
		.from = MR_FROM_SAME(struct_type)                                                  \
	}

/* What an operation with bound tables calls: a function of its part. */
struct mr_binding {
	const char *request, *result; /* the structs that its tables are bound to */
	size_t request_size, result_size;
	bool is_alone; /* the contract's enter() need not open the part: `part` is NULL */
	/* `part` is what the contract's enter() opened; the request is filled, the result zeroed.
	 * On failure the reason is in call->cx.err. */
	enum mr_code (*run)(struct mr_call *call, void *part, void *request, void *result);
};

/* The request of an operation that takes no arguments. */
struct mr_nothing {
	char none;
};

#define MR_PARAM_TYPE(struct_type, member)                                                         \
	_Generic(MR_MEMBER_OF(struct_type, member),                                                \
		const char *: MR_TYPE_TEXT,                                                        \
		int64_t: MR_TYPE_INT,                                                              \
		bool: MR_TYPE_BOOL,                                                                \
		int: MR_TYPE_BOOL,                                                                 \
		unsigned: MR_TYPE_TEXT,                                                            \
		struct mr_texts: MR_TYPE_TEXTS,                                                    \
		const struct mr_value *: MR_TYPE_OBJECT)
#define MR_FIELD_TYPE(struct_type, member)                                                         \
	_Generic(MR_MEMBER_OF(struct_type, member),                                                \
		const char *: MR_TYPE_TEXT,                                                        \
		char *: MR_TYPE_TEXT,                                                              \
		unsigned: MR_TYPE_TEXT,                                                            \
		int64_t: MR_TYPE_INT,                                                              \
		int: MR_TYPE_INT,                                                                  \
		unsigned long: MR_TYPE_INT,                                                        \
		bool: MR_TYPE_BOOL,                                                                \
		double: MR_TYPE_REAL,                                                              \
		struct mr_texts: MR_TYPE_TEXTS,                                                    \
		const struct mr_value *: MR_TYPE_OBJECT)

#define MR_BIND_TO(name, first, function, part_type, request_type, result_type)                    \
	static enum mr_code name##_run(struct mr_call *call, void *part, void *request,            \
		void *result)                                                                      \
	{                                                                                          \
		part_type *typed_part = part;                                                      \
		request_type *typed_request = request;                                             \
		result_type *typed_result = result;                                                \
                                                                                                   \
		return function(first, typed_part, typed_request, typed_result);                   \
	}                                                                                          \
	static const struct mr_binding name = { #request_type, #result_type, sizeof(request_type), \
		sizeof(result_type), false, name##_run }
/* `name` is what mr_op.bind points to, `function` takes struct mr_ctx, the part, the request and
 * the result. */
#define MR_BIND(name, function, part_type, request_type, result_type)                              \
	MR_BIND_TO(name, &call->cx, function, part_type, request_type, result_type)
/* The same for one that takes struct mr_call in place of struct mr_ctx. */
#define MR_BIND_CALL(name, function, part_type, request_type, result_type)                         \
	MR_BIND_TO(name, call, function, part_type, request_type, result_type)
/* For an operation that has no part, or opens it itself: `function` takes struct mr_call, the
 * request and the result. */
#define MR_BIND_ALONE(name, function, request_type, result_type)                                   \
	static enum mr_code name##_run(struct mr_call *call, void *part, void *request,            \
		void *result)                                                                      \
	{                                                                                          \
		request_type *typed_request = request;                                             \
		result_type *typed_result = result;                                                \
                                                                                                   \
		(void)part;                                                                        \
		return function(call, typed_request, typed_result);                                \
	}                                                                                          \
	static const struct mr_binding name = { #request_type, #result_type, sizeof(request_type), \
		sizeof(result_type), true, name##_run }

enum mr_need {
	MR_NEED_WRITE = 1, /* changes something: the caller must be allowed to */
	MR_NEED_CONFIRM =
		2,         /* destroys something: a person says yes, or the caller said so before */
	MR_NEED_ADMIN = 4, /* concerns others or the machine: that role, or the command line */
};

enum mr_trait {
	MR_QUICK =
		1,   /* never waits for a disk, a lock or a peer: may run where requests are read */
	MR_OPEN = 2, /* answered without a token */
	MR_IDEMPOTENT = 4,  /* once more changes nothing more */
	MR_DESTRUCTIVE = 8, /* takes something away that does not come back */
	MR_OPEN_WORLD = 16, /* may send requests to another server */
	MR_CORE = 32,    /* in the smallest set of tools (MCP_TOOLS_MODE=core), and in the next */
	MR_WAITS = 64,   /* may wait as long as it is told to: gets a thread of its own */
	MR_PROXY = 128,  /* runs another operation, and needs what that one needs */
	MR_QUOTES = 256, /* its result holds text that other agents wrote */
	MR_ABROAD = 512, /* runs in directories of other programs, whose .env is not ours */
	MR_JOINS = 1024, /* registers the acting agent, which may have no token yet */
	/* Shows mail of several agents: with AGENT_AUTH only what the caller's own agents sent
	 * or received, and agent_token becomes an argument. */
	MR_SHARED_MAIL = 2048,
	MR_HIDDEN = 4096, /* an older name of another one: works, but help does not show it */
	/* The text that an MCP client gets beside the structured result is the one that people
	 * read (`render`), because both in full would be too long. */
	MR_TOLD = 16384,
	MR_STANDARD = 8192, /* in the usual set of tools (MCP_TOOLS_MODE=standard) */
};

enum mr_surface {
	MR_ON_CLI = 1,
	MR_ON_HTTP = 2,
	MR_ON_MCP = 4,
	/* A tool of MCP only when its contract offers it (mr_contract.offers). */
	MR_ON_MCP_SET = 8,
};

struct mr_op {
	const char *name; /* unique, the contract's word: fetch_inbox */
	const char
		*command; /* the words of the command line: "team inbox"; NULL when not MR_ON_CLI */
	const char *route;   /* "GET /health"; NULL when not MR_ON_HTTP */
	const char *summary; /* one line */
	const char *help;    /* more: what it does and when to use it; or NULL */
	const char *cluster; /* what it belongs to, for directories: messaging; or NULL */
	const char *code;    /* what its contract calls its result: case_created; or NULL */
	const struct mr_param *params;
	const struct mr_field *result; /* NULL: not described; with `bind`, there is none */
	unsigned needs;                /* enum mr_need */
	unsigned traits;               /* enum mr_trait */
	unsigned surfaces;             /* enum mr_surface */
	const struct mr_contract *contract;
	const struct mr_binding *bind;
	/* In place of `bind`, for what the tables cannot say: emits one map into `out`. On failure
	 * the error is in call->cx.err and what was emitted is lost. */
	enum mr_code (*run)(struct mr_call *call, const struct mr_args *in, struct mr_out *out);
	/* Its result as people read it; NULL: as op/render.h shows any result. */
	void (*render)(struct mr_buf *out, const struct mr_value *result,
		const struct mr_render *how);
};

/* All operations of a program, in the order they are listed. */
struct mr_op_table {
	const struct mr_op *const *ops;
	size_t len;
	/* Of what is said before it is known which operation is meant; NULL: Mailroom's own. */
	const struct mr_contract *contract;
	/* The program that has this table, and what it is; NULL: mailroom. */
	const char *program, *about;
	/* What its commands begin with in Mailroom's own table, with a blank at the end: a program
	 * that has a part of it leaves those words out. Or NULL. */
	const char *within;
	bool is_spelled_out; /* help shows <ARGUMENT>, and commands with the program's name */
};

/* "mailroom", or whatever else the table belongs to. */
const char *mr_op_program(const struct mr_op_table *table);
/* By name; NULL when there is none. */
const struct mr_op *mr_op_find(const struct mr_op_table *table, const char *name);
/* How many entries a table of parameters or fields has; NULL has none. */
size_t mr_param_count(const struct mr_param *params);
size_t mr_field_count(const struct mr_field *fields);
/* Is the result a list, under its first member "result"? */
bool mr_op_is_list(const struct mr_op *op);
/* The default as a value; false when it is described in words, or there is none. */
bool mr_param_default(const struct mr_param *param, struct mr_value *out);
/* The parameter of this name or alias, or NULL. */
const struct mr_param *mr_param_find(const struct mr_param *params, const char *name);
/* NOLINTEND(bugprone-macro-parentheses) */
