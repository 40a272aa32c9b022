/* workspace/index_private.h - the tables of the index, for the files that make it up. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "workspace/collection.h"
#include "workspace/remote.h"

/* A message as the index keeps it. */
struct mr_work_row {
	const char *id, *rfc822;
	bool has_time;
	int64_t time_us;
	const char *subject, *from, *people, *body, *names;
	const char *email; /* the sender's bare address in lower case, or "" */
	bool is_outbound;
	int64_t attachments, bytes;
	int64_t live, missing; /* locations */
	struct mr_work_locations places;
	const char *remote_stamp;   /* of the sidecar, or "" */
	struct mr_texts refers;     /* normalised ids of its reply headers */
	struct mr_texts written_to; /* of mail that went out: addresses as `email` is */
};

/* Make the tables, unless they are there in the present form; another form is emptied. */
MR_CHECK enum mr_code mr_work_index_schema(struct mr_ctx *cx, struct mr_db *db);

struct mr_work_stamp {
	const char *path, *stamp;
};
struct mr_work_stamps {
	struct mr_work_stamp *items;
	size_t len;
};
/* All of them, by path. */
MR_CHECK enum mr_code mr_work_index_stamps(struct mr_ctx *cx, struct mr_db *db,
	struct mr_work_stamps *out);
MR_CHECK enum mr_code mr_work_index_set_stamp(struct mr_ctx *cx, struct mr_db *db, const char *path,
	const char *stamp);
MR_CHECK enum mr_code mr_work_index_drop_stamp(struct mr_ctx *cx, struct mr_db *db,
	const char *path);

/* What was counted over all messages or places, as text, until one of them or a list changes; NULL
 * when it is not known. */
MR_CHECK enum mr_code mr_work_index_fact(struct mr_ctx *cx, struct mr_db *db, const char *what,
	const char **out);
MR_CHECK enum mr_code mr_work_index_keep_fact(struct mr_ctx *cx, struct mr_db *db, const char *what,
	const char *value);

/* The message ids with the stamps of their sidecars, by id. */
MR_CHECK enum mr_code mr_work_index_ids(struct mr_ctx *cx, struct mr_db *db,
	struct mr_work_stamps *out);
/* Put a message in place of what is known of it; its status is found anew. `*out_n` is its row, to
 * be noted with a `cx` that lives as long as the transaction: before the commit
 * mr_work_index_flush() adds the words of all noted rows, since SQLite writes the full-text index
 * out before each other change. */
MR_CHECK enum mr_code mr_work_index_put(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_row *row, int64_t *out_n);
MR_CHECK enum mr_code mr_work_index_drop(struct mr_ctx *cx, struct mr_work *work, const char *id);
void mr_work_index_note_row(struct mr_ctx *cx, struct mr_work *work, int64_t n);
MR_CHECK enum mr_code mr_work_index_flush(struct mr_ctx *cx, struct mr_work *work);
/* After a transaction was rolled back. */
void mr_work_index_forget_rows(struct mr_work *work);

/* A list's members in place of what is known of it; the statuses of all concerned are found anew.
 * With `mark` the messages that came to it or left it are marked as behind. */
MR_CHECK enum mr_code mr_work_index_put_collection(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_work_collection *collection, bool mark);
MR_CHECK enum mr_code mr_work_index_drop_collection(struct mr_ctx *cx, struct mr_db *db,
	const char *path, bool mark);

/* The messages that have a sidecar, with its stamp; at most `max` of them. Of more, `window` says
 * which: each number gives the next part, over and over. */
MR_CHECK enum mr_code mr_work_index_sidecars(struct mr_ctx *cx, struct mr_db *db, int64_t max,
	uint64_t window, struct mr_work_stamps *out);

/* A contact's card as it was when the index saw it. */
struct mr_work_seen_card {
	const char *path, *stamp;
	const char *emails; /* one a line */
};
struct mr_work_seen_cards {
	struct mr_work_seen_card *items;
	size_t len;
};
/* By path. */
MR_CHECK enum mr_code mr_work_index_cards(struct mr_ctx *cx, struct mr_db *db,
	struct mr_work_seen_cards *out);
MR_CHECK enum mr_code mr_work_index_put_card(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_work_seen_card *card);
MR_CHECK enum mr_code mr_work_index_drop_card(struct mr_ctx *cx, struct mr_db *db,
	const char *path);

/* Note that the views of a message, of all messages of a sender, or of a list are behind: a file
 * changed, and not by a command that refreshes them. */
MR_CHECK enum mr_code mr_work_index_mark_message(struct mr_ctx *cx, struct mr_db *db,
	const char *id);
MR_CHECK enum mr_code mr_work_index_mark_sender(struct mr_ctx *cx, struct mr_db *db,
	const char *email);
MR_CHECK enum mr_code mr_work_index_mark_list(struct mr_ctx *cx, struct mr_db *db,
	const char *path);

/* --- bringing it up to date --- */

struct mr_work_sync {
	struct mr_work_stamps known;
	bool is_opening;      /* what was edited in place is looked for once a command */
	bool is_building;     /* nothing is known yet: nothing can be behind */
	struct mr_texts seen; /* documents that are there */
	size_t seen_cap;
	bool is_writing; /* a transaction is open */
};
/* Open a transaction unless there is one: before the first writing. */
MR_CHECK enum mr_code mr_work_sync_write(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_sync *sync);
/* What changes when a file is replaced or edited, or a directory gets or loses a name; "" when it
 * is not there. `dir` is a directory that `path` is below. */
const char *mr_work_stamp_at(struct mr_arena *arena, int dir, const char *path);
/* Read a message again. */
MR_CHECK enum mr_code mr_work_index_reread(struct mr_ctx *cx, struct mr_work *work, const char *id);

/* index_follow.c: sidecars and cards that were edited where they stand. */
MR_CHECK enum mr_code mr_work_follow_sidecars(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_sync *sync);
MR_CHECK enum mr_code mr_work_follow_cards(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_sync *sync);
