/* team/archive/archive_locks.c - lists the processes that write to archives now, for people. */
#include "base/fs.h"
#include "team/archive/archive.h"
#include "team/layout.h"
#include "team/project.h"
#include "text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>

enum { OWNER_BYTES = 4096 };

static int64_t number_in(const struct mr_value *map, const char *key, double by)
{
	const struct mr_value *value = mr_value_get(map, key);

	return !value                     ? 0
		: value->kind == MR_INT   ? (int64_t)((double)value->integer * by)
		: value->kind == MR_FLOAT ? (int64_t)(value->real * by)
					  : 0;
}

/* The note is removed with the lock; a process that died leaves it. One that cannot be read is
 * being written. */
static bool read_owner(struct mr_ctx *cx, const char *directory, struct mr_team_lock *out)
{
	const char *path = mr_arena_printf(cx->arena, "%s/" MR_TEAM_LOCK_OWNER_FILE, directory);
	const struct mr_value *owner;
	struct mr_bytes text;
	struct mr_err ignored;

	if (mr_fs_read(cx->arena, AT_FDCWD, path, OWNER_BYTES, &text, &ignored) ||
		mr_json_parse(cx->arena, text, NULL, &owner, &ignored))
		return false;
	*out = (struct mr_team_lock){
		.path = mr_arena_printf(cx->arena, "%s/" MR_TEAM_LOCK_FILE, directory),
		.owner_path = path,
		.pid = number_in(owner, "pid", 1),
		.since_us = number_in(owner, "created_ts", 1e6),
	};
	out->is_alive = out->pid > 0 && (kill((pid_t)out->pid, 0) == 0 || errno == EPERM);
	return true;
}

enum mr_code mr_team_archive_locks(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_locks *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_projects projects;
	struct mr_team_locks locks = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_project_list(cx, reader.db, &projects);
	if (rc)
		return rc;
	locks.items = mr_arena_array(cx->arena, projects.len, sizeof(*locks.items));
	for (size_t i = 0; i < projects.len; i++) {
		const char *slug = projects.items[i].slug;

		if (!read_owner(cx,
			    mr_team_layout_project(cx->arena, mr_team_storage_root(team), slug),
			    &locks.items[locks.len]))
			continue;
		locks.items[locks.len++].project = slug;
	}
	*out = locks;
	return MR_OK;
}
