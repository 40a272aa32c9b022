/* tests/unit/mailbox/post.h - a mailbox root with accounts and mail, for tests of what comes later.
 */
#pragma once

#include "base/ctx.h"
#include "mailbox/cleanup.h"
#include "mailbox/message.h"
#include "mailbox/register.h"
#include "mailbox/root.h"

#define POST_NOW_US (INT64_C(1773202500) * 1000000) /* 2026-03-11T04:15:00Z */

struct post {
	const char *dir; /* the test's, also the working directory */
	struct mr_mailbox_root root;
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	struct mr_ctx cx;
};

/* A new root, "root" in the test's directory. */
void post_open(struct post *post);
void post_close(struct post *post);

/* name@houmao.localhost, whose owner is HOUMAO-<name>. */
const char *post_address(struct post *post, const char *name);
/* Register it; `owner` NULL is the usual one; the result's active id. With `private` a linked
 * mailbox in that directory. */
const char *post_register(struct post *post, const char *name, const char *owner,
	enum mr_mailbox_register_mode mode, const char *private);
const char *post_account(struct post *post, const char *name);
void post_unregister(struct post *post, const char *name, enum mr_mailbox_unregister_mode mode);
/* The directory of an in-root mailbox, relative to the working directory. */
const char *post_mailbox(struct post *post, const char *name);

/* Deliver a message, to names separated by commas; its id. */
const char *post_send(struct post *post, const char *from, const char *to,
	const struct mr_mailbox_attachments *attachments);
/* A managed copy in the root's attachments, or a file that is referred to. */
struct mr_mailbox_attachment post_attachment(struct post *post, const char *id,
	enum mr_mailbox_attachment_kind kind, const char *path);

/* Run SQL without parameters on the index (NULL) or on a mailbox's own database. */
void post_exec(struct post *post, const char *mailbox, const char *sql);
/* The first column of the first row. */
long long post_count(struct post *post, const char *mailbox, const char *sql);

/* All names below a directory with what links say and how long files are, one a line, sorted. */
const char *post_tree(struct post *post, const char *path);

/* The actions as lines "kind path[ address][ message][ attachment]: reason", the test's directory
 * left out of paths, ids as they are. */
const char *post_actions(struct post *post, const struct mr_mailbox_actions *actions);
/* How many actions are of this kind, and of this path unless it is NULL (its end suffices). */
size_t post_has(const struct mr_mailbox_actions *actions, const char *kind, const char *path);
