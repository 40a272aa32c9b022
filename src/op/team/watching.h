/* op/team/watching.h - waiting for changes of a team, for the surfaces. */
#pragma once

#include "op/call.h"
#include "team/topic.h"

struct mr_team_item;

/* An inbox to follow. */
struct mr_watching {
	const char *project_key, *agent_name;
	bool has_cursor;
	int64_t cursor; /* begin after this message, and not now */
	bool include_bodies;
	int64_t timeout_ms; /* below 0: without end */
	/* Called with each message, oldest first; false ends it. */
	bool (*show)(void *arg, const struct mr_team_item *item);
	void *arg;
};
/* `*is_late`: the time was over before show() had enough. */
MR_CHECK enum mr_code mr_watching_inbox(struct mr_call *call, struct mr_team *team,
	const struct mr_watching *w, bool *is_late);

/* mr_team_topic_begin(), mr_team_topics_wait() and mr_team_topics_wake() of team/topic.h. */
MR_CHECK enum mr_code mr_watching_begin(struct mr_call *call, struct mr_team *team,
	struct mr_team_topic *topic);
MR_CHECK enum mr_code mr_watching_wait(struct mr_call *call, struct mr_team *team,
	struct mr_team_topic *topics, size_t count, const char *failed_event, bool *found);
void mr_watching_wake(struct mr_team *team);
