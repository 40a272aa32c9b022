/* tests/unit/mailbox/test_mailbox_register.c - joining and leaving; see crash_mailbox_register.py
 * for what a crash leaves. */
#include "base/fs.h"
#include "files.h"
#include "mailbox/layout.h"
#include "mailbox/register.h"
#include "mailbox/state_sql.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define A     "a@houmao.localhost"
#define B     "b@houmao.localhost"
#define ENTRY "root/mailboxes/" A
#define NOW   "2026-03-11T04:15:00Z"
#define LATER "2026-03-11T05:15:00Z"

enum { NOW_S = 1773202500, HEX = 32 };

struct world {
	struct mr_ctx cx;
	struct mr_clock_fixed clock;
	struct mr_rand rand;
	struct mr_mailbox_root root;
	const char *cwd;
};

static void world_close(struct world *w)
{
	mr_mailbox_root_close(&w->root);
	mr_arena_free(w->cx.arena);
}

static void world_open(struct world *w)
{
	struct mr_db *db = NULL;
	char *cwd;

	files_enter();
	cwd = realpath(".", NULL);
	*w = (struct world){ .cx = { .arena = mr_arena_new() }, .root = MR_MAILBOX_ROOT_INIT };
	w->cwd = mr_arena_strdup(w->cx.arena, cwd);
	free(cwd);
	mr_clock_fixed_init(&w->clock, NOW_S * INT64_C(1000000));
	mr_rand_seeded_init(&w->rand, 1);
	w->cx.clock = &w->clock.clock;
	w->cx.rand = &w->rand;
	w->root.path = mr_mailbox_layout_join(w->cx.arena, w->cwd, "root");
	CHECK(mkdir("root", 0700) == 0);
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "root", &w->root.dir, &w->cx.err), w->cx.err);
	for (const char *const *d = mr_mailbox_directories; *d; d++)
		CHECK_OK(mr_fs_make_dirs(w->root.dir, *d, 0700, &w->cx.err), w->cx.err);
	files_put("root/protocol-version.txt", "3\n");
	CHECK_OK(mr_mailbox_root_index(&w->cx, &w->root, false, &db), w->cx.err);
	mr_db_close(db);
}

/* Absolute, from a path below the test's directory. */
static const char *at(struct world *w, const char *path)
{
	return mr_mailbox_layout_join(w->cx.arena, w->cwd, path);
}

static const char *text(struct world *w, const char *sql)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;

	CHECK_OK(mr_mailbox_root_index(&w->cx, &w->root, false, &db), w->cx.err);
	CHECK_OK(mr_db_prepare(db, sql, &stmt, &w->cx.err), w->cx.err);
	CHECK_OK(mr_stmt_step(stmt, &row, &w->cx.err), w->cx.err);
	return row ? mr_stmt_text(stmt, 0, w->cx.arena) : NULL;
}

static long number(struct world *w, const char *sql)
{
	const char *found = text(w, sql);

	return found ? strtol(found, NULL, 10) : -1;
}

static void exec(struct world *w, const char *sql)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;

	CHECK_OK(mr_mailbox_root_index(&w->cx, &w->root, false, &db), w->cx.err);
	CHECK_OK(mr_db_exec(db, sql, &w->cx.err), w->cx.err);
}

static struct mr_mailbox_registration row_of(struct world *w, const char *id)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	const struct mr_mailbox_registration *row = NULL;

	CHECK_OK(mr_mailbox_root_index(&w->cx, &w->root, false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_registration_by_id(&w->cx, db, id, &row), w->cx.err);
	CHECK(row != NULL);
	return *row;
}

static struct mr_mailbox_register_request in_root(enum mr_mailbox_register_mode mode,
	const char *owner)
{
	return (struct mr_mailbox_register_request){
		.mode = mode,
		.address = A,
		.owner = owner,
		.kind = MR_MAILBOX_IN_ROOT,
	};
}

static struct mr_mailbox_register_request linked(struct world *w,
	enum mr_mailbox_register_mode mode, const char *owner, const char *path)
{
	return (struct mr_mailbox_register_request){
		.mode = mode,
		.address = A,
		.owner = owner,
		.kind = MR_MAILBOX_SYMLINK,
		.path = at(w, path),
	};
}

static bool is_kind(const char *path, mode_t kind)
{
	struct stat st;

	return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static bool is_there(const char *path)
{
	return mr_fs_exists(AT_FDCWD, path);
}

/* Nothing half done: no intent, no work directory, no lock. */
static void check_tidy(void)
{
	CHECK_INT(files_count("root/staging/.intents"), 0);
	CHECK_INT(files_count("root/staging/.trash"), 0);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK(!is_there("root/locks/index.lock"));
}

static struct mr_mailbox_register_result join(struct world *w,
	struct mr_mailbox_register_request request)
{
	struct mr_mailbox_register_result result;
	size_t open = files_open();

	CHECK_OK(mr_mailbox_register(&w->cx, &w->root, &request, &result), w->cx.err);
	CHECK_INT(files_open(), open);
	CHECK_INT(result.mode, request.mode);
	CHECK_STR(result.address, A);
	CHECK_STR(result.owner, row_of(w, result.active_registration_id).owner);
	check_tidy();
	return result;
}

/* Refused with this text, in which %s stands for the test's directory; nothing has changed. */
static void refuse(struct world *w, struct mr_mailbox_register_request request, enum mr_code code,
	const char *message)
{
	const char *dump = "SELECT group_concat(registration_id || status || mailbox_path) "
			   "FROM mailbox_registrations";
	const char *before = text(w, dump), *want = message;
	struct mr_mailbox_register_result result = { .address = "untouched" };
	size_t entries = files_count("root/mailboxes");

	if (strstr(message, "%s")) {
		size_t len = (size_t)(strstr(message, "%s") - message);

		want = mr_arena_printf(w->cx.arena, "%.*s%s%s", (int)len, message, w->cwd,
			message + len + 2);
	}
	CHECK_ERR(mr_mailbox_register(&w->cx, &w->root, &request, &result), w->cx.err, code, want);
	CHECK_STR(result.address, "untouched");
	CHECK_STR(text(w, dump), before);
	CHECK_INT(files_count("root/mailboxes"), entries);
	check_tidy();
}

static struct mr_mailbox_unregister_result leave(struct world *w,
	enum mr_mailbox_unregister_mode mode, const char *address)
{
	struct mr_mailbox_unregister_result result;
	size_t open = files_open();

	CHECK_OK(mr_mailbox_unregister(&w->cx, &w->root, mode, address, &result), w->cx.err);
	CHECK_INT(files_open(), open);
	CHECK_INT(result.mode, mode);
	CHECK_STR(result.address, address);
	check_tidy();
	return result;
}

/* One message in these folders of a registration, links included. */
static void add_mail(struct world *w, const char *id, const char *mailbox, const char *message,
	const char *folders)
{
	struct mr_texts list = mr_str_split(w->cx.arena, folders, ' ');

	exec(w,
		mr_arena_printf(w->cx.arena,
			"INSERT OR IGNORE INTO messages(message_id, thread_id, created_at_utc, "
			"canonical_path, subject, body_markdown, sender_principal_id, "
			"sender_address) VALUES('%s', '%s', '" NOW "', '/c', 'S', 'b', 'p', '" A
			"')",
			message, message));
	exec(w,
		mr_arena_printf(w->cx.arena,
			"INSERT INTO message_recipients(message_id, recipient_kind, ordinal, "
			"address, owner_principal_id, delivered_registration_id) VALUES('%s', "
			"'to', 0, '" A "', 'p', '%s')",
			message, id));
	for (size_t i = 0; i < list.len; i++) {
		const char *path = mr_arena_printf(w->cx.arena, "%s/%s/%s.md", mailbox,
			list.items[i], message);

		CHECK_OK(mr_fs_make_dirs(AT_FDCWD,
				 mr_mailbox_layout_join(w->cx.arena, mailbox, list.items[i]), 0700,
				 &w->cx.err),
			w->cx.err);
		CHECK(symlink("/c", path) == 0);
		exec(w,
			mr_arena_printf(w->cx.arena,
				"INSERT INTO mailbox_projections VALUES('%s', '%s', '%s', '%s')",
				id, message, list.items[i], at(w, path)));
	}
}

static void check_boxes(const char *mailbox)
{
	static const char *const names[] = { "inbox", "sent", "archive", "drafts" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct stat st;

	CHECK(stat(mailbox, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		CHECK(stat(mr_arena_printf(arena, "%s/%s", mailbox, names[i]), &st) == 0);
		CHECK_INT(st.st_mode, S_IFDIR | 0700);
	}
	CHECK(stat(mr_arena_printf(arena, "%s/mailbox.sqlite", mailbox), &st) == 0);
	CHECK_INT(st.st_mode, S_IFREG | 0600);
}

static struct mr_mailbox_state state_of(struct world *w, const char *mailbox, const char *message)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	const struct mr_mailbox_state *state = NULL;

	CHECK_OK(mr_mailbox_root_local(&w->cx, at(w, mailbox), false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_state_get(&w->cx, db, message, &state), w->cx.err);
	CHECK(state != NULL);
	return *state;
}

static void put_state(struct world *w, const char *mailbox, const struct mr_mailbox_state *state)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;

	CHECK_OK(mr_mailbox_root_local(&w->cx, at(w, mailbox), false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_state_put(&w->cx, db, state), w->cx.err);
}

static int64_t states_in(struct world *w, const char *mailbox)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	int64_t count = -1;

	CHECK_OK(mr_mailbox_root_local(&w->cx, at(w, mailbox), false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_state_count(&w->cx, db, &count), w->cx.err);
	return count;
}

static const enum mr_mailbox_register_mode modes[] = { MR_MAILBOX_SAFE, MR_MAILBOX_FORCE,
	MR_MAILBOX_STASH };

/* Joining. */

static void a_free_address_gets_a_mailbox(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(modes); i++) {
		struct mr_mailbox_register_request request = in_root(modes[i], " HOUMAO-a\n");
		struct mr_mailbox_register_result result;
		struct mr_mailbox_registration row;

		request.address = " " A "\t";
		request.display_name = " Anna ";
		request.manifest_path_hint = "/m";
		request.role = "r";
		result = join(&w, request);
		CHECK(!result.reused_existing);
		CHECK_STR(result.replaced_registration_id, NULL);
		CHECK_STR(result.stashed_registration_id, NULL);
		CHECK_STR(result.stashed_path, NULL);
		CHECK(mr_str_starts(result.active_registration_id, "reg-"));
		CHECK_INT(strlen(result.active_registration_id), 4 + HEX);
		row = row_of(&w, result.active_registration_id);
		CHECK_STR(row.address, A);
		CHECK_STR(row.owner, "HOUMAO-a");
		CHECK_INT(row.status, MR_MAILBOX_ACTIVE);
		CHECK_INT(row.kind, MR_MAILBOX_IN_ROOT);
		CHECK_STR(row.path, at(&w, ENTRY));
		CHECK_STR(row.entry_path, at(&w, ENTRY));
		CHECK_STR(row.display_name, "Anna");
		CHECK_STR(row.manifest_path_hint, "/m");
		CHECK_STR(row.role, "r");
		CHECK_STR(row.created_at, NOW);
		CHECK_STR(row.deactivated_at, NULL);
		CHECK_STR(row.replaced_by, NULL);
		check_boxes(ENTRY);
		CHECK_INT(files_count("root/mailboxes"), 1);
		leave(&w, MR_MAILBOX_PURGE, A);
	}
}

static void a_private_directory_is_linked(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(modes); i++) {
		struct mr_mailbox_register_result result =
			join(&w, linked(&w, modes[i], "o", "private/a"));
		struct mr_mailbox_registration row = row_of(&w, result.active_registration_id);
		char target[4096] = "";

		CHECK(!result.reused_existing);
		CHECK_INT(row.kind, MR_MAILBOX_SYMLINK);
		CHECK_STR(row.path, at(&w, "private/a"));
		CHECK_STR(row.entry_path, at(&w, ENTRY));
		check_boxes("private/a");
		CHECK(readlink(ENTRY, target, sizeof(target) - 1) > 0);
		CHECK_STR(target, at(&w, "private/a"));
		/* Purging takes the link only. */
		leave(&w, MR_MAILBOX_PURGE, A);
		CHECK(!is_there(ENTRY));
		check_boxes("private/a");
	}
}

/* The path of a private directory is resolved, as far as it is there. */
static void private_paths_are_resolved(void)
{
	static const char *const paths[] = { "private/new", "./private//new/", "link/new",
		"private/sub/../new" };
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;

	world_open(&w);
	CHECK(mkdir("private", 0700) == 0 && mkdir("private/sub", 0700) == 0);
	CHECK(symlink("private", "link") == 0);
	for (size_t i = 0; i < MR_LEN(paths); i++) {
		struct mr_mailbox_register_result result;

		request = linked(&w, MR_MAILBOX_SAFE, "o", "");
		request.path = paths[i]; /* relative to the working directory */
		result = join(&w, request);
		CHECK_STR(row_of(&w, result.active_registration_id).path, at(&w, "private/new"));
		leave(&w, MR_MAILBOX_PURGE, A);
	}
	request.path = "private/none/../x";
	refuse(&w, request, MR_ENOTFOUND,
		"cannot resolve mailbox_path private/none/../x: No such file or directory");
	files_put("file", "");
	request.path = "file/x";
	refuse(&w, request, MR_ENOTFOUND, "cannot resolve mailbox_path file/x: Not a directory");
	request.path = "file";
	refuse(&w, request, MR_EEXISTS, "%s/file exists and is not a directory");
	request.path = NULL;
	refuse(&w, request, MR_EINVAL,
		"mailbox_path must name the private directory of a symlink registration");
}

static void the_same_again_is_reused(void)
{
	static const enum mr_mailbox_kind kinds[] = { MR_MAILBOX_IN_ROOT, MR_MAILBOX_SYMLINK };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t k = 0; k < MR_LEN(kinds); k++) {
		struct mr_mailbox_register_request request = kinds[k] == MR_MAILBOX_IN_ROOT
			? in_root(MR_MAILBOX_SAFE, "o")
			: linked(&w, MR_MAILBOX_SAFE, "o", "private");
		struct mr_mailbox_register_result first, again;
		struct mr_mailbox_registration row;

		request.display_name = "Anna";
		request.role = "r";
		first = join(&w, request);
		files_put(ENTRY "/note", "kept");
		for (size_t i = 0; i < MR_LEN(modes); i++) {
			request.mode = modes[i];
			request.display_name = i == 1 ? "Berta" : NULL;
			request.manifest_path_hint = "/m";
			request.role = NULL;
			again = join(&w, request);
			CHECK(again.reused_existing);
			CHECK_STR(again.active_registration_id, first.active_registration_id);
			CHECK_STR(again.replaced_registration_id, NULL);
			CHECK_STR(again.stashed_registration_id, NULL);
			row = row_of(&w, first.active_registration_id);
			CHECK_STR(row.display_name, request.display_name);
			CHECK_STR(row.manifest_path_hint, "/m");
			CHECK_STR(row.role, NULL);
			CHECK_STR(row.created_at, NOW);
			files_hold(ENTRY "/note", "kept");
		}
		leave(&w, MR_MAILBOX_PURGE, A);
	}
}

static void what_is_reused_must_be_whole(void)
{
	static const char MESSAGE[] = "the mailbox of " A " is not whole: %s/" ENTRY
				      "/archive is not a directory; run `mailroom mailbox repair`";
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	join(&w, in_root(MR_MAILBOX_SAFE, "o"));
	CHECK(rmdir(ENTRY "/archive") == 0);
	for (size_t i = 0; i < MR_LEN(modes); i++)
		refuse(&w, in_root(modes[i], "o"), MR_ECONFLICT, MESSAGE);
}

static void an_active_mailbox_is_not_replaced_by_accident(void)
{
	struct world w MR_CLEANUP(world_close);
	const char *id, *message;

	world_open(&w);
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	message = mr_arena_printf(w.cx.arena,
		A " already has an active mailbox: %s, owned by o, at %s; mode force replaces it, "
		  "mode stash keeps it aside",
		id, at(&w, ENTRY));
	refuse(&w, in_root(MR_MAILBOX_SAFE, "other"), MR_ECONFLICT, message);
	refuse(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private"), MR_ECONFLICT, message);
	/* Nor is anything made for it. */
	CHECK(!is_there("private"));
}

/* Of the old mailbox: where its mail goes, what its row says. */
static void force_replaces_what_is_active(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	struct mr_mailbox_registration old;
	const char *id;

	world_open(&w);
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	add_mail(&w, id, ENTRY, "m1", "inbox sent");
	exec(&w,
		mr_arena_printf(w.cx.arena,
			"INSERT INTO mailbox_state(registration_id, message_id) VALUES('%s', "
			"'m1')",
			id));
	put_state(&w, ENTRY, &(struct mr_mailbox_state){ "m1", "m1", NOW, "S", .box = "inbox" });
	w.clock.now_us += INT64_C(3600) * 1000000;
	result = join(&w, in_root(MR_MAILBOX_FORCE, "other"));
	CHECK(!result.reused_existing);
	CHECK_STR(result.replaced_registration_id, id);
	CHECK_STR(result.stashed_registration_id, NULL);
	CHECK_STR(result.stashed_path, NULL);
	CHECK(!mr_str_eq(result.active_registration_id, id));
	old = row_of(&w, id);
	CHECK_INT(old.status, MR_MAILBOX_INACTIVE);
	CHECK_STR(old.deactivated_at, LATER);
	CHECK_STR(old.replaced_by, result.active_registration_id);
	CHECK_STR(old.path, at(&w, ENTRY));
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_projections"), 0);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_state"), 0);
	CHECK_INT(number(&w, "SELECT count(*) FROM messages"), 1);
	check_boxes(ENTRY);
	CHECK_INT(files_count(ENTRY "/inbox"), 0);
	CHECK_INT(states_in(&w, ENTRY), 0);
	CHECK_INT(files_count("root/mailboxes"), 1);
}

static void stash_keeps_what_is_active(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	struct mr_mailbox_registration old;
	const char *id, *suffix;

	world_open(&w);
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	add_mail(&w, id, ENTRY, "m1", "inbox");
	files_put(ENTRY "/note", "kept");
	w.clock.now_us += INT64_C(3600) * 1000000;
	result = join(&w, in_root(MR_MAILBOX_STASH, "other"));
	CHECK_STR(result.replaced_registration_id, NULL);
	CHECK_STR(result.stashed_registration_id, id);
	CHECK(mr_str_starts(result.stashed_path, at(&w, ENTRY "--")));
	suffix = result.stashed_path + strlen(at(&w, ENTRY "--"));
	CHECK_INT(strlen(suffix), HEX);
	CHECK_INT(strspn(suffix, "0123456789abcdef"), HEX);
	old = row_of(&w, id);
	CHECK_INT(old.status, MR_MAILBOX_STASHED);
	CHECK_STR(old.deactivated_at, LATER);
	CHECK_STR(old.replaced_by, result.active_registration_id);
	CHECK_STR(old.path, result.stashed_path);
	CHECK_STR(old.entry_path, result.stashed_path);
	files_hold(mr_mailbox_layout_join(w.cx.arena, result.stashed_path, "note"), "kept");
	CHECK_STR(text(&w, "SELECT projection_path FROM mailbox_projections"),
		mr_mailbox_layout_join(w.cx.arena, result.stashed_path, "inbox/m1.md"));
	check_boxes(ENTRY);
	CHECK_INT(files_count(ENTRY "/inbox"), 0);
	CHECK_INT(files_count("root/mailboxes"), 2);
}

/* Of a linked mailbox the link goes, and the private directory stays. */
static void linked_mailboxes_are_replaced_and_stashed(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	struct mr_mailbox_registration old;
	const char *first, *second;

	world_open(&w);
	first = join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "one")).active_registration_id;
	files_put("one/note", "kept");
	result = join(&w, linked(&w, MR_MAILBOX_FORCE, "o", "two"));
	CHECK_STR(result.replaced_registration_id, first);
	CHECK_STR(row_of(&w, first).path, at(&w, "one"));
	files_hold("one/note", "kept");

	second = result.active_registration_id;
	result = join(&w, linked(&w, MR_MAILBOX_STASH, "o", "three"));
	CHECK_STR(result.stashed_registration_id, second);
	CHECK(is_kind(result.stashed_path, S_IFLNK));
	old = row_of(&w, second);
	CHECK_STR(old.path, at(&w, "two"));
	CHECK_STR(old.entry_path, result.stashed_path);
	check_boxes("two");
	check_boxes(result.stashed_path);
	check_boxes("three");
	CHECK_INT(files_count("root/mailboxes"), 2);

	/* And the same directory for another owner: what is in it stays. */
	put_state(&w, "three",
		&(struct mr_mailbox_state){ "m", "m", NOW, "S", .starred = true, .box = "x" });
	join(&w, linked(&w, MR_MAILBOX_FORCE, "other", "three"));
	CHECK(state_of(&w, "three", "m").starred);
}

/* Where the reference fails, because it follows the link before it compares. */
static void in_root_takes_the_place_of_a_link(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request = in_root(MR_MAILBOX_FORCE, "o");
	struct mr_mailbox_register_result result;
	const char *id;

	world_open(&w);
	request.path = at(&w, ENTRY);
	id = join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "one")).active_registration_id;
	files_put("one/note", "kept");
	CHECK_STR(join(&w, request).replaced_registration_id, id);
	CHECK(is_kind(ENTRY, S_IFDIR));
	leave(&w, MR_MAILBOX_PURGE, A);
	exec(&w, "DELETE FROM mailbox_registrations");

	id = join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "one")).active_registration_id;
	request.mode = MR_MAILBOX_STASH;
	result = join(&w, request);
	CHECK_STR(result.stashed_registration_id, id);
	CHECK(is_kind(ENTRY, S_IFDIR));
	CHECK(is_kind(result.stashed_path, S_IFLNK));
	files_hold("one/note", "kept");
}

static void in_root_means_the_entry(void)
{
	static const char *const good[] = { ENTRY, ENTRY "//", "./root/mailboxes/" A,
		"alias/mailboxes/" A, "root/../alias/mailboxes/" A };
	static const char *const bad[] = { "root/mailboxes/" B, "root/mailboxes", "/", A,
		"none/mailboxes/" A, "root/mailboxes/x/../" A };
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request = in_root(MR_MAILBOX_SAFE, "o");

	world_open(&w);
	CHECK(symlink("root", "alias") == 0);
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		request.path = bad[i];
		refuse(&w, request, MR_EINVAL,
			mr_arena_printf(w.cx.arena,
				"in_root registration of " A " must use the shared mailbox path "
				"%s, not %s",
				at(&w, ENTRY), bad[i]));
	}
	for (size_t i = 0; i < MR_LEN(good); i++) {
		request.path = good[i];
		CHECK_INT(join(&w, request).reused_existing, i > 0);
	}
	request.path = at(&w, ENTRY);
	CHECK(join(&w, request).reused_existing);
	request.path = "  ";
	refuse(&w, request, MR_EINVAL, "mailbox_path must not be empty");
}

static void private_means_outside(void)
{
	static const char *const bad[] = { "root", "root/mailboxes/x", "root/new", "alias/new" };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	CHECK(symlink("root", "alias") == 0);
	for (size_t i = 0; i < MR_LEN(bad); i++)
		for (size_t m = 0; m < MR_LEN(modes); m++)
			refuse(&w, linked(&w, modes[m], "o", bad[i]), MR_EINVAL,
				mr_arena_printf(w.cx.arena,
					"the private directory %s%s must live outside the shared "
					"mailbox root %s",
					w.root.path, strchr(bad[i], '/') ? strchr(bad[i], '/') : "",
					w.root.path));
	/* A name that only begins the same is outside. */
	join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "root2"));
}

static void a_private_directory_has_one_address(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;
	struct mr_mailbox_register_result result;

	world_open(&w);
	request = linked(&w, MR_MAILBOX_SAFE, "o", "private");
	request.address = B;
	CHECK_OK(mr_mailbox_register(&w.cx, &w.root, &request, &result), w.cx.err);
	for (size_t i = 0; i < MR_LEN(modes); i++)
		refuse(&w, linked(&w, modes[i], "o", "private"), MR_ECONFLICT,
			mr_arena_printf(w.cx.arena,
				"mailbox path %s is already active for " B " (%s)",
				at(&w, "private"), result.active_registration_id));
	leave(&w, MR_MAILBOX_DEACTIVATE, B);
	join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private"));
}

/* An inactive row that still claims the entry, for somebody else. */
static void a_preserved_mailbox_is_in_the_way(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	const char *id, *message;

	world_open(&w);
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	message = mr_arena_printf(w.cx.arena,
		A " still has a preserved mailbox artifact: %s, owned by o, at %s; mode force "
		  "replaces it, mode stash keeps it aside",
		id, at(&w, ENTRY));
	refuse(&w, in_root(MR_MAILBOX_SAFE, "other"), MR_ECONFLICT, message);
	refuse(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private"), MR_ECONFLICT, message);
	/* Even when there is nothing on disk. */
	CHECK(rename(ENTRY, "away") == 0);
	refuse(&w, in_root(MR_MAILBOX_SAFE, "other"), MR_ECONFLICT, message);

	/* Stashed without anything to stash: the row leaves the name all the same. */
	w.clock.now_us += INT64_C(3600) * 1000000;
	result = join(&w, in_root(MR_MAILBOX_STASH, "other"));
	CHECK_STR(result.stashed_registration_id, id);
	CHECK_STR(result.stashed_path, NULL);
	CHECK_INT(row_of(&w, id).status, MR_MAILBOX_STASHED);
	CHECK_STR(row_of(&w, id).deactivated_at, NOW);
	CHECK(!mr_str_eq(row_of(&w, id).entry_path, at(&w, ENTRY)));

	id = result.active_registration_id;
	files_put(ENTRY "/note", "gone");
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	result = join(&w, in_root(MR_MAILBOX_FORCE, "third"));
	CHECK_STR(result.replaced_registration_id, id);
	CHECK_STR(row_of(&w, id).replaced_by, result.active_registration_id);
	CHECK(!is_there(ENTRY "/note"));
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_registrations"), 3);
}

static void an_inactive_mailbox_is_revived(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request = in_root(MR_MAILBOX_SAFE, "o");
	struct mr_mailbox_register_result result;
	struct mr_mailbox_registration row;
	const char *id;

	world_open(&w);
	id = join(&w, request).active_registration_id;
	add_mail(&w, id, ENTRY, "m1", "inbox");
	put_state(&w, ENTRY,
		&(struct mr_mailbox_state){ "m1", "m1", NOW, "S", .starred = true,
			.box = "inbox" });
	w.clock.now_us += INT64_C(3600) * 1000000;
	for (size_t i = 0; i < MR_LEN(modes); i++) {
		leave(&w, MR_MAILBOX_DEACTIVATE, A);
		CHECK(rmdir(ENTRY "/drafts") == 0);
		request.mode = modes[i];
		request.role = "again";
		result = join(&w, request);
		CHECK(result.reused_existing);
		CHECK_STR(result.active_registration_id, id);
		row = row_of(&w, id);
		CHECK_INT(row.status, MR_MAILBOX_ACTIVE);
		CHECK_STR(row.deactivated_at, NULL);
		CHECK_STR(row.replaced_by, NULL);
		CHECK_STR(row.role, "again");
		CHECK_STR(row.created_at, NOW);
		check_boxes(ENTRY);
		CHECK_INT(files_count(ENTRY "/inbox"), 1);
		CHECK(state_of(&w, ENTRY, "m1").starred);
	}
}

static void what_a_revived_mailbox_lost_is_made_again(void)
{
	struct world w MR_CLEANUP(world_close);
	const char *id;

	world_open(&w);
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	add_mail(&w, id, ENTRY, "m1", "inbox sent");
	add_mail(&w, id, ENTRY, "m2", "sent");
	add_mail(&w, id, ENTRY, "m3", "archive");
	add_mail(&w, id, ENTRY, "m4", "zebra later");
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, ENTRY, &w.cx.err), w.cx.err);
	CHECK(join(&w, in_root(MR_MAILBOX_SAFE, "o")).reused_existing);
	check_boxes(ENTRY);
	/* Its state is taken from the projections in the index. */
	CHECK_INT(states_in(&w, ENTRY), 4);
	CHECK(!state_of(&w, ENTRY, "m1").read);
	CHECK_STR(state_of(&w, ENTRY, "m1").box, "inbox");
	CHECK(state_of(&w, ENTRY, "m2").read);
	CHECK_STR(state_of(&w, ENTRY, "m2").box, "sent");
	CHECK(state_of(&w, ENTRY, "m3").archived);
	CHECK_STR(state_of(&w, ENTRY, "m3").box, "archive");
	CHECK_STR(state_of(&w, ENTRY, "m4").box, "later");
	leave(&w, MR_MAILBOX_PURGE, A);

	id = join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private")).active_registration_id;
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK(unlink(ENTRY) == 0);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "private", &w.cx.err), w.cx.err);
	CHECK_STR(join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private")).active_registration_id, id);
	check_boxes("private");
	CHECK(is_kind(ENTRY, S_IFLNK));
	/* The link is there, but leads nowhere any more. */
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "private", &w.cx.err), w.cx.err);
	CHECK_STR(join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private")).active_registration_id, id);
	check_boxes("private");
}

/* Something else has taken the place of an inactive mailbox. */
static void a_revived_mailbox_does_not_swallow_others(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	const char *id;

	world_open(&w);
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, ENTRY, &w.cx.err), w.cx.err);
	files_put(ENTRY, "a file");
	refuse(&w, in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			A " still has a preserved mailbox artifact: %s, owned by o, at %s; mode "
			  "force replaces it, mode stash keeps it aside",
			id, at(&w, ENTRY)));
	result = join(&w, in_root(MR_MAILBOX_STASH, "o"));
	CHECK_STR(result.stashed_registration_id, id);
	files_hold(result.stashed_path, "a file");
	check_boxes(ENTRY);
}

/* What no registration knows. */
static void untracked_entries_in_the_way_of_a_directory(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;

	world_open(&w);
	CHECK(mkdir(ENTRY, 0755) == 0 && mkdir(ENTRY "/inbox", 0755) == 0);
	files_put(ENTRY "/inbox/letter", "kept");
	refuse(&w, in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"directory %s/" ENTRY " is not empty and belongs to no registration; mode force "
		"deletes it, mode stash keeps it aside");
	CHECK(rename(ENTRY "/inbox/letter", ENTRY "/letter") == 0);
	refuse(&w, in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"directory %s/" ENTRY " is not empty and belongs to no registration; mode force "
		"deletes it, mode stash keeps it aside");
	result = join(&w, in_root(MR_MAILBOX_STASH, "o"));
	CHECK_STR(result.stashed_registration_id, NULL);
	files_hold(mr_mailbox_layout_join(w.cx.arena, result.stashed_path, "letter"), "kept");
	leave(&w, MR_MAILBOX_PURGE, A);

	CHECK(mkdir(ENTRY, 0755) == 0);
	files_put(ENTRY "/letter", "gone");
	result = join(&w, in_root(MR_MAILBOX_FORCE, "o"));
	CHECK_STR(result.replaced_registration_id, NULL);
	CHECK(!is_there(ENTRY "/letter"));
	leave(&w, MR_MAILBOX_PURGE, A);

	/* Nothing but empty boxes: nothing to lose. */
	CHECK(mkdir(ENTRY, 0755) == 0 && mkdir(ENTRY "/inbox", 0755) == 0);
	join(&w, in_root(MR_MAILBOX_SAFE, "o"));
	check_boxes(ENTRY);
	leave(&w, MR_MAILBOX_PURGE, A);

	files_put(ENTRY, "a file");
	refuse(&w, in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"%s/" ENTRY " exists, is no directory and belongs to no registration; mode force "
		"removes it, mode stash keeps it aside");
	CHECK(unlink(ENTRY) == 0);
	CHECK(mkdir("else", 0700) == 0 && symlink("../../else", ENTRY) == 0);
	files_put("else/note", "kept");
	refuse(&w, in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"%s/" ENTRY " exists, is no directory and belongs to no registration; mode force "
		"removes it, mode stash keeps it aside");
	join(&w, in_root(MR_MAILBOX_FORCE, "o"));
	check_boxes(ENTRY);
	files_hold("else/note", "kept");
}

static void untracked_entries_in_the_way_of_a_link(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;
	struct mr_mailbox_register_result result;
	const char *message;

	world_open(&w);
	request = linked(&w, MR_MAILBOX_SAFE, "o", "private");
	message = mr_arena_printf(w.cx.arena,
		"%s exists and is not a link to %s; mode force removes it, mode stash keeps it "
		"aside",
		at(&w, ENTRY), at(&w, "private"));
	CHECK(mkdir(ENTRY, 0755) == 0);
	refuse(&w, request, MR_ECONFLICT, message);
	CHECK(rmdir(ENTRY) == 0 && mkdir("else", 0700) == 0 && symlink("../../else", ENTRY) == 0);
	refuse(&w, request, MR_ECONFLICT, message);
	CHECK(!is_there("private"));
	request.mode = MR_MAILBOX_STASH;
	result = join(&w, request);
	CHECK_STR(result.stashed_registration_id, NULL);
	CHECK(is_kind(result.stashed_path, S_IFLNK));
	leave(&w, MR_MAILBOX_PURGE, A);

	CHECK(mkdir(ENTRY, 0755) == 0);
	files_put(ENTRY "/letter", "gone");
	request.mode = MR_MAILBOX_FORCE;
	join(&w, request);
	CHECK(is_kind(ENTRY, S_IFLNK));
	leave(&w, MR_MAILBOX_PURGE, A);

	/* A link that leads there already, by another way. */
	CHECK(symlink("../../private", ENTRY) == 0);
	request.mode = MR_MAILBOX_SAFE;
	CHECK(!join(&w, request).reused_existing);
	check_boxes(ENTRY);
}

/* Names. */

static void names_are_checked(void)
{
	const struct {
		const char *address, *owner, *name, *message;
		enum mr_code code;
	} cases[] = {
		{ " ", "o", NULL, "address: must not be empty", MR_EINVAL },
		{ A, NULL, NULL, "owner_principal_id must not be empty", MR_EINVAL },
		{ A, " \t", NULL, "owner_principal_id must not be empty", MR_EINVAL },
		{ A, "o", "\xe3\x80\x80", "display_name must not be empty", MR_EINVAL },
		{ A, "o", "a\xff", "display_name is not UTF-8 at byte 1", MR_EINVAL },
	};
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;
	char *much;

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		request = in_root(MR_MAILBOX_SAFE, cases[i].owner);
		request.address = cases[i].address;
		request.display_name = cases[i].name;
		refuse(&w, request, cases[i].code, cases[i].message);
	}
	request = in_root(MR_MAILBOX_SAFE, "o");
	request.manifest_path_hint = "";
	refuse(&w, request, MR_EINVAL, "manifest_path_hint must not be empty");
	request.manifest_path_hint = NULL;
	request.role = "";
	refuse(&w, request, MR_EINVAL, "role must not be empty");
	much = mr_arena_alloc(w.cx.arena, 4098);
	memset(much, 'x', 4097);
	request.role = much;
	refuse(&w, request, MR_ELIMIT, "role is longer than 4096 bytes");
}

/* What an address may be is tested in test_address.c; here, that it is asked. */
static void addresses_are_checked(void)
{
	static const char *const bad[] = { "a", "a b@c", "../x@c", "a@b/c", "a..b@c",
		"a@b--0123456789abcdef0123456789abcdef" };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		struct mr_mailbox_register_request request = in_root(MR_MAILBOX_SAFE, "o");
		struct mr_mailbox_register_result result;

		request.address = bad[i];
		CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_EINVAL);
		CHECK(mr_str_starts(w.cx.err.msg, "address: "));
		CHECK_INT(files_count("root/mailboxes"), 0);
	}
}

static void reserved_addresses_are_the_systems(void)
{
	static const struct {
		const char *address, *owner, *role;
		bool ok;
	} cases[] = {
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-operator", "system_operator", true },
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-operator", NULL, false },
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-operator", "operator", false },
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-x", "system_operator", false },
		{ "HOUMAO-x@houmao.localhost", "HOUMAO-operator", "system_operator", false },
		{ "HOUMAO-x@houmao.localhost", "HOUMAO-x", NULL, false },
		{ "HOUMAO-@houmao.localhost", "o", NULL, false },
		{ "HOUMAO-x@other.domain", "o", NULL, true },
		{ "HOUMAO-x@houmao.localhost.org", "o", NULL, true },
		{ "HOUMAO-x@HOUMAO.localhost", "o", NULL, true },
		{ "houmao-x@houmao.localhost", "o", NULL, true },
		{ "HOUMAO@houmao.localhost", "o", NULL, true },
		{ "xHOUMAO-@houmao.localhost", "o", NULL, true },
	};
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_register_request request =
			in_root(MR_MAILBOX_SAFE, cases[i].owner);
		struct mr_mailbox_register_result result;

		request.address = cases[i].address;
		request.role = cases[i].role;
		if (cases[i].ok)
			CHECK_OK(mr_mailbox_register(&w.cx, &w.root, &request, &result), w.cx.err);
		else
			refuse(&w, request, MR_EINVAL,
				mr_arena_printf(w.cx.arena,
					"%s is reserved: addresses HOUMAO-*@houmao.localhost "
					"belong to the system",
					cases[i].address));
	}
}

/* Private state. */

static void unreadable_state_needs_a_yes(void)
{
	static const char BACKUP[] = "private/mailbox.sqlite.local-unusable-20260311T041500Z.bak";
	static const char SECOND[] = "private/mailbox.sqlite.local-unusable-20260311T041500Z-1.bak";
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;
	struct mr_mailbox_register_result result = { .address = NULL };

	world_open(&w);
	CHECK(mkdir("private", 0700) == 0);
	files_put("private/mailbox.sqlite", "this is no database, however long one looks at it");
	files_put("private/mailbox.sqlite-journal", "old journal");
	request = linked(&w, MR_MAILBOX_SAFE, "o", "private");
	for (size_t i = 0; i < MR_LEN(modes); i++) {
		request.mode = modes[i];
		CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ENOTCONFIRMED);
		CHECK(mr_str_starts(w.cx.err.msg,
			mr_arena_printf(w.cx.arena,
				"the mailbox-local state in %s cannot be read, and setting it "
				"aside needs a yes; nothing was registered: ",
				at(&w, "private"))));
		CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_registrations"), 0);
		CHECK(!is_there(ENTRY));
		files_hold("private/mailbox.sqlite",
			"this is no database, however long one looks at it");
	}
	request.mode = MR_MAILBOX_SAFE;
	request.replace_unreadable_local = true;
	join(&w, request);
	files_hold(BACKUP, "this is no database, however long one looks at it");
	CHECK(!is_there("private/mailbox.sqlite-journal"));
	check_boxes("private");
	CHECK_INT(states_in(&w, "private"), 0);

	/* The same for one that is registered already, within the same second. */
	files_put("private/mailbox.sqlite", "broken again, as far as anybody can tell from here");
	request.replace_unreadable_local = false;
	CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ENOTCONFIRMED);
	request.replace_unreadable_local = true;
	CHECK(join(&w, request).reused_existing);
	files_hold(SECOND, "broken again, as far as anybody can tell from here");
	check_boxes("private");

	/* Tables that are something else: it cannot be used either. */
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK(unlink("private/mailbox.sqlite") == 0);
	CHECK(rename("root/index.sqlite", "kept") == 0);
	exec(&w, "DROP TABLE mailbox_state; CREATE TABLE message_state(x)");
	CHECK(rename("root/index.sqlite", "private/mailbox.sqlite") == 0);
	CHECK(rename("kept", "root/index.sqlite") == 0);
	request.replace_unreadable_local = false;
	CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ENOTCONFIRMED);
	request.replace_unreadable_local = true;
	join(&w, request);
	CHECK_INT(states_in(&w, "private"), 0);
}

static void private_state_is_kept(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	put_state(&w, "private",
		&(struct mr_mailbox_state){ "m", "t", NOW, "S", .answered = true, .box = "x" });
	leave(&w, MR_MAILBOX_PURGE, A);
	join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	CHECK(state_of(&w, "private", "m").answered);
}

/* Leaving. */

static void leave_refused(struct world *w, enum mr_mailbox_unregister_mode mode,
	const char *address, enum mr_code code, const char *message)
{
	struct mr_mailbox_unregister_result result = { .address = "untouched" };

	CHECK_ERR(mr_mailbox_unregister(&w->cx, &w->root, mode, address, &result), w->cx.err, code,
		message);
	CHECK_STR(result.address, "untouched");
	check_tidy();
}

static void nobody_leaves_twice(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;

	world_open(&w);
	for (int mode = MR_MAILBOX_DEACTIVATE; mode <= MR_MAILBOX_PURGE; mode++) {
		leave_refused(&w, mode, A, MR_ENOTFOUND,
			"no active mailbox registration exists for " A);
		CHECK_INT(mr_mailbox_unregister(&w.cx, &w.root, mode, "x", &result), MR_EINVAL);
		CHECK(mr_str_starts(w.cx.err.msg, "address: "));
		join(&w, in_root(MR_MAILBOX_SAFE, "o"));
		leave(&w, mode, A);
		leave_refused(&w, mode, A, MR_ENOTFOUND,
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
		leave_refused(&w, mode, " " MR_MAILBOX_OPERATOR_ADDRESS, MR_EPERM,
			MR_MAILBOX_OPERATOR_ADDRESS
			" is the operator's mailbox and cannot be deregistered");
	CHECK_INT(row_of(&w, result.active_registration_id).status, MR_MAILBOX_ACTIVE);
}

static void deactivation_touches_no_file(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;
	struct mr_mailbox_registration row;
	const char *id;

	world_open(&w);
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	add_mail(&w, id, ENTRY, "m1", "inbox");
	files_put(ENTRY "/note", "kept");
	w.clock.now_us += INT64_C(3600) * 1000000;
	result = leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_STR(result.registration_id, id);
	CHECK_INT(result.foreign.len, 0);
	CHECK(result.foreign.items && !result.foreign.items[0]);
	row = row_of(&w, id);
	CHECK_INT(row.status, MR_MAILBOX_INACTIVE);
	CHECK_STR(row.deactivated_at, LATER);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_projections"), 1);
	files_hold(ENTRY "/note", "kept");
	CHECK_INT(files_count(ENTRY "/inbox"), 1);
	/* A time that is there already is kept. */
	exec(&w, "UPDATE mailbox_registrations SET status = 'active', deactivated_at_utc = 'then'");
	leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_STR(row_of(&w, id).deactivated_at, "then");
}

static void purging_reports_what_was_not_mail(void)
{
	static const char *const foreign[] = { "inbox/letter.md", "inbox/link", "link.md",
		"sub/deep/x", "zz" };
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;
	const char *id, *other;

	world_open(&w);
	other = join(&w, in_root(MR_MAILBOX_SAFE, "other")).active_registration_id;
	id = join(&w, in_root(MR_MAILBOX_FORCE, "o")).active_registration_id;
	add_mail(&w, id, ENTRY, "m1", "inbox later");
	CHECK(mkdir(ENTRY "/sub", 0700) == 0 && mkdir(ENTRY "/sub/deep", 0700) == 0);
	files_put(ENTRY "/sub/deep/x", "");
	files_put(ENTRY "/inbox/letter.md", "a file, not a link");
	files_put(ENTRY "/zz", "");
	files_put(ENTRY "/mailbox.sqlite-journal", "");
	CHECK(symlink("/etc", ENTRY "/inbox/link") == 0);
	CHECK(symlink("/etc", ENTRY "/link.md") == 0);
	result = leave(&w, MR_MAILBOX_PURGE, A);
	CHECK_STR(result.registration_id, id);
	CHECK_INT(result.foreign.len, MR_LEN(foreign));
	for (size_t i = 0; i < MR_LEN(foreign); i++)
		CHECK_STR(result.foreign.items[i],
			mr_mailbox_layout_join(w.cx.arena, at(&w, ENTRY), foreign[i]));
	CHECK_STR(result.foreign.items[MR_LEN(foreign)], NULL);
	CHECK(!is_there(ENTRY));
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_registrations"), 1);
	CHECK_STR(row_of(&w, other).replaced_by, NULL);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_projections"), 0);
	CHECK_INT(number(&w, "SELECT count(*) FROM messages"), 1);
	CHECK_STR(text(&w, "SELECT delivered_registration_id FROM message_recipients"), id);
}

static void purging_a_link_keeps_the_directory(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_unregister_result result;
	const char *id;

	world_open(&w);
	id = join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private")).active_registration_id;
	add_mail(&w, id, "private", "m1", "inbox");
	files_put("private/note", "kept");
	result = leave(&w, MR_MAILBOX_PURGE, A);
	CHECK_INT(result.foreign.len, 0);
	CHECK(!is_there(ENTRY));
	files_hold("private/note", "kept");
	CHECK_INT(files_count("private/inbox"), 1);
	CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_projections"), 0);
	CHECK_INT(number(&w, "SELECT count(*) FROM message_recipients"), 1);

	/* Nothing there: only the row goes. */
	join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	CHECK(unlink(ENTRY) == 0);
	leave(&w, MR_MAILBOX_PURGE, A);
	/* Something else there is not ours to delete. */
	join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	CHECK(unlink(ENTRY) == 0 && mkdir(ENTRY, 0700) == 0);
	leave_refused(&w, MR_MAILBOX_PURGE, A, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			"%s is not the link that " A " is registered with, and is not deleted; "
			"move it away first",
			at(&w, ENTRY)));
	CHECK(is_there(ENTRY));
}

static void a_directory_that_became_a_link_loses_the_link(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	join(&w, in_root(MR_MAILBOX_SAFE, "o"));
	CHECK(rename(ENTRY, "moved") == 0 && symlink("../../moved", ENTRY) == 0);
	CHECK_INT(leave(&w, MR_MAILBOX_PURGE, A).foreign.len, 0);
	CHECK(!is_there(ENTRY));
	check_boxes("moved");
}

/* Being whole. */

static void a_mailbox_is_whole_or_says_what_is_missing(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_registration row;
	const char *id;

	world_open(&w);
	id = join(&w, linked(&w, MR_MAILBOX_SAFE, "o", "private")).active_registration_id;
	row = row_of(&w, id);
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
			at(&w, "private")));
	CHECK(rename("private", "away") == 0);
	CHECK_ERR(mr_mailbox_register_check(&w.cx, &row), w.cx.err, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			"the mailbox of " A " is not whole: %s is not a directory; run "
			"`mailroom mailbox repair`",
			at(&w, "private")));
	CHECK(unlink(ENTRY) == 0 && rename("away", ENTRY) == 0);
	CHECK_ERR(mr_mailbox_register_check(&w.cx, &row), w.cx.err, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			"the mailbox of " A " is not whole: %s is not a symbolic link; run "
			"`mailroom mailbox repair`",
			at(&w, ENTRY)));
}

/* Recovery, where the crash test does not go: what others have done since. */

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
	recover(&w);
	CHECK_INT(files_count("root/staging/.intents"), MR_LEN(cases));
	/* A work directory of ours that no intent speaks of is removed. */
	CHECK_INT(files_count("root/staging/.trash"), 2);
	CHECK(!is_there("root/staging/.trash/reg-8"));
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
	id = join(&w, in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	put_intent("reg-1.json",
		mr_arena_printf(w.cx.arena,
			"{\"action\": \"purge\", \"address\": \"" A
			"\", \"registration_id\": \"%s\", \"replaces\": \"%s\", \"takes\": true}",
			id, id));
	files_put(ENTRY "/note", "old");
	CHECK(mkdir("root/staging/.trash/reg-1", 0700) == 0);
	CHECK(rename(ENTRY, "root/staging/.trash/reg-1/old") == 0);
	exec(&w,
		mr_arena_printf(w.cx.arena,
			"UPDATE mailbox_registrations SET status = 'inactive'; INSERT INTO "
			"mailbox_registrations VALUES('reg-new', '" A
			"', 'p', 'active', 'in_root', '%s', '%s', NULL, NULL, NULL, '" LATER
			"', NULL, NULL)",
			at(&w, ENTRY), at(&w, ENTRY)));
	CHECK(mkdir(ENTRY, 0700) == 0);
	recover(&w);
	check_tidy();
	CHECK(is_kind(ENTRY, S_IFDIR));
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
	check_tidy();
	files_hold(ENTRY "/inbox/letter", "kept");
	/* And one that is as it was made goes. */
	CHECK(unlink(ENTRY "/inbox/letter") == 0);
	put_intent("reg-1.json",
		"{\"action\": \"register\", \"address\": \"" A
		"\", \"registration_id\": \"r\", \"places\": true}");
	recover(&w);
	check_tidy();
	CHECK(!is_there(ENTRY));
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
	check_tidy();
	CHECK(!is_there(ENTRY));
}

/* A commit that fails, or any step before it, leaves everything as it was. */
static void a_failure_changes_nothing(void)
{
	static const char *const steps[] = { "fs.open:EIO", "fs.write:ENOSPC", "fs.sync:EIO" };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	join(&w, in_root(MR_MAILBOX_SAFE, "o"));
	files_put(ENTRY "/note", "kept");
	for (size_t i = 0; i < MR_LEN(steps); i++) {
		struct mr_mailbox_register_request request = in_root(MR_MAILBOX_FORCE, "other");
		struct mr_mailbox_register_result result;
		struct mr_mailbox_unregister_result gone;

		if (!files_fail_at(steps[i]))
			return;
		CHECK(mr_mailbox_register(&w.cx, &w.root, &request, &result) != MR_OK);
		CHECK(mr_mailbox_unregister(&w.cx, &w.root, MR_MAILBOX_PURGE, A, &gone) != MR_OK);
		files_fail_at(NULL);
		recover(&w);
		check_tidy();
		files_hold(ENTRY "/note", "kept");
		CHECK_INT(number(&w, "SELECT count(*) FROM mailbox_registrations"), 1);
	}
	/* The table refuses the row: a trigger of somebody else. */
	exec(&w,
		"CREATE TRIGGER no BEFORE INSERT ON mailbox_registrations BEGIN "
		"SELECT raise(ABORT, 'no'); END; "
		"CREATE TRIGGER nor BEFORE DELETE ON mailbox_registrations BEGIN "
		"SELECT raise(ABORT, 'no'); END");
	for (size_t i = 0; i < MR_LEN(modes); i++) {
		struct mr_mailbox_register_request request = in_root(modes[i], "other");
		struct mr_mailbox_register_result result;

		CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ECONFLICT);
		check_tidy();
		files_hold(ENTRY "/note", "kept");
		CHECK_INT(files_count("root/mailboxes"), 1);
	}
	leave_refused(&w, MR_MAILBOX_PURGE, A, MR_ECONFLICT,
		mr_arena_printf(w.cx.arena, "database %s: no [SQLite 1811]",
			at(&w, "root/index.sqlite")));
	files_hold(ENTRY "/note", "kept");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_free_address_gets_a_mailbox),
		TEST(a_private_directory_is_linked),
		TEST(private_paths_are_resolved),
		TEST(the_same_again_is_reused),
		TEST(what_is_reused_must_be_whole),
		TEST(an_active_mailbox_is_not_replaced_by_accident),
		TEST(force_replaces_what_is_active),
		TEST(stash_keeps_what_is_active),
		TEST(linked_mailboxes_are_replaced_and_stashed),
		TEST(in_root_takes_the_place_of_a_link),
		TEST(in_root_means_the_entry),
		TEST(private_means_outside),
		TEST(a_private_directory_has_one_address),
		TEST(a_preserved_mailbox_is_in_the_way),
		TEST(an_inactive_mailbox_is_revived),
		TEST(what_a_revived_mailbox_lost_is_made_again),
		TEST(a_revived_mailbox_does_not_swallow_others),
		TEST(untracked_entries_in_the_way_of_a_directory),
		TEST(untracked_entries_in_the_way_of_a_link),
		TEST(names_are_checked),
		TEST(addresses_are_checked),
		TEST(reserved_addresses_are_the_systems),
		TEST(unreadable_state_needs_a_yes),
		TEST(private_state_is_kept),
		TEST(nobody_leaves_twice),
		TEST(the_operator_stays),
		TEST(deactivation_touches_no_file),
		TEST(purging_reports_what_was_not_mail),
		TEST(purging_a_link_keeps_the_directory),
		TEST(a_directory_that_became_a_link_loses_the_link),
		TEST(a_mailbox_is_whole_or_says_what_is_missing),
		TEST(recovery_leaves_what_it_does_not_know),
		TEST(recovery_loses_nothing_of_either_side),
		TEST(recovery_does_not_remove_mail),
		TEST(recovery_goes_on_after_a_failure),
		TEST(a_failure_changes_nothing),
	};

	return test_main(tests, MR_LEN(tests));
}
