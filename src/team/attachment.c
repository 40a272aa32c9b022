/*
 * team/attachment.c - Takes in the files and pictures of a message: checks policy and limits,
 * stores them, and rewrites the body.
 */
#include "team/attachment.h"

#include "base/fs.h"
#include "team/attachment_body.h"
#include "team/attachment_private.h"
#include "team/attachment_sql.h"
#include "team/error.h"
#include "team/layout.h"
#include "team/limits.h"
#include "text/json.h"
#include "text/token.h"

#include <fcntl.h>
#include <string.h>

/* One object of the list. */
struct entry {
	const char *name; /* as it was asked for */
	bool is_inline;
	const char *reason; /* of an error, else NULL */
	const char *noted;  /* the media type of a data: URI of the body, else NULL */
	struct mr_team_stored stored;
};

struct attach {
	struct mr_ctx *cx;
	const struct mr_team_attach_request *request;
	const struct mr_team_config *config;
	struct mr_team_sources sources; /* once something is to be read */
	bool has_sources;
	struct mr_team_store store;
	struct entry *entries;
	size_t len;
	size_t list_left, body_left; /* bytes that pictures may still take there */
	size_t read_left;            /* bytes of files that may still be read */
};

/* A body's pictures, the files beside it, and one that says that there were more. */
enum {
	ENTRIES_MAX = 2 * MR_TEAM_ATTACHMENTS + 1,
	PLACES_BYTES = MR_TEAM_ATTACHMENTS * 100, /* paths, and what is around the base64 */
	JSON_BYTES = 4 << 20,
};

static enum mr_code reject(struct attach *a, const char *path)
{
	char reason[MR_ERR_MSG_BYTES];

	memcpy(reason, a->cx->err.msg, sizeof(reason));
	mr_team_fail(a->cx, MR_TEAM_ATTACHMENT_REJECTED, "cannot attach: %s", reason);
	return mr_team_fail_text(a->cx, "path", path);
}

static enum mr_code too_large(struct attach *a, const char *path)
{
	char reason[MR_ERR_MSG_BYTES];

	memcpy(reason, a->cx->err.msg, sizeof(reason));
	mr_team_fail(a->cx, MR_TEAM_PAYLOAD_TOO_LARGE, "cannot attach: %s", reason);
	mr_team_fail_text(a->cx, "path", path);
	return mr_team_fail_int(a->cx, "limit", MR_TEAM_ATTACHMENT_BYTES);
}

static void add_error(struct attach *a, const char *path, const char *reason)
{
	a->entries[a->len++] =
		(struct entry){ .name = path, .reason = mr_arena_strdup(a->cx->arena, reason) };
}

static const char *digest_of(const struct mr_team_stored *stored)
{
	return stored->sha1 ? stored->sha1 : stored->sha256;
}

static enum mr_code read_file(struct attach *a, const char *path, struct mr_bytes *out)
{
	size_t max =
		a->read_left < MR_TEAM_ATTACHMENT_BYTES ? a->read_left : MR_TEAM_ATTACHMENT_BYTES;
	enum mr_code rc = MR_OK;

	if (!a->has_sources)
		rc = mr_team_sources_find(a->cx, a->store.team, a->request->project, &a->sources);
	if (rc)
		return rc;
	a->has_sources = true;
	rc = mr_team_source_read(a->cx, &a->sources, path, max, out);
	if (rc == MR_ELIMIT && max < MR_TEAM_ATTACHMENT_BYTES)
		return mr_err_set(&a->cx->err, MR_ELIMIT,
			"with %s the message has more than %d bytes of files", path,
			MR_TEAM_MESSAGE_FILES_BYTES);
	if (!rc)
		a->read_left -= out->len;
	return rc;
}

static size_t encoded(size_t bytes)
{
	return (bytes + 2) / 3 * 4;
}

/* The same picture twice is one object. */
static struct entry *add_stored(struct attach *a, const char *name,
	const struct mr_team_stored *stored)
{
	enum mr_team_attachments_policy policy = a->request->sender->attachments_policy;
	size_t cost = encoded(stored->data.len);
	struct entry *entry;

	for (size_t i = 0; i < a->len; i++) {
		const char *digest = digest_of(&a->entries[i].stored);

		if (digest && mr_str_eq(digest, digest_of(stored)))
			return &a->entries[i];
	}
	entry = &a->entries[a->len++];
	*entry = (struct entry){ .name = name, .stored = *stored };
	entry->is_inline = stored->sha1 && cost <= a->list_left &&
		(policy == MR_TEAM_ATTACH_INLINE ||
			(policy == MR_TEAM_ATTACH_AUTO &&
				stored->bytes <= a->config->inline_image_bytes));
	if (entry->is_inline)
		a->list_left -= cost;
	return entry;
}

static bool is_bad_picture(enum mr_code rc)
{
	return rc == MR_EFORMAT || rc == MR_ELIMIT;
}

/* Store the picture at a path in the body; `*out` stays NULL when the body's text is to stay. */
static enum mr_code attach_image(struct attach *a, const char *path, struct entry **out)
{
	struct mr_team_stored stored;
	struct mr_bytes bytes;
	enum mr_code rc;

	/* A quoted body already refers to the stored picture. */
	if (mr_team_store_has(a->cx, &a->store, path, &stored)) {
		add_stored(a, path, &stored);
		return MR_OK;
	}
	rc = read_file(a, path, &bytes);
	if (rc == MR_ENOTFOUND)
		return MR_OK;
	if (rc == MR_EPERM)
		return reject(a, path);
	if (!rc && bytes.len == 0)
		rc = mr_err_set(&a->cx->err, MR_EFORMAT, "the file is empty");
	if (!rc)
		rc = mr_team_store_picture(a->cx, &a->store, bytes, &stored);
	if (is_bad_picture(rc) || rc == MR_EINVAL) {
		add_error(a, path, a->cx->err.msg);
		return MR_OK;
	}
	if (!rc)
		*out = add_stored(a, path, &stored);
	return rc;
}

/* "a%20b" for "a b", as Markdown has it; NULL when nothing is written so. */
static const char *unescaped(struct mr_arena *arena, const char *path)
{
	static const char digits[] = "0123456789abcdef";
	char *out = mr_arena_strdup(arena, path);
	char *to = out;
	bool changed = false;

	for (const char *at = path; *at; at++) {
		const char *high = *at == '%' && at[1] ? strchr(digits, at[1] | 32) : NULL;
		const char *low = high && at[2] ? strchr(digits, at[2] | 32) : NULL;
		char c = low ? (char)((high - digits) << 4 | (low - digits)) : *at;

		if (low && c == '\0')
			return NULL;
		*to++ = c;
		at += low ? 2 : 0;
		changed |= low != NULL;
	}
	*to = '\0';
	return changed ? out : NULL;
}

static void put_place(struct attach *a, struct mr_buf *body, const struct entry *entry)
{
	const struct mr_team_stored *stored = &entry->stored;
	size_t cost = encoded(stored->data.len);

	if (!entry->is_inline || cost > a->body_left) {
		mr_buf_puts(body, stored->path);
		return;
	}
	a->body_left -= cost;
	mr_buf_printf(body, "data:%s;base64,", stored->media_type);
	mr_buf_puts(body, mr_token_base64(a->cx->arena, stored->data));
}

static enum mr_code attach_body(struct attach *a, bool convert, struct mr_buf *body)
{
	const char *text = a->request->body_md;
	struct mr_team_body_images images;
	enum mr_code rc = MR_OK;
	size_t done = 0;

	mr_team_body_images(a->cx->arena, mr_bytes_text(text), MR_TEAM_ATTACHMENTS, &images);
	for (size_t i = 0; i < images.len && !rc; i++) {
		const struct mr_team_body_image *image = &images.items[i];
		struct entry *entry = NULL;
		const char *other;

		if (image->media_type) {
			a->entries[a->len++] = (struct entry){ .noted = image->media_type };
			continue;
		}
		if (!convert)
			continue;
		rc = attach_image(a, image->path, &entry);
		other = rc || entry ? NULL : unescaped(a->cx->arena, image->path);
		if (other)
			rc = attach_image(a, other, &entry);
		if (!entry)
			continue;
		mr_buf_add(body, text + done, image->at - done);
		put_place(a, body, entry);
		done = image->end;
	}
	mr_buf_puts(body, text + done);
	if (!rc && images.more && convert)
		add_error(a, "body_md",
			mr_arena_printf(a->cx->arena,
				"only the first %d pictures of a body are looked at",
				MR_TEAM_ATTACHMENTS));
	return rc;
}

static enum mr_code attach_path(struct attach *a, const char *path)
{
	struct mr_team_stored stored;
	struct mr_bytes bytes;
	enum mr_code rc = read_file(a, path, &bytes);

	if (rc == MR_ELIMIT)
		return too_large(a, path);
	if (rc == MR_ENOTFOUND || rc == MR_EPERM || rc == MR_EINVAL)
		return reject(a, path);
	if (!rc && bytes.len == 0)
		rc = mr_err_set(&a->cx->err, MR_EFORMAT, "the file is empty");
	else if (!rc && mr_image_sniff(bytes) != MR_IMAGE_NONE)
		rc = mr_team_store_picture(a->cx, &a->store, bytes, &stored);
	else if (!rc)
		rc = mr_team_store_file(a->cx, &a->store, bytes, path, &stored);
	if (is_bad_picture(rc)) {
		add_error(a, path, a->cx->err.msg);
		return MR_OK;
	}
	if (!rc)
		add_stored(a, path, &stored);
	return rc;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void write_text(struct mr_json_writer *w, const char *key, const char *text)
{
	if (!text)
		return;
	mr_json_key(w, key);
	mr_json_text(w, text);
}

static void write_int(struct mr_json_writer *w, const char *key, int64_t number)
{
	mr_json_key(w, key);
	mr_json_int(w, number);
}

static void write_stored(struct mr_ctx *cx, struct mr_json_writer *w, const struct entry *entry)
{
	const struct mr_team_stored *stored = &entry->stored;

	write_text(w, "type", entry->is_inline ? "inline" : "file");
	write_text(w, "media_type", stored->media_type);
	write_int(w, "bytes", stored->bytes);
	if (!entry->is_inline)
		write_text(w, "path", stored->path);
	if (stored->width) {
		write_int(w, "width", stored->width);
		write_int(w, "height", stored->height);
	}
	write_text(w, "sha1", stored->sha1);
	write_text(w, "sha256", stored->sha256);
	write_text(w, "original_path", stored->original_path);
	write_text(w, "filename", base_name(entry->name));
	if (entry->is_inline)
		write_text(w, "data_base64", mr_token_base64(cx->arena, stored->data));
}

static void write_entry(struct mr_ctx *cx, struct mr_json_writer *w, const struct entry *entry)
{
	mr_json_begin_map(w);
	if (entry->noted) {
		write_text(w, "type", "inline");
		write_text(w, "media_type", entry->noted);
	} else if (entry->reason) {
		write_text(w, "type", "error");
		write_text(w, "path", entry->name);
		write_text(w, "reason", entry->reason);
	} else {
		write_stored(cx, w, entry);
	}
	mr_json_end(w);
}

static enum mr_code finish(struct attach *a, const struct mr_buf *body,
	struct mr_team_attached *out)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;
	int64_t bytes = 0;
	enum mr_code rc;

	mr_buf_init(&json, JSON_BYTES);
	mr_json_init(&w, &json, MR_JSON_COMPACT);
	mr_json_begin_list(&w);
	for (size_t i = 0; i < a->len; i++) {
		write_entry(a->cx, &w, &a->entries[i]);
		bytes += a->entries[i].stored.bytes;
	}
	mr_json_end(&w);
	rc = mr_buf_check(&json, "the list of attachments", &a->cx->err);
	if (rc)
		return rc;
	if (body->failed) {
		mr_team_fail(a->cx, MR_TEAM_PAYLOAD_TOO_LARGE,
			"the body has more than %d bytes with its pictures", MR_TEAM_BODY_BYTES);
		return mr_team_fail_int(a->cx, "limit", MR_TEAM_BODY_BYTES);
	}
	*out = (struct mr_team_attached){
		.body_md = mr_arena_strndup(a->cx->arena, mr_buf_text(body), body->len),
		.json = mr_arena_strndup(a->cx->arena, mr_buf_text(&json), json.len),
		.bytes = bytes,
	};
	return MR_OK;
}

static enum mr_code may_attach(struct mr_ctx *cx, const struct mr_team_attach_request *request)
{
	if (request->paths.len > MR_TEAM_ATTACHMENTS) {
		mr_team_fail(cx, MR_TEAM_PAYLOAD_TOO_LARGE,
			"a message takes at most %d files, not %zu", MR_TEAM_ATTACHMENTS,
			request->paths.len);
		return mr_team_fail_int(cx, "limit", MR_TEAM_ATTACHMENTS);
	}
	if (request->paths.len > 0 && request->sender->attachments_policy == MR_TEAM_ATTACH_DENY) {
		mr_team_fail(cx, MR_TEAM_ATTACHMENT_REJECTED,
			"%s attaches nothing: its attachments policy is deny",
			request->sender->name);
		return mr_team_fail_text(cx, "path", request->paths.items[0]);
	}
	return MR_OK;
}

/* A policy that says where pictures go also asks for their conversion. */
static bool is_converting(const struct attach *a)
{
	switch (a->request->sender->attachments_policy) {
	case MR_TEAM_ATTACH_DENY:
		return false;
	case MR_TEAM_ATTACH_INLINE:
	case MR_TEAM_ATTACH_FILE:
		return true;
	default:
		return a->request->convert < 0 ? a->config->convert_images
					       : a->request->convert > 0;
	}
}

enum mr_code mr_team_attach(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_attach_request *request, struct mr_team_attached *out)
{
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_team_store store MR_CLEANUP(mr_team_store_close) = { .dir = -1 };
	struct attach a = { .cx = cx, .request = request, .config = mr_team_config(team) };
	enum mr_code rc = may_attach(cx, request);

	mr_buf_init(&body, MR_TEAM_BODY_BYTES);
	if (rc)
		return rc;
	if (!request->paths.len && !strstr(request->body_md, "![")) {
		*out = (struct mr_team_attached){ .body_md = request->body_md, .json = "[]" };
		return MR_OK;
	}
	a.store = (struct mr_team_store){ team, request->project, -1, MR_TEAM_MESSAGE_PIXELS };
	a.entries = mr_arena_array(cx->arena, ENTRIES_MAX, sizeof(*a.entries));
	a.read_left = MR_TEAM_MESSAGE_FILES_BYTES;
	a.list_left = a.body_left = MR_TEAM_INLINE_BYTES;
	if (strlen(request->body_md) + a.body_left > MR_TEAM_BODY_BYTES - PLACES_BYTES)
		a.body_left = 0;
	rc = attach_body(&a, is_converting(&a), &body);
	for (size_t i = 0; i < request->paths.len && !rc; i++)
		rc = attach_path(&a, request->paths.items[i]);
	if (!rc)
		rc = finish(&a, &body, out);
	store = a.store; /* to be closed */
	return rc;
}

static enum mr_code read_list(struct mr_ctx *cx, const char *json, const struct mr_value **out)
{
	enum mr_code rc = mr_json_parse(cx->arena, mr_bytes_text(json), NULL, out, &cx->err);

	if (!rc && (*out)->kind != MR_LIST)
		rc = mr_err_set(&cx->err, MR_EFORMAT, "it is no list");
	return rc ? mr_err_wrap(&cx->err, "a message's attachments") : MR_OK;
}

static void write_bare(struct mr_json_writer *w, const struct mr_value *item)
{
	if (item->kind != MR_MAP) {
		mr_json_value(w, item);
		return;
	}
	mr_json_begin_map(w);
	for (size_t i = 0; i < item->map.len; i++) {
		if (mr_str_eq(item->map.pairs[i].key, "data_base64"))
			continue;
		mr_json_key(w, item->map.pairs[i].key);
		mr_json_value(w, &item->map.pairs[i].value);
	}
	mr_json_end(w);
}

enum mr_code mr_team_attachments_bare(struct mr_ctx *cx, const char *json, const char **out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *list;
	struct mr_json_writer w;
	enum mr_code rc;

	if (!strstr(json, "\"data_base64\"")) {
		*out = json;
		return MR_OK;
	}
	rc = read_list(cx, json, &list);
	if (rc)
		return rc;
	mr_buf_init(&buf, JSON_BYTES);
	mr_json_init(&w, &buf, MR_JSON_COMPACT);
	mr_json_begin_list(&w);
	for (size_t i = 0; i < list->list.len; i++)
		write_bare(&w, &list->list.items[i]);
	mr_json_end(&w);
	rc = mr_buf_check(&buf, "the list of attachments", &cx->err);
	if (!rc)
		*out = mr_arena_strndup(cx->arena, mr_buf_text(&buf), buf.len);
	return rc;
}

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool is_digest(const char *text)
{
	return text && strlen(text) == 40 && strspn(text, "0123456789abcdef") == 40;
}

/* Rows of a rebuilt database come from files, so a path in them must not lead out of the
 * directory. */
static void add_file(struct mr_texts *files, const char *path)
{
	if (path && mr_team_layout_is_attachment(path) && !mr_texts_has(files, path))
		files->items[files->len++] = path;
}

/* What is inline is stored as well. */
static const char *inline_path(struct mr_ctx *cx, const char *sha1, const char *media_type)
{
	for (enum mr_image_type type = MR_IMAGE_PNG; type < MR_IMAGE_TYPES; type++) {
		if (mr_str_eq(mr_image_media_type(type), media_type))
			return mr_team_layout_attachment(cx->arena, sha1, mr_image_extension(type));
	}
	return NULL;
}

static void add_files_of(struct mr_ctx *cx, const struct mr_value *item, struct mr_texts *files)
{
	const char *sha1 = text_at(item, "sha1");
	const char *type = text_at(item, "type");

	if (mr_str_eq(type, "file"))
		add_file(files, text_at(item, "path"));
	else if (!mr_str_eq(type, "inline"))
		return;
	if (!is_digest(sha1))
		return;
	if (mr_str_eq(type, "inline"))
		add_file(files, inline_path(cx, sha1, text_at(item, "media_type")));
	add_file(files, text_at(item, "original_path"));
	add_file(files, mr_team_layout_manifest(cx->arena, sha1));
	add_file(files, mr_team_layout_audit(cx->arena, sha1));
}

enum mr_code mr_team_attachment_files(struct mr_ctx *cx, const char *json, struct mr_texts *out)
{
	const struct mr_value *list;
	struct mr_texts files;
	enum mr_code rc = read_list(cx, json, &list);

	if (rc)
		return rc;
	files = (struct mr_texts){
		mr_arena_array(cx->arena, list->list.len * 4 + 1, sizeof(*files.items)), 0
	};
	for (size_t i = 0; i < list->list.len; i++)
		add_files_of(cx, &list->list.items[i], &files);
	*out = files;
	return MR_OK;
}

static const char *path_of(struct mr_ctx *cx, const struct mr_value *item)
{
	const char *type = text_at(item, "type");
	const char *sha1 = text_at(item, "sha1");
	const char *path = NULL;

	if (mr_str_eq(type, "file"))
		path = text_at(item, "path");
	else if (mr_str_eq(type, "inline") && is_digest(sha1))
		path = inline_path(cx, sha1, text_at(item, "media_type"));
	return path && mr_team_layout_is_attachment(path) ? path : NULL;
}

enum mr_code mr_team_attachment_read(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, const char *json, int64_t number,
	struct mr_team_attachment *out)
{
	const char *dir =
		mr_team_layout_project(cx->arena, mr_team_storage_root(team), project->slug);
	struct mr_team_attachment found = { 0 };
	const struct mr_value *list, *item;
	const char *slash;
	int root MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = read_list(cx, json, &list);

	if (rc)
		return rc;
	if (number < 1 || (uint64_t)number > list->list.len)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "the message has %zu files",
			list->list.len);
	item = &list->list.items[number - 1];
	found.path = path_of(cx, item);
	if (!found.path)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND,
			"file %lld of the message was not stored", (long long)number);
	if (!mr_team_database_is_file(team) && !mr_fs_make_dirs(AT_FDCWD, dir, 0700, &cx->err) &&
		!mr_fs_open_dir(AT_FDCWD, dir, &root, &cx->err))
		mr_team_attachment_fetch(cx, team, project->id, root, found.path);
	rc = mr_fs_read(cx->arena, AT_FDCWD, mr_arena_printf(cx->arena, "%s/%s", dir, found.path),
		MR_TEAM_ATTACHMENT_BYTES, &found.data, &cx->err);
	if (rc == MR_ENOTFOUND)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "%s is no longer in the archive",
			found.path);
	if (rc)
		return rc;
	slash = strrchr(found.path, '/');
	found.name = slash ? slash + 1 : found.path;
	found.media_type = text_at(item, "media_type");
	*out = found;
	return MR_OK;
}
