/* workspace/extract_contact.h - contacts made of the people who wrote to us. */
#pragma once

#include "workspace/edit_contact.h"

/* Who a message is from. */
struct mr_work_sender {
	const char *message_id;
	const char *name;  /* the display name, or NULL */
	const char *email; /* the address alone, or NULL */
	int64_t time_us;   /* when the message came; 0 when that is not known */
};

/* contact_extract: of the senders that the caller found, in any order. */
struct mr_work_contact_extract {
	const struct mr_work_sender *senders;
	size_t sender_count;
	const char *group; /* NULL: the default one */
};
struct mr_work_contact_extracted {
	int64_t created_count;
	int64_t skipped_count; /* messages whose sender was a contact by then */
	struct mr_texts created_uids;
};
/*
 * One card for each address that no contact has, in the order of the messages' times. Our own
 * addresses, and what is no address, are left out.
 */
MR_CHECK enum mr_code mr_work_contact_extract(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_extract *request, struct mr_work_contact_extracted *result);

/* contact_extract, of messages that are in the workspace: those of the sources that are named, of
 * triage when none is. */
struct mr_work_contact_sources {
	bool from_triage;
	const char *from_case; /* a ref of a case, active or archived; or NULL */
	bool all;              /* triage, and all cases, active and archived */
	const char *group;     /* NULL: the default one */
};
/* not_found when there is no such case. */
MR_CHECK enum mr_code mr_work_contact_extract_from(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_contact_sources *request, struct mr_work_contact_extracted *result);
