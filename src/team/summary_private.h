/* team/summary_private.h - a summary in progress; for summary.c, summary_lines.c and
 * summary_llm.c. */
#pragma once

#include "team/summary.h"
#include "text/value.h"

/* Names and how often they were met: at most TALLY_NAMES different ones, later ones are not
 * counted. */
enum { MR_TEAM_TALLY_NAMES = 1024, MR_TEAM_TALLY_SLOTS = 2 * MR_TEAM_TALLY_NAMES };

struct mr_team_tally {
	struct mr_arena *arena;
	struct mr_team_mention *slots; /* by hash; NULL until the first name */
	size_t len;
};
void mr_team_tally_add(struct mr_team_tally *tally, const char *name, size_t len, int64_t count);
/* The most frequent, then by name; at most MR_TEAM_SUMMARY_MENTIONS. */
struct mr_team_mention *mr_team_tally_top(const struct mr_team_tally *tally, size_t *out_len);

/* One message after the other: a thread need not be in memory as a whole. */
enum { MR_TEAM_REFERENCE_BYTES = 512 };

struct mr_team_summing {
	struct mr_arena *arena;                   /* of what is kept */
	char *references[MR_TEAM_SUMMARY_POINTS]; /* the room of code_references */
	struct mr_team_summary summary;
	struct mr_team_tally tally;
	size_t participants_room;
};
void mr_team_summing_start(struct mr_team_summing *summing, struct mr_arena *arena,
	const char *thread_id);
void mr_team_summing_add(struct mr_team_summing *summing, const struct mr_team_item *item);
void mr_team_summing_end(struct mr_team_summing *summing, struct mr_team_summary *out);

/* The part of a thread that is sent to a model. */
enum { MR_TEAM_LLM_MESSAGES = 15, MR_TEAM_LLM_CHARS = 800 };
struct mr_team_excerpts {
	struct {
		const char *from, *text;
	} items[MR_TEAM_LLM_MESSAGES];
	size_t len;
};
/* Ask the model to word the summary. After a failure it is unchanged. */
void mr_team_summary_refine(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *model, const struct mr_team_excerpts *excerpts,
	struct mr_team_summary *summary);
/* The same for several at once, and their aggregate. */
void mr_team_summary_refine_all(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *model, struct mr_team_summaries *all);
/* Take over the lists of a model's answer: cleaned, and within our own limits. Lists that are
 * missing or empty change nothing. Pure. */
void mr_team_summary_take(struct mr_arena *arena, const struct mr_value *object,
	struct mr_team_summary *summary);
void mr_team_summary_take_all(struct mr_arena *arena, const struct mr_value *object,
	struct mr_team_summaries *all);
