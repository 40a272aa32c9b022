/* workspace/audit.c - appends to and reads the audit log of a workspace. */
#include "workspace/audit.h"

#include "base/buf.h"
#include "base/crash.h"
#include "text/json.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { TAIL_BYTES = 256 << 10 }; /* where a repeated event would stand */

static enum mr_code open_log(struct mr_ctx *cx, struct mr_work *work, int *out_fd, off_t *out_size)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct stat st;

	if (mr_fs_make_dirs(work->dir, MR_WORK_LOG_DIR, 0755, &cx->err))
		return cx->err.code;
	fd = openat(work->dir, MR_WORK_LOG, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || fstat(fd, &st) != 0)
		return mr_err_os(&cx->err, errno, "cannot open %s", MR_WORK_LOG);
	*out_fd = mr_fs_take(&fd);
	*out_size = st.st_size;
	return MR_OK;
}

static bool parses(struct mr_ctx *cx, struct mr_bytes line)
{
	const struct mr_value *value = NULL;
	struct mr_err ignored = { 0 };

	return !mr_json_parse(cx->arena, line, NULL, &value, &ignored);
}

/*
 * The end of the file, up to TAIL_BYTES. A last line without a newline was cut off by a crash, when
 * it does not parse: `*keep` is how much of the file stays then.
 */
static enum mr_code read_tail(struct mr_ctx *cx, int fd, off_t size, struct mr_bytes *out,
	off_t *keep, bool *needs_newline)
{
	size_t len = size > TAIL_BYTES ? TAIL_BYTES : (size_t)size;
	char *tail = mr_arena_alloc(cx->arena, len + 1);
	const char *newline;
	size_t last;

	if (pread(fd, tail, len, size - (off_t)len) != (ssize_t)len)
		return mr_err_os(&cx->err, errno, "cannot read %s", MR_WORK_LOG);
	*out = mr_bytes_of(tail, len);
	*keep = size;
	*needs_newline = false;
	if (len == 0 || tail[len - 1] == '\n')
		return MR_OK;
	newline = memrchr(tail, '\n', len);
	last = newline ? (size_t)(newline + 1 - tail) : 0;
	if (parses(cx, mr_bytes_of(tail + last, len - last)))
		*needs_newline = true;
	else
		*keep = size - (off_t)(len - last);
	return MR_OK;
}

static bool has_event(struct mr_bytes tail, const char *event_id)
{
	return memmem(tail.data, tail.len, event_id, strlen(event_id)) != NULL;
}

enum mr_code mr_work_audit_append(struct mr_ctx *cx, struct mr_work *work, const char *event_id,
	const struct mr_value *event)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_buf line MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;
	struct mr_bytes tail = { 0 };
	bool needs_newline = false;
	off_t size = 0, keep = 0;
	enum mr_code rc;

	rc = open_log(cx, work, &fd, &size);
	if (!rc)
		rc = read_tail(cx, fd, size, &tail, &keep, &needs_newline);
	if (rc)
		return rc;
	if (keep == size && has_event(tail, event_id))
		return MR_OK;
	if (keep != size && ftruncate(fd, keep) != 0)
		return mr_err_os(&cx->err, errno, "cannot shorten %s", MR_WORK_LOG);
	mr_buf_init(&line, MR_WORK_EVENT_BYTES);
	if (needs_newline)
		mr_buf_putc(&line, '\n');
	mr_json_init(&writer, &line, MR_JSON_COMPACT);
	mr_json_value(&writer, event);
	mr_buf_putc(&line, '\n');
	rc = mr_buf_check(&line, "an event of the audit log", &cx->err);
	if (rc)
		return rc;
	for (size_t at = 0; at < line.len;) {
		ssize_t wrote = pwrite(fd, line.data + at, line.len - at, keep + (off_t)at);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return mr_err_os(&cx->err, errno, "cannot write %s", MR_WORK_LOG);
		at += (size_t)wrote;
		mr_crash_point("work.audit.written");
	}
	return mr_fs_sync(fd, MR_WORK_LOG, &cx->err);
}

/* --- reading --- */

typedef enum mr_code on_line(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg);

static enum mr_code each_line(struct mr_ctx *cx, struct mr_work *work, on_line *visit, void *arg)
{
	struct mr_bytes log = { 0 };
	struct mr_err err = { 0 };
	enum mr_code rc =
		mr_fs_read(cx->arena, work->dir, MR_WORK_LOG, MR_WORK_LOG_BYTES, &log, &err);
	const char *at = (const char *)log.data, *end;

	if (rc == MR_ENOTFOUND)
		return MR_OK;
	if (rc) {
		cx->err = err;
		return mr_work_store_error(cx);
	}
	end = at + log.len;
	for (size_t number = 1; at < end && !rc; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		if (stop > at)
			rc = visit(cx, mr_bytes_of(at, (size_t)(stop - at)), number, arg);
		at = stop + 1;
	}
	return rc;
}

static enum mr_code parse_line(struct mr_ctx *cx, struct mr_bytes line, size_t number,
	const struct mr_value **out)
{
	if (!mr_json_parse(cx->arena, line, NULL, out, &cx->err))
		return MR_OK;
	mr_err_wrap(&cx->err, "%s: line %zu", MR_WORK_LOG, number);
	return mr_work_store_error(cx);
}

struct last {
	struct mr_bytes *lines; /* a ring of `limit` */
	size_t limit, count;
};

static enum mr_code keep_line(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg)
{
	struct last *last = arg;

	(void)cx;
	(void)number;
	last->lines[last->count++ % last->limit] = line;
	return MR_OK;
}

enum mr_code mr_work_audit_last(struct mr_ctx *cx, struct mr_work *work, size_t limit,
	struct mr_work_events *out)
{
	struct last last = { .limit = limit };
	enum mr_code rc;

	*out = (struct mr_work_events){ 0 };
	if (!limit)
		return MR_OK;
	last.lines = mr_arena_array(cx->arena, limit, sizeof(*last.lines));
	rc = each_line(cx, work, keep_line, &last);
	if (rc)
		return rc;
	out->items = mr_arena_array(cx->arena, limit, sizeof(*out->items));
	for (size_t i = last.count > limit ? last.count - limit : 0; i < last.count && !rc; i++)
		rc = parse_line(cx, last.lines[i % limit], i + 1, &out->items[out->len++]);
	return rc;
}

struct wanted {
	const char *kind, *id;
	struct mr_work_events *out;
	size_t cap;
};

static bool targets(const struct mr_value *event, const struct wanted *wanted)
{
	const struct mr_value *list = mr_value_get(event, "targets");

	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len; i++) {
		const struct mr_value *kind = mr_value_get(&list->list.items[i], "kind");
		const struct mr_value *id = mr_value_get(&list->list.items[i], "id");

		if (kind && id && kind->kind == MR_TEXT && id->kind == MR_TEXT &&
			mr_str_eq(kind->text, wanted->kind) && mr_str_eq(id->text, wanted->id))
			return true;
	}
	return false;
}

static enum mr_code keep_event(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg)
{
	struct wanted *wanted = arg;
	struct mr_work_events *out = wanted->out;
	const struct mr_value *event = NULL;
	enum mr_code rc;

	/* Most lines are of other targets and need not be parsed. */
	if (!has_event(line, wanted->id))
		return MR_OK;
	rc = parse_line(cx, line, number, &event);
	if (rc || !targets(event, wanted))
		return rc;
	if (out->len == wanted->cap) {
		const struct mr_value **items;

		wanted->cap = wanted->cap ? wanted->cap * 2 : 16;
		items = mr_arena_array(cx->arena, wanted->cap, sizeof(*items));
		if (out->len)
			memcpy(items, out->items, out->len * sizeof(*items));
		out->items = items;
	}
	out->items[out->len++] = event;
	return MR_OK;
}

enum mr_code mr_work_audit_of(struct mr_ctx *cx, struct mr_work *work, const char *target_kind,
	const char *target_id, struct mr_work_events *out)
{
	struct wanted wanted = { target_kind, target_id, out, 0 };

	*out = (struct mr_work_events){ 0 };
	return each_line(cx, work, keep_event, &wanted);
}

static enum mr_code count_bad(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg)
{
	size_t *bad = arg;

	(void)number;
	*bad += !parses(cx, line);
	return MR_OK;
}

enum mr_code mr_work_audit_check(struct mr_ctx *cx, struct mr_work *work, size_t *out_bad_lines)
{
	*out_bad_lines = 0;
	return each_line(cx, work, count_bad, out_bad_lines);
}
