/* op/team/team_product.c - operations: projects that belong together. */
#include "op/render.h"
#include "op/team/shape_team_search.h"
#include "op/team/shape_team_summary.h"
#include "op/team/team_ops.h"
#include "team/ask.h"
#include "team/limits.h"
#include "team/summary.h"

static const char *const alias_cursor[] = { "offset", NULL };
static const char *const alias_product[] = { "product", "product_key", "product_name", NULL };

#define PRODUCT(request_type)                                                                      \
	MR_PARAM(request_type, product_uid, "product_uid", .flags = MR_REQUIRED | MR_POSITIONAL,   \
		.summary = "the product: its uid or its name", .aliases = alias_product)

struct product_request {
	const char *product_uid, *name, *project_key, *role;
};

static const struct mr_param ensure_params[] = {
	MR_PARAM(struct product_request, product_uid, "product_uid", .flags = MR_POSITIONAL,
		.summary = "what programs call it; left out, it is made from the name"),
	MR_PARAM(struct product_request, name, "name", .flags = MR_POSITIONAL,
		.summary = "what people call it; left out, the uid"),
	{ 0 },
};

static enum mr_code ensure_product(struct mr_ctx *cx, struct mr_team *team,
	const struct product_request *asked, struct mr_team_product *out)
{
	return mr_team_product_ensure(cx, team, asked->product_uid, asked->name, out);
}
MR_TEAM_BIND(ensure, ensure_product, struct product_request, struct mr_team_product);

const struct mr_op mr_op_team_product_ensure = {
	.name = "ensure_product",
	.command = "team product ensure",
	.summary = "Find or make a product",
	.help = "Use it when several repositories make one product; link each of them "
		"with link_project_to_product.",
	.cluster = "product_bus",
	.params = ensure_params,
	.result = mr_shape_team_product_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &ensure,
	.render = mr_render_product,
};

static const char *const roles[] = { "primary", "secondary", NULL };

static const struct mr_param link_params[] = {
	PRODUCT(struct product_request),
	MR_TEAM_PROJECT(struct product_request),
	MR_PARAM(struct product_request, role, "role", .summary = "how much it belongs to it",
		.choices = roles, .fallback = "primary"),
	{ 0 },
};

static enum mr_code link_project(struct mr_ctx *cx, struct mr_team *team,
	const struct product_request *asked, struct mr_team_product *out)
{
	return mr_team_product_link(cx, team, asked->product_uid, asked->project_key, asked->role,
		false, out);
}
MR_TEAM_BIND(linking, link_project, struct product_request, struct mr_team_product);

const struct mr_op mr_op_team_product_link = {
	.name = "link_project_to_product",
	.command = "team product link",
	.summary = "Count a project to a product",
	.help = "Use it once for each repository of a product. Agents of projects of one product "
		"count as having to do with each other.",
	.cluster = "product_bus",
	.params = link_params,
	.result = mr_shape_team_product_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &linking,
	.render = mr_render_product,
};

static const struct mr_param unlink_params[] = {
	PRODUCT(struct product_request),
	MR_TEAM_PROJECT(struct product_request),
	{ 0 },
};

static enum mr_code unlink_project(struct mr_ctx *cx, struct mr_team *team,
	const struct product_request *asked, struct mr_team_product *out)
{
	return mr_team_product_link(cx, team, asked->product_uid, asked->project_key, NULL, true,
		out);
}
MR_TEAM_BIND(unlinking, unlink_project, struct product_request, struct mr_team_product);

const struct mr_op mr_op_team_product_unlink = {
	.name = "unlink_project_from_product",
	.command = "team product unlink",
	.summary = "No longer count a project to a product",
	.help = "Use it when a repository has left the product. Its mail stays.",
	.cluster = "product_bus",
	.params = unlink_params,
	.result = mr_shape_team_product_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_IDEMPOTENT,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &unlinking,
	.render = mr_render_product,
};

struct listing {
	struct mr_team_page page;
};

static const struct mr_param list_params[] = {
	MR_TEAM_PAGE(struct listing, page),
	{ 0 },
};

struct listed {
	struct mr_team_products found;
	int64_t next;
};

static const struct mr_field list_fields[] = {
	MR_FIELD_LIST(struct listed, found, struct mr_team_product, mr_shape_team_product_fields,
		"result"),
	MR_TEAM_NEXT(struct listed, next),
	{ 0 },
};

static enum mr_code list_products(struct mr_ctx *cx, struct mr_team *team,
	const struct listing *asked, struct listed *out)
{
	enum mr_code rc = mr_team_ask_products(cx, team, &out->found);

	if (!rc)
		rc = mr_team_page_cut(cx, &asked->page, out->found.items, sizeof(*out->found.items),
			&out->found.len, &out->next);
	return rc;
}
MR_TEAM_BIND(list, list_products, struct listing, struct listed);

const struct mr_op mr_op_team_product_list = {
	.name = "list_products",
	.command = "team product list",
	.summary = "List products and their projects",
	.help = "Use it to see which projects belong together.",
	.cluster = "product_bus",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &list,
	.render = mr_render_products,
};

struct inbox_request {
	const char *product_uid;
	int64_t limit, cursor;
	bool include_bodies;
	struct mr_team_showing showing;
};

static const struct mr_param inbox_params[] = {
	PRODUCT(struct inbox_request),
	MR_PARAM(struct inbox_request, limit, "limit", .min = 1, .max = MR_TEAM_LIST_MAX,
		.summary = "at most so many, of all projects together", .fallback = "20"),
	MR_PARAM(struct inbox_request, cursor, "cursor",
		.summary = "go on after this message: the id of the last one seen"),
	MR_PARAM(struct inbox_request, include_bodies, "include_bodies",
		.summary = "with their texts", .fallback = "false"),
	MR_TEAM_SHOWING(struct inbox_request, showing),
	{ 0 },
};

static const struct mr_field inbox_fields[] = {
	MR_FIELD_ROWS(struct mr_team_items, items, len, struct mr_team_item,
		mr_shape_team_listed_fields, "result"),
	MR_TEAM_NEXT(struct mr_team_items, next),
	{ 0 },
};

static enum mr_code list_inbox(struct mr_call *call, struct mr_team *team,
	const struct inbox_request *asked, struct mr_team_items *out)
{
	enum mr_code rc = mr_team_ask_product_inbox(&call->cx, team, &call->rights,
		asked->product_uid, asked->cursor, asked->limit, asked->include_bodies, out);

	if (!rc)
		mr_team_show_bodies(call, &asked->showing, out);
	return rc;
}
MR_TEAM_BIND_CALL(inbox, list_inbox, struct inbox_request, struct mr_team_items);

const struct mr_op mr_op_team_product_inbox = {
	.name = "product_inbox",
	.command = "team product inbox",
	.summary = "Show the newest messages of all projects of a product",
	.help = "Use it to see what goes on in all projects of a product, newest first.",
	.cluster = "product_bus",
	.params = inbox_params,
	.result = inbox_fields,
	.traits = MR_TOLD | MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &inbox,
	.render = mr_render_inbox,
};

struct search_request {
	const char *product_uid, *query;
	int64_t limit, offset;
};

static const struct mr_param search_params[] = {
	PRODUCT(struct search_request),
	MR_PARAM(struct search_request, query, "query", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "what to look for, as search_messages takes it"),
	MR_PARAM(struct search_request, limit, "limit",
		.summary = "how many at most, of all projects together, up to 500",
		.fallback = "20"),
	MR_PARAM(struct search_request, offset, "cursor",
		.summary = "go on after so many: how many were seen", .aliases = alias_cursor,
		.fallback = "0"),
	{ 0 },
};

static const struct mr_field search_fields[] = {
	MR_FIELD_ROWS(struct mr_team_hits, items, len, struct mr_team_hit, mr_shape_team_hit_fields,
		"result"),
	MR_FIELD(struct mr_team_hits, mode, "mode", .emit = mr_shape_team_search_mode,
		.summary = "how the query was read"),
	MR_TEAM_NEXT(struct mr_team_hits, next),
	{ 0 },
};

static enum mr_code find_messages(struct mr_call *call, struct mr_team *team,
	const struct search_request *asked, struct mr_team_hits *out)
{
	return mr_team_ask_product_search(&call->cx, team, &call->rights, asked->product_uid,
		&(struct mr_team_search){
			.query = asked->query,
			.limit = asked->limit,
			.offset = asked->offset,
		},
		out);
}
MR_TEAM_BIND_CALL(search, find_messages, struct search_request, struct mr_team_hits);

const struct mr_op mr_op_team_product_search = {
	.name = "search_messages_product",
	.command = "team product search",
	.summary = "Find messages of all projects of a product, best first",
	.help = "Use it when you do not know in which project something was said. As "
		"search_messages does it, in all projects of a product.",
	.cluster = "product_bus",
	.params = search_params,
	.result = search_fields,
	.traits = MR_TOLD | MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &search,
	.render = mr_render_hits,
};

static const char *const alias_threads[] = { "thread_ids", NULL };

struct summarize_request {
	const char *product_uid, *llm_model;
	struct mr_texts thread_ids;
	bool include_examples, llm_mode;
	int64_t limit; /* 0: as usual */
};

enum { MANY_LIMIT = 50 };

static const struct mr_param summarize_params[] = {
	PRODUCT(struct summarize_request),
	MR_PARAM(struct summarize_request, thread_ids, "thread_id",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "the conversation's id; several are also summed up together",
		.aliases = alias_threads),
	MR_PARAM(struct summarize_request, include_examples, "include_examples",
		.summary = "of one conversation, also say which its first three messages are",
		.fallback = "false"),
	MR_PARAM(struct summarize_request, limit, "per_thread_limit", .min = 1,
		.max = MR_TEAM_LIST_MAX,
		.summary = "look at so many messages of each, from its first",
		.fallback = "50 of several, 1000 of one"),
	MR_TEAM_LLM_PARAMS(struct summarize_request),
	{ 0 },
};

struct summarized {
	bool is_one, is_many; /* which of these it is */
	struct mr_team_summary one;
	struct mr_team_summaries all;
};

static const struct mr_field summarize_fields[] = {
	MR_FIELD(struct summarized, one.thread_id, "thread_id", .flags = MR_OPTIONAL),
	MR_FIELD_STRUCT(struct summarized, one, struct mr_team_summary,
		mr_shape_team_summary_fields, "summary", .flags = MR_OPTIONAL,
		.summary = "of one conversation", .when = MR_FLAG(struct summarized, is_one)),
	MR_FIELD_LIST(struct summarized, one.examples, struct mr_team_item,
		mr_shape_team_example_fields, "examples", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct summarized, is_one)),
	MR_FIELD_ROWS(struct summarized, all.items, all.len, struct mr_team_summary,
		mr_shape_team_thread_summary_fields, "threads", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct summarized, is_many)),
	MR_FIELD_STRUCT(struct summarized, all, struct mr_team_summaries,
		mr_shape_team_aggregate_fields, "aggregate", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct summarized, is_many)),
	{ 0 },
};

static enum mr_code summarize_threads(struct mr_call *call, struct mr_team *team,
	const struct summarize_request *asked, struct summarized *out)
{
	struct mr_team_product product;
	const int64_t *ids;
	size_t count;
	enum mr_code rc = mr_team_ask_product(&call->cx, team, asked->product_uid, &product);

	if (rc)
		return rc;
	mr_team_product_ids(call->cx.arena, &product, &ids, &count);
	out->is_one = asked->thread_ids.len == 1;
	out->is_many = !out->is_one;
	if (out->is_many)
		return mr_team_summary_threads(&call->cx, team, &call->rights, ids, count,
			&asked->thread_ids, asked->limit ? asked->limit : MANY_LIMIT,
			asked->llm_mode, asked->llm_model, &out->all);
	rc = mr_team_summary_thread(&call->cx, team, &call->rights, ids, count,
		asked->thread_ids.items[0], asked->limit, asked->llm_mode, asked->llm_model,
		&out->one);
	if (!asked->include_examples)
		out->one.examples.len = 0;
	return rc;
}
MR_TEAM_BIND_CALL(summarize, summarize_threads, struct summarize_request, struct summarized);

const struct mr_op mr_op_team_product_summarize = {
	.name = "summarize_thread_product",
	.command = "team product summarize",
	.summary = "Sum up a conversation that goes through several projects of a product",
	.help = "Use it to catch up with a product. As summarize_thread does it, for a "
		"conversation that goes through "
		"several projects; several threads are also summed up together.",
	.cluster = "product_bus",
	.params = summarize_params,
	.result = summarize_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL | MR_OPEN_WORLD | MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &summarize,
	.render = mr_render_summary,
};
