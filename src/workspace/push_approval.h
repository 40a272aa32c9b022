/*
 * workspace/push_approval.h - what a person said of a queued item: .afmail/push/ID.approval.
 *
 * What was said holds for exactly the content that it was said of (workspace/push_content.h): when
 * that is another one since, the person is asked again. The file goes with its item.
 */
#pragma once

#include "workspace/config.h"
#include "workspace/queue.h"

enum mr_work_approval_state {
	MR_WORK_APPROVAL_WAITING, /* nobody has said anything */
	MR_WORK_APPROVED,
	MR_WORK_REFUSED,          /* sent back, with a reason */
	MR_WORK_APPROVAL_CHANGED, /* something was said of what it was before */
};
extern const char *const mr_work_approval_names[]; /* "waiting", ..., NULL */

struct mr_work_approval {
	enum mr_work_approval_state state;
	const char *content_id; /* that it was said of; NULL when nothing was said */
	const char *decided;    /* RFC 3339 */
	const char *reason;     /* or NULL */
};

/* What was said of this content. A file that cannot be read says nothing: the person is asked. */
void mr_work_approval_get(struct mr_ctx *cx, struct mr_work *work, const char *push_id,
	const char *content_id, struct mr_work_approval *out);
/* Say it, as part of a change, with its event: push_approved or push_refused. */
void mr_work_approval_put(struct mr_work_change *change, const struct mr_work_push_item *item,
	const struct mr_work_approval *said);

/*
 * May a push carry this content out now? push_refused when it was sent back, and push_not_approved
 * when the configuration wants approval and there is none.
 */
MR_CHECK enum mr_code mr_work_approval_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, const char *push_id, const char *content_id);
