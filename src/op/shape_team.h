/* op/shape_team.h - the team contract's objects (spec/coordination.md 6.2), each emitted in one
 * place. */
#pragma once

#include "op/op.h"
#include "op/out.h"
#include "team/agent.h"
#include "team/contact.h"
#include "team/inbox.h"
#include "team/message.h"
#include "team/model.h"
#include "team/product.h"
#include "team/reservation.h"
#include "team/slot.h"

extern const struct mr_field mr_shape_team_project_fields[];
extern const struct mr_field mr_shape_team_agent_fields[];
extern const struct mr_field mr_shape_team_message_fields[]; /* of lists: no body, from, kind */
extern const struct mr_field mr_shape_team_grant_fields[];
extern const struct mr_field mr_shape_team_conflict_fields[];
extern const struct mr_field mr_shape_team_link_fields[];

/* For tables of results that add to an agent's. */
#define MR_SHAPE_TEAM_AGENT_FIELDS                                                                 \
	{ .name = "id", .type = MR_TYPE_INT }, { .name = "name", .type = MR_TYPE_TEXT },           \
		{ .name = "program", .type = MR_TYPE_TEXT },                                       \
		{ .name = "model", .type = MR_TYPE_TEXT },                                         \
		{ .name = "task_description", .type = MR_TYPE_TEXT },                              \
		{ .name = "inception_ts", .type = MR_TYPE_TEXT },                                  \
		{ .name = "last_active_ts", .type = MR_TYPE_TEXT },                                \
		{ .name = "project_id", .type = MR_TYPE_INT },                                     \
		{ .name = "attachments_policy", .type = MR_TYPE_TEXT },                            \
		{ .name = "contact_policy", .type = MR_TYPE_TEXT },                                \
		{ .name = "is_active", .type = MR_TYPE_BOOL },                                     \
	{                                                                                          \
		.name = "deleted_ts", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE                   \
	}

/* For tables of results that add to a link's. */
extern const struct mr_field mr_shape_team_party_fields[];
#define MR_SHAPE_TEAM_LINK_FIELDS                                                                  \
	{ .name = "id", .type = MR_TYPE_INT },                                                     \
		{ .name = "from",                                                                  \
			.type = MR_TYPE_OBJECT,                                                    \
			.fields = mr_shape_team_party_fields,                                      \
			.summary = "who asked" },                                                  \
		{ .name = "to",                                                                    \
			.type = MR_TYPE_OBJECT,                                                    \
			.fields = mr_shape_team_party_fields,                                      \
			.summary = "who was asked" },                                              \
		{ .name = "status",                                                                \
			.type = MR_TYPE_TEXT,                                                      \
			.summary = "pending, approved or blocked" },                               \
		{ .name = "reason", .type = MR_TYPE_TEXT },                                        \
		{ .name = "created_ts", .type = MR_TYPE_TEXT },                                    \
		{ .name = "updated_ts", .type = MR_TYPE_TEXT },                                    \
	{                                                                                          \
		.name = "expires_ts", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE,                  \
		.summary = "null: never"                                                           \
	}

/* YYYY-MM-DDTHH:MM:SS.ffffffZ; 0 is null. */
void mr_shape_team_time(struct mr_out *out, const char *key, int64_t time_us);

/* Whole maps under `key` (NULL in a list or at the top). */
void mr_shape_team_project(struct mr_out *out, const char *key,
	const struct mr_team_project *project);
void mr_shape_team_agent(struct mr_out *out, const char *key, const struct mr_team_agent *agent);
/* The members of an open map, for results that add to them. */
void mr_shape_team_agent_members(struct mr_out *out, const struct mr_team_agent *agent);
/* A message of an inbox, an outbox or a thread; a body where there is one. `names`: to and cc (and
 * bcc where it is known) too. */
void mr_shape_team_item(struct mr_out *out, const char *key, const struct mr_team_item *item,
	bool names);
/* A list of them under `key`. */
void mr_shape_team_items(struct mr_out *out, const char *key, const struct mr_team_items *items,
	bool names);
/* The delivery payload: Message, from, to, cc, bcc, body_md, as members of an open map. */
void mr_shape_team_payload_members(struct mr_out *out, const struct mr_team_sent *sent);
/* deliveries, count, attachments and what else a send reports, as members of an open map. */
void mr_shape_team_sent_members(struct mr_out *out, const struct mr_team_sent *sent);
/* granted, conflicts, warnings, as members of an open map. */
void mr_shape_team_reserved_members(struct mr_out *out, const struct mr_team_reserved *reserved);
void mr_shape_team_conflicts(struct mr_out *out, const char *key,
	const struct mr_team_conflicts *conflicts);
void mr_shape_team_link(struct mr_out *out, const char *key, const struct mr_team_link *link);
void mr_shape_team_link_members(struct mr_out *out, const struct mr_team_link *link);
extern const struct mr_field mr_shape_team_product_fields[];
void mr_shape_team_product(struct mr_out *out, const char *key,
	const struct mr_team_product *product);
extern const struct mr_field mr_shape_team_slot_fields[];
void mr_shape_team_slot(struct mr_out *out, const char *key, const struct mr_team_slot *slot);
