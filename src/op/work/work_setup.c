/* op/work/work_setup.c - operation: connect a workspace with a mail account. */
#include "base/fs.h"
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETUP_PARAM(member, name, about)                                                           \
	MR_PARAM(struct mr_work_setup, member, name, .summary = (about))

static const struct mr_param setup_params[] = {
	MR_PARAM(struct mr_work_setup, address, "address", .flags = MR_POSITIONAL,
		.summary = "your e-mail address; asked for on a terminal"),
	SETUP_PARAM(name, "name", "your name, as recipients see it"),
	SETUP_PARAM(provider, "provider",
		"the provider, when the address does not tell: gmail, microsoft365, fastmail, ..."),
	SETUP_PARAM(username, "username", "the name to log in with, when it is not the address"),
	SETUP_PARAM(imap.host, "imap_host", "the IMAP server"),
	MR_PARAM(struct mr_work_setup, imap.port, "imap_port", .summary = "its port",
		.fallback = "993, or 143 with STARTTLS"),
	MR_PARAM(struct mr_work_setup, imap.security, "imap_security",
		.choices = mr_work_security_names,
		.summary = "how its connection is encrypted; auto goes by the port",
		.fallback = "auto"),
	SETUP_PARAM(smtp.host, "smtp_host", "the SMTP server"),
	MR_PARAM(struct mr_work_setup, smtp.port, "smtp_port", .summary = "its port",
		.fallback = "587, or 465 with TLS"),
	MR_PARAM(struct mr_work_setup, smtp.security, "smtp_security",
		.choices = mr_work_security_names,
		.summary = "how its connection is encrypted; auto goes by the port",
		.fallback = "auto"),
	SETUP_PARAM(no_smtp, "no_smtp", "read mail only; smtp.* stays as it is"),
	SETUP_PARAM(ca_file, "ca_file", "certificates of a private authority, in PEM"),
	MR_PARAM(struct mr_work_setup, auth, "auth", .choices = mr_work_auth_names,
		.summary = "how to log in", .fallback = "auto"),
	SETUP_PARAM(password_stdin, "password_stdin", "read the password from standard input"),
	SETUP_PARAM(password_env, "password_env",
		"the environment variable that has the password: NAME_SECRET"),
	SETUP_PARAM(password_file, "password_file",
		"the file with the password, of mode 0600; written when the password is given"),
	SETUP_PARAM(password_command, "password_command",
		"the program, with arguments, that prints the password"),
	SETUP_PARAM(keyring, "keyring", "keep the password in the desktop's keyring"),
	SETUP_PARAM(inline_password, "inline_password",
		"keep the password in the configuration itself, where every backup has it"),
	SETUP_PARAM(token_command, "token_command",
		"the program, with arguments, that prints an access token of OAuth"),
	SETUP_PARAM(token_file, "token_file", "the file with an access token of OAuth"),
	{ 0 },
};

#define SERVER_FIELD(member, about) MR_WORK_FIELD(struct mr_work_setup_server, member, about)
static const struct mr_field server_fields[] = {
	SERVER_FIELD(host, "of the server"),
	SERVER_FIELD(port, "of the server"),
	MR_FIELD(struct mr_work_setup_server, security, "security",
		.choices = mr_work_security_names, .summary = "tls, starttls or none"),
	SERVER_FIELD(username, "to log in with"),
	{ 0 },
};

#define DONE_FIELD(member, about) MR_WORK_FIELD(struct mr_work_setup_done, member, about)
static const struct mr_field setup_fields[] = {
	DONE_FIELD(address, "of the account"),
	DONE_FIELD(identity, "the identity that mail is sent as"),
	DONE_FIELD(name, "of the sender"),
	MR_WORK_FIELD_NULL(struct mr_work_setup_done, provider, "when it is one of the table"),
	MR_FIELD_STRUCT(struct mr_work_setup_done, imap, struct mr_work_setup_server, server_fields,
		"imap", .summary = "the server that mail comes from"),
	MR_FIELD_STRUCT(struct mr_work_setup_done, smtp, struct mr_work_setup_server, server_fields,
		"smtp", .flags = MR_NULLABLE,
		.summary = "the server that sends; null with --no-smtp"),
	MR_FIELD(struct mr_work_setup_done, password_place, "password_place",
		.choices = mr_work_setup_place_names, .summary = "where the password or token is"),
	MR_WORK_FIELD_NULL(struct mr_work_setup_done, password_where,
		"the file, variable, program or entry"),
	DONE_FIELD(keeps_sent, "the provider files sent mail by itself, so a push does not"),
	DONE_FIELD(hint, "what to do now"),
	{ 0 },
};

/* The first line of standard input. */
static enum mr_code read_password(struct mr_ctx *cx, const char **out)
{
	struct mr_bytes bytes;
	enum mr_code rc =
		mr_fs_read_fd(cx->arena, STDIN_FILENO, MR_WORK_SECRET_BYTES, &bytes, &cx->err);
	const char *text = (const char *)bytes.data;

	if (rc)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--password-stdin: standard input cannot be read: %s", cx->err.msg);
	if (!bytes.len || !strcspn(text, "\r\n"))
		return mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"--password-stdin: the first line of standard input is empty");
	*out = mr_arena_strndup(cx->arena, text, strcspn(text, "\r\n"));
	return MR_OK;
}

/* What was not given is asked for, where somebody is there. */
static enum mr_code complete(struct mr_call *call, struct mr_work_setup *request)
{
	if (request->password_stdin) {
		enum mr_code rc = read_password(&call->cx, &request->password);

		if (rc)
			return rc;
	}
	if (!call->ask || request->password_stdin)
		return MR_OK;
	if (!request->address)
		request->address = call->ask(call->cx.arena, "E-mail address: ", false);
	if (request->address && !request->name)
		request->name = call->ask(call->cx.arena,
			"Your name, as recipients see it (empty: as it is): ", false);
	if (request->name && !*request->name)
		request->name = NULL;
	return MR_OK;
}

static enum mr_code plan(struct mr_call *call, const struct mr_work_setup *request,
	struct mr_work_setup_plan *out)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc = mr_contract_work_open(call, MR_WORK_READ, &work);

	if (!rc)
		rc = mr_work_setup_plan(&call->cx, work, request, out);
	if (rc || !out->needs_password)
		return rc;
	mr_work_closep(&work); /* nobody waits for somebody who types */
	if (call->ask)
		out->password = call->ask(call->cx.arena, out->question, true);
	return out->password && *out->password ? MR_OK : call->cx.err.code;
}

/* The workspace is locked for a moment before and after, never while a server is waited for. */
static enum mr_code setup(struct mr_call *call, struct mr_work_setup *request,
	struct mr_work_setup_done *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	struct mr_work_setup_plan planned = { 0 };
	const char *root = NULL;
	enum mr_code rc = mr_contract_work_root(call, &root);

	request->environment = getenv;
	if (!rc)
		rc = complete(call, request);
	if (!rc)
		rc = plan(call, request, &planned);
	if (!rc)
		rc = mr_work_setup_test(&call->cx, &planned);
	if (!rc)
		rc = mr_contract_work_open(call, MR_WORK_WRITE, &work);
	return rc ? rc : mr_work_setup_store(&call->cx, work, &planned, result);
}
MR_BIND_ALONE(setting_up, setup, struct mr_work_setup, struct mr_work_setup_done);

const struct mr_op mr_op_work_setup = {
	.name = "work_setup",
	.command = "work setup",
	.summary = "Connect the workspace with a mail account",
	.help = "Finds the servers of the address, logs in to both, and writes imap.*, smtp.* and the "
		"identity only when that worked. Nothing is changed on the server, and nothing is "
		"sent. On a terminal it asks for what was not given. A password is kept in a file of "
		"mode 0600 unless another place is named.",
	.code = "setup_result",
	.params = setup_params,
	.result = setup_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &setting_up,
	.render = mr_render_work_set_up,
};
