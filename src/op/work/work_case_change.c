/* op/work/work_case_change.c - operations: what becomes of a case as a whole. */
#include "op/work/render_work.h"
#include "op/work/shape_case.h"
#include "op/work/work_ops.h"
#include "workspace/case.h"

/* Of operations that need a case and a reason. */
static const struct mr_param ref_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_ref),
	MR_WORK_REASON_PARAM(struct mr_work_case_ref),
	{ 0 },
};

/* --- move --- */

static const struct mr_param move_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_move),
	MR_PARAM(struct mr_work_case_move, group, "group", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "where to: a directory below cases/"),
	{ 0 },
};

#define MOVED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_moved, member, about)
static const struct mr_field moved_fields[] = {
	MOVED_FIELD(case_uid, "the case"),
	MOVED_FIELD(from_group, "that it was in"),
	MOVED_FIELD(to_group, "that it is in"),
	MOVED_FIELD(case_path, "its directory"),
	{ 0 },
};

MR_WORK_BIND(moving, mr_work_case_move, struct mr_work_case_move, struct mr_work_case_moved);

const struct mr_op mr_op_work_case_move = {
	.name = "work_case_move",
	.command = "work case move",
	.summary = "Move a case to another group",
	.code = "case_moved",
	.params = move_params,
	.result = moved_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &moving,
	.render = mr_render_case_moved,
};

/* --- rename --- */

const struct mr_param mr_work_case_rename_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_rename),
	MR_PARAM(struct mr_work_case_rename, name, "name", .flags = MR_REQUIRED,
		.summary = "the new name"),
	MR_WORK_REASON_PARAM(struct mr_work_case_rename),
	{ 0 },
};

#define RENAMED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_renamed, member, about)
const struct mr_field mr_work_case_renamed_fields[] = {
	RENAMED_FIELD(case_uid, "the case"),
	RENAMED_FIELD(old_case_name, "the name it had"),
	RENAMED_FIELD(case_name, "the name it has"),
	MR_WORK_FIELD_OPT(struct mr_work_case_renamed, group, "of an active case"),
	RENAMED_FIELD(case_path, "its directory"),
	RENAMED_FIELD(changed, "the name is another one than before"),
	{ 0 },
};

MR_WORK_BIND(renaming, mr_work_case_rename, struct mr_work_case_rename,
	struct mr_work_case_renamed);

const struct mr_op mr_op_work_case_rename = {
	.name = "work_case_rename",
	.command = "work case rename",
	.summary = "Give a case another name",
	.code = "case_renamed",
	.params = mr_work_case_rename_params,
	.result = mr_work_case_renamed_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &renaming,
	.render = mr_render_case_renamed,
};

/* --- tag, untag --- */

static const struct mr_param tag_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_tag),
	MR_PARAM(struct mr_work_case_tag, tag, "tag", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "a word"),
	MR_WORK_REASON_PARAM(struct mr_work_case_tag),
	{ 0 },
};

#define TAGGED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_tagged, member, about)
static const struct mr_field tagged_fields[] = {
	TAGGED_FIELD(case_uid, "the case"),
	TAGGED_FIELD(tag, "that was named"),
	TAGGED_FIELD(tags, "all that the case has now"),
	TAGGED_FIELD(case_path, "its directory"),
	{ 0 },
};

MR_WORK_BIND(tagging, mr_work_case_tag, struct mr_work_case_tag, struct mr_work_case_tagged);
MR_WORK_BIND(untagging, mr_work_case_untag, struct mr_work_case_tag, struct mr_work_case_tagged);

const struct mr_op mr_op_work_case_tag = {
	.name = "work_case_tag",
	.command = "work case tag",
	.summary = "Put a tag on a case",
	.code = "case_tagged",
	.params = tag_params,
	.result = tagged_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &tagging,
	.render = mr_render_case_tagged,
};

const struct mr_op mr_op_work_case_untag = {
	.name = "work_case_untag",
	.command = "work case untag",
	.summary = "Take a tag off a case",
	.code = "case_untagged",
	.params = tag_params,
	.result = tagged_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &untagging,
	.render = mr_render_case_tagged,
};

/* --- merge --- */

static const struct mr_param merge_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_merge),
	MR_PARAM(struct mr_work_case_merge, other_case_ref, "other_case_ref",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the case that goes into it and is gone afterwards"),
	MR_WORK_REASON_PARAM(struct mr_work_case_merge),
	{ 0 },
};

#define MERGED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_merged, member, about)
static const struct mr_field merged_fields[] = {
	MERGED_FIELD(case_uid, "the case that stays"),
	MERGED_FIELD(merged_case_uid, "the case that went into it"),
	MERGED_FIELD(message_count, "messages that the other case had"),
	{ 0 },
};

MR_WORK_BIND(merging, mr_work_case_merge, struct mr_work_case_merge, struct mr_work_case_merged);

const struct mr_op mr_op_work_case_merge = {
	.name = "work_case_merge",
	.command = "work case merge",
	.summary = "Put all that another case has into this one",
	.help = "Messages, tags and files move, and the other case's notes are appended under a "
		"heading. Drafts and queued mail of either case have to be sent or removed first.",
	.code = "case_merged",
	.params = merge_params,
	.result = merged_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_DESTRUCTIVE),
	.bind = &merging,
	.render = mr_render_case_merged,
};

/* --- archive --- */

#define ARCHIVED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_archived, member, about)
static const struct mr_field archived_fields[] = {
	ARCHIVED_FIELD(case_uid, "the case"),
	ARCHIVED_FIELD(message_count, "messages in it"),
	ARCHIVED_FIELD(eligible_message_ids, "that are to be archived on the server too"),
	MR_WORK_QUEUED(struct mr_work_case_archived, queue),
	ARCHIVED_FIELD(from_path, "the directory it had"),
	ARCHIVED_FIELD(case_path, "its directory now"),
	{ 0 },
};

MR_WORK_BIND(archiving, mr_work_case_archive, struct mr_work_case_ref,
	struct mr_work_case_archived);

const struct mr_op mr_op_work_case_archive = {
	.name = "work_case_archive",
	.command = "work case archive",
	.summary = "Put a case into the archive",
	.help = "Its messages are queued to be archived on the server as well, except those that "
		"something else still needs. Drafts and queued mail have to be sent or removed first; "
		"a draft that was saved on the server and not changed since then may stay.",
	.code = "case_archived",
	.params = ref_params,
	.result = archived_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &archiving,
	.render = mr_render_case_archived,
};

/* --- reopen, unarchive --- */

#define REOPENED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_reopened, member, about)
static const struct mr_field reopened_fields[] = {
	REOPENED_FIELD(case_uid, "the case"),
	REOPENED_FIELD(status, "active"),
	REOPENED_FIELD(message_count, "messages in it"),
	REOPENED_FIELD(case_path, "its directory"),
	{ 0 },
};

MR_WORK_BIND(reopening, mr_work_case_reopen, struct mr_work_case_ref, struct mr_work_case_reopened);

const struct mr_op mr_op_work_case_reopen = {
	.name = "work_case_reopen",
	.command = "work case reopen",
	.summary = "Make a case active again whose directory is among the active ones",
	.code = "case_reopened",
	.params = ref_params,
	.result = reopened_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &reopening,
	.render = mr_render_case_reopened,
};

static const struct mr_param unarchive_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_restore),
	MR_PARAM(struct mr_work_case_restore, group, "group",
		.summary = "where to: a directory below cases/",
		.fallback = "the group that case.default_group names"),
	MR_WORK_REASON_PARAM(struct mr_work_case_restore),
	{ 0 },
};

#define RESTORED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_restored, member, about)
const struct mr_field mr_work_case_restored_fields[] = {
	RESTORED_FIELD(case_uid, "the case"),
	RESTORED_FIELD(group, "that it is in now"),
	RESTORED_FIELD(case_path, "its directory"),
	{ 0 },
};

MR_WORK_BIND(unarchiving, mr_work_case_restore, struct mr_work_case_restore,
	struct mr_work_case_restored);

const struct mr_op mr_op_work_case_unarchive = {
	.name = "work_case_unarchive",
	.command = "work case unarchive",
	.summary = "Bring a case back from the archive",
	.code = "case_restored",
	.params = unarchive_params,
	.result = mr_work_case_restored_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &unarchiving,
	.render = mr_render_case_restored,
};

/* --- delete --- */

#define DELETED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_deleted, member, about)
static const struct mr_field deleted_fields[] = {
	DELETED_FIELD(case_uid, "the case that is gone"),
	DELETED_FIELD(case_name, "its name"),
	DELETED_FIELD(case_path, "the directory that is gone"),
	{ 0 },
};

MR_WORK_BIND(deleting, mr_work_case_delete, struct mr_work_case_ref, struct mr_work_case_deleted);

const struct mr_op mr_op_work_case_delete = {
	.name = "work_case_delete",
	.command = "work case delete",
	.summary = "Delete a case that has no messages, drafts and files",
	.help = "Its notes go with it. The case may be active or archived.",
	.code = "case_deleted",
	.params = ref_params,
	.result = deleted_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_DESTRUCTIVE),
	.bind = &deleting,
	.render = mr_render_case_deleted,
};
