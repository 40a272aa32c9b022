/* surface/web/team_act.c - actions: what a person does in a team, as its overseer. */
#include "op/nouns.h"
#include "surface/web/pages.h"

const struct mr_web_action mr_web_action_acknowledge = {
	.name = "acknowledge",
	.note = "Acknowledged: its sender can see that you have taken note.",
	.pattern = "/mail/p/{project_key}/message/{message_id}/acknowledge",
	.op = &mr_op_team_ack,
	.fixed = "agent_name=HumanOverseer",
};
