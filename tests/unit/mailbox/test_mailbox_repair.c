#include "base/fs.h"
#include "database.h"
#include "files.h"
#include "mailbox/deliver.h"
#include "mailbox/document.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/repair.h"
#include "mailbox/repair_sql.h"
#include "mailbox/state.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW_US (INT64_C(1773202500) * 1000000)
#define STAMP  "20260311T041500Z"
#define ALICE  "alice@houmao.localhost"
#define BOB    "bob@houmao.localhost"
#define CAROL  "carol@houmao.localhost"

static const struct mr_value no_headers = { .kind = MR_MAP };

/* A root with alice, bob and carol; everything lives until the test's process ends. */
struct house {
	struct mr_ctx cx;
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	const char *path;
	struct mr_mailbox_root root;
	struct mr_mailbox_repair_result repaired;
	struct mr_mailbox_check_result checked;
};

static void join(struct house *house, const char *address, enum mr_mailbox_register_mode mode,
	const char *owner, const char *private)
{
	struct mr_mailbox_register_request request = { .mode = mode,
		.address = address,
		.owner = owner,
		.kind = private ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT,
		.path = private };
	struct mr_mailbox_register_result result;

	CHECK_OK(mr_mailbox_register(&house->cx, &house->root, &request, &result), house->cx.err);
}

static void build(struct house *house)
{
	files_enter();
	*house = (struct house){ .cx = { .arena = mr_arena_new() }, .root = MR_MAILBOX_ROOT_INIT };
	mr_clock_fixed_init(&house->clock, NOW_US);
	mr_rand_seeded_init(&house->rand, 1);
	house->cx.clock = &house->clock.clock;
	house->cx.rand = &house->rand;
	house->path = "house";
	CHECK_OK(mr_mailbox_root_init(&house->cx, house->path, &house->root), house->cx.err);
	join(house, ALICE, MR_MAILBOX_SAFE, "HOUMAO-alice", NULL);
	join(house, BOB, MR_MAILBOX_SAFE, "HOUMAO-bob", NULL);
	join(house, CAROL, MR_MAILBOX_SAFE, "HOUMAO-carol", NULL);
}

static void leave(struct house *house)
{
	mr_mailbox_root_close(&house->root);
	mr_arena_free(house->cx.arena);
}

static struct mr_mailbox_principal who(struct house *house, const char *address)
{
	return (struct mr_mailbox_principal){
		.principal_id = mr_arena_printf(house->cx.arena, "HOUMAO-%.*s",
			(int)strcspn(address, "@"), address),
		.address = address,
	};
}

static struct mr_mailbox_message compose(struct house *house, int number, const char *from,
	const char *to, const char *cc)
{
	struct mr_mailbox_principal *people = mr_arena_array(house->cx.arena, 2, sizeof(*people));
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id =
			mr_arena_printf(house->cx.arena, "msg-20260311T041500Z-%032x", number),
		.created_at_utc = "2026-03-11T04:15:00Z",
		.sender = who(house, from),
		.to = { &people[0], 1 },
		.cc = { &people[1], cc ? 1 : 0 },
		.subject = "Hello",
		.headers = &no_headers,
		.body = mr_bytes_text("body\n"),
	};

	message.thread_id = message.message_id;
	people[0] = who(house, to);
	if (cc)
		people[1] = who(house, cc);
	return message;
}

static const char *send_mail(struct house *house, int number, const char *from, const char *to,
	const char *cc)
{
	struct mr_mailbox_message message = compose(house, number, from, to, cc);
	struct mr_mailbox_deliver_result result;

	CHECK_OK(mr_mailbox_deliver_message(&house->cx, &house->root, &message, &result),
		house->cx.err);
	return message.message_id;
}

/* A document as if it had been delivered, and nothing else. */
static const char *write_document(struct house *house, const struct mr_mailbox_message *message,
	const char *path)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	CHECK_OK(mr_mailbox_document_write(&buf, message, &house->cx.err), house->cx.err);
	CHECK_OK(mr_fs_make_dirs(house->root.dir, "messages/2026-03-11", 0700, &house->cx.err),
		house->cx.err);
	CHECK_OK(mr_fs_write(house->root.dir, path, mr_buf_bytes(&buf), MR_FS_NEW, 0600,
			 &house->cx.err),
		house->cx.err);
	return path;
}

static const char *document_of(struct house *house, const char *id)
{
	return mr_mailbox_layout_message(house->cx.arena, "2026-03-11", id);
}

static void mark(struct house *house, const char *address, const char *id,
	const struct mr_mailbox_flags *flags)
{
	struct mr_mailbox_state_result result;

	CHECK_OK(mr_mailbox_state_update(&house->cx, &house->root, address, id, flags, &result),
		house->cx.err);
}

static void repair(struct house *house)
{
	struct mr_mailbox_repair_options options = { .keep_staging = false };

	CHECK_OK(mr_mailbox_repair(&house->cx, house->path, &options, &house->repaired),
		house->cx.err);
}

static void check(struct house *house)
{
	CHECK_OK(mr_mailbox_check(&house->cx, house->path, &house->checked), house->cx.err);
}

static void show(const struct mr_mailbox_problem *problems, size_t count)
{
	for (size_t i = 0; i < count && i < 20; i++)
		printf("# %s: %s: %s\n", problems[i].what, problems[i].path, problems[i].detail);
}

/* Nothing is wrong. */
static void check_well(struct house *house)
{
	check(house);
	show(house->checked.problems, house->checked.problem_count);
	CHECK_INT(house->checked.problem_count, 0);
}

static const struct mr_mailbox_problem *find_problem(const struct mr_mailbox_problem *problems,
	size_t count, const char *what)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(problems[i].what, what) == 0)
			return &problems[i];
	}
	return NULL;
}

static size_t count_problems(const struct mr_mailbox_problem *problems, size_t count,
	const char *what)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += strcmp(problems[i].what, what) == 0;
	return found;
}

/* Check finds exactly one problem, or `times` of this one kind. */
static void check_finds(struct house *house, const char *what, size_t times)
{
	check(house);
	if (count_problems(house->checked.problems, house->checked.problem_count, what) != times)
		show(house->checked.problems, house->checked.problem_count);
	CHECK_INT(count_problems(house->checked.problems, house->checked.problem_count, what),
		times);
}

static const struct mr_mailbox_problem *repair_finds(struct house *house, const char *what)
{
	const struct mr_mailbox_problem *found =
		find_problem(house->repaired.problems, house->repaired.problem_count, what);

	if (!found) {
		show(house->repaired.problems, house->repaired.problem_count);
		test_fail(__FILE__, __LINE__, "repair did not report %s", what);
	}
	return found;
}

static struct mr_db *open_db(struct house *house, const char *path)
{
	return database_open(&house->cx,
		&(struct mr_db_options){ .path = path, .journal = MR_DB_JOURNAL_DELETE });
}

static const char *local_of(struct house *house, const char *address)
{
	return mr_arena_printf(house->cx.arena, "%s/mailboxes/%s/mailbox.sqlite", house->path,
		address);
}

static const char *index_of(struct house *house)
{
	return mr_arena_printf(house->cx.arena, "%s/index.sqlite", house->path);
}

static void exec(struct house *house, const char *path, const char *sql)
{
	struct mr_db *db = open_db(house, path);

	database_exec(&house->cx, db, sql);
	database_closep(&db);
}

/* The texts of a query, a line each. */
static void add_rows(struct house *house, struct mr_db *db, const char *sql, struct mr_buf *out)
{
	const char *lines = database_list(&house->cx, db, sql, "\n");

	if (lines)
		mr_buf_printf(out, "%s\n", lines);
}

static const char *query(struct house *house, const char *path, const char *sql)
{
	struct mr_db *db = open_db(house, path);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *result;

	mr_buf_init(&buf, 1 << 20);
	add_rows(house, db, sql, &buf);
	database_closep(&db);
	result = mr_arena_strdup(house->cx.arena, mr_buf_text(&buf));
	return result;
}

static const char *const index_queries[] = {
	"SELECT quote(registration_id) || quote(address) || quote(owner_principal_id) ||"
	" quote(status) || quote(mailbox_kind) || quote(mailbox_path) ||"
	" quote(mailbox_entry_path) || quote(display_name) || quote(role) ||"
	" quote(created_at_utc) || quote(deactivated_at_utc) ||"
	" quote(replaced_by_registration_id) FROM mailbox_registrations ORDER BY 1",
	"SELECT quote(message_id) || quote(thread_id) || quote(in_reply_to) ||"
	" quote(created_at_utc) || quote(canonical_path) || quote(subject) ||"
	" quote(body_markdown) || quote(headers_json) || quote(sender_principal_id) ||"
	" quote(sender_address) || quote(sender_registration_id) FROM messages ORDER BY rowid",
	"SELECT quote(message_id) || quote(recipient_kind) || quote(ordinal) || quote(address) ||"
	" quote(owner_principal_id) || quote(delivered_registration_id)"
	" FROM message_recipients ORDER BY 1",
	"SELECT quote(message_id) || quote(attachment_id) || quote(ordinal)"
	" FROM message_attachments ORDER BY 1",
	"SELECT quote(attachment_id) || quote(kind) || quote(locator) FROM attachments ORDER BY 1",
	"SELECT quote(registration_id) || quote(message_id) || quote(folder_name) ||"
	" quote(projection_path) FROM mailbox_projections ORDER BY 1",
	"SELECT quote(thread_id) || quote(normalized_subject) || quote(latest_message_id) ||"
	" quote(latest_message_created_at_utc) || quote(unread_count) FROM thread_summaries"
	" ORDER BY 1",
};
static const char *const local_queries[] = {
	"SELECT quote(message_id) || quote(thread_id) || quote(created_at_utc) || quote(subject) ||"
	" is_read || is_answered || is_starred || is_archived || is_deleted || quote(box_name)"
	" FROM message_state ORDER BY 1",
	"SELECT quote(thread_id) || quote(normalized_subject) || quote(latest_message_id) ||"
	" quote(unread_count) FROM thread_summaries ORDER BY 1",
};

struct picture {
	struct house *house;
	struct mr_buf *out;
};

static enum mr_fs_next add_entry(void *arg, const struct mr_fs_entry *entry)
{
	struct picture *picture = arg;
	char target[4096];
	ssize_t len;

	if (strstr(entry->path, ".sqlite"))
		return MR_FS_GO_ON;
	len = readlinkat(entry->dir, entry->name, target, sizeof(target) - 1);
	target[len < 0 ? 0 : len] = '\0';
	mr_buf_printf(picture->out, "%s %s\n", entry->path, target);
	return MR_FS_GO_ON;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Everything that can be seen of a root: rows, links and files, as one text. */
static const char *picture_of(struct house *house)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf files MR_CLEANUP(mr_buf_release) = { 0 };
	struct picture picture = { house, &files };
	struct mr_texts names = { NULL, 0 };
	struct mr_texts lines;
	struct mr_db *db = open_db(house, index_of(house));

	mr_buf_init(&buf, 1 << 20);
	mr_buf_init(&files, 1 << 20);
	for (size_t i = 0; i < MR_LEN(index_queries); i++)
		add_rows(house, db, index_queries[i], &buf);
	database_closep(&db);
	CHECK_OK(mr_fs_list(house->cx.arena, house->root.dir, "mailboxes", 1000, &names,
			 &house->cx.err),
		house->cx.err);
	for (size_t i = 0; i < names.len; i++) {
		if (names.items[i][0] == '.' || access(local_of(house, names.items[i]), F_OK) != 0)
			continue;
		mr_buf_printf(&buf, "%s\n", names.items[i]);
		db = open_db(house, local_of(house, names.items[i]));
		for (size_t j = 0; j < MR_LEN(local_queries); j++)
			add_rows(house, db, local_queries[j], &buf);
		database_closep(&db);
	}
	CHECK_OK(mr_fs_walk(house->root.dir, "mailboxes", 8, add_entry, &picture, &house->cx.err),
		house->cx.err);
	CHECK_OK(mr_fs_walk(house->root.dir, "messages", 8, add_entry, &picture, &house->cx.err),
		house->cx.err);
	CHECK_OK(mr_fs_walk(house->root.dir, "staging", 8, add_entry, &picture, &house->cx.err),
		house->cx.err);
	lines = mr_str_split(house->cx.arena, mr_buf_text(&files), '\n');
	qsort(lines.items, lines.len, sizeof(*lines.items), by_text);
	mr_buf_puts(&buf, mr_str_join(house->cx.arena, &lines, "\n"));
	return mr_arena_strdup(house->cx.arena, mr_buf_text(&buf));
}

/* Move a message of a mailbox to another box, as the gateway does. */
static void move_mail(struct house *house, const char *address, const char *id, const char *box)
{
	struct mr_arena *arena = house->cx.arena;
	const char *dir = mr_arena_printf(arena, "%s/mailboxes/%s", house->path, address);
	const char *to = mr_arena_printf(arena, "%s/%s/%s.md", dir, box, id);

	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, mr_arena_printf(arena, "%s/%s", dir, box), 0700,
			 &house->cx.err),
		house->cx.err);
	CHECK(symlink(mr_arena_printf(arena, "%s/%s", house->root.path, document_of(house, id)),
		      to) == 0);
	CHECK(unlink(mr_arena_printf(arena, "%s/inbox/%s.md", dir, id)) == 0);
	exec(house, index_of(house),
		mr_arena_printf(arena,
			"UPDATE mailbox_projections SET folder_name = '%s',"
			" projection_path = '%s/mailboxes/%s/%s/%s.md' WHERE message_id = '%s'"
			" AND folder_name = 'inbox' AND registration_id ="
			" (SELECT registration_id FROM mailbox_registrations WHERE address = '%s'"
			" AND status = 'active')",
			box, house->root.path, address, box, id, id, address));
	exec(house, local_of(house, address),
		mr_arena_printf(arena,
			"UPDATE message_state SET box_name = '%s', is_read = 1, is_archived = %d"
			" WHERE message_id = '%s';"
			"UPDATE thread_summaries SET unread_count = 0 WHERE thread_id = '%s'",
			box, strcmp(box, "archive") == 0, id, id));
}

static bool links_to(struct house *house, const char *address, const char *box, const char *id)
{
	const char *path = mr_arena_printf(house->cx.arena, "%s/mailboxes/%s/%s/%s.md", house->path,
		address, box, id);
	char target[4096];
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len < 0)
		return false;
	target[len] = '\0';
	return strcmp(target,
		       mr_arena_printf(house->cx.arena, "%s/%s", house->root.path,
			       document_of(house, id))) == 0;
}

static const struct mr_mailbox_flags answered_starred = { -1, 1, 1, -1, -1 };
static const struct mr_mailbox_flags deleted = { -1, -1, -1, -1, 1 };

/* A root in which everything has happened that leaves traces. */
static void live(struct house *house)
{
	struct mr_mailbox_unregister_result gone;
	const char *id;

	mkdir("private", 0700);
	join(house, "dora@houmao.localhost", MR_MAILBOX_SAFE, "HOUMAO-dora",
		mr_arena_printf(house->cx.arena, "%s/private", test_dir()));
	/* Ids run against the order of arrival. */
	mark(house, BOB, send_mail(house, 9, ALICE, BOB, CAROL), &answered_starred);
	move_mail(house, BOB, send_mail(house, 8, CAROL, BOB, NULL), "archive");
	move_mail(house, CAROL, send_mail(house, 7, BOB, CAROL, NULL), "Über uns");
	mark(house, ALICE, send_mail(house, 6, ALICE, ALICE, NULL), &deleted);
	send_mail(house, 5, ALICE, "dora@houmao.localhost", "dora@houmao.localhost");
	join(house, BOB, MR_MAILBOX_FORCE, "HOUMAO-robert", NULL);
	join(house, CAROL, MR_MAILBOX_STASH, "HOUMAO-caroline", NULL);
	join(house, "erin@houmao.localhost", MR_MAILBOX_SAFE, "HOUMAO-erin", NULL);
	send_mail(house, 4, ALICE, "erin@houmao.localhost", NULL);
	CHECK_OK(mr_mailbox_unregister(&house->cx, &house->root, MR_MAILBOX_DEACTIVATE,
			 "erin@houmao.localhost", &gone),
		house->cx.err);
	join(house, "fred@houmao.localhost", MR_MAILBOX_SAFE, "HOUMAO-fred", NULL);
	id = send_mail(house, 3, ALICE, "fred@houmao.localhost", NULL);
	CHECK_OK(mr_mailbox_unregister(&house->cx, &house->root, MR_MAILBOX_PURGE,
			 "fred@houmao.localhost", &gone),
		house->cx.err);
	join(house, "fred@houmao.localhost", MR_MAILBOX_SAFE, "HOUMAO-fred", NULL);
	CHECK(!links_to(house, "fred@houmao.localhost", "inbox", id));
}

static void healthy_stays_as_it_is(void)
{
	struct house house;
	const char *before;

	build(&house);
	live(&house);
	check_well(&house);
	CHECK_INT(house.checked.message_count, 7);
	before = picture_of(&house);
	repair(&house);
	show(house.repaired.problems, house.repaired.problem_count);
	CHECK_INT(house.repaired.problem_count, 0);
	CHECK_INT(house.repaired.message_count, 7);
	CHECK_INT(house.repaired.defaulted_state_count, 0);
	CHECK_INT(house.repaired.staging_paths.len, 0);
	CHECK_STR(house.repaired.staging_action, "quarantine");
	CHECK_STR(house.repaired.backed_up_index_path, NULL);
	CHECK_STR(picture_of(&house), before);
	check_well(&house);
	leave(&house);
}

/* An empty root, and one that is not there. */
static void empty_and_none(void)
{
	struct mr_mailbox_repair_options options = { .keep_staging = false };
	struct house house;

	build(&house);
	repair(&house);
	CHECK_INT(house.repaired.message_count, 0);
	CHECK_INT(house.repaired.registration_count, 4);
	check_well(&house);
	CHECK_INT(mr_mailbox_repair(&house.cx, "nowhere", &options, &house.repaired), MR_ENOTFOUND);
	CHECK_INT(mr_mailbox_check(&house.cx, "nowhere", &house.checked), MR_ENOTFOUND);
	leave(&house);
}

/* The index is gone: owners, links, boxes and flags come from what is left. */
static void index_is_gone(void)
{
	struct house house;
	const char *one, *two;

	build(&house);
	one = send_mail(&house, 1, ALICE, BOB, CAROL);
	two = send_mail(&house, 2, CAROL, BOB, NULL);
	mark(&house, BOB, one, &answered_starred);
	move_mail(&house, BOB, two, "archive");
	files_put("house/staging/orphan.md", "x");
	unlink("house/index.sqlite");
	unlink(mr_arena_printf(house.cx.arena, "house/mailboxes/" CAROL "/inbox/%s.md", one));
	check_finds(&house, "missing_index", 1);
	CHECK(find_problem(house.checked.problems, house.checked.problem_count, "missing_link"));
	CHECK(access("house/index.sqlite", F_OK) != 0);
	repair(&house);
	repair_finds(&house, "missing_index");
	repair_finds(&house, "missing_link");
	CHECK_INT(house.repaired.registration_count, 4);
	CHECK_INT(house.repaired.message_count, 2);
	CHECK_INT(house.repaired.projection_count, 5);
	CHECK_INT(house.repaired.restored_state_count, 5);
	CHECK_INT(house.repaired.defaulted_state_count, 0);
	CHECK_INT(house.repaired.staging_paths.len, 1);
	CHECK(mr_str_ends(house.repaired.staging_paths.items[0],
		"/staging/quarantine/" STAMP "/orphan.md"));
	files_hold("house/staging/quarantine/" STAMP "/orphan.md", "x");
	CHECK(links_to(&house, CAROL, "inbox", one));
	CHECK(links_to(&house, BOB, "archive", two));
	CHECK(!links_to(&house, BOB, "inbox", two));
	CHECK_STR(query(&house, local_of(&house, BOB),
			  "SELECT box_name || is_read || is_answered || is_starred || is_archived"
			  " FROM message_state ORDER BY message_id"),
		"inbox0110\narchive1001\n");
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT owner_principal_id || ' ' || coalesce(role, '')"
			  " FROM mailbox_registrations ORDER BY address"),
		"HOUMAO-operator system_operator\nHOUMAO-alice \nHOUMAO-bob \nHOUMAO-carol \n");
	check_well(&house);
	leave(&house);
}

/* Owners that nobody wrote down: the newest linked message knows, then any, then the name. */
static void owners_are_guessed(void)
{
	struct house house;
	struct mr_mailbox_message message;

	build(&house);
	send_mail(&house, 1, ALICE, BOB, NULL);
	join(&house, BOB, MR_MAILBOX_FORCE, "HOUMAO-robert", NULL);
	message = compose(&house, 2, ALICE, BOB, NULL);
	message.to.items[0].principal_id = "HOUMAO-robert";
	{
		struct mr_mailbox_deliver_result result;

		CHECK_OK(mr_mailbox_deliver_message(&house.cx, &house.root, &message, &result),
			house.cx.err);
	}
	unlink("house/index.sqlite");
	mkdir("house/mailboxes/gina@x", 0700);
	mkdir("house/mailboxes/hal@x", 0700);
	message = compose(&house, 3, ALICE, "hal@x", NULL);
	write_document(&house, &message, document_of(&house, message.message_id));
	repair(&house);
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT owner_principal_id FROM mailbox_registrations ORDER BY address"),
		"HOUMAO-operator\nHOUMAO-alice\nHOUMAO-robert\ncarol\ngina\nHOUMAO-hal\n");
	CHECK(links_to(&house, "hal@x", "inbox", message.message_id));
	CHECK(!links_to(&house, BOB, "inbox",
		"msg-20260311T041500Z-00000000000000000000000000000001"));
	check_well(&house);
	leave(&house);
}

static void index_is_unreadable(void)
{
	static const char *const contents[] = { "this is no database, but long enough to be one",
		"SQLite format 3" };
	struct house house;

	for (size_t i = 0; i < MR_LEN(contents); i++) {
		const char *id;

		build(&house);
		id = send_mail(&house, 1, ALICE, BOB, NULL);
		mark(&house, BOB, id, &answered_starred);
		unlink("house/index.sqlite");
		files_put("house/index.sqlite", contents[i]);
		/* It must not be played into the new one. */
		files_put("house/index.sqlite-journal", "left over");
		check_finds(&house, "unreadable_index", 1);
		files_hold("house/index.sqlite", contents[i]);
		repair(&house);
		repair_finds(&house, "unreadable_index");
		CHECK(mr_str_ends(house.repaired.backed_up_index_path,
			"/house/index.sqlite.unusable-" STAMP ".bak"));
		files_hold("house/index.sqlite.unusable-" STAMP ".bak", contents[i]);
		CHECK(access("house/index.sqlite-journal", F_OK) != 0);
		CHECK(access("house/index.sqlite.new", F_OK) != 0);
		CHECK_STR(query(&house, local_of(&house, BOB),
				  "SELECT is_answered || is_starred FROM message_state"),
			"11\n");
		check_well(&house);
		leave(&house);
		CHECK(system("rm -r house") == 0);
	}
}

/* Tables that are not what they should be; the registrations can still be read. */
static void index_has_wrong_tables(void)
{
	struct house house;
	const char *before;

	build(&house);
	send_mail(&house, 1, ALICE, BOB, NULL);
	before = query(&house, index_of(&house), index_queries[0]);
	exec(&house, index_of(&house),
		"PRAGMA foreign_keys = OFF; DROP TABLE message_recipients;"
		"CREATE TABLE message_recipients(x)");
	check_finds(&house, "unreadable_index", 1);
	repair(&house);
	CHECK(house.repaired.backed_up_index_path != NULL);
	CHECK_STR(query(&house, index_of(&house), "SELECT count(*) FROM mailbox_registrations"),
		"4\n");
	CHECK(before != NULL);
	check_well(&house);
	leave(&house);
}

static void local_database_is_unreadable(void)
{
	struct house house;
	const char *id;

	build(&house);
	id = send_mail(&house, 1, ALICE, BOB, NULL);
	move_mail(&house, BOB, id, "archive");
	unlink(local_of(&house, BOB));
	files_put(local_of(&house, BOB), "this is no database, but long enough to be one");
	check_finds(&house, "unreadable_local_database", 1);
	repair(&house);
	repair_finds(&house, "unreadable_local_database");
	CHECK_INT(house.repaired.defaulted_state_count, 1);
	files_hold("house/mailboxes/" BOB "/mailbox.sqlite.local-unusable-" STAMP ".bak",
		"this is no database, but long enough to be one");
	CHECK_STR(query(&house, local_of(&house, BOB),
			  "SELECT box_name || is_read || is_archived FROM message_state"),
		"archive11\n");
	check_well(&house);

	unlink(local_of(&house, ALICE));
	check_finds(&house, "missing_local_database", 1);
	repair(&house);
	repair_finds(&house, "missing_local_database");
	CHECK_STR(query(&house, local_of(&house, ALICE),
			  "SELECT box_name || is_read FROM message_state"),
		"sent1\n");
	check_well(&house);
	leave(&house);
}

/* Some pages are bad: the rows that can be read keep their flags. */
static void local_database_is_damaged(void)
{
	struct house house;
	const char *id = NULL;
	struct stat st;
	FILE *file;

	build(&house);
	for (int i = 1; i <= 60; i++) {
		id = send_mail(&house, i, ALICE, BOB, NULL);
		if (i == 1)
			mark(&house, BOB, id, &answered_starred);
	}
	CHECK(stat(local_of(&house, BOB), &st) == 0);
	file = fopen(local_of(&house, BOB), "r+");
	/* The last page: of one of the indexes, or of the table's end. */
	fseek(file, st.st_size - 4096, SEEK_SET);
	for (int i = 0; i < 4096; i++)
		fputc(0xa5, file);
	fclose(file);
	check_finds(&house, "unreadable_local_database", 1);
	repair(&house);
	repair_finds(&house, "unreadable_local_database");
	CHECK_STR(query(&house, local_of(&house, BOB), "SELECT count(*) FROM message_state"),
		"60\n");
	CHECK_STR(query(&house, local_of(&house, BOB),
			  "SELECT message_id FROM message_state WHERE is_starred"),
		"msg-20260311T041500Z-00000000000000000000000000000001\n");
	check_well(&house);
	leave(&house);
}

static void root_was_moved(void)
{
	struct house house;
	const char *one, *before;

	build(&house);
	live(&house);
	one = "msg-20260311T041500Z-00000000000000000000000000000009";
	before = query(&house, index_of(&house),
		"SELECT registration_id || address || status || owner_principal_id ||"
		" coalesce(replaced_by_registration_id, '') FROM mailbox_registrations ORDER BY 1");
	mr_mailbox_root_close(&house.root);
	CHECK(rename("house", "elsewhere") == 0);
	house.path = "elsewhere";
	CHECK_OK(mr_mailbox_root_open(&house.cx, "elsewhere", MR_MAILBOX_ROOT_READ, &house.root),
		house.cx.err);
	check_finds(&house, "moved_root", 1);
	CHECK(find_problem(house.checked.problems, house.checked.problem_count, "broken_link"));
	CHECK_INT(count_problems(house.checked.problems, house.checked.problem_count,
			  "wrong_index_row"),
		0);
	repair(&house);
	repair_finds(&house, "moved_root");
	repair_finds(&house, "broken_link");
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT registration_id || address || status || owner_principal_id ||"
			  " coalesce(replaced_by_registration_id, '') FROM mailbox_registrations"
			  " ORDER BY 1"),
		before);
	CHECK(links_to(&house, ALICE, "sent", one));
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT count(*) FROM mailbox_projections"
			  " WHERE projection_path LIKE '%/house/%'"),
		"0\n");
	check_well(&house);
	leave(&house);
}

/* One row and one file after the other goes missing, is wrong, or is too much. */
static void differences(void)
{
	static const struct {
		const char *sql;
		bool local; /* bob's, else the index's */
		const char *what;
	} cases[] = {
		{ "DELETE FROM messages WHERE message_id LIKE '%1'", false, "missing_index_row" },
		{ "DELETE FROM mailbox_projections WHERE message_id LIKE '%1'"
		  " AND folder_name = 'inbox'",
			false, "missing_index_row" },
		{ "UPDATE messages SET subject = 'x'", false, "wrong_index_row" },
		{ "UPDATE messages SET thread_id = 'x'", false, "wrong_index_row" },
		{ "UPDATE messages SET in_reply_to = 'x'", false, "wrong_index_row" },
		{ "UPDATE messages SET created_at_utc = 'x'", false, "wrong_index_row" },
		{ "UPDATE messages SET canonical_path = '/x'", false, "wrong_index_row" },
		{ "UPDATE messages SET body_markdown = 'x'", false, "wrong_index_row" },
		{ "UPDATE messages SET headers_json = '{\"a\": 1}'", false, "wrong_index_row" },
		{ "UPDATE messages SET sender_role = 'x'", false, "wrong_index_row" },
		{ "UPDATE message_recipients SET address = 'x@y'", false, "wrong_index_row" },
		{ "DELETE FROM message_recipients", false, "wrong_index_row" },
		{ "UPDATE mailbox_projections SET projection_path = '/x'", false,
			"wrong_index_row" },
		{ "UPDATE mailbox_projections SET folder_name = 'archive'"
		  " WHERE folder_name = 'inbox'",
			false, "wrong_index_row" },
		{ "INSERT INTO messages VALUES('msg-20260101T000000Z-"
		  "00000000000000000000000000000099', 't', NULL, 'c', 'p', 's', 'text', '{}', 'o',"
		  " 'a', NULL, NULL, NULL, NULL)",
			false, "extra_index_row" },
		{ "UPDATE thread_summaries SET normalized_subject = 'x'", false,
			"wrong_thread_summary" },
		{ "DELETE FROM thread_summaries", false, "wrong_thread_summary" },
		{ "INSERT INTO thread_summaries VALUES('t', 's', 'm', 'c', 0)", false,
			"wrong_thread_summary" },
		{ "DELETE FROM mailbox_registrations WHERE address LIKE 'carol%'", false,
			"missing_registration" },
		{ "UPDATE mailbox_registrations SET mailbox_path = '/x'", false,
			"wrong_registration" },
		{ "UPDATE mailbox_registrations SET mailbox_kind = 'symlink'", false,
			"wrong_registration" },
		{ "UPDATE mailbox_registrations SET status = 'stashed' WHERE address LIKE 'carol%'",
			false, "wrong_registration" },
		{ "DELETE FROM message_state", true, "missing_local_row" },
		{ "UPDATE message_state SET subject = 'x'", true, "wrong_local_row" },
		{ "UPDATE message_state SET thread_id = 'x'", true, "wrong_local_row" },
		{ "UPDATE thread_summaries SET unread_count = 7", true, "wrong_thread_summary" },
		{ "DELETE FROM thread_summaries", true, "wrong_thread_summary" },
		{ "INSERT INTO thread_summaries VALUES('t', 's', 'm', 'c', 0)", true,
			"wrong_thread_summary" },
	};
	struct house house;
	const char *healthy;

	build(&house);
	send_mail(&house, 1, ALICE, BOB, NULL);
	send_mail(&house, 2, ALICE, CAROL, NULL);
	healthy = query(&house, index_of(&house), index_queries[5]);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		printf("# %s\n", cases[i].sql);
		exec(&house, cases[i].local ? local_of(&house, BOB) : index_of(&house),
			cases[i].sql);
		check(&house);
		if (!find_problem(house.checked.problems, house.checked.problem_count,
			    cases[i].what)) {
			show(house.checked.problems, house.checked.problem_count);
			test_fail(__FILE__, __LINE__, "check did not find %s", cases[i].what);
		}
		repair(&house);
		repair_finds(&house, cases[i].what);
		check_well(&house);
		if (!strstr(cases[i].sql, "carol"))
			CHECK_STR(query(&house, index_of(&house), index_queries[5]), healthy);
		else
			healthy = query(&house, index_of(&house), index_queries[5]);
		CHECK_STR(query(&house, index_of(&house), "SELECT count(*) FROM messages"), "2\n");
	}
	/* The text that stood only in the index is kept. */
	files_hold("house/staging/quarantine/" STAMP "/index/"
		   "msg-20260101T000000Z-00000000000000000000000000000099.md",
		"text");
	leave(&house);
}

static void links(void)
{
	struct house house;
	const char *one, *path;
	struct stat st;

	build(&house);
	one = send_mail(&house, 1, ALICE, BOB, NULL);
	path = mr_arena_printf(house.cx.arena, "house/mailboxes/" BOB "/inbox/%s.md", one);

	unlink(path);
	check_finds(&house, "missing_link", 1);
	repair(&house);
	repair_finds(&house, "missing_link");
	check_well(&house);

	unlink(path);
	CHECK(symlink("/nowhere", path) == 0);
	check_finds(&house, "broken_link", 1);
	repair(&house);
	repair_finds(&house, "broken_link");
	CHECK(links_to(&house, BOB, "inbox", one));
	check_well(&house);

	/* A file in the place of a link is somebody's: it is kept. */
	unlink(path);
	files_put(path, "mine");
	check_finds(&house, "foreign_link", 1);
	repair(&house);
	repair_finds(&house, "foreign_link");
	CHECK(links_to(&house, BOB, "inbox", one));
	files_hold(mr_arena_printf(house.cx.arena,
			   "house/staging/quarantine/" STAMP "/mailboxes/" BOB "/inbox/%s.md", one),
		"mine");
	check_well(&house);

	/* A link in a second box, where neither the index nor the owner has it. */
	CHECK(symlink(mr_arena_printf(house.cx.arena, "%s/%s", house.root.path,
			      document_of(&house, one)),
		      mr_arena_printf(house.cx.arena, "house/mailboxes/" BOB "/archive/%s.md",
			      one)) == 0);
	check_finds(&house, "extra_link", 1);
	repair(&house);
	repair_finds(&house, "extra_link");
	CHECK(links_to(&house, BOB, "inbox", one));
	CHECK(!links_to(&house, BOB, "archive", one));
	check_well(&house);

	/* A link to a message that is gone goes; one that leads somewhere stays and is told. */
	path = "house/mailboxes/" BOB "/inbox/msg-20260311T041500Z-000000000000000000000000000000ff"
	       ".md";
	CHECK(symlink("/nowhere", path) == 0);
	check_finds(&house, "broken_link", 1);
	repair(&house);
	repair_finds(&house, "broken_link");
	CHECK(lstat(path, &st) != 0);
	check_well(&house);
	CHECK(symlink("/etc/hostname", path) == 0);
	check_finds(&house, "foreign_link", 1);
	repair(&house);
	repair_finds(&house, "foreign_link");
	CHECK(lstat(path, &st) == 0);
	unlink(path);
	/* Drafts are files, whatever their names. */
	files_put("house/mailboxes/" BOB
		  "/drafts/msg-20260311T041500Z-000000000000000000000000000000ff.md",
		"draft");
	check_well(&house);

	CHECK(rmdir("house/mailboxes/" CAROL "/archive") == 0);
	check_finds(&house, "missing_directory", 1);
	repair(&house);
	repair_finds(&house, "missing_directory");
	check_well(&house);
	leave(&house);
}

/* What an account cleared stays away, though its document is still there for others. */
static void cleared_mail_stays_away(void)
{
	struct house house;
	const char *one;

	build(&house);
	one = send_mail(&house, 1, ALICE, BOB, NULL);
	exec(&house, index_of(&house),
		"DELETE FROM mailbox_projections WHERE folder_name = 'inbox'");
	exec(&house, local_of(&house, BOB),
		"DELETE FROM message_state; DELETE FROM thread_summaries");
	unlink(mr_arena_printf(house.cx.arena, "house/mailboxes/" BOB "/inbox/%s.md", one));
	check_well(&house);
	repair(&house);
	CHECK_INT(house.repaired.problem_count, 0);
	CHECK(!links_to(&house, BOB, "inbox", one));
	leave(&house);
}

/* A document whose delivery was interrupted by somebody without intents. */
static void document_without_rows(void)
{
	struct house house;
	struct mr_mailbox_message message;

	build(&house);
	message = compose(&house, 1, ALICE, BOB, BOB);
	message.cc.items[0].display_name = "Bob";
	write_document(&house, &message, document_of(&house, message.message_id));
	check_finds(&house, "missing_index_row", 1);
	check_finds(&house, "missing_link", 2);
	repair(&house);
	CHECK_INT(house.repaired.projection_count, 2);
	CHECK_INT(house.repaired.defaulted_state_count, 2);
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT recipient_kind || ordinal || (delivered_registration_id IS NOT"
			  " NULL) FROM message_recipients ORDER BY ordinal"),
		"to01\ncc11\n");
	CHECK_STR(query(&house, local_of(&house, BOB),
			  "SELECT box_name || is_read FROM message_state"),
		"inbox0\n");
	check_well(&house);
	leave(&house);
}

static void bad_documents(void)
{
	struct house house;
	struct mr_mailbox_message message;
	const char *good,
		*bad = "messages/2026-03-11/"
		       "msg-20260311T041500Z-000000000000000000000000000000aa.md";
	const struct mr_mailbox_problem *problem;

	build(&house);
	good = send_mail(&house, 1, ALICE, BOB, NULL);
	files_put(mr_arena_printf(house.cx.arena, "house/%s", bad), "not a message");
	files_put("house/messages/2026-03-11/notes.txt", "notes");
	files_put("house/messages/2026-03-11/empty.md", "");
	CHECK(symlink("/etc/passwd", "house/messages/2026-03-11/link.md") == 0);
	check_finds(&house, "unreadable_document", 3);
	CHECK_INT(house.checked.problem_count, 3);
	CHECK_INT(house.checked.warning_count, 1);
	CHECK_STR(house.checked.warnings[0].what, "stray_entry");
	CHECK_STR(house.checked.warnings[0].detail, "is no message; left alone");
	repair(&house);
	CHECK_INT(count_problems(house.repaired.problems, house.repaired.problem_count,
			  "unreadable_document"),
		3);
	problem = repair_finds(&house, "unreadable_document");
	CHECK(mr_str_starts(problem->path, house.root.path));
	CHECK(strstr(problem->detail, "staging/quarantine/" STAMP "/messages/2026-03-11/") != NULL);
	files_hold(mr_arena_printf(house.cx.arena, "house/staging/quarantine/" STAMP "/%s", bad),
		"not a message");
	files_hold("house/messages/2026-03-11/notes.txt", "notes");
	CHECK(links_to(&house, BOB, "inbox", good));
	unlink("house/messages/2026-03-11/notes.txt");
	check_well(&house);

	/* In the wrong day, under a wrong name, and twice. */
	message = compose(&house, 2, ALICE, BOB, NULL);
	CHECK(mkdir("house/messages/2025-01-01", 0700) == 0);
	write_document(&house, &message, "messages/2025-01-01/wrong.md");
	write_document(&house, &message, "messages/copy.md");
	check_finds(&house, "misplaced_document", 1);
	check_finds(&house, "duplicate_document", 1);
	repair(&house);
	repair_finds(&house, "misplaced_document");
	repair_finds(&house, "duplicate_document");
	CHECK(links_to(&house, BOB, "inbox", message.message_id));
	CHECK(access(mr_arena_printf(house.cx.arena, "house/%s",
			     document_of(&house, message.message_id)),
		      F_OK) == 0);
	check_well(&house);

	/* The same id, another day: the first stays. */
	message.created_at_utc = "2026-03-12T00:00:00Z";
	CHECK(mkdir("house/messages/2026-03-12", 0700) == 0);
	write_document(&house, &message,
		mr_mailbox_layout_message(house.cx.arena, "2026-03-12", message.message_id));
	check_finds(&house, "duplicate_document", 1);
	repair(&house);
	repair_finds(&house, "duplicate_document");
	check_well(&house);
	leave(&house);
}

/* A document that was known and cannot be read any more: its flags wait, its text is kept. */
static void document_is_lost(void)
{
	struct house house;
	const char *one;

	build(&house);
	one = send_mail(&house, 1, ALICE, BOB, NULL);
	mark(&house, BOB, one, &answered_starred);
	files_put(mr_arena_printf(house.cx.arena, "house/%s", document_of(&house, one)), "");
	check_finds(&house, "extra_index_row", 1);
	check_finds(&house, "state_without_message", 2);
	repair(&house);
	repair_finds(&house, "extra_index_row");
	CHECK(!links_to(&house, BOB, "inbox", one));
	CHECK_STR(query(&house, local_of(&house, BOB), "SELECT is_starred FROM message_state"),
		"1\n");
	/* A person puts it back from where the report says it is. */
	CHECK(rename(mr_arena_printf(house.cx.arena,
			     "house/staging/quarantine/" STAMP "/index/%s.md", one),
		      mr_arena_printf(house.cx.arena, "house/%s", document_of(&house, one))) == 0);
	repair(&house);
	CHECK(links_to(&house, BOB, "inbox", one));
	CHECK_STR(query(&house, local_of(&house, BOB),
			  "SELECT is_starred || is_answered FROM message_state"),
		"11\n");
	check_well(&house);
	leave(&house);
}

/* A header that is a date, a reply, and attachments of which two clash. */
static void odd_messages(void)
{
	struct house house;
	struct mr_mailbox_message message;
	struct mr_mailbox_attachment attachments[] = {
		{ "att-1", MR_MAILBOX_PATH_REF, "/a", "text/plain", NULL, 3, "a" },
		{ "att-1", MR_MAILBOX_PATH_REF, "/b", "text/plain", NULL, -1, NULL },
	};
	const char *one, *document;

	build(&house);
	one = send_mail(&house, 1, ALICE, BOB, NULL);
	message = compose(&house, 2, ALICE, BOB, NULL);
	message.attachments.items = &attachments[0];
	message.attachments.len = 1;
	write_document(&house, &message, document_of(&house, message.message_id));
	message = compose(&house, 3, ALICE, BOB, NULL);
	message.attachments.items = &attachments[1];
	message.attachments.len = 1;
	write_document(&house, &message, document_of(&house, message.message_id));
	message = compose(&house, 4, BOB, ALICE, NULL);
	document = mr_arena_printf(house.cx.arena,
		"---\nmessage_id: %s\nthread_id: %s\nin_reply_to: %s\nreferences: [%s]\n"
		"created_at_utc: 2026-03-11T04:15:00Z\nfrom: {principal_id: HOUMAO-bob, address: "
		"" BOB "}\nto: [{principal_id: HOUMAO-alice, address: " ALICE "}]\nsubject: Re\n"
		"headers:\n  due: 2026-03-12\n---\n\nbody\r\n",
		message.message_id, one, one, one);
	files_put(mr_arena_printf(house.cx.arena, "house/%s",
			  document_of(&house, message.message_id)),
		document);
	repair(&house);
	repair_finds(&house, "conflicting_attachment");
	CHECK_INT(house.repaired.message_count, 4);
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT headers_json FROM messages WHERE in_reply_to IS NOT NULL"),
		"{\"due\": \"2026-03-12\"}\n");
	CHECK_STR(query(&house, index_of(&house), "SELECT count(*) FROM message_attachments"),
		"1\n");
	/* The clash stays, since documents do not change; nothing else. */
	check(&house);
	CHECK_INT(house.checked.problem_count, 1);
	leave(&house);
}

static void mailboxes(void)
{
	struct house house;
	const char *one;

	build(&house);
	mkdir("private", 0700);
	join(&house, "dora@x", MR_MAILBOX_SAFE, "HOUMAO-dora",
		mr_arena_printf(house.cx.arena, "%s/private", test_dir()));
	one = send_mail(&house, 1, ALICE, "dora@x", NULL);

	files_put("house/mailboxes/.DS_Store", "x");
	files_put("house/mailboxes/not an address", "x");
	files_put("house/mailboxes/file@x", "x");
	/* Only the one that takes an address's place is wrong. */
	check_finds(&house, "stray_entry", 1);
	CHECK_INT(house.checked.problem_count, 1);
	CHECK_INT(house.checked.warning_count, 2);
	CHECK_STR(house.checked.warnings[0].detail, "is no address; left alone");
	repair(&house);
	CHECK_STR(repair_finds(&house, "stray_entry")->detail,
		"is neither a directory nor a link; left alone");
	CHECK_INT(house.repaired.warning_count, 2);
	CHECK_STR(house.repaired.warnings[0].path,
		mr_arena_printf(house.cx.arena, "%s/mailboxes/.DS_Store", house.root.path));
	unlink("house/mailboxes/.DS_Store");
	unlink("house/mailboxes/not an address");
	unlink("house/mailboxes/file@x");
	check_well(&house);

	/* The disk with the private mailbox is away, and comes back. */
	CHECK(rename("private", "away") == 0);
	check_finds(&house, "broken_mailbox", 1);
	repair(&house);
	repair_finds(&house, "broken_mailbox");
	CHECK(rename("away", "private") == 0);
	check_well(&house);
	CHECK(links_to(&house, "dora@x", "inbox", one));

	/* A link that loops, and one that leads back into the root. */
	CHECK(symlink("loop@x", "house/mailboxes/loop@x") == 0);
	CHECK(symlink(mr_arena_printf(house.cx.arena, "%s/messages", house.root.path),
		      "house/mailboxes/back@x") == 0);
	check_finds(&house, "broken_mailbox", 2);
	repair(&house);
	CHECK(access("house/messages/inbox", F_OK) != 0);
	unlink("house/mailboxes/loop@x");
	unlink("house/mailboxes/back@x");

	/* Nothing is left of an active mailbox: it is inactive then, and stays so. */
	check_finds(&house, "missing_mailbox", 2);
	CHECK(system("rm -r house/mailboxes/" CAROL) == 0);
	repair(&house);
	repair_finds(&house, "missing_mailbox");
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT status || (deactivated_at_utc IS NOT NULL)"
			  " FROM mailbox_registrations WHERE address LIKE 'carol%'"),
		"inactive1\n");
	check_well(&house);

	/* A mailbox that moved to another disk and was linked. */
	CHECK(rename("house/mailboxes/" BOB, "bob") == 0);
	CHECK(symlink(mr_arena_printf(house.cx.arena, "%s/bob", test_dir()),
		      "house/mailboxes/" BOB) == 0);
	check_finds(&house, "wrong_registration", 1);
	repair(&house);
	check_well(&house);
	CHECK_STR(query(&house, index_of(&house),
			  "SELECT mailbox_kind || status || owner_principal_id"
			  " FROM mailbox_registrations WHERE address LIKE 'bob%'"),
		"symlinkactiveHOUMAO-bob\n");
	leave(&house);
}

static void staging(void)
{
	struct mr_mailbox_repair_options keep = { .keep_staging = true };
	struct mr_mailbox_repair_options remove = { .remove_staging = true };
	struct house house;

	build(&house);
	files_put("house/staging/a.md", "1");
	CHECK_OK(mr_mailbox_repair(&house.cx, house.path, &keep, &house.repaired), house.cx.err);
	CHECK_INT(house.repaired.staging_paths.len, 0);
	CHECK_STR(house.repaired.staging_action, "quarantine");
	files_hold("house/staging/a.md", "1");

	repair(&house);
	CHECK_INT(house.repaired.staging_paths.len, 1);
	files_put("house/staging/a.md", "2");
	files_put("house/staging/.hidden", "3");
	mkdir("house/staging/dir", 0700);
	files_put("house/staging/dir/file", "4");
	repair(&house);
	CHECK_INT(house.repaired.staging_paths.len, 3);
	files_hold("house/staging/quarantine/" STAMP "/a.md", "1");
	files_hold("house/staging/quarantine/" STAMP "/a-1.md", "2");
	files_hold("house/staging/quarantine/" STAMP "/.hidden", "3");
	files_hold("house/staging/quarantine/" STAMP "/dir/file", "4");
	files_put("house/staging/a.md", "5");
	files_put("house/staging/.hidden", "6");
	repair(&house);
	files_hold("house/staging/quarantine/" STAMP "/a-2.md", "5");
	files_hold("house/staging/quarantine/" STAMP "/.hidden-1", "6");

	mkdir("house/staging/dir", 0700);
	files_put("house/staging/dir/file", "7");
	CHECK_OK(mr_mailbox_repair(&house.cx, house.path, &remove, &house.repaired), house.cx.err);
	CHECK_INT(house.repaired.staging_paths.len, 1);
	CHECK_STR(house.repaired.staging_action, "remove");
	CHECK(mr_str_ends(house.repaired.staging_paths.items[0], "/house/staging/dir"));
	CHECK(access("house/staging/dir", F_OK) != 0);
	files_hold("house/staging/quarantine/" STAMP "/a.md", "1");
	check_well(&house);
	leave(&house);
}

static void leftovers(void)
{
	const struct timespec before_boot[2] = { { .tv_sec = 1000000000 },
		{ .tv_sec = 1000000000 } };
	struct house house;

	build(&house);
	files_put("house/locks/index.lock", "pid=999999999 acquired_at_utc=x\n");
	files_put("house/locks/addresses/nobody@x.lock", "pid=999999999 acquired_at_utc=x\n");
	files_put("house/locks/addresses/" BOB ".lock",
		mr_arena_printf(house.cx.arena, "pid=%d acquired_at_utc=x\n", (int)getpid()));
	check_finds(&house, "stale_lock", 2);
	unlink("house/locks/addresses/" BOB ".lock");
	repair(&house);
	repair_finds(&house, "stale_lock");
	CHECK(access("house/locks/index.lock", F_OK) != 0);
	CHECK(access("house/locks/addresses/nobody@x.lock", F_OK) != 0);
	check_well(&house);

	/* Nobody who lives today made these, although one names a process that runs. */
	files_put("house/locks/index.lock", "pid=1 acquired_at_utc=x\n");
	files_put("house/locks/addresses/" BOB ".lock", "");
	check_well(&house);
	CHECK(utimensat(AT_FDCWD, "house/locks/index.lock", before_boot, 0) == 0);
	CHECK(utimensat(AT_FDCWD, "house/locks/addresses/" BOB ".lock", before_boot, 0) == 0);
	check_finds(&house, "stale_lock", 2);
	CHECK_STR(house.checked.problems[0].detail, "is from before the machine was last started");
	repair(&house);
	check_well(&house);

	files_put("house/staging/.intents/msg-20260311T041500Z-00000000000000000000000000000001"
		  ".json",
		"nonsense");
	check_finds(&house, "leftover_intent", 1);
	repair(&house);
	repair_finds(&house, "leftover_intent");
	check_well(&house);

	/* A half-built index of a repair that died. */
	files_put("house/index.sqlite.new", "half");
	files_put("house/index.sqlite.new-journal", "half");
	repair(&house);
	CHECK(access("house/index.sqlite.new", F_OK) != 0);
	CHECK(access("house/index.sqlite.new-journal", F_OK) != 0);

	CHECK(system("rm -r house/attachments") == 0);
	check_finds(&house, "missing_directory", 2);
	repair(&house);
	repair_finds(&house, "missing_directory");
	check_well(&house);

	unlink("house/protocol-version.txt");
	repair(&house);
	repair_finds(&house, "missing_version");
	leave(&house);
}

/* Check writes nothing: it runs where nothing may be written. */
static void check_reads_only(void)
{
	struct house house;

	build(&house);
	send_mail(&house, 1, ALICE, BOB, NULL);
	CHECK(chmod(test_dir(), 0755) == 0);
	CHECK(system("chmod -R a-w,a+rX house") == 0);
	if (files_become_nobody()) {
		check_well(&house);
		files_become_root();
	}
	CHECK(system("chmod -R u+w house") == 0);
	leave(&house);
}

/* Two of three say where it is: what repair must make of every combination, and of its own half. */
static void boxes(void)
{
	static const struct {
		const char *local, *recorded, *links; /* "-" is none */
		const char *wanted;                   /* links, then the box */
	} cases[] = {
		{ "inbox", "inbox", "inbox", "inbox inbox" },
		{ "archive", "archive", "archive", "archive archive" },
		{ "archive", "inbox", "inbox", "archive archive" },
		{ "archive", "-", "-", "archive archive" },
		{ "inbox", "inbox", "archive", "inbox inbox" },
		{ "inbox", "archive", "archive", "inbox inbox" },
		{ "inbox", "inbox archive", "inbox archive", "archive inbox inbox" },
		{ "-", "archive", "archive", "archive archive" },
		{ "-", "archive", "-", "archive archive" },
		{ "-", "inbox", "archive", "inbox inbox" },
		{ "-", "-", "archive", "archive archive" },
		{ "-", "-", "inbox", "inbox inbox" },
		{ "-", "-", "work archive", "archive archive" },
		{ "-", "-", "work play", "play play" },
		{ "-", "-", "-", "" },
		{ "../x", "-", "inbox", "inbox ../x" },
		{ "work", "work", "-", "work work" },
	};
	struct house house;
	const char *one;

	build(&house);
	one = send_mail(&house, 1, ALICE, BOB, NULL);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_texts folders;

		printf("# %s, %s, %s\n", cases[i].local, cases[i].recorded, cases[i].links);
		exec(&house, index_of(&house),
			"DELETE FROM mailbox_projections WHERE registration_id IN"
			" (SELECT registration_id FROM mailbox_registrations WHERE address LIKE"
			" 'bob%')");
		exec(&house, local_of(&house, BOB), "DELETE FROM message_state");
		CHECK(system("rm -f house/mailboxes/" BOB "/*/*.md") == 0);
		if (cases[i].local[0] != '-')
			exec(&house, local_of(&house, BOB),
				mr_arena_printf(house.cx.arena,
					"INSERT INTO message_state VALUES('%s', '%s',"
					" '2026-03-11T04:15:00Z', 'Hello', 0, 0, 1, 0, 0, '%s')",
					one, one, cases[i].local));
		folders = mr_str_split(house.cx.arena, cases[i].recorded, ' ');
		for (size_t j = 0; j < folders.len && folders.items[0][0] != '-'; j++)
			exec(&house, index_of(&house),
				mr_arena_printf(house.cx.arena,
					"INSERT INTO mailbox_projections SELECT registration_id,"
					" '%s', '%s', '/x' FROM mailbox_registrations"
					" WHERE address LIKE 'bob%%'",
					one, folders.items[j]));
		folders = mr_str_split(house.cx.arena, cases[i].links, ' ');
		for (size_t j = 0; j < folders.len && folders.items[0][0] != '-'; j++) {
			const char *box = mr_arena_printf(house.cx.arena,
				"house/mailboxes/" BOB "/%s", folders.items[j]);

			mkdir(box, 0700);
			CHECK(symlink("/old/place",
				      mr_arena_printf(house.cx.arena, "%s/%s.md", box, one)) == 0);
		}
		repair(&house);
		CHECK_STR(mr_str_trim(house.cx.arena,
				  mr_arena_printf(house.cx.arena, "%s%s%s%s%s%s%s",
					  links_to(&house, BOB, "archive", one) ? "archive " : "",
					  links_to(&house, BOB, "inbox", one) ? "inbox " : "",
					  links_to(&house, BOB, "play", one) ? "play " : "",
					  links_to(&house, BOB, "sent", one) ? "sent " : "",
					  links_to(&house, BOB, "work", one) ? "work " : "",
					  query(&house, local_of(&house, BOB),
						  "SELECT box_name FROM message_state"),
					  "")),
			cases[i].wanted);
		if (cases[i].local[0] != '-')
			CHECK_STR(query(&house, local_of(&house, BOB),
					  "SELECT is_starred FROM message_state"),
				"1\n");
		check_well(&house);
		/* Only the links were done when it stopped: the old rows come to the same end. */
		repair(&house);
		CHECK_INT(house.repaired.problem_count, 0);
	}
	leave(&house);
}

static void more_problems_than_are_listed(void)
{
	struct house house;

	build(&house);
	for (int i = 0; i < MR_MAILBOX_PROBLEMS + 5; i++)
		files_put(mr_arena_printf(house.cx.arena, "house/mailboxes/stray %d", i), "");
	for (int i = 0; i < MR_MAILBOX_PROBLEMS + 7; i++)
		files_put(mr_arena_printf(house.cx.arena, "house/mailboxes/stray%d@x", i), "");
	check(&house);
	CHECK_INT(house.checked.problem_count, MR_MAILBOX_PROBLEMS + 7);
	CHECK_STR(house.checked.problems[MR_MAILBOX_PROBLEMS - 1].what, "stray_entry");
	CHECK_INT(house.checked.warning_count, MR_MAILBOX_PROBLEMS + 5);
	CHECK_STR(house.checked.warnings[MR_MAILBOX_PROBLEMS - 1].what, "stray_entry");
	leave(&house);
}

static void saw_progress(void *arg, const char *what, size_t done, size_t total)
{
	size_t *seen = arg;

	if (strcmp(what, "messages") == 0 && done == total)
		*seen = done;
}

static void progress(void)
{
	struct house house;
	size_t seen = 0;

	build(&house);
	send_mail(&house, 1, ALICE, BOB, NULL);
	send_mail(&house, 2, ALICE, BOB, NULL);
	house.cx.progress = saw_progress;
	house.cx.progress_arg = &seen;
	repair(&house);
	CHECK_INT(seen, 2);
	seen = 0;
	check(&house);
	CHECK_INT(seen, 2);
	leave(&house);
}

static void leaves_no_descriptor_open(void)
{
	struct house house;
	size_t before;

	build(&house);
	live(&house);
	before = files_open();
	check(&house);
	repair(&house);
	CHECK_INT(files_open(), before);
	leave(&house);
}

static void somebody_holds_a_lock(void)
{
	struct mr_mailbox_repair_options options = { .keep_staging = false };
	struct house house;

	build(&house);
	files_put("house/locks/addresses/" BOB ".lock",
		mr_arena_printf(house.cx.arena, "pid=%d acquired_at_utc=x\n", (int)getppid()));
	CHECK_INT(mr_mailbox_repair(&house.cx, house.path, &options, &house.repaired), MR_EBUSY);
	CHECK(strstr(house.cx.err.msg, "timed out acquiring lock") != NULL);
	leave(&house);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(healthy_stays_as_it_is),
		TEST(empty_and_none),
		TEST(index_is_gone),
		TEST(owners_are_guessed),
		TEST(index_is_unreadable),
		TEST(index_has_wrong_tables),
		TEST(local_database_is_unreadable),
		TEST(local_database_is_damaged),
		TEST(root_was_moved),
		TEST(differences),
		TEST(links),
		TEST(cleared_mail_stays_away),
		TEST(document_without_rows),
		TEST(bad_documents),
		TEST(document_is_lost),
		TEST(odd_messages),
		TEST(mailboxes),
		TEST(staging),
		TEST(leftovers),
		TEST(check_reads_only),
		TEST(boxes),
		TEST(more_problems_than_are_listed),
		TEST(progress),
		TEST(leaves_no_descriptor_open),
		TEST(somebody_holds_a_lock),
	};

	return test_main(tests, MR_LEN(tests));
}
