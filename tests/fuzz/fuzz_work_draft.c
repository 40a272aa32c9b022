/* The files of drafts as people leave them. */
#include "workspace/draft_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void same_texts(const struct mr_texts *a, const struct mr_texts *b)
{
	require(a->len == b->len);
	for (size_t i = 0; i < a->len; i++)
		require(strcmp(a->items[i], b->items[i]) == 0);
}

/* A draft that was read is written so that it reads the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena };
	struct mr_work_draft_file draft, again;
	struct mr_bytes out, twice;

	if (mr_work_draft_read(&cx, mr_bytes_of(data, size), &draft) ||
		mr_work_draft_write(&cx, &draft, &out))
		return 0;
	require(!mr_work_draft_read(&cx, out, &again));
	require(mr_str_eq(draft.kind, again.kind));
	require(mr_str_eq(draft.case_uid, again.case_uid));
	require(mr_str_eq(draft.send_intent, again.send_intent));
	require(mr_str_eq(draft.reply_to_message_id, again.reply_to_message_id));
	require(mr_str_eq(draft.identity, again.identity));
	require(mr_str_eq(draft.subject, again.subject));
	same_texts(&draft.to, &again.to);
	same_texts(&draft.cc, &again.cc);
	same_texts(&draft.attachments, &again.attachments);
	require(mr_value_equal(&draft.others, &again.others));
	require(strncmp(draft.body, again.body, strlen(draft.body)) == 0);
	require(!mr_work_draft_write(&cx, &again, &twice));
	require(out.len == twice.len && memcmp(out.data, twice.data, out.len) == 0);
	return 0;
}
