/* op/work/work_nouns.h - the operations of the workspace, one file per noun. */
#pragma once

#include "op/op.h"

/* work_archive.c */
extern const struct mr_op mr_op_work_archive_list;
extern const struct mr_op mr_op_work_archive_list_cases;
extern const struct mr_op mr_op_work_archive_list_messages;
extern const struct mr_op mr_op_work_archive_message_create;
extern const struct mr_op mr_op_work_archive_message_rename;
extern const struct mr_op mr_op_work_archive_message_show;
/* work_archive_case.c */
extern const struct mr_op mr_op_work_archive_case_rename;
extern const struct mr_op mr_op_work_archive_case_restore;
extern const struct mr_op mr_op_work_archive_case_show;
/* work_archive_message.c */
extern const struct mr_op mr_op_work_archive_message_add;
extern const struct mr_op mr_op_work_archive_message_move;
extern const struct mr_op mr_op_work_archive_message_restore;
extern const struct mr_op mr_op_work_archive_message_set_summary;
extern const struct mr_op mr_op_work_message_archive;
/* work_case.c */
extern const struct mr_op mr_op_work_case_add;
extern const struct mr_op mr_op_work_case_create;
extern const struct mr_op mr_op_work_case_list;
extern const struct mr_op mr_op_work_case_remove;
extern const struct mr_op mr_op_work_case_set_summary;
extern const struct mr_op mr_op_work_case_show;
extern const struct mr_op mr_op_work_case_trash;
/* work_case_change.c */
extern const struct mr_op mr_op_work_case_archive;
extern const struct mr_op mr_op_work_case_delete;
extern const struct mr_op mr_op_work_case_merge;
extern const struct mr_op mr_op_work_case_move;
extern const struct mr_op mr_op_work_case_rename;
extern const struct mr_op mr_op_work_case_reopen;
extern const struct mr_op mr_op_work_case_tag;
extern const struct mr_op mr_op_work_case_unarchive;
extern const struct mr_op mr_op_work_case_untag;
/* work_draft.c */
extern const struct mr_op mr_op_work_case_draft_attach;
extern const struct mr_op mr_op_work_case_draft_change;
extern const struct mr_op mr_op_work_case_draft_forward;
extern const struct mr_op mr_op_work_case_draft_new;
extern const struct mr_op mr_op_work_case_draft_reply;
extern const struct mr_op mr_op_work_case_reply;
/* work_draft_queue.c */
extern const struct mr_op mr_op_work_case_compose;
extern const struct mr_op mr_op_work_case_draft_list;
extern const struct mr_op mr_op_work_case_draft_remove;
extern const struct mr_op mr_op_work_case_draft_save;
extern const struct mr_op mr_op_work_case_draft_send;
extern const struct mr_op mr_op_work_case_draft_show;
extern const struct mr_op mr_op_work_case_draft_validate;
/* work_notes.c */
extern const struct mr_op mr_op_work_archive_case_notes_append;
extern const struct mr_op mr_op_work_archive_case_notes_replace;
extern const struct mr_op mr_op_work_archive_case_notes_show;
extern const struct mr_op mr_op_work_archive_message_notes_append;
extern const struct mr_op mr_op_work_archive_message_notes_replace;
extern const struct mr_op mr_op_work_archive_message_notes_show;
extern const struct mr_op mr_op_work_case_notes_append;
extern const struct mr_op mr_op_work_case_notes_replace;
extern const struct mr_op mr_op_work_case_notes_show;
/* work_config.c */
extern const struct mr_op mr_op_work_config_add;
extern const struct mr_op mr_op_work_config_get;
extern const struct mr_op mr_op_work_config_list;
extern const struct mr_op mr_op_work_config_remove;
extern const struct mr_op mr_op_work_config_set;
extern const struct mr_op mr_op_work_config_show;
extern const struct mr_op mr_op_work_config_unset;
/* work_contact.c */
extern const struct mr_op mr_op_work_contact_extract;
extern const struct mr_op mr_op_work_contact_list;
extern const struct mr_op mr_op_work_contact_notes_show;
extern const struct mr_op mr_op_work_contact_show;
/* work_contact_change.c */
extern const struct mr_op mr_op_work_contact_archive;
extern const struct mr_op mr_op_work_contact_create;
extern const struct mr_op mr_op_work_contact_delete;
extern const struct mr_op mr_op_work_contact_email_add;
extern const struct mr_op mr_op_work_contact_email_remove;
extern const struct mr_op mr_op_work_contact_move;
extern const struct mr_op mr_op_work_contact_notes_append;
extern const struct mr_op mr_op_work_contact_notes_replace;
extern const struct mr_op mr_op_work_contact_phone_add;
extern const struct mr_op mr_op_work_contact_phone_remove;
extern const struct mr_op mr_op_work_contact_rename;
extern const struct mr_op mr_op_work_contact_reopen;
extern const struct mr_op mr_op_work_contact_tag;
extern const struct mr_op mr_op_work_contact_untag;
/* work_pull.c */
extern const struct mr_op mr_op_work_pull;
extern const struct mr_op mr_op_work_remote_folders;
extern const struct mr_op mr_op_work_remote_test;
/* work_setup.c */
extern const struct mr_op mr_op_work_setup;
/* work_skill.c */
extern const struct mr_op mr_op_work_skill_install;
extern const struct mr_op mr_op_work_skill_status;
extern const struct mr_op mr_op_work_skill_uninstall;
/* work_root.c */
extern const struct mr_op mr_op_work_import;
extern const struct mr_op mr_op_work_init;
extern const struct mr_op mr_op_work_status;

/* work_log.c */
extern const struct mr_op mr_op_work_log_archive;
extern const struct mr_op mr_op_work_log_case;
extern const struct mr_op mr_op_work_log_contact;
extern const struct mr_op mr_op_work_log_list;
extern const struct mr_op mr_op_work_log_message;
extern const struct mr_op mr_op_work_log_tail;

/* work_message.c */
extern const struct mr_op mr_op_work_message_attachment_fetch;
extern const struct mr_op mr_op_work_message_list;
extern const struct mr_op mr_op_work_message_restore;
extern const struct mr_op mr_op_work_message_show;
extern const struct mr_op mr_op_work_message_spam;
extern const struct mr_op mr_op_work_message_trash;
extern const struct mr_op mr_op_work_message_unarchive;
extern const struct mr_op mr_op_work_message_unspam;
extern const struct mr_op mr_op_work_message_untrash;
extern const struct mr_field mr_work_listed_message_fields[];

/* work_purge.c */
extern const struct mr_op mr_op_work_purge;

/* work_approval.c */
extern const struct mr_op mr_op_work_push_approve;
extern const struct mr_op mr_op_work_push_refuse;
extern const struct mr_op mr_op_work_push_show;
/* work_push.c */
extern const struct mr_op mr_op_work_push;
extern const struct mr_op mr_op_work_push_archive;
extern const struct mr_op mr_op_work_push_drafts;
extern const struct mr_op mr_op_work_push_drafts_send;
extern const struct mr_op mr_op_work_push_drop;
extern const struct mr_op mr_op_work_push_list;
extern const struct mr_op mr_op_work_push_recover;
extern const struct mr_op mr_op_work_push_spam;
extern const struct mr_op mr_op_work_push_trash;

/* work_render.c */
extern const struct mr_op mr_op_work_render_refresh;
extern const struct mr_op mr_op_work_render_templates;

/* work_suggestion.c */
extern const struct mr_op mr_op_work_suggestion_accept;
extern const struct mr_op mr_op_work_suggestion_clear;
extern const struct mr_op mr_op_work_suggestion_list;
extern const struct mr_op mr_op_work_suggestion_set;

/* work_triage.c */
extern const struct mr_op mr_op_work_triage;
extern const struct mr_op mr_op_work_triage_list;
/* work_doctor.c */
extern const struct mr_op mr_op_work_doctor;
extern const struct mr_op mr_op_work_doctor_repair;
/* work_search.c */
extern const struct mr_op mr_op_work_search;
