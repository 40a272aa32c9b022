/* fuzz_team_document.c - a message of the archive that is read is written, and reads the same. */
#include "team/archive/archive_document.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf first MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf second MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_document a, b;
	struct mr_err err;

	mr_buf_init(&first, MR_TEAM_DOCUMENT_BYTES);
	mr_buf_init(&second, MR_TEAM_DOCUMENT_BYTES);
	if (mr_team_document_parse(arena, mr_bytes_of(data, len), &a, &err))
		return 0;
	if (!a.uid)
		a.uid = "msg_20250101_000000";
	if (mr_team_document_write(arena, &first, &a, &err) ||
		mr_team_document_parse(arena, mr_buf_bytes(&first), &b, &err))
		abort();
	if (!mr_str_eq(a.subject, b.subject) || !mr_str_eq(a.from, b.from) ||
		!mr_str_eq(a.thread_id, b.thread_id) || a.to.len != b.to.len ||
		a.created_ts != b.created_ts || a.body.len != b.body.len ||
		memcmp(a.body.data, b.body.data, a.body.len) != 0)
		abort();
	if (mr_team_document_write(arena, &second, &b, &err) ||
		strcmp(mr_buf_text(&first), mr_buf_text(&second)) != 0)
		abort();
	return 0;
}
