/* tests/unit/team/test_team_latest.c */
#include "team/latest.h"

#include "mail.h"
#include "team/message_cache.h"
#include "test.h"
#include "world.h"

#include <string.h>

static struct mr_team_project backend, frontend;
static struct mr_team_agent castle, cat, lake;

static void set_scene(struct world *world)
{
	world_open(world);
	backend = world_project(world, "/path/to/backend");
	frontend = world_project(world, "/path/to/frontend");
	castle = world_agent(world, &backend, "GreenCastle");
	cat = world_agent(world, &backend, "RedCat");
	lake = world_agent(world, &frontend, "BlueLake");
}

static struct mr_team_latests list(struct world *world, const char *readers,
	const struct mr_team_latest_query *query)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	const struct mr_team_rights rights = { readers };
	struct mr_team_latests found;

	CHECK_OK(mr_team_read(&world->cx, world->team, &reader), world->cx.err);
	CHECK_OK(mr_team_latest_list(&world->cx, reader.db, &rights, query, &found), world->cx.err);
	return found;
}

/* Their ids, "3,1". */
static const char *ids(struct world *world, const char *readers, enum mr_team_latest_kind kind,
	int64_t project_id, int64_t agent_id)
{
	struct mr_team_latests found = list(world, readers,
		&(struct mr_team_latest_query){ .kind = kind,
			.project_id = project_id,
			.agent_id = agent_id,
			.limit = 20 });
	const char *text = "";

	for (size_t i = 0; i < found.len; i++)
		text = mr_arena_printf(world->cx.arena, "%s%s%lld", text, i ? "," : "",
			(long long)found.items[i].item.message.id);
	return text;
}

/* 1 in the backend, 2 from there to the frontend, urgent and to be acknowledged, 3 in the frontend.
 */
static void send_three(struct world *world)
{
	struct mr_team_draft draft;

	mail_from(world, "backend", "GreenCastle", "RedCat", "one");
	draft = mail_draft(world, "BlueLake,RedCat", "two");
	draft.importance = "urgent";
	draft.ack_required = true;
	mail_send(world, &draft);
	mail_from(world, "frontend", "BlueLake", "BlueLake", "three");
}

static void projects_have_what_concerns_them(void)
{
	struct world world;

	set_scene(&world);
	send_three(&world);
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_ALL, 0, 0), "3,2,1");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_ALL, backend.id, 0), "2,1");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_ALL, frontend.id, 0), "3,2");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_URGENT, 0, 0), "2");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_WAITING, frontend.id, 0), "2");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_ATTACHED, 0, 0), "");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_OVERSEER, 0, 0), "");
	world_close(&world);
}

static void agents_have_what_they_received_and_sent(void)
{
	struct world world;

	set_scene(&world);
	send_three(&world);
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_ALL, 0, cat.id), "2,1");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_SENT, 0, castle.id), "2,1");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_WAITING, 0, cat.id), "2");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_UNREAD, 0, lake.id), "3,2");
	world_exec(&world, "UPDATE message_recipients SET read_ts = 1, ack_ts = 1");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_UNREAD, 0, lake.id), "");
	CHECK_STR(ids(&world, NULL, MR_TEAM_LATEST_WAITING, 0, cat.id), "");
	world_close(&world);
}

/* Whoever may see the mail of some agents sees that and no other. */
static void rights_are_kept(void)
{
	struct world world;
	const char *readers;

	set_scene(&world);
	send_three(&world);
	readers = mr_arena_printf(world.cx.arena, "[%lld]", (long long)lake.id);
	CHECK_STR(ids(&world, readers, MR_TEAM_LATEST_ALL, 0, 0), "3,2");
	CHECK_STR(ids(&world, readers, MR_TEAM_LATEST_ALL, backend.id, 0), "");
	CHECK_STR(ids(&world, readers, MR_TEAM_LATEST_URGENT, 0, 0), "2");
	CHECK_STR(ids(&world, readers, MR_TEAM_LATEST_ALL, 0, cat.id), "");
	CHECK_STR(ids(&world, readers, MR_TEAM_LATEST_ALL, 0, lake.id), "3,2");
	CHECK_STR(ids(&world, "[]", MR_TEAM_LATEST_ALL, 0, 0), "");
	CHECK_STR(ids(&world, "[]", MR_TEAM_LATEST_ATTACHED, 0, 0), "");
	world_close(&world);
}

static void a_message_says_what_a_list_shows(void)
{
	struct world world;
	struct mr_team_latests found;
	struct mr_team_draft draft;

	set_scene(&world);
	send_three(&world);
	draft = mail_draft(&world, "RedCat", "four");
	draft.body_md = "# Plan\n\n- **one**\n- `two`";
	mail_send(&world, &draft);
	found = list(&world, NULL, &(struct mr_team_latest_query){ .limit = 3 });
	CHECK_INT(found.len, 3);
	CHECK_INT(found.next, 2);
	CHECK_STR(found.items[0].item.excerpt, "Plan - one - two");
	CHECK_STR(found.items[0].project.short_name, "backend");
	CHECK_STR(mail_join(&world, &found.items[2].item.to), "BlueLake@path-to-frontend,RedCat");
	CHECK_STR(mail_join(&world, &found.items[2].waiting_for),
		"BlueLake@path-to-frontend,RedCat");
	CHECK(!found.items[2].is_for_overseer && !found.items[2].is_unread);
	found = list(&world, NULL, &(struct mr_team_latest_query){ .limit = 3, .before = 2 });
	CHECK_INT(found.len, 1);
	CHECK_INT(found.next, 0);
	world_close(&world);
}

/* A message never changes; here it does, to show where what it says comes from. */
static void what_was_listed_lately_is_kept(void)
{
	struct mr_team_latest_query query = { .limit = 3 };
	struct mr_team_latests found;
	struct world world;

	set_scene(&world);
	send_three(&world);
	query.heads = mr_team_message_cache_new();
	found = list(&world, NULL, &query);
	world_exec(&world, "UPDATE messages SET subject = 'other', body_md = 'other'");
	for (int i = 0; i < 2; i++) {
		struct mr_team_latests again = list(&world, NULL, &query);

		CHECK_INT(again.len, 3);
		for (size_t k = 0; k < 3; k++) {
			CHECK_STR(again.items[k].item.message.subject,
				i ? "other" : found.items[k].item.message.subject);
			CHECK_STR(again.items[k].item.excerpt,
				i ? "other" : found.items[k].item.excerpt);
			CHECK_STR(mail_join(&world, &again.items[k].item.to),
				mail_join(&world, &found.items[k].item.to));
		}
		mr_team_message_cache_clear(query.heads);
	}
	mr_team_message_cache_free(query.heads);
	world_close(&world);
}

/* No list looks at all messages. */
static void every_list_has_an_index(void)
{
	struct world world;

	set_scene(&world);
	for (int kind = 0; kind < MR_TEAM_LATEST_KINDS; kind++) {
		for (int whose = 0; whose < 4; whose++) {
			const struct mr_team_latest_query query = { .kind = (unsigned)kind,
				.project_id = whose == 1,
				.agent_id = whose == 2 };
			const char *sql = mr_team_latest_sql(&query, whose == 3 ? "[1]" : NULL);
			struct mr_texts steps;
			const char *plan;

			if (!sql)
				continue;
			steps = world_plan(&world, sql);
			plan = mr_str_join(world.cx.arena, &steps, "\n");
			if (strstr(plan, "SCAN m") || strstr(plan, "SCAN r") ||
				(kind != MR_TEAM_LATEST_ATTACHED && strstr(plan, "SCAN x")))
				test_fail(__FILE__, __LINE__, "kind %d of %d:\n%s", kind, whose,
					plan);
			if (kind == MR_TEAM_LATEST_ATTACHED && !strstr(plan, "messages_attached"))
				test_fail(__FILE__, __LINE__, "of %d:\n%s", whose, plan);
		}
	}
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(projects_have_what_concerns_them),
		TEST(agents_have_what_they_received_and_sent),
		TEST(rights_are_kept),
		TEST(a_message_says_what_a_list_shows),
		TEST(what_was_listed_lately_is_kept),
		TEST(every_list_has_an_index),
	};

	return test_main(tests, MR_LEN(tests));
}
