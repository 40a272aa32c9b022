/* workspace/change_journal.c - the journals of changes, and how one is finished after a crash. */
#include "base/crash.h"
#include "workspace/change_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <string.h>
#include <unistd.h>

static const char schema_name[] = "local_transaction";

const char *mr_work_journal_path(struct mr_arena *arena, const char *id)
{
	return mr_arena_printf(arena, MR_WORK_TRANSACTIONS "/%s.json", id);
}

const char *mr_work_staging_path(struct mr_arena *arena, const char *id)
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
	if (step->mark)
		mr_out_text(out, "mark", step->mark);
	if (step->event)
		mr_out_value(out, "event", step->event);
	mr_out_end(out);
}

const struct mr_value *mr_work_journal_of(const struct mr_work_change *change, int64_t log_bytes)
{
	struct mr_out out;

	mr_out_init_tree(&out, change->cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", schema_name);
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "transaction_id", change->id);
	mr_out_text(&out, "kind", change->kind);
	mr_out_text(&out, "created_rfc3339", change->work->now);
	mr_out_int(&out, "log_bytes", log_bytes);
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

void mr_work_journal_drop(struct mr_arena *arena, struct mr_work *work, const char *id)
{
	struct mr_err ignored = { 0 };

	/* While the journal stands, staged files that are gone mean steps that were done: so the
	 * journal goes first. What stays behind after a crash here is swept by the next writer. */
	if (unlinkat(work->dir, mr_work_journal_path(arena, id), 0) == 0)
		(void)!mr_fs_sync_dir(work->dir, MR_WORK_TRANSACTIONS, &ignored);
	mr_crash_point("work.change.dropped");
	(void)!mr_fs_remove_all(work->dir, mr_work_staging_path(arena, id), &ignored);
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

/* --- reading one --- */

struct journal {
	const char *id;
	struct mr_work_step *first;
	int64_t log_bytes;
	const struct mr_value *stale;
};

/* A path below the workspace, without tricks. */
static bool is_inside(const char *path)
{
	size_t len;

	if (!*path || *path == '/')
		return false;
	for (;; path += len + 1) {
		len = strcspn(path, "/");
		if (len == 0 || (len == 1 && path[0] == '.') ||
			(len == 2 && strncmp(path, "..", 2) == 0))
			return false;
		if (!path[len])
			return true;
	}
}

static bool is_staged(const struct journal *journal, struct mr_arena *arena, const char *path)
{
	const char *prefix =
		mr_arena_printf(arena, "%s/", mr_work_staging_path(arena, journal->id));

	return mr_str_starts(path, prefix) && is_inside(path);
}

static bool step_makes_sense(const struct journal *journal, struct mr_arena *arena,
	const struct mr_work_step *step)
{
	if (step->mark && !is_staged(journal, arena, step->mark))
		return false;
	if (step->kind == MR_WORK_STEP_EVENT)
		return step->event && step->event->kind == MR_MAP;
	if (!is_inside(step->path))
		return false;
	if (step->kind == MR_WORK_STEP_WRITE)
		return step->from && is_staged(journal, arena, step->from);
	return step->kind != MR_WORK_STEP_MOVE || (step->from && is_inside(step->from));
}

static struct mr_work_step *read_step(const struct journal *journal, const struct mr_cursor *at)
{
	struct mr_cursor kind = mr_cursor_key(at, "step"), path = mr_cursor_key(at, "path");
	struct mr_cursor from = mr_cursor_key(at, "from"), mark = mr_cursor_key(at, "mark");
	struct mr_work_step *step = mr_arena_alloc(at->issues->arena, sizeof(*step));
	size_t chosen = 0;

	if (!mr_cursor_choice(&kind, mr_work_step_names, &chosen) ||
		!mr_cursor_text(&path, &step->path))
		return NULL;
	mr_cursor_text_opt(&from, &step->from);
	mr_cursor_text_opt(&mark, &step->mark);
	step->kind = (enum mr_work_step_kind)chosen;
	step->event = mr_value_get(at->value, "event");
	return step_makes_sense(journal, at->issues->arena, step) ? step : NULL;
}

/* Read the whole journal before anything of it is carried out; false when it is none of ours. */
static bool read_journal(struct mr_ctx *cx, const struct mr_value *document, const char *path,
	struct journal *out)
{
	struct mr_work_step **next = &out->first;
	struct mr_issues issues;
	struct mr_cursor root, name, version, id, log_bytes, steps;
	const char *text = NULL;
	int64_t number = 0;
	size_t count = 0;

	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(document, &issues);
	if (!mr_cursor_map(&root))
		return false;
	name = mr_cursor_key(&root, "schema_name");
	version = mr_cursor_key(&root, "schema_version");
	id = mr_cursor_key(&root, "transaction_id");
	log_bytes = mr_cursor_key(&root, "log_bytes");
	steps = mr_cursor_key(&root, "steps");
	if (!mr_cursor_text(&name, &text) || !mr_str_eq(text, schema_name) ||
		!mr_cursor_int(&version, 1, 1, &number) || !mr_cursor_text(&id, &out->id) ||
		!mr_cursor_int(&log_bytes, 0, INT64_MAX, &out->log_bytes) ||
		!mr_cursor_list(&steps, &count) ||
		!mr_str_eq(mr_work_journal_path(cx->arena, out->id), path))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct mr_cursor at = mr_cursor_item(&steps, i);
		struct mr_work_step *step = read_step(out, &at);

		if (!step)
			return false;
		*next = step;
		next = &step->next;
	}
	out->stale = mr_value_get(document, "stale");
	return true;
}

/* --- finishing it --- */

/* Steps are carried out in order, so all up to the last one whose staged file or mark is gone were
 * done. NULL when nothing is left to do. */
static struct mr_work_step *first_undone(struct mr_work *work, struct mr_work_step *first)
{
	struct mr_work_step *undone = first;

	for (struct mr_work_step *step = first; step; step = step->next) {
		const char *staged = step->kind == MR_WORK_STEP_WRITE ? step->from : step->mark;

		if (staged && !mr_fs_exists(work->dir, staged))
			undone = step->next;
	}
	return undone;
}

static void add_list(struct mr_arena *arena, const struct mr_value *list,
	struct mr_work_text_set *out)
{
	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len; i++)
		if (list->list.items[i].kind == MR_TEXT)
			mr_work_text_set_add(arena, out, list->list.items[i].text);
}

static bool is_set(const struct mr_value *flag)
{
	return flag && flag->kind == MR_BOOL && flag->boolean;
}

struct recovery {
	struct mr_work_text_set messages, collections, finished, unfinished;
	bool contacts, identities;
};

/* Finish one journal; `*out_done` stays false when that cannot be done. */
static enum mr_code finish(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct recovery *recovery, bool *out_done)
{
	const struct mr_value *document = NULL;
	struct journal journal = { 0 };
	enum mr_code rc = mr_work_read_json(cx, work, path, &document);

	if (rc == MR_EFORMAT || rc == MR_ELIMIT)
		return MR_OK;
	if (rc)
		return rc;
	if (!document || !read_journal(cx, document, path, &journal) ||
		!mr_work_is_dir(work, mr_work_staging_path(cx->arena, journal.id)))
		return MR_OK;
	rc = mr_work_steps_run(cx, work, first_undone(work, journal.first), journal.log_bytes);
	/* Something that was put in the way since can be taken away by a person only. */
	if (rc == MR_EEXISTS || rc == MR_ENOTFOUND || rc == MR_EINVAL)
		return MR_OK;
	if (rc)
		return rc;
	add_list(cx->arena, mr_value_get(journal.stale, "messages"), &recovery->messages);
	add_list(cx->arena, mr_value_get(journal.stale, "collections"), &recovery->collections);
	recovery->contacts |= is_set(mr_value_get(journal.stale, "contacts"));
	recovery->identities |= is_set(mr_value_get(journal.stale, "identities"));
	*out_done = true;
	return MR_OK;
}

/* What was staged for a journal that was never written, or is gone: the change did not happen, or
 * is over. */
static enum mr_code sweep_staged(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_TRANSACTIONS, &names);
	size_t removed;

	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *id;

		if (!mr_str_ends(names.items[i], ".d"))
			continue;
		id = mr_arena_strndup(cx->arena, names.items[i], strlen(names.items[i]) - 2);
		if (!mr_fs_exists(work->dir, mr_work_journal_path(cx->arena, id)) &&
			mr_fs_remove_all(work->dir, mr_work_staging_path(cx->arena, id), &cx->err))
			rc = mr_work_store_error(cx);
	}
	if (!rc && names.len &&
		mr_fs_sweep_temporaries(work->dir, MR_WORK_TRANSACTIONS, &removed, &cx->err))
		rc = mr_work_store_error(cx);
	return rc;
}

static enum mr_code refuse_unfinished(struct mr_ctx *cx, const struct mr_texts *paths)
{
	static const char *commands[] = { "afmail doctor", "afmail doctor repair --confirm", NULL };
	static const struct mr_texts suggested = { commands, 2 };

	mr_work_refuse(cx, MR_WORK_TRANSACTION_INCOMPLETE,
		"a change was interrupted and cannot be finished by itself: %s",
		mr_str_join(cx->arena, paths, ", "));
	mr_work_detail_texts(cx, "transaction_paths", paths);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

enum mr_code mr_work_change_recover(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_stale *out, struct mr_texts *out_journals)
{
	struct recovery found = { 0 };
	struct mr_texts pending = { 0 };
	enum mr_code rc = mr_work_change_pending(cx, work, &pending);

	for (size_t i = 0; !rc && i < pending.len; i++) {
		bool done = false;

		rc = finish(cx, work, pending.items[i], &found, &done);
		if (!rc)
			mr_work_text_set_add(cx->arena, done ? &found.finished : &found.unfinished,
				pending.items[i]);
	}
	if (!rc)
		rc = sweep_staged(cx, work);
	*out = (struct mr_work_stale){ found.messages.texts, found.collections.texts,
		found.contacts, found.identities };
	*out_journals = found.finished.texts;
	return !rc && found.unfinished.texts.len ? refuse_unfinished(cx, &found.unfinished.texts)
						 : rc;
}

void mr_work_change_forget(struct mr_ctx *cx, struct mr_work *work, const struct mr_texts *journals)
{
	size_t before = strlen(MR_WORK_TRANSACTIONS "/"), after = strlen(".json");

	for (size_t i = 0; i < journals->len; i++) {
		const char *path = journals->items[i];

		mr_work_journal_drop(cx->arena, work,
			mr_arena_strndup(cx->arena, path + before, strlen(path) - before - after));
	}
}

enum mr_code mr_work_change_inspect(struct mr_ctx *cx, struct mr_work *work, const char *path,
	enum mr_work_journal_kind *out_kind, const char **out_change)
{
	const struct mr_value *document = NULL, *name, *change;
	struct mr_err kept = cx->err;
	struct journal journal = { 0 };
	enum mr_code rc = mr_work_read_json(cx, work, path, &document);

	*out_kind = MR_WORK_JOURNAL_DAMAGED;
	*out_change = NULL;
	if (rc == MR_EFORMAT || rc == MR_ELIMIT) {
		cx->err = kept;
		return MR_OK;
	}
	if (rc || !document)
		return rc;
	name = mr_value_get(document, "schema_name");
	change = mr_value_get(document, "kind");
	if (!name || name->kind != MR_TEXT || !mr_str_eq(name->text, schema_name))
		return MR_OK;
	if (change && change->kind == MR_TEXT)
		*out_change = change->text;
	if (!mr_value_get(document, "steps"))
		*out_kind = MR_WORK_JOURNAL_MARK;
	else if (read_journal(cx, document, path, &journal) &&
		mr_work_is_dir(work, mr_work_staging_path(cx->arena, journal.id)))
		*out_kind = MR_WORK_JOURNAL_OURS;
	return MR_OK;
}
