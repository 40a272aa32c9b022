/* tests/unit/mailbox/register_world.c */
#include "register_world.h"

#include "base/fs.h"
#include "database.h"
#include "files.h"
#include "mailbox/layout.h"
#include "mailbox/registration_sql.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOW_S = 1773202500 };

const enum mr_mailbox_register_mode world_modes[WORLD_MODES] = { MR_MAILBOX_SAFE, MR_MAILBOX_FORCE,
	MR_MAILBOX_STASH };

void world_close(struct world *w)
{
	mr_mailbox_root_close(&w->root);
	mr_arena_free(w->cx.arena);
}

void world_open(struct world *w)
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
	database_closep(&db);
}

const char *world_at(struct world *w, const char *path)
{
	return mr_mailbox_layout_join(w->cx.arena, w->cwd, path);
}

const char *world_text(struct world *w, const char *sql)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;

	CHECK_OK(mr_mailbox_root_index(&w->cx, &w->root, false, &db), w->cx.err);
	return database_text(&w->cx, db, sql);
}

long world_number(struct world *w, const char *sql)
{
	const char *found = world_text(w, sql);

	return found ? strtol(found, NULL, 10) : -1;
}

void world_exec(struct world *w, const char *sql)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;

	CHECK_OK(mr_mailbox_root_index(&w->cx, &w->root, false, &db), w->cx.err);
	database_exec(&w->cx, db, sql);
}

struct mr_mailbox_registration world_row_of(struct world *w, const char *id)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	const struct mr_mailbox_registration *row = NULL;

	CHECK_OK(mr_mailbox_root_index(&w->cx, &w->root, false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_registration_by_id(&w->cx, db, id, &row), w->cx.err);
	CHECK(row != NULL);
	return *row;
}

struct mr_mailbox_register_request world_in_root(enum mr_mailbox_register_mode mode,
	const char *owner)
{
	return (struct mr_mailbox_register_request){
		.mode = mode,
		.address = A,
		.owner = owner,
		.kind = MR_MAILBOX_IN_ROOT,
	};
}

struct mr_mailbox_register_request world_linked(struct world *w, enum mr_mailbox_register_mode mode,
	const char *owner, const char *path)
{
	return (struct mr_mailbox_register_request){
		.mode = mode,
		.address = A,
		.owner = owner,
		.kind = MR_MAILBOX_SYMLINK,
		.path = world_at(w, path),
	};
}

bool world_is_kind(const char *path, mode_t kind)
{
	struct stat st;

	return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

bool world_is_there(const char *path)
{
	return mr_fs_exists(AT_FDCWD, path);
}

void world_check_tidy(void)
{
	CHECK_INT(files_count("root/staging/.intents"), 0);
	CHECK_INT(files_count("root/staging/.trash"), 0);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK(!world_is_there("root/locks/index.lock"));
}

struct mr_mailbox_register_result world_join(struct world *w,
	struct mr_mailbox_register_request request)
{
	struct mr_mailbox_register_result result;
	size_t open = files_open();

	CHECK_OK(mr_mailbox_register(&w->cx, &w->root, &request, &result), w->cx.err);
	CHECK_INT(files_open(), open);
	CHECK_INT(result.mode, request.mode);
	CHECK_STR(result.address, A);
	CHECK_STR(result.owner, world_row_of(w, result.active_registration_id).owner);
	world_check_tidy();
	return result;
}

void world_refuse(struct world *w, struct mr_mailbox_register_request request, enum mr_code code,
	const char *message)
{
	const char *dump = "SELECT group_concat(registration_id || status || mailbox_path) "
			   "FROM mailbox_registrations";
	const char *before = world_text(w, dump), *want = message;
	struct mr_mailbox_register_result result = { .address = "untouched" };
	size_t entries = files_count("root/mailboxes");

	if (strstr(message, "%s")) {
		size_t len = (size_t)(strstr(message, "%s") - message);

		want = mr_arena_printf(w->cx.arena, "%.*s%s%s", (int)len, message, w->cwd,
			message + len + 2);
	}
	CHECK_ERR(mr_mailbox_register(&w->cx, &w->root, &request, &result), w->cx.err, code, want);
	CHECK_STR(result.address, "untouched");
	CHECK_STR(world_text(w, dump), before);
	CHECK_INT(files_count("root/mailboxes"), entries);
	world_check_tidy();
}

struct mr_mailbox_unregister_result world_leave(struct world *w,
	enum mr_mailbox_unregister_mode mode, const char *address)
{
	struct mr_mailbox_unregister_result result;
	size_t open = files_open();

	CHECK_OK(mr_mailbox_unregister(&w->cx, &w->root, mode, address, &result), w->cx.err);
	CHECK_INT(files_open(), open);
	CHECK_INT(result.mode, mode);
	CHECK_STR(result.address, address);
	world_check_tidy();
	return result;
}

void world_add_mail(struct world *w, const char *id, const char *mailbox, const char *message,
	const char *folders)
{
	struct mr_texts list = mr_str_split(w->cx.arena, folders, ' ');

	world_exec(w,
		mr_arena_printf(w->cx.arena,
			"INSERT OR IGNORE INTO messages(message_id, thread_id, created_at_utc, "
			"canonical_path, subject, body_markdown, sender_principal_id, "
			"sender_address) VALUES('%s', '%s', '" NOW "', '/c', 'S', 'b', 'p', '" A
			"')",
			message, message));
	world_exec(w,
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
		world_exec(w,
			mr_arena_printf(w->cx.arena,
				"INSERT INTO mailbox_projections VALUES('%s', '%s', '%s', '%s')",
				id, message, list.items[i], world_at(w, path)));
	}
}

void world_check_boxes(const char *mailbox)
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

struct mr_mailbox_state world_state_of(struct world *w, const char *mailbox, const char *message)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	const struct mr_mailbox_state *state = NULL;

	CHECK_OK(mr_mailbox_root_local(&w->cx, world_at(w, mailbox), false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_state_get(&w->cx, db, message, &state), w->cx.err);
	CHECK(state != NULL);
	return *state;
}

void world_put_state(struct world *w, const char *mailbox, const struct mr_mailbox_state *state)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;

	CHECK_OK(mr_mailbox_root_local(&w->cx, world_at(w, mailbox), false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_state_put(&w->cx, db, state), w->cx.err);
}

int64_t world_states_in(struct world *w, const char *mailbox)
{
	struct mr_db *db MR_CLEANUP(database_closep) = NULL;
	int64_t count = -1;

	CHECK_OK(mr_mailbox_root_local(&w->cx, world_at(w, mailbox), false, &db), w->cx.err);
	CHECK_OK(mr_mailbox_state_count(&w->cx, db, &count), w->cx.err);
	return count;
}

void world_leave_refused(struct world *w, enum mr_mailbox_unregister_mode mode, const char *address,
	enum mr_code code, const char *message)
{
	struct mr_mailbox_unregister_result result = { .address = "untouched" };

	CHECK_ERR(mr_mailbox_unregister(&w->cx, &w->root, mode, address, &result), w->cx.err, code,
		message);
	CHECK_STR(result.address, "untouched");
	world_check_tidy();
}
