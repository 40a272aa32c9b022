/* surface/web/page_mail.c - pages: the mail of a team in lists, and a message. */
#include "op/nouns.h"
#include "surface/web/pages.h"

#define PROJECT                                                                                    \
	{                                                                                          \
		"project", &mr_op_team_show_project                                                \
	}
#define LATEST                                                                                     \
	{                                                                                          \
		"messages", &mr_op_team_latest, .fixed = "limit=50"                                \
	}

const struct mr_web_page mr_web_page_inbox = {
	.pattern = "/mail/inbox",
	.template = "inbox.html",
	.nav = "inbox",
	.asks = (const struct mr_web_ask[]){ LATEST, { 0 } },
};

const struct mr_web_page mr_web_page_project_inbox = {
	.pattern = "/mail/p/{project_key}/inbox",
	.template = "inbox.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT, LATEST, { 0 } },
};

const struct mr_web_page mr_web_page_message = {
	.pattern = "/mail/p/{project_key}/message/{message_id}",
	.template = "message.html",
	.nav = "projects",
	.asks = (const struct mr_web_ask[]){ MR_WEB_PROJECT,
		{ "message", &mr_op_team_show, .fixed = "include_recipients=true&fence=false",
			.with_html = true },
		{ 0 } },
};
