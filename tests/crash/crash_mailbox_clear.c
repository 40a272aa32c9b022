/*
 * tests/crash/crash_mailbox_clear.c - what removes mail and mailboxes, to be killed.
 *
 * crash_mailbox_clear init ROOT            alice and bob with mail; dave is no longer there
 * crash_mailbox_clear clear ROOT           all messages
 * crash_mailbox_clear clear-account ROOT   alice's
 * crash_mailbox_clear cleanup ROOT         dave
 * crash_mailbox_clear export ROOT          everything to ROOT.export, unless it is there
 */
#include "base/fs.h"
#include "mailbox/cleanup.h"
#include "mailbox/deliver.h"
#include "mailbox/export.h"
#include "mailbox/layout.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "text/token.h"

#include <stdio.h>
#include <stdlib.h>

#define NOW_US (INT64_C(1773202500) * 1000000)
#define ALICE  "alice@houmao.localhost"
#define BOB    "bob@houmao.localhost"
#define DAVE   "dave@houmao.localhost"

static const struct mr_value no_headers = { .kind = MR_MAP };

static void die(const char *what)
{
	fprintf(stderr, "crash_mailbox_clear: %s\n", what);
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

static void post(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *from,
	const char *to, const char *file)
{
	struct mr_mailbox_principal recipient = { .principal_id = to, .address = to };
	struct mr_mailbox_attachment attachment = { .attachment_id = file,
		.kind = MR_MAILBOX_MANAGED_COPY,
		.path = mr_arena_printf(cx->arena, MR_MAILBOX_MANAGED "/%s", file),
		.media_type = "text/plain",
		.size_bytes = -1 };
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id = mr_token_message_id(cx->arena, cx->rand, NOW_US),
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = { .principal_id = from, .address = from },
		.to = { &recipient, 1 },
		.attachments = { &attachment, file != NULL },
		.subject = "Crash",
		.headers = &no_headers,
		.body = mr_bytes_text("body\n"),
	};
	struct mr_mailbox_deliver_result result;

	message.thread_id = message.message_id;
	if (file &&
		mr_fs_write(root->dir, attachment.path, mr_bytes_text("x"), MR_FS_NEW, 0600,
			&cx->err))
		die(cx->err.msg);
	if (mr_mailbox_deliver_message(cx, root, &message, &result))
		die(cx->err.msg);
}

static void init(struct mr_ctx *cx, const char *path)
{
	static const char *const names[] = { ALICE, BOB, DAVE };
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_unregister_result result;

	if (mr_mailbox_root_init(cx, path, &root))
		die(cx->err.msg);
	for (size_t i = 0; i < MR_LEN(names); i++)
		add(cx, &root, names[i]);
	post(cx, &root, ALICE, ALICE, "file");
	post(cx, &root, ALICE, BOB, NULL);
	post(cx, &root, DAVE, BOB, NULL);
	if (mr_mailbox_unregister(cx, &root, MR_MAILBOX_DEACTIVATE, DAVE, &result))
		die(cx->err.msg);
}

static void export(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	struct mr_mailbox_export_request request = { .all_accounts = true,
		.output_dir = mr_arena_printf(cx->arena, "%s.export", root->path) };
	struct mr_mailbox_export_result result;

	if (!mr_fs_exists(AT_FDCWD, request.output_dir) &&
		mr_mailbox_export(cx, root, &request, &result))
		die(cx->err.msg);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_clock_fixed clock;
	struct mr_rand seeded;
	struct mr_ctx cx = { .arena = arena, .clock = &clock.clock, .rand = mr_rand_system() };
	struct mr_mailbox_cleanup_result result;
	const char *verb = argc == 3 ? argv[1] : "";
	enum mr_code rc = MR_OK;

	mr_clock_fixed_init(&clock, NOW_US);
	if (mr_str_eq(verb, "init")) {
		mr_rand_seeded_init(&seeded, 1);
		cx.rand = &seeded;
		init(&cx, argv[2]);
		return 0;
	}
	if (argc != 3 || mr_mailbox_root_open(&cx, argv[2], MR_MAILBOX_ROOT_WRITE, &root))
		die(argc != 3 ? "usage: VERB ROOT" : cx.err.msg);
	if (mr_str_eq(verb, "clear"))
		rc = mr_mailbox_clear(&cx, &root, NULL, false, &result);
	else if (mr_str_eq(verb, "clear-account"))
		rc = mr_mailbox_clear(&cx, &root, ALICE, false, &result);
	else if (mr_str_eq(verb, "cleanup"))
		rc = mr_mailbox_cleanup(&cx, &root, 0, 0, false, &result);
	else if (mr_str_eq(verb, "export"))
		export(&cx, &root);
	else
		die("no such verb");
	if (rc)
		die(cx.err.msg);
	return 0;
}
