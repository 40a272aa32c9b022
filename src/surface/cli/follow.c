/* surface/cli/follow.c - an inbox followed as it fills: a line for each message, when it comes. */
#include "op/bind.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "op/team/watching.h"
#include "surface/cli/commands.h"
#include "surface/cli/terminal.h"

#include <unistd.h>

enum { LINE_BYTES = 256 << 20 };

struct asked {
	struct mr_watching watching;
	int64_t count, timeout_s;
	bool has_count, has_timeout;
};

static const struct mr_param params[] = {
	MR_TEAM_PROJECT_IN(struct asked, watching),
	MR_TEAM_AGENT_IN(struct asked, watching),
	MR_PARAM(struct asked, count, "count", .min = 1, .max = INT32_MAX,
		.summary = "end after so many messages", .given = MR_FLAG(struct asked, has_count)),
	MR_PARAM(struct asked, timeout_s, "timeout", .max = INT32_MAX / 1000,
		.summary = "end after so many seconds; with --count, fewer messages are a failure",
		.given = MR_FLAG(struct asked, has_timeout)),
	MR_PARAM(struct asked, watching.cursor, "cursor",
		.summary = "begin after this message, and not now",
		.given = MR_FLAG(struct asked, watching.has_cursor)),
	MR_PARAM(struct asked, watching.include_bodies, "include_bodies",
		.summary = "whole messages", .fallback = "false"),
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
	struct asked asked = { 0 };
	struct follow f = { .json = !mr_out_is_for_people(out) };
	bool is_late = false;
	enum mr_code rc;

	mr_bind_request(call->cx.arena, in, &asked);
	f.left = asked.has_count ? asked.count : INT64_MAX;
	f.bodies = asked.watching.include_bodies;
	asked.watching.timeout_ms = asked.has_timeout ? asked.timeout_s * 1000 : -1;
	asked.watching.show = put_item;
	asked.watching.arg = &f;
	rc = mr_watching_inbox(call, &asked.watching, &is_late);
	if (rc || !is_late || !asked.has_count)
		return rc;
	return mr_err_set(&call->cx.err, MR_ETIMEOUT,
		"%lld of %lld messages did not come within %lld s", (long long)f.left,
		(long long)asked.count, (long long)asked.timeout_s);
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
