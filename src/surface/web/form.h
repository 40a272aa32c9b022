/* surface/web/form.h - the values of forms, and arguments of operations made of a request's. */
#pragma once

#include "surface/web/page.h"

enum { MR_WEB_FORM_FIELDS = 512 };

/* A text as a segment of an address. */
const char *mr_web_form_encode(struct mr_arena *arena, const char *text);

/* Take application/x-www-form-urlencoded apart. MR_EINVAL: an escape that is none, a NUL, not
 * UTF-8; MR_ELIMIT: too many fields. */
MR_CHECK enum mr_code mr_web_form_parse(struct mr_arena *arena, struct mr_bytes text,
	struct mr_http_param **out, size_t *len, struct mr_err *err);
/* The first of that name; NULL: none. */
const char *mr_web_form_first(const struct mr_http_param *fields, size_t len, const char *name);

/*
 * The arguments of an operation: `fixed` ("name=value&name=value", or NULL), the path's and
 * the query's or the form's, as far as it has parameters of these names. What comes first counts.
 * Empty values are left out, and a list is all values of the name in one of these places.
 */
const struct mr_value *mr_web_form_arguments(const struct mr_web_view *view, const struct mr_op *op,
	const char *fixed);
