/* tests/unit/workspace/test_work_templates_builtin.c */
#include "workspace/templates_builtin.h"

#include "base/fs.h"
#include "test.h"
#include "text/json.h"
#include "text/template.h"

#include <fcntl.h>
#include <string.h>

/* {"language", "key", "context", "text", "lines"?} each: "lines" are recorded lines of views that
 * any program of this contract writes, "text" is what ours writes. */
static const char views_path[] = TEST_CORPUS "/../../unit/workspace/template_views.json";

enum { VIEWS_BYTES = 1 << 20 };

static const struct mr_value *read_views(struct mr_arena *arena)
{
	const struct mr_value *views;
	struct mr_bytes bytes;
	struct mr_err err;

	CHECK_OK(mr_fs_read(arena, AT_FDCWD, views_path, VIEWS_BYTES, &bytes, &err), err);
	CHECK_OK(mr_json_parse(arena, bytes, NULL, &views, &err), err);
	CHECK(views->kind == MR_LIST && views->list.len > 0);
	return views;
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	return mr_value_get(map, key)->text;
}

static const char *render(struct mr_arena *arena, const struct mr_value *view, struct mr_buf *out)
{
	const char *key = text_of(view, "key");
	struct mr_bytes source = mr_work_template_source(text_of(view, "language"), key);
	const struct mr_template *template;
	struct mr_err err;

	CHECK(source.len > 0);
	CHECK_OK(mr_template_parse(arena, key, source, NULL, &template, &err), err);
	mr_buf_init(out, VIEWS_BYTES);
	CHECK_OK(mr_template_render(template, mr_value_get(view, "context"), NULL, out, &err), err);
	return mr_buf_text(out);
}

/* The place after `line`, a whole line of `text`; NULL when it is not there. */
static const char *after_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; *at;) {
		const char *end = strchrnul(at, '\n');

		if ((size_t)(end - at) == len && memcmp(at, line, len) == 0)
			return end;
		at = *end ? end + 1 : end;
	}
	return NULL;
}

static void views_have_the_recorded_lines(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *views = read_views(arena);
	size_t checked = 0;

	for (size_t i = 0; i < views->list.len; i++) {
		const struct mr_value *view = &views->list.items[i];
		const struct mr_value *lines = mr_value_get(view, "lines");
		struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
		const char *at = render(arena, view, &out);

		for (size_t j = 0; lines && j < lines->list.len; j++) {
			at = after_line(at, lines->list.items[j].text);
			if (!at)
				test_fail(__FILE__, __LINE__, "%s: no line \"%s\"",
					text_of(view, "key"), lines->list.items[j].text);
			checked++;
		}
	}
	CHECK(checked > 100);
}

static void views_are_written_as_before(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *views = read_views(arena);

	for (size_t i = 0; i < views->list.len; i++) {
		struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

		CHECK_STR(render(arena, &views->list.items[i], &out),
			text_of(&views->list.items[i], "text"));
	}
}

static void every_template_is_rendered_by_these_tests(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *views = read_views(arena);

	CHECK_INT(mr_work_template_files_count, 28);
	for (size_t i = 0; i < mr_work_template_files_count; i++) {
		bool found = false;

		for (size_t j = 0; j < views->list.len && !found; j++) {
			const struct mr_value *view = &views->list.items[j];

			found = mr_str_eq(mr_work_template_files[i].path,
				mr_arena_printf(arena, "%s/%s", text_of(view, "language"),
					text_of(view, "key")));
		}
		if (!found)
			test_fail(__FILE__, __LINE__, "no view of %s",
				mr_work_template_files[i].path);
	}
}

static void what_is_not_there_has_no_source(void)
{
	CHECK_INT(mr_work_template_source("en-US", "triage/view").len, 0);
	CHECK_INT(mr_work_template_source("en", "triage/view.md.j2").len, 0);
	CHECK_INT(mr_work_template_source("de-DE", "triage/view.md.j2").len, 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(views_have_the_recorded_lines),
		TEST(views_are_written_as_before),
		TEST(every_template_is_rendered_by_these_tests),
		TEST(what_is_not_there_has_no_source),
	};

	return test_main(tests, MR_LEN(tests));
}
