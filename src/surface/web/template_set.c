/* surface/web/template_set.c - Parses the built-in templates once, and renders them. */
#include "surface/web/template_set.h"

#include "base/log.h"
#include "surface/web/files.h"
#include "text/template.h"

#include <stdlib.h>
#include <string.h>

struct mr_web_templates {
	const struct mr_template **items;
	size_t len;
};

const struct mr_web_templates *mr_web_templates_new(struct mr_arena *arena)
{
	static const struct mr_template_syntax syntax = { .trim_blocks = true,
		.lstrip_blocks = true };
	struct mr_web_templates *all = mr_arena_alloc(arena, sizeof(*all));
	struct mr_err err;

	all->len = mr_web_template_files_count;
	all->items = mr_arena_array(arena, all->len, sizeof(struct mr_template *));
	for (size_t i = 0; i < all->len; i++) {
		const struct mr_web_template_file *file = &mr_web_template_files[i];

		if (mr_template_parse(arena, file->name, mr_bytes_of(file->data, file->len),
			    &syntax, &all->items[i], &err)) {
			mr_log(MR_LOG_ERROR, "bad_template", "%s", err.msg);
			abort();
		}
	}
	return all;
}

static enum mr_code find(void *ctx, const char *name, const struct mr_template **out,
	struct mr_err *err)
{
	const struct mr_web_templates *all = ctx;

	for (size_t i = 0; i < all->len; i++) {
		if (strcmp(mr_template_name(all->items[i]), name) == 0) {
			*out = all->items[i];
			return MR_OK;
		}
	}
	return mr_err_set(err, MR_ENOTFOUND, "there is no page template %s", name);
}

enum mr_code mr_web_templates_render(const struct mr_web_templates *templates, const char *name,
	const struct mr_value *values, struct mr_buf *out, struct mr_err *err)
{
	const struct mr_template_options options = {
		.escape_html = true,
		.loader = find,
		.loader_ctx = (void *)(uintptr_t)templates,
	};
	const struct mr_template *template = NULL;
	enum mr_code rc = find((void *)(uintptr_t)templates, name, &template, err);

	return rc ? rc : mr_template_render(template, values, &options, out, err);
}
