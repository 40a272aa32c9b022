/* surface/web/home.c - pages: Home, where a person begins. */
#include "op/nouns.h"
#include "surface/web/pages.h"

const struct mr_web_page mr_web_page_home = {
	.pattern = "/mail",
	.template = "home.html",
	.nav = "home",
	.asks = (const struct mr_web_ask[]){ { "attention", &mr_op_team_attention },
		{ "latest", &mr_op_team_latest, .fixed = "limit=8", .may_fail = true }, { 0 } },
};
