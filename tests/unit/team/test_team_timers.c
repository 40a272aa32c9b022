/* tests/unit/team/test_team_timers.c - the first round is done whenever the thread is stopped. */
#include "team/timers.h"

#include "base/log.h"
#include "test.h"
#include "world.h"

#include <string.h>

static void keep_line(void *arg, const char *line, size_t len)
{
	char *text = arg;

	strncat(text, line, len < 2000 ? len : 2000);
}

static void prepare(struct world *world)
{
	struct mr_team_project project;
	struct mr_team_agent agent;

	world_open(world);
	project = world_project(world, "/p");
	agent = world_agent(world, &project, "BlueLake");
	world_exec(world,
		mr_arena_printf(world->cx.arena,
			"INSERT INTO file_reservations (project_id, agent_id, path_pattern,"
			" created_ts, expires_ts) VALUES (%lld, %lld, 'a', 1, 2);"
			"INSERT INTO messages (uid, project_id, sender_id, subject, body_md,"
			" ack_required, created_ts) VALUES ('u', %lld, %lld, 's', 'b', 1, 1);"
			"INSERT INTO message_recipients (message_id, agent_id, ack_due)"
			" VALUES (1, %lld, 1)",
			(long long)project.id, (long long)agent.id, (long long)project.id,
			(long long)agent.id, (long long)agent.id));
}

static void does_both_at_once(void)
{
	static char logged[10000];
	struct mr_team_timers_config config = { .sweep_s = 86400, .acks_s = 86400 };
	struct mr_team_timers *timers;
	struct world world;

	mr_log_start(MR_LOG_INFO, keep_line, logged);
	prepare(&world);
	CHECK_OK(mr_team_timers_start(&world.cx, world.team, &config, &timers), world.cx.err);
	mr_team_timers_stop(timers);
	CHECK_INT(world_count(&world,
			  "file_reservations"
			  " WHERE released_ts IS NOT NULL"),
		1);
	CHECK_INT(world_int(&world, "SELECT times FROM ack_escalations"), 3);
	CHECK(strstr(logged, "\"event\":\"reservation_sweep\",\"released\":1"));
	CHECK(strstr(logged,
		"\"event\":\"ack_overdue\",\"message_id\":1,\"project_id\":1,"
		"\"agent_id\":1,\"agent\":\"BlueLake\",\"age_s\":"));
	CHECK(strstr(logged, "\"ttl_s\":1800,\"times\":3"));
	world_close(&world);
}

static void does_only_what_is_asked(void)
{
	struct mr_team_timers_config config = { 0 };
	struct mr_team_timers *timers;
	struct world world;

	prepare(&world);
	CHECK_OK(mr_team_timers_start(&world.cx, world.team, &config, &timers), world.cx.err);
	CHECK(timers == NULL);
	mr_team_timers_stop(timers);
	config.acks_s = 60;
	CHECK_OK(mr_team_timers_start(&world.cx, world.team, &config, &timers), world.cx.err);
	mr_team_timers_stop(timers);
	CHECK_INT(world_count(&world,
			  "file_reservations"
			  " WHERE released_ts IS NOT NULL"),
		0);
	CHECK_INT(world_count(&world, "ack_escalations"), 1);
	world_close(&world);
}

static void failures_are_logged(void)
{
	static char logged[10000];
	struct mr_team_timers_config config = { .sweep_s = 60, .acks_s = 60 };
	struct mr_team_timers *timers;
	struct world world;

	mr_log_start(MR_LOG_INFO, keep_line, logged);
	prepare(&world);
	world_exec(&world,
		"DROP TABLE ack_escalations;"
		"ALTER TABLE file_reservations RENAME TO gone");
	CHECK_OK(mr_team_timers_start(&world.cx, world.team, &config, &timers), world.cx.err);
	mr_team_timers_stop(timers);
	CHECK(strstr(logged, "reservation_sweep_failed"));
	CHECK(strstr(logged, "ack_scan_failed"));
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(does_both_at_once),
		TEST(does_only_what_is_asked),
		TEST(failures_are_logged),
	};

	return test_main(tests, MR_LEN(tests));
}
