/*
 * team/archive/rebuild_origin.h - a project's archive, as a rebuild reads it.
 *
 * The commits are the truth, the files beside them a projection that a power loss may have torn:
 *
 *   - A message, and a sender's copy of one, never changes once it is committed: what the commit
 *     has of it is read, whatever became of the file.
 *   - A record (project.json, a profile, contacts, leases, slots) is read from the commit, too,
 *     unless its file differs, is whole, and was changed in a later second than the commit was
 * made. A record is JSON, so an empty, truncated or overwritten one is never whole.
 *   - A file that is in no commit counts when it is whole: somebody wrote it by hand, or its commit
 *     was lost. Messages of ours end with a newline, without which they are cut off.
 *   - A committed file whose object cannot be read counts when its bytes hash to the object's id.
 *
 * The commit is that of the branch. When that is damaged, the newest readable one stands in for it,
 * and a directory in it that cannot be read is taken from the work tree. Both are told as problems,
 * and then `is_uncertain` is set: there may have been more.
 */
#pragma once

#include "data/history.h"
#include "team/archive/rebuild_private.h"

struct mr_team_origin;

/* `directory` is the project's; problems are reported under `slug`. MR_ENOTFOUND and MR_EINVAL:
 * there is no such directory. */
MR_CHECK enum mr_code mr_team_origin_open(struct mr_ctx *cx, const char *directory,
	const char *slug, struct mr_team_problems *problems, struct mr_team_origin **out);
/* NULL is fine. */
void mr_team_origin_close(struct mr_team_origin *origin);
bool mr_team_origin_is_uncertain(const struct mr_team_origin *origin);

/* MR_ENOTFOUND: no such file. Another error: there is one, and it cannot be read. */
MR_CHECK enum mr_code mr_team_origin_read(struct mr_arena *arena,
	const struct mr_team_origin *origin, const char *path, struct mr_bytes *out,
	struct mr_err *err);
/* The paths of all files below a directory, sorted. */
struct mr_texts mr_team_origin_below(struct mr_arena *arena, const struct mr_team_origin *origin,
	const char *directory);
/* The names in a directory, sorted, each once. */
struct mr_texts mr_team_origin_names(struct mr_arena *arena, const struct mr_team_origin *origin,
	const char *directory);
