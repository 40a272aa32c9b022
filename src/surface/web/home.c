/* surface/web/home.c - pages: Home, where a person begins. */
#include "op/nouns.h"
#include "surface/web/pages.h"

const struct mr_web_page mr_web_page_home = {
	.pattern = "/mail",
	.template = "home.html",
	.nav = "home",
	.asks = (const struct mr_web_ask[]){ { "projects", &mr_op_team_list_projects }, { 0 } },
};
