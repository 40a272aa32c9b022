/* op/team/shape_team_search.c - messages that a search found, as the team contract shows them. */
#include "op/team/shape_team_search.h"

#include "op/team/shape_team.h"

static const struct mr_field span_fields[] = {
	MR_FIELD(struct mr_span, start, "start"),
	MR_FIELD(struct mr_span, end, "end"),
	{ 0 },
};

const struct mr_field mr_shape_team_hit_fields[] = {
	MR_FIELD(struct mr_team_hit, message.id, "id"),
	MR_FIELD(struct mr_team_hit, message.subject, "subject"),
	MR_FIELD(struct mr_team_hit, message.importance, "importance",
		.choices = mr_shape_team_importances),
	MR_FIELD(struct mr_team_hit, message.ack_required, "ack_required"),
	MR_FIELD_TIME(struct mr_team_hit, message.created_ts, "created_ts"),
	MR_FIELD(struct mr_team_hit, message.thread_id, "thread_id", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_team_hit, from, "from"),
	MR_FIELD(struct mr_team_hit, message.verified, "from_verified",
		.summary = "whether the sender had proved to be who it is"),
	MR_FIELD(struct mr_team_hit, sender_project, "sender_project",
		.summary = "the slug of the sender's project"),
	MR_FIELD(struct mr_team_hit, from_human, "is_human",
		.summary = "whether a person wrote it"),
	MR_FIELD(struct mr_team_hit, message.uid, "uid"),
	MR_FIELD(struct mr_team_hit, project_slug, "project", .summary = "the slug of its project"),
	MR_FIELD(struct mr_team_hit, snippet.text, "snippet",
		.summary = "plain text around the hits"),
	MR_FIELD_ROWS(struct mr_team_hit, snippet.hits, snippet.hit_count, struct mr_span,
		span_fields, "offsets",
		.summary = "where the hits are in the snippet, in bytes of UTF-8"),
	MR_FIELD(struct mr_team_hit, score, "score",
		.summary = "the higher the better; comparable within one answer only"),
	{ 0 },
};

void mr_shape_team_search_mode(struct mr_out *out, const char *key, const void *from)
{
	const enum mr_match_mode *mode = from;

	mr_out_text(out, key, mr_team_search_mode_name(*mode));
}
