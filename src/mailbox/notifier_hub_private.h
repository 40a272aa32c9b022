/*
 * mailbox/notifier_hub_private.h - what the files of the hub share: it, its agents, and who waits.
 */
#pragma once

#include "base/fs_watch_dirs.h"
#include "base/lock.h"
#include "mailbox/notifier_hub.h"
#include "mailbox/notifier_push.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

enum {
	MR_NOTIFIER_HUB_THREADS = 8,     /* that deliver prompts */
	MR_NOTIFIER_UNWATCHED_MS = 1000, /* between looks at what cannot be watched */
};

/* An agent that is served. Under the hub's lock but for what is marked. */
struct mr_notifier_agent {
	LIST_ENTRY(mr_notifier_agent) link;
	STAILQ_ENTRY(mr_notifier_agent) turn; /* in the list of those that wait for a thread */
	char *session;                        /* fixed, as the next */
	char *manifest;
	char *mailbox; /* the directory that is watched; or NULL */
	int mailbox_id, gateway_id;
	struct mr_notifier_push *push; /* of a mailbox on a server */
	atomic_bool is_pushed;         /* it changed there; for the loop */
	struct mr_notifier_hub *hub;
	bool has_gateway; /* gateway_id is of the gateway's directory, not of the session's */
	uint64_t changes;
	int64_t changed_ms, before_ms; /* when the last change came, and the one before */
	int64_t closed_ms; /* when a rollback journal was closed that was not removed yet; or 0 */
	int64_t gather_ms; /* when the first came that no round has seen; or 0 */
	int64_t due_ms;    /* when the next round is; INT64_MAX: never */
	bool is_queued, is_running;
	unsigned waits;    /* long polls */
	int64_t polled_ms; /* when the last of them ended */
	pthread_cond_t woken;
	struct mr_lock lock; /* of the thread that runs a round */
};

struct mr_notifier_hub {
	struct mr_notifier_hub_config config; /* its texts are ours */
	pthread_mutex_t lock;
	struct mr_fs_watch_dirs *watch;
	int wake; /* an eventfd: gets the loop out of the kernel */
	LIST_HEAD(, mr_notifier_agent) agents;
	STAILQ_HEAD(, mr_notifier_agent) turns;
	pthread_cond_t work;      /* a turn is there, or the end */
	struct mr_errands *looks; /* of long polls */
	pthread_t loop;
	pthread_t threads[MR_NOTIFIER_HUB_THREADS];
	size_t thread_count, idle_count;
	int registry_id;
	int *unbound_ids; /* directories of records of agents that have no mailbox yet */
	size_t unbound_len;
	char *base_url;      /* of the server that it belongs to; or NULL */
	unsigned scans_more; /* soon after it changed: an agent is bound after it is entered */
	int64_t tidy_ms;     /* when memory of looks is given back; or 0 */
	int64_t scan_ms;     /* when the registry is looked at next */
	bool is_over;        /* no more rounds, no more long polls */
};

/* Monotonic. */
int64_t mr_notifier_hub_now_ms(void);
/* Get the loop out of the kernel: it has something to look at. */
void mr_notifier_hub_ring(struct mr_notifier_hub *hub);
/* The agent of the session, which is served from now on. Under the lock. */
struct mr_notifier_agent *mr_notifier_hub_agent(struct mr_notifier_hub *hub,
	const struct mr_mailbox_session *session);
/* Watch the mailbox, and the directory that the settings are in; before it is there, the session's.
 * Under the lock. */
void mr_notifier_hub_watch(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent,
	const char *mailbox);
/* Follow a mailbox that is on a server, as long as somebody wants to know. Under the lock. */
void mr_notifier_hub_follow(struct mr_notifier_agent *agent,
	const struct mr_mailbox_binding *binding);
/* Is somebody there who tells when the mailbox changes? */
bool mr_notifier_hub_is_watched(const struct mr_notifier_agent *agent);
