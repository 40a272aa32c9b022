/* tests/unit/mailbox/test_mailbox_unregister.c - leaving; and being whole. */
#include "files.h"
#include "mailbox/layout.h"
#include "register_world.h"

#include <stdio.h>
#include <unistd.h>

static void nobody_leaves_twice(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;

	world_open(&w);
	for (int mode = MR_MAILBOX_DEACTIVATE; mode <= MR_MAILBOX_PURGE; mode++) {
		world_leave_refused(&w, mode, A, MR_ENOTFOUND,
			"no active mailbox registration exists for " A);
		CHECK_INT(mr_mailbox_unregister(&w.cx, &w.root, mode, "x", &result), MR_EINVAL);
		CHECK(mr_str_starts(w.cx.err.msg, "address: "));
		world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o"));
		world_leave(&w, mode, A);
		world_leave_refused(&w, mode, A, MR_ENOTFOUND,
			"no active mailbox registration exists for " A);
	}
}

static void the_operator_stays(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request = {
		.address = MR_MAILBOX_OPERATOR_ADDRESS,
		.owner = MR_MAILBOX_OPERATOR_PRINCIPAL,
		.role = MR_MAILBOX_OPERATOR_ROLE,
	};
	struct mr_mailbox_register_result result;

	world_open(&w);
	CHECK_OK(mr_mailbox_register(&w.cx, &w.root, &request, &result), w.cx.err);
	for (int mode = MR_MAILBOX_DEACTIVATE; mode <= MR_MAILBOX_PURGE; mode++)
		world_leave_refused(&w, mode, " " MR_MAILBOX_OPERATOR_ADDRESS, MR_EPERM,
			MR_MAILBOX_OPERATOR_ADDRESS
			" is the operator's mailbox and cannot be deregistered");
	CHECK_INT(world_row_of(&w, result.active_registration_id).status, MR_MAILBOX_ACTIVE);
}

static void deactivation_touches_no_file(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;
	struct mr_mailbox_registration row;
	const char *id;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	world_add_mail(&w, id, ENTRY, "m1", "inbox");
	files_put(ENTRY "/note", "kept");
	w.clock.now_us += HOUR;
	result = world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_STR(result.registration_id, id);
	CHECK_INT(result.foreign.len, 0);
	CHECK(result.foreign.items && !result.foreign.items[0]);
	row = world_row_of(&w, id);
	CHECK_INT(row.status, MR_MAILBOX_INACTIVE);
	CHECK_STR(row.deactivated_at, LATER);
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_projections"), 1);
	files_hold(ENTRY "/note", "kept");
	CHECK_INT(files_count(ENTRY "/inbox"), 1);
	/* A time that is there already is kept. */
	world_exec(&w,
		"UPDATE mailbox_registrations SET status = 'active', deactivated_at_utc = 'then'");
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_STR(world_row_of(&w, id).deactivated_at, "then");
}

static void purging_reports_what_was_not_mail(void)
{
	static const char *const foreign[] = { "inbox/letter.md", "inbox/link", "link.md",
		"sub/deep/x", "zz" };
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;
	const char *id, *other;

	world_open(&w);
	other = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "other")).active_registration_id;
	id = world_join(&w, world_in_root(MR_MAILBOX_FORCE, "o")).active_registration_id;
	world_add_mail(&w, id, ENTRY, "m1", "inbox later");
	CHECK(mkdir(ENTRY "/sub", 0700) == 0 && mkdir(ENTRY "/sub/deep", 0700) == 0);
	files_put(ENTRY "/sub/deep/x", "");
	files_put(ENTRY "/inbox/letter.md", "a file, not a link");
	files_put(ENTRY "/zz", "");
	files_put(ENTRY "/mailbox.sqlite-journal", "");
	CHECK(symlink("/etc", ENTRY "/inbox/link") == 0);
	CHECK(symlink("/etc", ENTRY "/link.md") == 0);
	result = world_leave(&w, MR_MAILBOX_PURGE, A);
	CHECK_STR(result.registration_id, id);
	CHECK_INT(result.foreign.len, MR_LEN(foreign));
	for (size_t i = 0; i < MR_LEN(foreign); i++)
		CHECK_STR(result.foreign.items[i],
			mr_mailbox_layout_join(w.cx.arena, world_at(&w, ENTRY), foreign[i]));
	CHECK_STR(result.foreign.items[MR_LEN(foreign)], NULL);
	CHECK(!world_is_there(ENTRY));
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_registrations"), 1);
	CHECK_STR(world_row_of(&w, other).replaced_by, NULL);
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_projections"), 0);
	CHECK_INT(world_number(&w, "SELECT count(*) FROM messages"), 1);
	CHECK_STR(world_text(&w, "SELECT delivered_registration_id FROM message_recipients"), id);
}

static void purging_a_link_keeps_the_directory(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;
	const char *id;

	world_open(&w);
	id = world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"))
		     .active_registration_id;
	world_add_mail(&w, id, "private", "m1", "inbox");
	files_put("private/note", "kept");
	result = world_leave(&w, MR_MAILBOX_PURGE, A);
	CHECK_INT(result.foreign.len, 0);
	CHECK(!world_is_there(ENTRY));
	files_hold("private/note", "kept");
	CHECK_INT(files_count("private/inbox"), 1);
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_projections"), 0);
	CHECK_INT(world_number(&w, "SELECT count(*) FROM message_recipients"), 1);

	/* Nothing there: only the row goes. */
	world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	CHECK(unlink(ENTRY) == 0);
	world_leave(&w, MR_MAILBOX_PURGE, A);
	/* Something else there is not ours to delete. */
	world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	CHECK(unlink(ENTRY) == 0 && mkdir(ENTRY, 0700) == 0);
	world_leave_refused(&w, MR_MAILBOX_PURGE, A, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			"%s is not the link that " A " is registered with, and is not deleted; "
			"move it away first",
			world_at(&w, ENTRY)));
	CHECK(world_is_there(ENTRY));
}

static void a_directory_that_became_a_link_loses_the_link(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o"));
	CHECK(rename(ENTRY, "moved") == 0 && symlink("../../moved", ENTRY) == 0);
	CHECK_INT(world_leave(&w, MR_MAILBOX_PURGE, A).foreign.len, 0);
	CHECK(!world_is_there(ENTRY));
	world_check_boxes("moved");
}

static void a_mailbox_is_whole_or_says_what_is_missing(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_registration row;
	const char *id;

	world_open(&w);
	id = world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"))
		     .active_registration_id;
	row = world_row_of(&w, id);
	CHECK_OK(mr_mailbox_register_check(&w.cx, &row), w.cx.err);
	row.status = MR_MAILBOX_STASHED;
	CHECK_ERR(mr_mailbox_register_check(&w.cx, &row), w.cx.err, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena, "the mailbox of " A " is not active (%s is stashed)",
			id));
	row.status = MR_MAILBOX_ACTIVE;
	CHECK(rmdir("private/sent") == 0);
	CHECK_ERR(mr_mailbox_register_check(&w.cx, &row), w.cx.err, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			"the mailbox of " A " is not whole: %s/sent is not a directory; run "
			"`mailroom mailbox repair`",
			world_at(&w, "private")));
	CHECK(rename("private", "away") == 0);
	CHECK_ERR(mr_mailbox_register_check(&w.cx, &row), w.cx.err, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			"the mailbox of " A " is not whole: %s is not a directory; run "
			"`mailroom mailbox repair`",
			world_at(&w, "private")));
	CHECK(unlink(ENTRY) == 0 && rename("away", ENTRY) == 0);
	CHECK_ERR(mr_mailbox_register_check(&w.cx, &row), w.cx.err, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			"the mailbox of " A " is not whole: %s is not a symbolic link; run "
			"`mailroom mailbox repair`",
			world_at(&w, ENTRY)));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(nobody_leaves_twice),
		TEST(the_operator_stays),
		TEST(deactivation_touches_no_file),
		TEST(purging_reports_what_was_not_mail),
		TEST(purging_a_link_keeps_the_directory),
		TEST(a_directory_that_became_a_link_loses_the_link),
		TEST(a_mailbox_is_whole_or_says_what_is_missing),
	};

	return test_main(tests, MR_LEN(tests));
}
