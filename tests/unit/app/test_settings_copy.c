/* tests/unit/app/test_settings_copy.c */
#include "app/settings_copy.h"

#include "base/fs.h"
#include "files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct mr_bytes copy(struct mr_arena *arena, const char *text, bool with_secrets)
{
	struct mr_bytes bytes;
	const char *path;
	struct mr_err err;

	files_enter();
	setenv("XDG_CONFIG_HOME", test_dir(), 1);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "mailroom", 0700, &err), err);
	if (text)
		files_put("mailroom/mailroom.yaml", text);
	CHECK_OK(mr_settings_copy(arena, with_secrets, &path, &bytes, &err), err);
	CHECK_STR(path, mr_arena_printf(arena, "%s/mailroom/mailroom.yaml", test_dir()));
	return bytes;
}

static void copies(const char *text, bool with_secrets, const char *want)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes bytes = copy(arena, text, with_secrets);

	CHECK_STR(mr_arena_strndup(arena, (const char *)bytes.data, bytes.len), want);
}

static void a_file_without_secrets_keeps_its_bytes(void)
{
	copies("# mine\nhttp: {port: 9}\n", false, "# mine\nhttp: {port: 9}\n");
}

static void secrets_are_left_out(void)
{
	copies("http:\n  port: 9\n  bearer_token: sesame # mine\nllm.key: x\n", false,
		"# Secrets were left out of this copy.\nhttp:\n  port: 9\n");
}

static void secrets_stay_when_they_are_wanted(void)
{
	copies("http: {bearer_token: sesame}\n", true, "http: {bearer_token: sesame}\n");
}

static void no_file_is_no_data(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK(!copy(arena, NULL, false).data);
}

static void without_a_home_there_is_no_path(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", "/h", 1);
	CHECK_STR(mr_settings_own_path(arena), "/h/.config/mailroom/mailroom.yaml");
	unsetenv("HOME");
	CHECK(!mr_settings_own_path(arena));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_file_without_secrets_keeps_its_bytes),
		TEST(secrets_are_left_out),
		TEST(secrets_stay_when_they_are_wanted),
		TEST(no_file_is_no_data),
		TEST(without_a_home_there_is_no_path),
	};

	return test_main(tests, MR_LEN(tests));
}
