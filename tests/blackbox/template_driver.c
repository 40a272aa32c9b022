/* tests/blackbox/template_driver.c - renders templates for template.py: a case a line of JSON on
 * standard input, an answer a line of JSON on standard output. */
#include "base/buf.h"
#include "text/json.h"
#include "text/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_BYTES = 1024 * 1024 };

struct library {
	struct mr_arena *arena;
	const struct mr_value *sources;
	const struct mr_template_syntax *syntax;
};

static bool flag(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

static enum mr_code load(void *ctx, const char *name, const struct mr_template **out,
	struct mr_err *err)
{
	const struct library *library = ctx;
	const struct mr_value *source = mr_value_get(library->sources, name);

	if (!source)
		return mr_err_set(err, MR_ENOTFOUND, "there is no template '%s'", name);
	return mr_template_parse(library->arena, name, mr_bytes_text(source->text), library->syntax,
		out, err);
}

/* {"source", "context", "templates"?, "escape"?, "trim"?, "lstrip"?, "strict"?} to {"output"} or
 * {"error"}. */
static void answer(struct mr_arena *arena, const struct mr_value *one, struct mr_json_writer *w)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_template_syntax syntax = { .trim_blocks = flag(one, "trim"),
		.lstrip_blocks = flag(one, "lstrip") };
	struct library library = { arena, mr_value_get(one, "templates"), &syntax };
	const struct mr_template_options options = { .escape_html = flag(one, "escape"),
		.strict = flag(one, "strict"),
		.loader = load,
		.loader_ctx = &library };
	const struct mr_template *template;
	struct mr_err err;
	enum mr_code rc;

	mr_buf_init(&out, CASE_BYTES);
	rc = mr_template_parse(arena, "main", mr_bytes_text(mr_value_get(one, "source")->text),
		&syntax, &template, &err);
	if (!rc)
		rc = mr_template_render(template, mr_value_get(one, "context"), &options, &out,
			&err);
	mr_json_begin_map(w);
	mr_json_key(w, rc ? "error" : "output");
	mr_json_text(w, rc ? err.msg : mr_buf_text(&out));
	mr_json_end(w);
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while ((len = getline(&line, &cap, stdin)) > 0) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_json_writer w;
		const struct mr_value *one;
		struct mr_err err;

		if (mr_json_parse(arena, mr_bytes_of(line, (size_t)len), NULL, &one, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		mr_buf_init(&json, 8 * CASE_BYTES);
		mr_json_init(&w, &json, MR_JSON_COMPACT);
		answer(arena, one, &w);
		puts(mr_buf_text(&json));
		fflush(stdout);
	}
	free(line);
	return 0;
}
