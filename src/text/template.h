/*
 * text/template.h - templates in the language of Jinja: the subset that MiniJinja has by default.
 *
 * A template is parsed once and rendered as often as wanted, also by several threads at a time:
 * nothing in it changes. Rendering does no I/O. Its work, its memory, its depth and its output are
 * bounded, so a template that somebody else wrote can be rendered without a second thought.
 *
 * The language: {{ expression }}, {% statement %}, {# comment #}, and a '-' inside a delimiter that
 * removes the white space beside it. Statements: if, for (else, if, recursive), set (also as a
 * block), with, macro, call, include, import, from, extends, block, filter, autoescape, raw, do.
 * The filters and tests are in template_filter.c and template_is.c.
 *
 * Undefined names print nothing, are false and iterate over nothing; an attribute of an undefined
 * value is an error. None prints "none", booleans "true" and "false", and a float keeps its ".0".
 *
 * Differences from Jinja2: values print as above, and lists and maps as JSON-like text; a name set
 * at the top of a template is seen in its blocks; attributes are members only, so there are no
 * methods such as .items(); comparisons do not chain; "//" and "%" round so that a remainder is
 * never negative. Differences from MiniJinja: '/' is not escaped in HTML, quotes become &#34; and
 * &#39;, dividing by zero is an error, and names of filters and tests are checked by the parser.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "text/value.h"

struct mr_template;

struct mr_template_syntax {
	bool trim_blocks;           /* drop the line end after a statement or a comment */
	bool lstrip_blocks;         /* drop the blanks before one that begins its line */
	bool keep_trailing_newline; /* else one line end at the end of the source is dropped */
};

enum {
	MR_TEMPLATE_SOURCE_BYTES = 1024 * 1024,
	MR_TEMPLATE_HEIGHT = 150, /* of nested expressions and statements in one template */
};

/*
 * Parse `source` into an object that lives in `arena`; `name` and `source` are copied. `syntax`
 * NULL is all off. MR_EFORMAT begins with "NAME:LINE: "; MR_ELIMIT when the source is too large or
 * nested too deeply.
 */
MR_CHECK enum mr_code mr_template_parse(struct mr_arena *arena, const char *name,
	struct mr_bytes source, const struct mr_template_syntax *syntax,
	const struct mr_template **out, struct mr_err *err);
const char *mr_template_name(const struct mr_template *template);

/*
 * Find the template that an include, import or extends names. What it returns must live until the
 * render has ended: keeping parsed templates is the loader's business. MR_ENOTFOUND is what
 * "include ... ignore missing" ignores.
 */
typedef enum mr_code mr_template_loader(void *ctx, const char *name, const struct mr_template **out,
	struct mr_err *err);

struct mr_template_options {
	bool escape_html; /* write what is printed as HTML text, unless it is marked safe */
	bool strict;      /* printing, testing or iterating an undefined value is an error */
	mr_template_loader *loader; /* NULL: include, import and extends fail */
	void *loader_ctx;
	/* 0 takes the default. */
	uint64_t fuel;       /* steps: 10 million */
	size_t memory_bytes; /* for values made while rendering: 64 MiB */
	unsigned depth;      /* templates and macros inside each other: 32 */
};

/*
 * Append what the template makes of `context` (a map, or NULL) to `out`; the maximum of `out`
 * limits the output. After a failure `out` has the beginning. `options` NULL is all off. MR_EINVAL
 * for what the template does wrong, MR_ELIMIT for a limit, or the loader's error; each begins with
 * "NAME:LINE: ".
 */
MR_CHECK enum mr_code mr_template_render(const struct mr_template *template,
	const struct mr_value *context, const struct mr_template_options *options,
	struct mr_buf *out, struct mr_err *err);
