/*
 * team/message_cache.c - Caches the unchanging fields of recently listed messages, by message id.
 */
#include "team/message_cache.h"

#include "base/oom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 64, TEXTS = 8 };

/* One piece of memory: this, its texts, its form. */
struct head {
	size_t size; /* of all of it */
	struct mr_team_item item;
	size_t texts[TEXTS]; /* where each begins; 0: NULL */
	size_t form_at;      /* 0: none yet */
};

struct mr_team_message_cache {
	struct head *slots[MR_TEAM_MESSAGE_CACHE]; /* by the remainder of the id */
	pthread_mutex_t locks[LOCKS];              /* of the slots with the same remainder */
};

struct mr_team_message_cache *mr_team_message_cache_new(void)
{
	struct mr_team_message_cache *heads = calloc(1, sizeof(*heads));

	if (!heads)
		mr_oom(sizeof(*heads));
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_init(&heads->locks[i], NULL);
	return heads;
}

void mr_team_message_cache_free(struct mr_team_message_cache *heads)
{
	if (!heads)
		return;
	for (size_t i = 0; i < MR_TEAM_MESSAGE_CACHE; i++)
		free(heads->slots[i]);
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&heads->locks[i]);
	free(heads);
}

void mr_team_message_cache_clear(struct mr_team_message_cache *heads)
{
	for (size_t i = 0; i < MR_TEAM_MESSAGE_CACHE; i++) {
		pthread_mutex_lock(&heads->locks[i % LOCKS]);
		free(heads->slots[i]);
		heads->slots[i] = NULL;
		pthread_mutex_unlock(&heads->locks[i % LOCKS]);
	}
}

static struct head **lock_slot(struct mr_team_message_cache *heads, int64_t id)
{
	pthread_mutex_lock(&heads->locks[(uint64_t)id % LOCKS]);
	return &heads->slots[(uint64_t)id % MR_TEAM_MESSAGE_CACHE];
}

static void unlock_slot(struct mr_team_message_cache *heads, int64_t id)
{
	pthread_mutex_unlock(&heads->locks[(uint64_t)id % LOCKS]);
}

/* The texts of a head, each where it is kept. */
static void texts_of(struct mr_team_item *item, const char **out[TEXTS])
{
	out[0] = &item->message.uid;
	out[1] = &item->message.thread_id;
	out[2] = &item->message.subject;
	out[3] = &item->message.attachments;
	out[4] = &item->from;
	out[5] = &item->sender_project;
	out[6] = &item->message.addressed;
	out[7] = &item->excerpt;
}

bool mr_team_message_cache_get(struct mr_team_message_cache *heads, struct mr_arena *arena,
	int64_t message_id, struct mr_team_item *out)
{
	const char **texts[TEXTS];
	struct head *copy = NULL;
	struct head **slot;

	if (!heads)
		return false;
	slot = lock_slot(heads, message_id);
	if (*slot && (*slot)->item.message.id == message_id)
		copy = mr_arena_memdup(arena, *slot, (*slot)->size);
	unlock_slot(heads, message_id);
	if (!copy)
		return false;
	texts_of(&copy->item, texts);
	for (size_t i = 0; i < TEXTS; i++)
		*texts[i] = copy->texts[i] ? (const char *)copy + copy->texts[i] : NULL;
	if (copy->form_at)
		copy->item.form =
			mr_bytes_of((const char *)copy + copy->form_at, copy->size - copy->form_at);
	*out = copy->item;
	return true;
}

void mr_team_message_cache_put(struct mr_team_message_cache *heads, const struct mr_team_item *item)
{
	struct head head = { .size = sizeof(head) };
	size_t lengths[TEXTS];
	const char **texts[TEXTS];
	struct head *new, *old, **slot;

	if (!heads)
		return;
	head.item = (struct mr_team_item){
		.message = item->message,
		.from = item->from,
		.sender_project = item->sender_project,
		.from_human = item->from_human,
		.excerpt = item->excerpt,
		.heads = heads,
	};
	head.item.message.body_md = NULL;
	head.item.message.thread_seq = 0; /* a purge may change it */
	texts_of(&head.item, texts);
	for (size_t i = 0; i < TEXTS; i++) {
		lengths[i] = *texts[i] ? strlen(*texts[i]) + 1 : 0;
		if (lengths[i] > MR_TEAM_HEAD_BYTES)
			return;
		head.texts[i] = lengths[i] ? head.size : 0;
		head.size += lengths[i];
	}
	if (head.size > MR_TEAM_HEAD_BYTES)
		return;
	new = malloc(head.size);
	if (!new)
		mr_oom(head.size);
	for (size_t i = 0; i < TEXTS; i++) {
		if (lengths[i])
			memcpy((char *)new + head.texts[i], *texts[i], lengths[i]);
	}
	memcpy(new, &head, sizeof(head));
	slot = lock_slot(heads, item->message.id);
	old = *slot;
	*slot = new;
	unlock_slot(heads, item->message.id);
	free(old);
}

void mr_team_message_cache_leave(const struct mr_team_item *item, struct mr_bytes form)
{
	struct mr_team_message_cache *heads = item->heads;
	int64_t id = item->message.id;
	struct head *head, **slot;

	if (!heads || !form.len || form.len > MR_TEAM_HEAD_BYTES)
		return;
	slot = lock_slot(heads, id);
	head = *slot;
	if (head && head->item.message.id == id && !head->form_at) {
		head = realloc(head, head->size + form.len);
		if (!head)
			mr_oom(form.len);
		memcpy((char *)head + head->size, form.data, form.len);
		head->form_at = head->size;
		head->size += form.len;
		*slot = head;
	}
	unlock_slot(heads, id);
}
