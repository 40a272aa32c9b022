/* tests/unit/workspace/test_work_error.c */
#include "workspace/error.h"

#include "test.h"

#include <ctype.h>
#include <string.h>

static void every_error_has_a_word_of_its_own(void)
{
	for (int i = 0; i < MR_WORK_ERROR_COUNT; i++) {
		const char *word = mr_work_error_word((enum mr_work_error)i);

		CHECK(word && *word);
		for (const char *c = word; *c; c++)
			CHECK(islower((unsigned char)*c) || *c == '_' ||
				isdigit((unsigned char)*c));
		CHECK(mr_work_error_is_known(word));
		for (int k = 0; k < i; k++)
			CHECK(strcmp(word, mr_work_error_word((enum mr_work_error)k)) != 0);
	}
	CHECK(!mr_work_error_is_known("nothing_of_ours"));
	CHECK(!mr_work_error_is_known(NULL));
}

/* The words of the contract that callers compare with. */
static void words_are_those_of_the_contract(void)
{
	static const char *const words[] = { "workspace_not_found", "workspace_locked",
		"transaction_incomplete", "transaction_invalid", "invalid_request",
		"reason_required", "confirm_required", "config_missing", "config_invalid",
		"unknown_mailbox_id", "store_error", "internal_error", "managed_block_invalid",
		"managed_block_missing", "message_cache_invalid", "message_remote_invalid",
		"message_status_invalid", "mail_direction_invalid", "message_not_found",
		"message_id_conflict", "message_referenced",
		"message_has_related_conversation_use_case", "message_already_archived",
		"mime_parse_failed", "attachment_not_found", "case_not_found", "case_archived",
		"case_exists", "duplicate_case_uid", "case_metadata_invalid",
		"case_messages_invalid", "case_has_local_drafts", "case_has_outbound_push",
		"merge_conflict", "notes_missing", "archive_not_found", "archive_entry_not_found",
		"archive_exists", "duplicate_archive_uid", "archive_messages_invalid",
		"draft_not_found", "draft_exists", "draft_invalid", "draft_state_invalid",
		"draft_validation_required", "draft_changed_since_validation", "push_item_invalid",
		"push_already_started", "template_render_failed", "template_dir_invalid",
		"progress_invalid", "imap_mailbox_ambiguous", "not_found", "email_conflict",
		"invalid_contact", "disposition_messages_invalid", "duplicate_contact_uid" };

	for (size_t i = 0; i < MR_LEN(words); i++)
		if (!mr_work_error_is_known(words[i]))
			test_fail(__FILE__, __LINE__, "%s is unknown", words[i]);
}

/* What another command holds, and what a server did not do now, can be tried again. */
static bool may_pass(enum mr_work_error error)
{
	switch (error) {
	case MR_WORK_WORKSPACE_LOCKED:
	case MR_WORK_IMAP_APPEND_FAILED:
	case MR_WORK_IMAP_CONNECT_FAILED:
	case MR_WORK_IMAP_FETCH_FAILED:
	case MR_WORK_IMAP_GREETING_FAILED:
	case MR_WORK_IMAP_LIST_FAILED:
	case MR_WORK_IMAP_MOVE_FAILED:
	case MR_WORK_IMAP_SEARCH_FAILED:
	case MR_WORK_IMAP_SELECT_FAILED:
	case MR_WORK_IMAP_STORE_FAILED:
	case MR_WORK_SMTP_CONNECT_FAILED:
	case MR_WORK_SMTP_SEND_FAILED:
		return true;
	default:
		return false;
	}
}

static void only_what_may_pass_is_worth_retrying(void)
{
	for (int i = 0; i < MR_WORK_ERROR_COUNT; i++) {
		struct mr_ctx cx = { .arena = mr_arena_new() };
		enum mr_code rc = mr_work_refuse(&cx, (enum mr_work_error)i, "x");

		CHECK_INT(rc, cx.err.code);
		CHECK(mr_code_is_retryable(rc) == may_pass((enum mr_work_error)i));
		mr_arena_free(cx.arena);
	}
}

static const char *detail(struct mr_ctx *cx, const char *key)
{
	const struct mr_value *value = mr_value_get(mr_work_trouble(&cx->err)->detail, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static void details_and_hints_are_added(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new() };
	const char *items[] = { "x", "y", NULL };
	struct mr_texts texts = { items, 2 };
	const struct mr_value *list;

	CHECK_INT(mr_work_refuse(&cx, MR_WORK_EMAIL_CONFLICT, "%s is taken", "a@b"), MR_ECONFLICT);
	CHECK_STR(cx.err.word, "email_conflict");
	CHECK_STR(cx.err.msg, "a@b is taken");
	CHECK(mr_work_trouble(&cx.err)->hint && !mr_work_trouble(&cx.err)->detail);
	CHECK_INT(mr_work_detail_text(&cx, "email", "a@b"), MR_ECONFLICT);
	CHECK_INT(mr_work_detail_texts(&cx, "paths", &texts), MR_ECONFLICT);
	CHECK_INT(mr_work_hint(&cx, "ask %s", "Ann"), MR_ECONFLICT);
	CHECK_STR(detail(&cx, "email"), "a@b");
	list = mr_value_get(mr_work_trouble(&cx.err)->detail, "paths");
	CHECK(list->kind == MR_LIST && list->list.len == 2);
	CHECK_STR(mr_work_trouble(&cx.err)->hint, "ask Ann");
	/* The next error knows nothing of them, and may quote the one before. */
	mr_work_refuse(&cx, MR_WORK_NOT_FOUND, "after: %s", cx.err.msg);
	CHECK_STR(cx.err.msg, "after: a@b is taken");
	CHECK(!mr_work_trouble(&cx.err)->detail);
	mr_arena_free(cx.arena);
}

/* The arena that a failure began in may go. */
static void a_failure_is_passed_on(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new() }, own = { .arena = mr_arena_new() };

	mr_work_refuse(&own, MR_WORK_EMAIL_CONFLICT, "a@b is taken");
	mr_work_detail_text(&own, "email", "a@b");
	mr_work_hint(&own, "ask %s", "Ann");
	CHECK_INT(mr_work_error_pass(&cx, &own.err), MR_ECONFLICT);
	mr_arena_free(own.arena);
	CHECK_STR(cx.err.word, "email_conflict");
	CHECK_STR(cx.err.msg, "a@b is taken");
	CHECK_STR(detail(&cx, "email"), "a@b");
	CHECK_STR(mr_work_trouble(&cx.err)->hint, "ask Ann");
	/* One without a word has neither. */
	own = (struct mr_ctx){ 0 };
	mr_err_set(&own.err, MR_EIO, "the disk is on fire");
	CHECK_INT(mr_work_error_pass(&cx, &own.err), MR_EIO);
	CHECK(!cx.err.word && !mr_work_trouble(&cx.err));
	mr_arena_free(cx.arena);
}

static void a_failure_from_below_becomes_a_store_error(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new() };

	mr_err_set(&cx.err, MR_EIO, "the disk is on fire");
	CHECK_INT(mr_work_store_error(&cx), MR_EIO);
	CHECK_STR(cx.err.word, "store_error");
	CHECK_STR(cx.err.msg, "the disk is on fire");
	CHECK(!mr_work_trouble(&cx.err));
	/* One that has its word keeps it. */
	mr_work_refuse(&cx, MR_WORK_CASE_NOT_FOUND, "x");
	mr_work_store_error(&cx);
	CHECK_STR(cx.err.word, "case_not_found");
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(every_error_has_a_word_of_its_own),
		TEST(words_are_those_of_the_contract),
		TEST(only_what_may_pass_is_worth_retrying),
		TEST(details_and_hints_are_added),
		TEST(a_failure_is_passed_on),
		TEST(a_failure_from_below_becomes_a_store_error),
	};

	return test_main(tests, MR_LEN(tests));
}
