#include "base/fs.h"
#include "files.h"
#include "mailbox/cleanup.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/lock_all.h"
#include "mailbox/trash.h"
#include "post.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROWS "SELECT COUNT(*) FROM mailbox_registrations"

static struct mr_mailbox_cleanup_result cleanup(struct post *post, int64_t inactive_s,
	int64_t stashed_s, bool dry_run)
{
	struct mr_mailbox_cleanup_result result;

	CHECK_OK(mr_mailbox_cleanup(&post->cx, &post->root, inactive_s, stashed_s, dry_run,
			 &result),
		post->cx.err);
	CHECK_STR(result.scope_kind, "mailbox_cleanup");
	CHECK(!result.address && result.dry_run == dry_run);
	return result;
}

static void one_index_is_needed(void)
{
	static const struct {
		const char *content; /* NULL: no file */
		enum mr_code code;
	} cases[] = { { NULL, MR_ECONFLICT },
		{ "this is no database, whatever it is called: not at all", MR_EFORMAT } };
	struct post post;

	post_open(&post);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_cleanup_result result;

		(void)unlink("root/index.sqlite");
		if (cases[i].content)
			files_put("root/index.sqlite", cases[i].content);
		CHECK_INT(mr_mailbox_cleanup(&post.cx, &post.root, 0, 0, false, &result),
			cases[i].code);
		CHECK(mr_str_starts(post.cx.err.msg, "mailbox root needs repair before cleanup: "));
		CHECK(strstr(post.cx.err.msg, "run `mailroom mailbox repair`"));
		CHECK_INT(mr_mailbox_clear(&post.cx, &post.root, NULL, false, &result),
			cases[i].code);
		CHECK(mr_str_starts(post.cx.err.msg,
			"mailbox root needs repair before clearing messages: "));
		/* Where there was none, looking for it made none. */
		CHECK_INT(access("root/index.sqlite", F_OK) == 0, cases[i].content != NULL);
	}
	post_close(&post);
}

static void ages_are_not_negative(void)
{
	struct mr_mailbox_cleanup_result result;
	struct post post;

	post_open(&post);
	CHECK_ERR(mr_mailbox_cleanup(&post.cx, &post.root, -1, 0, true, &result), post.cx.err,
		MR_EINVAL,
		"the age of a registration must be greater than or equal to zero seconds");
	CHECK_INT(mr_mailbox_cleanup(&post.cx, &post.root, 0, -1, true, &result), MR_EINVAL);
	post_close(&post);
}

/* alice active, bob inactive, carol inactive and linked, dave active with a stash. */
static void open_four(struct post *post)
{
	post_open(post);
	post_account(post, "alice");
	post_account(post, "bob");
	post_register(post, "carol", NULL, MR_MAILBOX_SAFE,
		mr_arena_printf(post->cx.arena, "%s/private", post->dir));
	post_account(post, "dave");
	post_unregister(post, "bob", MR_MAILBOX_DEACTIVATE);
	post_unregister(post, "carol", MR_MAILBOX_DEACTIVATE);
	post_register(post, "dave", "HOUMAO-david", MR_MAILBOX_STASH, NULL);
}

static void removes_what_is_over(void)
{
	struct mr_mailbox_cleanup_result result;
	const char *before;
	struct post post;

	open_four(&post);
	post_send(&post, "alice", "alice", NULL);
	before = post_tree(&post, "root/mailboxes");
	result = cleanup(&post, 0, 0, true);
	CHECK_INT(result.planned.len, 3);
	CHECK_INT(result.applied.len, 0);
	CHECK_INT(result.blocked.len, 0);
	CHECK_STR(post_tree(&post, "root/mailboxes"), before);
	CHECK_INT(post_count(&post, NULL, ROWS), 6);

	result = cleanup(&post, 0, 0, false);
	CHECK_INT(result.planned.len, 0);
	CHECK_INT(result.applied.len, 3);
	CHECK_STR(result.applied.items[0].address, "bob@houmao.localhost");
	CHECK_STR(result.applied.items[0].registration_status, "inactive");
	CHECK_STR(result.applied.items[0].proposed_action, "remove");
	CHECK_STR(result.applied.items[0].reason, "the registration is inactive");
	CHECK_STR(result.applied.items[1].reason,
		"the registration is inactive; the directory that its entry links to stays");
	CHECK_STR(result.applied.items[2].registration_status, "stashed");
	CHECK_INT(post_has(&result.preserved, "active_registration", NULL), 3);
	CHECK_INT(post_has(&result.preserved, "canonical_messages", "/messages"), 1);
	CHECK_INT(result.preserved.len, 4);
	/* The operator, alice and dave. */
	CHECK_INT(post_count(&post, NULL, ROWS), 3);
	CHECK_INT(files_count("root/mailboxes"), 3);
	CHECK(access("private/inbox", F_OK) == 0);
	CHECK_INT(files_count("root/staging/.trash"), 0);
	CHECK_INT(post_count(&post, NULL, "SELECT COUNT(*) FROM messages"), 1);

	result = cleanup(&post, 0, 0, false);
	CHECK_INT(result.applied.len, 0);
	post_close(&post);
}

static void each_status_has_its_age(void)
{
	static const struct {
		int64_t inactive_s, stashed_s;
		size_t inactive, stashed;
	} cases[] = {
		{ 0, 0, 2, 1 },
		{ 3600, 3600, 2, 1 }, /* exactly as old */
		{ 3601, 3600, 0, 1 },
		{ 3600, 3601, 2, 0 },
		{ INT64_MAX, INT64_MAX, 0, 0 },
	};
	struct post post;

	open_four(&post);
	/* A stash counts from when it was set aside, too. */
	post.clock.now_us += INT64_C(3600) * 1000000;
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_cleanup_result result =
			cleanup(&post, cases[i].inactive_s, cases[i].stashed_s, true);

		CHECK_INT(result.planned.len, cases[i].inactive + cases[i].stashed);
		CHECK_INT(post_has(&result.preserved, "mailbox_registration", NULL),
			3 - result.planned.len);
		if (cases[i].inactive == 0 && cases[i].stashed == 1)
			CHECK(strstr(post_actions(&post, &result.preserved),
				"the registration has not been inactive for long enough"));
	}
	post_close(&post);
}

static void an_age_that_cannot_be_read_is_old(void)
{
	static const struct {
		const char *sql;
		size_t planned;
	} cases[] = {
		{ "UPDATE mailbox_registrations SET deactivated_at_utc = 'soon'", 3 },
		/* Without an end the beginning counts. */
		{ "UPDATE mailbox_registrations SET deactivated_at_utc = NULL", 0 },
		{ "UPDATE mailbox_registrations SET deactivated_at_utc = NULL,"
		  " created_at_utc = '2020-01-01T00:00:00Z'",
			3 },
	};
	struct post post;

	open_four(&post);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		post_exec(&post, NULL, cases[i].sql);
		CHECK_INT(cleanup(&post, 1000, 1000, true).planned.len, cases[i].planned);
	}
	post_close(&post);
}

/* What `force` leaves points to the directory of the mailbox that took its place. */
static void a_living_mailbox_stays(void)
{
	struct mr_mailbox_cleanup_result result;
	struct post post;

	post_open(&post);
	post_account(&post, "alice");
	post_account(&post, "bob");
	post_register(&post, "bob", "HOUMAO-robert", MR_MAILBOX_FORCE, NULL);
	CHECK_INT(post_count(&post, NULL, ROWS " WHERE address LIKE 'bob%'"), 2);
	post_register(&post, "bob", NULL, MR_MAILBOX_FORCE, NULL);
	CHECK_INT(post_count(&post, NULL, ROWS " WHERE address LIKE 'bob%'"), 3);
	result = cleanup(&post, 0, 0, false);
	CHECK_INT(result.applied.len, 2);
	CHECK_STR(result.applied.items[0].reason,
		"the registration is inactive; the mailbox at its path belongs to another and "
		"stays");
	CHECK_INT(post_count(&post, NULL, ROWS " WHERE address LIKE 'bob%'"), 1);
	CHECK(access(mr_mailbox_layout_join(post.cx.arena, post_mailbox(&post, "bob"), "inbox"),
		      F_OK) == 0);
	post_send(&post, "alice", "bob", NULL);
	post_close(&post);
}

/* Two rows that are over share a directory, and only one is old enough. */
static void a_path_is_kept_for_whoever_stays(void)
{
	struct mr_mailbox_cleanup_result result;
	struct post post;

	post_open(&post);
	post_account(&post, "bob");
	post.clock.now_us += INT64_C(1000) * 1000000;
	post_register(&post, "bob", "HOUMAO-robert", MR_MAILBOX_FORCE, NULL);
	post.clock.now_us += INT64_C(1000) * 1000000;
	post_unregister(&post, "bob", MR_MAILBOX_DEACTIVATE);
	post.clock.now_us += INT64_C(1000) * 1000000;
	result = cleanup(&post, 1500, 0, false);
	CHECK_INT(result.applied.len, 1);
	CHECK(access(post_mailbox(&post, "bob"), F_OK) == 0);
	/* Now both are: the directory goes once. */
	post_register(&post, "bob", NULL, MR_MAILBOX_FORCE, NULL);
	post_unregister(&post, "bob", MR_MAILBOX_DEACTIVATE);
	result = cleanup(&post, 0, 0, false);
	CHECK_INT(result.applied.len, 2);
	CHECK_INT(result.blocked.len, 0);
	CHECK(access(post_mailbox(&post, "bob"), F_OK) != 0);
	CHECK_INT(post_count(&post, NULL, ROWS), 1);
	post_close(&post);
}

static void the_operator_stays(void)
{
	struct mr_mailbox_cleanup_result result;
	struct post post;

	post_open(&post);
	post_exec(&post, NULL, "UPDATE mailbox_registrations SET status = 'inactive'");
	result = cleanup(&post, 0, 0, false);
	CHECK_INT(result.applied.len, 0);
	CHECK_INT(post_has(&result.preserved, "mailbox_registration", NULL), 1);
	CHECK_STR(result.preserved.items[0].reason, "the operator's mailbox belongs to every root");
	CHECK_INT(post_count(&post, NULL, ROWS), 1);
	post_close(&post);
}

static void what_is_not_as_recorded_is_blocked(void)
{
	static const struct {
		const char *sql;
		const char *reason;
	} cases[] = {
		{ "UPDATE mailbox_registrations SET mailbox_kind = 'symlink'",
			"it should be a link to a mailbox elsewhere, but is not a link" },
		{ "UPDATE mailbox_registrations SET mailbox_entry_path = '/etc'",
			"its mailbox is not in this root's mailboxes directory" },
		{ "UPDATE mailbox_registrations SET mailbox_entry_path ="
		  " mailbox_entry_path || '/inbox'",
			"its mailbox is not in this root's mailboxes directory" },
		{ "UPDATE mailbox_registrations SET mailbox_entry_path ="
		  " replace(mailbox_entry_path, 'bob@houmao.localhost', '..')",
			"its mailbox is not in this root's mailboxes directory" },
		{ "UPDATE mailbox_registrations SET mailbox_entry_path ="
		  " replace(mailbox_entry_path, 'bob@houmao.localhost', 'file')",
			"it should be a mailbox directory, but is a file" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_cleanup_result result;
		struct post post;
		const char *before;

		post_open(&post);
		post_account(&post, "bob");
		post_unregister(&post, "bob", MR_MAILBOX_DEACTIVATE);
		files_put("root/mailboxes/file", "x");
		post_exec(&post, NULL,
			mr_arena_printf(post.cx.arena, "%s WHERE address LIKE 'bob%%'",
				cases[i].sql));
		before = post_tree(&post, "root/mailboxes");
		result = cleanup(&post, 0, 0, false);
		CHECK_INT(result.applied.len, 0);
		CHECK_INT(result.blocked.len, 1);
		CHECK_STR(result.blocked.items[0].reason, cases[i].reason);
		CHECK_STR(result.blocked.items[0].proposed_action, "remove");
		CHECK_STR(post_tree(&post, "root/mailboxes"), before);
		CHECK_INT(post_count(&post, NULL, ROWS), 2);
		post_close(&post);
		CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root", &post.cx.err), post.cx.err);
	}
}

static void a_missing_mailbox_is_no_obstacle(void)
{
	struct mr_mailbox_cleanup_result result;
	struct post post;

	post_open(&post);
	post_account(&post, "bob");
	post_unregister(&post, "bob", MR_MAILBOX_DEACTIVATE);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, post_mailbox(&post, "bob"), &post.cx.err), post.cx.err);
	result = cleanup(&post, 0, 0, false);
	CHECK_INT(result.applied.len, 1);
	CHECK_STR(result.applied.items[0].reason,
		"the registration is inactive; its mailbox is gone already");
	CHECK_INT(post_count(&post, NULL, ROWS), 1);
	post_close(&post);
}

static void a_failed_commit_puts_everything_back(void)
{
	struct mr_mailbox_cleanup_result result;
	struct post post;
	const char *before;

	open_four(&post);
	post_exec(&post, NULL,
		"CREATE TRIGGER no BEFORE DELETE ON mailbox_registrations BEGIN"
		" SELECT RAISE(ABORT, 'not today'); END");
	before = post_tree(&post, "root");
	CHECK_INT(mr_mailbox_cleanup(&post.cx, &post.root, 0, 0, false, &result), MR_ECONFLICT);
	CHECK(strstr(post.cx.err.msg, "not today"));
	CHECK_STR(post_tree(&post, "root"), before);
	post_close(&post);
}

static void leftovers_are_swept(void)
{
	struct post post;

	post_open(&post);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/staging/.trash/cleanup-1/0", 0700, &post.cx.err),
		post.cx.err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/staging/.trash/reg-1", 0700, &post.cx.err),
		post.cx.err);
	cleanup(&post, 0, 0, false);
	CHECK_INT(files_count("root/staging/.trash"), 1);
	post_close(&post);
}

static void trash_gives_back(void)
{
	struct post post;
	struct mr_mailbox_trash trash;
	const char *before;

	post_open(&post);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/messages/a", 0700, &post.cx.err), post.cx.err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/messages/b/c", 0700, &post.cx.err), post.cx.err);
	CHECK(symlink("a", "root/messages/linked") == 0);
	CHECK(symlink("../..", "root/messages/out") == 0);
	files_put("root/messages/a/1", "1");
	files_put("root/messages/2", "2");
	before = post_tree(&post, "root");
	CHECK_OK(mr_mailbox_trash_open(&post.cx, &post.root, "test", &trash), post.cx.err);
	CHECK_OK(mr_mailbox_trash_put(&post.cx, &trash, "messages/a/1"), post.cx.err);
	CHECK_OK(mr_mailbox_trash_put(&post.cx, &trash, "messages/2"), post.cx.err);
	CHECK_OK(mr_mailbox_trash_put(&post.cx, &trash, "messages/b"), post.cx.err);
	CHECK_INT(mr_mailbox_trash_put(&post.cx, &trash, "messages/2"), MR_ENOTFOUND);
	CHECK_INT(mr_mailbox_trash_put(&post.cx, &trash, "nothing/2"), MR_ENOTFOUND);
	CHECK_INT(mr_mailbox_trash_put(&post.cx, &trash, "messages"), MR_EINTERNAL);
	CHECK(mr_mailbox_trash_put(&post.cx, &trash, "messages/out/x") != MR_OK);
	CHECK(mr_mailbox_trash_put(&post.cx, &trash, "messages/linked/1") != MR_OK);
	CHECK_OK(mr_mailbox_trash_sync(&post.cx, &trash), post.cx.err);
	mr_err_set(&post.cx.err, MR_EIO, "what went wrong");
	mr_mailbox_trash_restore(&post.cx, &trash);
	CHECK_STR(post.cx.err.msg, "what went wrong");
	mr_mailbox_trash_close(&trash);
	CHECK_STR(post_tree(&post, "root"), before);
	post_close(&post);
}

struct newcomers {
	struct post *post;
	int left;
	int count;
};

/* While it is asked which addresses to lock, another one comes. */
static bool and_one_more(void *arg, const struct mr_mailbox_registration *row)
{
	struct newcomers *more = arg;

	/* Under the locks it could not come. */
	if (mr_str_eq(row->address, "last@houmao.localhost") && more->left > 0 &&
		access("root/locks/index.lock", F_OK) != 0) {
		more->left--;
		post_account(more->post,
			mr_arena_printf(more->post->cx.arena, "a%d", more->count++));
	}
	return true;
}

static void hold_covers_newcomers(void)
{
	struct mr_mailbox_lock_all hold = MR_MAILBOX_LOCK_ALL_INIT;
	struct newcomers more = { .left = 2 };
	struct post post;

	post_open(&post);
	more.post = &post;
	post_account(&post, "last");
	CHECK_OK(mr_mailbox_lock_all_take(&post.cx, &post.root, "test", and_one_more, &more, true,
			 &hold),
		post.cx.err);
	CHECK_INT(hold.rows.len, 4);
	CHECK(access("root/locks/addresses/a1@houmao.localhost.lock", F_OK) == 0);
	mr_mailbox_lock_all_release(&hold);
	CHECK(access("root/locks/index.lock", F_OK) != 0);
	more.left = 1000;
	CHECK_INT(mr_mailbox_lock_all_take(&post.cx, &post.root, "test", and_one_more, &more, true,
			  &hold),
		MR_EBUSY);
	CHECK(strstr(post.cx.err.msg, "mailboxes keep being registered in "));
	CHECK(access("root/locks/index.lock", F_OK) != 0);
	post_close(&post);
}

static void inside_is_by_text(void)
{
	static const struct {
		const char *path;
		const char *rest;
	} cases[] = { { "/r/m/a", "a" }, { "/r/m/a/b.md", "a/b.md" }, { "/r/m", NULL },
		{ "/r/m/", NULL }, { "/r/mm/a", NULL }, { "/r/m/../a", NULL },
		{ "/r/m/a/..", NULL }, { "/r/m/./a", NULL }, { "/r/m//a", NULL },
		{ "/r/m/a/", NULL }, { "r/m/a", NULL }, { "/r/m/...", "..." },
		{ "/r/m/.a", ".a" } };
	char longest[257] = "";

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_mailbox_inside("/r/m", cases[i].path), cases[i].rest);
	memset(longest, 'a', 255);
	CHECK(mr_mailbox_inside_name(longest));
	longest[255] = 'a';
	CHECK(!mr_mailbox_inside_name(longest));
	CHECK(!mr_mailbox_inside_name(NULL) && !mr_mailbox_inside_name(""));
	CHECK(!mr_mailbox_inside_name("..") && !mr_mailbox_inside_name("a/b"));
}

static const struct test tests[] = {
	TEST(one_index_is_needed),
	TEST(ages_are_not_negative),
	TEST(removes_what_is_over),
	TEST(each_status_has_its_age),
	TEST(an_age_that_cannot_be_read_is_old),
	TEST(a_living_mailbox_stays),
	TEST(a_path_is_kept_for_whoever_stays),
	TEST(the_operator_stays),
	TEST(what_is_not_as_recorded_is_blocked),
	TEST(a_missing_mailbox_is_no_obstacle),
	TEST(a_failed_commit_puts_everything_back),
	TEST(leftovers_are_swept),
	TEST(trash_gives_back),
	TEST(hold_covers_newcomers),
	TEST(inside_is_by_text),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
