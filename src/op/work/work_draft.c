/* op/work/work_draft.c - operations: drafts are made, changed and given files. */
#include "base/fs.h"
#include "base/utf8.h"
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/draft.h"

#include <string.h>
#include <unistd.h>

/* --- the text --- */

#define IDENTITY_PARAM(request_type, standard)                                                     \
	MR_PARAM(request_type, identity, "identity", .summary = "who writes: an identity's slug",  \
		.fallback = (standard))
#define BODY_PARAMS(request_type)                                                                  \
	MR_PARAM(request_type, body, "body", .summary = "the text"),                               \
		MR_PARAM(request_type, body_file, "body_file", .flags = MR_CLI_ONLY,               \
			.summary = "a file that has the text, or - for standard input")

/* A text comes from one place. That of "-" is standard input. */
static enum mr_code take_body(struct mr_call *call, const char **body, const char **body_file)
{
	struct mr_ctx *cx = &call->cx;
	struct mr_bytes bytes = { 0 };
	enum mr_code rc;

	if (*body && *body_file)
		return mr_err_set(&cx->err, MR_EINVAL,
			"--body and --body-file cannot be given together");
	if (!*body_file || !mr_str_eq(*body_file, "-"))
		return MR_OK;
	rc = mr_fs_read_fd(cx->arena, STDIN_FILENO, MR_WORK_DRAFT_BYTES, &bytes, &cx->err);
	if (rc == MR_ELIMIT)
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			"the text on standard input has more than %d bytes", MR_WORK_DRAFT_BYTES);
	if (rc)
		return mr_work_store_error(cx);
	if ((bytes.len && memchr(bytes.data, '\0', bytes.len)) ||
		!mr_utf8_is_valid((const char *)bytes.data, bytes.len, NULL))
		return mr_work_refuse(cx, MR_WORK_DRAFT_INVALID,
			"what is on standard input is not UTF-8 text");
	*body = bytes.len ? (const char *)bytes.data : "";
	*body_file = NULL;
	return MR_OK;
}

/* --- new --- */

static const struct mr_param new_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_draft_new),
	MR_PARAM(struct mr_work_draft_new, to, "to", .flags = MR_REQUIRED,
		.summary = "an address; may be repeated"),
	MR_PARAM(struct mr_work_draft_new, cc, "cc", .summary = "who gets a copy; may be repeated"),
	MR_PARAM(struct mr_work_draft_new, subject, "subject", .flags = MR_REQUIRED,
		.summary = "the subject"),
	IDENTITY_PARAM(struct mr_work_draft_new, "the default identity"),
	BODY_PARAMS(struct mr_work_draft_new),
	{ 0 },
};

#define CREATED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_draft_created, member, about)
static const struct mr_field created_fields[] = {
	CREATED_FIELD(case_uid, "the case"),
	MR_WORK_FIELD_OPT(struct mr_work_draft_created, message_id,
		"that is answered or passed on"),
	CREATED_FIELD(draft_name, "the name of its file"),
	CREATED_FIELD(draft_path, "where that is"),
	CREATED_FIELD(identity, "who writes"),
	{ 0 },
};

static enum mr_code make_new(struct mr_call *call, struct mr_work *work,
	struct mr_work_draft_new *request, struct mr_work_draft_created *result)
{
	enum mr_code rc = take_body(call, &request->body, &request->body_file);

	return rc ? rc : mr_work_draft_new(&call->cx, work, request, result);
}
MR_WORK_BIND_CALL(drafting, make_new, struct mr_work_draft_new, struct mr_work_draft_created);

const struct mr_op mr_op_work_case_draft_new = {
	.name = "work_case_draft_new",
	.command = "work case draft new",
	.summary = "Begin a mail in a case",
	.help = "The draft is a Markdown file of the case, to be edited by hand or with `draft change`. "
		"Nothing leaves the machine before it is queued and pushed.",
	.code = "draft_created",
	.params = new_params,
	.result = created_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &drafting,
	.render = mr_render_draft_created,
};

/* --- reply --- */

static const struct mr_param reply_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_draft_answer),
	MR_WORK_MESSAGE_PARAM(struct mr_work_draft_answer),
	MR_PARAM(struct mr_work_draft_answer, all, "all",
		.summary = "to all who got the message, not to its sender alone"),
	IDENTITY_PARAM(struct mr_work_draft_answer, "the default identity"),
	BODY_PARAMS(struct mr_work_draft_answer),
	{ 0 },
};

static enum mr_code reply(struct mr_call *call, struct mr_work *work,
	struct mr_work_draft_answer *request, struct mr_work_draft_created *result)
{
	enum mr_code rc = take_body(call, &request->body, &request->body_file);

	return rc ? rc : mr_work_draft_reply(&call->cx, work, request, result);
}
MR_WORK_BIND_CALL(replying, reply, struct mr_work_draft_answer, struct mr_work_draft_created);

const struct mr_op mr_op_work_case_draft_reply = {
	.name = "work_case_draft_reply",
	.command = "work case draft reply",
	.summary = "Begin an answer to a message of a case",
	.help = "The text is the message, quoted, unless one is given.",
	.code = "draft_created",
	.params = reply_params,
	.result = created_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &replying,
	.render = mr_render_draft_created,
};

/* Its older name. */
const struct mr_op mr_op_work_case_reply = {
	.name = "work_case_reply",
	.command = "work case reply",
	.summary = "Begin an answer to a message of a case",
	.code = "draft_created",
	.params = reply_params,
	.result = created_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.traits = MR_ABROAD | MR_HIDDEN,
	.contract = &mr_contract_work,
	.cluster = "workspace",
	.bind = &replying,
	.render = mr_render_draft_created,
};

/* --- forward --- */

static const struct mr_param forward_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_draft_answer),
	MR_WORK_MESSAGE_PARAM(struct mr_work_draft_answer),
	MR_PARAM(struct mr_work_draft_answer, to, "to", .summary = "an address; may be repeated"),
	IDENTITY_PARAM(struct mr_work_draft_answer, "the default identity"),
	BODY_PARAMS(struct mr_work_draft_answer),
	{ 0 },
};

static enum mr_code forward(struct mr_call *call, struct mr_work *work,
	struct mr_work_draft_answer *request, struct mr_work_draft_created *result)
{
	enum mr_code rc = take_body(call, &request->body, &request->body_file);

	return rc ? rc : mr_work_draft_forward(&call->cx, work, request, result);
}
MR_WORK_BIND_CALL(forwarding, forward, struct mr_work_draft_answer, struct mr_work_draft_created);

const struct mr_op mr_op_work_case_draft_forward = {
	.name = "work_case_draft_forward",
	.command = "work case draft forward",
	.summary = "Begin a mail that passes a message of a case on",
	.help = "The message is attached as it came.",
	.code = "draft_created",
	.params = forward_params,
	.result = created_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &forwarding,
	.render = mr_render_draft_created,
};

/* --- change --- */

#define DRAFT_NAME_PARAM(request_type)                                                             \
	MR_PARAM(request_type, draft_name, "draft_name", .flags = MR_REQUIRED | MR_POSITIONAL,     \
		.summary = "the name of the draft's file")

static const struct mr_param change_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_draft_change),
	DRAFT_NAME_PARAM(struct mr_work_draft_change),
	MR_PARAM(struct mr_work_draft_change, subject, "subject", .summary = "the new subject"),
	MR_PARAM(struct mr_work_draft_change, to, "to",
		.summary = "the new recipients; may be repeated"),
	MR_PARAM(struct mr_work_draft_change, cc, "cc",
		.summary = "who gets a copy now; may be repeated"),
	MR_PARAM(struct mr_work_draft_change, clear_cc, "clear_cc",
		.summary = "nobody gets a copy any more"),
	MR_PARAM(struct mr_work_draft_change, identity, "identity",
		.summary = "who writes now; the footer changes with it"),
	BODY_PARAMS(struct mr_work_draft_change),
	{ 0 },
};

#define CHANGED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_draft_changed, member, about)
static const struct mr_field changed_fields[] = {
	CHANGED_FIELD(case_uid, "the case"),
	CHANGED_FIELD(draft_name, "the name of its file"),
	CHANGED_FIELD(draft_path, "where that is"),
	CHANGED_FIELD(changed_fields, "of subject, to, cc, body and identity"),
	CHANGED_FIELD(draft_hash, "of the file"),
	CHANGED_FIELD(last_validated_rfc3339, "now: a change is checked"),
	{ 0 },
};

static enum mr_code change(struct mr_call *call, struct mr_work *work,
	struct mr_work_draft_change *request, struct mr_work_draft_changed *result)
{
	enum mr_code rc = take_body(call, &request->body, &request->body_file);

	if (!rc && request->cc.len && request->clear_cc)
		rc = mr_err_set(&call->cx.err, MR_EINVAL,
			"--cc and --clear-cc cannot be given together");
	return rc ? rc : mr_work_draft_change(&call->cx, work, request, result);
}
MR_WORK_BIND_CALL(changing, change, struct mr_work_draft_change, struct mr_work_draft_changed);

const struct mr_op mr_op_work_case_draft_change = {
	.name = "work_case_draft_change",
	.command = "work case draft change",
	.summary = "Change fields of a draft",
	.help = "What is not given stays. The result is checked before it is written: when it cannot "
		"be sent, the file stays as it was.",
	.code = "draft_changed",
	.params = change_params,
	.result = changed_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD | MR_IDEMPOTENT),
	.bind = &changing,
	.render = mr_render_draft_changed,
};

/* --- attach --- */

static const struct mr_param attach_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_draft_attach),
	DRAFT_NAME_PARAM(struct mr_work_draft_attach),
	MR_PARAM(struct mr_work_draft_attach, path, "path", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the file, from the working directory"),
	{ 0 },
};

#define ATTACHED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_draft_attached, member, about)
static const struct mr_field attached_fields[] = {
	ATTACHED_FIELD(case_uid, "the case"),
	ATTACHED_FIELD(draft_name, "the draft"),
	ATTACHED_FIELD(draft_path, "where its file is"),
	ATTACHED_FIELD(source_path, "the file that was named, absolute"),
	ATTACHED_FIELD(attachment, "the file as the draft names it"),
	ATTACHED_FIELD(file_path, "where that is"),
	ATTACHED_FIELD(copied, "it is a copy"),
	ATTACHED_FIELD(already_present, "it was attached before"),
	ATTACHED_FIELD(size_bytes, "of the file"),
	ATTACHED_FIELD(requires_validate, "the draft has to be checked again"),
	{ 0 },
};

MR_WORK_BIND(attaching, mr_work_draft_attach, struct mr_work_draft_attach,
	struct mr_work_draft_attached);

const struct mr_op mr_op_work_case_draft_attach = {
	.name = "work_case_draft_attach",
	.command = "work case draft attach",
	.summary = "Attach a file to a draft",
	.help = "A file of the case is named where it is; any other is copied into the case's files/.",
	.code = "draft_attachment_added",
	.params = attach_params,
	.result = attached_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &attaching,
	.render = mr_render_draft_attached,
};
