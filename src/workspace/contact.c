/* workspace/contact.c - finds, reads and lists the contacts of a workspace. */
#include "workspace/contact.h"

#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/name.h"

#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".md";

/* --- where cards stand --- */

struct places {
	struct mr_work_contact_place *items;
	size_t len, cap;
};

static void add_place(struct mr_arena *arena, struct places *places,
	struct mr_work_contact_place place)
{
	if (places->len == places->cap) {
		struct mr_work_contact_place *items;

		places->cap = places->cap ? places->cap * 2 : 32;
		items = mr_arena_array(arena, places->cap, sizeof(*items));
		if (places->len)
			memcpy(items, places->items, places->len * sizeof(*items));
		places->items = items;
	}
	places->items[places->len++] = place;
}

/* The cards in one directory; files with other names are none. */
static enum mr_code scan_dir(struct mr_ctx *cx, struct mr_work *work, const char *dir,
	const char *group, struct places *out)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, dir, &names);

	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *name = names.items[i], *uid = NULL;

		if (!mr_str_ends(name, suffix) ||
			!mr_work_split_name(cx->arena, MR_WORK_CONTACT,
				mr_arena_strndup(cx->arena, name, strlen(name) - strlen(suffix)),
				&uid, NULL))
			continue;
		add_place(cx->arena, out,
			(struct mr_work_contact_place){ uid, mr_work_join(cx->arena, dir, name),
				group });
	}
	return rc;
}

/* By date and number: the number may have more than three digits. Active before archived. */
static int compare_places(const void *a, const void *b)
{
	const struct mr_work_contact_place *x = a, *y = b;
	size_t x_len = strlen(x->uid), y_len = strlen(y->uid);
	int order = strncmp(x->uid, y->uid, 9);

	if (order == 0)
		order = (x_len > y_len) - (x_len < y_len);
	if (order == 0)
		order = strcmp(x->uid, y->uid);
	if (order == 0)
		order = !x->group - !y->group;
	return order ? order : strcmp(x->path, y->path);
}

static enum mr_code scan(struct mr_ctx *cx, struct mr_work *work, struct places *out)
{
	struct mr_texts groups = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_CONTACTS, &groups);

	*out = (struct places){ 0 };
	for (size_t i = 0; !rc && i < groups.len; i++)
		rc = scan_dir(cx, work, mr_work_join(cx->arena, MR_WORK_CONTACTS, groups.items[i]),
			groups.items[i], out);
	if (!rc)
		rc = scan_dir(cx, work, MR_WORK_ARCHIVED_CONTACTS, NULL, out);
	if (!rc && out->len)
		qsort(out->items, out->len, sizeof(*out->items), compare_places);
	return rc;
}

enum mr_code mr_work_contact_places(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_contact_places *out)
{
	struct places found;
	enum mr_code rc = scan(cx, work, &found);

	if (!rc)
		*out = (struct mr_work_contact_places){ found.items, found.len };
	return rc;
}

enum mr_code mr_work_contact_refuse(struct mr_ctx *cx, const char *uid, const char *what)
{
	mr_work_refuse(cx, MR_WORK_NOT_FOUND, "contact %s %s", uid, what);
	return mr_work_detail_text(cx, "contact_uid", uid);
}

static enum mr_code refuse_twins(struct mr_ctx *cx, const struct mr_work_contact_place *one,
	const struct mr_work_contact_place *other)
{
	const char *items[] = { one->path, other->path, NULL };
	struct mr_texts paths = { items, 2 };

	mr_work_refuse(cx, MR_WORK_DUPLICATE_CONTACT_UID, "two cards have the uid %s: %s and %s",
		one->uid, one->path, other->path);
	mr_work_detail_text(cx, "contact_uid", one->uid);
	return mr_work_detail_texts(cx, "contact_paths", &paths);
}

enum mr_code mr_work_contact_find(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_contact_place *out)
{
	const struct mr_work_contact_place *found = NULL;
	struct places places;
	const char *uid = NULL;
	enum mr_code rc = mr_work_ref_uid(cx, MR_WORK_CONTACT, ref, &uid);

	if (!rc)
		rc = scan(cx, work, &places);
	for (size_t i = 0; !rc && i < places.len; i++) {
		if (!mr_str_eq(places.items[i].uid, uid))
			continue;
		if (found)
			return refuse_twins(cx, found, &places.items[i]);
		found = &places.items[i];
	}
	if (rc)
		return rc;
	if (!found)
		return mr_work_contact_refuse(cx, uid, "is unknown");
	*out = *found;
	return MR_OK;
}

enum mr_code mr_work_contact_find_active(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_contact_place *out)
{
	enum mr_code rc = mr_work_contact_find(cx, work, ref, out);

	return !rc && !out->group ? mr_work_contact_refuse(cx, out->uid, "is archived") : rc;
}

enum mr_code mr_work_contact_count(struct mr_ctx *cx, struct mr_work *work, int64_t *out_active,
	int64_t *out_archived)
{
	struct places places;
	enum mr_code rc = scan(cx, work, &places);

	*out_active = *out_archived = 0;
	for (size_t i = 0; !rc && i < places.len; i++)
		++*(places.items[i].group ? out_active : out_archived);
	return rc;
}

enum mr_code mr_work_contact_last_number(struct mr_ctx *cx, struct mr_work *work, const char *date,
	int64_t *out)
{
	struct places places;
	enum mr_code rc = scan(cx, work, &places);

	*out = 0;
	for (size_t i = 0; !rc && i < places.len; i++) {
		int64_t number = mr_work_uid_number(places.items[i].uid, date);

		if (number > *out)
			*out = number;
	}
	return rc;
}

/* --- reading them --- */

enum mr_code mr_work_contact_load(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_place *place, struct mr_work_card *out)
{
	struct mr_bytes file;
	enum mr_code rc = mr_work_read(cx, work, place->path, &file);

	if (rc)
		return rc;
	rc = mr_work_card_read(cx, file, out);
	if (!rc && !mr_str_eq(out->contact_uid, place->uid))
		rc = mr_work_refuse(cx, MR_WORK_INVALID_CONTACT,
			"contact_uid is not %s, as the file's name says", place->uid);
	if (rc)
		mr_err_wrap(&cx->err, "%s", place->path);
	return rc;
}

static void fill(struct mr_work_contact *out, const struct mr_work_contact_place *place,
	const struct mr_work_card *card)
{
	*out = (struct mr_work_contact){
		.contact_uid = place->uid,
		.display_name = card->display_name,
		.group = place->group,
		.emails = card->emails,
		.phones = card->phones,
		.organization = card->organization,
		.role = card->role,
		.tags = card->tags,
		.contact_path = place->path,
	};
}

static int compare_addresses(const void *a, const void *b)
{
	const struct mr_work_contact_address *x = a, *y = b;
	int order = strcmp(x->email, y->email);

	if (order == 0)
		order = !x->contact->group - !y->contact->group;
	return order ? order : strcmp(x->contact->contact_path, y->contact->contact_path);
}

static void sort_addresses(struct mr_arena *arena, struct mr_work_contacts *contacts)
{
	struct mr_work_contact_address *addresses;
	size_t count = 0, len = 0;

	for (size_t i = 0; i < contacts->len; i++)
		count += contacts->items[i].emails.len;
	addresses = mr_arena_array(arena, count, sizeof(*addresses));
	for (size_t i = 0; i < contacts->len; i++)
		for (size_t k = 0; k < contacts->items[i].emails.len; k++)
			addresses[len++] = (struct mr_work_contact_address){
				contacts->items[i].emails.items[k], &contacts->items[i]
			};
	if (count)
		qsort(addresses, count, sizeof(*addresses), compare_addresses);
	contacts->addresses = addresses;
	contacts->address_count = count;
}

/* Only what is wrong with one card lets the others go on. */
static bool is_about_the_card(const struct mr_err *err)
{
	return mr_str_eq(err->word, mr_work_error_word(MR_WORK_INVALID_CONTACT));
}

enum mr_code mr_work_contacts_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contacts **out)
{
	struct mr_work_contacts *contacts;
	struct mr_err before = cx->err;
	struct places places;
	enum mr_code rc;

	if (work->contacts) {
		*out = work->contacts;
		return MR_OK;
	}
	rc = scan(cx, work, &places);
	if (rc)
		return rc;
	contacts = mr_arena_alloc(cx->arena, sizeof(*contacts));
	contacts->items = mr_arena_array(cx->arena, places.len, sizeof(*contacts->items));
	contacts->invalid_paths.items = mr_arena_array(cx->arena, places.len + 1, sizeof(char *));
	contacts->invalid_messages.items =
		mr_arena_array(cx->arena, places.len + 1, sizeof(char *));
	for (size_t i = 0; i < places.len; i++) {
		struct mr_work_card card;

		rc = mr_work_contact_load(cx, work, &places.items[i], &card);
		if (!rc) {
			fill(&contacts->items[contacts->len++], &places.items[i], &card);
			continue;
		}
		if (!is_about_the_card(&cx->err))
			return rc;
		contacts->invalid_paths.items[contacts->invalid_paths.len++] = places.items[i].path;
		contacts->invalid_messages.items[contacts->invalid_messages.len++] =
			mr_arena_strdup(cx->arena, cx->err.msg);
	}
	cx->err = before;
	sort_addresses(cx->arena, contacts);
	work->contacts = contacts;
	*out = contacts;
	return MR_OK;
}

const struct mr_work_contact *mr_work_contact_with(const struct mr_work_contacts *contacts,
	const char *address)
{
	size_t low = 0, high = contacts->address_count;

	while (low < high) { /* the first that is not below it */
		size_t middle = low + (high - low) / 2;

		if (strcmp(contacts->addresses[middle].email, address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < contacts->address_count && mr_str_eq(contacts->addresses[low].email, address)
		? contacts->addresses[low].contact
		: NULL;
}

enum mr_code mr_work_contact_of(struct mr_ctx *cx, struct mr_work *work, const char *address,
	const char **out_uid, const char **out_name)
{
	const struct mr_work_contacts *contacts = NULL;
	const struct mr_work_contact *contact;
	enum mr_code rc = mr_work_contacts_get(cx, work, &contacts);

	*out_uid = *out_name = NULL;
	if (rc || !address)
		return rc;
	contact = mr_work_contact_with(contacts,
		mr_str_lower(cx->arena, mr_str_trim(cx->arena, address)));
	if (contact) {
		*out_uid = contact->contact_uid;
		*out_name = contact->display_name;
	}
	return MR_OK;
}

/* --- commands --- */

static bool matches(const struct mr_work_contact *contact,
	const struct mr_work_contact_list *request)
{
	return contact->group && (!request->group || mr_str_eq(contact->group, request->group)) &&
		(!request->tag || mr_texts_has(&contact->tags, request->tag)) &&
		(!request->org || mr_str_eq(contact->organization, request->org)) &&
		(!request->role || mr_str_eq(contact->role, request->role));
}

enum mr_code mr_work_contact_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_list *request, struct mr_work_contact_listed *result)
{
	const struct mr_work_contacts *all = NULL;
	enum mr_code rc = mr_work_contacts_get(cx, work, &all);

	if (rc)
		return rc;
	*result = (struct mr_work_contact_listed){ .invalid_paths = all->invalid_paths };
	result->contacts = mr_arena_array(cx->arena, all->len, sizeof(*result->contacts));
	for (size_t i = 0; i < all->len; i++)
		if (matches(&all->items[i], request))
			result->contacts[result->contacts_len++] = all->items[i];
	result->count = (int64_t)result->contacts_len;
	return MR_OK;
}

enum mr_code mr_work_contact_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_show *request, struct mr_work_contact_shown *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_bytes file = { 0 };
	struct mr_work_card card = { 0 };
	struct mr_err kept = cx->err;
	enum mr_code rc = mr_work_contact_find(cx, work, request->contact_ref, &place);
	bool has_card;

	if (!rc)
		rc = mr_work_read(cx, work, place.path, &file);
	if (rc)
		return rc;
	has_card = !mr_work_card_read(cx, file, &card);
	cx->err = kept;
	*result = (struct mr_work_contact_shown){
		.contact_uid = place.uid,
		.is_archived = !place.group,
		.group = place.group,
		.contact_path = place.path,
		.content = (const char *)file.data,
		.has_card = has_card,
		.card = card,
	};
	return MR_OK;
}

enum mr_code mr_work_contact_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_show *request, struct mr_work_contact_notes *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_work_card card;
	enum mr_code rc = mr_work_contact_find(cx, work, request->contact_ref, &place);

	if (!rc)
		rc = mr_work_contact_load(cx, work, &place, &card);
	if (rc)
		return rc;
	result->contact_uid = place.uid;
	result->notes = mr_arena_strndup(cx->arena, (const char *)card.body.data, card.body.len);
	return MR_OK;
}
