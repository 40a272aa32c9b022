/* surface/web/page_contact.c - page and actions: who may write to whom, and who still waits for an
 * answer.
 */
#include "op/nouns.h"
#include "surface/web/pages.h"

const struct mr_web_page mr_web_page_contacts = {
	.pattern = "/mail/p/{project_key}/contacts",
	.template = "contacts.html",
	.nav = "projects",
	.asks =
		(const struct mr_web_ask[]){
			MR_WEB_PROJECT,
			{ "contacts", &mr_op_team_contact_all },
			{ "agents", &mr_op_team_list_agents },
			{ 0 },
		},
};

/* `project_key` is the project of the agent that was asked: it may be another than the page's. */
const struct mr_web_action mr_web_action_contact_answer = {
	.name = "contact-answer",
	.note = "Answered; the agent that asked has a message.",
	.pattern = "/mail/p/{project_key}/contacts/{link_id}/answer",
	.op = &mr_op_team_contact_respond,
	.page = &mr_web_page_contacts,
};

const struct mr_web_action mr_web_action_contact_policy = {
	.name = "contact-policy",
	.note = "From now on this decides who may write to it.",
	.pattern = "/mail/p/{project_key}/contacts/{agent_name}/policy",
	.op = &mr_op_team_contact_policy,
	.page = &mr_web_page_contacts,
};
