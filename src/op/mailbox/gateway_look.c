/* op/mailbox/gateway_look.c - operations of a gateway: status, list, peek, read, check. */
#include "op/mailbox/contract_gateway.h"
#include "op/mailbox/gateway_body.h"
#include "op/mailbox/gateway_rules.h"
#include "op/mailbox/shape_gateway.h"
#include "op/nouns.h"

#define MIRROR "/houmao/agents/{agent_ref}/mail/"

struct status {
	struct mr_shape_mail_head head;
	const char *bindings_version;
};

static const struct mr_field status_fields[] = {
	MR_MEMBERS(struct status, head, struct mr_shape_mail_head, mr_shape_gateway_who_fields),
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

const struct mr_op mr_op_gateway_mail_status = {
	.name = "gateway_mail_status",
	.route = "GET " MIRROR "status",
	.summary = "Whether an agent's mailbox can be used, and whose it is",
	.result = status_fields,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &telling,
};

/* --- list and check --- */

static const char *const read_states[] = { "any", "read", "unread", NULL };
static const char *const answered_states[] = { "any", "answered", "unanswered", NULL };

struct list_request {
	const char *box, *since;
	unsigned read_state, answered_state; /* places among the words */
	int archived;                        /* -1: not said */
	bool include_body, unread_only;
	int64_t limit;
};

#define LIST_PARAM(member, ...) MR_PARAM(struct list_request, member, __VA_ARGS__)
#define LIMIT_PARAM                                                                                \
	LIST_PARAM(limit, "limit", .flags = MR_OR_NULL, .min = 1, .max = 1000000000,               \
		.summary = "the newest so many", .fallback = "all")
#define SINCE_PARAM                                                                                \
	LIST_PARAM(since, "since", .flags = MR_OR_NULL, .refuse = mr_gateway_refuse_since,         \
		.summary = "only those from this time on, 2026-03-11T04:15:00Z or a date")

static const struct mr_param list_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	LIST_PARAM(box, "box", .refuse = mr_gateway_refuse_blank, .summary = "which box",
		.fallback = "inbox"),
	LIST_PARAM(read_state, "read_state", .choices = read_states,
		.summary = "read or unread ones only", .fallback = "any"),
	LIST_PARAM(answered_state, "answered_state", .choices = answered_states,
		.summary = "answered or unanswered ones only", .fallback = "any"),
	LIST_PARAM(archived, "archived", .flags = MR_OR_NULL,
		.summary = "archived ones only, or the others only"),
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
	bool unread_only;
};

static const struct mr_field list_fields[] = {
	MR_MEMBERS(struct listed, head, struct mr_shape_mail_head, mr_shape_gateway_who_fields),
	MR_FIELD(struct listed, box, "box"),
	MR_FIELD(struct listed, messages.len, "message_count"),
	MR_FIELD(struct listed, open_count, "open_count"),
	MR_FIELD(struct listed, unread_count, "unread_count"),
	MR_FIELD_LIST(struct listed, messages, struct mr_shape_mail, mr_shape_mail_fields,
		"messages"),
	{ 0 },
};

/* "any", and then the word for yes and the one for no. */
static int wanted(unsigned which)
{
	return which == 0 ? -1 : which == 1;
}

static enum mr_code run_query(struct mr_ctx *cx, const struct mr_mail_session *session,
	const struct mr_mail_query *query, struct listed *out)
{
	struct mr_mail_list list;
	enum mr_code rc = mr_mail_list(cx, &session->mail, query, &list);

	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "list");
	out->box = list.box;
	out->messages = mr_shape_mails(cx->arena, &list.messages);
	out->open_count = list.open_count;
	out->unread_count = list.unread_count;
	return MR_OK;
}

static enum mr_code list_box(struct mr_ctx *cx, const struct mr_mail_session *session,
	const struct list_request *asked, struct listed *out)
{
	const struct mr_mail_query query = {
		.box = asked->box,
		.read = wanted(asked->read_state),
		.answered = wanted(asked->answered_state),
		.archived = asked->archived,
		.since = asked->since,
		.limit = asked->limit,
		.include_body = asked->include_body,
	};

	return run_query(cx, session, &query, out);
}
MR_BIND(listing, list_box, struct mr_mail_session, struct list_request, struct listed);

const struct mr_op mr_op_gateway_mail_list = {
	.name = "gateway_mail_list",
	.route = "POST " MIRROR "list",
	.summary = "The messages of a box, newest first",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &listing,
};

static const struct mr_param check_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	LIST_PARAM(unread_only, "unread_only", .summary = "only those that were not read"),
	LIMIT_PARAM,
	SINCE_PARAM,
	{ 0 },
};

static const struct mr_field check_fields[] = {
	MR_MEMBERS(struct listed, head, struct mr_shape_mail_head, mr_shape_gateway_who_fields),
	MR_FIELD(struct listed, unread_only, "unread_only"),
	MR_FIELD(struct listed, messages.len, "message_count"),
	MR_FIELD(struct listed, unread_count, "unread_count"),
	MR_FIELD_LIST(struct listed, messages, struct mr_shape_mail, mr_shape_mail_fields,
		"messages"),
	{ 0 },
};

static enum mr_code check_inbox(struct mr_ctx *cx, const struct mr_mail_session *session,
	const struct list_request *asked, struct listed *out)
{
	const struct mr_mail_query query = {
		.read = asked->unread_only ? 0 : -1,
		.answered = -1,
		.archived = 0,
		.since = asked->since,
		.limit = asked->limit,
		.include_body = true,
	};

	out->unread_only = asked->unread_only;
	return run_query(cx, session, &query, out);
}
MR_BIND(checking, check_inbox, struct mr_mail_session, struct list_request, struct listed);

const struct mr_op mr_op_gateway_mail_check = {
	.name = "gateway_mail_check",
	.route = "POST " MIRROR "check",
	.summary = "The open messages of the inbox with their bodies, newest first",
	.params = check_params,
	.result = check_fields,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &checking,
};

/* --- peek and read --- */

struct one_request {
	const char *message_ref, *box;
};

static const struct mr_param one_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	MR_PARAM(struct one_request, message_ref, "message_ref", .flags = MR_REQUIRED,
		.refuse = mr_gateway_refuse_blank, .summary = "the message, from a list"),
	MR_PARAM(struct one_request, box, "box", .flags = MR_OR_NULL,
		.refuse = mr_gateway_refuse_blank, .summary = "fail unless it is in this box"),
	{ 0 },
};

static enum mr_code peek(struct mr_ctx *cx, const struct mr_mail_session *session,
	const struct one_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_message message;
	enum mr_code rc =
		mr_mail_peek(cx, &session->mail, asked->message_ref, asked->box, &message);

	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "peek");
	out->message = mr_shape_mail(cx->arena, &message);
	return MR_OK;
}
MR_BIND(peeking, peek, struct mr_mail_session, struct one_request, struct mr_shape_mail_one);

const struct mr_op mr_op_gateway_mail_peek = {
	.name = "gateway_mail_peek",
	.route = "POST " MIRROR "peek",
	.summary = "A message, which is not marked as read",
	.params = one_params,
	.result = mr_shape_gateway_one_fields,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &peeking,
};

static enum mr_code read_one(struct mr_ctx *cx, const struct mr_mail_session *session,
	const struct one_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_message message;
	enum mr_code rc =
		mr_mail_read(cx, &session->mail, asked->message_ref, asked->box, &message);

	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "read");
	out->message = mr_shape_mail(cx->arena, &message);
	return MR_OK;
}
MR_BIND(reading, read_one, struct mr_mail_session, struct one_request, struct mr_shape_mail_one);

const struct mr_op mr_op_gateway_mail_read = {
	.name = "gateway_mail_read",
	.route = "POST " MIRROR "read",
	.summary = "A message, which is then marked as read",
	.params = one_params,
	.result = mr_shape_gateway_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &reading,
};
