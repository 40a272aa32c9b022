/* workspace/audit.c - appends events to the audit log of a workspace. */
#include "workspace/audit.h"

#include "base/buf.h"
#include "base/crash.h"
#include "text/json.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	TAIL_BYTES = 64 << 10,      /* enough to find the last newline, as a rule */
	BATCH_BYTES = 256 << 20,    /* all events of one change */
	SINCE_BYTES_MAX = 512 << 20 /* what one interrupted change can have written */
};

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

enum mr_code mr_work_audit_size(struct mr_ctx *cx, struct mr_work *work, int64_t *out)
{
	struct stat st = { 0 };

	if (fstatat(work->dir, MR_WORK_LOG, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT) {
		mr_err_os(&cx->err, errno, "cannot open %s", MR_WORK_LOG);
		return mr_work_store_error(cx);
	}
	*out = st.st_size;
	return MR_OK;
}

static enum mr_code read_from(struct mr_ctx *cx, int fd, off_t from, off_t to, struct mr_bytes *out)
{
	size_t len = (size_t)(to - from), got = 0;
	char *text = mr_arena_alloc(cx->arena, len + 1);

	while (got < len) {
		ssize_t n = pread(fd, text + got, len - got, from + (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&cx->err, errno, "cannot read %s", MR_WORK_LOG);
		if (n == 0)
			return mr_err_set(&cx->err, MR_EIO, "%s was shortened meanwhile",
				MR_WORK_LOG);
		got += (size_t)n;
	}
	*out = mr_bytes_of(text, len);
	return MR_OK;
}

static bool parses(struct mr_ctx *cx, struct mr_bytes line)
{
	static const struct mr_json_limits limits = { .max_bytes = MR_WORK_EVENT_BYTES,
		.max_depth = 64,
		.max_nodes = 8 << 20 };
	const struct mr_value *value = NULL;
	struct mr_err ignored = { 0 };

	return !mr_json_parse(cx->arena, line, &limits, &value, &ignored);
}

/*
 * How much of the file stays. The last line may have no newline: when it parses, somebody else left
 * the newline out; when it does not, a crash cut it off and it goes.
 */
static enum mr_code find_end(struct mr_ctx *cx, int fd, off_t size, off_t *keep,
	bool *needs_newline)
{
	struct mr_bytes tail = { 0 };
	const uint8_t *newline = NULL;
	off_t from = size;
	enum mr_code rc = MR_OK;

	*keep = size;
	*needs_newline = false;
	for (off_t window = TAIL_BYTES; from > 0 && !newline; window *= 2) {
		from = size > window ? size - window : 0;
		rc = read_from(cx, fd, from, size, &tail);
		if (rc)
			return rc;
		newline = memrchr(tail.data, '\n', tail.len);
	}
	if (tail.len == 0 || tail.data[tail.len - 1] == '\n')
		return MR_OK;
	if (newline) {
		size_t skip = (size_t)(newline + 1 - tail.data);

		tail = mr_bytes_of(tail.data + skip, tail.len - skip);
	}
	if (parses(cx, tail))
		*needs_newline = true;
	else
		*keep = size - (off_t)tail.len;
	return MR_OK;
}

/* Write at the end and make it durable. */
static enum mr_code write_end(struct mr_ctx *cx, int fd, off_t at, struct mr_bytes bytes)
{
	for (size_t done = 0; done < bytes.len;) {
		ssize_t wrote = pwrite(fd, bytes.data + done, bytes.len - done, at + (off_t)done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return mr_err_os(&cx->err, errno, "cannot write %s", MR_WORK_LOG);
		done += (size_t)wrote;
		mr_crash_point("work.audit.written");
	}
	return mr_fs_sync(fd, MR_WORK_LOG, &cx->err);
}

static bool has_event(struct mr_ctx *cx, struct mr_bytes written, const char *event_id)
{
	const char *quoted = mr_arena_printf(cx->arena, "\"%s\"", event_id);

	return written.len && memmem(written.data, written.len, quoted, strlen(quoted));
}

static void put_line(struct mr_buf *buf, const struct mr_value *event)
{
	struct mr_json_writer writer;

	mr_json_init(&writer, buf, MR_JSON_COMPACT);
	mr_json_value(&writer, event);
	mr_buf_putc(buf, '\n');
}

enum mr_code mr_work_audit_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_audit_line *lines, size_t count, int64_t since)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_buf batch MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bytes written = { 0 };
	bool needs_newline = false;
	off_t size = 0, keep = 0;
	enum mr_code rc;

	rc = open_log(cx, work, &fd, &size);
	if (!rc)
		rc = find_end(cx, fd, size, &keep, &needs_newline);
	if (!rc && since >= 0 && since < keep && keep - since <= SINCE_BYTES_MAX)
		rc = read_from(cx, fd, since, keep, &written);
	if (rc)
		return rc;
	mr_buf_init(&batch, BATCH_BYTES);
	if (needs_newline)
		mr_buf_putc(&batch, '\n');
	for (size_t i = 0; i < count; i++) {
		size_t before = batch.len;

		if (has_event(cx, written, lines[i].event_id))
			continue;
		put_line(&batch, lines[i].event);
		if (batch.len - before > MR_WORK_EVENT_BYTES)
			return mr_err_set(&cx->err, MR_ELIMIT,
				"an event of the audit log is longer than %d bytes",
				MR_WORK_EVENT_BYTES);
	}
	rc = mr_buf_check(&batch, "the events of a change", &cx->err);
	if (rc)
		return rc;
	if (keep != size && ftruncate(fd, keep) != 0)
		return mr_err_os(&cx->err, errno, "cannot shorten %s", MR_WORK_LOG);
	return write_end(cx, fd, keep, mr_buf_bytes(&batch));
}
