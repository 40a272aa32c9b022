/* op/team/watching.c - waits for changes of a team, for the surfaces. */
#include "op/team/watching.h"

#include "team/follow.h"
#include "team/inbox_wait.h"
#include "team/limits.h"

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

/* --- a project --- */

/* A full list ends with the oldest that had room: what is older may only have left the list. */
static bool is_out_of_sight(const struct mr_team_dues *dues, const struct mr_team_due *one)
{
	return dues->len >= MR_TEAM_LIST_MAX &&
		one->message_id <= dues->items[dues->len - 1].message_id;
}

struct telling {
	const struct mr_watching *w;
	bool (*show)(void *arg, const struct mr_happened *happened);
	int64_t now_us;
	bool go_on;
};

static void tell(struct telling *t, struct mr_happened happened)
{
	happened.time_us = t->now_us;
	t->go_on = t->go_on && t->show(t->w->arg, &happened);
}

static bool has_lease(const struct mr_team_lease_rows *rows, int64_t id)
{
	for (size_t i = 0; i < rows->len; i++) {
		if (rows->items[i].lease.id == id)
			return true;
	}
	return false;
}

static void tell_leases(struct telling *t, const struct mr_team_lease_rows *those,
	const struct mr_team_lease_rows *others, enum mr_happening what)
{
	for (size_t i = 0; i < those->len; i++) {
		const struct mr_team_reservation *lease = &those->items[i].lease;

		if (!has_lease(others, lease->id))
			tell(t, (struct mr_happened){ .what = what, .lease = lease });
	}
}

static bool is_due(const struct mr_team_dues *dues, const struct mr_team_due *one)
{
	for (size_t i = 0; i < dues->len; i++) {
		if (dues->items[i].message_id == one->message_id &&
			mr_str_eq(dues->items[i].agent, one->agent))
			return true;
	}
	return false;
}

static void tell_changes(struct telling *t, const struct mr_team_moment *before,
	const struct mr_team_moment *now, const struct mr_team_items *mail)
{
	for (size_t i = 0; i < mail->len; i++)
		tell(t, (struct mr_happened){ MR_HAPPENS_MAIL, .item = &mail->items[i] });
	for (size_t i = 0; i < before->dues.len; i++) {
		const struct mr_team_due *due = &before->dues.items[i];

		if (!is_due(&now->dues, due) && !is_out_of_sight(&now->dues, due))
			tell(t,
				(struct mr_happened){ .what = MR_HAPPENS_ACK,
					.agent = due->agent,
					.subject = due->subject,
					.message_id = due->message_id });
	}
	tell_leases(t, &before->leases, &now->leases, MR_HAPPENS_LEASE_END);
	tell_leases(t, &now->leases, &before->leases, MR_HAPPENS_LEASE);
}

static int64_t left_ms(struct mr_call *call, const struct mr_watching *w, int64_t begun_ms)
{
	int64_t left = begun_ms + w->timeout_ms - mr_clock_mono_ms(call->cx.clock);

	return w->timeout_ms < 0 ? -1 : left < 0 ? 0 : left;
}

/* Two moments live at a time, each in an arena of its own. */
enum mr_code mr_watching_project(struct mr_call *call, struct mr_team *team,
	const struct mr_watching *w, bool (*show)(void *arg, const struct mr_happened *happened),
	bool *is_late)
{
	struct mr_arena *last MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct telling t = { .w = w, .show = show, .go_on = true };
	int64_t begun_ms = mr_clock_mono_ms(call->cx.clock);
	struct mr_ctx cx = call->cx;
	struct mr_team_project project;
	struct mr_team_moment before;
	enum mr_code rc = mr_team_follow_begin(&call->cx, team, w->project_key, &project, &before);

	if (w->has_cursor)
		before.last_message = w->cursor;
	cx.progress = NULL;
	while (!rc && t.go_on && !*is_late) {
		struct mr_arena *arena = mr_arena_new();
		struct mr_team_moment now;
		struct mr_team_items mail;
		bool found = false;

		cx.arena = arena;
		rc = mr_team_follow_wait(&cx, team, &project, &call->rights, &before,
			left_ms(call, w, begun_ms), &found, &now, &mail);
		*is_late = !rc && !found;
		t.now_us = mr_clock_wall_us(call->cx.clock);
		if (!rc && found)
			tell_changes(&t, &before, &now, &mail);
		before = now;
		mr_arena_freep(&last);
		last = arena;
	}
	if (rc && cx.err.code) {
		call->cx.err = cx.err;
		/* The issues are freed with the arena. */
		call->cx.err.issues = NULL;
		call->cx.err.detail = NULL;
	}
	return rc;
}

/* --- topics --- */

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

/* --- any change --- */

enum mr_code mr_watching_open(struct mr_call *call, struct mr_team *team,
	struct mr_team_watch **out)
{
	return mr_team_watch_open(&call->cx, team, out);
}

enum mr_code mr_watching_change(struct mr_call *call, struct mr_team_watch *watch, int timeout_ms,
	bool *changed)
{
	return mr_team_watch_wait(&call->cx, watch, timeout_ms, changed);
}

void mr_watching_close(struct mr_team_watch **watch)
{
	mr_team_watch_close(watch);
}
