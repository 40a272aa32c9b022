/* team/share/share_zip.c - packs the files of an export into one ZIP file. */
#include "base/crash.h"
#include "base/deflate.h"
#include "base/fs.h"
#include "team/share/share_private.h"
#include "text/zip.h"

#include <errno.h>
#include <unistd.h>

enum { DIRECTORY_BYTES = 16 << 20 };

struct packing {
	struct mr_ctx *cx;
	int fd;
	const char *path; /* of the ZIP file, for messages */
	uint64_t at;      /* bytes written */
	enum mr_code rc;  /* of the first write that failed; nothing is written after it */
	struct mr_deflate *deflate;
	struct mr_buf head;      /* the record before a file */
	struct mr_buf directory; /* the records after the last */
};

static void write_at(struct packing *zip, const void *data, size_t len, uint64_t at)
{
	const char *bytes = data;

	while (!zip->rc && len > 0) {
		ssize_t n = pwrite(zip->fd, bytes, len, (off_t)at);

		if (n < 0 && errno != EINTR)
			zip->rc = mr_err_os(&zip->cx->err, errno, "cannot write %s", zip->path);
		if (n > 0) {
			bytes += n;
			at += (uint64_t)n;
			len -= (size_t)n;
		}
	}
}

static void append(void *arg, const void *data, size_t len)
{
	struct packing *zip = arg;

	if (!zip->rc && len > MR_ZIP_BYTES_MAX - zip->at)
		zip->rc = mr_err_set(&zip->cx->err, MR_ELIMIT,
			"a ZIP file has less than 4 GiB, and this export needs more: export it "
			"without --zip");
	write_at(zip, data, len, zip->at);
	zip->at += len;
}

/* First without the sizes, then with them. */
static enum mr_code put_head(struct packing *zip, const struct mr_zip_entry *entry)
{
	enum mr_code rc;

	mr_buf_clear(&zip->head);
	rc = mr_zip_put(&zip->head, entry, &zip->cx->err);
	if (!rc && zip->at == entry->at)
		append(zip, mr_buf_bytes(&zip->head).data, zip->head.len);
	else if (!rc)
		write_at(zip, mr_buf_bytes(&zip->head).data, zip->head.len, entry->at);
	return rc ? rc : zip->rc;
}

static enum mr_code pack_file(struct packing *zip, int dir, const char *path)
{
	struct mr_bytes bytes MR_CLEANUP(mr_team_share_unmap) = { 0 };
	struct mr_zip_entry entry = { .path = path, .at = zip->at };
	enum mr_code rc = mr_team_share_map(zip->cx, dir, path, &bytes);
	uint64_t begin;

	if (!rc)
		rc = put_head(zip, &entry);
	if (rc)
		return rc;
	begin = zip->at;
	mr_deflate_finish(zip->deflate, bytes, append, zip);
	if (zip->rc)
		return zip->rc;
	entry.crc32 = mr_deflate_crc32(0, bytes.data, bytes.len);
	entry.size = bytes.len;
	entry.packed = zip->at - begin;
	rc = put_head(zip, &entry);
	return rc ? rc : mr_zip_put_listed(&zip->directory, &entry, &zip->cx->err);
}

static enum mr_code pack_files(struct packing *zip, int dir)
{
	struct mr_texts files;
	enum mr_code rc = mr_team_share_files(zip->cx, dir, &files);
	uint64_t at;

	if (!rc && files.len > MR_ZIP_FILES_MAX)
		rc = mr_err_set(&zip->cx->err, MR_ELIMIT,
			"a ZIP file has at most %d files, and this export %zu: export it without "
			"--zip",
			MR_ZIP_FILES_MAX, files.len);
	for (size_t i = 0; !rc && i < files.len; i++)
		rc = pack_file(zip, dir, files.items[i]);
	if (rc)
		return rc;
	at = zip->at;
	rc = mr_zip_put_end(&zip->directory, files.len, at, zip->directory.len, &zip->cx->err);
	if (!rc)
		append(zip, mr_buf_bytes(&zip->directory).data, zip->directory.len);
	return rc ? rc : zip->rc;
}

enum mr_code mr_team_share_pack(struct mr_ctx *cx, const char *directory, const char *path)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1, fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_deflate *deflate MR_CLEANUP(mr_deflate_freep) = NULL;
	struct packing zip = { .cx = cx, .path = path };
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, directory, &dir, &cx->err);

	if (rc)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return mr_err_os(&cx->err, errno, "cannot write %s", path);
	deflate = mr_deflate_new(MR_DEFLATE_RAW, MR_ZIP_LEVEL);
	zip.fd = fd;
	zip.deflate = deflate;
	mr_buf_init(&zip.head, MR_ZIP_PATH_BYTES * 2);
	mr_buf_init(&zip.directory, DIRECTORY_BYTES);
	rc = pack_files(&zip, dir);
	mr_buf_release(&zip.head);
	mr_buf_release(&zip.directory);
	mr_crash_point("share.pack.written");
	return rc ? rc : mr_fs_sync(fd, path, &cx->err);
}
