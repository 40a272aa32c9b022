/* op/mailbox/gateway_mark.c - operations of a gateway: mark, move, archive, state. */
#include "op/mailbox/contract_gateway.h"
#include "op/mailbox/gateway_body.h"
#include "op/mailbox/gateway_rules.h"
#include "op/mailbox/shape_gateway.h"
#include "op/nouns.h"

#define MIRROR "/houmao/agents/{agent_ref}/mail/"

struct mark_request {
	struct mr_texts message_refs;
	int read, answered, archived; /* -1: not said */
	const char *destination_box;
};

#define MARK_PARAM(member, ...) MR_PARAM(struct mark_request, member, __VA_ARGS__)
#define REFS_PARAM                                                                                 \
	MARK_PARAM(message_refs, "message_refs", .flags = MR_REQUIRED,                             \
		.refuse = mr_gateway_refuse_refs, .summary = "messages, from a list")

static const struct mr_param mark_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	REFS_PARAM,
	MARK_PARAM(read, "read", .flags = MR_OR_NULL, .summary = "they were read, or were not"),
	MARK_PARAM(answered, "answered", .flags = MR_OR_NULL,
		.summary = "they were answered, or were not"),
	MARK_PARAM(archived, "archived", .flags = MR_OR_NULL,
		.summary = "done with: they go to the box archive; or back to the inbox"),
	{ 0 },
};

static const struct mr_param move_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	REFS_PARAM,
	MARK_PARAM(destination_box, "destination_box", .flags = MR_REQUIRED,
		.refuse = mr_gateway_refuse_blank,
		.summary = "the box; one that is not there is made"),
	{ 0 },
};

static const struct mr_param archive_params[] = { MR_GATEWAY_VERSION_PARAM, REFS_PARAM, { 0 } };

static enum mr_code show(struct mr_call *call, const struct mr_mail_session *session,
	const char *operation, const struct mr_mail_messages *messages, enum mr_code rc,
	struct mr_shape_mail_many *out)
{
	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, operation);
	out->messages = mr_shape_mails(call->cx.arena, messages);
	return MR_OK;
}

static enum mr_code mark(struct mr_call *call, const struct mr_mail_session *session,
	const struct mark_request *asked, struct mr_shape_mail_many *out)
{
	const struct mr_mail_flags flags = { asked->read, asked->answered, asked->archived };
	struct mr_mail_messages messages;
	enum mr_code rc;

	if (flags.read < 0 && flags.answered < 0 && flags.archived < 0)
		return mr_gateway_body_refuse(call, NULL,
			"set at least one of read, answered and archived");
	rc = mr_mail_mark(&call->cx, &session->mail, &asked->message_refs, &flags, &messages);
	return show(call, session, "mark", &messages, rc, out);
}
MR_BIND_CALL(marking, mark, struct mr_mail_session, struct mark_request, struct mr_shape_mail_many);

const struct mr_op mr_op_gateway_mail_mark = {
	.name = "gateway_mail_mark",
	.route = "POST " MIRROR "mark",
	.summary = "Mark messages as read, answered or archived, or as not",
	.params = mark_params,
	.result = mr_shape_gateway_many_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &marking,
};

static enum mr_code move(struct mr_call *call, const struct mr_mail_session *session,
	const struct mark_request *asked, struct mr_shape_mail_many *out)
{
	struct mr_mail_messages messages;
	enum mr_code rc = mr_mail_move(&call->cx, &session->mail, &asked->message_refs,
		asked->destination_box, &messages);

	return show(call, session, "move", &messages, rc, out);
}
MR_BIND_CALL(moving, move, struct mr_mail_session, struct mark_request, struct mr_shape_mail_many);

const struct mr_op mr_op_gateway_mail_move = {
	.name = "gateway_mail_move",
	.route = "POST " MIRROR "move",
	.summary = "Move messages to another box",
	.params = move_params,
	.result = mr_shape_gateway_many_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &moving,
};

static enum mr_code archive(struct mr_call *call, const struct mr_mail_session *session,
	const struct mark_request *asked, struct mr_shape_mail_many *out)
{
	struct mr_mail_messages messages;
	enum mr_code rc =
		mr_mail_archive(&call->cx, &session->mail, &asked->message_refs, &messages);

	return show(call, session, "archive", &messages, rc, out);
}
MR_BIND_CALL(archiving, archive, struct mr_mail_session, struct mark_request,
	struct mr_shape_mail_many);

const struct mr_op mr_op_gateway_mail_archive = {
	.name = "gateway_mail_archive",
	.route = "POST " MIRROR "archive",
	.summary = "Archive messages: they are read, and done with",
	.params = archive_params,
	.result = mr_shape_gateway_many_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &archiving,
};

/* --- the older form of marking one as read --- */

static const char *const only_true[] = { "True", NULL };

struct state_request {
	const char *message_ref;
	bool read;
};

static const struct mr_param state_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	MR_PARAM(struct state_request, message_ref, "message_ref", .flags = MR_REQUIRED,
		.refuse = mr_gateway_refuse_blank, .summary = "the message"),
	MR_PARAM(struct state_request, read, "read", .choices = only_true, .summary = "true",
		.fallback = "true"),
	{ 0 },
};

struct was_read {
	struct mr_shape_mail_head head;
	const char *message_ref;
	bool read;
};

static const struct mr_field state_fields[] = {
	MR_MEMBERS(struct was_read, head, struct mr_shape_mail_head, mr_shape_gateway_who_fields),
	MR_FIELD(struct was_read, message_ref, "message_ref"),
	MR_FIELD(struct was_read, read, "read"),
	{ 0 },
};

static enum mr_code mark_read(struct mr_call *call, const struct mr_mail_session *session,
	const struct state_request *asked, struct was_read *out)
{
	static const struct mr_mail_flags flags = { .read = 1, .answered = -1, .archived = -1 };
	const char *refs[] = { asked->message_ref, NULL };
	const struct mr_texts all = { refs, 1 };
	struct mr_mail_messages messages;
	enum mr_code rc = mr_mail_mark(&call->cx, &session->mail, &all, &flags, &messages);

	if (rc)
		return rc;
	*out = (struct was_read){
		.head = mr_shape_mail_head(session, "state"),
		.message_ref = messages.items[0].ref,
		.read = messages.items[0].view.read,
	};
	return MR_OK;
}
MR_BIND_CALL(marking_read, mark_read, struct mr_mail_session, struct state_request,
	struct was_read);

const struct mr_op mr_op_gateway_mail_state = {
	.name = "gateway_mail_state",
	.route = "POST " MIRROR "state",
	.summary = "Mark one message as read",
	.params = state_params,
	.result = state_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &marking_read,
};
