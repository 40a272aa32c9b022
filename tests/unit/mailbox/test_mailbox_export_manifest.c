#include "base/fs.h"
#include "files.h"
#include "mailbox/export_manifest.h"
#include "post.h"
#include "test.h"
#include "text/json.h"

static const struct mr_value *list_of(const struct mr_value *manifest, const char *key)
{
	const struct mr_value *list = mr_value_get(manifest, key);

	CHECK(list && list->kind == MR_LIST);
	return list;
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	CHECK(value != NULL);
	return value->kind == MR_TEXT ? value->text : NULL;
}

/* A list too long for memory goes through a file. */
static void long_lists(void)
{
	enum { COUNT = 3000 };
	struct mr_mailbox_manifest manifest;
	struct mr_texts none = { NULL, 0 };
	struct mr_mailbox_manifest_head head = { .source_root = "/r",
		.protocol_version = -1,
		.exported_at = "now",
		.addresses = &none };
	const struct mr_json_limits limits = { 64 << 20, 64, 1000000 };
	const struct mr_value *value, *list;
	struct mr_bytes text;
	struct post post;
	int dir = -1;

	post_open(&post);
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, ".", &dir, &post.cx.err), post.cx.err);
	mr_mailbox_manifest_init(&manifest, dir);
	for (size_t i = 0; i < COUNT; i++)
		mr_mailbox_manifest_action(&manifest,
			&(struct mr_mailbox_export_action){ .list = MR_MAILBOX_EXPORT_BLOCKED,
				.artifact_kind = "x",
				.reason = mr_arena_printf(post.cx.arena, "%zu %0200d", i, 0) });
	CHECK(manifest.lists[MR_MAILBOX_EXPORT_BLOCKED].written > 0);
	CHECK_OK(mr_mailbox_manifest_write(&manifest, &head, "m.json", &post.cx.err), post.cx.err);
	mr_mailbox_manifest_release(&manifest);
	CHECK_OK(mr_fs_read(post.cx.arena, dir, "m.json", limits.max_bytes, &text, &post.cx.err),
		post.cx.err);
	CHECK_OK(mr_json_parse(post.cx.arena, text, &limits, &value, &post.cx.err), post.cx.err);
	list = list_of(value, "blocked_artifacts");
	CHECK_INT(list->list.len, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		CHECK(mr_str_starts(text_of(&list->list.items[i], "reason"),
			mr_arena_printf(post.cx.arena, "%zu ", i)));
	CHECK(mr_value_get(value, "source_protocol_version")->kind == MR_NULL);
	CHECK(!mr_fs_exists(AT_FDCWD, ".manifest.part"));
	mr_fs_closep(&dir);
	post_close(&post);
}

/* The bytes of the smallest manifest. */
static void the_exact_form(void)
{
	struct mr_mailbox_manifest manifest;
	const char *addresses[] = { "a@b", NULL };
	struct mr_texts one = { addresses, 1 };
	struct mr_mailbox_manifest_head head = { .source_root = "/r\xc3\xb6",
		.protocol_version = 3,
		.exported_at = "2026-03-11T04:15:00Z",
		.addresses = &one,
		.preserve_symlinks = true };
	struct post post;

	post_open(&post);
	mr_mailbox_manifest_init(&manifest, AT_FDCWD);
	mr_mailbox_manifest_action(&manifest,
		&(struct mr_mailbox_export_action){ .list = MR_MAILBOX_EXPORT_SKIPPED,
			.artifact_kind = "k",
			.reason = "r" });
	CHECK_OK(mr_mailbox_manifest_write(&manifest, &head, "m.json", &post.cx.err), post.cx.err);
	mr_mailbox_manifest_release(&manifest);
	files_hold("m.json",
		"{\n"
		"  \"accounts\": [],\n"
		"  \"attachments\": [],\n"
		"  \"blocked_artifacts\": [],\n"
		"  \"copied_artifacts\": [],\n"
		"  \"exported_at_utc\": \"2026-03-11T04:15:00Z\",\n"
		"  \"materialized_artifacts\": [],\n"
		"  \"messages\": [],\n"
		"  \"preserved_symlinks\": [],\n"
		"  \"projections\": [],\n"
		"  \"schema_version\": 1,\n"
		"  \"selection\": {\n"
		"    \"addresses\": [\n"
		"      \"a@b\"\n"
		"    ],\n"
		"    \"all_accounts\": false\n"
		"  },\n"
		"  \"skipped_artifacts\": [\n"
		"    {\n"
		"      \"artifact_kind\": \"k\",\n"
		"      \"outcome\": \"skipped\",\n"
		"      \"reason\": \"r\"\n"
		"    }\n"
		"  ],\n"
		"  \"source_mailbox_root\": \"/r\\u00f6\",\n"
		"  \"source_protocol_version\": 3,\n"
		"  \"symlink_mode\": \"preserve\"\n"
		"}\n");
	post_close(&post);
}

static const struct test tests[] = {
	TEST(long_lists),
	TEST(the_exact_form),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
