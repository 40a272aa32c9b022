/* workspace/audit_read.c - reads the audit log line by line, whatever its length. */
#include "base/buf.h"
#include "text/json.h"
#include "workspace/audit.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 << 10 };

static const struct mr_json_limits line_limits = { .max_bytes = MR_WORK_EVENT_BYTES,
	.max_depth = 64,
	.max_nodes = 8 << 20 };

/* `number` counts from 1 where the reading began. */
typedef enum mr_code on_line(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg);

static enum mr_code read_failed(struct mr_ctx *cx)
{
	mr_err_os(&cx->err, errno, "cannot read %s", MR_WORK_LOG);
	return mr_work_store_error(cx);
}

/* -1 when there is no log yet. */
static enum mr_code open_log(struct mr_ctx *cx, struct mr_work *work, int *out_fd, off_t *out_size)
{
	int fd MR_CLEANUP(mr_fs_closep) =
		openat(work->dir, MR_WORK_LOG, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? MR_OK : read_failed(cx);
	if (fstat(fd, &st) != 0)
		return read_failed(cx);
	*out_size = st.st_size;
	*out_fd = mr_fs_take(&fd);
	return MR_OK;
}

static ssize_t read_at(int fd, void *out, size_t len, off_t at)
{
	ssize_t got;

	do
		got = pread(fd, out, len, at);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Visit the whole lines in `buf` and keep what follows the last newline. */
static enum mr_code visit_lines(struct mr_ctx *cx, struct mr_buf *buf, size_t *number,
	on_line *visit, void *arg)
{
	size_t at = 0;
	enum mr_code rc = MR_OK;

	while (at < buf->len && !rc) {
		const char *newline = memchr(buf->data + at, '\n', buf->len - at);

		if (!newline)
			break;
		++*number;
		if (newline > buf->data + at)
			rc = visit(cx,
				mr_bytes_of(buf->data + at, (size_t)(newline - buf->data) - at),
				*number, arg);
		at = (size_t)(newline + 1 - buf->data);
	}
	if (at > 0) {
		memmove(buf->data, buf->data + at, buf->len - at);
		buf->len -= at;
	}
	return rc;
}

static bool parses(struct mr_bytes line)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value = NULL;
	struct mr_err ignored = { 0 };

	return !mr_json_parse(scratch, line, &line_limits, &value, &ignored);
}

/* Every line that is not empty, from byte `from` on. What a crash left of a line at the end,
 * without its newline, is no line. */
static enum mr_code each_line(struct mr_ctx *cx, int fd, off_t from, on_line *visit, void *arg)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	char *chunk = mr_arena_alloc(cx->arena, CHUNK_BYTES);
	size_t number = 0;
	enum mr_code rc = MR_OK;

	mr_buf_init(&buf, MR_WORK_EVENT_BYTES + CHUNK_BYTES);
	while (!rc) {
		ssize_t got = read_at(fd, chunk, CHUNK_BYTES, from);

		if (got < 0)
			return read_failed(cx);
		if (got == 0)
			break;
		from += got;
		mr_buf_add(&buf, chunk, (size_t)got);
		if (mr_buf_check(&buf, "a line of " MR_WORK_LOG, &cx->err))
			return mr_work_store_error(cx);
		rc = visit_lines(cx, &buf, &number, visit, arg);
	}
	if (!rc && buf.len > 0 && parses(mr_buf_bytes(&buf)))
		rc = visit(cx, mr_buf_bytes(&buf), number + 1, arg);
	return rc;
}

/* `number` is 0 when it is not known. */
static enum mr_code parse_line(struct mr_ctx *cx, struct mr_bytes line, size_t number,
	const struct mr_value **out)
{
	if (!mr_json_parse(cx->arena, line, &line_limits, out, &cx->err))
		return MR_OK;
	if (number)
		mr_err_wrap(&cx->err, "%s: line %zu", MR_WORK_LOG, number);
	else
		mr_err_wrap(&cx->err, "%s: one of its last lines", MR_WORK_LOG);
	return mr_work_store_error(cx);
}

static void keep(struct mr_ctx *cx, struct mr_work_events *events, size_t *cap,
	const struct mr_value *event)
{
	if (events->len == *cap) {
		const struct mr_value **items;

		*cap = *cap ? *cap * 2 : 16;
		items = mr_arena_array(cx->arena, *cap, sizeof(*items));
		if (events->len)
			memcpy(items, events->items, events->len * sizeof(*items));
		events->items = items;
	}
	events->items[events->len++] = event;
}

/* --- the last ones --- */

/* Where the last `limit` lines begin, found from the end of the file. Empty lines do not count; one
 * without its newline may be none, so that there is one more then. */
static enum mr_code find_start(struct mr_ctx *cx, int fd, off_t size, size_t limit, off_t *out)
{
	char *chunk = mr_arena_alloc(cx->arena, CHUNK_BYTES);
	char after = '\n'; /* the byte behind the one that is looked at */
	size_t lines = 0;

	for (off_t at = size; at > 0;) {
		size_t len = at > CHUNK_BYTES ? CHUNK_BYTES : (size_t)at;

		if (read_at(fd, chunk, len, at - (off_t)len) != (ssize_t)len)
			return read_failed(cx);
		if (at == size && chunk[len - 1] != '\n' && limit < SIZE_MAX)
			limit++;
		at -= (off_t)len;
		for (size_t i = len; i > 0; after = chunk[--i])
			if (chunk[i - 1] == '\n' && after != '\n' && ++lines == limit) {
				*out = at + (off_t)i;
				return MR_OK;
			}
	}
	*out = 0;
	return MR_OK;
}

struct last {
	struct mr_work_events *events;
	size_t cap;
};

static enum mr_code keep_last(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg)
{
	struct last *last = arg;
	const struct mr_value *event = NULL;
	enum mr_code rc = parse_line(cx, line, 0, &event);

	(void)number; /* counts from where the reading began */
	if (!rc)
		keep(cx, last->events, &last->cap, event);
	return rc;
}

enum mr_code mr_work_audit_last(struct mr_ctx *cx, struct mr_work *work, size_t limit,
	struct mr_work_events *out)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct last last = { .events = out };
	off_t size = 0, from = 0;
	enum mr_code rc;

	*out = (struct mr_work_events){ 0 };
	rc = open_log(cx, work, &fd, &size);
	if (rc || fd < 0 || !limit)
		return rc;
	rc = find_start(cx, fd, size, limit, &from);
	if (!rc)
		rc = each_line(cx, fd, from, keep_last, &last);
	if (!rc && out->len > limit) {
		out->items += out->len - limit;
		out->len = limit;
	}
	return rc;
}

/* --- those of one target --- */

struct wanted {
	const char *kind, *id;
	struct mr_work_events *events;
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

/* Does the line hold the id as text, or a character written as an escape, which could be part of
 * it? Most lines do not, and need not be parsed to be passed over. */
static bool may_target(struct mr_bytes line, const char *id)
{
	return memmem(line.data, line.len, id, strlen(id)) || memchr(line.data, '\\', line.len);
}

static enum mr_code keep_wanted(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg)
{
	struct wanted *wanted = arg;
	const struct mr_value *event = NULL;
	enum mr_code rc;

	/* A line that is no object is told, whatever it was meant to be about. */
	if (!may_target(line, wanted->id) && line.data[0] == '{' && line.data[line.len - 1] == '}')
		return MR_OK;
	rc = parse_line(cx, line, number, &event);
	if (!rc && targets(event, wanted))
		keep(cx, wanted->events, &wanted->cap, event);
	return rc;
}

enum mr_code mr_work_audit_of(struct mr_ctx *cx, struct mr_work *work, const char *target_kind,
	const char *target_id, struct mr_work_events *out)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct wanted wanted = { target_kind, target_id, out, 0 };
	off_t size = 0;
	enum mr_code rc;

	*out = (struct mr_work_events){ 0 };
	rc = open_log(cx, work, &fd, &size);
	return rc || fd < 0 ? rc : each_line(cx, fd, 0, keep_wanted, &wanted);
}

static enum mr_code count_bad(struct mr_ctx *cx, struct mr_bytes line, size_t number, void *arg)
{
	size_t *bad = arg;

	(void)cx;
	(void)number;
	*bad += !parses(line);
	return MR_OK;
}

enum mr_code mr_work_audit_check(struct mr_ctx *cx, struct mr_work *work, size_t *out_bad_lines)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	off_t size = 0;
	enum mr_code rc = open_log(cx, work, &fd, &size);

	*out_bad_lines = 0;
	return rc || fd < 0 ? rc : each_line(cx, fd, 0, count_bad, out_bad_lines);
}
