/* mailbox/repair_known.c - a compact table of message ids, found by a seeded hash. */
#include "mailbox/limits.h"
#include "mailbox/repair_private.h"
#include "text/token.h"

#include <inttypes.h>
#include <string.h>

enum {
	FIRST_SLOTS = 1024,
	DATE_DIGITS = 8,
	TIME_DIGITS = 6,
	UUID_BYTES = 16,
	PREFIX_BYTES = 4, /* "msg-" */
	UUID_AT = PREFIX_BYTES + DATE_DIGITS + 1 + TIME_DIGITS + 2,
};

struct item {
	uint64_t time; /* the fourteen digits of the id */
	uint64_t head; /* a hash of its thread, time and subject */
	uint32_t date; /* of the document: 20260311 */
	uint32_t reserved;
	uint8_t uuid[UUID_BYTES];
};

static const struct item *item_at(const struct mr_mailbox_known *known, size_t number)
{
	return (const struct item *)(const void *)known->items.data + number;
}

void mr_mailbox_known_init(struct mr_mailbox_known *known, struct mr_rand *rand)
{
	*known = (struct mr_mailbox_known){ .slots = NULL };
	mr_buf_init(&known->items, (size_t)MR_MAILBOX_MESSAGES_MAX * sizeof(struct item));
	mr_rand_fill(rand, &known->seed, sizeof(known->seed));
}

void mr_mailbox_known_release(struct mr_mailbox_known *known)
{
	mr_buf_release(&known->items);
	mr_arena_freep(&known->slots_arena);
}

size_t mr_mailbox_known_count(const struct mr_mailbox_known *known)
{
	return known->items.len / sizeof(struct item);
}

static uint64_t digits(const char *text, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	return value;
}

static unsigned nibble(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* False when it is no message id. */
static bool pack(const char *id, struct item *out)
{
	const char *hex = id + UUID_AT;

	if (!mr_token_is_message_id(id))
		return false;
	*out = (struct item){
		.time = digits(id + PREFIX_BYTES, DATE_DIGITS) * 1000000 +
			digits(id + PREFIX_BYTES + DATE_DIGITS + 1, TIME_DIGITS),
	};
	for (size_t i = 0; i < UUID_BYTES; i++)
		out->uuid[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
	return true;
}

/* Seeded, so that ids cannot be chosen to collide. */
static uint64_t hash_of(const struct mr_mailbox_known *known, const struct item *item)
{
	uint64_t parts[3] = { 0, 0, item->time };
	uint64_t hash = known->seed;

	memcpy(parts, item->uuid, UUID_BYTES);
	for (size_t i = 0; i < MR_LEN(parts); i++) {
		hash = (hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
		hash += known->seed;
	}
	return hash ^ hash >> 32;
}

static bool same(const struct item *a, const struct item *b)
{
	return a->time == b->time && memcmp(a->uuid, b->uuid, UUID_BYTES) == 0;
}

/* The slot that holds the item's number plus one, or 0 where it would go. */
static uint32_t *slot_of(const struct mr_mailbox_known *known, const struct item *item)
{
	size_t mask = known->slot_count - 1;
	size_t at = hash_of(known, item) & mask;

	while (known->slots[at] != 0 && !same(item_at(known, known->slots[at] - 1), item))
		at = (at + 1) & mask;
	return &known->slots[at];
}

static void grow(struct mr_mailbox_known *known)
{
	size_t count = mr_mailbox_known_count(known);

	if (known->slots && count < known->slot_count / 2)
		return;
	known->slot_count = known->slots ? known->slot_count * 2 : FIRST_SLOTS;
	mr_arena_free(known->slots_arena);
	known->slots_arena = mr_arena_new();
	known->slots = mr_arena_array(known->slots_arena, known->slot_count, sizeof(*known->slots));
	for (size_t i = 0; i < count; i++)
		*slot_of(known, item_at(known, i)) = (uint32_t)(i + 1);
}

/*
 * Their ends count: "ab" and "c" are not "a" and "bc". What two heads with one hash could cost is a
 * stale subject in a mailbox's list, until the next run: it begins with another seed.
 */
static uint64_t hash_head(const struct mr_mailbox_known *known, const char *thread_id,
	const char *created_at, const char *subject)
{
	const char *texts[] = { thread_id, created_at, subject };
	uint64_t hash = known->seed;

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		for (const char *at = texts[i] ? texts[i] : "\1"; *at != '\0'; at++)
			hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
		hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return hash;
}

enum mr_code mr_mailbox_known_add(struct mr_mailbox_known *known,
	const struct mr_mailbox_message *message, uint32_t *out_number, struct mr_err *err)
{
	const char *created_at = message->created_at_utc;
	struct item item;
	uint32_t *slot;
	enum mr_code rc;

	if (!pack(message->message_id, &item))
		return mr_err_set(err, MR_EINTERNAL, "\"%s\" is no message id",
			message->message_id);
	item.date = (uint32_t)(digits(created_at, 4) * 10000 + digits(created_at + 5, 2) * 100 +
		digits(created_at + 8, 2));
	item.head = hash_head(known, message->thread_id, created_at, message->subject);
	grow(known);
	slot = slot_of(known, &item);
	if (*slot != 0)
		return mr_err_set(err, MR_EEXISTS, "message %s occurs twice", message->message_id);
	mr_buf_add(&known->items, &item, sizeof(item));
	rc = mr_buf_check(&known->items, "the list of messages", err);
	if (rc)
		return rc;
	*slot = (uint32_t)mr_mailbox_known_count(known);
	*out_number = *slot - 1;
	return MR_OK;
}

bool mr_mailbox_known_find(const struct mr_mailbox_known *known, const char *message_id,
	uint32_t *out_number)
{
	struct item item;
	uint32_t *slot;

	if (!known->slots || !pack(message_id, &item))
		return false;
	slot = slot_of(known, &item);
	if (*slot == 0)
		return false;
	*out_number = *slot - 1;
	return true;
}

bool mr_mailbox_known_says(const struct mr_mailbox_known *known, uint32_t number,
	const char *thread_id, const char *created_at, const char *subject)
{
	return item_at(known, number)->head == hash_head(known, thread_id, created_at, subject);
}

const char *mr_mailbox_known_id(const struct mr_mailbox_known *known, struct mr_arena *arena,
	uint32_t number)
{
	static const char hex[] = "0123456789abcdef";
	const struct item *item = item_at(known, number);
	char uuid[2 * UUID_BYTES + 1] = "";

	for (size_t i = 0; i < UUID_BYTES; i++) {
		uuid[2 * i] = hex[item->uuid[i] >> 4];
		uuid[2 * i + 1] = hex[item->uuid[i] & 15];
	}
	return mr_arena_printf(arena, "msg-%08" PRIu64 "T%06" PRIu64 "Z-%s", item->time / 1000000,
		item->time % 1000000, uuid);
}

const char *mr_mailbox_known_path(const struct mr_mailbox_known *known, struct mr_arena *arena,
	uint32_t number)
{
	const struct item *item = item_at(known, number);
	const char *date = mr_arena_printf(arena, "%04u-%02u-%02u", item->date / 10000,
		item->date / 100 % 100, item->date % 100);

	return mr_mailbox_layout_message(arena, date, mr_mailbox_known_id(known, arena, number));
}
