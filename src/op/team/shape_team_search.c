/* op/team/shape_team_search.c */
#include "op/team/shape_team_search.h"

#include "op/team/shape_team.h"

static const struct mr_field offset_fields[] = {
	{ .name = "start", .type = MR_TYPE_INT },
	{ .name = "end", .type = MR_TYPE_INT },
	{ 0 },
};

const struct mr_field mr_shape_team_hit_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "subject", .type = MR_TYPE_TEXT },
	{ .name = "importance", .type = MR_TYPE_TEXT, .choices = mr_shape_team_importances },
	{ .name = "ack_required", .type = MR_TYPE_BOOL },
	{ .name = "created_ts", .type = MR_TYPE_TEXT },
	{ .name = "thread_id", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "from", .type = MR_TYPE_TEXT },
	MR_SHAPE_TEAM_PROVENANCE_FIELDS,
	{ .name = "uid", .type = MR_TYPE_TEXT },
	{ .name = "project", .type = MR_TYPE_TEXT, .summary = "the slug of its project" },
	{ .name = "snippet", .type = MR_TYPE_TEXT, .summary = "plain text around the hits" },
	{ .name = "offsets",
		.type = MR_TYPE_LIST,
		.summary = "where the hits are in the snippet, in bytes of UTF-8",
		.fields = offset_fields },
	{ .name = "score",
		.type = MR_TYPE_REAL,
		.summary = "the higher the better; comparable within one answer only" },
	{ 0 },
};

static void put_hit(struct mr_out *out, const struct mr_team_hit *hit)
{
	mr_out_map(out, NULL);
	mr_out_int(out, "id", hit->message.id);
	mr_out_text(out, "subject", hit->message.subject);
	mr_out_text(out, "importance", mr_team_importance_name(hit->message.importance));
	mr_out_bool(out, "ack_required", hit->message.ack_required);
	mr_shape_team_time(out, "created_ts", hit->message.created_ts);
	mr_out_text(out, "thread_id", hit->message.thread_id);
	mr_out_text(out, "from", hit->from);
	mr_out_bool(out, "from_verified", hit->message.verified);
	mr_out_text(out, "sender_project", hit->sender_project);
	mr_out_bool(out, "is_human", hit->from_human);
	mr_out_text(out, "uid", hit->message.uid);
	mr_out_text(out, "project", hit->project_slug);
	mr_out_text(out, "snippet", hit->snippet);
	mr_out_list(out, "offsets");
	for (size_t i = 0; i < hit->hit_count; i++) {
		mr_out_map(out, NULL);
		mr_out_int(out, "start", (int64_t)hit->starts[i]);
		mr_out_int(out, "end", (int64_t)hit->ends[i]);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_real(out, "score", hit->score);
	mr_out_end(out);
}

void mr_shape_team_hits(struct mr_out *out, const char *key, const struct mr_team_hits *hits)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < hits->len; i++)
		put_hit(out, &hits->items[i]);
	mr_out_end(out);
}
