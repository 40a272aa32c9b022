/* fuzz_frontmatter.c - what splits joins into parts that split the same; canonical frames stay. */
#include "text/frontmatter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool same(struct mr_bytes a, struct mr_bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_bytes document = mr_bytes_of(data, len);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_frontmatter parts;
	struct mr_frontmatter again;
	struct mr_err err;

	mr_buf_init(&buf, len + 100);
	/* Any bytes as a body, under a head that is right. */
	parts = (struct mr_frontmatter){ .head = mr_bytes_text("a: 1\n"), .body = document };
	if (mr_frontmatter_join(&buf, &parts, &err) ||
		mr_frontmatter_split(mr_buf_bytes(&buf), 0, &again, &err) ||
		!same(parts.body, again.body))
		abort();
	if (mr_frontmatter_split(document, 0, &parts, &err))
		return 0;
	mr_buf_clear(&buf);
	if (mr_frontmatter_join(&buf, &parts, &err) ||
		mr_frontmatter_split(mr_buf_bytes(&buf), 0, &again, &err) ||
		parts.form != again.form || !same(parts.head, again.head) ||
		!same(parts.body, again.body))
		abort();
	/* The same length means: framed as we frame it. Then not a byte may differ. */
	if (buf.len == len && !memchr(data, '\r', len) && !same(mr_buf_bytes(&buf), document))
		abort();
	return 0;
}
