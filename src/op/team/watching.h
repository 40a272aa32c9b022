/* op/team/watching.h - waiting for changes of a team, for the surfaces. */
#pragma once

#include "op/call.h"
#include "team/store/watch.h"
#include "team/topic.h"

struct mr_team_item;
struct mr_team_reservation;

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

/* What happens in a project. */
enum mr_happening {
	MR_HAPPENS_MAIL,  /* `item` */
	MR_HAPPENS_ACK,   /* `agent` has acknowledged the message `message_id` with this subject */
	MR_HAPPENS_LEASE, /* `lease` was taken */
	MR_HAPPENS_LEASE_END,
};
struct mr_happened {
	enum mr_happening what;
	int64_t time_us; /* when it was noticed */
	const struct mr_team_item *item;
	const struct mr_team_reservation *lease;
	const char *agent, *subject;
	int64_t message_id;
};
/* As mr_watching_inbox(), without an agent. `show` is called with each; false ends it. */
MR_CHECK enum mr_code mr_watching_project(struct mr_call *call, struct mr_team *team,
	const struct mr_watching *w, bool (*show)(void *arg, const struct mr_happened *happened),
	bool *is_late);

/* mr_team_topic_begin(), mr_team_topics_wait() and mr_team_topics_wake() of team/topic.h. */
MR_CHECK enum mr_code mr_watching_begin(struct mr_call *call, struct mr_team *team,
	struct mr_team_topic *topic);
MR_CHECK enum mr_code mr_watching_wait(struct mr_call *call, struct mr_team *team,
	struct mr_team_topic *topics, size_t count, const char *failed_event, bool *found);
void mr_watching_wake(struct mr_team *team);

/* mr_team_watch_open(), mr_team_watch_wait() and mr_team_watch_close() of team/store/watch.h: any
 * change at all. mr_watching_wake() is one, too. */
MR_CHECK enum mr_code mr_watching_open(struct mr_call *call, struct mr_team *team,
	struct mr_team_watch **out);
MR_CHECK enum mr_code mr_watching_change(struct mr_call *call, struct mr_team_watch *watch,
	int timeout_ms, bool *changed);
void mr_watching_close(struct mr_team_watch **watch);
