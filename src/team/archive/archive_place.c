/* team/archive/archive_place.c - Finds out where the archive is kept. */
#include "team/archive/archive_place.h"

#include "base/fs.h"
#include "team/archive/archive_place_sql.h"
#include "team/layout.h"
#include "team/store/root_private.h"
#include "text/database_url.h"
#include "text/token.h"

#include <string.h>

enum { ID_BYTES = 16, FILE_BYTES = 64 };

/* --- the id of a root --- */

static enum mr_code read_id(struct mr_ctx *cx, const char *path, const char **out)
{
	struct mr_bytes bytes;
	enum mr_code rc = mr_fs_read(cx->arena, AT_FDCWD, path, FILE_BYTES, &bytes, &cx->err);
	size_t len = rc ? 0 : strspn((const char *)bytes.data, "0123456789abcdef");

	if (!rc && len != 2 * ID_BYTES)
		return mr_err_set(&cx->err, MR_EFORMAT,
			"%s should hold %d hexadecimal digits: delete it, and the archive here is "
			"compared with the whole database",
			path, 2 * ID_BYTES);
	if (!rc)
		*out = mr_arena_strndup(cx->arena, (const char *)bytes.data, len);
	return rc;
}

enum mr_code mr_team_place_own(struct mr_ctx *cx, struct mr_team *team, const char **out)
{
	const char *path =
		mr_arena_printf(cx->arena, "%s/" MR_TEAM_PLACE_FILE, team->config.storage_root);
	enum mr_code rc = read_id(cx, path, out);

	if (rc != MR_ENOTFOUND)
		return rc;
	rc = mr_fs_write(AT_FDCWD, path,
		mr_bytes_text(mr_arena_printf(cx->arena, "%s\n",
			mr_token_hex(cx->arena, cx->rand, ID_BYTES))),
		MR_FS_NEW, 0600, &cx->err);
	return rc && rc != MR_EEXISTS ? rc : read_id(cx, path, out);
}

/* --- who keeps it --- */

static bool is_file(const struct mr_team *team)
{
	return !mr_database_url_is(team->config.database);
}

static enum mr_code read_kept(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_place_row *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_team_place_kept(cx, reader.db, out);
}

enum mr_code mr_team_place_find(struct mr_ctx *cx, struct mr_team *team, struct mr_team_place *out)
{
	struct mr_team_place_row kept = { 0 };
	const char *own = NULL;
	enum mr_code rc;

	*out = (struct mr_team_place){ .is_here = true, .is_whole = true };
	if (is_file(team))
		return MR_OK;
	rc = read_kept(cx, team, &kept);
	if (!rc)
		rc = mr_team_place_own(cx, team, &own);
	if (rc)
		return rc;
	*out = (struct mr_team_place){ .is_here = !kept.place || mr_str_eq(kept.place, own),
		.is_whole = !kept.place || kept.is_whole,
		.name = kept.name };
	return MR_OK;
}

enum mr_code mr_team_place_check(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db)
{
	struct mr_team_place_row kept = { 0 };
	const char *own = NULL;
	enum mr_code rc;

	if (is_file(team))
		return MR_OK;
	rc = mr_team_place_own(cx, team, &own);
	if (!rc)
		rc = mr_team_place_kept(cx, db, &kept);
	if (!rc && kept.place && !mr_str_eq(kept.place, own))
		rc = mr_err_set(&cx->err, MR_EBUSY, "the archive is kept by %s now", kept.name);
	return rc;
}
