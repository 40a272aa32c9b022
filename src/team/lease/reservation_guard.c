/* team/lease/reservation_guard.c - leases on mailboxes that stop mail, and overlapping leases as
 * a relation between agents. */
#include "team/lease/reservation.h"

#include "team/lease/lease_index.h"
#include "team/limits.h"

/* The prefix of mail in a project's archive: other patterns do not concern mail. */
#define MAIL_PREFIX "agents"

/* The leases on each mailbox path: those that stop mail, and those that only warn. */
struct sides {
	struct mr_team_conflicts stopping, warning;
};

static void sort_hits(struct mr_ctx *cx, const char *surface,
	const struct mr_team_lease_index_hits *hits, struct sides *out)
{
	struct mr_team_conflict stops = { .path = surface };
	struct mr_team_conflict warns = { .path = surface };

	stops.holders.items = mr_arena_array(cx->arena, hits->len, sizeof(*stops.holders.items));
	warns.holders.items = mr_arena_array(cx->arena, hits->len, sizeof(*warns.holders.items));
	for (size_t i = 0; i < hits->len; i++) {
		const struct mr_team_reservation *lease = &hits->items[i]->lease;
		struct mr_team_reservations *holders =
			mr_str_eq(lease->origin, "agent") ? &warns.holders : &stops.holders;

		holders->items[holders->len++] = *lease;
	}
	if (stops.holders.len)
		out->stopping.items[out->stopping.len++] = stops;
	if (warns.holders.len)
		out->warning.items[out->warning.len++] = warns;
}

static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_lease_near *near, const struct mr_texts *surfaces, struct sides *out)
{
	struct mr_glob **globs = mr_arena_array(cx->arena, surfaces->len, sizeof(*globs));
	struct mr_texts prefixes = {
		mr_arena_array(cx->arena, surfaces->len + 1, sizeof(*prefixes.items)), 0
	};
	struct mr_team_lease_index index;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < surfaces->len && !rc; i++) {
		rc = mr_team_lease_index_compile(cx, team, NULL, surfaces->items[i], &globs[i]);
		if (!rc)
			prefixes.items[prefixes.len++] = mr_glob_literal_prefix(globs[i]);
	}
	if (!rc)
		rc = mr_team_lease_index_read(cx, team, db, near, &prefixes, true, &index);
	out->stopping.items =
		mr_arena_array(cx->arena, surfaces->len, sizeof(*out->stopping.items));
	out->warning.items = mr_arena_array(cx->arena, surfaces->len, sizeof(*out->warning.items));
	for (size_t i = 0; i < surfaces->len && !rc; i++) {
		struct mr_team_lease_index_hits hits;

		/* All of them: the one that stops may be the last. */
		rc = mr_team_lease_index_find(cx, &index, globs[i], false, index.rows.len, NULL,
			&hits);
		if (!rc)
			sort_hits(cx, surfaces->items[i], &hits, out);
	}
	return rc;
}

enum mr_code mr_team_reservation_guard(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	int64_t project_id, int64_t sender_id, const struct mr_texts *surfaces,
	struct mr_team_conflicts *stopping, struct mr_team_conflicts *warnings)
{
	struct mr_team_lease_near near = { .project_id = project_id,
		.but_agent_id = sender_id,
		.now = mr_clock_wall_us(cx->clock) };
	struct sides sides = { 0 };
	bool guarded = false;
	enum mr_code rc = MR_OK;

	if (mr_team_config(team)->enforce_reservations && surfaces->len)
		/* The usual case must be cheap: no lease on any mailbox. */
		rc = mr_team_lease_any_below(cx, db, project_id, MAIL_PREFIX, &guarded);
	if (!rc && guarded)
		rc = look(cx, team, db, &near, surfaces, &sides);
	if (rc)
		return rc;
	*stopping = sides.stopping;
	*warnings = sides.warning;
	return MR_OK;
}

/* Does an active lease of the index, of the same project, overlap this one? */
static bool meets(struct mr_ctx *cx, const struct mr_team *team, struct mr_team_lease_index *index,
	const struct mr_team_reservation *lease, int64_t now)
{
	struct mr_team_lease_index_hits hits = { 0 };
	struct mr_err before = cx->err;
	struct mr_glob *glob;

	/* A pattern that cannot be compared, or not in time, counts as no overlap. */
	if (mr_team_lease_index_compile(cx, team, NULL, lease->path_pattern, &glob) ||
		mr_team_lease_index_find(cx, index, glob, false, MR_TEAM_LEASES_MEET, NULL, &hits))
		cx->err = before;
	for (size_t i = 0; i < hits.len; i++) {
		const struct mr_team_reservation *other = &hits.items[i]->lease;

		if (other->expires_ts > now && other->project_id == lease->project_id)
			return true;
	}
	return false;
}

enum mr_code mr_team_reservation_meet(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	int64_t agent_a, int64_t agent_b, bool *out)
{
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_team_lease_rows of_a = { 0 };
	struct mr_team_lease_rows of_b = { 0 };
	struct mr_team_lease_index index;
	bool met = false;
	enum mr_code rc = mr_team_lease_of(cx, db, agent_a, MR_TEAM_LEASES_MEET, &of_a);

	if (!rc && of_a.len)
		rc = mr_team_lease_of(cx, db, agent_b, MR_TEAM_LEASES_MEET, &of_b);
	if (rc)
		return rc;
	mr_team_lease_index_take(cx, team, &of_b, &index);
	for (size_t i = 0; i < of_a.len && of_b.len && !met; i++) {
		if (of_a.items[i].lease.expires_ts > now)
			met = meets(cx, team, &index, &of_a.items[i].lease, now);
	}
	*out = met;
	return MR_OK;
}
