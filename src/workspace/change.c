/* workspace/change.c - collects the steps of a change, stages its files and commits it. */
#include "workspace/change.h"

#include "base/crash.h"
#include "text/time.h"
#include "workspace/audit.h"
#include "workspace/change_private.h"
#include "workspace/error.h"

#include <string.h>

void mr_work_change_begin(struct mr_ctx *cx, struct mr_work *work, const char *kind,
	struct mr_work_change *out)
{
	*out = (struct mr_work_change){ .cx = cx, .work = work, .kind = kind };
	out->next = &out->first;
	out->id = mr_arena_printf(cx->arena, "transaction_%s_%s",
		mr_time_format(cx->arena, work->now_us, MR_TIME_COMPACT), kind);
}

static struct mr_work_step *add(struct mr_work_change *change, enum mr_work_step_kind kind,
	const char *path)
{
	struct mr_work_step *step = mr_arena_alloc(change->cx->arena, sizeof(*step));

	*step = (struct mr_work_step){ .kind = kind,
		.path = mr_arena_strdup(change->cx->arena, path) };
	*change->next = step;
	change->next = &step->next;
	change->count++;
	return step;
}

void mr_work_change_write(struct mr_work_change *change, const char *path, struct mr_bytes bytes)
{
	add(change, MR_WORK_STEP_WRITE, path)->bytes = bytes;
}

void mr_work_change_json(struct mr_work_change *change, const char *path,
	const struct mr_value *value)
{
	struct mr_bytes bytes = mr_work_pretty(change->cx, value);

	if (!bytes.data && !change->failure) {
		mr_work_refuse(change->cx, MR_WORK_STORE_ERROR, "%s would be longer than %d bytes",
			path, MR_WORK_DOCUMENT_BYTES);
		change->failure = mr_arena_memdup(change->cx->arena, &change->cx->err,
			sizeof(change->cx->err));
	}
	mr_work_change_write(change, path, bytes);
}

void mr_work_change_move(struct mr_work_change *change, const char *from, const char *to)
{
	add(change, MR_WORK_STEP_MOVE, to)->from = mr_arena_strdup(change->cx->arena, from);
}

void mr_work_change_remove(struct mr_work_change *change, const char *path)
{
	add(change, MR_WORK_STEP_REMOVE, path);
}

void mr_work_change_drop_dir(struct mr_work_change *change, const char *path)
{
	add(change, MR_WORK_STEP_DROP_DIR, path);
}

void mr_work_change_make_dir(struct mr_work_change *change, const char *path)
{
	add(change, MR_WORK_STEP_MAKE_DIR, path);
}

void mr_work_touch_message(struct mr_work_change *change, const char *message_id)
{
	mr_work_text_set_add(change->cx->arena, &change->messages, message_id);
	change->stale.messages = change->messages.texts;
}

void mr_work_touch_collection(struct mr_work_change *change, const char *path)
{
	mr_work_text_set_add(change->cx->arena, &change->collections, path);
	change->stale.collections = change->collections.texts;
}

void mr_work_event_begin(struct mr_work_change *change, const char *kind,
	const struct mr_work_target *targets, const char *reason, struct mr_work_event *out)
{
	struct mr_arena *arena = change->cx->arena;
	struct mr_work *work = change->work;
	/* The last digits tell events of one command apart. */
	int64_t ns = mr_clock_wall_us(change->cx->clock) * 1000 + work->events++;

	*out = (struct mr_work_event){ .change = change };
	out->id = mr_arena_printf(arena, "event_%s_%lld",
		mr_time_format(arena, work->now_us, MR_TIME_COMPACT), (long long)ns);
	mr_out_init_tree(&out->out, arena);
	mr_out_map(&out->out, NULL);
	mr_out_text(&out->out, "code", "afmail_event");
	mr_out_text(&out->out, "event_id", out->id);
	mr_out_text(&out->out, "created_rfc3339", work->now);
	mr_out_text(&out->out, "actor", "cli");
	mr_out_text(&out->out, "kind", kind);
	mr_out_list(&out->out, "targets");
	for (; targets->kind; targets++) {
		mr_out_map(&out->out, NULL);
		mr_out_text(&out->out, "kind", targets->kind);
		mr_out_text(&out->out, "id", targets->id);
		mr_out_end(&out->out);
	}
	mr_out_end(&out->out);
	if (reason)
		mr_out_text(&out->out, "reason", reason);
}

void mr_work_event_end(struct mr_work_event *event)
{
	mr_out_end(&event->out);
	add(event->change, MR_WORK_STEP_EVENT, event->id)->event = mr_out_tree(&event->out);
}

/* --- carrying it out --- */

/* Nothing is staged or journalled under a name that another change of this second has. */
static void choose_id(struct mr_work_change *change)
{
	struct mr_arena *arena = change->cx->arena;
	const char *base = change->id;

	for (int again = 1;
		mr_fs_exists(change->work->dir, mr_work_journal_path(arena, change->id)) ||
		mr_fs_exists(change->work->dir, mr_work_staging_path(arena, change->id));
		again++)
		change->id = mr_arena_printf(arena, "%s_%d", base, again);
}

/* Every new file, and a mark for each step that needs one. */
static enum mr_code stage(struct mr_ctx *cx, struct mr_work_change *change)
{
	const char *dir = mr_work_staging_path(cx->arena, change->id);
	size_t number = 0;

	if (mr_fs_make_dirs(change->work->dir, dir, 0755, &cx->err))
		return mr_work_store_error(cx);
	for (struct mr_work_step *step = change->first; step; step = step->next) {
		const char *path;

		if (step->kind != MR_WORK_STEP_WRITE && !step->mark)
			continue;
		path = mr_arena_printf(cx->arena, "%s/%zu", dir, ++number);
		if (mr_fs_write(change->work->dir, path, step->bytes, MR_FS_NEW, 0644, &cx->err))
			return mr_work_store_error(cx);
		if (step->mark)
			step->mark = path;
		else
			step->from = path;
		mr_crash_point("work.change.staged");
	}
	return MR_OK;
}

static enum mr_code write_journal(struct mr_ctx *cx, struct mr_work_change *change,
	int64_t log_bytes)
{
	struct mr_bytes bytes = mr_work_pretty(cx, mr_work_journal_of(change, log_bytes));

	if (!bytes.data)
		return mr_work_refuse(cx, MR_WORK_STORE_ERROR,
			"the journal of the change would be longer than %d bytes",
			MR_WORK_DOCUMENT_BYTES);
	if (mr_fs_write(change->work->dir, mr_work_journal_path(cx->arena, change->id), bytes,
		    MR_FS_NEW, 0644, &cx->err))
		return mr_work_store_error(cx);
	return MR_OK;
}

/* One event alone is one write: a line that was cut off is not there. */
static bool is_event(const struct mr_work_change *change)
{
	return change->count == 1 && change->first->kind == MR_WORK_STEP_EVENT;
}

/* One file alone is put in its place by one rename and needs no journal. */
static bool is_simple(const struct mr_work_change *change)
{
	return change->count == 1 &&
		(change->first->kind == MR_WORK_STEP_WRITE || is_event(change)) &&
		!change->stale.messages.len && !change->stale.collections.len &&
		!change->stale.contacts && !change->stale.identities;
}

/* The journal may stand although writing it failed: when only its directory could not be synced. */
static void withdraw(struct mr_ctx *cx, struct mr_work_change *change)
{
	struct mr_err kept = cx->err;

	mr_work_journal_drop(cx->arena, change->work, change->id);
	cx->err = kept;
}

enum mr_code mr_work_change_commit(struct mr_ctx *cx, struct mr_work_change *change)
{
	struct mr_work *work = change->work;
	int64_t log_bytes = 0;
	enum mr_code rc;

	if (work->add_to_change && !change->failure && change->count) {
		void (*ask)(struct mr_work_change *, void *) = work->add_to_change;

		work->add_to_change = NULL;
		ask(change, work->add_to_change_arg);
	}
	if (change->failure) {
		cx->err = *change->failure;
		return cx->err.code;
	}
	if (!change->count)
		return MR_OK;
	work->queue = NULL; /* what was read before may be changed by this */
	work->suggestions = NULL;
	work->holds = NULL;
	work->config = NULL;
	work->contacts = NULL;
	rc = mr_work_steps_check(cx, work, change->first);
	if (!rc)
		rc = mr_work_audit_size(cx, work, &log_bytes);
	if (rc)
		return rc;
	choose_id(change);
	mr_work_steps_mark(change->first);
	if (!is_event(change) || !is_simple(change))
		rc = stage(cx, change);
	if (!rc && !is_simple(change))
		rc = write_journal(cx, change, log_bytes);
	if (rc) {
		withdraw(cx, change);
		return rc;
	}
	change->is_journaled = !is_simple(change);
	work->has_committed = true;
	mr_crash_point("work.change.journaled");
	rc = mr_work_steps_run(cx, work, change->first, log_bytes);
	if (!change->is_journaled && !is_event(change))
		withdraw(cx, change);
	return rc;
}

void mr_work_change_end(struct mr_ctx *cx, struct mr_work_change *change)
{
	if (!change->is_journaled)
		return;
	mr_work_journal_drop(cx->arena, change->work, change->id);
	mr_crash_point("work.change.ended");
}
