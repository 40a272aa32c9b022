/* op/mailbox/mail_words.h - what was typed for a mail command: choices, bodies and notices. */
#pragma once

#include "mailbox/mail.h"
#include "op/call.h"

/* The word that says: the command line was wrong. */
extern const char mr_mail_usage[]; /* "usage" */

/* MR_EINVAL with that word. */
MR_CHECK enum mr_code mr_mail_words_refuse(struct mr_call *call, const char *why);
/* The place of a text among `choices` (NULL-terminated), in any case; NULL is the first. */
MR_CHECK enum mr_code mr_mail_words_choice(struct mr_call *call, const char *option,
	const char *text, const char *const *choices, size_t *out);

/* Of --notify-block-placement and --attach-mode, NULL-terminated. */
extern const char *const mr_mail_words_placements[];
extern const char *const mr_mail_words_attach_modes[];

/* What a message is written from. */
struct mr_mail_written {
	const char *body_content, *body_file;
	struct mr_texts attach;
	const char *attach_mode, *notify_block, *notify_block_placement;
};
/*
 * Complete a draft. The body is exactly one of the two, else what is piped into the command.
 * Errors: MR_EINVAL both or none, a NUL, no UTF-8, an unknown placement; MR_ENOTFOUND no such file;
 * MR_ELIMIT.
 */
MR_CHECK enum mr_code mr_mail_words_draft(struct mr_call *call,
	const struct mr_mail_written *written, struct mr_mail_draft *draft);
