/* op/mailbox/mail_mark.c - operations: mark, mark-read, move, archive. */
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_terminal.h"
#include "op/mailbox/mail_words.h"
#include "op/mailbox/render_agent_mail.h"
#include "op/mailbox/shape_mail.h"
#include "op/nouns.h"
#include "text/out.h"

struct mark_request {
	struct mr_texts message_ref;
	int read, answered, archived; /* -1: not said */
	bool unread, unanswered, unarchived;
	const char *destination_box;
};

#define MARK_PARAM(member, ...) MR_PARAM(struct mark_request, member, __VA_ARGS__)
#define REFS_PARAM                                                                                 \
	MARK_PARAM(message_ref, "message_ref", .flags = MR_REQUIRED | MR_POSITIONAL,               \
		.summary = "messages, from mailroom mail list")

static const struct mr_param mark_params[] = {
	REFS_PARAM,
	MARK_PARAM(read, "read", .summary = "they were read"),
	MARK_PARAM(unread, "unread", .summary = "they were not"),
	MARK_PARAM(answered, "answered", .summary = "they were answered"),
	MARK_PARAM(unanswered, "unanswered", .summary = "they were not"),
	MARK_PARAM(archived, "archived", .summary = "done with: they go to the box archive"),
	MARK_PARAM(unarchived, "unarchived", .summary = "back to the inbox"),
	{ 0 },
};

/* A flag and its opposite. */
static enum mr_code pick(struct mr_call *call, const char *name, int yes, bool no, int *out)
{
	*out = no ? 0 : yes;
	if (yes > 0 && no)
		return mr_mail_words_refuse(call,
			mr_arena_printf(call->cx.arena, "give --%s or --un%s, not both", name,
				name));
	return MR_OK;
}

/* Through the agent's terminal, whose mailbox is not open. */
static void submit(struct mr_call *call, const struct mr_mail_session *session,
	const struct mr_texts *refs, const struct mr_mail_flags *flags,
	struct mr_shape_mail_head *out)
{
	const struct {
		const char *name;
		int value;
	} given[] = {
		{ "read", flags->read },
		{ "answered", flags->answered },
		{ "archived", flags->archived },
	};
	struct mr_out arguments;

	mr_out_init_tree(&arguments, call->cx.arena);
	mr_out_map(&arguments, NULL);
	mr_out_texts(&arguments, "message_refs", refs);
	for (size_t i = 0; i < MR_LEN(given); i++) {
		if (given[i].value >= 0)
			mr_out_bool(&arguments, given[i].name, given[i].value);
	}
	mr_out_end(&arguments);
	mr_mail_terminal_submit(call, session, "mark", mr_out_tree(&arguments), out);
}

static enum mr_code mark(struct mr_call *call, const struct mr_mail_session *session,
	const struct mark_request *asked, struct mr_shape_mail_many *out)
{
	struct mr_mail_messages messages;
	struct mr_mail_flags flags = { -1, -1, -1 };
	enum mr_code rc = pick(call, "read", asked->read, asked->unread, &flags.read);

	if (!rc)
		rc = pick(call, "answered", asked->answered, asked->unanswered, &flags.answered);
	if (!rc)
		rc = pick(call, "archived", asked->archived, asked->unarchived, &flags.archived);
	if (!rc && flags.read < 0 && flags.answered < 0 && flags.archived < 0)
		rc = mr_mail_words_refuse(call,
			"give at least one of --read, --unread, --answered, --unanswered, "
			"--archived and --unarchived");
	if (!rc && session->execution == MR_MAIL_TUI_SUBMISSION) {
		submit(call, session, &asked->message_ref, &flags, &out->head);
		return MR_OK;
	}
	if (!rc)
		rc = mr_mail_mark(&call->cx, &session->mail, &asked->message_ref, &flags,
			&messages);
	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "mark");
	out->messages = mr_shape_mails(call->cx.arena, &messages);
	return MR_OK;
}
MR_BIND_CALL(marking, mark, struct mr_mail_session, struct mark_request, struct mr_shape_mail_many);

const struct mr_op mr_op_mail_mark = {
	.name = "mail_mark",
	.command = "mail mark",
	.summary = "Mark messages as read, answered or archived, or as not",
	.params = mark_params,
	.result = mr_shape_mail_many_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &marking,
	.render = mr_render_mail_marked,
};

struct read_request {
	const char *message_ref;
};

static const struct mr_param read_params[] = {
	MR_PARAM(struct read_request, message_ref, "message_ref",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the message, from mailroom mail check"),
	{ 0 },
};

struct was_read {
	struct mr_shape_mail_head head;
	const char *message_ref;
	bool read;
};

/* Nothing when it is not known. */
static void put_read(struct mr_out *out, const char *key, const void *from)
{
	const bool *read = from;

	if (*read)
		mr_out_bool(out, key, true);
}

static const struct mr_field read_fields[] = {
	MR_MEMBERS(struct was_read, head, struct mr_shape_mail_head, mr_shape_mail_head_fields),
	MR_FIELD(struct was_read, message_ref, "message_ref", .flags = MR_OPTIONAL),
	MR_FIELD(struct was_read, read, "read", .flags = MR_OPTIONAL, .emit = put_read),
	{ 0 },
};

static enum mr_code mark_read(struct mr_call *call, const struct mr_mail_session *session,
	const struct read_request *asked, struct was_read *out)
{
	static const struct mr_mail_flags flags = { .read = 1, .answered = -1, .archived = -1 };
	const char *refs[] = { asked->message_ref, NULL };
	const struct mr_texts all = { refs, 1 };
	struct mr_mail_messages messages;
	enum mr_code rc;

	if (session->execution == MR_MAIL_TUI_SUBMISSION) {
		submit(call, session, &all, &flags, &out->head);
		return MR_OK;
	}
	rc = mr_mail_mark(&call->cx, &session->mail, &all, &flags, &messages);
	if (rc)
		return rc;
	*out = (struct was_read){
		.head = mr_shape_mail_head(session, "mark-read"),
		.message_ref = messages.items[0].ref,
		.read = messages.items[0].view.read,
	};
	return MR_OK;
}
MR_BIND_CALL(marking_read, mark_read, struct mr_mail_session, struct read_request, struct was_read);

const struct mr_op mr_op_mail_mark_read = {
	.name = "mail_mark_read",
	.command = "mail mark-read",
	.summary = "Mark one message as read",
	.params = read_params,
	.result = read_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &marking_read,
	.render = mr_render_mail_marked,
};

static const struct mr_param move_params[] = {
	REFS_PARAM,
	MARK_PARAM(destination_box, "destination_box", .flags = MR_REQUIRED,
		.summary = "the box; one that is not there is made"),
	{ 0 },
};

static enum mr_code move(struct mr_call *call, const struct mr_mail_session *session,
	const struct mark_request *asked, struct mr_shape_mail_many *out)
{
	struct mr_mail_messages messages;
	enum mr_code rc = mr_mail_move(&call->cx, &session->mail, &asked->message_ref,
		asked->destination_box, &messages);

	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "move");
	out->messages = mr_shape_mails(call->cx.arena, &messages);
	return MR_OK;
}
MR_BIND_CALL(moving, move, struct mr_mail_session, struct mark_request, struct mr_shape_mail_many);

const struct mr_op mr_op_mail_move = {
	.name = "mail_move",
	.command = "mail move",
	.summary = "Move messages to another box",
	.params = move_params,
	.result = mr_shape_mail_many_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &moving,
	.render = mr_render_mail_marked,
};

static const struct mr_param archive_params[] = { REFS_PARAM, { 0 } };

static enum mr_code archive(struct mr_call *call, const struct mr_mail_session *session,
	const struct mark_request *asked, struct mr_shape_mail_many *out)
{
	struct mr_mail_messages messages;
	enum mr_code rc =
		mr_mail_archive(&call->cx, &session->mail, &asked->message_ref, &messages);

	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, "archive");
	out->messages = mr_shape_mails(call->cx.arena, &messages);
	return MR_OK;
}
MR_BIND_CALL(archiving, archive, struct mr_mail_session, struct mark_request,
	struct mr_shape_mail_many);

const struct mr_op mr_op_mail_archive = {
	.name = "mail_archive",
	.command = "mail archive",
	.summary = "Archive messages: they are read, and done with",
	.params = archive_params,
	.result = mr_shape_mail_many_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &archiving,
	.render = mr_render_mail_marked,
};
