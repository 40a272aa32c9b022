/*
 * mailbox/export_temporary.c - the directory an export is written to before it has its name.
 *
 * Its owner holds a kernel lock on it, so that one without belongs to nobody any more. The name
 * says that it is ours: others export beside us, and hold no lock.
 */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/export_private.h"
#include "mailbox/limits.h"
#include "text/token.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	CHANCE_BYTES = 16,
	ATTEMPTS = 16, /* how often other exports may remove our directory before we lock it */
};

static const char *prefix_of(const struct mr_mailbox_export_job *job, struct mr_arena *arena)
{
	return mr_arena_printf(arena, ".%s.mailroom-", job->name);
}

static bool is_ours(const char *name, const char *prefix)
{
	const char *rest = name + strlen(prefix);
	size_t len;

	if (!mr_str_starts(name, prefix))
		return false;
	len = strspn(rest, "0123456789");
	if (len == 0 || rest[len] != '-')
		return false;
	rest += len + 1;
	len = strspn(rest, "0123456789abcdef");
	return len == 2 * (size_t)CHANCE_BYTES && rest[len] == '\0';
}

static void clear_one(const struct mr_mailbox_export_job *job, const char *name)
{
	int fd MR_CLEANUP(mr_fs_closep) =
		openat(job->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct mr_err ignored;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)!mr_fs_remove_all(job->parent, name, &ignored);
}

void mr_mailbox_export_clear_left(const struct mr_mailbox_export_job *job)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *prefix = prefix_of(job, arena);
	struct mr_texts names = { NULL, 0 };
	struct mr_err ignored;

	if (mr_fs_list(arena, job->parent, ".", MR_MAILBOX_ENTRIES, &names, &ignored))
		return;
	for (size_t i = 0; i < names.len; i++) {
		if (is_ours(names.items[i], prefix))
			clear_one(job, names.items[i]);
	}
}

/* False when another export took the directory for a leftover and removed it. Without locks in
 * the file system none does. */
static bool lock(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK;
	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

enum mr_code mr_mailbox_export_open_temporary(struct mr_mailbox_export_job *job)
{
	struct mr_ctx *cx = job->cx;

	for (int i = 0; i < ATTEMPTS; i++) {
		const char *name = mr_arena_printf(cx->arena, "%s%ld-%s", prefix_of(job, cx->arena),
			(long)getpid(), mr_token_hex(cx->arena, cx->rand, CHANCE_BYTES));
		int fd MR_CLEANUP(mr_fs_closep) = -1;

		if (mkdirat(job->parent, name, 0700) != 0)
			return mr_err_os(&cx->err, errno, "cannot create %s/%s", job->parent_path,
				name);
		fd = openat(job->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			return mr_err_os(&cx->err, errno, "cannot open directory %s/%s",
				job->parent_path, name);
		if (fd < 0 || !lock(fd))
			continue;
		job->temporary = name;
		job->dir = mr_fs_take(&fd);
		mr_crash_point("export.open.made");
		return MR_OK;
	}
	return mr_err_set(&cx->err, MR_EBUSY, "other exports to %s keep removing our directory",
		job->output);
}
