/*
 * workspace/pull_private.h - a pull under way, for the files that make it up.
 *
 * The workspace rests (workspace/frame.h) while the server is waited for: mr_work_pull_lock()
 * stands before whatever reads or changes it, mr_work_rest() before the next word to the server.
 */
#pragma once

#include "base/lock.h"
#include "workspace/mail_server.h"
#include "workspace/progress.h"
#include "workspace/pull.h"
#include "workspace/pull_known.h"
#include "workspace/pull_run.h"
#include "workspace/pull_settle.h"
#include "workspace/pull_state.h"

enum {
	MR_WORK_PULL_BATCH = 25, /* bodies in one request */
	MR_WORK_PULL_UIDS_MAX = 4 << 20,
	MR_WORK_PULL_ROW_BYTES = 64, /* uid and flags of a mail, about */
	MR_WORK_PULL_MAIL_BYTES = 8 << 10,
};

/* One mail of a mailbox, as the server lists it. */
struct mr_work_seen {
	uint32_t uid;
	const char *flags; /* joined by blanks, or NULL when the server did not tell */
};

struct mr_work_box {
	const struct mr_work_mailbox *mailbox;
	const char *name, *wire;
	uint32_t validity, exists, uid_next;
	uint64_t modseq;           /* 0: the server does not tell */
	bool is_whole;             /* everything was listed, not only what changed */
	struct mr_work_seen *seen; /* sorted by uid once they were listed */
	size_t len, room;
	struct mr_imap_range *vanished; /* uids that are gone since the last time */
	size_t vanished_len, vanished_room;
	uint32_t *wanted; /* uids whose bodies are to be fetched, sorted */
	bool *taken;      /* which of them came */
	size_t wanted_len, taken_len;
	size_t left; /* new ones that the limits leave on the server */
	int64_t known_len, updated_locations, updated_flags;
};

/* A body that came and waits to be taken in. */
struct mr_work_arrival {
	struct mr_bytes eml;
	struct mr_work_location location;
};

struct mr_work_pulling {
	struct mr_ctx *cx;
	struct mr_work *work;
	const struct mr_work_account *account;
	const struct mr_work_pull_limits *limits;
	struct mr_work_progress *progress;
	struct mr_imap **session; /* NULL in it: not connected */
	bool has_asked;           /* for QRESYNC, in this session */
	struct mr_work_pulled *out;
	struct mr_work_settling settling;
	struct mr_work_pull_state state;
	struct mr_work_text_set flag_sets; /* every combination of flags once */
	struct mr_work_box *box;           /* the present one */
	size_t index, count;
	int64_t bytes_left; /* of the budget */
	/* Bodies that came, and those that are staged. */
	struct mr_arena *arrival_arena;
	struct mr_work_arrival *arrivals;
	size_t arrival_len, arrival_bytes;
	struct mr_texts staged; /* ids */
	size_t stage_number;
	size_t processed, fetched;
	int64_t told_us; /* when the progress of bodies was last written */
};

/* One pull at a time: the lock of the workspace is free while one waits for the server. */
MR_CHECK enum mr_code mr_work_pull_alone(struct mr_ctx *cx, struct mr_work *work,
	struct mr_lock *out);
/* Take the lock again, and finish what another command left unfinished meanwhile. */
MR_CHECK enum mr_code mr_work_pull_lock(struct mr_work_pulling *p);
/* A session with the server, unless there is one. */
MR_CHECK enum mr_code mr_work_pull_connect(struct mr_work_pulling *p);
/* About so many bytes are to come: they are compressed if that pays. */
MR_CHECK enum mr_code mr_work_pull_compress(struct mr_work_pulling *p, size_t bytes);
/* Drop the session: it broke, or is not to be trusted any more. */
void mr_work_pull_disconnect(struct mr_work_pulling *p);

/* --- phases of the progress --- */

struct mr_work_pull_phase {
	struct mr_out out;
	struct mr_work_pulling *pull;
};
void mr_work_pull_phase_begin(struct mr_work_pulling *p, struct mr_work_pull_phase *phase);
void mr_work_pull_phase_end(struct mr_work_pull_phase *phase, const char *name);
void mr_work_pull_tell(struct mr_work_pulling *p, const char *name);

/* --- pull_box.c: what is in the present mailbox, compared with what is known --- */

/* Lists what is there or what changed, learns flags and what is gone, and sets what is wanted. */
MR_CHECK enum mr_code mr_work_pull_look(struct mr_work_pulling *p);
/* EXAMINE it, in a new session: the mailbox must be the same. */
MR_CHECK enum mr_code mr_work_pull_examine_again(struct mr_work_pulling *p);
/* Flags of a FETCH response, joined, or NULL; valid as long as the pull. */
const char *mr_work_pull_flags(struct mr_work_pulling *p, const struct mr_imap_node *fetched);

/* --- pull_limit.c: how much of what is wanted --- */

MR_CHECK enum mr_code mr_work_pull_limit(struct mr_work_pulling *p);

/* --- pull_bodies.c, pull_take.c --- */

/* Room for bodies; the caller frees the arena of arrivals at the end. */
void mr_work_pull_make_room(struct mr_work_pulling *p);
/* A body came, in a FETCH response: it waits to be taken in. */
void mr_work_pull_keep(struct mr_work_pulling *p, const struct mr_imap_node *list, uint64_t uid,
	struct mr_bytes eml);

/* Fetch what is wanted and take it in. */
MR_CHECK enum mr_code mr_work_pull_bodies(struct mr_work_pulling *p);
/* Take in what has arrived so far; the workspace rests before and after. */
MR_CHECK enum mr_code mr_work_pull_take(struct mr_work_pulling *p);
