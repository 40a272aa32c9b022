/*
 * workspace/audit.h - the audit log: one JSON object a line, only ever added to.
 *
 * Commands add events as part of their changes (workspace/change.h). A crash can leave part of a
 * line at the end of the file: the next writer removes it, and readers pass over it.
 */
#pragma once

#include "workspace/frame.h"

enum { MR_WORK_EVENT_BYTES = 16 << 20 }; /* the longest line */

struct mr_work_audit_line {
	const char *event_id;
	const struct mr_value *event;
};

/* How long the log is, in bytes. */
MR_CHECK enum mr_code mr_work_audit_size(struct mr_ctx *cx, struct mr_work *work, int64_t *out);
/*
 * Put events at the end, durably, but not those that are already in the file somewhere behind byte
 * `since`: the length that the log had before the change they belong to.
 */
MR_CHECK enum mr_code mr_work_audit_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_audit_line *lines, size_t count, int64_t since);

struct mr_work_events {
	const struct mr_value **items;
	size_t len;
};
/* The last `limit` events, in the order of the file; a line that does not parse is a
 * store_error. */
MR_CHECK enum mr_code mr_work_audit_last(struct mr_ctx *cx, struct mr_work *work, size_t limit,
	struct mr_work_events *out);
/* All events with that target. */
MR_CHECK enum mr_code mr_work_audit_of(struct mr_ctx *cx, struct mr_work *work,
	const char *target_kind, const char *target_id, struct mr_work_events *out);
/* How many lines do not parse; for doctor. */
MR_CHECK enum mr_code mr_work_audit_check(struct mr_ctx *cx, struct mr_work *work,
	size_t *out_bad_lines);
