/* op/team/shape_team_lease.c - leases on files, as the team contract shows them. */
#include "op/team/shape_team.h"

const struct mr_field mr_shape_team_grant_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "path_pattern", .type = MR_TYPE_TEXT, .summary = "normalised" },
	{ .name = "exclusive", .type = MR_TYPE_BOOL },
	{ .name = "reason", .type = MR_TYPE_TEXT },
	{ .name = "expires_ts", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field holder_fields[] = {
	{ .name = "agent", .type = MR_TYPE_TEXT },
	{ .name = "path_pattern", .type = MR_TYPE_TEXT },
	{ .name = "exclusive", .type = MR_TYPE_BOOL },
	{ .name = "expires_ts", .type = MR_TYPE_TEXT },
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "reason", .type = MR_TYPE_TEXT },
	{ 0 },
};

const struct mr_field mr_shape_team_conflict_fields[] = {
	{ .name = "path", .type = MR_TYPE_TEXT, .summary = "as it was asked for" },
	{ .name = "holders",
		.type = MR_TYPE_LIST,
		.summary = "leases of others that it overlaps, oldest first",
		.fields = holder_fields },
	{ .name = "has_more",
		.type = MR_TYPE_BOOL,
		.flags = MR_OPTIONAL,
		.summary = "there are more holders than were named" },
	{ 0 },
};

void mr_shape_team_conflicts(struct mr_out *out, const char *key,
	const struct mr_team_conflicts *conflicts)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < conflicts->len; i++) {
		const struct mr_team_conflict *one = &conflicts->items[i];

		mr_out_map(out, NULL);
		mr_out_text(out, "path", one->path);
		mr_out_list(out, "holders");
		for (size_t j = 0; j < one->holders.len; j++) {
			const struct mr_team_reservation *lease = &one->holders.items[j];

			mr_out_map(out, NULL);
			mr_out_text(out, "agent", lease->agent);
			mr_out_text(out, "path_pattern", lease->path_pattern);
			mr_out_bool(out, "exclusive", lease->exclusive);
			mr_shape_team_time(out, "expires_ts", lease->expires_ts);
			mr_out_int(out, "id", lease->id);
			mr_out_text(out, "reason", lease->reason);
			mr_out_end(out);
		}
		mr_out_end(out);
		if (one->has_more)
			mr_out_bool(out, "has_more", true);
		mr_out_end(out);
	}
	mr_out_end(out);
}

void mr_shape_team_reserved_members(struct mr_out *out, const struct mr_team_reserved *reserved)
{
	mr_out_list(out, "granted");
	for (size_t i = 0; i < reserved->granted.len; i++) {
		const struct mr_team_reservation *lease = &reserved->granted.items[i];

		mr_out_map(out, NULL);
		mr_out_int(out, "id", lease->id);
		mr_out_text(out, "path_pattern", lease->path_pattern);
		mr_out_bool(out, "exclusive", lease->exclusive);
		mr_out_text(out, "reason", lease->reason);
		mr_shape_team_time(out, "expires_ts", lease->expires_ts);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_shape_team_conflicts(out, "conflicts", &reserved->conflicts);
	if (reserved->warnings.len)
		mr_out_texts(out, "warnings", &reserved->warnings);
}

const struct mr_field mr_shape_team_lease_fields[] = {
	MR_SHAPE_TEAM_LEASE_FIELDS,
	{ 0 },
};

void mr_shape_team_lease_members(struct mr_out *out, const struct mr_team_reservation *lease,
	const struct mr_team_staleness *staleness)
{
	mr_out_int(out, "id", lease->id);
	mr_out_text(out, "agent", lease->agent);
	mr_out_text(out, "path_pattern", lease->path_pattern);
	mr_out_bool(out, "exclusive", lease->exclusive);
	mr_out_text(out, "reason", lease->reason);
	mr_shape_team_time(out, "created_ts", lease->created_ts);
	mr_shape_team_time(out, "expires_ts", lease->expires_ts);
	mr_shape_team_time(out, "released_ts", lease->released_ts);
	mr_out_bool(out, "stale", staleness->stale && !lease->released_ts);
	mr_out_texts(out, "stale_reasons", &staleness->reasons);
	mr_shape_team_time(out, "last_agent_activity_ts", staleness->last_agent_ts);
	mr_shape_team_time(out, "last_mail_activity_ts", staleness->last_mail_ts);
	mr_shape_team_time(out, "last_filesystem_activity_ts", staleness->last_file_ts);
	mr_shape_team_time(out, "last_git_activity_ts", staleness->last_git_ts);
}

void mr_shape_team_lease(struct mr_out *out, const char *key, const struct mr_team_lease *lease)
{
	mr_out_map(out, key);
	mr_shape_team_lease_members(out, &lease->reservation, &lease->staleness);
	mr_out_end(out);
}
