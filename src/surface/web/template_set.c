/* surface/web/template_set.c - Parses each built-in template when it is first needed, and renders
 * pages. */
#include "surface/web/template_set.h"

#include "base/oom.h"
#include "surface/web/files.h"
#include "text/template.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct mr_web_templates {
	pthread_mutex_t lock; /* guards what follows; a template that is parsed never changes */
	struct mr_arena *arena;
	const struct mr_template **parsed; /* by the place of its file; NULL: not needed yet */
};

struct mr_web_templates *mr_web_templates_new(void)
{
	struct mr_web_templates *all = calloc(1, sizeof(*all));

	if (!all)
		mr_oom(sizeof(*all));
	pthread_mutex_init(&all->lock, NULL);
	all->arena = mr_arena_new();
	all->parsed = mr_arena_array(all->arena, mr_web_template_files_count,
		sizeof(struct mr_template *));
	return all;
}

void mr_web_templates_free(struct mr_web_templates *templates)
{
	if (!templates)
		return;
	mr_arena_free(templates->arena);
	pthread_mutex_destroy(&templates->lock);
	free(templates);
}

/* Under the lock. */
static enum mr_code parse(struct mr_web_templates *all, size_t at, struct mr_err *err)
{
	static const struct mr_template_syntax syntax = { .trim_blocks = true,
		.lstrip_blocks = true };
	const struct mr_web_template_file *file = &mr_web_template_files[at];

	if (all->parsed[at])
		return MR_OK;
	return mr_template_parse(all->arena, file->name, mr_bytes_of(file->data, file->len),
		&syntax, &all->parsed[at], err);
}

static enum mr_code find(void *ctx, const char *name, const struct mr_template **out,
	struct mr_err *err)
{
	struct mr_web_templates *all = ctx;
	enum mr_code rc;

	for (size_t i = 0; i < mr_web_template_files_count; i++) {
		if (strcmp(mr_web_template_files[i].name, name) != 0)
			continue;
		pthread_mutex_lock(&all->lock);
		rc = parse(all, i, err);
		*out = all->parsed[i];
		pthread_mutex_unlock(&all->lock);
		return rc;
	}
	return mr_err_set(err, MR_ENOTFOUND, "there is no page template %s", name);
}

enum mr_code mr_web_templates_render(struct mr_web_templates *templates, const char *name,
	const struct mr_value *values, struct mr_buf *out, struct mr_err *err)
{
	const struct mr_template_options options = {
		.escape_html = true,
		.loader = find,
		.loader_ctx = templates,
	};
	const struct mr_template *template = NULL;
	enum mr_code rc = find(templates, name, &template, err);

	return rc ? rc : mr_template_render(template, values, &options, out, err);
}
