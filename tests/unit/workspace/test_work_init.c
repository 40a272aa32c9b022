/* tests/unit/workspace/test_work_init.c */
#include "workspace/init.h"

#include "base/fs.h"
#include "files.h"
#include "test.h"
#include "text/json.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/frame.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mr_clock_fixed fixed;
static struct mr_ctx cx;
static struct mr_work_init request;
static struct mr_work_initialized result;

static void begin(void)
{
	files_enter();
	setenv("TZ", "UTC", 1);
	mr_clock_fixed_init(&fixed, INT64_C(1767225600000000));
	cx = (struct mr_ctx){ .arena = mr_arena_new(), .clock = &fixed.clock };
	request = (struct mr_work_init){ .around = { .directory = test_dir() } };
}

static void end(void)
{
	mr_arena_free(cx.arena);
}

static void init(void)
{
	CHECK_OK(mr_work_init(&cx, &request, &result), cx.err);
}

static void refused(const char *word, const char *message)
{
	CHECK(mr_work_init(&cx, &request, &result) != MR_OK);
	CHECK_STR(cx.err.word, word);
	CHECK_STR(cx.err.msg, message);
}

static const char *content(const char *path)
{
	struct mr_bytes bytes;

	CHECK_OK(mr_fs_read(cx.arena, AT_FDCWD, path, 1 << 20, &bytes, &cx.err), cx.err);
	return (const char *)bytes.data;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct listing {
	struct mr_texts files;
};

static enum mr_fs_next list_file(void *arg, const struct mr_fs_entry *entry)
{
	struct listing *listing = arg;

	if (entry->type != DT_DIR) {
		CHECK(listing->files.len < 64);
		listing->files.items[listing->files.len++] = mr_arena_strdup(cx.arena, entry->path);
	}
	return MR_FS_GO_ON;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All files below the test's directory, one a line. */
static const char *files(void)
{
	struct listing listing = { .files = { mr_arena_array(cx.arena, 65, sizeof(char *)), 0 } };

	CHECK_OK(mr_fs_walk(AT_FDCWD, ".", 16, list_file, &listing, &cx.err), cx.err);
	qsort(listing.files.items, listing.files.len, sizeof(char *), compare);
	return mr_str_join(cx.arena, &listing.files, "\n");
}

static const char fresh_files[] = ".afmail/DO_NOT_EDIT.txt\n.afmail/config.json\n"
				  ".afmail/logs/events.jsonl\n"
				  ".codex/skills/agent-first-mail/SKILL.md\n.gitignore\nAGENTS.md";

static const char gitignore[] = "# BEGIN afmail managed\n"
				".codex/skills/agent-first-mail/\n"
				".afmail/push/\n"
				".afmail/logs/\n"
				".afmail/requests/\n"
				".afmail/transactions/\n"
				".afmail/workspace.lock\n"
				".afmail/workspace.progress.json\n"
				".afmail/index.sqlite*\n"
				".afmail/incoming/\n"
				"messages/*.json\n"
				"triage/*.md\n"
				"spam/*.md\n"
				"trash/*.md\n"
				"deleted/*.md\n"
				"cases/*/*/case.md\n"
				"cases/*/*/views/**/*.md\n"
				"archive/cases/*/case.md\n"
				"archive/cases/*/views/**/*.md\n"
				"archive/notifications/*/archive.md\n"
				"archive/notifications/*/views/**/*.md\n"
				"# END afmail managed\n";

static void a_workspace_is_made(void)
{
	static const char *const dirs[] = { ".afmail/messages", ".afmail/push", ".afmail/logs",
		".afmail/transactions", "templates", "messages", "triage", "cases", "archive/cases",
		"archive/notifications" };
	static const char *const later[] = { "spam", "trash", "deleted", "contacts", "identities" };
	const struct mr_value *config;

	begin();
	init();
	CHECK_STR(files(), fresh_files);
	for (size_t i = 0; i < MR_LEN(dirs); i++)
		CHECK(is_dir(dirs[i]));
	for (size_t i = 0; i < MR_LEN(later); i++)
		CHECK(!mr_fs_exists(AT_FDCWD, later[i]));
	files_hold(".gitignore", gitignore);
	files_hold(".afmail/logs/events.jsonl", "");
	CHECK_OK(mr_json_parse(cx.arena, mr_bytes_text(content(".afmail/config.json")), NULL,
			 &config, &cx.err),
		cx.err);
	CHECK(mr_value_equal(config, mr_work_config_default(&cx, 0)));
	CHECK(mr_str_starts(content(".afmail/config.json"), "{\n  \"actions\": {\n"));
	CHECK(mr_str_starts(content("AGENTS.md"), "# Mail\n"));
	CHECK(strstr(content("AGENTS.md"), "\nThis directory is a mail workspace.\n"));
	CHECK(strstr(content(".afmail/DO_NOT_EDIT.txt"), "Do not edit"));
	end();
}

static void the_result_tells_everything(void)
{
	begin();
	init();
	CHECK_STR(result.workspace_path, test_dir());
	CHECK_STR(result.agent_root_path, test_dir());
	CHECK_STR(result.workspace_ref, ".");
	CHECK_STR(mr_str_join(cx.arena, &result.workspace_paths, "|"), ".");
	CHECK_STR(result.created_rfc3339, "2026-01-01T00:00:00Z");
	CHECK_STR(result.gitignore_path, ".gitignore");
	CHECK_STR(result.workspace_gitignore_path, ".gitignore");
	CHECK_STR(result.agent_gitignore_path, ".gitignore");
	CHECK(result.gitignore_created && !result.gitignore_updated);
	CHECK(result.workspace_gitignore_created && !result.workspace_gitignore_updated);
	CHECK(result.agent_gitignore_created && !result.agent_gitignore_updated);
	CHECK_STR(result.agent_skill_path, "AGENTS.md");
	CHECK(result.agent_skill_created && !result.agent_skill_updated);
	CHECK_STR(result.workspace_skill_path, ".codex/skills/agent-first-mail/SKILL.md");
	CHECK(result.workspace_skill_installed);
	CHECK_STR(result.do_not_edit_path, ".afmail/DO_NOT_EDIT.txt");
	CHECK(result.do_not_edit_created && result.do_not_edit_updated);
	CHECK(!result.language_bcp47);
	CHECK_STR(result.resolved_language_bcp47, "en-US");
	CHECK_STR(result.timezone_utc_offset, "UTC");
	CHECK_INT(result.next_steps.len, 4);
	CHECK(strstr(mr_str_join(cx.arena, &result.next_steps, "|"), "`afmail import FILE.eml"));
	end();
}

static void doing_it_again_changes_nothing(void)
{
	const char *agents, *config;

	begin();
	init();
	agents = content("AGENTS.md");
	config = content(".afmail/config.json");
	init();
	CHECK(!result.gitignore_created && !result.gitignore_updated);
	CHECK(!result.agent_skill_created && !result.agent_skill_updated);
	CHECK(!result.do_not_edit_created && !result.do_not_edit_updated);
	CHECK(result.workspace_skill_installed);
	CHECK_STR(files(), fresh_files);
	files_hold("AGENTS.md", agents);
	files_hold(".afmail/config.json", config);
	end();
}

static void what_users_wrote_stays(void)
{
	begin();
	init();
	files_put("AGENTS.md", "my text\n");
	files_put(".gitignore", "x\n");
	files_put(".afmail/DO_NOT_EDIT.txt", "mine\n");
	files_put(".codex/skills/agent-first-mail/SKILL.md", "mine\n");
	files_put(".afmail/logs/events.jsonl", "{}\n");
	init();
	CHECK(!result.gitignore_created && result.gitignore_updated);
	CHECK(!result.agent_skill_created && result.agent_skill_updated);
	CHECK(!result.do_not_edit_updated);
	CHECK(!result.workspace_skill_installed);
	CHECK(mr_str_starts(content("AGENTS.md"), "my text\n\n<!-- BEGIN afmail managed -->\n"));
	files_hold(".gitignore", mr_arena_printf(cx.arena, "x\n\n%s", gitignore));
	files_hold(".afmail/DO_NOT_EDIT.txt", "mine\n");
	files_hold(".codex/skills/agent-first-mail/SKILL.md", "mine\n");
	files_hold(".afmail/logs/events.jsonl", "{}\n");
	end();
}

static void workspaces_may_stand_below(void)
{
	begin();
	request.path = "./mail//shop/";
	init();
	CHECK_STR(result.workspace_ref, "mail/shop/");
	CHECK_STR(result.workspace_path, mr_arena_printf(cx.arena, "%s/mail/shop", test_dir()));
	CHECK_STR(result.agent_root_path, test_dir());
	CHECK_STR(result.next_steps.items[0], "Change into the workspace: `cd mail/shop`");
	CHECK(result.workspace_gitignore_created && result.agent_gitignore_created);
	CHECK_STR(files(),
		".codex/skills/agent-first-mail/SKILL.md\n.gitignore\nAGENTS.md\n"
		"mail/shop/.afmail/DO_NOT_EDIT.txt\nmail/shop/.afmail/config.json\n"
		"mail/shop/.afmail/logs/events.jsonl\nmail/shop/.gitignore");
	files_hold(".gitignore",
		"# BEGIN afmail managed\n.codex/skills/agent-first-mail/\n# END afmail managed\n");
	CHECK(!strstr(content("mail/shop/.gitignore"), ".codex"));
	CHECK(strstr(content("mail/shop/.gitignore"), "\n.afmail/push/\n"));
	CHECK(strstr(content("AGENTS.md"), "\nThe mail workspace is in `mail/shop/`.\n"));
	request.path = "home";
	init();
	CHECK_STR(mr_str_join(cx.arena, &result.workspace_paths, "|"), "home/|mail/shop/");
	CHECK(strstr(content("AGENTS.md"), "\n- `home/`\n- `mail/shop/`\n"));
	CHECK(result.agent_skill_updated && !result.agent_gitignore_updated);
	/* One that is gone is no longer listed; the agents' root may be one too. */
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "home", &cx.err), cx.err);
	request.path = NULL;
	init();
	CHECK_STR(mr_str_join(cx.arena, &result.workspace_paths, "|"), ".|mail/shop/");
	files_hold(".gitignore", gitignore);
	end();
}

static void bad_paths_are_refused(void)
{
	static const struct {
		const char *path, *message;
	} cases[] = {
		{ "../x", "the path '../x' leaves the present directory" },
		{ "a/../b", "the path 'a/../b' leaves the present directory" },
		{ "/x", "the path '/x' is absolute" },
		{ "", "the path '' is empty or not UTF-8" },
		{ "\xff", "the path '\xff' is empty or not UTF-8" },
		{ "a\nb", "the path 'a\nb' has control characters" },
		{ "file", "the path 'file' cannot be used: file is not a directory" },
		{ "file/x", "the path 'file/x' cannot be used: file is not a directory" },
		{ "link", "the path 'link' cannot be used: link is not a directory" },
		{ "link/x", "the path 'link/x' cannot be used: link is not a directory" },
	};

	begin();
	files_put("file", "x");
	CHECK_INT(mkdir("real", 0755), 0);
	CHECK_INT(symlink("real", "link"), 0);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		request.path = cases[i].path;
		refused("invalid_request", cases[i].message);
	}
	CHECK_STR(files(), "file\nlink");
	request.path = NULL;
	request.agent = "emacs";
	refused("invalid_request",
		"the agent must be none, all, codex, claude-code, opencode or hermes, not 'emacs'");
	CHECK_STR(files(), "file\nlink");
	end();
}

static void reserved_names_are_refused(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer writer;

	begin();
	CHECK_INT(mkdir("trash", 0755), 0);
	CHECK_INT(mkdir("cases", 0755), 0);
	refused("invalid_request",
		"the present directory is not a workspace, but has names that "
		"one needs: cases/, trash/");
	mr_buf_init(&buf, 1 << 16);
	mr_json_init(&writer, &buf, MR_JSON_COMPACT);
	mr_json_value(&writer, mr_work_trouble(&cx.err)->detail);
	CHECK_STR(mr_buf_text(&buf), "{\"reserved_paths\":[\"cases/\",\"trash/\"]}");
	CHECK_STR(files(), "");
	CHECK_INT(mkdir("sub", 0755), 0);
	CHECK_INT(mkdir("sub/spam", 0755), 0);
	request.path = "sub";
	refused("invalid_request", "sub is not a workspace, but has names that one needs: spam/");
	end();
}

static void broken_blocks_are_refused_before_anything_is_written(void)
{
	static const char *const names[] = { "AGENTS.md", ".gitignore" };
	static const char *const begins[] = { "<!-- BEGIN afmail managed -->",
		"# BEGIN afmail managed" };

	begin();
	for (size_t i = 0; i < MR_LEN(names); i++) {
		files_put(names[i], mr_arena_printf(cx.arena, "%s\n", begins[i]));
		CHECK_INT(mr_work_init(&cx, &request, &result), MR_EFORMAT);
		CHECK_STR(cx.err.word, "managed_block_invalid");
		CHECK_STR(files(), names[i]);
		CHECK_INT(unlink(names[i]), 0);
	}
	end();
}

static void the_skill_can_go_to_another_agent(void)
{
	begin();
	request.agent = "none";
	init();
	CHECK(!result.workspace_skill_installed && !result.workspace_skill_path);
	CHECK(!mr_fs_exists(AT_FDCWD, ".codex"));
	request.agent = "claude";
	init();
	CHECK(result.workspace_skill_installed);
	CHECK_STR(result.workspace_skill_path, ".claude/skills/agent-first-mail/SKILL.md");
	CHECK(strstr(content(".gitignore"), "\n.claude/skills/agent-first-mail/\n"));
	request.agent = "all";
	init();
	CHECK(mr_fs_exists(AT_FDCWD, ".hermes/skills/agent-first-mail/SKILL.md"));
	CHECK(strstr(content(".gitignore"), "\n.hermes/skills/agent-first-mail/\n"));
	CHECK(result.gitignore_updated);
	init();
	CHECK(!result.gitignore_updated);
	end();
}

static void the_configuration_is_used(void)
{
	const char *text;

	begin();
	init();
	text = mr_arena_strdup(cx.arena, content(".afmail/config.json"));
	{
		const char *at = strstr(text, "\"language_bcp47\": null");

		CHECK(at);
		files_put(".afmail/config.json",
			mr_arena_printf(cx.arena, "%.*s\"language_bcp47\": \"zh-Hans\"%s",
				(int)(at - text), text, at + strlen("\"language_bcp47\": null")));
	}
	CHECK_INT(unlink(".afmail/DO_NOT_EDIT.txt"), 0);
	init();
	CHECK_STR(result.language_bcp47, "zh-Hans");
	CHECK_STR(result.resolved_language_bcp47, "zh-Hans");
	CHECK(strstr(content("AGENTS.md"), "邮件工作区"));
	CHECK(strstr(content(".afmail/DO_NOT_EDIT.txt"), "请勿编辑"));
	files_put(".afmail/config.json", "{}");
	refused("config_invalid",
		".afmail/config.json does not have schema_name \"config\" and schema_version 1");
	end();
}

static void own_templates_are_used(void)
{
	static const char agents[] = "templates/en-US/workspace/AGENTS.md.j2";

	begin();
	init();
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "templates/en-US/workspace", 0755, &cx.err), cx.err);
	files_put(agents,
		"# Ours\n\n<!-- BEGIN afmail managed -->\n"
		"{% for path in workspaces %}* in `{{ path }}`\n{% endfor %}"
		"<!-- END afmail managed -->\n\n");
	files_put("templates/en-US/workspace/DO_NOT_EDIT.txt.j2", "hands off\n\n");
	CHECK_INT(unlink(".afmail/DO_NOT_EDIT.txt"), 0);
	init();
	CHECK(result.agent_skill_updated && result.do_not_edit_created);
	CHECK(strstr(content("AGENTS.md"),
		"<!-- BEGIN afmail managed -->\n* in `.`\n<!-- END afmail managed -->\n"));
	CHECK(mr_str_starts(content("AGENTS.md"), "# Mail\n"));
	files_hold(".afmail/DO_NOT_EDIT.txt", "hands off\nLayout version: 1\n");
	files_put(agents, "no block\n");
	refused("managed_block_missing",
		"the template of AGENTS.md has no line \"<!-- BEGIN afmail managed -->\"");
	files_put(agents, "{{ no end\n");
	CHECK(mr_work_init(&cx, &request, &result) != MR_OK);
	CHECK_STR(cx.err.word, "template_render_failed");
	CHECK(strstr(cx.err.msg, "en-US/workspace/AGENTS.md.j2 (workspace)"));
	end();
}

static void a_workspace_in_use_is_left_alone(void)
{
	int lock;

	begin();
	init();
	files_put(".afmail/workspace.lock", "");
	lock = open(".afmail/workspace.lock", O_RDWR | O_CLOEXEC);
	CHECK_INT(flock(lock, LOCK_SH | LOCK_NB), 0);
	CHECK_INT(mr_work_init(&cx, &request, &result), MR_EBUSY);
	CHECK_STR(cx.err.word, "workspace_locked");
	CHECK_INT(close(lock), 0);
	init();
	end();
}

static void a_link_beside_it_stays_one(void)
{
	struct stat st;

	begin();
	files_put("CLAUDE.md", "mine\n");
	CHECK_INT(symlink("CLAUDE.md", "AGENTS.md"), 0);
	init();
	CHECK(lstat("AGENTS.md", &st) == 0 && S_ISLNK(st.st_mode));
	CHECK(mr_str_starts(content("CLAUDE.md"), "mine\n\n<!-- BEGIN afmail managed -->\n"));
	CHECK_INT(unlink("AGENTS.md"), 0);
	CHECK_INT(mkdir("other", 0755), 0);
	files_put("other/AGENTS.md", "x\n");
	CHECK_INT(symlink("other/AGENTS.md", "AGENTS.md"), 0);
	refused("invalid_request", "AGENTS.md is a link to another directory and is not written");
	files_hold("other/AGENTS.md", "x\n");
	end();
}

/* In a process of its own, since passes of a point are counted per process. Was it killed? */
static bool init_is_killed_at(const char *point)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		if (point)
			setenv("MAILROOM_CRASH_AT", point, 1);
		_exit(mr_work_init(&cx, &request, &result) ? 1 : 0);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

/* Cut off at every step, and done again: the same workspace. */
static void a_crash_is_completed_by_the_next(void)
{
	static const char *const made[] = { ".afmail", ".codex", ".gitignore", "AGENTS.md",
		"archive", "cases", "messages", "templates", "triage" };
	int pass = 1;

	begin();
	while (init_is_killed_at(mr_arena_printf(cx.arena, "work.init.step:%d", pass))) {
		CHECK(!init_is_killed_at(NULL));
		CHECK_STR(files(), fresh_files);
		files_hold(".gitignore", gitignore);
		for (size_t i = 0; i < MR_LEN(made); i++)
			CHECK_OK(mr_fs_remove_all(AT_FDCWD, made[i], &cx.err), cx.err);
		CHECK(++pass < 100);
	}
	if (files_fail_at(NULL)) /* a build with crash points */
		CHECK_INT(pass, 17);
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_workspace_is_made),
		TEST(the_result_tells_everything),
		TEST(doing_it_again_changes_nothing),
		TEST(what_users_wrote_stays),
		TEST(workspaces_may_stand_below),
		TEST(bad_paths_are_refused),
		TEST(reserved_names_are_refused),
		TEST(broken_blocks_are_refused_before_anything_is_written),
		TEST(the_skill_can_go_to_another_agent),
		TEST(the_configuration_is_used),
		TEST(own_templates_are_used),
		TEST(a_workspace_in_use_is_left_alone),
		TEST(a_link_beside_it_stays_one),
		TEST(a_crash_is_completed_by_the_next),
	};

	return test_main(tests, MR_LEN(tests));
}
