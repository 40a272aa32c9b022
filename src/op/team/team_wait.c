/* op/team/team_wait.c - operation: waiting for mail, without asking again and again. */
#include "op/team/team_ops.h"
#include "team/agent.h"
#include "team/message_sql.h"
#include "team/store/watch.h"

/* A writer that died before it could ring is noticed after this time; so is who has gone. */
enum { TIMEOUT_DEFAULT_S = 30, TIMEOUT_MAX_S = 300, LOOK_MS = 5000, LOOK_OVER_MS = 1000 };

static const char *const alias_since[] = { "cursor", "since_ts", NULL };
static const char *const alias_timeout[] = { "timeout", NULL };

static const struct mr_param params[] = {
	MR_TEAM_PROJECT_PARAM,
	MR_TEAM_AGENT_PARAM,
	{ .name = "timeout_seconds",
		.type = MR_TYPE_INT,
		.min = 0,
		.max = TIMEOUT_MAX_S,
		.summary = "how long to wait at most",
		.aliases = alias_timeout,
		.fallback = "30" },
	{ .name = "since",
		.type = MR_TYPE_TEXT,
		.flags = MR_LENIENT,
		.summary = "what is later than this counts: the cursor of the last answer, a "
			   "message's "
			   "id, or a time",
		.aliases = alias_since,
		.fallback = "what comes from now on" },
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.min = 1,
		.max = MR_TEAM_LIST_MAX,
		.summary = "at most so many; the cursor leads to the rest",
		.fallback = "20" },
	{ .name = "include_bodies",
		.type = MR_TYPE_BOOL,
		.summary = "with their texts",
		.fallback = "false" },
	MR_TEAM_READING_PARAMS,
	{ 0 },
};

static const struct mr_field fields[] = {
	{ .name = "messages",
		.type = MR_TYPE_LIST,
		.fields = mr_shape_team_message_fields,
		.summary = "oldest first" },
	{ .name = "timed_out", .type = MR_TYPE_BOOL, .summary = "nothing came in time" },
	{ .name = "cursor", .type = MR_TYPE_INT, .summary = "for the next call's since" },
	{ 0 },
};

struct waiting {
	struct mr_team *team;
	struct mr_team_agent agent;
	int64_t after; /* the last message that does not count */
	int64_t limit;
	bool bodies;
};

static enum mr_code find_start(struct mr_call *call, const struct mr_args *in, struct waiting *w)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	enum mr_code rc = mr_team_read(&call->cx, w->team, &reader);

	if (!rc)
		rc = mr_team_agent_resolve(&call->cx, w->team, reader.db,
			mr_args_text(in, "project_key"), mr_args_text(in, "agent_name"), &project,
			&w->agent);
	return rc ? rc : mr_team_message_last(&call->cx, reader.db, &w->after);
}

/* Where what is later than a time begins: back from the newest, as far as that goes. */
static enum mr_code find_time(struct mr_call *call, const struct mr_args *in, struct waiting *w)
{
	struct mr_team_inbox_query query = {
		.project_key = mr_args_text(in, "project_key"),
		.agent_name = mr_args_text(in, "agent_name"),
		.since_ts = mr_args_text(in, "since"),
		.limit = MR_TEAM_LIST_MAX,
	};

	do {
		struct mr_team_items items;
		enum mr_code rc = mr_team_inbox_fetch(&call->cx, w->team, &query, &items);

		if (rc)
			return rc;
		if (items.len)
			w->after = items.items[items.len - 1].message.id - 1;
		query.cursor = items.next;
	} while (query.cursor);
	return MR_OK;
}

/* A number is a message, anything else a time. */
static enum mr_code read_since(struct mr_call *call, const struct mr_args *in, struct waiting *w)
{
	const char *since = mr_args_text(in, "since");

	if (!since || mr_str_to_int(since, &w->after))
		return MR_OK;
	return find_time(call, in, w);
}

/* What is there now. The connection is given back before anybody waits. */
static enum mr_code look(struct mr_call *call, struct waiting *w, struct mr_team_items *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(&call->cx, w->team, &reader);

	if (!rc)
		rc = mr_team_inbox_after(&call->cx, reader.db, &w->agent, w->after, w->bodies,
			w->limit, out);
	if (!rc && out->len)
		w->after = out->items[out->len - 1].message.id;
	return rc;
}

static bool is_over(const struct mr_call *call)
{
	return call->is_over && call->is_over(call->is_over_arg);
}

static enum mr_code wait_for(struct mr_call *call, struct waiting *w, int64_t timeout_ms,
	struct mr_team_watch *watch, struct mr_team_items *out)
{
	/* The machine's own clock: a wait must end even where a test's clock stands still. */
	const struct mr_clock *clock = mr_clock_system();
	int64_t until_ms = mr_clock_mono_ms(clock) + timeout_ms;
	int64_t most_ms = call->is_over ? LOOK_OVER_MS : LOOK_MS;

	for (;;) {
		enum mr_code rc = look(call, w, out);
		int64_t left_ms = until_ms - mr_clock_mono_ms(clock);
		bool changed = false;

		/* Others change things too, and often: only what is ours ends the wait. */
		if (rc || out->len || left_ms <= 0 || is_over(call))
			return rc;
		/* Whoever waits for us sees that we still wait. */
		if (call->cx.progress)
			call->cx.progress(call->cx.progress_arg, "waiting for mail",
				(size_t)((timeout_ms - left_ms) / 1000),
				(size_t)(timeout_ms / 1000));
		rc = mr_team_watch_wait(&call->cx, watch,
			(int)(left_ms < most_ms ? left_ms : most_ms), &changed);
		if (rc)
			return rc;
	}
}

static enum mr_code wait_for_mail(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	struct mr_team_showing showing = mr_team_showing(call, in);
	struct mr_team_watch *watch MR_CLEANUP(mr_team_watch_close) = NULL;
	int64_t timeout_s = mr_args_int(in, "timeout_seconds", TIMEOUT_DEFAULT_S);
	struct waiting w = { .limit = mr_args_int(in, "limit", MR_TEAM_LIST_DEFAULT),
		.bodies = mr_args_bool(in, "include_bodies", false) };
	struct mr_team_items items = { 0 };
	enum mr_code rc = mr_team_home_open(call, &w.team);

	/* The bell first: what comes while we look rings it. */
	if (!rc)
		rc = mr_team_watch_open(&call->cx, w.team, &watch);
	if (!rc)
		rc = find_start(call, in, &w);
	if (!rc)
		rc = read_since(call, in, &w);
	if (!rc)
		rc = wait_for(call, &w, timeout_s * 1000, watch, &items);
	if (rc)
		return rc;
	mr_team_show_bodies(call, &showing, &items);
	mr_out_map(out, NULL);
	mr_shape_team_items(out, "messages", &items, false);
	mr_out_bool(out, "timed_out", items.len == 0);
	mr_out_int(out, "cursor", w.after);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_wait = {
	.name = "wait_for_mail",
	.command = "team wait",
	.summary = "Wait until mail comes",
	.help = "Use it instead of calling fetch_inbox again and again: it returns as soon as "
		"something arrives. Give the cursor of one answer as since of the next call, and "
		"nothing is missed.",
	.cluster = "messaging",
	.params = params,
	.result = fields,
	.traits = MR_CORE | MR_QUOTES | MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.envelope = &mr_envelope_team,
	.run = wait_for_mail,
};
