/* workspace/remote.c - reads and writes the remote locations of a message. */
#include "workspace/remote.h"

#include "workspace/error.h"
#include "workspace/layout.h"

#include <stdlib.h>
#include <string.h>

static const char *const known[] = { "schema_name", "schema_version", "message_id", "locations",
	NULL };
static const char *const location_known[] = { "mailbox_name", "mailbox_id", "uid_validity", "uid",
	"flags", "observed_rfc3339", "missing_rfc3339", NULL };

static void read_location(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_work_location *out)
{
	struct mr_cursor name = mr_cursor_key(at, "mailbox_name");
	struct mr_cursor id = mr_cursor_key(at, "mailbox_id");
	struct mr_cursor validity = mr_cursor_key(at, "uid_validity");
	struct mr_cursor uid = mr_cursor_key(at, "uid");
	struct mr_cursor flags = mr_cursor_key(at, "flags");
	struct mr_cursor observed = mr_cursor_key(at, "observed_rfc3339");
	struct mr_cursor missing = mr_cursor_key(at, "missing_rfc3339");

	*out = (struct mr_work_location){ .observed = "" };
	mr_cursor_only(at, location_known);
	mr_cursor_text(&name, &out->mailbox_name);
	mr_cursor_text_opt(&id, &out->mailbox_id);
	out->has_uid = mr_cursor_int_opt(&validity, 0, UINT32_MAX, &out->uid_validity);
	if (!mr_cursor_int_opt(&uid, 0, UINT32_MAX, &out->uid))
		out->has_uid = false;
	if (mr_cursor_is_present(&flags))
		mr_cursor_texts(&flags, &out->flags);
	out->flags = mr_work_flags(arena, &out->flags);
	mr_cursor_text_opt(&observed, &out->observed);
	mr_cursor_text_opt(&missing, &out->missing);
}

static void check_head(const struct mr_cursor *root, const char *message_id)
{
	struct mr_cursor name = mr_cursor_key(root, "schema_name");
	struct mr_cursor version = mr_cursor_key(root, "schema_version");
	struct mr_cursor id = mr_cursor_key(root, "message_id");
	const char *text = NULL;
	int64_t number = 0;

	mr_cursor_only(root, known);
	if (mr_cursor_text(&name, &text) && !mr_str_eq(text, "message_remote"))
		mr_cursor_refuse(&name, "is not message_remote");
	mr_cursor_int(&version, 1, 1, &number);
	if (mr_cursor_text(&id, &text) && !mr_str_eq(text, message_id))
		mr_cursor_refuse(&id, "is not the message of this file");
}

enum mr_code mr_work_remote_load(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	struct mr_work_locations *out)
{
	const char *path = mr_work_path_remote(cx->arena, message_id);
	const struct mr_value *document = NULL;
	struct mr_work_locations read = { 0 };
	struct mr_issues issues;
	struct mr_cursor root, list;
	size_t len = 0;
	enum mr_code rc = mr_work_read_json(cx, work, path, &document);

	if (rc == MR_EFORMAT)
		return mr_work_refuse(cx, MR_WORK_MESSAGE_REMOTE_INVALID, "%s", cx->err.msg);
	if (rc)
		return rc;
	if (document) {
		mr_issues_init(&issues, cx->arena);
		root = mr_cursor_root(document, &issues);
		check_head(&root, message_id);
		list = mr_cursor_key(&root, "locations");
		if (mr_cursor_list(&list, &len))
			read.items = mr_arena_array(cx->arena, len + 1, sizeof(*read.items));
		for (; read.len < len; read.len++) {
			struct mr_cursor item = mr_cursor_item(&list, read.len);

			read_location(cx->arena, &item, &read.items[read.len]);
		}
		if (issues.len) {
			mr_err_issues(&cx->err, &issues, path);
			return mr_work_refuse(cx, MR_WORK_MESSAGE_REMOTE_INVALID, "%s",
				cx->err.msg);
		}
	}
	*out = read;
	return MR_OK;
}

static void emit_location(struct mr_out *out, const struct mr_work_location *location)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "mailbox_name", location->mailbox_name);
	if (location->mailbox_id)
		mr_out_text(out, "mailbox_id", location->mailbox_id);
	if (location->has_uid) {
		mr_out_int(out, "uid_validity", location->uid_validity);
		mr_out_int(out, "uid", location->uid);
	}
	mr_out_texts(out, "flags", &location->flags);
	mr_out_text(out, "observed_rfc3339", location->observed);
	mr_out_text(out, "missing_rfc3339", location->missing);
	mr_out_end(out);
}

void mr_work_remote_emit(struct mr_out *out, const char *key,
	const struct mr_work_locations *locations)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < locations->len; i++)
		emit_location(out, &locations->items[i]);
	mr_out_end(out);
}

const struct mr_value *mr_work_remote_value(struct mr_ctx *cx, const char *message_id,
	const struct mr_work_locations *locations)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "message_remote");
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "message_id", message_id);
	mr_work_remote_emit(&out, "locations", locations);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

void mr_work_remote_save(struct mr_work_change *change, const char *message_id,
	const struct mr_work_locations *locations)
{
	const char *path = mr_work_path_remote(change->cx->arena, message_id);

	if (locations->len)
		mr_work_change_json(change, path,
			mr_work_remote_value(change->cx, message_id, locations));
	else
		mr_work_change_remove(change, path);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct mr_texts mr_work_flags(struct mr_arena *arena, const struct mr_texts *flags)
{
	const char **items = mr_arena_array(arena, flags->len + 1, sizeof(*items));
	size_t len = 0, kept = 0;

	for (size_t i = 0; i < flags->len; i++)
		if (!mr_str_eq_nocase(flags->items[i], "\\Recent"))
			items[len++] = flags->items[i];
	if (len)
		qsort(items, len, sizeof(*items), by_bytes);
	for (size_t i = 0; i < len; i++)
		if (!kept || !mr_str_eq(items[kept - 1], items[i]))
			items[kept++] = items[i];
	items[kept] = NULL;
	return (struct mr_texts){ items, kept };
}

bool mr_work_location_is_usable(const struct mr_work_location *location)
{
	return !location->missing && location->has_uid;
}
