/* tests/unit/team/test_team_reservation.c */
#include "team/lease/reservation.h"

#include "files.h"
#include "team/error.h"
#include "team/limits.h"
#include "test.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scene {
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent green, blue;
};

static void set_up(struct scene *s)
{
	world_open(&s->world);
	s->project = world_project(&s->world, "/path/to/backend");
	s->green = world_agent(&s->world, &s->project, "GreenCastle");
	s->blue = world_agent(&s->world, &s->project, "BlueLake");
}

static struct mr_team_reserve request(struct scene *s, const char *agent, const char *path)
{
	const char **items = mr_arena_array(s->world.cx.arena, 2, sizeof(*items));

	items[0] = path;
	return (struct mr_team_reserve){ .project_key = "backend",
		.agent_name = agent,
		.paths = { items, path ? 1 : 0 },
		.ttl_s = 3600,
		.exclusive = true,
		.reason = "work" };
}

static struct mr_team_reserved reserve(struct scene *s, const struct mr_team_reserve *asked)
{
	struct mr_team_reserved out;

	CHECK_OK(mr_team_reserve(&s->world.cx, s->world.team, asked, &out), s->world.cx.err);
	return out;
}

static struct mr_team_reserved take(struct scene *s, const char *agent, const char *path)
{
	struct mr_team_reserve asked = request(s, agent, path);

	return reserve(s, &asked);
}

static void grants_and_reports(void)
{
	struct scene s;
	struct mr_team_reserved got;

	set_up(&s);
	got = take(&s, "GreenCastle", "src/**");
	CHECK_INT(got.granted.len, 1);
	CHECK_INT(got.conflicts.len, 0);
	CHECK_STR(got.granted.items[0].path_pattern, "src/**");
	CHECK_INT(got.granted.items[0].expires_ts, WORLD_NOW_US + INT64_C(3600000000));
	got = take(&s, "bluelake", "./src/app.py");
	CHECK_INT(got.granted.len, 1);
	CHECK_STR(got.granted.items[0].path_pattern, "src/app.py");
	CHECK_INT(got.conflicts.len, 1);
	CHECK_STR(got.conflicts.items[0].path, "./src/app.py");
	CHECK_INT(got.conflicts.items[0].holders.len, 1);
	CHECK_STR(got.conflicts.items[0].holders.items[0].agent, "GreenCastle");
	CHECK_STR(got.conflicts.items[0].holders.items[0].path_pattern, "src/**");
	/* Own leases are in nobody's way. */
	got = take(&s, "GreenCastle", "tests/x.py");
	CHECK_INT(got.conflicts.len, 0);
	got = take(&s, "GreenCastle", "src/other.py");
	CHECK_INT(got.conflicts.len, 0);
	CHECK_INT(world_count(&s.world, "archive_queue WHERE kind = 'reservation'"), 4);
	CHECK_STR(world_text(&s.world, "SELECT subject FROM archive_queue ORDER BY id LIMIT 1"),
		"file_reservation: GreenCastle src/**");
	CHECK_STR(world_text(&s.world, "SELECT name FROM archive_queue ORDER BY id LIMIT 1"),
		"src/**");
	world_close(&s.world);
}

static void shared_leases_meet_in_peace(void)
{
	struct scene s;
	struct mr_team_reserve asked;

	set_up(&s);
	asked = request(&s, "GreenCastle", "a");
	asked.exclusive = false;
	CHECK_INT(reserve(&s, &asked).conflicts.len, 0);
	asked.agent_name = "BlueLake";
	CHECK_INT(reserve(&s, &asked).conflicts.len, 0);
	asked.exclusive = true;
	CHECK_INT(reserve(&s, &asked).conflicts.len, 1);
	asked.agent_name = "GreenCastle";
	asked.exclusive = false;
	CHECK_INT(reserve(&s, &asked).conflicts.items[0].holders.len, 1);
	world_close(&s.world);
}

static void other_projects_do_not_matter(void)
{
	struct scene s;
	struct mr_team_project other;
	struct mr_team_reserve asked;

	set_up(&s);
	other = world_project(&s.world, "/path/to/frontend");
	world_agent(&s.world, &other, "RedStone");
	take(&s, "GreenCastle", "**");
	asked = request(&s, "RedStone", "src/a");
	asked.project_key = "frontend";
	CHECK_INT(reserve(&s, &asked).conflicts.len, 0);
	world_close(&s.world);
}

static void expires_by_itself(void)
{
	struct scene s;
	struct mr_team_reserve asked;
	struct mr_team_conflicts conflicts;

	set_up(&s);
	asked = request(&s, "GreenCastle", "a");
	asked.ttl_s = 1;
	CHECK_STR(reserve(&s, &asked).warnings.items[0],
		"ttl_seconds is 1: a lease shorter than 60 seconds is over before others notice "
		"it");
	world_later(&s.world, 1);
	asked = request(&s, "BlueLake", "a");
	CHECK_OK(mr_team_reserve_check(&s.world.cx, s.world.team, &asked, &conflicts),
		s.world.cx.err);
	CHECK_INT(conflicts.len, 0);
	CHECK_INT(world_count(&s.world,
			  "file_reservations"
			  " WHERE released_ts IS NULL"),
		1);
	CHECK_INT(reserve(&s, &asked).conflicts.len, 0);
	/* Asking swept: the row says so, and its file will. */
	CHECK_INT(world_int(&s.world, "SELECT released_ts FROM file_reservations WHERE id = 1"),
		s.world.clock.now_us);
	CHECK_STR(world_text(&s.world,
			  "SELECT subject FROM archive_queue ORDER BY id LIMIT 1 OFFSET 1"),
		"file_reservation: expire GreenCastle a");
	world_close(&s.world);
}

static void strips_the_workspace(void)
{
	struct scene s;
	struct mr_team_reserved got;

	set_up(&s);
	got = take(&s, "GreenCastle", "/path/to/backend/src/a.py");
	CHECK_STR(got.granted.items[0].path_pattern, "src/a.py");
	CHECK_INT(got.warnings.len, 0);
	got = take(&s, "GreenCastle", "/path/to/backend2/src/a.py");
	CHECK_STR(got.granted.items[0].path_pattern, "path/to/backend2/src/a.py");
	CHECK_STR(got.warnings.items[0],
		"/path/to/backend2/src/a.py is not below /path/to/backend: it was taken for "
		"path/to/backend2/src/a.py in the project");
	got = take(&s, "GreenCastle", "/path/to/backend");
	CHECK_STR(got.granted.items[0].path_pattern, "**");
	CHECK_INT(got.warnings.len, 0);
	world_close(&s.world);
}

static void refuses(void)
{
	struct scene s;
	struct mr_team_reserved out;
	struct mr_team_reserve asked;
	char *reason;

	set_up(&s);
	asked = request(&s, "GreenCastle", NULL);
	world_check_fail(&s.world, mr_team_reserve(&s.world.cx, s.world.team, &asked, &out),
		MR_TEAM_INVALID_ARGUMENT, "paths must name at least one");
	asked = request(&s, "GreenCastle", "a");
	for (int i = 0; i < 3; i++) {
		static const int64_t bad[] = { 0, -5, MR_TEAM_TTL_MAX_S + 1 };

		asked.ttl_s = bad[i];
		world_check_fail(&s.world, mr_team_reserve(&s.world.cx, s.world.team, &asked, &out),
			MR_TEAM_INVALID_ARGUMENT, "it must be 1 to 2592000");
		CHECK_STR(mr_value_get(mr_team_fail_data(&s.world.cx.err), "argument")->text,
			"ttl_seconds");
	}
	asked = request(&s, "GreenCastle", "a");
	reason = mr_arena_array(s.world.cx.arena, MR_TEAM_REASON_BYTES + 2, 1);
	memset(reason, 'r', MR_TEAM_REASON_BYTES + 1);
	asked.reason = reason;
	world_check_fail(&s.world, mr_team_reserve(&s.world.cx, s.world.team, &asked, &out),
		MR_TEAM_INVALID_ARGUMENT, "reason is longer than 512 bytes");
	asked = request(&s, "GreenCastle", "a/../../etc");
	world_check_fail(&s.world, mr_team_reserve(&s.world.cx, s.world.team, &asked, &out),
		MR_TEAM_INVALID_ARGUMENT, "cannot leave its directory");
	asked = request(&s, "Nobody", "a");
	world_check_fail(&s.world, mr_team_reserve(&s.world.cx, s.world.team, &asked, &out),
		MR_TEAM_NOT_FOUND, "Nobody");
	CHECK_INT(world_count(&s.world, "file_reservations"), 0);
	world_close(&s.world);
}

static void a_thousand_patterns_are_fine_and_one_more_is_not(void)
{
	struct scene s;
	struct mr_team_reserve asked;
	struct mr_team_reserved got;
	const char **items;

	set_up(&s);
	asked = request(&s, "BlueLake", "x");
	items = mr_arena_array(s.world.cx.arena, MR_TEAM_PATHS + 2, sizeof(*items));
	for (int i = 0; i <= MR_TEAM_PATHS; i++)
		items[i] = mr_arena_printf(s.world.cx.arena, "src/mod%d/*.c", i);
	asked.paths = (struct mr_texts){ items, MR_TEAM_PATHS + 1 };
	world_check_fail(&s.world, mr_team_reserve(&s.world.cx, s.world.team, &asked, &got),
		MR_TEAM_INVALID_ARGUMENT, "1001 paths are too many: at most 1000");
	take(&s, "GreenCastle", "src/**/a*.c");
	asked.paths.len = MR_TEAM_PATHS;
	got = reserve(&s, &asked);
	CHECK_INT(got.granted.len, 1000);
	CHECK_INT(got.conflicts.len, 1000);
	asked.agent_name = "GreenCastle";
	got = reserve(&s, &asked);
	CHECK_INT(got.conflicts.len, 1000);
	CHECK_INT(got.conflicts.items[999].holders.len, 1);
	world_close(&s.world);
}

static struct mr_team_lease_filter own(const char *agent)
{
	return (struct mr_team_lease_filter){ .project_key = "backend", .agent_name = agent };
}

static int64_t release(struct scene *s, const struct mr_team_lease_filter *filter)
{
	int64_t released;
	int64_t when;

	CHECK_OK(mr_team_release(&s->world.cx, s->world.team, filter, &released, &when),
		s->world.cx.err);
	CHECK_INT(when, s->world.clock.now_us);
	return released;
}

static void releases_what_fits(void)
{
	static const char *paths[] = { "/path/to/backend/b", "c", NULL };
	struct scene s;
	struct mr_team_lease_filter filter;
	int64_t ids[2];

	set_up(&s);
	ids[0] = take(&s, "GreenCastle", "a").granted.items[0].id;
	ids[1] = take(&s, "GreenCastle", "b").granted.items[0].id;
	take(&s, "GreenCastle", "c");
	take(&s, "GreenCastle", "d/");
	take(&s, "BlueLake", "a");
	filter = own("GreenCastle");
	filter.by_path = true;
	filter.by_id = true;
	filter.paths = (struct mr_texts){ paths, 2 };
	filter.ids = ids;
	filter.id_count = 2;
	CHECK_INT(release(&s, &filter), 1); /* b fits both */
	CHECK_INT(release(&s, &filter), 0); /* again is nothing */
	filter.by_id = false;
	filter.id_count = 0;
	CHECK_INT(release(&s, &filter), 1); /* c */
	/* Both spellings of d/ find it. */
	filter.paths = (struct mr_texts){ (const char *[]){ "d/", NULL }, 1 };
	CHECK_INT(release(&s, &filter), 1);
	/* An empty list fits nothing; what is no pattern neither. */
	filter.paths.len = 0;
	CHECK_INT(release(&s, &filter), 0);
	filter.paths = (struct mr_texts){ (const char *[]){ "../x", NULL }, 1 };
	CHECK_INT(release(&s, &filter), 0);
	filter = own("greencastle");
	CHECK_INT(release(&s, &filter), 1); /* a, and not BlueLake's */
	CHECK_INT(world_count(&s.world,
			  "file_reservations"
			  " WHERE released_ts IS NULL"),
		1);
	CHECK_INT(world_count(&s.world,
			  "archive_queue WHERE subject ILIKE"
			  " 'file_reservation: release GreenCastle _%'"),
		4);
	filter.id_count = MR_TEAM_IDS + 1;
	world_check_fail(&s.world,
		mr_team_release(&s.world.cx, s.world.team, &filter, &ids[0], &ids[1]),
		MR_TEAM_INVALID_ARGUMENT, "1001 ids are too many");
	filter.id_count = 0;
	filter.paths.len = MR_TEAM_PATHS + 1;
	world_check_fail(&s.world,
		mr_team_release(&s.world.cx, s.world.team, &filter, &ids[0], &ids[1]),
		MR_TEAM_INVALID_ARGUMENT, "1001 paths are too many");
	world_close(&s.world);
}

static void renews_from_the_later_of_two_times(void)
{
	struct scene s;
	struct mr_team_lease_filter filter = own("GreenCastle");
	struct mr_team_renewals out;

	set_up(&s);
	take(&s, "GreenCastle", "a");
	CHECK_OK(mr_team_renew(&s.world.cx, s.world.team, &filter, 1800, &out), s.world.cx.err);
	CHECK_INT(out.len, 1);
	CHECK_STR(out.items[0].path_pattern, "a");
	CHECK_INT(out.items[0].old_expires_ts, WORLD_NOW_US + INT64_C(3600000000));
	CHECK_INT(out.items[0].new_expires_ts, WORLD_NOW_US + INT64_C(5400000000));
	/* Nothing else about it changes. */
	CHECK_STR(world_text(&s.world, "SELECT reason FROM file_reservations"), "work");
	CHECK_INT(world_int(&s.world, "SELECT created_ts FROM file_reservations"), WORLD_NOW_US);
	/* At least a minute. */
	CHECK_OK(mr_team_renew(&s.world.cx, s.world.team, &filter, 1, &out), s.world.cx.err);
	CHECK_INT(out.items[0].new_expires_ts, WORLD_NOW_US + INT64_C(5460000000));
	/* Over, but not released: from now. */
	world_later(&s.world, 100000);
	CHECK_OK(mr_team_renew(&s.world.cx, s.world.team, &filter, -7, &out), s.world.cx.err);
	CHECK_INT(out.items[0].new_expires_ts, s.world.clock.now_us + INT64_C(60000000));
	release(&s, &filter);
	CHECK_OK(mr_team_renew(&s.world.cx, s.world.team, &filter, 60, &out), s.world.cx.err);
	CHECK_INT(out.len, 0);
	world_check_fail(&s.world,
		mr_team_renew(&s.world.cx, s.world.team, &filter, MR_TEAM_TTL_MAX_S + 1, &out),
		MR_TEAM_INVALID_ARGUMENT, "it must be at most 2592000");
	world_close(&s.world);
}

/* The holder has been away, and nothing happened: whoever asks gets the files. */
static void stale_leases_make_way(void)
{
	struct scene s;
	struct mr_team_reserve asked;
	struct mr_team_conflicts conflicts;

	set_up(&s);
	asked = request(&s, "GreenCastle", "src/**");
	asked.ttl_s = 100000;
	reserve(&s, &asked);
	world_later(&s.world, 1801);
	asked = request(&s, "BlueLake", "src/a");
	CHECK_OK(mr_team_reserve_check(&s.world.cx, s.world.team, &asked, &conflicts),
		s.world.cx.err);
	CHECK_INT(conflicts.len, 0);
	CHECK_INT(world_count(&s.world,
			  "file_reservations"
			  " WHERE released_ts IS NOT NULL"),
		0);
	CHECK_INT(reserve(&s, &asked).conflicts.len, 0);
	CHECK_STR(world_text(&s.world,
			  "SELECT path_pattern FROM file_reservations"
			  " WHERE released_ts IS NOT NULL"),
		"src/**");
	world_close(&s.world);
}

static struct mr_team_leases list(struct scene *s, bool active_only, int64_t limit)
{
	struct mr_team_leases out;

	CHECK_OK(mr_team_reservation_list(&s->world.cx, s->world.team, "backend", active_only, 0,
			 limit, &out),
		s->world.cx.err);
	return out;
}

static void lists_and_sweeps(void)
{
	struct scene s;
	struct mr_team_reserve asked;
	struct mr_team_leases leases;

	set_up(&s);
	asked = request(&s, "GreenCastle", "short");
	asked.ttl_s = 60;
	reserve(&s, &asked);
	asked = request(&s, "GreenCastle", "long");
	asked.ttl_s = 10000;
	reserve(&s, &asked);
	leases = list(&s, true, 0);
	CHECK_INT(leases.len, 2);
	CHECK_STR(leases.items[0].reservation.path_pattern, "short");
	CHECK(!leases.items[0].staleness.stale);
	CHECK_STR(leases.items[0].staleness.reasons.items[0], "agent_recently_active");
	world_later(&s.world, 60);
	CHECK_INT(list(&s, true, 0).len, 1);
	leases = list(&s, false, 0);
	CHECK_INT(leases.len, 2);
	CHECK_INT(leases.items[0].reservation.released_ts, s.world.clock.now_us);
	leases = list(&s, false, 1);
	CHECK_INT(leases.len, 1);
	CHECK_STR(leases.items[0].reservation.path_pattern, "long");
	world_later(&s.world, 1801);
	CHECK_INT(list(&s, true, 0).len, 0);
	leases = list(&s, false, 0);
	CHECK(!leases.items[1].staleness.stale);
	CHECK_INT(leases.items[1].reservation.released_ts, s.world.clock.now_us);
	CHECK_STR(leases.items[1].staleness.reasons.items[0], "agent_inactive>1800s");
	world_check_fail(&s.world,
		mr_team_reservation_list(&s.world.cx, s.world.team, "nowhere", true, 0, 0, &leases),
		MR_TEAM_NOT_FOUND, "nowhere");
	world_close(&s.world);
}

/* A lease of an hour that a clock of next year granted ends an hour after the clock was set right.
 */
static void a_clock_set_back_does_not_prolong_leases(void)
{
	struct mr_team_leases leases;
	struct scene s;

	set_up(&s);
	world_later(&s.world, INT64_C(400) * 86400);
	take(&s, "GreenCastle", "src/a.c");
	world_later(&s.world, INT64_C(-400) * 86400);
	leases = list(&s, true, 0);
	CHECK_INT(leases.len, 1);
	CHECK_INT(leases.items[0].reservation.created_ts, s.world.clock.now_us);
	CHECK_INT(leases.items[0].reservation.expires_ts,
		s.world.clock.now_us + INT64_C(3600) * 1000000);
	world_later(&s.world, 3599);
	CHECK_INT(list(&s, true, 0).len, 1);
	world_later(&s.world, 1);
	CHECK_INT(list(&s, true, 0).len, 0);
	world_close(&s.world);
}

static void sweeps_more_than_a_batch(void)
{
	struct scene s;
	int64_t released;

	set_up(&s);
	world_exec(&s.world,
		mr_arena_printf(s.world.cx.arena,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
			"1203)"
			" INSERT INTO file_reservations (project_id, agent_id, path_pattern,"
			" created_ts, expires_ts) SELECT %lld, %lld, 'f' || i, 1, 2 FROM n",
			(long long)s.project.id, (long long)s.green.id));
	CHECK_OK(mr_team_reservation_sweep(&s.world.cx, s.world.team, 0, &released),
		s.world.cx.err);
	CHECK_INT(released, 1203);
	CHECK_OK(mr_team_reservation_sweep(&s.world.cx, s.world.team, 0, &released),
		s.world.cx.err);
	CHECK_INT(released, 0);
	world_close(&s.world);
}

static struct mr_team_force force_request(const char *agent, int64_t id)
{
	return (struct mr_team_force){ .project_key = "backend",
		.agent_name = agent,
		.reservation_id = id,
		.notify_previous = true,
		.note = "the release is tonight" };
}

static void force_is_for_leases_that_were_left(void)
{
	struct scene s;
	struct mr_team_force force;
	struct mr_team_forced out;
	struct mr_team_reserve asked;
	const char *body;
	int64_t id;

	set_up(&s);
	asked = request(&s, "GreenCastle", "src/**");
	asked.ttl_s = 100000;
	id = reserve(&s, &asked).granted.items[0].id;
	force = force_request("BlueLake", id);
	world_check_fail(&s.world, mr_team_force_release(&s.world.cx, s.world.team, &force, &out),
		MR_TEAM_RESERVATION_ACTIVE, "is still in use (agent_recently_active, ");
	CHECK_INT(mr_value_get(mr_team_fail_data(&s.world.cx.err), "file_reservation_id")->integer,
		id);
	CHECK_STR(mr_value_get(mr_team_fail_data(&s.world.cx.err), "stale_reasons")
			  ->list.items[0]
			  .text,
		"agent_recently_active");
	world_later(&s.world, 1801);
	CHECK_OK(mr_team_force_release(&s.world.cx, s.world.team, &force, &out), s.world.cx.err);
	CHECK(!out.already_released && out.notified && out.staleness.stale);
	CHECK_INT(out.reservation.released_ts, s.world.clock.now_us);
	CHECK_STR(out.staleness.reasons.items[0], "agent_inactive>1800s");
	CHECK_STR(out.staleness.reasons.items[1], "no_recent_mail_activity>900s");
	CHECK_STR(out.staleness.reasons.items[2], "path_pattern_unmatched");
	CHECK_STR(world_text(&s.world, "SELECT subject FROM messages"),
		"[file-reservations] Released stale lock on src/**");
	body = world_text(&s.world, "SELECT body_md FROM messages");
	CHECK(strstr(body, "- agent_inactive>1800s\n"));
	CHECK(strstr(body, "- agent: 30 minutes ago\n"));
	CHECK(strstr(body, "- mail: never\n"));
	CHECK(strstr(body, "inactive after 1800 seconds; activity within 900 seconds"));
	CHECK(strstr(body, "Note: the release is tonight\n"));
	CHECK(strstr(body, "`file_reservation_paths` with `src/**`"));
	CHECK_INT(world_int(&s.world, "SELECT agent_id FROM message_recipients"), s.green.id);
	CHECK_STR(world_text(&s.world,
			  "SELECT subject FROM archive_queue WHERE"
			  " subject ILIKE 'file_reservation: f%'"),
		"file_reservation: force-release GreenCastle src/** by BlueLake");
	CHECK_OK(mr_team_force_release(&s.world.cx, s.world.team, &force, &out), s.world.cx.err);
	CHECK(out.already_released && !out.notified);
	CHECK_INT(world_count(&s.world, "messages"), 1);
	world_close(&s.world);
}

static void force_knows_other_cases(void)
{
	struct scene s;
	struct mr_team_force force;
	struct mr_team_forced out;
	struct mr_team_reserve asked;
	char *note;

	set_up(&s);
	force = force_request("BlueLake", 77);
	world_check_fail(&s.world, mr_team_force_release(&s.world.cx, s.world.team, &force, &out),
		MR_TEAM_NOT_FOUND, "no lease with the id 77; see `mailroom team reservations");
	/* The holder itself may, and is not told. */
	force = force_request("GreenCastle", take(&s, "GreenCastle", "a").granted.items[0].id);
	CHECK_OK(mr_team_force_release(&s.world.cx, s.world.team, &force, &out), s.world.cx.err);
	CHECK(!out.already_released && !out.notified);
	/* An administrator may. */
	force = force_request("BlueLake", take(&s, "GreenCastle", "b").granted.items[0].id);
	force.override = true;
	force.notify_previous = false;
	CHECK_OK(mr_team_force_release(&s.world.cx, s.world.team, &force, &out), s.world.cx.err);
	CHECK(!out.already_released && !out.notified && !out.staleness.stale);
	CHECK_INT(world_count(&s.world, "messages"), 0);
	/* What is over is over. */
	asked = request(&s, "GreenCastle", "c");
	asked.ttl_s = 60;
	force = force_request("BlueLake", reserve(&s, &asked).granted.items[0].id);
	world_later(&s.world, 60);
	CHECK_OK(mr_team_force_release(&s.world.cx, s.world.team, &force, &out), s.world.cx.err);
	CHECK(out.already_released);
	CHECK_INT(out.reservation.released_ts, s.world.clock.now_us);
	note = mr_arena_array(s.world.cx.arena, 5000, 1);
	memset(note, 'n', 4999);
	force.note = note;
	world_check_fail(&s.world, mr_team_force_release(&s.world.cx, s.world.team, &force, &out),
		MR_TEAM_INVALID_ARGUMENT, "note is longer than 4096 bytes");
	/* A lease of another project is none of this one. */
	world_project(&s.world, "/path/to/frontend");
	force = force_request("BlueLake", 1);
	world_exec(&s.world, "UPDATE file_reservations SET project_id = 2 WHERE id = 1");
	world_check_fail(&s.world, mr_team_force_release(&s.world.cx, s.world.team, &force, &out),
		MR_TEAM_NOT_FOUND, "no lease with the id 1");
	world_close(&s.world);
}

/* Leases of administrators and escalations stop mail, and nobody takes them away by waiting. */
static void guards_mail(void)
{
	static const char *surfaces[] = { "agents/GreenCastle/outbox/2026/03/*.md",
		"agents/BlueLake/inbox/2026/03/*.md", NULL };
	struct mr_texts both = { surfaces, 2 };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct scene s;
	struct mr_team_reserve asked;
	struct mr_team_conflicts stopping;
	struct mr_team_conflicts warnings;
	struct mr_team_forced out;
	struct mr_team_force force;

	set_up(&s);
	world_agent(&s.world, &s.project, "RedStone");
	/* Whatever is not about mail is not looked at, however wide. */
	take(&s, "RedStone", "**");
	CHECK_OK(mr_team_read(&s.world.cx, s.world.team, &reader), s.world.cx.err);
	CHECK_OK(mr_team_reservation_guard(&s.world.cx, s.world.team, reader.db, s.project.id,
			 s.green.id, &both, &stopping, &warnings),
		s.world.cx.err);
	CHECK_INT(stopping.len + warnings.len, 0);
	take(&s, "RedStone", "agents/BlueLake/inbox/*/*/*.md");
	CHECK_OK(mr_team_reservation_guard(&s.world.cx, s.world.team, reader.db, s.project.id,
			 s.green.id, &both, &stopping, &warnings),
		s.world.cx.err);
	CHECK_INT(stopping.len, 0);
	CHECK_INT(warnings.len, 1);
	CHECK_STR(warnings.items[0].path, "agents/BlueLake/inbox/2026/03/*.md");
	CHECK_STR(warnings.items[0].holders.items[0].agent, "RedStone");
	asked = request(&s, "RedStone", "agents/BlueLake/inbox/**");
	asked.admin = true;
	asked.ttl_s = 10000;
	force = force_request("GreenCastle", reserve(&s, &asked).granted.items[0].id);
	CHECK_OK(mr_team_reservation_guard(&s.world.cx, s.world.team, reader.db, s.project.id,
			 s.green.id, &both, &stopping, &warnings),
		s.world.cx.err);
	CHECK_INT(stopping.len, 1);
	CHECK_INT(warnings.len, 1);
	/* The holder's own mail passes. */
	CHECK_OK(mr_team_reservation_guard(&s.world.cx, s.world.team, reader.db, s.project.id,
			 stopping.items[0].holders.items[0].agent_id, &both, &stopping, &warnings),
		s.world.cx.err);
	CHECK_INT(stopping.len + warnings.len, 0);
	world_later(&s.world, 5000);
	world_check_fail(&s.world, mr_team_force_release(&s.world.cx, s.world.team, &force, &out),
		MR_TEAM_RESERVATION_ACTIVE, "held_by_admin");
	CHECK_INT(list(&s, true, 0).len, 1);
	world_later(&s.world, 5001);
	CHECK_OK(mr_team_reservation_guard(&s.world.cx, s.world.team, reader.db, s.project.id,
			 s.green.id, &both, &stopping, &warnings),
		s.world.cx.err);
	CHECK_INT(stopping.len + warnings.len, 0);
	mr_team_read_done(&reader);
	world_close(&s.world);
}

static void the_guard_can_be_sent_home(void)
{
	static const char *surfaces[] = { "agents/BlueLake/inbox/2026/03/*.md", NULL };
	struct mr_texts one = { surfaces, 1 };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct scene s;
	struct mr_team_conflicts stopping;
	struct mr_team_conflicts warnings;

	set_up(&s);
	take(&s, "BlueLake", "agents/BlueLake/**");
	s.world.config.enforce_reservations = false;
	world_reopen(&s.world);
	CHECK_OK(mr_team_read(&s.world.cx, s.world.team, &reader), s.world.cx.err);
	CHECK_OK(mr_team_reservation_guard(&s.world.cx, s.world.team, reader.db, s.project.id,
			 s.green.id, &one, &stopping, &warnings),
		s.world.cx.err);
	CHECK_INT(stopping.len + warnings.len, 0);
	mr_team_read_done(&reader);
	world_close(&s.world);
}

static bool meet(struct scene *s)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	bool out;
	bool back;

	CHECK_OK(mr_team_read(&s->world.cx, s->world.team, &reader), s->world.cx.err);
	CHECK_OK(mr_team_reservation_meet(&s->world.cx, s->world.team, reader.db, s->green.id,
			 s->blue.id, &out),
		s->world.cx.err);
	CHECK_OK(mr_team_reservation_meet(&s->world.cx, s->world.team, reader.db, s->blue.id,
			 s->green.id, &back),
		s->world.cx.err);
	CHECK(out == back);
	return out;
}

static void two_agents_meet_over_files(void)
{
	struct scene s;

	set_up(&s);
	CHECK(!meet(&s));
	take(&s, "GreenCastle", "src/**");
	CHECK(!meet(&s));
	take(&s, "BlueLake", "docs/**");
	CHECK(!meet(&s));
	take(&s, "BlueLake", "src/api/*.c");
	CHECK(meet(&s));
	world_later(&s.world, 3600);
	CHECK(!meet(&s));
	world_close(&s.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(grants_and_reports),
		TEST(shared_leases_meet_in_peace),
		TEST(other_projects_do_not_matter),
		TEST(expires_by_itself),
		TEST(strips_the_workspace),
		TEST(refuses),
		TEST(a_thousand_patterns_are_fine_and_one_more_is_not),
		TEST(releases_what_fits),
		TEST(renews_from_the_later_of_two_times),
		TEST(stale_leases_make_way),
		TEST(lists_and_sweeps),
		TEST(a_clock_set_back_does_not_prolong_leases),
		TEST(sweeps_more_than_a_batch),
		TEST(force_is_for_leases_that_were_left),
		TEST(force_knows_other_cases),
		TEST(guards_mail),
		TEST(the_guard_can_be_sent_home),
		TEST(two_agents_meet_over_files),
	};

	return test_main(tests, MR_LEN(tests));
}
