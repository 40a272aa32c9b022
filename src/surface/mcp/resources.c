/* surface/mcp/resources.c - the table of resources, and the methods resources/list, read,
 * subscribe and templates/list. */
#include "surface/mcp/resources.h"

#include "app/settings.h"
#include "base/attr.h"
#include "op/dispatch.h"
#include "surface/mcp/fixtures.h"
#include "text/token.h"

#include <string.h>

#define MAIL_QUERY "project,limit,include_bodies,max_chars,fence"

static const struct mr_mcp_resource rows[] = {
	{ .path = "config/environment",
		.name = "Environment",
		.description = "What the server is configured to be, without secrets",
		.read = mr_mcp_read_environment },
	{ .path = "tooling/directory",
		.name = "Directory of tools",
		.description = "All tools by what they are for, and usual sequences of them",
		.read = mr_mcp_read_directory },
	{ .path = "tooling/schemas",
		.name = "Arguments of tools",
		.description = "Which arguments each tool must and may be given",
		.read = mr_mcp_read_schemas },
	{ .path = "tooling/metrics",
		.name = "Calls of tools",
		.description = "How often each tool was called, and failed, since the start",
		.read = mr_mcp_read_metrics },
	{ .path = "tooling/locks",
		.name = "Locks",
		.description = "Who writes to which archive now",
		.view = mr_view_locks },
	{ .path = "tooling/capabilities",
		.variable = "agent",
		.query = "project",
		.name = "Capabilities of an agent",
		.description = "What the operator says an agent is good at",
		.read = mr_mcp_read_capabilities },
	{ .path = "tooling/recent",
		.variable = "window_seconds",
		.query = "agent,project",
		.name = "Recent calls",
		.description = "Which tools were called in the last seconds",
		.read = mr_mcp_read_recent },
	{ .path = "projects",
		.name = "Projects",
		.description = "All projects, oldest first",
		.read = mr_mcp_read_projects },
	{ .path = "project",
		.variable = "slug",
		.name = "Project",
		.description = "A project and its active agents",
		.view = mr_view_project,
		.quotes = true },
	{ .path = "agents",
		.variable = "project_key",
		.name = "Agents of a project",
		.description = "Its agents, the last active first, and how much they have not read",
		.view = mr_view_agents,
		.quotes = true },
	{ .path = "file_reservations",
		.variable = "slug",
		.query = "active_only",
		.name = "Leases of a project",
		.description = "Who works on which files",
		.read = mr_mcp_read_reservations,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_LEASES },
	{ .path = "message",
		.variable = "message_id",
		.query = "project,max_chars,fence",
		.name = "Message",
		.description = "One message with its text",
		.view = mr_view_message,
		.quotes = true },
	{ .path = "thread",
		.variable = "thread_id",
		.query = MAIL_QUERY,
		.name = "Thread",
		.description = "A conversation from its beginning",
		.view = mr_view_thread,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_THREAD },
	{ .path = "inbox",
		.variable = "agent",
		.query = MAIL_QUERY ",since_ts,urgent_only",
		.name = "Inbox",
		.description = "The newest messages an agent has received",
		.view = mr_view_inbox,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_INBOX },
	{ .path = "outbox",
		.variable = "agent",
		.query = MAIL_QUERY ",since_ts",
		.name = "Outbox",
		.description = "The newest messages an agent has sent",
		.view = mr_view_outbox,
		.quotes = true },
	{ .path = "mailbox",
		.variable = "agent",
		.query = "project,limit",
		.name = "Mailbox",
		.description = "An inbox, with the commit each message came with",
		.view = mr_view_mailbox,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_INBOX },
	{ .path = "mailbox-with-commits",
		.variable = "agent",
		.query = "project,limit",
		.name = "Mailbox with commits",
		.description = "An inbox, with what each commit added",
		.view = mr_view_mailbox_with_commits,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_INBOX },
	{ .path = "views/urgent-unread",
		.variable = "agent",
		.query = "project,limit",
		.name = "Urgent and unread",
		.description = "What is high or urgent and was not read yet",
		.view = mr_view_urgent_unread,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_INBOX },
	{ .path = "views/ack-required",
		.variable = "agent",
		.query = "project,limit",
		.name = "To be acknowledged",
		.description = "What the agent still owes an acknowledgement, newest first",
		.view = mr_view_ack_required,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_INBOX },
	{ .path = "views/acks-stale",
		.variable = "agent",
		.query = "project,ttl_seconds,limit",
		.name = "Acknowledgements that are late",
		.description = "What has waited longer than ttl_seconds, oldest first",
		.view = mr_view_acks_stale,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_INBOX },
	{ .path = "views/ack-overdue",
		.variable = "agent",
		.query = "project,ttl_minutes,limit",
		.name = "Acknowledgements that are overdue",
		.description = "What has waited longer than ttl_minutes, oldest first",
		.view = mr_view_ack_overdue,
		.quotes = true,
		.topic = MR_TEAM_TOPIC_INBOX },
	{ .path = "product",
		.variable = "uid",
		.name = "Product",
		.description = "A product and its projects",
		.view = mr_view_product },
	{ .path = "threads",
		.variable = "project",
		.query = "limit",
		.name = "Threads of a project",
		.description = "Its conversations, the most recently used first",
		.read = mr_mcp_read_threads,
		.quotes = true },
	{ .path = "contacts",
		.variable = "agent",
		.query = "project",
		.name = "Contacts",
		.description = "Who may write to an agent, and who has asked",
		.read = mr_mcp_read_contacts,
		.quotes = true },
	{ .path = "identity",
		.variable = "path",
		.name = "Identity of a path",
		.description = "Which project a path belongs to, or would",
		.view = mr_view_identity },
};

const struct mr_mcp_resource *mr_mcp_resource_find(struct mr_arena *arena, const char *text,
	struct mr_uri *uri, const char **variable)
{
	*variable = NULL;
	if (!mr_uri_parse(arena, text, uri))
		return NULL;
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		if (mr_uri_match(arena, uri, rows[i].path, rows[i].variable ? variable : NULL))
			return &rows[i];
	}
	return NULL;
}

const struct mr_mcp_resource *mr_mcp_resource_template(const char *uri_template)
{
	static const char scheme[] = "resource://";
	const char *path = uri_template + strlen(scheme);
	size_t len;

	if (!mr_str_starts(uri_template, scheme))
		return NULL;
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		len = strlen(rows[i].path);
		if (rows[i].variable && strncmp(path, rows[i].path, len) == 0 &&
			mr_str_starts(path + len, "/{"))
			return &rows[i];
	}
	return NULL;
}

/* ---- for the functions that read ---- */

enum mr_code mr_mcp_resource_ask(struct mr_mcp_reading *r, const char *op, const char *const *args,
	const struct mr_value **out)
{
	struct mr_call *call = &r->ex->call;
	const struct mr_op *found = mr_op_find(call->app->table, op);
	struct mr_value sent = { .kind = MR_MAP };
	struct mr_out tree;
	size_t count = 0;
	enum mr_code rc;

	while (args[count * 2])
		count++;
	sent.map.pairs = mr_arena_array(call->cx.arena, count, sizeof(*sent.map.pairs));
	for (size_t i = 0; i < count; i++) {
		if (!args[i * 2 + 1])
			continue;
		sent.map.pairs[sent.map.len++] = (struct mr_pair){ args[i * 2],
			{ .kind = MR_TEXT, .text = args[i * 2 + 1] } };
	}
	mr_out_init_tree(&tree, call->cx.arena);
	rc = mr_dispatch(call, found, &sent, &tree);
	if (!rc)
		*out = mr_out_tree(&tree);
	return rc;
}

struct mr_view mr_mcp_resource_view(const struct mr_mcp_reading *r)
{
	return (struct mr_view){
		.call = &r->ex->call,
		.team = r->ex->team,
		.name = r->variable,
		.project = mr_uri_text(&r->uri, "project"),
		.limit = mr_uri_int(&r->uri, "limit", MR_VIEW_UNSET),
		.max_chars = mr_uri_int(&r->uri, "max_chars", MR_VIEW_UNSET),
		.ttl_seconds = mr_uri_int(&r->uri, "ttl_seconds", MR_VIEW_UNSET),
		.ttl_minutes = mr_uri_int(&r->uri, "ttl_minutes", MR_VIEW_UNSET),
		.since_ts = mr_uri_text(&r->uri, "since_ts"),
		.include_bodies = mr_uri_flag(&r->uri, "include_bodies"),
		.urgent_only = mr_uri_flag(&r->uri, "urgent_only"),
		.has_fence = mr_uri_text(&r->uri, "fence") != NULL,
		.fence = mr_uri_flag(&r->uri, "fence"),
	};
}

/* ---- the methods ---- */

/* Turn the error into a JSON-RPC error: not found, invalid parameters, or internal. */
static enum mr_code refuse(struct mr_mcp_exchange *ex, const char *uri, enum mr_code rc)
{
	bool modern = ex->client->era == MR_MCP_STATELESS;
	const char *why = mr_arena_strdup(ex->call.cx.arena, ex->call.cx.err.msg);
	struct mr_out data;

	mr_out_init_tree(&data, ex->call.cx.arena);
	mr_out_map(&data, NULL);
	mr_out_text(&data, "uri", uri);
	mr_out_end(&data);
	ex->rpc_data = mr_out_tree(&data);
	return mr_mcp_refuse(ex,
		rc == MR_ENOTFOUND        ? (modern ? MR_RPC_PARAMS : MR_RPC_RESOURCE)
			: rc == MR_EINVAL ? MR_RPC_PARAMS
					  : MR_RPC_INTERNAL,
		"%s", why);
}

static enum mr_code begin(struct mr_mcp_exchange *ex, const char *text, struct mr_mcp_reading *r,
	const struct mr_mcp_resource **out)
{
	*r = (struct mr_mcp_reading){ .ex = ex };
	ex->call.fence = mr_settings_bool(mr_mcp_app(ex->mcp)->settings, "mcp.fence");
	*out = mr_mcp_resource_find(ex->call.cx.arena, text, &r->uri, &r->variable);
	if (!*out)
		return mr_err_set(&ex->call.cx.err, MR_ENOTFOUND, "there is no resource %.200s",
			text);
	return mr_mcp_open_team(ex);
}

static enum mr_code show(struct mr_mcp_reading *r, const struct mr_mcp_resource *row,
	struct mr_out *out)
{
	const struct mr_view view = mr_mcp_resource_view(r);

	return row->view ? row->view(&view, out) : row->read(r, out);
}

enum mr_code mr_mcp_resources_read(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const struct mr_mcp_fixtures *fixtures = mr_mcp_options(ex->mcp)->fixtures;
	const char *uri = mr_mcp_param_text(ex, "uri");
	const struct mr_mcp_resource *row = NULL;
	struct mr_mcp_reading r;
	struct mr_out tree;
	enum mr_code rc;

	if (!uri)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "uri is missing");
	if (fixtures && fixtures->read(ex, uri, out))
		return MR_OK;
	rc = begin(ex, uri, &r, &row);
	mr_out_init_tree(&tree, ex->call.cx.arena);
	if (!rc)
		rc = show(&r, row, &tree);
	if (rc)
		return refuse(ex, uri, rc);
	mr_out_list(out, "contents");
	mr_out_map(out, NULL);
	mr_out_text(out, "uri", uri);
	mr_out_text(out, "mimeType", "application/json");
	mr_out_text(out, "text", mr_mcp_json(ex->call.cx.arena, mr_out_tree(&tree)));
	mr_out_end(out);
	mr_out_end(out);
	if (row->quotes)
		mr_mcp_note_quotes(ex, NULL);
	return MR_OK;
}

static enum mr_code find_topic(struct mr_mcp_exchange *ex, const char *text,
	struct mr_team_topic *out)
{
	const struct mr_mcp_resource *row;
	struct mr_mcp_reading r;
	struct mr_view view;
	enum mr_code rc = begin(ex, text, &r, &row);

	if (rc)
		return rc;
	if (row->topic == MR_TEAM_TOPIC_NONE)
		return mr_err_set(&ex->call.cx.err, MR_EINVAL,
			"%.200s cannot be subscribed to: inboxes, threads and leases can", text);
	view = mr_mcp_resource_view(&r);
	return mr_view_topic(&view, row->topic, out);
}

enum mr_code mr_mcp_resource_topic(struct mr_mcp_exchange *ex, const char *uri,
	struct mr_team_topic *out)
{
	const struct mr_mcp_fixtures *fixtures = mr_mcp_options(ex->mcp)->fixtures;
	enum mr_code rc;

	*out = (struct mr_team_topic){ .kind = MR_TEAM_TOPIC_NONE };
	if (fixtures && mr_str_starts(uri, "test://"))
		return MR_OK;
	rc = find_topic(ex, uri, out);
	return rc ? refuse(ex, uri, rc) : MR_OK;
}

enum mr_code mr_mcp_resources_subscribe(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const char *uri = mr_mcp_param_text(ex, "uri");
	struct mr_team_topic topic;
	enum mr_code rc;

	(void)out;
	if (!uri)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "uri is missing");
	if (!ex->client->listener)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS,
			"only a client with a session can be told of changes");
	rc = mr_mcp_resource_topic(ex, uri, &topic);
	if (rc)
		return rc;
	rc = mr_mcp_hub_subscribe(mr_mcp_hub(ex->mcp), &ex->call, ex->team, uri, &topic,
		ex->client->listener);
	return rc ? refuse(ex, uri, rc == MR_ELIMIT ? MR_EINVAL : rc) : MR_OK;
}

enum mr_code mr_mcp_resources_unsubscribe(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const char *uri = mr_mcp_param_text(ex, "uri");

	(void)out;
	if (!uri)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "uri is missing");
	if (ex->client->listener)
		mr_mcp_hub_unsubscribe(mr_mcp_hub(ex->mcp), uri, ex->client->listener);
	return MR_OK;
}

static const char *template_of(struct mr_arena *arena, const struct mr_mcp_resource *row)
{
	return row->query ? mr_arena_printf(arena, "resource://%s/{%s}{?%s}", row->path,
				    row->variable, row->query)
			  : mr_arena_printf(arena, "resource://%s/{%s}", row->path, row->variable);
}

/* The name a program goes by: the path, without slashes. */
static const char *short_name(struct mr_arena *arena, const char *path)
{
	char *name = mr_arena_strdup(arena, path);

	for (char *c = name; *c; c++)
		*c = *c == '/' ? '-' : *c;
	return name;
}

enum mr_code mr_mcp_resources_templates(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const struct mr_mcp_fixtures *fixtures = mr_mcp_options(ex->mcp)->fixtures;
	struct mr_arena *arena = ex->call.cx.arena;
	const char *names[MR_LEN(rows)];
	size_t from = 0;
	enum mr_code rc;

	for (size_t i = 0; i < MR_LEN(rows); i++)
		names[i] = rows[i].path;
	/* All templates are on the first page: a cursor is either unknown or leads to the end. */
	rc = mr_mcp_page_from(ex, names, MR_LEN(rows), &from);
	if (rc)
		return rc;
	mr_out_list(out, "resourceTemplates");
	for (size_t i = from; i < MR_LEN(rows); i++) {
		if (!rows[i].variable)
			continue;
		mr_out_map(out, NULL);
		mr_out_text(out, "uriTemplate", template_of(arena, &rows[i]));
		mr_out_text(out, "name", short_name(arena, rows[i].path));
		mr_out_text(out, "title", rows[i].name);
		mr_out_text(out, "description", rows[i].description);
		mr_out_text(out, "mimeType", "application/json");
		mr_out_end(out);
	}
	if (fixtures)
		fixtures->templates(ex, out);
	mr_out_end(out);
	return MR_OK;
}

/* ---- resources/list ---- */

/* Where a page begins: first the rows without a variable, then projects, then agents, by id. */
struct place {
	char phase; /* r, p, a */
	int64_t id;
};

struct listing {
	struct mr_mcp_exchange *ex;
	struct mr_out *out;
	size_t count;
	struct place last;
};

static enum mr_code read_place(struct mr_mcp_exchange *ex, struct place *out)
{
	const struct mr_value *cursor = mr_value_get(ex->params, "cursor");
	struct mr_bytes text;
	struct mr_err ignored;

	*out = (struct place){ 'r', 0 };
	if (!cursor || cursor->kind == MR_NULL)
		return MR_OK;
	if (cursor->kind == MR_TEXT &&
		!mr_token_base64url_decode(ex->call.cx.arena, cursor->text, &text, &ignored) &&
		text.len > 1 && strchr("rpa", text.data[0]) &&
		mr_str_to_int((const char *)text.data + 1, &out->id)) {
		out->phase = (char)text.data[0];
		return MR_OK;
	}
	return mr_mcp_refuse(ex, MR_RPC_PARAMS, "the cursor is not from this list");
}

static void put_resource(struct listing *l, const char *uri, const char *name, const char *title,
	const char *description)
{
	mr_out_map(l->out, NULL);
	mr_out_text(l->out, "uri", uri);
	mr_out_text(l->out, "name", name);
	mr_out_text(l->out, "title", title);
	mr_out_text(l->out, "description", description);
	mr_out_text(l->out, "mimeType", "application/json");
	mr_out_end(l->out);
	l->count++;
}

static bool is_full(const struct listing *l)
{
	return l->count >= MR_MCP_PAGE;
}

static void list_rows(struct listing *l, int64_t from)
{
	struct mr_arena *arena = l->ex->call.cx.arena;

	for (size_t i = (size_t)from; i < MR_LEN(rows) && !is_full(l); i++) {
		l->last = (struct place){ 'r', (int64_t)i + 1 };
		if (!rows[i].variable)
			put_resource(l, mr_arena_printf(arena, "resource://%s", rows[i].path),
				short_name(arena, rows[i].path), rows[i].name, rows[i].description);
	}
}

static enum mr_code list_projects(struct listing *l, int64_t after)
{
	static const struct {
		const char *path, *title, *description;
	} of_each[] = {
		{ "project", "Project", "The project and its active agents" },
		{ "agents", "Agents", "Its agents, and how much they have not read" },
		{ "file_reservations", "Leases", "Who works on which files" },
	};
	struct mr_ctx *cx = &l->ex->call.cx;
	struct mr_team_projects projects;
	enum mr_code rc = mr_view_projects(&l->ex->call, l->ex->team, &projects);

	for (size_t i = 0; !rc && i < projects.len && !is_full(l); i++) {
		const struct mr_team_project *project = &projects.items[i];

		if (project->id <= after)
			continue;
		for (size_t k = 0; k < MR_LEN(of_each); k++)
			put_resource(l,
				mr_arena_printf(cx->arena, "resource://%s/%s", of_each[k].path,
					mr_uri_encode(cx->arena, project->slug)),
				mr_arena_printf(cx->arena, "%s-%s", of_each[k].path, project->slug),
				mr_arena_printf(cx->arena, "%s: %s", of_each[k].title,
					project->slug),
				of_each[k].description);
		l->last = (struct place){ 'p', project->id };
	}
	return rc;
}

static enum mr_code list_agents(struct listing *l, int64_t after)
{
	struct mr_arena *arena = l->ex->call.cx.arena;
	struct mr_team_members members;
	/* Read one more than fits on the page, to know whether another page follows. */
	enum mr_code rc =
		mr_view_members(&l->ex->call, l->ex->team, after, MR_MCP_PAGE + 1, &members);

	for (size_t i = 0; !rc && i < members.len && !is_full(l); i++) {
		const char *name = members.items[i].agent.name;
		const char *slug = members.items[i].project.slug;

		put_resource(l,
			mr_arena_printf(arena, "resource://inbox/%s?project=%s",
				mr_uri_encode(arena, name), mr_uri_encode(arena, slug)),
			mr_arena_printf(arena, "inbox-%s-%s", slug, name),
			mr_arena_printf(arena, "Inbox of %s in %s", name, slug),
			"The newest messages it has received");
		l->last = (struct place){ 'a', members.items[i].agent.id };
		if (i + 1 == members.len)
			l->last.phase = '\0';
	}
	if (!rc && !members.len)
		l->last.phase = '\0';
	return rc;
}

enum mr_code mr_mcp_resources_list(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const struct mr_mcp_fixtures *fixtures = mr_mcp_options(ex->mcp)->fixtures;
	struct listing l = { .ex = ex, .out = out };
	struct place from;
	enum mr_code rc = read_place(ex, &from);

	if (rc)
		return rc;
	rc = mr_mcp_open_team(ex);
	mr_out_list(out, "resources");
	if (!rc && from.phase == 'r')
		list_rows(&l, from.id);
	if (!rc && from.phase != 'a' && !is_full(&l))
		rc = list_projects(&l, from.phase == 'p' ? from.id : 0);
	if (!rc && !is_full(&l))
		rc = list_agents(&l, from.phase == 'a' ? from.id : 0);
	if (rc)
		return refuse(ex, "resource://", rc);
	if (!l.last.phase && fixtures)
		fixtures->resources(ex, out);
	mr_out_end(out);
	if (l.last.phase)
		mr_mcp_page_next(ex, out,
			mr_arena_printf(ex->call.cx.arena, "%c%lld", l.last.phase,
				(long long)l.last.id));
	return MR_OK;
}
