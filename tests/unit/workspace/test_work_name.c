/* tests/unit/workspace/test_work_name.c */
#include "workspace/name.h"

#include "test.h"
#include "workspace/layout.h"

#include <string.h>

#define NOW_US (INT64_C(1780747200) * 1000000) /* 2026-06-06T12:00:00Z */

static struct mr_ctx new_ctx(void)
{
	return (struct mr_ctx){ .arena = mr_arena_new() };
}

static void refused(struct mr_ctx *cx, enum mr_code rc)
{
	CHECK_INT(rc, MR_EINVAL);
	CHECK_STR(cx->err.word, "invalid_request");
}

static void message_ids_are_pinned(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_work_fnv(arena, mr_bytes_text("m1@example.com")), "0bf8ebf13867e862");
	CHECK_STR(mr_work_fnv(arena, mr_bytes_text("imap-7@example.com")), "7c15c4edefc54317");
	CHECK_STR(mr_work_fnv(arena, mr_bytes_text("tz1@example.com")), "777e1b42884e973f");
	CHECK_STR(mr_work_fnv(arena, mr_bytes_text("")), "cbf29ce484222325");
	CHECK_STR(mr_work_message_id(arena, "tz1@example.com", "20250615"),
		"message_20250615_777e1b42884e973f");
	CHECK_STR(mr_work_message_id(arena, "tz1@example.com", NULL), "message_777e1b42884e973f");
	mr_arena_free(arena);
}

static void a_message_id_is_normalised(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_work_normal_id(arena, "  <M1@Example.COM> "), "m1@example.com");
	CHECK_STR(mr_work_normal_id(arena, "<a@b>,;"), "a@b");
	CHECK_STR(mr_work_normal_id(arena, "< a@b >"), "a@b");
	CHECK_STR(mr_work_normal_id(arena, "\xc2\xa0<a@b>\xe2\x80\x89"), "a@b");
	/* One round only: the rule is older than we are, and ids stay. */
	CHECK_STR(mr_work_normal_id(arena, "< <a@b> >"), "<a@b>");
	/* Only ASCII has a lower case here. */
	CHECK_STR(mr_work_normal_id(arena, "<\xc3\x84@B>"), "\xc3\x84@b");
	CHECK_STR(mr_work_normal_id(arena, " <\xff@B> "), " <\xff@b> ");
	CHECK(mr_work_normal_id(arena, NULL) == NULL);
	CHECK(mr_work_normal_id(arena, "") == NULL);
	CHECK(mr_work_normal_id(arena, " <> ,") == NULL);
	mr_arena_free(arena);
}

static void an_id_without_message_id_names_the_place(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_work_location_id(arena, "INBOX", 607146690, 21, NULL),
		"message_inbox_607146690_21");
	CHECK_STR(mr_work_location_id(arena, "[Gmail]/All  Mail", 1, 2, "20260101"),
		"message_20260101_gmail_all_mail_1_2");
	CHECK_STR(mr_work_location_id(arena, "Entw\xc3\xbcrfe", 1, 2, NULL),
		"message_entw_rfe_1_2");
	mr_arena_free(arena);
}

static void a_given_message_id_is_one_segment(void)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "a\\b", "/", "../x" };
	struct mr_ctx cx = new_ctx();

	CHECK_OK(mr_work_check_message_id(&cx, "message_inbox_607146690_21"), cx.err);
	CHECK_OK(mr_work_check_message_id(&cx, "..x"), cx.err);
	for (size_t i = 0; i < MR_LEN(bad); i++)
		refused(&cx, mr_work_check_message_id(&cx, bad[i]));
	mr_arena_free(cx.arena);
}

static void refs_are_uids_with_anything_behind(void)
{
	static const char *const bad[] = { "", "Zhang", "a20260521001-", "p20260521001",
		"a2026052100", "a20260521001x", "a20260521001/x", "a20260521001-a/b",
		"a20260521001-a\\b", "A20260521001", " a20260521001", "20260521001" };
	struct mr_ctx cx = new_ctx();
	const char *uid = NULL, *slug = NULL;

	CHECK_OK(mr_work_ref_uid(&cx, MR_WORK_CATEGORY, "a20260521001", &uid), cx.err);
	CHECK_STR(uid, "a20260521001");
	CHECK_OK(mr_work_ref_uid(&cx, MR_WORK_CATEGORY, "a20260521001-x-y z", &uid), cx.err);
	CHECK_STR(uid, "a20260521001");
	CHECK_OK(mr_work_ref_uid(&cx, MR_WORK_CASE, "c202605211000--", &uid), cx.err);
	CHECK_STR(uid, "c202605211000");
	for (size_t i = 0; i < MR_LEN(bad); i++)
		refused(&cx, mr_work_ref_uid(&cx, MR_WORK_CATEGORY, bad[i], &uid));
	CHECK(mr_work_split_name(cx.arena, MR_WORK_CONTACT, "p20260521001-Zhang-San", &uid, &slug));
	CHECK_STR(slug, "Zhang-San");
	CHECK(mr_work_split_name(cx.arena, MR_WORK_CONTACT, "p20260521001", &uid, &slug));
	CHECK_STR(slug, "");
	mr_arena_free(cx.arena);
}

static void uids_grow_past_three_digits(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_work_uid(arena, MR_WORK_CASE, "20260521", 1), "c20260521001");
	CHECK_STR(mr_work_uid(arena, MR_WORK_CATEGORY, "20260521", 999), "a20260521999");
	CHECK_STR(mr_work_uid(arena, MR_WORK_CONTACT, "20260521", 1000), "p202605211000");
	CHECK_INT(mr_work_uid_number("c20260521001", "20260521"), 1);
	CHECK_INT(mr_work_uid_number("p202605211000", "20260521"), 1000);
	CHECK_INT(mr_work_uid_number("c20260521001", "20260522"), 0);
	/* More digits than a number can have. */
	CHECK_INT(mr_work_uid_number("c2026052199999999999999999999", "20260521"), 0);
	mr_arena_free(arena);
}

static void slugs_keep_every_script(void)
{
	static const struct {
		const char *name, *slug;
	} cases[] = {
		{ "Zhang San", "Zhang-San" },
		{ "应用反馈-肥料登记", "应用反馈-肥料登记" },
		{ "  a \t b  ", "a-b" },
		{ "a/b\\c:d", "a-b-c-d" },
		{ "--a--", "a" },
		{ "", "untitled" },
		{ " / : ", "untitled" },
		{ "a\x01\x02z", "a-z" },
		{ "a\xff\xfez", "a-z" },
		{ "a\xc2\x85z", "a-z" },
		{ "a\xe3\x80\x80z", "a-z" },
		{ "..", ".." },
	};
	struct mr_arena *arena = mr_arena_new();
	char long_name[700];

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_work_slug(arena, cases[i].name), cases[i].slug);
	/* Cut at a character, not in it. */
	for (size_t i = 0; i < sizeof(long_name) - 4; i += 3)
		memcpy(long_name + i, "\xe5\xba\x94\0", 4);
	CHECK_INT(strlen(mr_work_slug(arena, long_name)), 198);
	CHECK_STR(mr_work_dir_name(arena, "p20260521001", "a b"), "p20260521001-a-b");
	CHECK_STR(mr_work_draft_slug(arena, "Re: Hello, World!"), "re-hello-world");
	CHECK_STR(mr_work_draft_slug(arena, "应用"), "message");
	mr_arena_free(arena);
}

static void names_are_checked(void)
{
	static const char *const bad[] = { "", "  ", "\xe3\x80\x80", "a/b", "a\\b", ".", " .. ",
		"\xff" };
	struct mr_ctx cx = new_ctx();
	const char *name = NULL;
	char longest[MR_WORK_NAME_BYTES + 2];

	CHECK_OK(mr_work_check_name(&cx, "name", " Zhang San ", &name), cx.err);
	CHECK_STR(name, "Zhang San");
	for (size_t i = 0; i < MR_LEN(bad); i++)
		refused(&cx, mr_work_check_name(&cx, "name", bad[i], &name));
	memset(longest, 'x', sizeof(longest));
	longest[MR_WORK_NAME_BYTES] = '\0';
	CHECK_OK(mr_work_check_name(&cx, "name", longest, &name), cx.err);
	longest[MR_WORK_NAME_BYTES] = 'x';
	longest[MR_WORK_NAME_BYTES + 1] = '\0';
	refused(&cx, mr_work_check_name(&cx, "name", longest, &name));
	CHECK_STR(cx.err.msg, "the name is longer than 200 bytes");
	mr_arena_free(cx.arena);
}

static void groups_and_drafts_are_segments(void)
{
	struct mr_ctx cx = new_ctx();

	CHECK_OK(mr_work_check_segment(&cx, "group", "open"), cx.err);
	refused(&cx, mr_work_check_segment(&cx, "group", ""));
	refused(&cx, mr_work_check_segment(&cx, "group", ".."));
	refused(&cx, mr_work_check_segment(&cx, "group", "a/b"));
	CHECK_STR(cx.err.msg, "the group 'a/b' is not a single path segment");
	refused(&cx, mr_work_check_segment(&cx, "group", " "));
	refused(&cx, mr_work_check_segment(&cx, "group", "a\nb"));
	refused(&cx, mr_work_check_segment(&cx, "tag", "a\xff"));
	CHECK_STR(cx.err.msg, "the tag is not UTF-8");
	CHECK_OK(mr_work_check_segment(&cx, "group", "肥料 1"), cx.err);
	CHECK_OK(mr_work_check_draft_name(&cx, "new-x.md"), cx.err);
	refused(&cx, mr_work_check_draft_name(&cx, "new-x.txt"));
	refused(&cx, mr_work_check_draft_name(&cx, ".md"));
	refused(&cx, mr_work_check_draft_name(&cx, "../x.md"));
	mr_arena_free(cx.arena);
}

static void push_ids_tell_the_id_of_the_sent_mail(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_work_push_id(arena, NOW_US, 0), "push_20260606T120000Z");
	CHECK_STR(mr_work_push_id(arena, NOW_US, 1), "push_20260606T120000Z_1");
	CHECK_INT(mr_work_push_again("push_20260606T120000Z"), 0);
	CHECK_INT(mr_work_push_again("push_20260606T120000Z_12"), 12);
	CHECK_STR(mr_work_sent_id(arena, "push_20260606T120000Z_1"),
		"message_sent_20260606T120000Z_1");
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(message_ids_are_pinned),
		TEST(a_message_id_is_normalised),
		TEST(an_id_without_message_id_names_the_place),
		TEST(a_given_message_id_is_one_segment),
		TEST(refs_are_uids_with_anything_behind),
		TEST(uids_grow_past_three_digits),
		TEST(slugs_keep_every_script),
		TEST(names_are_checked),
		TEST(groups_and_drafts_are_segments),
		TEST(push_ids_tell_the_id_of_the_sent_mail),
	};

	return test_main(tests, MR_LEN(tests));
}
