/* tests/unit/workspace/test_work_persona.c */
#include "workspace/persona.h"

#include "test.h"

static struct mr_arena *arena;

static void persona_files_are_read_leniently(void)
{
	static const char *const files[] = {
		"---\nkind: identity\nidentity: 007\nname: Yes\nfooter:\n---",
		"---\r\nkind: identity\r\nidentity: \"007\"\r\nname: \"Yes\"\r\n---\r\n\r\n",
	};

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(files); i++) {
		struct mr_work_persona persona;
		struct mr_err err;

		CHECK_OK(mr_work_persona_read(arena, mr_bytes_text(files[i]), &persona, &err), err);
		CHECK_STR(persona.identity, "007");
		CHECK_STR(persona.name, "Yes");
		CHECK(!persona.footer && !persona.notes);
	}
	mr_arena_free(arena);
}

static void footers_and_notes_are_tidied(void)
{
	static const struct {
		const char *footer, *notes, *want_footer, *want_notes;
	} cases[] = {
		{ "\"\\n\\nBest\\n Team \\n\\n\"", "\n\n a\n\nb \n\n", "Best\n Team", " a\n\nb" },
		{ "\"\\n \\n\"", " \n", NULL, NULL },
		{ "|\n  -- \n  Max", "x\r\n", "-- \nMax", "x" },
	};

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *file = mr_arena_printf(arena,
			"---\nkind: identity\nidentity: me\nfooter: %s\n---\n%s", cases[i].footer,
			cases[i].notes);
		struct mr_work_persona persona;
		struct mr_err err;

		CHECK_OK(mr_work_persona_read(arena, mr_bytes_text(file), &persona, &err), err);
		CHECK_STR(persona.footer, cases[i].want_footer);
		CHECK_STR(persona.notes, cases[i].want_notes);
	}
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(persona_files_are_read_leniently),
		TEST(footers_and_notes_are_tidied),
	};

	return test_main(tests, MR_LEN(tests));
}
