/* tests/unit/data/test_rows.c */
#include "data/db_driver.h"
#include "data/rows.h"
#include "test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct mr_ctx cx;
static struct mr_db *db;

static void begin(void)
{
	struct mr_db_options options = { .create = true };
	char path[256];

	snprintf(path, sizeof(path), "%s/db", test_dir());
	options.path = path;
	cx = (struct mr_ctx){ .arena = mr_arena_new() };
	CHECK_OK(mr_db_open(&options, &db, &cx.err), cx.err);
	CHECK_OK(mr_db_exec(db,
			 "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, size INTEGER, weight "
			 "REAL, data BLOB, up INTEGER REFERENCES t(id) DEFERRABLE INITIALLY "
			 "DEFERRED)",
			 &cx.err),
		cx.err);
}

/* No statement may be left in use, whatever happened. */
static void end(void)
{
	CHECK_INT(mr_db_statements_in_use(db), 0);
	mr_db_close(db);
	mr_arena_free(cx.arena);
}

static void add(int64_t id, const char *name, int64_t size)
{
	CHECK_OK(mr_rows_run(&cx, db, "INSERT INTO t (id, name, size) VALUES (?1, ?2, ?3)",
			 MR_BIND(id, name, size)),
		cx.err);
}

static int64_t number(const char *sql, const struct mr_bind *values)
{
	int64_t out = -1;

	CHECK_OK(mr_rows_one(&cx, db, sql, values, MR_INTO(&out), NULL), cx.err);
	return out;
}

static const char *text(const char *sql, const struct mr_bind *values)
{
	const char *out = "unset";

	CHECK_OK(mr_rows_one(&cx, db, sql, values, MR_INTO(&out), NULL), cx.err);
	return out;
}

enum colour { RED, GREEN, BLUE };

static void values_are_bound_by_their_type(void)
{
	static const char type_of[] = "SELECT typeof(?1)";
	enum colour colour = BLUE;
	char array[] = "in an array";
	const char *no_text = NULL;
	size_t size = 7;
	unsigned char flag = 3;

	begin();
	CHECK_INT(number("SELECT ?1", MR_BIND(INT64_MIN)), INT64_MIN);
	CHECK_INT(number("SELECT ?1", MR_BIND(INT64_MAX)), INT64_MAX);
	CHECK_INT(number("SELECT ?1", MR_BIND(-1)), -1);
	CHECK_INT(number("SELECT ?1", MR_BIND(UINT_MAX)), UINT_MAX);
	CHECK_INT(number("SELECT ?1", MR_BIND(1LL << 40)), 1LL << 40);
	CHECK_INT(number("SELECT ?1", MR_BIND(size)), 7);
	CHECK_INT(number("SELECT ?1", MR_BIND((bool)true)), 1);
	CHECK_INT(number("SELECT ?1", MR_BIND(colour)), BLUE);
	CHECK_INT(number("SELECT ?1", MR_BIND((int)flag)), 3);
	CHECK_INT(number("SELECT ?1", MR_BIND(mr_bind_or_null(5))), 5);
	CHECK_STR(text("SELECT ?1", MR_BIND("literal")), "literal");
	CHECK_STR(text("SELECT ?1", MR_BIND(array)), "in an array");
	CHECK_STR(text("SELECT ?1", MR_BIND("")), "");
	CHECK_STR(text(type_of, MR_BIND(0)), "integer");
	CHECK_STR(text(type_of, MR_BIND(0.5)), "real");
	CHECK_STR(text(type_of, MR_BIND("0")), "text");
	CHECK_STR(text(type_of, MR_BIND(mr_bytes_text("0"))), "blob");
	CHECK_STR(text(type_of, MR_BIND(mr_bytes_of(NULL, 0))), "null");
	CHECK_STR(text(type_of, MR_BIND(no_text)), "null");
	CHECK_STR(text(type_of, MR_BIND(NULL)), "null");
	CHECK_STR(text(type_of, MR_BIND(mr_bind_or_null(0))), "null");
	CHECK_STR(text(type_of, MR_BIND(mr_bind_ids(NULL))), "null");
	end();
}

/* What was bound to a cached statement is forgotten when it comes back. */
static void each_call_binds_anew(void)
{
	begin();
	CHECK_STR(text("SELECT ?1 || ?2", MR_BIND("a", "b")), "ab");
	CHECK(!text("SELECT ?1 || ?2", MR_BIND("a")));
	CHECK(!text("SELECT ?1 || ?2", NULL));
	end();
}

static void as_many_values_as_are_promised(void)
{
	int64_t v[MR_ROWS_ARGS];

	begin();
	CHECK_STR(text("SELECT ?1||?2||?3||?4||?5||?6||?7||?8||?9||?10||?11||?12||?13||?14||?15"
		       "||?16||?17||?18||?19||?20",
			  MR_BIND("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
				  "n", "o", "p", "q", "r", "s", "t")),
		"abcdefghijklmnopqrst");
	CHECK_OK(mr_rows_one(&cx, db, "SELECT 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19",
			 NULL,
			 MR_INTO(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8],
				 &v[9], &v[10], &v[11], &v[12], &v[13], &v[14], &v[15], &v[16],
				 &v[17], &v[18], &v[19]),
			 NULL),
		cx.err);
	for (int i = 0; i < MR_ROWS_ARGS; i++)
		CHECK_INT(v[i], i);
	end();
}

static void columns_go_where_they_are_sent(void)
{
	int64_t number_out = 1;
	size_t size = 1;
	bool yes = false, no = true, found = false;
	double real = 1;
	const char *string = NULL;
	struct mr_bytes bytes = { 0 };

	begin();
	CHECK_OK(mr_rows_one(&cx, db, "SELECT ?1, 3, 2, 0, 0.25, 'left out', 'text', x'0001'",
			 MR_BIND(INT64_MIN),
			 MR_INTO(&number_out, &size, &yes, &no, &real, NULL, &string, &bytes),
			 &found),
		cx.err);
	CHECK(found);
	CHECK_INT(number_out, INT64_MIN);
	CHECK_INT(size, 3);
	CHECK(yes && !no);
	CHECK(real > 0.2 && real < 0.3);
	CHECK_STR(string, "text");
	CHECK_INT(bytes.len, 2);
	CHECK(memcmp(bytes.data, "\0\1", 2) == 0);
	/* NULL is nothing of each. */
	CHECK_OK(mr_rows_one(&cx, db, "SELECT NULL, NULL, NULL, NULL, NULL, NULL", NULL,
			 MR_INTO(&number_out, &size, &yes, &real, &string, &bytes), &found),
		cx.err);
	CHECK(found && number_out == 0 && size == 0 && !yes && !string && !bytes.data);
	CHECK(!(real > 0));
	end();
}

static void no_row_reads_as_null(void)
{
	int64_t number_out = 1;
	size_t size = 1;
	bool yes = true, found = true;
	double real = 1;
	const char *string = "something";
	struct mr_bytes bytes = mr_bytes_text("something");

	begin();
	CHECK_OK(mr_rows_one(&cx, db, "SELECT 1, 1, 1, 1, 1, 1, 1 WHERE ?1", MR_BIND(0),
			 MR_INTO(&number_out, &size, &yes, &real, NULL, &string, &bytes), &found),
		cx.err);
	CHECK(!found && number_out == 0 && size == 0 && !yes && !string && !bytes.data);
	CHECK(!(real > 0));
	CHECK_OK(mr_rows_exist(&cx, db, "SELECT 1 WHERE ?1", MR_BIND(1), &found), cx.err);
	CHECK(found);
	CHECK_OK(mr_rows_exist(&cx, db, "SELECT 1 WHERE ?1", MR_BIND(0), &found), cx.err);
	CHECK(!found);
	end();
}

static void a_failure_writes_nothing(void)
{
	int64_t out = 5;
	bool found = true;

	begin();
	CHECK_INT(mr_rows_one(&cx, db, "SELECT none FROM nowhere", NULL, MR_INTO(&out), &found),
		MR_EINTERNAL);
	CHECK(strstr(cx.err.msg, "nowhere"));
	CHECK_INT(mr_rows_one(&cx, db, "SELECT abs(?1)", MR_BIND(INT64_MIN), MR_INTO(&out), &found),
		MR_EINTERNAL);
	CHECK(out == 5 && found);
	CHECK_INT(mr_rows_run(&cx, db, "SELECT ?1", MR_BIND(1, 2)), MR_EINTERNAL);
	CHECK(strstr(cx.err.msg, "?2"));
	add(1, "a", 1);
	CHECK_INT(mr_rows_run(&cx, db, "INSERT INTO t (id) VALUES (?1)", MR_BIND(1)), MR_EEXISTS);
	end();
}

static void returning_gives_the_row_and_ends_the_statement(void)
{
	static const char insert[] = "INSERT INTO t (name, up) VALUES (?1, ?2) ON CONFLICT DO "
				     "NOTHING RETURNING id, name";
	const char *name = NULL;
	int64_t id = 0;
	bool found = false;

	begin();
	CHECK_OK(mr_rows_returning(&cx, db, insert, MR_BIND("a", mr_bind_or_null(0)),
			 MR_INTO(&id, &name), &found),
		cx.err);
	CHECK(found && id == 1);
	CHECK_STR(name, "a");
	CHECK(!mr_db_in_transaction(db));
	/* A deferred foreign key is looked at when the statement ends, after the row was given. */
	CHECK_INT(mr_rows_returning(&cx, db, insert, MR_BIND("b", 99), MR_INTO(&id, NULL), &found),
		MR_ECONFLICT);
	CHECK_INT(number("SELECT count(*) FROM t", NULL), 1);
	CHECK_OK(mr_rows_returning(&cx, db, "DELETE FROM t WHERE id = ?1 RETURNING id", MR_BIND(7),
			 MR_INTO(&id), &found),
		cx.err);
	CHECK(!found && id == 0);
	CHECK_OK(mr_rows_returning(&cx, db, "DELETE FROM t RETURNING id", NULL, NULL, NULL),
		cx.err);
	CHECK_INT(number("SELECT count(*) FROM t", NULL), 0);
	end();
}

struct item {
	int64_t id;
	const char *name;
	bool seen; /* must be false in a new item */
};

struct items {
	struct item *items;
	size_t len;
	int64_t next; /* lists may have more members */
};

static enum mr_code read_item(struct mr_ctx *ctx, struct mr_stmt *row, void *to)
{
	struct item *item = to;

	CHECK(!item->seen);
	mr_stmt_into(row, 0, ctx->arena, MR_INTO(&item->id, &item->name));
	item->seen = true;
	return item->id == 666 ? mr_err_set(&ctx->err, MR_EFORMAT, "an item is damaged") : MR_OK;
}

static const char LIST[] = "SELECT id, name FROM t WHERE size = ?1 ORDER BY id LIMIT ?2";

static void a_list_grows(void)
{
	struct items list = { 0 };

	begin();
	for (int i = 1; i <= 300; i++)
		add(i, mr_arena_printf(cx.arena, "row %d", i), i % 2);
	CHECK_OK(mr_rows_list(&cx, db, LIST, MR_BIND(1, 1000), read_item, MR_LIST(&list)), cx.err);
	CHECK_INT(list.len, 150);
	for (size_t i = 0; i < list.len; i++)
		CHECK_INT(list.items[i].id, 2 * (int64_t)i + 1);
	CHECK_STR(list.items[149].name, "row 299");
	CHECK_OK(mr_rows_list(&cx, db, LIST, MR_BIND(0, 2), read_item, MR_LIST(&list)), cx.err);
	CHECK_INT(list.len, 2);
	CHECK_STR(list.items[1].name, "row 4");
	CHECK_OK(mr_rows_list(&cx, db, LIST, MR_BIND(5, 2), read_item, MR_LIST(&list)), cx.err);
	CHECK_INT(list.len, 0);
	end();
}

/* Whatever lengths meet: the room behind a list is told by its length. */
static void rows_are_appended(void)
{
	begin();
	for (int i = 0; i < 80; i++)
		add(i + 1, "row", 0);
	for (int64_t first = 0; first <= 40; first++) {
		struct items list = { 0 };

		CHECK_OK(mr_rows_append(&cx, db, LIST, MR_BIND(0, first), read_item,
				 MR_LIST(&list)),
			cx.err);
		CHECK_OK(mr_rows_append(&cx, db, LIST, MR_BIND(0, 37), read_item, MR_LIST(&list)),
			cx.err);
		CHECK_OK(mr_rows_append(&cx, db, LIST, MR_BIND(9, 37), read_item, MR_LIST(&list)),
			cx.err);
		CHECK_INT(list.len, first + 37);
		for (int64_t i = 0; i < first + 37; i++)
			CHECK_INT(list.items[i].id, (i < first ? i : i - first) + 1);
	}
	end();
}

static void a_reader_that_fails_ends_the_list(void)
{
	struct item kept = { .id = 3 };
	struct items list = { &kept, 1, 0 };

	begin();
	add(1, "a", 0);
	add(666, "b", 0);
	add(667, "c", 0);
	CHECK_INT(mr_rows_list(&cx, db, LIST, MR_BIND(0, 9), read_item, MR_LIST(&list)),
		MR_EFORMAT);
	CHECK_STR(cx.err.msg, "an item is damaged");
	CHECK(list.items == &kept && list.len == 1);
	end();
}

static enum mr_code read_nothing(struct mr_ctx *ctx, struct mr_stmt *row, void *to)
{
	(void)ctx, (void)row, (void)to;
	return MR_OK;
}

static void a_list_has_a_limit(void)
{
	struct {
		struct {
			char bytes[MR_ROWS_LIST_BYTES / 16 + 1];
		} * items;
		size_t len;
	} list = { NULL, 0 };

	begin();
	CHECK_OK(mr_rows_list(&cx, db, "SELECT 1 WHERE 0", NULL, read_nothing, MR_LIST(&list)),
		cx.err);
	CHECK_INT(mr_rows_list(&cx, db, "SELECT 1", NULL, read_nothing, MR_LIST(&list)), MR_ELIMIT);
	CHECK(strstr(cx.err.msg, "takes more than 536870912 bytes"));
	end();
}

static enum mr_code sum(struct mr_ctx *ctx, struct mr_stmt *row, void *to)
{
	(void)ctx;
	*(int64_t *)to += mr_stmt_int(row, 0);
	return *(int64_t *)to > 100 ? mr_err_set(&ctx->err, MR_ELIMIT, "too much") : MR_OK;
}

static void rows_are_visited(void)
{
	struct item item = { 0 };
	int64_t total = 0;
	bool found = true;

	begin();
	for (int i = 1; i <= 10; i++)
		add(i, "row", 0);
	CHECK_OK(mr_rows_each(&cx, db, "SELECT id FROM t", NULL, sum, &total), cx.err);
	CHECK_INT(total, 55);
	CHECK_INT(mr_rows_each(&cx, db, "SELECT id FROM t", NULL, sum, &total), MR_ELIMIT);
	CHECK_OK(mr_rows_first(&cx, db, "SELECT id, name FROM t WHERE id > ?1 ORDER BY id",
			 MR_BIND(4), read_item, &item, &found),
		cx.err);
	CHECK(found && item.id == 5 && item.seen);
	CHECK_OK(mr_rows_first(&cx, db, "SELECT id, name FROM t WHERE id > ?1", MR_BIND(40),
			 read_item, &item, &found),
		cx.err);
	CHECK(!found && item.id == 5);
	end();
}

static void lists_of_a_single_column(void)
{
	struct {
		int64_t *items;
		size_t len;
	} ids;
	struct mr_texts names;

	begin();
	add(7, "x", 0);
	add(8, "y", 0);
	CHECK_OK(mr_rows_list(&cx, db, "SELECT id FROM t ORDER BY id", NULL, mr_row_int,
			 MR_LIST(&ids)),
		cx.err);
	CHECK(ids.len == 2 && ids.items[0] == 7 && ids.items[1] == 8);
	CHECK_OK(mr_rows_list(&cx, db, "SELECT name FROM t ORDER BY id", NULL, mr_row_text,
			 MR_LIST(&names)),
		cx.err);
	CHECK_INT(names.len, 2);
	CHECK_STR(names.items[1], "y");
	end();
}

static void a_set_is_one_parameter(void)
{
	static const char in[] = "SELECT count(*) FROM t WHERE id IN ids(?1)";
	static const char twice[] = "SELECT count(*) FROM t WHERE size = ?2 AND (id IN ids(?1) OR"
				    " up IN ids(?3)) AND name NOT IN ('ids(')";

	begin();
	for (int i = 1; i <= 10; i++)
		add(i, "row", 0);
	CHECK_INT(number(in, MR_BIND(mr_bind_ids("[2,4,40]"))), 2);
	CHECK_INT(number(in, MR_BIND(mr_bind_ids("[]"))), 0);
	CHECK_INT(number(in, MR_BIND(mr_bind_ids(NULL))), 0);
	CHECK_INT(number("SELECT count(*) FROM t WHERE id NOT IN ids(?1)",
			  MR_BIND(mr_bind_ids("[9223372036854775807,1]"))),
		9);
	CHECK_INT(number(twice, MR_BIND(mr_bind_ids("[2,4]"), 0, mr_bind_ids("[1]"))), 2);
	end();
}

/* Where an engine says something else, the driver says it. */
static void case_is_folded(void)
{
	static const char both[] =
		"SELECT count(*) FROM t WHERE name ILIKE ?1 AND id IN ids(?2) AND name ILIKE ?3";

	begin();
	add(1, "Alpha", 0);
	add(2, "ALPINE", 0);
	add(3, "beta", 0);
	CHECK_INT(number("SELECT count(*) FROM t WHERE name ILIKE ?1", MR_BIND("alp%")), 2);
	CHECK_INT(number("SELECT count(*) FROM t WHERE name NOT ILIKE ?1", MR_BIND("alp%")), 1);
	CHECK_INT(number(both, MR_BIND("al%", mr_bind_ids("[2,3]"), "%E")), 1);
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(values_are_bound_by_their_type),
		TEST(each_call_binds_anew),
		TEST(as_many_values_as_are_promised),
		TEST(columns_go_where_they_are_sent),
		TEST(no_row_reads_as_null),
		TEST(a_failure_writes_nothing),
		TEST(returning_gives_the_row_and_ends_the_statement),
		TEST(a_list_grows),
		TEST(rows_are_appended),
		TEST(a_reader_that_fails_ends_the_list),
		TEST(a_list_has_a_limit),
		TEST(rows_are_visited),
		TEST(lists_of_a_single_column),
		TEST(a_set_is_one_parameter),
		TEST(case_is_folded),
	};
	return test_main(tests, MR_LEN(tests));
}
