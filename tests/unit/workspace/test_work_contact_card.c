/* tests/unit/workspace/test_work_contact_card.c */
#include "workspace/contact_card.h"

#include "test.h"

#include <string.h>

#define TIMES "created_rfc3339: 2026-06-01T17:30:00Z\nupdated_rfc3339: 2026-06-01T17:30:00Z\n"

/* The card of the seed. */
static const char seed[] = "---\n"
			   "kind: contact\n"
			   "contact_uid: p20260521001\n"
			   "display_name: Zhang San\n"
			   "emails:\n"
			   "- zhang@example.com\n"
			   "phones:\n"
			   "- \"13800138000\"\n"
			   "organization: Acme\n"
			   "role: Buyer\n"
			   "tags:\n"
			   "- vip\n" TIMES "---\n"
			   "\n"
			   "## Zhang San\n"
			   "\n"
			   "Free-form notes.\n";

static struct mr_ctx new_ctx(void)
{
	return (struct mr_ctx){ .arena = mr_arena_new() };
}

static struct mr_work_card read_card(struct mr_ctx *cx, const char *text)
{
	struct mr_work_card card;

	CHECK_OK(mr_work_card_read(cx, mr_bytes_text(text), &card), cx->err);
	return card;
}

static const char *text_of(struct mr_ctx *cx, struct mr_bytes bytes)
{
	return mr_arena_strndup(cx->arena, (const char *)bytes.data, bytes.len);
}

static const char *written(struct mr_ctx *cx, const struct mr_work_card *card)
{
	struct mr_bytes file;

	CHECK_OK(mr_work_card_write(cx, card, &file), cx->err);
	return text_of(cx, file);
}

static void the_seeds_card_is_read_and_written(void)
{
	struct mr_ctx cx = new_ctx();
	struct mr_work_card card = read_card(&cx, seed);

	CHECK_STR(card.contact_uid, "p20260521001");
	CHECK_STR(card.display_name, "Zhang San");
	CHECK_STR(mr_str_join(cx.arena, &card.emails, ","), "zhang@example.com");
	CHECK_STR(mr_str_join(cx.arena, &card.phones, ","), "13800138000");
	CHECK_STR(card.organization, "Acme");
	CHECK_STR(card.role, "Buyer");
	CHECK_STR(mr_str_join(cx.arena, &card.tags, ","), "vip");
	CHECK_STR(card.created_rfc3339, "2026-06-01T17:30:00Z");
	CHECK_STR(text_of(&cx, card.body), "## Zhang San\n\nFree-form notes.\n");
	CHECK_STR(written(&cx, &card), seed);
	mr_arena_free(cx.arena);
}

/* As the reference writes it: single quotes, no empty line, one newline too many. */
static void the_references_card_is_read(void)
{
	struct mr_ctx cx = new_ctx();
	struct mr_work_card card = read_card(&cx,
		"---\nkind: contact\ncontact_uid: p20260521001\ndisplay_name: Zhang "
		"Sanfeng\nemails:\n"
		"- zhang@example.com\nphones:\n- '13800138000'\norganization: Acme\nrole: ''\n"
		"tags: []\n" TIMES "---\n## Zhang San\n\n\n");

	CHECK_STR(text_of(&cx, card.body), "## Zhang San\n\n");
	CHECK_STR(card.role, "");
	CHECK_INT(card.tags.len, 0);
	CHECK_STR(written(&cx, &card),
		"---\nkind: contact\ncontact_uid: p20260521001\ndisplay_name: Zhang "
		"Sanfeng\nemails:\n"
		"- zhang@example.com\nphones:\n- \"13800138000\"\norganization: Acme\nrole: ''\n"
		"tags: []\n" TIMES "---\n\n## Zhang San\n\n");
	mr_arena_free(cx.arena);
}

static void cards_edited_by_hand_are_read(void)
{
	struct mr_ctx cx = new_ctx();
	/* A byte order mark, CRLF, numbers, upper case, doubles, blanks, an unknown member, nothing
	 * at the end. */
	struct mr_work_card card = read_card(&cx,
		"\xef\xbb\xbf---\r\nkind: contact\r\ncontact_uid: p20260521001\r\ndisplay_name: "
		"张三\r\n"
		"emails: [ Zhang@Example.COM, zhang@example.com, ' ', null ]\r\nphones:\r\n"
		"- 0049301234\r\n- 007\r\norganization:\r\nbirthday: 1990-01-02\r\nlikes: {tea: "
		"3}\r\n"
		"---");

	CHECK_STR(card.display_name, "张三");
	CHECK_STR(mr_str_join(cx.arena, &card.emails, ","), "zhang@example.com");
	CHECK_STR(mr_str_join(cx.arena, &card.phones, ","), "0049301234,007");
	CHECK_STR(card.organization, "");
	CHECK_STR(card.role, "");
	CHECK_INT(card.tags.len, 0);
	CHECK_STR(card.created_rfc3339, "");
	CHECK_INT(card.body.len, 0);
	CHECK_STR(written(&cx, &card),
		"---\nkind: contact\ncontact_uid: p20260521001\ndisplay_name: \"张三\"\nemails:\n"
		"- zhang@example.com\nphones:\n- \"0049301234\"\n- \"007\"\norganization: "
		"''\nrole: ''\n"
		"tags: []\ncreated_rfc3339: ''\nupdated_rfc3339: ''\nbirthday: \"1990-01-02\"\n"
		"likes:\n  tea: 3\n---\n");
	mr_arena_free(cx.arena);
}

/* Whatever people write into notes comes back byte by byte. */
static void notes_keep_their_bytes(void)
{
	static const char *const bodies[] = { "", "x", "\n", "\n\n", "\n\n\nx", "a\r\nb\r\n",
		"---\nkind: contact\n---\n", "x\n\n\n", " \xff\n" };
	struct mr_ctx cx = new_ctx();

	for (size_t i = 0; i < MR_LEN(bodies); i++) {
		struct mr_work_card card = read_card(&cx, seed);

		card.body = mr_bytes_text(bodies[i]);
		card = read_card(&cx, written(&cx, &card));
		CHECK_STR(text_of(&cx, card.body), bodies[i]);
	}
	mr_arena_free(cx.arena);
}

#define HEAD(lines) "---\nkind: contact\ncontact_uid: p20260521001\n" lines "---\n"

static void broken_cards_are_told(void)
{
	static const struct {
		const char *file, *says;
	} cases[] = {
		{ "no frontmatter", "line 1: the document does not begin with a line \"---\"" },
		{ "", "line 1: the document does not begin with a line \"---\"" },
		{ "---\nkind: contact\n",
			"line 3: the front matter is not closed by a line \"---\"" },
		{ "---json\n{}\n---\n", "the front matter is not YAML" },
		{ "---\n- a\n---\n", "the front matter has no members" },
		{ "---\nkind: identity\n---\n", "kind is not contact" },
		{ HEAD("emails: []\n"), "display_name is missing" },
		{ HEAD("display_name: ' '\n"), "display_name is missing" },
		{ HEAD("display_name: [a]\n"), "display_name is not a text" },
		{ HEAD("display_name: A\nemails: a@b\n"), "emails is not a list" },
		{ HEAD("display_name: A\nphones: [[1]]\n"),
			"phones has an element that is not a text" },
		{ HEAD("display_name: A\ntags: {a: 1}\n"), "tags is not a list" },
		{ HEAD("display_name: A: B\n"), "front matter: " },
		{ HEAD("display_name: &a A\n"), "front matter: " },
	};
	struct mr_ctx cx = new_ctx();
	struct mr_work_card card;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_work_card_read(&cx, mr_bytes_text(cases[i].file), &card), MR_EFORMAT);
		CHECK_STR(cx.err.word, "invalid_contact");
		if (strncmp(cx.err.msg, cases[i].says, strlen(cases[i].says)) != 0)
			CHECK_STR(cx.err.msg, cases[i].says);
	}
	mr_arena_free(cx.arena);
}

static void a_list_has_an_end(void)
{
	struct mr_ctx cx = new_ctx();
	struct mr_work_card card = read_card(&cx, seed);
	struct mr_bytes file;

	for (int i = card.phones.len ? 1 : 0; i <= MR_WORK_CARD_LIST_MAX; i++)
		CHECK(mr_work_card_add(cx.arena, &card.phones,
			mr_arena_printf(cx.arena, "+%d", i)));
	CHECK_INT(mr_work_card_write(&cx, &card, &file), MR_EFORMAT);
	CHECK_STR(cx.err.msg, "a list of the card would have more than 1000 elements");
	CHECK(mr_work_card_remove(cx.arena, &card.phones, "+1"));
	CHECK_INT(read_card(&cx, written(&cx, &card)).phones.len, MR_WORK_CARD_LIST_MAX);
	mr_arena_free(cx.arena);
}

static void notes_are_appended_and_replaced(void)
{
	struct mr_ctx cx = new_ctx();
	struct mr_arena *arena = cx.arena;

	CHECK_STR(text_of(&cx, mr_work_card_heading(arena, "Zhang San")), "## Zhang San\n\n");
	CHECK_STR(text_of(&cx, mr_work_card_heading(arena, "A\n# B")), "## A # B\n\n");
	CHECK_STR(text_of(&cx, mr_work_card_append(arena, mr_bytes_text("## A\n\n"), "x")),
		"## A\n\nx\n");
	CHECK_STR(text_of(&cx, mr_work_card_append(arena, mr_bytes_text("a \r\n\r\n"), "x\ny\n\n")),
		"a\n\nx\ny\n");
	CHECK_STR(text_of(&cx, mr_work_card_append(arena, (struct mr_bytes){ 0 }, "x")), "x\n");
	CHECK_STR(text_of(&cx, mr_work_card_append(arena, mr_bytes_text("a"), "")), "a\n\n\n");
	CHECK_STR(text_of(&cx, mr_work_card_replace(arena, " x \n")), " x\n");
	mr_arena_free(cx.arena);
}

static void addresses_are_checked(void)
{
	static const char *const good[] = { "a@b", "o'brien+x=y@example.com", "用户@例子.cn",
		"a.b@c-d.example" };
	static const char *const bad[] = { "nonsense", "", " ", "@b", "a@", "a@b@c", "a b@c",
		"a@b c", "a..b@c", ".a@b", "a.@b", "a@.b", "a@b.", "Ann <a@b>", "a,b@c", "a@b;",
		"\"a\"@b", "a\x01@b", "a@[1.2.3.4]", "\xff@b" };
	struct mr_ctx cx = new_ctx();
	const char *email = NULL;
	char longest[300];

	CHECK_OK(mr_work_card_address(&cx, "  Zhang@Example.COM\t", &email), cx.err);
	CHECK_STR(email, "zhang@example.com");
	for (size_t i = 0; i < MR_LEN(good); i++)
		CHECK_OK(mr_work_card_address(&cx, good[i], &email), cx.err);
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		if (!mr_work_card_address(&cx, bad[i], &email))
			test_fail(__FILE__, __LINE__, "'%s' is taken for an address", bad[i]);
		CHECK_STR(cx.err.word, "invalid_request");
	}
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "a@", 2);
	longest[254] = '\0';
	CHECK_OK(mr_work_card_address(&cx, longest, &email), cx.err);
	longest[254] = 'x';
	longest[255] = '\0';
	CHECK_INT(mr_work_card_address(&cx, longest, &email), MR_EINVAL);
	CHECK_INT(mr_work_card_address(&cx, "nonsense", &email), MR_EINVAL);
	CHECK_STR(cx.err.msg, "'nonsense' is not an e-mail address such as ann@example.com");
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_seeds_card_is_read_and_written),
		TEST(the_references_card_is_read),
		TEST(cards_edited_by_hand_are_read),
		TEST(notes_keep_their_bytes),
		TEST(broken_cards_are_told),
		TEST(a_list_has_an_end),
		TEST(notes_are_appended_and_replaced),
		TEST(addresses_are_checked),
	};

	return test_main(tests, MR_LEN(tests));
}
