/*
 * tests/crash/crash_team_archive.c - sends mail and archives it; can be run again after a stop.
 *
 *   crash_team_archive DIRECTORY        a fixed sequence, going on where the database stands
 *   crash_team_archive --end DIRECTORY  archive what waits, tidy up, check
 *
 * A message is sent under a key of its own, so that sending it once more gives the first one. What
 * was acknowledged is noted in DIRECTORY/acked, one subject per line.
 */
#include "base/fs.h"
#include "team/agent.h"
#include "team/archive/archive.h"
#include "team/archive/rebuild.h"
#include "team/message.h"
#include "team/open.h"
#include "team/store/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 3, DRAIN_MS = 20000 };

static const char *const KEYS[] = { "/data/backend", "/data/front" };

static void note(struct mr_arena *arena, const char *dir, const char *subject)
{
	const char *line = mr_arena_printf(arena, "%s\n", subject);
	int fd = open(mr_arena_printf(arena, "%s/acked", dir),
		O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		abort();
	close(fd);
}

static enum mr_code enrol(struct mr_ctx *cx, struct mr_team *team, const char *key,
	const char *name)
{
	struct mr_team_registration request = { .project_key = key,
		.name = name,
		.program = "codex",
		.model = "gpt" };
	struct mr_team_project project;
	struct mr_team_agent agent;

	return mr_team_agent_register(cx, team, &request, &project, &agent);
}

static struct mr_texts one(struct mr_arena *arena, const char *text)
{
	struct mr_texts list = { mr_arena_array(arena, 2, sizeof(char *)), 1 };

	list.items[0] = text;
	return list;
}

static enum mr_code post(struct mr_ctx *cx, struct mr_team *team, int number)
{
	struct mr_team_draft draft = { .project_key = KEYS[0],
		.sender_name = "GreenCastle",
		.lists = { .to = one(cx->arena, number % 2 ? "BlueLake" : "RedFox@data-front"),
			.cc = one(cx->arena, "WildBear"),
			.bcc = one(cx->arena, "QuietOwl") },
		.subject = mr_arena_printf(cx->arena, "number %d", number),
		.body_md = "the body",
		.convert_images = -1,
		.thread_id = number % 3 ? "T-1" : NULL,
		.idempotency_key = mr_arena_printf(cx->arena, "key %d", number) };
	struct mr_team_sent sent;

	return mr_team_send(cx, team, &draft, &sent);
}

static enum mr_code act(struct mr_ctx *cx, struct mr_team *team, const char *dir)
{
	struct mr_team_deletion gone;
	enum mr_code rc = enrol(cx, team, KEYS[0], "GreenCastle");

	if (!rc)
		rc = enrol(cx, team, KEYS[0], "WildBear");
	if (!rc)
		rc = enrol(cx, team, KEYS[0], "BlueLake");
	if (!rc)
		rc = enrol(cx, team, KEYS[0], "QuietOwl");
	if (!rc)
		rc = enrol(cx, team, KEYS[1], "RedFox");
	for (int i = 0; !rc && i < MESSAGES; i++) {
		rc = post(cx, team, i);
		if (!rc)
			note(cx->arena, dir, mr_arena_printf(cx->arena, "number %d", i));
		/* Many rows at once, then one message of its own. */
		if (!rc && i == 1)
			rc = mr_team_archive_drain(cx, team, DRAIN_MS, true);
	}
	if (!rc)
		rc = mr_team_archive_drain(cx, team, DRAIN_MS, true);
	/* Who goes is taken out of files that have been there for a while. */
	if (!rc)
		rc = mr_team_agent_delete(cx, team, KEYS[0], "WildBear", true, &gone);
	return rc ? rc : mr_team_archive_drain(cx, team, DRAIN_MS, true);
}

static enum mr_code check(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_report report;
	enum mr_code rc = mr_team_archive_drain(cx, team, DRAIN_MS, true);

	if (!rc)
		rc = mr_team_check(cx, team, &report);
	if (!rc && report.len)
		rc = mr_err_set(&cx->err, MR_EFORMAT, "%zu problems: %s %s: %s", report.len,
			report.problems[0].kind, report.problems[0].where, report.problems[0].msg);
	return rc;
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena,
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
		.err = { .msg = "usage: crash_team_archive [--end] DIRECTORY" } };
	bool end = argc == 3 && strcmp(argv[1], "--end") == 0;
	const char *dir = argv[argc > 1 ? argc - 1 : 0];
	struct mr_team_config config;
	struct mr_team *team = NULL;
	enum mr_code rc = MR_EINVAL;

	if (end || argc == 2) {
		config = mr_team_config_default(mr_arena_printf(arena, "%s/root", dir));
		rc = mr_team_open(&cx, &config, &team);
		if (!rc)
			rc = end ? check(&cx, team) : act(&cx, team, dir);
		mr_team_close(team, 0);
	}
	if (rc)
		fprintf(stderr, "crash_team_archive: %s\n", cx.err.msg);
	return rc ? 1 : 0;
}
