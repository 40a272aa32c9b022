/* team/lease/staleness.c - judges whether a lease is still in use, by its holder's activity,
 * mail, files and commits. */
#include "base/fs.h"
#include "base/proc.h"
#include "base/reach.h"
#include "team/error.h"
#include "team/lease/lease_index.h"
#include "team/lease/reservation_private.h"
#include "team/limits.h"
#include "text/time.h"

#include <dirent.h>
#include <string.h>

enum {
	GIT_TIMEOUT_MS = 3000,
	GIT_PATH_BYTES = 64 << 10, /* of its arguments */
	DEEPEST = 48,
	PATH_BYTES = 4096,
};

struct mr_team_effort mr_team_effort_default(void)
{
	return (struct mr_team_effort){ .entries = MR_TEAM_STALE_ENTRIES,
		.gits = MR_TEAM_STALE_GITS };
}

/* What was found in the project's directory. */
struct trace {
	struct mr_ctx *cx;
	const struct mr_glob *glob;
	const char *prefix;
	struct mr_team_effort *effort;
	struct mr_buf path;
	struct mr_texts found;
	size_t found_bytes;
	int64_t newest;
};

static void note(struct trace *t, const char *path, const struct stat *st)
{
	int64_t when = (int64_t)st->st_mtim.tv_sec * MR_TIME_S + st->st_mtim.tv_nsec / 1000;

	if (when > t->newest)
		t->newest = when;
	t->found.items[t->found.len++] = mr_arena_strdup(t->cx->arena, path);
	t->found_bytes += strlen(path) + 1;
}

static bool is_full(const struct trace *t)
{
	return t->found.len == MR_TEAM_STALE_PATHS || t->found_bytes > GIT_PATH_BYTES;
}

static enum mr_fs_next visit(void *arg, const struct mr_fs_entry *entry)
{
	struct trace *t = arg;
	struct stat st;

	if (t->effort->entries-- <= 0 || is_full(t))
		return MR_FS_STOP;
	if (entry->type == DT_DIR && mr_str_eq(entry->name, ".git"))
		return MR_FS_SKIP;
	mr_buf_clear(&t->path);
	mr_buf_printf(&t->path, "%s%s%s", t->prefix, *t->prefix ? "/" : "", entry->path);
	if (!t->path.failed && mr_glob_matches(t->glob, mr_buf_text(&t->path)) &&
		fstatat(entry->dir, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		note(t, mr_buf_text(&t->path), &st);
	return entry->depth >= DEEPEST ? MR_FS_SKIP : MR_FS_GO_ON;
}

/* Collect the files that match the pattern below `root`, until there are enough. */
static void follow(struct trace *t, const char *root)
{
	int workspace MR_CLEANUP(mr_fs_closep) = -1;
	int start MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err ignored = { 0 };
	struct stat st;

	/* The directory may be unreadable, or gone: then nothing is found. */
	if (mr_fs_open_dir(AT_FDCWD, root, &workspace, &ignored))
		return;
	if (mr_fs_open_beneath(workspace, *t->prefix ? t->prefix : ".", O_PATH, 0, &start,
		    &ignored) ||
		fstat(start, &st) != 0)
		return;
	if (*t->prefix && mr_glob_matches(t->glob, t->prefix))
		note(t, t->prefix, &st);
	if (S_ISDIR(st.st_mode) && mr_fs_walk(start, ".", DEEPEST + 1, visit, t, &ignored))
		return;
}

/* The time of the newest commit of these files, or 0, also when this is no repository. */
static int64_t ask_git(struct mr_ctx *cx, const char *root, const struct mr_texts *paths)
{
	/* Ignore the repository of a hook that we run in, and run no program that the repository
	 * configures. */
	static const char *const words[] = { "env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u",
		"GIT_INDEX_FILE", "GIT_OPTIONAL_LOCKS=0", "git", "--no-pager",
		"--literal-pathspecs", "-c", "log.showSignature=false", "-c",
		"core.fsmonitor=false", "log", "-1", "--format=%ct", "--" };
	const char **argv =
		mr_arena_array(cx->arena, MR_LEN(words) + paths->len + 1, sizeof(*argv));
	struct mr_proc proc = { .argv = argv,
		.cwd = root,
		.timeout_ms = GIT_TIMEOUT_MS,
		.max_output = 4096 };
	struct mr_proc_result result;
	struct mr_err ignored = { 0 };
	int64_t seconds;

	memcpy(argv, words, sizeof(words));
	memcpy(argv + MR_LEN(words), paths->items, paths->len * sizeof(*argv));
	if (mr_proc_run(cx->arena, &proc, &result, &ignored) || result.timed_out ||
		result.exit_status != 0)
		return 0;
	if (!mr_str_to_int(mr_str_trim(cx->arena, (const char *)result.out.data), &seconds) ||
		seconds < 0 || seconds > INT64_MAX / MR_TIME_S)
		return 0;
	return seconds * MR_TIME_S;
}

struct verdict {
	struct mr_ctx *cx;
	int64_t now, grace_s;
	bool recent; /* there was recent activity */
	/* The caller may not name the project's directory: activity there counts, but is not
	 * reported. */
	bool is_hidden;
	struct mr_team_staleness *out;
};

static void say(struct verdict *v, const char *reason)
{
	v->out->reasons.items[v->out->reasons.len++] = reason;
}

/* "mail_activity_recent" or "no_recent_mail_activity>900s" */
static void judge(struct verdict *v, const char *what, int64_t when)
{
	bool recent = when > 0 && v->now - when <= v->grace_s * MR_TIME_S;

	v->recent = v->recent || recent;
	if (v->is_hidden)
		return;
	say(v,
		recent ? mr_arena_printf(v->cx->arena, "%s_activity_recent", what)
		       : mr_arena_printf(v->cx->arena, "no_recent_%s_activity>%llds", what,
				 (long long)v->grace_s));
}

static void judge_files(struct verdict *v, const struct mr_team_project *project,
	const struct mr_glob *glob, struct mr_team_effort *effort)
{
	struct trace t = { .cx = v->cx,
		.glob = glob,
		.prefix = mr_glob_literal_prefix(glob),
		.effort = effort };
	int64_t git_ts;

	/* Also the last one found may be long: see is_full(). */
	t.found.items =
		mr_arena_array(v->cx->arena, MR_TEAM_STALE_PATHS + 2, sizeof(*t.found.items));
	mr_buf_init(&t.path, PATH_BYTES);
	if (*project->human_key == '/')
		follow(&t, project->human_key);
	mr_buf_release(&t.path);
	v->is_hidden = v->cx->reach && !mr_reach_known(v->cx, project->human_key);
	if (v->is_hidden)
		say(v, "file_activity_not_shown");
	else if (t.found.len == 0)
		say(v, "path_pattern_unmatched");
	if (t.found.len == 0)
		return;
	judge(v, "filesystem", t.newest);
	effort->gits--;
	git_ts = ask_git(v->cx, project->human_key, &t.found);
	judge(v, "git", git_ts);
	v->out->last_file_ts = v->is_hidden ? 0 : t.newest;
	v->out->last_git_ts = v->is_hidden ? 0 : git_ts;
}

static void judge_agent(struct verdict *v, int64_t inactivity_s, bool *inactive)
{
	int64_t when = v->out->last_agent_ts;

	*inactive = when == 0 || v->now - when > inactivity_s * MR_TIME_S;
	say(v,
		*inactive ? mr_arena_printf(v->cx->arena, "agent_inactive>%llds",
				    (long long)inactivity_s)
			  : "agent_recently_active");
}

enum { REASONS = 6 };

enum mr_code mr_team_staleness(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_project *project, const struct mr_team_reservation *lease,
	struct mr_team_effort *effort, struct mr_team_staleness *out)
{
	const struct mr_team_config *config = mr_team_config(team);
	struct mr_team_staleness found = { 0 };
	struct verdict v = { .cx = cx,
		.now = mr_clock_wall_us(cx->clock),
		.grace_s = config->activity_grace_s,
		.out = &found };
	bool is_open = !lease->released_ts && lease->expires_ts > v.now;
	bool by_agent = mr_str_eq(lease->origin, "agent");
	struct mr_team_agent holder;
	struct mr_err before = cx->err;
	struct mr_glob *glob;
	bool inactive;
	enum mr_code rc = mr_team_agent_get(cx, db, lease->agent_id, &holder);

	if (!rc)
		rc = mr_team_lease_mail_ts(cx, db, lease->agent_id, &found.last_mail_ts);
	if (rc)
		return rc;
	found.reasons.items = mr_arena_array(cx->arena, REASONS + 1, sizeof(*found.reasons.items));
	found.last_agent_ts = holder.last_active_ts;
	judge_agent(&v, config->inactivity_s, &inactive);
	judge(&v, "mail", found.last_mail_ts);
	if (is_open && !by_agent) {
		say(&v, mr_arena_printf(cx->arena, "held_by_%s", lease->origin));
	} else if (is_open && (effort->entries <= 0 || effort->gits <= 0)) {
		say(&v, "files_not_examined");
		v.recent = true;
	} else if (is_open) {
		/* What cannot be read matches nothing. */
		if (!mr_team_lease_index_compile(cx, team, NULL, lease->path_pattern, &glob)) {
			judge_files(&v, project, glob, effort);
		} else {
			cx->err = before;
			say(&v, "path_pattern_unmatched");
		}
	}
	found.stale = is_open && by_agent && inactive && !v.recent;
	*out = found;
	return MR_OK;
}

enum mr_code mr_team_stale_find(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_lease_row *const *rows, size_t len, struct mr_team_stale *out)
{
	struct mr_team_effort effort = mr_team_effort_default();
	struct mr_team_stale stale = { mr_arena_array(cx->arena, len, sizeof(*stale.items)), 0 };
	struct mr_team_project project = { 0 };
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < len && !rc; i++) {
		const struct mr_team_reservation *lease = &rows[i]->lease;
		struct mr_team_staleness found = { 0 };

		if (project.id != lease->project_id)
			rc = mr_team_project_get(cx, db, lease->project_id, &project);
		if (!rc)
			rc = mr_team_staleness(cx, team, db, &project, lease, &effort, &found);
		if (!rc && found.stale)
			stale.items[stale.len++] = rows[i];
	}
	if (!rc)
		*out = stale;
	return rc;
}

enum mr_code mr_team_stale_end(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_stale *stale, int64_t *released)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < stale->len && !rc; i++) {
		const struct mr_team_lease_row *seen = stale->items[i];
		const struct mr_team_lease_row *row;

		rc = mr_team_lease_get(cx, db, seen->lease.id, &row);
		if (!rc && row && row->holder_active_ts == seen->holder_active_ts &&
			row->lease.expires_ts == seen->lease.expires_ts)
			rc = mr_team_lease_end(cx, db, &row->lease, "release", NULL, NULL,
				mr_clock_wall_us(cx->clock), released);
	}
	return rc;
}
