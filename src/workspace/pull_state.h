/*
 * workspace/pull_state.h - what the server said of each mailbox at the end of the last pull, so
 * that the next one asks only for what changed since: .afmail/index.sqlite.sync.json.
 *
 * Nothing is lost when the file is deleted or cannot be read: the next pull compares everything.
 */
#pragma once

#include "workspace/frame.h"

struct mr_work_box_state {
	const char *mailbox_name;
	int64_t uid_validity, uid_next, highest_modseq;
};
struct mr_work_pull_state {
	const char *account; /* the server and the user that it is about */
	struct mr_work_box_state *items;
	size_t len;
};

/* How an account is named in the state. */
const char *mr_work_pull_state_account(struct mr_arena *arena, const char *username,
	const char *host, int64_t port);
/* The state of this account; nothing when there is none that can be used. */
void mr_work_pull_state_load(struct mr_ctx *cx, struct mr_work *work, const char *account,
	struct mr_work_pull_state *out);
/* NULL when nothing is known of the mailbox. */
const struct mr_work_box_state *mr_work_pull_state_of(const struct mr_work_pull_state *state,
	const char *mailbox_name);
/* Put one in place of what is known of its mailbox; all of it lives in the arena. */
void mr_work_pull_state_put(struct mr_arena *arena, struct mr_work_pull_state *state,
	const struct mr_work_box_state *box);
/* Failures are ignored: the next pull has more to ask. */
void mr_work_pull_state_save(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull_state *state);
