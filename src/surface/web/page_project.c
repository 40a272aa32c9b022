/* surface/web/page_project.c - pages: all projects, one, and its agents. */
#include "op/nouns.h"
#include "surface/web/pages.h"

const struct mr_web_page mr_web_page_projects = {
	.pattern = "/mail/projects",
	.template = "projects.html",
	.nav = "projects",
	.asks =
		(const struct mr_web_ask[]){
			{ "projects", &mr_op_team_list_projects, .fixed = "limit=100" }, { 0 } },
};

const struct mr_web_page mr_web_page_project = {
	.pattern = "/mail/p/{project_key}",
	.template = "project.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, { "overview", &mr_op_team_overview },
		{ 0 } },
};

const struct mr_web_page mr_web_page_agents = {
	.pattern = "/mail/p/{project_key}/agents",
	.template = "agents.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "agents", &mr_op_team_list_agents, .fixed = "limit=100" }, { 0 } },
};
