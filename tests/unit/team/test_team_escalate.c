/* tests/unit/team/test_team_escalate.c */
#include "team/escalate.h"

#include "team/escalate_sql.h"
#include "team/lease/reservation.h"
#include "team/limits.h"
#include "test.h"
#include "world.h"

#include <string.h>

struct scene {
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent green, blue;
};

static void set_up(struct scene *s, enum mr_team_escalation mode)
{
	world_open(&s->world);
	s->project = world_project(&s->world, "/path/to/backend");
	s->green = world_agent(&s->world, &s->project, "GreenCastle");
	s->blue = world_agent(&s->world, &s->project, "BlueLake");
	s->world.config.escalate = true;
	s->world.config.escalation = mode;
	s->world.config.escalation_ttl_s = 3600;
	world_reopen(&s->world);
}

/* From GreenCastle to BlueLake. */
static void message(struct scene *s, int64_t id, const char *kind, bool ack)
{
	world_exec(&s->world,
		mr_arena_printf(s->world.cx.arena,
			"INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md,"
			" ack_required, created_ts) VALUES (%lld, 'u%lld', %lld, %lld,"
			" 'Please review', 'b', %d, %lld);"
			"INSERT INTO message_recipients (message_id, agent_id, kind, ack_due)"
			" VALUES (%lld, %lld, '%s', %d)",
			(long long)id, (long long)id, (long long)s->project.id,
			(long long)s->green.id, ack, (long long)s->world.clock.now_us,
			(long long)id, (long long)s->blue.id, kind,
			ack && strcmp(kind, "to") == 0));
}

static struct mr_team_overdues scan(struct scene *s)
{
	struct mr_team_overdues out;

	CHECK_OK(mr_team_escalate(&s->world.cx, s->world.team, &out), s->world.cx.err);
	return out;
}

struct ack {
	int64_t message_id, agent_id;
};

static enum mr_code acknowledge(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct ack *ack = arg;

	return mr_team_escalate_end(cx, db, ack->message_id, ack->agent_id);
}

static void end(struct scene *s, int64_t message_id)
{
	struct ack ack = { message_id, s->blue.id };

	world_exec(&s->world,
		mr_arena_printf(s->world.cx.arena,
			"UPDATE message_recipients SET ack_ts = 1 WHERE message_id = %lld",
			(long long)message_id));
	CHECK_OK(mr_team_write(&s->world.cx, s->world.team, acknowledge, NULL, &ack),
		s->world.cx.err);
}

static void each_is_told_three_times(void)
{
	static const struct {
		int64_t later_s, times;
	} steps[] = { { 1799, 0 }, { 1, 1 }, { 60, 0 }, { 1739, 0 }, { 1, 2 }, { 3599, 0 },
		{ 1, 3 }, { 1, 0 }, { 1000000, 0 } };
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_LOG);
	message(&s, 1, "to", true);
	message(&s, 2, "cc", true);
	message(&s, 3, "to", false);
	for (size_t i = 0; i < MR_LEN(steps); i++) {
		struct mr_team_overdues got;

		world_later(&s.world, steps[i].later_s);
		got = scan(&s);
		CHECK_INT(got.len, steps[i].times ? 1 : 0);
		if (!got.len)
			continue;
		CHECK_INT(got.items[0].times, steps[i].times);
		CHECK_INT(got.items[0].message_id, 1);
		CHECK_INT(got.items[0].agent_id, s.blue.id);
		CHECK_STR(got.items[0].agent, "BlueLake");
		CHECK_STR(got.items[0].subject, "Please review");
		CHECK_INT(got.items[0].age_s, INT64_C(1800) << (steps[i].times - 1));
	}
	CHECK_INT(world_count(&s.world, "file_reservations"), 0);
	CHECK_INT(world_count(&s.world, "messages"), 3);
	world_close(&s.world);
}

static void a_late_first_scan_tells_once(void)
{
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_LOG);
	message(&s, 1, "to", true);
	world_later(&s.world, 1000000);
	CHECK_INT(scan(&s).items[0].times, 3);
	CHECK_INT(scan(&s).len, 0);
	world_close(&s.world);
}

static void one_lease_until_the_acknowledgement(void)
{
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_LEASE);
	message(&s, 1, "to", true);
	world_later(&s.world, 1800);
	for (int i = 0; i < 3; i++)
		scan(&s);
	CHECK_INT(world_count(&s.world, "file_reservations"), 1);
	CHECK_STR(world_text(&s.world,
			  "SELECT path_pattern || ' ' || reason || ' ' || origin ||"
			  " ' ' || exclusive || ' ' || prefix FROM file_reservations"),
		"agents/BlueLake/inbox/2026/03/*.md ack-overdue escalation 0"
		" agents/BlueLake/inbox/2026/03");
	CHECK_INT(world_int(&s.world, "SELECT agent_id FROM file_reservations"), s.blue.id);
	CHECK_INT(world_int(&s.world, "SELECT expires_ts - created_ts FROM file_reservations"),
		INT64_C(3600000000));
	/* Twice the time, and the lease still holds: it will do. */
	world_later(&s.world, 1800);
	CHECK_INT(scan(&s).items[0].times, 2);
	CHECK_INT(world_count(&s.world, "file_reservations"), 1);
	/* Four times, and it is over: another. */
	world_later(&s.world, 3600);
	CHECK_INT(scan(&s).items[0].times, 3);
	CHECK_INT(world_count(&s.world, "file_reservations"), 2);
	end(&s, 1);
	CHECK_INT(world_int(&s.world, "SELECT released_ts FROM file_reservations WHERE id = 2"),
		s.world.clock.now_us);
	CHECK_INT(world_count(&s.world, "ack_escalations"), 0);
	CHECK_STR(world_text(&s.world,
			  "SELECT subject FROM archive_queue ORDER BY id DESC LIMIT 1"),
		"file_reservation: release BlueLake agents/BlueLake/inbox/2026/03/*.md");
	CHECK_INT(scan(&s).len, 0);
	/* An acknowledgement of what was never escalated is nothing. */
	end(&s, 7);
	world_close(&s.world);
}

static void a_holder_is_made(void)
{
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_LEASE);
	s.world.config.escalation_holder = "ops";
	s.world.config.escalation_exclusive = true;
	world_reopen(&s.world);
	message(&s, 1, "to", true);
	message(&s, 2, "to", true);
	world_later(&s.world, 1800);
	CHECK_INT(scan(&s).len, 2);
	CHECK_STR(world_text(&s.world,
			  "SELECT program || model || task_description || is_system"
			  " FROM agents WHERE name = 'ops'"),
		"opssystemops-escalation1");
	CHECK_INT(world_count(&s.world,
			  "file_reservations f JOIN agents a"
			  " ON a.id = f.agent_id WHERE a.name = 'ops' AND exclusive = 1"),
		2);
	world_close(&s.world);
}

static void the_overseer_writes(void)
{
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_OVERSEER);
	message(&s, 1, "to", true);
	world_later(&s.world, 1800);
	CHECK_INT(scan(&s).len, 1);
	CHECK_INT(scan(&s).len, 0);
	CHECK_STR(world_text(&s.world,
			  "SELECT m.subject || ' ' || a.name || ' ' || m.importance ||"
			  " ' ' || m.thread_id FROM messages m JOIN agents a"
			  " ON a.id = m.sender_id WHERE m.id > 1"),
		"[OVERDUE ACK] Please review HumanOverseer high 1");
	CHECK(strstr(world_text(&s.world, "SELECT body_md FROM messages WHERE id > 1"),
		"GreenCastle asked you to acknowledge message 1, \"Please review\", 30 min ago"));
	/* What it wrote asks for no acknowledgement itself. */
	world_later(&s.world, 1000000);
	CHECK_INT(scan(&s).len, 1);
	world_later(&s.world, 1000000);
	CHECK_INT(scan(&s).len, 0);
	CHECK_INT(world_count(&s.world, "agents WHERE is_system = 1"), 1);
	world_close(&s.world);
}

static void whoever_is_retired_owes_nothing(void)
{
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_LOG);
	message(&s, 1, "to", true);
	world_exec(&s.world, "UPDATE agents SET is_active = 0 WHERE name = 'BlueLake'");
	world_later(&s.world, 1800);
	CHECK_INT(scan(&s).len, 0);
	world_close(&s.world);
}

static void a_scan_takes_its_time(void)
{
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_LOG);
	s.world.config.ack_ttl_s = 0;
	world_reopen(&s.world);
	world_exec(&s.world,
		mr_arena_printf(s.world.cx.arena,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
			"700)"
			" INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md,"
			" ack_required, created_ts) SELECT i, 'u' || i, %lld, %lld, 's', 'b', 1, "
			"%lld"
			" FROM n;"
			"INSERT INTO message_recipients (message_id, agent_id, ack_due)"
			" SELECT id, %lld, 1 FROM messages",
			(long long)s.project.id, (long long)s.green.id,
			(long long)s.world.clock.now_us, (long long)s.blue.id));
	CHECK_INT(scan(&s).len, MR_TEAM_OVERDUE_BATCH);
	CHECK_INT(scan(&s).len, 200);
	CHECK_INT(scan(&s).len, 0);
	world_close(&s.world);
}

static void uses_indexes(void)
{
	struct mr_texts plan;
	struct scene s;

	set_up(&s, MR_TEAM_ESCALATE_LOG);
	plan = world_plan(&s.world, mr_team_escalate_question);
	for (size_t i = 0; i < plan.len; i++) {
		/* The index holds what is due, and nothing else. */
		if (strstr(plan.items[i], "SCAN") &&
			!strstr(plan.items[i], "message_recipients_due"))
			test_fail(__FILE__, __LINE__, "%s", plan.items[i]);
	}
	world_close(&s.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(each_is_told_three_times),
		TEST(a_late_first_scan_tells_once),
		TEST(one_lease_until_the_acknowledgement),
		TEST(a_holder_is_made),
		TEST(the_overseer_writes),
		TEST(whoever_is_retired_owes_nothing),
		TEST(a_scan_takes_its_time),
		TEST(uses_indexes),
	};

	return test_main(tests, MR_LEN(tests));
}
