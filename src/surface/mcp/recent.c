/* surface/mcp/recent.c - A ring buffer of the latest tool calls. */
#include "surface/mcp/recent.h"

#include "base/oom.h"
#include "base/utf8.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct mr_mcp_recent {
	pthread_mutex_t lock;
	size_t count; /* ever */
	struct mr_mcp_called ring[MR_MCP_RECENT];
};

struct mr_mcp_recent *mr_mcp_recent_new(void)
{
	struct mr_mcp_recent *recent = calloc(1, sizeof(*recent));

	if (!recent)
		mr_oom(sizeof(*recent));
	pthread_mutex_init(&recent->lock, NULL);
	return recent;
}

void mr_mcp_recent_free(struct mr_mcp_recent *recent)
{
	if (!recent)
		return;
	pthread_mutex_destroy(&recent->lock);
	free(recent);
}

static void copy_text(char *to, const char *from)
{
	size_t len = from ? mr_utf8_truncate(from, strlen(from), MR_MCP_RECENT_BYTES - 1) : 0;

	if (len)
		memcpy(to, from, len);
	to[len] = '\0';
}

void mr_mcp_recent_add(struct mr_mcp_recent *recent, int64_t at_us, const char *tool,
	const char *project, const char *agent)
{
	struct mr_mcp_called *at;

	pthread_mutex_lock(&recent->lock);
	at = &recent->ring[recent->count++ % MR_MCP_RECENT];
	at->at_us = at_us;
	at->tool = tool;
	copy_text(at->project, project);
	copy_text(at->agent, agent);
	pthread_mutex_unlock(&recent->lock);
}

size_t mr_mcp_recent_since(struct mr_mcp_recent *recent, struct mr_arena *arena, int64_t since_us,
	struct mr_mcp_called **out)
{
	size_t kept, found = 0;

	pthread_mutex_lock(&recent->lock);
	kept = recent->count < MR_MCP_RECENT ? recent->count : MR_MCP_RECENT;
	while (found < kept &&
		recent->ring[(recent->count - 1 - found) % MR_MCP_RECENT].at_us >= since_us)
		found++;
	*out = mr_arena_array(arena, found, sizeof(**out));
	for (size_t i = 0; i < found; i++)
		(*out)[i] = recent->ring[(recent->count - 1 - i) % MR_MCP_RECENT];
	pthread_mutex_unlock(&recent->lock);
	return found;
}
