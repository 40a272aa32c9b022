/* workspace/doctor_view.c - examines templates, and whether projections are up to date. */
#include "workspace/doctor_private.h"
#include "workspace/draft_private.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/notes.h"
#include "workspace/view.h"

#include <stdlib.h>
#include <string.h>

/* --- templates --- */

/* A message with as little in it as a message can have. */
static const char smallest_mail[] = "\r\n";

static enum mr_code make_smallest(struct mr_ctx *cx, struct mr_work_record *out)
{
	*out = (struct mr_work_record){ .message_id = "message_doctor", .body_text = "" };
	out->evidence.message_id = out->message_id;
	out->evidence.eml = mr_bytes_text(smallest_mail);
	mr_mail_auth_read(cx->arena, &out->authentication_raw, NULL, &out->authentication);
	return mr_mime_parse(cx->arena, out->evidence.eml, &out->evidence.mime, &cx->err);
}

static enum mr_code render_list(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_template which, const struct mr_work_record *record, const char **text)
{
	struct mr_work_item item = { .message_id = record->message_id, .added = work->now };
	struct mr_work_collection list = { .path = "spam",
		.uid = "spam",
		.name = "Spam",
		.status = "spam",
		.created = work->now,
		.updated = work->now };

	list.kind = which == MR_WORK_T_CASE || which == MR_WORK_T_CASE_MESSAGE ? MR_WORK_ACTIVE_CASE
		: which == MR_WORK_T_ARCHIVE || which == MR_WORK_T_ARCHIVE_MESSAGE
		? MR_WORK_NOTIFICATION
		: MR_WORK_SPAM;
	if (which == MR_WORK_T_CASE || which == MR_WORK_T_ARCHIVE ||
		which == MR_WORK_T_STATUS_INDEX)
		return mr_work_view_collection(cx, work, &list, work->now, text);
	return mr_work_view_member(cx, work, &list, &item, record, work->now, text);
}

/* Render a template as commands do, with the smallest message and empty lists. */
static enum mr_code render_smallest(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_template which, const struct mr_work_record *record)
{
	const char *text = NULL;

	switch (which) {
	case MR_WORK_T_NOTES:
		return mr_work_notes_new(cx, work, &text);
	case MR_WORK_T_NOTES_MERGE:
		return mr_work_notes_merged(cx, work, "c20260101001", "c20260101002", "", &text);
	case MR_WORK_T_DRAFT_NEW:
		return mr_work_draft_scaffold(cx, work, NULL, &text);
	case MR_WORK_T_DRAFT_REPLY:
		return mr_work_draft_scaffold(cx, work, record, &text);
	case MR_WORK_T_SECTION:
		return mr_work_view_section(cx, work, record, MR_WORK_TRIAGE, &text);
	case MR_WORK_T_TRIAGE:
		return mr_work_view_triage(cx, work, record, work->now, &text);
	default:
		return render_list(cx, work, which, record, &text);
	}
}

/* Most views contain the section of a message: when that fails, so do they, and only it is told. */
static bool contains_section(enum mr_work_template which)
{
	return which == MR_WORK_T_TRIAGE || which == MR_WORK_T_CASE_MESSAGE ||
		which == MR_WORK_T_ARCHIVE_MESSAGE || which == MR_WORK_T_STATUS_MESSAGE;
}

enum mr_code mr_work_exam_templates(struct mr_work_exam *exam)
{
	struct mr_work_record record;
	struct mr_ctx *cx = exam->cx;
	bool section_fails = false;
	enum mr_code rc;

	if (!exam->config)
		return MR_OK;
	rc = mr_work_index_open(cx, exam->work);
	if (!rc)
		rc = make_smallest(cx, &record);
	/* The two of the workspace itself are not rendered by any command. */
	for (int i = MR_WORK_T_NOTES; !rc && i < MR_WORK_T_COUNT; i++) {
		enum mr_work_template which = (enum mr_work_template)i;

		if ((section_fails && contains_section(which)) ||
			!render_smallest(cx, exam->work, which, &record))
			continue;
		section_fails |= which == MR_WORK_T_SECTION;
		mr_work_exam_tell(exam, "template_render_failed", MR_WORK_BY_HAND,
			mr_work_template_keys[which], NULL,
			"%s. Correct the template, or delete it to use the built-in one.",
			cx->err.msg);
		cx->err = (struct mr_err){ 0 };
	}
	exam->out->checks.templates = !rc;
	return rc;
}

/* --- projections --- */

/* The message that a projection shows: the name of its file. */
static const char *message_of(struct mr_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return mr_arena_strndup(arena, name, dot ? (size_t)(dot - name) : strlen(name));
}

/* The directory of the list that a projection belongs to, or of single messages. */
static const char *owner_of(struct mr_arena *arena, const char *path)
{
	const char *views = strstr(path, "/views/messages/");
	const char *end = views ? views : strrchr(path, '/');

	return mr_arena_strndup(arena, path, end ? (size_t)(end - path) : strlen(path));
}

struct stale {
	const char *owner, *path;
	bool is_surplus; /* it shows something that is not there */
};

static int by_owner(const void *a, const void *b)
{
	const struct stale *left = a, *right = b;
	int order = strcmp(left->owner, right->owner);

	return order ? order : strcmp(left->path, right->path);
}

/* Messages and lists that are broken have an issue of their own. */
static bool is_known(struct mr_work_exam *exam, struct mr_arena *arena, const char *path)
{
	const char *id = message_of(arena, path);

	return mr_work_text_set_has(&exam->troubled, id) ||
		mr_work_text_set_has(&exam->broken_lists, owner_of(arena, path));
}

static void gather(struct mr_work_exam *exam, const struct mr_texts *paths, bool is_surplus,
	struct stale *out, size_t *len)
{
	for (size_t i = 0; i < paths->len; i++)
		if (!is_known(exam, exam->cx->arena, paths->items[i]))
			out[(*len)++] = (struct stale){ owner_of(exam->cx->arena, paths->items[i]),
				paths->items[i], is_surplus };
}

/* One issue for each list, however many of its views are concerned. */
static void tell_stale(struct mr_work_exam *exam, const struct stale *stale, size_t len)
{
	for (size_t i = 0, end; i < len; i = end) {
		size_t surplus = 0;

		for (end = i; end < len && mr_str_eq(stale[end].owner, stale[i].owner); end++)
			surplus += stale[end].is_surplus;
		if (end == i + 1)
			mr_work_exam_tell(exam, "view_stale", MR_WORK_REPAIRABLE, stale[i].path,
				NULL, "The file is %s. Repairing %s it.",
				surplus ? "of a message that does not belong there"
					: "missing or out of date",
				surplus ? "deletes" : "writes");
		else
			mr_work_exam_tell(exam, "view_stale", MR_WORK_REPAIRABLE, stale[i].owner,
				NULL,
				"%zu files here are missing, out of date or of messages that do "
				"not belong there, the first is %s. Repairing makes them anew.",
				end - i, stale[i].path);
	}
}

/* What the refresh passed over and no other examination has found. */
static void tell_failures(struct mr_work_exam *exam, const struct mr_work_refreshed *refreshed)
{
	for (size_t i = 0; i < refreshed->failure_count; i++) {
		const struct mr_work_refresh_failure *failure = &refreshed->failures[i];
		const char *data = strstr(failure->path, "/data/");
		const char *owner = data ? mr_arena_strndup(exam->cx->arena, failure->path,
						   (size_t)(data - failure->path))
					 : failure->path;

		if (!mr_work_text_set_has(&exam->broken_lists, owner) &&
			!is_known(exam, exam->cx->arena, failure->path))
			mr_work_exam_tell(exam,
				failure->error_code ? failure->error_code : "store_error",
				MR_WORK_BY_HAND, failure->path, NULL, "%s", failure->error);
	}
}

/* The failure is that of a template which has its issue already. */
static bool is_about_template(const struct mr_work_exam *exam)
{
	const char *word = mr_work_error_word(MR_WORK_TEMPLATE_RENDER_FAILED);

	if (!mr_str_eq(exam->cx->err.word, word))
		return false;
	for (size_t i = 0; i < exam->out->issues_len; i++)
		if (mr_str_eq(exam->out->issues[i].code, word))
			return true;
	return false;
}

enum mr_code mr_work_exam_views(struct mr_work_exam *exam)
{
	struct mr_work_survey survey = { .arena = exam->cx->arena };
	struct mr_work_refreshed refreshed = { 0 };
	struct stale *stale;
	size_t len = 0;
	enum mr_code rc;

	if (!exam->config)
		return MR_OK;
	exam->work->survey = &survey;
	rc = mr_work_refresh_all(exam->cx, exam->work, &refreshed);
	exam->work->survey = NULL;
	if (rc && is_about_template(exam)) {
		exam->cx->err = (struct mr_err){ 0 };
		return MR_OK;
	}
	if (rc)
		return rc;
	tell_failures(exam, &refreshed);
	stale = mr_arena_array(exam->cx->arena, survey.written.len + survey.removed.len + 1,
		sizeof(*stale));
	gather(exam, &survey.written, false, stale, &len);
	gather(exam, &survey.removed, true, stale, &len);
	if (len)
		qsort(stale, len, sizeof(*stale), by_owner);
	tell_stale(exam, stale, len);
	return MR_OK;
}
