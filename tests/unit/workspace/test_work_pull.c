/* tests/unit/workspace/test_work_pull.c - what a pull checks before it talks to a server. */
#include "workspace/pull.h"

#include "post.h"
#include "test.h"
#include "text/json.h"
#include "workspace/layout.h"

#include <string.h>

static struct desk desk;

static char *environment(const char *name)
{
	static char password[] = "s3cret";

	return mr_str_eq(name, "MAIL_SECRET") ? password : NULL;
}

static enum mr_code pull(const char *first, const char *second)
{
	const char *ids[] = { first, second, NULL };
	const struct mr_work_pull request = { { ids, (first != NULL) + (second != NULL) },
		.environment = environment };
	struct mr_work_pulled result;

	return mr_work_pull(&desk.cx, desk.work, &request, &result);
}

static void refused(enum mr_code rc, const char *word, const char *message)
{
	desk_check_fail(&desk, rc, word, NULL, NULL);
	CHECK_STR(desk.cx.err.msg, message);
}

/* A text of the progress snapshot, at its top or in one of its objects. */
static const char *member(const char *object, const char *key)
{
	const struct mr_value *value = NULL;

	CHECK_OK(mr_json_parse(desk.cx.arena, mr_bytes_text(desk_text(&desk, MR_WORK_PROGRESS)),
			 NULL, &value, &desk.cx.err),
		desk.cx.err);
	value = mr_value_get(*object ? mr_value_get(value, object) : value, key);
	return value && value->kind == MR_TEXT ? value->text : "";
}

static void ids_come_before_the_account(void)
{
	post_open(&desk);
	refused(pull("inbox", "INBOX"), "unknown_mailbox_id",
		"'INBOX' is not the id of a mailbox that can be pulled; available ids: archive, "
		"drafts, inbox, junk, sent, trash");
	CHECK_STR(member("", "status"), "failed");
	CHECK_STR(member("error", "error_code"), "unknown_mailbox_id");
	desk_close(&desk);
}

static void an_empty_selection_is_refused(void)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_config none;
	struct mr_work_targets targets;
	const struct mr_texts no_ids = { NULL, 0 };

	post_open(&desk);
	CHECK_OK(mr_work_config_get(&desk.cx, desk.work, &config), desk.cx.err);
	none = *config;
	none.default_mailbox_ids.len = 0;
	refused(mr_work_pull_targets(&desk.cx, &none, &no_ids, &targets), "config_invalid",
		"no mailbox is selected: actions.pull.default_mailbox_ids is empty");
	desk_close(&desk);
}

static void targets_are_named_once(void)
{
	const char *ids[] = { "junk", "inbox", "junk", NULL };
	const struct mr_texts wanted = { ids, 3 }, no_ids = { NULL, 0 };
	const struct mr_work_config *config = NULL;
	struct mr_work_targets targets;

	post_open(&desk);
	CHECK_OK(mr_work_config_get(&desk.cx, desk.work, &config), desk.cx.err);
	CHECK_OK(mr_work_pull_targets(&desk.cx, config, &wanted, &targets), desk.cx.err);
	CHECK_STR(post_join(&desk, &targets.ids), "junk inbox");
	CHECK_INT(targets.len, 2);
	CHECK_STR(targets.items[1]->mailbox_name, "INBOX");
	CHECK_OK(mr_work_pull_targets(&desk.cx, config, &no_ids, &targets), desk.cx.err);
	CHECK_STR(post_join(&desk, &targets.ids), "inbox sent archive junk trash");
	desk_close(&desk);
}

static void the_account_must_be_complete(void)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_account account;

	post_open(&desk);
	refused(pull(NULL, NULL), "config_missing", "imap.host is not set");
	CHECK(strstr(post_hint(&desk), "`afmail config set imap.host HOST`"));
	CHECK_STR(member("", "phase"), "finish");
	CHECK_STR(member("fields", "failed_phase"), "start");
	desk_next(&desk);
	post_set(&desk, "imap.host", "imap.example.com");
	refused(pull(NULL, NULL), "config_missing", "imap.username is not set");
	desk_next(&desk);
	post_set(&desk, "imap.username", "ann");
	refused(pull(NULL, NULL), "config_missing",
		"neither imap.password_secret nor imap.password_secret_env is set");
	desk_next(&desk);
	post_set(&desk, "imap.password_secret_env", "OTHER_SECRET");
	refused(pull(NULL, NULL), "config_missing",
		"the environment variable OTHER_SECRET, which imap.password_secret_env names, is "
		"not set");
	desk_next(&desk);
	post_set(&desk, "imap.password_secret_env", "MAIL_SECRET");
	CHECK_OK(mr_work_config_get(&desk.cx, desk.work, &config), desk.cx.err);
	CHECK_OK(mr_work_imap_account(&desk.cx, config, environment, &account), desk.cx.err);
	CHECK_STR(account.password, "s3cret");
	CHECK(account.port == 993 && account.tls);
	post_set(&desk, "imap.host", "no host");
	refused(pull("inbox", NULL), "imap_connect_failed", "'no host' is not the name of a host");
	CHECK_STR(member("fields", "failed_phase"), "pull_resolve_targets");
	/* The password is nowhere in the snapshot. */
	CHECK(!strstr(desk_text(&desk, MR_WORK_PROGRESS), "s3cret"));
	desk_close(&desk);
}

static void remote_commands_check_the_account(void)
{
	const struct mr_work_remote_ask ask = { environment };
	struct mr_work_remote_tested tested;
	struct mr_work_remote_folders folders;

	post_open(&desk);
	refused(mr_work_remote_test(&desk.cx, desk.work, &ask, &tested), "config_missing",
		"imap.host is not set");
	CHECK(!desk_has(MR_WORK_PROGRESS));
	desk_next(&desk);
	post_set(&desk, "imap.host", "no host");
	post_set(&desk, "imap.username", "ann");
	post_set(&desk, "imap.password_secret", "x");
	refused(mr_work_remote_test(&desk.cx, desk.work, &ask, &tested), "imap_connect_failed",
		"'no host' is not the name of a host");
	refused(mr_work_remote_folders(&desk.cx, desk.work, &ask, &folders), "imap_connect_failed",
		"'no host' is not the name of a host");
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(ids_come_before_the_account),
		TEST(an_empty_selection_is_refused),
		TEST(targets_are_named_once),
		TEST(the_account_must_be_complete),
		TEST(remote_commands_check_the_account),
	};

	return test_main(tests, MR_LEN(tests));
}
