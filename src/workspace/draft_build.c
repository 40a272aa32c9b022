/* workspace/draft_build.c - builds the mail of a draft. */
#include "text/mime_build.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"
#include "workspace/record.h"

#include <string.h>

static enum mr_code read_addresses(struct mr_ctx *cx, const struct mr_texts *texts,
	struct mr_mime_addresses *out, struct mr_texts *envelope)
{
	out->items = mr_arena_array(cx->arena, texts->len + 1, sizeof(*out->items));
	for (; out->len < texts->len; out->len++) {
		struct mr_mime_address *to = &out->items[out->len];
		bool is_there = false;

		if (mr_mime_mailbox_read(cx->arena, texts->items[out->len], to, &cx->err))
			return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s", cx->err.msg);
		for (size_t i = 0; i < envelope->len; i++)
			is_there |= mr_str_eq_nocase(envelope->items[i], to->email);
		if (!is_there)
			mr_work_ids_put(envelope, to->email);
	}
	return MR_OK;
}

/* In-Reply-To and References. */
static enum mr_code put_thread(struct mr_ctx *cx, struct mr_work *work, const char *parent_id,
	struct mr_mime_draft *out)
{
	struct mr_work_record parent = { 0 };
	enum mr_code rc = mr_work_record_make(cx, work, parent_id, &parent);

	if (rc)
		return rc;
	out->in_reply_to = parent.rfc822_message_id;
	out->references = mr_work_ids_room(cx->arena, parent.references.len + 1);
	for (size_t i = 0; i < parent.references.len; i++)
		if (!mr_str_eq_nocase(parent.references.items[i], parent.rfc822_message_id))
			mr_work_ids_put(&out->references, parent.references.items[i]);
	mr_work_ids_put(&out->references, parent.rfc822_message_id);
	return MR_OK;
}

static enum mr_code read_files(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft, struct mr_mime_draft *out)
{
	const struct mr_texts *paths = &draft->file.attachments;
	struct mr_mime_file *files = mr_arena_array(cx->arena, paths->len + 1, sizeof(*files));
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < paths->len; i++) {
		int fd MR_CLEANUP(mr_fs_closep) = -1;
		const char *slash = strrchr(paths->items[i], '/');
		int64_t size = 0;

		rc = mr_work_draft_file_open(cx, work, draft->collection.path, paths->items[i], &fd,
			&size);
		if (!rc &&
			mr_fs_read_fd(cx->arena, fd, MR_WORK_DRAFT_ATTACHED_BYTES, &files[i].bytes,
				&cx->err))
			rc = mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "attachment %s: %s",
				paths->items[i], cx->err.msg);
		files[i].name = slash ? slash + 1 : paths->items[i];
	}
	out->files = files;
	out->file_count = paths->len;
	return rc;
}

static enum mr_code put_head(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft, bool is_sent, struct mr_mime_draft *mail,
	struct mr_work_outbound *out)
{
	const struct mr_work_identity *identity = NULL;
	enum mr_code rc = mr_work_draft_identity(cx, work, draft->file.identity, &identity);

	if (!rc && is_sent)
		rc = mr_work_check_sender(cx, identity);
	if (rc)
		return rc;
	mail->from = (struct mr_mime_address){ identity->name, identity->email };
	out->from = identity->email;
	out->to = mr_work_ids_room(cx->arena, draft->file.to.len + draft->file.cc.len);
	rc = read_addresses(cx, &draft->file.to, &mail->to, &out->to);
	if (!rc)
		rc = read_addresses(cx, &draft->file.cc, &mail->cc, &out->to);
	if (!rc && draft->file.reply_to_message_id)
		rc = put_thread(cx, work, draft->file.reply_to_message_id, mail);
	return rc;
}

/* The text without the newline that every draft file ends with. */
static const char *text_of(struct mr_arena *arena, const char *body)
{
	size_t len = strlen(body);

	len -= len && body[len - 1] == '\n';
	len -= len && body[len - 1] == '\r';
	return mr_arena_strndup(arena, body, len);
}

enum mr_code mr_work_draft_build(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_draft *draft, const struct mr_work_push_item *item, int64_t date_us,
	struct mr_work_outbound *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_work_config *config = NULL;
	struct mr_work_outbound built = { .message_id = mr_work_sent_id(cx->arena, item->push_id),
		.subject = draft->file.subject,
		.reply_to_message_id = draft->file.reply_to_message_id };
	struct mr_mime_draft mail = { .subject = draft->file.subject,
		.date_us = date_us,
		.text = text_of(cx->arena, draft->file.body) };
	enum mr_code rc = mr_work_draft_check(cx, work, draft);

	if (!rc)
		rc = mr_work_config_get(cx, work, &config);
	if (!rc)
		rc = put_head(cx, work, draft, item->action == MR_WORK_PUSH_SEND, &mail, &built);
	if (!rc)
		rc = read_files(cx, work, draft, &mail);
	if (rc)
		return rc;
	built.rfc822_message_id = mr_arena_printf(cx->arena, "%s@afmail.local", built.message_id);
	mail.message_id = built.rfc822_message_id;
	mail.offset_minutes = config->offset_minutes;
	mr_buf_init(&buf, MR_MIME_BYTES);
	if (mr_mime_build(&buf, &mail, &cx->err))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID, "%s: %s", draft->name,
			cx->err.msg);
	built.bytes = mr_bytes_of(mr_arena_memdup(cx->arena, buf.data, buf.len), buf.len);
	*out = built;
	return MR_OK;
}
