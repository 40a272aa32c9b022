/*
 * mailbox/mend.h - what check and repair share: one comparison, with and without hands.
 *
 * For repair.c and mend_*.c only. A mend goes through a root once: accounts, then documents, then
 * each mailbox, then threads. At every difference it says what it found; with `hands` it also puts
 * it right, in an index beside the old one and in the mailboxes themselves. Nothing it needs grows
 * with the text of the messages: of each it keeps 32 bytes, and 8 for each mailbox it is in.
 */
#pragma once

#include "base/buf.h"
#include "mailbox/layout.h"
#include "mailbox/message.h"
#include "mailbox/registration_sql.h"
#include "mailbox/repair.h"

/* Message ids, small: each has a number, in the order they were added. */
struct mr_mailbox_known {
	struct mr_buf items;
	struct mr_arena *slots_arena;
	uint32_t *slots;
	size_t slot_count; /* a power of two */
	uint64_t seed;
};

/* mend_known.c */
void mr_mailbox_known_init(struct mr_mailbox_known *known, struct mr_rand *rand);
void mr_mailbox_known_release(struct mr_mailbox_known *known);
size_t mr_mailbox_known_count(const struct mr_mailbox_known *known);
/* MR_EEXISTS when it is there. `created_at` begins with its date. */
MR_CHECK enum mr_code mr_mailbox_known_add(struct mr_mailbox_known *known, const char *message_id,
	const char *created_at, uint32_t *out_number, struct mr_err *err);
bool mr_mailbox_known_find(const struct mr_mailbox_known *known, const char *message_id,
	uint32_t *out_number);
const char *mr_mailbox_known_id(const struct mr_mailbox_known *known, struct mr_arena *arena,
	uint32_t number);
/* Of the document, below the root. */
const char *mr_mailbox_known_path(const struct mr_mailbox_known *known, struct mr_arena *arena,
	uint32_t number);

/* Why a mailbox may have a message. */
enum {
	MR_MAILBOX_CLAIM_SENDER = 1,
	MR_MAILBOX_CLAIM_RECIPIENT = 2,
	/* The index knows the message: without a projection, a link or a state it was taken out. */
	MR_MAILBOX_CLAIM_KNOWN = 4,
	/* The index does not have the message, which was reported. */
	MR_MAILBOX_CLAIM_NEW = 8,
	/* A projection says so, the document does not. */
	MR_MAILBOX_CLAIM_RECORDED = 16,
};
struct mr_mailbox_claim {
	uint32_t message;
	uint32_t why;
};

struct mr_mailbox_account {
	struct mr_mailbox_registration row;        /* as it shall be */
	const struct mr_mailbox_registration *was; /* as the index has it, or NULL */
	const char *name;                          /* in mailboxes/, or NULL: nothing there */
	bool usable;                               /* its directory can be worked on */
	bool owner_unknown;                        /* the first message that names it tells */
	struct mr_buf claims;                      /* of struct mr_mailbox_claim */
};

struct mr_mailbox_mend {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	bool hands;        /* repair; without them, check */
	const char *stamp; /* 20260311T041500Z, in the names of all that is set aside */
	const char *now;

	struct mr_db *old; /* the index that is there, or NULL */
	const char *unusable; /* why the index that is there cannot be used, or NULL */
	struct mr_db *index;  /* the one that is built, or NULL without hands */
	const char *old_path; /* where the index believes the root to be, if elsewhere; or NULL */

	struct mr_mailbox_account *accounts;
	size_t account_count;
	struct mr_mailbox_account **by_address; /* best first for each address */
	struct mr_mailbox_account **by_id;

	struct mr_mailbox_known known;
	size_t documents; /* to go through, for progress */
	size_t documents_done;

	struct mr_mailbox_problem *problems;
	size_t problem_count;
	size_t problems_unlisted;

	size_t projection_count;
	size_t restored_state_count;
	size_t defaulted_state_count;
};

/* repair.c: report. `path` is copied; what is relative stands below the root. */
void mr_mailbox_mend_found(struct mr_mailbox_mend *mend, const char *what, const char *path,
	const char *fmt, ...) MR_PRINTF(4, 5);
/* The index cannot be read on: go on without it. Only for errors that say so, others come back. */
MR_CHECK enum mr_code mr_mailbox_mend_lose_index(struct mr_mailbox_mend *mend, enum mr_code rc);
/* Do both name the same place, wherever the root stood when `was` was written? */
bool mr_mailbox_mend_same_path(const struct mr_mailbox_mend *mend, const char *was,
	const char *now);

/* mend_accounts.c: registrations from the index and what is in mailboxes/. */
MR_CHECK enum mr_code mr_mailbox_mend_accounts(struct mr_mailbox_mend *mend);
void mr_mailbox_mend_accounts_release(struct mr_mailbox_mend *mend);
/* Once all owners are known. */
MR_CHECK enum mr_code mr_mailbox_mend_accounts_write(struct mr_mailbox_mend *mend);
/* NULL when there is none. */
struct mr_mailbox_account *mr_mailbox_mend_account_by_id(struct mr_mailbox_mend *mend,
	const char *id);
/* The best account of that address and owner; one without an owner takes this one. */
struct mr_mailbox_account *mr_mailbox_mend_account_of(struct mr_mailbox_mend *mend,
	const struct mr_mailbox_principal *principal);

/* mend_messages.c: every document, against the index. */
MR_CHECK enum mr_code mr_mailbox_mend_messages(struct mr_mailbox_mend *mend);

/* mend_mailbox.c: links, projections and state of every account. */
MR_CHECK enum mr_code mr_mailbox_mend_mailboxes(struct mr_mailbox_mend *mend);

/* mend_local.c: one mailbox's database. */
struct mr_mailbox_local;
/* *out is NULL when it cannot be used, which was reported. */
MR_CHECK enum mr_code mr_mailbox_mend_local_open(struct mr_mailbox_mend *mend,
	const struct mr_mailbox_account *account, struct mr_db **out, bool *out_fresh);

/* mend_threads.c: summaries, shared and of one mailbox. */
MR_CHECK enum mr_code mr_mailbox_mend_threads(struct mr_mailbox_mend *mend);
MR_CHECK enum mr_code mr_mailbox_mend_local_threads(struct mr_mailbox_mend *mend,
	const struct mr_mailbox_account *account, struct mr_db *db);

/* mend_staging.c: what is set aside, left over, or in nobody's hands. */

/* Move a file below the root into quarantine under the path it had; `*out` is the new one. */
MR_CHECK enum mr_code mr_mailbox_mend_set_aside(struct mr_mailbox_mend *mend, const char *path,
	const char **out);
/* Write a text there that is nowhere else any more. */
MR_CHECK enum mr_code mr_mailbox_mend_save_text(struct mr_mailbox_mend *mend, const char *path,
	const char *text, const char **out);
MR_CHECK enum mr_code mr_mailbox_mend_clean_staging(struct mr_mailbox_mend *mend, bool remove,
	struct mr_texts *out);
/* Report directories that are missing (and make them), lock files nobody holds, and intents. */
MR_CHECK enum mr_code mr_mailbox_mend_surroundings(struct mr_mailbox_mend *mend);
/* Move every intent into quarantine: no one can make sense of them. */
MR_CHECK enum mr_code mr_mailbox_mend_set_intents_aside(struct mr_mailbox_mend *mend);
