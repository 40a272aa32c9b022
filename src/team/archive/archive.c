/* team/archive/archive.c - drains the archive queue, and reads the history of an archive. */
#include "team/archive/archive.h"

#include "base/fs.h"
#include "base/log.h"
#include "team/archive/archive_round.h"
#include "team/archive/archive_sql.h"
#include "team/error.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/project_sql.h"
#include "team/store/root_private.h"

#include <ctype.h>
#include <string.h>

enum {
	FLUSH_MS = 2000, /* limit of a read that flushes first; a partial answer is better than
			    none */
	SCAN = 5000,     /* commits examined */
	LOOKS = 8,       /* times as many, when commits must be left out as confidential */
	PACK_NAMES = 100000,
	PROJECT_NAMES = 1000000,
};

/* The real time, also in tests with a fixed clock. */
static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

static enum mr_code projects_with_rows(struct mr_ctx *cx, struct mr_team *team, int64_t **out,
	size_t *out_len)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_team_archive_projects(cx, reader.db, out, out_len);
}

struct draining {
	struct mr_team *team;
	struct mr_team_round *round;
	int64_t deadline; /* on now_ms() */
	bool wait;
	const char *late; /* directory of a project that another process did not finish in time */
	int timeout_ms;
	struct mr_err first;
};

static int left_ms(const struct draining *draining)
{
	int64_t left = draining->deadline - now_ms();

	return left > 0 ? (int)left : 0;
}

/* Archive a project's rows until none are left; a failure is recorded, and other projects go on. */
static void drain_project(struct mr_ctx *cx, struct draining *draining, int64_t project_id)
{
	struct mr_team_round_result result = { .more = true };

	while (result.more) {
		enum mr_code rc = mr_team_round_go(cx, draining->round, project_id,
			draining->wait ? left_ms(draining) : 0, &result);

		if (rc && !draining->first.code)
			draining->first = cx->err;
		if (result.busy && draining->wait)
			draining->late = result.at;
		if (rc || result.busy || left_ms(draining) == 0)
			return;
	}
}

static enum mr_code end_drain(struct mr_ctx *cx, struct draining *draining)
{
	mr_team_round_free(draining->round, true);
	if (draining->first.code) {
		cx->err = draining->first;
		return cx->err.code;
	}
	if (!draining->late)
		return MR_OK;
	mr_team_fail(cx, MR_TEAM_ARCHIVE_LOCK,
		"another process is still archiving; try again, or see who it is in %s/%s",
		draining->late, MR_TEAM_LOCK_OWNER_FILE);
	mr_team_fail_text(cx, "project_slug", strrchr(draining->late, '/') + 1);
	mr_team_fail_text(cx, "lock_path",
		mr_arena_printf(cx->arena, "%s/%s", draining->late, MR_TEAM_LOCK_FILE));
	return mr_team_fail_int(cx, "timeout_seconds", (draining->timeout_ms + 999) / 1000);
}

enum mr_code mr_team_archive_drain(struct mr_ctx *cx, struct mr_team *team, int timeout_ms,
	bool wait)
{
	struct draining draining = { .team = team,
		.round = mr_team_round_new(team),
		.deadline = now_ms() + timeout_ms,
		.timeout_ms = timeout_ms,
		.wait = wait };
	size_t before = SIZE_MAX;

	for (;;) {
		int64_t *ids = NULL;
		size_t len = 0;
		enum mr_code rc = projects_with_rows(cx, team, &ids, &len);

		if (rc && !draining.first.code)
			draining.first = cx->err;
		/* The remaining rows are stuck, or another process archives them. */
		if (rc || len == 0 || len >= before)
			break;
		before = len;
		for (size_t i = 0; i < len; i++)
			drain_project(cx, &draining, ids[i]);
		if (left_ms(&draining) == 0 || draining.first.code)
			break;
	}
	return end_drain(cx, &draining);
}

void mr_team_archive_repair(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_round *round = mr_team_round_new(team);

	mr_team_round_repair(cx, round);
	mr_team_round_free(round, true);
}

/* --- looking --- */

static enum mr_code flush(struct mr_ctx *cx, struct mr_team *team, const char *slug)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct draining draining = { .team = team, .deadline = now_ms() + FLUSH_MS, .wait = true };
	struct mr_team_project project;
	bool found = false;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_project_by_slug(cx, reader.db, slug, &found, &project);
	mr_team_read_done(&reader);
	if (rc)
		return rc;
	if (!found)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no project %s", slug);
	draining.round = mr_team_round_new(team);
	drain_project(cx, &draining, project.id);
	mr_team_round_free(draining.round, true);
	/* An archive that cannot be written can still be read. */
	if (draining.first.code)
		mr_log(MR_LOG_DEBUG, "team.archive.flush", "%s", draining.first.msg);
	return MR_OK;
}

enum mr_code mr_team_archive_open(struct mr_ctx *cx, struct mr_team *team, const char *slug,
	struct mr_history **out)
{
	struct mr_history_options options = { .mode = MR_HISTORY_READ };
	enum mr_code rc = flush(cx, team, slug);

	if (rc)
		return rc;
	return mr_history_open(mr_team_layout_project(cx->arena, mr_team_storage_root(team), slug),
		&options, team->clock, out, &cx->err);
}

bool mr_team_archive_has_commits(struct mr_ctx *cx, const char *storage_root, const char *slug)
{
	const char *git = mr_arena_printf(cx->arena, "%s/" MR_TEAM_GIT_DIR,
		mr_team_layout_project(cx->arena, storage_root, slug));
	struct mr_texts packs;
	struct mr_err ignored;

	if (mr_fs_exists(AT_FDCWD, mr_arena_printf(cx->arena, "%s/refs/heads/main", git)) ||
		mr_fs_exists(AT_FDCWD, mr_arena_printf(cx->arena, "%s/packed-refs", git)))
		return true;
	return mr_fs_list(cx->arena, AT_FDCWD, mr_arena_printf(cx->arena, "%s/objects/pack", git),
		       PACK_NAMES, &packs, &ignored) == MR_OK &&
		packs.len > 0;
}

enum mr_code mr_team_archive_slugs(struct mr_ctx *cx, const char *storage_root,
	struct mr_texts *out)
{
	const char *place = mr_arena_printf(cx->arena, "%s/" MR_TEAM_PROJECTS_DIR, storage_root);
	struct mr_texts names;
	enum mr_code rc = mr_fs_list(cx->arena, AT_FDCWD, place, PROJECT_NAMES, &names, &cx->err);
	size_t kept = 0;

	if (rc)
		return rc;
	for (size_t i = 0; i < names.len; i++) {
		if (mr_team_layout_is_name(names.items[i]))
			names.items[kept++] = names.items[i];
	}
	names.len = kept;
	*out = names;
	return MR_OK;
}

size_t mr_team_archives(struct mr_ctx *cx, const char *storage_root)
{
	const char *place = mr_arena_printf(cx->arena, "%s/" MR_TEAM_PROJECTS_DIR, storage_root);
	struct mr_texts slugs;
	struct mr_err ignored;
	size_t count = 0;

	if (mr_fs_list(cx->arena, AT_FDCWD, place, PROJECT_NAMES, &slugs, &ignored))
		return 0;
	for (size_t i = 0; i < slugs.len; i++)
		count += mr_team_archive_has_commits(cx, storage_root, slugs.items[i]);
	return count;
}

/* Does the line name the agent, as a whole word, before what people wrote? */
static bool is_about(const char *line, size_t len, const char *agent)
{
	size_t name = strlen(agent);
	const char *words = memmem(line, len, " | ", 3);

	if (words)
		len = (size_t)(words - line);
	for (size_t at = 0; at + name <= len; at++) {
		if (strncmp(line + at, agent, name) == 0 &&
			(at == 0 || !isalnum((unsigned char)line[at - 1])) &&
			(at + name == len || !isalnum((unsigned char)line[at + name])))
			return true;
	}
	return false;
}

/* Of a commit for many the newest line about this agent. */
static const char *summary_of(struct mr_arena *arena, const struct mr_history_entry *entry,
	const char *agent)
{
	const char *found = NULL;
	size_t found_len = 0;

	if (!mr_str_starts(entry->subject, "archive: "))
		return entry->subject;
	for (const char *line = entry->body; *line;) {
		size_t len = strcspn(line, "\n");

		if (len > 2 && strncmp(line, "* ", 2) == 0 && is_about(line, len, agent)) {
			found = line + 2;
			found_len = len - 2;
		}
		line += len + (line[len] == '\n');
	}
	return found ? mr_arena_strndup(arena, found, found_len) : entry->subject;
}

/*
 * Does the commit name the agent? One that only touches its directory is a blind copy it received,
 * which others must not see.
 */
static bool is_open(const struct mr_history_entry *entry, const char *agent)
{
	for (size_t i = 0; i < entry->trailer_count; i++) {
		if (mr_str_eq(entry->trailers[i].key, "Agent") &&
			mr_str_eq(entry->trailers[i].value, agent))
			return true;
	}
	if (is_about(entry->subject, strlen(entry->subject), agent))
		return true;
	for (const char *line = entry->body; *line;) {
		size_t len = strcspn(line, "\n");

		if (is_about(line, len, agent))
			return true;
		line += len + (line[len] == '\n');
	}
	return false;
}

/* The next commits of a query that may be shown; `*query` continues behind them. */
static enum mr_code more_commits(struct mr_ctx *cx, struct mr_history *history, const char *agent,
	struct mr_history_query *query, struct mr_team_commits *out)
{
	struct mr_history_log log;
	enum mr_code rc = mr_history_log(cx->arena, history, query, &log, &cx->err);

	for (size_t i = 0; !rc && i < log.len && out->len < query->limit; i++) {
		const struct mr_history_entry *entry = &log.items[i];

		if (!is_open(entry, agent))
			continue;
		out->items[out->len++] = (struct mr_team_commit){
			.hexsha = mr_arena_strndup(cx->arena, entry->id.hex, 12),
			.summary = summary_of(cx->arena, entry, agent),
			.authored_ts = entry->time_us,
		};
	}
	query->start = NULL;
	if (!rc && log.len == query->limit && log.next.hex[0])
		query->start = mr_arena_strdup(cx->arena, log.next.hex);
	return rc;
}

enum mr_code mr_team_archive_commits_of(struct mr_ctx *cx, struct mr_team *team, const char *slug,
	const char *agent, size_t limit, struct mr_team_commits *out)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	struct mr_history_query query = {
		.path = mr_team_layout_agent(cx->arena, agent),
		.trailer = { "Agent", agent },
		.limit = limit,
		.max_scan = SCAN,
	};
	struct mr_team_commits commits = { 0 };
	enum mr_code rc = mr_team_archive_open(cx, team, slug, &history);

	if (rc == MR_ENOTFOUND && !cx->err.word) {
		*out = commits;
		return MR_OK;
	}
	commits.items = mr_arena_array(cx->arena, limit, sizeof(*commits.items));
	for (int i = 0; !rc && i < LOOKS && commits.len < limit && (i == 0 || query.start); i++)
		rc = more_commits(cx, history, agent, &query, &commits);
	if (!rc)
		*out = commits;
	return rc;
}
