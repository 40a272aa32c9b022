/* team/lease/reservation_force.c - releases another agent's stale lease. */
#include "base/utf8.h"
#include "team/error.h"
#include "team/lease/reservation_private.h"
#include "team/limits.h"
#include "team/name.h"
#include "team/overseer.h"
#include "team/post.h"
#include "team/session.h"
#include "text/time.h"

#include <string.h>

enum { SUBJECT_PATTERN_BYTES = 400, NOTICE_BYTES = 16 << 10, NOTE_BYTES = 4096 };

struct forcing {
	struct mr_team *team;
	const struct mr_team_force *asked;
	struct mr_team_project project;
	struct mr_team_agent actor;
	const struct mr_team_lease_row *seen;
	struct mr_team_staleness staleness;
	struct mr_team_forced out;
	int64_t notice_id; /* or 0 */
};

static enum mr_code refuse_unknown(struct mr_ctx *cx, const struct forcing *job)
{
	mr_team_fail(cx, MR_TEAM_NOT_FOUND,
		"project %s has no lease with the id %lld; see `mailroom team reservations %s`",
		job->project.human_key, (long long)job->asked->reservation_id, job->project.slug);
	return mr_team_fail_int(cx, "file_reservation_id", job->asked->reservation_id);
}

static enum mr_code refuse_active(struct mr_ctx *cx, const struct mr_team_reservation *lease,
	const struct mr_texts *reasons)
{
	mr_team_fail(cx, MR_TEAM_RESERVATION_ACTIVE,
		"lease %lld of %s on %s is still in use (%s): ask %s to release it, wait until %s, "
		"or let an administrator override",
		(long long)lease->id, lease->agent, lease->path_pattern,
		mr_str_join(cx->arena, reasons, ", "), lease->agent,
		mr_time_format(cx->arena, lease->expires_ts, MR_TIME_SECONDS));
	mr_team_fail_int(cx, "file_reservation_id", lease->id);
	mr_team_fail_texts(cx, "stale_reasons", reasons);
	return mr_team_fail_text(cx, "holder", lease->agent);
}

/* Nobody works under the lease of an agent whose session has ended: it is its successor's. */
static enum mr_code look_at_session(struct mr_ctx *cx, struct mr_db *db, struct forcing *job)
{
	struct mr_texts *reasons = &job->staleness.reasons;
	struct mr_texts more = { mr_arena_array(cx->arena, reasons->len + 2, sizeof(*more.items)),
		0 };
	bool ended = false;
	enum mr_code rc = mr_team_session_has_ended(cx, db, job->seen->lease.agent_id, &ended);

	if (rc || !ended || !mr_str_eq(job->seen->lease.origin, "agent"))
		return rc;
	more.items[more.len++] = "session_ended";
	for (size_t i = 0; i < reasons->len; i++)
		more.items[more.len++] = reasons->items[i];
	*reasons = more;
	job->staleness.stale = true;
	return MR_OK;
}

/* The overseer is there from its first act on. */
static bool is_overseer(const struct forcing *job)
{
	return mr_str_eq_nocase(job->asked->agent_name, MR_TEAM_OVERSEER_NAME);
}

static enum mr_code find_actor(struct mr_ctx *cx, struct mr_db *db, struct forcing *job)
{
	return is_overseer(job)
		? mr_team_project_find(cx, db, job->asked->project_key, &job->project)
		: mr_team_agent_resolve(cx, job->team, db, job->asked->project_key,
			  job->asked->agent_name, &job->project, &job->actor);
}

/* Before the change: find the lease and its holder, and judge whether it is stale. */
static enum mr_code look(struct mr_ctx *cx, struct forcing *job)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_effort effort = mr_team_effort_default();
	enum mr_code rc = mr_team_read(cx, job->team, &reader);

	if (!rc && job->asked->note && strlen(job->asked->note) > NOTE_BYTES)
		return mr_team_refuse(cx, "note", "note is longer than %d bytes", NOTE_BYTES);
	if (!rc)
		rc = find_actor(cx, reader.db, job);
	if (!rc)
		rc = mr_team_lease_get(cx, reader.db, job->asked->reservation_id, &job->seen);
	if (rc)
		return rc;
	if (!job->seen || job->seen->lease.project_id != job->project.id)
		return refuse_unknown(cx, job);
	rc = mr_team_staleness(cx, job->team, reader.db, &job->project, &job->seen->lease, &effort,
		&job->staleness);
	return rc ? rc : look_at_session(cx, reader.db, job);
}

static void put_ago(struct mr_ctx *cx, struct mr_buf *text, const char *what, int64_t when)
{
	int64_t now = mr_clock_wall_us(cx->clock);

	if (when == 0)
		mr_buf_printf(text, "- %s: never\n", what);
	else
		mr_buf_printf(text, "- %s: %lld minutes ago\n", what,
			(long long)((now - when) / MR_TIME_MIN));
}

static const char *notice_body(struct mr_ctx *cx, const struct forcing *job)
{
	const struct mr_team_config *config = mr_team_config(job->team);
	const struct mr_team_reservation *lease = &job->seen->lease;
	const struct mr_team_staleness *s = &job->staleness;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, NOTICE_BYTES);
	mr_buf_printf(&text, "%s released your lease %lld on `%s`%s\n\n", job->actor.name,
		(long long)lease->id, lease->path_pattern,
		job->asked->override ? ", as an administrator's override."
				     : ", because nobody seemed to work under it.");
	for (size_t i = 0; i < s->reasons.len; i++)
		mr_buf_printf(&text, "- %s\n", s->reasons.items[i]);
	mr_buf_puts(&text, "\nLast activity:\n\n");
	put_ago(cx, &text, "agent", s->last_agent_ts);
	put_ago(cx, &text, "mail", s->last_mail_ts);
	put_ago(cx, &text, "files", s->last_file_ts);
	put_ago(cx, &text, "git", s->last_git_ts);
	mr_buf_printf(&text,
		"\nAn agent is inactive after %lld seconds; activity within %lld seconds keeps a "
		"lease.\n",
		(long long)config->inactivity_s, (long long)config->activity_grace_s);
	if (!mr_str_is_empty(job->asked->note))
		mr_buf_printf(&text, "\nNote: %s\n", job->asked->note);
	mr_buf_printf(&text,
		"\nTo take it again, call `file_reservation_paths` with `%s`, and look at the "
		"conflicts first.\n",
		lease->path_pattern);
	return mr_arena_strdup(cx->arena, mr_buf_text(&text));
}

static enum mr_code tell(struct mr_ctx *cx, struct mr_db *db, struct forcing *job,
	const struct mr_team_agent *holder)
{
	const char *pattern = job->seen->lease.path_pattern;
	size_t shown = mr_utf8_truncate(pattern, strlen(pattern), SUBJECT_PATTERN_BYTES);
	struct mr_team_notice notice = {
		.from = &job->actor,
		.to = holder,
		.subject = mr_arena_printf(cx->arena, "[file-reservations] Released %slock on %.*s",
			job->staleness.stale ? "stale " : "", (int)shown, pattern),
		.body_md = notice_body(cx, job),
		.importance = MR_TEAM_NORMAL,
		.tool = "force_release_file_reservation",
	};

	return mr_team_notice_send(cx, db, &notice, &job->notice_id);
}

static bool may_take(const struct forcing *job, const struct mr_team_lease_row *row)
{
	if (job->asked->override || row->lease.agent_id == job->actor.id)
		return true;
	/* A holder that was active, or renewed it, since it was examined, keeps it. */
	return job->staleness.stale && row->holder_active_ts == job->seen->holder_active_ts &&
		row->lease.expires_ts == job->seen->lease.expires_ts;
}

static enum mr_code force(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct forcing *job = arg;
	const struct mr_team_lease_row *row;
	struct mr_team_agent holder;
	int64_t released = 0;
	enum mr_code rc = mr_team_lease_get(cx, db, job->asked->reservation_id, &row);

	job->notice_id = 0;
	job->out = (struct mr_team_forced){ .staleness = job->staleness };
	if (!rc && !row)
		rc = refuse_unknown(cx, job);
	if (!rc && is_overseer(job))
		rc = mr_team_overseer(cx, db, job->project.id, &job->actor);
	if (!rc)
		rc = mr_team_agent_get(cx, db, row->lease.agent_id, &holder);
	if (rc)
		return rc;
	job->out.reservation = row->lease;
	job->out.already_released = row->lease.released_ts != 0;
	if (job->out.already_released)
		return MR_OK;
	job->out.reservation.released_ts = mr_clock_wall_us(cx->clock);
	if (row->lease.expires_ts <= job->out.reservation.released_ts) {
		job->out.already_released = true;
		return mr_team_lease_end(cx, db, &row->lease, "expire", NULL, NULL,
			job->out.reservation.released_ts, &released);
	}
	if (!may_take(job, row))
		return refuse_active(cx, &row->lease, &job->staleness.reasons);
	rc = mr_team_lease_end(cx, db, &row->lease, "force-release",
		row->lease.agent_id == job->actor.id ? NULL : job->actor.name,
		"force_release_file_reservation", job->out.reservation.released_ts, &released);
	job->out.notified =
		job->asked->notify_previous && holder.id != job->actor.id && holder.is_active;
	return rc || !job->out.notified ? rc : tell(cx, db, job, &holder);
}

static enum mr_code index_notice(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct forcing *job = arg;

	return job->notice_id ? mr_team_notice_index(cx, db, job->notice_id) : MR_OK;
}

enum mr_code mr_team_force_release(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_force *request, struct mr_team_forced *out)
{
	struct forcing job = { .team = team, .asked = request };
	enum mr_code rc = look(cx, &job);

	if (!rc)
		rc = mr_team_write(cx, team, force, index_notice, &job);
	if (!rc)
		*out = job.out;
	return rc;
}
