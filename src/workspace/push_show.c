/* workspace/push_show.c - queued items as a person reads them before they are carried out. */
#include "text/mime.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/push.h"

/* The very mail, taken apart as its recipients' programs do. */
static enum mr_code read_mail(struct mr_ctx *cx, struct mr_work_push_read *out)
{
	struct mr_mime mime = { 0 };

	if (!out->row.mail.data)
		return MR_OK;
	if (mr_mime_parse(cx->arena, out->row.mail, &mime, &cx->err))
		return mr_work_store_error(cx);
	out->from = mime.from.len ? mr_mime_address_text(cx->arena, &mime.from.items[0]) : NULL;
	out->row.subject = mime.subject ? mime.subject : "";
	out->text = mime.body_text;
	out->files = mr_arena_array(cx->arena, mime.attachment_count + 1, sizeof(*out->files));
	for (; out->file_count < mime.attachment_count; out->file_count++) {
		const struct mr_mime_attachment *file = &mime.attachments[out->file_count];

		out->files[out->file_count] = (struct mr_work_push_file){ file->filename,
			file->content_type, file->size_bytes };
	}
	return MR_OK;
}

static enum mr_code find_new(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *recipients, struct mr_texts *out)
{
	enum mr_code rc = MR_OK;

	*out = mr_work_ids_room(cx->arena, recipients->len);
	for (size_t i = 0; !rc && i < recipients->len; i++) {
		bool has_written = false;

		rc = mr_work_index_has_written(cx, work, recipients->items[i], &has_written);
		if (!rc && !has_written)
			mr_work_ids_put(out, recipients->items[i]);
	}
	return rc;
}

static void put_changes(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, struct mr_work_push_read *out)
{
	out->changes = mr_arena_array(cx->arena, item->location_count + 1, sizeof(*out->changes));
	for (size_t i = 0; i < item->location_count; i++) {
		const struct mr_work_push_location *at = &item->locations[i];
		struct mr_work_brief brief = { 0 };
		struct mr_err kept = cx->err;

		/* One that is not here any more is shown by its id. */
		if (mr_work_index_message(cx, work, at->message_id, &brief)) {
			cx->err = kept;
			brief = (struct mr_work_brief){ 0 };
		}
		out->changes[out->change_count++] = (struct mr_work_push_change){ at->message_id,
			brief.subject, brief.from, at->mailbox_name };
	}
}

static enum mr_code read_item(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, const struct mr_work_push_row *row,
	struct mr_work_push_read *out)
{
	enum mr_code rc = MR_OK;

	*out = (struct mr_work_push_read){ .row = *row };
	if (row->is_outbound) {
		rc = read_mail(cx, out);
		if (!rc)
			rc = find_new(cx, work, &row->recipients, &out->new_recipients);
	} else {
		put_changes(cx, work, item, out);
	}
	return rc;
}

static enum mr_code check_ids(struct mr_ctx *cx, const struct mr_texts *ids,
	const struct mr_work_push_items *queue)
{
	for (size_t i = 0; i < ids->len; i++) {
		bool found = false;

		for (size_t k = 0; k < queue->len; k++)
			found |= mr_str_eq(queue->items[k].push_id, ids->items[i]);
		if (!found)
			return mr_work_refuse(cx, MR_WORK_PUSH_NOT_FOUND, "%s is not queued",
				ids->items[i]);
	}
	return MR_OK;
}

enum mr_code mr_work_push_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_show *request, struct mr_work_push_shown *result)
{
	const struct mr_work_push_preview all = { 0 };
	struct mr_work_push_previewed previewed = { 0 };
	struct mr_work_push_items queue = { 0 };
	struct mr_work_push_shown shown = { 0 };
	enum mr_code rc = mr_work_queue_load(cx, work, &queue);

	if (!rc)
		rc = check_ids(cx, &request->push_ids, &queue);
	if (!rc)
		rc = mr_work_push_preview(cx, work, &all, &previewed);
	if (rc)
		return rc;
	mr_work_push_name_messages(cx, work, &previewed);
	shown.items = mr_arena_array(cx->arena, previewed.len + 1, sizeof(*shown.items));
	for (size_t i = 0; !rc && i < previewed.len; i++)
		if (!request->push_ids.len ||
			mr_texts_has(&request->push_ids, previewed.items[i].push_id))
			rc = read_item(cx, work, &queue.items[i], &previewed.items[i],
				&shown.items[shown.len++]);
	if (rc)
		return rc;
	shown.count = (int64_t)shown.len;
	shown.waiting_count = previewed.waiting_count;
	shown.approval_required = previewed.approval_required;
	shown.plan_id = previewed.plan_id;
	shown.invalid_paths = previewed.invalid_paths;
	*result = shown;
	return MR_OK;
}
