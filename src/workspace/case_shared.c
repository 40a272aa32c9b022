/* workspace/case_shared.c - questions and steps that several commands of cases and categories have.
 */
#include "workspace/case_private.h"
#include "workspace/draft_state.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"

enum mr_code mr_work_case_load(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_work_collection *out)
{
	return mr_work_collection_load(cx, work, place->kind, place->path, out);
}

enum mr_code mr_work_case_open(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_collection *out)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_active_case(cx, work, ref, &place);

	return rc ? rc : mr_work_case_load(cx, work, &place, out);
}

enum mr_code mr_work_archived_case(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_place *out)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_place_find(cx, work, MR_WORK_CASE, ref, &place);

	if (!rc && place.kind != MR_WORK_ARCHIVED_CASE)
		return mr_work_refuse(cx, MR_WORK_CASE_NOT_FOUND,
			"case %s is active: there is no archived case of that uid", place.uid);
	if (!rc)
		*out = place;
	return rc;
}

const char *mr_work_group_dir(struct mr_arena *arena, const char *group)
{
	return mr_work_join(arena, MR_WORK_CASES, group);
}

static bool is_own(const char *name)
{
	static const char *const names[] = { "case.md", "data", "drafts", "files", "notes.md",
		"views" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (mr_str_eq(name, names[i]))
			return true;
	return false;
}

static bool is_draft(const char *name)
{
	return name[0] != '.' && mr_str_ends(name, ".md");
}

enum mr_code mr_work_case_files(struct mr_ctx *cx, struct mr_work *work, const char *path,
	struct mr_texts *out)
{
	struct mr_texts top = { 0 }, drafts = { 0 }, files = { 0 }, all;
	enum mr_code rc = mr_work_list(cx, work, path, &top);

	if (!rc)
		rc = mr_work_list(cx, work, mr_work_join(cx->arena, path, "drafts"), &drafts);
	if (!rc)
		rc = mr_work_list(cx, work, mr_work_join(cx->arena, path, "files"), &files);
	if (rc)
		return rc;
	all = mr_work_ids_room(cx->arena, top.len + drafts.len + files.len);
	for (size_t i = 0; i < top.len; i++)
		if (!is_own(top.items[i]))
			mr_work_ids_put(&all, top.items[i]);
	for (size_t i = 0; i < drafts.len; i++)
		if (!is_draft(drafts.items[i]))
			mr_work_ids_put(&all, mr_work_join(cx->arena, "drafts", drafts.items[i]));
	for (size_t i = 0; i < files.len; i++)
		mr_work_ids_put(&all, mr_work_join(cx->arena, "files", files.items[i]));
	*out = all;
	return MR_OK;
}

/* --- is work under way? --- */

static enum mr_code refuse_drafts(struct mr_ctx *cx, const char *uid, const struct mr_texts *names)
{
	static const char *const verbs[] = { "validate", "save", "send" };
	struct mr_texts suggested = mr_work_ids_room(cx->arena, 4);

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		mr_work_ids_put(&suggested,
			mr_arena_printf(cx->arena, "afmail case draft %s %s DRAFT_NAME", verbs[i],
				uid));
	mr_work_ids_put(&suggested,
		mr_arena_printf(cx->arena, "afmail case draft remove %s DRAFT_NAME --reason TEXT",
			uid));
	mr_work_refuse(cx, MR_WORK_CASE_HAS_LOCAL_DRAFTS, "case %s has drafts: %s", uid,
		mr_str_join(cx->arena, names, ", "));
	mr_work_detail_text(cx, "case_uid", uid);
	mr_work_detail_texts(cx, "draft_names", names);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

static enum mr_code refuse_outbound(struct mr_ctx *cx, const char *uid, const struct mr_texts *ids)
{
	static const char *commands[] = { "afmail push list", "afmail push",
		"afmail push --confirm", NULL };
	static const struct mr_texts suggested = { commands, 3 };

	mr_work_refuse(cx, MR_WORK_CASE_HAS_OUTBOUND_PUSH, "case %s has queued mail: %s", uid,
		mr_str_join(cx->arena, ids, ", "));
	mr_work_detail_text(cx, "case_uid", uid);
	mr_work_detail_texts(cx, "push_ids", ids);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

static enum mr_code check_drafts(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, bool but_saved)
{
	struct mr_work_draft_states states = { 0 };
	struct mr_texts found = { 0 }, names;
	enum mr_code rc =
		mr_work_list(cx, work, mr_work_join(cx->arena, collection->path, "drafts"), &found);

	if (!rc && but_saved && found.len)
		rc = mr_work_draft_states_load(cx, work, collection->path, &states);
	if (rc)
		return rc;
	names = mr_work_ids_room(cx->arena, found.len);
	for (size_t i = 0; i < found.len; i++)
		if (is_draft(found.items[i]) &&
			!(but_saved &&
				mr_work_draft_is_saved(cx, work, &states, collection->path,
					found.items[i])))
			mr_work_ids_put(&names, found.items[i]);
	return names.len ? refuse_drafts(cx, collection->uid, &names) : MR_OK;
}

enum mr_code mr_work_case_check_idle(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, bool but_saved)
{
	struct mr_work_push_items queue = { 0 };
	struct mr_texts ids;
	enum mr_code rc = check_drafts(cx, work, collection, but_saved);

	if (!rc)
		rc = mr_work_queue_load(cx, work, &queue);
	if (rc)
		return rc;
	ids = mr_work_ids_room(cx->arena, queue.len);
	for (size_t i = 0; i < queue.len; i++)
		if (queue.items[i].kind == MR_WORK_PUSH_OUTBOUND &&
			mr_str_eq(queue.items[i].case_uid, collection->uid))
			mr_work_ids_put(&ids, queue.items[i].push_id);
	return ids.len ? refuse_outbound(cx, collection->uid, &ids) : MR_OK;
}
