/* tests/unit/team/letters.h - messages in a world, without the rules of sending. */
#pragma once

#include "world.h"

struct letter {
	const struct mr_team_agent *from;
	const struct mr_team_agent *to[4];
	enum mr_team_recipient_kind kinds[4]; /* of each in `to`; 0 is MR_TEAM_TO */
	const char *subject, *body, *thread;  /* NULL: some text; no thread */
	const char *attachments;
};
/* Stored as sending stores it, in the sender's project; returns its row. */
struct mr_team_message letter_send(struct world *world, const struct letter *mail);
/* Archive everything now; it must succeed. */
void letter_drain(struct world *world);
/* Run git in a project's directory: its output, without the last newline. */
const char *letter_git(struct world *world, const char *slug, const char *a, const char *b,
	const char *c);
