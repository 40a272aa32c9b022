/* team/message_private.h - one way into the database for everything that is sent. */
#pragma once

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
