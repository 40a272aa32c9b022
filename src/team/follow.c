/* team/follow.c - compares moments of a project, to tell what has happened between them. */
#include "team/follow.h"

#include "team/limits.h"
#include "team/message_sql.h"
#include "team/project.h"
#include "team/store/wait.h"

static enum mr_code read_moment(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_moment *out)
{
	enum mr_code rc;

	*out = (struct mr_team_moment){ 0 };
	rc = mr_team_message_last(cx, db, &out->last_message);
	if (!rc)
		rc = mr_team_lease_list(cx, db, project_id, mr_clock_wall_us(cx->clock), true, 0,
			MR_TEAM_LIST_MAX, &out->leases);
	return rc ? rc : mr_team_changes_dues(cx, db, project_id, MR_TEAM_LIST_MAX, &out->dues);
}

enum mr_code mr_team_follow_begin(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	struct mr_team_project *project, struct mr_team_moment *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, project);
	return rc ? rc : read_moment(cx, reader.db, project->id, out);
}

struct waiting {
	const struct mr_team_project *project;
	const struct mr_team_rights *rights;
	const struct mr_team_moment *before;
	struct mr_team_moment now;
	struct mr_team_items mail;
};

static bool concerns(const struct mr_team_new *message, int64_t project_id)
{
	if (message->project_id == project_id)
		return true;
	for (size_t i = 0; i < message->reached_count; i++) {
		if (message->reached[i].project_id == project_id && !message->reached[i].is_blind)
			return true;
	}
	return false;
}

/* Up to the newest message that the page has; the next look goes on from there. */
static enum mr_code read_mail(struct mr_ctx *cx, struct mr_db *db, struct waiting *w)
{
	struct mr_team_changes changes = { 0 };
	enum mr_code rc =
		mr_team_changes_after(cx, db, w->before->last_message, MR_TEAM_LIST_MAX, &changes);

	w->mail = (struct mr_team_items){ 0 };
	w->mail.items = mr_arena_array(cx->arena, changes.len + 1, sizeof(*w->mail.items));
	for (size_t i = 0; i < changes.len && !rc; i++) {
		w->now.last_message = changes.items[i].id;
		if (!concerns(&changes.items[i], w->project->id))
			continue;
		rc = mr_team_message_get(cx, db, w->rights, w->project, changes.items[i].id, NULL,
			&w->mail.items[w->mail.len]);
		w->mail.len += !rc;
		/* It may have been purged meanwhile, or not be for this caller. */
		if (rc == MR_ENOTFOUND)
			rc = MR_OK;
	}
	return rc;
}

static bool is_changed(const struct waiting *w)
{
	const struct mr_team_moment *a = w->before, *b = &w->now;

	if (w->mail.len || a->leases.len != b->leases.len || a->dues.len != b->dues.len)
		return true;
	for (size_t i = 0; i < a->leases.len; i++) {
		if (a->leases.items[i].lease.id != b->leases.items[i].lease.id)
			return true;
	}
	for (size_t i = 0; i < a->dues.len; i++) {
		if (a->dues.items[i].message_id != b->dues.items[i].message_id ||
			!mr_str_eq(a->dues.items[i].agent, b->dues.items[i].agent))
			return true;
	}
	return false;
}

static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct waiting *w = arg;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = read_moment(cx, reader.db, w->project->id, &w->now);
	w->now.last_message = w->before->last_message;
	if (!rc)
		rc = read_mail(cx, reader.db, w);
	*found = !rc && is_changed(w);
	return rc;
}

enum mr_code mr_team_follow_wait(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, const struct mr_team_rights *rights,
	const struct mr_team_moment *before, int64_t timeout_ms, bool *found,
	struct mr_team_moment *out, struct mr_team_items *mail)
{
	struct waiting w = { .project = project, .rights = rights, .before = before };
	struct mr_team_wait wait = { .look = look, .arg = &w, .timeout_ms = timeout_ms };
	enum mr_code rc = mr_team_wait(cx, team, &wait, found);

	*out = w.now;
	*mail = w.mail;
	return rc;
}
