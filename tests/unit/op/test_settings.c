/* tests/unit/op/test_settings.c */
#include "base/fs.h"
#include "op/settings.h"
#include "test.h"

#include <string.h>

struct case_of {
	const char *yaml;
	const char *dotenv;
	const char *environ[4];
	const char *set[4];
	const char *config_file;
};

static enum mr_code load(struct mr_arena *arena, const struct case_of *c,
	const struct mr_settings **out, struct mr_err *err)
{
	struct mr_texts assignments = { (const char **)c->set, 0 };
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_settings_sources sources = {
		.assignments = &assignments,
		.config_file = c->config_file,
		.variables = c->environ,
	};

	while (c->set[assignments.len])
		assignments.len++;
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, test_dir(), &dir, err), *err);
	CHECK_OK(mr_fs_remove_all(dir, ".env", err), *err);
	CHECK_OK(mr_fs_remove_all(dir, "mailroom.yaml", err), *err);
	if (c->yaml)
		CHECK_OK(mr_fs_write(dir, "mailroom.yaml", mr_bytes_text(c->yaml), MR_FS_REPLACE,
				 0600, err),
			*err);
	if (c->dotenv)
		CHECK_OK(mr_fs_write(dir, ".env", mr_bytes_text(c->dotenv), MR_FS_REPLACE, 0600,
				 err),
			*err);
	sources.cwd = dir;
	return mr_settings_load(arena, &sources, out, err);
}

static void shows(const struct case_of *c, const char *key, const char *value, const char *source)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_settings *settings;
	struct mr_err err;

	CHECK_OK(load(arena, c, &settings, &err), err);
	CHECK_STR(mr_settings_shown(arena, settings, key), value);
	CHECK_STR(mr_settings_source(settings, key), source);
}

static void each_source_overrides_the_one_below(void)
{
	struct case_of c = { 0 };

	shows(&c, "http.port", "8765", "default");
	c.yaml = "http:\n  port: 1001\n";
	shows(&c, "http.port", "1001", "mailroom.yaml");
	c.dotenv = "# ours\nHTTP_PORT=1002\n";
	shows(&c, "http.port", "1002", ".env line 2");
	c.environ[0] = "HTTP_PORT=1003";
	shows(&c, "http.port", "1003", "environment HTTP_PORT");
	c.set[0] = "http.port=1004";
	shows(&c, "http.port", "1004", "command line");
	c.set[1] = "http.port=1005";
	shows(&c, "http.port", "1005", "command line");
}

static void types_are_read(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct case_of c = {
		.yaml = "http:\n"
			"  request_log: yes\n"
			"  allowed_hosts: [one.example, two.example]\n"
			"log.level: WARNING\n",
		.environ = { "HOME=/h", "HTTP_ALLOWED_ORIGINS= http://a , http://b,," },
	};
	const struct mr_settings *settings;
	struct mr_err err;

	CHECK_OK(load(arena, &c, &settings, &err), err);
	CHECK(mr_settings_bool(settings, "http.request_log"));
	CHECK_INT(mr_settings_texts(settings, "http.allowed_hosts")->len, 2);
	CHECK_INT(mr_settings_texts(settings, "http.allowed_origins")->len, 2);
	CHECK_STR(mr_settings_texts(settings, "http.allowed_origins")->items[1], "http://b");
	CHECK_STR(mr_settings_text(settings, "log.level"), "WARNING");
	CHECK_INT(mr_settings_int(settings, "http.max_body_bytes"), 4194304);
	CHECK_STR(mr_settings_text(settings, "storage.root"),
		"/h/.mcp_agent_mail_git_mailbox_repo");
	c.environ[0] = "HOME=";
	CHECK_OK(load(arena, &c, &settings, &err), err);
	CHECK_STR(mr_settings_text(settings, "storage.root"), "~/.mcp_agent_mail_git_mailbox_repo");
}

static void secrets_are_masked(void)
{
	struct case_of c = { .environ = { "HTTP_BEARER_TOKEN=hunter2" } };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_settings *settings;
	struct mr_err err;

	shows(&c, "http.bearer_token", "********", "environment HTTP_BEARER_TOKEN");
	CHECK_OK(load(arena, &c, &settings, &err), err);
	CHECK_STR(mr_settings_text(settings, "http.bearer_token"), "hunter2");
	c.environ[0] = NULL;
	shows(&c, "http.bearer_token", "", "default");
}

static void refuses(const struct case_of *c, const char *why)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_settings *settings = NULL;
	struct mr_err err;

	CHECK(load(arena, c, &settings, &err) != MR_OK);
	CHECK_STR(err.msg, why);
	CHECK(settings == NULL);
}

static void errors_name_the_key_and_its_place(void)
{
	refuses(&(struct case_of){ .yaml = "http:\n  prot: 1\n" },
		"mailroom.yaml: there is no setting http.prot; did you mean http.port?");
	refuses(&(struct case_of){ .yaml = "zebra: 1\n" },
		"mailroom.yaml: there is no setting zebra; see mailroom config");
	refuses(&(struct case_of){ .yaml = "http: 5\n" },
		"mailroom.yaml: there is no setting http; see mailroom config");
	refuses(&(struct case_of){ .yaml = "http:\n  port: {}\n" },
		"mailroom.yaml: http.port must not be an object");
	refuses(&(struct case_of){ .yaml = "- a\n" }, "mailroom.yaml: must be a map of settings");
	refuses(&(struct case_of){ .dotenv = "HTTP_PROT=1\n" },
		".env line 1: there is no setting HTTP_PROT; did you mean HTTP_PORT?");
	refuses(&(struct case_of){ .dotenv = "HTTP_BARER_TOKN=1\n" },
		".env line 1: there is no setting HTTP_BARER_TOKN; did you mean "
		"HTTP_BEARER_TOKEN?");
	refuses(&(struct case_of){ .dotenv = "STORAGE_ROT=1\n" },
		".env line 1: there is no setting STORAGE_ROT; did you mean STORAGE_ROOT?");
	refuses(&(struct case_of){ .dotenv = "A=1\nMAILROOM_ZEBRA=1\n" },
		".env line 2: there is no setting MAILROOM_ZEBRA; see mailroom config");
	refuses(&(struct case_of){ .dotenv = "X\n" }, ".env: line 1: expected '=' after X");
	refuses(&(struct case_of){ .environ = { "HTTP_PORT=70000" } },
		"environment HTTP_PORT: http.port must be a number from 0 to 65535, not \"70000\"");
	refuses(&(struct case_of){ .environ = { "HTTP_REQUEST_LOG_ENABLED=maybe" } },
		"environment HTTP_REQUEST_LOG_ENABLED: http.request_log must be true or false, not "
		"\"maybe\"");
	refuses(&(struct case_of){ .set = { "log.level=loud" } },
		"command line: log.level must be one of debug, info, warning, error, off, not "
		"\"loud\"");
	refuses(&(struct case_of){ .set = { "http.port" } },
		"command line: --set takes key=value, not \"http.port\"");
	refuses(&(struct case_of){ .set = { "http.hots=x" } },
		"command line: there is no setting http.hots; did you mean http.host?");
	refuses(&(struct case_of){ .config_file = "absent.yaml" },
		"configuration: cannot open absent.yaml: No such file or directory");
}

static void other_programs_names_are_left_alone(void)
{
	struct case_of c = {
		.dotenv = "OPENAI_API_KEY=x\nPGPORT=5432\nXAI_API_KEY=x\nGIT_AUTHOR_DATE=now\n",
		.environ = { "PATH=/bin" },
	};

	shows(&c, "http.host", "127.0.0.1", "default");
}

static void a_file_may_be_named(void)
{
	struct case_of c = { .yaml = "http: {port: 4000}\n", .config_file = "mailroom.yaml" };

	shows(&c, "http.port", "4000", "mailroom.yaml");
	c.config_file = NULL;
	c.environ[0] = "MAILROOM_CONFIG=mailroom.yaml";
	shows(&c, "http.port", "4000", "mailroom.yaml");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(each_source_overrides_the_one_below),
		TEST(types_are_read),
		TEST(secrets_are_masked),
		TEST(errors_name_the_key_and_its_place),
		TEST(other_programs_names_are_left_alone),
		TEST(a_file_may_be_named),
	};

	return test_main(tests, MR_LEN(tests));
}
