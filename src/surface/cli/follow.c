/* surface/cli/follow.c - an inbox followed as it fills: a line for each message, when it comes. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "op/team/watching.h"
#include "surface/cli/commands.h"
#include "surface/cli/terminal.h"

#include <unistd.h>

enum { LINE_BYTES = 256 << 20 };

static const struct mr_param params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "count",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = INT32_MAX,
		.summary = "end after so many messages" },
	{ .name = "timeout",
		.type = MR_TYPE_INT,
		.max = INT32_MAX / 1000,
		.summary =
			"end after so many seconds; with --count, fewer messages are a failure" },
	{ .name = "cursor",
		.type = MR_TYPE_INT,
		.summary = "begin after this message, and not now" },
	{ .name = "include_bodies",
		.type = MR_TYPE_BOOL,
		.summary = "whole messages",
		.fallback = "false" },
	{ 0 },
};

struct follow {
	int64_t left; /* messages until the end */
	bool bodies, json;
};

/* False after the last message, or when the output is closed. */
static bool put_item(void *arg, const struct mr_team_item *item)
{
	struct follow *f = arg;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_render style = mr_terminal_style(STDOUT_FILENO);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, LINE_BYTES);
	if (f->json) {
		mr_out_init_json(&out, &text, MR_JSON_COMPACT);
		mr_shape_team_item(&out, NULL, item, false);
		mr_buf_putc(&text, '\n');
	} else {
		mr_out_init_tree(&out, arena);
		mr_shape_team_item(&out, NULL, item, false);
		(f->bodies ? mr_render_message : mr_render_news)(&text, mr_out_tree(&out), &style);
		if (f->bodies)
			mr_buf_putc(&text, '\n');
	}
	return mr_terminal_write(STDOUT_FILENO, mr_buf_bytes(&text)) && --f->left > 0;
}

static enum mr_code watch_inbox(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct follow f = {
		.left = mr_args_int(in, "count", INT64_MAX),
		.bodies = mr_args_bool(in, "include_bodies", false),
		.json = !mr_out_is_for_people(out),
	};
	int64_t timeout_s = mr_args_int(in, "timeout", 0);
	struct mr_watching watching = {
		.project_key = mr_args_text(in, "project_key"),
		.agent_name = mr_args_text(in, "agent_name"),
		.has_cursor = mr_args_has(in, "cursor"),
		.cursor = mr_args_int(in, "cursor", 0),
		.include_bodies = f.bodies,
		.timeout_ms = mr_args_has(in, "timeout") ? timeout_s * 1000 : -1,
		.show = put_item,
		.arg = &f,
	};
	struct mr_team *team;
	bool is_late = false;
	enum mr_code rc = mr_contract_team_open(call, &team);

	if (!rc)
		rc = mr_watching_inbox(call, team, &watching, &is_late);
	if (rc || !is_late || !mr_args_has(in, "count"))
		return rc;
	return mr_err_set(&call->cx.err, MR_ETIMEOUT,
		"%lld of %lld messages did not come within %lld s", (long long)f.left,
		(long long)mr_args_int(in, "count", 0), (long long)timeout_s);
}

const struct mr_op mr_op_team_watch = {
	.name = "watch_inbox",
	.command = "team watch",
	.summary = "Follow an inbox: each message as it comes, until Ctrl-C",
	.help = "One line for each message; with --json one object. Nothing is marked as read. "
		"In scripts: mailroom team watch backend BlueLake --count 1 --timeout 60 --json",
	.params = params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.run = watch_inbox,
};
