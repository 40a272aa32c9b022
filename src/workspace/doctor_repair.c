/* workspace/doctor_repair.c - repairs what can be repaired without guessing. */
#include "base/crash.h"
#include "data/db.h"
#include "workspace/doctor_private.h"
#include "workspace/error.h"
#include "workspace/generation.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum mr_code refuse_unconfirmed(struct mr_ctx *cx)
{
	static const char *commands[] = { "afmail doctor", "afmail doctor repair --confirm", NULL };
	static const struct mr_texts suggested = { commands, 2 };

	mr_work_refuse(cx, MR_WORK_CONFIRM_REQUIRED,
		"repairing changes files of the workspace and must be confirmed");
	mr_work_hint(cx,
		"See what is wrong with `afmail doctor`, then repeat the command with "
		"--confirm.");
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

/* --- interrupted changes --- */

/* Marks that another program left say nothing that could be finished or undone. */
static enum mr_code remove_marks(struct mr_ctx *cx, struct mr_work *work, int64_t *count)
{
	struct mr_texts pending = { 0 };
	enum mr_code rc = mr_work_change_pending(cx, work, &pending);

	for (size_t i = 0; !rc && i < pending.len; i++) {
		enum mr_work_journal_kind kind = MR_WORK_JOURNAL_DAMAGED;
		const char *change = NULL;

		rc = mr_work_change_inspect(cx, work, pending.items[i], &kind, &change);
		if (rc || kind != MR_WORK_JOURNAL_MARK)
			continue;
		if (unlinkat(work->dir, pending.items[i], 0) != 0 && errno != ENOENT) {
			mr_err_os(&cx->err, errno, "cannot remove %s", pending.items[i]);
			return mr_work_store_error(cx);
		}
		++*count;
	}
	return rc;
}

/* Finish our own changes. Their projections are made with all others. */
static enum mr_code finish_changes(struct mr_ctx *cx, struct mr_work *work,
	struct mr_texts *journals)
{
	struct mr_work_stale stale = { 0 };
	enum mr_code rc = mr_work_change_recover(cx, work, &stale, journals);

	work->config = NULL; /* what was read before may be changed by them */
	work->queue = NULL;
	work->contacts = NULL;
	work->holds = NULL;
	return rc;
}

/* --- canonical files --- */

/* The sidecar of a message that only its record remembers. */
static void write_sidecar(struct mr_ctx *cx, struct mr_work_change *change, const char *path,
	struct mr_work_doctor_repaired *out)
{
	size_t begin = strlen(MR_WORK_EVIDENCE "/");
	const char *id = mr_work_stem(cx->arena, path + begin, ".remote.json");
	const struct mr_value *record = NULL, *locations;
	struct mr_err kept = cx->err;
	struct mr_out document;

	if (!id ||
		mr_work_read_json(cx, change->work, mr_work_path_record(cx->arena, id), &record)) {
		cx->err = kept;
		return;
	}
	locations = mr_value_get(mr_value_get(record, "remote"), "locations");
	if (!locations || locations->kind != MR_LIST)
		return;
	mr_out_init_tree(&document, cx->arena);
	mr_out_map(&document, NULL);
	mr_out_text(&document, "schema_name", "message_remote");
	mr_out_int(&document, "schema_version", 1);
	mr_out_text(&document, "message_id", id);
	mr_out_value(&document, "locations", locations);
	mr_out_end(&document);
	mr_work_change_json(change, path, mr_out_tree(&document));
	out->sidecar_written_count++;
}

/* A sidecar without a message goes; one whose message only lacks its record stays. */
static void remove_sidecar(struct mr_ctx *cx, struct mr_work_change *change, const char *path,
	struct mr_work_doctor_repaired *out)
{
	size_t begin = strlen(MR_WORK_EVIDENCE "/");
	const char *id = mr_work_stem(cx->arena, path + begin, ".remote.json");

	if (!id || mr_fs_exists(change->work->dir, mr_work_path_eml(cx->arena, id)))
		return;
	mr_work_change_remove(change, path);
	out->sidecar_removed_count++;
}

static enum mr_code rename_cases(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_collection_kind kind, struct mr_work_doctor_repaired *out)
{
	struct mr_work_text_set taken = { 0 }; /* two directories may want one name */
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(cx, change->work, kind, &places);

	for (size_t i = 0; !rc && i < places.len; i++) {
		const char *right = mr_work_exam_right_name(cx, change->work, &places.items[i]);

		if (!right || mr_fs_exists(change->work->dir, right) ||
			!mr_work_text_set_add(cx->arena, &taken, right))
			continue;
		mr_work_change_move(change, places.items[i].path, right);
		mr_work_touch_collection(change, right);
		out->directory_renamed_count++;
	}
	return rc;
}

static enum mr_code stamp_layout(struct mr_ctx *cx, struct mr_work_change *change)
{
	struct mr_bytes file = { 0 };
	enum mr_code rc = mr_work_read_opt(cx, change->work, MR_WORK_SENTINEL, &file);
	const char *text;

	if (rc)
		return rc;
	text = mr_arena_strndup(cx->arena, file.data ? (const char *)file.data : "", file.len);
	if (strstr(text, MR_WORK_LAYOUT_LINE))
		return MR_OK;
	text = mr_arena_printf(cx->arena, "%s%s%s%d\n", text,
		*text && !mr_str_ends(text, "\n") ? "\n" : "", MR_WORK_LAYOUT_LINE,
		MR_WORK_LAYOUT_VERSION);
	mr_work_change_write(change, MR_WORK_SENTINEL, mr_bytes_text(text));
	return MR_OK;
}

static void count_migrated(struct mr_work_doctor_repaired *out,
	const struct mr_work_migrated *migrated)
{
	out->migrated_case_count = migrated->cases;
	out->migrated_category_count = migrated->categories;
	out->migrated_message_count = migrated->messages;
	out->migrated_push_count = migrated->items;
	out->config_migrated = migrated->config;
	out->deprecated_state_removed_count = migrated->states_removed;
	out->text_cache_removed_count = migrated->texts_removed;
}

static void begin_event(struct mr_work_change *change, const struct mr_work_migrated *migrated)
{
	static const struct mr_work_target none[] = { { 0 } };
	struct mr_work_event event;

	mr_work_event_begin(change, "workspace_repaired", none, NULL, &event);
	mr_out_int(&event.out, "migrated_case_count", migrated->cases);
	mr_out_int(&event.out, "migrated_category_count", migrated->categories);
	mr_out_int(&event.out, "migrated_message_count", migrated->messages);
	mr_out_int(&event.out, "migrated_push_count", migrated->items);
	mr_out_bool(&event.out, "config_migrated", migrated->config);
	mr_work_event_end(&event);
}

/* Everything that concerns canonical files, in one change. */
static enum mr_code mend(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_doctored *before, struct mr_work_change *change,
	struct mr_work_doctor_repaired *out)
{
	struct mr_work_migrated migrated = { 0 };
	enum mr_code rc;

	mr_work_change_begin(cx, work, "doctor_repair", change);
	rc = mr_work_generation_migrate(cx, change, &migrated);
	if (rc)
		return rc;
	count_migrated(out, &migrated);
	for (size_t i = 0; i < before->issues_len; i++) {
		const struct mr_work_issue *issue = &before->issues[i];

		if (mr_str_eq(issue->code, "message_remote_missing"))
			write_sidecar(cx, change, issue->path, out);
		else if (mr_str_eq(issue->code, "message_sidecar_orphaned"))
			remove_sidecar(cx, change, issue->path, out);
		else if (mr_str_eq(issue->code, "message_cache_invalid") && issue->repairable)
			out->message_cache_rebuilt_count++;
	}
	rc = rename_cases(cx, change, MR_WORK_ACTIVE_CASE, out);
	if (!rc)
		rc = rename_cases(cx, change, MR_WORK_ARCHIVED_CASE, out);
	if (!rc && change->count)
		begin_event(change, &migrated);
	if (!rc)
		rc = stamp_layout(cx, change);
	if (rc || !change->count)
		return rc;
	change->stale.identities = true; /* after a crash, too, everything is refreshed */
	return mr_work_change_commit(cx, change);
}

/* --- projections --- */

/* The index is made anew with everything else: it is a projection too. */
static void drop_index(struct mr_ctx *cx, struct mr_work *work)
{
	static const char *const suffixes[] = { "", "-journal", "-wal", "-shm" };

	mr_db_closep(&work->index);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		(void)unlinkat(work->dir,
			mr_arena_printf(cx->arena, MR_WORK_INDEX "%s", suffixes[i]), 0);
}

/* Without a configuration there are no views. A template that cannot be rendered leaves views as
 * they are: it is among the remaining issues. */
static enum mr_code project(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_doctor_repaired *out)
{
	const struct mr_work_config *config = NULL;
	struct mr_err kept = cx->err;
	enum mr_code rc;

	if (mr_work_config_get(cx, work, &config)) {
		cx->err = kept;
		return MR_OK;
	}
	drop_index(cx, work);
	rc = mr_work_refresh_all(cx, work, &out->render);
	out->is_rendered = !rc;
	/* Their records are made of them, also where that left the bytes as they were. */
	out->render.records_rebuilt += out->sidecar_written_count;
	if (rc && mr_str_eq(cx->err.word, mr_work_error_word(MR_WORK_TEMPLATE_RENDER_FAILED))) {
		cx->err = kept;
		rc = MR_OK;
	}
	return rc;
}

enum mr_code mr_work_doctor_repair(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_doctor_repair *request, struct mr_work_doctor_repaired *out)
{
	struct mr_work_doctored before = { 0 }, now = { 0 }, after = { 0 };
	struct mr_work_change change = { 0 };
	struct mr_texts journals = { 0 };
	enum mr_code rc;

	*out = (struct mr_work_doctor_repaired){ .confirmed = request->confirm };
	if (!request->confirm)
		return refuse_unconfirmed(cx);
	rc = mr_work_generation_check(cx, work);
	if (!rc)
		rc = mr_work_doctor(cx, work, &before);
	if (!rc)
		rc = remove_marks(cx, work, &out->transaction_removed_count);
	if (!rc)
		rc = finish_changes(cx, work, &journals);
	now = before;
	if (!rc && journals.len) { /* what was finished is no issue any more */
		mr_db_closep(&work->index);
		rc = mr_work_doctor(cx, work, &now);
	}
	if (!rc)
		rc = mend(cx, work, &now, &change, out);
	mr_crash_point("work.repair.mended");
	if (!rc)
		rc = project(cx, work, out);
	if (rc)
		return rc;
	mr_work_change_forget(cx, work, &journals);
	if (change.cx)
		mr_work_change_end(cx, &change);
	mr_crash_point("work.repair.projected");
	rc = mr_work_doctor(cx, work, &after);
	out->before_issue_count = before.issue_count;
	out->after_issue_count = after.issue_count;
	out->remaining_issues = after.issues;
	out->remaining_issues_len = after.issues_len;
	return rc;
}
