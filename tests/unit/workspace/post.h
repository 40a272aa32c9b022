/* tests/unit/workspace/post.h - a workspace with the default configuration, and mail in it. */
#pragma once

#include "desk.h"

#include "workspace/collection.h"

/* Single messages. */
#define PLAIN  "message_20260504_2f9303e348dccc2f"
#define SPAM   "message_20260517_5b7114f482b9825c"
#define NOTICE "message_20260518_06d53266ad33fc88"
/* One with two attachments. */
#define FILES "message_20260510_0000000000000001"
/* A conversation: T2 answers T1, T4 answers T1, T5 answers T4. */
#define T1 "message_20260512_821aeaa75b613e26"
#define T2 "message_20260512_e65225ec34320f55"
#define T4 "message_20260512_54c6b1302ebefa6b"
#define T5 "message_20260513_5c5d8052cee17e92"

/* The default configuration instead of the desk's; no mail yet. */
void post_open(struct desk *desk);
/* Put messages, each of which is one of the above and in the mailbox INBOX, uid 1, 2, ...; the
 * list ends with NULL. */
void post_mail(struct desk *desk, ...) __attribute__((sentinel));
/* Where a message is on the server, instead of INBOX. */
void post_locate(const char *message_id, const char *mailbox_name, const char *mailbox_id);
/* Set a key of the configuration. */
void post_set(struct desk *desk, const char *key, const char *value);
void post_set_json(struct desk *desk, const char *key, const char *json);

/* The call succeeded; the next command begins. */
#define POST_OK(desk, call)                                                                        \
	do {                                                                                       \
		CHECK_OK(call, (desk)->cx.err);                                                    \
		desk_next(desk);                                                                   \
	} while (0)

/* The texts with blanks between. */
const char *post_join(struct desk *desk, const struct mr_texts *texts);
/* A list in the details of the present error, with blanks between. */
const char *post_detail(struct desk *desk, const char *key);
const char *post_hint(struct desk *desk);
/* A text of the last event; "null" for null. */
const char *post_event(struct desk *desk, const char *key);
/* A list of the last event; of targets "kind:id". */
const char *post_event_list(struct desk *desk, const char *key);
/* The status that the index gives a message. */
const char *post_status(struct desk *desk, const char *message_id);
/* The document of a list. */
struct mr_work_collection post_list(struct desk *desk, enum mr_work_collection_kind kind,
	const char *path);
/* Its messages, with blanks between. */
const char *post_members(struct desk *desk, enum mr_work_collection_kind kind, const char *path);
/* The queued items: "action:message,message" with blanks between. */
const char *post_queue(struct desk *desk);
/* Let a step of a queued item have begun. */
void post_start(struct desk *desk, const char *push_id);
