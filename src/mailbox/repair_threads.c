/* mailbox/repair_threads.c - check and repair of thread summaries. */
#include "mailbox/index_sql.h"
#include "mailbox/repair_private.h"
#include "mailbox/repair_sql.h"
#include "mailbox/state_sql.h"

enum { PAGE = 500 };

/* Both sides of a comparison, which may be the same database. */
struct sides {
	struct mr_mailbox_repair_run *run;
	enum mr_mailbox_threads_of what;
	struct mr_db *messages;  /* what the summaries are of */
	struct mr_db *built;     /* already has the correct summaries; or NULL */
	struct mr_db *summaries; /* those that are there, or NULL */
	const char *path;        /* of the database, for people */
	bool differs;
};

/* Other programs also lower-case letters beyond ASCII; that difference is not reported. */
static bool same_subject(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	for (;;) {
		while ((unsigned char)*a >= 0x80)
			a++;
		while ((unsigned char)*b >= 0x80)
			b++;
		if (*a != *b || *a == '\0')
			return *a == *b;
		a++;
		b++;
	}
}

/* All but the number of unread messages. */
static bool same_head(const struct mr_mailbox_summary *a, const struct mr_mailbox_summary *b)
{
	return same_subject(a->normalized_subject, b->normalized_subject) &&
		mr_str_eq(a->latest_id, b->latest_id) &&
		mr_str_eq(a->latest_created_at, b->latest_created_at);
}

/*
 * The reference implementation marks a message as read when it archives it, and leaves the count as
 * it was. Then the count is too high, but not higher than the thread has messages: a warning.
 */
static enum mr_code is_stale_count(struct mr_ctx *cx, struct sides *sides, const char *thread_id,
	const struct mr_mailbox_summary *wanted, const struct mr_mailbox_summary *there, bool *out)
{
	int64_t size = 0;
	enum mr_code rc;

	if (sides->what != MR_MAILBOX_THREADS_LOCAL || there->unread < wanted->unread)
		return MR_OK;
	rc = mr_mailbox_repair_sql_thread_size(cx, sides->messages, thread_id, &size);
	if (rc || there->unread > size)
		return rc;
	mr_mailbox_repair_warn(sides->run, "stale_unread_count", thread_id,
		"%s says %lld unread, and has %lld%s", sides->path, (long long)there->unread,
		(long long)wanted->unread, sides->run->hands ? "; corrected" : "");
	sides->differs = true;
	*out = true;
	return MR_OK;
}

static enum mr_code compare(struct mr_ctx *cx, struct sides *sides, const char *thread_id)
{
	struct mr_mailbox_summary wanted, there;
	bool is_wanted = false, is_there = false, is_stale = false;
	enum mr_code rc;

	if (sides->built)
		rc = mr_mailbox_repair_sql_summary(cx, sides->built, thread_id, &wanted,
			&is_wanted);
	else
		rc = mr_mailbox_repair_sql_wanted(cx, sides->messages, sides->what, thread_id,
			&wanted, &is_wanted);
	if (!rc)
		rc = mr_mailbox_repair_sql_summary(cx, sides->summaries, thread_id, &there,
			&is_there);
	if (rc || (!is_wanted && !is_there))
		return rc;
	if (is_wanted && is_there && same_head(&wanted, &there)) {
		if (wanted.unread == there.unread)
			return MR_OK;
		rc = is_stale_count(cx, sides, thread_id, &wanted, &there, &is_stale);
		if (rc || is_stale)
			return rc;
	}
	sides->differs = true;
	mr_mailbox_repair_found(sides->run, "wrong_thread_summary", thread_id,
		is_there ? (is_wanted ? "%s has another summary of this thread"
				      : "%s has a summary of a thread without messages")
			 : "%s has no summary of this thread",
		sides->path);
	return MR_OK;
}

/* Visit every thread of `db` page by page, so that writers wait only for a page. */
static enum mr_code each_thread(struct sides *sides, struct mr_db *db, bool summaries,
	enum mr_code (*visit)(struct mr_ctx *cx, struct sides *sides, const char *thread_id))
{
	struct mr_arena *last MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *after = "";
	enum mr_code rc = MR_OK;

	for (;;) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_texts ids = { NULL, 0 };
		struct mr_ctx cx = *sides->run->cx;
		bool begun = !mr_db_in_transaction(db);

		cx.arena = arena;
		rc = begun ? mr_db_begin(db, MR_DB_DEFERRED, &cx.err) : MR_OK;
		if (!rc)
			rc = mr_mailbox_repair_sql_threads(&cx, db, sides->what, summaries, after,
				PAGE, &ids);
		for (size_t i = 0; i < ids.len && !rc; i++)
			rc = visit(&cx, sides, ids.items[i]);
		if (begun)
			mr_db_rollback(db);
		if (rc)
			sides->run->cx->err = cx.err;
		if (rc || ids.len < PAGE)
			return rc;
		mr_arena_free(last);
		last = mr_arena_new();
		after = mr_arena_strdup(last, ids.items[ids.len - 1]);
	}
}

static enum mr_code compare_extra(struct mr_ctx *cx, struct sides *sides, const char *thread_id)
{
	bool has_messages = false;
	enum mr_code rc = mr_mailbox_repair_sql_has_thread(cx, sides->messages, sides->what,
		thread_id, &has_messages);

	return rc || has_messages ? rc : compare(cx, sides, thread_id);
}

static enum mr_code compare_all(struct sides *sides)
{
	enum mr_code rc = each_thread(sides, sides->messages, false, compare);

	return rc ? rc : each_thread(sides, sides->summaries, true, compare_extra);
}

static enum mr_code build(struct mr_ctx *cx, struct sides *sides, const char *thread_id)
{
	return mr_mailbox_index_thread(cx, sides->messages, thread_id);
}

enum mr_code mr_mailbox_repair_threads(struct mr_mailbox_repair_run *run)
{
	struct sides sides = {
		.run = run,
		.what = MR_MAILBOX_THREADS_SHARED,
		.messages = run->hands ? run->index : run->old,
		.built = run->index,
		.summaries = run->old,
		.path = mr_mailbox_layout_join(run->cx->arena, run->root->path,
			MR_MAILBOX_INDEX_FILE),
	};
	enum mr_code rc = MR_OK;

	if (run->hands)
		rc = each_thread(&sides, sides.messages, false, build);
	if (rc || !run->old)
		return rc;
	return mr_mailbox_repair_lose_index(run, compare_all(&sides));
}

enum mr_code mr_mailbox_view_threads(struct mr_mailbox_view *view)
{
	struct sides sides = {
		.run = view->run,
		.what = MR_MAILBOX_THREADS_LOCAL,
		.messages = view->local,
		.summaries = view->local,
		.path = mr_mailbox_layout_join(view->cx.arena, view->account->row.path,
			MR_MAILBOX_LOCAL_FILE),
	};
	enum mr_code rc = MR_OK;

	if (!view->fresh)
		rc = compare_all(&sides);
	if (!rc && view->run->hands && (view->fresh || sides.differs)) {
		rc = mr_mailbox_state_threads(&view->cx, view->local);
		if (rc)
			view->run->cx->err = view->cx.err;
	}
	return rc;
}
