/* tests/unit/team/test_team_recipient.c - whom a sender means by what he wrote. */
#include "team/recipient.h"

#include "mail.h"
#include "team/error.h"
#include "test.h"
#include "world.h"

#include <string.h>

static void set_scene(struct world *world)
{
	struct mr_team_project backend;
	struct mr_team_project frontend;
	struct mr_team_project other;

	world_open(world);
	backend = world_project(world, "/path/to/backend");
	frontend = world_project(world, "/path/to/frontend");
	other = world_project(world, "git@host:team/app");
	world_agent(world, &backend, "GreenCastle");
	world_agent(world, &backend, "RedCat");
	world_agent(world, &frontend, "BlueLake");
	world_agent(world, &frontend, "RedCat");
	world_agent(world, &frontend, "KeenOwl");
	world_agent(world, &other, "KeenOwl");
	world_agent(world, &other, "GoldBear");
}

static void forms_of_an_address(void)
{
	static const struct {
		const char *written, *means;
	} cases[] = {
		{ "RedCat", "RedCat" },
		{ " red-cat ", "RedCat" },
		{ "REDCAT", "RedCat" },
		{ "@RedCat", "RedCat" },
		{ "RedCat@backend", "RedCat" },
		{ "RedCat@frontend", "RedCat@path-to-frontend" },
		{ "project:/path/to/frontend#RedCat", "RedCat@path-to-frontend" },
		{ "project: frontend # redcat", "RedCat@path-to-frontend" },
		{ "@RedCat@frontend", "RedCat@path-to-frontend" },
		{ "BlueLake", "BlueLake@path-to-frontend" },
		{ "blue.lake", "BlueLake@path-to-frontend" },
		{ "GoldBear@git@host:team/app", "GoldBear@git-host-team-app" },
		{ "SwiftFox@backend", "SwiftFox" },
	};
	struct world world;

	set_scene(&world);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *names[] = { cases[i].written, NULL };
		struct mr_team_draft draft = mail_draft(&world, NULL, "x");
		struct mr_team_sent sent;

		draft.lists.to = (struct mr_texts){ names, 1 };
		sent = mail_send(&world, &draft);
		CHECK_STR(mail_join(&world, &sent.to), cases[i].means);
	}
	world_close(&world);
}

static void two_of_a_name_elsewhere(void)
{
	struct world world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;
	const struct mr_value *data;

	set_scene(&world);
	draft = mail_draft(&world, NULL, "x");
	draft.lists.cc = mail_names(&world, "KeenOwl");
	world_check_fail(&world, mr_team_send(&world.cx, world.team, &draft, &sent),
		MR_TEAM_INVALID_ARGUMENT, "KeenOwl is the name of agents in several projects");
	data = mr_team_fail_data(&world.cx.err);
	CHECK_STR(mr_value_get(data, "argument")->text, "cc");
	CHECK_INT(mr_value_get(data, "candidates")->list.len, 2);
	CHECK_STR(mr_value_get(data, "candidates")->list.items[0].text, "KeenOwl@path-to-frontend");
	/* Who is retired is not meant by a bare name, while another works. */
	world_exec(&world,
		"UPDATE agents SET is_active = 0 WHERE name = 'KeenOwl' AND"
		" project_id = 2");
	sent = mail_send(&world, &draft);
	CHECK_STR(mail_join(&world, &sent.cc), "KeenOwl@git-host-team-app");
	world_close(&world);
}

static void the_retired_at_home_come_last(void)
{
	struct world world;
	struct mr_team_sent sent;

	set_scene(&world);
	world_exec(&world,
		"UPDATE agents SET is_active = 0 WHERE name = 'RedCat' AND"
		" project_id = 1");
	sent = mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
	CHECK_STR(mail_join(&world, &sent.to), "RedCat@path-to-frontend");
	world_exec(&world, "UPDATE agents SET is_active = 0 WHERE name = 'RedCat'");
	sent = mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
	CHECK_STR(mail_join(&world, &sent.to), "RedCat");
	world_close(&world);
}

static void nobody_is_made_under_another_name(void)
{
	static const char *const names[] = {
		"lowercase",
		"Stormy Storm",
		"BlueComputer",
		"HumanOverseer",
		"System",
		"",
		"@",
		"#",
		"project:#",
		"../../etc",
		"SwiftFox@frontend",
		"swiftfox",
	};
	struct world world;

	set_scene(&world);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		const char *list[] = { names[i], NULL };
		struct mr_team_draft draft = mail_draft(&world, NULL, "x");
		struct mr_team_sent sent;

		draft.lists.to = (struct mr_texts){ list, 1 };
		world_check_fail(&world, mr_team_send(&world.cx, world.team, &draft, &sent),
			MR_TEAM_RECIPIENT_NOT_FOUND, "nobody is called");
	}
	CHECK_INT(world_count(&world, "agents"), 7);
	world_close(&world);
}

static void an_unknown_project_is_named(void)
{
	struct world world;
	struct mr_team_draft draft;
	struct mr_team_sent sent;

	set_scene(&world);
	draft = mail_draft(&world, "RedCat@frontent", "x");
	world_check_fail(&world, mr_team_send(&world.cx, world.team, &draft, &sent),
		MR_TEAM_NOT_FOUND, "recipient RedCat: ");
	world_close(&world);
}

static void a_name_of_a_mebibyte(void)
{
	struct world world;
	char *name;
	const char *list[2] = { NULL, NULL };
	struct mr_team_draft draft;
	struct mr_team_sent sent;

	set_scene(&world);
	name = mr_arena_alloc(world.cx.arena, (1 << 20) + 1);
	memset(name, 'A', 1 << 20);
	list[0] = name;
	draft = mail_draft(&world, NULL, "x");
	draft.lists.to = (struct mr_texts){ list, 1 };
	world_check_fail(&world, mr_team_send(&world.cx, world.team, &draft, &sent),
		MR_TEAM_RECIPIENT_NOT_FOUND, "nobody is called AAAA");
	CHECK_INT(strlen(mr_value_get(mr_team_fail_data(&world.cx.err), "unknown_recipients")
				  ->list.items[0]
				  .text),
		255);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(forms_of_an_address),
		TEST(two_of_a_name_elsewhere),
		TEST(the_retired_at_home_come_last),
		TEST(nobody_is_made_under_another_name),
		TEST(an_unknown_project_is_named),
		TEST(a_name_of_a_mebibyte),
	};

	return test_main(tests, MR_LEN(tests));
}
