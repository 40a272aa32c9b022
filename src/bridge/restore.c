/* bridge/restore.c - Reads a backup twice: once to compare everything, then to unpack it. */
#include "bridge/restore.h"

#include "base/crash.h"
#include "base/fs.h"
#include "text/json.h"
#include "text/value.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_BYTES = 4 << 20 };

struct reading {
	struct mr_ctx *cx;
	const char *path;
	int fd;
	int64_t at;
	struct mr_digest *before; /* of all bytes before the manifest; NULL once that has begun */
	const char *before_hex;
	struct mr_buf sums; /* as computed */
	struct mr_buf manifest, listed;
	bool is_unpacking;
	const struct mr_restored *plan; /* when unpacking: which parts, and where */
};

static void close_reading(struct reading *r)
{
	mr_fs_closep(&r->fd);
	if (r->before)
		mr_digest_end(r->before, NULL);
	mr_buf_release(&r->sums);
	mr_buf_release(&r->manifest);
	mr_buf_release(&r->listed);
}

static enum mr_code damaged(struct reading *r, const char *what)
{
	return mr_err_set(&r->cx->err, MR_EFORMAT, "%s is damaged at byte %lld: %s", r->path,
		(long long)r->at, what);
}

/* Read exactly so much. */
static enum mr_code read_all(struct reading *r, void *out, size_t len)
{
	size_t at = 0;

	while (at < len) {
		ssize_t n = read(r->fd, (char *)out + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&r->cx->err, errno, "cannot read %s", r->path);
		if (n == 0)
			return damaged(r, "it ends too early, so it was cut off, or is no backup");
		at += (size_t)n;
	}
	r->at += (int64_t)len;
	if (r->before)
		mr_digest_add(r->before, out, len);
	return MR_OK;
}

/* --- where a part goes --- */

static const struct mr_backup_part *part_of(const struct reading *r, const char *path)
{
	size_t len = strcspn(path, "/");

	for (size_t i = 0; i < r->plan->len; i++) {
		const struct mr_backup_part *part = &r->plan->parts[i];

		if (strlen(part->name) == len && memcmp(part->name, path, len) == 0)
			return part;
	}
	return NULL;
}

static const char *restoring(struct mr_arena *arena, const struct mr_backup_part *part)
{
	return mr_arena_printf(arena, "%s.restoring", part->path);
}

static enum mr_code unpack_name(struct reading *r, struct mr_arena *arena,
	const struct mr_backup_part *part, const struct mr_tar_entry *entry)
{
	const char *rest = entry->path + strlen(part->name);
	const char *to = restoring(arena, part);
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	int parent MR_CLEANUP(mr_fs_closep) = -1;
	const char *slash;
	enum mr_code rc;

	if (!*rest) { /* the part itself */
		if (mkdir(to, 0700) != 0 || chmod(to, entry->mode | 0700) != 0)
			return mr_err_os(&r->cx->err, errno, "cannot make %s", to);
		return MR_OK;
	}
	rest++;
	rc = mr_fs_open_dir(AT_FDCWD, to, &dir, &r->cx->err);
	slash = strrchr(rest, '/');
	if (!rc)
		rc = mr_fs_open_beneath(dir,
			slash ? mr_arena_strndup(arena, rest, (size_t)(slash - rest)) : ".",
			O_RDONLY | O_DIRECTORY, 0, &parent, &r->cx->err);
	if (rc)
		return rc;
	rest = slash ? slash + 1 : rest;
	if (entry->kind == MR_TAR_LINK ? symlinkat(entry->target, parent, rest) != 0
				       : mkdirat(parent, rest, 0700) != 0 ||
				fchmodat(parent, rest, entry->mode | 0700, 0) != 0)
		return mr_err_os(&r->cx->err, errno, "cannot make %s/%s", to, entry->path);
	return MR_OK;
}

static enum mr_code open_new(struct reading *r, struct mr_arena *arena,
	const struct mr_backup_part *part, const struct mr_tar_entry *entry, int *out)
{
	const char *rest = entry->path + strlen(part->name) + 1;
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, restoring(arena, part), &dir, &r->cx->err);

	return rc ? rc
		  : mr_fs_open_beneath(dir, rest, O_WRONLY | O_CREAT | O_EXCL, 0600, out,
			    &r->cx->err);
}

/* --- entries --- */

static enum mr_code write_all(struct reading *r, int to, const char *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = write(to, bytes + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&r->cx->err, errno, "cannot write what is restored");
		at += (size_t)n;
	}
	return MR_OK;
}

static enum mr_code read_padding(struct reading *r, uint64_t size)
{
	static const char nothing[MR_TAR_BLOCK];
	char padding[MR_TAR_BLOCK];
	enum mr_code rc = read_all(r, padding, mr_tar_padding(size));

	if (rc || memcmp(padding, nothing, mr_tar_padding(size)) == 0)
		return rc;
	return damaged(r, "there is something between two files");
}

/* The data of a file, to `to` unless that is -1, and to `keep` unless that is NULL. */
static enum mr_code read_data(struct reading *r, struct mr_arena *arena,
	const struct mr_tar_entry *entry, int to, struct mr_buf *keep, const char **out_hex)
{
	struct mr_digest *digest = mr_digest_begin_sha256();
	char piece[MR_BACKUP_PIECE_BYTES];
	uint64_t left = entry->size;
	enum mr_code rc = MR_OK;

	while (!rc && left) {
		size_t len = left < sizeof(piece) ? (size_t)left : sizeof(piece);

		rc = read_all(r, piece, len);
		if (rc)
			break;
		mr_digest_add(digest, piece, len);
		if (keep)
			mr_buf_add(keep, piece, len);
		if (to >= 0)
			rc = write_all(r, to, piece, len);
		left -= len;
	}
	*out_hex = mr_digest_end_hex(arena, digest);
	return rc ? rc : read_padding(r, entry->size);
}

static enum mr_code read_file(struct reading *r, struct mr_arena *arena,
	const struct mr_tar_entry *entry)
{
	bool is_manifest = mr_str_eq(entry->path, MR_BACKUP_MANIFEST);
	bool is_sums = mr_str_eq(entry->path, MR_BACKUP_SUMS);
	const struct mr_backup_part *part = r->is_unpacking ? part_of(r, entry->path) : NULL;
	int to MR_CLEANUP(mr_fs_closep) = -1;
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = entry->mtime_s } };
	const char *hex;
	enum mr_code rc = MR_OK;

	if (part && strchr(entry->path, '/'))
		rc = open_new(r, arena, part, entry, &to);
	if (!rc)
		rc = read_data(r, arena, entry, to,
			is_manifest       ? &r->manifest
				: is_sums ? &r->listed
					  : NULL,
			&hex);
	if (!rc && !is_sums) {
		mr_backup_sum(&r->sums, hex, entry->path);
		rc = mr_buf_check(&r->sums, "the list of digests", &r->cx->err);
	}
	if (!rc && to >= 0 && (fchmod(to, entry->mode) != 0 || futimens(to, times) != 0))
		rc = mr_err_os(&r->cx->err, errno, "cannot restore %s", entry->path);
	return rc;
}

/* One header with what belongs to it; `*out` false at the end. */
static enum mr_code read_entry(struct reading *r, bool *out)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes pax = { NULL, 0 };
	struct mr_tar_entry entry = { 0 };
	const struct mr_backup_part *part;
	uint8_t block[MR_TAR_BLOCK];
	enum mr_tar_next next = MR_TAR_PAX;
	enum mr_code rc = MR_OK;

	while (!rc && next == MR_TAR_PAX) {
		/* The digest before the manifest's header is the one that it has. */
		if (r->before && !pax.len) {
			uint8_t peek[MR_TAR_BLOCK] = { 0 };

			if (pread(r->fd, peek, sizeof(peek), r->at) == (ssize_t)sizeof(peek) &&
				strcmp((const char *)peek, MR_BACKUP_MANIFEST) == 0) {
				r->before_hex = mr_digest_end_hex(r->cx->arena, r->before);
				r->before = NULL;
			}
		}
		rc = read_all(r, block, sizeof(block));
		if (!rc && mr_tar_read(arena, block, pax, &next, &entry, &r->cx->err)) {
			const char *why = mr_arena_strdup(arena, r->cx->err.msg);

			return damaged(r, why);
		}
		if (!rc && next == MR_TAR_PAX) {
			size_t len = entry.size + mr_tar_padding(entry.size);
			uint8_t *data = mr_arena_alloc(arena, len);

			rc = read_all(r, data, len);
			pax = (struct mr_bytes){ data, entry.size };
		}
	}
	*out = !rc && next != MR_TAR_END;
	if (!*out)
		return rc;
	if (entry.kind == MR_TAR_FILE)
		return read_file(r, arena, &entry);
	part = r->is_unpacking ? part_of(r, entry.path) : NULL;
	return part ? unpack_name(r, arena, part, &entry) : MR_OK;
}

static enum mr_code begin(struct mr_ctx *cx, const char *path, struct reading *r)
{
	*r = (struct reading){ .cx = cx, .path = path, .fd = -1 };
	r->fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (r->fd < 0)
		return mr_err_os(&cx->err, errno, "cannot read %s", path);
	r->before = mr_digest_begin_sha256();
	mr_buf_init(&r->sums, MR_BACKUP_SUMS_BYTES);
	mr_buf_init(&r->manifest, MANIFEST_BYTES);
	mr_buf_init(&r->listed, MR_BACKUP_SUMS_BYTES);
	return MR_OK;
}

/* --- comparing --- */

/* The first line that differs names the file. */
static enum mr_code compare_sums(struct reading *r)
{
	const char *is = mr_buf_text(&r->sums), *listed = mr_buf_text(&r->listed);

	if (r->sums.len == r->listed.len && memcmp(is, listed, r->sums.len) == 0)
		return MR_OK;
	while (*is && *listed) {
		size_t a = strcspn(is, "\n"), b = strcspn(listed, "\n");

		if (a != b || memcmp(is, listed, a) != 0)
			return mr_err_set(&r->cx->err, MR_EFORMAT,
				"%s is damaged: the content of %.*s is not what was backed up",
				r->path, (int)(a > 66 ? a - 66 : 0), is + (a > 66 ? 66 : a));
		is += a + (is[a] == '\n');
		listed += b + (listed[b] == '\n');
	}
	return mr_err_set(&r->cx->err, MR_EFORMAT, "%s is damaged: files are missing in it",
		r->path);
}

static enum mr_code read_part(struct mr_ctx *cx, const struct mr_cursor *at,
	struct mr_backup_part *out)
{
	struct mr_cursor name = mr_cursor_key(at, "name"), kind = mr_cursor_key(at, "kind");
	struct mr_cursor path = mr_cursor_key(at, "path"), files = mr_cursor_key(at, "files");
	struct mr_cursor bytes = mr_cursor_key(at, "bytes");

	(void)cx;
	mr_cursor_text(&name, &out->name);
	mr_cursor_text(&kind, &out->kind);
	if (mr_cursor_text(&path, &out->path) && *out->path != '/')
		mr_cursor_refuse(&path, "must be absolute");
	mr_cursor_int(&files, 0, INT64_MAX, &out->files);
	mr_cursor_int(&bytes, 0, INT64_MAX, &out->bytes);
	return MR_OK;
}

static enum mr_code read_manifest(struct reading *r, struct mr_restored *out)
{
	const struct mr_value *value = NULL;
	struct mr_issues issues;
	struct mr_cursor root, parts, item;
	const char *format = NULL, *sha256 = NULL;
	int64_t version = 0;
	size_t len = 0;

	if (!r->manifest.len || !r->before_hex)
		return damaged(r, "it has no manifest, so it is no backup, or was cut off");
	if (mr_json_parse(r->cx->arena, mr_buf_bytes(&r->manifest), NULL, &value, &r->cx->err))
		return mr_err_wrap(&r->cx->err, "%s: " MR_BACKUP_MANIFEST, r->path);
	mr_issues_init(&issues, r->cx->arena);
	root = mr_cursor_root(value, &issues);
	item = mr_cursor_key(&root, "format");
	mr_cursor_text(&item, &format);
	item = mr_cursor_key(&root, "version");
	if (mr_cursor_int(&item, 1, INT64_MAX, &version) && version > MR_BACKUP_VERSION)
		return mr_err_set(&r->cx->err, MR_ECONFLICT,
			"%s was written by a newer mailroom (format %lld, this program knows %d); "
			"use that one",
			r->path, (long long)version, MR_BACKUP_VERSION);
	item = mr_cursor_key(&root, "created_at");
	mr_cursor_text(&item, &out->created_at);
	item = mr_cursor_key(&root, "sha256");
	mr_cursor_text(&item, &sha256);
	parts = mr_cursor_key(&root, "parts");
	mr_cursor_list(&parts, &len);
	out->parts = mr_arena_array(r->cx->arena, len + 1, sizeof(*out->parts));
	for (size_t i = 0; i < len && i < MR_BACKUP_PARTS_MAX; i++) {
		item = mr_cursor_item(&parts, i);
		if (read_part(r->cx, &item, &out->parts[i]))
			break;
		out->len = i + 1;
	}
	if (issues.len || !mr_str_eq(format, MR_BACKUP_FORMAT))
		return mr_err_set(&r->cx->err, MR_EFORMAT,
			"%s: its " MR_BACKUP_MANIFEST " is not that of a backup%s%s", r->path,
			issues.len ? ": " : "", issues.len ? issues.items[0].msg : "");
	if (!mr_str_eq(sha256, r->before_hex))
		return mr_err_set(&r->cx->err, MR_EFORMAT,
			"%s is damaged: its bytes are not those that its manifest tells of",
			r->path);
	return MR_OK;
}

/* Read everything; `sums` becomes the list of digests. */
static enum mr_code compare(struct mr_ctx *cx, const char *path, struct mr_restored *out,
	struct mr_buf *sums)
{
	struct reading r MR_CLEANUP(close_reading) = { .fd = -1 };
	enum mr_code rc = begin(cx, path, &r);
	bool more = true;

	while (!rc && more)
		rc = read_entry(&r, &more);
	if (!rc)
		rc = compare_sums(&r);
	if (!rc)
		rc = read_manifest(&r, out);
	if (rc)
		return rc;
	*sums = r.sums;
	r.sums = (struct mr_buf){ 0 };
	out->file = path;
	for (size_t i = 0; i < out->len; i++) {
		out->files += out->parts[i].files;
		out->bytes += out->parts[i].bytes;
	}
	return MR_OK;
}

/* --- putting in place --- */

static enum mr_code choose(struct mr_ctx *cx, const struct mr_restore_request *request,
	struct mr_restored *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < request->only.len; i++) {
		bool found = false;

		for (size_t j = 0; j < out->len; j++)
			found = found || mr_str_eq(out->parts[j].name, request->only.items[i]);
		if (!found)
			return mr_err_set(&cx->err, MR_EINVAL,
				"the backup has no part %s; mailroom restore --check lists them",
				request->only.items[i]);
	}
	for (size_t i = 0; i < out->len; i++) {
		struct mr_backup_part part = out->parts[i];

		if (request->only.len && !mr_texts_has(&request->only, part.name))
			continue;
		if (strchr(part.name, '/') || part.name[0] == '.')
			return mr_err_set(&cx->err, MR_EFORMAT, "a part cannot be named %s",
				part.name);
		if (request->into)
			part.path = mr_arena_printf(cx->arena, "%s/%s%s", request->into, part.name,
				mr_str_eq(part.kind, "settings") ? ".yaml" : "");
		out->parts[kept++] = part;
	}
	out->len = kept;
	return MR_OK;
}

/* Nothing, or an empty directory. */
static bool is_free(const char *path)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names = { NULL, 0 };
	struct mr_err ignored;

	return !mr_fs_exists(AT_FDCWD, path) ||
		(mr_fs_list(arena, AT_FDCWD, path, 1, &names, &ignored) == MR_OK && !names.len);
}

static enum mr_code prepare(struct mr_ctx *cx, const struct mr_restored *plan)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < plan->len; i++) {
		if (!is_free(plan->parts[i].path))
			return mr_err_set(&cx->err, MR_EEXISTS,
				"%s is there, and a restore never overwrites: move it away, restore "
				"elsewhere with --into DIR, or leave this part out by naming the "
				"others with --only",
				plan->parts[i].path);
	}
	for (size_t i = 0; !rc && i < plan->len; i++) {
		const char *path = plan->parts[i].path;
		const char *slash = strrchr(path, '/');

		if (slash > path)
			rc = mr_fs_make_dirs(AT_FDCWD,
				mr_arena_strndup(cx->arena, path, (size_t)(slash - path)), 0700,
				&cx->err);
		if (!rc)
			rc = mr_fs_remove_all(AT_FDCWD, restoring(cx->arena, &plan->parts[i]),
				&cx->err);
	}
	return rc;
}

static enum mr_code unpack(struct mr_ctx *cx, const char *path, const struct mr_restored *plan)
{
	struct reading r MR_CLEANUP(close_reading) = { .fd = -1 };
	enum mr_code rc = begin(cx, path, &r);
	bool more = true;

	r.is_unpacking = true;
	r.plan = plan;
	while (!rc && more)
		rc = read_entry(&r, &more);
	return rc;
}

/* The digest of a file that was restored, as a line of the list. */
static enum mr_code sum_restored(struct mr_ctx *cx, const struct mr_backup_part *part,
	const char *path, struct mr_buf *out)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *name =
		mr_arena_printf(arena, "%s%s", restoring(arena, part), path + strlen(part->name));
	int fd MR_CLEANUP(mr_fs_closep) = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct mr_digest *digest;
	char piece[MR_BACKUP_PIECE_BYTES];
	ssize_t n;

	if (fd < 0)
		return mr_err_os(&cx->err, errno, "cannot read %s again", name);
	digest = mr_digest_begin_sha256();
	while ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			mr_digest_add(digest, piece, (size_t)n);
	}
	mr_backup_sum(out, mr_digest_end_hex(arena, digest), path);
	return n < 0 ? mr_err_os(&cx->err, errno, "cannot read %s again", name) : MR_OK;
}

/* The path in a line of the list, without the escapes of sha256sum. */
static const char *path_in_line(struct mr_arena *arena, const char *line, size_t len)
{
	bool is_odd = *line == '\\';
	size_t at = (is_odd ? 1 : 0) + 64 + 2;
	char *path = mr_arena_alloc(arena, len + 1);
	size_t to = 0;

	for (; at < len; at++) {
		if (is_odd && line[at] == '\\' && at + 1 < len) {
			at++;
			path[to++] = (char)(line[at] == 'n' ? '\n'
					: line[at] == 'r'   ? '\r'
							    : line[at]);
		} else {
			path[to++] = line[at];
		}
	}
	path[to] = '\0';
	return path;
}

/* Does what stands on the disk have the digests of the list? */
static enum mr_code compare_restored(struct mr_ctx *cx, const struct mr_restored *plan,
	const struct mr_buf *sums)
{
	struct reading named = { .plan = plan };
	struct mr_buf is MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = MR_OK;

	mr_buf_init(&is, MR_BACKUP_PIECE_BYTES);
	for (const char *line = mr_buf_text(sums); !rc && *line;) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		size_t len = strcspn(line, "\n");
		const char *path = path_in_line(arena, line, len);
		const struct mr_backup_part *part = part_of(&named, path);

		mr_buf_clear(&is);
		if (part && strchr(path, '/'))
			rc = sum_restored(cx, part, path, &is);
		if (!rc && is.len && (is.len != len + 1 || memcmp(is.data, line, len) != 0))
			rc = mr_err_set(&cx->err, MR_EIO,
				"%s was not restored as it was backed up: the disk may be failing",
				path);
		line += len + (line[len] == '\n');
	}
	return rc;
}

static enum mr_code place(struct mr_ctx *cx, const struct mr_backup_part *part)
{
	const char *from = restoring(cx->arena, part);
	bool is_file = mr_str_eq(part->kind, "settings");
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, from, &dir, &cx->err);

	if (!rc)
		rc = mr_fs_sync_all(dir, &cx->err);
	if (!is_file)
		rmdir(part->path); /* only an empty directory goes */
	if (!rc)
		rc = mr_fs_rename(AT_FDCWD,
			is_file ? mr_arena_printf(cx->arena, "%s/mailroom.yaml", from) : from,
			AT_FDCWD, part->path, MR_FS_NEW, &cx->err);
	if (!rc && is_file)
		rmdir(from);
	mr_crash_point("restore.placed");
	return rc;
}

static enum mr_code put_in_place(struct mr_ctx *cx, const struct mr_restored *plan,
	const struct mr_buf *sums)
{
	enum mr_code rc = prepare(cx, plan);
	struct mr_err ignored;

	if (rc)
		return rc;
	rc = unpack(cx, plan->file, plan);
	mr_crash_point("restore.unpacked");
	if (!rc)
		rc = compare_restored(cx, plan, sums);
	mr_crash_point("restore.compared");
	for (size_t i = 0; !rc && i < plan->len; i++)
		rc = place(cx, &plan->parts[i]);
	for (size_t i = 0; rc && i < plan->len; i++) {
		if (mr_fs_remove_all(AT_FDCWD, restoring(cx->arena, &plan->parts[i]), &ignored))
			break; /* the next restore removes it */
	}
	return rc;
}

enum mr_code mr_restore(struct mr_ctx *cx, const struct mr_restore_request *request,
	struct mr_restored *out)
{
	struct mr_buf sums MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_restored found = { 0 };
	enum mr_code rc = compare(cx, request->file, &found, &sums);

	if (!rc)
		rc = choose(cx, request, &found);
	if (!rc && !request->check)
		rc = put_in_place(cx, &found, &sums);
	if (!rc)
		*out = found;
	return rc;
}
