/* team/share/share_attach.c - the attachments of an export: copied, inlined, or left out. */
#include "base/fs.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/share/share_private.h"
#include "text/digest.h"
#include "text/token.h"

#include <string.h>

/* Members that are private, or refer to files outside the export. */
static const char *const dropped[] = { "download_url", "headers", "authorization", "signed_url",
	"bearer_token", "original_path", "data_base64", "path", "type" };

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool is_dropped(const char *key)
{
	for (size_t i = 0; i < MR_LEN(dropped); i++) {
		if (mr_str_eq_nocase(dropped[i], key))
			return true;
	}
	return false;
}

/* A value whose texts are scrubbed, at whatever depth. */
static struct mr_value scrubbed(struct mr_team_share_job *job, struct mr_arena *arena,
	const struct mr_value *value)
{
	struct mr_value out = *value;

	if (value->kind == MR_TEXT) {
		out.text = mr_team_share_scrub(job, arena, value->text);
	} else if (value->kind == MR_LIST) {
		out.list.items = mr_arena_array(arena, value->list.len, sizeof(*out.list.items));
		for (size_t i = 0; i < value->list.len; i++)
			out.list.items[i] = scrubbed(job, arena, &value->list.items[i]);
	} else if (value->kind == MR_MAP) {
		out.map.pairs = mr_arena_array(arena, value->map.len, sizeof(*out.map.pairs));
		for (size_t i = 0; i < value->map.len; i++) {
			out.map.pairs[i].key =
				mr_team_share_scrub(job, arena, value->map.pairs[i].key);
			out.map.pairs[i].value = scrubbed(job, arena, &value->map.pairs[i].value);
		}
	}
	return out;
}

/* One attachment being rewritten. */
struct item {
	struct mr_pair *pairs;
	size_t len;
};

static void add(struct item *item, const char *key, const char *text)
{
	item->pairs[item->len++] = (struct mr_pair){ key, { .kind = MR_TEXT, .text = text } };
}

static void leave_out(struct mr_team_share_job *job, struct item *item, const char *type,
	const char *note)
{
	add(item, "type", type);
	add(item, "note", note);
	if (mr_str_eq(type, "external"))
		job->external++;
	else
		job->missing++;
}

static const char *data_uri(struct mr_arena *arena, const char *media_type, const char *base64)
{
	return mr_arena_printf(arena, "data:%s;base64,%s",
		media_type ? media_type : "application/octet-stream", base64);
}

/* An HTML attachment opened from disk would run like a page of the export, so it gets another
 * extension. */
static const char *safe_extension(const char *path, const char *media_type)
{
	const char *dot = strrchr(path, '.');

	if (mr_str_eq(media_type, "text/html") || mr_str_eq(media_type, "image/svg+xml") ||
		mr_str_eq(media_type, "application/xml"))
		return "txt";
	return dot && !strchr(dot, '/') ? dot + 1 : "bin";
}

static bool has_secret(struct mr_team_share_job *job, struct mr_bytes bytes)
{
	struct mr_buf without MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&without, MR_TEAM_ATTACHMENT_BYTES * 2ul);
	return mr_team_secrets_replace(job->secrets, bytes, &without) > 0;
}

static enum mr_code bundle_bytes(struct mr_team_share_job *job, struct mr_arena *arena,
	struct mr_bytes bytes, const char *path, const char *media_type, struct item *item)
{
	const char *sha256, *to;

	if (has_secret(job, bytes)) {
		job->out.secrets_replaced++;
		leave_out(job, item, "missing", "left out: there is a secret in it");
		return MR_OK;
	}
	if ((int64_t)bytes.len <= job->request.inline_bytes) {
		add(item, "type", "inline");
		add(item, "data_uri", data_uri(arena, media_type, mr_token_base64(arena, bytes)));
		job->inlined++;
		return MR_OK;
	}
	sha256 = mr_digest_sha256(arena, bytes);
	to = mr_team_layout_attachment(arena, sha256, safe_extension(path, media_type));
	add(item, "type", "file");
	add(item, "path", to);
	job->copied++;
	job->copied_bytes += (int64_t)bytes.len;
	return mr_team_share_put(job, to, bytes);
}

/* Copy a file of the project's archive, opened as an untrusted path. */
static enum mr_code bundle_file(struct mr_team_share_job *job, struct mr_arena *arena,
	const struct mr_team_project *project, const struct mr_value *from, struct item *item)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *path = text_at(from, "path");
	const char *home =
		mr_team_layout_project(arena, mr_team_storage_root(job->team), project->slug);
	struct mr_bytes bytes;
	struct mr_err err;
	struct stat st;

	if (!path || !mr_team_layout_is_attachment(path) ||
		mr_fs_open_dir(AT_FDCWD, home, &dir, &err) ||
		mr_fs_open_beneath(dir, path, O_RDONLY, 0, &fd, &err) || fstat(fd, &st) != 0 ||
		!S_ISREG(st.st_mode)) {
		leave_out(job, item, "missing", "the file is not in the archive");
		return MR_OK;
	}
	if (st.st_size >= job->request.detach_bytes || st.st_size > MR_TEAM_ATTACHMENT_BYTES) {
		leave_out(job, item, "external", "too large for the bundle; ask its sender");
		return MR_OK;
	}
	if (mr_fs_read_fd(arena, fd, MR_TEAM_ATTACHMENT_BYTES, &bytes, &err)) {
		leave_out(job, item, "missing", "the file could not be read");
		return MR_OK;
	}
	return bundle_bytes(job, arena, bytes, path, text_at(from, "media_type"), item);
}

static enum mr_code bundle(struct mr_team_share_job *job, struct mr_arena *arena,
	const struct mr_team_project *project, const struct mr_value *from, struct mr_value *out)
{
	const char *type = text_at(from, "type"), *data = text_at(from, "data_base64");
	struct item item = { 0 };
	enum mr_code rc = MR_OK;

	if (from->kind != MR_MAP) {
		*out = scrubbed(job, arena, from);
		return MR_OK;
	}
	item.pairs = mr_arena_array(arena, from->map.len + 3, sizeof(*item.pairs));
	if (mr_str_eq(type, "file")) {
		rc = bundle_file(job, arena, project, from, &item);
	} else if (data) {
		add(&item, "type", "inline");
		add(&item, "data_uri", data_uri(arena, text_at(from, "media_type"), data));
		job->inlined++;
	} else {
		add(&item, "type", type ? type : "missing");
		if (mr_str_eq(type, "error") && text_at(from, "path"))
			add(&item, "path", mr_team_share_scrub(job, arena, text_at(from, "path")));
	}
	for (size_t i = 0; i < from->map.len && !rc; i++) {
		const struct mr_pair *pair = &from->map.pairs[i];

		if (is_dropped(pair->key))
			continue;
		item.pairs[item.len++] =
			(struct mr_pair){ mr_team_share_scrub(job, arena, pair->key),
				scrubbed(job, arena, &pair->value) };
	}
	*out = (struct mr_value){ .kind = MR_MAP, .map = { item.pairs, item.len } };
	return rc;
}

enum mr_code mr_team_share_attach(struct mr_team_share_job *job, struct mr_arena *arena,
	const struct mr_team_project *project, const char *json, const struct mr_value **out)
{
	struct mr_value *list = mr_arena_alloc(arena, sizeof(*list));
	const struct mr_value *from;
	enum mr_code rc = mr_json_parse(arena, mr_bytes_text(json), NULL, &from, &job->cx->err);

	if (rc)
		return mr_err_wrap(&job->cx->err, "a message's attachments");
	*list = (struct mr_value){ .kind = MR_LIST };
	*out = list;
	if (from->kind != MR_LIST || job->is_strict)
		return MR_OK;
	list->list.items = mr_arena_array(arena, from->list.len, sizeof(*list->list.items));
	list->list.len = from->list.len;
	for (size_t i = 0; i < from->list.len && !rc; i++)
		rc = bundle(job, arena, project, &from->list.items[i], &list->list.items[i]);
	job->out.attachments += (int64_t)from->list.len;
	return rc;
}
