/* team/retire.c - retires or purges an agent. */
#include "team/agent.h"
#include "team/agent_sql.h"
#include "team/archive/archive_queue.h"
#include "team/error.h"
#include "team/purge.h"
#include "team/retire_sql.h"

struct retiring {
	const char *project_key, *name;
	bool purge;
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_deletion deletion;
};

static enum mr_code queue(struct mr_ctx *cx, struct mr_db *db, const struct retiring *r,
	struct mr_team_archive_item item)
{
	item.project_id = r->project.id;
	item.agent = r->agent.name;
	item.tool = "delete_agent";
	return mr_team_archive_queue(cx, db, &item);
}

/* Release its leases and slots at once, and queue that for the archive. */
static enum mr_code let_go(struct mr_ctx *cx, struct mr_db *db, struct retiring *r, int64_t now)
{
	struct mr_texts patterns;
	int64_t *slots = NULL;
	size_t slot_count = 0;
	enum mr_code rc = mr_team_retire_leases(cx, db, r->agent.id, now, &patterns);

	for (size_t i = 0; !rc && i < patterns.len; i++)
		rc = queue(cx, db, r,
			(struct mr_team_archive_item){
				.kind = MR_TEAM_ARCHIVE_RESERVATION,
				.name = patterns.items[i],
				.subject = mr_arena_printf(cx->arena,
					"file_reservation: release %s %s", r->agent.name,
					patterns.items[i]),
			});
	if (rc)
		return rc;
	r->deletion.file_reservations_released = (int64_t)patterns.len;
	rc = mr_team_retire_slots(cx, db, r->agent.id, now, &slots, &slot_count);
	for (size_t i = 0; !rc && i < slot_count; i++)
		rc = queue(cx, db, r,
			(struct mr_team_archive_item){
				.kind = MR_TEAM_ARCHIVE_SLOT,
				.ref = slots[i],
				.subject = mr_arena_printf(cx->arena, "build_slot: release %s",
					r->agent.name),
			});
	return rc;
}

static enum mr_code retire_change(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct retiring *r = arg;
	int64_t now = mr_clock_wall_us(cx->clock);
	enum mr_code rc = mr_team_project_find(cx, db, r->project_key, &r->project);

	if (!rc)
		rc = mr_team_agent_find(cx, db, &r->project, r->name, false, &r->agent);
	if (rc)
		return rc;
	if (r->agent.is_system)
		return mr_team_refuse(cx, "name", "%s is the system's own and stays",
			r->agent.name);
	/* An agent that is already retired keeps its first date. */
	if (r->agent.is_active || !r->agent.deleted_ts)
		r->agent.deleted_ts = now;
	r->agent.is_active = false;
	r->deletion = (struct mr_team_deletion){
		.agent_id = r->agent.id,
		.agent_name = r->agent.name,
		.project = r->project.human_key,
		.purged = r->purge,
		.deleted_ts = r->purge ? now : r->agent.deleted_ts,
	};
	rc = let_go(cx, db, r, now);
	if (!rc)
		rc = mr_team_agent_store(cx, db, &r->agent);
	if (!rc && !r->purge)
		rc = queue(cx, db, r,
			(struct mr_team_archive_item){
				.kind = MR_TEAM_ARCHIVE_PROFILE,
				.ref = r->agent.id,
				.subject = mr_arena_printf(cx->arena, "agent: retire %s",
					r->agent.name),
			});
	return rc;
}

static enum mr_code purge_after(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct retiring *r = arg;

	return mr_team_purge(cx, db, &r->agent, &r->deletion);
}

enum mr_code mr_team_agent_delete(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *name, bool purge, struct mr_team_deletion *out)
{
	struct retiring r = { .project_key = project_key, .name = name, .purge = purge };
	enum mr_code rc = mr_team_write(cx, team, retire_change, purge ? purge_after : NULL, &r);

	if (!rc)
		*out = r.deletion;
	return rc;
}
