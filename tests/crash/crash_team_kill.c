/*
 * tests/crash/crash_team_kill.c - writers of a team's storage, to be killed.
 *
 * crash_team_kill init ROOT                 two projects, four agents
 * crash_team_kill write ROOT SEED THREADS   send, reserve and release for ever, archiving
 * meanwhile; the id, the sender and the recipients of each message go to ROOT.acks once it was
 * answered with success crash_team_kill drain ROOT                archive what waits
 */
#include "base/str.h"
#include "team/agent.h"
#include "team/archive/archive.h"
#include "team/lease/reservation.h"
#include "team/message.h"
#include "team/open.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DRAIN_MS = 120000, THREADS_MAX = 16 };

/* The first two are of one project, the others of another. */
static const char *const names[] = { "GreenCastle", "RedRiver", "BlueLake", "GoldFox" };
static const char *const projects[] = { "/path/to/backend", "/path/to/backend", "/path/to/frontend",
	"/path/to/frontend" };

static void die(const char *what)
{
	fprintf(stderr, "crash_team_kill: %s\n", what);
	exit(1);
}

static struct mr_team *open_root(struct mr_ctx *cx, const char *path)
{
	struct mr_team_config config = mr_team_config_default(path);
	struct mr_team *team = NULL;

	if (mr_team_open(cx, &config, &team))
		die(cx->err.msg);
	return team;
}

static void init(struct mr_ctx *cx, struct mr_team *team)
{
	for (size_t i = 0; i < MR_LEN(names); i++) {
		struct mr_team_registration who = { .project_key = projects[i],
			.name = names[i],
			.program = "codex",
			.model = "none" };
		struct mr_team_project project;
		struct mr_team_agent agent;

		if (mr_team_agent_register(cx, team, &who, &project, &agent))
			die(cx->err.msg);
	}
}

struct writer {
	struct mr_team *team;
	struct mr_rand rand;
	int acks;
	pthread_t thread;
};

static void send_one(struct mr_ctx *cx, struct writer *writer)
{
	size_t sender = (size_t)mr_rand_below(cx->rand, MR_LEN(names));
	size_t count = 1 + (size_t)mr_rand_below(cx->rand, 3);
	const char *to[4] = { NULL };
	struct mr_team_draft draft = { .project_key = projects[sender],
		.sender_name = names[sender],
		.lists.to = { to, count },
		.subject = "Crash",
		.body_md = "body\n",
		.thread_id = mr_rand_below(cx->rand, 2) ? "T-1" : NULL,
		.convert_images = -1 };
	struct mr_team_sent sent;
	const char *line;

	for (size_t i = 0; i < count; i++)
		to[i] = names[(sender + 1 + i) % MR_LEN(names)];
	if (mr_team_send(cx, writer->team, &draft, &sent))
		die(cx->err.msg);
	/* One write with O_APPEND is not torn by a kill; all lines are of one length. */
	line = mr_arena_printf(cx->arena, "%08lld %zu %zu\n", (long long)sent.message.id, sender,
		count);
	if (write(writer->acks, line, strlen(line)) != (ssize_t)strlen(line))
		die("acks");
}

static void lease_one(struct mr_ctx *cx, struct writer *writer)
{
	size_t who = (size_t)mr_rand_below(cx->rand, MR_LEN(names));
	const char *path = mr_rand_below(cx->rand, 2) ? "src/**" : "docs/a.md";
	struct mr_team_reserve request = { .project_key = projects[who],
		.agent_name = names[who],
		.paths = { &path, 1 },
		.ttl_s = 3600,
		.exclusive = true,
		.reason = "crash" };
	struct mr_team_lease_filter filter = { .project_key = projects[who],
		.agent_name = names[who] };
	struct mr_team_reserved reserved;
	int64_t released, released_ts;

	if (mr_team_reserve(cx, writer->team, &request, &reserved))
		die(cx->err.msg);
	if (mr_rand_below(cx->rand, 2) &&
		mr_team_release(cx, writer->team, &filter, &released, &released_ts))
		die(cx->err.msg);
}

static void *write_on(void *arg)
{
	struct writer *writer = arg;

	for (;;) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_ctx cx = { .arena = arena,
			.clock = mr_clock_system(),
			.rand = &writer->rand };

		if (mr_rand_below(&writer->rand, 8) == 0)
			lease_one(&cx, writer);
		else
			send_one(&cx, writer);
	}
	return NULL;
}

static void write_for_ever(struct mr_ctx *cx, struct mr_team *team, const char *path, int64_t seed,
	int64_t threads)
{
	struct writer writers[THREADS_MAX];
	char acks_path[4096];
	int acks;

	snprintf(acks_path, sizeof(acks_path), "%s.acks", path);
	acks = open(acks_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (acks < 0 || threads < 1 || threads > THREADS_MAX)
		die("acks, or THREADS");
	if (mr_team_archive_start(cx, team))
		die(cx->err.msg);
	for (int64_t i = 0; i < threads; i++) {
		writers[i] = (struct writer){ .team = team, .acks = acks };
		mr_rand_seeded_init(&writers[i].rand, (uint64_t)(seed * THREADS_MAX + i));
		if (pthread_create(&writers[i].thread, NULL, write_on, &writers[i]))
			die("pthread_create");
	}
	pthread_join(writers[0].thread, NULL);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system(), .rand = mr_rand_system() };
	const char *verb = argc > 2 ? argv[1] : "";
	int64_t seed = 0, threads = 0;
	struct mr_team *team;

	if (argc < 3)
		die("usage: VERB ROOT [SEED THREADS]");
	team = open_root(&cx, argv[2]);
	if (mr_str_eq(verb, "init"))
		init(&cx, team);
	else if (mr_str_eq(verb, "write") && argc == 5 && mr_str_to_int(argv[3], &seed) &&
		mr_str_to_int(argv[4], &threads))
		write_for_ever(&cx, team, argv[2], seed, threads);
	else if (!mr_str_eq(verb, "drain"))
		die("no such verb");
	else if (mr_team_archive_drain(&cx, team, DRAIN_MS, true))
		die(cx.err.msg);
	mr_team_close(team, 0);
	return 0;
}
