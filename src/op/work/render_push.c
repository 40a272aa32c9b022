/* op/work/render_push.c - the push queue, purges, refreshes and the audit log on a terminal. */
#include "op/work/around_work.h"
#include "op/work/render_page.h"
#include "op/work/render_work.h"

#include <string.h>

enum { MESSAGES_SHOWN = 10 };

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

/* --- push --- */

/* What is done to messages, by the kind that the queue shows. */
static const char *act_of(const char *display_kind)
{
	static const struct {
		const char *kind, *act;
	} acts[] = {
		{ "message.archive", "Archive" },
		{ "message.spam", "Mark as spam" },
		{ "message.trash", "Move to the trash" },
		{ "message.restore", "Move back to the inbox" },
		{ "case.add", "Note as part of a case" },
	};

	for (size_t i = 0; i < MR_LEN(acts); i++)
		if (mr_str_eq(acts[i].kind, display_kind))
			return acts[i].act;
	return display_kind;
}

/* A step as people say it: "move_to_mailbox_id_junk" is "move to junk". */
static const char *step_of(struct mr_arena *arena, const char *label)
{
	static const struct {
		const char *prefix, *words;
	} steps[] = {
		{ "smtp_send", "send" },
		{ "append_to_mailbox_id_", "copy to " },
		{ "move_to_mailbox_id_", "move to " },
		{ "add_flags:ReplyToMessage", "flag the answered message" },
		{ "add_flags", "flag" },
	};

	for (size_t i = 0; i < MR_LEN(steps); i++)
		if (mr_str_starts(label, steps[i].prefix))
			return mr_arena_printf(arena, "%s%s", steps[i].words,
				mr_str_ends(steps[i].words, " ") ? label + strlen(steps[i].prefix)
								 : "");
	return label;
}

static const char *steps_of(struct mr_arena *arena, const struct mr_value *item)
{
	const struct mr_value *list = mr_part_list(item, "actions");
	struct mr_texts words = { NULL, 0 };

	if (!list)
		return "";
	words.items = mr_arena_array(arena, list->list.len, sizeof(*words.items));
	for (size_t i = 0; i < list->list.len; i++)
		words.items[words.len++] =
			step_of(arena, mr_render_line(arena, list->list.items[i].text));
	return mr_str_join(arena, &words, ", ");
}

/* The messages of an action, each on its line: its subject, else its id. */
static void put_messages(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *item)
{
	const struct mr_value *ids = mr_part_list(item, "message_ids");
	const struct mr_value *subjects = mr_part_list(item, "message_subjects");

	for (size_t i = 0; ids && i < ids->list.len && i < MESSAGES_SHOWN; i++) {
		const char *subject = subjects && i < subjects->list.len
			? mr_render_line(arena, subjects->list.items[i].text)
			: "";

		if (*subject)
			mr_buf_printf(out, "   \"%s\"\n", subject);
		else
			mr_buf_printf(out, "   %s\n",
				mr_render_line(arena, ids->list.items[i].text));
	}
	if (ids && ids->list.len > MESSAGES_SHOWN)
		mr_buf_printf(out, "   and %zu more\n", ids->list.len - MESSAGES_SHOWN);
}

static void put_mail(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *item,
	const struct mr_render *how)
{
	const char *to = mr_part_names(arena, item, "to"), *cc = mr_part_names(arena, item, "cc");
	const char *subject = mr_part_line(arena, item, "subject");
	const char *files = mr_part_names(arena, item, "attachments");
	const char *wrong = mr_part_line(arena, item, "draft_error");

	mr_buf_puts(out, mr_str_eq(text_at(item, "action"), "send") ? "Send" : "Save as a draft");
	if (*subject)
		mr_buf_printf(out, " \"%s\"", subject);
	if (*to)
		mr_buf_printf(out, " to %s", to);
	if (*cc)
		mr_buf_printf(out, ", cc %s", cc);
	mr_buf_putc(out, '\n');
	if (*files)
		mr_buf_printf(out, "   with %s\n", files);
	mr_buf_printf(out, "   draft %s\n   of case %s\n", mr_part_line(arena, item, "draft_name"),
		mr_part_line(arena, item, "case_uid"));
	if (*wrong) {
		mr_buf_puts(out, "   ");
		mr_part_styled(out, how, mr_style_red,
			mr_arena_printf(arena, "It cannot be sent as it is: %s", wrong));
		mr_buf_putc(out, '\n');
	}
}

static void put_item(struct mr_buf *out, size_t number, const struct mr_value *item,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	mr_buf_printf(out, "%zu. ", number);
	if (mr_str_eq(text_at(item, "kind"), "outbound")) {
		put_mail(out, arena, item, how);
	} else {
		mr_buf_printf(out, "%s\n", act_of(text_at(item, "display_kind")));
		put_messages(out, arena, item);
	}
	mr_part_styled(out, how, mr_style_dim,
		mr_arena_printf(arena, "   %s: %s", mr_part_line(arena, item, "push_id"),
			steps_of(arena, item)));
	mr_buf_putc(out, '\n');
}

/* What was said of it; of one that waits nothing, unless somebody has to say something. */
static void put_approval(struct mr_buf *out, const struct mr_value *item, bool is_required,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *state = text_at(item, "approval"), *reason;

	reason = mr_part_line(arena, item, "approval_reason");
	if (mr_str_eq(state, "approved"))
		mr_buf_puts(out, "   approved\n");
	else if (mr_str_eq(state, "refused")) {
		mr_buf_puts(out, "   ");
		mr_part_styled(out, how, mr_style_red,
			mr_arena_printf(arena, "sent back: %s", reason));
		mr_buf_putc(out, '\n');
	} else if (is_required)
		mr_buf_puts(out,
			mr_str_eq(state, "changed")
				? "   changed since it was decided about: waits for approval again\n"
				: "   waits for approval\n");
}

static void put_pushed(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *failures = mr_part_list(value, "failures");
	int64_t pushed = mr_part_int(value, "pushed_count");
	int64_t failed = mr_part_int(value, "failed_count");

	if (!pushed && !failed) {
		mr_buf_puts(out, "Nothing was queued.\n");
		return;
	}
	if (pushed)
		mr_buf_printf(out, "%lld item%s carried out.\n", (long long)pushed, plural(pushed));
	if (!failures)
		return;
	mr_part_styled(out, how, mr_style_red,
		mr_arena_printf(arena, "%lld item%s failed:", (long long)failed, plural(failed)));
	mr_buf_putc(out, '\n');
	for (size_t i = 0; i < failures->list.len; i++) {
		const struct mr_value *one = &failures->list.items[i];

		mr_buf_printf(out, "  %s: %s\n", mr_part_line(arena, one, "push_id"),
			mr_part_line(arena, one, "error"));
		if (mr_value_get(one, "hint"))
			mr_buf_printf(out, "    %s\n",
				mr_around_spell(arena, mr_part_line(arena, one, "hint")));
	}
	mr_buf_puts(out, "What failed stays queued for the next push.\n");
}

void mr_render_work_push(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");

	if (mr_part_bool(value, "confirmed")) {
		put_pushed(out, arena, value, how);
		return;
	}
	mr_page_invalid(out, value);
	if (!list) {
		mr_buf_puts(out, "Nothing is queued.\n");
		return;
	}
	for (size_t i = 0; i < list->list.len; i++) {
		put_item(out, i + 1, &list->list.items[i], how);
		put_approval(out, &list->list.items[i], mr_part_bool(value, "approval_required"),
			how);
	}
	if (mr_part_bool(value, "approval_required") && mr_part_int(value, "waiting_count"))
		mr_buf_puts(out,
			"\nA push carries out only what was approved: read it with `mailroom work push "
			"show`.\n");
	mr_buf_printf(out,
		"\nNo remote changes were made. Carry exactly this out with\n  mailroom work push "
		"--confirm %s\n",
		mr_part_line(arena, value, "plan_id"));
}

/* --- approval --- */

static void put_files(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *item)
{
	const struct mr_value *files = mr_part_list(item, "files");

	for (size_t i = 0; files && i < files->list.len; i++)
		mr_buf_printf(out, "   with %s (%s, %lld bytes)\n",
			mr_part_line(arena, &files->list.items[i], "filename"),
			mr_part_line(arena, &files->list.items[i], "content_type"),
			(long long)mr_part_int(&files->list.items[i], "size_bytes"));
}

static void put_text(struct mr_buf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

		mr_buf_printf(out, "   | %s\n",
			mr_render_line(arena, mr_arena_strndup(arena, text, len)));
		text += len + (text[len] == '\n');
	}
}

static void put_read(struct mr_buf *out, size_t number, const struct mr_value *item,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *changes = mr_part_list(item, "changes");
	const char *strangers = mr_part_names(arena, item, "new_recipients");
	const char *from = mr_part_line(arena, item, "from");

	mr_buf_printf(out, "%zu. ", number);
	if (mr_str_eq(text_at(item, "display_kind"), "outbound")) {
		put_mail(out, arena, item, how);
		if (*from)
			mr_buf_printf(out, "   from %s\n", from);
		put_files(out, arena, item);
		put_text(out, text_at(item, "text"));
	} else {
		mr_buf_printf(out, "%s\n", act_of(text_at(item, "display_kind")));
	}
	if (*strangers) {
		mr_buf_puts(out, "   ");
		mr_part_styled(out, how, mr_style_yellow,
			mr_arena_printf(arena, "never written to before: %s", strangers));
		mr_buf_putc(out, '\n');
	}
	for (size_t i = 0; changes && i < changes->list.len; i++)
		mr_buf_printf(out, "   in %s: \"%s\" of %s\n",
			mr_part_line(arena, &changes->list.items[i], "mailbox_name"),
			mr_part_line(arena, &changes->list.items[i], "subject"),
			mr_part_line(arena, &changes->list.items[i], "from"));
	mr_buf_printf(out, "   on the server: %s\n", steps_of(arena, item));
	put_approval(out, item, true, how);
	mr_part_styled(out, how, mr_style_dim,
		mr_arena_printf(arena, "   %s  %s", mr_part_line(arena, item, "push_id"),
			mr_part_line(arena, item, "content_id")));
	mr_buf_puts(out, "\n\n");
}

void mr_render_work_push_shown(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");

	mr_page_invalid(out, value);
	if (!list) {
		mr_buf_puts(out, "Nothing is queued.\n");
		return;
	}
	for (size_t i = 0; i < list->list.len; i++)
		put_read(out, i + 1, &list->list.items[i], how);
	mr_buf_printf(out,
		"Approve one of these with `mailroom work push approve CONTENT_ID`, or all that is queued "
		"with\n  mailroom work push approve %s\nor send it back with `mailroom work push refuse "
		"CONTENT_ID --reason TEXT`.\n",
		mr_part_line(arena, value, "plan_id"));
}

static void put_decided(struct mr_buf *out, const struct mr_value *value, const char *what)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int64_t count = mr_part_int(value, "count");

	mr_buf_printf(out, "%lld item%s %s: %s\n", (long long)count, plural(count), what,
		mr_part_names(arena, value, "push_ids"));
}

void mr_render_work_push_approved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	put_decided(out, value, "approved as they are now");
}

void mr_render_work_push_refused(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	put_decided(out, value, "sent back");
}

/* --- uncertain mails --- */

void mr_render_work_recovered(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "items");

	(void)how;
	if (*text_at(value, "outcome"))
		mr_buf_printf(out, "%s: the mail was %s.\n", mr_part_line(arena, value, "push_id"),
			mr_str_eq(text_at(value, "outcome"), "sent")
				? "sent; the next push does what is left"
				: "not sent; the next push sends it");
	else if (!list || !list->list.len)
		mr_buf_puts(out, "No mail is uncertain.\n");
	for (size_t i = 0; list && i < list->list.len; i++)
		mr_buf_printf(out, "%s: \"%s\" to %s may have been sent on %s\n",
			mr_part_line(arena, &list->list.items[i], "push_id"),
			mr_part_line(arena, &list->list.items[i], "subject"),
			mr_part_names(arena, &list->list.items[i], "to"),
			mr_part_line(arena, &list->list.items[i], "started_rfc3339"));
	if (list && list->list.len)
		mr_buf_puts(out,
			"Ask the recipient, or look into the Sent mailbox; then say `mailroom work push "
			"recover\nPUSH_ID --sent` or `--not-sent`.\n");
}

void mr_render_work_push_items(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const struct mr_grid_column columns[] = {
		{ .title = "id", .fixed = true },
		{ .title = "action", .fixed = true },
		{ .title = "of" },
		{ .title = "tries", .right = true, .fixed = true },
		{ .title = "last error" },
	};
	const struct mr_value *list = mr_part_list(value, "items");
	struct mr_grid grid = { columns, MR_LEN(columns), NULL, NULL, 0 };
	const char **cells;

	if (!list) {
		mr_buf_puts(out, "Nothing is queued.\n");
		return;
	}
	grid.rows = list->list.len;
	cells = mr_arena_array(arena, grid.rows * MR_LEN(columns), sizeof(*cells));
	for (size_t i = 0; i < grid.rows; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char **row = &cells[i * MR_LEN(columns)];
		const char *draft = mr_part_line(arena, one, "draft_name");

		row[0] = mr_part_line(arena, one, "push_id");
		row[1] = mr_part_line(arena, one, "action");
		row[2] = *draft ? draft : mr_part_names(arena, one, "message_ids");
		row[3] = mr_part_number(arena, one, "attempt_count");
		row[4] = mr_part_line(arena, one, "last_error");
	}
	grid.cells = cells;
	mr_part_grid(out, &grid, list, how, 0);
}

void mr_render_work_dropped(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	const char *action = mr_part_line(arena, value, "action");

	(void)how;
	mr_buf_printf(out, "%s (%s) is not queued any more.\n",
		mr_part_line(arena, value, "push_id"), *action ? action : "unreadable");
}

/* --- purge --- */

void mr_render_work_purged(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *ids = mr_part_list(value, "purged_message_ids");
	int64_t count = mr_part_int(value, "purged_count");
	int64_t young = mr_part_int(value, "skipped_recent_count");
	int64_t needed = mr_part_int(value, "skipped_referenced_count");
	const char *plan = mr_part_line(arena, value, "plan_id");

	(void)how;
	for (size_t i = 0; *plan && ids && i < ids->list.len; i++)
		mr_buf_printf(out, "%s\n", mr_render_line(arena, ids->list.items[i].text));
	mr_buf_printf(out, "%lld message%s %s.\n", (long long)count, plural(count),
		*plan ? "would be deleted for good" : "deleted for good");
	if (young)
		mr_buf_printf(out, "%lld stay%s: discarded less than %lld days ago.\n",
			(long long)young, young == 1 ? "s" : "",
			(long long)mr_part_int(value, "older_than_days"));
	if (needed)
		mr_buf_printf(out, "%lld stay%s: a case, a draft or the queue refers to %s.\n",
			(long long)needed, needed == 1 ? "s" : "", needed == 1 ? "it" : "them");
	if (*plan && count)
		mr_buf_printf(out, "Delete exactly these with --plan-id %s\n", plan);
}

/* --- render --- */

void mr_render_work_refreshed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const char *const written[] = { "triage_written_count", "spam_written_count",
		"trash_written_count", "deleted_written_count" };
	static const char *const removed[] = { "stale_triage_removed_count",
		"stale_spam_removed_count", "stale_trash_removed_count",
		"stale_deleted_removed_count" };
	int64_t views = 0, stale = 0;

	(void)how;
	for (size_t i = 0; i < MR_LEN(written); i++) {
		views += mr_part_int(value, written[i]);
		stale += mr_part_int(value, removed[i]);
	}
	mr_buf_printf(out,
		"Views are up to date: triage %lld, active cases %lld, archived cases %lld, "
		"categories %lld.\n",
		(long long)mr_part_int(value, "triage_count"),
		(long long)mr_part_int(value, "active_case_count"),
		(long long)mr_part_int(value, "archived_case_count"),
		(long long)mr_part_int(value, "archive_message_category_count"));
	mr_buf_printf(out,
		"Written: records %lld, views of single messages %lld. Removed: stale views %lld.\n",
		(long long)mr_part_int(value, "message_cache_rebuilt_count"), (long long)views,
		(long long)stale);
}

void mr_render_work_templates(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	mr_buf_printf(out,
		"Templates in templates/: %lld copied, %lld overwritten, %lld left as they were.\n",
		(long long)mr_part_int(value, "exported_count"),
		(long long)mr_part_int(value, "overwritten_count"),
		(long long)mr_part_int(value, "kept_count"));
}

/* --- log --- */

static const char *targets_of(struct mr_arena *arena, const struct mr_value *event)
{
	const struct mr_value *list = mr_part_list(event, "targets");
	struct mr_texts ids = { NULL, 0 };

	if (!list)
		return "";
	ids.items = mr_arena_array(arena, list->list.len, sizeof(*ids.items));
	for (size_t i = 0; i < list->list.len; i++)
		ids.items[ids.len++] = mr_part_line(arena, &list->list.items[i], "id");
	return mr_str_join(arena, &ids, ", ");
}

void mr_render_work_log(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct mr_render written = { 0 };
	const struct mr_value *list = mr_part_list(value, "events");

	if (!list)
		mr_buf_puts(out, "No events.\n");
	for (size_t i = 0; list && i < list->list.len; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const struct mr_value *event = &list->list.items[i];
		const char *reason = mr_part_line(arena, event, "reason");
		const char *targets = targets_of(arena, event);

		mr_part_styled(out, how, mr_style_dim,
			mr_render_when(arena, event, "created_rfc3339", &written));
		mr_buf_printf(out, "  %s%s%s%s%s\n", mr_part_line(arena, event, "kind"),
			*targets ? "  " : "", targets, *reason ? ": " : "", reason);
	}
}
