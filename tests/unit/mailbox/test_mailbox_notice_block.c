/* tests/unit/mailbox/test_mailbox_notice_block.c - senders' notices, quoted, verified and cut. */
#include "mailbox/notice_block.h"
#include "test.h"

#include <string.h>

#define FROM "Sender notice \xe2\x80\x94 from alice@houmao.localhost:"

static const struct mr_notice_rules open_rules = { .render = true,
	.per_message_chars = 512,
	.total_chars = 2048 };

static struct mr_notice_mail mail(struct mr_arena *arena, const char *ref, const char *text,
	bool prepend, const char *token)
{
	struct mr_mailbox_notify_block *block = mr_arena_alloc(arena, sizeof(*block));
	struct mr_mailbox_notify_auth *auth = mr_arena_alloc(arena, sizeof(*auth));

	*block = (struct mr_mailbox_notify_block){ text, prepend };
	*auth = (struct mr_mailbox_notify_auth){ .scheme = "none", .token = token };
	return (struct mr_notice_mail){ ref, "alice@houmao.localhost", text ? block : NULL,
		token ? auth : NULL };
}

static struct mr_notice_slots render(struct mr_arena *arena, struct mr_notice_rules rules,
	struct mr_notice_mail *mails, size_t count)
{
	struct mr_notice_slots slots;

	mr_notice_block_render(arena, &rules, mails, count, &slots);
	return slots;
}

static void without_blocks_both_slots_are_empty(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notice_mail mails[] = { mail(arena, "a", NULL, false, NULL) };
	struct mr_notice_slots slots = render(arena, open_rules, mails, 1);

	CHECK_STR(slots.prepend, "");
	CHECK_STR(slots.append, "");
	CHECK_INT(slots.len, 0);
}

static void clusters_keep_the_order_of_arrival(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notice_mail mails[] = { mail(arena, "a", "first", true, NULL),
		mail(arena, "b", "one\ntwo\r\n\nfour", false, NULL),
		mail(arena, "c", "third", true, NULL), mail(arena, "d", "last", false, NULL) };
	struct mr_notice_slots slots = render(arena, open_rules, mails, 4);

	CHECK_STR(slots.prepend, FROM "\n> first\n" FROM "\n> third\n\n");
	CHECK_STR(slots.append, "\n\n" FROM "\n> one\n> two\n>\n> four\n" FROM "\n> last");
	CHECK_INT(slots.len, 4);
	CHECK(slots.entries[1].rendered);
	CHECK_STR(slots.entries[1].auth_outcome, "skipped");
	CHECK_STR(slots.entries[1].auth_detail, "no verifier configured");
	CHECK_INT(slots.entries[1].block_chars, 14);
}

static void long_notices_are_cut(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notice_rules rules = open_rules;
	struct mr_notice_mail mails[] = { mail(arena, "a",
		"\xc3\xa9"
		"bcdefghij",
		true, NULL) };
	struct mr_notice_slots slots;

	rules.per_message_chars = 5;
	slots = render(arena, rules, mails, 1);
	CHECK_STR(slots.prepend,
		FROM "\n> \xc3\xa9"
		     "bcd\xe2\x80\xa6\n\n");
	CHECK(slots.entries[0].truncated);
	CHECK_INT(slots.entries[0].block_chars, 5);
	rules.per_message_chars = 0;
	CHECK_STR(render(arena, rules, mails, 1).prepend, FROM "\n> \xe2\x80\xa6\n\n");
}

static void what_does_not_fit_is_counted(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notice_rules rules = open_rules;
	struct mr_notice_mail mails[] = { mail(arena, "a", "short", false, NULL),
		mail(arena, "b", "much too long to fit in here", false, NULL),
		mail(arena, "c", "s", false, NULL) };
	struct mr_notice_slots slots;

	rules.total_chars = 110;
	slots = render(arena, rules, mails, 3);
	CHECK_STR(slots.append,
		"\n\n" FROM "\n> short\n" FROM
		"\n> s\n+ 1 more sender notice(s) \xe2\x80\x94 open inbox to read");
	CHECK_STR(slots.entries[1].auth_detail, "aggregate cap reached");
	CHECK(!slots.entries[1].rendered);
	rules.total_chars = 0;
	slots = render(arena, rules, mails, 3);
	CHECK_STR(slots.append, "");
	CHECK_STR(slots.prepend, "+ 3 more sender notice(s) \xe2\x80\x94 open inbox to read\n\n");
}

static void tokens_are_verified_and_never_echoed(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *listed[] = { "tok-1", "tok-2", NULL };
	struct mr_notice_rules rules = open_rules;
	struct mr_notice_mail mails[] = { mail(arena, "a", "good", false, "tok-2"),
		mail(arena, "b", "bad", false, "tok-3"), mail(arena, "c", "none", false, NULL) };
	struct mr_notice_slots slots;

	rules.verifier = MR_NOTICE_SHARED_TOKEN;
	rules.tokens = (struct mr_texts){ listed, 2 };
	slots = render(arena, rules, mails, 3);
	CHECK(slots.entries[0].rendered && slots.entries[1].rendered && slots.entries[2].rendered);
	CHECK_STR(slots.entries[0].auth_outcome, "passed");
	CHECK_STR(slots.entries[0].auth_detail, "token matched allowlist");
	CHECK_STR(slots.entries[1].auth_outcome, "failed");
	CHECK_STR(slots.entries[1].auth_detail, "token not in allowlist");
	CHECK_STR(slots.entries[2].auth_detail, "missing notify_auth.token");
	CHECK_STR(slots.entries[0].auth_scheme, "shared-token");
	rules.auth_mode = MR_NOTICE_REQUIRED;
	slots = render(arena, rules, mails, 3);
	CHECK_STR(slots.append, "\n\n" FROM "\n> good");
	CHECK(!slots.entries[1].rendered);
	rules.tokens.len = 0;
	CHECK_STR(render(arena, rules, mails, 3).append, "");
}

static void rendering_can_be_off(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notice_rules rules = open_rules;
	struct mr_notice_mail mails[] = { mail(arena, "a", "text", true, NULL) };
	struct mr_notice_slots slots;

	rules.render = false;
	slots = render(arena, rules, mails, 1);
	CHECK_STR(slots.prepend, "");
	CHECK_INT(slots.len, 1);
	CHECK_STR(slots.entries[0].auth_outcome, "skipped");
	CHECK_STR(slots.entries[0].auth_detail, "render disabled");
}

/* Nothing that a sender writes leaves its quotation. */
static void texts_stay_texts(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_notice_mail mails[] = { mail(arena, "a",
		"```\nYou have mail\xe2\x80\xa8"
		"now\033[201~{{{x}}}{%y%}{#z#}\xc2\x9b\xe2\x80\xae\ttab",
		false, NULL) };

	CHECK_STR(render(arena, open_rules, mails, 1).append,
		"\n\n" FROM
		"\n> ```\n> You have mail\n> now\xef\xbf\xbd[201~{ { {x} } }{ %y% }{ #z# }"
		"\xef\xbf\xbd\xef\xbf\xbd tab");
	CHECK_STR(mr_notice_block_plain(arena, "a\nb"), "a b");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(without_blocks_both_slots_are_empty),
		TEST(clusters_keep_the_order_of_arrival),
		TEST(long_notices_are_cut),
		TEST(what_does_not_fit_is_counted),
		TEST(tokens_are_verified_and_never_echoed),
		TEST(rendering_can_be_off),
		TEST(texts_stay_texts),
	};

	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
