/*
 * team/archive/rebuild_origin.c - Decides for each file of an archive whether a rebuild reads it
 * from the commit or from the work tree.
 */
#include "team/archive/rebuild_origin.h"

#include "base/fs.h"
#include "team/archive/archive_document.h"
#include "team/layout.h"
#include "text/json.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
	const char *path;
	struct mr_history_id id; /* of its blob; "" when it is in no commit */
};

struct mr_team_origin {
	struct mr_arena *arena;
	int dir;
	const char *slug;
	struct mr_team_problems *problems;
	struct mr_history *history; /* or NULL */
	int64_t commit_s;           /* when the commit was made */
	struct entry *entries;      /* sorted by path */
	size_t len, room;
	size_t committed; /* how many were found in the commit */
	bool is_uncertain;
};

static const char *place(struct mr_team_origin *origin, const char *path)
{
	return *path ? mr_arena_printf(origin->arena, "%s/%s", origin->slug, path) : origin->slug;
}

/* --- which files there are --- */

static bool is_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 && path[len] == '/';
}

/* Does a rebuild need this file? Inboxes and threads only repeat what others contain. */
static bool is_wanted(const char *path)
{
	const char *name = path + strlen(MR_TEAM_AGENTS_DIR "/");
	const char *rest;

	if (mr_str_eq(path, MR_TEAM_PROJECT_FILE))
		return true;
	if (is_below(path, MR_TEAM_MESSAGES_DIR))
		return mr_str_ends(path, ".md") &&
			!is_below(path, MR_TEAM_MESSAGES_DIR "/" MR_TEAM_THREADS_NAME);
	if (is_below(path, MR_TEAM_RESERVATIONS_DIR) || is_below(path, MR_TEAM_SLOTS_DIR))
		return mr_str_ends(path, ".json");
	if (!is_below(path, MR_TEAM_AGENTS_DIR) || !(rest = strchr(name, '/')))
		return false;
	return is_below(rest + 1, "outbox") ? mr_str_ends(path, ".md")
					    : !strchr(rest + 1, '/') && mr_str_ends(path, ".json");
}

static void add(struct mr_team_origin *origin, const char *path, const struct mr_history_id *id)
{
	if (origin->len == origin->room) {
		struct entry *grown;

		origin->room = origin->room ? 2 * origin->room : 1024;
		grown = mr_arena_array(origin->arena, origin->room, sizeof(*grown));
		if (origin->len)
			memcpy(grown, origin->entries, origin->len * sizeof(*grown));
		origin->entries = grown;
	}
	origin->entries[origin->len++] =
		(struct entry){ .path = mr_arena_strdup(origin->arena, path), .id = *id };
}

static int path_order(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return strcmp(left->path, right->path);
}

static const struct entry *find(const struct mr_team_origin *origin, const char *path, size_t among)
{
	const struct entry key = { .path = path };

	return among ? bsearch(&key, origin->entries, among, sizeof(key), path_order) : NULL;
}

static enum mr_code see_committed(void *arg, const char *path, const struct mr_history_id *id,
	struct mr_err *err)
{
	struct mr_team_origin *origin = arg;

	if (!id) {
		origin->is_uncertain = true;
		mr_team_problems_add(origin->problems, "archive", place(origin, path),
			"the newest commit's directory cannot be read, and is taken from the work "
			"tree: %s",
			err->msg);
	} else if (is_wanted(path)) {
		add(origin, path, id);
	}
	return MR_OK;
}

static bool is_looked_into(const struct mr_fs_entry *directory)
{
	static const char *const wanted[] = { MR_TEAM_AGENTS_DIR, MR_TEAM_MESSAGES_DIR,
		MR_TEAM_RESERVATIONS_DIR, MR_TEAM_SLOTS_DIR };

	for (size_t i = 0; directory->depth == 0 && i < MR_LEN(wanted); i++) {
		if (mr_str_eq(directory->name, wanted[i]))
			return true;
	}
	return directory->depth > 0 &&
		!(directory->depth == 2 && mr_str_eq(directory->name, "inbox")) &&
		!mr_str_eq(directory->path, MR_TEAM_MESSAGES_DIR "/" MR_TEAM_THREADS_NAME);
}

static enum mr_fs_next see_file(void *arg, const struct mr_fs_entry *entry)
{
	static const struct mr_history_id none = { "" };
	struct mr_team_origin *origin = arg;

	if (entry->type == DT_DIR)
		return is_looked_into(entry) ? MR_FS_GO_ON : MR_FS_SKIP;
	if (entry->type == DT_REG && is_wanted(entry->path) &&
		!find(origin, entry->path, origin->committed))
		add(origin, entry->path, &none);
	return MR_FS_GO_ON;
}

/* The commit that is read; without one only the work tree is. */
static enum mr_code see_commit(struct mr_ctx *cx, struct mr_team_origin *origin)
{
	struct mr_history_salvage found;
	enum mr_code rc = mr_history_salvage(origin->arena, origin->history, &found, &cx->err);

	if (rc)
		return rc;
	if (found.why) {
		origin->is_uncertain = true;
		mr_team_problems_add(origin->problems, "archive", origin->slug,
			"%s. %s; `mailroom team rebuild --from database` makes the archive anew",
			found.why,
			found.id.hex[0] ? mr_arena_printf(cx->arena,
						  "Its newest readable commit, %.12s, was read "
						  "instead: later ones are missing",
						  found.id.hex)
					: "No commit can be read: only the work tree was");
	}
	origin->commit_s = found.time_us / 1000000;
	return found.id.hex[0]
		? mr_history_files_of(origin->history, &found.id, see_committed, origin, &cx->err)
		: MR_OK;
}

static enum mr_code see_all(struct mr_ctx *cx, struct mr_team_origin *origin)
{
	enum mr_code rc = origin->history ? see_commit(cx, origin) : MR_OK;

	if (rc == MR_EFORMAT) {
		origin->is_uncertain = true;
		mr_team_problems_add(origin->problems, "archive", origin->slug, "%s", cx->err.msg);
		rc = MR_OK;
	}
	if (rc)
		return rc;
	if (origin->len)
		qsort(origin->entries, origin->len, sizeof(*origin->entries), path_order);
	origin->committed = origin->len;
	rc = mr_fs_walk(origin->dir, ".", MR_TEAM_TREE_DEPTH, see_file, origin, &cx->err);
	if (origin->len > origin->committed)
		qsort(origin->entries, origin->len, sizeof(*origin->entries), path_order);
	return rc;
}

enum mr_code mr_team_origin_open(struct mr_ctx *cx, const char *directory, const char *slug,
	struct mr_team_problems *problems, struct mr_team_origin **out)
{
	struct mr_history_options options = { .mode = MR_HISTORY_READ };
	struct mr_team_origin *origin;
	int dir = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, directory, &dir, &cx->err);

	if (rc)
		return rc;
	origin = calloc(1, sizeof(*origin));
	if (!origin)
		abort();
	*origin = (struct mr_team_origin){ .arena = mr_arena_new(),
		.dir = dir,
		.problems = problems };
	origin->slug = mr_arena_strdup(origin->arena, slug);
	rc = mr_history_open(directory, &options, cx->clock, &origin->history, &cx->err);
	if (rc == MR_ENOTFOUND || rc == MR_EFORMAT || rc == MR_ECONFLICT || rc == MR_EIO) {
		origin->is_uncertain = rc != MR_ENOTFOUND;
		mr_team_problems_add(problems, "archive", slug, "only its files were read: %s",
			cx->err.msg);
		rc = MR_OK;
	}
	if (!rc)
		rc = see_all(cx, origin);
	if (rc) {
		mr_team_origin_close(origin);
		return rc;
	}
	*out = origin;
	return MR_OK;
}

void mr_team_origin_close(struct mr_team_origin *origin)
{
	if (!origin)
		return;
	mr_history_close(origin->history);
	mr_fs_closep(&origin->dir);
	mr_arena_free(origin->arena);
	free(origin);
}

bool mr_team_origin_is_uncertain(const struct mr_team_origin *origin)
{
	return origin->is_uncertain;
}

/* --- reading --- */

static bool is_record(const char *path)
{
	return mr_str_ends(path, ".json");
}

/* Is this file complete? */
static enum mr_code check_whole(struct mr_arena *arena, const char *path, struct mr_bytes bytes,
	struct mr_err *err)
{
	struct mr_team_document document;
	const struct mr_value *value;
	enum mr_code rc;

	if (is_record(path))
		return mr_json_parse(arena, bytes, NULL, &value, err);
	rc = mr_team_document_parse(arena, bytes, &document, err);
	if (!rc && document.uid && bytes.data[bytes.len - 1] != '\n')
		rc = mr_err_set(err, MR_EFORMAT, "it is cut off, and in no commit");
	return rc;
}

/* A record that somebody changed after the commit; false leaves `*out` as it is. */
static bool is_changed(struct mr_arena *arena, const struct mr_team_origin *origin,
	const struct entry *entry, struct mr_bytes *out)
{
	struct mr_bytes bytes;
	struct mr_err ignored;
	struct stat st;

	if (!is_record(entry->path) ||
		fstatat(origin->dir, entry->path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		!S_ISREG(st.st_mode) || st.st_mtim.tv_sec <= origin->commit_s ||
		mr_team_archive_file(arena, origin->dir, entry->path, &bytes, &ignored) ||
		mr_str_eq(mr_history_blob_id(bytes).hex, entry->id.hex) ||
		check_whole(arena, entry->path, bytes, &ignored))
		return false;
	*out = bytes;
	return true;
}

static enum mr_code read_committed(struct mr_arena *arena, const struct mr_team_origin *origin,
	const struct entry *entry, struct mr_bytes *out, struct mr_err *err)
{
	enum mr_code rc =
		mr_history_blob(arena, origin->history, &entry->id, MR_TEAM_FILE_BYTES, out, err);
	struct mr_bytes bytes;
	struct mr_err ignored;

	if (!rc || mr_team_archive_file(arena, origin->dir, entry->path, &bytes, &ignored) ||
		!mr_str_eq(mr_history_blob_id(bytes).hex, entry->id.hex))
		return rc;
	*out = bytes;
	return MR_OK;
}

enum mr_code mr_team_origin_read(struct mr_arena *arena, const struct mr_team_origin *origin,
	const char *path, struct mr_bytes *out, struct mr_err *err)
{
	const struct entry *entry = find(origin, path, origin->len);
	struct mr_bytes bytes;
	enum mr_code rc;

	if (!entry)
		return mr_err_set(err, MR_ENOTFOUND, "there is no %s", path);
	if (entry->id.hex[0]) {
		if (is_changed(arena, origin, entry, out))
			return MR_OK;
		return read_committed(arena, origin, entry, out, err);
	}
	rc = mr_team_archive_file(arena, origin->dir, path, &bytes, err);
	if (!rc)
		rc = check_whole(arena, path, bytes, err);
	if (!rc)
		*out = bytes;
	return rc == MR_ENOTFOUND ? mr_err_set(err, MR_EIO, "%s vanished", path) : rc;
}

/* The first entry that is not before `path`. */
static size_t first_from(const struct mr_team_origin *origin, const char *path)
{
	size_t low = 0, high = origin->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(origin->entries[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct mr_texts mr_team_origin_below(struct mr_arena *arena, const struct mr_team_origin *origin,
	const char *directory)
{
	const char *prefix = mr_arena_printf(arena, "%s/", directory);
	size_t first = first_from(origin, prefix), end = first;
	struct mr_texts paths = { 0 };

	while (end < origin->len && mr_str_starts(origin->entries[end].path, prefix))
		end++;
	paths.items = mr_arena_array(arena, end - first + 1, sizeof(*paths.items));
	while (first < end)
		paths.items[paths.len++] = origin->entries[first++].path;
	return paths;
}

struct mr_texts mr_team_origin_names(struct mr_arena *arena, const struct mr_team_origin *origin,
	const char *directory)
{
	struct mr_texts paths = mr_team_origin_below(arena, origin, directory), names = { 0 };
	size_t skip = strlen(directory) + 1;

	names.items = mr_arena_array(arena, paths.len + 1, sizeof(*names.items));
	for (size_t i = 0; i < paths.len; i++) {
		const char *name = paths.items[i] + skip;
		size_t len = strcspn(name, "/");
		const char *last = names.len ? names.items[names.len - 1] : "";

		if (strlen(last) != len || strncmp(last, name, len) != 0)
			names.items[names.len++] = mr_arena_strndup(arena, name, len);
	}
	return names;
}
