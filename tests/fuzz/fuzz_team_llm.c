/* fuzz_team_llm.c - whatever a model and its server answer: a summary within our limits, in text
 * that fits on a line, or the one that was there. */
#include "base/utf8.h"
#include "net/http_client.h"
#include "team/llm.h"
#include "team/summary_private.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct mr_texts *texts, size_t max)
{
	if (texts->len > max)
		abort();
	for (size_t i = 0; i < texts->len; i++) {
		const char *text = texts->items[i];
		size_t len = strlen(text);

		if (len == 0 || len > MR_TEAM_SUMMARY_TEXT_BYTES ||
			!mr_utf8_is_valid(text, len, NULL))
			abort();
		for (; *text; text++) {
			if ((unsigned char)*text < 0x20 || *text == 0x7f)
				abort();
		}
	}
}

static void check_summary(const struct mr_team_summary *summary)
{
	check(&summary->key_points, MR_TEAM_SUMMARY_POINTS);
	check(&summary->action_items, MR_TEAM_SUMMARY_POINTS);
	check(&summary->code_references, MR_TEAM_SUMMARY_POINTS);
	if (summary->key_points.len + summary->action_items.len + summary->code_references.len &&
		!mr_str_eq(summary->source, "llm"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system() };
	const struct mr_http_client_response response = { .status = 200,
		.body = mr_bytes_of(data, len) };
	struct mr_team_summary one = { .thread_id = "T" }, items[2] = { one, { .thread_id = "U" } };
	struct mr_team_summaries all = { .items = items, .len = MR_LEN(items) };
	const struct mr_value *object = NULL;

	if (mr_team_llm_read(&cx, &response, &object)) {
		if (cx.err.code == MR_OK || !cx.err.msg[0])
			abort();
		return 0;
	}
	mr_team_summary_take(arena, object, &one);
	check_summary(&one);
	mr_team_summary_take_all(arena, object, &all);
	check_summary(&items[0]);
	check_summary(&items[1]);
	check(&all.key_points, MR_TEAM_SUMMARY_AGGREGATE);
	check(&all.action_items, MR_TEAM_SUMMARY_AGGREGATE);
	return 0;
}
