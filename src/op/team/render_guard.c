/* op/team/render_guard.c - the guard's result on a terminal: files held by others, their
 * holders, and how to ask. */
#include "base/str.h"
#include "op/render.h"
#include "op/render_part.h"

enum { FILES_SHOWN = 20, HOLDERS_SHOWN = 5 };

static void put_holder(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *holder,
	const struct mr_render *how)
{
	const char *reason = mr_part_line(arena, holder, "reason");
	const struct mr_value *minutes = mr_value_get(holder, "minutes_left");
	const char *call = mr_part_line(arena, holder, "call");
	const char *ask = mr_part_line(arena, holder, "ask");
	const char *left = "until it is released";

	if (minutes && minutes->kind == MR_INT)
		left = mr_arena_printf(arena, "for %lld more %s", (long long)minutes->integer,
			minutes->integer == 1 ? "minute" : "minutes");
	mr_buf_puts(out, "    ");
	mr_part_styled(out, how, mr_style_yellow, mr_part_line(arena, holder, "agent"));
	mr_buf_printf(out, " holds %s %s%s%s\n", mr_part_line(arena, holder, "path_pattern"), left,
		*reason ? ": " : "", reason);
	if (*call)
		mr_buf_printf(out, "    ask: %s\n", call);
	if (*ask)
		mr_buf_printf(out, "    %s: %s\n", *call ? "or in a shell" : "ask", ask);
}

static void put_conflicts(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list,
	const struct mr_render *how)
{
	for (size_t i = 0; i < list->list.len && i < FILES_SHOWN; i++) {
		const struct mr_value *conflict = &list->list.items[i];
		const struct mr_value *holders = mr_part_list(conflict, "holders");

		mr_buf_puts(out, "\n  ");
		mr_part_styled(out, how, mr_style_bold, mr_part_line(arena, conflict, "path"));
		mr_buf_putc(out, '\n');
		for (size_t k = 0; holders && k < holders->list.len && k < HOLDERS_SHOWN; k++)
			put_holder(out, arena, &holders->list.items[k], how);
		if (holders && holders->list.len > HOLDERS_SHOWN)
			mr_buf_printf(out, "    and %zu more\n", holders->list.len - HOLDERS_SHOWN);
	}
	if (list->list.len > FILES_SHOWN)
		mr_buf_printf(out, "\n  and %zu more files\n", list->list.len - FILES_SHOWN);
}

static const char *head_of(const char *what)
{
	return mr_str_eq(what, "commit")  ? "other agents hold files of this commit"
		: mr_str_eq(what, "push") ? "other agents hold files of this push"
		: mr_str_eq(what, "edit") ? "another agent holds this file: do not write to it now"
					  : "other agents hold these files";
}

static const char *tail_of(const char *what)
{
	return mr_str_eq(what, "commit")
		? "Ask them, commit without these files, or let it through: "
		  "AGENT_MAIL_BYPASS=1 git commit ...\n"
		: mr_str_eq(what, "push")
		? "Ask them, or let it through: AGENT_MAIL_BYPASS=1 git push ...\n"
		: mr_str_eq(what, "edit") ? "Ask, wait, or work on something else meanwhile.\n"
					  : "";
}

static void put_warnings(struct mr_buf *out, struct mr_arena *arena, const struct mr_value *list)
{
	for (size_t i = 0; list && i < list->list.len; i++) {
		if (list->list.items[i].kind == MR_TEXT)
			mr_buf_printf(out, "mailroom guard: %s\n",
				mr_render_line(arena, list->list.items[i].text));
	}
}

/* A hook that finds nothing says nothing. */
void mr_render_guard(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *conflicts = mr_part_list(value, "conflicts");
	const char *status = mr_part_line(arena, value, "status");
	const char *what = mr_part_line(arena, value, "what");
	bool is_warning = mr_str_eq(status, "warned");

	put_warnings(out, arena, mr_part_list(value, "warnings"));
	if (conflicts) {
		mr_buf_puts(out, "mailroom guard: ");
		mr_part_styled(out, how, mr_style_red, head_of(what));
		mr_buf_puts(out, is_warning ? " (only a warning)\n" : "\n");
		put_conflicts(out, arena, conflicts, how);
		if (!is_warning && *tail_of(what))
			mr_buf_printf(out, "\n%s", tail_of(what));
		if (mr_str_eq(what, "edit") && !*mr_part_line(arena, value, "agent"))
			mr_buf_puts(out,
				"Mailroom does not know which agent you are: begin with "
				"macro_start_session, and use the name that it gives.\n");
	} else if (mr_str_eq(status, "bypassed")) {
		mr_buf_puts(out, "mailroom guard: bypassed (AGENT_MAIL_BYPASS)\n");
	} else if (!*mr_part_line(arena, value, "hook") && *status) {
		mr_buf_printf(out, "%lld checked: nobody else holds any of it.\n",
			(long long)mr_part_int(value, "checked"));
	}
}
