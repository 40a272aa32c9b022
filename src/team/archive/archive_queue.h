/*
 * team/archive/archive_queue.h - the queue of the archive: a row for each change that is not
 * archived yet.
 *
 * Everything that changes what people may audit queues here, and only the archive reads it; so this
 * header stands below all of them (the rows are in archive_sql.c).
 */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

enum mr_team_archive_kind {
	MR_TEAM_ARCHIVE_PROFILE,     /* ref: an agent; agents/<Name>/profile.json */
	MR_TEAM_ARCHIVE_DELETED,     /* ref: an agent, whose row may be gone; also deleted.json;
					`name` is its name, `data` its deletion_stats */
	MR_TEAM_ARCHIVE_MESSAGE,     /* ref: a message of this project: canonical, outbox, digest,
					attachments, and the inboxes of this project's recipients */
	MR_TEAM_ARCHIVE_INBOX,       /* ref: a message from elsewhere: inboxes of this project's
					recipients, and digest */
	MR_TEAM_ARCHIVE_RESERVATION, /* name: a pattern; all its leases as they now stand */
	MR_TEAM_ARCHIVE_SLOT,        /* ref: a build slot */
	MR_TEAM_ARCHIVE_LINKS,       /* ref: an agent; agents/<Name>/contacts.json */
	MR_TEAM_ARCHIVE_PROJECT,     /* ref: this project; project.json */
	MR_TEAM_ARCHIVE_REMOVED,     /* data: a JSON list of paths to remove */
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
	const char *data; /* JSON, or NULL; see the kinds */
	int64_t queued_ts; /* when; set by queueing */
};

/* In the transaction of the change itself. */
MR_CHECK enum mr_code mr_team_archive_queue(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_archive_item *item);
/* Rows that wait, of all projects. */
MR_CHECK enum mr_code mr_team_archive_depth(struct mr_ctx *cx, struct mr_db *db, int64_t *out);
