/* team/message_recall.c - rebuilds the result of a message sent before under the same
 * idempotency key. */
#include "base/buf.h"
#include "team/error.h"
#include "team/inbox.h"
#include "team/limits.h"
#include "team/message_private.h"
#include "team/message_sql.h"
#include "team/post.h"
#include "text/json.h"

enum { NOTES_BYTES = 1 << 20 };

const char *mr_team_sent_notes(struct mr_arena *arena, const struct mr_team_sent *sent)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;

	mr_buf_init(&text, NOTES_BYTES);
	if (!sent->auto_registered.len && !sent->blocked_count)
		return "";
	mr_json_init(&json, &text, MR_JSON_COMPACT);
	mr_json_begin_map(&json);
	mr_json_key(&json, "auto_registered");
	mr_json_begin_list(&json);
	for (size_t i = 0; i < sent->auto_registered.len; i++)
		mr_json_text(&json, sent->auto_registered.items[i]);
	mr_json_end(&json);
	mr_json_key(&json, "blocked");
	mr_json_begin_list(&json);
	for (size_t i = 0; i < sent->blocked_count; i++) {
		mr_json_begin_list(&json);
		mr_json_text(&json, sent->blocked[i].name);
		mr_json_text(&json, sent->blocked[i].project);
		mr_json_text(&json, sent->blocked[i].reason);
		mr_json_end(&json);
	}
	mr_json_end(&json);
	mr_json_end(&json);
	return text.failed ? "" : mr_arena_strdup(arena, mr_buf_text(&text));
}

static void read_blocked(struct mr_arena *arena, const struct mr_value *list,
	struct mr_team_sent *out)
{
	out->blocked = mr_arena_array(arena, list->list.len, sizeof(*out->blocked));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		if (one->kind != MR_LIST || one->list.len != 3)
			continue;
		out->blocked[out->blocked_count++] = (struct mr_team_blocked){
			.name = one->list.items[0].text,
			.project = one->list.items[1].text,
			.reason = one->list.items[2].text,
		};
	}
}

/* Notes that cannot be parsed are ignored: the message itself is answer enough. */
static void read_notes(struct mr_arena *arena, const char *notes, struct mr_team_sent *out)
{
	const struct mr_value *value = NULL;
	const struct mr_value *list;
	struct mr_err err;

	if (!*notes || mr_json_parse(arena, mr_bytes_text(notes), NULL, &value, &err))
		return;
	list = mr_value_get(value, "auto_registered");
	if (list && list->kind == MR_LIST) {
		out->auto_registered.items = mr_arena_array(arena, list->list.len + 1,
			sizeof(*out->auto_registered.items));
		for (size_t i = 0; i < list->list.len; i++)
			out->auto_registered.items[out->auto_registered.len++] =
				list->list.items[i].text;
	}
	list = mr_value_get(value, "blocked");
	if (list && list->kind == MR_LIST)
		read_blocked(arena, list, out);
}

static enum mr_code read_recipients(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_recipients *rows, struct mr_team_sent *out)
{
	enum mr_code rc = MR_OK;

	out->recipients.items =
		mr_arena_array(cx->arena, rows->len, sizeof(*out->recipients.items));
	for (size_t i = 0; !rc && i < rows->len; i++) {
		struct mr_team_addressee *one = &out->recipients.items[i];
		struct mr_team_project project;

		rc = mr_team_agent_get(cx, db, rows->items[i].agent_id, &one->agent);
		if (!rc)
			rc = mr_team_project_get(cx, db, rows->items[i].project_id, &project);
		if (rc)
			return rc;
		one->project_slug = project.slug;
		one->project_key = project.human_key;
		one->kind = rows->items[i].kind;
	}
	out->recipients.len = rows->len;
	return MR_OK;
}

enum mr_code mr_team_sent_recall(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	const char *notes, struct mr_team_sent *out)
{
	struct mr_team_recipients rows = { NULL, 0 };
	int64_t here;
	enum mr_code rc = mr_team_message_row(cx, db, message_id, &out->message);

	if (!rc)
		rc = mr_team_project_get(cx, db, out->message.project_id, &out->project);
	if (!rc)
		rc = mr_team_message_recipients(cx, db, message_id, &rows);
	if (!rc)
		rc = read_recipients(cx, db, &rows, out);
	if (rc)
		return rc;
	here = out->project.id;
	out->to = mr_team_post_names(cx->arena, here, &rows, MR_TEAM_TO);
	out->cc = mr_team_post_names(cx->arena, here, &rows, MR_TEAM_CC);
	out->bcc = mr_team_post_names(cx->arena, here, &rows, MR_TEAM_BCC);
	read_notes(cx->arena, notes, out);
	out->repeated = true;
	return MR_OK;
}
