/* workspace/doctor.c - examines a workspace from one end to the other. */
#include "workspace/doctor.h"

#include "workspace/audit.h"
#include "workspace/doctor_private.h"
#include "workspace/error.h"
#include "workspace/generation.h"
#include "workspace/layout.h"
#include "workspace/templates.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- telling --- */

/* Issues that harm nothing; all others are errors. */
static bool is_warning(const char *code)
{
	static const char *const warnings[] = { "message_state_deprecated", "legacy_template_dir",
		"message_remote_missing", "message_sidecar_orphaned", "push_overlay_drift",
		"case_dir_name_drift", "view_stale", "audit_log_corrupt", "legacy_state_present",
		"draft_invalid" };

	for (size_t i = 0; i < sizeof(warnings) / sizeof(*warnings); i++)
		if (mr_str_eq(code, warnings[i]))
			return true;
	return false;
}

static struct mr_texts copy_refs(struct mr_arena *arena, const char *const *refs)
{
	struct mr_texts out = { 0 };
	size_t len = 0;

	while (refs && refs[len])
		len++;
	if (!len)
		return out;
	out.items = mr_arena_array(arena, len + 1, sizeof(*out.items));
	for (; out.len < len; out.len++)
		out.items[out.len] = mr_arena_strdup(arena, refs[out.len]);
	return out;
}

static void grow(struct mr_work_exam *exam)
{
	struct mr_work_issue *issues;

	exam->cap = exam->cap ? exam->cap * 2 : 16;
	issues = mr_arena_array(exam->cx->arena, exam->cap, sizeof(*issues));
	if (exam->out->issues_len)
		memcpy(issues, exam->out->issues, exam->out->issues_len * sizeof(*issues));
	exam->out->issues = issues;
}

void mr_work_exam_tell(struct mr_work_exam *exam, const char *code, enum mr_work_repair repair,
	const char *path, const char *const *refs, const char *fmt, ...)
{
	struct mr_work_doctored *out = exam->out;
	struct mr_arena *arena = exam->cx->arena;
	bool warning = is_warning(code);
	char text[MR_ERR_MSG_BYTES];
	va_list args;

	out->ok = false;
	out->issue_count++;
	out->error_count += !warning;
	out->repairable_count += repair == MR_WORK_REPAIRABLE;
	if (out->issues_len == MR_WORK_ISSUES_MAX) {
		out->unlisted_count++;
		return;
	}
	if (out->issues_len == exam->cap)
		grow(exam);
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	out->issues[out->issues_len++] = (struct mr_work_issue){
		.code = mr_arena_strdup(arena, code),
		.severity = warning ? "warning" : "error",
		.message = mr_arena_strdup(arena, text),
		.path = path ? mr_arena_strdup(arena, path) : NULL,
		.refs = copy_refs(arena, refs),
		.repairable = repair == MR_WORK_REPAIRABLE,
	};
}

void mr_work_exam_tell_failure(struct mr_work_exam *exam, const char *path)
{
	struct mr_err *err = &exam->cx->err;

	mr_work_exam_tell(exam, err->word ? err->word : mr_work_error_word(MR_WORK_STORE_ERROR),
		MR_WORK_BY_HAND, path, NULL, "%s", err->msg);
	*err = (struct mr_err){ 0 };
}

bool mr_work_exam_knows(const struct mr_work_exam *exam, const char *message_id)
{
	return mr_work_text_set_has(&exam->emls, message_id) ||
		mr_work_text_set_has(&exam->records, message_id);
}

/* --- what concerns the workspace as a whole --- */

static enum mr_code examine_transactions(struct mr_work_exam *exam)
{
	struct mr_texts pending = { 0 };
	enum mr_code rc = mr_work_change_pending(exam->cx, exam->work, &pending);

	for (size_t i = 0; !rc && i < pending.len; i++) {
		enum mr_work_journal_kind kind = MR_WORK_JOURNAL_DAMAGED;
		const char *change = NULL;

		rc = mr_work_change_inspect(exam->cx, exam->work, pending.items[i], &kind, &change);
		if (rc)
			break;
		if (kind == MR_WORK_JOURNAL_OURS)
			mr_work_exam_tell(exam, "transaction_incomplete", MR_WORK_REPAIRABLE,
				pending.items[i], NULL,
				"A change (%s) was interrupted. The next command that changes "
				"something finishes it first.",
				change ? change : "unknown");
		else if (kind == MR_WORK_JOURNAL_MARK)
			mr_work_exam_tell(exam, "transaction_incomplete", MR_WORK_REPAIRABLE,
				pending.items[i], NULL,
				"Another program was interrupted in a change (%s) and left no "
				"record of what remains to be done. Repairing removes the mark; "
				"other issues tell what was left half done.",
				change ? change : "unknown");
		else
			mr_work_exam_tell(exam, "transaction_incomplete", MR_WORK_BY_HAND,
				pending.items[i], NULL,
				"The journal of an interrupted change cannot be read. Restore it, "
				"or compare the files it names with a backup and delete it.");
	}
	exam->out->checks.transactions = !rc;
	return rc;
}

/* A configuration that cannot be used is an issue, whatever the reason. */
static void examine_config(struct mr_work_exam *exam)
{
	enum mr_code rc = mr_work_config_get(exam->cx, exam->work, &exam->config);

	if (!rc)
		return;
	exam->config = NULL;
	mr_work_exam_tell(exam, "config_invalid",
		mr_work_generation_config(exam->cx, exam->work, NULL) ? MR_WORK_REPAIRABLE
								      : MR_WORK_BY_HAND,
		MR_WORK_CONFIG, NULL, "%s", exam->cx->err.msg);
	exam->cx->err = (struct mr_err){ 0 };
}

static void examine_log(struct mr_work_exam *exam)
{
	size_t bad = 0;

	if (mr_work_audit_check(exam->cx, exam->work, &bad))
		mr_work_exam_tell_failure(exam, MR_WORK_LOG);
	else if (bad)
		mr_work_exam_tell(exam, "audit_log_corrupt", MR_WORK_BY_HAND, MR_WORK_LOG, NULL,
			"%zu %s of the audit log cannot be read. The other lines are shown; "
			"correct or delete %s.",
			bad, bad == 1 ? "line" : "lines", bad == 1 ? "it" : "them");
}

static void examine_layout(struct mr_work_exam *exam)
{
	int64_t version = mr_work_generation_version(exam->cx, exam->work);

	if (version > MR_WORK_LAYOUT_VERSION)
		mr_work_exam_tell(exam, "layout_unknown", MR_WORK_BY_HAND, MR_WORK_SENTINEL, NULL,
			"The workspace has layout version %lld; this program knows versions up to "
			"%d. Use a newer version of it.",
			(long long)version, MR_WORK_LAYOUT_VERSION);
}

/* --- the queue --- */

static bool is_active_case_draft(struct mr_work_exam *exam, const struct mr_work_places *cases,
	const struct mr_work_push_item *item)
{
	for (size_t i = 0; i < cases->len; i++)
		if (mr_str_eq(cases->items[i].uid, item->case_uid) &&
			mr_fs_exists(exam->work->dir,
				mr_arena_printf(exam->cx->arena, "%s/drafts/%s",
					cases->items[i].path, item->draft_name)))
			return true;
	return false;
}

static void examine_item(struct mr_work_exam *exam, const struct mr_work_places *cases,
	const struct mr_work_push_item *item)
{
	const char *path = mr_work_path_push(exam->cx->arena, item->push_id);

	if (item->kind == MR_WORK_PUSH_OUTBOUND && !is_active_case_draft(exam, cases, item))
		mr_work_exam_tell(exam, "push_draft_missing", MR_WORK_BY_HAND, path,
			MR_WORK_REFS(item->push_id, item->case_uid, item->draft_name),
			"The queued draft %s of case %s is not there. Restore the draft, or drop "
			"the item with `afmail push drop %s`.",
			item->draft_name, item->case_uid, item->push_id);
	for (size_t i = 0; i < item->message_ids.len; i++)
		if (!mr_work_exam_knows(exam, item->message_ids.items[i]))
			mr_work_exam_tell(exam, "push_message_ref_broken", MR_WORK_BY_HAND, path,
				MR_WORK_REFS(item->push_id, item->message_ids.items[i]),
				"The queued item is about message %s, which is not there. Restore "
				"the message, or drop the item with `afmail push drop %s`.",
				item->message_ids.items[i], item->push_id);
}

static enum mr_code examine_queue(struct mr_work_exam *exam)
{
	struct mr_work_places cases = { 0 };
	enum mr_code rc = mr_work_queue_get(exam->cx, exam->work, &exam->queue);

	if (!rc)
		rc = mr_work_places(exam->cx, exam->work, MR_WORK_ACTIVE_CASE, &cases);
	if (rc)
		return rc;
	for (size_t i = 0; i + 1 < exam->queue->invalid.len; i += 2) {
		const char *path = exam->queue->invalid.items[i];
		bool old = mr_work_generation_item(exam->cx, exam->work, path, NULL);

		mr_work_exam_tell(exam, "push_item_invalid",
			old ? MR_WORK_REPAIRABLE : MR_WORK_BY_HAND, path, NULL, "%s",
			exam->queue->invalid.items[i + 1]);
	}
	for (size_t i = 0; i < exam->queue->len; i++)
		examine_item(exam, &cases, &exam->queue->items[i]);
	exam->out->checks.push_queue = true;
	return MR_OK;
}

/* --- all of it --- */

/* A part that fails as a whole, because a directory cannot be listed, is an issue too. */
static void look(struct mr_work_exam *exam, enum mr_code (*part)(struct mr_work_exam *),
	const char *where)
{
	if (part(exam))
		mr_work_exam_tell_failure(exam, where);
}

enum mr_code mr_work_doctor(struct mr_ctx *cx, struct mr_work *work, struct mr_work_doctored *out)
{
	struct mr_work_exam exam = { .cx = cx, .work = work, .out = out };
	/* Templates that are rendered here do not count as used. */
	struct mr_work_template_use use = *mr_work_template_use(work);
	struct mr_err kept = cx->err;

	*out = (struct mr_work_doctored){ .ok = true };
	cx->err = (struct mr_err){ 0 };
	look(&exam, examine_transactions, MR_WORK_TRANSACTIONS);
	examine_layout(&exam);
	examine_config(&exam);
	look(&exam, mr_work_exam_personas, MR_WORK_IDENTITIES);
	look(&exam, mr_work_exam_list_messages, MR_WORK_EVIDENCE);
	look(&exam, examine_queue, MR_WORK_PUSH);
	look(&exam, mr_work_exam_messages, MR_WORK_RECORDS);
	look(&exam, mr_work_exam_collections, MR_WORK_CASES);
	look(&exam, mr_work_exam_contacts, MR_WORK_CONTACTS);
	look(&exam, mr_work_exam_templates, MR_WORK_TEMPLATES);
	look(&exam, mr_work_exam_views, MR_WORK_RECORDS);
	examine_log(&exam);
	mr_work_template_set_use(work, &use);
	cx->err = kept;
	return MR_OK;
}
