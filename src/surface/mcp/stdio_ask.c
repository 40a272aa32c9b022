/* surface/mcp/stdio_ask.c - requests of the server to the client, while it answers one. */
#include "surface/mcp/stdio_private.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum {
	ASK_MS = 300 * 1000,
	LOOK_MS = 1000, /* a waiting thread checks so often whether the client is still there */
};

/* A question that the client has not answered yet. */
struct mr_mcp_stdio_question {
	struct mr_mcp_stdio_question *next;
	char id[32];
	struct mr_arena *arena; /* of the answer, once it is there */
	struct mr_rpc answer;
};

static void put_question(struct mr_mcp_stdio *io, struct mr_mcp_stdio_question *question)
{
	pthread_mutex_lock(&io->lock);
	snprintf(question->id, sizeof(question->id), "mailroom-%u", ++io->asked);
	question->next = io->questions;
	io->questions = question;
	pthread_cond_broadcast(&io->changed); /* the reading thread must go on reading: the
						 answer comes there */
	pthread_mutex_unlock(&io->lock);
}

static void take_question(struct mr_mcp_stdio *io, const struct mr_mcp_stdio_question *question)
{
	struct mr_mcp_stdio_question **at = &io->questions;

	while (*at != question)
		at = &(*at)->next;
	*at = question->next;
}

static void free_arena(void *arena)
{
	mr_arena_free(arena);
}

bool mr_mcp_stdio_answered(struct mr_mcp_stdio *io, struct mr_mcp_stdio_job *job)
{
	const struct mr_value *id = job->messages[0].id;
	struct mr_mcp_stdio_question *found = NULL;

	pthread_mutex_lock(&io->lock);
	for (struct mr_mcp_stdio_question *q = io->questions; q && !found; q = q->next) {
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

static enum mr_code wait_for_answer(struct mr_mcp_stdio_job *job,
	struct mr_mcp_stdio_question *question, struct mr_err *err)
{
	struct mr_mcp_stdio *io = job->io;
	enum mr_code rc = MR_OK;
	int left_ms = ASK_MS;

	pthread_mutex_lock(&io->lock);
	while (!question->arena && left_ms > 0 && !mr_mcp_stdio_job_is_over(job)) {
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
		rc = mr_err_set(err, MR_ENOTFOUND, "the client no longer waits for the answer");
	return rc;
}

enum mr_code mr_mcp_stdio_ask(struct mr_mcp_channel *channel, struct mr_arena *arena,
	const char *method, const struct mr_value *params, const struct mr_value **out,
	struct mr_err *err)
{
	struct mr_mcp_stdio_job *job = mr_mcp_stdio_job_of(channel);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mcp_stdio_question question = { 0 };
	const struct mr_value *said;
	struct mr_out json;
	enum mr_code rc;

	mr_buf_init(&text, MR_MCP_STDIO_ANSWER);
	put_question(job->io, &question);
	mr_out_init_json(&json, &text, MR_JSON_COMPACT);
	mr_rpc_begin_call(&json, question.id, method);
	if (params)
		mr_out_value(&json, "params", params);
	mr_out_end(&json);
	(void)!mr_mcp_stdio_write(job->io, mr_buf_bytes(&text), err);
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
