/*
 * mailbox/notifier_push.h - being told that mail came to a mailbox on a server.
 *
 * The server pushes, or is asked for its state now and then where it does not (net/jmap_watch.h).
 */
#pragma once

#include "mailbox/session.h"

struct mr_notifier_push;

/*
 * Follow the mailbox of a session's binding: `changed` is called from another thread after every
 * change, and soon after the beginning. NULL: it is on no server, or its credential cannot be read.
 */
struct mr_notifier_push *mr_notifier_push_open(struct mr_ctx *cx, const char *session,
	const struct mr_mailbox_binding *binding, void (*changed)(void *arg), void *arg);
/* Is it still the binding that is followed? Not of NULL. */
bool mr_notifier_push_is_of(const struct mr_notifier_push *push,
	const struct mr_mailbox_binding *binding);
/* Begin to end, as all shall that are closed soon. NULL is fine. */
void mr_notifier_push_stop(struct mr_notifier_push *push);
/* `changed` is not called any more when it returns; not to be called from there. NULL is fine. */
void mr_notifier_push_close(struct mr_notifier_push *push);
