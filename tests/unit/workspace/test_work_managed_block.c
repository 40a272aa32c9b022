/* tests/unit/workspace/test_work_managed_block.c */
#include "workspace/managed_block.h"

#include "files.h"
#include "test.h"
#include "workspace/error.h"

#include <string.h>

#define BEGIN "# BEGIN afmail managed\n"
#define END   "# END afmail managed\n"

static struct mr_ctx cx;

static enum mr_code merge(const char *old, const char *fresh, const char **out)
{
	struct mr_bytes merged;
	enum mr_code rc = mr_work_block_merge(&cx, ".gitignore", &mr_work_gitignore_markers,
		old ? mr_bytes_text(old) : (struct mr_bytes){ 0 }, mr_bytes_text(fresh), &merged);

	if (!rc)
		*out = mr_arena_strndup(cx.arena, (const char *)merged.data, merged.len);
	return rc;
}

static void the_rest_keeps_its_bytes(void)
{
	static const char fresh[] = "opening\n\n" BEGIN "a\nb\n" END;
	static const struct {
		const char *old, *want;
	} cases[] = {
		{ NULL, fresh },
		{ "", BEGIN "a\nb\n" END },
		{ "mine\n", "mine\n\n" BEGIN "a\nb\n" END },
		{ "mine", "mine\n\n" BEGIN "a\nb\n" END },
		{ "mine\n\n", "mine\n\n" BEGIN "a\nb\n" END },
		{ "mine\n\n\n", "mine\n\n\n" BEGIN "a\nb\n" END },
		{ "x\n" BEGIN "old\nolder\n" END "y", "x\n" BEGIN "a\nb\n" END "y" },
		{ BEGIN END, BEGIN "a\nb\n" END },
		{ BEGIN "# END afmail managed", BEGIN "a\nb\n" END },
		{ "  # BEGIN afmail managed  \nq\n" END "\n", BEGIN "a\nb\n" END "\n" },
		{ "x\r\n# BEGIN afmail managed\r\nq\r\n# END afmail managed\r\ny\r\n",
			"x\r\n# BEGIN afmail managed\r\na\r\nb\r\n# END afmail managed\r\ny\r\n" },
		{ "x\r\n",
			"x\r\n\r\n# BEGIN afmail managed\r\na\r\nb\r\n# END afmail managed\r\n" },
		{ "\r", "\r\n\n" BEGIN "a\nb\n" END },
		{ "x\r\n" BEGIN END, "x\r\n" BEGIN "a\nb\n" END },
		/* A marker within a line is prose. */
		{ "see # BEGIN afmail managed\n",
			"see # BEGIN afmail managed\n\n" BEGIN "a\nb\n" END },
		/* An end alone is the user's. */
		{ END, END "\n" BEGIN "a\nb\n" END },
		/* Only the first block is ours. */
		{ BEGIN "1\n" END BEGIN "2\n" END, BEGIN "a\nb\n" END BEGIN "2\n" END },
	};

	cx = (struct mr_ctx){ .arena = mr_arena_new() };
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *got, *again;

		CHECK_OK(merge(cases[i].old, fresh, &got), cx.err);
		CHECK_STR(got, cases[i].want);
		CHECK_OK(merge(got, fresh, &again), cx.err);
		CHECK_STR(again, got);
	}
	mr_arena_free(cx.arena);
}

static void a_block_must_be_whole(void)
{
	const char *got;

	cx = (struct mr_ctx){ .arena = mr_arena_new() };
	CHECK_ERR(merge("x\n" BEGIN "y\n", BEGIN END, &got), cx.err, MR_EFORMAT,
		".gitignore has the line \"# BEGIN afmail managed\", but no line \"# END afmail "
		"managed\" after it");
	CHECK_STR(cx.err.word, "managed_block_invalid");
	CHECK_ERR(merge(END BEGIN, BEGIN END, &got), cx.err, MR_EFORMAT,
		".gitignore has the line \"# BEGIN afmail managed\", but no line \"# END afmail "
		"managed\" after it");
	CHECK_ERR(merge(NULL, BEGIN, &got), cx.err, MR_EFORMAT,
		"the template of .gitignore has the line \"# BEGIN afmail managed\", but no line "
		"\"# END afmail managed\" after it");
	CHECK_ERR(merge("x", "text\n", &got), cx.err, MR_EFORMAT,
		"the template of .gitignore has no line \"# BEGIN afmail managed\"");
	CHECK_STR(cx.err.word, "managed_block_missing");
	mr_arena_free(cx.arena);
}

static void the_body_can_be_asked_for(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_work_markers *markers = &mr_work_agents_markers;

	CHECK_STR(mr_work_block_body(arena, markers,
			  mr_bytes_text("a\n<!-- BEGIN afmail managed -->\n- .\n- b/\n<!-- END "
					"afmail managed -->\nz")),
		"- .\n- b/\n");
	CHECK(!mr_work_block_body(arena, markers, mr_bytes_text("a\n")));
	CHECK(!mr_work_block_body(arena, markers,
		mr_bytes_text("<!-- BEGIN afmail managed -->\n")));
	CHECK(!mr_work_block_body(arena, markers, (struct mr_bytes){ 0 }));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_rest_keeps_its_bytes),
		TEST(a_block_must_be_whole),
		TEST(the_body_can_be_asked_for),
	};

	return test_main(tests, MR_LEN(tests));
}
