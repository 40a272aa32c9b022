/* workspace/extract_contact.c - makes contacts of the senders of messages. */
#include "workspace/extract_contact.h"

#include "workspace/config.h"
#include "workspace/name.h"
#include "workspace/refresh.h"
#include "workspace/text_set.h"

#include <stdlib.h>
#include <string.h>

static int compare_senders(const void *a, const void *b)
{
	const struct mr_work_sender *x = a, *y = b;

	if (x->time_us != y->time_us)
		return x->time_us < y->time_us ? -1 : 1;
	return strcmp(x->message_id, y->message_id);
}

static struct mr_work_sender *sorted(struct mr_arena *arena,
	const struct mr_work_contact_extract *request)
{
	size_t count = request->sender_count;
	struct mr_work_sender *senders = mr_arena_array(arena, count, sizeof(*senders));

	if (count) {
		memcpy(senders, request->senders, count * sizeof(*senders));
		qsort(senders, count, sizeof(*senders), compare_senders);
	}
	return senders;
}

struct extraction {
	const struct mr_work_config *config;
	const struct mr_work_contacts *contacts;
	struct mr_work_text_set made; /* addresses that get a card */
	const char *group, *date;
	int64_t last;
	struct mr_work_change change;
};

static enum mr_code take(struct mr_ctx *cx, struct extraction *extraction,
	const struct mr_work_sender *sender, struct mr_work_contact_extracted *result)
{
	struct mr_work_card card = { 0 };
	struct mr_err before = cx->err;
	const char *email = NULL, *path = NULL;
	enum mr_code rc;

	if (!sender->email || mr_work_card_address(cx, sender->email, &email)) {
		cx->err = before;
		return MR_OK;
	}
	if (mr_work_is_own_address(extraction->config, email))
		return MR_OK;
	if (mr_work_contact_with(extraction->contacts, email) ||
		!mr_work_text_set_add(cx->arena, &extraction->made, email)) {
		result->skipped_count++;
		return MR_OK;
	}
	card.contact_uid =
		mr_work_uid(cx->arena, MR_WORK_CONTACT, extraction->date, ++extraction->last);
	card.display_name = mr_work_card_sender_name(cx->arena, sender->name, email);
	mr_work_card_add(cx->arena, &card.emails, email);
	rc = mr_work_contact_put(cx, &extraction->change, &card, extraction->group, "extract",
		&path);
	if (!rc)
		result->created_uids.items[result->created_uids.len++] = card.contact_uid;
	return rc;
}

enum mr_code mr_work_contact_extract(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_extract *request, struct mr_work_contact_extracted *result)
{
	const struct mr_work_sender *senders = sorted(cx->arena, request);
	struct extraction extraction = { 0 };
	enum mr_code rc = mr_work_config_get(cx, work, &extraction.config);

	if (!rc)
		rc = mr_work_contacts_get(cx, work, &extraction.contacts);
	if (!rc)
		rc = mr_work_contact_group(cx, work, request->group, &extraction.group);
	if (!rc)
		rc = mr_work_contact_date(cx, work, &extraction.date);
	if (!rc)
		rc = mr_work_contact_last_number(cx, work, extraction.date, &extraction.last);
	if (rc)
		return rc;
	*result = (struct mr_work_contact_extracted){ 0 };
	result->created_uids.items =
		mr_arena_array(cx->arena, request->sender_count + 1, sizeof(char *));
	mr_work_change_begin(cx, work, "contact_write", &extraction.change);
	for (size_t i = 0; i < request->sender_count && !rc; i++)
		rc = take(cx, &extraction, &senders[i], result);
	result->created_count = (int64_t)result->created_uids.len;
	return rc ? rc : mr_work_carry_out(cx, &extraction.change);
}
