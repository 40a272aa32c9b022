/*
 * surface/cli/serve.c - The operation `serve`: starts the HTTP server in the foreground and stops
 * it on a signal.
 */
#include "surface/cli/serve.h"
#include "app/locations.h"
#include "app/settings.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/log.h"
#include "op/args.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/mailbox/gateway_parts.h"
#include "op/team/team_home.h"
#include "op/trace.h"
#include "op/work/tools_work.h"
#include "surface/cli/commands.h"
#include "surface/cli/foreground.h"
#include "surface/cli/terminal.h"
#include "surface/http/api.h"
#include "surface/http/discovery.h"
#include "surface/http/handed.h"
#include "surface/http/listen.h"
#include "surface/mcp/answer.h"
#include "surface/mcp/endpoint.h"
#include "surface/web/web.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_MS = 10000, STREAM_BYTES = 4 << 20 };

static const struct mr_param params[] = {
	{ .name = "host",
		.type = MR_TYPE_TEXT,
		.summary = "address to listen on, in place of http.host" },
	{ .name = "port",
		.type = MR_TYPE_INT,
		.max = 65535,
		.summary = "port to listen on, in place of http.port; 0 takes a free one" },
	{ .name = "workspace",
		.type = MR_TYPE_TEXT,
		.summary = "offer tools for this e-mail workspace, in place of workspace.root" },
	{ 0 },
};

static void configure(const struct mr_call *call, const struct mr_serving *how,
	struct mr_http_config *out)
{
	const struct mr_settings *s = call->app->settings;

	mr_http_config_defaults(out);
	out->host = how->host ? how->host : mr_settings_text(s, "http.host");
	out->port = how->port;
	out->allowed_hosts = *mr_settings_texts(s, "http.allowed_hosts");
	out->allowed_origins = *mr_settings_texts(s, "http.allowed_origins");
	mr_http_cors_read(s, &out->cors);
	out->max_body_bytes = (size_t)mr_settings_int(s, "http.max_body_bytes");
	if (mr_settings_int(s, "http.max_inflight_bytes"))
		out->max_inflight_bytes = (uint64_t)mr_settings_int(s, "http.max_inflight_bytes");
	out->max_connections = (unsigned)mr_settings_int(s, "http.max_connections");
	out->idle_timeout_s = (unsigned)mr_settings_int(s, "http.idle_timeout_seconds");
	out->max_stream_bytes = STREAM_BYTES;
	out->log_requests = mr_settings_bool(s, "http.request_log");
	out->clock = call->app->clock;
	out->rand = call->app->rand;
	out->observe = mr_api_observe;
}

/* Sockets of a service manager, in place of what the settings name. */
static enum mr_code take_handed(struct mr_call *call, struct mr_http_handed *handed,
	struct mr_http_config *config)
{
	struct mr_http_address address;
	enum mr_code rc = mr_http_handed_take(handed, &call->cx.err);

	if (rc || handed->tcp < 0)
		return rc;
	mr_http_listen_local(handed->tcp, &address);
	config->handed_fd = handed->tcp;
	config->host = mr_arena_strdup(call->cx.arena, address.text);
	config->port = address.port;
	return MR_OK;
}

/* A curl command line up to the path of a route, with the token or socket that it needs. */
static const char *curl_command(const struct mr_call *call, const char *url, const char *socket)
{
	const struct mr_settings *s = call->app->settings;
	bool needs_token = mr_locations_trust(s, geteuid() == 0) == MR_LOCATIONS_TRUSTS_NOBODY;

	if (needs_token && *mr_settings_text(s, "http.bearer_token"))
		return mr_arena_printf(call->cx.arena,
			"curl -H \"Authorization: Bearer $HTTP_BEARER_TOKEN\" %s", url);
	if (needs_token && socket)
		return mr_arena_printf(call->cx.arena, "curl --unix-socket %s http://localhost",
			socket);
	return mr_arena_printf(call->cx.arena, "curl %s", url);
}

static void announce(const struct mr_call *call, const struct mr_http_server *server,
	const char *root, const char *socket)
{
	const struct mr_settings *s = call->app->settings;
	const char *url = mr_http_server_url(server);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	mr_buf_printf(&text,
		"Mailroom " MR_VERSION " listens on %s\n"
		"  data     %s\n"
		"  socket   %s\n"
		"  MCP      %s/mcp\n"
		"  pages    %s/mail\n"
		"  try      curl %s/health\n"
		"  metrics  %s/metrics\n"
		"  stop     Ctrl-C\n",
		url, root, socket ? socket : "none", url, url, url,
		curl_command(call, url, socket));
	if (mr_locations_is_closed(s))
		mr_buf_printf(&text,
			"Clients that come over TCP need a token, and none is set: set "
			"HTTP_BEARER_TOKEN and start the server again.%s\n",
			socket ? " This user's own commands use the socket." : "");
	mr_terminal_write(STDOUT_FILENO, mr_buf_bytes(&text));
}

/* What the server works with; made before it starts and freed after it has stopped. */
struct service {
	struct mr_http_access *access;
	struct mr_mcp *mcp;
	struct mr_mcp_endpoint *endpoint;
	struct mr_web *web;
	struct mr_http_route *routes;
	size_t routes_len;
	struct mr_gateway_parts *parts; /* of agents' gateways */
};

static void make_service(const struct mr_call *call, struct service *out)
{
	const struct mr_settings *s = call->app->settings;
	const struct mr_mcp_options options = mr_mcp_options_of();
	const struct mr_http_route *api, *pages;
	size_t len, pages_len;

	out->mcp = mr_mcp_new(call->app, &options);
	out->endpoint = mr_mcp_endpoint_new(out->mcp);
	api = mr_api_routes(call->cx.arena, call->app->table, &len);
	out->web = mr_web_new(call->app);
	pages = mr_web_routes(out->web, &pages_len);
	out->routes = mr_arena_array(call->cx.arena,
		len + pages_len + MR_DISCOVERY_ROUTES + MR_MCP_ROUTES, sizeof(*out->routes));
	memcpy(out->routes, api, len * sizeof(*api));
	memcpy(out->routes + len, mr_discovery_routes, sizeof(mr_discovery_routes));
	len += MR_DISCOVERY_ROUTES;
	/* Above the pages: MCP may have been put at "/". */
	len += mr_mcp_endpoint_routes(out->endpoint, call->cx.arena,
		mr_settings_text(s, "http.path"), out->routes + len);
	memcpy(out->routes + len, pages, pages_len * sizeof(*pages));
	out->routes_len = len + pages_len;
}

static void free_service(struct service *service)
{
	mr_gateway_parts_free(service->parts);
	mr_web_free(service->web);
	mr_mcp_endpoint_free(service->endpoint);
	mr_mcp_free(service->mcp);
	mr_http_access_free(service->access);
}

static enum mr_code make_access(struct mr_call *call, struct mr_http_access **out)
{
	struct mr_http_access_config config;
	enum mr_code rc = mr_http_access_read(call->cx.arena, call->app->settings, geteuid() == 0,
		&config, &call->cx.err);

	config.clock = call->app->clock;
	return rc ? rc : mr_http_access_new(&config, out, &call->cx.err);
}

/* Refuse an address that other machines can reach while no token is configured: anyone could
 * read all mail. */
static enum mr_code check_exposure(struct mr_call *call, const char *host)
{
	const struct mr_settings *s = call->app->settings;

	if (*mr_settings_text(s, "http.bearer_token") ||
		mr_settings_texts(s, "http.bearer_tokens")->len ||
		mr_settings_bool(s, "jwt.enabled") || !mr_http_listen_is_exposed(host))
		return MR_OK;
	return mr_err_set(&call->cx.err, MR_EINVAL,
		"%s can be reached from other machines, and nothing would ask them for a token: "
		"set HTTP_BEARER_TOKEN (http.bearer_token), or HTTP_JWT_ENABLED=true with "
		"HTTP_JWT_SECRET; or listen on 127.0.0.1",
		host);
}

static void warn_of_trust(const struct mr_settings *s)
{
	if (mr_locations_trust(s, geteuid() == 0) == MR_LOCATIONS_TRUSTS_AT_RISK)
		mr_log(MR_LOG_WARN, "local_trust",
			"HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED is true: every user of this machine, "
			"and every container that shares its network, is an administrator of this "
			"server without a token");
}

/*
 * The default socket is optional: when it cannot be opened, the server logs why and goes on. A
 * socket that http.socket names must be opened.
 */
static enum mr_code open_socket(struct mr_call *call, struct mr_http_server *server,
	const struct mr_http_handed *handed, const char **out_path)
{
	const struct mr_settings *s = call->app->settings;
	const char *path = mr_locations_socket(call->cx.arena, s, mr_http_server_port(server));
	bool is_auto = mr_locations_socket_is_auto(s);
	enum mr_code rc;

	*out_path = NULL;
	if (handed->local >= 0)
		return mr_http_server_use_socket(server, handed->local, out_path, &call->cx.err);
	if (!path && is_auto)
		mr_log(MR_LOG_WARN, "no_socket",
			"neither XDG_RUNTIME_DIR nor HOME says where the socket can be; set "
			"HTTP_SOCKET");
	if (!path)
		return MR_OK;
	rc = mr_http_server_open_socket(server, path, is_auto, &call->cx.err);
	if (rc && !is_auto)
		return mr_err_wrap(&call->cx.err, "http.socket");
	if (rc)
		mr_log(MR_LOG_WARN, "no_socket", "the server goes on without its socket: %s",
			call->cx.err.msg);
	else
		*out_path = path;
	call->cx.err = (struct mr_err){ 0 };
	return MR_OK;
}

/* From here on the program has them: a copy, because it is only read once threads run. */
static enum mr_code start_parts(struct mr_call *call, struct mr_gateway_parts **out)
{
	struct mr_app *app = mr_arena_memdup(call->cx.arena, call->app, sizeof(*app));
	enum mr_code rc = mr_gateway_parts_start(app, &app->gateway_parts, &call->cx.err);

	*out = app->gateway_parts;
	call->app = app;
	return rc;
}

enum mr_code mr_serve(struct mr_call *call, const struct mr_serving *how)
{
	struct service service MR_CLEANUP(free_service) = { 0 };
	struct mr_http_handed handed MR_CLEANUP(mr_http_handed_close) = MR_HTTP_HANDED_INIT;
	struct mr_http_server *server = NULL;
	const char *socket = NULL;
	struct mr_http_config config;
	const char *root;
	sigset_t signals;
	enum mr_code rc;

	rc = mr_tools_work_begin(call, how->workspace);
	if (rc)
		return rc;
	configure(call, how, &config);
	rc = take_handed(call, &handed, &config);
	if (!rc)
		rc = check_exposure(call, config.host);
	if (!rc)
		rc = mr_settings_path(call->app->settings, "storage.root", &root, &call->cx.err);
	if (!rc)
		rc = mr_settings_path(call->app->settings, "http.socket", &socket, &call->cx.err);
	if (rc)
		return rc;
	rc = mr_fs_make_dirs(AT_FDCWD, root, 0700, &call->cx.err);
	if (rc)
		return mr_err_wrap(&call->cx.err, "storage.root");
	mr_foreground_begin(call->app->settings, NULL, NULL);
	warn_of_trust(call->app->settings);
	rc = make_access(call, &service.access);
	if (rc)
		return rc;
	config.access = service.access;
	mr_foreground_block(&signals);
	rc = mr_trace_begin(call);
	if (!rc)
		rc = mr_team_home_serve(call);
	if (!rc)
		rc = start_parts(call, &service.parts);
	if (rc)
		return rc;
	make_service(call, &service);
	rc = mr_http_server_start(&config, service.routes, service.routes_len, (void *)call->app,
		&server, &call->cx.err);
	if (!rc)
		rc = open_socket(call, server, &handed, &socket);
	if (rc) {
		mr_http_server_free(server);
		return rc;
	}
	mr_gateway_parts_listens(service.parts, mr_http_server_url(server));
	mr_log(MR_LOG_INFO, "listening", "%s", mr_http_server_url(server));
	if (how->announce)
		how->announce(how->arg, call, mr_http_server_url(server));
	else
		announce(call, server, root, socket);
	mr_foreground_wait(&signals);
	mr_mcp_endpoint_stop(service.endpoint);
	mr_gateway_parts_stop(service.parts);
	mr_http_server_stop(server, GRACE_MS);
	mr_http_server_free(server);
	mr_log(MR_LOG_INFO, "stopped", "");
	return MR_OK;
}

static enum mr_code serve(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const struct mr_serving how = {
		.host = mr_args_text(in, "host"),
		.port = (int)mr_args_int(in, "port",
			mr_settings_int(call->app->settings, "http.port")),
		.workspace = mr_args_text(in, "workspace"),
	};

	(void)out;
	return mr_serve(call, &how);
}

const struct mr_op mr_op_serve = {
	.name = "serve",
	.command = "serve",
	.summary = "Serve Mailroom over HTTP until Ctrl-C",
	.help = "Answers MCP at /mcp, and /health, /health/liveness, /health/readiness and "
		"/metrics. "
		"Everything it listens with is a setting too; see mailroom config.",
	.params = params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = serve,
};
