/* workspace/record.c - makes the record of a message from everything that says something of it. */
#include "workspace/record.h"

#include "text/file_name.h"
#include "workspace/change_private.h"
#include "workspace/contact.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/reference.h"

#include <string.h>
#include <strings.h>

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

/* --- what the raw message says --- */

static struct mr_texts address_texts(struct mr_ctx *cx, const struct mr_mime_addresses *list)
{
	struct mr_texts out = { mr_arena_array(cx->arena, list->len + 1, sizeof(*out.items)), 0 };

	for (size_t i = 0; i < list->len; i++)
		out.items[out.len++] = mr_mime_address_text(cx->arena, &list->items[i]);
	return out;
}

static const char *first_address(struct mr_ctx *cx, const struct mr_mime_addresses *list)
{
	return list->len ? mr_mime_address_text(cx->arena, &list->items[0]) : NULL;
}

static struct mr_texts list_headers(struct mr_ctx *cx, const struct mr_mime *mime)
{
	static const char *const names[] = { "List-Unsubscribe", "List-Post", "List-Help",
		"Mailing-List", "X-Mailing-List", "Precedence" };
	struct mr_texts out = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct mr_texts values = mr_mime_values(cx->arena, mime, names[i]);

		for (size_t k = 0; k < values.len; k++) {
			const char *value = values.items[k];

			if (mr_str_eq(names[i], "Precedence") && strcasecmp(value, "bulk") != 0 &&
				strcasecmp(value, "list") != 0)
				continue;
			mr_work_texts_add(cx->arena, &out,
				mr_arena_printf(cx->arena, "%s: %s", names[i], value));
		}
	}
	return out;
}

static void from_headers(struct mr_ctx *cx, struct mr_work_record *out)
{
	const struct mr_mime *mime = &out->evidence.mime;
	struct mr_texts list_id = mr_mime_values(cx->arena, mime, "List-ID");

	out->rfc822_message_id = mime->message_id;
	out->in_reply_to =
		mime->in_reply_to.len ? mime->in_reply_to.items[mime->in_reply_to.len - 1] : NULL;
	out->references = mime->references;
	out->subject = mime->subject;
	out->from = first_address(cx, &mime->from);
	out->sender = first_address(cx, &mime->sender);
	out->to = address_texts(cx, &mime->to);
	out->cc = address_texts(cx, &mime->cc);
	out->bcc = address_texts(cx, &mime->bcc);
	out->reply_to = address_texts(cx, &mime->reply_to);
	out->delivered_to = mr_mime_values(cx->arena, mime, "Delivered-To");
	out->x_original_to = mr_mime_values(cx->arena, mime, "X-Original-To");
	out->envelope_to = mr_mime_values(cx->arena, mime, "Envelope-To");
	out->list_id = list_id.len ? list_id.items[0] : NULL;
	out->mailing_list_headers = list_headers(cx, mime);
	out->authentication_raw = mr_mime_values(cx->arena, mime, "Authentication-Results");
	mr_mail_auth_read(cx->arena, &out->authentication_raw,
		mime->from.len ? mime->from.items[0].email : NULL, &out->authentication);
	out->body_text = mime->body_text ? mime->body_text : "";
	out->notes = mime->notes;
}

/* Parts of one message may have the same name: the first keeps it, others get a number. */
static const char *saved_name(struct mr_ctx *cx, const struct mr_work_record *record,
	const struct mr_mime_attachment *from)
{
	const char *safe = mr_file_name_safe(cx->arena, from->filename,
		mr_arena_printf(cx->arena, "part-%s", from->part_id));
	const char *name = safe;

	for (size_t i = 0, again = 0; i < record->attachment_count; i++)
		if (mr_str_eq(record->attachments[i].saved_filename, name)) {
			name = mr_file_name_safe(cx->arena,
				mr_arena_printf(cx->arena, "%zu-%s", ++again, safe), "part");
			i = (size_t)-1; /* that name may be taken too */
		}
	return name;
}

/* An attachment was fetched when its file is there. */
static void from_attachments(struct mr_ctx *cx, struct mr_work *work, struct mr_work_record *out)
{
	const struct mr_mime *mime = &out->evidence.mime;
	const char *dir = mr_work_path_files(cx->arena, out->message_id);
	bool any = mime->attachment_count && mr_fs_exists(work->dir, dir);

	out->attachments =
		mr_arena_array(cx->arena, mime->attachment_count + 1, sizeof(*out->attachments));
	for (size_t i = 0; i < mime->attachment_count; i++) {
		const struct mr_mime_attachment *from = &mime->attachments[i];
		struct mr_work_attachment *to = &out->attachments[i];

		*to = (struct mr_work_attachment){ .part_id = from->part_id,
			.filename = from->filename,
			.content_type = from->content_type,
			.size_bytes = from->size_bytes };
		to->saved_filename = saved_name(cx, out, from);
		out->attachment_count++;
		if (any) {
			const char *path = mr_work_join(cx->arena, dir, to->saved_filename);

			to->fetched = mr_fs_exists(work->dir, path);
			to->file_path = to->fetched ? path : NULL;
		}
	}
}

/* --- what the workspace says --- */

/* May the message be archived on the server? Asked of those that are archived here. */
static enum mr_code find_sync(struct mr_ctx *cx, struct mr_work *work, bool is_archived,
	struct mr_work_record *out)
{
	const struct mr_value *space = mr_value_get(out->evidence.record, "workspace");
	const struct mr_value *sync = mr_value_get(space, "remote_sync");
	const struct mr_value *before = mr_value_get(sync, "archive_eligible");
	const char *checked = text_of(sync, "checked_rfc3339");
	enum mr_code rc;

	out->has_remote_sync = is_archived;
	if (!is_archived)
		return MR_OK;
	rc = mr_work_is_archivable_now(cx, work, out->message_id, &out->archive_eligible);
	/* The time stays while the answer does. */
	out->remote_checked = checked && before && before->kind == MR_BOOL &&
			before->boolean == out->archive_eligible
		? checked
		: work->now;
	return rc;
}

static enum mr_code from_lists(struct mr_ctx *cx, struct mr_work *work, struct mr_work_record *out)
{
	struct mr_work_members members = { 0 };
	enum mr_code rc = mr_work_index_members(cx, work, out->message_id, &members);
	bool is_archived = false;
	enum mr_work_status status = MR_WORK_IS_TRIAGE;

	for (size_t i = 0; !rc && i < members.len; i++) {
		static const enum mr_work_status means[] = {
			[MR_WORK_ACTIVE_CASE] = MR_WORK_IS_CASE,
			[MR_WORK_ARCHIVED_CASE] = MR_WORK_IS_CASE,
			[MR_WORK_NOTIFICATION] = MR_WORK_IS_ARCHIVED,
			[MR_WORK_SPAM] = MR_WORK_IS_SPAM,
			[MR_WORK_TRASH] = MR_WORK_IS_TRASHED,
			[MR_WORK_DELETED] = MR_WORK_IS_DELETED,
		};
		const struct mr_work_member *member = &members.items[i];

		is_archived |= member->kind == MR_WORK_NOTIFICATION ||
			member->kind == MR_WORK_ARCHIVED_CASE;
		if (means[member->kind] > status)
			status = means[member->kind];
		if (member->kind == MR_WORK_NOTIFICATION) {
			out->archive_uid = member->uid;
			out->archived = member->added;
		}
	}
	out->status = status;
	if (status != MR_WORK_IS_ARCHIVED)
		out->archive_uid = out->archived = NULL;
	return rc ? rc : find_sync(cx, work, is_archived && status <= MR_WORK_IS_ARCHIVED, out);
}

static enum mr_code from_queue(struct mr_ctx *cx, struct mr_work *work, struct mr_work_record *out)
{
	const struct mr_value *space = mr_value_get(out->evidence.record, "workspace");
	const struct mr_work_push_items *queue = NULL;
	enum mr_code rc = mr_work_queue_get(cx, work, &queue);

	out->last_completed = text_of(mr_value_get(space, "push"), "last_completed_rfc3339");
	if (rc)
		return rc;
	out->pending = mr_arena_array(cx->arena, queue->len + 1, sizeof(*out->pending));
	for (size_t i = 0; i < queue->len; i++) {
		const struct mr_work_push_item *item = &queue->items[i];

		if (!mr_texts_has(&item->message_ids, out->message_id))
			continue;
		out->pending[out->pending_count++] = (struct mr_work_pending){ item->push_id,
			mr_work_push_display_kind(item), item->created, item->last_error };
	}
	return MR_OK;
}

static void observe(struct mr_work_observed *out, size_t *len,
	const struct mr_mime_addresses *addresses)
{
	for (size_t i = 0; i < addresses->len; i++)
		out[(*len)++] = (struct mr_work_observed){ addresses->items[i].email,
			addresses->items[i].name };
}

/* Who the mail was sent to, as far as its headers show it: in the order that counts. */
static void find_identity(struct mr_ctx *cx, const struct mr_work_config *config,
	struct mr_work_record *out)
{
	const struct mr_mime *mime = &out->evidence.mime;
	const struct mr_texts *raw[] = { &out->delivered_to, &out->x_original_to,
		&out->envelope_to };
	struct mr_mime_addresses lists[5] = { [3] = mime->to, [4] = mime->cc };
	struct mr_work_observed *observed;
	size_t max = 0, len = 0;

	for (size_t i = 0; i < 3; i++)
		lists[i] = mr_mime_addresses_read(cx->arena, mr_str_join(cx->arena, raw[i], ", "));
	for (size_t i = 0; i < 5; i++)
		max += lists[i].len;
	observed = mr_arena_array(cx->arena, max + 1, sizeof(*observed));
	for (size_t i = 0; i < 5; i++)
		observe(observed, &len, &lists[i]);
	mr_work_identity_match(cx->arena, config, observed, len, &out->identity);
}

static enum mr_code from_people(struct mr_ctx *cx, struct mr_work *work, struct mr_work_record *out)
{
	const struct mr_mime *mime = &out->evidence.mime;
	const struct mr_work_config *config = NULL;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc && mime->from.len)
		rc = mr_work_contact_of(cx, work, mime->from.items[0].email, &out->contact_uid,
			&out->contact_name);
	if (!rc && out->evidence.direction == MR_WORK_INBOUND)
		find_identity(cx, config, out);
	return rc;
}

enum mr_code mr_work_record_make(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	struct mr_work_record *out)
{
	struct mr_work_record record = { 0 };
	enum mr_code rc = mr_work_check_message_id(cx, message_id);

	if (!rc)
		rc = mr_work_evidence_load(cx, work, message_id, &record.evidence);
	if (rc)
		return rc;
	record.message_id = record.evidence.message_id;
	from_headers(cx, &record);
	from_attachments(cx, work, &record);
	rc = from_lists(cx, work, &record);
	if (!rc)
		rc = from_queue(cx, work, &record);
	if (!rc)
		rc = from_people(cx, work, &record);
	if (!rc)
		*out = record;
	return rc;
}

const struct mr_work_attachment *mr_work_record_attachment(const struct mr_work_record *record,
	const char *part_id)
{
	for (size_t i = 0; i < record->attachment_count; i++)
		if (mr_str_eq(record->attachments[i].part_id, part_id))
			return &record->attachments[i];
	return NULL;
}
