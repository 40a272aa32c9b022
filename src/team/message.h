/* team/message.h - sending: everything is decided and stored in one change, or nothing is. */
#pragma once

#include "team/attachment.h"
#include "team/contact.h"
#include "team/lease/reservation.h"
#include "team/model.h"
#include "team/recipient.h"

struct mr_team_draft {
	const char *project_key;
	const char *sender_name;
	struct mr_team_address_lists lists;
	const char *subject;
	const char *body_md;
	struct mr_texts attachment_paths;
	int convert_images;     /* 1, 0, or -1: as configured */
	const char *importance; /* NULL is normal */
	bool ack_required;
	const char *thread_id; /* or NULL */
	int64_t reply_to;      /* or 0 */
	bool auto_contact_if_blocked;
	bool strict_recipients;
	const char *idempotency_key;         /* or NULL */
	const char *tool;                    /* for the archive; NULL is send_message */
	bool verified;                       /* the sender has proved to be who it is */
	bool by_overseer;                    /* the person writes: mr_team_instruct() */
	const struct mr_team_rights *rights; /* of the caller: to see the message it answers */
};

struct mr_team_blocked {
	const char *name;
	const char *project; /* project slug */
	const char *reason;  /* the rule that decided */
	enum mr_team_verdict verdict;
	enum mr_team_contact_policy policy;
};

struct mr_team_sent {
	struct mr_team_message message; /* with its body as stored */
	struct mr_team_project project;
	struct mr_team_agent sender;
	struct mr_team_addressees recipients; /* who got it */
	struct mr_texts to, cc, bcc; /* their names: bare in this project, else Name@slug */
	struct mr_texts auto_registered;
	struct mr_team_blocked *blocked;
	size_t blocked_count;
	struct mr_team_link *contact_requests;
	size_t contact_request_count;
	struct mr_team_conflicts warnings; /* leases on mailboxes that do not stop mail */
	bool repeated; /* the idempotency key was used before: this is the first result */
};

/*
 * Errors: INVALID_ARGUMENT, NOT_FOUND, RECIPIENT_NOT_FOUND, CONTACT_REQUIRED, CONTACT_BLOCKED,
 * FILE_RESERVATION_CONFLICT, ATTACHMENT_REJECTED, PAYLOAD_TOO_LARGE, QUOTA_EXCEEDED, and
 * PERMISSION_DENIED to an agent that sends as the overseer. After an error nothing is stored.
 */
MR_CHECK enum mr_code mr_team_send(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_draft *draft, struct mr_team_sent *out);

struct mr_team_reply {
	const char *project_key;
	int64_t message_id;
	const char *sender_name;
	const char *body_md;
	struct mr_team_address_lists lists; /* empty `to`: the sender of the original */
	bool reply_all;
	const char *subject_prefix; /* NULL is "Re:" */
	const char *importance;     /* NULL: the original's */
	int ack_required;           /* -1: the original's */
	struct mr_texts attachment_paths;
	const char *idempotency_key;
	bool verified;
	bool by_overseer;
	const struct mr_team_rights *rights; /* of the caller: to see the original */
};
/* In the original's thread, or in one named by its id. The replier must have access to it. */
MR_CHECK enum mr_code mr_team_reply(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reply *reply, struct mr_team_sent *out);
