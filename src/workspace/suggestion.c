/* workspace/suggestion.c - reads and writes suggestions for messages in triage. */
#include "workspace/suggestion.h"

#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/layout.h"

#include <stdlib.h>
#include <string.h>

const char *const mr_work_suggested_names[] = { "case", "archive", "spam", "trash", NULL };

/* --- the document --- */

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool is_action(const char *word)
{
	for (size_t i = 0; mr_work_suggested_names[i]; i++)
		if (mr_str_eq(mr_work_suggested_names[i], word))
			return true;
	return false;
}

static int by_message(const void *a, const void *b)
{
	const struct mr_work_suggestion *one = a, *other = b;

	return strcmp(one->message_id, other->message_id);
}

static bool read_items(struct mr_ctx *cx, const struct mr_value *document,
	struct mr_work_suggestions *out)
{
	const struct mr_value *list = mr_value_get(document, "items");

	if (!mr_str_eq(text_of(document, "schema_name"), "suggestions") || !list ||
		list->kind != MR_LIST)
		return false;
	out->items = mr_arena_array(cx->arena, list->list.len + 1, sizeof(*out->items));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *from = &list->list.items[i];
		struct mr_work_suggestion *item = &out->items[out->len++];

		*item = (struct mr_work_suggestion){ .message_id = text_of(from, "message_id"),
			.action = text_of(from, "action"),
			.target = text_of(from, "target"),
			.summary = text_of(from, "summary"),
			.reason = text_of(from, "reason"),
			.created_rfc3339 = text_of(from, "created_rfc3339") };
		if (!item->message_id || !is_action(item->action))
			return false;
	}
	qsort(out->items, out->len, sizeof(*out->items), by_message);
	return true;
}

enum mr_code mr_work_suggestions_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestions **out)
{
	const struct mr_value *document = NULL;
	struct mr_work_suggestions *all;
	enum mr_code rc = MR_OK;

	if (!work->suggestions) {
		all = mr_arena_alloc(cx->arena, sizeof(*all));
		rc = mr_work_read_json(cx, work, MR_WORK_SUGGESTIONS, &document);
		if (rc)
			return rc;
		if (document && !read_items(cx, document, all)) {
			mr_work_refuse(cx, MR_WORK_STORE_ERROR, "%s is no list of suggestions",
				MR_WORK_SUGGESTIONS);
			return mr_work_hint(cx, "Correct the file, or delete it.");
		}
		work->suggestions = all;
	}
	*out = work->suggestions;
	return rc;
}

void mr_work_suggestions_warm(struct mr_ctx *cx, struct mr_work *work)
{
	const struct mr_work_suggestions *ignored = NULL;
	struct mr_err kept = cx->err;

	if (mr_work_suggestions_get(cx, work, &ignored))
		cx->err = kept;
}

const struct mr_work_suggestion *mr_work_suggestion_of(const struct mr_work_suggestions *all,
	const char *message_id)
{
	struct mr_work_suggestion wanted = { .message_id = message_id };

	return all->len ? bsearch(&wanted, all->items, all->len, sizeof(wanted), by_message) : NULL;
}

static void text_if(struct mr_out *out, const char *key, const char *text)
{
	if (text)
		mr_out_text(out, key, text);
}

static void emit_suggestion(struct mr_out *out, const struct mr_work_suggestion *item)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "message_id", item->message_id);
	mr_out_text(out, "action", item->action);
	text_if(out, "target", item->target);
	text_if(out, "summary", item->summary);
	text_if(out, "reason", item->reason);
	text_if(out, "created_rfc3339", item->created_rfc3339);
	mr_out_end(out);
}

bool mr_work_is_waiting(struct mr_ctx *cx, struct mr_work *work, const char *message_id)
{
	struct mr_work_brief brief = { 0 };
	struct mr_err kept = cx->err;

	if (!mr_work_index_message(cx, work, message_id, &brief))
		return brief.status == MR_WORK_IS_TRIAGE;
	cx->err = kept;
	return false;
}

void mr_work_suggestions_save(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_suggestions *all, const char *message_id,
	const struct mr_work_suggestion *added)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "suggestions");
	mr_out_int(&out, "schema_version", 1);
	mr_out_list(&out, "items");
	for (size_t i = 0; i < all->len; i++) {
		const struct mr_work_suggestion *item = &all->items[i];

		if (added && strcmp(item->message_id, message_id) > 0) {
			emit_suggestion(&out, added);
			added = NULL;
		}
		if (!mr_str_eq(item->message_id, message_id) &&
			mr_work_is_waiting(cx, change->work, item->message_id))
			emit_suggestion(&out, item);
	}
	if (added)
		emit_suggestion(&out, added);
	mr_out_end(&out);
	mr_out_end(&out);
	mr_work_change_json(change, MR_WORK_SUGGESTIONS, mr_out_tree(&out));
	mr_work_touch_message(change, message_id);
}
