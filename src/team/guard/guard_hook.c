/* team/guard/guard_hook.c - installs and removes the guard's git hooks, and keeps existing hooks
 * working. */
#include "team/guard/guard.h"

#include "base/fs.h"
#include "team/error.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MARK        "# mailroom-guard: "
#define ORIG_SUFFIX ".mailroom-orig"
#define ORIG        "\"$0" ORIG_SUFFIX "\"" /* the previous hook, in the shell */

enum { HOOK_BYTES = 1 << 20, STUB_BYTES = 64 << 10 };

static const char *const names[MR_TEAM_GUARD_HOOKS] = { "pre-commit", "pre-push" };

/* In single quotes, as a shell reads it back. */
static void put_quoted(struct mr_buf *out, const char *text)
{
	mr_buf_putc(out, '\'');
	for (; text && *text; text++) {
		if (*text == '\'')
			mr_buf_puts(out, "'\\''");
		else
			mr_buf_putc(out, *text);
	}
	mr_buf_puts(out, "'\n");
}

/*
 * The lines that run the previous hook first. A shell script is run by its shell under our name,
 * because some hooks look at their own name.
 */
static const char *const run_orig[] = {
	"orig() {",
	"	line=",
	"	IFS= read -r line <" ORIG,
	"	case $line in",
	"	'#!/bin/sh' | '#!/usr/bin/sh' | '#!/usr/bin/env sh')",
	"		sh -c '. " ORIG "' \"$0\" \"$@\" ;;",
	"	'#!/bin/bash' | '#!/usr/bin/bash' | '#!/usr/bin/env bash')",
	"		bash -c '. " ORIG "' \"$0\" \"$@\" ;;",
	"	*) " ORIG " \"$@\" ;;",
	"	esac",
	"}",
};

static const char find_program[] =
	"if [ ! -x \"$program\" ]; then\n"
	"	gone=$program\n"
	"	program=$(command -v mailroom) || {\n"
	"		echo \"mailroom guard: $gone is not there: leases are not checked\" >&2\n"
	"		exit 0\n"
	"	}\n"
	"fi\n"
	"project=${AGENT_MAIL_PROJECT:-$project}\n"
	"STORAGE_ROOT=${STORAGE_ROOT:-$storage}\n"
	"export STORAGE_ROOT\n"
	"set -- guard check --hook \"$hook\"\n"
	"[ -z \"$project\" ] || set -- \"$@\" --project \"$project\"\n"
	"[ -z \"$database\" ] || set -- \"$@\" --set \"database.url=$database\"\n";

static void put_stub(struct mr_buf *out, const char *name,
	const struct mr_team_guard_install *install)
{
	bool reads = mr_str_eq(name, "pre-push");

	mr_buf_puts(out, "#!/bin/sh\n" MARK);
	mr_buf_printf(out,
		"%s. Made by `mailroom guard install`; `mailroom guard uninstall` takes it away.\n",
		name);
	mr_buf_printf(out, "hook=%s\n", name);
	mr_buf_puts(out, "program=");
	put_quoted(out, install->program);
	mr_buf_puts(out, "project=");
	put_quoted(out, install->project_key);
	mr_buf_puts(out, "storage=");
	put_quoted(out, install->storage_root);
	mr_buf_puts(out, "database=");
	put_quoted(out, install->database);
	for (size_t i = 0; i < MR_LEN(run_orig); i++)
		mr_buf_printf(out, "%s\n", run_orig[i]);
	if (reads)
		mr_buf_puts(out, "input=$(cat && echo .) && input=${input%.}\n");
	mr_buf_puts(out, "if [ -x " ORIG " ]; then\n");
	mr_buf_puts(out,
		reads ? "	printf %s \"$input\" | orig \"$@\" || exit $?\n"
		      : "	orig \"$@\" || exit $?\n");
	mr_buf_puts(out, "fi\n");
	mr_buf_puts(out, find_program);
	mr_buf_puts(out,
		reads ? "printf %s \"$input\" | \"$program\" \"$@\" >&2\n"
		      : "exec \"$program\" \"$@\" >&2\n");
}

static enum mr_code read_hook(struct mr_ctx *cx, const char *path, bool *there,
	struct mr_bytes *out)
{
	enum mr_code rc = mr_fs_read(cx->arena, AT_FDCWD, path, HOOK_BYTES, out, &cx->err);

	/* A dangling link, or a binary program, is somebody's hook, too. */
	*there = mr_fs_exists(AT_FDCWD, path);
	if (rc == MR_ENOTFOUND || rc == MR_ELIMIT) {
		*out = mr_bytes_text("");
		return MR_OK;
	}
	return rc;
}

/* Ours has the mark in its second line. */
static bool is_ours(struct mr_bytes text)
{
	const char *at = (const char *)text.data;
	const char *end = memchr(at, '\n', text.len);

	return end && mr_str_starts(end + 1, MARK);
}

static const char *orig_of(struct mr_ctx *cx, const struct mr_team_guard_hook *hook)
{
	return mr_arena_printf(cx->arena, "%s" ORIG_SUFFIX, hook->path);
}

static enum mr_code look_at(struct mr_ctx *cx, struct mr_team_guard_hook *hook)
{
	struct mr_bytes text;
	bool there = false;
	enum mr_code rc = read_hook(cx, hook->path, &there, &text);

	if (rc)
		return rc;
	hook->state = !there    ? MR_TEAM_GUARD_ABSENT
		: is_ours(text) ? MR_TEAM_GUARD_INSTALLED
				: MR_TEAM_GUARD_FOREIGN;
	hook->chained = mr_fs_exists(AT_FDCWD, orig_of(cx, hook));
	return MR_OK;
}

enum mr_code mr_team_guard_hooks_look(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	struct mr_team_guard_hooks *out)
{
	struct mr_team_guard_hooks hooks = { 0 };
	enum mr_code rc = mr_team_guard_hooks_dir(cx, place, &hooks.directory, &hooks.shared);

	for (size_t i = 0; i < MR_TEAM_GUARD_HOOKS && !rc; i++) {
		hooks.items[i].name = names[i];
		hooks.items[i].path =
			mr_arena_printf(cx->arena, "%s/%s", hooks.directory, names[i]);
		rc = look_at(cx, &hooks.items[i]);
	}
	if (!rc)
		*out = hooks;
	return rc;
}

static bool is_same_file(struct mr_ctx *cx, const char *a, const char *b)
{
	struct mr_bytes x = { 0 }, y = { 0 };
	bool there_a = false, there_b = false;

	return !read_hook(cx, a, &there_a, &x) && !read_hook(cx, b, &there_b, &y) && there_a &&
		there_b && x.len > 0 && x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
}

/* Keep the hook under its other name before ours replaces it, so that there is always a hook. */
static enum mr_code keep_orig(struct mr_ctx *cx, const struct mr_team_guard_hook *hook)
{
	const char *orig = orig_of(cx, hook);

	if (hook->chained) {
		if (is_same_file(cx, hook->path, orig))
			return MR_OK;
		return mr_team_fail(cx, MR_TEAM_INVALID_ARGUMENT,
			"%s is not Mailroom's, and %s exists already: remove the older one, then "
			"install again",
			hook->path, orig);
	}
	if (linkat(AT_FDCWD, hook->path, AT_FDCWD, orig, 0) == 0)
		return MR_OK;
	return mr_fs_rename(AT_FDCWD, hook->path, AT_FDCWD, orig, MR_FS_NEW, &cx->err);
}

static enum mr_code install_one(struct mr_ctx *cx, struct mr_team_guard_hook *hook,
	const struct mr_team_guard_install *install)
{
	struct mr_buf stub MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bytes now;
	bool there = false;
	enum mr_code rc = MR_OK;

	mr_buf_init(&stub, STUB_BYTES);
	put_stub(&stub, hook->name, install);
	rc = mr_buf_check(&stub, "the hook", &cx->err);
	if (!rc && hook->state == MR_TEAM_GUARD_FOREIGN)
		rc = keep_orig(cx, hook);
	if (!rc)
		rc = read_hook(cx, hook->path, &there, &now);
	if (!rc &&
		!(there && access(hook->path, X_OK) == 0 && now.len == stub.len &&
			memcmp(now.data, stub.data, now.len) == 0))
		rc = mr_fs_write(AT_FDCWD, hook->path, mr_buf_bytes(&stub), MR_FS_REPLACE, 0755,
			&cx->err);
	return rc ? rc : look_at(cx, hook);
}

enum mr_code mr_team_guard_hooks_install(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	const struct mr_team_guard_install *install, struct mr_team_guard_hooks *out)
{
	struct mr_team_guard_install own = *install;
	struct mr_team_guard_hooks hooks;
	enum mr_code rc = mr_team_guard_hooks_look(cx, place, &hooks);

	if (rc)
		return rc;
	/* Hooks shared by several clones must find their project at run time. */
	if (hooks.shared)
		own.project_key = NULL;
	rc = mr_fs_make_dirs(AT_FDCWD, hooks.directory, 0777, &cx->err);
	for (size_t i = 0; i < MR_TEAM_GUARD_HOOKS && !rc; i++)
		rc = install_one(cx, &hooks.items[i], &own);
	if (!rc)
		*out = hooks;
	return rc;
}

static enum mr_code remove_one(struct mr_ctx *cx, struct mr_team_guard_hook *hook, bool *removed)
{
	enum mr_code rc = MR_OK;

	if (hook->state == MR_TEAM_GUARD_FOREIGN)
		return MR_OK;
	*removed = *removed || hook->state == MR_TEAM_GUARD_INSTALLED;
	/* Over ours in one step, or from where somebody took ours away. */
	if (hook->chained)
		rc = mr_fs_rename(AT_FDCWD, orig_of(cx, hook), AT_FDCWD, hook->path, MR_FS_REPLACE,
			&cx->err);
	else if (hook->state == MR_TEAM_GUARD_INSTALLED && unlink(hook->path) != 0)
		rc = mr_err_os(&cx->err, errno, "cannot remove %s", hook->path);
	return rc ? rc : look_at(cx, hook);
}

enum mr_code mr_team_guard_hooks_remove(struct mr_ctx *cx, const struct mr_team_guard_place *place,
	bool *removed, struct mr_team_guard_hooks *out)
{
	struct mr_team_guard_hooks hooks;
	bool any = false;
	enum mr_code rc = mr_team_guard_hooks_look(cx, place, &hooks);

	for (size_t i = 0; i < MR_TEAM_GUARD_HOOKS && !rc; i++)
		rc = remove_one(cx, &hooks.items[i], &any);
	if (rc)
		return rc;
	*removed = any;
	*out = hooks;
	return MR_OK;
}
