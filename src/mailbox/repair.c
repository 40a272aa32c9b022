/* mailbox/repair.c - check and repair: the order of their steps, and the new index. */
#include "mailbox/repair.h"

#include "base/crash.h"
#include "base/fs.h"
#include "data/db.h"
#include "mailbox/index_sql.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "mailbox/open.h"
#include "mailbox/repair_private.h"
#include "mailbox/repair_sql.h"
#include "mailbox/root_private.h"
#include "text/time.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The next of a list, or NULL when it is full. */
static struct mr_mailbox_problem *add(struct mr_mailbox_repair_run *run,
	struct mr_mailbox_problem **list, size_t *count, const char *what, const char *path)
{
	struct mr_arena *arena = run->cx->arena;
	struct mr_mailbox_problem *problem;
	bool is_below = path[0] != '/' && strpbrk(path, "/.");

	if ((*count)++ >= MR_MAILBOX_PROBLEMS)
		return NULL;
	if (!*list)
		*list = mr_arena_array(arena, MR_MAILBOX_PROBLEMS, sizeof(**list));
	problem = &(*list)[*count - 1];
	problem->what = what;
	problem->path = is_below ? mr_mailbox_layout_join(arena, run->root->path, path)
				 : mr_arena_strdup(arena, path);
	return problem;
}

void mr_mailbox_repair_found(struct mr_mailbox_repair_run *run, const char *what, const char *path,
	const char *fmt, ...)
{
	struct mr_mailbox_problem *problem =
		add(run, &run->problems, &run->problem_count, what, path);
	va_list ap;

	if (!problem)
		return;
	va_start(ap, fmt);
	problem->detail = mr_arena_vprintf(run->cx->arena, fmt, ap);
	va_end(ap);
}

void mr_mailbox_repair_warn(struct mr_mailbox_repair_run *run, const char *what, const char *path,
	const char *fmt, ...)
{
	struct mr_mailbox_problem *warning =
		add(run, &run->warnings, &run->warning_count, what, path);
	va_list ap;

	if (!warning)
		return;
	va_start(ap, fmt);
	warning->detail = mr_arena_vprintf(run->cx->arena, fmt, ap);
	va_end(ap);
}

enum mr_code mr_mailbox_repair_lose_index(struct mr_mailbox_repair_run *run, enum mr_code rc)
{
	/* Our own statements are correct: one that fails met foreign tables. */
	if (rc != MR_EFORMAT && rc != MR_EINTERNAL)
		return rc;
	mr_db_closep(&run->old);
	run->unusable = mr_arena_strdup(run->cx->arena, run->cx->err.msg);
	mr_mailbox_repair_found(run, "unreadable_index", MR_MAILBOX_INDEX_FILE, "%s",
		run->unusable);
	return MR_OK;
}

enum { TURN_READS = 64 };

enum mr_code mr_mailbox_repair_turn(struct mr_mailbox_repair_run *run)
{
	if (!run->old)
		return MR_OK;
	/* During a repair writers wait anyway. */
	if (!run->hands && run->turns++ % TURN_READS == 0)
		mr_mailbox_repair_rest(run);
	return mr_db_in_transaction(run->old)
		? MR_OK
		: mr_db_begin(run->old, MR_DB_DEFERRED, &run->cx->err);
}

void mr_mailbox_repair_rest(struct mr_mailbox_repair_run *run)
{
	if (run->old && !run->hands)
		mr_db_rollback(run->old);
}

bool mr_mailbox_repair_same_path(const struct mr_mailbox_repair_run *run, const char *was,
	const char *now)
{
	size_t was_len = run->old_path ? strlen(run->old_path) : 0;
	size_t now_len = strlen(run->root->path);

	if (mr_str_eq(was, now))
		return true;
	return was_len > 0 && was && strncmp(was, run->old_path, was_len) == 0 &&
		strncmp(now, run->root->path, now_len) == 0 &&
		mr_str_eq(was + was_len, now + now_len);
}

static void begin(struct mr_mailbox_repair_run *run, struct mr_ctx *cx,
	const struct mr_mailbox_root *root, bool hands)
{
	int64_t now_us = mr_clock_wall_us(cx->clock);

	*run = (struct mr_mailbox_repair_run){
		.cx = cx,
		.root = root,
		.hands = hands,
		.stamp = mr_time_format(cx->arena, now_us, MR_TIME_COMPACT),
		.now = mr_time_format(cx->arena, now_us, MR_TIME_SECONDS),
	};
	mr_mailbox_known_init(&run->known, cx->rand);
}

static void release(struct mr_mailbox_repair_run *run)
{
	mr_db_closep(&run->old);
	mr_db_closep(&run->index);
	mr_mailbox_known_release(&run->known);
	mr_mailbox_repair_accounts_release(run);
}

/* The index that is there. For repair it is opened for writing: SQLite then finishes or undoes what
 * a dead writer left in its journal. */
static enum mr_code open_old(struct mr_mailbox_repair_run *run)
{
	struct mr_ctx *cx = run->cx;
	enum mr_code rc;

	if (!mr_fs_exists(run->root->dir, MR_MAILBOX_INDEX_FILE)) {
		mr_mailbox_repair_found(run, "missing_index", MR_MAILBOX_INDEX_FILE, "%s",
			run->hands ? "made from the messages"
				   : "every root has one; run `mailroom mailbox repair`");
		return MR_OK;
	}
	rc = mr_mailbox_root_index(cx, run->root, !run->hands, &run->old);
	/* One whose journal must be played back first cannot be opened for reading only. */
	if (rc == MR_EPERM && !run->hands) {
		mr_mailbox_repair_found(run, "unreadable_index", MR_MAILBOX_INDEX_FILE, "%s",
			cx->err.msg);
		return MR_OK;
	}
	if (!rc)
		rc = mr_mailbox_repair_sql_cache(cx, run->old);
	if (!rc)
		rc = mr_mailbox_repair_sql_probe(cx, run->old);
	return mr_mailbox_repair_lose_index(run, rc);
}

static enum mr_code remove_new(struct mr_mailbox_repair_run *run)
{
	static const char *const names[] = { MR_MAILBOX_INDEX_NEW "-journal",
		MR_MAILBOX_INDEX_NEW };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		if (unlinkat(run->root->dir, names[i], 0) != 0 && errno != ENOENT)
			return mr_err_os(&run->cx->err, errno, "cannot remove %s/%s",
				run->root->path, names[i]);
	}
	return MR_OK;
}

static enum mr_code open_new(struct mr_mailbox_repair_run *run)
{
	struct mr_ctx *cx = run->cx;
	struct mr_db_options options = {
		.path = mr_mailbox_layout_join(cx->arena, run->root->path, MR_MAILBOX_INDEX_NEW),
		.create = true,
		.journal = MR_DB_JOURNAL_DELETE,
		.repair_hint = "run `mailroom mailbox repair` again",
	};
	enum mr_code rc = remove_new(run);

	if (!rc)
		rc = mr_db_open(&options, &run->index, &cx->err);
	if (!rc)
		rc = mr_mailbox_repair_sql_cache(cx, run->index);
	if (!rc)
		rc = mr_db_begin(run->index, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_mailbox_index_schema(cx, run->index);
	mr_crash_point("repair.index.begun");
	return rc;
}

/* Everything that check and repair have in common. */
static enum mr_code go_through(struct mr_mailbox_repair_run *run)
{
	enum mr_code rc = open_old(run);

	if (!rc && run->hands)
		rc = open_new(run);
	if (!rc)
		rc = mr_mailbox_repair_accounts(run);
	if (!rc)
		rc = mr_mailbox_repair_messages(run);
	mr_mailbox_repair_rest(run);
	if (!rc && run->hands)
		rc = mr_mailbox_repair_accounts_write(run);
	if (!rc)
		rc = mr_mailbox_repair_mailboxes(run);
	if (!rc)
		rc = mr_mailbox_repair_threads(run);
	return rc;
}

static bool is_same_file(int dir, const char *a, const char *b)
{
	struct stat x, y;

	return fstatat(dir, a, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
		fstatat(dir, b, &y, AT_SYMLINK_NOFOLLOW) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino;
}

/* A journal of the old index would be played into the new one. */
static enum mr_code set_sides_aside(struct mr_mailbox_repair_run *run, const char *backup)
{
	static const char *const sides[] = { "-journal", "-wal", "-shm" };
	struct mr_arena *arena = run->cx->arena;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < MR_LEN(sides) && !rc; i++) {
		const char *from = mr_arena_printf(arena, MR_MAILBOX_INDEX_FILE "%s", sides[i]);

		if (mr_fs_exists(run->root->dir, from))
			rc = mr_fs_rename(run->root->dir, from, run->root->dir,
				mr_arena_printf(arena, "%s%s", backup, sides[i]), MR_FS_REPLACE,
				&run->cx->err);
	}
	return rc;
}

/* The unreadable index gets a second name, so that there is no moment without an index. */
static enum mr_code back_up(struct mr_mailbox_repair_run *run, const char *backup)
{
	int dir = run->root->dir;

	if (is_same_file(dir, MR_MAILBOX_INDEX_FILE, backup))
		return MR_OK;
	if (linkat(dir, MR_MAILBOX_INDEX_FILE, dir, backup, 0) == 0)
		return mr_fs_sync_dir(dir, ".", &run->cx->err);
	/* Not every file system has hard links. */
	return mr_fs_rename(dir, MR_MAILBOX_INDEX_FILE, dir, backup, MR_FS_NEW, &run->cx->err);
}

static const char *backup_name(struct mr_mailbox_repair_run *run)
{
	const char *name = mr_arena_printf(run->cx->arena, MR_MAILBOX_INDEX_FILE ".unusable-%s.bak",
		run->stamp);

	for (int i = 1; mr_fs_exists(run->root->dir, name) &&
		!is_same_file(run->root->dir, MR_MAILBOX_INDEX_FILE, name);
		i++)
		name = mr_arena_printf(run->cx->arena, MR_MAILBOX_INDEX_FILE ".unusable-%s-%d.bak",
			run->stamp, i);
	return name;
}

static enum mr_code put_index_in_place(struct mr_mailbox_repair_run *run, const char **out_backup)
{
	struct mr_ctx *cx = run->cx;
	const char *backup = backup_name(run);
	enum mr_code rc = mr_db_commit(run->index, &cx->err);

	if (rc)
		return rc;
	mr_crash_point("repair.index.committed");
	mr_db_closep(&run->old);
	mr_db_closep(&run->index);
	rc = set_sides_aside(run, backup);
	if (!rc && run->unusable) {
		rc = back_up(run, backup);
		*out_backup = mr_mailbox_layout_join(cx->arena, run->root->path, backup);
		mr_crash_point("repair.index.set_aside");
	}
	if (!rc)
		rc = mr_fs_rename(run->root->dir, MR_MAILBOX_INDEX_NEW, run->root->dir,
			MR_MAILBOX_INDEX_FILE, MR_FS_REPLACE, &cx->err);
	mr_crash_point("repair.index.in_place");
	return rc;
}

static void add_address(struct mr_ctx *cx, struct mr_texts *list, const char *name)
{
	const char *address = NULL;

	if (mr_mailbox_layout_entry_kind(cx->arena, name, &address) != MR_MAILBOX_ENTRY_FOREIGN)
		list->items[list->len++] = address;
}

/* Lock every address that has an entry in mailboxes/ or a lock file; taking a dead process's
 * lock also removes it. */
static enum mr_code take_locks(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_locks *out)
{
	struct mr_texts entries = { NULL, 0 }, locks = { NULL, 0 }, addresses = { NULL, 0 };
	enum mr_code rc = MR_OK;

	if (mr_fs_exists(root->dir, MR_MAILBOX_MAILBOXES))
		rc = mr_fs_list(cx->arena, root->dir, MR_MAILBOX_MAILBOXES, MR_MAILBOX_ENTRIES,
			&entries, &cx->err);
	if (!rc)
		rc = mr_fs_list(cx->arena, root->dir, MR_MAILBOX_ADDRESS_LOCKS, MR_MAILBOX_ENTRIES,
			&locks, &cx->err);
	if (rc)
		return rc;
	addresses.items = mr_arena_array(cx->arena, entries.len + locks.len + 1, sizeof(char *));
	for (size_t i = 0; i < entries.len; i++)
		add_address(cx, &addresses, entries.items[i]);
	for (size_t i = 0; i < locks.len; i++) {
		size_t len = strlen(locks.items[i]);

		if (mr_str_ends(locks.items[i], ".lock"))
			add_address(cx, &addresses,
				mr_arena_strndup(cx->arena, locks.items[i], len - strlen(".lock")));
	}
	return mr_mailbox_locks_take(cx, root, &addresses, out);
}

/* The index that was being built goes with the failure; cx->err stays as it is. */
static void give_up(struct mr_mailbox_repair_run *run)
{
	struct mr_err why = run->cx->err;

	mr_db_closep(&run->index);
	if (remove_new(run))
		run->cx->err = why;
}

static enum mr_code repair_locked(struct mr_mailbox_repair_run *run,
	const struct mr_mailbox_repair_options *options, struct mr_mailbox_repair_result *result)
{
	enum mr_code rc = go_through(run);

	if (!rc)
		rc = put_index_in_place(run, &result->backed_up_index_path);
	if (rc)
		give_up(run);
	if (!rc && !options->keep_staging)
		rc = mr_mailbox_repair_clean_staging(run, options->remove_staging,
			&result->staging_paths);
	return rc;
}

/*
 * Finish intents first, while the old index may still have what they need. Those that remain are
 * tried once more with the new index. The ones that still cannot be finished are moved into
 * quarantine.
 */
static enum mr_code finish_intents(struct mr_mailbox_repair_run *run)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_ctx *cx = run->cx;
	enum mr_code rc;

	if (!mr_mailbox_repair_has_left_intents(run))
		return MR_OK;
	rc = mr_mailbox_root_recover(cx, run->root);
	/* A registration holds the locks from its intent to its end, and a delivery the lock of
	 * its intent: so under the locks, an intent without its own lock is a leftover. */
	if (!rc || rc != MR_EBUSY)
		rc = take_locks(cx, run->root, &locks);
	if (rc == MR_EBUSY)
		return MR_OK;
	return rc ? rc : mr_mailbox_repair_set_intents_aside(run);
}

/* An index that cannot be read leads nowhere. */
static bool is_at_home(struct mr_ctx *cx, struct mr_mailbox_root *root)
{
	struct mr_mailbox_home home = { NULL, false };
	struct mr_err before = cx->err;

	if (mr_fs_exists(root->dir, MR_MAILBOX_INDEX_FILE) && mr_mailbox_root_home(cx, root, &home))
		cx->err = before;
	return !home.recorded;
}

enum mr_code mr_mailbox_repair(struct mr_ctx *cx, const char *path,
	const struct mr_mailbox_repair_options *options, struct mr_mailbox_repair_result *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_mailbox_repair_run run MR_CLEANUP(release) = { .hands = true };
	struct mr_mailbox_repair_result result = {
		.staging_action = options->remove_staging ? "remove" : "quarantine",
	};
	struct mr_err before = cx->err;
	bool is_home;
	enum mr_code rc = mr_mailbox_root_open(cx, path, MR_MAILBOX_ROOT_REPAIR, &root);

	if (rc)
		return rc;
	is_home = is_at_home(cx, &root);
	begin(&run, cx, &root, true);
	rc = mr_mailbox_repair_surroundings(&run);
	if (!rc)
		rc = mr_mailbox_repair_note_staging(&run);
	if (rc)
		return rc;
	/* What keeps an intent from being finished is repaired now; then it is tried again. In a
	 * root that was moved or copied, the index leads elsewhere: there only afterwards. */
	if (is_home)
		rc = mr_mailbox_root_recover(cx, &root);
	rc = take_locks(cx, &root, &locks);
	if (!rc)
		rc = repair_locked(&run, options, &result);
	mr_mailbox_locks_release(&locks);
	if (!rc)
		rc = finish_intents(&run);
	if (rc)
		return rc;
	cx->err = before;
	result.message_count = mr_mailbox_known_count(&run.known);
	result.projection_count = run.projection_count;
	result.registration_count = run.account_count;
	result.restored_state_count = run.restored_state_count;
	result.defaulted_state_count = run.defaulted_state_count;
	result.problems = run.problems;
	result.problem_count = run.problem_count;
	result.warnings = run.warnings;
	result.warning_count = run.warning_count;
	*out = result;
	return MR_OK;
}

/* Check the structure of the database file: rows not read so far may be damaged. */
static enum mr_code check_file(struct mr_mailbox_repair_run *run)
{
	struct mr_texts wrong = { NULL, 0 };
	enum mr_code rc;

	if (!run->old)
		return MR_OK;
	rc = mr_db_check(run->old, run->cx->arena, &wrong, &run->cx->err);
	for (size_t i = 0; i < wrong.len && !rc; i++)
		mr_mailbox_repair_found(run, "damaged_index", MR_MAILBOX_INDEX_FILE, "%s",
			wrong.items[i]);
	return mr_mailbox_repair_lose_index(run, rc);
}

static enum mr_code look(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_check_result *out)
{
	struct mr_mailbox_repair_run run MR_CLEANUP(release) = { .hands = false };
	struct mr_err before = cx->err;
	enum mr_code rc;

	begin(&run, cx, root, false);
	rc = mr_mailbox_repair_surroundings(&run);
	if (!rc)
		rc = go_through(&run);
	if (!rc)
		rc = check_file(&run);
	if (rc)
		return rc;
	cx->err = before;
	*out = (struct mr_mailbox_check_result){
		.message_count = mr_mailbox_known_count(&run.known),
		.registration_count = run.account_count,
		.problems = run.problems,
		.problem_count = run.problem_count,
		.warnings = run.warnings,
		.warning_count = run.warning_count,
	};
	return MR_OK;
}

/* What every writer changes, before or after everything else it does. */
struct traces {
	bool is_held;
	struct stat guard; /* its holder writes its pid into it */
	struct stat index;
	/* In the index's header: counts the commits, for file times are too coarse to tell two of
	 * them apart. */
	uint8_t commits[4];
};
enum { COMMITS_AT = 24 };

static struct traces find_traces(const struct mr_mailbox_root *root)
{
	struct traces found = { .is_held = mr_lock_is_held(root->dir, MR_MAILBOX_INDEX_GUARD) };
	int fd MR_CLEANUP(mr_fs_closep) =
		openat(root->dir, MR_MAILBOX_INDEX_FILE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &found.index) != 0)
		found.index = (struct stat){ 0 };
	if (fd < 0 ||
		pread(fd, found.commits, sizeof(found.commits), COMMITS_AT) !=
			sizeof(found.commits))
		memset(found.commits, 0, sizeof(found.commits));
	if (fstatat(root->dir, MR_MAILBOX_INDEX_GUARD, &found.guard, AT_SYMLINK_NOFOLLOW) != 0)
		found.guard = (struct stat){ 0 };
	return found;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool somebody_wrote(const struct traces *before, const struct traces *after)
{
	return before->is_held || after->is_held || !is_unchanged(&before->guard, &after->guard) ||
		!is_unchanged(&before->index, &after->index) ||
		memcmp(before->commits, after->commits, sizeof(before->commits)) != 0;
}

/* First without locks; if a difference may be a delivery in progress, again under the locks. */
enum mr_code mr_mailbox_check(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_check_result *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct traces before, after;
	struct mr_err first;
	enum mr_code rc = mr_mailbox_root_open(cx, path, MR_MAILBOX_ROOT_READ, &root);

	/* Opening for repair would make directories; an index that is no database is one of the
	 * things to report. */
	if (rc == MR_EFORMAT)
		rc = mr_mailbox_root_find(cx, path, &root);
	if (rc)
		return rc;
	before = find_traces(&root);
	rc = look(cx, &root, out);
	after = find_traces(&root);
	if (rc || out->problem_count == 0 || !somebody_wrote(&before, &after))
		return rc;
	first = cx->err;
	if (take_locks(cx, &root, &locks)) {
		/* The root is read-only, or a lock cannot be had: report the first result. */
		cx->err = first;
		return MR_OK;
	}
	return look(cx, &root, out);
}
