/* tests/unit/mailbox/test_mailbox_register_recover.c - failures, and what others have done since a
 * crash; see crash_mailbox_register.py for the crash itself. */
#include "base/fs.h"
#include "files.h"
#include "mailbox/open.h"
#include "register_world.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void put_intent(const char *name, const char *text_of_it)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	files_put(mr_arena_printf(arena, "root/staging/.intents/%s", name), text_of_it);
}

static void recover(struct world *w)
{
	size_t open = files_open();

	CHECK_OK(mr_mailbox_register_recover(&w->cx, &w->root), w->cx.err);
	CHECK_INT(files_open(), open);
}

static void recovery_leaves_what_it_does_not_know(void)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "msg-1.json", "{}" },
		{ "reg-1", "{}" },
		{ "reg-2.json", "not json" },
		{ "reg-3.json", "[]" },
		{ "reg-4.json", "{\"address\": \"../../x\", \"registration_id\": \"r\"}" },
		{ "reg-5.json", "{\"address\": \" " A "\", \"registration_id\": \"r\"}" },
		{ "reg-6.json", "{\"address\": \"" A "\"}" },
		{ "reg-7.json",
			"{\"address\": \"" A
			"\", \"registration_id\": \"r\", \"stash\": \"../x\"}" },
	};
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(cases); i++)
		put_intent(cases[i].name, cases[i].text);
	CHECK(mkdir("root/staging/.trash/clear-1", 0700) == 0);
	CHECK(mkdir("root/staging/.trash/reg-2", 0700) == 0);
	CHECK(mkdir("root/staging/.trash/reg-8", 0700) == 0);
	files_put("root/staging/.trash/reg-8/x", "");
	put_intent(".reg-9.json.tmp-999999999-0123456789abcdef", "of a process that is dead");
	recover(&w);
	CHECK_INT(files_count("root/staging/.intents"), MR_LEN(cases));
	/* A work directory of ours that no intent speaks of is removed. */
	CHECK_INT(files_count("root/staging/.trash"), 2);
	CHECK(!world_is_there("root/staging/.trash/reg-8"));
	/* No directory at all: nothing to do. */
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root/staging/.intents", &w.cx.err), w.cx.err);
	recover(&w);
	CHECK(mkdir("root/staging/.intents", 0700) == 0);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root/staging/.trash", &w.cx.err), w.cx.err);
	recover(&w);
}

/* A purge was stopped before its commit, and another program has registered the address since. */
static void recovery_loses_nothing_of_either_side(void)
{
	struct world w MR_CLEANUP(world_close);
	const char *id;
	struct mr_texts names;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	put_intent("reg-1.json",
		mr_arena_printf(w.cx.arena,
			"{\"action\": \"purge\", \"address\": \"" A
			"\", \"registration_id\": \"%s\", \"replaces\": \"%s\", \"takes\": true}",
			id, id));
	files_put(ENTRY "/note", "old");
	CHECK(mkdir("root/staging/.trash/reg-1", 0700) == 0);
	CHECK(rename(ENTRY, "root/staging/.trash/reg-1/old") == 0);
	world_exec(&w,
		mr_arena_printf(w.cx.arena,
			"UPDATE mailbox_registrations SET status = 'inactive'; INSERT INTO "
			"mailbox_registrations VALUES('reg-new', '" A
			"', 'p', 'active', 'in_root', '%s', '%s', NULL, NULL, NULL, '" LATER
			"', NULL, NULL)",
			world_at(&w, ENTRY), world_at(&w, ENTRY)));
	CHECK(mkdir(ENTRY, 0700) == 0);
	recover(&w);
	world_check_tidy();
	CHECK(world_is_kind(ENTRY, S_IFDIR));
	CHECK_INT(files_count(ENTRY), 0);
	CHECK_OK(mr_fs_list(w.cx.arena, AT_FDCWD, "root/mailboxes", 10, &names, &w.cx.err),
		w.cx.err);
	CHECK_INT(names.len, 2);
	files_hold(mr_arena_printf(w.cx.arena, "root/mailboxes/%s/note", names.items[1]), "old");
}

/* Registration stopped before its commit; meanwhile mail came into the directory by another way. */
static void recovery_does_not_remove_mail(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	put_intent("reg-1.json",
		"{\"action\": \"register\", \"address\": \"" A
		"\", \"registration_id\": \"r\", \"places\": true}");
	CHECK(mkdir(ENTRY, 0700) == 0 && mkdir(ENTRY "/inbox", 0700) == 0);
	files_put(ENTRY "/inbox/letter", "kept");
	recover(&w);
	world_check_tidy();
	files_hold(ENTRY "/inbox/letter", "kept");
	/* And one that is as it was made goes. */
	CHECK(unlink(ENTRY "/inbox/letter") == 0);
	put_intent("reg-1.json",
		"{\"action\": \"register\", \"address\": \"" A
		"\", \"registration_id\": \"r\", \"places\": true}");
	recover(&w);
	world_check_tidy();
	CHECK(!world_is_there(ENTRY));
}

/* One that cannot be undone is told, and the others are settled all the same. */
static void recovery_goes_on_after_a_failure(void)
{
	struct world w MR_CLEANUP(world_close);
	const char *text_of_it = "{\"action\": \"register\", \"address\": \"" A
				 "\", \"registration_id\": \"r\", \"places\": true}";

	world_open(&w);
	put_intent("reg-1.json", text_of_it);
	put_intent("reg-2.json",
		"{\"action\": \"register\", \"address\": \"" B "\", \"registration_id\": \"r\"}");
	CHECK(mkdir(ENTRY, 0700) == 0 && mkdir(ENTRY "/inbox", 0700) == 0);
	files_put("root/staging/.trash/reg-1", "in the way");
	CHECK_ERR(mr_mailbox_register_recover(&w.cx, &w.root), w.cx.err, MR_EEXISTS,
		"an unfinished change of " A
		": staging/.trash/reg-1 exists and is not a directory");
	CHECK_INT(files_count("root/staging/.intents"), 1);
	CHECK(unlink("root/staging/.trash/reg-1") == 0);
	recover(&w);
	world_check_tidy();
	CHECK(!world_is_there(ENTRY));
}

/* A commit that fails, or any step before it, leaves everything as it was. */
static void a_failure_changes_nothing(void)
{
	static const char *const steps[] = { "fs.open:EIO", "fs.write:ENOSPC", "fs.sync:EIO" };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o"));
	files_put(ENTRY "/note", "kept");
	for (size_t i = 0; i < MR_LEN(steps); i++) {
		struct mr_mailbox_register_request request =
			world_in_root(MR_MAILBOX_FORCE, "other");
		struct mr_mailbox_register_result result;
		struct mr_mailbox_unregister_result gone;

		if (!files_fail_at(steps[i]))
			return;
		CHECK(mr_mailbox_register(&w.cx, &w.root, &request, &result) != MR_OK);
		CHECK(mr_mailbox_unregister(&w.cx, &w.root, MR_MAILBOX_PURGE, A, &gone) != MR_OK);
		files_fail_at(NULL);
		recover(&w);
		world_check_tidy();
		files_hold(ENTRY "/note", "kept");
		CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_registrations"), 1);
	}
	/* The table refuses the row: a trigger of somebody else. */
	world_exec(&w,
		"CREATE TRIGGER no BEFORE INSERT ON mailbox_registrations BEGIN "
		"SELECT raise(ABORT, 'no'); END; "
		"CREATE TRIGGER nor BEFORE DELETE ON mailbox_registrations BEGIN "
		"SELECT raise(ABORT, 'no'); END");
	for (size_t i = 0; i < WORLD_MODES; i++) {
		struct mr_mailbox_register_request request = world_in_root(world_modes[i], "other");
		struct mr_mailbox_register_result result;

		CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ECONFLICT);
		world_check_tidy();
		files_hold(ENTRY "/note", "kept");
		CHECK_INT(files_count("root/mailboxes"), 1);
	}
	world_leave_refused(&w, MR_MAILBOX_PURGE, A, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena, "database %s: no [SQLite 1811]",
			world_at(&w, "root/index.sqlite")));
	files_hold(ENTRY "/note", "kept");
}

enum { PROCESSES = 4, ROUNDS = 4 };

/* One of several at work on the same address: every mode, opening the root anew each time. */
static void work(struct world *w, int number)
{
	struct mr_ctx cx = {
		.arena = w->cx.arena,
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};

	for (int i = 0; i < ROUNDS; i++) {
		struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) =
			MR_MAILBOX_ROOT_INIT;
		struct mr_mailbox_register_request request =
			world_in_root(i % 2 ? MR_MAILBOX_STASH : MR_MAILBOX_FORCE,
				mr_arena_printf(w->cx.arena, "%d-%d", number, i));
		struct mr_mailbox_register_result result;

		CHECK_OK(mr_mailbox_root_open(&cx, w->root.path, MR_MAILBOX_ROOT_WRITE, &root),
			cx.err);
		CHECK_OK(mr_mailbox_register(&cx, &root, &request, &result), cx.err);
	}
}

/* Whoever opens the root meets intents of the living, and leaves them alone. */
static void many_at_once(void)
{
	struct world w MR_CLEANUP(world_close);
	pid_t children[PROCESSES];
	int status = 0;

	world_open(&w);
	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (children[i] == 0) {
			work(&w, i);
			_exit(0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		CHECK(waitpid(children[i], &status, 0) == children[i]);
		CHECK_INT(status, 0);
	}
	world_check_tidy();
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_registrations"),
		PROCESSES * ROUNDS);
	CHECK_INT(world_number(&w,
			  "SELECT count(*) FROM mailbox_registrations WHERE status = 'active'"),
		1);
	/* Each stash that has a row is there, and the mailbox itself. */
	CHECK_INT(files_count("root/mailboxes"),
		world_number(&w,
			"SELECT count(*) FROM mailbox_registrations WHERE status = 'stashed'") +
			1);
	world_check_boxes(ENTRY);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(recovery_leaves_what_it_does_not_know),
		TEST(recovery_loses_nothing_of_either_side),
		TEST(recovery_does_not_remove_mail),
		TEST(recovery_goes_on_after_a_failure),
		TEST(a_failure_changes_nothing),
		TEST(many_at_once),
	};

	return test_main(tests, MR_LEN(tests));
}
