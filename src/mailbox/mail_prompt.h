/*
 * mailbox/mail_prompt.h - a mail operation as a prompt for an agent's terminal, and its answer
 * there (spec/mailbox.md 21). Pure.
 *
 * The agent is asked to carry the operation out and to print one JSON object between two lines that
 * hold nothing but MR_MAIL_PROMPT_BEGIN and MR_MAIL_PROMPT_END. Such an object is a preview: what
 * the agent says, not what the mailbox knows.
 */
#pragma once

#include "base/ctx.h"
#include "mailbox/binding.h"

#define MR_MAIL_PROMPT_LABEL "HOUMAO_MAIL_REQUEST:"
#define MR_MAIL_PROMPT_BEGIN "HOUMAO_MAIL_RESULT_BEGIN"
#define MR_MAIL_PROMPT_END   "HOUMAO_MAIL_RESULT_END"

enum { MR_MAIL_PROMPT_BYTES = 32 << 10 }; /* what people would still read in a terminal */

struct mr_mail_prompt {
	const char *request_id; /* mailreq-20260313T091530Z-3c9f1e6ab2 */
	const char *operation;  /* "send", "reply", "mark" */
	const struct mr_mailbox_binding *binding;
	const struct mr_value *arguments; /* a map */
};

const char *mr_mail_prompt_id(struct mr_ctx *cx);

/* MR_ELIMIT: longer than MR_MAIL_PROMPT_BYTES. */
MR_CHECK enum mr_code mr_mail_prompt_text(struct mr_ctx *cx, const struct mr_mail_prompt *prompt,
	const char **out);

/*
 * The answer on a screen. MR_ENOTFOUND: none for this request yet; answers to other requests are
 * passed over. MR_EFORMAT: there are several, or it is not JSON. MR_ECONFLICT: it is about another
 * operation or another mailbox.
 */
MR_CHECK enum mr_code mr_mail_prompt_preview(struct mr_ctx *cx, const struct mr_mail_prompt *prompt,
	const char *screen, const struct mr_value **out);
