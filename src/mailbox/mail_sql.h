/* mailbox/mail_sql.h - the messages of a box in mailbox.sqlite. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"
#include "mailbox/mail.h"
#include "mailbox/model.h"

/* Newest first, and of one second the last to arrive first; query->limit at most. */
MR_CHECK enum mr_code mr_mail_sql_list(struct mr_ctx *cx, struct mr_db *local,
	const struct mr_mail_query *query, struct mr_mailbox_states *out);
