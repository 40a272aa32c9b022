/* op/work/work_purge.c - operation: delete discarded messages for good. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/disposition.h"

#include <string.h>

static const char *const targets[] = { "spam", "trash", "deleted", NULL };

/* The age may stand before the target and after it, but not in both places. */
struct purge {
	const char *target, *plan_id;
	struct mr_texts older_than_days;
	bool dry_run;
};

static const struct mr_param purge_params[] = {
	MR_PARAM(struct purge, target, "target", .flags = MR_POSITIONAL, .choices = targets,
		.summary = "spam, trash or deleted; without it, all three"),
	MR_PARAM(struct purge, older_than_days, "older_than_days",
		.summary = "how many days they have been there at least; 0 is all",
		.fallback = "30"),
	MR_PARAM(struct purge, dry_run, "dry_run",
		.summary = "delete nothing; show what would go, and the id of that plan"),
	MR_PARAM(struct purge, plan_id, "plan_id",
		.summary = "delete only if exactly this plan would be carried out"),
	{ 0 },
};

#define PURGED(member, about) MR_WORK_FIELD(struct mr_work_purged, member, about)
static const struct mr_field purge_fields[] = {
	PURGED(target, "spam, trash, deleted, or discards for all three"),
	PURGED(targets, "each of them"),
	PURGED(older_than_days, "the age that was asked for"),
	PURGED(purged_count, "messages that were deleted"),
	PURGED(purged_message_ids, "their ids"),
	PURGED(purged_spam_count, "of these, from spam"),
	PURGED(purged_trash_count, "from the trash"),
	PURGED(purged_deleted_count, "from what was deleted on the server"),
	PURGED(skipped_referenced_count, "messages that something refers to"),
	PURGED(skipped_referenced_message_ids, "their ids"),
	PURGED(skipped_recent_count, "messages that are too young"),
	PURGED(skipped_recent_message_ids, "their ids"),
	PURGED(spam_count, "messages in spam now"),
	PURGED(spam_written_count, "their views"),
	PURGED(stale_spam_removed_count, "views that were removed"),
	PURGED(trash_count, "messages in the trash now"),
	PURGED(trash_written_count, "their views"),
	PURGED(stale_trash_removed_count, "views that were removed"),
	PURGED(deleted_count, "messages that were deleted on the server"),
	PURGED(deleted_written_count, "their views"),
	PURGED(stale_deleted_removed_count, "views that were removed"),
	MR_FIELD(struct mr_work_purged, is_plan, "dry_run", .flags = MR_OPTIONAL,
		.summary = "nothing was deleted: this is what would be"),
	MR_WORK_FIELD_WHEN(struct mr_work_purged, plan_id, is_plan,
		"for --plan-id, to delete exactly these"),
	{ 0 },
};

/* A number of days that no int64_t holds is as good as the largest one: both are refused. */
static enum mr_code read_days(struct mr_ctx *cx, const char *text, int64_t *out)
{
	if (mr_str_to_int(text, out))
		return MR_OK;
	if (!*text || strspn(text, "0123456789") != strlen(text))
		return mr_err_set(&cx->err, MR_EINVAL,
			"--older-than-days must be a number of days, not '%s'", text);
	*out = INT64_MAX;
	return MR_OK;
}

static enum mr_code purge(struct mr_ctx *cx, struct mr_work *work, const struct purge *request,
	struct mr_work_purged *result)
{
	struct mr_work_purge whole = { .target = request->target,
		.plan_id = request->plan_id,
		.dry_run = request->dry_run,
		.has_older_than_days = request->older_than_days.len > 0,
		.has_target_older_than_days = request->older_than_days.len > 1 };
	enum mr_code rc = MR_OK;

	if (whole.has_older_than_days)
		rc = read_days(cx, request->older_than_days.items[0], &whole.older_than_days);
	return rc ? rc : mr_work_purge(cx, work, &whole, result);
}
MR_WORK_BIND(purging, purge, struct purge, struct mr_work_purged);

const struct mr_op mr_op_work_purge = {
	.name = "work_purge",
	.command = "work purge",
	.summary = "Delete messages for good that were discarded long ago",
	.help = "What something refers to stays. Nothing is deleted on the server.",
	.code = "purged",
	.params = purge_params,
	.result = purge_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.traits = MR_ABROAD | MR_DESTRUCTIVE,
	.contract = &mr_contract_work,
	.cluster = "workspace",
	.bind = &purging,
	.render = mr_render_work_purged,
};
