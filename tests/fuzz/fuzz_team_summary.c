/* tests/fuzz/fuzz_team_summary.c - any bodies are summed up within the limits; any answer of a
 * model is an object or nothing. */
#include "base/utf8.h"
#include "team/llm.h"
#include "team/summary.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_texts(const struct mr_texts *texts, bool valid)
{
	if (texts->len > MR_TEAM_SUMMARY_POINTS)
		abort();
	for (size_t i = 0; i < texts->len; i++) {
		size_t len = strlen(texts->items[i]);

		if (len == 0 || len > MR_TEAM_SUMMARY_TEXT_BYTES || strchr(texts->items[i], '\n') ||
			(valid && !mr_utf8_is_valid(texts->items[i], len, NULL)))
			abort();
	}
}

/* Input: bodies, each ended by a form feed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *text = mr_arena_strndup(arena, size ? (const char *)data : "", size);
	bool valid = mr_utf8_is_valid(text, strlen(text), NULL);
	const struct mr_value *object = mr_team_llm_object(arena, text);
	struct mr_team_item items[8] = { 0 };
	struct mr_team_items all = { items, 0, 0 };
	struct mr_team_summary summary;

	if (object && object->kind != MR_MAP)
		abort();
	while (all.len < MR_LEN(items)) {
		char *end = text + strcspn(text, "\f");
		bool last = !*end;

		*end = '\0';
		items[all.len++] = (struct mr_team_item){
			.message = { .subject = "s", .body_md = text },
			.from = all.len % 2 ? "B" : "A",
		};
		if (last)
			break;
		text = end + 1;
	}
	mr_team_summarise(arena, "T", &all, &summary);
	check_texts(&summary.key_points, valid);
	check_texts(&summary.action_items, valid);
	check_texts(&summary.code_references, valid);
	if (summary.total_messages != (int64_t)all.len || summary.participants.len > 2 ||
		summary.mention_count > MR_TEAM_SUMMARY_MENTIONS ||
		summary.examples.len > MR_TEAM_SUMMARY_EXAMPLES)
		abort();
	for (size_t i = 1; i < summary.mention_count; i++) {
		if (summary.mentions[i - 1].count < summary.mentions[i].count)
			abort();
	}
	return 0;
}
