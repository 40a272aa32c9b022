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
/* Of struct mr_team_item: a message that is shown alone, and one in a list, which says only what is
 * not as usual: its numbers in the database and empty members are left out, so are the importance
 * normal, the kind to and the reader's own project. */
extern const struct mr_field mr_shape_team_message_fields[];
extern const struct mr_field mr_shape_team_listed_fields[];
extern const struct mr_field mr_shape_team_grant_fields[];
extern const struct mr_field mr_shape_team_holder_fields[];
extern const struct mr_field mr_shape_team_conflict_fields[];
extern const struct mr_field mr_shape_team_reserved_fields[]; /* granted, conflicts, warnings */
extern const struct mr_field mr_shape_team_lease_fields[];
extern const struct mr_field mr_shape_team_link_fields[];

extern const struct mr_field mr_shape_team_profile_fields[]; /* an agent without its token */
extern const struct mr_field mr_shape_team_product_fields[];
extern const struct mr_field mr_shape_team_slot_fields[];
/* Of struct mr_team_sent: the message as its sender is told of it; what came of sending it; and the
 * latter with the attachments. */
extern const struct mr_field mr_shape_team_payload_fields[];
extern const struct mr_field mr_shape_team_report_fields[];
extern const struct mr_field mr_shape_team_sent_fields[];

/* YYYY-MM-DDTHH:MM:SS.ffffffZ; 0 is null. */
void mr_shape_team_time(struct mr_out *out, const char *key, int64_t time_us);

/* Whole maps under `key` (NULL in a list or at the top). */
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
void mr_shape_team_product(struct mr_out *out, const char *key,
	const struct mr_team_product *product);
