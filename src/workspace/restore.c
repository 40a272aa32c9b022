/* workspace/restore.c - brings messages back to triage from spam, trash and categories. */
#include "workspace/config.h"
#include "workspace/disposition.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/members.h"
#include "workspace/refresh.h"

/* Mailboxes that a message is put into when it is discarded or archived. */
static bool is_put_aside(const struct mr_work_mailbox *mailbox)
{
	static const char *const ids[] = { "junk", "trash", "archive" };
	static const char *const uses[] = { "\\Junk", "\\Trash", "\\Archive" };

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (mr_str_eq(mailbox->id, ids[i]) ||
			mr_str_eq_nocase(mailbox->special_use ? mailbox->special_use : "", uses[i]))
			return true;
	return false;
}

static const struct mr_work_mailbox *mailbox_of(struct mr_ctx *cx,
	const struct mr_work_config *config, const struct mr_work_location *location)
{
	const struct mr_work_mailbox *mailbox =
		location->mailbox_id ? mr_work_find_mailbox(config, location->mailbox_id) : NULL;
	struct mr_err kept = cx->err;

	if (!mailbox && mr_work_mailbox_by_name(cx, config, location->mailbox_name, &mailbox)) {
		cx->err = kept; /* ambiguous: nobody knows where it is */
		mailbox = NULL;
	}
	return mailbox;
}

/* Is the message on the server, and everywhere only where discarded mail is? */
static enum mr_code is_only_aside(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	bool *out)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_locations locations = { 0 };
	size_t aside = 0;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		rc = mr_work_remote_load(cx, work, message_id, &locations);
	*out = false;
	for (size_t i = 0; !rc && i < locations.len; i++) {
		const struct mr_work_mailbox *mailbox;

		if (locations.items[i].missing)
			continue;
		mailbox = mailbox_of(cx, config, &locations.items[i]);
		if (!mailbox || !is_put_aside(mailbox))
			return MR_OK;
		aside++;
	}
	*out = aside > 0;
	return rc;
}

/* Withdraw what is queued; what was done on the server already is to be undone there. */
static enum mr_code undo_remotely(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_push_action action, struct mr_work_message_restored *result)
{
	struct mr_texts one = mr_work_ids_one(cx->arena, result->message_id);
	struct mr_work_queued queued = { 0 };
	bool is_aside = false;
	enum mr_code rc =
		mr_work_queue_withdraw(cx, change, action, result->message_id, &result->push_ids);

	if (!rc)
		rc = is_only_aside(cx, change->work, result->message_id, &is_aside);
	if (!rc && is_aside)
		rc = mr_work_queue_action(cx, change, MR_WORK_PUSH_RESTORE, &one, &queued);
	result->removed_push_count = (int64_t)result->push_ids.len;
	result->queued = queued.queued;
	result->queued_push_ids = queued.push_ids;
	return rc;
}

static enum mr_code finish(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_message_restored *done, struct mr_work_message_restored *result)
{
	struct mr_texts one = mr_work_ids_one(cx->arena, done->message_id);
	enum mr_code rc = mr_work_touch_conversation(cx, change, &one);

	if (!rc)
		rc = mr_work_carry_out(cx, change);
	if (!rc)
		*result = *done;
	return rc;
}

/* --- from a category --- */

enum mr_code mr_work_restore_entry(struct mr_ctx *cx, struct mr_work *work,
	const char *category_path, const char *message_id, const char *reason, const char *kind,
	struct mr_work_message_restored *result)
{
	struct mr_work_message_restored done = { .message_id = message_id,
		.triage_path = mr_work_path_triage(cx->arena, message_id) };
	struct mr_work_collection category = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	enum mr_code rc =
		mr_work_collection_load(cx, work, MR_WORK_NOTIFICATION, category_path, &category);

	if (rc)
		return rc;
	done.archive_uid = category.uid;
	mr_work_change_begin(cx, work, "message_restore", &change);
	mr_work_collection_remove(&category, message_id);
	rc = mr_work_collection_save(cx, &change, &category);
	if (!rc)
		rc = undo_remotely(cx, &change, MR_WORK_PUSH_ARCHIVE, &done);
	if (rc)
		return rc;
	mr_work_event_begin(&change, kind,
		MR_WORK_TARGETS({ "message", message_id }, { "archive", category.uid }), reason,
		&event);
	mr_out_text(&event.out, "message_id", message_id);
	mr_out_text(&event.out, "archive_uid", category.uid);
	mr_out_text(&event.out, "from_path",
		/* As the contract's log has it: by the uid alone, which a new name leaves as it is.
		 */
		mr_work_member_view(cx->arena,
			mr_arena_printf(cx->arena, MR_WORK_CATEGORIES "/%s", category.uid),
			message_id));
	mr_out_text(&event.out, "to_path", done.triage_path);
	mr_out_texts(&event.out, "removed_push_ids", &done.push_ids);
	mr_work_event_end(&event);
	return finish(cx, &change, &done, result);
}

/* --- from spam and trash --- */

static enum mr_code restore_discarded(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind from, const struct mr_work_members *members,
	const char *message_id, const char *reason, const char *kind,
	struct mr_work_message_restored *result)
{
	bool is_spam = from == MR_WORK_SPAM;
	struct mr_work_message_restored done = { .message_id = message_id,
		.from_status = is_spam ? "spam" : "trashed",
		.status = "triage",
		.triage_path = mr_work_path_triage(cx->arena, message_id) };
	struct mr_work_collection list = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	enum mr_code rc =
		mr_work_collection_load(cx, work, from, mr_work_disposition_dir(from), &list);

	if (rc)
		return rc;
	for (size_t i = 0; i < members->len; i++)
		if (members->items[i].kind == MR_WORK_ACTIVE_CASE ||
			members->items[i].kind == MR_WORK_ARCHIVED_CASE)
			done.status = "case"; /* listed by hand while it was discarded */
	mr_work_change_begin(cx, work, "message_restore", &change);
	mr_work_collection_remove(&list, message_id);
	rc = mr_work_collection_save(cx, &change, &list);
	if (!rc)
		rc = undo_remotely(cx, &change, is_spam ? MR_WORK_PUSH_SPAM : MR_WORK_PUSH_TRASH,
			&done);
	if (rc)
		return rc;
	mr_work_event_begin(&change, kind, MR_WORK_TARGETS({ "message", message_id }), reason,
		&event);
	mr_out_text(&event.out, "message_id", message_id);
	mr_out_text(&event.out, "from_status", done.from_status);
	mr_out_text(&event.out, "to_status", done.status);
	mr_out_texts(&event.out, "removed_push_ids", &done.push_ids);
	mr_work_event_end(&event);
	return finish(cx, &change, &done, result);
}

/* --- commands --- */

static const struct mr_work_member *member_of(const struct mr_work_members *members,
	enum mr_work_collection_kind kind)
{
	for (size_t i = 0; i < members->len; i++)
		if (members->items[i].kind == kind)
			return &members->items[i];
	return NULL;
}

/* `only` is the status that the message must have; MR_WORK_STATUS_COUNT: any that can be
 * restored. */
static enum mr_code restore(struct mr_ctx *cx, struct mr_work *work, enum mr_work_status only,
	const char *kind, const struct mr_work_message_restore *request,
	struct mr_work_message_restored *result)
{
	struct mr_work_brief brief = { 0 };
	struct mr_work_members members = { 0 };
	const char *reason = NULL, *id = request->message_id;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_check_message_id(cx, id);
	if (!rc)
		rc = mr_work_index_message(cx, work, id, &brief);
	if (!rc)
		rc = mr_work_index_members(cx, work, id, &members);
	if (rc)
		return rc;
	if (only != MR_WORK_STATUS_COUNT && brief.status != only)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"message %s has the status %s, not %s", id,
			mr_work_status_names[brief.status], mr_work_status_names[only]);
	switch (brief.status) {
	case MR_WORK_IS_SPAM:
		return restore_discarded(cx, work, MR_WORK_SPAM, &members, id, reason, kind,
			result);
	case MR_WORK_IS_TRASHED:
		return restore_discarded(cx, work, MR_WORK_TRASH, &members, id, reason, kind,
			result);
	case MR_WORK_IS_ARCHIVED:
		return mr_work_restore_entry(cx, work,
			member_of(&members, MR_WORK_NOTIFICATION)->path, id, reason, kind, result);
	case MR_WORK_IS_TRIAGE:
	case MR_WORK_IS_CASE:
	case MR_WORK_IS_DELETED:
	case MR_WORK_STATUS_COUNT:
		break;
	}
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"message %s has the status %s: only spam, trashed and archived messages can be "
		"restored",
		id, mr_work_status_names[brief.status]);
}

enum mr_code mr_work_message_restore(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result)
{
	return restore(cx, work, MR_WORK_STATUS_COUNT, "message_restored", request, result);
}

enum mr_code mr_work_message_unspam(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result)
{
	return restore(cx, work, MR_WORK_IS_SPAM, "message_unspammed", request, result);
}

enum mr_code mr_work_message_untrash(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result)
{
	return restore(cx, work, MR_WORK_IS_TRASHED, "message_untrashed", request, result);
}

enum mr_code mr_work_message_unarchive(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_message_restore *request, struct mr_work_message_restored *result)
{
	return restore(cx, work, MR_WORK_IS_ARCHIVED, "message_unarchived", request, result);
}
