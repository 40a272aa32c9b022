/*
 * text/template_private.h - what the files of the template engine share: tokens, the tree that the
 * parser makes, values and the state of a render.
 *
 * template_lex.c makes tokens of the source, template_parse.c and template_expr.c a tree of them.
 * template_run.c walks the statements, template_eval.c the expressions. Functions that can fail
 * return enum mr_code and leave the error, with name and line, in the parser or the run.
 */
#pragma once

#include "text/template.h"

enum mr_tpl_token_kind {
	MR_TOK_END,
	MR_TOK_TEXT,      /* what stands outside of delimiters */
	MR_TOK_PRINT,     /* {{ */
	MR_TOK_PRINT_END, /* }} */
	MR_TOK_BLOCK,     /* {% */
	MR_TOK_BLOCK_END, /* %} */
	MR_TOK_NAME,
	MR_TOK_STRING, /* unescaped */
	MR_TOK_INT,
	MR_TOK_FLOAT,
	MR_TOK_OP, /* `op` is its character, or one of enum mr_tpl_op */
};

/* Operators of more than one character, and those that are words. */
enum mr_tpl_op {
	MR_OP_EQ = 128,
	MR_OP_NE,
	MR_OP_LE,
	MR_OP_GE,
	MR_OP_POWER,
	MR_OP_FLOOR, /* the double slash */
	MR_OP_IN,
	MR_OP_NOT_IN,
	MR_OP_NOT,
};

struct mr_tpl_token {
	enum mr_tpl_token_kind kind;
	unsigned op;
	unsigned line;
	const char *text; /* not terminated */
	size_t len;
	int64_t integer;
	double real;
};

enum mr_tpl_kind {
	MR_TV_UNDEFINED,
	MR_TV_NONE,
	MR_TV_BOOL,
	MR_TV_INT,
	MR_TV_FLOAT,
	MR_TV_TEXT,
	MR_TV_LIST,     /* `items` */
	MR_TV_RAW_LIST, /* `raw`: the items of a list of the context */
	MR_TV_MAP,      /* `pairs` */
	MR_TV_RAW_MAP,  /* `raw_pairs` */
	MR_TV_MACRO,
	MR_TV_FUNCTION,
	MR_TV_LOOP,
	MR_TV_CYCLE,   /* loop.cycle */
	MR_TV_CHANGED, /* loop.changed */
	MR_TV_SUPER,
	MR_TV_SCOPE, /* a namespace, or what an import brought */
};

/* A value while rendering. Texts are UTF-8 with a length and a terminator. */
struct mr_tpl_value {
	enum mr_tpl_kind kind;
	bool is_safe; /* a text that is HTML already */
	size_t len;   /* of texts, lists and maps */
	union {
		bool boolean;
		int64_t integer;
		double real;
		const char *text;
		const struct mr_tpl_value *items;
		const struct mr_value *raw;
		const struct mr_tpl_pair *pairs;
		const struct mr_pair *raw_pairs;
		const struct mr_tpl_macro *macro;
		const struct mr_tpl_function *function;
		struct mr_tpl_loop *loop;
		struct mr_tpl_scope *scope;
	};
};

struct mr_tpl_pair {
	struct mr_tpl_value key;
	struct mr_tpl_value value;
};

enum mr_tpl_node_kind {
	/* expressions */
	MR_TN_CONST,    /* value */
	MR_TN_NAME,     /* name */
	MR_TN_CAPTURED, /* what the block around it captured: the input of its filters */
	MR_TN_LIST,     /* list */
	MR_TN_MAP,      /* list: key, value, key, value */
	MR_TN_MEMBER,   /* a . name */
	MR_TN_INDEX,    /* a [ b ] */
	MR_TN_SLICE,    /* a [ b : c : d ], each of the three may be NULL */
	MR_TN_FILTER,   /* a | filter(list) */
	MR_TN_TEST,     /* a is test(list) */
	MR_TN_CALL,     /* a(list) */
	MR_TN_UNARY,    /* op a */
	MR_TN_BINARY,   /* a op b */
	MR_TN_AND,
	MR_TN_OR,
	MR_TN_CHOICE, /* b if a else c; c may be NULL */
	/* statements */
	MR_TN_TEXT,         /* name, len: bytes to write */
	MR_TN_PRINT,        /* a */
	MR_TN_IF,           /* if a: body, else: other */
	MR_TN_FOR,          /* for names in a if b: body, else: other; flag: recursive */
	MR_TN_SET,          /* names = a */
	MR_TN_SET_MEMBER,   /* name . names[0] = a */
	MR_TN_SET_BLOCK,    /* name = filters a over the captured body */
	MR_TN_WITH,         /* names = list: body */
	MR_TN_FILTER_BLOCK, /* a over the captured body */
	MR_TN_MACRO,        /* name(names; defaults in list, NULL where there is none): body */
	MR_TN_CALL_BLOCK,   /* a is the call, b the macro that is its caller */
	MR_TN_INCLUDE,      /* a; flag: ignore missing */
	MR_TN_IMPORT,       /* a as name */
	MR_TN_FROM,         /* from a import names as aliases */
	MR_TN_EXTENDS,      /* a */
	MR_TN_BLOCK,        /* name: body */
	MR_TN_AUTOESCAPE,   /* a: body */
	MR_TN_DO,           /* a */
};

struct mr_tpl_node;

struct mr_tpl_nodes {
	const struct mr_tpl_node **items;
	size_t len;
};

struct mr_tpl_node {
	enum mr_tpl_node_kind kind;
	unsigned op;
	unsigned line;
	unsigned height;
	bool flag;
	const char *name;
	size_t len;
	const struct mr_tpl_node *a, *b, *c, *d;
	struct mr_tpl_nodes list;
	struct mr_texts names; /* targets, parameters; of calls: `keys` */
	const char **keys;     /* of `list`, for named arguments: NULL where one has no name */
	struct mr_texts aliases;
	struct mr_tpl_nodes body, other;
	const struct mr_tpl_filter *filter;
	struct mr_tpl_value value;
};

struct mr_template {
	const char *name;
	struct mr_tpl_nodes body;
	struct mr_tpl_nodes blocks; /* every block, also those inside others */
};

/* ---- source to tree ---- */

struct mr_tpl_parser {
	struct mr_arena *arena;
	const char *name;
	const struct mr_tpl_token *tokens;
	size_t at;
	unsigned depth;
	bool in_macro, in_loop;
	struct mr_tpl_nodes blocks;
	size_t blocks_cap;
	struct mr_err *err;
	enum mr_code code; /* of the error, once there is one */
};

enum mr_code mr_tpl_lex(struct mr_arena *arena, const char *name, struct mr_bytes source,
	const struct mr_template_syntax *syntax, const struct mr_tpl_token **out,
	struct mr_err *err);

/* All of these return NULL or false after an error. */
const struct mr_tpl_node *mr_tpl_expression(struct mr_tpl_parser *p);
/* Without "a if b else c", as the condition of a loop needs it. */
const struct mr_tpl_node *mr_tpl_expression_plain(struct mr_tpl_parser *p);
/* A value with its members, items and calls, but without filters. */
const struct mr_tpl_node *mr_tpl_operand(struct mr_tpl_parser *p);
/* The filters and tests after a value. */
const struct mr_tpl_node *mr_tpl_filtered(struct mr_tpl_parser *p, const struct mr_tpl_node *value);
/* One level deeper (`depth` goes back by the caller); an error when that is too deep. */
bool mr_tpl_enter(struct mr_tpl_parser *p);
/* "| filter | filter" after `node`; `first` when the bar before the first one is absent. */
const struct mr_tpl_node *mr_tpl_filters(struct mr_tpl_parser *p, const struct mr_tpl_node *node,
	bool first);
struct mr_tpl_node *mr_tpl_node(struct mr_tpl_parser *p, enum mr_tpl_node_kind kind);
/* Note that `node` contains `child`; an error when that nests too deeply. */
bool mr_tpl_contains(struct mr_tpl_parser *p, struct mr_tpl_node *node,
	const struct mr_tpl_node *child);
void mr_tpl_append(struct mr_tpl_parser *p, struct mr_tpl_nodes *nodes, size_t *cap,
	const struct mr_tpl_node *node);
bool mr_tpl_body(struct mr_tpl_parser *p, const char *const *ends, struct mr_tpl_node *owner,
	struct mr_tpl_nodes *out);

const struct mr_tpl_token *mr_tpl_peek(const struct mr_tpl_parser *p);
bool mr_tpl_is_op(const struct mr_tpl_parser *p, unsigned op);
bool mr_tpl_is_word(const struct mr_tpl_parser *p, const char *word);
bool mr_tpl_skip_op(struct mr_tpl_parser *p, unsigned op);
bool mr_tpl_skip_word(struct mr_tpl_parser *p, const char *word);
bool mr_tpl_want_op(struct mr_tpl_parser *p, unsigned op);
/* NULL and an error when the next token is no name. */
const char *mr_tpl_want_name(struct mr_tpl_parser *p);
void mr_tpl_refuse(struct mr_tpl_parser *p, const char *fmt, ...) MR_PRINTF(2, 3);
/* "expected WHAT, found ..." */
void mr_tpl_unexpected(struct mr_tpl_parser *p, const char *what);

/* ---- rendering ---- */

struct mr_tpl_binding {
	const char *name;
	struct mr_tpl_value value;
};

struct mr_tpl_scope {
	struct mr_tpl_scope *up;
	struct mr_tpl_binding *items;
	size_t len, cap;
	bool is_kept; /* a macro refers to it: a loop must not use it again */
};

struct mr_tpl_macro {
	const struct mr_tpl_node *node;
	struct mr_tpl_scope *scope;
	const char *template_name;
	bool escape; /* as where it was defined */
};

struct mr_tpl_loop {
	size_t index, len;
	unsigned depth;
	struct mr_tpl_value sequence;
	struct mr_tpl_value last_seen;  /* by loop.changed */
	const struct mr_tpl_node *node; /* of a recursive loop, or NULL */
	struct mr_tpl_scope *scope;
};

/* The versions of a block, the innermost template's first. */
struct mr_tpl_override {
	const char *name;
	const struct mr_tpl_node **nodes;
	const char **templates;
	size_t len, cap;
};

struct mr_tpl_run {
	struct mr_arena *arena;
	const struct mr_value *context;
	const struct mr_template_options *options;
	struct mr_buf *out; /* NULL: what is written is thrown away */
	struct mr_err *err;
	const char *name; /* of the template */
	unsigned line;
	uint64_t fuel;
	size_t memory;    /* left */
	unsigned depth;   /* of templates and macros, left */
	unsigned nesting; /* of nodes, so far */
	bool escape;
	struct mr_tpl_scope *scope;
	struct mr_tpl_value captured;
	struct mr_tpl_value caller; /* of the macro called next, or undefined */
	struct mr_tpl_override *overrides;
	size_t overrides_len, overrides_cap;
	struct mr_tpl_override *block; /* being run, or NULL */
	size_t block_level;
	bool is_extending; /* this template has a parent: its blocks run from there */
	const struct mr_template *parent;
};

struct mr_tpl_args {
	const struct mr_tpl_value *items; /* without names */
	size_t len;
	const struct mr_tpl_pair *named;
	size_t named_len;
};

struct mr_tpl_filter {
	const char *name;
	unsigned max; /* arguments */
	enum mr_code (*apply)(struct mr_tpl_run *run, const struct mr_tpl_value *in,
		const struct mr_tpl_args *args, struct mr_tpl_value *out);
	const char *names; /* of the arguments that can be named, blank between and around */
};

struct mr_tpl_function {
	const char *name;
	enum mr_code (*call)(struct mr_tpl_run *run, const struct mr_tpl_args *args,
		struct mr_tpl_value *out);
};

/* Set the error with name and line, return its code. */
enum mr_code mr_tpl_fail(struct mr_tpl_run *run, enum mr_code code, const char *fmt, ...)
	MR_PRINTF(3, 4);
enum mr_code mr_tpl_burn(struct mr_tpl_run *run, size_t steps);
/* Zeroed; NULL and an error past the limit. Costs fuel too. */
void *mr_tpl_alloc(struct mr_tpl_run *run, size_t count, size_t size);
/* Terminated copy of `len` bytes, or NULL. */
char *mr_tpl_copy(struct mr_tpl_run *run, const char *text, size_t len);

/* template_eval.c */
enum mr_code mr_tpl_eval(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	struct mr_tpl_value *out);
/* For filters and tests that are given by name. */
enum mr_code mr_tpl_apply(struct mr_tpl_run *run, const struct mr_tpl_filter *filter,
	const struct mr_tpl_value *in, const struct mr_tpl_args *args, struct mr_tpl_value *out);

/* template_math.c */
struct mr_tpl_value mr_tpl_as_number(const struct mr_tpl_value *value); /* true counts as 1 */
/* + - * / % ** and the double slash. */
enum mr_code mr_tpl_calculate(struct mr_tpl_run *run, unsigned op, const struct mr_tpl_value *left,
	const struct mr_tpl_value *right, struct mr_tpl_value *out);
/* Both as text; where one is HTML already, and may stay so, the other becomes HTML too. */
enum mr_code mr_tpl_concat(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, bool may_be_html, struct mr_tpl_value *out);

/* template_run.c */
enum mr_code mr_tpl_exec(struct mr_tpl_run *run, const struct mr_tpl_nodes *nodes);
enum mr_code mr_tpl_run_template(struct mr_tpl_run *run, const struct mr_template *template);
/* The output of `nodes` as a text, safe when escaping is on. */
enum mr_code mr_tpl_capture(struct mr_tpl_run *run, const struct mr_tpl_nodes *nodes,
	struct mr_tpl_value *out);
enum mr_code mr_tpl_write(struct mr_tpl_run *run, const struct mr_tpl_value *value);
enum mr_code mr_tpl_loop_over(struct mr_tpl_run *run, const struct mr_tpl_node *node,
	const struct mr_tpl_value *sequence, unsigned depth);
enum mr_code mr_tpl_run_block(struct mr_tpl_run *run, struct mr_tpl_override *block, size_t level);

/* template_other.c */
enum mr_code mr_tpl_include(struct mr_tpl_run *run, const struct mr_tpl_node *node);
enum mr_code mr_tpl_import(struct mr_tpl_run *run, const struct mr_tpl_node *node);
enum mr_code mr_tpl_extend(struct mr_tpl_run *run, const struct mr_tpl_node *node);
/* The override of this name, or NULL. */
struct mr_tpl_override *mr_tpl_find_block(struct mr_tpl_run *run, const char *name);
enum mr_code mr_tpl_add_blocks(struct mr_tpl_run *run, const struct mr_template *template);

/* template_scope.c */
struct mr_tpl_scope *mr_tpl_scope_new(struct mr_tpl_run *run, struct mr_tpl_scope *up);
enum mr_code mr_tpl_scope_set(struct mr_tpl_run *run, struct mr_tpl_scope *scope, const char *name,
	const struct mr_tpl_value *value);
const struct mr_tpl_value *mr_tpl_scope_get(const struct mr_tpl_scope *scope, const char *name);
enum mr_code mr_tpl_lookup(struct mr_tpl_run *run, const char *name, struct mr_tpl_value *out);

/* template_call.c */
const struct mr_tpl_function *mr_tpl_function(const char *name);
enum mr_code mr_tpl_call(struct mr_tpl_run *run, const struct mr_tpl_value *callee,
	const struct mr_tpl_args *args, struct mr_tpl_value *out);

/* template_value.c */
struct mr_tpl_value mr_tpl_of(const struct mr_value *value); /* NULL is undefined */
struct mr_tpl_value mr_tpl_bool(bool value);
struct mr_tpl_value mr_tpl_int(int64_t value);
struct mr_tpl_value mr_tpl_real(double value);
struct mr_tpl_value mr_tpl_text(const char *text, size_t len);
struct mr_tpl_value mr_tpl_list(const struct mr_tpl_value *items, size_t len);
bool mr_tpl_is_text(const struct mr_tpl_value *value, const char *text);
bool mr_tpl_is_list(const struct mr_tpl_value *value);
bool mr_tpl_is_map(const struct mr_tpl_value *value);
bool mr_tpl_is_number(const struct mr_tpl_value *value); /* not a boolean */
const char *mr_tpl_kind_name(const struct mr_tpl_value *value);
bool mr_tpl_is_true(const struct mr_tpl_value *value);
/* The same, but an error for an undefined value when strict. */
enum mr_code mr_tpl_test(struct mr_tpl_run *run, const struct mr_tpl_value *value, bool *out);
struct mr_tpl_value mr_tpl_item(const struct mr_tpl_value *list, size_t index);
struct mr_tpl_pair mr_tpl_pair_at(const struct mr_tpl_value *map, size_t index);
/* Undefined when there is none. */
enum mr_code mr_tpl_get(struct mr_tpl_run *run, const struct mr_tpl_value *value, const char *name,
	size_t len, struct mr_tpl_value *out);
/* The value's items, a map's keys, a text's characters, nothing of what is undefined. */
enum mr_code mr_tpl_iterate(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_tpl_value *out_list);

/* template_compare.c */
enum mr_code mr_tpl_equal(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, bool *out);
/* Less, equal, greater as -1, 0, 1; an error when there is no order between the two. */
enum mr_code mr_tpl_compare(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, int *out);
enum mr_code mr_tpl_contains_value(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	const struct mr_tpl_value *what, bool *out);

/* template_print.c */
/* As printed, before escaping. Fails only for a buffer that is full, fuel and depth. */
enum mr_code mr_tpl_print(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out);
enum mr_code mr_tpl_to_text(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_tpl_value *out);
enum mr_code mr_tpl_json(struct mr_tpl_run *run, const struct mr_tpl_value *value, unsigned indent,
	struct mr_tpl_value *out);
void mr_tpl_escape(struct mr_buf *out, const char *text, size_t len);
/* A buffer for a text being made, with what is left of the memory as its maximum. */
void mr_tpl_buf_init(const struct mr_tpl_run *run, struct mr_buf *buf);
/* What was appended, as a value; an error when it did not fit. */
enum mr_code mr_tpl_buf_take(struct mr_tpl_run *run, const struct mr_buf *buf,
	struct mr_tpl_value *out);

/* template_filter.c, template_is.c; NULL when there is none of this name. */
const struct mr_tpl_filter *mr_tpl_filter(const char *name, size_t len);
const struct mr_tpl_filter *mr_tpl_is(const char *name, size_t len);
/* The nearest name, or NULL. */
const char *mr_tpl_filter_like(const char *name);
const char *mr_tpl_is_like(const char *name);
extern const struct mr_tpl_filter mr_tpl_text_filters[], mr_tpl_html_filters[],
	mr_tpl_list_filters[], mr_tpl_sort_filters[], mr_tpl_number_filters[],
	mr_tpl_select_filters[];
/* For other filters: the value as safe HTML, the pairs of a map, two values as a list. */
enum mr_code mr_tpl_escape_text(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	struct mr_tpl_value *out);
enum mr_code mr_tpl_items(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	struct mr_tpl_value *out);
enum mr_code mr_tpl_pair_list(struct mr_tpl_run *run, const struct mr_tpl_value *a,
	const struct mr_tpl_value *b, struct mr_tpl_value *out);

/* Arguments: by place, or by name. NULL when not given. */
const struct mr_tpl_value *mr_tpl_arg(const struct mr_tpl_args *args, size_t place,
	const char *name);
enum mr_code mr_tpl_arg_int(struct mr_tpl_run *run, const struct mr_tpl_args *args, size_t place,
	const char *name, int64_t min, int64_t max, int64_t *out);
/* A text (also of what is no text), or what `*out` was. */
enum mr_code mr_tpl_arg_text(struct mr_tpl_run *run, const struct mr_tpl_args *args, size_t place,
	const char *name, struct mr_tpl_value *out);
bool mr_tpl_arg_true(const struct mr_tpl_args *args, size_t place, const char *name, bool fallback);
/* The member at "a.b.0" of a value, as the attribute= of filters means it. */
enum mr_code mr_tpl_path(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	const struct mr_tpl_value *path, struct mr_tpl_value *out);
