/* team/share/share_files.c - writes, splits, lists and hashes the files of an export. */
#include "base/fs.h"
#include "base/oom.h"
#include "team/share/share_private.h"
#include "text/digest.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 256 << 10, FILES_MAX = 1000000, DEPTH_MAX = 8 };

enum mr_code mr_team_share_put(struct mr_team_share_job *job, const char *path,
	struct mr_bytes bytes)
{
	const char *slash = strrchr(path, '/');
	enum mr_code rc = MR_OK;

	/* Under its digest: what is there already is the same. */
	if (job->dir < 0 || mr_fs_exists(job->dir, path))
		return MR_OK;
	if (slash)
		rc = mr_fs_make_dirs(job->dir,
			mr_arena_strndup(job->cx->arena, path, (size_t)(slash - path)), 0755,
			&job->cx->err);
	if (!rc)
		rc = mr_fs_write(job->dir, path, bytes, MR_FS_NEW, 0644, &job->cx->err);
	return rc;
}

/* Fill `buf` as far as the file goes. */
static enum mr_code read_piece(struct mr_ctx *cx, int fd, const char *path, uint8_t *buf,
	size_t room, size_t *out)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = read(fd, buf + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&cx->err, errno, "cannot read %s", path);
		if (n == 0)
			break;
		len += (size_t)n;
	}
	*out = len;
	return MR_OK;
}

static void freep(uint8_t **buf)
{
	free(*buf);
}

static uint8_t *room_for(size_t bytes)
{
	uint8_t *room = malloc(bytes);

	if (!room)
		mr_oom(bytes);
	return room;
}

static enum mr_code hash_fd(struct mr_ctx *cx, int fd, const char *path, struct mr_digest *digest,
	int64_t *out_bytes)
{
	uint8_t *buf MR_CLEANUP(freep) = room_for(PIECE);
	int64_t total = 0;

	for (size_t len = PIECE; len == PIECE;) {
		enum mr_code rc = read_piece(cx, fd, path, buf, PIECE, &len);

		if (rc)
			return rc;
		mr_digest_add(digest, buf, len);
		total += (int64_t)len;
	}
	*out_bytes = total;
	return MR_OK;
}

enum mr_code mr_team_share_hash(struct mr_ctx *cx, int dir, const char *path,
	const char **out_sha256, int64_t *out_bytes)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_digest *digest;
	const char *sha256;
	enum mr_code rc = mr_fs_open_beneath(dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, &cx->err);

	if (rc)
		return rc;
	digest = mr_digest_begin_sha256();
	rc = hash_fd(cx, fd, path, digest, out_bytes);
	sha256 = mr_digest_end_hex(cx->arena, digest);
	if (!rc)
		*out_sha256 = sha256;
	return rc;
}

enum mr_code mr_team_share_map(struct mr_ctx *cx, int dir, const char *path, struct mr_bytes *out)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_beneath(dir, path, O_RDONLY, 0, &fd, &cx->err);
	struct stat st;
	void *data;

	if (rc)
		return rc;
	if (fstat(fd, &st) != 0)
		return mr_err_os(&cx->err, errno, "cannot stat %s", path);
	*out = (struct mr_bytes){ 0 };
	if (st.st_size == 0)
		return MR_OK;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return mr_err_os(&cx->err, errno, "cannot read %s", path);
	*out = mr_bytes_of(data, (size_t)st.st_size);
	return MR_OK;
}

void mr_team_share_unmap(struct mr_bytes *bytes)
{
	if (bytes->len)
		munmap((void *)(uintptr_t)bytes->data, bytes->len);
	*bytes = (struct mr_bytes){ 0 };
}

struct listing {
	struct mr_ctx *cx;
	struct mr_buf paths; /* of pointers */
	const char *odd;     /* a path that is neither a file nor a directory */
};

static enum mr_fs_next list_entry(void *arg, const struct mr_fs_entry *entry)
{
	struct listing *listing = arg;
	const char *path;

	if (entry->type == DT_DIR)
		return MR_FS_GO_ON;
	path = mr_arena_strdup(listing->cx->arena, entry->path);
	if (entry->type != DT_REG) {
		listing->odd = path;
		return MR_FS_STOP;
	}
	mr_buf_add(&listing->paths, &path, sizeof(path));
	return MR_FS_GO_ON;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum mr_code mr_team_share_files(struct mr_ctx *cx, int dir, struct mr_texts *out)
{
	struct listing listing = { .cx = cx };
	struct mr_texts found;
	enum mr_code rc;

	mr_buf_init(&listing.paths, FILES_MAX * sizeof(char *));
	rc = mr_fs_walk(dir, ".", DEPTH_MAX, list_entry, &listing, &cx->err);
	if (!rc && listing.odd)
		rc = mr_err_set(&cx->err, MR_EFORMAT, "%s is no file", listing.odd);
	if (!rc)
		rc = mr_buf_check(&listing.paths, "the list of files", &cx->err);
	found.len = listing.paths.len / sizeof(char *);
	found.items = mr_arena_array(cx->arena, found.len + 1, sizeof(char *));
	if (found.len > 0) {
		memcpy(found.items, listing.paths.data, listing.paths.len);
		qsort(found.items, found.len, sizeof(char *), by_bytes);
	}
	mr_buf_release(&listing.paths);
	if (!rc)
		*out = found;
	return rc;
}

static enum mr_code put_chunks(struct mr_team_share_job *job, int fd)
{
	size_t size = (size_t)job->request.chunk_bytes, len = size;
	uint8_t *buf MR_CLEANUP(freep) = room_for(size);
	enum mr_code rc = MR_OK;

	while (!rc && len == size) {
		rc = read_piece(job->cx, fd, MR_TEAM_SHARE_DATABASE, buf, size, &len);
		if (rc || len == 0)
			break;
		rc = mr_team_share_put(job,
			mr_arena_printf(job->cx->arena, "chunks/%05lld.bin",
				(long long)job->out.chunks++),
			mr_bytes_of(buf, len));
	}
	return rc;
}

enum mr_code mr_team_share_chunk(struct mr_team_share_job *job)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *config;
	struct stat st;
	enum mr_code rc;

	rc = mr_fs_open_beneath(job->dir, MR_TEAM_SHARE_DATABASE, O_RDONLY, 0, &fd, &job->cx->err);
	if (rc)
		return rc;
	if (fstat(fd, &st) != 0)
		return mr_err_os(&job->cx->err, errno, "cannot stat %s", MR_TEAM_SHARE_DATABASE);
	job->out.database_bytes = st.st_size;
	if (st.st_size <= job->request.chunk_threshold)
		return MR_OK;
	rc = put_chunks(job, fd);
	config = mr_arena_printf(job->cx->arena,
		"{\n  \"version\": 1,\n  \"chunk_size\": %lld,\n  \"chunk_count\": %lld,\n"
		"  \"pattern\": \"chunks/{index:05d}.bin\",\n  \"original_bytes\": %lld\n}\n",
		(long long)job->request.chunk_bytes, (long long)job->out.chunks,
		(long long)st.st_size);
	return rc ? rc : mr_team_share_put(job, MR_TEAM_SHARE_CHUNKS, mr_bytes_text(config));
}
