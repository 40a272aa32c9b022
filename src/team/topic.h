/* team/topic.h - what clients can subscribe to: an inbox, a thread, the leases of a project, the
 * members of the team. */
#pragma once

#include "team/store/root.h"

enum mr_team_topic_kind {
	MR_TEAM_TOPIC_NONE,    /* does not depend on the database */
	MR_TEAM_TOPIC_INBOX,   /* `id` is an agent */
	MR_TEAM_TOPIC_THREAD,  /* `thread_id` as seen from the project `id` */
	MR_TEAM_TOPIC_LEASES,  /* `id` is a project */
	MR_TEAM_TOPIC_MEMBERS, /* which projects and agents there are */
};

struct mr_team_topic {
	enum mr_team_topic_kind kind;
	int64_t id;
	const char *thread_id;
	/* How far it is known: of inboxes and threads the newest message there was, of the others a
	 * number that is another one after a change. */
	int64_t mark;
	bool is_changed; /* set by mr_team_topics_wait() */
};

/* Set its mark: later changes count. */
MR_CHECK enum mr_code mr_team_topic_begin(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_topic *topic);
/*
 * Wait until at least one of `count` topics has changed since its mark, or until cx->is_over, which
 * is checked at each change of the database: the code that makes it true calls
 * mr_team_topics_wake(). `is_changed` of each and `*found` say what was found; marks move on. A
 * look that fails is logged as `failed_event`, and the wait goes on.
 */
MR_CHECK enum mr_code mr_team_topics_wait(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_topic *topics, size_t count, const char *failed_event, bool *found);
/* Let all waiting threads check cx->is_over. From any thread. */
void mr_team_topics_wake(struct mr_team *team);
