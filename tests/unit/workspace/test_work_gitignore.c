/* tests/unit/workspace/test_work_gitignore.c */
#include "workspace/gitignore.h"

#include "base/fs.h"
#include "files.h"
#include "test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mr_ctx cx;

static const char *plan(bool is_workspace, const char *agent, struct mr_work_planned *out)
{
	CHECK_OK(mr_work_gitignore_plan(&cx, AT_FDCWD, is_workspace, agent, out), cx.err);
	return mr_arena_strndup(cx.arena, (const char *)out->bytes.data, out->bytes.len);
}

static void skills_that_are_there_are_listed(void)
{
	struct mr_work_planned planned;

	files_enter();
	cx = (struct mr_ctx){ .arena = mr_arena_new() };
	CHECK(!mr_work_gitignore_is_managed(&cx, AT_FDCWD));
	CHECK_STR(plan(false, NULL, &planned), "# BEGIN afmail managed\n# END afmail managed\n");
	CHECK(planned.is_created && !planned.is_updated);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, ".opencode/skills/agent-first-mail", 0755, &cx.err),
		cx.err);
	CHECK_STR(plan(false, "claude", &planned),
		"# BEGIN afmail managed\n.claude/skills/agent-first-mail/\n"
		".opencode/skills/agent-first-mail/\n# END afmail managed\n");
	CHECK(strstr(plan(true, NULL, &planned), "\n.afmail/index.sqlite*\n"));
	CHECK(!strstr(plan(true, NULL, &planned), "\n.afmail/messages/"));
	CHECK_OK(mr_work_plan_carry_out(&cx, AT_FDCWD, &planned), cx.err);
	CHECK(mr_work_gitignore_is_managed(&cx, AT_FDCWD));
	(void)plan(true, NULL, &planned);
	CHECK(!planned.is_created && !planned.is_updated);
	mr_arena_free(cx.arena);
}

static void links_are_kept_or_refused(void)
{
	struct mr_work_planned planned;
	struct stat st;

	files_enter();
	cx = (struct mr_ctx){ .arena = mr_arena_new() };
	files_put("rules", "x\n");
	CHECK_INT(symlink("rules", ".gitignore"), 0);
	(void)plan(false, NULL, &planned);
	CHECK(planned.is_updated);
	CHECK_OK(mr_work_plan_carry_out(&cx, AT_FDCWD, &planned), cx.err);
	CHECK(lstat(".gitignore", &st) == 0 && S_ISLNK(st.st_mode));
	files_hold("rules", "x\n\n# BEGIN afmail managed\n# END afmail managed\n");
	CHECK_INT(unlink(".gitignore"), 0);
	CHECK_INT(symlink("../rules", ".gitignore"), 0);
	CHECK_ERR(mr_work_gitignore_plan(&cx, AT_FDCWD, false, NULL, &planned), cx.err, MR_EINVAL,
		".gitignore is a link to another directory and is not written");
	mr_arena_free(cx.arena);
}

static void what_cannot_be_read_is_a_failure(void)
{
	struct mr_work_planned planned;

	files_enter();
	cx = (struct mr_ctx){ .arena = mr_arena_new() };
	CHECK_INT(mkdir(".gitignore", 0755), 0);
	CHECK(mr_work_gitignore_plan(&cx, AT_FDCWD, false, NULL, &planned) != MR_OK);
	CHECK_STR(cx.err.word, "store_error");
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(skills_that_are_there_are_listed),
		TEST(links_are_kept_or_refused),
		TEST(what_cannot_be_read_is_a_failure),
	};

	return test_main(tests, MR_LEN(tests));
}
