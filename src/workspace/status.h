/* workspace/status.h - what the workspace holds, in numbers; never fails on the lock. */
#pragma once

#include "workspace/frame.h"

struct mr_work_status_counts {
	bool workspace_locked; /* another command writes: there are no counts */
	bool has_counts;       /* the opposite */
	bool has_storage;      /* storage_bytes is shown */
	const char *hint;      /* when locked */
	int64_t triage_count, case_count, archive_message_category_count, archived_case_count;
	int64_t message_count, remote_missing_count, remote_effect_pending_message_count;
	int64_t push_count, contact_count, archived_contact_count, storage_bytes;
	const struct mr_value *cases_by_group, *message_status, *push_status, *progress;
};

/* `work` is open without a lock (MR_WORK_UNLOCKED): this takes a shared one if it can be had. */
MR_CHECK enum mr_code mr_work_status(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_status_counts *out);
/* How many items of each kind are queued: {"drafts": 0, "case": 0, ...}. */
MR_CHECK enum mr_code mr_work_push_status(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_value **out);
