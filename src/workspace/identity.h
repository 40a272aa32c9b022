/*
 * workspace/identity.h - which of our identities a mail was sent to. Pure.
 *
 * The recipients that headers show are looked at in the order of the contract: Delivered-To,
 * X-Original-To, Envelope-To, To, Cc. The first that has the address of an identity decides.
 */
#pragma once

#include "workspace/config.h"

/* A recipient as a header shows it. */
struct mr_work_observed {
	const char *email;
	const char *name; /* or NULL */
};

enum mr_work_identity_match_kind {
	MR_WORK_MATCH_EMAIL,     /* one identity has the address */
	MR_WORK_MATCH_NAME,      /* several have it, the display name says which */
	MR_WORK_MATCH_MULTIPLE,  /* several have it */
	MR_WORK_MATCH_UNMATCHED, /* none has any of the addresses */
};
extern const char *const mr_work_identity_match_names[]; /* "email", ..., NULL */

/* The members of a message's record, under their names; NULL and empty lists are left out. */
struct mr_work_identity_match {
	enum mr_work_identity_match_kind kind;
	const char *identity;
	const char *identity_email; /* as the configuration writes it */
	const char *identity_match; /* the name of `kind` */
	struct mr_texts identity_candidates;
	struct mr_texts observed_recipient_emails; /* in lower case */
};

/* `observed` is in the order above. Only for mail that came in. */
void mr_work_identity_match(struct mr_arena *arena, const struct mr_work_config *config,
	const struct mr_work_observed *observed, size_t count, struct mr_work_identity_match *out);
