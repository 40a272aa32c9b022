/* tests/unit/workspace/test_work_extract_contact.c */
#include "workspace/extract_contact.h"

#include "post.h"
#include "test.h"
#include "workspace/case.h"

#include <string.h>

static struct mr_work_contact_extracted extract(struct desk *desk,
	const struct mr_work_sender *senders, size_t count, const char *group)
{
	struct mr_work_contact_extract request = { senders, count, group };
	struct mr_work_contact_extracted result;

	desk_next(desk);
	CHECK_OK(mr_work_contact_extract(&desk->cx, desk->work, &request, &result), desk->cx.err);
	CHECK_INT(result.created_count, result.created_uids.len);
	return result;
}

/* The recorded case, in the order of the messages' times, without our own address. */
static void senders_become_contacts(void)
{
	static const struct mr_work_sender senders[] = {
		{ "message_20260512_72e6681c366ce12c", "Alice Adams", "alice@example.org", 40 },
		{ "message_20260517_5b7114f482b9825c", "Prize", "prize@win.example", 50 },
		{ "message_20260503_961b7f0938ffa648", "Me Tester", "me@example.com", 10 },
		{ "message_20260512_821aeaa75b613e26", "Erin", "Erin@thread.example.org", 30 },
		{ "message_20260504_2f9303e348dccc2f", "Alice", "ALICE@example.org", 20 },
		{ "message_x", NULL, NULL, 1 },
		{ "message_y", "Nonsense", "nonsense", 2 },
	};
	struct desk desk;
	struct mr_work_contact_extracted result;

	desk_open(&desk);
	result = extract(&desk, senders, MR_LEN(senders), NULL);
	CHECK_INT(result.created_count, 3);
	CHECK_INT(result.skipped_count, 1);
	CHECK_STR(mr_str_join(desk.cx.arena, &result.created_uids, " "),
		"p20260311001 p20260311002 p20260311003");
	CHECK(desk_has("contacts/people/p20260311001-Alice.md"));
	CHECK(desk_has("contacts/people/p20260311002-Erin.md"));
	CHECK(desk_has("contacts/people/p20260311003-Prize.md"));
	CHECK(strstr(desk_text(&desk, "contacts/people/p20260311002-Erin.md"),
		"display_name: Erin\nemails:\n- erin@thread.example.org\nphones: []\n"));
	CHECK_STR(desk_events(&desk), "contact_created contact_created contact_created");
	CHECK_STR(mr_value_get(desk_last_event(&desk), "via")->text, "extract");
	/* Again: all are known. */
	result = extract(&desk, senders, MR_LEN(senders), NULL);
	CHECK_INT(result.created_count, 0);
	CHECK_INT(result.skipped_count, 4);
	result = extract(&desk, NULL, 0, NULL);
	CHECK_INT(result.skipped_count, 0);
	desk_close(&desk);
}

static void messages_of_one_time_go_by_id(void)
{
	static const struct mr_work_sender senders[] = {
		{ "message_b", "B", "b@example.org", 5 },
		{ "message_a", "A", "a@example.org", 5 },
	};
	struct desk desk;

	desk_open(&desk);
	extract(&desk, senders, MR_LEN(senders), "new");
	CHECK(desk_has("contacts/new/p20260311001-A.md"));
	CHECK(desk_has("contacts/new/p20260311002-B.md"));
	desk_close(&desk);
}

/* What a mail says about its sender is no name of a file, and no text of ours. */
static void hostile_names_are_tamed(void)
{
	static const struct {
		const char *name, *becomes;
	} cases[] = {
		{ "Sales / Support", "Sales - Support" },
		{ "../../etc/passwd", "..-..-etc-passwd" },
		{ "a\\b", "a-b" },
		{ "  Ann\r\n\tLee ", "Ann   Lee" },
		{ "ann\xe2\x80\xae"
		  "fdp.exe",
			"annfdp.exe" },
		{ "a\xe2\x80\x8b"
		  "b\xef\xbb\xbf",
			"ab" },
		{ "a\x01\x7f\x1b[31m", "a[31m" },
		{ "\xff", "\xef\xbf\xbd" },
		{ "..", "x@example.org" },
		{ "\xe2\x80\x8b", "x@example.org" },
		{ "", "x@example.org" },
		{ NULL, "x@example.org" },
		{ "张三", "张三" },
	};
	struct mr_arena *arena = mr_arena_new();
	char *huge = mr_arena_alloc(arena, 100001);

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_work_card_sender_name(arena, cases[i].name, "x@example.org"),
			cases[i].becomes);
	memset(huge, 'x', 100000);
	CHECK_INT(strlen(mr_work_card_sender_name(arena, huge, "x@example.org")), 200);
	/* An address may hold a slash, and nothing else. */
	CHECK_STR(mr_work_card_sender_name(arena, NULL, "a/b@example.org"), "a-b@example.org");
	mr_arena_free(arena);
}

/* Many senders are one change; their numbers go on behind the last, past three digits. */
static void numbers_go_on(void)
{
	enum { COUNT = 20 };
	struct desk desk;
	struct mr_work_sender senders[COUNT];
	struct mr_work_contact_extracted result;

	desk_open(&desk);
	desk_put("archive/contacts/p20260311990-X.md", "");
	for (int i = 0; i < COUNT; i++)
		senders[i] = (struct mr_work_sender){ "m", NULL,
			mr_arena_printf(desk.cx.arena, "n%d@example.org", i), i };
	result = extract(&desk, senders, COUNT, NULL);
	CHECK_INT(result.created_count, COUNT);
	CHECK_STR(result.created_uids.items[0], "p20260311991");
	CHECK_STR(result.created_uids.items[9], "p202603111000");
	CHECK(desk_has("contacts/people/p202603111010-n19@example.org.md"));
	desk_close(&desk);
}

static struct mr_work_contact_extracted extract_from(struct desk *desk,
	struct mr_work_contact_sources request)
{
	struct mr_work_contact_extracted result;

	CHECK_OK(mr_work_contact_extract_from(&desk->cx, desk->work, &request, &result),
		desk->cx.err);
	desk_next(desk);
	return result;
}

static void messages_have_senders(void)
{
	struct mr_work_case_create create = { .name = "Thread", .message = T1, .reason = "r" };
	struct mr_work_case_created created;
	struct mr_work_contact_sources unknown = { .from_case = "c20200101001" };
	struct mr_work_contact_extracted result;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, T1, NULL);
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &create, &created));
	result = extract_from(&desk, (struct mr_work_contact_sources){ .group = "new" });
	CHECK_INT(result.created_count, 2);
	CHECK(desk_has("contacts/new/p20260311001-Alice-Adams.md"));
	CHECK(desk_has("contacts/new/p20260311002-Prize.md"));
	result = extract_from(&desk,
		(struct mr_work_contact_sources){ .from_case = created.case_uid });
	CHECK_INT(result.created_count, 1);
	CHECK_STR(result.created_uids.items[0], "p20260311003");
	result = extract_from(&desk, (struct mr_work_contact_sources){ .all = true });
	CHECK_INT(result.created_count, 0);
	CHECK_INT(result.skipped_count, 3);
	desk_check_fail(&desk, mr_work_contact_extract_from(&desk.cx, desk.work, &unknown, &result),
		"not_found", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "there is no case 'c20200101001'");
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(senders_become_contacts),
		TEST(messages_of_one_time_go_by_id),
		TEST(hostile_names_are_tamed),
		TEST(numbers_go_on),
		TEST(messages_have_senders),
	};

	return test_main(tests, MR_LEN(tests));
}
