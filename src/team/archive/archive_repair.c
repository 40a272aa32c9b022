/*
 * team/archive/archive_repair.c - Rewrites archive files that a power loss tore, one project at a
 * time, while a server runs.
 */
#include "team/archive/archive_repair.h"

#include "base/ctx.h"
#include "base/log.h"
#include "base/oom.h"
#include "data/history.h"
#include "team/archive/archive.h"
#include "team/layout.h"

#include <stdlib.h>

enum { LOCK_MS = 2000, TRIES_MAX = 20 };

struct mr_team_archive_repairs {
	struct mr_arena *arena;
	const char *storage_root;
	const struct mr_clock *clock;
	bool is_listed;
	struct mr_texts slugs;
	size_t at;                  /* of them */
	struct mr_history *history; /* of the one at work, or NULL */
	struct mr_history_repair state;
	int tries; /* at the current project that failed */
};

struct mr_team_archive_repairs *mr_team_archive_repairs_new(const char *storage_root,
	const struct mr_clock *clock)
{
	struct mr_team_archive_repairs *mending = calloc(1, sizeof(*mending));

	if (!mending)
		mr_oom(sizeof(*mending));
	mending->arena = mr_arena_new();
	mending->storage_root = mr_arena_strdup(mending->arena, storage_root);
	mending->clock = clock;
	return mending;
}

void mr_team_archive_repairs_free(struct mr_team_archive_repairs *mending)
{
	if (!mending)
		return;
	mr_history_close(mending->history);
	mr_arena_free(mending->arena);
	free(mending);
}

static enum mr_code mend_part(struct mr_team_archive_repairs *mending, struct mr_ctx *cx)
{
	struct mr_history_options options = { .mode = MR_HISTORY_WRITE,
		.lock_timeout_ms = LOCK_MS };
	const char *slug = mending->slugs.items[mending->at];
	enum mr_code rc = MR_OK;

	if (!mending->history) {
		mending->state = (struct mr_history_repair){ 0 };
		rc = mr_history_open(mr_team_layout_project(cx->arena, mending->storage_root, slug),
			&options, mending->clock, &mending->history, &cx->err);
	}
	if (!rc)
		rc = mr_history_repair_some(mending->history, &mending->state, &cx->err);
	if (!rc && mending->state.more)
		return MR_OK;
	/* Another process is writing to it, or has merged its packs: the next call tries again. */
	if (rc && ++mending->tries < TRIES_MAX) {
		mr_history_close(mending->history);
		mending->history = NULL;
		return rc;
	}
	if (rc && rc != MR_ENOTFOUND)
		mr_log(MR_LOG_WARN, "team.archive.torn",
			"files of %s that a power loss may have torn are not looked for: %s", slug,
			cx->err.msg);
	mending->tries = 0;
	if (mending->state.mended)
		mr_log(MR_LOG_INFO, "team.archive.torn",
			"%zu files of %s were torn or missing; they are written again from its "
			"commits",
			mending->state.mended, slug);
	mr_history_close(mending->history);
	mending->history = NULL;
	mending->at++;
	return rc;
}

void mr_team_archive_repairs_some(struct mr_team_archive_repairs *mending, bool *more)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mending->clock };
	enum mr_code rc = MR_OK;

	if (!mending->is_listed) {
		mending->is_listed = true;
		cx.arena = mending->arena;
		rc = mr_team_archive_slugs(&cx, mending->storage_root, &mending->slugs);
		cx.arena = arena;
	}
	if (!rc && mending->at < mending->slugs.len)
		rc = mend_part(mending, &cx);
	if (rc && rc != MR_ENOTFOUND)
		mr_log(MR_LOG_DEBUG, "team.archive.torn", "%s", cx.err.msg);
	*more = mending->at < mending->slugs.len;
}
