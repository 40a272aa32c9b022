/* team/lease/slot.c - Build slots: acquiring one, waiting for it, renewing and releasing it. */
#include "team/lease/slot.h"

#include "team/archive/archive_queue.h"
#include "team/error.h"
#include "team/lease/slot_sql.h"
#include "team/limits.h"
#include "team/store/wait.h"
#include "text/time.h"

#include <string.h>

#define SECOND INT64_C(1000000)

static enum mr_code check_ttl(struct mr_ctx *cx, int64_t ttl_s)
{
	if (ttl_s >= 1 && ttl_s <= MR_TEAM_TTL_MAX_S)
		return MR_OK;
	return mr_team_refuse(cx, "ttl_seconds", "ttl_seconds must be from 1 to %d",
		MR_TEAM_TTL_MAX_S);
}

static enum mr_code check_name(struct mr_ctx *cx, const char *name)
{
	if (mr_str_is_empty(name))
		return mr_team_refuse(cx, "slot_name", "slot_name is empty");
	if (strlen(name) > MR_TEAM_SLOT_BYTES)
		return mr_team_refuse(cx, "slot_name", "slot_name is longer than %d bytes",
			MR_TEAM_SLOT_BYTES);
	for (const char *c = name; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return mr_team_refuse(cx, "slot_name",
				"slot_name holds a control character");
	}
	return MR_OK;
}

static enum mr_code queue_slot(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_slot_row *row, const char *what, const char *tool)
{
	return mr_team_archive_queue(cx, db,
		&(struct mr_team_archive_item){
			.project_id = row->project_id,
			.kind = MR_TEAM_ARCHIVE_SLOT,
			.ref = row->slot.id,
			.name = row->slot.slot_name,
			.agent = row->slot.agent,
			.subject = mr_arena_printf(cx->arena, "build_slot: %s%s %s", what,
				row->slot.agent, row->slot.slot_name),
			.tool = tool,
		});
}

struct working {
	struct mr_team *team;
	const char *project_key, *agent_name, *slot_name;
	int64_t id, ttl_s;
	struct mr_team_slot slot;
	int64_t held_until; /* after a conflict */
};

static enum mr_code fail_held(struct mr_ctx *cx, const struct mr_team_slot *held)
{
	const char *until = mr_time_format(cx->arena, held->expires_ts, MR_TIME_MICROS);

	mr_team_fail(cx, MR_TEAM_RESERVATION_CONFLICT, "%s holds the build slot \"%s\" until %s",
		held->agent, held->slot_name,
		mr_time_format(cx->arena, held->expires_ts, MR_TIME_SECONDS));
	mr_team_fail_text(cx, "slot_name", held->slot_name);
	mr_team_fail_int(cx, "slot_id", held->id);
	mr_team_fail_text(cx, "holder", held->agent);
	return mr_team_fail_text(cx, "expires_ts", until);
}

/* An expired slot is released in the same change that takes it. */
static enum mr_code end_expired(struct mr_ctx *cx, struct mr_db *db, struct mr_team_slot_row *row)
{
	enum mr_code rc;

	row->slot.released_ts = row->slot.expires_ts;
	rc = mr_team_slot_update(cx, db, &row->slot);
	return rc ? rc : queue_slot(cx, db, row, "expired ", "acquire_build_slot");
}

static enum mr_code run_acquire(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct working *work = arg;
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_slot_row row;
	bool held = false;
	enum mr_code rc = mr_team_agent_resolve(cx, work->team, db, work->project_key,
		work->agent_name, &project, &agent);

	work->held_until = 0;
	if (!rc)
		rc = mr_team_slot_holder(cx, db, project.id, work->slot_name, &held, &row);
	if (!rc && held && row.slot.expires_ts <= now) {
		rc = end_expired(cx, db, &row);
		held = false;
	}
	if (rc)
		return rc;
	if (held && row.agent_id != agent.id) {
		work->held_until = row.slot.expires_ts;
		return fail_held(cx, &row.slot);
	}
	if (held) {
		row.slot.expires_ts = now + work->ttl_s * SECOND;
		rc = mr_team_slot_update(cx, db, &row.slot);
	} else {
		row = (struct mr_team_slot_row){
			.slot = { .agent = agent.name,
				.slot_name = work->slot_name,
				.created_ts = now,
				.expires_ts = now + work->ttl_s * SECOND },
			.project_id = project.id,
			.agent_id = agent.id,
		};
		rc = mr_team_slot_insert(cx, db, &row);
	}
	if (!rc)
		rc = queue_slot(cx, db, &row, "", "acquire_build_slot");
	work->slot = row.slot;
	return rc;
}

struct turn {
	struct working *work;
	struct mr_team_wait *wait;
	struct mr_err held; /* the error that names the current holder */
};

/* Try to take the slot; while another agent holds it, the next try is due when its lease
 * expires. */
static enum mr_code try_turn(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found)
{
	struct turn *turn = arg;
	int64_t left_us;
	enum mr_code rc = mr_team_write(cx, team, run_acquire, NULL, turn->work);

	*found = !rc;
	if (rc != MR_ECONFLICT || turn->work->held_until == 0)
		return rc;
	turn->held = cx->err;
	left_us = turn->work->held_until - mr_clock_wall_us(cx->clock);
	turn->wait->again_ms = left_us > 0 ? left_us / 1000 + 1 : 1;
	return MR_OK;
}

static enum mr_code acquire_or_wait(struct mr_ctx *cx, struct mr_team *team, int64_t wait_s,
	struct working *work)
{
	struct mr_team_wait wait = {
		.look = try_turn,
		.timeout_ms = wait_s * 1000,
		.what = "waiting for the slot",
	};
	struct turn turn = { .work = work, .wait = &wait };
	bool found;
	enum mr_code rc;

	wait.arg = &turn;
	rc = mr_team_wait(cx, team, &wait, &found);
	if (rc || found)
		return rc;
	cx->err = turn.held;
	return MR_ECONFLICT;
}

enum mr_code mr_team_slot_acquire(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, const char *slot_name, int64_t ttl_s, int64_t wait_s,
	struct mr_team_slot *out)
{
	struct working work = {
		.team = team,
		.project_key = project_key,
		.agent_name = agent_name,
		.slot_name = slot_name,
		.ttl_s = ttl_s,
	};
	enum mr_code rc = check_name(cx, slot_name);

	if (!rc)
		rc = check_ttl(cx, ttl_s);
	if (!rc && (wait_s < 0 || wait_s > MR_TEAM_SLOT_WAIT_MAX_S))
		rc = mr_team_refuse(cx, "wait_seconds", "wait_seconds must be from 0 to %d",
			MR_TEAM_SLOT_WAIT_MAX_S);
	if (!rc)
		rc = acquire_or_wait(cx, team, wait_s, &work);
	if (!rc)
		*out = work.slot;
	return rc;
}

/* The slot of this id, which this agent holds; released and expired ones come too. */
static enum mr_code find_own(struct mr_ctx *cx, struct mr_db *db, const struct working *work,
	struct mr_team_slot_row *out)
{
	struct mr_team_project project;
	struct mr_team_agent agent;
	bool found = false;
	enum mr_code rc = mr_team_agent_resolve(cx, work->team, db, work->project_key,
		work->agent_name, &project, &agent);

	if (!rc)
		rc = mr_team_slot_get(cx, db, work->id, &found, out);
	if (rc)
		return rc;
	if (!found || out->project_id != project.id)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "project %s has no build slot %lld",
			project.slug, (long long)work->id);
	if (out->agent_id != agent.id) {
		mr_team_fail(cx, MR_TEAM_PERMISSION_DENIED,
			"build slot %lld (\"%s\") is held by %s, not by %s", (long long)work->id,
			out->slot.slot_name, out->slot.agent, agent.name);
		return mr_team_fail_text(cx, "holder", out->slot.agent);
	}
	return MR_OK;
}

static enum mr_code run_renew(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct working *work = arg;
	struct mr_team_slot_row row;
	enum mr_code rc = find_own(cx, db, work, &row);

	if (!rc && row.slot.released_ts)
		rc = mr_team_fail(cx, MR_TEAM_NOT_FOUND,
			"build slot %lld (\"%s\") is no longer held: acquire it again",
			(long long)work->id, row.slot.slot_name);
	if (rc)
		return rc;
	row.slot.expires_ts = mr_clock_wall_us(cx->clock) + work->ttl_s * SECOND;
	work->slot = row.slot;
	rc = mr_team_slot_update(cx, db, &row.slot);
	return rc ? rc : queue_slot(cx, db, &row, "", "renew_build_slot");
}

/* Releasing twice is no error; the first time is kept. */
static enum mr_code run_release(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct working *work = arg;
	struct mr_team_slot_row row;
	enum mr_code rc = find_own(cx, db, work, &row);
	bool held = !rc && row.slot.released_ts == 0;

	if (rc)
		return rc;
	if (held)
		row.slot.released_ts = mr_clock_wall_us(cx->clock);
	work->slot = row.slot;
	if (!held)
		return MR_OK;
	rc = mr_team_slot_update(cx, db, &row.slot);
	return rc ? rc : queue_slot(cx, db, &row, "release ", "release_build_slot");
}

enum mr_code mr_team_slot_renew(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, int64_t id, int64_t ttl_s, struct mr_team_slot *out)
{
	struct working work = {
		.team = team,
		.project_key = project_key,
		.agent_name = agent_name,
		.id = id,
		.ttl_s = ttl_s,
	};
	enum mr_code rc = check_ttl(cx, ttl_s);

	if (!rc)
		rc = mr_team_write(cx, team, run_renew, NULL, &work);
	if (!rc)
		*out = work.slot;
	return rc;
}

enum mr_code mr_team_slot_release(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, int64_t id, struct mr_team_slot *out)
{
	struct working work = {
		.team = team,
		.project_key = project_key,
		.agent_name = agent_name,
		.id = id,
	};
	enum mr_code rc = mr_team_write(cx, team, run_release, NULL, &work);

	if (!rc)
		*out = work.slot;
	return rc;
}
