/*
 * workspace/edit_contact.h - commands that make, change, archive and delete contacts.
 *
 * Each is one change with its audit event. An address belongs to one contact, active or archived:
 * email_conflict. All but reopening and deleting need an active contact; an archived one is
 * not_found.
 */
#pragma once

#include "workspace/change.h"
#include "workspace/contact.h"

/* contact_created. */
struct mr_work_contact_create {
	const char *name, *group; /* group NULL: the default one */
	struct mr_texts email, phone;
	const char *org, *role;
	struct mr_texts tag;
};
struct mr_work_contact_created {
	const char *contact_uid, *display_name, *group;
	struct mr_texts emails;
	const char *contact_path;
};
MR_CHECK enum mr_code mr_work_contact_create(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_create *request, struct mr_work_contact_created *result);

/* contact_moved. */
struct mr_work_contact_move {
	const char *contact_ref, *group;
};
struct mr_work_contact_moved {
	const char *contact_uid, *group, *contact_path;
	bool changed;
};
MR_CHECK enum mr_code mr_work_contact_move(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_move *request, struct mr_work_contact_moved *result);

/* contact_renamed. */
struct mr_work_contact_rename {
	const char *contact_ref, *name;
};
struct mr_work_contact_renamed {
	const char *contact_uid, *display_name, *group, *contact_path;
};
MR_CHECK enum mr_code mr_work_contact_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_rename *request, struct mr_work_contact_renamed *result);

/* contact_email_added, contact_email_removed. To add what is there, or to remove what is not, is no
 * change. */
struct mr_work_contact_email {
	const char *contact_ref, *email;
};
struct mr_work_contact_emailed {
	const char *contact_uid, *email;
	struct mr_texts emails;
};
MR_CHECK enum mr_code mr_work_contact_email_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_email *request, struct mr_work_contact_emailed *result);
MR_CHECK enum mr_code mr_work_contact_email_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_email *request, struct mr_work_contact_emailed *result);

/* contact_phone_added, contact_phone_removed. */
struct mr_work_contact_phone {
	const char *contact_ref, *phone;
};
struct mr_work_contact_phoned {
	const char *contact_uid, *phone;
	struct mr_texts phones;
};
MR_CHECK enum mr_code mr_work_contact_phone_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_phone *request, struct mr_work_contact_phoned *result);
MR_CHECK enum mr_code mr_work_contact_phone_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_phone *request, struct mr_work_contact_phoned *result);

/* contact_tagged, contact_untagged: the card is always written. */
struct mr_work_contact_tag {
	const char *contact_ref, *tag;
};
struct mr_work_contact_tagged {
	const char *contact_uid, *tag;
	struct mr_texts tags;
};
MR_CHECK enum mr_code mr_work_contact_tag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_tag *request, struct mr_work_contact_tagged *result);
MR_CHECK enum mr_code mr_work_contact_untag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_tag *request, struct mr_work_contact_tagged *result);

/* contact_notes_appended, contact_notes_replaced. */
struct mr_work_contact_write {
	const char *contact_ref, *text;
};
struct mr_work_contact_written {
	const char *contact_uid;
};
MR_CHECK enum mr_code mr_work_contact_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_write *request, struct mr_work_contact_written *result);
MR_CHECK enum mr_code mr_work_contact_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_write *request, struct mr_work_contact_written *result);

/* contact_archived; contact_deleted, which takes an archived contact too. */
struct mr_work_contact_end {
	const char *contact_ref, *reason;
};
struct mr_work_contact_ended {
	const char *contact_uid, *contact_path;
};
MR_CHECK enum mr_code mr_work_contact_archive(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_end *request, struct mr_work_contact_ended *result);
MR_CHECK enum mr_code mr_work_contact_delete(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_end *request, struct mr_work_contact_ended *result);

/* contact_reopened: of an archived contact. */
struct mr_work_contact_reopen {
	const char *contact_ref, *group, *reason; /* group NULL: the default one */
};
struct mr_work_contact_reopened {
	const char *contact_uid, *group, *contact_path;
};
MR_CHECK enum mr_code mr_work_contact_reopen(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_reopen *request, struct mr_work_contact_reopened *result);

/* --- for workspace/extract_contact.h --- */

/* The group of a new contact: the given one, checked, or the default. */
MR_CHECK enum mr_code mr_work_contact_group(struct mr_ctx *cx, struct mr_work *work,
	const char *given, const char **out);
/* Today's date of uids. */
MR_CHECK enum mr_code mr_work_contact_date(struct mr_ctx *cx, struct mr_work *work,
	const char **out);
/* Put a new card and its event into a change; `via` says what made it, or is NULL. `card` has name,
 * uid and lists; the rest is filled in. `*out_path` is where it will stand. */
MR_CHECK enum mr_code mr_work_contact_put(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_card *card, const char *group, const char *via, const char **out_path);
