/* bridge/backup_file.c - Writes a backup: entries, digests, manifest, and last its name. */
#include "bridge/backup_file.h"

#include "base/crash.h"
#include "base/fs.h"
#include "text/out.h"
#include "text/time.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_BYTES = 4 << 20 };

void mr_backup_sum(struct mr_buf *out, const char *hex, const char *path)
{
	bool is_odd = strpbrk(path, "\n\\\r");

	mr_buf_printf(out, "%s%s  ", is_odd ? "\\" : "", hex);
	for (const char *c = path; *c; c++) {
		if (*c == '\n')
			mr_buf_puts(out, "\\n");
		else if (*c == '\r')
			mr_buf_puts(out, "\\r");
		else if (*c == '\\')
			mr_buf_puts(out, "\\\\");
		else
			mr_buf_putc(out, *c);
	}
	mr_buf_putc(out, '\n');
}

enum mr_code mr_backup_file_begin(struct mr_ctx *cx, const char *path, struct mr_backup_file *out)
{
	struct mr_backup_file file MR_CLEANUP(mr_backup_file_close) = MR_BACKUP_FILE_INIT;

	file.path = path;
	if (mr_fs_exists(AT_FDCWD, path))
		return mr_err_set(&cx->err, MR_EEXISTS,
			"%s is there already: a backup never overwrites one; choose another name",
			path);
	file.partial = mr_arena_printf(cx->arena, "%s.partial", path);
	file.fd = open(file.partial, O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	if (file.fd < 0)
		return mr_err_os(&cx->err, errno, "cannot write %s", file.partial);
	if (flock(file.fd, LOCK_EX | LOCK_NB) != 0) {
		mr_fs_closep(&file.fd);
		return mr_err_set(&cx->err, MR_EBUSY, "another process is writing %s",
			file.partial);
	}
	if (ftruncate(file.fd, 0) != 0 || fchmod(file.fd, 0600) != 0)
		return mr_err_os(&cx->err, errno, "cannot write %s", file.partial);
	file.digest = mr_digest_begin_sha256();
	mr_buf_init(&file.head, MANIFEST_BYTES);
	mr_buf_init(&file.sums, MR_BACKUP_SUMS_BYTES);
	*out = file;
	file = MR_BACKUP_FILE_INIT;
	return MR_OK;
}

static enum mr_code write_all(struct mr_ctx *cx, struct mr_backup_file *file, const void *data,
	size_t len)
{
	const char *bytes = data;

	mr_digest_add(file->digest, data, len);
	for (size_t at = 0; at < len;) {
		ssize_t n = write(file->fd, bytes + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&cx->err, errno, "cannot write %s", file->partial);
		at += (size_t)n;
	}
	file->at += (int64_t)len;
	return MR_OK;
}

static enum mr_code write_head(struct mr_ctx *cx, struct mr_backup_file *file,
	const struct mr_tar_entry *entry)
{
	enum mr_code rc;

	mr_buf_clear(&file->head);
	mr_tar_put(&file->head, entry);
	rc = mr_buf_check(&file->head, entry->path, &cx->err);
	return rc ? rc
		  : write_all(cx, file, mr_buf_bytes(&file->head).data,
			    mr_buf_bytes(&file->head).len);
}

static enum mr_code write_padding(struct mr_ctx *cx, struct mr_backup_file *file, uint64_t size)
{
	static const char nothing[MR_TAR_BLOCK];

	return write_all(cx, file, nothing, mr_tar_padding(size));
}

static enum mr_code note_sum(struct mr_ctx *cx, struct mr_backup_file *file, const char *hex,
	const char *path)
{
	mr_backup_sum(&file->sums, hex, path);
	return mr_buf_check(&file->sums, "the list of digests", &cx->err);
}

static enum mr_code copy_content(struct mr_ctx *cx, struct mr_backup_file *file,
	const struct mr_tar_entry *entry, int from, struct mr_digest *digest)
{
	char piece[MR_BACKUP_PIECE_BYTES];
	uint64_t left = entry->size;
	enum mr_code rc = MR_OK;

	while (!rc && left) {
		ssize_t n = read(from, piece, left < sizeof(piece) ? left : sizeof(piece));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&cx->err, errno, "cannot read %s", entry->path);
		if (n == 0)
			return mr_err_set(&cx->err, MR_EBUSY,
				"%s was made shorter while it was read; try again", entry->path);
		mr_digest_add(digest, piece, (size_t)n);
		rc = write_all(cx, file, piece, (size_t)n);
		left -= (uint64_t)n;
	}
	return rc ? rc : write_padding(cx, file, entry->size);
}

enum mr_code mr_backup_file_put(struct mr_ctx *cx, struct mr_backup_file *file,
	struct mr_backup_part *part, const struct mr_tar_entry *entry, int from)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_digest *digest;
	const char *hex;
	enum mr_code rc = write_head(cx, file, entry);

	if (rc)
		return rc;
	digest = mr_digest_begin_sha256();
	rc = copy_content(cx, file, entry, from, digest);
	hex = mr_digest_end_hex(arena, digest);
	if (!rc)
		rc = note_sum(cx, file, hex, entry->path);
	part->files++;
	part->bytes += (int64_t)entry->size;
	return rc;
}

enum mr_code mr_backup_file_put_bytes(struct mr_ctx *cx, struct mr_backup_file *file,
	const char *path, struct mr_bytes bytes)
{
	const struct mr_tar_entry entry = { .kind = MR_TAR_FILE,
		.path = path,
		.size = bytes.len,
		.mode = 0600,
		.mtime_s = mr_clock_wall_us(cx->clock) / 1000000 };
	enum mr_code rc = write_head(cx, file, &entry);

	if (!rc)
		rc = write_all(cx, file, bytes.data, bytes.len);
	if (!rc)
		rc = write_padding(cx, file, bytes.len);
	return rc ? rc : note_sum(cx, file, mr_digest_sha256(cx->arena, bytes), path);
}

enum mr_code mr_backup_file_put_name(struct mr_ctx *cx, struct mr_backup_file *file,
	const struct mr_tar_entry *entry)
{
	return write_head(cx, file, entry);
}

static enum mr_code put_manifest(struct mr_ctx *cx, struct mr_backup_file *file,
	const struct mr_backup_part *parts, size_t count)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	enum mr_code rc;

	mr_buf_init(&text, MANIFEST_BYTES);
	mr_out_init_json(&out, &text, MR_JSON_INDENTED);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "format", MR_BACKUP_FORMAT);
	mr_out_int(&out, "version", MR_BACKUP_VERSION);
	mr_out_text(&out, "mailroom", MR_VERSION);
	mr_out_text(&out, "created_at",
		mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_SECONDS));
	mr_out_list(&out, "parts");
	for (size_t i = 0; i < count; i++) {
		mr_out_map(&out, NULL);
		mr_out_text(&out, "name", parts[i].name);
		mr_out_text(&out, "kind", parts[i].kind);
		mr_out_text(&out, "path", parts[i].path);
		mr_out_int(&out, "files", parts[i].files);
		mr_out_int(&out, "bytes", parts[i].bytes);
		mr_out_end(&out);
	}
	mr_out_end(&out);
	mr_out_text(&out, "sha256", mr_digest_end_hex(cx->arena, file->digest));
	file->digest = mr_digest_begin_sha256();
	mr_out_end(&out);
	mr_buf_putc(&text, '\n');
	rc = mr_buf_check(&text, MR_BACKUP_MANIFEST, &cx->err);
	return rc ? rc
		  : mr_backup_file_put_bytes(cx, file, MR_BACKUP_MANIFEST, mr_buf_bytes(&text));
}

static enum mr_code put_end(struct mr_ctx *cx, struct mr_backup_file *file)
{
	mr_buf_clear(&file->head);
	mr_tar_put_end(&file->head);
	return write_all(cx, file, mr_buf_bytes(&file->head).data, file->head.len);
}

enum mr_code mr_backup_file_end(struct mr_ctx *cx, struct mr_backup_file *file,
	const struct mr_backup_part *parts, size_t count)
{
	struct mr_buf sums MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = put_manifest(cx, file, parts, count);

	/* The list has no line for itself. */
	sums = file->sums;
	mr_buf_init(&file->sums, MR_BACKUP_PIECE_BYTES);
	if (!rc)
		rc = mr_backup_file_put_bytes(cx, file, MR_BACKUP_SUMS, mr_buf_bytes(&sums));
	if (!rc)
		rc = put_end(cx, file);
	mr_crash_point("backup.written");
	if (!rc)
		rc = mr_fs_sync(file->fd, file->partial, &cx->err);
	mr_crash_point("backup.synced");
	if (!rc)
		rc = mr_fs_rename(AT_FDCWD, file->partial, AT_FDCWD, file->path, MR_FS_NEW,
			&cx->err);
	mr_crash_point("backup.named");
	file->is_named = !rc;
	return rc;
}

void mr_backup_file_close(struct mr_backup_file *file)
{
	if (file->fd >= 0 && !file->is_named)
		unlink(file->partial);
	mr_fs_closep(&file->fd);
	if (file->digest)
		mr_digest_end(file->digest, NULL);
	file->digest = NULL;
	mr_buf_release(&file->head);
	mr_buf_release(&file->sums);
}
