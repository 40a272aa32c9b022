/* tests/unit/team/test_team_topic.c */
#include "team/topic.h"

#include "base/attr.h"
#include "mail.h"
#include "test.h"
#include "world.h"

enum { INBOX, THREAD, LEASES, MEMBERS, NONE, COUNT };

struct scene {
	struct world world;
	struct mr_team_project backend;
	struct mr_team_agent red;
	struct mr_team_topic topics[COUNT];
	int asked;
};

static void set_scene(struct scene *s)
{
	*s = (struct scene){ 0 };
	world_open(&s->world);
	s->backend = world_project(&s->world, "/path/to/backend");
	world_agent(&s->world, &s->backend, "GreenCastle");
	s->red = world_agent(&s->world, &s->backend, "RedCat");
	mail_from(&s->world, "backend", "GreenCastle", "RedCat", "before");
	s->topics[INBOX] = (struct mr_team_topic){ .kind = MR_TEAM_TOPIC_INBOX, .id = s->red.id };
	s->topics[THREAD] = (struct mr_team_topic){ .kind = MR_TEAM_TOPIC_THREAD,
		.id = s->backend.id,
		.thread_id = "T" };
	s->topics[LEASES] =
		(struct mr_team_topic){ .kind = MR_TEAM_TOPIC_LEASES, .id = s->backend.id };
	s->topics[MEMBERS] = (struct mr_team_topic){ .kind = MR_TEAM_TOPIC_MEMBERS };
	for (size_t i = 0; i < COUNT; i++)
		CHECK_OK(mr_team_topic_begin(&s->world.cx, s->world.team, &s->topics[i]),
			s->world.cx.err);
}

static bool at_once(void *arg)
{
	struct scene *s = arg;

	s->asked++;
	return true;
}

/* Which have changed, a letter each. */
static const char *changed(struct scene *s)
{
	static const char letters[] = "itlmn";
	char *text = mr_arena_alloc(s->world.cx.arena, COUNT + 1);
	size_t len = 0;
	bool found;

	s->world.cx.is_over = at_once;
	s->world.cx.is_over_arg = s;
	CHECK_OK(mr_team_topics_wait(&s->world.cx, s->world.team, s->topics, COUNT, "failed",
			 &found),
		s->world.cx.err);
	for (size_t i = 0; i < COUNT; i++) {
		if (s->topics[i].is_changed)
			text[len++] = letters[i];
	}
	CHECK_INT(found, len > 0);
	return text;
}

static void each_change_is_told_once(void)
{
	struct mr_team_draft draft;
	struct scene s;

	set_scene(&s);
	CHECK_STR(changed(&s), "");
	mail_from(&s.world, "backend", "GreenCastle", "RedCat", "x");
	CHECK_STR(changed(&s), "i");
	CHECK_STR(changed(&s), "");
	mail_from(&s.world, "backend", "RedCat", "GreenCastle", "x");
	CHECK_STR(changed(&s), "");
	draft = mail_draft(&s.world, "GreenCastle", "x");
	draft.thread_id = "T";
	mail_send(&s.world, &draft);
	CHECK_STR(changed(&s), "t");
	world_agent(&s.world, &s.backend, "BlueLake");
	CHECK_STR(changed(&s), "m");
	world_exec(&s.world,
		"INSERT INTO file_reservations (project_id, agent_id, path_pattern, prefix,"
		" exclusive, reason, created_ts, expires_ts) VALUES (1, 1, 'a', 'a', 1, '', 1, 2)");
	CHECK_STR(changed(&s), "l");
	CHECK_STR(changed(&s), "");
	world_close(&s.world);
}

/* More than a page is behind, and two wait for the same from different marks. */
static void each_has_a_mark_of_its_own(void)
{
	struct scene s;

	set_scene(&s);
	for (int i = 0; i < 300; i++)
		mail_from(&s.world, "backend", "RedCat", "GreenCastle", "x");
	mail_from(&s.world, "backend", "GreenCastle", "RedCat", "x");
	s.topics[THREAD] = s.topics[INBOX];
	CHECK_OK(mr_team_topic_begin(&s.world.cx, s.world.team, &s.topics[THREAD]), s.world.cx.err);
	CHECK_STR(changed(&s), "i");
	CHECK_INT(s.topics[INBOX].mark, s.topics[THREAD].mark);
	CHECK_STR(changed(&s), "");
	mail_from(&s.world, "backend", "GreenCastle", "RedCat", "x");
	CHECK_STR(changed(&s), "it");
	world_agent(&s.world, &s.backend, "BlueLake");
	s.topics[LEASES] = s.topics[MEMBERS];
	CHECK_OK(mr_team_topic_begin(&s.world.cx, s.world.team, &s.topics[LEASES]), s.world.cx.err);
	CHECK_STR(changed(&s), "m");
	world_close(&s.world);
}

/* is_over is asked after a look that found nothing, and only then. */
static void a_wait_can_be_ended(void)
{
	struct scene s;

	set_scene(&s);
	CHECK_STR(changed(&s), "");
	CHECK_INT(s.asked, 1);
	mail_from(&s.world, "backend", "GreenCastle", "RedCat", "x");
	CHECK_STR(changed(&s), "i");
	CHECK_INT(s.asked, 1);
	mr_team_topics_wake(s.world.team);
	CHECK_STR(changed(&s), "");
	CHECK_INT(s.asked, 2);
	world_close(&s.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(each_change_is_told_once),
		TEST(each_has_a_mark_of_its_own),
		TEST(a_wait_can_be_ended),
	};

	return test_main(tests, MR_LEN(tests));
}
