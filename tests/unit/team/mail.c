/* tests/unit/team/mail.c */
#include "mail.h"

#include "test.h"

struct mr_texts mail_names(struct world *world, const char *names)
{
	return mr_str_split(world->cx.arena, names ? names : "", ',');
}

struct mr_team_draft mail_draft(struct world *world, const char *to, const char *subject)
{
	return (struct mr_team_draft){
		.project_key = "backend",
		.sender_name = "GreenCastle",
		.lists = { .to = mail_names(world, to) },
		.subject = subject,
		.body_md = "Hello.",
		.convert_images = -1,
	};
}

struct mr_team_sent mail_send(struct world *world, const struct mr_team_draft *draft)
{
	struct mr_team_sent sent;

	CHECK_OK(mr_team_send(&world->cx, world->team, draft, &sent), world->cx.err);
	return sent;
}

struct mr_team_sent mail_from(struct world *world, const char *project, const char *from,
	const char *to, const char *subject)
{
	struct mr_team_draft draft = mail_draft(world, to, subject);

	draft.project_key = project;
	draft.sender_name = from;
	return mail_send(world, &draft);
}

struct mr_team_items mail_inbox(struct world *world, const char *project, const char *agent)
{
	struct mr_team_inbox_query query = { .project_key = project, .agent_name = agent };
	struct mr_team_items items;

	CHECK_OK(mr_team_inbox_fetch(&world->cx, world->team, &query, &items), world->cx.err);
	return items;
}

const char *mail_join(struct world *world, const struct mr_texts *names)
{
	return mr_str_join(world->cx.arena, names, ",");
}
