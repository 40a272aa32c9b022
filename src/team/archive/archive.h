/*
 * team/archive/archive.h - the git archive of each project: a projection that follows the database.
 *
 * Every change that people should be able to audit queues a row in its own transaction. The
 * archiver turns rows into files and commits, in the order they were queued, and takes a row away
 * only when its commit stands. What a file says is read from the database when it is written, so
 * doing a row twice changes nothing.
 */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "data/history.h"
#include "team/archive/archive_queue.h"
#include "team/model.h"
#include "team/store/root.h"

/*
 * Archive what waits, until nothing does or `timeout_ms` is over (0: one round). Several processes
 * may do it at once: one works on a project, others pass it by, or wait when `wait` is set
 * (ARCHIVE_LOCK_TIMEOUT when that takes too long). A project that cannot be archived is the error,
 * when all others are; its rows stay. Crash points: archive.locked, archive.committed,
 * archive.done.
 */
MR_CHECK enum mr_code mr_team_archive_drain(struct mr_ctx *cx, struct mr_team *team, int timeout_ms,
	bool wait);
/* Remove what an interrupted archiver left: locks, and files not in place yet. The next archiver
 * of a project does it anyway. */
void mr_team_archive_repair(struct mr_ctx *cx, struct mr_team *team);
/* Start a thread that archives as changes come, of other processes within seconds; what fails is
 * logged and tried again, less and less often. mr_team_close() ends it. */
MR_CHECK enum mr_code mr_team_archive_start(struct mr_ctx *cx, struct mr_team *team);
/* Wake the thread: something was queued. Never blocks. Without a thread nothing happens. */
void mr_team_archive_wake(struct mr_team *team);
/* End the thread, if there is one, after its current work. For mr_team_close(). */
void mr_team_archive_stop(struct mr_team *team);

struct mr_team_archive_status {
	int64_t depth;            /* rows that wait */
	int64_t oldest_ts;        /* since when the oldest does; 0: none */
	bool running;             /* this process archives in the background */
	int64_t commits, rows;    /* made and done by its thread */
	int64_t failing_since_ts; /* 0: the thread's last attempt succeeded */
	const char *last_error;   /* or NULL */
};
MR_CHECK enum mr_code mr_team_archive_status(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_archive_status *out);

/* The history of a project, to read: for whois and pages. Archives its queued rows first, as far
 * as that is possible now. MR_ENOTFOUND while it has none. */
MR_CHECK enum mr_code mr_team_archive_open(struct mr_ctx *cx, struct mr_team *team,
	const char *slug, struct mr_history **out);

/* The directories of projects: their names, which are the slugs. */
MR_CHECK enum mr_code mr_team_archive_slugs(struct mr_ctx *cx, const char *storage_root,
	struct mr_texts *out);
/* Does a project's directory hold commits, readable or not? Judged by file names only. */
bool mr_team_archive_has_commits(struct mr_ctx *cx, const char *storage_root, const char *slug);
/* The number of projects of a root that do. */
size_t mr_team_archives(struct mr_ctx *cx, const char *storage_root);

struct mr_team_commit {
	const char *hexsha; /* 12 digits */
	const char *summary;
	int64_t authored_ts;
};
/* How a commit brought a file in. */
struct mr_team_change_of {
	int64_t insertions, deletions;
	struct mr_texts excerpt; /* its first lines, each with its sign */
};
struct mr_team_commits {
	struct mr_team_commit *items;
	size_t len;
};
/* The newest commits that touch this agent's directory and say so, or carry its trailer: not the
 * blind copies it got. Of a commit for many the summary is its newest line that names the agent.
 * None while there is no archive. */
MR_CHECK enum mr_code mr_team_archive_commits_of(struct mr_ctx *cx, struct mr_team *team,
	const char *slug, const char *agent, size_t limit, struct mr_team_commits *out);

/*
 * For each message (newest first) the commit that brought it into the archive of its project; its
 * `hexsha` is NULL where there is none yet, or none near enough to be found. With `flush` what
 * waits is archived first, which takes its time. `changes` may be NULL.
 */
MR_CHECK enum mr_code mr_team_archive_commits_at(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_message *const *messages, size_t count, bool flush,
	struct mr_team_commit *out, struct mr_team_change_of *changes);

struct mr_team_lock {
	const char *project;           /* slug */
	const char *path, *owner_path; /* of the lock, and of the note who has it */
	int64_t pid;
	int64_t since_us;
	bool is_alive; /* there is such a process */
};
struct mr_team_locks {
	struct mr_team_lock *items;
	size_t len;
};
/* The processes that archive a project now, and those that died doing it, which does not block
 * others. For people. */
MR_CHECK enum mr_code mr_team_archive_locks(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_locks *out);
