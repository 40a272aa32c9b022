/* bridge/backup.c - Holds each part still and puts its files into the backup. */
#include "bridge/backup.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/freeze.h"
#include "team/freeze.h"
#include "team/layout.h"
#include "workspace/frame.h"
#include "workspace/layout.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 200, LINK_BYTES = MR_TAR_PATH_BYTES };

struct taking {
	struct mr_ctx *cx;
	struct mr_backup_file file;
	struct mr_backup_part *parts;
	size_t len;
};

static void close_taking(struct taking *t)
{
	mr_backup_file_close(&t->file);
}

/* What of a part's files belongs into the backup. */
typedef bool has_path(const void *arg, const char *path);

struct walk {
	struct taking *t;
	struct mr_backup_part *part;
	has_path *has;
	const void *has_arg;
	struct mr_arena *arena; /* of the entry at hand */
	enum mr_code rc;
};

static enum mr_code put_link(struct walk *w, const struct mr_fs_entry *at,
	struct mr_tar_entry *entry)
{
	char target[LINK_BYTES];
	ssize_t len = readlinkat(at->dir, at->name, target, sizeof(target));

	if (len < 0)
		return errno == ENOENT
			? MR_OK
			: mr_err_os(&w->t->cx->err, errno, "cannot read %s", entry->path);
	entry->target = mr_arena_strndup(w->arena, target, (size_t)len);
	entry->kind = MR_TAR_LINK;
	return mr_backup_file_put_name(w->t->cx, &w->t->file, entry);
}

/* Not the backup itself, which may be written into what it backs up. */
static bool is_own(const struct taking *t, const struct stat *st)
{
	struct stat own;

	return fstat(t->file.fd, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

static enum mr_code put_file(struct walk *w, const struct mr_fs_entry *at,
	struct mr_tar_entry *entry)
{
	int fd MR_CLEANUP(mr_fs_closep) =
		openat(at->dir, at->name, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT
			? MR_OK
			: mr_err_os(&w->t->cx->err, errno, "cannot read %s", entry->path);
	if (fstat(fd, &st) != 0)
		return mr_err_os(&w->t->cx->err, errno, "cannot read %s", entry->path);
	if (is_own(w->t, &st))
		return MR_OK;
	entry->kind = MR_TAR_FILE;
	entry->size = (uint64_t)st.st_size;
	return mr_backup_file_put(w->t->cx, &w->t->file, w->part, entry, fd);
}

static enum mr_fs_next visit(void *arg, const struct mr_fs_entry *at)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct walk *w = arg;
	struct mr_tar_entry entry = { .path = mr_arena_printf(arena, "%s/%s", w->part->name,
					      at->path) };
	struct stat st;

	if (!w->has(w->has_arg, at->path))
		return at->type == DT_DIR ? MR_FS_SKIP : MR_FS_GO_ON;
	if (fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return MR_FS_GO_ON; /* it has vanished */
	entry.mode = st.st_mode & 07777;
	entry.mtime_s = st.st_mtime;
	w->arena = arena;
	if (at->type == DT_DIR) {
		entry.kind = MR_TAR_DIRECTORY;
		w->rc = mr_backup_file_put_name(w->t->cx, &w->t->file, &entry);
	} else if (at->type == DT_LNK) {
		w->rc = put_link(w, at, &entry);
	} else if (at->type == DT_REG) {
		w->rc = put_file(w, at, &entry);
	}
	return w->rc ? MR_FS_STOP : MR_FS_GO_ON;
}

static enum mr_code new_part(struct taking *t, const char *kind, const char *name, const char *path,
	struct mr_backup_part **out)
{
	if (t->len == MR_BACKUP_PARTS_MAX)
		return mr_err_set(&t->cx->err, MR_ELIMIT, "more than %d parts of a backup",
			MR_BACKUP_PARTS_MAX);
	t->parts[t->len] = (struct mr_backup_part){ name, kind, path, 0, 0 };
	*out = &t->parts[t->len++];
	return MR_OK;
}

/* A directory with all that belongs to it, as a new part. */
static enum mr_code put_tree(struct taking *t, const char *kind, const char *name, const char *path,
	has_path *has, const void *has_arg)
{
	struct walk walk = { .t = t, .has = has, .has_arg = has_arg };
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = new_part(t, kind, name, path, &walk.part);
	struct stat st;

	if (!rc)
		rc = mr_fs_open_dir(AT_FDCWD, path, &dir, &t->cx->err);
	if (!rc && fstat(dir, &st) != 0)
		rc = mr_err_os(&t->cx->err, errno, "cannot read %s", path);
	if (!rc)
		rc = mr_backup_file_put_name(t->cx, &t->file,
			&(struct mr_tar_entry){ .kind = MR_TAR_DIRECTORY,
				.path = name,
				.mode = st.st_mode & 07777,
				.mtime_s = st.st_mtime });
	if (!rc)
		rc = mr_fs_walk(dir, ".", DEPTH, visit, &walk, &t->cx->err);
	return rc ? rc : walk.rc;
}

static enum mr_code put_database(struct taking *t, struct mr_backup_part *part, const char *copy)
{
	int fd MR_CLEANUP(mr_fs_closep) = open(copy, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct mr_tar_entry entry = { .path = mr_arena_printf(t->cx->arena,
					      "%s/" MR_TEAM_DATABASE_FILE, part->name),
		.mode = 0600 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return mr_err_os(&t->cx->err, errno, "cannot read %s", copy);
	entry.size = (uint64_t)st.st_size;
	entry.mtime_s = st.st_mtime;
	return mr_backup_file_put(t->cx, &t->file, part, &entry, fd);
}

static bool is_of_team(const void *arg, const char *path)
{
	return mr_team_freeze_has(arg, path);
}

static enum mr_code put_team(struct taking *t, const struct mr_backup_sources *from)
{
	const char *copy = mr_arena_printf(t->cx->arena, "%s-database", t->file.partial);
	struct mr_team_freeze *freeze MR_CLEANUP(mr_team_freeze_endp) = NULL;
	enum mr_code rc;

	if (!from->storage_root || !mr_fs_exists(AT_FDCWD, from->database))
		return MR_OK;
	rc = mr_team_freeze_begin(t->cx, from->storage_root, from->database, copy, &freeze);
	mr_crash_point("backup.frozen");
	if (!rc)
		rc = put_tree(t, "team", "team", from->storage_root, is_of_team, freeze);
	if (!rc)
		rc = put_database(t, &t->parts[t->len - 1], copy);
	unlink(copy);
	return rc ? mr_err_wrap(&t->cx->err, "the team in %s", from->storage_root) : MR_OK;
}

static bool is_of_mailbox(const void *arg, const char *path)
{
	(void)arg;
	return mr_mailbox_freeze_has(path);
}

static bool is_any(const void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return true;
}

static enum mr_code put_mailbox(struct taking *t, const char *path, size_t number)
{
	struct mr_mailbox_freeze *freeze MR_CLEANUP(mr_mailbox_freeze_endp) = NULL;
	enum mr_code rc = mr_mailbox_freeze_begin(t->cx, path, &freeze);
	struct mr_texts elsewhere = { NULL, 0 };

	if (!rc)
		rc = put_tree(t, "mailbox", mr_arena_printf(t->cx->arena, "mailbox-%zu", number),
			mr_mailbox_freeze_root(freeze), is_of_mailbox, NULL);
	if (!rc)
		elsewhere = mr_mailbox_freeze_private(freeze);
	for (size_t i = 0; !rc && i < elsewhere.len; i++)
		rc = put_tree(t, "private_mailbox",
			mr_arena_printf(t->cx->arena, "mailbox-%zu-private-%zu", number, i + 1),
			elsewhere.items[i], is_any, NULL);
	return rc ? mr_err_wrap(&t->cx->err, "the mailbox root %s", path) : MR_OK;
}

static bool is_of_workspace(const void *arg, const char *path)
{
	(void)arg;
	return !mr_work_path_is_passing(path);
}

static enum mr_code put_workspace(struct taking *t, const char *path, size_t number)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc = mr_work_open(t->cx, path, MR_WORK_READ, &work);

	if (!rc)
		rc = put_tree(t, "workspace",
			mr_arena_printf(t->cx->arena, "workspace-%zu", number), work->root,
			is_of_workspace, NULL);
	return rc ? mr_err_wrap(&t->cx->err, "the workspace %s", path) : MR_OK;
}

static enum mr_code put_settings(struct taking *t, const struct mr_backup_sources *from)
{
	struct mr_backup_part *part = NULL;
	enum mr_code rc;

	if (!from->settings.data)
		return MR_OK;
	rc = new_part(t, "settings", "settings", from->settings_path, &part);
	if (rc)
		return rc;
	part->files = 1;
	part->bytes = (int64_t)from->settings.len;
	rc = mr_backup_file_put_name(t->cx, &t->file,
		&(struct mr_tar_entry){ .kind = MR_TAR_DIRECTORY,
			.path = part->name,
			.mode = 0700 });
	if (!rc)
		rc = mr_backup_file_put_bytes(t->cx, &t->file, "settings/mailroom.yaml",
			from->settings);
	return rc;
}

enum mr_code mr_backup_take(struct mr_ctx *cx, const struct mr_backup_sources *sources,
	const char *path, struct mr_backup_report *out)
{
	struct taking t MR_CLEANUP(close_taking) = { .cx = cx, .file = MR_BACKUP_FILE_INIT };
	enum mr_code rc = mr_backup_file_begin(cx, path, &t.file);

	if (rc)
		return rc;
	t.parts = mr_arena_array(cx->arena, MR_BACKUP_PARTS_MAX, sizeof(*t.parts));
	mr_crash_point("backup.begun");
	rc = put_team(&t, sources);
	for (size_t i = 0; !rc && i < sources->mailboxes.len; i++)
		rc = put_mailbox(&t, sources->mailboxes.items[i], i + 1);
	for (size_t i = 0; !rc && i < sources->workspaces.len; i++)
		rc = put_workspace(&t, sources->workspaces.items[i], i + 1);
	if (!rc)
		rc = put_settings(&t, sources);
	if (!rc && !t.len)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND,
			"there is nothing to back up: no team's storage, no mailbox root, no "
			"workspace; name them with --mailbox and --workspace, or see `mailroom "
			"config`");
	if (!rc)
		rc = mr_backup_file_end(cx, &t.file, t.parts, t.len);
	if (rc)
		return rc;
	*out = (struct mr_backup_report){ .file = path, .parts = t.parts, .len = t.len };
	for (size_t i = 0; i < t.len; i++) {
		out->files += t.parts[i].files;
		out->bytes += t.parts[i].bytes;
	}
	return MR_OK;
}
