/* op/team/team_history.c - operations: the history of a project, for people who look back. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/archive/archive_look.h"

/* Mail of everybody is in it. */
static enum mr_code need_everybody(struct mr_call *call)
{
	if (!call->rights.readers)
		return MR_OK;
	return mr_team_fail(&call->cx, MR_TEAM_PERMISSION_DENIED,
		"the history of a project holds everybody's mail, and you may see that of your "
		"own agents: ask an administrator, or search your mail");
}

static const struct mr_field commit_fields[] = {
	MR_FIELD(struct mr_team_look_commit, sha, "sha"),
	MR_FIELD(struct mr_team_look_commit, kind, "kind",
		.summary = "the subject's first word: mail, file_reservation, agent, archive, …"),
	MR_FIELD(struct mr_team_look_commit, subject, "subject"),
	MR_FIELD(struct mr_team_look_commit, body, "body",
		.summary = "of a commit for several changes a line for each"),
	MR_FIELD(struct mr_team_look_commit, agents, "agents"),
	MR_FIELD(struct mr_team_look_commit, thread_id, "thread_id", .flags = MR_OPTIONAL),
	MR_FIELD(struct mr_team_look_commit, tool, "tool", .flags = MR_OPTIONAL),
	MR_FIELD_TIME(struct mr_team_look_commit, time_us, "created_ts"),
	{ 0 },
};

/* ---- what happened ---- */

struct log_request {
	const char *project_key, *path, *cursor;
	int64_t limit;
};

static const struct mr_param log_params[] = {
	MR_TEAM_PROJECT(struct log_request),
	MR_PARAM(struct log_request, path, "path", .flags = MR_POSITIONAL,
		.summary = "only what changed this file or directory of the archive"),
	MR_PARAM(struct log_request, limit, "limit", .min = 1, .max = MR_TEAM_LOOK_LOG,
		.summary = "at most so many", .fallback = "50"),
	MR_PARAM(struct log_request, cursor, "cursor", .summary = "go on with this commit"),
	{ 0 },
};

static const struct mr_field log_fields[] = {
	MR_FIELD_ROWS(struct mr_team_look_log, items, len, struct mr_team_look_commit,
		commit_fields, "result", .summary = "newest first"),
	MR_FIELD(struct mr_team_look_log, next, "next_cursor", .flags = MR_OPTIONAL,
		.summary = "there is more: the cursor to go on with"),
	{ 0 },
};

static enum mr_code look_log(struct mr_call *call, struct mr_team *team,
	const struct log_request *asked, struct mr_team_look_log *out)
{
	enum mr_code rc = need_everybody(call);

	return rc ? rc
		  : mr_team_look_log(&call->cx, team, asked->project_key, asked->path,
			    asked->cursor, asked->limit, out);
}
MR_TEAM_BIND_CALL(log_binding, look_log, struct log_request, struct mr_team_look_log);

const struct mr_op mr_op_team_history = {
	.name = "project_history",
	.command = "team history",
	.summary = "What happened in a project: the commits of its archive",
	.help = "Every message, lease and registration is committed to a git repository. With a "
		"path, what changed that file or directory: agents/BlueLake, or a message.",
	.cluster = "infrastructure",
	.params = log_params,
	.result = log_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &log_binding,
	.render = mr_render_history,
};

/* ---- a commit ---- */

struct commit_request {
	const char *project_key, *sha;
};

static const struct mr_param commit_params[] = {
	MR_TEAM_PROJECT(struct commit_request),
	MR_PARAM(struct commit_request, sha, "sha", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "its id, or seven digits of it or more"),
	{ 0 },
};

static const char *const line_kinds[] = { "added", "removed", "same", "skip", NULL };
static const char *const changes[] = { "added", "changed", "removed", NULL };

static const struct mr_field line_fields[] = {
	MR_FIELD(struct mr_team_look_line, kind, "kind", .choices = line_kinds,
		.summary = "skip: lines that are the same are left out here"),
	MR_FIELD(struct mr_team_look_line, before, "before", .summary = "its number; 0: none"),
	MR_FIELD(struct mr_team_look_line, after, "after"),
	MR_FIELD(struct mr_team_look_line, text, "text"),
	{ 0 },
};
static const struct mr_field change_fields[] = {
	MR_FIELD(struct mr_team_look_change, path, "path"),
	MR_FIELD(struct mr_team_look_change, change, "change", .choices = changes),
	MR_FIELD(struct mr_team_look_change, same_as, "same_as", .flags = MR_OPTIONAL,
		.summary = "a file above that is the same; its lines are not said again"),
	MR_FIELD(struct mr_team_look_change, added, "added", .summary = "lines"),
	MR_FIELD(struct mr_team_look_change, removed, "removed"),
	MR_FIELD_ROWS(struct mr_team_look_change, lines, len, struct mr_team_look_line, line_fields,
		"lines"),
	MR_FIELD(struct mr_team_look_change, note, "note", .flags = MR_OPTIONAL,
		.summary = "why not all of it is shown"),
	{ 0 },
};
static const struct mr_field change_list_fields[] = {
	MR_MEMBERS(struct mr_team_look_change_list, commit, struct mr_team_look_commit,
		commit_fields),
	MR_FIELD(struct mr_team_look_change_list, before, "before", .flags = MR_OPTIONAL,
		.summary = "the commit before it"),
	MR_FIELD(struct mr_team_look_change_list, total, "total", .summary = "files it changed"),
	MR_FIELD_ROWS(struct mr_team_look_change_list, items, len, struct mr_team_look_change,
		change_fields, "files"),
	MR_FIELD(struct mr_team_look_change_list, note, "note", .flags = MR_OPTIONAL,
		.summary = "why not all of it is shown"),
	{ 0 },
};

static enum mr_code look_commit(struct mr_call *call, struct mr_team *team,
	const struct commit_request *asked, struct mr_team_look_change_list *out)
{
	enum mr_code rc = need_everybody(call);

	return rc ? rc : mr_team_look_commit(&call->cx, team, asked->project_key, asked->sha, out);
}
MR_TEAM_BIND_CALL(commit_binding, look_commit, struct commit_request,
	struct mr_team_look_change_list);

const struct mr_op mr_op_team_history_commit = {
	.name = "project_commit",
	.command = "team history show",
	.summary = "What a commit of a project's archive changed, line by line",
	.help = "Long files and commits are cut, with a note that says so; git shows all of it.",
	.cluster = "infrastructure",
	.params = commit_params,
	.result = change_list_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &commit_binding,
	.render = mr_render_commit,
};

/* ---- files ---- */

struct place_request {
	const char *project_key, *path, *sha, *cursor;
};

static const struct mr_param place_params[] = {
	MR_TEAM_PROJECT(struct place_request),
	MR_PARAM(struct place_request, path, "path", .flags = MR_POSITIONAL,
		.summary = "in the archive; left out, its uppermost directory"),
	MR_PARAM(struct place_request, sha, "sha",
		.summary = "as of this commit; left out, the newest"),
	MR_PARAM(struct place_request, cursor, "cursor",
		.summary = "of a long directory, go on after this name"),
	{ 0 },
};

static const struct mr_field entry_fields[] = {
	MR_FIELD(struct mr_team_look_entry, name, "name"),
	MR_FIELD(struct mr_team_look_entry, path, "path"),
	MR_FIELD(struct mr_team_look_entry, is_dir, "is_dir"),
	{ 0 },
};
static const struct mr_field place_fields[] = {
	MR_FIELD(struct mr_team_look_place, path, "path"),
	MR_FIELD(struct mr_team_look_place, sha, "sha", .summary = "the commit"),
	MR_FIELD(struct mr_team_look_place, is_dir, "is_dir"),
	MR_FIELD_ROWS(struct mr_team_look_place, items, len, struct mr_team_look_entry,
		entry_fields, "entries",
		.summary = "of a directory: directories, then files, the last name first"),
	MR_FIELD(struct mr_team_look_place, next, "next_cursor", .flags = MR_OPTIONAL,
		.summary = "there is more: the cursor to go on with"),
	MR_FIELD(struct mr_team_look_place, text, "text", .flags = MR_OPTIONAL,
		.summary = "of a file"),
	MR_FIELD(struct mr_team_look_place, bytes, "bytes"),
	MR_FIELD(struct mr_team_look_place, note, "note", .flags = MR_OPTIONAL,
		.summary = "why not all of it is shown"),
	{ 0 },
};

static enum mr_code look_place(struct mr_call *call, struct mr_team *team,
	const struct place_request *asked, struct mr_team_look_place *out)
{
	enum mr_code rc = need_everybody(call);

	return rc ? rc
		  : mr_team_look_place(&call->cx, team, asked->project_key, asked->sha, asked->path,
			    asked->cursor, out);
}
MR_TEAM_BIND_CALL(place_binding, look_place, struct place_request, struct mr_team_look_place);

const struct mr_op mr_op_team_history_file = {
	.name = "project_file",
	.command = "team history file",
	.summary = "A file of a project's archive, or what is in a directory, now or at a commit",
	.cluster = "infrastructure",
	.params = place_params,
	.result = place_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &place_binding,
	.render = mr_render_place,
};
