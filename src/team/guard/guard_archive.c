/* team/guard/guard_archive.c - reads leases for the guard from the archive's files, ours or
 * another server's. */
#include "team/guard/guard_private.h"

#include "base/fs.h"
#include "team/archive/archive_record.h"
#include "team/identity.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/project_sql.h"
#include "text/json.h"
#include "text/time.h"
#include "text/token.h"

#include <string.h>

enum {
	RECORD_BYTES = 1 << 20,
	LEASE_FILES = 100000,
	PROJECTS = 10000, /* looked through to find one */
};

/* `*out` 0 when it is null or not there. */
static void read_time(const struct mr_cursor *map, const char *key, int64_t *out)
{
	struct mr_cursor at = mr_cursor_key(map, key);
	const char *text = NULL;
	struct mr_err why = { 0 };

	if (mr_cursor_text_opt(&at, &text) && mr_time_parse(text, MR_TIME_LENIENT, out, &why))
		mr_cursor_refuse(&at, "%s", why.msg);
}

enum mr_code mr_team_guard_read_lease(struct mr_arena *arena, const struct mr_value *map,
	struct mr_team_reservation *out, struct mr_err *err)
{
	struct mr_team_reservation lease = { .exclusive = true, .reason = "", .origin = "agent" };
	struct mr_issues issues;
	struct mr_cursor root, at;

	mr_issues_init(&issues, arena);
	root = mr_cursor_root(map, &issues);
	if (mr_cursor_map(&root)) {
		at = mr_cursor_key(&root, "agent");
		mr_cursor_text(&at, &lease.agent);
		at = mr_cursor_key(&root, "path_pattern");
		mr_cursor_text(&at, &lease.path_pattern);
		at = mr_cursor_key(&root, "exclusive");
		mr_cursor_bool_opt(&at, &lease.exclusive);
		at = mr_cursor_key(&root, "reason");
		mr_cursor_text_opt(&at, &lease.reason);
		at = mr_cursor_key(&root, "origin");
		mr_cursor_text_opt(&at, &lease.origin);
		at = mr_cursor_key(&root, "id");
		mr_cursor_int_opt(&at, 0, INT64_MAX, &lease.id);
		read_time(&root, "expires_ts", &lease.expires_ts);
		read_time(&root, "released_ts", &lease.released_ts);
	}
	if (issues.len > 0) {
		mr_err_issues(err, &issues, "lease");
		err->code = MR_EFORMAT;
		return MR_EFORMAT;
	}
	*out = lease;
	return MR_OK;
}

/* The newest lease of the pattern, and all who hold it. */
static enum mr_code take_record(struct mr_ctx *cx, struct mr_team_guard_look *look,
	struct mr_bytes text, struct mr_err *err)
{
	const struct mr_value *record = NULL, *holders;
	struct mr_team_reservation lease;
	enum mr_code rc = mr_json_parse(cx->arena, text, NULL, &record, err);

	if (!rc)
		rc = mr_team_guard_read_lease(cx->arena, record, &lease, err);
	if (rc)
		return rc;
	mr_team_guard_keep(cx, look, &lease);
	holders = mr_value_get(record, "holders");
	if (holders && holders->kind != MR_LIST && holders->kind != MR_NULL)
		return mr_err_set(err, MR_EFORMAT, "lease: $.holders must be a list");
	for (size_t i = 0; !rc && holders && holders->kind == MR_LIST && i < holders->list.len;
		i++) {
		rc = mr_team_guard_read_lease(cx->arena, &holders->list.items[i], &lease, err);
		if (!rc)
			mr_team_guard_keep(cx, look, &lease);
	}
	return rc;
}

/* A file that cannot be parsed is reported as a warning, and the others count. */
static enum mr_code read_leases(struct mr_ctx *cx, struct mr_team_guard_look *look,
	const char *directory)
{
	struct mr_texts names;
	struct mr_bytes text;
	struct mr_err why = { 0 };
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, directory, &dir, &cx->err);

	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	rc = mr_fs_list(cx->arena, dir, ".", LEASE_FILES, &names, &cx->err);
	for (size_t i = 0; i < names.len && !rc; i++) {
		const char *name = names.items[i];

		if (*name == '.' || !mr_str_ends(name, ".json"))
			continue;
		if (mr_fs_read(cx->arena, dir, name, RECORD_BYTES, &text, &why) ||
			take_record(cx, look, text, &why))
			mr_team_guard_warn(cx, look, "%s/%s is passed over: %s", directory, name,
				why.msg);
	}
	return rc;
}

/* Read a project's key from its directory; directories of other servers have only their name. */
static enum mr_code read_project(struct mr_ctx *cx, int projects, const char *slug, bool *there,
	struct mr_team_project *out)
{
	const char *path = mr_arena_printf(cx->arena, "%s/" MR_TEAM_PROJECT_FILE, slug);
	struct mr_bytes text;
	enum mr_code rc = mr_fs_read(cx->arena, projects, path, RECORD_BYTES, &text, &cx->err);

	*there = true;
	*out = (struct mr_team_project){ .slug = slug, .identity_mode = MR_TEAM_IDENTITY_DIR };
	if (rc == MR_ENOTFOUND) {
		*there = mr_fs_exists(projects, slug);
		return MR_OK;
	}
	if (!rc && mr_team_record_read_project(cx->arena, text, out, &cx->err))
		*out = (struct mr_team_project){ .slug = slug,
			.identity_mode = MR_TEAM_IDENTITY_DIR };
	return rc;
}

static bool is_meant(struct mr_ctx *cx, const struct mr_team_project *project, const char *key)
{
	const char *own = project->human_key;

	if (mr_str_eq(project->slug, key))
		return true;
	if (!own)
		return mr_str_eq(project->slug,
			mr_token_slug(cx->arena, key, MR_TEAM_KEY_BYTES, "project"));
	if (mr_str_eq(mr_team_project_fold(cx->arena, own), mr_team_project_fold(cx->arena, key)))
		return true;
	return !strchr(key, '/') &&
		mr_str_eq(mr_team_project_tail(cx->arena, own),
			mr_team_project_tail(cx->arena, key));
}

/* Try the directory named after the key, then search all project directories for the key. */
static enum mr_code find_by_key(struct mr_ctx *cx, int projects, struct mr_team_guard_look *look,
	const char *key)
{
	const char *slug = mr_token_slug(cx->arena, key, MR_TEAM_KEY_BYTES, "project");
	struct mr_team_project project;
	struct mr_texts names;
	bool there = false;
	enum mr_code rc = read_project(cx, projects, slug, &there, &project);

	look->found = !rc && there && is_meant(cx, &project, key);
	if (rc || look->found) {
		look->project = project;
		return rc;
	}
	rc = mr_fs_list(cx->arena, projects, ".", PROJECTS, &names, &cx->err);
	for (size_t i = 0; i < names.len && !rc && !look->found; i++) {
		rc = read_project(cx, projects, names.items[i], &there, &project);
		look->found = !rc && there && is_meant(cx, &project, key);
		if (look->found)
			look->project = project;
	}
	return rc;
}

static enum mr_code find_project(struct mr_ctx *cx, int projects, struct mr_team_guard_look *look)
{
	const struct mr_team_guard_question *question = look->question;
	const char *keys[] = { question->place->near, question->place->top, question->place->main };
	const char *mode = question->config->identity_mode;
	struct mr_team_identity identity;
	enum mr_code rc;

	if (question->project_key)
		return find_by_key(cx, projects, look, question->project_key);
	rc = MR_OK;
	for (size_t i = 0; i < MR_LEN(keys) && !rc && !look->found; i++) {
		if (keys[i])
			rc = find_by_key(cx, projects, look, keys[i]);
	}
	if (rc || look->found || mr_str_eq(mode, MR_TEAM_IDENTITY_DIR))
		return rc;
	rc = mr_team_identity(cx, question->place->top, mode, question->config->identity_remote,
		&identity);
	return rc ? rc : find_by_key(cx, projects, look, identity.slug);
}

enum mr_code mr_team_guard_archive(struct mr_ctx *cx, struct mr_team_guard_look *look)
{
	const char *root = look->question->config->storage_root;
	const char *path = mr_arena_printf(cx->arena, "%s/" MR_TEAM_PROJECTS_DIR, root);
	int projects MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, path, &projects, &cx->err);

	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	rc = find_project(cx, projects, look);
	if (rc || !look->found)
		return rc;
	look->source = "archive";
	mr_team_guard_rebase(cx, look);
	return read_leases(cx, look,
		mr_team_layout_reservations(cx->arena,
			mr_team_layout_project(cx->arena, root, look->project.slug)));
}
