/*
 * mailbox/deliver.h - a staged document becomes mail: for all recipients or for none.
 *
 * What makes it durable, in order: the document where it was staged and an intent
 * (staging/.intents/<id>.json), synced together; the shared transaction filled, but not yet
 * committed, so that what the index refuses is refused before a file is touched; rename to the
 * canonical name and links, synced together; the shared commit; each mailbox's own row, those of
 * the recipients first, because they wake them; the intent dropped.
 * The next process that opens the root for writing, or delivers, finishes an intent whose document
 * is in place (or, when a mailbox has gone meanwhile, moves it back to staging/), and drops one
 * whose document is not.
 */
#pragma once

#include "mailbox/message.h"
#include "mailbox/root.h"

struct mr_mailbox_deliver_result {
	const char *message_id;
	const char *canonical_path; /* absolute */
	size_t recipient_count;     /* addresses, each once */
	bool already_delivered;     /* the same message was there: at most completed */
};

/*
 * Deliver the staged file (absolute, or relative to the working directory) as `payload` describes
 * it. The file is parsed and must say the same. Errors: spec/mailbox.md 12.2; a different message
 * under a known id is MR_ECONFLICT "canonical message already exists". Delivering the same message
 * again, with its file or without, is fine: missing parts of it are added, and nothing else
 * changes.
 *
 * After a failure nothing was delivered and the file is where it was, with one exception, which the
 * error text names ("is delivered, but"): a mailbox's own database could not be written. Recovery
 * completes that.
 */
MR_CHECK enum mr_code mr_mailbox_deliver(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *staged_path, const struct mr_mailbox_message *payload,
	struct mr_mailbox_deliver_result *out);
/* Stage and deliver a message that was composed here: writes the document itself. */
MR_CHECK enum mr_code mr_mailbox_deliver_message(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const struct mr_mailbox_message *message,
	struct mr_mailbox_deliver_result *out);
/*
 * The same, unless a message like this one (index_sql.h) is there already: then nothing is
 * delivered, and the result is that message, already_delivered. This is decided under the locks of
 * the delivery, so of several processes that try at once one delivers.
 */
MR_CHECK enum mr_code mr_mailbox_deliver_once(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
	struct mr_mailbox_deliver_result *out);

/*
 * Is a process delivering this message now, or finishing an interrupted delivery of it? Until it is
 * done, a mailbox may lack its own row of the message, which is no damage. The process holds the
 * kernel's lock on its intent from before the intent has its name until after the last row, and
 * death lets go of it.
 */
bool mr_mailbox_deliver_is_under_way(struct mr_arena *arena, const struct mr_mailbox_root *root,
	const char *message_id);

/*
 * Finish or undo deliveries that dead processes left; `*out_count` intents were examined. An intent
 * that cannot be finished now (a lock, a damaged database) stays for the next time and is no
 * failure. The caller holds no locks of this root.
 */
MR_CHECK enum mr_code mr_mailbox_deliver_recover(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, size_t *out_count);
