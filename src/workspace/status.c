/* workspace/status.c - counts for the command status. */
#include "workspace/status.h"

#include "base/lock.h"
#include "text/out.h"
#include "workspace/collection.h"
#include "workspace/contact.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/progress.h"
#include "workspace/queue.h"
#include "workspace/text_set.h"

enum mr_code mr_work_push_status(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_value **out_value)
{
	static const char *const labels[] = { "drafts", "case", "archive", "spam", "trash" };
	const struct mr_work_push_items *queue = NULL;
	struct mr_out out;
	enum mr_code rc = mr_work_queue_get(cx, work, &queue);

	if (rc)
		return rc;
	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		int64_t count = 0;

		for (size_t k = 0; k < queue->len; k++)
			count += mr_str_eq(mr_work_push_summary_label(&queue->items[k]), labels[i]);
		mr_out_int(&out, labels[i], count);
	}
	mr_out_end(&out);
	*out_value = mr_out_tree(&out);
	return MR_OK;
}

static enum mr_code count_cases(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_status_counts *out)
{
	struct mr_work_places places = { 0 };
	struct mr_out groups;
	enum mr_code rc = mr_work_places(cx, work, MR_WORK_ACTIVE_CASE, &places);

	if (rc)
		return rc;
	out->case_count = (int64_t)places.len;
	mr_out_init_tree(&groups, cx->arena);
	mr_out_map(&groups, NULL);
	/* Places are sorted by path, so a group's stand together. */
	for (size_t i = 0; i < places.len;) {
		size_t begin = i;

		while (i < places.len &&
			mr_str_eq(places.items[i].group, places.items[begin].group))
			i++;
		mr_out_int(&groups, places.items[begin].group, (int64_t)(i - begin));
	}
	mr_out_end(&groups);
	out->cases_by_group = mr_out_tree(&groups);
	rc = mr_work_places(cx, work, MR_WORK_ARCHIVED_CASE, &places);
	out->archived_case_count = (int64_t)places.len;
	if (!rc)
		rc = mr_work_places(cx, work, MR_WORK_NOTIFICATION, &places);
	out->archive_message_category_count = (int64_t)places.len;
	return rc;
}

static enum mr_code count_messages(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_status_counts *out)
{
	struct mr_work_counts counts = { 0 };
	struct mr_out statuses;
	enum mr_code rc = mr_work_index_counts(cx, work, &counts);

	if (rc)
		return rc;
	out->message_count = counts.messages;
	out->triage_count = counts.by_status[MR_WORK_IS_TRIAGE];
	out->remote_missing_count = counts.remote_missing;
	out->storage_bytes = counts.bytes;
	mr_out_init_tree(&statuses, cx->arena);
	mr_out_map(&statuses, NULL);
	for (int i = 0; i < MR_WORK_STATUS_COUNT; i++)
		if (counts.by_status[i])
			mr_out_int(&statuses, mr_work_status_names[i], counts.by_status[i]);
	mr_out_end(&statuses);
	out->message_status = mr_out_tree(&statuses);
	return MR_OK;
}

static enum mr_code count_queue(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_status_counts *out)
{
	const struct mr_work_push_items *queue = NULL;
	struct mr_work_text_set pending = { 0 };
	enum mr_code rc = mr_work_queue_get(cx, work, &queue);

	if (rc)
		return rc;
	out->push_count = (int64_t)queue->len;
	for (size_t i = 0; i < queue->len; i++)
		for (size_t k = 0; k < queue->items[i].message_ids.len; k++)
			mr_work_text_set_add(cx->arena, &pending,
				queue->items[i].message_ids.items[k]);
	out->remote_effect_pending_message_count = (int64_t)pending.texts.len;
	return mr_work_push_status(cx, work, &out->push_status);
}

enum mr_code mr_work_status(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_status_counts *out)
{
	struct mr_work *reader MR_CLEANUP(mr_work_closep) = NULL;
	struct mr_err kept = cx->err;
	enum mr_code rc = mr_work_open(cx, work->root, MR_WORK_READ, &reader);
	bool locked = rc == MR_EBUSY;

	*out = (struct mr_work_status_counts){ .workspace_locked = locked, .has_counts = !locked };
	if (rc && !locked)
		return rc;
	cx->err = kept;
	/* A pull that waits for the server lets others work meanwhile, and still runs. */
	rc = mr_work_progress_show(cx, work,
		locked || mr_lock_is_held(work->dir, MR_WORK_PULL_LOCK), &out->progress);
	if (rc || locked) {
		out->hint = "Another command is writing: counts are omitted until it has ended.";
		return rc;
	}
	rc = count_cases(cx, reader, out);
	if (!rc)
		rc = count_messages(cx, reader, out);
	if (!rc)
		rc = count_queue(cx, reader, out);
	if (!rc)
		rc = mr_work_contact_count(cx, reader, &out->contact_count,
			&out->archived_contact_count);
	return rc;
}
