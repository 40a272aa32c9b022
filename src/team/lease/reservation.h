/* team/lease/reservation.h - leases on files: who works on what, until when. */
#pragma once

#include "team/agent.h"
#include "team/model.h"

struct mr_team_conflict {
	const char *path;                    /* the pattern that was asked for, as it was written */
	struct mr_team_reservations holders; /* oldest first, at most MR_TEAM_HOLDERS */
	bool has_more;                       /* there are others */
};
struct mr_team_conflicts {
	struct mr_team_conflict *items;
	size_t len;
};

struct mr_team_reserve {
	const char *project_key, *agent_name;
	struct mr_texts paths;
	int64_t ttl_s;
	bool exclusive;
	const char *reason; /* or NULL */
	bool admin;         /* an administrator's: it stops mail, too (9.6) */
};
struct mr_team_reserved {
	struct mr_team_reservations granted;
	struct mr_team_conflicts conflicts; /* reported; the lease is granted all the same */
	struct mr_texts warnings;
};
/*
 * Granted in one change that searches for conflicting leases again, so that two concurrent requests
 * see each other. Conflicting leases that are stale (9.5) are released first. INVALID_ARGUMENT: no
 * pattern, or too many; what is no pattern; a time outside 1 .. MR_TEAM_TTL_MAX_S; patterns so wide
 * that comparing them with the leases of others would take too long.
 */
MR_CHECK enum mr_code mr_team_reserve(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct mr_team_reserved *out);
/* The same check without taking a lease: may these files be edited now? `agent_name` may be
 * NULL. */
MR_CHECK enum mr_code mr_team_reserve_check(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct mr_team_conflicts *out);

/* No filter is all of the agent's leases; both are those that fit both. */
struct mr_team_lease_filter {
	const char *project_key, *agent_name;
	struct mr_texts paths; /* patterns as they are listed, or as they were asked for */
	const int64_t *ids;    /* none: any */
	size_t id_count;
	bool by_path, by_id; /* which of the two were given */
};
/* What is not released yet: `*released` counts it. */
MR_CHECK enum mr_code mr_team_release(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_lease_filter *filter, int64_t *released, int64_t *released_ts);

struct mr_team_renewed {
	int64_t id;
	const char *path_pattern;
	int64_t old_expires_ts, new_expires_ts;
};
struct mr_team_renewals {
	struct mr_team_renewed *items;
	size_t len;
};
/* From now or its old end, whichever is later, by at least MR_TEAM_RENEW_MIN_S. */
MR_CHECK enum mr_code mr_team_renew(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_lease_filter *filter, int64_t extend_s, struct mr_team_renewals *out);

/*
 * What speaks for and against a lease being in use (9.5). Stale: its holder has been inactive, and
 * there was no recent activity in its mail, in the files or in git. A lease of an administrator or
 * of an escalation is never stale, nor one whose files were not examined.
 */
struct mr_team_staleness {
	bool stale;
	struct mr_texts reasons;
	int64_t last_agent_ts, last_mail_ts, last_file_ts, last_git_ts; /* 0: never */
};
/* The remaining budget for examining files: shared by the leases of a listing. */
struct mr_team_effort {
	int64_t entries; /* of directories */
	int64_t gits;    /* runs of git */
};
struct mr_team_effort mr_team_effort_default(void);
/* Reads the database, the project's files and git: never while sending a message, never in a
 * change. For an expired or released lease only the database is read. */
MR_CHECK enum mr_code mr_team_staleness(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_project *project, const struct mr_team_reservation *lease,
	struct mr_team_effort *effort, struct mr_team_staleness *out);

struct mr_team_force {
	const char *project_key, *agent_name;
	int64_t reservation_id;
	bool notify_previous;
	const char *note;
	bool override; /* an administrator's: skip the heuristics */
};
struct mr_team_forced {
	bool already_released;
	struct mr_team_reservation reservation;
	struct mr_team_staleness staleness;
	bool notified;
};
/*
 * The holder may always release it; others only when it is stale, and then its holder is notified.
 * NOT_FOUND; RESERVATION_ACTIVE with data.file_reservation_id and data.stale_reasons.
 */
MR_CHECK enum mr_code mr_team_force_release(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_force *request, struct mr_team_forced *out);

struct mr_team_lease {
	struct mr_team_reservation reservation;
	struct mr_team_staleness staleness;
};
struct mr_team_leases {
	struct mr_team_lease *items;
	size_t len;
	int64_t next; /* the `before` of those that are older still; 0: there are none */
};
/* The newest `limit` of a project (clamped to 1 .. MR_TEAM_LIST_MAX; 0 is that) that are older than
 * the lease `before` (0: all), oldest first. The project is swept before. */
MR_CHECK enum mr_code mr_team_reservation_list(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, bool active_only, int64_t before, int64_t limit,
	struct mr_team_leases *out);
/* Leases that expired get their released_ts, and stale ones too; their files follow. For a timer
 * and before a listing. Of one project, or of all (0). */
MR_CHECK enum mr_code mr_team_reservation_sweep(struct mr_ctx *cx, struct mr_team *team,
	int64_t project_id, int64_t *released);

/*
 * Inside the change that stores a message: leases of others on its surfaces (9.6). Those made by an
 * escalation or an administrator come in `stopping`, others in `warnings`. Cheap: only patterns
 * that begin with agents/ are looked at.
 */
MR_CHECK enum mr_code mr_team_reservation_guard(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db, int64_t project_id, int64_t sender_id, const struct mr_texts *surfaces,
	struct mr_team_conflicts *stopping, struct mr_team_conflicts *warnings);
/* Do two agents hold active leases of one project that overlap? For the contact policy `auto`. */
MR_CHECK enum mr_code mr_team_reservation_meet(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db, int64_t agent_a, int64_t agent_b, bool *out);
