/* op/team/render_search.c - search results and thread summaries on a terminal. */
#include "op/render_part.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

/* Empty when there is none. */
static struct mr_value list_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_LIST ? *value : (struct mr_value){ .kind = MR_LIST };
}

/* One hit: subject, sender, project (with `project`) and time; below it the snippet. */
static void put_hit(struct mr_buf *out, const struct mr_render *how, const struct mr_value *hit,
	bool project)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *subject = mr_render_line(arena, text_at(hit, "subject"));
	const char *words[5];
	struct mr_texts about = { words, 0 };

	words[about.len++] = text_at(hit, "from");
	if (project)
		words[about.len++] = text_at(hit, "project");
	if (*text_at(hit, "thread_id"))
		words[about.len++] = text_at(hit, "thread_id");
	if (*text_at(hit, "importance") && !mr_str_eq(text_at(hit, "importance"), "normal"))
		words[about.len++] = text_at(hit, "importance");
	words[about.len++] = mr_render_when(arena, hit, "created_ts", how);
	mr_buf_printf(out, "%lld  ", (long long)mr_part_int(hit, "id"));
	mr_part_styled(out, how, mr_style_bold, *subject ? subject : "(no subject)");
	mr_buf_puts(out, "  ");
	mr_part_styled(out, how, mr_style_dim,
		mr_render_line(arena, mr_str_join(arena, &about, ", ")));
	mr_buf_putc(out, '\n');
	mr_part_snippet(out, how, hit, 4);
}

/* Are the hits of more than one project? */
static bool is_mixed(const struct mr_value *list)
{
	for (size_t i = 1; i < list->list.len; i++) {
		if (!mr_str_eq(text_at(&list->list.items[i], "project"),
			    text_at(&list->list.items[0], "project")))
			return true;
	}
	return false;
}

void mr_render_hits(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how)
{
	struct mr_value list = list_at(value, "result");
	const char *mode = text_at(value, "mode");

	for (size_t i = 0; i < list.list.len; i++)
		put_hit(out, how, &list.list.items[i], is_mixed(&list));
	if (list.list.len == 0)
		mr_buf_puts(out, "nothing found\n");
	if (mr_str_eq(mode, "fts_quoted"))
		mr_part_styled(out, how, mr_style_dim, "the query was read as plain words\n");
	else if (mr_str_eq(mode, "like"))
		mr_part_styled(out, how, mr_style_dim,
			"looked for in the texts themselves, newest first\n");
	mr_part_next(out, value, how);
}

static void put_texts(struct mr_buf *out, const struct mr_render *how, const char *title,
	const struct mr_value *list)
{
	if (list->list.len == 0)
		return;
	mr_part_styled(out, how, mr_style_dim, title);
	mr_buf_putc(out, '\n');
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *one = &list->list.items[i];
		const char *text = one->kind == MR_TEXT ? one->text : "";

		mr_buf_puts(out, "  ");
		mr_part_piece(out, how, NULL, text, strlen(text));
		mr_buf_putc(out, '\n');
	}
}

static void put_mentions(struct mr_buf *out, const struct mr_render *how,
	const struct mr_value *list)
{
	for (size_t i = 0; i < list->list.len; i++) {
		const char *name = text_at(&list->list.items[i], "name");

		if (i == 0)
			mr_part_styled(out, how, mr_style_dim, "mentions\n");
		mr_buf_puts(out, i ? ", @" : "  @");
		mr_part_piece(out, how, NULL, name, strlen(name));
		mr_buf_printf(out, " %lld", (long long)mr_part_int(&list->list.items[i], "count"));
	}
	if (list->list.len)
		mr_buf_putc(out, '\n');
}

static void put_title(struct mr_buf *out, const struct mr_render *how, const char *thread_id,
	const struct mr_value *summary)
{
	struct mr_value names = list_at(summary, "participants");
	long long total = (long long)mr_part_int(summary, "total_messages");

	mr_part_piece(out, how, mr_style_bold, thread_id, strlen(thread_id));
	mr_buf_printf(out, ": %lld message%s", total, total == 1 ? "" : "s");
	for (size_t i = 0; i < names.list.len; i++) {
		const struct mr_value *name = &names.list.items[i];

		mr_buf_puts(out, i ? ", " : " by ");
		if (name->kind == MR_TEXT)
			mr_part_piece(out, how, NULL, name->text, strlen(name->text));
	}
	if (mr_str_eq(text_at(summary, "source"), "llm"))
		mr_part_styled(out, how, mr_style_dim, ", worded by a model");
	mr_buf_putc(out, '\n');
}

static void put_summary(struct mr_buf *out, const struct mr_render *how, const char *thread_id,
	const struct mr_value *summary)
{
	struct mr_value points = list_at(summary, "key_points");
	struct mr_value actions = list_at(summary, "action_items");
	struct mr_value mentions = list_at(summary, "mentions");
	struct mr_value paths = list_at(summary, "code_references");
	long long open = (long long)mr_part_int(summary, "open_actions"),
		  done = (long long)mr_part_int(summary, "done_actions");
	char title[80] = "actions";

	put_title(out, how, thread_id, summary);
	if (open + done > 0)
		snprintf(title, sizeof(title), "actions, %lld open, %lld done", open, done);
	put_texts(out, how, "points", &points);
	put_texts(out, how, title, &actions);
	put_mentions(out, how, &mentions);
	put_texts(out, how, "paths", &paths);
}

static void put_summaries(struct mr_buf *out, const struct mr_render *how,
	const struct mr_value *value)
{
	struct mr_value threads = list_at(value, "threads");
	const struct mr_value *together = mr_value_get(value, "aggregate");
	struct mr_value points = list_at(together, "key_points");
	struct mr_value actions = list_at(together, "action_items");
	struct mr_value mentions = list_at(together, "top_mentions");

	for (size_t i = 0; i < threads.list.len; i++) {
		const struct mr_value *one = &threads.list.items[i];

		put_summary(out, how, text_at(one, "thread_id"), mr_value_get(one, "summary"));
		mr_buf_putc(out, '\n');
	}
	mr_part_styled(out, how, mr_style_bold, "together\n");
	put_texts(out, how, "points", &points);
	put_texts(out, how, "actions", &actions);
	put_mentions(out, how, &mentions);
}

void mr_render_summary(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_value examples = list_at(value, "examples");

	if (mr_value_get(value, "threads")) {
		put_summaries(out, how, value);
		return;
	}
	put_summary(out, how, text_at(value, "thread_id"), mr_value_get(value, "summary"));
	for (size_t i = 0; i < examples.list.len; i++) {
		if (i == 0)
			mr_part_styled(out, how, mr_style_dim, "first messages\n");
		mr_buf_puts(out, "  ");
		put_hit(out, how, &examples.list.items[i], false);
	}
}
