/* surface/cli/mcp_stdio.c - MCP on standard input and output, for clients that start their servers.
 */
#include "app/locations.h"
#include "app/settings.h"
#include "base/log.h"
#include "base/reach.h"
#include "op/args.h"
#include "op/call.h"
#include "op/contract.h"
#include "op/team/team_home.h"
#include "op/trace.h"
#include "op/work/tools_work.h"
#include "surface/cli/commands.h"
#include "surface/mcp/answer.h"
#include "surface/mcp/stdio.h"
#include "text/token.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const struct mr_param params[] = {
	{ .name = "workspace",
		.type = MR_TYPE_TEXT,
		.summary = "offer tools for this e-mail workspace, in place of workspace.root" },
	{ 0 },
};

static void free_mcp(struct mr_mcp **mcp)
{
	mr_mcp_free(*mcp);
}

static void start_log(const struct mr_settings *settings)
{
	enum mr_log_level level = MR_LOG_INFO;

	mr_log_level_parse(mr_settings_text(settings, "log.level"), &level);
	mr_log_start(level, NULL, NULL);
}

/* A descriptor that a termination signal makes readable. Call it before any thread starts. */
static enum mr_code catch_signals(int *out, struct mr_err *err)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error like a full disk */
	fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (fd < 0)
		return mr_err_os(err, errno, "signalfd");
	*out = fd;
	return MR_OK;
}

enum { SESSION_BYTES = 16 };

static enum mr_code serve(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	const struct mr_settings *s = call->app->settings;
	const struct mr_mcp_options options = mr_mcp_options_of();
	struct mr_mcp *mcp MR_CLEANUP(free_mcp) = NULL;
	struct mr_reach reach = *call->app->reach;
	struct mr_app app;
	int stop = -1;
	enum mr_code rc;

	(void)out;
	start_log(s);
	rc = mr_tools_work_begin(call, mr_args_text(in, "workspace"));
	if (!rc)
		rc = catch_signals(&stop, &call->cx.err);
	if (!rc)
		rc = mr_trace_begin(call);
	if (rc)
		return rc;
	/* Go on without storage: tool calls can report it, a server that does not start cannot. */
	if (mr_team_home_serve(call))
		mr_log(MR_LOG_ERROR, "storage", "%s", call->cx.err.msg);
	/* A client without roots of its own is taken to work in the directory it started us in. */
	if (mr_locations_project(call->cx.arena, NULL, &reach.place, &call->cx.err))
		reach.place = NULL;
	app = *call->app;
	app.reach = &reach;
	app.agent_name = mr_settings_text(s, "guard.agent");
	app.session = mr_token_hex(call->cx.arena, call->cx.rand, SESSION_BYTES);
	mcp = mr_mcp_new(&app, &options);
	rc = mr_mcp_stdio_serve(mcp, STDIN_FILENO, STDOUT_FILENO, stop, &call->cx.err);
	close(stop);
	mr_team_home_session_end(call, app.session);
	return rc;
}

const struct mr_op mr_op_mcp = {
	.name = "mcp",
	.command = "mcp",
	.summary = "Speak MCP on stdin and stdout, for a client that starts it",
	.help = "One JSON-RPC message a line, until the input ends. It works on storage.root by "
		"itself, beside a server and any number of others like it: all see the same mail "
		"at "
		"once. mailroom connect CLIENT --stdio writes it into a client's configuration.",
	.params = params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = serve,
};
