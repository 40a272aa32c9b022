/* op/work/work_message.c - operations: single messages. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/disposition.h"
#include "workspace/index.h"
#include "workspace/message.h"

/* --- list --- */

enum { LIST_LIMIT_MAX = 10000 };

#define LIST_PARAM(member, ...) MR_PARAM(struct mr_work_message_list, member, #member, __VA_ARGS__)
static const struct mr_param list_params[] = {
	LIST_PARAM(status, .choices = mr_work_status_names,
		.summary = "only messages with this status"),
	LIST_PARAM(from, .summary = "only messages with this in their sender"),
	LIST_PARAM(subject, .summary = "only messages with this in their subject"),
	LIST_PARAM(since, .summary = "only messages from this date or time on"),
	LIST_PARAM(until, .summary = "only messages before this date or time"),
	LIST_PARAM(limit, .summary = "how many at most", .fallback = "100", .min = 1,
		.max = LIST_LIMIT_MAX),
	LIST_PARAM(after, .summary = "go on after this message, the last of the page before"),
	{ 0 },
};

#define ITEM_FIELD(member, about)                                                                  \
	MR_WORK_FIELD_WHEN(struct mr_work_listed_message, member, has_details, about)
const struct mr_field mr_work_listed_message_fields[] = {
	MR_WORK_FIELD(struct mr_work_listed_message, message_id, "its id"),
	ITEM_FIELD(status, "triage, case, archived, spam, trashed or deleted_remote"),
	ITEM_FIELD(from, "its sender"),
	ITEM_FIELD(subject, "its subject"),
	MR_FIELD(struct mr_work_listed_message, time, "time", .flags = MR_OPTIONAL,
		.summary = "when it was received, else sent"),
	ITEM_FIELD(attachment_count, "how many attachments it has"),
	MR_WORK_FIELD_OPT(struct mr_work_listed_message, view_path, "the file that shows it"),
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_message_listed, count, "how many are listed"),
	MR_FIELD_ROWS(struct mr_work_message_listed, items, len, struct mr_work_listed_message,
		mr_work_listed_message_fields, "items", .summary = "newest first"),
	MR_WORK_FIELD_OPT(struct mr_work_message_listed, next_after,
		"there are more: --after of the next page"),
	{ 0 },
};

MR_WORK_BIND(listing, mr_work_message_list, struct mr_work_message_list,
	struct mr_work_message_listed);

const struct mr_op mr_op_work_message_list = {
	.name = "work_message_list",
	.command = "work message list",
	.summary = "List messages, newest first",
	.code = "message_list",
	.params = list_params,
	.result = list_fields,
	MR_WORK_TOOL,
	.bind = &listing,
	.render = mr_render_work_messages,
};

/* --- show --- */

static const struct mr_param show_params[] = {
	MR_WORK_MESSAGE_PARAM(struct mr_work_message_ref),
	MR_PARAM(struct mr_work_message_ref, markdown, "markdown",
		.summary = "also its HTML as Markdown, with the targets of its links"),
	{ 0 },
};

#define PART_FIELD(member, about) MR_WORK_FIELD(struct mr_work_shown_attachment, member, about)
static const struct mr_field attachment_fields[] = {
	PART_FIELD(part_id, "which part of the message it is"),
	PART_FIELD(filename, "as the sender named it"),
	PART_FIELD(saved_filename, "as it is saved"),
	PART_FIELD(content_type, "as the sender declared it"),
	PART_FIELD(size_bytes, "its size"),
	PART_FIELD(fetched, "it is saved as a file"),
	PART_FIELD(file_path, "where; or empty"),
	PART_FIELD(storage, "message_cache when it is saved; or empty"),
	{ 0 },
};

#define SHOW_FIELD(member, about) MR_WORK_FIELD(struct mr_work_shown_message, member, about)
#define SHOW_NULL(member, about)  MR_WORK_FIELD_NULL(struct mr_work_shown_message, member, about)
static const struct mr_field show_fields[] = {
	SHOW_FIELD(message_id, "its id"),
	SHOW_FIELD(from, "the sender"),
	SHOW_FIELD(sender, "who sent it for them, if the mail says so"),
	SHOW_FIELD(to, "its recipients"),
	SHOW_FIELD(cc, "those who got a copy"),
	SHOW_FIELD(bcc, "those who got a blind copy"),
	SHOW_FIELD(reply_to, "where answers go"),
	SHOW_FIELD(subject, "its subject"),
	SHOW_FIELD(direction, "inbound or outbound"),
	SHOW_FIELD(received_rfc3339, "when it came; or empty"),
	SHOW_FIELD(sent_rfc3339, "when it went out; or empty"),
	SHOW_FIELD(body_text, "its text"),
	MR_WORK_FIELD_OPT(struct mr_work_shown_message, body_markdown, "its HTML as Markdown"),
	SHOW_FIELD(attachment_count, "how many attachments it has"),
	MR_FIELD_ROWS(struct mr_work_shown_message, attachments, attachments_len,
		struct mr_work_shown_attachment, attachment_fields, "attachments",
		.summary = "its attachments"),
	SHOW_FIELD(mailbox_ids, "the mailboxes it is in"),
	SHOW_FIELD(flags, "its flags on the server"),
	SHOW_FIELD(unread, "it has not been read on the server"),
	SHOW_FIELD(flagged, "it is flagged on the server"),
	SHOW_FIELD(remote_missing, "it is gone from the server"),
	SHOW_NULL(remote_missing_since_rfc3339, "since when"),
	SHOW_FIELD(remote_effect_pending, "something is queued for it"),
	SHOW_NULL(push, "what is queued"),
	SHOW_NULL(contact, "the contact that sent it"),
	SHOW_NULL(identity, "which of our identities it was sent to"),
	SHOW_NULL(identity_email, "the address of that identity"),
	SHOW_NULL(identity_match, "how it was found"),
	SHOW_FIELD(identity_candidates, "identities that it could be"),
	SHOW_FIELD(observed_recipient_emails, "addresses that it was delivered to"),
	SHOW_NULL(view_path, "the file that shows it"),
	SHOW_FIELD(json_path, "its record"),
	SHOW_FIELD(message, "the record itself"),
	{ 0 },
};

MR_WORK_BIND(showing, mr_work_message_show, struct mr_work_message_ref,
	struct mr_work_shown_message);

const struct mr_op mr_op_work_message_show = {
	.name = "work_message_show",
	.command = "work message show",
	.summary = "Show one message with all that is known of it",
	.code = "message_show",
	.params = show_params,
	.result = show_fields,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &showing,
	.render = mr_render_work_message,
};

/* --- spam, trash --- */

static const struct mr_param discard_params[] = {
	MR_PARAM(struct mr_work_discard, message_ids, "message_id",
		.flags = MR_REQUIRED | MR_POSITIONAL, .summary = "the ids of one or more messages"),
	MR_WORK_REASON_PARAM(struct mr_work_discard),
	{ 0 },
};

/* One item at most is queued, so there is no list of them. */
#define QUEUED(member, about)                                                                      \
	MR_FIELD(struct mr_work_discarded, queue.member, #member, .summary = (about))
static const struct mr_field discard_fields[] = {
	MR_WORK_FIELD(struct mr_work_discarded, message_id, "the first message"),
	MR_WORK_FIELD(struct mr_work_discarded, special_use, "junk or trash"),
	MR_WORK_FIELD(struct mr_work_discarded, message_ids, "all of them"),
	QUEUED(location_count, "places on the server that the messages are in"),
	QUEUED(queued_location_count, "the same"),
	QUEUED(queued, "something is queued for the server"),
	MR_FIELD(struct mr_work_discarded, queue.push_id, "push_id", .flags = MR_NULLABLE,
		.summary = "the queued item"),
	{ 0 },
};

MR_WORK_BIND(marking_spam, mr_work_message_spam, struct mr_work_discard, struct mr_work_discarded);
MR_WORK_BIND(trashing, mr_work_message_trash, struct mr_work_discard, struct mr_work_discarded);

const struct mr_op mr_op_work_message_spam = {
	.name = "work_message_spam",
	.command = "work message spam",
	.summary = "Mark messages as spam, all or none, and queue that for the server",
	.code = "message_spam_marked",
	.params = discard_params,
	.result = discard_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &marking_spam,
	.render = mr_render_work_discarded,
};

const struct mr_op mr_op_work_message_trash = {
	.name = "work_message_trash",
	.command = "work message trash",
	.summary = "Put messages into the trash, all or none, and queue that for the server",
	.code = "message_trashed",
	.params = discard_params,
	.result = discard_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &trashing,
	.render = mr_render_work_discarded,
};

/* --- restore --- */

static const struct mr_param restore_params[] = {
	MR_WORK_MESSAGE_PARAM(struct mr_work_message_restore),
	MR_WORK_REASON_PARAM(struct mr_work_message_restore),
	{ 0 },
};

#define RESTORED(member, about) MR_WORK_FIELD(struct mr_work_message_restored, member, about)
#define RESTORED_OPT(member, about)                                                                \
	MR_WORK_FIELD_OPT(struct mr_work_message_restored, member, about)
static const struct mr_field restore_fields[] = {
	RESTORED(message_id, "its id"),
	RESTORED_OPT(archive_uid, "the category it was in"),
	RESTORED_OPT(from_status, "what it was: spam or trashed"),
	RESTORED_OPT(status, "what it is now"),
	RESTORED(triage_path, "the file that shows it in triage"),
	RESTORED(removed_push_count, "queued items that it was taken out of"),
	RESTORED(push_ids, "their ids"),
	RESTORED_OPT(queued, "its move back to the inbox is queued"),
	RESTORED_OPT(queued_push_ids, "the queued items of that move"),
	{ 0 },
};

/* `...` says where it is offered. */
#define RESTORE_OP(word, result_code, about, ...)                                                  \
	MR_WORK_BIND(word##ing, mr_work_message_##word, struct mr_work_message_restore,            \
		struct mr_work_message_restored);                                                  \
	const struct mr_op mr_op_work_message_##word = {                                           \
		.name = "work_message_" #word,                                                     \
		.command = "work message " #word,                                                  \
		.summary = (about),                                                                \
		.code = (result_code),                                                             \
		.params = restore_params,                                                          \
		.result = restore_fields,                                                          \
		.needs = MR_NEED_WRITE,                                                            \
		__VA_ARGS__,                                                                       \
		.bind = &word##ing,                                                                \
		.render = mr_render_work_restored,                                                 \
	}

/* Older names of the first. */
#define RESTORE_OLD                                                                                \
	.surfaces = MR_ON_CLI, .traits = MR_ABROAD | MR_HIDDEN, .contract = &mr_contract_work,     \
	.cluster = "workspace"

RESTORE_OP(restore, "message_restored",
	"Bring a message back to triage, from spam, trash or a category", MR_WORK_TOOL);
RESTORE_OP(unspam, "message_unspammed", "Bring a message back from spam", RESTORE_OLD);
RESTORE_OP(untrash, "message_untrashed", "Bring a message back from the trash", RESTORE_OLD);
RESTORE_OP(unarchive, "message_unarchived", "Bring a message back from its category", RESTORE_OLD);

/* --- attachment fetch --- */

struct saved {
	const char *code;
	struct mr_work_saved_attachment attachment;
};
/* One attachment, or all of a message. */
struct fetched {
	const char *code;
	const struct mr_work_saved_attachment *one;
	bool has_all;
	const char *message_id;
	int64_t count;
	struct saved *items;
	size_t len;
};

static const struct mr_param fetch_params[] = {
	MR_WORK_MESSAGE_PARAM(struct mr_work_fetch),
	MR_PARAM(struct mr_work_fetch, part_id, "part_id", .flags = MR_POSITIONAL,
		.summary = "the part that `message show` names; without it, all attachments"),
	{ 0 },
};

#define SAVED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_saved_attachment, member, about)
static const struct mr_field saved_fields[] = {
	SAVED_FIELD(message_id, "the message"),
	SAVED_FIELD(part_id, "which part of it"),
	SAVED_FIELD(filename, "as the sender named it"),
	SAVED_FIELD(saved_filename, "as it is saved"),
	SAVED_FIELD(content_type, "as the sender declared it"),
	SAVED_FIELD(storage, "message_cache"),
	SAVED_FIELD(file_path, "where it is"),
	SAVED_FIELD(size_bytes, "its size"),
	{ 0 },
};

static const struct mr_field saved_item_fields[] = {
	MR_WORK_FIELD(struct saved, code, "attachment_saved"),
	MR_MEMBERS(struct saved, attachment, struct mr_work_saved_attachment, saved_fields),
	{ 0 },
};

static const struct mr_field fetch_fields[] = {
	MR_WORK_FIELD(struct fetched, code, "attachment_saved, or attachments_saved for all"),
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = saved_fields,
		.from = MR_FROM_STRUCT(struct fetched, one, struct mr_work_saved_attachment) },
	MR_WORK_FIELD_WHEN(struct fetched, message_id, has_all, "the message"),
	MR_WORK_FIELD_WHEN(struct fetched, count, has_all, "how many were saved"),
	MR_FIELD_ROWS(struct fetched, items, len, struct saved, saved_item_fields, "items",
		.flags = MR_OPTIONAL, .when = MR_FLAG(struct fetched, has_all),
		.summary = "all of them"),
	{ 0 },
};

static enum mr_code fetch(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_fetch *request, struct fetched *result)
{
	struct mr_work_fetched got = { 0 };
	enum mr_code rc = mr_work_attachment_fetch(cx, work, request, &got);

	if (rc)
		return rc;
	if (got.is_one) {
		*result = (struct fetched){ .code = "attachment_saved", .one = &got.items[0] };
		return MR_OK;
	}
	*result = (struct fetched){ .code = "attachments_saved",
		.has_all = true,
		.message_id = got.message_id,
		.count = (int64_t)got.len,
		.items = mr_arena_array(cx->arena, got.len + 1, sizeof(*result->items)),
		.len = got.len };
	for (size_t i = 0; i < got.len; i++)
		result->items[i] = (struct saved){ "attachment_saved", got.items[i] };
	return MR_OK;
}
MR_WORK_BIND(fetching, fetch, struct mr_work_fetch, struct fetched);

const struct mr_op mr_op_work_message_attachment_fetch = {
	.name = "work_message_attachment_fetch",
	.command = "work message attachment fetch",
	.summary = "Save attachments of a message as files",
	.help = "They go to .afmail/messages/MESSAGE_ID.files. One that is there already is not "
		"written again.",
	.params = fetch_params,
	.result = fetch_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &fetching,
	.render = mr_render_work_fetched,
};
