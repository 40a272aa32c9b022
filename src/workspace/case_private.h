/* workspace/case_private.h - what the files of cases and categories share. */
#pragma once

#include "workspace/case.h"

/* The case of a place. */
MR_CHECK enum mr_code mr_work_case_load(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_work_collection *out);
/* Find and load an active case. */
MR_CHECK enum mr_code mr_work_case_open(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_collection *out);
/* A case in the archive; an active one is case_not_found. */
MR_CHECK enum mr_code mr_work_archived_case(struct mr_ctx *cx, struct mr_work *work,
	const char *ref, struct mr_work_place *out);
/* case_has_local_drafts or case_has_outbound_push when work on it is under way. With `but_saved`
 * a draft that the server has as it is may stay. */
MR_CHECK enum mr_code mr_work_case_check_idle(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, bool but_saved);
/* What people put there: all in files/, what is in drafts/ and no draft, and what stands beside the
 * directory's own files; paths below it. */
MR_CHECK enum mr_code mr_work_case_files(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_texts *out);
/* Rename an active or archived case. */
MR_CHECK enum mr_code mr_work_case_rename_at(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, const struct mr_work_case_rename *request,
	struct mr_work_case_renamed *result);

/* The directory of an active case, "cases/<group>". */
const char *mr_work_group_dir(struct mr_arena *arena, const char *group);
