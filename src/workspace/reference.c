/* workspace/reference.c - finds what refers to a message, and refuses what that forbids. */
#include "workspace/reference.h"

#include "workspace/collection.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/layout.h"

#include <string.h>

/* --- drafts --- */

struct line {
	const char *text;
	size_t len;
};

/* Take the next line off `rest`, without its end; false when nothing is left. */
static bool next_line(struct mr_bytes *rest, struct line *out)
{
	const uint8_t *end = rest->len ? memchr(rest->data, '\n', rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->data) : rest->len;

	if (!rest->len)
		return false;
	*out = (struct line){ (const char *)rest->data, len };
	rest->data += len + (end != NULL);
	rest->len -= len + (end != NULL);
	while (out->len && strchr("\r \t", out->text[out->len - 1]))
		out->len--;
	return true;
}

static bool is_rule(const struct line *line)
{
	return line->len == 3 && memcmp(line->text, "---", 3) == 0;
}

/*
 * The message that a draft answers, or NULL. Only this one line of its front matter is looked at,
 * so that a draft that is broken elsewhere still holds its message.
 */
static const char *answered_by(struct mr_arena *arena, struct mr_bytes draft)
{
	static const char key[] = "reply_to_message_id:";
	struct line line;

	if (!next_line(&draft, &line) || !is_rule(&line))
		return NULL;
	while (next_line(&draft, &line) && !is_rule(&line)) {
		char *value;
		size_t len;

		if (line.len < strlen(key) || memcmp(line.text, key, strlen(key)) != 0)
			continue;
		value = mr_str_trim(arena,
			mr_arena_strndup(arena, line.text + strlen(key), line.len - strlen(key)));
		len = strlen(value);
		if (len >= 2 && strchr("\"'", value[0]) && value[len - 1] == value[0])
			value = mr_arena_strndup(arena, value + 1, len - 2);
		return *value ? value : NULL;
	}
	return NULL;
}

static void add_draft(struct mr_ctx *cx, struct mr_work_holds *holds, size_t *cap,
	const struct mr_work_held *draft)
{
	if (holds->draft_count == *cap) {
		struct mr_work_held *grown;

		*cap = *cap ? *cap * 2 : 16;
		grown = mr_arena_array(cx->arena, *cap, sizeof(*grown));
		if (holds->draft_count)
			memcpy(grown, holds->drafts, holds->draft_count * sizeof(*grown));
		holds->drafts = grown;
	}
	holds->drafts[holds->draft_count++] = *draft;
}

static enum mr_code load_drafts(struct mr_ctx *cx, struct mr_work *work, const char *case_path,
	struct mr_work_holds *holds, size_t *cap)
{
	const char *dir = mr_work_join(cx->arena, case_path, "drafts");
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, dir, &names);

	for (size_t i = 0; !rc && i < names.len; i++) {
		struct mr_work_held draft = { .path = mr_work_join(cx->arena, dir,
						      names.items[i]) };
		struct mr_err kept = cx->err;
		struct mr_bytes bytes = { 0 };

		if (!mr_str_ends(names.items[i], ".md") || names.items[i][0] == '.')
			continue;
		if (mr_work_read_opt(cx, work, draft.path, &bytes)) {
			cx->err = kept; /* a file that cannot be read holds nothing */
			continue;
		}
		draft.message_id = answered_by(cx->arena, bytes);
		if (draft.message_id)
			add_draft(cx, holds, cap, &draft);
	}
	return rc;
}

enum mr_code mr_work_holds_load(struct mr_ctx *cx, struct mr_work *work, struct mr_work_holds *out)
{
	struct mr_work_holds holds = { 0 };
	struct mr_work_places places = { 0 };
	size_t cap = 0;
	enum mr_code rc = mr_work_places(cx, work, MR_WORK_ACTIVE_CASE, &places);

	for (size_t i = 0; !rc && i < places.len; i++)
		rc = load_drafts(cx, work, places.items[i].path, &holds, &cap);
	if (!rc)
		rc = mr_work_queue_load(cx, work, &holds.queue);
	if (!rc)
		*out = holds;
	return rc;
}

enum mr_code mr_work_holds_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_holds **out)
{
	struct mr_work_holds *holds;
	struct mr_ctx own = *cx;
	enum mr_code rc;

	*out = work->holds;
	if (work->holds)
		return MR_OK;
	/* Whose arena `cx` has, and how long it lives, is not known here. */
	mr_arena_freep(&work->holds_arena);
	work->holds_arena = mr_arena_new();
	own.arena = work->holds_arena;
	holds = mr_arena_alloc(own.arena, sizeof(*holds));
	rc = mr_work_holds_load(&own, work, holds);
	if (rc) {
		cx->err = own.err;
		cx->err.detail = NULL;
		return rc;
	}
	*out = work->holds = holds;
	return MR_OK;
}

/* --- references --- */

static bool is_pending_restore(const struct mr_work_push_item *item)
{
	return item->kind == MR_WORK_PUSH_MESSAGE_ACTION && item->action == MR_WORK_PUSH_RESTORE &&
		!mr_work_push_has_started(item);
}

static bool counts(const struct mr_work_push_item *item, const char *message_id,
	const struct mr_work_reference_rule *rule)
{
	return mr_work_push_concerns(item, message_id) &&
		!(rule->except_push_id && mr_str_eq(item->push_id, rule->except_push_id)) &&
		!(rule->but_restores && is_pending_restore(item));
}

static bool is_holding(enum mr_work_collection_kind kind)
{
	return kind == MR_WORK_ACTIVE_CASE || kind == MR_WORK_ARCHIVED_CASE ||
		kind == MR_WORK_NOTIFICATION;
}

enum mr_code mr_work_references_among(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const struct mr_work_holds *holds,
	const struct mr_work_reference_rule *rule, struct mr_texts *out_paths)
{
	struct mr_work_members members = { 0 };
	struct mr_texts paths;
	enum mr_code rc = mr_work_index_members(cx, work, message_id, &members);

	if (rc)
		return rc;
	paths = mr_work_ids_room(cx->arena, members.len + holds->draft_count + holds->queue.len);
	for (size_t i = 0; i < members.len; i++)
		if (is_holding(members.items[i].kind) &&
			!(rule->except_collection &&
				mr_str_eq(members.items[i].path, rule->except_collection)))
			mr_work_ids_put(&paths,
				mr_work_collection_file(cx->arena, members.items[i].kind,
					members.items[i].path));
	for (size_t i = 0; i < holds->draft_count; i++)
		if (mr_str_eq(holds->drafts[i].message_id, message_id))
			mr_work_ids_put(&paths, holds->drafts[i].path);
	for (size_t i = 0; i < holds->queue.len; i++)
		if (counts(&holds->queue.items[i], message_id, rule))
			mr_work_ids_put(&paths,
				mr_work_path_push(cx->arena, holds->queue.items[i].push_id));
	mr_work_ids_sort(&paths);
	*out_paths = paths;
	return MR_OK;
}

enum mr_code mr_work_references(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	const char *except_push_id, struct mr_texts *out_paths)
{
	struct mr_work_reference_rule rule = { .except_push_id = except_push_id };
	struct mr_work_holds holds = { 0 };
	enum mr_code rc = mr_work_holds_load(cx, work, &holds);

	return rc ? rc : mr_work_references_among(cx, work, message_id, &holds, &rule, out_paths);
}

enum mr_code mr_work_refuse_referenced(struct mr_ctx *cx, const char *message_id,
	const struct mr_texts *references)
{
	static const char *commands[] = { "afmail status", "afmail push list",
		"afmail case show CASE_REF", "afmail archive message show ARCHIVE_REF", NULL };
	static const struct mr_texts suggested = { commands, 4 };

	mr_work_refuse(cx, MR_WORK_MESSAGE_REFERENCED, "message %s is referred to by %s",
		message_id, mr_str_join(cx->arena, references, ", "));
	mr_work_detail_texts(cx, "references", references);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

enum mr_code mr_work_check_unreferenced(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id)
{
	struct mr_work_reference_rule rule = { .but_restores = true };
	struct mr_work_holds holds = { 0 };
	struct mr_texts paths = { 0 };
	enum mr_code rc = mr_work_holds_load(cx, work, &holds);

	if (!rc)
		rc = mr_work_references_among(cx, work, message_id, &holds, &rule, &paths);
	return !rc && paths.len ? mr_work_refuse_referenced(cx, message_id, &paths) : rc;
}

/* --- related messages --- */

static enum mr_code refuse_related(struct mr_ctx *cx, const char *message_id,
	const struct mr_texts *related)
{
	struct mr_texts suggested = mr_work_ids_room(cx->arena, related->len + 2);

	mr_work_ids_put(&suggested,
		mr_arena_printf(cx->arena,
			"afmail case create --name NAME --message %s --reason TEXT", message_id));
	for (size_t i = 0; i < related->len; i++)
		mr_work_ids_put(&suggested,
			mr_arena_printf(cx->arena, "afmail case add CASE_REF %s --reason TEXT",
				related->items[i]));
	mr_work_ids_put(&suggested, "afmail case archive CASE_REF --reason TEXT");
	mr_work_refuse(cx, MR_WORK_MESSAGE_HAS_RELATED,
		"message %s belongs to a conversation with %s", message_id,
		mr_str_join(cx->arena, related, ", "));
	mr_work_detail_text(cx, "message_id", message_id);
	mr_work_detail_texts(cx, "related_message_ids", related);
	return mr_work_detail_texts(cx, "suggested_commands", &suggested);
}

enum mr_code mr_work_check_unrelated_but(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, const struct mr_texts *together)
{
	struct mr_texts related = { 0 };
	enum mr_code rc = mr_work_index_related(cx, work, message_id, &related);

	if (rc)
		return rc;
	related = mr_work_ids_without(cx->arena, &related, together);
	return related.len ? refuse_related(cx, message_id, &related) : MR_OK;
}

enum mr_code mr_work_check_unrelated(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id)
{
	static const struct mr_texts nothing = { 0 };

	return mr_work_check_unrelated_but(cx, work, message_id, &nothing);
}

/* --- archiving --- */

static bool is_archive_item(const struct mr_work_push_item *item)
{
	return item->kind == MR_WORK_PUSH_MESSAGE_ACTION && item->action == MR_WORK_PUSH_ARCHIVE;
}

/* Is it archived here, and does no active case list it? */
static bool members_allow(const struct mr_work_members *members, const char *archiving_case,
	bool into_category)
{
	bool archived = into_category;

	for (size_t i = 0; i < members->len; i++) {
		const struct mr_work_member *member = &members->items[i];
		bool leaves = archiving_case && mr_str_eq(member->uid, archiving_case);

		if (member->kind == MR_WORK_ACTIVE_CASE && !leaves)
			return false;
		archived |= member->kind == MR_WORK_NOTIFICATION ||
			member->kind == MR_WORK_ARCHIVED_CASE ||
			(member->kind == MR_WORK_ACTIVE_CASE && leaves);
	}
	return archived;
}

/* Putting a message into a category withdraws what has not begun to discard it or bring it back. */
static bool is_withdrawn(const struct mr_work_push_item *item)
{
	return item->kind == MR_WORK_PUSH_MESSAGE_ACTION && !mr_work_push_has_started(item) &&
		(item->action == MR_WORK_PUSH_SPAM || item->action == MR_WORK_PUSH_TRASH ||
			item->action == MR_WORK_PUSH_RESTORE);
}

static bool is_free(const struct mr_work_holds *holds, const char *message_id, bool into_category)
{
	for (size_t i = 0; i < holds->draft_count; i++)
		if (mr_str_eq(holds->drafts[i].message_id, message_id))
			return false;
	for (size_t i = 0; i < holds->queue.len; i++) {
		const struct mr_work_push_item *item = &holds->queue.items[i];

		if (mr_work_push_concerns(item, message_id) && !is_archive_item(item) &&
			!(into_category && is_withdrawn(item)))
			return false;
	}
	return true;
}

static enum mr_code is_archivable(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	const struct mr_work_holds *holds, const char *archiving_case, bool into_category,
	bool *out)
{
	struct mr_work_members members = { 0 };
	enum mr_code rc = mr_work_index_members(cx, work, message_id, &members);

	if (!rc)
		*out = members_allow(&members, archiving_case, into_category) &&
			is_free(holds, message_id, into_category);
	return rc;
}

enum mr_code mr_work_is_archivable(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	const char *archiving_case, bool into_category, bool *out)
{
	struct mr_work_holds holds = { 0 };
	enum mr_code rc = mr_work_holds_load(cx, work, &holds);

	return rc ? rc
		  : is_archivable(cx, work, message_id, &holds, archiving_case, into_category, out);
}

enum mr_code mr_work_is_archivable_now(struct mr_ctx *cx, struct mr_work *work,
	const char *message_id, bool *out)
{
	const struct mr_work_holds *holds = NULL;
	enum mr_code rc = mr_work_holds_get(cx, work, &holds);

	return rc ? rc : is_archivable(cx, work, message_id, holds, NULL, false, out);
}

static bool is_being_archived(const struct mr_work_holds *holds, const char *message_id)
{
	for (size_t i = 0; i < holds->queue.len; i++)
		if (is_archive_item(&holds->queue.items[i]) &&
			mr_work_push_concerns(&holds->queue.items[i], message_id))
			return true;
	return false;
}

enum mr_code mr_work_eligible(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *message_ids, const char *archiving_case, bool into_category,
	struct mr_texts *out)
{
	struct mr_texts eligible = mr_work_ids_room(cx->arena, message_ids->len);
	struct mr_work_holds holds = { 0 };
	enum mr_code rc = MR_OK;

	if (message_ids->len)
		rc = mr_work_holds_load(cx, work, &holds);
	for (size_t i = 0; !rc && i < message_ids->len; i++) {
		bool may = false;

		rc = is_archivable(cx, work, message_ids->items[i], &holds, archiving_case,
			into_category, &may);
		if (!rc && may && !is_being_archived(&holds, message_ids->items[i]))
			mr_work_ids_put(&eligible, message_ids->items[i]);
	}
	if (!rc)
		*out = eligible;
	return rc;
}
