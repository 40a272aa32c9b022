/*
 * team/store/root.h - a team's storage, opened (by team/open.h): one database, one git archive per
 * project.
 *
 * A handle may be used by any number of threads. All writes go through one queue (data/queue.h):
 * many senders, one fsync. Reads borrow a read-only connection. Any number of processes may have
 * the same root open.
 *
 * When the database is deleted, moved, overwritten or replaced while it is in use, reads and writes
 * fail with MR_EBUSY and a text that says so, until it is back, or rebuilt, or another whole
 * database of a team is in its place: then that is used (team/store/database.c).
 */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

struct mr_team;

enum mr_team_name_mode { MR_TEAM_STRICT, MR_TEAM_COERCE, MR_TEAM_ALWAYS_AUTO };
enum mr_team_escalation { MR_TEAM_ESCALATE_LOG, MR_TEAM_ESCALATE_LEASE, MR_TEAM_ESCALATE_OVERSEER };

/* What is configured; texts are copied by mr_team_open(). */
struct mr_team_config {
	const char *storage_root;
	const char *database;  /* a path; NULL is storage.sqlite3 in the root */
	int64_t max_log_bytes; /* of its write-ahead log (data/db.h) */
	int64_t statement_s;   /* how long a server's answer is waited for; 0: as data/db.h says */
	bool alone;            /* a rebuild's: it holds the use lock (team/store/use_lock.h) */
	bool beside_archives;  /* create a database even beside archives that have commits */
	const char *author_name, *author_email;

	enum mr_team_name_mode name_mode;
	bool any_name; /* AGENT_NAME_VALIDATION=any: letters and digits of any kind will do */
	bool auto_register;
	const char *identity_mode;
	const char *identity_remote;

	bool contacts_enforced;
	bool contacts_in_project; /* CONTACT_ENFORCE_SAME_PROJECT */
	int64_t contact_request_ttl_s;
	int64_t contact_approval_ttl_s;

	bool fnmatch_style; /* RESERVATION_GLOB_STYLE=fnmatch */
	bool enforce_reservations;
	int64_t inactivity_s;
	int64_t activity_grace_s;

	bool convert_images;
	bool keep_originals;
	int64_t inline_image_bytes;
	struct mr_texts attachment_roots;

	int64_t ack_ttl_s;
	bool escalate; /* past the log */
	enum mr_team_escalation escalation;
	int64_t escalation_ttl_s;
	bool escalation_exclusive;
	const char *escalation_holder; /* "" is the recipient */

	bool quota;
	int64_t quota_attachment_bytes; /* 0 is none */
	int64_t quota_inbox;            /* 0 is none */

	const char *llm_endpoint; /* "" is none */
	const char *llm_model;
	const char *llm_key;

	/* Told how long each commit to an archive took, by whichever thread made it; or NULL. */
	void (*on_commit)(void *arg, int64_t took_us);
	void *on_commit_arg;
};

/* The defaults of spec/coordination.md section 2, for a root at `storage_root`. */
struct mr_team_config mr_team_config_default(const char *storage_root);

const struct mr_team_config *mr_team_config(const struct mr_team *team);
const char *mr_team_storage_root(const struct mr_team *team);
/* For people: without a password. */
const char *mr_team_database(const struct mr_team *team);
bool mr_team_database_is_file(const struct mr_team *team);

/*
 * Run one change and wait until it is durable. `run`, and `after` for full-text rows (or NULL), are
 * called on the writer's thread with the caller's `cx`, which waits meanwhile; perhaps more than
 * once (see data/queue.h), so they fill `arg` anew each time. They fail by leaving the reason in
 * cx->err. Crash points: team.written.
 */
typedef enum mr_code mr_team_change(struct mr_ctx *cx, struct mr_db *db, void *arg);
MR_CHECK enum mr_code mr_team_write(struct mr_ctx *cx, struct mr_team *team, mr_team_change *run,
	mr_team_change *after, void *arg);

/*
 * Borrow a connection that only reads:
 *
 *	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
 *	rc = mr_team_read(cx, team, &reader);
 *	... reader.db ...
 *
 * No transaction is begun. Never held while waiting for mr_team_write().
 */
struct mr_team_reader {
	struct mr_team *team;
	struct mr_db *db;
	uint64_t generation; /* see team/store/root_private.h */
};
MR_CHECK enum mr_code mr_team_read(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_reader *out);
void mr_team_read_done(struct mr_team_reader *reader);
