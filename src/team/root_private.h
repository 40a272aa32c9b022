/* team/root_private.h - what is inside an opened root; for root.c, archiver.c, attachment_store.c,
 * inbox.c and watch.c. */
#pragma once

#include "data/queue.h"
#include "team/limits.h"
#include "team/root.h"

#include <pthread.h>

struct mr_team_archiver;
struct mr_team_ear;

enum { MR_TEAM_NOTED = 256 };
/* When an agent was last noted as active; another with the same remainder takes its place. */
struct mr_team_noted {
	int64_t agent_id;
	int64_t at_us;
};

struct mr_team {
	struct mr_arena *arena; /* the configuration's texts */
	struct mr_team_config config;
	const struct mr_clock *clock;
	struct mr_rand *rand;
	struct mr_queue *queue;
	struct mr_team_heads *heads;
	int bell;                /* see watch.c; -1 before it is open */
	struct mr_team_ear *ear; /* or NULL: nobody has waited yet; made under `lock` */

	pthread_mutex_t picture; /* one is decoded at a time: each may take 200 MB */
	pthread_mutex_t lock;    /* guards what follows */
	struct mr_db *idle[MR_TEAM_READERS];
	size_t idle_count;
	struct mr_team_noted noted[MR_TEAM_NOTED];
	struct mr_team_archiver *archiver; /* or NULL: nobody archives in the background */
};

/*
 * watch.c: the file that tells others of a change, and that who has the database open shares: a
 * rebuild holds it alone. MR_EBUSY: so it does now.
 */
MR_CHECK enum mr_code mr_team_bell_open(struct mr_ctx *cx, struct mr_team *team);
void mr_team_bell_ring(struct mr_team *team);
/* Nobody waits any more. */
void mr_team_ear_close(struct mr_team *team);

/* End the archiver's thread, if there is one; what it is at is finished. For mr_team_close(). */
void mr_team_archive_stop(struct mr_team *team);
