/* tests/unit/mailbox/test_mailbox_state_sql.c */
#include "mailbox/state_sql.h"

#include "database.h"
#include "files.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

struct world {
	struct mr_ctx cx;
	struct mr_db *db;
};

static void world_close(struct world *w)
{
	database_closep(&w->db);
	mr_arena_free(w->cx.arena);
}

static struct world world_open(void)
{
	struct world w = { .cx = { .arena = mr_arena_new() } };
	struct mr_db_options options = {
		.path = "mailbox.sqlite",
		.create = true,
		.journal = MR_DB_JOURNAL_DELETE,
	};

	files_enter();
	w.db = database_open(&w.cx, &options);
	CHECK_OK(mr_mailbox_state_schema(&w.cx, w.db), w.cx.err);
	return w;
}

static void exec(struct world *w, const char *sql)
{
	database_exec(&w->cx, w->db, sql);
}

static const char *text(struct world *w, const char *sql)
{
	const char *all = database_list(&w->cx, w->db, sql, "|");

	return all ? all : "";
}

static struct mr_mailbox_state sample(const char *id, const char *thread, const char *at)
{
	return mr_mailbox_state_fresh(id, thread, at, "Hello", true);
}

static void add(struct world *w, const char *id, const char *thread, const char *at)
{
	struct mr_mailbox_state row = sample(id, thread, at);

	CHECK_OK(mr_mailbox_state_add(&w->cx, w->db, &row), w->cx.err);
}

/* Others read these columns by name and write them by name. */
static void the_schema_is_the_contract(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();

	CHECK_STR(text(&w, "SELECT name FROM pragma_table_info('message_state')"),
		"message_id|thread_id|created_at_utc|subject|is_read|is_answered|is_starred|"
		"is_archived|is_deleted|box_name");
	CHECK_STR(text(&w, "SELECT name FROM pragma_table_info('thread_summaries')"),
		"thread_id|normalized_subject|latest_message_id|latest_message_created_at_utc|"
		"unread_count");
	CHECK_STR(text(&w,
			  "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE "
			  "'idx%'"),
		"idx_message_state_thread_id");
	/* What has a default may be left out. */
	exec(&w,
		"INSERT INTO message_state(message_id, thread_id, created_at_utc, subject) "
		"VALUES('m', 't', 'c', 's')");
	CHECK_STR(text(&w,
			  "SELECT is_read || is_answered || is_starred || is_archived || "
			  "is_deleted "
			  "|| box_name FROM message_state"),
		"00000inbox");
	/* What is missing is made, what is there stays. */
	exec(&w, "DROP INDEX mailroom_state_box; DROP TABLE thread_summaries");
	CHECK_OK(mr_mailbox_state_schema(&w.cx, w.db), w.cx.err);
	CHECK_STR(text(&w, "SELECT count(*) FROM thread_summaries"), "0");
	CHECK_STR(text(&w, "SELECT count(*) FROM message_state"), "1");
	/* Also inside somebody's transaction, which stays open. */
	exec(&w, "DROP TABLE thread_summaries");
	database_begin(&w.cx, w.db);
	CHECK_OK(mr_mailbox_state_schema(&w.cx, w.db), w.cx.err);
	CHECK(database_in_transaction(w.db));
	database_commit(&w.cx, w.db);
}

static void rows_come_back_as_they_were(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_state row = { "m", "t", "2026-03-11T04:15:00Z", "Gr\xc3\xbc\xc3\x9f",
		true, false, true, false, true, "box" };
	const struct mr_mailbox_state *got = &row;

	CHECK_OK(mr_mailbox_state_get(&w.cx, w.db, "m", &got), w.cx.err);
	CHECK(!got);
	CHECK_OK(mr_mailbox_state_put(&w.cx, w.db, &row), w.cx.err);
	CHECK_OK(mr_mailbox_state_get(&w.cx, w.db, "m", &got), w.cx.err);
	CHECK_STR(got->message_id, row.message_id);
	CHECK_STR(got->thread_id, row.thread_id);
	CHECK_STR(got->created_at, row.created_at);
	CHECK_STR(got->subject, row.subject);
	CHECK_STR(got->box, row.box);
	CHECK(got->read && !got->answered && got->starred && !got->archived && got->deleted);

	/* Adding never overwrites; putting does. */
	row.read = false;
	row.box = "other";
	CHECK_OK(mr_mailbox_state_add(&w.cx, w.db, &row), w.cx.err);
	CHECK_STR(text(&w, "SELECT is_read || box_name FROM message_state"), "1box");
	CHECK_OK(mr_mailbox_state_put(&w.cx, w.db, &row), w.cx.err);
	CHECK_STR(text(&w, "SELECT is_read || box_name FROM message_state"), "0other");
	CHECK_OK(mr_mailbox_state_drop(&w.cx, w.db, "m"), w.cx.err);
	CHECK_OK(mr_mailbox_state_drop(&w.cx, w.db, "m"), w.cx.err);
	CHECK_STR(text(&w, "SELECT count(*) FROM message_state"), "0");
}

static const char *listed(struct world *w, const char *box, int64_t limit)
{
	struct mr_mailbox_states list;
	const char *out = "";

	CHECK_OK(mr_mailbox_state_list(&w->cx, w->db, box, limit, &list), w->cx.err);
	for (size_t i = 0; i < list.len; i++)
		out = mr_arena_printf(w->cx.arena, "%s%s", out, list.items[i].message_id);
	return out;
}

static void lists_the_newest_first(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	int64_t count = -1;

	add(&w, "b", "t", "2026-03-11T04:15:00Z");
	add(&w, "z", "t", "2026-03-11T04:15:01Z");
	/* Of one second, the last to come is the first, whatever it is called. */
	add(&w, "a", "t", "2026-03-11T04:15:01Z");
	add(&w, "c", "t", "2026-03-10T04:15:01Z");
	exec(&w, "UPDATE message_state SET box_name = 'archive' WHERE message_id IN ('b', 'z')");
	CHECK_STR(listed(&w, NULL, 0), "azbc");
	CHECK_STR(listed(&w, NULL, 2), "az");
	CHECK_STR(listed(&w, "archive", 0), "zb");
	CHECK_STR(listed(&w, "inbox", 1), "a");
	CHECK_STR(listed(&w, "none", 0), "");
	CHECK_OK(mr_mailbox_state_count(&w.cx, w.db, &count), w.cx.err);
	CHECK_INT(count, 4);
	/* A row that is put again keeps its place. */
	{
		struct mr_mailbox_state row = sample("z", "t", "2026-03-11T04:15:01Z");

		CHECK_OK(mr_mailbox_state_put(&w.cx, w.db, &row), w.cx.err);
	}
	CHECK_STR(listed(&w, NULL, 0), "azbc");
	for (int i = 0; i < 200; i++)
		add(&w, mr_arena_printf(w.cx.arena, "n%d", i), "t", "2026-03-12T04:15:01Z");
	CHECK_INT(strlen(listed(&w, NULL, 0)), 4 + 10 * 2 + 90 * 3 + 100 * 4);
	CHECK_OK(mr_mailbox_state_clear(&w.cx, w.db), w.cx.err);
	CHECK_STR(listed(&w, NULL, 0), "");
}

/* Neither listing nor a summary looks at every row. */
static void the_newest_are_found_by_an_index(void)
{
	static const char *const queries[] = {
		"SELECT message_id FROM message_state ORDER BY created_at_utc DESC, rowid DESC "
		"LIMIT 5",
		"SELECT message_id FROM message_state WHERE box_name = 'inbox' ORDER BY "
		"created_at_utc DESC, rowid DESC LIMIT 5",
		"SELECT message_id FROM message_state WHERE thread_id = 't' ORDER BY "
		"created_at_utc DESC, message_id DESC LIMIT 1",
		"SELECT count(*) FROM message_state WHERE thread_id = 't' AND is_read = 0",
	};
	struct world w MR_CLEANUP(world_close) = world_open();

	for (size_t i = 0; i < MR_LEN(queries); i++) {
		const char *all = database_plan(&w.cx, w.db, queries[i]);
		struct mr_texts plan = mr_str_split(w.cx.arena, all, '\n');

		for (size_t k = 0; k < plan.len; k++) {
			CHECK(strstr(plan.items[k], "INDEX mailroom_state_"));
			CHECK(!strstr(plan.items[k], "TEMP B-TREE"));
		}
	}
}

static void summaries_follow_the_rows(void)
{
	static const char ALL[] =
		"SELECT thread_id || ' ' || normalized_subject || ' ' || "
		"latest_message_id || ' ' || latest_message_created_at_utc || ' ' "
		"|| unread_count FROM thread_summaries ORDER BY thread_id";
	struct world w MR_CLEANUP(world_close) = world_open();

	add(&w, "a", "t", "2026-03-11T04:15:00Z");
	add(&w, "b", "t", "2026-03-11T04:15:00Z");
	exec(&w,
		"UPDATE message_state SET subject = ' Re: HELLO ', is_deleted = 1, box_name = 'x' "
		"WHERE message_id = 'b'");
	CHECK_OK(mr_mailbox_state_thread(&w.cx, w.db, "t"), w.cx.err);
	/* Ties by id, as others break them; no prefix is cut; deleted ones count. */
	CHECK_STR(text(&w, ALL), "t re: hello b 2026-03-11T04:15:00Z 2");
	exec(&w, "UPDATE message_state SET is_read = 1 WHERE message_id = 'b'");
	add(&w, "c", "u", "2026-03-11T04:15:00Z");
	CHECK_OK(mr_mailbox_state_threads(&w.cx, w.db), w.cx.err);
	CHECK_STR(text(&w, ALL),
		"t re: hello b 2026-03-11T04:15:00Z 1|u hello c 2026-03-11T04:15:00Z 1");
	exec(&w, "DELETE FROM message_state WHERE thread_id = 't'");
	CHECK_OK(mr_mailbox_state_thread(&w.cx, w.db, "t"), w.cx.err);
	CHECK_STR(text(&w, ALL), "u hello c 2026-03-11T04:15:00Z 1");
	exec(&w, "DELETE FROM message_state");
	CHECK_OK(mr_mailbox_state_threads(&w.cx, w.db), w.cx.err);
	CHECK_STR(text(&w, ALL), "");
}

static void many_threads_are_summarised(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();

	database_begin(&w.cx, w.db);
	for (int i = 0; i < 2500; i++) {
		const char *id = mr_arena_printf(w.cx.arena, "m%d", i);

		add(&w, id, id, "2026-03-11T04:15:00Z");
	}
	CHECK_OK(mr_mailbox_state_threads(&w.cx, w.db), w.cx.err);
	database_commit(&w.cx, w.db);
	CHECK_STR(text(&w,
			  "SELECT count(*) FROM thread_summaries WHERE latest_message_id = "
			  "thread_id AND unread_count = 1"),
		"2500");
}

static void defaults_follow_the_folders(void)
{
	static const struct {
		const char *folders;
		bool read, archived;
		const char *box;
	} cases[] = {
		{ "inbox", false, false, "inbox" },
		{ "sent", true, false, "sent" },
		{ "archive", true, true, "archive" },
		{ "sent,inbox", false, false, "inbox" },
		{ "archive,sent", true, true, "sent" },
		{ "archive,inbox", false, false, "inbox" },
		{ "zeta,beta", true, false, "beta" },
		{ "zeta,archive", true, true, "archive" },
		{ "", true, false, "inbox" },
	};
	struct world w MR_CLEANUP(world_close) = world_open();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_texts folders = mr_str_split(w.cx.arena, cases[i].folders, ',');
		struct mr_mailbox_state state =
			mr_mailbox_state_seeded("m", "t", "c", "s", &folders);

		CHECK_INT(state.read, cases[i].read);
		CHECK_INT(state.archived, cases[i].archived);
		CHECK_STR(state.box, cases[i].box);
		CHECK(!state.answered && !state.starred && !state.deleted);
	}
	CHECK_STR(mr_mailbox_state_fresh("m", "t", "c", "s", true).box, "inbox");
	CHECK(!mr_mailbox_state_fresh("m", "t", "c", "s", true).read);
	CHECK_STR(mr_mailbox_state_fresh("m", "t", "c", "s", false).box, "sent");
	CHECK(mr_mailbox_state_fresh("m", "t", "c", "s", false).read);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_schema_is_the_contract),
		TEST(rows_come_back_as_they_were),
		TEST(lists_the_newest_first),
		TEST(the_newest_are_found_by_an_index),
		TEST(summaries_follow_the_rows),
		TEST(many_threads_are_summarised),
		TEST(defaults_follow_the_folders),
	};

	return test_main(tests, MR_LEN(tests));
}
