/* tests/unit/team/test_team_attention.c */
#include "team/attention.h"

#include "contact_cast.h"
#include "test.h"
#include "world.h"

/* Agents 1 and 2 in backend, 3 in frontend, and backend's overseer, 4. */
static void set_up(struct cast *c)
{
	cast_open(c);
	world_exec(&c->world,
		"INSERT INTO agents (id, project_id, name, name_fold, program, model, inception_ts,"
		" last_active_ts, is_system) VALUES (4, 1, 'HumanOverseer', 'humanoverseer',"
		" 'WebUI', 'Human', " NOW ", " NOW ", 1)");
	c->world.config.ack_ttl_s = 600;
	c->world.config.inactivity_s = 600;
	world_reopen(&c->world);
}

static struct mr_team_attention look(struct cast *c, const char *readers)
{
	const struct mr_team_rights rights = { readers };
	struct mr_team_attention out = { 0 };

	CHECK_OK(mr_team_attention(&c->world.cx, c->world.team, &rights, &out), c->world.cx.err);
	return out;
}

static void nothing_needs_anybody(void)
{
	struct mr_team_attention out;
	struct cast c;

	set_up(&c);
	out = look(&c, NULL);
	CHECK_INT(out.projects, 2);
	CHECK_INT(out.letters.len + out.requests.len + out.owed.len + out.left.len, 0);
	/* The overseer is no agent that works. */
	CHECK_INT(out.working.len, 3);
	CHECK_STR(out.working.items[0].project, "path-to-frontend");
	CHECK_INT(out.working.items[0].message_id, 0);
	CHECK(!out.working.items[0].subject);
	world_close(&c.world);
}

static void unread_letters_newest_first(void)
{
	struct mr_team_attention out;
	struct cast c;

	set_up(&c);
	world_exec(&c.world,
		MAIL(1, 1, 1, 4, "NULL", NOW) MAIL(2, 1, 2, 4, "NULL", NOW)
			MAIL(3, 1, 1, 2, "NULL", NOW));
	out = look(&c, NULL);
	CHECK_INT(out.letters.len, 2);
	CHECK_INT(out.letters.items[0].item.message.id, 2);
	CHECK_STR(out.letters.items[0].project, "path-to-backend");
	CHECK_INT(out.letters.items[1].item.message.id, 1);
	/* Who reads for the overseer sees them, and nobody else. */
	CHECK_INT(look(&c, "[4]").letters.len, 2);
	CHECK_INT(look(&c, "[1]").letters.len, 0);
	world_exec(&c.world, "UPDATE message_recipients SET read_ts = 1 WHERE message_id = 2");
	out = look(&c, NULL);
	CHECK_INT(out.letters.len, 1);
	CHECK_INT(out.letters.items[0].item.message.id, 1);
	world_close(&c.world);
}

static void lists_are_short(void)
{
	struct mr_team_attention out;
	struct cast c;

	set_up(&c);
	world_exec(&c.world,
		MANY(1, 50, 1, 1) "INSERT INTO message_recipients (message_id, agent_id)"
				  " SELECT id, 4 FROM messages;");
	out = look(&c, NULL);
	CHECK_INT(out.letters.len, MR_TEAM_ATTENTION_ITEMS);
	CHECK_INT(out.letters.items[0].item.message.id, 50);
	world_close(&c.world);
}

static void requests_that_wait(void)
{
	struct mr_team_attention out;
	struct cast c;

	set_up(&c);
	world_exec(&c.world,
		LINK(1, 1, 2, 3, "pending", "NULL", 0) LINK(1, 2, 2, 3, "approved", "NULL", 0)
			LINK(2, 3, 1, 2, "pending", NOW, 0));
	out = look(&c, NULL);
	/* The last has expired. */
	CHECK_INT(out.requests.len, 1);
	CHECK_STR(out.requests.items[0].a_agent, c.green.name);
	CHECK_STR(out.requests.items[0].b_agent, c.blue.name);
	CHECK_STR(out.requests.items[0].b_project, "path-to-frontend");
	CHECK_INT(look(&c, "[3]").requests.len, 1);
	CHECK_INT(look(&c, "[2]").requests.len, 0);
	world_close(&c.world);
}

static void what_is_owed_for_longest_by_each(void)
{
	struct mr_team_attention out;
	struct cast c;

	set_up(&c);
	world_exec(&c.world,
		MAIL(1, 1, 1, 2, "NULL", NOW) MAIL(2, 1, 1, 2, "NULL", NOW)
			MAIL(3, 1, 2, 1, "NULL", NOW) MAIL(4, 1, 1, 3, "NULL",
				LATER) "UPDATE message_recipients SET ack_due = 1;");
	CHECK_INT(look(&c, NULL).owed.len, 0);
	world_later(&c.world, 600);
	out = look(&c, NULL);
	/* The oldest of each; the fourth is younger by a moment. */
	CHECK_INT(out.owed.len, 2);
	CHECK_INT(out.owed.items[0].message_id, 3);
	CHECK_STR(out.owed.items[0].agent, c.green.name);
	CHECK_STR(out.owed.items[0].from, c.red.name);
	CHECK_INT(out.owed.items[1].message_id, 1);
	CHECK_INT(look(&c, "[2]").owed.len, 1);
	world_exec(&c.world, "UPDATE message_recipients SET ack_ts = 1 WHERE message_id = 1");
	out = look(&c, NULL);
	CHECK_INT(out.owed.items[1].message_id, 2);
	world_close(&c.world);
}

static void leases_of_who_went_quiet(void)
{
	struct mr_team_attention out;
	struct cast c;

	set_up(&c);
	world_exec(&c.world, LEASE(1, "src/a") LEASE(2, "src/b"));
	CHECK_INT(look(&c, NULL).left.len, 0);
	world_later(&c.world, 601);
	world_exec(&c.world, "UPDATE agents SET last_active_ts = " NOW " + 601000000 WHERE id = 2");
	out = look(&c, NULL);
	CHECK_INT(out.left.len, 1);
	CHECK_STR(out.left.items[0].lease.agent, c.green.name);
	CHECK_STR(out.left.items[0].lease.path_pattern, "src/a");
	world_exec(&c.world, "UPDATE file_reservations SET released_ts = 1");
	CHECK_INT(look(&c, NULL).left.len, 0);
	world_close(&c.world);
}

static void who_works_and_what_it_said_last(void)
{
	struct mr_team_attention out;
	struct cast c;

	set_up(&c);
	world_exec(&c.world,
		MAIL(1, 1, 1, 2, "NULL", NOW) MAIL(2, 1, 1, 2, "NULL", NOW) LEASE(1, "a") LEASE(1,
			"b") LEASE(1, "c") LEASE(1, "d") LEASE(1,
			"e") "UPDATE agents SET last_active_ts = last_active_ts + 1 WHERE id = 1");
	out = look(&c, NULL);
	CHECK_STR(out.working.items[0].agent.name, c.green.name);
	CHECK_INT(out.working.items[0].message_id, 2);
	CHECK_INT(out.working.items[0].leases, 5);
	CHECK_INT(out.working.items[0].paths.len, MR_TEAM_ATTENTION_PATHS);
	CHECK_STR(out.working.items[0].paths.items[0], "e");
	/* What it wrote is not everybody's to see; that it works is. */
	out = look(&c, "[2]");
	CHECK_INT(out.working.len, 3);
	CHECK_INT(out.working.items[0].message_id, 0);
	world_close(&c.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(nothing_needs_anybody),
		TEST(unread_letters_newest_first),
		TEST(lists_are_short),
		TEST(requests_that_wait),
		TEST(what_is_owed_for_longest_by_each),
		TEST(leases_of_who_went_quiet),
		TEST(who_works_and_what_it_said_last),
	};

	return test_main(tests, MR_LEN(tests));
}
