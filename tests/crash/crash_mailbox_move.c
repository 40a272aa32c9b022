/*
 * tests/crash/crash_mailbox_move.c - moves between boxes, to be killed.
 *
 * crash_mailbox_move init ROOT     alice and bob; bob has mail from alice and from himself
 * crash_mailbox_move move ROOT     all of bob's goes to the box "done"
 * crash_mailbox_move repair ROOT   what repair makes of it; then nothing may be wrong
 */
#include "mailbox/deliver.h"
#include "mailbox/inspect.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/repair.h"
#include "mailbox/state.h"
#include "text/token.h"

#include <stdio.h>
#include <stdlib.h>

#define NOW_US (INT64_C(1773202500) * 1000000)
#define ALICE  "alice@houmao.localhost"
#define BOB    "bob@houmao.localhost"

static const struct mr_value no_headers = { .kind = MR_MAP };

static void die(const char *what)
{
	fprintf(stderr, "crash_mailbox_move: %s\n", what);
	exit(1);
}

static void add(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *address)
{
	struct mr_mailbox_register_request request = { .mode = MR_MAILBOX_SAFE,
		.address = address,
		.owner = address,
		.kind = MR_MAILBOX_IN_ROOT };
	struct mr_mailbox_register_result result;

	if (mr_mailbox_register(cx, root, &request, &result))
		die(cx->err.msg);
}

static void post(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *from)
{
	struct mr_mailbox_principal recipient = { .principal_id = BOB, .address = BOB };
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id = mr_token_message_id(cx->arena, cx->rand, NOW_US),
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = { .principal_id = from, .address = from },
		.to = { &recipient, 1 },
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
	add(cx, &root, ALICE);
	add(cx, &root, BOB);
	post(cx, &root, ALICE);
	post(cx, &root, BOB);
}

static void move(struct mr_ctx *cx, const char *path)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_inspect_messages bobs;
	struct mr_mailbox_state_result result;

	if (mr_mailbox_root_open(cx, path, MR_MAILBOX_ROOT_WRITE, &root) ||
		mr_mailbox_inspect_messages(cx, &root, BOB, 0, &bobs))
		die(cx->err.msg);
	for (size_t i = 0; i < bobs.messages.len; i++) {
		if (mr_mailbox_state_move(cx, &root, BOB, bobs.messages.items[i].message.message_id,
			    "done", &result))
			die(cx->err.msg);
	}
}

static void repair(struct mr_ctx *cx, const char *path)
{
	struct mr_mailbox_repair_options options = { 0 };
	struct mr_mailbox_repair_result repaired;
	struct mr_mailbox_check_result checked;

	if (mr_mailbox_repair(cx, path, &options, &repaired) ||
		mr_mailbox_check(cx, path, &checked))
		die(cx->err.msg);
	if (checked.problem_count)
		die(checked.problems[0].what);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_clock_fixed clock;
	struct mr_rand seeded;
	struct mr_ctx cx = { .arena = arena, .clock = &clock.clock, .rand = mr_rand_system() };
	const char *verb = argc == 3 ? argv[1] : "";

	mr_clock_fixed_init(&clock, NOW_US);
	if (mr_str_eq(verb, "init")) {
		mr_rand_seeded_init(&seeded, 1);
		cx.rand = &seeded;
		init(&cx, argv[2]);
	} else if (mr_str_eq(verb, "move")) {
		move(&cx, argv[2]);
	} else if (mr_str_eq(verb, "repair")) {
		repair(&cx, argv[2]);
	} else {
		die("usage: init|move|repair ROOT");
	}
	return 0;
}
