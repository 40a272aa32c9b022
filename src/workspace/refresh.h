/*
 * workspace/refresh.h - brings projections in step with canonical files: the index, the records in
 * messages/, the views in triage/, of cases, categories and dispositions. Only what changed is
 * written.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"

/* How many of each were written or removed; and how often each template was used. */
struct mr_work_refreshed {
	int64_t records_rebuilt;
	int64_t active_cases, archived_cases, categories;
	struct mr_work_view_count {
		int64_t count, written, removed;
	} triage, spam, trash, deleted;
	/* Messages and lists that cannot be read and were passed over. */
	struct mr_work_refresh_failure {
		const char *path; /* of the document or the raw message */
		const char *error_code, *error;
	} * failures;
	size_t failure_count;
	const struct mr_value *generated, *template_sources; /* as `render refresh` shows them */
};

/* Finish what a crashed writer left: at the beginning of every command that writes. */
MR_CHECK enum mr_code mr_work_recover(struct mr_ctx *cx, struct mr_work *work);
/* What a change has made stale. */
MR_CHECK enum mr_code mr_work_refresh(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_stale *stale);
/* Commit a change, refresh what it made stale, end it: what most commands do last. */
MR_CHECK enum mr_code mr_work_carry_out(struct mr_ctx *cx, struct mr_work_change *change);
/* Everything; when nothing has changed since the last time, that is found out by a stat of every
 * file. What cannot be read is passed over and named; a template that cannot be rendered is
 * a failure of the whole. With `work->survey` nothing is written or removed. */
MR_CHECK enum mr_code mr_work_refresh_all(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_refreshed *out);
