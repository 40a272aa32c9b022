/* op/mailbox/agents.c - operations: agents on this machine, and the mailboxes they have. */
#include "base/fs.h"
#include "mailbox/agent_make.h"
#include "mailbox/mail_open.h"
#include "op/bind.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/render_agent_mail.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const tools[] = { "claude", "codex", NULL };
static const char *const declared_transports[] = { "filesystem", "none", "stalwart", NULL };
static const char *const bound_transports[] = { "filesystem", "stalwart", NULL };

struct agent_request {
	const char *agent; /* a name or an id */
	const char *transport, *mailbox_root, *principal_id, *address, *mailbox_path;
	enum mr_mailbox_register_mode mode;
	const char *tool, *role, *tmux_session;
	const char *base_url, *jmap_url, *management_url, *login_identity, *password_file, *ca_file;
};

#define ASKED(member, ...) MR_PARAM(struct agent_request, member, __VA_ARGS__)
#define AGENT_PARAM                                                                                \
	ASKED(agent, "agent", .flags = MR_POSITIONAL, .summary = "its name or id",                 \
		.fallback = "the agent of this tmux session")
#define MAILBOX_PARAMS                                                                             \
	ROOT_PARAM,                                                                                \
		ASKED(principal_id, "principal_id", .summary = "who it is",                        \
			.fallback = "HOUMAO-NAME"),                                                \
		ASKED(address, "address", .summary = "its full address",                           \
			.fallback = "NAME@houmao.localhost"),                                      \
		ASKED(mailbox_path, "mailbox_path",                                                \
			.summary = "keep the mailbox in this private directory; the root links "   \
				   "to it"),                                                       \
		ASKED(mode, "mode", .summary = "what to do when the address is taken",             \
			.choices = mr_shape_mailbox_register_modes, .fallback = "safe"),           \
		SERVER_PARAMS
#define SERVER_PARAMS                                                                              \
	ASKED(base_url, "base_url",                                                                \
		.summary = "with --transport stalwart: the mail server; JMAP is at /jmap of it, "  \
			   "management at /api",                                                   \
		.fallback = "HOUMAO_STALWART_BASE_URL"),                                           \
		ASKED(jmap_url, "jmap_url", .summary = "where its JMAP session is, if not there"), \
		ASKED(management_url, "management_url",                                            \
			.summary = "where its management API is, if not there"),                   \
		ASKED(login_identity, "login_identity", .summary = "what the agent logs in as",    \
			.fallback = "the account's name"),                                         \
		ASKED(password_file, "password_file",                                              \
			.summary = "a file with the password of an account that is there; "        \
				   "without one the account is managed"),                          \
		ASKED(ca_file, "ca_file", .summary = "certificates by which the server is known")
#define ROOT_PARAM                                                                                 \
	ASKED(mailbox_root, "mailbox_root",                                                        \
		.summary = "the mailbox root, in place of the setting mailbox.root")

/* --- what is shown of an agent --- */

struct shown {
	int schema_version;
	const struct mr_mailbox_session *manifest;
	bool is_joined;
	const char *posture; /* or NULL */
	bool is_registered, is_bound;
	const char *activation; /* or NULL */
};

static const struct mr_field identity_fields[] = {
	MR_FIELD(struct mr_mailbox_session, agent_id, "agent_id", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_mailbox_session, agent_name, "agent_name", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_mailbox_session, agent_id, "tracked_agent_id", .flags = MR_NULLABLE),
	{ 0 },
};

static const struct mr_field backend_fields[] = {
	MR_FIELD(struct mr_mailbox_session, backend, "backend", .flags = MR_NULLABLE),
	{ 0 },
};

#define BINDING(member, ...) MR_FIELD(struct mr_mailbox_session, binding.member, __VA_ARGS__)

static const struct mr_field bound_fields[] = {
	BINDING(transport, "transport", .choices = mr_mailbox_transports),
	BINDING(principal_id, "principal_id", .flags = MR_OPTIONAL),
	BINDING(address, "address", .flags = MR_OPTIONAL),
	BINDING(root, "mailbox_root", .flags = MR_OPTIONAL),
	BINDING(jmap_url, "jmap_url", .flags = MR_OPTIONAL),
	BINDING(management_url, "management_url", .flags = MR_OPTIONAL),
	BINDING(login_identity, "login_identity", .flags = MR_OPTIONAL),
	BINDING(credential_ref, "credential_ref", .flags = MR_OPTIONAL),
	BINDING(version, "bindings_version", .flags = MR_OPTIONAL),
	{ 0 },
};

static const struct mr_field session_fields[] = {
	MR_FIELD(struct mr_mailbox_session, tmux_session, "tmux_session_name",
		.flags = MR_NULLABLE),
	MR_FIELD(struct mr_mailbox_session, path, "manifest_path"),
	{ 0 },
};

/* Nothing is said of a mailbox that is not there. */
static void put_bound(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_mailbox_session *const *manifest = from;

	(void)key;
	if ((*manifest)->binding.transport != MR_MAILBOX_UNBOUND)
		mr_bind_members(out, bound_fields, *manifest);
}

#define SHOWN(member, ...) MR_FIELD(struct shown, member, __VA_ARGS__)
#define MANIFEST(its_fields)                                                                       \
	MR_MEMBERS(struct shown, manifest, struct mr_mailbox_session, its_fields)

static const struct mr_field status_fields[] = {
	SHOWN(schema_version, "schema_version"),
	MANIFEST(identity_fields),
	MANIFEST(backend_fields),
	SHOWN(is_joined, "joined_session"),
	SHOWN(posture, "posture_kind", .flags = MR_NULLABLE),
	SHOWN(is_registered, "registered"),
	SHOWN(is_bound, "runtime_mailbox_enabled"),
	SHOWN(activation, "activation_state", .flags = MR_NULLABLE),
	{ .name = "*",
		.flags = MR_INCLUDED,
		.fields = bound_fields,
		.from = MR_FROM_STRUCT(struct shown, manifest, struct mr_mailbox_session),
		.emit = put_bound },
	{ 0 },
};

static const struct mr_field show_fields[] = {
	MR_MEMBERS_SAME(struct shown, status_fields),
	MANIFEST(session_fields),
	{ 0 },
};

/* Does the root still have the address for this principal; is there a credential for the server? */
static bool is_registered(struct mr_call *call, const struct mr_mailbox_session *manifest)
{
	struct mr_mail mail MR_CLEANUP(mr_mail_close) = MR_MAIL_INIT;

	return manifest->binding.transport != MR_MAILBOX_UNBOUND &&
		!mr_mail_open(&call->cx, manifest->dir, &manifest->binding, true, &mail) &&
		mr_str_eq(mail.principal_id, manifest->binding.principal_id);
}

static struct shown show(struct mr_call *call, const struct mr_mailbox_session *manifest)
{
	const struct mr_value *authority = mr_value_get(manifest->value, "agent_launch_authority");
	bool is_bound = manifest->binding.transport != MR_MAILBOX_UNBOUND;

	return (struct shown){
		.schema_version = 1,
		.manifest = mr_arena_memdup(call->cx.arena, manifest, sizeof(*manifest)),
		.is_joined = mr_str_eq(mr_mailbox_session_text(authority, "session_origin"),
			"joined_tmux"),
		.posture = mr_mailbox_session_text(authority, "posture_kind"),
		.is_registered = is_registered(call, manifest),
		.is_bound = is_bound,
		.activation = is_bound ? "active" : NULL,
	};
}

/* --- create --- */

static const struct mr_param create_params[] = {
	ASKED(agent, "name", .flags = MR_REQUIRED | MR_POSITIONAL, .summary = "what it is called"),
	ASKED(transport, "transport", .choices = declared_transports,
		.summary = "how it gets mail; none: not at all", .fallback = "filesystem"),
	MAILBOX_PARAMS,
	ASKED(tool, "tool", .choices = tools, .summary = "the agent's program",
		.fallback = "claude"),
	ASKED(role, "role", .summary = "its role", .fallback = "its name"),
	ASKED(tmux_session, "tmux_session", .summary = "the tmux session that it runs in",
		.fallback = "this one, unless it is another agent's, else one of its name"),
	{ 0 },
};

/* --- the account on a server --- */

enum { PASSWORD_BYTES = 4096 };

/* The first line of the file. */
static enum mr_code read_password(struct mr_call *call, const char *path, const char **out)
{
	struct mr_bytes bytes;
	size_t len;
	enum mr_code rc =
		mr_fs_read(call->cx.arena, AT_FDCWD, path, PASSWORD_BYTES, &bytes, &call->cx.err);

	if (rc)
		return mr_err_wrap(&call->cx.err, "--password-file");
	len = strcspn((const char *)bytes.data, "\r\n");
	if (len == 0)
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"--password-file: the first line of %s holds no password", path);
	*out = mr_arena_strndup(call->cx.arena, (const char *)bytes.data, len);
	return MR_OK;
}

/* The server that the environment names stands for one that is not said. */
static enum mr_code declare_server(struct mr_call *call, const struct agent_request *asked,
	struct mr_mailbox_declared *declared, struct mr_mailbox_account_request *account)
{
	bool is_server = mr_str_eq(declared->transport, bound_transports[1]);
	enum mr_code rc = MR_OK;

	if (!is_server &&
		(asked->base_url || asked->jmap_url || asked->management_url ||
			asked->login_identity || asked->password_file || asked->ca_file))
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"options of a mail server are only supported with --transport stalwart");
	if (!is_server)
		return MR_OK;
	declared->base_url = asked->base_url;
	declared->jmap_url = asked->jmap_url;
	declared->management_url = asked->management_url;
	declared->login = asked->login_identity;
	if (!declared->base_url && !declared->jmap_url)
		declared->base_url = getenv("HOUMAO_STALWART_BASE_URL");
	*account = (struct mr_mailbox_account_request){
		.ca_file = asked->ca_file,
		.has_login = asked->login_identity != NULL,
		.management = { getenv("HOUMAO_STALWART_MANAGEMENT_BEARER_TOKEN"),
			getenv("HOUMAO_STALWART_MANAGEMENT_API_KEY"),
			getenv("HOUMAO_STALWART_MANAGEMENT_API_SECRET") },
	};
	if (asked->password_file)
		rc = read_password(call, asked->password_file, &account->password);
	return rc ? rc
		  : mr_mail_session_overlay(call, "agents.runtime", "runtime", &account->runtime);
}

static enum mr_code declare(struct mr_call *call, const struct agent_request *asked,
	const char *agent_name, const char *tool, const char *role, struct mr_mailbox_declared *out,
	struct mr_mailbox_account_request *account)
{
	enum mr_code rc = MR_OK;

	*out = (struct mr_mailbox_declared){
		.transport = asked->transport ? asked->transport : declared_transports[0],
		.principal_id = asked->principal_id,
		.address = asked->address,
		.root = asked->mailbox_root,
		.path = asked->mailbox_path,
		.agent_name = agent_name,
		.tool = tool,
		.role = role,
	};
	if (!out->root)
		rc = mr_mail_session_overlay(call, "mailbox.root", "mailbox", &out->root);
	return rc ? rc : declare_server(call, asked, out, account);
}

/* The name of this tmux session, unless it is that of an agent, as when one agent makes others. */
static const char *free_tmux_session(struct mr_call *call, const struct mr_mailbox_place *place)
{
	const char *name = mr_mailbox_agent_tmux(&call->cx, place);
	struct mr_mailbox_records records = { NULL, 0 };
	struct mr_err before = call->cx.err;

	if (!name || mr_mailbox_registry_list(&call->cx, place->registry, &records)) {
		call->cx.err = before;
		return name;
	}
	for (size_t i = 0; i < records.len; i++) {
		const struct mr_value *terminal = mr_value_get(records.items[i].value, "terminal");

		if (mr_str_eq(records.items[i].state, "active") &&
			mr_str_eq(mr_mailbox_session_text(terminal, "current_session_name"), name))
			return NULL;
	}
	return name;
}

static enum mr_code make_session(struct mr_call *call, const struct agent_request *asked,
	const struct mr_mailbox_place *place, struct mr_mailbox_session *out)
{
	struct mr_mailbox_declared declared;
	struct mr_mailbox_account_request account = { .session = NULL };
	char cwd[PATH_MAX];
	struct mr_mailbox_agent_new request = {
		.registry = place->registry,
		.name = asked->agent,
		.tool = asked->tool ? asked->tool : tools[0],
		.role = asked->role,
		.tmux_session = asked->tmux_session,
		.directory = cwd,
		.home = getenv("HOME") ? getenv("HOME") : "/",
		.mode = asked->mode,
	};
	enum mr_code rc =
		mr_mail_session_overlay(call, "agents.runtime", "runtime", &request.runtime);

	if (!rc && !getcwd(cwd, sizeof(cwd)))
		rc = mr_err_set(&call->cx.err, MR_EIO,
			"the working directory is not there any more");
	if (!rc && !request.tmux_session && place->tmux)
		request.tmux_session = free_tmux_session(call, place);
	if (!rc)
		rc = declare(call, asked, request.name, request.tool,
			request.role ? request.role : request.name, &declared, &account);
	if (!rc && !mr_str_eq(declared.transport, declared_transports[1]))
		request.mailbox = &declared;
	request.account = &account;
	return rc ? rc : mr_mailbox_agent_create(&call->cx, &request, out);
}

static enum mr_code create(struct mr_call *call, const struct agent_request *asked,
	struct shown *out)
{
	struct mr_mailbox_place place;
	struct mr_mailbox_session manifest;
	enum mr_code rc = mr_mail_session_place(call, &place);

	if (!rc)
		rc = make_session(call, asked, &place, &manifest);
	if (!rc)
		*out = show(call, &manifest);
	return rc;
}
MR_BIND_ALONE(creating, create, struct agent_request, struct shown);

const struct mr_op mr_op_agents_create = {
	.name = "agents_create",
	.command = "agents create",
	.summary = "Make a session for an agent, with a mailbox",
	.help = "For agents that no other runtime manages. Set HOUMAO_MANIFEST_PATH to the manifest "
		"in the tmux session where the agent runs, and mailroom mail knows there whose "
		"mail is meant.",
	.params = create_params,
	.result = show_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &creating,
	.render = mr_render_mail_agent,
};

/* --- list --- */

struct listed {
	int schema_version;
	struct row {
		const char *agent_id, *agent_name, *state, *address, *root, *manifest_path,
			*problem;
	} * agents;
	size_t len;
};

#define ROW(member, ...) MR_FIELD(struct row, member, __VA_ARGS__)

static const struct mr_field row_fields[] = {
	ROW(agent_id, "agent_id"),
	ROW(agent_name, "agent_name", .flags = MR_NULLABLE),
	ROW(state, "state", .flags = MR_NULLABLE),
	ROW(address, "address", .flags = MR_NULLABLE),
	ROW(root, "mailbox_root", .flags = MR_NULLABLE),
	ROW(manifest_path, "manifest_path", .flags = MR_NULLABLE),
	ROW(problem, "problem", .flags = MR_NULLABLE, .summary = "why the agent cannot be used"),
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_FIELD(struct listed, schema_version, "schema_version"),
	MR_FIELD_ROWS(struct listed, agents, len, struct row, row_fields, "agents"),
	{ 0 },
};

static struct row list_one(struct mr_call *call, const struct mr_mailbox_record *record)
{
	struct mr_mailbox_session manifest;
	struct row row = {
		.agent_id = record->agent_id,
		.agent_name = record->agent_name,
		.state = record->state,
		.manifest_path = record->manifest_path,
		.problem = record->problem,
	};

	if (row.problem)
		return row;
	if (mr_mailbox_registry_manifest(&call->cx, record, &manifest)) {
		row.problem = mr_arena_strdup(call->cx.arena, call->cx.err.msg);
		return row;
	}
	row.address = manifest.binding.address;
	row.root = manifest.binding.root;
	return row;
}

static int by_name(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	return strcmp(one->agent_name ? one->agent_name : "",
		other->agent_name ? other->agent_name : "");
}

static enum mr_code list(struct mr_call *call, const struct mr_nothing *asked, struct listed *out)
{
	struct mr_mailbox_place place;
	struct mr_mailbox_records records = { NULL, 0 };
	enum mr_code rc = mr_mail_session_place(call, &place);

	(void)asked;
	if (!rc)
		rc = mr_mailbox_registry_list(&call->cx, place.registry, &records);
	if (rc)
		return rc;
	out->schema_version = 1;
	out->agents = mr_arena_array(call->cx.arena, records.len + 1, sizeof(*out->agents));
	for (; out->len < records.len; out->len++)
		out->agents[out->len] = list_one(call, &records.items[out->len]);
	qsort(out->agents, out->len, sizeof(*out->agents), by_name);
	return MR_OK;
}
MR_BIND_ALONE(listing, list, struct mr_nothing, struct listed);

const struct mr_op mr_op_agents_list = {
	.name = "agents_list",
	.command = "agents list",
	.summary = "List the agents of this machine",
	.result = list_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &listing,
	.render = mr_render_mail_agents,
};

/* --- show --- */

static const struct mr_param agent_params[] = { AGENT_PARAM, { 0 } };

static enum mr_code show_agent(struct mr_call *call, const struct agent_request *asked,
	struct shown *out)
{
	struct mr_mailbox_place place;
	struct mr_mailbox_agent agent;
	enum mr_code rc = mr_mail_session_agent(call, asked->agent, &place, &agent);

	if (!rc)
		*out = show(call, &agent.manifest);
	return rc;
}
MR_BIND_ALONE(showing, show_agent, struct agent_request, struct shown);

const struct mr_op mr_op_agents_show = {
	.name = "agents_show",
	.command = "agents show",
	.summary = "Show an agent and the mailbox it has",
	.params = agent_params,
	.result = show_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &showing,
	.render = mr_render_mail_agent,
};

/* The same with the keys of the reference alone. */
const struct mr_op mr_op_agents_mailbox_status = {
	.name = "agents_mailbox_status",
	.command = "agents mailbox status",
	.summary = "Show the mailbox that an agent has",
	.params = agent_params,
	.result = status_fields,
	.traits = MR_HIDDEN,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &showing,
	.render = mr_render_mail_agent,
};

/* --- bind --- */

static const struct mr_param bind_params[] = {
	AGENT_PARAM,
	ASKED(transport, "transport", .choices = bound_transports,
		.summary = "where its mail is: in a mailbox root, or on a JMAP server",
		.fallback = "filesystem"),
	MAILBOX_PARAMS,
	{ 0 },
};

struct bound {
	int schema_version;
	const struct mr_mailbox_session *manifest;
	const char *activation;
	const struct mr_mailbox_register_result *registered; /* one of these two */
	const struct mr_mailbox_account_result *account;
};

#define ACCOUNT(member, ...) MR_FIELD(struct mr_mailbox_account_result, member, __VA_ARGS__)

static const struct mr_field account_fields[] = {
	ACCOUNT(was_managed, "managed", .summary = "the server's management was asked"),
	ACCOUNT(was_created, "created"),
	ACCOUNT(has_new_password, "new_password"),
	{ 0 },
};

static const struct mr_field bind_fields[] = {
	MR_FIELD(struct bound, schema_version, "schema_version"),
	MR_MEMBERS(struct bound, manifest, struct mr_mailbox_session, identity_fields),
	MR_MEMBERS(struct bound, manifest, struct mr_mailbox_session, bound_fields),
	MR_FIELD(struct bound, activation, "activation_state"),
	MR_FIELD_STRUCT(struct bound, registered, struct mr_mailbox_register_result,
		mr_shape_mailbox_register_fields, "shared_registration", .flags = MR_OPTIONAL),
	MR_FIELD_STRUCT(struct bound, account, struct mr_mailbox_account_result, account_fields,
		"account", .flags = MR_OPTIONAL, .summary = "on the mail server"),
	{ 0 },
};

/* When mode safe meets an existing mailbox, ask a person whether to replace it. */
static enum mr_code bind_or_ask(struct mr_call *call, const char *registry,
	const struct mr_mailbox_declared *declared, enum mr_mailbox_register_mode mode,
	const struct mr_mailbox_account_request *account, struct mr_mailbox_session *manifest,
	struct mr_mailbox_agent_bound *out)
{
	enum mr_code rc =
		mr_mailbox_agent_bind(&call->cx, registry, declared, mode, account, manifest, out);

	if (rc != MR_ECONFLICT || mode != MR_MAILBOX_SAFE ||
		!mr_str_eq(declared->transport, bound_transports[0]))
		return rc;
	rc = mr_mailbox_ops_replace(call);
	return rc ? rc
		  : mr_mailbox_agent_bind(&call->cx, registry, declared, MR_MAILBOX_FORCE, account,
			    manifest, out);
}

static enum mr_code bind_agent(struct mr_call *call, const struct agent_request *asked,
	struct bound *out)
{
	struct mr_mailbox_place place;
	struct mr_mailbox_agent agent;
	struct mr_mailbox_declared declared;
	struct mr_mailbox_account_request account = { .session = NULL };
	struct mr_mailbox_agent_bound *bound = mr_arena_alloc(call->cx.arena, sizeof(*bound));
	enum mr_code rc = mr_mail_session_agent(call, asked->agent, &place, &agent);

	if (!rc)
		rc = declare(call, asked, agent.manifest.agent_name, agent.manifest.tool,
			mr_mailbox_session_text(agent.manifest.value, "role_name"), &declared,
			&account);
	if (!rc && asked->mode == MR_MAILBOX_FORCE)
		rc = mr_dispatch_confirm(call, "Whatever holds the address is replaced. Go on?");
	if (!rc)
		rc = bind_or_ask(call, place.registry, &declared, asked->mode, &account,
			&agent.manifest, bound);
	if (rc)
		return rc;
	out->registered = bound->is_account ? NULL : &bound->registered;
	out->account = bound->is_account ? &bound->account : NULL;
	out->schema_version = 1;
	out->manifest = mr_arena_memdup(call->cx.arena, &agent.manifest, sizeof(agent.manifest));
	out->activation = "active";
	return MR_OK;
}
MR_BIND_ALONE(binding, bind_agent, struct agent_request, struct bound);

const struct mr_op mr_op_agents_bind = {
	.name = "agents_bind",
	.command = "agents bind",
	.summary = "Give an agent a mailbox, or another one",
	.params = bind_params,
	.result = bind_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &binding,
	.render = mr_render_mail_bound,
};

/* --- unbind and remove --- */

struct unbound {
	int schema_version;
	const struct mr_mailbox_session *manifest;
	const char *address, *root; /* of the mailbox that it had; or NULL */
	const char *jmap_url;       /* or NULL */
	bool removed;
};

static const struct mr_field unbind_fields[] = {
	MR_FIELD(struct unbound, schema_version, "schema_version"),
	MR_MEMBERS(struct unbound, manifest, struct mr_mailbox_session, identity_fields),
	MR_FIELD(struct unbound, address, "address", .flags = MR_NULLABLE),
	MR_FIELD(struct unbound, root, "mailbox_root", .flags = MR_NULLABLE),
	MR_FIELD(struct unbound, jmap_url, "jmap_url", .flags = MR_OPTIONAL),
	MR_FIELD(struct unbound, removed, "removed", .summary = "the agent itself, too"),
	{ 0 },
};

static struct unbound tell_unbound(struct mr_call *call, const struct mr_mailbox_session *manifest,
	bool removed)
{
	return (struct unbound){
		.schema_version = 1,
		.manifest = mr_arena_memdup(call->cx.arena, manifest, sizeof(*manifest)),
		.address = manifest->binding.address,
		.root = manifest->binding.root,
		.jmap_url = manifest->binding.jmap_url,
		.removed = removed,
	};
}

static enum mr_code unbind_agent(struct mr_call *call, const struct agent_request *asked,
	struct unbound *out)
{
	struct mr_mailbox_place place;
	struct mr_mailbox_agent agent;
	enum mr_code rc = mr_mail_session_agent(call, asked->agent, &place, &agent);

	if (rc)
		return rc;
	*out = tell_unbound(call, &agent.manifest, false);
	return mr_mailbox_agent_unbind(&call->cx, place.registry, &agent.manifest);
}
MR_BIND_ALONE(unbinding, unbind_agent, struct agent_request, struct unbound);

const struct mr_op mr_op_agents_unbind = {
	.name = "agents_unbind",
	.command = "agents unbind",
	.summary = "Take an agent's mailbox away from it; the mail stays",
	.params = agent_params,
	.result = unbind_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &unbinding,
	.render = mr_render_mail_unbound,
};

/* Also one whose session's directory is gone: the record is all there is of it. */
static enum mr_code find_removed(struct mr_call *call, const char *named,
	struct mr_mailbox_place *place, struct mr_mailbox_agent *out)
{
	enum mr_code rc = mr_mail_session_agent(call, named, place, out);
	struct mr_err why = call->cx.err;

	if (rc != MR_ENOTFOUND)
		return rc;
	if (!mr_mailbox_agent_lost(&call->cx, place->registry, named, &out->manifest))
		return MR_OK;
	call->cx.err = why;
	return rc;
}

static enum mr_code remove_agent(struct mr_call *call, const struct agent_request *asked,
	struct unbound *out)
{
	struct mr_mailbox_place place;
	struct mr_mailbox_agent agent = { .ref = NULL };
	enum mr_code rc = find_removed(call, asked->agent, &place, &agent);

	if (!rc)
		rc = mr_mailbox_agent_remove(&call->cx, place.registry, &agent.manifest);
	if (!rc)
		*out = tell_unbound(call, &agent.manifest, true);
	return rc;
}
MR_BIND_ALONE(removing, remove_agent, struct agent_request, struct unbound);

static const struct mr_param remove_params[] = {
	ASKED(agent, "agent", .flags = MR_REQUIRED | MR_POSITIONAL, .summary = "its name or id"),
	{ 0 },
};

const struct mr_op mr_op_agents_remove = {
	.name = "agents_remove",
	.command = "agents remove",
	.summary = "Remove an agent that was made here; its mail stays",
	.params = remove_params,
	.result = unbind_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &removing,
	.render = mr_render_mail_unbound,
};
