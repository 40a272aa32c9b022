/* team/topic.c - finds the topics that a change of the database affects. */
#include "team/topic.h"

#include "base/str.h"
#include "team/message_sql.h"
#include "team/store/changes.h"
#include "team/store/wait.h"
#include "team/store/watch.h"

enum { PAGE = 256 };

static bool is_mail(const struct mr_team_topic *topic)
{
	return topic->kind == MR_TEAM_TOPIC_INBOX || topic->kind == MR_TEAM_TOPIC_THREAD;
}

/* Is this a topic whose changes show in a change number (team/store/changes.h)? */
static bool has_number(const struct mr_team_topic *topic)
{
	return topic->kind == MR_TEAM_TOPIC_LEASES || topic->kind == MR_TEAM_TOPIC_MEMBERS;
}

static enum mr_code read_number(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_topic *topic, int64_t *out)
{
	return topic->kind == MR_TEAM_TOPIC_MEMBERS
		? mr_team_changes_members(cx, db, out)
		: mr_team_changes_leases(cx, db, topic->id, out);
}

enum mr_code mr_team_topic_begin(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_topic *topic)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc && is_mail(topic))
		rc = mr_team_message_last(cx, reader.db, &topic->mark);
	else if (!rc && has_number(topic))
		rc = read_number(cx, reader.db, topic, &topic->mark);
	return rc;
}

/* Is this message part of the topic, and newer than its mark? */
static bool concerns(const struct mr_team_topic *topic, const struct mr_team_new *message)
{
	bool by_thread = topic->kind == MR_TEAM_TOPIC_THREAD;

	if (message->id <= topic->mark)
		return false;
	if (by_thread && !mr_str_eq(topic->thread_id, message->thread_id))
		return false;
	if (by_thread && message->project_id == topic->id)
		return true;
	for (size_t i = 0; i < message->reached_count; i++) {
		const struct mr_team_reached *one = &message->reached[i];

		if (by_thread ? one->project_id == topic->id && !one->is_blind
			      : one->agent_id == topic->id)
			return true;
	}
	return false;
}

struct waiting {
	struct mr_team_topic *topics;
	size_t count;
};

static void note_mail(struct waiting *w, const struct mr_team_changes *changes)
{
	int64_t last = changes->items[changes->len - 1].id;

	for (size_t i = 0; i < w->count; i++) {
		struct mr_team_topic *topic = &w->topics[i];

		if (!is_mail(topic))
			continue;
		for (size_t k = 0; k < changes->len && !topic->is_changed; k++)
			topic->is_changed = concerns(topic, &changes->items[k]);
		if (topic->mark < last)
			topic->mark = last;
	}
}

/* Page by page from the oldest mark on. */
static enum mr_code look_at_mail(struct mr_ctx *cx, struct mr_db *db, struct waiting *w)
{
	struct mr_team_changes changes = { .len = PAGE };
	int64_t after = INT64_MAX;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < w->count; i++) {
		if (is_mail(&w->topics[i]) && w->topics[i].mark < after)
			after = w->topics[i].mark;
	}
	while (!rc && after != INT64_MAX && changes.len == PAGE) {
		rc = mr_team_changes_after(cx, db, after, PAGE, &changes);
		if (rc || !changes.len)
			return rc;
		note_mail(w, &changes);
		after = changes.items[changes.len - 1].id;
	}
	return rc;
}

/* One query for each topic, however often it is listed. */
static enum mr_code look_at_numbers(struct mr_ctx *cx, struct mr_db *db, struct waiting *w)
{
	bool *is_done = mr_arena_array(cx->arena, w->count, sizeof(*is_done));

	for (size_t i = 0; i < w->count; i++) {
		const struct mr_team_topic asked = w->topics[i];
		int64_t mark;
		enum mr_code rc;

		if (!has_number(&asked) || is_done[i])
			continue;
		rc = read_number(cx, db, &asked, &mark);
		if (rc)
			return rc;
		for (size_t k = i; k < w->count; k++) {
			struct mr_team_topic *same = &w->topics[k];

			if (same->kind != asked.kind || same->id != asked.id)
				continue;
			same->is_changed = same->mark != mark;
			same->mark = mark;
			is_done[k] = true;
		}
	}
	return MR_OK;
}

static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct waiting *w = arg;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = look_at_mail(cx, reader.db, w);
	if (!rc)
		rc = look_at_numbers(cx, reader.db, w);
	for (size_t i = 0; i < w->count; i++)
		*found |= w->topics[i].is_changed;
	return rc;
}

enum mr_code mr_team_topics_wait(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_topic *topics, size_t count, const char *failed_event, bool *found)
{
	struct waiting w = { topics, count };
	struct mr_team_wait wait = {
		.look = look,
		.arg = &w,
		.timeout_ms = -1,
		.failed_event = failed_event,
		.over_rings = true,
	};

	for (size_t i = 0; i < count; i++)
		topics[i].is_changed = false;
	return mr_team_wait(cx, team, &wait, found);
}

void mr_team_topics_wake(struct mr_team *team)
{
	mr_team_watch_ring(team);
}
