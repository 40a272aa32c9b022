/*
 * workspace/merged.h - which case took in which: a merged case's uid still leads somewhere.
 *
 * The audit log is what knows it: the event case_merged names both.
 */
#pragma once

#include "workspace/frame.h"

/* The case that `uid` went into, in the end; NULL when it was not merged. A log that cannot be read
 * leads nowhere. */
const char *mr_work_merged_into(struct mr_ctx *cx, struct mr_work *work, const char *uid);
