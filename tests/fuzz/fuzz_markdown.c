/* fuzz_markdown.c - any bytes become well-formed, safe HTML and bounded, clean text. */
#include "base/utf8.h"
#include "html_check.h"
#include "text/markdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_text(struct mr_arena *arena, struct mr_bytes md, size_t max)
{
	const char *text = mr_markdown_to_text(arena, md, max);

	if (strlen(text) > max || !mr_utf8_is_valid(text, strlen(text), NULL) || strchr(text, 27))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes md = mr_bytes_of(data, len);
	struct mr_buf html MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_markdown_fence fence;
	struct mr_err err;
	const char *wrong;

	mr_buf_init(&html, 64 << 20);
	if (mr_markdown_to_html(&html, md, &err) || strlen(mr_buf_text(&html)) != html.len)
		abort();
	wrong = html_check(mr_buf_text(&html));
	if (wrong || !mr_utf8_is_valid(mr_buf_text(&html), html.len, NULL)) {
		fprintf(stderr, "%s\n", wrong ? wrong : "not UTF-8");
		abort();
	}
	check_text(arena, md, 40);
	check_text(arena, md, 1 << 20);
	if (memchr(data ? data : (const uint8_t *)"", 0, len) ||
		!mr_utf8_is_valid((const char *)data, len, NULL))
		return 0;
	mr_markdown_fence_find(arena, md, "x", &fence);
	if (fence.closed != (fence.text != NULL) || fence.closed != (fence.close_line > 0) ||
		(fence.text && mr_markdown_fence_is_closed_by(mr_bytes_text(fence.text))))
		abort();
	return 0;
}
