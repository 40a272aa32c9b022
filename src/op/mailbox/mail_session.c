/* op/mailbox/mail_session.c - finds the agent that a mail command is for, and opens its mail. */
#include "op/mailbox/mail_session.h"

#include "app/locations.h"
#include "app/settings.h"
#include "base/fs.h"
#include "base/shelf.h"
#include "mailbox/gateway.h"
#include "mailbox/mail_gateway.h"
#include "mailbox/mail_open.h"
#include "op/contract.h"
#include "op/mailbox/mailbox_ops.h"
#include "text/time.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const mr_mail_executions[] = { "manager_direct", "gateway_backed", "tui_submission",
	NULL };

static const char NO_AGENT[] = "(unnamed)";

/* --- what was given --- */

struct mr_mail_selected mr_mail_session_selected(const struct mr_invocation *how)
{
	struct mr_mail_selected out = { { NULL, NULL }, NULL, NULL, NULL };
	const struct {
		const char *option;
		const char **into;
	} options[] = {
		{ MR_MAIL_AGENT_ID, &out.agent.agent_id },
		{ MR_MAIL_AGENT_NAME, &out.agent.agent_name },
		{ MR_MAIL_PORT, &out.port },
		{ MR_MAIL_ADDRESS, &out.address },
		{ MR_MAIL_ROOT, &out.mailbox_root },
	};

	for (size_t i = 0; how && i < how->given_count; i++) {
		for (size_t o = 0; o < MR_LEN(options); o++) {
			if (mr_str_eq(how->given[i].option, options[o].option))
				*options[o].into = how->given[i].value;
		}
	}
	return out;
}

static bool is_blank(const char *text)
{
	return text && text[strspn(text, " \t\r\n")] == '\0';
}

static enum mr_code check_port(const struct mr_mail_selected *selected, struct mr_err *err)
{
	int64_t port;

	if (!selected->port)
		return MR_OK;
	if (!selected->agent.agent_id && !selected->agent.agent_name)
		return mr_err_set(err, MR_EINVAL,
			"--port is only supported with --agent-id or --agent-name");
	if (!mr_str_to_int(selected->port, &port) || port < 1 || port > 65535)
		return mr_err_set(err, MR_EINVAL, "--port must be between 1 and 65535");
	return MR_OK;
}

/* As where an agent is missing, not as where an option is wrong. */
static enum mr_code refuse_unselected(struct mr_err *err)
{
	mr_err_set(err, MR_EINVAL, "name the agent with --agent-name or --agent-id");
	return mr_err_word(err, "agent_not_named");
}

enum mr_code mr_mail_session_check(const struct mr_mail_selected *selected, const char *command,
	struct mr_err *err)
{
	const struct mr_mailbox_selector *agent = &selected->agent;
	bool is_named = agent->agent_id || agent->agent_name;

	if (agent->agent_id && agent->agent_name)
		return mr_err_set(err, MR_EINVAL, "give --agent-id or --agent-name, not both");
	if (is_blank(agent->agent_id) || is_blank(agent->agent_name))
		return mr_err_set(err, MR_EINVAL, "%s must not be blank",
			agent->agent_id ? MR_MAIL_AGENT_ID : MR_MAIL_AGENT_NAME);
	if (is_named && selected->address)
		return mr_err_set(err, MR_EINVAL, "give an agent or --address, not both");
	if (selected->mailbox_root && !selected->address)
		return mr_err_set(err, MR_EINVAL,
			"--mailbox-root is only supported with --address: an agent's binding "
			"names its root");
	if (mr_str_starts(command, "agents self ") && (is_named || selected->port))
		return mr_err_set(err, MR_EINVAL,
			"agents self is about the agent of this session: it takes no --agent-id, "
			"--agent-name or --port");
	if (mr_str_starts(command, "agents single ") && !is_named)
		return refuse_unselected(err);
	return check_port(selected, err);
}

/* --- where the caller is --- */

static enum mr_code find_registry(struct mr_call *call, const char **out)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	enum mr_code rc =
		mr_settings_path(call->app->settings, "agents.registry", out, &call->cx.err);

	if (rc || **out)
		return rc;
	if (config && config[0] == '/')
		*out = mr_arena_printf(call->cx.arena, "%s/houmao/registry", config);
	else if (home && home[0] == '/')
		*out = mr_arena_printf(call->cx.arena, "%s/.config/houmao/registry", home);
	else
		return mr_err_set(&call->cx.err, MR_ENOTFOUND,
			"without HOME there is no registry of agents; set agents.registry");
	return MR_OK;
}

enum mr_code mr_mail_session_place(struct mr_call *call, struct mr_mailbox_place *out)
{
	struct mr_mailbox_place place = {
		.manifest_path = getenv("HOUMAO_MANIFEST_PATH"),
		.agent_id = getenv("HOUMAO_AGENT_ID"),
		.tmux = getenv("TMUX"),
		.tmux_pane = getenv("TMUX_PANE"),
	};
	enum mr_code rc = find_registry(call, &place.registry);

	if (!rc)
		*out = place;
	return rc;
}

enum mr_code mr_mail_session_overlay(struct mr_call *call, const char *setting, const char *name,
	const char **out)
{
	struct mr_arena *arena = call->cx.arena;
	char cwd[PATH_MAX];
	enum mr_code rc = mr_settings_path(call->app->settings, setting, out, &call->cx.err);

	if (rc)
		return rc;
	if (!getcwd(cwd, sizeof(cwd)))
		return mr_err_set(&call->cx.err, MR_EIO,
			"the working directory is not there any more");
	if (mr_str_eq(mr_settings_source(call->app->settings, setting), "default")) {
		char *up = mr_arena_strdup(arena, cwd);

		for (char *slash = up + strlen(up); slash; slash = strrchr(up, '/')) {
			struct stat st;
			const char *overlay;

			*slash = '\0';
			overlay = mr_arena_printf(arena, "%s/.houmao", up);
			if (stat(overlay, &st) == 0 && S_ISDIR(st.st_mode)) {
				*out = mr_arena_printf(arena, "%s/%s", overlay, name);
				return MR_OK;
			}
		}
	}
	if (**out != '/')
		*out = mr_arena_printf(arena, "%s/%s", cwd, *out);
	return MR_OK;
}

enum mr_code mr_mail_session_agent(struct mr_call *call, const char *named,
	struct mr_mailbox_place *place, struct mr_mailbox_agent *out)
{
	struct mr_mail_selected selected = mr_mail_session_selected(call->invocation);
	enum mr_code rc = mr_mail_session_place(call, place);

	if (rc)
		return rc;
	if (named && !selected.agent.agent_id && !selected.agent.agent_name)
		selected.agent.agent_name = named;
	rc = mr_mailbox_agent_select(&call->cx, place, &selected.agent, out);
	if (rc != MR_ENOTFOUND || !named)
		return rc;
	return mr_mailbox_agent_select(&call->cx, place,
		       &(struct mr_mailbox_selector){ .agent_id = named }, out)
		? mr_err_set(&call->cx.err, MR_ENOTFOUND,
			  "no agent with the name or id `%.100s` is known; mailroom agents list "
			  "shows all",
			  named)
		: MR_OK;
}

/* --- the agent and its mail --- */

enum mr_code mr_mail_session_bound(struct mr_call *call, const struct mr_mailbox_session *manifest)
{
	const char *name = manifest->agent_name ? manifest->agent_name : NO_AGENT;

	if (manifest->binding.transport != MR_MAILBOX_UNBOUND)
		return MR_OK;
	return mr_err_set(&call->cx.err, MR_ECONFLICT,
		"agent %s is not mailbox-enabled: its session has no mailbox; bind one with "
		"mailroom agents bind %s",
		name, name);
}

/* Without an agent: the address of a root, bound by its registration. */
static enum mr_code find_address(struct mr_call *call, const struct mr_mail_selected *selected,
	struct mr_mail_session *out)
{
	const char *root = selected->mailbox_root;
	enum mr_code rc = MR_OK;

	if (!root)
		rc = mr_mail_session_overlay(call, "mailbox.root", "mailbox", &root);
	out->binding = (struct mr_mailbox_binding){
		.transport = MR_MAILBOX_FILESYSTEM,
		.address = selected->address,
		.root = root,
	};
	return rc;
}

enum mr_code mr_mail_session_find(struct mr_call *call, struct mr_mail_session *out)
{
	struct mr_mail_selected selected = mr_mail_session_selected(call->invocation);
	struct mr_mailbox_place place;
	enum mr_code rc;

	if (selected.address)
		return find_address(call, &selected, out);
	rc = mr_mail_session_place(call, &place);
	if (!rc)
		rc = mr_mailbox_agent_select(&call->cx, &place, &selected.agent, &out->agent);
	if (rc)
		return rc;
	out->binding = out->agent.manifest.binding;
	return mr_mail_session_bound(call, &out->agent.manifest);
}

/* The registration may have gone to somebody else since the binding was made. */
static enum mr_code check_binding(struct mr_call *call, const struct mr_mail_session *session)
{
	const struct mr_mailbox_binding *binding = &session->binding;
	const char *directory = session->mail.directory;
	char real[PATH_MAX];

	if (!mr_str_eq(session->mail.principal_id, binding->principal_id))
		return mr_err_set(&call->cx.err, MR_ECONFLICT,
			"mailbox `%s` belongs to `%s` now, and the session is bound as `%s`; bind "
			"it again with mailroom agents bind",
			binding->address, session->mail.principal_id, binding->principal_id);
	if (mr_str_eq(directory, binding->path) ||
		(realpath(binding->path, real) && mr_str_eq(directory, real)))
		return MR_OK;
	return mr_err_set(&call->cx.err, MR_ECONFLICT,
		"mailbox `%s` is in %s now, and the session is bound to %s; bind it again with "
		"mailroom agents bind",
		binding->address, directory, binding->path);
}

/* What the binding of an address without an agent is. */
static void complete_address(struct mr_call *call, struct mr_mail_session *session)
{
	session->binding.address = session->mail.address;
	session->binding.principal_id = session->mail.principal_id;
	session->binding.path = session->mail.directory;
	/* Nothing was bound, so there is no other version than now's. */
	session->binding.version = mr_mailbox_binding_version(&call->cx, NULL);
}

enum mr_code mr_mail_session_open(struct mr_call *call, bool read_only,
	struct mr_mail_session *session)
{
	const struct mr_mailbox_binding *binding = &session->binding;
	enum mr_code rc;

	rc = mr_mail_open(&call->cx, session->agent.manifest.dir, binding, read_only,
		&session->mail);
	if (rc == MR_ENOTFOUND && session->agent.ref)
		return binding->transport == MR_MAILBOX_FILESYSTEM
			? mr_err_wrap(&call->cx.err,
				  "the session is bound to a mailbox that is not there (bind it "
				  "again with mailroom agents bind)")
			: rc;
	if (rc)
		return rc;
	session->execution = MR_MAIL_MANAGER_DIRECT;
	if (binding->transport != MR_MAILBOX_FILESYSTEM)
		return MR_OK;
	if (session->agent.ref)
		return check_binding(call, session);
	complete_address(call, session);
	return MR_OK;
}

static const char PLAIN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

/* Where its mail routes are. */
static enum mr_code find_remote(struct mr_call *call, const char *port,
	const struct mr_mail_session *session, struct mr_mail_gateway_place *out)
{
	const struct mr_settings *settings = call->app->settings;
	struct mr_mailbox_gateway gateway;
	struct mr_arena *arena = call->cx.arena;

	if (port && session->agent.ref[strspn(session->agent.ref, PLAIN)])
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"name the agent by its id: `%.100s` cannot stand in an address",
			session->agent.ref);
	if (port) {
		out->base = mr_arena_printf(arena, "http://127.0.0.1:%s/houmao/agents/%s/mail",
			port, session->agent.ref);
		out->socket = mr_locations_socket_of(arena, settings, out->base);
		out->token = mr_settings_text(settings, "http.bearer_token");
		if (mr_str_is_empty(out->token))
			out->token = getenv(MR_CLIENT_TOKEN_ENV);
		return MR_OK;
	}
	if (!session->agent.ref ||
		!mr_mailbox_gateway_find(&call->cx, &session->agent.manifest, &gateway) ||
		!mr_mailbox_gateway_answers(&call->cx, &session->agent.manifest, &gateway))
		return mr_err_set(&call->cx.err, MR_ENOTFOUND, "no gateway of the agent runs");
	out->base = mr_arena_printf(arena, "%s/v1/mail", gateway.base_url);
	return MR_OK;
}

enum mr_code mr_mail_session_remote(struct mr_call *call, const char *port,
	struct mr_mail_session *session)
{
	struct mr_mail_gateway_status status;
	struct mr_mail mail = MR_MAIL_INIT;
	struct mr_mail_gateway_place place = { NULL };
	enum mr_code rc = find_remote(call, port, session, &place);

	if (!rc)
		rc = mr_mail_gateway_open(&call->cx, &place, &status, &mail);
	if (rc)
		return rc;
	mr_mail_close(&session->mail);
	session->mail = mail;
	session->execution = MR_MAIL_GATEWAY_BACKED;
	session->binding = (struct mr_mailbox_binding){
		.transport = mr_str_eq(status.transport, mr_mailbox_transports[MR_MAILBOX_STALWART])
			? MR_MAILBOX_STALWART
			: MR_MAILBOX_FILESYSTEM,
		.principal_id = status.principal_id,
		.address = status.address,
		.version = status.bindings_version,
	};
	return MR_OK;
}

void mr_mail_session_close(struct mr_mail_session *session)
{
	mr_mail_close(&session->mail);
	mr_shelf_freep(&session->shelf);
}
