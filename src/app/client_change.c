/* app/client_change.c - the change of a client's files: planned whole, then written with a record
 * of what was there. */
#include "app/client_change.h"

#include "app/client_file.h"
#include "app/locations.h"
#include "base/fs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void note(struct mr_client_set *set, const char *text)
{
	if (set->notes.len < MR_CLIENT_FILES)
		set->notes.items[set->notes.len++] = text;
}

static bool is_same(struct mr_bytes a, struct mr_bytes b)
{
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static bool is_empty_file(struct mr_bytes text)
{
	return text.len == 0 || is_same(text, mr_bytes_text("{}\n"));
}

static enum mr_code find(struct mr_client_set *set, const struct mr_client_change *change,
	struct mr_bytes text, struct mr_client_parts *out)
{
	return change->file->find(set->cx->arena, set->client, text, out, &set->cx->err);
}

static enum mr_code edit(struct mr_client_set *set, const struct mr_client_change *change,
	const struct mr_client_wish *wish, struct mr_bytes text, struct mr_bytes *out)
{
	return change->file->edit(set->cx->arena, set->client, wish, &change->original, text, out,
		&set->cx->err);
}

static enum mr_code look(struct mr_client_set *set, struct mr_client_change *change)
{
	struct stat st;
	enum mr_code rc;

	change->now = mr_bytes_text("");
	change->mode = change->file->is_in_home ? 0600 : 0644;
	rc = mr_locations_file(set->cx->arena, set->project, change->file, &change->path,
		&set->cx->err);
	if (!rc && set->state)
		rc = mr_client_record_read(set->cx->arena, set->state, change->path,
			&change->record, &set->cx->err);
	if (rc || set->print || stat(change->path, &st) != 0)
		return rc;
	change->exists = true;
	change->mode = st.st_mode & 0777;
	return mr_fs_read(set->cx->arena, AT_FDCWD, change->path, MR_CLIENT_FILE_BYTES,
		&change->now, &set->cx->err);
}

/* An entry of our name that we neither wrote nor would write now belongs to the user. */
static bool is_theirs(const struct mr_client_change *change, const struct mr_client_parts *wanted)
{
	const struct mr_value *named = change->found.named;

	if (!named || (wanted && wanted->named && mr_value_equal(named, wanted->named)))
		return false;
	return !change->record.is_there || !change->written.named ||
		!mr_value_equal(named, change->written.named);
}

static enum mr_code plan_enter(struct mr_client_set *set, struct mr_client_change *change)
{
	struct mr_client_parts wanted;
	enum mr_code rc = edit(set, change, set->wish, change->now, &change->after);

	if (!rc)
		rc = find(set, change, change->after, &wanted);
	if (!rc && !set->force && is_theirs(change, &wanted))
		rc = mr_err_set(&set->cx->err, MR_ECONFLICT,
			"it has an entry \"" MR_CLIENT_SERVER
			"\" that mailroom connect did not write; nothing was written. --force "
			"replaces it, and --undo then brings it back");
	return rc;
}

static enum mr_code plan_leave(struct mr_client_set *set, struct mr_client_change *change)
{
	change->after = change->now;
	/* The entry was removed by hand. */
	if (change->record.is_there && mr_client_parts_equal(&change->found, &change->original))
		return MR_OK;
	/* The file is as we left it: restore all of it, with the entry that was replaced. */
	if (change->original.named && is_same(change->now, change->record.after)) {
		change->after = change->record.before;
		return MR_OK;
	}
	change->is_left = !set->force && is_theirs(change, NULL);
	/* Without a record, only our marks tell what is ours. */
	if (change->is_left || (!change->record.is_there && !change->found.block.data))
		return MR_OK;
	return edit(set, change, NULL, change->now, &change->after);
}

/* Plan the new content. Nothing is written before all files have been checked. */
static enum mr_code plan(struct mr_client_set *set, struct mr_client_change *change)
{
	enum mr_code rc = find(set, change, change->now, &change->found);

	if (!rc && change->record.is_there &&
		(find(set, change, change->record.after, &change->written) ||
			find(set, change, change->record.before, &change->original)))
		rc = mr_err_wrap(&set->cx->err, "the record in %s", change->record.folder);
	else if (!rc)
		rc = set->undo ? plan_leave(set, change) : plan_enter(set, change);
	if (rc == MR_EFORMAT)
		mr_err_set(&set->cx->err, MR_EFORMAT,
			"%s: %s; nothing was written. Mend it, or enter by hand what mailroom "
			"connect "
			"%s --print shows",
			change->path, mr_arena_strdup(set->cx->arena, set->cx->err.msg),
			set->client->name);
	else if (rc)
		mr_err_wrap(&set->cx->err, "%s", change->path);
	if (rc && set->undo && change->record.existed)
		mr_err_set(&set->cx->err, rc, "%s. What the file said before is in %s",
			mr_arena_strdup(set->cx->arena, set->cx->err.msg),
			mr_client_record_backup(set->cx->arena, &change->record));
	return rc;
}

/* ---- in ---- */

static enum mr_code make_parent(struct mr_client_set *set, struct mr_client_change *change)
{
	const char *slash = strrchr(change->path, '/');
	const char *parent =
		mr_arena_strndup(set->cx->arena, change->path, (size_t)(slash - change->path));

	change->record.made_directory = !mr_fs_exists(AT_FDCWD, parent);
	return mr_fs_make_dirs(AT_FDCWD, parent, change->file->is_in_home ? 0700 : 0755,
		&set->cx->err);
}

static enum mr_code write_file(struct mr_client_set *set, const struct mr_client_change *change,
	struct mr_bytes text, mode_t mode)
{
	struct mr_err *err = &set->cx->err;
	enum mr_code rc = mr_fs_write(AT_FDCWD, change->path, text, MR_FS_REPLACE, mode, err);

	/* A file that was there keeps its mode, whatever the umask is. */
	if (!rc && change->exists && chmod(change->path, mode) != 0)
		rc = mr_err_os(err, errno, "%s", change->path);
	return rc;
}

/*
 * What --undo will restore: the current content when nothing in it is ours; else the recorded
 * content with the changes that others have made since.
 */
static enum mr_code set_baseline(struct mr_client_set *set, struct mr_client_change *change)
{
	struct mr_client_record *record = &change->record;

	if (!record->is_there || !mr_client_parts_equal(&change->found, &change->written)) {
		record->existed = change->exists;
		record->mode = change->mode;
		record->before = change->now;
	} else if (!is_same(change->now, record->after)) {
		if (edit(set, change, NULL, change->now, &record->before))
			return set->cx->err.code;
		record->existed = record->existed || !is_empty_file(record->before);
		record->mode = change->mode;
	}
	record->after = change->after;
	return MR_OK;
}

static enum mr_code enter(struct mr_client_set *set, struct mr_client_change *change)
{
	enum mr_code rc;

	change->action = "unchanged";
	if (change->exists && is_same(change->now, change->after))
		return MR_OK;
	change->action = change->exists ? "updated" : "created";
	rc = set_baseline(set, change);
	if (!rc && !change->exists)
		rc = make_parent(set, change);
	/* The record first: a file without one could not be brought back. */
	if (!rc)
		rc = mr_client_record_write(set->cx->arena, change->path, &change->record,
			&set->cx->err);
	change->record.is_there = change->record.is_there || !rc;
	return rc ? rc : write_file(set, change, change->after, change->mode);
}

/* ---- and out ---- */

static enum mr_code remove_created(struct mr_client_set *set, const struct mr_client_change *change)
{
	if (unlink(change->path) != 0 && errno != ENOENT)
		return mr_err_os(&set->cx->err, errno, "%s", change->path);
	return MR_OK;
}

/* Directories that were made for files go with the last of them. */
static void remove_directories(struct mr_client_set *set)
{
	for (size_t i = 0; i < set->len; i++) {
		const struct mr_client_change *change = &set->changes[i];
		const char *slash = strrchr(change->path, '/');

		if (change->record.made_directory && mr_str_eq(change->action, "removed"))
			rmdir(mr_arena_strndup(set->cx->arena, change->path,
				(size_t)(slash - change->path)));
	}
}

/* Only we have changed the file since: restore it byte for byte. */
static enum mr_code bring_back(struct mr_client_set *set, struct mr_client_change *change)
{
	const struct mr_client_record *record = &change->record;

	change->action = record->existed ? "restored" : "removed";
	return record->existed ? write_file(set, change, record->before, record->mode)
			       : remove_created(set, change);
}

/* Take out what is ours, and leave all else as it is now. */
static enum mr_code take_out(struct mr_client_set *set, struct mr_client_change *change,
	bool is_last)
{
	if (is_last && !change->record.existed && is_empty_file(change->after)) {
		change->action = "removed";
		return remove_created(set, change);
	}
	change->action = "updated";
	if (change->record.is_there && !is_same(change->now, change->record.after))
		note(set,
			mr_arena_printf(set->cx->arena,
				"%s was changed since mailroom connect: only Mailroom's part was "
				"taken out.",
				change->path));
	return write_file(set, change, change->after, change->mode);
}

static enum mr_code end_record(struct mr_client_set *set, struct mr_client_change *change,
	bool is_last)
{
	if (!change->record.is_there)
		return MR_OK;
	if (is_last) {
		change->record.is_there = false;
		return mr_client_record_drop(&change->record, &set->cx->err);
	}
	/* Other clients are still in it. */
	change->record.after = change->after;
	return mr_client_record_write(set->cx->arena, change->path, &change->record, &set->cx->err);
}

static enum mr_code leave(struct mr_client_set *set, struct mr_client_change *change)
{
	struct mr_client_parts rest;
	enum mr_code rc;
	bool is_last;

	change->action = "unchanged";
	if (change->is_left) {
		note(set,
			mr_arena_printf(set->cx->arena,
				"%s: its entry \"" MR_CLIENT_SERVER
				"\" is not as mailroom connect wrote it, and was left. --undo "
				"--force "
				"takes it out.",
				change->path));
		return MR_OK;
	}
	rc = find(set, change, change->after, &rest);
	if (rc)
		return rc;
	/* Is the file as it was before us, or, without a record, is nothing of ours left in it? */
	is_last = change->record.is_there ? mr_client_parts_equal(&rest, &change->original)
					  : !rest.block.data;
	if (!change->exists || is_same(change->now, change->after))
		return is_last ? end_record(set, change, true) : MR_OK;
	if (is_last && change->record.is_there && is_same(change->now, change->record.after))
		rc = bring_back(set, change);
	else
		rc = take_out(set, change, is_last);
	return rc ? rc : end_record(set, change, is_last);
}

/* One file may have two names, CLAUDE.md being a link to AGENTS.md: it is changed once. */
static bool is_known(const struct mr_client_set *set, const char *path)
{
	for (size_t i = 0; i < set->len; i++) {
		if (mr_str_eq(set->changes[i].path, path))
			return true;
	}
	return false;
}

enum mr_code mr_client_change(struct mr_client_set *set)
{
	const struct mr_client_file *files = set->client->files;
	enum mr_code rc = MR_OK;

	set->notes.items =
		mr_arena_array(set->cx->arena, MR_CLIENT_FILES, sizeof(*set->notes.items));
	for (size_t i = 0; i < MR_CLIENT_FILES && files[i].path && !rc; i++) {
		struct mr_client_change *change = &set->changes[set->len];

		*change = (struct mr_client_change){ .file = &files[i] };
		rc = look(set, change);
		if (!rc && is_known(set, change->path))
			continue;
		if (!rc)
			rc = plan(set, change);
		set->len += !rc;
	}
	for (size_t i = 0; i < set->len && !rc; i++) {
		set->changes[i].action = "print";
		if (!set->print)
			rc = set->undo ? leave(set, &set->changes[i])
				       : enter(set, &set->changes[i]);
	}
	if (set->undo)
		remove_directories(set);
	return rc;
}
