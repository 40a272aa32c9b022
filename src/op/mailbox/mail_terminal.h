/*
 * op/mailbox/mail_terminal.h - mail operations that go to the agent itself, through its terminal.
 *
 * Sending, replying and marking can be asked of the agent when its mailbox cannot be used from
 * here. Nothing else is: a list that an agent types is no list.
 */
#pragma once

#include "op/mailbox/shape_mail.h"

/*
 * After the mail of `session` could not be opened (the reason is in call->cx.err): may this
 * operation be submitted to the agent's terminal? Then session->execution says so, and
 * session->unusable keeps the reason. Never for the agent itself: the prompt would come back to it.
 */
bool mr_mail_terminal_may(struct mr_call *call, const struct mr_op *op,
	struct mr_mail_session *session);

/* Submit, and fill the head of the result. What was not typed ends the command with status 1. */
void mr_mail_terminal_submit(struct mr_call *call, const struct mr_mail_session *session,
	const char *operation, const struct mr_value *arguments, struct mr_shape_mail_head *out);

/* Members of the arguments: a draft's text, files and notice. MR_EINVAL, MR_ENOTFOUND: a file
 * that is not there. */
MR_CHECK enum mr_code mr_mail_terminal_put_draft(struct mr_call *call, struct mr_out *out,
	const struct mr_mail_draft *draft);
/* Are they full addresses? MR_EINVAL. */
MR_CHECK enum mr_code mr_mail_terminal_check(struct mr_call *call,
	const struct mr_texts *addresses);
