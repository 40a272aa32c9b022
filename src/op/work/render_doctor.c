/* op/work/render_doctor.c - what is wrong with a workspace, on a terminal. */
#include "op/render_part.h"
#include "op/work/render_work.h"

static const char *noun(int64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

static void put_issue(struct mr_buf *out, const struct mr_value *issue, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool is_error = mr_str_eq(mr_part_line(arena, issue, "severity"), "error");
	const char *path = mr_part_line(arena, issue, "path");

	mr_buf_puts(out, "  ");
	mr_part_styled(out, how, is_error ? mr_style_bold_red : mr_style_yellow,
		*path ? path : mr_part_line(arena, issue, "code"));
	mr_buf_printf(out, "\n    %s\n", mr_part_line(arena, issue, "message"));
}

static bool has_code(const struct mr_value *issue, const char *code)
{
	const struct mr_value *own = mr_value_get(issue, "code");

	return own && own->kind == MR_TEXT && mr_str_eq(own->text, code);
}

/* Issues of one code stand together, in the order in which codes come first. */
static void put_issues(struct mr_buf *out, const struct mr_value *list, const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *issue = &list->list.items[i];
		const char *code = mr_part_line(arena, issue, "code");
		bool told = false;

		for (size_t k = 0; k < i && !told; k++)
			told = has_code(&list->list.items[k], code);
		if (told)
			continue;
		mr_part_styled(out, how, mr_style_bold, code);
		mr_buf_printf(out, " (%s%s)\n", mr_part_line(arena, issue, "severity"),
			mr_part_bool(issue, "repairable") ? ", repairable" : "");
		for (size_t k = i; k < list->list.len; k++)
			if (has_code(&list->list.items[k], code))
				put_issue(out, &list->list.items[k], how);
	}
}

void mr_render_work_doctor(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *issues = mr_part_list(value, "issues");
	int64_t count = mr_part_int(value, "issue_count");
	int64_t errors = mr_part_int(value, "error_count");
	int64_t repairable = mr_part_int(value, "repairable_count");

	if (!count) {
		mr_buf_puts(out, "The workspace is in order.\n");
		return;
	}
	if (issues)
		put_issues(out, issues, how);
	mr_buf_printf(out, "\n%lld %s and %lld %s.\n", (long long)errors,
		noun(errors, "error", "errors"), (long long)(count - errors),
		noun(count - errors, "warning", "warnings"));
	if (repairable)
		mr_buf_printf(out,
			"%lld can be repaired: run `mailroom work doctor repair --confirm`.\n",
			(long long)repairable);
}

static void put_count(struct mr_buf *out, const struct mr_value *value, const char *key,
	const char *one, const char *many)
{
	int64_t count = mr_part_int(value, key);

	if (count)
		mr_buf_printf(out, "  %lld %s\n", (long long)count, noun(count, one, many));
}

void mr_render_work_repaired(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *remaining = mr_part_list(value, "remaining_issues");
	int64_t before = mr_part_int(value, "before_issue_count");
	int64_t after = mr_part_int(value, "after_issue_count");

	if (!before && !after) {
		mr_buf_puts(out, "There was nothing to repair.\n");
		return;
	}
	mr_buf_printf(out, "Of %lld %s %lld %s.\n", (long long)before,
		noun(before, "issue", "issues"), (long long)after,
		noun(after, "remains", "remain"));
	if (mr_part_bool(value, "config_migrated"))
		mr_buf_puts(out, "  the configuration was brought up to date\n");
	put_count(out, value, "migrated_case_count", "case was brought up to date",
		"cases were brought up to date");
	put_count(out, value, "migrated_category_count", "archive category was brought up to date",
		"archive categories were brought up to date");
	put_count(out, value, "migrated_message_count", "message went into its list",
		"messages went into their lists");
	put_count(out, value, "migrated_push_count", "queued item was brought up to date",
		"queued items were brought up to date");
	put_count(out, value, "sidecar_written_count", "file about the server was written again",
		"files about the server were written again");
	put_count(out, value, "sidecar_removed_count", "file without a message was deleted",
		"files without a message were deleted");
	put_count(out, value, "directory_renamed_count", "directory got the name of its case",
		"directories got the names of their cases");
	put_count(out, value, "message_cache_rebuilt_count", "record was made anew",
		"records were made anew");
	if (remaining) {
		mr_buf_putc(out, '\n');
		put_issues(out, remaining, how);
	}
}
