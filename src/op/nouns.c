/* op/nouns.c */
#include "op/nouns.h"

static const struct mr_op *const all[] = {
	&mr_op_mailbox_init,
	&mr_op_mailbox_status,
	&mr_op_mailbox_check,
	&mr_op_mailbox_repair,
	&mr_op_mailbox_register,
	&mr_op_mailbox_unregister,
	&mr_op_mailbox_accounts_list,
	&mr_op_mailbox_accounts_get,
	&mr_op_mailbox_messages_list,
	&mr_op_mailbox_messages_get,
	&mr_op_mailbox_messages_clear,
	&mr_op_mailbox_clear_messages,
	&mr_op_mailbox_cleanup,
	&mr_op_mailbox_export,
	&mr_op_mailbox_script,
	&mr_op_team_ensure_project,
	&mr_op_team_list_projects,
	&mr_op_team_register_agent,
	&mr_op_team_create_identity,
	&mr_op_team_list_agents,
	&mr_op_team_whois,
	&mr_op_team_update_profile,
	&mr_op_team_delete_agent,
	&mr_op_team_health,
	&mr_op_config,
	&mr_op_health,
	&mr_op_liveness,
	&mr_op_readiness,
	&mr_op_operations,
	&mr_op_schema,
};

const struct mr_op_table mr_nouns = { all, MR_LEN(all) };
