/* team/attachment_store.c - stores attachments under their digests in a project's directory. */
#include "base/fs.h"
#include "base/utf8.h"
#include "team/attachment_private.h"
#include "team/attachment_sql.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/store/root_private.h"
#include "text/digest.h"
#include "text/json.h"
#include "text/time.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	WEBP_QUALITY = 80,
	NOTE_BYTES = 4096,
	EXTENSION_BYTES = 10,
	SHA1_DIGITS = 40,
};

static const struct mr_image_limits limits = {
	.bytes = MR_TEAM_ATTACHMENT_BYTES,
	.long_side = MR_TEAM_IMAGE_WIDTH,
	.short_side = MR_TEAM_IMAGE_HEIGHT,
	.pixels = MR_TEAM_IMAGE_PIXELS,
};

void mr_team_store_close(struct mr_team_store *store)
{
	mr_fs_closep(&store->dir);
}

static enum mr_code open_dir(struct mr_ctx *cx, struct mr_team_store *store)
{
	const char *path = mr_team_layout_project(cx->arena, mr_team_storage_root(store->team),
		store->project->slug);
	enum mr_code rc;

	if (store->dir >= 0)
		return MR_OK;
	rc = mr_fs_make_dirs(AT_FDCWD, path, 0700, &cx->err);
	return rc ? rc : mr_fs_open_dir(AT_FDCWD, path, &store->dir, &cx->err);
}

/* The file is named by its digest: an existing one has the same content. */
static enum mr_code put(struct mr_ctx *cx, struct mr_team_store *store, const char *path,
	struct mr_bytes bytes)
{
	const char *slash = strrchr(path, '/');
	enum mr_code rc = open_dir(cx, store);

	if (!rc)
		rc = mr_team_attachment_keep(cx, store->team, store->project->id, path, bytes);
	if (rc || mr_fs_exists(store->dir, path))
		return rc;
	rc = mr_fs_make_dirs(store->dir, mr_arena_strndup(cx->arena, path, (size_t)(slash - path)),
		0700, &cx->err);
	if (!rc)
		rc = mr_fs_write(store->dir, path, bytes, MR_FS_REPLACE, 0600, &cx->err);
	return rc;
}

/* What was attached, and what it became. */
struct note {
	const struct mr_team_stored *stored;
	bool is_webp; /* made by us; else the file is the original itself */
	const char *extension;
	size_t bytes;
};

static void write_text(struct mr_json_writer *w, const char *key, const char *text)
{
	mr_json_key(w, key);
	mr_json_text(w, text);
}

static void write_int(struct mr_json_writer *w, const char *key, int64_t number)
{
	mr_json_key(w, key);
	mr_json_int(w, number);
}

static const char *original_path(const struct note *note)
{
	return note->is_webp ? note->stored->original_path : note->stored->path;
}

static void write_webp(struct mr_json_writer *w, const struct note *note)
{
	write_text(w, "webp_path", note->is_webp ? note->stored->path : NULL);
	mr_json_key(w, "bytes_webp");
	if (note->is_webp)
		mr_json_int(w, note->stored->bytes);
	else
		mr_json_null(w);
}

static void write_manifest(struct mr_buf *buf, const struct note *note)
{
	struct mr_json_writer w;

	mr_json_init(&w, buf, MR_JSON_INDENTED);
	mr_json_begin_map(&w);
	write_text(&w, "sha1", note->stored->sha1);
	write_webp(&w, note);
	write_int(&w, "width", note->stored->width);
	write_int(&w, "height", note->stored->height);
	write_text(&w, "original_path", original_path(note));
	write_int(&w, "bytes_original", (int64_t)note->bytes);
	write_text(&w, "original_ext", note->extension);
	mr_json_end(&w);
	mr_buf_putc(buf, '\n');
}

static void write_audit(struct mr_ctx *cx, struct mr_buf *buf, const struct note *note)
{
	struct mr_json_writer w;

	mr_json_init(&w, buf, MR_JSON_SPACED);
	mr_json_begin_map(&w);
	write_text(&w, "event", "stored");
	write_text(&w, "ts",
		mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_SECONDS));
	write_webp(&w, note);
	write_text(&w, "original_path", original_path(note));
	write_int(&w, "bytes_original", (int64_t)note->bytes);
	write_text(&w, "ext", note->extension);
	mr_json_end(&w);
	mr_buf_putc(buf, '\n');
}

/* Store the picture, its original when that is kept, and the manifest; the manifest last, so
 * that where it exists all else does. */
static enum mr_code put_picture(struct mr_ctx *cx, struct mr_team_store *store,
	struct mr_bytes original, const struct note *note)
{
	const struct mr_team_stored *stored = note->stored;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = put(cx, store, stored->path, stored->data);

	mr_buf_init(&text, NOTE_BYTES);
	if (!rc && stored->original_path)
		rc = put(cx, store, stored->original_path, original);
	if (!rc) {
		write_audit(cx, &text, note);
		rc = put(cx, store, mr_team_layout_audit(cx->arena, stored->sha1),
			mr_buf_bytes(&text));
	}
	if (!rc) {
		mr_buf_clear(&text);
		write_manifest(&text, note);
		rc = put(cx, store, mr_team_layout_manifest(cx->arena, stored->sha1),
			mr_buf_bytes(&text));
	}
	return rc;
}

/* The picture that stands there already, if it is one. */
static bool find_picture(struct mr_ctx *cx, struct mr_team_store *store, const char *path,
	struct mr_image_info *info, struct mr_bytes *out)
{
	struct mr_err err;

	if (open_dir(cx, store))
		return false;
	mr_team_attachment_fetch(cx, store->team, store->project->id, store->dir, path);
	return mr_fs_exists(store->dir, path) &&
		!mr_fs_read(cx->arena, store->dir, path, MR_TEAM_ATTACHMENT_BYTES, out, &err) &&
		!mr_image_look(*out, &limits, info, &err);
}

static enum mr_code make_webp(struct mr_ctx *cx, struct mr_team_store *store, struct mr_bytes bytes,
	const struct mr_image_info *info, struct mr_bytes *out)
{
	struct mr_image image = { 0 };
	uint64_t pixels = (uint64_t)info->width * info->height;
	enum mr_code rc;

	if (pixels > store->pixels)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"the message has more pictures than are converted at once");
	store->pixels -= pixels;
	pthread_mutex_lock(&store->team->picture);
	rc = mr_image_decode(bytes, &limits, &image, &cx->err);
	if (!rc)
		rc = mr_image_to_webp(cx->arena, &image, WEBP_QUALITY, out, &cx->err);
	mr_image_release(&image);
	pthread_mutex_unlock(&store->team->picture);
	return rc;
}

static enum mr_code as_webp(struct mr_ctx *cx, struct mr_team_store *store, struct mr_bytes bytes,
	const struct mr_image_info *info, struct mr_team_stored *stored)
{
	struct mr_image_info had;
	enum mr_code rc = MR_OK;

	stored->media_type = mr_image_media_type(MR_IMAGE_WEBP);
	stored->path = mr_team_layout_attachment(cx->arena, stored->sha1, "webp");
	if (mr_team_config(store->team)->keep_originals)
		stored->original_path = mr_team_layout_original(cx->arena, stored->sha1,
			mr_image_extension(info->type));
	if (!find_picture(cx, store, stored->path, &had, &stored->data))
		rc = make_webp(cx, store, bytes, info, &stored->data);
	return rc;
}

enum mr_code mr_team_store_picture(struct mr_ctx *cx, struct mr_team_store *store,
	struct mr_bytes bytes, struct mr_team_stored *out)
{
	struct mr_image_info info;
	enum mr_code rc = mr_image_look(bytes, &limits, &info, &cx->err);
	struct mr_team_stored stored;
	struct note note;

	if (rc)
		return rc;
	stored = (struct mr_team_stored){ .sha1 = mr_digest_sha1(cx->arena, bytes),
		.width = info.width,
		.height = info.height };
	note = (struct note){ &stored, mr_image_is_decodable(&info), mr_image_extension(info.type),
		bytes.len };
	if (note.is_webp) {
		rc = as_webp(cx, store, bytes, &info, &stored);
	} else {
		stored.media_type = mr_image_media_type(info.type);
		stored.path = mr_team_layout_attachment(cx->arena, stored.sha1, note.extension);
		stored.data = bytes;
	}
	stored.bytes = (int64_t)stored.data.len;
	if (!rc)
		rc = put_picture(cx, store, bytes, &note);
	if (!rc)
		*out = stored;
	return rc;
}

bool mr_team_store_has(struct mr_ctx *cx, struct mr_team_store *store, const char *path,
	struct mr_team_stored *out)
{
	const char *slash = strrchr(path, '/');
	struct mr_team_stored stored = { .path = path };
	struct mr_image_info info;

	if (!slash || strspn(slash + 1, "0123456789abcdef") != SHA1_DIGITS)
		return false;
	stored.sha1 = mr_arena_strndup(cx->arena, slash + 1, SHA1_DIGITS);
	if (!mr_str_eq(path,
		    mr_team_layout_attachment(cx->arena, stored.sha1,
			    slash + 1 + SHA1_DIGITS + 1)) ||
		!find_picture(cx, store, path, &info, &stored.data) ||
		!mr_fs_exists(store->dir, mr_team_layout_manifest(cx->arena, stored.sha1)))
		return false;
	stored.media_type = mr_image_media_type(info.type);
	stored.bytes = (int64_t)stored.data.len;
	stored.width = info.width;
	stored.height = info.height;
	*out = stored;
	return true;
}

/* By what it begins with. */
static const struct {
	const char *mark, *media_type, *extension;
} marks[] = {
	{ "%PDF-", "application/pdf", "pdf" },
	{ "PK\3\4", "application/zip", NULL },
	{ "\x1f\x8b", "application/gzip", NULL },
	{ "<svg", "image/svg+xml", "svg" },
	{ "<!doctype html", "text/html", "html" },
	{ "<html", "text/html", "html" },
	{ "<?xml", "application/xml", NULL },
};

/* Text, by how it was called. */
static const struct {
	const char *extension, *media_type;
} names[] = {
	{ "csv", "text/csv" },
	{ "htm", "text/html" },
	{ "html", "text/html" },
	{ "json", "application/json" },
	{ "markdown", "text/markdown" },
	{ "md", "text/markdown" },
	{ "svg", "image/svg+xml" },
	{ "xhtml", "text/html" },
	{ "xml", "application/xml" },
};

static bool is_text(struct mr_bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.data[i] < ' ' && !strchr("\t\n\r\f", bytes.data[i]))
			return false;
	}
	return !memchr(bytes.data, '\0', bytes.len) &&
		mr_utf8_is_valid((const char *)bytes.data, bytes.len, NULL);
}

/* Of the name, in lower case; NULL when there is none, or one that is not plain. */
static const char *extension_of(struct mr_ctx *cx, const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash ? slash + 1 : name, '.');

	if (!dot || !dot[1] || strlen(dot + 1) > EXTENSION_BYTES)
		return NULL;
	for (const char *at = dot + 1; *at; at++) {
		if (!isalnum((unsigned char)*at))
			return NULL;
	}
	return mr_str_lower(cx->arena, dot + 1);
}

static const char *media_type_of(struct mr_bytes bytes, const char **extension)
{
	const char *start = (const char *)bytes.data;
	size_t left = bytes.len;

	while (left > 0 && isspace((unsigned char)*start)) {
		start++;
		left--;
	}
	for (size_t i = 0; i < MR_LEN(marks); i++) {
		size_t len = strlen(marks[i].mark);

		if (left < len || strncasecmp(start, marks[i].mark, len) != 0)
			continue;
		if (marks[i].extension)
			*extension = marks[i].extension;
		return marks[i].media_type;
	}
	if (!is_text(bytes))
		return "application/octet-stream";
	for (size_t i = 0; *extension && i < MR_LEN(names); i++) {
		if (mr_str_eq(names[i].extension, *extension))
			return names[i].media_type;
	}
	return "text/plain";
}

enum mr_code mr_team_store_file(struct mr_ctx *cx, struct mr_team_store *store,
	struct mr_bytes bytes, const char *name, struct mr_team_stored *out)
{
	const char *extension = extension_of(cx, name);
	const char *media_type = media_type_of(bytes, &extension);
	struct mr_team_stored stored = { .media_type = media_type,
		.bytes = (int64_t)bytes.len,
		.data = bytes,
		.sha256 = mr_digest_sha256(cx->arena, bytes) };
	enum mr_code rc;

	stored.path =
		mr_team_layout_attachment(cx->arena, stored.sha256, extension ? extension : "bin");
	rc = put(cx, store, stored.path, bytes);
	if (!rc)
		*out = stored;
	return rc;
}
