/*
 * workspace/case.h - cases: messages that belong together, with notes, files and drafts.
 *
 * An active case is a directory below cases/<group>/, an archived one below archive/cases/. A ref
 * is a uid, alone or with a dash and anything after it. Commands that need an active case answer a
 * ref to an archived one with case_archived. Requests and results have the members that the
 * contract names; what is NULL was not given, or is null.
 */
#pragma once

#include "workspace/collection.h"
#include "workspace/notes.h"
#include "workspace/queue.h"

/* --- making, listing, showing --- */

struct mr_work_case_create {
	const char *name, *group;
	const char *message; /* the first message, or NULL */
	const char *summary; /* of it; the reason when NULL */
	const char *reason;  /* wanted only with a message */
};
struct mr_work_case_created {
	const char *case_uid, *case_name, *group, *case_path;
	struct mr_texts message_ids;
	int64_t message_count;
	bool has_message; /* the queue's fields are shown */
	struct mr_work_queued queue;
};
MR_CHECK enum mr_code mr_work_case_create(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_create *request, struct mr_work_case_created *result);

struct mr_work_case_list {
	bool archived; /* those, not the active ones */
};
struct mr_work_case_row {
	const char *case_uid, *case_name, *group, *case_dir; /* archived: no group */
};
struct mr_work_case_templates {
	const char *case_path, *view_path, *data_path;
};
struct mr_work_case_listed {
	int64_t count;
	struct mr_work_case_templates path_templates;
	struct mr_work_case_row *items; /* by group and uid */
	size_t len;
	/* Documents that cannot be read: their cases are listed by the names of their directories.
	 */
	struct mr_texts invalid_paths;
};
MR_CHECK enum mr_code mr_work_case_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_list *request, struct mr_work_case_listed *result);

struct mr_work_case_show {
	const char *case_ref;
};
struct mr_work_case_member {
	const char *message_id, *from, *subject; /* "" when it cannot be read */
	const char *summary;                     /* or NULL */
	const char *time; /* received, else sent, as RFC 3339 in UTC; or NULL */
	bool is_outbound;
};
struct mr_work_case_shown {
	bool is_archived; /* then it has no group and messages_path, and is told as archive_case */
	const char *case_uid, *case_name, *group, *case_path, *view_path, *messages_path;
	const char *text;
	struct mr_texts tags;
	struct mr_work_case_member *messages; /* as the case lists them */
	size_t message_count;
};
MR_CHECK enum mr_code mr_work_case_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_show *request, struct mr_work_case_shown *result);

/* --- its messages --- */

struct mr_work_case_add {
	const char *case_ref;
	struct mr_texts message_ids;
	/* Of each message; the reason when NULL. Only a summary replaces one that is there. */
	const char *summary;
	const char *reason;
};
struct mr_work_case_added_item {
	const char *message_id;
	bool already_present;
};
struct mr_work_case_added {
	const char *case_uid, *group, *case_path;
	const char *message_id; /* the first */
	bool created_case;      /* never */
	int64_t message_count;  /* of the request */
	bool already_present;   /* all of them */
	struct mr_texts related_message_ids;
	struct mr_work_queued queue;
	/* Each message, for requests with several. */
	bool has_several;
	struct mr_work_case_added_item *items;
	size_t len;
};
/* A message that was discarded is taken out of spam, trash or deleted, and what has not begun to
 * discard it on the server is withdrawn. */
MR_CHECK enum mr_code mr_work_case_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_add *request, struct mr_work_case_added *result);

struct mr_work_case_remove {
	const char *case_ref;
	struct mr_texts message_ids;
	const char *reason;
};
struct mr_work_case_removed_item {
	const char *message_id;
	const char *status; /* now */
};
struct mr_work_case_removed {
	const char *case_uid, *group, *case_path;
	const char *message_id, *status; /* of the first */
	int64_t message_count;           /* that are left */
	int64_t removed_push_count;
	struct mr_texts push_ids;
	/* Each message, for requests with several. */
	bool has_several;
	struct mr_work_case_removed_item *items;
	size_t len;
};
/* All of the messages, or none: message_referenced while a draft of the case answers one. */
MR_CHECK enum mr_code mr_work_case_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_remove *request, struct mr_work_case_removed *result);

struct mr_work_case_message {
	const char *case_ref, *message_id;
	const char *summary; /* blank: none */
	const char *reason;
};
struct mr_work_case_summary {
	const char *case_uid, *message_id, *summary, *case_path;
	bool changed;
};
MR_CHECK enum mr_code mr_work_case_set_summary(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_message *request, struct mr_work_case_summary *result);

struct mr_work_case_ref {
	const char *case_ref, *reason;
};
struct mr_work_case_trashed {
	const char *case_uid, *group, *case_path;
	const char *special_use; /* "trash" */
	struct mr_texts message_ids;
	int64_t message_count;
	struct mr_work_queued queue;
};
/*
 * All messages of the case go to the trash, and the case is empty. message_referenced, and nothing
 * changes, when something else needs one of them.
 */
MR_CHECK enum mr_code mr_work_case_trash(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_trashed *result);

/* --- changing the case itself --- */

struct mr_work_case_move {
	const char *case_ref, *group;
};
struct mr_work_case_moved {
	const char *case_uid, *from_group, *to_group, *case_path;
};
MR_CHECK enum mr_code mr_work_case_move(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_move *request, struct mr_work_case_moved *result);

struct mr_work_case_rename {
	const char *case_ref, *name, *reason;
};
struct mr_work_case_renamed {
	const char *case_uid, *old_case_name, *case_name, *group, *case_path;
	bool changed;
};
MR_CHECK enum mr_code mr_work_case_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_rename *request, struct mr_work_case_renamed *result);

struct mr_work_case_tag {
	const char *case_ref, *tag, *reason;
};
struct mr_work_case_tagged {
	const char *case_uid, *tag, *case_path;
	struct mr_texts tags;
};
MR_CHECK enum mr_code mr_work_case_tag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_tag *request, struct mr_work_case_tagged *result);
MR_CHECK enum mr_code mr_work_case_untag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_tag *request, struct mr_work_case_tagged *result);

struct mr_work_case_reopened {
	const char *case_uid, *status, *case_path;
	int64_t message_count;
};
MR_CHECK enum mr_code mr_work_case_reopen(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_reopened *result);

struct mr_work_case_deleted {
	const char *case_uid, *case_name, *case_path; /* the path that is gone */
};
/* An active or archived case without messages, drafts and files; else invalid_request. Its notes go
 * with it. */
MR_CHECK enum mr_code mr_work_case_delete(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_deleted *result);

/* Notes of an active case: `case_ref` names it. */
MR_CHECK enum mr_code mr_work_case_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);
MR_CHECK enum mr_code mr_work_case_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);
MR_CHECK enum mr_code mr_work_case_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);

struct mr_work_case_merge {
	const char *case_ref, *other_case_ref, *reason;
};
struct mr_work_case_merged {
	const char *case_uid, *merged_case_uid;
	int64_t message_count; /* of the other case */
};
/* The other case goes into this one: messages, tags, files, and its notes under a heading. */
MR_CHECK enum mr_code mr_work_case_merge(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_merge *request, struct mr_work_case_merged *result);

/* --- archiving --- */

struct mr_work_case_archived {
	const char *case_uid, *from_path, *case_path;
	int64_t message_count;
	struct mr_texts eligible_message_ids; /* that are to be archived on the server */
	struct mr_work_queued queue;
};
/* case_has_local_drafts, case_has_outbound_push. */
MR_CHECK enum mr_code mr_work_case_archive(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_archived *result);

struct mr_work_case_restore {
	const char *case_ref, *group, *reason; /* without a group: the default one */
};
struct mr_work_case_restored {
	const char *case_uid, *group, *case_path;
};
/* Also `case unarchive`. */
MR_CHECK enum mr_code mr_work_case_restore(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_restore *request, struct mr_work_case_restored *result);

/* --- for other files of this part --- */

/* Write a case as part of a change, with its threads, attachments and last message counted. */
MR_CHECK enum mr_code mr_work_case_save(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection);
