/*
 * tests/crash/crash_mailbox_register.c - "ACTION DIRECTORY" does one thing to DIRECTORY/root, and
 * can be run again after a stop. Time and chance stand still, so that every run comes to the same
 * end.
 */
#include "mailbox/open.h"
#include "mailbox/register.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS "a@houmao.localhost"

enum { START_S = 1773202500 };

struct action {
	const char *name;
	enum mr_mailbox_register_mode mode;
	enum mr_mailbox_kind kind;
	const char *owner;   /* NULL: leave, or only look */
	const char *private; /* below DIRECTORY */
	bool leaves;
	enum mr_mailbox_unregister_mode leave_mode;
	unsigned seed; /* of its own, so that ids do not meet */
};

static const struct action actions[] = {
	{ .name = "open", .seed = 1 },
	{ .name = "join", .owner = "one", .seed = 2 },
	{ .name = "link", .kind = MR_MAILBOX_SYMLINK, .owner = "one", .private = "one", .seed = 3 },
	{ .name = "force", .mode = MR_MAILBOX_FORCE, .owner = "two", .seed = 4 },
	{ .name = "force-link",
		.mode = MR_MAILBOX_FORCE,
		.kind = MR_MAILBOX_SYMLINK,
		.owner = "two",
		.private = "two",
		.seed = 5 },
	{ .name = "stash", .mode = MR_MAILBOX_STASH, .owner = "two", .seed = 6 },
	{ .name = "deactivate", .leaves = true, .leave_mode = MR_MAILBOX_DEACTIVATE, .seed = 7 },
	{ .name = "purge", .leaves = true, .leave_mode = MR_MAILBOX_PURGE, .seed = 8 },
};

static enum mr_code join(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct action *action, const char *directory)
{
	struct mr_mailbox_register_request request = {
		.mode = action->mode,
		.address = ADDRESS,
		.owner = action->owner,
		.kind = action->kind,
	};
	struct mr_mailbox_register_result result;

	if (action->private)
		request.path = mr_arena_printf(cx->arena, "%s/%s", directory, action->private);
	return mr_mailbox_register(cx, root, &request, &result);
}

static enum mr_code leave(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct action *action)
{
	struct mr_mailbox_unregister_result result;
	enum mr_code rc = mr_mailbox_unregister(cx, root, action->leave_mode, ADDRESS, &result);

	/* A run before this one may have come so far. */
	return rc == MR_ENOTFOUND ? MR_OK : rc;
}

static enum mr_code act(struct mr_ctx *cx, const struct action *action, const char *directory)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	enum mr_code rc = mr_mailbox_root_open(cx, mr_arena_printf(cx->arena, "%s/root", directory),
		MR_MAILBOX_ROOT_WRITE, &root);

	if (!rc && action->owner)
		rc = join(cx, &root, action, directory);
	if (!rc && action->leaves)
		rc = leave(cx, &root, action);
	return rc;
}

static enum mr_code init(struct mr_ctx *cx, const char *directory)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;

	return mr_mailbox_root_init(cx, mr_arena_printf(cx->arena, "%s/root", directory), &root);
}

static const struct action *find(const char *name)
{
	for (size_t i = 0; i < MR_LEN(actions); i++) {
		if (mr_str_eq(actions[i].name, name))
			return &actions[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	struct mr_ctx cx = { .arena = arena, .clock = &clock.clock, .rand = &rand };
	const struct action *action = argc == 3 ? find(argv[1]) : NULL;
	bool inits = argc == 3 && mr_str_eq(argv[1], "init");
	enum mr_code rc;

	if (!action && !inits) {
		fprintf(stderr, "usage: crash_mailbox_register ACTION DIRECTORY\n");
		return 2;
	}
	mr_clock_fixed_init(&clock, START_S * INT64_C(1000000));
	mr_rand_seeded_init(&rand, action ? action->seed : 0);
	rc = inits ? init(&cx, argv[2]) : act(&cx, action, argv[2]);
	if (rc)
		fprintf(stderr, "crash_mailbox_register: %s\n", cx.err.msg);
	return rc ? 1 : 0;
}
