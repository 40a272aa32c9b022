/* workspace/message.c - shows a message and saves its attachments. */
#include "workspace/message.h"

#include "text/html.h"
#include "workspace/change_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"
#include "workspace/view.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* --- show --- */

/* The first of the places where a message can be seen. */
static const enum mr_work_collection_kind places[] = { MR_WORK_SPAM, MR_WORK_TRASH, MR_WORK_DELETED,
	MR_WORK_ACTIVE_CASE, MR_WORK_ARCHIVED_CASE, MR_WORK_NOTIFICATION };

enum mr_code mr_work_message_view(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	const char **out_path)
{
	const char *triage = mr_work_path_triage(cx->arena, message_id);
	struct mr_work_members members = { 0 };
	enum mr_code rc = mr_work_index_members(cx, work, message_id, &members);

	*out_path = NULL;
	if (rc)
		return rc;
	if (mr_fs_exists(work->dir, triage)) {
		*out_path = triage;
		return MR_OK;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (size_t k = 0; k < members.len; k++) {
			struct mr_work_collection at = { .kind = members.items[k].kind,
				.path = members.items[k].path };
			const char *path = mr_work_view_member_path(cx->arena, &at, message_id);

			if (at.kind != places[i])
				continue;
			if (!mr_fs_exists(work->dir, path))
				path = mr_work_view_path(cx->arena, &at);
			if (!mr_fs_exists(work->dir, path))
				continue;
			*out_path = path;
			return MR_OK;
		}
	return MR_OK;
}

static enum mr_code from_locations(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_locations *locations, struct mr_work_shown_message *out)
{
	const struct mr_work_config *config = NULL;
	struct mr_texts flags = { 0 };
	bool live = false;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	for (size_t i = 0; !rc && i < locations->len; i++) {
		const struct mr_work_location *at = &locations->items[i];
		const struct mr_work_mailbox *mailbox = NULL;

		if (!at->mailbox_id)
			rc = mr_work_mailbox_by_name(cx, config, at->mailbox_name, &mailbox);
		if (rc)
			break;
		mr_work_texts_add(cx->arena, &out->mailbox_ids,
			at->mailbox_id    ? at->mailbox_id
				: mailbox ? mailbox->id
					  : at->mailbox_name);
		if (at->missing && !out->remote_missing_since_rfc3339)
			out->remote_missing_since_rfc3339 = at->missing;
		live |= !at->missing;
		for (size_t k = 0; !at->missing && k < at->flags.len; k++)
			mr_work_texts_add(cx->arena, &flags, at->flags.items[k]);
	}
	out->flags = mr_work_flags(cx->arena, &flags);
	out->unread = !mr_texts_has(&out->flags, "\\Seen");
	out->flagged = mr_texts_has(&out->flags, "\\Flagged");
	out->remote_missing = out->remote_missing_since_rfc3339 && !live;
	if (!out->remote_missing)
		out->remote_missing_since_rfc3339 = NULL;
	return rc;
}

static void from_attachments(struct mr_ctx *cx, const struct mr_work_record *record,
	struct mr_work_shown_message *out)
{
	out->attachment_count = (int64_t)record->attachment_count;
	out->attachments =
		mr_arena_array(cx->arena, record->attachment_count + 1, sizeof(*out->attachments));
	for (size_t i = 0; i < record->attachment_count; i++) {
		const struct mr_work_attachment *from = &record->attachments[i];

		out->attachments[out->attachments_len++] = (struct mr_work_shown_attachment){
			.part_id = from->part_id,
			.filename = from->filename,
			.saved_filename = from->saved_filename,
			.content_type = from->content_type,
			.size_bytes = from->size_bytes,
			.fetched = from->fetched,
			.file_path = or_empty(from->file_path),
			.storage = from->fetched ? "message_cache" : "",
		};
	}
}

enum mr_code mr_work_message_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_ref *request, struct mr_work_shown_message *out)
{
	struct mr_work_record record;
	const struct mr_value *message;
	enum mr_code rc = mr_work_record_make(cx, work, request->message_id, &record);

	if (rc)
		return rc;
	message = mr_work_record_value(cx, &record);
	*out = (struct mr_work_shown_message){
		.message_id = record.message_id,
		.from = or_empty(record.from),
		.sender = or_empty(record.sender),
		.subject = or_empty(record.subject),
		.direction = mr_work_direction_names[record.evidence.direction],
		.to = record.to,
		.cc = record.cc,
		.bcc = record.bcc,
		.reply_to = record.reply_to,
		.received_rfc3339 = or_empty(record.evidence.received),
		.sent_rfc3339 = or_empty(record.evidence.sent),
		.body_text = or_empty(record.body_text),
		.remote_effect_pending = record.pending_count > 0,
		.push = mr_value_get(mr_value_get(message, "workspace"), "push"),
		.contact = mr_value_get(message, "contact"),
		.identity = record.identity.identity,
		.identity_email = record.identity.identity_email,
		.identity_match = record.identity.identity_match,
		.identity_candidates = record.identity.identity_candidates,
		.observed_recipient_emails = record.identity.observed_recipient_emails,
		.json_path = mr_work_path_record(cx->arena, record.message_id),
		.message = message,
	};
	if (request->markdown && record.evidence.mime.body_html)
		out->body_markdown = mr_html_to_markdown(cx->arena, record.evidence.mime.body_html,
			MR_MIME_TEXT_BYTES);
	from_attachments(cx, &record, out);
	rc = from_locations(cx, work, &record.evidence.locations, out);
	if (!rc)
		rc = mr_work_message_view(cx, work, record.message_id, &out->view_path);
	return rc;
}

/* --- attachments --- */

static enum mr_code save_part(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_record *record, const struct mr_work_attachment *attachment,
	struct mr_work_saved_attachment *out)
{
	const char *path = mr_work_join(cx->arena,
		mr_work_path_files(cx->arena, record->message_id), attachment->saved_filename);
	struct mr_bytes bytes = { 0 };

	*out = (struct mr_work_saved_attachment){ .message_id = record->message_id,
		.part_id = attachment->part_id,
		.filename = attachment->filename,
		.saved_filename = attachment->saved_filename,
		.content_type = attachment->content_type,
		.storage = "message_cache",
		.file_path = path,
		.size_bytes = attachment->size_bytes };
	if (attachment->fetched)
		return MR_OK;
	if (mr_mime_part_read(cx->arena, &record->evidence.mime, attachment->part_id, &bytes,
		    &cx->err))
		return mr_work_refuse(cx, MR_WORK_ATTACHMENT_NOT_FOUND, "%s", cx->err.msg);
	mr_work_change_write(change, path, bytes);
	return MR_OK;
}

static void tell(struct mr_work_change *change, const struct mr_work_fetched *fetched)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "attachment_fetched",
		MR_WORK_TARGETS({ "message", fetched->message_id }), NULL, &event);
	mr_out_text(&event.out, "message_id", fetched->message_id);
	mr_out_list(&event.out, "part_ids");
	for (size_t i = 0; i < fetched->len; i++)
		mr_out_text(&event.out, NULL, fetched->items[i].part_id);
	mr_out_end(&event.out);
	mr_work_event_end(&event);
}

enum mr_code mr_work_attachment_fetch(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_fetch *request, struct mr_work_fetched *out)
{
	struct mr_work_change change;
	struct mr_work_record record;
	enum mr_code rc = mr_work_record_make(cx, work, request->message_id, &record);

	if (rc)
		return rc;
	if (request->part_id && !mr_work_record_attachment(&record, request->part_id))
		return mr_work_refuse(cx, MR_WORK_ATTACHMENT_NOT_FOUND,
			"message %s has no attachment with the part id %s", record.message_id,
			request->part_id);
	*out = (struct mr_work_fetched){ .message_id = record.message_id,
		.is_one = request->part_id != NULL };
	out->items = mr_arena_array(cx->arena, record.attachment_count + 1, sizeof(*out->items));
	mr_work_change_begin(cx, work, "attachment_fetch", &change);
	for (size_t i = 0; !rc && i < record.attachment_count; i++) {
		const struct mr_work_attachment *attachment = &record.attachments[i];

		if (!request->part_id || mr_str_eq(request->part_id, attachment->part_id))
			rc = save_part(cx, &change, &record, attachment, &out->items[out->len++]);
	}
	if (rc || !change.count)
		return rc;
	tell(&change, out);
	mr_work_touch_message(&change, record.message_id);
	return mr_work_carry_out(cx, &change);
}
