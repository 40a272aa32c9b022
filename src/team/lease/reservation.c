/* team/lease/reservation.c - grants, releases and renews leases. */
#include "team/lease/reservation.h"

#include "base/crash.h"
#include "team/error.h"
#include "team/lease/lease_index.h"
#include "team/lease/reservation_private.h"
#include "team/limits.h"
#include "text/time.h"

#include <string.h>

static enum mr_code queue_file(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_reservation *lease, const char *verb, const char *actor,
	const char *tool)
{
	struct mr_team_archive_item item = {
		.project_id = lease->project_id,
		.kind = MR_TEAM_ARCHIVE_RESERVATION,
		.ref = lease->id,
		.name = lease->path_pattern,
		.agent = actor ? actor : lease->agent,
		.subject = mr_arena_printf(cx->arena, "file_reservation: %s%s%s %s%s%s",
			verb ? verb : "", verb ? " " : "", lease->agent, lease->path_pattern,
			actor ? " by " : "", actor ? actor : ""),
		.tool = tool,
	};

	return mr_team_archive_queue(cx, db, &item);
}

enum mr_code mr_team_lease_grant(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_reservation *lease, const char *prefix, const char *tool)
{
	enum mr_code rc = mr_team_lease_insert(cx, db, lease, prefix, &lease->id);

	return rc ? rc : queue_file(cx, db, lease, NULL, NULL, tool);
}

enum mr_code mr_team_lease_end(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_reservation *lease, const char *verb, const char *actor,
	const char *tool, int64_t when, int64_t *released)
{
	bool changed;
	enum mr_code rc = mr_team_lease_set_released(cx, db, lease->id, when, &changed);

	if (rc || !changed)
		return rc;
	++*released;
	return queue_file(cx, db, lease, verb, actor, tool);
}

enum mr_code mr_team_lease_expire(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *released)
{
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc =
		mr_team_lease_expired(cx, db, project_id, now, MR_TEAM_SWEEP_BATCH, &rows);

	for (size_t i = 0; i < rows.len && !rc; i++)
		rc = mr_team_lease_end(cx, db, &rows.items[i].lease, "expire", NULL, NULL, now,
			released);
	return rc;
}

enum mr_code mr_team_lease_set_right(struct mr_ctx *cx, struct mr_db *db, int64_t project_id)
{
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc;

	/* Our own clock is wrong. */
	if (now < MR_TEAM_CLOCK_UNSET_S * MR_TIME_S)
		return MR_OK;
	rc = mr_team_lease_ahead(cx, db, project_id, now + MR_TEAM_CLOCK_AHEAD_S * MR_TIME_S,
		MR_TEAM_SWEEP_BATCH, &rows);

	for (size_t i = 0; i < rows.len && !rc; i++) {
		const struct mr_team_reservation *lease = &rows.items[i].lease;

		rc = mr_team_lease_set_times(cx, db, lease->id, now,
			now + lease->expires_ts - lease->created_ts);
		if (!rc)
			rc = queue_file(cx, db, lease, "renew", NULL, NULL);
	}
	return rc;
}

/* A request, checked and taken apart before anything is changed. */
struct request {
	struct mr_team *team;
	const struct mr_team_reserve *asked;
	struct mr_team_project project;
	struct mr_team_agent agent; /* id 0 when nobody in particular asks */
	struct mr_glob **globs;     /* one for each path */
	struct mr_texts prefixes;
	struct mr_texts warnings;
};

static enum mr_code check_request(struct mr_ctx *cx, const struct mr_team_reserve *asked)
{
	if (asked->paths.len == 0)
		return mr_team_refuse(cx, "paths", "paths must name at least one file or pattern");
	if (asked->paths.len > MR_TEAM_PATHS)
		return mr_team_refuse(cx, "paths", "%zu paths are too many: at most %d in one call",
			asked->paths.len, MR_TEAM_PATHS);
	if (asked->ttl_s < 1 || asked->ttl_s > MR_TEAM_TTL_MAX_S)
		return mr_team_refuse(cx, "ttl_seconds",
			"ttl_seconds is %lld: it must be 1 to %d (30 days)",
			(long long)asked->ttl_s, MR_TEAM_TTL_MAX_S);
	if (asked->reason && strlen(asked->reason) > MR_TEAM_REASON_BYTES)
		return mr_team_refuse(cx, "reason", "reason is longer than %d bytes",
			MR_TEAM_REASON_BYTES);
	return MR_OK;
}

static bool is_outside(const char *root, const char *path)
{
	size_t len = strlen(root);

	while (len > 0 && root[len - 1] == '/')
		len--;
	return *path == '/' && path[1] &&
		(strncmp(path, root, len) != 0 || (path[len] != '/' && path[len]));
}

static void warn(struct mr_ctx *cx, struct request *r)
{
	const struct mr_texts *paths = &r->asked->paths;

	r->warnings.items = mr_arena_array(cx->arena, paths->len + 2, sizeof(*r->warnings.items));
	if (r->asked->ttl_s < MR_TEAM_TTL_SHORT_S)
		r->warnings.items[r->warnings.len++] = mr_arena_printf(cx->arena,
			"ttl_seconds is %lld: a lease shorter than %d seconds is over before "
			"others notice it",
			(long long)r->asked->ttl_s, MR_TEAM_TTL_SHORT_S);
	for (size_t i = 0; i < paths->len; i++) {
		if (is_outside(r->project.human_key, paths->items[i]))
			r->warnings.items[r->warnings.len++] = mr_arena_printf(cx->arena,
				"%s is not below %s: it was taken for %s in the project",
				paths->items[i], r->project.human_key, mr_glob_text(r->globs[i]));
	}
}

/* Look up the agent, and compile the patterns. */
static enum mr_code read_request(struct mr_ctx *cx, struct mr_db *db, struct request *r)
{
	const struct mr_team_reserve *asked = r->asked;
	enum mr_code rc = check_request(cx, asked);

	if (!rc && asked->agent_name)
		rc = mr_team_agent_resolve(cx, r->team, db, asked->project_key, asked->agent_name,
			&r->project, &r->agent);
	else if (!rc)
		rc = mr_team_project_find(cx, db, asked->project_key, &r->project);
	if (rc)
		return rc;
	r->globs = mr_arena_array(cx->arena, asked->paths.len, sizeof(struct mr_glob *));
	r->prefixes.items =
		mr_arena_array(cx->arena, asked->paths.len + 1, sizeof(*r->prefixes.items));
	for (size_t i = 0; i < asked->paths.len; i++) {
		rc = mr_team_lease_index_compile(cx, r->team, r->project.human_key,
			asked->paths.items[i], &r->globs[i]);
		if (rc)
			return rc;
		r->prefixes.items[r->prefixes.len++] = mr_glob_literal_prefix(r->globs[i]);
	}
	warn(cx, r);
	return MR_OK;
}

/* Leases that conflict with each path, as found at one time. */
struct in_the_way {
	struct mr_team_lease_index index;
	struct mr_team_lease_index_hits *hits; /* one for each path */
};

/* `earlier`, or NULL, was found before: leases compared then are not compared again. Fails when
 * comparing the rest costs more than `max_cost`. */
static enum mr_code find_conflicts(struct mr_ctx *cx, struct mr_db *db, const struct request *r,
	const struct in_the_way *earlier, int64_t max_cost, struct in_the_way *out)
{
	struct mr_team_lease_near near = { .project_id = r->project.id,
		.but_agent_id = r->agent.id,
		.now = mr_clock_wall_us(cx->clock) };
	size_t count = r->asked->paths.len;
	enum mr_code rc =
		mr_team_lease_index_read(cx, r->team, db, &near, &r->prefixes, false, &out->index);

	if (rc)
		return rc;
	out->index.max_cost = max_cost;
	out->hits = mr_arena_array(cx->arena, count, sizeof(*out->hits));
	for (size_t i = 0; i < count && !rc; i++)
		rc = mr_team_lease_index_find(cx, &out->index, r->globs[i], !r->asked->exclusive,
			MR_TEAM_HOLDERS, earlier ? &earlier->hits[i] : NULL, &out->hits[i]);
	return rc;
}

static bool is_among(const struct mr_team_stale *stale, int64_t id)
{
	for (size_t i = 0; i < stale->len; i++) {
		if (stale->items[i]->lease.id == id)
			return true;
	}
	return false;
}

/* The leases of `without` left out. */
static struct mr_team_conflicts conflicts_of(struct mr_ctx *cx, const struct request *r,
	const struct mr_team_lease_index_hits *hits, const struct mr_team_stale *without)
{
	size_t count = r->asked->paths.len;
	struct mr_team_conflicts list = { mr_arena_array(cx->arena, count, sizeof(*list.items)),
		0 };

	for (size_t i = 0; i < count; i++) {
		struct mr_team_conflict one = { .path = r->asked->paths.items[i],
			.has_more = hits[i].has_more };

		one.holders.items =
			mr_arena_array(cx->arena, hits[i].len, sizeof(*one.holders.items));
		for (size_t j = 0; j < hits[i].len; j++) {
			if (!is_among(without, hits[i].items[j]->lease.id))
				one.holders.items[one.holders.len++] = hits[i].items[j]->lease;
		}
		if (one.holders.len)
			list.items[list.len++] = one;
	}
	return list;
}

/* Find conflicting leases whose holders have been inactive for long: each once, as many as are
 * worth examining. */
static enum mr_code find_stale(struct mr_ctx *cx, struct mr_db *db, const struct request *r,
	const struct mr_team_lease_index_hits *hits, struct mr_team_stale *out)
{
	int64_t away =
		mr_clock_wall_us(cx->clock) - mr_team_config(r->team)->inactivity_s * MR_TIME_S;
	const struct mr_team_lease_row *idle[MR_TEAM_STALE_GITS];
	struct mr_team_stale seen = { idle, 0 };

	for (size_t i = 0; i < r->asked->paths.len; i++) {
		for (size_t j = 0; j < hits[i].len && seen.len < MR_LEN(idle); j++) {
			const struct mr_team_lease_row *row = hits[i].items[j];

			if (row->holder_active_ts < away && !is_among(&seen, row->lease.id))
				idle[seen.len++] = row;
		}
	}
	return mr_team_stale_find(cx, r->team, db, idle, seen.len, out);
}

/* What can be done before the change: check the request, find conflicting leases, and those of
 * them that are stale. */
static enum mr_code prepare(struct mr_ctx *cx, struct request *r, struct in_the_way *out,
	struct mr_team_stale *out_stale)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, r->team, &reader);

	if (!rc)
		rc = read_request(cx, reader.db, r);
	if (!rc)
		rc = find_conflicts(cx, reader.db, r, NULL, MR_TEAM_OVERLAP_COST, out);
	if (!rc)
		rc = find_stale(cx, reader.db, r, out->hits, out_stale);
	return rc;
}

enum mr_code mr_team_reserve_check(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct mr_team_conflicts *out)
{
	struct request r = { .team = team, .asked = request };
	struct in_the_way found;
	struct mr_team_stale stale = { 0 };
	enum mr_code rc = prepare(cx, &r, &found, &stale);

	if (!rc)
		*out = conflicts_of(cx, &r, found.hits, &stale);
	return rc;
}

struct reserving {
	const struct request *r;
	struct in_the_way before;   /* found outside the change */
	struct mr_team_stale stale; /* of these */
	int64_t max_cost;           /* of comparing inside the change */

	/* Filled anew by each run of the change. */
	bool again; /* so much came since that it has to be compared outside first */
	struct mr_team_reserved out;
};

static enum mr_code grant_all(struct mr_ctx *cx, struct mr_db *db, struct reserving *job)
{
	const struct mr_team_reserve *asked = job->r->asked;
	struct mr_team_reservations *granted = &job->out.granted;
	int64_t now = mr_clock_wall_us(cx->clock);
	enum mr_code rc = MR_OK;

	granted->items = mr_arena_array(cx->arena, asked->paths.len, sizeof(*granted->items));
	for (size_t i = 0; i < asked->paths.len && !rc; i++) {
		granted->items[granted->len] = (struct mr_team_reservation){
			.project_id = job->r->project.id,
			.agent_id = job->r->agent.id,
			.agent = job->r->agent.name,
			.path_pattern = mr_glob_text(job->r->globs[i]),
			.exclusive = asked->exclusive,
			.reason = asked->reason ? asked->reason : "",
			.origin = asked->admin ? "admin" : "agent",
			.created_ts = now,
			.expires_ts = now + asked->ttl_s * MR_TIME_S,
		};
		rc = mr_team_lease_grant(cx, db, &granted->items[granted->len++],
			job->r->prefixes.items[i], "file_reservation_paths");
	}
	return rc;
}

/* The agent may have been retired since it was looked up, or deleted and replaced. */
static enum mr_code check_holder(struct mr_ctx *cx, struct mr_db *db, const struct request *r)
{
	struct mr_team_agent now;
	enum mr_code rc = mr_team_agent_find(cx, db, &r->project, r->agent.name, true, &now);

	if (!rc && now.id != r->agent.id)
		rc = mr_team_fail(cx, MR_TEAM_NOT_FOUND,
			"%s was deleted in the project %s while it asked for a lease, and another "
			"agent has its name now; nothing was reserved",
			r->agent.name, r->project.slug);
	return rc;
}

/* The leases that conflict now. Most were compared before the change, which blocks all other
 * writers: only leases added since are compared here. */
static enum mr_code compare_again(struct mr_ctx *cx, struct mr_db *db, struct reserving *job,
	struct in_the_way *out)
{
	struct mr_err before = cx->err;
	enum mr_code rc;

	out->index.cost = 0;
	rc = find_conflicts(cx, db, job->r, &job->before, job->max_cost, out);
	if (out->index.cost > 0)
		mr_crash_point("reservation.compared");
	if (!rc || out->index.cost <= job->max_cost || job->max_cost == MR_TEAM_OVERLAP_COST)
		return rc;
	cx->err = before;
	job->again = true;
	return MR_OK;
}

static enum mr_code reserve(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct reserving *job = arg;
	struct in_the_way found;
	int64_t ended = 0;
	enum mr_code rc = check_holder(cx, db, job->r);

	job->out = (struct mr_team_reserved){ .warnings = job->r->warnings };
	job->again = false;
	if (!rc)
		rc = mr_team_lease_expire(cx, db, job->r->project.id, &ended);
	if (!rc)
		rc = mr_team_stale_end(cx, db, &job->stale, &ended);
	if (!rc)
		rc = compare_again(cx, db, job, &found);
	if (rc || job->again)
		return rc;
	job->out.conflicts = conflicts_of(cx, job->r, found.hits, &(struct mr_team_stale){ 0 });
	return grant_all(cx, db, job);
}

enum mr_code mr_team_reserve(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct mr_team_reserved *out)
{
	struct request r;
	struct reserving job = { .r = &r };
	enum mr_code rc;
	int tries = 0;

	do {
		r = (struct request){ .team = team, .asked = request };
		job.max_cost = ++tries < MR_TEAM_OVERLAP_TRIES ? MR_TEAM_OVERLAP_INSIDE
							       : MR_TEAM_OVERLAP_COST;
		rc = prepare(cx, &r, &job.before, &job.stale);
		if (!rc)
			rc = mr_team_write(cx, team, reserve, NULL, &job);
	} while (!rc && job.again);
	if (!rc)
		*out = job.out;
	return rc;
}

/* A filter with everything looked up. */
struct filter {
	struct mr_team_project project;
	struct mr_team_agent agent;
	const struct mr_team_lease_filter *asked;
	const char **patterns; /* the paths, normalised; NULL where one is no pattern */
};

static enum mr_code read_filter(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_lease_filter *asked, struct filter *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct filter f = { .asked = asked };
	enum mr_code rc;

	if (asked->paths.len > MR_TEAM_PATHS)
		return mr_team_refuse(cx, "paths", "%zu paths are too many: at most %d in one call",
			asked->paths.len, MR_TEAM_PATHS);
	if (asked->id_count > MR_TEAM_IDS)
		return mr_team_refuse(cx, "file_reservation_ids",
			"%zu ids are too many: at most %d in one call", asked->id_count,
			MR_TEAM_IDS);
	rc = mr_team_read(cx, team, &reader);
	if (!rc)
		rc = mr_team_agent_resolve(cx, team, reader.db, asked->project_key,
			asked->agent_name, &f.project, &f.agent);
	if (rc)
		return rc;
	f.patterns = mr_arena_array(cx->arena, asked->paths.len, sizeof(*f.patterns));
	for (size_t i = 0; i < asked->paths.len; i++) {
		struct mr_glob *glob;
		struct mr_err before = cx->err;

		if (!mr_team_lease_index_compile(cx, team, f.project.human_key,
			    asked->paths.items[i], &glob))
			f.patterns[i] = mr_glob_text(glob);
		cx->err = before;
	}
	*out = f;
	return MR_OK;
}

static bool fits(const struct filter *f, const struct mr_team_reservation *lease)
{
	const struct mr_team_lease_filter *asked = f->asked;
	bool found = !asked->by_id;

	for (size_t i = 0; i < asked->id_count && !found; i++)
		found = asked->ids[i] == lease->id;
	if (!found || !asked->by_path)
		return found;
	for (size_t i = 0; i < asked->paths.len; i++) {
		if (mr_str_eq(asked->paths.items[i], lease->path_pattern) ||
			mr_str_eq(f->patterns[i], lease->path_pattern))
			return true;
	}
	return false;
}

static enum mr_code find_own(struct mr_ctx *cx, struct mr_db *db, const struct filter *f,
	struct mr_team_lease_rows *out)
{
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc = mr_team_lease_of(cx, db, f->agent.id, MR_TEAM_LEASES_NEAR, &rows);
	size_t kept = 0;

	/* Newest first as they come; oldest first as they go. */
	for (size_t i = rows.len; i > 0 && !rc; i--) {
		if (fits(f, &rows.items[i - 1].lease))
			kept++;
	}
	out->items = mr_arena_array(cx->arena, kept, sizeof(*out->items));
	out->len = 0;
	for (size_t i = rows.len; i > 0 && !rc; i--) {
		if (fits(f, &rows.items[i - 1].lease))
			out->items[out->len++] = rows.items[i - 1];
	}
	return rc;
}

struct releasing {
	struct filter filter;
	int64_t released, released_ts;
};

static enum mr_code release(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct releasing *job = arg;
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc = find_own(cx, db, &job->filter, &rows);

	job->released = 0;
	job->released_ts = mr_clock_wall_us(cx->clock);
	for (size_t i = 0; i < rows.len && !rc; i++)
		rc = mr_team_lease_end(cx, db, &rows.items[i].lease, "release", NULL,
			"release_file_reservations", job->released_ts, &job->released);
	return rc;
}

enum mr_code mr_team_release(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_lease_filter *filter, int64_t *released, int64_t *released_ts)
{
	struct releasing job;
	enum mr_code rc = read_filter(cx, team, filter, &job.filter);

	if (!rc)
		rc = mr_team_write(cx, team, release, NULL, &job);
	if (rc)
		return rc;
	*released = job.released;
	*released_ts = job.released_ts;
	return MR_OK;
}

struct renewing {
	struct filter filter;
	int64_t extend_us;
	struct mr_team_renewals out;
};

static enum mr_code renew_one(struct mr_ctx *cx, struct mr_db *db, struct renewing *job,
	const struct mr_team_reservation *lease)
{
	int64_t now = mr_clock_wall_us(cx->clock);
	int64_t from = lease->expires_ts > now ? lease->expires_ts : now;
	enum mr_code rc = mr_team_lease_set_expiry(cx, db, lease->id, from + job->extend_us);

	if (rc)
		return rc;
	job->out.items[job->out.len++] = (struct mr_team_renewed){
		.id = lease->id,
		.path_pattern = lease->path_pattern,
		.old_expires_ts = lease->expires_ts,
		.new_expires_ts = from + job->extend_us,
	};
	return queue_file(cx, db, lease, "renew", NULL, "renew_file_reservations");
}

static enum mr_code renew(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct renewing *job = arg;
	struct mr_team_lease_rows rows = { 0 };
	enum mr_code rc = find_own(cx, db, &job->filter, &rows);

	job->out.items = mr_arena_array(cx->arena, rows.len, sizeof(*job->out.items));
	job->out.len = 0;
	for (size_t i = 0; i < rows.len && !rc; i++)
		rc = renew_one(cx, db, job, &rows.items[i].lease);
	return rc;
}

enum mr_code mr_team_renew(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_lease_filter *filter, int64_t extend_s, struct mr_team_renewals *out)
{
	struct renewing job = { 0 };
	enum mr_code rc;

	if (extend_s > MR_TEAM_TTL_MAX_S)
		return mr_team_refuse(cx, "extend_seconds",
			"extend_seconds is %lld: it must be at most %d (30 days)",
			(long long)extend_s, MR_TEAM_TTL_MAX_S);
	job.extend_us =
		(extend_s > MR_TEAM_RENEW_MIN_S ? extend_s : MR_TEAM_RENEW_MIN_S) * MR_TIME_S;
	rc = read_filter(cx, team, filter, &job.filter);
	if (!rc)
		rc = mr_team_write(cx, team, renew, NULL, &job);
	if (!rc)
		*out = job.out;
	return rc;
}
