/* team/archive/check.c - compares the archive with the database, file by file. */
#include "base/fs.h"
#include "team/agent.h"
#include "team/archive/archive.h"
#include "team/archive/archive_files.h"
#include "team/archive/archive_place.h"
#include "team/archive/archive_source_sql.h"
#include "team/archive/archive_take.h"
#include "team/archive/rebuild_private.h"
#include "team/attachment.h"
#include "team/layout.h"
#include "team/message_sql.h"
#include "team/project.h"
#include "team/store/schema.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { DRAIN_MS = 60000, PAGE = 200, DEPTH = 16 };

/* A file that the archive should have. */
struct expected {
	const char *path;
	struct mr_history_id id;   /* of its bytes; "" when any will do */
	struct mr_history_id disk; /* of those that are there */
	const char *text;          /* the text of a profile, whose last_active_ts may be older;
				      or NULL */
	bool is_optional;
	bool is_committed;
};

struct checking {
	struct mr_ctx *cx;
	struct mr_team *team;
	struct mr_team_report *report;
	struct mr_team_problems problems;

	const struct mr_team_project *project;
	const char *directory;
	int dir;
	struct mr_arena *arena; /* of this project */
	struct expected *items; /* sorted by path when all are known */
	size_t len, room;
	const char **strays; /* files that nobody expects */
	size_t stray_count, stray_room;
};

static const char *place(struct checking *c, const char *path)
{
	return mr_arena_printf(c->cx->arena, "%s/%s", c->project->slug, path);
}

static struct expected *expect(struct checking *c, const char *path)
{
	if (c->len == c->room) {
		struct expected *grown;

		c->room = c->room ? 2 * c->room : 1024;
		grown = mr_arena_array(c->arena, c->room, sizeof(*grown));
		if (c->len)
			memcpy(grown, c->items, c->len * sizeof(*grown));
		c->items = grown;
	}
	c->items[c->len] = (struct expected){ .path = mr_arena_strdup(c->arena, path) };
	return &c->items[c->len++];
}

/* --- what there should be --- */

static bool is_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 && path[len] == '/';
}

/* An inbox copy may lack attachments, by its owner's policy now or when it was written. */
static bool is_loose(const char *path, bool has_attachments)
{
	return has_attachments && is_below(path, MR_TEAM_AGENTS_DIR) && strstr(path, "/inbox/");
}

static void take_files(struct checking *c, const struct mr_team_files *files, bool loose)
{
	for (size_t i = 0; i < files->len; i++) {
		const struct mr_history_file *file = &files->items[i];
		struct expected *expected;

		if (file->remove)
			continue;
		expected = expect(c, file->path);
		if (!is_loose(file->path, loose))
			expected->id = mr_history_blob_id(file->data);
		if (mr_str_ends(file->path, "/profile.json"))
			expected->text = mr_arena_strndup(c->arena, (const char *)file->data.data,
				file->data.len);
		expected->is_optional = mr_str_ends(file->path, "/deleted.json");
		if (expected->is_optional)
			expected->id.hex[0] = '\0';
	}
}

/* The files of some rows, from one state of the database. */
static enum mr_code take_items(struct checking *c, const struct mr_team_archive_item *items,
	size_t count)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = { .arena = arena, .clock = c->cx->clock, .rand = c->cx->rand };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_files files = { .cx = &own, .project = c->project };
	enum mr_code rc = mr_team_read(&own, c->team, &reader);

	files.db = reader.db;
	for (size_t i = 0; !rc && i < count; i++) {
		struct mr_team_message message = { .attachments = "[]" };
		struct mr_texts paths = { 0 };
		bool mail = items[i].kind == MR_TEAM_ARCHIVE_MESSAGE ||
			items[i].kind == MR_TEAM_ARCHIVE_INBOX;

		files.len = 0;
		if (mail)
			rc = mr_team_message_row(&own, reader.db, items[i].ref, &message);
		if (!rc)
			rc = mr_team_files_add(&files, &items[i]);
		if (!rc)
			take_files(c, &files, !mr_str_eq(message.attachments, "[]"));
		if (!rc && items[i].kind == MR_TEAM_ARCHIVE_MESSAGE)
			rc = mr_team_attachment_files(&own, message.attachments, &paths);
		for (size_t k = 0; !rc && k < paths.len; k++)
			expect(c, paths.items[k]);
	}
	files.len = 0;
	if (!rc)
		rc = mr_team_files_digests(&files);
	if (!rc)
		take_files(c, &files, false);
	else
		c->cx->err = own.err;
	return rc;
}

static enum mr_code take_ids(struct checking *c, enum mr_team_source_table table,
	enum mr_team_archive_kind kind, int64_t *count)
{
	int64_t ids[PAGE], after = 0;
	size_t len = PAGE;
	enum mr_code rc = MR_OK;

	while (!rc && len == PAGE) {
		struct mr_team_archive_item items[PAGE] = { { 0 } };
		struct mr_team_reader reader = { 0 };

		rc = mr_team_read(c->cx, c->team, &reader);
		if (!rc)
			rc = mr_team_source_ids(c->cx, reader.db, table, c->project->id, after,
				PAGE, ids, &len);
		mr_team_read_done(&reader);
		for (size_t i = 0; !rc && i < len; i++) {
			items[i] = (struct mr_team_archive_item){ .kind = kind, .ref = ids[i] };
			after = ids[i];
		}
		if (!rc)
			rc = take_items(c, items, len);
		*count += rc ? 0 : (int64_t)len;
		if (!rc && c->cx->progress)
			c->cx->progress(c->cx->progress_arg, c->project->slug, (size_t)*count, 0);
	}
	return rc;
}

static enum mr_code take_holdings(struct checking *c)
{
	struct mr_team_reader reader = { 0 };
	struct mr_team_slot_records slots = { 0 };
	struct mr_team_agents agents = { 0 };
	struct mr_texts patterns = { 0 };
	enum mr_code rc = mr_team_read(c->cx, c->team, &reader);

	if (!rc)
		rc = mr_team_source_patterns(c->cx, reader.db, c->project->id, &patterns);
	if (!rc)
		rc = mr_team_source_slots(c->cx, reader.db, c->project->id, &slots);
	if (!rc)
		rc = mr_team_agent_list(c->cx, reader.db, c->project->id, false, &agents);
	mr_team_read_done(&reader);
	for (size_t i = 0; !rc && i < patterns.len; i++)
		rc = take_items(c,
			&(struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_RESERVATION,
				.name = patterns.items[i] },
			1);
	for (size_t i = 0; !rc && i < slots.len; i++)
		rc = take_items(c,
			&(struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_SLOT,
				.ref = slots.items[i].id },
			1);
	c->report->reservations += (int64_t)patterns.len;
	/* An agent without links may lack the file. */
	for (size_t i = 0; !rc && i < agents.len; i++) {
		size_t first = c->len;

		rc = take_items(c,
			&(struct mr_team_archive_item){ .kind = MR_TEAM_ARCHIVE_LINKS,
				.ref = agents.items[i].id },
			1);
		for (size_t k = first; k < c->len; k++) {
			struct mr_team_link_records links = { 0 };

			rc = mr_team_read(c->cx, c->team, &reader);
			if (!rc)
				rc = mr_team_source_links(c->cx, reader.db, agents.items[i].id,
					&links);
			mr_team_read_done(&reader);
			c->items[k].is_optional = links.len == 0;
		}
		expect(c, mr_team_layout_deleted(c->cx->arena, agents.items[i].name))->is_optional =
			true;
	}
	return rc;
}

/* --- what is there --- */

static int path_order(const void *a, const void *b)
{
	const struct expected *left = a, *right = b;

	return strcmp(left->path, right->path);
}

static struct expected *find(struct checking *c, const char *path)
{
	const struct expected key = { .path = path };

	return c->len ? bsearch(&key, c->items, c->len, sizeof(*c->items), path_order) : NULL;
}

/* Sort, and merge entries of the same path: a digest's part is added by every page with a
 * message of it. */
static void sort_expected(struct checking *c)
{
	size_t kept = 0;

	if (c->len)
		qsort(c->items, c->len, sizeof(*c->items), path_order);
	for (size_t i = 0; i < c->len; i++) {
		if (kept == 0 || !mr_str_eq(c->items[kept - 1].path, c->items[i].path))
			c->items[kept++] = c->items[i];
	}
	c->len = kept;
}

/* Are two profiles equal but for last_active_ts, which is not archived at every change? */
static bool is_same_profile(struct mr_arena *arena, const char *a, const char *b)
{
	static const char line[] = "  \"last_active_ts\": ";
	const char *texts[] = { a, b };
	const char *rests[2];

	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(texts[i], line);
		const char *end = at ? strchr(at, '\n') : NULL;

		if (!end)
			return false;
		rests[i] = mr_arena_printf(arena, "%.*s%s", (int)(at - texts[i]), texts[i], end);
	}
	return mr_str_eq(rests[0], rests[1]);
}

/* Nothing in it, or nothing but NUL. */
static bool is_torn(struct mr_bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.data[i])
			return false;
	}
	return true;
}

static void check_file(struct checking *c, struct expected *expected)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes bytes;
	struct mr_err err;
	enum mr_code rc = mr_team_archive_file(arena, c->dir, expected->path, &bytes, &err);

	if (rc == MR_ENOTFOUND && expected->is_optional)
		return;
	c->report->files++;
	if (rc) {
		mr_team_problems_add(&c->problems, "missing_file", place(c, expected->path), "%s",
			rc == MR_ENOTFOUND ? "it is not there" : err.msg);
		return;
	}
	expected->disk = mr_history_blob_id(bytes);
	if (!expected->id.hex[0] || mr_str_eq(expected->id.hex, expected->disk.hex))
		return;
	if (expected->text && is_same_profile(arena, expected->text, (const char *)bytes.data))
		return;
	if (is_torn(bytes))
		mr_team_problems_add(&c->problems, "wrong_file", place(c, expected->path),
			"it is empty, as after a power loss; a server that starts writes it again, "
			"and so does `mailroom team rebuild --from database`");
	else
		mr_team_problems_add(&c->problems, "wrong_file", place(c, expected->path),
			"it differs from the database; `mailroom team rebuild --from database` "
			"writes it again");
}

static void tell_unknown(struct checking *c, const char *path)
{
	bool is_message = is_below(path, MR_TEAM_MESSAGES_DIR) &&
		!is_below(path, MR_TEAM_MESSAGES_DIR "/" MR_TEAM_THREADS_NAME);

	/* deleted.json is all that remains of a purged agent. */
	if (is_below(path, MR_TEAM_AGENTS_DIR) && mr_str_ends(path, "/deleted.json"))
		return;
	mr_team_problems_add(&c->problems, is_message ? "missing_row" : "unknown_file",
		place(c, path), "%s",
		is_message ? "the database has no such message"
			   : "nothing in the database tells of it");
}

static enum mr_code check_committed(void *arg, const char *path, const struct mr_history_id *id,
	struct mr_err *err)
{
	struct checking *c = arg;
	struct expected *expected = find(c, path);

	(void)err;
	if (!expected) {
		if (!mr_fs_exists(c->dir, path))
			mr_team_problems_add(&c->problems, "archive", place(c, path),
				"the newest commit has it, but it is not there");
		return MR_OK;
	}
	expected->is_committed = true;
	if (expected->disk.hex[0] && !mr_str_eq(expected->disk.hex, id->hex))
		mr_team_problems_add(&c->problems, "archive", place(c, path),
			"the newest commit has other bytes than the file");
	return MR_OK;
}

static bool is_aside(const char *name)
{
	return mr_str_eq(name, MR_TEAM_GIT_DIR) ||
		mr_str_starts(name, MR_TEAM_GIT_DIR ".damaged-") ||
		mr_str_eq(name, MR_TEAM_LOCK_FILE) || mr_str_eq(name, MR_TEAM_LOCK_OWNER_FILE) ||
		mr_str_eq(name, MR_TEAM_ATTACHMENTS_DIR);
}

static enum mr_fs_next see_file(void *arg, const struct mr_fs_entry *entry)
{
	struct checking *c = arg;

	if (entry->depth == 0 && is_aside(entry->name))
		return MR_FS_SKIP;
	if (entry->type == DT_DIR || find(c, entry->path))
		return MR_FS_GO_ON;
	if (c->stray_count == c->stray_room) {
		const char **grown;

		c->stray_room = c->stray_room ? 2 * c->stray_room : 64;
		grown = mr_arena_array(c->arena, c->stray_room, sizeof(*grown));
		if (c->stray_count)
			memcpy(grown, c->strays, c->stray_count * sizeof(*grown));
		c->strays = grown;
	}
	c->strays[c->stray_count++] = mr_arena_strdup(c->arena, entry->path);
	return MR_FS_GO_ON;
}

static int text_order(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

static enum mr_code check_strays(struct checking *c)
{
	enum mr_code rc = mr_fs_walk(c->dir, ".", DEPTH, see_file, c, &c->cx->err);

	if (c->stray_count)
		qsort(c->strays, c->stray_count, sizeof(*c->strays), text_order);
	for (size_t i = 0; !rc && i < c->stray_count; i++)
		tell_unknown(c, c->strays[i]);
	return rc;
}

static enum mr_code check_history(struct checking *c)
{
	struct mr_history_options options = { .mode = MR_HISTORY_READ };
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	enum mr_code rc =
		mr_history_open(c->directory, &options, c->cx->clock, &history, &c->cx->err);

	if (!rc)
		rc = mr_history_files(history, check_committed, c, &c->cx->err);
	if (rc == MR_EFORMAT || rc == MR_ENOTFOUND || rc == MR_EIO || rc == MR_ECONFLICT) {
		mr_team_problems_add(&c->problems, "archive", c->project->slug, "%s",
			c->cx->err.msg);
		return MR_OK;
	}
	for (size_t i = 0; !rc && i < c->len; i++) {
		const struct expected *expected = &c->items[i];

		if (expected->disk.hex[0] && !expected->is_committed)
			mr_team_problems_add(&c->problems, "archive", place(c, expected->path),
				"it is in no commit");
	}
	return rc;
}

static enum mr_code check_project(struct checking *c)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_archive_item first = { .kind = MR_TEAM_ARCHIVE_PROJECT };
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	int64_t arrived = 0;
	enum mr_code rc;

	c->arena = arena;
	c->items = NULL;
	c->len = c->room = 0;
	c->strays = NULL;
	c->stray_count = c->stray_room = 0;
	c->directory = mr_team_layout_project(c->cx->arena, mr_team_storage_root(c->team),
		c->project->slug);
	rc = mr_fs_open_dir(AT_FDCWD, c->directory, &dir, &c->cx->err);
	if (rc) {
		mr_team_problems_add(&c->problems, "archive", c->project->slug, "%s",
			c->cx->err.msg);
		return MR_OK;
	}
	c->dir = dir;
	rc = take_items(c, &first, 1);
	if (!rc)
		rc = take_ids(c, MR_TEAM_SOURCE_AGENTS, MR_TEAM_ARCHIVE_PROFILE,
			&c->report->agents);
	if (!rc)
		rc = take_ids(c, MR_TEAM_SOURCE_MESSAGES, MR_TEAM_ARCHIVE_MESSAGE,
			&c->report->messages);
	if (!rc)
		rc = take_ids(c, MR_TEAM_SOURCE_ARRIVED, MR_TEAM_ARCHIVE_INBOX, &arrived);
	if (!rc)
		rc = take_holdings(c);
	if (rc)
		return rc;
	sort_expected(c);
	for (size_t i = 0; i < c->len; i++)
		check_file(c, &c->items[i]);
	rc = check_strays(c);
	return rc ? rc : check_history(c);
}

/* --- the database itself --- */

static enum mr_code check_search(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	bool *bad = arg;
	enum mr_code rc = mr_db_search_check(db, &mr_team_search_index, &cx->err);

	*bad = rc == MR_EFORMAT;
	return *bad ? MR_OK : rc;
}

static enum mr_code check_database(struct checking *c)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_texts found = { 0 };
	bool bad = false;
	enum mr_code rc = mr_team_read(c->cx, c->team, &reader);

	if (!rc)
		rc = mr_db_check(reader.db, c->cx->arena, &found, &c->cx->err);
	mr_team_read_done(&reader);
	for (size_t i = 0; i < found.len; i++)
		mr_team_problems_add(&c->problems, "database", mr_team_database(c->team), "%s",
			found.items[i]);
	if (!rc)
		rc = mr_team_write(c->cx, c->team, check_search, NULL, &bad);
	if (bad)
		mr_team_problems_add(&c->problems, "search_index", mr_team_database(c->team),
			"searching does not find what the messages say; `mailroom team rebuild` "
			"makes it anew");
	return rc;
}

/* Is the archive here? */
static enum mr_code check_place(struct checking *c)
{
	struct mr_team_place place;
	enum mr_code rc = mr_team_place_find(c->cx, c->team, &place);

	if (rc)
		return rc;
	if (!place.is_here)
		c->report->kept_by = place.name;
	else if (!place.is_whole)
		mr_team_problems_add(&c->problems, "queue", "archive_places",
			"this server has taken the archive over from another one, and is still "
			"completing it");
	return MR_OK;
}

/* Archives of which the database knows nothing. */
static enum mr_code check_unknown(struct checking *c, const struct mr_team_projects *projects)
{
	const char *root = mr_team_storage_root(c->team);
	struct mr_texts slugs;
	enum mr_code rc = mr_team_archive_slugs(c->cx, root, &slugs);

	if (rc == MR_ENOTFOUND)
		return MR_OK; /* each project that lacks its archive is told of */
	for (size_t i = 0; !rc && i < slugs.len; i++) {
		bool known = false;

		for (size_t k = 0; !known && k < projects->len; k++)
			known = mr_str_eq(projects->items[k].slug, slugs.items[i]);
		if (!known && mr_team_archive_has_commits(c->cx, root, slugs.items[i]))
			mr_team_problems_add(&c->problems, "missing_row", slugs.items[i],
				"the database knows no such project; `mailroom team rebuild` "
				"brings "
				"it back from its archive");
	}
	return rc;
}

enum mr_code mr_team_check(struct mr_ctx *cx, struct mr_team *team, struct mr_team_report *out)
{
	struct mr_team_report report = { 0 };
	struct checking c = { .cx = cx, .team = team, .report = &report };
	struct mr_team_reader reader = { 0 };
	struct mr_team_projects projects = { 0 };
	int64_t depth = 0;
	bool here = false;
	enum mr_code rc;

	mr_team_problems_init(&c.problems, cx->arena);
	mr_team_archive_repair(cx, team);
	rc = mr_team_place_take(cx, team, false, &here);
	if (!rc && here && mr_team_archive_drain(cx, team, DRAIN_MS, true))
		mr_team_problems_add(&c.problems, "queue", "archive_queue", "%s", cx->err.msg);
	if (!rc)
		rc = check_place(&c);
	if (!rc)
		rc = check_database(&c);
	if (!rc)
		rc = mr_team_read(cx, team, &reader);
	if (!rc)
		rc = mr_team_archive_depth(cx, reader.db, &depth);
	if (!rc)
		rc = mr_team_project_list(cx, reader.db, &projects);
	mr_team_read_done(&reader);
	if (depth && !report.kept_by)
		mr_team_problems_add(&c.problems, "queue", "archive_queue",
			"%lld changes are not archived", (long long)depth);
	report.projects = (int64_t)projects.len;
	if (!rc && !report.kept_by)
		rc = check_unknown(&c, &projects);
	for (size_t i = 0; !rc && !report.kept_by && i < projects.len; i++) {
		c.project = &projects.items[i];
		rc = check_project(&c);
	}
	if (rc)
		return rc;
	report.problems = c.problems.items;
	report.len = c.problems.len;
	report.dropped = c.problems.dropped;
	*out = report;
	return MR_OK;
}
