/*
 * workspace/import.c - reads mail out of files and takes it in.
 *
 * Mails are staged in .afmail/incoming, a batch of them is made durable all at once, and then each
 * is put in place, so that a mail has its name only when it is whole.
 */
#include "workspace/import.h"

#include "base/crash.h"
#include "workspace/change_private.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	BATCH = 200,          /* messages between two syncs */
	FEW = 4,              /* made durable one by one: others' data need not be waited for */
	FAILURES_MAX = 1000,  /* told one by one */
	READ_BYTES = 4 << 20, /* of an mbox that stay in memory once they were read */
};

struct import {
	struct mr_ctx *cx;
	struct mr_work *work;
	struct mr_work_imported *out;
	struct mr_texts batch; /* taken in, not yet indexed */
	struct mr_texts
		staged; /* those of them whose files are not in place yet, by their number */
	size_t ids_cap, failures_cap;
	size_t done, total; /* bytes, for the progress */
};

/* --- what came of each --- */

static void remember(struct import *import, const char *id)
{
	struct mr_texts *ids = &import->out->message_ids;

	if (ids->len == import->ids_cap) {
		const char **items;

		import->ids_cap = import->ids_cap ? import->ids_cap * 2 : 64;
		items = mr_arena_array(import->cx->arena, import->ids_cap + 1, sizeof(*items));
		if (ids->len)
			memcpy(items, ids->items, ids->len * sizeof(*items));
		ids->items = items;
	}
	ids->items[ids->len++] = id;
}

/* Tell of a message that could not be taken in, and go on. */
static void fail(struct import *import, const char *source)
{
	struct mr_work_imported *out = import->out;
	struct mr_arena *arena = import->cx->arena;

	out->failed_count++;
	if (!out->failures)
		out->failures = mr_arena_array(arena, FAILURES_MAX, sizeof(*out->failures));
	if (out->failure_count < FAILURES_MAX)
		out->failures[out->failure_count++] = (struct mr_work_import_failure){
			.source = mr_arena_strdup(arena, source),
			.error_code = import->cx->err.word
				? import->cx->err.word
				: mr_work_error_word(MR_WORK_STORE_ERROR),
			.error = mr_arena_strdup(arena, import->cx->err.msg),
		};
	import->cx->err = (struct mr_err){ 0 };
}

/* --- files --- */

static const char *staged_path(struct mr_arena *arena, size_t number)
{
	return mr_arena_printf(arena, MR_WORK_INCOMING "/import-%zu.eml", number);
}

static enum mr_code stage(struct mr_ctx *cx, struct import *import, const char *id,
	struct mr_bytes eml)
{
	if (mr_fs_write_bare(import->work->dir, staged_path(cx->arena, import->staged.len), eml,
		    false, 0644, &cx->err))
		return mr_work_store_error(cx);
	import->staged.items[import->staged.len++] = mr_arena_strdup(import->cx->arena, id);
	return MR_OK;
}

static enum mr_code sync_one(struct mr_ctx *cx, struct import *import, const char *path)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_beneath(import->work->dir, path, O_RDONLY, 0, &fd, &cx->err);

	return rc ? rc : mr_fs_sync(fd, path, &cx->err);
}

/* Make what was staged durable, and give it its names. */
static enum mr_code place_staged(struct import *import)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx *cx = import->cx;
	int dir = import->work->dir;
	size_t len = import->staged.len;
	enum mr_code rc = MR_OK;

	if (len > FEW)
		rc = mr_fs_sync_all(dir, &cx->err);
	for (size_t i = 0; !rc && len <= FEW && i < len; i++)
		rc = sync_one(cx, import, staged_path(arena, i));
	mr_crash_point("work.import.durable");
	for (size_t i = 0; !rc && i < len; i++) {
		rc = mr_fs_place(dir, staged_path(arena, i),
			mr_work_path_eml(arena, import->staged.items[i]), MR_FS_NEW, &cx->err);
		mr_crash_point("work.import.placed");
	}
	import->staged.len = 0;
	if (!rc && len)
		rc = mr_fs_sync_dir(dir, MR_WORK_EVIDENCE, &cx->err);
	return rc ? mr_work_store_error(cx) : MR_OK;
}

/* Make what was taken in durable, then known, then visible. */
static enum mr_code finish_batch(struct import *import)
{
	enum mr_code rc;

	if (!import->batch.len)
		return MR_OK;
	rc = place_staged(import);
	mr_crash_point("work.import.synced");
	if (!rc)
		rc = mr_work_take_show(import->cx, import->work, &import->batch, NULL);
	import->batch.len = 0;
	return rc;
}

/* --- one message --- */

static enum mr_code take_one(struct mr_ctx *cx, struct import *import, struct mr_bytes eml,
	const char **out_id, bool *out_present)
{
	struct mr_mime mime;
	const char *id = NULL;
	enum mr_code rc;

	if (mr_mime_parse(cx->arena, eml, &mime, &cx->err))
		return mr_work_refuse(cx, MR_WORK_MIME_PARSE_FAILED, "%s", cx->err.msg);
	if (!mime.field_count)
		return mr_work_refuse(cx, MR_WORK_MIME_PARSE_FAILED,
			"this is no e-mail: it has no header");
	rc = mr_work_take_id(cx, import->work, &mime, NULL, &id, out_present);
	if (!rc && mr_texts_has(&import->staged, id)) { /* it has to be there to be compared with */
		rc = finish_batch(import);
		if (rc)
			cx->err = import->cx->err;
		else
			rc = mr_work_take_id(cx, import->work, &mime, NULL, &id, out_present);
	}
	if (!rc && !*out_present)
		rc = stage(cx, import, id, eml);
	*out_id = id;
	return rc;
}

/* One message, in an arena of its own. Only failures of the workspace end the import. */
static enum mr_code take(struct import *import, struct mr_bytes eml, const char *source)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_work_config *config = NULL;
	struct mr_ctx own = *import->cx;
	const char *id = NULL;
	bool present = false;
	enum mr_code rc = mr_work_config_get(import->cx, import->work, &config);

	if (rc)
		return rc;
	own.arena = arena;
	import->out->found_count++;
	rc = take_one(&own, import, eml, &id, &present);
	import->done += eml.len;
	if (import->cx->progress)
		import->cx->progress(import->cx->progress_arg, "bytes", import->done,
			import->total);
	if (rc) {
		import->cx->err = own.err;
		import->cx->err.detail = NULL;
		if (rc == MR_EIO || rc == MR_EPERM) /* the disk is full: the rest would fail too */
			return rc;
		fail(import, source);
		return MR_OK;
	}
	if (present) {
		import->out->already_present_count++;
		/* An import that was killed may have left it without a record and a view. */
		if (mr_fs_exists(import->work->dir, mr_work_path_record(arena, id)))
			return MR_OK;
	}
	id = mr_arena_strdup(import->cx->arena, id);
	if (!present) {
		import->out->new_message_count++;
		import->out->triage_created_count++;
		remember(import, id);
	}
	import->batch.items[import->batch.len++] = id;
	mr_crash_point("work.import.taken");
	return import->batch.len == BATCH ? finish_batch(import) : MR_OK;
}

/* --- mbox --- */

static const char from_line[] = "From ";

static bool begins_message(const char *at, size_t len)
{
	return len >= strlen(from_line) && memcmp(at, from_line, strlen(from_line)) == 0;
}

/* Is it ">From ", ">>From ": a line that mbox changed? */
static bool is_escaped(const char *at, size_t len)
{
	size_t marks = 0;

	while (marks < len && at[marks] == '>')
		marks++;
	return marks && begins_message(at + marks, len - marks);
}

/* The message as it was before it was put into the mbox: without the blank line at its end and the
 * marks before "From ". */
static struct mr_bytes unescape(struct mr_arena *arena, const char *at, size_t len)
{
	char *out = mr_arena_alloc(arena, len + 1);
	size_t to = 0;

	for (size_t i = 0; i < len;) {
		const char *newline = memchr(at + i, '\n', len - i);
		size_t line = newline ? (size_t)(newline - at) + 1 - i : len - i;
		size_t skip = is_escaped(at + i, line);

		memcpy(out + to, at + i + skip, line - skip);
		to += line - skip;
		i += line;
	}
	if (to >= 2 && out[to - 1] == '\n' && out[to - 2] == '\n')
		to--;
	else if (to >= 4 && memcmp(out + to - 4, "\r\n\r\n", 4) == 0)
		to -= 2;
	return mr_bytes_of(out, to);
}

static enum mr_code take_from_mbox(struct import *import, const char *at, size_t len,
	const char *path, size_t number)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	return take(import, unescape(arena, at, len),
		mr_arena_printf(arena, "%s:%zu", path, number));
}

/* Let go of the pages before `end`: an mbox may be larger than memory. Returns where the kept ones
 * begin. */
static size_t let_go(struct mr_bytes file, size_t from, size_t end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t to = end / page * page;

	if (to < from + READ_BYTES)
		return from;
	(void)madvise((char *)(uintptr_t)file.data + from, to - from, MADV_DONTNEED);
	return to;
}

static enum mr_code import_mbox(struct import *import, struct mr_bytes file, const char *path)
{
	const char *text = (const char *)file.data;
	size_t begin = 0, number = 0, kept = 0;
	bool after_blank = true, inside = false;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < file.len && !rc;) {
		const char *newline = memchr(text + i, '\n', file.len - i);
		size_t next = newline ? (size_t)(newline - text) + 1 : file.len;

		if (after_blank && begins_message(text + i, next - i)) {
			if (inside)
				rc = take_from_mbox(import, text + begin, i - begin, path, number);
			kept = let_go(file, kept, i);
			begin = next;
			inside = true;
			number++;
		}
		after_blank = next - i == 1 || (next - i == 2 && text[i] == '\r');
		i = next;
	}
	if (!rc && inside)
		rc = take_from_mbox(import, text + begin, file.len - begin, path, number);
	return rc;
}

/* --- files and directories --- */

struct mapping {
	void *data;
	size_t len;
};

static void unmap(struct mapping *mapping)
{
	if (mapping->data)
		munmap(mapping->data, mapping->len);
}

static enum mr_code cannot_read(struct import *import, const char *path)
{
	mr_err_os(&import->cx->err, errno, "cannot read %s", path);
	mr_work_store_error(import->cx);
	fail(import, path);
	return MR_OK;
}

static enum mr_code import_file(struct import *import, const char *path)
{
	struct mapping mapping MR_CLEANUP(unmap) = { 0 };
	int fd MR_CLEANUP(mr_fs_closep) = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	struct mr_bytes bytes;

	if (fd < 0 || fstat(fd, &st) != 0)
		return cannot_read(import, path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0) {
		mr_work_refuse(import->cx, MR_WORK_INVALID_REQUEST, "%s is %s", path,
			S_ISREG(st.st_mode) ? "empty" : "not a file");
		fail(import, path);
		return MR_OK;
	}
	mapping.len = (size_t)st.st_size;
	mapping.data = mmap(NULL, mapping.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapping.data == MAP_FAILED) {
		mapping.data = NULL;
		return cannot_read(import, path);
	}
	import->total += mapping.len;
	bytes = mr_bytes_of(mapping.data, mapping.len);
	if (begins_message(mapping.data, mapping.len))
		return import_mbox(import, bytes, path);
	return take(import, bytes, path);
}

static enum mr_code import_names(struct import *import, const char *dir, bool only_eml)
{
	struct mr_texts names = { 0 };
	struct mr_ctx *cx = import->cx;
	enum mr_code rc = MR_OK;

	if (mr_fs_list(cx->arena, AT_FDCWD, dir, MR_WORK_LIST_MAX, &names, &cx->err)) {
		mr_work_store_error(cx);
		fail(import, dir);
		return MR_OK;
	}
	for (size_t i = 0; !rc && i < names.len; i++)
		if (names.items[i][0] != '.' && (!only_eml || mr_str_ends(names.items[i], ".eml")))
			rc = import_file(import, mr_work_join(cx->arena, dir, names.items[i]));
	return rc;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum mr_code import_path(struct import *import, const char *path)
{
	struct mr_arena *arena = import->cx->arena;
	const char *cur = mr_work_join(arena, path, "cur"), *new = mr_work_join(arena, path, "new");
	enum mr_code rc;

	if (!is_dir(path))
		return import_file(import, path);
	if (!is_dir(cur) && !is_dir(new))
		return import_names(import, path, true);
	rc = is_dir(cur) ? import_names(import, cur, false) : MR_OK;
	if (!rc && is_dir(new))
		rc = import_names(import, new, false);
	return rc;
}

/* Absolute. A path that is not there is a mistake, and nothing is taken in. */
static enum mr_code find_paths(struct mr_ctx *cx, const struct mr_work_import *request,
	struct mr_texts *out)
{
	out->items = mr_arena_array(cx->arena, request->paths.len + 1, sizeof(*out->items));
	for (out->len = 0; out->len < request->paths.len; out->len++) {
		const char *path = request->paths.items[out->len];

		if (path[0] != '/')
			path = mr_work_join(cx->arena, request->base, path);
		if (access(path, F_OK) != 0)
			return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "cannot read %s: %s",
				path, strerror(errno));
		out->items[out->len] = path;
	}
	return MR_OK;
}

enum mr_code mr_work_import(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_import *request, struct mr_work_imported *out)
{
	struct mr_texts paths = { NULL, 0 };
	struct import import = { .cx = cx, .work = work, .out = out };
	size_t swept = 0;
	enum mr_code rc = mr_work_index_open(cx, work);

	*out = (struct mr_work_imported){ 0 };
	if (!request->paths.len)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "no file to import was named");
	if (!rc)
		rc = find_paths(cx, request, &paths);
	/* A workspace that was copied or cloned may have lost the directory while it was empty. */
	if (!rc &&
		(mr_fs_make_dirs(work->dir, MR_WORK_EVIDENCE, 0755, &cx->err) ||
			mr_fs_make_dirs(work->dir, MR_WORK_INCOMING, 0755, &cx->err)))
		rc = mr_work_store_error(cx);
	/* What a writer that was killed left half written. */
	if (!rc && mr_fs_sweep_temporaries(work->dir, MR_WORK_EVIDENCE, &swept, &cx->err))
		rc = mr_work_store_error(cx);
	import.batch.items = mr_arena_array(cx->arena, BATCH + 1, sizeof(*import.batch.items));
	import.staged.items = mr_arena_array(cx->arena, BATCH + 1, sizeof(*import.staged.items));
	for (size_t i = 0; !rc && i < paths.len; i++)
		rc = import_path(&import, paths.items[i]);
	return rc ? rc : finish_batch(&import);
}
