/* tests/unit/workspace/test_work_templates.c */
#include "workspace/templates.h"

#include "post.h"
#include "test.h"
#include "text/out.h"
#include "workspace/refresh.h"

#include <string.h>
#include <unistd.h>

#define TRIAGE_EN "templates/en-US/triage/view.md.j2"
#define TRIAGE_ZH "templates/zh-CN/triage/view.md.j2"

/* {"view": {"title": title}} */
static const struct mr_value *context(struct desk *desk, const char *title)
{
	struct mr_out out;

	mr_out_init_tree(&out, desk->cx.arena);
	mr_out_map(&out, NULL);
	mr_out_map(&out, "view");
	mr_out_text(&out, "title", title);
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static const char *render(struct desk *desk, enum mr_work_template which, const char *title)
{
	const char *text = NULL;

	CHECK_OK(mr_work_template_render(&desk->cx, desk->work, which, context(desk, title), &text),
		desk->cx.err);
	return text;
}

static void builtin(void)
{
	const struct mr_work_template_use *use;
	const char *text = NULL;
	struct desk desk;

	post_open(&desk);
	CHECK_INT(mr_work_template_use(desk.work)->builtin[MR_WORK_T_NOTES], 0);
	CHECK_STR(render(&desk, MR_WORK_T_NOTES, "x"), "# Notes\n\n");
	CHECK_STR(render(&desk, MR_WORK_T_NOTES, "x"), "# Notes\n\n");
	CHECK_OK(mr_work_template_render_in(&desk.cx, desk.work, MR_WORK_ZH_CN, MR_WORK_T_NOTES,
			 context(&desk, "x"), &text),
		desk.cx.err);
	CHECK_STR(text, "# 备注\n\n");
	use = mr_work_template_use(desk.work);
	CHECK_INT(use->builtin[MR_WORK_T_NOTES], 3);
	CHECK_INT(use->workspace[MR_WORK_T_NOTES], 0);
	desk_close(&desk);
}

/* All keys have a source in both languages that parses. */
static void all_parse(void)
{
	struct desk desk;

	post_open(&desk);
	CHECK_OK(mr_work_template_warm(&desk.cx, desk.work), desk.cx.err);
	post_set(&desk, "workspace.language_bcp47", "zh-CN");
	CHECK_OK(mr_work_template_warm(&desk.cx, desk.work), desk.cx.err);
	CHECK(!mr_work_template_keys[MR_WORK_T_COUNT]);
	for (int i = 0; i < MR_WORK_T_COUNT; i++)
		CHECK(mr_str_ends(mr_work_template_keys[i], ".j2"));
	desk_close(&desk);
}

static void own(void)
{
	const struct mr_work_template_use *use;
	const char *text = NULL;
	struct desk desk;

	post_open(&desk);
	desk_put(TRIAGE_EN, "Mine: {{ view.title }}\n");
	desk_put(TRIAGE_ZH, "我的: {{ view.title }}\n");
	CHECK_STR(render(&desk, MR_WORK_T_TRIAGE, "a"), "Mine: a");
	CHECK_STR(render(&desk, MR_WORK_T_TRIAGE, "b"), "Mine: b");
	CHECK_STR(render(&desk, MR_WORK_T_NOTES, "x"), "# Notes\n\n");
	CHECK_OK(mr_work_template_render_in(&desk.cx, desk.work, MR_WORK_ZH_CN, MR_WORK_T_TRIAGE,
			 context(&desk, "c"), &text),
		desk.cx.err);
	CHECK_STR(text, "我的: c");
	use = mr_work_template_use(desk.work);
	CHECK_INT(use->workspace[MR_WORK_T_TRIAGE], 3);
	CHECK_INT(use->builtin[MR_WORK_T_TRIAGE], 0);
	CHECK_INT(use->builtin[MR_WORK_T_NOTES], 1);
	/* An empty one is one, too; without it the built-in one is back. */
	desk_put(TRIAGE_EN, "");
	desk_next(&desk);
	CHECK_STR(render(&desk, MR_WORK_T_TRIAGE, "a"), "");
	CHECK(unlink(TRIAGE_EN) == 0);
	desk_next(&desk);
	CHECK_STR(render(&desk, MR_WORK_T_NOTES, "x"), "# Notes\n\n");
	CHECK_INT(mr_work_template_use(desk.work)->builtin[MR_WORK_T_NOTES], 1);
	desk_close(&desk);
}

static void set_use(void)
{
	struct mr_work_template_use none = { 0 };
	struct desk desk;

	post_open(&desk);
	mr_work_template_set_use(desk.work, &none); /* before anything was rendered */
	render(&desk, MR_WORK_T_NOTES, "x");
	mr_work_template_set_use(desk.work, &none);
	CHECK_INT(mr_work_template_use(desk.work)->builtin[MR_WORK_T_NOTES], 0);
	desk_close(&desk);
}

/* Is the present view what was there before? A template that fails writes nothing. */
static void check_broken(struct desk *desk, const char *source, const char *what)
{
	struct mr_work_refreshed refreshed;
	const char *before = desk_text(desk, "triage/" PLAIN ".md");

	desk_put(TRIAGE_EN, source);
	desk_next(desk);
	desk_check_fail(desk, mr_work_refresh_all(&desk->cx, desk->work, &refreshed),
		"template_render_failed", NULL, NULL);
	CHECK(mr_str_starts(desk->cx.err.msg, "template en-US/triage/view.md.j2 (workspace): "));
	if (!strstr(desk->cx.err.msg, what))
		test_fail(__FILE__, __LINE__, "%s lacks %s", desk->cx.err.msg, what);
	CHECK_STR(desk_text(desk, "triage/" PLAIN ".md"), before);
}

static void broken(void)
{
	struct mr_work_refreshed refreshed;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	check_broken(&desk, "{% if %}", "");
	check_broken(&desk, "{{ nope.deeper }}", "'deeper' of an undefined value");
	check_broken(&desk, "{{ view.title|nofilter }}", "nofilter");
	check_broken(&desk, "{% for x in view %}", "");
	/* Taken away, all is well again. */
	CHECK(unlink(TRIAGE_EN) == 0);
	desk_next(&desk);
	POST_OK(&desk, mr_work_refresh_all(&desk.cx, desk.work, &refreshed));
	desk_close(&desk);
}

/* A template that is not UTF-8, or is a directory, is told by name and not passed over. */
static void unreadable(void)
{
	const char *text = NULL;
	struct desk desk;

	post_open(&desk);
	desk_put(TRIAGE_EN "/x", "a directory");
	desk_check_fail(&desk,
		mr_work_template_render(&desk.cx, desk.work, MR_WORK_T_TRIAGE, context(&desk, "x"),
			&text),
		"store_error", NULL, NULL);
	CHECK(strstr(desk.cx.err.msg, TRIAGE_EN));
	desk_close(&desk);
}

static void exported(void)
{
	struct mr_work_templates_export request = { 0 };
	struct mr_work_templates_exported done = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put(TRIAGE_EN, "mine");
	POST_OK(&desk, mr_work_templates_export(&desk.cx, desk.work, &request, &done));
	CHECK_INT(done.exported_count, 27);
	CHECK_INT(done.kept_count, 1);
	CHECK_STR(desk_text(&desk, TRIAGE_EN), "mine");
	CHECK(desk_has("templates/zh-CN/status/message.md.j2"));
	request.force = true;
	POST_OK(&desk, mr_work_templates_export(&desk.cx, desk.work, &request, &done));
	CHECK_INT(done.overwritten_count, 28);
	CHECK(strstr(desk_text(&desk, TRIAGE_EN), "kind: {{ frontmatter.kind }}"));
	desk_close(&desk);
}

static void not_exported(void)
{
	struct mr_work_templates_export request = { 0 };
	struct mr_work_templates_exported done = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("templates/zh-CN", "a file");
	desk_check_fail(&desk, mr_work_templates_export(&desk.cx, desk.work, &request, &done),
		"template_dir_invalid", NULL, NULL);
	CHECK(!desk_has("templates/en-US"));
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(builtin), TEST(all_parse), TEST(own), TEST(set_use),
		TEST(broken), TEST(unreadable), TEST(exported), TEST(not_exported) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
