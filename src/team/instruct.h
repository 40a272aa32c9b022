/* team/instruct.h - what the person who oversees a project says to its agents. */
#pragma once

#include "team/message.h"

struct mr_team_instruction {
	const char *project_key;
	struct mr_texts to; /* of an answer: NULL is who wrote the message */
	const char *subject, *body_md;
	int64_t reply_to;       /* the message that is answered; or 0 */
	bool reply_all;         /* of an answer: also everybody in its to and cc */
	const char *thread_id;  /* or NULL; an answer is in the message's */
	const char *importance; /* NULL: high, and of an answer normal */
	bool ack_required;
	bool comes_first; /* the text begins with the request to do it before everything else */
	bool preview; /* it is checked, and nothing is sent: of the answer count subject, body, to
		       */
	bool verified;
	const struct mr_team_rights *rights;
};

/*
 * Send it from the project's overseer, who is made when nobody has needed one. No contact policy
 * stops it, and it goes to all recipients or to nobody. Fails as mr_team_send() and mr_team_reply()
 * do; INVALID_ARGUMENT also when there is no subject, or nothing in the text.
 */
MR_CHECK enum mr_code mr_team_instruct(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_instruction *instruction, struct mr_team_sent *out);
