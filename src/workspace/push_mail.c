/* workspace/push_mail.c - builds the mail of a queued draft once, sends it, and records it. */
#include "workspace/push_mail.h"

#include "base/crash.h"
#include "workspace/account.h"
#include "workspace/case_private.h"
#include "workspace/draft_state.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/name.h"
#include "workspace/refresh.h"
#include "workspace/submission.h"

bool mr_work_push_mail_is_fixed(const struct mr_work_push_item *item)
{
	return mr_work_push_has_succeeded_step(item) || mr_work_push_uncertain_step(item);
}

/* --- the stored mail --- */

static void text_if(struct mr_out *out, const char *key, const char *value)
{
	if (value)
		mr_out_text(out, key, value);
}

static const struct mr_value *envelope_of(struct mr_ctx *cx, const struct mr_work_push_mail *mail)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "push_envelope");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "message_id", mail->out.message_id);
	mr_out_text(&out, "rfc822_message_id", mail->out.rfc822_message_id);
	mr_out_text(&out, "from", mail->out.from);
	mr_out_texts(&out, "to", &mail->out.to);
	mr_out_text(&out, "subject", mail->out.subject);
	text_if(&out, "reply_to_message_id", mail->out.reply_to_message_id);
	text_if(&out, "draft_hash", mail->draft_hash);
	mr_out_bool(&out, "is_reply", mail->is_reply);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static enum mr_code store(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, const struct mr_work_push_mail *mail)
{
	struct mr_work_change change;

	mr_work_change_begin(cx, work, "push_build", &change);
	mr_work_change_write(&change, mr_work_path_push_eml(cx->arena, item->push_id),
		mail->out.bytes);
	mr_work_change_json(&change, mr_work_path_push_envelope(cx->arena, item->push_id),
		envelope_of(cx, mail));
	return mr_work_carry_out(cx, &change);
}

static void read_envelope(const struct mr_cursor *root, struct mr_work_push_mail *out)
{
	struct mr_cursor id = mr_cursor_key(root, "message_id");
	struct mr_cursor rfc822 = mr_cursor_key(root, "rfc822_message_id");
	struct mr_cursor from = mr_cursor_key(root, "from"), to = mr_cursor_key(root, "to");
	struct mr_cursor subject = mr_cursor_key(root, "subject");
	struct mr_cursor reply = mr_cursor_key(root, "reply_to_message_id");
	struct mr_cursor hash = mr_cursor_key(root, "draft_hash");
	struct mr_cursor is_reply = mr_cursor_key(root, "is_reply");

	mr_cursor_text(&id, &out->out.message_id);
	mr_cursor_text(&rfc822, &out->out.rfc822_message_id);
	mr_cursor_text(&from, &out->out.from);
	mr_cursor_texts(&to, &out->out.to);
	mr_cursor_text(&subject, &out->out.subject);
	mr_cursor_text_opt(&reply, &out->out.reply_to_message_id);
	mr_cursor_text_opt(&hash, &out->draft_hash);
	mr_cursor_bool_opt(&is_reply, &out->is_reply);
}

enum mr_code mr_work_push_mail_load(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, struct mr_work_push_mail *out)
{
	const char *path = mr_work_path_push_envelope(cx->arena, item->push_id);
	const struct mr_value *document = NULL;
	struct mr_issues issues;
	struct mr_cursor root;
	enum mr_code rc = mr_work_read_json(cx, work, path, &document);

	*out = (struct mr_work_push_mail){ 0 };
	if (rc || !document)
		return rc;
	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(document, &issues);
	read_envelope(&root, out);
	if (issues.len) {
		mr_err_issues(&cx->err, &issues, path);
		return mr_work_refuse(cx, MR_WORK_PUSH_ITEM_INVALID, "%s", cx->err.msg);
	}
	return mr_work_read_opt(cx, work, mr_work_path_push_eml(cx->arena, item->push_id),
		&out->out.bytes);
}

static enum mr_code build(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, struct mr_work_push_mail *out)
{
	struct mr_work_push_mail built = { 0 };
	struct mr_work_draft draft;
	enum mr_code rc = mr_work_draft_open(cx, work, item->case_uid, item->draft_name, &draft);

	if (!rc)
		rc = mr_work_draft_build(cx, work, &draft, item, work->now_us, &built.out);
	if (rc)
		return rc;
	built.draft_hash = mr_work_draft_hash(cx->arena, draft.bytes);
	built.is_reply = built.out.reply_to_message_id && !mr_str_eq(draft.file.send_intent, "new");
	rc = store(cx, work, item, &built);
	mr_crash_point("work.push.built");
	if (!rc)
		*out = built;
	return rc;
}

enum mr_code mr_work_push_mail_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, struct mr_work_push_mail *out)
{
	struct mr_bytes sent = { 0 };
	enum mr_code rc;

	if (!mr_work_push_mail_is_fixed(item))
		return build(cx, work, item, out);
	rc = mr_work_push_mail_load(cx, work, item, out);
	if (rc || out->out.bytes.data)
		return rc;
	/* Another program has begun with it, and kept nothing but perhaps the message. */
	rc = mr_work_read_opt(cx, work,
		mr_work_path_eml(cx->arena, mr_work_sent_id(cx->arena, item->push_id)), &sent);
	if (!rc)
		rc = build(cx, work, item, out);
	if (!rc && sent.data) {
		out->out.bytes = sent;
		rc = store(cx, work, item, out);
	}
	return rc;
}

/* --- sending --- */

static enum mr_code tell_failure(struct mr_ctx *cx, const struct mr_smtp_outcome *outcome,
	const struct mr_err *err)
{
	(void)mr_work_submission_failed(cx, outcome, err);
	if (outcome->end == MR_SMTP_UNKNOWN)
		(void)mr_work_refuse(cx, MR_WORK_PUSH_UNCERTAIN,
			"%s; it had been given the whole mail, and nobody knows whether it was "
			"accepted",
			err->msg);
	else if (outcome->stage == MR_SMTP_RECIPIENT && outcome->reply / 100 == 5)
		(void)mr_work_hint(cx,
			"Nothing was sent. Correct the recipients of the draft with `afmail case draft "
			"change`, then push again.");
	return cx->err.code;
}

enum mr_code mr_work_push_mail_send(struct mr_ctx *cx, const struct mr_work_config *config,
	mr_work_environment *environment, const struct mr_work_push_mail *mail, bool *out_unknown)
{
	struct mr_work_account account;
	struct mr_smtp_mail letter = { mail->out.from, mail->out.to, mail->out.bytes };
	struct mr_smtp_outcome outcome = { 0 };
	struct mr_smtp_server server;
	struct mr_err err = { 0 };
	enum mr_code rc = mr_work_smtp_account(cx, config, environment, &account);

	*out_unknown = false;
	if (rc)
		return rc;
	server = mr_work_submission_server(&account);
	if (!mr_smtp_send(cx->arena, &server, &letter, &outcome, &err))
		return MR_OK;
	*out_unknown = outcome.end == MR_SMTP_UNKNOWN;
	return tell_failure(cx, &outcome, &err);
}

/* --- what remains of it --- */

enum mr_code mr_work_push_mail_record(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_push_item *item, const struct mr_work_push_mail *mail)
{
	struct mr_work_collection collection = { 0 };
	const char *path = mr_work_path_eml(cx->arena, mail->out.message_id);
	enum mr_code rc = mr_work_case_open(cx, change->work, item->case_uid, &collection);

	if (rc)
		return rc;
	if (!mr_fs_exists(change->work->dir, path))
		mr_work_change_write(change, path, mail->out.bytes);
	mr_work_touch_message(change, mail->out.message_id);
	if (!mr_work_collection_add(cx, &collection, mail->out.message_id, mail->out.subject,
		    change->work->now))
		return MR_OK;
	return mr_work_collection_save(cx, change, &collection);
}

static void add_event(struct mr_work_change *change, const struct mr_work_push_item *item,
	const char *draft_path, bool draft_deleted, bool state_removed)
{
	struct mr_work_event event;

	mr_work_event_begin(change,
		item->action == MR_WORK_PUSH_SEND ? "draft_sent" : "draft_saved_remote",
		MR_WORK_TARGETS({ "case", item->case_uid }), NULL, &event);
	mr_out_text(&event.out, "case_uid", item->case_uid);
	mr_out_text(&event.out, "draft_name", item->draft_name);
	mr_out_text(&event.out, "draft_path", draft_path);
	mr_out_text(&event.out, "push_id", item->push_id);
	mr_out_text(&event.out, "action", mr_work_push_action_names[item->action]);
	mr_out_bool(&event.out, "draft_deleted", draft_deleted);
	mr_out_bool(&event.out, "state_removed", state_removed);
	mr_work_event_end(&event);
}

enum mr_code mr_work_push_mail_finish(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_push_item *item, const struct mr_work_push_mail *mail)
{
	struct mr_work_collection collection = { 0 };
	struct mr_work_draft_states states = { 0 };
	struct mr_bytes now = { 0 };
	bool is_same, state_removed = false;
	const char *path;
	enum mr_code rc = mr_work_case_open(cx, change->work, item->case_uid, &collection);

	if (!rc)
		rc = mr_work_draft_states_load(cx, change->work, collection.path, &states);
	if (rc)
		return rc;
	path = mr_work_draft_path(cx->arena, collection.path, item->draft_name);
	rc = mr_work_read_opt(cx, change->work, path, &now);
	if (rc)
		return rc;
	is_same = now.data &&
		(!mail->draft_hash ||
			mr_str_eq(mail->draft_hash, mr_work_draft_hash(cx->arena, now)));
	if (item->action == MR_WORK_PUSH_SAVE_DRAFT) {
		if (is_same && mail->draft_hash)
			mr_work_draft_state_saved(change, &states, item->draft_name,
				mail->draft_hash);
		add_event(change, item, path, false, false);
		return MR_OK;
	}
	if (is_same)
		mr_work_change_remove(change, path);
	if (mail->out.reply_to_message_id)
		mr_work_touch_message(change, mail->out.reply_to_message_id);
	state_removed = mr_work_draft_state_of(&states, item->draft_name) != NULL;
	if (state_removed)
		mr_work_draft_state_put(change, &states, item->draft_name, NULL);
	mr_work_touch_collection(change, collection.path);
	add_event(change, item, path, is_same, state_removed);
	return MR_OK;
}
