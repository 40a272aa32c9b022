/* tests/unit/workspace/test_work_setup.c - plans for accounts, and what is written of them; real
 * servers are tried in tests/blackbox/work_setup.py. */
#include "workspace/setup.h"

#include "post.h"
#include "test.h"

#include "workspace/config_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct desk desk;
static struct mr_work_setup_plan plan;
static struct mr_work_setup_done done;

static char *environment(const char *name)
{
	static char password[] = "s3cret";

	if (mr_str_eq(name, "HOME"))
		return (char *)desk.work->root;
	return mr_str_eq(name, "MAIL_SECRET") ? password : NULL;
}

static struct mr_work_setup ask_for(const char *address)
{
	return (struct mr_work_setup){ .address = address,
		.password = "s3cret",
		.environment = environment };
}

static void make_plan(const struct mr_work_setup *request)
{
	CHECK_OK(mr_work_setup_plan(&desk.cx, desk.work, request, &plan), desk.cx.err);
	desk_next(&desk);
}

static void refuse_plan(const struct mr_work_setup *request, const char *word)
{
	desk_check_fail(&desk, mr_work_setup_plan(&desk.cx, desk.work, request, &plan), word, NULL,
		NULL);
	CHECK(!strstr(desk.cx.err.msg, "s3cret"));
	desk_next(&desk);
}

static const char *steps(void)
{
	const struct mr_work_config *config;
	const char *text = "";

	CHECK_OK(mr_work_config_get(&desk.cx, desk.work, &config), desk.cx.err);
	for (size_t i = 0; i < config->draft_send.len; i++)
		text = mr_arena_printf(desk.cx.arena, "%s%s ", text,
			mr_work_step_label(desk.cx.arena, &config->draft_send.items[i]));
	return text;
}

static void store(const struct mr_work_setup *request)
{
	make_plan(request);
	CHECK_OK(mr_work_setup_store(&desk.cx, desk.work, &plan, &done), desk.cx.err);
}

static void a_provider_gives_the_servers(void)
{
	struct mr_work_setup request = ask_for("ann@gmail.com");

	post_open(&desk);
	make_plan(&request);
	CHECK_STR(plan.provider->title, "Gmail");
	CHECK(plan.imap_count == 1 && plan.smtp_count == 1);
	CHECK_STR(plan.imap->host, "imap.gmail.com");
	CHECK_STR(plan.imap->username, "ann@gmail.com");
	request = ask_for("ann@icloud.com");
	make_plan(&request);
	CHECK_STR(plan.imap->username, "ann");
	CHECK_STR(plan.smtp->username, "ann@icloud.com");
	CHECK(plan.smtp->starttls && !plan.smtp->tls);
	request = ask_for("ann@example.net");
	request.provider = "fastmail";
	make_plan(&request);
	CHECK_STR(plan.smtp->host, "smtp.fastmail.com");
	request.provider = NULL;
	make_plan(&request);
	CHECK(!plan.provider && plan.imap_count == MR_WORK_GUESSES);
	CHECK_STR(plan.imap[1].host, "mail.example.net");
	desk_close(&desk);
}

static void ports_and_encryption_go_together(void)
{
	struct mr_work_setup request = ask_for("ann@example.net");

	post_open(&desk);
	request.imap.host = request.smtp.host = "mail.example.net";
	make_plan(&request);
	CHECK(plan.imap->port == 993 && plan.imap->tls && !plan.imap->starttls);
	CHECK(plan.smtp->port == 587 && !plan.smtp->tls && plan.smtp->starttls);
	request.imap.port = 143;
	request.smtp.port = 465;
	make_plan(&request);
	CHECK(plan.imap->port == 143 && !plan.imap->tls && plan.imap->starttls);
	CHECK(plan.smtp->port == 465 && plan.smtp->tls && !plan.smtp->starttls);
	request.imap.port = request.smtp.port = 0;
	request.imap.security = MR_WORK_SECURITY_STARTTLS;
	request.smtp.security = MR_WORK_SECURITY_NONE;
	make_plan(&request);
	CHECK(plan.imap->port == 143 && plan.imap->starttls);
	CHECK(plan.smtp->port == 587 && !plan.smtp->tls && !plan.smtp->starttls);
	desk_close(&desk);
}

static void what_does_not_fit_is_refused(void)
{
	struct mr_work_setup request = ask_for("ann@outlook.com");

	post_open(&desk);
	refuse_plan(&request, "config_missing"); /* no token */
	request = ask_for("ann");
	refuse_plan(&request, "invalid_request");
	request = ask_for("ann@b<c");
	refuse_plan(&request, "invalid_request");
	request = ask_for("ann@example.net");
	request.keyring = request.inline_password = true;
	refuse_plan(&request, "invalid_request");
	request = ask_for("ann@example.net");
	request.password_file = "relative";
	refuse_plan(&request, "invalid_request");
	request = ask_for("ann@example.net");
	request.password_env = "lower_secret";
	refuse_plan(&request, "config_invalid");
	desk_close(&desk);
}

static void a_password_that_is_nowhere_is_asked_for(void)
{
	struct mr_work_setup request = ask_for("ann@gmail.com");

	post_open(&desk);
	request.password = NULL;
	make_plan(&request);
	CHECK(plan.needs_password && plan.is_new && !plan.password);
	CHECK(strstr(plan.question, "apppasswords") && strstr(plan.question, "ann@gmail.com"));
	request.password_env = "MAIL_SECRET";
	make_plan(&request);
	CHECK(!plan.needs_password && !plan.is_new);
	CHECK_STR(plan.password, "s3cret");
	desk_close(&desk);
}

static void what_is_written(void)
{
	struct mr_work_setup request = ask_for("ann@gmail.com");
	const struct mr_work_config *config;
	struct stat st;

	post_open(&desk);
	store(&request);
	CHECK_STR(done.password_where, "~/.config/mailroom/ann@gmail.com.password");
	CHECK_STR(desk_text(&desk, ".config/mailroom/ann@gmail.com.password"), "s3cret\n");
	CHECK(!stat(".config/mailroom/ann@gmail.com.password", &st));
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_STR(done.identity, "me");
	CHECK_STR(done.name, "ann");
	desk_next(&desk);
	CHECK_OK(mr_work_config_get(&desk.cx, desk.work, &config), desk.cx.err);
	CHECK_STR(config->imap.host, "imap.gmail.com");
	CHECK_STR(config->smtp.password.file, "~/.config/mailroom/ann@gmail.com.password");
	CHECK(config->smtp.tls && !config->smtp.starttls && !config->imap.password.text);
	desk_close(&desk);
}

/* Gmail files sent mail by itself: a push does not, until another provider needs it. */
static void sent_mail_is_filed_once(void)
{
	struct mr_work_setup request = ask_for("ann@gmail.com");
	const char *usual;

	post_open(&desk);
	usual = steps();
	CHECK(strstr(usual, "append_to_mailbox_id_sent"));
	store(&request);
	CHECK(done.keeps_sent);
	desk_next(&desk);
	CHECK(strstr(steps(), "smtp_send") && !strstr(steps(), "append"));
	request.address = "ann@posteo.de";
	store(&request);
	CHECK(!done.keeps_sent);
	desk_next(&desk);
	CHECK(strstr(steps(), "append_to_mailbox_id_sent"));
	/* Steps that somebody has chosen stay. */
	post_set_json(&desk, "actions.draft.send.steps", "[{\"smtp_send\":{}}]");
	request.address = "ann@gmail.com";
	store(&request);
	desk_next(&desk);
	CHECK_STR(steps(), "smtp_send ");
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_provider_gives_the_servers),
		TEST(ports_and_encryption_go_together),
		TEST(what_does_not_fit_is_refused),
		TEST(a_password_that_is_nowhere_is_asked_for),
		TEST(what_is_written),
		TEST(sent_mail_is_filed_once),
	};

	return test_main(tests, MR_LEN(tests));
}
