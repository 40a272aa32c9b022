/* team/reservation.h - leases on files: who works on what, until when. */
#pragma once

#include "team/agent.h"
#include "team/model.h"

struct mr_team_conflict {
	const char *path; /* the pattern that was asked for */
	struct mr_team_reservations holders;
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
	const char *reason;
};
struct mr_team_reserved {
	struct mr_team_reservations granted;
	struct mr_team_conflicts conflicts; /* reported; the lease is granted all the same */
	struct mr_texts warnings;
};
/* Checked and granted in one change, so that two who ask at once see each other. */
MR_CHECK enum mr_code mr_team_reserve(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct mr_team_reserved *out);
/* The same question without an answer on record: may I edit these now? `agent_name` may be NULL. */
MR_CHECK enum mr_code mr_team_reserve_check(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct mr_team_conflicts *out);

struct mr_team_lease_filter {
	const char *project_key, *agent_name;
	struct mr_texts paths; /* exact patterns; empty: any */
	const int64_t *ids;    /* none: any */
	size_t id_count;
	bool by_path, by_id; /* which of the two were given */
};
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
MR_CHECK enum mr_code mr_team_renew(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_lease_filter *filter, int64_t extend_s, struct mr_team_renewals *out);

/* How a lease looks to those who wait for it (9.5). */
struct mr_team_staleness {
	bool stale;
	struct mr_texts reasons;
	int64_t last_agent_ts, last_mail_ts, last_file_ts, last_git_ts; /* 0: never */
};
/* Looks at the database, the files of the project and git: never on the path of a message. */
MR_CHECK enum mr_code mr_team_staleness(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_project *project, const struct mr_team_reservation *lease,
	struct mr_team_staleness *out);

struct mr_team_force {
	const char *project_key, *agent_name;
	int64_t reservation_id;
	bool notify_previous;
	const char *note;
	bool override; /* an administrator's: without the heuristics */
};
struct mr_team_forced {
	bool already_released;
	struct mr_team_reservation reservation;
	struct mr_team_staleness staleness;
	bool notified;
};
/* NOT_FOUND; RESERVATION_ACTIVE with data.file_reservation_id and data.stale_reasons. */
MR_CHECK enum mr_code mr_team_force_release(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_force *request, struct mr_team_forced *out);

/* Oldest first; the ones that expired are marked as released. */
MR_CHECK enum mr_code mr_team_reservation_list(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, bool active_only, struct mr_team_reservations *out);
/* Leases that expired get their released_ts, and stale ones too; their files follow. For a timer
 * and before a listing. */
MR_CHECK enum mr_code mr_team_reservation_sweep(struct mr_ctx *cx, struct mr_team *team,
	int64_t *released);

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
