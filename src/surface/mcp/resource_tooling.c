/* surface/mcp/resource_tooling.c - resources about the server itself: environment, tools and
 * schemas, metrics, recent calls, locks, capabilities. */
#include "app/metrics.h"
#include "app/settings.h"
#include "base/attr.h"
#include "base/fs.h"
#include "op/contract.h"
#include "op/team/shape_team.h"
#include "surface/mcp/recent.h"
#include "surface/mcp/resources.h"
#include "text/json.h"
#include "text/time.h"

#include <fcntl.h>
#include <string.h>

enum { WINDOW_S = 60, WINDOW_MAX_S = 30 * 24 * 3600, FILE_BYTES = 1 << 20, SAMPLE_BYTES = 1024 };

static void put_now(const struct mr_mcp_reading *r, struct mr_out *out)
{
	mr_shape_team_time(out, "generated_at", mr_clock_wall_us(r->ex->call.cx.clock));
}

enum mr_code mr_mcp_read_environment(struct mr_mcp_reading *r, struct mr_out *out)
{
	const char *args[] = { NULL };
	const struct mr_settings *s = r->ex->call.app->settings;
	const struct mr_value *health;
	enum mr_code rc = mr_mcp_resource_ask(r, "health_check", args, &health);

	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_value(out, "environment", mr_value_get(health, "environment"));
	mr_out_value(out, "database_url", mr_value_get(health, "database_url"));
	mr_out_map(out, "http");
	mr_out_value(out, "host", mr_value_get(health, "http_host"));
	mr_out_value(out, "port", mr_value_get(health, "http_port"));
	mr_out_text(out, "path", mr_settings_text(s, "http.path"));
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

/* ---- the directory ---- */

static const struct cluster {
	const char *name, *purpose, *frequency;
} clusters[] = {
	{ "infrastructure", "Projects, health, and tools that are not listed",
		"at the start of a session" },
	{ "identity", "Who works on a project",
		"at the start of a session, and when tasks change" },
	{ "messaging", "Mail between agents: send, read, acknowledge, wait",
		"often: before and after each piece of work" },
	{ "search", "Finding what was said, and summing it up",
		"when joining a conversation, and before asking" },
	{ "file_reservations", "Leases on files, so that edits do not collide",
		"before and after each edit of shared files" },
	{ "workflow_macros", "Usual sequences of calls as one",
		"instead of the calls they stand for" },
	{ "contact", "Who may write to whom across projects", "now and then" },
	{ "product_bus", "Projects that belong together", "seldom" },
	{ "build", "Turns at what only one may do at a time", "around each build" },
	{ "workspace", "A person's e-mail: looking for messages, and working on them",
		"when that mail is what you work on" },
};

static const struct {
	const char *workflow;
	const char *sequence[6];
} playbooks[] = {
	{ "Begin a session", { "health_check", "macro_start_session", "fetch_inbox" } },
	{ "Edit shared files",
		{ "file_reservation_paths", "send_message", "renew_file_reservations",
			"release_file_reservations" } },
	{ "Answer your mail",
		{ "fetch_inbox", "get_message", "reply_message", "acknowledge_message" } },
	{ "Join a conversation", { "macro_prepare_thread", "get_thread", "reply_message" } },
	{ "Wait for an answer", { "send_message", "wait_for_mail", "mark_message_read" } },
	{ "Write to another project", { "whois", "macro_contact_handshake", "send_message" } },
};

static const char *cluster_of(const struct mr_op *op)
{
	return op->cluster ? op->cluster : clusters[0].name;
}

static const char *complexity_of(const struct mr_op *op)
{
	static const char *const simple[] = { "health_check", "list_extended_tools",
		"ensure_project" };

	for (size_t i = 0; i < MR_LEN(simple); i++) {
		if (mr_str_eq(simple[i], op->name))
			return "low";
	}
	return "medium";
}

static void put_capabilities(struct mr_out *out, const char *key, const struct mr_op *op)
{
	mr_out_list(out, key);
	mr_out_text(out, NULL, cluster_of(op));
	mr_out_text(out, NULL, op->needs & MR_NEED_WRITE ? "write" : "read");
	mr_out_end(out);
}

/* name(required, ...), as somebody would write it down. */
static void put_sample(struct mr_out *out, const struct mr_op *op)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *comma = "";

	mr_buf_init(&text, SAMPLE_BYTES);
	mr_buf_printf(&text, "%s(", op->name);
	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		if (!(op->params[i].flags & MR_REQUIRED))
			continue;
		mr_buf_printf(&text, "%s%s=...", comma, op->params[i].name);
		comma = ", ";
	}
	mr_buf_putc(&text, ')');
	mr_out_list(out, "usage_examples");
	mr_out_map(out, NULL);
	mr_out_text(out, "hint", op->summary);
	mr_out_text(out, "sample", mr_buf_text(&text));
	mr_out_end(out);
	mr_out_end(out);
}

static void put_related(struct mr_out *out, const struct mr_app *app, const struct mr_op *op)
{
	const struct mr_op_table *table = app->table;

	mr_out_list(out, "related");
	for (size_t i = 0; i < table->len; i++) {
		const struct mr_op *other = table->ops[i];

		if (other != op && mr_contract_is_tool(app, other) &&
			mr_str_eq(cluster_of(other), cluster_of(op)))
			mr_out_text(out, NULL, other->name);
	}
	mr_out_end(out);
}

static void put_tool(struct mr_out *out, const struct mr_app *app, const struct mr_op *op,
	const struct cluster *cluster)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "name", op->name);
	mr_out_text(out, "summary", op->summary);
	mr_out_text(out, "use_when", op->help ? op->help : op->summary);
	put_related(out, app, op);
	mr_out_text(out, "expected_frequency", cluster->frequency);
	put_capabilities(out, "required_capabilities", op);
	put_sample(out, op);
	put_capabilities(out, "capabilities", op);
	mr_out_text(out, "complexity", complexity_of(op));
	mr_out_end(out);
}

/* Does this server have tools of the cluster? */
static bool has_tools(const struct mr_app *app, const struct cluster *cluster)
{
	for (size_t i = 0; i < app->table->len; i++) {
		const struct mr_op *op = app->table->ops[i];

		if (mr_contract_is_tool(app, op) && mr_str_eq(cluster_of(op), cluster->name))
			return true;
	}
	return false;
}

enum mr_code mr_mcp_read_directory(struct mr_mcp_reading *r, struct mr_out *out)
{
	const struct mr_app *app = r->ex->call.app;
	const struct mr_op_table *table = app->table;

	mr_out_map(out, NULL);
	put_now(r, out);
	mr_out_text(out, "metrics_uri", "resource://tooling/metrics");
	mr_out_list(out, "clusters");
	for (size_t c = 0; c < MR_LEN(clusters); c++) {
		if (!has_tools(app, &clusters[c]))
			continue;
		mr_out_map(out, NULL);
		mr_out_text(out, "name", clusters[c].name);
		mr_out_text(out, "purpose", clusters[c].purpose);
		mr_out_list(out, "tools");
		for (size_t i = 0; i < table->len; i++) {
			if (mr_contract_is_tool(app, table->ops[i]) &&
				mr_str_eq(cluster_of(table->ops[i]), clusters[c].name))
				put_tool(out, app, table->ops[i], &clusters[c]);
		}
		mr_out_end(out);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_list(out, "playbooks");
	for (size_t i = 0; i < MR_LEN(playbooks); i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "workflow", playbooks[i].workflow);
		mr_out_list(out, "sequence");
		for (size_t k = 0; playbooks[i].sequence[k]; k++)
			mr_out_text(out, NULL, playbooks[i].sequence[k]);
		mr_out_end(out);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

/* ---- arguments ---- */

static void put_names(struct mr_out *out, const char *key, const struct mr_op *op, bool required)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		if (!(op->params[i].flags & MR_REQUIRED) == !required)
			mr_out_text(out, NULL, op->params[i].name);
	}
	mr_out_end(out);
}

enum mr_code mr_mcp_read_schemas(struct mr_mcp_reading *r, struct mr_out *out)
{
	static const char *const types[] = {
		[MR_TYPE_TEXT] = "string",
		[MR_TYPE_INT] = "integer",
		[MR_TYPE_BOOL] = "boolean",
		[MR_TYPE_REAL] = "number",
		[MR_TYPE_TEXTS] = "list of strings",
		[MR_TYPE_INTS] = "list of integers",
		[MR_TYPE_OBJECT] = "object",
		[MR_TYPE_LIST] = "list of objects",
	};
	const struct mr_op_table *table = r->ex->call.app->table;

	mr_out_map(out, NULL);
	put_now(r, out);
	mr_out_map(out, "tools");
	for (size_t i = 0; i < table->len; i++) {
		const struct mr_op *op = table->ops[i];

		if (!mr_contract_is_tool(r->ex->call.app, op))
			continue;
		mr_out_map(out, op->name);
		put_names(out, "required", op, true);
		put_names(out, "optional", op, false);
		mr_out_map(out, "shapes");
		for (size_t k = 0; k < mr_param_count(op->params); k++)
			mr_out_text(out, op->params[k].name, types[op->params[k].type]);
		mr_out_end(out);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

/* ---- what was done ---- */

enum mr_code mr_mcp_read_metrics(struct mr_mcp_reading *r, struct mr_out *out)
{
	const struct mr_app *app = r->ex->call.app;

	mr_out_map(out, NULL);
	put_now(r, out);
	mr_out_list(out, "tools");
	for (size_t i = 0; i < app->table->len; i++) {
		const struct mr_op *op = app->table->ops[i];
		uint64_t good, bad;

		if (!mr_contract_is_tool(app, op))
			continue;
		good = mr_metrics_counted(app->metrics, MR_METRIC_TOOL_CALLS, op->name, "ok");
		bad = mr_metrics_counted(app->metrics, MR_METRIC_TOOL_CALLS, op->name, "error");
		mr_out_map(out, NULL);
		mr_out_text(out, "name", op->name);
		mr_out_int(out, "calls", (int64_t)(good + bad));
		mr_out_int(out, "errors", (int64_t)bad);
		mr_out_text(out, "cluster", cluster_of(op));
		put_capabilities(out, "capabilities", op);
		mr_out_text(out, "complexity", complexity_of(op));
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

static const char *cluster_of_name(const struct mr_app *app, const char *name)
{
	const struct mr_op *op = mr_op_find(app->table, name);

	return op ? cluster_of(op) : clusters[0].name;
}

/* The filter on recent calls; a project matches under any of its names. */
struct wanted {
	const char *agent, *project; /* as they were given, or NULL */
	struct mr_team_project known;
	bool is_known;
};

static enum mr_code read_wanted(struct mr_mcp_reading *r, struct wanted *out)
{
	*out = (struct wanted){ .agent = mr_uri_text(&r->uri, "agent"),
		.project = mr_uri_text(&r->uri, "project") };
	if (!out->project)
		return MR_OK;
	return mr_view_seek_project(&r->ex->call, r->ex->team, out->project, &out->is_known,
		&out->known);
}

static bool is_of_project(const struct wanted *w, const char *called)
{
	const char *tail;

	if (!w->project || mr_str_eq_nocase(w->project, called))
		return true;
	if (!w->is_known)
		return false;
	tail = strrchr(w->known.human_key, '/');
	return mr_str_eq(called, w->known.human_key) || mr_str_eq_nocase(called, w->known.slug) ||
		mr_str_eq_nocase(called, tail ? tail + 1 : w->known.human_key);
}

static void put_or_null(struct mr_out *out, const char *key, const char *text)
{
	mr_out_text(out, key, *text ? text : NULL);
}

enum mr_code mr_mcp_read_recent(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_ctx *cx = &r->ex->call.cx;
	int64_t window_s = WINDOW_S;
	struct mr_mcp_called *calls;
	struct wanted wanted;
	size_t len, count = 0;
	enum mr_code rc = read_wanted(r, &wanted);

	if (rc)
		return rc;
	if (!mr_str_to_int(r->variable, &window_s) || window_s < 1)
		window_s = WINDOW_S;
	if (window_s > WINDOW_MAX_S)
		window_s = WINDOW_MAX_S;
	len = mr_mcp_recent_since(mr_mcp_recent(r->ex->mcp), cx->arena,
		mr_clock_wall_us(cx->clock) - window_s * MR_TIME_S, &calls);
	mr_out_map(out, NULL);
	put_now(r, out);
	mr_out_int(out, "window_seconds", window_s);
	mr_out_list(out, "entries");
	for (size_t i = 0; i < len; i++) {
		if ((wanted.agent && !mr_str_eq_nocase(wanted.agent, calls[i].agent)) ||
			!is_of_project(&wanted, calls[i].project))
			continue;
		mr_out_map(out, NULL);
		mr_shape_team_time(out, "timestamp", calls[i].at_us);
		mr_out_text(out, "tool", calls[i].tool);
		put_or_null(out, "project", calls[i].project);
		put_or_null(out, "agent", calls[i].agent);
		mr_out_text(out, "cluster", cluster_of_name(r->ex->call.app, calls[i].tool));
		mr_out_end(out);
		count++;
	}
	mr_out_end(out);
	mr_out_int(out, "count", (int64_t)count);
	mr_out_end(out);
	return MR_OK;
}

/* ---- what agents are good at ---- */

static bool is_text(const struct mr_value *map, const char *key, const char *text)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT && mr_str_eq_nocase(value->text, text);
}

/* The list, or NULL when the file says nothing about this agent. */
static const struct mr_value *find_capabilities(const struct mr_value *file, const char *agent,
	const char *project)
{
	const struct mr_value *agents = mr_value_get(file, "agents");

	for (size_t i = 0; agents && agents->kind == MR_LIST && i < agents->list.len; i++) {
		const struct mr_value *one = &agents->list.items[i];
		const struct mr_value *list = mr_value_get(one, "capabilities");

		if (is_text(one, "name", agent) && list && list->kind == MR_LIST &&
			(!project || !mr_value_get(one, "project") ||
				is_text(one, "project", project)))
			return list;
	}
	return NULL;
}

enum mr_code mr_mcp_read_capabilities(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_ctx *cx = &r->ex->call.cx;
	const char *path = "";
	const char *project = mr_uri_text(&r->uri, "project");
	const struct mr_value *file = NULL, *found;
	struct mr_bytes text;
	enum mr_code rc = mr_settings_path(r->ex->call.app->settings, "mcp.capabilities_file",
		&path, &cx->err);

	if (!rc && *path)
		rc = mr_fs_read(cx->arena, AT_FDCWD, path, FILE_BYTES, &text, &cx->err);
	if (!rc && *path)
		rc = mr_json_parse(cx->arena, text, NULL, &file, &cx->err);
	if (rc)
		return mr_err_set(&cx->err, MR_EINTERNAL, "mcp.capabilities_file: %s",
			mr_arena_strdup(cx->arena, cx->err.msg));
	found = find_capabilities(file, r->variable, project);
	mr_out_map(out, NULL);
	put_now(r, out);
	mr_out_text(out, "agent", r->variable);
	mr_out_text(out, "project", project);
	if (found) {
		mr_out_value(out, "capabilities", found);
	} else {
		mr_out_list(out, "capabilities");
		mr_out_end(out);
	}
	mr_out_end(out);
	return MR_OK;
}
