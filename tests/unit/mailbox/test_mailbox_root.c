/* tests/unit/mailbox/test_mailbox_root.c */
#include "base/fs.h"
#include "database.h"
#include "files.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/root.h"
#include "mailbox/state_sql.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPERATOR "mailboxes/" MR_MAILBOX_OPERATOR_ADDRESS

struct place {
	struct mr_ctx cx;
	struct mr_mailbox_root root;
	const char *path; /* of "root", absolute */
};

static void place_close(struct place *place)
{
	mr_mailbox_root_close(&place->root);
	mr_arena_free(place->cx.arena);
}

static struct place enter(void)
{
	struct place place = {
		.cx = { .arena = mr_arena_new(),
			.clock = mr_clock_system(),
			.rand = mr_rand_system() },
		.root = MR_MAILBOX_ROOT_INIT,
	};
	char *here;

	files_enter();
	here = realpath(".", NULL);
	place.path = mr_arena_printf(place.cx.arena, "%s/root", here);
	free(here);
	return place;
}

static enum mr_code init(struct place *place)
{
	mr_mailbox_root_close(&place->root);
	return mr_mailbox_root_init(&place->cx, "root", &place->root);
}

static struct place enter_made(void)
{
	struct place place = enter();

	CHECK_OK(init(&place), place.cx.err);
	return place;
}

static enum mr_code open_for(struct place *place, enum mr_mailbox_root_for purpose)
{
	mr_mailbox_root_close(&place->root);
	return mr_mailbox_root_open(&place->cx, "root", purpose, &place->root);
}

/* A message as the index shows it, with "ROOT" in place of where the root is. */
static const char *message(struct place *place)
{
	const char *found = strstr(place->cx.err.msg, place->path);
	size_t at = found ? (size_t)(found - place->cx.err.msg) : 0;

	if (!found)
		return place->cx.err.msg;
	return mr_arena_printf(place->cx.arena, "%.*sROOT%s", (int)at, place->cx.err.msg,
		found + strlen(place->path));
}

static void run_sql(const char *path, const char *sql)
{
	struct mr_ctx cx = { 0 };
	struct mr_db *db MR_CLEANUP(database_closep) = database_open(&cx,
		&(struct mr_db_options){ .path = path,
			.create = true,
			.journal = MR_DB_JOURNAL_DELETE });

	database_exec(&cx, db, sql);
}

static int64_t ask_sql(const char *path, const char *sql)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena };
	struct mr_db *db MR_CLEANUP(database_closep) =
		database_open(&cx, &(struct mr_db_options){ .path = path, .read_only = true });

	CHECK(database_text(&cx, db, sql) != NULL);
	return database_int(&cx, db, sql);
}

static void makes_everything(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct stat st;

	CHECK_STR(place.root.path, place.path);
	CHECK(stat("root", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	for (const char *const *path = mr_mailbox_directories; *path; path++) {
		CHECK(fstatat(place.root.dir, *path, &st, AT_SYMLINK_NOFOLLOW) == 0);
		CHECK(S_ISDIR(st.st_mode));
		CHECK_INT(st.st_mode & 07777, 0700);
	}
	files_hold("root/protocol-version.txt", "3\n");
	CHECK(stat("root/protocol-version.txt", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK(stat("root/index.sqlite", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(files_count("root/rules/scripts"), 7);
	CHECK_INT(ask_sql("root/index.sqlite",
			  "SELECT count(*) FROM mailbox_registrations WHERE status = 'active' "
			  "AND mailbox_kind = 'in_root' AND owner_principal_id = 'HOUMAO-operator' "
			  "AND address = 'HOUMAO-operator@houmao.localhost' "
			  "AND display_name = 'Houmao Operator' AND role = 'system_operator'"),
		1);
	CHECK_INT(ask_sql("root/index.sqlite", "SELECT count(*) FROM thread_summaries"), 0);
	CHECK_INT(files_count("root/" OPERATOR), 5);
	CHECK_INT(ask_sql("root/" OPERATOR "/mailbox.sqlite", "SELECT count(*) FROM message_state"),
		0);
	CHECK_INT(ask_sql("root/index.sqlite",
			  "SELECT count(*) FROM pragma_journal_mode "
			  "WHERE journal_mode = 'delete'"),
		1);
	/* Nothing is held and nothing is half done. */
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK(!mr_fs_exists(place.root.dir, MR_MAILBOX_INDEX_LOCK));
	CHECK_INT(files_count("root/staging/.intents"), 0);
	CHECK_INT(files_count("root/staging/.trash"), 0);
}

/* Path, kind, mode, inode, time and content of everything but the guards. */
static const char *picture(struct place *place)
{
	struct mr_bytes bytes;

	CHECK(system("cd root && find . -path ./locks/guards -prune -o -printf "
		     "'%p %y %m %i %T@ ' -a -type f -exec sha256sum {} ';' -o -printf '\\n' "
		     "| sort >../picture") == 0);
	CHECK_OK(mr_fs_read(place->cx.arena, AT_FDCWD, "picture", 1 << 20, &bytes, &place->cx.err),
		place->cx.err);
	return (const char *)bytes.data;
}

static void doing_it_again_changes_nothing(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	const char *before = picture(&place);
	size_t open_before;

	CHECK(strstr(before, "repair_index.py"));
	mr_mailbox_root_close(&place.root);
	open_before = files_open();
	CHECK_OK(init(&place), place.cx.err);
	CHECK_STR(picture(&place), before);
	mr_mailbox_root_close(&place.root);
	CHECK_INT(files_open(), open_before);
}

static void completes_what_is_missing(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	const char *entry = mr_arena_printf(place.cx.arena, "%s/" OPERATOR, place.path);

	CHECK(unlink("root/rules/README.md") == 0);
	CHECK(rmdir("root/staging/.trash") == 0);
	CHECK(unlink("root/" OPERATOR "/mailbox.sqlite") == 0);
	/* A writer of another program was stopped in the middle of it. */
	files_put("root/protocol-version.txt", "");
	files_put("root/.protocol-version.txt.tmp-4194303-0123456789abcdef", "");
	CHECK_OK(init(&place), place.cx.err);
	files_hold("root/protocol-version.txt", "3\n");
	CHECK(mr_fs_exists(place.root.dir, "rules/README.md"));
	CHECK(mr_fs_exists(place.root.dir, "staging/.trash"));
	CHECK(!mr_fs_exists(place.root.dir, ".protocol-version.txt.tmp-4194303-0123456789abcdef"));
	CHECK_INT(ask_sql(mr_arena_printf(place.cx.arena, "%s/mailbox.sqlite", entry),
			  "SELECT count(*) FROM message_state"),
		0);
}

/* One message in the operator's sent and archive, another in its inbox; no local state. */
static void put_messages(struct place *place)
{
	run_sql("root/index.sqlite",
		mr_arena_printf(place->cx.arena,
			"INSERT INTO messages VALUES "
			"('m1', 't1', NULL, '2026-01-01T00:00:00Z', '/c1', 'One', 'doc', '{}', "
			"'p', "
			"'a@x', NULL, NULL, NULL, NULL), "
			"('m2', 't1', 'm1', '2026-01-02T00:00:00Z', '/c2', 'Two', 'doc', '{}', "
			"'p', "
			"'a@x', NULL, NULL, NULL, NULL);"
			"INSERT INTO mailbox_projections SELECT registration_id, 'm1', 'sent', "
			"'/l1' "
			"FROM mailbox_registrations;"
			"INSERT INTO mailbox_projections SELECT registration_id, 'm1', 'archive', "
			"'/l2' FROM mailbox_registrations;"
			"INSERT INTO mailbox_projections SELECT registration_id, 'm2', 'inbox', "
			"'/l3' FROM mailbox_registrations;"
			"INSERT INTO mailbox_state (registration_id, message_id, is_read, "
			"is_starred) SELECT registration_id, 'm2', 1, 1 FROM "
			"mailbox_registrations;"));
}

static void seeds_an_empty_mailbox(void)
{
	static const char LOCAL[] = "root/" OPERATOR "/mailbox.sqlite";
	struct place place MR_CLEANUP(place_close) = enter_made();

	put_messages(&place);
	CHECK_OK(init(&place), place.cx.err);
	CHECK_INT(ask_sql(LOCAL, "SELECT count(*) FROM message_state"), 2);
	CHECK_INT(ask_sql(LOCAL,
			  "SELECT count(*) FROM message_state WHERE message_id = 'm1' AND "
			  "is_read = 1 AND is_archived = 1 AND box_name = 'sent'"),
		1);
	/* The dead table of the shared index is not believed. */
	CHECK_INT(ask_sql(LOCAL,
			  "SELECT count(*) FROM message_state WHERE message_id = 'm2' AND "
			  "is_read = 0 AND is_starred = 0 AND box_name = 'inbox'"),
		1);
	CHECK_INT(ask_sql(LOCAL, "SELECT unread_count FROM thread_summaries"), 1);

	/* One that has rows is its owner's. */
	run_sql(LOCAL,
		"DELETE FROM message_state WHERE message_id = 'm1';"
		"UPDATE message_state SET is_read = 1");
	CHECK_OK(init(&place), place.cx.err);
	CHECK_INT(ask_sql(LOCAL, "SELECT count(*) FROM message_state WHERE is_read = 1"), 1);
	CHECK_INT(ask_sql(LOCAL, "SELECT count(*) FROM message_state"), 1);
}

static void initialising_together_is_safe(void)
{
	enum { PROCESSES = 6 };
	struct place place MR_CLEANUP(place_close) = enter();
	pid_t children[PROCESSES];

	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (children[i] == 0) {
			enum mr_code rc = init(&place);

			if (rc)
				dprintf(2, "# %s\n", place.cx.err.msg);
			_exit(rc ? 1 : 0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		CHECK_INT(waitpid(children[i], &status, 0), children[i]);
		CHECK_INT(status, 0);
	}
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_WRITE), place.cx.err);
	CHECK_INT(ask_sql("root/index.sqlite", "SELECT count(*) FROM mailbox_registrations"), 1);
	CHECK_INT(files_count("root/mailboxes"), 1);
	CHECK_INT(files_count("root"), 8);
}

static void follows_links_to_the_root(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();

	CHECK(symlink("root", "link") == 0);
	mr_mailbox_root_close(&place.root);
	CHECK_OK(mr_mailbox_root_open(&place.cx, "link/../link/", MR_MAILBOX_ROOT_WRITE,
			 &place.root),
		place.cx.err);
	CHECK_STR(place.root.path, place.path);
	mr_mailbox_root_close(&place.root);
	CHECK_OK(mr_mailbox_root_init(&place.cx, "link", &place.root), place.cx.err);
	CHECK_STR(place.root.path, place.path);
}

static void check_refused(struct place *place, const char *path, const char *words)
{
	const char *both = mr_arena_printf(place->cx.arena, "/%s %s %s", path, words, place->path);
	struct mr_mailbox_status status;

	mr_mailbox_root_close(&place->root);
	CHECK_INT(mr_mailbox_root_open(&place->cx, path, MR_MAILBOX_ROOT_WRITE, &place->root),
		MR_ECONFLICT);
	CHECK(strstr(place->cx.err.msg, both));
	CHECK(strstr(place->cx.err.msg, "`mailroom mailbox adopt`"));
	CHECK(strstr(place->cx.err.msg, "`mailroom mailbox repair`"));
	CHECK_INT(mr_mailbox_root_init(&place->cx, path, &place->root), MR_ECONFLICT);
	CHECK(strstr(place->cx.err.msg, both));
	CHECK_OK(mr_mailbox_root_status(&place->cx, path, &status), place->cx.err);
	CHECK(status.supported && status.structural_state_readable);
	CHECK(strstr(status.error, both));
	/* Readers change nothing. */
	CHECK_OK(mr_mailbox_root_open(&place->cx, path, MR_MAILBOX_ROOT_READ, &place->root),
		place->cx.err);
	mr_mailbox_root_close(&place->root);
}

static void nobody_writes_to_a_root_that_is_not_at_home(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct mr_mailbox_root moved MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;

	CHECK_INT(system("cp -a root copy"), 0);
	check_refused(&place, "copy", "was copied from");
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_WRITE), place.cx.err);
	CHECK(rename("root", "elsewhere") == 0);
	check_refused(&place, "elsewhere", "was moved here from");
	/* The old name still leads there: as with a bind mount, it is the same root. */
	CHECK(symlink("elsewhere", "root") == 0);
	CHECK_OK(mr_mailbox_root_open(&place.cx, "elsewhere", MR_MAILBOX_ROOT_WRITE, &moved),
		place.cx.err);
	CHECK_STR(moved.path, place.path);
	/* A backup that is put back is at home. */
	CHECK_INT(system("rm root; mv elsewhere old; cp -a copy root"), 0);
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_WRITE), place.cx.err);
}

static void says_that_there_is_none(void)
{
	static const enum mr_mailbox_root_for purposes[] = { MR_MAILBOX_ROOT_READ,
		MR_MAILBOX_ROOT_WRITE, MR_MAILBOX_ROOT_REPAIR };
	struct place place MR_CLEANUP(place_close) = enter();

	for (size_t i = 0; i < MR_LEN(purposes); i++)
		CHECK_ERR(open_for(&place, purposes[i]), place.cx.err, MR_ENOTFOUND,
			"no mailbox root at root; run `mailroom mailbox init`");
	CHECK(mkdir("root", 0700) == 0);
	for (size_t i = 0; i < MR_LEN(purposes); i++) {
		CHECK_INT(open_for(&place, purposes[i]), MR_ENOTFOUND);
		CHECK_STR(message(&place),
			"no mailbox root at ROOT: the directory has no "
			"protocol-version.txt; run `mailroom mailbox init`");
	}
	CHECK_INT(files_count("root"), 0);
	CHECK(rmdir("root") == 0);
	files_put("root", "a file");
	CHECK_INT(open_for(&place, MR_MAILBOX_ROOT_READ), MR_ENOTFOUND);
	CHECK_INT(init(&place), MR_EEXISTS);
	CHECK(mr_str_starts(place.cx.err.msg, "making a mailbox root: "));
	CHECK(unlink("root") == 0);
	CHECK(symlink("root", "root") == 0);
	CHECK_INT(open_for(&place, MR_MAILBOX_ROOT_READ), MR_EIO);
	CHECK(mr_str_starts(place.cx.err.msg, "cannot find mailbox root root: "));
}

/* Stop a root from being supported in one way, and see what each purpose says. */
static void refuses_what_is_not_supported(void)
{
	static const char OLD[] = "unsupported stale mailbox root ROOT: locks/principals is there, "
				  "of the layout by principals; delete and re-bootstrap it with "
				  "`mailroom mailbox init`";
	static const char NO_VERSION[] = "mailbox root ROOT has no protocol-version.txt; run "
					 "`mailroom mailbox init`";
	static const char ONE[] = "mailbox root ROOT is of protocol 1: it can be read, but not "
				  "changed; make a new root with `mailroom mailbox init`";
	static const char TWO[] = "unsupported mailbox root ROOT: protocol-version.txt says "
				  "\"2 beta\", supported is 3";
	static const char NO_INDEX[] = "ROOT/index.sqlite is missing; run `mailroom mailbox "
				       "repair`";
	static const char BAD_INDEX[] = "ROOT/index.sqlite is not a database; run `mailroom "
					"mailbox repair`";
	static const struct {
		const char *shell;
		enum mr_code code[4]; /* read, write, repair, init */
		const char *msg;
		const char *init_msg; /* when it differs */
	} cases[] = {
		{ "mkdir root/locks/principals",
			{ MR_ECONFLICT, MR_ECONFLICT, MR_ECONFLICT, MR_ECONFLICT }, OLD },
		{ "rm root/protocol-version.txt", { MR_ECONFLICT, MR_ECONFLICT, MR_OK, MR_OK },
			NO_VERSION },
		{ "printf ' 1 \\n' >root/protocol-version.txt",
			{ MR_OK, MR_ECONFLICT, MR_ECONFLICT, MR_ECONFLICT }, ONE },
		{ "echo 2 beta >root/protocol-version.txt",
			{ MR_ECONFLICT, MR_ECONFLICT, MR_ECONFLICT, MR_ECONFLICT }, TWO },
		{ "rm root/index.sqlite", { MR_EFORMAT, MR_EFORMAT, MR_OK, MR_EFORMAT }, NO_INDEX,
			"ROOT/index.sqlite is missing, but mailboxes/" MR_MAILBOX_OPERATOR_ADDRESS
			" is there; run `mailroom mailbox repair`" },
		{ "echo this is not a database file >root/index.sqlite",
			{ MR_EFORMAT, MR_EFORMAT, MR_OK, MR_EFORMAT }, BAD_INDEX },
		{ "echo short >root/index.sqlite", { MR_EFORMAT, MR_EFORMAT, MR_OK, MR_EFORMAT },
			BAD_INDEX },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct place place MR_CLEANUP(place_close) = enter();

		CHECK_INT(system("rm -rf root"), 0);
		CHECK_OK(init(&place), place.cx.err);
		CHECK_INT(system(cases[i].shell), 0);
		for (int k = 0; k < 4; k++) {
			enum mr_code rc = k == 3 ? init(&place)
						 : open_for(&place, (enum mr_mailbox_root_for)k);

			CHECK_INT(rc, cases[i].code[k]);
			if (rc && k == 3 && cases[i].init_msg)
				CHECK_STR(message(&place), cases[i].init_msg);
			else if (rc)
				CHECK_STR(message(&place), cases[i].msg);
		}
	}
}

static void refuses_an_old_index(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	static const char WHY[] = "unsupported stale mailbox root ROOT: its index has a table "
				  "`principals`; delete and re-bootstrap it with `mailroom mailbox "
				  "init`";

	run_sql("root/index.sqlite", "CREATE TABLE principals (a)");
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_READ), place.cx.err);
	for (int read_only = 0; read_only < 2; read_only++) {
		CHECK_INT(mr_mailbox_root_index(&place.cx, &place.root, read_only, &db),
			MR_ECONFLICT);
		CHECK_STR(message(&place), WHY);
		CHECK(!db);
	}
	CHECK_INT(init(&place), MR_ECONFLICT);
	CHECK_STR(message(&place), WHY);
}

/* Does another process than this one have a lock in the bytes that SQLite locks? */
static bool is_locked_elsewhere(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 0x40000000, .l_len = 512 };
	int fd MR_CLEANUP(mr_fs_closep) = open(path, O_RDWR | O_CLOEXEC);

	return fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* POSIX locks go with the first descriptor of the file that their process closes. */
static void opening_a_root_keeps_the_locks_of_connections(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	pid_t child;
	int status;

	CHECK_OK(mr_mailbox_root_index(&place.cx, &place.root, false, &db), place.cx.err);
	database_begin(&place.cx, db);
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_READ), place.cx.err);
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_WRITE), place.cx.err);
	child = fork();
	if (child == 0)
		_exit(is_locked_elsewhere("root/index.sqlite") ? 0 : 1);
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
}

/* Good at the beginning, broken behind it. */
static void an_index_damaged_inside_is_for_repair(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;

	CHECK_INT(system("dd if=/dev/urandom of=root/index.sqlite bs=1 seek=100 count=3000 "
			 "conv=notrunc 2>/dev/null"),
		0);
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_READ), place.cx.err);
	CHECK_INT(mr_mailbox_root_index(&place.cx, &place.root, true, &db), MR_EFORMAT);
	CHECK(mr_str_ends(place.cx.err.msg, "run `mailroom mailbox repair`"));
	CHECK_INT(init(&place), MR_EFORMAT);
}

static void strays_are_ignored(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();

	files_put("root/mailboxes/.DS_Store", "x");
	files_put("root/mailboxes/notes.txt", "x");
	CHECK(mkdir("root/mailboxes/not an address", 0700) == 0);
	files_put("root/staging/.intents/.half.tmp-4194303-0123456789abcdef", "{");
	files_put("root/staging/.intents/of-nobody.json", "x");
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_WRITE), place.cx.err);
	CHECK_OK(init(&place), place.cx.err);
	files_hold("root/mailboxes/notes.txt", "x");
	files_hold("root/staging/.intents/of-nobody.json", "x");
}

/* A root that another program made, or whose staging its repair has cleared. */
static void makes_what_a_writer_needs(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();

	CHECK_INT(system("rm -rf root/staging root/locks"), 0);
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_READ), place.cx.err);
	CHECK(!mr_fs_exists(place.root.dir, MR_MAILBOX_STAGING));
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_WRITE), place.cx.err);
	for (const char *const *path = mr_mailbox_own_directories; *path; path++)
		CHECK(mr_fs_exists(place.root.dir, *path));
}

static void reads_where_it_may_not_write(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	struct mr_mailbox_status status;

	CHECK_INT(system("chmod -R a=rX,u=rX . && chmod 755 ."), 0);
	if (!files_become_nobody())
		return;
	CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_READ), place.cx.err);
	CHECK_OK(mr_mailbox_root_index(&place.cx, &place.root, true, &db), place.cx.err);
	CHECK_OK(mr_mailbox_root_status(&place.cx, "root", &status), place.cx.err);
	CHECK(status.supported);
	CHECK_INT(status.active, 1);
	files_become_root();
	CHECK_INT(system("chmod -R u+w . && rm -rf root/staging/.intents && chmod -R u-w root"), 0);
	CHECK(files_become_nobody());
	CHECK_INT(open_for(&place, MR_MAILBOX_ROOT_WRITE), MR_EPERM);
	CHECK(strstr(place.cx.err.msg, "index.sqlite may not be written"));
	files_become_root();
	CHECK_INT(system("chmod -R u+w . && chmod 000 root/index.sqlite"), 0);
	if (geteuid() == 0) {
		CHECK(files_become_nobody());
		CHECK_INT(open_for(&place, MR_MAILBOX_ROOT_READ), MR_EPERM);
		files_become_root();
	}
}

static void opens_local_databases(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	const char *path = mr_arena_printf(place.cx.arena, "%s/other", place.path);
	int64_t count = -1;
	struct stat st;

	CHECK(mkdir("root/other", 0700) == 0);
	CHECK_INT(mr_mailbox_root_local(&place.cx, path, true, &db), MR_ENOTFOUND);
	CHECK_OK(mr_mailbox_root_local(&place.cx, path, false, &db), place.cx.err);
	CHECK_OK(mr_mailbox_state_count(&place.cx, db, &count), place.cx.err);
	CHECK_INT(count, 0);
	CHECK(stat("root/other/mailbox.sqlite", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	database_closep(&db);
	files_put("root/other/mailbox.sqlite", "this is certainly not a database, is it?");
	CHECK_INT(mr_mailbox_root_local(&place.cx, path, false, &db), MR_EFORMAT);
	CHECK(mr_str_ends(place.cx.err.msg, "run `mailroom mailbox repair`"));
}

static void check_status(const char *shell, const struct mr_mailbox_status *want)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_status got;

	CHECK_INT(system("rm -rf root"), 0);
	CHECK_OK(init(&place), place.cx.err);
	CHECK_INT(system(shell), 0);
	place.cx.err.msg[0] = '\0';
	CHECK_OK(mr_mailbox_root_status(&place.cx, "root", &got), place.cx.err);
	/* It is the answer, not an error. */
	CHECK_STR(place.cx.err.msg, "");
	CHECK_STR(got.path, got.exists ? place.path : "root");
	CHECK_INT(got.exists, want->exists);
	CHECK_INT(got.bootstrapped, want->bootstrapped);
	CHECK_INT(got.supported, want->supported);
	CHECK_STR(got.protocol_version, want->protocol_version);
	CHECK_INT(got.active, want->active);
	CHECK_INT(got.inactive, want->inactive);
	CHECK_INT(got.stashed, want->stashed);
	CHECK_INT(got.structural_state_readable, want->structural_state_readable);
	CHECK_INT(!got.error, !want->error);
	CHECK(!got.error || strstr(got.error, want->error));
}

static void status_says_how_it_is(void)
{
	check_status("true",
		&(struct mr_mailbox_status){ .exists = true,
			.bootstrapped = true,
			.supported = true,
			.protocol_version = "3",
			.active = 1,
			.structural_state_readable = true });
	check_status("echo 1 >root/protocol-version.txt; rm root/rules/README.md",
		&(struct mr_mailbox_status){ .exists = true,
			.supported = true,
			.protocol_version = "1",
			.active = 1,
			.structural_state_readable = true });
	/* No root, or not yet: nothing is wrong with that. */
	check_status("rm -r root", &(struct mr_mailbox_status){ .supported = true });
	check_status("rm -r root; mkdir root",
		&(struct mr_mailbox_status){ .exists = true, .supported = true });
	check_status("echo 9 >root/protocol-version.txt",
		&(struct mr_mailbox_status){ .exists = true,
			.bootstrapped = true,
			.protocol_version = "9",
			.error = "says \"9\", supported is 3" });
	check_status("mkdir root/locks/principals",
		&(struct mr_mailbox_status){ .exists = true,
			.bootstrapped = true,
			.protocol_version = "3",
			.error = "unsupported stale mailbox root" });
	check_status("echo garbage, nothing but garbage >root/index.sqlite",
		&(struct mr_mailbox_status){ .exists = true,
			.bootstrapped = true,
			.protocol_version = "3",
			.error = "run `mailroom mailbox repair`" });
	check_status("rm root/index.sqlite root/protocol-version.txt",
		&(struct mr_mailbox_status){ .exists = true,
			.error = "has no protocol-version.txt" });
}

static void status_counts(void)
{
	struct place place MR_CLEANUP(place_close) = enter_made();
	struct mr_mailbox_status status;

	run_sql("root/index.sqlite",
		"INSERT INTO mailbox_registrations (registration_id, address, owner_principal_id, "
		"status, mailbox_kind, mailbox_path, mailbox_entry_path, created_at_utc) "
		"SELECT id, 'a@x', 'p', its, 'in_root', mailbox_path || '-gone', "
		"mailbox_entry_path || '-gone', 't' FROM mailbox_registrations, "
		"(SELECT 'r1' AS id, 'inactive' AS its UNION SELECT 'r2', 'inactive' UNION "
		"SELECT 'r3', 'stashed' UNION SELECT 'r4', 'active')");
	CHECK_OK(mr_mailbox_root_status(&place.cx, "root", &status), place.cx.err);
	CHECK_INT(status.active, 2);
	CHECK_INT(status.inactive, 2);
	CHECK_INT(status.stashed, 1);
	/* A mailbox whose directory is gone does not keep init from its work. */
	CHECK_OK(init(&place), place.cx.err);
}

/* Stopped anywhere, init does it the next time. */
static void init_survives_any_crash(void)
{
	static const char *const points[] = { "root_init.directory.made:1",
		"root_init.directory.made:9", "root_init.version.written",
		"rules.publish.written:1", "rules.publish.written:10", "root_init.index.made",
		"locks.take.filled:1", "locks.take.filled:2", "locks.release.removed:1" };

	if (!files_fail_at(NULL))
		return;
	for (size_t i = 0; i < MR_LEN(points); i++) {
		struct place place MR_CLEANUP(place_close) = enter();
		int status;
		pid_t child;

		CHECK_INT(system("rm -rf root"), 0);
		child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			setenv("MAILROOM_CRASH_AT", points[i], 1);
			_exit(init(&place) ? 1 : 0);
		}
		CHECK_INT(waitpid(child, &status, 0), child);
		CHECK(WIFSIGNALED(status));
		CHECK_OK(init(&place), place.cx.err);
		CHECK_OK(open_for(&place, MR_MAILBOX_ROOT_WRITE), place.cx.err);
		CHECK_INT(ask_sql("root/index.sqlite",
				  "SELECT count(*) FROM mailbox_registrations"),
			1);
		CHECK_INT(files_count("root/mailboxes"), 1);
		CHECK_INT(files_count("root"), 8);
		CHECK_INT(files_count("root/locks"), 2);
	}
}

/* Pages were overwritten, and the journal that has the old ones is still there. */
static void reads_after_a_writer_died(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	int status;
	pid_t child;

	CHECK_OK(init(&place), place.cx.err);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		if (mr_mailbox_root_index(&place.cx, &place.root, false, &db) ||
			database_try(&place.cx, db,
				"PRAGMA cache_size = 2; BEGIN IMMEDIATE; WITH RECURSIVE n(i) AS "
				"(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT "
				"INTO thread_summaries(thread_id, normalized_subject) SELECT i, "
				"hex(zeroblob(200)) FROM n"))
			_exit(1);
		raise(SIGKILL);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status));
	CHECK(access("root/index.sqlite-journal", F_OK) == 0);
	CHECK_OK(mr_mailbox_root_index(&place.cx, &place.root, true, &db), place.cx.err);
	CHECK_INT(ask_sql("root/index.sqlite", "SELECT count(*) FROM thread_summaries"), 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(makes_everything),
		TEST(doing_it_again_changes_nothing),
		TEST(completes_what_is_missing),
		TEST(seeds_an_empty_mailbox),
		TEST(initialising_together_is_safe),
		TEST(follows_links_to_the_root),
		TEST(nobody_writes_to_a_root_that_is_not_at_home),
		TEST(says_that_there_is_none),
		TEST(refuses_what_is_not_supported),
		TEST(refuses_an_old_index),
		TEST(opening_a_root_keeps_the_locks_of_connections),
		TEST(an_index_damaged_inside_is_for_repair),
		TEST(strays_are_ignored),
		TEST(makes_what_a_writer_needs),
		TEST(reads_where_it_may_not_write),
		TEST(reads_after_a_writer_died),
		TEST(opens_local_databases),
		TEST(status_says_how_it_is),
		TEST(status_counts),
		TEST(init_survives_any_crash),
	};

	return test_main(tests, MR_LEN(tests));
}
