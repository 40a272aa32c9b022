/* team/archive/archive_commit.c - finds the commit that brought a message into the archive. */
#include "base/utf8.h"
#include "team/archive/archive.h"
#include "team/layout.h"
#include "team/project.h"

#include <string.h>

/* One walk serves all messages of a project: an older message is in the same commit or an older
 * one. */
enum { SCAN = 2000, FILE_BYTES = 4 << 20, EXCERPT_LINES = 12, EXCERPT_CHARS = 200 };

struct walk {
	struct walk *next;
	int64_t project_id;
	struct mr_history *history; /* NULL: there is none */
	const char *at;             /* where the last message was found, or NULL */
};

static enum mr_code find_slug(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	const char **out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_project_get(cx, reader.db, project_id, &project);
	if (!rc)
		*out = project.slug;
	return rc;
}

static enum mr_code find_walk(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	bool flush, struct walk **walks, struct walk **out)
{
	const struct mr_history_options options = { .mode = MR_HISTORY_READ };
	struct walk *walk = *walks;
	const char *slug;
	enum mr_code rc;

	while (walk && walk->project_id != project_id)
		walk = walk->next;
	*out = walk;
	if (walk)
		return MR_OK;
	rc = find_slug(cx, team, project_id, &slug);
	if (rc)
		return rc;
	walk = mr_arena_alloc(cx->arena, sizeof(*walk));
	rc = flush ? mr_team_archive_open(cx, team, slug, &walk->history)
		   : mr_history_open(mr_team_layout_project(cx->arena, mr_team_storage_root(team),
					     slug),
			     &options, cx->clock, &walk->history, &cx->err);
	if (rc && (rc != MR_ENOTFOUND || cx->err.word))
		return rc;
	walk->project_id = project_id;
	walk->next = *walks;
	*walks = *out = walk;
	return MR_OK;
}

static enum mr_code read_change(struct mr_ctx *cx, struct walk *walk, const char *commit,
	const char *path, struct mr_team_change_of *out)
{
	struct mr_bytes file;
	const char *at;
	enum mr_code rc = mr_history_read(cx->arena, walk->history, commit, path, FILE_BYTES, &file,
		&cx->err);

	if (rc)
		return rc;
	out->excerpt.items =
		mr_arena_array(cx->arena, EXCERPT_LINES + 1, sizeof(*out->excerpt.items));
	/* A message is never changed: all its lines are new. */
	for (at = (const char *)file.data; *at;) {
		size_t len = strcspn(at, "\n");

		if (out->excerpt.len < EXCERPT_LINES)
			out->excerpt.items[out->excerpt.len++] = mr_arena_printf(cx->arena, "+%.*s",
				(int)mr_utf8_prefix(at, len, EXCERPT_CHARS - 1), at);
		out->insertions++;
		at += len + (at[len] == '\n');
	}
	return MR_OK;
}

/* Of a commit for many the line about this message. */
static const char *summary_of(struct mr_arena *arena, const struct mr_history_entry *entry,
	const struct mr_team_message *message)
{
	const char *end = mr_arena_printf(arena, " | %s", message->subject);
	const char *found = entry->subject;

	if (!mr_str_starts(entry->subject, "archive: "))
		return found;
	for (const char *line = entry->body; *line;) {
		size_t len = strcspn(line, "\n");
		const char *text = mr_arena_strndup(arena, line, len);

		if (mr_str_starts(text, "* mail: ") && mr_str_ends(text, end))
			found = text + strlen("* ");
		line += len + (line[len] == '\n');
	}
	return found;
}

static enum mr_code find_commit(struct mr_ctx *cx, struct walk *walk,
	const struct mr_team_message *message, struct mr_team_commit *out,
	struct mr_team_change_of *change)
{
	const struct mr_history_query query = {
		.path = mr_team_layout_canonical(cx->arena, message),
		.start = walk->at,
		.limit = 1,
		.max_scan = SCAN,
	};
	struct mr_history_log log;
	enum mr_code rc = mr_history_log(cx->arena, walk->history, &query, &log, &cx->err);

	if (rc || !log.len)
		return rc;
	walk->at = mr_arena_strdup(cx->arena, log.items[0].id.hex);
	*out = (struct mr_team_commit){
		.hexsha = mr_arena_strndup(cx->arena, walk->at, 12),
		.summary = summary_of(cx->arena, &log.items[0], message),
		.authored_ts = log.items[0].time_us,
	};
	return change ? read_change(cx, walk, walk->at, query.path, change) : MR_OK;
}

enum mr_code mr_team_archive_commits_at(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_message *const *messages, size_t count, bool flush,
	struct mr_team_commit *out, struct mr_team_change_of *changes)
{
	struct walk *walks = NULL, *walk;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < count && !rc; i++) {
		out[i] = (struct mr_team_commit){ 0 };
		if (changes)
			changes[i] = (struct mr_team_change_of){ 0 };
		rc = find_walk(cx, team, messages[i]->project_id, flush, &walks, &walk);
		if (!rc && walk->history)
			rc = find_commit(cx, walk, messages[i], &out[i],
				changes ? &changes[i] : NULL);
	}
	for (walk = walks; walk; walk = walk->next)
		mr_history_close(walk->history);
	return rc;
}
