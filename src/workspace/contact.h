/*
 * workspace/contact.h - the contacts of a workspace: found, listed, shown.
 *
 * A contact is a card in contacts/<group> or archive/contacts (workspace/contact_card.h). There is
 * no other index of addresses: all cards are read once a command that needs them. A card that does
 * not parse is passed over and named. Commands that change contacts are in
 * workspace/edit_contact.h.
 */
#pragma once

#include "workspace/contact_card.h"
#include "workspace/frame.h"

/* Where a card stands. */
struct mr_work_contact_place {
	const char *uid, *path;
	const char *group; /* NULL when it is archived */
};

struct mr_work_contact_places {
	struct mr_work_contact_place *items;
	size_t len;
};
/* All cards by their file names, sorted by uid; none is read. */
MR_CHECK enum mr_code mr_work_contact_places(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_contact_places *out);

struct mr_work_contact {
	const char *contact_uid, *display_name;
	const char *group; /* NULL when it is archived */
	struct mr_texts emails, phones;
	const char *organization, *role;
	struct mr_texts tags;
	const char *contact_path;
};

struct mr_work_contact_address {
	const char *email;
	const struct mr_work_contact *contact;
};

/* All cards, active and archived, sorted by uid. */
struct mr_work_contacts {
	struct mr_work_contact *items;
	size_t len;
	struct mr_texts invalid_paths;    /* of cards that do not parse */
	struct mr_texts invalid_messages; /* and why: one each */
	struct mr_work_contact_address
		*addresses; /* sorted; of one address, active contacts first */
	size_t address_count;
};
/* The cards, read once a command. */
MR_CHECK enum mr_code mr_work_contacts_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contacts **out);
/* The contact that has the address, in any case; an active one before an archived. `*out_uid` and
 * `*out_name` are NULL when there is none. */
MR_CHECK enum mr_code mr_work_contact_of(struct mr_ctx *cx, struct mr_work *work,
	const char *address, const char **out_uid, const char **out_name);
/* The same as a contact, or NULL. */
const struct mr_work_contact *mr_work_contact_with(const struct mr_work_contacts *contacts,
	const char *address);

/* The card that a ref names: by file names alone, none is read. not_found, duplicate_contact_uid,
 * invalid_request. */
MR_CHECK enum mr_code mr_work_contact_find(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_contact_place *out);
/* The same for commands that need an active one: an archived one is not_found too. */
MR_CHECK enum mr_code mr_work_contact_find_active(struct mr_ctx *cx, struct mr_work *work,
	const char *ref, struct mr_work_contact_place *out);
/* Fail with not_found, about this uid. */
enum mr_code mr_work_contact_refuse(struct mr_ctx *cx, const char *uid, const char *what);
/* Read a card that was found; invalid_contact, which names the file. */
MR_CHECK enum mr_code mr_work_contact_load(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_place *place, struct mr_work_card *out);
/* How many cards there are, by their file names: none is read. */
MR_CHECK enum mr_code mr_work_contact_count(struct mr_ctx *cx, struct mr_work *work,
	int64_t *out_active, int64_t *out_archived);
/* The highest number that a contact's uid of this date (YYYYMMDD) has, 0 for none. */
MR_CHECK enum mr_code mr_work_contact_last_number(struct mr_ctx *cx, struct mr_work *work,
	const char *date, int64_t *out);

/* contact_list: active contacts that match all that is given. */
struct mr_work_contact_list {
	const char *group, *tag, *org, *role; /* NULL: not asked for */
};
struct mr_work_contact_listed {
	int64_t count;
	struct mr_work_contact *contacts;
	size_t contacts_len;
	struct mr_texts invalid_paths;
};
MR_CHECK enum mr_code mr_work_contact_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_list *request, struct mr_work_contact_listed *result);

/* contact_show and contact_notes_show: archived contacts too. */
struct mr_work_contact_show {
	const char *contact_ref;
};
struct mr_work_contact_shown {
	const char *contact_uid;
	bool is_archived;
	const char *group; /* NULL when it is archived */
	const char *contact_path;
	const char *content; /* the whole file, also when it does not parse */
	bool has_card;       /* it parses: what it says */
	struct mr_work_card card;
};
MR_CHECK enum mr_code mr_work_contact_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_show *request, struct mr_work_contact_shown *result);
struct mr_work_contact_notes {
	const char *contact_uid, *notes;
};
MR_CHECK enum mr_code mr_work_contact_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_show *request, struct mr_work_contact_notes *result);
