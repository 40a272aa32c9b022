/*
 * surface/cli/gateway.c - The operation `gateway`: serves one agent's mail over HTTP in the
 * foreground and stops on a signal.
 */
#include "op/mailbox/gateway_service.h"

#include "app/settings.h"
#include "base/buf.h"
#include "base/log.h"
#include "op/args.h"
#include "op/contract.h"
#include "op/mailbox/gateway_log.h"
#include "op/mailbox/gateway_parts.h"
#include "op/mailbox/gateway_table.h"
#include "surface/cli/commands.h"
#include "surface/cli/foreground.h"
#include "surface/cli/terminal.h"
#include "surface/http/api.h"

#include <unistd.h>

enum { GRACE_MS = 10000 };

static const char *const hosts[] = { "127.0.0.1", "0.0.0.0", NULL };

static const struct mr_param params[] = {
	{ .name = "agent_name", .type = MR_TYPE_TEXT, .summary = "whose gateway it is" },
	{ .name = "agent_id", .type = MR_TYPE_TEXT, .summary = "the same by the agent's id" },
	{ .name = "host",
		.type = MR_TYPE_TEXT,
		.choices = hosts,
		.summary = "address to listen on; mail is only served on 127.0.0.1",
		.fallback = "127.0.0.1" },
	{ .name = "port",
		.type = MR_TYPE_INT,
		.max = 65535,
		.summary = "port to listen on; 0 takes a free one",
		.fallback = "0" },
	{ 0 },
};

static void configure(const struct mr_call *call, const struct mr_args *in,
	struct mr_http_config *out)
{
	const struct mr_settings *s = call->app->settings;
	const char *host = mr_args_text(in, "host");

	mr_http_config_defaults(out);
	out->host = host ? host : hosts[0];
	out->port = (int)mr_args_int(in, "port", 0);
	out->max_body_bytes = (size_t)mr_settings_int(s, "http.max_body_bytes");
	out->max_connections = (unsigned)mr_settings_int(s, "http.max_connections");
	out->log_requests = mr_settings_bool(s, "http.request_log");
	out->clock = call->app->clock;
	out->rand = call->app->rand;
	out->observe = mr_api_observe;
}

static void announce(const struct mr_gateway *gateway, const char *url)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *name = gateway->session.agent_name;

	mr_buf_init(&text, 1 << 16);
	mr_buf_printf(&text,
		"The gateway of %s listens on %s\n"
		"  try      curl %s/v1/mail/status\n"
		"  stop     Ctrl-C\n",
		name ? name : gateway->session.session_id, url, url);
	mr_terminal_write(STDOUT_FILENO, mr_buf_bytes(&text));
}

/* The server is stopped before the gateway's record and its lock go. */
static enum mr_code serve(struct mr_call *call, struct mr_app *app,
	const struct mr_http_config *config, struct mr_gateway *gateway)
{
	struct mr_op_table table = mr_gateway_table(call->cx.arena);
	struct mr_http_server *server = NULL;
	const struct mr_http_route *routes;
	sigset_t signals;
	size_t len;
	enum mr_code rc;

	routes = mr_api_op_routes(call->cx.arena, &table, &len);
	mr_foreground_block(&signals);
	rc = mr_gateway_parts_start(app, &app->gateway_parts, &call->cx.err);
	if (!rc)
		rc = mr_http_server_start(config, routes, len, app, &server, &call->cx.err);
	if (!rc)
		rc = mr_gateway_begin(call, mr_http_server_port(server), gateway);
	if (!rc) {
		mr_gateway_parts_listens(app->gateway_parts, NULL);
		mr_log(MR_LOG_INFO, "listening", "%s", mr_http_server_url(server));
		announce(gateway, mr_http_server_url(server));
		mr_foreground_wait(&signals);
	}
	mr_gateway_parts_stop(app->gateway_parts);
	if (server)
		mr_http_server_stop(server, GRACE_MS);
	mr_http_server_free(server);
	mr_gateway_parts_free(app->gateway_parts);
	return rc;
}

static enum mr_code run(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_gateway gateway MR_CLEANUP(mr_gateway_end) = MR_GATEWAY_INIT;
	struct mr_app app = *call->app;
	struct mr_gateway_log log;
	struct mr_http_config config;
	enum mr_code rc;

	(void)out;
	configure(call, in, &config);
	rc = mr_gateway_open(call, mr_args_text(in, "agent_id"), mr_args_text(in, "agent_name"),
		config.host, &gateway);
	if (rc)
		return rc;
	log = (struct mr_gateway_log){
		.events_path = mr_gateway_path(call, &gateway, MR_MAILBOX_GATEWAY_EVENTS),
		.text_path = mr_gateway_path(call, &gateway, MR_MAILBOX_GATEWAY_LOG),
	};
	mr_foreground_begin(app.settings, mr_gateway_log_write, &log);
	app.gateway = &gateway;
	rc = serve(call, &app, &config, &gateway);
	/* The program's log outlives this one's files. */
	mr_log_start(MR_LOG_INFO, NULL, NULL);
	return rc;
}

const struct mr_op mr_op_gateway = {
	.name = "gateway",
	.command = "gateway",
	.summary = "Serve one agent's mail over HTTP until Ctrl-C",
	.help = "Answers /v1/mail/status and the other routes of an agent's gateway, for that agent "
		"alone. mailroom mail resolve-live finds it while it runs.",
	.params = params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = run,
};
