/* op/team/view_mail.c - views of messages, threads and an agent's mail. */
#include "app/settings.h"
#include "op/agent_auth.h"
#include "op/team/team_ops.h"
#include "op/team/view.h"
#include "team/archive/archive.h"
#include "text/time.h"

enum { LIMIT = 20, OVERDUE_LIMIT = 50, THREAD_LIMIT = 1000 };

static int64_t given(int64_t value, int64_t usual)
{
	return value == MR_VIEW_UNSET ? usual : value;
}

static struct mr_team_showing showing_of(const struct mr_view *view)
{
	int64_t max_chars = given(view->max_chars, 0);

	return (struct mr_team_showing){
		.is_limited = max_chars > 0,
		.max_chars = max_chars,
		.fence = view->has_fence ? view->fence : view->call->fence,
	};
}

enum mr_code mr_view_message(const struct mr_view *view, struct mr_out *out)
{
	struct mr_ctx *cx = &view->call->cx;
	struct mr_team_showing showing = showing_of(view);
	struct mr_team_item item;
	int64_t id;
	enum mr_code rc;

	if (!mr_str_to_int(view->name, &id))
		return mr_team_refuse(cx, "message_id", "a message has a number, not \"%.60s\"",
			view->name);
	rc = mr_agent_auth_readers(view->call, view->team, false);
	if (!rc)
		rc = mr_team_ask_message(cx, view->team, &view->call->rights, view->project, id,
			NULL, &item);
	if (rc)
		return rc;
	mr_team_show_body(view->call, &showing, &item);
	mr_shape_team_item(out, NULL, &item, true);
	return MR_OK;
}

/* A thread that the caller may not see is reported as not found. */
static enum mr_code get_thread(const struct mr_view *view, struct mr_team_project *project,
	struct mr_team_items *out)
{
	int64_t limit = given(view->limit, THREAD_LIMIT);
	enum mr_code rc = mr_agent_auth_readers(view->call, view->team, false);

	if (!rc)
		rc = mr_view_find_thread(view, project);
	if (!rc)
		rc = mr_team_ask_thread(&view->call->cx, view->team, &view->call->rights,
			project->human_key, view->name, view->include_bodies, 0,
			limit < 1 ? 1 : limit, project, out);
	if (!rc && !out->len)
		rc = mr_team_fail(&view->call->cx, MR_TEAM_NOT_FOUND,
			"project %s has no thread %.100s", project->slug, view->name);
	return rc;
}

enum mr_code mr_view_thread(const struct mr_view *view, struct mr_out *out)
{
	struct mr_team_showing showing = showing_of(view);
	struct mr_team_project project;
	struct mr_team_items items;
	enum mr_code rc = get_thread(view, &project, &items);

	if (rc)
		return rc;
	mr_team_show_bodies(view->call, &showing, &items);
	mr_out_map(out, NULL);
	mr_out_text(out, "project", project.human_key);
	mr_out_text(out, "thread_id", view->name);
	mr_shape_team_items(out, "messages", &items, true);
	mr_out_end(out);
	return MR_OK;
}

/* A list of messages of an agent, in one of its forms. */
struct box {
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_inbox_query query;
	struct mr_team_items items;
	struct mr_team_commit *commits; /* or NULL: not included */
	struct mr_team_change_of *changes;
};

static enum mr_code find_box(const struct mr_view *view, int64_t limit, struct box *box)
{
	int64_t asked = given(view->limit, limit);
	enum mr_code rc = mr_view_find_agent(view, &box->project, &box->agent);

	/* To read an agent's mail is to act as it. */
	if (!rc)
		rc = mr_agent_auth_check_agent(view->call, view->team, box->project.slug,
			box->agent.name);
	if (rc)
		return rc;
	box->query = (struct mr_team_inbox_query){
		.project_key = box->project.slug,
		.agent_name = box->agent.name,
		.limit = asked < 1 ? -1 : asked,
		.include_bodies = view->include_bodies,
		.since_ts = view->since_ts,
		.urgent_only = view->urgent_only,
	};
	return MR_OK;
}

static enum mr_code find_commits(const struct mr_view *view, struct box *box, bool flush,
	bool with_changes)
{
	struct mr_arena *arena = view->call->cx.arena;
	size_t len = box->items.len;
	const struct mr_team_message **messages = mr_arena_array(arena, len, sizeof(*messages));

	for (size_t i = 0; i < len; i++)
		messages[i] = &box->items.items[i].message;
	box->commits = mr_arena_array(arena, len, sizeof(*box->commits));
	if (with_changes)
		box->changes = mr_arena_array(arena, len, sizeof(*box->changes));
	return mr_team_archive_commits_at(&view->call->cx, view->team, messages, len, flush,
		box->commits, box->changes);
}

static void put_commit(struct mr_out *out, const struct mr_team_commit *commit,
	const struct mr_team_change_of *change)
{
	if (!commit->hexsha) {
		mr_out_null(out, "commit");
		return;
	}
	mr_out_map(out, "commit");
	mr_out_text(out, "hexsha", commit->hexsha);
	mr_out_text(out, "summary", commit->summary);
	mr_shape_team_time(out, "authored_ts", commit->authored_ts);
	if (change) {
		mr_out_int(out, "insertions", change->insertions);
		mr_out_int(out, "deletions", change->deletions);
		mr_out_map(out, "diff_summary");
		mr_out_int(out, "hunks", 1);
		mr_out_texts(out, "excerpt", &change->excerpt);
		mr_out_end(out);
	}
	mr_out_end(out);
}

/* `ttl_s` below 0: of messages whose age does not matter. */
static void put_box(const struct mr_view *view, struct box *box, int64_t ttl_s, struct mr_out *out)
{
	struct mr_team_showing showing = showing_of(view);
	int64_t now = mr_clock_wall_us(view->call->cx.clock);

	mr_team_show_bodies(view->call, &showing, &box->items);
	mr_out_map(out, NULL);
	mr_out_text(out, "project", box->project.human_key);
	mr_out_text(out, "agent", box->agent.name);
	if (ttl_s >= 0)
		mr_out_int(out, "ttl_seconds", ttl_s);
	mr_out_int(out, "count", (int64_t)box->items.len);
	mr_out_list(out, "messages");
	for (size_t i = 0; i < box->items.len; i++) {
		const struct mr_team_item *item = &box->items.items[i];

		mr_out_map(out, NULL);
		mr_shape_team_item_members(out, item, !item->received);
		if (ttl_s >= 0) {
			mr_shape_team_time(out, "read_at", item->read_ts);
			mr_out_int(out, "age_seconds",
				(now - item->message.created_ts) / MR_TIME_S);
		}
		if (box->commits)
			put_commit(out, &box->commits[i], box->changes ? &box->changes[i] : NULL);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
}

static enum mr_code read_inbox(const struct mr_view *view, bool flush, bool with_changes,
	struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(view, LIMIT, &box);

	if (!rc)
		rc = mr_team_inbox_fetch(&view->call->cx, view->team, &box.query, &box.items);
	if (!rc)
		rc = find_commits(view, &box, flush, with_changes);
	if (!rc)
		put_box(view, &box, -1, out);
	return rc;
}

enum mr_code mr_view_inbox(const struct mr_view *view, struct mr_out *out)
{
	return read_inbox(view, false, false, out);
}

enum mr_code mr_view_mailbox(const struct mr_view *view, struct mr_out *out)
{
	return read_inbox(view, true, false, out);
}

enum mr_code mr_view_mailbox_with_commits(const struct mr_view *view, struct mr_out *out)
{
	return read_inbox(view, true, true, out);
}

enum mr_code mr_view_outbox(const struct mr_view *view, struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(view, LIMIT, &box);

	if (!rc)
		rc = mr_team_outbox_fetch(&view->call->cx, view->team, &box.query, &box.items);
	if (!rc)
		rc = find_commits(view, &box, false, false);
	if (!rc)
		put_box(view, &box, -1, out);
	return rc;
}

enum mr_code mr_view_urgent_unread(const struct mr_view *view, struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(view, LIMIT, &box);

	box.query.urgent_only = box.query.unread_only = true;
	if (!rc)
		rc = mr_team_inbox_fetch(&view->call->cx, view->team, &box.query, &box.items);
	if (!rc)
		put_box(view, &box, -1, out);
	return rc;
}

enum mr_code mr_view_ack_required(const struct mr_view *view, struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(view, LIMIT, &box);

	box.query.unacked_only = true;
	if (!rc)
		rc = mr_team_inbox_fetch(&view->call->cx, view->team, &box.query, &box.items);
	if (!rc)
		put_box(view, &box, -1, out);
	return rc;
}

static enum mr_code read_late(const struct mr_view *view, int64_t ttl_s, int64_t limit,
	struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(view, limit, &box);

	if (!rc)
		rc = mr_team_inbox_overdue(&view->call->cx, view->team, &box.query, ttl_s,
			&box.items);
	if (!rc)
		put_box(view, &box, ttl_s, out);
	return rc;
}

/* So long that nothing is older, and nothing overflows. */
static int64_t bounded(int64_t value, int64_t least)
{
	return value < least ? least : value > INT32_MAX ? INT32_MAX : value;
}

enum mr_code mr_view_acks_stale(const struct mr_view *view, struct mr_out *out)
{
	int64_t ttl_s = mr_settings_int(view->call->app->settings, "ack.ttl_seconds");

	return read_late(view, bounded(given(view->ttl_seconds, ttl_s), 0), LIMIT, out);
}

enum mr_code mr_view_ack_overdue(const struct mr_view *view, struct mr_out *out)
{
	int64_t minutes = bounded(given(view->ttl_minutes, 60), 1);

	return read_late(view, minutes * 60, OVERDUE_LIMIT, out);
}
