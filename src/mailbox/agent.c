/* mailbox/agent.c - selects the agent that a command is for. */
#include "mailbox/agent.h"

#include "base/fs.h"
#include "mailbox/tmux.h"

#include <string.h>

#define SELECT_HINT "name the agent with --agent-name or --agent-id"

const char *mr_mailbox_agent_tmux(struct mr_ctx *cx, const struct mr_mailbox_place *place)
{
	const char *of_pane[] = { "tmux", "display-message", "-p", "-t", place->tmux_pane,
		"#{session_name}", NULL };
	const char *of_client[] = { "tmux", "display-message", "-p", "#{session_name}", NULL };

	return mr_tmux_ask(cx, mr_str_is_empty(place->tmux_pane) ? of_client : of_pane);
}

/* A variable of the caller, else of its tmux session, which may have got it later. */
static const char *variable(struct mr_ctx *cx, const char *session, const char *name,
	const char *own)
{
	const char *argv[] = { "tmux", "show-environment", "-t",
		mr_arena_printf(cx->arena, "=%s", session), name, NULL };
	const char *text, *prefix;

	if (!mr_str_is_empty(own))
		return own;
	text = mr_tmux_ask(cx, argv);
	prefix = mr_arena_printf(cx->arena, "%s=", name);
	if (!text || !mr_str_starts(text, prefix))
		return NULL;
	text += strlen(prefix);
	return *text ? text : NULL;
}

static enum mr_code find_named(struct mr_ctx *cx, const char *registry, const char *agent_id,
	const char *agent_name, struct mr_mailbox_session *out)
{
	struct mr_mailbox_record record;
	enum mr_code rc = mr_mailbox_registry_find(cx, registry, agent_id, agent_name, &record);

	return rc ? rc : mr_mailbox_registry_manifest(cx, &record, out);
}

/* A session that was started anew has a record of its own, and the old one's panes act for nobody.
 */
static enum mr_code check_generation(struct mr_ctx *cx, const char *registry,
	const struct mr_mailbox_session *manifest)
{
	struct mr_mailbox_session current;
	struct mr_mailbox_record record;

	if (!manifest->agent_id ||
		mr_mailbox_registry_find(cx, registry, manifest->agent_id, NULL, &record))
		return MR_OK;
	record.manifest_path = manifest->path;
	return mr_mailbox_registry_manifest(cx, &record, &current);
}

/* The agent whose session this is. */
static enum mr_code find_own(struct mr_ctx *cx, const struct mr_mailbox_place *place,
	struct mr_mailbox_agent *out)
{
	const char *session, *path, *id;
	enum mr_code rc;

	if (mr_str_is_empty(place->tmux))
		return mr_err_set(&cx->err, MR_EINVAL,
			"this is not inside an agent's tmux session; " SELECT_HINT);
	session = mr_mailbox_agent_tmux(cx, place);
	if (!session)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"tmux does not say which session this is; " SELECT_HINT);
	path = variable(cx, session, "HOUMAO_MANIFEST_PATH", place->manifest_path);
	id = variable(cx, session, "HOUMAO_AGENT_ID", place->agent_id);
	if (path && (mr_fs_exists(AT_FDCWD, path) || !id))
		rc = mr_mailbox_session_read(cx, path, &out->manifest);
	else if (id)
		rc = find_named(cx, place->registry, id, NULL, &out->manifest);
	else
		rc = mr_err_set(&cx->err, MR_ENOTFOUND,
			"the tmux session %s is not an agent's: neither HOUMAO_MANIFEST_PATH nor "
			"HOUMAO_AGENT_ID is set; " SELECT_HINT,
			session);
	if (!rc)
		rc = check_generation(cx, place->registry, &out->manifest);
	if (rc)
		return rc;
	if (!mr_str_eq(out->manifest.tmux_session, session))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"agent %s belongs to the tmux session %s, and this is the session %s; " SELECT_HINT,
			out->manifest.agent_name ? out->manifest.agent_name : "(unnamed)",
			out->manifest.tmux_session ? out->manifest.tmux_session : "(none)",
			session);
	out->ref = out->manifest.agent_id;
	return MR_OK;
}

enum mr_code mr_mailbox_agent_select(struct mr_ctx *cx, const struct mr_mailbox_place *place,
	const struct mr_mailbox_selector *selector, struct mr_mailbox_agent *out)
{
	struct mr_mailbox_agent agent = { .ref = NULL };
	enum mr_code rc;

	if (selector->agent_id && selector->agent_name)
		return mr_err_set(&cx->err, MR_EINVAL, "give --agent-id or --agent-name, not both");
	if (!selector->agent_id && !selector->agent_name) {
		rc = find_own(cx, place, &agent);
	} else {
		rc = find_named(cx, place->registry, selector->agent_id, selector->agent_name,
			&agent.manifest);
		agent.ref = selector->agent_id ? selector->agent_id : selector->agent_name;
	}
	if (!rc)
		*out = agent;
	return rc;
}
