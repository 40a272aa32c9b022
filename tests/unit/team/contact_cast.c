/* tests/unit/team/contact_cast.c */
#include "contact_cast.h"

#include "test.h"

void cast_open(struct cast *cast)
{
	world_open(&cast->world);
	cast->backend = world_project(&cast->world, "/path/to/backend");
	cast->frontend = world_project(&cast->world, "/path/to/frontend");
	cast->green = world_agent(&cast->world, &cast->backend, "GreenCastle");
	cast->red = world_agent(&cast->world, &cast->backend, "RedFox");
	cast->blue = world_agent(&cast->world, &cast->frontend, "BlueLake");
	CHECK_INT(cast->green.id, 1);
	CHECK_INT(cast->red.id, 2);
	CHECK_INT(cast->blue.id, 3);
}

struct mr_team_agent cast_agent(struct cast *cast, int64_t id)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_agent found;

	CHECK_OK(mr_team_read(&cast->world.cx, cast->world.team, &reader), cast->world.cx.err);
	CHECK_OK(mr_team_agent_get(&cast->world.cx, reader.db, id, &found), cast->world.cx.err);
	return found;
}

void cast_clear(struct cast *cast)
{
	world_exec(&cast->world,
		"DELETE FROM agent_links; DELETE FROM message_recipients;"
		"DELETE FROM messages; DELETE FROM product_project_links; DELETE FROM products;"
		"DELETE FROM file_reservations; DELETE FROM archive_queue;"
		"UPDATE agents SET contact_policy = 'open', program = 'codex', is_system = 0;");
	world_reindex(&cast->world);
}

struct mr_team_decision cast_decide(struct cast *cast, int64_t from, int64_t to,
	const char *thread_id, int64_t reply_to)
{
	struct mr_team_agent sender = cast_agent(cast, from), recipient = cast_agent(cast, to);
	struct mr_team_contact_case the_case = { &sender, &recipient, thread_id, reply_to };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_decision decision;

	CHECK_OK(mr_team_read(&cast->world.cx, cast->world.team, &reader), cast->world.cx.err);
	CHECK_OK(mr_team_contact_decide(&cast->world.cx, cast->world.team, reader.db, &the_case,
			 &decision),
		cast->world.cx.err);
	return decision;
}
