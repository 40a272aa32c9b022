/* tests/fuzz/fuzz_query.c - whatever is typed is taken apart within its limits, and a
 * snippet's hits lie in it, on characters. */
#include "base/utf8.h"
#include "query_keys.h"
#include "text/snippet.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_node(const struct mr_query *query, const struct mr_query_node *node,
	unsigned depth, size_t *seen)
{
	if (depth > 2 * MR_QUERY_DEPTH + 4)
		abort();
	if (node->kind == MR_QUERY_TERM)
		*seen += 1;
	for (const struct mr_query_node *one = node->inside; one; one = one->next)
		check_node(query, one, depth + 1, seen);
}

/* Input: a query, a newline, a body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *text = mr_arena_strndup(arena, size ? (const char *)data : "", size);
	char *body = text + strcspn(text, "\n");
	struct mr_query query;
	size_t seen = 0;

	if (*body)
		*body++ = '\0';
	mr_query_parse(arena, query_keys, 0, text, &query);
	if (query.bad_key || text[strspn(text, " \t\n\v\f\r")] == '\0')
		return 0;
	if (query.term_count > MR_QUERY_TERMS || query.filter_count > MR_QUERY_FILTERS ||
		query.term_count + query.filter_count == 0)
		abort();
	for (size_t i = 0; i < query.term_count; i++) {
		if (!*query.terms[i].text || strlen(query.terms[i].text) > MR_QUERY_TERM_BYTES)
			abort();
	}
	/* Either it is understood, or it says why not. */
	if (query.term_count && !query.root != !!query.problem)
		abort();
	if (query.root)
		check_node(&query, query.root, 0, &seen);
	if (query.root && seen != query.term_count)
		abort();
	for (int inside = 0; inside < 2; inside++) {
		struct mr_snippet snippet;
		size_t at = 0;

		mr_snippet(arena, body, &query, QUERY_BODY, inside, &snippet);
		for (size_t i = 0; i < snippet.hit_count; i++) {
			if (snippet.hits[i].start < at ||
				snippet.hits[i].end < snippet.hits[i].start ||
				snippet.hits[i].end > strlen(snippet.text))
				abort();
			at = snippet.hits[i].end;
		}
		if (mr_utf8_is_valid(body, strlen(body), NULL) &&
			!mr_utf8_is_valid(snippet.text, strlen(snippet.text), NULL))
			abort();
	}
	return 0;
}
