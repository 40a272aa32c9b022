/* op/team/team_root.c - operations: a team's storage as a whole. */
#include "op/team/team_ops.h"
#include "team/archive/rebuild.h"

static const struct mr_field problem_fields[] = {
	MR_FIELD(struct mr_team_problem, kind, "kind"),
	MR_FIELD(struct mr_team_problem, where, "where"),
	MR_FIELD(struct mr_team_problem, msg, "msg"),
	{ 0 },
};

static const struct mr_param no_params[] = { { 0 } };

struct checked {
	struct mr_team_report report;
	bool ok;
	size_t problem_count;
};

static const struct mr_field check_fields[] = {
	MR_FIELD(struct checked, ok, "ok", .summary = "no problem was found"),
	MR_FIELD(struct checked, report.projects, "projects"),
	MR_FIELD(struct checked, report.agents, "agents"),
	MR_FIELD(struct checked, report.messages, "messages"),
	MR_FIELD(struct checked, report.reservations, "reservations",
		.summary = "patterns that have a lease"),
	MR_FIELD(struct checked, report.files, "files",
		.summary = "of the archives, each compared"),
	MR_FIELD(struct checked, report.kept_by, "kept_by", .flags = MR_OPTIONAL,
		.summary = "HOST:DIRECTORY of the server that keeps the archive, which was not "
			   "compared here"),
	MR_FIELD(struct checked, problem_count, "problem_count"),
	MR_FIELD_ROWS(struct checked, report.problems, report.len, struct mr_team_problem,
		problem_fields, "problems"),
	{ 0 },
};

static enum mr_code check_storage(struct mr_call *call, struct mr_team *team,
	const struct mr_nothing *request, struct checked *out)
{
	enum mr_code rc = mr_team_check(&call->cx, team, &out->report);

	(void)request;
	out->ok = out->report.len == 0;
	out->problem_count = out->report.len + out->report.dropped;
	call->exit_status = !rc && !out->ok;
	return rc;
}
MR_TEAM_BIND_CALL(check, check_storage, struct mr_nothing, struct checked);

const struct mr_op mr_op_team_check = {
	.name = "team_check",
	.command = "team check",
	.summary = "Compare the database with the archives",
	.help = "What is not archived yet is archived first; apart from that nothing is changed. "
		"Exits with 1 when there is a problem. Kinds of problems: database, search_index, "
		"queue, missing_file, wrong_file, unknown_file, missing_row, archive.",
	.params = no_params,
	.result = check_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &check,
};

static const char *const sources[] = { "archive", "database", NULL };

struct rebuild {
	const char *from;
	int64_t accept_loss;
};

static const struct mr_param rebuild_params[] = {
	MR_PARAM(struct rebuild, from, "from",
		.summary = "the source: archive makes a new database, database a new archive",
		.choices = sources, .fallback = "archive"),
	MR_PARAM(struct rebuild, accept_loss, "accept_loss",
		.summary = "go on although so many messages would be lost; more are refused",
		.fallback = "0", .min = 0, .max = INT64_MAX),
	{ 0 },
};

struct rebuilt {
	const char *from;
	bool is_database, is_archive; /* which of them was made */
	struct mr_team_rebuilt database;
	int64_t archived;
	size_t problem_count;
};

/* What is told of a new database. */
#define DATABASE_FIELD(member, ...)                                                                \
	MR_FIELD(struct rebuilt, database.member, __VA_ARGS__,                                     \
		.when = MR_FLAG(struct rebuilt, is_database))

static const struct mr_field rebuild_fields[] = {
	MR_FIELD(struct rebuilt, from, "from"),
	DATABASE_FIELD(moved_aside, "moved_aside", .flags = MR_NULLABLE | MR_OPTIONAL,
		.summary = "where the old database is now"),
	DATABASE_FIELD(projects, "projects", .flags = MR_OPTIONAL),
	DATABASE_FIELD(agents, "agents", .flags = MR_OPTIONAL),
	DATABASE_FIELD(messages, "messages", .flags = MR_OPTIONAL),
	DATABASE_FIELD(recipients, "recipients", .flags = MR_OPTIONAL),
	DATABASE_FIELD(reservations, "reservations", .flags = MR_OPTIONAL),
	DATABASE_FIELD(links, "links", .flags = MR_OPTIONAL),
	DATABASE_FIELD(kept_state, "kept_state", .flags = MR_OPTIONAL,
		.summary = "read and acknowledged times taken over from the old database"),
	DATABASE_FIELD(carried, "carried", .flags = MR_OPTIONAL,
		.summary = "messages that only the old database had"),
	DATABASE_FIELD(lost, "lost", .flags = MR_OPTIONAL,
		.summary = "messages that neither has any more, as accepted"),
	DATABASE_FIELD(is_complete, "complete", .flags = MR_OPTIONAL,
		.summary = "nothing is known to be missing"),
	MR_FIELD(struct rebuilt, archived, "archived", .flags = MR_OPTIONAL,
		.summary = "from the database: what was archived anew",
		.when = MR_FLAG(struct rebuilt, is_archive)),
	MR_FIELD(struct rebuilt, problem_count, "problem_count"),
	MR_FIELD_ROWS(struct rebuilt, database.problems, database.len, struct mr_team_problem,
		problem_fields, "problems"),
	{ 0 },
};

/* The database must not be open here: it is replaced. */
static enum mr_code rebuild_database(struct mr_call *call, int64_t accept_loss,
	struct mr_team_rebuilt *out)
{
	struct mr_team_config config;
	enum mr_code rc = mr_team_home_config(call, &config);

	if (!rc)
		rc = mr_dispatch_confirm(call,
			"A new database is made from the archives, and takes the place of the old "
			"one, which is kept beside it. Go on?");
	return rc ? rc : mr_team_rebuild_database(&call->cx, &config, accept_loss, out);
}

static enum mr_code rebuild_archive(struct mr_call *call, int64_t *out)
{
	struct mr_team *team = NULL;
	enum mr_code rc = mr_dispatch_confirm(call,
		"Every file of the archives is written anew from the database. Go on?");

	if (!rc)
		rc = mr_contract_team_open(call, &team);
	return rc ? rc : mr_team_rebuild_archive(&call->cx, team, out);
}

static enum mr_code rebuild_from(struct mr_call *call, const struct rebuild *request,
	struct rebuilt *out)
{
	enum mr_code rc;

	out->is_archive = mr_str_eq(request->from, sources[1]);
	out->is_database = !out->is_archive;
	out->from = sources[out->is_archive];
	rc = out->is_archive ? rebuild_archive(call, &out->archived)
			     : rebuild_database(call, request->accept_loss, &out->database);
	out->problem_count = out->database.len + out->database.dropped;
	/* What the caller accepted is no failure. */
	call->exit_status =
		!rc && out->is_database && !out->database.is_complete && out->database.lost == 0;
	return rc;
}
MR_BIND_ALONE(rebuild, rebuild_from, struct rebuild, struct rebuilt);

const struct mr_op mr_op_team_rebuild = {
	.name = "team_rebuild",
	.command = "team rebuild",
	.summary = "Make the database anew from the archives, or the archives from it",
	.help = "From the archive: messages with their ids, recipients, agents, leases, contacts "
		"and build slots come back from its commits. Whatever only the old database has "
		"(mail that was not archived yet, who had read what, products, keys) is taken over "
		"as far as it can be read; it stays beside the new one. A rebuild that would lose "
		"messages is refused, says which, and changes nothing, unless --accept-loss allows "
		"as many. Exits with 1 when an archive is damaged and it is not known what was in "
		"it. Nobody else may have the storage open.",
	.params = rebuild_params,
	.result = rebuild_fields,
	.needs = MR_NEED_WRITE | MR_NEED_CONFIRM,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &rebuild,
};
