/* tests/unit/surface/test_web_template_set.c */
#include "surface/web/template_set.h"

#include "surface/web/files.h"
#include "test.h"
#include "text/out.h"

#include <pthread.h>
#include <string.h>

/* What the frame of each page needs: values of maps that are not there are errors. */
static const struct mr_value *values(struct mr_arena *arena)
{
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_map(&out, "given");
	mr_out_end(&out);
	mr_out_map(&out, "who");
	mr_out_end(&out);
	mr_out_text(&out, "message", "<b>This</b> is what was wrong");
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* A template that no page has asked for yet would show its faults to somebody who looks at it. */
static void every_template_can_be_parsed(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_web_templates *templates = mr_web_templates_new();

	CHECK(mr_web_template_files_count > 0);
	for (size_t i = 0; i < mr_web_template_files_count; i++) {
		struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_err err = { 0 };

		mr_buf_init(&out, 1 << 20);
		/* Without its own values a page may fail when it is rendered: MR_EINVAL. */
		if (mr_web_templates_render(templates, mr_web_template_files[i].name, values(arena),
			    &out, &err) == MR_EFORMAT)
			CHECK_STR(err.msg, "");
	}
	mr_web_templates_free(templates);
}

static void a_template_that_is_not_there_is_named(void)
{
	struct mr_web_templates *templates = mr_web_templates_new();
	const struct mr_value nothing = { .kind = MR_MAP };
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&out, 1 << 20);
	CHECK_INT(mr_web_templates_render(templates, "none.html", &nothing, &out, &err),
		MR_ENOTFOUND);
	CHECK_STR(err.msg, "there is no page template none.html");
	mr_web_templates_free(templates);
	mr_web_templates_free(NULL);
}

static void *render_error_page(void *arg)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;
	bool failed;

	mr_buf_init(&out, 1 << 20);
	failed = mr_web_templates_render(arg, "error.html", values(arena), &out, &err) != MR_OK;
	return failed || !strstr(mr_buf_text(&out), "&lt;b&gt;This&lt;/b&gt;") ? arg : NULL;
}

static void threads_can_need_the_same_template_at_once(void)
{
	struct mr_web_templates *templates = mr_web_templates_new();
	pthread_t threads[8];
	void *failed;

	for (size_t i = 0; i < MR_LEN(threads); i++)
		CHECK(pthread_create(&threads[i], NULL, render_error_page, templates) == 0);
	for (size_t i = 0; i < MR_LEN(threads); i++) {
		pthread_join(threads[i], &failed);
		CHECK(!failed);
	}
	mr_web_templates_free(templates);
}

int main(void)
{
	static const struct test tests[] = { TEST(every_template_can_be_parsed),
		TEST(a_template_that_is_not_there_is_named),
		TEST(threads_can_need_the_same_template_at_once) };

	return test_main(tests, MR_LEN(tests));
}
