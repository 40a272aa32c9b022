/* fuzz_work_block.c - a managed block goes into any text, and a second time changes nothing. */
#include "text/skill_file.h"
#include "workspace/managed_block.h"
#include "workspace/skill_document.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char fresh[] = "opening\n# BEGIN afmail managed\na\n# END afmail managed\n";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_work_markers *markers = &mr_work_gitignore_markers;
	struct mr_ctx cx = { .arena = arena };
	struct mr_bytes old = mr_bytes_of(len ? (const void *)data : "", len), once, twice;
	const char *body;

	/* Any text can also stand where a skill is looked for. */
	(void)mr_work_skill_is_managed(arena, old);
	(void)mr_skill_file_problem(arena, old, "a");
	if (mr_work_block_merge(&cx, "f", markers, old, mr_bytes_text(fresh), &once)) {
		if (!mr_str_eq(cx.err.word, "managed_block_invalid"))
			abort();
		return 0;
	}
	body = mr_work_block_body(arena, markers, once);
	if (!body || (strcmp(body, "a\n") != 0 && strcmp(body, "a\r\n") != 0))
		abort();
	if (mr_work_block_merge(&cx, "f", markers, once, mr_bytes_text(fresh), &twice) ||
		once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
		abort();
	return 0;
}
