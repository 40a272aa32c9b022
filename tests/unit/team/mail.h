/* tests/unit/team/mail.h - messages between agents of a world, in few words. */
#pragma once

#include "team/inbox.h"
#include "team/message.h"
#include "world.h"

/* Names with commas between; NULL is none. */
struct mr_texts mail_names(struct world *world, const char *names);
/* A draft from backend's GreenCastle. */
struct mr_team_draft mail_draft(struct world *world, const char *to, const char *subject);
/* Send it, which must work. */
struct mr_team_sent mail_send(struct world *world, const struct mr_team_draft *draft);
/* In few words, from `from` of `project`. */
struct mr_team_sent mail_from(struct world *world, const char *project, const char *from,
	const char *to, const char *subject);
/* The inbox, which must be readable. */
struct mr_team_items mail_inbox(struct world *world, const char *project, const char *agent);
/* Names joined with commas. */
const char *mail_join(struct world *world, const struct mr_texts *names);
