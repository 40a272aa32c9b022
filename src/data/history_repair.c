/* data/history_repair.c - rewrites files of the work tree that a power loss tore. */
#include "base/fs.h"
#include "data/history_private.h"

#include <errno.h>
#include <sys/stat.h>

/* --- what was not synced --- */

struct since {
	struct mr_history_work work;
	size_t mended;
};

static void since_release(struct since *since)
{
	mr_history_work_close(&since->work);
}

static enum mr_code repair_one(void *arg, const char *path, const struct mr_bytes *data,
	struct mr_err *err)
{
	struct since *since = arg;
	bool mended = false;
	enum mr_code rc = MR_OK;

	if (data)
		rc = mr_history_work_repair(&since->work, path, data, &mended, err);
	since->mended += mended;
	return rc;
}

static enum mr_code repair_unsynced(struct mr_history *history, struct mr_history_repair *repair,
	struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct since since MR_CLEANUP(since_release) = { .work = { history, .dir = -1 } };
	struct mr_history_id durable, head;
	enum mr_code rc = mr_history_become_writer(history, history->lock_timeout_ms, &lock, err);

	if (!rc)
		rc = mr_history_work_durable(history, &durable, err);
	if (!rc)
		rc = mr_history_get_head(history, &head, err);
	if (!rc && head.hex[0] && !mr_str_eq(durable.hex, head.hex))
		rc = mr_history_diff(history, &durable, &head, repair_one, &since, err);
	repair->mended += since.mended;
	return rc;
}

/* --- all others --- */

/* Files of the newest commit, MR_HISTORY_REPAIR_FILES of them. */
struct slice {
	struct mr_history *history;
	struct mr_arena *arena;
	size_t first, seen;
	const char **suspects; /* missing, or too small */
	size_t len, room;
	bool full;
};

static bool is_suspect(struct slice *slice, const char *path, const struct mr_history_id *id)
{
	struct mr_err ignored;
	struct stat st;
	size_t size;

	if (fstatat(slice->history->work_dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT;
	return S_ISREG(st.st_mode) &&
		mr_history_blob_size(slice->history, id, &size, &ignored) == MR_OK &&
		(size_t)st.st_size < size;
}

static enum mr_code look_at(void *arg, const char *path, const struct mr_history_id *id,
	struct mr_err *err)
{
	struct slice *slice = arg;
	size_t number = slice->seen++;

	if (!id || number < slice->first)
		return MR_OK;
	slice->full = number >= slice->first + MR_HISTORY_REPAIR_FILES;
	if (slice->full)
		return mr_err_set(err, MR_ELIMIT, "the rest is for another call");
	if (!is_suspect(slice, path, id))
		return MR_OK;
	if (slice->len == slice->room) {
		const char **grown;

		slice->room = slice->room ? 2 * slice->room : 64;
		grown = mr_arena_array(slice->arena, slice->room, sizeof(*grown));
		for (size_t i = 0; i < slice->len; i++)
			grown[i] = slice->suspects[i];
		slice->suspects = grown;
	}
	slice->suspects[slice->len++] = mr_arena_strdup(slice->arena, path);
	return MR_OK;
}

/* Suspects are compared with what the newest commit has of them now. */
static enum mr_code repair_suspects(struct slice *slice, struct mr_history_repair *repair,
	struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_history *history = slice->history;
	struct since since MR_CLEANUP(since_release) = { .work = { history, .dir = -1 } };
	enum mr_code rc = MR_OK;

	if (slice->len == 0)
		return MR_OK;
	rc = mr_history_become_writer(history, history->lock_timeout_ms, &lock, err);
	for (size_t i = 0; !rc && i < slice->len; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_bytes want;
		struct mr_err unread;

		if (mr_history_check_path(slice->suspects[i], &unread) ||
			mr_history_read(arena, history, NULL, slice->suspects[i],
				MR_HISTORY_FILE_BYTES, &want, &unread))
			continue; /* it is gone by now, or cannot be read: a check says so */
		rc = repair_one(&since, slice->suspects[i], &want, err);
	}
	repair->mended += since.mended;
	return rc;
}

static enum mr_code repair_slice(struct mr_history *history, struct mr_history_repair *repair,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct slice slice = { .history = history, .arena = arena, .first = repair->at };
	struct mr_history_id head;
	enum mr_code rc = mr_history_get_head(history, &head, err);

	repair->more = false;
	if (rc || !head.hex[0])
		return rc;
	rc = mr_history_files_of(history, &head, look_at, &slice, err);
	if (rc && !slice.full)
		return rc;
	rc = repair_suspects(&slice, repair, err);
	repair->at += MR_HISTORY_REPAIR_FILES;
	repair->more = slice.full && !rc;
	return rc;
}

enum mr_code mr_history_repair_some(struct mr_history *history, struct mr_history_repair *repair,
	struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	repair->more = false;
	if (repair->at == 0)
		rc = repair_unsynced(history, repair, err);
	/* It is not known what was synced: then all files are checked below, by their size. */
	if (rc && rc != MR_EBUSY)
		rc = MR_OK;
	return rc || history->is_adopted ? rc : repair_slice(history, repair, err);
}
