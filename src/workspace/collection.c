/* workspace/collection.c - reads, changes and writes the document of a list of messages. */
#include "workspace/collection.h"

#include "text/time.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/text_set.h"

#include <string.h>

struct form {
	const char *file, *schema;
	enum mr_work_error invalid;
	/* Of dispositions, which there is one of each: their directory, uid, name and status. */
	const char *dir, *uid, *name, *status;
};

static const struct form forms[] = {
	[MR_WORK_ACTIVE_CASE] = { "case.json", "case", MR_WORK_CASE_METADATA_INVALID, NULL, NULL,
		NULL, "active" },
	[MR_WORK_ARCHIVED_CASE] = { "case.json", "case", MR_WORK_CASE_METADATA_INVALID, NULL, NULL,
		NULL, "archived" },
	[MR_WORK_NOTIFICATION] = { "notification.json", "notification",
		MR_WORK_ARCHIVE_MESSAGES_INVALID, NULL, NULL, NULL, NULL },
	[MR_WORK_SPAM] = { "spam.json", "spam", MR_WORK_DISPOSITION_MESSAGES_INVALID, "spam",
		"spam", "Spam", "spam" },
	[MR_WORK_TRASH] = { "trash.json", "trash", MR_WORK_DISPOSITION_MESSAGES_INVALID, "trash",
		"trash", "Trash", "trashed" },
	[MR_WORK_DELETED] = { "deleted.json", "deleted_remote",
		MR_WORK_DISPOSITION_MESSAGES_INVALID, "deleted", "deleted", "Remote Deleted",
		"deleted_remote" },
};

const char *mr_work_disposition_dir(enum mr_work_collection_kind kind)
{
	return forms[kind].dir;
}

static bool is_case(enum mr_work_collection_kind kind)
{
	return kind == MR_WORK_ACTIVE_CASE || kind == MR_WORK_ARCHIVED_CASE;
}

const char *mr_work_collection_file(struct mr_arena *arena, enum mr_work_collection_kind kind,
	const char *path)
{
	return mr_arena_printf(arena, "%s/data/%s", path, forms[kind].file);
}

/* --- reading --- */

static const char *const known[] = { "schema_name", "schema_version", "collection_uid",
	"collection_name", "status", "tags", "created_rfc3339", "updated_rfc3339",
	"archived_rfc3339", "message_count", "thread_count", "attachment_count",
	"last_message_rfc3339", "items", NULL };
static const char *const item_known[] = { "message_id", "summary", "added_rfc3339", NULL };

static bool is_blank(const char *text)
{
	return !text || !text[strspn(text, " \t\r\n")];
}

static void read_text(const struct mr_cursor *at, const char *key, const char **out)
{
	struct mr_cursor member = mr_cursor_key(at, key);

	mr_cursor_text_opt(&member, out);
}

static void read_count(const struct mr_cursor *at, const char *key, int64_t *out)
{
	struct mr_cursor member = mr_cursor_key(at, key);

	mr_cursor_int_opt(&member, 0, INT64_MAX, out);
}

/* A message that stands twice counts once, with the later summary. */
static void merge_item(struct mr_work_collection *collection, const struct mr_work_item *again)
{
	struct mr_work_item *item = mr_work_collection_item(collection, again->message_id);

	if (!is_blank(again->summary))
		item->summary = again->summary;
}

static void read_items(struct mr_ctx *cx, const struct mr_cursor *at,
	struct mr_work_collection *out)
{
	struct mr_cursor list = mr_cursor_key(at, "items");
	struct mr_work_text_set seen = { 0 };
	size_t len = 0;

	if (!mr_cursor_list(&list, &len))
		return;
	out->items = mr_arena_array(cx->arena, len + 1, sizeof(*out->items));
	for (size_t i = 0; i < len; i++) {
		struct mr_cursor item = mr_cursor_item(&list, i);
		struct mr_cursor id = mr_cursor_key(&item, "message_id");
		struct mr_work_item *to = &out->items[out->len];

		*to = (struct mr_work_item){ .added = "" };
		mr_cursor_only(&item, item_known);
		if (!mr_cursor_text(&id, &to->message_id))
			continue;
		if (!*to->message_id || strpbrk(to->message_id, "/\\") ||
			mr_str_eq(to->message_id, ".") || mr_str_eq(to->message_id, ".."))
			mr_cursor_refuse(&id, "is not a single path segment");
		read_text(&item, "summary", &to->summary);
		read_text(&item, "added_rfc3339", &to->added);
		if (mr_work_text_set_add(cx->arena, &seen, to->message_id))
			out->len++;
		else
			merge_item(out, to);
	}
}

static void read_members(struct mr_ctx *cx, const struct mr_cursor *at,
	struct mr_work_collection *out)
{
	struct mr_cursor uid = mr_cursor_key(at, "collection_uid");
	struct mr_cursor name = mr_cursor_key(at, "collection_name");
	struct mr_cursor tags = mr_cursor_key(at, "tags");

	mr_cursor_only(at, known);
	mr_cursor_text(&uid, &out->uid);
	mr_cursor_text(&name, &out->name);
	read_text(at, "status", &out->status);
	if (mr_cursor_is_present(&tags))
		mr_cursor_texts(&tags, &out->tags);
	read_text(at, "created_rfc3339", &out->created);
	read_text(at, "updated_rfc3339", &out->updated);
	read_text(at, "archived_rfc3339", &out->archived);
	read_text(at, "last_message_rfc3339", &out->last_message);
	read_count(at, "thread_count", &out->thread_count);
	read_count(at, "attachment_count", &out->attachment_count);
	read_items(cx, at, out);
}

static bool has_schema(const struct mr_value *document, const char *name)
{
	const struct mr_value *schema = mr_value_get(document, "schema_name");
	const struct mr_value *version = mr_value_get(document, "schema_version");

	return schema && schema->kind == MR_TEXT && mr_str_eq(schema->text, name) && version &&
		version->kind == MR_INT && version->integer == 1;
}

/* What the place says of the collection, before its document was read. */
static void from_place(struct mr_ctx *cx, enum mr_work_collection_kind kind, const char *path,
	struct mr_work_collection *out)
{
	*out = (struct mr_work_collection){ .kind = kind,
		.path = mr_arena_strdup(cx->arena, path),
		.uid = forms[kind].uid,
		.name = forms[kind].name,
		.status = forms[kind].status };
	if (kind == MR_WORK_ACTIVE_CASE) {
		const char *group = path + strlen(MR_WORK_CASES "/");
		const char *slash = strchr(group, '/');

		if (slash)
			out->group = mr_arena_strndup(cx->arena, group, (size_t)(slash - group));
	}
}

static enum mr_code check_uid(struct mr_ctx *cx, const char *file,
	const struct mr_work_collection *collection)
{
	enum mr_work_collection_kind kind = collection->kind;
	const char *dir = strrchr(collection->path, '/');
	const char *uid = forms[kind].uid;

	dir = dir ? dir + 1 : collection->path;
	if (!uid)
		(void)!mr_work_split_name(cx->arena,
			is_case(kind) ? MR_WORK_CASE : MR_WORK_CATEGORY, dir, &uid, NULL);
	if (mr_str_eq(uid, collection->uid))
		return MR_OK;
	return mr_work_refuse(cx,
		is_case(kind) ? MR_WORK_CASE_MESSAGES_INVALID : forms[kind].invalid,
		"%s has the uid %s, but its directory is %s", file, collection->uid,
		collection->path);
}

enum mr_code mr_work_collection_load(struct mr_ctx *cx, struct mr_work *work,
	enum mr_work_collection_kind kind, const char *path, struct mr_work_collection *out)
{
	const char *file = mr_work_collection_file(cx->arena, kind, path);
	const struct mr_value *document = NULL;
	struct mr_work_collection read;
	struct mr_issues issues;
	struct mr_cursor root;
	enum mr_code rc = mr_work_read_json(cx, work, file, &document);

	if (rc == MR_EFORMAT)
		return mr_work_refuse(cx, forms[kind].invalid, "%s", cx->err.msg);
	if (rc)
		return rc;
	from_place(cx, kind, path, &read);
	if (!document && forms[kind].uid) {
		*out = read;
		return MR_OK;
	}
	if (!document)
		return mr_work_refuse(cx, forms[kind].invalid, "%s is missing", file);
	if (!has_schema(document, forms[kind].schema))
		return mr_work_refuse(cx, forms[kind].invalid,
			"%s is not a document of schema %s, version 1", file, forms[kind].schema);
	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(document, &issues);
	read_members(cx, &root, &read);
	if (issues.len) {
		mr_err_issues(&cx->err, &issues, file);
		return mr_work_refuse(cx, forms[kind].invalid, "%s", cx->err.msg);
	}
	rc = check_uid(cx, file, &read);
	if (!rc)
		*out = read;
	return rc;
}

/* --- changing --- */

struct mr_work_item *mr_work_collection_item(const struct mr_work_collection *collection,
	const char *message_id)
{
	for (size_t i = 0; i < collection->len; i++)
		if (mr_str_eq(collection->items[i].message_id, message_id))
			return &collection->items[i];
	return NULL;
}

bool mr_work_collection_add(struct mr_ctx *cx, struct mr_work_collection *collection,
	const char *message_id, const char *summary, const char *added)
{
	struct mr_work_item *item = mr_work_collection_item(collection, message_id);
	struct mr_work_item *items;

	if (item) {
		if (!is_blank(summary))
			item->summary = mr_arena_strdup(cx->arena, summary);
		return false;
	}
	items = mr_arena_array(cx->arena, collection->len + 1, sizeof(*items));
	if (collection->len)
		memcpy(items, collection->items, collection->len * sizeof(*items));
	items[collection->len] = (struct mr_work_item){
		.message_id = mr_arena_strdup(cx->arena, message_id),
		.summary = is_blank(summary) ? NULL : mr_arena_strdup(cx->arena, summary),
		.added = mr_arena_strdup(cx->arena, added),
	};
	collection->items = items;
	collection->len++;
	return true;
}

bool mr_work_collection_remove(struct mr_work_collection *collection, const char *message_id)
{
	struct mr_work_item *item = mr_work_collection_item(collection, message_id);
	size_t after;

	if (!item)
		return false;
	after = collection->len - (size_t)(item - collection->items) - 1;
	memmove(item, item + 1, after * sizeof(*item));
	collection->len--;
	return true;
}

/* --- writing --- */

static void text_if(struct mr_out *out, const char *key, const char *text)
{
	if (text)
		mr_out_text(out, key, text);
}

const struct mr_value *mr_work_collection_value(struct mr_ctx *cx,
	const struct mr_work_collection *collection)
{
	const struct form *form = &forms[collection->kind];
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", form->schema);
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "collection_uid", collection->uid);
	mr_out_text(&out, "collection_name", collection->name);
	text_if(&out, "status", collection->status);
	if (is_case(collection->kind))
		mr_out_texts(&out, "tags", &collection->tags);
	text_if(&out, "created_rfc3339", collection->created);
	text_if(&out, "updated_rfc3339", collection->updated);
	text_if(&out, "archived_rfc3339", collection->archived);
	mr_out_int(&out, "message_count", (int64_t)collection->len);
	if (is_case(collection->kind)) {
		mr_out_int(&out, "thread_count", collection->thread_count);
		mr_out_int(&out, "attachment_count", collection->attachment_count);
		text_if(&out, "last_message_rfc3339", collection->last_message);
	}
	mr_out_list(&out, "items");
	for (size_t i = 0; i < collection->len; i++) {
		mr_out_map(&out, NULL);
		mr_out_text(&out, "message_id", collection->items[i].message_id);
		text_if(&out, "summary", collection->items[i].summary);
		mr_out_text(&out, "added_rfc3339", collection->items[i].added);
		mr_out_end(&out);
	}
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

enum mr_code mr_work_collection_save(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection)
{
	if (!collection->created)
		collection->created = change->work->now;
	collection->updated = change->work->now;
	mr_work_change_json(change,
		mr_work_collection_file(cx->arena, collection->kind, collection->path),
		mr_work_collection_value(cx, collection));
	mr_work_touch_collection(change, collection->path);
	return MR_OK;
}
