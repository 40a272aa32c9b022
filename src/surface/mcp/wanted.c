/*
 * surface/mcp/wanted.c - Handles subscriptions/listen independent of the transport: the filter,
 * its subscriptions, and the notification messages.
 */
#include "surface/mcp/wanted.h"

#include "surface/mcp/method.h"
#include "surface/mcp/resources.h"

#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

/* What a client can ask for besides resources, and what it is then told. */
static const struct {
	const char *filter;
	const char *uri; /* in the hub */
	const char *method;
	enum mr_team_topic_kind topic;
} lists[] = {
	{ "toolsListChanged", MR_MCP_URI_TOOLS, "notifications/tools/list_changed",
		MR_TEAM_TOPIC_NONE },
	{ "promptsListChanged", MR_MCP_URI_PROMPTS, "notifications/prompts/list_changed",
		MR_TEAM_TOPIC_NONE },
	{ "resourcesListChanged", MR_MCP_URI_RESOURCES, "notifications/resources/list_changed",
		MR_TEAM_TOPIC_MEMBERS },
};

static void put_id(struct mr_out *out, const struct mr_value *id)
{
	mr_out_map(out, "_meta");
	mr_out_value(out, SUBSCRIPTION_ID, id);
	mr_out_end(out);
}

const struct mr_value *mr_mcp_wanted_filter(struct mr_mcp_exchange *ex)
{
	const struct mr_value *filter = mr_value_get(ex->params, "notifications");

	mr_mcp_take_token(ex);
	if (filter && filter->kind == MR_MAP)
		return filter;
	mr_mcp_refuse(ex, MR_RPC_PARAMS, "notifications must be an object");
	return NULL;
}

static bool wants(const struct mr_value *filter, const char *key)
{
	const struct mr_value *value = mr_value_get(filter, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

static bool is_list_uri(const char *uri)
{
	for (size_t i = 0; i < MR_LEN(lists); i++) {
		if (mr_str_eq(lists[i].uri, uri))
			return true;
	}
	return false;
}

/* Subscribe to one resource that stands in the filter; false when there is no such thing. */
static bool subscribe(struct mr_mcp_exchange *ex, struct mr_mcp_listener *listener,
	const struct mr_value *uri)
{
	struct mr_team_topic topic;

	return uri->kind == MR_TEXT && !is_list_uri(uri->text) &&
		!mr_mcp_resource_topic(ex, uri->text, &topic) &&
		!mr_mcp_hub_subscribe(mr_mcp_hub(ex->mcp), &ex->call, ex->team, uri->text, &topic,
			listener);
}

void mr_mcp_wanted_begin(struct mr_mcp_exchange *ex, const struct mr_value *filter,
	const struct mr_value *id, struct mr_mcp_listener *listener, struct mr_buf *json)
{
	const struct mr_value *uris = mr_value_get(filter, "resourceSubscriptions");
	struct mr_out out;

	mr_out_init_json(&out, json, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, "notifications/subscriptions/acknowledged");
	mr_out_map(&out, "params");
	put_id(&out, id);
	mr_out_map(&out, "notifications");
	for (size_t i = 0; i < MR_LEN(lists); i++) {
		const struct mr_team_topic topic = { .kind = lists[i].topic };

		if (wants(filter, lists[i].filter) &&
			(topic.kind == MR_TEAM_TOPIC_NONE || !mr_mcp_open_team(ex)) &&
			!mr_mcp_hub_subscribe(mr_mcp_hub(ex->mcp), &ex->call, ex->team,
				lists[i].uri, &topic, listener))
			mr_out_bool(&out, lists[i].filter, true);
	}
	if (uris && uris->kind == MR_LIST) {
		mr_out_list(&out, "resourceSubscriptions");
		for (size_t i = 0; i < uris->list.len; i++) {
			if (subscribe(ex, listener, &uris->list.items[i]))
				mr_out_value(&out, NULL, &uris->list.items[i]);
		}
		mr_out_end(&out);
	}
	mr_out_end(&out);
	mr_out_end(&out);
	mr_out_end(&out);
}

void mr_mcp_wanted_change(const struct mr_value *id, const char *uri, struct mr_buf *json)
{
	const char *method = "notifications/resources/updated";
	struct mr_out out;

	for (size_t i = 0; uri && i < MR_LEN(lists); i++) {
		if (mr_str_eq(lists[i].uri, uri)) {
			method = lists[i].method;
			uri = NULL;
		}
	}
	mr_out_init_json(&out, json, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, method);
	if (id || uri)
		mr_out_map(&out, "params");
	if (id)
		put_id(&out, id);
	if (uri)
		mr_out_text(&out, "uri", uri);
	if (id || uri)
		mr_out_end(&out);
	mr_out_end(&out);
}

void mr_mcp_wanted_end(const struct mr_value *id, struct mr_buf *json)
{
	struct mr_out out;

	mr_out_init_json(&out, json, MR_JSON_COMPACT);
	mr_rpc_begin(&out, id);
	mr_out_map(&out, "result");
	mr_out_text(&out, "resultType", "complete");
	put_id(&out, id);
	mr_out_end(&out);
	mr_out_end(&out);
}
