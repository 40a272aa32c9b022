/*
 * surface/mcp/ask.c - Asks the client for input during a request (sampling, elicitation, roots),
 * and seals the state that travels with the client meanwhile.
 */
#include "surface/mcp/ask.h"

#include "app/principal.h"
#include "text/digest.h"
#include "text/time.h"
#include "text/token.h"

#include <string.h>

enum { QUESTIONS = 16, STATE_BYTES = 64 << 10 };

struct mr_mcp_asked {
	const char *method;
	const struct mr_value *responses; /* or NULL */
	const struct mr_value *state;     /* that came back, or NULL */
	const struct mr_value *kept;      /* for the next time, or NULL */
	struct {
		const char *key, *method;
		const struct mr_value *params;
	} questions[QUESTIONS];
	size_t len;
	bool is_due;
};

static const char *capability_of(const char *method)
{
	return mr_str_eq(method, "sampling/createMessage") ? "sampling"
		: mr_str_eq(method, "elicitation/create")  ? "elicitation"
							   : "roots";
}

bool mr_mcp_can_ask(const struct mr_mcp_exchange *ex, const char *method)
{
	const struct mr_mcp_client *client = ex->client;
	const char *capability = capability_of(method);

	return capability[0] == 's'    ? client->can_sample
		: capability[0] == 'e' ? client->can_elicit
				       : client->has_roots;
}

static enum mr_code refuse_incapable(struct mr_mcp_exchange *ex, const char *method)
{
	const char *capability = capability_of(method);
	struct mr_out data;

	mr_out_init_tree(&data, ex->call.cx.arena);
	mr_out_map(&data, NULL);
	mr_out_map(&data, "requiredCapabilities");
	mr_out_map(&data, capability);
	mr_out_end(&data);
	mr_out_end(&data);
	mr_out_end(&data);
	ex->rpc_data = mr_out_tree(&data);
	return mr_mcp_refuse(ex,
		ex->client->era == MR_MCP_STATELESS ? MR_RPC_CAPABILITY : MR_RPC_PARAMS,
		"this needs a client with the capability %s", capability);
}

enum mr_code mr_mcp_ask(struct mr_mcp_exchange *ex, const char *key, const char *method,
	const struct mr_value *params, const struct mr_value **out)
{
	struct mr_mcp_asked *asked = ex->asked;
	const struct mr_value *said;

	if (!mr_mcp_can_ask(ex, method))
		return refuse_incapable(ex, method);
	if (ex->client->era == MR_MCP_SESSIONS) {
		if (!ex->channel)
			return mr_mcp_refuse(ex, MR_RPC_INTERNAL, "the client cannot be asked now");
		return ex->channel->ask(ex->channel, ex->call.cx.arena, method, params, out,
			&ex->call.cx.err);
	}
	*out = NULL;
	said = mr_value_get(asked->responses, key);
	if (said && said->kind == MR_MAP) {
		*out = said;
		return MR_OK;
	}
	if (asked->len == QUESTIONS)
		return mr_mcp_refuse(ex, MR_RPC_INTERNAL, "more than %d questions", QUESTIONS);
	asked->questions[asked->len].key = key;
	asked->questions[asked->len].method = method;
	asked->questions[asked->len++].params = params;
	return MR_OK;
}

enum mr_code mr_mcp_ask_later(struct mr_mcp_exchange *ex)
{
	ex->asked->is_due = true;
	return mr_err_set(&ex->call.cx.err, MR_EBUSY, "input is required");
}

const struct mr_value *mr_mcp_ask_state(const struct mr_mcp_exchange *ex)
{
	return ex->asked->state;
}

void mr_mcp_ask_keep(struct mr_mcp_exchange *ex, const struct mr_value *state)
{
	ex->asked->kept = state;
}

/* ---- the seal ---- */

/* What a sealed state is bound to: this principal and this request. */
static const char *purpose_of(const struct mr_mcp_exchange *ex)
{
	const struct mr_principal *principal = ex->call.principal;
	const char *name = mr_mcp_param_text(ex, "name");
	const char *uri = mr_mcp_param_text(ex, "uri");

	return mr_arena_printf(ex->call.cx.arena, "%s\n%s\n%s", ex->asked->method,
		name          ? name
			: uri ? uri
			      : "",
		principal ? principal->name : "");
}

static const char *seal_of(const struct mr_mcp_exchange *ex, const char *payload)
{
	const char *text = mr_arena_printf(ex->call.cx.arena, "%s\n%s", purpose_of(ex), payload);
	uint8_t mac[MR_DIGEST_BYTES];
	size_t len =
		mr_digest_hmac(MR_DIGEST_SHA256, mr_mcp_secret(ex->mcp), mr_bytes_text(text), mac);

	return mr_token_base64url(ex->call.cx.arena, mr_bytes_of(mac, len));
}

/* "payload.seal", the payload being {"until":seconds,"state":...} in base64url. */
static const char *seal(struct mr_mcp_exchange *ex, const struct mr_value *state)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	const char *payload;

	mr_buf_init(&text, STATE_BYTES);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "until", mr_clock_wall_us(ex->call.cx.clock) / MR_TIME_S + MR_MCP_STATE_S);
	mr_out_value(&out, "state", state);
	mr_out_end(&out);
	payload = mr_token_base64url(ex->call.cx.arena, mr_buf_bytes(&text));
	return mr_arena_printf(ex->call.cx.arena, "%s.%s", payload, seal_of(ex, payload));
}

static const struct mr_value *unseal(struct mr_mcp_exchange *ex, const char *sealed)
{
	const char *dot = strchr(sealed, '.');
	const struct mr_value *payload, *until;
	struct mr_arena *arena = ex->call.cx.arena;
	struct mr_bytes json;
	struct mr_err ignored;
	const char *text;

	if (!dot || strlen(sealed) > 2 * STATE_BYTES)
		return NULL;
	text = mr_arena_strndup(arena, sealed, (size_t)(dot - sealed));
	if (!mr_str_eq_secret(seal_of(ex, text), dot + 1) ||
		mr_token_base64url_decode(arena, text, &json, &ignored) ||
		mr_json_parse(arena, json, NULL, &payload, &ignored))
		return NULL;
	until = mr_value_get(payload, "until");
	if (!until || until->kind != MR_INT ||
		mr_clock_wall_us(ex->call.cx.clock) / MR_TIME_S > until->integer)
		return NULL;
	return mr_value_get(payload, "state");
}

/* ---- around a handler ---- */

enum mr_code mr_mcp_ask_begin(struct mr_mcp_exchange *ex, const char *method)
{
	const struct mr_value *responses = mr_value_get(ex->params, "inputResponses");
	const struct mr_value *state = mr_value_get(ex->params, "requestState");
	struct mr_mcp_asked *asked = mr_arena_alloc(ex->call.cx.arena, sizeof(*asked));

	ex->asked = asked;
	asked->method = method;
	if (ex->client->era == MR_MCP_SESSIONS)
		return MR_OK;
	if (responses && responses->kind != MR_MAP)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "inputResponses must be an object");
	asked->responses = responses;
	if (!state)
		return MR_OK;
	asked->state = state->kind == MR_TEXT ? unseal(ex, state->text) : NULL;
	if (!asked->state)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS,
			"this requestState was not given out for this request, or is too old");
	return MR_OK;
}

bool mr_mcp_ask_is_due(const struct mr_mcp_exchange *ex)
{
	return ex->asked && ex->asked->is_due && ex->client->era == MR_MCP_STATELESS;
}

void mr_mcp_ask_emit(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const struct mr_mcp_asked *asked = ex->asked;

	mr_out_text(out, "resultType", "input_required");
	mr_out_map(out, "inputRequests");
	for (size_t i = 0; i < asked->len; i++) {
		mr_out_map(out, asked->questions[i].key);
		mr_out_text(out, "method", asked->questions[i].method);
		if (asked->questions[i].params) {
			mr_out_value(out, "params", asked->questions[i].params);
		} else {
			mr_out_map(out, "params");
			mr_out_end(out);
		}
		mr_out_end(out);
	}
	mr_out_end(out);
	if (asked->kept)
		mr_out_text(out, "requestState", seal(ex, asked->kept));
}
