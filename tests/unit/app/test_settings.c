/* tests/unit/app/test_settings.c */
#include "app/settings.h"
#include "base/fs.h"
#include "test.h"

#include <string.h>

struct case_of {
	const char *yaml;
	const char *dotenv;
	const char *environ[4];
	const char *set[4];
	const char *config_file;
	const char *env_file;
};

static enum mr_code load(struct mr_arena *arena, const struct case_of *c,
	const struct mr_settings **out, struct mr_err *err)
{
	struct mr_texts assignments = { (const char **)c->set, 0 };
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_settings_sources sources = {
		.assignments = &assignments,
		.config_file = c->config_file,
		.env_file = c->env_file,
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

	shows(&c, "ack.ttl_seconds", "1800", "default");
	c.yaml = "ack:\n  ttl_seconds: 1001\n";
	shows(&c, "ack.ttl_seconds", "1001", "mailroom.yaml");
	c.dotenv = "# ours\nACK_TTL_SECONDS=1002\n";
	shows(&c, "ack.ttl_seconds", "1002", ".env line 2");
	c.environ[0] = "ACK_TTL_SECONDS=1003";
	shows(&c, "ack.ttl_seconds", "1003", "environment ACK_TTL_SECONDS");
	c.set[0] = "ack.ttl_seconds=1004";
	shows(&c, "ack.ttl_seconds", "1004", "command line");
	c.set[1] = "ack.ttl_seconds=1005";
	shows(&c, "ack.ttl_seconds", "1005", "command line");
}

static void types_are_read(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct case_of c = {
		.yaml = "http:\n"
			"  request_log: yes\n"
			"  allowed_hosts: [one.example, two.example]\n"
			"log.level: WARNING\n",
		.config_file = "mailroom.yaml",
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
}

static void is_path(const struct case_of *c, const char *key, const char *want)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_settings *settings;
	const char *path;
	struct mr_err err;

	CHECK_OK(load(arena, c, &settings, &err), err);
	CHECK_OK(mr_settings_path(settings, key, &path, &err), err);
	CHECK_STR(path, want);
}

static void home_is_put_in(void)
{
	is_path(&(struct case_of){ .environ = { "HOME=/h" } }, "storage.root",
		"/h/.mcp_agent_mail_git_mailbox_repo");
	is_path(&(struct case_of){ .environ = { "HOME=/h", "STORAGE_ROOT=~" } }, "storage.root",
		"/h");
	is_path(&(struct case_of){ .environ = { "HOME=/h", "STORAGE_ROOT=a/~/b" } }, "storage.root",
		"a/~/b");
	is_path(&(struct case_of){ .environ = { "HOME=/h", "STORAGE_ROOT=~bob/x" } },
		"storage.root", "~bob/x");
	is_path(&(struct case_of){ .environ = { "HOME=/h", "DATABASE_URL=sqlite:///~/x.db" } },
		"database.url", "sqlite:////h/x.db");
	is_path(&(struct case_of){ .environ = { "DATABASE_URL=sqlite:////x.db" } }, "database.url",
		"sqlite:////x.db");
	is_path(&(struct case_of){ .environ = { "HOUMAO_GLOBAL_MAILBOX_DIR=~/m", "HOME=/h" } },
		"mailbox.root", "/h/m");
	is_path(&(struct case_of){ 0 }, "mailbox.root", ".houmao/mailbox");
}

static void without_a_home_paths_below_it_are_refused(void)
{
	static const struct {
		const char *key, *variable, *why;
	} cases[] = {
		{ "storage.root", "A=b",
			"storage.root is ~/.mcp_agent_mail_git_mailbox_repo, and HOME is not set: "
			"set HOME, or STORAGE_ROOT to a path without ~" },
		{ "mailbox.root", "HOUMAO_GLOBAL_MAILBOX_DIR=~",
			"mailbox.root is ~, and HOME is not set: set HOME, or "
			"HOUMAO_GLOBAL_MAILBOX_DIR to a path without ~" },
		{ "database.url", "DATABASE_URL=sqlite:///~/x",
			"database.url is sqlite:///~/x, and HOME is not set: set HOME, or "
			"DATABASE_URL to a path without ~" },
		{ "mcp.capabilities_file", "MCP_CAPABILITIES_FILE=~/c.json",
			"mcp.capabilities_file is ~/c.json, and HOME is not set: set HOME, or "
			"MCP_CAPABILITIES_FILE to a path without ~" },
	};

	for (size_t i = 0; i < MR_LEN(cases) * 2; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct case_of c = { .environ = { cases[i / 2].variable, i % 2 ? "HOME=" : NULL } };
		const struct mr_settings *settings;
		const char *path;
		struct mr_err err;

		/* It is no trouble until the path is needed. */
		CHECK_OK(load(arena, &c, &settings, &err), err);
		CHECK(mr_settings_path(settings, cases[i / 2].key, &path, &err) == MR_EINVAL);
		CHECK_STR(err.msg, cases[i / 2].why);
	}
}

/* ---- files in the working directory ---- */

static bool is_for_projects(const struct mr_setting *setting)
{
	return setting->flags & MR_SETTING_PROJECT;
}

/* A value that the setting takes, and that is not its default. */
static const char *other_value(struct mr_arena *arena, const struct mr_setting *s)
{
	bool yes = false;

	switch (s->type) {
	case MR_TYPE_INT:
		/* No default is as large as can be. */
		return mr_arena_printf(arena, "%lld", (long long)s->max);
	case MR_TYPE_BOOL:
		mr_str_to_bool(s->fallback, &yes);
		return yes ? "false" : "true";
	default:
		for (size_t i = 0; s->choices && s->choices[i]; i++) {
			if (strcmp(s->choices[i], s->fallback) != 0)
				return s->choices[i];
		}
		return s->choices ? s->choices[0] : "x";
	}
}

/* Every setting, from every source: only the harmless are taken from the working directory. */
static void the_working_directory_sets_only_what_is_harmless(void)
{
	for (const struct mr_setting *s = mr_setting_table; s->key; s++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const char *value = other_value(arena, s);
		const char *line = mr_arena_printf(arena, "%s=%s\n", s->env, value);
		const char *yaml = mr_arena_printf(arena, "%s: \"%s\"\n", s->key, value);
		struct case_of c = { .dotenv = line };
		const struct mr_settings *settings;
		struct mr_err err;

		for (int is_yaml = 0; is_yaml < 2; is_yaml++) {
			const char *place = is_yaml ? "mailroom.yaml" : ".env line 1";

			c = is_yaml ? (struct case_of){ .yaml = yaml }
				    : (struct case_of){ .dotenv = line };
			CHECK_OK(load(arena, &c, &settings, &err), err);
			if (is_for_projects(s)) {
				CHECK_STR(mr_settings_source(settings, s->key), place);
				CHECK(!mr_settings_ignored(settings, s->key));
			} else {
				CHECK_STR(mr_settings_source(settings, s->key), "default");
				CHECK_STR(mr_settings_ignored(settings, s->key), place);
			}
			CHECK_INT(mr_settings_warnings(settings)->len,
				!is_for_projects(s) && strcmp(value, s->fallback) != 0);
			/* A file that was named is the user's word. */
			c.config_file = is_yaml ? "mailroom.yaml" : NULL;
			c.env_file = is_yaml ? NULL : ".env";
			CHECK_OK(load(arena, &c, &settings, &err), err);
			CHECK_STR(mr_settings_source(settings, s->key), place);
			CHECK(!mr_settings_ignored(settings, s->key));
			CHECK_INT(mr_settings_warnings(settings)->len, 0);
		}
	}
}

/* A change of this list is a decision about safety: see SECURITY.md. */
static void what_is_harmless(void)
{
	static const char *const keys[] = { "http.request_log", "git.author_name",
		"git.author_email", "team.environment", "team.name_enforcement",
		"team.name_validation", "team.auto_register", "team.identity_mode",
		"team.identity_remote", "contact.request_ttl_seconds", "reservation.glob_style",
		"reservation.inactivity_seconds", "reservation.activity_grace_seconds",
		"reservation.cleanup", "reservation.cleanup_interval_seconds", "ack.ttl_seconds",
		"ack.scan_interval_seconds", "attachment.convert_images",
		"attachment.keep_originals", "attachment.inline_max_bytes", "guard.agent",
		"guard.project", "mcp.tools_mode", "mcp.tools_detail", "otel.service_name",
		"log.level" };
	size_t at = 0;

	for (const struct mr_setting *s = mr_setting_table; s->key; s++) {
		if (!is_for_projects(s))
			continue;
		CHECK(at < MR_LEN(keys));
		CHECK_STR(s->key, keys[at++]);
		CHECK(!(s->flags & (MR_SETTING_SECRET | MR_SETTING_PATH)));
	}
	CHECK_INT(at, MR_LEN(keys));
}

static void warns(const struct case_of *c, const char *one, const char *two)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_settings *settings;
	const struct mr_texts *warnings;
	struct mr_err err;

	CHECK_OK(load(arena, c, &settings, &err), err);
	warnings = mr_settings_warnings(settings);
	CHECK_INT(warnings->len, (one != NULL) + (two != NULL));
	if (one)
		CHECK_STR(warnings->items[0], one);
	if (two)
		CHECK_STR(warnings->items[1], two);
}

static void what_is_ignored_is_told(void)
{
	struct case_of c = { .dotenv = "LLM_ENDPOINT=http://evil\nHTTP_PORT=many\nLOG_LEVEL=off\n",
		.yaml = "otel: {endpoint: http://evil}\n" };

	warns(&c,
		".env in the working directory sets HTTP_PORT, LLM_ENDPOINT, which only you may "
		"set: ignored. To accept them, give --env-file .env, or set them in the "
		"environment "
		"or in your own mailroom.yaml",
		"mailroom.yaml in the working directory sets otel.endpoint, which only you may "
		"set: ignored. To accept it, give --config mailroom.yaml, or set it in the "
		"environment or in your own mailroom.yaml");
	/* Nothing is lost where a stronger source decides, where the value is the one in force, and
	 * where it is another program's. */
	warns(&(struct case_of){ .dotenv = "HTTP_PORT=8765\nSTORAGE_ROOT="
					   "~/.mcp_agent_mail_git_mailbox_repo\n",
		      .environ = { "HOME=/h" } },
		NULL, NULL);
	warns(&(struct case_of){ .dotenv = "HTTP_PORT=1\nHTTP_HOST=::\n",
		      .environ = { "HTTP_PORT=2" },
		      .set = { "http.host=::1" } },
		NULL, NULL);
	warns(&(struct case_of){ .dotenv = "DATABASE_URL=postgres://user:pw@host/app\n" }, NULL,
		NULL);
}

static void the_users_own_file_is_trusted(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *own = mr_arena_printf(arena, "%s/own", test_dir());
	const char *path = mr_arena_printf(arena, "%s/mailroom/mailroom.yaml", own);
	struct case_of c = { .environ = { mr_arena_printf(arena, "XDG_CONFIG_HOME=%s", own) } };
	struct mr_err err;

	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, mr_arena_printf(arena, "%s/mailroom", own), 0700, &err),
		err);
	CHECK_OK(mr_fs_write(AT_FDCWD, path,
			 mr_bytes_text("llm: {endpoint: http://mine}\nack.ttl_seconds: 5\n"),
			 MR_FS_REPLACE, 0600, &err),
		err);
	shows(&c, "llm.endpoint", "http://mine", path);
	/* The working directory's file stands over it, in what it may set, and hides nothing. */
	c.yaml = "llm: {endpoint: http://evil}\nack.ttl_seconds: 6\n";
	shows(&c, "llm.endpoint", "http://mine", path);
	shows(&c, "ack.ttl_seconds", "6", "mailroom.yaml");
	/* Below HOME without the variable, or with one that is relative. */
	c.yaml = NULL;
	c.environ[0] = "XDG_CONFIG_HOME=own";
	shows(&c, "llm.endpoint", "", "default");
	c.environ[1] = mr_arena_printf(arena, "HOME=%s", test_dir());
	CHECK_OK(mr_fs_rename(AT_FDCWD, own, AT_FDCWD,
			 mr_arena_printf(arena, "%s/.config", test_dir()), MR_FS_NEW, &err),
		err);
	shows(&c, "llm.endpoint", "http://mine",
		mr_arena_printf(arena, "%s/.config/mailroom/mailroom.yaml", test_dir()));
}

static void secrets_go_only_where_the_user_said(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	/* What stands for an endpoint here is one of the few texts that a project may set. */
	struct case_of c = { .dotenv = "OTEL_SERVICE_NAME=http://evil\n",
		.environ = { "LLM_API_KEY=hunter2" } };
	const struct mr_settings *settings;
	struct mr_err err;

	CHECK_OK(load(arena, &c, &settings, &err), err);
	CHECK(mr_settings_may_send(settings, "llm.key", "otel.service_name", &err) == MR_EPERM);
	CHECK_STR(err.msg,
		"llm.key (environment LLM_API_KEY) is not sent to otel.service_name: that came "
		"from .env line 1, which is less trusted");
	/* No secret, nothing to keep. */
	CHECK_OK(mr_settings_may_send(settings, "otel.headers", "otel.service_name", &err), err);
	CHECK_OK(mr_settings_may_send(settings, "llm.key", "llm.endpoint", &err), err);
	c.env_file = ".env";
	CHECK_OK(load(arena, &c, &settings, &err), err);
	CHECK_OK(mr_settings_may_send(settings, "llm.key", "otel.service_name", &err), err);
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
	refuses(&(struct case_of){ .env_file = "absent.env" },
		"absent.env: cannot open absent.env: No such file or directory");
	refuses(&(struct case_of){ .dotenv = "HTTP_PORT=many\n", .env_file = ".env" },
		".env line 1: http.port must be a number from 0 to 65535, not \"many\"");
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
		TEST(home_is_put_in),
		TEST(without_a_home_paths_below_it_are_refused),
		TEST(the_working_directory_sets_only_what_is_harmless),
		TEST(what_is_harmless),
		TEST(what_is_ignored_is_told),
		TEST(the_users_own_file_is_trusted),
		TEST(secrets_go_only_where_the_user_said),
		TEST(secrets_are_masked),
		TEST(errors_name_the_key_and_its_place),
		TEST(other_programs_names_are_left_alone),
		TEST(a_file_may_be_named),
	};

	return test_main(tests, MR_LEN(tests));
}
