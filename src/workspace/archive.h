/*
 * workspace/archive.h - the archive: categories of single messages, and archived cases.
 *
 * A category is a directory archive/notifications/<uid>-<name>. A message is in at most one of
 * them; in the contract's words a category is an "archive", its uid the archive_uid.
 */
#pragma once

#include "workspace/case.h"
#include "workspace/collection.h"
#include "workspace/disposition.h"
#include "workspace/notes.h"
#include "workspace/queue.h"

/* --- lists --- */

struct mr_work_archive_list {
	const char *what; /* "cases", "messages"; NULL: both */
};
struct mr_work_archive_row {
	const char *archive_uid, *archive_name, *archive_dir;
};
struct mr_work_archive_templates {
	const char *archive_path, *view_path, *data_path;
};
struct mr_work_archive_listed {
	bool has_cases, has_messages;
	int64_t case_count, message_count; /* message_count: of categories */
	struct mr_work_case_templates case_path_templates;
	struct mr_work_archive_templates message_path_templates;
	struct mr_work_case_row *cases;
	size_t case_len;
	struct mr_work_archive_row *messages;
	size_t message_len;
	struct mr_texts invalid_paths; /* documents that cannot be read */
};
MR_CHECK enum mr_code mr_work_archive_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_list *request, struct mr_work_archive_listed *result);

/* --- categories --- */

struct mr_work_archive_create {
	const char *name;
	const char *message, *summary; /* both or neither */
	const char *reason;            /* never required */
};
struct mr_work_archive_created {
	const char *archive_uid, *archive_name, *path;
	int64_t message_count;
	bool has_message; /* what follows is shown */
	const char *message_id, *summary;
	struct mr_texts eligible_message_ids;
	struct mr_work_queued queue;
};
MR_CHECK enum mr_code mr_work_archive_create(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_create *request, struct mr_work_archive_created *result);

struct mr_work_archive_show {
	const char *archive_ref;
};
struct mr_work_archive_shown {
	const char *archive_uid, *archive_name, *path, *view_path, *notes_path;
	int64_t message_count;
	struct mr_work_item *items;
	size_t len;
	const char *text;
};
MR_CHECK enum mr_code mr_work_archive_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_show *request, struct mr_work_archive_shown *result);

struct mr_work_archive_rename {
	const char *archive_ref, *name, *reason;
};
struct mr_work_archive_renamed {
	const char *archive_uid, *old_archive_name, *archive_name, *path;
	int64_t message_count;
	bool changed;
};
MR_CHECK enum mr_code mr_work_archive_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_rename *request, struct mr_work_archive_renamed *result);

/* `archive_ref` names the category. */
MR_CHECK enum mr_code mr_work_archive_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);
MR_CHECK enum mr_code mr_work_archive_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);
MR_CHECK enum mr_code mr_work_archive_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);

/* --- their messages --- */

struct mr_work_archive_message {
	const char *archive_ref, *message_id;
	const char *new_archive_ref; /* of move */
	const char *summary;         /* of add and set-summary; blank: none */
	const char *reason;
};
struct mr_work_message_archived {
	const char *message_id, *archive_uid, *path;
	const char *special_use; /* "archive" */
	struct mr_texts eligible_message_ids;
	struct mr_work_queued queue;
};
/* message_has_related_conversation_use_case, message_already_archived. */
MR_CHECK enum mr_code mr_work_archive_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_message_archived *result);
/* As mr_work_message_restore(); archive_entry_not_found when it is not in that category. */
MR_CHECK enum mr_code mr_work_archive_restore(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_message_restored *result);

struct mr_work_archive_moved {
	const char *message_id;
	const char *from_archive_uid; /* when it was moved */
	const char *archive_uid;
	const char *new_archive_uid; /* when it was there already */
	bool changed;
};
MR_CHECK enum mr_code mr_work_archive_move(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_archive_moved *result);

struct mr_work_archive_summary {
	const char *message_id, *archive_uid, *summary;
};
MR_CHECK enum mr_code mr_work_archive_set_summary(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_archive_summary *result);

/* --- archived cases; restoring one is mr_work_case_restore() --- */

MR_CHECK enum mr_code mr_work_archive_case_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_show *request, struct mr_work_case_shown *result);
MR_CHECK enum mr_code mr_work_archive_case_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_rename *request, struct mr_work_case_renamed *result);
/* `case_ref` names the case. */
MR_CHECK enum mr_code mr_work_archive_case_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);
MR_CHECK enum mr_code mr_work_archive_case_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);
MR_CHECK enum mr_code mr_work_archive_case_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result);
