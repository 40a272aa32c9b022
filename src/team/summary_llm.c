/* team/summary_llm.c - has a language model word a summary. */
#include "base/buf.h"
#include "base/utf8.h"
#include "team/llm.h"
#include "team/summary_private.h"

#include <string.h>

enum {
	DATA_BYTES = 256 << 10,
	THREADS = 8, /* of several, the first are shown */
	POINTS = 6,  /* of each */
};

static const char TASK_ONE[] =
	"You sum up a conversation between coding agents. Answer with one JSON object: "
	"{\"key_points\": [texts], \"action_items\": [texts], \"code_references\": [texts]}, at "
	"most "
	"ten short texts in each list, in the language of the conversation.";
static const char TASK_ALL[] =
	"You sum up conversations between coding agents, of which you see the notes. Answer with "
	"one "
	"JSON object: {\"threads\": [{\"thread_id\": text, \"key_points\": [texts], \"actions\": "
	"[texts]}], \"aggregate\": {\"key_points\": [texts], \"action_items\": [texts]}}, at most "
	"ten "
	"short texts in each list of a thread and twenty-five in each of the aggregate, in the "
	"language of the notes.";

/* A text of the model's as one of ours: on one line, not too long. */
static const char *cleaned(struct mr_arena *arena, const char *text)
{
	size_t len = mr_utf8_truncate(text, strlen(text), MR_TEAM_SUMMARY_TEXT_BYTES);
	char *copy = mr_arena_strndup(arena, text, len);

	for (char *c = copy; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	}
	return mr_str_trim(arena, copy);
}

/* Replace `list` by the model's under `key`, unless there is nothing in it. */
static bool take_list(struct mr_arena *arena, const struct mr_value *object, const char *key,
	size_t max, struct mr_texts *list)
{
	const struct mr_value *value = mr_value_get(object, key);
	struct mr_texts taken = { mr_arena_array(arena, max + 1, sizeof(*taken.items)), 0 };

	if (!value || value->kind != MR_LIST)
		return false;
	for (size_t i = 0; i < value->list.len && taken.len < max; i++) {
		const struct mr_value *item = &value->list.items[i];
		const char *text = item->kind == MR_TEXT ? cleaned(arena, item->text) : "";

		if (*text)
			taken.items[taken.len++] = text;
	}
	if (taken.len > 0)
		*list = taken;
	return taken.len > 0;
}

void mr_team_summary_take(struct mr_arena *arena, const struct mr_value *object,
	struct mr_team_summary *summary)
{
	bool any = false;

	any |= take_list(arena, object, "key_points", MR_TEAM_SUMMARY_POINTS, &summary->key_points);
	any |= take_list(arena, object, "action_items", MR_TEAM_SUMMARY_POINTS,
		&summary->action_items);
	any |= take_list(arena, object, "code_references", MR_TEAM_SUMMARY_POINTS,
		&summary->code_references);
	if (any)
		summary->source = "llm";
}

void mr_team_summary_refine(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *model, const struct mr_team_excerpts *excerpts, struct mr_team_summary *summary)
{
	struct mr_buf data MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err before = cx->err;
	const struct mr_value *object;

	mr_buf_init(&data, DATA_BYTES);
	for (size_t i = 0; i < excerpts->len; i++)
		mr_buf_printf(&data, "%s%s wrote:\n%s\n", i ? "\n" : "", excerpts->items[i].from,
			excerpts->items[i].text);
	if (mr_team_llm_ask(cx, config, model, TASK_ONE, mr_buf_text(&data), &object)) {
		cx->err = before;
		return;
	}
	mr_team_summary_take(cx->arena, object, summary);
}

static void put_notes(struct mr_buf *data, const char *what, const struct mr_texts *notes)
{
	mr_buf_printf(data, "%s:\n", what);
	for (size_t i = 0; i < notes->len && i < POINTS; i++)
		mr_buf_printf(data, "- %s\n", notes->items[i]);
}

static void take_thread(struct mr_arena *arena, const struct mr_value *thread,
	struct mr_team_summaries *all)
{
	const struct mr_value *id = mr_value_get(thread, "thread_id");
	bool any = false;

	for (size_t i = 0; id && id->kind == MR_TEXT && i < all->len && i < THREADS; i++) {
		struct mr_team_summary *summary = &all->items[i];

		if (!mr_str_eq(summary->thread_id, id->text))
			continue;
		any |= take_list(arena, thread, "key_points", MR_TEAM_SUMMARY_POINTS,
			&summary->key_points);
		any |= take_list(arena, thread, "actions", MR_TEAM_SUMMARY_POINTS,
			&summary->action_items);
		if (any)
			summary->source = "llm";
		return;
	}
}

void mr_team_summary_take_all(struct mr_arena *arena, const struct mr_value *object,
	struct mr_team_summaries *all)
{
	const struct mr_value *threads = mr_value_get(object, "threads");
	const struct mr_value *together = mr_value_get(object, "aggregate");
	bool any = false;

	for (size_t i = 0; threads && threads->kind == MR_LIST && i < threads->list.len; i++)
		take_thread(arena, &threads->list.items[i], all);
	any |= take_list(arena, together, "key_points", MR_TEAM_SUMMARY_AGGREGATE,
		&all->key_points);
	any |= take_list(arena, together, "action_items", MR_TEAM_SUMMARY_AGGREGATE,
		&all->action_items);
	if (any)
		all->source = "llm";
}

void mr_team_summary_refine_all(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *model, struct mr_team_summaries *all)
{
	struct mr_buf data MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err before = cx->err;
	const struct mr_value *object;

	mr_buf_init(&data, DATA_BYTES);
	for (size_t i = 0; i < all->len && i < THREADS; i++) {
		mr_buf_printf(&data, "thread_id %s\n", all->items[i].thread_id);
		put_notes(&data, "points", &all->items[i].key_points);
		put_notes(&data, "actions", &all->items[i].action_items);
	}
	if (mr_team_llm_ask(cx, config, model, TASK_ALL, mr_buf_text(&data), &object)) {
		cx->err = before;
		return;
	}
	mr_team_summary_take_all(cx->arena, object, all);
}
