/* data/history.c - everything that needs the git library: ids, objects, the branch, the index. */
#include "data/history.h"

#include "base/crash.h"
#include "base/fs.h"
#include "data/history_private.h"

#include <errno.h>
#include <git2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	GIT_CACHE_BYTES = 16 << 20, /* we keep our own; this is the library's for all handles */
	MOVES_BEFORE_REOPEN = 64,
	INDEX_BYTES = 1 << 30,
};

static const char INDEX_TEMP[] = "index.tmp";

/* --- the library --- */

/* The options belong to the process; what the user has in ~/.gitconfig must not reach the archive.
 */
static void start_library(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_PROGRAMDATA };

	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)GIT_CACHE_BYTES);
	for (size_t i = 0; i < MR_LEN(levels); i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

/* The library's message is gone with its next call: copy it at once. */
static enum mr_code git_fail(struct mr_err *err, const struct mr_history *history, int rc,
	const char *what)
{
	const git_error *last = git_error_last();
	const char *why = last && last->message ? last->message : "no reason given";
	int klass = last ? last->klass : 0;

	if (rc == GIT_EOWNER)
		return mr_err_set(err, MR_EPERM, "archive %s: %s: it belongs to another user",
			history->path, what);
	if (klass == GIT_ERROR_OS || klass == GIT_ERROR_FILESYSTEM)
		return mr_err_set(err, MR_EIO, "archive %s: %s: %s", history->path, what, why);
	return mr_err_set(err, MR_EFORMAT,
		"archive %s is damaged: %s: %s; look with 'git fsck', or move it away to have it "
		"made anew",
		history->path, what, why);
}

static struct mr_oid from_git(const git_oid *oid)
{
	struct mr_oid out;

	memcpy(out.bytes, oid->id, MR_OID_BYTES);
	return out;
}

static git_oid to_git(const struct mr_oid *oid)
{
	git_oid out;

	memcpy(out.id, oid->bytes, MR_OID_BYTES);
	return out;
}

static void index_freep(git_index **index)
{
	git_index_free(*index);
}

static void tree_freep(git_tree **tree)
{
	git_tree_free(*tree);
}

static void object_freep(git_odb_object **object)
{
	git_odb_object_free(*object);
}

void mr_history_close_repository(struct mr_history *history)
{
	git_odb_free(history->odb);
	git_repository_free(history->repo);
	history->odb = NULL;
	history->repo = NULL;
}

enum mr_code mr_history_open_repository(struct mr_history *history, struct mr_err *err)
{
	int rc;

	pthread_once(&library_once, start_library);
	rc = git_repository_open_ext(&history->repo, history->path, GIT_REPOSITORY_OPEN_NO_SEARCH,
		NULL);
	if (rc < 0)
		return git_fail(err, history, rc, "cannot open it");
	if (git_repository_is_bare(history->repo))
		return mr_err_set(err, MR_ECONFLICT,
			"%s holds a bare repository, which has no work tree to write files to",
			history->path);
	rc = git_repository_odb(&history->odb, history->repo);
	if (rc < 0)
		return git_fail(err, history, rc, "cannot open its objects");
	return MR_OK;
}

/* --- objects kept in memory --- */

static void drop(struct mr_history *history, struct mr_history_cached *cached)
{
	history->cache_bytes -= cached->len;
	free(cached->data);
	*cached = (struct mr_history_cached){ 0 };
}

static struct mr_history_cached *find_cached(struct mr_history *history, const struct mr_oid *id)
{
	for (size_t i = 0; i < MR_HISTORY_CACHED; i++) {
		if (history->cache[i].data && mr_oid_eq(&history->cache[i].id, id))
			return &history->cache[i];
	}
	return NULL;
}

/* The place used least recently; an empty one was never used. */
static struct mr_history_cached *oldest(struct mr_history *history, bool full)
{
	struct mr_history_cached *found = NULL;

	for (size_t i = 0; i < MR_HISTORY_CACHED; i++) {
		struct mr_history_cached *at = &history->cache[i];

		if ((at->data || !full) && (!found || at->used < found->used))
			found = at;
	}
	return found;
}

void mr_history_remember(struct mr_history *history, const struct mr_oid *id,
	enum mr_pack_kind kind, struct mr_bytes data)
{
	struct mr_history_cached *place;
	uint8_t *copy;

	if (find_cached(history, id) || data.len > MR_HISTORY_CACHE_BYTES / 4)
		return;
	copy = malloc(data.len + 1);
	if (!copy)
		return;
	if (data.len)
		memcpy(copy, data.data, data.len);
	while (history->cache_bytes + data.len > MR_HISTORY_CACHE_BYTES)
		drop(history, oldest(history, true));
	place = oldest(history, false);
	if (place->data)
		drop(history, place);
	*place = (struct mr_history_cached){ .id = *id,
		.kind = kind,
		.data = copy,
		.len = data.len,
		.used = ++history->cache_clock };
	history->cache_bytes += data.len;
}

/* --- reading --- */

enum mr_code mr_history_get(struct mr_arena *arena, struct mr_history *history,
	const struct mr_oid *id, enum mr_pack_kind kind, struct mr_bytes *out, struct mr_err *err)
{
	git_odb_object *object MR_CLEANUP(object_freep) = NULL;
	struct mr_history_cached *cached = find_cached(history, id);
	git_oid oid = to_git(id);
	struct mr_bytes raw;
	uint8_t *data;
	int rc;

	if (cached && cached->kind == kind) {
		cached->used = ++history->cache_clock;
		raw = mr_bytes_of(cached->data, cached->len);
	} else {
		rc = git_odb_read(&object, history->odb, &oid);
		if (rc < 0)
			return git_fail(err, history, rc, "cannot read an object");
		if ((int)git_odb_object_type(object) != (int)kind)
			return mr_err_set(err, MR_EFORMAT,
				"archive %s is damaged: object %s is of another kind",
				history->path, git_oid_tostr_s(&oid));
		raw = mr_bytes_of(git_odb_object_data(object), git_odb_object_size(object));
		if (kind != MR_PACK_BLOB)
			mr_history_remember(history, id, kind, raw);
	}
	data = mr_arena_alloc(arena, raw.len + 1);
	if (raw.len)
		memcpy(data, raw.data, raw.len);
	*out = mr_bytes_of(data, raw.len);
	return MR_OK;
}

enum mr_code mr_history_get_size(struct mr_history *history, const struct mr_oid *id, size_t *out,
	struct mr_err *err)
{
	git_oid oid = to_git(id);
	git_object_t type;
	int rc = git_odb_read_header(out, &type, history->odb, &oid);

	if (rc < 0)
		return git_fail(err, history, rc, "cannot read an object");
	return MR_OK;
}

enum mr_code mr_history_get_head(struct mr_history *history, struct mr_oid *out, struct mr_err *err)
{
	struct mr_oid head = { { 0 } };
	git_oid oid;
	int rc = git_reference_name_to_id(&oid, history->repo, MR_HISTORY_REF);

	if (rc < 0 && rc != GIT_ENOTFOUND)
		return git_fail(err, history, rc, "cannot read branch main");
	if (rc == 0)
		head = from_git(&oid);
	if (!mr_oid_eq(&head, &history->last_head)) {
		history->last_head = head;
		history->moves++;
	}
	/* Merged packs stay open, and on disk, in a handle that has read from them. */
	if (history->moves >= MOVES_BEFORE_REOPEN) {
		enum mr_code code;

		mr_history_close_repository(history);
		code = mr_history_open_repository(history, err);
		if (code)
			return code;
		history->moves = 0;
	}
	*out = head;
	return MR_OK;
}

enum mr_code mr_history_find_commit(struct mr_history *history, const char *text,
	struct mr_oid *out, struct mr_err *err)
{
	git_object_t type;
	struct mr_oid id;
	git_oid oid;
	size_t size;
	enum mr_code code = mr_history_get_head(history, &id, err);
	int rc;

	if (code)
		return code;
	if (!text || strcmp(text, "HEAD") == 0) {
		if (mr_oid_is_zero(&id))
			return mr_err_set(err, MR_ENOTFOUND, "archive %s has no commits yet",
				history->path);
		*out = id;
		return MR_OK;
	}
	if (strlen(text) != MR_HISTORY_ID_BYTES - 1 || !mr_oid_parse(text, &id))
		return mr_err_set(err, MR_EINVAL,
			"\"%s\" is no commit id: 40 hex digits are needed", text);
	oid = to_git(&id);
	rc = git_odb_read_header(&size, &type, history->odb, &oid);
	if (rc == GIT_ENOTFOUND)
		return mr_err_set(err, MR_ENOTFOUND, "archive %s has no commit %s", history->path,
			text);
	if (rc < 0)
		return git_fail(err, history, rc, "cannot read an object");
	if (type != GIT_OBJECT_COMMIT)
		return mr_err_set(err, MR_ENOTFOUND, "%s in archive %s is not a commit", text,
			history->path);
	*out = id;
	return MR_OK;
}

enum mr_code mr_history_hash(struct mr_bytes data, enum mr_pack_kind kind, struct mr_oid *out,
	struct mr_err *err)
{
	git_oid oid;

	/* The library's SHA-1 notices inputs made to collide, and refuses them. */
	if (git_odb_hash(&oid, data.len ? (const void *)data.data : "", data.len,
		    (git_object_t)kind) < 0)
		return mr_err_set(err, MR_EINVAL, "the bytes cannot be hashed");
	*out = from_git(&oid);
	return MR_OK;
}

enum mr_code mr_history_head(struct mr_history *history, struct mr_history_id *out,
	struct mr_err *err)
{
	struct mr_oid head;
	enum mr_code rc = mr_history_find_commit(history, NULL, &head, err);

	if (!rc)
		mr_oid_format(&head, out->hex);
	return rc;
}

/* --- the index --- */

/* Start from git's own index, for what it knows about files; a broken one is made anew. */
static enum mr_code open_index(struct mr_history *history, const char *path, git_index **out,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes bytes;
	struct mr_err ignored;
	int rc;

	if (!mr_fs_read(arena, history->git_dir, "index", INDEX_BYTES, &bytes, &ignored) &&
		!mr_history_temp_write(history, INDEX_TEMP, bytes, 0666, false, &ignored) &&
		git_index_open(out, path) == 0)
		return MR_OK;
	unlinkat(history->own_dir, INDEX_TEMP, 0);
	rc = git_index_open(out, path);
	return rc < 0 ? git_fail(err, history, rc, "cannot make an index") : MR_OK;
}

static enum mr_code write_index(struct mr_history *history, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	git_index *index MR_CLEANUP(index_freep) = NULL;
	git_tree *tree MR_CLEANUP(tree_freep) = NULL;
	const char *path = mr_arena_printf(arena, "%s/.git/mailroom/%s", history->path, INDEX_TEMP);
	struct mr_oid head, id;
	git_oid oid;
	enum mr_code code = mr_history_get_head(history, &head, err);
	int rc = 0;

	if (!code)
		code = mr_history_tree_of(history, &head, &id, err);
	if (!code)
		code = open_index(history, path, &index, err);
	if (code)
		return code;
	oid = to_git(&id);
	if (mr_oid_is_zero(&head))
		rc = git_index_clear(index);
	else if ((rc = git_tree_lookup(&tree, history->repo, &oid)) == 0)
		rc = git_index_read_tree(index, tree);
	if (rc == 0)
		rc = git_index_write(index);
	if (rc < 0)
		return git_fail(err, history, rc, "cannot write its index");
	mr_crash_point("history.index.written");
	if (renameat(history->own_dir, INDEX_TEMP, history->git_dir, "index") != 0)
		return mr_err_os(err, errno, "cannot replace %s/.git/index", history->path);
	mr_crash_point("history.index.named");
	return MR_OK;
}

enum mr_code mr_history_sync_index(struct mr_history *history, struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = mr_history_lock(history, history->lock_timeout_ms, &lock, err);

	if (!rc)
		rc = mr_history_gitlock_take(history, MR_HISTORY_INDEX_LOCK, err);
	if (rc)
		return rc;
	rc = write_index(history, err);
	mr_history_gitlock_release(history, MR_HISTORY_INDEX_LOCK);
	return rc;
}
