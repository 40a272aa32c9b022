/* team/post.h - stores everything that is sent: messages, and notices of the program itself. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "team/model.h"

struct mr_team_post {
	struct mr_team_message message; /* id, uid, thread_seq and created_ts are set by storing */
	int64_t attachment_bytes;
	const char *from;                     /* the sender's name */
	struct mr_team_recipients recipients; /* agent_id, project_id, name, project_slug, kind */
	const char *tool;
};

/* Inside a change: store the message and its recipients, and queue its files for the archive. */
MR_CHECK enum mr_code mr_team_post_store(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_post *post);
/* In the change's `after`: add it to the search index. */
MR_CHECK enum mr_code mr_team_post_index(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_message *message);
/* "Name", or "Name@slug" for an agent of another project than `project_id`. */
const char *mr_team_post_name(struct mr_arena *arena, int64_t project_id,
	const struct mr_team_recipient *recipient);
/* The names of recipients of one kind, written like that. */
struct mr_texts mr_team_post_names(struct mr_arena *arena, int64_t project_id,
	const struct mr_team_recipients *recipients, enum mr_team_recipient_kind kind);

/*
 * Inside a change: a message from one agent to another that is not subject to contact policies
 * (requests, answers, releases, escalations).
 */
struct mr_team_notice {
	const struct mr_team_agent *from;
	const struct mr_team_agent *to;
	const char *subject;
	const char *body_md;
	const char *thread_id; /* or NULL */
	bool ack_required;
	enum mr_team_importance importance;
	const char *tool;
};
MR_CHECK enum mr_code mr_team_notice_send(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_notice *notice, int64_t *out_message_id);
/* In the change's `after`: add it to the search index. */
MR_CHECK enum mr_code mr_team_notice_index(struct mr_ctx *cx, struct mr_db *db, int64_t message_id);
