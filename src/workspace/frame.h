/*
 * workspace/frame.h - a workspace that a command works in: found, locked, and its time.
 *
 * A command opens the workspace once, for reading (any number at a time) or for writing (alone),
 * and nobody waits: a conflict is workspace_locked. All paths in this part are relative to
 * `work->dir`.
 */
#pragma once

#include "base/ctx.h"
#include "base/fs.h"
#include "text/value.h"

#include <time.h>

struct mr_db;
struct mr_work_config;
struct mr_work_holds;
struct mr_work_contacts;
struct mr_work_push_items;
struct mr_work_suggestions;
struct mr_work_template_cache;
struct mr_work_survey;

enum {
	MR_WORK_DOCUMENT_BYTES = 64 << 20, /* the largest JSON or Markdown file of a workspace */
	MR_WORK_LIST_MAX = 4 << 20,        /* names in one directory */
};

enum mr_work_access {
	MR_WORK_READ,     /* shared with other readers */
	MR_WORK_WRITE,    /* alone */
	MR_WORK_UNLOCKED, /* without a lock: for status, which never fails on it */
};

struct mr_work_change;

struct mr_work {
	int dir;
	const char *root; /* absolute */
	enum mr_work_access access;
	int lock;                /* the lock file, or -1 */
	bool is_resting;         /* the lock is given up for a while */
	struct timespec written; /* the lock file's time: every writer puts it forward */
	int64_t now_us;  /* when the command began, in whole seconds: all its times are this one */
	const char *now; /* the same, RFC 3339 */
	unsigned events; /* audit events of this command so far */
	bool has_committed; /* a change of this command has happened, whatever came after it */
	/* When set, it is asked once what else belongs to the next change that is committed. */
	void (*add_to_change)(struct mr_work_change *change, void *arg);
	void *add_to_change_arg;
	const struct mr_work_config *config; /* NULL until mr_work_config_get() has loaded it */
	struct mr_db *index;                 /* NULL until mr_work_index_open() */
	bool index_is_new; /* it was made in this command: it cannot know what changed before */
	const char
		*index_aside; /* its file outside of the workspace, which goes with it, or NULL */
	/* When set, projections are not touched: what would be written or removed is listed. */
	struct mr_work_survey *survey;
	const struct mr_work_push_items *queue;        /* NULL until mr_work_queue_get() */
	struct mr_work_template_cache *templates;      /* NULL until one was rendered */
	const struct mr_work_contacts *contacts;       /* NULL until mr_work_contacts_get() */
	const struct mr_work_suggestions *suggestions; /* NULL until mr_work_suggestions_get() */
	const struct mr_work_holds *holds;             /* NULL until mr_work_holds_get() */
	struct mr_arena *holds_arena;                  /* that they are in, or NULL */
	struct mr_work_kept *kept;                     /* messages just taken in, or NULL */
	struct mr_work_unsearched *unsearched;         /* rows of the index, or NULL */
};

/* The nearest directory with a workspace, from `from` (absolute) upwards; else
 * workspace_not_found. */
MR_CHECK enum mr_code mr_work_find(struct mr_ctx *cx, const char *from, const char **out_root);
/* Open the workspace of that directory, else workspace_not_found. `*out` lives in the arena; close
 * it. */
MR_CHECK enum mr_code mr_work_open(struct mr_ctx *cx, const char *root, enum mr_work_access access,
	struct mr_work **out);
/*
 * A command that waits for something else than the workspace lets others write meanwhile: it rests,
 * and goes on once it has the lock again. When another command has written, everything that was
 * loaded is forgotten and loaded anew when it is needed, and `*out_changed` (or NULL) is true.
 * While it rests, nothing may be read or written but through `work->dir`. workspace_locked when
 * another command keeps the lock for longer than a minute.
 */
void mr_work_rest(struct mr_work *work);
/* What follows happens now: for a command that rested for long before it had anything to do. */
void mr_work_set_now(struct mr_ctx *cx, struct mr_work *work);
MR_CHECK enum mr_code mr_work_resume(struct mr_ctx *cx, struct mr_work *work, bool *out_changed);
/* For MR_CLEANUP; NULL is fine. */
void mr_work_closep(struct mr_work **work);
/* Give up the lock and handles. NULL is fine. */
void mr_work_close(struct mr_work *work);

/* --- files below the workspace; failures are store_errors --- */

/* A whole file. */
MR_CHECK enum mr_code mr_work_read(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_bytes *out);
/* The same when it is there; `out->data` is NULL when it is not. */
MR_CHECK enum mr_code mr_work_read_opt(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_bytes *out);
/* A JSON document; `*out` is NULL when the file is not there. */
MR_CHECK enum mr_code mr_work_read_json(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const struct mr_value **out);
/* The names in a directory, sorted; none when it is not there. */
MR_CHECK enum mr_code mr_work_list(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_texts *out);
/* Is there a directory of that name? */
bool mr_work_is_dir(struct mr_work *work, const char *path);
/* What writing all projections anew would change, found without changing anything. */
struct mr_work_survey {
	struct mr_arena *arena;
	struct mr_texts written, removed; /* paths, in the order in which they were found */
	size_t written_cap, removed_cap;
};

/* Put a projection in place, unless it has these bytes already; `*out_written` may be NULL. Its
 * directory is made. Not for canonical files: those change through workspace/change.h. */
MR_CHECK enum mr_code mr_work_project(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_bytes bytes, bool *out_written);
/* Take a projection away; nothing there is success. `*out_removed` may be NULL. */
MR_CHECK enum mr_code mr_work_unproject(struct mr_ctx *cx, struct mr_work *work, const char *path,
	bool *out_removed);
/* A value as documents are written: indented, with a newline at the end; in the arena. Without
 * data when it would be longer than MR_WORK_DOCUMENT_BYTES. */
struct mr_bytes mr_work_pretty(struct mr_ctx *cx, const struct mr_value *value);
