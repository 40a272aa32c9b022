/* tests/unit/workspace/test_work_draft.c */
#include "workspace/draft.h"

#include "post.h"
#include "test.h"
#include "workspace/case.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"

#include <string.h>

#define UID   "c20260504001"
#define CASE  "cases/open/" UID "-A"
#define NEW   "new-plan-b.md"
#define REPLY "reply-" PLAIN ".md"

static void begin(struct desk *desk)
{
	struct mr_work_case_create request = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_case_created created;

	post_open(desk);
	post_set_json(desk, "identities",
		"[{\"identity\": \"me\", \"name\": \"Me\", \"email\": \"me@mail.example\","
		" \"default\": true}, {\"identity\": \"desk\", \"name\": \"Desk\","
		" \"email\": \"desk@mail.example\"}]");
	desk_put("identities/desk.md",
		"---\nkind: identity\nidentity: desk\nfooter: |\n  --\n  Desk\n---\n");
	desk_put("identities/me.md",
		"---\nkind: identity\nidentity: me\nfooter: |\n  Regards\n---\n");
	post_mail(desk, PLAIN, T1, NULL);
	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &created));
	CHECK_STR(created.case_path, CASE);
}

static enum mr_code make(struct desk *desk, const char *to, const char *body)
{
	struct mr_work_draft_new request = { .case_ref = UID,
		.to = mr_str_split(desk->cx.arena, to, ','),
		.subject = "Plan: B?",
		.body = body };
	struct mr_work_draft_created created;

	return mr_work_draft_new(&desk->cx, desk->work, &request, &created);
}

static const struct mr_work_draft_ref new_ref = { UID, NEW };

static void a_draft_is_made(void)
{
	struct desk desk;

	begin(&desk);
	POST_OK(&desk, make(&desk, "bob@example.net,Carol <carol@example.net>", "Hello."));
	CHECK_STR(desk_text(&desk, CASE "/drafts/" NEW),
		"---\nkind: draft\ncase_uid: " UID "\nsend_intent: new\nidentity: me\n"
		"subject: \"Plan: B?\"\nto:\n- bob@example.net\n- \"Carol <carol@example.net>\"\n"
		"cc: []\nattachments: []\n---\nHello.\n\nRegards\n");
	POST_OK(&desk, make(&desk, "bob@example.net", NULL));
	CHECK(strstr(desk_text(&desk, CASE "/drafts/new-plan-b-2.md"), "Hello,\n\n[Write"));
	desk_check_fail(&desk, make(&desk, "not an address", NULL), "draft_invalid", NULL, NULL);
	CHECK(!desk_has(CASE "/drafts/new-plan-b-3.md"));
	desk_close(&desk);
}

static void a_reply_quotes_and_is_made_once(void)
{
	struct desk desk;
	struct mr_work_draft_answer request = { .case_ref = UID, .message_id = PLAIN };
	struct mr_work_draft_created created;

	begin(&desk);
	POST_OK(&desk, mr_work_draft_reply(&desk.cx, desk.work, &request, &created));
	CHECK_STR(created.draft_name, REPLY);
	CHECK_STR(created.message_id, PLAIN);
	CHECK_STR(created.identity, "me");
	CHECK(strstr(desk_text(&desk, CASE "/drafts/" REPLY),
		"send_intent: reply\nreply_to_message_id: " PLAIN "\n"));
	CHECK(strstr(desk_text(&desk, CASE "/drafts/" REPLY),
		"to:\n- \"Alice Adams <alice@example.org>\"\ncc: []\n"));
	CHECK(strstr(desk_text(&desk, CASE "/drafts/" REPLY), "\n> Hello.\n\nRegards\n"));
	CHECK(strstr(desk_text(&desk, CASE "/drafts/" REPLY),
		"subject: \"Re: Invoice 17 is ready\"\n"));
	desk_check_fail(&desk, mr_work_draft_reply(&desk.cx, desk.work, &request, &created),
		"draft_exists", NULL, NULL);
	CHECK(!mr_work_trouble(&desk.cx.err)->detail);
	request.message_id = T1;
	desk_check_fail(&desk, mr_work_draft_reply(&desk.cx, desk.work, &request, &created),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

/* The reference leaves a reply to our own mail without a recipient. */
static void our_own_mail_is_followed_up(void)
{
	struct desk desk;
	struct mr_work_draft_answer request = { .case_ref = UID, .message_id = PLAIN, .all = true };
	struct mr_work_draft_created created;

	begin(&desk);
	post_set_json(&desk, "identities",
		"[{\"identity\": \"me\", \"name\": \"Me\", \"email\": \"Alice@example.org\","
		" \"default\": true}, {\"identity\": \"desk\", \"name\": \"Desk\","
		" \"email\": \"desk@mail.example\"}]");
	POST_OK(&desk, mr_work_draft_reply(&desk.cx, desk.work, &request, &created));
	CHECK(strstr(desk_text(&desk, CASE "/drafts/" REPLY),
		"to:\n- \"Me Tester <me@example.com>\"\ncc: []\n"));
	desk_close(&desk);
}

static void a_message_is_forwarded(void)
{
	struct desk desk;
	struct mr_work_draft_answer request = { .case_ref = UID,
		.message_id = PLAIN,
		.body = "See below." };
	const char *to[] = { "bob@example.net", NULL };
	struct mr_work_push_item item = { .push_id = "push_20260311T041500Z",
		.action = MR_WORK_PUSH_SEND };
	struct mr_work_draft_created created;
	struct mr_work_outbound mail = { 0 };
	struct mr_work_draft draft;

	begin(&desk);
	request.to = (struct mr_texts){ to, 1 };
	POST_OK(&desk, mr_work_draft_forward(&desk.cx, desk.work, &request, &created));
	CHECK_STR(created.draft_name, "forward-" PLAIN ".md");
	CHECK_OK(mr_work_draft_open(&desk.cx, desk.work, UID, created.draft_name, &draft),
		desk.cx.err);
	CHECK_STR(draft.file.subject, "Fwd: Invoice 17 is ready");
	CHECK_OK(mr_work_draft_build(&desk.cx, desk.work, &draft, &item, desk.work->now_us, &mail),
		desk.cx.err);
	CHECK(strstr((const char *)mail.bytes.data, "message/rfc822"));
	desk_close(&desk);
}

static enum mr_code validate(struct desk *desk)
{
	struct mr_work_draft_valid valid;

	return mr_work_draft_validate(&desk->cx, desk->work, &new_ref, &valid);
}

static void check_refused(struct desk *desk, const char *head, const char *message)
{
	desk_put(CASE "/drafts/" NEW,
		mr_arena_printf(desk->cx.arena, "---\nkind: draft\n%s---\nHi\n", head));
	desk_next(desk);
	desk_check_fail(desk, validate(desk), "draft_invalid", NULL, NULL);
	CHECK(strstr(desk->cx.err.msg, message));
	CHECK(!desk_has(CASE "/data/drafts.json"));
}

static void drafts_are_checked(void)
{
	struct desk desk;

	begin(&desk);
	desk_check_fail(&desk, validate(&desk), "draft_not_found", "draft_name", NEW);
	check_refused(&desk, "case_uid: c20260101001\n", "case_uid is not " UID);
	check_refused(&desk, "case_uid: " UID "\n", "it has no subject");
	check_refused(&desk, "case_uid: " UID "\nsubject: x\n", "it has no recipient in to");
	check_refused(&desk, "case_uid: " UID "\nsubject: \"a\\nBcc: b\"\nto: [a@example.net]\n",
		"the subject is not one line");
	check_refused(&desk, "case_uid: " UID "\nsubject: x\nto: [not an address]\n", "to: ");
	check_refused(&desk, "case_uid: " UID "\nsubject: x\nto: [a@example.net]\ncc: ['@']\n",
		"cc: ");
	check_refused(&desk,
		"case_uid: " UID "\nsubject: x\nto: [a@example.net]\nreply_to_message_id: " T1 "\n",
		"is no message of case");
	check_refused(&desk,
		"case_uid: " UID "\nsubject: x\nto: [a@example.net]\nidentity: nobody\n",
		"there is no identity nobody");
	check_refused(&desk,
		"case_uid: " UID "\nsubject: x\nto: [a@example.net]\nattachments: [../x]\n",
		"is not a path below the case");
	check_refused(&desk,
		"case_uid: " UID "\nsubject: x\nto: [a@example.net]\nattachments: [files/x]\n",
		"there is no attachment files/x");
	desk_put(CASE "/drafts/" NEW,
		"---\nkind: draft\ncase_uid: " UID
		"\nsubject: x\nto: [a@example.net]\ncc:\nattachments:\n---\nHi\n");
	desk_next(&desk);
	POST_OK(&desk, validate(&desk));
	CHECK(strstr(desk_text(&desk, CASE "/data/drafts.json"),
		"\"last_validated_hash\": \"sha256:"));
	desk_close(&desk);
}

static void a_change_swaps_the_footer(void)
{
	struct desk desk;
	struct mr_work_draft_change request = { .case_ref = UID, .draft_name = NEW };
	struct mr_work_draft_changed changed;
	const char *bad[] = { "nonsense", NULL };

	begin(&desk);
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	POST_OK(&desk, mr_work_draft_change(&desk.cx, desk.work, &request, &changed));
	CHECK_INT(changed.changed_fields.len, 0);
	CHECK_STR(post_event(&desk, "kind"), "case_created");
	request.identity = "desk";
	request.subject = "Other";
	POST_OK(&desk, mr_work_draft_change(&desk.cx, desk.work, &request, &changed));
	CHECK_STR(post_join(&desk, &changed.changed_fields), "subject identity");
	CHECK(strstr(desk_text(&desk, CASE "/drafts/" NEW), "---\nHello.\n\n--\nDesk\n"));
	CHECK_STR(post_event(&desk, "kind"), "draft_changed");
	CHECK_STR(post_event(&desk, "draft_hash"), changed.draft_hash);
	request.to = (struct mr_texts){ bad, 1 };
	request.subject = "Third";
	desk_check_fail(&desk, mr_work_draft_change(&desk.cx, desk.work, &request, &changed),
		"draft_invalid", NULL, NULL);
	CHECK(strstr(desk_text(&desk, CASE "/drafts/" NEW), "subject: Other\n"));
	desk_close(&desk);
}

/* The reference keeps an old copy when a file of the same name has another content. */
static void files_are_attached(void)
{
	struct desk desk;
	struct mr_work_draft_attach request = { UID, NEW, "r?p.txt" };
	struct mr_work_draft_attached attached;

	begin(&desk);
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	desk_put("r?p.txt", "data");
	POST_OK(&desk, mr_work_draft_attach(&desk.cx, desk.work, &request, &attached));
	CHECK_STR(attached.attachment, "files/r_p.txt");
	CHECK(attached.copied && !attached.already_present);
	CHECK_INT(attached.size_bytes, 4);
	CHECK_STR(post_event(&desk, "kind"), "draft_changed");
	CHECK_STR(mr_value_get(desk_last_event(&desk), "changed_fields")->list.items[0].text,
		"attachments");
	POST_OK(&desk, mr_work_draft_attach(&desk.cx, desk.work, &request, &attached));
	CHECK(!attached.copied && attached.already_present);
	desk_put("r?p.txt", "other");
	POST_OK(&desk, mr_work_draft_attach(&desk.cx, desk.work, &request, &attached));
	CHECK_STR(attached.attachment, "files/1-r_p.txt");
	CHECK_STR(desk_text(&desk, CASE "/files/1-r_p.txt"), "other");
	request.path = CASE "/notes.md";
	POST_OK(&desk, mr_work_draft_attach(&desk.cx, desk.work, &request, &attached));
	CHECK_STR(attached.attachment, "notes.md");
	CHECK(!attached.copied);
	request.path = CASE;
	desk_check_fail(&desk, mr_work_draft_attach(&desk.cx, desk.work, &request, &attached),
		"draft_invalid", NULL, NULL);
	POST_OK(&desk, validate(&desk));
	desk_close(&desk);
}

static void a_draft_is_queued_and_shown(void)
{
	struct desk desk;
	struct mr_work_draft_queued queued;
	struct mr_work_draft_shown shown;
	struct mr_work_draft_listed listed;
	const char *push_id;

	begin(&desk);
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	POST_OK(&desk, mr_work_draft_save(&desk.cx, desk.work, &new_ref, &queued));
	CHECK_STR(queued.action, "save_draft");
	push_id = queued.push_id;
	POST_OK(&desk, mr_work_draft_send(&desk.cx, desk.work, &new_ref, &queued));
	CHECK_STR(queued.action, "send");
	CHECK_STR(queued.push_id, push_id);
	CHECK_STR(post_event(&desk, "kind"), "draft_queued");
	CHECK_OK(mr_work_draft_show(&desk.cx, desk.work, &new_ref, &shown), desk.cx.err);
	CHECK_STR(shown.queued_action, "send");
	CHECK_STR(shown.body, "Hello.\n\nRegards");
	CHECK(shown.validated_current);
	CHECK_OK(mr_work_draft_list(&desk.cx, desk.work, &(struct mr_work_draft_list){ UID },
			 &listed),
		desk.cx.err);
	CHECK_INT(listed.count, 1);
	CHECK(listed.items[0].draft_valid);
	post_start(&desk, push_id);
	desk_check_fail(&desk, mr_work_draft_save(&desk.cx, desk.work, &new_ref, &queued),
		"push_already_started", "push_id", push_id);
	desk_close(&desk);
}

static void a_draft_is_composed_when_it_was_validated(void)
{
	struct desk desk;
	struct mr_work_draft_queued queued;
	struct mr_work_draft_valid valid;
	const char *validate_it = "afmail case draft validate " UID " " NEW;

	begin(&desk);
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	desk_check_fail(&desk, mr_work_draft_compose(&desk.cx, desk.work, &new_ref, &queued),
		"draft_validation_required", NULL, NULL);
	CHECK_STR(post_detail(&desk, "suggested_commands"), validate_it);
	POST_OK(&desk, mr_work_draft_validate(&desk.cx, desk.work, &new_ref, &valid));
	desk_put(CASE "/drafts/" NEW,
		"---\nkind: draft\ncase_uid: " UID
		"\nsubject: x\nto: [bob@example.net]\n---\nHi\n");
	desk_check_fail(&desk, mr_work_draft_compose(&desk.cx, desk.work, &new_ref, &queued),
		"draft_changed_since_validation", NULL, NULL);
	CHECK_STR(post_queue(&desk), "");
	POST_OK(&desk, mr_work_draft_validate(&desk.cx, desk.work, &new_ref, &valid));
	POST_OK(&desk, mr_work_draft_compose(&desk.cx, desk.work, &new_ref, &queued));
	CHECK_STR(queued.action, "save_draft");
	desk_close(&desk);
}

/* What the server has as it is need not stand in the way of archiving the case. */
static void a_saved_draft_is_archived_with_its_case(void)
{
	struct desk desk;
	struct mr_work_case_ref request = { UID, "done" };
	struct mr_work_case_archived archived;
	struct mr_work_draft_states states;
	struct mr_work_draft_valid valid;
	struct mr_work_change change;

	begin(&desk);
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	POST_OK(&desk, mr_work_draft_validate(&desk.cx, desk.work, &new_ref, &valid));
	desk_check_fail(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived),
		"case_has_local_drafts", NULL, NULL);
	POST_OK(&desk, mr_work_draft_states_load(&desk.cx, desk.work, CASE, &states));
	mr_work_change_begin(&desk.cx, desk.work, "draft_write", &change);
	mr_work_draft_state_saved(&change, &states, NEW, valid.draft_hash);
	POST_OK(&desk, mr_work_change_commit(&desk.cx, &change));
	/* Another check keeps what is known of the server. */
	POST_OK(&desk, mr_work_draft_validate(&desk.cx, desk.work, &new_ref, &valid));
	desk_put(CASE "/drafts/other.md", "---\nkind: draft\n---\n");
	desk_check_fail(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived),
		"case_has_local_drafts", NULL, NULL);
	CHECK_STR(post_detail(&desk, "draft_names"), "other.md");
	POST_OK(&desk,
		mr_work_draft_remove(&desk.cx, desk.work,
			&(struct mr_work_draft_remove){ UID, "other.md", "r" },
			&(struct mr_work_draft_removed){ 0 }));
	desk_check_fail(&desk,
		mr_work_case_trash(&desk.cx, desk.work, &request,
			&(struct mr_work_case_trashed){ 0 }),
		"case_has_local_drafts", NULL, NULL);
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived));
	CHECK(desk_has("archive/cases/" UID "-A/drafts/" NEW));
	desk_close(&desk);
}

/* The reference sends in the name of the example. */
static void the_example_cannot_send(void)
{
	struct desk desk;
	struct mr_work_draft_queued queued;

	begin(&desk);
	post_set_json(&desk, "identities",
		"[{\"identity\": \"me\", \"name\": \"Me\", \"email\": \"me@example.com\","
		" \"default\": true}, {\"identity\": \"desk\", \"name\": \"Desk\","
		" \"email\": \"desk@mail.example\"}]");
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	desk_check_fail(&desk, mr_work_draft_send(&desk.cx, desk.work, &new_ref, &queued),
		"config_missing", NULL, NULL);
	CHECK_STR(post_queue(&desk), "");
	/* An identity that somebody has set is theirs, whatever its address. */
	post_set_json(&desk, "identities",
		"[{\"identity\": \"me\", \"name\": \"Me Tester\", \"email\": \"me@example.com\","
		" \"default\": true}, {\"identity\": \"desk\", \"name\": \"Desk\","
		" \"email\": \"desk@mail.example\"}]");
	POST_OK(&desk, mr_work_draft_send(&desk.cx, desk.work, &new_ref, &queued));
	CHECK_STR(queued.action, "send");
	desk_close(&desk);
}

/* The reference removes a draft whose mail was sent. */
static void a_draft_is_removed_unless_it_has_begun(void)
{
	struct desk desk;
	struct mr_work_draft_remove request = { UID, NEW, "no" };
	struct mr_work_draft_removed removed;
	struct mr_work_draft_queued queued;

	begin(&desk);
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	POST_OK(&desk, mr_work_draft_send(&desk.cx, desk.work, &new_ref, &queued));
	post_start(&desk, queued.push_id);
	desk_check_fail(&desk, mr_work_draft_remove(&desk.cx, desk.work, &request, &removed),
		"push_already_started", "push_id", queued.push_id);
	CHECK(desk_has(CASE "/drafts/" NEW));
	POST_OK(&desk, make(&desk, "bob@example.net", "Hello."));
	request.draft_name = "new-plan-b-2.md";
	POST_OK(&desk,
		mr_work_draft_send(&desk.cx, desk.work,
			&(struct mr_work_draft_ref){ UID, request.draft_name }, &queued));
	POST_OK(&desk, mr_work_draft_remove(&desk.cx, desk.work, &request, &removed));
	CHECK(removed.draft_deleted && removed.state_removed && removed.queued_removed);
	CHECK_STR(post_join(&desk, &removed.push_ids), queued.push_id);
	CHECK_STR(post_join(&desk, &removed.actions), "send");
	CHECK(!desk_has(CASE "/drafts/new-plan-b-2.md"));
	CHECK_STR(post_event(&desk, "kind"), "draft_removed");
	CHECK_STR(post_event(&desk, "reason"), "no");
	desk_check_fail(&desk, mr_work_draft_remove(&desk.cx, desk.work, &request, &removed),
		"draft_not_found", "draft_name", "new-plan-b-2.md");
	desk_close(&desk);
}

static void a_reply_is_built(void)
{
	struct desk desk;
	struct mr_work_draft_answer request = { .case_ref = UID,
		.message_id = PLAIN,
		.body = "Yes." };
	struct mr_work_push_item item = { .push_id = "push_20260311T041500Z",
		.action = MR_WORK_PUSH_SEND };
	struct mr_work_draft_created created;
	struct mr_work_outbound mail = { 0 };
	struct mr_work_draft draft;
	const char *text;

	begin(&desk);
	POST_OK(&desk, mr_work_draft_reply(&desk.cx, desk.work, &request, &created));
	CHECK_OK(mr_work_draft_open(&desk.cx, desk.work, UID, REPLY, &draft), desk.cx.err);
	CHECK_OK(mr_work_draft_build(&desk.cx, desk.work, &draft, &item, desk.work->now_us, &mail),
		desk.cx.err);
	CHECK_STR(mail.message_id, "message_sent_20260311T041500Z");
	CHECK_STR(mail.from, "me@mail.example");
	CHECK_STR(post_join(&desk, &mail.to), "alice@example.org");
	text = mr_arena_strndup(desk.cx.arena, (const char *)mail.bytes.data, mail.bytes.len);
	CHECK(strstr(text, "\r\nMessage-ID: <message_sent_20260311T041500Z@afmail.local>\r\n"));
	CHECK(strstr(text, "\r\nIn-Reply-To: <plain-1@example.org>\r\n"));
	CHECK(strstr(text, "\r\nReferences: <plain-1@example.org>\r\n"));
	CHECK(strstr(text, "\r\nMIME-Version: 1.0\r\n"));
	CHECK(strstr(text, "\r\n\r\nYes.\r\n\r\nRegards"));
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_draft_is_made),
		TEST(a_reply_quotes_and_is_made_once),
		TEST(our_own_mail_is_followed_up),
		TEST(a_message_is_forwarded),
		TEST(drafts_are_checked),
		TEST(a_change_swaps_the_footer),
		TEST(files_are_attached),
		TEST(a_draft_is_queued_and_shown),
		TEST(a_draft_is_composed_when_it_was_validated),
		TEST(a_saved_draft_is_archived_with_its_case),
		TEST(the_example_cannot_send),
		TEST(a_draft_is_removed_unless_it_has_begun),
		TEST(a_reply_is_built),
	};

	return test_main(tests, MR_LEN(tests));
}
