/*
 * workspace/pull_settle.h - what a pull has learnt about messages that were there before: new
 * flags, new places, and places that are gone; settled in one change at its end.
 */
#pragma once

#include "workspace/collection.h"
#include "workspace/pull_known.h"
#include "workspace/pulled.h"
#include "workspace/remote.h"

struct mr_work_lesson;

struct mr_work_settling {
	struct mr_ctx *cx;
	struct mr_work *work;
	struct mr_work_lesson *lessons;
	size_t len, room;
	struct mr_texts spam, trash; /* new messages that go there */
	size_t spam_room, trash_room, put_off_room, failed_room;
	struct mr_texts put_off; /* mailboxes of which something could not be settled */
};

void mr_work_settle_begin(struct mr_ctx *cx, struct mr_work *work, struct mr_work_settling *out);
/* It is there, with these flags, joined by blanks; true when they are others than before. */
bool mr_work_settle_flags(struct mr_work_settling *settling, const char *mailbox_name,
	const struct mr_work_place_row *known, const char *flags);
/* A known message is at this place, too. */
void mr_work_settle_location(struct mr_work_settling *settling, const char *message_id,
	const struct mr_work_location *location);
/* It is there no longer. */
void mr_work_settle_missing(struct mr_work_settling *settling, const char *mailbox_name,
	const struct mr_work_place_row *known);
/* A new message goes into spam or trash; written by mr_work_settle_discarded(): once that has
 * committed `*change`, the caller refreshes what is stale and ends the change. */
void mr_work_settle_discard(struct mr_work_settling *settling, enum mr_work_collection_kind kind,
	const char *message_id);
MR_CHECK enum mr_code mr_work_settle_discarded(struct mr_work_settling *settling,
	struct mr_work_change *change);
/* A mail that could not be taken in, or of which the news could not be settled, and why. */
void mr_work_settle_failed(struct mr_work_settling *settling, struct mr_work_pulled *counts,
	const char *what);
/*
 * Carry everything out. Where the sidecar of a message cannot be read, what was learnt of that
 * message is put off and told as a failure, and the others go on. A message without a place left is
 * kept when something refers to it (tombstoned), and is deleted_remote otherwise; one that is back
 * comes back to triage.
 */
MR_CHECK enum mr_code mr_work_settle(struct mr_work_settling *settling,
	struct mr_work_pulled *counts);
