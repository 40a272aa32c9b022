/* workspace/notes.c - shows and changes notes.md. */
#include "workspace/notes.h"

#include "base/buf.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"
#include "workspace/templates.h"

#include <string.h>

/* --- from templates --- */

/* A context that has the language, to be continued and ended. */
static enum mr_code begin_context(struct mr_ctx *cx, struct mr_work *work, struct mr_out *out)
{
	const struct mr_work_config *config = NULL;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (rc)
		return rc;
	mr_out_init_tree(out, cx->arena);
	mr_out_map(out, NULL);
	mr_out_text(out, "language", mr_work_language_names[config->language]);
	return MR_OK;
}

enum mr_code mr_work_notes_new(struct mr_ctx *cx, struct mr_work *work, const char **out_text)
{
	struct mr_out context;
	enum mr_code rc = begin_context(cx, work, &context);

	if (rc)
		return rc;
	mr_out_end(&context);
	return mr_work_template_render(cx, work, MR_WORK_T_NOTES, mr_out_tree(&context), out_text);
}

enum mr_code mr_work_notes_merged(struct mr_ctx *cx, struct mr_work *work, const char *case_uid,
	const char *other_case_uid, const char *other_body, const char **out_text)
{
	struct mr_out context;
	enum mr_code rc = begin_context(cx, work, &context);

	if (rc)
		return rc;
	mr_out_text(&context, "case_uid", case_uid);
	mr_out_text(&context, "other_case_uid", other_case_uid);
	mr_out_text(&context, "other_body", other_body);
	mr_out_end(&context);
	return mr_work_template_render(cx, work, MR_WORK_T_NOTES_MERGE, mr_out_tree(&context),
		out_text);
}

/* --- the file --- */

static const char *replace_command(struct mr_arena *arena, const struct mr_work_place *place)
{
	static const char *const commands[] = {
		[MR_WORK_ACTIVE_CASE] = "case notes replace",
		[MR_WORK_ARCHIVED_CASE] = "archive case notes replace",
		[MR_WORK_NOTIFICATION] = "archive message notes replace",
	};

	return mr_arena_printf(arena, "afmail %s %s --text TEXT", commands[place->kind],
		place->uid);
}

static void describe(struct mr_ctx *cx, const struct mr_work_place *place,
	struct mr_work_notes *out)
{
	*out = (struct mr_work_notes){ .target_count = 1,
		.notes_path = mr_work_join(cx->arena, place->path, "notes.md") };
	out->targets = mr_arena_array(cx->arena, 2, sizeof(*out->targets));
	out->targets[0] =
		(struct mr_work_target){ place->kind == MR_WORK_NOTIFICATION ? "archive" : "case",
			place->uid };
}

/* The whole file; notes_missing. */
static enum mr_code read_notes(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, const char *path, struct mr_bytes *out)
{
	enum mr_code rc = mr_work_read_opt(cx, work, path, out);
	const char *command;

	if (rc || out->data)
		return rc;
	command = replace_command(cx->arena, place);
	mr_work_refuse(cx, MR_WORK_NOTES_MISSING, "%s is missing", path);
	mr_work_hint(cx, "Write new notes with notes replace: `%s`.", command);
	mr_work_detail_text(cx, "notes_path", path);
	return mr_work_detail_text(cx, "suggested_command", command);
}

enum mr_code mr_work_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_work_notes *out)
{
	struct mr_bytes bytes = { 0 };
	struct mr_work_notes notes;
	enum mr_code rc;

	describe(cx, place, &notes);
	rc = read_notes(cx, work, place, notes.notes_path, &bytes);
	if (rc)
		return rc;
	notes.text = mr_arena_strndup(cx->arena, (const char *)bytes.data, bytes.len);
	*out = notes;
	return MR_OK;
}

/* Write the notes with their event. The log gets length and hash of what was given, never the text.
 */
static enum mr_code put(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_place *place,
	const char *operation, const char *given, struct mr_bytes whole,
	struct mr_work_notes *notes)
{
	bool is_category = place->kind == MR_WORK_NOTIFICATION;
	bool is_append = mr_str_eq(operation, "append");
	struct mr_work_change change;
	struct mr_work_event event;

	notes->text_len_bytes = (int64_t)strlen(given);
	notes->text_hash = mr_arena_printf(cx->arena, "fnv1a64:%s",
		mr_work_fnv(cx->arena, mr_bytes_text(given)));
	mr_work_change_begin(cx, work, is_category ? "archive_notes" : "case_notes", &change);
	mr_work_change_write(&change, notes->notes_path, whole);
	mr_work_touch_collection(&change, place->path);
	mr_work_event_begin(&change,
		mr_arena_printf(cx->arena, "%s_notes_%s", is_category ? "archive_message" : "case",
			is_append ? "appended" : "replaced"),
		notes->targets, NULL, &event);
	mr_out_text(&event.out, "operation", operation);
	mr_out_text(&event.out, "notes_path", notes->notes_path);
	mr_out_int(&event.out, "text_len_bytes", notes->text_len_bytes);
	mr_out_text(&event.out, "text_hash", notes->text_hash);
	mr_work_event_end(&event);
	return mr_work_carry_out(cx, &change);
}

/* A text of whole lines: ends with a newline, unless there is none of it. */
static void put_lines(struct mr_buf *buf, const void *text, size_t len)
{
	mr_buf_add(buf, text, len);
	if (buf->len && buf->data[buf->len - 1] != '\n')
		mr_buf_putc(buf, '\n');
}

enum mr_code mr_work_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, const char *text, struct mr_work_notes *out)
{
	struct mr_buf whole MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bytes old = { 0 };
	struct mr_work_notes notes;
	enum mr_code rc;

	describe(cx, place, &notes);
	rc = read_notes(cx, work, place, notes.notes_path, &old);
	if (rc)
		return rc;
	mr_buf_init(&whole, MR_WORK_DOCUMENT_BYTES);
	put_lines(&whole, old.data, old.len);
	put_lines(&whole, text, strlen(text));
	if (mr_buf_check(&whole, notes.notes_path, &cx->err))
		return mr_work_store_error(cx);
	rc = put(cx, work, place, "append", text, mr_buf_bytes(&whole), &notes);
	if (!rc)
		*out = notes;
	return rc;
}

enum mr_code mr_work_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, const char *text, struct mr_work_notes *out)
{
	struct mr_buf whole MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_work_notes notes;
	enum mr_code rc;

	describe(cx, place, &notes);
	mr_buf_init(&whole, MR_WORK_DOCUMENT_BYTES);
	mr_buf_puts(&whole, text);
	if (!mr_str_ends(text, "\n"))
		mr_buf_putc(&whole, '\n');
	if (mr_buf_check(&whole, notes.notes_path, &cx->err))
		return mr_work_store_error(cx);
	rc = put(cx, work, place, "replace", text, mr_buf_bytes(&whole), &notes);
	if (!rc)
		*out = notes;
	return rc;
}
