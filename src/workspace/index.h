/*
 * workspace/index.h - a projection of all messages and lists into SQLite, so that commands cost
 * what they ask for and not what the workspace holds.
 *
 * .afmail/index.sqlite can be deleted at any time. Opening it compares the stamps (time, size and
 * inode) of directories, documents, sidecars and contacts' cards with those it was made from and
 * reads again what changed, also by hand or by another program. Where it cannot be written it is
 * made in a temporary file.
 */
#pragma once

#include "workspace/collection.h"
#include "workspace/frame.h"

/* Open it and bring it up to date, once a command; later calls return at once. */
MR_CHECK enum mr_code mr_work_index_open(struct mr_ctx *cx, struct mr_work *work);
/* Look again, after a change of this command. */
MR_CHECK enum mr_code mr_work_index_sync(struct mr_ctx *cx, struct mr_work *work);

enum mr_work_status {
	MR_WORK_IS_TRIAGE,
	MR_WORK_IS_CASE,
	MR_WORK_IS_ARCHIVED,
	MR_WORK_IS_SPAM,
	MR_WORK_IS_TRASHED,
	MR_WORK_IS_DELETED,
	MR_WORK_STATUS_COUNT,
};
extern const char *const mr_work_status_names[]; /* "triage", ..., NULL */

/* What lists and guards need of a message. */
struct mr_work_brief {
	const char *message_id;
	const char *rfc822; /* normalised Message-ID, or NULL */
	enum mr_work_status status;
	bool has_time;
	int64_t time_us; /* received, else sent */
	const char *subject, *from;
	bool is_outbound;
	int64_t attachment_count;
};
struct mr_work_briefs {
	struct mr_work_brief *items;
	size_t len;
};

/* message_not_found. */
MR_CHECK enum mr_code mr_work_index_message(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, struct mr_work_brief *out);
bool mr_work_index_has(struct mr_ctx *cx, struct mr_work *work, const char *message_id);
/* The messages with that normalised Message-ID. */
MR_CHECK enum mr_code mr_work_index_by_rfc822(struct mr_ctx *cx, struct mr_work *work,
	const char *rfc822, struct mr_texts *out_ids);
/* The messages that refer to this one, or that it refers to, sorted; without itself. */
MR_CHECK enum mr_code mr_work_index_related(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, struct mr_texts *out_ids);
/* The ids in the message's reply headers that are local messages, sorted. */
MR_CHECK enum mr_code mr_work_index_replied(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, struct mr_texts *out_ids);

/* Has a mail of this workspace gone to this bare address? Case does not matter. */
MR_CHECK enum mr_code mr_work_index_has_written(struct mr_ctx *cx, struct mr_work *work,
	const char *email, bool *out);

struct mr_work_member {
	enum mr_work_collection_kind kind;
	const char *path, *uid, *added;
};
struct mr_work_members {
	struct mr_work_member *items;
	size_t len;
};
/* The lists that hold a message, by path. */
MR_CHECK enum mr_code mr_work_index_members(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, struct mr_work_members *out);

/* The documents of lists that cannot be read. Their members are those of the last time they could,
 * or none when the index is younger than the damage. */
MR_CHECK enum mr_code mr_work_index_unread(struct mr_ctx *cx, struct mr_work *work,
	struct mr_texts *out);

/* Messages that match; what is NULL or 0 is not asked for. */
struct mr_work_filter {
	const char *status;  /* a name of mr_work_status_names */
	const char *from;    /* part of the sender, case ignored */
	const char *subject; /* part of it */
	int64_t since_us, until_us;
	const char *after_id; /* a page: those that follow this one in the order asked for */
	int64_t limit;        /* 0: all */
	bool newest_first;    /* else by id */
};
MR_CHECK enum mr_code mr_work_index_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_filter *filter, struct mr_work_briefs *out);

/* Where a message is on the server, or was when it was last asked. */
struct mr_work_place_row {
	const char *message_id;
	int64_t uid_validity, uid;
	const char *flags; /* joined by blanks */
	bool is_missing;
};
struct mr_work_place_rows {
	struct mr_work_place_row *items;
	size_t len;
};
/* Of one mailbox by validity and uid. */
MR_CHECK enum mr_code mr_work_index_places(struct mr_ctx *cx, struct mr_work *work,
	const char *mailbox_name, struct mr_work_place_rows *out);
/* Of one mail in it. */
MR_CHECK enum mr_code mr_work_index_places_at(struct mr_ctx *cx, struct mr_work *work,
	const char *mailbox_name, int64_t uid_validity, int64_t uid,
	struct mr_work_place_rows *out);
/* Those that are not missing: with this validity, and with another. */
MR_CHECK enum mr_code mr_work_index_place_counts(struct mr_ctx *cx, struct mr_work *work,
	const char *mailbox_name, int64_t uid_validity, int64_t *out_here, int64_t *out_other);

struct mr_work_counts {
	int64_t messages;
	int64_t by_status[MR_WORK_STATUS_COUNT];
	int64_t remote_missing; /* with a missing mark and no live location */
	int64_t bytes;          /* of all raw messages */
};
MR_CHECK enum mr_code mr_work_index_statuses(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_counts *out); /* how many of each status, and no more */
MR_CHECK enum mr_code mr_work_index_counts(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_counts *out);

/*
 * Messages that this command has just taken in, before their directory is looked at again: begin,
 * add each, say that all were added, and commit. What is asked between is answered with them. What
 * was not committed, after an undo or a crash, is found by the next command that opens the index.
 */
MR_CHECK enum mr_code mr_work_index_begin(struct mr_ctx *cx, struct mr_work *work);
MR_CHECK enum mr_code mr_work_index_add(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id);
MR_CHECK enum mr_code mr_work_index_added(struct mr_ctx *cx, struct mr_work *work);
MR_CHECK enum mr_code mr_work_index_commit(struct mr_ctx *cx, struct mr_work *work);
void mr_work_index_undo(struct mr_work *work);

/* Between these the index is only asked, and its file is locked once for all questions. */
MR_CHECK enum mr_code mr_work_index_hold(struct mr_ctx *cx, struct mr_work *work);
void mr_work_index_let_go(struct mr_work *work);

/* What has views that are behind the files they were made from, because a file was edited by hand
 * or by another program, or a command was killed: the index notices and remembers it until the next
 * refresh. */
struct mr_work_behind {
	struct mr_texts messages, collections;
};
MR_CHECK enum mr_code mr_work_index_behind(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_behind *out);
/* All of that was refreshed. */
MR_CHECK enum mr_code mr_work_index_caught_up(struct mr_ctx *cx, struct mr_work *work);
