/* surface/mcp/stdio_listen.c - unsolicited messages to the client: notifications of changes. */
#include "surface/mcp/stdio_private.h"
#include "surface/mcp/wanted.h"

/* A request of the second generation that is answered by changes, until it is cancelled. */
struct mr_mcp_stdio_listening {
	struct mr_mcp_listener listener; /* first: it is the listening */
	struct mr_mcp_stdio_listening *next;
	struct mr_mcp_stdio *io;
	struct mr_arena *arena;
	const struct mr_value *id;
	/* Nothing is said before the acknowledgement: until then it waits here. */
	bool is_acknowledged;
	struct mr_mcp_stdio_job *early, **last;
};

/* ---- the first generation subscribes ---- */

static struct mr_mcp_stdio *io_of(struct mr_mcp_listener *listener)
{
	return (struct mr_mcp_stdio *)((char *)listener - offsetof(struct mr_mcp_stdio, listener));
}

/* A notification about a change of `uri`; none while an equal one is still queued. */
static struct mr_mcp_stdio_job *change_job(struct mr_mcp_stdio *io, const struct mr_value *id,
	const char *uri, const struct mr_mcp_stdio_job *before)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mcp_stdio_job *job;

	mr_buf_init(&text, MR_MCP_WANTED_BYTES);
	mr_mcp_wanted_change(id, uri, &text);
	for (; before; before = before->next) {
		if (mr_str_eq(before->text, mr_buf_text(&text)))
			return NULL;
	}
	if (text.failed)
		return NULL;
	job = mr_mcp_stdio_job_new(io);
	job->text = mr_arena_strdup(job->arena, mr_buf_text(&text));
	return job;
}

static void on_updated(struct mr_mcp_listener *listener, const char *uri)
{
	struct mr_mcp_stdio *io = io_of(listener);
	struct mr_mcp_stdio_job *job;

	pthread_mutex_lock(&io->lock);
	job = change_job(io, NULL, uri, io->waiting);
	if (job)
		mr_mcp_stdio_job_put(io, job);
	pthread_mutex_unlock(&io->lock);
}

static void on_level(struct mr_mcp_listener *listener, int level)
{
	struct mr_mcp_stdio *io = io_of(listener);

	pthread_mutex_lock(&io->lock);
	io->client.log_level = level;
	pthread_mutex_unlock(&io->lock);
}

struct mr_mcp_listener mr_mcp_stdio_listener(void)
{
	return (struct mr_mcp_listener){ on_updated, on_level };
}

/* ---- the second generation listens ---- */

static void on_change(struct mr_mcp_listener *listener, const char *uri)
{
	struct mr_mcp_stdio_listening *listening = (struct mr_mcp_stdio_listening *)listener;
	struct mr_mcp_stdio *io = listening->io;
	struct mr_mcp_stdio_job *job;

	pthread_mutex_lock(&io->lock);
	job = change_job(io, listening->id, uri,
		listening->is_acknowledged ? io->waiting : listening->early);
	if (job && listening->is_acknowledged) {
		mr_mcp_stdio_job_put(io, job);
	} else if (job) {
		*listening->last = job;
		listening->last = &job->next;
	}
	pthread_mutex_unlock(&io->lock);
}

/* NULL when there are too many. The request's id lives with it. */
static struct mr_mcp_stdio_listening *add_listening(struct mr_mcp_stdio_job *job)
{
	struct mr_mcp_stdio *io = job->io;
	struct mr_arena *arena = mr_arena_new();
	struct mr_mcp_stdio_listening *listening = mr_arena_alloc(arena, sizeof(*listening));
	struct mr_value *id = mr_arena_memdup(arena, job->messages[0].id, sizeof(*id));
	bool is_full;

	if (id->kind == MR_TEXT)
		id->text = mr_arena_strdup(arena, id->text);
	*listening = (struct mr_mcp_stdio_listening){ .listener = { .updated = on_change },
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
 * use: its job knows that it was cancelled. */
static struct mr_mcp_stdio_listening *take_listening(struct mr_mcp_stdio *io,
	const struct mr_value *id)
{
	for (struct mr_mcp_stdio_listening **at = &io->listenings; *at; at = &(*at)->next) {
		struct mr_mcp_stdio_listening *found = *at;

		if (!found->is_acknowledged || (id && !mr_value_equal(found->id, id)))
			continue;
		*at = found->next;
		io->listenings_len--;
		return found;
	}
	return NULL;
}

static void end_listening(struct mr_mcp_stdio *io, struct mr_mcp_stdio_listening *listening)
{
	mr_mcp_hub_unsubscribe(mr_mcp_hub(io->mcp), NULL, &listening->listener);
	while (listening->early) {
		struct mr_mcp_stdio_job *job = listening->early;

		listening->early = job->next;
		mr_mcp_stdio_job_free(job);
	}
	mr_arena_free(listening->arena);
}

/* The acknowledgement is written; then what was kept back. */
static void acknowledge(struct mr_mcp_stdio_job *job, struct mr_mcp_stdio_listening *listening,
	const struct mr_buf *json)
{
	struct mr_mcp_stdio *io = job->io;
	struct mr_mcp_stdio_listening *over = NULL;
	struct mr_err gone;

	(void)!mr_mcp_stdio_write(io, mr_buf_bytes(json), &gone);
	pthread_mutex_lock(&io->lock);
	listening->is_acknowledged = true;
	while (listening->early) {
		struct mr_mcp_stdio_job *kept = listening->early;

		listening->early = kept->next;
		mr_mcp_stdio_job_put(io, kept);
	}
	/* Also before it was in the list. */
	if (atomic_load(&job->is_cancelled))
		over = take_listening(io, listening->id);
	pthread_mutex_unlock(&io->lock);
	if (over)
		end_listening(io, over);
}

void mr_mcp_stdio_listen(struct mr_mcp_stdio_job *job)
{
	const struct mr_rpc *request = &job->messages[0];
	struct mr_mcp_exchange ex = { .mcp = job->io->mcp,
		.client = &job->client,
		.params = request->params };
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *filter;
	struct mr_mcp_stdio_listening *listening;

	mr_buf_init(&json, MR_MCP_STDIO_ANSWER);
	ex.call = mr_dispatch_call(mr_mcp_app(job->io->mcp), job->arena);
	ex.call.may_write = ex.call.is_admin = true;
	filter = mr_mcp_wanted_filter(&ex);
	listening = filter ? add_listening(job) : NULL;
	if (!listening) {
		mr_mcp_stdio_error(job->io, request->id, filter ? MR_RPC_TRANSPORT : ex.rpc_code,
			filter ? "too many streams of changes: cancel one first"
			       : ex.call.cx.err.msg,
			NULL);
		return;
	}
	mr_mcp_wanted_begin(&ex, filter, request->id, &listening->listener, &json);
	acknowledge(job, listening, &json);
}

void mr_mcp_stdio_unlisten(struct mr_mcp_stdio *io, const struct mr_value *id)
{
	struct mr_mcp_stdio_listening *listening;

	pthread_mutex_lock(&io->lock);
	listening = take_listening(io, id);
	pthread_mutex_unlock(&io->lock);
	if (listening)
		end_listening(io, listening);
}

void mr_mcp_stdio_listen_end(struct mr_mcp_stdio *io)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err gone;

	mr_buf_init(&text, MR_MCP_WANTED_BYTES);
	while (io->listenings) {
		struct mr_mcp_stdio_listening *listening = take_listening(io, NULL);

		mr_mcp_wanted_end(listening->id, &text);
		(void)!mr_mcp_stdio_write(io, mr_buf_bytes(&text), &gone);
		mr_buf_clear(&text);
		end_listening(io, listening);
	}
}
