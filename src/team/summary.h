/*
 * team/summary.h - summaries of threads, by a heuristic or by a configured language model.
 *
 * The heuristic (spec 15) reads lines: points of lists, boxes that are checked or not, lines with
 * TODO, ACTION, FIXME, NEXT or BLOCKED as words of their own, @mentions, and `paths` in back
 * quotes. Participants, totals, mentions and boxes are counted, whatever a model says; it may only
 * word the points, the actions and the references.
 */
#pragma once

#include "team/thread.h"

enum {
	MR_TEAM_SUMMARY_POINTS = 10,   /* of each kind, in one summary */
	MR_TEAM_SUMMARY_MENTIONS = 10, /* the most frequent */
	MR_TEAM_SUMMARY_EXAMPLES = 3,
	MR_TEAM_SUMMARY_AGGREGATE = 25,       /* points and actions of several threads together */
	MR_TEAM_SUMMARY_THREADS = 100,        /* in one call */
	MR_TEAM_SUMMARY_BODY_BYTES = 1 << 16, /* of a message, the rest is not looked at */
	MR_TEAM_SUMMARY_TEXT_BYTES = 1000,    /* of one point; the rest is cut */
};

struct mr_team_mention {
	const char *name;
	int64_t count;
};

struct mr_team_summary {
	const char *thread_id;
	struct mr_texts participants; /* sorted */
	int64_t total_messages;       /* that were looked at */
	struct mr_texts key_points, action_items, code_references;
	int64_t open_actions, done_actions;
	struct mr_team_mention *mentions; /* the most frequent first */
	size_t mention_count;
	const char *source;            /* heuristic, llm */
	struct mr_team_items examples; /* the first three, without bodies */
};

/* The heuristic over messages in their order, with bodies. Pure. Texts are copied. */
void mr_team_summarise(struct mr_arena *arena, const char *thread_id,
	const struct mr_team_items *messages, struct mr_team_summary *out);

/*
 * A thread of one project, or of several (a product): its first `limit` messages; 0 or more than
 * MR_TEAM_LIST_MAX is that. Worded by the configured model when `llm_mode` is set and there is one;
 * `llm_model` NULL is the configured name. When the model fails, the heuristic's result is
 * returned. An unknown thread has no messages. Only messages that `rights` reach count.
 */
MR_CHECK enum mr_code mr_team_summary_thread(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const int64_t *project_ids, size_t project_count,
	const char *thread_id, int64_t limit, bool llm_mode, const char *llm_model,
	struct mr_team_summary *out);

struct mr_team_summaries {
	struct mr_team_summary *items; /* as they were asked for */
	size_t len;
	struct mr_texts key_points, action_items; /* of all, in their order */
	struct mr_team_mention *mentions;
	size_t mention_count;
	const char *source; /* of the aggregate */
};
/* Summaries of several threads, and their aggregate. INVALID_ARGUMENT (argument `thread_ids`)
 * for none, and for more than MR_TEAM_SUMMARY_THREADS. */
MR_CHECK enum mr_code mr_team_summary_threads(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const int64_t *project_ids, size_t project_count,
	const struct mr_texts *thread_ids, int64_t limit, bool llm_mode, const char *llm_model,
	struct mr_team_summaries *out);

/* A thread of the project that is named. */
struct mr_team_summarize {
	const char *project_key, *thread_id;
	bool include_examples; /* without it there are none */
	bool llm_mode;
	const char *llm_model;
	const struct mr_team_rights *rights; /* whose mail may be read; NULL: everybody's */
};
/* Its first MR_TEAM_LIST_MAX messages, as mr_team_summary_thread(); NOT_FOUND: the project. */
MR_CHECK enum mr_code mr_team_summarize(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_summarize *request, struct mr_team_summary *out);

struct mr_team_summarize_many {
	const char *project_key;
	struct mr_texts thread_ids;
	int64_t limit; /* of messages in each */
	bool llm_mode;
	const char *llm_model;
	const struct mr_team_rights *rights; /* whose mail may be read; NULL: everybody's */
};
/* As mr_team_summary_threads(); NOT_FOUND: the project. */
MR_CHECK enum mr_code mr_team_summarize_many(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_summarize_many *request, struct mr_team_summaries *out);
