/* surface/mcp/stdio.c */
#include "surface/mcp/stdio.h"

#include "base/log.h"
#include "surface/mcp/claim.h"
#include "surface/mcp/hub.h"
#include "surface/mcp/wanted.h"
#include "text/json.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	READ_BYTES = 64 << 10,
	ANSWER_BYTES = 32 << 20,
	BATCH = 100,
	ASK_MS = 300 * 1000,
	LOOK_MS = 1000, /* who waits for the client looks so often whether it is still there */
};

/* What a thread does: answer a line's requests, or write a message. */
struct job {
	struct job *next;
	struct stdio *io;
	struct mr_arena *arena;
	struct mr_mcp_channel channel;
	struct mr_mcp_client client;
	struct mr_rpc *messages;
	size_t len;
	bool is_batch, is_long;
	_Atomic(bool) is_cancelled;
	const char *text; /* the message, or NULL */
};

/* A request of the second generation that is answered by changes, until it is cancelled. */
struct listening {
	struct mr_mcp_listener listener; /* first: it is the listening */
	struct listening *next;
	struct stdio *io;
	struct mr_arena *arena;
	const struct mr_value *id;
	/* Nothing is said before the acknowledgement: until then it waits here. */
	bool is_acknowledged, is_cancelled;
	struct job *early, **last;
};

/* One of ours that the client has not answered yet. */
struct question {
	struct question *next;
	char id[32];
	struct mr_arena *arena; /* of the answer, once it is there */
	struct mr_rpc answer;
};

struct stdio {
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
	struct job *waiting, **last;
	struct job *running; /* by `next` */
	size_t waiting_len, long_len;
	pthread_t threads[MR_MCP_STDIO_THREADS];
	size_t threads_len, idle;
	bool is_closing;
	struct question *questions;
	unsigned asked;
	struct listening *listenings;
	size_t listenings_len;
};

/* ---- what leaves ---- */

static bool write_all(int fd, struct iovec *parts, int count)
{
	while (count > 0) {
		ssize_t n = writev(fd, parts, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		while (count > 0 && (size_t)n >= parts->iov_len) {
			n -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count > 0) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return true;
}

static enum mr_code write_message(struct stdio *io, struct mr_bytes json, struct mr_err *err)
{
	struct iovec parts[] = { { (void *)(uintptr_t)json.data, json.len }, { (void *)"\n", 1 } };
	bool is_broken;

	pthread_mutex_lock(&io->writing);
	if (!io->is_broken && !write_all(io->out, parts, MR_LEN(parts)))
		io->is_broken = true;
	is_broken = io->is_broken;
	pthread_mutex_unlock(&io->writing);
	if (!is_broken)
		return MR_OK;
	atomic_store(&io->is_over, true);
	return mr_err_set(err, MR_ENOTFOUND, "the client does not read any more");
}

static void write_error(struct stdio *io, const struct mr_value *id, int code, const char *message,
	const struct mr_value *data)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct mr_err gone;
	struct mr_out out;

	mr_buf_init(&text, ANSWER_BYTES);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_rpc_error(&out, id, code, message, data);
	(void)!write_message(io, mr_buf_bytes(&text), &gone);
}

/* ---- jobs ---- */

static struct job *new_job(struct stdio *io)
{
	struct mr_arena *arena = mr_arena_new();
	struct job *job = mr_arena_alloc(arena, sizeof(*job));

	*job = (struct job){ .io = io, .arena = arena };
	return job;
}

static void free_job(struct job *job)
{
	mr_arena_free(job->arena);
}

static struct job *job_of(struct mr_mcp_channel *channel)
{
	return (struct job *)((char *)channel - offsetof(struct job, channel));
}

static bool job_is_over(void *arg)
{
	struct job *job = arg;

	return atomic_load(&job->is_cancelled) || atomic_load(&job->io->is_over);
}

static bool channel_is_over(struct mr_mcp_channel *channel)
{
	return job_is_over(job_of(channel));
}

static enum mr_code channel_send(struct mr_mcp_channel *channel, struct mr_bytes json,
	struct mr_err *err)
{
	return write_message(job_of(channel)->io, json, err);
}

static void channel_pause(struct mr_mcp_channel *channel)
{
	(void)channel; /* there is only one line to the client */
}

/* ---- questions to the client ---- */

static void put_question(struct stdio *io, struct question *question)
{
	pthread_mutex_lock(&io->lock);
	snprintf(question->id, sizeof(question->id), "mailroom-%u", ++io->asked);
	question->next = io->questions;
	io->questions = question;
	pthread_mutex_unlock(&io->lock);
}

static void take_question(struct stdio *io, const struct question *question)
{
	struct question **at = &io->questions;

	while (*at != question)
		at = &(*at)->next;
	*at = question->next;
}

static void free_arena(void *arena)
{
	mr_arena_free(arena);
}

/* The reading thread has seen an answer; its memory goes with it. False: nobody asked. */
static bool give_answer(struct stdio *io, struct job *job)
{
	const struct mr_value *id = job->messages[0].id;
	struct question *found = NULL;

	pthread_mutex_lock(&io->lock);
	for (struct question *q = io->questions; q && !found; q = q->next) {
		if (!q->arena && id && id->kind == MR_TEXT && mr_str_eq(id->text, q->id))
			found = q;
	}
	if (found) {
		found->answer = job->messages[0];
		found->arena = job->arena;
		pthread_cond_broadcast(&io->changed);
	}
	pthread_mutex_unlock(&io->lock);
	return found != NULL;
}

static struct timespec soon(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += LOOK_MS / 1000;
	return at;
}

static enum mr_code wait_for_answer(struct job *job, struct question *question, struct mr_err *err)
{
	struct stdio *io = job->io;
	enum mr_code rc = MR_OK;
	int left_ms = ASK_MS;

	pthread_mutex_lock(&io->lock);
	while (!question->arena && left_ms > 0 && !job_is_over(job)) {
		struct timespec until = soon();

		if (pthread_cond_timedwait(&io->changed, &io->lock, &until) == ETIMEDOUT)
			left_ms -= LOOK_MS;
	}
	take_question(io, question);
	pthread_mutex_unlock(&io->lock);
	if (!question->arena && left_ms <= 0)
		rc = mr_err_set(err, MR_ETIMEOUT, "the client did not answer within %d s",
			ASK_MS / 1000);
	else if (!question->arena)
		rc = mr_err_set(err, MR_ENOTFOUND, "the client does not wait any more");
	return rc;
}

static enum mr_code channel_ask(struct mr_mcp_channel *channel, struct mr_arena *arena,
	const char *method, const struct mr_value *params, const struct mr_value **out,
	struct mr_err *err)
{
	struct job *job = job_of(channel);
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct question question = { 0 };
	const struct mr_value *said;
	struct mr_out json;
	enum mr_code rc;

	mr_buf_init(&text, ANSWER_BYTES);
	put_question(job->io, &question);
	mr_out_init_json(&json, &text, MR_JSON_COMPACT);
	mr_rpc_begin_call(&json, question.id, method);
	if (params)
		mr_out_value(&json, "params", params);
	mr_out_end(&json);
	(void)!write_message(job->io, mr_buf_bytes(&text), err);
	rc = wait_for_answer(job, &question, err);
	if (rc)
		return rc;
	mr_arena_defer(arena, free_arena, question.arena);
	*out = question.answer.result;
	if (question.answer.result)
		return MR_OK;
	said = mr_value_get(question.answer.error, "message");
	return mr_err_set(err, MR_EREMOTE, "the client answered: %.200s",
		said && said->kind == MR_TEXT ? said->text : "no");
}

/* ---- the threads ---- */

static void answer_one(struct job *job, const struct mr_rpc *request, struct mr_buf *out)
{
	struct mr_mcp_exchange ex = { .mcp = job->io->mcp, .client = &job->client };

	ex.call = mr_dispatch_call(mr_mcp_app(job->io->mcp), job->arena);
	/* Who started us could as well have used the command line. */
	ex.call.may_write = true;
	ex.call.is_admin = true;
	ex.call.is_over = job_is_over;
	ex.call.is_over_arg = job;
	ex.channel = &job->channel;
	mr_mcp_answer(&ex, request, out);
}

static void answer_all(struct job *job, struct mr_buf *out)
{
	struct mr_buf one MR_CLEANUP(mr_buf_release);
	const char *before = "[";

	mr_buf_init(&one, ANSWER_BYTES);
	for (size_t i = 0; i < job->len; i++) {
		if (job->messages[i].kind != MR_RPC_REQUEST)
			continue;
		mr_buf_clear(&one);
		answer_one(job, &job->messages[i], &one);
		mr_buf_puts(out, before);
		mr_buf_add(out, one.data, one.len);
		before = ",";
	}
	mr_buf_putc(out, ']');
}

static void answer(struct job *job)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct mr_err gone;

	mr_buf_init(&text, ANSWER_BYTES);
	if (job->is_batch)
		answer_all(job, &text);
	else
		answer_one(job, &job->messages[0], &text);
	if (atomic_load(&job->is_cancelled))
		return;
	if (text.failed)
		write_error(job->io, NULL, MR_RPC_INTERNAL, "the answers together are too large",
			NULL);
	else
		(void)!write_message(job->io, mr_buf_bytes(&text), &gone);
}

static void tell(struct job *job)
{
	struct mr_err gone;

	(void)!write_message(job->io, mr_bytes_text(job->text), &gone);
}

static bool is_listen(const struct job *job)
{
	return !job->is_batch && job->client.era == MR_MCP_STATELESS &&
		mr_str_eq(job->messages[0].method, "subscriptions/listen");
}

/* Under the lock: the next job becomes a running one. */
static struct job *take_job(struct stdio *io)
{
	struct job *job = io->waiting;

	io->waiting = job->next;
	if (!io->waiting)
		io->last = &io->waiting;
	io->waiting_len--;
	job->next = io->running;
	io->running = job;
	pthread_cond_broadcast(&io->changed);
	return job;
}

/* Under the lock. */
static void end_job(struct stdio *io, struct job *job)
{
	struct job **at = &io->running;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	io->long_len -= job->is_long;
	pthread_cond_broadcast(&io->changed);
}

static void listen_to(struct job *job);

static void *work(void *arg)
{
	struct stdio *io = arg;

	pthread_mutex_lock(&io->lock);
	for (;;) {
		struct job *job;

		io->idle++;
		while (!io->waiting && !io->is_closing)
			pthread_cond_wait(&io->changed, &io->lock);
		io->idle--;
		if (!io->waiting)
			break;
		job = take_job(io);
		pthread_mutex_unlock(&io->lock);
		if (job->text)
			tell(job);
		else if (is_listen(job))
			listen_to(job);
		else
			answer(job);
		pthread_mutex_lock(&io->lock);
		end_job(io, job);
		free_job(job);
	}
	pthread_mutex_unlock(&io->lock);
	return NULL;
}

/* Under the lock. A thread more when all that there are have something to do; without one the
 * others do it later. */
static void put_job(struct stdio *io, struct job *job)
{
	job->next = NULL;
	*io->last = job;
	io->last = &job->next;
	io->waiting_len++;
	if (io->waiting_len > io->idle && io->threads_len < MR_MCP_STDIO_THREADS &&
		pthread_create(&io->threads[io->threads_len], NULL, work, io) == 0)
		io->threads_len++;
	pthread_cond_broadcast(&io->changed);
}

/* ---- what the hub has to say ---- */

static struct stdio *io_of(struct mr_mcp_listener *listener)
{
	return (struct stdio *)((char *)listener - offsetof(struct stdio, listener));
}

/* A message about a change of `uri`; of the same nothing is said twice while it waits. */
static struct job *change_job(struct stdio *io, const struct mr_value *id, const char *uri,
	const struct job *before)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct job *job;

	mr_buf_init(&text, MR_MCP_WANTED_BYTES);
	mr_mcp_wanted_change(id, uri, &text);
	for (; before; before = before->next) {
		if (mr_str_eq(before->text, mr_buf_text(&text)))
			return NULL;
	}
	if (text.failed)
		return NULL;
	job = new_job(io);
	job->text = mr_arena_strdup(job->arena, mr_buf_text(&text));
	return job;
}

static void on_updated(struct mr_mcp_listener *listener, const char *uri)
{
	struct stdio *io = io_of(listener);
	struct job *job;

	pthread_mutex_lock(&io->lock);
	job = change_job(io, NULL, uri, io->waiting);
	if (job)
		put_job(io, job);
	pthread_mutex_unlock(&io->lock);
}

static void on_level(struct mr_mcp_listener *listener, int level)
{
	struct stdio *io = io_of(listener);

	pthread_mutex_lock(&io->lock);
	io->client.log_level = level;
	pthread_mutex_unlock(&io->lock);
}

/* ---- the second generation listens ---- */

static void on_change(struct mr_mcp_listener *listener, const char *uri)
{
	struct listening *listening = (struct listening *)listener;
	struct stdio *io = listening->io;
	struct job *job;

	pthread_mutex_lock(&io->lock);
	job = change_job(io, listening->id, uri,
		listening->is_acknowledged ? io->waiting : listening->early);
	if (job && listening->is_acknowledged) {
		put_job(io, job);
	} else if (job) {
		*listening->last = job;
		listening->last = &job->next;
	}
	pthread_mutex_unlock(&io->lock);
}

/* NULL when there are too many. The request's id lives with it. */
static struct listening *add_listening(struct job *job)
{
	struct stdio *io = job->io;
	struct mr_arena *arena = mr_arena_new();
	struct listening *listening = mr_arena_alloc(arena, sizeof(*listening));
	struct mr_value *id = mr_arena_memdup(arena, job->messages[0].id, sizeof(*id));
	bool is_full;

	if (id->kind == MR_TEXT)
		id->text = mr_arena_strdup(arena, id->text);
	*listening = (struct listening){ .listener = { .updated = on_change },
		.io = io,
		.arena = arena,
		.id = id,
		.last = &listening->early };
	pthread_mutex_lock(&io->lock);
	is_full = io->listenings_len == MR_MCP_STDIO_LISTENING;
	if (!is_full) {
		listening->next = io->listenings;
		io->listenings = listening;
		io->listenings_len++;
	}
	pthread_mutex_unlock(&io->lock);
	if (!is_full)
		return listening;
	mr_arena_free(arena);
	return NULL;
}

/* Under the lock: out of the list, by its id or (NULL) any. One that is not acknowledged yet is in
 * use: it goes when it is. */
static struct listening *take_listening(struct stdio *io, const struct mr_value *id)
{
	for (struct listening **at = &io->listenings; *at; at = &(*at)->next) {
		struct listening *found = *at;

		if (id && !mr_value_equal(found->id, id))
			continue;
		if (!found->is_acknowledged) {
			found->is_cancelled = true;
			return NULL;
		}
		*at = found->next;
		io->listenings_len--;
		return found;
	}
	return NULL;
}

static void end_listening(struct stdio *io, struct listening *listening)
{
	mr_mcp_hub_unsubscribe(mr_mcp_hub(io->mcp), NULL, &listening->listener);
	while (listening->early) {
		struct job *job = listening->early;

		listening->early = job->next;
		free_job(job);
	}
	mr_arena_free(listening->arena);
}

/* The acknowledgement is written; then what was kept back. */
static void acknowledge(struct stdio *io, struct listening *listening, const struct mr_buf *json)
{
	struct listening *over = NULL;
	struct mr_err gone;

	(void)!write_message(io, mr_buf_bytes(json), &gone);
	pthread_mutex_lock(&io->lock);
	listening->is_acknowledged = true;
	while (listening->early) {
		struct job *job = listening->early;

		listening->early = job->next;
		put_job(io, job);
	}
	if (listening->is_cancelled)
		over = take_listening(io, listening->id);
	pthread_mutex_unlock(&io->lock);
	if (over)
		end_listening(io, over);
}

static void listen_to(struct job *job)
{
	const struct mr_rpc *request = &job->messages[0];
	struct mr_mcp_exchange ex = { .mcp = job->io->mcp,
		.client = &job->client,
		.params = request->params };
	struct mr_buf json MR_CLEANUP(mr_buf_release);
	const struct mr_value *filter;
	struct listening *listening;

	mr_buf_init(&json, ANSWER_BYTES);
	ex.call = mr_dispatch_call(mr_mcp_app(job->io->mcp), job->arena);
	ex.call.may_write = ex.call.is_admin = true;
	filter = mr_mcp_wanted_filter(&ex);
	listening = filter ? add_listening(job) : NULL;
	if (!listening) {
		write_error(job->io, request->id, filter ? MR_RPC_TRANSPORT : ex.rpc_code,
			filter ? "too many streams of changes: cancel one first"
			       : ex.call.cx.err.msg,
			NULL);
		return;
	}
	mr_mcp_wanted_begin(&ex, filter, request->id, &listening->listener, &json);
	acknowledge(job->io, listening, &json);
}

/* ---- what arrives ---- */

static bool is_initialize(const struct mr_rpc *message)
{
	return message->kind == MR_RPC_REQUEST && mr_str_eq(message->method, "initialize");
}

/* The first generation introduces itself, once; what it says holds for what it sends later. */
static void introduce(struct stdio *io, struct job *job)
{
	const struct mr_value *params = job->messages[0].params;
	struct mr_mcp_hello hello;

	if (io->is_introduced) {
		write_error(io, job->messages[0].id, MR_RPC_INVALID,
			"this connection has been initialized already", NULL);
		return;
	}
	if (mr_value_get(params, "protocolVersion")) {
		mr_mcp_hello(params, &hello);
		pthread_mutex_lock(&io->lock);
		io->is_introduced = true;
		io->client.version = mr_arena_strdup(io->arena, hello.version);
		io->client.can_sample = hello.can_sample;
		io->client.can_elicit = hello.can_elicit;
		io->client.has_roots = hello.has_roots;
		job->client = io->client;
		pthread_mutex_unlock(&io->lock);
		mr_log(MR_LOG_INFO, "mcp_client", "%.100s, protocol %s",
			hello.name ? hello.name : "a client", hello.version);
	}
	answer(job);
}

static void cancel(struct stdio *io, const struct mr_value *id)
{
	struct job *const lists[] = { io->waiting, io->running };

	for (size_t i = 0; i < MR_LEN(lists); i++) {
		for (struct job *job = lists[i]; job; job = job->next) {
			if (!job->text && !job->is_batch && mr_value_equal(job->messages[0].id, id))
				atomic_store(&job->is_cancelled, true);
		}
	}
	pthread_cond_broadcast(&io->changed);
}

static void take_notice(struct stdio *io, const struct mr_rpc *message)
{
	const struct mr_value *id = mr_value_get(message->params, "requestId");
	struct listening *listening;

	if (message->kind != MR_RPC_NOTIFICATION || !id ||
		!mr_str_eq(message->method, "notifications/cancelled"))
		return;
	pthread_mutex_lock(&io->lock);
	cancel(io, id);
	listening = take_listening(io, id);
	pthread_mutex_unlock(&io->lock);
	if (listening)
		end_listening(io, listening);
}

/* Who sends it? False when the answer says why not. */
static bool find_client(struct stdio *io, struct job *job)
{
	const struct mr_value *id = job->is_batch ? NULL : job->messages[0].id;
	struct mr_mcp_claim claim;

	pthread_mutex_lock(&io->lock);
	job->client = io->client;
	pthread_mutex_unlock(&io->lock);
	for (size_t i = 0; i < job->len; i++) {
		mr_mcp_claim(job->arena, job->messages[i].params, &claim);
		if (!claim.is_made)
			continue;
		if (job->is_batch) {
			write_error(io, NULL, MR_RPC_INVALID,
				"there are no batches in this protocol version", NULL);
			return false;
		}
		if (claim.rpc_code && id)
			write_error(io, id, claim.rpc_code, claim.message, claim.data);
		if (claim.rpc_code)
			return false;
		job->client = claim.client;
		job->client.listener = &io->listener;
	}
	if (job->is_batch && !mr_str_eq(job->client.version, MR_MCP_ASSUMED)) {
		write_error(io, NULL, MR_RPC_INVALID,
			"there are no batches in this protocol version", NULL);
		return false;
	}
	return true;
}

/* The messages of a line; false when the answer says what is wrong with them. */
static bool read_messages(struct job *job, struct mr_bytes line)
{
	const struct mr_value *body, *items;
	struct mr_err err;

	if (mr_json_parse(job->arena, line, NULL, &body, &err)) {
		write_error(job->io, NULL, MR_RPC_PARSE, err.msg, NULL);
		return false;
	}
	job->is_batch = body->kind == MR_LIST;
	items = job->is_batch ? body->list.items : body;
	job->len = job->is_batch ? body->list.len : 1;
	if (job->len == 0 || job->len > BATCH) {
		write_error(job->io, NULL, MR_RPC_INVALID, "a batch has 1 to 100 messages", NULL);
		return false;
	}
	job->messages = mr_arena_array(job->arena, job->len, sizeof(*job->messages));
	for (size_t i = 0; i < job->len; i++) {
		const char *why = mr_rpc_read(&items[i], &job->messages[i]);

		if (why) {
			write_error(job->io, job->messages[i].id, MR_RPC_INVALID, why, NULL);
			return false;
		}
	}
	return true;
}

/* True when a thread will see to it, and free it. */
static bool submit(struct stdio *io, struct job *job)
{
	bool is_full;

	for (size_t i = 0; i < job->len; i++)
		job->is_long = job->is_long ||
			(job->messages[i].kind == MR_RPC_REQUEST &&
				mr_mcp_is_long(io->mcp, &job->client, &job->messages[i]));
	pthread_mutex_lock(&io->lock);
	is_full = job->is_long && io->long_len == MR_MCP_STDIO_LONG;
	while (!is_full && io->waiting_len >= MR_MCP_STDIO_WAITING)
		pthread_cond_wait(&io->changed, &io->lock);
	if (!is_full) {
		io->long_len += job->is_long;
		put_job(io, job);
	}
	pthread_mutex_unlock(&io->lock);
	if (is_full)
		write_error(io, job->messages[0].id, MR_RPC_TRANSPORT,
			"too many calls wait already: let one end first", NULL);
	return !is_full;
}

static void take_line(struct stdio *io, struct mr_bytes line)
{
	struct job *job = new_job(io);
	size_t requests = 0;
	bool is_given = false;

	job->channel = (struct mr_mcp_channel){ channel_send, channel_ask, channel_pause,
		channel_is_over };
	if (read_messages(job, line) && find_client(io, job)) {
		for (size_t i = 0; i < job->len; i++) {
			requests += job->messages[i].kind == MR_RPC_REQUEST;
			take_notice(io, &job->messages[i]);
		}
		if (!job->is_batch && job->messages[0].kind == MR_RPC_RESPONSE)
			is_given = give_answer(io, job);
		else if (!job->is_batch && is_initialize(&job->messages[0]))
			introduce(io, job);
		else if (requests)
			is_given = submit(io, job);
	}
	if (!is_given)
		free_job(job);
}

/* Lines out of what was read; the rest stays in `line` until more comes. */
static void take_bytes(struct stdio *io, struct mr_buf *line, bool *is_skipping, const char *data,
	size_t len)
{
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end ? (size_t)(end - data) : len;

		if (!*is_skipping)
			mr_buf_add(line, data, part);
		if (line->failed && !*is_skipping) {
			*is_skipping = true;
			mr_buf_clear(line);
			write_error(io, NULL, MR_RPC_INVALID, "a message has at most 4194304 bytes",
				NULL);
		}
		if (end) {
			if (line->len > strspn(mr_buf_text(line), " \t\r"))
				take_line(io, mr_buf_bytes(line));
			mr_buf_clear(line);
			*is_skipping = false;
		}
		part += end ? 1 : 0;
		data += part;
		len -= part;
	}
}

/* Wait for something to read; false when it is time to end. */
static bool wait_for_input(struct stdio *io, int stop)
{
	struct pollfd fds[] = { { .fd = io->in, .events = POLLIN },
		{ .fd = stop, .events = POLLIN }, { .fd = io->out } };
	int n;

	do {
		n = poll(fds, MR_LEN(fds), -1);
	} while (n < 0 && errno == EINTR);
	/* Of the output only that nobody reads it can be told. */
	return n > 0 && !fds[1].revents && !fds[2].revents;
}

static enum mr_code read_all(struct stdio *io, int stop, struct mr_err *err)
{
	struct mr_buf line MR_CLEANUP(mr_buf_release);
	bool is_skipping = false;
	char *data = malloc(READ_BYTES);
	enum mr_code rc = MR_OK;

	if (!data)
		abort();
	mr_buf_init(&line, MR_MCP_STDIO_LINE);
	while (!atomic_load(&io->is_over) && wait_for_input(io, stop)) {
		ssize_t n = read(io->in, data, READ_BYTES);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			rc = mr_err_os(err, errno, "standard input");
		if (n <= 0)
			break;
		take_bytes(io, &line, &is_skipping, data, (size_t)n);
	}
	/* The last line may lack its newline. */
	if (!rc && !is_skipping && line.len > 0)
		take_bytes(io, &line, &is_skipping, "\n", 1);
	free(data);
	return rc;
}

/* ---- begin and end ---- */

static void begin(struct stdio *io, struct mr_mcp *mcp, int in, int out)
{
	pthread_condattr_t attributes;

	*io = (struct stdio){
		.mcp = mcp,
		.in = in,
		.out = out,
		.listener = { on_updated, on_level },
		.arena = mr_arena_new(),
		.last = &io->waiting,
		.client = { .era = MR_MCP_SESSIONS,
			.version = MR_MCP_ASSUMED,
			.listener = &io->listener },
	};
	pthread_mutex_init(&io->writing, NULL);
	pthread_mutex_init(&io->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&io->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void end(struct stdio *io)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct mr_err gone;
	size_t count;

	mr_buf_init(&text, MR_MCP_WANTED_BYTES);
	atomic_store(&io->is_over, true);
	mr_mcp_hub_unsubscribe(mr_mcp_hub(io->mcp), NULL, &io->listener);
	pthread_mutex_lock(&io->lock);
	io->is_closing = true;
	pthread_cond_broadcast(&io->changed);
	count = io->threads_len;
	pthread_mutex_unlock(&io->lock);
	for (size_t i = 0; i < count; i++)
		pthread_join(io->threads[i], NULL);
	/* A subscription made while we ended. */
	mr_mcp_hub_unsubscribe(mr_mcp_hub(io->mcp), NULL, &io->listener);
	while (io->listenings) {
		struct listening *listening = take_listening(io, NULL);

		mr_mcp_wanted_end(listening->id, &text);
		(void)!write_message(io, mr_buf_bytes(&text), &gone);
		mr_buf_clear(&text);
		end_listening(io, listening);
	}
	while (io->waiting) {
		struct job *job = io->waiting;

		io->waiting = job->next;
		free_job(job);
	}
	pthread_cond_destroy(&io->changed);
	pthread_mutex_destroy(&io->lock);
	pthread_mutex_destroy(&io->writing);
	mr_arena_free(io->arena);
}

enum mr_code mr_mcp_stdio_serve(struct mr_mcp *mcp, int in, int out, int stop, struct mr_err *err)
{
	struct stdio io;
	enum mr_code rc;

	begin(&io, mcp, in, out);
	rc = read_all(&io, stop, err);
	end(&io);
	return rc;
}
