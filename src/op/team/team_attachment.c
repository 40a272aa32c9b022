/* op/team/team_attachment.c - operation: a file that came with a message. */
#include "op/team/team_ops.h"
#include "team/ask.h"
#include "team/attachment.h"
#include "text/token.h"

struct asked {
	const char *project_key;
	int64_t message_id, number;
};

static const struct mr_param params[] = {
	MR_TEAM_PROJECT(struct asked),
	MR_PARAM(struct asked, message_id, "message_id", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the message's id"),
	MR_PARAM(struct asked, number, "number", .flags = MR_POSITIONAL,
		.summary = "which of its files, from 1", .fallback = "1"),
	{ 0 },
};

struct file {
	struct mr_team_attachment found;
	int64_t bytes;
	const char *data_base64;
};

static const struct mr_field fields[] = {
	MR_FIELD(struct file, found.name, "name"),
	MR_FIELD(struct file, found.path, "path", .summary = "below the project's directory"),
	MR_FIELD(struct file, found.media_type, "media_type", .flags = MR_NULLABLE,
		.summary = "as it was found to be when it was stored"),
	MR_FIELD(struct file, bytes, "bytes"),
	MR_FIELD(struct file, data_base64, "data_base64"),
	{ 0 },
};

static enum mr_code get_attachment(struct mr_call *call, struct mr_team *team,
	const struct asked *asked, struct file *out)
{
	struct mr_ctx *cx = &call->cx;
	struct mr_team_item item;
	struct mr_team_project project;
	enum mr_code rc = mr_team_ask_message(cx, team, &call->rights, asked->project_key,
		asked->message_id, NULL, &item);

	if (!rc)
		rc = mr_team_ask_of(cx, team, item.message.project_id, &project);
	if (!rc)
		rc = mr_team_attachment_read(cx, team, &project, item.message.attachments,
			asked->number, &out->found);
	if (rc)
		return rc;
	out->bytes = (int64_t)out->found.data.len;
	out->data_base64 = mr_token_base64(cx->arena, out->found.data);
	return MR_OK;
}
MR_TEAM_BIND_CALL(attachment, get_attachment, struct asked, struct file);

const struct mr_op mr_op_team_attachment = {
	.name = "get_attachment",
	.command = "team attachment",
	.summary = "A file that came with a message",
	.help = "With --json the whole of it, in Base64. It also lies in the project's archive, at "
		"the path that is shown.",
	.params = params,
	.result = fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &attachment,
};
