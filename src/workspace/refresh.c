/* workspace/refresh.c - writes the projections that a change has made stale, or all of them. */
#include "workspace/refresh.h"

#include "workspace/change_private.h"
#include "workspace/contact.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/refresh_private.h"
#include "workspace/suggestion.h"
#include "workspace/view.h"

#include <string.h>

/* --- one view --- */

/* The time in an earlier view, so that one whose inputs are the same stays as it is. */
static const char *generated_before(struct mr_ctx *cx, struct mr_bytes old)
{
	static const char name[] = "generated_rfc3339: \"";
	const char *at = old.data ? memmem(old.data, old.len, name, strlen(name)) : NULL;
	const char *end, *limit = (const char *)old.data + old.len;

	if (!at)
		return NULL;
	at += strlen(name);
	end = memchr(at, '"', (size_t)(limit - at));
	return end ? mr_arena_strndup(cx->arena, at, (size_t)(end - at)) : NULL;
}

static bool is_same(struct mr_bytes old, const char *text)
{
	return old.len == strlen(text) && memcmp(old.data, text, old.len) == 0;
}

struct view {
	enum mr_code (*render)(struct mr_ctx *cx, struct mr_work *work, const struct view *view,
		const char *generated, const char **out);
	const struct mr_work_collection *collection;
	const struct mr_work_item *item;
	const struct mr_work_record *record;
};

static enum mr_code write_view(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const struct view *view, bool *out_written)
{
	struct mr_bytes old = { 0 };
	const char *text = NULL, *before;
	enum mr_code rc = mr_work_read_opt(cx, work, path, &old);

	*out_written = false;
	if (rc)
		return rc;
	before = generated_before(cx, old);
	rc = view->render(cx, work, view, before ? before : work->now, &text);
	if (rc || (old.data && is_same(old, text)))
		return rc;
	if (before) { /* with the present time, and counted once */
		struct mr_work_template_use use = *mr_work_template_use(work);

		rc = view->render(cx, work, view, work->now, &text);
		mr_work_template_set_use(work, &use);
	}
	return rc ? rc : mr_work_project(cx, work, path, mr_bytes_text(text), out_written);
}

static enum mr_code render_triage(struct mr_ctx *cx, struct mr_work *work, const struct view *view,
	const char *generated, const char **out)
{
	return mr_work_view_triage(cx, work, view->record, generated, out);
}

static enum mr_code render_index(struct mr_ctx *cx, struct mr_work *work, const struct view *view,
	const char *generated, const char **out)
{
	return mr_work_view_collection(cx, work, view->collection, generated, out);
}

static enum mr_code render_member(struct mr_ctx *cx, struct mr_work *work, const struct view *view,
	const char *generated, const char **out)
{
	return mr_work_view_member(cx, work, view->collection, view->item, view->record, generated,
		out);
}

/* --- messages --- */

/* The work of one message or view, in an arena that goes with it. */
typedef enum mr_code apart_job(struct mr_ctx *cx, struct mr_work *work, const void *what,
	void *result);

static enum mr_code apart(struct mr_ctx *cx, struct mr_work *work, apart_job *run, const void *what,
	void *result)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_work_push_items *queue = NULL;
	const struct mr_work_contacts *contacts = NULL;
	const struct mr_work_config *config = NULL;
	struct mr_ctx own = *cx;
	/* What is kept for the whole command lives in the command's arena. */
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		rc = mr_work_queue_get(cx, work, &queue);
	if (!rc)
		rc = mr_work_contacts_get(cx, work, &contacts);
	if (!rc)
		rc = mr_work_template_warm(cx, work);
	if (rc)
		return rc;
	mr_work_suggestions_warm(cx, work);
	own.arena = arena;
	own.err = (struct mr_err){ 0 };
	rc = run(&own, work, what, result);
	return rc ? mr_work_error_pass(cx, &own.err) : MR_OK;
}

struct message_result {
	bool record_written, triage_written, triage_removed, is_triage;
};

static enum mr_code refresh_message(struct mr_ctx *cx, struct mr_work *work, const void *what,
	void *result)
{
	const char *id = what;
	const char *triage = mr_work_path_triage(cx->arena, id);
	struct message_result *out = result;
	struct mr_work_record record;
	enum mr_code rc = mr_work_record_make(cx, work, id, &record);

	if (rc == MR_ENOTFOUND) { /* purged: its projections go with it */
		cx->err = (struct mr_err){ 0 };
		rc = mr_work_unproject(cx, work, mr_work_path_record(cx->arena, id), NULL);
		return rc ? rc : mr_work_unproject(cx, work, triage, &out->triage_removed);
	}
	if (rc)
		return rc;
	out->is_triage = record.status == MR_WORK_IS_TRIAGE && record.evidence.eml.data;
	if (out->is_triage)
		rc = write_view(cx, work, triage,
			&(struct view){ .render = render_triage, .record = &record },
			&out->triage_written);
	else
		rc = mr_work_unproject(cx, work, triage, &out->triage_removed);
	/* The record comes last: where it stands, the view was written. */
	return rc ? rc : mr_work_record_write(cx, work, &record, &out->record_written);
}

/* --- lists --- */

struct member_job {
	const struct mr_work_collection *collection;
	const struct mr_work_item *item;
};

static enum mr_code refresh_member(struct mr_ctx *cx, struct mr_work *work, const void *what,
	void *result)
{
	const struct member_job *job = what;
	struct mr_work_record record;
	bool *written = result;
	enum mr_code rc = mr_work_record_make(cx, work, job->item->message_id, &record);

	if (rc == MR_ENOTFOUND || rc == MR_EFORMAT) {
		cx->err = (struct mr_err){ 0 };
		return MR_OK;
	}
	if (rc)
		return rc;
	return write_view(cx, work,
		mr_work_view_member_path(cx->arena, job->collection, job->item->message_id),
		&(struct view){ .render = render_member,
			.collection = job->collection,
			.item = job->item,
			.record = &record },
		written);
}

static enum mr_code refresh_index(struct mr_ctx *cx, struct mr_work *work, const void *what,
	void *result)
{
	const struct mr_work_collection *collection = what;

	return write_view(cx, work, mr_work_view_path(cx->arena, collection),
		&(struct view){ .render = render_index, .collection = collection }, result);
}

/* Views of messages that the list does not hold any more. */
static enum mr_code remove_strangers(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, int64_t *removed)
{
	const char *index = mr_work_view_path(cx->arena, collection);
	const char *any = mr_work_view_member_path(cx->arena, collection, "x");
	const char *dir = mr_arena_strndup(cx->arena, any, strlen(any) - strlen("/x.md"));
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, dir, &names);

	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *path = mr_work_join(cx->arena, dir, names.items[i]);
		size_t stem = strlen(names.items[i]);
		bool gone = false;

		if (!mr_str_ends(names.items[i], ".md") || mr_str_eq(path, index) ||
			mr_work_collection_item(collection,
				mr_arena_strndup(cx->arena, names.items[i], stem - 3)))
			continue;
		rc = mr_work_unproject(cx, work, path, &gone);
		*removed += gone;
	}
	return rc;
}

static enum mr_code refresh_collection(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind kind, const char *path, struct mr_work_view_count *count)
{
	struct mr_work_collection collection = { 0 };
	enum mr_code rc = mr_work_collection_load(cx, work, kind, path, &collection);
	bool written = false;

	for (size_t i = 0; !rc && i < collection.len; i++) {
		struct member_job job = { &collection, &collection.items[i] };

		rc = apart(cx, work, refresh_member, &job, &written);
		count->written += written;
		written = false;
	}
	count->count += (int64_t)collection.len;
	if (!rc)
		rc = apart(cx, work, refresh_index, &collection, &written);
	if (!rc)
		rc = remove_strangers(cx, work, &collection, &count->removed);
	return rc;
}

static bool kind_of(const char *path, enum mr_work_collection_kind *out)
{
	static const struct {
		const char *begins;
		enum mr_work_collection_kind kind;
	} places[] = {
		{ MR_WORK_CASES "/", MR_WORK_ACTIVE_CASE },
		{ MR_WORK_ARCHIVED_CASES "/", MR_WORK_ARCHIVED_CASE },
		{ MR_WORK_CATEGORIES "/", MR_WORK_NOTIFICATION },
		{ "spam", MR_WORK_SPAM },
		{ "trash", MR_WORK_TRASH },
		{ "deleted", MR_WORK_DELETED },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (mr_str_starts(path, places[i].begins)) {
			*out = places[i].kind;
			return true;
		}
	return false;
}

/* A list that was removed or moved away has no projections any more. */
static enum mr_code refresh_at(struct mr_ctx *cx, struct mr_work *work, const char *path)
{
	struct mr_work_view_count ignored = { 0 };
	enum mr_work_collection_kind kind;

	if (!kind_of(path, &kind) ||
		!mr_fs_exists(work->dir, mr_work_collection_file(cx->arena, kind, path)))
		return MR_OK;
	return refresh_collection(cx, work, kind, path, &ignored);
}

/* --- what a change made stale --- */

/* The lists that show a message: its contact, attachments or queue state may stand in them. */
static enum mr_code add_lists(struct mr_ctx *cx, struct mr_work *work, const char *id,
	struct mr_work_text_set *out)
{
	struct mr_work_members members = { 0 };
	enum mr_code rc = mr_work_index_members(cx, work, id, &members);

	for (size_t i = 0; !rc && i < members.len; i++)
		mr_work_text_set_add(cx->arena, out, members.items[i].path);
	return rc;
}

static void add_all(struct mr_ctx *cx, struct mr_work_text_set *out, const struct mr_texts *texts)
{
	for (size_t i = 0; i < texts->len; i++)
		mr_work_text_set_add(cx->arena, out, texts->items[i]);
}

static bool is_about_one(const struct mr_ctx *cx, enum mr_code rc)
{
	return rc == MR_EFORMAT &&
		!mr_str_eq(cx->err.word, mr_work_error_word(MR_WORK_TEMPLATE_RENDER_FAILED));
}

/* What cannot be read is doctor's business; the views of the rest go on. */
static enum mr_code excuse(struct mr_ctx *cx, enum mr_code rc)
{
	if (!is_about_one(cx, rc))
		return rc;
	cx->err = (struct mr_err){ 0 };
	return MR_OK;
}

enum mr_code mr_work_refresh(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_stale *stale)
{
	struct mr_work_behind behind = { 0 };
	struct mr_work_text_set messages = { 0 }, lists = { 0 };
	enum mr_code rc;

	work->queue = NULL;
	work->holds = NULL;
	rc = work->index ? mr_work_index_sync(cx, work) : mr_work_index_open(cx, work);
	/* The index knows by the stamps of cards whose contacts changed; a new one does not. */
	if (!rc && ((stale->contacts && work->index_is_new) || stale->identities)) {
		struct mr_work_refreshed all;

		return mr_work_refresh_all(cx, work, &all);
	}
	if (!rc)
		rc = mr_work_index_behind(cx, work, &behind);
	if (rc)
		return rc;
	add_all(cx, &messages, &stale->messages);
	add_all(cx, &messages, &behind.messages);
	for (size_t i = 0; !rc && i < messages.texts.len; i++) {
		struct message_result result = { 0 };

		rc = apart(cx, work, refresh_message, messages.texts.items[i], &result);
		/* A broken message that nobody named stops no command. */
		if (i >= stale->messages.len)
			rc = excuse(cx, rc);
		if (!rc && !result.is_triage) /* what waits for a decision is in no list */
			rc = add_lists(cx, work, messages.texts.items[i], &lists);
	}
	add_all(cx, &lists, &stale->collections);
	add_all(cx, &lists, &behind.collections);
	for (size_t i = 0; !rc && i < lists.texts.len; i++) {
		rc = refresh_at(cx, work, lists.texts.items[i]);
		if (!mr_texts_has(&stale->collections, lists.texts.items[i]))
			rc = excuse(cx, rc);
	}
	if (!rc && (behind.messages.len || behind.collections.len))
		rc = mr_work_index_caught_up(cx, work);
	return rc;
}

/* Mail that an import or a pull that was killed had not put in place was never known. */
static enum mr_code drop_incoming(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_texts left = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_INCOMING, &left);

	if (!rc && left.len && mr_fs_remove_all(work->dir, MR_WORK_INCOMING, &cx->err))
		rc = mr_work_store_error(cx);
	return rc;
}

enum mr_code mr_work_recover(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_work_stale stale = { 0 };
	struct mr_texts journals = { 0 };
	enum mr_code rc = mr_work_change_recover(cx, work, &stale, &journals);

	if (!rc)
		rc = drop_incoming(cx, work);
	if (rc || !journals.len)
		return rc;
	rc = mr_work_refresh(cx, work, &stale);
	if (!rc)
		mr_work_change_forget(cx, work, &journals);
	return rc;
}

enum mr_code mr_work_carry_out(struct mr_ctx *cx, struct mr_work_change *change)
{
	enum mr_code rc = mr_work_change_commit(cx, change);

	if (!rc)
		rc = mr_work_refresh(cx, change->work, &change->stale);
	if (!rc)
		mr_work_change_end(cx, change);
	return rc;
}

/* --- everything --- */

/* A document or message that cannot be read stops nothing but itself. The failure is noted and the
 * result is success; any other failure is passed on. */
static enum mr_code pass_over(struct mr_ctx *cx, enum mr_code rc, const char *path,
	struct mr_work_refreshed *out)
{
	struct mr_work_refresh_failure *failures;

	if (!is_about_one(cx, rc))
		return rc;
	/* The array grows whenever the count reaches a power of two. */
	if (!(out->failure_count & (out->failure_count - 1))) {
		failures = mr_arena_array(cx->arena, out->failure_count * 2 + 1, sizeof(*failures));
		if (out->failure_count)
			memcpy(failures, out->failures, out->failure_count * sizeof(*failures));
		out->failures = failures;
	}
	out->failures[out->failure_count++] = (struct mr_work_refresh_failure){ path, cx->err.word,
		mr_arena_strdup(cx->arena, cx->err.msg) };
	cx->err = (struct mr_err){ 0 };
	return MR_OK;
}

static enum mr_code refresh_places(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind kind, struct mr_work_refreshed *out, int64_t *out_count)
{
	struct mr_work_view_count ignored = { 0 };
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(cx, work, kind, &places);

	for (size_t i = 0; !rc && i < places.len; i++)
		rc = pass_over(cx,
			refresh_collection(cx, work, kind, places.items[i].path, &ignored),
			mr_work_collection_file(cx->arena, kind, places.items[i].path), out);
	*out_count = (int64_t)places.len;
	return rc;
}

static enum mr_code refresh_messages(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_refreshed *out)
{
	struct mr_work_briefs all = { 0 };
	enum mr_code rc = mr_work_index_list(cx, work, &(struct mr_work_filter){ 0 }, &all);

	for (size_t i = 0; !rc && i < all.len; i++) {
		struct message_result result = { 0 };

		rc = apart(cx, work, refresh_message, all.items[i].message_id, &result);
		if (rc)
			rc = pass_over(cx, rc, mr_work_path_eml(cx->arena, all.items[i].message_id),
				out);
		out->records_rebuilt += result.record_written;
		out->triage.count += result.is_triage;
		out->triage.written += result.triage_written;
		out->triage.removed += result.triage_removed;
		if (cx->progress)
			cx->progress(cx->progress_arg, "messages", i, all.len);
	}
	return rc;
}

/* Views in triage/ of messages that are not there at all. */
static enum mr_code remove_old_triage(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_refreshed *out)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, MR_WORK_TRIAGE, &names);

	for (size_t i = 0; !rc && i < names.len; i++) {
		size_t len = strlen(names.items[i]);
		bool gone = false;

		if (!mr_str_ends(names.items[i], ".md") ||
			mr_work_index_has(cx, work,
				mr_arena_strndup(cx->arena, names.items[i], len - 3)))
			continue;
		rc = mr_work_unproject(cx, work,
			mr_work_join(cx->arena, MR_WORK_TRIAGE, names.items[i]), &gone);
		out->triage.removed += gone;
	}
	return rc;
}

static enum mr_code refresh_dispositions(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_refreshed *out)
{
	struct mr_work_view_count *counts[] = { &out->spam, &out->trash, &out->deleted };
	enum mr_code rc = MR_OK;

	for (int i = 0; !rc && i < 3; i++) {
		enum mr_work_collection_kind kind = MR_WORK_SPAM + (unsigned)i;
		const char *dir = mr_work_disposition_dir(kind);

		/* A workspace that discarded nothing gets no empty directories. */
		if (mr_fs_exists(work->dir, mr_work_collection_file(cx->arena, kind, dir)))
			rc = pass_over(cx, refresh_collection(cx, work, kind, dir, counts[i]),
				mr_work_collection_file(cx->arena, kind, dir), out);
	}
	return rc;
}

/* The contract counts sources for the views of cases and categories only: what triage and the
 * dispositions rendered, each with a section, is left out. */
static int64_t counted(const struct mr_work_template_use *use, const int64_t *source, int which)
{
	int64_t apart;

	switch (which) {
	case MR_WORK_T_TRIAGE:
	case MR_WORK_T_STATUS_INDEX:
	case MR_WORK_T_STATUS_MESSAGE:
		return 0;
	case MR_WORK_T_SECTION:
		apart = use->builtin[MR_WORK_T_TRIAGE] + use->workspace[MR_WORK_T_TRIAGE] +
			use->builtin[MR_WORK_T_STATUS_MESSAGE] +
			use->workspace[MR_WORK_T_STATUS_MESSAGE];
		return source[which] > apart ? source[which] - apart : 0;
	default:
		return source[which];
	}
}

static void tell_templates(struct mr_ctx *cx, struct mr_work *work, struct mr_work_refreshed *out)
{
	static const enum mr_work_template shown[] = { MR_WORK_T_TRIAGE, MR_WORK_T_STATUS_INDEX,
		MR_WORK_T_STATUS_MESSAGE, MR_WORK_T_CASE, MR_WORK_T_CASE_MESSAGE, MR_WORK_T_ARCHIVE,
		MR_WORK_T_ARCHIVE_MESSAGE };
	const struct mr_work_template_use *use = mr_work_template_use(work);
	struct mr_out generated, sources;

	mr_out_init_tree(&generated, cx->arena);
	mr_out_map(&generated, NULL);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		mr_out_int(&generated, mr_work_template_keys[shown[i]],
			use->builtin[shown[i]] + use->workspace[shown[i]]);
	mr_out_end(&generated);
	out->generated = mr_out_tree(&generated);
	mr_out_init_tree(&sources, cx->arena);
	mr_out_map(&sources, NULL);
	for (int i = 0; i < MR_WORK_T_COUNT; i++) {
		mr_out_map(&sources, mr_work_template_keys[i]);
		mr_out_int(&sources, "builtin", counted(use, use->builtin, i));
		mr_out_int(&sources, "workspace", counted(use, use->workspace, i));
		mr_out_end(&sources);
	}
	mr_out_end(&sources);
	out->template_sources = mr_out_tree(&sources);
}

enum mr_code mr_work_refresh_all(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_refreshed *out)
{
	enum mr_code rc;

	*out = (struct mr_work_refreshed){ 0 };
	work->queue = NULL;
	work->holds = NULL;
	rc = mr_work_index_open(cx, work);
	if (!rc && !work->survey && mr_work_unchanged(cx, work, out))
		return mr_work_index_caught_up(cx, work);
	if (!rc)
		rc = refresh_messages(cx, work, out);
	if (!rc)
		rc = remove_old_triage(cx, work, out);
	if (!rc)
		rc = refresh_dispositions(cx, work, out);
	if (!rc)
		rc = refresh_places(cx, work, MR_WORK_ACTIVE_CASE, out, &out->active_cases);
	if (!rc)
		rc = refresh_places(cx, work, MR_WORK_ARCHIVED_CASE, out, &out->archived_cases);
	if (!rc)
		rc = refresh_places(cx, work, MR_WORK_NOTIFICATION, out, &out->categories);
	if (!rc)
		tell_templates(cx, work, out);
	if (!rc && !work->survey)
		rc = mr_work_index_caught_up(cx, work);
	if (!rc && !work->survey)
		rc = mr_work_unchanged_note(cx, work, out);
	return rc;
}
