/* mailbox/mail_gateway.c - the verbs of an agent's mail, carried out by its gateway. */
#include "mailbox/mail_gateway.h"

#include "base/buf.h"
#include "net/http_client.h"
#include "text/json.h"
#include "text/out.h"
#include "text/token.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 60000, ANSWER_BYTES = 64 << 20, BODY_BYTES = 64 << 20, KEY_DIGITS = 32 };

/* --- asking --- */

static bool flag_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

static size_t count_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT && value->integer > 0 ? (size_t)value->integer : 0;
}

/* The elements of a list; none when it is no list. */
static size_t items_at(const struct mr_value *map, const char *key, const struct mr_value **out)
{
	const struct mr_value *value = mr_value_get(map, key);

	if (!value || value->kind != MR_LIST)
		return 0;
	*out = value->list.items;
	return value->list.len;
}

/* What the gateway said went wrong: a text, or a list of problems of which the first is told. */
static enum mr_code refused(struct mr_ctx *cx, int status, const struct mr_value *answer)
{
	const struct mr_value *problems = NULL;
	const char *why = mr_value_text(answer, "detail");
	enum mr_code code = status == 502 || status == 422 ? MR_ECONFLICT
		: status == 401 || status == 403           ? MR_EPERM
							   : MR_EREMOTE;

	if (!why && items_at(answer, "detail", &problems)) {
		why = mr_value_text(&problems[0], "msg");
		code = MR_EINVAL;
	}
	return mr_err_set(&cx->err, code, "the gateway refuses (status %d): %.400s", status,
		why ? why : "it does not say why");
}

/* `body` NULL is a GET. */
static enum mr_code ask(struct mr_ctx *cx, const struct mr_mail_gateway_place *place,
	const char *verb, const struct mr_value *body, const char *key, const struct mr_value **out)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *headers[4] = { "Content-Type: application/json" };
	size_t count = 1;
	struct mr_http_client_request request = {
		.url = mr_arena_printf(cx->arena, "%s/%s", place->base, verb),
		.headers = headers,
		.timeout_ms = TIMEOUT_MS,
		.max_bytes = ANSWER_BYTES,
		.is_direct = true,
		.socket = place->socket,
	};
	struct mr_http_client_response response;
	struct mr_json_limits limits = mr_json_default_limits;
	struct mr_json_writer json;
	enum mr_code rc = MR_OK;

	if (key)
		headers[count++] = mr_arena_printf(cx->arena, "Idempotency-Key: %s", key);
	if (!mr_str_is_empty(place->token))
		headers[count++] =
			mr_arena_printf(cx->arena, "Authorization: Bearer %s", place->token);
	mr_buf_init(&text, BODY_BYTES);
	if (body) {
		mr_json_init(&json, &text, MR_JSON_COMPACT);
		mr_json_value(&json, body);
		rc = mr_buf_check(&text, "the request", &cx->err);
		request.method = "POST";
		request.body = mr_buf_bytes(&text);
	}
	if (!rc)
		rc = mr_http_client_send(cx->arena, &request, &response, &cx->err);
	/* One that sends is recognised by its key when it comes again. */
	if ((rc == MR_EREMOTE || rc == MR_ETIMEOUT) && key)
		rc = mr_http_client_send(cx->arena, &request, &response, &cx->err);
	if (rc)
		return mr_err_wrap(&cx->err, "the gateway does not answer");
	limits.max_bytes = ANSWER_BYTES;
	limits.max_nodes *= 100;
	rc = mr_json_parse(cx->arena, response.body, &limits, out, &cx->err);
	if (rc)
		return mr_err_set(&cx->err, MR_EREMOTE,
			"the gateway does not answer as one (status %d)", response.status);
	return response.status == 200 ? MR_OK : refused(cx, response.status, *out);
}

static const struct mr_mail_gateway_place *place_of(const struct mr_mail *mail)
{
	return mail->state;
}

/* --- messages --- */

static struct mr_mailbox_principal read_principal(const struct mr_value *value)
{
	return (struct mr_mailbox_principal){
		.address = mr_value_text(value, "address"),
		.display_name = mr_value_text(value, "display_name"),
		.principal_id = mr_value_text(value, "principal_id"),
	};
}

static struct mr_mailbox_principals read_principals(struct mr_arena *arena,
	const struct mr_value *map, const char *key)
{
	const struct mr_value *items = NULL;
	struct mr_mailbox_principals out = { NULL, items_at(map, key, &items) };

	out.items = mr_arena_array(arena, out.len + 1, sizeof(*out.items));
	for (size_t i = 0; i < out.len; i++)
		out.items[i] = read_principal(&items[i]);
	return out;
}

static enum mr_mailbox_attachment_kind read_kind(const char *word)
{
	return mr_str_eq(word, "managed_copy")       ? MR_MAILBOX_MANAGED_COPY
		: mr_str_eq(word, "transport_owned") ? MR_MAILBOX_TRANSPORT_OWNED
						     : MR_MAILBOX_PATH_REF;
}

static struct mr_mailbox_attachments read_files(struct mr_arena *arena, const struct mr_value *map)
{
	const struct mr_value *items = NULL;
	struct mr_mailbox_attachments out = { NULL, items_at(map, "attachments", &items) };

	out.items = mr_arena_array(arena, out.len + 1, sizeof(*out.items));
	for (size_t i = 0; i < out.len; i++) {
		const struct mr_value *size = mr_value_get(&items[i], "size_bytes");

		out.items[i] = (struct mr_mailbox_attachment){
			.attachment_id = mr_value_text(&items[i], "attachment_id"),
			.kind = read_kind(mr_value_text(&items[i], "kind")),
			.path = mr_value_text(&items[i], "locator"),
			.media_type = mr_value_text(&items[i], "media_type"),
			.sha256 = mr_value_text(&items[i], "sha256"),
			.size_bytes = size && size->kind == MR_INT ? size->integer : -1,
			.label = mr_value_text(&items[i], "label"),
		};
	}
	return out;
}

static void read_notice(struct mr_arena *arena, const struct mr_value *map,
	struct mr_mailbox_message *out)
{
	const struct mr_value *from = mr_value_get(map, "notify_block");

	if (from && from->kind == MR_MAP) {
		struct mr_mailbox_notify_block *block = mr_arena_alloc(arena, sizeof(*block));

		block->text = mr_value_text(from, "text");
		block->prepend = mr_str_eq(mr_value_text(from, "placement"), "prepend");
		out->notify_block = block;
	}
	from = mr_value_get(map, "notify_auth");
	if (from && from->kind == MR_MAP) {
		struct mr_mailbox_notify_auth *auth = mr_arena_alloc(arena, sizeof(*auth));

		auth->scheme = mr_value_text(from, "scheme");
		auth->token = mr_value_text(from, "token");
		auth->iss = mr_value_text(from, "iss");
		auth->iat = mr_value_text(from, "iat");
		auth->exp = mr_value_text(from, "exp");
		out->notify_auth = auth;
	}
}

static struct mr_mail_message read_message(struct mr_arena *arena, const struct mr_value *map)
{
	const char *body = mr_value_text(map, "body_text");
	struct mr_mail_message out = {
		.ref = mr_value_text(map, "message_ref"),
		.thread_ref = mr_value_text(map, "thread_ref"),
		.view = { flag_at(map, "read"), flag_at(map, "answered"), flag_at(map, "archived"),
			mr_value_text(map, "box") },
		.preview = mr_value_text(map, "body_preview"),
		.has_body = body != NULL,
		.problem = mr_value_text(map, "problem"),
	};

	out.content.message_id = out.ref;
	out.content.created_at_utc = mr_value_text(map, "created_at_utc");
	out.content.subject = mr_value_text(map, "subject");
	out.content.sender = read_principal(mr_value_get(map, "sender"));
	out.content.to = read_principals(arena, map, "to");
	out.content.cc = read_principals(arena, map, "cc");
	out.content.reply_to = read_principals(arena, map, "reply_to");
	out.content.attachments = read_files(arena, map);
	out.content.body = mr_bytes_text(body ? body : "");
	read_notice(arena, map, &out.content);
	return out;
}

/* Without the texts that every message has it is none. */
static enum mr_code check_message(struct mr_ctx *cx, const struct mr_mail_message *message)
{
	if (message->ref && message->view.box && message->content.subject &&
		message->content.created_at_utc && message->content.sender.address)
		return MR_OK;
	return mr_err_set(&cx->err, MR_EREMOTE, "the gateway's answer holds no whole message");
}

static enum mr_code read_messages(struct mr_ctx *cx, const struct mr_value *answer,
	struct mr_mail_messages *out)
{
	const struct mr_value *items = NULL;
	enum mr_code rc = MR_OK;

	out->len = items_at(answer, "messages", &items);
	out->items = mr_arena_array(cx->arena, out->len + 1, sizeof(*out->items));
	for (size_t i = 0; i < out->len && !rc; i++) {
		out->items[i] = read_message(cx->arena, &items[i]);
		rc = check_message(cx, &out->items[i]);
	}
	return rc;
}

static enum mr_code ask_for_one(struct mr_ctx *cx, const struct mr_mail *mail, const char *verb,
	const struct mr_value *body, bool sends, struct mr_mail_message *out)
{
	const struct mr_value *answer = NULL;
	const char *key = sends ? mr_token_hex(cx->arena, cx->rand, KEY_DIGITS / 2) : NULL;
	enum mr_code rc = ask(cx, place_of(mail), verb, body, key, &answer);

	if (rc)
		return rc;
	*out = read_message(cx->arena, mr_value_get(answer, "message"));
	return check_message(cx, out);
}

static enum mr_code ask_for_many(struct mr_ctx *cx, const struct mr_mail *mail, const char *verb,
	const struct mr_value *body, struct mr_mail_messages *out)
{
	const struct mr_value *answer = NULL;
	enum mr_code rc = ask(cx, place_of(mail), verb, body, NULL, &answer);

	return rc ? rc : read_messages(cx, answer, out);
}

/* --- the verbs --- */

static void begin(struct mr_out *out, struct mr_ctx *cx)
{
	mr_out_init_tree(out, cx->arena);
	mr_out_map(out, NULL);
}

static const struct mr_value *end(struct mr_out *out)
{
	mr_out_end(out);
	return mr_out_tree(out);
}

static void put_text(struct mr_out *out, const char *key, const char *text)
{
	if (text)
		mr_out_text(out, key, text);
}

/* -1 is not said. */
static void put_flag(struct mr_out *out, const char *key, int flag)
{
	if (flag >= 0)
		mr_out_bool(out, key, flag);
}

static void put_state(struct mr_out *out, const char *key, int flag, const char *yes,
	const char *no)
{
	if (flag >= 0)
		mr_out_text(out, key, flag ? yes : no);
}

static enum mr_code remote_status(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mail_status *out)
{
	const struct mr_value *answer = NULL;
	enum mr_code rc = ask(cx, place_of(mail), "status", NULL, NULL, &answer);

	if (!rc)
		*out = (struct mr_mail_status){ mr_value_text(answer, "transport"), mail->address,
			mail->principal_id };
	return rc;
}

static enum mr_code remote_list(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_query *query, struct mr_mail_list *out)
{
	const struct mr_value *answer = NULL;
	struct mr_out body;
	enum mr_code rc;

	begin(&body, cx);
	put_text(&body, "box", query->box);
	put_state(&body, "read_state", query->read, "read", "unread");
	put_state(&body, "answered_state", query->answered, "answered", "unanswered");
	put_flag(&body, "archived", query->archived);
	put_text(&body, "since", query->since);
	if (query->limit)
		mr_out_int(&body, "limit", query->limit);
	mr_out_bool(&body, "include_body", query->include_body);
	rc = ask(cx, place_of(mail), "list", end(&body), NULL, &answer);
	if (!rc)
		rc = read_messages(cx, answer, &out->messages);
	if (rc)
		return rc;
	out->box = mr_value_text(answer, "box");
	out->open_count = count_at(answer, "open_count");
	out->unread_count = count_at(answer, "unread_count");
	return MR_OK;
}

static enum mr_code remote_get(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const char *box, bool reads, struct mr_mail_message *out)
{
	struct mr_out body;

	begin(&body, cx);
	mr_out_text(&body, "message_ref", ref);
	put_text(&body, "box", box);
	return ask_for_one(cx, mail, reads ? "read" : "peek", end(&body), false, out);
}

static enum mr_code remote_mark(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, const struct mr_mail_flags *flags,
	struct mr_mail_messages *out)
{
	struct mr_out body;

	begin(&body, cx);
	mr_out_texts(&body, "message_refs", refs);
	put_flag(&body, "read", flags->read);
	put_flag(&body, "answered", flags->answered);
	put_flag(&body, "archived", flags->archived);
	return ask_for_many(cx, mail, "mark", end(&body), out);
}

static enum mr_code remote_move(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, const char *box, struct mr_mail_messages *out)
{
	bool is_archive = mr_str_eq(box, "archive");
	struct mr_out body;

	begin(&body, cx);
	mr_out_texts(&body, "message_refs", refs);
	if (!is_archive)
		mr_out_text(&body, "destination_box", box);
	return ask_for_many(cx, mail, is_archive ? "archive" : "move", end(&body), out);
}

static void put_auth(struct mr_out *out, const struct mr_mailbox_notify_auth *auth)
{
	mr_out_map(out, "notify_auth");
	put_text(out, "scheme", auth->scheme);
	put_text(out, "token", auth->token);
	put_text(out, "iss", auth->iss);
	put_text(out, "iat", auth->iat);
	put_text(out, "exp", auth->exp);
	mr_out_end(out);
}

/* Paths are absolute: the gateway has another working directory. */
static enum mr_code put_draft(struct mr_ctx *cx, struct mr_out *out,
	const struct mr_mail_draft *draft)
{
	char real[PATH_MAX];

	put_text(out, "subject", draft->subject);
	mr_out_text(out, "body_content",
		mr_arena_strndup(cx->arena, draft->body.len ? (const char *)draft->body.data : "",
			draft->body.len));
	mr_out_list(out, "attachments");
	for (size_t i = 0; i < draft->file_count; i++) {
		if (draft->files[i].is_copied)
			return mr_err_set(&cx->err, MR_ECONFLICT,
				"a gateway keeps no copies of files: attach them by their path");
		mr_out_map(out, NULL);
		mr_out_text(out, "path",
			realpath(draft->files[i].path, real) ? real : draft->files[i].path);
		put_text(out, "label", draft->files[i].label);
		mr_out_end(out);
	}
	mr_out_end(out);
	if (draft->notify_block) {
		mr_out_map(out, "notify_block");
		mr_out_text(out, "text", draft->notify_block->text);
		mr_out_text(out, "placement", draft->notify_block->prepend ? "prepend" : "append");
		mr_out_end(out);
	}
	if (draft->notify_auth)
		put_auth(out, draft->notify_auth);
	return MR_OK;
}

static enum mr_code remote_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, struct mr_mail_message *out)
{
	struct mr_out body;
	enum mr_code rc;

	begin(&body, cx);
	mr_out_texts(&body, "to", &draft->to);
	mr_out_texts(&body, "cc", &draft->cc);
	rc = put_draft(cx, &body, draft);
	return rc ? rc : ask_for_one(cx, mail, "send", end(&body), true, out);
}

static enum mr_code remote_post(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, bool answers, struct mr_mail_message *out)
{
	struct mr_out body;
	enum mr_code rc;

	begin(&body, cx);
	mr_out_text(&body, "reply_policy", answers ? "operator_mailbox" : "none");
	rc = put_draft(cx, &body, draft);
	return rc ? rc : ask_for_one(cx, mail, "post", end(&body), true, out);
}

static enum mr_code remote_reply(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const struct mr_mail_draft *draft, struct mr_mail_message *out)
{
	struct mr_out body;
	enum mr_code rc;

	begin(&body, cx);
	mr_out_text(&body, "message_ref", ref);
	rc = put_draft(cx, &body, draft);
	return rc ? rc : ask_for_one(cx, mail, "reply", end(&body), true, out);
}

static void remote_close(struct mr_mail *mail)
{
	(void)mail;
}

static const struct mr_mail_verbs verbs = {
	.status = remote_status,
	.list = remote_list,
	.get = remote_get,
	.mark = remote_mark,
	.move = remote_move,
	.send = remote_send,
	.post = remote_post,
	.reply = remote_reply,
};

static const struct mr_mail_transport gateway = {
	.name = "gateway",
	.close = remote_close,
	.verbs = &verbs,
};

enum mr_code mr_mail_gateway_open(struct mr_ctx *cx, const struct mr_mail_gateway_place *place,
	struct mr_mail_gateway_status *status, struct mr_mail *out)
{
	const struct mr_value *answer = NULL;
	enum mr_code rc = ask(cx, place, "status", NULL, NULL, &answer);

	if (rc)
		return rc;
	*status = (struct mr_mail_gateway_status){
		.transport = mr_value_text(answer, "transport"),
		.principal_id = mr_value_text(answer, "principal_id"),
		.address = mr_value_text(answer, "address"),
		.bindings_version = mr_value_text(answer, "bindings_version"),
	};
	if (!status->transport || !status->principal_id || !status->address ||
		!status->bindings_version)
		return mr_err_set(&cx->err, MR_EREMOTE, "%s is no gateway's", place->base);
	*out = (struct mr_mail){
		.transport = &gateway,
		.address = status->address,
		.principal_id = status->principal_id,
		.state = mr_arena_memdup(cx->arena, place, sizeof(*place)),
	};
	return MR_OK;
}
