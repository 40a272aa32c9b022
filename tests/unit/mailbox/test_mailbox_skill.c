/* tests/unit/mailbox/test_mailbox_skill.c */
#include "mailbox/skill.h"

#include "base/fs.h"

#include "post.h"
#include "test.h"

#define HOME "home"

static struct mr_mailbox_skills status_of(struct post *post,
	const struct mr_mailbox_skill_request *request)
{
	struct mr_mailbox_skills found = { NULL, 0 };

	CHECK_OK(mr_mailbox_skill_status(&post->cx, request, &found), post->cx.err);
	return found;
}

static void a_home_is_needed(void)
{
	struct post post;
	struct mr_mailbox_skill_request request = { .directory = "/" };
	struct mr_mailbox_skills out = { NULL, 7 };

	post_open(&post);
	CHECK_INT(mr_mailbox_skill_status(&post.cx, &request, &out), MR_ENOTFOUND);
	request.home = "/x";
	CHECK_INT(mr_mailbox_skill_install(&post.cx, &request, &out), MR_EINVAL);
	request.tool = "vi";
	CHECK_INT(mr_mailbox_skill_install(&post.cx, &request, &out), MR_EINVAL);
	CHECK_STR(post.cx.err.msg, "the tool must be claude, codex or gemini, not 'vi'");
	CHECK_INT(out.len, 7);
	request.tool = "gemini";
	CHECK_STR(status_of(&post, &request).items[0].path,
		"/x/.gemini/skills/houmao-process-emails-via-gateway/SKILL.md");
	post_close(&post);
}

static void variables_name_homes(void)
{
	struct post post;
	const struct mr_mailbox_skill_request request = {
		.tool = "codex",
		.directory = "/",
		.user_home = "/u",
		.codex_home = "/c",
	};
	struct mr_mailbox_skill_request usual = request;

	post_open(&post);
	CHECK_STR(status_of(&post, &request).items[1].path,
		"/c/skills/houmao-agent-email-comms/SKILL.md");
	usual.codex_home = "";
	CHECK_STR(status_of(&post, &usual).items[1].path,
		"/u/.codex/skills/houmao-agent-email-comms/SKILL.md");
	post_close(&post);
}

static void in_and_out(void)
{
	struct post post;
	struct mr_mailbox_skill_request request = { .tool = "claude", .home = HOME };
	struct mr_mailbox_skills out = { NULL, 0 };

	post_open(&post);
	request.directory = post.dir;
	CHECK_OK(mr_mailbox_skill_install(&post.cx, &request, &out), post.cx.err);
	CHECK_INT(out.len, 2);
	for (size_t i = 0; i < out.len; i++) {
		CHECK_STR(out.items[i].action, "installed");
		CHECK_INT(out.items[i].state, MR_MAILBOX_SKILL_CURRENT);
		CHECK(!out.items[i].problem);
	}
	CHECK_OK(mr_fs_write(AT_FDCWD, out.items[0].path, mr_bytes_text("mine\n"), MR_FS_REPLACE,
			 0644, &post.cx.err),
		post.cx.err);
	CHECK_INT(status_of(&post, &request).items[0].state, MR_MAILBOX_SKILL_EDITED);
	CHECK_OK(mr_mailbox_skill_uninstall(&post.cx, &request, &out), post.cx.err);
	CHECK_STR(out.items[0].action, "kept");
	CHECK_STR(out.items[1].action, "removed");
	request.force = true;
	CHECK_OK(mr_mailbox_skill_uninstall(&post.cx, &request, &out), post.cx.err);
	CHECK_STR(out.items[0].action, "removed");
	CHECK_STR(out.items[1].action, "absent");
	post_close(&post);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_home_is_needed),
		TEST(variables_name_homes),
		TEST(in_and_out),
	};

	return test_main(tests, MR_LEN(tests));
}
