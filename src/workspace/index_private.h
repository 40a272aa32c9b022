/* workspace/index_private.h - the tables of the index, for the files that make it up. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "workspace/collection.h"

/* A message as the index keeps it. */
struct mr_work_row {
	const char *id, *rfc822;
	bool has_time;
	int64_t time_us;
	const char *subject, *from, *people, *body, *names;
	bool is_outbound;
	int64_t attachments, bytes;
	int64_t live, missing;    /* locations */
	const char *remote_stamp; /* of the sidecar, or "" */
	struct mr_texts refers;   /* normalised ids of its reply headers */
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

/* The message ids with the stamps of their sidecars, by id. */
MR_CHECK enum mr_code mr_work_index_ids(struct mr_ctx *cx, struct mr_db *db,
	struct mr_work_stamps *out);
/* Put a message in place of what is known of it; its status is found anew. */
MR_CHECK enum mr_code mr_work_index_put(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_work_row *row);
MR_CHECK enum mr_code mr_work_index_drop(struct mr_ctx *cx, struct mr_db *db, const char *id);

/* A list's members in place of what is known of it; the statuses of all concerned are found anew.
 */
MR_CHECK enum mr_code mr_work_index_put_collection(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_work_collection *collection);
MR_CHECK enum mr_code mr_work_index_drop_collection(struct mr_ctx *cx, struct mr_db *db,
	const char *path);
