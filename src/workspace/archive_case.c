/* workspace/archive_case.c - archived cases: shown, renamed, their notes. */
#include "workspace/archive.h"
#include "workspace/case_private.h"

enum mr_code mr_work_archive_case_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_show *request, struct mr_work_case_shown *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_archived_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_case_show(cx, work, request, result);
}

enum mr_code mr_work_archive_case_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_rename *request, struct mr_work_case_renamed *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_archived_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_case_rename_at(cx, work, &place, request, result);
}

enum mr_code mr_work_archive_case_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_archived_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_notes_show(cx, work, &place, result);
}

enum mr_code mr_work_archive_case_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_archived_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_notes_append(cx, work, &place, request->text, result);
}

enum mr_code mr_work_archive_case_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_archived_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_notes_replace(cx, work, &place, request->text, result);
}
