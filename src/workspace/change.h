/*
 * workspace/change.h - a change of several canonical files that happens as a whole.
 *
 * A command decides everything first, collects what is to be written, moved and removed in a
 * change, and commits it. The new files are staged beside a journal in .afmail/transactions; once
 * the journal stands, the change has happened: after a crash the next writer carries it out to its
 * end (mr_work_change_recover()). Before that, nothing has happened. Steps happen in the order in
 * which they were collected, and each may use what those before it made.
 *
 * A change also names the messages and collections whose projections it makes stale. The journal
 * stays until they were refreshed, so that a crash in between is caught up with too:
 *
 *	mr_work_change_begin(cx, work, "case_archive", &change);
 *	mr_work_change_write(&change, path, bytes); ...
 *	rc = mr_work_change_commit(cx, &change);      -- canonical files are as they shall be
 *	rc = mr_work_refresh(cx, work, &change.stale); -- workspace/refresh.h
 *	mr_work_change_end(cx, &change);
 */
#pragma once

#include "base/ctx.h"
#include "text/out.h"
#include "workspace/frame.h"
#include "workspace/text_set.h"

/* What projections a change makes stale. */
struct mr_work_stale {
	struct mr_texts messages;    /* message ids */
	struct mr_texts collections; /* directories: "cases/open/c20260101001-x", "spam" */
	bool contacts;               /* names or addresses of contacts changed */
	bool identities;             /* identities changed */
};

struct mr_work_change {
	struct mr_ctx *cx;
	struct mr_work *work;
	const char *kind, *id;
	struct mr_work_step *first, **next;
	size_t count;
	struct mr_work_stale stale; /* its lists by mr_work_touch_*() alone */
	struct mr_work_text_set messages, collections;
	const struct mr_err *failure; /* the first one while steps were collected, or NULL */
	bool is_journaled;
};

/* `kind` names it in the journal: "case_archive". */
void mr_work_change_begin(struct mr_ctx *cx, struct mr_work *work, const char *kind,
	struct mr_work_change *out);
/* Replace or make a file; its directory is made. */
void mr_work_change_write(struct mr_work_change *change, const char *path, struct mr_bytes bytes);
void mr_work_change_json(struct mr_work_change *change, const char *path,
	const struct mr_value *value);
/* Rename a file or directory; the directory above `to` is made. Something stands at `from` and
 * nothing at `to` when it is its turn: the commit refuses otherwise, before anything happened. */
void mr_work_change_move(struct mr_work_change *change, const char *from, const char *to);
/* Remove a file, or a directory with all that is in it; nothing there is fine. */
void mr_work_change_remove(struct mr_work_change *change, const char *path);
/* Remove a directory if it is empty by then. */
void mr_work_change_drop_dir(struct mr_work_change *change, const char *path);
/* Make a directory, and those above it. */
void mr_work_change_make_dir(struct mr_work_change *change, const char *path);

/* Stale projections; each is named once however often it is touched. */
void mr_work_touch_message(struct mr_work_change *change, const char *message_id);
void mr_work_touch_collection(struct mr_work_change *change, const char *path);

/* An audit event, written as part of the change: begin it, write its members into `out`, end it. */
struct mr_work_target {
	const char *kind; /* "message" "case" "archive" "push" "contact" */
	const char *id;
};
struct mr_work_event {
	struct mr_work_change *change;
	struct mr_out out;
	const char *id;
};
/* `targets` ends with an entry without a kind; `reason` may be NULL. */
void mr_work_event_begin(struct mr_work_change *change, const char *kind,
	const struct mr_work_target *targets, const char *reason, struct mr_work_event *out);
void mr_work_event_end(struct mr_work_event *event);
#define MR_WORK_TARGETS(...) ((const struct mr_work_target[]){ __VA_ARGS__, { 0 } })

/*
 * Carry it out. A change of nothing is fine, one of a single file needs no journal. After a failure
 * before the journal stood nothing has changed; after that the next writer finishes it. A change is
 * committed once.
 */
MR_CHECK enum mr_code mr_work_change_commit(struct mr_ctx *cx, struct mr_work_change *change);
/* The stale projections are refreshed: the journal can go. A failure is left to the next writer. */
void mr_work_change_end(struct mr_ctx *cx, struct mr_work_change *change);

/*
 * Finish what a crashed writer left, and remove staged files that no journal names: `*out` gets the
 * stale projections of all of it, to be refreshed before mr_work_change_forget(), and
 * `*out_journals` the journals that were finished. A journal that cannot be finished, because
 * another program wrote it, or it is damaged, or something stands in its way, is
 * transaction_incomplete with details; the others are finished first, and both outputs are set then
 * too.
 */
MR_CHECK enum mr_code mr_work_change_recover(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_stale *out, struct mr_texts *out_journals);
void mr_work_change_forget(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *journals);
/* The journals there are, as paths. */
MR_CHECK enum mr_code mr_work_change_pending(struct mr_ctx *cx, struct mr_work *work,
	struct mr_texts *out);

enum mr_work_journal_kind {
	MR_WORK_JOURNAL_OURS,    /* the next writer finishes the change */
	MR_WORK_JOURNAL_MARK,    /* of another program: it does not say what is left to do */
	MR_WORK_JOURNAL_DAMAGED, /* unreadable, or its staged files are gone */
};
/* What a journal is, for doctor. `*out_change` names the kind of change, or is NULL. */
MR_CHECK enum mr_code mr_work_change_inspect(struct mr_ctx *cx, struct mr_work *work,
	const char *path, enum mr_work_journal_kind *out_kind, const char **out_change);
