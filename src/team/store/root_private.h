/* team/store/root_private.h - what is inside an opened root; for root.c, archiver.c,
 * agent.c, attachment_store.c, database.c, duty.c, gauge.c, inbox.c, open.c, pulse.c, use_lock.c
 * and watch.c. */
#pragma once

#include "data/queue.h"
#include "team/limits.h"
#include "team/store/root.h"

#include <pthread.h>
#include <sys/stat.h>

struct mr_team_archiver;
struct mr_team_duty;
struct mr_team_listener;
struct mr_team_message_cache;

/* What the parts above do when the storage changes; set by team/open.c. */
struct mr_team_hooks {
	/* A change is durable; called by the thread that made it. */
	void (*written)(struct mr_team *team);
	/* Another database is in use from now on: drop what was cached from the old one. Called
	 * by the writer, before any reader sees the new one. */
	void (*replaced)(struct mr_team *team);
	struct mr_team_message_cache *heads; /* cache of recently listed messages */
};

enum { MR_TEAM_NOTED = 256 };
/* When an agent was last noted as active; another with the same remainder takes its place. */
struct mr_team_noted {
	int64_t agent_id;
	int64_t at_us;
};

/* The last write of mr_team_pulse(). */
struct mr_team_pulse {
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t ended; /* on the monotonic clock */
	bool under_way;
	uint64_t rounds;  /* that have ended */
	int64_t ended_ms; /* when the last did, if any has */
	enum mr_code rc;  /* and how */
	struct mr_err err;
};

struct mr_team {
	struct mr_arena *arena; /* the configuration's texts */
	struct mr_team_config config;
	const char *shown; /* the database, for people */
	const struct mr_clock *clock;
	struct mr_rand *rand;
	struct mr_queue *queue;
	struct mr_team_hooks hooks;
	int use_lock;                      /* see use_lock.h; -1 when it is not held */
	struct mr_team_listener *listener; /* or NULL: nobody has waited yet; made under `lock` */
	struct mr_team_duty *duty;         /* or NULL: no server, or a database in a file */

	struct mr_team_pulse pulse;
	int64_t tried_ms;     /* the writer's: when it last tried to open the database anew ... */
	struct stat tried[2]; /* ... and what it found damaged then: the file and its log */
	bool tried_in_vain;   /* `tried` is set */

	pthread_mutex_t picture; /* one is decoded at a time: each may take 200 MB */
	pthread_mutex_t lock;    /* guards what follows */
	/*
	 * `down` says that the database was lost: its connections are abandoned, nobody reads or
	 * writes, and `trouble` says why, until the writer has opened it anew. Each time a database
	 * is lost begins a generation; connections of an older one are abandoned when they come
	 * back, and no new one is opened before the last did.
	 */
	bool down;
	struct mr_err trouble;
	uint64_t generation;
	pthread_cond_t returned; /* a connection came back; see SERVER_READERS in database.c */
	size_t lent;             /* connections of this generation that are with readers */
	size_t lent_old;         /* and of older ones */
	int64_t looked_ms;       /* when a reader last looked whether the database is still there */
	struct mr_db *idle[MR_TEAM_READERS];
	size_t idle_count;
	struct mr_team_noted noted[MR_TEAM_NOTED];
	struct mr_team_archiver *archiver; /* or NULL: nobody archives in the background */
};

/* watch.c: free the listener; no thread may be waiting any more. */
void mr_team_listener_close(struct mr_team *team);

/* What to do about a database that is damaged or gone. */
#define MR_TEAM_REBUILD_HINT "run `mailroom team rebuild`"
/* database.c: how the database is opened, and the queue's checks that it is still there. */
struct mr_db_options mr_team_database_options(const struct mr_team *team, bool read_only);
struct mr_queue_guard mr_team_database_guard(struct mr_team *team);
/* pulse.c */
void mr_team_pulse_init(struct mr_team_pulse *pulse);
void mr_team_pulse_destroy(struct mr_team_pulse *pulse);

/*
 * root.c: open the database and begin to write; `hooks` are copied. After an error nothing is open.
 * Closing answers what waits, and neither archives nor frees `hooks->heads`.
 */
MR_CHECK enum mr_code mr_team_root_open(struct mr_ctx *cx, const struct mr_team_config *config,
	const struct mr_team_hooks *hooks, struct mr_team **out);
void mr_team_root_close(struct mr_team *team);
