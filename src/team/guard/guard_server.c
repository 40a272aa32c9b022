/* team/guard/guard_server.c - reads leases for the guard from a server, when this machine has no
 * data of the project. */
#include "team/guard/guard_private.h"

#include "net/http_client.h"
#include "team/limits.h"
#include "text/json.h"
#include "text/token.h"

#include <ctype.h>
#include <string.h>

enum { QUICK_MS = 1000, PATIENT_MS = 5000, ANSWER_BYTES = 16 << 20, REQUEST_BYTES = 8192 };

#define PROTOCOL       "2026-07-28"
#define VERSION_HEADER ("MCP-Protocol-Version: " PROTOCOL)

/* Request the resource with a project's leases. */
static void put_request(struct mr_buf *out, const char *uri)
{
	struct mr_json_writer json;

	mr_json_init(&json, out, MR_JSON_COMPACT);
	mr_json_begin_map(&json);
	mr_json_key(&json, "jsonrpc");
	mr_json_text(&json, "2.0");
	mr_json_key(&json, "id");
	mr_json_int(&json, 1);
	mr_json_key(&json, "method");
	mr_json_text(&json, "resources/read");
	mr_json_key(&json, "params");
	mr_json_begin_map(&json);
	mr_json_key(&json, "uri");
	mr_json_text(&json, uri);
	/* There is no session, so the request itself names its client. */
	mr_json_key(&json, "_meta");
	mr_json_begin_map(&json);
	mr_json_key(&json, "io.modelcontextprotocol/protocolVersion");
	mr_json_text(&json, PROTOCOL);
	mr_json_key(&json, "io.modelcontextprotocol/clientInfo");
	mr_json_begin_map(&json);
	mr_json_key(&json, "name");
	mr_json_text(&json, "mailroom-guard");
	mr_json_key(&json, "version");
	mr_json_text(&json, "1");
	mr_json_end(&json);
	mr_json_key(&json, "io.modelcontextprotocol/clientCapabilities");
	mr_json_begin_map(&json);
	mr_json_end(&json);
	mr_json_end(&json);
	mr_json_end(&json);
	mr_json_end(&json);
}

/* The JSON of the answer: the body, or the last event's data of a stream. */
static struct mr_bytes data_of(const struct mr_http_client_response *response)
{
	struct mr_bytes body = response->body, found = { (const uint8_t *)"", 0 };

	if (!response->content_type || !mr_str_starts(response->content_type, "text/event-stream"))
		return body;
	while (body.len > 0) {
		const uint8_t *end = memchr(body.data, '\n', body.len);
		size_t len = end ? (size_t)(end - body.data) : body.len;
		size_t head = strlen("data:");

		if (len > head && memcmp(body.data, "data:", head) == 0 &&
			memchr(body.data, '{', len))
			found = mr_bytes_of(body.data + head,
				len - head - (body.data[len - 1] == '\r'));
		len += end ? 1 : 0;
		body = mr_bytes_of(body.data + len, body.len - len);
	}
	return found;
}

static enum mr_code fail(struct mr_ctx *cx, const char *why)
{
	return mr_err_set(&cx->err, MR_EREMOTE, "the server was asked for leases: %s", why);
}

/* Report the status, and the reason in the body if it has one. */
static enum mr_code fail_status(struct mr_ctx *cx, const struct mr_http_client_response *response)
{
	const struct mr_value *answer = NULL, *text = NULL;
	struct mr_err ignored = { 0 };

	if (!mr_json_parse(cx->arena, response->body, NULL, &answer, &ignored))
		text = mr_value_get(mr_value_get(answer, "error"), "message");
	return fail(cx,
		mr_arena_printf(cx->arena, "it said %d%s%.200s", response->status,
			response->status == 401 ? "; is AGENT_MAIL_TOKEN right?" : "",
			text && text->kind == MR_TEXT
				? mr_arena_printf(cx->arena, ": %s", text->text)
				: ""));
}

/* result.contents[0].text is a list of leases. */
static enum mr_code take_answer(struct mr_ctx *cx, struct mr_team_guard_look *look,
	struct mr_bytes body)
{
	const struct mr_value *answer = NULL, *contents, *text, *list = NULL;
	struct mr_err why = { 0 };

	if (mr_json_parse(cx->arena, body, NULL, &answer, &why))
		return fail(cx, why.msg);
	text = mr_value_get(mr_value_get(answer, "error"), "message");
	if (text && text->kind == MR_TEXT)
		return fail(cx, text->text);
	contents = mr_value_get(mr_value_get(answer, "result"), "contents");
	text = contents && contents->kind == MR_LIST && contents->list.len
		? mr_value_get(&contents->list.items[0], "text")
		: NULL;
	if (!text || text->kind != MR_TEXT)
		return fail(cx, "its answer holds no text");
	if (mr_json_parse(cx->arena, mr_bytes_text(text->text), NULL, &list, &why))
		return fail(cx, why.msg);
	if (list->kind != MR_LIST)
		return fail(cx, "its answer is no list");
	for (size_t i = 0; i < list->list.len; i++) {
		struct mr_team_reservation lease;

		if (mr_team_guard_read_lease(cx->arena, &list->list.items[i], &lease, &why))
			mr_team_guard_warn(cx, look, "a lease of the server is passed over: %s",
				why.msg);
		else
			mr_team_guard_keep(cx, look, &lease);
	}
	return MR_OK;
}

enum mr_code mr_team_guard_server_take(struct mr_ctx *cx, struct mr_team_guard_look *look,
	const struct mr_http_client_response *response)
{
	if (response->status != 200)
		return fail_status(cx, response);
	return take_answer(cx, look, data_of(response));
}

static const char *quoted(struct mr_arena *arena, const char *text)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, REQUEST_BYTES);
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (isalnum(c) || strchr("-._~", c))
			mr_buf_putc(&out, *at);
		else
			mr_buf_printf(&out, "%%%02X", c);
	}
	return mr_arena_strdup(arena, mr_buf_text(&out));
}

static enum mr_code ask_server(struct mr_ctx *cx, struct mr_team_guard_look *look, const char *uri)
{
	const struct mr_team_guard_question *question = look->question;
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	const char *headers[] = { "Content-Type: application/json",
		"Accept: application/json, text/event-stream", VERSION_HEADER,
		"Mcp-Method: resources/read", mr_arena_printf(cx->arena, "Mcp-Name: %s", uri), NULL,
		NULL };
	struct mr_http_client_response response;
	enum mr_code rc;

	mr_buf_init(&body, REQUEST_BYTES);
	put_request(&body, uri);
	if (!mr_str_is_empty(question->token))
		headers[5] =
			mr_arena_printf(cx->arena, "Authorization: Bearer %s", question->token);
	rc = mr_buf_check(&body, "the request", &cx->err);
	if (!rc)
		rc = mr_http_client_send(cx->arena,
			&(struct mr_http_client_request){
				.method = "POST",
				.url = question->url,
				.headers = headers,
				.body = mr_buf_bytes(&body),
				.socket = question->socket,
				.only_socket = question->only_socket,
				.timeout_ms = question->quick ? QUICK_MS : PATIENT_MS,
				.max_bytes = ANSWER_BYTES,
			},
			&response, &cx->err);
	if (rc)
		return mr_err_wrap(&cx->err, "the server was asked for leases");
	return mr_team_guard_server_take(cx, look, &response);
}

enum mr_code mr_team_guard_server(struct mr_ctx *cx, struct mr_team_guard_look *look)
{
	const struct mr_team_guard_question *question = look->question;
	const char *key = question->project_key ? question->project_key
		: question->place->main         ? question->place->main
						: question->place->top;
	const char *slug = mr_token_slug(cx->arena, key, MR_TEAM_KEY_BYTES, "project");
	enum mr_code rc;

	if (mr_str_is_empty(question->url))
		return MR_OK;
	look->project =
		(struct mr_team_project){ .slug = slug, .human_key = key, .identity_mode = "dir" };
	mr_team_guard_rebase(cx, look);
	rc = ask_server(cx, look,
		mr_arena_printf(cx->arena, "resource://file_reservations/%s?active_only=true",
			quoted(cx->arena, slug)));
	look->found = !rc;
	look->source = "server";
	return rc;
}
