/*
 * mailbox/notifier_hub.h - the notifiers of a process: one for each agent that it serves.
 *
 * One thread sleeps until the kernel says that a mailbox changed, whoever changed it, or until an
 * interval is over. Long polls wait in the threads of their requests, and cost no more than these.
 * Prompts are delivered by a few threads of the hub, so that one that hangs does not hold up
 * others.
 *
 * Mail that comes alone is told to a long poll at once; of mail that comes in quick succession the
 * rest is told together. A prompt waits until nothing has come for a moment.
 */
#pragma once

#include "mailbox/notifier.h"

struct mr_notifier_hub;

struct mr_notifier_hub_config {
	/* All agents of this registry are served, also those that come later; or NULL. */
	const char *registry;
	const struct mr_clock *clock;
	struct mr_rand *rand; /* safe from any thread */
	/* Nobody can be served yet: no prompt is made before mr_notifier_hub_listens(). */
	bool is_early;
};

/* Texts are copied. */
MR_CHECK enum mr_code mr_notifier_hub_open(const struct mr_notifier_hub_config *config,
	struct mr_notifier_hub **out, struct mr_err *err);
/* End long polls, now and those that come; wait for prompts that are being delivered. */
void mr_notifier_hub_stop(struct mr_notifier_hub *hub);
/* When nobody uses it any more; stops it first. NULL is fine. */
void mr_notifier_hub_close(struct mr_notifier_hub *hub);

/* Serve the agent of this session, unless it is served. */
void mr_notifier_hub_add(struct mr_notifier_hub *hub, const struct mr_mailbox_session *session);
/* When it listens; of a server for several agents the URL under which each agent has its mail,
 * followed by "/" and the agent's id, else NULL. Prompts name it. */
void mr_notifier_hub_listens(struct mr_notifier_hub *hub, const char *base_url);
/* That of one agent, or NULL. */
const char *mr_notifier_hub_url(struct mr_notifier_hub *hub, struct mr_arena *arena,
	const char *agent_id);

/* Run fn(arg) in one of the few threads that look for long polls, and wait for it: what a long poll
 * does before it waits, so that its own thread keeps little memory. */
void mr_notifier_hub_run(struct mr_notifier_hub *hub, void (*fn)(void *arg), void *arg);

enum {
	MR_NOTIFIER_WAIT_MAX_S = 300, /* of one long poll */
};
/*
 * Wait until there is something to tell to the agent of this session, and take it, or until the
 * time is over or cx->is_over() says so: then out->notice is 0.
 */
MR_CHECK enum mr_code mr_notifier_hub_wait(struct mr_ctx *cx, struct mr_notifier_hub *hub,
	const struct mr_mailbox_session *session, const char *base_url, const char *api,
	int timeout_ms, struct mr_notifier_told *out);
