/*
 * team/escalate.c - Finds overdue acknowledgements and escalates each by a lease on the inbox or a
 * message from the overseer, as configured.
 */
#include "team/escalate.h"

#include "base/utf8.h"
#include "team/escalate_sql.h"
#include "team/layout.h"
#include "team/lease/lease_index.h"
#include "team/lease/reservation_private.h"
#include "team/limits.h"
#include "team/overseer.h"
#include "team/post.h"
#include "text/time.h"

#include <string.h>

enum { SUBJECT_BYTES = 400 };

struct escalating {
	struct mr_team *team;
	struct mr_team_overdues out;
	int64_t *notices; /* ids, one for each of `out` at most */
	size_t notice_count;
};

static enum mr_code find_holder(struct mr_ctx *cx, struct mr_db *db, const char *name,
	const struct mr_team_due *due, struct mr_team_agent *out)
{
	struct mr_team_agent wanted = {
		.project_id = due->agent_project_id,
		.name = name,
		.program = "ops",
		.model = "system",
		.task_description = "ops-escalation",
	};

	if (mr_str_is_empty(name))
		return mr_team_agent_get(cx, db, due->agent_id, out);
	return mr_team_system_agent(cx, db, &wanted, out);
}

/* Take a lease on the inbox, unless the one of an earlier scan is still active. */
static enum mr_code take_lease(struct mr_ctx *cx, struct mr_db *db, struct mr_team *team,
	const struct mr_team_due *due, int64_t *reservation_id)
{
	const struct mr_team_config *config = mr_team_config(team);
	const struct mr_team_lease_row *old = NULL;
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_team_reservation lease = {
		.project_id = due->agent_project_id,
		.path_pattern =
			mr_team_layout_surface(cx->arena, due->agent, "inbox", due->created_ts),
		.exclusive = config->escalation_exclusive,
		.reason = "ack-overdue",
		.origin = "escalation",
		.created_ts = now,
		.expires_ts = now + config->escalation_ttl_s * MR_TIME_S,
	};
	struct mr_team_agent holder;
	struct mr_glob *glob;
	enum mr_code rc = MR_OK;

	if (due->reservation_id)
		rc = mr_team_lease_get(cx, db, due->reservation_id, &old);
	if (rc || (old && !old->lease.released_ts && old->lease.expires_ts > now))
		return rc;
	rc = find_holder(cx, db, config->escalation_holder, due, &holder);
	if (!rc)
		rc = mr_team_lease_index_compile(cx, team, NULL, lease.path_pattern, &glob);
	if (rc)
		return rc;
	lease.agent_id = holder.id;
	lease.agent = holder.name;
	rc = mr_team_lease_grant(cx, db, &lease, mr_glob_literal_prefix(glob), NULL);
	if (!rc)
		*reservation_id = lease.id;
	return rc;
}

static const char *notice_body(struct mr_ctx *cx, const struct mr_team_due *due)
{
	int64_t now = mr_clock_wall_us(cx->clock);

	return mr_arena_printf(cx->arena,
		"%s asked you to acknowledge message %lld, \"%s\", %s, and is still waiting.\n\n"
		"Read it and call `acknowledge_message` with `message_id` %lld; if you cannot do "
		"what it asks, reply and say so.\n",
		due->sender, (long long)due->message_id, due->subject,
		mr_time_ago(cx->arena, due->created_ts, now), (long long)due->message_id);
}

static enum mr_code send_notice(struct mr_ctx *cx, struct mr_db *db, const struct mr_team_due *due,
	int64_t *out_id)
{
	size_t shown = mr_utf8_truncate(due->subject, strlen(due->subject), SUBJECT_BYTES);
	struct mr_team_agent from;
	struct mr_team_agent to;
	struct mr_team_notice notice = {
		.from = &from,
		.to = &to,
		.subject =
			mr_arena_printf(cx->arena, "[OVERDUE ACK] %.*s", (int)shown, due->subject),
		.body_md = notice_body(cx, due),
		.thread_id = due->thread_id
			? due->thread_id
			: mr_arena_printf(cx->arena, "%lld", (long long)due->message_id),
		.importance = MR_TEAM_HIGH,
	};
	enum mr_code rc = mr_team_overseer(cx, db, due->agent_project_id, &from);

	if (!rc)
		rc = mr_team_agent_get(cx, db, due->agent_id, &to);
	return rc ? rc : mr_team_notice_send(cx, db, &notice, out_id);
}

/* 1, 2, 3 at 1, 2, 4 times the TTL. */
static int64_t times_at(int64_t age_us, int64_t ttl_us)
{
	int64_t times = 1;

	while (times < 3 && age_us >= ttl_us * ((int64_t)1 << times))
		times++;
	return times;
}

static enum mr_code escalate_one(struct mr_ctx *cx, struct mr_db *db, struct escalating *job,
	const struct mr_team_due *due, struct mr_team_overdue *out)
{
	const struct mr_team_config *config = mr_team_config(job->team);
	int64_t age_us = mr_clock_wall_us(cx->clock) - due->created_ts;
	int64_t reservation_id = due->reservation_id;
	enum mr_code rc = MR_OK;

	*out = (struct mr_team_overdue){
		.message_id = due->message_id,
		.project_id = due->message_project_id,
		.agent_id = due->agent_id,
		.agent = due->agent,
		.subject = due->subject,
		.age_s = age_us / MR_TIME_S,
		.times = times_at(age_us, config->ack_ttl_s * MR_TIME_S),
	};
	if (config->escalate && config->escalation == MR_TEAM_ESCALATE_LEASE)
		rc = take_lease(cx, db, job->team, due, &reservation_id);
	if (config->escalate && config->escalation == MR_TEAM_ESCALATE_OVERSEER)
		rc = send_notice(cx, db, due, &job->notices[job->notice_count++]);
	return rc ? rc : mr_team_escalate_put(cx, db, due, out->times, reservation_id);
}

static enum mr_code escalate(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct escalating *job = arg;
	const struct mr_team_config *config = mr_team_config(job->team);
	struct mr_team_dues dues = { NULL, 0 };
	enum mr_code rc = mr_team_escalate_due(cx, db, mr_clock_wall_us(cx->clock),
		config->ack_ttl_s * MR_TIME_S, MR_TEAM_OVERDUE_BATCH, &dues);

	job->out.items = mr_arena_array(cx->arena, dues.len, sizeof(*job->out.items));
	job->out.len = 0;
	job->notices = mr_arena_array(cx->arena, dues.len, sizeof(*job->notices));
	job->notice_count = 0;
	for (size_t i = 0; i < dues.len && !rc; i++)
		rc = escalate_one(cx, db, job, &dues.items[i], &job->out.items[job->out.len++]);
	return rc;
}

static enum mr_code index_notices(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct escalating *job = arg;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < job->notice_count && !rc; i++)
		rc = mr_team_notice_index(cx, db, job->notices[i]);
	return rc;
}

/* Is anything due? Checked by a reader, so that an empty scan does not block writers. */
static enum mr_code is_due(struct mr_ctx *cx, struct mr_team *team, bool *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_dues dues = { NULL, 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_escalate_due(cx, reader.db, mr_clock_wall_us(cx->clock),
			mr_team_config(team)->ack_ttl_s * MR_TIME_S, 1, &dues);
	*out = dues.len > 0;
	return rc;
}

enum mr_code mr_team_escalate(struct mr_ctx *cx, struct mr_team *team, struct mr_team_overdues *out)
{
	struct escalating job = { .team = team };
	bool due = false;
	enum mr_code rc = is_due(cx, team, &due);

	if (!rc && due)
		rc = mr_team_write(cx, team, escalate, index_notices, &job);
	if (!rc)
		*out = job.out;
	return rc;
}

enum mr_code mr_team_escalate_end(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id)
{
	const struct mr_team_lease_row *row = NULL;
	int64_t reservation_id = 0;
	int64_t released = 0;
	enum mr_code rc = mr_team_escalate_take(cx, db, message_id, agent_id, &reservation_id);

	if (!rc && reservation_id)
		rc = mr_team_lease_get(cx, db, reservation_id, &row);
	if (rc || !row)
		return rc;
	return mr_team_lease_end(cx, db, &row->lease, "release", NULL, "acknowledge_message",
		mr_clock_wall_us(cx->clock), &released);
}
