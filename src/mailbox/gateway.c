/* mailbox/gateway.c - the files of an agent's gateway, and how a running one is found. */
#include "mailbox/gateway.h"

#include "base/fs.h"
#include "mailbox/tmux.h"
#include "net/http_client.h"
#include "text/json.h"
#include "text/out.h"
#include "text/time.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN           "gateway/run"
#define INSTANCE_FILE "gateway/run/current-instance.json"
#define PID_FILE      "gateway/run/gateway.pid"
#define LOCK_FILE     "gateway/run/.mailroom.lock" /* ours */
#define ATTACH_FILE   "gateway/attach.json"
#define MANIFEST_FILE "gateway/gateway_manifest.json"
#define DESIRED_FILE  "gateway/desired-config.json"
#define PROTOCOL_FILE "gateway/protocol-version.txt"
#define LOOPBACK      "127.0.0.1"
#define EVERYWHERE    "0.0.0.0"

enum { PORT_MAX = 65535, ASK_TIMEOUT_MS = 2000, ASK_BYTES = 16384, DIR_MODE = 0700 };

static const char DETACHED[] = "detached_process";
static const char IN_WINDOW[] = "tmux_auxiliary_window";

const char *mr_mailbox_gateway_path(struct mr_arena *arena,
	const struct mr_mailbox_session *session, const char *name)
{
	return mr_arena_printf(arena, "%s/%s", session->dir, name);
}

/* --- finding one --- */

static bool is_host(const char *text)
{
	return mr_str_eq(text, LOOPBACK) || mr_str_eq(text, EVERYWHERE);
}

/* A record without a process says nothing about it. */
static bool may_live(const struct mr_value *record)
{
	const struct mr_value *pid = mr_value_get(record, "pid");

	if (!pid || pid->kind != MR_INT)
		return true;
	return pid->integer > 0 && (kill((pid_t)pid->integer, 0) == 0 || errno != ESRCH);
}

bool mr_mailbox_gateway_find(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	struct mr_mailbox_gateway *out)
{
	struct mr_mailbox_gateway found = {
		.state_path = mr_mailbox_gateway_path(cx->arena, session, MR_MAILBOX_GATEWAY_STATE),
	};
	const struct mr_value *record = NULL, *port;

	if (mr_mailbox_session_load(cx, mr_mailbox_gateway_path(cx->arena, session, INSTANCE_FILE),
		    &record))
		return false;
	found.host = mr_mailbox_session_text(record, "host");
	port = mr_value_get(record, "port");
	if (!is_host(found.host) || !port || port->kind != MR_INT || port->integer < 1 ||
		port->integer > PORT_MAX || !may_live(record) ||
		!mr_str_eq(mr_mailbox_session_text(record, "protocol_version"),
			MR_MAILBOX_GATEWAY_PROTOCOL))
		return false;
	found.port = port->integer;
	/* One that listens everywhere is asked here, too. */
	found.base_url =
		mr_arena_printf(cx->arena, "http://" LOOPBACK ":%lld", (long long)found.port);
	*out = found;
	return true;
}

/* The JSON object at this path of the gateway; NULL when there is no such answer. */
static const struct mr_value *ask(struct mr_ctx *cx, const struct mr_mailbox_gateway *gateway,
	const char *path)
{
	const struct mr_http_client_request request = {
		.url = mr_arena_printf(cx->arena, "%s%s", gateway->base_url, path),
		.timeout_ms = ASK_TIMEOUT_MS,
		.max_bytes = ASK_BYTES,
		.is_direct = true,
	};
	struct mr_http_client_response response;
	const struct mr_value *value = NULL;
	struct mr_err ignored;

	if (mr_http_client_send(cx->arena, &request, &response, &ignored) ||
		response.status != 200 ||
		mr_json_parse(cx->arena, response.body, NULL, &value, &ignored))
		return NULL;
	return value;
}

bool mr_mailbox_gateway_answers(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	const struct mr_mailbox_gateway *gateway)
{
	const char *version =
		mr_mailbox_session_text(ask(cx, gateway, "/health"), "protocol_version");
	const struct mr_value *status;

	if (!mr_str_eq(version, MR_MAILBOX_GATEWAY_PROTOCOL))
		return false;
	/* The port may have gone to the gateway of another session. */
	status = ask(cx, gateway, "/v1/status");
	return status && session->session_id &&
		mr_str_eq(mr_mailbox_session_text(status, "attach_identity"), session->session_id);
}

/* --- what its files say --- */

static const char *mode_of(const struct mr_mailbox_gateway_instance *instance)
{
	return instance->window_id ? IN_WINDOW : DETACHED;
}

static const char *text_at(const struct mr_value *map, const char *section, const char *key)
{
	return mr_mailbox_session_text(section ? mr_value_get(map, section) : map, key);
}

/* What both attach.json and gateway_manifest.json say of the session. */
static void put_attach(struct mr_out *out, const struct mr_mailbox_session *session)
{
	mr_out_int(out, "schema_version", 1);
	mr_out_text(out, "attach_identity", session->session_id);
	mr_out_text(out, "backend", session->backend);
	mr_out_text(out, "tmux_session_name", session->tmux_session);
	mr_out_text(out, "working_directory", text_at(session->value, NULL, "working_directory"));
	mr_out_map(out, "backend_metadata");
	mr_out_text(out, "session_id", session->session_id);
	mr_out_text(out, "tool", session->tool);
	mr_out_null(out, "managed_agent_ref");
	mr_out_null(out, "managed_api_base_url");
	mr_out_end(out);
	mr_out_text(out, "manifest_path", session->path);
	mr_out_text(out, "agent_def_dir", text_at(session->value, "runtime", "agent_def_dir"));
	mr_out_text(out, "runtime_session_id", session->session_id);
}

static void put_window(struct mr_out *out, const struct mr_mailbox_gateway_instance *instance,
	const char *prefix)
{
	const struct {
		const char *key, *text;
	} ids[] = {
		{ "tmux_window_id", instance ? instance->window_id : NULL },
		{ "tmux_window_index", instance ? instance->window_index : NULL },
		{ "tmux_pane_id", instance ? instance->pane_id : NULL },
	};
	char key[64];

	for (size_t i = 0; i < MR_LEN(ids); i++) {
		snprintf(key, sizeof(key), "%s%s", prefix, ids[i].key);
		mr_out_text(out, key, ids[i].text);
	}
}

static const struct mr_value *make_attach(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	put_attach(&out, instance->session);
	mr_out_text(&out, "desired_host", instance->host);
	mr_out_int(&out, "desired_port", instance->port);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static const struct mr_value *make_desired(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "desired_host", instance->host);
	mr_out_int(&out, "desired_port", instance->port);
	mr_out_text(&out, "desired_execution_mode", mode_of(instance));
	mr_out_null(&out, "desired_diagnostic_logging");
	mr_out_null(&out, "desired_tui_tracking_timings");
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static const struct mr_value *make_record(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "protocol_version", MR_MAILBOX_GATEWAY_PROTOCOL);
	mr_out_int(&out, "pid", getpid());
	mr_out_text(&out, "host", instance->host);
	mr_out_int(&out, "port", instance->port);
	mr_out_text(&out, "execution_mode", mode_of(instance));
	mr_out_int(&out, "managed_agent_instance_epoch", 1);
	mr_out_text(&out, "managed_agent_instance_id", instance->session->session_id);
	put_window(&out, instance, "");
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* `is_running` false: what stays when it has stopped. */
static const struct mr_value *make_manifest(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance, bool is_running)
{
	static const struct mr_value none = { .kind = MR_NULL };
	const struct mr_value number = { .kind = MR_INT, .integer = instance->port };
	const struct mr_value pid = { .kind = MR_INT, .integer = getpid() };
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	put_attach(&out, instance->session);
	mr_out_text(&out, "desired_host", instance->host);
	mr_out_int(&out, "desired_port", instance->port);
	mr_out_value(&out, "gateway_pid", is_running ? &pid : &none);
	mr_out_text(&out, "gateway_host", is_running ? instance->host : NULL);
	mr_out_value(&out, "gateway_port", is_running ? &number : &none);
	mr_out_text(&out, "gateway_protocol_version", MR_MAILBOX_GATEWAY_PROTOCOL);
	mr_out_text(&out, "gateway_execution_mode", is_running ? mode_of(instance) : NULL);
	put_window(&out, is_running ? instance : NULL, "gateway_");
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* Is the agent's terminal there? */
static bool is_connected(struct mr_ctx *cx, const struct mr_mailbox_session *session)
{
	const char *argv[] = { "tmux", "has-session", "-t", NULL, NULL };

	if (!session->tmux_session)
		return false;
	argv[3] = mr_arena_printf(cx->arena, "=%s", session->tmux_session);
	return mr_tmux_run(cx, argv);
}

const struct mr_value *mr_mailbox_gateway_status(struct mr_ctx *cx,
	const struct mr_mailbox_session *session,
	const struct mr_mailbox_gateway_instance *instance, int64_t queue_depth)
{
	static const struct mr_value none = { .kind = MR_NULL };
	const struct mr_value port = { .kind = MR_INT, .integer = instance ? instance->port : 0 };
	bool connected = is_connected(cx, session);
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_int(&out, "schema_version", 1);
	mr_out_text(&out, "protocol_version", MR_MAILBOX_GATEWAY_PROTOCOL);
	mr_out_text(&out, "attach_identity", session->session_id);
	mr_out_text(&out, "backend", session->backend);
	mr_out_text(&out, "tmux_session_name", session->tmux_session);
	mr_out_text(&out, "gateway_health", instance ? "healthy" : "not_attached");
	mr_out_text(&out, "managed_agent_connectivity", connected ? "connected" : "unavailable");
	mr_out_text(&out, "managed_agent_recovery", connected ? "idle" : "awaiting_rebind");
	mr_out_text(&out, "request_admission", connected ? "open" : "blocked_unavailable");
	mr_out_text(&out, "terminal_surface_eligibility", connected ? "ready" : "unknown");
	mr_out_text(&out, "active_execution", "idle");
	mr_out_text(&out, "execution_mode", instance ? mode_of(instance) : DETACHED);
	mr_out_int(&out, "queue_depth", queue_depth);
	mr_out_text(&out, "gateway_host", instance ? instance->host : NULL);
	mr_out_value(&out, "gateway_port", instance ? &port : &none);
	put_window(&out, instance, "gateway_");
	mr_out_int(&out, "managed_agent_instance_epoch", 1);
	mr_out_text(&out, "managed_agent_instance_id", session->session_id);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* --- being one --- */

/* The Houmao runtime's gateway holds no lock of ours. */
static enum mr_code check_alone(struct mr_ctx *cx, const struct mr_mailbox_session *session)
{
	struct mr_mailbox_gateway other;

	if (!mr_mailbox_gateway_find(cx, session, &other) ||
		!mr_mailbox_gateway_answers(cx, session, &other))
		return MR_OK;
	return mr_err_set(&cx->err, MR_EBUSY,
		"the gateway of agent %s runs already, at %s; stop it first",
		session->agent_name ? session->agent_name : session->session_id, other.base_url);
}

/* The window of this process, when it is one of the agent's session. */
static void find_window(struct mr_ctx *cx, struct mr_mailbox_gateway_instance *instance)
{
	const char *pane = getenv("TMUX_PANE");
	const char *argv[] = { "tmux", "display-message", "-p", "-t", pane,
		"#{window_id} #{window_index} #{session_name}", NULL };
	const char *text, *index, *session;

	if (mr_str_is_empty(getenv("TMUX")) || mr_str_is_empty(pane))
		return;
	text = mr_tmux_ask(cx, argv);
	index = text ? strchr(text, ' ') : NULL;
	session = index ? strchr(index + 1, ' ') : NULL;
	if (!session || !mr_str_eq(session + 1, instance->session->tmux_session))
		return;
	instance->window_id = mr_arena_strndup(cx->arena, text, (size_t)(index - text));
	instance->window_index =
		mr_arena_strndup(cx->arena, index + 1, (size_t)(session - index - 1));
	instance->pane_id = mr_arena_strdup(cx->arena, pane);
}

enum mr_code mr_mailbox_gateway_claim(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	struct mr_mailbox_gateway_instance *out)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = MR_OK;

	if (!session->session_id)
		return mr_err_set(&cx->err, MR_EFORMAT, "%s names no runtime.session_id",
			session->path);
	rc = mr_fs_make_dirs(AT_FDCWD, mr_mailbox_gateway_path(cx->arena, session, RUN), DIR_MODE,
		&cx->err);
	if (!rc)
		rc = mr_fs_make_dirs(AT_FDCWD,
			mr_mailbox_gateway_path(cx->arena, session, MR_MAILBOX_GATEWAY_LOGS),
			DIR_MODE, &cx->err);
	if (!rc)
		rc = mr_lock_take(AT_FDCWD, mr_mailbox_gateway_path(cx->arena, session, LOCK_FILE),
			"mailroom gateway", 0, cx->clock, &lock, &cx->err);
	if (rc == MR_EBUSY)
		return mr_err_wrap(&cx->err, "a gateway of agent %s runs already; stop it first",
			session->agent_name ? session->agent_name : session->session_id);
	if (!rc)
		rc = check_alone(cx, session);
	if (rc)
		return rc;
	out->session = session;
	out->lock = lock;
	lock = MR_LOCK_INIT;
	find_window(cx, out);
	return MR_OK;
}

static enum mr_code write_json(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance, const char *name,
	const struct mr_value *value)
{
	return mr_mailbox_session_write(cx,
		mr_mailbox_gateway_path(cx->arena, instance->session, name), value);
}

static enum mr_code write_text(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance, const char *name, const char *text)
{
	return mr_fs_write(AT_FDCWD, mr_mailbox_gateway_path(cx->arena, instance->session, name),
		mr_bytes_text(text), MR_FS_REPLACE, 0600, &cx->err);
}

/* Files that somebody may have written before, and that then stay. */
static enum mr_code write_missing(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance, const char *name,
	const struct mr_value *value)
{
	if (mr_fs_exists(AT_FDCWD, mr_mailbox_gateway_path(cx->arena, instance->session, name)))
		return MR_OK;
	return write_json(cx, instance, name, value);
}

/* Variables of the agent's tmux session, by which what runs in it finds the gateway. */
static const char *const variables[] = { "HOUMAO_AGENT_GATEWAY_HOST", "HOUMAO_AGENT_GATEWAY_PORT",
	"HOUMAO_GATEWAY_PROTOCOL_VERSION", "HOUMAO_GATEWAY_STATE_PATH" };

/* Set them, or take them away: `values` NULL. A session that is not there has none. */
static void change_variables(struct mr_ctx *cx, const struct mr_mailbox_session *session,
	const char *const *values)
{
	if (!is_connected(cx, session))
		return;
	for (size_t i = 0; i < MR_LEN(variables); i++) {
		const char *argv[] = { "tmux", "set-environment", values ? "-t" : "-ut",
			mr_arena_printf(cx->arena, "=%s", session->tmux_session), variables[i],
			values ? values[i] : NULL, NULL };

		(void)mr_tmux_run(cx, argv);
	}
}

static const struct mr_value *make_entry(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "host", instance->host);
	mr_out_int(&out, "port", instance->port);
	mr_out_text(&out, "protocol_version", MR_MAILBOX_GATEWAY_PROTOCOL);
	mr_out_text(&out, "state_path",
		mr_mailbox_gateway_path(cx->arena, instance->session, MR_MAILBOX_GATEWAY_STATE));
	mr_out_end(&out);
	return mr_out_tree(&out);
}

enum mr_code mr_mailbox_gateway_publish(struct mr_ctx *cx,
	const struct mr_mailbox_gateway_instance *instance)
{
	const struct mr_mailbox_session *session = instance->session;
	const char *values[] = { instance->host,
		mr_arena_printf(cx->arena, "%lld", (long long)instance->port),
		MR_MAILBOX_GATEWAY_PROTOCOL,
		mr_mailbox_gateway_path(cx->arena, session, MR_MAILBOX_GATEWAY_STATE) };
	enum mr_code rc = write_missing(cx, instance, ATTACH_FILE, make_attach(cx, instance));

	if (!rc)
		rc = write_missing(cx, instance, DESIRED_FILE, make_desired(cx, instance));
	if (!rc)
		rc = write_text(cx, instance, PROTOCOL_FILE, MR_MAILBOX_GATEWAY_PROTOCOL "\n");
	if (!rc)
		rc = write_json(cx, instance, MR_MAILBOX_GATEWAY_STATE,
			mr_mailbox_gateway_status(cx, session, instance, 0));
	if (!rc)
		rc = write_json(cx, instance, MANIFEST_FILE, make_manifest(cx, instance, true));
	if (!rc)
		rc = write_text(cx, instance, PID_FILE,
			mr_arena_printf(cx->arena, "%lld\n", (long long)getpid()));
	/* The record comes last: whoever sees it finds the rest. */
	if (!rc)
		rc = write_json(cx, instance, INSTANCE_FILE, make_record(cx, instance));
	if (!rc)
		rc = mr_mailbox_registry_gateway(cx, instance->registry, session,
			make_entry(cx, instance));
	if (rc)
		return mr_err_wrap(&cx->err, "the gateway's files cannot be written");
	change_variables(cx, session, values);
	return MR_OK;
}

/* Is the record in the session's directory that of this process? */
static bool is_ours(struct mr_ctx *cx, const struct mr_mailbox_gateway_instance *instance)
{
	const struct mr_value *record = NULL, *pid;

	if (mr_mailbox_session_load(cx,
		    mr_mailbox_gateway_path(cx->arena, instance->session, INSTANCE_FILE), &record))
		return false;
	pid = mr_value_get(record, "pid");
	return pid && pid->kind == MR_INT && pid->integer == getpid();
}

void mr_mailbox_gateway_withdraw(struct mr_ctx *cx, struct mr_mailbox_gateway_instance *instance)
{
	const struct mr_mailbox_session *session = instance->session;
	static const struct mr_value none = { .kind = MR_NULL };

	if (instance->port && is_ours(cx, instance)) {
		(void)unlink(mr_mailbox_gateway_path(cx->arena, session, INSTANCE_FILE));
		(void)unlink(mr_mailbox_gateway_path(cx->arena, session, PID_FILE));
		/* What else cannot be written now only repeats that the record is gone. */
		if (!write_json(cx, instance, MR_MAILBOX_GATEWAY_STATE,
			    mr_mailbox_gateway_status(cx, session, NULL, 0)) &&
			!write_json(cx, instance, MANIFEST_FILE,
				make_manifest(cx, instance, false)) &&
			!mr_mailbox_registry_gateway(cx, instance->registry, session, &none))
			change_variables(cx, session, NULL);
	}
	mr_lock_release(&instance->lock);
}
