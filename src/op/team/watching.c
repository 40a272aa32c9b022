/* op/team/watching.c - waits for changes of a team, for the surfaces. */
#include "op/team/watching.h"

#include "team/inbox_wait.h"

enum { PAGE = 100 };

/* Wait for the next messages and show them. `*go_on` becomes false after the last one, or when
 * none came in time. */
static enum mr_code follow(struct mr_call *call, struct mr_team *team, const struct mr_watching *w,
	struct mr_team_inbox_place *place, int64_t left_ms, bool *go_on, bool *is_late)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	/* No progress reports: each message shows that the wait goes on. */
	struct mr_ctx cx = { .arena = arena,
		.clock = call->cx.clock,
		.rand = call->cx.rand,
		.is_over = call->cx.is_over,
		.is_over_arg = call->cx.is_over_arg };
	struct mr_team_items items;
	enum mr_code rc =
		mr_team_inbox_wait(&cx, team, place, w->include_bodies, PAGE, left_ms, &items);

	if (rc) {
		call->cx.err = cx.err;
		/* The issues are freed with the arena. */
		call->cx.err.issues = NULL;
		call->cx.err.detail = NULL;
		return rc;
	}
	*is_late = items.len == 0;
	*go_on = items.len > 0;
	for (size_t i = 0; *go_on && i < items.len; i++)
		*go_on = w->show(w->arg, &items.items[i]);
	return MR_OK;
}

enum mr_code mr_watching_inbox(struct mr_call *call, struct mr_team *team,
	const struct mr_watching *w, bool *is_late)
{
	int64_t begun_ms = mr_clock_mono_ms(call->cx.clock);
	struct mr_team_inbox_place place;
	bool go_on = true;
	enum mr_code rc =
		mr_team_inbox_place(&call->cx, team, w->project_key, w->agent_name, NULL, &place);

	if (!rc && w->has_cursor)
		place.after = w->cursor;
	while (!rc && go_on) {
		int64_t left_ms = -1;

		if (w->timeout_ms >= 0) {
			left_ms = begun_ms + w->timeout_ms - mr_clock_mono_ms(call->cx.clock);
			left_ms = left_ms < 0 ? 0 : left_ms;
		}
		rc = follow(call, team, w, &place, left_ms, &go_on, is_late);
	}
	return rc;
}

enum mr_code mr_watching_begin(struct mr_call *call, struct mr_team *team,
	struct mr_team_topic *topic)
{
	return mr_team_topic_begin(&call->cx, team, topic);
}

enum mr_code mr_watching_wait(struct mr_call *call, struct mr_team *team,
	struct mr_team_topic *topics, size_t count, const char *failed_event, bool *found)
{
	return mr_team_topics_wait(&call->cx, team, topics, count, failed_event, found);
}

void mr_watching_wake(struct mr_team *team)
{
	mr_team_topics_wake(team);
}
