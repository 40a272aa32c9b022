/* op/team/shape_team_contact.c */
#include "op/team/shape_team.h"

const struct mr_field mr_shape_team_party_fields[] = {
	{ .name = "project", .type = MR_TYPE_TEXT, .summary = "its slug" },
	{ .name = "agent", .type = MR_TYPE_TEXT },
	{ 0 },
};

const struct mr_field mr_shape_team_link_fields[] = {
	MR_SHAPE_TEAM_LINK_FIELDS,
	{ 0 },
};

static void party(struct mr_out *out, const char *key, const char *project, const char *agent)
{
	mr_out_map(out, key);
	mr_out_text(out, "project", project);
	mr_out_text(out, "agent", agent);
	mr_out_end(out);
}

void mr_shape_team_link_members(struct mr_out *out, const struct mr_team_link *link)
{
	mr_out_int(out, "id", link->id);
	party(out, "from", link->a_project, link->a_agent);
	party(out, "to", link->b_project, link->b_agent);
	mr_out_text(out, "status", mr_team_link_status_name(link->status));
	mr_out_text(out, "reason", link->reason);
	mr_shape_team_time(out, "created_ts", link->created_ts);
	mr_shape_team_time(out, "updated_ts", link->updated_ts);
	mr_shape_team_time(out, "expires_ts", link->expires_ts);
}

void mr_shape_team_link(struct mr_out *out, const char *key, const struct mr_team_link *link)
{
	mr_out_map(out, key);
	mr_shape_team_link_members(out, link);
	mr_out_end(out);
}

const struct mr_field mr_shape_team_product_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "product_uid", .type = MR_TYPE_TEXT },
	{ .name = "name", .type = MR_TYPE_TEXT },
	{ .name = "created_at", .type = MR_TYPE_TEXT },
	{ .name = "projects", .type = MR_TYPE_LIST, .fields = mr_shape_team_project_fields },
	{ 0 },
};

void mr_shape_team_product(struct mr_out *out, const char *key,
	const struct mr_team_product *product)
{
	mr_out_map(out, key);
	mr_out_int(out, "id", product->id);
	mr_out_text(out, "product_uid", product->product_uid);
	mr_out_text(out, "name", product->name);
	mr_shape_team_time(out, "created_at", product->created_at);
	mr_out_list(out, "projects");
	for (size_t i = 0; i < product->projects.len; i++)
		mr_shape_team_project(out, NULL, &product->projects.items[i]);
	mr_out_end(out);
	mr_out_end(out);
}

const struct mr_field mr_shape_team_slot_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT, .summary = "for renewing and releasing" },
	{ .name = "slot_name", .type = MR_TYPE_TEXT },
	{ .name = "agent", .type = MR_TYPE_TEXT, .summary = "who holds it" },
	{ .name = "created_ts", .type = MR_TYPE_TEXT },
	{ .name = "expires_ts", .type = MR_TYPE_TEXT },
	{ .name = "released_ts", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ 0 },
};

void mr_shape_team_slot(struct mr_out *out, const char *key, const struct mr_team_slot *slot)
{
	mr_out_map(out, key);
	mr_out_int(out, "id", slot->id);
	mr_out_text(out, "slot_name", slot->slot_name);
	mr_out_text(out, "agent", slot->agent);
	mr_shape_team_time(out, "created_ts", slot->created_ts);
	mr_shape_team_time(out, "expires_ts", slot->expires_ts);
	mr_shape_team_time(out, "released_ts", slot->released_ts);
	mr_out_end(out);
}
