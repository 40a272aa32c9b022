/*
 * surface/mcp/stdio.c - MCP over standard input and output: reads one message per line and hands
 * requests to the answering threads.
 */
#include "surface/mcp/stdio.h"

#include "base/log.h"
#include "base/oom.h"
#include "surface/mcp/claim.h"
#include "surface/mcp/stdio_private.h"
#include "text/json.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { READ_BYTES = 64 << 10, BATCH = 100 };

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

enum mr_code mr_mcp_stdio_write(struct mr_mcp_stdio *io, struct mr_bytes json, struct mr_err *err)
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

void mr_mcp_stdio_error(struct mr_mcp_stdio *io, const struct mr_value *id, int code,
	const char *message, const struct mr_value *data)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err gone;
	struct mr_out out;

	mr_buf_init(&text, MR_MCP_STDIO_ANSWER);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_rpc_error(&out, id, code, message, data);
	(void)!mr_mcp_stdio_write(io, mr_buf_bytes(&text), &gone);
}

/* ---- what arrives ---- */

static bool is_initialize(const struct mr_rpc *message)
{
	return message->kind == MR_RPC_REQUEST && mr_str_eq(message->method, "initialize");
}

/* The first generation introduces itself, once; what it says holds for what it sends later. */
static void introduce(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job)
{
	const struct mr_value *params = job->messages[0].params;
	struct mr_mcp_hello hello;

	if (io->is_introduced) {
		mr_mcp_stdio_error(io, job->messages[0].id, MR_RPC_INVALID,
			"this connection has been initialized already", NULL);
		return;
	}
	if (mr_value_get(params, "protocolVersion")) {
		mr_mcp_hello(params, &hello);
		pthread_mutex_lock(&io->lock);
		io->is_introduced = true;
		io->client.version = mr_arena_strdup(io->arena, hello.version);
		io->client.is_silent = false;
		io->client.can_sample = hello.can_sample;
		io->client.can_elicit = hello.can_elicit;
		io->client.has_roots = hello.has_roots;
		job->client = io->client;
		pthread_mutex_unlock(&io->lock);
		mr_log(MR_LOG_INFO, "mcp_client", "%.100s, protocol %s",
			hello.name ? hello.name : "a client", hello.version);
	}
	mr_mcp_stdio_job_answer(job);
}

static void take_notice(struct mr_mcp_stdio *io, const struct mr_rpc *message)
{
	const struct mr_value *id = mr_value_get(message->params, "requestId");

	if (message->kind != MR_RPC_NOTIFICATION || !id ||
		!mr_str_eq(message->method, "notifications/cancelled"))
		return;
	pthread_mutex_lock(&io->lock);
	mr_mcp_stdio_job_cancel(io, id);
	pthread_mutex_unlock(&io->lock);
	mr_mcp_stdio_unlisten(io, id);
}

/* Who sends it? False when the answer says why not. */
static bool find_client(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job)
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
			mr_mcp_stdio_error(io, NULL, MR_RPC_INVALID,
				"there are no batches in this protocol version", NULL);
			return false;
		}
		if (claim.rpc_code && id)
			mr_mcp_stdio_error(io, id, claim.rpc_code, claim.message, claim.data);
		if (claim.rpc_code)
			return false;
		job->client = claim.client;
		job->client.listener = &io->listener;
	}
	if (job->is_batch && !mr_str_eq(job->client.version, MR_MCP_ASSUMED)) {
		mr_mcp_stdio_error(io, NULL, MR_RPC_INVALID,
			"there are no batches in this protocol version", NULL);
		return false;
	}
	return true;
}

/* The messages of a line; false when the answer says what is wrong with them. */
static bool read_messages(struct mr_mcp_stdio_job *job, struct mr_bytes line)
{
	const struct mr_value *body, *items;
	struct mr_err err;

	if (mr_json_parse(job->arena, line, NULL, &body, &err)) {
		mr_mcp_stdio_error(job->io, NULL, MR_RPC_PARSE, err.msg, NULL);
		return false;
	}
	job->is_batch = body->kind == MR_LIST;
	items = job->is_batch ? body->list.items : body;
	job->len = job->is_batch ? body->list.len : 1;
	if (job->len == 0 || job->len > BATCH) {
		mr_mcp_stdio_error(job->io, NULL, MR_RPC_INVALID, "a batch has 1 to 100 messages",
			NULL);
		return false;
	}
	job->messages = mr_arena_array(job->arena, job->len, sizeof(*job->messages));
	for (size_t i = 0; i < job->len; i++) {
		const char *why = mr_rpc_read(&items[i], &job->messages[i]);

		if (why) {
			mr_mcp_stdio_error(job->io, job->messages[i].id, MR_RPC_INVALID, why, NULL);
			return false;
		}
	}
	return true;
}

static void take_line(struct mr_mcp_stdio *io, struct mr_bytes line)
{
	struct mr_mcp_stdio_job *job = mr_mcp_stdio_job_new(io);
	size_t requests = 0;
	bool is_given = false;

	if (read_messages(job, line) && find_client(io, job)) {
		for (size_t i = 0; i < job->len; i++) {
			requests += job->messages[i].kind == MR_RPC_REQUEST;
			take_notice(io, &job->messages[i]);
		}
		if (!job->is_batch && job->messages[0].kind == MR_RPC_RESPONSE)
			is_given = mr_mcp_stdio_answered(io, job);
		else if (!job->is_batch && is_initialize(&job->messages[0]))
			introduce(io, job);
		else if (requests)
			is_given = mr_mcp_stdio_job_submit(io, job);
	}
	if (!is_given)
		mr_mcp_stdio_job_free(job);
}

/* Lines out of what was read; the rest stays in `line` until more comes. */
static void take_bytes(struct mr_mcp_stdio *io, struct mr_buf *line, bool *is_skipping,
	const char *data, size_t len)
{
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end ? (size_t)(end - data) : len;

		if (!*is_skipping)
			mr_buf_add(line, data, part);
		if (line->failed && !*is_skipping) {
			*is_skipping = true;
			mr_buf_clear(line);
			mr_mcp_stdio_error(io, NULL, MR_RPC_INVALID,
				"a message has at most 4194304 bytes", NULL);
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
static bool wait_for_input(struct mr_mcp_stdio *io, int stop)
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

static enum mr_code read_all(struct mr_mcp_stdio *io, int stop, struct mr_err *err)
{
	struct mr_buf line MR_CLEANUP(mr_buf_release) = { 0 };
	bool is_skipping = false;
	char *data = malloc(READ_BYTES);
	enum mr_code rc = MR_OK;

	if (!data)
		mr_oom(READ_BYTES);
	mr_buf_init(&line, MR_MCP_STDIO_LINE);
	while (!atomic_load(&io->is_over) && wait_for_input(io, stop)) {
		ssize_t n = read(io->in, data, READ_BYTES);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			rc = mr_err_os(err, errno, "cannot read standard input");
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

static void begin(struct mr_mcp_stdio *io, struct mr_mcp *mcp, int in, int out)
{
	pthread_condattr_t attributes;

	*io = (struct mr_mcp_stdio){
		.mcp = mcp,
		.in = in,
		.out = out,
		.listener = mr_mcp_stdio_listener(),
		.arena = mr_arena_new(),
		.last = &io->waiting,
		.client = { .era = MR_MCP_SESSIONS,
			.version = MR_MCP_ASSUMED,
			.is_silent = true,
			.listener = &io->listener },
	};
	pthread_mutex_init(&io->writing, NULL);
	pthread_mutex_init(&io->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&io->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void end(struct mr_mcp_stdio *io)
{
	atomic_store(&io->is_over, true);
	mr_mcp_hub_unsubscribe(mr_mcp_hub(io->mcp), NULL, &io->listener);
	mr_mcp_stdio_job_join(io);
	/* A subscription made while we ended. */
	mr_mcp_hub_unsubscribe(mr_mcp_hub(io->mcp), NULL, &io->listener);
	mr_mcp_stdio_listen_end(io);
	while (io->waiting) {
		struct mr_mcp_stdio_job *job = io->waiting;

		io->waiting = job->next;
		mr_mcp_stdio_job_free(job);
	}
	pthread_cond_destroy(&io->changed);
	pthread_mutex_destroy(&io->lock);
	pthread_mutex_destroy(&io->writing);
	mr_arena_free(io->arena);
}

enum mr_code mr_mcp_stdio_serve(struct mr_mcp *mcp, int in, int out, int stop, struct mr_err *err)
{
	struct mr_mcp_stdio io;
	enum mr_code rc;

	begin(&io, mcp, in, out);
	rc = read_all(&io, stop, err);
	end(&io);
	return rc;
}
