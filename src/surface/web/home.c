/* surface/web/home.c - pages: Home, where a person begins, and Open, which the palette asks. */
#include "op/nouns.h"
#include "surface/web/pages.h"

const struct mr_web_page mr_web_page_home = {
	.pattern = "/mail",
	.template = "home.html",
	.nav = "home",
	.asks = (const struct mr_web_ask[]){ { "attention", &mr_op_team_attention },
		{ "latest", &mr_op_team_latest, .fixed = "limit=8", .may_fail = true }, { 0 } },
};

const struct mr_web_page mr_web_page_open = {
	.pattern = "/mail/open",
	.template = "open.html",
	.asks = (const struct mr_web_ask[]){ { "found", &mr_op_team_find }, { 0 } },
};
