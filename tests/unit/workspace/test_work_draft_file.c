/* tests/unit/workspace/test_work_draft_file.c */
#include "workspace/draft_file.h"

#include "test.h"
#include "workspace/error.h"

#include <string.h>

static struct mr_ctx start(void)
{
	return (struct mr_ctx){ .arena = mr_arena_new() };
}

static const char *join(struct mr_ctx *cx, const struct mr_texts *texts)
{
	return mr_str_join(cx->arena, texts, "|");
}

/* As the reference writes it: empty lists are left out, the text follows at once. */
static void a_draft_is_read(void)
{
	struct mr_ctx cx = start();
	struct mr_work_draft_file draft;

	CHECK_OK(mr_work_draft_read(&cx,
			 mr_bytes_text("---\nkind: draft\ncase_uid: c20260311001\n"
				       "send_intent: new\nidentity: support\n"
				       "subject: 'Plan: B?'\nto:\n- bob@example.net\n"
				       "- Carol <carol@example.net>\n---\nHello.\n\n--\nDesk\n"),
			 &draft),
		cx.err);
	CHECK_STR(draft.kind, "draft");
	CHECK_STR(draft.case_uid, "c20260311001");
	CHECK_STR(draft.send_intent, "new");
	CHECK(!draft.reply_to_message_id);
	CHECK_STR(draft.identity, "support");
	CHECK_STR(draft.subject, "Plan: B?");
	CHECK_STR(join(&cx, &draft.to), "bob@example.net|Carol <carol@example.net>");
	CHECK_INT(draft.cc.len, 0);
	CHECK_INT(draft.attachments.len, 0);
	CHECK_STR(draft.body, "Hello.\n\n--\nDesk\n");
	mr_arena_free(cx.arena);
}

static void people_write_drafts(void)
{
	struct mr_ctx cx = start();
	struct mr_work_draft_file draft;

	CHECK_OK(mr_work_draft_read(&cx,
			 mr_bytes_text(
				 "\xef\xbb\xbf---\r\nsubject: 2026\r\nidentity: ' '\r\ncc:\r\n"
				 "attachments:\r\nmine: [1, x]\r\n---\r\n\r\n \t\r\n  Hi\r\n"),
			 &draft),
		cx.err);
	CHECK_STR(draft.subject, "2026");
	CHECK(!draft.identity);
	CHECK_INT(draft.cc.len + draft.attachments.len, 0);
	CHECK_INT(draft.others.map.len, 1);
	CHECK_STR(draft.others.map.pairs[0].key, "mine");
	CHECK_STR(draft.body, "  Hi\r\n");
	CHECK_OK(mr_work_draft_read(&cx, mr_bytes_text("---\nsubject: x\n---"), &draft), cx.err);
	CHECK_STR(draft.body, "");
	mr_arena_free(cx.arena);
}

static void a_draft_is_written(void)
{
	struct mr_ctx cx = start();
	const char *to[] = { "bob@example.net", "Ann \"A\" <ann@example.net>", NULL };
	struct mr_work_draft_file draft = { .kind = "draft",
		.case_uid = "c20260311001",
		.send_intent = "reply",
		.reply_to_message_id = "message_1",
		.subject = "Re: 发票",
		.to = { to, 2 },
		.body = "Hi" };
	struct mr_bytes file;

	CHECK_OK(mr_work_draft_write(&cx, &draft, &file), cx.err);
	CHECK_STR(mr_arena_strndup(cx.arena, (const char *)file.data, file.len),
		"---\nkind: draft\ncase_uid: c20260311001\nsend_intent: reply\n"
		"reply_to_message_id: message_1\nsubject: \"Re: 发票\"\nto:\n- bob@example.net\n"
		"- \"Ann \\\"A\\\" <ann@example.net>\"\ncc: []\nattachments: []\n---\nHi\n");
	mr_arena_free(cx.arena);
}

static void what_is_written_reads_back(void)
{
	struct mr_ctx cx = start();
	struct mr_work_draft_file draft, again;
	struct mr_bytes file;

	CHECK_OK(mr_work_draft_read(&cx,
			 mr_bytes_text(
				 "---\nkind: draft\nsubject: \"a\\nb --- : #\"\nto: ['1', 'null']\n"
				 "extra:\n  deep: [true, '2026-01-01']\n---\n--- x\n---\n"),
			 &draft),
		cx.err);
	CHECK_OK(mr_work_draft_write(&cx, &draft, &file), cx.err);
	CHECK_OK(mr_work_draft_read(&cx, file, &again), cx.err);
	CHECK_STR(again.subject, "a\nb --- : #");
	CHECK_STR(join(&cx, &again.to), "1|null");
	CHECK(mr_value_equal(&draft.others, &again.others));
	CHECK_STR(again.body, "--- x\n---\n");
	mr_arena_free(cx.arena);
}

static void check_bad(const char *text, size_t len, const char *message)
{
	struct mr_ctx cx = start();
	struct mr_work_draft_file draft;

	CHECK(mr_work_draft_read(&cx, mr_bytes_of(text, len), &draft) != MR_OK);
	CHECK_STR(cx.err.word, "draft_invalid");
	CHECK(strstr(cx.err.msg, message));
	mr_arena_free(cx.arena);
}

static void bad_drafts_are_refused(void)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "the draft is empty" },
		{ "Hello\n", "line" },
		{ "---\nsubject: x\n", "line" },
		{ "---\nsubject: [\n---\n", "front matter: " },
		{ "---\njust words\n---\n", "the front matter has no members" },
		{ "---json\n{\"kind\": \"draft\"}\n---\n", "the front matter is not YAML" },
		{ "---\nsubject: [a]\n---\n", "subject is not a text" },
		{ "---\nto: a@example.net\n---\n", "to is not a list" },
		{ "---\ncc: [[a]]\n---\n", "cc has an element that is not a text" },
		{ "---\nto: ['']\n---\n", "to has an element that is not a text" },
		{ "---\nsubject: \xff\n---\n", "the draft is not UTF-8 text" },
	};

	for (size_t i = 0; i < MR_LEN(bad); i++)
		check_bad(bad[i].text, strlen(bad[i].text), bad[i].message);
	check_bad("---\nsubject: x\n---\na\0b", 23, "the draft is not UTF-8 text");
}

static void sizes_have_limits(void)
{
	struct mr_ctx cx = start();
	size_t len = MR_WORK_DRAFT_BYTES + 1;
	char *text = mr_arena_alloc(cx.arena, len + 1);
	struct mr_work_draft_file draft = { .body = text };
	struct mr_bytes file;

	memset(text, 'a', len);
	check_bad(text, len, "the draft is longer than 8388608 bytes");
	CHECK(mr_work_draft_write(&cx, &draft, &file) != MR_OK);
	CHECK_STR(cx.err.word, "draft_invalid");
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_draft_is_read),
		TEST(people_write_drafts),
		TEST(a_draft_is_written),
		TEST(what_is_written_reads_back),
		TEST(bad_drafts_are_refused),
		TEST(sizes_have_limits),
	};

	return test_main(tests, MR_LEN(tests));
}
