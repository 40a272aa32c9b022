/* data/history_work.c - writes the work tree, and the note of the commit up to which it is
 * complete. */
#include "base/crash.h"
#include "base/fs.h"
#include "data/history_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATE_BYTES = 4096 };

static const char FILE_TEMP[] = "file.tmp";
static const char STATE_TEMP[] = "state.tmp";
static const char BOOT_ID[] = "/proc/sys/kernel/random/boot_id";

/* --- files --- */

enum mr_code mr_history_temp_write(struct mr_history *history, const char *name,
	struct mr_bytes data, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	int number = mr_crash_fail("history.temp.write");

	fd = openat(history->own_dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		0666);
	if (fd < 0)
		number = errno;
	while (!number && data.len > 0) {
		ssize_t n = write(fd, data.data, data.len);

		if (n < 0 && errno != EINTR)
			number = errno;
		data.data += n > 0 ? n : 0;
		data.len -= n > 0 ? (size_t)n : 0;
	}
	if (number)
		return mr_err_os(err, number, "cannot write %s/.git/mailroom/%s", history->path,
			name);
	return MR_OK;
}

/* Open one directory more, making it when `make`; links are not followed. -1 with errno. */
static int step_into(int dir, const char *name, bool make)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT || !make)
		return fd;
	if (mkdirat(dir, name, 0777) != 0 && errno != EEXIST)
		return -1;
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Open the directory `path` stands in and set `*out_name` to its name there. MR_ENOTFOUND when
 * there is none and `make` is false.
 */
static enum mr_code enter(struct mr_history_work *work, const char *path, bool make,
	const char **out_name, struct mr_err *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char part[MR_HISTORY_NAME_BYTES + 1];

	*out_name = slash ? slash + 1 : path;
	if (work->dir >= 0 && strncmp(work->dir_path, path, len) == 0 &&
		work->dir_path[len] == '\0')
		return MR_OK;
	mr_fs_closep(&work->dir);
	work->dir = fcntl(work->history->work_dir, F_DUPFD_CLOEXEC, 0);
	for (size_t at = 0; work->dir >= 0 && at < len;) {
		size_t part_len = strcspn(path + at, "/");
		int fd, number;

		snprintf(part, sizeof(part), "%.*s", (int)part_len, path + at);
		fd = step_into(work->dir, part, make);
		number = errno;
		at += part_len;
		mr_fs_closep(&work->dir);
		work->dir = fd;
		if (fd < 0 && (number == ENOTDIR || number == ELOOP))
			return mr_err_set(err, MR_ECONFLICT,
				"%s/%.*s is in the way of a directory: move it away",
				work->history->path, (int)at, path);
		if (fd < 0)
			return mr_err_os(err, number, "cannot open %s/%.*s", work->history->path,
				(int)at, path);
		at++;
	}
	if (work->dir < 0)
		return mr_err_os(err, errno, "cannot open %s", work->history->path);
	memcpy(work->dir_path, path, len);
	work->dir_path[len] = '\0';
	return MR_OK;
}

static enum mr_code put(struct mr_history_work *work, const char *path, struct mr_bytes data,
	struct mr_err *err)
{
	struct mr_history *history = work->history;
	const char *name;
	enum mr_code rc = enter(work, path, true, &name, err);

	if (!rc)
		rc = mr_history_temp_write(history, FILE_TEMP, data, err);
	if (rc)
		return rc;
	mr_crash_point("history.file.written");
	if (renameat(history->own_dir, FILE_TEMP, work->dir, name) != 0) {
		if (errno == EISDIR || errno == ENOTEMPTY)
			return mr_err_set(err, MR_ECONFLICT,
				"%s/%s is a directory in the way of a file: move it away",
				history->path, path);
		return mr_err_os(err, errno, "cannot write %s/%s", history->path, path);
	}
	mr_crash_point("history.file.named");
	return MR_OK;
}

/* Take a file away, and directories that become empty. */
static enum mr_code take_away(struct mr_history_work *work, const char *path, struct mr_err *err)
{
	struct mr_history *history = work->history;
	char parent[MR_HISTORY_PATH_BYTES + 1];
	const char *name;
	struct mr_err missing;
	enum mr_code rc = enter(work, path, false, &name, &missing);
	char *slash;

	/* Missing, or replaced by the user: there is nothing of ours to remove. */
	if (rc == MR_ENOTFOUND || rc == MR_ECONFLICT)
		return MR_OK;
	if (rc) {
		*err = missing;
		return rc;
	}
	if (unlinkat(work->dir, name, 0) != 0 && errno != ENOENT && errno != EISDIR)
		return mr_err_os(err, errno, "cannot remove %s/%s", history->path, path);
	mr_crash_point("history.file.removed");
	snprintf(parent, sizeof(parent), "%s", path);
	while ((slash = strrchr(parent, '/'))) {
		*slash = '\0';
		/* Through links this could only ever remove an empty directory. */
		if (unlinkat(history->work_dir, parent, AT_REMOVEDIR) != 0)
			break;
		mr_fs_closep(&work->dir);
	}
	return MR_OK;
}

enum mr_code mr_history_work_set(struct mr_history_work *work, const char *path,
	const struct mr_bytes *data, struct mr_err *err)
{
	return data ? put(work, path, *data, err) : take_away(work, path, err);
}

/* What is in place of a file. */
enum on_disk {
	ON_DISK_SAME,
	ON_DISK_MISSING,
	ON_DISK_TORN,  /* nothing but committed bytes and NUL */
	ON_DISK_OTHER, /* something else, or unreadable */
};

static enum on_disk compare(struct mr_bytes have, const struct mr_bytes *want)
{
	enum on_disk result = have.len == want->len ? ON_DISK_SAME : ON_DISK_TORN;

	for (size_t i = 0; i < have.len; i++) {
		if (have.data[i] == want->data[i])
			continue;
		if (have.data[i] != 0)
			return ON_DISK_OTHER;
		result = ON_DISK_TORN;
	}
	return result;
}

static enum on_disk look(struct mr_history_work *work, const char *path,
	const struct mr_bytes *want)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *name;
	struct mr_bytes data;
	struct stat st;
	struct mr_err ignored;
	enum mr_code rc = enter(work, path, false, &name, &ignored);

	if (rc)
		return rc == MR_ENOTFOUND ? ON_DISK_MISSING : ON_DISK_OTHER;
	fd = openat(work->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? ON_DISK_MISSING : ON_DISK_OTHER;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size > want->len ||
		mr_fs_read_fd(arena, fd, want->len, &data, &ignored))
		return ON_DISK_OTHER;
	return compare(data, want);
}

enum mr_code mr_history_work_repair(struct mr_history_work *work, const char *path,
	const struct mr_bytes *want, bool *mended, struct mr_err *err)
{
	enum on_disk found = look(work, path, want);

	*mended = found == ON_DISK_MISSING || found == ON_DISK_TORN;
	return *mended ? put(work, path, *want, err) : MR_OK;
}

static enum mr_code follow_one(void *arg, const char *path, const struct mr_bytes *data,
	struct mr_err *err)
{
	if (data && look(arg, path, data) == ON_DISK_SAME)
		return MR_OK;
	return mr_history_work_set(arg, path, data, err);
}

void mr_history_work_close(struct mr_history_work *work)
{
	mr_fs_closep(&work->dir);
}

/* --- the note --- */

/* .git/mailroom/state */
struct state {
	struct mr_history_id complete; /* the work tree has all of this, if this boot wrote it */
	struct mr_history_id durable;  /* and on disk it has all of this */
	unsigned behind;               /* commits between them */
	bool is_this_boot;
};

/* Which boot this is; "?" never equals what was noted. */
static const char *boot_id(struct mr_arena *arena)
{
	struct mr_bytes bytes;
	struct mr_err ignored;

	if (mr_fs_read(arena, AT_FDCWD, BOOT_ID, STATE_BYTES, &bytes, &ignored))
		return "?";
	return mr_str_trim(arena, (const char *)bytes.data);
}

/* The text after "`key` " in a line, or NULL when the line is another. */
static const char *value_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	return line && strncmp(line, key, len) == 0 && line[len] == ' ' ? line + len + 1 : NULL;
}

/* A commit's id, or "-" for none. */
static bool read_id(const char *text, struct mr_history_id *out)
{
	if (!text || (!mr_str_eq(text, "-") && strlen(text) != MR_HISTORY_ID_BYTES - 1))
		return false;
	snprintf(out->hex, sizeof(out->hex), "%s", mr_str_eq(text, "-") ? "" : text);
	return true;
}

/* A torn or foreign note is ignored: then everything is compared. */
static enum mr_code read_state(struct mr_history *history, struct state *out, bool *out_found,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct state state = { 0 };
	struct mr_texts lines;
	struct mr_bytes bytes;
	const char *behind, *boot;
	int64_t count;
	enum mr_code rc = mr_fs_read(arena, history->own_dir, "state", STATE_BYTES, &bytes, err);

	*out_found = rc != MR_ENOTFOUND;
	*out = (struct state){ 0 };
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : mr_err_wrap(err, "archive %s", history->path);
	lines = mr_str_split(arena, (const char *)bytes.data, '\n');
	if (lines.len != 4)
		return MR_OK;
	behind = value_of(lines.items[2], "behind");
	boot = value_of(lines.items[3], "boot");
	if (!read_id(value_of(lines.items[0], "complete"), &state.complete) ||
		!read_id(value_of(lines.items[1], "durable"), &state.durable) || !behind ||
		!mr_str_to_int(behind, &count) || count < 0 || count > INT32_MAX || !boot)
		return MR_OK;
	state.behind = (unsigned)count;
	state.is_this_boot = boot[0] != '?' && mr_str_eq(boot, boot_id(arena));
	*out = state;
	return MR_OK;
}

static enum mr_code write_state(struct mr_history *history, const struct state *state,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_printf(arena, "complete %s\ndurable %s\nbehind %u\nboot %s\n",
		state->complete.hex[0] ? state->complete.hex : "-",
		state->durable.hex[0] ? state->durable.hex : "-", state->behind, boot_id(arena));
	enum mr_code rc = mr_history_temp_write(history, STATE_TEMP, mr_bytes_text(text), err);

	if (rc)
		return rc;
	mr_crash_point("history.state.written");
	if (renameat(history->own_dir, STATE_TEMP, history->own_dir, "state") != 0)
		return mr_err_os(err, errno, "cannot write %s/.git/mailroom/state", history->path);
	mr_crash_point("history.state.named");
	return MR_OK;
}

enum mr_code mr_history_work_begin(struct mr_history *history, struct mr_err *err)
{
	return write_state(history, &(struct state){ 0 }, err);
}

enum mr_code mr_history_work_durable(struct mr_history *history, struct mr_history_id *out,
	struct mr_err *err)
{
	struct state state;
	bool found;
	enum mr_code rc = read_state(history, &state, &found, err);

	if (!rc)
		*out = state.durable;
	return rc;
}

enum mr_code mr_history_work_note(struct mr_history *history, const struct mr_history_id *head,
	bool now, struct mr_err *err)
{
	struct state state;
	bool found;
	enum mr_code rc = read_state(history, &state, &found, err);

	if (rc)
		return rc;
	if (!mr_str_eq(state.complete.hex, head->hex))
		state.behind++;
	state.complete = *head;
	if (state.behind >= MR_HISTORY_SYNC_COMMITS || (now && state.behind > 0)) {
		if (syncfs(history->work_dir) != 0)
			return mr_err_os(err, errno, "cannot put %s on disk", history->path);
		state.durable = *head;
		state.behind = 0;
	}
	return write_state(history, &state, err);
}

enum mr_code mr_history_work_complete(struct mr_history *history, struct mr_err *err)
{
	struct mr_history_work work MR_CLEANUP(mr_history_work_close) = { history, .dir = -1 };
	struct mr_history_id head;
	struct state state;
	bool found;
	enum mr_code rc = mr_history_get_head(history, &head, err);

	if (!rc)
		rc = read_state(history, &state, &found, err);
	if (rc)
		return rc;
	if (!found) {
		/* A repository that we did not create: its work tree is not ours to correct. */
		history->is_adopted = true;
		state = (struct state){ .complete = head, .durable = head };
		return write_state(history, &state, err);
	}
	if (state.is_this_boot && mr_str_eq(state.complete.hex, head.hex))
		return MR_OK;
	rc = mr_history_diff(history, state.is_this_boot ? &state.complete : &state.durable, &head,
		follow_one, &work, err);
	if (rc)
		return mr_err_wrap(err, "work tree");
	return mr_history_work_note(history, &head, false, err);
}
