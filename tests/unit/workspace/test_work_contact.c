/* tests/unit/workspace/test_work_contact.c */
#include "workspace/contact.h"

#include "desk.h"
#include "test.h"
#include "workspace/error.h"

#include <string.h>

#define CARD(uid, name, rest)                                                                      \
	"---\nkind: contact\ncontact_uid: " uid "\ndisplay_name: " name "\n" rest                  \
	"---\n\n## " name "\n\n"

static void put_cards(void)
{
	desk_put("contacts/people/p20260311001-Zhang-San.md",
		CARD("p20260311001", "Zhang San",
			"emails:\n- zhang@example.com\n- zs@example.org\nphones:\n- '13800138000'\n"
			"organization: Acme\nrole: Buyer\ntags:\n- vip\n- cn\n"));
	desk_put("contacts/vendors/p20260311002-B.md",
		CARD("p20260311002", "B", "emails: []\ntags: [vip]\n"));
	desk_put("contacts/people/p202603111000-C.md",
		CARD("p202603111000", "C", "organization: Acme\n"));
	desk_put("contacts/people/p20260311999-D.md", CARD("p20260311999", "D", ""));
	desk_put("archive/contacts/p20260310001-Old.md",
		CARD("p20260310001", "Old", "emails: [old@example.com, both@example.com]\n"));
	/* What is no card by its name. */
	desk_put("contacts/people/README.md", "x");
	desk_put("contacts/people/p20260311003.txt", "x");
	desk_put("contacts/people/c20260311003-X.md", "x");
	desk_put("contacts/p20260311004-X.md", "x");
}

static const char *listed(struct desk *desk, const struct mr_work_contact_list *request)
{
	struct mr_work_contact_listed result;
	const char *line = "";

	CHECK_OK(mr_work_contact_list(&desk->cx, desk->work, request, &result), desk->cx.err);
	CHECK_INT(result.count, result.contacts_len);
	CHECK_INT(result.invalid_paths.len, 0);
	for (size_t i = 0; i < result.contacts_len; i++)
		line = mr_arena_printf(desk->cx.arena, "%s%s%s", line, i ? " " : "",
			result.contacts[i].display_name);
	return line;
}

static void active_contacts_are_listed_by_uid(void)
{
	struct desk desk;
	struct mr_work_contact_listed result;
	const struct mr_work_contact *first;

	desk_open(&desk);
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ 0 }), "");
	desk_next(&desk);
	put_cards();
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ 0 }), "Zhang San B D C");
	CHECK_OK(mr_work_contact_list(&desk.cx, desk.work, &(struct mr_work_contact_list){ 0 },
			 &result),
		desk.cx.err);
	first = &result.contacts[0];
	CHECK_STR(first->contact_uid, "p20260311001");
	CHECK_STR(first->group, "people");
	CHECK_STR(mr_str_join(desk.cx.arena, &first->emails, ","),
		"zhang@example.com,zs@example.org");
	CHECK_STR(mr_str_join(desk.cx.arena, &first->phones, ","), "13800138000");
	CHECK_STR(first->organization, "Acme");
	CHECK_STR(first->role, "Buyer");
	CHECK_STR(mr_str_join(desk.cx.arena, &first->tags, ","), "vip,cn");
	CHECK_STR(first->contact_path, "contacts/people/p20260311001-Zhang-San.md");
	desk_close(&desk);
}

static void filters_are_anded_and_exact(void)
{
	struct desk desk;

	desk_open(&desk);
	put_cards();
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ .tag = "vip" }), "Zhang San B");
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ .group = "vendors" }), "B");
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ .org = "Acme" }), "Zhang San C");
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ .org = "acme" }), "");
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ .org = "Acme", .role = "Buyer" }),
		"Zhang San");
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ .group = "people", .tag = "cn" }),
		"Zhang San");
	CHECK_STR(listed(&desk, &(struct mr_work_contact_list){ .group = "nobody" }), "");
	desk_close(&desk);
}

static void a_broken_card_is_skipped_and_named(void)
{
	struct desk desk;
	struct mr_work_contact_listed result;
	const struct mr_work_contacts *all = NULL;

	desk_open(&desk);
	put_cards();
	desk_put("contacts/people/p20260311005-X.md", "no frontmatter");
	desk_put("contacts/people/p20260311006-Y.md", CARD("p20260311007", "Y", ""));
	CHECK_OK(mr_work_contact_list(&desk.cx, desk.work, &(struct mr_work_contact_list){ 0 },
			 &result),
		desk.cx.err);
	CHECK_INT(result.count, 4);
	CHECK_STR(mr_str_join(desk.cx.arena, &result.invalid_paths, " "),
		"contacts/people/p20260311005-X.md contacts/people/p20260311006-Y.md");
	CHECK_INT(desk.cx.err.code, MR_OK);
	CHECK_OK(mr_work_contacts_get(&desk.cx, desk.work, &all), desk.cx.err);
	CHECK_STR(all->invalid_messages.items[0],
		"contacts/people/p20260311005-X.md: line 1: the document does not begin with a "
		"line "
		"\"---\"");
	CHECK_STR(all->invalid_messages.items[1],
		"contacts/people/p20260311006-Y.md: contact_uid is not p20260311006, as the file's "
		"name says");
	desk_close(&desk);
}

static void a_sender_is_found(void)
{
	struct desk desk;
	const char *uid = "", *name = "";

	desk_open(&desk);
	put_cards();
	/* By hand: the address of an archived contact on an active card too. */
	desk_put("contacts/people/p20260311008-Both.md",
		CARD("p20260311008", "Both", "emails: [both@example.com]\n"));
	CHECK_OK(mr_work_contact_of(&desk.cx, desk.work, "ZS@example.org", &uid, &name),
		desk.cx.err);
	CHECK_STR(uid, "p20260311001");
	CHECK_STR(name, "Zhang San");
	CHECK_OK(mr_work_contact_of(&desk.cx, desk.work, "old@example.com", &uid, &name),
		desk.cx.err);
	CHECK_STR(uid, "p20260310001");
	CHECK_OK(mr_work_contact_of(&desk.cx, desk.work, "both@example.com", &uid, &name),
		desk.cx.err);
	CHECK_STR(uid, "p20260311008");
	CHECK_OK(mr_work_contact_of(&desk.cx, desk.work, "nobody@example.com", &uid, &name),
		desk.cx.err);
	CHECK(!uid && !name);
	CHECK_OK(mr_work_contact_of(&desk.cx, desk.work, NULL, &uid, &name), desk.cx.err);
	CHECK(!uid && !name);
	desk_close(&desk);
}

static void show_gives_the_whole_file(void)
{
	struct desk desk;
	struct mr_work_contact_shown shown;
	struct mr_work_contact_notes notes;

	desk_open(&desk);
	put_cards();
	CHECK_OK(mr_work_contact_show(&desk.cx, desk.work,
			 &(struct mr_work_contact_show){ "p20260311002-anything" }, &shown),
		desk.cx.err);
	CHECK_STR(shown.contact_uid, "p20260311002");
	CHECK(!shown.is_archived);
	CHECK_STR(shown.group, "vendors");
	CHECK_STR(shown.contact_path, "contacts/vendors/p20260311002-B.md");
	CHECK_STR(shown.content, CARD("p20260311002", "B", "emails: []\ntags: [vip]\n"));
	CHECK_OK(mr_work_contact_show(&desk.cx, desk.work,
			 &(struct mr_work_contact_show){ "p20260310001" }, &shown),
		desk.cx.err);
	CHECK(shown.is_archived && !shown.group);
	CHECK_OK(mr_work_contact_notes_show(&desk.cx, desk.work,
			 &(struct mr_work_contact_show){ "p20260310001" }, &notes),
		desk.cx.err);
	CHECK_STR(notes.notes, "## Old\n\n");
	/* A broken card can be looked at, but has no notes. */
	desk_put("contacts/people/p20260311005-X.md", "no frontmatter");
	CHECK_OK(mr_work_contact_show(&desk.cx, desk.work,
			 &(struct mr_work_contact_show){ "p20260311005" }, &shown),
		desk.cx.err);
	CHECK_STR(shown.content, "no frontmatter");
	desk_check_fail(&desk,
		mr_work_contact_notes_show(&desk.cx, desk.work,
			&(struct mr_work_contact_show){ "p20260311005" }, &notes),
		"invalid_contact", NULL, NULL);
	CHECK(strstr(desk.cx.err.msg, "contacts/people/p20260311005-X.md: "));
	desk_close(&desk);
}

static void what_is_not_found_is_told(void)
{
	struct desk desk;
	struct mr_work_contact_place place;

	desk_open(&desk);
	put_cards();
	desk_check_fail(&desk, mr_work_contact_find(&desk.cx, desk.work, "p20260101001", &place),
		"not_found", "contact_uid", "p20260101001");
	CHECK_STR(desk.cx.err.msg, "contact p20260101001 is unknown");
	CHECK(strstr(mr_work_trouble(&desk.cx.err)->hint, "contact list") &&
		strstr(mr_work_trouble(&desk.cx.err)->hint, "contact reopen"));
	desk_check_fail(&desk, mr_work_contact_find(&desk.cx, desk.work, "Zhang San", &place),
		"invalid_request", NULL, NULL);
	desk_check_fail(&desk,
		mr_work_contact_find_active(&desk.cx, desk.work, "p20260310001", &place),
		"not_found", "contact_uid", "p20260310001");
	CHECK_STR(desk.cx.err.msg, "contact p20260310001 is archived");
	desk_put("archive/contacts/p20260311001-Twin.md", CARD("p20260311001", "Twin", ""));
	desk_check_fail(&desk, mr_work_contact_find(&desk.cx, desk.work, "p20260311001", &place),
		"duplicate_contact_uid", "contact_uid", "p20260311001");
	desk_close(&desk);
}

static void numbers_count_archived_contacts(void)
{
	struct desk desk;
	int64_t last = -1, active = -1, archived = -1;

	desk_open(&desk);
	CHECK_OK(mr_work_contact_count(&desk.cx, desk.work, &active, &archived), desk.cx.err);
	CHECK_INT(active, 0);
	CHECK_INT(archived, 0);
	put_cards();
	CHECK_OK(mr_work_contact_count(&desk.cx, desk.work, &active, &archived), desk.cx.err);
	CHECK_INT(active, 4);
	CHECK_INT(archived, 1);
	CHECK_OK(mr_work_contact_last_number(&desk.cx, desk.work, "20260311", &last), desk.cx.err);
	CHECK_INT(last, 1000);
	CHECK_OK(mr_work_contact_last_number(&desk.cx, desk.work, "20260310", &last), desk.cx.err);
	CHECK_INT(last, 1);
	CHECK_OK(mr_work_contact_last_number(&desk.cx, desk.work, "20260309", &last), desk.cx.err);
	CHECK_INT(last, 0);
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(active_contacts_are_listed_by_uid),
		TEST(filters_are_anded_and_exact),
		TEST(a_broken_card_is_skipped_and_named),
		TEST(a_sender_is_found),
		TEST(show_gives_the_whole_file),
		TEST(what_is_not_found_is_told),
		TEST(numbers_count_archived_contacts),
	};

	return test_main(tests, MR_LEN(tests));
}
