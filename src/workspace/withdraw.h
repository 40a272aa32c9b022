/* workspace/withdraw.h - takes messages out of queued items that have not begun. */
#pragma once

#include "workspace/queue.h"

#define MR_WORK_ACTION_BIT(action) (1U << (action))

/*
 * Take the messages out of all items of these actions (MR_WORK_ACTION_BIT()) that have not begun,
 * as part of a change; an item without messages goes. `out_ids`, which may be NULL, gets the ids of
 * the items.
 */
MR_CHECK enum mr_code mr_work_withdraw(struct mr_ctx *cx, struct mr_work_change *change,
	unsigned actions, const struct mr_texts *message_ids, struct mr_texts *out_ids);
