/*
 * mailbox/deliver.h - a staged document becomes mail: for all recipients or for none.
 *
 * What makes it durable, in order: the document synced where it was staged; an intent (the payload,
 * staging/.intents/<id>.json), synced; rename to its canonical name, synced; links; the shared
 * transaction; each mailbox's own row; the intent dropped. Whoever opens the root for writing next
 * finishes an intent whose document is in place, and undoes one whose document is not.
 */
#pragma once

#include "mailbox/message.h"
#include "mailbox/root.h"

struct mr_mailbox_deliver_result {
	const char *message_id;
	const char *canonical_path; /* absolute */
	size_t recipient_count;     /* addresses, each once */
	bool already_delivered;     /* the same message was there: nothing was done */
};

/*
 * Deliver the staged file (absolute, or relative to the working directory) as `payload` describes
 * it. The file is parsed and must say the same. Errors: spec/mailbox.md 12.2; a different message
 * under a known id is MR_ECONFLICT "canonical message already exists".
 */
MR_CHECK enum mr_code mr_mailbox_deliver(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *staged_path, const struct mr_mailbox_message *payload,
	struct mr_mailbox_deliver_result *out);
/* Stage and deliver a message that was composed here: writes the document itself. */
MR_CHECK enum mr_code mr_mailbox_deliver_message(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const struct mr_mailbox_message *message,
	struct mr_mailbox_deliver_result *out);

/* Finish or undo what dead processes left; `*out_count` intents were looked at. */
MR_CHECK enum mr_code mr_mailbox_deliver_recover(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, size_t *out_count);
