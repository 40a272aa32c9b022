/* workspace/change.c - collects the steps of a change, stages them, and writes their journal. */
#include "workspace/change.h"

#include "base/crash.h"
#include "text/json.h"
#include "text/time.h"
#include "workspace/change_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <string.h>

const char *const mr_work_step_names[] = {
	[MR_WORK_STEP_WRITE] = "write",
	[MR_WORK_STEP_MOVE] = "move",
	[MR_WORK_STEP_REMOVE] = "remove",
	[MR_WORK_STEP_DROP_DIR] = "drop_dir",
	[MR_WORK_STEP_MAKE_DIR] = "make_dir",
	[MR_WORK_STEP_EVENT] = "event",
	NULL,
};

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
	mr_work_change_write(change, path, mr_work_pretty(change->cx, value));
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

void mr_work_texts_add(struct mr_arena *arena, struct mr_texts *texts, const char *text)
{
	const char **items;

	if (mr_texts_has(texts, text))
		return;
	items = mr_arena_array(arena, texts->len + 2, sizeof(*items));
	if (texts->len)
		memcpy(items, texts->items, texts->len * sizeof(*items));
	items[texts->len] = mr_arena_strdup(arena, text);
	*texts = (struct mr_texts){ items, texts->len + 1 };
}

void mr_work_touch_message(struct mr_work_change *change, const char *message_id)
{
	mr_work_texts_add(change->cx->arena, &change->stale.messages, message_id);
}

void mr_work_touch_collection(struct mr_work_change *change, const char *path)
{
	mr_work_texts_add(change->cx->arena, &change->stale.collections, path);
}

void mr_work_event_begin(struct mr_work_change *change, const char *kind,
	const struct mr_work_target *targets, const char *reason, struct mr_work_event *out)
{
	struct mr_arena *arena = change->cx->arena;
	struct mr_work *work = change->work;

	*out = (struct mr_work_event){ .change = change };
	/* The last digits tell events of one command apart. */
	out->id = mr_arena_printf(arena, "event_%s_%lld",
		mr_time_format(arena, work->now_us, MR_TIME_COMPACT),
		(long long)(mr_clock_wall_us(change->cx->clock) * 1000 + work->events++ % 1000));
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

/* --- the journal --- */

static const char *journal_path(struct mr_arena *arena, const char *id)
{
	return mr_arena_printf(arena, MR_WORK_TRANSACTIONS "/%s.json", id);
}

static const char *staging_path(struct mr_arena *arena, const char *id)
{
	return mr_arena_printf(arena, MR_WORK_TRANSACTIONS "/%s.d", id);
}

static void write_step(struct mr_out *out, const struct mr_work_step *step)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "step", mr_work_step_names[step->kind]);
	mr_out_text(out, "path", step->path);
	if (step->from)
		mr_out_text(out, "from", step->from);
	if (step->event)
		mr_out_value(out, "event", step->event);
	mr_out_end(out);
}

static const struct mr_value *journal_of(const struct mr_work_change *change)
{
	struct mr_out out;

	mr_out_init_tree(&out, change->cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "local_transaction");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "transaction_id", change->id);
	mr_out_text(&out, "kind", change->kind);
	mr_out_text(&out, "created_rfc3339", change->work->now);
	mr_out_list(&out, "steps");
	for (const struct mr_work_step *step = change->first; step; step = step->next)
		write_step(&out, step);
	mr_out_end(&out);
	mr_out_map(&out, "stale");
	mr_out_texts(&out, "messages", &change->stale.messages);
	mr_out_texts(&out, "collections", &change->stale.collections);
	mr_out_bool(&out, "contacts", change->stale.contacts);
	mr_out_bool(&out, "identities", change->stale.identities);
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* Nothing is staged or journalled under a name that another change of this second has. */
static void choose_id(struct mr_work_change *change)
{
	const char *base = change->id;

	for (int again = 1;
		mr_fs_exists(change->work->dir, journal_path(change->cx->arena, change->id)) ||
		mr_fs_exists(change->work->dir, staging_path(change->cx->arena, change->id));
		again++)
		change->id = mr_arena_printf(change->cx->arena, "%s_%d", base, again);
}

static enum mr_code stage(struct mr_ctx *cx, struct mr_work_change *change)
{
	const char *dir = staging_path(cx->arena, change->id);

	if (mr_fs_make_dirs(change->work->dir, dir, 0755, &cx->err))
		return mr_work_store_error(cx);
	for (struct mr_work_step *step = change->first; step; step = step->next) {
		if (step->kind != MR_WORK_STEP_WRITE)
			continue;
		step->from = mr_arena_printf(cx->arena, "%s/%zu", dir, ++change->staged);
		if (mr_fs_write(change->work->dir, step->from, step->bytes, MR_FS_NEW, 0644,
			    &cx->err))
			return mr_work_store_error(cx);
		mr_crash_point("work.change.staged");
	}
	return MR_OK;
}

static void unstage(struct mr_work *work, struct mr_arena *arena, const char *id)
{
	struct mr_err ignored = { 0 };

	(void)!mr_fs_remove_all(work->dir, staging_path(arena, id), &ignored);
}

/* One file alone is replaced atomically without a journal. */
static bool is_simple(const struct mr_work_change *change)
{
	return change->count == 1 && change->first->kind == MR_WORK_STEP_WRITE &&
		!change->stale.messages.len && !change->stale.collections.len &&
		!change->stale.contacts && !change->stale.identities;
}

static enum mr_code write_alone(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_step *step)
{
	const char *slash = strrchr(step->path, '/');

	if (slash &&
		mr_fs_make_dirs(work->dir,
			mr_arena_strndup(cx->arena, step->path, (size_t)(slash - step->path)), 0755,
			&cx->err))
		return mr_work_store_error(cx);
	if (mr_fs_write(work->dir, step->path, step->bytes, MR_FS_REPLACE, 0644, &cx->err))
		return mr_work_store_error(cx);
	return MR_OK;
}

enum mr_code mr_work_change_commit(struct mr_ctx *cx, struct mr_work_change *change)
{
	enum mr_code rc;

	if (!change->count)
		return MR_OK;
	change->work->queue = NULL; /* what was read before may be changed by this */
	change->work->config = NULL;
	if (is_simple(change))
		return write_alone(cx, change->work, change->first);
	choose_id(change);
	rc = stage(cx, change);
	if (!rc &&
		mr_fs_write(change->work->dir, journal_path(cx->arena, change->id),
			mr_work_pretty(cx, journal_of(change)), MR_FS_NEW, 0644, &cx->err))
		rc = mr_work_store_error(cx);
	if (rc) {
		unstage(change->work, cx->arena, change->id);
		return rc;
	}
	change->is_journaled = true;
	mr_crash_point("work.change.journaled");
	for (const struct mr_work_step *step = change->first; step && !rc; step = step->next) {
		rc = mr_work_step_run(cx, change->work, step);
		mr_crash_point("work.change.step");
	}
	return rc;
}

static void forget(struct mr_work *work, const char *journal, const char *staging)
{
	struct mr_err ignored = { 0 };

	/* Staged files are of no use once the journal is gone, so they go first. */
	(void)!mr_fs_remove_all(work->dir, staging, &ignored);
	(void)!mr_fs_remove_all(work->dir, journal, &ignored);
}

void mr_work_change_end(struct mr_ctx *cx, struct mr_work_change *change)
{
	if (!change->is_journaled)
		return;
	forget(change->work, journal_path(cx->arena, change->id),
		staging_path(cx->arena, change->id));
	mr_crash_point("work.change.ended");
}

/* --- after a crash --- */

enum mr_code mr_work_change_pending(struct mr_ctx *cx, struct mr_work *work, struct mr_texts *out)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_TRANSACTIONS, &names);

	*out = (struct mr_texts){ 0 };
	for (size_t i = 0; !rc && i < names.len; i++)
		if (mr_str_ends(names.items[i], ".json") && names.items[i][0] != '.')
			mr_work_texts_add(cx->arena, out,
				mr_work_join(cx->arena, MR_WORK_TRANSACTIONS, names.items[i]));
	return rc;
}

static bool read_step(const struct mr_cursor *at, struct mr_work_step *out)
{
	struct mr_cursor kind = mr_cursor_key(at, "step"), path = mr_cursor_key(at, "path");
	struct mr_cursor from = mr_cursor_key(at, "from");
	size_t chosen = 0;

	*out = (struct mr_work_step){ .event = mr_value_get(at->value, "event") };
	if (!mr_cursor_choice(&kind, mr_work_step_names, &chosen) ||
		!mr_cursor_text(&path, &out->path))
		return false;
	mr_cursor_text_opt(&from, &out->from);
	out->kind = (enum mr_work_step_kind)chosen;
	return (out->kind != MR_WORK_STEP_WRITE && out->kind != MR_WORK_STEP_MOVE) || out->from;
}

static void read_stale(struct mr_arena *arena, const struct mr_value *stale,
	struct mr_work_stale *out)
{
	static const char *const names[] = { "messages", "collections" };
	struct mr_texts *lists[] = { &out->messages, &out->collections };
	const struct mr_value *flag;

	for (size_t i = 0; i < 2; i++) {
		const struct mr_value *list = mr_value_get(stale, names[i]);

		for (size_t k = 0; list && list->kind == MR_LIST && k < list->list.len; k++)
			if (list->list.items[k].kind == MR_TEXT)
				mr_work_texts_add(arena, lists[i], list->list.items[k].text);
	}
	flag = mr_value_get(stale, "contacts");
	out->contacts |= flag && flag->kind == MR_BOOL && flag->boolean;
	flag = mr_value_get(stale, "identities");
	out->identities |= flag && flag->kind == MR_BOOL && flag->boolean;
}

/* Carry out a journal; false when it is none of ours. */
static enum mr_code redo(struct mr_ctx *cx, struct mr_work *work, const char *path, bool *out_ours,
	struct mr_work_stale *stale)
{
	const struct mr_value *journal = NULL, *steps;
	struct mr_issues issues;
	struct mr_cursor root;
	enum mr_code rc = mr_work_read_json(cx, work, path, &journal);

	*out_ours = false;
	if (rc == MR_EFORMAT)
		return MR_OK; /* damaged: told with the others that cannot be finished */
	if (rc)
		return rc;
	steps = mr_value_get(journal, "steps");
	if (!steps || steps->kind != MR_LIST)
		return MR_OK;
	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(steps, &issues);
	for (size_t i = 0; !rc && i < steps->list.len; i++) {
		struct mr_cursor at = mr_cursor_item(&root, i);
		struct mr_work_step step;

		if (!read_step(&at, &step))
			return MR_OK;
		rc = mr_work_step_run(cx, work, &step);
	}
	if (!rc)
		read_stale(cx->arena, mr_value_get(journal, "stale"), stale);
	*out_ours = !rc;
	return rc;
}

/* Staged files whose journal was never written: the change did not happen. */
static enum mr_code sweep_staged(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_TRANSACTIONS, &names);

	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *id;

		if (!mr_str_ends(names.items[i], ".d"))
			continue;
		id = mr_arena_strndup(cx->arena, names.items[i], strlen(names.items[i]) - 2);
		if (!mr_fs_exists(work->dir, journal_path(cx->arena, id)))
			unstage(work, cx->arena, id);
	}
	return rc;
}

static enum mr_code refuse_foreign(struct mr_ctx *cx, const struct mr_texts *foreign)
{
	static const char *commands[] = { "afmail doctor", "afmail doctor repair --confirm", NULL };
	static const struct mr_texts suggested = { commands, 2 };

	mr_work_refuse(cx, MR_WORK_TRANSACTION_INCOMPLETE,
		"a change was interrupted and cannot be finished by itself: %s",
		mr_str_join(cx->arena, foreign, ", "));
	mr_work_detail_texts(cx, "transaction_paths", foreign);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

enum mr_code mr_work_change_recover(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_stale *out, struct mr_texts *out_journals)
{
	struct mr_texts pending = { 0 }, foreign = { 0 };
	enum mr_code rc = mr_work_change_pending(cx, work, &pending);

	*out = (struct mr_work_stale){ 0 };
	*out_journals = (struct mr_texts){ 0 };
	for (size_t i = 0; !rc && i < pending.len; i++) {
		bool ours = false;

		rc = redo(cx, work, pending.items[i], &ours, out);
		if (!rc)
			mr_work_texts_add(cx->arena, ours ? out_journals : &foreign,
				pending.items[i]);
	}
	if (!rc)
		rc = sweep_staged(cx, work);
	return !rc && foreign.len ? refuse_foreign(cx, &foreign) : rc;
}

void mr_work_change_forget(struct mr_ctx *cx, struct mr_work *work, const struct mr_texts *journals)
{
	for (size_t i = 0; i < journals->len; i++) {
		const char *path = journals->items[i];
		size_t stem = strlen(path) - strlen(".json");

		forget(work, path, mr_arena_printf(cx->arena, "%.*s.d", (int)stem, path));
	}
}
