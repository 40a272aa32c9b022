/*
 * app/client_record.c - Stores, for each file that `connect` changed, its content before and
 * after, so that the change can be undone byte for byte.
 */
#include "app/client_record.h"

#include "app/client_file.h"
#include "base/fs.h"
#include "text/digest.h"

#include <errno.h>
#include <unistd.h>

static const char *file_of(struct mr_arena *arena, const struct mr_client_record *record,
	const char *name)
{
	return mr_arena_printf(arena, "%s/%s", record->folder, name);
}

enum mr_code mr_client_record_read(struct mr_arena *arena, const char *state, const char *path,
	struct mr_client_record *out, struct mr_err *err)
{
	struct mr_client_record record = { .before = mr_bytes_text("") };
	const char *before;
	struct stat st;
	enum mr_code rc;

	record.folder = mr_arena_printf(arena, "%s/connect/%s", state,
		mr_digest_sha256(arena, mr_bytes_text(path)));
	*out = record;
	if (!mr_fs_exists(AT_FDCWD, file_of(arena, &record, "after")))
		return MR_OK;
	rc = mr_fs_read(arena, AT_FDCWD, file_of(arena, &record, "after"), MR_CLIENT_FILE_BYTES * 2,
		&record.after, err);
	before = file_of(arena, &record, "before");
	record.existed = stat(before, &st) == 0;
	if (!rc && record.existed) {
		record.mode = st.st_mode & 0777;
		rc = mr_fs_read(arena, AT_FDCWD, before, MR_CLIENT_FILE_BYTES * 2, &record.before,
			err);
	}
	record.made_directory = mr_fs_exists(AT_FDCWD, file_of(arena, &record, "made-directory"));
	record.is_there = true;
	if (!rc)
		*out = record;
	return rc;
}

static enum mr_code put(struct mr_arena *arena, const struct mr_client_record *record,
	const char *name, struct mr_bytes bytes, mode_t mode, struct mr_err *err)
{
	const char *file = file_of(arena, record, name);
	enum mr_code rc = mr_fs_write(AT_FDCWD, file, bytes, MR_FS_REPLACE, mode, err);

	/* The mode is restored with the file, so it is stored exactly, whatever the umask is. */
	if (!rc && chmod(file, mode) != 0)
		rc = mr_err_os(err, errno, "%s", file);
	return rc;
}

/* Remove the parts of an older record that no longer apply. */
static enum mr_code take_away(struct mr_arena *arena, const struct mr_client_record *record,
	const char *name, struct mr_err *err)
{
	return mr_fs_remove_all(AT_FDCWD, file_of(arena, record, name), err);
}

enum mr_code mr_client_record_write(struct mr_arena *arena, const char *path,
	const struct mr_client_record *record, struct mr_err *err)
{
	enum mr_code rc = mr_fs_make_dirs(AT_FDCWD, record->folder, 0700, err);

	if (!rc)
		rc = put(arena, record, "path", mr_bytes_text(path), 0600, err);
	if (!rc && record->existed)
		rc = put(arena, record, "before", record->before, record->mode, err);
	else if (!rc)
		rc = take_away(arena, record, "before", err);
	if (!rc && record->made_directory)
		rc = put(arena, record, "made-directory", mr_bytes_text(""), 0600, err);
	else if (!rc)
		rc = take_away(arena, record, "made-directory", err);
	/* Written last: the record counts from here on. */
	if (!rc)
		rc = put(arena, record, "after", record->after, 0600, err);
	return rc;
}

enum mr_code mr_client_record_drop(const struct mr_client_record *record, struct mr_err *err)
{
	return mr_fs_remove_all(AT_FDCWD, record->folder, err);
}

const char *mr_client_record_backup(struct mr_arena *arena, const struct mr_client_record *record)
{
	return record->existed ? file_of(arena, record, "before") : NULL;
}
