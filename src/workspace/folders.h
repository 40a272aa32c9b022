/*
 * workspace/folders.h - the mailboxes of the server and the special uses they have: which of them a
 * push would take for archive, junk, sent and so on.
 */
#pragma once

#include "workspace/config.h"
#include "workspace/mail_server.h"

/* The mailbox for a special use. */
struct mr_work_use_target {
	const char *mailbox_name; /* in UTF-8 */
	/* "mailboxes": the configuration says so; "rfc6154_attribute": the server; "fallback_name":
	 * it is named so, or would be. */
	const char *source;
	bool exists;
};
struct mr_work_special_use;
struct mr_work_use_target mr_work_target_for(const struct mr_work_config *config,
	const struct mr_work_server_mailboxes *list, const struct mr_work_special_use *use);

/* As `remote folders` shows them: a list of objects each. */
void mr_work_folders_describe(struct mr_arena *arena, const struct mr_work_config *config,
	const struct mr_work_server_mailboxes *list, const struct mr_value **out_mailboxes,
	const struct mr_value **out_targets);
