/* Contact cards as people leave them, and the names and addresses of senders. */
#include "base/utf8.h"
#include "workspace/contact_card.h"
#include "workspace/name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool same_texts(const struct mr_texts *a, const struct mr_texts *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

/* A card that was read is written so that it reads the same. */
static void check_card(struct mr_ctx *cx, struct mr_bytes file)
{
	struct mr_work_card card, again;
	struct mr_bytes out;

	if (mr_work_card_read(cx, file, &card) || mr_work_card_write(cx, &card, &out))
		return;
	require(!mr_work_card_read(cx, out, &again));
	require(strcmp(card.contact_uid, again.contact_uid) == 0);
	require(strcmp(card.display_name, again.display_name) == 0);
	require(strcmp(card.organization, again.organization) == 0);
	require(strcmp(card.role, again.role) == 0);
	require(strcmp(card.created_rfc3339, again.created_rfc3339) == 0);
	require(strcmp(card.updated_rfc3339, again.updated_rfc3339) == 0);
	require(same_texts(&card.emails, &again.emails) &&
		same_texts(&card.phones, &again.phones) && same_texts(&card.tags, &again.tags));
	require(mr_value_equal(&card.others, &again.others));
	require(card.body.len == again.body.len &&
		(!card.body.len || memcmp(card.body.data, again.body.data, card.body.len) == 0));
	card.body = mr_work_card_append(cx->arena, card.body, "x");
	require(card.body.len >= 2 && card.body.data[card.body.len - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena };
	const char *text = mr_arena_strndup(arena, size > 0 ? (const char *)data : "", size);
	const char *email = NULL, *name, *checked = NULL;

	check_card(&cx, mr_bytes_of(data, size));
	/* A sender's name always is one that a contact may have. */
	name = mr_work_card_sender_name(arena, text, "x@example.org");
	require(!mr_work_check_name(&cx, "name", name, &checked) && strcmp(name, checked) == 0);
	if (!mr_work_card_address(&cx, text, &email)) {
		const char *again = NULL;

		require(!mr_work_card_address(&cx, email, &again) && strcmp(email, again) == 0);
		require(!mr_work_check_name(&cx, "name",
			mr_work_card_sender_name(arena, NULL, email), &checked));
	}
	return 0;
}
