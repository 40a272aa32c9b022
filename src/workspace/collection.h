/*
 * workspace/collection.h - lists of messages: cases, archive categories, and what was discarded.
 *
 * All have one shape of document. Where it stands says which kind it is; reading checks schema and
 * uid against that. Counts and the last message's time are real values at every writing.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"
#include "workspace/name.h"

enum mr_work_collection_kind {
	MR_WORK_ACTIVE_CASE,
	MR_WORK_ARCHIVED_CASE,
	MR_WORK_NOTIFICATION, /* a category of archived messages */
	MR_WORK_SPAM,
	MR_WORK_TRASH,
	MR_WORK_DELETED,
};

struct mr_work_item {
	const char *message_id;
	const char *summary; /* or NULL */
	const char *added;   /* RFC 3339 */
};

struct mr_work_collection {
	enum mr_work_collection_kind kind;
	const char *path;  /* its directory: "cases/open/c20260101001-x", "spam" */
	const char *group; /* of an active case, or NULL */
	const char *uid, *name;
	const char *status; /* "active", "archived", "spam", "trashed", "deleted_remote" */
	struct mr_texts tags;
	const char *created, *updated, *archived; /* RFC 3339, or NULL */
	const char *last_message;
	int64_t thread_count, attachment_count;
	struct mr_work_item *items;
	size_t len;
};

/* The document of a collection: "<path>/data/case.json". */
const char *mr_work_collection_file(struct mr_arena *arena, enum mr_work_collection_kind kind,
	const char *path);
/* Read it. A disposition that has no file yet is empty; a case or category without one is
 * case_metadata_invalid or archive_messages_invalid, as is a wrong schema. */
MR_CHECK enum mr_code mr_work_collection_load(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind kind, const char *path, struct mr_work_collection *out);
/* Write it as part of a change, `updated` being now, and mark its projections stale. */
MR_CHECK enum mr_code mr_work_collection_save(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection);
/* The document as it would be written. */
const struct mr_value *mr_work_collection_value(struct mr_ctx *cx,
	const struct mr_work_collection *collection);

/* The item of a message, or NULL. */
struct mr_work_item *mr_work_collection_item(const struct mr_work_collection *collection,
	const char *message_id);
/* Add a message at the end; `summary` may be NULL. False when it
 * is there already: only a summary that is not blank then replaces the old one. */
bool mr_work_collection_add(struct mr_ctx *cx, struct mr_work_collection *collection,
	const char *message_id, const char *summary, const char *added);
/* False when it was not there. */
bool mr_work_collection_remove(struct mr_work_collection *collection, const char *message_id);

/* --- finding them --- */

struct mr_work_place {
	enum mr_work_collection_kind kind;
	const char *path, *uid, *dir; /* dir: the last part of the path */
	const char *group;            /* of an active case */
};
struct mr_work_places {
	struct mr_work_place *items;
	size_t len;
};
/* All directories of that kind whose names have a uid, sorted by path; none are opened. */
MR_CHECK enum mr_code mr_work_places(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind kind, struct mr_work_places *out);
/*
 * The case that a ref names, active or archived (`kind` of the place says which), or the category.
 * case_not_found, archive_not_found, duplicate_case_uid, duplicate_archive_uid, invalid_request.
 */
MR_CHECK enum mr_code mr_work_place_find(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_kind kind, const char *ref, struct mr_work_place *out);
/* The same for commands that need an active case: case_archived with its details. */
MR_CHECK enum mr_code mr_work_active_case(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_place *out);
/* The next free uid of a date (YYYYMMDD), over active and archived. */
MR_CHECK enum mr_code mr_work_next_uid(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_kind kind, const char *date, const char **out);
/* Of dispositions: "spam", "trash", "deleted". */
const char *mr_work_disposition_dir(enum mr_work_collection_kind kind);
