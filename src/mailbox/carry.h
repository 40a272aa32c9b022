/*
 * mailbox/carry.h - the mail of a root to accounts on a JMAP server, and back.
 *
 * Each address has an account of its own on the server, and its password in a file
 * (mailbox/credential.h). A message is an Email (jmap_email.h), with its box, its flags and its
 * thread; nothing is taken away where it comes from. What is there already is found by its
 * Message-ID, or its id, and left as it is: after a failure or a kill the same is run again and
 * goes on, and nothing is there twice. One process carries the mail of a root at a time.
 *
 * Files that the root keeps go along; of files that a message only names by a path it goes on doing
 * so. Mail that was written elsewhere becomes a message whose id is made of its Message-ID and
 * time, so that it is one message, whichever accounts have it.
 */
#pragma once

#include "mailbox/root.h"

struct mr_mailbox_carry_request {
	const char *jmap_url;
	struct mr_texts addresses; /* none: all active ones but the operator's; only from a root */
	const char *credentials;   /* the directory of their files */
	const char *ca_file;       /* further authorities, or NULL */
};

struct mr_mailbox_carried_account {
	const char *address;
	int64_t carried;
	int64_t present; /* were there already */
	int64_t left;    /* could not be carried */
};
struct mr_mailbox_left {
	const char *address;
	const char *message; /* its id, here or on the server */
	const char *reason;
};
enum { MR_MAILBOX_LEFT_TOLD = 100 };
struct mr_mailbox_carried {
	struct mr_mailbox_carried_account *accounts;
	size_t account_count;
	int64_t carried, present, left;
	struct mr_mailbox_left *problems; /* the first of them */
	size_t problem_count;
};

/* MR_ENOTFOUND: an address has no active mailbox, or no credential. MR_EBUSY: another process is at
 * it. Else as net/jmap.h: what arrived until then stays. */
MR_CHECK enum mr_code mr_mailbox_carry_out(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_carry_request *request, struct mr_mailbox_carried *out);
/* An address that the root does not have is registered first, for the owner whom its mail names. */
MR_CHECK enum mr_code mr_mailbox_carry_in(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_carry_request *request, struct mr_mailbox_carried *out);
