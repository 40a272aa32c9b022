/* team/message_private.h - what the files about sending share. */
#pragma once

#include "team/message.h"
#include "team/model.h"

/* The thread a message is in, or the one that an answer to it begins. */
const char *mr_team_thread_of(struct mr_arena *arena, const struct mr_team_message *message);

/* What an answer says besides the message, to be kept with a sender's key; "" for nothing. */
const char *mr_team_sent_notes(struct mr_arena *arena, const struct mr_team_sent *sent);
/* The answer of then, from the message and these notes. */
MR_CHECK enum mr_code mr_team_sent_recall(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	const char *notes, struct mr_team_sent *out);
