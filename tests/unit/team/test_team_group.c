/* tests/unit/team/test_team_group.c */
#include "team/group.h"

#include "team/error.h"
#include "team/limits.h"
#include "team/message.h"
#include "test.h"
#include "world.h"

#include <string.h>

struct room {
	struct world world;
	struct mr_team_project project;
};

static void open_room(struct room *room)
{
	static const char *const names[] = { "GreenCastle", "BlueLake", "RedFox", "WildOwl" };

	world_open(&room->world);
	room->project = world_project(&room->world, "/backend");
	for (size_t i = 0; i < MR_LEN(names); i++)
		world_agent(&room->world, &room->project, names[i]);
	world_exec(&room->world,
		"UPDATE agents SET program = 'Claude Code' WHERE name IN ('BlueLake', 'RedFox');"
		"UPDATE agents SET last_active_ts = 1 WHERE name = 'RedFox';"
		"UPDATE agents SET is_active = 0 WHERE name = 'WildOwl'");
}

/* The names of those who are meant when GreenCastle writes to it, in their order; "-" when it is no
 * group. */
static const char *meant(struct room *room, const char *name)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct world *world = &room->world;
	struct mr_team_agents agents = { NULL, 0 };
	const char *all = "";
	bool found = false;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_group_resolve(&world->cx, world->team, reader.db, &room->project, name,
			 world_int(world, "SELECT id FROM agents WHERE name = 'GreenCastle'"),
			 &found, &agents),
		world->cx.err);
	for (size_t i = 0; i < agents.len; i++)
		all = mr_arena_printf(world->cx.arena, "%s%s%s", all, i ? " " : "",
			agents.items[i].name);
	return found ? all : "-";
}

static enum mr_code set(struct room *room, const char *name, const char *members,
	struct mr_team_group *out)
{
	struct mr_team_group_edit edit = {
		.project_key = "backend",
		.agent_name = "GreenCastle",
		.name = name,
		.members = mr_str_split(room->world.cx.arena, members, ' '),
	};

	return mr_team_group_set(&room->world.cx, room->world.team, &edit, out);
}

static void who_is_meant(void)
{
	struct mr_team_group group;
	struct room room;

	open_room(&room);
	CHECK_STR(meant(&room, "all"), "BlueLake RedFox");
	CHECK_STR(meant(&room, "ALL"), "BlueLake RedFox");
	CHECK_STR(meant(&room, "active"), "BlueLake");
	CHECK_STR(meant(&room, "program:claude code"), "BlueLake RedFox");
	CHECK_STR(meant(&room, "program:codex"), "");
	CHECK_STR(meant(&room, "reviewers"), "-");
	CHECK_OK(set(&room, "@Reviewers", "redfox GreenCastle", &group), room.world.cx.err);
	CHECK_STR(group.name, "reviewers");
	CHECK_STR(mr_str_join(room.world.cx.arena, &group.members, " "), "GreenCastle RedFox");
	CHECK_STR(meant(&room, "reviewers"), "RedFox");
	CHECK_STR(meant(&room, "REVIEWERS"), "RedFox");
	world_close(&room.world);
}

static void groups_are_set_and_deleted(void)
{
	struct mr_team_groups groups;
	struct mr_team_group group;
	struct room room;

	open_room(&room);
	CHECK_OK(set(&room, "b", "RedFox", &group), room.world.cx.err);
	CHECK_OK(set(&room, "a", "BlueLake", &group), room.world.cx.err);
	world_later(&room.world, 60);
	CHECK_OK(set(&room, "b", "BlueLake GreenCastle", &group), room.world.cx.err);
	CHECK_INT(group.created_ts, WORLD_NOW_US);
	CHECK_OK(mr_team_group_list(&room.world.cx, room.world.team, "backend", &groups),
		room.world.cx.err);
	CHECK_INT(groups.len, 2);
	CHECK_STR(groups.items[0].name, "a");
	CHECK_INT(groups.items[1].members.len, 2);
	CHECK_OK(set(&room, "b", "", &group), room.world.cx.err);
	CHECK_OK(set(&room, "never", "", &group), room.world.cx.err);
	CHECK_INT(world_count(&room.world, "agent_groups"), 1);
	CHECK_INT(world_count(&room.world, "agent_group_members"), 1);
	world_close(&room.world);
}

static void names_are_checked(void)
{
	static const char *const bad[] = { "", "all", "Active", "program:codex", "a b",
		"greencastle" };
	struct mr_team_group group;
	struct room room;

	open_room(&room);
	for (size_t i = 0; i < MR_LEN(bad); i++)
		world_check_fail(&room.world, set(&room, bad[i], "RedFox", &group),
			MR_TEAM_INVALID_ARGUMENT, "");
	world_check_fail(&room.world, set(&room, "a", "NobodyHere", &group), MR_TEAM_NOT_FOUND,
		"NobodyHere");
	CHECK_INT(world_count(&room.world, "agent_groups"), 0);
	for (int i = 0; i < MR_TEAM_GROUPS; i++)
		CHECK_OK(set(&room, mr_arena_printf(room.world.cx.arena, "g%d", i), "RedFox",
				 &group),
			room.world.cx.err);
	world_check_fail(&room.world, set(&room, "more", "RedFox", &group),
		MR_TEAM_INVALID_ARGUMENT, "at most 200");
	world_close(&room.world);
}

/* A message has at most so many recipients, whatever they are called. */
static void groups_are_bounded(void)
{
	const char *to[] = { "@all", NULL };
	struct mr_team_draft draft = {
		.project_key = "backend",
		.sender_name = "GreenCastle",
		.lists = { .to = { to, 1 } },
		.subject = "s",
		.body_md = "b",
		.convert_images = -1,
	};
	struct mr_team_sent sent;
	struct room room;

	open_room(&room);
	for (int i = 2; i < MR_TEAM_RECIPIENTS; i++)
		world_agent(&room.world, &room.project,
			mr_arena_printf(room.world.cx.arena, "Agent%d", i));
	CHECK_OK(mr_team_send(&room.world.cx, room.world.team, &draft, &sent), room.world.cx.err);
	CHECK_INT(sent.recipients.len, MR_TEAM_RECIPIENTS);
	CHECK_STR(sent.message.addressed, "@all");
	world_agent(&room.world, &room.project, "OneMore");
	world_check_fail(&room.world, mr_team_send(&room.world.cx, room.world.team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "more than 256 recipients");
	CHECK_INT(world_count(&room.world, "messages"), 1);
	world_close(&room.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(who_is_meant),
		TEST(groups_are_set_and_deleted),
		TEST(names_are_checked),
		TEST(groups_are_bounded),
	};

	return test_main(tests, MR_LEN(tests));
}
