/*
 * team/archive/archive_round.c - Archives one batch of a project's queued rows: locks its archive,
 * writes files, commits, and removes the rows from the queue.
 */
#include "team/archive/archive_round.h"

#include "base/crash.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/oom.h"
#include "base/utf8.h"
#include "team/archive/archive_files.h"
#include "team/archive/archive_place.h"
#include "team/archive/archive_sql.h"
#include "team/layout.h"
#include "team/limits.h"
#include "team/message_sql.h"
#include "team/project_sql.h"
#include "team/store/root_private.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PLACES = 16,  /* histories */
	SINGLES = 3,  /* so few rows get a commit each */
	FILES = 8192, /* of one commit, about */
	BYTES = 64 << 20,
	STUCK_MAX = 256,
	BODY_BYTES = 200 << 10, /* of a commit's message */
	AGENTS = 48,            /* trailers */
	EXCLUDE_BYTES = 1 << 20,
	SMALL_INDEX = 512 << 10, /* some thousand files: milliseconds */
	PROJECTS = 1000000,
};

struct place {
	int64_t project_id;
	char *directory;
	struct mr_history *history;
	uint64_t used;
	bool index_due, tidy_due;
};

struct mr_team_round {
	struct mr_team *team;
	struct place places[PLACES];
	uint64_t uses;
	int64_t stuck[STUCK_MAX]; /* rows */
	size_t stuck_count;
};

struct mr_team_round *mr_team_round_new(struct mr_team *team)
{
	struct mr_team_round *round = calloc(1, sizeof(*round));

	if (!round)
		mr_oom(sizeof(*round));
	round->team = team;
	return round;
}

/* Without an index `git status` would report every file as unknown, so the first one is written
 * at any cost. */
static bool has_small_index(const struct place *place)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct stat st;

	return stat(mr_arena_printf(arena, "%s/" MR_TEAM_INDEX_FILE, place->directory), &st) != 0 ||
		st.st_size <= SMALL_INDEX;
}

static void forget_place(struct place *place)
{
	mr_history_close(place->history);
	free(place->directory);
	*place = (struct place){ 0 };
}

void mr_team_round_retry(struct mr_team_round *round)
{
	round->stuck_count = 0;
}

/* --- the lock --- */

struct hold {
	struct mr_lock lock;
	int dir;
};

static void let_go(struct hold *hold)
{
	if (hold->lock.fd >= 0)
		unlinkat(hold->dir, MR_TEAM_LOCK_OWNER_FILE, 0);
	mr_lock_release(&hold->lock);
	mr_fs_closep(&hold->dir);
}

/* Write the lock's owner and time for people and status pages. No code relies on it. */
static void tell_owner(struct mr_ctx *cx, int dir)
{
	const char *text = mr_arena_printf(cx->arena, "{\"pid\": %ld, \"created_ts\": %.3f}\n",
		(long)getpid(), (double)mr_clock_wall_us(cx->clock) / 1e6);
	int fd MR_CLEANUP(mr_fs_closep) = openat(dir, MR_TEAM_LOCK_OWNER_FILE,
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		mr_log(MR_LOG_DEBUG, "team.archive.owner", "cannot be written");
}

static enum mr_code take_lock(struct mr_ctx *cx, const char *directory, int lock_ms,
	struct hold *hold)
{
	enum mr_code rc = mr_fs_make_dirs(AT_FDCWD, directory, 0700, &cx->err);

	if (!rc)
		rc = mr_fs_open_dir(AT_FDCWD, directory, &hold->dir, &cx->err);
	if (!rc)
		rc = mr_lock_take(hold->dir, MR_TEAM_LOCK_FILE, "mailroom archive", lock_ms,
			cx->clock, &hold->lock, &cx->err);
	if (rc)
		return rc;
	tell_owner(cx, hold->dir);
	mr_crash_point("archive.locked");
	return MR_OK;
}

/* Under the lock, so that a crash in here is noticed. */
static void finish_place(struct mr_team_round *round, struct place *place)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = round->team->clock };
	struct hold hold MR_CLEANUP(let_go) = { .lock = MR_LOCK_INIT, .dir = -1 };

	if (!place->history || !place->index_due || !has_small_index(place) ||
		take_lock(&cx, place->directory, 0, &hold))
		return;
	if (mr_history_sync_index(place->history, &cx.err))
		mr_log(MR_LOG_DEBUG, "team.archive.index", "%s", cx.err.msg);
	place->index_due = false;
}

void mr_team_round_free(struct mr_team_round *round, bool finish)
{
	if (!round)
		return;
	for (size_t i = 0; i < PLACES; i++) {
		if (finish)
			finish_place(round, &round->places[i]);
		forget_place(&round->places[i]);
	}
	free(round);
}

/* --- histories --- */

/* The one of this project, or the place of the one least used. */
static struct place *find_place(struct mr_team_round *round, int64_t project_id)
{
	struct place *found = &round->places[0];

	for (size_t i = 0; i < PLACES; i++) {
		struct place *place = &round->places[i];

		if (place->history && place->project_id == project_id) {
			found = place;
			break;
		}
		if (place->used < found->used)
			found = place;
	}
	found->used = ++round->uses;
	return found;
}

/* Exclude the lock files from `git status`. */
static enum mr_code exclude_locks(struct mr_ctx *cx, const char *directory)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_bytes bytes = { 0 };
	const char *old = "";
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, directory, &dir, &cx->err);

	if (rc)
		return rc;
	rc = mr_fs_read(cx->arena, dir, MR_TEAM_EXCLUDE_FILE, EXCLUDE_BYTES, &bytes, &cx->err);
	if (!rc)
		old = (const char *)bytes.data;
	else if (rc != MR_ENOTFOUND)
		return rc;
	if (strstr(old, "\n/" MR_TEAM_LOCK_FILE "*\n"))
		return MR_OK;
	rc = mr_fs_make_dirs(dir, MR_TEAM_INFO_DIR, 0777, &cx->err);
	if (rc)
		return rc;
	return mr_fs_write(dir, MR_TEAM_EXCLUDE_FILE,
		mr_bytes_text(mr_arena_printf(cx->arena, "%s%s/" MR_TEAM_LOCK_FILE "*\n", old,
			mr_str_ends(old, "\n") ? "" : "\n")),
		MR_FS_REPLACE, 0666, &cx->err);
}

static enum mr_code open_history(struct mr_ctx *cx, struct mr_team_round *round,
	const struct mr_team_project *project, const char *directory, struct place **out)
{
	struct mr_team_files files = { .cx = cx, .project = project };
	struct mr_history_batch initial = { .message = "chore: initialize archive",
		.time_us = project->created_at };
	struct mr_history_options options = { .mode = MR_HISTORY_CREATE,
		.author_name = round->team->config.author_name,
		.author_email = round->team->config.author_email,
		.initial = &initial };
	struct place *place = find_place(round, project->id);
	enum mr_code rc;

	*out = place;
	/* After the database was replaced, another project may have this id. */
	if (place->history && place->project_id == project->id &&
		mr_str_eq(place->directory, directory))
		return MR_OK;
	forget_place(place);
	place->used = round->uses;
	rc = mr_team_files_initial(&files);
	if (rc)
		return rc;
	initial.files = files.items;
	initial.file_count = files.len;
	rc = mr_history_open(directory, &options, round->team->clock, &place->history, &cx->err);
	if (!rc)
		rc = exclude_locks(cx, directory);
	if (rc) {
		forget_place(place);
		return rc;
	}
	place->project_id = project->id;
	place->directory = strdup(directory);
	if (!place->directory)
		mr_oom(strlen(directory) + 1);
	return MR_OK;
}

/* --- commits --- */

/* One line, at most MR_TEAM_COMMIT_SUBJECT bytes of whole characters. */
static const char *subject_of(struct mr_arena *arena, const char *text)
{
	size_t len = 0;
	char *line;

	while (text[len]) {
		uint32_t c;
		size_t size = mr_utf8_next(text + len, strlen(text + len), &c);

		size = size ? size : 1;
		if (len + size > MR_TEAM_COMMIT_SUBJECT)
			break;
		len += size;
	}
	line = mr_arena_strndup(arena, text, len);
	for (char *at = line; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = ' ';
	}
	return *line ? line : "archive";
}

/* A batch of rows on its way to a commit. */
struct batch {
	const struct mr_team_project *project;
	const struct mr_team_archive_row *rows;
	size_t row_count;
	struct mr_team_files files;
	struct mr_team_message message; /* of a row alone that is one; else id 0 */
	struct mr_history_trailer trailers[AGENTS + 4];
	size_t trailer_count;
};

static void add_trailer(struct batch *batch, const char *key, const char *value)
{
	if (!mr_str_is_empty(value))
		batch->trailers[batch->trailer_count++] = (struct mr_history_trailer){ key, value };
}

static void add_agents(struct batch *batch)
{
	size_t first = batch->trailer_count;

	for (size_t i = 0; i < batch->row_count && batch->trailer_count - first < AGENTS; i++) {
		const char *agent = batch->rows[i].item.agent;
		bool known = false;

		for (size_t k = first; k < batch->trailer_count && !known; k++)
			known = mr_str_eq(batch->trailers[k].value, agent);
		if (!known)
			add_trailer(batch, "Agent", agent);
	}
}

/* "archive: 37 changes", and in the body each of them. */
static const char *message_for_many(struct mr_ctx *cx, const struct batch *batch)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	size_t listed = 0;

	mr_buf_init(&text, 2 * BODY_BYTES);
	mr_buf_printf(&text, "archive: %zu changes\n\n", batch->row_count);
	for (; listed < batch->row_count && text.len < BODY_BYTES; listed++)
		mr_buf_printf(&text, "* %s\n",
			subject_of(cx->arena, batch->rows[listed].item.subject));
	if (listed < batch->row_count)
		mr_buf_printf(&text, "* and %zu more\n", batch->row_count - listed);
	return mr_arena_strdup(cx->arena, mr_buf_text(&text));
}

static const char *write_message(struct mr_ctx *cx, struct batch *batch)
{
	const struct mr_team_message *message = &batch->message;

	batch->trailer_count = 0;
	add_agents(batch);
	add_trailer(batch, "Project", batch->project->human_key);
	if (batch->row_count > 1)
		return message_for_many(cx, batch);
	if (message->id) {
		add_trailer(batch, "Thread",
			message->thread_id
				? message->thread_id
				: mr_arena_printf(cx->arena, "%lld", (long long)message->id));
		add_trailer(batch, "Message-Id", message->uid);
	}
	add_trailer(batch, "Tool", batch->rows[0].item.tool);
	return subject_of(cx->arena, batch->rows[0].item.subject);
}

static bool is_mail(const struct mr_team_archive_row *row)
{
	return row->item.kind == MR_TEAM_ARCHIVE_MESSAGE || row->item.kind == MR_TEAM_ARCHIVE_INBOX;
}

/* Build the files of as many rows as fit into one commit; `batch->row_count` is cut to that. */
static enum mr_code gather(struct mr_ctx *cx, struct mr_team_round *round, struct batch *batch,
	const char *directory)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, round->team, &reader);
	size_t taken = 0;

	batch->files = (struct mr_team_files){ .cx = cx,
		.project = batch->project,
		.directory = directory,
		.db = reader.db };
	batch->message = (struct mr_team_message){ 0 };
	/* One state of the database, so that a file and what it is about agree. */
	if (!rc)
		rc = mr_db_begin(reader.db, MR_DB_DEFERRED, &cx->err);
	while (!rc && taken < batch->row_count &&
		(taken == 0 || (batch->files.len < FILES && batch->files.bytes < BYTES)))
		rc = mr_team_files_add(&batch->files, &batch->rows[taken++].item);
	if (!rc)
		rc = mr_team_files_digests(&batch->files);
	batch->row_count = rc ? batch->row_count : taken;
	if (!rc && taken == 1 && is_mail(&batch->rows[0])) {
		rc = mr_team_message_row(cx, reader.db, batch->rows[0].item.ref, &batch->message);
		if (rc == MR_ENOTFOUND)
			rc = MR_OK;
	}
	return rc;
}

/* Build the files and commit them; afterwards the commit is on disk. */
static enum mr_code commit(struct mr_ctx *cx, struct mr_team_round *round, struct place *place,
	struct batch *batch, bool *committed)
{
	struct mr_history_batch write = { 0 };
	const struct mr_team_config *config = mr_team_config(round->team);
	struct mr_history_appended appended = { 0 };
	int64_t begun_us;
	enum mr_code rc = gather(cx, round, batch, place->directory);

	*committed = false;
	if (rc)
		return rc;
	if (batch->files.len == 0)
		return MR_OK; /* everything it was about is gone */
	write.message = write_message(cx, batch);
	write.files = batch->files.items;
	write.file_count = batch->files.len;
	write.trailers = batch->trailers;
	write.trailer_count = batch->trailer_count;
	write.time_us = batch->rows[batch->row_count - 1].item.queued_ts;
	begun_us = mr_clock_mono_us(cx->clock);
	rc = mr_history_append(place->history, &write, &appended, &cx->err);
	if (rc)
		return rc;
	if (config->on_commit && appended.committed)
		config->on_commit(config->on_commit_arg, mr_clock_mono_us(cx->clock) - begun_us);
	*committed = appended.committed;
	place->index_due = place->tidy_due = true;
	mr_crash_point("archive.committed");
	return MR_OK;
}

/* --- rows --- */

/* Is the row itself at fault, so that it would fail again in any case? */
static bool is_rows_fault(enum mr_code rc)
{
	return rc == MR_EINVAL || rc == MR_ECONFLICT || rc == MR_ELIMIT || rc == MR_EEXISTS;
}

struct work {
	struct mr_team_round *round;
	struct place *place;
	const struct mr_team_project *project;
	const struct mr_team_archive_row *rows;
	size_t row_count;
	int64_t *done;
	size_t done_count;
	struct mr_team_round_result *result;
	struct mr_err first; /* of a row that is stuck */
};

static enum mr_code commit_rows(struct mr_ctx *cx, struct work *work, size_t first, size_t count,
	size_t *taken)
{
	/* Its memory is needed only until the commit stands. */
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = { .arena = arena, .clock = cx->clock, .rand = cx->rand };
	struct batch *batch = mr_arena_alloc(arena, sizeof(*batch));
	bool committed;
	enum mr_code rc;

	batch->project = work->project;
	batch->rows = work->rows + first;
	batch->row_count = count;
	rc = commit(&own, work->round, work->place, batch, &committed);
	*taken = batch->row_count;
	if (rc) {
		cx->err = own.err;
		return rc;
	}
	work->result->commits += committed;
	for (size_t i = 0; i < *taken; i++)
		work->done[work->done_count++] = batch->rows[i].id;
	return MR_OK;
}

static void set_aside(struct mr_ctx *cx, struct work *work, size_t index)
{
	struct mr_team_round *round = work->round;

	mr_err_wrap(&cx->err, "archive of %s: %s", work->project->slug,
		subject_of(cx->arena, work->rows[index].item.subject));
	if (!work->first.code)
		work->first = cx->err;
	work->result->stuck++;
	if (round->stuck_count < STUCK_MAX)
		round->stuck[round->stuck_count++] = work->rows[index].id;
}

static enum mr_code commit_all(struct mr_ctx *cx, struct work *work)
{
	bool singly = work->row_count <= SINGLES;
	enum mr_code rc = MR_OK;

	for (size_t at = 0, taken; !rc && at < work->row_count; at += taken) {
		size_t count = singly ? 1 : work->row_count - at;

		rc = commit_rows(cx, work, at, count, &taken);
		if (!is_rows_fault(rc))
			continue;
		rc = MR_OK;
		taken = 0;
		if (count == 1) {
			set_aside(cx, work, at);
			taken = 1;
		}
		singly = true; /* to find which it is */
	}
	return rc;
}

struct finishing {
	struct mr_team *team;
	const int64_t *ids;
	size_t count;
};

static enum mr_code finish_rows(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct finishing *finishing = arg;
	enum mr_code rc = mr_team_place_check(cx, finishing->team, db);

	return rc ? rc : mr_team_archive_done(cx, db, finishing->ids, finishing->count);
}

static bool is_stuck(const struct mr_team_round *round, int64_t row)
{
	for (size_t i = 0; i < round->stuck_count; i++) {
		if (round->stuck[i] == row)
			return true;
	}
	return false;
}

/* Read the project, and its rows without those that are stuck. */
static enum mr_code read_rows(struct mr_ctx *cx, struct mr_team_round *round, int64_t project_id,
	struct mr_team_project *project, struct mr_team_archive_rows *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	int64_t limit = MR_TEAM_ARCHIVE_BATCH + (int64_t)round->stuck_count;
	enum mr_code rc = mr_team_read(cx, round->team, &reader);
	size_t kept = 0;

	if (!rc && project->id == 0)
		rc = mr_team_project_get(cx, reader.db, project_id, project);
	if (!rc && out)
		rc = mr_team_archive_rows(cx, reader.db, project_id, limit, out);
	if (rc || !out)
		return rc;
	for (size_t i = 0; i < out->len && kept < MR_TEAM_ARCHIVE_BATCH; i++) {
		if (!is_stuck(round, out->items[i].id))
			out->items[kept++] = out->items[i];
	}
	out->len = kept;
	return MR_OK;
}

static enum mr_code work_through(struct mr_ctx *cx, struct work *work)
{
	struct mr_team_round_result *result = work->result;
	struct finishing finishing;
	struct mr_err err = { 0 };
	enum mr_code rc;

	work->done = mr_arena_array(cx->arena, work->row_count, sizeof(*work->done));
	rc = commit_all(cx, work);
	if (rc)
		err = cx->err;
	/* Committed rows are done, whatever happened to the others. */
	finishing = (struct finishing){ work->round->team, work->done, work->done_count };
	if (finishing.count) {
		enum mr_code wrote =
			mr_team_write(cx, work->round->team, finish_rows, NULL, &finishing);

		if (wrote)
			return wrote;
		result->rows = finishing.count;
	}
	mr_crash_point("archive.done");
	if (!rc && work->first.code) {
		rc = work->first.code;
		err = work->first;
	}
	if (rc)
		cx->err = err;
	return rc;
}

enum mr_code mr_team_round_go(struct mr_ctx *cx, struct mr_team_round *round, int64_t project_id,
	int lock_ms, struct mr_team_round_result *out)
{
	struct hold hold MR_CLEANUP(let_go) = { .lock = MR_LOCK_INIT, .dir = -1 };
	struct mr_team_project project = { 0 };
	struct mr_team_archive_rows rows = { 0 };
	struct work work = { .round = round, .project = &project, .result = out };
	const char *directory = NULL;
	struct mr_team_place place;
	enum mr_code rc = read_rows(cx, round, project_id, &project, NULL);

	*out = (struct mr_team_round_result){ 0 };
	if (!rc)
		rc = mr_team_place_find(cx, round->team, &place);
	if (rc)
		return rc;
	out->elsewhere = !place.is_here;
	if (out->elsewhere)
		return MR_OK;
	directory =
		mr_team_layout_project(cx->arena, round->team->config.storage_root, project.slug);
	rc = take_lock(cx, directory, lock_ms, &hold);
	if (rc == MR_EBUSY) {
		out->busy = true;
		out->at = directory;
		return MR_OK;
	}
	if (!rc)
		rc = read_rows(cx, round, project_id, &project, &rows);
	if (!rc && rows.len == 0)
		return MR_OK;
	if (!rc)
		rc = open_history(cx, round, &project, directory, &work.place);
	if (rc)
		return rc;
	out->more = rows.len == MR_TEAM_ARCHIVE_BATCH;
	work.rows = rows.items;
	work.row_count = rows.len;
	rc = work_through(cx, &work);
	/* After damage, open the history anew next time. */
	if (rc == MR_EFORMAT || rc == MR_EIO)
		forget_place(work.place);
	return rc;
}

/* --- after a crash --- */

/* An owner's note without a lock: its writer died. Opening the history repairs what it left. */
static void mend(struct mr_ctx *cx, struct mr_team_round *round, const char *slug)
{
	struct hold hold MR_CLEANUP(let_go) = { .lock = MR_LOCK_INIT, .dir = -1 };
	const char *directory =
		mr_team_layout_project(cx->arena, round->team->config.storage_root, slug);
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	struct place *place = NULL;
	bool found = false;
	enum mr_code rc;

	if (!mr_fs_exists(AT_FDCWD,
		    mr_arena_printf(cx->arena, "%s/" MR_TEAM_LOCK_OWNER_FILE, directory)) ||
		take_lock(cx, directory, 0, &hold))
		return;
	rc = mr_team_read(cx, round->team, &reader);
	if (!rc)
		rc = mr_team_project_by_slug(cx, reader.db, slug, &found, &project);
	mr_team_read_done(&reader);
	if (!rc && found)
		rc = open_history(cx, round, &project, directory, &place);
	if (place && !rc)
		place->index_due = place->tidy_due = true;
	if (rc)
		mr_log(MR_LOG_DEBUG, "team.archive.mend", "%s", cx->err.msg);
}

void mr_team_round_repair(struct mr_ctx *cx, struct mr_team_round *round)
{
	const char *projects = mr_arena_printf(cx->arena, "%s/" MR_TEAM_PROJECTS_DIR,
		round->team->config.storage_root);
	struct mr_texts slugs;

	if (mr_fs_list(cx->arena, AT_FDCWD, projects, PROJECTS, &slugs, &cx->err))
		return;
	for (size_t i = 0; i < slugs.len; i++)
		mend(cx, round, slugs.items[i]);
}

/* --- when there is time --- */

void mr_team_round_tidy(struct mr_team_round *round, bool *again)
{
	*again = false;
	for (size_t i = 0; i < PLACES; i++) {
		struct place *place = &round->places[i];
		struct mr_err err;
		enum mr_code rc = MR_OK;

		if (!place->history || (!place->tidy_due && !place->index_due))
			continue;
		if (*again)
			return; /* one thing at a time */
		if (place->tidy_due) {
			rc = mr_history_tidy_some(place->history, &place->tidy_due, &err);
			place->tidy_due = place->tidy_due && !rc;
		} else {
			place->index_due = false;
			rc = mr_history_sync_index(place->history, &err);
		}
		if (rc)
			mr_log(MR_LOG_DEBUG, "team.archive.tidy", "%s", err.msg);
		*again = true;
	}
}
