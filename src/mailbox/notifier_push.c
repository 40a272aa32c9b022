/* mailbox/notifier_push.c - follows a mailbox on a server for the notifier. */
#include "mailbox/notifier_push.h"

#include "base/oom.h"
#include "mailbox/mail_jmap.h"
#include "mailbox/mail_open.h"
#include "net/jmap_watch.h"

#include <stdlib.h>
#include <string.h>

/* Between questions for its state where the server does not push. */
enum { POLL_MS = 2000 };

struct mr_notifier_push {
	struct mr_jmap_watch *watch;
	char *version; /* of the binding */
};

struct mr_notifier_push *mr_notifier_push_open(struct mr_ctx *cx, const char *session,
	const struct mr_mailbox_binding *binding, void (*changed)(void *arg), void *arg)
{
	struct mr_jmap_watch_config config = {
		.clock = cx->clock,
		.rand = cx->rand,
		.poll_ms = POLL_MS,
		.changed = changed,
		.arg = arg,
	};
	struct mr_mail_jmap_account account;
	struct mr_notifier_push *push;
	struct mr_jmap_watch *watch = NULL;

	if (mr_mail_open_account(cx, session, binding, &account))
		return NULL;
	config.login = (struct mr_jmap_login){
		.url = account.jmap_url,
		.user = account.login,
		.password = account.password,
		.ca_file = account.ca_file,
	};
	if (mr_jmap_watch_open(cx, &config, &watch))
		return NULL;
	push = calloc(1, sizeof(*push));
	if (push)
		push->version = strdup(binding->version);
	if (!push || !push->version)
		mr_oom(sizeof(*push));
	push->watch = watch;
	return push;
}

bool mr_notifier_push_is_of(const struct mr_notifier_push *push,
	const struct mr_mailbox_binding *binding)
{
	return push && binding->transport == MR_MAILBOX_STALWART &&
		mr_str_eq(push->version, binding->version);
}

void mr_notifier_push_stop(struct mr_notifier_push *push)
{
	if (push)
		mr_jmap_watch_stop(push->watch);
}

void mr_notifier_push_close(struct mr_notifier_push *push)
{
	if (!push)
		return;
	mr_jmap_watch_close(push->watch);
	free(push->version);
	free(push);
}
