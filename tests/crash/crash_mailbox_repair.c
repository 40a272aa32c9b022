/*
 * tests/crash/crash_mailbox_repair.c - a repair of a mailbox root, to be killed.
 *
 * crash_mailbox_repair init ROOT     a root with alice, bob, carol (replaced) and dave (private),
 *                                    and five messages in it
 * crash_mailbox_repair repair ROOT   repair it
 * crash_mailbox_repair check ROOT    fails when anything is wrong, and says what
 *
 * Time and chance are the same in every run.
 */
#include "mailbox/deliver.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_US (INT64_C(1773202500) * 1000000)

static const struct mr_value no_headers = { .kind = MR_MAP };

static void die(const char *what)
{
	fprintf(stderr, "crash_mailbox_repair: %s\n", what);
	exit(1);
}

static void join(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *address,
	const char *owner, const char *private, enum mr_mailbox_register_mode mode)
{
	struct mr_mailbox_register_request request = { .mode = mode,
		.address = address,
		.owner = owner,
		.kind = private ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT,
		.path = private };
	struct mr_mailbox_register_result result;

	if (mr_mailbox_register(cx, root, &request, &result))
		die(cx->err.msg);
}

static void send_one(struct mr_ctx *cx, const struct mr_mailbox_root *root, int number,
	const char *from, const char *to)
{
	struct mr_mailbox_principal people[] = {
		{ .principal_id = from, .address = mr_arena_printf(cx->arena, "%s@x", from) },
		{ .principal_id = to, .address = mr_arena_printf(cx->arena, "%s@x", to) },
	};
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id = mr_arena_printf(cx->arena, "msg-20260311T041500Z-%032x", number),
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = people[0],
		.to = { &people[1], 1 },
		.subject = "Crash",
		.headers = &no_headers,
		.body = mr_bytes_text("body\n"),
	};
	struct mr_mailbox_deliver_result result;

	message.thread_id = message.message_id;
	if (mr_mailbox_deliver_message(cx, root, &message, &result))
		die(cx->err.msg);
}

static void init(struct mr_ctx *cx, const char *path)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;

	if (mr_mailbox_root_init(cx, path, &root))
		die(cx->err.msg);
	join(cx, &root, "alice@x", "alice", NULL, MR_MAILBOX_SAFE);
	join(cx, &root, "bob@x", "bob", NULL, MR_MAILBOX_SAFE);
	join(cx, &root, "carol@x", "caroline", NULL, MR_MAILBOX_SAFE);
	join(cx, &root, "carol@x", "carol", NULL, MR_MAILBOX_STASH);
	join(cx, &root, "dave@x", "dave", mr_arena_printf(cx->arena, "%s.private", root.path),
		MR_MAILBOX_SAFE);
	send_one(cx, &root, 1, "alice", "bob");
	send_one(cx, &root, 2, "bob", "bob");
	send_one(cx, &root, 3, "carol", "dave");
	send_one(cx, &root, 4, "dave", "carol");
	send_one(cx, &root, 5, "bob", "alice");
}

static void repair(struct mr_ctx *cx, const char *path)
{
	struct mr_mailbox_repair_options options = { .keep_staging = false };
	struct mr_mailbox_repair_result result;

	if (mr_mailbox_repair(cx, path, &options, &result))
		die(cx->err.msg);
}

static void check(struct mr_ctx *cx, const char *path)
{
	struct mr_mailbox_check_result result;

	if (mr_mailbox_check(cx, path, &result))
		die(cx->err.msg);
	for (size_t i = 0; i < result.problem_count; i++)
		fprintf(stderr, "%s: %s: %s\n", result.problems[i].what, result.problems[i].path,
			result.problems[i].detail);
	if (result.problem_count > 0)
		die("there are problems");
}

int main(int argc, char **argv)
{
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	struct mr_ctx cx = { .arena = mr_arena_new(), .clock = &clock.clock, .rand = &rand };

	mr_clock_fixed_init(&clock, NOW_US);
	mr_rand_seeded_init(&rand, argc == 3 ? strlen(argv[1]) : 0);
	if (argc == 3 && strcmp(argv[1], "init") == 0)
		init(&cx, argv[2]);
	else if (argc == 3 && strcmp(argv[1], "repair") == 0)
		repair(&cx, argv[2]);
	else if (argc == 3 && strcmp(argv[1], "check") == 0)
		check(&cx, argv[2]);
	else
		die("what?");
	mr_arena_free(cx.arena);
	return 0;
}
