/*
 * tests/crash/crash_mailbox_deliver.c - writers of a mailbox root, to be killed.
 *
 * crash_mailbox_deliver init ROOT               a root with alice, bob, carol and dave
 * crash_mailbox_deliver stage ROOT N            a message to the first N of bob, carol, dave,
 * staged crash_mailbox_deliver deliver ROOT N          deliver it crash_mailbox_deliver mark ROOT
 * bob has read and starred it crash_mailbox_deliver open ROOT               open the root for
 * writing, nothing else crash_mailbox_deliver write ROOT SEED COUNT   send COUNT messages to one to
 * three of them; the id and the recipients of each go to ROOT.acks once it was answered with
 * success
 *
 * The ids and times of messages are the same in every run with the same seed.
 */
#include "base/fs.h"
#include "mailbox/deliver.h"
#include "mailbox/document.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/state.h"
#include "text/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOW_US (INT64_C(1773202500) * 1000000)
#define ID     "msg-20260311T041500Z-0123456789abcdef0123456789abcdef"

static const char *const names[] = { "alice", "bob", "carol", "dave" };
static const struct mr_value no_headers = { .kind = MR_MAP };

static void die(const char *what)
{
	fprintf(stderr, "crash_mailbox_deliver: %s\n", what);
	exit(1);
}

static struct mr_mailbox_principal principal(struct mr_arena *arena, const char *name)
{
	return (struct mr_mailbox_principal){
		.principal_id = mr_arena_printf(arena, "HOUMAO-%s", name),
		.address = mr_arena_printf(arena, "%s@houmao.localhost", name),
	};
}

static void init(struct mr_ctx *cx, const char *path)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;

	if (mr_mailbox_root_init(cx, path, &root))
		die(cx->err.msg);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		struct mr_mailbox_principal who = principal(cx->arena, names[i]);
		struct mr_mailbox_register_request request = { .mode = MR_MAILBOX_SAFE,
			.address = who.address,
			.owner = who.principal_id,
			.kind = MR_MAILBOX_IN_ROOT };
		struct mr_mailbox_register_result result;

		if (mr_mailbox_register(cx, &root, &request, &result))
			die(cx->err.msg);
	}
}

/* From one of them to the `count` after it. */
static struct mr_mailbox_message compose(struct mr_ctx *cx, const char *id, size_t sender,
	size_t count)
{
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id = id,
		.thread_id = id,
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = principal(cx->arena, names[sender]),
		.to = { .items = mr_arena_array(cx->arena, count, sizeof(*message.to.items)),
			.len = count },
		.subject = "Crash",
		.headers = &no_headers,
		.body = mr_bytes_text("body\n"),
	};

	for (size_t i = 0; i < count; i++)
		message.to.items[i] = principal(cx->arena, names[(sender + 1 + i) % MR_LEN(names)]);
	return message;
}

static void stage(struct mr_ctx *cx, const struct mr_mailbox_root *root, size_t count)
{
	struct mr_mailbox_message message = compose(cx, ID, 0, count);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	if (mr_mailbox_document_write(&buf, &message, &cx->err) ||
		mr_fs_write(root->dir, MR_MAILBOX_STAGING "/one.md", mr_buf_bytes(&buf), MR_FS_NEW,
			0600, &cx->err))
		die(cx->err.msg);
}

static void deliver(struct mr_ctx *cx, const struct mr_mailbox_root *root, size_t count)
{
	struct mr_mailbox_message message = compose(cx, ID, 0, count);
	const char *path =
		mr_arena_printf(cx->arena, "%s/" MR_MAILBOX_STAGING "/one.md", root->path);
	struct mr_mailbox_deliver_result result;

	message.body = mr_bytes_text("");
	if (mr_mailbox_deliver(cx, root, path, &message, &result))
		die(cx->err.msg);
}

static void mark(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	static const struct mr_mailbox_flags flags = { 1, -1, 1, -1, -1 };
	struct mr_mailbox_state_result result;

	if (mr_mailbox_state_update(cx, root, principal(cx->arena, "bob").address, ID, &flags,
		    &result))
		die(cx->err.msg);
}

static void send_one(struct mr_ctx *cx, const char *path, int acks)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	const char *id = mr_token_message_id(cx->arena, cx->rand, NOW_US);
	size_t sender = (size_t)mr_rand_below(cx->rand, MR_LEN(names));
	size_t count = 1 + (size_t)mr_rand_below(cx->rand, 3);
	struct mr_mailbox_message message = compose(cx, id, sender, count);
	struct mr_mailbox_deliver_result result;
	const char *line = mr_arena_printf(cx->arena, "%s %zu %zu\n", id, sender, count);

	if (mr_mailbox_root_open(cx, path, MR_MAILBOX_ROOT_WRITE, &root) ||
		mr_mailbox_deliver_message(cx, &root, &message, &result))
		die(cx->err.msg);
	/* One write with O_APPEND is not torn by a kill. */
	if (write(acks, line, strlen(line)) != (ssize_t)strlen(line))
		die("acks");
}

static void write_many(const struct mr_ctx *base, const char *path, uint64_t seed, int64_t count)
{
	struct mr_rand rand;
	char acks_path[4096];
	int acks;

	snprintf(acks_path, sizeof(acks_path), "%s.acks", path);
	acks = open(acks_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	mr_rand_seeded_init(&rand, seed);
	for (int64_t i = 0; i < count; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_ctx cx = { .arena = arena, .clock = base->clock, .rand = &rand };

		send_one(&cx, path, acks);
	}
	close(acks);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	struct mr_ctx cx = { .arena = arena, .clock = &clock.clock, .rand = &rand };
	const char *verb = argc > 2 ? argv[1] : "";
	int64_t count = 0, seed = 0;

	mr_clock_fixed_init(&clock, NOW_US);
	mr_rand_seeded_init(&rand, 1);
	if (argc > 3 && !mr_str_to_int(argv[argc - 1], &count))
		die("COUNT is a number");
	if (mr_str_eq(verb, "init")) {
		init(&cx, argv[2]);
		return 0;
	}
	if (mr_str_eq(verb, "write") && argc == 5 && mr_str_to_int(argv[3], &seed)) {
		cx.clock = mr_clock_system();
		write_many(&cx, argv[2], (uint64_t)seed, count);
		return 0;
	}
	if (argc < 3 || mr_mailbox_root_open(&cx, argv[2], MR_MAILBOX_ROOT_WRITE, &root))
		die(argc < 3 ? "usage: VERB ROOT [...]" : cx.err.msg);
	if (mr_str_eq(verb, "stage"))
		stage(&cx, &root, (size_t)count);
	else if (mr_str_eq(verb, "deliver"))
		deliver(&cx, &root, (size_t)count);
	else if (mr_str_eq(verb, "mark"))
		mark(&cx, &root);
	else if (!mr_str_eq(verb, "open"))
		die("no such verb");
	return 0;
}
