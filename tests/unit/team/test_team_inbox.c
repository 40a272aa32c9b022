/* tests/unit/team/test_team_inbox.c */
#include "team/inbox.h"

#include "mail.h"
#include "team/error.h"
#include "team/inbox_sql.h"
#include "test.h"
#include "text/time.h"
#include "world.h"

#include <string.h>

struct scene {
	struct world world;
	struct mr_team_project backend, frontend;
	struct mr_team_agent green, blue;
};

static void set_scene(struct scene *scene)
{
	world_open(&scene->world);
	scene->backend = world_project(&scene->world, "/path/to/backend");
	scene->frontend = world_project(&scene->world, "/path/to/frontend");
	scene->green = world_agent(&scene->world, &scene->backend, "GreenCastle");
	world_agent(&scene->world, &scene->backend, "RedCat");
	scene->blue = world_agent(&scene->world, &scene->frontend, "BlueLake");
}

static const struct mr_team_inbox_query blue = { .project_key = "frontend",
	.agent_name = "BlueLake" };

static struct mr_team_items fetch(struct scene *scene, const struct mr_team_inbox_query *query)
{
	struct mr_team_items items;

	CHECK_OK(mr_team_inbox_fetch(&scene->world.cx, scene->world.team, query, &items),
		scene->world.cx.err);
	return items;
}

/* "5,4,3" */
static const char *ids(struct scene *scene, const struct mr_team_items *items)
{
	const char *text = "";

	for (size_t i = 0; i < items->len; i++)
		text = mr_arena_printf(scene->world.cx.arena, "%s%s%lld", text, i ? "," : "",
			(long long)items->items[i].message.id);
	return text;
}

static void an_empty_inbox(void)
{
	struct scene scene;

	set_scene(&scene);
	CHECK_INT(fetch(&scene, &blue).len, 0);
	CHECK_INT(fetch(&scene, &blue).next, 0);
	world_close(&scene.world);
}

static void the_newest_first_page_by_page(void)
{
	struct scene scene;
	struct mr_team_inbox_query query = blue;
	struct mr_team_items items;

	set_scene(&scene);
	for (int i = 0; i < 25; i++) {
		world_later(&scene.world, 1);
		mail_from(&scene.world, "backend", "GreenCastle", "BlueLake", "x");
	}
	query.limit = 10;
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "25,24,23,22,21,20,19,18,17,16");
	CHECK_INT(items.next, 16);
	query.cursor = items.next;
	items = fetch(&scene, &query);
	CHECK_INT(items.items[0].message.id, 15);
	query.cursor = items.next;
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "5,4,3,2,1");
	CHECK_INT(items.next, 0);
	/* The limit is clamped, 0 is the default. */
	query = blue;
	CHECK_INT(fetch(&scene, &query).len, 20);
	query.limit = -3;
	CHECK_INT(fetch(&scene, &query).len, 1);
	query.limit = INT64_MAX;
	CHECK_INT(fetch(&scene, &query).len, 25);
	query.cursor = -1;
	world_check_fail(&scene.world,
		mr_team_inbox_fetch(&scene.world.cx, scene.world.team, &query, &items),
		MR_TEAM_INVALID_ARGUMENT, "cursor is a message's id");
	world_close(&scene.world);
}

static void since_is_strictly_later(void)
{
	struct scene scene;
	struct mr_team_inbox_query query = blue;
	struct mr_team_items items;

	set_scene(&scene);
	for (int i = 0; i < 5; i++) {
		mail_from(&scene.world, "backend", "GreenCastle", "BlueLake", "x");
		world_later(&scene.world, 1);
	}
	query.since_ts = "2026-03-11T04:15:02Z";
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "5,4");
	query.since_ts = "2026-03-11 06:15:03+02:00";
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "5");
	query.since_ts = "1970-01-01";
	CHECK_INT(fetch(&scene, &query).len, 5);
	query.since_ts = "yesterday";
	world_check_fail(&scene.world,
		mr_team_inbox_fetch(&scene.world.cx, scene.world.team, &query, &items),
		MR_TEAM_INVALID_ARGUMENT, "since_ts: ");
	CHECK_STR(mr_value_get(mr_team_fail_data(&scene.world.cx.err), "argument")->text,
		"since_ts");
	world_close(&scene.world);
}

/* Who asks for what came since the last message it saw gets all of it, whatever the clock did. */
static void since_follows_messages_not_the_clock(void)
{
	struct scene scene;
	struct mr_team_inbox_query query = blue;
	struct mr_team_items items;
	struct world *world = &scene.world;

	set_scene(&scene);
	mail_from(world, "backend", "GreenCastle", "BlueLake", "one");
	items = fetch(&scene, &query);
	query.since_ts =
		mr_time_format(world->cx.arena, items.items[0].message.created_ts, MR_TIME_MICROS);
	world_later(world, -3600);
	mail_from(world, "backend", "GreenCastle", "BlueLake", "two");
	mail_from(world, "backend", "GreenCastle", "BlueLake", "three");
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "3,2");
	query.since_ts =
		mr_time_format(world->cx.arena, items.items[1].message.created_ts, MR_TIME_MICROS);
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "3");
	/* Within a microsecond of the last; and the clock is followed when it has caught up. */
	CHECK_INT(items.items[0].message.created_ts, WORLD_NOW_US + 2);
	world_later(world, 7200);
	mail_from(world, "backend", "GreenCastle", "BlueLake", "four");
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "4,3");
	CHECK_INT(items.items[0].message.created_ts, world->clock.now_us);
	world_close(world);
}

/* A message from next year was stamped by a wrong clock: the others need not be, too. */
static void a_clock_that_was_far_ahead_is_not_followed(void)
{
	struct scene scene;
	struct mr_team_inbox_query query = blue;
	struct mr_team_items items;
	struct mr_team_receipt receipt;
	struct world *world = &scene.world;

	set_scene(&scene);
	world_later(world, INT64_C(400) * 86400);
	mail_from(world, "backend", "GreenCastle", "BlueLake", "one");
	world_later(world, INT64_C(-400) * 86400);
	mail_from(world, "backend", "GreenCastle", "BlueLake", "two");
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "2,1");
	CHECK_INT(items.items[0].message.created_ts, WORLD_NOW_US);
	/* The time of a message means: after that message. */
	query.since_ts =
		mr_time_format(world->cx.arena, items.items[1].message.created_ts, MR_TIME_MICROS);
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "2");
	CHECK_OK(mr_team_mark_read(&world->cx, world->team, "frontend", "BlueLake", 1, &receipt),
		world->cx.err);
	query.unread_only = true;
	items = fetch(&scene, &query);
	CHECK_STR(ids(&scene, &items), "2");
	world_close(world);
}

static void filters(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_items items;
	struct mr_team_receipt receipt;

	set_scene(&scene);
	draft = mail_draft(world, "BlueLake", "1");
	mail_send(world, &draft);
	draft.importance = "urgent";
	draft.thread_id = "T";
	mail_send(world, &draft); /* 2 */
	draft.importance = "high";
	draft.ack_required = true;
	mail_send(world, &draft); /* 3 */
	draft.importance = "low";
	draft.thread_id = "1";
	mail_send(world, &draft); /* 4 */
	draft.lists.cc = mail_names(world, "BlueLake");
	draft.lists.to = mail_names(world, "RedCat");
	mail_send(world, &draft); /* 5, a copy: no acknowledgement is due */
	CHECK_OK(mr_team_mark_read(&world->cx, world->team, "frontend", "BlueLake", 3, &receipt),
		world->cx.err);
	{
		static const struct {
			struct mr_team_inbox_query query;
			const char *ids;
		} cases[] = {
			{ { .urgent_only = true }, "3,2" },
			{ { .unread_only = true }, "5,4,2,1" },
			{ { .urgent_only = true, .unread_only = true }, "2" },
			{ { .unacked_only = true }, "4,3" },
			{ { .unacked_only = true, .unread_only = true }, "4" },
			{ { .unacked_only = true, .urgent_only = true }, "3" },
			{ { .thread_id = "T" }, "3,2" },
			{ { .thread_id = "T", .unread_only = true }, "2" },
			{ { .thread_id = "1" }, "5,4,1" },
			{ { .thread_id = "none" }, "" },
			{ { .thread_id = "" }, "5,4,3,2,1" },
		};

		for (size_t i = 0; i < MR_LEN(cases); i++) {
			struct mr_team_inbox_query query = cases[i].query;

			query.project_key = "frontend";
			query.agent_name = "BlueLake";
			query.include_bodies = i % 2;
			items = fetch(&scene, &query);
			CHECK_STR(ids(&scene, &items), cases[i].ids);
			if (items.len)
				CHECK(!items.items[0].message.body_md == !(i % 2));
		}
	}
	world_close(world);
}

/* Messages of another project can be read and acknowledged; first times are kept. */
static void marks_across_projects(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_receipt receipt;

	set_scene(&scene);
	mail_from(world, "backend", "GreenCastle", "BlueLake", "x");
	world_later(world, 10);
	CHECK_OK(mr_team_mark_read(&world->cx, world->team, "frontend", "BlueLake", 1, &receipt),
		world->cx.err);
	CHECK(receipt.is_recipient);
	CHECK_INT(receipt.read_ts, WORLD_NOW_US + 10000000);
	CHECK_INT(receipt.ack_ts, 0);
	world_later(world, 10);
	CHECK_OK(mr_team_mark_read(&world->cx, world->team, "frontend", "BlueLake", 1, &receipt),
		world->cx.err);
	CHECK_INT(receipt.read_ts, WORLD_NOW_US + 10000000);
	CHECK_OK(mr_team_acknowledge(&world->cx, world->team, "frontend", "BlueLake", 1, &receipt),
		world->cx.err);
	CHECK_INT(receipt.read_ts, WORLD_NOW_US + 10000000);
	CHECK_INT(receipt.ack_ts, WORLD_NOW_US + 20000000);
	world_later(world, 10);
	CHECK_OK(mr_team_acknowledge(&world->cx, world->team, "frontend", "BlueLake", 1, &receipt),
		world->cx.err);
	CHECK_INT(receipt.ack_ts, WORLD_NOW_US + 20000000);
	/* Who is no recipient changes nothing; who never was there does not either. */
	CHECK_OK(mr_team_acknowledge(&world->cx, world->team, "backend", "RedCat", 1, &receipt),
		world->cx.err);
	CHECK(!receipt.is_recipient);
	CHECK_INT(receipt.read_ts, 0);
	world_check_fail(world,
		mr_team_mark_read(&world->cx, world->team, "frontend", "BlueLake", 77, &receipt),
		MR_TEAM_NOT_FOUND, "there is no message 77");
	world_check_fail(world,
		mr_team_mark_read(&world->cx, world->team, "frontend", "Nobody", 1, &receipt),
		MR_TEAM_NOT_FOUND, "Nobody");
	world_close(world);
}

static void an_acknowledgement_also_reads(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_receipt receipt;

	set_scene(&scene);
	mail_from(world, "backend", "GreenCastle", "BlueLake", "x");
	CHECK_OK(mr_team_acknowledge(&world->cx, world->team, "frontend", "BlueLake", 1, &receipt),
		world->cx.err);
	CHECK_INT(receipt.read_ts, WORLD_NOW_US);
	CHECK_INT(receipt.ack_ts, WORLD_NOW_US);
	world_close(world);
}

static void overdue_acknowledgements(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_draft draft;
	struct mr_team_items items;

	set_scene(&scene);
	draft = mail_draft(world, "BlueLake", "x");
	draft.ack_required = true;
	mail_send(world, &draft);
	world_later(world, 3600);
	mail_send(world, &draft);
	CHECK_OK(mr_team_inbox_overdue(&world->cx, world->team, &blue, 0, &items), world->cx.err);
	CHECK_STR(ids(&scene, &items), "1,2");
	CHECK_OK(mr_team_inbox_overdue(&world->cx, world->team, &blue, 3600, &items),
		world->cx.err);
	CHECK_STR(ids(&scene, &items), "1");
	CHECK_OK(mr_team_inbox_overdue(&world->cx, world->team, &blue, 3601, &items),
		world->cx.err);
	CHECK_INT(items.len, 0);
	world_close(world);
}

static void counts(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_reader reader = { 0 };
	struct mr_team_draft draft;
	struct mr_team_receipt receipt;
	struct mr_team_counts c;

	set_scene(&scene);
	draft = mail_draft(world, "BlueLake", "x");
	mail_send(world, &draft);
	draft.importance = "urgent";
	draft.ack_required = true;
	mail_send(world, &draft);
	mail_send(world, &draft);
	CHECK_OK(mr_team_acknowledge(&world->cx, world->team, "frontend", "BlueLake", 2, &receipt),
		world->cx.err);
	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_inbox_counts(&world->cx, reader.db, scene.blue.id, &c), world->cx.err);
	mr_team_read_done(&reader);
	CHECK_INT(c.total, 3);
	CHECK_INT(c.unread, 2);
	CHECK_INT(c.urgent, 1);
	CHECK_INT(c.ack_due, 1);
	world_close(world);
}

static void what_was_sent(void)
{
	struct scene scene;
	struct world *world = &scene.world;
	struct mr_team_inbox_query query = { .project_key = "backend",
		.agent_name = "GreenCastle",
		.include_bodies = true };
	struct mr_team_draft draft;
	struct mr_team_items items;

	set_scene(&scene);
	draft = mail_draft(world, "BlueLake", "x");
	mail_send(world, &draft);
	draft.thread_id = "1";
	draft.lists.cc = mail_names(world, "RedCat");
	mail_send(world, &draft);
	mail_from(world, "backend", "RedCat", "GreenCastle", "x");
	CHECK_OK(mr_team_outbox_fetch(&world->cx, world->team, &query, &items), world->cx.err);
	CHECK_STR(ids(&scene, &items), "2,1");
	CHECK(!items.items[0].received);
	CHECK_STR(items.items[0].message.body_md, "Hello.");
	CHECK_STR(mail_join(world, &items.items[0].to), "BlueLake@path-to-frontend");
	CHECK_STR(mail_join(world, &items.items[0].cc), "RedCat");
	query.thread_id = "1";
	CHECK_OK(mr_team_outbox_fetch(&world->cx, world->team, &query, &items), world->cx.err);
	CHECK_STR(ids(&scene, &items), "2,1");
	query.thread_id = "2";
	CHECK_OK(mr_team_outbox_fetch(&world->cx, world->team, &query, &items), world->cx.err);
	CHECK_STR(ids(&scene, &items), "2");
	world_close(world);
}

static void who_denies_attachments_gets_no_data(void)
{
	struct scene scene;
	struct mr_team_items items;

	set_scene(&scene);
	mail_from(&scene.world, "backend", "GreenCastle", "BlueLake", "x");
	world_exec(&scene.world,
		"UPDATE messages SET attachments = '[{\"type\":\"inline\",\"media_type\":"
		"\"image/webp\",\"data_base64\":\"AAAA\"}]'");
	items = fetch(&scene, &blue);
	CHECK(!items.items[0].without_data);
	CHECK(strstr(items.items[0].message.attachments, "AAAA"));
	world_exec(&scene.world, "UPDATE agents SET attachments_policy = 'deny'");
	items = fetch(&scene, &blue);
	CHECK(items.items[0].without_data);
	world_close(&scene.world);
}

/* A list is read some hundred entries at a time: what is wanted may lie behind the first of these,
 * and a page may end with one. */
static void wanted_messages_far_back(void)
{
	enum { LATER = 600 };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_items items;
	struct scene scene;

	set_scene(&scene);
	for (int i = 0; i < 3 + LATER; i++) {
		world_later(&scene.world, 1);
		mail_from(&scene.world, "backend", "GreenCastle", "BlueLake", "x");
	}
	CHECK_OK(mr_team_read(&scene.world.cx, scene.world.team, &reader), scene.world.cx.err);
	for (int limit = 1; limit <= LATER; limit += 85) {
		struct mr_team_box_query query = { .box = MR_TEAM_BOX_ALL,
			.agent_id = scene.blue.id,
			.limit = limit };
		int64_t newest_ts;

		CHECK_OK(mr_team_box_list(&scene.world.cx, reader.db, &query, &items),
			scene.world.cx.err);
		CHECK_INT(items.len, limit);
		for (int i = 0; i < limit; i++)
			CHECK_INT(items.items[i].message.id, 3 + LATER - i);
		CHECK_INT(items.next, 3 + LATER - limit + 1);
		newest_ts = items.items[0].message.created_ts;
		query.before_ts = newest_ts - LATER * MR_TIME_S;
		CHECK_OK(mr_team_box_list(&scene.world.cx, reader.db, &query, &items),
			scene.world.cx.err);
		CHECK_STR(ids(&scene, &items), limit == 1 ? "3" : "3,2,1");
		CHECK_INT(items.next, limit == 1 ? 3 : 0);
	}
	mr_team_read_done(&reader);
	world_close(&scene.world);
}

/* No list looks at more than it shows: an index in the right order, no scan, no sort. */
static void lists_come_from_indexes(void)
{
	static const char *const indexes[MR_TEAM_BOX_COUNT] = {
		[MR_TEAM_BOX_ALL] = "message_recipients_agent",
		[MR_TEAM_BOX_NEWER] = "message_recipients_agent",
		[MR_TEAM_BOX_UNREAD] = "message_recipients_unread",
		[MR_TEAM_BOX_URGENT] = "message_recipients_urgent",
		[MR_TEAM_BOX_URGENT_UNREAD] = "message_recipients_u",
		[MR_TEAM_BOX_DUE] = "message_recipients_due",
		[MR_TEAM_BOX_DUE_OLDEST] = "message_recipients_due",
		[MR_TEAM_BOX_THREAD] = "messages_thread",
		[MR_TEAM_BOX_SENT] = "messages_sender",
		[MR_TEAM_BOX_SENT_THREAD] = "messages_thread",
	};
	struct scene scene;

	set_scene(&scene);
	for (int box = 0; box < MR_TEAM_BOX_COUNT; box++) {
		const char *sql = mr_team_box_sql((enum mr_team_inbox_box)box);
		struct mr_texts steps = world_plan(&scene.world, sql);
		const char *plan = mr_str_join(scene.world.cx.arena, &steps, "\n");
		bool thread = box == MR_TEAM_BOX_THREAD || box == MR_TEAM_BOX_SENT_THREAD;

		if (!strstr(plan, indexes[box]) || strstr(plan, "SCAN m") ||
			strstr(plan, "SCAN r") ||
			(strstr(plan, "USE TEMP B-TREE FOR ORDER BY") && !thread))
			test_fail(__FILE__, __LINE__, "box %d:\n%s", box, plan);
	}
	world_close(&scene.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(an_empty_inbox),
		TEST(the_newest_first_page_by_page),
		TEST(since_is_strictly_later),
		TEST(since_follows_messages_not_the_clock),
		TEST(a_clock_that_was_far_ahead_is_not_followed),
		TEST(filters),
		TEST(marks_across_projects),
		TEST(an_acknowledgement_also_reads),
		TEST(overdue_acknowledgements),
		TEST(counts),
		TEST(what_was_sent),
		TEST(who_denies_attachments_gets_no_data),
		TEST(wanted_messages_far_back),
		TEST(lists_come_from_indexes),
	};

	return test_main(tests, MR_LEN(tests));
}
