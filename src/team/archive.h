/*
 * team/archive.h - the git archive of each project: a projection that follows the database.
 *
 * Whoever changes something that people should be able to audit queues a row in the same
 * transaction. The archiver turns rows into files and commits, in the order they were queued, and
 * takes a row away only when its commit stands. What a file says is read from the database when it
 * is written, so doing a row twice changes nothing.
 */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "data/history.h"
#include "team/root.h"

enum mr_team_archive_kind {
	MR_TEAM_ARCHIVE_PROFILE,     /* ref: an agent; agents/<Name>/profile.json */
	MR_TEAM_ARCHIVE_DELETED,     /* ref: an agent; also deleted.json; `name` is its name */
	MR_TEAM_ARCHIVE_MESSAGE,     /* ref: a message of this project: canonical, outbox, digest,
					attachments, and the inboxes of this project's recipients */
	MR_TEAM_ARCHIVE_INBOX,       /* ref: a message from elsewhere: inboxes of this project's
					recipients */
	MR_TEAM_ARCHIVE_RESERVATION, /* name: a pattern; all its leases as they now stand */
	MR_TEAM_ARCHIVE_SLOT,        /* ref: a build slot */
	MR_TEAM_ARCHIVE_LINKS,       /* ref: an agent; agents/<Name>/contacts.json */
};

struct mr_team_archive_item {
	int64_t project_id;
	enum mr_team_archive_kind kind;
	int64_t ref;
	const char *name;  /* or NULL */
	const char *agent; /* for the trailer "Agent:" */
	const char
		*subject; /* of the commit; cut to MR_TEAM_COMMIT_SUBJECT, newlines become blanks */
	const char *tool; /* for the trailer "Tool:", or NULL */
};

/* In the transaction of the change itself. */
MR_CHECK enum mr_code mr_team_archive_queue(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_archive_item *item);
/* Rows that wait, of all projects. */
MR_CHECK enum mr_code mr_team_archive_depth(struct mr_ctx *cx, struct mr_db *db, int64_t *out);

/* Archive what waits, until nothing does or `timeout_ms` is over (0: one round). Several processes
 * may do it at once: one works on a project, others pass it by, or wait when `wait` is set. */
MR_CHECK enum mr_code mr_team_archive_drain(struct mr_ctx *cx, struct mr_team *team, int timeout_ms,
	bool wait);
/* Start a thread that archives as changes come; mr_team_close() ends it. */
MR_CHECK enum mr_code mr_team_archive_start(struct mr_ctx *cx, struct mr_team *team);
/* Something was queued: the thread looks now. Never blocks. Without a thread nothing happens. */
void mr_team_archive_wake(struct mr_team *team);

/* The history of a project, to read: for whois and pages. Drains that project first. */
MR_CHECK enum mr_code mr_team_archive_open(struct mr_ctx *cx, struct mr_team *team,
	const char *slug, struct mr_history **out);

struct mr_team_commit {
	const char *hexsha; /* 12 digits */
	const char *summary;
	int64_t authored_ts;
};
struct mr_team_commits {
	struct mr_team_commit *items;
	size_t len;
};
/* The newest commits that touch this agent's directory or carry its trailer. */
MR_CHECK enum mr_code mr_team_archive_commits_of(struct mr_ctx *cx, struct mr_team *team,
	const char *slug, const char *agent, size_t limit, struct mr_team_commits *out);
