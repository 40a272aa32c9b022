/* workspace/case_archive.c - puts cases into the archive, and brings them back. */
#include "workspace/case_private.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/members.h"
#include "workspace/reference.h"
#include "workspace/refresh.h"

/* --- archive --- */

static void tell_archived(struct mr_work_change *change, const struct mr_work_case_archived *done,
	const struct mr_texts *ids, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "case_archived", MR_WORK_TARGETS({ "case", done->case_uid }),
		reason, &event);
	mr_out_text(&event.out, "case_uid", done->case_uid);
	mr_out_text(&event.out, "from_path", done->from_path);
	mr_out_text(&event.out, "to_path", done->case_path);
	mr_out_texts(&event.out, "message_ids", ids);
	mr_work_event_end(&event);
}

static enum mr_code archive(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection, const char *reason,
	struct mr_work_case_archived *done)
{
	struct mr_texts ids = mr_work_member_ids(cx->arena, collection);
	enum mr_code rc = mr_work_eligible(cx, change->work, &ids, collection->uid, false,
		&done->eligible_message_ids);

	if (rc)
		return rc;
	mr_work_change_move(change, done->from_path, done->case_path);
	mr_work_change_drop_dir(change, mr_work_group_dir(cx->arena, collection->group));
	collection->kind = MR_WORK_ARCHIVED_CASE;
	collection->path = done->case_path;
	collection->status = "archived";
	collection->archived = change->work->now;
	rc = mr_work_case_save(cx, change, collection);
	if (!rc && done->eligible_message_ids.len)
		rc = mr_work_queue_action(cx, change, MR_WORK_PUSH_ARCHIVE,
			&done->eligible_message_ids, &done->queue);
	if (!rc)
		rc = mr_work_touch_conversation(cx, change, &ids);
	tell_archived(change, done, &ids, reason);
	return rc;
}

enum mr_code mr_work_case_archive(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_archived *result)
{
	struct mr_work_case_archived done = { 0 };
	struct mr_work_collection collection = { 0 };
	struct mr_work_place place = { 0 };
	struct mr_work_change change;
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_active_case(cx, work, request->case_ref, &place);
	if (!rc)
		rc = mr_work_case_load(cx, work, &place, &collection);
	if (!rc)
		rc = mr_work_case_check_idle(cx, work, &collection, true);
	if (rc)
		return rc;
	done.case_uid = place.uid;
	done.from_path = place.path;
	done.case_path = mr_work_join(cx->arena, MR_WORK_ARCHIVED_CASES, place.dir);
	done.message_count = (int64_t)collection.len;
	if (mr_fs_exists(work->dir, done.case_path))
		return mr_work_refuse(cx, MR_WORK_CASE_EXISTS, "%s exists", done.case_path);
	mr_work_change_begin(cx, work, "case_archive", &change);
	rc = archive(cx, &change, &collection, reason, &done);
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = done;
	return rc;
}

/* --- restore --- */

static void tell_restored(struct mr_work_change *change, const struct mr_work_place *from,
	const struct mr_work_case_restored *done, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "case_restored", MR_WORK_TARGETS({ "case", done->case_uid }),
		reason, &event);
	mr_out_text(&event.out, "case_uid", done->case_uid);
	mr_out_text(&event.out, "to_group", done->group);
	mr_out_text(&event.out, "from_path", from->path);
	mr_out_text(&event.out, "to_path", done->case_path);
	mr_work_event_end(&event);
}

static enum mr_code bring_back(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *from, const char *reason,
	const struct mr_work_case_restored *done)
{
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	struct mr_texts ids;
	enum mr_code rc = mr_work_case_load(cx, work, from, &collection);

	if (rc)
		return rc;
	ids = mr_work_member_ids(cx->arena, &collection);
	collection.kind = MR_WORK_ACTIVE_CASE;
	collection.path = done->case_path;
	collection.group = done->group;
	collection.status = "active";
	collection.archived = NULL;
	mr_work_change_begin(cx, work, "case_restore", &change);
	mr_work_change_move(&change, from->path, done->case_path);
	rc = mr_work_case_save(cx, &change, &collection);
	if (!rc)
		rc = mr_work_touch_conversation(cx, &change, &ids);
	if (rc)
		return rc;
	tell_restored(&change, from, done, reason);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_case_restore(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_restore *request, struct mr_work_case_restored *result)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_case_restored done = { 0 };
	struct mr_work_place place = { 0 };
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_archived_case(cx, work, request->case_ref, &place);
	if (!rc)
		rc = mr_work_config_get(cx, work, &config);
	if (rc)
		return rc;
	done.case_uid = place.uid;
	done.group = request->group ? request->group : config->case_group;
	rc = mr_work_check_segment(cx, "group", done.group);
	if (rc)
		return rc;
	done.case_path =
		mr_work_join(cx->arena, mr_work_group_dir(cx->arena, done.group), place.dir);
	if (mr_fs_exists(work->dir, done.case_path))
		return mr_work_refuse(cx, MR_WORK_CASE_EXISTS, "%s exists", done.case_path);
	rc = bring_back(cx, work, &place, reason, &done);
	if (!rc)
		*result = done;
	return rc;
}
