/* op/work/render_draft.c - drafts on a terminal: lists, one in full, and what was done to one. */
#include "op/render_part.h"
#include "op/work/render_page.h"
#include "op/work/render_work.h"

static const char *line(struct mr_arena *arena, const struct mr_value *value, const char *key)
{
	return mr_part_line(arena, value, key);
}

static const char *subject_of(struct mr_arena *arena, const struct mr_value *draft)
{
	const char *subject = line(arena, draft, "subject");

	return *subject ? subject : "(no subject)";
}

/* "queued to be sent", or "" */
static const char *queued_as(const struct mr_value *draft)
{
	const char *action = mr_page_text(draft, "queued_action");

	return mr_str_eq(action, "send") ? "queued to be sent"
		: *action                ? "queued to be saved"
					 : "";
}

/* --- looking at them --- */

/* "files/a.pdf, files/b.txt (missing)" */
static const char *files_of(struct mr_arena *arena, const struct mr_value *draft)
{
	const struct mr_value *files = mr_part_list(draft, "attachments");
	const char *text = "";

	for (size_t i = 0; files && i < files->list.len; i++) {
		const struct mr_value *one = &files->list.items[i];

		text = mr_arena_printf(arena, "%s%s%s%s", text, i ? ", " : "",
			line(arena, one, "path"), mr_part_bool(one, "exists") ? "" : " (missing)");
	}
	return text;
}

static const char *state_of(struct mr_arena *arena, const struct mr_value *draft)
{
	const char *queued = queued_as(draft);
	const char *checked = mr_part_bool(draft, "validated_current") ? "checked"
		: *mr_page_text(draft, "last_validated_rfc3339") ? "changed since it was checked"
								 : "not checked yet";

	return *queued ? mr_arena_printf(arena, "%s, %s", queued, checked) : checked;
}

void mr_render_draft(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *body = mr_page_text(value, "body");

	mr_part_styled(out, how, mr_style_bold, subject_of(arena, value));
	mr_buf_putc(out, '\n');
	mr_page_head(out, how, "To", mr_part_names(arena, value, "to"));
	mr_page_head(out, how, "Cc", mr_part_names(arena, value, "cc"));
	mr_page_head(out, how, "Identity", line(arena, value, "identity"));
	mr_page_head(out, how, "Answers", line(arena, value, "reply_to_message_id"));
	mr_page_head(out, how, "Attached", files_of(arena, value));
	mr_page_head(out, how, "State", state_of(arena, value));
	mr_page_head(out, how, "File", line(arena, value, "draft_path"));
	mr_buf_putc(out, '\n');
	mr_render_text(out, body);
	mr_buf_putc(out, '\n');
}

void mr_render_draft_list(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct mr_grid_column columns[] = {
		{ .title = "draft", .fixed = true },
		{ .title = "to" },
		{ .title = "subject" },
		{ .title = "state" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");
	const char **cells, **styles;

	if (!list) {
		const char *uid = line(arena, value, "case_uid");

		mr_buf_printf(out, *uid ? "Case %s has no drafts.\n" : "There are no drafts.\n",
			uid);
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		bool is_valid = mr_part_bool(one, "draft_valid");
		const char *queued = queued_as(one);
		const char **row = cells + i * MR_LEN(columns);

		row[0] = line(arena, one, "draft_name");
		if (mr_value_get(one, "case_uid"))
			row[0] = mr_arena_printf(arena, "%s %s", line(arena, one, "case_uid"),
				row[0]);
		row[1] = mr_part_names(arena, one, "to");
		row[2] = subject_of(arena, one);
		row[3] = !is_valid ? line(arena, one, "draft_error") : *queued ? queued : "ready";
		styles[i] = is_valid ? NULL : mr_style_red;
	}
	mr_part_grid(out,
		&(struct mr_grid){ .columns = columns,
			.column_count = MR_LEN(columns),
			.cells = cells,
			.styles = styles,
			.rows = list->list.len },
		list, how, 0);
}

/* --- what was done to one --- */

void mr_render_draft_created(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out,
		"The draft is %s\nEdit it, then queue it: mailroom work case draft send %s %s\n",
		line(arena, value, "draft_path"), line(arena, value, "case_uid"),
		line(arena, value, "draft_name"));
}

void mr_render_draft_changed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *fields = mr_part_names(arena, value, "changed_fields");

	(void)how;
	if (*fields)
		mr_buf_printf(out, "Draft %s changed: %s.\n", line(arena, value, "draft_name"),
			fields);
	else
		mr_buf_printf(out, "Draft %s is as it was, and can be sent.\n",
			line(arena, value, "draft_name"));
}

void mr_render_draft_attached(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Draft %s %s %s, %s.\n", line(arena, value, "draft_name"),
		mr_part_bool(value, "already_present") ? "already has the file" : "has the file",
		line(arena, value, "attachment"),
		mr_page_count(arena, value, "size_bytes", "byte", "bytes"));
}

void mr_render_draft_valid(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Draft %s can be sent.\n", line(arena, value, "draft_name"));
}

void mr_render_draft_queued(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out,
		"Draft %s is queued to be %s. Nothing has left this machine; `mailroom work push` "
		"shows the queue.\n",
		line(arena, value, "draft_name"),
		mr_str_eq(mr_page_text(value, "action"), "send") ? "sent" : "saved on the server");
}

void mr_render_draft_removed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Draft %s is removed%s.\n", line(arena, value, "draft_name"),
		mr_part_bool(value, "queued_removed") ? ", and no longer queued" : "");
}
