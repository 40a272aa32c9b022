/*
 * team/llm.h - sends requests to a language model, where one is configured.
 *
 * An OpenAI-compatible chat completion at the configured endpoint (llm.endpoint: the API's base, or
 * the whole URL). The messages are untrusted text and stand between two lines that cannot be
 * guessed; the answer is untrusted, too, and only read as JSON.
 */
#pragma once

#include "team/store/root.h"
#include "text/value.h"

enum {
	MR_TEAM_LLM_TIMEOUT_MS = 20000,
	MR_TEAM_LLM_REPLY_BYTES = 1 << 20,
};

/* Is a model configured? */
bool mr_team_llm_is_set(const struct mr_team_config *config);
/*
 * `task` says what to do and which JSON object to answer with, `data` is what to do it with.
 * `model` NULL is the configured one. `*out` is that object. MR_EREMOTE, MR_ETIMEOUT, MR_ELIMIT,
 * MR_EFORMAT. Blocks for up to MR_TEAM_LLM_TIMEOUT_MS: hold no reader meanwhile.
 */
MR_CHECK enum mr_code mr_team_llm_ask(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *model, const char *task, const char *data, const struct mr_value **out);

struct mr_http_client_response;
/* Extract the object from the answer of the model's server; fails as mr_team_llm_ask() does.
 * Sends nothing. */
MR_CHECK enum mr_code mr_team_llm_read(struct mr_ctx *cx,
	const struct mr_http_client_response *response, const struct mr_value **out);
/* The JSON object in a model's answer: all of it, or in a fenced block, or from the first brace to
 * the last. NULL when there is none. Pure. */
const struct mr_value *mr_team_llm_object(struct mr_arena *arena, const char *answer);
