/* workspace/config_steps.c - the steps of actions: read, checked, labelled. */
#include "base/ctx.h"
#include "workspace/config_private.h"

static void read_flags(const struct mr_cursor *at, struct mr_texts *out)
{
	struct mr_texts flags = { 0 };

	if (!mr_cursor_texts(at, &flags))
		return;
	if (!flags.len)
		mr_cursor_refuse(at, "must name at least one flag");
	for (size_t i = 0; i < flags.len; i++)
		if (mr_str_is_empty(mr_str_trim(at->issues->arena, flags.items[i])))
			mr_cursor_refuse(at, "must not have a blank flag");
	*out = flags;
}

static void read_smtp_send(const struct mr_cursor *at, struct mr_work_action_step *step)
{
	step->smtp_send = true;
	if (mr_cursor_map(at) && at->value->map.len)
		mr_cursor_refuse(at, "must be an empty object");
}

static void read_on(const struct mr_cursor *at, struct mr_work_action_step *step)
{
	static const char *const targets[] = { "reply_to_message", NULL };
	size_t chosen;

	if (!mr_cursor_is_present(at) || !mr_cursor_choice(at, targets, &chosen))
		return;
	step->on_reply_to_message = true;
	if (!step->add_flags.len)
		mr_cursor_refuse(at, "goes with add_flags only");
}

static void read_step(const struct mr_cursor *at, struct mr_work_action_step *step)
{
	static const char *const known[] = { "add_flags", "append_to_mailbox_id",
		"move_to_mailbox_id", "on", "smtp_send", NULL };
	struct mr_cursor flags = mr_cursor_key(at, "add_flags");
	struct mr_cursor append = mr_cursor_key(at, "append_to_mailbox_id");
	struct mr_cursor move = mr_cursor_key(at, "move_to_mailbox_id");
	struct mr_cursor send = mr_cursor_key(at, "smtp_send");
	struct mr_cursor on = mr_cursor_key(at, "on");
	int operations = 0;

	*step = (struct mr_work_action_step){ 0 };
	if (!mr_cursor_map(at))
		return;
	mr_cursor_only(at, known);
	operations += mr_cursor_is_present(&flags) + mr_cursor_is_present(&append) +
		mr_cursor_is_present(&move) + mr_cursor_is_present(&send);
	if (operations != 1) {
		mr_cursor_refuse(at,
			"must have exactly one of: add_flags, append_to_mailbox_id, "
			"move_to_mailbox_id, smtp_send");
		return;
	}
	mr_cursor_text_opt(&append, &step->append_to_mailbox_id);
	mr_cursor_text_opt(&move, &step->move_to_mailbox_id);
	if (mr_cursor_is_present(&flags))
		read_flags(&flags, &step->add_flags);
	if (mr_cursor_is_present(&send))
		read_smtp_send(&send, step);
	read_on(&on, step);
}

void mr_work_steps_at(const struct mr_cursor *at, struct mr_work_action_steps *out)
{
	struct mr_work_action_step *steps;
	size_t len;

	*out = (struct mr_work_action_steps){ .document = at->value };
	if (!mr_cursor_list(at, &len))
		return;
	if (len > MR_WORK_STEPS_MAX) {
		mr_cursor_refuse(at, "must not have more than %d steps", MR_WORK_STEPS_MAX);
		return;
	}
	steps = mr_arena_array(at->issues->arena, len + 1, sizeof(*steps));
	for (size_t i = 0; i < len; i++) {
		struct mr_cursor item = mr_cursor_item(at, i);

		read_step(&item, &steps[i]);
	}
	out->items = steps;
	out->len = len;
}

enum mr_code mr_work_steps_read(struct mr_ctx *cx, const struct mr_value *list,
	struct mr_work_action_steps *out)
{
	struct mr_issues issues;
	struct mr_cursor root;

	mr_issues_init(&issues, cx->arena);
	root = mr_cursor_root(list, &issues);
	mr_work_steps_at(&root, out);
	return mr_work_config_verdict(cx, &issues, "the steps");
}

const char *mr_work_step_label(struct mr_arena *arena, const struct mr_work_action_step *step)
{
	if (step->smtp_send)
		return "smtp_send";
	if (step->move_to_mailbox_id)
		return mr_arena_printf(arena, "move_to_mailbox_id_%s", step->move_to_mailbox_id);
	if (step->append_to_mailbox_id)
		return mr_arena_printf(arena, "append_to_mailbox_id_%s",
			step->append_to_mailbox_id);
	return step->on_reply_to_message ? "add_flags:ReplyToMessage" : "add_flags";
}
