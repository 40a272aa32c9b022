/* team/archive/archive_take.c - Takes over the archive: makes this storage root its place, and
 * queues what it lacks. */
#include "team/archive/archive_take.h"

#include "base/crash.h"
#include "base/log.h"
#include "team/archive/archive.h"
#include "team/archive/archive_place.h"
#include "team/archive/archive_place_sql.h"
#include "team/archive/rebuild_refill.h"
#include "team/project.h"

#include <unistd.h>

enum { HOST_BYTES = 256 };

static const char *name_of(struct mr_ctx *cx, const struct mr_team *team)
{
	char host[HOST_BYTES] = { 0 };
	bool is_known = gethostname(host, sizeof(host) - 1) == 0;

	return mr_arena_printf(cx->arena, "%s:%s", is_known ? host : "?",
		mr_team_storage_root(team));
}

struct taking {
	struct mr_team *team;
	const char *own, *name;
	bool by_force;
	bool has_all; /* this root has an archive of every project */
	bool here;
	bool is_whole;
	int64_t through;
	const char *from; /* who kept it before; NULL: nobody */
};

static enum mr_code take(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct taking *taking = arg;
	struct mr_team_place_row kept = { 0 };
	enum mr_code rc = mr_team_place_kept(cx, db, &kept);

	taking->here = mr_str_eq(kept.place, taking->own);
	taking->is_whole = kept.is_whole;
	taking->through = kept.through;
	taking->from = kept.name;
	if (rc || taking->here || (kept.place && !taking->by_force))
		return rc;
	taking->here = true;
	/* Where nobody ever kept one, an archive that is here went along with the queue. */
	taking->is_whole = taking->has_all;
	if (!taking->is_whole)
		rc = mr_team_place_is_first(cx, db, &taking->is_whole);
	taking->is_whole = taking->is_whole && !kept.place;
	if (!rc)
		rc = mr_team_place_keep(cx, db, taking->own, taking->name, taking->is_whole,
			&taking->through);
	if (!rc && !taking->is_whole)
		rc = mr_team_place_queue_removals(cx, db);
	return rc;
}

static enum mr_code set_whole(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct taking *taking = arg;
	enum mr_code rc = mr_team_place_check(cx, taking->team, db);

	return rc ? rc : mr_team_place_set_whole(cx, db, taking->own);
}

static enum mr_code list_projects(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_projects *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_team_project_list(cx, reader.db, out);
}

static enum mr_code refill(struct mr_ctx *cx, struct taking *taking)
{
	struct mr_team_projects projects = { 0 };
	int64_t queued = 0;
	enum mr_code rc = list_projects(cx, taking->team, &projects);

	mr_log(MR_LOG_INFO, "team.archive.taken", "%s keeps the archive now%s%s; it is completed",
		taking->name, taking->from ? ", before it was " : "",
		taking->from ? taking->from : "");
	for (size_t i = 0; !rc && i < projects.len; i++) {
		bool is_new = !mr_team_archive_has_commits(cx, mr_team_storage_root(taking->team),
			projects.items[i].slug);

		rc = mr_team_refill_project(cx, taking->team, &projects.items[i],
			is_new ? 0 : taking->through, &queued);
		mr_crash_point("place.project_queued");
	}
	return rc ? rc : mr_team_write(cx, taking->team, set_whole, NULL, taking);
}

/* What this root has to begin with, for the case that nobody ever kept an archive. */
static enum mr_code look_around(struct mr_ctx *cx, struct taking *taking)
{
	struct mr_team_projects projects = { 0 };
	enum mr_code rc = list_projects(cx, taking->team, &projects);

	taking->name = name_of(cx, taking->team);
	taking->has_all = true;
	for (size_t i = 0; !rc && i < projects.len; i++)
		taking->has_all = taking->has_all &&
			mr_team_archive_has_commits(cx, mr_team_storage_root(taking->team),
				projects.items[i].slug);
	return rc ? rc : mr_team_place_own(cx, taking->team, &taking->own);
}

enum mr_code mr_team_place_take(struct mr_ctx *cx, struct mr_team *team, bool by_force, bool *here)
{
	struct taking taking = { .team = team, .by_force = by_force };
	struct mr_team_place place;
	enum mr_code rc = mr_team_place_find(cx, team, &place);

	*here = !rc && place.is_here;
	/* Usually there is nothing to do, and nothing is written. */
	if (rc || (place.name && !by_force) || (place.name && place.is_here && place.is_whole) ||
		mr_team_database_is_file(team))
		return rc;
	rc = look_around(cx, &taking);
	if (!rc)
		rc = mr_team_write(cx, team, take, NULL, &taking);
	mr_crash_point("place.taken");
	if (!rc && taking.here && !taking.is_whole)
		rc = refill(cx, &taking);
	*here = !rc && taking.here;
	return rc;
}
