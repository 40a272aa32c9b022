/* op/work/render_message.c - messages of a workspace on a terminal: lists, one in full, and what
 * was done to them. */
#include "op/work/render_work.h"
#include "text/time.h"

#include <string.h>

enum {
	WIDE = 110, /* columns that have room for ids beside senders and subjects */
	HEAD_WIDTH = 10,
	TABLE_BYTES = 64 << 20,
};

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

static size_t len_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *list = mr_part_list(map, key);

	return list ? list->list.len : 0;
}

static const char *subject_of(struct mr_arena *arena, const struct mr_value *message)
{
	const char *subject = mr_part_line(arena, message, "subject");

	return *subject ? subject : "(no subject)";
}

/* "2026-05-04 09:00", in UTC. */
static const char *date_of(struct mr_arena *arena, const struct mr_value *map, const char *key)
{
	static const struct mr_render written = { 0 };

	return mr_arena_printf(arena, "%.16s", mr_render_when(arena, map, key, &written));
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* --- lists --- */

/* The rows of a table with a line below each: its first line is the heading. */
static void put_with_ids(struct mr_buf *out, const char *table, const struct mr_value *list,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t row = 0;

	for (bool is_heading = true; *table; is_heading = false) {
		size_t len = strcspn(table, "\n") + 1;

		mr_buf_add(out, table, len);
		table += len;
		if (is_heading || row == list->list.len)
			continue;
		mr_part_styled(out, how, mr_style_dim,
			mr_arena_printf(arena, "  %s",
				mr_part_line(arena, &list->list.items[row], "message_id")));
		mr_buf_putc(out, '\n');
		row++;
	}
}

struct shown {
	bool status, files, ids;
};

static void fill_row(struct mr_arena *arena, const struct mr_value *one, const struct shown *shown,
	const char **row)
{
	int64_t files = mr_part_int(one, "attachment_count");

	*row++ = date_of(arena, one, "time");
	*row++ = mr_part_line(arena, one, "from");
	*row++ = subject_of(arena, one);
	if (shown->files)
		*row++ = files ? mr_part_number(arena, one, "attachment_count") : "";
	if (shown->status)
		*row++ = mr_part_line(arena, one, "status");
	if (shown->ids)
		*row = mr_part_line(arena, one, "message_id");
}

static void put_table(struct mr_buf *out, const struct mr_value *list, bool has_status,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf table MR_CLEANUP(mr_buf_release) = { 0 };
	struct shown shown = { .status = has_status, .ids = !how->width || how->width >= WIDE };
	struct mr_grid_column columns[6] = { { .title = "date (UTC)", .fixed = true },
		{ .title = "from" }, { .title = "subject" } };
	struct mr_grid grid = { columns, 3, NULL, NULL, list->list.len };
	const char **cells;

	for (size_t i = 0; i < list->list.len; i++)
		shown.files |= mr_part_int(&list->list.items[i], "attachment_count") > 0;
	if (shown.files)
		columns[grid.column_count++] =
			(struct mr_grid_column){ .title = "files", .right = true, .fixed = true };
	if (shown.status)
		columns[grid.column_count++] =
			(struct mr_grid_column){ .title = "status", .fixed = true };
	if (shown.ids)
		columns[grid.column_count++] =
			(struct mr_grid_column){ .title = "id", .fixed = true };
	cells = mr_arena_array(arena, list->list.len * grid.column_count, sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++)
		fill_row(arena, &list->list.items[i], &shown, &cells[i * grid.column_count]);
	grid.cells = cells;
	mr_buf_init(&table, TABLE_BYTES);
	if (!mr_grid_put(&table, &grid, how, 0))
		mr_render_value(out, list, how);
	else if (shown.ids)
		mr_buf_add(out, table.data, table.len);
	else
		put_with_ids(out, mr_buf_text(&table), list, how);
}

/* A list without details: ids alone. */
static void put_ids(struct mr_buf *out, const struct mr_value *list)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < list->list.len; i++)
		mr_buf_printf(out, "%s\n", mr_part_line(arena, &list->list.items[i], "message_id"));
}

void mr_render_work_messages(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");
	const char *next = mr_part_line(arena, value, "next_after");

	if (!list) {
		mr_buf_puts(out, "No messages.\n");
		return;
	}
	put_table(out, list, true, how);
	if (*next)
		mr_part_styled(out, how, mr_style_dim,
			mr_arena_printf(arena, "\nThere are more: --after %s\n", next));
}

void mr_render_work_triage(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");
	int64_t total = mr_part_int(value, "total_count");

	if (!list) {
		mr_buf_puts(out, "Triage is empty: no message waits for a decision.\n");
		return;
	}
	if (mr_value_get(&list->list.items[0], "subject"))
		put_table(out, list, false, how);
	else
		put_ids(out, list);
	if (total)
		mr_part_styled(out, how, mr_style_dim,
			mr_arena_printf(arena, "\n%zu of %lld messages are shown.\n",
				list->list.len, (long long)total));
}

/* --- one message --- */

static void put_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	if (!*text)
		return;
	mr_part_styled(out, how, mr_style_dim, name);
	mr_buf_pad(out, ' ', HEAD_WIDTH - strlen(name));
	mr_buf_printf(out, "%s\n", text);
}

static void put_warning(struct mr_buf *out, const struct mr_render *how, const char *text)
{
	mr_part_styled(out, how, mr_style_yellow, "Warning");
	mr_buf_pad(out, ' ', HEAD_WIDTH - strlen("Warning"));
	mr_buf_printf(out, "%s\n", text);
}

/* What the checks of the sender came to, unless all passed. */
static void put_warnings(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct {
		const char *key, *name;
	} checks[] = { { "spf", "SPF" }, { "dkim", "DKIM" }, { "dmarc", "DMARC" } };
	const struct mr_value *auth =
		mr_value_get(mr_value_get(value, "message"), "authentication");

	for (size_t i = 0; auth && i < MR_LEN(checks); i++) {
		const char *verdict = mr_part_line(arena, auth, checks[i].key);

		if (mr_str_eq(verdict, "missing"))
			put_warning(out, how,
				mr_arena_printf(arena, "%s is missing", checks[i].name));
		else if (!mr_str_eq(verdict, "pass"))
			put_warning(out, how,
				mr_arena_printf(arena, "%s did not pass: %s", checks[i].name,
					verdict));
	}
	if (mr_str_eq(text_at(auth, "alignment"), "mismatch"))
		put_warning(out, how,
			mr_arena_printf(arena, "%s was authenticated, but the sender claims %s",
				mr_part_line(arena, auth, "authenticated_domain"),
				mr_part_line(arena, auth, "from_domain")));
}

static void put_files(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *list = mr_part_list(value, "attachments");

	for (size_t i = 0; list && i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *path = mr_part_line(arena, one, "file_path");

		put_head(out, how, "File",
			mr_arena_printf(arena, "%s (%s, %lld bytes, part %s), %s%s",
				mr_part_line(arena, one, "saved_filename"),
				mr_part_line(arena, one, "content_type"),
				(long long)mr_part_int(one, "size_bytes"),
				mr_part_line(arena, one, "part_id"),
				*path ? "saved as " : "not fetched", path));
	}
}

static const char *place_of(struct mr_arena *arena, const struct mr_value *value)
{
	const struct mr_value *workspace =
		mr_value_get(mr_value_get(value, "message"), "workspace");
	const char *view = mr_part_line(arena, value, "view_path");
	const char *status = mr_part_line(arena, workspace, "status");

	return mr_arena_printf(arena, "%s%s%s", status, *status && *view ? ", " : "", view);
}

void mr_render_work_message(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *markdown = text_at(value, "body_markdown");
	const char *body = *markdown ? markdown : text_at(value, "body_text");
	bool is_inbound = mr_str_eq(text_at(value, "direction"), "inbound");
	const struct mr_value *contact = mr_value_get(value, "contact");

	mr_part_styled(out, how, mr_style_bold, subject_of(arena, value));
	mr_buf_putc(out, '\n');
	put_head(out, how, "From", mr_part_line(arena, value, "from"));
	put_head(out, how, "Sender", mr_part_line(arena, value, "sender"));
	put_head(out, how, "Contact", mr_part_line(arena, contact, "display_name"));
	put_head(out, how, "To", mr_part_names(arena, value, "to"));
	put_head(out, how, "Cc", mr_part_names(arena, value, "cc"));
	put_head(out, how, "Bcc", mr_part_names(arena, value, "bcc"));
	put_head(out, how, "Reply-To", mr_part_names(arena, value, "reply_to"));
	put_head(out, how, "Date",
		mr_arena_printf(arena, "%s UTC",
			date_of(arena, value,
				*text_at(value, "received_rfc3339") ? "received_rfc3339"
								    : "sent_rfc3339")));
	put_head(out, how, "Id", mr_part_line(arena, value, "message_id"));
	put_head(out, how, "Place", place_of(arena, value));
	if (mr_part_bool(value, "remote_effect_pending"))
		put_head(out, how, "Queued", "something is queued for the server: see `push`");
	if (is_inbound)
		put_warnings(out, arena, value, how);
	put_files(out, arena, value, how);
	mr_buf_putc(out, '\n');
	mr_render_text(out, body);
	if (*body && body[strlen(body) - 1] != '\n')
		mr_buf_putc(out, '\n');
}

/* --- what was done --- */

void mr_render_work_discarded(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	size_t count = len_at(value, "message_ids");

	(void)how;
	mr_buf_printf(out, "%zu message%s %s%s\n", count, plural(count),
		mr_str_eq(text_at(value, "special_use"), "junk") ? "marked as spam"
								 : "put into the trash",
		mr_part_bool(value, "queued") ? "; the move on the server is queued."
					      : ". Nothing is queued for the server.");
}

void mr_render_work_restored(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int64_t removed = mr_part_int(value, "removed_push_count");

	(void)how;
	mr_buf_printf(out, "Message %s is %s again: %s\n", mr_part_line(arena, value, "message_id"),
		mr_str_eq(text_at(value, "status"), "case") ? "in its case" : "in triage",
		mr_part_line(arena, value, "triage_path"));
	if (removed)
		mr_buf_printf(out, "It was taken out of %lld queued item%s.\n", (long long)removed,
			plural((size_t)removed));
	if (mr_part_bool(value, "queued"))
		mr_buf_puts(out, "Its move back to the inbox is queued.\n");
}

void mr_render_work_fetched(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");

	(void)how;
	if (mr_value_get(value, "file_path"))
		mr_buf_printf(out, "Saved %s\n", mr_part_line(arena, value, "file_path"));
	else if (!list)
		mr_buf_printf(out, "Message %s has no attachments.\n",
			mr_part_line(arena, value, "message_id"));
	for (size_t i = 0; list && i < list->list.len; i++)
		mr_buf_printf(out, "Saved %s\n",
			mr_part_line(arena, &list->list.items[i], "file_path"));
}
