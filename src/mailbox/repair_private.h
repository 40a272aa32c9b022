/*
 * mailbox/repair_private.h - what check and repair share: one comparison, which repair (`hands`)
 * also acts upon.
 *
 * For repair.c and repair_*.c only. A mend goes through a root once: accounts, then documents, then
 * each mailbox, then threads. At every difference it says what it found; with `hands` it also puts
 * it right, in an index beside the old one and in the mailboxes themselves. Nothing it needs grows
 * with the text of the messages: of each it keeps 40 bytes, and 8 for each mailbox it is in.
 */
#pragma once

#include "base/buf.h"
#include "mailbox/layout.h"
#include "mailbox/message.h"
#include "mailbox/registration_sql.h"
#include "mailbox/repair.h"

#include <sys/types.h>

/* Message ids, small: each has a number, in the order they were added. */
struct mr_mailbox_known {
	struct mr_buf items;
	struct mr_arena *slots_arena;
	uint32_t *slots;
	size_t slot_count; /* a power of two */
	uint64_t seed;
};

/* repair_known.c */
void mr_mailbox_known_init(struct mr_mailbox_known *known, struct mr_rand *rand);
void mr_mailbox_known_release(struct mr_mailbox_known *known);
size_t mr_mailbox_known_count(const struct mr_mailbox_known *known);
/* MR_EEXISTS when it is there. */
MR_CHECK enum mr_code mr_mailbox_known_add(struct mr_mailbox_known *known,
	const struct mr_mailbox_message *message, uint32_t *out_number, struct mr_err *err);
/* Do these fields equal the message's? They are compared by a hash of 64 bits. */
bool mr_mailbox_known_says(const struct mr_mailbox_known *known, uint32_t number,
	const char *thread_id, const char *created_at, const char *subject);
bool mr_mailbox_known_find(const struct mr_mailbox_known *known, const char *message_id,
	uint32_t *out_number);
const char *mr_mailbox_known_id(const struct mr_mailbox_known *known, struct mr_arena *arena,
	uint32_t number);
/* Of the document, below the root. */
const char *mr_mailbox_known_path(const struct mr_mailbox_known *known, struct mr_arena *arena,
	uint32_t number);

/* The reason why a mailbox may have a message. */
enum {
	MR_MAILBOX_CLAIM_SENDER = 1,
	MR_MAILBOX_CLAIM_RECIPIENT = 2,
	/*
	 * It must be there. Without this the index knows of its delivery: when there is no
	 * projection, no link and no state any more, then its owner had it removed.
	 */
	MR_MAILBOX_CLAIM_SURE = 4,
	/* The index does not have the message at all, which was reported. */
	MR_MAILBOX_CLAIM_NEW = 8,
};
struct mr_mailbox_claim {
	uint32_t message;
	uint32_t why;
};

struct mr_mailbox_account {
	struct mr_mailbox_registration row;        /* as it shall be */
	const struct mr_mailbox_registration *was; /* as the index has it, or NULL */
	const char *name;                          /* in mailboxes/, or NULL: nothing there */
	bool usable;                               /* its directory can be read and written */
	bool owner_unknown;                        /* taken from the first message that names it */
	struct mr_buf claims;                      /* of struct mr_mailbox_claim */
};

struct mr_mailbox_repair_run {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	bool hands;        /* repair: correct what is found; false for check */
	const char *stamp; /* 20260311T041500Z, in the names of all that is set aside */
	const char *now;

	struct mr_db *old;    /* the index that is there, or NULL */
	size_t turns;         /* how often it was about to be read */
	const char *unusable; /* why the existing index cannot be used, or NULL */
	struct mr_db *index;  /* the one that is built, or NULL without hands */
	const char *old_path; /* where the index believes the root to be, if elsewhere; or NULL */

	/* What was in staging/ when the repair began: what came later is somebody's. */
	struct mr_texts staged;
	ino_t *staged_inodes;

	struct mr_mailbox_account *accounts;
	size_t account_count;
	struct mr_mailbox_account **by_address; /* best first for each address */
	struct mr_mailbox_account **by_id;

	struct mr_mailbox_known known;
	size_t documents; /* to go through, for progress */
	size_t documents_done;

	struct mr_mailbox_problem *problems;
	size_t problem_count; /* found; at most MR_MAILBOX_PROBLEMS are listed */
	struct mr_mailbox_problem *warnings;
	size_t warning_count;

	size_t projection_count;
	size_t restored_state_count;
	size_t defaulted_state_count;
};

/* repair.c: report. `path` is copied; one below the root is made absolute, an id is left as it is.
 */
void mr_mailbox_repair_found(struct mr_mailbox_repair_run *run, const char *what, const char *path,
	const char *fmt, ...) MR_PRINTF(4, 5);
/* The same for what is no problem, such as a file that is not mail (.DS_Store). */
void mr_mailbox_repair_warn(struct mr_mailbox_repair_run *run, const char *what, const char *path,
	const char *fmt, ...) MR_PRINTF(4, 5);
/* The index can no longer be read: go on without it. Other errors are returned as they are. */
MR_CHECK enum mr_code mr_mailbox_repair_lose_index(struct mr_mailbox_repair_run *run,
	enum mr_code rc);
/*
 * Call before reading the index, many times: reads are grouped into transactions, because each by
 * itself would lock and unlock the file; a writer waits for one group at most. Afterwards call
 * mr_mailbox_repair_rest().
 */
MR_CHECK enum mr_code mr_mailbox_repair_turn(struct mr_mailbox_repair_run *run);
void mr_mailbox_repair_rest(struct mr_mailbox_repair_run *run);
/* Do both paths name the same place, if the root was elsewhere when `was` was written? */
bool mr_mailbox_repair_same_path(const struct mr_mailbox_repair_run *run, const char *was,
	const char *now);

/* repair_accounts.c: registrations from the index and what is in mailboxes/. */
MR_CHECK enum mr_code mr_mailbox_repair_accounts(struct mr_mailbox_repair_run *run);
void mr_mailbox_repair_accounts_release(struct mr_mailbox_repair_run *run);
/* Once all owners are known. */
MR_CHECK enum mr_code mr_mailbox_repair_accounts_write(struct mr_mailbox_repair_run *run);
/* NULL when there is none. */
struct mr_mailbox_account *mr_mailbox_repair_account_by_id(struct mr_mailbox_repair_run *run,
	const char *id);
/* The best account of that address and owner; one without an owner takes this one. */
struct mr_mailbox_account *mr_mailbox_repair_account_of(struct mr_mailbox_repair_run *run,
	const struct mr_mailbox_principal *principal);

/* repair_own.c: put a directory with a copy of the state in `from`, another root's private
 * directory, in the place of the link `entry` (below the root). */
MR_CHECK enum mr_code mr_mailbox_repair_own(struct mr_mailbox_repair_run *run, const char *entry,
	const char *from);

/* repair_messages.c: every document, against the index. */
MR_CHECK enum mr_code mr_mailbox_repair_messages(struct mr_mailbox_repair_run *run);

/* repair_mailbox.c: links, projections and state of every account. */
MR_CHECK enum mr_code mr_mailbox_repair_mailboxes(struct mr_mailbox_repair_run *run);

/*
 * One mailbox. Its three lists hold struct mr_mailbox_place, sorted by message and folder: what is
 * linked, what the index has, and what mailbox.sqlite says.
 */
struct mr_mailbox_view {
	struct mr_mailbox_repair_run *run;
	struct mr_mailbox_account *account;
	struct mr_ctx cx; /* with an arena for this mailbox only */
	int dir;
	const char **folders;
	bool *changed; /* their entries are to be made durable */
	size_t folder_count, folder_cap;
	int box_dir; /* the folder last worked in, open */
	size_t box;
	struct mr_buf links, recorded, states;
	struct mr_db *local; /* or NULL */
	bool fresh;          /* it was not there, or not readable */
};
struct mr_mailbox_place {
	uint32_t message;
	uint16_t folder;
	uint16_t what; /* of a link: one of the first three; of a state: the flags */
};
enum { MR_MAILBOX_LINK_RIGHT, MR_MAILBOX_LINK_WRONG, MR_MAILBOX_LINK_FILE };
enum {
	MR_MAILBOX_FLAG_READ = 1,
	MR_MAILBOX_FLAG_ANSWERED = 2,
	MR_MAILBOX_FLAG_STARRED = 4,
	MR_MAILBOX_FLAG_ARCHIVED = 8,
	MR_MAILBOX_FLAG_DELETED = 16,
};
enum { MR_MAILBOX_NO_FOLDER = 0xffff };

/* repair_links.c: folders and what is in them. */

/* The number of a folder, there or not; MR_MAILBOX_NO_FOLDER for what cannot name one. */
uint16_t mr_mailbox_view_folder(struct mr_mailbox_view *view, const char *name);
/* Absolute, in `arena`. */
const char *mr_mailbox_view_path(const struct mr_mailbox_view *view, struct mr_arena *arena,
	uint16_t folder, uint32_t message);
MR_CHECK enum mr_code mr_mailbox_view_read_links(struct mr_mailbox_view *view);
/* Make the link, in the place of `found` if that is not NULL. */
MR_CHECK enum mr_code mr_mailbox_view_link(struct mr_mailbox_view *view, uint16_t folder,
	uint32_t message, const struct mr_mailbox_place *found);
MR_CHECK enum mr_code mr_mailbox_view_unlink(struct mr_mailbox_view *view, uint16_t folder,
	uint32_t message);
MR_CHECK enum mr_code mr_mailbox_view_sync(struct mr_mailbox_view *view);

/* repair_local.c: mailbox.sqlite. Open it, in a transaction when it may be changed, and read it;
 * one that cannot be read is replaced by what could be read of it. */
MR_CHECK enum mr_code mr_mailbox_view_read_states(struct mr_mailbox_view *view);
/* The default for a message that has no row. */
MR_CHECK enum mr_code mr_mailbox_view_add_state(struct mr_mailbox_view *view, uint32_t message,
	const char *box, bool read, bool archived);

/* repair_threads.c: summaries, shared and of one mailbox. */
MR_CHECK enum mr_code mr_mailbox_repair_threads(struct mr_mailbox_repair_run *run);
MR_CHECK enum mr_code mr_mailbox_view_threads(struct mr_mailbox_view *view);

/* repair_staging.c: what is set aside, left over, or in nobody's hands. */

/* Move a file below the root into quarantine under the path it had; `*out` is the new one. */
MR_CHECK enum mr_code mr_mailbox_repair_set_aside(struct mr_mailbox_repair_run *run,
	const char *path, const char **out);
/* The same for a file in an open directory, which may be on another file system: then it stays
 * there under a hidden name. */
MR_CHECK enum mr_code mr_mailbox_repair_set_aside_at(struct mr_mailbox_repair_run *run, int dir,
	const char *name, const char *path, const char **out);
/* Write a text there that is nowhere else any more. */
MR_CHECK enum mr_code mr_mailbox_repair_save_text(struct mr_mailbox_repair_run *run,
	const char *path, const char *text, const char **out);
/* Note what is in staging/ now. */
MR_CHECK enum mr_code mr_mailbox_repair_note_staging(struct mr_mailbox_repair_run *run);
/* Of what was noted, clear what no process that delivers it holds. */
MR_CHECK enum mr_code mr_mailbox_repair_clean_staging(struct mr_mailbox_repair_run *run,
	bool remove, struct mr_texts *out);
/* Report directories that are missing (and make them), and lock files and intents that dead
 * processes left. */
MR_CHECK enum mr_code mr_mailbox_repair_surroundings(struct mr_mailbox_repair_run *run);
bool mr_mailbox_repair_has_left_intents(struct mr_mailbox_repair_run *run);
/* Move intents that cannot be finished into quarantine. */
MR_CHECK enum mr_code mr_mailbox_repair_set_intents_aside(struct mr_mailbox_repair_run *run);
