/* op/nouns.h - the operations themselves, one file per noun, and the list of them all. */
#pragma once

#include "op/op.h"
#include "op/work/work_nouns.h"

/* agents.c */
extern const struct mr_op mr_op_agents_bind;
extern const struct mr_op mr_op_agents_create;
extern const struct mr_op mr_op_agents_list;
extern const struct mr_op mr_op_agents_mailbox_status;
extern const struct mr_op mr_op_agents_remove;
extern const struct mr_op mr_op_agents_show;
extern const struct mr_op mr_op_agents_unbind;
/* service.c */
extern const struct mr_op mr_op_service_install;
extern const struct mr_op mr_op_service_status;
extern const struct mr_op mr_op_service_remove;
/* self_backup.c */
extern const struct mr_op mr_op_backup;
extern const struct mr_op mr_op_restore;
/* agents_notices.c */
extern const struct mr_op mr_op_agents_notices;
/* agents_notifier.c */
extern const struct mr_op mr_op_agents_notifier_disable;
extern const struct mr_op mr_op_agents_notifier_enable;
extern const struct mr_op mr_op_agents_notifier_status;
/* config.c */
extern const struct mr_op mr_op_config;
/* connect.c */
extern const struct mr_op mr_op_connect;
/* extended.c */
extern const struct mr_op mr_op_extended_call;
extern const struct mr_op mr_op_extended_list;
/* doctor.c */
extern const struct mr_op mr_op_doctor;
/* team_guard.c */
extern const struct mr_op mr_op_guard_install;
extern const struct mr_op mr_op_guard_status;
extern const struct mr_op mr_op_guard_uninstall;
/* team_guard_check.c */
extern const struct mr_op mr_op_guard_check;
/* team_guard_hook.c */
extern const struct mr_op mr_op_guard_edit;
extern const struct mr_op mr_op_guard_session;
/* health.c */
extern const struct mr_op mr_op_health;
extern const struct mr_op mr_op_liveness;
extern const struct mr_op mr_op_readiness;
/* gateway_look.c */
extern const struct mr_op mr_op_gateway_mail_check;
extern const struct mr_op mr_op_gateway_mail_list;
extern const struct mr_op mr_op_gateway_mail_peek;
extern const struct mr_op mr_op_gateway_mail_read;
extern const struct mr_op mr_op_gateway_mail_status;
/* gateway_mark.c */
extern const struct mr_op mr_op_gateway_mail_archive;
extern const struct mr_op mr_op_gateway_mail_mark;
extern const struct mr_op mr_op_gateway_mail_move;
extern const struct mr_op mr_op_gateway_mail_state;
/* gateway_write.c */
extern const struct mr_op mr_op_gateway_mail_post;
extern const struct mr_op mr_op_gateway_mail_reply;
extern const struct mr_op mr_op_gateway_mail_send;
/* gateway_notifier.c */
extern const struct mr_op mr_op_gateway_notifier_delete;
extern const struct mr_op mr_op_gateway_notifier_get;
extern const struct mr_op mr_op_gateway_notifier_next;
extern const struct mr_op mr_op_gateway_notifier_put;
/* mail_look.c */
extern const struct mr_op mr_op_mail_check;
extern const struct mr_op mr_op_mail_list;
extern const struct mr_op mr_op_mail_peek;
extern const struct mr_op mr_op_mail_read;
extern const struct mr_op mr_op_mail_resolve_live;
extern const struct mr_op mr_op_mail_status;
/* mail_mark.c */
extern const struct mr_op mr_op_mail_archive;
extern const struct mr_op mr_op_mail_mark;
extern const struct mr_op mr_op_mail_mark_read;
extern const struct mr_op mr_op_mail_move;
/* mail_notices.c */
extern const struct mr_op mr_op_mail_hook;
extern const struct mr_op mr_op_mail_notices;
/* mail_write.c */
extern const struct mr_op mr_op_mail_post;
extern const struct mr_op mr_op_mail_reply;
extern const struct mr_op mr_op_mail_send;
/* mailbox_account.c */
extern const struct mr_op mr_op_mailbox_accounts_get;
extern const struct mr_op mr_op_mailbox_accounts_list;
extern const struct mr_op mr_op_mailbox_cleanup;
extern const struct mr_op mr_op_mailbox_register;
extern const struct mr_op mr_op_mailbox_unregister;
/* mailbox_adopt.c */
extern const struct mr_op mr_op_mailbox_adopt;
/* mailbox_mail.c */
extern const struct mr_op mr_op_mailbox_clear_messages;
extern const struct mr_op mr_op_mailbox_export;
extern const struct mr_op mr_op_mailbox_messages_clear;
extern const struct mr_op mr_op_mailbox_messages_get;
extern const struct mr_op mr_op_mailbox_messages_list;
/* mailbox_root.c */
extern const struct mr_op mr_op_mailbox_check;
extern const struct mr_op mr_op_mailbox_init;
extern const struct mr_op mr_op_mailbox_repair;
extern const struct mr_op mr_op_mailbox_status;
/* mailbox_script.c */
extern const struct mr_op mr_op_mailbox_script;
/* skills.c */
extern const struct mr_op mr_op_skills_install;
extern const struct mr_op mr_op_skills_status;
extern const struct mr_op mr_op_skills_uninstall;
/* operations.c */
extern const struct mr_op mr_op_operations;
extern const struct mr_op mr_op_schema;
/* team_agent.c */
extern const struct mr_op mr_op_team_create_identity;
extern const struct mr_op mr_op_team_delete_agent;
extern const struct mr_op mr_op_team_list_agents;
extern const struct mr_op mr_op_team_register_agent;
extern const struct mr_op mr_op_team_update_profile;
extern const struct mr_op mr_op_team_whois;
/* team_group.c */
extern const struct mr_op mr_op_team_group_list;
extern const struct mr_op mr_op_team_group_set;
/* team_contact.c */
extern const struct mr_op mr_op_team_contact_all;
extern const struct mr_op mr_op_team_contact_list;
extern const struct mr_op mr_op_team_contact_policy;
extern const struct mr_op mr_op_team_contact_request;
extern const struct mr_op mr_op_team_contact_respond;
/* team_inbox.c */
extern const struct mr_op mr_op_team_ack;
extern const struct mr_op mr_op_team_acks_overdue;
extern const struct mr_op mr_op_team_acks_pending;
extern const struct mr_op mr_op_team_inbox;
extern const struct mr_op mr_op_team_outbox;
extern const struct mr_op mr_op_team_read;
/* team_mail.c */
extern const struct mr_op mr_op_team_reply;
extern const struct mr_op mr_op_team_send;
/* team_thread.c */
extern const struct mr_op mr_op_team_show;
extern const struct mr_op mr_op_team_thread;
extern const struct mr_op mr_op_team_threads;
/* team_health.c */
extern const struct mr_op mr_op_team_health;
/* team_attachment.c */
extern const struct mr_op mr_op_team_attachment;
/* team_instruct.c */
extern const struct mr_op mr_op_team_instruct;
/* team_latest.c */
extern const struct mr_op mr_op_team_latest;
/* team_attention.c */
extern const struct mr_op mr_op_team_attention;
/* team_find.c */
extern const struct mr_op mr_op_team_find;
/* team_overview.c */
extern const struct mr_op mr_op_team_overview;
/* team_history.c */
extern const struct mr_op mr_op_team_history;
extern const struct mr_op mr_op_team_history_commit;
extern const struct mr_op mr_op_team_history_file;
/* team_activity.c */
extern const struct mr_op mr_op_team_activity;
/* team_traffic.c */
extern const struct mr_op mr_op_team_traffic;
/* team_macro.c */
extern const struct mr_op mr_op_team_macro_cycle;
extern const struct mr_op mr_op_team_macro_handshake;
extern const struct mr_op mr_op_team_macro_prepare;
extern const struct mr_op mr_op_team_macro_start;
/* team_product.c */
extern const struct mr_op mr_op_team_product_ensure;
extern const struct mr_op mr_op_team_product_inbox;
extern const struct mr_op mr_op_team_product_link;
extern const struct mr_op mr_op_team_product_list;
extern const struct mr_op mr_op_team_product_search;
extern const struct mr_op mr_op_team_product_summarize;
extern const struct mr_op mr_op_team_product_unlink;
/* team_project.c */
extern const struct mr_op mr_op_team_ensure_project;
extern const struct mr_op mr_op_team_list_projects;
extern const struct mr_op mr_op_team_show_project;
/* team_search.c */
extern const struct mr_op mr_op_team_search_messages;
extern const struct mr_op mr_op_team_search_all;
/* team_share.c */
extern const struct mr_op mr_op_team_share_export;
extern const struct mr_op mr_op_team_share_verify;
/* team_slot.c */
extern const struct mr_op mr_op_team_slot_acquire;
extern const struct mr_op mr_op_team_slot_release;
extern const struct mr_op mr_op_team_slot_renew;
/* team_summary.c */
extern const struct mr_op mr_op_team_summarize_thread;
extern const struct mr_op mr_op_team_summarize_threads;

/* team_wait.c */
extern const struct mr_op mr_op_team_wait;
/* team_reservation.c */
extern const struct mr_op mr_op_team_check_paths;
extern const struct mr_op mr_op_team_check;
extern const struct mr_op mr_op_team_rebuild;
extern const struct mr_op mr_op_team_migrate;
extern const struct mr_op mr_op_team_force_release;
extern const struct mr_op mr_op_team_list_reservations;
extern const struct mr_op mr_op_team_release;
extern const struct mr_op mr_op_team_renew;
extern const struct mr_op mr_op_team_reserve;

/* All of the above, in the order people see them. */
extern const struct mr_op_table mr_nouns;
