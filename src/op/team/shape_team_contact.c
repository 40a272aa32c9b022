/* op/team/shape_team_contact.c - links, products and slots, as the team contract shows them. */
#include "op/bind.h"
#include "op/team/shape_team.h"

static const struct mr_field asking_fields[] = {
	MR_FIELD(struct mr_team_link, a_project, "project", .summary = "its slug"),
	MR_FIELD(struct mr_team_link, a_agent, "agent"),
	{ 0 },
};

static const struct mr_field asked_fields[] = {
	MR_FIELD(struct mr_team_link, b_project, "project", .summary = "its slug"),
	MR_FIELD(struct mr_team_link, b_agent, "agent"),
	{ 0 },
};

const struct mr_field mr_shape_team_link_fields[] = {
	MR_FIELD(struct mr_team_link, id, "id"),
	MR_FIELD_SAME(struct mr_team_link, asking_fields, "from", .summary = "who asked"),
	MR_FIELD_SAME(struct mr_team_link, asked_fields, "to", .summary = "who was asked"),
	MR_FIELD(struct mr_team_link, status, "status", .choices = mr_shape_team_link_statuses),
	MR_FIELD(struct mr_team_link, reason, "reason"),
	MR_FIELD_TIME(struct mr_team_link, created_ts, "created_ts"),
	MR_FIELD_TIME(struct mr_team_link, updated_ts, "updated_ts"),
	MR_FIELD_TIME(struct mr_team_link, expires_ts, "expires_ts", .flags = MR_NULLABLE,
		.summary = "null: never"),
	{ 0 },
};

const struct mr_field mr_shape_team_product_fields[] = {
	MR_FIELD(struct mr_team_product, id, "id"),
	MR_FIELD(struct mr_team_product, product_uid, "product_uid"),
	MR_FIELD(struct mr_team_product, name, "name"),
	MR_FIELD_TIME(struct mr_team_product, created_at, "created_at"),
	MR_FIELD_LIST(struct mr_team_product, projects, struct mr_team_project,
		mr_shape_team_project_fields, "projects"),
	{ 0 },
};

void mr_shape_team_product(struct mr_out *out, const char *key,
	const struct mr_team_product *product)
{
	mr_bind_object(out, key, mr_shape_team_product_fields, product);
}

const struct mr_field mr_shape_team_slot_fields[] = {
	MR_FIELD(struct mr_team_slot, id, "id", .summary = "needed to renew or release it"),
	MR_FIELD(struct mr_team_slot, slot_name, "slot_name"),
	MR_FIELD(struct mr_team_slot, agent, "agent", .summary = "the agent that holds it"),
	MR_FIELD_TIME(struct mr_team_slot, created_ts, "created_ts"),
	MR_FIELD_TIME(struct mr_team_slot, expires_ts, "expires_ts"),
	MR_FIELD_TIME(struct mr_team_slot, released_ts, "released_ts", .flags = MR_NULLABLE),
	{ 0 },
};
