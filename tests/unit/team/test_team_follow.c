/* tests/unit/team/test_team_follow.c */
#include "team/follow.h"

#include "mail.h"
#include "team/error.h"
#include "test.h"
#include "world.h"

struct scene {
	struct world world;
	struct mr_team_project backend;
	struct mr_team_moment moment;
	struct mr_team_items mail;
};

static void set_scene(struct scene *s)
{
	struct mr_team_project frontend;

	*s = (struct scene){ 0 };
	world_open(&s->world);
	s->backend = world_project(&s->world, "/path/to/backend");
	world_agent(&s->world, &s->backend, "GreenCastle");
	world_agent(&s->world, &s->backend, "RedCat");
	frontend = world_project(&s->world, "/path/to/frontend");
	world_agent(&s->world, &frontend, "BlueLake");
	world_agent(&s->world, &frontend, "GoldPeak");
	mail_from(&s->world, "backend", "GreenCastle", "RedCat", "before");
	CHECK_OK(mr_team_follow_begin(&s->world.cx, s->world.team, "backend", &s->backend,
			 &s->moment),
		s->world.cx.err);
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

/* Whether something has changed since the last call. */
static bool changed(struct scene *s)
{
	struct mr_team_moment now;
	bool found;

	s->world.cx.is_over = at_once;
	CHECK_OK(mr_team_follow_wait(&s->world.cx, s->world.team, &s->backend, NULL, &s->moment, -1,
			 &found, &now, &s->mail),
		s->world.cx.err);
	s->moment = now;
	return found;
}

static void mail_of_the_project_is_found_once(void)
{
	struct scene s;

	set_scene(&s);
	CHECK(!changed(&s));
	mail_from(&s.world, "backend", "GreenCastle", "RedCat", "one");
	mail_from(&s.world, "backend", "RedCat", "GreenCastle", "two");
	CHECK(changed(&s));
	CHECK_INT(s.mail.len, 2);
	CHECK_STR(s.mail.items[0].message.subject, "one");
	CHECK_STR(s.mail.items[1].message.subject, "two");
	CHECK(!changed(&s));
	mail_from(&s.world, "frontend", "BlueLake", "GoldPeak", "elsewhere");
	CHECK(!changed(&s));
	CHECK_INT(s.mail.len, 0);
	world_close(&s.world);
}

static void an_acknowledgement_is_no_longer_due(void)
{
	struct mr_team_draft draft;
	struct mr_team_receipt receipt;
	struct mr_team_sent sent;
	struct scene s;

	set_scene(&s);
	draft = mail_draft(&s.world, "RedCat", "answer me");
	draft.ack_required = true;
	sent = mail_send(&s.world, &draft);
	CHECK(changed(&s));
	CHECK_INT(s.moment.dues.len, 1);
	CHECK_STR(s.moment.dues.items[0].agent, "RedCat");
	CHECK_STR(s.moment.dues.items[0].subject, "answer me");
	CHECK_OK(mr_team_acknowledge(&s.world.cx, s.world.team, "backend", "RedCat",
			 sent.message.id, &receipt),
		s.world.cx.err);
	CHECK(changed(&s));
	CHECK_INT(s.moment.dues.len, 0);
	CHECK_INT(s.mail.len, 0);
	world_close(&s.world);
}

static void leases_come_and_go(void)
{
	struct scene s;

	set_scene(&s);
	world_exec(&s.world,
		"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix,"
		" exclusive, reason, created_ts, expires_ts)"
		" VALUES (1, 1, 'a', 'a', 1, '', 1, 9000000000000000)");
	CHECK(changed(&s));
	CHECK_INT(s.moment.leases.len, 1);
	CHECK_STR(s.moment.leases.items[0].lease.path_pattern, "a");
	CHECK(!changed(&s));
	world_exec(&s.world, "UPDATE file_reservations SET released_ts = 2");
	CHECK(changed(&s));
	CHECK_INT(s.moment.leases.len, 0);
	world_close(&s.world);
}

static void a_project_must_be_there(void)
{
	struct scene s;

	set_scene(&s);
	world_check_fail(&s.world,
		mr_team_follow_begin(&s.world.cx, s.world.team, "nowhere", &s.backend, &s.moment),
		MR_TEAM_NOT_FOUND, "nowhere");
	world_close(&s.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(mail_of_the_project_is_found_once),
		TEST(an_acknowledgement_is_no_longer_due),
		TEST(leases_come_and_go),
		TEST(a_project_must_be_there),
	};

	return test_main(tests, MR_LEN(tests));
}
