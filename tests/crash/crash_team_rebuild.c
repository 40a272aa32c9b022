/*
 * tests/crash/crash_team_rebuild.c - makes a database from the archives, or the archives from it.
 *
 *   crash_team_rebuild prepare DIRECTORY   a storage with a bit of everything, archived and closed
 *   crash_team_rebuild late DIRECTORY      more, that is not archived yet: to be stopped
 *   crash_team_rebuild database DIRECTORY  can be run again after a stop
 *   crash_team_rebuild archive DIRECTORY   as well
 *   crash_team_rebuild check DIRECTORY     database and archives tell the same
 */
#include "team/agent.h"
#include "team/archive/archive.h"
#include "team/archive/rebuild.h"
#include "team/inbox.h"
#include "team/lease/reservation.h"
#include "team/lease/slot.h"
#include "team/message.h"
#include "team/open.h"
#include "team/store/root.h"

#include <stdio.h>
#include <string.h>

enum { DRAIN_MS = 20000, LEASE_S = 86400 };

#define BACK  "/data/backend"
#define FRONT "/data/front"

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

static enum mr_code post(struct mr_ctx *cx, struct mr_team *team, const char *to, const char *bcc,
	const char *subject)
{
	struct mr_team_draft draft = { .project_key = BACK,
		.sender_name = "GreenCastle",
		.lists = { .to = one(cx->arena, to) },
		.subject = subject,
		.body_md = "the body",
		.convert_images = -1,
		.ack_required = true,
		.idempotency_key = subject };
	struct mr_team_sent sent;

	if (bcc)
		draft.lists.bcc = one(cx->arena, bcc);
	return mr_team_send(cx, team, &draft, &sent);
}

static enum mr_code answer(struct mr_ctx *cx, struct mr_team *team, const char *key,
	const char *name, int64_t message_id)
{
	struct mr_team_reply reply = { .project_key = key,
		.message_id = message_id,
		.sender_name = name,
		.body_md = "an answer",
		.ack_required = -1 };
	struct mr_team_sent sent;

	return mr_team_reply(cx, team, &reply, &sent);
}

static enum mr_code hold(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_reserve request = { .project_key = BACK,
		.agent_name = "BlueLake",
		.paths = one(cx->arena, "src/**/*.c"),
		.ttl_s = LEASE_S,
		.exclusive = true,
		.reason = "work" };
	struct mr_team_reserved reserved;
	struct mr_team_slot slot;
	enum mr_code rc = mr_team_reserve(cx, team, &request, &reserved);

	return rc ? rc
		  : mr_team_slot_acquire(cx, team, FRONT, "RedFox", "build", LEASE_S, 0, &slot);
}

static enum mr_code prepare(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_receipt receipt;
	enum mr_code rc = enrol(cx, team, BACK, "GreenCastle");

	if (!rc)
		rc = enrol(cx, team, BACK, "BlueLake");
	if (!rc)
		rc = enrol(cx, team, FRONT, "RedFox");
	if (!rc)
		rc = post(cx, team, "BlueLake", "RedFox@data-front", "first");
	if (!rc)
		rc = post(cx, team, "RedFox@data-front", NULL, "second");
	if (!rc)
		rc = answer(cx, team, BACK, "BlueLake", 1);
	if (!rc)
		rc = hold(cx, team);
	if (!rc)
		rc = mr_team_mark_read(cx, team, BACK, "BlueLake", 1, &receipt);
	return rc ? rc : mr_team_archive_drain(cx, team, DRAIN_MS, true);
}

/* One change each. */
static enum mr_code be_late(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_receipt receipt;
	enum mr_code rc = mr_team_acknowledge(cx, team, FRONT, "RedFox", 2, &receipt);

	if (!rc)
		rc = mr_team_mark_read(cx, team, BACK, "GreenCastle", 3, &receipt);
	return rc ? rc : answer(cx, team, BACK, "GreenCastle", 3);
}

static enum mr_code check(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_report report;
	enum mr_code rc = mr_team_check(cx, team, &report);

	if (!rc && report.len)
		rc = mr_err_set(&cx->err, MR_EFORMAT, "%zu problems: %s %s: %s", report.len,
			report.problems[0].kind, report.problems[0].where, report.problems[0].msg);
	return rc;
}

static enum mr_code archive(struct mr_ctx *cx, struct mr_team *team)
{
	int64_t queued;

	return mr_team_rebuild_archive(cx, team, &queued);
}

static enum mr_code database(struct mr_ctx *cx, const struct mr_team_config *config)
{
	struct mr_team_rebuilt rebuilt;

	return mr_team_rebuild_database(cx, config, 0, &rebuilt);
}

static const struct {
	const char *word;
	enum mr_code (*run)(struct mr_ctx *cx, struct mr_team *team);
} acts[] = {
	{ "prepare", prepare },
	{ "late", be_late },
	{ "archive", archive },
	{ "check", check },
};

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena,
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
		.err = { .msg = "usage: crash_team_rebuild ACT DIRECTORY" } };
	struct mr_team_config config;
	enum mr_code rc = MR_EINVAL;

	if (argc == 3) {
		config = mr_team_config_default(mr_arena_printf(arena, "%s/root", argv[2]));
		if (strcmp(argv[1], "database") == 0)
			rc = database(&cx, &config);
	}
	for (size_t i = 0; argc == 3 && i < MR_LEN(acts); i++) {
		struct mr_team *team MR_CLEANUP(mr_team_closep) = NULL;

		if (strcmp(argv[1], acts[i].word) != 0)
			continue;
		rc = mr_team_open(&cx, &config, &team);
		if (!rc)
			rc = acts[i].run(&cx, team);
	}
	if (rc)
		fprintf(stderr, "crash_team_rebuild: %s\n", cx.err.msg);
	return rc ? 1 : 0;
}
