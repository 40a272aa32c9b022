/* op/work/work_search.c - operation: full-text search in the messages of a workspace. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/index.h"
#include "workspace/search.h"

static const struct mr_param search_params[] = {
	MR_PARAM(struct mr_work_search, query, "query", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "words, \"a phrase\", begin*, AND OR NOT ( ), subject: from: to: body: "
			   "attachment:, status: since: until: has:attachment"),
	MR_PARAM(struct mr_work_search, limit, "limit", .summary = "how many at most", .min = 1,
		.max = MR_WORK_SEARCH_MAX, .fallback = "20"),
	MR_PARAM(struct mr_work_search, status, "status", .summary = "only messages in this state",
		.choices = mr_work_status_names),
	MR_PARAM(struct mr_work_search, since, "since",
		.summary = "only from this time on: 2026-03-11, or 7d for the last seven days"),
	MR_PARAM(struct mr_work_search, until, "until",
		.summary = "only up to this time; a date includes its day"),
	{ 0 },
};

static const struct mr_field span_fields[] = {
	MR_FIELD(struct mr_span, start, "start"),
	MR_FIELD(struct mr_span, end, "end"),
	{ 0 },
};

#define HIT_FIELD(member, about) MR_WORK_FIELD(struct mr_work_hit, member, about)
static const struct mr_field hit_fields[] = {
	HIT_FIELD(message_id, "of the message"),
	HIT_FIELD(status, "where it is"),
	HIT_FIELD(from, "who sent it"),
	HIT_FIELD(subject, "as it came"),
	MR_WORK_FIELD_NULL(struct mr_work_hit, time, "when it was received, else sent"),
	MR_FIELD(struct mr_work_hit, snippet.text, "snippet",
		.summary = "the lines of its text around the first hit"),
	MR_FIELD_ROWS(struct mr_work_hit, snippet.hits, snippet.hit_count, struct mr_span,
		span_fields, "offsets",
		.summary = "where the hits are in the snippet, in bytes of UTF-8"),
	MR_WORK_FIELD_NULL(struct mr_work_hit, view_path, "the file that shows it"),
	{ 0 },
};

static const struct mr_field search_fields[] = {
	MR_WORK_FIELD(struct mr_work_hits, count, "how many were found, up to the limit"),
	MR_WORK_FIELD(struct mr_work_hits, query, "what was looked for"),
	MR_FIELD_ROWS(struct mr_work_hits, items, len, struct mr_work_hit, hit_fields, "items",
		.summary = "the best first"),
	{ 0 },
};

MR_WORK_BIND(searching, mr_work_search, struct mr_work_search, struct mr_work_hits);

const struct mr_op mr_op_work_search = {
	.name = "work_search",
	.command = "work search",
	.summary = "Search in subjects, people, texts and names of attachments",
	.help = "All words must be in a message, in any of these places; case and accents do not "
		"matter. subject:, from:, to:, body: and attachment: before a word, a phrase or "
		"parentheses look in one place. Messages of every status are found.",
	.code = "search_result",
	.params = search_params,
	.result = search_fields,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &searching,
	.render = mr_render_work_hits,
};
