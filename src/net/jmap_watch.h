/*
 * net/jmap_watch.h - being told at once that mail on a JMAP server changed.
 *
 * A watch has a thread of its own. Where the server pushes (RFC 8620, 7.3) it keeps a stream of
 * events open, and opens it again, with the id of the last event, after a pause that grows. Where
 * it does not, and while the stream is broken, the watch asks for the state of the account's mails
 * now and then. States are compared whenever a stream was opened: nothing that happens in between
 * is missed.
 */
#pragma once

#include "net/jmap.h"

struct mr_jmap_watch;

struct mr_jmap_watch_config {
	struct mr_jmap_login login; /* texts are copied */
	const struct mr_clock *clock;
	struct mr_rand *rand; /* safe from any thread */
	int poll_ms;          /* between two questions where nothing is pushed; 0: 5 s */
	int pause_ms;         /* before a broken stream is first opened again; 0: 500 ms */
	int ping_s;           /* how often the server shall give a sign of life; 0: 60 s */
	/* Mails of the account have changed: new ones, or flags of others. From the watch's thread.
	 */
	void (*changed)(void *arg);
	void *arg;
};

/* MR_EINVAL as mr_jmap_open(). That a server cannot be reached is no error here: the watch goes on
 * trying. */
MR_CHECK enum mr_code mr_jmap_watch_open(struct mr_ctx *cx,
	const struct mr_jmap_watch_config *config, struct mr_jmap_watch **out);
/* Begin to end: so that several need not wait for one another's servers. */
void mr_jmap_watch_stop(struct mr_jmap_watch *watch);
/* `changed` is not called any more when it returns; not to be called from there. NULL is fine. */
void mr_jmap_watch_close(struct mr_jmap_watch *watch);

enum mr_jmap_watch_way {
	MR_JMAP_WATCH_BEGINS, /* nothing was answered yet */
	MR_JMAP_WATCH_PUSHED,
	MR_JMAP_WATCH_POLLED,
	MR_JMAP_WATCH_LOST, /* the server does not answer */
};
/* How it learns of changes now. `*out_why`: why it is not pushed, or lost, in `arena`; or NULL. */
enum mr_jmap_watch_way mr_jmap_watch_way(struct mr_jmap_watch *watch, struct mr_arena *arena,
	const char **out_why);
