/* surface/mcp/resource_mail.c - messages by their URIs. */
#include "app/settings.h"
#include "op/agent_auth.h"
#include "surface/mcp/resources.h"
#include "team/agent.h"
#include "team/archive/archive.h"
#include "team/thread.h"
#include "text/time.h"

enum { LIMIT = 20, OVERDUE_LIMIT = 50, THREAD_LIMIT = 1000 };

static struct mr_team_showing showing_of(const struct mr_mcp_reading *r)
{
	int64_t max_chars = mr_uri_int(&r->uri, "max_chars", 0);

	return (struct mr_team_showing){
		.is_limited = max_chars > 0,
		.max_chars = max_chars,
		.fence = mr_uri_text(&r->uri, "fence") ? mr_uri_flag(&r->uri, "fence")
						       : r->ex->call.fence,
	};
}

enum mr_code mr_mcp_read_message(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_ctx *cx = &r->ex->call.cx;
	const char *key = mr_uri_text(&r->uri, "project");
	struct mr_team_showing showing = showing_of(r);
	struct mr_team_project project;
	struct mr_team_item item;
	int64_t id;
	enum mr_code rc;

	if (!mr_str_to_int(r->variable, &id))
		return mr_team_refuse(cx, "message_id", "a message has a number, not \"%.60s\"",
			r->variable);
	rc = mr_agent_auth_readers(&r->ex->call, false);
	if (!rc)
		rc = mr_team_read(cx, r->team, &reader);
	if (!rc && key)
		rc = mr_team_project_find(cx, reader.db, key, &project);
	if (!rc)
		rc = mr_team_message_get(cx, reader.db, key ? &project : NULL, id, NULL, &item);
	if (rc)
		return rc;
	mr_team_show_body(&r->ex->call, &showing, &item);
	mr_shape_team_item(out, NULL, &item, true);
	return MR_OK;
}

static enum mr_code get_thread(struct mr_mcp_reading *r, int64_t project_id, int64_t limit,
	struct mr_team_items *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_ctx *cx = &r->ex->call.cx;
	enum mr_code rc = mr_team_read(cx, r->team, &reader);

	return rc ? rc
		  : mr_team_thread_get(cx, reader.db, project_id, r->variable,
			    mr_uri_flag(&r->uri, "include_bodies"), 0, limit, out);
}

enum mr_code mr_mcp_read_thread(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_team_showing showing = showing_of(r);
	int64_t limit = mr_uri_int(&r->uri, "limit", THREAD_LIMIT);
	struct mr_team_project project;
	struct mr_team_items items;
	enum mr_code rc = mr_agent_auth_readers(&r->ex->call, false);

	if (!rc)
		rc = mr_mcp_resource_thread(r, r->variable, &project);
	if (!rc)
		rc = get_thread(r, project.id, limit < 1 ? 1 : limit, &items);
	if (!rc && !items.len)
		rc = mr_team_fail(&r->ex->call.cx, MR_TEAM_NOT_FOUND,
			"project %s has no thread %.100s", project.slug, r->variable);
	if (rc)
		return rc;
	mr_team_show_bodies(&r->ex->call, &showing, &items);
	mr_out_map(out, NULL);
	mr_out_text(out, "project", project.human_key);
	mr_out_text(out, "thread_id", r->variable);
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
	struct mr_team_commit *commits; /* or NULL: not told */
	struct mr_team_change_of *changes;
};

static enum mr_code find_box(struct mr_mcp_reading *r, int64_t limit, struct box *box)
{
	int64_t asked = mr_uri_int(&r->uri, "limit", limit);
	enum mr_code rc = mr_mcp_resource_agent(r, r->variable, &box->project, &box->agent);

	/* To read an agent's mail is to act as it. */
	if (!rc)
		rc = mr_agent_auth_check_agent(&r->ex->call, box->project.slug, box->agent.name);
	if (rc)
		return rc;
	box->query = (struct mr_team_inbox_query){
		.project_key = box->project.slug,
		.agent_name = box->agent.name,
		.limit = asked < 1 ? -1 : asked,
		.include_bodies = mr_uri_flag(&r->uri, "include_bodies"),
		.since_ts = mr_uri_text(&r->uri, "since_ts"),
		.urgent_only = mr_uri_flag(&r->uri, "urgent_only"),
	};
	return MR_OK;
}

static enum mr_code find_commits(struct mr_mcp_reading *r, struct box *box, bool flush,
	bool with_changes)
{
	struct mr_arena *arena = r->ex->call.cx.arena;
	size_t len = box->items.len;
	const struct mr_team_message **messages = mr_arena_array(arena, len, sizeof(*messages));

	for (size_t i = 0; i < len; i++)
		messages[i] = &box->items.items[i].message;
	box->commits = mr_arena_array(arena, len, sizeof(*box->commits));
	if (with_changes)
		box->changes = mr_arena_array(arena, len, sizeof(*box->changes));
	return mr_team_archive_commits_at(&r->ex->call.cx, r->team, messages, len, flush,
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
static void put_box(struct mr_mcp_reading *r, struct box *box, int64_t ttl_s, struct mr_out *out)
{
	struct mr_team_showing showing = showing_of(r);
	int64_t now = mr_clock_wall_us(r->ex->call.cx.clock);

	mr_team_show_bodies(&r->ex->call, &showing, &box->items);
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

static enum mr_code read_inbox(struct mr_mcp_reading *r, bool flush, bool with_changes,
	struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(r, LIMIT, &box);

	if (!rc)
		rc = mr_team_inbox_fetch(&r->ex->call.cx, r->team, &box.query, &box.items);
	if (!rc)
		rc = find_commits(r, &box, flush, with_changes);
	if (!rc)
		put_box(r, &box, -1, out);
	return rc;
}

enum mr_code mr_mcp_read_inbox(struct mr_mcp_reading *r, struct mr_out *out)
{
	return read_inbox(r, false, false, out);
}

enum mr_code mr_mcp_read_mailbox(struct mr_mcp_reading *r, struct mr_out *out)
{
	return read_inbox(r, true, false, out);
}

enum mr_code mr_mcp_read_mailbox_with_commits(struct mr_mcp_reading *r, struct mr_out *out)
{
	return read_inbox(r, true, true, out);
}

enum mr_code mr_mcp_read_outbox(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(r, LIMIT, &box);

	if (!rc)
		rc = mr_team_outbox_fetch(&r->ex->call.cx, r->team, &box.query, &box.items);
	if (!rc)
		rc = find_commits(r, &box, false, false);
	if (!rc)
		put_box(r, &box, -1, out);
	return rc;
}

enum mr_code mr_mcp_read_urgent_unread(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(r, LIMIT, &box);

	box.query.urgent_only = box.query.unread_only = true;
	if (!rc)
		rc = mr_team_inbox_fetch(&r->ex->call.cx, r->team, &box.query, &box.items);
	if (!rc)
		put_box(r, &box, -1, out);
	return rc;
}

enum mr_code mr_mcp_read_ack_required(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(r, LIMIT, &box);

	box.query.unacked_only = true;
	if (!rc)
		rc = mr_team_inbox_fetch(&r->ex->call.cx, r->team, &box.query, &box.items);
	if (!rc)
		put_box(r, &box, -1, out);
	return rc;
}

static enum mr_code read_late(struct mr_mcp_reading *r, int64_t ttl_s, int64_t limit,
	struct mr_out *out)
{
	struct box box = { 0 };
	enum mr_code rc = find_box(r, limit, &box);

	if (!rc)
		rc = mr_team_inbox_overdue(&r->ex->call.cx, r->team, &box.query, ttl_s, &box.items);
	if (!rc)
		put_box(r, &box, ttl_s, out);
	return rc;
}

/* So long that nothing is older, and nothing overflows. */
static int64_t bounded(int64_t value, int64_t least)
{
	return value < least ? least : value > INT32_MAX ? INT32_MAX : value;
}

enum mr_code mr_mcp_read_acks_stale(struct mr_mcp_reading *r, struct mr_out *out)
{
	int64_t ttl_s = mr_settings_int(r->ex->call.app->settings, "ack.ttl_seconds");

	return read_late(r, bounded(mr_uri_int(&r->uri, "ttl_seconds", ttl_s), 0), LIMIT, out);
}

enum mr_code mr_mcp_read_ack_overdue(struct mr_mcp_reading *r, struct mr_out *out)
{
	int64_t minutes = bounded(mr_uri_int(&r->uri, "ttl_minutes", 60), 1);

	return read_late(r, minutes * 60, OVERDUE_LIMIT, out);
}
