/* surface/web/template_set.h - the built-in templates, each parsed when a page first needs it. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "text/value.h"

struct mr_web_templates;

/* A server that nobody looks at has none of them in memory. */
struct mr_web_templates *mr_web_templates_new(void);
/* NULL is fine. */
void mr_web_templates_free(struct mr_web_templates *templates);
/* Append what the template of that name makes of these values. From any thread. */
MR_CHECK enum mr_code mr_web_templates_render(struct mr_web_templates *templates, const char *name,
	const struct mr_value *values, struct mr_buf *out, struct mr_err *err);
