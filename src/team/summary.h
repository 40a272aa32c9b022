/* team/summary.h - what a conversation came to, without a model, or with one that is configured. */
#pragma once

#include "team/thread.h"

struct mr_team_mention {
	const char *name;
	int64_t count;
};

struct mr_team_summary {
	const char *thread_id;
	struct mr_texts participants;
	int64_t total_messages;
	struct mr_texts key_points, action_items, code_references;
	int64_t open_actions, done_actions;
	struct mr_team_mention *mentions;
	size_t mention_count;
	const char *source;            /* heuristic, llm */
	struct mr_team_items examples; /* the first three */
};

/* The heuristic of spec 15 over messages in their order, with bodies. Pure. */
void mr_team_summarise(struct mr_arena *arena, const char *thread_id,
	const struct mr_team_items *messages, struct mr_team_summary *out);

/* A thread of one project, or of several (a product); refined by the configured endpoint when
 * `llm_mode` is set and there is one. A model that fails costs nothing but its time. */
MR_CHECK enum mr_code mr_team_summary_thread(struct mr_ctx *cx, struct mr_team *team,
	const int64_t *project_ids, size_t project_count, const char *thread_id, int64_t limit,
	bool llm_mode, const char *llm_model, struct mr_team_summary *out);
