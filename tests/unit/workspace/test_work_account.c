/* tests/unit/workspace/test_work_account.c - accounts with secrets from wherever they are kept. */
#include "workspace/account.h"

#include "post.h"
#include "test.h"

#include <string.h>

static struct desk desk;
static struct mr_work_account account;

static char *environment(const char *name)
{
	static char password[] = "s3cret", home[] = "/nowhere";

	if (mr_str_eq(name, "HOME"))
		return home;
	return mr_str_eq(name, "MAIL_SECRET") ? password : NULL;
}

static enum mr_code imap(void)
{
	const struct mr_work_config *config;

	CHECK_OK(mr_work_config_get(&desk.cx, desk.work, &config), desk.cx.err);
	return mr_work_imap_account(&desk.cx, config, environment, &account);
}

static enum mr_code smtp(void)
{
	const struct mr_work_config *config;

	CHECK_OK(mr_work_config_get(&desk.cx, desk.work, &config), desk.cx.err);
	return mr_work_smtp_account(&desk.cx, config, environment, &account);
}

static void refused(enum mr_code rc, const char *word, const char *message)
{
	desk_check_fail(&desk, rc, word, NULL, NULL);
	if (!strstr(desk.cx.err.msg, message))
		test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", message, desk.cx.err.msg);
	CHECK(!strstr(desk.cx.err.msg, "s3cret"));
	desk_next(&desk);
}

/* A command of the shell's, set as imap.password_secret_command or the like. */
static void set_command(const char *key, const char *text)
{
	const char *words[] = { "/bin/sh", "-c", text, NULL };
	const struct mr_value *value;
	struct mr_work_change change;

	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	CHECK_OK(mr_work_config_set(&desk.cx, desk.work, key, &(struct mr_texts){ words, 3 },
			 &change, &value),
		desk.cx.err);
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	mr_work_change_end(&desk.cx, &change);
}

static const char *here(const char *name)
{
	return mr_arena_printf(desk.cx.arena, "%s/%s", desk.work->root, name);
}

static void begin(void)
{
	post_open(&desk);
	post_set(&desk, "imap.host", "imap.example.com");
	post_set(&desk, "imap.username", "ann");
}

static void a_secret_comes_from_a_file(void)
{
	begin();
	post_set(&desk, "imap.password_secret_file", here("secret"));
	refused(imap(), "config_missing", "which imap.password_secret_file names, cannot be read");
	desk_put("secret", "\nsecond");
	refused(imap(), "config_missing", "is empty");
	desk_put("secret", "s3cret of ann\r\nsecond");
	CHECK_OK(imap(), desk.cx.err);
	CHECK_STR(account.password, "s3cret of ann");
	post_set(&desk, "imap.password_secret_file", "~/secret");
	refused(imap(), "config_missing", "/nowhere/secret");
	desk_close(&desk);
}

static void a_secret_comes_from_a_command(void)
{
	begin();
	set_command("imap.password_secret_command", "printf 's3cret\\nmore\\n'");
	CHECK_OK(imap(), desk.cx.err);
	CHECK_STR(account.password, "s3cret");
	set_command("imap.password_secret_command", "echo s3cret; echo s3cret >&2; exit 3");
	refused(imap(), "config_missing", "ended with status 3");
	set_command("imap.password_secret_command", "true");
	refused(imap(), "config_missing", "is empty");
	post_set(&desk, "imap.password_secret_command", "/nowhere/program");
	refused(imap(), "config_missing", "/nowhere/program cannot be run");
	/* One place takes the others away. */
	post_set(&desk, "imap.password_secret_env", "MAIL_SECRET");
	CHECK_OK(imap(), desk.cx.err);
	CHECK_STR(account.password, "s3cret");
	desk_close(&desk);
}

static void a_token_takes_the_place_of_a_password(void)
{
	begin();
	post_set(&desk, "imap.auth", "xoauth2");
	refused(imap(), "config_missing", "imap.auth is xoauth2, but neither");
	set_command("imap.token_secret_command", "echo t0ken");
	CHECK_OK(imap(), desk.cx.err);
	CHECK_STR(account.token, "t0ken");
	CHECK(!account.password && account.auth == MR_WORK_AUTH_XOAUTH2);
	desk_close(&desk);
}

static void settings_of_the_connection_are_taken(void)
{
	begin();
	post_set(&desk, "imap.password_secret_env", "MAIL_SECRET");
	post_set(&desk, "imap.tls", "false");
	post_set(&desk, "imap.starttls", "true");
	post_set(&desk, "imap.timeout_s", "5");
	post_set(&desk, "imap.ca_file", here("ca.pem"));
	refused(imap(), "config_invalid", "which imap.ca_file names, cannot be read");
	desk_put("ca.pem", "");
	CHECK_OK(imap(), desk.cx.err);
	CHECK(account.starttls && !account.tls && account.timeout_ms == 5000);
	CHECK_STR(account.ca_file, here("ca.pem"));
	desk_close(&desk);
}

static void smtp_may_need_no_login(void)
{
	begin();
	refused(smtp(), "config_missing", "smtp.host is not set");
	post_set(&desk, "smtp.host", "smtp.example.com");
	post_set(&desk, "smtp.username", "ann");
	CHECK_OK(smtp(), desk.cx.err);
	CHECK(!account.username && !account.password && account.port == 587 && account.starttls);
	post_set(&desk, "smtp.password_secret_env", "OTHER_SECRET");
	refused(smtp(), "config_missing", "OTHER_SECRET, which smtp.password_secret_env names");
	post_set(&desk, "smtp.password_secret_env", "MAIL_SECRET");
	post_set(&desk, "smtp.tls_wrapper", "true");
	CHECK_OK(smtp(), desk.cx.err);
	CHECK_STR(account.username, "ann");
	CHECK_STR(account.password, "s3cret");
	CHECK(account.tls && !account.starttls);
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_secret_comes_from_a_file),
		TEST(a_secret_comes_from_a_command),
		TEST(a_token_takes_the_place_of_a_password),
		TEST(settings_of_the_connection_are_taken),
		TEST(smtp_may_need_no_login),
	};

	return test_main(tests, MR_LEN(tests));
}
