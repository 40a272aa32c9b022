/* tests/unit/mailbox/test_mailbox_register.c - every row of the contract's table. */
#include "base/fs.h"
#include "files.h"
#include "mailbox/layout.h"
#include "register_world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEX = 32 };

static void a_free_address_gets_a_mailbox(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < WORLD_MODES; i++) {
		struct mr_mailbox_register_request request =
			world_in_root(world_modes[i], " HOUMAO-a\n");
		struct mr_mailbox_register_result result;
		struct mr_mailbox_registration row;

		request.address = " " A "\t";
		request.display_name = " Anna ";
		request.manifest_path_hint = "/m";
		request.role = "r";
		result = world_join(&w, request);
		CHECK(!result.reused_existing);
		CHECK_STR(result.replaced_registration_id, NULL);
		CHECK_STR(result.stashed_registration_id, NULL);
		CHECK_STR(result.stashed_path, NULL);
		CHECK(mr_str_starts(result.active_registration_id, "reg-"));
		CHECK_INT(strlen(result.active_registration_id), 4 + HEX);
		row = world_row_of(&w, result.active_registration_id);
		CHECK_STR(row.address, A);
		CHECK_STR(row.owner, "HOUMAO-a");
		CHECK_INT(row.status, MR_MAILBOX_ACTIVE);
		CHECK_INT(row.kind, MR_MAILBOX_IN_ROOT);
		CHECK_STR(row.path, world_at(&w, ENTRY));
		CHECK_STR(row.entry_path, world_at(&w, ENTRY));
		CHECK_STR(row.display_name, "Anna");
		CHECK_STR(row.manifest_path_hint, "/m");
		CHECK_STR(row.role, "r");
		CHECK_STR(row.created_at, NOW);
		CHECK_STR(row.deactivated_at, NULL);
		CHECK_STR(row.replaced_by, NULL);
		world_check_boxes(ENTRY);
		CHECK_INT(files_count("root/mailboxes"), 1);
		world_leave(&w, MR_MAILBOX_PURGE, A);
	}
}

static void a_private_directory_is_linked(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t i = 0; i < WORLD_MODES; i++) {
		struct mr_mailbox_register_result result =
			world_join(&w, world_linked(&w, world_modes[i], "o", "private/a"));
		struct mr_mailbox_registration row =
			world_row_of(&w, result.active_registration_id);
		char target[4096] = "";

		CHECK(!result.reused_existing);
		CHECK_INT(row.kind, MR_MAILBOX_SYMLINK);
		CHECK_STR(row.path, world_at(&w, "private/a"));
		CHECK_STR(row.entry_path, world_at(&w, ENTRY));
		world_check_boxes("private/a");
		CHECK(readlink(ENTRY, target, sizeof(target) - 1) > 0);
		CHECK_STR(target, world_at(&w, "private/a"));
		/* Purging takes the link only. */
		world_leave(&w, MR_MAILBOX_PURGE, A);
		CHECK(!world_is_there(ENTRY));
		world_check_boxes("private/a");
	}
}

static void the_same_again_is_reused(void)
{
	static const enum mr_mailbox_kind kinds[] = { MR_MAILBOX_IN_ROOT, MR_MAILBOX_SYMLINK };
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	for (size_t k = 0; k < MR_LEN(kinds); k++) {
		struct mr_mailbox_register_request request = kinds[k] == MR_MAILBOX_IN_ROOT
			? world_in_root(MR_MAILBOX_SAFE, "o")
			: world_linked(&w, MR_MAILBOX_SAFE, "o", "private");
		struct mr_mailbox_register_result first, again;
		struct mr_mailbox_registration row;

		request.display_name = "Anna";
		request.role = "r";
		first = world_join(&w, request);
		files_put(ENTRY "/note", "kept");
		for (size_t i = 0; i < WORLD_MODES; i++) {
			request.mode = world_modes[i];
			request.display_name = i == 1 ? "Berta" : NULL;
			request.manifest_path_hint = "/m";
			request.role = NULL;
			again = world_join(&w, request);
			CHECK(again.reused_existing);
			CHECK_STR(again.active_registration_id, first.active_registration_id);
			CHECK_STR(again.replaced_registration_id, NULL);
			CHECK_STR(again.stashed_registration_id, NULL);
			row = world_row_of(&w, first.active_registration_id);
			CHECK_STR(row.display_name, request.display_name);
			CHECK_STR(row.manifest_path_hint, "/m");
			CHECK_STR(row.role, NULL);
			CHECK_STR(row.created_at, NOW);
			files_hold(ENTRY "/note", "kept");
		}
		world_leave(&w, MR_MAILBOX_PURGE, A);
	}
}

static void what_is_reused_must_be_whole(void)
{
	static const char MESSAGE[] = "the mailbox of " A " is not whole: %s/" ENTRY
				      "/archive is not a directory; run `mailroom mailbox repair`";
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o"));
	CHECK(rmdir(ENTRY "/archive") == 0);
	for (size_t i = 0; i < WORLD_MODES; i++)
		world_refuse(&w, world_in_root(world_modes[i], "o"), MR_ECONFLICT, MESSAGE);
}

static void an_active_mailbox_is_not_replaced_by_accident(void)
{
	struct world w MR_CLEANUP(world_close);
	const char *id, *message;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	message = mr_arena_printf(w.cx.arena,
		A " already has an active mailbox: %s, owned by o, at %s; mode force replaces it, "
		  "mode stash keeps it aside",
		id, world_at(&w, ENTRY));
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "other"), MR_ECONFLICT, message);
	world_refuse(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"), MR_ECONFLICT, message);
	/* Nor is anything made for it. */
	CHECK(!world_is_there("private"));
}

/* Of the old mailbox: where its mail goes, what its row says. */
static void force_replaces_what_is_active(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	struct mr_mailbox_registration old;
	const char *id;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	world_add_mail(&w, id, ENTRY, "m1", "inbox sent");
	world_exec(&w,
		mr_arena_printf(w.cx.arena,
			"INSERT INTO mailbox_state(registration_id, message_id) VALUES('%s', "
			"'m1')",
			id));
	world_put_state(&w, ENTRY,
		&(struct mr_mailbox_state){ "m1", "m1", NOW, "S", .box = "inbox" });
	w.clock.now_us += HOUR;
	result = world_join(&w, world_in_root(MR_MAILBOX_FORCE, "other"));
	CHECK(!result.reused_existing);
	CHECK_STR(result.replaced_registration_id, id);
	CHECK_STR(result.stashed_registration_id, NULL);
	CHECK_STR(result.stashed_path, NULL);
	CHECK(!mr_str_eq(result.active_registration_id, id));
	old = world_row_of(&w, id);
	CHECK_INT(old.status, MR_MAILBOX_INACTIVE);
	CHECK_STR(old.deactivated_at, LATER);
	CHECK_STR(old.replaced_by, result.active_registration_id);
	CHECK_STR(old.path, world_at(&w, ENTRY));
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_projections"), 0);
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_state"), 0);
	CHECK_INT(world_number(&w, "SELECT count(*) FROM messages"), 1);
	world_check_boxes(ENTRY);
	CHECK_INT(files_count(ENTRY "/inbox"), 0);
	CHECK_INT(world_states_in(&w, ENTRY), 0);
	CHECK_INT(files_count("root/mailboxes"), 1);
}

static void stash_keeps_what_is_active(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	struct mr_mailbox_registration old;
	const char *id, *suffix;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	world_add_mail(&w, id, ENTRY, "m1", "inbox");
	files_put(ENTRY "/note", "kept");
	w.clock.now_us += HOUR;
	result = world_join(&w, world_in_root(MR_MAILBOX_STASH, "other"));
	CHECK_STR(result.replaced_registration_id, NULL);
	CHECK_STR(result.stashed_registration_id, id);
	CHECK(mr_str_starts(result.stashed_path, world_at(&w, ENTRY "--")));
	suffix = result.stashed_path + strlen(world_at(&w, ENTRY "--"));
	CHECK_INT(strlen(suffix), HEX);
	CHECK_INT(strspn(suffix, "0123456789abcdef"), HEX);
	old = world_row_of(&w, id);
	CHECK_INT(old.status, MR_MAILBOX_STASHED);
	CHECK_STR(old.deactivated_at, LATER);
	CHECK_STR(old.replaced_by, result.active_registration_id);
	CHECK_STR(old.path, result.stashed_path);
	CHECK_STR(old.entry_path, result.stashed_path);
	files_hold(mr_mailbox_layout_join(w.cx.arena, result.stashed_path, "note"), "kept");
	CHECK_STR(world_text(&w, "SELECT projection_path FROM mailbox_projections"),
		mr_mailbox_layout_join(w.cx.arena, result.stashed_path, "inbox/m1.md"));
	world_check_boxes(ENTRY);
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
	first = world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "one"))
			.active_registration_id;
	files_put("one/note", "kept");
	result = world_join(&w, world_linked(&w, MR_MAILBOX_FORCE, "o", "two"));
	CHECK_STR(result.replaced_registration_id, first);
	CHECK_STR(world_row_of(&w, first).path, world_at(&w, "one"));
	files_hold("one/note", "kept");

	second = result.active_registration_id;
	result = world_join(&w, world_linked(&w, MR_MAILBOX_STASH, "o", "three"));
	CHECK_STR(result.stashed_registration_id, second);
	CHECK(world_is_kind(result.stashed_path, S_IFLNK));
	old = world_row_of(&w, second);
	CHECK_STR(old.path, world_at(&w, "two"));
	CHECK_STR(old.entry_path, result.stashed_path);
	world_check_boxes("two");
	world_check_boxes(result.stashed_path);
	world_check_boxes("three");
	CHECK_INT(files_count("root/mailboxes"), 2);

	/* And the same directory for another owner: what is in it stays. */
	world_put_state(&w, "three",
		&(struct mr_mailbox_state){ "m", "m", NOW, "S", .starred = true, .box = "x" });
	world_join(&w, world_linked(&w, MR_MAILBOX_FORCE, "other", "three"));
	CHECK(world_state_of(&w, "three", "m").starred);
}

/* Where the reference fails, because it follows the link before it compares. */
static void in_root_takes_the_place_of_a_link(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request = world_in_root(MR_MAILBOX_FORCE, "o");
	struct mr_mailbox_register_result result;
	const char *id;

	world_open(&w);
	request.path = world_at(&w, ENTRY);
	id = world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "one")).active_registration_id;
	files_put("one/note", "kept");
	CHECK_STR(world_join(&w, request).replaced_registration_id, id);
	CHECK(world_is_kind(ENTRY, S_IFDIR));
	world_leave(&w, MR_MAILBOX_PURGE, A);
	world_exec(&w, "DELETE FROM mailbox_registrations");

	id = world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "one")).active_registration_id;
	request.mode = MR_MAILBOX_STASH;
	result = world_join(&w, request);
	CHECK_STR(result.stashed_registration_id, id);
	CHECK(world_is_kind(ENTRY, S_IFDIR));
	CHECK(world_is_kind(result.stashed_path, S_IFLNK));
	files_hold("one/note", "kept");
}

static void a_private_directory_has_one_address(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;
	struct mr_mailbox_register_result result;

	world_open(&w);
	request = world_linked(&w, MR_MAILBOX_SAFE, "o", "private");
	request.address = B;
	CHECK_OK(mr_mailbox_register(&w.cx, &w.root, &request, &result), w.cx.err);
	for (size_t i = 0; i < WORLD_MODES; i++)
		world_refuse(&w, world_linked(&w, world_modes[i], "o", "private"), MR_ECONFLICT,
			mr_arena_printf(w.cx.arena,
				"mailbox path %s is already active for " B " (%s)",
				world_at(&w, "private"), result.active_registration_id));
	world_leave(&w, MR_MAILBOX_DEACTIVATE, B);
	world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"));
}

/* An inactive row that still claims the entry, for somebody else. */
static void a_preserved_mailbox_is_in_the_way(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	const char *id, *message;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	message = mr_arena_printf(w.cx.arena,
		A " still has a preserved mailbox artifact: %s, owned by o, at %s; mode force "
		  "replaces it, mode stash keeps it aside",
		id, world_at(&w, ENTRY));
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "other"), MR_ECONFLICT, message);
	world_refuse(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"), MR_ECONFLICT, message);
	/* Even when there is nothing on disk. */
	CHECK(rename(ENTRY, "away") == 0);
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "other"), MR_ECONFLICT, message);

	/* Stashed without anything to stash: the row leaves the name all the same. */
	w.clock.now_us += HOUR;
	result = world_join(&w, world_in_root(MR_MAILBOX_STASH, "other"));
	CHECK_STR(result.stashed_registration_id, id);
	CHECK_STR(result.stashed_path, NULL);
	CHECK_INT(world_row_of(&w, id).status, MR_MAILBOX_STASHED);
	CHECK_STR(world_row_of(&w, id).deactivated_at, NOW);
	CHECK(!mr_str_eq(world_row_of(&w, id).entry_path, world_at(&w, ENTRY)));

	id = result.active_registration_id;
	files_put(ENTRY "/note", "gone");
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	result = world_join(&w, world_in_root(MR_MAILBOX_FORCE, "third"));
	CHECK_STR(result.replaced_registration_id, id);
	CHECK_STR(world_row_of(&w, id).replaced_by, result.active_registration_id);
	CHECK(!world_is_there(ENTRY "/note"));
	CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_registrations"), 3);
}

static void an_inactive_mailbox_is_revived(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request = world_in_root(MR_MAILBOX_SAFE, "o");
	struct mr_mailbox_register_result result;
	struct mr_mailbox_registration row;
	const char *id;

	world_open(&w);
	id = world_join(&w, request).active_registration_id;
	world_add_mail(&w, id, ENTRY, "m1", "inbox");
	world_put_state(&w, ENTRY,
		&(struct mr_mailbox_state){ "m1", "m1", NOW, "S", .starred = true,
			.box = "inbox" });
	w.clock.now_us += HOUR;
	for (size_t i = 0; i < WORLD_MODES; i++) {
		world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
		CHECK(rmdir(ENTRY "/drafts") == 0);
		request.mode = world_modes[i];
		request.role = "again";
		result = world_join(&w, request);
		CHECK(result.reused_existing);
		CHECK_STR(result.active_registration_id, id);
		row = world_row_of(&w, id);
		CHECK_INT(row.status, MR_MAILBOX_ACTIVE);
		CHECK_STR(row.deactivated_at, NULL);
		CHECK_STR(row.replaced_by, NULL);
		CHECK_STR(row.role, "again");
		CHECK_STR(row.created_at, NOW);
		world_check_boxes(ENTRY);
		CHECK_INT(files_count(ENTRY "/inbox"), 1);
		CHECK(world_state_of(&w, ENTRY, "m1").starred);
	}
}

static void what_a_revived_mailbox_lost_is_made_again(void)
{
	struct world w MR_CLEANUP(world_close);
	const char *id;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	world_add_mail(&w, id, ENTRY, "m1", "inbox sent");
	world_add_mail(&w, id, ENTRY, "m2", "sent");
	world_add_mail(&w, id, ENTRY, "m3", "archive");
	world_add_mail(&w, id, ENTRY, "m4", "zebra later");
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, ENTRY, &w.cx.err), w.cx.err);
	CHECK(world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).reused_existing);
	world_check_boxes(ENTRY);
	/* Its state is taken from the projections in the index. */
	CHECK_INT(world_states_in(&w, ENTRY), 4);
	CHECK(!world_state_of(&w, ENTRY, "m1").read);
	CHECK_STR(world_state_of(&w, ENTRY, "m1").box, "inbox");
	CHECK(world_state_of(&w, ENTRY, "m2").read);
	CHECK_STR(world_state_of(&w, ENTRY, "m2").box, "sent");
	CHECK(world_state_of(&w, ENTRY, "m3").archived);
	CHECK_STR(world_state_of(&w, ENTRY, "m3").box, "archive");
	CHECK_STR(world_state_of(&w, ENTRY, "m4").box, "later");
	world_leave(&w, MR_MAILBOX_PURGE, A);

	id = world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"))
		     .active_registration_id;
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK(unlink(ENTRY) == 0);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "private", &w.cx.err), w.cx.err);
	CHECK_STR(world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"))
			  .active_registration_id,
		id);
	world_check_boxes("private");
	CHECK(world_is_kind(ENTRY, S_IFLNK));
	/* The link is there, but leads nowhere any more. */
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "private", &w.cx.err), w.cx.err);
	CHECK_STR(world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"))
			  .active_registration_id,
		id);
	world_check_boxes("private");
}

/* Something else has taken the place of an inactive mailbox. */
static void a_revived_mailbox_does_not_swallow_others(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;
	const char *id;

	world_open(&w);
	id = world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o")).active_registration_id;
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, ENTRY, &w.cx.err), w.cx.err);
	files_put(ENTRY, "a file");
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		mr_arena_printf(w.cx.arena,
			A " still has a preserved mailbox artifact: %s, owned by o, at %s; mode "
			  "force replaces it, mode stash keeps it aside",
			id, world_at(&w, ENTRY)));
	result = world_join(&w, world_in_root(MR_MAILBOX_STASH, "o"));
	CHECK_STR(result.stashed_registration_id, id);
	files_hold(result.stashed_path, "a file");
	world_check_boxes(ENTRY);
}

/* What no registration knows. */
static void untracked_entries_in_the_way_of_a_directory(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_result result;

	world_open(&w);
	CHECK(mkdir(ENTRY, 0755) == 0 && mkdir(ENTRY "/inbox", 0755) == 0);
	files_put(ENTRY "/inbox/letter", "kept");
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"directory %s/" ENTRY " is not empty and belongs to no registration; mode force "
		"deletes it, mode stash keeps it aside");
	CHECK(rename(ENTRY "/inbox/letter", ENTRY "/letter") == 0);
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"directory %s/" ENTRY " is not empty and belongs to no registration; mode force "
		"deletes it, mode stash keeps it aside");
	result = world_join(&w, world_in_root(MR_MAILBOX_STASH, "o"));
	CHECK_STR(result.stashed_registration_id, NULL);
	files_hold(mr_mailbox_layout_join(w.cx.arena, result.stashed_path, "letter"), "kept");
	world_leave(&w, MR_MAILBOX_PURGE, A);

	CHECK(mkdir(ENTRY, 0755) == 0);
	files_put(ENTRY "/letter", "gone");
	result = world_join(&w, world_in_root(MR_MAILBOX_FORCE, "o"));
	CHECK_STR(result.replaced_registration_id, NULL);
	CHECK(!world_is_there(ENTRY "/letter"));
	world_leave(&w, MR_MAILBOX_PURGE, A);

	/* Nothing but empty boxes: nothing to lose. */
	CHECK(mkdir(ENTRY, 0755) == 0 && mkdir(ENTRY "/inbox", 0755) == 0);
	world_join(&w, world_in_root(MR_MAILBOX_SAFE, "o"));
	world_check_boxes(ENTRY);
	world_leave(&w, MR_MAILBOX_PURGE, A);

	files_put(ENTRY, "a file");
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"%s/" ENTRY " exists, is no directory and belongs to no registration; mode force "
		"removes it, mode stash keeps it aside");
	CHECK(unlink(ENTRY) == 0);
	CHECK(mkdir("else", 0700) == 0 && symlink("../../else", ENTRY) == 0);
	files_put("else/note", "kept");
	world_refuse(&w, world_in_root(MR_MAILBOX_SAFE, "o"), MR_ECONFLICT,
		"%s/" ENTRY " exists, is no directory and belongs to no registration; mode force "
		"removes it, mode stash keeps it aside");
	world_join(&w, world_in_root(MR_MAILBOX_FORCE, "o"));
	world_check_boxes(ENTRY);
	files_hold("else/note", "kept");
}

static void untracked_entries_in_the_way_of_a_link(void)
{
	struct world w MR_CLEANUP(world_close);
	struct mr_mailbox_register_request request;
	struct mr_mailbox_register_result result;
	const char *message;

	world_open(&w);
	request = world_linked(&w, MR_MAILBOX_SAFE, "o", "private");
	message = mr_arena_printf(w.cx.arena,
		"%s exists and is not a link to %s; mode force removes it, mode stash keeps it "
		"aside",
		world_at(&w, ENTRY), world_at(&w, "private"));
	CHECK(mkdir(ENTRY, 0755) == 0);
	world_refuse(&w, request, MR_ECONFLICT, message);
	CHECK(rmdir(ENTRY) == 0 && mkdir("else", 0700) == 0 && symlink("../../else", ENTRY) == 0);
	world_refuse(&w, request, MR_ECONFLICT, message);
	CHECK(!world_is_there("private"));
	request.mode = MR_MAILBOX_STASH;
	result = world_join(&w, request);
	CHECK_STR(result.stashed_registration_id, NULL);
	CHECK(world_is_kind(result.stashed_path, S_IFLNK));
	world_leave(&w, MR_MAILBOX_PURGE, A);

	CHECK(mkdir(ENTRY, 0755) == 0);
	files_put(ENTRY "/letter", "gone");
	request.mode = MR_MAILBOX_FORCE;
	world_join(&w, request);
	CHECK(world_is_kind(ENTRY, S_IFLNK));
	world_leave(&w, MR_MAILBOX_PURGE, A);

	/* A link that leads there already, by another way. */
	CHECK(symlink("../../private", ENTRY) == 0);
	request.mode = MR_MAILBOX_SAFE;
	CHECK(!world_join(&w, request).reused_existing);
	world_check_boxes(ENTRY);
}

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
	request = world_linked(&w, MR_MAILBOX_SAFE, "o", "private");
	for (size_t i = 0; i < WORLD_MODES; i++) {
		request.mode = world_modes[i];
		CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ENOTCONFIRMED);
		CHECK(mr_str_starts(w.cx.err.msg,
			mr_arena_printf(w.cx.arena,
				"the mailbox-local state in %s cannot be read, and setting it "
				"aside needs a yes; nothing was registered: ",
				world_at(&w, "private"))));
		CHECK_INT(world_number(&w, "SELECT count(*) FROM mailbox_registrations"), 0);
		CHECK(!world_is_there(ENTRY));
		files_hold("private/mailbox.sqlite",
			"this is no database, however long one looks at it");
	}
	request.mode = MR_MAILBOX_SAFE;
	request.replace_unreadable_local = true;
	world_join(&w, request);
	files_hold(BACKUP, "this is no database, however long one looks at it");
	CHECK(!world_is_there("private/mailbox.sqlite-journal"));
	world_check_boxes("private");
	CHECK_INT(world_states_in(&w, "private"), 0);

	/* The same for one that is registered already, within the same second. */
	files_put("private/mailbox.sqlite", "broken again, as far as anybody can tell from here");
	request.replace_unreadable_local = false;
	CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ENOTCONFIRMED);
	request.replace_unreadable_local = true;
	CHECK(world_join(&w, request).reused_existing);
	files_hold(SECOND, "broken again, as far as anybody can tell from here");
	world_check_boxes("private");

	/* Tables that are something else: it cannot be used either. */
	world_leave(&w, MR_MAILBOX_DEACTIVATE, A);
	CHECK(unlink("private/mailbox.sqlite") == 0);
	CHECK(rename("root/index.sqlite", "kept") == 0);
	world_exec(&w, "DROP TABLE mailbox_state; CREATE TABLE message_state(x)");
	CHECK(rename("root/index.sqlite", "private/mailbox.sqlite") == 0);
	CHECK(rename("kept", "root/index.sqlite") == 0);
	request.replace_unreadable_local = false;
	CHECK_INT(mr_mailbox_register(&w.cx, &w.root, &request, &result), MR_ENOTCONFIRMED);
	request.replace_unreadable_local = true;
	world_join(&w, request);
	CHECK_INT(world_states_in(&w, "private"), 0);
}

static void private_state_is_kept(void)
{
	struct world w MR_CLEANUP(world_close);

	world_open(&w);
	world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	world_put_state(&w, "private",
		&(struct mr_mailbox_state){ "m", "t", NOW, "S", .answered = true, .box = "x" });
	world_leave(&w, MR_MAILBOX_PURGE, A);
	world_join(&w, world_linked(&w, MR_MAILBOX_SAFE, "o", "private"));
	CHECK(world_state_of(&w, "private", "m").answered);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_free_address_gets_a_mailbox),
		TEST(a_private_directory_is_linked),
		TEST(the_same_again_is_reused),
		TEST(what_is_reused_must_be_whole),
		TEST(an_active_mailbox_is_not_replaced_by_accident),
		TEST(force_replaces_what_is_active),
		TEST(stash_keeps_what_is_active),
		TEST(linked_mailboxes_are_replaced_and_stashed),
		TEST(in_root_takes_the_place_of_a_link),
		TEST(a_private_directory_has_one_address),
		TEST(a_preserved_mailbox_is_in_the_way),
		TEST(an_inactive_mailbox_is_revived),
		TEST(what_a_revived_mailbox_lost_is_made_again),
		TEST(a_revived_mailbox_does_not_swallow_others),
		TEST(untracked_entries_in_the_way_of_a_directory),
		TEST(untracked_entries_in_the_way_of_a_link),
		TEST(unreadable_state_needs_a_yes),
		TEST(private_state_is_kept),
	};

	return test_main(tests, MR_LEN(tests));
}
