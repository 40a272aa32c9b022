/* mailbox/snapshot.h - a copy of one of a root's databases as it is at one moment. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

/*
 * Copy the file of `db`, which may be open for reading only, to `path`: nothing, or an empty file
 * whose mode stays. Writers wait as long as that takes; readers do not. MR_EFORMAT: it is damaged.
 */
MR_CHECK enum mr_code mr_mailbox_snapshot(struct mr_ctx *cx, struct mr_db *db, const char *path);
