/*
 * mailbox/deliver_private.h - what the files of deliver share: one delivery, and its steps.
 *
 * The shared transaction is filled before any file is touched, so that whatever the index refuses
 * is refused early, and committed when the files are in place.
 */
#pragma once

#include "base/fs.h"
#include "mailbox/deliver.h"
#include "mailbox/index_sql.h"
#include "mailbox/registration_sql.h"

#include <sys/stat.h>

/* A mailbox that gets the message. */
struct mr_mailbox_place {
	const struct mr_mailbox_registration *row;
	bool is_sender;
	bool is_recipient;
};

struct mr_mailbox_delivery {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	const struct mr_mailbox_message *message; /* as its document has it */
	struct mr_bytes document;
	struct mr_mailbox_principals recipients; /* each once */
	const char *canonical;                   /* relative to the root */
	const char *canonical_path;              /* absolute */

	/* Where the document was staged, relative to staging/; NULL when it was not. */
	const char *staged;
	struct stat staged_stat; /* of the file that was read */
	bool moved;              /* it is at its canonical name now */

	struct mr_mailbox_place *places;
	size_t place_count;
	const char **recipient_ids; /* registrations of to, then cc */
	const char *sender_id;

	int intent; /* open and locked as long as we live, or -1 */
	bool has_intent;
	bool committed;

	const struct mr_mailbox_once *once; /* nothing is delivered when such a message is there */
	const char *twin;                   /* that message's id */
};

void mr_mailbox_delivery_release(struct mr_mailbox_delivery *d);

/* Fill what follows from the message: recipients and names. */
MR_CHECK enum mr_code mr_mailbox_delivery_init(struct mr_mailbox_delivery *d, struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const struct mr_mailbox_message *message,
	struct mr_bytes document);
/* The addresses to lock: sender and recipients. */
struct mr_texts mr_mailbox_delivery_addresses(const struct mr_mailbox_delivery *d);

/*
 * With the locks held: everything from the registrations to the shared commit. On failure before it
 * everything is undone; `committed` says whether that is too late.
 */
MR_CHECK enum mr_code mr_mailbox_delivery_run(struct mr_mailbox_delivery *d, struct mr_db *index);
/*
 * The mailboxes' own rows, then the intent is dropped. No locks are needed: another process
 * meanwhile finds a message without its row, which means the same as the defaults, and a row is
 * added only while the index has its projection, which is checked inside the mailbox's transaction.
 * So one process's rows are written while the next one delivers.
 */
MR_CHECK enum mr_code mr_mailbox_delivery_settle(struct mr_mailbox_delivery *d,
	struct mr_db *index);
/* With the locks held, for a message that the index knows: add what is missing of it. */
MR_CHECK enum mr_code mr_mailbox_delivery_heal(struct mr_mailbox_delivery *d, struct mr_db *index,
	const struct mr_mailbox_indexed *known);
/* Every mailbox that may hold a link, whatever the state of its registration; the sender's address
 * comes first. */
MR_CHECK enum mr_code mr_mailbox_delivery_all_places(struct mr_mailbox_delivery *d,
	struct mr_db *index, const struct mr_texts *addresses);
/* Remove links, move the document back to staging, drop the intent. */
MR_CHECK enum mr_code mr_mailbox_delivery_undo(struct mr_mailbox_delivery *d);

/*
 * The intent of a delivery, and the staged document `staged` that it speaks of: made durable
 * together, before the locks are taken, so that nobody waits behind these syncs. An existing intent
 * (of the same message, by another process) is left for later. With the locks held,
 * mr_mailbox_intent_ensure() makes sure that it exists.
 */
MR_CHECK enum mr_code mr_mailbox_intent_begin(struct mr_mailbox_delivery *d, int staged);
MR_CHECK enum mr_code mr_mailbox_intent_ensure(struct mr_mailbox_delivery *d);
MR_CHECK enum mr_code mr_mailbox_intent_drop(struct mr_mailbox_delivery *d);

/* <mailbox>/<folder>/<id>.md, absolute. */
const char *mr_mailbox_delivery_link(struct mr_arena *arena,
	const struct mr_mailbox_registration *row, const char *folder, const char *message_id);
