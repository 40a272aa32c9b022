/* surface/mcp/session_ask.c - questions to a session's client, and the answers to them. */
#include "surface/mcp/session_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static enum mr_code write_question(struct mr_buf *buf, uint64_t number, const char *method,
	const struct mr_value *params, struct mr_err *err)
{
	struct mr_out out;
	char id[24];

	snprintf(id, sizeof(id), "q%llu", (unsigned long long)number);
	mr_out_init_json(&out, buf, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, id, method);
	if (params)
		mr_out_value(&out, "params", params);
	mr_out_end(&out);
	return mr_buf_check(buf, "the question", err);
}

/* Under the session's lock: wait until it is answered, the request is over, or the time is up. */
static enum mr_code wait_for_answer(struct mr_mcp_question *question, unsigned timeout_ms,
	struct mr_err *err)
{
	struct mr_mcp_session *session = question->outlet->session;
	int64_t until_ms = mr_clock_mono_ms(mr_clock_system()) + timeout_ms;
	struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
	int rc = 0;

	while (!question->is_answered && !mr_mcp_outlet_is_idle(question->outlet) &&
		rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&session->changed, &session->lock, &until);
	if (question->is_answered)
		return MR_OK;
	if (mr_mcp_outlet_is_idle(question->outlet))
		return mr_err_set(err, MR_ENOTFOUND, "the client no longer waits for the answer");
	return mr_err_set(err, MR_ETIMEOUT, "the client has not answered for %u s",
		timeout_ms / 1000);
}

static enum mr_code put_question(struct mr_mcp_outlet *outlet, struct mr_mcp_question *question,
	const char *method, const struct mr_value *params, unsigned timeout_ms, struct mr_err *err)
{
	struct mr_mcp_session *session = outlet->session;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mcp_question **at;
	enum mr_code rc;

	mr_buf_init(&text, MR_MCP_MESSAGE_BYTES);
	pthread_mutex_lock(&session->lock);
	question->number = ++session->last_question;
	rc = write_question(&text, question->number, method, params, err);
	if (!rc && mr_mcp_outlet_is_idle(outlet))
		rc = mr_err_set(err, MR_ENOTFOUND, "the client no longer waits for the answer");
	if (!rc) {
		question->next = session->questions;
		session->questions = question;
		mr_mcp_outlet_put(outlet, mr_buf_bytes(&text));
		rc = wait_for_answer(question, timeout_ms, err);
		for (at = &session->questions; *at != question; at = &(*at)->next)
			continue;
		*at = question->next;
	}
	pthread_mutex_unlock(&session->lock);
	return rc;
}

enum mr_code mr_mcp_outlet_ask(struct mr_mcp_outlet *outlet, struct mr_arena *arena,
	const char *method, const struct mr_value *params, unsigned timeout_ms,
	const struct mr_value **out, struct mr_err *err)
{
	struct mr_mcp_question question = { .outlet = outlet };
	const struct mr_value *said, *message;
	enum mr_code rc;

	mr_buf_init(&question.answer, MR_MCP_MESSAGE_BYTES);
	rc = put_question(outlet, &question, method, params, timeout_ms, err);
	if (!rc)
		rc = mr_json_parse(arena, mr_buf_bytes(&question.answer), NULL, &said, err);
	mr_buf_release(&question.answer);
	if (rc)
		return rc;
	if (!question.is_error) {
		*out = said;
		return MR_OK;
	}
	message = mr_value_get(said, "message");
	return mr_err_set(err, MR_EREMOTE, "the client refused %s: %.200s", method,
		message && message->kind == MR_TEXT ? message->text : "");
}

bool mr_mcp_session_answered(struct mr_mcp_session *session, const struct mr_rpc *response)
{
	const char *id = response->id && response->id->kind == MR_TEXT ? response->id->text : "";
	struct mr_mcp_question *at;
	int64_t number;
	bool found;

	if (id[0] != 'q' || !mr_str_to_int(id + 1, &number))
		return true;
	pthread_mutex_lock(&session->lock);
	at = session->questions;
	while (at && at->number != (uint64_t)number)
		at = at->next;
	found = at;
	if (at && !at->is_answered) {
		struct mr_json_writer w;

		mr_json_init(&w, &at->answer, MR_JSON_COMPACT);
		mr_json_value(&w, response->error ? response->error : response->result);
		at->is_error = response->error;
		at->is_answered = true;
		pthread_cond_broadcast(&session->changed);
	}
	pthread_mutex_unlock(&session->lock);
	return found;
}

bool mr_mcp_session_cancel(struct mr_mcp_session *session, const struct mr_value *request_id)
{
	char *id = mr_mcp_session_json(request_id);
	bool found = false;

	pthread_mutex_lock(&session->lock);
	for (struct mr_mcp_outlet *at = session->outlets; at; at = at->next) {
		if (strcmp(at->request_id, id) == 0 && !at->is_guest)
			found = at->is_cancelled = true;
	}
	pthread_cond_broadcast(&session->changed);
	pthread_mutex_unlock(&session->lock);
	free(id);
	return found;
}
