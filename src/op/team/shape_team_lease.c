/* op/team/shape_team_lease.c - emits leases on files as JSON objects of the team contract. */
#include "op/team/shape_team.h"

const struct mr_field mr_shape_team_grant_fields[] = {
	MR_FIELD(struct mr_team_reservation, id, "id"),
	MR_FIELD(struct mr_team_reservation, path_pattern, "path_pattern", .summary = "normalised"),
	MR_FIELD(struct mr_team_reservation, exclusive, "exclusive"),
	MR_FIELD(struct mr_team_reservation, reason, "reason"),
	MR_FIELD_TIME(struct mr_team_reservation, expires_ts, "expires_ts"),
	{ 0 },
};

const struct mr_field mr_shape_team_holder_fields[] = {
	MR_FIELD(struct mr_team_reservation, agent, "agent"),
	MR_FIELD(struct mr_team_reservation, path_pattern, "path_pattern"),
	MR_FIELD(struct mr_team_reservation, exclusive, "exclusive"),
	MR_FIELD_TIME(struct mr_team_reservation, expires_ts, "expires_ts"),
	MR_FIELD(struct mr_team_reservation, id, "id"),
	MR_FIELD(struct mr_team_reservation, reason, "reason"),
	{ 0 },
};

const struct mr_field mr_shape_team_conflict_fields[] = {
	MR_FIELD(struct mr_team_conflict, path, "path", .summary = "as it was asked for"),
	MR_FIELD_LIST(struct mr_team_conflict, holders, struct mr_team_reservation,
		mr_shape_team_holder_fields, "holders",
		.summary = "leases of others that it overlaps, oldest first"),
	MR_FIELD(struct mr_team_conflict, has_more, "has_more", .flags = MR_OPTIONAL,
		.summary = "there are more holders than were named"),
	{ 0 },
};

const struct mr_field mr_shape_team_reserved_fields[] = {
	MR_FIELD_LIST(struct mr_team_reserved, granted, struct mr_team_reservation,
		mr_shape_team_grant_fields, "granted"),
	MR_FIELD_LIST(struct mr_team_reserved, conflicts, struct mr_team_conflict,
		mr_shape_team_conflict_fields, "conflicts",
		.summary = "paths that others hold too: talk to them"),
	MR_FIELD(struct mr_team_reserved, warnings, "warnings", .flags = MR_OPTIONAL),
	{ 0 },
};

const struct mr_field mr_shape_team_lease_fields[] = {
	MR_FIELD(struct mr_team_lease, reservation.id, "id"),
	MR_FIELD(struct mr_team_lease, reservation.agent, "agent"),
	MR_FIELD(struct mr_team_lease, reservation.path_pattern, "path_pattern"),
	MR_FIELD(struct mr_team_lease, reservation.exclusive, "exclusive"),
	MR_FIELD(struct mr_team_lease, reservation.reason, "reason"),
	MR_FIELD_TIME(struct mr_team_lease, reservation.created_ts, "created_ts"),
	MR_FIELD_TIME(struct mr_team_lease, reservation.expires_ts, "expires_ts"),
	MR_FIELD_TIME(struct mr_team_lease, reservation.released_ts, "released_ts",
		.flags = MR_NULLABLE),
	MR_FIELD(struct mr_team_lease, staleness.stale, "stale",
		.summary = "nobody seems to work under it"),
	MR_FIELD(struct mr_team_lease, staleness.reasons, "stale_reasons",
		.summary = "what speaks for and against its being in use"),
	MR_FIELD_TIME(struct mr_team_lease, staleness.last_agent_ts, "last_agent_activity_ts",
		.flags = MR_NULLABLE),
	MR_FIELD_TIME(struct mr_team_lease, staleness.last_mail_ts, "last_mail_activity_ts",
		.flags = MR_NULLABLE),
	MR_FIELD_TIME(struct mr_team_lease, staleness.last_file_ts, "last_filesystem_activity_ts",
		.flags = MR_NULLABLE),
	MR_FIELD_TIME(struct mr_team_lease, staleness.last_git_ts, "last_git_activity_ts",
		.flags = MR_NULLABLE),
	{ 0 },
};
