/* surface/web/work.c - pages: the e-mail workspace that the server was given. */
#include "base/utf8.h"
#include "op/nouns.h"
#include "surface/web/pages.h"

#include <string.h>

/* Longer texts of a mail are cut on its page, which stays one that can be read; the file has all.
 */
enum { BODY_SHOWN = 256 << 10 };

static const char nav[] = "work";

/* For the tabs. How many messages there are is not asked: counting them costs as much as there are.
 */
#define QUEUED_ASK                                                                                 \
	{                                                                                          \
		"queued", &mr_op_work_push_list, .may_fail = true                                  \
	}
#define SUGGESTIONS_ASK                                                                            \
	{                                                                                          \
		"suggestions", &mr_op_work_suggestion_list, .may_fail = true                       \
	}

const struct mr_web_page mr_web_page_work_triage = {
	.pattern = "/mail/work",
	.template = "work-triage.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "mail", &mr_op_work_message_list,
						     "status=triage&limit=50" },
		QUEUED_ASK, SUGGESTIONS_ASK, { 0 } },
};

/* The same list of what is elsewhere: ?status=spam. */
const struct mr_web_page mr_web_page_work_messages = {
	.pattern = "/mail/work/messages",
	.template = "work-triage.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "mail", &mr_op_work_message_list, "limit=50" },
		QUEUED_ASK, { 0 } },
};

static const struct mr_value *member(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT && *value->text ? value : NULL;
}

static const char *cut(struct mr_web_view *view, const char *text)
{
	return mr_arena_strndup(view->req->arena, text,
		mr_utf8_truncate(text, strlen(text), BODY_SHOWN));
}

/* HTML mail is shown by its Markdown, which has no markup of its own and loads nothing. */
static enum mr_code fill_message(struct mr_web_view *view)
{
	const struct mr_value *mail, *markdown, *text;
	enum mr_code rc = mr_web_run(view, &mr_op_work_message_show, "markdown=true", &mail);

	if (rc)
		return rc;
	mr_out_value(&view->out, "mail", mail);
	markdown = member(mail, "body_markdown");
	text = member(mail, "body_text");
	if (markdown)
		mr_out_text(&view->out, "body_html",
			mr_web_markdown(view, cut(view, markdown->text)));
	if (text)
		mr_out_text(&view->out, "body", cut(view, text->text));
	return MR_OK;
}

const struct mr_web_page mr_web_page_work_message = {
	.pattern = "/mail/work/message/{message_id}",
	.template = "work-message.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "cases", &mr_op_work_case_list, .may_fail = true },
		SUGGESTIONS_ASK, { 0 } },
	.fill = fill_message,
};

const struct mr_web_page mr_web_page_work_cases = {
	.pattern = "/mail/work/cases",
	.template = "work-cases.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "cases", &mr_op_work_case_list }, QUEUED_ASK,
		{ 0 } },
};

const struct mr_web_page mr_web_page_work_case = {
	.pattern = "/mail/work/case/{case_ref}",
	.template = "work-case.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "case", &mr_op_work_case_show },
		{ "drafts", &mr_op_work_case_draft_list, .may_fail = true },
		{ "notes", &mr_op_work_case_notes_show, .may_fail = true }, { 0 } },
};

const struct mr_web_page mr_web_page_work_drafts = {
	.pattern = "/mail/work/drafts",
	.template = "work-drafts.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "drafts", &mr_op_work_case_draft_list }, QUEUED_ASK,
		{ 0 } },
};

const struct mr_web_page mr_web_page_work_draft = {
	.pattern = "/mail/work/case/{case_ref}/draft/{draft_name}",
	.template = "work-draft.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "draft", &mr_op_work_case_draft_show }, { 0 } },
};

const struct mr_web_page mr_web_page_work_contacts = {
	.pattern = "/mail/work/contacts",
	.template = "work-contacts.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "people", &mr_op_work_contact_list }, QUEUED_ASK,
		{ 0 } },
};

static enum mr_code fill_contact(struct mr_web_view *view)
{
	const struct mr_value *notes;

	/* What is below the head of the card. */
	if (mr_web_run(view, &mr_op_work_contact_notes_show, NULL, &notes))
		view->err = (struct mr_err){ 0 };
	else if (member(notes, "notes"))
		mr_out_text(&view->out, "notes_html",
			mr_web_markdown(view, member(notes, "notes")->text));
	return MR_OK;
}

const struct mr_web_page mr_web_page_work_contact = {
	.pattern = "/mail/work/contact/{contact_ref}",
	.template = "work-contact.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "person", &mr_op_work_contact_show }, { 0 } },
	.fill = fill_contact,
};

const struct mr_web_page mr_web_page_work_search = {
	.pattern = "/mail/work/search",
	.template = "work-search.html",
	.nav = nav,
	.asks = (const struct mr_web_ask[]){ { "hits", &mr_op_work_search, "limit=50",
						     .may_fail = true, .unless_empty = "query" },
		QUEUED_ASK, { 0 } },
};

const struct mr_web_page mr_web_page_work_approval = {
	.pattern = "/mail/work/approval",
	.template = "work-approval.html",
	.nav = "approval",
	.asks = (const struct mr_web_ask[]){ { "queue", &mr_op_work_push_show }, QUEUED_ASK,
		{ 0 } },
};
