/* team/store/wait.c - polls a condition of the database at every change, until it holds. */
#include "team/store/wait.h"

#include "base/log.h"
#include "team/store/watch.h"

/* A change whose writer died before it sent a notice is noticed after LOOK_MS; a client that has
 * gone, after LOOK_OVER_MS. */
enum { LOOK_MS = 5000, LOOK_OVER_MS = 1000 };

static void free_arena(void *arena)
{
	mr_arena_free(arena);
}

/* One look in an arena of its own, which `*scratch` has afterwards in place of the one before. */
static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, const struct mr_team_wait *wait,
	struct mr_arena **scratch, bool *found)
{
	struct mr_ctx own = *cx;
	enum mr_code rc;

	mr_arena_free(*scratch);
	*scratch = own.arena = mr_arena_new();
	own.err = (struct mr_err){ 0 };
	rc = wait->look(&own, team, wait->arg, found);
	if (rc && wait->failed_event) {
		mr_log(MR_LOG_ERROR, wait->failed_event, "%s", own.err.msg);
		return MR_OK;
	}
	if (rc)
		cx->err = own.err;
	return rc;
}

/* How long to sleep before the next look. */
static int sleep_ms(const struct mr_ctx *cx, const struct mr_team_wait *wait, int64_t left_ms)
{
	int64_t ms = cx->is_over && !wait->over_rings ? LOOK_OVER_MS : LOOK_MS;

	if (wait->again_ms > 0 && wait->again_ms < ms)
		ms = wait->again_ms;
	return (int)(wait->timeout_ms >= 0 && left_ms < ms ? left_ms : ms);
}

static enum mr_code look_until(struct mr_ctx *cx, struct mr_team *team, struct mr_team_wait *wait,
	struct mr_arena **scratch, bool *found)
{
	/* The machine's own clock: a wait must end even where a test's clock stands still. */
	const struct mr_clock *clock = mr_clock_system();
	int64_t begun_ms = mr_clock_mono_ms(clock);
	struct mr_team_watch *watch MR_CLEANUP(mr_team_watch_close) = NULL;
	/* Open the watch before the first look, so that a change in between is not missed. */
	enum mr_code rc = wait->timeout_ms ? mr_team_watch_open(cx, team, &watch) : MR_OK;

	while (!rc) {
		int64_t passed_ms;
		bool changed;

		wait->again_ms = 0;
		rc = look(cx, team, wait, scratch, found);
		passed_ms = mr_clock_mono_ms(clock) - begun_ms;
		if (rc || *found || (wait->timeout_ms >= 0 && passed_ms >= wait->timeout_ms) ||
			(cx->is_over && cx->is_over(cx->is_over_arg)))
			break;
		if (wait->what && cx->progress)
			cx->progress(cx->progress_arg, wait->what, (size_t)(passed_ms / 1000),
				(size_t)(wait->timeout_ms / 1000));
		rc = mr_team_watch_wait(cx, watch, sleep_ms(cx, wait, wait->timeout_ms - passed_ms),
			&changed);
	}
	return rc;
}

enum mr_code mr_team_wait(struct mr_ctx *cx, struct mr_team *team, struct mr_team_wait *wait,
	bool *found)
{
	struct mr_arena *scratch = NULL;
	enum mr_code rc;

	*found = false;
	rc = look_until(cx, team, wait, &scratch, found);
	/* The error of a failed look may point into its arena. */
	if (scratch)
		mr_arena_defer(cx->arena, free_arena, scratch);
	return rc;
}
