/* tests/unit/text/test_file_name.c */
#include "test.h"
#include "text/file_name.h"

#include <string.h>

static void makes_names_safe(void)
{
	static const struct {
		const char *name;
		const char *want;
	} cases[] = {
		{ "../../evil?.png", ".._.._evil_.png" },
		{ "../caf\u00e9?.png", ".._caf\u00e9_.png" },
		{ "\u516c\u53f8\u8d44\u6599?.txt", "\u516c\u53f8\u8d44\u6599_.txt" },
		{ "..", "_" },
		{ ".", "_" },
		{ "...", "_" },
		{ "", "attachment" },
		{ " \t\u3000", "attachment" },
		{ "  a b.txt ", "a b.txt" },
		{ "/etc/passwd", "_etc_passwd" },
		{ "a<>:\"/\\|?*b", "a_________b" },
		{ "a\nb\x1b\x7f\xc2\x85x", "a_b___x" },
		{ "CON", "_" },
		{ "nul.txt", "_" },
		{ "Com1.log", "_" },
		{ "console", "console" },
		{ "com10", "com10" },
		{ "name..", "name_" },
		{ "name. .x", "name. .x" },
		{ ".hidden", ".hidden" },
		{ "exe\u202efdp.txt", "exe_fdp.txt" },
		{ "a\xff\xc3", "a__" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_file_name_safe(arena, cases[i].name, "attachment"), cases[i].want);
}

static void cuts_long_names(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char name[400];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	CHECK_INT(strlen(mr_file_name_safe(arena, name, "x")), MR_FILE_NAME_BYTES);
	memcpy(name + 254, "\u00e9", 2);
	CHECK_INT(strlen(mr_file_name_safe(arena, name, "x")), MR_FILE_NAME_BYTES - 1);
	memset(name + 250, '.', 10);
	CHECK_INT(strlen(mr_file_name_safe(arena, name, "x")), 251);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(makes_names_safe),
		TEST(cuts_long_names),
	};

	return test_main(tests, MR_LEN(tests));
}
