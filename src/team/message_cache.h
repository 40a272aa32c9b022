/*
 * team/message_cache.h - what messages read lately said, all but their bodies and places in their
 * threads.
 *
 * A message never changes once it is stored, nor does its sender's name, and no id is used again:
 * what is kept here is true as long as a list names the id, and there is nothing to keep in step.
 * Only what was committed may be put in, so only what a reader saw.
 */
#pragma once

#include "base/arena.h"
#include "team/model.h"

/* So many, the newest ids in the place of the oldest, and so much of each at the most. */
enum { MR_TEAM_MESSAGE_CACHE = 4096, MR_TEAM_HEAD_BYTES = 2048 };

struct mr_team_message_cache *mr_team_message_cache_new(void);
void mr_team_message_cache_free(struct mr_team_message_cache *heads);
/* Forget all of them: ids may mean other messages from now on. */
void mr_team_message_cache_clear(struct mr_team_message_cache *heads);

/*
 * Set what `out` says of the message and its sender, in memory of `arena`, and `out->form` when
 * somebody left one. False when it is not kept; `heads` NULL keeps nothing.
 */
bool mr_team_message_cache_get(struct mr_team_message_cache *heads, struct mr_arena *arena,
	int64_t message_id, struct mr_team_item *out);
/* Keep what `item` says of them. What is too long is not kept. */
void mr_team_message_cache_put(struct mr_team_message_cache *heads,
	const struct mr_team_item *item);

/*
 * Leave with the head of `item` a form it was given (its JSON), for who asks next. It is the same
 * whoever makes it. Nothing happens where the head is not kept.
 */
void mr_team_message_cache_leave(const struct mr_team_item *item, struct mr_bytes form);
