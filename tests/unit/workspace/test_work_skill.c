/* tests/unit/workspace/test_work_skill.c */
#include "workspace/skill.h"

#include "base/fs.h"
#include "files.h"
#include "test.h"
#include "workspace/error.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mr_ctx cx;
static struct mr_work_skill_request request;

static void begin(void)
{
	files_enter();
	cx = (struct mr_ctx){ .arena = mr_arena_new() };
	request = (struct mr_work_skill_request){ .scope = "workspace",
		.around = { .directory = test_dir(), .home = "/nowhere/home" } };
}

static void end(void)
{
	mr_arena_free(cx.arena);
}

static const char *in(const char *path)
{
	return mr_arena_printf(cx.arena, "%s/%s", test_dir(), path);
}

static const char *content(const char *path)
{
	struct mr_bytes bytes;

	CHECK_OK(mr_fs_read(cx.arena, AT_FDCWD, path, 1 << 20, &bytes, &cx.err), cx.err);
	return (const char *)bytes.data;
}

static const char codex_file[] = ".codex/skills/agent-first-mail/SKILL.md";

static void install(void)
{
	struct mr_work_skill_installed installed;

	CHECK_OK(mr_work_skill_install(&cx, &request, &installed), cx.err);
	CHECK(installed.installed && installed.hint);
	CHECK_STR(installed.skill, "agent-first-mail");
}

static void it_is_installed_seen_and_removed(void)
{
	struct mr_work_skill_status status;
	struct mr_work_skill_uninstalled removed;
	const struct mr_work_skill_target *target;

	begin();
	request.agent = "claude";
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK(!status.installed_all && !status.valid_all && !status.current_all);
	CHECK(!status.targets[0].validation_error);
	install();
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK(status.installed_all && status.valid_all && status.current_all);
	CHECK_INT(status.target_count, 1);
	target = &status.targets[0];
	CHECK_STR(target->agent, "claude-code");
	CHECK_STR(target->scope, "workspace");
	CHECK_STR(target->skills_dir, in(".claude/skills"));
	CHECK_STR(target->skill_dir, in(".claude/skills/agent-first-mail"));
	CHECK_STR(target->skill_path, in(".claude/skills/agent-first-mail/SKILL.md"));
	CHECK(target->installed && target->managed && target->valid && target->current);
	CHECK(!target->validation_error);
	install(); /* again */
	files_hold(".gitignore",
		"# BEGIN afmail managed\n.claude/skills/agent-first-mail/\n# END afmail managed\n");

	CHECK_OK(mr_work_skill_uninstall(&cx, &request, &removed), cx.err);
	CHECK(removed.removed_any && removed.targets[0].removed);
	CHECK(!mr_fs_exists(AT_FDCWD, ".claude/skills/agent-first-mail"));
	files_hold(".gitignore", "# BEGIN afmail managed\n# END afmail managed\n");
	CHECK_OK(mr_work_skill_uninstall(&cx, &request, &removed), cx.err);
	CHECK(!removed.removed_any && !removed.targets[0].removed);
	end();
}

static void all_agents_are_four(void)
{
	static const char *const names[] = { "codex", "claude-code", "opencode", "hermes" };
	struct mr_work_skill_status status;

	begin();
	request.agent = "codex";
	install();
	request.agent = NULL;
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK_INT(status.target_count, MR_LEN(names));
	CHECK(!status.installed_all);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		CHECK_STR(status.targets[i].agent, names[i]);
		CHECK_INT(status.targets[i].installed, i == 0);
	}
	install();
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK(status.installed_all && status.valid_all && status.current_all);
	end();
}

static void another_directory_is_for_one_agent(void)
{
	struct mr_work_skill_status status;

	begin();
	request.scope = "personal";
	request.skills_dir = "d";
	CHECK_ERR(mr_work_skill_status(&cx, &request, &status), cx.err, MR_EINVAL,
		"--skills-dir is the directory of one agent, so it needs --agent");
	CHECK_STR(cx.err.word, "invalid_request");
	CHECK_STR(mr_work_trouble(&cx.err)->hint, "Name the agent with --agent.");
	request.agent = "hermes";
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK_STR(status.targets[0].skills_dir, in("d"));
	request.skills_dir = "~/s";
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK_STR(status.targets[0].skills_dir, "/nowhere/home/s");
	request.skills_dir = "/abs";
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK_STR(status.targets[0].skill_dir, "/abs/agent-first-mail");
	request.skills_dir = "";
	CHECK_ERR(mr_work_skill_status(&cx, &request, &status), cx.err, MR_EINVAL,
		"--skills-dir must not be empty");
	request.skills_dir = NULL;
	request.agent = "emacs";
	CHECK_ERR(mr_work_skill_status(&cx, &request, &status), cx.err, MR_EINVAL,
		"the agent must be all, codex, claude-code, opencode or hermes, not 'emacs'");
	request.agent = NULL;
	request.scope = "galaxy";
	CHECK_ERR(mr_work_skill_status(&cx, &request, &status), cx.err, MR_EINVAL,
		"the scope must be personal or workspace, not 'galaxy'");
	end();
}

static void what_others_wrote_stays(void)
{
	struct mr_work_skill_installed installed;
	struct mr_work_skill_uninstalled removed;
	struct mr_work_skill_status status;
	static const char mine[] = "---\nname: agent-first-mail\ndescription: mine\n---\nmine\n";

	begin();
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, ".hermes/skills/agent-first-mail", 0755, &cx.err),
		cx.err);
	files_put(".hermes/skills/agent-first-mail/SKILL.md", mine);
	CHECK_ERR(mr_work_skill_install(&cx, &request, &installed), cx.err, MR_EINVAL,
		mr_arena_printf(cx.arena, "%s was not written by this program",
			in(".hermes/skills/agent-first-mail/SKILL.md")));
	CHECK_STR(mr_work_trouble(&cx.err)->hint,
		"Overwrite it with --force, or move it out of the way.");
	CHECK(!mr_fs_exists(AT_FDCWD, codex_file)); /* nothing was written */
	request.agent = "hermes";
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK(status.targets[0].installed && status.targets[0].valid);
	CHECK(!status.targets[0].managed && !status.targets[0].current);
	CHECK_ERR(mr_work_skill_uninstall(&cx, &request, &removed), cx.err, MR_EINVAL,
		mr_arena_printf(cx.arena, "%s was not written by this program",
			in(".hermes/skills/agent-first-mail/SKILL.md")));
	CHECK_STR(mr_work_trouble(&cx.err)->hint, "Remove it with --force, or by hand.");
	files_hold(".hermes/skills/agent-first-mail/SKILL.md", mine);
	request.force = true;
	install();
	files_put(".hermes/skills/agent-first-mail/other", "x");
	CHECK_OK(mr_work_skill_uninstall(&cx, &request, &removed), cx.err);
	CHECK(removed.removed_any);
	files_hold(".hermes/skills/agent-first-mail/other", "x");
	end();
}

static void a_link_is_not_written_through(void)
{
	struct mr_work_skill_installed installed;

	begin();
	request.agent = "codex";
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, ".codex/skills/agent-first-mail", 0755, &cx.err),
		cx.err);
	files_put("elsewhere", "x");
	CHECK_INT(symlink("../../../elsewhere", codex_file), 0);
	CHECK_ERR(mr_work_skill_install(&cx, &request, &installed), cx.err, MR_EINVAL,
		mr_arena_printf(cx.arena, "%s is a link", in(codex_file)));
	request.force = true;
	install();
	files_hold("elsewhere", "x");
	end();
}

static void the_document_says_who_wrote_it(void)
{
	const char *text;

	begin();
	request.agent = "codex";
	install();
	text = content(codex_file);
	CHECK(mr_str_starts(text, "---\nname: agent-first-mail\ndescription: "));
	CHECK(strstr(text, "\n---\n<!--\nGenerated by afmail skill install"));
	CHECK(strstr(text,
		"\nafmail-managed-skill: true\n"
		"afmail-managed-skill-name: agent-first-mail\n"
		"afmail-managed-skill-source-hash-fnv1a64: "));
	CHECK(strstr(text, "push --confirm"));
	end();
}

static void what_agents_cannot_load_is_told(void)
{
	struct mr_work_skill_status status;

	begin();
	request.agent = "codex";
	install();
	files_put(codex_file, "broken");
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK(status.targets[0].installed && !status.targets[0].valid);
	CHECK_STR(status.targets[0].validation_error,
		"it does not begin with front matter between two lines \"---\"");
	CHECK_INT(unlink(codex_file), 0);
	CHECK_INT(mkdir(codex_file, 0755), 0);
	CHECK_OK(mr_work_skill_status(&cx, &request, &status), cx.err);
	CHECK(status.targets[0].validation_error && !status.valid_all);
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(it_is_installed_seen_and_removed),
		TEST(all_agents_are_four),
		TEST(another_directory_is_for_one_agent),
		TEST(what_others_wrote_stays),
		TEST(a_link_is_not_written_through),
		TEST(the_document_says_who_wrote_it),
		TEST(what_agents_cannot_load_is_told),
	};

	return test_main(tests, MR_LEN(tests));
}
