/*
 * team/inbox.c - Lists the messages an agent received or sent, and marks them as read or
 * acknowledged.
 */
#include "team/inbox.h"

#include "team/agent.h"
#include "team/attachment.h"
#include "team/error.h"
#include "team/escalate.h"
#include "team/inbox_sql.h"
#include "team/limits.h"
#include "team/message_sql.h"
#include "team/post.h"
#include "team/store/root_private.h"
#include "text/time.h"

#include <string.h>

static int64_t clamp(int64_t limit)
{
	if (limit == 0)
		return MR_TEAM_LIST_DEFAULT;
	return limit < 1 ? 1 : limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX : limit;
}

/* Choose the narrowest index; the other conditions are checked row by row. */
static void choose_box(const struct mr_team_inbox_query *query, struct mr_team_box_query *box)
{
	if (box->thread_id)
		box->box = MR_TEAM_BOX_THREAD;
	else if (query->unacked_only)
		box->box = MR_TEAM_BOX_DUE;
	else if (query->urgent_only && query->unread_only)
		box->box = MR_TEAM_BOX_URGENT_UNREAD;
	else if (query->urgent_only)
		box->box = MR_TEAM_BOX_URGENT;
	else if (query->unread_only)
		box->box = MR_TEAM_BOX_UNREAD;
	else
		box->box = MR_TEAM_BOX_ALL;
}

static enum mr_code prepare(struct mr_ctx *cx, const struct mr_team_inbox_query *query,
	struct mr_team_box_query *out)
{
	*out = (struct mr_team_box_query){
		.before = query->cursor,
		.thread_id = mr_str_is_empty(query->thread_id) ? NULL : query->thread_id,
		.urgent_only = query->urgent_only,
		.unread_only = query->unread_only,
		.unacked_only = query->unacked_only,
		.with_bodies = query->include_bodies,
		.limit = clamp(query->limit),
	};
	if (query->cursor < 0)
		return mr_team_refuse(cx, "cursor", "cursor is a message's id");
	if (!query->since_ts)
		return MR_OK;
	if (mr_time_parse(query->since_ts, MR_TIME_LENIENT, &out->since_ts, &cx->err)) {
		const char *why = mr_arena_strdup(cx->arena, cx->err.msg);

		return mr_team_refuse(cx, "since_ts", "since_ts: %s", why);
	}
	/* 0 would mean no limit. */
	if (out->since_ts == 0)
		out->since_ts = -1;
	return MR_OK;
}

/* A reader who takes no attachments sees their metadata only. */
static enum mr_code strip(struct mr_ctx *cx, const struct mr_team_agent *reader,
	struct mr_team_item *item)
{
	if (!reader || reader->attachments_policy != MR_TEAM_ATTACH_DENY || !item->received ||
		mr_str_eq(item->message.attachments, "[]"))
		return MR_OK;
	item->without_data = true;
	item->heads = NULL; /* others see it with its attachments */
	item->form = (struct mr_bytes){ 0 };
	return mr_team_attachments_bare(cx, item->message.attachments, &item->message.attachments);
}

enum mr_code mr_team_item_names(struct mr_ctx *cx, struct mr_db *db, bool with_bcc,
	struct mr_team_item *item)
{
	struct mr_team_recipients rows;
	int64_t here = item->message.project_id;
	enum mr_code rc = mr_team_message_recipients(cx, db, item->message.id, &rows);

	if (rc)
		return rc;
	item->to = mr_team_post_names(cx->arena, here, &rows, MR_TEAM_TO);
	item->cc = mr_team_post_names(cx->arena, here, &rows, MR_TEAM_CC);
	item->with_names = true;
	item->with_bcc = with_bcc;
	if (with_bcc)
		item->bcc = mr_team_post_names(cx->arena, here, &rows, MR_TEAM_BCC);
	item->recipients.items = mr_arena_array(cx->arena, rows.len, sizeof(*rows.items));
	for (size_t i = 0; i < rows.len; i++) {
		if (rows.items[i].kind != MR_TEAM_BCC || with_bcc)
			item->recipients.items[item->recipients.len++] = rows.items[i];
	}
	return MR_OK;
}

static enum mr_code fetch(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_inbox_query *query, struct mr_team_box_query *box, bool names,
	struct mr_team_items *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_items found;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	/* One transaction, so that all queries see the same state. */
	if (!rc)
		rc = mr_db_begin(reader.db, MR_DB_DEFERRED, &cx->err);
	if (!rc)
		rc = mr_team_agent_resolve(cx, team, reader.db, query->project_key,
			query->agent_name, &project, &agent);
	if (rc)
		return rc;
	box->agent_id = agent.id;
	box->heads = team->hooks.heads;
	rc = mr_team_box_list(cx, reader.db, box, &found);
	for (size_t i = 0; !rc && i < found.len; i++) {
		found.items[i].is_near = found.items[i].message.project_id == agent.project_id;
		rc = strip(cx, &agent, &found.items[i]);
		if (!rc && names)
			rc = mr_team_item_names(cx, reader.db, true, &found.items[i]);
	}
	if (!rc)
		*out = found;
	return rc;
}

enum mr_code mr_team_inbox_fetch(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_inbox_query *query, struct mr_team_items *out)
{
	struct mr_team_box_query box;
	enum mr_code rc = prepare(cx, query, &box);

	if (rc)
		return rc;
	choose_box(query, &box);
	return fetch(cx, team, query, &box, false, out);
}

enum mr_code mr_team_inbox_after(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *agent, int64_t after, bool include_bodies, int64_t limit,
	struct mr_team_items *out)
{
	struct mr_team_box_query box = {
		.box = MR_TEAM_BOX_NEWER,
		.agent_id = agent->id,
		.before = after,
		.with_bodies = include_bodies,
		.limit = clamp(limit),
	};
	struct mr_team_items found;
	enum mr_code rc = mr_team_box_list(cx, db, &box, &found);

	for (size_t i = 0; !rc && i < found.len; i++)
		rc = strip(cx, agent, &found.items[i]);
	if (!rc)
		*out = found;
	return rc;
}

enum mr_code mr_team_outbox_fetch(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_inbox_query *query, struct mr_team_items *out)
{
	struct mr_team_box_query box;
	enum mr_code rc = prepare(cx, query, &box);

	if (rc)
		return rc;
	box.box = box.thread_id ? MR_TEAM_BOX_SENT_THREAD : MR_TEAM_BOX_SENT;
	box.unread_only = box.unacked_only = false; /* nobody reads what he wrote */
	return fetch(cx, team, query, &box, true, out);
}

enum mr_code mr_team_inbox_overdue(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_inbox_query *query, int64_t min_age_s, struct mr_team_items *out)
{
	struct mr_team_box_query box;
	enum mr_code rc = prepare(cx, query, &box);

	if (rc)
		return rc;
	box.box = MR_TEAM_BOX_DUE_OLDEST;
	box.before_ts = mr_clock_wall_us(cx->clock) - min_age_s * MR_TIME_S;
	return fetch(cx, team, query, &box, false, out);
}

/* A change that marks a message as read or acknowledged. */

struct marking {
	int64_t message_id, agent_id;
	bool acknowledge;
	struct mr_team_receipt receipt;
};

static enum mr_code run_mark(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct marking *m = arg;
	bool exists = false;
	enum mr_code rc = mr_team_message_exists(cx, db, m->message_id, &exists);

	if (!rc && !exists) {
		mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no message %lld",
			(long long)m->message_id);
		return mr_team_fail_int(cx, "message_id", m->message_id);
	}
	if (!rc)
		rc = mr_team_box_mark(cx, db, m->message_id, m->agent_id, m->acknowledge,
			mr_clock_wall_us(cx->clock), &m->receipt);
	if (!rc && m->acknowledge && m->receipt.is_recipient)
		rc = mr_team_escalate_end(cx, db, m->message_id, m->agent_id);
	return rc;
}

static enum mr_code mark(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, struct marking *m)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	struct mr_team_agent agent;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_agent_resolve(cx, team, reader.db, project_key, agent_name, &project,
			&agent);
	if (rc)
		return rc;
	m->agent_id = agent.id;
	mr_team_read_done(&reader);
	return mr_team_write(cx, team, run_mark, NULL, m);
}

enum mr_code mr_team_mark_read(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, int64_t message_id, struct mr_team_receipt *out)
{
	struct marking m = { .message_id = message_id };
	enum mr_code rc = mark(cx, team, project_key, agent_name, &m);

	if (!rc)
		*out = m.receipt;
	return rc;
}

enum mr_code mr_team_acknowledge(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, int64_t message_id, struct mr_team_receipt *out)
{
	struct marking m = { .message_id = message_id, .acknowledge = true };
	enum mr_code rc = mark(cx, team, project_key, agent_name, &m);

	if (!rc)
		*out = m.receipt;
	return rc;
}

enum mr_code mr_team_message_get(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, const struct mr_team_project *project,
	int64_t message_id, const struct mr_team_agent *viewer, struct mr_team_item *out)
{
	struct mr_team_item item;
	bool found = false;
	bool own = false;
	enum mr_code rc =
		mr_team_box_one(cx, db, message_id, viewer ? viewer->id : 0, &found, &item);

	if (!rc && found) {
		own = viewer && item.message.sender_id == viewer->id;
		found = !project || item.message.project_id == project->id || own || item.received;
		if (!found)
			rc = mr_team_box_concerns(cx, db, message_id, project->id, &found);
	}
	if (!rc && found && mr_team_readers(rights))
		rc = mr_team_message_is_seen(cx, db, rights, message_id, &found);
	if (rc)
		return rc;
	if (!found) {
		mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no message %lld in project %s",
			(long long)message_id, project ? project->slug : "(any)");
		return mr_team_fail_int(cx, "message_id", message_id);
	}
	rc = mr_team_item_names(cx, db, own, &item);
	if (!rc)
		rc = strip(cx, viewer, &item);
	if (!rc)
		*out = item;
	return rc;
}
