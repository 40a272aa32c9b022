/* mailbox/registration_sql.h - mailbox_registrations in index.sqlite. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "mailbox/model.h"

/* These set *out to NULL when there is none. */
MR_CHECK enum mr_code mr_mailbox_registration_active(struct mr_ctx *cx, struct mr_db *db,
	const char *address, const struct mr_mailbox_registration **out);
/* The newest row of any status whose entry path this is. */
MR_CHECK enum mr_code mr_mailbox_registration_occupying(struct mr_ctx *cx, struct mr_db *db,
	const char *entry_path, const struct mr_mailbox_registration **out);
/* An active row of another address that uses this directory. */
MR_CHECK enum mr_code mr_mailbox_registration_on_path(struct mr_ctx *cx, struct mr_db *db,
	const char *path, const char *but_address, const struct mr_mailbox_registration **out);
MR_CHECK enum mr_code mr_mailbox_registration_by_id(struct mr_ctx *cx, struct mr_db *db,
	const char *id, const struct mr_mailbox_registration **out);

/* The entry path of some row that does not begin with `prefix`; NULL: all do. */
MR_CHECK enum mr_code mr_mailbox_registration_elsewhere(struct mr_ctx *cx, struct mr_db *db,
	const char *prefix, const char **out);

/* All of an address, or all (NULL): by address, newest first. */
MR_CHECK enum mr_code mr_mailbox_registration_list(struct mr_ctx *cx, struct mr_db *db,
	const char *address, struct mr_mailbox_registrations *out);

MR_CHECK enum mr_code mr_mailbox_registration_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registration *row);
/* Every column of the row with this id; MR_ENOTFOUND when there is none, as for deletion. */
MR_CHECK enum mr_code mr_mailbox_registration_update(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registration *row);
/* Its projections and legacy state go with it; others' replaced_by becomes NULL. */
MR_CHECK enum mr_code mr_mailbox_registration_delete(struct mr_ctx *cx, struct mr_db *db,
	const char *id);
/* Only its projections and legacy state: the row stays. */
MR_CHECK enum mr_code mr_mailbox_registration_detach(struct mr_ctx *cx, struct mr_db *db,
	const char *id);
/* Its directory was renamed: paths of projections below `from` now begin with `to`. */
MR_CHECK enum mr_code mr_mailbox_registration_move_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *id, const char *from, const char *to);
