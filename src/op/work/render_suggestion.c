/* op/work/render_suggestion.c - suggestions on a terminal. */
#include "op/work/render_work.h"

/* "spam", "case c20260518001". */
static const char *act_of(struct mr_arena *arena, const struct mr_value *one)
{
	const char *target = mr_part_line(arena, one, "target");

	return mr_arena_printf(arena, "%s%s%s", mr_part_line(arena, one, "action"),
		*target ? " " : "", target);
}

void mr_render_work_suggested(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Suggested for %s: %s%s\n", mr_part_line(arena, value, "message_id"),
		act_of(arena, value),
		mr_part_bool(value, "replaced") ? ", in place of another suggestion." : ".");
}

void mr_render_work_suggestions(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *list = mr_part_list(value, "items");

	if (!list)
		mr_buf_puts(out, "Nothing is suggested.\n");
	for (size_t i = 0; list && i < list->list.len; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const struct mr_value *one = &list->list.items[i];
		const char *subject = mr_part_line(arena, one, "subject");
		const char *reason = mr_part_line(arena, one, "reason");

		mr_part_styled(out, how, mr_style_bold, act_of(arena, one));
		mr_buf_printf(out, ": %s, from %s\n", *subject ? subject : "(no subject)",
			mr_part_line(arena, one, "from"));
		if (*reason)
			mr_buf_printf(out, "   %s\n", reason);
		mr_part_styled(out, how, mr_style_dim,
			mr_arena_printf(arena, "   %s", mr_part_line(arena, one, "message_id")));
		mr_buf_putc(out, '\n');
	}
}

void mr_render_work_unsuggested(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out,
		mr_part_bool(value, "changed") ? "The suggestion for %s is dropped.\n"
					       : "Nothing was suggested for %s.\n",
		mr_part_line(arena, value, "message_id"));
}

void mr_render_work_accepted(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Done with %s: %s%s\n", mr_part_line(arena, value, "message_id"),
		act_of(arena, value),
		mr_part_bool(value, "queued") ? "; the change on the server is queued." : ".");
}
