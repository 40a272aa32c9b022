/* fuzz_team_record.c - a record of the archive that is read is written, and reads the same. */
#include "team/archive/archive_record.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { KINDS = 6 };

/* Read it as one kind of record and write it again; false when it is none. */
static bool again(struct mr_arena *arena, int kind, struct mr_bytes bytes, struct mr_buf *out)
{
	struct mr_team_reservations leases = { 0 };
	struct mr_team_link_records links = { 0 };
	struct mr_team_slot_record slot = { 0 };
	struct mr_team_project project = { 0 };
	struct mr_team_agent agent = { 0 };
	struct mr_team_gone gone = { 0 };
	struct mr_err err;

	mr_buf_clear(out);
	if (kind == 0 && !mr_team_record_read_project(arena, bytes, &project, &err))
		mr_team_record_project(out, &project);
	else if (kind == 1 && !mr_team_record_read_profile(arena, bytes, &agent, &err))
		mr_team_record_profile(out, &project, &agent);
	else if (kind == 2 && !mr_team_record_read_gone(arena, bytes, &gone, &err))
		mr_team_record_gone(arena, out, &gone);
	else if (kind == 3 && !mr_team_record_read_leases(arena, bytes, &leases, &err))
		mr_team_record_leases(out, "/p", &leases);
	else if (kind == 4 && !mr_team_record_read_links(arena, bytes, &links, &err))
		mr_team_record_links(out, "A", "p", &links);
	else if (kind == 5 && !mr_team_record_read_slot(arena, bytes, &slot, &err))
		mr_team_record_slot(out, "/p", &slot);
	return out->len > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf first MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf second MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&first, MR_TEAM_RECORD_BYTES);
	mr_buf_init(&second, MR_TEAM_RECORD_BYTES);
	for (int kind = 0; kind < KINDS; kind++) {
		if (again(arena, kind, mr_bytes_of(data, len), &first) &&
			(!again(arena, kind, mr_buf_bytes(&first), &second) ||
				strcmp(mr_buf_text(&first), mr_buf_text(&second)) != 0))
			abort();
	}
	return 0;
}
