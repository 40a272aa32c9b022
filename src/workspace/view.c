/* workspace/view.c - the views of triage, cases, categories and dispositions. */
#include "workspace/view.h"

#include "workspace/change_private.h"
#include "workspace/layout.h"
#include "workspace/suggestion.h"
#include "workspace/view_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- where they stand --- */

static bool is_case(enum mr_work_collection_kind kind)
{
	return kind == MR_WORK_ACTIVE_CASE || kind == MR_WORK_ARCHIVED_CASE;
}

const char *mr_work_view_path(struct mr_arena *arena, const struct mr_work_collection *collection)
{
	return mr_work_join(arena, collection->path,
		is_case(collection->kind)                          ? "case.md"
			: collection->kind == MR_WORK_NOTIFICATION ? "archive.md"
								   : "index.md");
}

static const char *member_dir(struct mr_arena *arena, const struct mr_work_collection *collection)
{
	return is_case(collection->kind) || collection->kind == MR_WORK_NOTIFICATION
		? mr_work_join(arena, collection->path, "views/messages")
		: collection->path;
}

const char *mr_work_view_member_path(struct mr_arena *arena,
	const struct mr_work_collection *collection, const char *message_id)
{
	return mr_arena_printf(arena, "%s/%s.md", member_dir(arena, collection), message_id);
}

/* --- words that depend on what was discarded --- */

struct disposition {
	const char *kind, *title[2], *label[2];
};

static const struct disposition *disposition_of(enum mr_work_collection_kind kind)
{
	static const struct disposition spam = { "spam_message", { "Spam", "垃圾邮件" },
		{ "Spam", "垃圾邮件" } };
	static const struct disposition trash = { "trash_message", { "Trash", "废弃邮件" },
		{ "Trash", "废弃邮件" } };
	static const struct disposition deleted = { "deleted_message",
		{ "Remote Deleted", "远端已删除" }, { "Remote Deleted", "远端已删除" } };

	return kind == MR_WORK_SPAM ? &spam : kind == MR_WORK_TRASH ? &trash : &deleted;
}

/* --- pieces --- */

static const char *language_tag(const struct mr_work_config *config)
{
	return config->language_bcp47 ? config->language_bcp47 : "en-US";
}

static const char *title_of(struct mr_ctx *cx, const struct mr_work_record *record)
{
	return mr_work_inline(cx->arena, record->subject ? record->subject : record->message_id);
}

/* --- triage --- */

static enum mr_code suggestions(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, struct mr_texts *out)
{
	struct mr_texts replied = { 0 };
	enum mr_code rc = mr_work_index_replied(cx, work, record->message_id, &replied);

	*out = (struct mr_texts){ 0 };
	for (size_t i = 0; !rc && i < replied.len; i++) {
		struct mr_work_members members = { 0 };

		rc = mr_work_index_members(cx, work, replied.items[i], &members);
		for (size_t k = 0; !rc && k < members.len; k++)
			if (members.items[k].kind == MR_WORK_ACTIVE_CASE)
				mr_work_texts_add(cx->arena, out, members.items[k].uid);
	}
	return rc;
}

static enum mr_code emit_related(struct mr_ctx *cx, struct mr_work *work, struct mr_out *out,
	const struct mr_texts *related)
{
	enum mr_code rc = MR_OK;

	mr_out_list(out, "related_messages");
	for (size_t i = 0; !rc && i < related->len; i++) {
		struct mr_work_record record;

		rc = mr_work_record_make(cx, work, related->items[i], &record);
		if (rc)
			break;
		mr_out_map(out, NULL);
		mr_out_value(out, "message", mr_work_record_value(cx, &record));
		mr_out_map(out, "view");
		mr_out_text(out, "direction", mr_work_direction_names[record.evidence.direction]);
		mr_out_text(out, "from", mr_work_cell(cx->arena, record.from));
		mr_out_text(out, "subject", mr_work_cell(cx->arena, record.subject));
		mr_out_text(out, "time", mr_work_record_time(&record));
		mr_out_text(out, "status", mr_work_status_names[record.status]);
		mr_out_end(out);
		mr_out_end(out);
	}
	mr_out_end(out);
	return rc;
}

static const char *reason_of(const struct mr_work_config *config, const struct mr_texts *suggested)
{
	if (!suggested->len)
		return "";
	return config->language == MR_WORK_ZH_CN ? "这封邮件回复了该事项中的一封邮件。"
						 : "The message answers one of this case.";
}

/* What an agent would do with the message; its texts are one line each. */
static void emit_suggestion(struct mr_ctx *cx, struct mr_out *out, const struct mr_work *work,
	const char *message_id)
{
	const struct mr_work_suggestion *found =
		work->suggestions ? mr_work_suggestion_of(work->suggestions, message_id) : NULL;

	if (!found)
		return;
	mr_out_map(out, "suggestion");
	mr_out_text(out, "action", found->action);
	mr_out_text(out, "target", found->target ? found->target : "");
	mr_out_text(out, "summary",
		found->summary ? mr_work_inline(cx->arena, found->summary) : "");
	mr_out_text(out, "reason", found->reason ? mr_work_inline(cx->arena, found->reason) : "");
	mr_out_end(out);
}

static void emit_triage_head(struct mr_ctx *cx, const struct mr_work *work,
	const struct mr_work_config *config, struct mr_out *out,
	const struct mr_work_record *record, const struct mr_texts *suggested,
	const char *generated)
{
	const char *ids[] = { record->message_id, NULL };
	struct mr_texts message_ids = { ids, 1 };

	mr_out_map(out, "frontmatter");
	mr_out_text(out, "kind", "triage_view");
	mr_out_text(out, "message_id", record->message_id);
	mr_out_texts(out, "message_ids", &message_ids);
	mr_out_text(out, "generated_rfc3339", generated);
	mr_out_int(out, "message_count", 1);
	mr_out_int(out, "attachment_count", (int64_t)record->attachment_count);
	mr_out_texts(out, "suggested_case_uids", suggested);
	mr_out_text(out, "suggested_reason", reason_of(config, suggested));
	mr_out_text(out, "suggested_reason_yaml", reason_of(config, suggested));
	emit_suggestion(cx, out, work, record->message_id);
	mr_out_end(out);
}

enum mr_code mr_work_view_triage(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_record *record, const char *generated, const char **out_text)
{
	const struct mr_work_config *config = NULL;
	struct mr_texts suggested = { 0 }, related = { 0 };
	const char *section = NULL;
	struct mr_out out;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		rc = mr_work_index_related(cx, work, record->message_id, &related);
	if (!rc)
		rc = suggestions(cx, work, record, &suggested);
	if (!rc)
		rc = mr_work_view_section(cx, work, record, MR_WORK_TRIAGE, &section);
	if (rc)
		return rc;
	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	emit_triage_head(cx, work, config, &out, record, &suggested, generated);
	mr_out_value(&out, "message", mr_work_record_value(cx, record));
	mr_out_map(&out, "view");
	mr_out_text(&out, "language", mr_work_language_names[config->language]);
	mr_out_text(&out, "title", title_of(cx, record));
	mr_out_text(&out, "generated_rfc3339", generated);
	mr_out_int(&out, "attachment_count", (int64_t)record->attachment_count);
	mr_out_texts(&out, "suggested_case_uids", &suggested);
	mr_out_text(&out, "suggested_reason", reason_of(config, &suggested));
	rc = emit_related(cx, work, &out, &related);
	if (rc)
		return rc;
	mr_out_text(&out, "conversation", mr_str_trim(cx->arena, section));
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_work_template_render(cx, work, MR_WORK_T_TRIAGE, mr_out_tree(&out), out_text);
}

/* --- indexes --- */

struct entry {
	const struct mr_work_item *item;
	struct mr_work_record record;
	bool newest_first;
};

static int by_time(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	int64_t x = left->record.evidence.has_time ? left->record.evidence.time_us : INT64_MIN;
	int64_t y = right->record.evidence.has_time ? right->record.evidence.time_us : INT64_MIN;
	int order = (x > y) - (x < y);

	if (order)
		return left->newest_first ? -order : order;
	return strcmp(left->record.message_id, right->record.message_id);
}

/* The members whose messages are there; doctor tells of the others. */
static enum mr_code load_entries(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, struct entry **out, size_t *out_len)
{
	struct entry *entries = mr_arena_array(cx->arena, collection->len + 1, sizeof(*entries));
	size_t len = 0;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < collection->len; i++) {
		struct mr_err kept = cx->err;

		rc = mr_work_record_make(cx, work, collection->items[i].message_id,
			&entries[len].record);
		if (rc == MR_ENOTFOUND || rc == MR_EFORMAT) {
			cx->err = kept;
			rc = MR_OK;
			continue;
		}
		entries[len].item = &collection->items[i];
		entries[len++].newest_first = !is_case(collection->kind);
	}
	*out = entries;
	*out_len = len;
	return rc;
}

static const char *link_to(struct mr_arena *arena, const struct mr_work_collection *collection,
	const char *message_id)
{
	return mr_work_view_member_path(arena, collection, message_id) + strlen(collection->path) +
		1;
}

static enum mr_code conversation_of(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const struct entry *entries, size_t len,
	const char **out)
{
	const char **sections = mr_arena_array(cx->arena, len + 1, sizeof(*sections));
	struct mr_texts texts = { sections, 0 };
	enum mr_code rc = MR_OK;

	for (; !rc && texts.len < len; texts.len++) {
		const char *section = NULL;

		rc = mr_work_view_section(cx, work, &entries[texts.len].record, collection->path,
			&section);
		if (!rc)
			sections[texts.len] = mr_str_trim(cx->arena, section);
	}
	if (!rc)
		*out = mr_str_join(cx->arena, &texts, "\n\n");
	return rc;
}

static void emit_items(struct mr_ctx *cx, const struct mr_work_config *config, struct mr_out *out,
	const struct mr_work_collection *collection, const struct entry *entries, size_t len)
{
	mr_out_list(out, "items");
	for (size_t i = 0; i < len; i++)
		mr_work_row_emit(cx, config, out, &entries[i].record,
			collection->kind >= MR_WORK_SPAM ? NULL : entries[i].item,
			link_to(cx->arena, collection, entries[i].record.message_id),
			is_case(collection->kind));
	mr_out_end(out);
}

static void emit_index_head(struct mr_out *out, const struct mr_work_collection *collection,
	size_t len, const char *generated)
{
	if (collection->kind == MR_WORK_NOTIFICATION)
		return;
	mr_out_map(out, "frontmatter");
	if (is_case(collection->kind)) {
		mr_out_text(out, "kind", "case_index");
		mr_out_text(out, "case_uid", collection->uid);
		mr_out_text(out, "case_name", collection->name);
	} else {
		const char *kind = disposition_of(collection->kind)->kind;
		char name[64];

		snprintf(name, sizeof(name), "%s_index", kind);
		mr_out_text(out, "kind", name);
		mr_out_text(out, "status", collection->status);
	}
	mr_out_text(out, "generated_rfc3339", generated);
	mr_out_int(out, "message_count", (int64_t)len);
	mr_out_end(out);
}

static void emit_container(struct mr_ctx *cx, const struct mr_work_config *config,
	struct mr_out *out, const struct mr_work_collection *collection,
	const struct entry *entries, size_t len)
{
	if (is_case(collection->kind)) {
		mr_out_value(out, "case", mr_work_collection_value(cx, collection));
		mr_out_list(out, "messages");
		for (size_t i = 0; i < len; i++)
			mr_out_value(out, NULL, mr_work_record_value(cx, &entries[i].record));
		mr_out_end(out);
	} else if (collection->kind == MR_WORK_NOTIFICATION) {
		mr_out_map(out, "archive");
		mr_out_text(out, "archive_uid", collection->uid);
		mr_out_text(out, "archive_name", collection->name);
		mr_out_end(out);
		mr_out_map(out, "config");
		mr_out_map(out, "archive");
		mr_out_map(out, "message_index");
		mr_out_texts(out, "item_fields", &config->item_fields);
		mr_out_end(out);
		mr_out_end(out);
		mr_out_end(out);
	}
}

static void emit_index_view(struct mr_ctx *cx, const struct mr_work_config *config,
	struct mr_out *out, const struct mr_work_collection *collection, size_t len,
	const char *generated, const char *conversation)
{
	mr_out_map(out, "view");
	mr_out_text(out, "language", language_tag(config));
	if (is_case(collection->kind)) {
		mr_out_text(out, "title", mr_work_inline(cx->arena, collection->name));
		mr_out_text(out, "status", collection->status);
		mr_out_text(out, "conversation", conversation);
	} else if (collection->kind >= MR_WORK_SPAM) {
		const struct disposition *words = disposition_of(collection->kind);

		mr_out_text(out, "status", collection->status);
		mr_out_text(out, "status_label", words->label[config->language]);
		mr_out_text(out, "status_dir", collection->path);
		mr_out_text(out, "title", words->title[config->language]);
	}
	mr_out_int(out, "message_count", (int64_t)len);
	mr_out_text(out, "generated_rfc3339", generated);
	mr_out_end(out);
}

enum mr_code mr_work_view_collection(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const char *generated, const char **out_text)
{
	const struct mr_work_config *config = NULL;
	const char *conversation = "";
	struct entry *entries = NULL;
	struct mr_out out;
	size_t len = 0;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		rc = load_entries(cx, work, collection, &entries, &len);
	/* The conversation is in the order of the list, the index in that of time. */
	if (!rc && is_case(collection->kind))
		rc = conversation_of(cx, work, collection, entries, len, &conversation);
	if (rc)
		return rc;
	if (len > 1)
		qsort(entries, len, sizeof(*entries), by_time);
	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	emit_index_head(&out, collection, len, generated);
	emit_container(cx, config, &out, collection, entries, len);
	emit_items(cx, config, &out, collection, entries, len);
	emit_index_view(cx, config, &out, collection, len, generated, conversation);
	mr_out_end(&out);
	return mr_work_template_render(cx, work,
		is_case(collection->kind)                          ? MR_WORK_T_CASE
			: collection->kind == MR_WORK_NOTIFICATION ? MR_WORK_T_ARCHIVE
								   : MR_WORK_T_STATUS_INDEX,
		mr_out_tree(&out), out_text);
}

/* --- one message of a list --- */

static void emit_member_head(struct mr_out *out, const struct mr_work_collection *collection,
	const struct mr_work_item *item, const char *generated)
{
	mr_out_map(out, "frontmatter");
	if (is_case(collection->kind)) {
		mr_out_text(out, "kind", "case_message");
		mr_out_text(out, "case_uid", collection->uid);
		mr_out_text(out, "case_name", collection->name);
		mr_out_text(out, "message_id", item->message_id);
	} else if (collection->kind == MR_WORK_NOTIFICATION) {
		mr_out_text(out, "kind", "archive_message");
		mr_out_text(out, "message_id", item->message_id);
		mr_out_text(out, "archive_uid", collection->uid);
		mr_out_text(out, "archive_name", collection->name);
		mr_out_text(out, "added_rfc3339", item->added);
	} else {
		mr_out_text(out, "kind", disposition_of(collection->kind)->kind);
		mr_out_text(out, "message_id", item->message_id);
		mr_out_text(out, "status", collection->status);
	}
	mr_out_text(out, "generated_rfc3339", generated);
	mr_out_end(out);
}

static void emit_member_container(struct mr_out *out, const struct mr_work_collection *collection,
	const struct mr_work_item *item)
{
	bool of_case = is_case(collection->kind);

	if (collection->kind >= MR_WORK_SPAM)
		return;
	mr_out_map(out, of_case ? "case" : "archive");
	mr_out_text(out, of_case ? "case_uid" : "archive_uid", collection->uid);
	mr_out_text(out, of_case ? "case_name" : "archive_name", collection->name);
	mr_out_end(out);
	if (of_case)
		return;
	mr_out_map(out, "item");
	mr_out_text(out, "message_id", item->message_id);
	if (item->summary)
		mr_out_text(out, "summary", item->summary);
	mr_out_text(out, "added_rfc3339", item->added);
	mr_out_end(out);
}

enum mr_code mr_work_view_member(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const struct mr_work_item *item,
	const struct mr_work_record *record, const char *generated, const char **out_text)
{
	const struct mr_work_config *config = NULL;
	const char *section = NULL;
	struct mr_out out;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		rc = mr_work_view_section(cx, work, record, member_dir(cx->arena, collection),
			&section);
	if (rc)
		return rc;
	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	emit_member_head(&out, collection, item, generated);
	emit_member_container(&out, collection, item);
	mr_out_value(&out, "message", mr_work_record_value(cx, record));
	mr_out_map(&out, "view");
	mr_out_text(&out, "language", language_tag(config));
	mr_out_text(&out, "title", title_of(cx, record));
	if (collection->kind == MR_WORK_NOTIFICATION) {
		mr_out_text(&out, "summary", item->summary ? item->summary : "");
		mr_out_text(&out, "added_rfc3339", item->added);
	} else if (collection->kind >= MR_WORK_SPAM) {
		mr_out_text(&out, "status", collection->status);
		mr_out_text(&out, "status_label",
			disposition_of(collection->kind)->label[config->language]);
	}
	mr_out_text(&out, "generated_rfc3339", generated);
	mr_out_text(&out, "conversation", mr_str_trim(cx->arena, section));
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_work_template_render(cx, work,
		is_case(collection->kind)                          ? MR_WORK_T_CASE_MESSAGE
			: collection->kind == MR_WORK_NOTIFICATION ? MR_WORK_T_ARCHIVE_MESSAGE
								   : MR_WORK_T_STATUS_MESSAGE,
		mr_out_tree(&out), out_text);
}

static enum mr_code fresh_text(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind kind, const char *path, const char **out_text)
{
	struct mr_work_collection collection = { 0 };
	enum mr_code rc = mr_work_collection_load(cx, work, kind, path, &collection);

	return rc ? rc : mr_work_view_collection(cx, work, &collection, work->now, out_text);
}

enum mr_code mr_work_view_case(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const char **out_text)
{
	return fresh_text(cx, work,
		mr_str_starts(path, MR_WORK_ARCHIVED_CASES "/") ? MR_WORK_ARCHIVED_CASE
								: MR_WORK_ACTIVE_CASE,
		path, out_text);
}

enum mr_code mr_work_view_category(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const char **out_text)
{
	return fresh_text(cx, work, MR_WORK_NOTIFICATION, path, out_text);
}
