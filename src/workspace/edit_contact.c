/* workspace/edit_contact.c - makes, changes, archives and deletes contacts. */
#include "workspace/edit_contact.h"

#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/name.h"
#include "workspace/refresh.h"

#include <string.h>

static const char *dir_of(struct mr_arena *arena, const char *group)
{
	return group ? mr_work_join(arena, MR_WORK_CONTACTS, group) : MR_WORK_ARCHIVED_CONTACTS;
}

static const char *path_of(struct mr_arena *arena, const char *group, const char *uid,
	const char *name)
{
	return mr_arena_printf(arena, "%s/%s.md", dir_of(arena, group),
		mr_work_dir_name(arena, uid, name));
}

/* The same file name in another directory: it may have been chosen by hand. */
static const char *moved_path(struct mr_arena *arena, const struct mr_work_contact_place *place,
	const char *group)
{
	return mr_work_join(arena, dir_of(arena, group), strrchr(place->path, '/') + 1);
}

static void begin(struct mr_ctx *cx, struct mr_work *work, struct mr_work_change *out)
{
	mr_work_change_begin(cx, work, "contact_write", out);
}

static void begin_event(struct mr_work_change *change, const char *kind, const char *uid,
	const char *reason, struct mr_work_event *out)
{
	mr_work_event_begin(change, kind, MR_WORK_TARGETS({ "contact", uid }), reason, out);
	mr_out_text(&out->out, "contact_uid", uid);
}

/* The card of a contact that is changed, with the time of its change. */
static enum mr_code put_card(struct mr_ctx *cx, struct mr_work_change *change, const char *path,
	struct mr_work_card *card)
{
	struct mr_bytes file;
	enum mr_code rc;

	card->updated_rfc3339 = change->work->now;
	if (!*card->created_rfc3339)
		card->created_rfc3339 = card->updated_rfc3339;
	rc = mr_work_card_write(cx, card, &file);
	if (!rc)
		mr_work_change_write(change, path, file);
	return rc;
}

static enum mr_code open_active(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_contact_place *place, struct mr_work_card *card)
{
	enum mr_code rc = mr_work_contact_find_active(cx, work, ref, place);

	return rc ? rc : mr_work_contact_load(cx, work, place, card);
}

/* Nobody else may have the address. */
static enum mr_code check_free(struct mr_ctx *cx, struct mr_work *work, const char *email,
	const char *own_uid)
{
	const struct mr_work_contacts *contacts = NULL;
	const struct mr_work_contact *owner;
	enum mr_code rc = mr_work_contacts_get(cx, work, &contacts);

	if (rc)
		return rc;
	owner = mr_work_contact_with(contacts, email);
	if (!owner || mr_str_eq(owner->contact_uid, own_uid))
		return MR_OK;
	mr_work_refuse(cx, MR_WORK_EMAIL_CONFLICT, "%s is an address of contact %s (%s)", email,
		owner->contact_uid, owner->display_name);
	mr_work_detail_text(cx, "email", email);
	return mr_work_detail_text(cx, "existing_contact_uid", owner->contact_uid);
}

/* --- making one --- */

enum mr_code mr_work_contact_group(struct mr_ctx *cx, struct mr_work *work, const char *given,
	const char **out)
{
	const struct mr_work_config *config = NULL;
	enum mr_code rc = MR_OK;

	if (!given) {
		rc = mr_work_config_get(cx, work, &config);
		if (rc)
			return rc;
		given = config->contact_group;
	}
	rc = mr_work_check_segment(cx, "group", given);
	if (!rc)
		*out = given;
	return rc;
}

enum mr_code mr_work_contact_date(struct mr_ctx *cx, struct mr_work *work, const char **out)
{
	const struct mr_work_config *config = NULL;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		*out = mr_work_local_date(cx->arena, config, work->now_us);
	return rc;
}

enum mr_code mr_work_contact_put(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_card *card, const char *group, const char *via, const char **out_path)
{
	struct mr_work_event event;
	enum mr_code rc;

	*out_path = path_of(cx->arena, group, card->contact_uid, card->display_name);
	card->organization = card->organization ? card->organization : "";
	card->role = card->role ? card->role : "";
	card->created_rfc3339 = change->work->now;
	card->others = (struct mr_value){ .kind = MR_MAP };
	card->body = mr_work_card_heading(cx->arena, card->display_name);
	rc = put_card(cx, change, *out_path, card);
	if (rc)
		return rc;
	begin_event(change, "contact_created", card->contact_uid, NULL, &event);
	mr_out_text(&event.out, "display_name", card->display_name);
	mr_out_text(&event.out, "group", group);
	mr_out_texts(&event.out, "emails", &card->emails);
	if (via)
		mr_out_text(&event.out, "via", via);
	mr_work_event_end(&event);
	change->stale.contacts = true;
	return MR_OK;
}

static enum mr_code read_lists(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_create *request, struct mr_work_card *card)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < request->email.len && !rc; i++) {
		const char *email = "";

		if (!*mr_str_trim(cx->arena, request->email.items[i]))
			continue;
		rc = mr_work_card_address(cx, request->email.items[i], &email);
		if (!rc)
			rc = check_free(cx, work, email, NULL);
		if (!rc)
			mr_work_card_add(cx->arena, &card->emails, email);
	}
	for (size_t i = 0; i < request->phone.len && !rc; i++)
		mr_work_card_add(cx->arena, &card->phones,
			mr_str_trim(cx->arena, request->phone.items[i]));
	for (size_t i = 0; i < request->tag.len && !rc; i++) {
		rc = mr_work_check_segment(cx, "tag", request->tag.items[i]);
		if (!rc)
			mr_work_card_add(cx->arena, &card->tags, request->tag.items[i]);
	}
	return rc;
}

enum mr_code mr_work_contact_create(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_create *request, struct mr_work_contact_created *result)
{
	struct mr_work_card card = { 0 };
	struct mr_work_change change;
	const char *group = NULL, *date = NULL, *path = NULL;
	int64_t last = 0;
	enum mr_code rc = mr_work_check_name(cx, "name", request->name, &card.display_name);

	if (!rc)
		rc = mr_work_contact_group(cx, work, request->group, &group);
	if (!rc)
		rc = read_lists(cx, work, request, &card);
	if (!rc)
		rc = mr_work_contact_date(cx, work, &date);
	if (!rc)
		rc = mr_work_contact_last_number(cx, work, date, &last);
	if (rc)
		return rc;
	card.contact_uid = mr_work_uid(cx->arena, MR_WORK_CONTACT, date, last + 1);
	card.organization = mr_str_trim(cx->arena, request->org ? request->org : "");
	card.role = mr_str_trim(cx->arena, request->role ? request->role : "");
	begin(cx, work, &change);
	rc = mr_work_contact_put(cx, &change, &card, group, NULL, &path);
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = (struct mr_work_contact_created){ card.contact_uid, card.display_name,
			group, card.emails, path };
	return rc;
}

/* --- its place and name --- */

enum mr_code mr_work_contact_move(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_move *request, struct mr_work_contact_moved *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	enum mr_code rc = mr_work_check_segment(cx, "group", request->group);

	if (!rc)
		rc = mr_work_contact_find_active(cx, work, request->contact_ref, &place);
	if (rc)
		return rc;
	*result = (struct mr_work_contact_moved){ place.uid, place.group, place.path, false };
	if (mr_str_eq(place.group, request->group))
		return MR_OK;
	result->group = request->group;
	result->contact_path = moved_path(cx->arena, &place, request->group);
	result->changed = true;
	begin(cx, work, &change);
	mr_work_change_move(&change, place.path, result->contact_path);
	mr_work_change_drop_dir(&change, dir_of(cx->arena, place.group));
	begin_event(&change, "contact_moved", place.uid, NULL, &event);
	mr_out_text(&event.out, "from_group", place.group);
	mr_out_text(&event.out, "to_group", request->group);
	mr_work_event_end(&event);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_contact_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_rename *request, struct mr_work_contact_renamed *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_work_card card;
	struct mr_work_change change;
	struct mr_work_event event;
	const char *name = NULL, *path, *old_name;
	enum mr_code rc = mr_work_check_name(cx, "name", request->name, &name);

	if (!rc)
		rc = open_active(cx, work, request->contact_ref, &place, &card);
	if (rc)
		return rc;
	path = path_of(cx->arena, place.group, place.uid, name);
	*result = (struct mr_work_contact_renamed){ place.uid, name, place.group, path };
	if (mr_str_eq(card.display_name, name) && mr_str_eq(path, place.path))
		return MR_OK;
	old_name = card.display_name;
	card.display_name = name;
	begin(cx, work, &change);
	if (!mr_str_eq(path, place.path))
		mr_work_change_move(&change, place.path, path);
	rc = put_card(cx, &change, path, &card);
	if (rc)
		return rc;
	begin_event(&change, "contact_renamed", place.uid, NULL, &event);
	mr_out_text(&event.out, "old_name", old_name);
	mr_out_text(&event.out, "new_name", name);
	mr_work_event_end(&event);
	change.stale.contacts = true;
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_contact_archive(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_end *request, struct mr_work_contact_ended *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	const char *reason = NULL;
	enum mr_code rc = mr_work_contact_find_active(cx, work, request->contact_ref, &place);

	if (!rc)
		rc = mr_work_reason(cx, work, request->reason, &reason);
	if (rc)
		return rc;
	*result = (struct mr_work_contact_ended){ place.uid, moved_path(cx->arena, &place, NULL) };
	begin(cx, work, &change);
	mr_work_change_move(&change, place.path, result->contact_path);
	mr_work_change_drop_dir(&change, dir_of(cx->arena, place.group));
	begin_event(&change, "contact_archived", place.uid, reason, &event);
	mr_out_text(&event.out, "from_group", place.group);
	mr_work_event_end(&event);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_contact_reopen(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_reopen *request, struct mr_work_contact_reopened *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	const char *reason = NULL, *group = NULL;
	enum mr_code rc = mr_work_contact_find(cx, work, request->contact_ref, &place);

	if (!rc && place.group)
		rc = mr_work_contact_refuse(cx, place.uid, "is not archived");
	if (!rc)
		rc = mr_work_contact_group(cx, work, request->group, &group);
	if (!rc)
		rc = mr_work_reason(cx, work, request->reason, &reason);
	if (rc)
		return rc;
	*result = (struct mr_work_contact_reopened){ place.uid, group,
		moved_path(cx->arena, &place, group) };
	begin(cx, work, &change);
	mr_work_change_move(&change, place.path, result->contact_path);
	begin_event(&change, "contact_reopened", place.uid, reason, &event);
	mr_out_text(&event.out, "group", group);
	mr_work_event_end(&event);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_contact_delete(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_end *request, struct mr_work_contact_ended *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_work_card card = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	const char *reason = NULL;
	enum mr_code rc = mr_work_contact_find(cx, work, request->contact_ref, &place);

	if (!rc)
		rc = mr_work_reason(cx, work, request->reason, &reason);
	if (rc)
		return rc;
	*result = (struct mr_work_contact_ended){ place.uid, place.path };
	begin(cx, work, &change);
	mr_work_change_remove(&change, place.path);
	if (place.group)
		mr_work_change_drop_dir(&change, dir_of(cx->arena, place.group));
	begin_event(&change, "contact_deleted", place.uid, reason, &event);
	/* A broken card can be deleted too; then the log cannot say whose it was. */
	if (!mr_work_contact_load(cx, work, &place, &card)) {
		mr_out_text(&event.out, "display_name", card.display_name);
		mr_out_texts(&event.out, "emails", &card.emails);
	}
	mr_out_text(&event.out, "from_path", place.path);
	mr_work_event_end(&event);
	change.stale.contacts = true;
	return mr_work_carry_out(cx, &change);
}

/* --- what is on the card --- */

enum list { EMAILS, PHONES, TAGS };

/* A text that comes to or goes from one of the lists of a card. */
struct list_change {
	enum list list;
	bool adds;
	const char *kind; /* of the event, and the code of the result */
};

static enum mr_code change_list(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	const char *text, const struct list_change *what, const char **out_uid,
	struct mr_texts *out)
{
	static const char *const one[] = { "email", "phone", "tag" };
	static const char *const many[] = { "emails", "phones", "tags" };
	struct mr_work_contact_place place = { 0 };
	struct mr_work_card card;
	struct mr_texts *const lists[] = { &card.emails, &card.phones, &card.tags };
	struct mr_texts *list = lists[what->list];
	struct mr_work_change change;
	struct mr_work_event event;
	bool changed;
	enum mr_code rc = open_active(cx, work, ref, &place, &card);

	if (!rc && what->list == EMAILS && what->adds)
		rc = check_free(cx, work, text, place.uid);
	if (rc)
		return rc;
	changed = what->adds ? mr_work_card_add(cx->arena, list, text)
			     : mr_work_card_remove(cx->arena, list, text);
	*out_uid = place.uid;
	*out = *list;
	if (!changed && what->list != TAGS)
		return MR_OK;
	begin(cx, work, &change);
	rc = put_card(cx, &change, place.path, &card);
	if (rc)
		return rc;
	begin_event(&change, what->kind, place.uid, NULL, &event);
	mr_out_text(&event.out, one[what->list], text);
	mr_out_texts(&event.out, many[what->list], list);
	mr_work_event_end(&event);
	change.stale.contacts = what->list == EMAILS;
	return mr_work_carry_out(cx, &change);
}

static enum mr_code change_email(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_email *request, const struct list_change *what,
	struct mr_work_contact_emailed *result)
{
	/* A bad address that somebody wrote by hand can be removed. */
	enum mr_code rc = MR_OK;

	if (what->adds)
		rc = mr_work_card_address(cx, request->email, &result->email);
	else
		result->email = mr_str_lower(cx->arena, mr_str_trim(cx->arena, request->email));
	return rc ? rc
		  : change_list(cx, work, request->contact_ref, result->email, what,
			    &result->contact_uid, &result->emails);
}

enum mr_code mr_work_contact_email_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_email *request, struct mr_work_contact_emailed *result)
{
	static const struct list_change what = { EMAILS, true, "contact_email_added" };

	return change_email(cx, work, request, &what, result);
}

enum mr_code mr_work_contact_email_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_email *request, struct mr_work_contact_emailed *result)
{
	static const struct list_change what = { EMAILS, false, "contact_email_removed" };

	return change_email(cx, work, request, &what, result);
}

static enum mr_code change_phone(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_phone *request, const struct list_change *what,
	struct mr_work_contact_phoned *result)
{
	result->phone = mr_str_trim(cx->arena, request->phone);
	if (!*result->phone)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "the telephone number is empty");
	return change_list(cx, work, request->contact_ref, result->phone, what,
		&result->contact_uid, &result->phones);
}

enum mr_code mr_work_contact_phone_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_phone *request, struct mr_work_contact_phoned *result)
{
	static const struct list_change what = { PHONES, true, "contact_phone_added" };

	return change_phone(cx, work, request, &what, result);
}

enum mr_code mr_work_contact_phone_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_phone *request, struct mr_work_contact_phoned *result)
{
	static const struct list_change what = { PHONES, false, "contact_phone_removed" };

	return change_phone(cx, work, request, &what, result);
}

static enum mr_code change_tag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_tag *request, const struct list_change *what,
	struct mr_work_contact_tagged *result)
{
	enum mr_code rc = mr_work_check_segment(cx, "tag", request->tag);

	result->tag = request->tag;
	return rc ? rc
		  : change_list(cx, work, request->contact_ref, request->tag, what,
			    &result->contact_uid, &result->tags);
}

enum mr_code mr_work_contact_tag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_tag *request, struct mr_work_contact_tagged *result)
{
	static const struct list_change what = { TAGS, true, "contact_tagged" };

	return change_tag(cx, work, request, &what, result);
}

enum mr_code mr_work_contact_untag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_tag *request, struct mr_work_contact_tagged *result)
{
	static const struct list_change what = { TAGS, false, "contact_untagged" };

	return change_tag(cx, work, request, &what, result);
}

static enum mr_code write_notes(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_write *request, bool appends,
	struct mr_work_contact_written *result)
{
	struct mr_work_contact_place place = { 0 };
	struct mr_work_card card;
	struct mr_work_change change;
	struct mr_work_event event;
	enum mr_code rc = open_active(cx, work, request->contact_ref, &place, &card);

	if (rc)
		return rc;
	card.body = appends ? mr_work_card_append(cx->arena, card.body, request->text)
			    : mr_work_card_replace(cx->arena, request->text);
	begin(cx, work, &change);
	rc = put_card(cx, &change, place.path, &card);
	if (rc)
		return rc;
	/* The log holds no text of notes, but what it takes to recognise it. */
	begin_event(&change, appends ? "contact_notes_appended" : "contact_notes_replaced",
		place.uid, NULL, &event);
	mr_out_int(&event.out, "text_len_bytes", (int64_t)strlen(request->text));
	mr_out_text(&event.out, "text_hash",
		mr_arena_printf(cx->arena, "fnv1a64:%s",
			mr_work_fnv(cx->arena, mr_bytes_text(request->text))));
	mr_work_event_end(&event);
	result->contact_uid = place.uid;
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_contact_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_write *request, struct mr_work_contact_written *result)
{
	return write_notes(cx, work, request, true, result);
}

enum mr_code mr_work_contact_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_write *request, struct mr_work_contact_written *result)
{
	return write_notes(cx, work, request, false, result);
}
