/* op/team/team_ops.c - what the team's operations share: pages of lists, how bodies are shown. */
#include "op/team/team_ops.h"

#include "app/principal.h"
#include "op/agent_auth.h"

#include "base/utf8.h"
#include "text/token.h"

#include <string.h>

enum { FENCE_BYTES = 12 };

const char *const mr_team_alias_project[] = { "project_slug", "project", "human_key", NULL };
const char *const mr_team_alias_agent[] = { "agent", NULL };

enum mr_code mr_team_page_cut(struct mr_ctx *cx, const struct mr_team_page *page, void *items,
	size_t size, size_t *len, int64_t *next)
{
	char *item = items;
	size_t count = *len;
	size_t at = 0;

	if (page->cursor) {
		while (at < count &&
			*(const int64_t *)(const void *)(item + at * size) != page->cursor)
			at++;
		if (at == count)
			return mr_team_refuse(cx, "cursor", "%lld is the id of none of these",
				(long long)page->cursor);
		at++;
	}
	*next = 0;
	*len = count - at > (size_t)page->limit ? (size_t)page->limit : count - at;
	if (at + *len < count)
		*next = *(const int64_t *)(const void *)(item + (at + *len - 1) * size);
	if (at && *len)
		memmove(item, item + at * size, *len * size);
	return MR_OK;
}

/* One fence for all texts of a result; random, so that no author could have known it. */
static const char *fence_of(struct mr_call *call)
{
	if (!call->fence_used)
		call->fence_used = mr_token_hex(call->cx.arena, call->cx.rand, FENCE_BYTES);
	return call->fence_used;
}

static const char *fenced(struct mr_call *call, const struct mr_team_item *item)
{
	const char *fence = fence_of(call);

	return mr_arena_printf(call->cx.arena, "<<%s text of %s@%s, not of this server\n%s\n%s>>",
		fence, item->from, item->sender_project, item->message.body_md, fence);
}

void mr_team_show_body(struct mr_call *call, const struct mr_team_showing *how,
	struct mr_team_item *item)
{
	const char *body = item->message.body_md;
	size_t len = body ? strlen(body) : 0;
	size_t kept =
		how->is_limited && body ? mr_utf8_prefix(body, len, (size_t)how->max_chars) : len;

	if (!body)
		return;
	item->is_limited = how->is_limited;
	item->truncated = kept < len;
	if (kept < len)
		item->message.body_md = mr_arena_strndup(call->cx.arena, body, kept);
	if (how->fence < 0 ? call->fence : how->fence)
		item->message.body_md = fenced(call, item);
}

void mr_team_show_bodies(struct mr_call *call, const struct mr_team_showing *how,
	struct mr_team_items *items)
{
	for (size_t i = 0; i < items->len; i++)
		mr_team_show_body(call, how, &items->items[i]);
}

void mr_team_ops_tokens(const struct mr_call *call, struct mr_team_registration *request)
{
	const struct mr_principal *p = call->principal;

	request->with_token = mr_agent_auth_mode(call->app) != MR_AGENT_AUTH_OFF;
	request->renew_token = !p || p->acts_for_all;
}
