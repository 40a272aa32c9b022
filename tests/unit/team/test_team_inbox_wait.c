/* tests/unit/team/test_team_inbox_wait.c */
#include "team/inbox_wait.h"

#include "base/attr.h"
#include "mail.h"
#include "team/error.h"
#include "test.h"
#include "world.h"

static void set_scene(struct world *world)
{
	struct mr_team_project backend;

	world_open(world);
	backend = world_project(world, "/path/to/backend");
	world_agent(world, &backend, "GreenCastle");
	world_agent(world, &backend, "RedCat");
}

static struct mr_team_inbox_place place_since(struct world *world, const char *since)
{
	struct mr_team_inbox_place place = { 0 };

	CHECK_OK(mr_team_inbox_place(&world->cx, world->team, "backend", "RedCat", since, &place),
		world->cx.err);
	CHECK_STR(place.agent.name, "RedCat");
	return place;
}

static void a_place_is_now_or_a_message_or_a_time(void)
{
	struct mr_team_inbox_place place;
	struct world world;

	set_scene(&world);
	CHECK_INT(place_since(&world, NULL).after, 0);
	for (int i = 0; i < 3; i++) {
		mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
		world_later(&world, 60);
	}
	CHECK_INT(place_since(&world, NULL).after, 3);
	CHECK_INT(place_since(&world, "1").after, 1);
	CHECK_INT(place_since(&world, "2026-03-11T04:15:30Z").after, 1);
	CHECK_INT(place_since(&world, "2026-03-11T05:00:00Z").after, 3);
	world_check_fail(&world,
		mr_team_inbox_place(&world.cx, world.team, "backend", "RedCat", "soon", &place),
		MR_TEAM_INVALID_ARGUMENT, "since_ts: ");
	world_check_fail(&world,
		mr_team_inbox_place(&world.cx, world.team, "backend", "Nobody", NULL, &place),
		MR_TEAM_NOT_FOUND, "Nobody");
	world_close(&world);
}

static struct mr_team_items wait_at(struct world *world, struct mr_team_inbox_place *place,
	int64_t limit, int64_t timeout_ms)
{
	struct mr_team_items items = { 0 };

	CHECK_OK(mr_team_inbox_wait(&world->cx, world->team, place, true, limit, timeout_ms,
			 &items),
		world->cx.err);
	return items;
}

static void mail_comes_oldest_first_and_once(void)
{
	struct mr_team_inbox_place place;
	struct mr_team_items items;
	struct world world;

	set_scene(&world);
	place = place_since(&world, NULL);
	CHECK_INT(wait_at(&world, &place, 2, 0).len, 0);
	for (int i = 0; i < 3; i++)
		mail_from(&world, "backend", "GreenCastle", "RedCat", "x");
	mail_from(&world, "backend", "RedCat", "GreenCastle", "of somebody else");
	items = wait_at(&world, &place, 2, 0);
	CHECK_INT(items.len, 2);
	CHECK_INT(items.items[0].message.id, 1);
	CHECK(items.items[0].message.body_md != NULL);
	CHECK_INT(place.after, 2);
	items = wait_at(&world, &place, 2, -1);
	CHECK_INT(items.len, 1);
	CHECK_INT(items.items[0].message.id, 3);
	CHECK_INT(place.after, 3);
	CHECK_INT(wait_at(&world, &place, 2, 0).len, 0);
	CHECK_INT(place.after, 3);
	world_close(&world);
}

struct sender {
	struct world *world;
	int sent;
};

/* Asked between a look and the sleep after it: first mail for another comes, then ours. */
static bool send_next(void *arg)
{
	struct sender *sender = arg;

	if (sender->sent++ < 2)
		mail_from(sender->world, "backend", "RedCat", "GreenCastle", "x");
	else
		mail_from(sender->world, "backend", "GreenCastle", "RedCat", "y");
	return false;
}

static void only_own_mail_ends_a_wait(void)
{
	struct mr_team_inbox_place place;
	struct mr_team_items items;
	struct sender sender = { 0 };
	struct world world;

	set_scene(&world);
	sender.world = &world;
	place = place_since(&world, NULL);
	world.cx.is_over = send_next;
	world.cx.is_over_arg = &sender;
	items = wait_at(&world, &place, 10, -1);
	CHECK_INT(sender.sent, 3);
	CHECK_INT(items.len, 1);
	CHECK_STR(items.items[0].message.subject, "y");
	CHECK_INT(place.after, 3);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_place_is_now_or_a_message_or_a_time),
		TEST(mail_comes_oldest_first_and_once),
		TEST(only_own_mail_ends_a_wait),
	};

	return test_main(tests, MR_LEN(tests));
}
