/* op/mailbox/mail_look.c - operations: which mailbox is meant, and what is in it. */
#include "mailbox/gateway.h"
#include "mailbox/layout.h"
#include "mailbox/root.h"
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_words.h"
#include "op/mailbox/render_agent_mail.h"
#include "op/mailbox/shape_mail.h"
#include "op/nouns.h"

#include <stdlib.h>
#include <string.h>

/* --- resolve-live --- */

struct filesystem {
	const char *root, *kind, *path, *inbox, *sqlite, *local_sqlite;
};
struct stalwart {
	const struct mr_mailbox_binding *binding;
	const char *credential_file; /* or NULL */
};
struct mailbox {
	const struct mr_mailbox_binding *binding;
	const struct filesystem *filesystem; /* one of these two */
	const struct stalwart *stalwart;
};
struct managed {
	const char *mode, *ref;
	const struct mr_mailbox_session *manifest;
};
struct resolved {
	int schema_version;
	const char *source;
	struct mailbox mailbox;
	const struct mr_mailbox_gateway *gateway; /* or NULL */
	bool gateway_available;
	const struct managed *managed; /* or NULL */
};

#define BOUND(member, ...) MR_FIELD(struct mr_mailbox_binding, member, __VA_ARGS__)

static const struct mr_field binding_fields[] = {
	BOUND(transport, "transport", .choices = mr_mailbox_transports),
	BOUND(principal_id, "principal_id"),
	BOUND(address, "address"),
	BOUND(version, "bindings_version"),
	{ 0 },
};

static const struct mr_field filesystem_fields[] = {
	MR_FIELD(struct filesystem, root, "root"),
	MR_FIELD(struct filesystem, kind, "mailbox_kind"),
	MR_FIELD(struct filesystem, path, "mailbox_path"),
	MR_FIELD(struct filesystem, inbox, "inbox_path"),
	MR_FIELD(struct filesystem, sqlite, "sqlite_path"),
	MR_FIELD(struct filesystem, local_sqlite, "local_sqlite_path"),
	{ 0 },
};

static const struct mr_field account_fields[] = {
	BOUND(jmap_url, "jmap_url"),
	BOUND(management_url, "management_url"),
	BOUND(login_identity, "login_identity"),
	BOUND(credential_ref, "credential_ref"),
	{ 0 },
};

static const struct mr_field stalwart_fields[] = {
	MR_MEMBERS(struct stalwart, binding, struct mr_mailbox_binding, account_fields),
	MR_FIELD(struct stalwart, credential_file, "credential_file", .flags = MR_NULLABLE),
	{ 0 },
};

static const struct mr_field mailbox_fields[] = {
	MR_MEMBERS(struct mailbox, binding, struct mr_mailbox_binding, binding_fields),
	MR_FIELD_STRUCT(struct mailbox, filesystem, struct filesystem, filesystem_fields,
		"filesystem", .flags = MR_OPTIONAL),
	MR_FIELD_STRUCT(struct mailbox, stalwart, struct stalwart, stalwart_fields, "stalwart",
		.flags = MR_OPTIONAL),
	{ 0 },
};

static void put_source(struct mr_out *out, const char *key, const void *from)
{
	(void)from;
	mr_out_text(out, key, "current_instance_record");
}

static void put_version(struct mr_out *out, const char *key, const void *from)
{
	(void)from;
	mr_out_text(out, key, "v1");
}

#define GATEWAY(member, ...) MR_FIELD(struct mr_mailbox_gateway, member, __VA_ARGS__)

static const struct mr_field gateway_fields[] = {
	GATEWAY(host, "source", .emit = put_source),
	GATEWAY(host, "host"),
	GATEWAY(port, "port"),
	GATEWAY(base_url, "base_url"),
	GATEWAY(host, "protocol_version", .emit = put_version),
	GATEWAY(state_path, "state_path"),
	{ 0 },
};

#define AGENT(member, ...) MR_FIELD(struct mr_mailbox_session, member, __VA_ARGS__)

static const struct mr_field agent_fields[] = {
	AGENT(agent_id, "tracked_agent_id", .flags = MR_NULLABLE),
	AGENT(agent_name, "agent_name", .flags = MR_NULLABLE),
	AGENT(agent_id, "agent_id", .flags = MR_NULLABLE),
	AGENT(tmux_session, "tmux_session_name", .flags = MR_NULLABLE),
	{ 0 },
};

static const struct mr_field managed_fields[] = {
	MR_FIELD(struct managed, mode, "mode"),
	MR_FIELD(struct managed, ref, "agent_ref"),
	MR_MEMBERS(struct managed, manifest, struct mr_mailbox_session, agent_fields),
	{ 0 },
};

static const struct mr_field bound_fields[] = {
	MR_MEMBERS(struct mailbox, binding, struct mr_mailbox_binding, binding_fields),
	{ 0 },
};

static const struct mr_field resolve_fields[] = {
	MR_FIELD(struct resolved, schema_version, "schema_version"),
	MR_FIELD(struct resolved, source, "source"),
	MR_MEMBERS(struct resolved, mailbox, struct mailbox, bound_fields),
	MR_FIELD_STRUCT(struct resolved, mailbox, struct mailbox, mailbox_fields, "mailbox"),
	MR_FIELD_STRUCT(struct resolved, gateway, struct mr_mailbox_gateway, gateway_fields,
		"gateway", .flags = MR_NULLABLE),
	MR_FIELD(struct resolved, gateway_available, "gateway_available"),
	MR_FIELD_STRUCT(struct resolved, managed, struct managed, managed_fields, "managed_agent",
		.flags = MR_NULLABLE),
	{ 0 },
};

/* A mailbox in a root that is there must be registered, and where the binding says. */
static enum mr_code check_mailbox(struct mr_call *call, struct mr_mail_session *session)
{
	struct mr_mailbox_status status;
	enum mr_code rc = mr_mailbox_root_status(&call->cx, session->binding.root, &status);

	if (rc || (!status.bootstrapped && session->agent.ref))
		return rc;
	return mr_mail_session_open(call, true, session);
}

static const struct filesystem *show_filesystem(struct mr_arena *arena,
	const struct mr_mailbox_binding *binding)
{
	struct filesystem *out = mr_arena_alloc(arena, sizeof(*out));

	*out = (struct filesystem){
		.root = binding->root,
		.kind = mr_mailbox_kind_name(binding->kind),
		.path = binding->path,
		.inbox = mr_mailbox_layout_join(arena, binding->path, "inbox"),
		.sqlite = mr_mailbox_layout_join(arena, binding->root, MR_MAILBOX_INDEX_FILE),
		.local_sqlite = mr_mailbox_layout_join(arena, binding->path, MR_MAILBOX_LOCAL_FILE),
	};
	return out;
}

static const struct stalwart *show_stalwart(struct mr_arena *arena,
	const struct mr_mail_session *session)
{
	struct stalwart *out = mr_arena_alloc(arena, sizeof(*out));

	*out = (struct stalwart){
		.binding = &session->binding,
		.credential_file = mr_arena_printf(arena, "%s/mailbox-secrets/%s.json",
			session->agent.manifest.dir, session->binding.credential_ref),
	};
	return out;
}

static enum mr_code resolve_live(struct mr_call *call, const struct mr_nothing *asked,
	struct resolved *out)
{
	struct mr_arena *arena = call->cx.arena;
	struct mr_mail_session *session = mr_arena_alloc(arena, sizeof(*session));
	struct mr_mailbox_gateway *gateway = mr_arena_alloc(arena, sizeof(*gateway));
	struct managed *managed = mr_arena_alloc(arena, sizeof(*managed));
	enum mr_code rc = mr_mail_session_find(call, session);
	bool is_local = session->binding.transport == MR_MAILBOX_FILESYSTEM;

	(void)asked;
	if (!rc && is_local)
		rc = check_mailbox(call, session);
	mr_mail_session_close(session);
	if (rc)
		return rc;
	*managed = (struct managed){ "local", session->agent.ref, &session->agent.manifest };
	*out = (struct resolved){
		.schema_version = 1,
		.source = session->agent.ref ? "manifest_binding" : "mailbox_root",
		.mailbox = { .binding = &session->binding },
		.managed = session->agent.ref ? managed : NULL,
	};
	if (is_local)
		out->mailbox.filesystem = show_filesystem(arena, &session->binding);
	else
		out->mailbox.stalwart = show_stalwart(arena, session);
	if (session->agent.ref &&
		mr_mailbox_gateway_find(&call->cx, &session->agent.manifest, gateway) &&
		mr_mailbox_gateway_answers(&call->cx, &session->agent.manifest, gateway))
		out->gateway = gateway;
	out->gateway_available = out->gateway != NULL;
	return MR_OK;
}
MR_BIND_ALONE(resolving, resolve_live, struct mr_nothing, struct resolved);

const struct mr_op mr_op_mail_resolve_live = {
	.name = "mail_resolve_live",
	.command = "mail resolve-live",
	.summary = "Tell which mailbox is meant, and how it can be reached",
	.help = "Reads the binding of the agent's session. When bindings_version differs from what "
		"it was, everything that was learnt before is out of date.",
	.result = resolve_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &resolving,
	.render = mr_render_mail_resolved,
};

/* --- status --- */

struct status {
	struct mr_shape_mail_head head;
	const char *bindings_version;
};

static const struct mr_field status_fields[] = {
	MR_MEMBERS(struct status, head, struct mr_shape_mail_head, mr_shape_mail_head_fields),
	MR_FIELD(struct status, bindings_version, "bindings_version"),
	{ 0 },
};

static enum mr_code tell_status(struct mr_ctx *cx, const struct mr_mail_session *session,
	const struct mr_nothing *asked, struct status *out)
{
	struct mr_mail_status status;
	enum mr_code rc = mr_mail_status(cx, &session->mail, &status);

	(void)asked;
	out->head = mr_shape_mail_head(session, "status");
	out->bindings_version = session->binding.version;
	return rc;
}
MR_BIND(telling, tell_status, struct mr_mail_session, struct mr_nothing, struct status);

const struct mr_op mr_op_mail_status = {
	.name = "mail_status",
	.command = "mail status",
	.summary = "Tell whether the mailbox can be used, and whose it is",
	.result = status_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &telling,
	.render = mr_render_mail_status,
};

/* --- list and check --- */

static const char *const read_states[] = { "any", "read", "unread", NULL };
static const char *const answered_states[] = { "any", "answered", "unanswered", NULL };

struct list_request {
	const char *box, *read_state, *answered_state, *since;
	int archived; /* -1: not said */
	bool not_archived, include_body, unread_only;
	int64_t limit;
};

#define LIST_PARAM(member, ...) MR_PARAM(struct list_request, member, __VA_ARGS__)
#define LIMIT_PARAM                                                                                \
	LIST_PARAM(limit, "limit", .min = 1, .max = 10000, .summary = "the newest so many",        \
		.fallback = "all")
#define SINCE_PARAM                                                                                \
	LIST_PARAM(since, "since",                                                                 \
		.summary = "only those from this time on, 2026-03-11T04:15:00Z or a date")

static const struct mr_param list_params[] = {
	LIST_PARAM(box, "box", .summary = "which box", .fallback = "inbox"),
	LIST_PARAM(read_state, "read_state", .flags = MR_LENIENT, .choices = read_states,
		.summary = "read or unread ones only", .fallback = "any"),
	LIST_PARAM(answered_state, "answered_state", .flags = MR_LENIENT,
		.choices = answered_states, .summary = "answered or unanswered ones only",
		.fallback = "any"),
	LIST_PARAM(archived, "archived", .summary = "archived ones only"),
	LIST_PARAM(not_archived, "not_archived", .summary = "those that are not archived only"),
	LIMIT_PARAM,
	SINCE_PARAM,
	LIST_PARAM(include_body, "include_body", .summary = "with their bodies"),
	{ 0 },
};

struct listed {
	struct mr_shape_mail_head head;
	const char *box;
	struct mr_shape_mails messages;
	size_t open_count, unread_count;
};

static const struct mr_field list_fields[] = {
	MR_MEMBERS(struct listed, head, struct mr_shape_mail_head, mr_shape_mail_head_fields),
	MR_FIELD(struct listed, box, "box"),
	MR_FIELD(struct listed, messages.len, "message_count"),
	MR_FIELD(struct listed, open_count, "open_count"),
	MR_FIELD(struct listed, unread_count, "unread_count"),
	MR_FIELD_LIST(struct listed, messages, struct mr_shape_mail, mr_shape_mail_fields,
		"messages"),
	{ 0 },
};

/* "any", and then the word for yes and the one for no. */
static int wanted(size_t which)
{
	return which == 0 ? -1 : which == 1;
}

static enum mr_code run_query(struct mr_call *call, const struct mr_mail_session *session,
	const struct mr_mail_query *query, struct listed *out)
{
	struct mr_mail_list list;
	enum mr_code rc = mr_mail_list(&call->cx, &session->mail, query, &list);

	if (rc)
		return rc;
	out->box = list.box;
	out->messages = mr_shape_mails(call->cx.arena, &list.messages);
	out->open_count = list.open_count;
	out->unread_count = list.unread_count;
	return MR_OK;
}

static enum mr_code list_box(struct mr_call *call, const struct mr_mail_session *session,
	const struct list_request *asked, struct listed *out)
{
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;
	size_t read = 0, answered = 0;
	enum mr_code rc =
		mr_mail_words_choice(call, "--read-state", asked->read_state, read_states, &read);

	if (!rc)
		rc = mr_mail_words_choice(call, "--answered-state", asked->answered_state,
			answered_states, &answered);
	if (!rc && asked->archived > 0 && asked->not_archived)
		rc = mr_mail_words_refuse(call, "give --archived or --not-archived, not both");
	if (rc)
		return rc;
	query.box = asked->box;
	query.read = wanted(read);
	query.answered = wanted(answered);
	query.archived = asked->not_archived ? 0 : asked->archived;
	query.since = asked->since;
	query.limit = asked->limit;
	query.include_body = asked->include_body;
	out->head = mr_shape_mail_head(session, "list");
	return run_query(call, session, &query, out);
}
MR_BIND_CALL(listing, list_box, struct mr_mail_session, struct list_request, struct listed);

const struct mr_op mr_op_mail_list = {
	.name = "mail_list",
	.command = "mail list",
	.summary = "List the messages of a box, newest first",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &listing,
	.render = mr_render_mail_list,
};

static const struct mr_param check_params[] = {
	LIST_PARAM(unread_only, "unread_only", .summary = "only those that were not read"),
	LIMIT_PARAM,
	SINCE_PARAM,
	{ 0 },
};

struct checked {
	struct listed listed;
	bool unread_only;
};

static const struct mr_field check_fields[] = {
	MR_MEMBERS(struct checked, listed.head, struct mr_shape_mail_head,
		mr_shape_mail_head_fields),
	MR_FIELD(struct checked, unread_only, "unread_only"),
	MR_FIELD(struct checked, listed.messages.len, "message_count"),
	MR_FIELD(struct checked, listed.unread_count, "unread_count"),
	MR_FIELD_LIST(struct checked, listed.messages, struct mr_shape_mail, mr_shape_mail_fields,
		"messages"),
	{ 0 },
};

static enum mr_code check_inbox(struct mr_call *call, const struct mr_mail_session *session,
	const struct list_request *asked, struct checked *out)
{
	struct mr_mail_query query = MR_MAIL_QUERY_INIT;

	query.read = asked->unread_only ? 0 : -1;
	query.archived = 0;
	query.since = asked->since;
	query.limit = asked->limit;
	query.include_body = true;
	out->listed.head = mr_shape_mail_head(session, "check");
	out->unread_only = asked->unread_only;
	return run_query(call, session, &query, &out->listed);
}
MR_BIND_CALL(checking, check_inbox, struct mr_mail_session, struct list_request, struct checked);

const struct mr_op mr_op_mail_check = {
	.name = "mail_check",
	.command = "mail check",
	.summary = "Look for mail: the open messages of the inbox with their bodies, newest first",
	.help = "Nothing is marked as read. mailroom mail list has more to choose from.",
	.params = check_params,
	.result = check_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &checking,
	.render = mr_render_mail_list,
};

/* --- peek and read --- */

struct one_request {
	const char *message_ref, *box;
};

static const struct mr_param one_params[] = {
	MR_PARAM(struct one_request, message_ref, "message_ref",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the message, from mailroom mail list"),
	MR_PARAM(struct one_request, box, "box", .summary = "fail unless it is in this box"),
	{ 0 },
};

static enum mr_code peek(struct mr_call *call, const struct mr_mail_session *session,
	const struct one_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_message message;
	enum mr_code rc =
		mr_mail_peek(&call->cx, &session->mail, asked->message_ref, asked->box, &message);

	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "peek");
	out->message = mr_shape_mail(call->cx.arena, &message);
	return MR_OK;
}
MR_BIND_CALL(peeking, peek, struct mr_mail_session, struct one_request, struct mr_shape_mail_one);

const struct mr_op mr_op_mail_peek = {
	.name = "mail_peek",
	.command = "mail peek",
	.summary = "Show a message without marking it as read",
	.params = one_params,
	.result = mr_shape_mail_one_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &peeking,
	.render = mr_render_mail_one,
};

static enum mr_code read_one(struct mr_call *call, const struct mr_mail_session *session,
	const struct one_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_message message;
	enum mr_code rc =
		mr_mail_read(&call->cx, &session->mail, asked->message_ref, asked->box, &message);

	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "read");
	out->message = mr_shape_mail(call->cx.arena, &message);
	return MR_OK;
}
MR_BIND_CALL(reading, read_one, struct mr_mail_session, struct one_request,
	struct mr_shape_mail_one);

const struct mr_op mr_op_mail_read = {
	.name = "mail_read",
	.command = "mail read",
	.summary = "Show a message and mark it as read",
	.params = one_params,
	.result = mr_shape_mail_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &reading,
	.render = mr_render_mail_one,
};
