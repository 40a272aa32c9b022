/* workspace/take.c - one message taken in as evidence: its id, and its bytes on the disk. */
#include "base/crash.h"
#include "text/digest.h"
#include "workspace/error.h"
#include "workspace/import.h"
#include "workspace/index.h"
#include "workspace/index_private.h"
#include "workspace/layout.h"
#include "workspace/name.h"
#include "workspace/refresh.h"
#include "workspace/text_set.h"

#include <string.h>

enum { APART_DIGITS = 16 };

static enum mr_code read_present(struct mr_ctx *cx, struct mr_work *work, const char *id,
	struct mr_bytes *out)
{
	struct mr_err err = { 0 };
	enum mr_code rc = mr_fs_read(cx->arena, work->dir, mr_work_path_eml(cx->arena, id),
		MR_MIME_BYTES, out, &err);

	*out = rc ? (struct mr_bytes){ 0 } : *out;
	if (!rc || rc == MR_ENOTFOUND)
		return MR_OK;
	cx->err = err;
	return mr_work_store_error(cx);
}

static bool same_text(const char *a, const char *b)
{
	return mr_str_eq(a ? a : "", b ? b : "");
}

/* The end of the last line is added on the way when a mail has none. */
static size_t text_len(const char *text)
{
	size_t len = strlen(text ? text : "");

	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	return len;
}

static bool same_body(const char *a, const char *b)
{
	size_t len = text_len(a);

	return len == text_len(b) && (!len || memcmp(a, b, len) == 0);
}

static const char *from_of(const struct mr_mime *mime)
{
	return mime->from.len ? mime->from.items[0].email : NULL;
}

/* Have both the same attachments: names, types and content? */
static bool same_attachments(struct mr_ctx *cx, const struct mr_mime *a, const struct mr_mime *b)
{
	if (a->attachment_count != b->attachment_count)
		return false;
	for (size_t i = 0; i < a->attachment_count; i++) {
		const struct mr_mime_attachment *left = &a->attachments[i];
		const struct mr_mime_attachment *right = &b->attachments[i];
		struct mr_bytes x = { 0 }, y = { 0 };
		struct mr_err ignored = { 0 };

		if (left->size_bytes != right->size_bytes ||
			!same_text(left->filename, right->filename) ||
			!same_text(left->content_type, right->content_type) ||
			mr_mime_part_read(cx->arena, a, left->part_id, &x, &ignored) ||
			mr_mime_part_read(cx->arena, b, right->part_id, &y, &ignored) ||
			x.len != y.len || (x.len && memcmp(x.data, y.data, x.len) != 0))
			return false;
	}
	return true;
}

bool mr_work_take_is_same(struct mr_ctx *cx, struct mr_bytes present, const struct mr_mime *mime)
{
	struct mr_mime other;
	struct mr_err ignored = { 0 };

	if (present.len == mime->bytes.len &&
		memcmp(present.data, mime->bytes.data, present.len) == 0)
		return true;
	if (mr_mime_parse(cx->arena, present, &other, &ignored))
		return false;
	return same_text(other.subject, mime->subject) &&
		same_text(other.date.rfc3339, mime->date.rfc3339) &&
		same_text(from_of(&other), from_of(mime)) &&
		same_body(other.body_text, mime->body_text) && same_attachments(cx, &other, mime);
}

static const char *content_hash(struct mr_ctx *cx, const struct mr_mime *mime)
{
	return mr_arena_strndup(cx->arena, mr_digest_sha256(cx->arena, mime->bytes), APART_DIGITS);
}

static const char *first_id(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_mime *mime, const struct mr_work_location *location)
{
	const char *normal = mr_work_normal_id(cx->arena, mime->message_id);
	const char *date =
		mime->date.rfc3339 ? mr_work_local_date(cx->arena, config, mime->date.us) : NULL;

	if (normal)
		return mr_work_message_id(cx->arena, normal, date);
	if (location && location->has_uid)
		return mr_work_location_id(cx->arena, location->mailbox_name,
			location->uid_validity, location->uid, date);
	return mr_arena_printf(cx->arena, "message_%s%simport_%s", date ? date : "",
		date ? "_" : "", content_hash(cx, mime));
}

/* The same mail under an id of another form: one that we sent is called after its push item, and
 * other programs had ids of their own. `*out_id` stays when there is none. */
static enum mr_code find_other_form(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_mime *mime, const char **out_id, bool *out_present)
{
	const char *normal = mr_work_normal_id(cx->arena, mime->message_id);
	struct mr_texts ids = { 0 };
	enum mr_code rc = normal ? mr_work_index_by_rfc822(cx, work, normal, &ids) : MR_OK;

	for (size_t i = 0; !rc && !*out_present && i < ids.len; i++) {
		struct mr_bytes present = { 0 };

		rc = read_present(cx, work, ids.items[i], &present);
		if (rc || !present.data || !mr_work_take_is_same(cx, present, mime))
			continue;
		*out_present = true;
		*out_id = ids.items[i];
	}
	return rc;
}

enum mr_code mr_work_take_id(struct mr_ctx *cx, struct mr_work *work, const struct mr_mime *mime,
	const struct mr_work_location *location, const char **out_id, bool *out_present)
{
	const struct mr_work_config *config = NULL;
	struct mr_bytes present = { 0 };
	const char *id;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (rc)
		return rc;
	*out_present = false;
	id = first_id(cx, config, mime, location);
	rc = read_present(cx, work, id, &present);
	if (!rc && present.data && !mr_work_take_is_same(cx, present, mime)) {
		/* Another mail under a known Message-ID must not be hidden by it. */
		id = mr_arena_printf(cx->arena, "%s_%s", id, content_hash(cx, mime));
		rc = read_present(cx, work, id, &present);
	}
	if (rc)
		return rc;
	*out_present = present.data != NULL;
	*out_id = id;
	return *out_present ? MR_OK : find_other_form(cx, work, mime, out_id, out_present);
}

enum mr_code mr_work_take_sync(struct mr_ctx *cx, struct mr_work *work)
{
	return mr_fs_sync_dir(work->dir, MR_WORK_EVIDENCE, &cx->err) ? mr_work_store_error(cx)
								     : MR_OK;
}

/* The messages, and those of their conversations, whose views show them now. */
static enum mr_code add_related(struct mr_ctx *cx, struct mr_work *work, const struct mr_texts *ids,
	struct mr_work_text_set *out)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < ids->len; i++)
		mr_work_text_set_add(cx->arena, out, ids->items[i]);
	for (size_t i = 0; !rc && i < ids->len; i++) {
		struct mr_texts related = { 0 };

		rc = mr_work_index_related(cx, work, ids->items[i], &related);
		for (size_t k = 0; !rc && k < related.len; k++)
			mr_work_text_set_add(cx->arena, out, related.items[k]);
	}
	return rc;
}

static enum mr_code refresh_taken(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *ids, const struct mr_texts *collections)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_work_text_set messages = { 0 };
	struct mr_work_stale stale = { 0 };
	struct mr_ctx own = *cx;
	enum mr_code rc;

	own.arena = arena;
	rc = add_related(&own, work, ids, &messages);
	if (rc) {
		cx->err = own.err;
		cx->err.detail = NULL;
		return rc;
	}
	stale.messages = messages.texts;
	if (collections)
		stale.collections = *collections;
	return mr_work_refresh(cx, work, &stale);
}

enum mr_code mr_work_take_show(struct mr_ctx *cx, struct mr_work *work, const struct mr_texts *ids,
	const struct mr_texts *collections)
{
	enum mr_code rc = mr_work_index_begin(cx, work);

	for (size_t i = 0; !rc && i < ids->len; i++)
		rc = mr_work_index_add(cx, work, ids->items[i]);
	if (!rc)
		rc = mr_work_index_added(cx, work);
	mr_crash_point("work.take.indexed");
	/* The index knows of them once they have their views: also when we are killed before. */
	if (!rc)
		rc = refresh_taken(cx, work, ids, collections);
	mr_crash_point("work.take.shown");
	if (!rc)
		rc = mr_work_index_commit(cx, work);
	if (rc)
		mr_work_index_undo(work);
	return rc;
}
