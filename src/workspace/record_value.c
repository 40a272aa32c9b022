/* workspace/record_value.c - the record of a message as the document that messages/ holds. */
#include "workspace/layout.h"
#include "workspace/record.h"

static void text_if(struct mr_out *out, const char *key, const char *text)
{
	if (!mr_str_is_empty(text))
		mr_out_text(out, key, text);
}

static void texts_if(struct mr_out *out, const char *key, const struct mr_texts *texts)
{
	if (texts->len)
		mr_out_texts(out, key, texts);
}

static void emit_authentication(struct mr_out *out, const struct mr_work_record *record)
{
	const struct mr_mail_auth *auth = &record->authentication;

	mr_out_map(out, "authentication");
	mr_out_text(out, "spf", mr_mail_verdict_text(auth->spf));
	mr_out_text(out, "dkim", mr_mail_verdict_text(auth->dkim));
	mr_out_text(out, "dmarc", mr_mail_verdict_text(auth->dmarc));
	text_if(out, "dmarc_policy", auth->dmarc_policy);
	text_if(out, "authenticated_domain", auth->authenticated_domain);
	text_if(out, "from_domain", auth->from_domain);
	mr_out_text(out, "alignment", auth->alignment);
	texts_if(out, "raw", &record->authentication_raw);
	mr_out_end(out);
}

static void emit_attachments(struct mr_out *out, const struct mr_work_record *record)
{
	if (!record->attachment_count)
		return;
	mr_out_list(out, "attachments");
	for (size_t i = 0; i < record->attachment_count; i++) {
		const struct mr_work_attachment *attachment = &record->attachments[i];

		mr_out_map(out, NULL);
		mr_out_text(out, "part_id", attachment->part_id);
		mr_out_text(out, "filename", attachment->filename);
		mr_out_text(out, "content_type", attachment->content_type);
		mr_out_int(out, "size_bytes", attachment->size_bytes);
		mr_out_bool(out, "fetched", attachment->fetched);
		text_if(out, "file_path", attachment->file_path);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static void emit_push(struct mr_out *out, const struct mr_work_record *record)
{
	if (!record->pending_count && !record->last_completed)
		return;
	mr_out_map(out, "push");
	if (record->pending_count)
		mr_out_list(out, "pending");
	for (size_t i = 0; i < record->pending_count; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "push_id", record->pending[i].push_id);
		mr_out_text(out, "kind", record->pending[i].kind);
		mr_out_text(out, "queued_rfc3339", record->pending[i].queued);
		text_if(out, "last_error", record->pending[i].last_error);
		mr_out_end(out);
	}
	if (record->pending_count)
		mr_out_end(out);
	text_if(out, "last_completed_rfc3339", record->last_completed);
	mr_out_end(out);
}

static void emit_people(struct mr_out *out, const struct mr_work_record *record)
{
	const struct mr_work_identity_match *match = &record->identity;

	if (record->contact_uid) {
		mr_out_map(out, "contact");
		mr_out_text(out, "contact_uid", record->contact_uid);
		mr_out_text(out, "display_name", record->contact_name);
		mr_out_end(out);
	}
	text_if(out, "identity", match->identity);
	text_if(out, "identity_email", match->identity_email);
	text_if(out, "identity_match", match->identity_match);
	texts_if(out, "identity_candidates", &match->identity_candidates);
	texts_if(out, "observed_recipient_emails", &match->observed_recipient_emails);
}

static void emit_workspace(struct mr_out *out, const struct mr_work_record *record)
{
	mr_out_map(out, "workspace");
	mr_out_text(out, "status", mr_work_status_names[record->status]);
	text_if(out, "archive_uid", record->archive_uid);
	text_if(out, "archived_rfc3339", record->archived);
	if (record->has_remote_sync) {
		mr_out_map(out, "remote_sync");
		mr_out_bool(out, "archive_eligible", record->archive_eligible);
		text_if(out, "checked_rfc3339", record->remote_checked);
		mr_out_end(out);
	}
	emit_push(out, record);
	mr_out_end(out);
}

static void emit_headers(struct mr_out *out, const struct mr_work_record *record)
{
	const struct mr_work_evidence *evidence = &record->evidence;

	text_if(out, "rfc822_message_id", record->rfc822_message_id);
	text_if(out, "in_reply_to", record->in_reply_to);
	texts_if(out, "references", &record->references);
	if (evidence->locations.len) {
		mr_out_map(out, "remote");
		mr_work_remote_emit(out, "locations", &evidence->locations);
		mr_out_end(out);
	}
	mr_out_text(out, "direction", mr_work_direction_names[evidence->direction]);
	text_if(out, "subject", record->subject);
	text_if(out, "from", record->from);
	texts_if(out, "to", &record->to);
	texts_if(out, "cc", &record->cc);
	texts_if(out, "bcc", &record->bcc);
	texts_if(out, "reply_to", &record->reply_to);
	text_if(out, "sender", record->sender);
	texts_if(out, "delivered_to", &record->delivered_to);
	texts_if(out, "x_original_to", &record->x_original_to);
	texts_if(out, "envelope_to", &record->envelope_to);
	text_if(out, "list_id", record->list_id);
	texts_if(out, "mailing_list_headers", &record->mailing_list_headers);
	emit_authentication(out, record);
	text_if(out, "received_rfc3339", evidence->received);
	text_if(out, "sent_rfc3339", evidence->sent);
}

const struct mr_value *mr_work_record_value(struct mr_ctx *cx, const struct mr_work_record *record)
{
	struct mr_out out;

	/* Without the raw message the earlier record is all there is. */
	if (!record->evidence.eml.data)
		return record->evidence.record;
	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "message");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "message_id", record->message_id);
	emit_headers(&out, record);
	mr_out_text(&out, "body_text", record->body_text);
	mr_out_text(&out, "eml_path", mr_work_path_eml(cx->arena, record->message_id));
	emit_attachments(&out, record);
	emit_people(&out, record);
	emit_workspace(&out, record);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

enum mr_code mr_work_record_write(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, bool *out_written)
{
	return mr_work_project(cx, work, mr_work_path_record(cx->arena, record->message_id),
		mr_work_pretty(cx, mr_work_record_value(cx, record)), out_written);
}
