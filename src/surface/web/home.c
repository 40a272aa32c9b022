/* surface/web/home.c - pages: home, and a project. */
#include "op/nouns.h"
#include "surface/web/pages.h"

const struct mr_web_page mr_web_page_home = {
	.pattern = "/mail",
	.template = "home.html",
	.nav = "home",
	.asks = (const struct mr_web_ask[]){ { "projects", &mr_op_team_list_projects }, { 0 } },
};

const struct mr_web_page mr_web_page_project = {
	.pattern = "/mail/p/{project_key}",
	.template = "project.html",
	.nav = "home",
	.asks = (const struct mr_web_ask[]){ { "overview", &mr_op_team_overview }, { 0 } },
};
