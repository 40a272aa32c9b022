/* mailbox/root_private.h - between root.c and open.c, and mail_fs.c, which makes sure of the
 * operator. */
#pragma once

#include "mailbox/root.h"

/* Resolve the path and open it, whatever it is. MR_ENOTFOUND: nothing there. */
MR_CHECK enum mr_code mr_mailbox_root_find(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_root *out);
/* What protocol-version.txt says; NULL when it is missing or blank. */
MR_CHECK enum mr_code mr_mailbox_root_version(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char **out);
/* No layout of the past; with `with_index`, also an index that looks like one. */
MR_CHECK enum mr_code mr_mailbox_root_check_layout(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, bool with_index);
/* Protocol 3, or for a reader 1. */
MR_CHECK enum mr_code mr_mailbox_root_check_version(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, enum mr_mailbox_root_for purpose);
/* Is there an index? Whether it can be read, mr_mailbox_root_index() finds out. */
MR_CHECK enum mr_code mr_mailbox_root_check_index(struct mr_ctx *cx,
	const struct mr_mailbox_root *root);
/* The index as it is, without making sure of its schema; only to be written is it made. */
MR_CHECK enum mr_code mr_mailbox_root_look(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_lend how, enum mr_db_journal journal, struct mr_db **out);
/* mr_mailbox_root_local() with another journal. */
MR_CHECK enum mr_code mr_mailbox_root_local_in(struct mr_ctx *cx, const char *path, bool read_only,
	enum mr_db_journal journal, struct mr_db **out);
/* Register the operator, or see that the registration and its mailbox are as they should be. */
MR_CHECK enum mr_code mr_mailbox_root_make_operator(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, struct mr_db *index);
