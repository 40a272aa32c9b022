/* surface/mcp/stdio_job.c - the threads that answer. */
#include "base/reach.h"
#include "surface/mcp/answer.h"
#include "surface/mcp/roots.h"
#include "surface/mcp/stdio_private.h"

/* ---- jobs ---- */

struct mr_mcp_stdio_job *mr_mcp_stdio_job_of(struct mr_mcp_channel *channel)
{
	return (struct mr_mcp_stdio_job *)((char *)channel -
		offsetof(struct mr_mcp_stdio_job, channel));
}

bool mr_mcp_stdio_job_is_over(void *arg)
{
	struct mr_mcp_stdio_job *job = arg;

	return atomic_load(&job->is_cancelled) || atomic_load(&job->io->is_over);
}

static bool channel_is_over(struct mr_mcp_channel *channel)
{
	return mr_mcp_stdio_job_is_over(mr_mcp_stdio_job_of(channel));
}

static enum mr_code channel_send(struct mr_mcp_channel *channel, struct mr_bytes json,
	struct mr_err *err)
{
	return mr_mcp_stdio_write(mr_mcp_stdio_job_of(channel)->io, json, err);
}

static void channel_pause(struct mr_mcp_channel *channel)
{
	(void)channel; /* there is only one line to the client */
}

struct mr_mcp_stdio_job *mr_mcp_stdio_job_new(struct mr_mcp_stdio *io)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_mcp_stdio_job *job = mr_arena_alloc(arena, sizeof(*job));

	*job = (struct mr_mcp_stdio_job){ .io = io,
		.arena = arena,
		.channel = { channel_send, mr_mcp_stdio_ask, channel_pause, channel_is_over } };
	return job;
}

void mr_mcp_stdio_job_free(struct mr_mcp_stdio_job *job)
{
	mr_arena_free(job->arena);
}

/* ---- what they do ---- */

static void answer_one(struct mr_mcp_stdio_job *job, const struct mr_rpc *request,
	struct mr_buf *out)
{
	struct mr_mcp_exchange ex = { .mcp = job->io->mcp, .client = &job->client };
	struct mr_reach reach;

	ex.call = mr_dispatch_call(mr_mcp_app(job->io->mcp), job->arena);
	/* A client with roots tells by them which directories of this machine its model may see. */
	reach = *ex.call.cx.reach;
	reach.ask = job->client.has_roots ? mr_mcp_roots_ask : NULL;
	reach.ask_arg = &ex;
	ex.call.cx.reach = &reach;
	/* The user who started us could as well have used the command line. */
	ex.call.may_write = true;
	ex.call.is_admin = true;
	ex.call.is_over = mr_mcp_stdio_job_is_over;
	ex.call.is_over_arg = job;
	ex.channel = &job->channel;
	mr_mcp_answer(&ex, request, out);
}

static void answer_all(struct mr_mcp_stdio_job *job, struct mr_buf *out)
{
	struct mr_buf one MR_CLEANUP(mr_buf_release) = { 0 };
	const char *before = "[";

	mr_buf_init(&one, MR_MCP_STDIO_ANSWER);
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

void mr_mcp_stdio_job_answer(struct mr_mcp_stdio_job *job)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err gone;

	mr_buf_init(&text, MR_MCP_STDIO_ANSWER);
	if (job->is_batch)
		answer_all(job, &text);
	else
		answer_one(job, &job->messages[0], &text);
	if (atomic_load(&job->is_cancelled))
		return;
	if (text.failed)
		mr_mcp_stdio_error(job->io, NULL, MR_RPC_INTERNAL,
			"the answers together are too large", NULL);
	else
		(void)!mr_mcp_stdio_write(job->io, mr_buf_bytes(&text), &gone);
}

static void tell(struct mr_mcp_stdio_job *job)
{
	struct mr_err gone;

	(void)!mr_mcp_stdio_write(job->io, mr_bytes_text(job->text), &gone);
}

static bool is_listen(const struct mr_mcp_stdio_job *job)
{
	return !job->is_batch && job->client.era == MR_MCP_STATELESS &&
		mr_str_eq(job->messages[0].method, "subscriptions/listen");
}

/* ---- the threads ---- */

/* Under the lock: the next job becomes a running one. */
static struct mr_mcp_stdio_job *take_job(struct mr_mcp_stdio *io)
{
	struct mr_mcp_stdio_job *job = io->waiting;

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
static void end_job(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job)
{
	struct mr_mcp_stdio_job **at = &io->running;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	io->long_len -= job->is_long;
	pthread_cond_broadcast(&io->changed);
}

static void *work(void *arg)
{
	struct mr_mcp_stdio *io = arg;

	pthread_mutex_lock(&io->lock);
	for (;;) {
		struct mr_mcp_stdio_job *job;

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
			mr_mcp_stdio_listen(job);
		else
			mr_mcp_stdio_job_answer(job);
		pthread_mutex_lock(&io->lock);
		end_job(io, job);
		mr_mcp_stdio_job_free(job);
	}
	pthread_mutex_unlock(&io->lock);
	return NULL;
}

/* Under the lock. Start another thread when all are busy; when that fails, the job waits for one
 * of them. */
void mr_mcp_stdio_job_put(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job)
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

bool mr_mcp_stdio_job_submit(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job)
{
	bool is_full;

	for (size_t i = 0; i < job->len; i++)
		job->is_long = job->is_long ||
			(job->messages[i].kind == MR_RPC_REQUEST &&
				mr_mcp_is_long(io->mcp, &job->client, &job->messages[i]));
	pthread_mutex_lock(&io->lock);
	is_full = job->is_long && io->long_len == MR_MCP_STDIO_LONG;
	/* With open questions read further ahead: their answers arrive on the same input. */
	while (!is_full && io->waiting_len >= (io->questions ? 16 : 1) * MR_MCP_STDIO_WAITING)
		pthread_cond_wait(&io->changed, &io->lock);
	if (!is_full) {
		io->long_len += job->is_long;
		mr_mcp_stdio_job_put(io, job);
	}
	pthread_mutex_unlock(&io->lock);
	if (is_full)
		mr_mcp_stdio_error(io, job->messages[0].id, MR_RPC_TRANSPORT,
			"too many calls wait already: let one end first", NULL);
	return !is_full;
}

void mr_mcp_stdio_job_cancel(struct mr_mcp_stdio *io, const struct mr_value *id)
{
	struct mr_mcp_stdio_job *const lists[] = { io->waiting, io->running };

	for (size_t i = 0; i < MR_LEN(lists); i++) {
		for (struct mr_mcp_stdio_job *job = lists[i]; job; job = job->next) {
			if (!job->text && !job->is_batch && mr_value_equal(job->messages[0].id, id))
				atomic_store(&job->is_cancelled, true);
		}
	}
	pthread_cond_broadcast(&io->changed);
}

void mr_mcp_stdio_job_join(struct mr_mcp_stdio *io)
{
	size_t count;

	pthread_mutex_lock(&io->lock);
	io->is_closing = true;
	pthread_cond_broadcast(&io->changed);
	count = io->threads_len;
	pthread_mutex_unlock(&io->lock);
	for (size_t i = 0; i < count; i++)
		pthread_join(io->threads[i], NULL);
}
