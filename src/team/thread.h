/* team/thread.h - threads: their messages, and lists of them. */
#pragma once

#include "team/inbox.h"

struct mr_team_thread {
	const char *thread_id;
	const char *subject; /* of its first message */
	int64_t messages;
	int64_t first_ts, last_ts;
	const char *last_from;
	int64_t last_id; /* of its newest message */
};
struct mr_team_threads {
	struct mr_team_thread *items; /* most recently used first */
	size_t len;
};

/* Messages of a thread in their order; for a number, the message of that id comes first. At most
 * `limit` from `after` (a message's id, or 0). An unknown thread is empty. */
MR_CHECK enum mr_code mr_team_thread_get(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, const char *thread_id,
	bool include_bodies, int64_t after, int64_t limit, struct mr_team_items *out);
/* The same from its end: the newest first, of those before the message `before` (0: all). */
MR_CHECK enum mr_code mr_team_thread_newest(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, const char *thread_id,
	bool include_bodies, int64_t before, int64_t limit, struct mr_team_items *out);
/* The projects that have messages of this thread, or the message it is named after: at most two,
 * enough to tell whether it is unique. */
MR_CHECK enum mr_code mr_team_thread_projects(struct mr_ctx *cx, struct mr_db *db,
	const char *thread_id, struct mr_team_projects *out);
/* Those whose newest message is older than `before` (0: all). */
MR_CHECK enum mr_code mr_team_thread_list(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, int64_t before, int64_t limit,
	struct mr_team_threads *out);
