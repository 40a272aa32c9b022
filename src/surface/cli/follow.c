/* surface/cli/follow.c - an inbox followed as it fills: a line for each message, when it comes. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "surface/cli/commands.h"
#include "surface/cli/terminal.h"
#include "team/agent.h"
#include "team/inbox.h"
#include "team/message_sql.h"
#include "team/store/watch.h"

#include <unistd.h>

/* A writer that died before it could tell of its change is noticed after this time. */
enum { LOOK_AGAIN_MS = 10000, PAGE = 100, LINE_BYTES = 256 << 20 };

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
	struct mr_team *team;
	struct mr_team_agent agent;
	int64_t after; /* the last message shown */
	int64_t left;  /* messages until the end */
	bool bodies, json;
};

static bool put_item(const struct follow *f, const struct mr_team_item *item)
{
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
	return mr_terminal_write(STDOUT_FILENO, mr_buf_bytes(&text));
}

/* What came since the last look. `*go_on` becomes false when that was enough, or nobody reads. */
static enum mr_code show_news(struct mr_call *call, struct follow *f, bool *go_on)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = call->cx.clock, .rand = call->cx.rand };
	struct mr_team_items items = { .len = PAGE };
	enum mr_code rc = MR_OK;

	while (!rc && *go_on && items.len == PAGE) {
		struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };

		rc = mr_team_read(&cx, f->team, &reader);
		if (!rc)
			rc = mr_team_inbox_after(&cx, reader.db, &f->agent, f->after, f->bodies,
				PAGE, &items);
		for (size_t i = 0; !rc && *go_on && i < items.len; i++) {
			*go_on = put_item(f, &items.items[i]) && --f->left > 0;
			f->after = items.items[i].message.id;
		}
	}
	if (rc)
		call->cx.err = cx.err;
	return rc;
}

static enum mr_code find_start(struct mr_call *call, const struct mr_args *in, struct follow *f)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	enum mr_code rc = mr_team_read(&call->cx, f->team, &reader);

	if (!rc)
		rc = mr_team_agent_resolve(&call->cx, f->team, reader.db,
			mr_args_text(in, "project_key"), mr_args_text(in, "agent_name"), &project,
			&f->agent);
	if (!rc && mr_args_has(in, "cursor"))
		f->after = mr_args_int(in, "cursor", 0);
	else if (!rc)
		rc = mr_team_message_last(&call->cx, reader.db, &f->after);
	return rc;
}

static enum mr_code follow(struct mr_call *call, const struct mr_args *in, struct follow *f,
	struct mr_team_watch *watch)
{
	int64_t timeout_ms = mr_args_int(in, "timeout", 0) * 1000;
	int64_t begun_ms = mr_clock_mono_ms(call->cx.clock);
	bool go_on = true;

	for (;;) {
		enum mr_code rc = show_news(call, f, &go_on);
		int64_t left_ms = LOOK_AGAIN_MS;
		bool changed;

		if (rc || !go_on)
			return rc;
		if (mr_args_has(in, "timeout")) {
			left_ms = begun_ms + timeout_ms - mr_clock_mono_ms(call->cx.clock);
			if (left_ms <= 0 && !mr_args_has(in, "count"))
				return MR_OK;
			if (left_ms <= 0)
				return mr_err_set(&call->cx.err, MR_ETIMEOUT,
					"%lld of %lld messages did not come within %lld s",
					(long long)f->left, (long long)mr_args_int(in, "count", 0),
					(long long)(timeout_ms / 1000));
		}
		rc = mr_team_watch_wait(&call->cx, watch,
			(int)(left_ms < LOOK_AGAIN_MS ? left_ms : LOOK_AGAIN_MS), &changed);
		if (rc)
			return rc;
	}
}

static enum mr_code watch_inbox(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_watch *watch MR_CLEANUP(mr_team_watch_close) = NULL;
	struct follow f = {
		.left = mr_args_int(in, "count", INT64_MAX),
		.bodies = mr_args_bool(in, "include_bodies", false),
		.json = !mr_out_is_for_people(out),
	};
	enum mr_code rc = mr_team_home_open(call, &f.team);

	/* The bell first: what comes while we look rings it. */
	if (!rc)
		rc = mr_team_watch_open(&call->cx, f.team, &watch);
	if (!rc)
		rc = find_start(call, in, &f);
	return rc ? rc : follow(call, in, &f, watch);
}

const struct mr_op mr_op_team_watch = {
	.name = "watch_inbox",
	.command = "team watch",
	.summary = "Follow an inbox: each message as it comes, until Ctrl-C",
	.help = "One line for each message; with --json one object. Nothing is marked as read. "
		"In scripts: mailroom team watch backend BlueLake --count 1 --timeout 60 --json",
	.params = params,
	.surfaces = MR_ON_CLI,
	.envelope = &mr_envelope_team,
	.run = watch_inbox,
};
