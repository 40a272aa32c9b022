/*
 * surface/cli/demo.c - The operation `demo`: a server with a team that works and a workspace with
 * mail, in a directory that goes when it ends.
 */
#include "surface/cli/demo.h"

#include "app/settings.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/keeper.h"
#include "op/args.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/team/team_home.h"
#include "surface/cli/commands.h"
#include "surface/cli/serve.h"
#include "surface/cli/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct mr_param params[] = {
	{ .name = "port",
		.type = MR_TYPE_INT,
		.max = 65535,
		.summary = "port to listen on; 0 takes a free one",
		.fallback = "0" },
	{ .name = "pace",
		.type = MR_TYPE_INT,
		.min = 50,
		.max = 60000,
		.summary = "milliseconds between two things that the agents do",
		.fallback = "2500" },
	{ 0 },
};

/* ---- operations ---- */

struct mr_call mr_demo_call(const struct mr_app *app)
{
	struct mr_call call = mr_dispatch_call(app, mr_arena_new());

	call.may_write = true;
	call.is_admin = true;
	call.for_person = true;
	call.cx.reach = NULL; /* all of it is ours */
	return call;
}

enum mr_code mr_demo_ask(struct mr_call *call, const struct mr_op *op, const char *const *pairs,
	const struct mr_value **out)
{
	struct mr_arena *arena = call->cx.arena;
	struct mr_out args, result;
	enum mr_code rc;

	mr_out_init_tree(&args, arena);
	mr_out_map(&args, NULL);
	for (; *pairs; pairs += 2) {
		const struct mr_param *param = mr_param_find(op->params, pairs[0]);
		struct mr_texts list = { 0 };

		if (param && param->type == MR_TYPE_TEXTS) {
			list = mr_str_split(arena, pairs[1], '\n');
			mr_out_texts(&args, pairs[0], &list);
		} else {
			mr_out_text(&args, pairs[0], pairs[1]);
		}
	}
	mr_out_end(&args);
	mr_out_init_tree(&result, arena);
	rc = mr_dispatch(call, op, mr_out_tree(&args), &result);
	if (!rc && out)
		*out = mr_out_tree(&result);
	return rc;
}

/* ---- the directory ---- */

struct demo {
	struct mr_call *call;
	char path[PATH_MAX]; /* "" when there is none */
	struct mr_keeper keeper;
	struct mr_team_home *home;
	struct mr_demo_team *team;
	struct mr_app app; /* of the demo: other settings, other storage */
	int pace_ms;
	enum mr_code rc; /* of what was started once the server listened */
};

/* In the keeper, if we were killed: it has the directory alone. */
static void clean(int dir)
{
	char path[PATH_MAX], link[64];
	struct mr_err err;
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return;
	path[len] = '\0';
	if (mr_fs_remove_all(AT_FDCWD, path, &err))
		return; /* nobody is there to be told */
}

/* In memory where there is some; else where temporary files are. */
static enum mr_code make_directory(struct demo *demo)
{
	const char *places[] = { getenv("TMPDIR"), "/dev/shm", "/tmp" };
	int dir;

	for (size_t i = 0; i < MR_LEN(places); i++) {
		if (!places[i] || !*places[i] || access(places[i], W_OK | X_OK) != 0)
			continue;
		(void)snprintf(demo->path, sizeof(demo->path), "%s/mailroom-demo-XXXXXX",
			places[i]);
		if (mkdtemp(demo->path))
			break;
		*demo->path = '\0';
	}
	if (!*demo->path || chdir(demo->path) != 0)
		return mr_err_os(&demo->call->cx.err, errno,
			"cannot make a directory for the demo in /dev/shm or /tmp");
	dir = open(demo->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0) {
		mr_keeper_start(&demo->keeper, dir, clean);
		close(dir);
	}
	return MR_OK;
}

static void end(struct demo *demo)
{
	struct mr_err err;

	mr_demo_team_stop(demo->team);
	mr_team_home_free(demo->home);
	if (*demo->path && !mr_fs_remove_all(AT_FDCWD, demo->path, &err))
		mr_keeper_stop(&demo->keeper);
}

/* ---- the program that it runs in ---- */

/* Nothing of this user's settings, agents or data. */
static enum mr_code configure(struct demo *demo)
{
	struct mr_arena *arena = demo->call->cx.arena;
	const char *home = mr_arena_printf(arena, "HOME=%s", demo->path);
	const char *const variables[] = { home, NULL };
	const char *assigned[] = {
		mr_arena_printf(arena, "storage.root=%s/data", demo->path),
		mr_arena_printf(arena, "agents.registry=%s/registry", demo->path),
		"http.host=127.0.0.1",
		"http.socket=off",
		"http.allow_localhost=true",
		"log.level=error",
	};
	const struct mr_texts assignments = { assigned, MR_LEN(assigned) };
	struct mr_settings_sources sources = { .assignments = &assignments,
		.variables = variables,
		.cwd = AT_FDCWD };
	enum mr_code rc =
		mr_settings_load(arena, &sources, &demo->app.settings, &demo->call->cx.err);

	demo->home = mr_team_home_new();
	demo->app.team = demo->home;
	demo->app.workspace = NULL;
	return rc;
}

static void greet(const struct demo *demo, const char *url)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	mr_buf_printf(&text,
		"The Mailroom demo listens on %s\n"
		"\n"
		"  %s/mail                  what needs you, and who is at work\n"
		"  %s/mail/inbox            what five agents say to each other, as they say it\n"
		"  %s/mail/projects         their project: who holds which file, and the history\n"
		"  %s/mail/work             e-mail that waits for a decision\n"
		"  %s/mail/work/approval    mail that leaves only when you approve it\n"
		"\n"
		"None of it is sent to anybody. It is kept in %s\nuntil you press Ctrl-C.\n",
		url, url, url, url, url, url, demo->path);
	mr_terminal_write(STDOUT_FILENO, mr_buf_bytes(&text));
}

/* Once the server listens; the signals that end it are blocked by now, and in threads of ours. */
static void begin(void *arg, struct mr_call *call, const char *url)
{
	struct demo *demo = arg;

	(void)call;
	demo->rc = mr_demo_team_start(&demo->app, demo->pace_ms, &demo->team, &demo->call->cx.err);
	if (!demo->rc)
		greet(demo, url);
	else
		(void)raise(SIGTERM);
}

static enum mr_code run(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct demo demo MR_CLEANUP(end) = { .call = call,
		.app = *call->app,
		.pace_ms = (int)mr_args_int(in, "pace", 2500) };
	struct mr_serving how = { .host = "127.0.0.1",
		.port = (int)mr_args_int(in, "port", 0),
		.announce = begin,
		.arg = &demo };
	struct mr_call served;
	enum mr_code rc = make_directory(&demo);

	(void)out;
	if (!rc)
		rc = configure(&demo);
	if (!rc)
		rc = mr_demo_desk(&demo.app, &call->cx.err);
	if (rc)
		return rc;
	how.workspace = mr_arena_printf(call->cx.arena, "%s/desk", demo.path);
	served = *call;
	served.app = &demo.app;
	rc = mr_serve(&served, &how);
	if (rc)
		call->cx.err = served.cx.err;
	return rc ? rc : demo.rc;
}

const struct mr_op mr_op_demo = {
	.name = "demo",
	.command = "demo",
	.summary = "Show Mailroom at work: five agents and a desk with mail, gone at Ctrl-C",
	.help = "Starts a server on a free port of this machine with a team that talks, reserves files "
		"and acknowledges for as long as it runs, and an e-mail workspace whose queue waits "
		"for approval. Nothing of yours is read, nothing is sent, and nothing is left.",
	.params = params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = run,
};
