/* tests/unit/team/test_team_ask.c */
#include "team/ask.h"

#include "base/attr.h"
#include "mail.h"
#include "team/error.h"
#include "team/summary.h"
#include "test.h"
#include "world.h"

#include <string.h>

struct scene {
	struct world world;
	struct mr_team_project backend, frontend;
	struct mr_team_agent green, red, blue;
};

static void set_scene(struct scene *s)
{
	struct mr_team_draft draft;

	world_open(&s->world);
	s->backend = world_project(&s->world, "/path/to/backend");
	s->frontend = world_project(&s->world, "/path/to/frontend");
	s->green = world_agent(&s->world, &s->backend, "GreenCastle");
	s->red = world_agent(&s->world, &s->backend, "RedCat");
	s->blue = world_agent(&s->world, &s->frontend, "RedCat");
	draft = mail_draft(&s->world, "RedCat", "first");
	draft.thread_id = "T";
	mail_send(&s->world, &draft);
	mail_from(&s->world, "backend", "GreenCastle", "RedCat", "second");
}

#define ASK(s, what, ...)                                                                          \
	CHECK_OK(mr_team_ask_##what(&(s)->world.cx, (s)->world.team, __VA_ARGS__),                 \
		(s)->world.cx.err)

static void projects_and_agents(void)
{
	struct mr_team_projects projects;
	struct mr_team_project project;
	struct mr_team_members members;
	struct mr_team_agents agents;
	struct mr_team_agent agent;
	struct mr_texts names;
	int64_t unread[2];
	struct scene s;

	set_scene(&s);
	ASK(&s, project, "backend", &project);
	CHECK_INT(project.id, s.backend.id);
	ASK(&s, projects, &projects);
	CHECK_INT(projects.len, 2);
	ASK(&s, agent, "frontend", "redcat", &project, &agent);
	CHECK_INT(agent.id, s.blue.id);
	CHECK_INT(project.id, s.frontend.id);
	world_check_fail(&s.world,
		mr_team_ask_agent(&s.world.cx, s.world.team, "frontend", "GreenCastle", &project,
			&agent),
		MR_TEAM_NOT_FOUND, "GreenCastle");
	ASK(&s, agents, "backend", true, &project, &agents);
	CHECK_INT(agents.len, 2);
	ASK(&s, unread, &agents, INT64_MAX, unread);
	for (size_t i = 0; i < 2; i++)
		CHECK_INT(unread[i], agents.items[i].id == s.red.id ? 2 : 0);
	ASK(&s, named, "REDCAT", &members);
	CHECK_INT(members.len, 2);
	for (size_t i = 0; i < 2; i++)
		CHECK_INT(members.items[i].project.id, members.items[i].agent.project_id);
	ASK(&s, members, s.green.id, 5, &members);
	CHECK_INT(members.len, 2);
	CHECK_INT(members.items[0].agent.id, s.red.id);
	CHECK_STR(members.items[1].project.slug, s.frontend.slug);
	ASK(&s, names, s.backend.id, "g", 10, &names);
	CHECK_INT(names.len, 1);
	world_close(&s.world);
}

static void who_is_who(void)
{
	struct mr_team_proof proof = { .has_token = true };
	struct mr_team_agent agent;
	struct scene s;
	bool found;
	int64_t id;

	set_scene(&s);
	/* sha256("secret") */
	world_exec(&s.world,
		"UPDATE agents SET token_hash = "
		"'2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b'"
		" WHERE id = 2");
	ASK(&s, proof, "backend", "RedCat", "secret", &found, &agent, &proof);
	CHECK(found && proof.has_token && proof.is_it);
	ASK(&s, proof, "backend", "RedCat", NULL, &found, &agent, &proof);
	CHECK(found && proof.has_token && !proof.is_it);
	/* What is not there is no error, and leaves none. */
	ASK(&s, proof, "backend", "Nobody", "secret", &found, &agent, &proof);
	CHECK(!found);
	ASK(&s, proof, "nowhere", "RedCat", "secret", &found, &agent, &proof);
	CHECK(!found);
	CHECK_INT(s.world.cx.err.code, MR_OK);
	ASK(&s, token, "secret", &id);
	CHECK_INT(id, s.red.id);
	ASK(&s, token, "other", &id);
	CHECK_INT(id, 0);
	ASK(&s, claimed, "/path/to/backend", "redcat", &id);
	CHECK_INT(id, s.red.id);
	ASK(&s, claimed, s.frontend.slug, "RedCat", &id);
	CHECK_INT(id, s.blue.id);
	/* Only a part of the path. */
	ASK(&s, claimed, "backend", "RedCat", &id);
	CHECK_INT(id, 0);
	ASK(&s, claimed, "/path/to/backend", "Nobody", &id);
	CHECK_INT(id, 0);
	ASK(&s, claimed, "/path/to/nowhere", "RedCat", &id);
	CHECK_INT(id, 0);
	world_close(&s.world);
}

static void mail(void)
{
	struct mr_team_projects projects;
	struct mr_team_threads threads;
	struct mr_team_project project;
	struct mr_team_agent agent;
	struct mr_team_items items;
	struct mr_team_links links;
	struct mr_team_item item;
	struct mr_team_hits hits;
	struct scene s;

	set_scene(&s);
	ASK(&s, message, NULL, "backend", 1, NULL, &item);
	CHECK(!item.received);
	ASK(&s, message, NULL, "backend", 1, "RedCat", &item);
	CHECK(item.received);
	ASK(&s, message, NULL, NULL, 2, NULL, &item);
	CHECK_STR(item.message.subject, "second");
	world_check_fail(&s.world,
		mr_team_ask_message(&s.world.cx, s.world.team, NULL, "frontend", 1, NULL, &item),
		MR_TEAM_NOT_FOUND, "message 1");
	ASK(&s, thread, NULL, "backend", "T", true, 0, 10, &project, &items);
	CHECK_INT(items.len, 1);
	CHECK_INT(project.id, s.backend.id);
	ASK(&s, threads, NULL, "backend", 0, 10, &threads);
	CHECK_INT(threads.len, 2);
	/* A message without a thread, by its number. */
	CHECK_STR(threads.items[0].thread_id, "2");
	CHECK_INT(threads.items[0].messages, 1);
	CHECK_STR(threads.items[1].thread_id, "T");
	ASK(&s, thread_projects, "T", &projects);
	CHECK_INT(projects.len, 1);
	ASK(&s, search, NULL, "backend", "RedCat", &(struct mr_team_search){ .query = "is:unread" },
		&hits);
	CHECK_INT(hits.len, 2);
	ASK(&s, search, NULL, "backend", "GreenCastle",
		&(struct mr_team_search){ .query = "is:unread" }, &hits);
	CHECK_INT(hits.len, 0);
	ASK(&s, search, NULL, "backend", NULL, &(struct mr_team_search){ .query = "second" },
		&hits);
	CHECK_INT(hits.len, 1);
	ASK(&s, contacts, "backend", "redcat", NULL, &agent, &links);
	CHECK_INT(agent.id, s.red.id);
	CHECK_INT(links.len, 0);
	world_close(&s.world);
}

static void products(void)
{
	struct mr_team_products all;
	struct mr_team_product product;
	struct mr_team_items items;
	struct mr_team_hits hits;
	const int64_t *ids;
	struct scene s;
	size_t len;

	set_scene(&s);
	CHECK_OK(mr_team_product_ensure(&s.world.cx, s.world.team, "prod", "Shop", &product),
		s.world.cx.err);
	CHECK_OK(mr_team_product_link(&s.world.cx, s.world.team, "prod", "backend", NULL, false,
			 &product),
		s.world.cx.err);
	ASK(&s, products, &all);
	CHECK_INT(all.len, 1);
	ASK(&s, product, "Shop", &product);
	mr_team_product_ids(s.world.cx.arena, &product, &ids, &len);
	CHECK_INT(len, 1);
	CHECK_INT(ids[0], s.backend.id);
	ASK(&s, product_inbox, NULL, "prod", 0, 10, false, &items);
	CHECK_INT(items.len, 2);
	ASK(&s, product_search, NULL, "prod", &(struct mr_team_search){ .query = "first" }, &hits);
	CHECK_INT(hits.len, 1);
	world_check_fail(&s.world,
		mr_team_ask_product_search(&s.world.cx, s.world.team, NULL, "none",
			&(struct mr_team_search){ .query = "first" }, &hits),
		MR_TEAM_NOT_FOUND, "none");
	world_close(&s.world);
}

/* RedCat of the frontend has no part in the backend's mail: to it, there is none. */
static void mail_is_shown_as_far_as_rights_reach(void)
{
	struct mr_team_rights red = { "[2]" }, blue = { "[3]" }, nobody = { "[]" }, all = { NULL };
	const struct mr_team_rights *const rights[] = { NULL, &all, &red, &blue, &nobody };
	const struct mr_team_search first = { .query = "first", .limit = 1 };
	struct mr_team_product product;
	struct mr_team_threads threads;
	struct mr_team_project project;
	struct mr_team_summary summary;
	struct mr_team_items items;
	struct mr_team_sent sent;
	struct mr_team_item item;
	struct mr_team_hits hits;
	struct scene s;

	set_scene(&s);
	CHECK_INT(s.red.id, 2);
	CHECK_INT(s.blue.id, 3);
	CHECK_OK(mr_team_product_ensure(&s.world.cx, s.world.team, "prod", "Shop", &product),
		s.world.cx.err);
	CHECK_OK(mr_team_product_link(&s.world.cx, s.world.team, "prod", "backend", NULL, false,
			 &product),
		s.world.cx.err);
	for (size_t i = 0; i < MR_LEN(rights); i++) {
		size_t seen = i < 3;
		struct mr_team_reply reply = { .project_key = "backend",
			.message_id = 1,
			.sender_name = "RedCat",
			.body_md = "yes",
			.ack_required = -1,
			.rights = rights[i] };
		struct mr_team_draft draft = mail_draft(&s.world, "RedCat", "again");

		draft.reply_to = 1;
		draft.rights = rights[i];
		ASK(&s, thread, rights[i], "backend", "T", false, 0, 1, &project, &items);
		CHECK_INT(items.len, seen);
		ASK(&s, threads, rights[i], "backend", 0, 10, &threads);
		CHECK_INT(threads.len, 2 * seen);
		ASK(&s, search, rights[i], "backend", NULL, &first, &hits);
		CHECK_INT(hits.len, seen);
		ASK(&s, product_search, rights[i], "prod", &first, &hits);
		CHECK_INT(hits.len, seen);
		ASK(&s, product_inbox, rights[i], "prod", 0, 1, false, &items);
		CHECK_INT(items.len, seen);
		CHECK_OK(mr_team_summary_thread(&s.world.cx, s.world.team, rights[i], &s.backend.id,
				 1, "T", 1, false, NULL, &summary),
			s.world.cx.err);
		CHECK_INT(summary.total_messages, seen);
		if (seen) {
			ASK(&s, message, rights[i], "backend", 1, NULL, &item);
			CHECK_OK(mr_team_reply(&s.world.cx, s.world.team, &reply, &sent),
				s.world.cx.err);
			CHECK_OK(mr_team_send(&s.world.cx, s.world.team, &draft, &sent),
				s.world.cx.err);
			continue;
		}
		world_check_fail(&s.world,
			mr_team_ask_message(&s.world.cx, s.world.team, rights[i], "backend", 1,
				NULL, &item),
			MR_TEAM_NOT_FOUND, "message 1");
		world_check_fail(&s.world, mr_team_reply(&s.world.cx, s.world.team, &reply, &sent),
			MR_TEAM_NOT_FOUND, "message 1");
		world_check_fail(&s.world, mr_team_send(&s.world.cx, s.world.team, &draft, &sent),
			MR_TEAM_NOT_FOUND, "message 1");
	}
	world_close(&s.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(projects_and_agents),
		TEST(who_is_who),
		TEST(mail),
		TEST(products),
		TEST(mail_is_shown_as_far_as_rights_reach),
	};

	return test_main(tests, MR_LEN(tests));
}
