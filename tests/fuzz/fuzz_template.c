/* tests/fuzz/fuzz_template.c - whatever a template says: it is refused, or renders within its
 * limits, twice the same, and an error begins with the template's name. */
#include "text/template.h"

#include "text/json.h"

#include <stdlib.h>
#include <string.h>

enum { OUTPUT_BYTES = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char context_json[] =
	"{\"n\":7,\"f\":0.5,\"t\":true,\"x\":null,\"s\":\"Text <b> \\u00fc\",\"l\":[3,1,2],"
	"\"w\":[\"b\",\"A\"],\"m\":{\"a\":1,\"b\":{\"c\":[{\"d\":\"e\"}]}},"
	"\"tree\":[{\"v\":1,\"k\":[{\"v\":2,\"k\":[]}]}]}";

struct library {
	struct mr_arena *arena;
	const struct mr_template *itself;
};

static enum mr_code load(void *ctx, const char *name, const struct mr_template **out,
	struct mr_err *err)
{
	const struct library *library = ctx;

	if (strcmp(name, "self") == 0) {
		*out = library->itself;
		return MR_OK;
	}
	if (strcmp(name, "base") == 0)
		return mr_template_parse(library->arena, "base",
			mr_bytes_text("<{% block b %}base{% endblock %}>"), NULL, out, err);
	return mr_err_set(err, MR_ENOTFOUND, "there is no template '%s'", name);
}

static enum mr_code render(struct library *library, const struct mr_value *context, bool escape,
	bool strict, struct mr_buf *out)
{
	struct mr_template_options options = { .escape_html = escape,
		.strict = strict,
		.loader = load,
		.loader_ctx = library,
		.fuel = 50000,
		.memory_bytes = 4 << 20 };
	struct mr_err err;
	enum mr_code rc;

	mr_buf_init(out, OUTPUT_BYTES);
	rc = mr_template_render(library->itself, context, &options, out, &err);
	if (rc && strncmp(err.msg, "fuzz:", 5) != 0 && strncmp(err.msg, "base:", 5) != 0)
		abort();
	if (out->len > OUTPUT_BYTES)
		abort();
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf one MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf two MR_CLEANUP(mr_buf_release) = { 0 };
	struct library library = { arena, NULL };
	struct mr_template_syntax syntax;
	const struct mr_value *context;
	struct mr_err err;
	uint8_t flags;

	if (size == 0)
		return 0;
	flags = data[0];
	syntax = (struct mr_template_syntax){ flags & 1, flags & 2, flags & 4 };
	if (mr_json_parse(arena, mr_bytes_text(context_json), NULL, &context, &err))
		abort();
	if (mr_template_parse(arena, "fuzz", mr_bytes_of((const char *)data + 1, size - 1), &syntax,
		    &library.itself, &err)) {
		if (strncmp(err.msg, "fuzz:", 5) != 0)
			abort();
		return 0;
	}
	if (render(&library, context, flags & 8, flags & 16, &one) !=
			render(&library, context, flags & 8, flags & 16, &two) ||
		one.len != two.len || (one.len && memcmp(one.data, two.data, one.len) != 0))
		abort();
	return 0;
}
