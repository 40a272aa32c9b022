/*
 * surface/mcp/resources.h - what can be read by its URI: the rows of the table, and what their
 * functions get to see.
 */
#pragma once

#include "op/team/view.h"
#include "surface/mcp/hub.h"
#include "surface/mcp/method.h"
#include "surface/mcp/uri.h"

/* One being read. */
struct mr_mcp_reading {
	struct mr_mcp_exchange *ex;
	struct mr_uri uri;
	const char *variable; /* or NULL */
};

/* Emits one value. On failure the reason is in r->ex->call.cx.err. */
typedef enum mr_code mr_mcp_resource_read(struct mr_mcp_reading *r, struct mr_out *out);

struct mr_mcp_resource {
	const char *path;     /* inbox */
	const char *variable; /* agent; NULL: there is only one */
	const char *query;    /* project,limit; or NULL */
	const char *name;
	const char *description;
	mr_view_show *view; /* what it shows; NULL: */
	mr_mcp_resource_read *read;
	bool quotes; /* texts of other agents are in it */
	enum mr_team_topic_kind topic;
};

/* The row whose URI this is, and its parts; NULL when there is none. */
const struct mr_mcp_resource *mr_mcp_resource_find(struct mr_arena *arena, const char *text,
	struct mr_uri *uri, const char **variable);
/* The row with this template, "resource://inbox/{agent}" with or without its query; or NULL. */
const struct mr_mcp_resource *mr_mcp_resource_template(const char *uri_template);
/* What the resource depends on. Fails as reading it would, and for resources that cannot be
 * subscribed to. */
MR_CHECK enum mr_code mr_mcp_resource_topic(struct mr_mcp_exchange *ex, const char *uri,
	struct mr_team_topic *out);

/* For the functions below: run an operation; `args` in pairs of names and texts, the last NULL. */
MR_CHECK enum mr_code mr_mcp_resource_ask(struct mr_mcp_reading *r, const char *op,
	const char *const *args, const struct mr_value **out);
/* The view that the URI's variable and query describe. */
struct mr_view mr_mcp_resource_view(const struct mr_mcp_reading *r);

/* resource_team.c */
mr_mcp_resource_read mr_mcp_read_projects;
mr_mcp_resource_read mr_mcp_read_reservations;
mr_mcp_resource_read mr_mcp_read_threads;
mr_mcp_resource_read mr_mcp_read_contacts;
/* resource_tooling.c */
mr_mcp_resource_read mr_mcp_read_environment;
mr_mcp_resource_read mr_mcp_read_directory;
mr_mcp_resource_read mr_mcp_read_schemas;
mr_mcp_resource_read mr_mcp_read_metrics;
mr_mcp_resource_read mr_mcp_read_capabilities;
mr_mcp_resource_read mr_mcp_read_recent;
