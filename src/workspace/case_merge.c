/* workspace/case_merge.c - puts one case into another. */
#include "base/buf.h"
#include "workspace/case_private.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"
#include "workspace/members.h"
#include "workspace/refresh.h"

/* --- files --- */

static enum mr_code move_files(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_collection *into, const struct mr_work_collection *other)
{
	struct mr_texts names = { 0 }, clashes;
	enum mr_code rc = mr_work_case_files(cx, change->work, other->path, &names);

	if (rc)
		return rc;
	clashes = mr_work_ids_room(cx->arena, names.len);
	for (size_t i = 0; i < names.len; i++) {
		const char *target = mr_work_join(cx->arena, into->path, names.items[i]);

		if (mr_fs_exists(change->work->dir, target))
			mr_work_ids_put(&clashes, names.items[i]);
		mr_work_change_move(change, mr_work_join(cx->arena, other->path, names.items[i]),
			target);
	}
	if (!clashes.len)
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_MERGE_CONFLICT, "both cases have %s",
		mr_str_join(cx->arena, &clashes, ", "));
}

/* --- notes --- */

static enum mr_code read_text(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const char **out)
{
	struct mr_bytes bytes = { 0 };
	enum mr_code rc = mr_work_read_opt(cx, work, path, &bytes);

	*out = bytes.data ? mr_arena_strndup(cx->arena, (const char *)bytes.data, bytes.len) : "";
	return rc;
}

/* The other case's notes, if anything is in them, below ours. */
static enum mr_code merge_notes(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_collection *into, const struct mr_work_collection *other)
{
	const char *path = mr_work_join(cx->arena, into->path, "notes.md");
	const char *ours = "", *theirs = "", *section = NULL;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = read_text(cx, change->work, path, &ours);

	if (!rc)
		rc = read_text(cx, change->work, mr_work_join(cx->arena, other->path, "notes.md"),
			&theirs);
	if (rc || !mr_work_text_or_null(cx->arena, theirs))
		return rc;
	rc = mr_work_notes_merged(cx, change->work, into->uid, other->uid, theirs, &section);
	if (rc)
		return rc;
	mr_buf_init(&buf, MR_WORK_DOCUMENT_BYTES);
	mr_buf_puts(&buf, ours);
	if (*ours && !mr_str_ends(ours, "\n"))
		mr_buf_putc(&buf, '\n');
	if (*ours && !mr_str_ends(ours, "\n\n"))
		mr_buf_putc(&buf, '\n'); /* a heading has a blank line before it */
	mr_buf_puts(&buf, section);
	if (!mr_str_ends(section, "\n"))
		mr_buf_putc(&buf, '\n');
	if (mr_buf_check(&buf, path, &cx->err))
		return mr_work_store_error(cx);
	mr_work_change_write(change, path,
		mr_bytes_of(mr_arena_memdup(cx->arena, buf.data, buf.len), buf.len));
	return MR_OK;
}

/* --- merge --- */

static void tell(struct mr_work_change *change, const struct mr_work_case_merged *merged,
	const struct mr_texts *ids, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "case_merged",
		MR_WORK_TARGETS({ "case", merged->case_uid }, { "case", merged->merged_case_uid }),
		reason, &event);
	mr_out_text(&event.out, "case_uid", merged->case_uid);
	mr_out_text(&event.out, "merged_case_uid", merged->merged_case_uid);
	mr_out_texts(&event.out, "message_ids", ids);
	mr_work_event_end(&event);
}

static enum mr_code merge(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *into, const struct mr_work_collection *other)
{
	struct mr_texts ids = mr_work_member_ids(cx->arena, other);
	enum mr_code rc = move_files(cx, change, into, other);

	if (!rc)
		rc = merge_notes(cx, change, into, other);
	if (rc)
		return rc;
	for (size_t i = 0; i < other->len; i++) {
		const struct mr_work_item *item = &other->items[i];
		struct mr_work_item *ours = mr_work_collection_item(into, item->message_id);

		if (!ours)
			mr_work_collection_add(cx, into, item->message_id, item->summary,
				item->added);
		else if (!ours->summary)
			ours->summary = item->summary;
	}
	into->tags = mr_work_ids_union(cx->arena, &into->tags, &other->tags);
	mr_work_change_remove(change, other->path);
	mr_work_change_drop_dir(change, mr_work_group_dir(cx->arena, other->group));
	rc = mr_work_case_save(cx, change, into);
	return rc ? rc : mr_work_touch_conversation(cx, change, &ids);
}

/* Both cases, active, different and without work under way. */
static enum mr_code open_both(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_merge *request, struct mr_work_collection *into,
	struct mr_work_collection *other)
{
	enum mr_code rc = mr_work_case_open(cx, work, request->case_ref, into);

	if (!rc)
		rc = mr_work_case_open(cx, work, request->other_case_ref, other);
	if (!rc && mr_str_eq(into->uid, other->uid))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"case %s cannot be merged into itself", into->uid);
	if (!rc)
		rc = mr_work_case_check_idle(cx, work, into, false);
	if (!rc)
		rc = mr_work_case_check_idle(cx, work, other, false);
	return rc;
}

enum mr_code mr_work_case_merge(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_merge *request, struct mr_work_case_merged *result)
{
	struct mr_work_collection into = { 0 }, other = { 0 };
	struct mr_work_case_merged merged;
	struct mr_work_change change;
	struct mr_texts ids;
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = open_both(cx, work, request, &into, &other);
	if (rc)
		return rc;
	merged = (struct mr_work_case_merged){ into.uid, other.uid, (int64_t)other.len };
	ids = mr_work_member_ids(cx->arena, &other);
	mr_work_change_begin(cx, work, "case_merge", &change);
	rc = merge(cx, &change, &into, &other);
	if (rc)
		return rc;
	tell(&change, &merged, &ids, reason);
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = merged;
	return rc;
}
