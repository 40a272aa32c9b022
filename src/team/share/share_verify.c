/* team/share/share_verify.c - compares an export with its manifest. */
#include "base/fs.h"
#include "team/share/share_private.h"
#include "text/digest.h"

#include <string.h>

enum { SHA256_DIGITS = 64 };

static const struct mr_json_limits manifest_limits = {
	.max_bytes = 256 << 20,
	.max_depth = 16,
	.max_nodes = 10000000,
};

static bool read_listed(const struct mr_value *value, struct mr_issues *issues,
	struct mr_team_share_file *out)
{
	struct mr_cursor root = mr_cursor_root(value, issues);
	struct mr_cursor path = mr_cursor_key(&root, "path");
	struct mr_cursor bytes = mr_cursor_key(&root, "bytes");
	struct mr_cursor sha256 = mr_cursor_key(&root, "sha256");

	return mr_cursor_text(&path, &out->path) &&
		mr_cursor_int(&bytes, 0, INT64_MAX, &out->bytes) &&
		mr_cursor_text(&sha256, &out->sha256) && strlen(out->sha256) == SHA256_DIGITS &&
		strspn(out->sha256, "0123456789abcdef") == SHA256_DIGITS;
}

/* Relative, and without parts that are empty, "." or "..". */
static bool is_inside(const char *path)
{
	for (;; path++) {
		size_t len = strcspn(path, "/");

		if (len == 0 || (len == 1 && path[0] == '.') ||
			(len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += len;
		if (!*path)
			return true;
	}
}

enum mr_code mr_team_share_manifest_read(struct mr_arena *arena, struct mr_bytes text,
	struct mr_team_share_listing *out, struct mr_err *err)
{
	const struct mr_value *manifest = NULL, *list;
	struct mr_team_share_listing files = { 0 };
	struct mr_issues issues;
	enum mr_code rc = mr_json_parse(arena, text, &manifest_limits, &manifest, err);

	if (rc)
		return mr_err_wrap(err, MR_TEAM_SHARE_MANIFEST);
	list = mr_value_get(manifest, "files");
	if (!list || list->kind != MR_LIST || list->list.len == 0)
		return mr_err_set(err, MR_EFORMAT,
			MR_TEAM_SHARE_MANIFEST " does not list its files");
	mr_issues_init(&issues, arena);
	files.items = mr_arena_array(arena, list->list.len, sizeof(*files.items));
	for (; files.len < list->list.len; files.len++) {
		struct mr_team_share_file *file = &files.items[files.len];

		if (!read_listed(&list->list.items[files.len], &issues, file))
			return mr_err_set(err, MR_EFORMAT,
				MR_TEAM_SHARE_MANIFEST ": file %zu lacks its path, size or digest",
				files.len + 1);
		if (!is_inside(file->path))
			return mr_err_set(err, MR_EFORMAT,
				MR_TEAM_SHARE_MANIFEST ": %s is no path inside the export",
				file->path);
		if (files.len > 0 && strcmp(file[-1].path, file->path) >= 0)
			return mr_err_set(err, MR_EFORMAT,
				MR_TEAM_SHARE_MANIFEST ": %s is listed twice, or out of order",
				file->path);
	}
	*out = files;
	return MR_OK;
}

static enum mr_code read_manifest(struct mr_ctx *cx, int dir, const char *expected,
	struct mr_team_share_listing *out)
{
	struct mr_bytes text;
	enum mr_code rc = mr_fs_read(cx->arena, dir, MR_TEAM_SHARE_MANIFEST,
		manifest_limits.max_bytes, &text, &cx->err);

	if (rc)
		return rc;
	if (expected && !mr_str_eq_nocase(expected, mr_digest_sha256(cx->arena, text)))
		return mr_err_set(&cx->err, MR_EFORMAT,
			MR_TEAM_SHARE_MANIFEST " is not the one that was made: its SHA-256 is %s",
			mr_digest_sha256(cx->arena, text));
	return mr_team_share_manifest_read(cx->arena, text, out, &cx->err);
}

static enum mr_code check_file(struct mr_ctx *cx, int dir, const struct mr_team_share_file *file)
{
	const char *sha256;
	int64_t bytes;
	enum mr_code rc = mr_team_share_hash(cx, dir, file->path, &sha256, &bytes);

	if (rc == MR_ENOTFOUND)
		return mr_err_set(&cx->err, MR_EFORMAT, "%s is missing", file->path);
	if (rc)
		return rc;
	if (bytes != file->bytes)
		return mr_err_set(&cx->err, MR_EFORMAT,
			"%s was changed: it has %lld bytes, not %lld", file->path, (long long)bytes,
			(long long)file->bytes);
	if (!mr_str_eq(sha256, file->sha256))
		return mr_err_set(&cx->err, MR_EFORMAT, "%s was changed: its SHA-256 is %s",
			file->path, sha256);
	return MR_OK;
}

/* Both are sorted: the manifest's list and the directory's, which has the manifest besides. */
static enum mr_code check_extra(struct mr_ctx *cx, const struct mr_texts *there,
	const struct mr_team_share_listing *listed)
{
	size_t k = 0;

	for (size_t i = 0; i < there->len; i++) {
		if (mr_str_eq(there->items[i], MR_TEAM_SHARE_MANIFEST))
			continue;
		if (k < listed->len && mr_str_eq(there->items[i], listed->items[k].path))
			k++;
		else
			return mr_err_set(&cx->err, MR_EFORMAT, "%s is not in the manifest",
				there->items[i]);
	}
	return MR_OK;
}

static enum mr_code check_listed(struct mr_ctx *cx, int dir,
	const struct mr_team_share_listing *listed)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < listed->len && !rc; i++) {
		rc = check_file(cx, dir, &listed->items[i]);
		if (cx->progress)
			cx->progress(cx->progress_arg, "files", i + 1, listed->len);
	}
	return rc;
}

enum mr_code mr_team_share_verify(struct mr_ctx *cx, const char *directory,
	const char *manifest_sha256, int64_t *files)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_team_share_listing listed = { 0 };
	struct mr_texts there;
	struct stat st;
	enum mr_code rc;

	if (stat(directory, &st) == 0 && S_ISREG(st.st_mode))
		return mr_err_set(&cx->err, MR_EINVAL,
			"%s is a file: unpack it, and verify the directory", directory);
	rc = mr_fs_open_dir(AT_FDCWD, directory, &dir, &cx->err);
	if (!rc)
		rc = read_manifest(cx, dir, manifest_sha256, &listed);
	if (!rc)
		rc = check_listed(cx, dir, &listed);
	if (!rc)
		rc = mr_team_share_files(cx, dir, &there);
	if (!rc)
		rc = check_extra(cx, &there, &listed);
	if (rc)
		return mr_err_wrap(&cx->err, "%s", directory);
	*files = (int64_t)listed.len;
	return MR_OK;
}
