/* tests/unit/mailbox/test_mailbox_notifier_settings.c - the body of a PUT, over what was set. */
#include "mailbox/notifier_settings.h"

#include "test.h"
#include "text/json.h"

static bool read_json(struct mr_arena *arena, const char *text, struct mr_notifier_settings *s,
	struct mr_issues *issues)
{
	const struct mr_value *value = NULL;
	struct mr_cursor at;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(text), NULL, &value, &err), err);
	mr_issues_init(issues, arena);
	at = mr_cursor_root(value, issues);
	return mr_notifier_settings_read(arena, &at, s, s);
}

static void what_is_left_out_is_kept_or_reset(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notifier_settings s = mr_notifier_settings_default();
	struct mr_issues issues;

	CHECK(read_json(arena,
		"{\"interval_seconds\": 5, \"mode\": \"unread_only\", \"appendix_text\": \"Brief.\","
		" \"notify_block_auth_mode\": \"required\", \"notify_block_auth_verifier\":"
		" \"shared-token\", \"notify_block_shared_tokens\": [\"tok-1\", \"\"],"
		" \"notify_block_total_chars\": 0}",
		&s, &issues));
	CHECK(s.enabled);
	CHECK_INT(s.mode, MR_NOTICE_UNREAD_ONLY);
	CHECK_INT(s.rules.tokens.len, 2);
	CHECK(read_json(arena,
		"{\"interval_seconds\": 9, \"notify_block_auth_mode\": null,"
		" \"notify_block_shared_tokens\": null}",
		&s, &issues));
	CHECK_INT(s.interval_seconds, 9);
	CHECK_INT(s.mode, MR_NOTICE_ANY_INBOX);
	CHECK_STR(s.appendix_text, "Brief.");
	CHECK_INT(s.rules.auth_mode, MR_NOTICE_REQUIRED);
	CHECK_STR(s.rules.tokens.items[0], "tok-1");
	CHECK_INT(s.rules.total_chars, 0);
	CHECK(read_json(arena, "{\"interval_seconds\": 9, \"appendix_text\": \"\"}", &s, &issues));
	CHECK_STR(s.appendix_text, "");
}

/* A client that puts back what it got does not replace tokens by their digests. */
static void a_digest_stands_for_its_token(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notifier_settings s = mr_notifier_settings_default();
	struct mr_issues issues;
	struct mr_texts shown;

	CHECK(read_json(arena,
		"{\"interval_seconds\": 5, \"notify_block_shared_tokens\": [\"tok-1\"]}", &s,
		&issues));
	shown = mr_notifier_settings_tokens(arena, &s.rules.tokens);
	CHECK_STR(shown.items[0], "sha256:65dcf16ea3dfa490");
	CHECK(read_json(arena,
		mr_arena_printf(arena,
			"{\"interval_seconds\": 5, \"notify_block_shared_tokens\": [\"%s\","
			" \"tok-2\"]}",
			shown.items[0]),
		&s, &issues));
	CHECK_STR(s.rules.tokens.items[0], "tok-1");
	CHECK_STR(s.rules.tokens.items[1], "tok-2");
}

static void refuses(const char *json, const char *path, const char *why)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notifier_settings s = mr_notifier_settings_default();
	struct mr_issues issues;

	CHECK(!read_json(arena, json, &s, &issues));
	CHECK_INT(issues.len, 1);
	CHECK_STR(issues.items[0].path, path);
	CHECK_STR(issues.items[0].msg, why);
	CHECK(!s.enabled);
}

static void what_is_wrong_is_refused(void)
{
	refuses("{}", "$.interval_seconds", "is required");
	refuses("{\"interval_seconds\": 5, \"enabled\": false}", "$.enabled",
		"Input should be True");
	refuses("{\"interval_seconds\": 5, \"schema_version\": 2}", "$.schema_version",
		"Input should be 1");
	refuses("{\"interval_seconds\": 5, \"pre_notification_context_action\": \"compact\"}",
		"$.pre_notification_context_action",
		"`compact` is not supported: nobody but the agent's own program can compact its "
		"context");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_is_left_out_is_kept_or_reset),
		TEST(a_digest_stands_for_its_token),
		TEST(what_is_wrong_is_refused),
	};

	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
