/* surface/web/work_act.c - actions: what a person does in the e-mail workspace. Nothing of it
 * leaves this machine. */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/form.h"
#include "surface/web/pages.h"

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

static const char *to_triage(struct mr_web_view *view, const struct mr_value *result)
{
	(void)view;
	(void)result;
	return "/mail/work";
}

static const char *to_message(struct mr_web_view *view, const struct mr_value *result)
{
	(void)result;
	return mr_arena_printf(view->req->arena, "/mail/work/message/%s",
		mr_web_form_encode(view->req->arena, mr_web_value(view, "message_id")));
}

static const char *to_case(struct mr_web_view *view, const struct mr_value *result)
{
	return mr_arena_printf(view->req->arena, "/mail/work/case/%s",
		mr_web_form_encode(view->req->arena, text_of(result, "case_uid")));
}

static const char *to_draft(struct mr_web_view *view, const struct mr_value *result)
{
	return mr_arena_printf(view->req->arena, "%s/draft/%s", to_case(view, result),
		mr_web_form_encode(view->req->arena, text_of(result, "draft_name")));
}

static const char *to_approval(struct mr_web_view *view, const struct mr_value *result)
{
	(void)view;
	(void)result;
	return mr_web_page_work_approval.pattern;
}

/* ---- messages ---- */

const struct mr_web_action mr_web_action_work_spam = {
	.name = "spam",
	.note = "Marked as spam here. The server is told by the next push.",
	.pattern = "/mail/work/message/{message_id}/spam",
	.op = &mr_op_work_message_spam,
	.page = &mr_web_page_work_message,
	.next = to_triage,
};

const struct mr_web_action mr_web_action_work_trash = {
	.name = "trash",
	.note = "In the trash here. The server is told by the next push.",
	.pattern = "/mail/work/message/{message_id}/trash",
	.op = &mr_op_work_message_trash,
	.page = &mr_web_page_work_message,
	.next = to_triage,
};

const struct mr_web_action mr_web_action_work_restore = {
	.name = "restored",
	.note = "The message waits in triage again.",
	.pattern = "/mail/work/message/{message_id}/restore",
	.op = &mr_op_work_message_restore,
	.page = &mr_web_page_work_message,
	.next = to_message,
};

const struct mr_web_action mr_web_action_work_accept = {
	.name = "accepted",
	.note = "Done as it was suggested.",
	.pattern = "/mail/work/message/{message_id}/accept",
	.op = &mr_op_work_suggestion_accept,
	.page = &mr_web_page_work_message,
	.next = to_triage,
};

const struct mr_web_action mr_web_action_work_save = {
	.name = "saved",
	.note = "Saved as a file of the workspace.",
	.pattern = "/mail/work/message/{message_id}/save",
	.op = &mr_op_work_message_attachment_fetch,
	.page = &mr_web_page_work_message,
	.next = to_message,
};

const struct mr_web_action mr_web_action_work_case = {
	.name = "case",
	.note = "The case is open.",
	.pattern = "/mail/work/message/{message_id}/case",
	.op = &mr_op_work_case_create,
	.page = &mr_web_page_work_message,
	.next = to_case,
};

const struct mr_web_action mr_web_action_work_add = {
	.name = "added",
	.note = "The message is in the case.",
	.pattern = "/mail/work/message/{message_id}/add",
	.op = &mr_op_work_case_add,
	.page = &mr_web_page_work_message,
	.next = to_case,
};

/* ---- drafts ---- */

const struct mr_web_action mr_web_action_work_reply = {
	.name = "reply",
	.note = "A draft of an answer: write it, then queue it.",
	.pattern = "/mail/work/case/{case_ref}/reply",
	.op = &mr_op_work_case_draft_reply,
	.page = &mr_web_page_work_case,
	.next = to_draft,
};

const struct mr_web_action mr_web_action_work_write = {
	.name = "written",
	.note = "A draft: write it, then queue it.",
	.pattern = "/mail/work/case/{case_ref}/write",
	.op = &mr_op_work_case_draft_new,
	.page = &mr_web_page_work_case,
	.next = to_draft,
};

const struct mr_web_action mr_web_action_work_draft_change = {
	.name = "changed",
	.note = "The draft is changed.",
	.pattern = "/mail/work/case/{case_ref}/draft/{draft_name}/change",
	.op = &mr_op_work_case_draft_change,
	.page = &mr_web_page_work_draft,
	.next = to_draft,
};

const struct mr_web_action mr_web_action_work_draft_send = {
	.name = "queued",
	.note = "Queued. Nothing has left this machine: the next push would send it.",
	.pattern = "/mail/work/case/{case_ref}/draft/{draft_name}/send",
	.op = &mr_op_work_case_draft_send,
	.page = &mr_web_page_work_draft,
	.next = to_approval,
};

const struct mr_web_action mr_web_action_work_draft_remove = {
	.name = "removed",
	.note = "The draft is gone, and nothing of it is queued.",
	.pattern = "/mail/work/case/{case_ref}/draft/{draft_name}/remove",
	.op = &mr_op_work_case_draft_remove,
	.page = &mr_web_page_work_draft,
	.next = to_case,
};

/* ---- approval ---- */

const struct mr_web_action mr_web_action_work_approve = {
	.name = "approved",
	.note = "Approved, exactly as it is now.",
	.pattern = "/mail/work/approval/approve",
	.op = &mr_op_work_push_approve,
	.page = &mr_web_page_work_approval,
	.next = to_approval,
};

const struct mr_web_action mr_web_action_work_refuse = {
	.name = "refused",
	.note = "Sent back. No push carries it out until it is changed and approved.",
	.pattern = "/mail/work/approval/refuse",
	.op = &mr_op_work_push_refuse,
	.page = &mr_web_page_work_approval,
	.next = to_approval,
};

const struct mr_web_action mr_web_action_work_drop = {
	.name = "dropped",
	.note = "Taken out of the queue. What was decided here stays.",
	.pattern = "/mail/work/approval/{push_id}/drop",
	.op = &mr_op_work_push_drop,
	.page = &mr_web_page_work_approval,
	.next = to_approval,
};
