/* fuzz_html.c - any HTML becomes clean, bounded text and Markdown without markup of its own. */
#include "base/utf8.h"
#include "text/clean.h"
#include "text/html.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const char *text, size_t max)
{
	size_t len = strlen(text);

	if (len > max || !mr_utf8_is_valid(text, len, NULL))
		abort();
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == 0x7f || (c < ' ' && c != '\n' && c != '\t'))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *html = mr_clean_body(arena, mr_bytes_of(data, len));
	const char *md = mr_html_to_markdown(arena, html, 1 << 20);

	check(mr_html_to_text(arena, html, 1 << 20), 1 << 20);
	check(mr_html_to_text(arena, html, 20), 20);
	check(md, 1 << 20);
	/* A '<' is a character of the text: behind an odd number of backslashes. */
	for (const char *at = strchr(md, '<'); at; at = strchr(at + 1, '<')) {
		const char *slash = at;

		while (slash > md && slash[-1] == '\\')
			slash--;
		if ((at - slash) % 2 == 0)
			abort();
	}
	return 0;
}
