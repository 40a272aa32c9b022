/* op/team/render_mail.c - messages on a terminal: lists, threads, and one message in full. */
#include "base/utf8.h"
#include "op/render_part.h"
#include "text/time.h"

#include <string.h>

static const char plain[] = "\033[0m";

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static size_t len_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_LIST ? value->list.len : 0;
}

static const char *subject_of(struct mr_arena *arena, const struct mr_value *message)
{
	const char *subject = mr_part_line(arena, message, "subject");

	return *subject ? subject : "(no subject)";
}

/* A list leaves out the kind when it is to; what was sent or is read by others names recipients. */
static const char *kind_of(const struct mr_value *message)
{
	const char *kind = text_at(message, "kind");

	return kind || mr_value_get(message, "to") ? kind : "to";
}

static bool is_new(const struct mr_value *message)
{
	return kind_of(message) && !text_at(message, "read_ts");
}

static bool is_due(const struct mr_value *message)
{
	return mr_part_bool(message, "ack_required") && !text_at(message, "ack_ts") &&
		mr_str_eq(kind_of(message), "to");
}

static bool is_urgent(const struct mr_value *message)
{
	const char *importance = text_at(message, "importance");

	return mr_str_eq(importance, "urgent") || mr_str_eq(importance, "high");
}

/* "new urgent ack": what there is to know before reading it. */
static const char *state_of(struct mr_arena *arena, const struct mr_value *message)
{
	const char *importance = text_at(message, "importance");
	const char *words[4];
	struct mr_texts all = { words, 0 };

	if (is_new(message))
		words[all.len++] = "new";
	if (importance && !mr_str_eq(importance, "normal"))
		words[all.len++] = importance;
	if (is_due(message))
		words[all.len++] = "ack";
	return mr_str_join(arena, &all, " ");
}

static const char *style_of(const struct mr_value *message)
{
	bool urgent = is_urgent(message);

	if (is_new(message))
		return urgent ? mr_style_bold_red : mr_style_bold;
	return urgent && is_due(message) ? mr_style_red : NULL;
}

static void put_styled(struct mr_buf *out, const struct mr_render *how, const char *style,
	const char *text)
{
	if (how->colour && style)
		mr_buf_puts(out, style);
	mr_buf_puts(out, text);
	if (how->colour && style)
		mr_buf_puts(out, plain);
}

/* One message: subject, sender and recipients, time and body. */

static void put_head(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	enum { NAME_WIDTH = 8 };

	if (!*text)
		return;
	put_styled(out, how, mr_style_dim, name);
	mr_buf_pad(out, ' ', NAME_WIDTH - strlen(name));
	mr_buf_puts(out, text);
	mr_buf_putc(out, '\n');
}

static const char *sender_of(struct mr_arena *arena, const struct mr_value *message)
{
	const char *project = text_at(message, "sender_project");

	return mr_arena_printf(arena, "%s%s%s%s%s", mr_part_line(arena, message, "from"),
		mr_part_bool(message, "is_human") ? ", a person" : "", project ? " (" : "",
		project ? mr_render_line(arena, project) : "", project ? ")" : "");
}

static const char *thread_of(struct mr_arena *arena, const struct mr_value *message)
{
	int64_t reply_to = mr_part_int(message, "reply_to");
	const char *thread = mr_part_line(arena, message, "thread_id");

	if (!reply_to)
		return thread;
	return mr_arena_printf(arena, "%s%sanswers %lld", thread, *thread ? ", " : "",
		(long long)reply_to);
}

/* "2: arch.webp, 12 KB; ..." without what they hold. */
static const char *files_of(struct mr_arena *arena, const struct mr_value *message)
{
	const struct mr_value *list = mr_value_get(message, "attachments");
	const char *text = "";

	for (size_t i = 0; i < len_at(message, "attachments"); i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *name = text_at(one, "path");
		const char *type = text_at(one, "media_type");
		const char *reason = text_at(one, "reason");

		text = mr_arena_printf(arena, "%s%s%s%s%s%s", text, i ? "; " : "",
			name                           ? name
				: text_at(one, "type") ? text_at(one, "type")
						       : "file",
			type || reason ? " (" : "",
			type             ? type
				: reason ? reason
					 : "",
			type || reason ? ")" : "");
	}
	return mr_render_line(arena, text);
}

static const char *date_of(struct mr_arena *arena, const struct mr_value *message,
	const struct mr_render *how)
{
	struct mr_render written = { 0 };
	const char *date = mr_render_when(arena, message, "created_ts", &written);

	return how->now_us ? mr_arena_printf(arena, "%s, %s", date,
				     mr_render_when(arena, message, "created_ts", how))
			   : date;
}

void mr_render_message(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *body = text_at(value, "body_md");

	put_styled(out, how, is_urgent(value) ? mr_style_bold_red : mr_style_bold,
		mr_arena_printf(arena, "%lld  %s", (long long)mr_part_int(value, "id"),
			subject_of(arena, value)));
	mr_buf_putc(out, '\n');
	put_head(out, how, "from", sender_of(arena, value));
	put_head(out, how, "sent to", mr_part_names(arena, value, "addressed"));
	put_head(out, how, "to", mr_part_names(arena, value, "to"));
	put_head(out, how, "cc", mr_part_names(arena, value, "cc"));
	put_head(out, how, "bcc", mr_part_names(arena, value, "bcc"));
	put_head(out, how, "date", date_of(arena, value, how));
	put_head(out, how, "thread", thread_of(arena, value));
	put_head(out, how, "state", state_of(arena, value));
	put_head(out, how, "files", files_of(arena, value));
	if (!body)
		return;
	mr_buf_putc(out, '\n');
	mr_render_text(out, body);
	if (!*body || body[strlen(body) - 1] != '\n')
		mr_buf_putc(out, '\n');
}

static void put_letters(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how)
{
	for (size_t i = 0; i < list->list.len; i++) {
		if (i) {
			mr_buf_putc(out, '\n');
			put_styled(out, how, mr_style_dim,
				"----------------------------------------");
			mr_buf_puts(out, "\n\n");
		}
		mr_render_message(out, &list->list.items[i], how);
	}
}

/* Lists. */

static void put_summary(struct mr_buf *out, const struct mr_value *list,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t count[3] = { 0, 0, 0 };
	static const char *const words[] = { "new", "urgent", "to acknowledge" };
	const char *text;

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		count[0] += is_new(one);
		count[1] += is_urgent(one);
		count[2] += is_due(one);
	}
	text = mr_arena_printf(arena, "%zu message%s", list->list.len,
		list->list.len == 1 ? "" : "s");
	for (size_t i = 0; i < 3; i++) {
		if (count[i])
			text = mr_arena_printf(arena, "%s, %zu %s", text, count[i], words[i]);
	}
	put_styled(out, how, mr_style_dim, text);
	mr_buf_putc(out, '\n');
}

/* For terminals too narrow for a table: a line about it, and below it the subject. */
static void put_narrow(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list,
	const struct mr_render *how, const char *who)
{
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *state = state_of(arena, one);

		put_styled(out, how, style_of(one),
			mr_arena_printf(arena, "%lld  %s  %s%s%s",
				(long long)mr_part_int(one, "id"),
				*who == 't' ? mr_part_names(arena, one, who)
					    : mr_part_line(arena, one, who),
				mr_render_when(arena, one, "created_ts", how), *state ? "  " : "",
				state));
		mr_buf_puts(out, "\n    ");
		mr_buf_puts(out, subject_of(arena, one));
		mr_buf_putc(out, '\n');
	}
}

/* For models, which pay for each blank: "7  BlueLake@shop  Subject  [TKT-1]  new, just now". */
static void put_lines(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list,
	const struct mr_render *how, const char *who)
{
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *project = mr_part_line(arena, one, "sender_project");
		const char *thread = mr_part_line(arena, one, "thread_id");
		const char *state = state_of(arena, one);

		mr_buf_printf(out, "%lld  %s%s%s  %s%s%s%s  %s%s%s\n",
			(long long)mr_part_int(one, "id"),
			*who == 't' ? mr_part_names(arena, one, who)
				    : mr_part_line(arena, one, who),
			*project && *who != 't' ? "@" : "", *who != 't' ? project : "",
			subject_of(arena, one), *thread ? "  [" : "", thread, *thread ? "]" : "",
			state, *state ? ", " : "", mr_render_when(arena, one, "created_ts", how));
	}
}

/* `who` is the member that names the other party: "from", or the list "to". */
static void put_list(struct mr_buf *out, const struct mr_value *list, const struct mr_render *how,
	const char *who)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_grid_column columns[] = {
		{ .title = "id", .right = true, .fixed = true },
		{ .title = who },
		{ .title = "subject" },
		{ .title = "state", .fixed = true },
		{ .title = "when", .fixed = true },
	};
	size_t width = MR_LEN(columns);
	const char **cells = mr_arena_array(arena, list->list.len * width, sizeof(*cells));
	const char **styles = mr_arena_array(arena, list->list.len, sizeof(*styles));
	struct mr_grid grid = { columns, width, cells, styles, list->list.len };

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];

		cells[i * width] =
			mr_arena_printf(arena, "%lld", (long long)mr_part_int(one, "id"));
		cells[i * width + 1] = *who == 't' ? mr_part_names(arena, one, who)
						   : mr_part_line(arena, one, who);
		cells[i * width + 2] = subject_of(arena, one);
		cells[i * width + 3] = state_of(arena, one);
		cells[i * width + 4] = mr_render_when(arena, one, "created_ts", how);
		styles[i] = style_of(one);
	}
	if (how->for_models)
		put_lines(out, arena, list, how, who);
	else if (!mr_grid_put(out, &grid, how, 0))
		put_narrow(out, arena, list, how, who);
}

static void put_messages(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how, const char *who)
{
	const struct mr_value *list = mr_value_get(value, "result");

	if (!list || list->kind != MR_LIST || list->list.len == 0) {
		mr_buf_puts(out, "No messages.\n");
		return;
	}
	if (text_at(&list->list.items[0], "body_md"))
		put_letters(out, list, how);
	else
		put_list(out, list, how, who);
	mr_buf_putc(out, '\n');
	put_summary(out, list, how);
	mr_part_next(out, value, how);
}

void mr_render_inbox(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	put_messages(out, value, how, "from");
}

void mr_render_outbox(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	put_messages(out, value, how, "to");
}

void mr_render_thread(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	const struct mr_value *list = mr_value_get(value, "messages");

	if (!list || list->kind != MR_LIST || list->list.len == 0) {
		mr_buf_puts(out, "No messages.\n");
		return;
	}
	if (text_at(&list->list.items[0], "body_md"))
		put_letters(out, list, how);
	else
		put_list(out, list, how, "from");
	mr_part_next(out, value, how);
}

void mr_render_threads(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "thread" },
		{ .title = "subject" },
		{ .title = "messages", .right = true, .fixed = true },
		{ .title = "last from" },
		{ .title = "when", .fixed = true },
	};
	const struct mr_value *list = mr_value_get(value, "result");
	struct mr_grid grid = { columns, MR_LEN(columns), NULL, NULL, 0 };
	const char **cells;

	if (!list || list->kind != MR_LIST || list->list.len == 0) {
		mr_buf_puts(out, "No conversations.\n");
		return;
	}
	cells = mr_arena_array(arena, list->list.len * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];

		row[0] = mr_part_line(arena, one, "thread_id");
		row[1] = subject_of(arena, one);
		row[2] = mr_arena_printf(arena, "%lld", (long long)mr_part_int(one, "messages"));
		row[3] = mr_part_line(arena, one, "last_from");
		row[4] = mr_render_when(arena, one, "last_ts", how);
	}
	grid.cells = cells;
	grid.rows = list->list.len;
	if (!mr_grid_put(out, &grid, how, 0))
		mr_render_value(out, list, how);
	mr_part_next(out, value, how);
}

/* What became of a message. */

static void put_notes(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value)
{
	const struct mr_value *blocked = mr_value_get(value, "blocked_recipients");
	const struct mr_value *asked = mr_value_get(value, "contact_requests");
	const struct mr_value *leases = mr_value_get(value, "warnings");

	if (len_at(value, "auto_registered"))
		mr_buf_printf(out, "  now registered: %s\n",
			mr_part_names(arena, value, "auto_registered"));
	for (size_t i = 0; i < len_at(value, "blocked_recipients"); i++) {
		const struct mr_value *one = &blocked->list.items[i];

		mr_buf_printf(out, "  not sent to %s@%s: %s\n", mr_part_line(arena, one, "name"),
			mr_part_line(arena, one, "project"), mr_part_line(arena, one, "reason"));
	}
	for (size_t i = 0; i < len_at(value, "contact_requests"); i++)
		mr_buf_printf(out, "  asked for contact: %s\n",
			mr_part_line(arena, mr_value_get(&asked->list.items[i], "to"), "agent"));
	for (size_t i = 0; i < len_at(value, "warnings"); i++)
		mr_buf_printf(out, "  somebody holds a lease on %s\n",
			mr_part_line(arena, &leases->list.items[i], "path"));
	if (mr_part_bool(value, "repeated"))
		mr_buf_puts(out, "  sent before, under the same key; nothing was sent now\n");
}

void mr_render_sent(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const char *const kinds[] = { "to", "cc", "bcc" };
	const struct mr_value *message = value;

	(void)how;
	if (len_at(value, "deliveries"))
		message =
			mr_value_get(&mr_value_get(value, "deliveries")->list.items[0], "payload");
	mr_buf_printf(out, "Sent message %lld", (long long)mr_part_int(message, "id"));
	for (size_t i = 0; i < MR_LEN(kinds); i++) {
		if (len_at(message, kinds[i]))
			mr_buf_printf(out, "%s%s %s", i ? ", " : " ", kinds[i],
				mr_part_names(arena, message, kinds[i]));
	}
	if (len_at(message, "addressed"))
		mr_buf_printf(out, " (%s)", mr_part_names(arena, message, "addressed"));
	if (text_at(message, "thread_id"))
		mr_buf_printf(out, " (thread %s)", mr_part_line(arena, message, "thread_id"));
	mr_buf_putc(out, '\n');
	put_notes(out, arena, value);
}

void mr_render_news(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *time = text_at(value, "created_ts");
	const char *state = state_of(arena, value);
	const char *line = mr_arena_printf(arena, "%.8s  %lld  %s  %s%s%s%s",
		time && strlen(time) > 19 ? time + 11 : "", (long long)mr_part_int(value, "id"),
		mr_part_line(arena, value, "from"), subject_of(arena, value), *state ? "  [" : "",
		state, *state ? "]" : "");

	put_styled(out, how, is_urgent(value) ? mr_style_bold_red : NULL, line);
	mr_buf_putc(out, '\n');
}
