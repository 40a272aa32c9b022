/* workspace/error.c - the table of a workspace's errors, and how a failure is filled from it. */
#include "workspace/error.h"

#include "text/out.h"

#include <errno.h>
#include <stdarg.h>

struct entry {
	const char *word;
	enum mr_code code;
	const char *hint;
};

static const char fix_config[] =
	"Correct .afmail/config.json, or set the value with `afmail config set`.";
static const char list_cases[] =
	"List the cases with `afmail case list` and `afmail archive list`.";
static const char list_categories[] = "List the categories with `afmail archive list messages`.";
static const char fix_draft[] =
	"Correct the draft and check it with `afmail case draft validate CASE_REF DRAFT_NAME`.";
static const char see_doctor[] = "Run `afmail doctor` to see what is wrong.";
static const char see_server[] =
	"Check the settings with `afmail config show`, then `afmail remote test`.";
static const char see_way[] =
	"Check imap.host and imap.port with `afmail config show` and the network of this machine, "
	"then `afmail remote test`.";
static const char see_login[] =
	"Check imap.username, and the password or token that the settings name (`afmail config show`), "
	"then `afmail remote test`.";
static const char see_certificate[] =
	"The connection is not safe and was not used. Check imap.host and imap.port; a server with an "
	"authority of its own needs its certificate in imap.ca_file; one that has expired is for the "
	"server's owner to renew.";
static const char see_folders[] =
	"See the mailboxes of the server with `afmail remote folders`, and name the right one with "
	"`afmail config set mailboxes.ID.mailbox_name NAME`.";
static const char see_smtp_way[] =
	"Nothing was sent. Check smtp.host and smtp.port with `afmail config show` and the network of "
	"this machine, then push again.";
static const char see_smtp[] =
	"Check the smtp settings with `afmail config show`, and the mail with `afmail push`.";
static const char disk_full[] =
	"Make room on the disk of the workspace, then run the command again: it goes on where it "
	"stopped.";
static const char see_queue[] = "See what is queued with `afmail push list`.";

static const struct entry entries[MR_WORK_ERROR_COUNT] = {
	[MR_WORK_ARCHIVE_ENTRY_NOT_FOUND] = { "archive_entry_not_found", MR_ENOTFOUND,
		list_categories },
	[MR_WORK_ARCHIVE_EXISTS] = { "archive_exists", MR_EEXISTS, "Choose another name." },
	[MR_WORK_ARCHIVE_MESSAGES_INVALID] = { "archive_messages_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_ARCHIVE_NOT_FOUND] = { "archive_not_found", MR_ENOTFOUND, list_categories },
	[MR_WORK_ATTACHMENT_NOT_FOUND] = { "attachment_not_found", MR_ENOTFOUND,
		"List the parts of the message with `afmail message show MESSAGE_ID`." },
	[MR_WORK_CASE_ARCHIVED] = { "case_archived", MR_ECONFLICT,
		"Read it with `afmail archive case show CASE_REF`, or bring it back with `afmail "
		"archive case restore CASE_REF --group GROUP`." },
	[MR_WORK_CASE_EXISTS] = { "case_exists", MR_EEXISTS, "Choose another name." },
	[MR_WORK_CASE_HAS_LOCAL_DRAFTS] = { "case_has_local_drafts", MR_ECONFLICT,
		"Send or remove the drafts first." },
	[MR_WORK_CASE_HAS_OUTBOUND_PUSH] = { "case_has_outbound_push", MR_ECONFLICT,
		"Push the queued mail or remove its draft first." },
	[MR_WORK_CASE_MESSAGES_INVALID] = { "case_messages_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_CASE_METADATA_INVALID] = { "case_metadata_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_CASE_NOT_FOUND] = { "case_not_found", MR_ENOTFOUND, list_cases },
	[MR_WORK_CONFIG_INVALID] = { "config_invalid", MR_EINVAL, fix_config },
	[MR_WORK_CONFIG_MISSING] = { "config_missing", MR_EINVAL,
		"See the settings with `afmail config show` and set the missing one with `afmail "
		"config set KEY VALUE`." },
	[MR_WORK_CONFIRM_REQUIRED] = { "confirm_required", MR_ENOTCONFIRMED,
		"Repeat the command with --confirm." },
	[MR_WORK_DISPOSITION_MESSAGES_INVALID] = { "disposition_messages_invalid", MR_EFORMAT,
		see_doctor },
	[MR_WORK_DRAFT_CHANGED_SINCE_VALIDATION] = { "draft_changed_since_validation", MR_ECONFLICT,
		fix_draft },
	[MR_WORK_DRAFT_EXISTS] = { "draft_exists", MR_EEXISTS,
		"Change the draft that is there with `afmail case draft change`." },
	[MR_WORK_DRAFT_INVALID] = { "draft_invalid", MR_EINVAL, fix_draft },
	[MR_WORK_DRAFT_NOT_FOUND] = { "draft_not_found", MR_ENOTFOUND,
		"List the drafts of the case with `afmail case draft list CASE_REF`." },
	[MR_WORK_DRAFT_STATE_INVALID] = { "draft_state_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_DRAFT_VALIDATION_REQUIRED] = { "draft_validation_required", MR_ECONFLICT,
		fix_draft },
	[MR_WORK_DUPLICATE_ARCHIVE_UID] = { "duplicate_archive_uid", MR_ECONFLICT,
		"Rename one of the two directories: each category has a uid of its own." },
	[MR_WORK_DUPLICATE_CASE_UID] = { "duplicate_case_uid", MR_ECONFLICT,
		"Rename one of the two directories: each case has a uid of its own." },
	[MR_WORK_DUPLICATE_CONTACT_UID] = { "duplicate_contact_uid", MR_ECONFLICT,
		"Rename one of the two cards: each contact has a uid of its own." },
	[MR_WORK_EMAIL_CONFLICT] = { "email_conflict", MR_ECONFLICT,
		"Remove the address from the other contact first." },
	[MR_WORK_IMAP_APPEND_FAILED] = { "imap_append_failed", MR_EREMOTE, see_server },
	[MR_WORK_IMAP_CONNECT_FAILED] = { "imap_connect_failed", MR_EREMOTE, see_way },
	[MR_WORK_IMAP_CREATE_FAILED] = { "imap_create_failed", MR_ECONFLICT, see_folders },
	[MR_WORK_IMAP_FETCH_FAILED] = { "imap_fetch_failed", MR_EREMOTE, see_server },
	[MR_WORK_IMAP_GREETING_FAILED] = { "imap_greeting_failed", MR_EREMOTE, see_way },
	[MR_WORK_IMAP_LIST_FAILED] = { "imap_list_failed", MR_EREMOTE, see_server },
	[MR_WORK_IMAP_LOGIN_FAILED] = { "imap_login_failed", MR_EAUTH, see_login },
	[MR_WORK_IMAP_MAILBOX_AMBIGUOUS] = { "imap_mailbox_ambiguous", MR_ECONFLICT, fix_config },
	[MR_WORK_IMAP_MAILBOX_UNRESOLVED] = { "imap_mailbox_unresolved", MR_ENOTFOUND, see_server },
	[MR_WORK_IMAP_MOVE_FAILED] = { "imap_move_failed", MR_EREMOTE, see_server },
	[MR_WORK_IMAP_MOVE_UNSUPPORTED] = { "imap_move_unsupported", MR_ECONFLICT,
		"The server can neither move mails nor delete single ones: take the item out with "
		"`afmail push drop PUSH_ID` and move the mail in another program." },
	[MR_WORK_IMAP_SEARCH_FAILED] = { "imap_search_failed", MR_EREMOTE, see_server },
	[MR_WORK_IMAP_SELECT_FAILED] = { "imap_select_failed", MR_EREMOTE, see_folders },
	[MR_WORK_IMAP_STORE_FAILED] = { "imap_store_failed", MR_EREMOTE, see_server },
	[MR_WORK_IMAP_TLS_FAILED] = { "imap_tls_failed", MR_EAUTH, see_certificate },
	[MR_WORK_IMAP_UIDVALIDITY_CHANGED] = { "imap_uidvalidity_changed", MR_ECONFLICT,
		"The server has numbered the mailbox anew. Take the item out with `afmail push drop "
		"PUSH_ID`, run `afmail pull`, and decide about the mail again." },
	[MR_WORK_IMAP_UID_MISSING] = { "imap_uid_missing", MR_ECONFLICT,
		"The mail was moved; `afmail pull` finds it." },
	[MR_WORK_INTERNAL_ERROR] = { "internal_error", MR_EINTERNAL, NULL },
	[MR_WORK_INVALID_CONTACT] = { "invalid_contact", MR_EFORMAT,
		"Correct the card, or set it aside." },
	/* The command line names the help of the command that was wrong. */
	[MR_WORK_INVALID_REQUEST] = { "invalid_request", MR_EINVAL, NULL },
	[MR_WORK_MAIL_DIRECTION_INVALID] = { "mail_direction_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_MANAGED_BLOCK_INVALID] = { "managed_block_invalid", MR_EFORMAT,
		"Restore the missing line that ends the managed block, or delete the block." },
	[MR_WORK_MANAGED_BLOCK_MISSING] = { "managed_block_missing", MR_EFORMAT,
		"Add the two lines that mark the managed block to the template." },
	[MR_WORK_MERGE_CONFLICT] = { "merge_conflict", MR_ECONFLICT,
		"Rename one of the files first." },
	[MR_WORK_MESSAGE_ALREADY_ARCHIVED] = { "message_already_archived", MR_ECONFLICT,
		"Move it with `afmail archive message move`." },
	[MR_WORK_MESSAGE_CACHE_INVALID] = { "message_cache_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_MESSAGE_HAS_RELATED] = { "message_has_related_conversation_use_case", MR_ECONFLICT,
		"Create a case for the whole conversation." },
	[MR_WORK_MESSAGE_ID_CONFLICT] = { "message_id_conflict", MR_ECONFLICT, see_doctor },
	[MR_WORK_MESSAGE_NOT_FOUND] = { "message_not_found", MR_ENOTFOUND,
		"List what is there with `afmail triage list` or `afmail message list`." },
	[MR_WORK_MESSAGE_REFERENCED] = { "message_referenced", MR_ECONFLICT,
		"Take the message out of what refers to it first." },
	[MR_WORK_MESSAGE_REMOTE_INVALID] = { "message_remote_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_MESSAGE_STATUS_INVALID] = { "message_status_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_MIME_PARSE_FAILED] = { "mime_parse_failed", MR_EFORMAT, NULL },
	[MR_WORK_NOTES_MISSING] = { "notes_missing", MR_ENOTFOUND,
		"Write new notes with `notes replace`." },
	[MR_WORK_NOT_FOUND] = { "not_found", MR_ENOTFOUND,
		"List the contacts with `afmail contact list`; an archived one comes back with "
		"`afmail contact reopen`." },
	[MR_WORK_PROGRESS_INVALID] = { "progress_invalid", MR_EFORMAT,
		"Delete .afmail/workspace.progress.json." },
	[MR_WORK_PUSH_ALREADY_STARTED] = { "push_already_started", MR_ECONFLICT, see_queue },
	[MR_WORK_PUSH_ITEM_INVALID] = { "push_item_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_PUSH_NOT_APPROVED] = { "push_not_approved", MR_EPERM,
		"Nothing was done for it. A person looks at it with `afmail push show` or on the page "
		"Approval of `mailroom serve`, and approves it there or with `afmail push approve "
		"CONTENT_ID`; then push again." },
	[MR_WORK_PUSH_NOT_FOUND] = { "push_not_found", MR_ENOTFOUND, see_queue },
	[MR_WORK_PUSH_PLAN_CHANGED] = { "push_plan_changed", MR_ECONFLICT,
		"Look at what would be done now with `afmail push`, and confirm the plan that it names." },
	[MR_WORK_PUSH_REFUSED] = { "push_refused", MR_EPERM,
		"Nothing was done for it. Change the draft as the reason asks, and it waits for approval "
		"again; or take it out of the queue with `afmail push drop PUSH_ID`." },
	[MR_WORK_PUSH_UNCERTAIN] = { "push_uncertain", MR_ECONFLICT,
		"Find out whether the mail has arrived, then run `afmail push recover PUSH_ID --sent` or "
		"`afmail push recover PUSH_ID --not-sent`." },
	[MR_WORK_REASON_REQUIRED] = { "reason_required", MR_EINVAL,
		"Add --reason TEXT, or set audit.reason_mode to optional." },
	[MR_WORK_REMOTE_OPERATION_UNSUPPORTED] = { "remote_operation_unsupported", MR_ECONFLICT,
		see_queue },
	[MR_WORK_SMTP_CONNECT_FAILED] = { "smtp_connect_failed", MR_EREMOTE, see_smtp_way },
	[MR_WORK_SMTP_SEND_FAILED] = { "smtp_send_failed", MR_EREMOTE, see_smtp },
	[MR_WORK_STORE_ERROR] = { "store_error", MR_EIO, NULL },
	[MR_WORK_TEMPLATE_DIR_INVALID] = { "template_dir_invalid", MR_ECONFLICT,
		"Move the file named templates out of the way." },
	[MR_WORK_TEMPLATE_RENDER_FAILED] = { "template_render_failed", MR_EFORMAT,
		"Correct the template, or delete it to use the built-in one." },
	[MR_WORK_TRANSACTION_INCOMPLETE] = { "transaction_incomplete", MR_ECONFLICT, see_doctor },
	[MR_WORK_TRANSACTION_INVALID] = { "transaction_invalid", MR_EFORMAT, see_doctor },
	[MR_WORK_UNKNOWN_MAILBOX_ID] = { "unknown_mailbox_id", MR_EINVAL,
		"See the configured ids with `afmail config get mailboxes`." },
	[MR_WORK_WORKSPACE_LOCKED] = { "workspace_locked", MR_EBUSY,
		"Another command is using the workspace: wait until it has ended and try again." },
	[MR_WORK_WORKSPACE_NOT_FOUND] = { "workspace_not_found", MR_ENOTFOUND,
		"Make a workspace with `afmail init`, or change into the directory of one." },
};

const char *mr_work_error_word(enum mr_work_error error)
{
	return entries[error].word;
}

bool mr_work_error_is_known(const char *word)
{
	for (size_t i = 0; i < MR_WORK_ERROR_COUNT; i++)
		if (mr_str_eq(entries[i].word, word))
			return true;
	return false;
}

static struct mr_work_trouble *new_trouble(struct mr_ctx *cx)
{
	struct mr_work_trouble *trouble = mr_arena_alloc(cx->arena, sizeof(*trouble));

	cx->err.detail = trouble;
	return trouble;
}

/* The details stand in the arena of the request, like all that errors point to. */
static struct mr_work_trouble *trouble_of(struct mr_ctx *cx)
{
	const struct mr_work_trouble *old = mr_work_trouble(&cx->err);
	struct mr_work_trouble *trouble = new_trouble(cx);

	if (old)
		*trouble = *old;
	return trouble;
}

enum mr_code mr_work_refuse(struct mr_ctx *cx, enum mr_work_error error, const char *fmt, ...)
{
	const struct entry *entry = &entries[error];
	va_list ap;

	va_start(ap, fmt);
	mr_err_set(&cx->err, entry->code, "%s", mr_arena_vprintf(cx->arena, fmt, ap));
	va_end(ap);
	mr_err_word(&cx->err, entry->word);
	new_trouble(cx)->hint = entry->hint;
	return entry->code;
}

enum mr_code mr_work_hint(struct mr_ctx *cx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	trouble_of(cx)->hint = mr_arena_vprintf(cx->arena, fmt, ap);
	va_end(ap);
	return cx->err.code;
}

static void open_details(struct mr_ctx *cx, struct mr_out *out)
{
	const struct mr_work_trouble *trouble = mr_work_trouble(&cx->err);

	mr_out_init_tree(out, cx->arena);
	mr_out_map(out, NULL);
	if (trouble && trouble->detail)
		for (size_t i = 0; i < trouble->detail->map.len; i++)
			mr_out_value(out, trouble->detail->map.pairs[i].key,
				&trouble->detail->map.pairs[i].value);
}

static enum mr_code close_details(struct mr_ctx *cx, struct mr_out *out)
{
	mr_out_end(out);
	trouble_of(cx)->detail = mr_out_tree(out);
	return cx->err.code;
}

enum mr_code mr_work_detail_text(struct mr_ctx *cx, const char *key, const char *text)
{
	struct mr_out out;

	open_details(cx, &out);
	mr_out_text(&out, key, text);
	return close_details(cx, &out);
}

enum mr_code mr_work_detail_texts(struct mr_ctx *cx, const char *key, const struct mr_texts *texts)
{
	struct mr_out out;

	open_details(cx, &out);
	mr_out_texts(&out, key, texts);
	return close_details(cx, &out);
}

enum mr_code mr_work_store_error(struct mr_ctx *cx)
{
	if (!cx->err.word) {
		mr_err_word(&cx->err, entries[MR_WORK_STORE_ERROR].word);
		cx->err.detail = NULL;
		if (cx->err.os_errno == ENOSPC || cx->err.os_errno == EDQUOT)
			new_trouble(cx)->hint = disk_full;
	}
	return cx->err.code;
}

enum mr_code mr_work_error_pass(struct mr_ctx *to, const struct mr_err *from)
{
	const struct mr_work_trouble *trouble =
		mr_work_error_is_known(from->word) ? mr_work_trouble(from) : NULL;
	struct mr_work_trouble *copy;
	struct mr_out out;

	to->err = *from;
	to->err.detail = NULL;
	to->err.issues = NULL;
	if (!trouble)
		return from->code;
	copy = new_trouble(to);
	copy->hint = mr_arena_strdup(to->arena, trouble->hint);
	if (trouble->detail) {
		mr_out_init_tree(&out, to->arena);
		mr_out_value(&out, NULL, trouble->detail);
		copy->detail = mr_out_tree(&out);
	}
	return from->code;
}

const struct mr_work_trouble *mr_work_trouble(const struct mr_err *err)
{
	return err->detail;
}
