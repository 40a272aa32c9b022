/* team/archive/archive_look.c - Shows people the history of a project: commits, changes, files. */
#include "team/archive/archive_look.h"

#include "base/utf8.h"
#include "team/archive/archive.h"
#include "team/ask.h"
#include "team/error.h"
#include "text/clean.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are read to see what a file that is too large for more begins with. */
enum { READ_MAX = MR_HISTORY_FILE_BYTES };

/* The project and its archive: `*out` is NULL where there is none yet. */
static enum mr_code open_archive(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *project, struct mr_history **out)
{
	enum mr_code rc = mr_team_ask_project(cx, team, key, project);

	*out = NULL;
	if (!rc)
		rc = mr_team_archive_open(cx, team, project->slug, out);
	if (rc != MR_ENOTFOUND || cx->err.word)
		return rc;
	*out = NULL;
	return MR_OK;
}

static enum mr_code refuse(struct mr_ctx *cx, enum mr_code rc)
{
	if (rc != MR_ENOTFOUND && rc != MR_EINVAL)
		return rc;
	return mr_team_fail(cx, rc == MR_ENOTFOUND ? MR_TEAM_NOT_FOUND : MR_TEAM_INVALID_ARGUMENT,
		"%s", mr_arena_strdup(cx->arena, cx->err.msg));
}

static enum mr_code refuse_empty(struct mr_ctx *cx, const struct mr_team_project *project)
{
	return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "project %s has no archive yet", project->slug);
}

/* ---- commits ---- */

static void fill_commit(struct mr_arena *arena, const struct mr_history_entry *entry,
	struct mr_team_look_commit *out)
{
	size_t word = strcspn(entry->subject, ":");

	*out = (struct mr_team_look_commit){
		.sha = mr_arena_strdup(arena, entry->id.hex),
		.kind = entry->subject[word] && word < 32 && !memchr(entry->subject, ' ', word)
			? mr_arena_strndup(arena, entry->subject, word)
			: "other",
		.subject = entry->subject,
		.body = entry->body,
		.thread_id = mr_history_trailer(entry, "Thread"),
		.tool = mr_history_trailer(entry, "Tool"),
		.time_us = entry->time_us,
	};
	out->agents.items = mr_arena_array(arena, entry->trailer_count, sizeof(char *));
	for (size_t i = 0; i < entry->trailer_count; i++) {
		if (strcmp(entry->trailers[i].key, "Agent") == 0)
			out->agents.items[out->agents.len++] = entry->trailers[i].value;
	}
}

enum mr_code mr_team_look_log(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *path, const char *start, int64_t limit, struct mr_team_look_log *out)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	struct mr_history_query query = {
		.path = mr_str_is_empty(path) ? NULL : path,
		.start = mr_str_is_empty(start) ? NULL : start,
		.limit = limit < 1 || limit > MR_TEAM_LOOK_LOG ? MR_TEAM_LOOK_LOG : (size_t)limit,
	};
	struct mr_history_log log = { 0 };
	struct mr_team_look_log found = { 0 };
	enum mr_code rc = open_archive(cx, team, project_key, &found.project, &history);

	if (!rc && history)
		rc = refuse(cx, mr_history_log(cx->arena, history, &query, &log, &cx->err));
	if (rc)
		return rc;
	found.items = mr_arena_array(cx->arena, log.len, sizeof(*found.items));
	for (; found.len < log.len; found.len++)
		fill_commit(cx->arena, &log.items[found.len], &found.items[found.len]);
	if (log.next.hex[0])
		found.next = mr_arena_strdup(cx->arena, log.next.hex);
	*out = found;
	return MR_OK;
}

/* ---- what a commit changed ---- */

struct comparing {
	struct mr_ctx *cx;
	struct mr_history *history;
	struct mr_team_look_change *change;
	size_t room;       /* of the file's lines */
	size_t lines_left; /* of the commit's */
	size_t bytes_left;
};

static const char *clean(struct mr_arena *arena, struct mr_bytes text, size_t max)
{
	size_t len = mr_utf8_truncate((const char *)text.data, text.len, max);

	return mr_clean_body(arena, mr_bytes_of(text.data, len));
}

/* A line without its end. */
static const char *line_text(struct mr_arena *arena, struct mr_bytes line)
{
	const char *text = (const char *)line.data;

	while (line.len && (text[line.len - 1] == '\n' || text[line.len - 1] == '\r'))
		line.len--;
	return mr_arena_printf(arena, "%s%s", clean(arena, line, MR_TEAM_LOOK_LINE),
		line.len > MR_TEAM_LOOK_LINE ? " …" : "");
}

static enum mr_code add_line(void *arg, enum mr_history_line_kind kind, int before, int after,
	struct mr_bytes text, struct mr_err *err)
{
	struct comparing *job = arg;
	struct mr_team_look_change *change = job->change;
	struct mr_arena *arena = job->cx->arena;

	(void)err;
	change->added += kind == MR_HISTORY_ADDED;
	change->removed += kind == MR_HISTORY_GONE;
	if (!job->lines_left)
		return MR_OK;
	if (change->len == job->room) {
		struct mr_team_look_line *more;

		job->room = job->room ? 2 * job->room : 64;
		more = mr_arena_array(arena, job->room, sizeof(*more));
		if (change->len)
			memcpy(more, change->lines, change->len * sizeof(*more));
		change->lines = more;
	}
	job->lines_left--;
	change->lines[change->len++] = (struct mr_team_look_line){
		.kind = kind == MR_HISTORY_ADDED  ? "added"
			: kind == MR_HISTORY_GONE ? "removed"
			: kind == MR_HISTORY_SAME ? "same"
						  : "skip",
		.before = before > 0 ? before : 0,
		.after = after > 0 ? after : 0,
		.text = kind == MR_HISTORY_SKIP ? "" : line_text(arena, text),
	};
	return MR_OK;
}

/* A side of the comparison; nothing where there is no blob. MR_ELIMIT: it is too large. */
static enum mr_code read_side(struct comparing *job, const struct mr_history_id *id,
	struct mr_bytes *out)
{
	size_t max =
		job->bytes_left < MR_TEAM_LOOK_COMPARED ? job->bytes_left : MR_TEAM_LOOK_COMPARED;
	enum mr_code rc;

	*out = mr_bytes_text("");
	if (!id->hex[0])
		return MR_OK;
	rc = mr_history_blob(job->cx->arena, job->history, id, max, out, &job->cx->err);
	if (!rc)
		job->bytes_left -= out->len;
	return rc;
}

static bool is_text(struct mr_bytes bytes)
{
	return !bytes.len || !memchr(bytes.data, '\0', bytes.len < 8000 ? bytes.len : 8000);
}

static enum mr_code compare(struct comparing *job, const struct mr_history_change *change)
{
	struct mr_team_look_change *out = job->change;
	struct mr_bytes before, after = { 0 };
	enum mr_code rc = read_side(job, &change->before, &before);

	if (!rc)
		rc = read_side(job, &change->after, &after);
	if (rc == MR_ELIMIT) {
		job->cx->err = (struct mr_err){ 0 };
		out->note = mr_arena_printf(job->cx->arena,
			"It is too large to be compared here: more than %d KiB, or more than the "
			"%d MiB that are read for one commit.",
			MR_TEAM_LOOK_COMPARED >> 10, MR_TEAM_LOOK_COMPARED_ALL >> 20);
		return MR_OK;
	}
	if (rc)
		return rc;
	if (!is_text(before) || !is_text(after)) {
		out->note = "It is no text.";
		return MR_OK;
	}
	rc = mr_history_compare(before, after, add_line, job, &job->cx->err);
	if (!rc && (int64_t)out->len < out->added + out->removed)
		out->note = mr_arena_printf(job->cx->arena,
			"It goes on: only the first %d lines of a commit are shown.",
			MR_TEAM_LOOK_LINES);
	return rc;
}

/* The mail of a commit is in several files that are all the same. */
static const char *find_same(const struct mr_history_changes *changes, size_t at)
{
	const struct mr_history_change *items = changes->items;

	for (size_t i = 0; i < at && items[at].after.hex[0] && !items[at].before.hex[0]; i++) {
		if (!items[i].before.hex[0] && strcmp(items[i].after.hex, items[at].after.hex) == 0)
			return items[i].path;
	}
	return NULL;
}

static enum mr_code fill_changes(struct comparing *job, const struct mr_history_changes *changes,
	struct mr_team_look_change_list *out)
{
	enum mr_code rc = MR_OK;

	out->items = mr_arena_array(job->cx->arena, changes->len, sizeof(*out->items));
	for (; !rc && out->len < changes->len; out->len++) {
		const struct mr_history_change *change = &changes->items[out->len];

		job->change = &out->items[out->len];
		job->room = 0;
		*job->change = (struct mr_team_look_change){
			.path = change->path,
			.change = !change->before.hex[0] ? "added"
				: !change->after.hex[0]  ? "removed"
							 : "changed",
			.same_as = find_same(changes, out->len),
		};
		if (!job->change->same_as)
			rc = compare(job, change);
	}
	return rc;
}

enum mr_code mr_team_look_commit(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *sha, struct mr_team_look_change_list *out)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	struct comparing job = {
		.cx = cx,
		.lines_left = MR_TEAM_LOOK_LINES,
		.bytes_left = MR_TEAM_LOOK_COMPARED_ALL,
	};
	struct mr_history_changes changes;
	struct mr_team_look_change_list found = { 0 };
	enum mr_code rc = open_archive(cx, team, project_key, &found.project, &history);

	if (rc)
		return rc;
	if (!history)
		return refuse_empty(cx, &found.project);
	rc = refuse(cx,
		mr_history_changes(cx->arena, history, sha, MR_TEAM_LOOK_FILES, &changes,
			&cx->err));
	if (rc)
		return rc;
	fill_commit(cx->arena, &changes.entry, &found.commit);
	found.before =
		changes.before.hex[0] ? mr_arena_strdup(cx->arena, changes.before.hex) : NULL;
	found.total = (int64_t)changes.total;
	if (changes.len < changes.total)
		found.note = mr_arena_printf(cx->arena,
			"This commit changed %zu files; the first %zu are shown.", changes.total,
			changes.len);
	job.history = history;
	rc = fill_changes(&job, &changes, &found);
	if (!rc)
		*out = found;
	return rc;
}

/* ---- files and directories ---- */

static int in_order(const void *a, const void *b)
{
	const struct mr_team_look_entry *x = a, *y = b;

	if (x->is_dir != y->is_dir)
		return x->is_dir ? -1 : 1;
	return x->is_dir ? strcmp(x->name, y->name) : strcmp(y->name, x->name);
}

/* Only the part that was asked for. */
static void cut(struct mr_team_look_place *place, const char *cursor)
{
	size_t from = 0;

	while (!mr_str_is_empty(cursor) && from < place->len &&
		strcmp(place->items[from].name, cursor) != 0)
		from++;
	if (!mr_str_is_empty(cursor) && from < place->len)
		from++;
	place->items += from;
	place->len -= from;
	if (place->len > MR_TEAM_LOOK_ENTRIES) {
		place->len = MR_TEAM_LOOK_ENTRIES;
		place->next = place->items[place->len - 1].name;
	}
}

static void fill_entries(struct mr_ctx *cx, const struct mr_history_items *items,
	const char *cursor, struct mr_team_look_place *out)
{
	out->is_dir = true;
	out->items = mr_arena_array(cx->arena, items->len, sizeof(*out->items));
	for (; out->len < items->len; out->len++) {
		const struct mr_history_item *item = &items->items[out->len];

		out->items[out->len] = (struct mr_team_look_entry){
			.name = item->name,
			.path = mr_arena_printf(cx->arena, "%s%s%s", out->path,
				*out->path ? "/" : "", item->name),
			.is_dir = item->is_dir,
		};
	}
	if (out->len)
		qsort(out->items, out->len, sizeof(*out->items), in_order);
	cut(out, cursor);
}

static enum mr_code fill_text(struct mr_ctx *cx, struct mr_history *history,
	struct mr_team_look_place *out)
{
	struct mr_bytes bytes;
	enum mr_code rc = mr_history_read(cx->arena, history, out->sha, out->path, READ_MAX, &bytes,
		&cx->err);

	if (rc)
		return rc;
	out->bytes = (int64_t)bytes.len;
	if (!is_text(bytes)) {
		out->note = "It is no text.";
		return MR_OK;
	}
	out->text = clean(cx->arena, bytes, MR_TEAM_LOOK_TEXT);
	if (bytes.len > MR_TEAM_LOOK_TEXT)
		out->note =
			mr_arena_printf(cx->arena, "It has %zu bytes; the first %d KiB are shown.",
				bytes.len, MR_TEAM_LOOK_TEXT >> 10);
	return MR_OK;
}

enum mr_code mr_team_look_place(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *sha, const char *path, const char *cursor, struct mr_team_look_place *out)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	const struct mr_history_query query = { .start = mr_str_is_empty(sha) ? NULL : sha,
		.limit = 1 };
	struct mr_team_look_place place = { .path = path ? path : "" };
	struct mr_history_items items;
	struct mr_history_log log = { 0 };
	enum mr_code rc = open_archive(cx, team, project_key, &place.project, &history);

	if (rc)
		return rc;
	if (history)
		rc = refuse(cx, mr_history_log(cx->arena, history, &query, &log, &cx->err));
	if (rc)
		return rc;
	if (!log.len)
		return refuse_empty(cx, &place.project);
	place.sha = mr_arena_strdup(cx->arena, log.items[0].id.hex);
	rc = mr_history_list(cx->arena, history, place.sha, place.path, &items, &cx->err);
	if (!rc)
		fill_entries(cx, &items, cursor, &place);
	else if (rc == MR_EINVAL)
		rc = refuse(cx, fill_text(cx, history, &place));
	else
		rc = refuse(cx, rc);
	if (!rc)
		*out = place;
	return rc;
}
