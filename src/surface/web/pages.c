/* surface/web/pages.c - Lists all pages and actions; the first whose pattern fits is shown. */
#include "surface/web/page.h"

#include "base/str.h"
#include "surface/web/pages.h"

const struct mr_web_page *const mr_web_pages[] = {
	&mr_web_page_home,
	&mr_web_page_open,
	&mr_web_page_projects,
	&mr_web_page_project,
	&mr_web_page_leases,
	&mr_web_page_leases_past,
	&mr_web_page_contacts,
	&mr_web_page_history,
	&mr_web_page_commit,
	&mr_web_page_file,
	&mr_web_page_traffic,
	&mr_web_page_inbox,
	&mr_web_page_project_inbox,
	&mr_web_page_agents,
	&mr_web_page_agent,
	&mr_web_page_threads,
	&mr_web_page_thread,
	&mr_web_page_thread_asked,
	&mr_web_page_message,
	&mr_web_page_compose,
	&mr_web_page_work_approval,
	&mr_web_page_work_case,
	&mr_web_page_work_cases,
	&mr_web_page_work_contact,
	&mr_web_page_work_contacts,
	&mr_web_page_work_draft,
	&mr_web_page_work_drafts,
	&mr_web_page_work_message,
	&mr_web_page_work_messages,
	&mr_web_page_work_search,
	&mr_web_page_work_triage,
};
const size_t mr_web_pages_count = MR_LEN(mr_web_pages);

const struct mr_web_action *const mr_web_actions[] = {
	&mr_web_action_send,
	&mr_web_action_reply,
	&mr_web_action_acknowledge,
	&mr_web_action_mark_read,
	&mr_web_action_lease_release,
	&mr_web_action_contact_answer,
	&mr_web_action_contact_policy,
	&mr_web_action_work_accept,
	&mr_web_action_work_add,
	&mr_web_action_work_approve,
	&mr_web_action_work_case,
	&mr_web_action_work_draft_change,
	&mr_web_action_work_draft_remove,
	&mr_web_action_work_draft_send,
	&mr_web_action_work_drop,
	&mr_web_action_work_refuse,
	&mr_web_action_work_reply,
	&mr_web_action_work_restore,
	&mr_web_action_work_save,
	&mr_web_action_work_spam,
	&mr_web_action_work_trash,
	&mr_web_action_work_write,
};
const size_t mr_web_actions_count = MR_LEN(mr_web_actions);
