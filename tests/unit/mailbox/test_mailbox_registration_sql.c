/* tests/unit/mailbox/test_mailbox_registration_sql.c */
#include "database.h"
#include "files.h"
#include "mailbox/index_sql.h"
#include "mailbox/registration_sql.h"
#include "test.h"

#define A  "a@houmao.localhost"
#define B  "b@houmao.localhost"
#define R1 "reg-11111111111111111111111111111111"
#define R2 "reg-22222222222222222222222222222222"
#define R3 "reg-33333333333333333333333333333333"

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
		.path = "index.sqlite",
		.create = true,
		.journal = MR_DB_JOURNAL_DELETE,
	};

	files_enter();
	w.db = database_open(&w.cx, &options);
	CHECK_OK(mr_mailbox_index_schema(&w.cx, w.db), w.cx.err);
	return w;
}

static struct mr_mailbox_registration sample(const char *id, const char *address,
	enum mr_mailbox_reg_status status, const char *created_at)
{
	return (struct mr_mailbox_registration){
		.id = id,
		.address = address,
		.owner = "HOUMAO-a",
		.status = status,
		.kind = MR_MAILBOX_IN_ROOT,
		.path = "/r/mailboxes/x",
		.entry_path = "/r/mailboxes/x",
		.created_at = created_at,
	};
}

static void insert(struct world *w, const char *id, const char *address,
	enum mr_mailbox_reg_status status, const char *created_at)
{
	struct mr_mailbox_registration row = sample(id, address, status, created_at);

	CHECK_OK(mr_mailbox_registration_insert(&w->cx, w->db, &row), w->cx.err);
}

static void exec(struct world *w, const char *sql)
{
	database_exec(&w->cx, w->db, sql);
}

static int64_t number(struct world *w, const char *sql)
{
	return database_int(&w->cx, w->db, sql);
}

static void check_same(const struct mr_mailbox_registration *a,
	const struct mr_mailbox_registration *b)
{
	CHECK(a != NULL);
	CHECK_STR(a->id, b->id);
	CHECK_STR(a->address, b->address);
	CHECK_STR(a->owner, b->owner);
	CHECK_INT(a->status, b->status);
	CHECK_INT(a->kind, b->kind);
	CHECK_STR(a->path, b->path);
	CHECK_STR(a->entry_path, b->entry_path);
	CHECK_STR(a->display_name, b->display_name);
	CHECK_STR(a->manifest_path_hint, b->manifest_path_hint);
	CHECK_STR(a->role, b->role);
	CHECK_STR(a->created_at, b->created_at);
	CHECK_STR(a->deactivated_at, b->deactivated_at);
	CHECK_STR(a->replaced_by, b->replaced_by);
}

/* Two kinds of message and their projections to R1 and R2, and a legacy state row. */
static void add_mail(struct world *w)
{
	exec(w,
		"INSERT INTO messages(message_id, thread_id, created_at_utc, canonical_path, "
		"subject, body_markdown, sender_principal_id, sender_address) "
		"VALUES('m', 'm', 't', '/r/messages/m.md', 's', 'b', 'p', 'a')");
	exec(w,
		"INSERT INTO mailbox_projections VALUES"
		"('" R1 "', 'm', 'inbox', '/r/mailboxes/a/inbox/m.md'),"
		"('" R1 "', 'm', 'sent', '/r/mailboxes/ab/sent/m.md'),"
		"('" R2 "', 'm', 'inbox', '/r/mailboxes/a/inbox/m.md')");
	exec(w,
		"INSERT INTO mailbox_state(registration_id, message_id) VALUES('" R1
		"', 'm'), ('" R2 "', 'm')");
}

static void every_column_comes_back(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_registration other =
		sample(R2, B, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	struct mr_mailbox_registration row = {
		.id = R1,
		.address = A,
		.owner = "HOUMAO-a",
		.status = MR_MAILBOX_STASHED,
		.kind = MR_MAILBOX_SYMLINK,
		.path = "/private/\xc3\xa9",
		.entry_path = "/r/mailboxes/a",
		.display_name = "A",
		.manifest_path_hint = "/m",
		.role = "r",
		.created_at = "2026-01-01T00:00:00Z",
		.deactivated_at = "2026-01-02T00:00:00Z",
		.replaced_by = R2,
	};
	const struct mr_mailbox_registration *found = NULL;

	CHECK_OK(mr_mailbox_registration_insert(&w.cx, w.db, &other), w.cx.err);
	CHECK_OK(mr_mailbox_registration_insert(&w.cx, w.db, &row), w.cx.err);
	CHECK_OK(mr_mailbox_registration_by_id(&w.cx, w.db, R1, &found), w.cx.err);
	check_same(found, &row);

	/* Every column changes, those that may be NULL too; the other row does not. */
	row = sample(R1, "c@d", MR_MAILBOX_INACTIVE, "2026-01-03T00:00:00Z");
	row.owner = "o";
	row.kind = MR_MAILBOX_IN_ROOT;
	CHECK_OK(mr_mailbox_registration_update(&w.cx, w.db, &row), w.cx.err);
	CHECK_OK(mr_mailbox_registration_by_id(&w.cx, w.db, R1, &found), w.cx.err);
	check_same(found, &row);
	CHECK_OK(mr_mailbox_registration_by_id(&w.cx, w.db, R2, &found), w.cx.err);
	check_same(found, &other);
}

static void words_are_the_contracts(void)
{
	CHECK_STR(mr_mailbox_status_name(MR_MAILBOX_ACTIVE), "active");
	CHECK_STR(mr_mailbox_status_name(MR_MAILBOX_INACTIVE), "inactive");
	CHECK_STR(mr_mailbox_status_name(MR_MAILBOX_STASHED), "stashed");
	CHECK_STR(mr_mailbox_kind_name(MR_MAILBOX_IN_ROOT), "in_root");
	CHECK_STR(mr_mailbox_kind_name(MR_MAILBOX_SYMLINK), "symlink");
}

static void one_row_is_found(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	const struct mr_mailbox_registration *found = NULL;

	insert(&w, R1, A, MR_MAILBOX_INACTIVE, "2026-01-03T00:00:00Z");
	insert(&w, R2, A, MR_MAILBOX_ACTIVE, "2026-01-02T00:00:00Z");
	insert(&w, R3, B, MR_MAILBOX_INACTIVE, "2026-01-03T00:00:00Z");

	CHECK_OK(mr_mailbox_registration_active(&w.cx, w.db, A, &found), w.cx.err);
	CHECK_STR(found->id, R2);
	CHECK_OK(mr_mailbox_registration_active(&w.cx, w.db, B, &found), w.cx.err);
	CHECK(!found);

	/* The newest, then the larger id. */
	CHECK_OK(mr_mailbox_registration_occupying(&w.cx, w.db, "/r/mailboxes/x", &found),
		w.cx.err);
	CHECK_STR(found->id, R3);
	/* Unless it was replaced within its second. */
	exec(&w,
		"UPDATE mailbox_registrations SET replaced_by_registration_id = '" R1
		"' WHERE registration_id = '" R3 "'");
	CHECK_OK(mr_mailbox_registration_occupying(&w.cx, w.db, "/r/mailboxes/x", &found),
		w.cx.err);
	CHECK_STR(found->id, R1);
	CHECK_OK(mr_mailbox_registration_occupying(&w.cx, w.db, "/r/mailboxes/y", &found),
		w.cx.err);
	CHECK(!found);

	CHECK_OK(mr_mailbox_registration_on_path(&w.cx, w.db, "/r/mailboxes/x", B, &found),
		w.cx.err);
	CHECK_STR(found->id, R2);
	CHECK_OK(mr_mailbox_registration_on_path(&w.cx, w.db, "/r/mailboxes/x", A, &found),
		w.cx.err);
	CHECK(!found);

	CHECK_OK(mr_mailbox_registration_by_id(&w.cx, w.db, "reg-none", &found), w.cx.err);
	CHECK(!found);
}

static void lists_are_ordered(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_registrations list = { NULL, 7 };

	CHECK_OK(mr_mailbox_registration_list(&w.cx, w.db, NULL, &list), w.cx.err);
	CHECK_INT(list.len, 0);
	insert(&w, R1, B, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	insert(&w, R2, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	insert(&w, R3, A, MR_MAILBOX_INACTIVE, "2026-01-02T00:00:00Z");
	CHECK_OK(mr_mailbox_registration_list(&w.cx, w.db, NULL, &list), w.cx.err);
	CHECK_INT(list.len, 3);
	CHECK_STR(list.items[0].id, R3);
	CHECK_STR(list.items[1].id, R2);
	CHECK_STR(list.items[2].id, R1);
	CHECK_OK(mr_mailbox_registration_list(&w.cx, w.db, A, &list), w.cx.err);
	CHECK_INT(list.len, 2);
	CHECK_OK(mr_mailbox_registration_list(&w.cx, w.db, "none@x", &list), w.cx.err);
	CHECK_INT(list.len, 0);

	/* More than the first piece of memory holds. */
	for (int i = 0; i < 100; i++)
		insert(&w, mr_arena_printf(w.cx.arena, "reg-%032d", i), "many@x",
			MR_MAILBOX_INACTIVE, "2026-01-01T00:00:00Z");
	CHECK_OK(mr_mailbox_registration_list(&w.cx, w.db, "many@x", &list), w.cx.err);
	CHECK_INT(list.len, 100);
	CHECK_STR(list.items[0].id, "reg-00000000000000000000000000000099");
	CHECK_STR(list.items[99].id, "reg-00000000000000000000000000000000");
}

static void an_address_is_active_once(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_registration row =
		sample(R2, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");

	insert(&w, R1, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	CHECK_INT(mr_mailbox_registration_insert(&w.cx, w.db, &row), MR_EEXISTS);
	/* Replaced by a row that is not there. */
	row.status = MR_MAILBOX_INACTIVE;
	row.replaced_by = R3;
	CHECK_INT(mr_mailbox_registration_insert(&w.cx, w.db, &row), MR_ECONFLICT);
}

static void deletion_takes_what_hangs_on_it(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	const struct mr_mailbox_registration *found = NULL;
	struct mr_mailbox_registration row =
		sample(R2, B, MR_MAILBOX_INACTIVE, "2026-01-01T00:00:00Z");

	insert(&w, R1, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	row.replaced_by = R1;
	CHECK_OK(mr_mailbox_registration_insert(&w.cx, w.db, &row), w.cx.err);
	add_mail(&w);
	/* Others may have the keys off; it must not matter. */
	exec(&w, "PRAGMA foreign_keys = OFF");
	CHECK_OK(mr_mailbox_registration_delete(&w.cx, w.db, R1), w.cx.err);
	CHECK_OK(mr_mailbox_registration_by_id(&w.cx, w.db, R1, &found), w.cx.err);
	CHECK(!found);
	CHECK_OK(mr_mailbox_registration_by_id(&w.cx, w.db, R2, &found), w.cx.err);
	CHECK_STR(found->replaced_by, NULL);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_projections"), 1);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_state"), 1);
	CHECK_INT(number(&w, "SELECT count(*) FROM messages"), 1);
}

static void a_row_can_be_stripped(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();

	insert(&w, R1, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	insert(&w, R2, B, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	add_mail(&w);
	CHECK_OK(mr_mailbox_registration_detach(&w.cx, w.db, R1), w.cx.err);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_registrations"), 2);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_projections"), 1);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_state"), 1);
	/* Nothing hangs on it: nothing to do. */
	CHECK_OK(mr_mailbox_registration_detach(&w.cx, w.db, R1), w.cx.err);
}

static void projections_follow_their_directory(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();

	insert(&w, R1, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	insert(&w, R2, B, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");
	add_mail(&w);
	CHECK_OK(mr_mailbox_registration_move_projections(&w.cx, w.db, R1, "/r/mailboxes/a",
			 "/r/mailboxes/a--1"),
		w.cx.err);
	CHECK_INT(number(&w,
			  "SELECT count(*) FROM mailbox_projections WHERE registration_id = '" R1
			  "' AND projection_path = '/r/mailboxes/a--1/inbox/m.md'"),
		1);
	/* A neighbour whose name begins the same, and another's, stay. */
	CHECK_INT(number(&w,
			  "SELECT count(*) FROM mailbox_projections WHERE projection_path IN "
			  "('/r/mailboxes/ab/sent/m.md', '/r/mailboxes/a/inbox/m.md')"),
		2);
}

static void what_is_not_there_is_told(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	struct mr_mailbox_registration row =
		sample(R1, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");

	CHECK_ERR(mr_mailbox_registration_update(&w.cx, w.db, &row), w.cx.err, MR_ENOTFOUND,
		"no registration has the id " R1);
	CHECK_ERR(mr_mailbox_registration_delete(&w.cx, w.db, R1), w.cx.err, MR_ENOTFOUND,
		"no registration has the id " R1);
}

/* A table of another program, without the CHECKs of ours. */
static void unknown_words_are_refused(void)
{
	static const char *const words[][2] = { { "paused", "in_root" }, { "active", "remote" } };
	static const char *const texts[] = {
		"database index.sqlite: registration " R1 " has the status \"paused\", which "
		"nobody knows; run `mailroom mailbox repair`",
		"database index.sqlite: registration " R1 " has the mailbox kind \"remote\", which "
		"nobody knows; run `mailroom mailbox repair`",
	};
	struct world w MR_CLEANUP(world_close) = world_open();
	const struct mr_mailbox_registration *found = NULL;
	struct mr_mailbox_registrations list = { NULL, 7 };

	exec(&w, "PRAGMA foreign_keys = OFF");
	exec(&w, "DROP TABLE mailbox_registrations");
	exec(&w,
		"CREATE TABLE mailbox_registrations(registration_id, address, owner_principal_id, "
		"status, mailbox_kind, mailbox_path, mailbox_entry_path, display_name, "
		"manifest_path_hint, role, created_at_utc, deactivated_at_utc, "
		"replaced_by_registration_id)");
	for (size_t i = 0; i < MR_LEN(words); i++) {
		exec(&w, "DELETE FROM mailbox_registrations");
		exec(&w,
			mr_arena_printf(w.cx.arena,
				"INSERT INTO mailbox_registrations(registration_id, address, "
				"status, mailbox_kind) VALUES('" R1 "', 'a@b', '%s', '%s')",
				words[i][0], words[i][1]));
		CHECK_ERR(mr_mailbox_registration_by_id(&w.cx, w.db, R1, &found), w.cx.err,
			MR_EFORMAT, texts[i]);
		CHECK(!found);
		CHECK_INT(mr_mailbox_registration_list(&w.cx, w.db, NULL, &list), MR_EFORMAT);
		CHECK_INT(list.len, 7);
	}
}

static void failures_of_the_database_come_through(void)
{
	struct world w MR_CLEANUP(world_close) = world_open();
	const struct mr_mailbox_registration *found = NULL;
	struct mr_mailbox_registrations list;
	struct mr_mailbox_registration row =
		sample(R1, A, MR_MAILBOX_ACTIVE, "2026-01-01T00:00:00Z");

	exec(&w, "DROP TABLE mailbox_projections");
	CHECK_INT(mr_mailbox_registration_detach(&w.cx, w.db, R1), MR_EINTERNAL);
	CHECK_INT(mr_mailbox_registration_delete(&w.cx, w.db, R1), MR_EINTERNAL);
	CHECK_INT(mr_mailbox_registration_move_projections(&w.cx, w.db, R1, "/a", "/b"),
		MR_EINTERNAL);
	exec(&w, "PRAGMA foreign_keys = OFF");
	exec(&w, "DROP TABLE mailbox_registrations");
	CHECK_INT(mr_mailbox_registration_active(&w.cx, w.db, A, &found), MR_EINTERNAL);
	CHECK_INT(mr_mailbox_registration_list(&w.cx, w.db, A, &list), MR_EINTERNAL);
	CHECK_INT(mr_mailbox_registration_insert(&w.cx, w.db, &row), MR_EINTERNAL);
	CHECK_INT(mr_mailbox_registration_update(&w.cx, w.db, &row), MR_EINTERNAL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(every_column_comes_back),
		TEST(words_are_the_contracts),
		TEST(one_row_is_found),
		TEST(lists_are_ordered),
		TEST(an_address_is_active_once),
		TEST(deletion_takes_what_hangs_on_it),
		TEST(a_row_can_be_stripped),
		TEST(projections_follow_their_directory),
		TEST(what_is_not_there_is_told),
		TEST(unknown_words_are_refused),
		TEST(failures_of_the_database_come_through),
	};

	return test_main(tests, MR_LEN(tests));
}
