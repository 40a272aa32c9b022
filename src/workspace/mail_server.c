/* workspace/mail_server.c - sessions with the IMAP server, and its list of mailboxes. */
#include "workspace/mail_server.h"

#include "base/utf8.h"
#include "net/imap_login.h"

#include <string.h>
#include <strings.h>

/* --- sessions --- */

enum mr_code mr_work_server_explain(struct mr_ctx *cx, const char *which, enum mr_code code)
{
	cx->err.code = code;
	if (code == MR_ETIMEOUT)
		(void)mr_work_hint(cx,
			"The server was silent for too long. Try again later; a slow one gets more time "
			"with `afmail config set %s.timeout_s SECONDS`.",
			which);
	return code;
}

enum mr_code mr_work_server_open(struct mr_ctx *cx, const struct mr_work_account *account,
	struct mr_imap **out)
{
	static const enum mr_work_error words[] = {
		[MR_IMAP_STAGE_CONNECT] = MR_WORK_IMAP_CONNECT_FAILED,
		[MR_IMAP_STAGE_TLS] = MR_WORK_IMAP_TLS_FAILED,
		[MR_IMAP_STAGE_GREETING] = MR_WORK_IMAP_GREETING_FAILED,
		[MR_IMAP_STAGE_LOGIN] = MR_WORK_IMAP_LOGIN_FAILED,
	};
	const struct mr_imap_account server = {
		.host = account->host,
		.port = (int)account->port,
		.tls = account->tls,
		.starttls = account->starttls,
		.ca_file = account->ca_file,
		.user = account->username,
		.password = account->password,
		.bearer_token = account->token,
		.mechanism = mr_work_account_mechanism(account),
		.timeout_ms = account->timeout_ms,
	};
	enum mr_imap_stage stage;
	struct mr_err err;

	if (!mr_imap_login(&server, cx->rand, out, &stage, &err))
		return MR_OK;
	(void)mr_work_refuse(cx, words[stage], "%s", err.msg);
	if (stage != MR_IMAP_STAGE_TLS && stage != MR_IMAP_STAGE_LOGIN)
		return mr_work_server_explain(cx, "imap", err.code);
	return cx->err.code;
}

/* Does the refusal say that it is different later? RFC 5530. */
static bool is_for_now(const struct mr_imap_outcome *outcome)
{
	return outcome->code.len &&
		(mr_imap_is(&outcome->code.items[0], "UNAVAILABLE") ||
			mr_imap_is(&outcome->code.items[0], "INUSE") ||
			mr_imap_is(&outcome->code.items[0], "LIMIT"));
}

enum mr_code mr_work_server_do(struct mr_ctx *cx, struct mr_imap *session, mr_imap_handler *handler,
	void *arg, struct mr_imap_outcome *outcome, enum mr_work_error error)
{
	struct mr_imap_outcome own = { 0 };
	struct mr_err err = { 0 };
	enum mr_code rc = mr_imap_run(session, cx->arena, handler, arg, &own, &err);

	if (outcome && !rc)
		*outcome = own;
	if (!rc && own.status == MR_IMAP_OK)
		return MR_OK;
	if (!rc && is_for_now(&own))
		rc = mr_err_set(&err, MR_EREMOTE, "the server refused: %s", own.text);
	else if (!rc) /* the same question has the same answer */
		rc = mr_err_set(&err, MR_ECONFLICT, "the server refused: %s", own.text);
	return mr_work_server_failed(cx, &err, error);
}

enum mr_code mr_work_server_failed(struct mr_ctx *cx, const struct mr_err *err,
	enum mr_work_error error)
{
	if (err->word) { /* the handler's own failure */
		cx->err = *err;
		return err->code;
	}
	(void)mr_work_refuse(cx, error, "%s", err->msg);
	return mr_work_server_explain(cx, "imap", err->code);
}

struct listing {
	struct mr_arena *arena;
	struct mr_work_server_mailboxes *out;
	size_t room;
};

static struct mr_work_server_mailbox *add(struct listing *listing)
{
	struct mr_work_server_mailboxes *out = listing->out;

	if (out->len == listing->room) {
		size_t room = listing->room ? listing->room * 2 : 32;
		struct mr_work_server_mailbox *items =
			mr_arena_array(listing->arena, room, sizeof(*items));

		if (out->len)
			memcpy(items, out->items, out->len * sizeof(*items));
		out->items = items;
		listing->room = room;
	}
	return &out->items[out->len++];
}

/* A name that is no UTF-8 is kept and compared in a form that is. */
static const char *valid_name(struct mr_arena *arena, const char *name)
{
	char *valid;

	if (mr_utf8_is_valid(name, strlen(name), NULL))
		return name;
	valid = mr_arena_strdup(arena, name);
	for (char *c = valid; *c; c++)
		*c = (char)((unsigned char)*c < 0x80 ? *c : '?');
	return valid;
}

static enum mr_code take_mailbox(void *arg, const struct mr_imap_response *response,
	struct mr_err *err)
{
	struct listing *listing = arg;
	const struct mr_imap_node *data = &response->data;
	struct mr_work_server_mailbox *mailbox;
	const char *wire;

	if (!mr_str_eq(response->name, "LIST") || data->len < 3 ||
		data->items[0].kind != MR_IMAP_LIST ||
		data->items[2].bytes.len > MR_WORK_SERVER_NAME_BYTES)
		return MR_OK;
	wire = mr_imap_text(listing->arena, &data->items[2]);
	if (!wire)
		return MR_OK;
	if (listing->out->len == MR_WORK_SERVER_MAILBOXES_MAX)
		return mr_err_set(err, MR_ELIMIT, "the server has more than %d mailboxes",
			MR_WORK_SERVER_MAILBOXES_MAX);
	mailbox = add(listing);
	*mailbox = (struct mr_work_server_mailbox){
		.name = valid_name(listing->arena, mr_imap_name_decode(listing->arena, wire)),
		.wire = wire,
		.delimiter = mr_imap_text(listing->arena, &data->items[1]),
	};
	mailbox->attributes.items = mr_arena_array(listing->arena, data->items[0].len + 1,
		sizeof(*mailbox->attributes.items));
	for (size_t i = 0; i < data->items[0].len; i++) {
		const char *attribute = mr_imap_text(listing->arena, &data->items[0].items[i]);

		if (attribute)
			mailbox->attributes.items[mailbox->attributes.len++] = attribute;
	}
	return MR_OK;
}

enum mr_code mr_work_server_list(struct mr_ctx *cx, struct mr_imap *session,
	struct mr_work_server_mailboxes *out)
{
	struct listing listing = { cx->arena, out, 0 };

	*out = (struct mr_work_server_mailboxes){ 0 };
	/* Some servers tell what mailboxes are for only when they are asked (RFC 6154). */
	mr_imap_begin(session,
		mr_imap_can(session, "SPECIAL-USE") && mr_imap_can(session, "LIST-EXTENDED")
			? "LIST \"\" \"*\" RETURN (SPECIAL-USE)"
			: "LIST \"\" \"*\"");
	return mr_work_server_do(cx, session, take_mailbox, &listing, NULL,
		MR_WORK_IMAP_LIST_FAILED);
}

bool mr_work_server_has_attribute(const struct mr_work_server_mailbox *mailbox,
	const char *attribute)
{
	for (size_t i = 0; i < mailbox->attributes.len; i++) {
		if (strcasecmp(mailbox->attributes.items[i], attribute) == 0)
			return true;
	}
	return false;
}
