/*
 * workspace/error.h - the failures of a workspace, by the words that its contract gives them.
 *
 * A function of this part fails with mr_work_refuse(), which sets the word, the code that the word
 * means, and the hint that belongs to it; details are added by mr_work_detail_*(). A failure of a
 * file or of JSON that has no word of its own is a store_error (mr_work_store_error()).
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "text/value.h"

enum mr_work_error {
	MR_WORK_ARCHIVE_ENTRY_NOT_FOUND,
	MR_WORK_ARCHIVE_EXISTS,
	MR_WORK_ARCHIVE_MESSAGES_INVALID,
	MR_WORK_ARCHIVE_NOT_FOUND,
	MR_WORK_ATTACHMENT_NOT_FOUND,
	MR_WORK_CASE_ARCHIVED,
	MR_WORK_CASE_EXISTS,
	MR_WORK_CASE_HAS_LOCAL_DRAFTS,
	MR_WORK_CASE_HAS_OUTBOUND_PUSH,
	MR_WORK_CASE_MESSAGES_INVALID,
	MR_WORK_CASE_METADATA_INVALID,
	MR_WORK_CASE_NOT_FOUND,
	MR_WORK_CONFIG_INVALID,
	MR_WORK_CONFIG_MISSING,
	MR_WORK_CONFIRM_REQUIRED,
	MR_WORK_DISPOSITION_MESSAGES_INVALID,
	MR_WORK_DRAFT_CHANGED_SINCE_VALIDATION,
	MR_WORK_DRAFT_EXISTS,
	MR_WORK_DRAFT_INVALID,
	MR_WORK_DRAFT_NOT_FOUND,
	MR_WORK_DRAFT_STATE_INVALID,
	MR_WORK_DRAFT_VALIDATION_REQUIRED,
	MR_WORK_DUPLICATE_ARCHIVE_UID,
	MR_WORK_DUPLICATE_CASE_UID,
	MR_WORK_DUPLICATE_CONTACT_UID,
	MR_WORK_EMAIL_CONFLICT,
	MR_WORK_IMAP_APPEND_FAILED,
	MR_WORK_IMAP_CONNECT_FAILED,
	MR_WORK_IMAP_CREATE_FAILED,
	MR_WORK_IMAP_FETCH_FAILED,
	MR_WORK_IMAP_GREETING_FAILED,
	MR_WORK_IMAP_LIST_FAILED,
	MR_WORK_IMAP_LOGIN_FAILED,
	MR_WORK_IMAP_MAILBOX_AMBIGUOUS,
	MR_WORK_IMAP_MAILBOX_UNRESOLVED,
	MR_WORK_IMAP_MOVE_FAILED,
	MR_WORK_IMAP_MOVE_UNSUPPORTED,
	MR_WORK_IMAP_SEARCH_FAILED,
	MR_WORK_IMAP_SELECT_FAILED,
	MR_WORK_IMAP_STORE_FAILED,
	MR_WORK_IMAP_TLS_FAILED,
	MR_WORK_IMAP_UIDVALIDITY_CHANGED,
	MR_WORK_IMAP_UID_MISSING,
	MR_WORK_INTERNAL_ERROR,
	MR_WORK_INVALID_CONTACT,
	MR_WORK_INVALID_REQUEST,
	MR_WORK_MAIL_DIRECTION_INVALID,
	MR_WORK_MANAGED_BLOCK_INVALID,
	MR_WORK_MANAGED_BLOCK_MISSING,
	MR_WORK_MERGE_CONFLICT,
	MR_WORK_MESSAGE_ALREADY_ARCHIVED,
	MR_WORK_MESSAGE_CACHE_INVALID,
	MR_WORK_MESSAGE_HAS_RELATED,
	MR_WORK_MESSAGE_ID_CONFLICT,
	MR_WORK_MESSAGE_NOT_FOUND,
	MR_WORK_MESSAGE_REFERENCED,
	MR_WORK_MESSAGE_REMOTE_INVALID,
	MR_WORK_MESSAGE_STATUS_INVALID,
	MR_WORK_MIME_PARSE_FAILED,
	MR_WORK_NOTES_MISSING,
	MR_WORK_NOT_FOUND,
	MR_WORK_PROGRESS_INVALID,
	MR_WORK_PUSH_ALREADY_STARTED,
	MR_WORK_PUSH_ITEM_INVALID,
	MR_WORK_PUSH_NOT_APPROVED,
	MR_WORK_PUSH_NOT_FOUND,
	MR_WORK_PUSH_PLAN_CHANGED,
	MR_WORK_PUSH_REFUSED,
	MR_WORK_PUSH_UNCERTAIN,
	MR_WORK_REASON_REQUIRED,
	MR_WORK_REMOTE_OPERATION_UNSUPPORTED,
	MR_WORK_SMTP_CONNECT_FAILED,
	MR_WORK_SMTP_SEND_FAILED,
	MR_WORK_STORE_ERROR,
	MR_WORK_TEMPLATE_DIR_INVALID,
	MR_WORK_TEMPLATE_RENDER_FAILED,
	MR_WORK_TRANSACTION_INCOMPLETE,
	MR_WORK_TRANSACTION_INVALID,
	MR_WORK_UNKNOWN_MAILBOX_ID,
	MR_WORK_WORKSPACE_LOCKED,
	MR_WORK_WORKSPACE_NOT_FOUND,
	MR_WORK_ERROR_COUNT,
};

/* What an error of this part says besides its word and message: mr_err.detail points to it. */
struct mr_work_trouble {
	const char *hint;              /* what to do, or NULL */
	const struct mr_value *detail; /* a map, or NULL */
};

/* The contract's word: "case_not_found". */
const char *mr_work_error_word(enum mr_work_error error);
/* Is the word one of this part's? For tests and documents. */
bool mr_work_error_is_known(const char *word);

/* Fail with this error: fills cx->err, forgets details of an earlier one, returns its code. */
enum mr_code mr_work_refuse(struct mr_ctx *cx, enum mr_work_error error, const char *fmt, ...)
	MR_PRINTF(3, 4);
/* Say another hint than the one that belongs to the error; returns cx->err.code. */
enum mr_code mr_work_hint(struct mr_ctx *cx, const char *fmt, ...) MR_PRINTF(2, 3);
/* Add a member to the details of the present error; returns cx->err.code. */
enum mr_code mr_work_detail_text(struct mr_ctx *cx, const char *key, const char *text);
enum mr_code mr_work_detail_texts(struct mr_ctx *cx, const char *key, const struct mr_texts *texts);

/*
 * The failure in cx->err, which came from below this part, becomes a store_error unless it has a
 * word already; returns its code. Its message stays.
 */
enum mr_code mr_work_store_error(struct mr_ctx *cx);

/* The failure of a context whose arena goes sooner becomes that of `to`, with its hint and details;
 * returns its code. */
enum mr_code mr_work_error_pass(struct mr_ctx *to, const struct mr_err *from);

/* The trouble of an error, or NULL. */
const struct mr_work_trouble *mr_work_trouble(const struct mr_err *err);
