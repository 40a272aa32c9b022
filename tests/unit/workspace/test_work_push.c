/* tests/unit/workspace/test_work_push.c */
#include "workspace/push.h"

#include "post.h"
#include "test.h"
#include "workspace/case.h"
#include "workspace/disposition.h"
#include "workspace/draft.h"
#include "workspace/error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UID   "c20260504001"
#define CASE  "cases/open/" UID "-A"
#define REPLY "reply-" PLAIN ".md"

/* A queued reply; its push id. */
static const char *begin(struct desk *desk)
{
	struct mr_work_case_create request = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_draft_answer answer = { .case_ref = UID,
		.message_id = PLAIN,
		.body = "Yes." };
	struct mr_work_case_created created;
	struct mr_work_draft_created draft;
	struct mr_work_draft_queued queued;

	post_open(desk);
	post_set_json(desk, "identities",
		"[{\"identity\": \"me\", \"name\": \"Me\", \"email\": \"me@mail.example\","
		" \"default\": true}]");
	post_mail(desk, PLAIN, NULL);
	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &created));
	POST_OK(desk, mr_work_draft_reply(&desk->cx, desk->work, &answer, &draft));
	POST_OK(desk,
		mr_work_draft_send(&desk->cx, desk->work, &(struct mr_work_draft_ref){ UID, REPLY },
			&queued));
	return queued.push_id;
}

static struct mr_work_push_previewed preview(struct desk *desk, const char *kind)
{
	struct mr_work_push_preview request = { .kind = kind };
	struct mr_work_push_previewed shown = { 0 };

	POST_OK(desk, mr_work_push_preview(&desk->cx, desk->work, &request, &shown));
	return shown;
}

static void a_preview_shows_what_would_happen(void)
{
	struct desk desk;
	const char *push_id = begin(&desk), *plan;
	struct mr_work_push_previewed shown = preview(&desk, NULL);

	CHECK_INT(shown.count, 1);
	CHECK(!shown.confirmed);
	CHECK(strstr(shown.hint, "No remote changes were made"));
	CHECK_STR(shown.items[0].push_id, push_id);
	CHECK_STR(shown.items[0].kind, "outbound");
	CHECK_STR(shown.items[0].display_kind, "outbound");
	CHECK_STR(shown.items[0].action, "send");
	CHECK_STR(post_join(&desk, &shown.items[0].actions),
		"smtp_send append_to_mailbox_id_sent add_flags:ReplyToMessage");
	CHECK_STR(shown.items[0].case_uid, UID);
	CHECK_STR(shown.items[0].draft_name, REPLY);
	CHECK_STR(post_join(&desk, &shown.items[0].to), "Alice Adams <alice@example.org>");
	CHECK(shown.items[0].draft_valid && !shown.items[0].draft_error);
	/* The plan is the same until something changes. */
	plan = shown.plan_id;
	CHECK(mr_str_starts(plan, "plan_"));
	CHECK_STR(preview(&desk, NULL).plan_id, plan);
	desk_put(CASE "/drafts/" REPLY,
		mr_arena_printf(desk.cx.arena, "%sMore.\n",
			desk_text(&desk, CASE "/drafts/" REPLY)));
	CHECK(!mr_str_eq(preview(&desk, NULL).plan_id, plan));
	CHECK_INT(preview(&desk, "drafts").count, 0);
	CHECK_INT(preview(&desk, "drafts-send").count, 1);
	CHECK(strstr(preview(&desk, "drafts-send").hint, "No mail was sent"));
	desk_close(&desk);
}

/* The reference shows nothing at all then. */
static void a_missing_draft_does_not_hide_the_rest(void)
{
	struct desk desk;
	struct mr_work_push_previewed shown;

	begin(&desk);
	CHECK_INT(unlink(CASE "/drafts/" REPLY), 0);
	desk_next(&desk);
	shown = preview(&desk, NULL);
	CHECK_INT(shown.count, 1);
	CHECK(!shown.items[0].draft_valid);
	CHECK(strstr(shown.items[0].draft_error, "there is no draft " CASE "/drafts/" REPLY));
	CHECK_STR(post_join(&desk, &shown.items[0].actions), "smtp_send append_to_mailbox_id_sent");
	desk_close(&desk);
}

static void bad_requests_are_refused(void)
{
	struct desk desk;
	struct mr_work_push_preview request = { .dry_run = true, .confirm = true };
	struct mr_work_push_previewed shown;
	struct mr_work_push_listed listed;

	begin(&desk);
	desk_check_fail(&desk, mr_work_push_preview(&desk.cx, desk.work, &request, &shown),
		"invalid_request", NULL, NULL);
	request = (struct mr_work_push_preview){ .kind = "mail" };
	desk_check_fail(&desk, mr_work_push_preview(&desk.cx, desk.work, &request, &shown),
		"invalid_request", NULL, NULL);
	desk_put(".afmail/push/push_x.json", "{\"step_states\": []}");
	desk_next(&desk);
	desk_check_fail(&desk, mr_work_push_list(&desk.cx, desk.work, &listed), "push_item_invalid",
		NULL, NULL);
	desk_close(&desk);
}

/* Nothing in the reference takes an item out that can never succeed. */
static void an_item_is_dropped(void)
{
	struct desk desk;
	const char *push_id = begin(&desk);
	struct mr_work_push_drop request = { push_id, "not now" };
	struct mr_work_push_dropped dropped;
	struct mr_work_push_listed listed;

	CHECK_OK(mr_work_push_list(&desk.cx, desk.work, &listed), desk.cx.err);
	CHECK_INT(listed.count, 1);
	CHECK_STR(mr_value_get(&listed.items->list.items[0], "push_id")->text, push_id);
	post_start(&desk, push_id); /* a step that failed */
	POST_OK(&desk, mr_work_push_drop(&desk.cx, desk.work, &request, &dropped));
	CHECK_STR(dropped.push_id, push_id);
	CHECK_STR(dropped.kind, "outbound");
	CHECK_STR(dropped.action, "send");
	CHECK_STR(post_queue(&desk), "");
	CHECK(desk_has(CASE "/drafts/" REPLY));
	CHECK_STR(post_event(&desk, "kind"), "push_dropped");
	CHECK_STR(post_event(&desk, "reason"), "not now");
	desk_check_fail(&desk, mr_work_push_drop(&desk.cx, desk.work, &request, &dropped),
		"push_not_found", NULL, NULL);
	desk_close(&desk);
}

static void set_state(struct desk *desk, const char *push_id, enum mr_work_step_status status)
{
	struct mr_work_step_state state = { .label = "smtp_send",
		.status = status,
		.started = desk->work->now };
	struct mr_work_push_item item = { 0 };
	struct mr_work_change change;

	CHECK_OK(mr_work_queue_find(&desk->cx, desk->work, push_id, &item), desk->cx.err);
	item.states = &state;
	item.state_count = 1;
	mr_work_change_begin(&desk->cx, desk->work, "push", &change);
	mr_work_queue_save(&change, &item);
	CHECK_OK(mr_work_change_commit(&desk->cx, &change), desk->cx.err);
	mr_work_change_end(&desk->cx, &change);
	desk_next(desk);
}

static void what_may_have_gone_is_not_dropped(void)
{
	struct desk desk;
	const char *push_id = begin(&desk);
	struct mr_work_push_drop request = { push_id, "not now" };
	struct mr_work_push_dropped dropped;

	set_state(&desk, push_id, MR_WORK_STEP_SUCCEEDED);
	desk_check_fail(&desk, mr_work_push_drop(&desk.cx, desk.work, &request, &dropped),
		"push_already_started", NULL, NULL);
	set_state(&desk, push_id, MR_WORK_STEP_PENDING);
	desk_check_fail(&desk, mr_work_push_drop(&desk.cx, desk.work, &request, &dropped),
		"push_already_started", NULL, NULL);
	CHECK_STR(post_queue(&desk), "send:");
	desk_close(&desk);
}

static void an_item_that_cannot_be_carried_out_stays(void)
{
	struct mr_work_push_preview request = { .confirm = true, .kind = "spam" };
	struct mr_work_push_pushed pushed = { 0 };
	struct mr_work_discard discard = { { (const char *[]){ PLAIN }, 1 }, "ads" };
	struct mr_work_discarded discarded;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	POST_OK(&desk, mr_work_message_trash(&desk.cx, desk.work, &discard, &discarded));
	POST_OK(&desk, mr_work_push_confirm(&desk.cx, desk.work, &request, &pushed));
	CHECK(pushed.confirmed && !pushed.pushed_count && !pushed.failed_count);
	CHECK(strstr(desk_text(&desk, ".afmail/workspace.progress.json"), "\"succeeded\""));
	request.kind = NULL;
	request.environment = getenv;
	POST_OK(&desk, mr_work_push_confirm(&desk.cx, desk.work, &request, &pushed));
	CHECK_INT(pushed.failed_count, 1);
	CHECK_STR(pushed.failures[0].error_code, "config_missing");
	CHECK_STR(pushed.failures[0].error, "imap.host is not set");
	CHECK_STR(post_queue(&desk), "trash:" PLAIN);
	CHECK(strstr(desk_text(&desk, ".afmail/workspace.progress.json"), "\"failed_count\": 1"));
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_preview_shows_what_would_happen),
		TEST(a_missing_draft_does_not_hide_the_rest),
		TEST(bad_requests_are_refused),
		TEST(an_item_is_dropped),
		TEST(what_may_have_gone_is_not_dropped),
		TEST(an_item_that_cannot_be_carried_out_stays),
	};

	return test_main(tests, MR_LEN(tests));
}
