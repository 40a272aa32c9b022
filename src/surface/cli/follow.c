/* surface/cli/follow.c - an inbox or a whole project followed: a line for each message, and for
 * what else happens, when it comes. */
#include "op/bind.h"
#include "op/contract.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "op/team/watching.h"
#include "surface/cli/commands.h"
#include "surface/cli/terminal.h"
#include "text/time.h"

#include <unistd.h>

enum { LINE_BYTES = 256 << 20 };

struct asked {
	const char *project_key, *agent_name;
	int64_t count, timeout_s, cursor;
	bool has_count, has_timeout, has_cursor;
	bool include_bodies;
};

static const struct mr_param params[] = {
	MR_TEAM_PROJECT(struct asked),
	MR_PARAM(struct asked, agent_name, "agent_name", .flags = MR_POSITIONAL,
		.summary = "whose inbox; without it everything in the project",
		.aliases = mr_team_alias_agent),
	MR_PARAM(struct asked, count, "count", .given = MR_FLAG(struct asked, has_count), .min = 1,
		.max = INT32_MAX, .summary = "end after so many messages"),
	MR_PARAM(struct asked, timeout_s, "timeout", .given = MR_FLAG(struct asked, has_timeout),
		.max = INT32_MAX / 1000,
		.summary = "end after so many seconds; with --count, fewer messages are a failure"),
	MR_PARAM(struct asked, cursor, "cursor", .given = MR_FLAG(struct asked, has_cursor),
		.summary = "begin after this message, and not now"),
	MR_PARAM(struct asked, include_bodies, "include_bodies", .summary = "whole messages",
		.fallback = "false"),
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

/* What is told of it in one word, in JSON. */
static const char *const event_names[] = { "message", "acknowledged", "lease", "lease_ended" };

static void put_time(struct mr_out *out, const char *key, int64_t time_us)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	mr_out_text(out, key, mr_time_format(arena, time_us, MR_TIME_MICROS));
}

static void put_event_json(struct mr_out *out, const struct mr_happened *h)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "event", event_names[h->what]);
	put_time(out, "time", h->time_us);
	if (h->item) {
		mr_shape_team_item(out, "message", h->item, true);
	} else if (h->lease) {
		mr_out_text(out, "agent", h->lease->agent);
		mr_out_int(out, "id", h->lease->id);
		mr_out_text(out, "path_pattern", h->lease->path_pattern);
		mr_out_bool(out, "exclusive", h->lease->exclusive);
		mr_out_text(out, "reason", h->lease->reason);
		put_time(out, "expires_ts", h->lease->expires_ts);
	} else {
		mr_out_text(out, "agent", h->agent);
		mr_out_int(out, "message_id", h->message_id);
		mr_out_text(out, "subject", h->subject);
	}
	mr_out_end(out);
}

static const char *sentence(struct mr_arena *arena, const struct mr_happened *h)
{
	const struct mr_team_reservation *lease = h->lease;

	if (h->what == MR_HAPPENS_MAIL)
		return mr_arena_printf(arena, "%lld  %s to %s: %s%s",
			(long long)h->item->message.id, h->item->from,
			h->item->to.len ? mr_str_join(arena, &h->item->to, ", ") : "nobody openly",
			h->item->message.subject,
			h->item->message.ack_required ? "  [to be acknowledged]" : "");
	if (h->what == MR_HAPPENS_ACK)
		return mr_arena_printf(arena, "%s has acknowledged %lld: %s", h->agent,
			(long long)h->message_id, h->subject);
	return mr_arena_printf(arena, "%s %s %s%s%s", lease->agent,
		h->what == MR_HAPPENS_LEASE_END ? "no longer holds"
			: lease->exclusive      ? "holds"
						: "shares",
		lease->path_pattern, h->what == MR_HAPPENS_LEASE && *lease->reason ? ": " : "",
		h->what == MR_HAPPENS_LEASE ? lease->reason : "");
}

static bool put_event(void *arg, const struct mr_happened *happened)
{
	struct follow *f = arg;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, LINE_BYTES);
	if (f->json) {
		mr_out_init_json(&out, &text, MR_JSON_COMPACT);
		put_event_json(&out, happened);
	} else {
		mr_buf_printf(&text, "%.8s  %s",
			mr_time_format(arena, happened->time_us, MR_TIME_SECONDS) + 11,
			mr_render_line(arena, sentence(arena, happened)));
	}
	mr_buf_putc(&text, '\n');
	return mr_terminal_write(STDOUT_FILENO, mr_buf_bytes(&text)) && --f->left > 0;
}

static enum mr_code watch_inbox(struct mr_call *call, struct mr_team *team,
	const struct asked *asked, struct mr_nothing *nothing)
{
	struct follow f = {
		.left = asked->has_count ? asked->count : INT64_MAX,
		.bodies = asked->include_bodies,
		.json = !call->invocation->format->is_for_people,
	};
	struct mr_watching watching = {
		.project_key = asked->project_key,
		.agent_name = asked->agent_name,
		.has_cursor = asked->has_cursor,
		.cursor = asked->cursor,
		.include_bodies = f.bodies,
		.timeout_ms = asked->has_timeout ? asked->timeout_s * 1000 : -1,
		.show = put_item,
		.arg = &f,
	};
	bool is_late = false;
	enum mr_code rc = asked->agent_name
		? mr_watching_inbox(call, team, &watching, &is_late)
		: mr_watching_project(call, team, &watching, put_event, &is_late);

	(void)nothing;
	if (rc || !is_late || !asked->has_count)
		return rc;
	return mr_err_set(&call->cx.err, MR_ETIMEOUT, "%lld of %lld %s did not come within %lld s",
		(long long)f.left, (long long)asked->count,
		asked->agent_name ? "messages" : "events", (long long)asked->timeout_s);
}
MR_TEAM_BIND_CALL(watch, watch_inbox, struct asked, struct mr_nothing);

const struct mr_op mr_op_team_watch = {
	.name = "watch_inbox",
	.command = "team watch",
	.summary = "Follow a project, or an inbox: each message as it comes, until Ctrl-C",
	.help = "Without an agent everything that happens in the project is told: messages, "
		"acknowledgements, leases.\n"
		"One line for each message; with --json one object. Nothing is marked as read. "
		"In scripts: mailroom team watch backend BlueLake --count 1 --timeout 60 --json",
	.params = params,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &watch,
};
