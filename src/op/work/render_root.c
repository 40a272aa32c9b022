/* op/work/render_root.c - a workspace as a whole on a terminal: made, filled, and looked at. */
#include "op/work/render_page.h"
#include "op/work/render_work.h"
#include "op/work/work_ops.h"

enum { FAILURES_SHOWN = 20, KIB = 1024 };

void mr_render_workspace_made(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *steps = mr_part_list(value, "next_steps");
	bool is_new = mr_part_bool(value, "do_not_edit_created");

	mr_buf_printf(out, "%s in %s.\n",
		is_new ? "An e-mail workspace was made" : "The e-mail workspace is complete",
		mr_part_line(arena, value, "workspace_path"));
	if (mr_value_get(value, "workspace_skill_path") &&
		!mr_part_bool(value, "workspace_skill_installed"))
		mr_buf_printf(out, "%s is not ours and was left as it is.\n",
			mr_part_line(arena, value, "workspace_skill_path"));
	else if (mr_part_bool(value, "workspace_skill_installed"))
		mr_buf_printf(out, "Agents find it in %s, and learn it from\n%s.\n",
			mr_part_line(arena, value, "agent_skill_path"),
			mr_part_line(arena, value, "workspace_skill_path"));
	if (!steps)
		return;
	mr_buf_putc(out, '\n');
	mr_part_styled(out, how, mr_style_bold, "Next\n");
	for (size_t i = 0; i < steps->list.len; i++)
		mr_buf_printf(out, "  %s\n",
			mr_render_line(arena, mr_around_spell(arena, steps->list.items[i].text)));
}

void mr_render_imported(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *failures = mr_part_list(value, "failures");
	int64_t present = mr_part_int(value, "already_present_count");

	mr_buf_printf(out, "Took in %s",
		mr_page_count(arena, value, "new_message_count", "mail", "mails"));
	if (present)
		mr_buf_printf(out, "; %lld %s there already", (long long)present,
			present == 1 ? "was" : "were");
	mr_buf_puts(out, ".\n");
	if (mr_part_int(value, "triage_created_count"))
		mr_buf_puts(out, "They wait for a decision: `mailroom work triage`.\n");
	if (!failures)
		return;
	mr_buf_putc(out, '\n');
	mr_part_styled(out, how, mr_style_bold,
		mr_arena_printf(arena, "%s could not be taken in\n",
			mr_page_count(arena, value, "failed_count", "source", "sources")));
	for (size_t i = 0; i < failures->list.len && i < FAILURES_SHOWN; i++)
		mr_buf_printf(out, "  %s: %s\n",
			mr_part_line(arena, &failures->list.items[i], "source"),
			mr_part_line(arena, &failures->list.items[i], "error"));
	if (failures->list.len > FAILURES_SHOWN)
		mr_buf_printf(out, "  and %zu more\n", failures->list.len - FAILURES_SHOWN);
}

/* "open 2, later 1": the members of a map that are not 0. */
static const char *parts_of(struct mr_arena *arena, const struct mr_value *map)
{
	const char *text = "";

	for (size_t i = 0; map && map->kind == MR_MAP && i < map->map.len; i++) {
		const struct mr_pair *pair = &map->map.pairs[i];

		if (pair->value.kind == MR_INT && pair->value.integer)
			text = mr_arena_printf(arena, "%s%s%s %lld", text, *text ? ", " : "",
				mr_render_line(arena, pair->key), (long long)pair->value.integer);
	}
	return text;
}

/* "3 active (open 2, later 1), 1 archived". */
static const char *cases_of(struct mr_arena *arena, const struct mr_value *value)
{
	const char *groups = parts_of(arena, mr_value_get(value, "cases_by_group"));

	return mr_arena_printf(arena, "%s active%s%s%s, %s archived",
		mr_part_number(arena, value, "case_count"), *groups ? " (" : "", groups,
		*groups ? ")" : "", mr_part_number(arena, value, "archived_case_count"));
}

static const char *with_parts(struct mr_arena *arena, const struct mr_value *value,
	const char *count, const char *parts)
{
	const char *list = parts_of(arena, mr_value_get(value, parts));

	return mr_arena_printf(arena, "%s%s%s%s", mr_part_number(arena, value, count),
		*list ? " (" : "", list, *list ? ")" : "");
}

void mr_render_work_status(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *progress = mr_value_get(value, "progress");
	const char *summary = mr_part_line(arena, progress, "summary");

	if (mr_part_bool(value, "workspace_locked")) {
		mr_buf_printf(out, "%s\n", mr_part_line(arena, value, "hint"));
	} else {
		mr_page_head(out, how, "Triage",
			mr_page_count(arena, value, "triage_count", "message waits for a decision",
				"messages wait for a decision"));
		mr_page_head(out, how, "Cases", cases_of(arena, value));
		mr_page_head(out, how, "Archive",
			mr_page_count(arena, value, "archive_message_category_count", "category",
				"categories"));
		mr_page_head(out, how, "Contacts",
			mr_arena_printf(arena, "%s active, %s archived",
				mr_part_number(arena, value, "contact_count"),
				mr_part_number(arena, value, "archived_contact_count")));
		mr_page_head(out, how, "Messages",
			with_parts(arena, value, "message_count", "message_status"));
		if (mr_value_get(value, "storage_bytes"))
			mr_page_head(out, how, "Storage",
				mr_arena_printf(arena, "%lld KiB of mail",
					(long long)mr_part_int(value, "storage_bytes") / KIB));
		mr_page_head(out, how, "Queued",
			with_parts(arena, value, "push_count", "push_status"));
	}
	if (*summary)
		mr_page_head(out, how, "Last", summary);
}
