/*
 * surface/mcp/stdio_private.h - what the files of MCP over a pair of descriptors share.
 *
 * One thread reads (stdio.c) and gives what needs an answer to others (stdio_job.c). They write
 * whole messages, one at a time. Nobody holds both locks.
 */
#pragma once

#include "surface/mcp/hub.h"
#include "surface/mcp/stdio.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MR_MCP_STDIO_ANSWER = 32 << 20 }; /* bytes */

struct mr_mcp_stdio;
struct mr_mcp_stdio_listening;
struct mr_mcp_stdio_question;

/* What a thread does: answer a line's requests, or write a message. */
struct mr_mcp_stdio_job {
	struct mr_mcp_stdio_job *next;
	struct mr_mcp_stdio *io;
	struct mr_arena *arena;
	struct mr_mcp_channel channel;
	struct mr_mcp_client client;
	struct mr_rpc *messages;
	size_t len;
	bool is_batch, is_long;
	_Atomic(bool) is_cancelled;
	const char *text; /* the message, or NULL */
};

struct mr_mcp_stdio {
	struct mr_mcp *mcp;
	int in, out;
	struct mr_mcp_listener listener;
	_Atomic(bool) is_over; /* the client has gone, or we were told to end */

	pthread_mutex_t writing; /* one message at a time */
	bool is_broken;          /* nobody reads; guarded by `writing` */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct mr_arena *arena; /* of what the client said of itself */
	struct mr_mcp_client client;
	bool is_introduced;
	struct mr_mcp_stdio_job *waiting, **last;
	struct mr_mcp_stdio_job *running; /* by `next` */
	size_t waiting_len, long_len;
	pthread_t threads[MR_MCP_STDIO_THREADS];
	size_t threads_len, idle;
	bool is_closing;
	struct mr_mcp_stdio_question *questions;
	unsigned asked;
	struct mr_mcp_stdio_listening *listenings;
	size_t listenings_len;
};

/* stdio.c: one message to the client. MR_ENOTFOUND: it does not read any more. */
MR_CHECK enum mr_code mr_mcp_stdio_write(struct mr_mcp_stdio *io, struct mr_bytes json,
	struct mr_err *err);
void mr_mcp_stdio_error(struct mr_mcp_stdio *io, const struct mr_value *id, int code,
	const char *message, const struct mr_value *data);

/* stdio_job.c */
struct mr_mcp_stdio_job *mr_mcp_stdio_job_new(struct mr_mcp_stdio *io);
void mr_mcp_stdio_job_free(struct mr_mcp_stdio_job *job);
struct mr_mcp_stdio_job *mr_mcp_stdio_job_of(struct mr_mcp_channel *channel);
/* Of a job: does nobody wait for the answer any more? */
bool mr_mcp_stdio_job_is_over(void *job);
/* Here and now, on this thread. */
void mr_mcp_stdio_job_answer(struct mr_mcp_stdio_job *job);
/* Under the lock: for a thread, which frees it. */
void mr_mcp_stdio_job_put(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job);
/* The same from the reading thread, which waits while too many wait already. False when too many
 * are long; then the client has been told, and the job is the caller's. */
bool mr_mcp_stdio_job_submit(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job);
/* Under the lock: the request with this id is not to be answered any more. */
void mr_mcp_stdio_job_cancel(struct mr_mcp_stdio *io, const struct mr_value *id);
/* Wait for the threads to end. */
void mr_mcp_stdio_job_join(struct mr_mcp_stdio *io);

/* stdio_ask.c: the channel's `ask`. */
enum mr_code mr_mcp_stdio_ask(struct mr_mcp_channel *channel, struct mr_arena *arena,
	const char *method, const struct mr_value *params, const struct mr_value **out,
	struct mr_err *err);
/* The reading thread has seen an answer; its memory goes with it. False: nobody asked. */
bool mr_mcp_stdio_answered(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job);

/* stdio_listen.c: the first generation's listener, with what it does. */
struct mr_mcp_listener mr_mcp_stdio_listener(void);
/* A job that is a subscriptions/listen. */
void mr_mcp_stdio_listen(struct mr_mcp_stdio_job *job);
/* The client does not want to hear any more what it asked for with this id. */
void mr_mcp_stdio_unlisten(struct mr_mcp_stdio *io, const struct mr_value *id);
/* After the threads have ended: say so to all who listen. */
void mr_mcp_stdio_listen_end(struct mr_mcp_stdio *io);
