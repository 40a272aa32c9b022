/*
 * op/mailbox/mailbox_payload.h - the managed scripts' payloads: strict JSON in, requests out.
 *
 * Problems are reported all together, worded as the contract words them: "delivery payload:
 * $.to[0].address: ...; ...", at most five. Nothing is looked at on disk.
 */
#pragma once

#include "mailbox/deliver.h"
#include "mailbox/register.h"
#include "mailbox/repair.h"
#include "mailbox/state.h"

enum mr_mailbox_payload_kind {
	MR_MAILBOX_PAYLOAD_REGISTER,
	MR_MAILBOX_PAYLOAD_DEREGISTER,
	MR_MAILBOX_PAYLOAD_DELIVER,
	MR_MAILBOX_PAYLOAD_STATE,
	MR_MAILBOX_PAYLOAD_REPAIR,
};

struct mr_mailbox_payload {
	enum mr_mailbox_payload_kind kind;
	union {
		struct mr_mailbox_register_request registration;
		struct {
			enum mr_mailbox_unregister_mode mode;
			const char *address;
		} deregistration;
		struct {
			const char *staged_path;
			struct mr_mailbox_message message;
		} delivery;
		struct {
			const char *address;
			const char *message_id;
			struct mr_mailbox_flags flags;
		} state;
		struct mr_mailbox_repair_options repair;
	};
};

/* MR_EINVAL: the issues are in cx->err, and the payload's name is its word. */
MR_CHECK enum mr_code mr_mailbox_payload_read(struct mr_ctx *cx, enum mr_mailbox_payload_kind kind,
	const struct mr_value *value, struct mr_mailbox_payload *out);

/* A problem in the contract's words. */
const char *mr_mailbox_payload_words(const struct mr_issue *issue);
