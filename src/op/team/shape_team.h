/* op/team/shape_team.h - the team contract's objects (spec/coordination.md 6.2), each emitted in
 * one place. */
#pragma once

#include "op/op.h"
#include "team/agent.h"
#include "team/contact.h"
#include "team/inbox.h"
#include "team/lease/reservation.h"
#include "team/lease/slot.h"
#include "team/message.h"
#include "team/model.h"
#include "team/product.h"
#include "text/out.h"

/* The contract's words, NULL-terminated: for parameters and fields. */
extern const char *const mr_shape_team_importances[];
extern const char *const mr_shape_team_kinds[];
extern const char *const mr_shape_team_attachments_policies[];
extern const char *const mr_shape_team_contact_policies[];
extern const char *const mr_shape_team_link_statuses[];

extern const struct mr_field mr_shape_team_project_fields[];
extern const struct mr_field mr_shape_team_agent_fields[];
extern const struct mr_field mr_shape_team_message_fields[]; /* of lists: no body, from, kind */
extern const struct mr_field mr_shape_team_grant_fields[];
extern const struct mr_field mr_shape_team_conflict_fields[];
extern const struct mr_field mr_shape_team_reserved_fields[]; /* granted, conflicts, warnings */
extern const struct mr_field mr_shape_team_lease_fields[];
extern const struct mr_field mr_shape_team_link_fields[];

extern const struct mr_field mr_shape_team_blocked_fields[];
extern const struct mr_field mr_shape_team_delivery_fields[];

/* For tables of results that add to a message's. */
#define MR_SHAPE_TEAM_MESSAGE_FIELDS                                                               \
	{ .name = "id", .type = MR_TYPE_INT },                                                     \
		{ .name = "uid", .type = MR_TYPE_TEXT, .summary = "its id in the archive" },       \
		{ .name = "project_id", .type = MR_TYPE_INT },                                     \
		{ .name = "sender_id", .type = MR_TYPE_INT },                                      \
		{ .name = "from", .type = MR_TYPE_TEXT },                                          \
		{ .name = "thread_id", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },               \
		{ .name = "reply_to",                                                              \
			.type = MR_TYPE_INT,                                                       \
			.flags = MR_NULLABLE,                                                      \
			.summary = "the message it answers" },                                     \
		{ .name = "subject", .type = MR_TYPE_TEXT },                                       \
		{ .name = "importance",                                                            \
			.type = MR_TYPE_TEXT,                                                      \
			.choices = mr_shape_team_importances },                                    \
		{ .name = "ack_required", .type = MR_TYPE_BOOL },                                  \
		{ .name = "created_ts", .type = MR_TYPE_TEXT },                                    \
	{                                                                                          \
		.name = "attachments", .type = MR_TYPE_LIST                                        \
	}
/* Who a text is from, as the server knows it. */
#define MR_SHAPE_TEAM_PROVENANCE_FIELDS                                                            \
	{ .name = "from_verified",                                                                 \
		.type = MR_TYPE_BOOL,                                                              \
		.summary = "whether the sender had proved to be who it is" },                      \
		{ .name = "sender_project",                                                        \
			.type = MR_TYPE_TEXT,                                                      \
			.summary = "the slug of the sender's project" },                           \
	{                                                                                          \
		.name = "is_human", .type = MR_TYPE_BOOL, .summary = "whether a person wrote it"   \
	}
/* What a reader is told besides; the body where it was asked for. */
#define MR_SHAPE_TEAM_ITEM_FIELDS                                                                  \
	MR_SHAPE_TEAM_MESSAGE_FIELDS, MR_SHAPE_TEAM_PROVENANCE_FIELDS,                             \
		{ .name = "to", .type = MR_TYPE_TEXTS, .flags = MR_OPTIONAL },                     \
		{ .name = "cc", .type = MR_TYPE_TEXTS, .flags = MR_OPTIONAL },                     \
		{ .name = "bcc",                                                                   \
			.type = MR_TYPE_TEXTS,                                                     \
			.flags = MR_OPTIONAL,                                                      \
			.summary = "only its sender sees them" },                                  \
		{ .name = "kind",                                                                  \
			.type = MR_TYPE_TEXT,                                                      \
			.flags = MR_OPTIONAL,                                                      \
			.choices = mr_shape_team_kinds,                                            \
			.summary = "how the reader was addressed" },                               \
		{ .name = "read_ts", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL | MR_NULLABLE },   \
		{ .name = "ack_ts", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL | MR_NULLABLE },    \
		{ .name = "body_md", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL },                 \
	{                                                                                          \
		.name = "truncated", .type = MR_TYPE_BOOL, .flags = MR_OPTIONAL,                   \
		.summary = "with max_chars: whether some of the body was cut off"                  \
	}
/* What its sender is told. */
#define MR_SHAPE_TEAM_PAYLOAD_FIELDS                                                               \
	MR_SHAPE_TEAM_MESSAGE_FIELDS, { .name = "to", .type = MR_TYPE_TEXTS },                     \
		{ .name = "cc", .type = MR_TYPE_TEXTS }, { .name = "bcc", .type = MR_TYPE_TEXTS }, \
	{                                                                                          \
		.name = "body_md", .type = MR_TYPE_TEXT                                            \
	}
#define MR_SHAPE_TEAM_SENT_FIELDS                                                                  \
	{ .name = "deliveries", .type = MR_TYPE_LIST, .fields = mr_shape_team_delivery_fields },   \
		{ .name = "count", .type = MR_TYPE_INT },                                          \
		{ .name = "auto_registered",                                                       \
			.type = MR_TYPE_TEXTS,                                                     \
			.flags = MR_OPTIONAL,                                                      \
			.summary = "recipients that were unknown and are now agents" },            \
		{ .name = "blocked_recipients",                                                    \
			.type = MR_TYPE_LIST,                                                      \
			.flags = MR_OPTIONAL,                                                      \
			.fields = mr_shape_team_blocked_fields,                                    \
			.summary = "who did not get it, because they may not be written to" },     \
		{ .name = "contact_requests",                                                      \
			.type = MR_TYPE_LIST,                                                      \
			.flags = MR_OPTIONAL,                                                      \
			.fields = mr_shape_team_link_fields },                                     \
		{ .name = "warnings",                                                              \
			.type = MR_TYPE_LIST,                                                      \
			.flags = MR_OPTIONAL,                                                      \
			.fields = mr_shape_team_conflict_fields,                                   \
			.summary = "leases on the files that the mail becomes" },                  \
	{                                                                                          \
		.name = "repeated", .type = MR_TYPE_BOOL, .flags = MR_OPTIONAL,                    \
		.summary = "the key was used before: this is what was sent then"                   \
	}

/* For tables of results that add to an agent's. */
#define MR_SHAPE_TEAM_AGENT_FIELDS                                                                 \
	{ .name = "id", .type = MR_TYPE_INT }, { .name = "name", .type = MR_TYPE_TEXT },           \
		{ .name = "program", .type = MR_TYPE_TEXT },                                       \
		{ .name = "model", .type = MR_TYPE_TEXT },                                         \
		{ .name = "task_description", .type = MR_TYPE_TEXT },                              \
		{ .name = "inception_ts", .type = MR_TYPE_TEXT },                                  \
		{ .name = "last_active_ts", .type = MR_TYPE_TEXT },                                \
		{ .name = "project_id", .type = MR_TYPE_INT },                                     \
		{ .name = "attachments_policy",                                                    \
			.type = MR_TYPE_TEXT,                                                      \
			.choices = mr_shape_team_attachments_policies },                           \
		{ .name = "contact_policy",                                                        \
			.type = MR_TYPE_TEXT,                                                      \
			.choices = mr_shape_team_contact_policies },                               \
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
			.choices = mr_shape_team_link_statuses },                                  \
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
void mr_shape_team_project_members(struct mr_out *out, const struct mr_team_project *project);
void mr_shape_team_agent_members(struct mr_out *out, const struct mr_team_agent *agent);
/* A message of an inbox, an outbox or a thread; a body where there is one. `names`: to and cc (and
 * bcc where it is known) too. */
void mr_shape_team_item(struct mr_out *out, const char *key, const struct mr_team_item *item,
	bool names);
/* Its members in an open map. */
void mr_shape_team_item_members(struct mr_out *out, const struct mr_team_item *item, bool names);
/* A list of them under `key`. */
void mr_shape_team_items(struct mr_out *out, const char *key, const struct mr_team_items *items,
	bool names);
/* The delivery payload: Message, from, to, cc, bcc, body_md, as members of an open map. */
void mr_shape_team_payload_members(struct mr_out *out, const struct mr_team_sent *sent);
/* deliveries, count, attachments and what else a send reports, as members of an open map. */
void mr_shape_team_sent_members(struct mr_out *out, const struct mr_team_sent *sent);
/* The payload and these together, for a reply. */
void mr_shape_team_reply_members(struct mr_out *out, const struct mr_team_sent *sent);
void mr_shape_team_link(struct mr_out *out, const char *key, const struct mr_team_link *link);
void mr_shape_team_link_members(struct mr_out *out, const struct mr_team_link *link);
extern const struct mr_field mr_shape_team_product_fields[];
void mr_shape_team_product(struct mr_out *out, const char *key,
	const struct mr_team_product *product);
extern const struct mr_field mr_shape_team_slot_fields[];
void mr_shape_team_slot(struct mr_out *out, const char *key, const struct mr_team_slot *slot);
