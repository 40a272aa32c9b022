/*
 * workspace/merged.h - which case took in which: a merged case's uid still leads somewhere.
 *
 * .afmail/merged_cases.json maps the uid of each case that was merged to the one it went into.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/frame.h"

/* The case that `uid` went into, in the end; NULL when it was not merged. A document that cannot be
 * read leads nowhere. */
const char *mr_work_merged_into(struct mr_ctx *cx, struct mr_work *work, const char *uid);
/* Note it as part of a change. */
void mr_work_merged_note(struct mr_ctx *cx, struct mr_work_change *change, const char *uid,
	const char *into);
