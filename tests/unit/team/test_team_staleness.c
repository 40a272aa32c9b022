/* tests/unit/team/test_team_staleness.c - files and git in a real directory, time held still. */
#include "base/proc.h"
#include "base/reach.h"
#include "files.h"
#include "team/lease/reservation.h"
#include "team/limits.h"
#include "test.h"
#include "world.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scene {
	struct world world;
	struct mr_team_project project;
	struct mr_team_agent agent;
	const char *workspace;
};

static void set_up(struct scene *s)
{
	world_open(&s->world);
	CHECK(mkdir("work", 0700) == 0);
	CHECK(mkdir("work/src", 0700) == 0);
	s->workspace = mr_arena_printf(s->world.cx.arena, "%s/work", test_dir());
	s->project = world_project(&s->world, s->workspace);
	s->agent = world_agent(&s->world, &s->project, "GreenCastle");
}

static struct mr_team_staleness look_with(struct scene *s, const char *pattern,
	struct mr_team_effort *effort)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_reservation lease = { .project_id = s->project.id,
		.agent_id = s->agent.id,
		.agent = s->agent.name,
		.path_pattern = pattern,
		.origin = "agent",
		.expires_ts = INT64_MAX };
	struct mr_team_staleness out;

	CHECK_OK(mr_team_read(&s->world.cx, s->world.team, &reader), s->world.cx.err);
	CHECK_OK(mr_team_staleness(&s->world.cx, s->world.team, reader.db, &s->project, &lease,
			 effort, &out),
		s->world.cx.err);
	return out;
}

static struct mr_team_staleness look(struct scene *s, const char *pattern)
{
	struct mr_team_effort effort = mr_team_effort_default();

	return look_with(s, pattern, &effort);
}

/* Last changed so many seconds before now. */
static void age(struct scene *s, const char *path, int64_t ago_s)
{
	struct timespec times[2] = { { .tv_sec = s->world.clock.now_us / 1000000 - ago_s }, { 0 } };

	times[1] = times[0];
	CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void put(struct scene *s, const char *path, int64_t ago_s)
{
	files_put(path, "x");
	age(s, path, ago_s);
}

static void check_reasons(const struct mr_team_staleness *got, const char *const *expected)
{
	for (size_t i = 0; expected[i]; i++) {
		CHECK(i < got->reasons.len);
		CHECK_STR(got->reasons.items[i], expected[i]);
	}
}

static void files_tell(void)
{
	static const char *const fresh[] = { "agent_inactive>1800s", "no_recent_mail_activity>900s",
		"filesystem_activity_recent", "no_recent_git_activity>900s", NULL };
	static const char *const old[] = { "agent_inactive>1800s", "no_recent_mail_activity>900s",
		"no_recent_filesystem_activity>900s", "no_recent_git_activity>900s", NULL };
	static const char *const none[] = { "agent_inactive>1800s", "no_recent_mail_activity>900s",
		"path_pattern_unmatched", NULL };
	struct scene s;
	struct mr_team_staleness got;

	set_up(&s);
	world_later(&s.world, 1801);
	put(&s, "work/src/new.c", 899);
	put(&s, "work/src/old.c", 901);
	got = look(&s, "src/n*.c");
	CHECK(!got.stale);
	CHECK_INT(got.last_file_ts, s.world.clock.now_us - 899 * 1000000LL);
	check_reasons(&got, fresh);
	got = look(&s, "src/old.c");
	CHECK(got.stale);
	check_reasons(&got, old);
	CHECK(!look(&s, "**/*.c").stale);
	CHECK(!look(&s, "src").stale);
	got = look(&s, "src/none*");
	CHECK(got.stale);
	check_reasons(&got, none);
	CHECK_INT(got.last_file_ts, 0);
	got = look(&s, "a/b/../c");
	check_reasons(&got, none);
	world_close(&s.world);
}

static void links_lead_nowhere(void)
{
	struct scene s;

	set_up(&s);
	world_later(&s.world, 1801);
	CHECK(mkdir("outside", 0700) == 0);
	put(&s, "outside/x.c", 1);
	CHECK(symlink("../../outside", "work/src/out") == 0);
	CHECK_STR(look(&s, "src/out/x.c").reasons.items[2], "path_pattern_unmatched");
	CHECK_STR(look(&s, "src/out/*.c").reasons.items[2], "path_pattern_unmatched");
	CHECK_STR(look(&s, "src/**/x.c").reasons.items[2], "path_pattern_unmatched");
	world_close(&s.world);
}

static void git(struct scene *s, const char *const *words, int64_t when_s)
{
	const char *argv[16] = { "env",
		mr_arena_printf(s->world.cx.arena, "GIT_COMMITTER_DATE=@%lld +0000",
			(long long)when_s),
		"git", "-c", "user.name=t", "-c", "user.email=t@example.com" };
	struct mr_proc proc = { .argv = argv,
		.cwd = s->workspace,
		.timeout_ms = 20000,
		.max_output = 4096 };
	struct mr_proc_result result;

	for (size_t i = 0; words[i]; i++)
		argv[7 + i] = words[i];
	CHECK_OK(mr_proc_run(s->world.cx.arena, &proc, &result, &s->world.cx.err), s->world.cx.err);
	CHECK_INT(result.exit_status, 0);
}

static void git_tells(void)
{
	static const char *const init[] = { "init", "-q", NULL };
	static const char *const add[] = { "add", ".", NULL };
	static const char *const commit[] = { "commit", "-qm", "x", NULL };
	struct scene s;
	struct mr_team_staleness got;
	int64_t now_s;

	set_up(&s);
	world_later(&s.world, 1801);
	now_s = s.world.clock.now_us / 1000000;
	put(&s, "work/src/[odd] *name.c", 5000);
	git(&s, init, now_s);
	git(&s, add, now_s);
	git(&s, commit, now_s - 100);
	put(&s, "work/src/plain.c", 5000);
	got = look(&s, "src/*name.c");
	CHECK_INT(got.last_git_ts, (now_s - 100) * 1000000);
	CHECK_STR(got.reasons.items[3], "git_activity_recent");
	CHECK(!got.stale);
	got = look(&s, "src/plain.c");
	CHECK_INT(got.last_git_ts, 0);
	CHECK(got.stale);
	world_close(&s.world);
}

static void mail_tells(void)
{
	struct scene s;

	set_up(&s);
	world_later(&s.world, 5000);
	world_exec(&s.world,
		mr_arena_printf(s.world.cx.arena,
			"INSERT INTO messages (uid, project_id, sender_id, subject, body_md,"
			" created_ts) VALUES ('u', %lld, %lld, 's', 'b', %lld);"
			"INSERT INTO message_recipients (message_id, agent_id) VALUES (1, %lld)",
			(long long)s.project.id, (long long)s.agent.id,
			(long long)(s.world.clock.now_us - 900 * 1000000LL),
			(long long)s.agent.id));
	CHECK(!look(&s, "x").stale);
	CHECK_STR(look(&s, "x").reasons.items[1], "mail_activity_recent");
	world_later(&s.world, 1);
	CHECK(look(&s, "x").stale);
	world_exec(&s.world,
		mr_arena_printf(s.world.cx.arena, "UPDATE message_recipients SET read_ts = %lld",
			(long long)s.world.clock.now_us));
	CHECK(!look(&s, "x").stale);
	world_exec(&s.world,
		mr_arena_printf(s.world.cx.arena,
			"UPDATE message_recipients SET read_ts = 5, ack_ts = %lld",
			(long long)s.world.clock.now_us));
	CHECK_INT(look(&s, "x").last_mail_ts, s.world.clock.now_us);
	world_close(&s.world);
}

static void an_agent_at_work_keeps_its_lease(void)
{
	struct scene s;

	set_up(&s);
	world_later(&s.world, 1800);
	CHECK(!look(&s, "x").stale);
	CHECK_STR(look(&s, "x").reasons.items[0], "agent_recently_active");
	world_later(&s.world, 1);
	CHECK(look(&s, "x").stale);
	world_close(&s.world);
}

/* However much there is, so much is looked at, and what was not looked at is not stale. */
static void effort_ends(void)
{
	struct mr_team_effort effort = { .entries = 10, .gits = 1 };
	struct scene s;
	struct mr_team_staleness got;

	set_up(&s);
	world_later(&s.world, 1801);
	for (int i = 0; i < 300; i++)
		put(&s, mr_arena_printf(s.world.cx.arena, "work/src/%d.c", i), 5000);
	got = look_with(&s, "**/*.c", &effort);
	CHECK(got.stale);
	CHECK(effort.entries <= 0);
	CHECK_INT(effort.gits, 0);
	got = look_with(&s, "**/*.c", &effort);
	CHECK(!got.stale);
	CHECK_STR(got.reasons.items[2], "files_not_examined");
	effort = mr_team_effort_default();
	age(&s, "work/src", 5000);
	got = look_with(&s, "src/**", &effort);
	CHECK(got.stale);
	CHECK(MR_TEAM_STALE_ENTRIES - effort.entries <= MR_TEAM_STALE_PATHS + 2);
	world_close(&s.world);
}

/* What files do decides, but those who may not name the directory are not told. */
static void strangers_are_not_told_of_files(void)
{
	static const char *const hidden[] = { "agent_inactive>1800s",
		"no_recent_mail_activity>900s", "file_activity_not_shown", NULL };
	struct mr_reach reach = { 0 };
	struct mr_team_staleness got;
	struct scene s;

	set_up(&s);
	world_later(&s.world, 1801);
	put(&s, "work/src/new.c", 899);
	s.world.cx.reach = &reach;
	got = look(&s, "src/n*.c");
	CHECK(!got.stale);
	CHECK_INT(got.last_file_ts, 0);
	CHECK_INT(got.reasons.len, 3);
	check_reasons(&got, hidden);
	got = look(&s, "src/none*");
	CHECK_INT(got.reasons.len, 3);
	check_reasons(&got, hidden);
	reach.roots = (struct mr_texts){ &s.workspace, 1 };
	CHECK(look(&s, "src/n*.c").last_file_ts > 0);
	world_close(&s.world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(files_tell),
		TEST(links_lead_nowhere),
		TEST(git_tells),
		TEST(mail_tells),
		TEST(an_agent_at_work_keeps_its_lease),
		TEST(effort_ends),
		TEST(strangers_are_not_told_of_files),
	};

	return test_main(tests, MR_LEN(tests));
}
