/*
 * team/message_cache.h - a cache of recently listed messages, without their bodies and places in
 * their threads.
 *
 * A message never changes once it is stored, nor does its sender's name, and no id is used again:
 * so an entry stays valid as long as its id is listed, and needs no invalidation. Only committed
 * messages may be stored here, as a reader sees them.
 */
#pragma once

#include "base/arena.h"
#include "team/model.h"

/* The number of entries, where newer ids replace older ones, and the maximum size of one. */
enum { MR_TEAM_MESSAGE_CACHE = 4096, MR_TEAM_HEAD_BYTES = 2048 };

struct mr_team_message_cache *mr_team_message_cache_new(void);
void mr_team_message_cache_free(struct mr_team_message_cache *heads);
/* Drop all entries: ids may mean other messages from now on. */
void mr_team_message_cache_clear(struct mr_team_message_cache *heads);

/*
 * Fill `out` with the message's fields and its sender, in memory of `arena`, and `out->form` when
 * one is stored. False when it is not cached; `heads` NULL caches nothing.
 */
bool mr_team_message_cache_get(struct mr_team_message_cache *heads, struct mr_arena *arena,
	int64_t message_id, struct mr_team_item *out);
/* Store these fields of `item`. One that is too long is not stored. */
void mr_team_message_cache_put(struct mr_team_message_cache *heads,
	const struct mr_team_item *item);

/*
 * Store the JSON of `item` with its entry, for the next reader. It is the same for every reader.
 * Nothing happens when there is no entry.
 */
void mr_team_message_cache_leave(const struct mr_team_item *item, struct mr_bytes form);
