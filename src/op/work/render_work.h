/*
 * op/work/render_work.h - results of the workspace's operations as people read them: lists are
 * tables, one thing is a page, a change is a sentence.
 */
#pragma once

#include "op/render_part.h"

#define MR_RENDER_WORK(name)                                                                       \
	void mr_render_##name(struct mr_buf *out, const struct mr_value *value,                    \
		const struct mr_render *how)

/* render_archive.c: the archive on a terminal: lists, categories, and their messages. */
MR_RENDER_WORK(archive_list);
MR_RENDER_WORK(category_list);
MR_RENDER_WORK(category_created);
MR_RENDER_WORK(category_page);
MR_RENDER_WORK(category_renamed);
MR_RENDER_WORK(message_archived);
MR_RENDER_WORK(archive_restored);
MR_RENDER_WORK(archive_moved);

/* render_case.c: cases on a terminal: lists, pages, and what was done to one. */
MR_RENDER_WORK(case_created);
MR_RENDER_WORK(case_list);
MR_RENDER_WORK(case_page);
MR_RENDER_WORK(case_moved);
MR_RENDER_WORK(case_renamed);
MR_RENDER_WORK(case_tagged);
MR_RENDER_WORK(case_merged);
MR_RENDER_WORK(case_archived);
MR_RENDER_WORK(case_reopened);
MR_RENDER_WORK(case_restored);
MR_RENDER_WORK(case_deleted);
MR_RENDER_WORK(case_added);
MR_RENDER_WORK(case_removed);
MR_RENDER_WORK(summary_set);
MR_RENDER_WORK(case_trashed);
MR_RENDER_WORK(notes);
MR_RENDER_WORK(notes_written);

/* render_config_work.c: the configuration of a workspace on a terminal. */
MR_RENDER_WORK(work_config);
MR_RENDER_WORK(work_config_list);
MR_RENDER_WORK(work_config_value);
MR_RENDER_WORK(work_config_updated);

/* render_contact_work.c: contacts of the workspace on a terminal: a list, a card, changes in a
 * sentence. */
MR_RENDER_WORK(work_contacts);
MR_RENDER_WORK(work_contact);
MR_RENDER_WORK(work_contact_notes);
MR_RENDER_WORK(work_contact_created);
MR_RENDER_WORK(work_contact_moved);
MR_RENDER_WORK(work_contact_renamed);
MR_RENDER_WORK(work_contact_emails);
MR_RENDER_WORK(work_contact_phones);
MR_RENDER_WORK(work_contact_tags);
MR_RENDER_WORK(work_contact_noted);
MR_RENDER_WORK(work_contact_archived);
MR_RENDER_WORK(work_contact_deleted);
MR_RENDER_WORK(work_contact_reopened);
MR_RENDER_WORK(work_contact_extracted);

/* render_doctor.c: what is wrong with a workspace, on a terminal. */
MR_RENDER_WORK(work_doctor);
MR_RENDER_WORK(work_repaired);

/* render_draft.c: drafts on a terminal: lists, one in full, and what was done to one. */
MR_RENDER_WORK(draft);
MR_RENDER_WORK(draft_list);
MR_RENDER_WORK(draft_created);
MR_RENDER_WORK(draft_changed);
MR_RENDER_WORK(draft_attached);
MR_RENDER_WORK(draft_valid);
MR_RENDER_WORK(draft_queued);
MR_RENDER_WORK(draft_removed);

/* render_found.c: what a search in the workspace found, on a terminal. */
MR_RENDER_WORK(work_hits);

/* render_message.c: messages of a workspace on a terminal: lists, one in full, and what was done to
 * them. */
MR_RENDER_WORK(work_messages);
MR_RENDER_WORK(work_triage);
MR_RENDER_WORK(work_message);
MR_RENDER_WORK(work_discarded);
MR_RENDER_WORK(work_restored);
MR_RENDER_WORK(work_fetched);

/* render_push.c: the push queue, purges, refreshes and the audit log on a terminal. */
MR_RENDER_WORK(work_push);
MR_RENDER_WORK(work_recovered);
MR_RENDER_WORK(work_push_items);
MR_RENDER_WORK(work_push_shown);
MR_RENDER_WORK(work_push_approved);
MR_RENDER_WORK(work_push_refused);
MR_RENDER_WORK(work_dropped);
MR_RENDER_WORK(work_purged);
MR_RENDER_WORK(work_refreshed);
MR_RENDER_WORK(work_templates);
MR_RENDER_WORK(work_log);

/* render_remote.c: mail servers on a terminal: set up, looked at, pulled from. */
MR_RENDER_WORK(work_set_up);
MR_RENDER_WORK(work_remote_tested);
MR_RENDER_WORK(work_folders);
MR_RENDER_WORK(work_pulled);

/* render_root.c: a workspace as a whole on a terminal: made, filled, and looked at. */
MR_RENDER_WORK(workspace_made);
MR_RENDER_WORK(imported);
MR_RENDER_WORK(work_status);

/* render_skill_work.c: which agents have the skill, on a terminal. */
MR_RENDER_WORK(work_skill);
MR_RENDER_WORK(work_skill_removed);

/* render_suggestion.c: suggestions on a terminal. */
MR_RENDER_WORK(work_suggested);
MR_RENDER_WORK(work_suggestions);
MR_RENDER_WORK(work_unsuggested);
MR_RENDER_WORK(work_accepted);
