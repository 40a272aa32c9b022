/* team/macro.h - frequent sequences of calls, each as one call. */
#pragma once

#include "team/contact.h"
#include "team/inbox.h"
#include "team/lease/reservation.h"
#include "team/message.h"
#include "team/summary.h"

struct mr_team_start {
	struct mr_team_registration who; /* project_key is the human_key */
	struct mr_texts paths;
	const char *reason; /* NULL is macro-session */
	int64_t ttl_s;
	int64_t inbox_limit;
};
struct mr_team_started {
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_reserved reserved;
	struct mr_team_items inbox;
	struct mr_team_reservations offered; /* that earlier sessions at this place left */
};
/* Join, or without a name come back as the agent of this session (team/session.h); reserve files,
 * and list new messages. */
MR_CHECK enum mr_code mr_team_macro_start(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_start *request, struct mr_team_started *out);

struct mr_team_prepare {
	struct mr_team_registration who; /* its project must be there */
	const char *thread_id;
	bool register_if_missing; /* without it `who` must have a name that is known */
	bool include_examples;    /* in the summary */
	bool include_inbox_bodies;
	int64_t inbox_limit;
	bool llm_mode;
	const char *llm_model;
	const struct mr_team_rights *rights; /* of the caller: limit the messages of the summary */
};
struct mr_team_prepared {
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_summary summary;
	struct mr_team_items inbox;
};
/* Join, summarise a thread, and list new messages. */
MR_CHECK enum mr_code mr_team_macro_prepare(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_prepare *request, struct mr_team_prepared *out);

struct mr_team_cycle {
	struct mr_team_reserve reserve; /* reason NULL is macro-file_reservation */
	bool auto_release;
};
struct mr_team_cycled {
	struct mr_team_reserved reserved;
	bool was_released;
	int64_t released, released_ts;
};
/* Reserve, and with `auto_release` release at once what was granted: to see who else holds
 * leases. */
MR_CHECK enum mr_code mr_team_macro_cycle(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_cycle *request, struct mr_team_cycled *out);

struct mr_team_handshake {
	struct mr_team_contact_request request;
	bool auto_accept; /* only where the target's policy would let the sender through */
	/* Sent when both are there and the target's policy lets it through by then. */
	const char *welcome_subject, *welcome_body, *thread_id;
	bool register_if_missing; /* register the requester, given both of these */
	const char *program, *model;
};
struct mr_team_shaken {
	struct mr_team_link request;
	bool notified;
	bool answered;
	struct mr_team_link response;
	bool welcomed;
	struct mr_team_sent welcome;
};
/* Request contact; optionally approve it, and send a first message. */
MR_CHECK enum mr_code mr_team_macro_handshake(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_handshake *request, struct mr_team_shaken *out);
