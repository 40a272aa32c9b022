/* surface/web/pages.h - the pages and actions by name, for their list (pages.c). */
#pragma once

#include "op/nouns.h"
#include "surface/web/page.h"

/* What pages below /mail/p/{project_key} ask for project_head() of parts.html. */
#define MR_WEB_PROJECT                                                                             \
	{                                                                                          \
		"project", &mr_op_team_show_project                                                \
	}

/* home.c */
extern const struct mr_web_page mr_web_page_home;
extern const struct mr_web_page mr_web_page_open;
/* page_mail.c */
extern const struct mr_web_page mr_web_page_inbox;
extern const struct mr_web_page mr_web_page_project_inbox;
extern const struct mr_web_page mr_web_page_agent;
extern const struct mr_web_page mr_web_page_threads;
extern const struct mr_web_page mr_web_page_thread;
extern const struct mr_web_page mr_web_page_thread_asked;
extern const struct mr_web_page mr_web_page_message;
extern const struct mr_web_page mr_web_page_compose;
extern const struct mr_web_action mr_web_action_send;
extern const struct mr_web_action mr_web_action_reply;
extern const struct mr_web_action mr_web_action_acknowledge;
extern const struct mr_web_action mr_web_action_mark_read;
/* page_file.c */
extern const struct mr_web_page mr_web_page_attachments;
extern const struct mr_web_page mr_web_page_attachment;
/* page_search.c */
extern const struct mr_web_page mr_web_page_search;
/* page_project.c */
extern const struct mr_web_page mr_web_page_projects;
extern const struct mr_web_page mr_web_page_project;
extern const struct mr_web_page mr_web_page_agents;
/* page_contact.c */
extern const struct mr_web_page mr_web_page_contacts;
extern const struct mr_web_action mr_web_action_contact_answer;
extern const struct mr_web_action mr_web_action_contact_policy;
/* page_mailbox.c */
extern const struct mr_web_page mr_web_page_account;
extern const struct mr_web_page mr_web_page_letter;
extern const struct mr_web_page mr_web_page_mailboxes;
extern const struct mr_web_page mr_web_page_notices;
/* page_status.c */
extern const struct mr_web_page mr_web_page_status;
/* page_traffic.c */
extern const struct mr_web_page mr_web_page_traffic;
/* page_history.c */
extern const struct mr_web_page mr_web_page_commit;
extern const struct mr_web_page mr_web_page_file;
extern const struct mr_web_page mr_web_page_history;
/* page_lease.c */
extern const struct mr_web_page mr_web_page_leases;
extern const struct mr_web_page mr_web_page_leases_past;
extern const struct mr_web_action mr_web_action_lease_release;
/* work.c */
extern const struct mr_web_page mr_web_page_work_approval;
extern const struct mr_web_page mr_web_page_work_case;
extern const struct mr_web_page mr_web_page_work_cases;
extern const struct mr_web_page mr_web_page_work_contact;
extern const struct mr_web_page mr_web_page_work_contacts;
extern const struct mr_web_page mr_web_page_work_draft;
extern const struct mr_web_page mr_web_page_work_drafts;
extern const struct mr_web_page mr_web_page_work_message;
extern const struct mr_web_page mr_web_page_work_messages;
extern const struct mr_web_page mr_web_page_work_search;
extern const struct mr_web_page mr_web_page_work_triage;
/* work_act.c */
extern const struct mr_web_action mr_web_action_work_accept;
extern const struct mr_web_action mr_web_action_work_add;
extern const struct mr_web_action mr_web_action_work_approve;
extern const struct mr_web_action mr_web_action_work_case;
extern const struct mr_web_action mr_web_action_work_draft_change;
extern const struct mr_web_action mr_web_action_work_draft_remove;
extern const struct mr_web_action mr_web_action_work_draft_send;
extern const struct mr_web_action mr_web_action_work_drop;
extern const struct mr_web_action mr_web_action_work_refuse;
extern const struct mr_web_action mr_web_action_work_reply;
extern const struct mr_web_action mr_web_action_work_restore;
extern const struct mr_web_action mr_web_action_work_save;
extern const struct mr_web_action mr_web_action_work_spam;
extern const struct mr_web_action mr_web_action_work_trash;
extern const struct mr_web_action mr_web_action_work_write;
/* team_act.c */
extern const struct mr_web_action mr_web_action_acknowledge;
