/* workspace/extract_contact.c - makes contacts of the senders of messages. */
#include "workspace/extract_contact.h"

#include "workspace/collection.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/index.h"
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

/* --- the senders of messages --- */

struct gathering {
	struct mr_ctx *cx;
	struct mr_work *work;
	struct mr_work_text_set seen; /* messages: one may be in several cases */
	struct mr_work_sender *senders;
	size_t len, cap;
};

/* The index has a sender as "Name <address>", or the address alone. */
static struct mr_work_sender sender_of(struct mr_arena *arena, const struct mr_work_brief *brief)
{
	struct mr_work_sender sender = { .message_id = brief->message_id,
		.email = brief->from,
		.time_us = brief->has_time ? brief->time_us : 0 };
	const char *open = brief->from ? strrchr(brief->from, '<') : NULL;
	size_t len = open ? strlen(open) : 0;

	if (len < 2 || open[len - 1] != '>')
		return sender;
	sender.email = mr_arena_strndup(arena, open + 1, len - 2);
	sender.name = mr_str_trim(arena,
		mr_arena_strndup(arena, brief->from, (size_t)(open - brief->from)));
	return sender;
}

static void gather(struct gathering *gathering, const struct mr_work_brief *brief)
{
	struct mr_arena *arena = gathering->cx->arena;

	if (!mr_work_text_set_add(arena, &gathering->seen, brief->message_id))
		return;
	if (gathering->len == gathering->cap) {
		size_t cap = gathering->cap ? gathering->cap * 2 : 64;
		struct mr_work_sender *grown = mr_arena_array(arena, cap, sizeof(*grown));

		if (gathering->len)
			memcpy(grown, gathering->senders, gathering->len * sizeof(*grown));
		gathering->senders = grown;
		gathering->cap = cap;
	}
	gathering->senders[gathering->len++] = sender_of(arena, brief);
}

static enum mr_code gather_triage(struct gathering *gathering)
{
	const struct mr_work_filter filter = {
		.status = mr_work_status_names[MR_WORK_IS_TRIAGE],
	};
	struct mr_work_briefs briefs = { 0 };
	enum mr_code rc = mr_work_index_list(gathering->cx, gathering->work, &filter, &briefs);

	for (size_t i = 0; !rc && i < briefs.len; i++)
		gather(gathering, &briefs.items[i]);
	return rc;
}

/* A message that a case lists and that is gone has no sender: doctor tells of it. */
static enum mr_code gather_case(struct gathering *gathering, const struct mr_work_place *place)
{
	struct mr_ctx *cx = gathering->cx;
	struct mr_work_collection collection;
	enum mr_code rc =
		mr_work_collection_load(cx, gathering->work, place->kind, place->path, &collection);

	for (size_t i = 0; !rc && i < collection.len; i++) {
		const char *id = collection.items[i].message_id;
		struct mr_work_brief brief;

		if (!mr_work_index_has(cx, gathering->work, id))
			continue;
		rc = mr_work_index_message(cx, gathering->work, id, &brief);
		if (!rc)
			gather(gathering, &brief);
	}
	return rc;
}

static enum mr_code gather_cases(struct gathering *gathering, enum mr_work_collection_kind kind)
{
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(gathering->cx, gathering->work, kind, &places);

	for (size_t i = 0; !rc && i < places.len; i++)
		rc = gather_case(gathering, &places.items[i]);
	return rc;
}

static enum mr_code gather_one_case(struct gathering *gathering, const char *ref)
{
	struct mr_ctx *cx = gathering->cx;
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_place_find(cx, gathering->work, MR_WORK_CASE, ref, &place);

	if (rc && mr_str_eq(cx->err.word, mr_work_error_word(MR_WORK_CASE_NOT_FOUND))) {
		(void)mr_work_refuse(cx, MR_WORK_NOT_FOUND, "there is no case '%s'", ref);
		return mr_work_hint(cx,
			"List the cases with `afmail case list` and `afmail archive list`.");
	}
	return rc ? rc : gather_case(gathering, &place);
}

enum mr_code mr_work_contact_extract_from(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_sources *request, struct mr_work_contact_extracted *result)
{
	struct gathering gathering = { .cx = cx, .work = work };
	enum mr_code rc = mr_work_index_open(cx, work);

	if (!rc && request->from_case)
		rc = gather_one_case(&gathering, request->from_case);
	else if (!rc)
		rc = gather_triage(&gathering);
	if (!rc && request->all)
		rc = gather_cases(&gathering, MR_WORK_ACTIVE_CASE);
	if (!rc && request->all)
		rc = gather_cases(&gathering, MR_WORK_ARCHIVED_CASE);
	if (rc)
		return rc;
	return mr_work_contact_extract(cx, work,
		&(struct mr_work_contact_extract){ gathering.senders, gathering.len,
			request->group },
		result);
}
