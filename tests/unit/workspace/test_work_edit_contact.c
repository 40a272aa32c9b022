/* tests/unit/workspace/test_work_edit_contact.c */
#include "workspace/edit_contact.h"

#include "desk.h"
#include "files.h"
#include "test.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <string.h>

#define UID  "p20260311001"
#define PATH "contacts/people/" UID "-Zhang-San.md"

static struct mr_texts texts(struct desk *desk, const char *list)
{
	return mr_str_split(desk->cx.arena, list, ',');
}

static enum mr_code create(struct desk *desk, const char *name, const char *group,
	const char *emails, struct mr_work_contact_created *out)
{
	struct mr_work_contact_create request = { .name = name,
		.group = group,
		.email = texts(desk, emails) };

	desk_next(desk);
	return mr_work_contact_create(&desk->cx, desk->work, &request, out);
}

/* The contact of the recorded cases, made at 04:15:01. */
static void create_zhang(struct desk *desk)
{
	struct mr_work_contact_create request = { .name = "Zhang San",
		.email = texts(desk, "Zhang@Example.com"),
		.phone = texts(desk, "13800138000"),
		.org = "Acme",
		.role = "Buyer",
		.tag = texts(desk, "vip") };
	struct mr_work_contact_created created;

	desk_next(desk);
	CHECK_OK(mr_work_contact_create(&desk->cx, desk->work, &request, &created), desk->cx.err);
	CHECK_STR(created.contact_uid, UID);
	CHECK_STR(created.display_name, "Zhang San");
	CHECK_STR(created.group, "people");
	CHECK_STR(mr_str_join(desk->cx.arena, &created.emails, ","), "zhang@example.com");
	CHECK_STR(created.contact_path, PATH);
	desk_next(desk);
}

static const char *field(const struct mr_value *event, const char *key)
{
	const struct mr_value *value = mr_value_get(event, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

/* The last event is of this kind and about the contact. */
static const struct mr_value *last(struct desk *desk, const char *kind)
{
	const struct mr_value *event = desk_last_event(desk), *targets;

	CHECK_STR(field(event, "kind"), kind);
	CHECK_STR(field(event, "contact_uid"), UID);
	targets = mr_value_get(event, "targets");
	CHECK(targets->kind == MR_LIST && targets->list.len == 1);
	CHECK_STR(field(&targets->list.items[0], "kind"), "contact");
	CHECK_STR(field(&targets->list.items[0], "id"), UID);
	CHECK_INT(files_count(MR_WORK_TRANSACTIONS), 0);
	return event;
}

static void a_card_is_made(void)
{
	struct desk desk;

	desk_open(&desk);
	create_zhang(&desk);
	files_hold(PATH,
		"---\nkind: contact\ncontact_uid: " UID "\ndisplay_name: Zhang San\nemails:\n"
		"- zhang@example.com\nphones:\n- \"13800138000\"\norganization: Acme\nrole: Buyer\n"
		"tags:\n- vip\ncreated_rfc3339: 2026-03-11T04:15:01Z\n"
		"updated_rfc3339: 2026-03-11T04:15:01Z\n---\n\n## Zhang San\n\n");
	CHECK_STR(field(last(&desk, "contact_created"), "display_name"), "Zhang San");
	CHECK_STR(field(desk_last_event(&desk), "group"), "people");
	CHECK_INT(mr_value_get(desk_last_event(&desk), "emails")->list.len, 1);
	CHECK(!mr_value_get(desk_last_event(&desk), "via"));
	desk_close(&desk);
}

static void a_card_may_be_empty(void)
{
	struct desk desk;
	struct mr_work_contact_created created;

	desk_open(&desk);
	CHECK_OK(create(&desk, " 张三 ", "vendors", "", &created), desk.cx.err);
	CHECK_STR(created.contact_path, "contacts/vendors/" UID "-张三.md");
	files_hold(created.contact_path,
		"---\nkind: contact\ncontact_uid: " UID "\ndisplay_name: \"张三\"\nemails: []\n"
		"phones: []\norganization: ''\nrole: ''\ntags: []\n"
		"created_rfc3339: 2026-03-11T04:15:01Z\nupdated_rfc3339: "
		"2026-03-11T04:15:01Z\n---\n\n"
		"## 张三\n\n");
	CHECK_OK(create(&desk, "B", NULL, "", &created), desk.cx.err);
	CHECK_STR(created.contact_uid, "p20260311002");
	desk_close(&desk);
}

static void bad_requests_make_nothing(void)
{
	struct desk desk;
	struct mr_work_contact_created created;

	desk_open(&desk);
	desk_check_fail(&desk, create(&desk, "A", NULL, "nonsense,nonsense", &created),
		"invalid_request", NULL, NULL);
	desk_check_fail(&desk, create(&desk, "a/b", NULL, "", &created), "invalid_request", NULL,
		NULL);
	CHECK_STR(desk.cx.err.msg, "the name 'a/b' may not contain / or \\ and may not be . or ..");
	desk_check_fail(&desk, create(&desk, " ", NULL, "", &created), "invalid_request", NULL,
		NULL);
	desk_check_fail(&desk, create(&desk, "A", "../x", "", &created), "invalid_request", NULL,
		NULL);
	desk_check_fail(&desk,
		mr_work_contact_create(&desk.cx, desk.work,
			&(struct mr_work_contact_create){ .name = "A", .tag = texts(&desk, "a/b") },
			&created),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk_tree(&desk), ".afmail");
	desk_close(&desk);
}

static void an_address_has_one_owner(void)
{
	struct desk desk;
	struct mr_work_contact_created created;
	struct mr_work_contact_emailed emailed;
	struct mr_work_contact_ended ended;

	desk_open(&desk);
	create_zhang(&desk);
	desk_check_fail(&desk, create(&desk, "Other", NULL, "ZHANG@example.com", &created),
		"email_conflict", "existing_contact_uid", UID);
	desk_check_fail(&desk, create(&desk, "Other", NULL, "zhang@example.com", &created),
		"email_conflict", "email", "zhang@example.com");
	CHECK_STR(desk.cx.err.msg,
		"zhang@example.com is an address of contact " UID " (Zhang San)");
	/* One that is archived keeps its addresses. */
	desk_next(&desk);
	CHECK_OK(mr_work_contact_archive(&desk.cx, desk.work,
			 &(struct mr_work_contact_end){ UID, "left" }, &ended),
		desk.cx.err);
	desk_check_fail(&desk, create(&desk, "Other", NULL, "zhang@example.com", &created),
		"email_conflict", "existing_contact_uid", UID);
	CHECK_OK(create(&desk, "Other", NULL, "o@example.com,O@example.com", &created),
		desk.cx.err);
	CHECK_STR(mr_str_join(desk.cx.arena, &created.emails, ","), "o@example.com");
	desk_check_fail(&desk,
		mr_work_contact_email_add(&desk.cx, desk.work,
			&(struct mr_work_contact_email){ created.contact_uid, "zhang@example.com" },
			&emailed),
		"email_conflict", "existing_contact_uid", UID);
	desk_close(&desk);
}

static void addresses_come_and_go(void)
{
	struct desk desk;
	struct mr_work_contact_emailed emailed;
	struct mr_work_contact_email request = { UID, " B@Example.org " };
	const char *before;

	desk_open(&desk);
	create_zhang(&desk);
	CHECK_OK(mr_work_contact_email_add(&desk.cx, desk.work, &request, &emailed), desk.cx.err);
	CHECK_STR(emailed.contact_uid, UID);
	CHECK_STR(emailed.email, "b@example.org");
	CHECK_STR(mr_str_join(desk.cx.arena, &emailed.emails, ","),
		"zhang@example.com,b@example.org");
	CHECK_STR(field(last(&desk, "contact_email_added"), "email"), "b@example.org");
	before = desk_text(&desk, PATH);
	CHECK(strstr(before,
		"created_rfc3339: 2026-03-11T04:15:01Z\n"
		"updated_rfc3339: 2026-03-11T04:15:02Z\n"));
	/* Again: no change, no event, no new time. */
	desk_next(&desk);
	CHECK_OK(mr_work_contact_email_add(&desk.cx, desk.work, &request, &emailed), desk.cx.err);
	CHECK_INT(emailed.emails.len, 2);
	request.email = "no@example.org";
	CHECK_OK(mr_work_contact_email_remove(&desk.cx, desk.work, &request, &emailed),
		desk.cx.err);
	CHECK_STR(emailed.email, "no@example.org");
	CHECK_INT(emailed.emails.len, 2);
	CHECK_STR(desk_text(&desk, PATH), before);
	CHECK_STR(desk_events(&desk), "contact_created contact_email_added");
	request.email = "ZHANG@example.com";
	CHECK_OK(mr_work_contact_email_remove(&desk.cx, desk.work, &request, &emailed),
		desk.cx.err);
	CHECK_STR(mr_str_join(desk.cx.arena, &emailed.emails, ","), "b@example.org");
	last(&desk, "contact_email_removed");
	request.email = "nonsense";
	desk_check_fail(&desk, mr_work_contact_email_add(&desk.cx, desk.work, &request, &emailed),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

static void telephones_come_and_go(void)
{
	struct desk desk;
	struct mr_work_contact_phoned phoned;
	struct mr_work_contact_phone request = { UID, " +49 30 1234 " };

	desk_open(&desk);
	create_zhang(&desk);
	CHECK_OK(mr_work_contact_phone_add(&desk.cx, desk.work, &request, &phoned), desk.cx.err);
	CHECK_STR(phoned.phone, "+49 30 1234");
	CHECK_STR(mr_str_join(desk.cx.arena, &phoned.phones, ","), "13800138000,+49 30 1234");
	last(&desk, "contact_phone_added");
	request.phone = "13800138000";
	CHECK_OK(mr_work_contact_phone_remove(&desk.cx, desk.work, &request, &phoned), desk.cx.err);
	CHECK_STR(mr_str_join(desk.cx.arena, &phoned.phones, ","), "+49 30 1234");
	last(&desk, "contact_phone_removed");
	CHECK_OK(mr_work_contact_phone_remove(&desk.cx, desk.work, &request, &phoned), desk.cx.err);
	CHECK_STR(desk_events(&desk), "contact_created contact_phone_added contact_phone_removed");
	request.phone = " ";
	desk_check_fail(&desk, mr_work_contact_phone_add(&desk.cx, desk.work, &request, &phoned),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "the telephone number is empty");
	desk_close(&desk);
}

static void tags_come_and_go_and_always_write(void)
{
	struct desk desk;
	struct mr_work_contact_tagged tagged;
	struct mr_work_contact_tag request = { UID, "vip" };

	desk_open(&desk);
	create_zhang(&desk);
	CHECK_OK(mr_work_contact_tag(&desk.cx, desk.work, &request, &tagged), desk.cx.err);
	CHECK_STR(mr_str_join(desk.cx.arena, &tagged.tags, ","), "vip");
	CHECK(strstr(desk_text(&desk, PATH), "updated_rfc3339: 2026-03-11T04:15:02Z\n"));
	last(&desk, "contact_tagged");
	desk_next(&desk);
	CHECK_OK(mr_work_contact_untag(&desk.cx, desk.work, &request, &tagged), desk.cx.err);
	CHECK_STR(tagged.contact_uid, UID);
	CHECK_STR(tagged.tag, "vip");
	CHECK_INT(tagged.tags.len, 0);
	CHECK(strstr(desk_text(&desk, PATH), "tags: []\n"));
	CHECK(strstr(desk_text(&desk, PATH), "updated_rfc3339: 2026-03-11T04:15:03Z\n"));
	last(&desk, "contact_untagged");
	request.tag = "a/b";
	desk_check_fail(&desk, mr_work_contact_tag(&desk.cx, desk.work, &request, &tagged),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

static void a_contact_moves_between_groups(void)
{
	struct desk desk;
	struct mr_work_contact_moved moved;
	struct mr_work_contact_move request = { UID, "vendors" };

	desk_open(&desk);
	create_zhang(&desk);
	CHECK_OK(mr_work_contact_move(&desk.cx, desk.work, &request, &moved), desk.cx.err);
	CHECK(moved.changed);
	CHECK_STR(moved.group, "vendors");
	CHECK_STR(moved.contact_path, "contacts/vendors/" UID "-Zhang-San.md");
	CHECK(desk_has(moved.contact_path) && !desk_has("contacts/people"));
	CHECK_STR(field(last(&desk, "contact_moved"), "from_group"), "people");
	CHECK_STR(field(desk_last_event(&desk), "to_group"), "vendors");
	CHECK_OK(mr_work_contact_move(&desk.cx, desk.work, &request, &moved), desk.cx.err);
	CHECK(!moved.changed);
	CHECK_STR(moved.contact_path, "contacts/vendors/" UID "-Zhang-San.md");
	CHECK_STR(desk_events(&desk), "contact_created contact_moved");
	/* A directory that has anything else stays. */
	desk_put("contacts/vendors/notes.txt", "mine");
	desk_next(&desk);
	request.group = "people";
	CHECK_OK(mr_work_contact_move(&desk.cx, desk.work, &request, &moved), desk.cx.err);
	CHECK(desk_has("contacts/vendors/notes.txt") && desk_has(PATH));
	request.group = "..";
	desk_check_fail(&desk, mr_work_contact_move(&desk.cx, desk.work, &request, &moved),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

static void a_name_changes_and_the_notes_stay(void)
{
	struct desk desk;
	struct mr_work_contact_renamed renamed;
	struct mr_work_contact_rename request = { UID "-Zhang-San", "Zhang Sanfeng" };

	desk_open(&desk);
	create_zhang(&desk);
	CHECK_OK(mr_work_contact_rename(&desk.cx, desk.work, &request, &renamed), desk.cx.err);
	CHECK_STR(renamed.contact_uid, UID);
	CHECK_STR(renamed.display_name, "Zhang Sanfeng");
	CHECK_STR(renamed.group, "people");
	CHECK_STR(renamed.contact_path, "contacts/people/" UID "-Zhang-Sanfeng.md");
	CHECK(!desk_has(PATH));
	files_hold(renamed.contact_path,
		"---\nkind: contact\ncontact_uid: " UID "\ndisplay_name: Zhang Sanfeng\nemails:\n"
		"- zhang@example.com\nphones:\n- \"13800138000\"\norganization: Acme\nrole: Buyer\n"
		"tags:\n- vip\ncreated_rfc3339: 2026-03-11T04:15:01Z\n"
		"updated_rfc3339: 2026-03-11T04:15:02Z\n---\n\n## Zhang San\n\n");
	CHECK_STR(field(last(&desk, "contact_renamed"), "old_name"), "Zhang San");
	CHECK_STR(field(desk_last_event(&desk), "new_name"), "Zhang Sanfeng");
	/* The same name again is no change; another of the same file name is one. */
	CHECK_OK(mr_work_contact_rename(&desk.cx, desk.work, &request, &renamed), desk.cx.err);
	request.name = "Zhang:Sanfeng";
	CHECK_OK(mr_work_contact_rename(&desk.cx, desk.work, &request, &renamed), desk.cx.err);
	CHECK_STR(renamed.contact_path, "contacts/people/" UID "-Zhang-Sanfeng.md");
	CHECK_STR(desk_events(&desk), "contact_created contact_renamed contact_renamed");
	request.name = "a/b";
	desk_check_fail(&desk, mr_work_contact_rename(&desk.cx, desk.work, &request, &renamed),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

static void notes_are_written(void)
{
	struct desk desk;
	struct mr_work_contact_written written;
	struct mr_work_contact_notes notes;
	struct mr_work_contact_write request = { UID, "Likes tea." };
	struct mr_work_contact_show show = { UID };
	const struct mr_value *event;

	desk_open(&desk);
	create_zhang(&desk);
	CHECK_OK(mr_work_contact_notes_show(&desk.cx, desk.work, &show, &notes), desk.cx.err);
	CHECK_STR(notes.notes, "## Zhang San\n\n");
	CHECK_OK(mr_work_contact_notes_append(&desk.cx, desk.work, &request, &written),
		desk.cx.err);
	CHECK_STR(written.contact_uid, UID);
	CHECK_OK(mr_work_contact_notes_show(&desk.cx, desk.work, &show, &notes), desk.cx.err);
	CHECK_STR(notes.notes, "## Zhang San\n\nLikes tea.\n");
	event = last(&desk, "contact_notes_appended");
	CHECK_INT(mr_value_get(event, "text_len_bytes")->integer, 10);
	CHECK(mr_str_starts(field(event, "text_hash"), "fnv1a64:"));
	CHECK(!strstr(desk_text(&desk, MR_WORK_LOG), "tea"));
	request.text = "---\nkind: nothing\n---\n";
	CHECK_OK(mr_work_contact_notes_replace(&desk.cx, desk.work, &request, &written),
		desk.cx.err);
	CHECK_OK(mr_work_contact_notes_show(&desk.cx, desk.work, &show, &notes), desk.cx.err);
	CHECK_STR(notes.notes, "---\nkind: nothing\n---\n");
	last(&desk, "contact_notes_replaced");
	desk_close(&desk);
}

static void an_archived_contact_comes_back(void)
{
	struct desk desk;
	struct mr_work_contact_ended ended;
	struct mr_work_contact_reopened reopened;
	struct mr_work_contact_reopen back = { UID, NULL, "back" };
	struct mr_work_contact_moved moved;
	const char *card;

	desk_open(&desk);
	create_zhang(&desk);
	card = desk_text(&desk, PATH);
	desk_check_fail(&desk,
		mr_work_contact_archive(&desk.cx, desk.work,
			&(struct mr_work_contact_end){ UID, NULL }, &ended),
		"reason_required", NULL, NULL);
	desk_check_fail(&desk, mr_work_contact_reopen(&desk.cx, desk.work, &back, &reopened),
		"not_found", "contact_uid", UID);
	CHECK_STR(desk.cx.err.msg, "contact " UID " is not archived");
	CHECK_OK(mr_work_contact_archive(&desk.cx, desk.work,
			 &(struct mr_work_contact_end){ UID, " left " }, &ended),
		desk.cx.err);
	CHECK_STR(ended.contact_uid, UID);
	CHECK_STR(ended.contact_path, "archive/contacts/" UID "-Zhang-San.md");
	CHECK_STR(desk_text(&desk, ended.contact_path), card);
	CHECK(!desk_has("contacts/people"));
	CHECK_STR(field(last(&desk, "contact_archived"), "from_group"), "people");
	CHECK_STR(field(desk_last_event(&desk), "reason"), "left");
	desk_next(&desk);
	desk_check_fail(&desk,
		mr_work_contact_move(&desk.cx, desk.work,
			&(struct mr_work_contact_move){ UID, "x" }, &moved),
		"not_found", "contact_uid", UID);
	CHECK_OK(mr_work_contact_reopen(&desk.cx, desk.work, &back, &reopened), desk.cx.err);
	CHECK_STR(reopened.group, "people");
	CHECK_STR(reopened.contact_path, PATH);
	CHECK_STR(desk_text(&desk, PATH), card);
	CHECK_STR(field(last(&desk, "contact_reopened"), "group"), "people");
	CHECK_STR(field(desk_last_event(&desk), "reason"), "back");
	desk_close(&desk);
}

static void a_contact_is_deleted(void)
{
	struct desk desk;
	struct mr_work_contact_ended ended;
	struct mr_work_contact_end request = { UID, NULL };
	struct mr_work_contact_created created;

	desk_open(&desk);
	create_zhang(&desk);
	desk_check_fail(&desk, mr_work_contact_delete(&desk.cx, desk.work, &request, &ended),
		"reason_required", NULL, NULL);
	request.reason = "asked to";
	CHECK_OK(mr_work_contact_delete(&desk.cx, desk.work, &request, &ended), desk.cx.err);
	CHECK_STR(ended.contact_path, PATH);
	CHECK(!desk_has("contacts/people"));
	CHECK_STR(field(last(&desk, "contact_deleted"), "display_name"), "Zhang San");
	CHECK_STR(field(desk_last_event(&desk), "from_path"), PATH);
	desk_check_fail(&desk, mr_work_contact_delete(&desk.cx, desk.work, &request, &ended),
		"not_found", "contact_uid", UID);
	/* The address is free again; a broken card can be deleted too. */
	CHECK_OK(create(&desk, "Other", NULL, "zhang@example.com", &created), desk.cx.err);
	desk_put("archive/contacts/p20260311009-X.md", "no frontmatter");
	desk_next(&desk);
	request.contact_ref = "p20260311009";
	CHECK_OK(mr_work_contact_delete(&desk.cx, desk.work, &request, &ended), desk.cx.err);
	CHECK(!desk_has("archive/contacts/p20260311009-X.md"));
	desk_close(&desk);
}

/* Nobody but people edits what is broken; the others go on. */
static void a_broken_card_is_not_changed(void)
{
	struct desk desk;
	struct mr_work_contact_tagged tagged;
	struct mr_work_contact_created created;

	desk_open(&desk);
	desk_put(PATH, "no frontmatter");
	desk_check_fail(&desk,
		mr_work_contact_tag(&desk.cx, desk.work, &(struct mr_work_contact_tag){ UID, "x" },
			&tagged),
		"invalid_contact", NULL, NULL);
	CHECK(strstr(desk.cx.err.msg, PATH ": "));
	files_hold(PATH, "no frontmatter");
	CHECK_OK(create(&desk, "Other", NULL, "o@example.com", &created), desk.cx.err);
	CHECK_STR(created.contact_uid, "p20260311002");
	desk_close(&desk);
}

static void changes_by_hand_survive(void)
{
	struct desk desk;
	struct mr_work_contact_tagged tagged;

	desk_open(&desk);
	desk_put(PATH,
		"---\nkind: contact\ncontact_uid: " UID
		"\ndisplay_name: Zhang San\nbirthday: May\n---\n"
		"\n\n\nnotes \r\nno newline");
	CHECK_OK(mr_work_contact_tag(&desk.cx, desk.work, &(struct mr_work_contact_tag){ UID, "x" },
			 &tagged),
		desk.cx.err);
	files_hold(PATH,
		"---\nkind: contact\ncontact_uid: " UID "\ndisplay_name: Zhang San\nemails: []\n"
		"phones: []\norganization: ''\nrole: ''\ntags:\n- x\n"
		"created_rfc3339: 2026-03-11T04:15:00Z\nupdated_rfc3339: 2026-03-11T04:15:00Z\n"
		"birthday: May\n---\n\n\n\nnotes \r\nno newline");
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_card_is_made),
		TEST(a_card_may_be_empty),
		TEST(bad_requests_make_nothing),
		TEST(an_address_has_one_owner),
		TEST(addresses_come_and_go),
		TEST(telephones_come_and_go),
		TEST(tags_come_and_go_and_always_write),
		TEST(a_contact_moves_between_groups),
		TEST(a_name_changes_and_the_notes_stay),
		TEST(notes_are_written),
		TEST(an_archived_contact_comes_back),
		TEST(a_contact_is_deleted),
		TEST(a_broken_card_is_not_changed),
		TEST(changes_by_hand_survive),
	};

	return test_main(tests, MR_LEN(tests));
}
