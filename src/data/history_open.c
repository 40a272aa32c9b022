/* data/history_open.c - opening and making a repository, and being its only writer. */
#include "base/crash.h"
#include "base/fs.h"
#include "data/history_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	DEFAULT_LOCK_MS = 60000,
	OWN_NAMES = 1000,
	AUTHOR_BYTES = 256,
};

static const char CONFIG[] = "[core]\n"
			     "\trepositoryformatversion = 0\n"
			     "\tfilemode = false\n"
			     "\tbare = false\n"
			     "\tlogallrefupdates = false\n"
			     "\tautocrlf = false\n"
			     "[commit]\n"
			     "\tgpgsign = false\n";
/* Files are stored as they are, whatever a .gitattributes says. */
static const char ATTRIBUTES[] = "* -text\n";

/*
 * What `git init` makes, without what nobody needs. Each step leaves what is there, and HEAD, which
 * makes it a repository, comes last: so a second attempt completes a first that was killed.
 */
static enum mr_code make_repository(struct mr_history *history, struct mr_err *err)
{
	static const char *const dirs[] = { "objects/info", "objects/pack", "refs/heads",
		"refs/tags", "info" };
	static const struct {
		const char *name, *text;
	} files[] = {
		{ "config", CONFIG },
		{ "info/attributes", ATTRIBUTES },
		{ "HEAD", "ref: " MR_HISTORY_REF "\n" },
	};
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < MR_LEN(dirs); i++) {
		rc = mr_fs_make_dirs(history->git_dir, dirs[i], 0777, err);
		mr_crash_point("history.make.dir");
	}
	for (size_t i = 0; !rc && i < MR_LEN(files); i++) {
		if (mr_fs_exists(history->git_dir, files[i].name))
			continue;
		rc = mr_fs_write(history->git_dir, files[i].name, mr_bytes_text(files[i].text),
			MR_FS_REPLACE, 0666, err);
		mr_crash_point("history.make.file");
	}
	if (!rc)
		rc = mr_fs_sweep_temporaries(history->git_dir, ".", &(size_t){ 0 }, err);
	if (!rc)
		rc = mr_fs_sweep_temporaries(history->git_dir, "info", &(size_t){ 0 }, err);
	return rc;
}

static enum mr_code take_lock(struct mr_history *history, int timeout_ms, struct mr_lock *out,
	struct mr_err *err)
{
	enum mr_code rc = mr_lock_take(history->own_dir, "lock", "mailroom history", timeout_ms,
		history->clock, out, err);

	return rc ? mr_err_wrap(err, "archive %s", history->path) : MR_OK;
}

static enum mr_code open_dirs(struct mr_history *history, struct mr_err *err)
{
	enum mr_code rc;

	if (history->mode == MR_HISTORY_CREATE) {
		rc = mr_fs_make_dirs(AT_FDCWD, history->path, 0777, err);
		if (rc)
			return rc;
	}
	rc = mr_fs_open_dir(AT_FDCWD, history->path, &history->work_dir, err);
	if (rc)
		return rc;
	if (history->mode == MR_HISTORY_CREATE && !mr_fs_exists(history->work_dir, ".git")) {
		rc = mr_fs_make_dirs(history->work_dir, ".git", 0777, err);
		if (rc)
			return mr_err_wrap(err, "archive %s", history->path);
	}
	history->git_dir =
		openat(history->work_dir, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (history->git_dir < 0 && errno == ENOENT)
		return mr_err_set(err, MR_ENOTFOUND, "there is no archive at %s", history->path);
	if (history->git_dir < 0 && (errno == ENOTDIR || errno == ELOOP))
		return mr_err_set(err, MR_ECONFLICT,
			"%s/.git is not a directory: the work tree of another repository",
			history->path);
	if (history->git_dir < 0)
		return mr_err_os(err, errno, "cannot open %s/.git", history->path);
	if (history->mode == MR_HISTORY_READ)
		return MR_OK;
	rc = mr_fs_make_dirs(history->git_dir, "mailroom", 0777, err);
	if (!rc)
		rc = mr_fs_open_dir(history->git_dir, "mailroom", &history->own_dir, err);
	return rc ? mr_err_wrap(err, "archive %s", history->path) : MR_OK;
}

/* What a dead writer left besides locks; ours to remove, since we hold the lock. */
static enum mr_code sweep(struct mr_history *history, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names;
	enum mr_code rc = mr_fs_list(arena, history->own_dir, ".", OWN_NAMES, &names, err);

	for (size_t i = 0; !rc && i < names.len; i++) {
		if (mr_str_eq(names.items[i], "lock") || mr_str_eq(names.items[i], "state"))
			continue;
		if (unlinkat(history->own_dir, names.items[i], 0) != 0 && errno != ENOENT)
			rc = mr_err_os(err, errno, "cannot remove %s", names.items[i]);
	}
	if (!rc)
		rc = mr_pack_sweep(history->pack_dir, err);
	return rc;
}

static enum mr_code open_all(struct mr_history *history, struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = open_dirs(history, err);

	if (!rc && history->mode == MR_HISTORY_CREATE && !mr_fs_exists(history->git_dir, "HEAD")) {
		rc = take_lock(history, history->lock_timeout_ms, &lock, err);
		if (!rc)
			rc = make_repository(history, err);
		mr_lock_release(&lock);
	}
	if (!rc)
		rc = mr_history_open_repository(history, err);
	if (!rc)
		rc = mr_fs_open_dir(history->git_dir, "objects/pack", &history->pack_dir, err);
	if (rc || history->mode == MR_HISTORY_READ)
		return rc;
	/* Whoever holds the lock now is alive and has done this. */
	rc = mr_history_lock(history, 0, &lock, err);
	if (rc == MR_EBUSY)
		return MR_OK;
	return rc ? rc : sweep(history, err);
}

/* A name that would break the line it stands in. */
static bool is_bad_author(const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f || c == '<' || c == '>')
			return true;
	}
	return false;
}

static enum mr_code set_author(struct mr_history *history, const struct mr_history_options *options,
	struct mr_err *err)
{
	const char *name = options->author_name ? options->author_name : MR_HISTORY_AUTHOR_NAME;
	const char *email = options->author_email ? options->author_email : MR_HISTORY_AUTHOR_EMAIL;
	struct mr_buf line;

	if (*name == '\0' || is_bad_author(name))
		return mr_err_set(err, MR_EINVAL, "\"%s\" cannot be an author's name", name);
	if (is_bad_author(email) || strchr(email, ' '))
		return mr_err_set(err, MR_EINVAL, "\"%s\" cannot be an author's address", email);
	mr_buf_init(&line, AUTHOR_BYTES);
	mr_buf_printf(&line, "%s <%s>", name, email);
	/* The handle owns the buffer's memory from here on. */
	history->author = line.data;
	return mr_buf_check(&line, "the author", err);
}

static enum mr_code append_initial(struct mr_history *history,
	const struct mr_history_batch *initial, struct mr_err *err)
{
	struct mr_history_appended appended;
	struct mr_oid head;
	enum mr_code rc = mr_history_get_head(history, &head, err);

	if (rc || !initial || history->mode != MR_HISTORY_CREATE || !mr_oid_is_zero(&head))
		return rc;
	/* Two who both find it empty both append: the second finds everything there. */
	return mr_history_append(history, initial, &appended, err);
}

enum mr_code mr_history_open(const char *path, const struct mr_history_options *options,
	const struct mr_clock *clock, struct mr_history **out, struct mr_err *err)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = calloc(1, sizeof(*history));
	enum mr_code rc;

	if (!history || !(history->path = strdup(path)))
		abort();
	history->work_dir = history->git_dir = history->own_dir = history->pack_dir = -1;
	history->mode = options->mode;
	history->clock = clock;
	history->lock_timeout_ms =
		options->lock_timeout_ms > 0 ? options->lock_timeout_ms : DEFAULT_LOCK_MS;
	rc = set_author(history, options, err);
	if (!rc)
		rc = open_all(history, err);
	if (!rc)
		rc = append_initial(history, options->initial, err);
	if (rc)
		return rc;
	*out = history;
	history = NULL;
	return MR_OK;
}

void mr_history_close(struct mr_history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < MR_HISTORY_CACHED; i++)
		free(history->cache[i].data);
	mr_history_close_repository(history);
	mr_fs_closep(&history->pack_dir);
	mr_fs_closep(&history->own_dir);
	mr_fs_closep(&history->git_dir);
	mr_fs_closep(&history->work_dir);
	free(history->author);
	free(history->path);
	free(history);
}

void mr_history_closep(struct mr_history **history)
{
	mr_history_close(*history);
}

/* --- being the only writer --- */

enum mr_code mr_history_tree_of(struct mr_history *history, const struct mr_oid *commit,
	struct mr_oid *out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_history_commit parsed;
	enum mr_code rc = MR_OK;

	*out = (struct mr_oid){ { 0 } };
	if (mr_oid_is_zero(commit))
		return MR_OK;
	rc = mr_history_get_commit(arena, history, commit, &parsed, err);
	if (!rc)
		*out = parsed.tree;
	return rc;
}

/* Bring the work tree from where the note says it is to the branch. */
static enum mr_code complete_work_tree(struct mr_history *history, struct mr_err *err)
{
	struct mr_history_state state;
	struct mr_oid head, before, after;
	struct mr_err ignored;
	bool found;
	enum mr_code rc = mr_history_get_head(history, &head, err);

	if (!rc)
		rc = mr_history_state_read(history, &state, &found, err);
	if (rc)
		return rc;
	if (!found) {
		/* Somebody else's repository: what its work tree holds is not ours to judge. */
		state = (struct mr_history_state){ .complete = head, .durable = head };
		return mr_history_state_write(history, &state, err);
	}
	if (state.is_this_boot && mr_oid_eq(&state.complete, &head))
		return MR_OK;
	rc = mr_history_tree_of(history, &head, &after, err);
	if (rc)
		return rc;
	/* A commit that git has cleared away since: then compare everything. */
	if (mr_history_tree_of(history, state.is_this_boot ? &state.complete : &state.durable,
		    &before, &ignored))
		before = (struct mr_oid){ { 0 } };
	rc = mr_history_work_follow(history, &before, &after, NULL, err);
	if (!rc)
		rc = mr_history_state_advance(history, &head, false, err);
	return rc;
}

enum mr_code mr_history_lock(struct mr_history *history, int timeout_ms, struct mr_lock *out,
	struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc;

	if (history->mode == MR_HISTORY_READ)
		return mr_err_set(err, MR_EPERM, "archive %s was opened for reading only",
			history->path);
	rc = take_lock(history, timeout_ms, &lock, err);
	if (!rc)
		rc = mr_history_gitlock_sweep(history, &lock, err);
	if (!rc)
		rc = complete_work_tree(history, err);
	if (rc)
		return rc;
	*out = lock;
	lock.fd = -1;
	return MR_OK;
}
