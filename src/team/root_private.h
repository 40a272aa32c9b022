/* team/root_private.h - what is inside an opened root; for root.c, archiver.c and watch.c. */
#pragma once

#include "data/queue.h"
#include "team/limits.h"
#include "team/root.h"

#include <pthread.h>

struct mr_team_archiver;

struct mr_team {
	struct mr_arena *arena; /* the configuration's texts */
	struct mr_team_config config;
	const struct mr_clock *clock;
	struct mr_rand *rand;
	struct mr_queue *queue;

	pthread_mutex_t lock; /* guards what follows */
	struct mr_db *idle[MR_TEAM_READERS];
	size_t idle_count;
	struct mr_team_archiver *archiver; /* or NULL: nobody archives in the background */
};
