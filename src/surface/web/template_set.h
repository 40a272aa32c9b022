/* surface/web/template_set.h - the built-in templates, parsed. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "text/value.h"

struct mr_web_templates;

/* In the arena. A template that cannot be parsed is an error of the build: the program ends. */
const struct mr_web_templates *mr_web_templates_new(struct mr_arena *arena);
/* Append what the template of that name makes of these values. */
MR_CHECK enum mr_code mr_web_templates_render(const struct mr_web_templates *templates,
	const char *name, const struct mr_value *values, struct mr_buf *out, struct mr_err *err);
