/* tests/unit/mailbox/test_mailbox_state.c */
#include "mailbox/state.h"

#include "base/fs.h"
#include "files.h"
#include "mailbox/repair.h"
#include "post.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

#define KEEP -1

static struct mr_mailbox_state_result update(struct post *post, const char *name, const char *id,
	struct mr_mailbox_flags flags)
{
	struct mr_mailbox_state_result result;

	CHECK_OK(mr_mailbox_state_update(&post->cx, &post->root, post_address(post, name), id,
			 &flags, &result),
		post->cx.err);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	return result;
}

static void refused(struct post *post, const char *name, const char *id, enum mr_code code,
	const char *part)
{
	static const struct mr_mailbox_flags flags = { 1, KEEP, KEEP, KEEP, KEEP };
	struct mr_mailbox_state_result result = { .address = "kept" };

	CHECK_INT(mr_mailbox_state_update(&post->cx, &post->root, post_address(post, name), id,
			  &flags, &result),
		code);
	if (!strstr(post->cx.err.msg, part))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, post->cx.err.msg);
	CHECK_STR(result.address, "kept");
	CHECK_INT(files_count("root/locks/addresses"), 0);
}

static const char *open_post(struct post *post)
{
	post_open(post);
	post_account(post, "alice");
	post_account(post, "bob");
	post_account(post, "carol");
	return post_send(post, "alice", "bob", NULL);
}

static void check_flags(const struct mr_mailbox_state *state, const char *flags)
{
	const char got[] = { state->read ? 'r' : '-', state->answered ? 'a' : '-',
		state->starred ? 's' : '-', state->archived ? 'x' : '-', state->deleted ? 'd' : '-',
		'\0' };

	CHECK_STR(got, flags);
}

static void changes_only_what_is_given(void)
{
	static const struct {
		struct mr_mailbox_flags flags;
		const char *after;
	} steps[] = {
		{ { 1, KEEP, KEEP, KEEP, KEEP }, "r----" },
		{ { KEEP, 1, KEEP, KEEP, KEEP }, "ra---" },
		{ { KEEP, KEEP, 1, KEEP, KEEP }, "ras--" },
		{ { KEEP, KEEP, KEEP, 1, KEEP }, "rasx-" },
		{ { KEEP, KEEP, KEEP, KEEP, 1 }, "rasxd" },
		{ { KEEP, KEEP, KEEP, KEEP, KEEP }, "rasxd" },
		{ { 0, 0, KEEP, 0, 0 }, "--s--" },
	};
	struct post post MR_CLEANUP(post_close);
	const char *id = open_post(&post);
	const char *before = post_tree(&post, "root/messages");
	const char *box = post_mailbox(&post, "bob");

	for (size_t i = 0; i < MR_LEN(steps); i++) {
		struct mr_mailbox_state_result result = update(&post, "bob", id, steps[i].flags);

		CHECK_STR(result.address, "bob@houmao.localhost");
		CHECK_STR(result.owner, "HOUMAO-bob");
		CHECK(mr_str_starts(result.registration_id, "reg-"));
		CHECK_STR(result.state.message_id, id);
		/* Archiving by flag moves nothing. */
		CHECK_STR(result.state.box, "inbox");
		check_flags(&result.state, steps[i].after);
		CHECK_INT(post_count(&post, box, "SELECT unread_count FROM thread_summaries"),
			!result.state.read);
	}
	CHECK_STR(post_tree(&post, "root/messages"), before);
	CHECK(mr_fs_exists(AT_FDCWD, mr_arena_printf(post.cx.arena, "%s/inbox/%s.md", box, id)));
	/* The other's is the other's. */
	{
		struct mr_mailbox_flags none = { KEEP, KEEP, KEEP, KEEP, KEEP };
		struct mr_mailbox_state_result result = update(&post, "alice", id, none);

		check_flags(&result.state, "r----");
	}
}

static void says_what_is_wrong(void)
{
	struct post post MR_CLEANUP(post_close);
	const char *id = open_post(&post);

	refused(&post, "nobody", id, MR_ENOTFOUND,
		"no active mailbox registration exists for `nobody@houmao.localhost`");
	refused(&post, "bob", "msg-20260311T041500Z-00000000000000000000000000000000", MR_ENOTFOUND,
		"unknown message id `msg-20260311T041500Z-00000000000000000000000000000000`");
	post_send(&post, "alice", "carol", NULL);
	refused(&post, "carol", id, MR_ENOTFOUND,
		mr_arena_printf(post.cx.arena,
			"message `%s` is not projected into mailbox `carol@houmao.localhost`", id));
	CHECK_INT(post_count(&post, post_mailbox(&post, "carol"),
			  "SELECT count(*) FROM message_state"),
		1);
	CHECK(rmdir(mr_arena_printf(post.cx.arena, "%s/drafts", post_mailbox(&post, "bob"))) == 0);
	refused(&post, "bob", id, MR_ECONFLICT, "is not whole");
	post_unregister(&post, "carol", MR_MAILBOX_DEACTIVATE);
	refused(&post, "carol", id, MR_ENOTFOUND, "no active mailbox registration exists");
}

static void an_unreadable_database_is_told(void)
{
	struct post post MR_CLEANUP(post_close);
	const char *id = open_post(&post);

	files_put(mr_arena_printf(post.cx.arena, "%s/mailbox.sqlite", post_mailbox(&post, "bob")),
		"this is no database, but long enough to look at");
	refused(&post, "bob", id, MR_EFORMAT, "run `mailroom mailbox repair`");
}

/* From where the message is, not from what a delivery would have said. */
static void makes_the_row_that_is_missing(void)
{
	struct post post MR_CLEANUP(post_close);
	const char *id = open_post(&post);
	const char *second = post_send(&post, "alice", "bob", NULL);
	const char *box = post_mailbox(&post, "bob");
	struct mr_mailbox_flags star = { KEEP, KEEP, 1, KEEP, KEEP };
	struct mr_mailbox_state_result result;

	post_exec(&post, box,
		mr_arena_printf(post.cx.arena, "DELETE FROM message_state WHERE message_id = '%s'",
			id));
	result = update(&post, "bob", id, star);
	check_flags(&result.state, "--s--");
	CHECK_STR(result.state.box, "inbox");

	post_exec(&post, NULL,
		mr_arena_printf(post.cx.arena,
			"UPDATE mailbox_projections SET folder_name = 'archive' WHERE folder_name "
			"= 'inbox' AND message_id = '%s'",
			id));
	post_exec(&post, box,
		mr_arena_printf(post.cx.arena, "DELETE FROM message_state WHERE message_id = '%s'",
			id));
	result = update(&post, "bob", id, star);
	check_flags(&result.state, "r-sx-");
	CHECK_STR(result.state.box, "archive");

	/* All lost: all come back, or one row would hide the others for good. */
	CHECK(unlink(mr_arena_printf(post.cx.arena, "%s/mailbox.sqlite", box)) == 0);
	result = update(&post, "bob", second, star);
	check_flags(&result.state, "--s--");
	CHECK_INT(post_count(&post, box, "SELECT count(*) FROM message_state"), 2);
}

static struct mr_mailbox_state_result move(struct post *post, const char *name, const char *id,
	const char *box)
{
	struct mr_mailbox_state_result result;

	CHECK_OK(mr_mailbox_state_move(&post->cx, &post->root, post_address(post, name), id, box,
			 &result),
		post->cx.err);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	return result;
}

/* Is the message in this box of the mailbox, and in no other, as all that keep it say? */
static void check_place(struct post *post, const char *name, const char *id, const char *box)
{
	struct mr_mailbox_check_result result;
	const char *mailbox = post_mailbox(post, name);
	const char *link = mr_arena_printf(post->cx.arena, "%s/%s/%s.md", mailbox, box, id);
	char target[4096] = "";

	CHECK(readlink(link, target, sizeof(target) - 1) > 0);
	CHECK_STR(target,
		mr_arena_printf(post->cx.arena, "%s/messages/2026-03-11/%s.md", post->root.path,
			id));
	CHECK_INT(post_count(post, mailbox,
			  mr_arena_printf(post->cx.arena,
				  "SELECT count(*) FROM message_state WHERE message_id = '%s' AND "
				  "box_name = '%s'",
				  id, box)),
		1);
	CHECK_OK(mr_mailbox_check(&post->cx, "root", &result), post->cx.err);
	if (result.problem_count)
		test_fail(__FILE__, __LINE__, "%s: %s %s", box, result.problems[0].what,
			result.problems[0].path);
}

static void moves_from_box_to_box(void)
{
	static const struct {
		const char *to, *box, *flags;
	} steps[] = {
		{ "later", "later", "-----" },
		{ "later", "later", "-----" },
		{ " archive ", "archive", "r--x-" },
		{ "inbox", "inbox", "r----" },
		{ "drafts", "drafts", "r----" },
		{ ".hidden", ".hidden", "r----" },
		{ "gr\xc3\xbc\xc3\x9f"
		  "e",
			"gr\xc3\xbc\xc3\x9f"
			"e",
			"r----" },
	};
	struct post post MR_CLEANUP(post_close);
	struct mr_mailbox_repair_options options = { 0 };
	struct mr_mailbox_repair_result repaired;
	const char *id = open_post(&post);
	const char *other = post_send(&post, "alice", "bob", NULL);
	const char *before = post_tree(&post, "root/messages");

	for (size_t i = 0; i < MR_LEN(steps); i++) {
		struct mr_mailbox_state_result result = move(&post, "bob", id, steps[i].to);

		CHECK_STR(result.state.box, steps[i].box);
		check_flags(&result.state, steps[i].flags);
		check_place(&post, "bob", id, steps[i].box);
		check_place(&post, "bob", other, "inbox");
	}
	/* Repair sees boxes whose names begin with a dot, as the others. */
	move(&post, "bob", id, ".hidden");
	CHECK_OK(mr_mailbox_repair(&post.cx, "root", &options, &repaired), post.cx.err);
	CHECK_INT(repaired.problem_count, 0);
	check_place(&post, "bob", id, ".hidden");
	CHECK_STR(post_tree(&post, "root/messages"), before);
	/* The sender's is where it was. */
	check_place(&post, "alice", id, "sent");
	CHECK_INT(post_count(&post, post_mailbox(&post, "bob"),
			  "SELECT sum(unread_count) FROM thread_summaries"),
		1);
}

/* Mail to oneself is in two boxes, and leaves both. */
static void leaves_every_other_box(void)
{
	struct post post MR_CLEANUP(post_close);
	const char *id;

	open_post(&post);
	id = post_send(&post, "bob", "bob", NULL);
	move(&post, "bob", id, "done");
	check_place(&post, "bob", id, "done");
	CHECK_INT(post_count(&post, NULL,
			  mr_arena_printf(post.cx.arena,
				  "SELECT count(*) FROM mailbox_projections WHERE message_id = "
				  "'%s'",
				  id)),
		1);
}

static void not_moved(struct post *post, const char *name, const char *id, const char *box,
	enum mr_code code, const char *part)
{
	struct mr_mailbox_state_result result = { .address = "kept" };

	CHECK_INT(mr_mailbox_state_move(&post->cx, &post->root, post_address(post, name), id, box,
			  &result),
		code);
	if (!strstr(post->cx.err.msg, part))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, post->cx.err.msg);
	CHECK_STR(result.address, "kept");
	CHECK_INT(files_count("root/locks/addresses"), 0);
}

static void a_move_that_fails_changes_nothing(void)
{
	struct post post MR_CLEANUP(post_close);
	const char *id = open_post(&post);
	const char *box = post_mailbox(&post, "bob");
	char name[300] = "";

	not_moved(&post, "bob", "msg-20260311T041500Z-00000000000000000000000000000000", "x",
		MR_ENOTFOUND, "unknown message id");
	not_moved(&post, "carol", id, "x", MR_ENOTFOUND, "is not projected into mailbox");
	not_moved(&post, "bob", id, " ", MR_EINVAL, "cannot be the name of a box");
	not_moved(&post, "bob", id, "..", MR_EINVAL, "`..` cannot be the name of a box");
	not_moved(&post, "bob", id, "a/b", MR_EINVAL, "`a/b` cannot be the name of a box");
	not_moved(&post, "bob", id, "\xff", MR_EINVAL, "must be UTF-8");
	memset(name, 'x', 256);
	not_moved(&post, "bob", id, name, MR_EINVAL, "longer than 255 bytes");
	not_moved(&post, "bob", id, "mailbox.sqlite", MR_EEXISTS, "mailbox.sqlite");
	/* Something else stands there: it is not ours to replace. */
	files_put(mr_arena_printf(post.cx.arena, "%s/archive/%s.md", box, id), "mine");
	not_moved(&post, "bob", id, "archive", MR_ECONFLICT, "projection already exists");
	files_hold(mr_arena_printf(post.cx.arena, "%s/archive/%s.md", box, id), "mine");
	CHECK(unlink(mr_arena_printf(post.cx.arena, "%s/archive/%s.md", box, id)) == 0);
	if (files_fail_at("state.move.link:ENOSPC")) {
		not_moved(&post, "bob", id, "archive", MR_EIO, "cannot link");
		files_fail_at(NULL);
	}
	/* The index cannot be written any more. */
	post_exec(&post, NULL,
		"CREATE TRIGGER no BEFORE INSERT ON mailbox_projections BEGIN SELECT "
		"RAISE(ABORT, 'no'); END");
	not_moved(&post, "bob", id, "archive", MR_ECONFLICT, "no");
	post_exec(&post, NULL, "DROP TRIGGER no");
	check_place(&post, "bob", id, "inbox");
	CHECK(!mr_fs_exists(AT_FDCWD, mr_arena_printf(post.cx.arena, "%s/archive/%s.md", box, id)));
}

/* The box decides; what could not follow is told, and made good by moving again. */
static void a_move_whose_old_link_stays(void)
{
	struct post post MR_CLEANUP(post_close);
	const char *id = open_post(&post);

	if (!files_fail_at("state.move.unlink:EIO"))
		return;
	not_moved(&post, "bob", id, "archive", MR_EIO,
		mr_arena_printf(post.cx.arena,
			"message %s is moved, but the index or its old links could not be changed "
			"(run `mailroom mailbox repair`): cannot remove",
			id));
	files_fail_at(NULL);
	CHECK_INT(post_count(&post, post_mailbox(&post, "bob"),
			  "SELECT count(*) FROM message_state WHERE box_name = 'archive'"),
		1);
	move(&post, "bob", id, "archive");
	check_place(&post, "bob", id, "archive");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(changes_only_what_is_given),
		TEST(says_what_is_wrong),
		TEST(an_unreadable_database_is_told),
		TEST(makes_the_row_that_is_missing),
		TEST(moves_from_box_to_box),
		TEST(leaves_every_other_box),
		TEST(a_move_that_fails_changes_nothing),
		TEST(a_move_whose_old_link_stays),
	};

	return test_main(tests, MR_LEN(tests));
}
