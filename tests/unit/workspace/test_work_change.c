/* tests/unit/workspace/test_work_change.c */
#include "workspace/change.h"

#include "desk.h"
#include "files.h"
#include "test.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID      "transaction_20260311T041500Z_test"
#define JOURNAL MR_WORK_TRANSACTIONS "/" ID ".json"
#define STAGING MR_WORK_TRANSACTIONS "/" ID ".d"

static void begin(struct desk *desk, struct mr_work_change *change)
{
	mr_work_change_begin(&desk->cx, desk->work, "test", change);
}

static void put(struct mr_work_change *change, const char *path, const char *text)
{
	mr_work_change_write(change, path, mr_bytes_text(text));
}

static void tell(struct mr_work_change *change, const char *kind)
{
	struct mr_work_event event;

	mr_work_event_begin(change, kind, MR_WORK_TARGETS({ "contact", "p1" }), "why", &event);
	mr_out_int(&event.out, "number", 7);
	mr_work_event_end(&event);
}

static void recover(struct desk *desk, const char *collections)
{
	struct mr_work_stale stale;
	struct mr_texts journals;

	desk_next(desk);
	CHECK_OK(mr_work_change_recover(&desk->cx, desk->work, &stale, &journals), desk->cx.err);
	CHECK_STR(mr_str_join(desk->cx.arena, &stale.collections, " "), collections);
	mr_work_change_forget(&desk->cx, desk->work, &journals);
	CHECK_INT(files_count(MR_WORK_TRANSACTIONS), 0);
}

static void a_change_happens_as_a_whole(void)
{
	struct desk desk;
	struct mr_work_change change;
	const struct mr_value *event;

	desk_open(&desk);
	desk_put("contacts/a/old.md", "old");
	desk_put("gone/x/y", "");
	begin(&desk, &change);
	put(&change, "new/deep/file.md", "new");
	mr_work_change_move(&change, "contacts/a/old.md", "contacts/b/new.md");
	mr_work_change_remove(&change, "gone");
	mr_work_change_drop_dir(&change, "contacts/a");
	mr_work_change_drop_dir(&change, "contacts/b");
	mr_work_change_make_dir(&change, "made/deep");
	tell(&change, "tested");
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	CHECK(desk_has(JOURNAL));
	mr_work_change_end(&desk.cx, &change);
	CHECK_STR(desk_tree(&desk),
		".afmail\n.afmail/logs\n.afmail/logs/events.jsonl\n.afmail/transactions\ncontacts\n"
		"contacts/b\ncontacts/b/new.md\nmade\nmade/deep\nnew\nnew/deep\nnew/deep/file.md");
	files_hold("new/deep/file.md", "new");
	files_hold("contacts/b/new.md", "old");
	event = desk_last_event(&desk);
	CHECK_STR(mr_value_get(event, "code")->text, "afmail_event");
	CHECK_STR(mr_value_get(event, "event_id")->text,
		"event_20260311T041500Z_1773202500000000000");
	CHECK_STR(mr_value_get(event, "created_rfc3339")->text, "2026-03-11T04:15:00Z");
	CHECK_STR(mr_value_get(event, "actor")->text, "cli");
	CHECK_STR(mr_value_get(event, "kind")->text, "tested");
	CHECK_STR(mr_value_get(event, "reason")->text, "why");
	CHECK_INT(mr_value_get(event, "number")->integer, 7);
	desk_close(&desk);
}

static void nothing_and_one_file_need_no_journal(void)
{
	struct desk desk;
	struct mr_work_change change;

	desk_open(&desk);
	begin(&desk, &change);
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	mr_work_change_end(&desk.cx, &change);
	CHECK(!desk_has(MR_WORK_TRANSACTIONS));
	begin(&desk, &change);
	put(&change, "a/b", "x");
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	CHECK_INT(files_count(MR_WORK_TRANSACTIONS), 0);
	files_hold("a/b", "x");
	/* A stale projection needs one. */
	begin(&desk, &change);
	put(&change, "a/b", "y");
	change.stale.contacts = true;
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	CHECK(desk_has(JOURNAL));
	mr_work_change_end(&desk.cx, &change);
	CHECK_INT(files_count(MR_WORK_TRANSACTIONS), 0);
	desk_close(&desk);
}

static void two_changes_of_one_second_have_their_names(void)
{
	struct desk desk;
	struct mr_work_change one, two;
	struct mr_texts pending;

	desk_open(&desk);
	begin(&desk, &one);
	put(&one, "a", "1");
	put(&one, "b", "1");
	begin(&desk, &two);
	put(&two, "a", "2");
	put(&two, "b", "2");
	CHECK_OK(mr_work_change_commit(&desk.cx, &one), desk.cx.err);
	CHECK_OK(mr_work_change_commit(&desk.cx, &two), desk.cx.err);
	CHECK_OK(mr_work_change_pending(&desk.cx, desk.work, &pending), desk.cx.err);
	CHECK_STR(mr_str_join(desk.cx.arena, &pending, " "),
		JOURNAL " " MR_WORK_TRANSACTIONS "/" ID "_1.json");
	recover(&desk, "");
	files_hold("a", "2");
	desk_close(&desk);
}

static void a_message_is_touched_once(void)
{
	struct desk desk;
	struct mr_work_change change;

	desk_open(&desk);
	begin(&desk, &change);
	mr_work_touch_message(&change, "m2");
	mr_work_touch_message(&change, "m1");
	mr_work_touch_message(&change, "m2");
	mr_work_touch_collection(&change, "spam");
	mr_work_touch_collection(&change, "spam");
	CHECK_STR(mr_str_join(desk.cx.arena, &change.stale.messages, " "), "m2 m1");
	CHECK_INT(change.stale.collections.len, 1);
	desk_close(&desk);
}

/* A move that cannot succeed is refused while nothing has happened, not left to every later
 * command. */
static void a_move_that_cannot_be_is_refused_before(void)
{
	struct desk desk;
	struct mr_work_change change;

	desk_open(&desk);
	desk_put("a", "a");
	desk_put("b", "b");
	begin(&desk, &change);
	put(&change, "c", "c");
	mr_work_change_move(&change, "a", "b");
	desk_check_fail(&desk, mr_work_change_commit(&desk.cx, &change), "store_error", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "a cannot be moved to b, which exists");
	CHECK(!desk_has("c") && !desk_has(MR_WORK_TRANSACTIONS));
	begin(&desk, &change);
	mr_work_change_move(&change, "none", "d");
	put(&change, "c", "c");
	desk_check_fail(&desk, mr_work_change_commit(&desk.cx, &change), "store_error", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "none is not there and cannot be moved");
	CHECK(!desk_has("c") && !desk_has(MR_WORK_TRANSACTIONS));
	/* Steps count on those before them. */
	desk.cx.err = (struct mr_err){ 0 };
	begin(&desk, &change);
	mr_work_change_remove(&change, "b");
	mr_work_change_move(&change, "a", "b");
	put(&change, "new", "n");
	mr_work_change_move(&change, "new", "newer");
	CHECK_OK(mr_work_change_commit(&desk.cx, &change), desk.cx.err);
	mr_work_change_end(&desk.cx, &change);
	files_hold("b", "a");
	files_hold("newer", "n");
	desk_close(&desk);
}

static void a_failure_before_the_journal_changes_nothing(void)
{
	struct desk desk;
	struct mr_work_change change;

	desk_open(&desk);
	if (!files_fail_at("fs.write:ENOSPC:2")) {
		desk_close(&desk);
		return;
	}
	begin(&desk, &change);
	put(&change, "a", "1");
	put(&change, "b", "2");
	desk_check_fail(&desk, mr_work_change_commit(&desk.cx, &change), "store_error", NULL, NULL);
	files_fail_at(NULL);
	CHECK_STR(desk_tree(&desk), ".afmail\n.afmail/transactions");
	desk_close(&desk);
}

static void what_is_too_long_is_refused(void)
{
	struct desk desk;
	struct mr_work_change change;
	struct mr_value huge = { .kind = MR_TEXT };
	char *text;

	desk_open(&desk);
	text = mr_arena_alloc(desk.cx.arena, MR_WORK_DOCUMENT_BYTES + 1);
	memset(text, 'x', MR_WORK_DOCUMENT_BYTES);
	huge.text = text;
	begin(&desk, &change);
	put(&change, "b", "2");
	mr_work_change_json(&change, "a.json", &huge);
	desk.cx.err = (struct mr_err){ 0 };
	desk_check_fail(&desk, mr_work_change_commit(&desk.cx, &change), "store_error", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "a.json would be longer than 67108864 bytes");
	CHECK(!desk_has("b"));
	desk_close(&desk);
}

/* --- after a crash --- */

/* Commit in a process of its own that is killed at this pass of this crash point. */
static bool crash(struct desk *desk, struct mr_work_change *change, const char *point)
{
	pid_t pid = fork();
	int status = 0;

	CHECK(pid >= 0);
	if (pid == 0) {
		setenv("MAILROOM_CRASH_AT", point, 1);
		if (mr_work_change_commit(&desk->cx, change) == MR_OK)
			mr_work_change_end(&desk->cx, change);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status);
}

static void staged_files_without_a_journal_are_swept(void)
{
	struct desk desk;

	desk_open(&desk);
	desk_put(STAGING "/1", "never happened");
	desk_put(MR_WORK_TRANSACTIONS "/.x.json.tmp-999999999-0123456789abcdef", "half");
	recover(&desk, "");
	CHECK_STR(desk_tree(&desk), ".afmail\n.afmail/transactions");
	desk_close(&desk);
}

/*
 * Steps that undo what later ones did if they were simply repeated: the place of a removed file is
 * taken, the source of a move exists again, a directory that was made has been moved.
 */
static void steps_are_not_repeated_to_harm(void)
{
	static const char tree[] =
		".afmail\n.afmail/logs\n.afmail/logs/events.jsonl\n.afmail/transactions\na\nb\nd\n"
		"e\nf\nmoved\nw";
	int stops = 0;

	for (int pass = 1; pass <= 12; pass++) {
		struct desk desk;
		struct mr_work_change change;

		desk_open(&desk);
		desk_put("a", "a");
		desk_put("b", "b");
		desk_put("c", "c");
		desk_put("e", "old e");
		desk_put("w", "old w");
		begin(&desk, &change);
		mr_work_change_remove(&change, "b");
		mr_work_change_move(&change, "a", "b"); /* b is a */
		mr_work_change_move(&change, "c", "a"); /* a is c */
		mr_work_change_move(&change, "e", "f"); /* f is old e */
		put(&change, "e", "new e");
		mr_work_change_remove(&change, "w");
		put(&change, "w", "new w");
		mr_work_change_make_dir(&change, "made");
		mr_work_change_move(&change, "made", "moved");
		put(&change, "d", "d");
		tell(&change, "tested");
		mr_work_touch_collection(&change, "spam");
		if (crash(&desk, &change,
			    mr_arena_printf(desk.cx.arena, "work.change.step:%d", pass))) {
			stops++;
			recover(&desk, "spam");
		}
		CHECK_STR(desk_tree(&desk), tree);
		files_hold("a", "c");
		files_hold("b", "a");
		files_hold("f", "old e");
		files_hold("e", "new e");
		files_hold("w", "new w");
		CHECK_STR(desk_events(&desk), "tested");
		/* Nothing is left for another command. */
		recover(&desk, "");
		CHECK(mr_fs_remove_all(AT_FDCWD, ".afmail", &desk.cx.err) == MR_OK);
		for (const char *const *name = (const char *const[]){ "a", "b", "d", "e", "f",
			     "moved", "w", NULL };
			*name; name++)
			CHECK(mr_fs_remove_all(AT_FDCWD, *name, &desk.cx.err) == MR_OK);
		desk_close(&desk);
	}
	CHECK(!files_fail_at(NULL) || stops == 11);
}

static void finishing_twice_is_finishing_once(void)
{
	struct desk desk;
	struct mr_work_change change;
	struct mr_work_stale stale;
	struct mr_texts journals;

	desk_open(&desk);
	begin(&desk, &change);
	put(&change, "a", "a");
	tell(&change, "tested");
	mr_work_touch_message(&change, "m1");
	change.stale.contacts = true;
	if (crash(&desk, &change, "work.change.journaled")) {
		for (int i = 0; i < 3; i++) {
			CHECK_OK(mr_work_change_recover(&desk.cx, desk.work, &stale, &journals),
				desk.cx.err);
			CHECK_STR(mr_str_join(desk.cx.arena, &stale.messages, " "), "m1");
			CHECK(stale.contacts && !stale.identities);
			CHECK_INT(journals.len, 1);
		}
		mr_work_change_forget(&desk.cx, desk.work, &journals);
		files_hold("a", "a");
		CHECK_STR(desk_events(&desk), "tested");
		CHECK_INT(files_count(MR_WORK_TRANSACTIONS), 0);
	}
	desk_close(&desk);
}

static void incomplete(struct desk *desk, const char *path)
{
	struct mr_work_stale stale;
	struct mr_texts journals;
	const struct mr_value *paths, *commands;

	desk->cx.err = (struct mr_err){ 0 };
	desk_check_fail(desk, mr_work_change_recover(&desk->cx, desk->work, &stale, &journals),
		"transaction_incomplete", NULL, NULL);
	CHECK(strstr(desk->cx.err.msg, path));
	paths = mr_value_get(mr_work_trouble(&desk->cx.err)->detail, "transaction_paths");
	CHECK(paths->kind == MR_LIST && paths->list.len == 1);
	CHECK_STR(paths->list.items[0].text, path);
	commands = mr_value_get(mr_work_trouble(&desk->cx.err)->detail, "suggested_commands");
	CHECK(commands->kind == MR_LIST && commands->list.len == 2);
	CHECK_STR(mr_work_trouble(&desk->cx.err)->hint,
		"Run `afmail doctor` to see what is wrong.");
}

#define HEAD(id)                                                                                   \
	"{\"schema_name\":\"local_transaction\",\"schema_version\":1,\"transaction_id\":\"" id     \
	"\",\"kind\":\"x\",\"created_rfc3339\":\"2026-01-01T00:00:00Z\""

static void a_journal_that_is_not_ours_stays(void)
{
	static const char *const bad[] = {
		HEAD(ID) ",\"paths\":[\"a\"]}",
		"{\"half\":",
		"",
		"[]",
		HEAD("other") ",\"log_bytes\":0,\"steps\":[]}",
		HEAD(ID) ",\"steps\":[]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"remove\",\"path\":\"../x\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"remove\",\"path\":\"/x\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"remove\",\"path\":\"a/./x\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"remove\",\"path\":\"\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"leap\",\"path\":\"x\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"event\",\"path\":\"x\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"write\",\"path\":\"x\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"write\",\"path\":\"x\","
			 "\"from\":\"keep\"}]}",
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"move\",\"path\":\"x\"}]}",
		/* The first step is fine, and is not carried out all the same. */
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"remove\",\"path\":\"keep\"},7]}",
	};
	struct desk desk;

	desk_open(&desk);
	desk_put("keep", "kept");
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		desk_put(STAGING "/1", "");
		desk_put(JOURNAL, bad[i]);
		incomplete(&desk, JOURNAL);
		CHECK(desk_has(JOURNAL));
		files_hold("keep", "kept");
	}
	/* One of ours whose staged files somebody deleted. */
	CHECK(mr_fs_remove_all(AT_FDCWD, STAGING, &desk.cx.err) == MR_OK);
	desk_put(JOURNAL,
		HEAD(ID) ",\"log_bytes\":0,\"steps\":[{\"step\":\"remove\",\"path\":\"keep\"}]}");
	incomplete(&desk, JOURNAL);
	files_hold("keep", "kept");
	desk_close(&desk);
}

static void the_others_are_finished_all_the_same(void)
{
	struct desk desk;
	struct mr_work_change change;
	struct mr_work_stale stale;
	struct mr_texts journals;

	desk_open(&desk);
	desk_put(MR_WORK_TRANSACTIONS "/a.json", "{}");
	begin(&desk, &change);
	put(&change, "a", "a");
	mr_work_touch_collection(&change, "spam");
	if (crash(&desk, &change, "work.change.journaled")) {
		desk_check_fail(&desk,
			mr_work_change_recover(&desk.cx, desk.work, &stale, &journals),
			"transaction_incomplete", NULL, NULL);
		files_hold("a", "a");
		CHECK_STR(mr_str_join(desk.cx.arena, &journals, " "), JOURNAL);
		CHECK_INT(stale.collections.len, 1);
	}
	desk_close(&desk);
}

/* A person put something in the way of a move meanwhile. */
static void what_stands_in_the_way_is_told(void)
{
	struct desk desk;
	struct mr_work_change change;

	desk_open(&desk);
	desk_put("a", "a");
	begin(&desk, &change);
	mr_work_change_move(&change, "a", "b");
	tell(&change, "tested");
	if (crash(&desk, &change, "work.change.journaled")) {
		desk_put("b", "mine");
		incomplete(&desk, JOURNAL);
		files_hold("b", "mine");
		CHECK(unlink("b") == 0);
		desk.cx.err = (struct mr_err){ 0 };
		recover(&desk, "");
		files_hold("b", "a");
		CHECK_STR(desk_events(&desk), "tested");
	}
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_change_happens_as_a_whole),
		TEST(nothing_and_one_file_need_no_journal),
		TEST(two_changes_of_one_second_have_their_names),
		TEST(a_message_is_touched_once),
		TEST(a_move_that_cannot_be_is_refused_before),
		TEST(a_failure_before_the_journal_changes_nothing),
		TEST(what_is_too_long_is_refused),
		TEST(staged_files_without_a_journal_are_swept),
		TEST(steps_are_not_repeated_to_harm),
		TEST(finishing_twice_is_finishing_once),
		TEST(a_journal_that_is_not_ours_stays),
		TEST(the_others_are_finished_all_the_same),
		TEST(what_stands_in_the_way_is_told),
	};

	return test_main(tests, MR_LEN(tests));
}
