/* tests/unit/team/test_team_thread.c */
#include "team/thread.h"

#include "mail.h"
#include "test.h"
#include "world.h"

#include <string.h>

static struct mr_team_project backend, frontend;

static void set_scene(struct world *world)
{
	world_open(world);
	backend = world_project(world, "/path/to/backend");
	frontend = world_project(world, "/path/to/frontend");
	world_agent(world, &backend, "GreenCastle");
	world_agent(world, &backend, "RedCat");
	world_agent(world, &frontend, "BlueLake");
}

static struct mr_team_items get(struct world *world, int64_t project_id, const char *thread,
	int64_t after, int64_t limit)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_items items;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_thread_get(&world->cx, reader.db, NULL, project_id, thread, true, after,
			 limit, &items),
		world->cx.err);
	return items;
}

static struct mr_team_sent answer(struct world *world, int64_t id, const char *project,
	const char *who)
{
	struct mr_team_reply reply = { .project_key = project,
		.message_id = id,
		.sender_name = who,
		.body_md = "Yes.",
		.ack_required = -1 };
	struct mr_team_sent sent;

	CHECK_OK(mr_team_reply(&world->cx, world->team, &reply, &sent), world->cx.err);
	return sent;
}

/* A conversation between two projects is whole from either side. */
static void both_sides_see_it_all(void)
{
	struct world world;
	struct mr_team_items items;

	set_scene(&world);
	mail_from(&world, "backend", "GreenCastle", "BlueLake", "Plan");
	answer(&world, 1, "frontend", "BlueLake");
	answer(&world, 2, "backend", "GreenCastle");
	items = get(&world, backend.id, "1", 0, 0);
	CHECK_INT(items.len, 3);
	CHECK_INT(items.items[0].message.id, 1);
	CHECK_STR(items.items[1].from, "BlueLake");
	CHECK_STR(items.items[1].message.body_md, "Yes.");
	CHECK_STR(mail_join(&world, &items.items[1].to), "GreenCastle@path-to-backend");
	CHECK_INT(items.items[2].message.id, 3);
	CHECK_INT(get(&world, frontend.id, "1", 0, 0).len, 3);
	world_close(&world);
}

static void what_is_not_addressed_here_is_not_seen(void)
{
	struct world world;
	struct mr_team_draft draft;

	set_scene(&world);
	draft = mail_draft(&world, "RedCat", "secret");
	draft.thread_id = "T";
	mail_send(&world, &draft);
	CHECK_INT(get(&world, backend.id, "T", 0, 0).len, 1);
	CHECK_INT(get(&world, frontend.id, "T", 0, 0).len, 0);
	/* A blind copy does not give itself away. */
	draft.lists.bcc = mail_names(&world, "BlueLake");
	mail_send(&world, &draft);
	CHECK_INT(get(&world, frontend.id, "T", 0, 0).len, 0);
	CHECK_INT(get(&world, frontend.id, "1", 0, 0).len, 0);
	CHECK_INT(get(&world, backend.id, "../../x", 0, 0).len, 0);
	world_close(&world);
}

static void page_by_page(void)
{
	struct world world;
	struct mr_team_draft draft;
	struct mr_team_items items;

	set_scene(&world);
	draft = mail_draft(&world, "RedCat", "x");
	draft.thread_id = "T";
	for (int i = 0; i < 5; i++)
		mail_send(&world, &draft);
	items = get(&world, backend.id, "T", 0, 2);
	CHECK_INT(items.len, 2);
	CHECK_INT(items.next, 2);
	items = get(&world, backend.id, "T", items.next, 3);
	CHECK_INT(items.items[0].message.id, 3);
	CHECK_INT(items.len, 3);
	CHECK_INT(items.next, 0);
	world_close(&world);
}

static void the_latest_threads_first(void)
{
	struct world world;
	struct mr_team_reader reader = { 0 };
	struct mr_team_draft draft;
	struct mr_team_threads threads;

	set_scene(&world);
	draft = mail_draft(&world, "RedCat", "first of A");
	draft.thread_id = "A";
	mail_send(&world, &draft); /* 1 */
	draft.subject = "first of B";
	draft.thread_id = "B";
	mail_send(&world, &draft);                                      /* 2 */
	mail_from(&world, "backend", "GreenCastle", "RedCat", "alone"); /* 3 */
	world_later(&world, 60);
	answer(&world, 1, "backend", "RedCat"); /* 4 */
	answer(&world, 3, "backend", "RedCat"); /* 5 */
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_thread_list(&world.cx, reader.db, NULL, backend.id, 0, 0, &threads),
		world.cx.err);
	CHECK_INT(threads.len, 3);
	CHECK_STR(threads.items[0].thread_id, "3");
	CHECK_STR(threads.items[0].subject, "alone");
	CHECK_INT(threads.items[0].messages, 2);
	/* The third of one moment, and the second of another: no two have the same time. */
	CHECK_INT(threads.items[0].first_ts, WORLD_NOW_US + 2);
	CHECK_INT(threads.items[0].last_ts, WORLD_NOW_US + 60000000 + 1);
	CHECK_STR(threads.items[1].thread_id, "A");
	CHECK_STR(threads.items[1].subject, "first of A");
	CHECK_INT(threads.items[1].messages, 2);
	CHECK_STR(threads.items[1].last_from, "RedCat");
	CHECK_STR(threads.items[2].thread_id, "B");
	CHECK_OK(mr_team_thread_list(&world.cx, reader.db, NULL, backend.id, 0, 1, &threads),
		world.cx.err);
	CHECK_INT(threads.len, 1);
	mr_team_read_done(&reader);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(both_sides_see_it_all),
		TEST(what_is_not_addressed_here_is_not_seen),
		TEST(page_by_page),
		TEST(the_latest_threads_first),
	};

	return test_main(tests, MR_LEN(tests));
}
