/* base/fs_tree.c - directories: made, listed, walked and removed with all that is in them. */
#include "base/buf.h"
#include "base/crash.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TREE_PATH_BYTES = 64 * 1024, /* longer than PATH_MAX: we go down by descriptors */
	REMOVE_DEPTH = 256,          /* each level holds a descriptor */
	REMOVE_PASSES = 8,           /* how often other processes may add entries while we remove */
	LIST_FIRST = 32,
};

static void close_dirp(DIR **stream)
{
	if (*stream)
		closedir(*stream);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *open_stream(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !stream) {
		int kept = errno;

		close(fd);
		errno = kept;
	}
	return stream;
}

/* The next entry, or NULL at the end and on failure, which is errno != 0. */
static struct dirent *next_entry(DIR *stream)
{
	struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(stream);
	} while (entry && is_dots(entry->d_name));
	return entry;
}

static bool is_dir(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static enum mr_code make_dir(int dir, const char *parent, const char *path, mode_t mode,
	struct mr_err *err)
{
	int failure = mr_crash_fail("fs.mkdir");
	enum mr_code rc;

	if (failure == 0 && mkdirat(dir, path, mode) == 0) {
		mr_crash_point("fs.make_dirs.made");
		rc = mr_fs_sync_dir(dir, parent, err);
		mr_crash_point("fs.make_dirs.synced");
		return rc;
	}
	failure = failure != 0 ? failure : errno;
	/* An existing directory is enough, whatever error creating it reported. */
	if (is_dir(dir, path))
		return MR_OK;
	if (failure == EEXIST)
		return mr_err_set(err, MR_EEXISTS, "%s exists and is not a directory", path);
	return mr_err_os(err, failure, "cannot make directory %s", path);
}

enum mr_code mr_fs_make_dirs(int dir, const char *path, mode_t mode, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const char *parent = path[0] == '/' ? "/" : ".";
	size_t len = strspn(path, "/");

	if (path[0] == '\0')
		return mr_err_set(err, MR_EINVAL, "a directory to make needs a name");
	if (is_dir(dir, path))
		return MR_OK;
	arena = mr_arena_new();
	while (path[len] != '\0') {
		const char *prefix;
		enum mr_code rc;

		len += strcspn(path + len, "/");
		prefix = mr_arena_strndup(arena, path, len);
		rc = make_dir(dir, parent, prefix, mode, err);
		if (rc)
			return rc;
		parent = prefix;
		len += strspn(path + len, "/");
	}
	return MR_OK;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum mr_code mr_fs_list(struct mr_arena *arena, int dir, const char *path, size_t max,
	struct mr_texts *out, struct mr_err *err)
{
	DIR *stream MR_CLEANUP(close_dirp) = open_stream(dir, path, 0);
	size_t len = 0, cap = LIST_FIRST;
	const char **names = mr_arena_array(arena, cap + 1, sizeof(*names));
	struct dirent *entry;

	if (!stream)
		return mr_err_os(err, errno, "cannot open directory %s", path);
	while ((entry = next_entry(stream))) {
		if (len == max)
			return mr_err_set(err, MR_ELIMIT, "directory %s has more than %zu entries",
				path, max);
		if (len == cap) {
			const char **more = mr_arena_array(arena, cap * 2 + 1, sizeof(*more));

			memcpy(more, names, len * sizeof(*names));
			names = more;
			cap *= 2;
		}
		names[len++] = mr_arena_strdup(arena, entry->d_name);
	}
	if (errno != 0)
		return mr_err_os(err, errno, "cannot read directory %s", path);
	names[len] = NULL;
	qsort(names, len, sizeof(*names), compare_names);
	*out = (struct mr_texts){ .items = names, .len = len };
	return MR_OK;
}

/* A path that grows and shrinks as a tree is gone through. */
static size_t path_push(struct mr_buf *path, const char *name)
{
	size_t before = path->len;

	if (before > 0)
		mr_buf_putc(path, '/');
	mr_buf_puts(path, name);
	return before;
}

static void path_pop(struct mr_buf *path, size_t before)
{
	path->len = before;
	if (path->data)
		path->data[before] = '\0';
}

struct walk {
	const char *start;
	struct mr_buf path; /* relative to the start */
	unsigned max_depth;
	mr_fs_visit *visit;
	void *arg;
	bool stopped;
};

/* DT_UNKNOWN when it has vanished. */
static unsigned char entry_type(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(st.st_mode);
}

static enum mr_code walk_dir(struct walk *walk, DIR *stream, unsigned depth, struct mr_err *err);

/* Go into a directory; it may have become something else or gone since its name was read. */
static enum mr_code walk_into(struct walk *walk, int dir, const char *name, unsigned depth,
	struct mr_err *err)
{
	DIR *stream MR_CLEANUP(close_dirp) = open_stream(dir, name, O_NOFOLLOW);

	if (stream)
		return walk_dir(walk, stream, depth, err);
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return MR_OK;
	return mr_err_os(err, errno, "cannot open directory %s/%s", walk->start,
		mr_buf_text(&walk->path));
}

static enum mr_code walk_entry(struct walk *walk, int dir, const struct dirent *dirent,
	unsigned depth, struct mr_err *err)
{
	struct mr_fs_entry entry = {
		.dir = dir,
		.name = dirent->d_name,
		.type = entry_type(dir, dirent),
		.depth = depth,
	};
	enum mr_fs_next next;
	enum mr_code rc;

	if (entry.type == DT_UNKNOWN)
		return MR_OK;
	if (depth > walk->max_depth)
		return mr_err_set(err, MR_ELIMIT, "%s is deeper than %u levels at %s", walk->start,
			walk->max_depth, mr_buf_text(&walk->path));
	rc = mr_buf_check(&walk->path, "a path", err);
	if (rc)
		return mr_err_wrap(err, "%s", walk->start);
	entry.path = mr_buf_text(&walk->path);
	next = walk->visit(walk->arg, &entry);
	walk->stopped = next == MR_FS_STOP;
	if (next != MR_FS_GO_ON || entry.type != DT_DIR)
		return MR_OK;
	return walk_into(walk, dir, dirent->d_name, depth + 1, err);
}

static enum mr_code walk_dir(struct walk *walk, DIR *stream, unsigned depth, struct mr_err *err)
{
	struct dirent *dirent;

	while (!walk->stopped && (dirent = next_entry(stream))) {
		size_t before = path_push(&walk->path, dirent->d_name);
		enum mr_code rc = walk_entry(walk, dirfd(stream), dirent, depth, err);

		if (rc)
			return rc;
		path_pop(&walk->path, before);
	}
	if (!walk->stopped && errno != 0)
		return mr_err_os(err, errno, "cannot read directory %s/%s", walk->start,
			mr_buf_text(&walk->path));
	return MR_OK;
}

enum mr_code mr_fs_walk(int dir, const char *path, unsigned max_depth, mr_fs_visit *visit,
	void *arg, struct mr_err *err)
{
	DIR *stream MR_CLEANUP(close_dirp) = open_stream(dir, path, 0);
	struct walk walk = {
		.start = path,
		.max_depth = max_depth,
		.visit = visit,
		.arg = arg,
	};
	enum mr_code rc;

	if (!stream)
		return mr_err_os(err, errno, "cannot open directory %s", path);
	mr_buf_init(&walk.path, TREE_PATH_BYTES);
	rc = walk_dir(&walk, stream, 0, err);
	mr_buf_release(&walk.path);
	return rc;
}

static enum mr_code remove_entry(int dir, const char *name, struct mr_buf *path, unsigned depth,
	struct mr_err *err);

static enum mr_code remove_contents(DIR *stream, struct mr_buf *path, unsigned depth,
	struct mr_err *err)
{
	struct dirent *entry;

	while ((entry = next_entry(stream))) {
		size_t before = path_push(path, entry->d_name);
		enum mr_code rc = remove_entry(dirfd(stream), entry->d_name, path, depth, err);

		if (rc)
			return rc;
		path_pop(path, before);
	}
	if (errno != 0)
		return mr_err_os(err, errno, "cannot read directory %s", mr_buf_text(path));
	return MR_OK;
}

/* Empty it and remove it; again when another process has added entries meanwhile. */
static enum mr_code remove_dir(int dir, const char *name, struct mr_buf *path, unsigned depth,
	struct mr_err *err)
{
	DIR *stream MR_CLEANUP(close_dirp) = open_stream(dir, name, O_NOFOLLOW);

	if (!stream)
		return errno == ENOENT
			? MR_OK
			: mr_err_os(err, errno, "cannot open directory %s", mr_buf_text(path));
	if (depth > REMOVE_DEPTH)
		return mr_err_set(err, MR_ELIMIT, "%s is deeper than %d levels", mr_buf_text(path),
			REMOVE_DEPTH);
	for (int i = 0; i < REMOVE_PASSES; i++) {
		enum mr_code rc = remove_contents(stream, path, depth + 1, err);

		if (rc)
			return rc;
		if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return MR_OK;
		if (errno != ENOTEMPTY && errno != EEXIST)
			break;
		rewinddir(stream);
	}
	return mr_err_os(err, errno, "cannot remove directory %s", mr_buf_text(path));
}

static enum mr_code remove_entry(int dir, const char *name, struct mr_buf *path, unsigned depth,
	struct mr_err *err)
{
	enum mr_code rc = mr_buf_check(path, "a path", err);
	int failure = mr_crash_fail("fs.remove");

	if (rc)
		return rc;
	if (failure == 0 && unlinkat(dir, name, 0) != 0)
		failure = errno;
	if (failure == EISDIR)
		rc = remove_dir(dir, name, path, depth, err);
	else if (failure != 0 && failure != ENOENT)
		rc = mr_err_os(err, failure, "cannot remove %s", mr_buf_text(path));
	if (!rc)
		mr_crash_point("fs.remove_all.removed");
	return rc;
}

enum mr_code mr_fs_remove_all(int dir, const char *path, struct mr_err *err)
{
	struct mr_buf shown MR_CLEANUP(mr_buf_release) = { 0 };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	mr_buf_init(&shown, TREE_PATH_BYTES);
	/* A slash at the end would follow a link; dots would remove what the caller stands on. */
	if (name[0] == '\0' || is_dots(name))
		return mr_err_set(err, MR_EINVAL, "\"%s\" does not end in a name to remove", path);
	mr_buf_puts(&shown, path);
	return remove_entry(dir, path, &shown, 0, err);
}
