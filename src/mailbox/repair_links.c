/* mailbox/repair_links.c - check and repair of a mailbox's folders and their links. */
#include "base/crash.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "mailbox/limits.h"
#include "mailbox/repair_private.h"
#include "text/token.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char SUFFIX[] = ".md";
static const char DRAFTS[] = "drafts";

static bool is_folder_name(const char *name)
{
	return name[0] != '\0' && !mr_str_eq(name, ".") && !mr_str_eq(name, "..") &&
		!strchr(name, '/') && strlen(name) <= NAME_MAX &&
		mr_utf8_is_valid(name, strlen(name), NULL);
}

uint16_t mr_mailbox_view_folder(struct mr_mailbox_view *view, const char *name)
{
	struct mr_arena *arena = view->cx.arena;

	for (size_t i = 0; i < view->folder_count; i++) {
		if (mr_str_eq(view->folders[i], name))
			return (uint16_t)i;
	}
	if (!is_folder_name(name) || view->folder_count == MR_MAILBOX_NO_FOLDER)
		return MR_MAILBOX_NO_FOLDER;
	if (view->folder_count == view->folder_cap) {
		size_t cap = view->folder_cap ? view->folder_cap * 2 : 16;
		const char **folders = mr_arena_array(arena, cap, sizeof(*folders));
		bool *changed = mr_arena_array(arena, cap, sizeof(*changed));

		if (view->folder_count > 0) {
			memcpy(folders, view->folders, view->folder_count * sizeof(*folders));
			memcpy(changed, view->changed, view->folder_count * sizeof(*changed));
		}
		view->folders = folders;
		view->changed = changed;
		view->folder_cap = cap;
	}
	view->folders[view->folder_count] = mr_arena_strdup(arena, name);
	return (uint16_t)view->folder_count++;
}

const char *mr_mailbox_view_path(const struct mr_mailbox_view *view, struct mr_arena *arena,
	uint16_t folder, uint32_t message)
{
	return mr_mailbox_layout_join(arena, view->account->row.path,
		mr_mailbox_layout_projection(arena, view->folders[folder],
			mr_mailbox_known_id(&view->run->known, arena, message)));
}

static const char *target_of(const struct mr_mailbox_view *view, struct mr_arena *arena,
	uint32_t message)
{
	return mr_mailbox_layout_join(arena, view->run->root->path,
		mr_mailbox_known_path(&view->run->known, arena, message));
}

/* Open the folder, once for many entries. */
static enum mr_code enter(struct mr_mailbox_view *view, uint16_t folder)
{
	if (view->box_dir >= 0 && view->box == folder)
		return MR_OK;
	mr_fs_closep(&view->box_dir);
	view->box_dir = openat(view->dir, view->folders[folder],
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (view->box_dir < 0)
		return mr_err_os(&view->run->cx->err, errno, "cannot open directory %s/%s",
			view->account->row.path, view->folders[folder]);
	view->box = folder;
	return MR_OK;
}

/* A link or file named like a message that does not exist. */
static enum mr_code look_at_stranger(struct mr_mailbox_view *view, struct mr_arena *arena,
	uint16_t folder, const char *name)
{
	const char *path = mr_mailbox_layout_join(arena,
		mr_mailbox_layout_join(arena, view->account->row.path, view->folders[folder]),
		name);
	struct stat st;

	if (fstatat(view->box_dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return MR_OK;
	if (!S_ISLNK(st.st_mode) && mr_str_eq(view->folders[folder], DRAFTS))
		return MR_OK;
	if (!S_ISLNK(st.st_mode) || fstatat(view->box_dir, name, &st, 0) == 0 ||
		(errno != ENOENT && errno != ENOTDIR && errno != ELOOP)) {
		mr_mailbox_repair_found(view->run, "foreign_link", path,
			"is not the link to a message of this root; left alone");
		return MR_OK;
	}
	mr_mailbox_repair_found(view->run, "broken_link", path,
		view->run->hands ? "the message is gone; the link is removed"
				 : "the message is gone");
	if (!view->run->hands)
		return MR_OK;
	if (unlinkat(view->box_dir, name, 0) != 0 && errno != ENOENT)
		return mr_err_os(&view->run->cx->err, errno, "cannot remove %s", path);
	mr_crash_point("repair.link.removed");
	view->changed[folder] = true;
	return MR_OK;
}

static enum mr_code look_at_entry(struct mr_mailbox_view *view, struct mr_arena *arena,
	uint16_t folder, const char *name)
{
	size_t len = strlen(name);
	struct mr_mailbox_place place = { .folder = folder, .what = MR_MAILBOX_LINK_FILE };
	char target[PATH_MAX];
	const char *id;
	ssize_t got;

	if (!mr_str_ends(name, SUFFIX))
		return MR_OK;
	id = mr_arena_strndup(arena, name, len - strlen(SUFFIX));
	if (!mr_token_is_message_id(id))
		return MR_OK;
	if (!mr_mailbox_known_find(&view->run->known, id, &place.message))
		return look_at_stranger(view, arena, folder, name);
	got = readlinkat(view->box_dir, name, target, sizeof(target) - 1);
	if (got < 0 && errno != EINVAL)
		return MR_OK;
	if (got >= 0) {
		target[got] = '\0';
		place.what = mr_str_eq(target, target_of(view, arena, place.message))
			? MR_MAILBOX_LINK_RIGHT
			: MR_MAILBOX_LINK_WRONG;
	}
	mr_buf_add(&view->links, &place, sizeof(place));
	return MR_OK;
}

static enum mr_code read_folder(struct mr_mailbox_view *view, const char *name)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	uint16_t folder = mr_mailbox_view_folder(view, name);
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc = enter(view, folder);

	if (!rc)
		rc = mr_fs_list(arena, view->box_dir, ".", MR_MAILBOX_ENTRIES, &names,
			&view->run->cx->err);
	for (size_t i = 0; i < names.len && !rc; i++) {
		struct mr_arena *one MR_CLEANUP(mr_arena_freep) = mr_arena_new();

		rc = look_at_entry(view, one, folder, names.items[i]);
	}
	return rc ? mr_err_wrap(&view->run->cx->err, "mailbox %s", view->account->row.path) : MR_OK;
}

/* The four that every mailbox has. */
static enum mr_code make_boxes(struct mr_mailbox_view *view)
{
	struct mr_mailbox_repair_run *run = view->run;
	enum mr_code rc = MR_OK;

	for (const char *const *box = mr_mailbox_boxes; *box && !rc; box++) {
		struct stat st;

		mr_mailbox_view_folder(view, *box);
		if (fstatat(view->dir, *box, &st, 0) == 0)
			continue;
		mr_mailbox_repair_found(run, "missing_directory",
			mr_mailbox_layout_join(view->cx.arena, view->account->row.path, *box),
			run->hands ? "made" : "every mailbox has one");
		if (run->hands)
			rc = mr_fs_make_dirs(view->dir, *box, 0700, &run->cx->err);
	}
	return rc;
}

enum mr_code mr_mailbox_view_read_links(struct mr_mailbox_view *view)
{
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc = make_boxes(view);

	if (!rc)
		rc = mr_fs_list(view->cx.arena, view->dir, ".", MR_MAILBOX_ENTRIES, &names,
			&view->run->cx->err);
	for (size_t i = 0; i < names.len && !rc; i++) {
		struct stat st;

		if (is_folder_name(names.items[i]) &&
			fstatat(view->dir, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode))
			rc = read_folder(view, names.items[i]);
	}
	return rc ? rc : mr_buf_check(&view->links, "links", &view->run->cx->err);
}

/* A file stands where a link belongs: move it, since it may be the owner's. */
static enum mr_code clear_place(struct mr_mailbox_view *view, struct mr_arena *arena,
	uint16_t folder, const char *name)
{
	const char *path = mr_mailbox_layout_join(arena,
		mr_mailbox_layout_join(arena, mr_mailbox_layout_entry(arena, view->account->name),
			view->folders[folder]),
		name);
	const char *to = NULL;
	enum mr_code rc = mr_mailbox_repair_set_aside_at(view->run, view->box_dir, name, path, &to);

	if (!rc)
		mr_mailbox_repair_found(view->run, "foreign_link", path,
			"was not a link; it is now %s", to);
	return rc;
}

enum mr_code mr_mailbox_view_link(struct mr_mailbox_view *view, uint16_t folder, uint32_t message,
	const struct mr_mailbox_place *found)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_err *err = &view->run->cx->err;
	const char *name = mr_arena_printf(arena, "%s%s",
		mr_mailbox_known_id(&view->run->known, arena, message), SUFFIX);
	const char *fresh = mr_arena_printf(arena, ".%s.new", name);
	enum mr_code rc = MR_OK;

	if (view->box_dir < 0 || view->box != folder)
		rc = mr_fs_make_dirs(view->dir, view->folders[folder], 0700, err);
	if (!rc)
		rc = enter(view, folder);
	if (!rc && found && found->what == MR_MAILBOX_LINK_FILE)
		rc = clear_place(view, arena, folder, name);
	if (rc)
		return rc;
	view->changed[folder] = true;
	if (!found || found->what == MR_MAILBOX_LINK_FILE)
		fresh = name;
	/* Rename over the old link, so that the name always exists. */
	else if (unlinkat(view->box_dir, fresh, 0) != 0 && errno != ENOENT)
		return mr_err_os(err, errno, "cannot remove %s in %s/%s", fresh,
			view->account->row.path, view->folders[folder]);
	if (symlinkat(target_of(view, arena, message), view->box_dir, fresh) != 0 ||
		(fresh != name && renameat(view->box_dir, fresh, view->box_dir, name) != 0))
		return mr_err_os(err, errno, "cannot make link %s",
			mr_mailbox_view_path(view, arena, folder, message));
	mr_crash_point("repair.link.made");
	return MR_OK;
}

enum mr_code mr_mailbox_view_unlink(struct mr_mailbox_view *view, uint16_t folder, uint32_t message)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *name = mr_arena_printf(arena, "%s%s",
		mr_mailbox_known_id(&view->run->known, arena, message), SUFFIX);
	enum mr_code rc = enter(view, folder);

	if (rc)
		return rc;
	view->changed[folder] = true;
	if (unlinkat(view->box_dir, name, 0) != 0 && errno != ENOENT)
		return mr_err_os(&view->run->cx->err, errno, "cannot remove link %s",
			mr_mailbox_view_path(view, arena, folder, message));
	mr_crash_point("repair.link.removed");
	return MR_OK;
}

enum mr_code mr_mailbox_view_sync(struct mr_mailbox_view *view)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < view->folder_count && !rc; i++) {
		if (view->changed[i])
			rc = mr_fs_sync_dir(view->dir, view->folders[i], &view->run->cx->err);
	}
	return rc;
}
