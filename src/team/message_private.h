/* team/message_private.h - one way into the database for everything that is sent. */
#pragma once

#include "team/inbox.h"
#include "team/message.h"
#include "team/model.h"

struct mr_team_post {
	struct mr_team_message message; /* id, uid, thread_seq and created_ts are set by storing */
	int64_t attachment_bytes;
	const char *from;                     /* the sender's name */
	struct mr_team_recipients recipients; /* agent_id, project_id, name, project_slug, kind */
	const char *tool;
};

/* Inside a change: the message, its recipients, and what the archive has to do. */
MR_CHECK enum mr_code mr_team_post_store(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_post *post);
/* "Name", or "Name@slug" for an agent of another project than `project_id`. */
const char *mr_team_post_name(struct mr_arena *arena, int64_t project_id,
	const struct mr_team_recipient *recipient);
/* Those of one kind, so written. */
struct mr_texts mr_team_post_names(struct mr_arena *arena, int64_t project_id,
	const struct mr_team_recipients *recipients, enum mr_team_recipient_kind kind);

/* The thread a message is in, or the one that an answer to it begins. */
const char *mr_team_thread_of(struct mr_arena *arena, const struct mr_team_message *message);

/* What an answer says besides the message, to be kept with a sender's key; "" for nothing. */
const char *mr_team_sent_notes(struct mr_arena *arena, const struct mr_team_sent *sent);
/* The answer of then, from the message and these notes. */
MR_CHECK enum mr_code mr_team_sent_recall(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	const char *notes, struct mr_team_sent *out);

/* to, cc and, for its sender, bcc. */
MR_CHECK enum mr_code mr_team_item_names(struct mr_ctx *cx, struct mr_db *db, bool with_bcc,
	struct mr_team_item *item);
