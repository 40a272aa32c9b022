/*
 * team/share/share.c - Exports a team's mail as a static directory for others to read, with
 * secrets replaced.
 */
#include "team/share/share.h"

#include "base/fs.h"
#include "data/db.h"
#include "team/agent.h"
#include "team/error.h"
#include "team/project.h"
#include "team/share/share_private.h"
#include "team/share/share_sql.h"
#include "text/time.h"
#include "text/token.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BODY_REDACTED "[Message body redacted]"

enum { TEXT_BYTES = 64 << 20, CHUNK_MIN = 1024, CHUNK_MAX = 1 << 30 };

const char *mr_team_share_time(struct mr_team_share_job *job)
{
	return mr_time_format(job->cx->arena, job->newest_us, MR_TIME_SECONDS);
}

const char *mr_team_share_preset(const struct mr_team_share_job *job)
{
	return job->is_strict ? MR_TEAM_SCRUB_STRICT : MR_TEAM_SCRUB_STANDARD;
}

const char *mr_team_share_scrub(struct mr_team_share_job *job, struct mr_arena *arena,
	const char *text)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	size_t replaced;

	if (!text)
		return NULL;
	mr_buf_init(&out, TEXT_BYTES);
	replaced = mr_team_secrets_replace(job->secrets, mr_bytes_text(text), &out);
	if (replaced == 0)
		return text;
	job->out.secrets_replaced += (int64_t)replaced;
	return mr_arena_strndup(arena, mr_buf_text(&out), out.len);
}

static enum mr_code check_request(struct mr_ctx *cx, struct mr_team_share *request)
{
	struct mr_texts names;
	struct mr_err err;

	if (mr_str_is_empty(request->output))
		return mr_team_refuse(cx, "output", "where is the export to go?");
	if (request->chunk_bytes < CHUNK_MIN || request->chunk_bytes > CHUNK_MAX)
		return mr_team_refuse(cx, "chunk_size", "a piece has %d to %d bytes, not %lld",
			CHUNK_MIN, CHUNK_MAX, (long long)request->chunk_bytes);
	if (request->inline_bytes < 0 || request->detach_bytes < 0 || request->chunk_threshold < 0)
		return mr_team_refuse(cx, "inline_threshold", "a size is not below 0");
	if (request->detach_bytes <= request->inline_bytes)
		request->detach_bytes = request->inline_bytes + 1;
	if (!mr_fs_exists(AT_FDCWD, request->output))
		return MR_OK;
	if (request->zip)
		return mr_team_refuse(cx, "output",
			"%s is there already: no file is overwritten; choose another name",
			request->output);
	if (mr_fs_list(cx->arena, AT_FDCWD, request->output, 0, &names, &err))
		return mr_team_refuse(cx, "output", "%s is there already and is no empty directory",
			request->output);
	return MR_OK;
}

static bool is_included(const struct mr_team_share_job *job, int64_t project_id)
{
	for (size_t i = 0; i < job->projects.len; i++) {
		if (job->projects.items[i].id == project_id)
			return true;
	}
	return false;
}

static enum mr_code choose_projects(struct mr_team_share_job *job)
{
	const struct mr_texts *keys = &job->request.projects;
	struct mr_team_projects all;
	enum mr_code rc = mr_team_project_list(job->cx, job->from, &all);

	if (rc)
		return rc;
	job->project_total = (int64_t)all.len;
	if (keys->len == 0) {
		job->projects = all;
		return MR_OK;
	}
	job->projects.items =
		mr_arena_array(job->cx->arena, keys->len, sizeof(*job->projects.items));
	for (size_t i = 0; i < keys->len && !rc; i++) {
		struct mr_team_project project;

		rc = mr_team_project_find(job->cx, job->from, keys->items[i], &project);
		if (!rc && !is_included(job, project.id))
			job->projects.items[job->projects.len++] = project;
	}
	return rc;
}

static void note_time(struct mr_team_share_job *job, int64_t time_us)
{
	if (time_us > job->newest_us)
		job->newest_us = time_us;
}

/* Collect all secrets first, so that nothing with one of them is written. */
static enum mr_code learn_message(struct mr_arena *arena, const struct mr_team_message *message,
	void *arg)
{
	struct mr_team_share_job *job = arg;

	(void)arena;
	note_time(job, message->created_ts);
	mr_team_secrets_learn(job->secrets, mr_bytes_text(message->subject));
	mr_team_secrets_learn(job->secrets, mr_bytes_text(message->body_md));
	mr_team_secrets_learn(job->secrets, mr_bytes_text(message->attachments));
	if (message->thread_id)
		mr_team_secrets_learn(job->secrets, mr_bytes_text(message->thread_id));
	return MR_OK;
}

static enum mr_code learn(struct mr_team_share_job *job)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < job->projects.len && !rc; i++) {
		struct mr_team_agents agents = { 0 };

		note_time(job, job->projects.items[i].created_at);
		mr_team_secrets_learn(job->secrets,
			mr_bytes_text(job->projects.items[i].human_key));
		rc = mr_team_agent_list(job->cx, job->from, job->projects.items[i].id, false,
			&agents);
		for (size_t k = 0; k < agents.len && !rc; k++)
			mr_team_secrets_learn(job->secrets,
				mr_bytes_text(agents.items[k].task_description));
		if (!rc)
			rc = mr_team_share_messages(job->cx, job->from, job->projects.items[i].id,
				learn_message, job);
	}
	return rc;
}

/* One project while its messages are copied. */
struct copying {
	struct mr_team_share_job *job;
	const struct mr_team_project *project;
	struct mr_team_agents agents;
};

static const char *name_of(const struct copying *copying, int64_t agent_id)
{
	for (size_t i = 0; i < copying->agents.len; i++) {
		if (copying->agents.items[i].id == agent_id)
			return copying->agents.items[i].name;
	}
	return "";
}

static enum mr_code copy_recipients(struct copying *copying, struct mr_arena *arena,
	struct mr_team_view_message *view)
{
	struct mr_team_share_job *job = copying->job;
	struct mr_team_recipients all;
	enum mr_code rc =
		mr_team_share_recipients(job->cx, arena, job->from, view->message->id, &all);

	if (rc)
		return rc;
	view->to.items = mr_arena_array(arena, all.len + 1, sizeof(char *));
	view->cc.items = mr_arena_array(arena, all.len + 1, sizeof(char *));
	for (size_t i = 0; i < all.len && !rc; i++) {
		struct mr_texts *list = all.items[i].kind == MR_TEAM_CC ? &view->cc : &view->to;

		/* Agents of other projects are not in the copy. */
		if (!is_included(job, all.items[i].project_id))
			continue;
		list->items[list->len++] = all.items[i].name;
		if (job->to)
			rc = mr_team_share_put_recipient(job->cx, job->to, &all.items[i]);
	}
	return rc;
}

static const char *json_of(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mr_buf_init(&buf, TEXT_BYTES);
	mr_json_init(&w, &buf, MR_JSON_COMPACT);
	mr_json_value(&w, value);
	return mr_arena_strndup(arena, mr_buf_text(&buf), buf.len);
}

static enum mr_code copy_message(struct mr_arena *arena, const struct mr_team_message *message,
	void *arg)
{
	struct copying *copying = arg;
	struct mr_team_share_job *job = copying->job;
	bool is_strict = job->is_strict;
	struct mr_team_message copy = *message;
	struct mr_team_view_message view = { .project = copying->project,
		.message = &copy,
		.from = name_of(copying, message->sender_id) };
	enum mr_code rc;

	copy.subject = mr_team_share_scrub(job, arena, message->subject);
	copy.thread_id = mr_team_share_scrub(job, arena, message->thread_id);
	copy.body_md =
		is_strict ? BODY_REDACTED : mr_team_share_scrub(job, arena, message->body_md);
	rc = mr_team_share_attach(job, arena, copying->project, message->attachments,
		&view.attachments);
	if (rc)
		return rc;
	copy.attachments = json_of(arena, view.attachments);
	if (job->to)
		rc = mr_team_share_put_message(job->cx, job->to, arena, &copy);
	if (!rc)
		rc = copy_recipients(copying, arena, &view);
	if (!rc && job->to)
		rc = mr_team_view_add(job, arena, &view);
	job->out.messages++;
	job->out.bodies_redacted += is_strict;
	if (job->cx->progress && job->out.messages % 1000 == 0)
		job->cx->progress(job->cx->progress_arg, "messages", (size_t)job->out.messages, 0);
	return rc;
}

static enum mr_code copy_agents(struct copying *copying)
{
	struct mr_team_share_job *job = copying->job;
	enum mr_code rc = mr_team_agent_list(job->cx, job->from, copying->project->id, false,
		&copying->agents);

	for (size_t i = 0; i < copying->agents.len && !rc; i++) {
		struct mr_team_agent agent = copying->agents.items[i];

		agent.program = mr_team_share_scrub(job, job->cx->arena, agent.program);
		agent.model = mr_team_share_scrub(job, job->cx->arena, agent.model);
		agent.task_description =
			mr_team_share_scrub(job, job->cx->arena, agent.task_description);
		if (job->to)
			rc = mr_team_share_put_agent(job->cx, job->to, &agent);
	}
	return rc;
}

static enum mr_code copy_project(struct mr_team_share_job *job,
	const struct mr_team_project *project)
{
	struct copying copying = { .job = job, .project = project };
	struct mr_team_project copy = *project;
	struct mr_team_share_counts counts = { 0 };
	enum mr_code rc = MR_OK;

	copy.human_key = mr_team_share_scrub(job, job->cx->arena, project->human_key);
	if (job->to)
		rc = mr_team_share_put_project(job->cx, job->to, &copy);
	if (!rc)
		rc = copy_agents(&copying);
	if (!rc)
		rc = mr_team_share_messages(job->cx, job->from, project->id, copy_message,
			&copying);
	if (!rc)
		rc = mr_team_share_count(job->cx, job->from, project->id, &counts);
	job->out.projects++;
	job->out.reservations_removed += counts.reservations;
	job->out.links_removed += counts.links;
	job->out.read_states_cleared += counts.read_states;
	return rc;
}

static enum mr_code copy_projects(struct mr_team_share_job *job)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < job->projects.len && !rc; i++)
		rc = copy_project(job, &job->projects.items[i]);
	return rc;
}

static enum mr_code make_database(struct mr_team_share_job *job, const char *directory)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_db_options options = {
		.path = mr_arena_printf(job->cx->arena, "%s/" MR_TEAM_SHARE_DATABASE, directory),
		.create = true,
		.no_foreign_keys = true, /* a reply may answer what is not in the copy */
		.journal = MR_DB_JOURNAL_DELETE,
		.sync = MR_DB_SYNC_NORMAL,
	};
	struct mr_err *err = &job->cx->err;
	enum mr_code rc = mr_db_open(&options, &db, err);

	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, err);
	if (!rc)
		rc = mr_team_share_tables(job->cx, db);
	job->to = db;
	if (!rc)
		rc = copy_projects(job);
	job->to = NULL;
	if (!rc)
		rc = mr_db_commit(db, err);
	return rc ? rc : mr_team_share_finish(job->cx, db);
}

/* The team's database is private; the exported one gets the mode of its directory. */
static enum mr_code open_up(struct mr_team_share_job *job)
{
	struct stat st;

	if (fstat(job->dir, &st) != 0 ||
		fchmodat(job->dir, MR_TEAM_SHARE_DATABASE, st.st_mode & 0666, 0) != 0)
		return mr_err_os(&job->cx->err, errno, "cannot change the mode of %s",
			MR_TEAM_SHARE_DATABASE);
	return MR_OK;
}

static enum mr_code make_files(struct mr_team_share_job *job, const char *directory)
{
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, directory, &job->dir, &job->cx->err);

	if (!rc)
		rc = make_database(job, directory);
	if (!rc)
		rc = open_up(job);
	if (!rc)
		rc = mr_team_view_end(job);
	if (!rc)
		rc = mr_team_share_chunk(job);
	if (!rc)
		rc = mr_team_share_readme(job);
	if (!rc)
		rc = mr_team_share_manifest(job);
	mr_fs_closep(&job->dir);
	return rc;
}

/* The complete directory gets its name, or the ZIP file that is made of it. */
static enum mr_code put_in_place(struct mr_team_share_job *job, const char *partial,
	const char *output)
{
	struct mr_ctx *cx = job->cx;
	const char *packed = mr_arena_printf(cx->arena, "%s.zip", partial);
	enum mr_code rc;

	if (!job->request.zip)
		return mr_fs_rename(AT_FDCWD, partial, AT_FDCWD, output, MR_FS_REPLACE, &cx->err);
	rc = mr_team_share_pack(cx, partial, packed);
	if (!rc)
		rc = mr_fs_remove_all(AT_FDCWD, partial, &cx->err);
	if (!rc)
		rc = mr_fs_rename(AT_FDCWD, packed, AT_FDCWD, output, MR_FS_NEW, &cx->err);
	if (rc)
		(void)unlink(packed);
	return rc;
}

/* Written under another name, and renamed when it is complete. */
static enum mr_code make_export(struct mr_team_share_job *job)
{
	struct mr_ctx *cx = job->cx;
	size_t len = strlen(job->request.output);
	const char *output = job->request.output;
	const char *partial;
	struct mr_err ignored;
	enum mr_code rc;

	while (len > 1 && output[len - 1] == '/')
		len--;
	output = mr_arena_strndup(cx->arena, output, len);
	partial = mr_arena_printf(cx->arena, "%s.partial-%s", output,
		mr_token_hex(cx->arena, cx->rand, 4));
	rc = mr_fs_make_dirs(AT_FDCWD, partial, 0755, &cx->err);
	if (rc)
		return rc;
	mr_team_view_begin(&job->view);
	rc = make_files(job, partial);
	mr_team_view_release(&job->view);
	if (!rc)
		rc = put_in_place(job, partial, output);
	if (rc && mr_fs_remove_all(AT_FDCWD, partial, &ignored))
		return mr_err_wrap(&cx->err, "%s is left behind", partial);
	return rc;
}

enum mr_code mr_team_share_export(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_share *request, struct mr_team_shared *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_share_job job = { .cx = cx,
		.team = team,
		.request = *request,
		.is_strict = mr_str_eq(request->scrub_preset, MR_TEAM_SCRUB_STRICT),
		.dir = -1,
		.secrets = mr_team_secrets_new(cx->arena) };
	enum mr_code rc = check_request(cx, &job.request);

	if (!rc)
		rc = mr_team_read(cx, team, &reader);
	if (!rc)
		rc = mr_db_begin(reader.db, MR_DB_DEFERRED, &cx->err);
	job.from = reader.db;
	if (!rc)
		rc = choose_projects(&job);
	if (!rc)
		rc = learn(&job);
	if (!rc)
		rc = request->dry_run ? copy_projects(&job) : make_export(&job);
	if (rc)
		return rc;
	job.out.output = request->output;
	job.out.scrub_preset = mr_team_share_preset(&job);
	job.out.dry_run = request->dry_run;
	*out = job.out;
	return MR_OK;
}
