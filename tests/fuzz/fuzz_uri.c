/* tests/fuzz/fuzz_uri.c - resource URIs: what is taken is text, and what is encoded comes back. */
#include "base/utf8.h"
#include "surface/mcp/uri.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	if (text && !mr_utf8_is_valid(text, strlen(text), NULL))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena = mr_arena_new();
	const char *text = size ? mr_arena_strndup(arena, (const char *)data, size) : "";
	const char *variable = NULL;
	struct mr_uri uri;

	variable = mr_uri_file(arena, text);
	check_text(variable);
	if (variable && variable[0] != '/')
		abort();
	variable = NULL;
	if (mr_uri_parse(arena, text, &uri)) {
		if (mr_uri_match(arena, &uri, "inbox", &variable) && (!variable || !*variable))
			abort();
		check_text(variable);
		for (size_t i = 0; i < uri.query_len; i++) {
			check_text(uri.query[i].key);
			check_text(uri.query[i].value.text);
		}
		if (variable && strlen(variable) < 1000) {
			const char *again = mr_arena_printf(arena, "resource://x?v=%s",
				mr_uri_encode(arena, variable));

			if (!mr_uri_parse(arena, again, &uri) ||
				strcmp(mr_uri_text(&uri, "v"), variable) != 0)
				abort();
		}
	}
	mr_arena_free(arena);
	return 0;
}
